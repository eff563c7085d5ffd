"""Four people and a joke: one tells it with hands and voice, the others listen and react as they feel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .. import bake

WOOD = (0.5, 0.36, 0.24)
COLOURS = {
    "Tray": (0.75, 0.55, 0.3),
    "Bat": (0.8, 0.25, 0.2),
    "Stool": WOOD,
    "Side Table": WOOD,
    "Tea Table": WOOD,
}


def build(context: bpy.types.Context) -> None:
    """Perform the joke."""
    perform(context, "joke", 15.0)


def seen_from(place: tuple[float, float, float], target: tuple[float, float, float]) -> Callable[[Any], None]:
    """Places the camera of a scene there and turns it to the target [m]."""

    def camera(context: bpy.types.Context) -> None:
        shot = context.scene.camera
        shot.location = place
        shot.rotation_euler = (Vector(target) - shot.location).to_track_quat("-Z", "Y").to_euler()

    return camera


camera = seen_from((4.3, 1.9, 2.1), (0.0, -0.35, 0.95))


def curtain_call(context: bpy.types.Context) -> None:
    """Walk in, turn to the audience, bow and leave."""
    perform(context, "curtain_call", 13.0)


def greeting(context: bpy.types.Context) -> None:
    """Come in, greet with hand and voice, sit down, bow and leave."""
    perform(context, "greeting", 20.0)


def handshake(context: bpy.types.Context) -> None:
    """Walk up to each other, shake hands and talk."""
    perform(context, "handshake", 11.0)


def rock_paper_scissors(context: bpy.types.Context) -> None:
    """Show a hand at the same moment; the winner cheers."""
    perform(context, "rock_paper_scissors", 12.0)


def fight_or_flee(context: bpy.types.Context, courage: float = 0.2) -> None:
    """Meet a bear, and fight or flee by courage."""
    perform(context, "fight_or_flee", 8.0, {"Hero": {"courage": courage}})


def simon_says(context: bpy.types.Context) -> None:
    """Obey what Simon says, unless he leaves out the words."""
    perform(context, "simon_says", 20.0, {"Sam": {"gullibility": 0.7}})


def bat(context: bpy.types.Context) -> None:
    """Talk, until the bat comes by: whoever is nearest reaches for it."""
    flies = np.linspace(0.0, 2.0 * np.pi, 25)
    ways = [
        (frame, (1.9 * np.sin(t), 0.35 + 1.5 * np.cos(2 * t), 1.75))
        for frame, t in zip(range(1, 482, 20), flies, strict=True)
    ]
    perform(context, "bat", 20.0, keys={"Bat": ways})


def gregor(context: bpy.types.Context) -> None:
    """Fetch the tray and serve it to the guest."""
    perform(context, "gregor", 17.0)


def perform(
    context: bpy.types.Context,
    template: str,
    seconds: float,
    moods: dict[str, dict[str, float]] | None = None,
    keys: dict[str, list[tuple[int, tuple[float, float, float]]]] | None = None,
    **settings: Any,
) -> None:
    """Bring on the cast of a shipped script and let it play.

    Args:
        moods: Properties of actors by name.
        keys: Frames and places of props that move by themselves.
        settings: Of Play.
    """
    scene = context.scene
    scene.frame_set(1)
    before = set(bpy.data.texts)
    bpy.ops.troupe.new_script(template=template)
    (script,) = (text.name for text in set(bpy.data.texts) - before)
    bpy.ops.troupe.bring_on(script=script)
    for name, values in (moods or {}).items():
        for prop, value in values.items():
            bpy.data.objects[name][prop] = value
    for name, colour in COLOURS.items():
        if name in bpy.data.objects:
            paint = bpy.data.materials.new(name)
            paint.diffuse_color = (*colour, 1.0)
            bpy.data.objects[name].data.materials.append(paint)
    for name, places in (keys or {}).items():
        frames, spots = zip(*places, strict=True)
        bake.key(bpy.data.objects[name], "location", frames, spots)
    scene.frame_set(1)
    bpy.ops.troupe.play(script=script, seconds=seconds, **settings)
    scene.frame_start, scene.frame_end = 1, round(seconds * scene.render.fps / scene.render.fps_base)


VARIANTS = {
    "curtain_call": (curtain_call, seen_from((1.2, -9.5, 1.8), (0.0, 0.0, 0.95))),
    "greeting": (greeting, seen_from((1.6, -9.5, 1.8), (0.0, 0.0, 0.95))),
    "handshake": (handshake, seen_from((0.3, -7.5, 1.6), (0.1, 0.0, 0.95))),
    "rock_paper_scissors": (rock_paper_scissors, seen_from((1.1, -4.6, 1.6), (0.0, 0.0, 0.98))),
    "fight_or_flee": (fight_or_flee, seen_from((4.5, -9.5, 2.2), (1.4, -0.9, 0.9))),
    "simon_says": (simon_says, seen_from((4.6, -4.4, 1.9), (0.0, -0.4, 0.95))),
    "bat": (bat, seen_from((3.6, -6.4, 2.4), (0.0, 0.2, 1.1))),
    "gregor": (gregor, seen_from((1.0, -9.0, 1.9), (0.0, 0.2, 0.95))),
}
