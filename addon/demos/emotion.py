"""Three knocks at a door: neutral, angry and sad, from one performance."""

from __future__ import annotations

import os
import tempfile

import bpy

from ...core.figure import acts, stroll
from ...core.figure.mannequin import mannequin
from ...core.formats import bvh
from ...core.motion import Motion

FRAMES = (10, 100)
"""While they knock; before and after, they stand."""
WALKERS = ((-1.0, "", "studio"), (0.0, "sad_walk", "clay"), (1.0, "march_walk", "clay"))
ACTORS = ((-0.8, "", "studio"), (0.0, "angry", "clay"), (0.8, "sad", "clay"))


def build(context: bpy.types.Context) -> None:
    """Let three actors knock the same way and give two of them a feeling."""
    for x, emotion, theme in ACTORS:
        perform(context, acts.knock(mannequin()), x, theme)
        if emotion:
            bpy.ops.troupe.emotion(emotion=emotion)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_start, context.scene.frame_end = 1, 140


def camera(context: bpy.types.Context) -> None:
    """Look at the actors from the front."""
    context.scene.camera.location = (1.0, -5.6, 1.6)
    context.scene.camera.rotation_euler = (1.45, 0.0, 0.175)


def build_walks(context: bpy.types.Context) -> None:
    """Let three actors walk the same way, two of them in another manner."""
    for x, emotion, theme in WALKERS:
        perform(context, stroll.walk(mannequin(), 4), x, theme)
        if emotion:
            bpy.ops.troupe.emotion(emotion=emotion)
    context.scene.cursor.location = (0.0, 0.0, 0.0)
    context.scene.frame_start, context.scene.frame_end = 1, 100


def perform(context: bpy.types.Context, motion: Motion, x: float, theme: str) -> None:
    """Add an actor at x that does this from frame 1 on; it is selected then."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "act.bvh")
    try:
        bvh.write(path, bvh.from_motion(motion))
        context.scene.frame_set(1)
        context.scene.cursor.location = (x, 0.0, 0.0)
        bpy.ops.troupe.mannequin(theme=theme)
        bpy.ops.troupe.retarget(clip="none", file=path)
        context.object.troupe.retarget.file = ""
    finally:
        os.remove(path)
        os.rmdir(folder)


VARIANTS = {"walk": (build_walks, None)}
"""The same for manners of going."""
