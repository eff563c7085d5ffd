"""Spikes of a sample or two taken out; everything else stays number for number.

Tukey, "Exploratory Data Analysis", 1977: running medians of five and Hann's weights make a smooth curve that no spike
moves; what they leave over is smoothed the same way and put back ("twicing"), so that curves and turning points count
as smooth. What is then still rough, and more so than joints move around there, is a spike. Rotations are compared in
the tangent space of the one in the window that is nearest to all others, so that flips of any size do no harm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InvalidMotion, InvalidParam
from ..maths import quat
from ..motion import Motion
from ..needs import needs_scipy
from ..skeleton import Array
from .bridge import bridge_places, bridge_turns
from .contacts import Flags, cycles

WIDTH = 5
"""Samples of a running median: spikes of up to (width - 1) / 2 samples are found."""
SPIKE = 0.09
"""Smallest turn that counts as a spike [rad]."""
_HANN = (0.25, 0.5, 0.25)


def despike(motion: Motion, spike: float = SPIKE, ratio: float = 2.5, width: int = WIDTH) -> Motion:
    """`motion` without spikes: what stands out for a sample or two is bridged from the samples around it.

    The first and the last sample stay.

    Args:
        motion: Joints that it does not speak for are left alone.
        spike: Smallest spike of a joint [rad]; of the hips, by as much as a leg that turns so far.
        ratio: How much larger a spike is than the usual step from sample to sample around it.
        width: Samples of the running median, odd.
    """
    if len(motion) < width:
        raise InvalidMotion(f"a clip of {len(motion)} samples has no spikes to tell; it needs at least {width} samples")
    whole = cycles(motion) if motion.loop else motion
    turns, places = find_spikes(whole, spike, ratio, width)
    if motion.mask is not None:
        turns &= motion.mask
        places &= motion.mask[0]
    middle = slice(len(motion), 2 * len(motion)) if motion.loop else slice(None)
    return replace(
        motion,
        rotations=bridge_turns(whole.rotations, turns, motion.fps)[middle],
        roots=bridge_places(whole.roots, places, motion.fps)[middle],
    )


def find_spikes(motion: Motion, spike: float = SPIKE, ratio: float = 2.5, width: int = WIDTH) -> tuple[Flags, Flags]:
    """Samples that are spikes, (T, J) of the joints and (T,) of the place of the hips; see `despike`."""
    if width < 3 or width % 2 == 0:
        raise InvalidParam("width", width, "must be an odd number of 3 or more samples")
    with needs_scipy():
        from scipy.ndimage import median_filter, rank_filter

    steps = quat.distance(motion.rotations[:-1], motion.rotations[1:])
    leg = motion.skeleton.leg_length() if motion.skeleton.has("shin_L", "foot_L", "shin_R", "foot_R") else 1.0
    left = motion.roots - tukey(motion.roots, width)
    loose = np.linalg.norm(left - tukey(left, width), axis=-1)
    sharp = np.linalg.norm(motion.roots - median_filter(motion.roots, size=(width, 1), mode="mirror"), axis=-1)
    ways = np.linalg.norm(np.diff(motion.roots, axis=0), axis=-1)
    odd = np.column_stack([_rough(motion.rotations, steps, spike, width), np.minimum(loose, sharp) / leg])
    moves = np.column_stack([steps, ways / leg])
    # the largest of the steps around that no spike can have made
    rank = -(width + 1) // 2 - 1
    usual = rank_filter(np.concatenate([moves[:1], moves]), rank, size=(2 * width - 1, 1), mode="mirror")
    flags = odd > np.maximum(spike, ratio * usual)
    flags[[0, -1]] = False  # where nothing comes back, nothing can be told from a movement that begins or ends
    return flags[:, :-1], flags[:, -1]


def _rough(rotations: Array, steps: Array, spike: float, width: int) -> Array:
    """(T, J) how far rotations (T, J, 4) are from what Tukey's twicing makes of them [rad]; 0 where steps are small.

    No more than from their running median alone, which follows a step that stays as it is.
    """
    with needs_scipy():
        from scipy.ndimage import maximum_filter1d

    # a spike begins or ends with a step of its size: the rest is smooth enough not to be looked at
    large = np.concatenate([np.zeros((1, steps.shape[1]), dtype=bool), steps > 0.9 * spike])
    near = maximum_filter1d(large, 4 * width + 1, axis=0, mode="nearest")
    out = np.zeros(near.shape)
    if not near.any():
        return out
    count, half = len(rotations), width // 2
    samples, joints = np.nonzero(near)
    mirrored = np.pad(np.arange(count), half, mode="reflect")
    windows = rotations[mirrored[samples[:, None] + np.arange(width)], joints[:, None]]
    medians, left = rotations.copy(), np.zeros((*rotations.shape[:2], 3))
    medians[samples, joints] = median_turn(windows)
    here = medians[samples, joints]
    back = quat.conjugate(here)
    before, after = (medians[np.abs(samples - 1), joints], medians[count - 1 - np.abs(count - 2 - samples), joints])
    bend = quat.log(quat.multiply(back, before)) + quat.log(quat.multiply(back, after))
    smooth = quat.multiply(here, quat.exp(_HANN[0] * bend))
    left[samples, joints] = quat.log(quat.multiply(quat.conjugate(smooth), rotations[samples, joints]))
    sharp = quat.distance(here, rotations[samples, joints])
    out[samples, joints] = np.minimum(np.linalg.norm(left - tukey(left, width), axis=-1)[samples, joints], sharp)
    return out


def tukey(values: Array, width: int = WIDTH) -> Array:
    """Values (T, ...) smoothed by a running median and Hann's weights; they go on beyond their ends as in a mirror."""
    with needs_scipy():
        from scipy.ndimage import convolve1d, median_filter

    medians = median_filter(values, size=(width,) + (1,) * (values.ndim - 1), mode="mirror")
    out: Array = convolve1d(medians, _HANN, axis=0, mode="mirror")
    return out


def median_turn(windows: Array) -> Array:
    """Median (N, 4) of rotations (N, K, 4), K odd: by component, as seen from the one nearest to all the others."""
    apart = 1.0 - np.abs(np.einsum("nic,njc->nij", windows, windows))
    # half the chord between two rotations: cheaper than the angle, and as good to rank them
    best = np.sqrt(np.maximum(apart, 0.0)).sum(axis=-1).argmin(axis=-1)
    centre = windows[np.arange(len(windows)), best]
    vectors = quat.log(quat.multiply(quat.conjugate(centre)[:, None], windows))
    return quat.multiply(centre, quat.exp(np.median(vectors, axis=1)))
