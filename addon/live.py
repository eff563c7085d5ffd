"""Live: a play that goes on while the timeline runs, on the rigs themselves but without keys.

The minds step as they do in a bake, and the bodies are shown as a bake will have them, as far as the minds have
decided; only hands do not meet and props stay where they are. What was said is recorded with its time, so that the bake
is the same play.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core.errors import TroupeError
from ..core.kinematics.cast import Cast
from ..core.motion import Motion
from . import bake, extend, rig, scene, settings
from .bake import curves, nla
from .steps import finish

if TYPE_CHECKING:
    from ..core.acting.bodies import Player
    from ..core.acting.preview import Preview

_sessions: list[Session] = []


class Session:
    """A live performance under way.

    Attributes:
        script: Name of the text.
        params: As Play was set when it began.
        actors: Names of the rigs.
        parts: What they play.
        first: Frame of its beginning.
        said: Directions with their times [s].
        problem: What is wrong with the script since it was edited; it is played as it was before.
    """

    def __init__(self, context: bpy.types.Context, actors: Sequence[Any]) -> None:
        from ..core.acting.bodies import Player
        from ..core.acting.direction import PlayParams, assigned, named
        from ..core.acting.mind.walking import WalkingStage
        from ..core.acting.play import rehearse
        from ..core.acting.repertoire.library import ActionLibrary
        from ..core.gait.travel import TravelParams
        from .features import play as feature
        from .features import scripting
        from .features.act import lowered
        from .features.departure import departure
        from .features.travel import style_of
        from .scene import parts

        params = settings.params_from(actors[0].troupe.play, PlayParams)
        text = scripting.text_of(params.script, "script")
        script = named(text, params.script, extend.statements())
        self.params, self.script = params, params.script
        self.actors = sorted(ob.name for ob in actors)
        self._names = assigned(params.parts, list(script.actors), self.actors)
        self.parts = [self._names[name] for name in self.actors]
        self.first = context.scene.frame_current
        self.fps = scene.fps(context.scene)
        self.said: list[tuple[float, str]] = []
        self._sheets = feature.sheets_of(text, params.script)
        self._library = ActionLibrary(self._sheets)
        frames = np.arange(self.first, max(context.scene.frame_end, self.first) + 1, dtype=np.float64)
        with feature.without_ways(context):
            others, keyed, _ = finish(parts.things_steps(context, script, frames))
        curves_read: dict[tuple[str, str], Any] = dict(keyed)
        members, self._casts, self._floors, places = [], {}, {}, []
        self._players: dict[str, Player] = {}
        known, gait = feature.style_names(self._sheets), TravelParams(walk=style_of(params.style))
        for name in self.actors:
            ob = context.scene.objects[name]
            cast = rig.read(ob, context)
            begin = departure(cast, bake.start_here(ob, cast, context))
            members.append(parts.member(ob, self._names[name], begin.place))
            curves_read |= parts.curves_of(ob, self._names[name], frames, self.fps)
            self._casts[name], self._floors[name] = cast, begin.floor
            places.append(begin.place[:2])
            styles = feature.tracks_of(parts.styles_of(ob, known, frames, self.fps))
            self._players[name] = Player(cast.skeleton, lowered(begin), gait, styles)
        ways = finish(
            parts.floorplan_steps(context, self.actors, script, np.array(places), list(self._floors.values()))
        )
        moving = partial(WalkingStage, ways=ways)
        self._begin: Callable[[], Any] = lambda: rehearse(
            [(self._text, params.script)],
            self._cast,
            self._library,
            params.seed,
            curves_read,
            extend.statements(),
            moving=moving,
        )
        self._restore: dict[str, Callable[[], None]] = {}
        self._text = self._seen = text
        self._cast = [*members, *others]
        self.problem = ""
        self.restart()

    def restart(self) -> None:
        """From the beginning, with all that was said so far."""
        from ..core.acting.body.body import BodyParams
        from ..core.acting.preview import Preview

        self.play = self._begin()
        self.play.step(0.0)
        self.time, self._given = 0.0, 0
        manner = BodyParams(seed=self.params.body_seed, energy=self.params.energy)
        self._bodies: dict[str, Preview] = {
            name: Preview(player, self._sheets, self.fps, manner) for name, player in self._players.items()
        }

    def direct(self, text: str) -> str:
        """Give a direction now; what is wrong with it, or nothing."""
        from ..core.acting.mind.commands import command

        problem = command(self.play, text, self.time)
        if not problem:
            self.said.append((self.time, text))
            self._given = len(self.said)
        return problem

    def choices(self, part: str) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Groups of an actor's actions and scripts, each with its members and whether they are shown."""
        actor = next(a for a in self.play.actors if a.name == part)
        out = []
        for key, (name, members) in self.play.company.action_groups.items():
            current = actor.actions[key].selected.key
            out.append((name, [(self.play.company.actions[m].name, m == current) for m in members]))
        for key, (name, members) in self.play.company.script_groups.items():
            out.append(
                (
                    name,
                    [
                        (self.play.scripts[m].name, actor.scripts[key].current == self.play.scripts[m].name)
                        for m in members
                        if m
                    ],
                )
            )
        return out

    def show(self, context: bpy.types.Context, frame: float) -> None:
        """Play on to a frame and pose the rigs; an earlier frame begins again."""
        from ..core.acting.play import DT

        self._heed_edits()
        time = (frame - self.first) / self.fps
        if time < self.time - 1e-9:
            self.restart()
        while self.time < time - 1e-9:
            self._step(min(time, self.time + DT))
        for name in self.actors:
            ob = context.scene.objects.get(name)
            if ob is not None:
                self._pose(context, ob, name)

    def _heed_edits(self) -> None:
        """Go on with the script as it is now: what did not change goes on, what did begins again."""
        from ..core.acting.mind.reload import reload

        block = bpy.data.texts.get(self.script)
        text = self._seen if block is None else str(block.as_string())
        if text == self._seen:
            return
        self._seen = text
        try:
            reload(self.play, [(text, self.script)], self._cast, self._library)
            self._text, self.problem = text, ""
        except TroupeError as error:
            self.problem = str(error)

    def _step(self, time: float) -> None:
        from ..core.acting.mind.commands import command

        while self._given < len(self.said) and self.said[self._given][0] <= time:
            command(self.play, self.said[self._given][1], self.said[self._given][0])
            self._given += 1
        self.play.step(time)
        self.time = time

    def _pose(self, context: bpy.types.Context, ob: Any, name: str) -> None:
        pose, base = self._bodies[name].show(self.play, self._names[name], self.time)
        root = pose.root + (0.0, 0.0, self._floors[name])
        cast: Cast = self._casts[name]
        motion = Motion(cast.skeleton, self.fps, root[None], pose.rotations[None], base=base[None])
        own = ob.troupe.cast
        keys = bake.prepare(
            ob, cast, motion, context, context.scene.frame_current, root=own.root, legs=own.legs, arms=own.arms
        )
        if name not in self._restore:
            self._restore[name] = nla.remember(ob, {c.path for c in keys.channels})
        for channel in keys.channels:
            values = channel.values[0]
            curves.set_value(ob, channel.path, values if len(values) > 1 else float(values[0]))

    def close(self) -> None:
        """Give every rig back the pose that it had."""
        for name, restore in self._restore.items():
            if name in bpy.data.objects:
                restore()
        self._restore.clear()


def running() -> Session | None:
    """The live performance that is under way; None when there is none."""
    return _sessions[-1] if _sessions else None


def begin(context: bpy.types.Context, actors: Sequence[Any]) -> Session:
    """Begin a live performance at the current frame."""
    if _sessions:
        raise TroupeError("a play is live already: end it first")
    session = Session(context, actors)
    _sessions.append(session)
    bpy.app.handlers.frame_change_post.append(_frame_changed)
    bpy.app.handlers.load_pre.append(_leave)
    return session


def end() -> None:
    """End the live performance, if there is one; rigs go back to their poses and nothing stays behind."""
    for handlers, own in ((bpy.app.handlers.frame_change_post, _frame_changed), (bpy.app.handlers.load_pre, _leave)):
        while own in handlers:
            handlers.remove(own)
    while _sessions:
        _sessions.pop().close()


@bpy.app.handlers.persistent
def _frame_changed(stage: Any, _depsgraph: Any = None) -> None:
    session = running()
    if session is not None:
        session.show(bpy.context, stage.frame_current_final)


@bpy.app.handlers.persistent
def _leave(*_args: Any) -> None:
    end()


def register() -> None:
    """Nothing runs until somebody begins."""


def unregister() -> None:
    """End what runs."""
    end()
