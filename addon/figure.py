"""The built-in mannequin as Blender data: an armature, a body and a head from the records of `core.figure`."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ..core.errors import TroupeError
from ..core.figure.armature import GROUPS, Bone, bones
from ..core.figure.body import Mesh, body
from ..core.figure.mannequin import MannequinParams, mannequin
from ..core.figure.palette import colours, gloss
from ..core.figure.shell import MATERIALS
from .rig import FIGURE

NAME = "Mannequin"
_SIDE_COLOURS = {"L": "THEME04", "R": "THEME01"}


def add(context: bpy.types.Context, params: MannequinParams) -> bpy.types.Object:
    """Add a mannequin at the 3D cursor, in the active collection, selected and active.

    Returns:
        The armature object; the meshes are its children.
    """
    skeleton = mannequin(params.height)
    meshes = body(skeleton, params)
    unit = 1.0 / context.scene.unit_settings.scale_length
    data = bpy.data.armatures.new(NAME)
    rig = bpy.data.objects.new(NAME, data)
    where = context.collection
    where.objects.link(rig)
    if not rig.visible_get():
        bpy.data.armatures.remove(data)
        raise TroupeError(f"the collection {where.name!r} is hidden; make it visible or make another one active")
    rig.location = context.scene.cursor.location
    rig.show_in_front = True
    data.display_type = "STICK"
    data[FIGURE] = True
    for ob in context.selected_objects:
        ob.select_set(False)
    rig.select_set(True)
    context.view_layer.objects.active = rig
    _add_bones(rig, bones(skeleton), unit)
    paints = materials(rig.name, params.theme)
    for mesh in meshes:
        _add_mesh(where, rig, mesh, skeleton.names, paints, unit)
    return rig


def _add_bones(rig: bpy.types.Object, rows: tuple[Bone, ...], unit: float) -> None:
    data = rig.data
    bpy.ops.object.mode_set(mode="EDIT")
    for row in rows:
        bone = data.edit_bones.new(row.name)
        bone.head, bone.tail = Vector(row.head * unit), Vector(row.tail * unit)
        bone.align_roll(Vector(row.roll))
        bone.parent = data.edit_bones.get(row.parent)
        bone.use_deform = row.name != "root"
        bone.use_connect = bone.parent is not None and (bone.head - bone.parent.tail).length < 1e-4 * unit
    bpy.ops.object.mode_set(mode="OBJECT")
    groups = {name: data.collections.new(name) for name in GROUPS}
    for row in rows:
        bone = data.bones[row.name]
        groups[row.group].assign(bone)
        bone.color.palette = _SIDE_COLOURS.get(row.name.rpartition(".")[2], "THEME09")


def materials(owner: str, theme: str) -> list[bpy.types.Material]:
    """The paints of a body in the colours of a theme, in the order of `core.figure.shell.MATERIALS`."""
    paints = []
    for name, colour in zip(MATERIALS, colours(theme), strict=True):
        paint = bpy.data.materials.new(f"{owner} {name}")
        paint.diffuse_color = (*colour, 1.0)
        paint.roughness = gloss(name)
        if paint.node_tree is None:
            paint.use_nodes = True
        surface = next(node for node in paint.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        surface.inputs["Base Color"].default_value = (*colour, 1.0)
        surface.inputs["Roughness"].default_value = gloss(name)
        paints.append(paint)
    return paints


def _add_mesh(
    where: bpy.types.Collection,
    rig: bpy.types.Object,
    mesh: Mesh,
    joints: tuple[str, ...],
    paints: list[bpy.types.Material],
    unit: float,
) -> None:
    ob = bpy.data.objects.new(f"{rig.name} {mesh.name}", _mesh_data(f"{rig.name} {mesh.name}", mesh, paints, unit))
    where.objects.link(ob)
    ob.parent = rig
    used = mesh.weights > 0
    for joint in np.unique(mesh.joints[used]).tolist():
        group = ob.vertex_groups.new(name=joints[joint])
        vertices, place = np.nonzero(used & (mesh.joints == joint))
        for vertex, weight in zip(vertices.tolist(), mesh.weights[vertices, place].tolist(), strict=True):
            group.add((vertex,), weight, "REPLACE")
    modifier = ob.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def _mesh_data(name: str, mesh: Mesh, paints: list[bpy.types.Material], unit: float) -> bpy.types.Mesh:
    data = bpy.data.meshes.new(name)
    real = mesh.faces >= 0
    sizes = real.sum(axis=1)
    data.vertices.add(len(mesh.vertices))
    data.vertices.foreach_set("co", (mesh.vertices * unit).ravel())
    data.loops.add(int(sizes.sum()))
    data.loops.foreach_set("vertex_index", mesh.faces[real])
    data.polygons.add(len(sizes))
    data.polygons.foreach_set("loop_start", np.cumsum(sizes) - sizes)
    used, numbers = np.unique(mesh.materials, return_inverse=True)
    for number in used.tolist():
        data.materials.append(paints[number])
    data.polygons.foreach_set("material_index", numbers)
    data.polygons.foreach_set("use_smooth", np.ones(len(sizes), dtype=bool))
    data.update(calc_edges=True)
    _crease(data, mesh.sharp)
    return data


def _crease(data: bpy.types.Mesh, edges: np.ndarray) -> None:
    if not len(edges):
        return
    ends = np.empty(2 * len(data.edges), dtype=np.int32)
    data.edges.foreach_get("vertices", ends)
    wanted = {(min(a, b), max(a, b)) for a, b in edges.tolist()}
    sharp = [(min(a, b), max(a, b)) in wanted for a, b in ends.reshape(-1, 2).tolist()]
    data.edges.foreach_set("use_edge_sharp", np.array(sharp))
