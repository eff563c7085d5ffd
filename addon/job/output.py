"""The files of a job: all written under names of their own first, then all put in place at once."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.errors import TroupeError
from ...core.formats import bvh
from ...core.job import Output
from .. import bake, rig
from . import cast_list, interrupt

VIEW = Vector((0.55, -0.8, 0.3))
"""From the actors to the camera of a scene that has none."""
SIZE = (960, 540)


class Staged:
    """Files on their way: each has a hidden name beside the one that it will get."""

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex[:12]
        self._files: dict[Path, Path] = {}

    def name(self, target: Path) -> Path:
        """Where to write what is to become `target`. The same folder: paths inside a .blend are relative to it."""
        self._files[target] = target.with_name(f".{target.stem}.troupe-{self._token}{target.suffix}")
        return self._files[target]

    def commit(self) -> list[Path]:
        """Put every file in its place."""
        with interrupt.deferred():
            for target, staged in self._files.items():
                os.replace(staged, target)
            done, self._files = list(self._files), {}
        return done

    def drop(self) -> None:
        """Remove what was not put in place."""
        for staged in self._files.values():
            staged.unlink(missing_ok=True)


@contextmanager
def staging() -> Iterator[Staged]:
    """Files that are gone again unless they are committed."""
    staged = Staged()
    try:
        yield staged
    except OSError as error:
        raise TroupeError(f"{error.filename}: cannot be written: {error.strerror}") from None
    finally:
        staged.drop()


def write(
    output: Output, home: str, report: dict[str, Any], pictures: Mapping[Path, bytes], say: Callable[[str], None]
) -> list[str]:
    """Write everything that a job asks for, its pictures, and the scene's own file `home` unless that is empty."""
    with staging() as staged:
        for target in dict.fromkeys(p for p in (output.blend, Path(home) if home else None) if p is not None):
            say(f"writing {target}")
            _save(staged.name(target))
            interrupt.check()
        for name, target in output.bvh.items():
            say(f"writing {target}")
            _write_bvh(name, staged.name(target))
            interrupt.check()
        if output.render is not None:
            say(f"rendering {output.render}")
            _render(output.render, staged)
        for target, data in pictures.items():
            staged.name(target).write_bytes(data)
        if output.report is not None:
            text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
            staged.name(output.report).write_text(text, encoding="utf-8")
        interrupt.check()
        return [str(path) for path in staged.commit()]


def _save(path: Path) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False)
    except RuntimeError as error:
        raise TroupeError(f"{path}: cannot be saved: {str(error).strip()}") from None


def _write_bvh(name: str, path: Path) -> None:
    ob = cast_list.find(name)
    if ob is None:
        raise TroupeError(cast_list.unknown(name))
    bvh.write(path, bvh.from_motion(bake.read(ob, rig.read(ob, bpy.context), bpy.context)))


def _render(target: Path, staged: Staged) -> None:
    """A movie, a picture of every frame where the name has #, else a picture of the first frame."""
    scene, settings = bpy.context.scene, bpy.context.scene.render
    if scene.camera is None:
        _add_camera()
        settings.engine = "BLENDER_WORKBENCH"
        settings.resolution_x, settings.resolution_y = SIZE
        settings.resolution_percentage = 100
        scene.display.shading.color_type = "MATERIAL"
    if settings.engine != "CYCLES" and not _has_egl():
        settings.engine = "CYCLES"
        scene.cycles.samples, scene.cycles.use_denoising = 16, False
    image = settings.image_settings
    movie = target.suffix.lower() == ".mp4"
    # from 5.0 on the formats on offer depend on the kind of media
    if hasattr(image, "media_type"):
        image.media_type = "VIDEO" if movie else "IMAGE"
    image.file_format = "FFMPEG" if movie else "PNG"
    try:
        if movie:
            settings.ffmpeg.format, settings.ffmpeg.codec = "MPEG4", "H264"
            settings.ffmpeg.constant_rate_factor = "MEDIUM"
            settings.filepath = str(staged.name(target))
            bpy.ops.render.render(animation=True)
            return
        hashes = re.search("#+", target.name)
        for frame in range(scene.frame_start, scene.frame_end + 1 if hashes else scene.frame_start + 1):
            scene.frame_set(frame)
            number = f"{frame:0{len(hashes.group())}}" if hashes else ""
            name = target.name.replace(hashes.group(), number, 1) if hashes else target.name
            settings.filepath = str(staged.name(target.with_name(name)))
            bpy.ops.render.render(write_still=True)
            interrupt.check()
    except RuntimeError as error:
        raise TroupeError(f"{target}: cannot be rendered: {str(error).strip()}") from None


def _add_camera() -> None:
    """A camera that sees every actor over the whole range."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    camera.rotation_euler = VIEW.to_track_quat("Z", "Y").to_euler()
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    points = []
    for frame in np.unique(np.linspace(scene.frame_start, scene.frame_end, 12).astype(int)).tolist():
        scene.frame_set(frame)
        for ob in (ob for ob in scene.objects if ob.type == "ARMATURE"):
            points += [ob.matrix_world @ end for bone in ob.pose.bones for end in (bone.head, bone.tail)]
    if points:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        spot, _ = camera.camera_fit_coords(depsgraph, [x for p in points for x in p])
        # bones end inside the body
        camera.location = spot + VIEW.normalized() * 0.5


def _has_egl() -> bool:
    """Whether a viewport engine can draw: without this library Blender does not fail, it aborts."""
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    return True
