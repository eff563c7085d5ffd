"""What is carried stays level before a body that walks, runs and turns, and goes rigidly with the hands."""

from functools import cache

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.errors import NoGrasp
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.kinematics import fk
from troupe.core.kinematics.body_shape import self_gaps, with_fingers
from troupe.core.kinematics.fingers import finger_joints
from troupe.core.maths import quat
from troupe.core.planning.hands.carry import CarryParams, carry
from troupe.core.planning.hands.holding import as_it_is, hand_matrix, in_hand
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.world import World

BOTTLE = bottle()


@cache
def walked():
    return walk(mannequin(1.75), WalkParams(), fps=24.0)


@cache
def carried(posture="front", side="R", **params):
    motion = walked()
    held = in_hand(motion.skeleton, side, BOTTLE)
    given = CarryParams(posture=posture, **params)
    return held, carry(motion, held, given, bodies={"bottle": BOTTLE})


def tilts(props):
    return np.degrees(np.arccos(np.clip(props[:, 2, 2], -1.0, 1.0)))


@pytest.mark.req("kuffner", 80)
def test_the_prop_goes_rigidly_with_the_hand_that_holds_it():
    held, done = carried()
    motion, prop = done.motions["actor"], done.props["bottle"]
    hand = hand_matrix(motion.skeleton, motion.rotations, motion.roots, "R")
    assert np.abs(np.linalg.inv(hand) @ prop - held.offset).max() < 1e-9
    (attached,) = done.attachments
    assert (attached.prop, attached.joint, attached.start, attached.end) == ("bottle", "hand.R", 0.0, motion.duration)


@pytest.mark.parametrize("posture", ["front", "chest", "high", "side"])
def test_a_bottle_stays_upright_once_it_is_held_before_the_body(posture):
    _, done = carried(posture)
    assert tilts(done.props["bottle"])[24:].max() < 1.0


def test_what_is_carried_goes_over_a_table_and_what_stands_on_it():
    """The bottle would pass 10 cm under the top; it rises before it gets there, smoothly, and comes down behind it."""
    motion, held = walked(), in_hand(walked().skeleton, "R", BOTTLE)
    _, plain = carried()
    way = plain.props["bottle"][:, :3, 3]
    k = len(way) // 2
    low = way[k, 2] + BOTTLE.vertices[:, 2].min()
    table = box("table", (0.25, 0.15, 0.02), (*way[k, :2], low + 0.08))
    book = box("book", (0.05, 0.05, 0.02), (*way[k, :2], low + 0.12))
    done = carry(motion, held, CarryParams(posture="front"), bodies={"bottle": BOTTLE}, world=World((table, book)))
    over = done.props["bottle"][:, :3, 3]
    inside = (np.abs(over[:, :2] - way[k, :2]) < (0.09, 0.09)).all(axis=1)
    assert inside.any() and (over[inside, 2] + BOTTLE.vertices[:, 2].min()).min() > low + 0.14
    raised = over[:, 2] - way[:, 2]
    assert np.abs(raised[: k - 24]).max() < 0.01 and np.abs(raised[k + 24 :]).max() < 0.01
    assert np.abs(np.diff(over[:, 2], 2)).max() < np.abs(np.diff(way[:, 2], 2)).max() + 0.02


def test_only_the_arm_and_fingers_that_carry_are_spoken_for():
    _, done = carried()
    motion, before = done.motions["actor"], walked()
    skeleton = motion.skeleton
    own = [skeleton.joint(f"{part}_R") for part in ("upper_arm", "forearm", "hand")] + finger_joints(skeleton, "R")
    assert sorted(np.flatnonzero(motion.mask)) == sorted(own)
    rest = [j for j in range(len(skeleton)) if j not in own]
    assert np.array_equal(motion.rotations[:, rest], before.rotations[:, rest])


def test_it_begins_where_the_arm_is_and_takes_the_posture_without_a_jump():
    for posture in ("front", "high", "side"):
        _, done = carried(posture)
        motion, before = done.motions["actor"], walked()
        arm = [motion.skeleton.joint(f"{part}_R") for part in ("upper_arm", "forearm", "hand")]
        assert quat.distance(motion.rotations[0, arm], before.rotations[0, arm]).max() < 1e-6
        assert quat.distance(motion.rotations[1:, arm], motion.rotations[:-1, arm]).max() < 0.35


def test_the_elbow_does_not_twitch_while_carrying():
    for posture in ("front", "side", "high"):
        _, done = carried(posture)
        motion = done.motions["actor"]
        positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
        elbow = positions[:, motion.skeleton.joint("forearm_R")] - positions[:, 0]
        assert np.abs(np.diff(elbow, 2, axis=0)).max() < 0.012  # m a frame, each frame


def test_steadiness_takes_the_bobbing_from_the_prop():
    def bobs(steady):
        prop = carried(steady=steady)[1].props["bottle"]
        height = prop[48:-48, 2, 3]
        return float(np.std(height - np.linspace(height[0], height[-1], len(height))))

    assert bobs(1.0) < 0.25 * bobs(0.0)


def test_arm_and_fingers_keep_out_of_the_body():
    for posture in ("front", "side", "high"):
        _, done = carried(posture)
        motion = done.motions["actor"]
        positions, globals = fk.forward(motion.skeleton, motion.rotations[24:], motion.roots[24:])
        gaps, pairs = self_gaps(with_fingers(motion.skeleton), positions, globals, "R")
        lower = [k for k, (own, _) in enumerate(pairs) if not own.startswith("upper_arm")]
        assert gaps[:, lower].min() > -0.005


def test_the_arm_goes_back_to_its_own_motion_when_told():
    _, done = carried(lower=0.8)
    motion, before = done.motions["actor"], walked()
    arm = [motion.skeleton.joint(f"{part}_R") for part in ("upper_arm", "forearm", "hand")]
    assert quat.distance(motion.rotations[-1, arm], before.rotations[-1, arm]).max() < 1e-6


def test_what_is_kept_where_it_is_stays_there_as_the_shoulders_see_it():
    motion = walked()
    skeleton, pose = motion.skeleton, motion.pose(0)
    hand = hand_matrix(skeleton, pose.rotations, pose.root, "L")
    there = hand.copy()
    there[:3, 3] += 0.06 * hand[:3, :3] @ (-1.0, 0.0, 0.0) + hand[:3, :3] @ (0.0, 0.0, -0.09)
    held = as_it_is(skeleton, pose, "L", BOTTLE, there)
    assert np.abs(hand @ held.offset - there).max() < 1e-9
    done = carry(motion, held, CarryParams(posture="kept", upright="now", level=0.0), bodies={"bottle": BOTTLE})
    away = done.props["bottle"][:, :3, 3] - motion.roots
    assert np.ptp(np.linalg.norm(away, axis=1)) < 0.12


def test_a_thing_for_each_hand_is_carried_at_once():
    skeleton = walked().skeleton
    other = bottle("other")
    held = [in_hand(skeleton, "L", BOTTLE), in_hand(skeleton, "R", other)]
    done = carry(walked(), held, bodies={"bottle": BOTTLE, "other": other})
    assert set(done.props) == {"bottle", "other"}
    assert {a.joint for a in done.attachments} == {"hand.L", "hand.R"}
    assert np.linalg.norm(done.props["bottle"][24:, :3, 3] - done.props["other"][24:, :3, 3], axis=1).min() > 0.1


def test_what_cannot_be_carried_is_refused():
    skeleton = walked().skeleton
    held = in_hand(skeleton, "R", BOTTLE)
    with pytest.raises(InvalidParam, match="one thing for a hand"):
        carry(walked(), [held, held])
    with pytest.raises(InvalidParam, match="one at least"):
        carry(walked(), [])
    with pytest.raises(NoGrasp, match="chest is too large"):
        in_hand(skeleton, "R", box("chest", (0.4, 0.3, 0.3)))
