"""Feet that stay where they are planted: the legs are solved again so that contacts hold still.

Over each stance the foot rolls without slipping about whatever is planted: the heel after the strike, nothing while it
is flat, the ball after the heel has left. That fixes its path up to one place, which is chosen nearest to the source
(in the manner of Kovar, Schreiner, Gleicher, "Footskate cleanup for motion capture editing", 2002). Around a stance the
change fades in and out without a jump in velocity; the pelvis sinks only where a leg would be overstretched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..kinematics import fk
from ..kinematics.limb_ik import LIMBS, place_limb
from ..maths import quat
from ..maths.spline import segment
from ..maths.window import covering
from ..motion import Motion
from ..needs import needs_scipy
from ..params import Params, param
from ..skeleton import LEG, SIDES, Array
from .contacts import CURVES, Flags, contacts, cycles, heel_and_ball, runs, sole_points
from .floor import LEFT, floor_under, out_of_floor, toes_up


@dataclass(frozen=True)
class FootlockParams(Params):
    """How planted feet are held."""

    blend: float = param(0.15, lo=0.0, hi=1.0, unit="s", help="Time over which a foot goes over into and out of a hold")
    reach: float = param(
        0.995, lo=0.8, hi=1.0, help="How straight a leg may be made, as a part of its length, before the pelvis sinks"
    )
    floor: bool = param(True, help="Keep heels, balls and toes from sinking below where they are planted")


class Slide(NamedTuple):
    """How far one contact moves over the ground: `curve` names it, from `start` to `end` [s], by `travel` [m]."""

    curve: str
    start: float
    end: float
    travel: float


def footlock(motion: Motion, params: FootlockParams | None = None) -> Motion:
    """`motion` with its feet held still during its contacts; the upper body keeps its world rotations.

    The contacts are the motion's `contact/...` curves, or are detected when it has none.
    """
    params = params or FootlockParams()
    if not any(name in motion.curves for names in CURVES for name in names):
        motion = contacts(motion)
    roots, rotations = _locked(cycles(motion) if motion.loop else motion, params)
    if motion.loop:
        roots, rotations = roots[len(motion) : 2 * len(motion)], rotations[len(motion) : 2 * len(motion)]
    mask = motion.mask
    if mask is not None:
        mask = mask | np.isin(np.arange(len(mask)), [0, *_leg_joints(motion)])
    return replace(motion, roots=roots, rotations=rotations, mask=mask)


def slide(motion: Motion, planted: Motion | None = None) -> list[Slide]:
    """How far each contact travels from where it begins, heel and ball apart.

    Args:
        motion: Whose feet are measured.
        planted: Whose contact curves are used, when not those of `motion` itself.
    """
    curves = (planted or motion).curves
    points = sole_points(motion)
    out = []
    for foot, names in enumerate(CURVES):
        for part, name in enumerate(names):
            for a, b in runs(curves[name] > 0.5 if name in curves else np.zeros(len(motion), dtype=bool)):
                away = points[a:b, foot, part, :2] - points[a, foot, part, :2]
                travel = float(np.sqrt(quat.dot(away, away)).max())
                out.append(Slide(name, a / motion.fps, (b - 1) / motion.fps, travel))
    return out


def leg_change(before: Motion, after: Motion) -> Array:
    """(T, 2, 3) angle by which thigh, shin and foot of each leg differ in the world [rad]."""
    joints = [[before.skeleton.joint(role) for role in LIMBS[f"foot_{side}"]] for side in SIDES]
    old = fk.global_rotations(before.skeleton, before.rotations)
    new = fk.global_rotations(after.skeleton, after.rotations)
    return quat.distance(old[:, joints], new[:, joints])


def _leg_joints(motion: Motion) -> list[int]:
    roles = motion.skeleton.roles
    return [j for part in LEG for side in SIDES for j in roles.get(f"{part}_{side}", ())]


def _locked(motion: Motion, params: FootlockParams) -> tuple[Array, Array]:
    """Roots (T, 3) and rotations (T, J, 4) with the feet held."""
    skeleton = motion.skeleton
    positions, globals = fk.forward(skeleton, motion.rotations, motion.roots)
    ramp = max(1, round(params.blend * motion.fps))
    planted = np.stack([np.stack([_planted(motion, name) for name in names], axis=-1) for names in CURVES], axis=1)
    limbs = [LIMBS[f"foot_{side}"] for side in SIDES]
    hips, knees, feet = ([skeleton.joint(limb[k]) for limb in limbs] for k in range(3))

    goals, turns, floors = positions[:, feet], globals[:, feet], np.empty((len(motion), 2, 2))
    for k, side in enumerate(SIDES):
        sole = np.stack(heel_and_ball(skeleton, side))
        goals[:, k], turns[:, k] = _held(goals[:, k], turns[:, k], planted[:, k], sole, motion, ramp)
        floors[:, k] = floor_under(goals[:, k], turns[:, k], planted[:, k], sole)
        if params.floor:
            goals[:, k], turns[:, k] = out_of_floor(floors[:, k], goals[:, k], turns[:, k], planted[:, k], sole, ramp)

    full = np.linalg.norm(skeleton.offsets[knees], axis=-1) + np.linalg.norm(skeleton.offsets[feet], axis=-1)
    had = np.linalg.norm(positions[:, feet] - positions[:, hips], axis=-1)
    longer = np.linalg.norm(goals - positions[:, hips], axis=-1) - had
    # the straighter a knee, the less it gives of what is asked, and a straight one bends a little: it never pops
    room = params.reach * full - had
    asked = np.maximum(longer, 0.0) / np.maximum(np.abs(room), 1e-3 * full)
    longest = had - room * np.expm1(-np.where(room > 0, asked, asked**2 / 16))
    shift = _pelvis_shift(goals - positions[:, hips], longest, np.any(planted, axis=2), ramp)
    positions = positions + shift[:, None]
    # a foot that swings may fall short; one that stands does only when both feet are planted too far apart
    lines = goals - positions[:, hips]
    over = longest / np.maximum(np.sqrt(quat.dot(lines, lines)), 1e-9)
    goals = np.where((over < 1.0)[..., None], positions[:, hips] + over[..., None] * lines, goals)

    for k, side in enumerate(SIDES):
        change = quat.multiply(turns[:, k], quat.conjugate(globals[:, feet[k]]))
        globals = place_limb(skeleton, globals, positions, limbs[k], goals[:, k])
        _turn(globals, motion, feet[k], change)
        if params.floor and skeleton.has(f"toe_{side}"):
            toe = skeleton.joint(f"toe_{side}")
            ball = goals[:, k] + quat.rotate(turns[:, k], skeleton.offsets[toe])
            tip = quat.rotate(globals[:, toe], skeleton.tips[toe])
            low = floors[:, k, 1] + min(0.0, float(skeleton.tips[toe, 2])) - ball[:, 2]
            _turn(globals, motion, toe, toes_up(tip, low, quat.rotate(globals[:, feet[k]], -LEFT)))
    changed = _leg_joints(motion)
    rotations = motion.rotations.copy()
    rotations[:, changed] = fk.local_rotations(skeleton, globals)[:, changed]
    return motion.roots + shift, quat.continuous(rotations)


def _planted(motion: Motion, name: str) -> Flags:
    values = motion.curves.get(name)
    return np.zeros(len(motion), dtype=bool) if values is None else values > 0.5


def _turn(globals: Array, motion: Motion, joint: int, change: Array) -> None:
    """Turn a joint and everything that hangs on it by (T, 4), in place."""
    hanging = [joint]
    for j, parent in enumerate(motion.skeleton.parents.tolist()):
        if parent in hanging:
            hanging.append(j)
    globals[:, hanging] = quat.multiply(change[:, None], globals[:, hanging])


def _held(ankles: Array, turns: Array, planted: Flags, sole: Array, motion: Motion, ramp: int) -> tuple[Array, Array]:
    """Where the ankle (T, 3) goes and how the foot (T, 4) is turned so that planted points (T, 2) of the sole stay."""
    step = np.diff(ankles, axis=0, prepend=ankles[:1]) * (motion.fps / motion.skeleton.leg_length())
    # what moves least says most about where the foot was meant to be
    weights = 1.0 / (0.05**2 + quat.dot(step, step))

    flat = np.asarray(planted.all(axis=1))
    change = np.zeros_like(ankles)
    for a, b in runs(flat):
        mean = quat.mean(turns[a:b], weights[a:b])
        change[a:b] = quat.log(quat.multiply(mean, quat.conjugate(turns[a:b])))
    turns = quat.multiply(quat.exp(_bridged(change, flat, ramp)), turns)

    stance = np.asarray(planted.any(axis=1))
    away = np.zeros_like(ankles)
    for a, b in runs(stance):
        # from sample to sample the foot turns about what is planted at both; between two pivots it goes with the source
        heel, ball = (planted[a : b - 1] & planted[a + 1 : b]).T[..., None]
        before, after = (quat.rotate(turns[s, None], sole) for s in (slice(a, b - 1), slice(a + 1, b)))
        back = before - after
        roll = np.where(ball, back[:, 1], np.where(heel, back[:, 0], np.diff(ankles[a:b], axis=0)))
        path = np.concatenate([np.zeros((1, 3)), np.cumsum(roll, axis=0)])
        place = np.average(ankles[a:b] - path, axis=0, weights=weights[a:b])
        away[a:b] = place + path - ankles[a:b]
    return ankles + _bridged(away, stance, ramp), turns


def _bridged(values: Array, known: Flags, ramp: int) -> Array:
    """`values` (T, C) where known; between, cubics of `ramp` samples that fade to zero, continuous in velocity.

    A gap too short to fade out and in again is crossed by one cubic.
    """
    out = np.where(known[:, None], values, 0.0)
    for a, b in runs(~known):
        left, right = _edge(values, known, a - 1, a - 2), _edge(values, known, b, b + 1)
        span = b - a + 1
        u = np.arange(1, span)[:, None]
        if left and right and span <= 2 * ramp:
            out[a:b] = segment(u / span, left[0], left[1] * span, right[0], -right[1] * span)
            continue
        for edge, away in ((left, u), (right, span - u)):
            if edge:
                out[a:b] += np.where(away < ramp, segment(away / ramp, edge[0], edge[1] * ramp), 0.0)
    return out


def _edge(values: Array, known: Flags, at: int, inner: int) -> tuple[Array, Array] | None:
    """Value at the end of a known run and its change per sample outwards; None beyond the motion."""
    if not 0 <= at < len(values):
        return None
    inside = 0 <= inner < len(values) and known[inner]
    return values[at], values[at] - values[inner] if inside else np.zeros_like(values[at])


def _pelvis_shift(lines: Array, longest: Array, stance: Flags, ramp: int) -> Array:
    """(T, 3) smooth move of the root that lets standing legs reach.

    Args:
        lines: (T, 2, 3) from the hip joints to where the ankles go [m].
        longest: (T, 2) how far each leg may reach [m].
        stance: (T, 2) feet that must get there.
        ramp: Samples over which the pelvis goes and comes back.
    """
    with needs_scipy():
        from scipy.ndimage import gaussian_filter1d

    shift = np.zeros_like(lines[:, 0])
    # sinking alone cannot help a leg that points too far out: the pelvis first moves towards that foot
    for leg in (0, 1) * 8:
        across = lines[:, leg, :2] - shift[:, :2]
        over = np.maximum(np.sqrt(quat.dot(across, across)) - 0.8 * longest[:, leg], 0.0) * stance[:, leg]
        shift[:, :2] += over[:, None] * quat.unit(across)
    shift[:, :2] = gaussian_filter1d(shift[:, :2], ramp / 2, axis=0, mode="nearest")
    across = lines[..., :2] - shift[:, None, :2]
    height = np.sqrt(np.maximum(longest**2 - quat.dot(across, across), (0.3 * longest) ** 2))
    drop = np.where(stance, np.maximum(-lines[..., 2] - height, 0.0), 0.0).max(axis=1)
    shift[:, 2] = -covering(drop, max(1, ramp // 2))
    return shift
