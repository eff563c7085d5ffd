"""An arm as seven angles: exact, within its limits, against its own body, with what it holds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.body_shape import self_gaps
from troupe.core.maths import quat
from troupe.core.motion import Motion
from troupe.core.planning.hands.held_shape import held_capsules
from troupe.core.planning.spaces.arm_space import Arm, Held, angles_of, arm_space, checker, put
from troupe.core.planning.spaces.collision import clearance
from troupe.core.planning.spaces.rrt import SearchParams, plan
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.spaces.shortcut import shorten
from troupe.core.planning.spaces.solids import solids
from troupe.core.planning.spaces.space import hits
from troupe.core.world import World


def crooked():
    skeleton = mannequin(1.6)
    offsets = skeleton.offsets.copy()
    for role, side in (("forearm", "R"), ("hand", "R"), ("forearm", "L"), ("hand", "L")):
        offsets[skeleton.joint(f"{role}_{side}")] += (0.012, -0.007, 0.0)
    return replace(skeleton, offsets=offsets)


def standing(skeleton, heading=0.7):
    pose = rest_pose(skeleton)
    rotations = np.array(pose.rotations)
    rotations[0] = quat.about(np.array([0.0, 0, 1]), heading)
    return rotations, pose.root, *fk.forward(skeleton, rotations, pose.root)


@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("make", [mannequin, crooked])
def test_angles_give_the_arm_of_the_skeleton_and_come_back(side, make):
    skeleton = make()
    rotations, root, positions, globals = standing(skeleton)
    arm = Arm(skeleton, side, positions, globals)
    q = np.random.default_rng(0).uniform(arm.low, arm.high, (200, 7))
    body = put(rotations, arm, q)
    places, turns = fk.forward(skeleton, body, np.broadcast_to(root, (200, 3)))
    elbow, wrist, axes = arm.frames(q)
    assert np.abs(places[:, arm.joints[1]] - elbow.T).max() < 1e-12
    assert np.abs(places[:, arm.joints[2]] - wrist.T).max() < 1e-12
    assert np.abs(quat.to_matrix(turns[:, arm.joints[2]]) - axes.transpose(2, 1, 0)).max() < 1e-12
    assert quat.distance(arm.rotations(arm.configuration(body[:, arm.joints])), body[:, arm.joints]).max() < 1e-6
    motion = Motion(skeleton, 24.0, np.tile(root, (200, 1)), body)
    over = anatomy.violations(motion)[:, arm.joints]
    assert np.abs(over[:, [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 0, 2, 0, 1]]).max() < (1e-6 if make is mannequin else 0.03)
    assert set(angles_of(q[0])) == set(arm_space(arm, checker(arm, solids(World()), positions, globals)).names)


def test_capsules_of_the_arm_are_where_the_body_has_them():
    skeleton = mannequin()
    rotations, root, positions, globals = standing(skeleton)
    arm = Arm(skeleton, "R", positions, globals)
    q = np.random.default_rng(1).uniform(arm.low, arm.high, (20, 7))
    starts, vectors = arm.segments(q)
    own = arm.body.chosen(arm.parts)
    a, b = own.placed(*fk.forward(skeleton, put(rotations, arm, q), np.broadcast_to(root, (20, 3))))
    assert np.abs(starts.transpose(2, 1, 0) - a).max() < 1e-12
    assert np.abs((starts + vectors).transpose(2, 1, 0) - b).max() < 1e-12


def test_an_arm_keeps_out_of_its_own_body():
    skeleton = mannequin()
    rotations, root, positions, globals = standing(skeleton)
    arm = Arm(skeleton, "L", positions, globals)
    space = arm_space(arm, checker(arm, solids(World()), positions, globals))
    q = np.random.default_rng(2).uniform(arm.low, arm.high, (400, 7))
    free = space.free(q)
    gaps, _ = self_gaps(arm.body, *fk.forward(skeleton, put(rotations, arm, q), np.broadcast_to(root, (400, 3))), "L")
    # beads are a little thicker than what they stand for
    assert (gaps.min(axis=1)[free] > -1e-6).all() and (gaps.min(axis=1)[~free] < 0.012).all()
    assert 0.5 < free.mean() < 0.97


def test_an_arm_that_rests_against_the_body_may_leave_it():
    skeleton = mannequin()
    pose = rest_pose(skeleton)
    rotations = anatomy.with_angles(skeleton, pose.rotations, {"upper_arm_R": (0, -0.05, 0), "forearm_R": (0, 0, 0)})
    positions, globals = fk.forward(skeleton, rotations, pose.root)
    arm = Arm(skeleton, "R", positions, globals)
    rest = arm.configuration(rotations[arm.joints])
    strict = arm_space(arm, checker(arm, solids(World()), positions, globals))
    lenient = arm_space(arm, checker(arm, solids(World()), positions, globals, rest[None]))
    assert not strict.free(rest[None])[0] and lenient.free(rest[None])[0]
    deeper = rest + np.array([0, -0.15, 0, 0, 0, 0, 0])
    assert not lenient.free(deeper[None])[0]


@pytest.mark.req("kuffner", 81)
def test_what_the_hand_holds_is_in_the_way():
    skeleton = mannequin()
    _, _, positions, globals = standing(skeleton, 0.0)
    plain = Arm(skeleton, "R", positions, globals)
    q = np.zeros((1, 7))
    q[0, [0, 3]] = 0.6, 0.9
    _, wrist, axes = plain.frames(q)
    stick = Held(np.array([[0.05, 0, -0.08]]), np.array([[0.45, 0, -0.08]]), np.array([0.02]))
    end = wrist[:, 0] + axes[:, :, 0].T @ stick.ends[0]
    world = solids(World((box("lamp", (0.04, 0.04, 0.04), end),)))
    armed = Arm(skeleton, "R", positions, globals, held=stick)
    assert arm_space(plain, checker(plain, world, positions, globals)).free(q)[0]
    assert not arm_space(armed, checker(armed, world, positions, globals)).free(q)[0]


def test_held_capsules_cover_the_prop():
    for body in (bottle("b"), box("book", (0.1, 0.07, 0.015)), box("cube", (0.04, 0.04, 0.04))):
        hand = np.eye(4)
        hand[:3, 3] = 0.1, 0.2, 0.3
        held = held_capsules(body.vertices, hand, np.eye(4))
        local = body.vertices - hand[:3, 3]
        axis = held.ends - held.starts
        along = ((local[:, None] - held.starts) * axis).sum(2) / np.maximum((axis**2).sum(1), 1e-12)
        away = local[:, None] - held.starts - np.clip(along, 0, 1)[..., None] * axis
        assert (np.linalg.norm(away, axis=2) - held.radii).min(axis=1).max() < 1e-6
        assert held.radii.max() < 0.08


@pytest.mark.req("kuffner", 71, 78)
def test_the_planner_takes_an_arm_round_a_post():
    skeleton = mannequin()
    _, _, positions, globals = standing(skeleton, 0.0)
    arm = Arm(skeleton, "R", positions, globals)
    shoulder = arm.shoulder
    world = World(
        (box("post", (0.03, 0.03, 1.0), shoulder + (0.0, -0.42, 0)), bottle("vase", shoulder + (-0.3, -0.3, 0.1)))
    )
    found = solids(world)
    space = arm_space(arm, checker(arm, found, positions, globals))
    start, goal = np.radians([55.0, 35, 0, 30, 0, 0, 0]), np.radians([55.0, -35, 0, 30, 0, 0, 0])
    assert space.free(np.stack([start, goal])).all()
    answer = plan(space, start, goal, SearchParams(seed=1))
    path = shorten(space, answer.path)
    assert not hits(space, path.points)
    # and apart from what the planner itself looks with: every 0.3 degrees of any joint, against whole capsules
    legs = np.ceil(np.degrees(np.abs(np.diff(path.points, axis=0)).max(axis=1)) / 0.3).astype(int)
    dense = np.concatenate([np.linspace(a, b, n + 1) for (a, b), n in zip(pairwise(path.points), legs, strict=True)])
    assert ((dense >= arm.low) & (dense <= arm.high)).all() and len(dense) > 150
    a, v = arm.segments(dense)
    gap, _ = clearance(
        found,
        a.transpose(2, 1, 0).reshape(-1, 3),
        (a + v).transpose(2, 1, 0).reshape(-1, 3),
        np.tile(arm.radii, len(dense)),
    )
    assert gap.min() >= -1e-6
    rotations, root, *_ = standing(skeleton, 0.0)
    body = fk.forward(skeleton, put(rotations, arm, dense), np.broadcast_to(root, (len(dense), 3)))
    assert self_gaps(arm.body, *body, "R")[0].min() > -1e-6
    again = plan(space, start, goal, SearchParams(seed=1))
    assert np.allclose(answer.path.points, again.path.points, rtol=0, atol=1e-9)
