"""From composited channels to the pose of a skeleton: gaze, flat feet, and hands and feet at their places.

The order is that of Perlin (1995): pose, forward kinematics, look-at; then limbs whose ends have a place are solved
from the pose they have, by as much as the place counts, so that a place of no weight changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from ...kinematics import fk
from ...kinematics.limb_ik import LIMBS, place_limb
from ...maths import quat
from ...maths.ramp import smoothstep
from ...skeleton import SIDES, Array
from ..repertoire.actions import LOOK, PLANT, SEAT, TURN
from ..repertoire.compositor import Slot
from ..repertoire.puppet import ANKLES, INDEX, JOINTS, cleared, limited, turns
from ..repertoire.tablelines import GROUND, TARGET
from ..repertoire.tables import curve_name
from .arms import before, led, length_of, within_arms
from .fingers import NAMES as FINGERS
from .lookat import looked, within_reach
from .stage import Stage

FLAT = 0.06
"""Height above the other from which a foot is no longer laid flat, on a person with legs of 0.84 m [m]."""
_UP = np.array([0.0, 0.0, 1.0])
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
                alpha = alpha * before(frames.targets, frames.x, frames.y, frames.heading)
                if slot.tip.startswith("hand"):
                    shoulder = positions[:, body.joint(LIMBS[slot.tip][0])]
                    goal = within_arms(slot.tip, goal, shoulder, frames.heading, length_of(body, slot.tip))
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
            aim = led(tip, upper, place, goals, frames.heading, length_of(body, tip))
        else:
            aim = _stretched(upper, place, goals, total, length_of(body, tip))
        solved = place_limb(body, globals_, positions, limb, aim, keep_end=not hand)
        globals_ = np.where((total > 0)[:, None, None], solved, globals_)
    return fk.local_rotations(body, globals_)


def _stretched(hip: Array, place: Array, goals: list[tuple[Array, Array]], total: Array, length: float) -> Array:
    """Ways (T, 3) of a foot from its place to the mean of its goals by their weights (T,), `total` together."""
    line = place * (1.0 - total)[:, None] + sum(alpha[:, None] * goal for goal, alpha in goals) - hip
    far = np.maximum(np.sqrt(quat.dot(line, line)), 1e-9)[:, None]
    had = place - hip
    longest = np.maximum(length, np.sqrt(quat.dot(had, had))[:, None] * (1.0 - total)[:, None])
    return np.asarray(hip + line * np.minimum(1.0, longest / far))


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
