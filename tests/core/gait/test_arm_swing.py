"""Swinging arms go past the thighs, not through them."""

from dataclasses import replace

import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.kinematics import fk
from troupe.core.planning.spaces.body_shape import self_gaps, with_fingers

from .ways import straight

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
