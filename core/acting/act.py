"""One actor shows what is in its repertoire: a stance for the whole body, gestures over whatever it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..maths import quat
from ..motion import Motion
from ..params import Params, param
from ..skeleton import ARM, FINGERS, SIDES, Array, Pose, Skeleton
from .repertoire.puppet import ARM_JOINTS

if TYPE_CHECKING:
    from .body.perform import Selection
    from .body.stepping import Order
    from .body.tracks import Track
    from .repertoire.actions import Action
    from .repertoire.tables import Sheet

STANCES = "Stances"
"""The group at the back, whose actions say how the whole body stands."""
GROUPS = (STANCES, "Arms", "Gestures", "Reactions", "Head", "Eyes")
"""Groups of the shipped actions, back to front; `ActParams` has a field for each."""
LAST = 0.5
"""Time before the end at which everything but a stance begins to go, at least [s]."""
_ROLES = {
    "Root": ("spine",),
    "Waist": ("spine",),
    "Neck": ("neck",),
    "Nod": ("head",),
    **{f"{s}{j}": (f"{r}_{s}",) for s in SIDES for j, r in zip(ARM_JOINTS, ARM, strict=True)},
}
"""Roles that a masked motion speaks for, by puppet joint; legs are left to what plays below."""


@dataclass(frozen=True)
class ActParams(Params):
    """What an actor shows, from each group of its repertoire one action; what is empty is left alone."""

    stance: str = param("", ref="stance", help="Stance, gait or dance of the whole body; empty for gestures alone")
    arms: str = param("", ref="arms", help="What the arms do all the while: folded, on the hips, clapping")
    gesture: str = param("", ref="gesture", help="Gesture: wave, point, bow, talk with the hands")
    reaction: str = param("", ref="reaction", help="Reaction: laugh, shrug, scratch the head, yawn")
    head: str = param("", ref="head", help="What the head does: nod, shake, look around, listen")
    seconds: float = param(4.0, lo=0.1, hi=600.0, unit="s", help="How long it lasts")
    eyes: str = param("", ref="eyes", basic=False, help="What the eyelids and eyes do")
    delay: float = param(0.0, lo=0.0, hi=60.0, unit="s", basic=False, help="Gestures begin this much after the stance")
    target: str = param("", ref="object", basic=False, help="What is looked at, pointed at and reached for")
    tempo: float = param(1.0, lo=0.1, hi=4.0, basic=False, help="Cycles and beats, as a multiple of the action's own")
    amplitude: float = param(1.0, lo=0.0, hi=2.0, basic=False, help="Size of all movement, as a multiple of its own")
    energy: float = param(1.0, lo=0.0, hi=4.0, basic=False, help="Speed of all restless movement")
    seed: int = param(0, lo=0, hi=1_000_000, basic=False, help="Another seed gives another take of the same")
    sheet: str = param("", ref="text", basic=False, help="Text with actions of your own")

    @property
    def chosen(self) -> dict[str, str]:
        """Group to action, of the groups that are not left alone."""
        names = (self.stance, self.arms, self.gesture, self.reaction, self.head, self.eyes)
        return {group: name for group, name in zip(GROUPS, names, strict=True) if name}


@cache
def repertoire() -> tuple[Sheet, ...]:
    """The shipped actions, read once."""
    from .repertoire.stockactions import stock_sheets

    return tuple(stock_sheets())


@cache
def names_of(group: str) -> tuple[str, ...]:
    """Names of the shipped actions of a group, as they are shown."""
    from .repertoire.library import ActionLibrary

    found = ActionLibrary(repertoire()).group(group)
    return tuple(name.replace("_", " ").capitalize() for name in found.actions)


def act(
    skeleton: Skeleton,
    params: ActParams,
    fps: float,
    place: npt.ArrayLike = (0.0, 0.0, 0.0),
    start: Pose | None = None,
    sheets: Iterable[Sheet] = (),
    clips: Iterable[Action] = (),
    target: Array | None = None,
) -> Motion:
    """The motion of an actor who shows what was chosen.

    Args:
        skeleton: Whose motion it is.
        params: What it shows.
        fps: Samples a second.
        place: x, y [m] and heading [rad].
        start: Pose in which it stands at the beginning; None for a stand at its place.
        sheets: Actions of its own.
        clips: Recorded actions.
        target: (T, 3) or (1, 3) what is looked at, pointed at and reached for [m].

    Returns:
        A whole motion on a level floor at height 0 where there is a stance, else one that speaks for the covered
        joints of trunk, head and arms only.
    """
    from .body.body import BodyParams
    from .body.enacting import Part, enact, enactable
    from .body.perform import Selection
    from .body.stepping import Order
    from .body.tracks import Track, constant
    from .repertoire.library import ActionLibrary, canonical
    from .repertoire.tables import Sheet

    chosen = params.chosen
    if not chosen:
        raise InvalidParam("gesture", "", "choose a stance, a gesture or something else to show")
    all_sheets = [*repertoire(), *sheets]
    for clip in clips:
        group = next((g for g, name in chosen.items() if canonical(name) == canonical(clip.name)), STANCES)
        all_sheets.append(Sheet({clip.name: clip}, [(group, [clip.name])]))
    library = ActionLibrary(all_sheets)
    found = {name: library.action(name) for name in chosen.values()}
    targets = (
        {}
        if target is None
        else {"target": constant(target[0]) if len(target) == 1 else Track(_times(target, fps), target)}
    )
    whole = any(action.group == STANCES for action in found.values())
    end = params.seconds
    wishes: list[Selection | Order] = []
    for action in found.values():
        fade = 0.0 if action.group == STANCES or not whole else None
        begin = 0.0 if action.group == STANCES or not whole else min(params.delay, end)
        wishes.append(Selection(begin, action.group, action.name, "target" if targets else "", fade))
        if whole and action.group != STANCES:
            wishes.append(Selection(max(end - max(action.fade_out, LAST) - 0.1, begin), action.group, "", "", None))
    if targets:
        wishes.append(Order(0.0, "look", "target", True))
    styles: dict[str, float | Track] = {"amplitude": params.amplitude}
    for action in found.values():
        if action.tempo is not None:
            styles[f"{action.name}.tempo"] = params.tempo * action.tempo
        if "pace" in action.params:
            styles[f"{action.name}.pace"] = params.tempo * action.params["pace"]
    count = round(end * fps) + 1
    part = Part(wishes, np.tile(np.asarray(place, dtype=np.float64), (count, 1)), targets, styles, start)
    motion = enact(skeleton, enactable(all_sheets), part, fps, BodyParams(seed=params.seed, energy=params.energy))
    return motion if whole else _masked(motion, tuple(found.values()), bool(targets))


def _masked(motion: Motion, actions: Sequence[Action], looks: bool) -> Motion:
    """The motion of what actions cover, without the rest."""
    from .body.fingers import HAND
    from .body.fingers import NAMES as BENT
    from .repertoire.tables import curve_name

    body = motion.skeleton
    roles = {role for action in actions for joint, _ in action.channels for role in _ROLES.get(joint, ())}
    for action in actions:
        roles |= {
            f"{r}_{tip[-1]}"
            for tip in action.anchors
            for r in ("upper_arm", "forearm", "hand")
            if tip.startswith("hand")
        }
    roles |= {"neck"} if looks else set()
    for side, _, finger in (key[0].partition("_") for action in actions for key in action.channels if key[0] in BENT):
        fingers = FINGERS if finger == HAND else (finger.lower(),)
        roles |= {f"{each}_{side}" for each in fingers}
    mask = np.zeros(len(body), dtype=bool)
    for role in roles:
        mask[list(body.roles.get(role, ()))] = True
    values = {curve_name(key) for action in actions for key in action.channels if key[1] == "value"}
    spoken = {name: v for name, v in motion.curves.items() if name in values}
    if not mask.any() and not spoken:
        raise InvalidParam("stance", "", "nothing chosen moves trunk, head or arms; choose a stance as well")
    rotations = np.array(motion.rotations)
    rotations[:, ~mask] = quat.IDENTITY
    cues = tuple(e for e in motion.events if e.name == "cue")
    return replace(motion, rotations=quat.continuous(rotations), mask=mask, curves=spoken, events=cues)


def _times(samples: Array, fps: float) -> Array:
    out: Array = np.arange(len(samples)) / fps
    return out
