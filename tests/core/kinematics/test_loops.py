"""Loops go on: how far a round carries, the round after, and a round closed by its first sample."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import base
from troupe.core.maths import quat
from troupe.core.motion import Motion

FIGURE = mannequin()


def loop(n=30, travel=(0.4, -1.2), turn=0.0, sway=0.03, with_base=True):
    """A loop whose base goes evenly along an arc while the hips sway about it; and the next whole round."""
    t = np.arange(2 * n) / n
    heading = turn * t
    c, s = np.cos(heading), np.sin(heading)
    step = np.column_stack([c * travel[0] - s * travel[1], s * travel[0] + c * travel[1]]) / n
    place = np.concatenate([[[0.0, 0.0]], np.cumsum((step[1:] + step[:-1]) / 2, axis=0)]) + (2.0, 1.0)
    track = np.column_stack([place, heading + 0.3])
    own = np.column_stack([sway * np.sin(2 * np.pi * t), 0 * t, 0.9 + 0.02 * np.cos(4 * np.pi * t)])
    turns = quat.about(np.array([0.0, 1.0, 0.0]), 0.05 * np.sin(2 * np.pi * t))
    roots, hips = base.compose(track, own, turns)
    rotations = np.tile(quat.IDENTITY, (2 * n, len(FIGURE), 1))
    rotations[:, 0] = hips
    rotations[:, 1] = quat.about(np.array([1.0, 0.0, 0.0]), 0.3 * np.sin(2 * np.pi * t))
    whole = Motion(FIGURE, 30.0, roots, quat.continuous(rotations), base=track, curves={"info/t": t % 1.0})
    first = replace(
        whole,
        roots=roots[:n],
        rotations=whole.rotations[:n],
        base=track[:n] if with_base else None,
        curves={"info/t": t[:n]},
        loop=True,
    )
    return first, whole


@pytest.mark.parametrize("turn", [0.0, 0.7, -2.0, 2 * np.pi])
@pytest.mark.parametrize("travel", [(0.0, 0.0), (0.4, -1.2)])
def test_a_round_carries_as_far_as_the_next_one_lies(turn, travel):
    motion, whole = loop(turn=turn, travel=travel)
    assert np.abs(base.loop_step(motion) - (whole.base[30] - whole.base[0])).max() < 1e-3
    later, n = base.round_later(motion), 30
    assert np.abs(later.roots - whole.roots[n:]).max() < 2e-3
    assert quat.distance(later.rotations, whole.rotations[n:]).max() < 1e-3
    assert np.abs(later.base - whole.base[n:]).max() < 2e-3


def test_an_even_straight_walk_is_exact():
    motion, whole = loop(turn=0.0)
    np.testing.assert_allclose(base.loop_step(motion), whole.base[30] - whole.base[0], atol=1e-12)


def test_without_a_base_the_hips_tell():
    motion, whole = loop(with_base=False)
    assert np.abs(base.loop_step(motion) - (whole.base[30] - whole.base[0])).max() < 1e-4


def test_what_comes_back_closes():
    assert base.loop_step(loop(travel=(0.0, 0.0))[0]).tolist() == [0, 0, 0]
    assert base.loop_step(loop(travel=(0.0, 0.0), with_base=False)[0]).tolist() == [0, 0, 0]


def test_what_is_no_loop_carries_nowhere():
    motion, _ = loop()
    assert base.loop_step(replace(motion, loop=False)).tolist() == [0, 0, 0]
    assert base.closed(replace(motion, loop=False)).roots.shape == motion.roots.shape


def test_the_round_before_undoes_the_round_after():
    motion, _ = loop(turn=0.7)
    there = base.round_later(motion, 2)
    back = base.round_later(replace(motion, roots=there.roots, rotations=there.rotations, base=there.base), -2)
    assert np.abs(back.roots - motion.roots).max() < 1e-9
    assert quat.distance(back.rotations, motion.rotations).max() < 1e-7


def test_a_closed_round_ends_where_the_next_begins():
    motion, whole = loop(turn=0.7)
    closed = base.closed(motion)
    assert not closed.loop and len(closed) == 31 and closed.duration == motion.duration
    assert np.abs(closed.roots[-1] - whole.roots[30]).max() < 2e-3
    assert closed.curves["info/t"][-1] == motion.curves["info/t"][0]
    # seen from the base, the last sample is the first again
    places, turns = base.relative(closed)
    np.testing.assert_allclose(places[-1], places[0], atol=1e-12)
    assert quat.distance(turns[-1], turns[0]) < 1e-7
    assert np.array_equal(closed.rotations[-1, 1:], closed.rotations[0, 1:])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_short_loops_survive(n):
    motion, _ = loop()
    short = replace(
        motion, roots=motion.roots[:n], rotations=motion.rotations[:n], base=motion.base[:n], curves={}, loop=True
    )
    assert len(base.closed(short)) == n + 1
    assert np.isfinite(base.loop_step(short)).all()
