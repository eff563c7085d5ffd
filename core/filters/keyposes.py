"""The poses an animator draws first: contact, down, passing and up of every step.

After R. Williams, "The Animator's Survival Kit": the foot touches, the body is lowest as the leg takes its weight, the
free leg passes the standing one, the body is highest before the next contact.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..kinematics import fk
from ..motion import Event, Motion
from ..skeleton import SIDES, Array
from .contacts import contacts, cycles

KINDS = ("contact", "passing", "down", "up")
"""Where two poses fall on one sample, the one named first stays."""

_LIFT = 0.02
"""A foot raised by less than this does not swing [leg lengths]."""


class KeyPose(NamedTuple):
    """A pose at a sample; `side` is the foot that touches or stands."""

    sample: int
    kind: str
    side: str


def key_poses(motion: Motion) -> list[KeyPose]:
    """The poses of all steps in a motion, in order; none where nobody steps.

    Steps are told by the motion's `heel_strike` events; where it has none at all they are looked for.
    """
    if not motion.skeleton.has(*(f"{part}_{side}" for part in ("thigh", "shin", "foot") for side in SIDES)):
        return []
    if not _strikes(motion):
        motion = contacts(motion)
    if motion.loop:
        count = len(motion)
        events = [replace(e, time=e.time + k * motion.duration) for k in range(3) for e in motion.events]
        poses = key_poses(replace(cycles(motion), events=tuple(events))) if events else []
        return [p._replace(sample=p.sample - count) for p in poses if count <= p.sample < 2 * count]
    strikes = _strikes(motion)
    found = [KeyPose(sample, "contact", side) for sample, side in strikes]
    ankles = fk.forward(motion.skeleton, motion.rotations, motion.roots)[0]
    feet = {side: ankles[:, motion.skeleton.joint(f"foot_{side}")] for side in SIDES}
    ends = [(0, ""), *strikes, (len(motion) - 1, "")] if strikes else []
    for (a, landed), (b, next_) in pairwise(ends):
        swings = next_ or _other(landed)
        found += _between(motion, feet, a, b, _other(swings), bool(landed), bool(next_))
    best: dict[int, KeyPose] = {}
    for pose in sorted(found, key=lambda p: KINDS.index(p.kind)):
        best.setdefault(pose.sample, pose)
    return [best[sample] for sample in sorted(best)]


def _strikes(motion: Motion) -> list[tuple[int, str]]:
    """(sample, side) of every heel strike."""
    found = {
        (min(round(e.time * motion.fps), len(motion) - 1), side)
        for e in motion.events
        for side in SIDES
        if e.name == f"heel_strike_{side}"
    }
    return sorted(found)


def _other(side: str) -> str:
    return {"L": "R", "R": "L"}.get(side, "")


def _between(
    motion: Motion, feet: dict[str, Array], a: int, b: int, stands: str, from_contact: bool, to_contact: bool
) -> list[KeyPose]:
    """Down, passing and up of the step between samples `a` and `b`, in which one foot stands and the other swings."""
    passing = _passing(feet[_other(stands)][a : b + 1], feet[stands][a : b + 1], motion.skeleton.leg_length())
    heights, found = motion.roots[:, 2], []
    if passing is not None:
        found.append(KeyPose(a + passing, "passing", stands))
    middle = a + (passing or 0)
    if from_contact and passing is not None:
        marks = [f"foot_flat_{stands}", f"toe_off_{_other(stands)}"]
        found += _extreme(motion, -heights, a, middle, "down", stands, marks)
    if to_contact and passing is not None:
        found += _extreme(motion, heights, middle, b, "up", stands, [f"heel_off_{stands}"])
    return found


def _passing(swinging: Array, standing: Array, leg: float) -> int | None:
    """Sample at which the ankle of the swinging foot (T, 3) passes that of the standing one, or is highest."""
    if len(swinging) < 3:
        return None
    apart = (swinging - standing)[:, :2]
    way = apart[-1] - apart[0]
    length = float(np.linalg.norm(way))
    if length > _LIFT * leg:
        ahead = apart @ (way / length)
        crossed = np.flatnonzero((ahead[:-1] < 0) & (ahead[1:] >= 0))
        if len(crossed):
            k = int(crossed[-1])
            return k if -ahead[k] < ahead[k + 1] and k > 0 else k + 1
    top = int(swinging[:, 2].argmax())
    lifted = swinging[top, 2] - max(swinging[0, 2], swinging[-1, 2])
    return top if lifted > _LIFT * leg else None


def _extreme(motion: Motion, heights: Array, a: int, b: int, kind: str, side: str, marks: list[str]) -> list[KeyPose]:
    """The sample between `a` and `b` where `heights` (T,) are greatest; a mark or the middle where none stands out."""
    if b - a < 2:
        return []
    gap = max(1, (b - a) // 5)  # nearer to its neighbours a pose would say nothing
    top = a + gap + int(heights[a + gap : b - gap + 1].argmax())
    if heights[top] < max(heights[top - 1], heights[top + 1]):
        marked = [s for name in marks for s in _samples(motion.events, motion.fps, name) if a + gap <= s <= b - gap]
        top = marked[0] if marked else (a + b) // 2
    return [KeyPose(top, kind, side)]


def _samples(events: tuple[Event, ...], fps: float, name: str) -> list[int]:
    return [round(e.time * fps) for e in events if e.name == name]
