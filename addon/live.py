"""Live: a play that goes on while the timeline runs, on the rigs themselves but without keys.

The minds take the steps that they take in a bake, and bodies, props and cameras are shown as a bake will have them, as
far as the minds have decided (`core.acting.preview`). What was said is recorded with its time, so that the bake is the
same play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..core.errors import TroupeError
from ..core.maths import quat
from ..core.motion import Motion
from ..core.skeleton import Array
from . import bake, extend, rig, scene, settings
from .bake import curves, things, twins
from .scene import parts
from .steps import finish

_sessions: list[Session] = []


class Session:
    """A live performance under way.

    Attributes:
        script: Name of the text.
        params: As Play was set when it began.
        actors: Names of the rigs.
        parts: What they play.
        first: Frame of its beginning.
        time: How far it is [s].
        reached: How far it has come, also before it began again [s].
        said: Directions with their times, in their order [s].
        problem: What is wrong with the script since it was edited; it is played as it was before.
    """

    def __init__(self, context: bpy.types.Context, actors: Sequence[Any]) -> None:
        from ..core.acting.direction import PlayParams
        from .features import play as feature
        from .features.company import Member
        from .features.staging import staging_steps

        params = settings.params_from(actors[0].troupe.play, PlayParams)
        self.params, self.script = params, params.script
        self.actors = sorted(ob.name for ob in actors)
        self.stage, self.first, self.reached = context.scene.name, context.scene.frame_current, 0.0
        self.fps = scene.fps(context.scene)
        self.said: list[tuple[float, str]] = []
        members = {}
        for name in self.actors:
            ob = context.scene.objects[name]
            cast = rig.read(ob, context)
            members[name] = Member(ob, cast, bake.start_here(ob, cast, context), feature.Operator, params)
        frames = np.arange(self.first, max(context.scene.frame_end, self.first) + 1, dtype=np.float64)
        self._staged = finish(staging_steps(context, members, params, frames))
        self.parts = [self._staged.names[name] for name in self.actors]
        self._casts = {name: member.cast for name, member in members.items()}
        self._twins = twins.Twins()
        self._before: dict[str, dict[str, Any]] = {}
        self._text = self._seen = self._staged.text
        self.problem = ""
        self.restart(context)

    def restart(self, context: bpy.types.Context) -> None:
        """From the beginning, with all that was said so far."""
        from ..core.acting.body.body import BodyParams
        from ..core.acting.play import direct_at, rehearse
        from ..core.acting.preview import LiveCast
        from .features.filming import shots_of

        staged = self._staged
        self.play = rehearse(
            [(self._text, self.script)],
            staged.cast,
            staged.library,
            self.params.seed,
            staged.curves,
            extend.statements(),
            moving=staged.moving,
        )
        for time, text in self.said:
            direct_at(self.play, time, text)
        self.play.step(0.0)
        self.time, self._filmed = 0.0, 0
        manner = BodyParams(seed=self.params.body_seed, energy=self.params.energy)
        self._cast = LiveCast(staged.players, staged.sheets, self.fps, manner, staged.props, staged.furniture)
        cameras = [h.name for h in self.play.company.world.values() if h.kind == "camera"] if self.params.camera else []
        self._shots = shots_of(context, cameras, self.fps, staged.ways)
        self._show(context)

    def direct(self, text: str) -> str:
        """Give a direction now; what is wrong with it, or nothing."""
        from ..core.acting.mind.commands import command

        # what is due before it comes first, as it will in the bake
        self.play.drain(self.time)
        problem = command(self.play, text, self.time)
        if not problem:
            self.said = sorted([*self.said, (self.time, text)], key=lambda each: each[0])
        return problem

    def take_back(self, context: bpy.types.Context) -> str:
        """Go on as if the last direction had not been given; which one it was."""
        if not self.said:
            raise TroupeError("no direction has been given yet")
        text, time = self.said.pop()[1], self.time
        self.restart(context)
        self._go_on(time)
        self._show(context)
        return text

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

    def moods(self, part: str) -> list[tuple[tuple[str, ...], float]]:
        """Numbers that an actor has as properties, by name, or by name and toward whom."""
        actor = next(a for a in self.play.actors if a.name == part)
        people = {h.key: h.name for h in self.play.company.world.values()}
        found = []
        for key, value in actor.values.items():
            words = (key,) if isinstance(key, str) else (key[0], people.get(key[1], key[1]))
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found.append((words, float(value)))
        return sorted(found)

    def show(self, context: bpy.types.Context, frame: float) -> None:
        """Play on to a frame and pose the rigs; an earlier frame begins again."""
        self._heed_edits()
        time = (frame - self.first) / self.fps
        if time < self.time - 1e-9:
            self.restart(context)
        self._go_on(time)
        self._show(context)

    def _go_on(self, time: float) -> None:
        """Let the minds come to a time [s], by the same steps as those of a bake, whatever the frames."""
        from ..core.acting.play import DT

        while self.play.steps * DT <= time + 1e-9:
            self.play.step(self.play.steps * DT)
        self.time = max(time, 0.0)
        self.reached = max(self.reached, self.time)

    def _show(self, context: bpy.types.Context) -> None:
        """Pose the rigs, and put props and cameras where they are now."""
        shown = self._cast.show(self.play, self.time)
        for name in self.actors:
            ob = context.scene.objects.get(name)
            if ob is not None:
                self._pose(context, ob, name, shown.motions[self._staged.names[name]])
        for prop, matrix in shown.props.items():
            ob = parts.find(context, prop)
            if ob is not None:
                places, turns = parts.world_track(context, matrix[None], self._staged.furniture.floor)
                self._put(ob, places, turns)
        self._film()

    def _film(self) -> None:
        """Turn the cameras, frame after frame as a bake does."""
        last = round(self.time * self.fps)
        for name, (shot, places) in self._shots.items():
            aims = self.play.aims.get(name)
            if aims:
                for k in range(self._filmed + 1, last + 1):
                    shot.follow(aims, k / self.fps, places[min(k, len(places) - 1)])
                ob = bpy.data.objects.get(shot.name)
                if ob is not None:
                    self._put(ob, None, quat.unit(shot.turn)[None])
        self._filmed = last

    def _put(self, ob: Any, place: Array | None, turn: Array) -> None:
        """Show an object without bones at a place (1, 3) [units], turned (1, 4)."""
        self._set(ob, things.way_channels(ob, place, turn))

    def _set(self, ob: Any, channels: Sequence[curves.Channel]) -> None:
        before = self._before.setdefault(ob.name, {})
        for channel in channels:
            if channel.path not in before:
                before[channel.path] = curves.value(ob, channel.path)
            values = channel.values[0]
            curves.set_value(ob, channel.path, values if len(values) > 1 else float(values[0]))

    def _heed_edits(self) -> None:
        """Go on with the script as it is now: what did not change goes on, what did begins again."""
        from ..core.acting.mind.reload import reload

        block = bpy.data.texts.get(self.script)
        text = self._seen if block is None else str(block.as_string())
        if text == self._seen:
            return
        self._seen = text
        try:
            reload(self.play, [(text, self.script)], self._staged.cast, self._staged.library)
            self._text, self.problem = text, ""
        except TroupeError as error:
            self.problem = str(error)

    def _pose(self, context: bpy.types.Context, ob: Any, name: str, motion: Motion) -> None:
        from .features.act import raised

        own = ob.troupe.cast
        keys = bake.prepare(
            ob,
            self._casts[name],
            raised(self._staged.begins[name], motion),
            context,
            context.scene.frame_current,
            root=own.root,
            legs=own.legs,
            arms=own.arms,
            twins=self._twins,
        )
        self._set(ob, keys.channels)

    def close(self) -> None:
        """Give every rig back the pose that it had, and props and cameras their place."""
        for name, values in self._before.items():
            ob = bpy.data.objects.get(name)
            for path, value in values.items() if ob is not None else ():
                if value is not None:
                    curves.set_value(ob, path, value)
        self._before.clear()
        self._twins.close()


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
    # twins of control rigs have scenes of their own, which change their frame too
    if session is not None and stage.name == session.stage:
        session.show(bpy.context, stage.frame_current_final)


@bpy.app.handlers.persistent
def _leave(*_args: Any) -> None:
    end()


@bpy.app.handlers.persistent
def _undone(*_args: Any) -> None:
    """Undoing to a moment of a live play that is over brings back what it had put aside."""
    if running() is None:
        twins.clear()


def register() -> None:
    """Nothing runs until somebody begins."""
    bpy.app.handlers.undo_post.append(_undone)
    bpy.app.handlers.redo_post.append(_undone)


def unregister() -> None:
    """End what runs."""
    end()
    bpy.app.handlers.undo_post.remove(_undone)
    bpy.app.handlers.redo_post.remove(_undone)
