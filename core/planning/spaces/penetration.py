"""Check a planned motion against the triangles themselves: every frame and half frame, every part of the arms.

Whatever simplified shapes a way was planned with, this is what tells whether it may be shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kinematics import fk
from ...kinematics.body_shape import ARM_PARTS, Capsules, with_fingers
from ...maths import quat
from ...motion import Motion
from ...skeleton import SIDES, Array
from ...world import Body, World
from .meshes import Mesh, cloud, deepest_point
from .solids import Shapes, parted
from .space import Bools, Ints

TOLERANCE = 0.001
"""Depth up to which something is said to touch and not to be in the way [m]."""
HAND = ("palm", "fingers", "thumb")


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
    shapes: Shapes | None = None,
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
        shapes: What is known of meshes.
    """
    props, shapes = props or {}, shapes or Shapes()
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
    names = [shape.parts[k] for k in part]
    rows = inside_bodies(world, points, frames, motion.fps, names, touching, shape.radii[part], shapes)
    for name in props:
        body = next(b for b in world.bodies if b.name == name)
        mesh, at = mesh_at(body, frames, shapes)
        moving = np.flatnonzero(_away(at, at[0]) | _away(at, at[-1]))
        corners = cloud(mesh.vertices)
        for other in world.bodies if len(moving) else ():
            if other.name == name or (name, other.name) in touching or not len(other.triangles):
                continue
            there, place = mesh_at(other, frames[moving] * (world.fps / motion.fps), shapes)
            depth = deepest_point(corners, there, np.linalg.inv(place) @ at[moving])
            rows += listed(frames[moving], name, other.name, depth)
    return worst(rows, tolerance)


def mesh_at(body: Body, frames: Array, shapes: Shapes) -> tuple[Mesh, Array]:
    """The mesh of a body, and where its axes are (N, 4, 4) at frames and parts of frames (N,) of its matrices."""
    _, scale = parted(body.matrices[0])
    matrices = np.array(body.matrices)
    matrices[:, :3, :3] /= np.where(scale == 0, 1.0, scale)
    return shapes.mesh(body, scale), between_samples(matrices, frames)


def listed(frames: Array, part: str, body: str, depths: Array) -> list[Penetration]:
    """What is in something at frames (N,), of depths (N,) [m] that are negative infinity where it is not."""
    return [Penetration(float(frames[k]), part, body, float(depths[k])) for k in np.flatnonzero(depths > 0.0)]


def worst(rows: Sequence[Penetration], tolerance: float) -> list[Penetration]:
    """The deepest of each part and body at each frame, in order, where it is deeper than a tolerance [m]."""
    deep: dict[tuple[float, str, str], float] = {}
    for row in rows:
        key = row.frame, row.part, row.body
        deep[key] = max(deep.get(key, 0.0), row.depth)
    return [Penetration(*key, depth) for key, depth in sorted(deep.items()) if depth > tolerance]


def _away(matrices: Array, place: Array) -> Bools:
    """(N,) which matrices (N, 4, 4) differ from a place (4, 4)."""
    return np.asarray(np.abs(matrices - place).reshape(len(matrices), -1).max(axis=1) > 1e-9)


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


def between_samples(matrices: Array, frames: Array) -> Array:
    """(N, 4, 4) of rigid matrices (T, 4, 4) at frames and parts of frames; beyond the ends they rest."""
    low = np.minimum(frames.astype(np.int64), len(matrices) - 1)
    high = np.minimum(low + 1, len(matrices) - 1)
    share = frames - np.floor(frames)
    out = np.tile(np.eye(4), (len(frames), 1, 1))
    a, b = (quat.from_matrix(matrices[k][:, :3, :3]) for k in (low, high))
    out[:, :3, :3] = quat.to_matrix(quat.slerp(a, b, share))
    out[:, :3, 3] = matrices[low, :3, 3] + share[:, None] * (matrices[high, :3, 3] - matrices[low, :3, 3])
    return out


def inside_bodies(
    world: World,
    points: Array,
    frames: Array,
    fps: float,
    parts: Sequence[str],
    touching: Collection[tuple[str, str]] = (),
    radii: Array | None = None,
    shapes: Shapes | None = None,
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
        shapes: What is known of meshes.
    """
    out, shapes = [], shapes or Shapes()
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
        whole, which = np.unique(
            np.minimum(seconds[at // count] * world.fps, len(body.matrices) - 1), return_inverse=True
        )
        mesh, place = mesh_at(body, whole, shapes)
        back = np.linalg.inv(place)[which]
        local = np.einsum("nij,nj->ni", back[:, :3, :3], flat[at]) + back[:, :3, 3]
        depth = mesh.depths(local, size[at])
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
