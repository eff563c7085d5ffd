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
from .contacts import CURVES, Flags, contacts, runs
from .footlock import footlock
from .scope import ScopeParams, mix, part_mask

EASE = 0.3
"""Time before and after clips are mixed in which held feet are let go again [s]."""
SETTLE = 0.12
"""Time within which the speed that a change has at the end of a contact dies away [s]."""


def keep_feet(before: Motion, after: Motion, free: tuple[Collection[int], Collection[int]] = ((), ())) -> Motion:
    """`after` with every foot that is planted in `before` in its place and at its angle there.

    The legs are solved again for it; out of reach, they point there. Between two contacts what is changed goes over
    from one to the other, continuous in speed, and at the ends of the motion it is nothing.

    Args:
        before: Its contacts are its `contact/...` curves, or are detected when it has none.
        after: Of the same skeleton and samples.
        free: Samples at which the left and the right foot, if not planted, stay as `after` has them.
    """
    skeleton = after.skeleton
    if len(after) < 2 or not all(skeleton.has(*LIMBS[f"foot_{side}"]) for side in SIDES):
        return after
    if not any(name in before.curves for names in CURVES for name in names):
        before = contacts(before)
    old_places, old_globals = fk.forward(skeleton, before.rotations, before.roots)
    rotations = after.rotations.copy()
    for names, side, loose in zip(CURVES, SIDES, free, strict=True):
        planted = np.zeros(len(before), dtype=bool)
        for name in names:
            planted |= before.curves[name] > 0.5 if name in before.curves else False
        foot, limb = skeleton.joint(f"foot_{side}"), LIMBS[f"foot_{side}"]
        toes = list(skeleton.roles.get(f"toe_{side}", ()))
        places, globals_ = fk.forward(skeleton, rotations, after.roots)
        shift = old_places[:, foot] - places[:, foot]
        turn = quat.log(quat.multiply(old_globals[:, foot], quat.conjugate(globals_[:, foot])))
        bend = quat.log(quat.multiply(quat.conjugate(rotations[:, toes]), before.rotations[:, toes]))
        change = np.concatenate([shift, turn, bend.reshape(len(after), -1)], axis=1)
        change = _bridged(change, planted, sorted(loose), SETTLE * after.fps, after.loop)
        held = np.abs(change).max(axis=1) > 1e-9
        if not held.any():
            continue
        change = change[held]
        solved = place_limb(skeleton, globals_[held], places[held], limb, places[held, foot] + change[:, :3])
        solved[:, foot] = quat.multiply(quat.exp(change[:, 3:6]), globals_[held, foot])
        leg = [skeleton.joint(role) for role in limb]
        rotations[np.ix_(held, leg)] = fk.local_rotations(skeleton, solved)[:, leg]
        if toes:
            bend = quat.exp(change[:, 6:].reshape(-1, len(toes), 3))
            rotations[np.ix_(held, toes)] = quat.multiply(rotations[np.ix_(held, toes)], bend)
    return replace(after, rotations=quat.continuous(rotations))


def _bridged(values: Array, planted: Flags, free: list[int], settle: float, loop: bool) -> Array:
    """`values` (T, C) where planted, nothing at `free` samples and at the ends, and smooth ways between.

    The speed at the end of a contact dies away within `settle` samples, so that it carries nothing far off.
    """
    count, start = len(values), 0
    if not planted.any():
        return np.zeros_like(values)
    known, out = planted.copy(), np.where(planted[:, None], values, 0.0)
    known[free] = True
    if loop:
        known, out, start = np.tile(known, 3), np.tile(out, (3, 1)), count
    known[[0, -1]] = True
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
    return out[start : start + count]


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
