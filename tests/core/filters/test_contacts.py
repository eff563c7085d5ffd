"""Feet are found on the ground when they are there, whatever the floor, the size, the rate and the dirt."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from feet import body, cmu, solved, standing, steps
from troupe.core import Event, InvalidParam, InvalidRig, Motion, Skeleton
from troupe.core.filters.contacts import (
    CURVES,
    ContactParams,
    contacts,
    cycles,
    detect,
    heel_and_ball,
    runs,
    sole_points,
)
from troupe.core.maths import quat


def flags(motion):
    """(T, 2, 2) heel and ball of each foot."""
    return np.stack([np.stack([motion.curves[c] for c in names], axis=-1) for names in CURVES], axis=1) > 0.5


def feet(motion):
    """(T, 2) feet that touch with any part."""
    return flags(motion).any(axis=2)


def stances(motion, side):
    """Share of each full cycle from strike to strike in which the foot is down."""
    strikes, offs = ([e.time for e in motion.events if e.name == f"{n}_{side}"] for n in ("heel_strike", "toe_off"))
    pairs = [(a, b, [t for t in offs if a < t < b]) for a, b in pairwise(strikes)]
    return [(inside[0] - a) / (b - a) for a, b, inside in pairs if inside]


def disagreement(a, b):
    return float((a != b).mean())


def test_a_walk_is_planted_when_its_feet_are():
    motion, planted = steps(body())
    found = contacts(motion)
    assert disagreement(feet(found), planted) < 0.08
    # what is found beyond the truth is the slow beginning and end of a swing
    assert not (planted & ~feet(found))[2:-2].any()


def test_flags_do_not_depend_on_size():
    small, large = (detect(sole_points(steps(body(s))[0]), 60.0, body(s).leg_length()) for s in (1.0, 3.0))
    assert np.array_equal(small, large)


@pytest.mark.parametrize("fps", [24.0, 30.0, 48.0, 60.0])
def test_flags_do_not_depend_on_frame_rate(fps):
    dense, sparse = contacts(steps(body(), fps=240.0)[0]), contacts(steps(body(), fps=fps)[0])
    step = round(240 / fps)
    assert disagreement(feet(dense)[::step], feet(sparse)) < 0.06


def test_floor_at_any_height_gives_the_same():
    motion = steps(body())[0]
    raised = replace(motion, roots=motion.roots - np.array([0.0, 0.0, 7.3]))
    assert np.array_equal(flags(contacts(motion)), flags(contacts(raised)))


@pytest.mark.parametrize(
    "change",
    [
        lambda p, t: p + p[..., 1:2] * [0, 0, 0.1],
        lambda p, t: p + p[..., 1:2] * [0, 0, -0.1],
        lambda p, t: p + t * [0, 0, 0.01],
        lambda p, t: p + t * [0.03, 0.02, 0],
        lambda p, t: p + np.random.default_rng(1).normal(0, 0.002, p.shape),
    ],
    ids=["uphill", "downhill", "drifting floor", "skating", "noise"],
)
def test_dirt_hardly_matters(change):
    motion = steps(body(), fps=120.0)[0]
    points, times = sole_points(motion), motion.times[:, None, None, None]
    leg = motion.skeleton.leg_length()
    assert disagreement(detect(points, 120.0, leg), detect(change(points, times), 120.0, leg)) < 0.04


def test_standing_is_contact_throughout_and_has_no_events():
    found = contacts(standing(body()))
    assert flags(found).all()
    assert not found.events


def test_shuffling_feet_are_planted_between_their_slides():
    motion, planted = steps(body(), speed=0.25, period=1.6, stance=0.65, lift=0.0)
    found = contacts(motion)
    assert disagreement(feet(found), planted) < 0.2
    for k in range(2):
        assert len(runs(feet(found)[:, k])) == len(runs(planted[:, k]))


def jump(skeleton, fps=60.0, flight=0.5, wait=1.0):
    times = np.arange(round((2 * wait + flight) * fps)) / fps
    t = np.clip(times - wait, 0, flight)
    height = 9.81 / 2 * t * (flight - t)
    roots = skeleton.offsets[0] + np.column_stack([0 * t, -0.8 * t, height])
    still = np.tile(quat.IDENTITY, (len(times), len(skeleton), 1))
    return Motion(skeleton, fps, roots, still), (times > wait + 0.03) & (times < wait + flight - 0.03)


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_flight_has_no_contact(fps):
    motion, flying = jump(body(), fps)
    found = feet(contacts(motion))
    assert not found[flying].any()
    assert found[: round(0.9 * fps)].all()
    assert found[-round(0.9 * fps) :].all()


def test_a_foot_held_in_the_air_is_not_planted():
    skeleton = body()
    count = 240
    ankles = np.tile([[0.1, 0.0, 0.08], [-0.1, -0.1, 0.40]], (count, 1, 1))
    roots = np.tile([0.05, 0.0, 0.93], (count, 1))
    found = feet(contacts(solved(skeleton, roots, ankles)))
    assert found[:, 0].all()
    assert not found[:, 1].any()


def test_an_inserted_pose_is_not_held_and_makes_no_event():
    motion = standing(body())
    roots = motion.roots.copy()
    roots[0] += (1.0, 2.0, -0.9)
    roots[60] += (0.1, 0.0, 0.0)
    found = contacts(replace(motion, roots=roots))
    assert not flags(found)[[0, 60]].any()
    assert flags(found)[1:60].all()
    assert flags(found)[61:].all()
    assert not found.events


def test_events_follow_each_other_in_every_step(data):
    found = contacts(cmu(data, "02_01"))
    for side in "LR":
        names = [e.name[:-2] for e in found.events if e.name.endswith(side) and e.time > 0.3]
        order = ["heel_strike", "foot_flat", "heel_off", "toe_off"]
        start = order.index(names[0])
        assert names == [order[(start + i) % 4] for i in range(len(names))]


def test_events_of_other_kinds_stay_and_old_contacts_go():
    events = (Event(0.5, "cue"), Event(0.1, "heel_strike_L"))
    once = contacts(replace(steps(body())[0], events=events, curves={"info/x": np.ones(240)}))
    assert [e.name for e in once.events].count("cue") == 1
    assert Event(0.1, "heel_strike_L") not in once.events
    assert "info/x" in once.curves
    again = contacts(once)
    assert again.events == once.events
    assert np.array_equal(flags(again), flags(once))


def loop_of(skeleton, fps=60.0):
    """One period of a walk, and a long stretch of the same walk from the same phase."""
    motion, _ = steps(skeleton, seconds=4.4, fps=fps)
    n = 66
    return Motion(skeleton, fps, motion.roots[n : 2 * n], motion.rotations[n : 2 * n], loop=True), motion, n


def test_a_loop_is_seen_as_going_on():
    loop, long, n = loop_of(body())
    assert np.allclose(cycles(loop).roots, long.roots[: 3 * n], atol=1e-6)
    found, whole = contacts(loop), contacts(long)
    assert np.array_equal(flags(found), flags(whole)[n : 2 * n])
    assert sorted(e.name for e in found.events if "strike" in e.name) == ["heel_strike_L", "heel_strike_R"]
    assert all(0 <= e.time < found.duration for e in found.events)


def test_a_loop_on_the_spot_stays_there():
    loop = replace(standing(body()), loop=True)
    assert np.array_equal(cycles(loop).roots, np.tile(loop.roots, (3, 1)))
    assert flags(contacts(loop)).all()


def test_feet_without_toes_are_read_to_their_tips():
    skeleton = body(toes=False)
    heel, ball = heel_and_ball(skeleton, "L")
    assert np.allclose(ball, skeleton.tips[skeleton.joint("foot_L")])
    assert heel[1] > 0 > heel[2]
    motion, planted = steps(skeleton)
    assert disagreement(feet(contacts(motion)), planted) < 0.08


def test_heel_is_behind_the_ankle_on_the_sole():
    skeleton = body()
    heel, ball = heel_and_ball(skeleton, "R")
    assert np.allclose(heel, [0, 0.07, -0.08])
    assert np.allclose(ball, [0, -0.14, -0.06])


@pytest.mark.parametrize("name", ["02_01", "07_01", "16_17", "35_01", "104_02"])
def test_recorded_walks_stand_on_each_foot_for_three_fifths_of_a_cycle(data, name):
    found = contacts(cmu(data, name))
    shares = stances(found, "L") + stances(found, "R")
    assert len(shares) >= 2
    assert 0.53 < np.mean(shares) < 0.68
    assert feet(found).any(axis=1).mean() > 0.99, "a walk has no flight; glitches of a frame are not held"
    strikes = [e.name for e in found.events if e.name.startswith("heel_strike")]
    assert all(a != b for a, b in pairwise(strikes)), "left and right alternate"


@pytest.mark.parametrize("name", ["02_01", "16_17", "35_01"])
def test_recorded_walks_have_a_fifth_of_double_support(data, name):
    both = feet(contacts(cmu(data, name)))[2:].all(axis=1).mean()
    assert 0.12 < both < 0.28


@pytest.mark.parametrize("name", ["09_01", "02_03"])
def test_recorded_runs_fly(data, name):
    found = contacts(cmu(data, name))
    touching = feet(found)[2:]
    assert (touching.mean(axis=0) < 0.45).all()
    assert (~touching.any(axis=1)).mean() > 0.2
    assert not touching.all(axis=1).any(), "a run has no double support"
    strikes = [e.name for e in found.events if e.name.startswith("heel_strike")]
    assert len(strikes) >= 3
    assert all(a != b for a, b in pairwise(strikes))


def test_recorded_jump_leaves_the_ground_once(data):
    touching = feet(contacts(cmu(data, "13_11")))[2:]
    flights = runs(~touching.any(axis=1))
    assert len(flights) == 1
    assert 0.3 < (flights[0][1] - flights[0][0]) / 120 < 0.8
    assert touching[: flights[0][0] - 12].all()


def test_recorded_bend_keeps_both_feet_down(data):
    assert feet(contacts(cmu(data, "26_09")))[2:].mean() > 0.97


def test_one_sample_is_enough():
    motion = standing(body(), seconds=1 / 60)
    assert len(motion) == 1
    assert flags(contacts(motion)).all()


def test_same_motion_same_answer():
    motion = steps(body())[0]
    assert np.array_equal(flags(contacts(motion)), flags(contacts(motion)))


def test_motion_without_feet_is_refused():
    stick = Skeleton(("hips",), [-1], np.zeros((1, 3)), np.zeros((1, 3)), {"hips": (0,)}, np.zeros((1, 3, 2)))
    with pytest.raises(InvalidRig, match="no "):
        contacts(Motion(stick, 24.0, np.zeros((2, 3)), np.tile(quat.IDENTITY, (2, 1, 1))))


@pytest.mark.parametrize(
    "values",
    [
        {"speed": 0.0},
        {"speed": np.nan},
        {"height": 1.0},
        {"shortest": -0.1},
        {"gap": 2.0},
        {"share": 0.0},
        {"stillness": 5.0},
        {"release": 0.5},
        {"window": 0.0},
    ],
)
def test_wrong_parameters_are_refused(values):
    with pytest.raises(InvalidParam):
        ContactParams(**values)


def test_shortest_drops_short_contacts():
    motion = steps(body())[0]
    assert not feet(contacts(motion, ContactParams(shortest=1.0)))[40:-70].any()
