"""Run the demos of the installed extension and keep what they made: demo.blend, demo.png (contact sheet), demo.gif.

Started by build.py in a Blender environment as ``python -m tools.demo ZIP FOLDER [NAME | --all] [OPTIONS]``. A demo is
a module of ``addon/demos`` with ``build(context)``, which makes its scene from nothing. It may have ``FRAMES = (first,
last)``, ``camera(context)``, which places ``scene.camera``, ``TOUR = False``, which keeps it out of the default tour,
``LIGHT``, a studio light, and ``VARIANTS``, further scenes by name, each a pair of such functions: NAME.VARIANT.
``--eyes`` shows it as an actor of the scene sees it, ``--sides`` from the front and from the left, close to the
figures; ``--rigify`` lets generated Rigify humans play it in place of mannequins.
"""

import importlib
import pkgutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import private_blender

EXTENSION = "bl_ext.user_default.troupe"
OPTIONS = ("--eyes", "--sides", "--rigify")

# Pictures are most of the time; a tour has to end within three minutes on a slow machine.
_TOUR_SECONDS = 75.0
_DEMO_SECONDS = 40.0
_MOST_PICTURES = 48
_SHEET_COLUMNS = 6
_TURN_FRAMES = 72


class NoDemo(Exception):
    """The demos asked for do not exist; the message is one sentence."""


def say(text: str) -> None:
    """Print a line that build.py shows; everything else is Blender's chatter."""
    print(f"demo: {text}", flush=True)


def install(archive: Path) -> ModuleType:
    """Install and enable the zip through the extension system, and return its ``addon`` package."""
    import bpy

    bpy.ops.extensions.package_install_files(filepath=str(archive), repo="user_default", enable_on_install=True)
    import addon_utils

    # A zip that Blender refuses still returns {'FINISHED'}.
    if addon_utils.check(EXTENSION) != (True, True):
        raise RuntimeError(f"Blender {bpy.app.version_string} did not enable {archive.name}")
    say(f"installed {archive.name} in Blender {bpy.app.version_string}")
    return importlib.import_module(f"{EXTENSION}.addon")


def find(addon: ModuleType) -> dict[str, Any]:
    """Return the demos in the order of FEATURES, others after them, each with its variants."""
    try:
        package = importlib.import_module(f"{addon.__name__}.demos")
    except ModuleNotFoundError as error:
        if error.name != f"{addon.__name__}.demos":
            raise
        return {}
    names = [found.name for found in pkgutil.iter_modules(package.__path__) if not found.name.startswith("_")]
    order = [feature for family in addon.FEATURES.values() for feature in family]
    names.sort(key=lambda name: (order.index(name) if name in order else len(order), name))
    return {key: demo for name in names for key, demo in package.demos(name).items()}


def choose(demos: dict[str, Any], wanted: str | None) -> dict[str, Any]:
    """Return the tour (None), one demo (its name) or every demo ("--all")."""
    if not demos:
        raise NoDemo("There are no demos: addon/demos has no module with a build(context) function.")
    if wanted == "--all":
        return demos
    if wanted is None:
        return {name: demo for name, demo in demos.items() if demo.tour}
    if wanted not in demos:
        raise NoDemo(f"There is no demo {wanted!r}; there are: {', '.join(demos)}.")
    return {wanted: demos[wanted]}


def perform(
    name: str, demo: Any, engine: str, budget: float, eyes: Any = None, sides: bool = False
) -> tuple[list[npt.NDArray[np.uint8]], list[int]]:
    """Build one demo in an empty file and take as many pictures as fit into the budget [s].

    Args:
        name: Of the demo.
        demo: Of ``find``.
        engine: Of ``picture.choose_engine``.
        budget: Time for pictures [s].
        eyes: Puts the camera into the eyes of an actor, from a context; None for the demo's own view.
        sides: Whether to show it from the front and from the left instead.

    Returns:
        (N, H, W, 3) pictures of each view, and delays for all of them [1/100 s].
    """
    import bpy

    from . import picture

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    demo.build(bpy.context)
    scene = bpy.context.scene
    scene.name = name
    figures = [ob for ob in scene.objects if ob.find_armature() is not None]
    first, last = demo.frames or picture.motion_range(scene)
    moments = _spaced(first, last, 24)
    boxes = picture.figure_points(scene, moments)
    points = boxes.reshape(-1, 3)
    picture.dress(scene, points)
    if eyes is not None:
        eyes(bpy.context)
    elif demo.camera is not None:
        demo.camera(bpy.context)
    elif picture.travels(boxes):
        picture.follow_camera(scene, boxes, moments)
    elif first == last:
        picture.turn_camera(scene, points, _TURN_FRAMES)
        last = first + _TURN_FRAMES - 1
    scene.frame_start, scene.frame_end = first, last
    picture.prepare(scene, engine, name.replace("_", " "))
    if demo.light:
        scene.display.shading.studio_light = demo.light
    count = np.clip(budget / picture.seconds_per_frame(scene), _SHEET_COLUMNS, _MOST_PICTURES)
    frames = _spaced(first, last, int(count))
    views = picture.from_sides(scene, frames, figures) if sides else [picture.render(scene, frames)]
    scene.frame_set(first)
    seconds = (last - first) / len(frames) * scene.render.fps_base / scene.render.fps
    delays = [max(2, round(100 * seconds))] * len(frames)
    # A rest between two demos.
    delays[-1] += 60
    return views, delays * len(views)


def _spaced(first: int, last: int, count: int) -> list[int]:
    """Return at most ``count`` whole frames, evenly spaced from first to last."""
    return sorted({round(frame) for frame in np.linspace(first, last, count)})


def gather(files: dict[str, Path], target: Path) -> None:
    """Save the scenes of all files in one file, in order."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    empty = bpy.context.scene
    first: Any = None
    for name, file in files.items():
        with bpy.data.libraries.load(str(file)) as (source, wanted):
            wanted.scenes = [name] if name in source.scenes else []
        first = first or wanted.scenes[0]
    bpy.context.window.scene = first
    bpy.data.scenes.remove(empty)
    bpy.ops.wm.save_as_mainfile(filepath=str(target), compress=True)


def sheet(pictures: list[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Lay six moments of each demo in a row, a demo a row."""
    rows = []
    for shots in pictures:
        picks = np.rint(np.linspace(0, len(shots) - 1, _SHEET_COLUMNS)).astype(int)
        rows.append(np.concatenate([shots[k] for k in picks], axis=1))
    return np.concatenate(rows, axis=0)


def run(archive: Path, folder: Path, wanted: str | None, options: Collection[str]) -> None:
    """Install, perform the demos, and write the three files."""
    import bpy

    addon = install(archive)
    demos = choose(find(addon), wanted)
    eyes = importlib.import_module(f"{addon.__name__}.demos._set").through_eyes if "--eyes" in options else None
    from . import gif, picture, rigify_human

    if "--rigify" in options:
        rigify_human.take_the_parts(addon)

    engine = picture.choose_engine()
    say(f"pictures with {'Workbench' if engine == 'BLENDER_WORKBENCH' else 'Cycles (Workbench needs EGL)'}")
    budget = _TOUR_SECONDS / len(demos) if wanted is None else _DEMO_SECONDS
    pictures, delays, files = [], [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, demo in demos.items():
            say(f"{name} ...")
            views, times = perform(name, demo, engine, budget, eyes, "--sides" in options)
            pictures += views
            delays += times
            files[name] = Path(scratch) / f"{name}.blend"
            bpy.ops.wm.save_as_mainfile(filepath=str(files[name]))
        gather(files, folder / "demo.blend")
    picture.save(folder / "demo.png", sheet(pictures))
    gif.write_gif(folder / "demo.gif", np.concatenate(pictures), delays)
    for suffix in ("blend", "png", "gif"):
        file = folder / f"demo.{suffix}"
        say(f"wrote {file} ({file.stat().st_size / 1024:.0f} kB)")


def main(arguments: list[str]) -> int:
    options = set(arguments) & set(OPTIONS)
    archive, folder, *wanted = [argument for argument in arguments if argument not in options]
    try:
        run(Path(archive), Path(folder), wanted[0] if wanted else None, options)
    except NoDemo as error:
        say(str(error))
        return 2
    return 0


if __name__ == "__main__":
    private_blender.run(main)
