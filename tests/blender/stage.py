"""Actors, clips and choices for the tests inside Blender."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from troupe.addon import bake, figure, rig
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.kinematics import base
from troupe.core.maths import quat
from troupe.core.motion import Motion


def _built_once(build: Callable[..., Any]) -> Callable[..., Any]:
    """`body` of a mannequin, computed once for every shape that it is asked for."""
    known: dict[Any, Any] = {}

    def body(skeleton, params):
        shape = replace(params, theme="studio")
        if shape not in known:
            known[shape] = build(skeleton, params)
        return known[shape]

    return body


figure.body = _built_once(figure.body)


def still(objects):
    """Let the skins of rigs not follow them: that takes most of the time of a frame, and nothing here looks at it."""
    for ob in objects:
        for modifier in ob.modifiers:
            modifier.show_viewport = modifier.type != "ARMATURE"


@cache
def folder() -> Path:
    """Where files of this run are kept."""
    return Path(tempfile.mkdtemp())


def once(build: Callable[[], None]) -> None:
    """The scene that `build` makes in an empty file; made once, then opened from a file, which is much faster."""
    path = folder() / f"{build.__module__}.{build.__qualname__}.blend"
    if path.exists():
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        return
    build()
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False)


def walking():
    """A cast mannequin without skin that walks on its Troupe track, frames 1 to 107."""
    once(_walking)
    ob = bpy.data.objects["Mannequin"]
    choose(ob)
    return ob


def _walking():
    actor(skin=False)
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")


def choose(*objects):
    """Select these objects and nothing else; the first is active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None


def actor(skin=True):
    """A cast mannequin; built once, then taken from a file, which is twenty times faster.

    Without its skin, everything about it takes half the time: undo steps, reading, being taken from a file.
    """
    if skin not in _saved:
        bpy.ops.troupe.mannequin()
        if skin:
            still(bpy.context.object.children)
        for child in () if skin else bpy.context.object.children:
            bpy.data.objects.remove(child)
        _saved[skin] = str(folder() / f"actor{skin}.blend")
        # it alone, whatever else a test has put there before
        bpy.data.libraries.write(_saved[skin], {bpy.context.object, *bpy.context.object.children})
        return bpy.context.object
    with bpy.data.libraries.load(_saved[skin]) as (there, here):
        here.objects = there.objects
    for ob in here.objects:
        bpy.context.scene.collection.objects.link(ob)
    ob = next(ob for ob in here.objects if ob.type == "ARMATURE")
    choose(ob)
    return ob


_saved = {}


def wriggle(skeleton, frames=20, fps=24.0, seed=0):
    """A smooth motion of every joint that travels and turns."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / fps
    size, rate, shift = (rng.uniform(*span, (1, len(skeleton), 3)) for span in ((-0.5, 0.5), (1, 4), (0, 6)))
    rotations = quat.exp(size * np.sin(rate * t[:, None, None] + shift))
    leg = skeleton.leg_length()
    turn = quat.about(np.array([0.0, 0, 1]), 1.5 * t)
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    roots = np.column_stack([leg * t, -0.5 * leg * t, skeleton.offsets[0, 2] + 0.05 * leg * np.sin(5 * t)])
    return base.based(Motion(skeleton, fps, roots, quat.continuous(rotations)))


def bake_and_read(ob, motion, cast, **options):
    """Write a motion at frame 1 and read what the rig shows."""
    landing = options.pop("landing", "track")
    keys = bake.prepare(ob, cast, motion, bpy.context, 1, **options)
    result = bake.write(ob, keys, bpy.context, "test", landing=landing)
    return bake.read(ob, cast, bpy.context, frames=(1, len(keys.frames))), result


def put_back(shown, motion, here):
    """An in-place reading with the base of the motion put back."""
    still = replace(shown, base=np.tile(here, (len(shown), 1)))
    roots, turns = base.compose(motion.base, *base.relative(still))
    rotations = shown.rotations.copy()
    rotations[:, 0] = turns
    return replace(shown, roots=roots, rotations=quat.continuous(rotations))


def errors(a, b):
    """Largest distance of roots [m] and of rotations [rad]."""
    return np.abs(a.roots - b.roots).max(), quat.distance(a.rotations, b.rotations).max()


def walk_file(folder, height=1.7, **options):
    """A BVH file with a walk of our own."""
    from troupe.core.formats import bvh

    path = folder / f"walk{height:.2f}.bvh"
    bvh.write(path, bvh.from_motion(walk(mannequin(height), **options)))
    return path


def cast_of(ob):
    return rig.read(ob, bpy.context)
