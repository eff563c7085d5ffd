"""A world made ready for eyes: its shapes, to be drawn wherever they are or are believed to be.

What a body is to an eye follows from its `kind` and `tags`:

    see_through     hides nothing, neither other bodies nor others of its sort: glass, a fence
    class:NAME      one of many alike: memory keeps that there is a NAME at a place, not which one it is
    part:BODY       a patch of BODY, cut by `patches.split`; seen and remembered by itself
    feature:BODY    what BODY is known by, such as its face: until one of its features shows it is just something
    actor:NAME      belongs to that actor, who never sees it
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...errors import TroupeError
from ...maths import quat
from ...skeleton import Array
from ...world import Body, World
from .raster import Ints, Lens

SEE_THROUGH = "see_through"


def named(body: Body, tag: str) -> str | None:
    """What follows `tag:` among the tags of a body; the first in order of the alphabet, None when there is none."""
    found = sorted(t[len(tag) + 1 :] for t in body.tags if t.startswith(f"{tag}:"))
    return found[0] if found else None


def placement(body: Body, fps: float, time: float) -> Array:
    """(4, 4) where a body is at `time` [s]: between frames it is interpolated, beyond the ends it rests."""
    last = len(body.matrices) - 1
    frame = min(max(time * fps, 0.0), float(last))
    k = round(frame)
    if abs(frame - k) < 1e-6:
        at_frame: Array = body.matrices[k]
        return at_frame
    k = int(frame)
    a, b = body.matrices[k], body.matrices[k + 1]
    scale = _scale(a)
    turns = quat.from_matrix(np.stack([a, b])[:, :3, :3] / scale)
    turn = quat.slerp(turns[0], turns[1], frame - k)
    out: Array = a + (frame - k) * (b - a)
    out[:3, :3] = quat.to_matrix(turn) * scale
    return out


def velocity(body: Body, fps: float, time: float) -> Array:
    """(6,) of a body until `time`: linear [m/s] and angular [rad/s], in the world; zero for what stands."""
    if len(body.matrices) == 1:
        return np.zeros(6)
    k = min(max(int(np.ceil(time * fps - 1e-6)), 1), len(body.matrices) - 1)
    before, after = body.matrices[k - 1], body.matrices[k]
    if time * fps > len(body.matrices) - 1 + 1e-6 or np.array_equal(before, after):
        return np.zeros(6)
    scale = _scale(before)
    turns = quat.from_matrix(np.stack([after, before])[:, :3, :3] / scale)
    turn = quat.multiply(turns[0], quat.conjugate(turns[1]))
    return np.concatenate([after[:3, 3] - before[:3, 3], quat.log(turn)]) * fps


def _scale(matrix: Array) -> Array:
    """(3,) by which a matrix stretches the axes, the first negative if it mirrors; what is left is a rotation."""
    x, y, z = matrix[:3, :3].T
    mirror = np.copysign(1.0, (quat.cross(x, y) * z).sum())
    out: Array = np.sqrt((matrix[:3, :3] ** 2).sum(axis=0)) * np.array([mirror, 1.0, 1.0])
    return out


@dataclass(frozen=True, eq=False)
class Scenery:
    """The shapes of a world, ready to be drawn; made by `scenery`. B bodies, V vertices, F triangles.

    Attributes:
        world: Whose shapes they are.
        vertices: (V, 3) of all bodies, each in its own space [m].
        triangles: (F, 3) numbers of vertices within the body.
        vertex_start, triangle_start: (B + 1,) where each body begins, and the end.
        centre, radius: (B, 3), (B,) sphere around each body in its own space [m].
        silhouette: (B,) an upper bound of the area of its outline from anywhere [m^2].
    """

    world: World
    vertices: Array
    triangles: Ints
    vertex_start: Ints
    triangle_start: Ints
    centre: Array
    radius: Array
    silhouette: Array

    @cached_property
    def number(self) -> dict[int, int]:
        """Id of a body to its number."""
        return {body.id: n for n, body in enumerate(self.world.bodies)}

    @cached_property
    def see_through(self) -> frozenset[int]:
        """Numbers of the bodies that hide nothing."""
        return frozenset(n for n, body in enumerate(self.world.bodies) if SEE_THROUGH in body.tags)

    @cached_property
    def features(self) -> dict[int, tuple[int, ...]]:
        """Number of a body to those of its features."""
        by_name = {body.name: n for n, body in enumerate(self.world.bodies)}
        out: dict[int, tuple[int, ...]] = {}
        for n, body in enumerate(self.world.bodies):
            owner = by_name.get(named(body, "feature") or "")
            if owner is not None:
                out[owner] = (*out.get(owner, ()), n)
        return out

    @cached_property
    def _owners(self) -> tuple[tuple[str, str | None], ...]:
        return tuple((body.name, named(body, "actor")) for body in self.world.bodies)

    @cached_property
    def _still(self) -> Array:
        return np.array([body.matrices[0] for body in self.world.bodies]).reshape(-1, 4, 4)

    @cached_property
    def _moving(self) -> tuple[int, ...]:
        return tuple(n for n, body in enumerate(self.world.bodies) if len(body.matrices) > 1)

    def shown_to(self, exclude: Collection[str]) -> Ints:
        """Numbers of the bodies that are neither named in `exclude` nor belong to an actor who is."""
        hidden = set(exclude)
        return np.array(
            [n for n, (name, actor) in enumerate(self._owners) if name not in hidden and actor not in hidden],
            dtype=np.int64,
        )

    def places(self, time: float) -> Array:
        """(B, 4, 4) where all bodies are at `time` [s]."""
        out = self._still.copy()
        for n in self._moving:
            out[n] = placement(self.world.bodies[n], self.world.fps, time)
        return out


def scenery(world: World) -> Scenery:
    """Prepare a world for many looks at it; every body needs an id of its own, zero or more."""
    points, faces, start, none = np.zeros((0, 3)), np.zeros((0, 3), np.int64), np.zeros(1, np.int64), np.zeros(0)
    empty = Scenery(replace(world, bodies=()), points, faces, start, start, points, none, none)
    return with_bodies(empty, world.bodies)


def with_bodies(shapes: Scenery, bodies: Sequence[Body]) -> Scenery:
    """The same with more bodies, such as other actors where they are now: cheap beside preparing the whole world."""
    world = replace(shapes.world, bodies=(*shapes.world.bodies, *bodies))
    ids = [body.id for body in world.bodies]
    if len(set(ids)) != len(ids) or min(ids, default=0) < 0:
        again = [b.name for k, b in enumerate(world.bodies) if b.id < 0 or b.id in ids[:k]]
        raise TroupeError(f"bodies are told apart by their ids, which must differ and not be negative: {again[:5]}")
    measures = np.array([_measured(body) for body in bodies]).reshape(-1, 5)
    return Scenery(
        world,
        np.concatenate([shapes.vertices, *(b.vertices for b in bodies)]),
        np.concatenate([shapes.triangles, *(b.triangles for b in bodies)]),
        np.cumsum([0, *np.diff(shapes.vertex_start), *(len(b.vertices) for b in bodies)], dtype=np.int64),
        np.cumsum([0, *np.diff(shapes.triangle_start), *(len(b.triangles) for b in bodies)], dtype=np.int64),
        np.concatenate([shapes.centre, measures[:, :3]]),
        np.concatenate([shapes.radius, measures[:, 3]]),
        np.concatenate([shapes.silhouette, measures[:, 4]]),
    )


def _measured(body: Body) -> tuple[float, float, float, float, float]:
    """Middle, radius and largest outline of a body in its own space [m, m^2]."""
    if not len(body.triangles):
        return 0.0, 0.0, 0.0, 0.0, 0.0
    corners = body.vertices[body.triangles]
    middle = 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))
    radius = float(np.sqrt(((corners - middle) ** 2).sum(axis=2).max()))
    normal = quat.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    # half the surface of a closed body is more than any outline of it
    area = 0.25 * float(np.sqrt(quat.dot(normal, normal)).sum())
    return float(middle[0]), float(middle[1]), float(middle[2]), radius, min(np.pi * radius**2, area)


def view_of(eye: Array) -> Array:
    """(3, 4) from the world to right, up and forward of an eye (4, 4) whose axes are left, back and up."""
    axes = eye[:3, :3].T * np.array([[-1.0], [-1.0], [1.0]])
    axes = axes[[0, 2, 1]]
    return np.concatenate([axes, -(axes * eye[:3, 3]).sum(axis=1)[:, None]], axis=1)


def in_sight(shapes: Scenery, lens: Lens, eye: Array, numbers: Ints, matrices: Array) -> tuple[Array, Ints]:
    """Triangles of copies of bodies that may be in the field of view.

    Args:
        shapes: Of the world.
        lens: Field of view and range.
        eye: (4, 4), axes left, back, up.
        numbers: (n,) of the bodies.
        matrices: (n, 4, 4) where each copy is.

    Returns:
        corners (3, 3, k) as `raster.draw` takes them, and which copy 0..n-1 each triangle belongs to (k,).
    """
    view = view_of(eye)
    # sums of products and no matrix product, whose last bits may change with the size of a batch
    to_eye = sum(view[None, :, k, None] * matrices[:, None, k, :] for k in range(3)) + view[:, 3:] * [0, 0, 0, 1]
    to_eye = np.asarray(to_eye)
    near, size = _sphere(shapes, numbers, matrices, to_eye)
    x, y, z = near.T
    sx, sy = lens.slope_x, lens.slope_y
    beside = np.maximum((np.abs(x) - z * sx) / np.hypot(1, sx), (np.abs(y) - z * sy) / np.hypot(1, sy))
    kept = (size > 0) & (z + size >= lens.near) & (beside <= size)
    copies = np.flatnonzero(kept & (np.sqrt((near * near).sum(axis=1)) - size <= lens.range))
    which = numbers[copies]
    vertices, _ = _ranges(shapes.vertex_start, which)
    p = shapes.vertices[vertices].T
    m = to_eye[copies].transpose(1, 2, 0)
    m = np.repeat(m, np.diff(shapes.vertex_start)[which], axis=2)
    places = m[:, 0] * p[0] + m[:, 1] * p[1] + m[:, 2] * p[2] + m[:, 3]
    triangles, of_triangle = _ranges(shapes.triangle_start, which)
    begin = np.cumsum(np.diff(shapes.vertex_start)[which]) - np.diff(shapes.vertex_start)[which]
    corners = places[:, shapes.triangles[triangles] + begin[of_triangle][:, None]].transpose(2, 0, 1)
    return corners, copies[of_triangle]


def sphere(shapes: Scenery, eye: Array, numbers: Ints, matrices: Array) -> tuple[Array, Array]:
    """Distance (n,) from an eye to the middle of copies of bodies and their scale (n,)."""
    linear = np.linalg.norm(matrices[:, :3, :3], axis=1).max(axis=1)
    middle = (matrices[:, :3, :3] * shapes.centre[numbers][:, None, :]).sum(axis=2) + matrices[:, :3, 3]
    return np.linalg.norm(middle - eye[:3, 3], axis=1), linear


def _sphere(shapes: Scenery, numbers: Ints, matrices: Array, to_eye: Array) -> tuple[Array, Array]:
    """Middle (n, 3) in the axes of an eye and radius (n,) of spheres around copies of bodies."""
    middle = (to_eye[:, :, :3] * shapes.centre[numbers][:, None, :]).sum(axis=2) + to_eye[:, :, 3]
    return middle, shapes.radius[numbers] * np.linalg.norm(matrices[:, :3, :3], axis=1).max(axis=1) * (1 + 1e-9)


def _ranges(start: Ints, which: Ints) -> tuple[Ints, Ints]:
    """start[w] .. start[w + 1] - 1 for each w of `which`, one after the other, and the place of w in `which`."""
    count = np.diff(start)[which]
    place = np.repeat(np.arange(len(which)), count)
    ends = np.cumsum(count)
    inside = np.arange(len(place)) - np.repeat(ends - count, count)
    return start[which][place] + inside, place


def actor_body(name: str, number: int, base: Array, radius: float, height: float, ground: float = 0.0) -> Body:
    """An upright prism of eight sides in the stead of an actor, for others to see.

    Args:
        name: Of the actor; the body is tagged `actor:NAME`, and bears the same name.
        number: Id of the body.
        base: (3,) x, y [m], heading [rad]; or (T, 3), one a frame of the world.
        radius, height: Of the actor [m].
        ground: Height of the floor under it [m].
    """
    base = np.atleast_2d(np.asarray(base, dtype=np.float64))
    turn = np.arange(8) * np.pi / 4
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(8)], axis=1)
    vertices = np.concatenate([ring, ring + [0.0, 0.0, height]])
    k, after = np.arange(8), (np.arange(8) + 1) % 8
    sides = np.concatenate([np.stack([k, after, after + 8], axis=1), np.stack([k, after + 8, k + 8], axis=1)])
    fan = np.stack([np.zeros(6, dtype=np.int64), np.arange(1, 7), np.arange(2, 8)], axis=1)
    triangles = np.concatenate([sides, fan[:, ::-1], fan + 8])
    matrices = np.tile(np.eye(4), (len(base), 1, 1))
    cos, sin = np.cos(base[:, 2]), np.sin(base[:, 2])
    matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 0], matrices[:, 1, 1] = cos, -sin, sin, cos
    matrices[:, :2, 3], matrices[:, 2, 3] = base[:, :2], ground
    return Body(name, number, vertices, triangles, matrices, "prop", frozenset({f"actor:{name}"}))
