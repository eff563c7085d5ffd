"""The bodies of a play that is still going on: as they will be baked, as far as the minds have decided.

    cast = LiveCast({"Izzy": player, ...}, sheets, fps=24)
    shown = cast.show(play, time)                     # as often as wanted, time rising
    shown.motions["Izzy"], shown.props["Tray"]

What is decided is enacted a little ahead, on real footfalls, and enacted again whenever something new is decided.
Each time it begins from the last moment at which the body stood, so that it costs the same however long the play lasts.
Hands meet and props are held by the same functions as in a bake. Whoever was to go on otherwise eases over to what was
decided, so a body is where it will be baked but for the moments after a decision.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..kinematics import fk
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Event, Motion
from ..skeleton import SIDES, Array, Pose
from .bodies import Player, smoothed
from .body.body import BodyParams
from .body.contact import Contact, contacts_of
from .body.enacting import Part, Standing, enact_steps, enactable
from .bodyorders import body_orders
from .furniture import Furniture
from .hands import Meeting, meet, meeting_of
from .holding import Handling, Thing, span_of
from .mind.bodyport import KinematicStage, Leg
from .mind.mind import Play
from .play import PlayRecord, attachments_of
from .repertoire.library import ActionLibrary
from .repertoire.tables import Sheet

AHEAD = 2.2
"""How far ahead of the moment, or of the end of a walk, a body is worked out [s]."""
STOOD = 1.0
"""Time that feet must have been still for a body to be begun anew there [s]."""
STILL = 0.002
"""What moves less than this is still [m]."""
SOON = 0.6
"""Time before its end at which a motion is worked out anew, for its last step is cut [s]."""
EASE = 0.3
"""Time in which a body goes over to what was decided anew [s]."""
PIECES = 1
"""How many pieces of the work on one body are done for each moment that is shown, so that none takes long."""


@dataclass(frozen=True, eq=False)
class _Rework:
    """A body that is being worked out anew: what it knows, when and how it begins, and the work that is left."""

    known: object
    first: float
    start: Pose | None
    work: Generator[None, None, Motion]


class Preview:
    """One body, shown while its mind goes on.

    Attributes:
        motion: What is worked out, from `first` [s] on; None before the first showing.
    """

    def __init__(
        self,
        player: Player,
        sheets: Sequence[Sheet],
        fps: float,
        params: BodyParams | None = None,
        heights: Mapping[str, float] | None = None,
        furniture: Furniture | None = None,
        library: ActionLibrary | None = None,
    ) -> None:
        self.player, self.fps, self.params = player, fps, params or BodyParams()
        self.heights, self.furniture = heights or {}, furniture
        self.motion: Motion | None = None
        self.first = 0.0
        shared = None if player.sheets else library
        self._library = shared or enactable([*sheets, *player.sheets])
        self._standing = Standing()
        self._start: Pose | None = player.start
        self._known: object = None
        self._heard: list[Event] = []
        self._looks = 0
        self._touched = 0.0
        self._lag: tuple[float, Array, Array] | None = None
        self._rework: _Rework | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it is being worked out anew."""
        return self._rework is not None

    def has_news(self, play: Play, part: str, time: float) -> bool:
        """Whether something was decided that is not shown yet, or what is shown will be over."""
        return self._decided(play, part) != self._known or self._left(time) < SOON

    def _left(self, time: float) -> float:
        """For how long it is worked out [s]."""
        return -math.inf if self.motion is None else self.first + (len(self.motion) - 1) / self.fps - time

    def show(self, play: Play, part: str, time: float, pieces: int | None = None) -> tuple[Pose, Array]:
        """Pose, and base (3,), at a time that the play has come to [s].

        Args:
            pieces: How much of the work on news is done now, until which it goes on as it was as long as it can; None
                for all of it.
        """
        self.settle(play, part, time, None if self._left(time) < 0.0 else pieces)
        motion = self.motion
        assert motion is not None
        rotations, root, base = self._eased(motion, time)
        return Pose(rotations, root), base

    def settle(self, play: Play, part: str, time: float, pieces: int | None = None) -> None:
        """Work out what was decided: so many pieces of it, or all."""
        left = pieces
        while left is None or left > 0:
            if self._rework is None:
                if not self.has_news(play, part, time):
                    return
                self._rework = self._begun(play, part, time)
            try:
                next(self._rework.work)
            except StopIteration as done:
                self._take_over(self._rework, done.value, time)
            left = None if left is None else left - 1

    def _decided(self, play: Play, part: str) -> object:
        """Something that changes whenever anything new has been decided for a body."""
        fresh = play.events[len(self._heard) :]
        self._heard += fresh
        self._looks += sum(e.name == "look" and e.data.get("actor") == part for e in fresh)
        for touch in contacts_of(fresh):
            if part in (touch.first, touch.second):
                self._touched = touch.end
        return len(play.selections[part]), self._looks, self._touched, self._legs(play, part)

    def _begun(self, play: Play, part: str, time: float) -> _Rework:
        """The work on what is decided by now."""
        first, start = self._beginning(time)
        until = max(time, self._touched, *(leg.end for leg in self._legs(play, part))) + AHEAD
        seconds = first + np.ceil((until - first) * self.fps) / self.fps
        record = _so_far(play, part, seconds, tuple(self._heard))
        asked = body_orders(record, part, self._library, self.fps, first, self.heights)
        track = smoothed(record.base(part, self.fps, first))
        doing = Part(asked.wishes, track, asked.targets, self.player.styles, start, first, self.furniture)
        order = list(play.selections)
        own = replace(self.params, actor=order.index(part))
        work = enact_steps(self.player.skeleton, self._library, doing, self.fps, own, self.player.gait, self._standing)
        return _Rework(self._decided(play, part), first, start, work)

    def _take_over(self, rework: _Rework, motion: Motion, time: float) -> None:
        """Go over to what was worked out."""
        old = self.motion
        before = None if old is None else self._eased(old, time)
        self.motion, self._known, self.first, self._start = motion, rework.known, rework.first, rework.start
        self._rework = None
        if before is not None:
            rotations, root, _ = self._at(motion, time)
            self._lag = (time, quat.multiply(before[0], quat.conjugate(rotations)), before[1] - root)

    def _legs(self, play: Play, part: str) -> list[Leg]:
        stage = play.stage
        return [stage.journeys[part][-1], stage.turns[part][-1]] if isinstance(stage, KinematicStage) else []

    def _beginning(self, time: float) -> tuple[float, Pose | None]:
        """When and how the next motion begins: at a time where the body has stood for a while."""
        old = self.motion
        if old is None:
            return self.first, self._start
        k = min(int((time - self.first) * self.fps), len(old) - 1)
        back = k - round(STOOD * self.fps)
        if back < 0:
            return self.first, self._start
        feet = [old.skeleton.joint(f"foot_{side}") for side in SIDES]
        places = fk.forward(old.skeleton, old.rotations[: k + 1], old.roots[: k + 1])[0][:, feet]
        if np.ptp(places[back:], axis=0).max() >= STILL:
            return self.first, self._start
        # who has not stepped begins where it began, or its feet would creep
        stepped = self._start is None or np.ptp(places, axis=0).max() >= STILL
        return self.first + k / self.fps, Pose(old.rotations[k], old.roots[k]) if stepped else self._start

    def _eased(self, motion: Motion, time: float) -> tuple[Array, Array, Array]:
        """Rotations (J, 4), hips (3,) [m] and base (3,) on the way from what was shown before."""
        rotations, root, base = self._at(motion, time)
        if self._lag is not None:
            begun, turned, moved = self._lag
            share = float(smoothstep(np.clip((time - begun) / EASE, 0.0, 1.0)))
            rest = quat.slerp(turned, np.broadcast_to(quat.IDENTITY, turned.shape), share)
            rotations = quat.multiply(rest, rotations)
            root = root + (1.0 - share) * moved
            self._lag = None if share >= 1.0 else self._lag
        return rotations, root, base

    def _at(self, motion: Motion, time: float) -> tuple[Array, Array, Array]:
        """Rotations (J, 4), hips (3,) [m] and base (3,) between samples."""
        assert motion.base is not None
        x = float(np.clip((time - self.first) * self.fps, 0.0, len(motion) - 1))
        k = min(int(x), max(len(motion) - 2, 0))
        n, share = min(k + 1, len(motion) - 1), x - k
        turned = quat.slerp(motion.rotations[k], motion.rotations[n], share)
        root, base = (row[k] + share * (row[n] - row[k]) for row in (motion.roots, motion.base))
        return turned, root, base


@dataclass(frozen=True, eq=False)
class Shown:
    """A moment of a play: everybody's body as a motion of one sample, and (4, 4) where each prop is that was held."""

    motions: Mapping[str, Motion]
    props: Mapping[str, Array]


class LiveCast:
    """Everybody who plays, shown while the minds go on.

    Attributes:
        bodies: By part.
    """

    def __init__(
        self,
        players: Mapping[str, Player],
        sheets: Sequence[Sheet],
        fps: float,
        params: BodyParams | None = None,
        props: Mapping[str, Thing] | None = None,
        furniture: Furniture | None = None,
    ) -> None:
        heights = {name: float(thing.track[0, 2, 3]) for name, thing in (props or {}).items()}
        self.fps = fps
        shared = enactable(sheets)
        self.bodies = {
            part: Preview(player, sheets, fps, params, heights, furniture, shared) for part, player in players.items()
        }
        self._served = 0
        self._handling = Handling(props or {}, furniture)
        self._meetings: list[Meeting] = []
        self._heard = 0
        self._handled: list[Event] = []

    def show(self, play: Play, time: float) -> Shown:
        """Everybody at a time that the play has come to [s]."""
        motions = {}
        fresh = play.events[self._heard :]
        self._heard += len(fresh)
        touches = contacts_of(fresh)
        for part in {name for touch in touches for name in (touch.first, touch.second) if name in self.bodies}:
            self.bodies[part].settle(play, part, time)
        turn = self._next(play, time)
        for part, body in self.bodies.items():
            pose, base = body.show(play, part, time, PIECES if part == turn else 0)
            motions[part] = Motion(
                body.player.skeleton, self.fps, pose.root[None], pose.rotations[None], base=base[None]
            )
        for touch in touches:
            found = self._meeting(touch)
            self._meetings += [found] if found is not None else []
        self._meetings = [m for m in self._meetings if m.contact.end > time]
        meet(self._meetings, motions, np.array([time]))
        handled = [e for e in fresh if e.name in ("attach", "release")]
        if handled:
            self._handled += handled
            now = dict(motions)
            self._handling.plan(attachments_of(self._handled, math.inf), lambda actor, _: now.get(actor))
        ways = self._handling.apply(motions, np.array([time]))
        return Shown(motions, {prop: way[0] for prop, way in ways.items()})

    def _next(self, play: Play, time: float) -> str:
        """Whose turn it is to show what it decided: one at a time, so that no frame takes long."""
        parts = list(self.bodies)
        parts = parts[self._served :] + parts[: self._served]
        news = [part for part in parts if self.bodies[part].is_busy]
        news = news or [part for part in parts if self.bodies[part].has_news(play, part, time)]
        if not news:
            return ""
        self._served = (list(self.bodies).index(news[0]) + 1) % len(parts)
        return news[0]

    def _meeting(self, touch: Contact) -> Meeting | None:
        """How two meet, as far as both are worked out."""
        pair = [self.bodies.get(name) for name in (touch.first, touch.second)]
        cut = {}
        first = max((body.first for body in pair if body is not None), default=0.0)
        for name, body in zip((touch.first, touch.second), pair, strict=True):
            if body is None or body.motion is None:
                return None
            cut[name] = (body.motion, round((first - body.first) * self.fps))
        count = min(len(motion) - k for motion, k in cut.values())
        return meeting_of(touch, {n: span_of(motion, k, k + count) for n, (motion, k) in cut.items()}, first)


def _so_far(play: Play, part: str, seconds: float, events: tuple[Event, ...]) -> PlayRecord:
    """What a body must know of a play that goes on, as if it ended later with nothing else happening."""
    kinds = {h.name: h.kind for h in play.company.world.values()}
    chosen = {part: tuple(play.selections[part])}
    return PlayRecord(seconds, events, chosen, (), play.stage, (), {}, {}, {}, kinds)
