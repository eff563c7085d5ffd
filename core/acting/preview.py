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
from collections.abc import Mapping, Sequence
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
from .body.enacting import Part, Standing, enact, enactable
from .bodyorders import body_orders
from .furniture import Furniture
from .hands import Meeting, meet, meeting_of
from .holding import Handling, Thing, span_of
from .mind.bodyport import KinematicStage, Leg
from .mind.mind import Play
from .play import PlayRecord, attachments_of
from .repertoire.library import ActionLibrary
from .repertoire.tables import Sheet

AHEAD = 1.5
"""How far ahead of the moment, or of the end of a walk, a body is worked out [s]."""
STOOD = 1.0
"""Time that feet must have been still for a body to be begun anew there [s]."""
STILL = 0.002
"""What moves less than this is still [m]."""
LAST_STEP = 0.6
"""Time before its end at which a motion that goes along by itself is worked out anew, for its last step is cut [s]."""
EASE = 0.3
"""Time in which a body goes over to what was decided anew [s]."""


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

    def has_news(self, play: Play, part: str, time: float) -> bool:
        """Whether something was decided that is not shown yet."""
        return self._decided(play, part) != self._known or self._is_over(time)

    def _is_over(self, time: float) -> bool:
        if self.motion is None or self.motion.base is None:
            return True
        left = self.first + (len(self.motion) - 1) / self.fps - time
        return left < 0.0 or (left < LAST_STEP and float(np.ptp(self.motion.base[-2:, :2], axis=0).max()) > 1e-4)

    def show(self, play: Play, part: str, time: float, turn: bool = True) -> tuple[Pose, Array]:
        """Pose, and base (3,), at a time that the play has come to [s].

        Args:
            turn: Whether news may be shown now; else it goes on as it was, as long as it can.
        """
        motion = self.motion
        if motion is None or (self.has_news(play, part, time) and (turn or self._is_over(time))):
            self._known = self._decided(play, part)
            motion = self._enacted(play, part, time)
        rotations, root, base = self._at(motion, time)
        if self._lag is not None:
            begun, turned, moved = self._lag
            share = float(smoothstep(np.clip((time - begun) / EASE, 0.0, 1.0)))
            rest = quat.slerp(turned, np.broadcast_to(quat.IDENTITY, turned.shape), share)
            rotations = quat.multiply(rest, rotations)
            root = root + (1.0 - share) * moved
            self._lag = None if share >= 1.0 else self._lag
        return Pose(rotations, root), base

    def _decided(self, play: Play, part: str) -> object:
        """Something that changes whenever anything new has been decided for a body."""
        fresh = play.events[len(self._heard) :]
        self._heard += fresh
        self._looks += sum(e.name == "look" and e.data.get("actor") == part for e in fresh)
        for touch in contacts_of(fresh):
            if part in (touch.first, touch.second):
                self._touched = touch.end
        return len(play.selections[part]), self._looks, self._touched, self._legs(play, part)

    def _enacted(self, play: Play, part: str, time: float) -> Motion:
        old, before = self.motion, None
        if old is not None:
            before = self._at(old, min(time, self.first + (len(old) - 1) / self.fps))
            self._begin_anew(old, time)
        until = max(time, self._touched, *(leg.end for leg in self._legs(play, part))) + AHEAD
        seconds = self.first + np.ceil((until - self.first) * self.fps) / self.fps
        record = _so_far(play, part, seconds, tuple(self._heard))
        asked = body_orders(record, part, self._library, self.fps, self.first, self.heights)
        track = smoothed(record.base(part, self.fps, self.first))
        doing = Part(asked.wishes, track, asked.targets, self.player.styles, self._start, self.first, self.furniture)
        order = list(play.selections)
        own = replace(self.params, actor=order.index(part))
        self.motion = enact(self.player.skeleton, self._library, doing, self.fps, own, self.player.gait, self._standing)
        if before is not None:
            rotations, root, _ = self._at(self.motion, time)
            self._lag = (time, quat.multiply(before[0], quat.conjugate(rotations)), before[1] - root)
        return self.motion

    def _legs(self, play: Play, part: str) -> list[Leg]:
        stage = play.stage
        return [stage.journeys[part][-1], stage.turns[part][-1]] if isinstance(stage, KinematicStage) else []

    def _begin_anew(self, old: Motion, time: float) -> None:
        """Let the next motion begin at a time where the body has stood for a while."""
        k = min(int((time - self.first) * self.fps), len(old) - 1)
        back = k - round(STOOD * self.fps)
        if back < 0:
            return
        feet = [old.skeleton.joint(f"foot_{side}") for side in SIDES]
        places = fk.forward(old.skeleton, old.rotations[: k + 1], old.roots[: k + 1])[0][:, feet]
        if np.ptp(places[back:], axis=0).max() < STILL:
            self.first += k / self.fps
            if self._start is None or np.ptp(places, axis=0).max() >= STILL:
                # who has not stepped begins where it began, or its feet would creep
                self._start = Pose(old.rotations[k], old.roots[k])

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
        turn = self._next(play, time)
        for part, body in self.bodies.items():
            pose, base = body.show(play, part, time, part == turn)
            motions[part] = Motion(
                body.player.skeleton, self.fps, pose.root[None], pose.rotations[None], base=base[None]
            )
        fresh = play.events[self._heard :]
        self._heard += len(fresh)
        for touch in contacts_of(fresh):
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
        news = [part for part in parts if self.bodies[part].has_news(play, part, time)]
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
