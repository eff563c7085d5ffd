"""From a way on the ground to a base track: corners rounded, speed along it, heading in the direction of travel.

Speed follows what is asked, limited by what a body can take: acceleration, sideways acceleration in curves, slopes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..maths.ramp import smootherstep, wrap
from ..maths.spline import arc_length, at_length
from ..maths.window import slide
from ..motion import Path
from ..params import Params, param
from ..skeleton import Array
from .track import AXES

SPACING = 0.04
"""Between the points of a way [m]."""
STANDING = 0.02
"""Slower than this a body stands [m/s]."""
UPHILL = 1.5
"""How much slopes slow a body down: 1 / (1 + UPHILL * rise over run)."""
SPIN = 3.0
"""Fastest a body turns as it goes: there is a step for every quarter of a turn, or nearly [rad/s]."""
TURN_FIRST = np.radians(50.0)
"""A body that must turn by more than this turns on the spot before it goes."""


@dataclass(frozen=True)
class RouteParams(Params):
    """How a way is gone."""

    acceleration: float = param(1.2, lo=0.1, hi=10.0, unit="m/s^2", basic=False, help="How fast speed is won and lost")
    cornering: float = param(2.5, lo=0.2, hi=20.0, unit="m/s^2", basic=False, help="Sideways pull taken in curves")
    corners: float = param(0.35, lo=0.0, hi=3.0, unit="m", basic=False, help="How far corners are rounded")
    facing: float = param(
        0.0, lo=-3.2, hi=3.2, unit="rad", basic=False, help="Turn of the body against its way: half a turn is backward"
    )
    turn_rate: float = param(1.7, lo=0.2, hi=6.0, unit="rad/s", basic=False, help="How fast it turns on the spot")
    stop: bool = param(True, basic=False, help="Come to a stand at the end")
    pause: float = param(1.2, lo=0.0, hi=60.0, unit="s", basic=False, help="Time it stands at the end")


def follow(
    points: npt.ArrayLike,
    speed: float | Array,
    fps: float,
    params: RouteParams | None = None,
    heading: float | None = None,
    moving: float = 0.0,
) -> Path:
    """Base track along a way.

    Args:
        points: (N, 2) or (N, 3) way on the ground [m]; heights slow the body down on slopes.
        speed: [m/s], one or sampled at fps (T,); the last sample holds. Where it is zero the body stands.
        fps: Samples a second of the track [Hz].
        params: Limits.
        heading: Where the body faces at the beginning [rad]; None for along the way.
        moving: Speed it already has [m/s].

    Returns:
        Path with the axes x, y, heading, from the first point to the last.
    """
    params = params or RouteParams()
    way = _way(points, params.corners)
    lengths = arc_length(way[:, :2])
    speeds = np.atleast_1d(np.asarray(speed, dtype=np.float64))
    if not np.isfinite(speeds).all() or speeds.min() < 0 or speeds.max() <= 0:
        raise InvalidParam("speed", speed, "must be positive somewhere and negative nowhere; face backward to go back")
    bounds = _bounds(way, lengths, params)
    ease = 1.0 / (1.0 + UPHILL * np.abs(np.gradient(way[:, 2], lengths)))
    if len(speeds) == 1:
        travelled = _eased(lengths, np.minimum(bounds, speeds[0] * ease), fps, params, moving)
    else:
        travelled = _driven(lengths, bounds, speeds, fps)
    places = at_length(way[:, :2], travelled, lengths)
    facing = _headings(way[:, :2], lengths, travelled) + params.facing
    track = np.column_stack([places, facing])
    if len(speeds) == 1:
        track = _smooth(track, fps, moving <= STANDING, params.stop)
    else:
        # keys are followed to the letter; only the corners of the way are not
        track[:, 2:] = _smooth(track[:, 2:], fps, False, False)
    if heading is not None:
        track = _turned_from(track, heading, fps, params.turn_rate, moving)
    if params.stop and params.pause > 0:
        track = np.concatenate([track, np.repeat(track[-1:], round(params.pause * fps), axis=0)])
    return Path(track, AXES, np.arange(len(track)) / fps)


def ahead(x: float, y: float, heading: float, distance: float) -> Array:
    """(2, 2) a straight way of a length [m] from a place along a direction [rad]."""
    return np.array([[x, y], [x + distance * np.sin(heading), y - distance * np.cos(heading)]])


def _way(points: npt.ArrayLike, corners: float) -> Array:
    """(M, 3) the way at even spacing with its corners rounded."""
    way = np.array(points, dtype=np.float64)
    if way.ndim != 2 or way.shape[1] not in (2, 3):
        raise InvalidMotion(f"a way has points of two or three numbers, not an array of shape {way.shape}")
    if not np.isfinite(way).all():
        raise InvalidMotion("a way contains NaN or infinity")
    if len(way) == 0:
        raise InvalidMotion("a way needs two points in different places; it has none")
    if way.shape[1] == 2:
        way = np.column_stack([way, np.zeros(len(way))])
    apart = np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1) > 1e-6
    way = way[np.append(True, apart)]
    if len(way) < 2:
        raise InvalidMotion("a way needs two points in different places; all of its points are the same")
    lengths = arc_length(way[:, :2])
    count = max(3, int(np.ceil(lengths[-1] / SPACING)) + 1)
    even = np.column_stack([np.interp(np.linspace(0, lengths[-1], count), lengths, column) for column in way.T])
    if corners <= 0:
        return even
    spacing = lengths[-1] / (count - 1)
    reach = int(min(np.ceil(2.5 * corners / spacing), count - 1))
    if reach < 1:
        return even
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * spacing / corners) ** 2)
    padded = np.pad(even, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")
    return slide(padded, kernel / kernel.sum())


def _bounds(way: Array, lengths: Array, params: RouteParams) -> Array:
    """(M,) highest speed on each point of the way by its curvature [m/s]."""
    tangents = np.unwrap(np.arctan2(np.gradient(way[:, 0], lengths), -np.gradient(way[:, 1], lengths)))
    bend = np.abs(np.gradient(tangents, lengths))
    out: Array = np.minimum(np.sqrt(params.cornering / np.maximum(bend, 1e-6)), SPIN / np.maximum(bend, 1e-6))
    return out


def _eased(lengths: Array, bounds: Array, fps: float, params: RouteParams, moving: float) -> Array:
    """(T,) way travelled at each sample when speed is as high as its bounds and the acceleration allow [m]."""
    squares = bounds**2
    gain = 2 * params.acceleration * np.diff(lengths)
    squares[0] = min(squares[0], moving**2)
    for k in range(1, len(squares)):
        squares[k] = min(squares[k], squares[k - 1] + gain[k - 1])
    if params.stop:
        squares[-1] = 0.0
    for k in range(len(squares) - 2, -1, -1):
        squares[k] = min(squares[k], squares[k + 1] + gain[k])
    speeds = np.sqrt(squares)
    spans = np.diff(lengths)
    times = np.concatenate([[0.0], np.cumsum(2 * spans / np.maximum(speeds[1:] + speeds[:-1], 1e-6))])
    count = int((np.ceil if params.stop else np.floor)(times[-1] * fps)) + 1
    t = np.minimum(np.arange(count) / fps, times[-1])
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(spans) - 1)
    since = t - times[k]
    push = np.diff(squares)[k] / (2 * spans[k])
    travelled: Array = np.clip(lengths[k] + since * (speeds[k] + since * push / 2), 0.0, lengths[-1])
    return travelled


def _smooth(track: Array, fps: float, stands: bool, stops: bool) -> Array:
    """Track (T, C) without the corners that its speed has where it stops growing; standing ends are drawn out a little.

    Args:
        stands: Whether the body stands at its beginning, so that nothing was before it.
        stops: Whether it stands at its end.
    """
    width = max(1, round(0.2 * fps))
    if len(track) <= width:
        return track
    ahead = np.repeat(track[:1], 2 * width, axis=0) if stands else 2 * track[:1] - track[width:0:-1]
    after = np.repeat(track[-1:], 2 * width, axis=0) if stops else 2 * track[-1:] - track[-2 : -2 - width : -1]
    window = np.hanning(2 * width + 3)[1:-1]
    whole = np.concatenate([ahead, track, after])
    return slide(whole, window / window.sum())


def _driven(lengths: Array, bounds: Array, speeds: Array, fps: float) -> Array:
    """(T,) way travelled at each sample when speed is keyed: as keyed, but for what the curves allow [m]."""
    travelled = [0.0]
    end = float(lengths[-1])
    longest = len(speeds) + (int(end / speeds[-1] * fps) + 1 if speeds[-1] > STANDING else 0)
    limits = np.interp(np.linspace(0, end, 4 * len(lengths)), lengths, bounds)
    scale = (len(limits) - 1) / end
    for k in range(1, longest):
        here = travelled[-1]
        speed = min(speeds[min(k, len(speeds) - 1)], limits[min(int(here * scale), len(limits) - 1)])
        travelled.append(min(here + speed / fps, end))
        if travelled[-1] >= end:
            break
    return np.array(travelled)


def _headings(way: Array, lengths: Array, travelled: Array) -> Array:
    """(T,) direction of the way where it has been travelled to [rad]."""
    dx, dy = np.gradient(way[:, 0], lengths), np.gradient(way[:, 1], lengths)
    return np.interp(travelled, lengths, np.unwrap(np.arctan2(dx, -dy)))


def _turned_from(track: Array, heading: float, fps: float, rate: float, moving: float) -> Array:
    """Track that begins with a heading: turned into the way on the spot when far from it, else as it goes."""
    track = np.array(track)
    track[:, 2] += 2 * np.pi * np.round((heading - track[0, 2]) / (2 * np.pi))
    turn = float(wrap(track[0, 2] - heading))
    if abs(turn) > TURN_FIRST and moving <= 0:
        count = max(2, int(np.ceil(1.875 * abs(turn) / rate * fps)))
        swing = heading + turn * smootherstep(np.arange(count) / count)
        spot = np.column_stack([np.repeat(track[:1, :2], count, axis=0), swing])
        return np.concatenate([spot, track])
    count = min(len(track), max(2, round(0.9 * fps)))
    left = 1.0 - smootherstep(np.minimum(np.arange(len(track)) / count, 1.0))
    track[:, 2] -= turn * left
    return track
