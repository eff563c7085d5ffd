"""Walking and running along any base track: planted feet, whole joints, smooth curves, on any body."""

import json
import time
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from feet import CMU_UNIT, body
from quality import beyond_limits, depth, hover, knee_pop, sharpest_corner, slide, soles
from repeat import repeats
from troupe.core import InvalidMotion, InvalidParam, InvalidRig, Pose, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.formats import bvh
from troupe.core.gait.route import follow
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.kinematics import anatomy, base, fk
from troupe.core.kinematics.limb_ik import LIMBS, place_limb
from troupe.core.maths import quat
from troupe.core.motion import Motion, Path

from .recordings import read
from .ways import (
    BODY,
    CHANGES,
    RUNS,
    STEADY,
    WALKS,
    circle,
    driven,
    size,
    start_stop,
    straight,
    track,
    turn,
    walk_run_walk,
)

MM = 1e-3
SLACK = np.radians(0.05)
"""By so much a joint may be beyond its limit: rounding of rotations, not of angles [rad]."""
EVERY = {**WALKS, **RUNS, **CHANGES}


@cache
def gone(name, fps=60.0):
    """The motion of one way."""
    return travel(BODY, EVERY[name](fps), TravelParams(gait="run") if name in RUNS else None)


def strikes(motion):
    """[(time, side, data)] of all strikes in order."""
    return [(e.time, e.name[-1], e.data) for e in motion.events if e.name.startswith("heel_strike")]


def grounded(motion):
    """(T, 2) whether anything of the left and the right foot is on the ground."""
    return soles(motion).planted.any(axis=2)


# --- planted feet, whole joints, smooth curves


@pytest.mark.parametrize("name", EVERY)
def test_planted_points_stay_within_a_millimetre(name):
    assert slide(gone(name)) < MM


@pytest.mark.parametrize("name", EVERY)
def test_nothing_of_the_feet_sinks_by_more_than_a_millimetre(name):
    assert depth(gone(name)) < MM


@pytest.mark.parametrize("name", EVERY)
def test_planted_points_are_on_the_ground(name):
    assert hover(gone(name)) < 2 * MM


@pytest.mark.parametrize("name", EVERY)
def test_no_joint_leaves_its_limits(name):
    over, where = beyond_limits(gone(name))
    assert over < SLACK, f"{np.degrees(over):.2f} degrees: {where}"


@pytest.mark.parametrize("angle", [-90, 60, 120, 150])
@pytest.mark.parametrize("speed", [0.8, 1.4, 1.8])
def test_no_corner_of_a_way_breaks_a_joint_or_pops_a_knee(angle, speed):
    x, y = 3 * np.sin(np.radians(angle)), 3 * np.cos(np.radians(angle))
    motion = travel(BODY, follow([[0, 0], [0, -3], [x, -3 - y]], speed, 60.0, heading=0.0))
    over, where = beyond_limits(motion)
    assert over < np.radians(0.5), f"{np.degrees(over):.2f} degrees: {where}"
    assert knee_pop(motion) < 3.0
    assert slide(motion) < MM


@pytest.mark.parametrize("push", [1.5, 3.0])
def test_who_turns_as_it_sets_out_comes_down_on_a_leg_that_reaches(push):
    start = travel(BODY, track(np.zeros(2), 0.0, 0.0, 24.0)).pose(0)
    way = driven(
        lambda t: np.minimum(push * t, 1.4),
        lambda t: 2.5 * np.clip(np.minimum(t, 0.4 - t) / 0.15, 0.0, 1.0),
    )
    motion = travel(BODY, way, start=start)
    assert slide(motion) < 0.2 * MM
    assert knee_pop(motion) < 2.2


@pytest.mark.parametrize(("slow", "push", "time"), [(0.5, 3.0, 3.0), (0.5, 1.5, 3.3), (0.7, 3.0, 3.3)])
def test_who_hurries_on_pushes_off_before_its_leg_is_stretched(slow, push, time):
    way = driven(lambda t: np.minimum(np.minimum(slow + push * np.maximum(t - time, 0.0), 1.4), 2.0 * t), np.zeros_like)
    assert knee_pop(travel(BODY, way)) < 2.0


@pytest.mark.parametrize("way", [turn(np.pi, 0.6), straight(1.3, 2.0, direction=np.pi / 2)], ids=["turn", "sideways"])
def test_who_turns_fast_or_steps_aside_fast_still_walks(way):
    assert {data["gait"] for _, _, data in strikes(travel(BODY, way))} == {"walk"}


@pytest.mark.parametrize("name", EVERY)
def test_no_knee_pops(name):
    assert knee_pop(gone(name)) < 3.0


@pytest.mark.parametrize("name", EVERY)
def test_speeds_have_no_jumps(name):
    # the fastest run throws its feet
    growth, where = sharpest_corner(lambda fps: gone(name, fps), seen=4.0 if name == "run at 7.0" else 1.0)
    assert growth < 1.5, f"x{growth:.2f}, {where}"


# --- the body and its base


@pytest.mark.parametrize("name", EVERY)
def test_the_motion_has_the_samples_of_the_base_and_carries_it(name):
    way, motion = EVERY[name](60.0), gone(name)
    assert len(motion) == len(way.points)
    assert motion.fps == pytest.approx(60.0)
    np.testing.assert_array_equal(motion.base, way.points)


@pytest.mark.parametrize("name", [*WALKS, *CHANGES])
def test_the_body_stays_within_a_hands_breadth_of_the_base(name):
    motion = gone(name)
    away = np.linalg.norm(motion.roots[:, :2] - motion.base[:, :2], axis=1)
    # into curves it leans from the ground up, at most by the sine of a bank of 25 degrees
    velocity = np.gradient(motion.base[:, :2], 1 / motion.fps, axis=0)
    turning = np.gradient(motion.base[:, 2], 1 / motion.fps)
    pull = np.linalg.norm(velocity, axis=1) * np.abs(turning) / 9.81
    lean = motion.roots[:, 2] * np.sin(np.minimum(pull.max(), np.radians(25.0)))
    assert (away < 0.1 * size() + lean).all(), float((away - lean).max())


def test_the_body_leans_into_curves_and_not_without_banking():
    way = circle(1.4, 2.0)
    upright, leant = (travel(BODY, way, TravelParams(banking=b)) for b in (0.0, 1.0))

    def inward(motion):
        left = np.column_stack([np.cos(motion.base[:, 2]), np.sin(motion.base[:, 2])])
        return float(((motion.roots - np.pad(motion.base[:, :2], ((0, 0), (0, 1))))[:, :2] * left).sum(axis=1).mean())

    assert abs(inward(upright)) < 0.015
    speed = 1.4 * np.sqrt(size())
    balance = np.arctan(speed**2 / 2.0 / 9.81)
    assert inward(leant) == pytest.approx(upright.roots[:, 2].mean() * np.sin(balance), rel=0.25)


def test_outer_steps_of_a_curve_are_longer_than_inner_ones():
    motion = gone("circle of 2 m")
    found = strikes(motion)
    by_foot = {s: [d for _, side, d in found if side == s] for s in "LR"}
    strides = {
        s: np.mean([np.hypot(b["x"] - a["x"], b["y"] - a["y"]) for a, b in pairwise(d)]) for s, d in by_foot.items()
    }
    assert strides["R"] > 1.03 * strides["L"]


def test_feet_point_along_a_curve():
    for _, side, fall in strikes(gone("circle of 4 m")):
        heading = np.arctan2(-fall["y"], 4.0 + fall["x"])
        out = 0.1 if side == "L" else -0.1
        assert fall["heading"] - out == pytest.approx(-heading, abs=np.radians(5.0))


# --- footfalls, events and contacts


@pytest.mark.parametrize("name", EVERY)
def test_feet_take_turns(name):
    sides = [side for _, side, _ in strikes(gone(name))]
    assert len(sides) >= 2
    assert all(a != b for a, b in pairwise(sides))


@pytest.mark.parametrize("name", EVERY)
def test_events_come_in_the_order_of_a_step(name):
    motion = gone(name)
    order = ("heel_strike", "foot_flat", "heel_off", "toe_off")
    assert [e.time for e in motion.events] == sorted(e.time for e in motion.events)
    for side in "LR":
        mine = [(e.time, order.index(e.name[:-2])) for e in motion.events if e.name.endswith(f"_{side}")]
        falls = np.split(np.array(mine), [k for k, (_, what) in enumerate(mine) if what == 0])
        for fall in falls:
            assert (np.diff(fall[:, 1]) > 0).all(), fall
            assert (np.diff(fall[:, 0]) >= 0).all(), fall
        whole = [fall for fall in falls[1:-1] if len(fall)]
        assert all(fall[-1, 1] == 3 for fall in whole)


@pytest.mark.parametrize("name", EVERY)
def test_contact_curves_are_on_from_strike_to_toe_off(name):
    motion = gone(name)
    down = grounded(motion)
    for k, side in enumerate("LR"):
        on = [e.time for e in motion.events if e.name == f"heel_strike_{side}"]
        off = [e.time for e in motion.events if e.name == f"toe_off_{side}"]
        switches = sorted([(t, True) for t in on] + [(t, False) for t in off])
        state = np.full(len(motion), not switches[0][1] if switches else True)
        for t, value in switches:
            state[int(np.ceil(t * motion.fps - 1e-6)) :] = value
        # a sample may fall on either side of its event
        wrong = np.flatnonzero(state != down[:, k])
        near = [min(abs(w / motion.fps - t) for t, _ in switches) for w in wrong]
        assert max(near, default=0.0) <= 1.001 / motion.fps, (side, wrong / motion.fps)


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.req("bruderlin", 31)
def test_walks_have_double_support_and_no_flight(name):
    motion = gone(name)
    down = grounded(motion)
    assert down.any(axis=1).all()
    swings = np.flatnonzero(np.diff((~down).any(axis=1).astype(int)))
    assert len(swings) >= 2
    for at, side, _ in strikes(motion):
        other = "R" if side == "L" else "L"
        leaves = [e.time for e in motion.events if e.name == f"toe_off_{other}" and e.time > at - 0.3]
        if leaves:
            assert leaves[0] > at + 0.01, at


@pytest.mark.parametrize("name", RUNS)
def test_runs_fly_between_all_steps(name):
    motion = gone(name)
    down, found = grounded(motion), strikes(motion)
    assert not down.all(axis=1).any()
    for (a, _, _), (b, _, _) in pairwise(found):
        step = slice(int(np.ceil(a * motion.fps)), int(b * motion.fps) + 1)
        assert not down[step].any(axis=1).all(), a


def test_the_gait_changes_with_speed_alone():
    motion = gone("walk, run, walk")
    gaits = [data["gait"] for _, _, data in strikes(motion)]
    assert gaits[0] == gaits[-1] == "walk"
    changes = [k for k in range(1, len(gaits)) if gaits[k] != gaits[k - 1]]
    assert len(changes) == 2
    velocity = np.linalg.norm(np.gradient(motion.base[:, :2], 1 / motion.fps, axis=0), axis=1)
    limit = TravelParams().run_from * np.sqrt(size())
    up, down = (
        [velocity[round(strikes(motion)[k][0] * motion.fps)] for k in (change - 2, change - 1)] for change in changes
    )
    # decided at the strike before, with a little more or less speed than the limit
    assert up[0] < 1.07 * limit
    assert up[1] > limit
    assert down[0] > limit / 1.07
    assert down[1] < limit


@pytest.mark.parametrize(("gait", "speed"), [("walk", 2.5), ("run", 1.5)])
def test_the_gait_can_be_chosen(gait, speed):
    motion = travel(BODY, straight(speed, 3.0), TravelParams(gait=gait))
    assert {data["gait"] for _, _, data in strikes(motion)} == {gait}


def test_steps_of_the_left_and_the_right_are_alike_on_a_straight_way():
    found = strikes(gone("straight at 1.4"))
    lengths = [before["y"] - after["y"] for (_, _, before), (_, _, after) in pairwise(found)]
    spans = np.diff([t for t, _, _ in found])
    assert np.ptp(lengths) < MM
    assert np.ptp(spans) < 1e-3
    assert {round(abs(d["x"]), 6) for _, _, d in found} == {round(abs(found[0][2]["x"]), 6)}


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_first_foot_can_be_chosen(side):
    motion = travel(BODY, start_stop(1.2), TravelParams(first_foot=side))
    assert strikes(motion)[0][1] == side[0].upper()


def test_a_footprint_put_elsewhere_is_trodden_and_the_others_stay():
    way = straight(1.3, 4.0)
    plain = travel(BODY, way)
    _, side, fall = next(s for s in strikes(plain) if s[2]["step"] == 3)
    wanted = (3.0, fall["x"] + 0.12, fall["y"] - 0.05, fall["heading"] + 0.2)
    moved = travel(BODY, way, TravelParams(footprints=(wanted,)))
    for (t0, s0, a), (t1, s1, b) in zip(strikes(plain), strikes(moved), strict=True):
        assert (t0, s0) == (t1, s1)
        goal = wanted[1:] if a["step"] == 3 else (a["x"], a["y"], a["heading"])
        assert (b["x"], b["y"], b["heading"]) == pytest.approx(goal, abs=2e-6)
    found = soles(moved)
    at = next(t for t, s, d in strikes(moved) if d["step"] == 3 and s == side)
    heel = found.places[int((at + 0.2) * moved.fps), "LR".index(side), 0]
    near = found.places[int((at + 0.2) * plain.fps), "LR".index(side), 1]
    assert np.hypot(*(heel[:2] + near[:2]) / 2 - wanted[1:3]) < 0.15
    assert slide(moved) < MM
    assert depth(moved) < MM


# --- one motion, whatever the frame rate and however often


@pytest.mark.parametrize(
    "name", ["straight at 1.4", "start and stop", "turn right by 180", "corners", "walk, run, walk"]
)
def test_footfalls_do_not_depend_on_the_frame_rate(name):
    coarse, fine, finest = (strikes(gone(name, fps)) for fps in (24.0, 60.0, 120.0))
    assert len(coarse) == len(fine) == len(finest)
    for a, b, c in zip(coarse, fine, finest, strict=True):
        assert a[1] == b[1] == c[1]
        for one, other, limit in ((a, c, 15 * MM), (b, c, 3 * MM)):
            apart = np.hypot(one[2]["x"] - other[2]["x"], one[2]["y"] - other[2]["y"])
            assert apart < limit, f"{1e3 * apart:.2f} mm at {one[0]:.2f} s"
            assert one[0] == pytest.approx(other[0], abs=2e-2)


def test_the_same_input_makes_the_same_motion():
    a, b = (travel(BODY, walk_run_walk()) for _ in range(2))
    repeats(a, b)
    assert [(e.name, e.data) for e in a.events] == [(e.name, e.data) for e in b.events]


def later(way, last, change):
    """A base track that goes on otherwise after sample `last`."""
    points, since = np.array(way.points), np.arange(1, len(way.points) - last) / 60.0
    x, y, heading = points[last]
    if change == "stop":
        points[last + 1 :] = points[last]
    elif change == "turn":
        points[last + 1 :] = np.column_stack([x + 1.4 * (1 - np.cos(since)), y - 1.4 * np.sin(since), heading + since])
    else:
        points[last + 1 :, 1] = y - 1.4 * since - 0.4 * since**2
    return replace(way, points=points)


STEPS_AHEAD = 2
"""So many strikes before the last one on a known base a motion is settled."""


CUTS = (200, 213, 231, 240)
"""Samples after which the base goes on otherwise."""


@cache
def begun(begin, change="", last=0):
    """The motion on a base that begins so and goes on otherwise after sample `last`."""
    way = straight(1.4, 7.0) if begin == "walking" else start_stop(1.4, go=5.0)
    return travel(BODY, later(way, last, change) if change else way)


def settled(begin, change, last, until):
    """Check that a base that goes on otherwise after sample `last` has the same motion up to a time [s]."""
    motion, changed = begun(begin), begun(begin, change, last)
    same = int(until * motion.fps) + 1
    np.testing.assert_allclose(changed.roots[:same], motion.roots[:same], atol=1e-9)
    np.testing.assert_allclose(changed.rotations[:same], motion.rotations[:same], atol=1e-9)


@pytest.mark.parametrize("change", ["stop", "turn", "hurry"])
@pytest.mark.parametrize("begin", ["walking", "standing"])
def test_motion_never_changes_up_to_some_strikes_before_the_last_on_a_known_base(change, begin):
    for last in CUTS:
        # one sample is needed on each side for a speed
        known = [t for t, _, _ in strikes(begun(begin)) if t < (last - 1) / 60.0]
        settled(begin, change, last, known[-1 - STEPS_AHEAD])


@pytest.mark.parametrize("change", ["stop", "turn", "hurry"])
@pytest.mark.parametrize("begin", ["walking", "standing"])
def test_motion_up_to_a_strike_depends_on_the_base_only_up_to_the_middle_of_the_stance_after_it(change, begin):
    stance = 0.66
    for last in CUTS:
        known = [t for t, _, _ in strikes(begun(begin)) if t + 0.5 * stance < (last - 1) / 60.0]
        settled(begin, change, last, known[-2])


def test_a_base_that_goes_on_as_it_went_may_be_cut_anywhere():
    whole = gone("straight at 1.4")
    way = STEADY["straight at 1.4"](60.0)
    cut = travel(BODY, Path(way.points[:130], way.axes, way.times[:130]))
    np.testing.assert_allclose(cut.roots, whole.roots[:130], atol=1e-6)
    np.testing.assert_allclose(cut.rotations, whole.rotations[:130], atol=1e-6)


def test_a_body_that_stands_does_not_move():
    motion = travel(BODY, track(np.full(60, 0.3), -0.2, 0.7, 30.0))
    assert np.ptp(motion.roots, axis=0).max() < 1e-9
    assert np.ptp(motion.rotations, axis=0).max() < 1e-9
    assert motion.roots[0, :2] == pytest.approx((0.3, -0.2), abs=0.05)
    assert soles(motion).planted.all()
    assert not strikes(motion)
    assert hover(motion) < MM
    assert depth(motion) < MM


@pytest.mark.parametrize("name", ["start and stop", "slow start and stop", "keyed speeds"])
def test_a_walk_that_has_stopped_stands_at_ease(name):
    motion = gone(name)
    assert soles(motion).planted[[0, -1]].all()
    assert np.abs(np.diff(motion.roots[-3:], axis=0)).max() < 1e-4
    feet = [np.array([d["x"], d["y"]]) for _, _, d in strikes(motion)[-2:]]
    middle = (feet[0] + feet[1]) / 2
    assert np.hypot(*(middle - motion.base[-1, :2])) < 0.05
    for role in ("shin_L", "shin_R"):
        assert np.degrees(anatomy.angles(motion, role)[-1, 0]) < 20.0


def test_cost_grows_linearly():
    def took(seconds):
        way = straight(1.4, seconds, 24.0)
        best = np.inf
        for _ in range(2):
            begin = time.process_time()
            travel(BODY, way)
            best = min(best, time.process_time() - begin)
        return best

    took(10.0)
    assert took(160.0) < 5 * took(40.0)


# --- the poses it starts and ends in


def standing(x=0.0, y=0.0, heading=0.0, seed=0):
    """Somebody who stands with crooked trunk, raised arm and bent knees, both feet flat on the ground."""
    rng = np.random.default_rng(seed)
    still = travel(BODY, track(np.full(3, x), y, heading, 24.0))
    rotations = anatomy.with_angles(
        BODY,
        still.rotations[:1],
        {
            "spine": np.radians([[10.0, 5.0, 8.0]]),
            "upper_arm_L": np.radians([[40.0, 30.0, 10.0]]),
            "head": np.radians([[0.0, 0.0, 20.0]]),
            "forearm_R": np.radians([[70.0, 0.0, 0.0]]),
        },
    )
    feet, turns = fk.forward(BODY, still.rotations[:1], still.roots[:1])
    roots = still.roots[:1] + np.array([*(0.03 * rng.uniform(-1, 1, 2)), -0.03])
    for side in "LR":
        foot = BODY.joint(f"foot_{side}")
        places, globals_ = fk.forward(BODY, rotations, roots)
        globals_[:, foot] = turns[:, foot]
        globals_ = place_limb(BODY, globals_, places, LIMBS[f"foot_{side}"], feet[:, foot], swivel=0.15)
        rotations = fk.local_rotations(BODY, globals_)
    return Pose(rotations[0], roots[0])


def same(motion, sample, pose):
    assert quat.distance(motion.rotations[sample], pose.rotations).max() < 1e-7
    np.testing.assert_allclose(np.abs(quat.dot(motion.rotations[sample], pose.rotations)), 1.0, atol=1e-9)
    np.testing.assert_allclose(motion.roots[sample], pose.root, atol=1e-9)


@pytest.fixture(scope="module")
def from_and_to():
    way = start_stop(1.3)
    start = standing()
    end = standing(*way.points[-1], seed=3)
    return travel(BODY, way, start=start, end=end), start, end


def test_a_walk_begins_and_ends_exactly_in_the_poses_given(from_and_to):
    motion, start, end = from_and_to
    same(motion, 0, start)
    same(motion, -1, end)


def test_feet_of_the_poses_stay_where_they_stand(from_and_to):
    motion, start, end = from_and_to
    assert slide(motion) < MM
    assert depth(motion) < MM
    for pose, first, last in ((start, 0, 0.5), (end, -0.2, -1)):
        at = [round(t * motion.fps) if isinstance(t, float) else t for t in (first, last)]
        places, _ = fk.forward(BODY, motion.rotations[at], motion.roots[at])
        theirs, _ = fk.forward(BODY, pose.rotations, pose.root)
        for side in "LR":
            foot = BODY.joint(f"foot_{side}")
            np.testing.assert_allclose(places[:, foot], np.tile(theirs[foot], (2, 1)), atol=5e-4)


def test_a_walk_between_poses_has_no_jumps(from_and_to):
    _, start, end = from_and_to
    growth, where = sharpest_corner(lambda fps: travel(BODY, start_stop(1.3, fps), start=start, end=end))
    assert growth < 1.5, f"x{growth:.2f}, {where}"


def test_a_walk_between_poses_keeps_knees_and_limits(from_and_to):
    motion, _, _ = from_and_to
    assert knee_pop(motion) < 3.0
    over, where = beyond_limits(motion)
    assert over < SLACK, f"{np.degrees(over):.2f} degrees: {where}"


def test_a_pose_on_a_platform_walks_on_its_level():
    start = standing()
    lifted = Pose(start.rotations, start.root + np.array([0.0, 0.0, 0.4]))
    motion = travel(BODY, start_stop(1.3), start=lifted)
    same(motion, 0, lifted)
    assert depth(motion, 0.4) < MM
    assert hover(motion, 0.4) < 2 * MM


def test_a_walk_can_start_in_the_pose_in_which_another_ended():
    first = gone("start and stop")
    way = turn(np.pi / 2)
    moved = replace(way, points=way.points + first.base[-1])
    second = travel(BODY, moved, start=first.pose(-1))
    same(second, 0, first.pose(-1))
    assert slide(second) < MM


# --- other bodies


def check(skeleton, speed=1.3):
    """All limits of a walk on a body, relative to its size."""
    scale = size(skeleton)
    for way in (start_stop(speed, 60.0, go=2.0, skeleton=skeleton), straight(1.8, 3.0, 60.0, skeleton=skeleton)):
        motion = travel(skeleton, way)
        assert slide(motion) < MM * max(scale, 1e-9)
        assert depth(motion) < MM * scale
        assert hover(motion) < 2.5 * MM * scale
        assert knee_pop(motion) < 3.0
        over, where = beyond_limits(motion)
        assert over < SLACK, f"{np.degrees(over):.2f} degrees: {where}"
        assert len(strikes(motion)) >= 4


@pytest.mark.parametrize("height", [0.6, 1.2, 1.95, 2.5])
def test_mannequins_of_all_sizes_walk(height):
    check(mannequin(height))


def scaled(skeleton, factor):
    return replace(skeleton, offsets=factor * skeleton.offsets, tips=factor * skeleton.tips)


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_bodies_of_another_scale_walk(factor):
    check(scaled(BODY, factor))


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_a_body_of_another_scale_walks_the_same_walk_in_its_own_time(factor):
    small = scaled(BODY, factor)
    rate = 60.0 / np.sqrt(factor)
    a, b = gone("straight at 1.4"), travel(small, straight(1.4, 4.5, rate, skeleton=small))
    assert len(a) == len(b)
    # cycles are made for speeds in whole millimetres a second
    assert np.abs(b.roots - factor * a.roots).max() < 3e-3 * factor
    assert quat.distance(a.rotations, b.rotations).max() < np.radians(1.0)


@pytest.mark.parametrize("toes", [True, False])
def test_bare_legs_walk_with_and_without_toes(toes):
    check(body(toes=toes))


def test_legs_of_different_lengths_walk():
    skeleton = body()
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.joint("shin_R"), 2] *= 0.97
    offsets[skeleton.joint("foot_R"), 2] *= 0.97
    motion = travel(replace(skeleton, offsets=offsets), start_stop(1.2, skeleton=skeleton))
    assert slide(motion) < MM


BVH = (
    *(f"mocap/cmu/{n}.bvh" for n in ("02_01", "07_01", "09_01", "104_02", "111_17", "13_11", "16_17", "26_09")),
    *(f"mocap/cmu/{n}.bvh" for n in ("35_01", "91_13")),
    "mocap/misc/olafhaag_walk01.bvh",
    "mocap/makehuman/walk1.bvh",
    "rigs/geno/Geno_bind.bvh",
)


@cache
def skeleton_of(data, file):
    """The skeleton of a BVH in metres, cast from its rest pose."""
    if not (data / file).exists():
        pytest.skip(f"test data absent: {data / file}")
    roles = json.loads((data / "gold_maps.json").read_text(encoding="utf-8"))[file]["map"]
    clip = bvh.read(data / file)
    unit = CMU_UNIT if "cmu" in file else 0.1 if "makehuman" in file else 0.01
    return read(clip, {r: [b] if isinstance(b, str) else b for r, b in roles.items()}, unit).skeleton


@pytest.mark.parametrize("file", BVH)
def test_recorded_skeletons_walk(data, file):
    check(skeleton_of(data, file))


@pytest.mark.parametrize("missing", ["foot_L", "shin_R", "thigh_L"])
def test_a_body_without_a_leg_or_foot_is_refused_by_name(missing):
    roles = {role: joints for role, joints in BODY.roles.items() if role != missing}
    with pytest.raises(InvalidRig, match=f"cannot walk: it has no {missing}"):
        travel(replace(BODY, roles=roles), straight(1.0, 1.0))


def test_a_leg_without_length_is_refused():
    offsets = np.array(BODY.offsets)
    offsets[BODY.joint("foot_L")] = 0.0
    with pytest.raises(InvalidRig, match="leg L has no length"):
        travel(replace(BODY, offsets=offsets), straight(1.0, 1.0))


def test_a_skeleton_of_hips_and_legs_alone_walks():
    legs = body()
    keep = [j for j, name in enumerate(legs.names) if name not in ("spine", "head")]
    number = {j: k for k, j in enumerate(keep)}
    skeleton = Skeleton(
        names=[legs.names[j] for j in keep],
        parents=[number.get(int(legs.parents[j]), -1) for j in keep],
        offsets=legs.offsets[keep],
        tips=legs.tips[keep],
        roles={r: tuple(number[j] for j in js) for r, js in legs.roles.items() if js[0] in number},
        limits=legs.limits[keep],
    )
    check(skeleton)


# --- what is refused


def test_a_base_of_other_axes_is_refused():
    way = straight(1.0, 1.0)
    with pytest.raises(InvalidMotion, match="x, y, heading"):
        travel(BODY, Path(way.points, ("x", "y", "z"), way.times))


def test_an_unknown_style_is_refused_and_the_known_ones_named():
    with pytest.raises(InvalidParam, match="no such preset"):
        travel(BODY, straight(1.0, 1.0), TravelParams(style="moonwalk"))


def test_base_leads_back_to_the_track():
    """A motion without its base finds it again, so that what is baked can be taken up from there."""
    motion = gone("straight at 1.4")
    found = base.derive(Motion(motion.skeleton, motion.fps, motion.roots, motion.rotations))
    away = np.linalg.norm(found[:, :2] - motion.base[:, :2], axis=1)
    assert away.max() < 0.06
