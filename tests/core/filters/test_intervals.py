"""Contacts told by hand hold, and what is not told is found."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, steps
from troupe.core import InvalidParam
from troupe.core.filters.contacts import CURVES, ContactParams, contacts, runs
from troupe.core.filters.footlock import FootlockParams, footlock, slide
from troupe.core.filters.intervals import intervals_of, plant, with_intervals
from troupe.core.filters.resample import resample
from troupe.core.kinematics import fk
from troupe.core.motion import Event

from .clips import CLIPS, alike, cleaned, knees


def sliding():
    return steps(body(), slide=0.03)[0]


def planted(motion):
    return np.stack([np.stack([motion.curves[c] for c in names], axis=-1) for names in CURVES], axis=1) > 0.5


def test_without_intervals_contacts_are_found():
    motion = sliding()
    assert alike(plant(motion), footlock(contacts(motion))) < 1e-12
    found, held = ContactParams(speed=0.5), FootlockParams(blend=0.05)
    assert alike(plant(motion, found, held), footlock(contacts(motion, found), held)) < 1e-12


def test_intervals_found_and_told_again_are_the_same():
    motion = contacts(sliding())
    rows = intervals_of(motion)
    assert len(rows) == sum(e.name.startswith("heel_strike") for e in motion.events) + 1, "one stands at first"
    told = with_intervals(motion, rows)
    assert np.array_equal(planted(told), planted(motion))
    assert [(e.time, e.name) for e in told.events] == [(e.time, e.name) for e in motion.events]


def test_only_what_is_told_is_held():
    motion = sliding()
    locked = plant(motion, held=FootlockParams(floor=False), intervals=((0, 1.0, 1.5), (1, 2.0, 2.2)))
    flags = planted(locked)
    assert runs(flags[:, 0].any(axis=1)) == [(60, 91)] and runs(flags[:, 1].any(axis=1)) == [(120, 133)]
    assert max(s.travel for s in slide(locked)) < 1e-6
    feet = [locked.skeleton.joint(f"foot_{s}") for s in "LR"]
    change = np.linalg.norm(
        np.subtract(*(fk.forward(m.skeleton, m.rotations, m.roots)[0][:, feet] for m in (locked, motion))), axis=-1
    )
    assert change[:45].max() < 1e-4 and change[150:].max() < 1e-4


def test_rows_that_overlap_are_one_contact():
    motion = sliding()
    both, one = (with_intervals(motion, rows) for rows in (((0, 0.5, 1.0), (0, 0.8, 1.3)), ((0, 0.5, 1.3),)))
    assert len(intervals_of(both)) == 1 and intervals_of(both) == intervals_of(one)


def test_heel_and_ball_come_down_and_leave_as_they_are_found(data):
    motion = contacts(cleaned(data, "02_01"))
    foot, start, end = next(row for row in intervals_of(motion) if row[2] - row[1] > 0.5)
    longer = with_intervals(motion, ((foot, start, end + 0.1),))
    was, now = planted(motion)[:, int(foot)], planted(longer)[:, int(foot)]
    a, b = round(start * motion.fps), round(end * motion.fps) + 1
    assert np.array_equal(now[a:b], was[a:b])
    assert not was[a:b].all(), "it rolls"
    assert (now[b : b + 12] == was[b - 1]).all() and not now[b + 13 :].any()


def test_a_foot_in_the_air_is_held_as_a_whole():
    motion = sliding()
    swing = runs(~planted(contacts(motion))[:, 0].any(axis=1))[0]
    told = with_intervals(motion, ((0, swing[0] / 60, (swing[1] - 1) / 60),))
    assert planted(told)[swing[0] : swing[1], 0].all()


def test_other_events_and_curves_stay():
    motion = replace(sliding(), events=(Event(1.0, "cue"), Event(1.1, "toe_off_L")), curves={"shape/a": np.ones(240)})
    told = with_intervals(motion, ((0, 1.0, 1.5),))
    assert [e.name for e in told.events if e.name == "cue"] == ["cue"]
    assert [e.time for e in told.events if e.name == "toe_off_L"] == [91 / 60]
    assert "shape/a" in told.curves


@pytest.mark.parametrize(
    "row", [(2, 0.0, 1.0), (0.5, 0.0, 1.0), (0, 1.0, 0.5), (0, -1.0, 0.5), (0, 9.0, 9.5), (0, 1.0)]
)
def test_rows_that_make_no_sense_are_refused(row):
    with pytest.raises(InvalidParam, match="intervals"):
        plant(sliding(), intervals=(row,))


@pytest.mark.parametrize("name", CLIPS)
def test_recorded_feet_stand_still_and_no_knee_pops(data, name):
    motion = cleaned(data, name)
    locked = plant(motion)
    assert max((s.travel for s in slide(locked)), default=0.0) < 0.001
    before, after = (np.degrees(np.abs(np.diff(knees(m), axis=0)).max()) * m.fps for m in (motion, locked))
    assert after < max(1.2 * before, 1000.0), "knees turn no faster than knees do [degrees a second]"
    seen = (np.diff(knees(resample(m, 30.0)), 2, axis=0) for m in (motion, locked))
    before, after = (np.degrees(np.abs(jerks).max()) for jerks in seen)
    assert after < max(1.2 * before, 25.0), "nor do they jerk more than recorded ones do [degrees a frame, by frame]"
