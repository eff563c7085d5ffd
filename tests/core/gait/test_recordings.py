"""The recorded walks and runs show what is known of human gait, so that a generated one can be held against them."""

import numpy as np
import pytest
from feet import body, steps
from troupe.core import Motion
from troupe.core.maths import quat

from .recordings import FITTED, POINTS, RUNS, WALKS, levelled, load, measured


@pytest.fixture(scope="module")
def clips(data):
    return load(data)


@pytest.fixture(scope="module")
def walks(clips):
    return [clips[name] for name in WALKS]


@pytest.fixture(scope="module")
def runs(clips):
    return [clips[name] for name in RUNS]


def limbs(motion, arms=("upper_arm", "forearm")):
    """The two-legged test body has no arms: let its spine play them, unmoved."""
    roles = {**motion.skeleton.roles, **{f"{part}_{side}": (1,) for part in arms for side in "LR"}}
    skeleton = type(motion.skeleton)(
        **{k: getattr(motion.skeleton, k) for k in ("names", "parents", "offsets", "tips", "limits")}, roles=roles
    )
    return Motion(skeleton, motion.fps, motion.roots, motion.rotations)


def test_every_clip_has_a_full_stride(clips):
    assert set(clips) == {*WALKS, *RUNS}
    assert set(FITTED) < set(WALKS)
    assert sum(clip.strides for clip in clips.values()) >= 20
    for clip in clips.values():
        for name, curve in clip.curves.items():
            assert curve.shape == clip.spread[name].shape == (POINTS,), name
            assert np.isfinite(curve).all(), (clip.name, name)


def test_a_stride_ends_where_it_began(clips):
    for clip in clips.values():
        for name in ("hip_flexion", "knee_flexion", "ankle_flexion", "foot_pitch"):
            apart = abs(clip.curves[name][-1] - clip.curves[name][0])
            assert apart < 0.15 * np.ptp(clip.curves[name]), (clip.name, name, apart)


def test_knees_of_walks_bend_on_loading_and_most_in_swing(walks):
    for clip in walks:
        knee = clip.curves["knee_flexion"]
        assert 60 < knee.max() < 80, clip.name
        assert 66 <= knee.argmax() <= 80, clip.name
        assert knee[5:30].max() > knee[30:60].min() + 5, clip.name


def test_feet_of_walks_strike_heel_first_and_push_off_with_the_toes(walks):
    for clip in walks:
        pitch, off = clip.curves["foot_pitch"], round(100 * clip.scalars["stance"])
        assert 10 < pitch[0] < 35, clip.name
        assert abs(pitch[15:30]).max() < 12, clip.name
        assert pitch[off] < -40, clip.name
        assert abs(pitch.argmin() - off) <= 10, clip.name


def test_legs_trunk_and_arms_swing_in_the_order_of_human_gait(walks):
    for clip in walks:
        curves = clip.curves
        assert 45 <= curves["ankle_forward"].argmin() <= 68, clip.name
        assert 25 <= curves["pelvis_sway"].argmax() <= 50, clip.name  # over the foot that bears
        assert curves["pelvis_yaw"][50] > curves["pelvis_yaw"][0] + 3, clip.name  # the hip of the leading leg leads
        assert 40 <= curves["shoulder_flexion"].argmax() <= 58, clip.name  # against the leg
        bob = np.abs(np.fft.rfft(curves["pelvis_height"][:-1]))
        assert bob[2] == max(bob[1:]), clip.name  # once a step


def test_faster_walks_have_less_stance_and_longer_strides(walks):
    speed, stance, stride = (
        np.array([clip.scalars[k] for clip in walks]) for k in ("froude", "stance", "stride_length")
    )
    assert np.corrcoef(speed, stance)[0, 1] < -0.85
    assert np.corrcoef(speed, stride)[0, 1] > 0.85
    assert stance.min() > 0.5
    assert stance.max() < 0.7
    assert min(clip.scalars["double_support"] for clip in walks) > 0.05


def test_runs_fly_and_fold_the_knee(runs):
    for clip in runs:
        assert 0.25 < clip.scalars["stance"] < 0.4
        assert clip.scalars["double_support"] < -0.2
        assert 95 < clip.curves["knee_flexion"].max() < 125
        assert clip.curves["elbow_flexion"].min() > 60
        assert 0.08 < clip.scalars["pelvis_bob"] < 0.2


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_a_walk_of_known_timing_is_measured_as_it_was_made(fps):
    motion, _ = steps(body(), seconds=6.0, fps=fps, speed=0.9, period=1.1, stance=0.6)
    found = measured(limbs(motion))
    size = motion.skeleton.leg_length() / 0.86
    assert found.speed == pytest.approx(0.9 * size, rel=0.02)
    assert found.scalars["stride_time"] == pytest.approx(1.1, abs=0.01)
    assert found.scalars["stance"] == pytest.approx(0.6, abs=0.06)
    assert found.scalars["step_width"] * found.leg == pytest.approx(0.2 * size, abs=0.01)
    assert np.abs(found.curves["foot_pitch"]).max() < 0.1
    assert np.abs(found.curves["pelvis_surge"]).max() < 0.005


def test_a_sloping_floor_is_levelled():
    motion, _ = steps(body(), seconds=4.0)
    slope = quat.about(np.array([1.0, 0.0, 0.0]), np.radians(1.5))
    hips = quat.multiply(slope, motion.rotations[:, :1])
    rotations = np.concatenate([hips, motion.rotations[:, 1:]], axis=1)
    found = levelled(Motion(motion.skeleton, motion.fps, quat.rotate(slope, motion.roots), rotations))
    assert np.ptp(found.roots[:, 2]) < 0.002
    assert quat.distance(found.rotations[:, 0], motion.rotations[:, 0]).max() < np.radians(0.05)


def test_a_motion_without_a_full_stride_is_refused():
    motion, _ = steps(body(), seconds=0.8)
    with pytest.raises(ValueError, match="no full stride"):
        measured(limbs(motion))
