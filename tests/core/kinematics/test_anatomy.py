"""Anatomical angles: what positive means for every joint, and that nothing is lost between angles and rotations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidRig, Motion
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat
from troupe.core.skeleton import FINGERS, ROLES

FIGURE = mannequin(1.75)
LEFT, BACK, UP = np.eye(3)
RIGHT, FORWARD, DOWN = -LEFT, -BACK, -UP
FLEXION, ABDUCTION, ROTATION = range(3)
SIDED = sorted({role[:-2] for role in ROLES if role.endswith("_L")})
RNG = np.random.default_rng(2)


def neutral(frames: int = 1) -> np.ndarray:
    return np.tile(quat.IDENTITY, (frames, len(FIGURE), 1))


def motion(rotations: np.ndarray) -> Motion:
    return Motion(FIGURE, 30.0, np.tile(FIGURE.offsets[0], (len(rotations), 1)), rotations)


def still(values: np.ndarray, column: int) -> np.ndarray:
    """(T, 3) angles of which one changes."""
    out = np.zeros((len(values), 3))
    out[:, column] = values
    return out


# --- what positive means ----------------------------------------------------------------------------------------------
# fact: role, angle, what is watched (a joint by its role, the segment's tip, or a direction fixed to the segment) and
# where it goes. Only left sides: the mirror image is a test of its own.

FACTS = {
    "hip_flexion_brings_the_knee_forward": ("thigh_L", FLEXION, "shin_L", FORWARD),
    "hip_abduction_brings_the_knee_outward": ("thigh_L", ABDUCTION, "shin_L", LEFT),
    "hip_rotation_turns_the_front_of_the_leg_inward": ("thigh_L", ROTATION, FORWARD, RIGHT),
    "knee_flexion_brings_the_heel_to_the_buttock": ("shin_L", FLEXION, "foot_L", BACK),
    "knee_abduction_brings_the_foot_outward": ("shin_L", ABDUCTION, "foot_L", LEFT),
    "knee_rotation_turns_the_front_of_the_shin_inward": ("shin_L", ROTATION, FORWARD, RIGHT),
    "ankle_flexion_lifts_the_toes": ("foot_L", FLEXION, "toe_L", UP),
    "ankle_abduction_brings_the_toes_outward": ("foot_L", ABDUCTION, "toe_L", LEFT),
    "ankle_rotation_turns_the_sole_inward": ("foot_L", ROTATION, DOWN, RIGHT),
    "toe_flexion_lifts_the_toes": ("toe_L", FLEXION, "tip", UP),
    "toe_abduction_brings_the_toes_outward": ("toe_L", ABDUCTION, "tip", LEFT),
    "toe_rotation_turns_the_underside_inward": ("toe_L", ROTATION, DOWN, RIGHT),
    "shoulder_flexion_brings_the_elbow_forward": ("upper_arm_L", FLEXION, "forearm_L", FORWARD),
    "shoulder_abduction_brings_the_elbow_outward": ("upper_arm_L", ABDUCTION, "forearm_L", LEFT),
    "shoulder_rotation_turns_the_front_of_the_arm_inward": ("upper_arm_L", ROTATION, FORWARD, RIGHT),
    "elbow_flexion_brings_the_hand_forward": ("forearm_L", FLEXION, "hand_L", FORWARD),
    "elbow_abduction_brings_the_hand_outward": ("forearm_L", ABDUCTION, "hand_L", LEFT),
    "elbow_rotation_turns_the_thumb_side_inward": ("forearm_L", ROTATION, FORWARD, RIGHT),
    "wrist_flexion_brings_the_fingers_to_the_palm_side": ("hand_L", FLEXION, "middle_L", RIGHT),
    "wrist_abduction_brings_the_fingers_to_the_thumb_side": ("hand_L", ABDUCTION, "middle_L", FORWARD),
    "wrist_rotation_turns_the_thumb_inward": ("hand_L", ROTATION, "thumb_L", RIGHT),
    "thumb_flexion_brings_it_to_the_palm_side": ("thumb_L", FLEXION, DOWN, RIGHT),
    "thumb_abduction_brings_it_away_from_the_fingers": ("thumb_L", ABDUCTION, DOWN, FORWARD),
    "thumb_rotation_turns_its_front_inward": ("thumb_L", ROTATION, FORWARD, RIGHT),
    **{f"{finger}_flexion_brings_it_to_the_palm_side": (f"{finger}_L", FLEXION, DOWN, RIGHT) for finger in FINGERS[1:]},
    **{
        f"{finger}_abduction_spreads_the_fingers": (f"{finger}_L", ABDUCTION, DOWN, side)
        for finger, side in zip(FINGERS[1:], (FORWARD, FORWARD, BACK, BACK), strict=True)
    },
    **{
        f"{finger}_rotation_turns_its_front_inward": (f"{finger}_L", ROTATION, FORWARD, RIGHT) for finger in FINGERS[1:]
    },
    "clavicle_flexion_brings_the_shoulder_forward": ("clavicle_L", FLEXION, "upper_arm_L", FORWARD),
    "clavicle_abduction_lifts_the_shoulder": ("clavicle_L", ABDUCTION, "upper_arm_L", UP),
    "clavicle_rotation_turns_its_top_forward": ("clavicle_L", ROTATION, UP, FORWARD),
    "trunk_flexion_brings_the_head_forward": ("spine", FLEXION, "head", FORWARD),
    "trunk_abduction_brings_the_head_to_the_left": ("spine", ABDUCTION, "head", LEFT),
    "trunk_rotation_turns_the_front_to_the_left": ("spine", ROTATION, FORWARD, LEFT),
    "neck_flexion_brings_the_head_forward": ("neck", FLEXION, UP, FORWARD),
    "neck_abduction_brings_the_head_to_the_left": ("neck", ABDUCTION, UP, LEFT),
    "neck_rotation_turns_the_front_to_the_left": ("neck", ROTATION, FORWARD, LEFT),
    "head_flexion_nods_it_forward": ("head", FLEXION, "tip", FORWARD),
    "head_abduction_tilts_it_to_the_left": ("head", ABDUCTION, "tip", LEFT),
    "head_rotation_turns_the_face_to_the_left": ("head", ROTATION, FORWARD, LEFT),
    "hips_flexion_tips_the_pelvis_forward": ("hips", FLEXION, UP, FORWARD),
    "hips_abduction_tips_the_pelvis_to_the_left": ("hips", ABDUCTION, UP, LEFT),
    "hips_rotation_turns_the_pelvis_to_the_left": ("hips", ROTATION, FORWARD, LEFT),
    "jaw_flexion_opens_the_mouth": ("jaw", FLEXION, "tip", DOWN),
    "jaw_abduction_brings_the_chin_to_the_left": ("jaw", ABDUCTION, "tip", LEFT),
    "jaw_rotation_rolls_it_to_the_left": ("jaw", ROTATION, UP, LEFT),
    "eye_flexion_lowers_the_gaze": ("eye_L", FLEXION, FORWARD, DOWN),
    "eye_abduction_brings_the_gaze_outward": ("eye_L", ABDUCTION, FORWARD, LEFT),
    "eye_rotation_turns_its_top_to_the_nose": ("eye_L", ROTATION, UP, RIGHT),
}


def watched(role: str, angles: np.ndarray, watch: str | np.ndarray) -> np.ndarray:
    """Unit vector from the last joint of `role` to what is watched."""
    rotations = anatomy.with_angles(FIGURE, neutral(), {role: angles})
    positions, globals_ = fk.forward(FIGURE, rotations, FIGURE.offsets[:1])
    joint = FIGURE.chain(role)[-1]
    if isinstance(watch, np.ndarray):
        return quat.rotate(globals_[0, joint], watch)
    tips = fk.tip_positions(FIGURE, positions, globals_)
    place = tips[0, joint] if watch == "tip" else positions[0, FIGURE.joint(watch)]
    return quat.unit(place - positions[0, joint])


@pytest.mark.parametrize("fact", FACTS)
def test_positive_means(fact: str) -> None:
    role, column, watch, direction = FACTS[fact]
    angles = np.zeros(3)
    before = watched(role, angles, watch)
    angles[column] = 0.1
    moved = watched(role, angles, watch) - before
    # a thumb points halfway to where it goes, so a half of the turn may show
    assert moved @ direction > 0.045
    assert np.linalg.norm(moved - (moved @ direction) * direction) < 1.1 * (moved @ direction)


def test_every_joint_that_moves_has_its_three_facts() -> None:
    told = [(role, column) for role, column, _, _ in FACTS.values()]
    assert len(set(told)) == len(told)
    assert {role for role, _ in told} == {r for r in ROLES if not r.endswith("_R")} - {"root"}
    assert len(told) == 3 * len({role for role, _ in told})


@pytest.mark.parametrize("part", SIDED)
def test_equal_numbers_left_and_right_are_mirror_images(part: str) -> None:
    angles = RNG.uniform(-0.6, 0.6, (20, 3))
    rotations = anatomy.with_angles(FIGURE, neutral(20), {f"{part}_L": angles, f"{part}_R": angles})
    positions, globals_ = fk.forward(FIGURE, rotations, FIGURE.offsets[0])
    tips = fk.tip_positions(FIGURE, positions, globals_)
    left, right = (tips[:, FIGURE.chain(f"{part}_{side}")[-1]] for side in "LR")
    assert np.allclose(left * np.array([-1.0, 1.0, 1.0]), right)
    assert np.abs(anatomy.mirror(FIGURE, rotations) - rotations).max() < 1e-12


def test_flexion_as_a_plain_turn_about_the_left_axis() -> None:
    for role in ("shin_L", "shin_R", "spine", "neck", "head", "jaw"):
        assert np.allclose(anatomy.from_angles((0.5, 0, 0), role), quat.about(LEFT, 0.5)), role
    for role in ("thigh_L", "upper_arm_R", "forearm_L", "foot_R", "toe_L"):
        assert np.allclose(anatomy.from_angles((0.5, 0, 0), role), quat.about(LEFT, -0.5)), role


def test_twist_is_applied_first_and_flexion_last() -> None:
    f, a, t = 0.5, 0.4, 0.3
    expected = quat.multiply(quat.multiply(quat.about(RIGHT, f), quat.about(FORWARD, a)), quat.about(DOWN, t))
    assert np.allclose(anatomy.from_angles((f, a, t), "thigh_L"), expected)


# --- nothing is lost --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_angles_give_the_rotation_back_everywhere(role: str) -> None:
    q = quat.unit(RNG.normal(size=(2000, 4)))
    assert quat.distance(anatomy.from_angles(anatomy.joint_angles(q, role), role), q).max() < 1e-12


@pytest.mark.parametrize("role", ROLES)
def test_rotations_give_the_angles_back(role: str) -> None:
    angles = RNG.uniform(-1, 1, (2000, 3)) * np.array([3.1, 1.55, 3.1])
    assert np.abs(anatomy.joint_angles(anatomy.from_angles(angles, role), role) - angles).max() < 1e-9


@pytest.mark.parametrize("role", ["thigh_L", "upper_arm_R", "hand_L", "clavicle_R", "foot_L", "spine", "eye_R"])
@pytest.mark.parametrize("past", [0.0, 1e-16, 1e-9, 1e-5])
@pytest.mark.parametrize("sign", [-1, 1])
def test_abduction_of_a_quarter_turn_is_no_trouble(role: str, past: float, sign: int) -> None:
    angles = RNG.uniform(-3, 3, (200, 3))
    angles[:, 1] = sign * (np.pi / 2 + past)
    q = anatomy.from_angles(angles, role)
    found = anatomy.joint_angles(q, role)
    assert np.isfinite(found).all()
    assert quat.distance(anatomy.from_angles(found, role), q).max() < 1e-12


def test_a_quaternion_and_its_negative_have_the_same_angles() -> None:
    q = quat.unit(RNG.normal(size=(500, 4)))
    assert np.abs(anatomy.joint_angles(q, "thigh_R") - anatomy.joint_angles(-q, "thigh_R")).max() < 1e-12


def test_angles_over_time_do_not_jump_when_an_arm_goes_up_sideways() -> None:
    raised = np.linspace(-0.5, 3.0, 60)
    angles = np.column_stack([np.full(60, 0.2), raised, np.full(60, 0.1)])
    rotations = anatomy.with_angles(FIGURE, neutral(60), {"upper_arm_R": angles})
    assert np.abs(anatomy.angles(motion(rotations), "upper_arm_R") - angles).max() < 1e-9


def test_angles_over_time_count_whole_turns() -> None:
    turns = np.linspace(0, 15, 100)
    rotations = neutral(100)
    rotations[:, 0] = quat.about(UP, turns)
    assert np.abs(anatomy.angles(motion(rotations), "hips")[:, ROTATION] - turns).max() < 1e-9


@pytest.mark.parametrize("role", ["spine", "neck", "index_L", "pinky_R", "thumb_L"])
def test_angles_of_a_chain_are_its_total(role: str) -> None:
    angles = RNG.uniform(-0.5, 0.5, (30, 3))
    rotations = anatomy.with_angles(FIGURE, neutral(30), {role: angles})
    assert np.abs(anatomy.angles(motion(rotations), role) - angles).max() < 1e-9


def test_a_finger_curls_through_more_than_a_half_turn() -> None:
    curl = still(np.linspace(0.0, 4.5, 40), FLEXION)
    rotations = anatomy.with_angles(FIGURE, neutral(40), {"index_L": curl})
    joints = anatomy.joint_angles(rotations[-1, FIGURE.chain("index_L")], "index_L")
    assert np.allclose(joints, [[1.5, 0, 0]] * 3)
    assert np.abs(anatomy.angles(motion(rotations), "index_L") - curl).max() < 1e-9


def test_an_unknown_role_is_refused_with_the_known_ones() -> None:
    for call in (lambda: anatomy.from_angles((0, 0, 0), "tail"), lambda: anatomy.joint_angles(quat.IDENTITY, "tail")):
        with pytest.raises(InvalidRig, match=r"tail.*thigh_L"):
            call()


def test_a_role_the_character_lacks_is_refused() -> None:
    blind = replace(FIGURE, roles={r: j for r, j in FIGURE.roles.items() if r != "eye_L"})
    with pytest.raises(InvalidRig, match="eye_L"):
        anatomy.with_angles(blind, neutral(), {"eye_L": (0, 0, 0)})


# --- chains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_spread_rotation_is_gathered_again(n: int, weighted: bool) -> None:
    total = quat.unit(RNG.normal(size=(50, 4)))
    weights = RNG.uniform(0.1, 1, n) if weighted else None
    joints = anatomy.spread(total, n, weights)
    assert joints.shape == (50, n, 4)
    assert quat.distance(anatomy.gather(joints), total).max() < 1e-12


def test_equal_shares_are_equal_and_weights_are_shares() -> None:
    total = quat.about(UP, 0.9)
    assert np.allclose(anatomy.spread(total, 3), quat.about(UP, 0.3))
    assert np.allclose(quat.angle(anatomy.spread(total, 2, (2, 1))), [0.6, 0.3])


@pytest.mark.parametrize("weights", [(1, 2), (1, -1, 0), (0, 0, 0)])
def test_weights_that_cannot_be_shares_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(InvalidRig, match="weights"):
        anatomy.spread(quat.IDENTITY, 3, weights)


def test_gather_turns_from_root_to_tip() -> None:
    first, second = quat.about(LEFT, 0.5), quat.about(UP, 0.7)
    assert np.allclose(anatomy.gather(np.stack([first, second])), quat.multiply(first, second))


def test_spread_onto_sets_the_chain_alone() -> None:
    rotations = quat.unit(RNG.normal(size=(4, len(FIGURE), 4)))
    total = anatomy.from_angles((0.6, 0.1, -0.2), "spine")
    out = anatomy.spread_onto(FIGURE, rotations, "spine", total)
    spine = list(FIGURE.chain("spine"))
    others = [j for j in range(len(FIGURE)) if j not in spine]
    assert np.array_equal(out[:, others], rotations[:, others])
    assert quat.distance(anatomy.gather(out[:, spine]), total).max() < 1e-12


def test_with_angles_leaves_other_joints_and_its_input_alone() -> None:
    rotations = quat.unit(RNG.normal(size=(4, len(FIGURE), 4)))
    copy = rotations.copy()
    out = anatomy.with_angles(FIGURE, rotations, {"thigh_L": (0.5, 0, 0), "neck": (0.1, 0.2, 0.3)})
    assert np.array_equal(rotations, copy)
    changed = {j for j in range(len(FIGURE)) if not np.array_equal(out[:, j], rotations[:, j])}
    assert changed == {FIGURE.joint("thigh_L"), *FIGURE.chain("neck")}


# --- mirror -----------------------------------------------------------------------------------------------------------


def test_the_mirror_image_has_mirrored_places() -> None:
    rotations = quat.exp(0.4 * RNG.normal(size=(20, len(FIGURE), 3)))
    flip = np.array([-1.0, 1.0, 1.0])
    roots = RNG.normal(size=(20, 3))
    before, _ = fk.forward(FIGURE, rotations, roots)
    after, _ = fk.forward(FIGURE, anatomy.mirror(FIGURE, rotations), roots * flip)
    for role, joints in FIGURE.roles.items():
        other = role[:-1] + {"L": "R", "R": "L"}[role[-1]] if role[-2:] in ("_L", "_R") else role
        assert np.allclose(after[:, joints], before[:, FIGURE.chain(other)] * flip), role


def test_mirroring_twice_is_nothing() -> None:
    rotations = quat.unit(RNG.normal(size=(20, len(FIGURE), 4)))
    assert np.array_equal(anatomy.mirror(FIGURE, anatomy.mirror(FIGURE, rotations)), rotations)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_limits_are_the_published_ranges() -> None:
    degrees = np.degrees(anatomy.default_limits(FIGURE.roles, len(FIGURE)))
    assert np.allclose(degrees[FIGURE.joint("thigh_R")], [(-30, 120), (-30, 45), (-45, 45)])
    assert np.allclose(degrees[FIGURE.joint("shin_L"), FLEXION], (-10, 135))
    assert np.allclose(degrees[FIGURE.joint("foot_L"), FLEXION], (-50, 30))
    assert np.allclose(degrees[FIGURE.joint("forearm_L"), ROTATION], (-80, 80))
    assert np.allclose(degrees[FIGURE.joint("hand_R"), :2], [(-70, 80), (-30, 20)])


def test_the_joints_of_the_spine_share_its_limits_and_fingers_do_not() -> None:
    limits = anatomy.default_limits(FIGURE.roles, len(FIGURE))
    spine = list(FIGURE.chain("spine"))
    assert np.allclose(np.degrees(limits[spine].sum(axis=0)), anatomy.LIMITS["spine"])
    assert np.allclose(np.degrees(limits[list(FIGURE.chain("ring_L"))]), [anatomy.LIMITS["ring"]] * 3)


def test_hips_and_joints_without_a_role_are_free() -> None:
    limits = anatomy.default_limits({"hips": (0,), "head": (1,)}, 3)
    assert np.allclose(limits[[0, 2]], [-np.pi, np.pi])


def test_every_limit_leaves_room_around_neutral() -> None:
    for part, ranges in anatomy.LIMITS.items():
        assert all(low <= 0 < high <= 180 and low >= -180 for low, high in ranges), part
    assert anatomy.violations(motion(neutral())).max() == 0


def test_violations_say_how_far_and_which_way() -> None:
    rotations = anatomy.with_angles(
        FIGURE, neutral(), {"shin_L": np.radians((150, 0, 0)), "foot_R": np.radians((-60, 0, 0))}
    )
    beyond = np.degrees(anatomy.violations(motion(rotations)))[0]
    assert np.allclose(beyond[FIGURE.joint("shin_L")], (15, 0, 0))
    assert np.allclose(beyond[FIGURE.joint("foot_R")], (-10, 0, 0))
    assert np.count_nonzero(np.abs(beyond) > 1e-9) == 2


@pytest.mark.parametrize("degrees", [(0, 170, 0), (170, 0, 0), (60, 120, 30), (-50, 10, -80)])
def test_an_arm_may_be_raised_sideways_above_the_shoulder(degrees: tuple[float, float, float]) -> None:
    rotations = anatomy.with_angles(FIGURE, neutral(), {"upper_arm_L": np.radians(degrees)})
    assert np.abs(anatomy.violations(motion(rotations))).max() < 1e-12


def test_clamped_rotations_are_within_limits() -> None:
    rotations = quat.unit(RNG.normal(size=(300, len(FIGURE), 4)))
    clamped = anatomy.clamp(FIGURE, rotations)
    assert np.abs(anatomy.violations(motion(rotations))).max() > 1
    assert np.abs(anatomy.violations(motion(clamped))).max() < 1e-9
    assert np.abs(np.linalg.norm(clamped, axis=-1) - 1).max() < 1e-12


def test_clamping_leaves_what_is_within_limits_untouched() -> None:
    rotations = quat.exp(0.005 * RNG.normal(size=(50, len(FIGURE), 3)))
    rotations[:, 0] = quat.unit(RNG.normal(size=(50, 4)))
    assert np.array_equal(anatomy.clamp(FIGURE, rotations), rotations)


def test_clamping_stops_a_knee_at_its_limit() -> None:
    rotations = anatomy.with_angles(FIGURE, neutral(), {"shin_R": (3.0, 0, 0)})
    held = anatomy.joint_angles(anatomy.clamp(FIGURE, rotations)[0, FIGURE.joint("shin_R")], "shin_R")
    assert np.allclose(np.degrees(held), (135, 0, 0))


def test_soft_clamping_slows_down_before_the_limit_and_never_reaches_it() -> None:
    flexion = np.radians(np.linspace(60, 170, 111))
    rotations = anatomy.with_angles(FIGURE, neutral(111), {"shin_R": still(flexion, FLEXION)})
    knee = FIGURE.joint("shin_R")
    eased = anatomy.joint_angles(anatomy.clamp(FIGURE, rotations, soft=np.radians(20))[:, knee], "shin_R")[:, FLEXION]
    free = flexion < np.radians(115)
    assert np.allclose(eased[free], flexion[free])
    assert (np.diff(eased) > 0).all() and eased.max() < np.radians(135)
    assert np.abs(np.diff(eased, 2)).max() < np.radians(0.06)


def test_clamping_keeps_the_sign_of_quaternions() -> None:
    rotations = -anatomy.with_angles(FIGURE, neutral(), {"shin_R": (3.0, 0, 0)})
    assert (quat.dot(anatomy.clamp(FIGURE, rotations), rotations) > 0).all()
