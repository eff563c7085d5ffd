"""Where the power of a motion lies, and when its joints are fastest."""

import numpy as np
import pytest
from feet import cmu
from troupe.core import InvalidParam, Motion
from troupe.core.figure import acts
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.spectrum import angular_speeds, effector_bands, peak_speeds, report, spectrum
from troupe.core.kinematics.anatomy import with_angles
from troupe.core.maths import quat

BODY = mannequin()


@pytest.mark.req("bruderlin", 68)
def test_power_above_ten_hertz_is_that_of_the_fast_part():
    t = np.arange(1200) / 120.0
    slow, fast = 0.3 * np.sin(2 * np.pi * 1.3 * t), 0.1 * np.sin(2 * np.pi * 17.0 * t)
    found = spectrum(np.stack([slow + fast, slow, fast], axis=-1), 120.0)
    assert found.above(10.0) == pytest.approx([0.1, 0.0, 1.0], abs=5e-3)
    peak = found.frequencies[found.power[:, 1].argmax()]
    assert peak == pytest.approx(1.3, abs=0.1)
    assert found.power[:, 0].sum() == pytest.approx((0.3**2 + 0.1**2) / 2, rel=0.02)


def test_travel_is_no_vibration():
    t = np.arange(300) / 30.0
    found = spectrum(np.stack([1.4 * t, np.full(300, 2.0)], axis=-1), 30.0)
    assert np.all(found.power == 0.0) and np.all(found.above() == 0.0)


def test_short_and_odd_signals():
    assert spectrum(np.ones((1, 3)), 30.0).above().tolist() == [0.0, 0.0, 0.0]
    for count in (2, 3, 8, 9):
        values = np.random.default_rng(count).normal(size=(count, 2))
        assert np.isfinite(spectrum(values, 30.0).power).all()
    with pytest.raises(InvalidParam, match=r"\(T, C\)"):
        spectrum(np.ones(9), 30.0)


@pytest.mark.req("bruderlin", 68)
def test_peaks_are_listed_in_the_order_in_which_joints_are_fastest():
    fps, count = 100.0, 201
    t = np.arange(count) / fps
    centres = {"upper_arm_R": 0.5, "forearm_R": 0.8, "hand_R": 1.1}
    angles = {r: np.stack([np.tanh((t - c) / 0.1), 0 * t, 0 * t], axis=-1) for r, c in centres.items()}
    rotations = with_angles(BODY, np.tile(quat.IDENTITY, (count, len(BODY), 1)), angles)
    motion = Motion(BODY, fps, np.zeros((count, 3)), rotations)
    peaks = peak_speeds(motion)
    assert [p.joint for p in peaks] == ["upper_arm.R", "forearm.R", "hand.R"]
    assert [p.time for p in peaks] == pytest.approx([0.5, 0.8, 1.1], abs=0.011)
    assert peaks[0].speed == pytest.approx(10.0, rel=0.01)
    early = {p.joint: p.time for p in peak_speeds(motion, 0.0, 0.9)}
    assert early["forearm.R"] == pytest.approx(0.8, abs=0.011) and early["hand.R"] == pytest.approx(0.9)
    lines = report(motion).splitlines()
    assert lines[0] == "Power above 10 Hz:" and any(line.startswith("  hand_R: ") for line in lines)
    assert [line.split()[2].rstrip(":") for line in lines[lines.index("Fastest turns:") + 1 :]] == [
        p.joint for p in peaks
    ]


def test_a_single_sample_turns_nothing():
    one = Motion(BODY, 30.0, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, len(BODY), 1)))
    assert peak_speeds(one) == [] and np.all(angular_speeds(one) == 0.0)
    with pytest.raises(InvalidParam, match="in order"):
        peak_speeds(one, 1.0, 0.0)


def test_our_own_knock_has_next_to_nothing_above_ten_hertz():
    bands = {b.name: b for b in effector_bands(acts.knock(BODY, fps=120.0))}
    assert bands["hand_R"].power > 0.01 and bands["hand_R"].above < 1e-3


@pytest.mark.req("bruderlin", 68)
@pytest.mark.parametrize("name", ["111_17", "26_09"])
def test_recorded_hands_have_little_power_above_ten_hertz(data, name):
    bands = {b.name: b for b in effector_bands(cmu(data, name))}
    assert max(b.above for role, b in bands.items() if role.startswith("hand")) < 0.02
