"""The actors of a job: found in the scene, made, or taken from files, then cast and put in their places."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import FormatError
from ...core.job import ActorSpec, Job
from ...core.params import Param, declared
from .. import bake, rig
from .. import scene as scenes
from ..features import all_steps

_IMPORTERS = {".fbx": "io_scene_fbx", ".glb": "io_scene_gltf2", ".bvh": "io_anim_bvh"}


def find(name: str) -> Any:
    """The armature of that name in the scene, or None."""
    ob = bpy.context.scene.objects.get(name)
    return ob if ob is not None and ob.type == "ARMATURE" else None


def unknown(name: str) -> str:
    """What to say when there is no such actor."""
    known = [ob.name for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the scene has {', '.join(known[:20]) or 'no armature'}"
    return f"no actor {name!r}; {hint}"


def choose(*objects: Any) -> None:
    """Select these and nothing else, in Object Mode; the first is active."""
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[0] if objects else None


def arguments(feature: str, values: Any) -> dict[str, Any]:
    """Parameters as the feature's operator takes them: all of them, so that nothing depends on an earlier call."""
    known = [p for record in all_steps()[feature].records() for p in declared(record)]
    return {p.name: _plain(p, values[p.name]) for p in known if p.name in values}


def _plain(p: Param, value: Any) -> Any:
    return json.dumps(value) if p.kind == "table" else value


def enter(job: Job, spec: ActorSpec) -> Any:
    """Bring one actor onto the scene as the job wants it."""
    ob = find(spec.name)
    made = spec.rig is not None or spec.mannequin is not None
    if made and bpy.data.objects.get(spec.name) is not None:
        raise FormatError(job.source, *spec.at, f"the scene already has an object called {spec.name!r}")
    if spec.mannequin is not None:
        ob = _mannequin(spec)
    elif spec.rig is not None:
        ob = _imported(spec.rig, spec.armature)
    elif ob is None:
        raise FormatError(job.source, *spec.at, f"{unknown(spec.name)}; a new actor needs a rig or a mannequin")
    if made:
        for child in ob.children_recursive:
            child.name = child.name.replace(ob.name, spec.name, 1) if child.name.startswith(ob.name) else child.name
        ob.name = spec.name
    if spec.map is not None or not rig.is_cast(ob):
        choose(ob)
        bpy.ops.troupe.cast(map_file=str(spec.map or ""))
    _place(ob, spec)
    return ob


def _mannequin(spec: ActorSpec) -> Any:
    cursor = bpy.context.scene.cursor
    before = cursor.location.copy()
    cursor.location = (0.0, 0.0, 0.0)
    choose()
    bpy.ops.troupe.mannequin(**arguments("mannequin", spec.mannequin))
    cursor.location = before
    return bpy.context.object


def _place(ob: Any, spec: ActorSpec) -> None:
    """Turn and move the object until the resting character stands where it should."""
    if spec.place is None and spec.heading is None:
        return
    bpy.context.view_layer.update()
    metre = scenes.metre(bpy.context.scene)
    here = bake.base_of(rig.read(ob, bpy.context), np.array(ob.matrix_world, dtype=np.float64), metre)
    x, y = spec.place if spec.place is not None else here[:2]
    turn = 0.0 if spec.heading is None else spec.heading - here[2]
    to = Matrix.Translation((x / metre, y / metre, 0.0))
    back = Matrix.Translation((-here[0] / metre, -here[1] / metre, 0.0))
    ob.matrix_world = to @ Matrix.Rotation(turn, 4, "Z") @ back @ ob.matrix_world
    bpy.context.view_layer.update()


def _imported(path: Path, armature: str) -> Any:
    """The armature of a rig file, with all that it deforms; rate and range of the timeline stay as they are."""
    scene, render = bpy.context.scene, bpy.context.scene.render
    before = set(bpy.data.objects)
    timeline = render.fps, render.fps_base, scene.frame_start, scene.frame_end, scene.frame_current
    choose()
    try:
        if path.suffix.lower() == ".blend":
            with bpy.data.libraries.load(str(path)) as (there, here):
                here.objects = there.objects
        else:
            _import(path)
    except (RuntimeError, OSError) as error:
        raise FormatError(str(path), 1, 1, f"cannot be read as a rig: {str(error).strip()[:300]}") from None
    finally:
        render.fps, render.fps_base, scene.frame_start, scene.frame_end, frame = timeline
        scene.frame_set(frame)
    found = [ob for ob in bpy.data.objects if ob not in before and ob.type == "ARMATURE"]
    named = [ob for ob in found if ob.name == armature] if armature else found
    if len(named) != 1:
        names = ", ".join(ob.name for ob in found) or "none"
        fix = "choose one with armature" if found else "choose a file with a rig"
        raise FormatError(str(path), 1, 1, f"its armatures: {names}; {fix}")
    body = [ob for ob in bpy.data.objects if ob not in before and ob.find_armature() == named[0]]
    for ob in (named[0], *named[0].children_recursive, *body):
        if ob.name not in scene.objects:
            scene.collection.objects.link(ob)
    return named[0]


def _import(path: Path) -> None:
    kind = path.suffix.lower()
    addon_utils.enable(_IMPORTERS[kind], default_set=False)
    if kind == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif kind == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.import_anim.bvh(filepath=str(path))
