"""A motion is brought onto the floor, and its drift is taken out, without a change of its steps."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, solved, standing, steps
from troupe.core import InvalidMotion, InvalidParam
from troupe.core.filters.contacts import CURVES, contacts, heel_and_ball, sole_points
from troupe.core.filters.ground import drift, floor
from troupe.core.kinematics import base as bases
from troupe.core.kinematics import fk
from troupe.core.maths import quat

from .clips import CLIPS, alike, cleaned


def tilted(motion, axis, angle, lift=0.0):
    """The whole motion turned about a horizontal axis and lifted."""
    turn = quat.about(np.array(axis, dtype=float), angle)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    return replace(motion, roots=quat.rotate(turn, motion.roots) + (0.0, 0.0, lift), rotations=rotations)


def soles(motion):
    """Heights of the planted points of the soles, less their height in a standing body."""
    points, out = sole_points(motion), []
    for foot, names in enumerate(CURVES):
        heel, ball = heel_and_ball(motion.skeleton, "LR"[foot])
        for part, name in enumerate(names):
            low = (ball if part else heel)[2] - heel[2]
            out.append(points[motion.curves[name] > 0.5, foot, part, 2] - low)
    return np.concatenate(out)


def circling(speed=0.15):
    """Standing while the whole body slowly moves and turns."""
    motion = standing(body(), seconds=6.0)
    turn = quat.about(np.array([0.0, 0.0, 1.0]), speed * motion.times)
    rotations = motion.rotations.copy()
    rotations[:, 0] = turn
    away = np.stack([np.sin(0.2 * motion.times), 0.05 * motion.times, np.zeros(len(motion))], axis=-1)
    return replace(motion, roots=motion.roots + 0.2 * away, rotations=rotations)


def test_a_floor_recorded_askew_becomes_level():
    motion, _ = steps(body(), seconds=6.0)
    level = floor(motion)
    for angle, lift in ((0.03, 0.4), (-0.08, -1.0), (0.25, 0.0)):
        mended = floor(tilted(motion, (1.0, 0.0, 0.0), angle, lift))
        assert np.abs(soles(contacts(mended))).max() < 0.01
        assert np.abs(mended.roots[:, 2] - level.roots[:, 2]).max() < 0.01
        up = quat.rotate(mended.rotations[:, 0], np.array([0.0, 0.0, 1.0]))
        assert np.degrees(np.arccos(up[:, 2])).max() < 0.5


def test_a_level_motion_on_the_floor_stays_itself():
    motion, _ = steps(body())
    assert alike(floor(motion), motion) < 1e-3
    assert alike(floor(floor(motion)), floor(motion)) < 1e-6


def test_without_level_it_is_only_moved_up_or_down():
    motion = tilted(steps(body(), seconds=6.0)[0], (1.0, 0.0, 0.0), 0.05, 0.3)
    moved = floor(motion, level=False, height=1.5)
    assert np.array_equal(moved.rotations, motion.rotations)
    shift = moved.roots - motion.roots
    assert np.ptp(shift, axis=0).max() < 1e-12 and np.abs(shift[:, :2]).max() == 0.0
    assert np.median(soles(contacts(moved))) == pytest.approx(1.5, abs=0.05)


def test_a_straight_walk_on_unlike_feet_does_not_lean():
    motion, truth = steps(body(), seconds=6.0)
    ankles = fk.forward(motion.skeleton, motion.rotations, motion.roots)[0][:, [5, 9]].copy()
    ankles[:, 0, 2] += 0.015
    odd = solved(motion.skeleton, motion.roots, ankles)
    odd = replace(odd, curves={c: truth[:, k] for k, names in enumerate(CURVES) for c in names})
    up = quat.rotate(floor(odd).rotations[:, 0], np.array([0.0, 0.0, 1.0]))
    assert np.degrees(np.arccos(up[:, 2])).max() < 0.5


def test_the_base_goes_along():
    motion = bases.based(tilted(steps(body(), seconds=6.0)[0], (1.0, 0.0, 0.0), 0.1, 0.4))
    mended = floor(motion)
    before, after = (m.roots[:, :2] - m.base[:, :2] for m in (motion, mended))
    assert np.abs(before - after).max() < 0.12, "a body upright over its base again leans no more"
    assert np.array_equal(mended.base[:, 2], motion.base[:, 2])


def test_what_has_no_floor_says_so():
    motion, _ = steps(body())
    none = {c: np.zeros(len(motion)) for names in CURVES for c in names}
    with pytest.raises(InvalidMotion, match="no foot of the motion touches the ground"):
        floor(replace(motion, curves=none))
    stairs = motion.roots.copy()
    stairs[:, 2] += 0.4 * np.floor(motion.times / 0.55) % 1.2
    with pytest.raises(InvalidMotion, match="without level"):
        floor(replace(motion, roots=stairs, curves=contacts(motion).curves))


def test_drift_in_place_stays_where_it_began():
    motion = bases.based(circling())
    still = drift(motion)
    assert np.abs(still.base - motion.base[0]).max() == 0.0
    assert np.ptp(still.roots[:, :2], axis=0).max() < 0.03
    assert np.allclose(bases.relative(still)[0], bases.relative(motion)[0])


def test_a_walk_that_veers_goes_straight_as_far():
    motion, _ = steps(body(), seconds=6.0)
    turn = quat.about(np.array([0.0, 0.0, 1.0]), 0.2 * motion.times)
    roots = np.cumsum(np.concatenate([motion.roots[:1], quat.rotate(turn[:-1], np.diff(motion.roots, axis=0))]), axis=0)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    veering = bases.based(replace(motion, roots=roots, rotations=rotations))
    straight = drift(veering, "straight")
    way = straight.base[:, :2] - straight.base[0, :2]
    assert np.ptp(straight.base[:, 2]) == 0.0
    length = np.linalg.norm(np.diff(veering.base[:, :2], axis=0), axis=1).sum()
    assert np.hypot(*way[-1]) == pytest.approx(length, rel=0.01)
    assert np.linalg.matrix_rank(way, tol=1e-9) == 1
    ahead = np.array([np.sin(straight.base[0, 2]), -np.cos(straight.base[0, 2])])
    assert way[-1] @ ahead > 0.99 * length


def test_height_that_drifts_is_levelled_in_time():
    motion, truth = steps(body(), seconds=8.0)
    curves = {c: truth[:, k].astype(float) for k, names in enumerate(CURVES) for c in names}
    rising = replace(motion, roots=motion.roots + 0.02 * motion.times[:, None] * (0, 0, 1), curves=curves)
    assert np.ptp(soles(rising)) > 0.1
    assert np.ptp(soles(drift(rising, "keep", vertical=True))) < 0.04


def test_keep_changes_nothing():
    motion = circling()
    assert drift(motion, "keep") is motion
    with pytest.raises(InvalidParam, match="way"):
        drift(motion, "left")


def test_one_sample_works():
    single = contacts(standing(body(), seconds=1 / 60))
    assert alike(drift(single), single) < 1e-9
    assert alike(floor(single), single) < 1e-6


@pytest.mark.parametrize("name", [c for c in CLIPS if c != "walk1"])  # its feet never rest
def test_recordings_come_to_stand_on_the_floor(data, name):
    motion = cleaned(data, name)
    mended = floor(motion)
    heights = soles(contacts(mended))
    assert abs(np.median(heights)) < 0.015
    assert np.percentile(np.abs(heights), 90) < 0.06
    lean = quat.distance(mended.rotations[:, 0], motion.rotations[:, 0])
    assert np.degrees(lean).max() < 2.0, "recorded floors are askew by a degree or so"


@pytest.mark.parametrize("name", CLIPS)
def test_recordings_in_place_keep_their_posture(data, name):
    motion = cleaned(data, name)
    still = drift(motion)
    assert np.array_equal(still.rotations[:, 1:], motion.rotations[:, 1:])
    assert np.ptp(still.roots[:, :2], axis=0).max() < 0.9
    assert np.abs(still.roots[:, 2] - motion.roots[:, 2]).max() < 1e-12
