"""The flesh of hands is measured on the side they touch with, and fingertips end where the skin does."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.fingers import close_fingers, grip_place, hand_length, palm_axes, palm_depth, phalanx_radii
from troupe.core.kinematics.flesh import fleshed
from troupe.core.maths import geometry, quat
from troupe.core.planning.spaces.set_pieces import lathe, placed
from troupe.core.planning.walkers.similar import shrunk_skeleton
from troupe.core.skeleton import FINGERS, SIDES
from troupe.core.world import Body, World

SKELETON = mannequin(1.75)
STILL = np.tile(quat.IDENTITY, (len(SKELETON), 1))
PLACES, _ = fk.forward(SKELETON, STILL, np.zeros(3))
TURNS = [np.eye(3)] * len(SKELETON)
RADIUS, ASIDE, PALM, BEYOND = 0.009, 0.004, 0.015, 0.006
"""Of tubes of skin about fingers, how far they are off the bones, depth of the palm, skin past the last bone [m]."""


def skin():
    """Tubes about all phalanges, off the bones to the side to which they close, and the two sides of a palm."""
    points = []
    angle = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    for side in SIDES:
        for finger in FINGERS:
            chain = SKELETON.chain(f"{finger}_{side}")
            for joint in chain:
                long = np.linalg.norm(SKELETON.tips[joint])
                way = SKELETON.tips[joint] / long
                pad = np.cross(anatomy.axes(f"{finger}_{side}")[0], way) * (-1.0 if finger == "thumb" else 1.0)
                pad /= np.linalg.norm(pad)
                ring = RADIUS * (np.cos(angle)[:, None] * pad + np.sin(angle)[:, None] * np.cross(way, pad))
                end = long + (BEYOND if joint == chain[-1] else 0.0)
                for at in np.linspace(0.1 * long, end, 8):
                    points.append(PLACES[joint] + at * way + ASIDE * pad + ring)
        wrist, outward = PLACES[SKELETON.joint(f"hand_{side}")], palm_axes(side)[:, 0]
        for finger in FINGERS[1:]:
            way = PLACES[SKELETON.joint(f"{finger}_{side}")] - wrist
            points += [wrist + np.linspace(0.2, 0.95, 12)[:, None] * way + d * outward for d in (PALM, -0.01)]
    return np.concatenate(points)


def test_flesh_is_measured_on_the_side_that_touches_and_tips_where_the_skin_ends():
    measured = fleshed(SKELETON, PLACES, TURNS, skin())
    for side in SIDES:
        for finger in FINGERS[1:]:
            assert phalanx_radii(measured, finger, side) == pytest.approx([RADIUS + ASIDE] * 3, abs=0.0005)
            last = SKELETON.chain(f"{finger}_{side}")[-1]
            grown = np.linalg.norm(measured.tips[last]) - np.linalg.norm(SKELETON.tips[last])
            assert grown == pytest.approx(BEYOND, abs=1e-6)
        assert palm_depth(measured, side) == pytest.approx(PALM + 0.001, abs=0.0015)
        assert grip_place(measured, side, "cylindrical") @ palm_axes(side)[:, 0] < palm_depth(SKELETON, side)


def test_where_no_skin_tells_a_hand_is_as_is_customary():
    far = fleshed(SKELETON, PLACES, TURNS, skin() + 10.0)
    for side in SIDES:
        assert phalanx_radii(far, "index", side) == phalanx_radii(SKELETON, "index", side)
        assert palm_depth(far, side) == palm_depth(SKELETON, side) == 0.1 * hand_length(SKELETON, side)
    assert np.array_equal(far.tips, SKELETON.tips)


def test_a_rest_pose_is_measured_as_the_neutral_stance_is():
    turn = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), 0.7))
    turned = fleshed(SKELETON, PLACES @ turn, [turn] * len(SKELETON), skin() @ turn)
    straight = fleshed(SKELETON, PLACES, TURNS, skin())
    # a point between two fingers may be either's
    assert turned.flesh == pytest.approx(straight.flesh, abs=1e-4)
    assert turned.tips == pytest.approx(straight.tips, abs=1e-9)


def test_fingers_with_more_flesh_close_less():
    hand = PLACES[SKELETON.joint("hand_R")]
    outward, thumb, third = palm_axes("R").T
    vertices, faces = lathe([(0, -0.1), (0.03, -0.1), (0.03, 0.1), (0, 0.1)], 32)
    middle = hand + grip_place(SKELETON, "R", "cylindrical") + 0.036 * outward
    at = placed(middle, np.column_stack([outward, third, thumb]))
    thing = World((Body("rod", 0, vertices, faces, at[None], "prop"),))
    gaps = []
    for flesh in (0.009, 0.014):
        stout = replace(SKELETON, flesh=np.full(len(SKELETON), flesh))
        grip = close_fingers(stout, STILL, np.zeros(3), "R", "cylindrical", thing)
        positions, globals_ = fk.forward(stout, grip.rotations, np.zeros(3))
        ends = fk.tip_positions(stout, positions, globals_)[[SKELETON.chain(f"{f}_R")[-1] for f in FINGERS]]
        _, far, _, _ = geometry.nearest(thing, ends)
        gaps.append(far.min())
        assert far.min() > flesh - 0.001
    assert gaps[1] > gaps[0] + 0.002


def test_flesh_shrinks_with_the_body():
    measured = fleshed(SKELETON, PLACES, TURNS, skin())
    assert phalanx_radii(shrunk_skeleton(measured, 2.0), "index", "R") == pytest.approx([0.0065] * 3, abs=0.0003)
