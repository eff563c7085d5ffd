"""Fewer keys that show the same: left out wherever the others tell enough, or only at the poses of each step.

Between the keys every channel is a smooth cubic fitted to all its samples. Each channel is first brought within its own
limit; then the rig is played with what is left, and whatever bone or planted foot is too far from where it was gets
keys on all that moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.filters.contacts import CURVES, sole_points
from ...core.filters.keyposes import KeyPose
from ...core.maths import quat
from ...core.maths.reduce import eased, fitted_slopes, kept_keys, split
from ...core.motion import Motion
from ...core.skeleton import SIDES, Array
from ..steps import Steps
from . import pose
from .curves import KEY_TYPES, Channel

Ints = npt.NDArray[np.int64]
Play = Callable[[Mapping[str, Array], Ints], Steps[Motion]]
"""Channel paths to their values (T, C), and the samples (n,) to look at, to the motion (n samples) the rig shows."""

TYPES = {"contact": "EXTREME", "passing": "BREAKDOWN", "down": "KEYFRAME", "up": "KEYFRAME"}
"""Kind of pose to the type of its keys; keys added in between are breakdowns."""
MARGIN = 0.95
"""Part of a limit that is used: keys are stored in single precision."""
EXACT = 1e-5
"""Values as near as this to those of the motion are taken for them."""
SAME = 1e-6
"""Values that differ by less need not be played again."""


@dataclass(frozen=True)
class Limits:
    """How far what is shown may be from the motion.

    Attributes:
        turn: Of each bone, seen from the one above it [rad].
        shift: Of the hips [leg lengths].
        planted: Of heel and ball while they are planted [leg lengths].
    """

    turn: float
    shift: float
    planted: float


BLOCKING = Limits(np.radians(3.0), 0.02, 0.005)


def reduced(tolerance: float) -> Limits:
    """Limits when keys are left out; half a millimetre at a person's size is a millimetre between two places."""
    return Limits(tolerance, tolerance, 0.00055)


@dataclass(frozen=True, eq=False)
class Movers:
    """Which groups of channels (bones, controls, the object) move what.

    Attributes:
        joints: Joint to the groups that turn it.
        hips: What carries the whole body.
        legs: The same for the feet, left and right, without the hips where those do not matter.
    """

    joints: Mapping[int, frozenset[str]]
    hips: frozenset[str]
    legs: tuple[frozenset[str], frozenset[str]]


class _Line:
    """A channel on its way to fewer keys: the samples kept so far and what they give."""

    def __init__(self, channel: Channel, mode: str, limit: float, keys: Ints) -> None:
        self.channel, self.mode, self.limit, self.keys = channel, mode, limit, keys
        self.fit()

    def fit(self) -> None:
        self.slopes = fitted_slopes(self.channel.values, self.keys, bool(self.channel.cycle))
        self.shown = eased(self.channel.values, self.keys, self.slopes)

    def add(self, keys: Ints) -> None:
        self.keys = np.union1d(self.keys, keys)
        self.fit()

    def exact(self) -> npt.NDArray[np.bool_]:
        """(T,) samples at which another key would change nothing."""
        out: npt.NDArray[np.bool_] = np.abs(self.shown - self.channel.values).max(axis=1) < EXACT
        return out

    def settle(self) -> None:
        """Add keys until the channel by itself is within its limit."""
        while True:
            more = split(self.keys, self._away() - self.limit)
            if len(more) == len(self.keys):
                return
            self.add(more)

    def _away(self) -> Array:
        values = self.channel.values
        if self.mode:
            return quat.distance(*(pose.rotation_quaternion(v, self.mode) for v in (self.shown, values)))
        return np.asarray(np.linalg.norm(self.shown - values, axis=1))


def thin_steps(
    channels: Sequence[Channel],
    frames: Array,
    motion: Motion,
    play: Play,
    modes: Mapping[str, str],
    movers: Movers,
    limits: Limits,
    unit: float,
    poses: Sequence[KeyPose] | None = None,
) -> Steps[list[Channel]]:
    """Steps to the channels with fewer keys.

    Args:
        channels: With a key on every frame; those with frames of their own stay as they are.
        frames: (T,) theirs.
        motion: What the rig shows with all keys; its contact curves tell which feet are planted.
        play: See `Play`.
        modes: Path of a rotation channel to its rotation mode.
        movers: Which channels move what.
        limits: How far off the rest may be.
        unit: Metres of one unit of the location channels.
        poses: Key all channels at these, and show in their types which is which; None to key as little as possible.
    """
    ends = np.array([0, len(frames) - 1])
    start = np.unique(np.concatenate([ends, [p.sample for p in poses or ()]]).astype(np.int64))
    leg = motion.skeleton.leg_length()
    lines: dict[int, _Line] = {}
    for i, channel in enumerate(channels):
        yield i / len(channels)
        if channel.frames is None and channel.interpolation == "LINEAR":
            mode = modes.get(channel.path, "")
            if mode or channel.path.endswith("location"):
                limit = limits.turn if mode else limits.shift * leg / unit
                lines[i] = _Line(channel, mode, MARGIN * limit, start)
                lines[i].settle()
    yield from _refine_steps(list(lines.values()), motion, play, movers, limits)
    out = []
    for i, channel in enumerate(channels):
        line = lines.get(i)
        if line is not None:
            channel = replace(
                channel,
                values=channel.values[line.keys],
                frames=frames[line.keys],
                interpolation="BEZIER",
                slopes=line.slopes,
                types=None if poses is None else _types(line.keys, start, poses),
            )
        elif channel.frames is None and poses is None:
            at = kept_keys(channel.values, limits.turn * float(np.ptp(channel.values)))
            channel = replace(channel, values=channel.values[at], frames=frames[at])
        out.append(channel)
    return out


def _refine_steps(lines: list[_Line], motion: Motion, play: Play, movers: Movers, limits: Limits) -> Steps[None]:
    """Steps that add keys until the rig shows the motion within the limits."""
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    played = {line.channel.path: line.channel.values for line in lines}
    while True:
        now = {line.channel.path: line.shown for line in lines}
        changed = np.zeros(len(motion), bool)
        for path, values in now.items():
            changed |= np.abs(values - played[path]).max(axis=1) > SAME
        at = np.flatnonzero(changed)
        if len(at):
            shown = yield from play(now, at)
            roots[at], rotations[at] = shown.roots, shown.rotations
        played = now
        grown = False
        for groups, excess in _faults(replace(motion, roots=roots, rotations=rotations), motion, movers, limits):
            grown |= _add(lines, groups, movers.hips, excess)
        if not grown:
            return


def _faults(shown: Motion, motion: Motion, movers: Movers, limits: Limits) -> list[tuple[frozenset[str], Array]]:
    """(what moves it, by how much it is beyond its limit (T,)) of everything that is."""
    leg = motion.skeleton.leg_length()
    turned = quat.distance(shown.rotations, motion.rotations) - MARGIN * limits.turn
    out = [(groups, turned[:, j]) for j, groups in movers.joints.items() if (turned[:, j] > 0).any()]
    moved = np.linalg.norm(shown.roots - motion.roots, axis=1) - limits.shift * leg
    if movers.hips and (moved > 0).any():
        out.append((movers.hips, moved))
    if movers.hips and any(name in motion.curves for names in CURVES for name in names):
        away = np.linalg.norm(sole_points(shown) - sole_points(motion), axis=-1) - MARGIN * limits.planted * leg
        for k in range(len(SIDES)):
            planted = np.stack([motion.curves.get(name, np.zeros(len(motion))) > 0.5 for name in CURVES[k]], axis=-1)
            slid = np.where(planted, away[:, k], -1.0).max(axis=1)
            if (slid > 0).any():
                out.append((movers.legs[k], slid))
    return out


def _add(lines: list[_Line], groups: frozenset[str], hips: frozenset[str], excess: Array) -> bool:
    """Key everything in the groups where the excess is largest; where that is so already, with the hips, then all."""
    for wider in (groups, groups | hips, None):
        chosen = [line for line in lines if wider is None or line.channel.group in wider]
        if not chosen:
            continue
        there = np.all([line.exact() for line in chosen], axis=0)
        common = np.flatnonzero(there)
        more = np.setdiff1d(split(common, excess), common)
        if len(more):
            for line in chosen:
                line.add(more[~line.exact()[more]])
            return True
    return False


def _types(keys: Ints, start: Ints, poses: Sequence[KeyPose]) -> npt.NDArray[np.uint8]:
    kinds = {p.sample: TYPES[p.kind] for p in poses}
    plain: Any = set(start.tolist())
    names = [kinds.get(k, "KEYFRAME" if k in plain else "BREAKDOWN") for k in keys.tolist()]
    return np.array([KEY_TYPES[name] for name in names], np.uint8)
