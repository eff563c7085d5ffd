"""Dodging: single meetings, walls, doors, opposing streams, and random crowds in which nobody may touch anybody."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from troupe.core.planning.walkers import avoid, doorway, scenes
from troupe.core.planning.walkers.actors import ActorSetup, NavigateParams, Style
from troupe.core.planning.walkers.avoid import Crowd, steer
from troupe.core.planning.walkers.behaviours import Go
from troupe.core.planning.walkers.navigate import begin, step
from troupe.core.planning.ways.chart import DIRECTIONS, charted, rooms
from troupe.core.planning.ways.map import MapParams
from troupe.core.world import World

OPEN = np.full((2, 8), np.inf)


def pair(distance=4.0, speeds=(1.4, -1.4), yielding=(1.0, 1.0), offset=0.0):
    """Two who walk towards each other along x."""
    place = np.array([[0.0, 0.0], [distance, offset]])
    velocity = np.array([[speeds[0], 0.0], [speeds[1], 0.0]])
    return Crowd(place, velocity, velocity, np.full(2, 0.35), np.array(yielding)), velocity


def played(scene, seconds):
    """States of a scene after every step, until all have arrived or the time is over."""
    state = begin(scene.world, scene.actors, scene.params, scene.places)
    states = [state]
    while state.clock < seconds - 1e-9 and not all(m.arrived for m in state.minds):
        state = step(state, scene.world)
        states.append(state)
    return states


@cache
def twenty():
    """States of a square that twenty cross at once."""
    return played(scenes.crossing(22), 45.0)


def overlap(state):
    """Greatest overlap of two bodies so far [m]."""
    place = np.array(state.track)[..., :2]
    gap = np.sqrt(((place[:, :, None] - place[:, None]) ** 2).sum(-1)) + 1e3 * np.eye(place.shape[1])
    return float((state.cast.radius[:, None] + state.cast.radius - gap).max())


def hardest(state):
    """Greatest acceleration of anybody from frame to frame [m/s^2]."""
    place = np.array(state.track)[..., :2]
    return float(np.hypot(*np.diff(place, 2, axis=0).transpose(2, 0, 1)).max()) * 24.0**2


def longest_stall(states):
    """Longest time for which somebody wanted to move and could not [s]."""
    return max(m.stalled for s in states for m in s.minds)


def test_alone_one_goes_as_one_likes():
    crowd = Crowd(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)), np.full(1, 0.3), np.ones(1))
    out = steer(crowd, np.array([[1.0, 0.5]]), np.array([2.0]), (DIRECTIONS, OPEN[:1]))
    assert np.allclose(out, [[1.0, 0.5]])


def test_those_who_meet_head_on_both_pass_on_the_right():
    crowd, wanted = pair()
    out = steer(crowd, wanted, np.full(2, 1.6), (DIRECTIONS, OPEN))
    assert out[0, 1] < -0.05 and out[1, 1] > 0.05


def test_the_velocities_that_are_found_do_not_collide_within_the_horizon():
    rng = np.random.default_rng(3)
    for _ in range(50):
        place = rng.uniform(-3, 3, (6, 2))
        if (np.hypot(*(place[:, None] - place).transpose(2, 0, 1)) + np.eye(6) < 0.7).any():
            continue
        velocity = rng.uniform(-1, 1, (6, 2))
        crowd = Crowd(place, velocity, velocity, np.full(6, 0.3), np.ones(6))
        planes = avoid._of_neighbours(crowd, 6, 2.0)
        x, y, failed = avoid._nearest_allowed(planes, velocity[:, 0], velocity[:, 1], np.full(6, 1.5))
        if failed.any():
            continue
        t = np.linspace(0, 2.0, 40)[:, None, None]
        later = place + t * np.stack([x, y], -1)
        gap = np.sqrt(((later[:, :, None] - later[:, None]) ** 2).sum(-1)) + np.eye(6)
        assert gap.min() > 0.6 - 1e-3


def test_who_has_priority_is_given_way():
    crowd, wanted = pair(yielding=(0.1, 1.0))
    out = steer(crowd, wanted, np.full(2, 1.6), (DIRECTIONS, OPEN))
    change = np.hypot(*(out - wanted).T)
    assert change[1] > 3 * change[0]


def test_one_who_does_not_yield_at_all_is_dodged_alone():
    crowd, wanted = pair(yielding=(1.0, 0.0))
    out = steer(crowd, wanted[:1], np.full(1, 1.6), (DIRECTIONS, OPEN[:1]))
    assert np.hypot(*(out[0] - wanted[0])) > 0.1


def test_a_wall_stops_what_goes_into_it_and_nothing_else():
    world = World((scenes.box("Wall", 1, (1.0, -5.0, 0.0), (1.2, 5.0, 2.5)),))
    walk = charted(world, MapParams(cell=0.1), np.zeros((1, 2))).walkable(0.3)
    room = rooms(walk, np.array([[0.5, 0.0]]), np.array([0.3]))
    one = np.zeros((1, 2))
    crowd = Crowd(np.array([[0.5, 0.0]]), one, one, np.full(1, 0.3), np.ones(1))
    into = steer(crowd, np.array([[1.4, 0.6]]), np.array([1.6]), (DIRECTIONS, room))
    assert into[0, 0] < 0.6 and into[0, 1] > 0.4
    along = steer(crowd, np.array([[-1.0, 0.5]]), np.array([1.6]), (DIRECTIONS, room))
    assert np.allclose(along, [[-1.0, 0.5]])


def test_where_nothing_is_allowed_walls_count_more_than_people():
    place = np.array([[0.0, 0.0], [-0.5, 0.0]])
    still = np.zeros((2, 2))
    crowd = Crowd(place, still, still, np.full(2, 0.4), np.array([1.0, 0.0]))
    room = np.full((1, 8), np.inf)
    room[0, 0] = 0.0
    out = steer(crowd, np.zeros((1, 2)), np.array([1.0]), (DIRECTIONS, room))
    # 1.2 m/s away from somebody are asked for, none into the wall: four fifths of the fault go to the former
    assert out[0, 0] == pytest.approx(1.2 / 5)


def test_bracing_takes_away_what_closes_and_leaves_the_rest():
    place = np.array([[0.0, 0.0], [0.72, 0.0]])
    velocity = np.array([[1.5, 0.5], [-1.5, 0.0]])
    out = avoid.unhit(place, velocity, np.full(2, 0.3), np.ones(2))
    # both brake at 2.5 m/s^2 within the 12 cm between them, of which 3 are not counted on
    assert out[0, 0] - out[1, 0] == pytest.approx(np.sqrt(2 * 5.0 * 0.09), abs=1e-6)
    assert out[0, 1] == pytest.approx(0.5)
    fleeing = avoid.unhit(place, np.array([[2.5, 0.0], [0.5, 0.0]]), np.full(2, 0.3), np.ones(2))
    assert np.array_equal(fleeing[1], [0.5, 0.0]) and fleeing[0, 0] == pytest.approx(0.5 + np.sqrt(2 * 2.5 * 0.09))
    alone = avoid.unhit(place, velocity, np.full(2, 0.3), np.array([1.0, 0.0]))
    assert np.array_equal(alone[1], velocity[1])
    assert alone[0, 0] - alone[1, 0] == pytest.approx(np.sqrt(2 * 2.5 * 0.09), abs=1e-6)


def test_those_who_overlap_are_moved_apart():
    place = np.array([[0.0, 0.0], [0.5, 0.0]])
    for _ in range(24):
        place = place + avoid.unhit(place, np.zeros((2, 2)), np.full(2, 0.3), np.ones(2)) / 24
    assert np.hypot(*(place[0] - place[1])) > 0.595 and np.allclose(place.mean(axis=0), (0.25, 0.0))
    out = avoid.unhit(np.array([[0.0, 0.0], [0.5, 0.0]]), np.zeros((2, 2)), np.full(2, 0.3), np.array([1.0, 0.0]))
    assert not out[1].any() and out[0, 0] < 0.0


def test_a_door_is_narrow_and_a_corridor_is_not():
    world = scenes.door().world
    walk = charted(world, MapParams(cell=0.1), np.zeros((1, 2))).walkable(0.3)
    spans = doorway.narrow_spans(np.array([[0.0, -3.0], [0.0, 3.0]]), walk, 0.3)
    assert len(spans) == 1
    assert spans[0, 0] < 3.0 < spans[0, 1] and spans[0, 1] - spans[0, 0] < 1.5
    wide = scenes.lanes().world
    walk = charted(wide, MapParams(), np.zeros((1, 2))).walkable(0.3)
    assert len(doorway.narrow_spans(np.array([[-5.0, 0.0], [5.0, 0.0]]), walk, 0.3)) == 0


def passage(y, sign, ahead):
    return doorway.Passage(
        np.array([0.0, -sign * 0.4 + y]),
        np.array([0.0, sign * 0.4 + y]),
        np.array([0.0, sign]),
        ahead,
        ahead + 0.8,
        0.8,
    )


def test_of_two_who_come_to_a_door_the_nearer_goes_first_and_whoever_is_inside_before_all():
    still, none = np.zeros(2), [False, False]
    room, against, passing = doorway.holds([passage(0, 1.0, 1.0), passage(0, -1.0, 2.0)], still, still, none)
    assert passing == [True, False] and against.tolist() == [False, True] and np.isinf(room[0])
    room, _, passing = doorway.holds([passage(0, 1.0, 1.0), passage(0, -1.0, -0.2)], np.array([9, 0]), still, none)
    assert passing == [False, True] and room[0] < 1.0


def test_who_has_waited_long_goes_before_who_comes():
    waited = np.array([0.0, 10.0])
    _, _, passing = doorway.holds([passage(0, 1.0, 1.5), passage(0, -1.0, 2.0)], np.zeros(2), waited, [False, False])
    assert passing == [False, True]


@pytest.mark.req("kuffner", 45)
def test_three_from_each_side_get_through_one_door():
    states = played(scenes.door(), 30.0)
    assert all(m.arrived for m in states[-1].minds)
    assert overlap(states[-1]) <= 0.02
    assert longest_stall(states) < 5.0


@pytest.mark.req("kuffner", 45)
def test_two_streams_pass_each_other_in_a_corridor():
    states = played(scenes.lanes(each=4, length=9.0), 40.0)
    assert all(m.arrived for m in states[-1].minds)
    assert overlap(states[-1]) <= 0.02
    assert longest_stall(states) < 5.0


def test_twenty_who_cross_arrive_without_touching():
    states = twenty()
    assert all(m.arrived for m in states[-1].minds)
    assert overlap(states[-1]) <= 0.02
    assert longest_stall(states) < 5.0
    # even whoever braces itself at the last moment brakes as a person can
    assert hardest(states[-1]) < 4.5


def test_dodging_neither_jerks_nor_shuffles():
    track = np.array(twenty()[-1].track)
    turning = np.diff(track[..., 2], axis=0) * 24
    push = np.diff(track[..., :2], 2, axis=0) * 24 * 24
    assert np.percentile(np.hypot(*push.transpose(2, 0, 1)), 99) < 4.0
    assert np.abs(turning).max() <= 2.5 + 1e-6
    for one in turning.T:
        strong = np.sign(one[np.abs(one) > 0.4])
        assert np.count_nonzero(np.diff(strong)) / (len(turning) / 24) < 1.0


def test_the_less_important_dodges_more():
    actors = {
        "A": ActorSetup(scenes.towards(-4, 0, 4, 0), Go(place=(4, 0, 0)), style=Style(priority=9)),
        "B": ActorSetup(scenes.towards(4, 0.05, -4, 0), Go(place=(-4, 0.05, 0))),
    }
    states = played(scenes.Scene(World(), actors, NavigateParams(others="none")), 15.0)
    aside = np.abs(np.array(states[-1].track)[:, :, 1]).max(axis=0)
    assert aside[1] > 2 * aside[0]
