"""Act in Blender: stances, gaits and dances of the whole body, gestures over whatever is there, on any kind of rig."""

import afoot
import bpy
import canon
import mathutils
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import nla, results
from troupe.core.acting.act import GROUPS, names_of
from troupe.core.acting.body.fitting import fit
from troupe.core.acting.repertoire.puppet import JOINTS, turns
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.motion import Motion
from troupe.core.params import REPERTOIRE
from troupe.core.skeleton import FINGERS


def shown(ob, frames=None):
    first, last = frames or (int(x) for x in results.results_of(ob)[-1].action.frame_range)
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))


def joint(motion, role):
    return motion.skeleton.joint(role)


@pytest.mark.req("improv", 21)
def test_a_joint_turns_as_a_blender_euler_of_order_yzx():
    angles = np.random.default_rng(3).uniform(-1.5, 1.5, (6, len(JOINTS), 3))
    # left, up, forward of the puppet are x, z, -y of a character
    to_ours = mathutils.Matrix(((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    for row, got in zip(angles[:, JOINTS.index("Lhip")], turns(angles)[:, JOINTS.index("Lhip")], strict=True):
        wanted = to_ours @ mathutils.Euler(row, "YZX").to_matrix() @ to_ours.transposed()
        assert np.allclose(quat.to_matrix(got), wanted, atol=1e-6)


@pytest.mark.req("improv", 25)
@pytest.mark.parametrize("kind", ["rigify", "metarig", "mixamo"])
def test_nearly_every_joint_of_the_puppet_has_a_bone(data, kind):
    """The halves of the pelvis share the hips, as on every rig; the 17 other joints have a bone of their own."""
    assert fit(stage.cast_of(afoot.enter(kind, data)).skeleton).missing == ()


@pytest.mark.req("improv", 22)
@pytest.mark.parametrize("kind", afoot.RIGS)
def test_with_all_angles_zero_every_rig_stands_upright_with_its_arms_at_its_sides(data, kind):
    ob = afoot.enter(kind, data)
    cast = stage.cast_of(ob)
    body = cast.skeleton
    straight = fit(body).rotations(turns(np.zeros((2, len(JOINTS), 3))), np.zeros(2))
    root = (0.0, 0.0, float(body.offsets[0, 2]))
    motion, _ = stage.bake_and_read(ob, Motion(body, 24.0, np.tile(root, (2, 1)), straight), cast)
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    for side in "LR":
        for upper, lower in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")):
            ends = (positions[-1, joint(motion, f"{role}_{side}")] for role in (lower, upper))
            limb = quat.unit(np.subtract(*ends))
            assert np.degrees(np.arccos(-limb[2])) < 2.0, f"{upper}_{side}"


@pytest.mark.parametrize("kind", afoot.RIGS)
def test_arms_of_who_is_upright_hang_just_clear_of_the_body(data, kind):
    ob = afoot.enter(kind, data)
    bpy.ops.troupe.act(stance="Upright", seconds=1.0)
    motion = shown(ob)
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    for side in "LR":
        hip, knee, ankle, shoulder, elbow = (
            positions[-1, joint(motion, f"{r}_{side}")] for r in ("thigh", "shin", "foot", "upper_arm", "forearm")
        )
        arm = quat.unit(elbow - shoulder)
        # held out of the body by as much as it takes, but neither forward nor back
        assert abs(np.degrees(np.arcsin(arm[1]))) < 4.0
        assert arm[2] < -np.cos(motion.skeleton.arm_clearance + np.radians(4.0))
        assert np.degrees(np.arccos(-quat.unit(ankle - hip)[2])) < 4.0 and knee[2] > ankle[2]


@pytest.mark.parametrize("kind", afoot.RIGS)
def test_the_same_action_looks_the_same_on_every_rig(data, kind):
    ob = afoot.enter(kind, data)
    bpy.ops.troupe.act(stance="Attention", arms="Arms up", seconds=3.0)
    motion = shown(ob)
    positions, globals_ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    k, unit = 40, motion.skeleton.leg_length() / 0.86
    for side, sign in (("L", 1.0), ("R", -1.0)):
        arm = positions[k, joint(motion, f"hand_{side}")] - positions[k, joint(motion, f"upper_arm_{side}")]
        assert arm[2] > 0.3 * unit
        foot = positions[k, joint(motion, f"foot_{side}")]
        assert sign * (foot[0] - motion.roots[k, 0]) > 0.0
    up = quat.rotate(globals_[k, joint(motion, "head")], np.array([0.0, 0.0, 1.0]))
    assert up[2] > 0.95


def test_a_gesture_over_a_walk_leaves_the_rest_alone():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=4.0)
    walk = canon.keys_of(results.results_of(ob)[0].action)
    before = shown(ob)
    bpy.context.scene.frame_set(20)
    bpy.ops.troupe.act(gesture="Wave right", seconds=2.0)
    found = results.results_of(ob)[-1]
    assert found.track.name.startswith(nla.LAYER) and canon.keys_of(results.results_of(ob)[0].action) == walk
    after = shown(ob, (1, len(before)))
    apart = quat.distance(before.rotations, after.rotations)
    arm = [joint(after, f"{r}_R") for r in ("clavicle", "upper_arm", "forearm", "hand")]
    fingers = [j for finger in FINGERS for j in after.skeleton.roles[f"{finger}_R"]]
    others = np.setdiff1d(np.arange(len(after.skeleton)), arm + fingers)
    assert apart[45, arm[1]] > 0.3 and apart[:, others].max() < 2e-3
    assert apart[:19].max() < 2e-3 and apart[70:].max() < 2e-3


@pytest.mark.req("improv", 36)
def test_wave_and_scratch_come_and_go_over_one_stance():
    ob = stage.actor()
    bpy.ops.troupe.act(stance="Idle", gesture="Wave right", reaction="Scratch head left", seconds=5.0)
    motion = shown(ob)
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    hands = {s: positions[:, joint(motion, f"hand_{s}")] for s in "LR"}
    head = positions[:, joint(motion, "head")]
    middle = slice(36, 84)
    assert np.linalg.norm(hands["L"] - head, axis=1)[middle].max() < 0.35
    assert (hands["R"][middle, 2] > 1.3).all() and hands["R"][-1, 2] < 1.0 and hands["L"][-1, 2] < 1.1


@pytest.mark.req("improv", 41)
def test_a_negative_value_of_an_action_moves_the_mesh_the_opposite_way():
    ob = stage.actor()
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.find_armature() == ob)
    for modifier in mesh.modifiers:
        modifier.show_viewport = False
    mesh.shape_key_add(name="Basis")
    smile = mesh.shape_key_add(name="SMILE")
    rest = np.array([v.co for v in mesh.data.vertices])
    wanted = np.random.default_rng(0).normal(0.0, 0.05, rest.shape)
    smile.data.foreach_set("co", (rest + wanted).ravel())
    sheet = bpy.data.texts.new("Faces")
    sheet.from_string("define ACTION Sour { fade .3 SMILE -1:1 { ramp(age - 1.5) } }\nGROUP Reactions ACTION Sour")
    bpy.ops.troupe.act(reaction="Sour", sheet="Faces", seconds=4.0)
    moved = {}
    for frame in (25, 69):
        bpy.context.scene.frame_set(frame)
        shown_mesh = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        moved[frame] = np.array([v.co for v in shown_mesh.vertices]) - rest
        assert smile.value == (-1.0 if frame == 25 else 1.0)
    assert np.abs(moved[69] - wanted).max() < 1e-6 and np.abs(moved[25] + moved[69]).max() < 1e-6
    assert (smile.slider_min, smile.slider_max) == (-1.0, 1.0)


def test_a_seam_with_what_was_before_is_smooth():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=2.0)
    last = round(nla.frame_range(ob)[1])
    bpy.context.scene.frame_set(last)
    bpy.ops.troupe.act(stance="At ease", seconds=3.0)
    motion = shown(ob, (last - 3, last + 30))
    assert np.linalg.norm(np.diff(motion.roots, axis=0), axis=1).max() < 0.03
    feet, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    for side in "LR":
        assert np.ptp(feet[4:, joint(motion, f"foot_{side}"), :2], axis=0).max() < 5e-3


def test_the_same_seed_gives_the_same_keys_and_another_one_others():
    ob = stage.actor()
    bpy.ops.troupe.act(stance="Nervous", seconds=2.0, seed=1)
    first = canon.keys_of(results.results_of(ob)[-1].action)
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(results.results_of(ob)[-1].action) == first
    ob.troupe.act.seed = 2
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(results.results_of(ob)[-1].action) != first


@pytest.mark.req("improv", 111)
def test_an_action_of_the_file_is_shown_like_one_of_the_repertoire():
    ob = stage.actor()
    bpy.ops.troupe.walk(in_place=True)
    cycle = results.results_of(ob)[-1].action.copy()
    cycle.name, cycle.use_fake_user = "Own walk", True
    results.remove(ob, results.results_of(ob)[-1])
    first, last = cycle.frame_range
    cycle.use_frame_range = cycle.use_cyclic = True
    cycle.frame_start, cycle.frame_end = first, last
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.act(stance="Own walk", gesture="Point", seconds=3.0)
    motion = shown(ob)
    assert np.linalg.norm(motion.roots[-1, :2] - motion.roots[0, :2]) > 1.5


def test_an_actor_may_stand_on_a_floor_of_its_own():
    ob = stage.actor()
    ob.location.z = 1.5
    bpy.context.view_layer.update()
    bpy.ops.troupe.act(stance="Proud", seconds=1.0)
    motion = shown(ob)
    feet, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    assert abs(feet[:, joint(motion, "foot_L"), 2].min() - 1.57) < 0.03


def test_what_cannot_be_shown_is_refused():
    ob = stage.actor()
    for wrong in (
        {},
        {"gesture": "Wave rihgt"},
        {"gesture": "Bow", "sheet": "None"},
        {"head": "Nod yes", "target": "No"},
    ):
        with pytest.raises(RuntimeError):
            bpy.ops.troupe.act(**wrong)
    assert not results.results_of(ob)
    sheet = bpy.data.texts.new("Sheet")
    sheet.from_string('define ACTION "Odd" {\n  Lsholder 0 0 0 }')
    with pytest.raises(RuntimeError, match=r"Sheet:2:\d+"):
        bpy.ops.troupe.act(gesture="Odd", sheet="Sheet")


def test_the_sidebar_offers_every_action():
    ob = stage.actor()
    for group, kind in zip(GROUPS, REPERTOIRE, strict=True):
        name = names_of(group)[-1]
        bpy.ops.troupe.choose_action(group=kind, action=name)
        assert getattr(ob.troupe.act, kind) == name
    with pytest.raises(RuntimeError, match="stance"):
        bpy.ops.troupe.choose_action(group="tail", action="Wag")


def test_regenerate_makes_it_again_in_its_place():
    ob = stage.actor()
    bpy.ops.troupe.act(stance="Idle", seconds=2.0)
    ob.troupe.act.stance = "Slouch"
    bpy.ops.troupe.regenerate()
    assert len(results.results_of(ob)) == 1
    head = fk.forward(shown(ob).skeleton, shown(ob).rotations, shown(ob).roots)[0][20, joint(shown(ob), "head")]
    assert head[1] < shown(ob).roots[20, 1] - 0.05


@pytest.mark.req("improv", 112)
@pytest.mark.parametrize("kept", [False, True], ids=["on the bone", "where it was"])
def test_a_volume_slides_down_the_thigh_as_the_hip_bends_back_and_not_forward(kept):
    ob = stage.actor()
    bpy.ops.mesh.primitive_cube_add(size=0.1)
    cube = bpy.context.object
    cube.parent, cube.parent_type, cube.parent_bone = ob, "BONE", "thigh.L"
    thigh = ob.pose.bones["thigh.L"]
    if kept:
        tail = mathutils.Matrix.Translation((0.0, thigh.length, 0.0))
        cube.matrix_parent_inverse = (ob.matrix_world @ thigh.matrix @ tail).inverted()
    stage.choose(ob)
    with pytest.raises(RuntimeError, match="parented to a bone"):
        bpy.ops.troupe.slide_volume(slide=0.08)
    cube.select_set(True)
    assert bpy.ops.troupe.slide_volume(slide=0.08) == {"FINISHED"}
    rest, head = thigh.matrix.copy(), thigh.head.copy()
    offsets = {}
    for bend in (-1.0, -0.3, 0.0, 0.3, 0.6, 1.2):
        # about the axis to the left a leg that hangs swings back
        turn = mathutils.Matrix.Rotation(bend, 4, "X")
        thigh.matrix = mathutils.Matrix.Translation(head) @ turn @ mathutils.Matrix.Translation(-head) @ rest
        bpy.context.view_layer.update()
        shown = cube.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place = (ob.matrix_world @ thigh.matrix).inverted() @ shown.matrix_world.translation
        offsets[bend] = np.array(place)
        assert (thigh.tail.y > head.y) == (bend > 0) or bend == 0.0
    for bend, place in offsets.items():
        assert place - offsets[0.0] == pytest.approx([0.0, 0.08 * max(bend, 0.0), 0.0], abs=1e-5), bend
