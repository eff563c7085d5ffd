"""Check a planned motion against the triangles themselves: every frame and half frame, every part of the arms.

Whatever simplified shapes a way was planned with, this is what tells whether it may be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, Capsules, with_fingers
from ...maths import geometry, quat
from ...maths.quat import cross, dot
from ...motion import Motion
from ...skeleton import SIDES, Array
from ...world import Body, World
from .distance_field import closed, surface_samples
from .space import Bools, Ints

TOLERANCE = 0.001
"""Depth up to which something is said to touch and not to be in the way [m]."""
HAND = ("palm", "fingers", "thumb")
_BLOCK = 50_000
"""Points times triangles at a time: what stays in the cache."""


@dataclass(frozen=True)
class Penetration:
    """Something was in something else.

    Attributes:
        frame: Sample of the motion, counted from 0; a half for the middle between two.
        part: Of the body, such as "forearm_R", or the name of a prop.
        body: The other one.
        depth: By how much [m].
    """

    frame: float
    part: str
    body: str
    depth: float

    def __str__(self) -> str:
        return f"frame {self.frame:g}: {self.part} is {1000 * self.depth:.1f} mm in {self.body}"


def penetrations(
    motion: Motion,
    world: World,
    props: Mapping[str, Array] | None = None,
    *,
    parts: Sequence[str] = ARM_PARTS,
    sides: Sequence[str] = SIDES,
    touching: Collection[tuple[str, str]] = (),
    tolerance: float = TOLERANCE,
    shape: Capsules | None = None,
) -> list[Penetration]:
    """What of a motion is in something, the deepest of each part and body in each frame.

    Args:
        motion: T samples.
        world: What may be in the way, at the rate of its own.
        props: (T, 4, 4) matrices of bodies of the world that are elsewhere than it says; they are looked at as well.
        parts: Kinds of parts of the body that are looked at.
        sides: The arms.
        touching: Part or prop, and body, that may be in each other: a hand and what it holds.
        tolerance: Depths that do not count [m].
        shape: The body; None for that of the skeleton.
    """
    props = props or {}
    shape = shape or with_fingers(motion.skeleton)
    shape = shape.chosen([f"{part}_{side}" for part in parts for side in sides])
    frames, rotations, roots = _halves(motion)
    world = _moved(world, props, motion.fps, len(motion))
    positions, globals = fk.forward(motion.skeleton, rotations, roots)
    starts, ends = shape.placed(positions, globals)
    spread = [np.linspace(0.0, 1.0, _places(shape, k)) for k in range(len(shape.parts))]
    points = np.concatenate(
        [starts[:, k, None] + u[:, None] * (ends[:, k] - starts[:, k])[:, None] for k, u in enumerate(spread)], axis=1
    )
    part = np.repeat(np.arange(len(spread)), [len(u) for u in spread])
    rows = inside_bodies(world, points, frames, motion.fps, [shape.parts[k] for k in part], touching, shape.radii[part])
    for name in props:
        body = next(b for b in world.bodies if b.name == name)
        at = _placed(body.matrices, frames)
        corners = np.einsum("tij,vj->tvi", at[:, :3, :3], body.vertices) + at[:, None, :3, 3]
        others = replace(world, bodies=tuple(b for b in world.bodies if b.name != name))
        moving = np.abs(at - at[:1]).reshape(len(at), -1).max(axis=1) > 1e-9
        moving |= np.abs(at - at[-1:]).reshape(len(at), -1).max(axis=1) > 1e-9
        if moving.any():
            names = [name] * len(body.vertices)
            rows += inside_bodies(others, corners[moving], frames[moving], motion.fps, names, touching)
    worst: dict[tuple[float, str, str], float] = {}
    for row in rows:
        key = row.frame, row.part, row.body
        worst[key] = max(worst.get(key, 0.0), row.depth)
    return [Penetration(*key, depth) for key, depth in sorted(worst.items()) if depth > tolerance]


def in_others(body: Body, world: World, fps: float, tolerance: float = TOLERANCE) -> list[Penetration]:
    """Where a moving body is in others, at its samples and half way between them: its surface in them, theirs in it.

    Args:
        body: With a matrix for each sample.
        world: The others, as they are at first.
        fps: Samples a second [Hz].
        tolerance: Depths that do not count [m].
    """
    frames = np.linspace(0.0, len(body.matrices) - 1.0, 2 * len(body.matrices) - 1)
    at = _placed(body.matrices, frames)
    size = float(np.ptp(body.vertices, axis=0).max())
    corners = surface_samples(body.vertices[body.triangles], max(size / 24.0, 1e-4))[0]
    points = np.einsum("tij,vj->tvi", at[:, :3, :3], corners) + at[:, None, :3, 3]
    others = [b for b in world.bodies if b.name != body.name]
    still = replace(world, bodies=tuple(replace(b, matrices=b.matrices[:1]) for b in others))
    rows = inside_bodies(still, points, frames, fps, [body.name] * len(corners))
    mine = World((body,), fps)
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    for other in still.bodies:
        theirs = other.vertices @ other.matrices[0, :3, :3].T + other.matrices[0, :3, 3]
        theirs = theirs[((theirs >= low) & (theirs <= high)).all(axis=1)]
        if len(theirs):
            spread = np.broadcast_to(theirs, (len(frames), *theirs.shape))
            found = inside_bodies(mine, spread, frames, fps, [other.name] * len(theirs))
            rows += [Penetration(o.frame, body.name, other.name, o.depth) for o in found]
    worst: dict[tuple[float, str], float] = {}
    for row in rows:
        worst[row.frame, row.body] = max(worst.get((row.frame, row.body), 0.0), row.depth)
    return [Penetration(f, body.name, name, d) for (f, name), d in sorted(worst.items()) if d > tolerance]


def _places(shape: Capsules, k: int) -> int:
    """Places along a capsule's axis that are looked at: so near to each other that less than 1/128 radius is missed."""
    return max(2, int(np.ceil(4.0 * np.linalg.norm(shape.ends[k] - shape.starts[k]) / shape.radii[k])) + 1)


def _halves(motion: Motion) -> tuple[Array, Array, Array]:
    """Numbers (2 T - 1,) of frames and half frames, rotations and roots there."""
    a, b = motion.rotations[:-1], motion.rotations[1:]
    between = quat.slerp(a, b, 0.5)
    count = 2 * len(motion) - 1
    rotations, roots = np.empty((count, *a.shape[1:])), np.empty((count, 3))
    rotations[::2], rotations[1::2] = motion.rotations, between
    roots[::2], roots[1::2] = motion.roots, 0.5 * (motion.roots[:-1] + motion.roots[1:])
    return np.linspace(0.0, len(motion) - 1.0, count), rotations, roots


def _moved(world: World, props: Mapping[str, Array], fps: float, count: int) -> World:
    """The world with its props where they are, at the rate of the motion if any of them moves."""
    if not props:
        return world
    bodies = []
    for body in world.bodies:
        matrices = props.get(body.name)
        if matrices is None:
            matrices = body.matrices
            if len(matrices) > 1:
                at = np.clip(np.round(np.arange(count) * world.fps / fps).astype(np.int64), 0, len(matrices) - 1)
                matrices = matrices[at]
        bodies.append(replace(body, matrices=matrices))
    return replace(world, bodies=tuple(bodies), fps=fps)


def _placed(matrices: Array, frames: Array) -> Array:
    """(N, 4, 4) at frames and half frames; half way the rotation is that of the mean."""
    low = np.minimum(frames.astype(np.int64), len(matrices) - 1)
    high = np.minimum(low + 1, len(matrices) - 1)
    share = (frames - np.floor(frames))[:, None, None]
    return np.asarray((1.0 - share) * matrices[low] + share * matrices[high])


def inside_bodies(
    world: World,
    points: Array,
    frames: Array,
    fps: float,
    parts: Sequence[str],
    touching: Collection[tuple[str, str]] = (),
    radii: Array | None = None,
) -> list[Penetration]:
    """Depths of points in each body, where there are any.

    Args:
        world: The bodies, at the rate of its own.
        points: (N, K, 3) [m].
        frames: (N,) and
        fps: their rate [Hz]: when the points are there.
        parts: (K,) names of what they belong to.
        touching: Part and body that may be in each other.
        radii: (K,) of spheres about the points [m]; None for the points themselves.
    """
    out = []
    count = points.shape[1]
    flat, size = points.reshape(-1, 3), np.tile(np.zeros(count) if radii is None else radii, len(points))
    seconds = frames / fps
    x, y, z = (np.ascontiguousarray(flat[:, k]) for k in range(3))
    for body in world.bodies:
        free = [part != body.name and (part, body.name) not in touching for part in parts]
        if not any(free) or not len(body.triangles):
            continue
        low, high = _bounds(body)
        at: Ints = np.flatnonzero(
            (x > low[0] - size) & (x < high[0] + size) & (y > low[1] - size) & (y < high[1] + size)
            & (z > low[2] - size) & (z < high[2] + size) & np.tile(free, len(points))
        )  # fmt: skip
        at, local = _near(body, flat, at, seconds[at // count] * world.fps, size)
        if not len(at):
            continue
        reach = max(float(size[at].max()), 0.03)
        _, far, hit, _ = geometry.nearest(World((body,), world.fps), flat[at], seconds[at // count], reach)
        depth = np.where(hit >= 0, size[at] - far, -np.inf)
        if closed(body.triangles):
            within = inside(body.vertices[body.triangles], local)
            depth = np.where(within, size[at] + np.where(hit >= 0, far, reach), depth)
        for k in np.flatnonzero(depth > 0):
            frame, column = divmod(int(at[k]), count)
            out.append(Penetration(float(frames[frame]), parts[column], body.name, float(depth[k])))
    return out


def _bounds(body: Body) -> tuple[Array, Array]:
    """Lowest and highest corner (3,) of wherever a body is [m]."""
    box = np.array([body.vertices.min(axis=0), body.vertices.max(axis=0)])
    corners = box[np.indices((2, 2, 2)).reshape(3, -1).T, np.arange(3)]
    there = corners @ body.matrices[:, :3, :3].transpose(0, 2, 1) + body.matrices[:, None, :3, 3]
    return there.min(axis=(0, 1)), there.max(axis=(0, 1))


def _near(body: Body, points: Array, at: Ints, frames: Array, size: Array) -> tuple[Ints, Array]:
    """Which of the spheres `at` (M,) among points (N, 3) with sizes (N,) may touch a body at its frames (M,), and their
    places (K, 3) in its axes."""
    if len(body.matrices) == 1:
        back = np.linalg.inv(body.matrices[0])
        local = points[at] @ back[:3, :3].T + back[:3, 3]
    else:
        whole, which = np.unique(np.minimum(frames, len(body.matrices) - 1), return_inverse=True)
        back = np.linalg.inv(_placed(body.matrices, whole))[which]
        local = np.einsum("nij,nj->ni", back[:, :3, :3], points[at]) + back[:, :3, 3]
    least = float(np.linalg.norm(body.matrices[0, :3, :3], axis=0).min())
    margin = (size[at] / max(least, 1e-9))[:, None]
    keep = ((local > body.vertices.min(axis=0) - margin) & (local < body.vertices.max(axis=0) + margin)).all(axis=1)
    return at[keep], local[keep]


def inside(corners: Array, points: Array) -> Bools:
    """Which points (N, 3) are within a closed mesh of triangles (F, 3, 3), by the solid angle under which it is seen.

    Van Oosterom and Strackee, "The solid angle of a plane triangle" (1983).
    """
    out = np.zeros(len(points), dtype=bool)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    at: Ints = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    block = max(1, _BLOCK // max(1, len(corners)))
    middle = 0.5 * (low + high)
    a, b, c = (corners[:, k] - middle for k in range(3))
    ab, bc, ca = (dot(v, v) for v in (a - b, b - c, c - a))
    apex, normals = dot(a, cross(b, c)), cross(a, b) + cross(b, c) + cross(c, a)
    for some in np.array_split(at, max(1, -(-len(at) // block))):
        p = points[some] - middle
        # the triple and scalar products of the three edges to a point, of products of matrices
        above = apex - p @ normals.T
        own = dot(p, p)[:, None]
        sa, sb, sc = (np.maximum(own + dot(v, v) - 2.0 * (p @ v.T), 0.0) for v in (a, b, c))
        la, lb, lc = np.sqrt(sa), np.sqrt(sb), np.sqrt(sc)
        below = la * lb * lc + 0.5 * ((sa + sb - ab) * lc + (sb + sc - bc) * la + (sc + sa - ca) * lb)
        turns = np.arctan2(above, below).sum(axis=1) / (2.0 * np.pi)
        out[some] = np.abs(turns) > 0.5
    return out
