"""Trunks go along with hands, which stay on their way."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.arm_ik import solve_arms
from troupe.core.maths import quat
from troupe.core.maths.ramp import smootherstep
from troupe.core.motion import Motion
from troupe.core.planning.hands.accompany import accompanied
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.spaces.problems import bottle_scene
from troupe.core.planning.spaces.solids import Shapes

COUNT = 49
BACK, LAST = 24, COUNT - 1


def reaching(sides, gone):
    """A hand or both go somewhere and come back; the trunk keeps still."""
    skeleton = mannequin(1.75)
    rest = rest_pose(skeleton)
    angles = {f"forearm_{s}": (1.2, 0.0, 0.0) for s in "LR"} | {f"upper_arm_{s}": (0.1, 0.2, 0.0) for s in "LR"}
    rotations = np.tile(anatomy.with_angles(skeleton, rest.rotations, angles), (COUNT, 1, 1))
    roots = np.tile(rest.root, (COUNT, 1))
    positions, globals = fk.forward(skeleton, rotations, roots)
    share = np.concatenate([smootherstep(np.linspace(0, 1, BACK + 1)), smootherstep(np.linspace(1, 0, BACK + 1))[1:]])
    hands = [skeleton.joint(f"hand_{s}") for s in sides]
    goals = positions[:, hands] + share[:, None, None] * np.asarray(gone)
    return Motion(skeleton, 24.0, roots, solve_arms(skeleton, positions, globals, goals, sides=sides).onto(rotations))


def hands_of(motion, sides):
    """Places (T, S, 3) and world rotations (T, S, 4) of hands."""
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    joints = [motion.skeleton.joint(f"hand_{s}") for s in sides]
    return positions[:, joints], globals[:, joints]


@pytest.mark.parametrize("sides", ["R", "L", "LR"])
def test_hands_stay_on_their_way_while_the_trunk_moves(sides):
    motion = reaching(sides, (0.0, -0.25, 0.1))
    found = accompanied(motion, sides, (0, BACK, LAST), 1.0)
    (places, turns), (there, turned) = hands_of(motion, sides), hands_of(found, sides)
    assert np.abs(there - places).max() < 1e-7 and quat.distance(turned, turns).max() < 1e-6
    spine = list(motion.skeleton.chain("spine"))
    moved = quat.angle(anatomy.gather(found.rotations[:, spine]))
    assert np.degrees(moved.max()) > 3.0
    # only arms and trunk move
    changed = quat.distance(found.rotations, motion.rotations).max(axis=0) > 1e-9
    arms = [j for s in sides for part in ("upper_arm", "forearm", "hand") for j in motion.skeleton.chain(f"{part}_{s}")]
    girdle = [j for s in sides for j in motion.skeleton.chain(f"clavicle_{s}")]
    assert set(np.flatnonzero(changed)) == {*spine, *girdle, *arms}


@pytest.mark.parametrize(("side", "sign"), [("R", 1.0), ("L", -1.0)])
def test_the_shoulder_of_a_hand_that_goes_forward_comes_along(side, sign):
    motion = reaching(side, (0.0, -0.25, 0.1))
    found = accompanied(motion, side, (0, BACK, LAST), 1.0)
    shoulders = [fk.forward(m.skeleton, m.rotations, m.roots)[0] for m in (motion, found)]
    gone = (shoulders[1] - shoulders[0])[BACK]
    skeleton = motion.skeleton
    other = {"R": "L", "L": "R"}[side]
    assert gone[skeleton.joint(f"upper_arm_{side}"), 1] < -0.03
    assert gone[skeleton.joint(f"upper_arm_{side}"), 1] < gone[skeleton.joint(f"upper_arm_{other}"), 1] - 0.01
    turn = anatomy.angles(found, "spine")[BACK, 2]
    assert sign * np.degrees(turn) > 2.0  # to the left for the right hand


def test_the_collar_bone_follows_a_hand_that_goes_up():
    motion = reaching("R", (0.05, -0.1, 0.35))
    found = accompanied(motion, "R", (0, BACK, LAST), 1.0)
    raised = [
        fk.forward(m.skeleton, m.rotations, m.roots)[0][BACK, m.skeleton.joint("upper_arm_R"), 2]
        for m in (motion, found)
    ]
    assert raised[1] > raised[0] + 0.005


def test_both_hands_draw_the_trunk_straight_forward():
    found = accompanied(reaching("LR", (0.0, -0.25, 0.0)), "LR", (0, BACK, LAST), 1.0)
    flexion, aside, turn = np.degrees(anatomy.angles(found, "spine")[BACK] - anatomy.angles(found, "spine")[0])
    assert flexion > 3.0 and abs(aside) < 0.01 and abs(turn) < 0.01


def test_it_begins_and_ends_as_it_was_and_does_nothing_outside_its_time():
    motion = reaching("R", (0.0, -0.25, 0.1))
    rows = np.pad(np.arange(COUNT), 6, mode="edge")
    motion = replace(motion, roots=motion.roots[rows], rotations=motion.rotations[rows])
    found = accompanied(motion, "R", (6, 6 + BACK, 6 + LAST), 1.0)
    same = np.abs(found.rotations - motion.rotations).max(axis=(1, 2)) < 1e-9
    assert same[:7].all() and same[6 + LAST :].all() and not same[10 : LAST + 2].any()
    spine = anatomy.angles(found, "spine")
    assert np.abs(np.diff(spine, 2, axis=0)).max() < np.abs(np.diff(spine, axis=0)).max()  # without a jerk


def test_nothing_goes_along_where_it_cannot_or_shall_not():
    motion = reaching("R", (0.0, -0.25, 0.1))
    roles = {role: joints for role, joints in motion.skeleton.roles.items() if role != "spine"}
    assert accompanied(motion, "R", (0, BACK, LAST), 0.0) is None
    assert accompanied(motion, "R", (0, LAST, LAST), 1.0) is None
    assert accompanied(replace(motion, skeleton=replace(motion.skeleton, roles=roles)), "R", (0, 24, 48), 1.0) is None


def test_no_arm_is_bent_beyond_its_limits_for_it():
    motion = reaching("R", (0.0, -0.2, 0.25))
    bent = accompanied(motion, "R", (0, BACK, LAST), 1.0)
    flexion = [anatomy.angles(m, "forearm_R")[:, 0].max() for m in (motion, bent)]
    assert flexion[1] > flexion[0] + 0.01
    limits = np.array(motion.skeleton.limits)
    limits[motion.skeleton.joint("forearm_R"), 0, 1] = flexion[0]
    assert accompanied(replace(motion, skeleton=replace(motion.skeleton, limits=limits)), "R", (0, 24, 48), 1.0) is None


def test_a_bottle_is_moved_as_planned_with_a_trunk_that_goes_along():
    skeleton, pose, world, there = bottle_scene()
    shapes = Shapes()
    still, moved = (
        reach(Job(skeleton, pose, world, ReachParams(target="bottle", trunk=t), destination=there, shapes=shapes))
        for t in (0.0, 0.7)
    )
    assert not moved.offences and (moved.ledger.ik, moved.ledger.plans) == (2, 3)
    ways = [r.performance.props["bottle"] for r in (still, moved)]
    assert np.abs(ways[1] - ways[0]).max() < 1e-6
    motion = moved.performance.motions["actor"]
    spine = list(skeleton.chain("spine"))
    total = anatomy.gather(motion.rotations[:, spine])
    turned = quat.distance(total, total[:1])
    assert np.degrees(turned.max()) > 3.0 and motion.mask[spine].all()
    assert np.array_equal(motion.rotations[-1, spine], pose.rotations[spine])
