"""Real motion on real rigs: segments point where they did, feet stay planted, left stays left."""

import json
from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import rig_zoo
import stage
import testdata
from troupe.addon import bake, rig
from troupe.addon.features.retarget import clip_steps
from troupe.addon.rig.clip import read_bvh
from troupe.addon.steps import finish
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import leg_change, slide
from troupe.core.filters.resample import resample
from troupe.core.filters.retarget import RetargetParams, lifts
from troupe.core.kinematics import fk
from troupe.core.maths import quat

NEXT = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
LIMBS = tuple(f"{part}_{side}" for side in "LR" for part in NEXT)
WALKS = ("mocap/cmu/02_01.bvh", "mocap/misc/olafhaag_walk01.bvh", "mocap/rocketbox/m_walk_neutral_01.fbx")
MORE = tuple(f"mocap/cmu/{n}.bvh" for n in ("07_01", "07_12", "104_02", "104_11", "16_17", "16_34", "35_01"))
LEG = ("thigh", "shin", "foot", "toe")


def rigs():
    """Names of the humanoid rigs; one that is skipped when there is no test data."""
    gold = testdata.folder() / "gold_maps.json"
    return [n for n in json.loads(gold.read_text()) if n.startswith("rigs/")] if gold.exists() else ["none"]


def pytest_generate_tests(metafunc):
    # every rig walks, and every walk is walked by a third of the rigs: each clip on its own is tried on the mannequin
    if "rig_file" in metafunc.fixturenames:
        metafunc.parametrize(("rig_file", "clip"), [(name, WALKS[k % len(WALKS)]) for k, name in enumerate(rigs())])


def source_of(data, name):
    """The clip as a motion, and the arguments by which the operator takes it."""
    if name.endswith(".bvh"):
        return read_bvh(data / name), {"file": str(data / name)}
    ob = rig_zoo.add(data / name)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.0
    motion = finish(clip_steps(bpy.context, None, RetargetParams(source=ob.name)))[0]
    return motion, {"source": ob.name}


def show(ob, arguments, **more):
    """Retarget onto a rig as its active action and return what it shows."""
    stage.choose(ob)
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(place="source", landing="replace", **arguments, **more)
    cast = rig.read(ob, bpy.context)
    first, last = ob.animation_data.action.frame_range
    matrices = bake.joint_matrices(ob, cast, bpy.context, np.arange(first, last + 1))
    return cast, matrices, bake.read(ob, cast, bpy.context, frames=(first, last))


def degrees_apart(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), quat.dot(a, b)))


def limb_directions(skeleton, places):
    joint = skeleton.joint
    return {r: quat.unit(places[:, joint(f"{NEXT[r[:-2]]}_{r[-1]}")] - places[:, joint(r)]) for r in LIMBS}


def turns_by_role(motion):
    """Role to the rotation (T, 4) that carries the direction of its segment from the neutral stance; chains as one."""
    s = motion.skeleton
    globals_ = fk.global_rotations(s, motion.rotations)
    out = {}
    for role, joints in s.roles.items():
        joints = list(joints)
        mean = quat.mean(globals_[:, joints])
        end = quat.rotate(globals_[:, joints], s.tips[joints]).sum(axis=1)
        out[role] = quat.multiply(quat.between(quat.rotate(mean, s.tips[joints].sum(axis=0)), end), mean)
    return out


def contact_curves(motion):
    return {name: curve for name, curve in motion.curves.items() if name.startswith("contact/")}


def check(ob, source, arguments, report):
    """What must hold for one clip on one rig."""
    source = resample(contacts(source), 24.0)
    cast, matrices, plain = show(ob, arguments, plant=False, ground=False)
    s = cast.skeleton
    wanted = limb_directions(source.skeleton, fk.forward(source.skeleton, source.rotations, source.roots)[0])
    shown = limb_directions(s, matrices[..., :3, 3])
    for role in LIMBS:
        assert degrees_apart(wanted[role], shown[role]).max() < 2.0, role
    theirs, ours = turns_by_role(source), turns_by_role(plain)
    up = np.array([0.0, 0.0, 1.0])
    for role in set(theirs) & set(ours):
        apart = degrees_apart(quat.rotate(theirs[role], up), quat.rotate(ours[role], up)).max()
        assert apart < 2.0, (role, apart)
    _, _, planted = show(ob, arguments)
    touching = replace(planted, curves=contact_curves(source))
    worst = max((c.travel for c in slide(touching)), default=0.0)
    # a rig a hundred metres tall slides a hundred times as far
    assert worst < 0.005 * max(1.0, s.leg_length()), worst
    before, after = (fk.global_rotations(s, m.rotations) for m in (plain, planted))
    above = [j for r, js in s.roles.items() if r.split("_")[0] not in LEG for j in js]
    assert quat.distance(before[:, above], after[:, above]).max() < np.radians(2.0)
    report.append(float(np.degrees(np.median(leg_change(plain, planted)))))


def test_walks_on_every_rig(data, rig_file, clip, record_property):
    changes = []
    ob = rig_zoo.load(data / rig_file)
    if ob.animation_data:
        for track in ob.animation_data.nla_tracks:
            track.mute = True
    source, arguments = source_of(data, clip)
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.0
    stage.choose(ob)
    bpy.ops.troupe.cast(legs="fk")
    check(ob, source, arguments, changes)
    record_property("median_leg_change_deg", changes)
    assert max(changes) < 12.0


@pytest.mark.parametrize("clip", [*WALKS, *MORE])
def test_walks_on_the_mannequin(data, clip):
    ob = stage.actor()
    source, arguments = source_of(data, clip)
    changes = []
    check(ob, source, arguments, changes)
    assert max(changes) < 8.0


def test_a_generated_rig_with_ik_legs_keeps_its_feet(data):
    ob = rig_zoo.load(data / "rigs/rigify/rigify_human_generated.blend")
    stage.choose(ob)
    bpy.ops.troupe.cast()
    source, arguments = source_of(data, WALKS[0])
    shown = show(ob, arguments)[2]
    touching = replace(shown, curves=contact_curves(resample(contacts(source), 24.0)))
    assert max(c.travel for c in slide(touching)) < 0.005
    keyed = {path for path, _ in canon.keys_of(ob.animation_data.action)}
    assert 'pose.bones["foot_ik.L"].location' in keyed and 'pose.bones["thigh_parent.L"]["IK_FK"]' in keyed
    assert not any(path.startswith(('pose.bones["DEF-', 'pose.bones["ORG-')) for path in keyed)


def test_feet_stand_on_the_ground(data):
    ob = stage.actor()
    _, arguments = source_of(data, WALKS[1])
    _, _, shown = show(ob, arguments)
    assert np.abs(np.median(lifts(shown).min(axis=(1, 2)))) < 0.01


def test_the_motion_starts_where_the_actor_stands(tmp_path):
    ob = stage.actor()
    ob.location, ob.rotation_euler = (2.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    bpy.context.view_layer.update()
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=2)))
    cast = stage.cast_of(ob)
    motion = bake.read(ob, cast, bpy.context)
    travelled = motion.roots[-1] - motion.roots[0]
    assert np.linalg.norm(motion.roots[0, :2] - (2.0, 1.0)) < 0.1
    assert np.arctan2(travelled[0], -travelled[1]) == pytest.approx(1.0, abs=0.05)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + len(motion))
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)))
    again = bake.read(ob, cast, bpy.context)
    assert np.linalg.norm(again.roots[-1] - motion.roots[-1]) > 0.5, "it goes on from where it arrived"


def test_an_action_finds_its_own_rig(tmp_path):
    source = stage.actor()
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)), landing="replace")
    action = source.animation_data.action
    source.animation_data.action = None
    target = stage.actor()
    for bone in target.data.bones:
        bone.name = f"x {bone.name}"
    stage.choose(target)
    bpy.ops.troupe.cast()
    assert bpy.ops.troupe.retarget(action=action.name) == {"FINISHED"}
    assert target.animation_data.nla_tracks[0].strips


def test_one_click_moves_all_selected_actors(tmp_path):
    first, second = stage.actor(), stage.actor()
    second.location.x = 2.0
    stage.choose(first, second)
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)))
    assert all(ob.animation_data.nla_tracks[0].strips for ob in (first, second))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "choose a clip, a source armature, an action or a BVH file"),
        ({"source": "nobody"}, "no armature of that name"),
        ({"action": "nothing"}, "no action of that name"),
        ({"file": "/nowhere/x.bvh"}, "No such file"),
    ],
)
def test_a_missing_source_is_named(arguments, words):
    stage.actor()
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.troupe.retarget(**arguments)
    assert canon.snapshot() == before


def test_a_truncated_file_is_told(tmp_path):
    stage.actor()
    path = stage.walk_file(tmp_path, cycles=1)
    text = path.read_text()
    path.write_text(text[: int(len(text) * 0.8)])
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"walk1\.70\.bvh:\d+:\d+: "):
        bpy.ops.troupe.retarget(file=str(path))
    assert canon.snapshot() == before


def test_keys_that_are_no_numbers_are_told(tmp_path):
    source = stage.actor()
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)), landing="replace")
    bag = canon.bags(source.animation_data.action)[0]
    bag.fcurves[3].keyframe_points[5].co.y = float("nan")
    target = stage.actor()
    stage.choose(target)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="not a number"):
        bpy.ops.troupe.retarget(source=source.name)
    assert canon.snapshot() == before


def test_a_rig_parented_in_a_circle_by_constraints_is_sampled_and_left_alone(tmp_path):
    source = stage.actor()
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)), landing="replace")
    for a, b in (("hand.L", "hand.R"), ("hand.R", "hand.L")):
        tie = source.pose.bones[a].constraints.new("CHILD_OF")
        tie.target, tie.subtarget = source, b
    target = stage.actor()
    stage.choose(target)
    before = [c.name for b in source.pose.bones for c in b.constraints]
    assert bpy.ops.troupe.retarget(source=source.name) == {"FINISHED"}
    assert [c.name for b in source.pose.bones for c in b.constraints] == before


@pytest.mark.parametrize("name", ["rigs/khronos/Fox.glb", "rigs/khronos/RiggedSimple.glb"])
def test_what_is_no_humanoid_is_refused_with_a_reason(data, name):
    ob = rig_zoo.load(data / name)
    stage.choose(ob)
    before = canon.snapshot()
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.troupe.cast()
    assert len(str(caught.value)) > 30
    assert canon.snapshot() == before


@pytest.mark.parametrize("name", ["rigs/vrm/saturday06_debug_robot.vrm", "rigs/vrm/three-vrm_test.vrma"])
def test_files_without_an_armature_are_refused(data, name):
    assert rig_zoo.load(data / name) is None
    bpy.ops.object.select_all(action="SELECT")
    with pytest.raises(RuntimeError, match="Select the rig of a character first"):
        bpy.ops.troupe.cast()
