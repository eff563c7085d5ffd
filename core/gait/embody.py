"""From planned steps to a motion: body carried over them, feet on them, legs, trunk, head and arms in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..kinematics import anatomy
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Event, Motion
from ..skeleton import FINGERS, SIDES, Array, Pose, Skeleton
from . import legs
from .arm_room import beside_legs
from .bounds import Bounds
from .carriage import Carriage, Carrier
from .cycle import ARM, BODY
from .feet import SIDEWAYS, Foot, toe_flexion
from .footfalls import FOREVER, Plan
from .physique import Physique
from .swing import Swing
from .terrain import Ground
from .track import Track
from .walking import PERSON

BLEND = 0.7
"""Time in which a body leaves the pose it starts from, and goes over into the one it ends in [s for a leg of 0.9 m]."""
FLAT_PITCH = 0.006
"""A foot pitched by less than this lies flat [rad]."""
SWINGING = 0.14
"""Abduction at which a swinging hand goes past the thigh of its side, which comes the other way [rad]; an arm that
only hangs may be closer."""
_UP = np.array([0.0, 0.0, 1.0])

Flags = npt.NDArray[np.bool_]


def embody(
    skeleton: Skeleton,
    body: Physique,
    track: Track,
    plan: Plan,
    terrain: Ground,
    banking: float,
    base: Array,
    start: Pose | None = None,
    end: Pose | None = None,
) -> Motion:
    """The motion of a planned walk.

    Args:
        skeleton: Whose `body` it is.
        track: Where the body is meant to be; the motion has its samples.
        plan: The steps.
        terrain: What the feet of the swings must clear.
        banking: Lean into curves, by what balance asks.
        base: (T, 3) what the motion tells as its base: the track as it was before anybody staggered.
        start, end: Poses held at the first and the last sample.
    """
    carrier = Carrier(track, plan, banking)
    limits = [skeleton.limits[[skeleton.joint(f"{part}_{side}") for part in ("foot", "shin")], 0] for side in SIDES]
    feet = [Foot(plan, body, side, limits[side], terrain) for side in (0, 1)]
    swings = [Swing(foot) for foot in feet]
    times = np.arange(len(track.base)) / track.fps
    bounds = Bounds(start, end, track.duration, BLEND * float(np.sqrt(body.leg / PERSON)))
    bounds.measure(carrier.at)

    def carry(times: Array) -> Carriage:
        return bounds.carried(carrier.at(times), times)

    for foot, ends in zip(feet, _parts(carry, [foot.ends for foot in feet]), strict=True):
        foot.settle(ends)

    def lowered(times: Array) -> Carriage:
        carried = carry(times)
        # a pose that is held is not lowered, but the first step may come down long before it is let go
        let_go = smoothstep(np.minimum(2.0 * (1.0 - carried.held), 1.0))
        sunk = np.hypot(*(foot.overreach(times, carried) for foot in feet)) * let_go
        return replace(carried, roots=carried.roots - sunk[:, None] * _UP, sunk=sunk)

    carried, *around = _parts(lowered, [times, *(swing.times for swing in swings)])
    for swing, part in zip(swings, around, strict=True):
        swing.prepare(part)
    tracks = [_foot_track(foot, swing, times, carried) for foot, swing in zip(feet, swings, strict=True)]
    ankles, soles, toes, pitches, free = (list(part) for part in zip(*tracks, strict=True))
    contacts = {}
    for k, side in enumerate(SIDES):
        contacts[f"contact/foot_{side}"] = (~free[k] & (pitches[k] > -FLAT_PITCH)).astype(np.float64)
        contacts[f"contact/toe_{side}"] = (~free[k] & (pitches[k] < FLAT_PITCH)).astype(np.float64)
    rotations = np.tile(quat.IDENTITY, (len(times), len(skeleton), 1))
    rotations = _upper_body(skeleton, rotations, carried)
    rotations[:, 0] = carried.pelvis
    swivels = np.zeros((2, len(times)))
    rotations = legs.reach(skeleton, rotations, carried, ankles, soles, toes, swivels)
    for k, foot in enumerate(feet):
        legs.turn_within_limits(skeleton, rotations, SIDES[k])
        legs.loosen_ankle(skeleton, rotations, SIDES[k], foot.swinging(times)[2], free[k])
    if start is not None or end is not None:
        swivels = bounds.swivels(skeleton, rotations, carried.roots, times)
        rotations = legs.reach(skeleton, rotations, carried, ankles, soles, toes, swivels)
        rotations = legs.plant_again(skeleton, bounds.joined(rotations, times), carried.roots, ankles, soles)
    rotations = beside_legs(skeleton, rotations, carried.roots, track.fps, 1.0 - bounds.held(times))
    return Motion(
        skeleton,
        track.fps,
        carried.roots,
        quat.continuous(rotations),
        base=base,
        curves=contacts,
        events=_events(plan, times, pitches),
    )


def _parts(carry: Callable[[Array], Carriage], times: list[Array]) -> list[Carriage]:
    """The body at several sets of times, found in one go."""
    body = carry(np.concatenate(times))
    borders = np.cumsum([0, *map(len, times)])
    return [body.part(slice(a, b)) for a, b in pairwise(borders.tolist())]


def _foot_track(foot: Foot, swing: Swing, times: Array, carried: Carriage) -> tuple[Array, Array, Array, Array, Flags]:
    """Ankle (T, 3), rotation of the foot (T, 4), toe flexion (T,), pitch (T,) and whether it is in the air (T,)."""
    j, free, _ = foot.swinging(times)
    ankles, pitch = foot.planted(j, np.minimum(times, foot.offs[j]), carried)
    soles = quat.multiply(foot.turns[j], quat.about(SIDEWAYS, pitch))
    toes = toe_flexion(pitch)
    if free.any():
        ankles[free], soles[free], pitch[free] = swing.at(j[free], times[free], carried.part(free))
        balls = ankles[free] + quat.rotate(soles[free], foot.pivots[1])
        toes[free] = swing.toes(j[free], times[free], balls, foot.floor(balls, times[free]), pitch[free])
    return ankles, soles, toes, pitch, free


def _upper_body(skeleton: Skeleton, rotations: Array, carried: Carriage) -> Array:
    """Rotations (T, J, 4) with trunk, head, arms and fingers set."""
    column = {name: carried.body[:, k] for k, name in enumerate(BODY)}
    angles: dict[str, Array] = {}
    spine = np.column_stack([column["spine_flexion"], column["spine_side"], column["spine_yaw"]])
    if skeleton.has("spine"):
        angles["spine"] = spine
    for side, arm in zip(SIDES, carried.arms, strict=True):
        a = {name: arm[:, k] for k, name in enumerate(ARM)}
        zero = np.zeros(len(arm))
        if skeleton.has(f"clavicle_{side}"):
            angles[f"clavicle_{side}"] = np.column_stack([a["shoulder"], a["shrug"], zero])
        clear = max(skeleton.arm_clearance, SWINGING)
        if skeleton.has(f"upper_arm_{side}"):
            angles[f"upper_arm_{side}"] = np.column_stack([a["flexion"], a["abduction"] + clear, a["rotation"]])
        if skeleton.has(f"forearm_{side}"):
            angles[f"forearm_{side}"] = np.column_stack([a["elbow"], zero, a["pronation"]])
        if skeleton.has(f"hand_{side}"):
            angles[f"hand_{side}"] = np.column_stack([a["wrist"], zero, zero])
    out = _fingers(skeleton, anatomy.with_angles(skeleton, rotations, angles), carried.curl)
    return _steady_head(skeleton, out, carried, column)


def _fingers(skeleton: Skeleton, rotations: Array, curl: Array) -> Array:
    """Rotations (T, J, 4) with every joint of the fingers bent by `curl` (T,), of the thumb by less."""
    held = curl[:1] if np.ptp(curl) < 1e-9 else curl
    zero = np.zeros(len(held))
    thumb, *fingers = FINGERS
    for side in SIDES:
        # a thumb bent like a finger would stick into the thigh
        for bend, names in ((0.2 * held - 0.17, [thumb]), (held, fingers)):
            joints = [j for name in names for j in skeleton.roles.get(f"{name}_{side}", ())]
            if joints:
                bent = anatomy.from_angles(np.column_stack([bend, zero, zero]), f"{names[0]}_{side}")
                rotations[:, joints] = bent[:, None]
    return rotations


def _steady_head(skeleton: Skeleton, rotations: Array, carried: Carriage, column: Mapping[str, Array]) -> Array:
    """Neck and head turned so that the head faces where the body goes, whatever trunk and pelvis do."""
    chest = carried.pelvis
    for joint in skeleton.roles.get("spine", ()):
        chest = quat.multiply(chest, rotations[:, joint])
    face = np.column_stack([column["head_pitch"], column["head_roll"], column["head_yaw"]])
    goal = quat.multiply(quat.about(_UP, carried.base[:, 2]), anatomy.from_angles(face, "head"))
    total = quat.multiply(quat.conjugate(chest), goal)
    chain = (*skeleton.roles.get("neck", ()), *skeleton.roles.get("head", ()))
    if chain:
        rotations[:, list(chain)] = anatomy.spread(total, len(chain))
    return rotations


def _events(plan: Plan, times: Array, pitches: list[Array]) -> tuple[Event, ...]:
    """Strikes, flat feet, rising heels and toe-offs within the motion; strikes tell their footfall."""
    out = []
    for fall in plan.falls:
        side = SIDES[fall.side]
        first, last = np.searchsorted(times, [fall.strike, fall.off])
        pitch, at = pitches[fall.side][first:last], times[first:last]
        if fall.strike > -FOREVER:
            x, y, z = (round(float(v), 6) for v in fall.place)
            heading = round(float(quat.heading(fall.turn)), 6)
            data = {"step": fall.number, "x": x, "y": y, "z": z, "heading": heading, "gait": fall.gait}
            out.append(Event(fall.strike, f"heel_strike_{side}", data))
        flat = np.flatnonzero(np.abs(pitch) <= FLAT_PITCH)
        if len(flat) and fall.strike > -FOREVER:
            out.append(Event(float(at[flat[0]]), f"foot_flat_{side}"))
        up = np.flatnonzero(pitch > -FLAT_PITCH)
        if fall.off < FOREVER and len(up) and up[-1] + 1 < len(pitch):
            out.append(Event(float(at[up[-1] + 1]), f"heel_off_{side}"))
        out.append(Event(fall.off, f"toe_off_{side}"))
    return tuple(e for e in out if 0.0 <= e.time <= times[-1])
