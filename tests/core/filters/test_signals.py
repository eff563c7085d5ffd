"""A motion becomes signals that do not jump, and comes back from them as it was."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import A_POSE, Rig
from troupe.core.errors import InvalidMotion
from troupe.core.figure.stroll import walk
from troupe.core.filters.signals import BASE, FIRST, ROOT, columns, from_signals, rotation_vectors, to_signals
from troupe.core.kinematics import base as bases
from troupe.core.maths import quat
from troupe.core.motion import Event, Motion

SKELETON = Rig(A_POSE).cast().skeleton
JOINTS = len(SKELETON)


def still(count, fps=30.0):
    return Motion(SKELETON, fps, np.tile([0.0, 0.0, 0.9], (count, 1)), np.tile(quat.IDENTITY, (count, JOINTS, 1)))


def wandering(seed, count=90):
    """A body that turns over and over, every joint of it wide and smooth, walking in a curve."""
    rng = np.random.default_rng(seed)
    t = np.arange(count)[:, None, None] / count
    waves = sum(
        rng.normal(scale=0.7, size=(JOINTS, 3)) / k * np.sin(2 * np.pi * (k * t + rng.random((JOINTS, 3))))
        for k in (1, 2)
    )
    heading = 9.0 * t[:, 0, 0]
    base = np.column_stack([np.sin(heading), -np.cos(heading), heading])
    rotations = quat.exp(waves)
    roots, rotations[:, 0] = bases.compose(base, np.tile([0.0, 0.0, 0.9], (count, 1)), rotations[:, 0])
    return Motion(SKELETON, 30.0, roots, quat.continuous(rotations), base=base)


def spinning(turns, axis=(0.0, 0.0, 1.0), count=400):
    """The right hand alone, turning round and round."""
    motion = still(count)
    rotations = motion.rotations.copy()
    spin = np.linspace(0.0, 2 * np.pi * turns, count)
    rotations[:, SKELETON.joint("hand_R")] = quat.about(quat.unit(np.array(axis)), spin)
    return replace(motion, rotations=quat.continuous(rotations)), spin


@pytest.mark.req("bruderlin", 40)
@pytest.mark.parametrize("seed", range(4))
def test_what_becomes_signals_comes_back(seed):
    motion = wandering(seed)
    back = from_signals(motion, to_signals(motion))
    assert np.abs(back.rotations - motion.rotations).max() < 1e-9
    assert np.abs(back.roots - motion.roots).max() < 1e-9
    assert np.abs(back.base - motion.base).max() < 1e-9


def test_a_motion_without_a_base_comes_back_with_one():
    motion = replace(walk(SKELETON, cycles=3), base=None)
    back = from_signals(motion, to_signals(motion))
    assert np.abs(back.rotations - motion.rotations).max() < 1e-9 and np.abs(back.roots - motion.roots).max() < 1e-9
    assert np.abs(back.base - bases.derive(motion)).max() < 1e-9


@pytest.mark.req("bruderlin", 40)
@pytest.mark.parametrize("turns", [0.9, 1.7, 3.0, 5.3])
def test_a_spin_of_many_turns_is_a_straight_line(turns):
    motion, spin = spinning(turns, (0.3, -0.5, 0.8))
    signals = to_signals(motion)
    first = FIRST + 3 * SKELETON.joint("hand_R")
    angles = signals.values[:, first : first + 3] @ quat.unit(np.array([0.3, -0.5, 0.8]))
    assert np.allclose(np.diff(angles), spin[1], atol=1e-9)
    assert quat.distance(from_signals(motion, signals).rotations, motion.rotations).max() < 1e-7


def test_no_signal_jumps_where_its_joint_does_not():
    for seed in range(4):
        motion = wandering(seed)
        moved = quat.distance(motion.rotations[1:], motion.rotations[:-1]).max()
        assert np.abs(np.diff(to_signals(motion).values[:, FIRST:], axis=0)).max() < 3 * moved


def test_flipped_signs_change_no_signal():
    motion = wandering(1)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(motion), JOINTS, 1))
    flipped = replace(motion, rotations=motion.rotations * signs)
    assert np.allclose(to_signals(flipped).values, to_signals(motion).values, atol=1e-12)


def test_the_way_over_the_ground_is_apart_from_the_posture():
    motion = walk(SKELETON, cycles=3)
    place = bases.move(motion, 3.0, -2.0, 1.2)
    here, there = to_signals(motion), to_signals(place)
    assert np.allclose(here.values[:, 3:], there.values[:, 3:], atol=1e-9)
    assert not np.allclose(here.values[:, :3], there.values[:, :3], atol=0.1)


def test_a_column_moves_its_own_degree_of_freedom():
    motion = walk(SKELETON, cycles=2)
    signals = to_signals(motion)
    for k, column in enumerate(signals.columns):
        values = signals.values.copy()
        values[:, k] += 0.1
        moved = from_signals(motion, signals.with_values(values))
        turned = quat.distance(moved.rotations, motion.rotations).max(axis=0) > 1e-4
        if column.joint >= 0:
            assert np.flatnonzero(turned).tolist() == [column.joint] and np.allclose(moved.roots, motion.roots)
        else:
            assert turned.any() == (column.name == "base heading")
            assert np.abs(moved.roots - motion.roots).max() > 1e-3 or column.name == "base heading"


def test_columns_are_named_and_counted():
    found = columns(SKELETON)
    assert len(found) == FIRST + 3 * JOINTS
    assert [c.name for c in found[:FIRST]] == ["base x", "base y", "base heading", "root x", "root y", "root z"]
    assert [c.kind for c in found[:FIRST]] == ["length", "length", "angle", "length", "length", "length"]
    knee = SKELETON.joint("shin_L")
    assert [(c.joint, c.component, c.kind) for c in found if c.joint == knee] == [(knee, k, "angle") for k in range(3)]
    assert [c.joint for c in found[:FIRST]] == [BASE] * 3 + [ROOT] * 3


def test_a_mask_of_joints_chooses_their_columns():
    signals = to_signals(still(3))
    mask = np.zeros(JOINTS + 1, dtype=bool)
    mask[[2, -1]] = True
    assert np.flatnonzero(signals.where(mask)).tolist() == [3, 4, 5, FIRST + 6, FIRST + 7, FIRST + 8]
    assert np.flatnonzero(signals.where(mask, travel=True))[:3].tolist() == [0, 1, 2]


def test_signals_of_another_length_make_a_motion_of_that_length():
    motion = replace(walk(SKELETON, cycles=2), curves={}, events=(Event(0.1, "cue"),))
    motion = replace(motion, curves={"info/x": np.zeros(len(motion))})
    signals = to_signals(motion)
    half = from_signals(motion, signals.with_values(signals.values[::2]))
    assert len(half) == (len(motion) + 1) // 2 and not half.curves and len(half.events) == 1
    assert np.allclose(half.roots, motion.roots[::2], atol=1e-9)


def test_one_sample_and_constant_channels_are_signals_too():
    signals = to_signals(still(1))
    assert signals.values.shape == (1, FIRST + 3 * JOINTS) and np.allclose(signals.values[:, FIRST:], 0.0)
    assert np.ptp(to_signals(still(40)).values, axis=0).max() < 1e-12


def test_a_half_turn_from_the_mean_is_no_trouble():
    turns = quat.about(np.array([1.0, 0.0, 0.0]), np.array([0.0, np.pi, 0.0, -np.pi]))[:, None]
    assert np.isfinite(rotation_vectors(turns)).all()


def test_values_that_are_no_numbers_or_do_not_fit_are_refused():
    motion = still(4)
    signals = to_signals(motion)
    values = signals.values.copy()
    values[2, 5] = np.nan
    with pytest.raises(InvalidMotion, match="root z contains NaN"):
        signals.with_values(values)
    with pytest.raises(InvalidMotion, match="do not fit"):
        signals.with_values(values[:, :5])
    other = replace(signals, values=signals.values[:, :9], columns=signals.columns[:9])
    with pytest.raises(InvalidMotion, match="signals of 1 joints"):
        from_signals(motion, other)
