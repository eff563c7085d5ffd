"""Characters of another size, seen as people: lengths shrink with their legs, times with the square root of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...motion import Motion, Path
from ...performance import Performance
from ...skeleton import Array, Skeleton
from ...world import Body, World

LEG = 0.9
"""Length of the legs of a person [m]."""
PEOPLE = (0.2, 2.0)
"""Legs of this length belong to people as they are [m]."""


def size_of(skeleton: Skeleton) -> float:
    """How many times as large as a person a character is; 1 for all who may be people."""
    leg = skeleton.leg_length()
    return 1.0 if PEOPLE[0] <= leg <= PEOPLE[1] else leg / LEG


def shrunk(world: World, size: float) -> World:
    """A world in which one of a size is as large as a person, and as quick."""
    if size == 1.0:
        return world
    actors = {name: shrunk_motion(motion, size) for name, motion in world.actors.items()}
    return World(tuple(_shrunk_body(b, size) for b in world.bodies), world.fps * float(np.sqrt(size)), actors)


def shrunk_paths(paths: Mapping[str, Path], size: float) -> dict[str, Path]:
    """Places in that world."""
    quick = float(np.sqrt(size))
    return {
        name: Path(p.points / size, p.axes, None if p.times is None else p.times / quick) for name, p in paths.items()
    }


def _shrunk_body(body: Body, size: float) -> Body:
    matrices = body.matrices.copy()
    matrices[:, :3, 3] /= size
    return replace(body, vertices=body.vertices / size, matrices=matrices)


def shrunk_motion(motion: Motion, size: float) -> Motion:
    """What a character does in that world; its skeleton stays as it is."""
    base = None if motion.base is None else motion.base / (size, size, 1.0)
    return replace(motion, fps=motion.fps * float(np.sqrt(size)), roots=motion.roots / size, base=base)


def shrunk_skeleton(skeleton: Skeleton, size: float) -> Skeleton:
    """A character of a size as a person."""
    if size == 1.0:
        return skeleton
    flesh = None if skeleton.flesh is None else skeleton.flesh / size
    return replace(skeleton, offsets=skeleton.offsets / size, tips=skeleton.tips / size, flesh=flesh)


def grown(performance: Performance, skeleton: Skeleton, size: float, fps: float) -> Performance:
    """What a character did as a person, as one of its own size, sampled at `fps` [Hz] as often as it was."""
    slow = float(np.sqrt(size))
    motions = {}
    for name, motion in performance.motions.items():
        base = None if motion.base is None else motion.base * (size, size, 1.0)
        events = tuple(replace(e, time=e.time * slow) for e in motion.events)
        motions[name] = replace(motion, skeleton=skeleton, fps=fps, roots=motion.roots * size, base=base, events=events)
    props = {name: matrices * _lengths(size) for name, matrices in performance.props.items()}
    attachments = tuple(replace(a, start=a.start * slow, end=a.end * slow) for a in performance.attachments)
    events = tuple(replace(e, time=e.time * slow) for e in performance.events)
    return replace(performance, motions=motions, props=props, attachments=attachments, events=events)


def _lengths(size: float) -> Array:
    """(4, 4) by which a matrix is multiplied number by number so that its place grows."""
    out = np.ones((4, 4))
    out[:3, 3] = size
    return out
