"""The skeleton of the mannequin and its rest pose."""

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.figure.anthropometry import HEIGHTS, LENGTHS
from troupe.core.figure.armature import GROUPS, bones
from troupe.core.figure.mannequin import MannequinParams, mannequin, rest_pose
from troupe.core.kinematics.anatomy import joint_angles
from troupe.core.kinematics.fk import forward, tip_positions
from troupe.core.kinematics.stance import rest_to_neutral
from troupe.core.maths import quat
from troupe.core.skeleton import CORE_ROLES, FINGERS, ROLES, SIDES


@pytest.fixture(scope="module")
def skeleton():
    return mannequin()


def neutral(skeleton):
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    return forward(skeleton, still, skeleton.offsets[0])[0]


def at_rest(skeleton):
    pose = rest_pose(skeleton)
    return forward(skeleton, pose.rotations, pose.root)


def test_every_role_but_the_root_is_played(skeleton):
    assert set(skeleton.roles) == set(ROLES) - {"root"}
    assert skeleton.has(*CORE_ROLES)
    assert len(skeleton.chain("spine")) == 3
    assert all(len(skeleton.chain(f"{finger}_{side}")) == 3 for finger in FINGERS for side in SIDES)


@pytest.mark.parametrize("height", [1.0, 1.75, 2.2])
def test_limbs_have_the_lengths_of_the_anthropometric_table(height):
    s = mannequin(height)
    for part, child in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
        for side in SIDES:
            assert np.linalg.norm(s.offsets[s.joint(f"{child}_{side}")]) == pytest.approx(LENGTHS[part] * height)


@pytest.mark.parametrize("height", [1.0, 1.75, 2.2])
def test_joints_stand_at_the_heights_of_the_anthropometric_table(height):
    s = mannequin(height)
    z = neutral(s)[:, 2] / height
    for role, point in (("hips", "hip"), ("shin_L", "knee"), ("foot_R", "ankle"), ("upper_arm_L", "shoulder")):
        assert z[s.joint(role)] == pytest.approx(HEIGHTS[point])
    assert z[s.joint("eye_L")] == pytest.approx(HEIGHTS["eye"])
    assert z[s.joint("hand_L")] == pytest.approx(HEIGHTS["wrist"], abs=0.002)
    head = s.joint("head")
    assert z[head] + s.tips[head, 2] / height == pytest.approx(HEIGHTS["vertex"])
    middle = s.chain("middle_L")[2]
    assert z[middle] + s.tips[middle, 2] / height == pytest.approx(HEIGHTS["fingertip"], abs=0.005)


def test_joint_zero_lies_midway_between_the_hip_joints(skeleton):
    p = neutral(skeleton)
    assert np.allclose(p[0], (p[skeleton.joint("thigh_L")] + p[skeleton.joint("thigh_R")]) / 2, atol=1e-12)


def test_left_and_right_are_mirror_images(skeleton):
    p, _ = at_rest(skeleton)
    ends = tip_positions(skeleton, *at_rest(skeleton))
    for role, joints in skeleton.roles.items():
        if role.endswith("_L"):
            right = list(skeleton.chain(role[:-1] + "R"))
            for places in (neutral(skeleton), p, ends):
                assert np.allclose(places[list(joints)] * (-1, 1, 1), places[right], atol=1e-12)


def test_hanging_limbs_are_vertical_and_feet_point_forward(skeleton):
    for side in SIDES:
        for role in ("upper_arm", "forearm", "hand", "thigh", "shin"):
            tip = skeleton.tips[skeleton.joint(f"{role}_{side}")]
            assert np.allclose(tip[:2], 0.0, atol=1e-12)
            assert tip[2] < 0
        assert skeleton.tips[skeleton.joint(f"foot_{side}")][0] == pytest.approx(0.0)
        assert skeleton.tips[skeleton.joint(f"foot_{side}")][1] < 0


def test_palms_face_the_thighs_with_the_thumbs_in_front(skeleton):
    p = neutral(skeleton)
    for side, left in zip(SIDES, (1, -1), strict=True):
        hand, thumb = p[skeleton.joint(f"hand_{side}")], p[skeleton.chain(f"thumb_{side}")[2]]
        assert thumb[1] < hand[1] - 0.03
        fingertip = p[skeleton.chain(f"middle_{side}")[2]]
        assert left * (fingertip - p[skeleton.joint(f"middle_{side}")])[0] < 0, "relaxed fingers curl to the palm"


def test_rest_is_an_a_pose_with_bent_elbows_and_knees_and_flat_feet(skeleton):
    rotations = rest_pose(skeleton).rotations
    angle = {
        r: np.degrees(joint_angles(rotations[skeleton.joint(r)], r)) for r in ("upper_arm_L", "forearm_R", "shin_L")
    }
    assert angle["upper_arm_L"][1] == pytest.approx(40, abs=1)
    assert angle["forearm_R"][0] > 5
    assert angle["shin_L"][0] > 5
    p, turns = at_rest(skeleton)
    for side in SIDES:
        foot = skeleton.joint(f"foot_{side}")
        assert np.allclose(quat.rotate(turns[foot], np.array([0.0, 0.0, 1.0])), (0, 0, 1), atol=1e-9)
        assert p[foot, 2] == pytest.approx(HEIGHTS["ankle"] * 1.75)


def test_the_neutral_stance_is_measured_back_from_the_rest_pose(skeleton):
    """What rig reading measures on the bare armature is the stance the skeleton was defined in."""
    p, turns = at_rest(skeleton)
    name = {j: role if len(js) == 1 else f"{role}.{k}" for role, js in skeleton.roles.items() for k, j in enumerate(js)}
    places = {name[j]: p[j] for j in range(len(skeleton))}
    parents = {name[j]: name[int(q)] if q >= 0 else None for j, q in enumerate(skeleton.parents)}
    tips = {}
    for side in SIDES:
        tips[f"hand_{side}"] = np.mean([places[f"{finger}_{side}.0"] for finger in FINGERS[1:]], axis=0)
        tips[f"foot_{side}"] = places[f"toe_{side}"]
    measured, _ = rest_to_neutral(places, tips, parents)
    for j in range(len(skeleton)):
        expected = quat.to_matrix(quat.conjugate(turns[j]))
        assert np.allclose(measured[name[j]], expected, atol=2e-3), name[j]


def test_arms_hang_clear_of_the_body_at_the_clearance(skeleton):
    assert 0.05 < skeleton.arm_clearance < 0.3


def test_the_skeleton_is_the_same_every_time(skeleton):
    again = mannequin()
    assert np.array_equal(again.offsets, skeleton.offsets)
    assert np.array_equal(again.tips, skeleton.tips)


@pytest.mark.parametrize("height", [0.0, -1.0, 0.2, 5.0, float("nan"), float("inf")])
def test_impossible_heights_are_refused(height):
    with pytest.raises(InvalidParam):
        mannequin(height)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("height", 0.4),
        ("height", 2.6),
        ("height", float("nan")),
        ("height", "tall"),
        ("build", -1.1),
        ("build", 1.1),
        ("shape", -0.1),
        ("shape", 1.1),
        ("hair", "mohawk"),
        ("theme", "tartan"),
    ],
)
def test_invalid_parameters_are_refused_by_name(name, value):
    with pytest.raises(InvalidParam, match=name):
        MannequinParams(**{name: value})


def test_bones_follow_the_skeleton_below_a_root_on_the_ground(skeleton):
    rows = bones(skeleton)
    assert rows[0].name == "root"
    assert np.allclose(rows[0].head, 0)
    assert tuple(row.name for row in rows[1:]) == skeleton.names
    seen = set()
    for row in rows:
        assert row.parent in seen or row is rows[0]
        seen.add(row.name)
    assert {row.group for row in rows} == set(GROUPS)


def test_bones_have_length_and_a_roll_across_them(skeleton):
    for row in bones(skeleton):
        along = row.tail - row.head
        assert np.linalg.norm(along) > 0.01
        assert np.linalg.norm(np.cross(quat.unit(along), row.roll)) > 0.5, row.name


@pytest.mark.parametrize(
    ("name", "role", "sign"),
    [
        ("upper_arm.L", "upper_arm_L", 1),
        ("forearm.R", "forearm_R", 1),
        ("thigh.L", "thigh_L", 1),
        ("shin.R", "shin_R", -1),
    ],
)
def test_turning_a_limb_about_its_x_axis_flexes_it(skeleton, name, role, sign):
    row = next(row for row in bones(skeleton) if row.name == name)
    y = quat.unit(row.tail - row.head)
    x = quat.unit(np.cross(y, row.roll))
    turn = rest_pose(skeleton)
    turns = forward(skeleton, turn.rotations, turn.root)[1]
    local = quat.rotate(quat.conjugate(turns[skeleton.index(name)]), sign * x)
    flexion = joint_angles(quat.about(local, 0.5), role)
    assert flexion == pytest.approx((0.5, 0.0, 0.0), abs=0.02)
