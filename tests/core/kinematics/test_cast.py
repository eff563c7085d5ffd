"""A rig measured from any rest pose gives the same character."""

import numpy as np
import pytest
from rigs import A_POSE, T_POSE, Rig
from troupe.core.errors import InvalidRig
from troupe.core.kinematics import fk
from troupe.core.kinematics.cast import bone_matrices, read_joints, with_neutral
from troupe.core.kinematics.learn import learn_from
from troupe.core.maths import quat
from troupe.core.motion import Motion

FACINGS = {
    "-Y": quat.IDENTITY,
    "+Y": quat.about(np.array([0.0, 0, 1]), np.pi),
    "+X": quat.about(np.array([0.0, 0, 1]), np.pi / 2),
    "Y up": quat.about(np.array([1.0, 0, 0]), -np.pi / 2),
}


def random_motion(skeleton, frames=7, seed=1):
    rng = np.random.default_rng(seed)
    turns = quat.exp(rng.normal(scale=0.4, size=(frames, len(skeleton), 3)))
    return Motion(skeleton, 24.0, rng.normal(size=(frames, 3)) + (0, 0, 1), turns)


@pytest.mark.parametrize("facing", FACINGS)
@pytest.mark.parametrize("rest", [{}, T_POSE, A_POSE], ids=["neutral", "T", "A"])
@pytest.mark.parametrize("scale", [1.0, 0.01, 100.0])
def test_rest_pose_facing_and_scale_do_not_matter(rest, facing, scale):
    rig = Rig(rest, FACINGS[facing], scale)
    cast = rig.cast()
    limbs = [j for role, js in rig.skeleton.roles.items() if role.split("_")[0] in LIMBS for j in js]
    order = [rig.skeleton.index(name) for name in cast.skeleton.names]
    apart = quat.distance(quat.from_matrix(cast.neutral), rig.axes[order])
    assert np.degrees(apart[[order.index(j) for j in limbs]]).max() < 1.0
    wanted = rig.skeleton.offsets[order]
    assert np.abs(cast.skeleton.offsets - wanted)[1:].max() < 0.004
    assert cast.skeleton.offsets[0, 2] == pytest.approx(rig.skeleton.offsets[0, 2], abs=0.03)


LIMBS = {"upper", "forearm", "thigh", "shin", "foot", "hips", "spine", "head"}


def test_an_arm_held_up_comes_down_sideways():
    up = {f"upper_arm_{s}": (0, 175, 0) for s in "LR"}
    rig = Rig(up)
    cast = rig.cast()
    lying = quat.from_matrix(cast.neutral[cast.skeleton.joint("forearm_L")])
    assert np.degrees(quat.distance(lying, rig.axes[rig.skeleton.joint("forearm_L")])) < 2.0


def test_matrices_and_back_give_the_same_motion():
    cast = Rig(T_POSE, FACINGS["+X"], 0.01).cast()
    motion = random_motion(cast.skeleton)
    roots, rotations = read_joints(cast, bone_matrices(cast, motion))
    assert np.abs(roots - motion.roots).max() < 1e-12
    assert quat.distance(rotations, motion.rotations).max() < 1e-7


def test_scale_in_the_matrices_is_ignored():
    cast = Rig(A_POSE).cast()
    motion = random_motion(cast.skeleton)
    matrices = bone_matrices(cast, motion)
    matrices[..., :3, :3] *= np.array([1.1, 0.7, 2.0])
    assert quat.distance(read_joints(cast, matrices)[1], motion.rotations).max() < 1e-7


def test_the_hips_bone_may_sit_anywhere():
    rig = Rig(A_POSE)
    rig.rest[0, :3, 3] += (0.02, 0.1, 0.3)
    cast = rig.cast()
    straight = Rig(A_POSE).cast()
    assert np.allclose(cast.skeleton.offsets, straight.skeleton.offsets)
    motion = random_motion(cast.skeleton)
    assert np.allclose(read_joints(cast, bone_matrices(cast, motion))[0], motion.roots)


def test_known_neutral_orientations_win_and_offsets_follow():
    rig = Rig(T_POSE)
    cast = rig.cast()
    turned = quat.multiply(quat.about(np.array([0.0, 0, 1]), 0.3), quat.from_matrix(cast.neutral))
    known = {name: quat.to_matrix(q) for name, q in zip(cast.skeleton.names, turned, strict=True)}
    other = rig.cast(neutral=known)
    assert np.allclose(other.neutral, quat.to_matrix(turned))
    zero = np.tile(quat.IDENTITY, (1, len(cast.skeleton), 1))
    before, _ = fk.forward(cast.skeleton, zero, np.zeros((1, 3)))
    after, _ = fk.forward(other.skeleton, zero, np.zeros((1, 3)))
    turn = quat.about(np.array([0.0, 0, 1]), 0.3)
    assert np.allclose(after, quat.rotate(turn, before), atol=1e-9)
    assert np.allclose(with_neutral(other, cast.neutral).skeleton.offsets, cast.skeleton.offsets)


def test_deforming_bones_without_a_role_become_joints_after_the_mapped_ones():
    rig = Rig(A_POSE)
    for role in ("clavicle_L", "jaw"):
        rig.roles.pop(role)
    cast = rig.cast(deform=np.ones(len(rig.skeleton), bool))
    mapped = sum(len(js) for js in cast.skeleton.roles.values())
    assert cast.skeleton.names[mapped:] == ("jaw",)
    assert cast.skeleton.parents[-1] == cast.skeleton.joint("head")
    assert "clavicle.L" not in cast.skeleton.names, "a bone between two joints is part of the segment above"
    assert cast.skeleton.parents[cast.skeleton.joint("upper_arm_L")] == cast.skeleton.chain("spine")[-1]


def test_a_straight_limb_takes_its_hinge_from_the_clip():
    rig = Rig(T_POSE)
    truth = rig.cast()
    for side in "LR":
        assert f"upper_arm_{side}" not in truth.notes, "a straight arm shows no hinge at rest"
    motion = random_motion(truth.skeleton, 40)
    rotations = motion.rotations.copy()
    for side, sign in (("L", 1), ("R", 1)):
        bend = np.linspace(0.2, 1.2, 40)
        rotations[:, truth.skeleton.joint(f"forearm_{side}")] = quat.about(np.array([-1.0 * sign, 0, 0]), bend)
        rotations[:, truth.skeleton.joint(f"shin_{side}")] = quat.about(np.array([1.0, 0, 0]), bend)
    matrices = bone_matrices(truth, Motion(truth.skeleton, 24.0, motion.roots, rotations))
    twisted = truth.neutral.copy()
    for role, turn in (("upper_arm_L", 0.5), ("thigh_R", -0.4)):
        lower = {"upper_arm_L": "forearm_L", "thigh_R": "shin_R"}[role]
        for joint in (truth.skeleton.joint(role), truth.skeleton.joint(lower)):
            twisted[joint] = quat.to_matrix(quat.about(np.array([0.0, 0, 1]), turn)) @ twisted[joint]
    learnt = learn_from(with_neutral(truth, twisted), matrices)
    for role in ("upper_arm_L", "forearm_L", "thigh_R", "shin_R"):
        j = truth.skeleton.joint(role)
        apart = quat.distance(quat.from_matrix(learnt.neutral[j]), quat.from_matrix(truth.neutral[j]))
        assert np.degrees(apart) < 0.5, role


def test_missing_and_double_roles_are_named():
    rig = Rig(A_POSE)
    with pytest.raises(InvalidRig, match="no bone plays head"):
        rig.cast(roles={r: b for r, b in rig.roles.items() if r != "head"})
    with pytest.raises(InvalidRig, match=r"two roles at once: shin\.L"):
        rig.cast(roles={**rig.roles, "foot_L": ("shin.L",)})
    with pytest.raises(InvalidRig, match="head: nowhere"):
        rig.cast(roles={**rig.roles, "head": ("nowhere",)})


def test_a_rig_without_extent_is_refused():
    rig = Rig(A_POSE)
    rig.rest[:, :3, 3] = 0.0
    with pytest.raises(InvalidRig):
        rig.cast()
    with pytest.raises(InvalidRig, match="zero scale"):
        Rig(A_POSE).cast(world=np.zeros((4, 4)))


def test_a_finger_ends_at_the_tail_of_its_last_bone_where_that_goes_on_as_the_finger_does():
    rig = Rig(A_POSE)
    turns = quat.multiply(quat.from_matrix(rig.rest[:, :3, :3]), quat.conjugate(rig.axes))
    tails = rig.rest[:, :3, 3] + quat.rotate(turns, rig.skeleton.tips)
    own = [rig.skeleton.chain(f"{finger}_{s}")[-1] for finger in ("thumb", "middle") for s in "LR"]
    names = [rig.skeleton.names[j] for j in own]

    def tips(tails):
        skeleton = rig.cast(tails=tails).skeleton
        return skeleton.tips[[skeleton.index(name) for name in names]]

    assert np.abs(tips(tails) - rig.skeleton.tips[own]).max() < 0.0015
    # tails of glTF bones point anywhere
    assert np.array_equal(tips(2.0 * rig.rest[:, :3, 3] - tails), tips(None))


def test_hanging_arms_clear_a_wide_body():
    rig = Rig(A_POSE)
    slim = rig.cast().skeleton.arm_clearance
    heights = np.linspace(0.7, 1.1, 20)
    wide = np.array([(x, 0.0, z) for x in (-0.4, 0.4) for z in heights])
    wide_body = np.concatenate([wide, [(0.1, 0.0, 0.0)]])
    angle = rig.cast(body=wide_body).skeleton.arm_clearance
    assert angle > slim and np.degrees(angle) > 15
