"""One body of a play: its actions on its own skeleton, on feet that stand where they stand and walk where it goes.

Where the body is to be is a base track. `core.gait.travel` puts footfalls under it; whenever it goes or turns, that
walk takes the place of the stance, as an action among the others, so that arms, gestures and the head lie over it as
over any stance. Everywhere else the feet stay on their last footfalls and the legs are solved from the hips that the
stance asks for. Stances that step by themselves (dances, gaits on a clock) keep their own legs and carry the
body along.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...gait.travel import TravelParams, travel
from ...kinematics import fk
from ...maths import quat
from ...motion import Event, Motion, Path
from ...skeleton import SIDES, Array, Pose, Skeleton
from ..act import STANCES
from ..furniture import Furniture
from ..repertoire.actions import SEAT, Action, Channel, Clip
from ..repertoire.library import ActionLibrary, canonical
from ..repertoire.puppet import AXES as ANGLES
from ..repertoire.puppet import JOINTS, angles_of, turns
from ..repertoire.tables import Sheet
from .body import BodyParams, BodyState, start
from .fingers import bent, fingers_of
from .fitting import fit
from .footwork import Footwork, stepped, stepping_off
from .perform import Selection
from .posing import joined, posed, values_of
from .reach import levelled
from .stepping import Order, advanced, ordered
from .tracks import Track

WAY, STEPS = "ON_THE_WAY", "STEPS"
"""Values that tell how much of a body walks along its track, and how much its legs step by themselves."""
AXES = ("x", "y", "heading")
LEG_CHANNEL = ("Lhip", "x")
EARLY, LATE, GAP = 0.25, 0.2, 0.9
"""Time that a walk takes over before it goes and keeps after it stands, and shortest stand between two walks [s]."""
FADE_IN, FADE_OUT = 0.35, 0.6
SETTLED = 3.0
"""Time after which a body that only stands has come to rest [s]."""
LEAD = 0.1
"""Time before the beginning at which a body is told what it begins with, so that nothing of it shows [s]."""
PRELUDE = 4.0
"""Time before the first sample from which on all that fades is followed [s]."""
UPRIGHT, LEVEL = 0.9, 0.01
"""Height of the hips of a body that stands, as a part of that with straight legs, and how level its feet are [m]."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Part:
    """What one body does during a take.

    Attributes:
        wishes: Selections and orders in time [s]; where it faces follows from the track.
        track: (T, 3) where it is to be: x, y [m], heading [rad].
        targets: World points by name.
        styles: Style parameters by name.
        start: Pose at the first sample; None for the stand of its walk.
        first: Time of the first sample [s]; what was wished long before it has taken effect by then.
        furniture: What it may sit on.
    """

    wishes: Sequence[Selection | Order]
    track: Array
    targets: Mapping[str, Track]
    styles: Mapping[str, float | Track]
    start: Pose | None = None
    first: float = 0.0
    furniture: Furniture | None = None


class Standing:
    """Walks under a base track; one that only stands is remembered, for it costs as much as another."""

    def __init__(self) -> None:
        self._known: tuple[bytes, Motion] | None = None

    def walk(
        self, skeleton: Skeleton, track: Array, fps: float, gait: TravelParams | None, start: Pose | None
    ) -> Motion:
        """The walk under a track (T, 3)."""
        if len(track) < 2 or np.ptp(track, axis=0).max() > 0.0:
            return travel(skeleton, Path(track, AXES, np.arange(len(track)) / fps), gait, start=start)
        key = track[0].tobytes() + (b"" if start is None else start.rotations.tobytes() + start.root.tobytes())
        if self._known is None or self._known[0] != key:
            count = max(len(track), round(SETTLED * fps))
            still = Path(np.repeat(track[:1], count, axis=0), AXES, np.arange(count) / fps)
            self._known = key, travel(skeleton, still, gait, start=start)
        found = self._known[1]
        rows = np.minimum(np.arange(len(track)), len(found) - 1)
        return replace(
            found,
            roots=found.roots[rows],
            rotations=found.rotations[rows],
            base=track,
            curves={name: values[rows] for name, values in found.curves.items()},
        )


def enact(
    skeleton: Skeleton,
    actions: ActionLibrary,
    part: Part,
    fps: float,
    params: BodyParams | None = None,
    gait: TravelParams | None = None,
    standing: Standing | None = None,
) -> Motion:
    """The motion of one body on a level floor at height 0.

    Args:
        skeleton: Whose motion it is.
        actions: From `enactable`.
        part: What it does.
        fps: Samples a second, those of the track.
        params: How it carries out its actions.
        gait: How it walks.
        standing: Remembers how the body stood, for one that is enacted again and again.

    Returns:
        A motion with base, contact curves, the curves of shape keys and properties, and an event `cue` for every
        selection.
    """
    work = enact_steps(skeleton, actions, part, fps, params, gait, standing)
    while True:
        try:
            next(work)
        except StopIteration as done:
            motion: Motion = done.value
            return motion


def enact_steps(
    skeleton: Skeleton,
    actions: ActionLibrary,
    part: Part,
    fps: float,
    params: BodyParams | None = None,
    gait: TravelParams | None = None,
    standing: Standing | None = None,
) -> Generator[None, None, Motion]:
    """`enact` in pieces that take about as long as each other, for whoever must not wait for all of it."""
    since = np.arange(len(part.track)) / fps
    times = part.first + since
    stand = part.start or _stand(_told(skeleton, actions, part, part.wishes, params))
    if np.ptp(part.track, axis=0).max() > 0.0:
        yield
    walk = (standing or Standing()).walk(skeleton, part.track, fps, gait, stand)
    spans = _spans(walk, part.track, fps)
    yield
    library = actions.joined(STANCES, _ways(walk, part.track, spans, fps))
    state = _told(skeleton, library, part, _rerouted(part.wishes, spans, fps, part.first), params)
    cues = []
    for wish in part.wishes:
        if not isinstance(wish, Order):
            what = {"group": wish.group, "action": wish.action, "target": wish.target}
            cues.append(Event(wish.time - part.first, "cue", what))
    state, some = advanced(state, float(times[-1]), times)
    frames = joined(some)
    yield
    on_way, steps = (
        np.zeros(len(times)) if (v := library.layout.value(frames.channels, name)) is None else np.clip(v, 0.0, 1.0)
        for name in (WAY, STEPS)
    )
    sits = library.layout.value(frames.channels, SEAT)
    # a morph between a stance and a gait steps for as much of it as is gait; who sits down does not step back for it
    wanted = np.clip(steps / 0.3, 0.0, 1.0) * (1.0 - on_way)
    wanted = wanted if sits is None else np.minimum(wanted, np.clip(1.0 - 4.0 * sits, 0.0, 1.0))
    steps = stepping_off(wanted, fps)
    feet = Footwork(skeleton, walk, frames, part.track, on_way, steps, state.stage.fit, part.start is not None)
    if part.furniture is not None and sits is not None:
        feet.sit(np.clip(sits, 0.0, 1.0) * (1.0 - on_way), part.furniture)
    rotations, roots = posed(state.stage, feet.frames())
    rotations = bent(skeleton, feet.legs(rotations, roots), fingers_of(library.layout, frames.channels))
    curves = {n: v for n, v in values_of(state.stage, frames.channels).items() if n.split("/")[-1] not in (WAY, STEPS)}
    events = (*walk.events, *cues)
    return Motion(
        skeleton,
        fps,
        roots,
        quat.continuous(rotations),
        base=feet.base,
        curves={**curves, **feet.contacts()},
        events=tuple(sorted(events, key=lambda e: e.time)),
    )


def _told(
    skeleton: Skeleton,
    library: ActionLibrary,
    part: Part,
    wishes: Iterable[Selection | Order],
    params: BodyParams | None,
) -> BodyState:
    """A body at the beginning of its part that has been told everything."""
    x, y, heading = map(float, part.track[0])
    place = (x, y, heading)
    begin = max(-LEAD, part.first - PRELUDE)
    state = start(library, skeleton, params, place=place, time=begin, styles=part.styles, targets=part.targets)
    for wish in _lasting(wishes, begin):
        if not isinstance(wish, Order) and wish.time <= 0.0 and wish.fade == 0.0:
            wish = wish._replace(time=begin)
        if isinstance(wish, Order):
            state = ordered(state, wish)
        elif wish.action:
            state = state.select(wish.group, wish.action, wish.time, target=wish.target, fade=wish.fade)
        else:
            state = state.release(wish.group, wish.time, fade=wish.fade)
    return state


def _lasting(wishes: Iterable[Selection | Order], begin: float) -> list[Selection | Order]:
    """Wishes of which those before a time are in effect from it on, the last of each group alone."""
    early: dict[str, Selection | Order] = {}
    later = []
    for wish in wishes:
        if wish.time >= begin:
            later.append(wish)
        elif isinstance(wish, Order):
            early[f"order {wish.what}"] = wish._replace(time=begin)
        else:
            early[canonical(wish.group)] = wish._replace(time=begin, fade=0.0)
    return [*early.values(), *later]


def _stand(state: BodyState) -> Pose | None:
    """The pose in which a body begins, for a walk to go on from; None where it does not stand on both feet."""
    pose = state.advance(max(0.0, state.time + LEAD)).pose()
    body = state.stage.fit.skeleton
    positions, _ = fk.forward(body, pose.rotations, pose.root)
    floor = state.stage.fit.ankle_height
    level = all(abs(positions[body.joint(f"foot_{side}"), 2] - floor) < LEVEL for side in SIDES)
    tall = pose.root[2] > UPRIGHT * body.offsets[0, 2]
    return levelled(body, pose, floor) if tall and level else None


def enactable(sheets: Iterable[Sheet]) -> ActionLibrary:
    """The actions of sheets as bodies carry them out; the first group of the first sheet is that of the stances."""
    way = Action(way_name(-1), {(WAY, "value"): Channel(0.0, 0.0)})
    return ActionLibrary([*map(stepping, sheets), Sheet({way.name: way}, [(STANCES, [way.name])])])


def stepping(sheet: Sheet) -> Sheet:
    """The sheet with its stepping actions marked: those with a tempo, or turning by themselves, that move the legs."""
    return replace(sheet, actions={name: _marked(action) for name, action in sheet.actions.items()})


def _marked(action: Action) -> Action:
    steps = bool(action.tempo) or isinstance(action.source, Clip) or any(k[0] == "TURN" for k in action.channels)
    if not steps or LEG_CHANNEL not in action.channels:
        return action
    channels = {**action.channels, (STEPS, "value"): Channel(1.0, 1.0)}
    source = action.source
    if isinstance(source, Clip):
        source = replace(source, samples=np.column_stack([source.samples, np.ones(len(source.samples))]))
    return replace(action, channels=channels, source=source)


def _spans(walk: Motion, track: Array, fps: float) -> list[tuple[int, int]]:
    """First and last sample of each time in which the body goes or turns, with some time around it."""
    if len(track) < 2:
        return []
    change = np.abs(np.gradient(track, axis=0)) * fps
    moving = (np.hypot(*np.ascontiguousarray(change[:, :2].T)) > 0.03) | (change[:, 2] > 0.05) | stepped(walk)
    spans: list[tuple[int, int]] = []
    for k in np.flatnonzero(moving).tolist():
        if spans and k - spans[-1][1] <= GAP * fps:
            spans[-1] = (spans[-1][0], k)
        else:
            spans.append((k, k))
    last = len(track) - 1
    return [(max(0, a - round(EARLY * fps)), min(last, b + round(LATE * fps))) for a, b in spans]


def _ways(walk: Motion, track: Array, spans: Sequence[tuple[int, int]], fps: float) -> list[Action]:
    """The walk as stances, one for each span of it."""
    if not spans:
        return []
    angles, headings = fit(walk.skeleton).angles(walk.rotations)
    # the body heads along its track: what the upper torso turns besides is an angle of the torso
    torso = quat.multiply(quat.about(_UP, headings - track[:, 2])[:, None], turns(angles))
    angles[:, 0] = np.unwrap(angles_of(torso)[:, 0], axis=0)
    degrees = np.degrees(angles.reshape(len(walk), -1))
    keys = [(joint, axis) for joint in JOINTS for axis in ANGLES]
    actions = []
    for n, (a, b) in enumerate(spans):
        stop = min(len(walk), b + 1 + round((FADE_OUT + 1.0) * fps))
        rows = np.column_stack([degrees[a:stop], np.ones(stop - a)])
        actions.append(
            Action(
                way_name(n),
                {key: Channel(float(rows[0, k]), float(rows[0, k])) for k, key in enumerate([*keys, (WAY, "value")])},
                fade_in=FADE_IN,
                fade_out=FADE_OUT,
                source=Clip(rows, fps, False),
                spherical=True,
            )
        )
    return actions


def way_name(number: int) -> str:
    """Name of the stance that is the walk of one span."""
    return f"(way {number + 1})"


def _rerouted(
    wishes: Iterable[Selection | Order], spans: Sequence[tuple[int, int]], fps: float, first: float = 0.0
) -> list[Selection | Order]:
    """The wishes with walks in the place of stances; a stance that is asked for meanwhile comes afterwards."""
    out: list[Selection | Order] = []
    stances: list[Selection] = []
    for wish in wishes:
        if isinstance(wish, Order):
            if wish.what != "face":
                out.append(wish)
        elif canonical(wish.group) != canonical(STANCES):
            out.append(wish)
        else:
            stances.append(wish)
            if not any(a <= (wish.time - first) * fps < b for a, b in spans):
                out.append(wish)
    for n, (a, b) in enumerate(spans):
        out.append(Selection(first + a / fps, STANCES, way_name(n), "", 0.0 if a == 0 else FADE_IN))
        before = (w for w in stances if (w.time - first) * fps < b)
        last = max(before, key=lambda w: w.time, default=Selection(first, STANCES, ""))
        out.append(Selection(first + b / fps, STANCES, last.action, last.target, FADE_OUT))
    return sorted(out, key=lambda w: w.time)
