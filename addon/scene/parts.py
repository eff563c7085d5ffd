"""The cast of a play as the scene has it: properties and places of actors, props, places and the camera."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.maths import quat
from ...core.motion import Path
from ...core.skeleton import Array
from ..steps import Steps
from .channels import keyed
from .rates import fps, metre
from .tracks import read_guests_steps, read_tracks_steps
from .world import read_world_steps

if TYPE_CHECKING:
    from ...core.acting.direction import Named
    from ...core.acting.floorplan import Floorplan
    from ...core.acting.holding import Thing
    from ...core.acting.mind.cast import Member
    from ...core.acting.play import Curves

TOWARD = " toward "
"""Between property and name in a custom property that is a relation: "sympathy toward Otto"."""

STILL = 0.05
"""Who moves less than this stands [m]."""
CLIMB, ANKLE, HEADROOM = 0.35, 0.05, 1.9
"""Highest step that is taken, and between which heights over the floor a prop is in the way [m]."""


def find(context: bpy.types.Context, name: str) -> Any:
    """The object of the scene that is called like something in a script; None when there is none."""
    from ...core.acting.language.lexer import key_of

    return next((ob for ob in context.scene.objects if key_of(ob.name) == key_of(name)), None)


def camera_of(context: bpy.types.Context, name: str) -> Any:
    """The camera that a script means by a name: the object of that name, else the scene's camera."""
    ob = find(context, name)
    return ob if ob is not None and ob.type == "CAMERA" else context.scene.camera


def properties_of(ob: Any) -> dict[str, Any]:
    """Custom properties of an object that a script can read: numbers, texts and truths."""
    return {key: ob[key] for key in sorted(ob.keys()) if isinstance(ob[key], (bool, int, float, str)) and _own(ob, key)}


def _own(ob: Any, key: str) -> bool:
    return not key.startswith(("_", "contact", "troupe")) and key != "cycles"


def member(ob: Any, name: str, place: Sequence[float] | Array) -> Member:
    """An actor with its properties and relations as custom properties give them."""
    from ...core.acting.mind.cast import Member

    values = properties_of(ob)
    relations = {}
    for key in [k for k in values if TOWARD in k]:
        prop, _, other = key.partition(TOWARD)
        relations[prop, other] = values.pop(key)
    x, y, heading = map(float, place)
    return Member(name, "actor", values, relations, (x, y, heading))


def curves_of(ob: Any, name: str, frames: Array, rate: float) -> dict[tuple[str, str], Any]:
    """Properties of an actor that are keyed, as (times [s], values) by (name, property)."""
    times = ((frames - frames[0]) / rate).tolist()
    out = {}
    for key in properties_of(ob):
        values = keyed(ob, f'["{bpy.utils.escape_identifier(key)}"]', frames, below=True)
        if values is not None and TOWARD not in key:
            out[name, key] = (times, values.tolist())
    return out


def things_steps(
    context: bpy.types.Context, named: Named, frames: Array
) -> Steps[tuple[list[Member], Curves, dict[str, Path]]]:
    """Steps to the props, places and cameras of a script that the scene has, at `frames` (T,).

    Returns:
        Members of the cast, curves of the places of what moves, and the way of each by its name in the script.
    """
    from ...core.acting.language.lexer import key_of
    from ...core.acting.mind.cast import Member

    wanted = {"camera": "camera"} | dict.fromkeys(named.cameras, "camera")
    wanted |= dict.fromkeys(named.props, "prop") | dict.fromkeys(named.places, "place")
    wanted |= {mark: "place" for mark in ("center", "offstage") if find(context, mark) is not None}
    objects = {}
    for name, kind in wanted.items():
        ob = camera_of(context, name) if kind == "camera" else find(context, name)
        if ob is not None and not (
            kind == "camera" and name == "camera" and any(key_of(c) == name for c in named.cameras)
        ):
            objects[name] = ob
    tracks = yield from read_tracks_steps(context, list(dict.fromkeys(objects.values())), frames)
    times = ((frames - frames[0]) / fps(context.scene)).tolist()
    members: list[Member] = []
    curves: dict[tuple[str, str], Any] = {}
    for name, ob in objects.items():
        points = tracks[ob.name].points
        heading = float(ob.matrix_world.to_euler().z)
        members.append(
            Member(name.title() if name == "camera" else name, wanted[name], place=(*points[0, :2].tolist(), heading))
        )
        if len(points) > 1 and np.ptp(points[:, :3], axis=0).max() > 1e-6:
            curves[members[-1].name, "location"] = (times, [tuple(row) for row in points[:, :3].tolist()])
    return members, curves, {name: tracks[ob.name] for name, ob in objects.items()}


def floorplan_steps(
    context: bpy.types.Context,
    playing: Collection[str],
    named: Named,
    spots: Array,
    floors: Sequence[float],
    frames: Array,
) -> Steps[Floorplan]:
    """Steps to what stands on the stage of a play, and who else moves there at frames (T,).

    Args:
        playing: Names of the rigs that play.
        named: What the script names; its props are in the way only while nobody holds them.
        spots: (n, 2) where the actors stand [m].
        floors: Height of the floor under each [m].
        frames: (T,) time 0 being the first.
    """
    from ...core.acting.floorplan import Floorplan, Mover, parted
    from ...core.acting.mind.bodyport import RADIUS
    from ...core.planning.ways.footing import with_footing

    props = {name: ob for name in named.props if (ob := find(context, name)) is not None}
    world = yield from read_world_steps(context, None, tuple(props.values()), frames)
    floor = float(np.median(floors))
    world, movers = parted(with_footing(world, np.column_stack([spots, floors]), CLIMB))
    size, things = metre(context.scene), {}
    for name, ob in props.items():
        corners = np.array([ob.matrix_world @ Vector(c) for c in ob.bound_box]) * size
        low, high = corners.min(axis=0), corners.max(axis=0)
        if ob.type == "MESH" and low[2] < floor + HEADROOM and high[2] > floor + ANKLE:
            things[name] = 0.5 * float(max(high[:2] - low[:2]))
    guests = yield from read_guests_steps(context, [context.scene.objects[n] for n in playing], frames)
    bases = {name: motion.base[:, :2] for name, motion in guests.items() if motion.base is not None}
    still = [track[0] for track in bases.values() if np.ptp(track, axis=0).max() < STILL]
    movers += tuple(
        Mover(f"({name})", track, fps(context.scene), RADIUS)
        for name, track in bases.items()
        if np.ptp(track, axis=0).max() >= STILL
    )
    return Floorplan(world, things, floor, np.array(still).reshape(-1, 2), movers)


def thing(context: bpy.types.Context, name: str, points: Array, floor: float) -> Thing:
    """A prop of a play over a floor at a height [m]: where it is at points (T, 3) while nobody has it, and its size."""
    from ...core.acting.holding import Thing

    ob, unit = find(context, name), metre(context.scene)
    track = np.tile(np.eye(4), (len(points), 1, 1))
    track[:, :3, :3] = np.array(ob.matrix_world.to_quaternion().to_matrix(), dtype=np.float64)
    track[:, :3, 3] = points - (0.0, 0.0, floor)
    half = 0.5 * unit * np.array(ob.dimensions, dtype=np.float64) if ob.type == "MESH" else np.zeros(3)
    return Thing(track, fps(context.scene), half)


def world_track(context: bpy.types.Context, track: Array, floor: float) -> tuple[Array, Array]:
    """Locations (T, 3) [units] and orientations (T, 4) of (T, 4, 4) ways of a prop over a floor [m]."""
    places = (track[:, :3, 3] + (0.0, 0.0, floor)) / metre(context.scene)
    return places, quat.from_matrix(track[:, :3, :3])


def styles_of(ob: Any, known: Mapping[str, Any], frames: Array, rate: float) -> dict[str, Any]:
    """Custom properties that are called like style parameters, as numbers or (times [s], values)."""
    out: dict[str, Any] = {}
    for key, value in properties_of(ob).items():
        if key in known and isinstance(value, (int, float)):
            values = keyed(ob, f'["{bpy.utils.escape_identifier(key)}"]', frames, below=True)
            out[key] = float(value) if values is None else ((frames - frames[0]) / rate, values)
    return out
