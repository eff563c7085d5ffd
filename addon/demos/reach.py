"""At a laid table a bottle is taken through the glasses to another place; hands touch, point, take and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...core.planning.hands.chess import Position, at_the_board, goal_of
from ...core.planning.hands.workplaces import CONTROLS, driving_seat, pot_scene, wheel_housing
from ...core.planning.spaces.problems import bottle_scene
from ...core.planning.spaces.set_pieces import bottle, box
from ...core.skeleton import Pose, Skeleton
from ...core.world import World
from ._set import at_ease, body, choose, company, end_with, paint_of, posed, spot, view

GLASS, WOOD, GREEN = (0.75, 0.85, 0.9), (0.72, 0.55, 0.38), (0.2, 0.5, 0.3)
WHITE, BLACK = (0.95, 0.93, 0.85), (0.2, 0.18, 0.17)


def build(context: bpy.types.Context) -> None:
    """Seat an actor at a table with a bottle among glasses, and let it move the bottle."""
    actor = seated(context)
    bpy.ops.troupe.reach(task="move", target="bottle", destination="There")
    end_with(context, actor)


def camera(context: bpy.types.Context) -> None:
    """Look across the table from the side of the hand."""
    view(context, (-0.02, -0.3, 0.96), (-1.1, -1.95, 1.5))


def seated(context: bpy.types.Context) -> Any:
    """Somebody at a laid table, with an empty where the bottle may go."""
    context.scene.frame_set(1)
    skeleton, pose, world, there = bottle_scene()
    for thing in world.bodies:
        colour = {"bottle": GREEN, "table": WOOD, "seat": WOOD}.get(thing.name, GLASS)
        body(context, thing, paint_of(f"Set {thing.name.split()[0]}", colour))
    spot(context, "There", there)
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    choose(context, actor)
    return actor


def still(context: bpy.types.Context) -> None:
    """Point at the bottle, touch a glass, take the bottle and put it back."""
    actor = seated(context)
    for step in (
        {"task": "point", "target": "bottle"},
        {"task": "touch", "target": "glass"},
        {"task": "pick_up", "target": "bottle"},
        {"task": "put_back"},
    ):
        bpy.ops.troupe.reach(**step)
        end_with(context, actor)
        context.scene.frame_set(context.scene.frame_end + 6)
    context.scene.frame_set(1)


def chess(context: bpy.types.Context) -> None:
    """A pawn takes another, which is cleared first, and a knight moves out: each into the middle of its square."""
    context.scene.frame_set(1)
    position = Position()
    near = {s: name for s, name in position.pieces.items() if s[1] in "12" and s not in ("e2", "c2")}
    position.pieces = {**near, "e3": "white pawn e", "c2": "white pawn c", "d4": "black pawn d"}
    skeleton, pose, world, board = at_the_board(position=position)
    for thing in world.bodies:
        dark = thing.name.startswith("black")
        colour = WHITE if thing.name.startswith("white") else BLACK if dark else WOOD
        body(context, thing, paint_of(f"Set {thing.name.split()[0]}", colour))
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    choose(context, actor)
    for move in ("e3d4", "g1f3"):
        for carry in position.play(move):
            spot(context, f"{carry.piece} to {carry.to}", goal_of(carry, board))
            bpy.ops.troupe.reach(task="move", target=carry.piece, destination=f"{carry.piece} to {carry.to}", speed=1.5)
            end_with(context, actor)
            context.scene.frame_set(context.scene.frame_end)
    context.scene.frame_set(1)


def controls(context: bpy.types.Context) -> None:
    """At the wheel of a car: the wheel, a lever and a switch are touched one after the other."""
    actor = _workplace(context, *driving_seat())
    for name in CONTROLS:
        bpy.ops.troupe.reach(task="touch", target=name, hold=0.2, step=False)
        end_with(context, actor)
        context.scene.frame_set(context.scene.frame_end)
    context.scene.frame_set(1)


def housing(context: bpy.types.Context) -> None:
    """A tool out of an open box and through a narrow opening into the housing of a tractor's wheel."""
    skeleton, pose, world, there = wheel_housing()
    actor = _workplace(context, skeleton, pose, world)
    spot(context, "There", there)
    bpy.ops.troupe.reach(task="move", target="tool", destination="There", step=False)
    end_with(context, actor)


def pot(context: bpy.types.Context) -> None:
    """A pot that is in sight is taken to another place."""
    skeleton, pose, world, there = pot_scene()
    actor = _workplace(context, skeleton, pose, world)
    spot(context, "There", there)
    bpy.ops.troupe.reach(task="move", target="pot", destination="There", sighted=True)
    end_with(context, actor)


def sought(context: bpy.types.Context) -> None:
    """A panel hides the pot: it is looked for, all around and behind the panel, and then put beside it."""
    skeleton, pose, world, there = pot_scene(hidden=True)
    there[0, 3] += 0.14
    floor = box("floor", (2.0, 2.0, 0.02), (0.0, -0.4, -0.02), kind="ground", number=1 + len(world.bodies))
    legs = [box(f"leg {x}", (0.03, 0.15, 0.43), (x, -0.5, 0.43), number=20 + k) for k, x in enumerate((-0.4, 0.4))]
    actor = _workplace(context, skeleton, pose, World((*world.bodies, floor, *legs)))
    spot(context, "There", there)
    bpy.ops.troupe.reach(task="move", target="pot", destination="There", search=True)
    end_with(context, actor)


def _workplace(context: bpy.types.Context, skeleton: Skeleton, pose: Pose, world: World) -> Any:
    """Somebody in a pose among things."""
    context.scene.frame_set(1)
    for thing in world.bodies:
        colour = GREEN if thing.kind == "prop" or thing.name in CONTROLS else WOOD if "table" in thing.name else GLASS
        body(context, thing, paint_of(f"Set {thing.name.split()[0]}", colour))
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    choose(context, actor)
    return actor


def give(context: bpy.types.Context) -> None:
    """One takes a bottle from a table and hands it to another."""
    body(context, box("Table", (0.25, 0.25, 0.02), (-0.6, -0.35, 0.93)), paint_of("Set table", WOOD))
    anna, ben = _couple(context, (-0.42, -0.35, 0.95))
    bpy.ops.troupe.reach(task="pick_up", target="bottle", hand="R")
    end_with(context, anna)
    context.scene.frame_set(context.scene.frame_end)
    bpy.ops.troupe.reach(task="hand_over", destination="Ben")
    end_with(context, anna, ben)
    context.scene.frame_set(1)


def fetch(context: bpy.types.Context) -> None:
    """One takes a bottle from the floor, gets up and hands it to another."""
    anna, ben = _couple(context, (-0.3, -0.35, 0.0))
    bpy.ops.troupe.reach(task="hand_over", target="bottle", destination="Ben")
    end_with(context, anna, ben)
    context.scene.frame_set(1)


def _couple(context: bpy.types.Context, place: tuple[float, ...]) -> tuple[Any, Any]:
    """Two who face each other, the first of them chosen, and a bottle at a place (3,)."""
    context.scene.frame_set(1)
    body(context, bottle("bottle", place, sides=48), paint_of("Set bottle", GREEN))
    cast = company(context, {"Anna": (0.0, 0.0, 0.0), "Ben": (0.0, -0.95, np.pi)})
    anna, ben = cast.values()
    context.view_layer.update()
    for actor in (anna, ben):
        at_ease(context, actor)
    choose(context, anna)
    return anna, ben


def _sight(at: tuple[float, ...], eye: tuple[float, ...]) -> Callable[[bpy.types.Context], None]:
    """A camera that looks from `eye` at `at` [m]."""
    return lambda context: view(context, at, eye)


VARIANTS = {
    "still": (still, camera),
    "chess": (chess, _sight((0.0, -0.35, 0.85), (-1.3, -1.6, 1.7))),
    "controls": (controls, _sight((-0.05, -0.3, 0.85), (-2.1, -0.75, 1.75))),
    "housing": (housing, _sight((-0.05, -0.35, 1.2), (-1.75, 0.75, 2.0))),
    "pot": (pot, _sight((-0.1, -0.25, 1.2), (-1.3, -2.0, 1.7))),
    "sought": (sought, _sight((-0.2, -0.2, 0.9), (-4.6, -2.2, 2.4))),
    "give": (give, _sight((-0.1, -0.45, 1.2), (-2.8, -0.45, 1.6))),
    "fetch": (fetch, _sight((-0.1, -0.45, 0.9), (-2.9, -0.45, 1.4))),
}
