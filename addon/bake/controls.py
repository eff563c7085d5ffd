"""Keys for the controls of a control rig that put its anatomy where it should be.

A twin of the rig plays on a scene of its own, its controls tied to empties at the wanted places; that gives the
matrices of the controls' parents, helper bones included, and from them the channels follow. The rig itself is never
touched, so there is nothing to restore.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.maths import quat
from ..steps import Steps, finish
from . import curves, nla, pose
from .curves import Channel
from .families import Controls, Row, find
from .pose import Array
from .twins import Stage, Twins, twin_of

__all__ = ["Controls", "bake", "bake_steps", "find", "play_steps"]

STILL = 1e-5
"""Turns [rad] and shifts [of the rig's size] below this are held as one key at rest."""
STRAIGHT = 0.01
"""A limb bent less than this [of its length] takes its bending plane from the hinge of its upper bone."""


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


def bake_steps(
    ob: bpy.types.Object,
    controls: Controls,
    targets: Mapping[str, Array],
    frames: Array,
    legs: str = "ik",
    arms: str = "fk",
    watched: Sequence[int] = (),
    twins: Twins | None = None,
) -> Steps[tuple[list[Channel], Array]]:
    """Keys for the controls that put the anatomy where it should be.

    Args:
        ob: The rig.
        controls: Result of `find`.
        targets: Anatomical bone, by its shown or its measured name, to its wanted armature-space matrices (T, 4, 4)
            without scale; "root" for the root control. Bones without a control are passed over. Without the hips only
            the named parts turn, upon whatever else plays on the rig.
        frames: (T,) increasing.
        legs, arms: "ik" or "fk".
        watched: The n bones to look at.
        twins: Keeps the twin of the rig for the next time.

    Returns:
        Steps to the channels of the controls and of the switches, and to the armature-space matrices (T, n, 4, 4) that
        the watched bones then have; switches and controls at rest have one key.
    """
    rest = pose.rest(ob.data)
    plan = _plan(ob, controls, rest, targets, {"legs": legs, "arms": arms})
    own = [rest.index(n) for n in (*plan.wanted, *plan.poles)]
    bones = sorted({*own, *(int(rest.parents[i]) for i in own if rest.parents[i] >= 0)})
    number = [bones.index(i) for i in own]
    both = yield from _played(ob, plan, frames, [*bones, *watched], twins)
    posed, shown = both[:, : len(bones)], both[:, len(bones) :]
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
    return out, shown


def bake(
    ob: bpy.types.Object,
    controls: Controls,
    targets: Mapping[str, Array],
    frames: Array,
    legs: str = "ik",
    arms: str = "fk",
) -> list[Channel]:
    """The channels of `bake_steps`, at once."""
    return finish(bake_steps(ob, controls, targets, frames, legs, arms))[0]


def play_steps(
    ob: bpy.types.Object, channels: Iterable[Channel], frames: Array, watched: Sequence[int]
) -> Steps[Array]:
    """Steps to the armature-space matrices (T, n, 4, 4) of n bones with these channels on top of all that plays."""
    out = np.empty((len(frames), len(watched), 4, 4))
    with twin_of(ob) as (twin, scene):
        action = bpy.data.actions.new("Troupe Stage")
        try:
            curves.write(curves.bag(twin, action), channels, frames)
            nla.land(twin, action)
            layer = scene.view_layers[0]
            for t, frame in enumerate(frames):
                yield t / len(frames)
                whole = int(np.floor(frame))
                scene.frame_set(whole, subframe=float(frame - whole))
                out[t] = pose.matrices(twin.evaluated_get(layer.depsgraph).pose.bones)[watched]
        finally:
            bpy.data.actions.remove(action)
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
    if whole or row.place == "always":
        moves = row.place == "always" or (row.place == "needed" and np.abs(location).max() > still)
        out.append(Channel(location_at_rest.path, location, bone.name) if moves else location_at_rest)
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
        spoken = [b in moves for b in limb.bones]
        if not any(spoken):
            continue
        # a pole needs all three joints
        mode = limb.ik if all(spoken) and modes[limb.kind] == "ik" else limb.fk
        rows += [r for r in mode.rows if r.bone in moves]
        switches += mode.switches
        resting += mode.rest
        if mode.pole:
            start, middle, end = (_moved(moves[b], head[b]) for b in limb.bones)
            hint = _moved(moves[limb.bones[0]], rest.matrices[rest.index(mode.pole), :3, 3])
            poles[mode.pole] = _pole(start, middle, end, hint)
    wanted = {}
    for row in rows:
        wanted[row.control] = moves[row.bone] @ rest.matrices[rest.index(row.control)]
        if row.pivot in moves:
            drift = _moved(moves[row.pivot], head[row.pivot]) - _moved(moves[row.bone], head[row.pivot])
            wanted[row.control][:, :3, 3] += drift
    values = {}
    for switch in switches:
        path = curves.bone_path(switch.bone, switch.channel)
        now = curves.value(ob, path)
        if now is not None:
            values[path] = float(now if switch.value is None else switch.value)
    kept = tuple(c for c in resting if c not in wanted and c in ob.pose.bones)
    return _Plan(tuple(rows), wanted, poles, kept, values, controls.hips in moves)


def _moved(matrices: Array, point: Array) -> Array:
    """(T, 3) places of a point (3,) under matrices (T, 4, 4)."""
    return matrices[:, :3, :3] @ point + matrices[:, :3, 3]


def _pole(start: Array, middle: Array, end: Array, hint: Array) -> Array:
    """(T, 3) places of a pole that bends a limb through its wanted joints (T, 3).

    `hint` (T, 3) is where the pole would be if it were fixed to the upper bone. The limb always bends to that side,
    also where it is wanted straight or overstretched: following its own bend there would turn the whole limb over.
    """
    axis = quat.unit(end - start)
    foot = start + quat.dot(middle - start, axis)[:, None] * axis
    hinge = hint - foot - quat.dot(hint - foot, axis)[:, None] * axis
    reach = np.median(np.linalg.norm(hinge, axis=-1))
    hinge = quat.unit(hinge)
    bend = middle - foot
    along = quat.dot(bend, hinge)
    slack = STRAIGHT * (np.linalg.norm(middle - start, axis=-1) + np.linalg.norm(end - middle, axis=-1))
    share = slack * np.exp(-quat.dot(bend, bend) / slack**2)
    return foot + reach * quat.unit(bend + (share + np.abs(along) - along)[:, None] * hinge)


def _played(
    ob: bpy.types.Object, plan: _Plan, frames: Array, bones: Sequence[int], twins: Twins | None
) -> Steps[Array]:
    """Armature-space matrices (T, n, 4, 4) of bones while the controls are where the plan wants them."""
    out = np.empty((len(frames), len(bones), 4, 4))
    steps = np.stack([*plan.wanted.values(), *map(_placed, plan.poles.values())], axis=1).tolist()
    controls = (tuple(plan.wanted), tuple(plan.poles), plan.rest)
    stage = (Stage if twins is None else twins.stage)(ob, *controls, plan.switches)
    try:
        for t, (frame, step) in enumerate(zip(frames, steps, strict=True)):
            yield t / len(frames)
            out[t] = stage.at(frame, step)[bones]
    finally:
        if twins is None:
            stage.close()
    return out


def _placed(places: Array) -> Array:
    """Matrices (T, 4, 4) at places (T, 3)."""
    out = np.tile(np.eye(4), (len(places), 1, 1))
    out[:, :3, 3] = places
    return out
