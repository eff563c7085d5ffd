"""Walk, wave, scratch: gestures lie over the walk, a scratch over a wave, and what lies below comes back by itself."""

from __future__ import annotations

from typing import Any

import bpy

FIRST, LAST = 1, 264
WALK, DISTANCE = 25, 10.5
"""Frame at which the actor walks off, and how far [m]."""
GESTURES = (
    (49, {"gesture": "Wave left"}, 6.0),
    (97, {"reaction": "Scratch head left"}, 2.0),
    (193, {"gesture": "Wave right"}, 2.5),
)
"""Frame, action and length [s] of what is laid over the walk."""
BUFFERED = """define SCRIPT "Hands" {
  { wait .5 seconds } { "Hands behind back" } { wait 2.5 seconds } { "Clap" } { wait 2.5 seconds }
  { "Hands behind back" } { wait 2.5 seconds } { "Fold arms" } { wait 3 seconds }
}"""
"""Hands that go behind the back, and come from there, by way of the sides."""


def build(context: bpy.types.Context) -> None:
    """Stand, walk, wave the left hand, scratch with it, let it wave again by itself, and wave the other."""
    scene = context.scene
    scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.act(stance="Stand", seconds=(WALK - FIRST) / 24.0)
    scene.frame_set(WALK)
    bpy.ops.troupe.walk(distance=DISTANCE)
    for frame, shown, seconds in GESTURES:
        scene.frame_set(frame)
        bpy.ops.troupe.act(seconds=seconds, **{"stance": "", "gesture": "", "reaction": ""} | shown)
    scene.frame_set(FIRST)
    scene.frame_start, scene.frame_end = FIRST, LAST


def buffering(context: bpy.types.Context) -> None:
    """Let the hands go behind the back, clap, go there again and fold, each time by way of the sides."""
    context.scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    script = bpy.data.texts.new("Hands")
    script.from_string(f'define ACTOR "{context.object.name}" {{ does "Hands" }}\n{BUFFERED}')
    bpy.ops.troupe.play(script=script.name, seconds=11.0)


def show(context: bpy.types.Context, **shown: Any) -> None:
    """Show anything of the repertoire on one actor."""
    context.scene.frame_set(FIRST)
    bpy.ops.troupe.mannequin()
    bpy.ops.troupe.act(**shown)


VARIANTS = {"buffering": (buffering, None)}
