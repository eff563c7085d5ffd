"""A clip on a treadmill: itself on a straight line at its own speed, and a walk wherever else it is taken."""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from feet import body, cmu, standing, steps
from repeat import repeats
from troupe.core import InvalidMotion, InvalidParam, InvalidRig, Motion, Path, Pose, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import CURVES, sole_points
from troupe.core.filters.footlock import slide
from troupe.core.filters.resample import resample
from troupe.core.filters.resample import slice as part
from troupe.core.filters.retarget import lifts
from troupe.core.gait.gaitcut import find_cycle
from troupe.core.gait.posetable import slip
from troupe.core.gait.treadmill import TreadmillParams, decompose, steer, treadmill
from troupe.core.kinematics import base
from troupe.core.kinematics.anatomy import joint_angles
from troupe.core.maths import quat
from troupe.core.params import declared

FREE = TreadmillParams(plant=False)
AXES = ("x", "y", "heading")
UP = np.array([0.0, 0.0, 1.0])


def looped(motion, first, count):
    """Some samples of a steady walk as a loop."""
    keep = np.s_[first : first + count]
    return Motion(motion.skeleton, motion.fps, motion.roots[keep], motion.rotations[keep], loop=True)


@cache
def stroll_loop():
    return looped(walk(mannequin(), cycles=4), 99, 66)


@cache
def level_walk(speed=0.9, period=1.1, stance=0.6, **more):
    """A loop of level feet that stand exactly still, of the body with two legs."""
    return looped(steps(body(), speed=speed, period=period, stance=stance, **more)[0], 0, round(period * 60))


def jog():
    return level_walk(speed=2.2, period=0.7, stance=0.4)


@cache
def taken(make):
    """A clip that can be steered."""
    return decompose(make())


def placed(motion, x=0.0, y=0.0, z=0.0, heading=0.0):
    """The motion turned about the origin and moved."""
    turn = quat.about(UP, heading)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    return replace(motion, roots=quat.rotate(turn, motion.roots) + (x, y, z), rotations=rotations, base=None)


def straight(speed, seconds, fps=24.0, origin=(0.0, 0.0), heading=0.0):
    """A straight way; `speed` a number or a function of time."""
    times = np.arange(round(seconds * fps) + 1) / fps
    if callable(speed):
        fine = np.linspace(0.0, times[-1], 20001)
        v = speed(fine)
        way = np.interp(times, fine, np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2) * fine[1]]))
    else:
        way = speed * times
    points = np.column_stack([origin[0] + way * np.sin(heading), origin[1] - way * np.cos(heading), 0 * way + heading])
    return Path(points, AXES, times)


def start_and_stop(speed, go=3.0, rest=1.0, acceleration=1.2):
    """Speed over time: rest, speed up, go, slow down, rest; and how long that takes."""
    ramp = speed / acceleration
    knots = np.cumsum([0.0, rest, ramp, go, ramp, rest])
    return lambda t: np.interp(t, knots, [0.0, 0.0, speed, speed, 0.0, 0.0]), knots[-1]


def winding(speed, seconds=10.0, fps=24.0, width=0.6, length=6.0):
    """A sine-shaped way, begun and ended at rest."""
    times = np.arange(round(seconds * fps) + 1) / fps
    v = speed * np.clip(np.minimum(times, times[-1] - times), 0.0, 1.0)
    way = np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2)]) / fps
    u = np.linspace(0.0, way[-1] + 1.0, 20001)
    x = width * np.sin(2 * np.pi * u / length)
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(u)))])
    turn = np.arctan2(np.gradient(x, u), 1.0)
    return Path(np.column_stack([np.interp(way, arc, c) for c in (x, -u, turn)]), AXES, times)


def own_way(cycle, rounds, fps):
    """The way of the clip itself, for some rounds."""
    phases = np.arange(round(rounds * cycle.period * fps)) / (cycle.period * fps)
    return Path(cycle.bases(phases)[0], AXES, np.arange(len(phases)) / fps)


def turns(motion):
    """(T - 1, J) angle of each joint from sample to sample [deg]."""
    return np.degrees(quat.distance(motion.rotations[1:], motion.rotations[:-1]))


def apart(a, b):
    """Largest distance of roots [m] and of rotations [rad]."""
    return np.abs(a.roots - b.roots).max(), quat.distance(a.rotations, b.rotations).max()


def contact(motion):
    """(T, 2, 2) heel and ball of each foot."""
    return np.stack([np.stack([motion.curves[c] for c in names], axis=-1) for names in CURVES], axis=1) > 0.5


def worst_slide(motion):
    return max(s.travel for s in slide(motion))


# taking a clip apart


@pytest.mark.req("kuffner", 9)
@pytest.mark.parametrize("make", [stroll_loop, level_walk, jog])
def test_the_base_goes_straight_at_the_mean_speed_and_carries_the_hips(make):
    clip = placed(make(), 2.0, -3.0, 1.3, heading=0.7)
    cycle = decompose(clip).cycle
    phases = np.arange(len(cycle)) / len(cycle)
    bases, ground = cycle.bases(phases)
    way = np.diff(bases[:, :2], axis=0)
    assert np.ptp(way, axis=0).max() < 1e-12
    assert np.hypot(*way[0]) * len(cycle) == pytest.approx(cycle.speed * cycle.period, rel=1e-9)
    assert cycle.period == pytest.approx(len(clip) / clip.fps)
    assert cycle.heading == pytest.approx(0.7, abs=0.01)
    roots, hips = base.compose(bases, cycle.places, cycle.rotations[:, 0])
    assert np.abs(roots + ground[:, None] * UP - clip.roots).max() < 1e-6
    assert quat.distance(hips, clip.rotations[:, 0]).max() < 1e-6
    assert quat.distance(cycle.rotations[:, 1:], clip.rotations[:, 1:]).max() < 1e-6


def test_speed_and_step_are_those_of_the_walk():
    cycle = decompose(level_walk(speed=0.9)).cycle
    assert cycle.speed == pytest.approx(0.9, abs=1e-6)
    assert cycle.step == pytest.approx([0.0, -0.99, 0.0], abs=1e-6)
    assert cycle.strides == 1


@pytest.mark.parametrize("height", [-2.0, 0.0, 1.7])
def test_the_floor_of_the_clip_does_not_matter(height):
    clip = placed(level_walk(), z=height)
    cycle = decompose(clip).cycle
    assert cycle.origin[2] == pytest.approx(height, abs=1e-3)
    shown = steer([decompose(clip)], straight(cycle.speed, 2.0), FREE)
    assert np.abs(lifts(shown).min(axis=(1, 2))).max() < 1e-3


def test_a_slope_is_walked_as_on_the_level():
    level = level_walk()
    rise = 0.1 * (level.roots[:1, 1] - level.roots[:, 1])
    uphill = replace(level, roots=level.roots + rise[:, None] * UP)
    there, here = decompose(uphill).cycle, decompose(level).cycle
    assert there.step[2] == pytest.approx(0.1 * 0.99, abs=1e-6)
    assert np.abs(there.places - here.places).max() < 5e-3


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_repeated_last_frame_is_not_shown_twice(rounds):
    whole = walk(mannequin(), cycles=5)
    count = 66 * rounds
    without, twice = looped(whole, 99, count), looped(whole, 99, count + 1)
    a, b = decompose(without).cycle, decompose(twice).cycle
    assert len(a) == len(b) == count
    assert (a.strides, b.strides) == (rounds, rounds)
    assert a.speed == pytest.approx(b.speed, rel=1e-3)


@pytest.mark.parametrize("fps", [60.0, 20.0])
@pytest.mark.parametrize("extra", [0, 1], ids=["without closing frame", "with it"])
def test_a_single_cycle_need_not_be_marked_as_a_loop(extra, fps):
    count = round(1.1 * fps)
    clip = replace(looped(resample(walk(mannequin(), cycles=3), fps), round(1.65 * fps), count + extra), loop=False)
    cycle = decompose(clip).cycle
    assert len(cycle) == count
    assert cycle.speed == pytest.approx(taken(stroll_loop).cycle.speed, rel=0.01)


@pytest.mark.parametrize("loop", [True, False])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_clip_on_the_spot_gets_its_speed_from_its_feet(loop, heading):
    clip = placed(looped(walk(mannequin(), cycles=5), 66, 3 * 66), heading=heading)
    own = decompose(clip).cycle
    still = clip.roots - np.arange(len(clip))[:, None] / len(clip) * own.step
    cycle = decompose(replace(clip, roots=still, loop=loop)).cycle
    assert cycle.speed == pytest.approx(own.speed, rel=0.05)
    assert cycle.heading == pytest.approx(own.heading, abs=0.03)
    told = decompose(replace(clip, roots=still, loop=loop), TreadmillParams(clip_speed=0.8)).cycle
    assert told.speed == pytest.approx(0.8, rel=0.02)


def test_a_clip_that_walks_backwards_stands_with_its_back_to_the_way():
    clip = level_walk()
    back = replace(clip, roots=clip.roots[::-1], rotations=clip.rotations[::-1])
    made = decompose(back)
    assert abs(quat.heading(made.standing.rotations[0])) == pytest.approx(np.pi, abs=0.05)
    shown = steer([made], straight(0.5, 3.0, heading=np.pi))
    assert worst_slide(shown) < 1e-4
    assert np.abs(quat.heading(shown.rotations[:, 0])).max() % (2 * np.pi) < 0.1


@pytest.mark.req("kuffner", 14)
@pytest.mark.parametrize("loop", [True, False])
def test_a_clip_that_does_not_close_is_closed_evenly(loop):
    clip = stroll_loop() if loop else replace(looped(walk(mannequin(), cycles=4), 99, 67), loop=False)
    share = np.arange(len(clip)) / 66 - 0.5
    drift = quat.about(np.array([0.6, 0.0, 0.8]), np.radians(6.0) * share)
    open_ = replace(
        clip,
        rotations=quat.multiply(clip.rotations, drift[:, None]),
        roots=clip.roots + share[:, None] * (0.05, 0.02, 0.03),
    )
    made = decompose(open_)
    cycle, fps = made.cycle, 660.0
    shown = steer([made], own_way(cycle, 2.2, fps), FREE)
    count = round(cycle.period * fps)
    late, early = shown.roots[count : 2 * count] - cycle.step * (1, 1, 0), shown.roots[:count]
    assert np.abs(late - early).max() < 1e-4
    assert quat.distance(shown.rotations[count : 2 * count], shown.rotations[:count]).max() < 1e-3
    # no jump where one round follows the other
    steps_ = turns(shown).max(axis=1)
    assert steps_[count - 10 : count + 10].max() < 1.3 * steps_.max()
    assert np.abs(np.diff(shown.roots, 2, axis=0))[count - 30 : count + 30].max() < 1e-4
    # and the clip is off by half of the difference at most
    assert quat.distance(cycle.rotations[:, 1:], clip.rotations[:66, 1:]).max() < np.radians(1.0)


def test_a_closed_loop_is_not_touched():
    for make in (stroll_loop, level_walk, jog):
        clip = make()
        assert np.abs(find_cycle(clip).rotations[:, 1:] - clip.rotations[:, 1:]).max() < 1e-12


# the pose table


@pytest.mark.req("kuffner", 11)
@pytest.mark.parametrize("make", [stroll_loop, level_walk, jog])
def test_the_table_rises_from_standing_to_the_clip(make):
    made = taken(make)
    assert len(made.speeds) == len(made.weights) == 17
    assert (made.weights[0], made.weights[-1]) == (0.0, 1.0)
    assert (made.speeds[0], made.speeds[-1]) == (0.0, made.cycle.speed)
    fine = made.weight(np.linspace(0.0, 1.5 * made.cycle.speed, 500))
    assert np.diff(fine).min() >= 0.0
    assert fine[-1] == 1.0


@pytest.mark.req("kuffner", 11)
def test_speed_zero_is_the_standing_pose_and_full_speed_the_clip():
    clip = stroll_loop()
    made = decompose(clip)
    still = steer([made], straight(0.0, 1.0, heading=1.0), FREE)
    roots, hips = base.compose(still.base, made.standing.root, made.standing.rotations[0])
    assert np.abs(still.roots - roots).max() < 1e-12
    assert quat.distance(still.rotations[:, 0], hips).max() < 1e-9
    assert quat.distance(still.rotations[:, 1:], made.standing.rotations[1:]).max() < 1e-9
    full = steer([made], straight(made.cycle.speed, 1.0, fps=clip.fps), FREE)
    assert quat.distance(full.rotations[:60, 1:], clip.rotations[:60, 1:]).max() < 1e-9


@pytest.mark.req("kuffner", 11)
def test_a_standing_pose_may_be_given_or_taken_from_the_clip():
    clip = stroll_loop()
    skeleton = clip.skeleton
    given = Pose(quat.unit(np.random.default_rng(1).normal((1, 0, 0, 0), 0.1, (len(skeleton), 4))), (0.0, 0.1, 0.9))
    still = steer([decompose(clip, standing=given)], straight(0.0, 1.0), FREE)
    assert quat.distance(still.rotations, given.rotations).max() < 1e-9
    assert np.abs(still.roots - given.root).max() < 1e-12
    neutral, own = (decompose(clip, TreadmillParams(stand=s)).standing for s in ("neutral", "clip"))
    arm, elbow, thigh = (skeleton.joint(r) for r in ("upper_arm_L", "forearm_L", "thigh_L"))
    assert joint_angles(neutral.rotations[arm], "upper_arm_L")[1] == pytest.approx(skeleton.arm_clearance)
    assert np.degrees(joint_angles(own.rotations[elbow], "forearm_L")[0]) == pytest.approx(20.0, abs=3.0)
    assert quat.angle(own.rotations[thigh]) < 1e-9


def pendulum(half_swing):
    """A loop of two stiff legs whose feet go back at even speed while they stand."""
    skeleton, period, fps = body(toes=False), 1.0, 100.0
    count = round(period * fps)
    length = -skeleton.offsets[[skeleton.joint("shin_L"), skeleton.joint("foot_L")], 2].sum()
    rotations = np.tile(quat.IDENTITY, (count, len(skeleton), 1))
    curves = {}
    for k, side in enumerate("LR"):
        phase = (np.arange(count) / count + 0.5 * k) % 1.0
        swing = np.where(phase < 0.5, 1 - 4 * phase, 4 * phase - 3)
        angle = np.arcsin(np.sin(half_swing) * swing)
        for part_, turn in (("thigh", -angle), ("foot", angle)):
            rotations[:, skeleton.joint(f"{part_}_{side}")] = quat.about(np.array([1.0, 0, 0]), turn)
        for name in CURVES[k]:
            curves[name] = (phase < 0.5).astype(float)
    speed = 4 * length * np.sin(half_swing) / period
    roots = np.tile(skeleton.offsets[0], (count, 1))
    roots[:, 1] -= speed * np.arange(count) / fps
    return Motion(skeleton, fps, roots, rotations, curves=curves, loop=True), speed


def test_a_stiff_leg_follows_the_arcsine():
    angle = np.radians(24.0)
    clip, speed = pendulum(angle)
    made = decompose(clip, TreadmillParams(cadence=0.0))
    assert made.cycle.speed == pytest.approx(speed, rel=1e-6)
    shares = np.array([0.25, 0.5, 0.75])
    known = np.arcsin(shares * np.sin(angle)) / angle
    assert known == pytest.approx([0.243, 0.489, 0.740], abs=1e-3)
    assert made.weight(shares * speed) == pytest.approx(known, abs=4e-3)


@pytest.mark.req("kuffner", 12)
@pytest.mark.parametrize("cadence", [0.0, 0.5])
@pytest.mark.parametrize("make", [stroll_loop, level_walk, jog])
def test_the_table_slips_least(make, cadence):
    check_slip(decompose(make(), TreadmillParams(cadence=cadence)))


def check_slip(made):
    speeds = made.cycle.speed * np.linspace(0.02, 0.98, 40)
    ours = slip(made, speeds, made.weight(speeds))
    assert (ours <= 1.02 * slip(made, speeds, speeds / made.cycle.speed)).all()
    assert (ours <= 1.02 * slip(made, speeds, np.ones(40))).all()


# steering


@pytest.mark.req("kuffner", 10)
@pytest.mark.parametrize("make", [stroll_loop, level_walk, jog])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_on_its_own_way_the_clip_is_itself(make, rate):
    """D24: three rounds at the clip's own speed."""
    clip = placed(make(), 1.0, 2.0, heading=-0.8)
    check_identity(clip, rate)


def check_identity(clip, rate=1.0):
    made = decompose(clip)
    cycle = made.cycle
    shown = steer([made], own_way(cycle, 3, rate * clip.fps), FREE)
    index = (np.arange(len(shown)) / rate).astype(int)
    rounds, sample = np.divmod(index, len(clip))
    ground = cycle.bases(index / len(clip))[1]
    roots = clip.roots[sample] + rounds[:, None] * cycle.step - ground[:, None] * UP
    expected = Motion(clip.skeleton, shown.fps, roots, clip.rotations[sample])
    away, turned = apart(shown, expected)
    assert away < 1e-4
    assert turned < 1e-3


def test_above_its_speed_the_clip_runs_faster():
    made = taken(stroll_loop)
    shown = steer([made], straight(1.6 * made.cycle.speed, 5.0), FREE)
    strides = np.ptp(shown.curves["info/strides"])
    assert strides == pytest.approx(1.6 * made.cycle.speed * 5.0 / (made.cycle.speed * made.cycle.period), rel=1e-6)
    assert shown.curves["info/gait"].min() == pytest.approx(1.0)


@pytest.mark.parametrize("plant", [False, True])
def test_start_and_stop_begin_and_end_in_the_standing_pose(plant):
    made = taken(stroll_loop)
    speed, seconds = start_and_stop(made.cycle.speed)
    shown = steer([made], straight(speed, seconds), TreadmillParams(plant=plant))
    off = np.degrees(quat.distance(shown.rotations[[0, -1]], made.standing.rotations)).max()
    # planted feet stay where the last step has put them
    assert off < (4.0 if plant else 1e-6)
    assert turns(shown).max() < (25.0 if plant else 16.0)
    assert worst_slide(shown) < 5e-3 or not plant
    low = lifts(shown).min(axis=(1, 2))
    assert low.min() > -0.02
    assert low.max() < 0.02


def test_everything_goes_on_without_a_jump_in_velocity():
    made = taken(level_walk)
    speed, _ = start_and_stop(1.4 * made.cycle.speed, go=1.0)
    jumps = []
    for fps in (120.0, 240.0):
        shown = steer([made], straight(speed, 5.0, fps=fps), FREE)
        rates = quat.log(quat.multiply(quat.conjugate(shown.rotations[:-1]), shown.rotations[1:])) * fps
        places = np.diff(shown.roots, axis=0) * fps
        jumps.append((np.abs(np.diff(rates, axis=0)).max(), np.abs(np.diff(places, axis=0)).max()))
    # half the time between samples, half the change of velocity
    assert np.all(np.array(jumps[1]) < 0.65 * np.array(jumps[0]))


def test_the_result_carries_its_base_contacts_and_events():
    made = taken(stroll_loop)
    way = winding(made.cycle.speed)
    shown = steer([made], way)
    assert np.array_equal(shown.base, way.points)
    assert shown.fps == pytest.approx(24.0)
    assert len(shown) == len(way.points)
    down = contact(shown)
    assert 0.4 < down[48:-48].any(axis=2).mean() < 0.75
    assert down[[0, -1]].all()
    for side in "LR":
        times = [e.time for e in shown.events if e.name == f"heel_strike_{side}"]
        assert np.median(np.diff(times)) == pytest.approx(made.cycle.period, abs=0.1)
    assert {e.name[:-2] for e in shown.events} == {"heel_strike", "foot_flat", "heel_off", "toe_off"}


def test_whole_turns_in_the_heading_of_a_way_do_not_show():
    made = taken(stroll_loop)
    way = winding(made.cycle.speed, seconds=4.0)
    points = way.points.copy()
    points[40:, 2] += 2 * np.pi
    a, b = steer([made], way), steer([made], Path(points, AXES, way.times))
    assert max(apart(a, b)) < 1e-9


@pytest.mark.parametrize("foot", ["L", "R"])
def test_the_first_stance_is_that_of_the_pose_before(foot):
    made = taken(level_walk)
    cycle = made.cycle
    way = straight(cycle.speed, 2.0, origin=(3.0, 1.0), heading=0.5)
    k = int(np.argmax(sole_points(level_walk())[:, "LR".index(foot), 0, 2]))
    roots, hips = base.compose(way.points[0], cycle.places[k], cycle.rotations[k, 0])
    pose = Pose(np.concatenate([hips[None], cycle.rotations[k, 1:]]), roots)
    shown = steer([made], way, FREE, start=pose)
    assert not contact(shown)[0, "LR".index(foot)].any(), "the foot in the air stays there"
    assert contact(shown)[0, 1 - "LR".index(foot)].any()
    assert np.abs(shown.roots[0] - pose.root).max() < 0.03
    assert np.degrees(quat.distance(shown.rotations[0], pose.rotations)).max() < 6.0


def test_a_turn_on_the_spot_is_stepped():
    made = taken(stroll_loop)
    times = np.arange(121) / 24
    way = Path(np.column_stack([0 * times, 0 * times, np.interp(times, [0.5, 3.5], [0.0, np.pi])]), AXES, times)
    shown = steer([made], way)
    assert worst_slide(shown) < 5e-3
    strikes = [e for e in shown.events if e.name.startswith("heel_strike")]
    assert len(strikes) >= 4
    assert turns(shown).max() < 15.0
    assert np.ptp(shown.base[:, 2]) == pytest.approx(np.pi)


def test_walking_back_runs_the_cycle_back():
    made = taken(stroll_loop)
    shown = steer([made], straight(-0.6, 4.0))
    assert shown.curves["info/strides"][-1] < shown.curves["info/strides"][0] - 2
    assert worst_slide(shown) < 5e-3
    assert worst_slide(steer([made], straight(-0.6, 4.0), FREE)) < 0.04


def test_planted_feet_hold_on_a_winding_way():
    made = taken(stroll_loop)
    way = winding(made.cycle.speed)
    assert worst_slide(steer([made], way)) < 5e-3 < worst_slide(steer([made], way, FREE))


# several clips


@pytest.mark.req("kuffner", 13)
def test_between_two_clips_poses_are_mixed_in_phase():
    check_mixing(level_walk(), jog())


def check_mixing(slow, fast):
    walking, jogging = decompose(slow), decompose(fast)
    low, high = walking.cycle.speed, jogging.cycle.speed
    own = [steer([g], straight(g.cycle.speed, 4.0), FREE) for g in (walking, jogging)]
    middle = steer([walking, jogging], straight((low + high) / 2, 4.0), FREE)
    # out of phase the strides of the two would cancel; in phase they give one between theirs
    reach = []
    for shown in (*own, middle):
        feet = sole_points(shown).mean(axis=2)
        reach.append(np.ptp(feet[:, 1, 1] - feet[:, 0, 1]))
    assert reach[2] == pytest.approx(np.mean(reach[:2]), rel=0.12)
    # from one to the other no joint jumps by two degrees more than the clips' own joints do
    speed = lambda t: np.interp(t, [1.0, 1.0 + high - low], [low, high])  # noqa: E731
    change = steer([jogging, walking], straight(speed, 3.0 + high - low, fps=24.0), FREE)
    allowed = np.maximum(*(turns(m).max(axis=0) for m in own)) + 2.0
    assert (turns(change) <= allowed).all()
    # at either end it is one clip alone
    for g, shown in zip((walking, jogging), own, strict=True):
        alone = steer([walking, jogging], straight(g.cycle.speed, 4.0), FREE)
        assert max(apart(alone, shown)) < 1e-6
    held = steer([walking, jogging], straight(speed, 3.0 + high - low, fps=24.0))
    assert worst_slide(held) < 5e-3


@pytest.mark.req("kuffner", 13)
def test_clips_of_several_strides_are_mixed_stride_by_stride():
    whole = steps(body(), seconds=3.0)[0]
    one, two = looped(whole, 0, 66), looped(whole, 0, 132)
    assert decompose(two).cycle.strides == 2
    a, b = (treadmill([slow, jog()], straight(1.5, 4.0), FREE) for slow in (one, two))
    assert max(apart(a, b)) < 1e-6


def test_a_mask_is_what_all_clips_speak_for():
    slow, fast = level_walk(), jog()
    masks = np.ones((2, len(slow.skeleton)), dtype=bool)
    masks[0, 1] = masks[1, 2] = False
    clips = [replace(c, mask=m) for c, m in zip((slow, fast), masks, strict=True)]
    assert np.array_equal(treadmill(clips, straight(1.5, 1.0)).mask, masks[0] & masks[1])
    assert treadmill([slow], straight(1.5, 1.0)).mask is None


# what is refused


@pytest.mark.parametrize(
    ("clip", "words"),
    [
        (lambda: standing(body(), seconds=1 / 60), "1 samples"),
        (lambda: standing(body(), seconds=2.0), "neither travels nor steps"),
        (lambda: replace(standing(body(), seconds=2.0), loop=True), "neither travels nor steps"),
        (lambda: part(walk(mannequin(), cycles=2), 0.3, 0.9), "no two of its strides are alike"),
        (lambda: part(walk(mannequin(), cycles=2), 0.3, 0.55), "two heel strikes"),
        (lambda: glide(), "do not pass each other"),
    ],
    ids=["one frame", "standing", "standing loop", "half a stride", "a moment", "glide"],
)
def test_a_clip_without_a_cycle_is_told(clip, words):
    with pytest.raises(InvalidMotion, match=words):
        decompose(clip())


def glide():
    """A body that slides along without a step."""
    still = standing(body(), seconds=2.0)
    return replace(still, roots=still.roots - still.times[:, None] * (0.0, 1.0, 0.0))


def test_a_clip_in_a_circle_is_told():
    clip = level_walk()
    turn = np.linspace(0.0, np.radians(60.0), len(clip))
    rotations = clip.rotations.copy()
    rotations[:, 0] = quat.multiply(quat.about(UP, turn), rotations[:, 0])
    with pytest.raises(InvalidMotion, match=r"turns by 6\d degrees"):
        decompose(replace(clip, rotations=rotations))


def test_a_body_without_legs_is_told():
    clip = level_walk()
    whole = clip.skeleton
    roles = {r: j for r, j in whole.roles.items() if r != "foot_L"}
    footless = Skeleton(whole.names, whole.parents, whole.offsets, whole.tips, roles, whole.limits)
    with pytest.raises(InvalidRig, match="both legs"):
        decompose(replace(clip, skeleton=footless))


def test_ways_that_are_none_are_told():
    made = taken(level_walk)
    times = np.arange(10) / 24
    points = np.zeros((10, 3))
    with pytest.raises(InvalidMotion, match="NaN"):
        Path(points * np.nan, AXES, times)
    for way in (
        Path(points, AXES),
        Path(points, ("x", "y", "z"), times),
        Path(points, AXES, times**1.5),
        Path(points[:1], AXES, times[:1]),
        Path(points, AXES, np.zeros(10)),
    ):
        with pytest.raises(InvalidMotion, match="base track"):
            steer([made], way)


def test_repeated_points_are_a_rest():
    made = taken(stroll_loop)
    points = straight(made.cycle.speed, 4.0).points.copy()
    points = np.concatenate([points[:48], np.repeat(points[48:49], 48, axis=0), points[48:]])
    shown = steer([made], Path(points, AXES, np.arange(len(points)) / 24))
    assert shown.curves["info/gait"][60:84].max() < 1e-9
    assert worst_slide(shown) < 5e-3
    assert turns(shown).max() < 25.0


def test_clips_that_do_not_go_together_are_told():
    walking, way = level_walk(), straight(1.0, 1.0)
    with pytest.raises(InvalidMotion, match="at least one clip"):
        treadmill([], way)
    with pytest.raises(InvalidMotion, match="different skeletons"):
        treadmill([walking, stroll_loop()], way)
    with pytest.raises(InvalidMotion, match="same speed"):
        treadmill([walking, walking], way)
    with pytest.raises(InvalidMotion, match="joints"):
        treadmill([walking], way, start=stroll_loop().pose(0))
    with pytest.raises(InvalidMotion, match="joints"):
        decompose(walking, standing=stroll_loop().pose(0))


@pytest.mark.parametrize(
    "values",
    [{"speed": -1.0}, {"distance": 0.0}, {"cadence": 1.5}, {"ease": -0.1}, {"stand": "lying"}, {"clip_speed": np.nan}],
)
def test_wrong_parameters_are_refused(values):
    with pytest.raises(InvalidParam):
        TreadmillParams(**values)


def test_at_most_six_parameters_are_basic():
    assert sum(p.basic for p in declared(TreadmillParams)) == 6


def test_the_same_again():
    a, b = (treadmill([level_walk(), jog()], winding(1.4, seconds=4.0)) for _ in range(2))
    repeats(a, b)


def test_ten_seconds_take_a_moment():
    made = taken(stroll_loop)
    way = winding(made.cycle.speed)
    spent = []
    for _ in range(8):
        begin = time.process_time()
        steer([made], way)
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.1, "a fifth of this where nothing else uses the caches"


# recordings


@pytest.mark.parametrize("name", ["07_01", "104_02", "02_01", "35_01", "16_17", "02_03", "09_01"])
def test_recorded_gaits_have_a_cycle(data, name):
    made = decompose(cmu(data, name))
    assert 0.6 < made.cycle.period < 1.4
    assert made.cycle.strides == 1
    assert abs(made.cycle.origin[2]) < 0.06
    check_slip(made)
    assert np.diff(made.weights).min() >= 0.0


@pytest.mark.req("kuffner", 10, 14)
@pytest.mark.parametrize("name", ["07_01", "104_02"])
def test_a_recorded_loop_is_itself_on_its_own_way(data, name):
    cycle = decompose(cmu(data, name)).cycle
    bases, ground = cycle.bases(np.arange(len(cycle)) / len(cycle))
    roots, hips = base.compose(bases, cycle.places, cycle.rotations[:, 0])
    rotations = np.concatenate([hips[:, None], cycle.rotations[:, 1:]], axis=1)
    fps = len(cycle) / cycle.period
    check_identity(Motion(cycle.skeleton, fps, roots + ground[:, None] * UP, rotations, loop=True))


@pytest.mark.parametrize("name", ["07_01", "104_02"])
@pytest.mark.parametrize("share", [0.4, 1.0, 1.3])
def test_a_recorded_walk_winds_without_sliding(data, name, share):
    clip = cmu(data, name)
    made = decompose(clip)
    shown = steer([made], winding(share * made.cycle.speed))
    assert worst_slide(shown) < 5e-3
    source = resample(part(clip, 0.5, clip.duration), 24.0)
    allowed = 1.4 * max(1.0, share) * turns(source).max(axis=0) + 12.0
    jumps = turns(shown).max(axis=0)
    upper = [clip.skeleton.joint(r) for r in ("spine", "head", "upper_arm_L", "forearm_R", "thigh_L", "shin_R")]
    assert (jumps[upper] < allowed[upper]).all()
    assert np.abs(np.diff(shown.roots, axis=0)).max() < 1.6 * share * made.cycle.speed / 24


@pytest.mark.req("kuffner", 13)
def test_a_recorded_walk_becomes_a_jog(data):
    check_mixing(cmu(data, "02_01"), cmu(data, "02_03"))
