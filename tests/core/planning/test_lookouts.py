"""From where what would be seen: walls hide, furniture is likelier than floors, nothing tells where the thing is."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.errors import Cancelled
from troupe.core.maths import geometry
from troupe.core.planning.senses.lookouts import ELSEWHERE, WORTH, Lookouts
from troupe.core.planning.senses.vision import VisionParams
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.ways.map import MapParams, project
from troupe.core.world import World

FLOOR = box("floor", (3.0, 3.0, 0.2), (0.0, 0.0, -0.2), kind="ground", number=1)
WALL = box("wall", (1.5, 0.05, 1.25), (0.0, 1.0, 1.25), number=2)
TABLE = box("table", (0.5, 0.3, 0.4), (0.0, 2.0, 0.4), number=3)
EYE = np.array([0.0, -1.0, 1.6])


def room(place=(0.1, 2.0, 0.8), *others):
    thing = bottle("bottle", place, number=9)
    world = World((FLOOR, WALL, TABLE, thing, *others))
    return world, Lookouts.of(world, thing, VisionParams())


@pytest.mark.req("kuffner", 60)
def test_what_would_show_is_what_no_ray_says_is_hidden():
    world, lookouts = room()
    shown = lookouts.shown(EYE)
    others = World(tuple(b for b in world.bodies if b.name != "bottle"))
    off = lookouts.places - EYE
    far = np.linalg.norm(off, axis=1)
    meets, _, _, hit = geometry.ray(others, np.broadcast_to(EYE, off.shape), off / far[:, None])
    # a place is a little off its surface, and so is what is told apart there
    free = ~hit | (meets > far - 0.12)
    near = far < lookouts.vision.range - 0.05
    # pixels are coarse, so edges may differ
    assert (shown & ~free).mean() < 0.003 and (free & near & ~shown & (meets > far)).mean() < 0.01
    assert not shown[free & (far > lookouts.vision.range + 0.05)].any()
    behind = (np.abs(lookouts.places[:, 0]) < 0.4) & (lookouts.places[:, 1] > 1.2) & (lookouts.places[:, 2] < 1.0)
    assert behind.sum() > 100 and not shown[behind].any()


@pytest.mark.req("kuffner", 60)
def test_nothing_tells_where_the_thing_is():
    one, other = room()[1], room((-1.0, -0.5, 0.0))[1]
    assert np.array_equal(one.places, other.places) and np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.shown(EYE), other.shown(EYE))


def test_level_furniture_is_likelier_than_floors_and_walls():
    lookouts = room()[1]
    places, weights = lookouts.places, lookouts.weights
    on_table = (np.abs(places[:, :2] - (0.0, 2.0)) < (0.49, 0.29)).all(axis=1) & (abs(places[:, 2] - 0.92) < 0.02)
    on_floor = (np.abs(places[:, :2] - (0.0, -1.5)) < 1.0).all(axis=1) & (places[:, 2] > 0.0)
    # by area: the table top is 0.6 m2, that much of the floor 4 m2
    assert weights[on_table].sum() / 0.6 == pytest.approx(weights[on_floor].sum() / 4.0 / ELSEWHERE, rel=0.2)
    assert lookouts.worth(on_table) == pytest.approx(weights[on_table].sum())


@pytest.mark.req("kuffner", 60)
def test_the_best_lookout_is_round_the_wall_and_there_is_none_when_all_was_seen():
    world, lookouts = room()
    chart = project(world, MapParams(radius=0.25), 0.0, exclude=("bottle",))
    ways, here = chart.walkable(), EYE[:2]
    left = ~lookouts.shown(EYE)
    spot = lookouts.best(ways, chart.ground[0], here, left, 1.6, 0.0)
    eye = np.array([*spot, 1.6])
    table = (np.abs(lookouts.places[:, :2] - (0.0, 2.0)) < (0.45, 0.25)).all(axis=1) & (lookouts.places[:, 2] > 0.8)
    assert spot[1] > 0.7 and abs(spot[0]) > 1.2 and lookouts.shown(eye)[table].mean() > 0.9
    assert lookouts.worth(left & lookouts.shown(eye)) >= WORTH
    seen = left & ~lookouts.shown(eye)
    again = lookouts.best(ways, chart.ground[0], spot, seen, 1.6, 0.0)
    assert again is None or lookouts.worth(seen & lookouts.shown(np.array([*again, 1.6]))) >= WORTH
    assert lookouts.best(ways, chart.ground[0], here, np.zeros_like(left), 1.6, 0.0) is None
    with pytest.raises(Cancelled):
        lookouts.best(ways, chart.ground[0], here, left, 1.6, 0.0, lambda: True)


def test_the_smaller_a_thing_the_nearer_one_has_to_be():
    world, lookouts = room()
    small = bottle("bottle", (0.1, 2.0, 0.8), 0.06, 0.01, number=9)
    other = replace(world, bodies=(*world.bodies[:3], small))
    near = Lookouts.of(other, small, VisionParams()).vision.range
    assert near == pytest.approx(lookouts.vision.range * 0.25, rel=0.25)
