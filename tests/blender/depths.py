"""How deep arms and moving things are in others, as the scene is shown."""

import bpy
import numpy as np
from troupe.addon import rig
from troupe.addon.scene import skin


def deepest(step, touching=()):
    """What is in something else by more than a millimetre, every so many frames: the pairs and how deep at most [m]."""
    scene = bpy.context.scene
    actors = [ob for ob in scene.objects if rig.is_cast(ob)]
    frames = np.arange(scene.frame_start, scene.frame_end + 0.1, step)
    out = {}
    for row in skin.deepest(bpy.context, actors, frames, touching):
        out[row.part, row.body] = max(row.depth, out.get((row.part, row.body), 0.0))
    return out
