"""What is known of things that hands deal with: which is meant, where it is and is to go, and how it is taken."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.errors import InvalidParam, TroupeError
from ...core.maths import geometry
from ...core.skeleton import Array
from ...core.world import Body, World
from .. import rig, scene

if TYPE_CHECKING:
    from ...core.planning.hands.grasp import Grasp

GRASPS = "troupe_grasps"
"""Custom property of a prop: how it is taken, as JSON."""
NOTHING = 1e-9
"""Scale up to which there is nothing of a thing."""
GAP = 0.0005
"""Between a prop that is put down on something and that [m]."""


def grasps_of(ob: Any) -> tuple[Grasp, ...]:
    """How a prop is taken, as somebody told; empty when nobody did.

    Raises:
        TroupeError: What is kept with it cannot be read.
    """
    text = ob.get(GRASPS)
    if not text:
        return ()
    try:
        return _grasps_in(text if isinstance(text, str) else "")
    except ValueError as error:
        raise TroupeError(f"the grasps of {ob.name} cannot be read ({error}); remove them") from None


@lru_cache(maxsize=32)
def _grasps_in(text: str) -> tuple[Grasp, ...]:
    """Grasps by their JSON; asked whenever anything is drawn, so the answer is kept."""
    from ...core.planning.hands.grasp import Grasp

    rows = json.loads(text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("no list of grasps")
    return tuple(Grasp.from_dict(row) for row in rows)


def resized(grasp: Grasp, size: float) -> Grasp:
    """A grasp of a prop that is so many times as large."""
    return replace(grasp, frame=moved_to_scale(grasp.frame, size), distance=grasp.distance * size)


def moved_to_scale(matrix: Array, size: float) -> Array:
    """A matrix (4, 4) whose place is so many times as far."""
    out = np.array(matrix, dtype=np.float64)
    out[:3, 3] *= size
    return out


def named(name: str, what: str, purpose: str) -> Any:
    """The object of the scene whose name a parameter gives."""
    ob = bpy.data.objects.get(name)
    if ob is None:
        expected = "no object of that name in this file" if name else f"choose {purpose}"
        raise InvalidParam(what, name, expected)
    if bpy.context.scene.objects.get(name) != ob:
        raise InvalidParam(what, name, "is not in this scene: link it to one of its collections, or choose another")
    return ob


def own_of_file(ob: Any, what: str) -> None:
    """Refuse an object that is to be keyed and is linked from another file: what is written to it is not saved."""
    if ob.library is not None and ob.override_library is None:
        raise InvalidParam(what, ob.name, "is linked from another file: make a library override of it first")


def demand_movable(ob: Any, what: str) -> None:
    """Refuse an object that no keys and no hand would move, or that goes where an actor goes already."""
    own_of_file(ob, what)
    body = ob.rigid_body
    if body is not None and body.type == "ACTIVE" and body.enabled and not body.kinematic:
        raise InvalidParam(what, ob.name, "is moved by physics: switch on Animated in its Rigid Body settings first")
    actor = _hangs_on(ob)
    if actor is not None:
        expected = f"hangs on {actor.name} and goes where that goes: clear its parent, keeping its transformation"
        raise InvalidParam(what, ob.name, expected)


def _hangs_on(ob: Any) -> Any:
    """The actor among the parents of an object; None where there is none."""
    above = ob.parent
    while above is not None and not rig.is_cast(above):
        above = above.parent
    return above


def still_there(name: str) -> Any:
    """The object of a name that was there when the work began."""
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise TroupeError(f"{name} was removed meanwhile: do it again with what there is now")
    return ob


def body_of(world: World, ob: Any, what: str = "target") -> Body:
    """What an object is in the world that the parameter `what` names.

    Raises:
        InvalidParam: It has no faces, is hidden, is scaled to nothing, or is part of an actor.
    """
    found = next((b for b in world.bodies if b.name == ob.name), None)
    if found is None:
        raise InvalidParam(what, ob.name, faceless(ob))
    return found


def faceless(ob: Any) -> str:
    """Why an object is no body of the world."""
    if min(abs(x) for x in ob.matrix_world.to_scale()) < NOTHING:
        return "is scaled to nothing: give it a scale other than 0"
    if not ob.visible_get():
        return "has no visible faces, as it is hidden: show it and its collection, or choose something else"
    if ob.troupe.kind == "ignore":
        return "is of the kind Ignore, which actors take no notice of: give it another kind under Scene Object"
    if ob.instance_type == "COLLECTION":
        return "shows instances of a collection: make them real, and choose one of the objects"
    if rig.is_cast(ob):
        return "is an actor: choose a thing"
    armature, above = scene.armature_of(ob), _hangs_on(ob)
    if armature is not None and rig.is_cast(armature):
        return f"is part of {armature.name}: choose something else"
    if above is not None:
        return f"hangs on {above.name} and is taken for a part of it: choose something else, or set its kind"
    return "has no visible faces: choose a thing that has some"


def matrix_of(ob: Any, context: bpy.types.Context) -> Array:
    """(4, 4) place and orientation of an object in the world at this frame [m].

    Raises:
        TroupeError: It has none, as its numbers are not finite.
    """
    shown = np.array(ob.evaluated_get(context.evaluated_depsgraph_get()).matrix_world, dtype=np.float64)
    scene.demand_place(ob.name, shown)
    u, _, v = np.linalg.svd(shown[:3, :3] @ scene.mirror_of(ob, shown[:3, :3]))
    out = np.eye(4)
    out[:3, :3] = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
    out[:3, 3] = shown[:3, 3] * scene.metre(context.scene)
    return out


def destination_of(world: World, prop: Body, now: Array, ob: Any, context: bpy.types.Context) -> Array:
    """(4, 4) where a prop is to be [m]: where an empty is, or standing on top of a thing over its origin.

    Args:
        world: What is around.
        prop: What is taken there.
        now: (4, 4) where it is.
        ob: The empty or the thing.
        context: For its place.
    """
    onto = next((b for b in world.bodies if b.name == ob.name), None)
    there = matrix_of(ob, context)
    if onto is None:
        return there
    alone = World((onto,), world.fps)
    top, _, hit = geometry.height(alone, there[None, :2, 3])
    z = float(top[0]) if bool(hit[0]) else float(_corners(onto, onto.matrices[0])[:, 2].max())
    corners = _corners(prop, now) - now[:3, 3]
    middle = 0.5 * (corners[:, :2].min(axis=0) + corners[:, :2].max(axis=0))
    out = now.copy()
    out[:2, 3] = there[:2, 3] - middle
    out[2, 3] = z - corners[:, 2].min() + GAP
    return out


def _corners(body: Body, matrix: Array) -> Array:
    return np.asarray(body.vertices @ matrix[:3, :3].T + matrix[:3, 3])


def in_scene(matrix: Array, body: Array, ob: Any, context: bpy.types.Context) -> Array:
    """(4, 4) of an object in world units when its body, which was at `body` [m], is at `matrix` [m].

    The object must be where the body was.
    """
    unit = scene.metre(context.scene)
    own = np.array(ob.evaluated_get(context.evaluated_depsgraph_get()).matrix_world, dtype=np.float64)
    own[:3, 3] *= unit
    out: Array = matrix @ np.linalg.inv(body) @ own
    out[:3, 3] /= unit
    return out
