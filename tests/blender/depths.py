"""How deep arms and moving things are in others, as the scene is shown."""

import bpy
import numpy as np
from troupe.addon import rig
from troupe.addon.scene import skin
from troupe.core.planning.spaces.penetration import HAND


def deepest(step, touching=()):
    """What is in something else by more than a millimetre, every so many frames: the pairs and how deep at most [m].

    A hand may be in what it holds, which is how skin gives way to it.
    """
    scene = bpy.context.scene
    actors = [ob for ob in scene.objects if rig.is_cast(ob)]
    frames = np.arange(scene.frame_start, scene.frame_end + 0.1, step)
    props = [ob.name for ob in scene.objects if any(c.type == "CHILD_OF" for c in ob.constraints)]
    held = {(f"{ob.name} {part}_{side}", prop) for ob in actors for part in HAND for side in "LR" for prop in props}
    out = {}
    for row in skin.deepest(bpy.context, actors, frames, {*held, *touching}):
        out[row.part, row.body] = max(row.depth, out.get((row.part, row.body), 0.0))
    return out
