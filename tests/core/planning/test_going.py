"""Orders as features give them: who is done when, places beside a goal, what is ground, and ways into the unknown."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from troupe.core.errors import NoPath
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.kinematics import base
from troupe.core.motion import Path
from troupe.core.params import declared
from troupe.core.planning.senses.exploring import (
    ExploringParams,
    at_once,
    decisions,
    exploring,
    seen_and_known,
    set_out,
    walked,
)
from troupe.core.planning.walkers import casting, ending, going, scenes
from troupe.core.planning.walkers.follow import FollowParams, advance, gains, standing
from troupe.core.planning.walkers.navigate import begin, step
from troupe.core.planning.walkers.polylines import ways
from troupe.core.planning.walkers.verify import verify_bodies
from troupe.core.planning.ways.footing import GUESSED, with_footing
from troupe.core.planning.ways.map import project
from troupe.core.world import Body, World

PERSON = mannequin(1.7)
RECORDS = [
    going.GotoParams,
    going.FollowParams,
    going.PursueParams,
    going.EvadeParams,
    going.WanderParams,
    going.PatrolParams,
    going.TagParams,
    going.HideParams,
    going.SearchParams,
    going.QueueParams,
    going.TogetherParams,
    ExploringParams,
]
WALL = scenes.box("Wall", 1, (-1.5, -2.1, 0.0), (1.5, -1.9, 2.5))
FLOOR = scenes.floor(-6.0, -8.0, 6.0, 4.0)


def played(world, told, bases, places, seconds=20.0):
    """The state at the end, and how many steps it took."""
    lead = next(iter(told.values()))
    everybody = casting.common(list(told.values()), replace(lead, seconds=seconds))
    setups = {name: casting.actor_setup(own, np.array(bases[name]), PERSON, everybody) for name, own in told.items()}
    state = begin(world, setups, everybody, places)
    until = ending.still_from([t for own in told.values() for t in own.targets()], world, places)
    while state.tick < seconds * world.fps and not ending.over(state, told, until):
        state = step(state, world, (), 1 / world.fps)
        if state.tick == 2:
            ending.demand_ways(state, until == 0.0)
    return state


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_has_at_most_six_basic_parameters_and_survives_a_round_trip(record):
    assert sum(p.basic for p in declared(record)) <= 6
    assert record.from_dict(record().to_dict()) == record()


@pytest.mark.req("kuffner", 38, 106)
def test_how_one_steers_is_told_with_what_it_does_and_holds_for_it_alone():
    told = {
        "A": going.GotoParams(place=(0.0, -4.0, 0.0), settling=0.6, arrive=0.2, prediction=0.5),
        "B": going.SearchParams(target="A", heading_gain=3.0, look_ahead=0.8),
    }
    bases = {"A": (0.0, 0.0, 0.0), "B": (3.0, 0.0, 0.0)}
    cast = played(World((), 24.0), told, bases, {}, seconds=0.1).cast
    gain = cast.gains
    assert np.allclose(gain.heading_gain, (4.74 / 1.2, 3.0)) and np.allclose(gain.turn_gain, (4 * 4.74 / 1.2, 20.0))
    assert np.allclose(gain.arrive, (0.2, 0.05)) and np.allclose(gain.reach, (0.42, 1.12))
    assert cast.params.prediction == 0.5


def test_a_run_ends_when_everybody_stands_at_the_goal():
    told = {"A": going.GotoParams(target="Goal")}
    state = played(World((FLOOR, WALL), 24.0), told, {"A": (0.0, 0.0, 0.0)}, {"Goal": scenes.spot(0.0, -4.0)})
    assert np.hypot(*(state.movers.place[0] - (0.0, -4.0))) < 0.06 and state.clock < 9.0
    assert abs(state.movers.speed[0]) < 0.05


def test_a_run_does_not_end_before_the_goal_has_stopped():
    goal = Path(np.array([[0.0, -2.0], [0.0, -2.0], [2.0, 0.0]]), ("x", "y"), np.array([0.0, 7.0, 7.1]))
    told = {"A": going.GotoParams(target="Goal")}
    state = played(World((FLOOR,), 24.0), told, {"A": (0.0, 0.0, 0.0)}, {"Goal": goal})
    assert state.clock > 7.1 and np.hypot(*(state.movers.place[0] - (2.0, 0.0))) < 0.06


def test_a_goal_without_a_way_is_refused_with_the_reason():
    fence = scenes.box("Fence", 2, (-6.0, -3.1, 0.0), (6.0, -2.9, 2.5))
    told = {"A": going.GotoParams(target="Goal")}
    with pytest.raises(NoPath, match="A cannot get there"):
        played(World((FLOOR, fence), 24.0), told, {"A": (0.0, 0.0, 0.0)}, {"Goal": scenes.spot(0.0, -5.0)})


def test_those_sent_to_one_place_get_places_of_their_own():
    told = {n: going.GotoParams(target="Goal") for n in "ABC"}
    bases = {"A": np.array([-2.0, 0.0, 0.0]), "B": np.array([2.0, 0.0, 0.0]), "C": np.array([0.0, 3.0, 0.0])}
    shared = casting.gathered(told, bases, {n: np.array([0.0, -4.0]) for n in "ABC"})
    spots = np.array([shared[n].offset for n in "ABC"])
    gaps = np.hypot(*(spots[:, None] - spots).transpose(2, 0, 1))[np.triu_indices(3, 1)]
    assert gaps.min() > 2 * told["A"].radius + 0.1 and np.ptp(np.hypot(*spots.T)) < 1e-9
    alone = casting.gathered({"A": told["A"]}, bases, {"A": np.zeros(2)})
    assert alone["A"] == told["A"]


def test_wanderers_with_names_go_along_with_people_who_pass():
    told = {"A": going.WanderParams(whom="B", seed=3), "B": going.PatrolParams(waypoints=((3.0, -1.0), (-3.0, -1.0)))}
    state = played(World((FLOOR,), 24.0), told, {"A": (0.0, 0.0, 0.0), "B": (-3.0, -1.0, 1.5)}, {}, 6.0)
    assert any(line["actor"] == "A" and line["what"] == "follows" for line in state.transcript)


def test_a_patrol_without_pauses_does_not_stop_at_its_waypoints():
    told = {"A": going.PatrolParams(waypoints=((2.0, 0.0), (2.0, -3.0)), loop=False)}
    state = played(World((FLOOR,), 24.0), told, {"A": (-2.0, 0.0, np.pi / 2)}, {})
    track = np.array([row[0] for row in state.track])
    speed = np.hypot(*np.diff(track[:, :2], axis=0).T) * 24.0
    turning = np.argmin(np.hypot(*(track[:, :2] - (2.0, 0.0)).T))
    assert speed[turning - 12 : turning + 12].min() > 0.2
    assert state.clock < 9.0 and np.hypot(*(track[-1, :2] - (2.0, -3.0))) < 0.06


@pytest.mark.parametrize("speed", [0.6, 1.4, 2.5])
@pytest.mark.req("kuffner", 35)
def test_braking_is_even_and_ends_at_the_goal_without_passing_it(speed):
    gain, mover = gains([FollowParams()], [speed]), standing([[0.0, 0.0, np.pi / 2]])
    way = ways([np.array([[0.0, 0.0], [4.0, 0.0]])])
    track = []
    for _ in range(round(24 * (4.0 / speed + 4.0))):
        mover = advance(mover, way, gain, 1 / 24)
        track.append((mover.place[0, 0], mover.speed[0]))
    x, v = np.array(track).T
    assert 3.94 < x[-1] <= x.max() < 4.0 and abs(v[-1]) < 1e-3
    braking = np.flatnonzero(v > 0.97 * v.max())[-1]
    assert (np.flatnonzero(v > 0.03)[-1] - braking) / 24 < 0.4 + 1.1 * speed
    assert -np.diff(v).min() * 24 < 1.8


# ground


def guessed(name, number, low, high):
    return scenes.box(name, number, low, high, "ground", tags=frozenset({GUESSED}))


def test_what_one_can_step_onto_is_ground_and_the_rest_is_in_the_way():
    bodies = (
        replace(FLOOR, tags=frozenset({GUESSED})),
        guessed("Crate", 1, (2.0, -2.0, 0.0), (2.6, -1.4, 0.6)),
        guessed("Step", 2, (-3.0, -3.0, 0.0), (-2.0, -2.0, 0.2)),
        guessed("Higher", 3, (-3.0, -4.0, 0.0), (-2.0, -3.0, 0.4)),
        guessed("Roof", 4, (-1.0, -1.0, 2.8), (1.0, 1.0, 3.0)),
        scenes.box("Stage", 5, (3.0, 0.0, 0.0), (5.0, 2.0, 1.0), "ground"),
    )
    out = with_footing(World(bodies, 24.0), [[0.0, 0.0, 0.0]], 0.35)
    assert {b.name for b in out.bodies if b.kind == "ground"} == {"Floor", "Step", "Higher", "Stage"}
    assert not any(GUESSED in b.tags for b in out.bodies)


def test_nobody_on_it_leaves_no_guessed_ground():
    out = with_footing(World((guessed("Cloud", 1, (-9.0, -9.0, 5.0), (9.0, 9.0, 5.1)),), 24.0), [[0.0, 0.0, 0.0]], 0.35)
    assert [b.kind for b in out.bodies] == ["obstacle"]


# verification


@pytest.mark.req("kuffner", 107)
def test_a_body_in_a_thing_or_in_somebody_is_found_when_it_is():
    motion = base.based(walk(PERSON, cycles=2))
    middle = motion.base[len(motion) // 2, :2]
    post = scenes.box("Post", 1, (*(middle - 0.1), 0.0), (*(middle + 0.1), 1.5))
    found = verify_bodies("A", motion, World((post,), motion.fps), {})
    assert {o.other for o in found} == {"Post"} and max(o.depth for o in found) > 0.03
    when = np.array([o.time for o in found])
    assert when.min() < motion.times[len(motion) // 2] + 0.1 < when.max() + 0.5
    away = Body("Post", 1, post.vertices + [3.0, 0.0, 0.0], post.triangles, post.matrices)
    assert verify_bodies("A", motion, World((away,), motion.fps), {}) == ()
    still = replace(motion, roots=motion.roots[:1], rotations=motion.rotations[:1], base=motion.base[-1:], curves={})
    assert {o.other for o in verify_bodies("A", motion, World((), motion.fps), {"B": still})} == {"B"}


# the unknown


def ended(steps):
    """What comes of steps when all are taken."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def outing(world, start, goal, params):
    chart = params.chart()
    trip = set_out(world, np.array(start), goal, params, chart)
    return trip, ended(exploring(trip, goal, params, chart))


@pytest.mark.req("kuffner", 55)
def test_an_unknown_maze_takes_a_way_back_and_memory_holds_only_what_was_seen():
    size, params = 4, ExploringParams(seconds=60.0, radius=0.3, cell=0.15)
    near, far = 0.75, 1.5 * (size - 0.5)
    maze = scenes.maze(size, seed=2)
    trip, arrived = outing(maze.world, scenes.towards(far, near, near, near), scenes.spot(near, far), params)
    track = np.array(trip.track)
    length = np.hypot(*np.diff(track[:, :2], axis=0).T).sum()
    best = project(maze.world, params.chart()).walkable(0.3).plan(track[0, :2], (near, far)).report.length
    assert arrived and length > 1.15 * best
    looks, seen = seen_and_known(trip), set()
    for look in looks:
        seen |= set(look["seen"])
        assert set(look["known"]) <= seen
    assert {"plans", "learns of", "arrives"} <= {line["what"] for line in decisions(trip, "A")}


def test_what_was_explored_is_walked_gently_along_the_same_way():
    maze = scenes.maze(4, seed=2)
    trip, _ = outing(maze.world, scenes.towards(5.25, 0.75, 0.75, 0.75), scenes.spot(0.75, 5.25), ExploringParams())
    path = walked(trip)
    raw = np.array(trip.track)
    assert np.allclose(path.points[0], raw[0]) and np.hypot(*(path.points[-1] - raw[-1])[:2]) < 0.01
    off = np.hypot(*(path.points[:, None, :2] - raw[None, :, :2]).transpose(2, 0, 1)).min(axis=1)
    assert off.max() < 0.06
    speed = np.hypot(*np.diff(path.points[:, :2], axis=0).T) * 24.0
    assert np.abs(np.diff(speed)).max() * 24.0 < 6.0 and speed[-1] < 0.05
    assert np.abs(np.diff(path.points[:, 2])).max() * 24.0 < 3.0


@pytest.mark.req("kuffner", 54)
def test_a_table_moved_behind_ones_back_is_where_it_was_until_it_is_seen():
    moves = np.zeros((20 * 24, 3))
    moves[7 * 24 :] = (1.5, 1.2, 0.0)
    table = scenes.box("Table", 9, (3.2, 2.6, 0.0), (4.8, 3.4, 0.75), "obstacle", moves)
    world = World((scenes.floor(-1.0, -1.0, 9.0, 7.0), table), 24.0)
    goal = Path(np.array([[7.3, 5.3], [7.3, 5.3], [0.7, 0.7]]), ("x", "y"), np.array([0.0, 9.0, 9.04]))
    params = ExploringParams(target="Goal", known="everything", seconds=20.0)
    trip, arrived = outing(world, scenes.towards(2.0, 3.0, 7.3, 5.3), goal, params)
    assert arrived and np.hypot(*(np.array(trip.track)[-1, :2] - (0.7, 0.7))) < 0.15
    back = [way.points[:, :2] for frame, way in trip.plans if frame >= 9 * 24]
    assert enters(back[0], (5.5, 4.2), 0.3) and not enters(back[0], (4.0, 3.0)), "it plans round where the table was"
    track = np.array(trip.track)[9 * 24 :, :2]
    assert len(back) > 1 and not enters(track, (5.5, 4.2), 0.25), "and goes round where it is once it has seen it"


def test_those_who_remember_tell_when_they_learned():
    moves = np.zeros((48, 3))
    cup = scenes.box("Cup", 9, (0.5, 2.0, 0.0), (0.9, 2.4, 0.75), "prop", moves)
    trip, _ = outing(World((FLOOR, cup), 24.0), (0.0, 0.0, np.pi), scenes.spot(0.0, 1.0), ExploringParams())
    assert "Cup" in seen_and_known(trip)[0]["seen"]
    turned, _ = outing(World((FLOOR, cup), 24.0), (0.0, 0.0, 0.0), scenes.spot(0.0, -1.0), ExploringParams())
    assert "Cup" not in seen_and_known(turned)[-1]["known"]


def explored_at_once(starts, goals, whom=None):
    """Outings by name of those who set out at the same time, and who arrived."""
    params, world = ExploringParams(seconds=20.0, cell=0.15), World((FLOOR,), 24.0)
    chart = params.chart()
    trips = {n: set_out(world, np.array(at), goals[n], params, chart) for n, at in starts.items()}
    aims = {n: trips[whom[n]] if whom and n in whom else None for n in trips}
    frames = {n: (trips[n], exploring(trips[n], goals[n], params, chart, aims[n])) for n in trips}
    return trips, ended(at_once(frames))


def test_those_who_explore_at_once_see_each_other_move_and_pass_without_touching():
    starts = {"A": scenes.towards(-4.0, -2.0, 4.0, -2.0), "B": scenes.towards(4.0, -2.0, -4.0, -2.0)}
    trips, arrived = explored_at_once(starts, {"A": scenes.spot(4.0, -2.0), "B": scenes.spot(-4.0, -2.0)})
    assert arrived == {"A": True, "B": True}
    tracks = [np.array(trip.track)[:, :2] for trip in trips.values()]
    count = min(map(len, tracks))
    assert np.hypot(*(tracks[0][:count] - tracks[1][:count]).T).min() > 0.5
    for me, other in (("A", "B"), ("B", "A")):
        looks = trips[me].aware.looks[2:8]
        seen = [o for look in looks for o in look.memory.observations.values() if o.name == other]
        assert len(seen) == len(looks), me
        assert all(1.0 < np.hypot(*o.velocity[:2]) < 1.4 for o in seen), "it walks, and is not taken to stand"
        assert other in seen_and_known(trips[me])[0]["seen"]


def test_an_explorer_goes_to_another_who_is_on_its_way():
    starts = {"A": scenes.towards(-4.0, 2.0, 4.0, 2.0), "B": scenes.towards(0.0, 0.0, 0.0, -6.0)}
    goals = {"A": scenes.spot(0.0, 0.0), "B": scenes.spot(0.0, -6.0)}
    trips, arrived = explored_at_once(starts, goals, {"A": "B"})
    assert arrived["B"] and any(event.name == "goal_moved" for event in trips["A"].events)
    assert np.hypot(*(np.array(trips["A"].track)[-1, :2] - (0.0, -6.0))) < 1.0


@pytest.mark.req("kuffner", 56)
@pytest.mark.parametrize(
    ("model", "left"),
    [("basic", {"Wall", "Cup", "Ball"}), ("temporal", {"Wall"}), ("rules", {"Wall", "Cup"}), ("confidence", {"Wall"})],
)
def test_what_is_forgotten_behind_ones_back_depends_on_the_memory(model, left):
    roll = np.column_stack([np.linspace(0.0, 1.0, 96), np.zeros(96), np.zeros(96)])
    wall = scenes.box("Wall", 8, (-3.0, 3.0, 0.0), (3.0, 3.1, 2.5))
    cup = scenes.box("Cup", 9, (0.5, 2.0, 0.0), (0.9, 2.4, 0.75), "prop")
    ball = scenes.box("Ball", 10, (-1.0, 2.0, 0.0), (-0.6, 2.4, 0.75), "prop", roll)
    params = ExploringParams(memory=model, forget=0.8, interval=6, cell=0.2)
    trip, _ = outing(World((FLOOR, wall, cup, ball), 24.0), (0.0, 0.0, np.pi), scenes.spot(0.0, -2.4), params)
    assert {"Wall", "Cup", "Ball"} <= set(seen_and_known(trip)[0]["known"])
    if model == "confidence":
        assert {b.name for b in trip.believed().bodies} - {"Floor"} == left
    else:
        assert set(seen_and_known(trip)[-1]["known"]) - {"Floor"} == left


def enters(way, middle, grown=0.0):
    """Whether a way leads through the table, grown by some [m], when its middle is there."""
    share = np.linspace(0.0, 1.0, 50)[:, None]
    dense = np.concatenate([a + share * (b - a) for a, b in pairwise(way)])
    return bool((np.abs(dense - middle) < (0.8 + grown, 0.4 + grown)).all(axis=1).any())
