"""An actor waves while it walks, scratches its head and points: gestures lie over the walk and let it through again."""

from __future__ import annotations

from typing import Any

import bpy

FIRST, LAST = 1, 220
GESTURES = (
    (20, {"gesture": "Wave right"}, 3.0),
    (95, {"reaction": "Scratch head left"}, 2.6),
    (165, {"gesture": "Point"}, 1.6),
)
"""Frame, action and length [s] of what is laid over the walk."""
BUFFERED = 'define SCRIPT "Hands" { { "Hands behind back" } { wait 2 seconds } { "Fold arms" } { wait 2 seconds } }'
"""Arms that may only go behind the back, and come from there, by way of the sides."""


def build(context: bpy.types.Context) -> None:
    """Walk, and lay a wave, a scratch and a point over it."""
    scene = context.scene
    scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.walk(distance=9.5)
    for frame, shown, seconds in GESTURES:
        scene.frame_set(frame)
        bpy.ops.troupe.act(seconds=seconds, **{"gesture": "", "reaction": ""} | shown)
    scene.frame_set(FIRST)
    scene.frame_start, scene.frame_end = FIRST, LAST


def buffering(context: bpy.types.Context) -> None:
    """Let the hands go behind the back and from there into folded arms, by way of the sides."""
    context.scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    script = bpy.data.texts.new("Hands")
    script.from_string(f'define ACTOR "{context.object.name}" {{ does "Hands" }}\n{BUFFERED}')
    bpy.ops.troupe.play(script=script.name, seconds=7.0)


def show(context: bpy.types.Context, **shown: Any) -> None:
    """Show anything of the repertoire on one actor."""
    context.scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.act(**shown)


VARIANTS = {"buffering": (buffering, None)}
