"""Run a job: open or make the scene, bring the actors on, press the buttons in order, then write all or nothing."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import FormatError, InvalidRig, TroupeError
from ...core.filters.contacts import contacts
from ...core.filters.footlock import slide
from ...core.job import Job, Step
from .. import bake, features, rig, trace
from ..bake import curves
from . import cast_list, drawing, interrupt, output

Say = Callable[[str], None]


def run(
    job: Job, *, keep_going: bool = False, save: bool = False, fresh: bool = True, say: Say = print
) -> dict[str, Any]:
    """Run a job in this Blender, which must be in the background: the open file is replaced.

    Args:
        job: A checked job. Without a scene of its own it runs in the open file.
        keep_going: Go on after a step that fails, and write what there is.
        save: Also write over the scene's own file.
        fresh: Where neither the job nor Blender was given a file, begin with an empty scene.
        say: Gets a line for each step.

    Returns:
        The report: plain values, `ok` being false when a step failed.

    Raises:
        TroupeError: The job cannot be run, or a step failed; then nothing was written.
    """
    if not bpy.app.background:
        raise TroupeError("a job takes the place of the open file: run it with blender --background --command troupe")
    _open(job, fresh)
    with in_window():
        return _perform(job, keep_going, save, say)


def in_window() -> AbstractContextManager[Any]:
    """A context with a window, without which there are no selected objects: Blender calls its commands in none."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        return nullcontext()
    return bpy.context.temp_override(window=windows[0])


def _perform(job: Job, keep_going: bool, save: bool, say: Say) -> dict[str, Any]:
    home = bpy.data.filepath
    if save and not home:
        raise FormatError(job.source, 1, 1, "--save needs a scene that was opened from a file")
    if home and os.path.realpath(home) in [str(path) for path in job.output.files()]:
        raise FormatError(job.source, 1, 1, f"the output {home} is the open file itself: use --save to write over it")
    _set_rate(job)
    for spec in job.actors:
        cast_list.enter(job, spec)
        interrupt.check()
    for step in job.steps:
        for name in step.actors:
            if cast_list.find(name) is None:
                raise FormatError(job.source, *step.at("actor"), f"step {step.number}: {cast_list.unknown(name)}")
    drawing.check(job)
    ends: dict[str, int] = {}
    pictures: dict[Path, bytes] = {}
    steps = [_step(job, step, ends, pictures, keep_going, say) for step in job.steps]
    _set_range(job, steps, bool(home))
    report = {
        "ok": all(s["ok"] for s in steps),
        "job": job.source,
        "blender": bpy.app.version_string,
        "fps": bpy.context.scene.render.fps / bpy.context.scene.render.fps_base,
        "actors": sorted({name for step in job.steps for name in step.actors} | {a.name for a in job.actors}),
        "steps": steps,
    }
    report["written"] = output.write(job.output, home if save else "", report, pictures, say)
    return report


def _open(job: Job, fresh: bool) -> None:
    if job.scene is not None:
        try:
            bpy.ops.wm.open_mainfile(filepath=str(job.scene), load_ui=False, use_scripts=False)
        except RuntimeError as error:
            raise FormatError(str(job.scene), 1, 1, f"Blender cannot open it: {str(error).strip()[:300]}") from None
    elif fresh and not bpy.data.filepath:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def _set_rate(job: Job) -> None:
    if job.fps is not None:
        render = bpy.context.scene.render
        render.fps = math.ceil(job.fps)
        render.fps_base = math.ceil(job.fps) / job.fps
    if job.frames is not None:
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = job.frames


def _set_range(job: Job, steps: list[dict[str, Any]], opened: bool) -> None:
    """A timeline of our own making shows all that happens; a user's stays as it is."""
    scene = bpy.context.scene
    spans = [r["frames"] for s in steps for r in s["results"]]
    if job.frames is None and not opened and spans:
        scene.frame_start, scene.frame_end = max(0, min(f for f, _ in spans)), max(last for _, last in spans)
    scene.frame_set(scene.frame_start)


def _step(
    job: Job, step: Step, ends: dict[str, int], pictures: dict[Path, bytes], keep_going: bool, say: Say
) -> dict[str, Any]:
    """Press one button and tell what came of it; `ends` and `pictures` get the actors' last frames and the plots."""
    scene = bpy.context.scene
    start = step.start
    actors = [cast_list.find(name) for name in step.actors]
    if start is None:
        start = max((ends[name] for name in step.actors if name in ends), default=scene.frame_start)
        over = features.all_steps()[step.feature]
        start = max((over.since(ob, start) for ob in actors), default=start)
    who = ", ".join(step.actors)
    say(f"step {step.number} of {len(job.steps)}: {step.feature}{f' on {who}' if who else ''} from frame {start}")
    done: dict[str, Any] = {
        "step": step.number,
        "line": step.at("feature").line,
        "feature": step.feature,
        "actors": list(step.actors),
        "start": start,
        "ok": True,
        "results": [],
    }
    before = {(ob.name, found.action.name) for ob in actors for found in bake.results_of(ob)}
    clock = time.perf_counter()
    try:
        _press(step, actors, start)
    except TroupeError as error:
        # a signal inside an operator comes out as an error of the operator
        interrupt.check()
        message = str(error)
        named = re.match(r"(\w+) = ", message)
        at = step.at(named[1] if named and named[1] in step.params else "feature")
        text = f"{job.source}:{at.line}:{at.column}: step {step.number} ({step.feature}): {message}"
        if not keep_going:
            raise TroupeError(text) from None
        say(f"failed: {text}")
        done |= {"ok": False, "error": text}
    done["seconds"] = round(time.perf_counter() - clock, 3)
    for name, ob in zip(step.actors, actors, strict=True):
        for found in bake.results_of(ob):
            if (ob.name, found.action.name) not in before:
                done["results"].append(_measured(ob, found.action))
                ends[name] = done["results"][-1]["frames"][1]
    if done["ok"] and drawing.wanted(job, step):
        made = drawing.plots(job, step, actors)
        pictures |= made
        done["plots"] = [path.name for path in made]
    interrupt.check()
    return done


def _press(step: Step, actors: list[Any], start: int) -> None:
    for ob in actors:
        if not ob.visible_get():
            raise TroupeError(f"{ob.name} is hidden: show it, and the collection it is in")
    cast_list.choose(*actors)
    bpy.context.scene.frame_set(start)
    try:
        outcome = getattr(bpy.ops.troupe, step.feature)(**cast_list.arguments(step.feature, step.params))
    except RuntimeError as error:
        message = re.sub(r"^Operator \S+ ", "", str(error).strip())
        raise TroupeError(message.removeprefix("Error: ")) from None
    if outcome != {"FINISHED"}:
        raise TroupeError("was cancelled")


def _measured(ob: Any, action: Any) -> dict[str, Any]:
    """Numbers of one result: frames, keys, and how far its planted feet slide [mm]."""
    first, last = (round(f) for f in action.frame_range)
    bag = curves.bag(ob, action, create=False)
    keys = sum(len(curve.keys) for curve in curves.read(bag).values()) if bag is not None else 0
    out: dict[str, Any] = {"actor": ob.name, "action": action.name, "frames": [first, last], "keys": keys}
    kept = trace.trace_of(action)
    if kept is not None:
        out |= {"navigation": kept["report"], "transcript": trace.lines(kept)}
    try:
        motion = contacts(bake.read(ob, rig.read(ob, bpy.context), bpy.context, frames=(first, last)))
        travels = [1000.0 * s.travel for s in slide(motion)]
        out["contacts"] = len(travels)
        out["foot_slide_mm"] = round(max(travels, default=0.0), 2)
    except InvalidRig:
        # a character without feet has nothing that could slide
        pass
    return out
