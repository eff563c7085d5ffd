"""The world as an actor believes it to be, to plan in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...world import Body, World
from .memory import Memory, MemoryParams, Observation, same_place


def recalled_world(
    memory: Memory,
    world: World,
    time: float | None = None,
    params: MemoryParams | None = None,
    trust: Mapping[int, float] | None = None,
) -> World:
    """The world as an actor believes it to be: remembered bodies where they were last seen, and nothing else.

    Unknown space is empty, so plans lead through it. Bodies that have not moved are the very ones of `world`.

    Args:
        memory: What is known.
        world: Gives the rate, and the ground if that is known beforehand.
        time: Until when ignored observations are ignored [s]; None for the last look.
        params: Whether the ground is known, what doubtful bodies cost.
        trust: Key to trust 0..1, of `recollection.trusts`; None to trust everything.
    """
    params = params or MemoryParams()
    now = memory.time if time is None else time
    bodies: list[Body] = []
    taken: set[str] = set()
    if params.ground_known:
        bodies = [body for body in world.bodies if body.kind == "ground"]
        taken = {body.name for body in bodies}
    for key in sorted(memory.observations):
        o = memory.observations[key]
        sure = 1.0 if trust is None else trust.get(key, 1.0)
        if not o.valid or memory.ignored.get(key, -np.inf) > now or sure <= (params.least_trust if trust else 0.0):
            continue
        if o.kind == "ground" and params.ground_known:
            continue
        body = _believed(o, sure, params)
        if body.name in taken:
            body = replace(body, name=f"{body.name}@{key}")
        taken.add(body.name)
        bodies.append(body)
    return replace(world, bodies=tuple(bodies), actors={})


def _believed(o: Observation, sure: float, params: MemoryParams) -> Body:
    tags = o.properties
    if sure < 1.0 and params.doubt_cost > 0:
        tags = tags | {f"cost={1.0 + params.doubt_cost * sure:.6g}"}
    still = len(o.shape.matrices) == 1 and same_place(o.shape.matrices[0], o.matrix)
    if still and not o.anonymous and tags == o.shape.tags:
        return o.shape
    return replace(o.shape, matrices=o.matrix[None], kind=o.kind, tags=tags)
