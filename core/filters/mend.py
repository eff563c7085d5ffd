"""Cures for what `doctor` finds: each takes a motion and gives one whose mask names the joints it changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from ..kinematics.anatomy import clamp
from ..maths import quat
from ..maths.ramp import smootherstep
from ..motion import Motion
from ..needs import needs_scipy
from ..skeleton import ARM, LEG, SIDES
from .contacts import contacts
from .doctor import HINGES, DoctorParams, feet_depth, leaps
from .footlock import footlock

SETTLE = 0.25
"""Time over which a jump is spread on either side of it, and over which a sunken body rises [s]."""


def plant(motion: Motion, params: DoctorParams, ground: float = 0.0) -> Motion:
    """Feet held still while they touch the ground."""
    return _masked(motion, footlock(contacts(motion)))


def lift(motion: Motion, params: DoctorParams, ground: float = 0.0) -> Motion:
    """The whole body raised, smoothly, where a foot is below the ground."""
    with needs_scipy():
        from scipy.ndimage import maximum_filter1d, uniform_filter1d
    half = max(1, round(SETTLE * motion.fps / 2))
    # a running maximum averaged over the same span is nowhere below what is needed
    rise = maximum_filter1d(feet_depth(motion, ground), 4 * half + 1, mode="nearest")
    for _ in range(2):
        rise = uniform_filter1d(rise, 2 * half + 1, mode="nearest")
    return _masked(motion, replace(motion, roots=motion.roots + rise[:, None] * np.array([0.0, 0.0, 1.0])))


def unbend(motion: Motion, params: DoctorParams, ground: float = 0.0) -> Motion:
    """Knees and elbows stopped where they are straight."""
    skeleton = motion.skeleton
    limits = np.tile([-np.pi, np.pi], (len(skeleton), 3, 1))
    hinges = [j for part in HINGES for side in SIDES for j in skeleton.roles.get(f"{part}_{side}", ())]
    limits[hinges, 0] = 0.0, np.pi
    # a hinge bent backward is also one turned around and bent forward: that is not meant
    limits[hinges, 1] = -np.pi / 2, np.pi / 2
    rotations = clamp(replace(skeleton, limits=limits), motion.rotations)
    return _masked(motion, replace(motion, rotations=rotations))


def limit(motion: Motion, params: DoctorParams, ground: float = 0.0) -> Motion:
    """Joints stopped at the ends of their range; the wrist keeps the twist that rigs without twist bones put there."""
    skeleton = motion.skeleton
    limits = skeleton.limits.copy()
    hands = [j for side in SIDES for j in skeleton.roles.get(f"hand_{side}", ())]
    limits[hands, 2] = -np.pi / 2, np.pi / 2
    rotations = clamp(replace(skeleton, limits=limits), motion.rotations)
    return _masked(motion, replace(motion, rotations=rotations))


def smooth(motion: Motion, params: DoctorParams, ground: float = 0.0) -> Motion:
    """Jumps spread over SETTLE before and after them; glitches of a few samples bridged."""
    roots, turns = motion.roots.copy(), motion.rotations.copy()
    samples, ramp = np.arange(len(motion)), max(2.0, SETTLE * motion.fps)
    for first, last in leaps(motion, params):
        a, b = first, last + 1
        before, after = max(a - 1, 0), min(b + 1, len(motion) - 1)
        # what is left of the step when the speed on either side has had its part
        shift = roots[b] - roots[a] - (b - a) / 2 * (roots[a] - roots[before] + roots[after] - roots[b])
        turn = _between(turns, a, b) - (b - a) / 2 * (_between(turns, before, a) + _between(turns, b, after))
        away = np.where(samples <= a, a - samples, samples - b)
        share = np.where(samples <= a, 0.5, -0.5) * smootherstep(np.clip(1.0 - away / ramp, 0.0, 1.0))
        roots += share[:, None] * shift
        turns = quat.multiply(turns, quat.exp(share[:, None, None] * turn))
        u = (np.arange(a + 1, b) - a) / (b - a)
        roots[a + 1 : b] = roots[a] + u[:, None] * (roots[b] - roots[a])
        turns[a + 1 : b] = quat.slerp(turns[a][None], turns[b][None], u[:, None])
    return _masked(motion, replace(motion, roots=roots, rotations=quat.continuous(turns)))


CURES: Mapping[str, Callable[[Motion, DoctorParams, float], Motion]] = MappingProxyType(
    {"slide": plant, "floor": lift, "hyperextension": unbend, "limits": limit, "jump": smooth}
)
"""Kind of finding to what mends it."""


def _between(turns: quat.Array, a: int, b: int) -> quat.Array:
    """Rotation vectors (J, 3) from sample a to sample b of (T, J, 4)."""
    return quat.log(quat.multiply(quat.conjugate(turns[a]), turns[b]))


def _masked(before: Motion, after: Motion) -> Motion:
    """`after` speaking for the joints that differ, limbs as wholes; a root that moved takes the legs with it."""
    roles = before.skeleton.roles
    changed = quat.distance(before.rotations, after.rotations).max(axis=0) > 1e-6
    changed[0] |= bool(np.abs(after.roots - before.roots).max() > 1e-7)
    for side in SIDES:
        for limb in (ARM, LEG):
            joints = [j for part in limb for j in roles.get(f"{part}_{side}", ())]
            if changed[joints].any() or (limb is LEG and changed[0]):
                changed[joints] = True
    return replace(after, base=None, mask=changed)
