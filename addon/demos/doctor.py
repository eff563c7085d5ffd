"""A walk with four mistakes is examined and mended by its buttons, the first finding first."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np

from ...core.figure import stroll
from ...core.filters.footlock import footlock
from ...core.filters.resample import resample
from ...core.kinematics.anatomy import axes
from ...core.maths import quat
from .. import bake, rig, scene
from ..features.doctor import findings_of

TOUR = False
"""Not in the default tour, which has to be short."""


def build(context: bpy.types.Context) -> None:
    """Give an actor a walk with sliding feet, a broken knee and a jump, hide it, examine it, mend it."""
    bpy.ops.troupe.mannequin()
    actor = context.object
    spoil(actor, context)
    bpy.ops.troupe.doctor()
    while found := findings_of(actor):
        bpy.ops.troupe.fix(actor=actor.name, kind=found[0].kind)
    context.scene.frame_start, context.scene.frame_end = 1, 3 * 26


def spoil(actor: bpy.types.Object, context: bpy.types.Context) -> None:
    """A strip on a muted track: the feet slide back, the left knee bends forward, the body jumps."""
    cast = rig.read(actor, context)
    motion = resample(footlock(stroll.walk(cast.skeleton, cycles=3)), scene.fps(context.scene))
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    roots[:, 0] += 0.06 * motion.times
    roots[len(roots) // 2 :, 0] += 0.12
    knee = cast.skeleton.joint("shin_L")
    bend = -0.9 * np.exp(-(((motion.times - 2.3) / 0.1) ** 2))
    rotations[:, knee] = quat.multiply(quat.about(axes("shin_L")[0], bend), rotations[:, knee])
    keys = bake.prepare(actor, cast, replace(motion, roots=roots, rotations=rotations), context, 1)
    done = bake.write(actor, keys, context, f"{actor.name} spoilt walk")
    next(t for t in actor.animation_data.nla_tracks if done.strip in list(t.strips)).mute = True
