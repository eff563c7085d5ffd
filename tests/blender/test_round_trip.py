"""Bake, then read: every rig of the test data shows the motion it was given."""

import json
from dataclasses import replace

import bpy
import numpy as np
import pytest
import rig_zoo
import stage
import testdata
from troupe.addon import bake
from troupe.core.figure.stroll import walk
from troupe.core.filters.resample import resample
from troupe.core.filters.retarget import RetargetParams, retarget
from troupe.core.kinematics import base, fk
from troupe.core.maths import quat

CLOSE = 1e-4
GENERATED = ("rigs/rigify/rigify_basic_human_generated.blend", "rigs/rigify/rigify_human_generated.blend")


def rigs():
    """Names of the humanoid rigs; one that is skipped when there is no test data."""
    gold = testdata.folder() / "gold_maps.json"
    names = json.loads(gold.read_text()) if gold.exists() else ["rigs/none"]
    return [n for n in names if n.startswith("rigs/") or n.endswith(("02_01.bvh", "walk1.bvh", "01.fbx"))]


def cast(path):
    """The rig of a file, cast, with what it played muted."""
    ob = rig_zoo.load(path)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.0
    stage.choose(ob)
    bpy.ops.troupe.cast()
    if ob.animation_data:
        for track in ob.animation_data.nla_tracks:
            track.mute = True
    return ob, stage.cast_of(ob)


def of_mapped_joints(motion):
    """The motion at rest outside the roles: a control rig keys nothing else, and aims its eyes, which cannot roll."""
    skeleton = motion.skeleton
    mapped = np.isin(np.arange(len(skeleton)), list(skeleton.role_of()))
    rotations = np.where(mapped[:, None], motion.rotations, quat.IDENTITY)
    for eye in (j for side in "LR" for j in skeleton.roles.get(f"eye_{side}", ())):
        roll = quat.twist(rotations[:, eye], quat.unit(skeleton.tips[eye]))
        rotations[:, eye] = quat.multiply(rotations[:, eye], quat.conjugate(roll))
    return replace(motion, mask=mapped, rotations=rotations)


@pytest.mark.parametrize("name", rigs())
def test_bake_then_read_gives_the_same_motion(data, name):
    ob, how = cast(data / name)
    motion = stage.wriggle(how.skeleton, frames=12)
    if name in GENERATED:
        motion = of_mapped_joints(motion)
    modes = ["hips", "object", "in_place"] + (["root_bone"] if how.root_bone >= 0 else [])
    size = max(1.0, how.skeleton.leg_length())
    for root in modes:
        here = bake.base_of(how, np.array(ob.matrix_world), 1.0)
        shown, _ = stage.bake_and_read(ob, motion, how, root=root, legs="fk", arms="fk", landing="replace")
        if root == "in_place":
            shown = stage.put_back(shown, motion, here)
        place, turn = stage.errors(shown, motion)
        assert place < CLOSE * size and turn < CLOSE, (root, place, turn)


@pytest.mark.parametrize("name", GENERATED)
def test_ik_controls_put_hands_and_feet_within_a_millimetre(data, name, record_property):
    ob, how = cast(data / name)
    s = how.skeleton
    motion = base.based(resample(retarget(walk(s, cycles=1), s, RetargetParams(plant=True)), 24.0))
    motion = of_mapped_joints(motion)
    shown, _ = stage.bake_and_read(ob, motion, how, legs="ik", arms="ik", landing="replace")
    matrices = bake.joint_matrices(ob, how, bpy.context, np.arange(1, len(shown) + 1.0))
    wanted = fk.forward(s, motion.rotations, motion.roots)[0]
    apart = np.linalg.norm(matrices[..., :3, 3] - wanted, axis=-1).max(axis=0)
    ends = [s.joint(f"{part}_{side}") for part in ("hand", "foot") for side in "LR"]
    middles = [s.joint(f"{part}_{side}") for part in ("forearm", "shin") for side in "LR"]
    assert apart[ends].max() < 0.001
    record_property("knees_and_elbows_mm", (1000 * apart[middles]).round(2).tolist())
    assert apart[middles].max() < 0.02
