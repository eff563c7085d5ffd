"""Bone and object matrices in numpy equal Blender's own."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Matrix  # noqa: E402
from troupe.addon.bake import pose  # noqa: E402
from troupe.core.errors import InvalidRig  # noqa: E402
from troupe.core.maths import quat  # noqa: E402

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@pytest.fixture
def rig() -> Any:
    """Three chains of six bones that lean in every direction; half of the bones are connected."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rng = np.random.default_rng(0)
    armature = bpy.data.armatures.new("Rig")
    ob = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for chain, k in itertools.product("abc", range(6)):
        bone = armature.edit_bones.new(f"{chain}{k}")
        parent = armature.edit_bones.get(f"{chain}{k - 1}")
        bone.head = rng.normal(size=3) if parent is None or k % 2 else parent.tail
        bone.tail = np.array(bone.head) + rng.normal(size=3)
        bone.roll = rng.uniform(-3, 3)
        bone.parent, bone.use_connect = parent, parent is not None and k % 2 == 0
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def shake(ob: Any, uniform: bool, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = rng.normal(size=4)
        bone.location = rng.normal(size=3)
        bone.scale = [rng.uniform(0.8, 1.2)] * 3 if uniform else rng.uniform(0.8, 1.2, 3)
    bpy.context.view_layer.update()


def turns(n: int = 200, seed: int = 2) -> Any:
    """Smooth rotations (T, 5, 3, 3) that make several full turns."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 9, n)[:, None, None]
    amplitude, phase = rng.normal(size=(2, 5, 4))
    return quat.to_matrix(quat.unit(amplitude * np.sin(t + phase) + 0.3 * np.cos(1.7 * t)))


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("scale", SCALES)
def test_basis_and_pose_equal_blenders_for_all_inheritance(rig: Any, scale: str, uniform: bool) -> None:
    for rotation, local in itertools.product((True, False), repeat=2):
        for bone in rig.data.bones:
            bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location = scale, rotation, local
        shake(rig, uniform)
        rest = pose.rest(rig.data)
        wanted = pose.matrices(rig.pose.bones)[None]
        basis = pose.matrices(rig.pose.bones, "matrix_basis")[None]
        np.testing.assert_allclose(pose.basis_from_pose(rest, wanted), basis, atol=1e-5)
        np.testing.assert_allclose(pose.pose_from_basis(rest, basis), wanted, atol=1e-5)


def test_basis_equals_blenders_own_conversion(rig: Any) -> None:
    shake(rig, uniform=False)
    rest, wanted = pose.rest(rig.data), pose.matrices(rig.pose.bones)
    ours = pose.basis_from_pose(rest, wanted[None])[0]
    for i, bone in enumerate(rig.data.bones):
        above = {}
        if bone.parent:
            above["parent_matrix"] = Matrix(wanted[rest.parents[i]].tolist())
            above["parent_matrix_local"] = bone.parent.matrix_local
        blenders = bone.convert_local_to_pose(Matrix(wanted[i].tolist()), bone.matrix_local, invert=True, **above)
        np.testing.assert_allclose(ours[i], np.array(blenders), atol=1e-5)


def test_mixed_inheritance_round_trips_over_time(rig: Any) -> None:
    rng = np.random.default_rng(3)
    kinds = itertools.cycle(itertools.product(SCALES, (True, False), (True, False)))
    for bone, (scale, rotation, local) in zip(rig.data.bones, kinds, strict=False):
        bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location = scale, rotation, local
    rest = pose.rest(rig.data)
    shape = (7, len(rest.names))
    basis = pose.basis_from_channels(
        rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4)), "QUATERNION", rng.uniform(0.8, 1.2, (*shape, 3))
    )
    wanted = pose.pose_from_basis(rest, basis)
    np.testing.assert_allclose(pose.basis_from_pose(rest, wanted), basis, atol=1e-9)
    some = [5, 0, 11]
    np.testing.assert_allclose(pose.basis_from_pose(rest, wanted, some), basis[:, some], atol=1e-9)


def test_rest_pose_has_identity_basis(rig: Any) -> None:
    rest = pose.rest(rig.data)
    identity = np.broadcast_to(np.eye(4), (1, len(rest.names), 4, 4))
    np.testing.assert_allclose(pose.basis_from_pose(rest, rest.matrices[None]), identity, atol=1e-6)
    np.testing.assert_allclose(pose.pose_from_basis(rest, identity)[0], rest.matrices, atol=1e-6)


def test_a_missing_bone_is_named(rig: Any) -> None:
    with pytest.raises(InvalidRig, match="'tail'"):
        pose.rest(rig.data).index("tail")


@pytest.mark.parametrize("mode", MODES)
def test_channels_put_blenders_bone_into_the_same_place(rig: Any, mode: str) -> None:
    rng = np.random.default_rng(4)
    bone = rig.pose.bones["a0"]
    bone.rotation_mode = mode
    basis = np.zeros((20, 4, 4))
    basis[:, :3, :3] = turns(20)[:, 0] * rng.uniform(0.5, 2, (20, 1, 3))
    basis[:, :3, 3], basis[:, 3, 3] = rng.normal(size=(20, 3)), 1.0
    location, rotation, scale = pose.channels(basis, mode)
    for t in range(20):
        bone.location, bone.scale = location[t], scale[t]
        setattr(bone, pose.ROTATION_CHANNEL.get(mode, "rotation_euler"), rotation[t])
        np.testing.assert_allclose(np.array(bone.matrix_basis), basis[t], atol=1e-6)
    np.testing.assert_allclose(pose.basis_from_channels(location, rotation, mode, scale), basis, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_rotation_keys_have_no_jumps(mode: str) -> None:
    turn = turns(2000)
    values = pose.rotation_values(turn, mode)
    np.testing.assert_allclose(pose.rotation_matrix(values, mode), turn, atol=1e-5)
    speed = quat.angle(quat.from_matrix(np.swapaxes(turn[:-1], -1, -2) @ turn[1:])).max()
    if mode == "QUATERNION":
        assert np.abs(np.diff(values, axis=0)).max() < speed
    if mode == "AXIS_ANGLE":
        assert quat.dot(values[1:, :, 1:], values[:-1, :, 1:]).min() > 0


def test_the_first_quaternion_is_on_the_side_of_identity() -> None:
    assert pose.rotation_values(turns(), "QUATERNION")[0, :, 0].min() >= 0


def test_a_mirrored_matrix_has_negative_scale_as_in_blender() -> None:
    mirrored = np.eye(4)
    mirrored[:3, :3] = turns(1)[0, 0] * [-2.0, 3.0, 1.0]
    location, turn, scale = pose.decompose(mirrored)
    blenders = Matrix(mirrored.tolist()).decompose()
    np.testing.assert_allclose(scale, blenders[2], atol=1e-6)
    np.testing.assert_allclose(turn, np.array(blenders[1].to_matrix()), atol=1e-6)
    np.testing.assert_allclose(location, 0.0)


@pytest.mark.parametrize("mode", MODES)
def test_object_basis_includes_the_deltas(rig: Any, mode: str) -> None:
    rng = np.random.default_rng(5)
    rig.rotation_mode = mode
    channel = pose.ROTATION_CHANNEL.get(mode, "rotation_euler")
    rotation, delta = rng.normal(size=(2, len(getattr(rig, channel))))
    place, delta_place, size, delta_size = rng.uniform(0.5, 1.5, (4, 3))
    rig.location, rig.delta_location, rig.scale, rig.delta_scale = place, delta_place, size, delta_size
    setattr(rig, channel, rotation)
    if mode == "AXIS_ANGLE":
        delta = np.array([0.0, 0.0, 1.0, 0.0])  # Blender has no delta for it
    else:
        setattr(rig, f"delta_{channel}", delta)
    ours = pose.object_basis(place, rotation, mode, size, delta_place, delta, delta_size)
    np.testing.assert_allclose(ours, np.array(rig.matrix_basis), atol=1e-5)
