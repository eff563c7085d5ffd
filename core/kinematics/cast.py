"""How a skeleton sits on the bones of a rig: the tie between a rig's matrices and a Motion.

A bone's world orientation is G N: N is how the bone lies in the neutral stance (see `stance`), G the joint's world
rotation from it. A joint is placed by its *joint* parent whatever bone it hangs from: thighs under the spine, clavicles
under the neck and feet under the root all occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..maths import quat
from ..motion import Motion
from ..params import Params, param
from ..skeleton import CHAINS, ROLE_PARENTS, SIDES, Array, Skeleton
from . import fk

Roles = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class CastParams(Params):
    """How a rig is taken for a character, and how results land on it."""

    map_file: str = param("", ref="file", help="Role map to use instead of automatic detection (JSON)")
    neutral: str = param(
        "rest",
        choices=(
            ("rest", "Measure the neutral stance from the rest pose"),
            ("pose", "The pose at the current frame is the neutral stance: upright, arms hanging, feet forward"),
        ),
        help="Where the zero of all joint angles comes from",
        basic=False,
    )
    root: str = param(
        "auto",
        choices=(
            ("auto", "Root bone where the rig has one, else hips; hips on control rigs, so that feet stay editable"),
            ("hips", "The hips carry everything"),
            ("root_bone", "The root bone carries place and heading, the hips the rest"),
            ("object", "The armature object carries place and heading, the hips the rest"),
            ("in_place", "Place and heading are left out of the keys and kept with the result"),
        ),
        help="What carries the character over the ground",
    )
    legs: str = param(
        "ik",
        choices=(("ik", "Key the foot controls: feet stay editable"), ("fk", "Key the leg bones: exact")),
        help="How legs of a control rig are keyed",
    )
    arms: str = param(
        "fk",
        choices=(("fk", "Key the arm bones: exact"), ("ik", "Key the hand controls")),
        help="How arms of a control rig are keyed",
    )


@dataclass(frozen=True, eq=False)
class Cast:
    """A rig cast as a character.

    Attributes:
        skeleton: Its joints are named after their bones: mapped ones first, then the other deforming bones.
        bones: (N,) names of all bones of the rig, parents first; `parents` (N,) their indices, -1 none.
        rest: (N, 4, 4) rest matrices in armature space [armature units].
        joints: (J,) bone of each joint.
        neutral: (J, 3, 3) orientation of each joint's bone in the neutral stance, character axes.
        seat: (3,) from the root, midway between the hip joints, to the head of the hips bone in neutral [m].
        frame: (3, 3) columns are the character's left, back and up in armature space.
        stand: (4, 4) armature space to the character standing at rest on the world's origin, heading 0 [m].
        root_bone: Bone on the ground above the hips that may carry the base; -1 none.
        unit: Metres of one armature unit.
        notes: What was measured, by joint [rad].
    """

    skeleton: Skeleton
    bones: tuple[str, ...]
    parents: npt.NDArray[np.int64]
    rest: Array
    joints: npt.NDArray[np.int64]
    neutral: Array
    seat: Array
    frame: Array
    stand: Array
    root_bone: int
    unit: float
    notes: Mapping[str, float] = field(default_factory=dict)


def joint_tree(roles: Roles) -> tuple[dict[str, str], dict[str, str | None]]:
    """({joint: bone}, {joint: joint above or None}), parents first; chain joints are "spine.0", "spine.1"..."""
    bone: dict[str, str] = {}
    above: dict[str, str | None] = {}
    last: dict[str, str] = {}
    for role in ("hips", *ROLE_PARENTS):
        parent: str | None = None
        up = ROLE_PARENTS.get(role, "")
        while up:
            if up in last:
                parent = last[up]
                break
            up = ROLE_PARENTS.get(up, "")
        for i, name in enumerate(roles.get(role, ())):
            joint = f"{role}.{i}" if role in CHAINS else role
            bone[joint], above[joint], parent, last[role] = name, parent, joint, joint
    return bone, above


def read_joints(cast: Cast, matrices: Array) -> tuple[Array, Array]:
    """World matrices (T, J, 4, 4) [m] of the joints' bones to roots (T, 3) and rotations (T, J, 4).

    Scale and shear are dropped; the root is midway between the two thigh heads as they are, so that a rig whose
    thighs hang from something else than the hips keeps its feet where they were.
    """
    return read_turns(cast, matrices[..., :3, 3], quat.from_matrix(orthonormal(matrices)))


def read_turns(cast: Cast, places: Array, turns: Array) -> tuple[Array, Array]:
    """As `read_joints`, from the places (T, J, 3) and orientations (T, J, 4) of the bones."""
    globals_ = quat.multiply(turns, quat.conjugate(quat.from_matrix(cast.neutral)))
    left, right = (cast.skeleton.joint(f"thigh_{s}") for s in SIDES)
    roots = (places[:, left] + places[:, right]) / 2
    return roots, quat.continuous(fk.local_rotations(cast.skeleton, globals_))


def bone_matrices(cast: Cast, motion: Motion) -> Array:
    """World matrices (T, J, 4, 4) [m], without scale, that the joints' bones take in a motion."""
    places, globals_ = fk.forward(cast.skeleton, motion.rotations, motion.roots)
    out = np.zeros((*globals_.shape[:2], 4, 4))
    out[..., :3, :3] = quat.to_matrix(globals_) @ cast.neutral
    out[..., :3, 3] = places
    out[:, 0, :3, 3] += quat.rotate(globals_[:, 0], cast.seat)
    out[..., 3, 3] = 1.0
    return out


def orthonormal(matrices: Array) -> Array:
    """Rotation part (..., 3, 3) of (..., 4, 4), scale and shear dropped: the bone's Y kept, X as near as can be."""
    y = quat.unit(matrices[..., :3, 1])
    x = matrices[..., :3, 0]
    x = quat.unit(x - quat.dot(x, y)[..., None] * y)
    return np.stack([x, y, quat.cross(x, y)], axis=-1)


def with_neutral(cast: Cast, neutral: Array, ankle: float | None = None) -> Cast:
    """`cast` measured from other neutral orientations (J, 3, 3).

    Offsets turn with the bones they hang from; the hips' height follows from the legs and the height of the `ankle`
    over the ground [m], which is kept when None.
    """
    skeleton = cast.skeleton
    turn = neutral @ np.swapaxes(cast.neutral, -1, -2)
    offsets = skeleton.offsets.copy()
    offsets[1:] = np.einsum("jab,jb->ja", turn[skeleton.parents[1:]], skeleton.offsets[1:])
    legs = [[skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot")] for side in SIDES]
    drop = float(np.mean([offsets[leg, 2].sum() for leg in legs]))
    if ankle is None:
        ankle = float(skeleton.offsets[0, 2] + np.mean([skeleton.offsets[leg, 2].sum() for leg in legs]))
    offsets[0, 2] = ankle - drop
    tips = np.einsum("jab,jb->ja", turn, skeleton.tips)
    return replace(
        cast, skeleton=replace(skeleton, offsets=offsets, tips=tips), neutral=neutral, seat=turn[0] @ cast.seat
    )
