"""Where a motion is on the ground: the plane its feet stand on made the floor, and slow drift of the body taken out."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import InvalidMotion, InvalidParam
from ..kinematics import base as bases
from ..maths import quat
from ..maths.ramp import smooth
from ..motion import Motion
from ..needs import needs_scipy
from ..skeleton import SIDES, Array
from .contacts import CURVES, contacts, heel_and_ball, runs, sole_points
from .seam import WAYS, steps_of

STEEPEST = np.radians(20.0)
"""Slope beyond which what feet stand on is no floor that was recorded askew."""
UNEVEN = 0.06
"""Root mean square distance from the best plane beyond which feet stand on no plane [leg lengths]."""

_EXACT, _SLOPE = 0.01, 0.03
"""How well the height of a foot tells the floor [leg lengths], and the slope that a floor may well have."""
_DRIFT_HZ = 0.5
"""Slower than this, a change of the height on which feet are planted is drift [Hz]."""
_UP = np.array([0.0, 0.0, 1.0])


class _Contact(NamedTuple):
    """Middle sample of a contact, which of the four points of the soles it is of, and its place (3,) on the sole."""

    sample: float
    point: int
    place: Array


def floor(motion: Motion, level: bool = True, height: float = 0.0) -> Motion:
    """`motion` moved so that its feet are planted on the floor.

    Args:
        motion: Its contacts are its `contact/...` curves, or are detected.
        level: Turn the whole of it so that the plane on which it stands is level; without, it is only moved up or down.
        height: Of the floor [m].

    Raises:
        InvalidMotion: No foot touches the ground, or feet stand on no common plane.
    """
    found, leg = _contacts(motion), motion.skeleton.leg_length()
    if not level:
        return replace(motion, roots=motion.roots + (height - float(np.median([c.place[2] for c in found]))) * _UP)
    centre, slopes, away = _plane(found, leg)
    steep = float(np.arctan(np.hypot(*slopes)))
    if away > UNEVEN * leg or steep > STEEPEST:
        raise InvalidMotion(
            f"the feet stand on no floor: a plane of {np.degrees(steep):.0f} degrees misses them by "
            f"{100 * away:.0f} cm; without level the motion is moved up or down only"
        )
    turn = quat.between(np.array([*-slopes, 1.0]), _UP)
    there = np.array([*centre[:2], height])
    hips = quat.multiply(turn, motion.rotations[:, :1])
    base = motion.base
    if base is not None:
        on_plane = np.column_stack([base[:, :2], centre[2] + (base[:, :2] - centre[:2]) @ slopes])
        base = np.column_stack([(quat.rotate(turn, on_plane - centre) + there)[:, :2], base[:, 2]])
    return replace(
        motion,
        roots=quat.rotate(turn, motion.roots - centre) + there,
        rotations=np.concatenate([hips, motion.rotations[:, 1:]], axis=1),
        base=base,
    )


def drift(motion: Motion, way: str = "in_place", vertical: bool = False) -> Motion:
    """`motion` without its slow way over the ground, or with a straight one; steps and sway stay.

    Args:
        motion: Feet slide afterwards by as much as is taken away.
        way: "keep"; "straight": ahead, as far as it went, without turning; "in_place": where it began, without turning.
        vertical: Take out slow changes of the height on which its feet are planted.
    """
    if way not in WAYS:
        raise InvalidParam("way", way, f"must be one of {', '.join(WAYS)}")
    if vertical:
        motion = replace(motion, roots=motion.roots - _rise(motion)[:, None] * _UP)
    if way == "keep":
        return motion
    motion = bases.based(motion)
    assert motion.base is not None
    base = np.tile(motion.base[0], (len(motion), 1))
    if way == "straight":
        base[:, :2] += _straightened(motion.base)
    roots, hips = bases.compose(base, *bases.relative(motion))
    rotations = motion.rotations.copy()
    rotations[:, 0] = hips
    return replace(motion, roots=roots, rotations=quat.continuous(rotations), base=base)


def _straightened(base: Array) -> Array:
    """(T, 2) way of a base (T, 3) as the character sees it, begun as it was, on one line."""
    path = np.concatenate([np.zeros((1, 2)), np.cumsum(steps_of(base)[:, :2], axis=0)])
    c, s = np.cos(base[0, 2]), np.sin(base[0, 2])
    path = path @ np.array([[c, s], [-s, c]])
    length = float(np.hypot(*path[-1]))
    line = path[-1] / max(length, 1e-9)
    return np.outer(path @ line, line)


def _heights(motion: Motion) -> tuple[Motion, Array]:
    """The motion with contacts, and (T, 2, 2, 3) places of heels and balls less their height in a standing body."""
    if not motion.skeleton.has(*(f"{part}_{side}" for part in ("shin", "foot") for side in SIDES)):
        raise InvalidMotion("the floor is found by the feet, which this character has not")
    if not any(name in motion.curves for names in CURVES for name in names):
        motion = contacts(motion)
    points = sole_points(motion)
    for foot, side in enumerate(SIDES):
        heel, ball = heel_and_ball(motion.skeleton, side)
        points[:, foot, 1, 2] -= ball[2] - heel[2]
    return motion, points


def _contacts(motion: Motion) -> list[_Contact]:
    """Every contact of a heel or ball, in order of time."""
    marked, points = _heights(motion)
    out = []
    for foot, names in enumerate(CURVES):
        for part, name in enumerate(names):
            for a, b in runs(marked.curves[name] > 0.5) if name in marked.curves else ():
                place = np.median(points[a:b, foot, part], axis=0)
                out.append(_Contact((a + b - 1) / 2, 2 * foot + part, place))
    if not out:
        raise InvalidMotion("no foot of the motion touches the ground, so its floor is not known")
    return sorted(out, key=lambda c: c.sample)


def _plane(found: list[_Contact], leg: float) -> tuple[Array, Array, float]:
    """A point (3,) of the plane that contacts stand on, its slopes (2,), and how far it misses them [m].

    Each heel and ball may be a little higher or lower than the others throughout, as recorded feet are: otherwise a
    straight walk on two unlike feet would lean.
    """
    with needs_scipy():
        from scipy.optimize import least_squares

    points, parts = np.array([c.place for c in found]), np.array([c.point for c in found])
    middle = np.median(points, axis=0)
    flat, heights = points[:, :2] - middle[:2], points[:, 2] - middle[2]
    own = (parts[:, None] == np.unique(parts)).astype(np.float64)

    def misses(plane: Array) -> Array:
        # a slope is believed where feet are far enough apart to tell it
        return np.append((heights - flat @ plane[:2] - own @ plane[2:]) / (_EXACT * leg), plane[:2] / _SLOPE)

    fit = least_squares(misses, np.zeros(2 + own.shape[1]), loss="soft_l1").x
    left = heights - flat @ fit[:2] - own @ fit[2:]
    return middle + (0.0, 0.0, float(np.median(fit[2:]))), fit[:2], float(np.sqrt((left**2).mean()))


def _rise(motion: Motion) -> Array:
    """(T,) slow change of the height on which feet are planted, zero in the middle [m]."""
    found = _contacts(motion)
    heights = np.array([c.place[2] for c in found])
    heights = np.interp(np.arange(len(motion)), [c.sample for c in found], heights - np.median(heights))
    return smooth(heights, motion.fps, _DRIFT_HZ, motion.loop)
