"""Keys in bulk against `keyframe_insert`, curves in numpy against `frame_set`: 60 quaternion bones, 600 frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from troupe.addon.bake import curves, evaluation, pose  # noqa: E402
from troupe.core.maths import quat  # noqa: E402

BONES, FRAMES = 60, np.arange(1.0, 601.0)


@pytest.fixture
def rig() -> Any:
    """A trunk of twelve bones with four chains of twelve."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = bpy.data.armatures.new("Rig")
    ob = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(BONES):
        bone = armature.edit_bones.new(f"bone.{k:02d}")
        bone.head, bone.tail = (k // 12, 0, k % 12), (k // 12, 0, k % 12 + 1)
        if k:
            bone.parent = armature.edit_bones[k - 1 if k % 12 else 11]
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return ob


@pytest.fixture
def turns() -> Any:
    """(T, 60, 4) smooth rotations."""
    amplitude, phase = np.random.default_rng(0).normal(size=(2, BONES, 4))
    return quat.continuous(quat.unit(amplitude * np.sin(FRAMES[:, None, None] / 20 + phase) + [2.0, 0, 0, 0]))


def channels(rig: Any, turns: Any, interpolation: str = "LINEAR") -> list[curves.Channel]:
    return [
        curves.Channel(curves.bone_path(b.name, "rotation_quaternion"), turns[:, k], b.name, interpolation)
        for k, b in enumerate(rig.pose.bones)
    ]


def fresh(rig: Any) -> Any:
    action = bpy.data.actions.new("Keys")
    curves.assign(rig, action)
    return action


def sample(rig: Any) -> None:
    scene = bpy.context.scene
    for frame in FRAMES:
        scene.frame_set(int(frame))
        pose.matrices(rig.pose.bones)


def test_keys_are_written_100_times_faster_than_inserted(rig: Any, turns: Any, ratio: Callable[..., float]) -> None:
    def ours() -> None:
        curves.write(curves.bag(rig, fresh(rig)), channels(rig, turns), FRAMES)

    def peer() -> None:
        fresh(rig)
        for k, bone in enumerate(rig.pose.bones):
            for t, frame in enumerate(FRAMES):
                bone.rotation_quaternion = turns[t, k]
                bone.keyframe_insert("rotation_quaternion", frame=frame, group=bone.name)

    ratio("keys of 60 bones x 600 frames, keyframe_insert", ours, peer, at_least=100, repeat=2)


def test_dense_curves_are_read_faster_than_frames_are_set(rig: Any, turns: Any, ratio: Callable[..., float]) -> None:
    bag = curves.bag(rig, fresh(rig))
    curves.write(bag, channels(rig, turns), FRAMES)
    ratio("dense curves, frame_set", lambda: evaluate(bag), lambda: sample(rig), at_least=10)


def test_sparse_curves_are_read_faster_than_frames_are_set(rig: Any, turns: Any, ratio: Callable[..., float]) -> None:
    bag = curves.bag(rig, fresh(rig))
    curves.write(bag, channels(rig, turns[::12], "BEZIER"), FRAMES[::12])
    ratio("sparse Bezier curves, frame_set", lambda: evaluate(bag), lambda: sample(rig), at_least=5)


def evaluate(bag: Any) -> None:
    evaluation.evaluate(list(curves.read(bag).values()), FRAMES)
