"""Props in hands: a Child Of constraint whose keyed influence lets a prop follow a hand from one frame to another.

What belongs to one result shares its number: the constraint it made on the prop, and the strip that keys influence and
place. A prop that is taken stays where it is until then, follows the hand without a jump, and stays where it is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.skeleton import Array
from . import curves, nla
from .curves import Channel
from .pose import ROTATION_CHANNEL, rotation_values
from .things import _parent

OWNER = "troupe_hold"
"""Custom property of the action on a prop: who made it."""
GROUP = "Held"


@dataclass(frozen=True, eq=False)
class Hold:
    """How one result moves a prop.

    Attributes:
        owner: Tells results of all actors apart.
        actor, bone: Names of the armature and of its bone that holds.
        first: Frame at which the result begins.
        taken: Frame from which the hand holds the prop; None where it held it before.
        released: Frame at which it lets go; None where it holds on.
        left: (4, 4) where the prop is then, in the world; None where it holds on.
        tie: Name of the constraint.
    """

    owner: str
    actor: str
    bone: str
    first: float
    taken: float | None
    released: float | None
    left: Array | None
    tie: str


def write_hold(prop: bpy.types.Object, hold: Hold, context: bpy.types.Context, lead: Any = None) -> bpy.types.Action:
    """Let a prop be held; what an earlier writing of the same result did to any prop goes.

    Args:
        prop: What is held.
        hold: How; its frames are those of the result's own action.
        context: For the scene.
        lead: The strip of the result, with which the prop's plays; None where it plays at its own frames.
    """
    drop(hold.owner, prop, hold.tie)
    return _written(prop, hold, context, lead)


def write_holds(owner: str, holds: Mapping[str, Hold], context: bpy.types.Context, lead: Any = None) -> None:
    """Let several props be held, by name; what an earlier writing of the same result did goes."""
    drop(owner)
    for name, hold in holds.items():
        _written(bpy.data.objects[name], hold, context, lead)


def _written(prop: bpy.types.Object, hold: Hold, context: bpy.types.Context, lead: Any) -> bpy.types.Action:
    alone = not nla.animated_paths(prop)
    stage = context.scene
    frame, subframe = stage.frame_current, stage.frame_subframe
    turn = ROTATION_CHANNEL.get(prop.rotation_mode, "rotation_euler")
    try:
        _go(stage, hold.first if lead is None else nla.shown_at(lead, hold.first))
        before = [np.array(prop.location, dtype=np.float64), np.array(getattr(prop, turn), dtype=np.float64)]
        if hold.taken is not None:
            _go(stage, hold.taken if lead is None else nla.shown_at(lead, hold.taken))
            _tie(prop, hold, context)
    finally:
        stage.frame_set(frame, subframe=subframe)
    held_before = hold.taken is None or hold.taken <= hold.first
    frames, influence, rows = [hold.first], [1.0 if held_before else 0.0], [before]
    if hold.taken is not None and not held_before:
        frames.append(hold.taken)
        influence.append(1.0)
        rows.append(before)
    if hold.released is not None and hold.left is not None:
        frames.append(max(hold.released, frames[-1] + 1.0))
        influence.append(0.0)
        rows.append(_placed(prop, hold.left))
    at = np.array(frames)
    path = f'constraints["{bpy.utils.escape_identifier(hold.tie)}"].influence'
    keyed = [
        Channel("location", np.stack([row[0] for row in rows]), "Object Transforms", "CONSTANT", at),
        Channel(turn, np.stack([row[1] for row in rows]), "Object Transforms", "CONSTANT", at),
        Channel(path, np.array(influence)[:, None], GROUP, "CONSTANT", at),
    ]
    action = bpy.data.actions.new(f"{prop.name} held")
    curves.write(curves.bag(prop, action), keyed, at)
    action[OWNER] = hold.owner
    strip = nla.land(prop, action)
    if strip is not None and alone:
        strip.extrapolation = "HOLD"  # before it nothing else says where the prop is
    if strip is not None and lead is not None:
        nla.play_with(strip, lead)
    return action


def astray(owner: str, props: Iterable[str], lead: Any) -> list[Any]:
    """The strips by which a result moves props that do not play when its own strip, `lead`, does."""
    out = []
    for prop in props:
        ob = bpy.data.objects.get(prop)
        data = ob.animation_data if ob is not None else None
        for strip in (s for t in data.nla_tracks for s in t.strips) if data is not None else ():
            own = strip.action is not None and strip.action.get(OWNER) == owner
            if own and not nla.plays_with(strip, lead):
                out.append(strip)
    return out


def drop(owner: str, but: bpy.types.Object | None = None, tie: str = "") -> None:
    """Take away what a result did to props, which are then where they were before; the tie of one may stay."""
    for ob in bpy.data.objects:
        data, first = ob.animation_data, False
        for track in list(data.nla_tracks) if data else ():
            for strip in [s for s in track.strips if s.action is not None and s.action.get(OWNER) == owner]:
                action = strip.action
                first = first or strip.extrapolation == "HOLD"
                _put_back(ob, action)
                track.strips.remove(strip)
                if action.users == 0:
                    bpy.data.actions.remove(action)
        if data is not None:
            nla.drop_empty(data)
        if first and (rest := [s for t in data.nla_tracks for s in t.strips]):
            min(rest, key=lambda s: float(s.frame_start)).extrapolation = "HOLD"  # now it is the first
        found = ob.constraints.get(owner)
        if found is not None and not (ob == but and owner == tie):
            ob.constraints.remove(found)


def _put_back(ob: bpy.types.Object, action: bpy.types.Action) -> None:
    """Give the properties that an action keys the values of their first keys."""
    bag = curves.bag(ob, action, create=False)
    found: dict[str, dict[int, float]] = {}
    for (path, index), curve in (curves.read(bag) if bag is not None else {}).items():
        found.setdefault(path, {})[index] = float(curve.keys[0, 1])
    for path, values in found.items():
        now = curves.value(ob, path)
        if isinstance(now, tuple):
            curves.set_value(ob, path, [values.get(k, x) for k, x in enumerate(now)])
        elif now is not None:
            curves.set_value(ob, path, values[0])


def holds(prop: bpy.types.Object, tie: str) -> bool:
    """Whether a prop has a constraint that ties it to a hand, and that is on at this frame."""
    found = prop.constraints.get(tie)
    return found is not None and found.type == "CHILD_OF" and found.target is not None and found.influence > 0.5


def fit(strips: Mapping[float, tuple[Any, float, bool]]) -> None:
    """Let the strips of one arm follow each other: one that stays lasts until the next begins.

    Args:
        strips: First frame to strip, last frame and whether it stays after that.
    """
    order = sorted(strips)
    for k, first in enumerate(order):
        strip, last, stays = strips[first]
        if strip is None or not strip.id_data or not stays:
            continue
        later = next((f for f in order[k + 1 :] if f > first), None)
        strip.extrapolation = "HOLD_FORWARD" if later is None else "NOTHING"
        strip.action_frame_end = nla.own_frame(strip, last if later is None else max(last, later))


def _go(stage: bpy.types.Scene, frame: float) -> None:
    whole = int(np.floor(frame))
    stage.frame_set(whole, subframe=float(frame - whole))


def _tie(prop: bpy.types.Object, hold: Hold, context: bpy.types.Context) -> None:
    """Make the constraint, with the hand as it is at this frame."""
    actor = bpy.data.objects[hold.actor]
    shown = actor.evaluated_get(context.evaluated_depsgraph_get())
    hand = shown.matrix_world @ shown.pose.bones[hold.bone].matrix
    made: Any = prop.constraints.get(hold.tie) or prop.constraints.new("CHILD_OF")
    made.name, made.target, made.subtarget = hold.tie, actor, hold.bone
    made.inverse_matrix = Matrix(hand).inverted()
    made.influence = 0.0


def _placed(prop: bpy.types.Object, world: Array) -> list[Array]:
    """Location and rotation with which a prop is at a matrix (4, 4) of the world, its scale being as it is."""
    basis = np.linalg.inv(_parent(prop)) @ world
    turn = basis[:3, :3] / np.array(prop.scale)
    location = basis[:3, 3] - np.array(prop.delta_location)
    return [location, rotation_values(turn[None], prop.rotation_mode)[0]]
