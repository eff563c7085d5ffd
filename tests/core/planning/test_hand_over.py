"""One hands a bottle to another: the giver holds on until the other's fingers have closed, and it never jumps."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.errors import NoIK, NoPath
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.body_shape import self_gaps, with_fingers
from troupe.core.kinematics.fingers import finger_joints, grip_place, shaped
from troupe.core.maths import quat
from troupe.core.planning.hands import hand_over as giving
from troupe.core.planning.hands import offering
from troupe.core.planning.hands.hand_over import hand_over
from troupe.core.planning.hands.holding import hand_matrix
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.stages import STAGE
from troupe.core.planning.hands.stand_in import as_boxes
from troupe.core.planning.spaces.arm_space import Arm
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.skeleton import Pose
from troupe.core.world import World

SHAPES = Shapes()
WORLD = World((box("table", (0.25, 0.2, 0.02), (-0.5, -0.45, 0.88)), bottle("bottle", (-0.36, -0.38, 0.9))))
FLOOR = box("floor", (4, 4, 0.05), (0, 0, -0.05), kind="ground", number=7)


@cache
def pair(apart=0.95):
    skeleton = mannequin(1.75)
    rest = rest_pose(skeleton)
    arms = {f"{part}_{s}": a for s in "LR" for part, a in (("upper_arm", (0, 0.14, 0)), ("forearm", (0.3, 0, 0)))}
    pose = Pose(anatomy.with_angles(skeleton, rest.rotations, arms), rest.root)
    turned = np.array(pose.rotations)
    turned[0] = quat.multiply(quat.about(np.array([0.0, 0, 1]), np.pi), turned[0])
    params = ReachParams(target="bottle", gaze=0.0, lean=False)
    ann = Job(skeleton, pose, WORLD, params, actor="ann", shapes=SHAPES)
    return ann, replace(ann, pose=Pose(turned, pose.root - (0, apart, 0)), actor="bob")


@cache
def handed():
    return hand_over(*pair())


def stage(done, actor, name):
    motion = done.performance.motions[actor]
    return next(round(e.time * motion.fps) for e in motion.events if e.name == STAGE and e.data["stage"] == name)


def test_the_giver_holds_on_until_the_other_has_closed_the_fingers():
    done = handed()
    gives, takes = done.performance.attachments
    assert (gives.actor, takes.actor) == ("ann", "bob")
    assert gives.end == takes.start == done.closed
    fps = done.performance.motions["ann"].fps
    closed = round(done.closed * fps)
    assert stage(done, "bob", "grasp") < closed <= stage(done, "ann", "release")
    assert stage(done, "bob", "lift") > stage(done, "ann", "return")
    skeleton = done.performance.motions["bob"].skeleton
    fingers = finger_joints(skeleton, done.receiver.side)
    shut = done.performance.motions["bob"].rotations[closed:, fingers]
    assert quat.distance(shut, shut[-1]).max() < 1e-6
    firm = done.performance.motions["ann"].rotations[: closed + 1, finger_joints(skeleton, done.giver.side)]
    assert quat.distance(firm[stage(done, "ann", "transfer") + 1 :], firm[-1]).max() < 1e-6


def test_a_giver_who_cannot_take_the_hand_back_is_known_before_the_other_tries(monkeypatch):
    """Where its hand comes back to, something stands: no place to meet helps, and the longer half is not begun."""
    ann, bob = pair()
    took = reach(replace(ann, params=replace(ann.params, task="pick_up")))
    places, _ = fk.forward(ann.skeleton, ann.pose.rotations, ann.pose.root)
    block = box("block", (0.08, 0.08, 0.08), places[ann.skeleton.joint(f"hand_{took.side}")])
    world = World((*WORLD.bodies, block))
    moved = {"bottle": took.performance.props["bottle"][-1]}
    ann = replace(ann, world=world, pose=took.pose, holding=took.holding, moved=moved)
    asked = []
    monkeypatch.setattr(offering, "TRIES", 2)
    for part in (giving, offering):
        monkeypatch.setattr(part, "reach", lambda job: asked.append((job.actor, job.params.task)) or reach(job))
    with pytest.raises(NoPath, match=r"^ann: .*at its end the arm touches block"):
        hand_over(ann, replace(bob, world=world, moved=moved))
    assert set(asked) == {("ann", "hand_over"), ("ann", "let_go")}


def test_no_arm_goes_into_the_body_that_it_hangs_on():
    """The elbow of a hand that draws back straight from the prop would."""
    done = handed()
    for actor, side in (("ann", done.giver.side), ("bob", done.receiver.side)):
        motion = done.performance.motions[actor]
        frames = fk.forward(motion.skeleton, motion.rotations, motion.roots)
        gaps, _ = self_gaps(with_fingers(motion.skeleton), *frames, side)
        assert gaps.min() > -0.001


@pytest.mark.req("badler", 79)
def test_the_bottle_goes_with_one_hand_and_then_with_the_other_and_never_jumps():
    done = handed()
    prop, meeting = done.performance.props["bottle"], done.meeting
    closed = round(done.closed * done.performance.motions["ann"].fps)
    assert np.abs(prop[closed - 1 : closed + 3] - meeting).max() < 1e-9
    assert np.linalg.norm(np.diff(prop[:, :3, 3], axis=0), axis=1).max() < 0.06
    for actor, side, span in (
        ("ann", done.giver.side, slice(stage(done, "ann", "transfer"), closed + 1)),
        ("bob", done.receiver.side, slice(closed, None)),
    ):
        motion = done.performance.motions[actor]
        hand = hand_matrix(motion.skeleton, motion.rotations, motion.roots, side)
        seen = (np.linalg.inv(hand) @ prop)[span]
        assert np.abs(seen - seen[0]).max() < 1e-6
    assert prop[closed:, 2, 3].max() > meeting[2, 3] + 0.03


def test_the_receiver_takes_it_at_ease_and_draws_it_to_its_body():
    done = handed()
    motion, side = done.performance.motions["bob"], done.receiver.side
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    arm = Arm(motion.skeleton, side, positions[0], globals[0])
    bent = np.linalg.norm(arm.configuration(motion.rotations[:, arm.joints])[:, 5:7], axis=1)
    shoulder, elbow, hand = positions[:, arm.joints].transpose(1, 0, 2)
    closed = round(done.closed * motion.fps)
    assert np.degrees(bent[closed:]).max() < 45.0
    assert (elbow[closed:, 2] < shoulder[closed:, 2] - 0.1).all()
    # bob faces +Y
    ahead, below = hand[-1, 1] - shoulder[-1, 1], shoulder[-1, 2] - hand[-1, 2]
    assert ahead > 0.1 and hand[-1, 1] < hand[closed, 1] - 0.03 and 0.15 < below < 0.45
    assert abs(hand[-1, 0] - positions[-1, 0, 0]) < 0.3
    assert done.performance.props["bottle"][-1, 2, 2] > 0.99


def test_the_two_do_not_touch_each_other_nor_anything_else():
    done = handed()
    assert done.gap > 0.0 and done.offences == ()


def test_both_motions_are_as_long_and_continuous():
    done = handed()
    motions = done.performance.motions
    assert len({len(m) for m in motions.values()} | {len(done.performance.props["bottle"])}) == 1
    for motion in motions.values():
        assert quat.distance(motion.rotations[1:], motion.rotations[:-1]).max() < 0.35
    arm = [motions["ann"].skeleton.joint(f"{part}_{done.giver.side}") for part in ("upper_arm", "forearm", "hand")]
    assert quat.distance(motions["ann"].rotations[-1, arm], pair()[0].pose.rotations[arm]).max() < 1e-4


@cache
def fetched(place=(-0.3, -0.35, 0.0)):
    """The same two, and a bottle that is out of reach of both."""
    ann, bob = (replace(job, world=World((FLOOR, bottle("bottle", place)))) for job in pair())
    return hand_over(ann, bob)


def test_what_lies_on_the_floor_is_fetched_and_then_handed_over_by_somebody_who_stands():
    done = fetched()
    motion, prop = done.performance.motions["ann"], done.performance.props["bottle"]
    hips = motion.roots[:, 2]
    lowest, closed = int(hips.argmin()), round(done.closed * motion.fps)
    assert hips[lowest] < hips[0] - 0.2 and lowest < stage(done, "ann", "transfer") < closed
    # it is given upright, where the hands of those who stand meet
    assert abs(hips[stage(done, "ann", "transfer")] - hips[0]) < 0.005
    assert prop[0, 2, 3] < 0.01 and done.meeting[2, 3] > 0.9
    assert stage(done, "bob", "reach") > lowest
    gives, takes = done.performance.attachments
    assert gives.start < gives.end == takes.start == done.closed
    assert done.gap > 0.0 and done.offences == ()
    assert np.linalg.norm(np.diff(prop[:, :3, 3], axis=0), axis=1).max() * motion.fps < 2.0
    assert prop[closed - 3 : closed, 2, 2].min() > 0.99
    # both feet stay where they are
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    toes = positions[:, [motion.skeleton.joint(f"toe_{s}") for s in "LR"]]
    assert np.abs(toes - toes[0]).max() < 0.02


def test_somebody_who_has_to_go_for_it_comes_back_with_it():
    done = fetched((-1.2, -0.3, 0.0))
    motion = done.performance.motions["ann"]
    away = np.linalg.norm(motion.roots[:, :2] - motion.roots[0, :2], axis=1)
    closed = round(done.closed * motion.fps)
    assert away.max() > 0.5 and away[closed] < 0.35
    assert done.gap > 0.0 and done.offences == () and len({len(m) for m in done.performance.motions.values()}) == 1


def test_what_is_in_reach_of_a_giver_is_given_by_the_arms_alone():
    mask = handed().performance.motions["ann"].mask
    assert mask is not None and not mask[0]


def test_what_finger_tips_hold_out_is_not_within_what_stands_for_the_hand():
    ann = pair()[0]
    skeleton = ann.skeleton
    rotations = shaped(skeleton, ann.pose.rotations, "R", "precision", 0.5)
    hand = hand_matrix(skeleton, rotations, ann.pose.root, "R")
    held = hand[:3, :3] @ grip_place(skeleton, "R", "precision") + hand[:3, 3]
    boxes = as_boxes(skeleton, Pose(rotations, ann.pose.root), "ann", arms=True)
    for thing in boxes:
        inside = np.linalg.inv(thing.matrices[0]) @ np.array([*held, 1.0])
        assert (np.abs(inside[:3]) > np.abs(thing.vertices).max(axis=0) + 0.004).any(), thing.name


def test_those_too_far_apart_are_told_so():
    with pytest.raises(NoIK, match=r"ann and bob stand 2\.5\d m apart"):
        hand_over(*pair(2.5))
    with pytest.raises(InvalidParam, match="somebody else"):
        hand_over(pair()[0], pair()[0])
