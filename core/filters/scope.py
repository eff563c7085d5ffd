"""Where and when an edit of a motion counts: parts of the body, a range of time with soft ends, and an influence.

The parameters of an editing filter derive from `ScopeParams`; the filter computes its result for the whole motion and
lets `mix` lay it over the motion it was given:

    def bands(motion: Motion, params: BandParams) -> Motion:
        after = ...
        return mix(motion, after, params)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam, InvalidRig
from ..maths import quat
from ..maths.ramp import lerp, smoothstep, unlerp, wrap
from ..motion import Motion
from ..params import Params, param
from ..skeleton import ARM, FINGERS, LEG, SIDES, Array, Skeleton

Bools = npt.NDArray[np.bool_]

_HEAD = ("neck", "head", "jaw", "eye_L", "eye_R")
_FINGERS = {side: tuple(f"{finger}_{side}" for finger in FINGERS) for side in SIDES}
_ARMS = {side: (*(f"{part}_{side}" for part in ARM), *_FINGERS[side]) for side in SIDES}
_LEGS = {side: tuple(f"{part}_{side}" for part in LEG) for side in SIDES}

SCOPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "hips": ("hips",),
        "trunk": ("spine",),
        "head": _HEAD,
        "upper_body": ("spine", *_HEAD, *_ARMS["L"], *_ARMS["R"]),
        "arms": (*_ARMS["L"], *_ARMS["R"]),
        "arm_L": _ARMS["L"],
        "arm_R": _ARMS["R"],
        "fingers": (*_FINGERS["L"], *_FINGERS["R"]),
        "legs": (*_LEGS["L"], *_LEGS["R"]),
        "leg_L": _LEGS["L"],
        "leg_R": _LEGS["R"],
    }
)
"""The roles of each part of the body."""
ROOT = "root"
"""Stands for the place of the hips, apart from their rotation, in a list of joints."""


@dataclass(frozen=True)
class ScopeParams(Params):
    """Which joints, when and how much; the parameters of every editing filter begin with these."""

    scope: str = param(
        "all",
        choices=(
            ("all", "The whole body"),
            ("hips", "The place and turn of the hips"),
            ("trunk", "The spine"),
            ("head", "Neck and head"),
            ("upper_body", "Spine, head and arms"),
            ("arms", "Both arms, from the clavicles to the fingers"),
            ("arm_L", "The left arm with its fingers"),
            ("arm_R", "The right arm with its fingers"),
            ("fingers", "All fingers"),
            ("legs", "Both legs, from the thighs to the toes"),
            ("leg_L", "The left leg"),
            ("leg_R", "The right leg"),
            ("selected", "The bones selected in Pose Mode, or the joints listed below"),
        ),
        help="Part of the body that changes",
    )
    influence: float = param(1.0, lo=0.0, hi=1.0, help="How much of the change counts: 0 leaves everything as it is")
    joints: str = param(
        "",
        help="Joints, roles or parts, separated by commas, that change instead of the part chosen; root is the place "
        "of the hips",
        basic=False,
    )
    range: str = param(
        "whole",
        choices=(
            ("whole", "From the first to the last sample"),
            ("part", "From begin to end"),
            ("scene", "The preview range of the scene, or its frame range without one"),
        ),
        help="Time in which the motion changes",
        basic=False,
    )
    begin: float = param(
        0.0, lo=0.0, hi=36_000.0, unit="s", help="Where a part begins, from the start of the clip", basic=False
    )
    end: float = param(
        0.0, lo=0.0, hi=36_000.0, unit="s", help="Where a part ends; 0 for the end of the clip", basic=False
    )
    soft: float = param(
        0.25,
        lo=0.0,
        hi=60.0,
        unit="s",
        help="Time over which the change comes in and goes out, inside a part's ends that are not the clip's",
        basic=False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.range != "whole" and self.end and self.end <= self.begin:
            raise InvalidParam("end", self.end, f"must lie after begin = {self.begin:g}, or be 0")


def mask(skeleton: Skeleton, params: ScopeParams) -> Bools:
    """(J + 1,) the joints that change, and at the end whether the place of the hips does.

    Joints without a role belong to the part of the next joint above that has one.
    """
    if params.joints.strip():
        return _listed(skeleton, params.joints)
    if params.scope == "selected":
        raise InvalidParam("scope", "selected", "select bones in Pose Mode, or list the joints")
    if params.scope == "all":
        return np.ones(len(skeleton) + 1, dtype=bool)
    chosen = part_mask(skeleton, params.scope)
    if not chosen.any():
        raise InvalidRig(f"this character has no {params.scope.replace('_', ' ')}; it has {', '.join(skeleton.roles)}")
    return chosen


def weight(times: Array, params: ScopeParams) -> Array:
    """(T,) how much the change counts at `times` (T,) [s], the last of which is the end of the clip."""
    out = np.full(len(times), params.influence)
    if params.range == "whole":
        return out
    last = float(times[-1])
    begin, end = params.begin, min(params.end or last, last)
    if begin > last + 1e-9:
        raise InvalidParam("begin", begin, f"the clip is over after {last:g} s")
    soft = min(params.soft, (end - begin) / 2)
    # sample times and what is typed differ in the last digits
    near = 1e-6
    if begin > near:
        out *= smoothstep(unlerp(times, begin, begin + soft)) if soft > 0 else times >= begin - near
    if end < last - near:
        out *= smoothstep(unlerp(-times, -end, soft - end)) if soft > 0 else times <= end + near
    return out


def mix(before: Motion, after: Motion, params: ScopeParams, chosen: Bools | None = None) -> Motion:
    """`after` where and as much as the scope says, `before` elsewhere, number for number.

    Both have the same skeleton and samples. Rotations go along the great arc between the two; the hips' place and the
    base along a straight line. Curves, events and whatever else are those of `after`. `chosen` (J + 1,) is what changes
    where that is more than `mask` gives: legs that follow the hips so that the feet stay.
    """
    if len(before) != len(after) or before.skeleton.names != after.skeleton.names:
        raise InvalidMotion(
            f"{len(before)} samples of {len(before.skeleton)} joints do not mix with "
            f"{len(after)} of {len(after.skeleton)}"
        )
    chosen = mask(before.skeleton, params) if chosen is None else chosen
    share = weight(before.times, params)
    if chosen.all() and np.all(share == 1.0):
        return after
    rotations = before.rotations.copy()
    full, between = share == 1.0, (share > 0.0) & (share < 1.0)
    rotations[np.ix_(full, chosen[:-1])] = after.rotations[np.ix_(full, chosen[:-1])]
    some = np.ix_(between, chosen[:-1])
    rotations[some] = quat.slerp(before.rotations[some], after.rotations[some], share[between, None])
    if not chosen[-1]:
        return replace(after, rotations=quat.continuous(rotations), roots=before.roots, base=before.base)
    weights = share[:, None]
    roots = np.where(weights > 0.0, lerp(before.roots, after.roots, weights), before.roots)
    base = before.base
    if before.base is not None and after.base is not None:
        step = after.base - before.base
        step[:, 2] = wrap(step[0, 2]) + step[:, 2] - step[0, 2]
        base = before.base + weights * step
    return replace(after, rotations=quat.continuous(rotations), roots=roots, base=base)


def part_mask(skeleton: Skeleton, scope: str) -> Bools:
    """(J + 1,) the joints of a part of the body, with all that hangs on them and has no role, and last the root."""
    roles, role_of = SCOPES[scope], skeleton.role_of()
    chosen = np.zeros(len(skeleton) + 1, dtype=bool)
    for j, parent in enumerate(skeleton.parents.tolist()):
        chosen[j] = role_of[j] in roles if j in role_of else parent >= 0 and chosen[parent]
    chosen[-1] = chosen[0]
    return chosen


def _listed(skeleton: Skeleton, names: str) -> Bools:
    chosen = np.zeros(len(skeleton) + 1, dtype=bool)
    for name in filter(None, (word.strip() for word in names.split(","))):
        if name in skeleton.names:
            chosen[skeleton.index(name)] = True
        elif name in skeleton.roles:
            chosen[list(skeleton.chain(name))] = True
        elif name in SCOPES:
            chosen |= part_mask(skeleton, name)
        elif name == ROOT:
            chosen[-1] = True
        else:
            known = ", ".join((*skeleton.roles, *(s for s in SCOPES if s not in skeleton.roles), ROOT))
            raise InvalidParam("joints", name, f"is no joint of this character; its roles and parts are {known}")
    chosen[-1] |= chosen[0]
    return chosen
