"""What every feature shares: the operator's life cycle and the settings behind it; `panels` draws them."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import bpy

from ...core.errors import TroupeError
from ...core.params import Params
from .. import rig, scene, settings
from ..steps import Steps

AT_ONCE = 0.3
"""Work that is done within this time after a click shows no progress [s]."""
SLICE = 0.1
"""Time between two looks at the keyboard during long work [s]."""


class FeatureOperator(bpy.types.Operator):
    """Base of a feature's main operator: computes for every chosen actor, then writes, or writes nothing.

    A feature sets `params`, overrides `compute` and `apply`, and, where its needs differ, `why_not`. `owner` says
    where the sidebar's settings live: on the actor, or on the scene for features that need none. Further operators of
    a feature on this base are steps of a job too; those whose buttons say all have no `sidebar` settings.
    """

    params: ClassVar[type[Params]]
    owner: ClassVar[str] = "actor"
    has_presets: ClassVar[bool] = True
    sidebar: ClassVar[bool] = True
    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "params" in cls.__dict__:
            cls.__annotations__ = settings.properties(*cls.records())

    @classmethod
    def feature(cls) -> str:
        """The feature's one name."""
        return cls.bl_idname.split(".")[1]

    @classmethod
    def records(cls) -> tuple[type[Params], ...]:
        """The parameter records that operator, settings and panel show."""
        return (cls.params,)

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        """Why the feature cannot run here, in a sentence with the way out; None when it can."""
        if context.mode not in {"OBJECT", "POSE"}:
            return "Go to Object or Pose Mode first"
        if cls.owner == "scene":
            return None
        actors = scene.selected_armatures(context)
        if not actors:
            return _nobody(context)
        for ob in actors:
            problem = rig.check_usable(ob)
            if problem is None and not rig.is_cast(ob):
                problem = f"{ob.name} is not cast yet: press Cast first"
            if problem:
                return problem
        return None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Blender's question; the reason goes into the tooltip of the grey button."""
        problem = cls.why_not(context)
        if problem:
            cls.poll_message_set(problem)
        return problem is None

    @classmethod
    def since(cls, actor: Any, frame: int) -> int:
        """Where a step of a job that says no start begins, if the actor's step before ended at this frame."""
        return frame

    def compute(self, context: bpy.types.Context, actor: Any, params: Any) -> Any:
        """Everything that may fail, for one actor; must not change the scene."""
        raise TypeError(f"{type(self).__name__} computes nothing")

    def apply(self, context: bpy.types.Context, actor: Any, result: Any) -> str:
        """Write one actor's result into the scene and return the sentence to report."""
        raise TypeError(f"{type(self).__name__} writes nothing")

    def actors(self, context: bpy.types.Context) -> list[Any]:
        """Whom the operator acts on."""
        return [None] if self.owner == "scene" else scene.selected_armatures(context)

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: Any) -> Steps[Any]:
        """`compute`, in steps where it may take long; closing them must leave the scene as it was."""
        return self.compute(context, actor, params)
        yield

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """A click takes the sidebar's settings; a script's call takes its own arguments.

        What is not done in a moment goes on step by step, with its progress shown, until it is done or Esc is pressed.
        """
        if self.sidebar:
            settings.copy_settings(self._group(context, self.actors(context)[0]), self, *self.records())
        if bpy.app.background or context.window is None:
            return self.execute(context)
        self._steps = self.steps(context)
        return self._advance(context, AT_ONCE) or self._wait(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Compute for all, then write for all; errors become a report and leave the scene as it was."""
        self._steps = self.steps(context)
        return self._advance(context, float("inf")) or {"CANCELLED"}

    def steps(self, context: bpy.types.Context) -> Steps[None]:
        """The whole work: compute for all actors, then write."""
        params = settings.params_from(self, self.params)
        actors, results = self.actors(context), []
        for i, actor in enumerate(actors):
            work = self.compute_steps(context, actor, params)
            try:
                while True:
                    yield (i + next(work)) / len(actors)
            except StopIteration as end:
                results.append(end.value)
            finally:
                work.close()
        for actor, result in zip(actors, results, strict=True):
            self.report({"INFO"}, self.apply(context, actor, result))
            if self.sidebar:
                settings.copy_settings(self, self._group(context, actor), *self.records())

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Another slice of the work; nothing else happens meanwhile, so that it ends where it began."""
        if event.type == "ESC":
            self._steps.close()
            self.report({"WARNING"}, f"{self.bl_label} was stopped; nothing has changed")
            return self._end(context, {"CANCELLED"})
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            done = self._advance(context, SLICE, shown=True)
        except BaseException:  # whatever it is, the interface is given back
            self._end(context, {"CANCELLED"})
            raise
        return self._end(context, done) if done else {"RUNNING_MODAL"}

    def _advance(self, context: bpy.types.Context, seconds: float, shown: bool = False) -> set[str] | None:
        """Take steps for a while; the operator's answer when there are no more, or one failed.

        `shown` says that somebody waits, who is told how far it has come.
        """
        until = time.perf_counter() + seconds
        try:
            while time.perf_counter() < until:
                share = next(self._steps)
                if shown:
                    context.workspace.status_text_set(f"{self.bl_label}: {share:.0%}   Esc stops")
                    context.window_manager.progress_update(int(100 * share))
        except StopIteration:
            return {"FINISHED"}
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except ReferenceError:
            self.report({"ERROR"}, f"{self.bl_label}: something that it is about was removed meanwhile")
            return {"CANCELLED"}
        return None

    def _wait(self, context: bpy.types.Context) -> set[str]:
        manager = context.window_manager
        self._timer = manager.event_timer_add(SLICE / 2, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context, answer: set[str]) -> set[str]:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        return answer

    @classmethod
    def _group(cls, context: bpy.types.Context, actor: Any) -> Any:
        return getattr((context.scene if cls.owner == "scene" else actor).troupe, cls.feature())


def _nobody(context: bpy.types.Context) -> str:
    """What to say where no rig is selected: a character may be shown by an instance of its collection."""
    for ob in context.selected_objects:
        shown = ob.instance_collection
        if shown is not None and any(part.type == "ARMATURE" for part in shown.all_objects):
            way = "make a library override of it" if shown.library is not None else "select the rig in that collection"
            return f"{ob.name} only shows the collection {shown.name}: {way} first"
    return "Select the rig of a character first"


class ActorOperator(bpy.types.Operator):
    """Base of the small operators beside a feature: one deed on the active actor, one undo step."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        """Why it cannot run here, in a sentence with the way out; None when it can."""
        raise TypeError(f"{cls.__name__} does not say when it can run")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Blender's question; the reason goes into the tooltip of the grey button."""
        problem = cls.why_not(context)
        if problem:
            cls.poll_message_set(problem)
        return problem is None

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it to the active actor; errors become a report."""
        try:
            self.report({"INFO"}, self.act(context, scene.selected_armatures(context)[0]))
        except TroupeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def act(self, context: bpy.types.Context, actor: Any) -> str:
        """Do it, and return the sentence to report."""
        raise TypeError(f"{type(self).__name__} does nothing")
