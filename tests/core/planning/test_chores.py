"""A cleaner takes only the litter that it sees, and a waiter breaks off to clean and goes on."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core.maths import quat
from troupe.core.planning.hands.chores import ChoreParams, Shift, clean, serve
from troupe.core.planning.hands.reach import Job, ReachParams
from troupe.core.planning.hands.workplaces import dining_room
from troupe.core.planning.spaces.solids import Shapes

SHAPES = Shapes()
STOPS = [np.array([0.0, -0.4])]


def shift(mode, screened=False):
    skeleton, pose, world, litter, spots = dining_room(screened)
    job = Job(skeleton, pose, world, ReachParams(gaze=0.0), fps=12.0, shapes=SHAPES)
    return Shift(job, ChoreParams(mode=mode)), litter, spots


@cache
def cleaned():
    work, litter, spots = shift("see")
    return work, clean(work, litter, spots, STOPS), spots


def whats(work):
    return [row["what"] for row in work.log]


@pytest.mark.req("kuffner", 96)
def test_litter_that_is_seen_is_carried_to_where_it_belongs():
    work, away, spots = cleaned()
    assert away == ["can"] and whats(work) == ["clean", "put away"] and "can" in work.seen
    done = work.performance()
    motion, can = done.motions["actor"], done.props["can"]
    assert len(can) == len(motion) and np.abs(can[-1] - spots[0])[:3, 3].max() < 2e-3
    assert can[-1][2, 2] > 0.9999
    assert np.linalg.norm(np.diff(can[:, :3, 3], axis=0), axis=1).max() * motion.fps < 2.5
    assert quat.distance(motion.rotations[1:], motion.rotations[:-1]).max() < 1.2
    # never in the air by itself: while it is away from its places somebody holds it
    held = np.zeros(len(motion), dtype=bool)
    for a in done.attachments:
        held[round(a.start * motion.fps) : round(a.end * motion.fps) + 1] = True
    still = np.minimum(np.abs(can - can[0]).max(axis=(1, 2)), np.abs(can - can[-1]).max(axis=(1, 2))) < 2e-3
    assert (held | still).all()


@pytest.mark.req("kuffner", 97)
def test_litter_that_was_never_in_sight_is_never_picked_up():
    work, litter, spots = shift("see", screened=True)
    assert clean(work, litter, spots, STOPS) == [] and "can" not in work.seen
    assert whats(work) == [] and work.performance().props == {}


@pytest.mark.req("kuffner", 96)
def test_a_waiter_serves_every_cup_and_breaks_off_to_clean():
    work, litter, spots = shift("see")
    served, away = serve(work, ["cup one"], litter, spots)
    assert served == ["cup one"] and away == ["can"]
    assert whats(work) == ["clean", "put away", "resume", "serve"]


@pytest.mark.req("kuffner", 96)
def test_who_looks_about_sees_what_is_behind_and_who_does_not_look_takes_what_is_near():
    work, litter, spots = shift("look")
    work = replace(work, params=replace(work.params, near=0.5))
    assert clean(work, litter, spots, [np.array([1.0, 1.0])]) == [] and {"can", "cup two"} <= work.seen
    near, litter, spots = shift("near", screened=True)
    near = replace(near, params=replace(near.params, near=0.3))
    assert clean(near, litter, spots, STOPS) == []
