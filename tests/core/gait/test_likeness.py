"""Generated walks and runs held against recorded ones at the same speed and leg length, all else left as it is.

The walk's curves were fitted to the clips of FITTED; the others were kept out. Those of the run were fitted to both
clips of RUNS, for there are no others. What a clip shows that no person does, or that its own way of walking does, is
written down as an exception with its numbers.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from quality import soles
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.physique import measure
from troupe.core.gait.running import Run, RunStyle
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.motion import Path

from .recordings import FITTED, RUNS, WALKS, load, measured

JOINTS = ("hip", "knee", "ankle")
HELD_OUT = tuple(name for name in WALKS if name not in FITTED)
LEAST_ALIKE = {"hip": 0.9, "knee": 0.9, "ankle": 0.8}
"""Correlation of the curve over the cycle."""
FARTHEST, FARTHEST_MEAN = 8.0, 10.0
"""RMS after the mean is removed, and difference of the means [degrees]."""

EXCEPTIONS = {
    # the knee of the recording is held at exactly zero from 30 to 50 % of the stride, as by a joint limit
    ("104_02", "knee"): (0.87, 11.0, 10.0),
    # a clip made for a game: no list of the pelvis, knees that give by 40 degrees, stance of 56 % at 1.5 m/s
    ("olafhaag_walk01", "knee"): (0.65, 14.0, 10.0),
    ("olafhaag_walk01", "ankle"): (0.7, 8.0, 10.0),
}
"""Clip and joint to what holds for it: least correlation, largest RMS, largest difference of the means."""


def body(leg):
    """The mannequin with legs of a length [m]."""
    plain = mannequin()
    factor = leg / plain.leg_length()
    return replace(plain, offsets=factor * plain.offsets, tips=factor * plain.tips)


@cache
def generated(speed, leg, gait="auto", fps=120.0):
    """A steady walk or run straight ahead."""
    t = np.arange(round(7.0 * fps) + 1) / fps
    base = Path(np.column_stack([0 * t, -speed * t, 0 * t]), ("x", "y", "heading"), t)
    return travel(body(leg), base, TravelParams(gait=gait))


@pytest.fixture(scope="module")
def clips(data):
    return load(data)


def pair(clips, name):
    """The recording of a clip and what is made of the motion generated for it."""
    clip = clips[name]
    return clip, _measured(clip.speed, clip.leg, clip.kind)


@cache
def _measured(speed, leg, kind):
    return measured(generated(speed, leg, kind), "generated", kind, (0.5, 6.5))


def compare(clips, name, joint):
    """Correlation, RMS without the means and difference of the means of one curve [degrees]."""
    clip, made = pair(clips, name)
    a, b = (np.asarray(m.curves[f"{joint}_flexion"]) for m in (clip, made))
    apart = b - a
    return np.corrcoef(a, b)[0, 1], float(np.std(apart)), float(apart.mean())


def check(clips, name, joint):
    alike, rms, mean = compare(clips, name, joint)
    least, farthest, farthest_mean = EXCEPTIONS.get((name, joint), (LEAST_ALIKE[joint], FARTHEST, FARTHEST_MEAN))
    assert alike >= least, (alike, rms, mean)
    assert rms < farthest, (alike, rms, mean)
    assert abs(mean) < farthest_mean, (alike, rms, mean)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("name", FITTED)
def test_the_walk_is_like_those_it_was_fitted_to(clips, name, joint):
    check(clips, name, joint)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("name", HELD_OUT)
def test_the_walk_is_like_those_it_has_not_seen(clips, name, joint):
    check(clips, name, joint)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("name", RUNS)
def test_the_run_is_like_recorded_ones(clips, name, joint):
    check(clips, name, joint)


# --- times, heights and arms


def share(speed, leg=0.9):
    """Part of the stride that a foot is on the ground, by the contact curves."""
    motion = generated(speed, leg, "walk")
    return float(soles(motion).planted.any(axis=2)[60:-60].mean())


@pytest.mark.parametrize("speed", [1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
def test_feet_are_on_the_ground_for_58_to_64_percent_of_the_stride_at_usual_speeds(speed):
    assert 0.58 <= share(speed) <= 0.64


def test_the_share_of_stance_falls_with_speed():
    shares = [share(v) for v in (0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1)]
    assert (np.diff(shares) < 0).all(), shares
    assert shares[-1] > 0.5


def spread(clips, names, value):
    """Lowest and highest of a measure among clips, with the spread of their own strides."""
    low = min(clips[n].scalars[value] - clips[n].spread.get(value, 0.0) for n in names)
    high = max(clips[n].scalars[value] + clips[n].spread.get(value, 0.0) for n in names)
    return low, high


@pytest.mark.parametrize("name", WALKS)
def test_cadence_is_within_the_spread_of_the_recordings(clips, name):
    """Cadences differ by a tenth between people at the same speed: the fitted trend with speed and its spread."""
    clip, made = pair(clips, name)
    unit = {n: clips[n].scalars["cadence"] * np.sqrt(clips[n].leg / 0.9) for n in WALKS}
    speed = np.array([clips[n].froude for n in WALKS])
    line = np.polyfit(speed, list(unit.values()), 1)
    off = np.abs(np.polyval(line, speed) - list(unit.values())).max()
    mine = made.scalars["cadence"] * np.sqrt(clip.leg / 0.9)
    assert abs(mine - np.polyval(line, clip.froude)) <= off, (mine, np.polyval(line, clip.froude), off)


@pytest.mark.parametrize("name", WALKS)
def test_the_pelvis_travels_up_and_down_within_the_spread_of_the_recordings(clips, name):
    _, made = pair(clips, name)
    low, high = spread(clips, WALKS, "pelvis_bob")
    assert low <= made.scalars["pelvis_bob"] <= high, (low, made.scalars["pelvis_bob"], high)


@pytest.mark.parametrize("name", WALKS)
def test_arms_swing_within_the_spread_of_the_recordings(clips, name):
    _, made = pair(clips, name)
    low, high = spread(clips, WALKS, "arm_swing")
    assert low <= made.scalars["arm_swing"] <= high, (low, made.scalars["arm_swing"], high)


@pytest.mark.parametrize("name", WALKS)
def test_stance_is_as_long_as_recorded(clips, name):
    clip, made = pair(clips, name)
    assert made.scalars["stance"] == pytest.approx(clip.scalars["stance"], abs=0.06)


@pytest.mark.parametrize("name", RUNS)
def test_runs_have_the_stance_bounce_and_arms_of_recorded_ones(clips, name):
    clip, made = pair(clips, name)
    assert made.scalars["stance"] == pytest.approx(clip.scalars["stance"], abs=0.08)
    assert made.scalars["double_support"] < -0.15
    assert made.scalars["pelvis_bob"] == pytest.approx(clip.scalars["pelvis_bob"], abs=0.02)
    assert made.scalars["knee_peak"] == pytest.approx(clip.scalars["knee_peak"], abs=8.0)


@pytest.mark.parametrize("name", RUNS)
def test_the_cadence_of_a_run_is_that_of_a_trained_runner(clips, name):
    """Both recorded runners take long slow steps, 154 and 160 a minute; the published relation gives 185 and 191."""
    clip, made = pair(clips, name)
    assert 1.0 < made.scalars["cadence"] / clip.scalars["cadence"] < 1.21


@pytest.mark.parametrize("name", RUNS)
def test_the_recorded_cadences_are_those_of_the_highest_skill(clips, name):
    """The published relation has long slow steps too: those of a skilled runner, which is not the default."""
    clip = clips[name]
    gait = Run(measure(body(clip.leg)), RunStyle(level=1.0))
    assert 60.0 * gait.stride(clip.speed).cadence == pytest.approx(clip.scalars["cadence"], rel=0.03)


def test_speeds_between_the_recorded_ones_have_curves_between_theirs():
    """No speed is a special case: all curves of the leg change steadily from slow to fast."""
    speeds = np.linspace(0.7, 2.0, 6)
    knees = np.array([_measured(float(v), 0.9, "walk").curves["knee_flexion"] for v in speeds])
    changes = np.abs(np.diff(knees, axis=0)).max(axis=1)
    assert changes.max() < 15.0, changes
