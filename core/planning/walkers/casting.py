"""Make a cast of those who were told to go somewhere.

setup = actor_setup(params, base, skeleton, everybody)       # one actor, told what to do by its parameters
state = begin(world, {"Anna": setup}, everybody, places)
while not over(state, ...): state = step(state, world)       # of `ending` and `navigate`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...gait.travel import TravelParams
from ...gait.walking import WalkStyle
from ...maths import trig
from ...params import declared
from ...skeleton import Array, Pose, Skeleton
from .actors import ActorSetup, NavigateParams, Style
from .follow import FollowParams, Steering
from .going import Going, GotoParams, QueueParams


def gathered(told: Mapping[str, Going], bases: Mapping[str, Array], centres: Mapping[str, Array]) -> dict[str, Going]:
    """The same orders, with a place of its own for each of those who are sent to one and the same.

    Args:
        told: What each is told, by name.
        bases: (3,) where each stands [m].
        centres: (2,) where each is sent, by name; those who are sent nowhere are left out [m].
    """
    out = dict(told)
    groups: dict[tuple[float, float], list[str]] = {}
    for name, centre in centres.items():
        own = told[name]
        if isinstance(own, QueueParams) or (isinstance(own, GotoParams) and not any(own.offset) and own.stop == 0.0):
            groups.setdefault((float(centre[0]), float(centre[1])), []).append(name)
    for middle, names in groups.items():
        if len(names) < 2:
            continue
        # everybody comes to stand on the side it comes from
        off = np.array([bases[n][:2] for n in names]) - middle
        order = [names[k] for k in np.argsort(trig.arctan2(off[:, 1], off[:, 0]), kind="stable")]
        room = 2.0 * max(told[n].radius for n in names) + 0.3
        ring = max(room / 2.0, room * len(names) / (2.0 * np.pi))
        first = float(np.arctan2(*(np.array(bases[order[0]][:2]) - middle)[::-1]))
        for k, name in enumerate(order):
            angle = first + 2.0 * np.pi * k / len(order)
            aside = (ring * float(np.cos(angle)), ring * float(np.sin(angle)))
            own = told[name]
            if isinstance(own, QueueParams):
                out[name] = replace(own, leave=(middle[0] + aside[0], middle[1] + aside[1], 0.0))
            elif isinstance(own, GotoParams):
                out[name] = replace(own, offset=aside)
    return out


def common(told: Sequence[Going], lead: Going, floor: float = 0.0, ceiling: float = 1e5) -> NavigateParams:
    """What holds for a whole cast: speed and radius are the greatest, everything else is as its lead has it.

    Args:
        told: Parameters of everybody.
        lead: Parameters of the one who decides.
        floor: Height of the floor where nothing is ground [m].
        ceiling: Ground above this is another storey's [m].
    """
    return NavigateParams(
        speed=max(t.speed for t in told),
        radius=max(t.radius for t in told),
        seconds=lead.seconds,
        seed=lead.seed,
        others=lead.others,
        prediction=lead.prediction,
        room=lead.room,
        replan=lead.replan,
        guard=lead.guard,
        faithful=lead.faithful,
        map=lead.chart(floor, ceiling),
    )


def actor_setup(
    params: Going,
    base: Array,
    skeleton: Skeleton,
    everybody: NavigateParams,
    start: Pose | None = None,
    walk: WalkStyle | None = None,
) -> ActorSetup:
    """One actor of a cast.

    Args:
        params: What it is told and how it goes.
        base: (3,) where it stands: x, y [m], heading [rad].
        skeleton: Of the actor.
        everybody: What holds for the whole cast.
        start: Pose at the start; None for the stand of its gait.
        walk: How it walks; None for the preset that its parameters name.
    """
    gait = TravelParams(gait=params.gait, style=params.style)
    if walk is not None:
        gait = replace(gait, walk=walk)
    style = Style(
        pace=max(0.1, params.speed / everybody.speed),
        priority=params.priority,
        radius=params.radius,
        follow=FollowParams(**{p.name: getattr(params, p.name) for p in declared(Steering)}),
        travel=gait,
    )
    return ActorSetup(base, params, skeleton, style, start)
