"""The body of somebody in a play that is still going on: as it will be baked, as far as its mind has decided.

    body = Preview(player, sheets, fps=24)
    pose, base = body.show(play, "Izzy", time)        # as often as wanted, time rising

What is decided is enacted a little ahead, on real footfalls, and enacted again whenever something new is decided.
Each time it begins from the last moment at which the body stood, so that it costs the same however long the play lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..kinematics import fk
from ..maths import quat
from ..maths.ramp import smoothstep
from ..motion import Event, Motion
from ..skeleton import SIDES, Array, Pose
from .bodies import Player, smoothed
from .body.body import BodyParams
from .body.enacting import Part, enact
from .bodyorders import body_orders
from .mind.bodyport import KinematicStage, Leg
from .mind.mind import Play
from .play import PlayRecord
from .repertoire.library import ActionLibrary
from .repertoire.tables import Sheet

AHEAD = 1.5
"""How far ahead of the moment, or of the end of a walk, a body is worked out [s]."""
STOOD = 1.0
"""Time that feet must have been still for a body to be begun anew there [s]."""
STILL = 0.002
"""What moves less than this is still [m]."""
EASE = 0.3
"""Time in which a body goes over to what was decided anew [s]."""


class Preview:
    """One body, shown while its mind goes on.

    Attributes:
        motion: What is worked out, from `first` [s] on; None before the first showing.
    """

    def __init__(self, player: Player, sheets: Sequence[Sheet], fps: float, params: BodyParams | None = None) -> None:
        self.player, self.fps, self.params = player, fps, params or BodyParams()
        self.sheets = [*sheets, *player.sheets]
        self.motion: Motion | None = None
        self.first = 0.0
        self._library = ActionLibrary(self.sheets)
        self._start: Pose | None = player.start
        self._known: object = None
        self._heard: list[Event] = []
        self._looks = 0
        self._lag: tuple[float, Array, Array] | None = None

    def show(self, play: Play, part: str, time: float) -> tuple[Pose, Array]:
        """Pose, and base (3,), at a time that the play has come to [s]."""
        known = self._decided(play, part)
        motion = self.motion
        if motion is None or known != self._known or time > self.first + (len(motion) - 1) / self.fps:
            self._known = known
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
        return len(play.selections[part]), self._looks, self._legs(play, part)

    def _enacted(self, play: Play, part: str, time: float) -> Motion:
        old, before = self.motion, None
        if old is not None:
            before = self._at(old, min(time, self.first + (len(old) - 1) / self.fps))
            self._begin_anew(old, time)
        until = max(time, *(leg.end for leg in self._legs(play, part))) + AHEAD
        seconds = self.first + np.ceil((until - self.first) * self.fps) / self.fps
        record = _so_far(play, part, seconds, tuple(self._heard))
        asked = body_orders(record, part, self._library, self.fps, self.first)
        track = smoothed(record.base(part, self.fps, self.first))
        doing = Part(asked.wishes, track, asked.targets, self.player.styles, self._start, self.first)
        order = list(play.selections)
        own = replace(self.params, actor=order.index(part))
        self.motion = enact(self.player.skeleton, self.sheets, doing, self.fps, own, self.player.gait)
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


def _so_far(play: Play, part: str, seconds: float, events: tuple[Event, ...]) -> PlayRecord:
    """What a body must know of a play that goes on, as if it ended later with nothing else happening."""
    kinds = {h.name: h.kind for h in play.company.world.values()}
    chosen = {part: tuple(play.selections[part])}
    return PlayRecord(seconds, events, chosen, (), play.stage, (), {}, {}, {}, kinds)
