import time
from dataclasses import replace

import feet
import numpy as np
import pytest
from troupe.core import InvalidMotion, InvalidParam, Motion
from troupe.core.figure import stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.alignment import (
    AlignParams,
    apply_path,
    moments,
    path_cost,
    time_table,
    warp_path,
)
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.filters.resample import resample
from troupe.core.filters.retime import played, retime
from troupe.core.filters.timewarp import TimewarpParams, retimed, timewarp
from troupe.core.filters.warp_costs import PathParams
from troupe.core.kinematics import base
from troupe.core.maths import quat

FIGURE = mannequin(1.75)
A = np.array([0, 0, 1, 4, 6, 4, 1, 0, 0, 0], dtype=float)[:, None]
B = np.array([0, 0, 0, 0, 1, 4, 6, 4, 1, 0], dtype=float)[:, None]
FORMS = (
    PathParams(),
    PathParams(angles="unsigned"),
    PathParams(angles="unsigned", extrema=False),
    PathParams(form="full"),
    PathParams(form="values"),
    PathParams(stretch_power=1.0, bend_power=3.0),
    PathParams(longest=4),
    PathParams(form="full", longest=5),
    PathParams(window=0.3),
    PathParams(stretch=0.0),
)


@pytest.fixture(scope="module")
def slow() -> Motion:
    return contacts(stroll.walk(FIGURE, 4, 1.2))


@pytest.fixture(scope="module")
def fast() -> Motion:
    return contacts(stroll.walk(FIGURE, 4, 0.9))


def wandering(rng, n, channels=3):
    return rng.normal(size=(n, channels)).cumsum(axis=0)


@pytest.mark.req("bruderlin", 43)
def test_a_bump_two_samples_later_is_found():
    path = warp_path(A, B, scale=1.0)
    expected = [(0, 0), (0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (7, 9), (8, 9), (9, 9)]
    assert path.tolist() == [list(x) for x in expected]
    assert path_cost(A, B, path, scale=1.0) == pytest.approx(4.61685, abs=5e-6)
    assert np.allclose(apply_path(B, path), A)


@pytest.mark.req("bruderlin", 43)
@pytest.mark.parametrize("params", FORMS)
def test_a_signal_corresponds_to_itself_at_no_cost(params):
    for x in (A, wandering(np.random.default_rng(0), 40)):
        path = warp_path(x, x, params)
        assert np.array_equal(path, np.stack([np.arange(len(x))] * 2, axis=1))
        assert path_cost(x, x, path, params) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.req("bruderlin", 44)
@pytest.mark.parametrize("params", FORMS)
@pytest.mark.parametrize(("n", "m"), [(30, 30), (21, 37), (40, 17), (2, 5), (1, 4), (1, 1)])
def test_a_path_goes_from_corner_to_corner_by_steps_of_one(params, n, m):
    rng = np.random.default_rng(n + m)
    path = warp_path(wandering(rng, n), wandering(rng, m), params)
    steps = np.diff(path, axis=0)
    assert path[0].tolist() == [0, 0]
    assert path[-1].tolist() == [n - 1, m - 1]
    assert np.all((steps == 0) | (steps == 1))
    assert np.all(steps.any(axis=1))


@pytest.mark.req("bruderlin", 44)
def test_no_other_path_is_cheaper():
    rng = np.random.default_rng(3)
    a, b = wandering(rng, 14), wandering(rng, 11)
    for params in FORMS[:6]:
        least = path_cost(a, b, warp_path(a, b, params, 0.7), params, 0.7)
        for _ in range(40):
            moves = rng.permutation([(1, 0)] * 6 + [(0, 1)] * 3 + [(1, 1)] * 7)
            path = np.concatenate([[(0, 0)], np.cumsum(moves, axis=0)])
            assert path_cost(a, b, path, params, 0.7) >= least - 1e-9


@pytest.mark.req("bruderlin", 44)
def test_one_path_serves_all_channels():
    t = np.linspace(0, 4 * np.pi, 80)
    late = t - 0.4 * np.sin(t / 4) ** 2
    first, second = (np.stack([np.sin(x), np.cos(2 * x), np.sin(x / 2)], axis=1) for x in (t, late))
    path = warp_path(first, second, spacing=0.2)
    assert path.shape[1] == 2
    warped = apply_path(second, path)
    assert np.abs(warped - first).mean() < 0.3 * np.abs(second - first).mean()


def two_waves(triangles=False):
    """A wave of 40 samples and the same upside down, for two and a half rounds."""
    t = np.arange(100) / 40
    wave = (2 / np.pi * np.arcsin(np.sin(2 * np.pi * t)) if triangles else np.sin(2 * np.pi * t))[:, None]
    return wave, -wave


def levels_met(params, triangles=False):
    """How high the second wave is where the first has its peaks, -1 to 1."""
    a, b = two_waves(triangles)
    path = warp_path(a, b, params, 0.05)
    return np.array([b[path[path[:, 0] == i][:, 1], 0].mean() for i in (10, 50, 90)])


@pytest.mark.req("bruderlin", 45)
@pytest.mark.parametrize("form", ["local", "full"])
def test_a_peak_never_meets_a_valley(form):
    params = PathParams(stretch=0.01, form=form)
    a, b = two_waves()
    met = {(int(i), int(j)) for i, j in warp_path(a, b, params, 0.05)}
    peaks, valleys = ({i for i in range(1, 99) if x[i - 1] < x[i] > x[i + 1]} for x in (a[:, 0], -a[:, 0]))
    # the other wave is upside down: where the first has a peak it has a valley
    assert peaks == {10, 50, 90} and valleys == {30, 70}
    assert not met & {(i, j) for i in peaks for j in peaks} and not met & {(i, j) for i in valleys for j in valleys}
    levels = levels_met(params)
    assert levels.min() > -0.5
    # the other clip has a peak less
    assert np.count_nonzero(levels > 0.8) >= (2 if form == "local" else 1)


@pytest.mark.req("bruderlin", 45)
def test_with_unsigned_angles_the_extremum_rule_decides():
    on, off = (
        levels_met(PathParams(stretch=0.01, angles="unsigned", extrema=x), triangles=True) for x in (True, False)
    )
    assert on[:2].min() > 0.8
    assert off.max() < -0.8


@pytest.mark.req("bruderlin", 46)
def test_one_sample_spreads_over_several_along_a_cubic():
    ramp = np.arange(11.0)
    path = [(i, min(i, 5) if i < 9 else i - 3) for i in range(14)]
    warped = apply_path(ramp, path)
    assert len(warped) == 14
    assert np.allclose(warped[5:9], [4.625, 4.875, 5.125, 5.375])
    assert warped[5:9].mean() == pytest.approx(5.0)
    assert np.array_equal(warped[:5], ramp[:5])
    assert np.array_equal(warped[9:], ramp[6:])


@pytest.mark.req("bruderlin", 46)
def test_several_samples_for_one_are_averaged():
    values = np.array([[0.0, 1.0], [2.0, 5.0], [7.0, 0.0], [9.0, 9.0]])
    assert np.allclose(apply_path(values, [(0, 0), (1, 1), (1, 2), (2, 3)]), [[0, 1], [4.5, 2.5], [9, 9]])


@pytest.mark.req("bruderlin", 46)
def test_spreading_is_held_at_the_ends():
    values = np.array([3.0, 0.0, 1.0])
    assert np.allclose(apply_path(values, [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 2)]), [3, 3, 3, 0, 1, 1])


@pytest.mark.req("bruderlin", 46)
def test_the_warped_clip_has_the_length_of_the_first():
    rng = np.random.default_rng(4)
    for n, m in ((30, 50), (50, 30), (1, 7), (7, 1)):
        a, b = wandering(rng, n), wandering(rng, m)
        warped = apply_path(b, warp_path(a, b))
        assert warped.shape == a.shape
        assert warped.min() >= b.min() - np.ptp(b)


def test_a_window_keeps_the_path_near_the_straight_line():
    rng = np.random.default_rng(5)
    path = warp_path(wandering(rng, 60), wandering(rng, 80), PathParams(stretch=0.0, window=0.1))
    assert np.abs(path[:, 1] - path[:, 0] * 79 / 59).max() <= 7.9 + 1e-9


def test_no_clip_waits_longer_than_it_may():
    a, b = two_waves()
    free = warp_path(a, b, PathParams(stretch=0.001), 0.05)
    held = warp_path(a, b, PathParams(stretch=0.001, longest=2), 0.05)
    run = {False: 0, True: 0}
    for name, path in ((False, free), (True, held)):
        waits = np.diff(path, axis=0).sum(axis=1) == 1
        length = 0
        for w in waits:
            length = length + 1 if w else 0
            run[name] = max(run[name], length)
    assert run[True] <= 2 < run[False]
    with pytest.raises(InvalidParam, match="do not fit"):
        warp_path(a[:3], b, PathParams(longest=2))


def test_constant_channels_say_nothing():
    rng = np.random.default_rng(6)
    a, b = wandering(rng, 20), wandering(rng, 25)
    more = [np.column_stack([x, np.full(len(x), 3.0)]) for x in (a, b)]
    assert np.array_equal(warp_path(*more), warp_path(a, b))
    still = warp_path(np.ones((8, 2)), np.ones((8, 2)))
    assert np.array_equal(still[:, 0], still[:, 1])


def test_signals_that_cannot_be_compared_are_refused():
    with pytest.raises(InvalidMotion, match="same channels"):
        warp_path(np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(InvalidMotion, match="same channels"):
        warp_path(np.zeros((0, 2)), np.zeros((4, 2)))
    with pytest.raises(InvalidMotion, match="second clip contain NaN"):
        warp_path(np.zeros((4, 1)), np.full((4, 1), np.nan))
    with pytest.raises(InvalidParam, match="positive"):
        warp_path(A, B, spacing=0.0)
    with pytest.raises(InvalidMotion, match="path to 10 samples"):
        apply_path(np.zeros(9), warp_path(A, B))


def test_a_time_table_rises_on_both_sides():
    rng = np.random.default_rng(7)
    table = time_table(warp_path(wandering(rng, 50), wandering(rng, 30)))
    assert np.all(np.diff(table, axis=0) > 0)
    assert table[0].tolist() == [0, 0]
    assert table[-1].tolist() == [49, 29]


@pytest.mark.req("bruderlin", 55)
def test_ten_seconds_of_a_whole_body_take_less_than_two():
    rng = np.random.default_rng(8)
    a, b = (wandering(rng, 600, 70) for _ in range(2))
    start = time.perf_counter()
    warp_path(a, b)
    assert time.perf_counter() - start < 2.0


def test_moments_of_equal_motions_are_equal(slow):
    table = moments(slow, slow)
    assert np.abs(table[:, 0] - table[:, 1]).max() < 1e-9
    assert table[-1, 0] == pytest.approx(slow.duration)


@pytest.mark.parametrize("footfalls", [0.0, 6.0])
def test_a_known_change_of_pace_is_found_again(slow, footfalls):
    own = np.linspace(0.0, slow.duration, 200)
    other = 0.8 * own + 0.12 * np.sin(2 * np.pi * own / slow.duration)
    bent = retime(replace(slow, curves={}, events=()), np.stack([other, own], axis=1))
    table = moments(replace(slow, curves={}, events=()), bent, AlignParams(footfalls=footfalls))
    found = np.interp(own, *table.T)
    assert np.abs(found - other).max() < 0.03
    assert np.abs(other - 0.8 * own).max() > 0.1


@pytest.mark.req("bruderlin", 48)
def test_own_poses_at_the_pace_of_another(slow, fast):
    out = timewarp(slow, fast)
    assert len(out) == len(fast)
    assert out.fps == slow.fps
    # every pose is one of its own, in order, and so is its way over the ground
    seen = [FIGURE.joint(role) for role in ("thigh_L", "shin_R", "upper_arm_L", "spine", "foot_R")]
    round_ = slow.rotations[:72, seen]
    own = quat.distance(out.rotations[:, None, seen], round_[None]).max(axis=-1)
    assert own.min(axis=1).max() < 0.08
    assert np.linalg.norm(out.roots[-1] - slow.roots[-1]) < 1e-6
    mine, theirs = ([e.time for e in m.events if e.name.startswith("heel_strike")] for m in (out, fast))
    assert np.array(mine[:8]) == pytest.approx(np.array(theirs[:8]), abs=0.04)


@pytest.mark.req("bruderlin", 48)
def test_poses_of_another_at_the_own_pace(slow, fast):
    out = timewarp(slow, fast, TimewarpParams(pace=0.0, poses=1.0, plant=False))
    assert len(out) == len(slow)
    seen = [FIGURE.joint(role) for role in ("thigh_L", "shin_R", "upper_arm_L", "spine", "foot_R")]
    other = quat.distance(out.rotations[:, None, seen], fast.rotations[None, :54, seen]).max(axis=-1)
    assert other.min(axis=1).max() < 0.1


@pytest.mark.req("bruderlin", 48)
def test_half_the_pace_is_half_way_between_the_lengths(slow, fast):
    out = timewarp(slow, fast, TimewarpParams(pace=0.5))
    assert out.duration == pytest.approx((slow.duration + fast.duration) / 2, abs=0.5 / slow.fps)
    assert np.linalg.norm(out.roots[-1] - slow.roots[-1]) < 1e-6


def test_nothing_of_another_changes_nothing(slow, fast):
    for params in (TimewarpParams(pace=0.0), TimewarpParams(influence=0.0)):
        out = timewarp(slow, fast, params)
        assert np.abs(out.roots - slow.roots).max() < 1e-9
        assert quat.distance(out.rotations, slow.rotations).max() < 1e-7
        assert [e.time for e in out.events] == pytest.approx([e.time for e in slow.events])
        assert np.array_equal(out.curves["contact/foot_L"], slow.curves["contact/foot_L"])


def test_only_the_scope_takes_poses(slow, fast):
    bent = slow.rotations.copy()
    bent[:] = quat.multiply(bent, quat.about(np.array([1.0, 0, 0]), 0.3))
    other = replace(slow, rotations=bent)
    out = timewarp(slow, other, TimewarpParams(pace=0.0, poses=1.0, scope="arms", plant=False))
    arms = [j for role in ("upper_arm_L", "forearm_R") for j in FIGURE.chain(role)]
    assert quat.distance(out.rotations[:, arms], bent[:, arms]).max() < 1e-6
    legs = [j for role in ("thigh_L", "shin_R") for j in FIGURE.chain(role)]
    assert quat.distance(out.rotations[:, legs], slow.rotations[:, legs]).max() < 1e-6
    assert np.abs(out.roots - slow.roots).max() < 1e-6


def test_a_part_of_the_time_takes_the_pace(slow, fast):
    params = TimewarpParams(range="part", begin=0.0, end=slow.duration / 2, soft=0.1)
    out = timewarp(slow, fast, params)
    saved = (slow.duration - fast.duration) / 2
    assert out.duration == pytest.approx(slow.duration - saved, abs=0.1)
    # the other half keeps its own, to the part of a sample by which it comes earlier
    assert quat.distance(out.rotations[-60:], slow.rotations[-60:]).max() < 0.06


def test_planted_feet_stay_when_poses_are_mixed(slow, fast):
    out = timewarp(slow, fast, TimewarpParams(pace=0.5, poses=0.5))
    assert max(s.travel for s in slide(out)) < 1e-3


def test_a_curve_drawn_by_hand_is_followed(slow, fast):
    curve = ((0.0, 0.0), (1.0, 0.5), (slow.duration, fast.duration))
    out = timewarp(slow, fast, TimewarpParams(curve=curve))
    assert quat.distance(out.rotations[round(0.5 * out.fps)], slow.rotations[round(1.0 * slow.fps)]).max() < 1e-3
    for wrong, words in (
        (((0.0, 0.0), (1.0, 1.0), (0.5, 2.0)), "increase"),
        (((0.0, 0.0), (90.0, 1.0)), "within"),
        (((0.0, 0.0),), "two or more"),
    ):
        with pytest.raises(InvalidParam, match=words):
            timewarp(slow, fast, TimewarpParams(curve=wrong))


def test_a_curve_that_was_found_may_be_rounded(slow, fast):
    table = np.round(moments(slow, fast), 3)
    out = timewarp(slow, fast, TimewarpParams(curve=table.tolist()))
    found = timewarp(slow, fast)
    assert len(out) == len(found)
    assert np.abs(out.roots - found.roots).max() < 5e-3


def test_time_does_not_run_backwards(slow):
    other = retime(slow, ((0.0, 0.0), (3.0, 0.5), (3.2, slow.duration)))
    with pytest.raises(InvalidParam, match="backwards"):
        timewarp(slow, other, TimewarpParams(pace=2.0))


def test_clips_of_different_rates_are_compared_in_seconds(slow, fast):
    other = resample(fast, 24.0)
    out = timewarp(slow, other)
    assert out.fps == slow.fps
    assert out.duration == pytest.approx(other.duration, abs=0.5 / slow.fps)


def test_a_single_frame_has_all_moments(slow):
    still = replace(slow, roots=slow.roots[:1], rotations=slow.rotations[:1], curves={}, events=())
    assert len(timewarp(slow, still)) == 1
    out = timewarp(still, slow, TimewarpParams(pace=1.0))
    assert len(out) == len(slow)
    assert quat.distance(out.rotations, still.rotations).max() < 1e-9


def test_other_rigs_are_refused(slow):
    with pytest.raises(InvalidMotion, match="different rigs"):
        timewarp(slow, feet.standing(feet.body()))


def test_retiming_by_the_identity_changes_nothing(slow):
    out = retime(slow, ((0.0, 0.0), (slow.duration, slow.duration)))
    assert np.array_equal(out.roots, slow.roots)
    assert quat.distance(out.rotations, slow.rotations).max() < 1e-7


def test_retiming_takes_events_curves_and_travel_along(slow):
    out = retime(slow, ((0.0, 0.0), (2 * slow.duration, slow.duration)))
    assert len(out) == 2 * len(slow) - 1
    assert [e.time for e in out.events] == pytest.approx([2 * e.time for e in slow.events])
    assert np.array_equal(out.curves["contact/foot_L"][::2], slow.curves["contact/foot_L"])
    assert np.array_equal(out.roots[::2], slow.roots)


def test_retiming_holds_and_eases_without_a_jump(slow):
    line = np.column_stack([slow.times, 0 * slow.times, 0 * slow.times + 1.0])
    out = retime(replace(slow, roots=line), ((0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0)))
    held = out.roots[round(1.1 * out.fps) : round(1.9 * out.fps)]
    assert np.abs(held - held[0]).max() < 1e-9
    speeds = np.linalg.norm(np.diff(out.roots, axis=0), axis=1) * out.fps
    assert np.abs(np.diff(speeds)).max() < 0.2


def test_a_retimed_loop_is_a_loop(slow):
    count = round(1.2 * 60)
    loop = Motion(FIGURE, 60.0, slow.roots[:count], slow.rotations[:count], loop=True)
    out = retime(loop, ((0.0, 0.0), (0.7, 0.4), (1.5, loop.duration)))
    assert out.loop
    assert out.duration == pytest.approx(1.5)
    part = retime(loop, ((0.0, 0.0), (1.0, 0.6)))
    assert not part.loop
    assert np.abs(base.round_later(out).roots[0] - base.round_later(loop).roots[0]).max() < 0.02


def test_curves_that_are_none_are_refused(slow):
    for wrong, words in (
        (((0.0, 0.0),), "two or more"),
        (((0.0, 0.0), (0.0, 1.0)), "must increase"),
        (((0.0, 1.0), (1.0, 0.0)), "backwards"),
        (((0.0, 0.0), (1.0, 99.0)), "within 0 and"),
        (((0.0, 0.0), (1.0, np.nan)), "rows"),
    ):
        with pytest.raises(InvalidParam, match=words):
            retime(slow, wrong)


def test_poses_of_the_arms_alone_leave_the_feet(slow):
    # feet that slide: they are the clip's own
    roots = slow.roots + np.linspace(0.0, 0.3, len(slow))[:, None] * (1.0, 0.0, 0.0)
    sliding = replace(slow, roots=roots)
    out = timewarp(sliding, slow, TimewarpParams(pace=0.0, poses=1.0, scope="arms"))
    legs = [sliding.skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot") for side in "LR"]
    assert quat.distance(out.rotations[:, legs], sliding.rotations[:, legs]).max() < 1e-6
    assert np.abs(out.roots - sliding.roots).max() < 1e-6


def test_retiming_by_parameters(slow):
    out = retimed(slow, TimewarpParams(curve=((0.0, 0.0), (slow.duration, 2.0))))
    assert out.duration == pytest.approx(2.0)
    half = retimed(slow, TimewarpParams(curve=((0.0, 0.0), (slow.duration, 2.0)), influence=0.5))
    assert half.duration == pytest.approx((2.0 + slow.duration) / 2, abs=0.01)
    with pytest.raises(InvalidParam, match="give a source"):
        retimed(slow, TimewarpParams())
    with pytest.raises(InvalidParam, match=r"curve = \(\(0.0, 0.0\), \(1.0, 1.0\), \(0.5, 2.0\)\): .* backwards"):
        retimed(slow, TimewarpParams(curve=((0.0, 0.0), (1.0, 1.0), (0.5, 2.0))))


def test_times_beyond_a_clip_hold_its_ends(slow):
    out = played(slow, np.array([-1.0, 0.0, slow.duration, slow.duration + 5.0]))
    assert np.array_equal(out.roots[0], slow.roots[0])
    assert np.array_equal(out.roots[-1], slow.roots[-1])


def test_recordings_warped_onto_themselves_stay_as_they_are(data):
    for path in sorted((data / "mocap" / "cmu").glob("*.bvh")):
        motion = feet.cmu(data, path.stem)
        out = timewarp(motion, motion, TimewarpParams(pace=1.0, poses=0.5, plant=False))
        assert len(out) == len(motion)
        assert np.abs(out.roots - motion.roots).max() < 1e-6, path.stem
        assert quat.distance(out.rotations, motion.rotations).max() < 1e-6, path.stem
