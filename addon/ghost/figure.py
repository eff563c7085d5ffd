"""What is drawn of a motion: the segments of the body at every frame, poses along the way, and where feet tread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.gait.physique import measure
from ...core.kinematics import fk
from ...core.motion import Event, Motion
from ...core.skeleton import FINGERS, SIDES, Array
from .. import draw

SKINS = 48
"""Poses along the way, at most."""
APART = 0.3
"""A pose along the way is left out within this of an earlier one [leg lengths]."""
UNHURRIED = 0.5
"""Time between the poses along the way of who does not step [s]."""
ASTRAY = 0.5
"""A footfall is drawn only where the foot comes as near as this to it [leg lengths]."""
ABOVE = 0.004
"""Height of the footfalls over the ground, so that they do not flicker [m]."""
TINY = ("jaw", "eye_L", "eye_R")
"""Roles that are not drawn."""

Lines = dict[str, Any]
"""Colour name to end points (2 n, 3) float32 [world units]."""


@dataclass(frozen=True, eq=False)
class Figure:
    """What is drawn of a motion.

    Attributes:
        first: Frame of the first sample.
        segments: (T, S, 2, 3) float32, both ends of every segment [world units].
        colours: (S,) names of their colours.
        fine: (S,) those of the fingers, from the wrist on.
        skins: (K,) samples that are shown along the way.
        soles: (F, N, 3) float32, outlines of the footfalls [world units].
        sides: (F,) names of their colours.
        repeats: It begins again after the last sample, which equals the first; otherwise it holds.
    """

    first: int
    segments: Any
    colours: Any
    fine: Any
    skins: Any
    soles: Any
    sides: Any
    repeats: bool

    def sample(self, frame: float) -> int:
        """The sample that is shown at a frame, the ends held."""
        passed, last = round(frame - self.first), len(self.segments) - 1
        return passed % last if self.repeats and passed > last else min(max(passed, 0), last)

    def pose(self, frame: float) -> Lines:
        """The whole figure at a frame."""
        return self._lines(self.segments[None, self.sample(frame)], self.colours)

    def trail(self) -> Lines:
        """The poses along the way, without fingers."""
        return self._lines(self.segments[self.skins][:, ~self.fine], self.colours[~self.fine])

    def footfalls(self) -> Lines:
        """The outlines of the soles."""
        ring = np.stack([self.soles, np.roll(self.soles, -1, axis=1)], axis=2)
        return {name: ring[self.sides == name].reshape(-1, 3) for name in np.unique(self.sides)}

    @staticmethod
    def _lines(segments: Any, colours: Any) -> Lines:
        return {name: segments[:, colours == name].reshape(-1, 3) for name in np.unique(colours)}


def figure_of(motion: Motion, first: int = 0, metre: float = 1.0, repeats: bool = False) -> Figure:
    """The figure of a motion.

    Args:
        motion: T samples, one a frame; of a part of the body only that part is shown.
        first: Frame of the first sample.
        metre: Metres of one world unit.
        repeats: Whether it begins again after the last sample.
    """
    skeleton = motion.skeleton
    places, turns = fk.forward(skeleton, motion.rotations, motion.roots)
    tips = fk.tip_positions(skeleton, places, turns)
    roles = {j: role for j, role in skeleton.role_of().items() if role not in TINY}
    ends = np.concatenate([places, tips], axis=1)
    fingers = {j for j, role in roles.items() if role.split("_")[0] in FINGERS}
    rows = [(int(skeleton.parents[j]), j) for j in roles if j and int(skeleton.parents[j]) in roles]
    above = {p for p, j in rows if p in fingers or j not in fingers}
    rows += [(j, len(skeleton) + j) for j in roles if j not in above]
    if motion.mask is not None:
        rows = [row for row in rows if motion.mask[row[0]]]
    pairs = np.array(rows, dtype=np.int64).reshape(-1, 2)
    falls = [e for e in motion.events if e.name.startswith("heel_strike") and "heading" in e.data]
    sides, soles = _soles(motion, places, falls) if falls else ([], np.zeros((0, 1, 3)))
    return Figure(
        first,
        (ends[:, pairs] / metre).astype(np.float32),
        np.array([draw.colour_of(roles[a]) for a, _ in rows], dtype=str),
        np.array([a in fingers or b in fingers for a, b in rows], dtype=bool),
        _skins(motion),
        (soles / metre).astype(np.float32),
        np.array(sides, dtype=str),
        repeats and len(motion) > 2,
    )


def _skins(motion: Motion) -> Any:
    """(K,) samples at which feet strike, else at even times, without those that would cover an earlier one."""
    last, leg = len(motion) - 1, motion.skeleton.leg_length()
    strikes = [min(round(e.time * motion.fps), last) for e in motion.events if e.name.startswith("heel_strike")]
    if len(strikes) < 2:
        strikes = list(range(0, last, max(1, round(UNHURRIED * motion.fps))))
    chosen: list[int] = []
    for k in sorted({0, *strikes, last}):
        near = np.linalg.norm(motion.roots[chosen] - motion.roots[k], axis=1) if chosen else np.array([np.inf])
        if near.min() > APART * leg:
            chosen.append(k)
    every = -(-len(chosen) // SKINS)
    return np.array(chosen[::every], dtype=np.int64)


def _soles(motion: Motion, places: Array, falls: list[Event]) -> tuple[list[str], Array]:
    """Colour names (F,) and outlines (F, N, 3) [m] of the footfalls that a foot comes to."""
    body, last, skeleton = measure(motion.skeleton), len(motion) - 1, motion.skeleton
    shapes = [draw.sole_outline(body, k) for k in range(len(SIDES))]
    names, outlines = [], []
    for fall in falls:
        side, data = SIDES.index(fall.name[-1]), fall.data
        ankle = places[min(round(fall.time * motion.fps), last), skeleton.joint(f"foot_{SIDES[side]}")]
        if np.hypot(ankle[0] - data["x"], ankle[1] - data["y"]) > ASTRAY * body.leg:
            continue
        c, s = np.cos(data["heading"]), np.sin(data["heading"])
        flat = shapes[side] @ np.array([[c, s], [-s, c]]) + (data["x"], data["y"])
        names.append(("left", "right")[side])
        outlines.append(np.column_stack([flat, np.full(len(flat), data["z"] + ABOVE)]))
    return names, np.array(outlines).reshape(-1, len(shapes[0]), 3)
