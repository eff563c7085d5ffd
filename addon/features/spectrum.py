"""Spectrum: curves and frequencies of what an actor does, before and after an edit, as a picture and a report."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.errors import TroupeError
from ...core.filters.spectrum import SpectrumParams, joint_of, report, spectrum
from ...core.filters.waveshape import ANGLES, angles_of
from ...core.motion import Motion
from ...core.skeleton import Array
from .. import plot, rig
from ..bake import results
from ..steps import Steps
from .base import FeatureOperator
from .edit import EditOperator, read_steps, source_of

ICON = "GRAPH"
COLOURS = ((1.0, 0.45, 0.35), (0.45, 0.85, 0.45), (0.45, 0.65, 1.0))
"""Of flexion, abduction and rotation; what was before the edit has them dimmed."""
_FLOOR_DB = -80.0


class Seen(NamedTuple):
    """What is plotted: the motion, the one before the chosen edit if there is one, the joint, and the first frames."""

    after: Motion
    before: Motion | None
    joint: int
    frames: tuple[int, int]


class Operator(FeatureOperator):
    """Draw the angles and frequencies of a joint, before and after the chosen edit, and report on the whole motion"""

    bl_idname = "troupe.spectrum"
    bl_label = "Plot"
    params = SpectrumParams
    has_presets = False

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str | None:
        return EditOperator.why_not(context)

    def compute_steps(self, context: bpy.types.Context, actor: Any, params: SpectrumParams) -> Steps[Any]:
        seen = yield from look_steps(context, actor)
        return seen._replace(joint=joint_of(seen.after, params.joint)), params

    def apply(self, context: bpy.types.Context, actor: Any, result: tuple[Seen, SpectrumParams]) -> str:
        seen, params = result
        image = plot.to_image(f"{actor.name} plot", plot.picture(charts(seen, params)))
        if params.file:
            image.filepath_raw, image.file_format = params.file, "PNG"
            try:
                image.save()
            except RuntimeError as error:
                raise TroupeError(f"{params.file} cannot be written: {str(error).strip()}") from None
        words = bpy.data.texts.get(f"{actor.name} report") or bpy.data.texts.new(f"{actor.name} report")
        words.from_string(report(seen.after, params.above) + "\n")
        name = seen.after.skeleton.names[seen.joint]
        return f"{actor.name}: {name} drawn in the image {image.name}, report in the text {words.name}"


def look_steps(context: bpy.types.Context, actor: Any) -> Steps[Seen]:
    """Steps to what an actor does now, and did before the chosen result where that is an edit."""
    cast = rig.read(actor, context)
    source = source_of(actor, None)
    after = yield from read_steps(actor, cast, context, source)
    before, first = None, source.frames[0]
    start = _start_of_chosen(actor)
    if start is not None:
        before = yield from read_steps(actor, cast, context, source_of(actor, start))
        first = start["frames"][0]
    return Seen(after, before, 0, (source.frames[0], first))


def _start_of_chosen(actor: Any) -> Any:
    """Where the chosen result, or else the topmost, began, if it is an edit; None if it is not."""
    found = results.results_of(actor)
    chosen = next((f for f in found if f.action.name == actor.troupe.result), found[-1] if found else None)
    start = (results.recipe_of(chosen.action) or {}).get("start") if chosen is not None else None
    return start if start and "frames" in start else None


def charts(seen: Seen, params: SpectrumParams) -> list[plot.Chart]:
    """Angles by frame and power by frequency of the chosen joint, what was before dimmed behind what is now."""
    name = seen.after.skeleton.names[seen.joint]
    motions = [(seen.after, seen.frames[0], 1.0, "")]
    if seen.before is not None:
        motions.insert(0, (seen.before, seen.frames[1], 0.45, " before"))
    first, last = min(m[1] for m in motions), max(m[1] + len(m[0]) - 1 for m in motions)
    frames = np.arange(first, last + 1, dtype=np.float64)
    turns, power, hertz = [], [], np.linspace(0.0, seen.after.fps / 2, 400)
    for motion, start, shade, when in motions:
        angles = np.degrees(angles_of(motion, seen.joint))
        found = spectrum(angles, motion.fps)
        for k, (angle, colour) in enumerate(zip(ANGLES, COLOURS, strict=True)):
            tint = (colour[0] * shade, colour[1] * shade, colour[2] * shade)
            at = np.arange(start, start + len(angles))
            turns.append(plot.Series(angle + when, tint, np.interp(frames, at, angles[:, k])))
            decibels = _decibels(found.power[:, k])
            power.append(plot.Series(angle + when, tint, np.interp(hertz, found.frequencies, decibels)))
    return [
        plot.Chart(f"{name}, degrees", "frame", frames, turns),
        plot.Chart("power, dB", "Hz", hertz, power, (params.above,)),
    ]


def _decibels(power: Array) -> Array:
    """Power (F,) of degrees squared, as dB, not below what can be seen."""
    out: Array = np.maximum(10.0 * np.log10(np.maximum(power, 1e-12)), _FLOOR_DB)
    return out


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The last picture, small; the whole of it is in the Image Editor."""
    image = bpy.data.images.get(f"{actor.name} plot") if actor is not None else None
    if image is not None:
        layout.template_icon(icon_value=image.preview_ensure().icon_id, scale=10.0)
