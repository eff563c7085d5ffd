"""Two-bone limbs: exact within reach, straight towards what is beyond it, and never bent the wrong way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam, InvalidRig, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import anatomy, fk, limb_ik
from troupe.core.maths import quat

X, Y, Z = np.eye(3)
RNG = np.random.default_rng(5)
N = 400
UPPER, LOWER = 0.30, 0.26


def crooked(height: float = 1.75) -> Skeleton:
    """A mannequin whose segments lie a few degrees off the vertical, as on real rigs."""
    skeleton = mannequin(height)
    offsets = skeleton.offsets.copy()
    for role in ("shin", "foot", "forearm", "hand"):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            offsets[skeleton.joint(f"{role}_{side}")] += sign * 0.012 * X + (0.01 if role == "foot" else -0.006) * Y
    return replace(skeleton, offsets=offsets)


FIGURES = {"mannequin": mannequin(1.75), "crooked": crooked(), "child": crooked(1.1)}
CASES = [(name, limb) for name in FIGURES for limb in limb_ik.LIMBS]


def neutral(skeleton: Skeleton, frames: int = 1) -> np.ndarray:
    return np.tile(quat.IDENTITY, (frames, len(skeleton), 1))


def moving(skeleton: Skeleton, frames: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Poses of a body in motion: every joint turned a little, knees and elbows bent by 5 to 110 degrees."""
    rng = np.random.default_rng(11)
    rotations = quat.exp(0.2 * rng.normal(size=(frames, len(skeleton), 3)))
    bends = {
        f"{part}_{side}": np.column_stack([rng.uniform(0.1, 1.9, frames), rng.uniform(-0.1, 0.1, (frames, 2))])
        for part in ("shin", "forearm")
        for side in "LR"
    }
    return anatomy.with_angles(skeleton, rotations, bends), rng.normal(size=(frames, 3))


def replay(skeleton: Skeleton, globals_: np.ndarray, roots: np.ndarray) -> np.ndarray:
    return fk.forward(skeleton, fk.local_rotations(skeleton, globals_), roots)[0]


def goals_in_reach(skeleton: Skeleton, positions: np.ndarray, limb: tuple[str, str, str]) -> np.ndarray:
    rng = np.random.default_rng(7)
    first, middle, last = (skeleton.joint(role) for role in limb)
    reach = np.linalg.norm(skeleton.offsets[middle]) + np.linalg.norm(skeleton.offsets[last])
    directions = quat.unit(positions[:, last] - positions[:, first] + 0.2 * rng.normal(size=(len(positions), 3)))
    return positions[:, first] + directions * (reach * rng.uniform(0.4, 0.98, len(positions)))[:, None]


# --- two_bone ---------------------------------------------------------------------------------------------------------


def within(low: float, high: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    root = RNG.normal(size=(N, 3))
    goal = root + quat.unit(RNG.normal(size=(N, 3))) * RNG.uniform(low, high, (N, 1))
    return root, goal, RNG.normal(size=(N, 3))


def test_a_goal_within_reach_is_met_with_bones_of_their_lengths() -> None:
    root, goal, pole = within(UPPER - LOWER, UPPER + LOWER)
    mid, end, reached = limb_ik.two_bone(root, goal, UPPER, LOWER, pole, RNG.normal(size=N))
    assert reached.all()
    assert np.abs(end - goal).max() < 1e-12
    assert np.abs(np.linalg.norm(mid - root, axis=-1) - UPPER).max() < 1e-12
    assert np.abs(np.linalg.norm(end - mid, axis=-1) - LOWER).max() < 1e-12


@pytest.mark.req("badler", 74)
def test_the_numbers_of_the_worked_limb() -> None:
    root, goal = np.zeros(3), np.array([0.3, 0.0, 0.0])
    for swivel, elbow in ((0.0, (0.15, 0.0, -0.2598)), (np.pi / 2, (0.15, 0.2598, 0.0))):
        mid, end, reached = limb_ik.two_bone(root, goal, 0.3, 0.3, -Z, swivel)
        assert np.abs(mid - elbow).max() < 1e-4 and np.abs(end - goal).max() < 1e-12 and reached
        inner = np.arccos((root - mid) @ (end - mid) / (0.3 * 0.3))
        assert np.degrees(inner) == pytest.approx(60.0, abs=1e-4)
    _, end, reached = limb_ik.two_bone(root, X, 0.3, 0.25, -Z)
    assert not reached and np.linalg.norm(end) == pytest.approx(0.55) and end @ X == pytest.approx(0.55)
    assert np.linalg.norm(X - end) == pytest.approx(0.45)


def test_the_middle_joint_points_to_the_pole() -> None:
    root, goal, pole = within(0.1, 0.5)
    mid, _, _ = limb_ik.two_bone(root, goal, UPPER, LOWER, pole)
    line = goal - root
    assert np.abs(quat.dot(mid - root, quat.cross(line, pole))).max() < 1e-12
    assert (quat.dot(mid - root, quat.cross(quat.cross(line, pole), line)) > 0).all()


def test_a_goal_too_far_straightens_the_limb_towards_it() -> None:
    root, goal, pole = within(0.6, 5.0)
    mid, end, reached = limb_ik.two_bone(root, goal, UPPER, LOWER, pole)
    assert not reached.any()
    along = quat.unit(goal - root)
    assert np.abs(end - (root + (UPPER + LOWER) * along)).max() < 1e-12
    assert np.abs(mid - (root + UPPER * along)).max() < 1e-7


def test_a_goal_too_near_folds_the_limb() -> None:
    root, goal, pole = within(0.001, 0.039)
    _, end, reached = limb_ik.two_bone(root, goal, UPPER, LOWER, pole)
    assert not reached.any()
    assert np.abs(end - (root + (UPPER - LOWER) * quat.unit(goal - root))).max() < 1e-12


def test_a_goal_at_the_root_folds_towards_the_pole() -> None:
    mid, end, reached = limb_ik.two_bone(Z, Z, 0.3, 0.3, -Y)
    assert bool(reached)
    assert np.allclose(mid, Z - 0.3 * Y) and np.allclose(end, Z)
    mid, end, reached = limb_ik.two_bone(Z, Z, 0.3, 0.2, -Y)
    assert not bool(reached)
    assert np.isclose(np.linalg.norm(mid - Z), 0.3) and np.isclose(np.linalg.norm(end - mid), 0.2)


def test_a_pole_along_the_limb_still_gives_a_limb() -> None:
    mid, end, reached = limb_ik.two_bone(np.zeros(3), -0.4 * Z, UPPER, LOWER, -Z)
    assert bool(reached) and np.isfinite(mid).all()
    assert np.isclose(np.linalg.norm(mid), UPPER) and np.isclose(np.linalg.norm(end - mid), LOWER)


def test_positive_swivel_turns_the_middle_joint_right_handed_about_the_line_to_the_goal() -> None:
    mid, _, _ = limb_ik.two_bone(np.zeros(3), 0.4 * Z, UPPER, LOWER, X, np.pi / 2)
    assert mid[1] > 0.1 and abs(mid[0]) < 1e-12


@pytest.mark.parametrize("swivel", [-3.0, -0.4, 0.0, 0.4, 3.0])
def test_swivel_angle_measures_what_two_bone_was_given(swivel: float) -> None:
    root, goal, pole = within(0.1, 0.5)
    mid, end, _ = limb_ik.two_bone(root, goal, UPPER, LOWER, pole, swivel)
    assert np.abs(limb_ik.swivel_angle(root, mid, end, pole) - swivel).max() < 1e-9


def test_lengths_may_differ_by_frame() -> None:
    root, goal, pole = within(0.2, 0.4)
    upper, lower = RNG.uniform(0.25, 0.3, N), RNG.uniform(0.2, 0.25, N)
    mid, end, reached = limb_ik.two_bone(root, goal, upper, lower, pole)
    assert reached.all()
    assert np.allclose(np.linalg.norm(mid - root, axis=-1), upper)
    assert np.allclose(np.linalg.norm(end - mid, axis=-1), lower)


def test_softness_eases_the_knee_straight_without_a_pop() -> None:
    far = np.linspace(0.5, 0.7, 2001)
    goal = -far[:, None] * Z
    bends = []
    for soft in (0.0, 0.05):
        mid, end, _ = limb_ik.two_bone(np.zeros(3), goal, UPPER, LOWER, -Y, soft=soft)
        bends.append(np.abs(np.diff(mid[:, 1])))
        assert (np.diff(-end[:, 2]) >= 0).all()
    assert bends[1].max() < 0.3 * bends[0].max()
    assert (-end[:, 2] < UPPER + LOWER).all()
    untouched = far < 0.95 * (UPPER + LOWER)
    assert np.allclose(-end[untouched, 2], far[untouched])


@pytest.mark.parametrize("soft", [-0.1, 1.0, np.nan])
def test_a_softness_out_of_range_is_refused(soft: float) -> None:
    with pytest.raises(InvalidParam, match="soft"):
        limb_ik.two_bone(np.zeros(3), Z, UPPER, LOWER, Y, soft=soft)


# --- place_limb -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "limb"), CASES)
def test_a_goal_where_the_end_is_changes_nothing(name: str, limb: str) -> None:
    skeleton, roles = FIGURES[name], limb_ik.LIMBS[limb]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, positions[:, skeleton.joint(limb)])
    assert quat.distance(placed, globals_).max() < 1e-6


@pytest.mark.parametrize("swivel", [0.0, 0.7])
@pytest.mark.parametrize(("name", "limb"), CASES)
def test_the_end_meets_its_goal_and_keeps_its_world_rotation(name: str, limb: str, swivel: float) -> None:
    skeleton, roles = FIGURES[name], limb_ik.LIMBS[limb]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = goals_in_reach(skeleton, positions, roles)
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, goals, swivel)
    after = replay(skeleton, placed, roots)
    assert np.linalg.norm(after[:, skeleton.joint(limb)] - goals, axis=-1).max() < 1e-9
    others = [j for j in range(len(skeleton)) if j not in (skeleton.joint(roles[0]), skeleton.joint(roles[1]))]
    assert np.array_equal(placed[:, others], globals_[:, others])


@pytest.mark.parametrize(("name", "limb"), CASES)
def test_inside_the_limb_flexion_changes_and_twist_stays(name: str, limb: str) -> None:
    skeleton, roles = FIGURES[name], limb_ik.LIMBS[limb]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = goals_in_reach(skeleton, positions, roles)
    local = fk.local_rotations(skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals))
    before, after = (anatomy.joint_angles(q[:, skeleton.joint(roles[1])], roles[1]) for q in (rotations, local))
    assert np.abs(after - before)[:, 0].max() > np.radians(60)
    assert np.abs(after - before)[:, 1:].max() < np.radians(16)
    assert (after[:, 0] > 0).all()


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize(("limb", "side"), [("foot_L", -1), ("foot_R", -1), ("hand_L", 1), ("hand_R", 1)])
def test_straight_knees_bend_forward_and_straight_elbows_back(name: str, limb: str, side: int) -> None:
    skeleton, roles = FIGURES[name], limb_ik.LIMBS[limb]
    roots = skeleton.offsets[:1]
    positions, globals_ = fk.forward(skeleton, neutral(skeleton), roots)
    middle, last = skeleton.joint(roles[1]), skeleton.joint(limb)
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, positions[:, last] + 0.05 * Z)
    moved = (replay(skeleton, placed, roots) - positions)[0, middle]
    assert side * moved[1] > 0.03
    assert abs(moved[0]) < 0.01


@pytest.mark.parametrize("limb", limb_ik.LIMBS)
def test_bend_direction_follows_the_body_when_it_turns(limb: str) -> None:
    skeleton, roles = FIGURES["crooked"], limb_ik.LIMBS[limb]
    rotations = neutral(skeleton, N)
    positions, globals_ = fk.forward(skeleton, rotations, skeleton.offsets[0])
    goals = positions[:, skeleton.joint(limb)] + 0.05 * Z
    upright = replay(skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals), np.zeros((N, 3)))

    turn = quat.unit(RNG.normal(size=(N, 4)))
    rotations[:, 0] = turn
    roots = quat.rotate(turn, skeleton.offsets[0])
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, quat.rotate(turn, goals))
    tilted = replay(skeleton, placed, np.zeros((N, 3)))
    assert np.abs(tilted - quat.rotate(turn[:, None], upright)).max() < 1e-7


def test_a_knee_through_straight_does_not_flip() -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS["foot_L"]
    flexion = np.radians(np.linspace(10, -8, 181))
    angles = {"shin_L": np.column_stack([flexion, np.zeros((181, 2))])}
    rotations = anatomy.with_angles(skeleton, neutral(skeleton, 181), angles)
    roots = np.tile(skeleton.offsets[0], (181, 1))
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = positions[:, skeleton.joint("foot_L")] + 0.04 * Z
    after = replay(skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals), roots)
    knee = after[:, skeleton.joint("shin_L")]
    assert (knee[:, 1] < -0.05).all()
    assert np.linalg.norm(np.diff(knee, axis=0), axis=-1).max() < 0.005


@pytest.mark.parametrize("limb", limb_ik.LIMBS)
def test_a_goal_out_of_reach_is_pointed_at(limb: str) -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS[limb]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    first, last = skeleton.joint(roles[0]), skeleton.joint(limb)
    goals = positions[:, first] + 3 * (goals_in_reach(skeleton, positions, roles) - positions[:, first])
    after = replay(skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals), roots)
    line, limb_line = goals - after[:, first], after[:, last] - after[:, first]
    assert quat.dot(quat.unit(line), quat.unit(limb_line)).min() > 1 - 1e-12
    # a limb that was bent askew by a few degrees stays so, which costs it less than a hundredth of its reach
    reach = sum(np.linalg.norm(skeleton.offsets[skeleton.joint(role)]) for role in roles[1:])
    lengths = np.linalg.norm(limb_line, axis=-1)
    assert lengths.max() < reach + 1e-9 and lengths.min() > 0.99 * reach


@pytest.mark.parametrize("goal", ["root", "opposite"])
def test_degenerate_goals_give_finite_unit_rotations(goal: str) -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS["hand_R"]
    roots = skeleton.offsets[:1]
    positions, globals_ = fk.forward(skeleton, neutral(skeleton), roots)
    first, last = positions[:, skeleton.joint("upper_arm_R")], positions[:, skeleton.joint("hand_R")]
    target = first if goal == "root" else 2 * first - last
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, target)
    assert np.abs(np.linalg.norm(placed, axis=-1) - 1).max() < 1e-9
    if goal == "opposite":
        assert np.allclose(replay(skeleton, placed, roots)[:, skeleton.joint("hand_R")], target, atol=1e-6)


def test_swivel_turns_the_elbow_about_the_line_from_shoulder_to_goal() -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS["hand_L"]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = goals_in_reach(skeleton, positions, roles)
    shoulder, elbow, hand = (skeleton.joint(role) for role in roles)
    angles = []
    swivels = RNG.uniform(-1.0, 1.0, N)
    for swivel in (0.0, swivels):
        after = replay(skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals, swivel), roots)
        angles.append(limb_ik.swivel_angle(after[:, shoulder], after[:, elbow], after[:, hand], X))
    turned = np.mod(angles[1] - angles[0] - swivels + np.pi, 2 * np.pi) - np.pi
    assert np.abs(turned).max() < 1e-6


def test_an_end_not_kept_turns_with_the_lower_segment() -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS["hand_L"]
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = goals_in_reach(skeleton, positions, roles)
    local = fk.local_rotations(
        skeleton, limb_ik.place_limb(skeleton, globals_, positions, roles, goals, keep_end=False)
    )
    changed = {j for j in range(len(skeleton)) if quat.distance(local[:, j], rotations[:, j]).max() > 1e-7}
    assert changed == {skeleton.joint("upper_arm_L"), skeleton.joint("forearm_L")}


def test_joints_beside_the_limb_go_with_the_segment_they_hang_on() -> None:
    plain = FIGURES["mannequin"]
    thigh = plain.joint("thigh_L")
    skeleton = replace(
        plain,
        names=(*plain.names, "thigh_twist.L"),
        parents=np.append(plain.parents, thigh),
        offsets=np.vstack([plain.offsets, -0.2 * Z]),
        tips=np.vstack([plain.tips, -0.1 * Z]),
        limits=np.concatenate([plain.limits, plain.limits[:1]]),
    )
    rotations, roots = moving(skeleton)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    roles = limb_ik.LIMBS["foot_L"]
    placed = limb_ik.place_limb(skeleton, globals_, positions, roles, goals_in_reach(skeleton, positions, roles))
    assert quat.distance(fk.local_rotations(skeleton, placed)[:, -1], rotations[:, -1]).max() < 1e-7


def test_one_pose_needs_no_frame_axis() -> None:
    skeleton, roles = FIGURES["mannequin"], limb_ik.LIMBS["foot_R"]
    rotations, roots = moving(skeleton, 3)
    positions, globals_ = fk.forward(skeleton, rotations, roots)
    goals = goals_in_reach(skeleton, positions, roles)
    batch = limb_ik.place_limb(skeleton, globals_, positions, roles, goals)
    one = limb_ik.place_limb(skeleton, globals_[1], positions[1], roles, goals[1])
    assert np.allclose(one, batch[1])


def test_a_limb_that_the_character_does_not_have_is_named() -> None:
    skeleton = FIGURES["mannequin"]
    legless = replace(skeleton, roles={r: j for r, j in skeleton.roles.items() if r != "shin_L"})
    positions, globals_ = fk.forward(legless, neutral(legless), legless.offsets[:1])
    with pytest.raises(InvalidRig, match="shin_L"):
        limb_ik.place_limb(legless, globals_, positions, limb_ik.LIMBS["foot_L"], positions[:, 0])
