"""From composited channels to the pose of a skeleton: gaze, flat feet, and hands and feet at their places.

The order is that of Perlin (1995): pose, forward kinematics, look-at; then limbs whose ends have a place are solved
from the pose they have, by as much as the place counts, so that a place of no weight changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from ...kinematics import fk
from ...kinematics.limb_ik import LIMBS, place_limb
from ...maths import quat, trig
from ...maths.ramp import smoothstep
from ...skeleton import SIDES, Array, Skeleton
from ..repertoire.actions import LOOK, PLANT, SEAT, TURN
from ..repertoire.compositor import Slot
from ..repertoire.puppet import ANKLES, INDEX, JOINTS, cleared, limited, turns
from ..repertoire.tablelines import GROUND, TARGET
from ..repertoire.tables import curve_name
from .fingers import NAMES as FINGERS
from .lookat import looked, within_reach
from .stage import Stage

FLAT = 0.06
"""Height above the other from which a foot is no longer laid flat, on a person with legs of 0.84 m [m]."""
REACH = 0.999
"""Part of its length to which a limb is stretched at most for a place out of reach."""
FOLDED = 0.28
"""Part of its length to which an arm is folded at least."""
STRETCH = 0.12
"""Last part of its length that an arm which follows a target gives ever more slowly: elbows that lock are seen to."""
ACROSS, ASIDE = math.radians(45.0), math.radians(110.0)
"""How far before the body to the other side an arm reaches, and how far out to its own [rad]."""
ABACK, BEHIND = math.radians(120.0), math.radians(165.0)
"""Angles from the front from which on a target is reached for less, and no more [rad]."""
_UP = np.array([0.0, 0.0, 1.0])
_ASIDE = math.sqrt(0.5)
_ROLES: Mapping[str, str] = {
    "Root": "spine",
    "Waist": "hips",
    "Neck": "neck",
    "Nod": "head",
    **{
        f"{s}{j}": f"{r}_{s}"
        for s in SIDES
        for j, r in (
            ("chest", "clavicle"),
            ("shoulder", "upper_arm"),
            ("elbow", "forearm"),
            ("wrist", "hand"),
            ("pelvis", "thigh"),
            ("hip", "thigh"),
            ("knee", "shin"),
            ("ankle", "foot"),
        )
    },
}
"""The role whose joint carries a puppet joint; of a chain the last."""


@dataclass(frozen=True, eq=False)
class Frames:
    """A body at T instants, before it is put on the skeleton.

    Attributes:
        times: (T,) [s].
        channels: (T, channels) composited; places are multiplied by their opacity.
        alphas: (T, slots) opacity of places.
        turned: (T, 20, 4) puppet `turns`.
        feet, shins: (T, 2, 3) ankles and (T, 2, 4) orientations, as of `Fit.legs`.
        x, y, heading, floor: (T,) where it stands [m, rad].
        support: (T,) the foot that stands, 0 left, 1 right.
        gaze: (T, n, 4) world points looked at [m], and the weight of each last.
        targets: (T, 3) world point at which places are aimed [m].
    """

    times: Array
    channels: Array
    alphas: Array
    turned: Array
    feet: Array
    shins: Array
    x: Array
    y: Array
    heading: Array
    floor: Array
    support: npt.NDArray[np.int64]
    gaze: Array
    targets: Array


def joined(parts: list[Frames]) -> Frames:
    """Frames one after the other."""
    if len(parts) == 1:
        return parts[0]
    most = max(p.gaze.shape[1] for p in parts)
    parts = [replace(p, gaze=np.pad(p.gaze, ((0, 0), (0, most - p.gaze.shape[1]), (0, 0)))) for p in parts]
    return Frames(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Frames)))


def puppet_angles(stage: Stage, channels: Array) -> Array:
    """Puppet angles (T, 20, 3) [rad] of channels (T, channels)."""
    angles = np.radians(channels[:, : 3 * len(JOINTS)]).reshape(-1, len(JOINTS), 3)
    angles = limited(angles)
    neck, nod = angles[:, INDEX["Neck"]], angles[:, INDEX["Nod"]]
    turned = within_reach(neck, nod)
    if turned is not neck:
        angles = np.array(angles)
        angles[:, INDEX["Neck"]] = turned
    if stage.params.clear_arms and stage.fit.skeleton.arm_clearance > 0:
        angles = cleared(angles, stage.fit.skeleton.arm_clearance)
    return angles


def posed(stage: Stage, frames: Frames) -> tuple[Array, Array]:
    """Rotations (T, J, 4) and roots (T, 3) [m] of a skeleton, in the world."""
    fit, feet = stage.fit, frames.feet
    turned = np.array(frames.turned)
    _look(stage, frames, turned)
    low = feet[np.arange(len(feet)), frames.support, 2]
    planted = stage.library.layout.value(frames.channels, PLANT)
    if stage.params.flat_feet:
        _lay_flat(stage, frames, turned, low, planted)
    rotations = fit.rotations(turned, frames.heading)
    roots = np.column_stack([frames.x, frames.y, frames.floor + fit.ankle_height - low])
    if np.any(frames.alphas > 0) or (planted is not None and np.any(planted > 0)):
        rotations = _placed(stage, frames, rotations, roots, planted)
    return rotations, roots


def values_of(stage: Stage, channels: Array) -> dict[str, Array]:
    """Curves (T,) of shape keys and properties by name."""
    plan = stage.library.layout
    own = (LOOK, TURN, PLANT, SEAT)
    return {
        curve_name((name, "value")): channels[:, plan.first_value + n]
        for n, name in enumerate(plan.values)
        if name not in own and name not in FINGERS
    }


def _look(stage: Stage, frames: Frames, turned: Array) -> None:
    """Turn the neck to what is looked at, in place."""
    weights = frames.gaze[..., 3]
    if not np.any(weights > 0):
        return
    body = stage.fit.skeleton
    head = body.joint("head")
    offset = np.zeros(3)
    while head != 0:
        offset = offset + body.offsets[head]
        head = int(body.parents[head])
    torso = quat.multiply(quat.about(_UP, frames.heading), turned[:, 0])
    hips = np.column_stack([frames.x, frames.y, frames.floor + body.offsets[0, 2]])
    eyes = hips + quat.rotate(torso, offset)
    directions = quat.rotate(quat.conjugate(torso)[:, None], frames.gaze[..., :3] - eyes[:, None])
    angles = np.radians(frames.channels[:, : 3 * len(JOINTS)]).reshape(-1, len(JOINTS), 3)
    neck, nod = INDEX["Neck"], INDEX["Nod"]
    angles[:, neck] = looked(angles[:, neck], angles[:, nod], directions, weights, stage.params.hold_gaze)
    turned[:, neck] = turns(angles)[:, neck]


def _lay_flat(stage: Stage, frames: Frames, turned: Array, low: Array, planted: Array | None) -> None:
    """Turn feet near the ground so that they lie on it, and keep the toes of others out of it, in place.

    `low` (T,) is the height of the foot that stands, from the hips [m]; `planted` (T,) brings the other down to it.
    """
    fit, shins = stage.fit, frames.shins
    height = frames.feet[..., 2] - low[:, None]
    if planted is not None:
        height = height * (1.0 - np.clip(planted, 0.0, 1.0))[:, None]
    whole = quat.multiply(shins, turned[:, ANKLES])
    level = quat.about(_UP, quat.heading(whole))
    whole = quat.slerp(whole, level, smoothstep(1.0 - height / (FLAT * fit.scale)))
    toes = quat.rotate(whole, fit.toes)
    floor = -(height + fit.ankle_height)
    if np.any(toes[..., 2] < floor):
        # the smallest turn that lifts the toes to the ground
        length = np.maximum(np.sqrt(quat.dot(toes, toes)), 1e-9)
        down, there = (np.ascontiguousarray(np.clip(z / length, -1.0, 1.0)) for z in (floor, toes[..., 2]))
        lift = np.arcsin(down) - np.arcsin(there)
        whole = quat.multiply(quat.about(quat.unit(quat.cross(toes, _UP)), np.maximum(lift, 0.0)), whole)
    turned[:, ANKLES] = quat.multiply(quat.conjugate(shins), whole)


def _placed(stage: Stage, frames: Frames, rotations: Array, roots: Array, planted: Array | None) -> Array:
    """Rotations (T, J, 4) with hands and feet brought to their places."""
    body = stage.fit.skeleton
    positions, globals_ = fk.forward(body, rotations, roots)
    wishes: dict[str, list[tuple[Array, Array]]] = {}
    for n, slot in enumerate(stage.library.layout.slots):
        alpha = frames.alphas[:, n]
        if np.any(alpha > 0):
            goal = _goal(stage, frames, slot, alpha, positions, globals_)
            if slot.anchor == TARGET:
                alpha = alpha * _before(frames)
                if slot.tip.startswith("hand"):
                    shoulder = positions[:, body.joint(LIMBS[slot.tip][0])]
                    goal = _within_arms(slot.tip, goal, shoulder, frames.heading, _length(body, slot.tip))
            wishes.setdefault(slot.tip, []).append((goal, alpha))
    if planted is not None and np.any(planted > 0):
        for side in SIDES:
            here = positions[:, body.joint(f"foot_{side}")].copy()
            here[:, 2] = frames.floor + stage.fit.ankle_height
            others = wishes.setdefault(f"foot_{side}", [])
            rest = 1.0 - sum((alpha for _, alpha in others), np.zeros(len(here)))
            others.append((here, np.clip(planted, 0.0, 1.0) * rest))
    for tip, goals in wishes.items():
        limb, hand = LIMBS[tip], tip.startswith("hand")
        place, upper = positions[:, body.joint(tip)], positions[:, body.joint(limb[0])]
        total = sum((alpha for _, alpha in goals), np.zeros(len(place)))
        if hand:
            aim = _led(tip, upper, place, goals, frames.heading, _length(body, tip))
        else:
            aim = _stretched(upper, place, goals, total, _length(body, tip))
        solved = place_limb(body, globals_, positions, limb, aim, keep_end=not hand)
        globals_ = np.where((total > 0)[:, None, None], solved, globals_)
    return fk.local_rotations(body, globals_)


def _before(frames: Frames) -> Array:
    """(T,) how far targets lie before the body: nobody reaches behind its back, where an arm would turn over."""
    line = np.nan_to_num(frames.targets[:, :2]) - np.column_stack([frames.x, frames.y])
    off = np.abs(_turned_from(np.column_stack([line, np.zeros(len(line))]), frames.heading))
    return np.asarray(smoothstep((BEHIND - off) / (BEHIND - ABACK)))


def _length(body: Skeleton, tip: str) -> float:
    """How long a limb is at most [m]."""
    return REACH * sum(math.hypot(*body.offsets[body.joint(role)]) for role in LIMBS[tip][1:])


def _within_arms(tip: str, goal: Array, shoulder: Array, heading: Array, length: float) -> Array:
    """Goals (T, 3) of a hand, those too far to a side turned about its shoulder to where arms still reach.

    An arm that follows a target around the body waits at its limit, instead of coming to it in a moment; and it does
    not go straight in a moment as the target leaves its reach.
    """
    outward = 1.0 if tip.endswith("L") else -1.0
    line = goal - shoulder
    yaw = outward * _turned_from(line, heading)
    back = quat.about(_UP, outward * (np.clip(yaw, -ACROSS, ASIDE) - yaw))
    far = np.maximum(np.sqrt(quat.dot(line, line)), 1e-9)
    soft = STRETCH * length
    over = np.maximum(far - (length - soft), 0.0)
    near = np.minimum(far, length - soft) - soft * np.expm1(-over / soft)
    return np.asarray(shoulder + quat.rotate(back, line * (near / far)[:, None]))


def _turned_from(line: Array, heading: Array) -> Array:
    """(T,) how far to the left of headings (T,) lines (T, 3) go [rad], -pi..pi."""
    left, forward, _ = np.ascontiguousarray(quat.rotate(quat.about(_UP, -heading), line).T)
    return trig.arctan2(left, -forward)


def _stretched(hip: Array, place: Array, goals: list[tuple[Array, Array]], total: Array, length: float) -> Array:
    """Ways (T, 3) of a foot from its place to the mean of its goals by their weights (T,), `total` together."""
    line = place * (1.0 - total)[:, None] + sum(alpha[:, None] * goal for goal, alpha in goals) - hip
    far = np.maximum(np.sqrt(quat.dot(line, line)), 1e-9)[:, None]
    had = place - hip
    longest = np.maximum(length, np.sqrt(quat.dot(had, had))[:, None] * (1.0 - total)[:, None])
    return np.asarray(hip + line * np.minimum(1.0, longest / far))


def _led(
    tip: str, shoulder: Array, place: Array, goals: list[tuple[Array, Array]], heading: Array, length: float
) -> Array:
    """Ways (T, 3) of a hand from its place to its goals by their weights (T,), one goal after the other.

    It goes about the shoulder, and from a place to its opposite by way of the front and its own side: a straight way
    that comes near to the shoulder would fold the arm and turn it over, and so would the mean of two goals.
    """
    side = quat.rotate(quat.about(_UP, heading), np.array([_ASIDE if tip.endswith("L") else -_ASIDE, -_ASIDE, 0.0]))
    out = place - shoulder
    least = np.minimum(np.sqrt(quat.dot(out, out)), FOLDED * length)[:, None]
    left = np.ones(len(place))
    shares = []
    for _, alpha in reversed(goals):
        shares.append(np.clip(alpha / np.maximum(left, 1e-9), 0.0, 1.0))
        left = left - alpha
    for (goal, _), share in zip(goals, reversed(shares), strict=True):
        line = goal - shoulder
        near, far = (np.maximum(np.sqrt(quat.dot(v, v)), 1e-9)[:, None] for v in (out, line))
        start, end = out / near, line / far
        apart = 0.5 - 0.5 * quat.dot(start, end)
        over = quat.unit(start + end + (2.0 * apart * apart)[:, None] * side)
        way = _turned_to(_turned_to(start, over, share), _turned_to(over, end, share), share)
        out = way * np.maximum((1.0 - share)[:, None] * near + share[:, None] * np.minimum(far, length), least)
    return np.asarray(shoulder + out)


def _turned_to(a: Array, b: Array, part: Array) -> Array:
    """Unit vectors (T, 3) part (T,) of the way from a to b."""
    whole = quat.between(a, b)
    return quat.rotate(quat.slerp(np.broadcast_to(quat.IDENTITY, whole.shape), whole, part), a)


def _goal(stage: Stage, frames: Frames, slot: Slot, alpha: Array, positions: Array, globals_: Array) -> Array:
    """World place (T, 3) of a slot [m]; anything where its opacity is 0."""
    own = frames.channels[:, slot.first : slot.first + 3] / np.maximum(alpha, 1e-12)[:, None]
    offset = stage.fit.scale * np.stack([own[:, 0], -own[:, 2], own[:, 1]], axis=1)
    facing = quat.about(_UP, frames.heading)
    if slot.anchor == GROUND:
        return np.column_stack([frames.x, frames.y, frames.floor]) + quat.rotate(facing, offset)
    if slot.anchor == TARGET:
        # without a target the limb stays where its angles have it
        own = positions[:, stage.fit.skeleton.joint(slot.tip)]
        return np.where(np.isnan(frames.targets), own, frames.targets + quat.rotate(facing, offset))
    role = _ROLES[slot.anchor]
    body = stage.fit.skeleton
    joint = body.chain(role)[-1] if body.has(role) else 0
    return positions[:, joint] + quat.rotate(globals_[:, joint], offset)
