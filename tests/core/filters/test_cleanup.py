"""One feature, eight tasks: each does what it says, where the scope says, and settings that change nothing do not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from feet import body, standing, steps
from repeat import repeats
from troupe.core import InvalidMotion, InvalidParam
from troupe.core.filters.cleanup import CHANGED, SETTINGS, TASKS, CleanupParams, at_rate, cleanup
from troupe.core.filters.contacts import contacts
from troupe.core.filters.despike import despike
from troupe.core.filters.gaps import fill_gaps
from troupe.core.filters.ground import drift, floor
from troupe.core.filters.intervals import plant
from troupe.core.filters.looping import loop
from troupe.core.filters.mirror import mirror
from troupe.core.filters.scope import ScopeParams, mask
from troupe.core.kinematics import base as bases
from troupe.core.maths import quat
from troupe.core.motion import Event
from troupe.core.params import declared

from .clips import CLIPS, alike, cleaned, recorded

NAMES = [name for name, _ in TASKS]
DIRECT = {
    "despike": despike,
    "gaps": fill_gaps,
    "plant": plant,
    "loop": loop,
    "mirror": mirror,
    "resample": lambda m: m,
    "floor": floor,
    "drift": lambda m: drift(m, "straight"),
}


@cache
def walking():
    """A walk with a spike, a frozen moment, feet that slide, and a floor that is not at 0."""
    motion = steps(body(), seconds=5.0, slide=0.02)[0]
    roots, rotations = motion.roots + (0.0, 0.0, 0.1), motion.rotations.copy()
    rotations[:, 1] = quat.about(np.array([1.0, 0.0, 0.0]), 0.2 * np.sin(4.0 * motion.times))
    rotations[140, 1] = quat.about(np.array([0.0, 1.0, 0.0]), 0.8)
    roots[200:204], rotations[200:204] = roots[199], rotations[199]
    return replace(motion, roots=roots, rotations=quat.continuous(rotations))


@pytest.mark.parametrize("task", NAMES)
def test_a_task_is_its_filter(task):
    motion = walking()
    done, expected = cleanup(motion, CleanupParams(task=task)), DIRECT[task](motion)
    assert len(done) == len(expected) and done.loop == expected.loop
    assert alike(done, expected) < 1e-12
    if task not in ("resample", "drift"):  # at the same rate, and straight ahead as it is
        assert len(done) != len(motion) or alike(done, motion) > 0.01


@pytest.mark.parametrize("task", [t for t in NAMES if t not in ("loop", "resample")])
def test_no_influence_no_change(task):
    motion = walking()
    assert cleanup(motion, CleanupParams(task=task, influence=0.0)) is motion


@pytest.mark.parametrize("task", ["despike", "mirror", "plant"])
def test_only_the_scope_changes(task):
    motion = walking()
    done = cleanup(motion, CleanupParams(task=task, scope="trunk"))
    chosen = mask(motion.skeleton, ScopeParams(scope="trunk"))[:-1]
    assert quat.distance(done.rotations, motion.rotations)[:, ~chosen].max() < 1e-12
    assert np.abs(done.roots - motion.roots).max() < 1e-12
    expected = DIRECT[task](motion).rotations
    assert quat.distance(done.rotations, expected)[:, chosen].max() < 1e-12


def test_only_the_range_changes():
    motion = walking()
    early = cleanup(motion, CleanupParams(task="despike", range="part", begin=0.0, end=2.0))
    late = cleanup(motion, CleanupParams(task="despike", range="part", begin=2.0, end=3.0))
    assert alike(early, motion) < 1e-12
    assert alike(late, despike(motion)) < 1e-6


def test_what_was_found_is_told():
    motion = walking()
    spikes, gaps = (cleanup(motion, CleanupParams(task=task)).curves[CHANGED] for task in ("despike", "gaps"))
    assert np.flatnonzero(spikes).tolist() == [140] and spikes[140] == 1
    assert {140, 200, 201, 202, 203} == set(np.flatnonzero(gaps).tolist())
    legs = cleanup(motion, CleanupParams(task="despike", scope="legs"))
    assert not legs.curves[CHANGED].any()


def test_half_the_influence_is_half_the_way():
    motion = walking()
    half = cleanup(motion, CleanupParams(task="floor", level=False, influence=0.5))
    whole = cleanup(motion, CleanupParams(task="floor", level=False))
    assert np.allclose(half.roots, (motion.roots + whole.roots) / 2)


def test_a_loop_is_made_of_the_range():
    motion = walking()
    made = cleanup(motion, CleanupParams(task="loop", cycle="range", range="part", begin=1.0, end=2.1))
    assert made.loop and len(made) == 66
    found = cleanup(motion, CleanupParams(task="loop", range="part", begin=0.0, end=2.2))
    assert len(found) == 66
    with pytest.raises(InvalidParam, match="the clip is over after"):
        cleanup(motion, CleanupParams(task="loop", range="part", begin=9.0))


def test_rates():
    motion = replace(walking(), events=(Event(2.0, "cue"),))
    slower = cleanup(motion, CleanupParams(task="resample", rate=24.0))
    assert slower.fps == 24.0 and slower.duration == pytest.approx(motion.duration, abs=0.03)
    assert slower.events[0].time == 2.0
    recorded_at = cleanup(motion, CleanupParams(task="resample", rate=120.0, keep="samples"))
    assert len(recorded_at) == len(motion) and recorded_at.duration == pytest.approx(motion.duration / 2)
    assert recorded_at.events[0].time == 1.0 and np.array_equal(recorded_at.rotations, motion.rotations)
    twos = cleanup(motion, CleanupParams(task="resample", rate=12.0, keep="steps"))
    assert len(twos) == len(motion) and twos.fps == 60.0
    assert np.array_equal(twos.rotations, motion.rotations[np.arange(len(motion)) // 5 * 5])
    for rate, keep in ((0.0, "time"), (np.nan, "time"), (30.0, "speed")):
        with pytest.raises(InvalidParam):
            at_rate(motion, rate, keep)


@pytest.mark.parametrize("task", ["loop", "resample"])
@pytest.mark.parametrize("values", [{"scope": "arms"}, {"influence": 0.5}, {"joints": "head"}])
def test_tasks_of_the_whole_body_say_so(task, values):
    with pytest.raises(InvalidParam, match=f"{task} is of the whole body"):
        CleanupParams(task=task, **values)


def test_every_setting_belongs_to_a_task_and_is_told_so():
    own = {p.name: p for p in declared(CleanupParams) if p.name not in {q.name for q in declared(ScopeParams)}}
    assert {name for names in SETTINGS.values() for name in names} | {"task"} == set(own)
    assert set(SETTINGS) == set(NAMES)
    for task, names in SETTINGS.items():
        for name in names:
            assert task in own[name].help.split(":")[0].lower(), name
    assert sum(p.basic for p in declared(CleanupParams)) <= 6


@pytest.mark.parametrize(
    "values",
    [
        {"task": "polish"},
        {"width": 4},
        {"width": 1},
        {"spike": -1.0},
        {"intervals": ((0, 1),)},
        {"bad": ((-1.0, 2.0),)},
        {"way": "home"},
        {"rate": -24.0},
    ],
)
def test_wrong_settings_are_refused(values):
    with pytest.raises(InvalidParam):
        CleanupParams(**values)


def test_curves_events_and_mask_come_through():
    motion = contacts(walking())
    mask_ = np.ones(len(motion.skeleton), dtype=bool)
    mask_[2] = False
    motion = replace(motion, mask=mask_, curves={**motion.curves, "shape/a": np.ones(len(motion))})
    for task in NAMES:
        done = cleanup(motion, CleanupParams(task=task, rate=30.0))
        assert "shape/a" in done.curves and done.events
        assert not done.mask[2]


@pytest.mark.parametrize("task", ["despike", "gaps", "loop"])
def test_one_sample_is_told_to_be_too_short(task):
    with pytest.raises(InvalidMotion, match="at least"):
        cleanup(standing(body(), seconds=1 / 60), CleanupParams(task=task))


@pytest.mark.parametrize("task", ["plant", "mirror", "resample", "floor", "drift"])
def test_one_sample_is_enough_for(task):
    single = contacts(standing(body(), seconds=1 / 60))
    assert len(cleanup(single, CleanupParams(task=task, rate=24.0))) == 1


def test_the_same_answer_every_time():
    for task in NAMES:
        a, b = (cleanup(walking(), CleanupParams(task=task, rate=30.0)) for _ in range(2))
        repeats(a, b)


@pytest.mark.parametrize("name", CLIPS)
def test_settings_that_ask_for_nothing_leave_a_recording_as_it_is(data, name):
    motion = recorded(data, name)
    nothing = {
        "despike": {"ratio": 100.0, "spike": 3.14},
        "gaps": {"frozen": False, "glitches": False},
        "resample": {"rate": 0.0},
        "drift": {"way": "keep"},
        "plant": {"influence": 0.0},
        "mirror": {"influence": 0.0},
        "floor": {"influence": 0.0},
    }
    for task, values in nothing.items():
        assert alike(cleanup(motion, CleanupParams(task=task, **values)), motion) < 1e-6, task
    assert alike(cleanup(replace(bases.based(motion), loop=True), CleanupParams(task="loop")), motion) < 1e-6


@pytest.mark.parametrize("name", CLIPS)
def test_all_tasks_one_after_the_other_leave_a_sound_motion(data, name):
    motion = cleaned(data, name)
    for task in ("gaps", "despike", *(() if name == "walk1" else ("floor",)), "plant", "mirror", "drift"):
        motion = cleanup(motion, CleanupParams(task=task, way="straight"))
    assert np.isfinite(motion.roots).all() and np.allclose(np.linalg.norm(motion.rotations, axis=-1), 1.0)
