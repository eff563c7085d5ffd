"""The order in which parts of a body are fastest is measured, learned and put onto another motion."""

import numpy as np
import pytest
from troupe.core import InvalidParam, Motion
from troupe.core.figure import acts
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.emotion import EmotionParams, emote, plan
from troupe.core.filters.feeling import Feeling, extract, mean_shifts
from troupe.core.filters.periods import effector_path, with_periods
from troupe.core.filters.phases import _bent, lags, level_peaks, shifted
from troupe.core.formats import feeling as files
from troupe.core.maths import quat
from troupe.core.maths.ramp import smootherstep

BODY = mannequin()
LATE = EmotionParams(pace=False, amplitude=False, phase=True, plant=False)
ELBOWS = 2


def reach(shoulder=0.5, elbow=0.5, wrist=0.5, count=121, fps=60.0):
    """A reach of one period in which each joint of the right arm is fastest at a part of it."""
    rotations = np.tile(quat.IDENTITY, (count, len(BODY), 1))
    time = np.linspace(0.0, 1.0, count)
    for role, angle, peak in (("upper_arm_R", 1.2, shoulder), ("forearm_R", 0.9, elbow), ("hand_R", 0.5, wrist)):
        turn = -angle * smootherstep((time - peak) / 0.5 + 0.5)
        rotations[:, BODY.joint(role)] = quat.about(np.array([1.0, 0.0, 0.0]), turn)
    still = np.tile(BODY.offsets[0], (count, 1))
    return with_periods(Motion(BODY, fps, still, rotations, base=np.zeros((count, 3))), [])


def whole(motion):
    return np.array([0, len(motion) - 1])


def test_levels_are_fastest_where_they_are():
    motion = reach(0.35, 0.5, 0.65)
    found = level_peaks(motion, whole(motion))[0]
    assert np.isnan(found[0]), "the trunk rests"
    assert found[1:] == pytest.approx([0.35, 0.5, 0.65], abs=0.01)
    path = effector_path(motion, "hand_R")[1]
    behind = lags(motion, whole(motion), path)[0]
    assert behind[3] - behind[1] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("way", [0.15, -0.15, 0.05])
def test_a_shift_moves_the_peak_and_leaves_the_ends(way):
    motion = reach()
    late = shifted(motion, whole(motion), np.array([[0.0, 0.0, way, 0.0]]))
    before, after = (level_peaks(m, whole(m))[0] for m in (motion, late))
    assert after[ELBOWS] - before[ELBOWS] == pytest.approx(way, abs=0.01)
    assert after[[1, 3]] == pytest.approx(before[[1, 3]], abs=1e-9)
    assert np.abs(late.rotations[[0, -1]] - motion.rotations[[0, -1]]).max() < 1e-12
    assert np.array_equal(late.roots, motion.roots)


def test_no_shift_changes_nothing():
    motion = reach(0.4, 0.6, 0.7)
    same = shifted(motion, whole(motion), np.zeros((1, 4)))
    assert np.abs(same.rotations - motion.rotations).max() < 1e-12


@pytest.mark.parametrize("peak", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("way", [-2.0, -0.3, 0.0, 0.2, 2.0])
def test_time_always_goes_forward(peak, way):
    time = np.linspace(0.0, 1.0, 500)
    bent = _bent(time, peak, way)
    assert (bent[0], bent[-1]) == (0.0, 1.0)
    assert np.diff(bent).min() > 0.0
    if way == 0.0:
        assert np.abs(bent - time).max() < 1e-12


def test_a_learned_order_is_put_onto_the_neutral_motion():
    neutral, emotional = reach(), reach(elbow=0.62)
    learned = extract(neutral, emotional, effector="hand_R")
    # the hand itself is a little later too, so that everything else comes earlier against it
    assert learned.shifts[0, ELBOWS] - learned.shifts[0, 1] == pytest.approx(0.12, abs=0.01)
    done = emote(neutral, learned, LATE)
    after, wanted = (level_peaks(m, whole(m))[0] for m in (done, emotional))
    assert after[ELBOWS] - after[1] == pytest.approx(wanted[ELBOWS] - wanted[1], abs=0.01)
    half = plan(neutral, learned, EmotionParams(phase=True, intensity=0.5))
    assert half.shifts[0, ELBOWS] == pytest.approx(learned.shifts[0, ELBOWS] / 2)
    assert any("fastest later" in note for note in half.notes)
    assert len(done) == len(neutral)


def test_the_order_stays_unless_it_is_asked_for():
    neutral, emotional = reach(), reach(elbow=0.62)
    learned = extract(neutral, emotional, effector="hand_R")
    off = emote(neutral, learned, EmotionParams(pace=False, amplitude=False, plant=False))
    assert np.array_equal(off.rotations, neutral.rotations)


def test_a_feeling_that_does_not_know_the_order_leaves_it():
    knock = acts.knock(BODY)
    with_it, without = (
        emote(knock, files.shipped("angry"), EmotionParams(pace=False, phase=phase)) for phase in (True, False)
    )
    assert np.array_equal(with_it.rotations, without.rotations)


def test_the_order_is_saved_and_loaded():
    learned = extract(reach(), reach(elbow=0.62), effector="hand_R")
    again = files.from_text(files.to_text(learned))
    assert np.allclose(again.shifts, learned.shifts, equal_nan=True, atol=1e-8)
    assert "later" not in files.to_text(files.shipped("sad"))
    assert np.isnan(files.shipped("sad").shifts).all()


def test_means_are_weighted_by_the_lengths_of_periods():
    even = np.linspace(0.0, 1.0, 5)
    shifts = [[0.1, np.nan, np.nan, 0.0], [0.4, np.nan, 0.2, 0.3]]
    made = Feeling("made", even, even, 1.0, 1.0, [2.0, 1.0], np.ones((2, 4, 2)), shifts=shifts)
    assert mean_shifts(made) == pytest.approx([0.2, np.nan, 0.2, 0.1], nan_ok=True)


@pytest.mark.parametrize("shifts", [[[0.1, 0.0]], [[3.0, 0.0, 0.0, 0.0]], np.zeros((2, 4))])
def test_shifts_that_do_not_fit_are_refused(shifts):
    even = np.linspace(0.0, 1.0, 5)
    with pytest.raises(InvalidParam, match="shifts"):
        Feeling("made", even, even, 1.0, 1.0, [1.0], np.ones((1, 4, 2)), shifts=shifts)
