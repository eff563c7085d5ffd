"""A crate is taken between both palms, lifted, moved and put down; the prop is midway between what the hands say."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.errors import NoGrasp, NoIK
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.body_shape import self_gaps, with_fingers
from troupe.core.maths import quat
from troupe.core.planning.hands.carry import CarryParams, carry
from troupe.core.planning.hands.holding import hand_matrix
from troupe.core.planning.hands.pairs import pairs_of
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.stages import STAGE
from troupe.core.planning.spaces.set_pieces import box, placed
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.skeleton import SIDES, Pose
from troupe.core.world import World

SHAPES = Shapes()
CRATE = box("crate", (0.17, 0.12, 0.1), (0.05, -0.4, 1.001), kind="prop")
TABLE = box("table", (0.6, 0.3, 0.02), (0, -0.55, 0.88))
THERE = placed((-0.06, -0.4, 1.001))


@cache
def job(**params):
    skeleton = mannequin(1.75)
    rest = rest_pose(skeleton)
    arms = {f"{part}_{s}": a for s in "LR" for part, a in (("upper_arm", (0, 0.14, 0)), ("forearm", (0.3, 0, 0)))}
    pose = Pose(anatomy.with_angles(skeleton, rest.rotations, arms), rest.root)
    known = {"target": "crate", "gaze": 0.0, "step": False, "lean": False, **params}
    return Job(skeleton, pose, World((TABLE, CRATE)), ReachParams(**known), destination=THERE, shapes=SHAPES)


@cache
def lifted():
    return reach(job(task="pick_up"))


@cache
def moved():
    return reach(job(task="move"))


def hands(motion):
    return [hand_matrix(motion.skeleton, motion.rotations, motion.roots, side) for side in SIDES]


@pytest.mark.req("badler", 49)
def test_what_is_too_large_for_one_hand_is_taken_with_both():
    done = lifted()
    assert done.side == "both" and {done.holding.side, done.other.side} == set(SIDES)
    assert [e.data["stage"] for e in done.performance.events if e.name == STAGE] == ["reach", "grasp", "lift"]
    assert {a.joint for a in done.performance.attachments} == {"hand.L", "hand.R"}
    assert done.performance.props["crate"][-1][2, 3] == pytest.approx(1.061, abs=1e-3)


@pytest.mark.req("badler", 78)
def test_both_palms_are_on_their_sides_and_stay_there():
    for done in (lifted(), moved()):
        motion, prop = done.performance.motions["actor"], done.performance.props["crate"]
        held = done.performance.attachments[0]
        first, last = (round(t * motion.fps) for t in (held.start, held.end))
        for hand in hands(motion):
            seen = np.linalg.inv(prop[first : last + 1]) @ hand[first : last + 1]
            away = np.abs(seen - seen[0])
            assert away[:, :3, 3].max() < 1e-3 and away.max() < 2e-3
            assert abs(abs(seen[0][0, 3]) - 0.17) < 0.06
        # one on either side
        at = [(np.linalg.inv(prop[first]) @ hand[first])[0, 3] for hand in hands(motion)]
        assert at[0] > 0.17 and at[1] < -0.17


@pytest.mark.req("kuffner", 107)
def test_nothing_is_in_anything_and_the_arms_not_in_each_other():
    for done in (lifted(), moved()):
        assert done.offences == ()
        motion = done.performance.motions["actor"]
        positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
        gaps, pairs = self_gaps(with_fingers(motion.skeleton), positions, globals, "L")
        other = [k for k, (a, b) in enumerate(pairs) if b.endswith("_R") and not a.startswith("upper")]
        assert gaps[:, other].min() > -0.001


def test_it_ends_where_it_should_and_the_arms_as_they_began():
    done, asked = moved(), job(task="move")
    prop = done.performance.props["crate"]
    assert np.abs(prop[0] - CRATE.matrices[0]).max() < 1e-9 and np.abs(prop[-1] - THERE).max() < 1e-3
    assert np.abs(np.diff(prop[:, :3, 3], axis=0)).max() < 0.05
    assert quat.distance(done.pose.rotations, asked.pose.rotations).max() < 1e-6
    assert [e.data["stage"] for e in done.performance.events if e.name == STAGE] == [
        "reach",
        "grasp",
        "transfer",
        "release",
        "return",
    ]


def test_what_both_hands_hold_is_put_down_again():
    up = lifted()
    asked = replace(
        job(task="pick_up"),
        pose=up.pose,
        holding=up.holding,
        other=up.other,
        moved={"crate": up.performance.props["crate"][-1]},
        params=replace(job().params, task="put_back"),
    )
    down = reach(asked)
    prop = down.performance.props["crate"]
    assert np.abs(prop[0] - up.performance.props["crate"][-1]).max() < 1e-6
    assert np.abs(prop[-1] - THERE).max() < 1e-3 and down.holding is None
    assert quat.distance(down.pose.rotations, job().pose.rotations).max() < 1e-4


@pytest.mark.req("kuffner", 107)
def test_leaning_both_hands_put_down_what_they_hold_without_dipping_it_into_the_table():
    up, there = lifted(), placed((0.05, -0.62, 1.001))
    asked = replace(
        job(task="put_back", lean=True, crouch=False),
        pose=up.pose,
        holding=up.holding,
        other=up.other,
        moved={"crate": up.performance.props["crate"][-1]},
        destination=there,
    )
    down = reach(asked)
    motion, prop = down.performance.motions["actor"], down.performance.props["crate"]
    spine = list(motion.skeleton.chain("spine"))
    assert np.degrees(quat.distance(motion.rotations[:, spine], motion.rotations[0, spine]).sum(axis=1).max()) > 5.0
    assert not down.offences
    corners = np.einsum("tij,vj->tvi", prop[:, :3, :3], CRATE.vertices) + prop[:, None, :3, 3]
    assert corners[..., 2].min() > 0.9 - 1e-3 and np.abs(prop[-1] - there).max() < 1e-3
    until = round(down.performance.attachments[0].end * motion.fps)
    for hand in hands(motion):
        seen = (np.linalg.inv(prop) @ hand)[: until + 1, :3, 3]
        assert np.linalg.norm(seen - seen[0], axis=1).max() < 1e-3


def test_a_crate_is_carried_level_through_a_walk():
    up = lifted()
    motion = walk(up.pose and job().skeleton, WalkParams(), fps=24.0, start=up.pose)
    done = carry(motion, (up.holding, up.other), CarryParams(), bodies={"crate": CRATE}, start=up.pose)
    prop = done.props["crate"]
    begun = up.performance.props["crate"][-1]
    assert np.abs(prop[0] - begun).max() < 0.01
    assert np.degrees(np.arccos(np.clip(prop[:, 2, 2], -1, 1))).max() < 3.0
    for hand in hands(done.motions["actor"]):
        seen = np.linalg.inv(prop) @ hand
        assert np.abs(seen - seen[0])[:, :3, 3].max() < 0.01
    assert len(done.attachments) == 2


def test_pairs_of_a_turned_crate_face_each_other_across_the_body():
    turn = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), 0.4))
    matrix = placed((0, -0.4, 1.0), turn)
    for left, right in pairs_of(CRATE, matrix, np.array([1.0, 0, 0]), np.array([0.0, -1, 0])):
        a, b = left.world(matrix), right.world(matrix)
        # straight towards each other, both from above as well, or nearly straight down
        assert np.allclose(a[2][:2], -b[2][:2]) and np.isclose(a[2][2], b[2][2])
        assert (a[2][0] < -0.25 and (a[2][2] < -0.9 or a[2][0] < -0.8)) or (a[2][0] < -0.02 and a[2][2] < -0.99)
        assert (b[0] - a[0])[:2] @ quat.unit(a[2][:2]) > 0.05


def test_why_both_hands_cannot_is_said():
    with pytest.raises(NoIK, match="out of reach of both hands"):
        reach(replace(job(task="pick_up"), moved={"crate": placed((0, -1.6, 1.0))}))
    with pytest.raises(InvalidParam, match="with both hands must be one of"):
        reach(job(task="point", hand="both"))
    slope = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), np.pi / 4))
    with pytest.raises(NoGrasp, match="no two sides"):
        ball = np.array(CRATE.vertices)
        wide = replace(CRATE, vertices=ball * (8.0, 1.0, 8.0))
        reach(
            replace(
                job(task="pick_up", hand="both"), world=World((wide,)), moved={"crate": placed((0, -0.4, 1), slope)}
            )
        )
