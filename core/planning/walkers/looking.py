"""What an actor of a cast sees with its own eyes: the world, and the others where they are now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kinematics import base
from ...skeleton import Array
from ...world import World
from ..senses.eyes import eye_at
from ..senses.scenery import Scenery, actor_body, scenery, with_bodies
from ..senses.vision import Sight, VisionParams, see
from .actors import State

EYE_HEIGHT = 1.6
"""Of eyes over the ground [m]."""
HEIGHT = 1.7
"""Of an actor as others see it [m]."""
PIXELS = 90
"""Width and height of what it sees."""
DOWN = 2.1
"""Height of the field of view: eyes move up and down without the head [rad]."""


def looked(state: State, world: World, name: str, view: float, range: float) -> Sight:
    """What somebody sees who looks straight ahead.

    Args:
        state: Of everybody.
        world: Around them.
        name: Of the cast, or of another actor in the world.
        view: Angle that it overlooks [rad].
        range: How far it sees [m].
    """
    x, y, heading = base_of(state, world, name)
    eyes = VisionParams(fov=view, fov_vertical=DOWN, range=range, pixels=PIXELS, recognition="pixel")
    eye = eye_at(np.array([x, y, state.chart.height(np.array([[x, y]]))[0] + EYE_HEIGHT]), heading)
    return see(_shapes(state, world), eye, eyes, state.clock, (name,))


def _shapes(state: State, world: World) -> Scenery:
    """The world with everybody in it; its things are prepared once a run."""
    kept = state.cast.shapes
    if kept.get("world") is not world:
        # only names count here, while eyes tell bodies apart by their ids
        things = tuple(replace(body, id=k) for k, body in enumerate(world.bodies))
        kept.update(world=world, shapes=scenery(World(things, world.fps)))
    names = (*state.cast.names, *(n for n in world.actors if state.cast.index(n) < 0))
    people = []
    for k, name in enumerate(names):
        at = base_of(state, world, name)
        ground = state.chart.height(at[None, :2])[0]
        own = state.cast.index(name)
        radius = float(state.cast.radius[own]) if own >= 0 else state.cast.params.radius
        people.append(actor_body(name, len(world.bodies) + k, at, radius, HEIGHT, float(ground)))
    out: Scenery = with_bodies(kept["shapes"], people)
    return out


def base_of(state: State, world: World, name: str) -> Array:
    """(3,) x, y [m] and heading [rad] of somebody of the cast, or of another actor in the world, now."""
    own = state.cast.index(name)
    if own >= 0:
        movers = state.movers
        return np.array([*movers.place[own], movers.heading[own]])
    motion = world.actors[name]
    track = motion.base if motion.base is not None else base.derive(motion)
    return np.array([np.interp(state.clock, motion.times, track[:, k]) for k in range(3)])
