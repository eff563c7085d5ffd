"""A generated Rigify human with the mannequin's skin on its deforming bones: a control rig on which one sees a body."""

import functools
import importlib
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

NAME = "Rigify human"
_TWISTED = ("upper_arm", "forearm", "thigh", "shin")
"""Bones of which a second one carries the lower half."""
_kept: list[Path] = []


def take_the_parts(addon: ModuleType) -> None:
    """Let whoever presses Add Actor get such a human in place of a mannequin."""
    figure: Any = importlib.import_module(f"{addon.__name__}.figure")
    figure.add = functools.partial(human, addon)


def human(addon: ModuleType, context: Any, params: Any) -> Any:
    """Add a human at the 3D cursor, selected and active; it is generated once and taken from a file afterwards."""
    if not _kept:
        _kept.append(_generated(addon, context, params))
    with bpy.data.libraries.load(str(_kept[0])) as (there, here):
        here.objects = there.objects
    for ob in here.objects:
        context.collection.objects.link(ob)
    (rig,) = (ob for ob in here.objects if ob.type == "ARMATURE")
    rig.location = context.scene.cursor.location
    for ob in context.view_layer.objects:
        ob.select_set(ob == rig)
    context.view_layer.objects.active = rig
    return rig


def _generated(addon: ModuleType, context: Any, params: Any) -> Path:
    """Generate a rig from the human metarig, fit the skin to it and keep both in a file."""
    figure, rigs = (importlib.import_module(f"{addon.__name__}.{name}") for name in ("figure", "rig"))
    core = addon.__name__.removesuffix(".addon") + ".core"
    before = set(bpy.data.objects)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = context.object
    rig.name = NAME
    detected = rigs.detect(rigs.bones_of(rig))
    rolemap = importlib.import_module(f"{core}.formats.rolemap")
    rigs.store(rig, rolemap.RoleMap(detected.roles), detected)
    cast = rigs.read(rig, context)
    mannequin = importlib.import_module(f"{core}.figure.mannequin")
    skeleton = mannequin.mannequin(params.height)
    paints = figure.materials(NAME, params.theme)
    fit = importlib.import_module(f"{core}.figure.body").body(skeleton, params)
    skins = [_skin(figure, core, rig, cast, skeleton, mesh, paints) for mesh in fit]
    path = Path(tempfile.mkdtemp(prefix="troupe-human-")) / "human.blend"
    bpy.data.libraries.write(str(path), {rig, *skins})
    for ob in set(bpy.data.objects) - before:
        bpy.data.objects.remove(ob)
    return path


def _skin(figure: ModuleType, core: str, rig: Any, cast: Any, skeleton: Any, mesh: Any, paints: Any) -> Any:
    """A mesh of the mannequin on the bones of a rig."""
    quat = importlib.import_module(f"{core}.maths.quat")
    fk = importlib.import_module(f"{core}.kinematics.fk")
    pose = importlib.import_module(f"{core}.figure.mannequin").rest_pose(skeleton)
    places, turns = fk.forward(skeleton, pose.rotations, pose.root)
    turns = quat.to_matrix(turns)
    targets = _Targets(cast, skeleton)
    vertices: Array = np.zeros_like(mesh.vertices)
    weights: dict[str, Array] = {}
    joints = targets.nearest[mesh.joints]
    for slot in range(joints.shape[1]):
        for joint in np.unique(joints[:, slot]).tolist():
            rows = np.flatnonzero((joints[:, slot] == joint) & (mesh.weights[:, slot] > 0.0))
            local = (mesh.vertices[rows] - places[joint]) @ turns[joint]
            share = mesh.weights[rows, slot]
            vertices[rows] += share[:, None] * targets.placed(joint, local)
            for bone, part in targets.bones(joint, local):
                weights.setdefault(bone, np.zeros(len(vertices)))[rows] += share * part
    data = figure._mesh_data(f"{NAME} {mesh.name}", mesh, paints, 1.0)
    stand = np.linalg.inv(cast.stand)
    data.vertices.foreach_set("co", (vertices @ stand[:3, :3].T + stand[:3, 3]).ravel())
    ob = bpy.data.objects.new(f"{NAME} {mesh.name}", data)
    bpy.context.collection.objects.link(ob)
    ob.parent = rig
    for bone, values in weights.items():
        group = ob.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(values > 1e-4).tolist():
            group.add((vertex,), float(values[vertex]), "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig
    return ob


class _Targets:
    """Where the joints of a mannequin are on another rig at rest, and which bones move what hangs on them.

    Both are measured from the same neutral stance, so that a segment is only turned and stretched to the other's.
    """

    def __init__(self, cast: Any, skeleton: Any) -> None:
        self._own, self._cast = skeleton, cast
        rest = cast.stand @ cast.rest[cast.joints]
        units = rest[:, :3, :3] / np.linalg.norm(rest[:, :3, :3], axis=1, keepdims=True)
        self._turns: Array = units @ cast.neutral.transpose(0, 2, 1)
        self._places: Array = rest[:, :3, 3]
        other = cast.skeleton
        self._places[0] = np.mean([self._places[other.joint(f"thigh_{s}")] for s in "LR"], axis=0)
        self._thick = other.leg_length() / skeleton.leg_length()
        self._of = {j: (role, k, len(js)) for role, js in skeleton.roles.items() for k, j in enumerate(js)}
        # what the other rig does not move, goes with what is above it
        nearest = list(range(len(skeleton)))
        for j in range(1, len(skeleton)):
            if self._of[j][0] not in other.roles or self._of[j][0].startswith("eye"):
                nearest[j] = nearest[skeleton.parents[j]]
        self.nearest = np.array(nearest)

    def _there(self, joint: int) -> tuple[int, Array, Array]:
        """The other rig's joint, where the mannequin's is on it, and from there to the end of its segment."""
        role, k, count = self._of[joint]
        other = self._cast.skeleton
        chain = other.roles[role]
        if role[:-2] in ("thumb", "index", "middle", "ring", "pinky"):
            # of four joints the first lies within the palm
            there = chain[-count:][k] if len(chain) >= count else chain[-1]
        elif count == len(chain):
            there = chain[k]
        else:
            return self._along(chain, k / count, (k + 1) / count)
        return there, self._places[there], self._turns[there] @ other.tips[there]

    def _along(self, chain: tuple[int, ...], start: float, end: float) -> tuple[int, Array, Array]:
        """A part of a chain, from one share of its joints to another."""
        last = self._places[chain[-1]] + self._turns[chain[-1]] @ self._cast.skeleton.tips[chain[-1]]
        knots = np.array([*(self._places[j] for j in chain), last])
        shares = np.array([start, end]) * len(chain)
        a, b = np.stack([np.interp(shares, range(len(knots)), knots[:, axis]) for axis in range(3)], axis=1)
        there = chain[min(int((start + end) / 2 * len(chain)), len(chain) - 1)]
        return there, a, b - a

    def placed(self, joint: int, local: Array) -> Array:
        """Points (N, 3) on a joint of the mannequin, given from it in the neutral stance, on the other rig."""
        there, place, reach = self._there(joint)
        own, turn = self._own.tips[joint], self._turns[there]
        wanted = reach @ turn
        long, there_long = np.linalg.norm(own), np.linalg.norm(wanted)
        role = self._of[joint][0]
        if role in ("hips", "head") or min(long, there_long) < 1e-6:
            return np.asarray(place + (self._thick * local) @ turn.T)
        along, axis = own / long, wanted / there_long
        grow = self._thick * np.eye(3) + (there_long / long - self._thick) * np.outer(along, along)
        bend = np.eye(3) if role in ("spine", "neck", "foot_L", "foot_R", "toe_L", "toe_R") else _between(along, axis)
        return np.asarray(place + local @ grow.T @ bend.T @ turn.T)

    def bones(self, joint: int, local: Array) -> list[tuple[str, Array]]:
        """Bones that move points (N, 3) of a joint, and by how much each (N,)."""
        there, _, _ = self._there(joint)
        # joints are measured on bones and controls that deform nothing
        name = "DEF-" + self._cast.skeleton.names[there].removeprefix("ORG-").removeprefix("DEF-")
        role = self._of[joint][0]
        lower = f"{name}.001"
        if role[:-2] not in _TWISTED or lower not in self._cast.bones:
            return [(name, np.ones(len(local)))]
        own = self._own.tips[joint]
        share = np.clip((local @ own / (own @ own) - 0.4) / 0.2, 0.0, 1.0)
        return [(name, 1.0 - share), (lower, share)]


def _between(a: Array, b: Array) -> Array:
    """(3, 3) smallest turn of one direction into another."""
    axis, cosine = np.cross(a, b), float(a @ b)
    cross = np.cross(np.eye(3), axis)
    out: Array = np.eye(3) + cross + cross @ cross / (1.0 + cosine)
    return out
