"""A walk, the same walk with its middle bands up, and beside them a picture of what has changed in a knee."""

from __future__ import annotations

from typing import Any

import bpy

TOUR = False
"""Not in the default tour, which has to be short."""
HEIGHT, ASIDE = 1.2, (1.45, 0.0, 1.1)
"""Of the picture, and where its middle is as seen from the second actor [m]."""


def build(context: bpy.types.Context) -> None:
    """Let two actors walk, exaggerate one of them, plot its knee, and let the picture go along with it."""
    scene = context.scene
    for x, theme in ((-0.8, "studio"), (0.0, "clay")):
        scene.frame_set(1)
        scene.cursor.location = (x, 0.0, 0.0)
        bpy.ops.troupe.mannequin(theme=theme)
        context.object.troupe.cast.root = "object"
        bpy.ops.troupe.retarget(clip="walk")
    actor = context.object
    bpy.ops.troupe.bands(gains=(1.0, 1.0, 1.7, 1.7, 1.7, 1.0, 1.0, 1.0))
    bpy.ops.troupe.spectrum(joint="shin_L")
    picture = hung_up(bpy.data.images[f"{actor.name} plot"])
    picture.parent, picture.location = actor, ASIDE
    scene.collection.objects.link(picture)
    scene.cursor.location = (0.0, 0.0, 0.0)
    scene.frame_start, scene.frame_end = 1, 106


def hung_up(image: Any) -> Any:
    """A board with an image on its front."""
    x, z = HEIGHT / 2 * image.size[0] / image.size[1], HEIGHT / 2
    mesh = bpy.data.meshes.new("Plot")
    mesh.from_pydata([(-x, 0.0, -z), (x, 0.0, -z), (x, 0.0, z), (-x, 0.0, z)], [], [(0, 1, 2, 3)])
    mesh.uv_layers.new().data.foreach_set("uv", (0, 0, 1, 0, 1, 1, 0, 1))
    material = bpy.data.materials.new("Plot")
    material.use_nodes = True
    tree = material.node_tree
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    tree.nodes.active = texture
    tree.links.new(texture.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    mesh.materials.append(material)
    return bpy.data.objects.new("Plot", mesh)
