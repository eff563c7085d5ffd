"""The mannequin's meshes: all skins of the figure joined into a body and a head, with colours and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..skeleton import Array, Skeleton
from .face import brow, ear, eye, hair
from .faces import Index
from .foot import foot
from .hand import hand
from .head import head
from .layout import STATURE, layout
from .mannequin import MannequinParams
from .shell import Shell, mirror_image
from .suit import suit


@dataclass(frozen=True, eq=False)
class Mesh:
    """A skinned mesh at rest; its vertices come in closed islands, one after another.

    Attributes:
        name: "Body" or "Head".
        vertices: (V, 3) [m].
        faces: (F, 4) vertex numbers, counter-clockwise seen from outside; a triangle ends in -1.
        materials: (F,) numbers in `shell.MATERIALS`.
        joints, weights: (V, 4) the joints that move each vertex and their shares, falling and summing to 1; unused
            places have weight 0.
        sharp: (E, 2) edges to be shaded as creases.
        islands: Name of each island to its first vertex and the one after its last.
    """

    name: str
    vertices: Array
    faces: Index
    materials: Index
    joints: Index
    weights: Array
    sharp: Index
    islands: dict[str, tuple[int, int]]


def body(skeleton: Skeleton, params: MannequinParams) -> tuple[Mesh, Mesh]:
    """The meshes of a figure, in the rest pose of `mannequin.rest_pose`, standing on z = 0: body and head.

    Args:
        skeleton: `mannequin(params.height)`.
        params: Stature, build and shape.
    """
    place = layout(skeleton, params.height)
    limbs = {"hand": hand(place), "foot": foot(place)}
    features = {"eye": eye(place), "brow": brow(place, params), "ear": ear(place)}
    heads = {"head": head(place, params), **_both(features, skeleton)}
    if params.hair != "none":
        heads["hair"] = hair(place, params)
    scale = params.height / STATURE
    return (
        _joined("Body", {"suit": suit(place, params), **_both(limbs, skeleton)}, scale),
        _joined("Head", heads, scale),
    )


def _both(shells: dict[str, Shell], skeleton: Skeleton) -> dict[str, Shell]:
    out = {}
    for name, left in shells.items():
        out[f"{name}.L"], out[f"{name}.R"] = left, mirror_image(left, skeleton)
    return out


def _joined(name: str, shells: dict[str, Shell], scale: float) -> Mesh:
    starts = np.cumsum([0, *(len(s.vertices) for s in shells.values())]).tolist()
    placed = list(zip(shells.values(), starts[:-1], strict=True))
    weights = np.concatenate([s.weights for s in shells.values()])
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    return Mesh(
        name=name,
        vertices=scale * np.concatenate([s.vertices for s in shells.values()]),
        faces=np.concatenate([np.where(s.faces < 0, -1, s.faces + k) for s, k in placed]),
        materials=np.concatenate([s.materials for s in shells.values()]),
        joints=joints,
        weights=np.take_along_axis(weights, joints, axis=1),
        sharp=np.concatenate([s.sharp + k for s, k in placed]),
        islands={key: (a, b) for key, a, b in zip(shells, starts[:-1], starts[1:], strict=True)},
    )
