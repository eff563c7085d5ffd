"""An actor that plans with what it has seen: it walks into dead ends, notices, turns back and arrives."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam, NotVisible
from troupe.core.maths import geometry
from troupe.core.planning.senses import awareness, explore
from troupe.core.planning.senses.awareness import Awareness, Explorer, sweep
from troupe.core.planning.senses.explore import ExploreParams, map_planner
from troupe.core.planning.senses.eyes import eye_at
from troupe.core.planning.senses.memory import MemoryParams
from troupe.core.planning.senses.recollection import NO_PATH
from troupe.core.planning.senses.scenery import actor_body, scenery
from troupe.core.planning.senses.seek import seek
from troupe.core.planning.senses.survey import frontier, surveyed, unseen
from troupe.core.planning.senses.vision import VisionParams
from troupe.core.planning.walkers.scenes import maze
from troupe.core.planning.ways.map import MapParams, project
from troupe.core.planning.ways.walkable import WalkableParams
from troupe.core.world import World

from .sights import box, floor

NORTH, SOUTH = np.pi, 0.0
COARSE = VisionParams(pixels=80, interval=3)


def gap(points, low, high):
    """(n,) distance of places from a rectangle [m]."""
    return np.hypot(*np.maximum(np.maximum(np.array(low) - points, points - np.array(high)), 0.0).T)


def dense(path):
    """Places every centimetre along a path."""
    p = path.points[:, :2]
    s = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(p, axis=0).T))])
    at = np.arange(0, s[-1], 0.01)
    return np.stack([np.interp(at, s, p[:, k]) for k in range(2)], axis=1)


def length(path):
    return float(np.hypot(*np.diff(path.points[:, :2], axis=0).T).sum())


def room(x0, y0, x1, y1, start=100):
    """Walls around a floor."""
    t = 0.1
    sides = [(x0, y0 - t, x1, y0), (x0, y1, x1, y1 + t), (x0 - t, y0, x0, y1), (x1, y0, x1 + t, y1)]
    walls = [
        box(f"wall {k}", start + k, ((a + c) / 2, (b + d) / 2, 1.25), (c - a, d - b, 2.5))
        for k, (a, b, c, d) in enumerate(sides)
    ]
    return (floor(0, x0, y0, x1, y1), *walls)


@pytest.mark.req("kuffner", 53)
def test_an_unseen_wall_is_planned_through_and_walked_around():
    wall = box("wall", 1, (0, 8, 1.25), (6, 0.2, 2.5))
    world = World((floor(0, -6, -2, 6, 14), wall))
    short_sighted = Explorer(VisionParams(pixels=80, interval=2, range=4.0))
    found = explore.explore(world, (0, 0, NORTH), (0, 12), short_sighted)
    low, high = (-3, 7.9), (3, 8.1)
    assert found.arrived
    assert gap(dense(found.plans[0][1]), low, high).min() == 0.0
    seen = min(look.frame for look in found.aware.looks if 1 in look.visible)
    assert any(frame == seen for frame, _ in found.plans)
    assert gap(dense(found.plans[-1][1]), low, high).min() > 0.3
    assert gap(found.path.points[:, :2], low, high).min() > 0.3
    assert found.path.points[seen, 1] == pytest.approx(4.0, abs=0.3)


@pytest.mark.req("kuffner", 54)
def test_a_table_moved_behind_its_back_is_avoided_where_it_was_until_it_is_seen_where_it_is():
    def with_table(x, y):
        return World((*room(0, 0, 8, 6), box("table", 1, (x, y, 0.375), (1.6, 0.8, 0.75), "prop")))

    def footprint(x, y, grown):
        return (x - 0.8 - grown, y - 0.4 - grown), (x + 0.8 + grown, y + 0.4 + grown)

    before, after = scenery(with_table(4, 3)), scenery(with_table(5.5, 4.2))
    old, new = (4, 3), (5.5, 4.2)
    explorer = Explorer(COARSE)
    aware = Awareness()
    for k in range(8):
        eye = eye_at(np.array([2, 3, 1.6]), k * np.pi / 4)
        aware = explorer.sense(aware, before, eye, 0, 0.0, always=True)
    assert {1, 100, 101, 102, 103} <= set(aware.memory.observations)

    # the first way is planned with the table where it stands
    first = explore.explore(before, (2, 3, -np.pi / 2), (7.3, 5.3), explorer, aware=aware)
    assert first.arrived
    assert gap(first.path.points[:, :2], *footprint(*old, 0)).min() > 0.3

    # while it faces the corner the table is moved: it avoids the place where it was, and only that
    corner = (*first.path.points[-1, :2], NORTH - np.pi / 4)
    second = explore.explore(after, corner, (0.7, 0.7), explorer, aware=first.aware, time=first.path.times[-1])
    assert second.arrived
    frame, way = second.plans[0]
    assert frame == 0
    assert gap(dense(way), *footprint(*old, 0)).min() > 0.3
    assert gap(dense(way), *footprint(*new, 0)).min() < 0.3

    # when it has turned it sees the table, and plans the other way round
    looks = [look for look in second.aware.looks if look.time >= first.path.times[-1]]
    noticed = next(look for look in looks if any(c.key == 1 and c.what == "moved" for c in look.changes))
    assert noticed.frame > 0
    assert np.allclose(noticed.memory.observations[1].matrix[:2, 3], new)
    replanned = next(way for frame, way in second.plans if frame == noticed.frame)
    assert gap(dense(replanned), *footprint(*new, 0)).min() > 0.3
    assert gap(dense(replanned), *footprint(*old, 0)).min() < 0.3
    assert gap(second.path.points[:, :2], *footprint(*new, 0)).min() > 0.3


def lost(size=6, seed=2):
    """An unknown maze from its bottom right to its top left."""
    world = maze(size, seed=seed).world
    far = (size - 0.5) * 1.5
    planner = map_planner(MapParams(radius=0.25, cell=0.125), WalkableParams(margin=0.05))
    start, goal = (far, 0.75, NORTH), (0.75, far)
    found = explore.explore(world, start, goal, Explorer(COARSE), ExploreParams(radius=0.25), planner=planner)
    return world, found, planner(world, np.array(start[:2]), np.array([goal]), 0.0).path


@pytest.mark.req("kuffner", 55)
def test_an_unknown_maze_is_solved_with_turning_back_and_with_what_was_seen_alone():
    world, found, informed = lost()
    assert found.arrived
    assert length(found.path) > 1.5 * length(informed)
    p = found.path.points[:, :2]
    visits = np.unique(np.floor(p / 1.5), axis=0, return_inverse=True)[1].reshape(-1)
    entered = visits[np.concatenate([[True], np.diff(visits) != 0])]
    assert len(entered) > len(np.unique(entered))  # some cell is entered a second time: it has turned back
    known = {o.id for o in found.aware.memory.observations.values()}
    assert known <= found.aware.ever_seen() <= {b.id for b in world.bodies}
    so_far = set()
    for look in found.aware.looks:
        so_far |= set(look.visible)
        assert {o.id for o in look.memory.observations.values()} <= so_far
    assert len(found.aware.at(0).memory.observations) < len(found.aware.memory.observations)
    walls = World(tuple(b for b in world.bodies if b.kind != "ground"))
    points = np.column_stack([p, np.full(len(p), 1.0)])
    assert geometry.nearest(walls, points)[1].min() > 0.25


@pytest.mark.req("kuffner", 55)
def test_exploring_twice_gives_the_same_path():
    a, b = lost(4)[1], lost(4)[1]
    assert (a.path.points == b.path.points).all()
    assert [f for f, _ in a.plans] == [f for f, _ in b.plans]


def corridor(state, detour=False):
    """A room cut by a wall with a door, and maybe a gap at its end."""
    left = -2.0 if detour else -3.0
    wall = [
        box("wall left", 1, ((left - 0.5) / 2, 4, 1.25), (-0.5 - left, 0.2, 2.5)),
        box("wall right", 2, (1.75, 4, 1.25), (2.5, 0.2, 2.5)),
    ]
    door = box("door", 3, (0, 4, 1.25), (1.0, 0.2, 2.5), "door", state)
    return World((*room(-3, 0, 3, 8), *wall, door))


@pytest.mark.req("kuffner", 57)
def test_with_no_way_left_it_tries_the_door_and_goes_through_when_that_is_open_by_now():
    explorer = Explorer(COARSE)
    aware = explorer.sense(Awareness(), scenery(corridor(["closed"])), eye_at(np.array([0, 0.6, 1.6]), NORTH), 0, 0.0)
    assert aware.memory.observations[3].properties == {"closed"}
    found = explore.explore(
        corridor(["open"]), (0, 0.6, SOUTH), (0, 7), explorer, ExploreParams(radius=0.25), aware,
        planner=map_planner(MapParams(radius=0.25, cell=0.125), WalkableParams(margin=0.0)), time=1.0,
    )  # fmt: skip
    names = [e.name for e in found.events]
    assert names[:2] == ["no_path", "plan"]
    assert "door" in {c.name for look in found.aware.looks for c in look.changes if c.what == "ignored"}
    assert found.arrived


@pytest.mark.req("kuffner", 57)
def test_a_door_that_is_still_closed_is_approached_and_given_up():
    planner = map_planner(MapParams(radius=0.25, cell=0.125), WalkableParams(margin=0.0))
    params = ExploreParams(radius=0.25, patience=2.0)
    found = explore.explore(corridor(["closed"]), (0, 0.6, NORTH), (0, 7), Explorer(COARSE), params, planner=planner)
    assert not found.arrived
    assert found.events[-1].name == "gave_up"
    assert 2.0 < found.path.points[-1, 1] < 3.9 - 0.25
    around = explore.explore(
        corridor(["closed"], True), (0, 0.6, NORTH), (0, 7), Explorer(COARSE), params, planner=planner
    )
    assert around.arrived
    assert around.path.points[:, 0].min() < -2.2


@pytest.mark.req("kuffner", 59)
def test_vision_runs_at_every_nth_frame_only(monkeypatch):
    looks = []
    monkeypatch.setattr(awareness, "see", lambda *a, see=awareness.see: looks.append(a[3]) or see(*a))
    shapes = scenery(World((floor(),)))
    eye = eye_at(np.array([0, 0, 1.6]), NORTH)
    for n, phase, expected in ((1, 0, 12), (3, 0, 4), (5, 2, 2)):
        looks.clear()
        explorer, aware = Explorer(VisionParams(pixels=8, interval=n), phase=phase), Awareness()
        for frame in range(12):
            before = aware
            aware = explorer.sense(aware, shapes, eye, frame, float(frame))
            assert (aware is before) == ((frame - phase) % n != 0)
        assert looks == [float(f) for f in range(12) if (f - phase) % n == 0]
        assert len(looks) == expected
    found = explore.explore(shapes, (0, 0, NORTH), (0, 3), Explorer(VisionParams(pixels=8, interval=7)))
    assert [look.frame for look in found.aware.looks] == list(range(0, len(found.path.points), 7))


def test_what_it_saw_and_knew_at_any_frame_stays_on_record():
    world = World((*room(-4, -2, 4, 10), box("cup", 1, (2, 6, 0.5), 0.4, "prop"), box("bin", 2, (0, -1, 0.4), 0.5)))
    found = explore.explore(world, (0, 0, NORTH), (0, 8), Explorer(COARSE))
    aware = found.aware
    assert aware.at(-1) is None
    assert aware.at(4).frame == 3
    assert 1 in aware.at(0).visible
    assert 1 not in aware.at(len(found.path.points)).visible
    first, last = aware.at(0).memory, aware.at(10**6).memory
    assert 1 in first.observations
    assert first.observations[1].time == 0.0
    assert last.observations[1].time > 0.0
    assert 2 not in last.observations
    assert last is aware.memory


def test_reactions_are_entered_in_the_record():
    explorer = Explorer(COARSE)
    shapes = scenery(corridor(["closed"]))
    aware = explorer.sense(Awareness(), shapes, eye_at(np.array([0, 0.6, 1.6]), NORTH), 0, 0.0)
    after, effects = explorer.react(aware, NO_PATH, 0.0)
    assert not effects
    assert after.revision == aware.revision + 1
    assert after.at(0).memory is after.memory
    assert explorer.react(after, NO_PATH, 0.0)[0].revision == after.revision


@pytest.mark.req("kuffner", 60)
def test_only_what_is_seen_may_be_grasped():
    world = World((*room(-4, -2, 4, 10), box("cup", 1, (2, 6, 0.5), 0.4, "prop")))
    explorer, shapes = Explorer(COARSE), scenery(world)
    with pytest.raises(NotVisible, match="never"):
        Awareness().demand("cup")
    aware = explorer.sense(Awareness(), shapes, eye_at(np.array([0, 0, 1.6]), NORTH), 0, 0.0)
    aware.demand("cup")
    aware = explorer.sense(aware, shapes, eye_at(np.array([0, 0, 1.6]), SOUTH), 3, 0.1)
    with pytest.raises(NotVisible, match=r"2\.00, 6\.00"):
        aware.demand("cup")


HOUSE = (
    *room(0, 0, 8, 6),
    box("partition", 1, (4, 2.25, 1.25), (0.1, 4.5, 2.5)),
    box("sofa", 2, (6.5, 0.5, 0.4), (1.8, 0.8, 0.8)),
)
SMALL = ExploreParams(radius=0.25)
CUP = box("cup", 9, (7, 1.8, 0.6), 0.3, "prop")


@pytest.mark.req("kuffner", 60)
def test_searching_begins_with_a_look_round():
    cup = box("cup", 9, (2, 1.0, 1.0), 0.3, "prop")
    found = seek(World((*HOUSE, cup)), (2, 3, NORTH + 1.2), "cup", Explorer(COARSE), SMALL)
    assert found.arrived
    assert (found.path.points[:, :2] == (2, 3)).all()
    assert not found.plans


@pytest.mark.req("kuffner", 60)
def test_searching_goes_where_the_thing_was_last_seen():
    explorer = Explorer(COARSE, MemoryParams(keep_vanished=True))
    aware = explorer.sense(Awareness(), scenery(World((*HOUSE, CUP))), eye_at(np.array([5, 4.5, 1.6]), 0.6), 0, 0.0)
    assert aware.memory.find("cup") is not None
    found = seek(World((*HOUSE, CUP)), (1, 1, SOUTH), "cup", explorer, SMALL, aware, time=1.0)
    assert found.arrived
    assert np.hypot(*(found.plans[0][1].points[-1] - CUP.matrices[0, :2, 3])) <= 1.0


@pytest.mark.req("kuffner", 60)
def test_searching_visits_what_has_not_been_seen():
    found = seek(World((*HOUSE, CUP)), (1, 1, SOUTH), "cup", Explorer(COARSE), SMALL)
    assert found.arrived
    assert found.aware.memory.find("cup").time == found.aware.sight.time
    assert found.path.points[-1, 1] > 3.5 or found.path.points[-1, 0] > 4


def test_searching_ends_when_everything_has_been_seen():
    found = seek(World(HOUSE), (1, 1, SOUTH), "cup", Explorer(COARSE), replace(SMALL, limit=90.0))
    assert not found.arrived
    assert found.events[-1].name == "gave_up"


def test_the_frontier_lies_between_seen_and_unseen():
    world = World(HOUSE)
    chart = project(world, MapParams(radius=0.25))
    shapes = scenery(world)
    survey = unseen(chart)
    assert frontier(survey, chart.walkable(), (1, 1)) is None
    look = Explorer(COARSE).sense(Awareness(), shapes, eye_at(np.array([1, 3, 1.6]), NORTH / 2), 0, 0.0)
    survey = surveyed(survey, look.sight)
    assert 0.05 < survey.seen.mean() < 0.6
    place = frontier(survey, chart.walkable(), (1, 3))
    column, row = np.floor((place - chart.origin) / chart.cell).astype(int)
    assert survey.seen[row, column]
    assert not survey.seen[row - 1 : row + 2, column - 1 : column + 2].all()


def test_the_gaze_sweeps_to_both_sides_and_back():
    turns = [sweep(t) for t in np.linspace(0, 4, 41)]
    assert max(turns) == pytest.approx(np.pi / 2)
    assert min(turns) == pytest.approx(-np.pi / 2)
    assert turns[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_cancelled_exploration_ends_where_it_is():
    calls = []
    found = explore.explore(
        World((floor(),)),
        (0, 0, NORTH),
        (0, 8),
        Explorer(COARSE),
        should_stop=lambda: len(calls) > 10 or calls.append(1),
    )
    assert not found.arrived
    assert len(found.path.points) == 12


def test_places_must_be_finite():
    world = World((floor(),))
    with pytest.raises(InvalidParam, match="start"):
        explore.explore(world, (0, 0), (1, 1))
    with pytest.raises(InvalidParam, match="goal"):
        explore.explore(world, (0, 0, 0), (1, np.nan))
    with pytest.raises(InvalidParam):
        ExploreParams(speed=0.0)


@pytest.mark.parametrize(
    ("ends", "start"),
    [
        (((0.02, 9.0), (0.02, 0.0)), (0.0, 1.0, NORTH)),
        (((-4.6, 5.0), (4.6, 5.0)), (0.0, 1.0, NORTH)),
        (((0.3, 5.0), (0.3, 5.0)), (0.0, 1.0, NORTH)),
    ],
    ids=["head on", "across", "standing"],
)
def test_those_who_come_along_are_seen_and_dodged(ends, start):
    """Nobody gives way to the explorer, which keeps clear of them as people do: early, and without a jolt."""
    base = np.column_stack([np.linspace(*ends, 24 * 8), np.zeros(24 * 8)])
    other = actor_body("Passer", 50, base, 0.25, 1.7)
    world = World((*room(-4, 0, 4, 10), other), 24.0)
    found = explore.explore(
        world, start, (0, 9), Explorer(VisionParams(pixels=40, interval=3)), ExploreParams(radius=0.25)
    )
    assert found.arrived
    place = found.path.points[:, :2]
    there = base[np.minimum(np.arange(len(place)), len(base) - 1), :2]
    assert np.hypot(*(place - there).T).min() > 0.5 - 0.02
    assert length(found.path) < 9.5
    assert len(found.plans) < 4, "where others walk does not change what is planned with"
    if ends[0] != ends[1]:
        dodging = np.hypot(*(place - there).T)[1:-1] < 2.0
        assert np.hypot(*np.diff(place, 2, axis=0).T)[dodging].max() * 24**2 < 6.0
