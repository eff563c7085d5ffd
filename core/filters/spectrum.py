"""What a motion is made of: power by frequency, and the order in which its joints are fastest.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996, found nothing of note above 10 Hz in the movement of a wrist,
and look at the times at which joints reach their highest speed: an order and spacing that may differ with emotion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..maths import quat
from ..motion import Motion
from ..params import Params, param
from ..skeleton import Array
from .periods import effector_paths

_STILL = 0.01
"""Angular speed below which a joint does not turn [rad/s]."""
HIGH_HZ = 10.0
"""Frequency above which the movement of a body has no significant power."""


@dataclass(frozen=True)
class SpectrumParams(Params):
    """What is looked at."""

    joint: str = param("", help="Joint or role to plot; empty for the one that turns most")
    above: float = param(HIGH_HZ, lo=0.1, hi=1000.0, unit="Hz", help="Frequency above which power is counted")
    file: str = param("", ref="output", help="Save the picture here too (PNG)")


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Power of signals by frequency.

    Attributes:
        frequencies: (F,) from 0 to half the sample rate [Hz].
        power: (F, C) mean square of each signal about the line that fits it best, shared out over the frequencies.
    """

    frequencies: Array
    power: Array

    def above(self, hz: float = HIGH_HZ) -> Array:
        """(C,) part of the power at more than this frequency; 0 of a signal without power."""
        total = self.power.sum(axis=0)
        high = self.power[self.frequencies > hz].sum(axis=0)
        return np.where(total > 0, high / np.where(total > 0, total, 1.0), 0.0)


class Peak(NamedTuple):
    """When a joint turns fastest: its name, time [s], and angular speed [rad/s]."""

    joint: str
    time: float
    speed: float


class Band(NamedTuple):
    """Power of one signal: its name, mean square [its unit squared], and the part of it above 10 Hz."""

    name: str
    power: float
    above: float


def spectrum(values: npt.ArrayLike, fps: float) -> Spectrum:
    """Power of values (T, C) sampled at `fps` [Hz].

    The straight line that fits best is taken away and a Hann window laid over the rest, so that neither travel nor
    the ends of the clip look like high frequencies.
    """
    signals = np.asarray(values, dtype=np.float64)
    if signals.ndim != 2:
        raise InvalidParam("values", signals.shape, "must be samples of one or more signals, (T, C)")
    count = len(signals)
    if count < 2:
        return Spectrum(np.zeros(1), np.zeros((1, signals.shape[1])))
    along = np.linspace(-1.0, 1.0, count)[:, None]
    rest = signals - signals.mean(axis=0)
    rest = rest - along * (along * rest).sum(axis=0) / (along * along).sum()
    mean_square = (rest * rest).mean(axis=0)
    # what is left of rounding is no power
    mean_square = np.where(mean_square > 1e-24, mean_square, 0.0)
    window = np.hanning(count + 2)[1:-1, None]
    height: Array = np.abs(np.fft.rfft(rest * window, axis=0))
    lines = height * height
    lines[1 : (count + 1) // 2] *= 2.0
    total = lines.sum(axis=0)
    power = lines * mean_square / np.where(total > 0, total, 1.0)
    return Spectrum(np.asarray(np.fft.rfftfreq(count, 1.0 / fps), dtype=np.float64), power)


def effector_bands(motion: Motion, hz: float = HIGH_HZ) -> list[Band]:
    """Power of the movement of each hand and foot, as seen from the character [m^2], and the part above `hz`."""
    out = []
    for role, path in effector_paths(motion).items():
        found = spectrum(path, motion.fps)
        power, high = found.power.sum(), found.power[found.frequencies > hz].sum()
        out.append(Band(role, float(power), float(high / power) if power > 0 else 0.0))
    return out


def angular_speeds(motion: Motion) -> Array:
    """(T, J) how fast each joint turns against the one above it [rad/s]."""
    if len(motion) < 2:
        return np.zeros(motion.rotations.shape[:2])
    step = quat.distance(motion.rotations[:-1], motion.rotations[1:]) * motion.fps
    speeds: Array = np.concatenate([step[:1], (step[1:] + step[:-1]) / 2, step[-1:]])
    return speeds


def joint_of(motion: Motion, name: str) -> int:
    """The joint of a name or role; without a name the one with a role that turns most, the hips left out."""
    skeleton = motion.skeleton
    if name:
        return skeleton.joint(name) if skeleton.has(name) else skeleton.index(name)
    turned = angular_speeds(motion).sum(axis=0)
    return max((j for j in skeleton.role_of() if j > 0), key=lambda j: float(turned[j]), default=0)


def peak_speeds(motion: Motion, start: float = 0.0, end: float | None = None) -> list[Peak]:
    """When each joint with a role turns fastest from `start` to `end` [s], the earliest first, without still ones."""
    first = round(start * motion.fps)
    last = len(motion) if end is None else round(end * motion.fps) + 1
    if not 0 <= first < last <= len(motion):
        raise InvalidParam("start, end", (start, end), f"must lie in order within 0 to {motion.duration:g} s")
    speeds = angular_speeds(motion)[first:last]
    peaks = []
    for joint in sorted(motion.skeleton.role_of()):
        at = int(speeds[:, joint].argmax())
        if speeds[at, joint] > _STILL:
            peaks.append(Peak(motion.skeleton.names[joint], (first + at) / motion.fps, float(speeds[at, joint])))
    return sorted(peaks, key=lambda p: p.time)


def report(motion: Motion, hz: float = HIGH_HZ) -> str:
    """Both findings in lines of text: power above `hz` of hands and feet, and the times of the fastest turns."""
    lines = [f"Power above {hz:g} Hz:"]
    lines += [f"  {band.name}: {band.above:.2%} of {band.power:.3g} m²" for band in effector_bands(motion, hz)]
    lines.append("Fastest turns:")
    lines += [f"  {p.time:.3f} s  {p.joint}: {np.degrees(p.speed):.0f}°/s" for p in peak_speeds(motion)]
    return "\n".join(lines)
