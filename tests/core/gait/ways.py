"""Base tracks and grounds that a walk is tried on; speeds are those of a leg of 0.9 m and follow the body's size."""

from functools import partial

import numpy as np
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.route import RouteParams, ahead, follow
from troupe.core.maths.ramp import smoothstep
from troupe.core.motion import Path
from troupe.core.world import Body, World

BODY = mannequin()
"""The body that walks where a test does not say which."""


def size(skeleton=BODY):
    """How many times larger than a person with a leg of 0.9 m."""
    return skeleton.leg_length() / 0.9


def track(x, y, heading, fps):
    """A base track from x, y [m] and heading [rad], sampled at fps or constant."""
    points = np.column_stack(np.broadcast_arrays(*np.atleast_1d(x, y, heading))).astype(np.float64)
    return Path(points, ("x", "y", "heading"), np.arange(len(points)) / fps)


def times(seconds, fps):
    """(T,) [s]"""
    return np.arange(round(seconds * fps) + 1) / fps


def straight(speed, seconds=5.0, fps=60.0, direction=0.0, skeleton=BODY, x=0.0, y=0.0):
    """Steadily along a direction [rad], the body facing heading 0."""
    scale = size(skeleton)
    gone = speed * np.sqrt(scale) * times(seconds * np.sqrt(scale), fps)
    return track(x + gone * np.sin(direction), y - gone * np.cos(direction), 0.0, fps)


def start_stop(speed, fps=60.0, hold=1.0, ramp=1.0, go=3.0, skeleton=BODY):
    """From a stand to a stand, straight ahead."""
    scale = size(skeleton)
    unit = np.sqrt(scale)
    t = times((2 * hold + 2 * ramp + go) * unit, fps) / unit
    # the integral of smoothstep ramps
    gone = _risen((t - hold) / ramp) - _risen((t - hold - ramp - go) / ramp)
    return track(0.0, -speed * ramp * scale * gone, 0.0, fps)


def _risen(u):
    """Integral of smoothstep from 0 to u."""
    v = np.clip(u, 0.0, 1.0)
    return v**3 - v**4 / 2 + np.maximum(u - 1.0, 0.0)


def turn(angle, seconds=1.5, fps=60.0):
    """A turn on the spot [rad] between two stands."""
    t = times(seconds + 2.2, fps)
    return track(0.0, 0.0, angle * smoothstep(np.clip((t - 0.8) / seconds, 0, 1)), fps)


def circle(speed, radius, seconds=6.0, fps=60.0):
    """To the left on a circle [m]; to the right when the radius is negative."""
    heading = speed * np.sqrt(size()) * times(seconds, fps) / radius
    return track(radius * (1 - np.cos(heading)), -radius * np.sin(heading), heading, fps)


def corner(fps=60.0):
    """A way with two right angles, as a curve of straight lines has them."""
    return follow([[0, 0], [0, -3], [3, -3], [3, -5]], 1.3, fps, heading=0.0)


def behind(fps=60.0):
    """A way that begins behind the body."""
    return follow([[0, 0], [0, 2], [2, 4]], 1.3, fps, heading=0.0)


def keyed(fps=60.0):
    """Speeds keyed over time with a stop in the middle."""
    t = times(9.0, fps)
    speeds = np.interp(t, np.arange(10.0), [0.0, 0.0, 1.0, 1.5, 0.7, 0.0, 0.0, 1.2, 0.0, 0.0])
    smooth = np.convolve(np.pad(speeds, round(0.3 * fps), mode="edge"), _window(fps), "valid")
    return follow(ahead(0, 0, 0, 100.0), smooth, fps, RouteParams(stop=False))


def _window(fps):
    window = np.hanning(2 * round(0.3 * fps) + 3)[1:-1]
    return window / window.sum()


def driven(speed, turning, seconds=6.0, fps=24.0):
    """From heading 0 at a speed [m/s] and a turning rate [rad/s], functions of times (T,) [s]."""
    fine = 10
    t = times(seconds, fine * fps)
    heading = _summed(turning(t), fine * fps)
    x, y = (_summed(speed(t) * part, fine * fps) for part in (np.sin(heading), -np.cos(heading)))
    return track(x[::fine], y[::fine], heading[::fine], fps)


def _summed(rates, fps):
    return np.concatenate([[0.0], np.cumsum((rates[1:] + rates[:-1]) / 2)]) / fps


def walk_run_walk(fps=60.0):
    """A walk that becomes a run and a walk again."""
    t = times(9.0, fps)
    speeds = 1.3 + 2.5 * (smoothstep(np.clip((t - 1.5) / 2, 0, 1)) - smoothstep(np.clip((t - 5.0) / 2, 0, 1)))
    speeds *= np.sqrt(size())
    return track(0.0, -_summed(speeds, fps), 0.0, fps)


STEADY = {f"straight at {v}": partial(straight, v, 4.5) for v in (0.3, 0.6, 1.0, 1.4, 1.8, 2.2)}
"""Name of a steady walk ahead to its base track at a frame rate."""
WALKS = {
    **STEADY,
    "start and stop": lambda fps: start_stop(1.4, fps),
    "slow start and stop": lambda fps: start_stop(0.6, fps, go=2.0),
    "turn left by 90": lambda fps: turn(np.pi / 2, 1.5, fps),
    "turn right by 180": lambda fps: turn(-np.pi, 2.5, fps),
    "circle of 2 m": lambda fps: circle(1.4, 2.0, fps=fps),
    "circle of 4 m": lambda fps: circle(1.4, -4.0, fps=fps),
    "backward": lambda fps: straight(0.9, 4.5, fps, np.pi),
    "sideways": lambda fps: straight(0.6, 4.5, fps, np.pi / 2),
    "corners": corner,
    "behind": behind,
    "keyed speeds": keyed,
}
"""Name of a walk to its base track at a frame rate."""
RUNS = {f"run at {v}": partial(straight, v, 2.5) for v in (2.0, 3.0, 4.5, 7.0)}
"""Name of a run to its base track at a frame rate."""
CHANGES = {"walk, run, walk": walk_run_walk}


def box(name, low, high, kind="ground", number=0):
    """A box between two corners (3,) [m]."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    corners = np.array([[x, y, z] for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)], dtype=np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Body(name, number, corners, np.array(triangles), np.eye(4)[None], kind)


def field(heights, x=(-3.0, 3.0), y=(-14.0, 4.0), step=0.05):
    """Ground whose height is a function of x and y [m], as a mesh of that step."""
    xs, ys = np.arange(x[0], x[1] + step / 2, step), np.arange(y[0], y[1] + step / 2, step)
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
    vertices = np.concatenate([grid, heights(grid[..., 0], grid[..., 1])[..., None]], axis=-1)
    number = np.arange(grid.shape[0] * grid.shape[1]).reshape(grid.shape[:2])
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)
    return World((Body("field", 0, vertices.reshape(-1, 3), triangles, np.eye(4)[None], "ground"),))


def slope(angle, begin=2.0):
    """Level ground that goes up (down, when negative) by an angle [rad] from y = -begin on."""

    def rise(_, y):
        # without a crease: nobody lays a ramp with one
        far = -y - begin
        return np.tan(angle) * (np.sqrt(far**2 + 0.09) + far) / 2

    return field(rise, x=(-1.0, 1.0), y=(-9.0, 3.0))


def stairs(count=6, rise=0.17, tread=0.30, begin=1.5, down=False):
    """A flight of stairs along -Y between two level floors."""
    bodies = [box("floor", (-2, -12, -0.2 - count * rise * down), (2, 4, -count * rise * down))]
    for k in range(1, count + 1):
        if down:
            low, high = (-1, -begin - tread * (k - 1), -count * rise - 0.1), (1, 4, -rise * (k - 1))
        else:
            low, high = (-1, -12, -0.1), (1, -begin - tread * (k - 1), rise * k)
        bodies.append(box(f"step {k}", low, high, number=k))
    return World(tuple(bodies))


def ledge(height, at=2.0):
    """Level ground that is higher (lower, when negative) by a height [m] beyond y = -at."""
    return World(
        (
            box("near", (-2, -at, -2.0), (2, 4, 0.0)),
            box("far", (-2, -12, -2.0), (2, -at, height), number=1),
        )
    )


def gaps(places, width, floor=None):
    """Ground with gaps of a width [m] that begin at -y; nothing in them, or a floor at a height [m]."""
    edges = [-4.0, *(v for p in places for v in (p, p + width)), 12.0]
    bodies = [
        box(f"part {k}", (-2, -b, -1.0), (2, -a, 0.0), number=k)
        for k, (a, b) in enumerate(zip(edges[::2], edges[1::2], strict=True))
    ]
    if floor is not None:
        bodies.append(box("bottom", (-2, -12, floor - 0.1), (2, 4, floor), number=99))
    return World(tuple(bodies))


def rough(seed=0, tallest=0.06):
    """Uneven ground of waves of half a metre and more."""
    rng = np.random.default_rng(seed)
    waves = [(rng.uniform(0.5, 1.6), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi)) for _ in range(8)]

    def heights(x, y):
        total = sum(np.sin(2 * np.pi * (x * np.cos(d) + y * np.sin(d)) / length + p) for length, d, p in waves)
        return tallest * total / len(waves)

    return field(heights, x=(-1.5, 1.5), y=(-8.0, 2.0))
