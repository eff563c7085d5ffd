"""Every visible surface of the scene that is no part of an actor, as bodies of a core `World`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidParam, TroupeError
from ...core.maths.quat import cross
from ...core.planning.ways.footing import GUESSED
from ...core.skeleton import Array
from ...core.world import Body, World
from .. import rig
from ..steps import Steps, at_once
from . import placement
from .rates import fps, metre

UPWARD = 0.5
"""Upward part of the unit normal from which a face can be stood on: slopes up to 60 degrees."""
NO_AREA = 1e-14
"""Area up to which a face is none, of the square of the size of its mesh."""
SAME_SIZE = 1e-3
"""Change of size up to which a moving body counts as rigid, relative to its scale."""

Key = tuple[int, ...]
"""Instancer, object and number of the instance: the same at every frame."""


@dataclass(frozen=True, eq=False)
class _Surface:
    """A mesh in the scene: `vertices` (V, 3) and `triangles` (F, 3) as the object has them, `matrix` (4, 4) now."""

    key: Key
    name: str
    kind: str
    vertices: npt.NDArray[np.float32]
    triangles: npt.NDArray[np.int32]
    matrix: Array
    ob: bpy.types.Object
    instancer: bpy.types.Object
    tags: frozenset[str]


def read_world_steps(
    context: bpy.types.Context,
    collection: str | None = None,
    exclude: Collection[bpy.types.Object] = (),
    frames: npt.ArrayLike | None = None,
    only: bpy.types.Object | None = None,
) -> Steps[World]:
    """Steps to the world around the actors, modifiers applied, in metres.

    Meshes and everything else with faces count: curves with thickness, texts, surfaces, metaballs, instances. Left out
    are hidden objects, those of kind "ignore", cast rigs with whatever they deform, what hangs on them unless its kind
    is set, and faces without area, as of what is scaled to nothing. A shape that changes is taken as it is now.

    Args:
        context: For scene and view layer.
        collection: Name of the collection to read; None or "" for the whole scene.
        exclude: Further objects to leave out, with their children and what they deform.
        frames: (T,) evenly spaced frames at which moving bodies are placed; time 0 of the world is the first. None for
            where they are now.
        only: The object that is read alone; None for all.

    Raises:
        TroupeError: There is no such collection, a body changes its size while it moves, or it is nowhere.
    """
    times = None if frames is None else _checked(frames)
    members = _members(context, collection) if only is None else {only}
    surfaces = list(_surfaces(context, members, frozenset(exclude)))
    paths = {} if times is None else (yield from _paths(context, surfaces, times))
    names: dict[str, int] = {}
    bodies = []
    for number, surface in enumerate(surfaces):
        yield number / len(surfaces)
        matrices = paths.get(surface.key, surface.matrix[None])
        body = _body(surface, matrices, _unique(surface.name, names), number, metre(context.scene))
        if len(body.triangles):
            bodies.append(body)
    rate = fps(context.scene)
    return World(tuple(bodies), rate if times is None or len(times) < 2 else rate / float(times[1] - times[0]))


read_world = at_once(read_world_steps)


def _checked(frames: npt.ArrayLike) -> Array:
    times = np.asarray(frames, dtype=np.float64)
    step = np.diff(times, axis=0)
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (step <= 0).any() or _differs(step, 1e-6):
        raise InvalidParam("frames", frames, "must be one or more frames that increase by equal steps")
    return times


def _differs(values: Array, tolerance: float) -> bool:
    return len(values) > 0 and bool(np.ptp(values, axis=0).max() > tolerance)


def _members(context: bpy.types.Context, name: str | None) -> set[bpy.types.Object] | None:
    """Objects of a collection and those below it; None for all."""
    if not name:
        return None
    there = {c.name: c for c in (context.scene.collection, *context.scene.collection.children_recursive)}
    if name not in there:
        raise TroupeError(f"the scene has no collection {name!r}; choose one of {', '.join(sorted(there))}")
    return set(there[name].all_objects)


def _surfaces(
    context: bpy.types.Context, members: set[bpy.types.Object] | None, exclude: frozenset[bpy.types.Object]
) -> Iterator[_Surface]:
    meshes: dict[int, tuple[Any, Any]] = {}
    # the object of an instance is gone when the next one comes: nothing of it may be kept
    for instance in context.evaluated_depsgraph_get().object_instances:
        shown = instance.object
        if shown.type != "MESH":
            continue
        ob = shown.original
        instancer = instance.parent.original if instance.is_instance else ob
        kind = next((o.troupe.kind for o in (ob, instancer) if o.troupe.kind != "auto"), "auto")
        if "ignore" in (ob.troupe.kind, instancer.troupe.kind) or (members is not None and instancer not in members):
            continue
        if any(_is_of_actor(o, exclude) for o in {ob, instancer}):
            continue
        pointer = shown.data.as_pointer()
        if pointer not in meshes:
            meshes[pointer] = _triangulated(shown.data)
        vertices, triangles = meshes[pointer]
        if len(triangles):
            name = ob.name if ob == instancer else f"{instancer.name}/{ob.name}"
            matrix = np.array(instance.matrix_world, dtype=np.float64)
            tags = tags_of(ob) | tags_of(instancer)
            yield _Surface(_key(instance), name, kind, vertices, triangles, matrix, ob, instancer, tags)


def tags_of(ob: bpy.types.Object) -> frozenset[str]:
    """What else is set about an object, as `core.planning` spells it."""
    own: Any = ob.troupe
    tags = set()
    if own.walk_cost > 1.0:
        tags.add(f"cost={own.walk_cost:g}")
    if own.kind == "door" and own.door != "closed":
        tags.add(own.door)
    if own.see_through:
        tags.add("see_through")
    if own.solid:
        tags.add("solid")
    if own.sort:
        tags.add(f"class:{own.sort}")
    return frozenset(tags)


def _is_of_actor(ob: bpy.types.Object, exclude: frozenset[bpy.types.Object]) -> bool:
    """Whether an object is excluded, is deformed by an actor or hangs on one."""
    if any(m.type == "ARMATURE" and (m.object in exclude or rig.is_cast(m.object)) for m in ob.modifiers):
        return True
    above: bpy.types.Object | None = ob
    while above is not None:
        if above in exclude:
            return True
        if rig.is_cast(above) and (ob.troupe.kind == "auto" or ob.parent_type == "ARMATURE"):
            return True
        above = above.parent
    return False


def _key(instance: Any) -> Key:
    if not instance.is_instance:
        return (instance.object.original.as_pointer(),)
    pointers = instance.parent.original.as_pointer(), instance.object.original.as_pointer()
    return (*pointers, *instance.persistent_id)


def _triangulated(mesh: bpy.types.Mesh) -> tuple[Any, Any]:
    vertices = np.empty((len(mesh.vertices), 3), np.float32)
    if len(vertices):
        mesh.attributes["position"].data.foreach_get("vector", vertices.reshape(-1))
    mesh.calc_loop_triangles()
    triangles = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles.reshape(-1))
    return vertices, triangles


def _unique(name: str, used: dict[str, int]) -> str:
    """The name, with a number behind it if there is one like it already."""
    free = name
    while free in used:
        used[name] += 1
        free = f"{name} {used[name]}"
    used[free] = 1
    return free


def _paths(context: bpy.types.Context, surfaces: list[_Surface], times: Array) -> Steps[dict[Key, Array]]:
    """World matrices (T, 4, 4) at `times` of the surfaces that move [world units]; plays the scene only if it must."""
    found: dict[Key, Array] = {}
    to_play: set[Key] = set()
    depsgraph = context.evaluated_depsgraph_get()
    moving = {ob: placement.may_move(ob) for s in surfaces for ob in (s.ob, s.instancer)}
    tracks = {s.instancer: placement.by_curves(s.instancer, times) for s in surfaces if moving[s.instancer]}
    for surface in surfaces:
        track = tracks.get(surface.instancer)
        if surface.ob != surface.instancer and moving[surface.ob]:
            to_play.add(surface.key)
        elif track is not None:
            # an instance keeps its place in the instancer, an object is its own
            now = np.array(surface.instancer.evaluated_get(depsgraph).matrix_world, dtype=np.float64)
            found[surface.key] = track if len(surface.key) == 1 else track @ (np.linalg.pinv(now) @ surface.matrix)
        elif moving[surface.instancer]:
            to_play.add(surface.key)
    if to_play:
        found.update((yield from _played(context, {s.key: s.matrix for s in surfaces if s.key in to_play}, times)))
    return found


def _played(context: bpy.types.Context, start: dict[Key, Array], times: Array) -> Steps[dict[Key, Array]]:
    """Matrices (T, 4, 4) seen while the scene plays; an instance that is gone at a frame stays where it was."""
    scene = context.scene
    frame, subframe = scene.frame_current, scene.frame_subframe
    out = {key: np.tile(matrix, (len(times), 1, 1)) for key, matrix in start.items()}
    try:
        for i, time in enumerate(times):
            yield i / len(times)
            whole = int(np.floor(time))
            scene.frame_set(whole, subframe=float(time - whole))
            for instance in context.evaluated_depsgraph_get().object_instances:
                if (key := _key(instance)) in out:
                    out[key][i:] = np.array(instance.matrix_world, dtype=np.float64)
    finally:
        scene.frame_set(frame, subframe=subframe)
    return out


def _body(surface: _Surface, matrices: Array, name: str, number: int, unit: float) -> Body:
    """A body with all scale in its vertices, so that its matrices only turn and move it."""
    placement.demand_place(name, matrices)
    if not (np.abs(surface.vertices) < rig.FARTHEST).all():
        which = "vertices whose places are no numbers or too large"
        raise TroupeError(f"{name} has {which}: delete them, hide it or let it be ignored")
    if not _differs(matrices, 1e-6):
        matrices = matrices[:1]
    mirror = placement.mirror_of(surface.instancer, matrices[0, :3, :3])
    # the nearest rotation and what is left (polar decomposition): shear of unevenly scaled parents goes there too
    u, size, v = np.linalg.svd(matrices[:, :3, :3] @ mirror)
    odd = np.where(np.linalg.det(u @ v) < 0, -1.0, 1.0)
    u[..., 2] *= odd[:, None]
    size[..., 2] *= odd
    stretches = np.swapaxes(v, -1, -2) * size[:, None, :] @ v @ mirror
    if _differs(stretches, SAME_SIZE * float(np.abs(size).max())):
        raise TroupeError(f"{name} changes its size while it moves: give it a constant scale or the kind Ignore")
    placed = np.tile(np.eye(4), (len(matrices), 1, 1))
    placed[:, :3, :3] = u @ v
    placed[:, :3, 3] = matrices[:, :3, 3] * unit
    vertices = surface.vertices.astype(np.float64) @ (stretches[0].T * unit)
    triangles = surface.triangles.astype(np.int64)
    if np.linalg.det(mirror) < 0:
        triangles = triangles[:, ::-1]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = cross(b - a, c - a)
    area = np.sqrt((normal * normal).sum(axis=1))
    kind = surface.kind
    tags = surface.tags
    if kind == "auto":
        up = normal @ placed[0, 2, :3]
        kind = "ground" if (up > np.maximum(UPWARD * area, 1e-12)).any() else "obstacle"
        tags = tags | {GUESSED}
    return Body(name, number, vertices, triangles[area > NO_AREA * _extent(vertices) ** 2], placed, kind, tags)


def _extent(vertices: Array) -> float:
    """Of the box around vertices (V, 3) [m]."""
    return float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
