"""The shipped actions as they are seen: soles on the floor, hands out of the body, and nobody stands like a statue."""

import numpy as np
import pytest
import quality
from troupe.core.acting.act import STANCES, ActParams, act, names_of
from troupe.core.kinematics import fk
from troupe.core.maths import quat

from .puppets import MANNEQUIN

FPS = 24.0
STANDS = ("Idle", "Stand", "Attention", "At ease", "Slouch", "Proud", "Nervous", "Sit", "Sit back", "Crouch")
GAITS = ("Walking", "Stroll", "Sneak", "March")
ALIVE = {
    "hips": ("hips",),
    "trunk": ("spine",),
    "head": ("neck", "head"),
    "left arm": ("upper_arm_L", "forearm_L"),
    "right arm": ("upper_arm_R", "forearm_R"),
}
STILL = {"Stand": {"left arm"}}
"""What the table of the paper itself keeps still."""


def shown(**chosen):
    return act(MANNEQUIN, ActParams(seconds=5.0, **chosen), FPS)


def stillest(motion, seconds=2.0):
    """Least that each group of joints turns within any such time [rad]."""
    count, out = round(seconds * motion.fps), {}
    for group, roles in ALIVE.items():
        turns = motion.rotations[:, [j for role in roles for j in motion.skeleton.chain(role)]]
        windows = (turns[a : a + count] for a in range(0, len(turns) - count, 6))
        out[group] = min(float(quat.distance(each, each[:1]).max()) for each in windows)
    return out


def test_every_stance_is_looked_at():
    assert set(STANDS) | set(GAITS) <= set(names_of(STANCES))


@pytest.mark.parametrize("stance", STANDS)
def test_who_stands_has_both_soles_on_the_floor(stance):
    motion = shown(stance=stance)
    assert quality.slide(motion) < 1e-3
    assert quality.hover(motion) < 1e-3 and quality.depth(motion) < 1e-3


@pytest.mark.parametrize("stance", STANDS)
def test_nobody_stands_like_a_statue(stance):
    dead = {group for group, turn in stillest(shown(stance=stance)).items() if turn < np.radians(0.05)}
    assert dead <= STILL.get(stance, set())


@pytest.mark.parametrize("arms", [name for name in names_of("Arms") if not name.startswith("No ")])
def test_arms_that_are_held_keep_moving_a_little(arms):
    motion = shown(stance="Idle", arms=arms)
    assert min(stillest(motion).values()) > np.radians(0.05)


@pytest.mark.parametrize("gait", GAITS)
def test_toes_of_a_gait_stay_above_the_floor(gait):
    assert quality.depth(shown(stance=gait)) < 7e-3


def test_steps_in_place_do_not_swivel():
    assert quality.slide(shown(stance="Step in place")) < 1e-3


@pytest.mark.parametrize("stance", ["Stand", "Slouch", "Idle", "Proud"])
def test_hanging_hands_are_beside_the_thighs(stance):
    motion = shown(stance=stance)
    positions, globals_ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    for side, out in (("L", 1.0), ("R", -1.0)):
        thigh = MANNEQUIN.joint(f"thigh_{side}")
        knuckles = positions[:, MANNEQUIN.chain(f"middle_{side}")[0]] - positions[:, thigh]
        local = quat.rotate(quat.conjugate(globals_[:, thigh]), knuckles)
        # in front of the thigh or beside it; it is 8 cm thick there
        assert (np.hypot(local[:, 0], local[:, 1]).min() > 0.1) and (out * local[:, 0]).min() > 0.0


def test_a_salute_is_at_the_temple():
    motion = shown(stance="Idle", gesture="Salute")
    positions, _ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    k = round(1.5 * FPS)
    tip = positions[k, MANNEQUIN.chain("middle_R")[-1]] - positions[k, MANNEQUIN.joint("head")]
    assert 0.05 < tip[2] < 0.2 and tip[0] < -0.05 and tip[1] < 0.0
