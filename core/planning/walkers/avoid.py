"""Walk among others without bumping into them: each takes its share of every evasion, walls are never entered.

Optimal reciprocal collision avoidance (van den Berg, Guy, Lin, Manocha, "Reciprocal n-body collision avoidance", 2011)
for all actors at once: every neighbour forbids a half plane of velocities, and so does every wall at hand; the allowed
velocity nearest to the wanted one is taken, or the one that breaks the rules least where none is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...skeleton import Array

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

NEIGHBOURS = 8
"""How many others one minds at a time."""
SIGHT = 5.0
"""How far off others are minded [m]."""
WALL_WEIGHT = 4.0
"""How much worse it is to go into a wall than into somebody, where one of them must be."""
HEAD_ON = 0.15
"""How much those who meet head on bear to the right, as a share of the speed at which they meet."""
CLOSE = 0.45
"""Room within which one minds even those who only want to reach one [m]."""
BRACE = 1.2
"""Nearer than this those who come closer brace themselves [m]."""
BRAKING = 2.5
"""What each of them counts on to stop before they touch [m/s^2]."""
HARDEST = 4.0
"""Greatest acceleration, even of one who avoids bumping into somebody at the last moment [m/s^2]."""
LAST_ROOM = 0.03
"""Room that they do not count on [m]."""
PARTING = 0.25
"""Time in which those that are too close move apart [s]."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """N discs that mind each other; the first A of them are to be steered, the others move as they do.

    Attributes:
        place, velocity: (N, 2) [m], [m/s].
        intent: (N, 2) velocity that others expect of each: its own, or what it would like when it is held up [m/s].
        radius: (N,) of their bodies with the distance they keep [m].
        yielding: (N,) how readily each gives way: of two, each takes its part of the sum; 0 for not at all.
        sought: (A,) number of the one whom each wants to reach and so does not dodge; -1 for nobody; None for all -1.
    """

    place: Array
    velocity: Array
    intent: Array
    radius: Array
    yielding: Array
    sought: Ints | None = None


@dataclass(frozen=True, eq=False)
class Planes:
    """K half planes of velocities for each of A actors, by components (K, A): allowed is the left of each line."""

    px: Array
    py: Array
    dx: Array
    dy: Array
    valid: Bools


def steer(
    crowd: Crowd,
    wanted: Array,
    fastest: Array,
    walls: tuple[Array, Array],
    horizon: float = 2.0,
    wall_time: float = 0.45,
) -> Array:
    """Velocities (A, 2) nearest to the wanted ones with which nobody is hit within the horizon [m/s].

    Args:
        crowd: Everybody.
        wanted: (A, 2) [m/s].
        fastest: (A,) highest speed [m/s].
        walls: (W, 2) directions, and (A, W) the room in each [m]; infinite where there is no wall.
        horizon: How long ahead others are minded [s].
        wall_time: How long ahead walls are minded [s].
    """
    others = _of_neighbours(crowd, len(wanted), horizon)
    planes = _joined(_of_walls(walls, wall_time), others)
    x, y, failed = _nearest_allowed(planes, wanted[:, 0], wanted[:, 1], fastest)
    rows = np.flatnonzero(failed)
    if len(rows):
        hard = np.zeros(len(planes.px), bool)
        hard[: walls[1].shape[1]] = True
        x[rows], y[rows] = _least_worst(planes, rows, hard, fastest[rows])
    return np.stack([x, y], axis=-1)


def _neighbours(crowd: Crowd, count: int) -> tuple[Ints, Bools]:
    """(K, A) the nearest others of the first `count`, nearest first, and whether they are in sight."""
    off = crowd.place[:, None] - crowd.place[None, :count]
    square = (off * off).sum(axis=-1)
    square[np.arange(count), np.arange(count)] = np.inf
    k = min(NEIGHBOURS, len(crowd.place) - 1)
    order = np.argsort(square, axis=0, kind="stable")[:k]
    apart = np.take_along_axis(square, order, 0)
    minded = apart < SIGHT * SIGHT
    if crowd.sought is not None:
        minded &= order != crowd.sought[:count]
        # who comes to stand beside somebody stops by itself: only where it gets too close is it made way for
        seeks = np.full(len(crowd.place), -1)
        seeks[: len(crowd.sought)] = crowd.sought
        close = apart < (crowd.radius[order] + crowd.radius[:count] + CLOSE) ** 2
        minded &= close | (seeks[order] != np.arange(count))
    return order, minded


def _of_neighbours(crowd: Crowd, count: int, horizon: float) -> Planes:
    """Half planes that neighbours forbid: the velocity obstacle cut off at the horizon."""
    order, valid = _neighbours(crowd, count)
    (x, y), (u, v), (p, q) = crowd.place.T, crowd.velocity.T, crowd.intent.T
    mine = np.arange(count)
    rx, ry = x[order] - x[mine], y[order] - y[mine]
    ux, uy = u[mine] - p[order], v[mine] - q[order]
    apart = rx * rx + ry * ry
    # those who meet head on would only slow each other down: each sees the other a little to its left
    closing = ux * rx + uy * ry
    aligned = (closing > 0) & ((ux * ry - uy * rx) ** 2 < 0.03 * closing * closing)
    bias = np.where(aligned, HEAD_ON * closing / np.maximum(apart, 1e-9), 0.0)
    now_x, now_y = ux, uy
    ux, uy = ux + bias * ry, uy - bias * rx
    both = crowd.radius[mine] + crowd.radius[order]
    hit = apart <= both * both
    rate = np.where(hit, 1.0 / PARTING, 1.0 / horizon)
    wx, wy = ux - rate * rx, uy - rate * ry
    square = wx * wx + wy * wy
    dot = wx * rx + wy * ry
    capped = hit | ((dot < 0) & (dot * dot > both * both * square))
    length = np.sqrt(np.maximum(square, 1e-18))
    nx, ny = wx / length, wy / length
    leg = np.sqrt(np.maximum(apart - both * both, 0.0))
    hand = np.where(rx * wy - ry * wx > 0.0, 1.0, -1.0)
    scale = hand / np.maximum(apart, 1e-18)
    lx, ly = (rx * leg - hand * both * ry) * scale, (hand * both * rx + ry * leg) * scale
    m = ux * lx + uy * ly
    excess = both * rate - length
    total = np.maximum(crowd.yielding[mine] + crowd.yielding[order], 1e-9)
    share = crowd.yielding[mine] / total
    return Planes(
        px=u[mine] + share * (np.where(capped, ux + excess * nx, m * lx) - now_x),
        py=v[mine] + share * (np.where(capped, uy + excess * ny, m * ly) - now_y),
        dx=np.where(capped, ny, lx),
        dy=np.where(capped, -nx, ly),
        valid=valid,
    )


def _of_walls(walls: tuple[Array, Array], time: float) -> Planes:
    """Half planes that keep one from going further in a direction than there is room."""
    (ux, uy), room = walls[0].T[:, :, None], walls[1].T
    most = np.where(np.isfinite(room), room / time, 0.0)
    shape = np.ones_like(most)
    return Planes(ux * most, uy * most, -uy * shape, ux * shape, np.isfinite(room))


def _joined(a: Planes, b: Planes) -> Planes:
    return Planes(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in ("px", "py", "dx", "dy", "valid")))


def _nearest_allowed(planes: Planes, fx: Array, fy: Array, fastest: Array) -> tuple[Array, Array, Bools]:
    """Incremental linear programme for all actors at once; the last result marks those for whom nothing is allowed."""
    px, py, dx, dy, valid = planes.px, planes.py, planes.dx, planes.dy, planes.valid
    shrink = np.minimum(1.0, fastest / np.maximum(np.hypot(fx, fy), 1e-12))
    x, y = fx * shrink, fy * shrink
    alive = np.ones(len(x), bool)
    for i in range(len(px)):
        rows = np.flatnonzero(valid[i] & alive & (dx[i] * (py[i] - y) > dy[i] * (px[i] - x) + 1e-12))
        if not len(rows):
            continue
        p, q, ex, ey = px[i, rows], py[i, rows], dx[i, rows], dy[i, rows]
        dot = p * ex + q * ey
        inside = dot * dot + fastest[rows] ** 2 - p * p - q * q
        root = np.sqrt(np.maximum(inside, 0.0))
        low, high = -dot - root, root - dot
        bad = inside < 0
        if i:
            jx, jy = dx[:i, rows], dy[:i, rows]
            across = ex * jy - ey * jx
            gap = jx * (q - py[:i, rows]) - jy * (p - px[:i, rows])
            counts = valid[:i, rows]
            parallel = np.abs(across) < 1e-5
            bad |= (counts & parallel & (gap < 0)).any(axis=0)
            counts = counts & ~parallel
            t = gap / np.where(parallel, 1.0, across)
            high = np.minimum(high, np.where(counts & (across >= 0), t, np.inf).min(axis=0))
            low = np.maximum(low, np.where(counts & (across < 0), t, -np.inf).max(axis=0))
        bad |= low > high
        t = np.minimum(np.maximum(ex * (fx[rows] - p) + ey * (fy[rows] - q), low), high)
        alive[rows[bad]] = False
        good = rows[~bad]
        x[good], y[good] = (p + t * ex)[~bad], (q + t * ey)[~bad]
    return x, y, ~alive


@cache
def _subsets(count: int) -> tuple[Ints, Ints]:
    """(3, n) and (2, m) all triples and pairs of numbers below `count`."""
    threes = np.array(list(combinations(range(count), 3)), dtype=np.int64).reshape(-1, 3).T
    twos = np.array(list(combinations(range(count), 2)), dtype=np.int64).reshape(-1, 2).T
    return threes, twos


def _least_worst(planes: Planes, rows: Ints, hard: Bools, fastest: Array) -> tuple[Array, Array]:
    """Velocity whose worst violation is least, by trying the corners of that linear programme in three variables."""
    weight = np.where(hard, WALL_WEIGHT, 1.0)[:, None]
    dx, dy, valid = planes.dx[:, rows], planes.dy[:, rows], planes.valid[:, rows]
    nx, ny = np.where(valid, dy, 0.0), np.where(valid, -dx, 0.0)
    x, y = [-nx * fastest], [-ny * fastest]
    nx, ny = nx * weight, ny * weight
    cc = np.where(valid, weight * (dx * planes.py[:, rows] - dy * planes.px[:, rows]), -1e9)
    (a, b, c), (e, f) = _subsets(len(dx))
    ax, ay, ac = nx[a] - nx[b], ny[a] - ny[b], cc[a] - cc[b]
    bx, by, bc = nx[a] - nx[c], ny[a] - ny[c], cc[a] - cc[c]
    det = ax * by - ay * bx
    det = np.where(np.abs(det) < 1e-9, np.nan, det)
    x.append((ay * bc - by * ac) / det)
    y.append((bx * ac - ax * bc) / det)
    gx, gy, gc = nx[e] - nx[f], ny[e] - ny[f], cc[e] - cc[f]
    square = np.maximum(gx * gx + gy * gy, 1e-18)
    inside = fastest * fastest * square - gc * gc
    root = np.sqrt(np.where(inside >= 0, inside, np.nan))
    for sign in (-1.0, 1.0):
        x.append((-gx * gc + sign * gy * root) / square)
        y.append((-gy * gc - sign * gx * root) / square)
    x.append(np.zeros((1, len(rows))))
    y.append(np.zeros((1, len(rows))))
    cx, cy = np.concatenate(x), np.concatenate(y)
    worst = nx[0] * cx + ny[0] * cy + cc[0]
    for j in range(1, len(nx)):
        np.maximum(worst, nx[j] * cx + ny[j] * cy + cc[j], out=worst)
    worst[~(cx * cx + cy * cy <= fastest * fastest * (1 + 1e-9))] = np.inf
    best = np.argmin(np.where(np.isnan(worst), np.inf, worst), axis=0)
    at = np.arange(len(rows))
    return cx[best, at], cy[best, at]


def unhit(place: Array, velocity: Array, radius: Array, movable: Array) -> Array:
    """Velocities (N, 2) from which everybody can stop, braking as people do, before it bumps into anybody [m/s].

    Those who overlap move apart.

    Args:
        place: (N, 2) [m].
        velocity: (N, 2) [m/s].
        radius: (N,) of the bodies [m].
        movable: (N,) 1 for those whose velocity may be changed, 0 for others.
    """
    off = place[:, None] - place[None]
    gap = np.sqrt((off * off).sum(axis=-1)) + np.where(np.eye(len(place), dtype=bool), 1e6, 0.0)
    room = gap - radius[:, None] - radius[None]
    if not (room < BRACE).any():
        return velocity
    away = off / np.maximum(gap, 1e-6)[..., None]
    # whoever goes towards the other brakes for it; whoever is gone after is not pushed on
    comes = movable[:, None] * np.maximum(-(velocity[:, None] * away).sum(axis=-1), 0.0)
    total = comes + comes.T
    share = np.where(total > 1e-9, comes / np.maximum(total, 1e-9), movable[:, None] / 2.0)
    brakes = np.maximum((comes > 0.0).astype(float) + (comes.T > 0.0), 1.0)
    most = np.sqrt(2.0 * BRAKING * brakes * np.maximum(room - LAST_ROOM, 0.0)) + np.clip(room, -0.2, 0.0) / PARTING
    out = velocity
    for _ in range(4):
        closing = -((out[:, None] - out[None]) * away).sum(axis=-1)
        excess = np.where(room < BRACE, np.maximum(closing - most, 0.0), 0.0)
        if not excess.any():
            break
        out = out + ((share * excess)[..., None] * away).sum(axis=1)
    return out
