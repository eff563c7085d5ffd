"""A loop goes round without a seam, wherever its two ends come from."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, standing, steps
from troupe.core import InvalidMotion, InvalidParam, Motion
from troupe.core.filters.contacts import cycles
from troupe.core.filters.footlock import slide
from troupe.core.filters.looping import ends, find_cycle, loop
from troupe.core.filters.seam import WAYS, as_loop, ring
from troupe.core.kinematics import base as bases
from troupe.core.maths import quat
from troupe.core.motion import Event

from .clips import OTHERS, RUNS, WALKS, alike, cleaned


def walking(seconds=4.0, **more):
    return steps(body(), seconds=seconds, **more)[0]


def opened(whole):
    """How far the last sample of a ring is from the first, as seen from the base: places [m] and rotations [rad]."""
    places, hips = bases.relative(whole)
    turns = quat.distance(whole.rotations[-1, 1:], whole.rotations[0, 1:]).max()
    return max(np.abs(places[-1] - places[0]).max(), quat.distance(hips[-1], hips[0]), turns)


def oddness(motion, without=()):
    """(N,) how far each step of a loop is from the mean of its two neighbours [rad], the step over its seam first."""
    rounds, count = cycles(motion), len(motion)
    moves = quat.log(quat.multiply(quat.conjugate(rounds.rotations[:-1]), rounds.rotations[1:]))
    joints = [j for j, role in motion.skeleton.role_of().items() if role[:-2] not in without]
    odd = np.linalg.norm(moves[1:-1] - (moves[2:] + moves[:-2]) / 2, axis=-1)[:, joints].max(axis=1)
    return np.roll(odd[count : 2 * count], 2)


def test_a_walk_becomes_one_stride():
    motion = walking()
    found = find_cycle(motion)
    assert found.last - found.first == 66, "the period of 1.1 s at 60 samples a second"
    made = loop(motion)
    assert made.loop and len(made) == 66
    assert bases.loop_step(made) == pytest.approx([0.0, -0.99, 0.0], abs=1e-3)
    rounds = cycles(made)
    assert np.abs(np.diff(rounds.roots, axis=0)[:, 1] + 0.9 / 60).max() < 1e-3, "it walks on at the same pace"
    assert max(s.travel for s in slide(rounds)) < 1e-6


def test_a_cycle_begins_where_it_may_and_lasts_as_long_as_asked():
    motion = walking()
    found = find_cycle(motion, starts=[17, 31, 5000], turned=1.0)
    assert found.first in (17, 31) and found.last - found.first == 66
    assert find_cycle(motion, first=20, starts=[17, 31]).first == 31
    assert find_cycle(motion, lengths=(1.5, 3.0)).last - find_cycle(motion, lengths=(1.5, 3.0)).first == 132
    with pytest.raises(InvalidMotion, match="no cycle"):
        find_cycle(motion, starts=[235])
    assert ends(motion, 10, 76)[0] < 0.05 < ends(motion, 10, 60)[0]


def test_the_ring_closes_exactly_however_unlike_its_ends():
    motion = walking()
    for first, last in ((0, 239), (10, 60), (30, 200)):
        for way in WAYS:
            assert opened(ring(motion, first, last, way)) < 1e-12


def test_speeds_meet_at_the_seam():
    count = 60
    t = np.arange(3 * count) / count
    skeleton = body()
    rotations = np.tile(quat.IDENTITY, (len(t), len(skeleton), 1))
    # a swing that grows: neither its angle nor its speed comes back
    rotations[:, 1] = quat.about(np.array([1.0, 0.0, 0.0]), (0.3 + 0.1 * t) * np.sin(2 * np.pi * t) + 0.05 * t)
    motion = Motion(skeleton, 60.0, np.tile(skeleton.offsets[0], (len(t), 1)), rotations)
    for part in (motion, replace(motion, roots=motion.roots[60:121], rotations=rotations[60:121])):
        whole = ring(part, 60, 120, "keep") if part is motion else ring(part, 0, 60, "keep")
        odd = oddness(as_loop(whole))
        assert odd[0] < 1.5 * np.sort(odd[6:])[-3]
        assert quat.distance(whole.rotations, motion.rotations[60:121]).max() < 0.15


def test_a_loop_stays_itself():
    made = loop(walking())
    assert loop(made) is made


def test_the_range_is_taken_as_it_is():
    motion = walking()
    made = loop(motion, "range", start=0.5, end=2.0)
    assert len(made) == 90
    assert alike(loop(motion, "range", plant=False, start=0.5, end=2.0), as_loop(ring(motion, 30, 120))) < 1e-6


def test_a_clip_that_is_one_round_already_keeps_every_sample():
    motion = walking()
    for way in ("keep", "straight"):
        part = replace(motion, roots=motion.roots[:66], rotations=motion.rotations[:66])
        for cycle in ("range", "find"):
            made = loop(part, cycle, way=way, plant=False)
            assert len(made) == 66
            assert alike(made, part) < 1e-3
    repeated = replace(motion, roots=motion.roots[:67], rotations=motion.rotations[:67])
    assert len(loop(repeated, "range")) == 66


def test_a_period_is_looked_for():
    motion = walking(seconds=8.0)
    assert len(loop(motion, period=2.2)) == 132
    with pytest.raises(InvalidMotion, match=r"no cycle of 0\.55 s"):
        loop(motion, period=0.55)


def test_a_turning_walk_goes_straight_on_or_keeps_turning_or_stays():
    motion = walking()
    turn = quat.about(np.array([0.0, 0.0, 1.0]), 0.3 * motion.times)
    roots = np.cumsum(np.concatenate([motion.roots[:1], quat.rotate(turn[:-1], np.diff(motion.roots, axis=0))]), axis=0)
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    turning = replace(motion, roots=roots, rotations=rotations)
    steps = {way: bases.loop_step(loop(turning, way=way, plant=False)) for way in WAYS}
    assert steps["keep"][2] == pytest.approx(0.33, abs=0.01)
    assert steps["straight"][2] == 0.0
    assert np.hypot(*steps["straight"][:2]) == pytest.approx(0.99, abs=0.02)
    assert np.array_equal(steps["in_place"], np.zeros(3))
    still = loop(turning, way="in_place")
    assert np.ptp(still.roots[:, :2], axis=0).max() < 0.05


def test_curves_and_events_go_round():
    motion = walking()
    ramp, contact = np.linspace(0.0, 1.0, len(motion)), (np.arange(len(motion)) % 66 < 30).astype(float)
    events = (Event(0.0, "early"), Event(1.5, "inside", {"a": 1}), Event(2.0, "closing"), Event(3.5, "late"))
    motion = replace(motion, curves={"shape/smile": ramp, "contact/foot_L": contact}, events=events)
    made = loop(motion, "range", plant=False, start=0.9, end=2.0)
    smile = made.curves["shape/smile"]
    assert smile.min() >= ramp[54] and smile.max() <= ramp[120]
    assert abs(smile[0] - smile[-1]) < 2.0 / 66
    assert np.array_equal(made.curves["contact/foot_L"], contact[54:120])
    assert [(e.name, round(e.time, 6)) for e in made.events] == [("inside", 0.6)]


def test_what_has_no_cycle_says_so():
    with pytest.raises(InvalidMotion, match="hardly anything in it moves"):
        loop(standing(body()))
    t = np.linspace(0.0, 1.0, 120)
    skeleton = body()
    rotations = np.tile(quat.IDENTITY, (120, len(skeleton), 1))
    rotations[:, 3] = quat.about(np.array([1.0, 0.0, 0.0]), -2.0 * t)
    once = Motion(skeleton, 60.0, np.tile(skeleton.offsets[0], (120, 1)), rotations)
    with pytest.raises(InvalidMotion, match="no two moments of it are alike"):
        loop(once)
    assert len(loop(once, "range")) == 119, "it can be closed by force"
    for count in (1, 4):
        with pytest.raises(InvalidMotion, match="at least 5 samples"):
            loop(replace(once, roots=once.roots[:count], rotations=once.rotations[:count]))
    with pytest.raises(InvalidMotion, match=r"choose a longer one"):
        loop(replace(once, roots=once.roots[:12], rotations=once.rotations[:12]))


@pytest.mark.parametrize("values", [{"way": "back"}, {"cycle": "best"}])
def test_unknown_choices_are_refused(values):
    with pytest.raises(InvalidParam, match="must be"):
        loop(walking(), **values)


@pytest.mark.parametrize("name", (*WALKS, *RUNS))
def test_recorded_walks_and_runs_close(data, name):
    motion = cleaned(data, name)
    found = find_cycle(motion)
    for way in WAYS:
        assert opened(ring(motion, found.first, found.last, way)) < 1e-4
    made = loop(motion)
    assert made.loop and 0.4 < made.duration < 1.6
    assert max((s.travel for s in slide(cycles(made))), default=0.0) < 0.001
    # going over the seam is no rougher than the rest; the feet of one clip turn over in every swing
    odd = oddness(made, ("foot", "toe") if name == "104_53" else ())
    assert odd[:2].max() <= max(np.percentile(odd[4:], 95), np.radians(2.5))
    place = bases.loop_step(made)
    assert place[2] == 0.0 and (name == "walk1" or np.hypot(*place[:2]) > 1.0)


@pytest.mark.parametrize("name", OTHERS)
def test_other_recordings_close_over_their_range(data, name):
    motion = cleaned(data, name)
    assert opened(ring(motion, 5, len(motion) - 5, "straight")) < 1e-4
