"""What is known of hands: what each of them holds at a frame, and which results moved it.

A result that moves a hand keeps a record, one JSON string in a custom property of its action:

    owner       tells results of all actors apart, and names the constraint on the prop
    side        the hand
    prop        what it took, or had, in hand
    first, last frames of the result
    taken       frame from which it held it; None where it had it before
    released    frame at which it let go; None where it did not
    stays       whether the arm stays where it is after the result
    tie         name of the constraint that holds the prop
    home        (4, 4) of the prop before anybody took it [m]
    heading     of the actor when it took it [rad]
    holding     how it is held: grasp, offset, fingers, rest
    also        records of the other hand, where the result moved both
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.errors import TroupeError
from ...core.kinematics.cast import Cast
from ...core.skeleton import ARM, SIDES, Array, Pose
from .. import bake, rig
from ..bake import grip, holding, nla, results

if TYPE_CHECKING:
    from ...core.planning.hands.stages import Holding

RECORD = "troupe_hand"


def record_of(action: Any) -> dict[str, Any] | None:
    """The record of a result; None when it moved no hand."""
    text = action.get(RECORD) if action is not None else None
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def records(actor: Any) -> list[tuple[results.Found, dict[str, Any]]]:
    """The results of an actor that moved a hand, in order of their frames, once for each hand; without muted ones.

    Their strips are those that move the arms.
    """
    heard = [f for f in results.results_of(actor) if f.strip is None or not (f.strip.mute or f.track.mute)]
    known = [(f, record) for f in heard if (record := record_of(f.action)) is not None]
    arms = grip.find(actor)
    known = [(results.Found(f.action, *arms.get(r["owner"], (f.track, f.strip))), r) for f, r in known]
    both = [(f, _shown(r, f.strip)) for f, record in known for r in (record, *record.get("also", ()))]
    return sorted(both, key=lambda row: float(row[1]["first"]))


def _shown(record: dict[str, Any], strip: Any) -> dict[str, Any]:
    """A record with the frames of the scene at which its strip, which may have been dragged, shows those it has."""
    if strip is None:
        return record
    frames = {key: record[key] for key in ("first", "last", "taken", "released") if record.get(key) is not None}
    return {**record, **{key: round(nla.shown_at(strip, frame), 3) for key, frame in frames.items()}}


def astray(actor: Any) -> Iterator[tuple[results.Found, list[Any]]]:
    """The results of an actor whose props do not move when they do, because their strips were dragged."""
    for found, owner, props in _holders(actor):
        lost = holding.astray(owner, props, found.strip)
        arms = grip.find(actor).get(owner)
        if arms is not None and not nla.plays_with(arms[1], found.strip):
            lost.append(arms[1])
        if lost:
            yield found, lost


def realign(actor: Any) -> int:
    """Let props move when the results that move them do; returns how many strips were moved."""
    moved = 0
    for found, lost in list(astray(actor)):
        for _ in range(2):  # one strip may be in the way of another that is to move too
            for strip in lost:
                nla.play_with(strip, found.strip)
        moved += len(lost)
    return moved


def _holders(actor: Any) -> Iterator[tuple[results.Found, str, tuple[str, ...]]]:
    """The strips of an actor that move hands, with owner and props."""
    data = actor.animation_data
    for track in data.nla_tracks if data is not None and not data.use_tweak_mode else ():
        for strip in track.strips:
            text = strip.action.get(RECORD) if strip.action is not None else None
            if isinstance(text, str) and (known := _owner_and_props(text)) is not None:
                yield results.Found(strip.action, track, strip), *known


@lru_cache(maxsize=256)
def _owner_and_props(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Who moves which props, by a record as JSON; asked whenever anything changes, so the answer is kept."""
    try:
        record = json.loads(text)
        rows = (record, *record.get("also", ()))
        return record["owner"], tuple(dict.fromkeys(r["prop"] for r in rows))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def held(actor: Any, frame: float, but: str = "") -> dict[str, dict[str, Any]]:
    """Side to the record by which that hand holds something at a frame; `but` names a result that does not count."""
    out: dict[str, dict[str, Any]] = {}
    for _, record in records(actor):
        if record["owner"] == but or record["first"] > frame:
            continue
        taken, released = record.get("taken"), record.get("released")
        if record.get("holding") and (taken is None or taken <= frame):
            out[record["side"]] = record
        if released is not None and released <= frame and out.get(record["side"], record)["prop"] == record["prop"]:
            out.pop(record["side"], None)
    return {side: r for side, r in out.items() if _tied(r)}


def held_by_others(context: bpy.types.Context, actor: Any, frame: float) -> dict[str, str]:
    """Names of the props that other actors hold at a frame, with who does."""
    others = [ob for ob in context.scene.objects if ob != actor and ob.type == "ARMATURE" and rig.is_cast(ob)]
    return {record["prop"]: ob.name for ob in others for record in held(ob, frame).values()}


def _tied(record: Mapping[str, Any]) -> bool:
    """Whether the prop is still there with its constraint."""
    prop = bpy.data.objects.get(record["prop"])
    return prop is not None and record["tie"] in prop.constraints


def holding_of(record: Mapping[str, Any], cast: Cast, before: Array | None = None) -> Holding:
    """How a hand holds a prop, from the record of the result that took it."""
    from ...core.planning.hands.grasp import Grasp
    from ...core.planning.hands.stages import Holding

    plain = record["holding"]
    fingers = np.array(plain["fingers"], dtype=np.float64)
    if fingers.shape != (len(cast.skeleton), 4):
        known = f"{len(cast.skeleton)} bones, not the {len(fingers)} that it had when it took hold of {record['prop']}"
        raise TroupeError(f"the rig has {known}: let it take hold again")
    rest = None if plain.get("rest") is None else np.array(plain["rest"], dtype=np.float64)
    grasp = Grasp.from_dict(plain["grasp"])
    offset = np.array(plain["offset"], dtype=np.float64)
    return Holding(record["prop"], record["side"], grasp, offset, fingers, rest, before, before)


def holding_plain(known: Holding | None) -> dict[str, Any] | None:
    """How a hand holds a prop, as JSON holds it."""
    if known is None:
        return None
    return {
        "grasp": known.grasp.as_dict(),
        "offset": known.offset.tolist(),
        "fingers": np.round(known.fingers, 6).tolist(),
        "rest": None if known.rest is None else known.rest.tolist(),
    }


def keep(actor: Any, action: Any, record: Mapping[str, Any]) -> None:
    """Keep a record with its result, and let the strips of each arm follow each other."""
    action[RECORD] = json.dumps(record)
    fit(actor)


def forget(actor: Any, record: Mapping[str, Any] | None) -> None:
    """Undo what a result that was removed did to its prop and to the strips before it."""
    if record is not None:
        holding.drop(record["owner"])
        grip.drop(actor, record["owner"])
        fit(actor)


def mute_with(actor: Any, found: results.Found) -> None:
    """Let the arms of a result be silent with it."""
    record = record_of(found.action)
    arms = None if record is None else grip.find(actor).get(record["owner"])
    if arms is not None:
        arms[1].mute = found.strip.mute


def fit(actor: Any) -> None:
    """Let the strips of each arm follow each other: what stays in a hand lasts until the arm moves again."""
    known = records(actor)
    for side in SIDES:
        own = {r["first"]: (f.strip, r["last"], bool(r["stays"])) for f, r in known if r["side"] == side}
        holding.fit({first: row for first, row in own.items() if row[0] is not None})


def owner_of(actor: Any, number: int) -> str:
    """Tells a result of an actor apart from all others."""
    return f"Troupe {actor.name} {number}"


@contextmanager
def without_hold(actor: Any, context: bpy.types.Context, sides: Collection[str], again: str = "") -> Iterator[bool]:
    """The actor without what keeps arms where they hold something; gives whether there was anything.

    `again` is the owner of a result that is made again, without which the actor is as it was then.
    """
    known = [(f, r) for f, r in records(actor) if f.strip is not None]
    holds = [f.strip for f, r in known if f.track.name.startswith(nla.LAYER) and r["stays"] and r["side"] in sides]
    arms = [f.strip for f, r in known if r["owner"] == again]  # and what else it moves, on a strip of its own
    bodies = [f.strip for f in results.results_of(actor) if (record_of(f.action) or {}).get("owner") == again]
    strips = [s for s in dict.fromkeys((*holds, *arms, *bodies)) if s is not None and not s.mute]
    for strip in strips:
        strip.mute = True
    frame = context.scene.frame_current
    try:
        context.scene.frame_set(frame)
        yield bool(holds)
    finally:
        for strip in strips:
            strip.mute = False
        context.scene.frame_set(frame)


def demand_arms(actor: Any, cast: Cast, sides: Collection[str]) -> None:
    """Refuse an actor that lacks an arm, or whose right hand would do on its left what is meant for the right."""
    for side in sides:
        if not all(cast.skeleton.has(f"{role}_{side}") for role in ARM[1:]):
            raise TroupeError(f"{actor.name} has no arm of three bones on side {side}: map it in the table of Cast")
    if actor.matrix_world.is_negative:
        raise TroupeError(f"{actor.name} has a negative scale, which turns left into right: make its scale positive")


def arm_mask(cast: Cast, sides: Collection[str]) -> npt.NDArray[np.bool_]:
    """(J,) which joints are arms and fingers of these sides."""
    from ...core.kinematics.fingers import finger_joints

    out = np.zeros(len(cast.skeleton), dtype=bool)
    for side in sides:
        out[[cast.skeleton.joint(f"{part}_{side}") for part in ARM[1:]]] = True
        out[list(finger_joints(cast.skeleton, side))] = True
    return out


def pose_below(
    actor: Any, cast: Cast, context: bpy.types.Context, sides: Collection[str], frame: int, again: str = ""
) -> Pose | None:
    """The pose at a frame that arms would have if they held nothing; None when nothing tells.

    `again` is the owner of a result that is made again.
    """
    now = context.scene.frame_current
    try:
        context.scene.frame_set(frame)
        with without_hold(actor, context, sides, again) as found:
            return bake.pose_here(actor, cast, context).pose(0) if found else None
    finally:
        context.scene.frame_set(now)
