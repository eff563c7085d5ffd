"""A cleaner takes only the litter that it sees, puts it where there is room, and goes on when something fails."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core.errors import Cancelled, InvalidParam
from troupe.core.maths import quat
from troupe.core.planning.hands.reach import Job, ReachParams
from troupe.core.planning.hands.sidling import shifted
from troupe.core.planning.hands.spots import free_spots
from troupe.core.planning.hands.stepping_back import room_to_turn
from troupe.core.planning.hands.tidy import TidyParams, tidy
from troupe.core.planning.hands.upright import Upright
from troupe.core.planning.hands.workplaces import dining_room
from troupe.core.planning.spaces.set_pieces import box
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.world import World

SHAPES = Shapes()
STOPS = [np.array([0.0, -0.4])]


def backed_off(skeleton, pose, world, fps, full=()):
    """The step to where there is room to turn; None where there is room, or none either way."""
    goal = room_to_turn(Upright(skeleton, pose, world, full))
    return None if goal is None else shifted(skeleton, pose, world, goal, fps)


def room(screened=False, **more):
    skeleton, pose, world, litter, spots = dining_room(screened)
    return Job(skeleton, pose, world, ReachParams(), fps=12.0, shapes=SHAPES, **more), litter, spots


@cache
def cleaned():
    job, litter, spots = room()
    return tidy(job, TidyParams(mode="see", gaze=0.0), litter, spots, STOPS), spots


def whats(done):
    return [row["what"] for row in done.transcript]


@pytest.mark.req("kuffner", 96)
def test_litter_that_is_seen_is_carried_to_where_it_belongs():
    done, spots = cleaned()
    assert whats(done) == ["go on", "clean", "put away"]
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


def test_who_stands_too_near_to_a_table_to_turn_beside_it_steps_away_first():
    skeleton, pose, *_ = dining_room()
    front = 0.2

    def table(edge):
        return World((box("table", (0.5, 0.3, 0.02), (0.0, -edge - 0.3, 0.88)),))

    assert backed_off(skeleton, pose, table(1.0), 24.0) is None
    back = backed_off(skeleton, pose, table(front), 24.0)
    assert np.allclose(back.rotations[0], pose.rotations, atol=1e-9)
    assert np.ptp(back.base[:, 2]) < 1e-9 and back.base[-1, 1] > pose.root[1] + 0.1
    end = back.pose(len(back) - 1)
    assert backed_off(skeleton, end, table(front), 24.0) is None
    # both hands full, there is less to turn with
    less = backed_off(skeleton, pose, table(front), 24.0, "LR")
    assert less is None or less.base[-1, 1] < back.base[-1, 1]
    behind = box("wall", (0.5, 0.1, 1.0), (0.0, 0.35, 1.0), number=2)
    assert backed_off(skeleton, pose, World((*table(front).bodies, behind)), 24.0) is None, "nor is there room behind"
    # with its back to the table it steps ahead
    near = box("table", (0.5, 0.3, 0.02), (0.0, front + 0.3, 0.88))
    ahead = backed_off(skeleton, pose, World((near,)), 24.0)
    assert ahead.base[-1, 1] < pose.root[1] - 0.1 and np.ptp(ahead.base[:, 2]) < 1e-9


def test_every_decision_says_when_who_what_why_and_of_which_thing():
    done, _ = cleaned()
    for row in done.transcript:
        assert row["actor"] == "actor" and row["why"] and 0.0 <= row["time"] <= done.motions["actor"].duration + 1e-6
    assert [row["thing"] for row in done.transcript] == ["", "can", "can"]


@pytest.mark.req("kuffner", 97)
def test_litter_that_was_never_in_sight_is_never_picked_up():
    job, litter, spots = room(screened=True)
    done = tidy(job, TidyParams(mode="see"), litter, spots, STOPS)
    assert whats(done) == ["go on", "leave"] and done.props == {} and done.attachments == ()


@pytest.mark.req("kuffner", 96)
def test_who_looks_about_sees_what_is_behind_and_who_does_not_look_takes_what_is_near():
    job, litter, spots = room()
    done = tidy(job, TidyParams(mode="look", near=0.5), litter, spots, [np.array([1.0, 1.0])])
    assert whats(done) == ["go on", "look about", "leave"]
    job, litter, spots = room(screened=True)
    done = tidy(job, TidyParams(mode="near", near=0.3), litter, spots, STOPS)
    assert whats(done) == ["go on", "leave"]


@pytest.mark.req("kuffner", 96)
def test_what_is_out_of_reach_is_passed_over_and_the_rest_is_put_away():
    job, litter, _ = room()
    high = box("lamp", (0.03, 0.03, 0.05), (1.0, 0.6, 2.9), number=30)
    job = replace(job, world=World((*job.world.bodies, high)))
    done = tidy(job, TidyParams(gaze=0.0), ("lamp", *litter), ("sideboard",))
    rows = {row["what"]: row for row in done.transcript}
    assert rows["give up"]["thing"] == "lamp" and "reach" in rows["give up"]["why"]
    assert rows["put away"]["thing"] == "can" and set(done.props) == {"can"}
    foot = done.props["can"][-1][:3, 3]
    assert abs(foot[2] - 0.9) < 2e-3 and abs(foot[0] - 1.7) < 0.4 and abs(foot[1] + 0.7) < 0.2


def test_things_are_stood_where_there_is_room():
    _, _, world, _, _ = dining_room()
    bodies = {b.name: b for b in world.bodies}
    free = free_spots(world, bodies["table one"], bodies["can"], np.eye(3))
    cup = bodies["cup one"].matrices[0][:2, 3]
    assert len(free) > 10 and np.allclose(free[:, 2], 0.9005)
    assert (np.abs(free[:, 0]) <= 0.4 - 0.05 + 1e-9).all() and (np.abs(free[:, 1] + 1.6) <= 0.25 - 0.05 + 1e-9).all()
    assert np.hypot(*(free[:, :2] - cup).T).min() > 0.08 + 0.03
    narrow = box("post", (0.02, 0.02, 0.5), (0.0, 0.0, 0.5), number=40)
    assert len(free_spots(World((narrow, bodies["can"])), narrow, bodies["can"], np.eye(3))) == 0


def test_without_litter_places_or_time_it_says_so():
    job, litter, spots = room()
    with pytest.raises(InvalidParam, match="nothing to put away"):
        tidy(job, TidyParams(), (), spots)
    with pytest.raises(InvalidParam, match="nowhere to put"):
        tidy(job, TidyParams(), litter, ())
    with pytest.raises(Cancelled):
        tidy(replace(job, should_stop=lambda: True), TidyParams(), litter, spots)
