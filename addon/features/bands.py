"""Bands: an equaliser for whatever an actor does, one slider a band of frequency."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.filters.bands import SLIDERS, BandParams, BandsDraft, bands
from ...core.filters.bank import count, frequencies
from ...core.filters.positions import STRETCH
from ...core.kinematics.cast import Cast
from ...core.motion import Motion
from ...core.params import declared
from .. import rig, scene
from ..bake import nla
from ..steps import Steps
from .edit import EditOperator
from .motions import Plan

ICON = "FCURVE"


class Operator(EditOperator):
    """Make bands of frequency in the animation of the selected actors stronger or weaker, as an equaliser does"""

    bl_idname = "troupe.bands"
    bl_label = "Bands"
    params = BandParams

    @classmethod
    def edit_steps(
        cls, context: bpy.types.Context, actor: Any, cast: Cast, motion: Motion, params: BandParams
    ) -> Steps[Motion]:
        return bands(motion, params)
        yield

    @classmethod
    def draft(cls, motion: Motion, params: BandParams) -> BandsDraft:
        return BandsDraft(motion, params)

    def apply(self, context: bpy.types.Context, actor: Any, result: Plan) -> str:
        done = super().apply(context, actor, result)
        return done + stretched(result.keys.motion)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel: the sliders first, with their frequencies, then everything else."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        actor = next(iter(scene.selected_armatures(context)), None)
        draw_gains(self.layout, self, context, actor)
        for p in (p for record in self.records() for p in declared(record) if p.name != "gains"):
            self.layout.prop(self, p.name)


def stretched(motion: Motion) -> str:
    """By how much filtered places would change the length of bones, as the end of a sentence; empty where none were."""
    lengths = {name: curve for name, curve in motion.curves.items() if name.startswith(STRETCH)}
    if not lengths:
        return ""
    least, most = (min(c.min() for c in lengths.values()), max(c.max() for c in lengths.values()))
    farthest = max(lengths, key=lambda name: float(np.abs(lengths[name] - 1.0).max())).removeprefix(STRETCH)
    return f"; bones ask for {least:.0%} to {most:.0%} of their length, most at {farthest}, and keep it"


def draw_gains(layout: bpy.types.UILayout, owner: Any, context: bpy.types.Context, actor: Any) -> None:
    """A slider a band, labelled with the frequency it is about; grey where the animation is too short for it."""
    rate, samples = scene.fps(context.scene), 2**SLIDERS
    if actor is not None and next(nla.sources(actor), None) is not None:
        first, last = nla.frame_range(actor)
        samples = max(int(last - first) + 1, 1)
    column = layout.column(align=True)
    for k, hz in enumerate(frequencies(rate, 2**SLIDERS)):
        row = column.row(align=True)
        row.active = k < count(samples)
        row.prop(owner, "gains", index=k, text=label(hz), slider=True)


def label(hz: float) -> str:
    """A frequency as short as it can be told."""
    return f"{hz:.0f} Hz" if hz >= 10 else f"{hz:.1f} Hz" if hz >= 1 else f"{hz:.2f} Hz"


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, actor: Any) -> None:
    """The sliders of the sidebar."""
    if actor is not None and rig.is_cast(actor):
        layout.separator()
        draw_gains(layout, actor.troupe.bands, context, actor)
