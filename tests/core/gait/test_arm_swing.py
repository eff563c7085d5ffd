"""Swinging arms go past the thighs, not through them."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.arm_room import beside_legs
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.body_shape import self_gaps, with_fingers

from .ways import behind, corner, straight, turn

SLIM = replace(mannequin(), arm_clearance=0.088)
"""With its arms as close to the body as its mesh in the rest pose lets them hang."""


def thigh_gaps(motion):
    """Least gap of each arm, from the elbow down, to the thighs [m]."""
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    out = []
    for side in "LR":
        gaps, pairs = self_gaps(with_fingers(motion.skeleton), positions, globals, side)
        these = [not a.startswith("upper_arm") and b.startswith("thigh") for a, b in pairs]
        out.append(gaps[:, these].min())
    return out


def test_hands_go_past_the_thighs_in_a_walk_on_the_spot():
    assert min(thigh_gaps(walk(SLIM, WalkParams(in_place=True)))) > -0.002


@pytest.mark.parametrize("speed", [0.6, 1.0, 1.4])
def test_hands_go_past_the_thighs_straight_ahead(speed):
    assert min(thigh_gaps(travel(SLIM, straight(speed, 4.0, 24.0), TravelParams()))) > -0.002


WAYS = {
    "aside": straight(0.6, 4.0, 24.0, direction=np.pi / 2),
    "turn": turn(np.pi / 2),
    "turn round": turn(3.0, 2.0),
    "corner": corner(24.0),
    "behind": behind(24.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_arms_go_out_over_legs_that_step_aside_and_come_back_without_a_jerk(way):
    motion = travel(SLIM, WAYS[way], TravelParams())
    assert min(thigh_gaps(motion)) > -0.002
    for side in "LR":
        aside = np.degrees(anatomy.angles(motion, f"upper_arm_{side}")[:, 1])
        assert aside.max() < 25.0
        assert np.abs(np.diff(aside, 2)).max() * (motion.fps / 24.0) ** 2 < 1.0


def test_arms_keep_where_a_pose_is_held_and_where_nothing_is_in_their_way():
    motion = travel(SLIM, WAYS["aside"], TravelParams())
    rotations = np.array(motion.rotations)
    arm = SLIM.joint("upper_arm_L")
    rotations[:, arm] = anatomy.from_angles(np.tile([0.0, -0.1, 0.0], (len(motion), 1)), "upper_arm_L")
    free = np.ones(len(motion))
    free[:30] = 0.0
    out = beside_legs(SLIM, rotations, motion.roots, motion.fps, free)
    moved = np.abs(out - rotations).max(axis=-1)
    assert moved[30:, arm].max() > 0.05 and not moved[:30].any()
    assert not np.delete(moved, [arm, SLIM.joint("upper_arm_R")], axis=1).any()
    easy = walk(SLIM, WalkParams())
    assert beside_legs(SLIM, easy.rotations, easy.roots, easy.fps, np.ones(len(easy))) is easy.rotations
