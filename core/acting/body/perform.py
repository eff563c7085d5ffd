"""A whole take of one body in one call, and the poses of many bodies at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...maths import quat
from ...motion import Event, Motion
from ...skeleton import SIDES, Array, Pose, Skeleton
from ..repertoire.actions import PLANT
from ..repertoire.library import ActionLibrary
from .avoidance import Surroundings
from .body import BodyParams, BodyState, start
from .flow import Order
from .posing import Frames, joined, posed, values_of
from .propulsion import Floor
from .stepping import advanced, advanced_together, ordered
from .tracks import Track


class Selection(NamedTuple):
    """An action asked for at a time [s]; `group` may be "", `action` may be "" for the group's first one."""

    time: float
    group: str
    action: str
    target: str = ""
    fade: float | None = None


def perform(
    library: ActionLibrary,
    skeleton: Skeleton,
    selections: Iterable[Selection | Order],
    seconds: float,
    fps: float,
    params: BodyParams | None = None,
    *,
    place: tuple[float, float, float] = (0.0, 0.0, 0.0),
    around: Surroundings | None = None,
    floor: Floor | None = None,
    styles: Mapping[str, float | Track] | None = None,
    targets: Mapping[str, npt.ArrayLike | Track] | None = None,
) -> Motion:
    """The motion of a body that is given these orders.

    Args:
        library: Its actions.
        skeleton: Whose motion it is.
        selections: In any order; `Order` for style, gaze and heading.
        seconds: Length [s].
        fps: Samples a second.
        params, place, around, floor, styles, targets: As of `body.start`.

    Returns:
        A motion with `contact/...` curves, the curves of shape keys and properties, `info/phase`, and an event `cue`
        for every selection.
    """
    if not (seconds >= 0 and fps > 0):
        raise InvalidParam("seconds, fps", (seconds, fps), "must be positive")
    state = start(library, skeleton, params, place=place, around=around, floor=floor, styles=styles, targets=targets)
    cues = []
    for wish in selections:
        if isinstance(wish, Order):
            state = ordered(state, wish)
            continue
        if wish.action:
            state = state.select(wish.group, wish.action, wish.time, target=wish.target, fade=wish.fade)
        else:
            state = state.release(wish.group, wish.time, fade=wish.fade)
        cues.append(Event(float(wish.time), "cue", {"group": wish.group, "action": wish.action}))
    return performed(state, seconds, fps, cues)[0]


def performed(state: BodyState, seconds: float, fps: float, cues: Sequence[Event] = ()) -> tuple[Motion, BodyState]:
    """The motion from where a body is on, `seconds` long, and the body at its end."""
    count = round(seconds * fps) + 1
    times = state.time + np.arange(count) / fps
    state, parts = advanced(state, float(times[-1]), times)
    frames = joined(parts)
    rotations, roots = posed(state.stage, frames)
    curves = {**values_of(state.stage, frames.channels), **_contacts(state, frames)}
    return Motion(
        state.stage.fit.skeleton, fps, roots, quat.continuous(rotations), curves=curves, events=tuple(cues)
    ), state


def _contacts(state: BodyState, frames: Frames) -> dict[str, Array]:
    """Which foot stands, as curves."""
    planted = state.stage.library.layout.value(frames.channels, PLANT)
    both = np.zeros(len(frames.times), dtype=bool) if planted is None else planted > 0.5
    return {f"contact/foot_{s}": ((frames.support == k) | both).astype(np.float64) for k, s in enumerate(SIDES)}


def advance_all(states: Sequence[BodyState], time: float) -> list[BodyState]:
    """Many bodies at a later time [s], faster than one by one."""
    return advanced_together(states, time)


def poses(states: Sequence[BodyState]) -> list[Pose]:
    """The poses of many bodies; those of one library, skeleton and manner are posed together."""
    out: list[Pose | None] = [None] * len(states)
    alike: dict[tuple[int, int, bool, bool, bool], list[int]] = {}
    for n, state in enumerate(states):
        p = state.stage.params
        key = (id(state.stage.library), id(state.stage.fit.skeleton), p.clear_arms, p.flat_feet, p.hold_gaze)
        alike.setdefault(key, []).append(n)
    for members in alike.values():
        rotations, roots = posed(states[members[0]].stage, joined([states[n].present() for n in members]))
        for k, n in enumerate(members):
            out[n] = Pose(rotations[k], roots[k])
    return [pose for pose in out if pose is not None]
