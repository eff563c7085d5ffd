"""Feet left where they were, and held where clips are mixed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ..kinematics import fk
from ..kinematics.limb_ik import LIMBS, place_limb
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Motion
from ..skeleton import SIDES, Array
from .contacts import CURVES, Flags, contacts, cycles, runs
from .floor import UP
from .footing import above_floor, in_reach, legs_of, toes_above_floor
from .footlock import footlock
from .scope import ScopeParams, mix, part_mask

EASE = 0.3
"""Time before and after clips are mixed in which held feet are let go again [s]."""
SETTLE = 0.12
"""Time within which the speed that a change has at the end of a contact dies away [s]."""


def keep_feet(
    before: Motion, after: Motion, free: tuple[Collection[int], Collection[int]] = ((), ()), exact: bool = False
) -> Motion:
    """`after` with every foot that is planted in `before` in its place and at its angle there.

    The legs are solved again for it. Between two contacts what is changed goes over from one to the other, continuous
    in speed, and at the ends of the motion it is nothing. Knees do not pop and feet that swing stay out of the floor,
    as far as they do so in `before`; for that the pelvis may sink a little.

    Args:
        before: Its contacts are its `contact/...` curves, or are detected when it has none.
        after: Of the same skeleton and samples.
        free: Samples at which the left and the right foot, if not planted, stay as `after` has them.
        exact: Leave hips and swinging feet as `after` has them, whatever that means for knees and floor; out of reach,
            legs point to where their feet should be.
    """
    skeleton, count = after.skeleton, len(after)
    if count < 2 or not all(skeleton.has(*LIMBS[f"foot_{side}"]) for side in SIDES):
        return after
    if not any(name in before.curves for names in CURVES for name in names):
        before = contacts(before)
    if after.loop:
        left, right = ([k * count + s for k in range(3) for s in some] for some in free)
        held = keep_feet(cycles(before), cycles(after), (left, right), exact)
        return replace(after, roots=held.roots[count : 2 * count], rotations=held.rotations[count : 2 * count])
    old, now = legs_of(before), legs_of(after)
    goals, turns, rotations = now.ankles.copy(), now.turns.copy(), after.rotations.copy()
    for k, side in enumerate(SIDES):
        toes = list(skeleton.roles.get(f"toe_{side}", ()))
        turn = quat.log(quat.multiply(old.turns[:, k], quat.conjugate(now.turns[:, k])))
        bend = quat.log(quat.multiply(quat.conjugate(rotations[:, toes]), before.rotations[:, toes]))
        change = np.concatenate([old.ankles[:, k] - goals[:, k], turn, bend.reshape(count, -1)], axis=1)
        change = _bridged(change, old.stance[:, k], sorted(free[k]), SETTLE * after.fps)
        goals[:, k] += change[:, :3]
        turns[:, k] = quat.multiply(quat.exp(change[:, 3:6]), turns[:, k])
        bent = np.abs(change[:, 6:]).max(axis=1, initial=0.0) > 1e-9
        turned = quat.exp(change[bent, 6:].reshape(np.count_nonzero(bent), len(toes), 3))
        rotations[np.ix_(bent, toes)] = quat.multiply(rotations[np.ix_(bent, toes)], turned)
    drop = np.zeros(count)
    if not exact:
        goals, drop = in_reach(old, now, above_floor(old, goals, turns))
    roots, positions = after.roots - drop[:, None] * UP, now.positions - drop[:, None, None] * UP
    for k, side in enumerate(SIDES):
        limb = LIMBS[f"foot_{side}"]
        leg = [skeleton.joint(role) for role in limb]
        held = np.abs(goals[:, k] - positions[:, leg[2]]).max(axis=1) > 1e-9
        held |= quat.distance(turns[:, k], now.turns[:, k]) > 1e-9
        if held.any():
            solved = place_limb(skeleton, now.globals[held], positions[held], limb, goals[held, k])
            solved[:, leg[2]] = turns[held, k]
            rotations[np.ix_(held, leg)] = fk.local_rotations(skeleton, solved)[:, leg]
    done = replace(after, roots=roots, rotations=rotations)
    if not exact:
        held_legs = legs_of(done)
        for k, side in enumerate(SIDES):
            if skeleton.has(f"toe_{side}"):
                rotations[:, skeleton.joint(f"toe_{side}")] = toes_above_floor(old, held_legs, k)
    return replace(done, rotations=quat.continuous(rotations))


def _bridged(values: Array, planted: Flags, free: list[int], settle: float) -> Array:
    """`values` (T, C) where planted, nothing at `free` samples and at the ends, and smooth ways between.

    The speed at the end of a contact dies away within `settle` samples, so that it carries nothing far off.
    """
    if not planted.any():
        return np.zeros_like(values)
    known, out = planted.copy(), np.where(planted[:, None], values, 0.0)
    known[[*free, 0, -1]] = True
    for a, b in runs(~known):
        # a single sample has no speed
        leaving = out[a - 1] - out[a - 2] if a > 1 and known[a - 2] else np.zeros_like(out[0])
        arriving = out[b + 1] - out[b] if b + 1 < len(out) and known[b + 1] else np.zeros_like(out[0])
        span = b - a + 1
        along = np.arange(1, span)[:, None]
        time = min(settle, span / 2)
        way = smoothstep(along / span)
        out[a:b] = out[a - 1] + way * (out[b] - out[a - 1])
        out[a:b] += time * (_dying(along / time) * leaving - _dying((span - along) / time) * arriving)
    return out


def _dying(x: Array) -> Array:
    """x (1 - x)^2 from 0 to 1, nothing after: starts with slope 1 and ends with none."""
    inside = np.minimum(x, 1.0)
    out: Array = inside * (1.0 - inside) ** 2
    return out


def hold_mixed(motion: Motion, shares: Array | None) -> Motion:
    """A mixture with its feet held still while legs or hips are of several clips; those of one alone stay its own.

    `shares` (Q, T, J + 1) of the clips; None where they are mixed throughout.
    """
    if shares is None:
        return footlock(motion)
    legs = part_mask(motion.skeleton, "legs") | part_mask(motion.skeleton, "hips")
    own = np.abs(shares[..., legs][None] - np.eye(len(shares))[:, :, None, None]).max(axis=(1, 3)) < 1e-9
    together = np.flatnonzero(~own.any(axis=0)) / motion.fps
    if not len(together):
        return motion
    begin, end = max(float(together[0]) - EASE, 0.0), float(together[-1]) + EASE
    return mix(motion, footlock(motion), ScopeParams(range="part", begin=begin, end=end, soft=EASE))
