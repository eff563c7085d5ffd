"""Compositing: groups in front hide groups behind, places over rotations, shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, BodyState, start
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.repertoire.clips import clip_action
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.puppet import INDEX, turns
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.kinematics import fk
from troupe.core.maths import quat

from .puppets import MANNEQUIN, library

WALK_WAVE_SCRATCH = """
define ACTION Stand { fade .5  Lelbow 0 0 0  Relbow 0 0 0 }
define ACTION Walk { fade .5  Lelbow -30 0 0  Relbow -30 0 0  Lhip -20 0 0 }
define ACTION Wave_left { fade .5  Lshoulder 0 0 90  Lelbow -60 0 0 }
define ACTION Wave_right { fade .5  Rshoulder 0 0 90  Relbow -60 0 0 }
define ACTION Scratch_head_left { fade .5  Lshoulder -20 0 80  Lelbow -120 0 0 }
GROUP Stances ACTION Stand ACTION Walk
GROUP Gestures ACTION No_waving ACTION Wave_left ACTION Wave_right
GROUP Momentary ACTION No_scratching ACTION Scratch_head_left
"""
REST = BodyParams(clear_arms=False, flat_feet=False)


def elbows(state: BodyState) -> tuple[float, float]:
    angles = state.angles()
    return float(angles[INDEX["Lelbow"], 0]), float(angles[INDEX["Relbow"], 0])


@pytest.mark.req("improv", 36)
def test_walking_waving_and_scratching_share_the_body():
    state = start(library(WALK_WAVE_SCRATCH), MANNEQUIN)
    for t, name in enumerate(("Walk", "Wave_left"), 1):
        state = state.select("", name, float(t))
    state = state.select("", "Scratch_head_left", 4.0).select("", "No_scratching", 6.0).select("", "Wave_right", 8.0)
    state = state.advance(1.25)
    assert abs(state.weight("Stand") - 0.5) < 1e-3 and abs(state.weight("Walk") - 0.5) < 1e-3
    state = state.advance(3.0)
    assert state.weight("Walk") == 1.0 and state.weight("Wave_left") == 1.0
    assert elbows(state) == (-60.0, -30.0)
    state = state.advance(5.0)
    assert state.weight("Walk") == state.weight("Wave_left") == state.weight("Scratch_head_left") == 1.0
    assert elbows(state) == (-120.0, -30.0)
    assert state.angles()[INDEX["Lhip"], 0] == -20.0
    alone = start(library(WALK_WAVE_SCRATCH), MANNEQUIN).select("", "Scratch_head_left", 0.0).advance(5.0)
    left = [INDEX[f"L{joint}"] for joint in ("chest", "shoulder", "elbow", "wrist")]
    assert np.array_equal(state.angles()[left], alone.angles()[left])
    state = state.advance(7.0)
    assert elbows(state) == (-60.0, -30.0)
    assert np.array_equal(state.angles()[INDEX["Lshoulder"]], [0.0, 0.0, 90.0])
    state = state.advance(8.25)
    assert abs(state.weight("Wave_left") - 0.5) < 1e-3 and abs(state.weight("Wave_right") - 0.5) < 1e-3
    state = state.advance(9.0)
    assert state.weight("Wave_right") == 1.0 and elbows(state) == (-30.0, -60.0)


@pytest.mark.req("improv", 37)
def test_an_empty_action_makes_its_group_transparent():
    lib = library(WALK_WAVE_SCRATCH)
    state = start(lib, MANNEQUIN).select("", "Walk", 0.0).select("", "Wave_left", 0.0).advance(2.0)
    state = state.select("", "No_waving", 2.0).advance(3.0)
    alone = start(lib, MANNEQUIN).select("", "Walk", 0.0).advance(3.0)
    assert np.abs(state.angles() - alone.angles()).max() < 1e-9


@pytest.mark.req("improv", 39)
def test_rapid_changes_stay_between_the_poses_and_let_nothing_through():
    lib = library(
        "define ACTION back { Nod 90 0 0 }\nGROUP b ACTION back\n"
        "define ACTION x { Nod 10 0 0 fade .7 }\ndefine ACTION y { Nod 20 0 0 fade .3 }\n"
        "define ACTION z { Nod 30 0 0 fade .5 }\nGROUP g ACTION x ACTION y ACTION z"
    )
    state = start(lib, MANNEQUIN)
    for name, t in (("y", 0.1), ("z", 0.2), ("x", 0.25), ("y", 0.3)):
        state = state.select("", name, t)
    for k in range(1, 40):
        state = state.advance(k / 40)
        assert all(0.0 <= w <= 1.0 for w in state.weights("g").values())
        assert 10.0 - 1e-9 <= state.angles()[3, 0] <= 30.0 + 1e-9


@pytest.mark.req("improv", 40)
@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_the_foremost_group_that_covers_decides(order):
    groups = {"one": "GROUP one ACTION a\n", "two": "GROUP two ACTION b\n"}
    text = "define ACTION a { Nod 1 0 0 }\ndefine ACTION b { Nod 2 0 0 }\n" + "".join(groups[n] for n in order)
    wanted = {"one": 1.0, "two": 2.0}[order[-1]]
    assert start(library(text), MANNEQUIN).advance(0.1).angles()[3, 0] == wanted


@pytest.mark.req("improv", 41)
def test_values_become_curves_of_shape_keys_and_properties():
    lib = library('define ACTION a { SMILE -1 "prop/Blink" 0:1 { t } }\nGROUP g ACTION a')
    motion = perform(lib, MANNEQUIN, [], 1.0, 10)
    assert np.all(motion.curves["shape/SMILE"] == -1.0)
    assert np.allclose(motion.curves["prop/Blink"], motion.times)
    assert start(lib, MANNEQUIN).advance(0.5).curves() == {"shape/SMILE": -1.0, "prop/Blink": 0.5}


PLACE = """
define ACTION bend {{ fade 1  Rshoulder -40 0 10  Relbow -60 0 0 }}
GROUP back ACTION bend
define ACTION put {{ fade 1  Rwrist AT {where} }}
GROUP middle ACTION No_put ACTION put
define ACTION over {{ fade 1  Relbow -20 0 0 }}
GROUP front ACTION No_over ACTION over
"""


def hand(state: BodyState) -> np.ndarray:
    pose = state.pose()
    return fk.forward(MANNEQUIN, pose.rotations, pose.root)[0][MANNEQUIN.joint("hand_R")]


@pytest.mark.req("improv", 42)
def test_a_place_of_no_weight_changes_nothing_and_a_full_one_is_reached():
    lib = library(PLACE.format(where="-.2 1.1 .35"))
    free = start(lib, MANNEQUIN, REST).advance(0.5)
    plain = start(library(PLACE.format(where="-.2 1.1 .35").split("define ACTION put")[0]), MANNEQUIN, REST).advance(
        0.5
    )
    assert np.abs(free.pose().rotations - plain.pose().rotations).max() < 1e-6
    state = free.select("", "put", 0.5)
    track = []
    for k in range(61):
        state = state.advance(0.5 + k / 60)
        track.append(hand(state))
    scale = MANNEQUIN.leg_length() / 0.84
    goal = np.array([*state.place[:2], 0.0]) + scale * np.array([-0.2, -0.35, 1.1])
    length = 0.55
    assert np.abs(track[-1] - goal).max() < 1e-3 * length
    assert np.abs(track[0] - hand(free)).max() < 1e-6
    # no step is out of line with those around it, however small the weight
    speed = np.diff(track, axis=0)
    assert np.abs(speed).max() < 0.02 and np.abs(np.diff(speed, axis=0)).max() < 0.002
    barely = free.select("", "put", 0.5).advance(0.5 + 1e-4)
    assert np.abs(barely.pose().rotations - free.pose().rotations).max() < 1e-6


@pytest.mark.req("improv", 43)
def test_rotations_in_front_of_a_place_diminish_it():
    lib = library(PLACE.format(where="-.2 1.1 .35"))
    state = start(lib, MANNEQUIN, REST).select("", "put", 0.0).advance(2.0)
    assert np.allclose(state.present().alphas, 1.0)
    free = start(lib, MANNEQUIN, REST).select("", "over", 2.0)
    goal, state = hand(state), state.select("", "over", 2.0)
    for time, opacity in ((2.25, 0.15625), (2.5, 0.5), (2.75, 0.84375), (3.0, 1.0)):
        state, free = state.advance(time), free.advance(time)
        assert np.allclose(state.present().alphas, 1.0 - opacity)
        # the hand is that much of the way from its place to where the angles alone have it
        there = hand(free)
        assert np.abs(hand(state) - (goal + opacity * (there - goal))).max() < 0.02
    assert np.abs(state.pose().rotations - free.pose().rotations).max() < 1e-6
    assert state.angles()[INDEX["Relbow"], 0] == -20.0


@pytest.mark.req("improv", 44)
def test_a_place_out_of_reach_stretches_the_arm_without_flipping_it():
    lib = library(PLACE.format(where="-.2 1.3 3"))
    state = start(lib, MANNEQUIN, REST).select("", "put", 0.0)
    before, bent = None, None
    for k in range(1, 50):
        state = state.advance(k / 40)
        pose = state.pose()
        assert np.isfinite(pose.rotations).all()
        positions, globals_ = fk.forward(MANNEQUIN, pose.rotations, pose.root)
        elbow = positions[MANNEQUIN.joint("forearm_R")]
        assert before is None or np.abs(elbow - before).max() < 0.05
        before = elbow
        # the axis about which the elbow bends never turns over
        axis = quat.rotate(globals_[MANNEQUIN.joint("upper_arm_R")], np.array([1.0, 0.0, 0.0]))
        assert bent is None or axis @ bent > 0.97
        bent = axis
    shoulder, wrist = (positions[MANNEQUIN.joint(f"{r}_R")] for r in ("upper_arm", "hand"))
    full = sum(np.linalg.norm(MANNEQUIN.offsets[MANNEQUIN.joint(f"{r}_R")]) for r in ("forearm", "hand"))
    assert 0.99 * full < np.linalg.norm(wrist - shoulder) <= full
    # still bent the way elbows bend: behind and below the line, not in front of it
    line = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
    off = (before - shoulder) - ((before - shoulder) @ line) * line
    assert off[2] < 1e-6


def test_a_place_may_follow_a_joint_or_a_target():
    lib = library(PLACE.format(where="Nod -.1 -.1 .2"))
    state = start(lib, MANNEQUIN, REST).select("", "put", 0.0).advance(2.0)
    pose = state.pose()
    positions, globals_ = fk.forward(MANNEQUIN, pose.rotations, pose.root)
    head, scale = MANNEQUIN.joint("head"), MANNEQUIN.leg_length() / 0.84
    goal = positions[head] + quat.rotate(globals_[head], scale * np.array([-0.1, -0.2, -0.1]))
    assert np.abs(hand(state) - goal).max() < 1e-3
    lib = library(PLACE.format(where="target 0 0 0"))
    aim = np.array([-0.25, -0.35, 1.2])
    state = start(lib, MANNEQUIN, REST, targets={"door": aim}).select("", "put", 0.0, target="door").advance(2.0)
    assert np.abs(hand(state) - aim).max() < 1e-3
    state = state.put("door", aim + (0.0, 0.0, 0.1)).advance(2.1)
    assert np.abs(hand(state) - aim - (0.0, 0.0, 0.1)).max() < 1e-3


def test_an_anchor_is_composited_against_another_of_the_same_hand():
    text = (
        PLACE.format(where="-.2 1.1 .35")
        + "define ACTION face { fade 1 Rwrist AT Nod -.1 -.1 .2 }\nGROUP top ACTION No_t ACTION face"
    )
    state = start(library(text), MANNEQUIN, REST).select("", "put", 0.0).select("", "face", 0.0).advance(0.5)
    alphas = state.present().alphas[0]
    assert np.allclose(alphas, [0.25, 0.5])
    alone = start(library(text), MANNEQUIN, REST).select("", "face", 0.0).advance(2.0)
    both = start(library(text), MANNEQUIN, REST).select("", "put", 0.0).select("", "face", 0.0).advance(2.0)
    assert np.abs(hand(alone) - hand(both)).max() < 1e-6


def test_planted_feet_are_both_on_the_ground():
    lib = library("define ACTION a { Lknee 20 0 0 Lhip -10 0 0 PLANT 1 }\nGROUP g ACTION a")
    motion = perform(lib, MANNEQUIN, [Selection(0.0, "g", "a")], 0.5, 24)
    positions, _ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    heights = positions[:, [MANNEQUIN.joint(f"foot_{s}") for s in "LR"], 2]
    assert np.ptp(heights) < 2e-3
    assert np.all(motion.curves["contact/foot_L"] == 1.0) and np.all(motion.curves["contact/foot_R"] == 1.0)


def test_clips_are_blended_as_rotations_and_tables_angle_by_angle():
    ends = {"one": (-80.0, 60.0, 40.0), "two": (30.0, -70.0, 60.0)}
    actions = [
        clip_action(name, {("Lshoulder", a): np.full(4, v) for a, v in zip("xyz", xyz, strict=True)}, 10, fade=1.0)
        for name, xyz in ends.items()
    ]
    for spherical in (True, False):
        lib = ActionLibrary(
            [read_sheet("GROUP g ACTION one ACTION two")], [replace(a, spherical=spherical) for a in actions]
        )
        state = start(lib, MANNEQUIN).select("", "two", 0.0)
        whole, half = state.advance(2.0), state.advance(0.5)
        row = INDEX["Lshoulder"]
        assert np.allclose(whole.angles()[row], ends["two"])
        linear = np.mean(list(ends.values()), axis=0)
        poses = np.zeros((3, 20, 3))
        poses[:, row] = np.radians([ends["one"], ends["two"], half.angles()[row]])
        a, b, got = turns(poses)[:, row]
        middle = quat.slerp(a, b, 0.5)
        assert (float(quat.distance(got, middle)) < 1e-6) == spherical
        assert np.allclose(half.angles()[row], linear) == (not spherical)
