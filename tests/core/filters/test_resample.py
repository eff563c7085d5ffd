"""Resampling and cutting: time is kept, coinciding samples are kept, loops close."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import Event, InvalidParam, Motion, Skeleton
from troupe.core.filters.resample import resample, slice
from troupe.core.maths import quat

UP = np.array([0.0, 0.0, 1.0])
SKELETON = Skeleton(
    names=("hips", "chest", "head"),
    parents=np.array([-1, 0, 1]),
    offsets=np.array([[0, 0, 1.0], [0, 0, 0.3], [0, 0, 0.3]]),
    tips=np.tile([0, 0, 0.2], (3, 1)),
    roles={"hips": (0,), "spine": (1,), "head": (2,)},
    limits=np.tile([-np.pi, np.pi], (3, 3, 1)),
)


def at_times(t: np.ndarray, fps: float, loop: bool = False, travel: float = 1.2, turn: float = 0.4) -> Motion:
    """A smooth motion of period 1 s, walking on an arc at `travel` m/s and `turn` rad/s."""
    w = 2 * np.pi * t
    heading = turn * t
    radius = travel / turn if turn else 0.0
    place = np.stack([radius * (1 - np.cos(heading)), -radius * np.sin(heading)], axis=1) if turn else None
    if place is None:
        place = np.stack([0 * t, -travel * t], axis=1)
    local = quat.exp(np.stack([0.2 * np.sin(w), 0.1 * np.cos(w), 0.1 * np.sin(2 * w)], axis=1))
    arm = quat.exp(np.stack([np.sin(w), 0.3 * np.cos(w), 0.5 * np.sin(w)], axis=1))
    rotations = np.stack([quat.multiply(quat.about(UP, heading), local), arm, quat.conjugate(arm)], axis=1)
    return Motion(
        skeleton=SKELETON,
        fps=fps,
        roots=np.column_stack([place, 1 + 0.03 * np.cos(2 * w)]),
        rotations=quat.continuous(rotations),
        base=np.column_stack([place, heading]),
        curves={"contact/foot_L": (np.sin(w) > 0).astype(float), "shape/smile": np.sin(w)},
        events=(Event(0.25, "heel_strike_L"), Event(0.6, "cue", {"n": 1})),
        loop=loop,
    )


def clip(fps: float, seconds: float = 2.0) -> Motion:
    return at_times(np.arange(round(seconds * fps) + 1) / fps, fps)


def errors(got: Motion, truth: Motion) -> tuple[float, float]:
    return np.abs(got.roots - truth.roots).max(), quat.distance(got.rotations, truth.rotations).max()


def test_the_same_rate_is_the_same_motion():
    motion = clip(30)
    assert resample(motion, 30) is motion


@pytest.mark.parametrize("cubic", [False, True])
def test_a_whole_fraction_of_the_rate_keeps_every_nth_sample_exactly(cubic):
    motion = clip(120)
    got = resample(motion, 24, cubic)
    assert np.allclose(got.roots, motion.roots[::5], atol=1e-15)
    assert np.abs(np.abs(quat.dot(got.rotations, motion.rotations[::5])) - 1).max() < 1e-15
    assert np.array_equal(got.curves["contact/foot_L"], motion.curves["contact/foot_L"][::5])
    assert got.duration == motion.duration


@pytest.mark.parametrize("cubic", [False, True])
def test_up_and_back_down_gives_the_motion_back(cubic):
    motion = clip(24)
    back = resample(resample(motion, 120, cubic), 24, cubic)
    assert len(back) == len(motion)
    assert max(errors(back, motion)) < 1e-14
    assert np.allclose(back.base, motion.base, atol=1e-14)


@pytest.mark.parametrize("source", [120.0, 120000 / 1001, 24000 / 1001, 1 / 0.0083333, 59.94, 25.0])
@pytest.mark.parametrize("target", [24.0, 25.0, 30.0, 60.0, 24000 / 1001])
def test_time_is_kept_between_any_two_rates(source, target):
    motion = clip(source, 5.0)
    got = resample(motion, target)
    assert got.fps == target
    assert abs(got.duration - motion.duration) <= 0.5 / target + 1e-12
    # what is there at a time is what was there, to the curvature between samples
    truth = at_times(got.times, target)
    inside = got.times <= motion.duration
    assert np.abs(got.roots - truth.roots)[inside].max() < 0.03 * (24 / source) ** 2
    assert got.events == motion.events


def test_cubic_is_more_faithful_than_straight_lines_on_smooth_motion():
    motion = clip(24)
    truth = at_times(np.arange(241) / 120, 120)
    inner = np.s_[10:-10]  # slopes at the very ends are one-sided

    def worst(cubic):
        got = resample(motion, 120, cubic)
        return (
            np.abs(got.roots - truth.roots)[inner].max(),
            quat.distance(got.rotations, truth.rotations)[inner].max(),
        )

    straight, bent = worst(False), worst(True)
    assert bent[0] < straight[0] / 5
    assert bent[1] < straight[1] / 5
    assert straight[1] < 0.02


def test_straight_interpolation_never_leaves_the_range_of_its_samples():
    jump = clip(24)
    got = resample(jump, 97)
    for name, curve in got.curves.items():
        assert jump.curves[name].min() <= curve.min() <= curve.max() <= jump.curves[name].max()
    assert set(np.unique(resample(jump, 48).curves["contact/foot_L"])) <= {0.0, 0.5, 1.0}
    assert resample(jump, 97, cubic=True).curves["contact/foot_L"].max() <= 1.0


def test_rotations_stay_unit_and_sign_continuous_even_if_the_source_was_not():
    motion = clip(24)
    signs = np.where(np.arange(len(motion)) % 3, 1.0, -1.0)[:, None, None]
    broken = replace(motion, rotations=motion.rotations * signs)
    for cubic in (False, True):
        got = resample(broken, 60, cubic)
        assert np.abs(np.linalg.norm(got.rotations, axis=-1) - 1).max() < 1e-14
        assert quat.dot(got.rotations[1:], got.rotations[:-1]).min() > 0
        assert quat.distance(got.rotations, resample(motion, 60, cubic).rotations).max() < 1e-7


@pytest.mark.parametrize("cubic", [False, True])
@pytest.mark.parametrize(("travel", "turn"), [(0.0, 0.0), (1.2, 0.0), (1.2, 0.4), (0.0, 0.7), (1.0, 2 * np.pi)])
@pytest.mark.parametrize("with_base", [False, True])
def test_a_loop_is_sampled_across_its_seam(cubic, travel, turn, with_base):
    motion = at_times(np.arange(30) / 30, 30, True, travel, turn)
    truth = at_times(np.arange(120) / 120, 120, True, travel, turn)
    if not with_base:
        motion = replace(motion, base=None)
    got = resample(motion, 120, cubic)
    assert got.loop
    assert len(got) == 120
    assert got.duration == motion.duration
    assert np.abs(got.roots - truth.roots).max() < 0.03
    assert np.degrees(quat.distance(got.rotations, truth.rotations)).max() < 2.0
    if with_base:
        assert np.abs(got.base - truth.base).max() < 0.02


def test_a_loop_gets_whole_samples_and_its_events_keep_their_phase():
    motion = at_times(np.arange(25) / 24, 24, True, 0.0, 0.0)  # 31.25 samples at 30 fps
    got = resample(motion, 30)
    assert len(got) == 31
    assert np.isclose(got.events[0].time / got.duration, motion.events[0].time / motion.duration, atol=1e-15)
    assert [e.name for e in got.events] == ["heel_strike_L", "cue"]


def test_a_loop_back_at_its_rate_is_itself():
    motion = at_times(np.arange(24) / 24, 24, True)
    back = resample(resample(motion, 96), 24)
    assert max(errors(back, motion)) < 1e-13


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("cubic", [False, True])
def test_very_short_motions_survive(loop, count, cubic):
    motion = at_times(np.arange(count) / 24, 24, loop, 0.0, 0.0)
    for fps in (5.0, 24.5, 120.0):
        got = resample(motion, fps, cubic)
        assert np.allclose(got.roots[0], motion.roots[0], atol=1e-12)
        assert quat.distance(got.rotations[0], motion.rotations[0]).max() < 1e-7
        assert abs(got.duration - motion.duration) <= max(0.5, loop) / fps


def test_mask_and_skeleton_are_kept_and_base_stays_absent():
    motion = replace(clip(24), mask=np.array([True, False, True]), base=None)
    got = resample(motion, 30)
    assert got.mask.tolist() == [True, False, True]
    assert got.skeleton is motion.skeleton
    assert got.base is None


@pytest.mark.parametrize("fps", [0.0, -24.0, float("nan"), float("inf")])
def test_impossible_rates_are_refused(fps):
    with pytest.raises(InvalidParam, match="fps"):
        resample(clip(24), fps)


def test_slice_counts_both_ends_and_moves_time_to_zero():
    motion = clip(24)
    got = slice(motion, 0.25, 1.0)
    assert len(got) == 19
    assert np.array_equal(got.roots, motion.roots[6:25])
    assert np.array_equal(got.curves["shape/smile"], motion.curves["shape/smile"][6:25])
    assert [(e.name, round(e.time, 9)) for e in got.events] == [("heel_strike_L", 0.0), ("cue", 0.35)]


def test_slice_of_everything_is_everything_and_no_loop():
    motion = at_times(np.arange(24) / 24, 24, True)
    got = slice(motion, 0.0, 23 / 24)
    assert not got.loop
    assert np.array_equal(got.rotations, motion.rotations)
    assert got.events == motion.events


@pytest.mark.parametrize(("start", "end"), [(-0.1, 1.0), (1.0, 0.5), (0.0, 2.5), (float("nan"), 1.0)])
def test_slice_refuses_what_lies_outside(start, end):
    with pytest.raises(InvalidParam, match="within 0 to 2 s"):
        slice(clip(24), start, end)
