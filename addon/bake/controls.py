"""Control rigs: what their anatomy is, and keys for their controls that put the anatomy where it should be.

A family of control rigs is one table (`Controls`). To bake, a twin of the rig plays on a scene of its own, its controls
tied to empties at the wanted places; that gives the matrices of the controls' parents, helper bones included, and from
them the channels follow. The rig itself is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import Cancelled
from ...core.maths import quat
from . import curves, nla, pose
from .curves import Channel
from .pose import Array

STILL = 1e-5
"""Turns [rad] and shifts [of the rig's size] below this are held as one key at rest."""
STRAIGHT = 0.03
"""A limb bent less than this [of its length] takes its bending plane from its upper bone's hinge."""


@dataclass(frozen=True)
class Row:
    """A control rigidly attached to an anatomical bone.

    Attributes:
        control, bone: Their names.
        pivot: The bone whose head keeps its place in the control, where it is not `bone`.
        travels: Its location is keyed on every frame, not only when it moves.
        fine: It is keyed on every frame only when it has to deviate from rest; the controls above it often suffice.
    """

    control: str
    bone: str
    pivot: str = ""
    travels: bool = False
    fine: bool = False


@dataclass(frozen=True)
class Switch:
    """A property of a control that decides how the rig works: keyed with `value`, or as it is when that is None."""

    control: str
    name: str
    value: float | None = None


@dataclass(frozen=True)
class Mode:
    """One way to drive a limb: its controls, its switches, the controls to be kept at rest, and the pole if any."""

    rows: tuple[Row, ...]
    switches: tuple[Switch, ...]
    rest: tuple[str, ...] = ()
    pole: str = ""


@dataclass(frozen=True)
class Limb:
    """An arm or leg: its kind, upper bone, lower bone and end, and what drives it in each mode."""

    kind: str
    bones: tuple[str, str, str]
    fk: Mode
    ik: Mode


@dataclass(frozen=True)
class Controls:
    """A control rig.

    Attributes:
        family: Whose build it is.
        anatomy: Shown bone to the bone that carries its whole orientation, where these differ: on the way to the mesh
            twist is spread along limbs and lost on first finger bones.
        bones: Every name by which an anatomical bone may be asked for, to its name in the rows.
        hips: The bone whose presence makes a bake whole.
        rows: Trunk, shoulders, fingers.
        rest: Controls kept at rest, each with the bone for whose sake.
        switches: The same for switches.
        limbs: Arms and legs.
    """

    family: str
    anatomy: Mapping[str, str]
    bones: Mapping[str, str]
    hips: str
    rows: tuple[Row, ...]
    rest: tuple[tuple[str, str], ...]
    switches: tuple[tuple[Switch, str], ...]
    limbs: tuple[Limb, ...]

    def drives(self, bone: str) -> bool:
        """Whether some control moves an anatomical bone, by any of its names."""
        name = self.bones.get(bone)
        rows = (*self.rows, *(row for limb in self.limbs for row in limb.fk.rows))
        return any(row.bone == name for row in rows)


def find(ob: bpy.types.Object) -> Controls | None:
    """The controls of a rig; None for a plain one."""
    bones = ob.data.bones
    marks = ("root", "torso", "hips", "spine_fk", "ORG-spine", "DEF-spine")
    return _rigify(bones) if all(m in bones for m in marks) else None


def _rigify(bones: Any) -> Controls:
    """Generated Rigify rigs: the human and basic human metarigs and others of the same build."""
    chain = sorted(n for n in bones.keys() if n == "ORG-spine" or n.startswith("ORG-spine."))
    fk = {b: b.replace("ORG-spine", "spine_fk") for b in chain}
    neck = [b for b in chain if fk[b] not in bones]
    middle = bones["hips"].head_local
    pivot = min(chain, key=lambda b: (bones[b].head_local - middle).length)
    rows = [Row("root", "root", travels=True), Row("torso", "ORG-spine", pivot, travels=True)]
    rows += [Row(fk[b], b) for b in chain]
    rows += [Row(control, b) for control, b in (("neck", neck[0]), ("head", neck[-1])) if neck]
    rows += [Row(b.replace("ORG-", "tweak_"), b, fine=True) for b in chain]
    rest = [(control, "ORG-spine") for control in ("root", "hips", "chest")]
    switches = [(Switch("torso", p), "ORG-spine") for p in ("torso_parent", "neck_follow", "head_follow")]
    limbs, anatomy = [], {}
    arm, leg = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
    for s in (".L", ".R"):
        rows.append(Row(f"shoulder{s}", f"ORG-shoulder{s}"))
        for finger in ("thumb", "f_index", "f_middle", "f_ring", "f_pinky"):
            rows += [Row(f"{finger}.{k}{s}", f"ORG-{finger}.{k}{s}") for k in ("01", "02", "03")]
            rest.append((f"{finger}.01_master{s}", f"ORG-{finger}.01{s}"))
            anatomy[f"DEF-{finger}.01{s}"] = f"{finger}.01{s}"
        anatomy |= {f"DEF-{b}{s}": f"ORG-{b}{s}" for b in (*arm, *leg)}
        hand, foot = (Row(f"{b}_ik{s}", f"ORG-{b}{s}", travels=True) for b in ("hand", "foot"))
        limbs.append(_rigify_limb("arms", arm, s, (hand,), ()))
        rolls = (f"foot_spin_ik{s}", f"foot_heel_ik{s}")
        limbs.append(_rigify_limb("legs", leg, s, (foot, Row(f"toe_ik{s}", f"ORG-toe{s}")), rolls))
    original = {n: f"ORG-{n.removeprefix('ORG-').removeprefix('DEF-')}" for n in bones.keys()}
    return Controls(
        family="Rigify",
        anatomy={shown: measured for shown, measured in anatomy.items() if shown in bones and measured in bones},
        bones={n: o if o in bones else n for n, o in original.items()},
        hips="ORG-spine",
        rows=tuple(r for r in rows if r.control in bones),
        rest=tuple(r for r in rest if r[0] in bones),
        switches=tuple(switches),
        limbs=tuple(x for x in limbs if all(r.control in bones for r in (*x.fk.rows, *x.ik.rows))),
    )


def _rigify_limb(kind: str, bones: tuple[str, ...], s: str, ik: tuple[Row, ...], rolls: tuple[str, ...]) -> Limb:
    upper, holder = bones[0], f"{bones[0]}_parent{s}"
    values = {"IK_FK": 0.0, "IK_Stretch": 1.0, "pole_vector": 1.0, "IK_parent": None, "pole_parent": None}
    return Limb(
        kind,
        (f"ORG-{upper}{s}", f"ORG-{bones[1]}{s}", f"ORG-{bones[2]}{s}"),
        Mode(
            tuple(Row(f"{b}_fk{s}", f"ORG-{b}{s}") for b in bones),
            (Switch(holder, "IK_FK", 1.0), Switch(holder, "FK_limb_follow")),
        ),
        Mode(
            ik,
            tuple(Switch(holder, name, value) for name, value in values.items()),
            (f"{upper}_ik{s}", *rolls),
            f"{upper}_ik_target{s}",
        ),
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a bake asks of a rig.

    Attributes:
        rows: The controls in use, and in `wanted` the matrices (T, 4, 4) each shall take.
        poles: Pole controls to their places (T, 3).
        rest: Controls kept at rest.
        switches: Data path of a property to its value.
        whole: The hips are among the targets, so places are keyed too.
    """

    rows: tuple[Row, ...]
    wanted: Mapping[str, Array]
    poles: Mapping[str, Array]
    rest: tuple[str, ...]
    switches: Mapping[str, float]
    whole: bool


def bake(
    ob: bpy.types.Object,
    controls: Controls,
    targets: Mapping[str, Array],
    frames: Array,
    legs: str = "ik",
    arms: str = "fk",
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Channel]:
    """Keys for the controls that put the anatomy where it should be.

    Args:
        ob: The rig.
        controls: Result of `find`.
        targets: Anatomical bone, by its shown or its measured name, to its wanted armature-space matrices (T, 4, 4)
            without scale; "root" for the root control. Bones without a control are passed over. Without the hips only
            the named parts turn, upon whatever else plays on the rig.
        frames: (T,) increasing.
        legs, arms: "ik" or "fk".
        should_stop: Asked on every frame.

    Returns:
        Channels of the controls and of the switches; switches and controls at rest have one key.

    Raises:
        Cancelled: `should_stop` said so.
    """
    rest = pose.rest(ob.data)
    plan = _plan(ob, controls, rest, targets, {"legs": legs, "arms": arms})
    own = [rest.index(n) for n in (*plan.wanted, *plan.poles)]
    bones = sorted({*own, *(int(rest.parents[i]) for i in own if rest.parents[i] >= 0)})
    number = [bones.index(i) for i in own]
    posed = _played(ob, plan, frames, bones, should_stop)
    for k, matrices in zip(number, plan.wanted.values(), strict=False):
        posed[:, k] = matrices
    for k, places in zip(number[len(plan.wanted) :], plan.poles.values(), strict=True):
        posed[:, k, :3, 3] = places
    basis = pose.basis_from_pose(rest.part(bones), posed, number)
    size = float(np.ptp(rest.matrices[:, :3, 3], axis=0).max())
    out: list[Channel] = []
    for k, row in enumerate(plan.rows):
        out += _row_channels(ob.pose.bones[row.control], row, basis[:, k], frames, plan.whole, STILL * size)
    for k, pole in enumerate(plan.poles, len(plan.rows)):
        out.append(_rest_channels(ob.pose.bones[pole], frames)[0])
        out.append(Channel(curves.bone_path(pole, "location"), basis[:, k, :3, 3], pole))
    for control in plan.rest:
        out += _rest_channels(ob.pose.bones[control], frames)
    for path, value in plan.switches.items():
        out.append(Channel(path, np.array([[value]]), path.split('"')[1], "CONSTANT", frames[:1]))
    return out


def _row_channels(
    bone: bpy.types.PoseBone, row: Row, basis: Array, frames: Array, whole: bool, still: float
) -> list[Channel]:
    location, rotation, _ = pose.channels(basis, bone.rotation_mode)
    rotation_at_rest, location_at_rest = _rest_channels(bone, frames)
    turned = quat.angle(quat.from_matrix(pose.decompose(basis)[1])).max() > STILL
    keep = row.fine and not turned
    out = [rotation_at_rest if keep else Channel(rotation_at_rest.path, rotation, bone.name)]
    # parts laid over another motion only turn: their place is that motion's
    if whole or row.travels:
        shifted = row.travels or np.abs(location).max() > still
        out.append(Channel(location_at_rest.path, location, bone.name) if shifted else location_at_rest)
    return out


def _rest_channels(bone: bpy.types.PoseBone, frames: Array) -> tuple[Channel, Channel]:
    """One key each that holds rotation and location at rest."""
    turn = curves.bone_path(bone.name, pose.ROTATION_CHANNEL.get(bone.rotation_mode, "rotation_euler"))
    identity = pose.rotation_values(np.eye(3)[None], bone.rotation_mode)
    return (
        Channel(turn, identity, bone.name, "CONSTANT", frames[:1]),
        Channel(curves.bone_path(bone.name, "location"), np.zeros((1, 3)), bone.name, "CONSTANT", frames[:1]),
    )


def _plan(
    ob: bpy.types.Object, controls: Controls, rest: pose.Rest, targets: Mapping[str, Array], modes: Mapping[str, str]
) -> _Plan:
    # how each bone has moved from rest, (T, 4, 4) in armature space
    moves = {
        controls.bones[name]: matrices @ np.linalg.inv(rest.matrices[rest.index(name)])
        for name, matrices in targets.items()
        if name in controls.bones
    }
    head = {b: rest.matrices[rest.index(b), :3, 3] for b in moves}
    rows = [r for r in controls.rows if r.bone in moves]
    switches = [s for s, bone in controls.switches if bone in moves]
    resting = [c for c, bone in controls.rest if bone in moves]
    poles: dict[str, Array] = {}
    for limb in controls.limbs:
        if not all(b in moves for b in limb.bones):
            continue
        mode = limb.ik if modes[limb.kind] == "ik" else limb.fk
        rows += [r for r in mode.rows if r.bone in moves]
        switches += mode.switches
        resting += mode.rest
        if mode.pole:
            joints = [_moved(moves[b], head[b]) for b in limb.bones]
            at_rest = rest.matrices[rest.index(mode.pole), :3, 3]
            poles[mode.pole] = _pole(*joints, _moved(moves[limb.bones[0]], at_rest))
    wanted = {}
    for row in rows:
        wanted[row.control] = moves[row.bone] @ rest.matrices[rest.index(row.control)]
        if row.pivot in moves:
            drift = _moved(moves[row.pivot], head[row.pivot]) - _moved(moves[row.bone], head[row.pivot])
            wanted[row.control][:, :3, 3] += drift
    holders = ob.pose.bones
    values = {
        curves.bone_path(s.control, f'["{s.name}"]'): float(holders[s.control][s.name] if s.value is None else s.value)
        for s in switches
        if s.control in holders and s.name in holders[s.control]
    }
    kept = tuple(c for c in resting if c not in wanted and c in holders)
    return _Plan(tuple(rows), wanted, poles, kept, values, controls.hips in moves)


def _moved(matrices: Array, point: Array) -> Array:
    """(T, 3) places of a point (3,) under matrices (T, 4, 4)."""
    return matrices[:, :3, :3] @ point + matrices[:, :3, 3]


def _pole(start: Array, middle: Array, end: Array, hint: Array) -> Array:
    """(T, 3) places of a pole that bends a limb through its wanted joints (T, 3).

    `hint` (T, 3) is where the pole would be if it were fixed to the upper bone. A limb that is all but straight bends
    towards it, also when it is wanted slightly overstretched: its own bend would turn the plane over for nothing.
    """
    axis = quat.unit(end - start)
    foot = start + quat.dot(middle - start, axis)[:, None] * axis
    bend = middle - foot
    hinge = hint - foot
    hinge = hinge - quat.dot(hinge, axis)[:, None] * axis
    reach = np.linalg.norm(hinge, axis=-1, keepdims=True)
    length = np.linalg.norm(middle - start, axis=-1) + np.linalg.norm(end - middle, axis=-1)
    slack = STRAIGHT * length
    share = slack * np.exp(-((np.linalg.norm(bend, axis=-1) / slack) ** 2))
    return foot + np.median(reach) * quat.unit(bend + share[:, None] * quat.unit(hinge))


def _played(
    ob: bpy.types.Object, plan: _Plan, frames: Array, bones: Sequence[int], should_stop: Callable[[], bool]
) -> Array:
    """Armature-space matrices (T, n, 4, 4) of bones while the controls are where the plan wants them."""
    out = np.empty((len(frames), len(bones), 4, 4))
    with _twin(ob) as (twin, scene):
        ties = [_tie(twin, scene, control) for control in plan.wanted]
        steps = np.stack(list(plan.wanted.values()), axis=1).tolist()
        moved = nla.animated_paths(ob)
        for control in plan.rest:
            _still(twin, scene, control)
        for path, value in plan.switches.items():
            _fix(twin, path, value, path in moved)
        layer = scene.view_layers[0]
        for t, (frame, step) in enumerate(zip(frames, steps, strict=True)):
            if should_stop():
                raise Cancelled(f"baking {ob.name} was stopped")
            for tie, matrix in zip(ties, step, strict=True):
                tie.matrix_basis = Matrix(matrix)
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(frame - whole))
            out[t] = pose.matrices(twin.evaluated_get(layer.depsgraph).pose.bones)[bones]
    return out


@contextmanager
def _twin(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bpy.types.Scene]]:
    """A copy of the rig, alone on a scene; what else is put there goes with it. Its constraints and drivers are its own."""
    scene = bpy.data.scenes.new("Troupe Stage")
    twin = None
    try:
        twin = ob.copy()
        scene.collection.objects.link(twin)
        yield twin, scene
    finally:
        for other in list(scene.collection.objects):
            bpy.data.objects.remove(other)
        bpy.data.scenes.remove(scene)


def _empty(scene: bpy.types.Scene) -> bpy.types.Object:
    empty = bpy.data.objects.new("Troupe Tie", None)
    scene.collection.objects.link(empty)
    return empty


def _tie(twin: bpy.types.Object, scene: bpy.types.Scene, control: str) -> bpy.types.Object:
    """An empty whose world matrix is the control's armature-space matrix from then on."""
    empty = _empty(scene)
    tie = twin.pose.bones[control].constraints.new("COPY_TRANSFORMS")
    tie.target, tie.owner_space = empty, "POSE"
    return empty


def _still(twin: bpy.types.Object, scene: bpy.types.Scene, control: str) -> None:
    """Hold a control at rest, whatever plays."""
    for kind in ("COPY_ROTATION", "COPY_LOCATION"):
        tie = twin.pose.bones[control].constraints.new(kind)
        tie.target, tie.owner_space = _empty(scene), "LOCAL"


def _fix(twin: bpy.types.Object, path: str, value: float, animated: bool) -> None:
    """Hold a property at a value, whatever plays."""
    holder, _, name = path[:-2].rpartition('["')
    bone = twin.path_resolve(holder)
    bone[name] = type(bone[name])(value)
    if animated:
        driver = twin.driver_add(path).driver
        driver.type, driver.expression = "SCRIPTED", str(value)
