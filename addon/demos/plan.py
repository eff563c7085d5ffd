"""A grand piano goes through a door that is too narrow for it; a robot takes a book from shelf to shelf."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.maths import quat
from ...core.planning.spaces.problems import L_BARS, L_WALLS, MAPS, PIANO, SIDE, piano_room
from ...core.planning.spaces.puma import shelves
from ...core.planning.spaces.set_pieces import box, lathe, placed
from ...core.world import Body
from ._set import body, choose, paint, paint_of, spot, view

BLACK, STEEL, ORANGE, BLUE = (0.12, 0.12, 0.14), (0.6, 0.65, 0.7), (0.9, 0.5, 0.2), (0.3, 0.45, 0.75)
LINKS = (
    ("column", 0.67, 0.07, "y", 160.0),
    ("shoulder", 0.43, 0.06, "x", 110.0),
    ("elbow", 0.43, 0.05, "x", 140.0),
    ("forearm", 0.10, 0.04, "y", 170.0),
    ("wrist", 0.08, 0.035, "x", 110.0),
    ("hand", 0.16, 0.03, "y", 170.0),
)
"""Bones of the robot from its foot on: name, length and half width [m], axis and limit either way [degrees]."""


def build(context: bpy.types.Context) -> None:
    """Take a grand piano from one room to the other: it has to be tilted to fit through the door."""
    context.scene.frame_set(1)
    for thing in piano_room().bodies:
        body(context, thing, paint(thing.kind))
    piano = _piece(context, "Piano", PIANO, (0.0, 0.0, -0.5), placed((-2.2, -0.8, 0.75)), BLACK)
    half = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), np.pi / 2))
    spot(context, "Goal", placed((2.2, 0.8, 0.75), half))
    choose(context, piano)
    bpy.ops.troupe.plan(mover="Piano", goal="Goal", room=0.8)
    _end(context, piano)


def camera(context: bpy.types.Context) -> None:
    """Look into both rooms from above."""
    view(context, (0.0, 0.3, 0.5), (-3.0, -5.0, 8.0), 36.0)


def robot(context: bpy.types.Context) -> None:
    """A robot with six hinges takes its hand from the middle shelf to the desk below it."""
    context.scene.frame_set(1)
    for thing in shelves().bodies:
        body(context, thing, paint(thing.kind))
    arm = _robot(context)
    for name, place in (("Shelf", (0.66, -0.15, 0.78)), ("Desk", (0.62, 0.12, 0.45))):
        spot(context, name, placed(place))
    choose(context, arm)
    bpy.ops.troupe.plan(mover=arm.name, goal="Shelf", orient=False)
    _end(context, arm)
    context.scene.frame_set(context.scene.frame_end + 6)
    bpy.ops.troupe.plan(mover=arm.name, goal="Desk", orient=False)
    _end(context, arm)
    context.scene.frame_set(1)


def gates(context: bpy.types.Context) -> None:
    """An L on the level, through two gates narrower than it is long."""
    context.scene.frame_set(1)
    for k, (x0, y0, x1, y1) in enumerate(L_WALLS):
        half, middle = (5 * (x1 - x0), 5 * (y1 - y0), 0.5), (5 * (x0 + x1), 5 * (y0 + y1), 0.5)
        body(context, box(f"Wall {k}", half, middle), paint("obstacle"))
    bars = tuple((5 * (a + c), 5 * (b + d), 0.2, 5 * (c - a), 5 * (d - b), 0.2) for a, b, c, d in L_BARS)
    ell = _piece(context, "L", bars, (0.0, 0.0, -0.0), placed((1.2, 1.5, 0.02)), ORANGE)
    spot(context, "Goal", placed((8.2, 8.0, 0.02), quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), np.pi / 2))))
    choose(context, ell)
    bpy.ops.troupe.plan(mover="L", goal="Goal", moves="floor", room=1.0, speed=2.0)
    _end(context, ell)


def maze(context: bpy.types.Context) -> None:
    """A square that does not turn, around the ends of walls that stand in its way by turns."""
    context.scene.frame_set(1)
    border = ((-0.05, -0.05, 0, 1.05), (1, -0.05, 1.05, 1.05), (0, -0.05, 1, 0), (0, 1, 1, 1.05))
    for k, (x0, y0, x1, y1) in enumerate((*MAPS["twisty"], *border)):
        half, middle = (5 * (x1 - x0), 5 * (y1 - y0), 0.3), (5 * (x0 + x1), 5 * (y0 + y1), 0.3)
        body(context, box(f"Wall {k}", half, middle), paint("obstacle"))
    size = 5 * SIDE
    square = _piece(
        context, "Square", ((0.0, 0.0, size, size, size, size),), (0, 0, 0), placed((0.6, 0.6, 0.02)), ORANGE
    )
    spot(context, "Goal", placed((9.4, 9.4, 0.02)))
    choose(context, square)
    bpy.ops.troupe.plan(mover="Square", goal="Goal", moves="slide", lift=0.0, room=0.01, speed=5.0)
    _end(context, square)


def tool(context: bpy.types.Context) -> None:
    """A spanner out of its box and into the housing of a wheel, past the spokes."""
    context.scene.frame_set(1)
    for k, (half, place) in enumerate(_walls((0.3, 0.12, 0.1), (-0.6, 0.0, 0.1))):
        body(context, box(f"Box {k}", half, place), paint("obstacle"))
    outline = [(0.0, 0.0), (0.36, 0.0), (0.36, 0.2), (0.33, 0.2), (0.33, 0.02), (0.0, 0.02)]
    vertices, faces = lathe(outline, 64)
    turn = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), -np.pi / 2))
    body(context, Body("Wheel", 0, vertices, faces, placed((0.6, 0.0, 0.4), turn)[None]), paint("obstacle"))
    for k in range(3):
        angle = 2.0 * np.pi * k / 3 + 0.9
        spoke = quat.to_matrix(quat.about(np.array([1.0, 0.0, 0.0]), angle))
        place = np.array((0.46, 0.0, 0.4)) + spoke @ (0.0, 0.0, 0.18)
        body(context, box(f"Spoke {k}", (0.015, 0.02, 0.16), place, spoke), paint("obstacle"))
    jaws = tuple((0.13, y, 0.0, 0.03, 0.01, 0.006) for y in (-0.022, 0.022))
    parts = ((0.0, 0.0, 0.0, 0.11, 0.012, 0.006), *jaws)
    spanner = _piece(context, "Spanner", parts, (0.0, 0.0, 0.0), placed((-0.6, 0.0, 0.03)), ORANGE)
    side = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), np.pi / 2))
    spot(context, "Goal", placed((0.53, -0.1, 0.4), side))
    choose(context, spanner)
    bpy.ops.troupe.plan(mover="Spanner", goal="Goal", room=0.5, speed=0.5, margin=0.002)
    _end(context, spanner)


def _walls(half: tuple[float, float, float], middle: tuple[float, float, float]) -> list[Any]:
    """Half sizes and places of floor and sides of an open box."""
    a, b, c = half
    x, y, z = middle
    thick = 0.01
    return [
        ((a, b, thick), (x, y, z - c + thick)),
        ((thick, b, c), (x - a + thick, y, z)),
        ((thick, b, c), (x + a - thick, y, z)),
        ((a, thick, c), (x, y - b + thick, z)),
        ((a, thick, c), (x, y + b - thick, z)),
    ]


def _piece(context: bpy.types.Context, name: str, parts: Any, shift: Any, matrix: Any, colour: Any) -> Any:
    """One thing of several boxes, each middle and half size [m]."""
    rows = [box(name, part[3:], (0.0, 0.0, 0.0)) for part in parts]
    vertices = np.concatenate(
        [row.vertices + np.array(part[:3]) + shift for row, part in zip(rows, parts, strict=True)]
    )
    faces = np.concatenate([row.triangles + 8 * k for k, row in enumerate(rows)])
    whole = Body(name, 0, vertices, faces, np.array(matrix)[None], "prop")
    return body(context, whole, paint_of(f"Set {name}", colour))


def _robot(context: bpy.types.Context) -> Any:
    """An armature of hinges, with a box on each bone."""
    data = bpy.data.armatures.new("Robot")
    arm = bpy.data.objects.new("Robot", data)
    context.collection.objects.link(arm)
    choose(context, arm)
    bpy.ops.object.mode_set(mode="EDIT")
    height, above = 0.0, None
    for name, length, _, _, _ in LINKS:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, height), (0.0, 0.0, height + length)
        bone.parent, bone.use_connect = above, above is not None
        height, above = height + length, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, length, wide, axis, limit in LINKS:
        bone = arm.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for k, other in enumerate("xyz"):
            setattr(bone, f"lock_ik_{other}", other != axis)
            bone.lock_rotation[k] = other != axis
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", -np.radians(limit))
        setattr(bone, f"ik_max_{axis}", np.radians(limit))
        part = body(
            context,
            box(f"Robot {name}", (wide, 0.46 * length, wide), (0, 0, 0)),
            paint_of(f"Set robot {axis}", ORANGE if axis == "x" else STEEL),
        )
        part.parent, part.parent_type, part.parent_bone = arm, "BONE", name
        part.location = (0.0, -0.5 * length, 0.0)
    arm.pose.bones["shoulder"].rotation_euler.x = np.radians(40.0)
    arm.pose.bones["elbow"].rotation_euler.x = np.radians(100.0)
    context.view_layer.update()
    return arm


def _end(context: bpy.types.Context, mover: Any) -> None:
    ends = [s.frame_end for t in mover.animation_data.nla_tracks for s in t.strips]
    context.scene.frame_start, context.scene.frame_end = 1, int(max(ends))


def _near(context: bpy.types.Context) -> None:
    """Look at what stands on the floor before a robot."""
    view(context, (0.3, 0.0, 0.8), (-1.4, -2.7, 1.9))


def _above(context: bpy.types.Context) -> None:
    """Look down on the gates."""
    view(context, (5.0, 4.8, 0.0), (5.0, -3.0, 19.0), 36.0)


def _before(context: bpy.types.Context) -> None:
    """Look at the box and into the wheel."""
    view(context, (0.0, 0.0, 0.3), (-0.9, -2.2, 1.3), 38.0)


VARIANTS = {"robot": (robot, _near), "gates": (gates, _above), "maze": (maze, _above), "tool": (tool, _before)}
