"""Fingers close until they touch, no further, on either hand and on things of many sizes."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.fingers import (
    TOLERANCE,
    close_fingers,
    finger_joints,
    grip_place,
    open_fingers,
    palm_axes,
    phalanx_radii,
    shaped,
)
from troupe.core.kinematics.hand_shapes import HANDSHAPES
from troupe.core.maths import geometry, quat
from troupe.core.motion import Motion
from troupe.core.planning.spaces.set_pieces import lathe, placed
from troupe.core.world import Body, World

SKELETON = mannequin(1.75)
POSE = rest_pose(SKELETON)


def rod(side, shape, radius, skeleton=SKELETON, pose=POSE):
    """A round thing where the hand grips, across the palm or, for finger tips, out of it."""
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    hand = skeleton.joint(f"hand_{side}")
    turn = quat.to_matrix(globals[hand])
    outward, thumb, third = (turn @ palm_axes(side)).T
    place = positions[hand] + turn @ grip_place(skeleton, side, shape)
    tips = HANDSHAPES[shape].grip == "tips"
    low, high, axis = (-0.02, 0.1, outward) if tips else (-0.1, 0.1, thumb)
    if not tips:
        place = place + (radius + 0.002) * outward
    vertices, faces = lathe([(0, low), (radius, low), (radius, high), (0, high)], 32)
    other = np.cross(axis, third)
    matrix = placed(place, np.column_stack([other, np.cross(axis, other), axis]))
    return World((Body("rod", 0, vertices, faces, matrix[None], "prop"),))


@pytest.mark.req("kuffner", 84)
@pytest.mark.req("badler", 77)
@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize(("shape", "radius"), [("cylindrical", 0.02), ("power", 0.04), ("precision", 0.015)])
def test_fingers_touch_or_are_at_their_limit_and_are_in_nothing(side, shape, radius):
    grip = close_fingers(SKELETON, POSE.rotations, POSE.root, side, shape, rod(side, shape, radius))
    assert grip.firm
    assert min(grip.gaps.values()) > -0.001
    end = shaped(SKELETON, POSE.rotations, side, shape, 1.0)
    for finger, gap in grip.gaps.items():
        joints = list(SKELETON.chain(f"{finger}_{side}"))
        closed = quat.distance(grip.rotations[joints], end[joints]).max() < 1e-6
        assert gap <= TOLERANCE or closed, finger
    others = [j for j in range(len(SKELETON)) if j not in finger_joints(SKELETON, side)]
    assert np.array_equal(grip.rotations[others], POSE.rotations[others])


@pytest.mark.parametrize("side", ["L", "R"])
def test_finger_tips_that_pick_something_up_stay_level_while_they_close(side):
    outward, thumb, _ = palm_axes(side).T
    fingers = np.cross(outward, thumb) if side == "R" else np.cross(thumb, outward)
    down = np.cos(np.radians(30.0)) * outward + np.sin(np.radians(30.0)) * fingers
    grip, lowest, apart = grip_place(SKELETON, side, "picking"), [], []
    for share in np.linspace(0.0, 0.8, 9):
        held = shaped(SKELETON, np.tile(quat.IDENTITY, (len(SKELETON), 1)), side, "picking", share)
        positions, globals = fk.forward(SKELETON, held, np.zeros(3))
        tips = fk.tip_positions(SKELETON, positions, globals) - positions[SKELETON.joint(f"hand_{side}")] - grip
        ends = {f: tips[SKELETON.chain(f"{f}_{side}")[-1]] for f in ("thumb", "index", "middle", "ring")}
        lowest.append([end @ down + phalanx_radii(SKELETON, f, side)[-1] for f, end in ends.items()])
        apart.append(np.linalg.norm(ends["thumb"] - ends["index"]))
    assert np.ptp(lowest) < 0.004 and 0.0 < np.min(lowest) < np.max(lowest) < 0.0137
    assert apart[0] > 0.1 and (np.diff(apart) < 0).all()


def test_fingers_of_other_lengths_come_down_as_far_as_the_thumb_too():
    tips = np.array(SKELETON.tips)
    for side in "LR":
        tips[[SKELETON.chain(f"{f}_{side}")[-1] for f in ("index", "middle")]] *= 1.4
    longer = replace(SKELETON, tips=tips)
    for shape, steep in (("picking", 30.0), ("spanning", 20.0)):
        down = np.cos(np.radians(steep)) * palm_axes("R")[:, 0] - np.sin(np.radians(steep)) * np.array([0.0, 0.0, 1.0])
        held = shaped(longer, np.tile(quat.IDENTITY, (len(longer), 1)), "R", shape)
        ends = fk.tip_positions(longer, *fk.forward(longer, held, np.zeros(3)))
        ends = {f: ends[longer.chain(f"{f}_R")[-1]] @ down for f in ("thumb", "index", "middle", "ring")}
        lowest = [end + phalanx_radii(longer, f, "R")[-1] for f, end in ends.items()]
        assert np.ptp(lowest) < 0.003


@pytest.mark.req("kuffner", 84)
@pytest.mark.req("badler", 77)
@pytest.mark.parametrize(("shape", "radius"), [("cylindrical", 0.02), ("power", 0.04), ("precision", 0.015)])
def test_what_closed_fingers_say_of_their_gaps_is_measured_again(shape, radius):
    """By points along the middle of every phalanx against the triangles, apart from how the hand itself measures."""
    thing = rod("R", shape, radius)
    grip = close_fingers(SKELETON, POSE.rotations, POSE.root, "R", shape, thing)
    positions, globals = fk.forward(SKELETON, grip.rotations, POSE.root)
    tips = fk.tip_positions(SKELETON, positions, globals)
    for finger, said in grip.gaps.items():
        own = list(SKELETON.chain(f"{finger}_R"))
        along = np.linspace(positions[own], tips[own], 60).reshape(-1, 3)
        _, far, *_ = geometry.nearest(thing, along)
        radii = phalanx_radii(SKELETON, finger, "R")
        gap = float((far.reshape(60, len(own)) - radii).min())
        assert gap > -0.001, finger
        if said < 0.005:
            assert gap == pytest.approx(said, abs=5e-4), finger
        if finger in grip.touching:
            assert gap <= 0.001, finger


@pytest.mark.req("kuffner", 84)
def test_a_thick_thing_leaves_the_fingers_more_open():
    curls = []
    for radius in (0.015, 0.03, 0.045):
        grip = close_fingers(SKELETON, POSE.rotations, POSE.root, "R", "cylindrical", rod("R", "cylindrical", radius))
        chain = list(SKELETON.chain("middle_R"))
        curls.append(anatomy.joint_angles(grip.rotations[chain], "middle_R")[:, 0].sum())
    assert curls[0] > curls[1] > curls[2] > 0.5


@pytest.mark.parametrize("radius", [0.03, 0.04])
def test_the_thumb_lies_on_what_the_hand_is_around_and_does_not_stick_out(radius):
    thing = rod("R", "cylindrical", radius)
    grip = close_fingers(SKELETON, POSE.rotations, POSE.root, "R", "cylindrical", thing)
    positions, globals = fk.forward(SKELETON, grip.rotations, POSE.root)
    ends = fk.tip_positions(SKELETON, positions, globals)
    thumb, index = (ends[SKELETON.chain(f"{finger}_R")[-1]] for finger in ("thumb", "index"))
    _, far, _, _ = geometry.nearest(geometry.index(thing), thumb[None])
    assert far[0] - phalanx_radii(SKELETON, "thumb", "R")[0] < 0.009
    # opposite the index finger rather than beside it
    beside = quat.to_matrix(globals[SKELETON.joint("hand_R")]) @ palm_axes("R")[:, 1]
    assert abs((thumb - index) @ beside) < 0.01


def test_a_finger_that_starts_in_something_is_opened_out_of_it():
    thick = rod("R", "power", 0.05)
    positions, globals = fk.forward(SKELETON, shaped(SKELETON, POSE.rotations, "R", "power"), POSE.root)
    end = fk.tip_positions(SKELETON, positions, globals)[SKELETON.chain("thumb_R")[1]]
    # a ball half in the open thumb
    vertices, faces = lathe([(0, -0.02), (0.014, -0.014), (0.02, 0), (0.014, 0.014), (0, 0.02)], 24)
    outward = quat.to_matrix(globals[SKELETON.joint("hand_R")]) @ palm_axes("R")[:, 0]
    ball = Body("ball", 1, vertices, faces, placed(end - 0.02 * outward, np.eye(3))[None], "prop")
    thing = World((*thick.bodies, ball))
    opened = open_fingers(SKELETON, POSE.rotations, POSE.root, "R", "power", thing)
    grip = close_fingers(SKELETON, POSE.rotations, POSE.root, "R", "power", thing)
    assert min(grip.gaps.values()) > -TOLERANCE
    start = shaped(SKELETON, POSE.rotations, "R", "power")
    thumb = list(SKELETON.chain("thumb_R"))
    assert quat.distance(opened[thumb], start[thumb]).max() > 0.05
    others = [j for j in range(len(SKELETON)) if j not in thumb]
    assert np.allclose(opened[others], start[others], atol=1e-12)
    motion = Motion(SKELETON, 24.0, POSE.root[None], opened[None])
    assert np.abs(anatomy.violations(motion)[:, finger_joints(SKELETON, "R")]).max() < 1e-6
    positions, globals = fk.forward(SKELETON, opened, POSE.root)
    ends = fk.tip_positions(SKELETON, positions, globals)[thumb]
    _, far, _, _ = geometry.nearest(geometry.index(thing), ends)
    assert far.min() > phalanx_radii(SKELETON, "thumb", "R")[0]


@pytest.mark.req("badler", 77)
def test_a_hand_that_closes_on_nothing_has_no_hold():
    far = World((rod("R", "power", 0.02).bodies[0],))
    grip = close_fingers(SKELETON, POSE.rotations, POSE.root, "L", "power", far)
    assert not grip.firm and grip.touching == ()
    end = shaped(SKELETON, POSE.rotations, "L", "power", 1.0)
    assert quat.distance(grip.rotations, end).max() < 1e-6


def test_left_and_right_are_mirror_images():
    hands = [
        close_fingers(SKELETON, POSE.rotations, POSE.root, s, "power", rod(s, "power", 0.03)).rotations for s in "LR"
    ]
    mirrored = anatomy.mirror(SKELETON, hands[0])
    joints = finger_joints(SKELETON, "R")
    assert quat.distance(mirrored[joints], hands[1][joints]).max() < np.radians(2.5)


@pytest.mark.parametrize("shape", list(HANDSHAPES))
def test_every_shape_is_within_the_limits(shape):
    for share in (0.0, 0.5, 1.0):
        rotations = shaped(SKELETON, POSE.rotations, "R", shape, share)
        motion = Motion(SKELETON, 24.0, POSE.root[None], rotations[None])
        assert np.abs(anatomy.violations(motion)[:, finger_joints(SKELETON, "R")]).max() < 1e-6


def test_a_hand_without_fingers_closes_on_nothing_and_a_shape_must_exist():
    roles = {
        role: joints for role, joints in SKELETON.roles.items() if role[:-2] not in "thumb index middle ring pinky"
    }
    bare = replace(SKELETON, roles=roles)
    grip = close_fingers(bare, POSE.rotations, POSE.root, "R", "power", World())
    assert grip.gaps == {} and np.array_equal(grip.rotations, POSE.rotations)
    assert np.linalg.norm(grip_place(bare, "R", "precision")) > 0.05
    with pytest.raises(InvalidParam, match="cylindrical"):
        shaped(SKELETON, POSE.rotations, "R", "paw")
