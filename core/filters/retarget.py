"""Motion of one character onto another: world rotations by role, chains resampled, the root scaled by leg length.

Because every rig is measured from the same neutral stance, a joint simply takes the world rotation of the joint that
plays its role. Chains of different length share the source's bend by arc length, keep the top joint's orientation and
match the source's end-to-end direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..errors import InvalidRig
from ..kinematics import fk
from ..maths import quat
from ..motion import Motion
from ..params import Params, param
from ..skeleton import ARM, CHAINS, FINGERS, SIDES, Array, Skeleton
from .contacts import CURVES, contacts, sole_points
from .footlock import footlock

_HEAD = ("neck", "head", "jaw", "eye_L", "eye_R")
_ARMS = {side: tuple(f"{part}_{side}" for part in (*ARM, *FINGERS)) for side in SIDES}
PARTS = {
    "upper_body": ("spine", *_HEAD, *_ARMS["L"], *_ARMS["R"]),
    "arms": (*_ARMS["L"], *_ARMS["R"]),
    "left_arm": _ARMS["L"],
    "right_arm": _ARMS["R"],
    "head": _HEAD,
}
"""Roles of each part of the body that may be taken alone."""


@dataclass(frozen=True)
class RetargetParams(Params):
    """Whose motion, and how it is fitted to the actor."""

    clip: str = param(
        "none",
        choices=(("none", "Take a source, an action or a file"), ("walk", "A level walk that comes with Troupe")),
        help="Motion that comes with Troupe",
    )
    source: str = param("", ref="armature", help="Armature whose animation is taken over")
    action: str = param("", ref="action", help="Action to take instead of what the source plays")
    file: str = param("", ref="file", help="BVH file to take instead of an armature in the scene")
    place: str = param(
        "actor",
        choices=(
            ("actor", "Start where the actor stands, facing the way it faces"),
            ("source", "Follow the places of the source, scaled by leg length"),
        ),
        help="Where the motion starts",
        basic=False,
    )
    body: str = param(
        "whole",
        choices=(
            ("whole", "The whole body, with its travel"),
            ("upper_body", "Spine, head and arms, laid over what the legs do"),
            ("arms", "Both arms, laid over the rest"),
            ("left_arm", "The left arm alone"),
            ("right_arm", "The right arm alone"),
            ("head", "Neck and head alone"),
        ),
        help="Which part of the body takes the motion over",
    )
    plant: bool = param(True, help="Hold the feet still while they touch the ground in the source")
    hands: bool = param(True, basic=False, help="Take the fingers too, where both characters have them")
    ground: bool = param(True, basic=False, help="Bring the feet to the ground, whatever the floor of the source")
    travel: float = param(1.0, lo=0.1, hi=10.0, basic=False, help="Distance covered, as a multiple of the leg ratio")


def retarget(motion: Motion, skeleton: Skeleton, params: RetargetParams | None = None) -> Motion:
    """`motion` as `skeleton` would perform it.

    The result speaks for the joints whose roles the source plays; with `plant`, contacts are detected on the source.
    """
    params = params or RetargetParams()
    for what, s in (("source", motion.skeleton), ("actor", skeleton)):
        if not s.has("thigh_L", "thigh_R", "shin_L", "shin_R", "foot_L", "foot_R"):
            raise InvalidRig(f"the {what} needs both legs (thigh, shin, foot) for retargeting")
    rotations, driven = transfer(motion, skeleton)
    if not params.hands:
        for role, joints in skeleton.roles.items():
            if role.split("_")[0] in FINGERS:
                driven[list(joints)] = False
    if params.body != "whole":
        driven &= np.isin(np.arange(len(driven)), [j for r in PARTS[params.body] for j in skeleton.roles.get(r, ())])
        if not driven.any():
            raise InvalidRig(f"source and actor have nothing of the {params.body.replace('_', ' ')} in common")
        params = replace(params, plant=False, ground=False)
    rotations = np.where(driven[:, None], rotations, quat.IDENTITY)
    ratio = skeleton.leg_length() / motion.skeleton.leg_length()
    if (params.plant or params.ground) and "contact/foot_L" not in motion.curves:
        motion = contacts(motion)
    heights = skeleton.offsets[0, 2] + ratio * (motion.roots[:, 2] - motion.skeleton.offsets[0, 2])
    roots = np.column_stack([motion.roots[:, :2] * (ratio * params.travel), heights])
    base = motion.base
    if base is not None:
        base = np.column_stack([base[:, :2] * (ratio * params.travel), base[:, 2]])
    curves = {k: v for k, v in motion.curves.items() if k.startswith(("contact/", "info/"))}
    result = replace(motion, skeleton=skeleton, rotations=rotations, roots=roots, base=base, mask=driven, curves=curves)
    if params.ground:
        result = replace(result, roots=result.roots - (0.0, 0.0, tread(result)))
    return footlock(result) if params.plant else result


def tread(motion: Motion) -> float:
    """Height at which the feet of a motion tread, by its contact curves [m]; 0 where it has none."""
    planted = [[motion.curves.get(name, np.zeros(len(motion))) > 0.5 for name in names] for names in CURVES]
    down = lifts(motion)[np.moveaxis(np.array(planted), -1, 0)]
    return float(np.median(down)) if len(down) else 0.0


def lifts(motion: Motion) -> Array:
    """(T, 2, 2) how far heel and ball, left foot first, are above their height in the neutral stance [m]."""
    still = np.tile(quat.IDENTITY, (1, len(motion.skeleton), 1))
    standing = Motion(motion.skeleton, motion.fps, motion.skeleton.offsets[:1], still)
    return sole_points(motion)[..., 2] - sole_points(standing)[..., 2]


def transfer(motion: Motion, skeleton: Skeleton) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Rotations (T, J, 4) of `skeleton` that show the motion, and the joints (J,) that the source drives."""
    source = motion.skeleton
    theirs = fk.global_rotations(source, motion.rotations)
    ours = np.empty((len(motion), len(skeleton), 4))
    ours[:] = quat.IDENTITY
    driven = np.zeros(len(skeleton), bool)
    role_of = skeleton.role_of()
    for k in range(len(skeleton)):
        role = role_of.get(k)
        if role is None or role not in CHAINS or k == skeleton.chain(role)[0]:
            values = _globals_of(role, source, theirs, skeleton)
            if values is None:
                parent = int(skeleton.parents[k])
                if parent >= 0:
                    ours[:, k] = ours[:, parent]
                if role in CHAINS:
                    for j in skeleton.chain(role)[1:]:
                        ours[:, j] = ours[:, k]
            else:
                joints = list(skeleton.chain(role)) if role else [k]
                ours[:, joints] = values
                driven[joints] = True
    return quat.continuous(fk.local_rotations(skeleton, ours)), driven


def _globals_of(role: str | None, source: Skeleton, theirs: Array, skeleton: Skeleton) -> Array | None:
    """World rotations (T, n, 4) for the joints that play `role`, or None when the source has nothing to say."""
    if role is None:
        return None
    if role in ("spine", "neck"):
        if source.has(role):
            return _resampled(role, source, theirs, skeleton)
        if role == "neck" and source.has("head", "spine"):
            below, above = theirs[:, source.chain("spine")[-1]], theirs[:, source.joint("head")]
            count = len(skeleton.chain("neck"))
            steps = (np.arange(count) + 1) / (count + 1)
            return quat.slerp(below[:, None], above[:, None], steps[None])
        return None
    if not source.has(role):
        return None
    chain, count = source.chain(role), len(skeleton.chain(role))
    if len(chain) == count:
        return theirs[:, list(chain)]
    picks = np.minimum(np.ceil((np.arange(count) + 1) * len(chain) / count).astype(int) - 1, len(chain) - 1)
    return theirs[:, [chain[i] for i in picks]]


def _resampled(role: str, source: Skeleton, theirs: Array, skeleton: Skeleton) -> Array:
    """A chain's world rotations (T, n, 4) at another number of joints."""
    chain, wanted = list(source.chain(role)), list(skeleton.chain(role))
    turns, segments, ours = theirs[:, chain], source.tips[chain], skeleton.tips[wanted]
    shares = _overlap(np.linalg.norm(segments, axis=-1), np.linalg.norm(ours, axis=-1))
    if len(chain) == len(wanted):
        shares = np.eye(len(chain))
    out = quat.mean(turns[:, None], shares)
    out[:, -1] = turns[:, -1]
    # where the source's whole chain points, carried over by its mean rotation from the neutral stance
    mean = quat.mean(turns, shares.sum(axis=0))
    end, rest = np.einsum("tic->tc", quat.rotate(turns, segments)), segments.sum(axis=0)
    aim = quat.unit(quat.rotate(quat.multiply(quat.between(quat.rotate(mean, rest), end), mean), ours.sum(axis=0)))
    below = np.einsum("tic->tc", quat.rotate(out[:, :-1], ours[:-1]))
    top = quat.rotate(out[:, -1], ours[-1])
    along = quat.dot(aim, top)
    room = along**2 - quat.dot(top, top) + quat.dot(below, below)
    goal = (along + np.sqrt(np.maximum(room, 0.0)))[:, None] * aim - top
    able = (room > 0) & (quat.dot(below, below) > 0)
    lower = quat.between(below, goal)
    whole = quat.between(below + top, aim)
    out[:, :-1] = quat.multiply(np.where(able[:, None], lower, whole)[:, None], out[:, :-1])
    out[:, -1] = np.where(able[:, None], out[:, -1], quat.multiply(whole, out[:, -1]))
    return out


def _overlap(theirs: Array, ours: Array) -> Array:
    """(n_ours, n_theirs) how much of each source segment lies along each of ours, both chains having length one."""
    a = np.concatenate([[0.0], np.cumsum(theirs) / max(theirs.sum(), 1e-12)])
    b = np.concatenate([[0.0], np.cumsum(ours) / max(ours.sum(), 1e-12)])
    shares = np.minimum(a[None, 1:], b[1:, None]) - np.maximum(a[None, :-1], b[:-1, None])
    return np.asarray(np.maximum(shares, 0.0) + 1e-12)
