"""Whole bakes and readings of a character against the plain way: `keyframe_insert` and `frame_set`."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from troupe.addon import bake, rig  # noqa: E402
from troupe.core.kinematics import base  # noqa: E402
from troupe.core.maths import quat  # noqa: E402
from troupe.core.motion import Motion  # noqa: E402

FRAMES = 600


@pytest.fixture
def actor() -> Any:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.troupe.mannequin()
    return bpy.context.object


def motion_of(skeleton: Any, frames: int = FRAMES) -> Motion:
    t = np.arange(frames) / 24
    size, phase = np.random.default_rng(0).uniform(-0.4, 0.4, (2, 1, len(skeleton), 3))
    rotations = quat.continuous(quat.exp(size * np.sin(2 * t[:, None, None] + 9 * phase)))
    roots = np.column_stack([t, 0 * t, skeleton.offsets[0, 2] + 0 * t])
    return base.based(Motion(skeleton, 24.0, roots, rotations))


def test_a_motion_is_baked_25_times_faster_than_inserted(actor: Any, ratio: Callable[..., float]) -> None:
    cast = rig.read(actor, bpy.context)
    motion = motion_of(cast.skeleton)
    bones = actor.pose.bones[:60]

    def ours() -> None:
        keys = bake.prepare(actor, cast, motion, bpy.context, 1)
        bake.write(actor, keys, bpy.context, "bench", landing="replace")

    def peer() -> None:
        actor.animation_data_clear()
        for frame in range(1, FRAMES + 1):
            for bone in bones:
                bone.rotation_quaternion = motion.rotations[frame - 1, 1]
                bone.keyframe_insert("rotation_quaternion", frame=frame)

    ratio(f"bake of {len(cast.skeleton)} joints x 600 frames, keyframe_insert", ours, peer, at_least=25, repeat=2)


@pytest.mark.req("kuffner", 102)
def test_a_thousand_frames_of_sixty_bones_are_baked_within_two_seconds(actor: Any) -> None:
    cast = rig.read(actor, bpy.context)
    # a few more frames for a body of a few bones less
    frames = -(-60 * 1000 // len(cast.skeleton))
    motion = motion_of(cast.skeleton, frames)
    begun = process_time()
    bake.write(actor, bake.prepare(actor, cast, motion, bpy.context, 1), bpy.context, "bench", landing="replace")
    took = process_time() - begun
    print(f"{len(cast.skeleton)} joints x {frames} frames: {took:.2f} s")
    assert took <= 2.0


@pytest.mark.parametrize(("every", "at_least"), [(1, 20), (10, 5)], ids=["dense", "sparse"])
def test_an_action_is_read_faster_than_sampled(
    actor: Any, ratio: Callable[..., float], every: int, at_least: float
) -> None:
    cast = rig.read(actor, bpy.context)
    keys = bake.prepare(actor, cast, motion_of(cast.skeleton), bpy.context, 1)
    bake.write(actor, keys, bpy.context, "bench", landing="replace")
    if every > 1:
        _thin(actor.animation_data.action, every)

    def ours() -> None:
        bake.read(actor, cast, bpy.context)

    def peer() -> None:
        scene, bones = bpy.context.scene, actor.pose.bones
        for frame in range(1, FRAMES + 1):
            scene.frame_set(frame)
            [bone.matrix.copy() for bone in bones]

    kind = "dense keys" if every == 1 else "sparse Bezier keys"
    ratio(f"reading {len(cast.skeleton)} joints x 600 frames, {kind}, frame_set", ours, peer, at_least, repeat=3)


def _thin(action: Any, every: int) -> None:
    """Keep every tenth key, smoothly interpolated."""
    bags = [action] if not hasattr(action, "layers") else action.layers[0].strips[0].channelbags
    for bag in bags:
        for fcurve in bag.fcurves:
            points = np.array([p.co for p in fcurve.keyframe_points])[::every]
            fcurve.keyframe_points.clear()
            fcurve.keyframe_points.add(len(points))
            fcurve.keyframe_points.foreach_set("co", points.astype(np.float32).ravel())
            fcurve.update()
