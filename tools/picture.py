"""Pictures of a scene as a person would look at it: camera, floor, light, and a render engine that works here."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector

SIZE = 360

# One large picture made small costs less than half of Workbench's own antialiasing, which draws the scene five times.
_OVERSAMPLING = 2
_VIEW = Vector((-0.55, 1.0, -0.28)).normalized()
_LENS_DEG = 28.0
_MARGIN = 1.12
_CYCLES_SAMPLES = 24
_WALL = (0.86, 0.88, 0.9)
_TILES = ((1.0, 1.0, 1.0, 1.0), (0.9, 0.91, 0.93, 1.0))


def choose_engine() -> str:
    """Return Workbench if it renders on this machine, else Cycles.

    Tried in a child process, because Blender aborts when a library of EGL is missing.
    """
    probe = "import os; from tools import picture; picture.probe(); os._exit(0)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, cwd=Path(__file__).parent.parent)
    return "BLENDER_WORKBENCH" if done.returncode == 0 else "CYCLES"


def probe() -> None:
    """Render one small Workbench picture; raises, or kills the process, where that is impossible."""
    scene = bpy.context.scene
    dress(scene, np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 2.0]]))
    prepare(scene, "BLENDER_WORKBENCH", "")
    scene.render.resolution_x = scene.render.resolution_y = 16
    render(scene, [1])


def motion_range(scene: Any) -> tuple[int, int]:
    """Return the first and last frame of the figures that are animated in the scene, or the current frame twice.

    Where none is, all that is animated counts.
    """
    figures = [ob for ob in scene.objects if ob.type == "ARMATURE" and ob.animation_data]
    spans = []
    owners = {
        owner
        for ob in figures or scene.objects
        for owner in (ob, ob.data, getattr(ob.data, "shape_keys", None))
        if owner
    }
    for animated in (owner.animation_data for owner in owners if getattr(owner, "animation_data", None)):
        spans += [(strip.frame_start, strip.frame_end) for track in animated.nla_tracks for strip in track.strips]
        if animated.action:
            spans.append(tuple(animated.action.frame_range))
    if not spans:
        return scene.frame_current, scene.frame_current
    return int(min(first for first, _ in spans)), int(max(last for _, last in spans))


def figure_points(scene: Any, frames: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return (N, P, 3) corners of the boxes around all visible meshes, frame by frame."""
    points: list[list[list[float]]] = []
    for frame in frames:
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        shown = [ob for ob in scene.objects if ob.type == "MESH" and ob.visible_get() and not ob.hide_render]
        boxes = [ob.evaluated_get(depsgraph) for ob in shown]
        points.append([list(ob.matrix_world @ Vector(corner)) for ob in boxes for corner in ob.bound_box])
    return np.array(points) if points[0] else np.tile([[-1.0, -1.0, 0.0], [1.0, 1.0, 2.0]], (len(frames), 1, 1))


def travels(points: npt.NDArray[np.float64]) -> bool:
    """Tell whether the figures of (N, P, 3) go farther than they are tall, so that one view of it all is a wide one."""
    centres = points.mean(axis=1)
    return bool(np.ptp(centres, axis=0).max() > np.ptp(points[0, :, 2]))


def follow_camera(scene: Any, points: npt.NDArray[np.float64], frames: Sequence[int]) -> None:
    """Let the camera go along with figures that travel, at one pace, as close as their (N, P, 3) points allow."""
    centres = points.mean(axis=1)
    share = np.linspace(0.0, 1.0, len(frames))[:, None]
    path = centres[0] + share * (centres[-1] - centres[0])
    if np.abs(centres - path).max() > 0.5 * np.ptp(points[0, :, 2]):
        path = centres
    path[:, 2] = 0.0
    start = camera_matrix((points - path[:, None]).reshape(-1, 3))
    scene.camera.matrix_world = start
    for frame, place in zip(frames, path, strict=True):
        scene.camera.location = start.translation + Vector(place)
        scene.camera.keyframe_insert("location", frame=frame)


def dress(scene: Any, points: npt.NDArray[np.float64]) -> None:
    """Give the scene a floor, light and a camera at a three-quarter view of the points."""
    _add_floor(scene, points)
    _add_light(scene)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.angle = np.radians(_LENS_DEG)
    scene.collection.objects.link(camera)
    scene.camera = camera
    camera.matrix_world = camera_matrix(points)
    camera.data.clip_end = 10.0 * float((camera.location - Vector(points.mean(axis=0))).length) + 100.0


def turn_camera(scene: Any, points: npt.NDArray[np.float64], frames: int) -> None:
    """Let the camera go once around what does not move, in so many frames from the current one."""
    middle = (points.max(axis=0) + points.min(axis=0)) / 2.0
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    turns = np.array([Matrix.Rotation(angle, 3, "Z") for angle in angles])
    scene.camera.matrix_world = camera_matrix(np.concatenate((points - middle) @ turns) + middle)
    centre = bpy.data.objects.new("Turntable", None)
    centre.location = middle
    scene.collection.objects.link(centre)
    scene.camera.parent = centre
    scene.camera.matrix_parent_inverse = Matrix.Translation(middle).inverted()
    bpy.context.preferences.edit.keyframe_new_interpolation_type = "LINEAR"
    for frame, angle in ((0, 0.0), (frames, 2.0 * np.pi)):
        centre.rotation_euler.z = angle
        centre.keyframe_insert("rotation_euler", frame=scene.frame_current + frame)


def camera_matrix(points: npt.NDArray[np.float64]) -> Any:
    """Return the place of a square camera of ``_LENS_DEG`` that looks along ``_VIEW`` and just sees all points."""
    back = -_VIEW
    right = Vector((0.0, 0.0, 1.0)).cross(back).normalized()
    axes = np.array([right, back.cross(right), back])
    local = points @ axes.T
    slope = np.tan(np.radians(_LENS_DEG) / 2.0) / _MARGIN
    # Each side of the view pyramid touches the outermost point on its side.
    positive = (local[:, :2] + slope * local[:, 2:]).max(axis=0)
    negative = (-local[:, :2] + slope * local[:, 2:]).max(axis=0)
    place = np.append((positive - negative) / 2.0, (positive + negative).max() / (2.0 * slope))
    return Matrix.Translation(Vector(axes.T @ place)) @ Matrix(axes.T.tolist()).to_4x4()


def _add_floor(scene: Any, points: npt.NDArray[np.float64]) -> None:
    """Lay tiles of half a metre, a shade apart, so that travel and sliding feet can be seen."""
    extent = points.max(axis=0) - points.min(axis=0)
    tile = 0.5 * 10.0 ** max(0.0, np.ceil(np.log10(max(extent.max(), 1e-3) / 12.0)))
    middle = np.rint((points.max(axis=0) + points.min(axis=0))[:2] / 2.0 / tile) * tile
    count = 2 * int(np.ceil(8.0 * max(extent.max(), 2.0) / tile))
    edge = (np.arange(count + 1) - count / 2) * tile
    # A hair below the ground, so that a floor of the scene's own covers it.
    height = min(0.0, float(points[:, 2].min())) - 0.002
    x, y = np.meshgrid(edge + middle[0], edge + middle[1])
    corners = np.stack([x, y, np.full_like(x, height)], axis=-1).reshape(-1, 3)
    row, column = (index.ravel() for index in np.mgrid[:count, :count])
    first = row * (count + 1) + column
    faces = np.stack([first, first + 1, first + count + 2, first + count + 1], axis=-1)
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata(corners.tolist(), [], faces.tolist())
    for colour in _TILES:
        mesh.materials.append(_material("Floor", colour))
    mesh.polygons.foreach_set("material_index", (row + column) % 2)
    floor = bpy.data.objects.new("Floor", mesh)
    floor.display.show_shadows = False
    scene.collection.objects.link(floor)


def _material(name: str, colour: tuple[float, ...]) -> Any:
    material = bpy.data.materials.new(name)
    material.diffuse_color = colour
    return material


def show_viewport_colours(scene: Any) -> None:
    """Give Cycles the colours that Workbench shows, where a material's own shader is still the grey it began with."""
    for material in {slot.material for ob in scene.objects for slot in ob.material_slots if slot.material}:
        if material.node_tree is None:
            material.use_nodes = True
        shader = material.node_tree.nodes.get("Principled BSDF")
        if shader and np.allclose(shader.inputs["Base Color"].default_value, (0.8, 0.8, 0.8, 1.0)):
            red, green, blue, _ = (0.75 * channel for channel in material.diffuse_color)
            shader.inputs["Base Color"].default_value = (red, green, blue, 1.0)


def _add_light(scene: Any) -> None:
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.data.angle = 1.4, 0.3
    sun.rotation_euler = Vector((0.35, 0.35, -0.85)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("World")
    world.color = _WALL
    if world.node_tree is None:
        world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (*_WALL, 1.0), 0.6
    scene.world = world


def prepare(scene: Any, engine: str, label: str) -> None:
    """Set the engine, the looks and the label in the corner."""
    output = scene.render
    output.engine = engine
    scale = _OVERSAMPLING if engine == "BLENDER_WORKBENCH" else 1
    output.resolution_x = output.resolution_y = SIZE * scale
    output.resolution_percentage = 100
    settings = output.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format, settings.color_mode = "PNG", "RGB"
    scene.view_settings.view_transform = "Standard"
    if engine == "CYCLES":
        scene.cycles.device, scene.cycles.samples = "CPU", _CYCLES_SAMPLES
        scene.cycles.use_denoising = False
        show_viewport_colours(scene)
    shading = scene.display.shading
    # what has no picture on it has the colour of its material
    shading.light, shading.color_type = "STUDIO", "TEXTURE"
    shading.show_shadows, shading.shadow_intensity = True, 0.35
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    scene.display.render_aa = "OFF"
    # Blender takes (x, y, z) here for light that travels along (-x, z, -y).
    scene.display.light_direction = (-0.35, 0.85, 0.35)
    for stamp in ("camera", "date", "filename", "frame", "hostname", "lens", "marker", "memory", "render_time"):
        setattr(output, f"use_stamp_{stamp}", False)
    for stamp in ("scene", "sequencer_strip", "time", "labels"):
        setattr(output, f"use_stamp_{stamp}", False)
    output.use_stamp = output.use_stamp_note = bool(label)
    output.stamp_note_text, output.stamp_font_size = label, 18 * scale
    output.stamp_foreground, output.stamp_background = (0.15, 0.17, 0.2, 1.0), (0.0, 0.0, 0.0, 0.0)


def render(scene: Any, frames: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return (N, H, W, 3) pictures of the frames, the top row first."""
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            scene.frame_set(frame)
            scene.render.filepath = os.path.join(folder, f"{frame}.png")
            bpy.ops.render.render(write_still=True, scene=scene.name)
            pictures.append(shrink(load(Path(scene.render.filepath))))
    scene.render.filepath = "//"
    return np.stack(pictures)


def from_sides(scene: Any, frames: Sequence[int], figures: Sequence[Any]) -> list[npt.NDArray[np.uint8]]:
    """Return (N, H, W, 3) pictures of the frames from the front and from the left, each just around the figures."""
    camera = scene.camera
    camera.animation_data_clear()
    camera.data.type, camera.data.clip_end = "ORTHO", 100.0
    views = []
    for direction in (Vector((0.0, 1.0, 0.0)), Vector((-1.0, 0.0, 0.0))):
        turn = direction.to_track_quat("-Z", "Y").to_matrix()
        shots = []
        for frame in frames:
            scene.frame_set(frame)
            depsgraph = bpy.context.evaluated_depsgraph_get()
            boxes = [ob.evaluated_get(depsgraph) for ob in figures]
            points = np.array([ob.matrix_world @ Vector(corner) for ob in boxes for corner in ob.bound_box])
            camera.data.ortho_scale = float(np.ptp(points @ np.array(turn), axis=0)[:2].max()) * _MARGIN
            middle = Vector((points.max(axis=0) + points.min(axis=0)) / 2.0)
            camera.matrix_world = Matrix.Translation(middle - 20.0 * direction) @ turn.to_4x4()
            shots.append(render(scene, [frame])[0])
        views.append(np.stack(shots))
    return views


def shrink(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Average an oversampled (k SIZE, k SIZE, 3) picture to (SIZE, SIZE, 3); smaller ones stay as they are."""
    scale = max(1, picture.shape[0] // SIZE)
    blocks = picture.reshape(picture.shape[0] // scale, scale, picture.shape[1] // scale, scale, 3)
    average: npt.NDArray[np.float64] = blocks.mean(axis=(1, 3))
    return np.rint(average).astype(np.uint8)


def seconds_per_frame(scene: Any) -> float:
    """Return how long a picture takes; the first one is left out, it also compiles shaders."""
    render(scene, [scene.frame_current])
    start = time.monotonic()
    render(scene, [scene.frame_current])
    return time.monotonic() - start


def load(path: Path) -> npt.NDArray[np.uint8]:
    """Read a picture file as (H, W, 3), the top row first."""
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    rows = np.rint(pixels.reshape(height, width, 4)[::-1, :, :3] * 255.0)
    return rows.astype(np.uint8)


def save(path: Path, picture: npt.NDArray[np.uint8]) -> None:
    """Write (H, W, 3), the top row first, as a PNG."""
    height, width = picture.shape[:2]
    image = bpy.data.images.new("sheet", width, height)
    image.colorspace_settings.name = "Non-Color"
    pixels = np.ones((height, width, 4), np.float32)
    pixels[..., :3] = picture[::-1] / np.float32(255.0)
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
