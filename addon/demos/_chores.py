"""Somebody tidies up and waits at tables by what it sees: what a whole shift in the dining room comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ...core.performance import Performance
from ...core.planning.hands.chores import ChoreParams, Shift, clean, serve
from ...core.planning.hands.orders import ReachParams
from ...core.planning.hands.task import Job
from ...core.planning.hands.workplaces import dining_room
from ...core.skeleton import Array
from ...core.world import World
from .. import bake, rig
from .. import scene as scenery
from ..bake import holding
from ._set import body, choose, end_with, paint_of, posed, spot, view

WOOD, FLOOR, WHITE, ORANGE = (0.72, 0.55, 0.38), (1.0, 0.98, 0.93), (0.95, 0.93, 0.85), (0.95, 0.5, 0.15)
COLOURS = {"floor": FLOOR, "cup": WHITE, "can": ORANGE}
Work = Callable[[Shift, tuple[str, ...], tuple[Array, ...]], object]


def tidy(context: bpy.types.Context) -> None:
    """Walk into the room, see a can among the cups, and carry it to the sideboard."""
    _shift(context, lambda shift, litter, spots: clean(shift, litter, spots, [np.array([0.0, -0.4])]))


def waiter(context: bpy.types.Context) -> None:
    """Attend to the cup on each table, and break off to clean where a can is seen."""
    _shift(context, lambda shift, litter, spots: serve(shift, ("cup one", "cup two"), litter, spots))


def camera(context: bpy.types.Context) -> None:
    """Look at both tables and the sideboard."""
    view(context, (-0.05, -0.9, 0.9), (0.5, -6.2, 2.5), 42.0)


def _shift(context: bpy.types.Context, work: Work) -> None:
    """Build the room, let somebody work in it, and write down what came of it."""
    context.scene.frame_set(1)
    skeleton, pose, world, litter, spots = dining_room()
    for thing in world.bodies:
        word = thing.name.split()[0]
        body(context, thing, paint_of(f"Set {word}", COLOURS.get(word, WOOD)))
    for k, place in enumerate(spots):
        spot(context, f"Away {k + 1}", place)
    bpy.ops.troupe.mannequin()
    actor = context.object
    posed(context, actor, skeleton, pose)
    cast = rig.read(actor, context)
    here = bake.start_here(actor, cast, context)
    job = Job(cast.skeleton, here.here.pose(0), world, ReachParams(), scenery.fps(context.scene), actor.name)
    shift = Shift(job, ChoreParams())
    work(shift, litter, spots)
    _write(context, actor, cast, shift.performance(), world)
    choose(context, actor)
    end_with(context, actor)
    context.scene.frame_set(1)


def _write(context: bpy.types.Context, actor: Any, cast: Any, done: Performance, world: World) -> None:
    """Key the actor, and let each prop follow the hand from where it is taken to where it is left."""
    motion = done.motions[actor.name]
    first = context.scene.frame_current
    bake.write(actor, bake.prepare(actor, cast, motion, context, first), context, f"{actor.name} at work")
    for name, way in done.props.items():
        held = [a for a in done.attachments if a.prop == name]
        taken, released = (first + round(t * motion.fps) for t in (held[0].start, held[-1].end))
        tie = f"{actor.name} {name}"
        hold = holding.Hold(tie, actor.name, held[0].joint, float(first), float(taken), float(released), way[-1], tie)
        holding.write_hold(bpy.data.objects[name], hold, context)
