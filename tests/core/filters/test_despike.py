"""Spikes go, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, standing, steps
from troupe.core import InvalidMotion, InvalidParam
from troupe.core.filters.despike import despike, find_spikes, median_turn, tukey
from troupe.core.filters.gaps import fill_gaps
from troupe.core.filters.resample import resample
from troupe.core.maths import quat

from .clips import CLIPS, alike, cleaned, recorded


def spiked(motion, size, seed=0, each=1, long=1):
    """The motion with `each` spikes of `size` [rad] in every joint, `long` samples long; and where (T, J)."""
    rng = np.random.default_rng(seed)
    rotations, where = motion.rotations.copy(), np.zeros(motion.rotations.shape[:2], dtype=bool)
    for joint in range(rotations.shape[1]):
        room = np.arange(6, len(motion) - 6 - long, 12 + long)
        for at in rng.choice(room, min(each, len(room)), replace=False):
            axis = quat.unit(rng.normal(size=3))
            here = slice(at, at + long)
            rotations[here, joint] = quat.multiply(rotations[here, joint], quat.about(axis, size))
            where[here, joint] = True
    return replace(motion, rotations=quat.continuous(rotations)), where


def walking(fps=60.0):
    return steps(body(), fps=fps)[0]


@pytest.mark.parametrize("size", np.radians([30.0, 45.0, 120.0, 175.0, 180.0]))
@pytest.mark.parametrize("long", [1, 2])
def test_spikes_of_any_size_go(size, long):
    motion = walking()
    broken, where = spiked(motion, size, long=long)
    mended = despike(broken)
    assert quat.distance(broken.rotations, motion.rotations)[where].min() > size - 1e-9
    assert np.degrees(quat.distance(mended.rotations, motion.rotations)).max() < 3.0


def test_everything_but_the_spikes_stays_number_for_number():
    motion = walking()
    broken, where = spiked(motion, np.radians(30.0))
    mended = despike(broken)
    assert (
        alike(replace(mended, rotations=np.where(where[..., None], broken.rotations, mended.rotations)), broken) < 1e-12
    )
    assert np.array_equal(np.abs(mended.rotations[~where]), np.abs(broken.rotations[~where]))
    assert np.array_equal(mended.roots, broken.roots)


def test_motion_without_spikes_stays_itself():
    for motion in (walking(), standing(body()), resample(walking(120.0), 30.0)):
        assert alike(despike(motion), motion) < 1e-12


def test_hips_thrown_aside_come_back():
    motion = walking()
    roots = motion.roots.copy()
    roots[40] += (0.2, 0.1, -0.3)
    mended = despike(replace(motion, roots=roots))
    assert np.abs(mended.roots - motion.roots).max() < 0.002


def test_a_joint_that_never_moves_shows_its_only_spike():
    motion = standing(body())
    broken, where = spiked(motion, np.radians(8.0))
    assert np.array_equal(find_spikes(broken)[0], where)
    assert alike(despike(broken), motion) < 1e-9


def test_a_step_that_stays_is_no_spike():
    motion = standing(body())
    rotations = motion.rotations.copy()
    rotations[50:, 1] = quat.about(np.array([1.0, 0.0, 0.0]), 0.8)
    stepped = replace(motion, rotations=rotations)
    assert alike(despike(stepped), stepped) < 1e-12


def test_spikes_at_the_seam_of_a_loop_go():
    motion = walking()
    loop = replace(motion, roots=motion.roots[:66], rotations=motion.rotations[:66], loop=True)
    for sample in (0, 65):
        rotations = loop.rotations.copy()
        rotations[sample, 1] = quat.about(np.array([0.0, 1.0, 0.0]), 0.7)
        mended = despike(replace(loop, rotations=rotations))
        assert mended.loop and len(mended) == 66
        assert quat.distance(mended.rotations, loop.rotations).max() < np.radians(2.0)


def test_joints_that_are_not_spoken_for_are_left_alone():
    broken, where = spiked(walking(), 0.5)
    mask = np.arange(len(broken.skeleton)) == 1
    mended = despike(replace(broken, mask=mask))
    assert np.array_equal(mended.rotations[:, ~mask], broken.rotations[:, ~mask])
    assert quat.distance(mended.rotations, broken.rotations)[:, 1][where[:, 1]].min() > 0.4


def test_limits_keep_what_is_below_them():
    broken, _ = spiked(walking(), np.radians(30.0))
    assert alike(despike(broken, spike=np.pi), broken) < 1e-12
    moving = replace(broken, mask=np.isin(np.arange(len(broken.skeleton)), [3, 4, 5, 7, 8, 9]))
    assert alike(despike(moving, ratio=1e9), moving) < 1e-12 < alike(despike(moving), moving)


def test_running_medians_are_those_of_numbers():
    values = np.random.default_rng(1).normal(size=40).cumsum() / 20
    windows = np.stack([values[k : k + 36] for k in range(5)], axis=1)
    got = quat.log(median_turn(quat.about(np.array([0.0, 0.0, 1.0]), windows)))[:, 2]
    assert np.allclose(got, np.median(windows, axis=1), atol=1e-12)
    line = np.arange(30.0)[:, None]
    assert np.allclose(tukey(line)[3:-3], line[3:-3])


@pytest.mark.parametrize(("values", "error"), [({"width": 4}, InvalidParam), ({"width": 1}, InvalidParam)])
def test_wrong_widths_are_refused(values, error):
    with pytest.raises(error, match="width"):
        despike(walking(), **values)


def test_a_clip_too_short_says_so():
    with pytest.raises(InvalidMotion, match="1 samples"):
        despike(standing(body(), seconds=1 / 60))


@pytest.mark.parametrize("name", CLIPS)
def test_recordings_stay_as_they_are_but_for_a_few_spikes(data, name):
    motion = fill_gaps(recorded(data, name))
    mended, q = despike(motion), motion.rotations
    # the cubic through the two samples before and after misses a spike by its size
    cubic = quat.unit(np.einsum("k,ktjc->tjc", [-1 / 6, 4 / 6, 4 / 6, -1 / 6], [q[:-4], q[1:-3], q[3:-1], q[4:]]))
    odd, changed = (np.degrees(quat.distance(a, q[2:-2])) for a in (cubic, mended.rotations[2:-2]))
    away = np.maximum.reduce([odd, np.roll(odd, 1, axis=0), np.roll(odd, -1, axis=0)]) < 2.0
    assert away.mean() > 0.8
    assert changed[away].max() < 0.5
    assert (changed > 1e-6).mean() < 0.003
    assert alike(despike(mended), mended) < 1e-9, "nothing is left"


@pytest.mark.parametrize("name", [c for c in CLIPS if c != "walk1"])
def test_inserted_spikes_go_from_recordings(data, name):
    motion = cleaned(data, name)
    broken, where = spiked(motion, np.radians(40.0), seed=3)
    if name == "104_53":  # its feet turn over in every swing, faster than that
        where[:, [motion.skeleton.joint(f"{part}_{side}") for part in ("foot", "toe") for side in "LR"]] = False
    mended = despike(broken)
    left = np.degrees(quat.distance(mended.rotations, motion.rotations))[where]
    assert np.percentile(left, 90) < 3.0
    assert left.max() < (10.0 if motion.fps > 100 else 20.0)


def test_raw_recordings_have_spikes_to_show(data):
    turns, _ = find_spikes(recorded(data, "16_17"))
    assert turns[475].sum() >= 5, "most of the body is thrown aside for one sample"
