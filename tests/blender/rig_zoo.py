"""Rigs and skeletons of the test data, loaded by Blender's own importers."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import bpy
import stage
from troupe.addon.rig import Bones, bones_of


def load(path: Path) -> Any:
    """The first armature object of a file, imported into an empty scene; None if the file has none."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return add(path)


def add(path: Path) -> Any:
    """The first armature object of a file, imported into the scene as it is; None if the file has none."""
    before = set(bpy.context.scene.objects)
    kind = path.suffix.lower()
    if kind == ".bvh":
        bpy.ops.import_anim.bvh(filepath=str(path))
    elif kind == ".fbx":
        bpy.ops.preferences.addon_enable(module="io_scene_fbx")
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif kind == ".blend":
        with bpy.data.libraries.load(str(path)) as (there, here):
            here.objects = there.objects
        for ob in here.objects:
            bpy.context.scene.collection.objects.link(ob)
    elif kind in (".glb", ".vrm", ".vrma"):
        with tempfile.TemporaryDirectory() as folder:
            # The importer goes by the suffix.
            copy = shutil.copy(path, Path(folder) / f"{path.stem}.glb")
            bpy.ops.import_scene.gltf(filepath=str(copy))
    else:
        raise ValueError(f"{path.name}: no importer for {kind}")
    added = [ob for ob in bpy.context.scene.objects if ob not in before]
    stage.still(added)
    return next((ob for ob in added if ob.type == "ARMATURE"), None)


@cache
def bones(path: Path) -> Bones:
    """What detection sees of a file's armature, read once a session."""
    ob = load(path)
    assert ob is not None, f"{path.name} has no armature"
    return bones_of(ob)
