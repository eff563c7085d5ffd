"""One closed skin of the figure while it is built, and the smooth falloffs its weights are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..skeleton import Array, Skeleton
from .faces import Index, flipped
from .net import neighbour_mean

MATERIALS = (
    *("Skin", "Lips", "Mouth", "Lashes", "Hair", "Eye", "Iris", "Pupil", "Torso", "Pelvis", "Sole"),
    *(f"{limb}.{side}" for limb in ("Arm", "Hand", "Leg", "Foot") for side in "LR"),
)


def material(name: str) -> int:
    """Number of a material in MATERIALS."""
    return MATERIALS.index(name)


@dataclass(frozen=True, eq=False)
class Shell:
    """A closed mesh with its colours and weights.

    Attributes:
        vertices: (V, 3) at rest [cm].
        faces: (F, 4) counter-clockwise; a triangle ends in -1.
        materials: (F,) numbers in MATERIALS.
        weights: (V, J) share of each joint; rows sum to 1.
        sharp: (E, 2) edges to be shaded as creases.
    """

    vertices: Array
    faces: Index
    materials: Index
    weights: Array
    sharp: Index


def shell(vertices: Array, faces: Index, materials: Index | str, weights: Array, sharp: Index | None = None) -> Shell:
    """A Shell with one material or many, and its weights normalised."""
    if isinstance(materials, str):
        materials = np.full(len(faces), material(materials))
    none = np.empty((0, 2), dtype=np.int64)
    return Shell(vertices, faces, materials, normalised(weights), none if sharp is None else sharp)


def mirror_image(skin: Shell, skeleton: Skeleton) -> Shell:
    """The shell on the other side of the body."""
    joints = [skeleton.index(_other_side(name)) for name in skeleton.names]
    materials = np.array([material(_other_side(name)) for name in MATERIALS])
    return replace(
        skin,
        vertices=skin.vertices * (-1.0, 1.0, 1.0),
        faces=flipped(skin.faces),
        materials=materials[skin.materials],
        weights=skin.weights[:, joints],
    )


def _other_side(name: str) -> str:
    return {".L": name[:-1] + "R", ".R": name[:-1] + "L"}.get(name[-2:], name)


def rise(x: Array, centre: Array | float, half: Array | float) -> Array:
    """0 below centre - half, 1 above centre + half, smooth between."""
    t = np.clip((x - centre) / (2.0 * half) + 0.5, 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def softened(weights: Array, faces: Index, rounds: int) -> Array:
    """Weights (V, J) spread over the neighbours of each vertex."""
    used = np.flatnonzero(weights.any(axis=0))
    part, mean = weights[:, used], neighbour_mean(faces, len(weights))
    for _ in range(rounds):
        part = 0.5 * (part + mean(part))
    out = np.zeros_like(weights)
    out[:, used] = part
    return out


def normalised(weights: Array, most: int = 4) -> Array:
    """Rows of weights (V, J) cut to their `most` largest, those under a hundredth dropped, and scaled to sum to 1."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    out = np.zeros_like(weights)
    np.put_along_axis(out, order, np.take_along_axis(weights, order, axis=1), axis=1)
    out[out < 0.01 * out.sum(axis=1, keepdims=True)] = 0.0
    return np.asarray(out / out.sum(axis=1, keepdims=True))
