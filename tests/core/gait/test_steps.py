"""Footfalls under a base track: in turns, in time, where the body will be, one gait or the other."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from troupe.core.gait.footfalls import FOREVER, Footfall, Wishes, reverse
from troupe.core.gait.physique import measure
from troupe.core.gait.run import Run, RunParams
from troupe.core.gait.steps import Planner
from troupe.core.gait.terrain import Level
from troupe.core.gait.track import Track
from troupe.core.gait.walking import Walk, WalkStyle
from troupe.core.maths import quat

from .ways import BODY, CHANGES, RUNS, WALKS, circle, size, start_stop, straight, track, turn

PHYSIQUE = measure(BODY)
EVERY = {**WALKS, **RUNS, **CHANGES}


def planner(way, style=None, limit=2.0, **wishes):
    """The planner of a way on a level floor."""
    gaits = {"walk": Walk(PHYSIQUE, style or WalkStyle()), "run": Run(PHYSIQUE, RunParams())}
    choose = wishes.pop("choose", lambda pace, now: "run" if pace > limit else "walk")
    return Planner(Track(way), PHYSIQUE, gaits, Level(), Wishes(choose=choose, **wishes))


def plan(way, style=None, **wishes):
    """All steps of a way, from a stand where it begins with one."""
    mine = planner(way, style, **wishes)
    gait = mine.wishes.choose(float(mine.paces[0]), "walk")
    return mine.plan(None if mine.moving[0] else mine.stand(), gait)


def struck(plan):
    return [f for f in plan.falls if f.strike > -FOREVER]


@pytest.mark.parametrize("name", EVERY)
def test_feet_take_turns_and_leave_after_they_have_come(name):
    steps = plan(EVERY[name](30.0))
    falls = struck(steps)
    assert all(a.side != b.side for a, b in pairwise(falls))
    assert all(a.strike < b.strike for a, b in pairwise(falls))
    for side in (0, 1):
        mine = [f for f in steps.falls if f.side == side]
        for here, there in pairwise(mine):
            assert here.strike < here.off < there.strike
        assert mine[-1].off == FOREVER


@pytest.mark.parametrize("name", EVERY)
def test_intervals_cover_the_track_without_gaps(name):
    way = EVERY[name](30.0)
    spans = plan(way).intervals
    assert spans[0].start <= 0.0
    assert spans[-1].end >= way.times[-1]
    for a, b in pairwise(spans):
        assert a.end == b.start
        assert a.start < a.end


@pytest.mark.parametrize("speed", [0.3, 0.8, 1.4, 2.0])
def test_steps_are_as_many_as_the_gait_has_at_that_speed(speed):
    falls = struck(plan(straight(speed, 8.0, 24.0)))
    rate = 1 / np.mean(np.diff([f.strike for f in falls]))
    assert rate == pytest.approx(Walk(PHYSIQUE, WalkStyle()).cadence(np.array([speed * np.sqrt(size())]))[0], rel=0.01)


@pytest.mark.parametrize("speed", [0.3, 0.8, 1.4, 2.0])
def test_steps_are_as_long_as_speed_and_cadence_ask(speed):
    falls = struck(plan(straight(speed, 8.0, 24.0)))
    lengths = -np.diff([f.place[1] for f in falls])
    spans = np.diff([f.strike for f in falls])
    np.testing.assert_allclose(lengths, speed * np.sqrt(size()) * spans, rtol=0.01)


def test_feet_tread_beside_the_track_and_point_outward():
    style = WalkStyle(stride_width=0.2, toe_out=0.15)
    falls = struck(plan(straight(1.2, 5.0, 24.0), style))
    for fall in falls:
        out = 1.0 if fall.side == 0 else -1.0
        assert fall.place[0] == pytest.approx(out * 0.1 * size())
        assert quat.heading(fall.turn) == pytest.approx(out * 0.15)


def test_a_foot_is_put_where_the_body_will_be_over_it():
    way = straight(1.4, 5.0, 24.0)
    there = Track(way)
    for fall in struck(plan(way)):
        over = there.at(fall.strike + fall.cycle.lead * fall.cycle.stance_time)
        assert fall.place[1] == pytest.approx(over[1], abs=1e-9)


def test_a_body_on_its_way_comes_from_before_the_beginning():
    falls = struck(plan(straight(1.4, 4.0, 24.0)))
    assert sum(f.strike < 0 for f in falls) >= 2
    assert {f.side for f in falls if f.strike < 0} == {0, 1}


def test_both_feet_come_down_after_the_end():
    way = straight(1.4, 4.0, 24.0)
    falls = struck(plan(way))
    assert {f.side for f in falls if f.strike >= way.times[-1]} == {0, 1}


def test_a_body_that_stands_takes_no_step():
    steps = plan(track(np.zeros(100), 0.0, 0.3, 24.0))
    assert len(steps.falls) == 2
    assert not struck(steps)


def test_a_body_that_sways_in_its_place_takes_no_step():
    t = np.arange(240) / 24.0
    assert not struck(plan(track(0.01 * np.sin(t), 0.01 * np.cos(t), 0.01 * np.sin(t), 24.0)))


def test_a_walk_ends_with_both_feet_side_by_side():
    way = start_stop(1.3, 24.0)
    steps = plan(way)
    last = {f.side: f for f in struck(steps)[-2:]}
    assert last[0].place[1] == pytest.approx(way.points[-1, 1], abs=0.05 * size())
    assert last[1].place[1] == pytest.approx(way.points[-1, 1], abs=0.05 * size())
    assert last[0].off == last[1].off == FOREVER


def test_the_foot_on_the_side_of_a_turn_goes_first():
    assert struck(plan(turn(np.pi / 2, 1.5, 24.0)))[0].side == 0
    assert struck(plan(turn(-np.pi / 2, 1.5, 24.0)))[0].side == 1


@pytest.mark.parametrize("angle", [np.pi / 2, -np.pi, 0.5])
def test_a_turn_on_the_spot_ends_in_its_new_heading(angle):
    way = turn(angle, max(0.8, abs(angle)), 24.0)
    steps = plan(way)
    for fall in struck(steps)[-2:]:
        out = 0.1 if fall.side == 0 else -0.1
        assert quat.heading(fall.turn) - out == pytest.approx(np.angle(np.exp(1j * angle)), abs=np.radians(9.0))
        assert np.hypot(*fall.place[:2]) < 0.2


def test_feet_do_not_cross_in_a_turn_on_the_spot():
    """Neither foot is put on the other's side of the body."""
    way = turn(-np.pi, 2.5, 24.0)
    there = Track(way)
    for fall in struck(plan(way)):
        heading = there.at(fall.strike)[2]
        left = fall.place[0] * np.cos(heading) + fall.place[1] * np.sin(heading)
        assert (left if fall.side == 0 else -left) > 0.0


def test_feet_do_not_cross_in_a_walk_sideways():
    way = straight(0.6, 5.0, 24.0, np.pi / 2)
    feet = {}
    for fall in struck(plan(way)):
        feet[fall.side] = fall.place[0]
        if len(feet) == 2:
            assert feet[0] > feet[1] + 0.02


@pytest.mark.parametrize("side", [0, 1])
def test_the_first_foot_can_be_wished_for(side):
    assert struck(plan(start_stop(1.2, 24.0), first=side))[0].side == side


def test_the_foot_that_is_behind_begins():
    mine = planner(start_stop(1.2, 24.0))
    left, right = mine.stand()
    for back, sides in ((left, 0), (right, 1)):
        moved = [replace(f, place=f.place + (np.array([0.0, 0.15, 0.0]) if f is back else 0.0)) for f in (left, right)]
        assert struck(planner(start_stop(1.2, 24.0)).plan(moved, "walk"))[0].side == sides


def test_a_foot_that_stands_off_its_place_steps_home_when_the_body_goes_nowhere():
    """Nothing asks a body that stands to step, wherever its feet are."""
    mine = planner(track(np.zeros(60), 0.0, 0.0, 24.0))
    left, right = mine.stand()
    apart = [replace(left, place=left.place + np.array([0.1, 0.1, 0.0])), right]
    assert not struck(mine.plan(apart, "walk"))


def test_prints_are_trodden_by_number():
    wanted = {2: (0.3, -1.0, 0.4)}
    plain, moved = (struck(plan(start_stop(1.2, 24.0), prints=prints)) for prints in ({}, wanted))
    assert moved[2].place[:2] == pytest.approx((0.3, -1.0))
    assert quat.heading(moved[2].turn) == pytest.approx(0.4)
    np.testing.assert_allclose(moved[2].wanted, plain[2].wanted)
    for k, (a, b) in enumerate(zip(plain, moved, strict=True)):
        if k != 2:
            np.testing.assert_allclose(a.place, b.place)


def test_a_body_comes_to_stand_on_the_footfalls_of_its_end():
    way = start_stop(1.2, 24.0)
    y = way.points[-1, 1]
    still = Walk(PHYSIQUE, WalkStyle()).cycle(0.0, "L")
    ends = [
        Footfall(side, np.array([x, y + dy, 0.0]), quat.about(np.array([0.0, 0.0, 1.0]), np.array(turned)),
                 np.array([x, y + dy]), -FOREVER, FOREVER, still, "walk")
        for side, x, dy, turned in ((0, 0.12, 0.06, 0.3), (1, -0.09, -0.05, -0.1))
    ]  # fmt: skip
    steps = plan(way, final=ends)
    last = {f.side: f for f in steps.falls}
    for side in (0, 1):
        np.testing.assert_allclose(last[side].place, ends[side].place)
        np.testing.assert_allclose(last[side].turn, ends[side].turn)
        assert last[side].strike < way.times[-1]


@pytest.mark.parametrize("name", ["straight at 1.0", "circle of 4 m", "walk, run, walk", "sideways", "backward"])
def test_steps_do_not_depend_on_the_frame_rate(name):
    coarse, fine = (struck(plan(EVERY[name](fps))) for fps in (24.0, 96.0))
    assert len(coarse) == len(fine)
    for a, b in zip(coarse, fine, strict=True):
        assert a.side == b.side
        assert a.strike == pytest.approx(b.strike, abs=4e-3)
        assert np.linalg.norm(a.place - b.place) < 4e-3


def test_a_gait_is_chosen_at_each_step_by_its_pace():
    asked = []

    def choose(pace, now):
        asked.append((round(pace, 3), now))
        return "run" if pace > 2.0 else "walk"

    falls = struck(plan(CHANGES["walk, run, walk"](24.0), choose=choose))
    assert {f.gait for f in falls} == {"walk", "run"}
    assert min(pace for pace, _ in asked) < 2.0 < max(pace for pace, _ in asked)
    assert {now for _, now in asked} == {"walk", "run"}


@pytest.mark.parametrize("name", [n for n in WALKS if "keyed" not in n])
def test_walks_have_a_time_on_both_feet_between_all_steps(name):
    steps = plan(WALKS[name](30.0), choose=lambda pace, now: "walk")
    falls = struck(steps)
    for before, here in pairwise(falls):
        gone = next(f for f in reversed(steps.falls) if f.side != here.side and f.strike < here.strike)
        assert gone is before
        assert gone.off > here.strike


def test_runs_leave_the_ground_between_all_steps():
    falls = struck(plan(straight(4.0, 3.0, 30.0)))
    assert {f.gait for f in falls} == {"run"}
    for before, here in pairwise(falls[:-1]):
        assert before.off < here.strike


def test_a_stride_reversed_twice_is_itself():
    cycle = Walk(PHYSIQUE, WalkStyle()).cycle(1.0, "L")
    back = reverse(cycle)
    assert back.step_length == -cycle.step_length
    assert back.lead == 1.0 - cycle.lead
    again = reverse(back)
    np.testing.assert_allclose(again.body, cycle.body, atol=2e-3)
    np.testing.assert_allclose(again.arm, cycle.arm, atol=2e-2)
    assert again.lead == pytest.approx(cycle.lead)


def test_steps_around_a_circle_keep_to_it():
    radius = 2.0
    for fall in struck(plan(circle(1.4, radius, fps=30.0))):
        away = np.hypot(fall.place[0] - radius, fall.place[1])
        wanted = radius - 0.05 * size() if fall.side == 0 else radius + 0.05 * size()
        assert away == pytest.approx(wanted, abs=0.01)
