"""Carrying while the body does something else: arms keep a prop in a posture before or beside a trunk that moves.

The prop rides on a frame that goes with the shoulders but turns only about the vertical, and from which the bobbing and
swaying of the gait is taken, so that what is in a cup stays there. Arms follow by inverse kinematics; where a wrist is
at its limit the prop tilts. Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.5: a held object moves
rigidly with the hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...errors import InvalidParam
from ...kinematics.fingers import finger_joints
from ...maths import quat
from ...motion import Event, Motion
from ...performance import Attachment, Performance
from ...skeleton import SIDES, Array, Pose
from ...world import Body, World
from .holding import hand_matrix
from .orders import CarryParams
from .ride import Ride
from .stages import Holding, between

__all__ = ["CarryParams", "carry"]


def carry(
    motion: Motion,
    held: Holding | Sequence[Holding],
    params: CarryParams | None = None,
    *,
    bodies: Mapping[str, Body] | None = None,
    world: World | None = None,
    actor: str = "actor",
    start: Pose | None = None,
) -> Performance:
    """Carry one thing in a hand, one in each hand, or one with both, through a motion of the whole body.

    Args:
        motion: T samples; what the body does.
        held: What is in which hand; one prop twice, on either side, is held with both.
        params: How.
        bodies: By name the props, so that they are kept out of the body.
        world: What props are lifted over where it is under them: tables, and what stands on them.
        actor: Its name.
        start: The pose in which it is held at the beginning; None for the first of the motion.

    Returns:
        The motion with a mask of the arms and fingers that carry, matrices of the props, and who holds them.
    """
    params = params or CarryParams()
    holdings = (held,) if isinstance(held, Holding) else tuple(held)
    groups = _groups(holdings, params)
    rotations = np.array(motion.rotations)
    mask = np.zeros(len(motion.skeleton), dtype=bool)
    props: dict[str, Array] = {}
    attachments: list[Attachment] = []
    held_now = {h.prop for h in holdings}
    under = tuple(b for b in (() if world is None else world.bodies) if b.name not in held_now)
    ride = Ride(motion, params, start or motion.pose(0), World(under))
    for group in groups:
        body = (bodies or {}).get(group[0].prop)
        arms = ride.arms(group, body)
        rotations[:, arms.joints] = arms.rotations
        for holding in group:
            fingers = finger_joints(motion.skeleton, holding.side)
            rotations[:, fingers] = holding.fingers[fingers]
            mask[[*arms.joints.ravel(), *fingers]] = True
    rotations = quat.continuous(rotations)
    for group in groups:
        frames = [hand_matrix(motion.skeleton, rotations, motion.roots, h.side) @ h.offset for h in group]
        props[group[0].prop] = frames[0] if len(frames) == 1 else between(frames[0], frames[1])
        for h in group:
            joint = motion.skeleton.names[motion.skeleton.joint(f"hand_{h.side}")]
            attachments.append(Attachment(h.prop, actor, joint, 0.0, motion.duration))
    events = tuple(Event(0.0, "contact_on", {"part": f"hand_{h.side}", "prop": h.prop}) for h in holdings)
    out = replace(motion, rotations=rotations, mask=mask, events=(*motion.events, *events))
    note = {"time": 0.0, "actor": actor, "what": "carry", "why": {"posture": params.posture, "props": sorted(props)}}
    return Performance({actor: out}, props, tuple(attachments), out.events, (note,))


def _groups(holdings: tuple[Holding, ...], params: CarryParams) -> list[tuple[Holding, ...]]:
    """What is held, prop by prop, the left hand first."""
    if not holdings or len({h.side for h in holdings}) < len(holdings):
        raise InvalidParam("held", [h.side for h in holdings], "must be one thing for a hand at most, and one at least")
    order = sorted(holdings, key=lambda h: SIDES.index(h.side))
    out = [tuple(h for h in order if h.prop == name) for name in dict.fromkeys(h.prop for h in order)]
    if params.lower > 0 and any(len(group) == 2 for group in out):
        raise InvalidParam("lower", params.lower, "must be 0 for what both hands hold: put it down instead")
    return out
