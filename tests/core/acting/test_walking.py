"""Whoever walks in a play goes around furniture and walls, around those who stand, and past those who walk."""

import numpy as np
import pytest
from troupe.core.acting.floorplan import Floorplan
from troupe.core.acting.mind.bodyport import RADIUS
from troupe.core.acting.mind.walking import WalkingStage
from troupe.core.acting.play import perform_play
from troupe.core.world import Body, World

TIMES = np.arange(0.0, 12.0, 0.05)


def block(name, x, y, height=0.8):
    """A block over the ranges of x and y [m]."""
    corners = [(a, b, z) for z in (0.0, height) for a, b in ((x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1]))]
    sides = [f for k in range(4) for f in ((k, (k + 1) % 4, 4 + (k + 1) % 4), (k, 4 + (k + 1) % 4, 4 + k))]
    faces = np.array([(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), *sides])
    return Body(name, 0, np.array(corners), faces, np.eye(4)[None], "obstacle", frozenset())


def stage(places, ways=None):
    made = WalkingStage({name: (*xy, 0.0) for name, xy in places.items()}, ways)
    made.solid = dict.fromkeys(places, RADIUS)
    return made


def way(made, name):
    return np.array([made.position(name, t)[:2] for t in TIMES])


def apart(made, a, b):
    return np.hypot(*(way(made, a) - way(made, b)).T)


def test_a_walk_goes_around_what_stands_in_the_way():
    table = Floorplan(World((block("Table", (-0.5, 0.5), (-0.7, 0.5)),), 24.0))
    made = stage({"Ann": (-3.0, 0.0)}, table)
    end = made.walk_to("Ann", (3.0, 0.0), 1.3, 0.0)
    path = way(made, "Ann")
    inside = np.maximum(np.abs(path[:, 0]) - 0.5, np.maximum(path[:, 1] - 0.5, -0.7 - path[:, 1]))
    assert inside.min() > 0.2
    assert path[-1] == pytest.approx((3.0, 0.0), abs=1e-6) and end < 8.0


def test_a_free_way_is_straight():
    made, bare = stage({"Ann": (-3.0, 0.0), "Bob": (0.0, 2.0)}), stage({"Ann": (-3.0, 0.0)})
    assert made.walk_to("Ann", (3.0, 1.0), 1.3, 0.0) == bare.walk_to("Ann", (3.0, 1.0), 1.3, 0.0)
    assert np.array_equal(way(made, "Ann"), way(bare, "Ann"))
    line = way(made, "Ann") - (-3.0, 0.0)
    assert np.abs(line[:, 1] * 6.0 - line[:, 0]).max() < 1e-9


def test_who_stands_is_gone_around():
    made = stage({"Ann": (-3.0, 0.0), "Bob": (0.0, 0.1)})
    made.walk_to("Ann", (3.0, 0.0), 1.3, 0.0)
    assert apart(made, "Ann", "Bob").min() > 2.0 * RADIUS
    assert way(made, "Ann")[-1] == pytest.approx((3.0, 0.0), abs=1e-6)


@pytest.mark.parametrize(
    ("places", "goals"),
    [
        ({"Ann": (-3.0, 0.0), "Bob": (3.0, 0.0)}, {"Ann": (3.0, 0.5), "Bob": (-3.0, 0.5)}),
        ({"Ann": (-3.0, 0.0), "Bob": (0.0, -3.0)}, {"Ann": (3.0, 0.0), "Bob": (0.0, 3.0)}),
        (
            {"Ann": (-3.0, 0.0), "Bob": (0.0, -3.0), "Cleo": (0.0, 3.0)},
            {"Ann": (3.0, 0.0), "Bob": (0.0, 2.0), "Cleo": (0.0, 0.0)},
        ),
    ],
    ids=["toward each other", "across", "to where others pass"],
)
def test_those_who_walk_pass_each_other(places, goals):
    made = stage(places)
    for k, (name, goal) in enumerate(goals.items()):
        assert made.walk_to(name, goal, 1.3, 0.2 * k) < 12.0
    names = list(places)
    for k, a in enumerate(names):
        assert way(made, a)[-1] == pytest.approx(goals[a], abs=1e-6)
        for b in names[k + 1 :]:
            assert apart(made, a, b).min() > 2.0 * RADIUS - 0.03


def test_who_is_sent_where_another_stands_stops_beside_it_and_counts_as_there():
    text = """define ACTOR Ann { location [-3 0] does "Come" } define ACTOR Bob { location [3 0.2] does "Come" }
    define PLACE center { location [0 0] }
    define SCRIPT "Come" { { walk to center } { wait until { my "location" equals center } } { say "Here." } }"""
    record = perform_play([text], [], None, 8.0, moving=WalkingStage)
    ann, bob = (np.array(record.stage.position(name, 8.0)[:2]) for name in ("Ann", "Bob"))
    assert ann == pytest.approx((0.0, 0.0), abs=1e-6)
    assert 2.0 * RADIUS < np.hypot(*(bob - ann)) < 0.8
    assert {e.data["actor"] for e in record.events if e.name == "say"} == {"Ann", "Bob"}


def test_who_comes_along_goes_around_one_who_stops_on_its_way():
    made = stage({"Ann": (0.0, -2.5), "Bob": (-4.0, 0.0)})
    made.walk_to("Ann", (0.0, 3.0), 1.3, 0.0)
    made.walk_to("Bob", (4.0, 0.0), 1.3, 0.0)
    when = float(TIMES[np.argmin(np.abs(way(made, "Ann")[:, 1] + 0.35))])
    made.stop("Ann", when)
    assert np.abs(way(made, "Ann")[-1]).max() < 0.4
    assert apart(made, "Ann", "Bob").min() > 2.0 * RADIUS - 0.03
    assert way(made, "Bob")[-1] == pytest.approx((4.0, 0.0), abs=1e-6)


def test_who_was_made_to_go_around_is_done_when_it_gets_there_and_not_before():
    text = """define PLACE Middle { location [0 0] }
    define ACTOR Ann { location [0 -2.5 3.1416] does "Cross" } define ACTOR Bob { location [-4 0] does "Go" }
    define SCRIPT "Cross" { { walk to [0 3] }
      { wait until { my "distance" toward Middle is less than .6 } } { stop } }
    define SCRIPT "Go" { { walk to [4 0] } { wait until { walk is done } } { say "There." } }"""
    record = perform_play([text], [], None, 12.0, moving=WalkingStage)
    first = next(e for e in record.events if e.name == "walk" and e.data["actor"] == "Bob").data["arrival"]
    (there,) = [e.time for e in record.events if e.name == "say"]
    end = record.stage.journeys["Bob"][-1].end
    assert end > first + 1 / 30, "it was made to go around"
    assert end <= there < end + 1 / 30


def test_a_walk_to_somebody_ends_in_front_of_them_on_the_side_it_comes_from():
    wall = Floorplan(World((block("Wall", (-0.1, 0.1), (-1.5, 1.0), 2.5),), 24.0))
    made = stage({"Ann": (-2.0, 0.0), "Bob": (0.8, 0.0)}, wall)
    made.walk_to("Ann", (0.8, 0.0), 1.3, 0.0, 1.0)
    end, heading = way(made, "Ann")[-1], made.heading("Ann", 12.0)
    assert np.hypot(*(end - (0.8, 0.0))) == pytest.approx(1.0, abs=0.06)
    assert end[0] > 0.1, "on this side of the wall"
    toward = np.array([0.8, 0.0]) - end
    assert (np.sin(heading), -np.cos(heading)) @ toward / np.hypot(*toward) > 0.85


def test_what_somebody_carries_is_not_in_the_way():
    ways = Floorplan(things={"Tray": 0.25})
    made = stage({"Ann": (-1.0, 0.0), "Tray": (0.0, 0.0)}, ways)
    made.solid.pop("Tray")
    made.walk_to("Ann", (1.0, 0.0), 1.3, 0.0)
    around = np.abs(way(made, "Ann")[:, 1]).max()
    made = stage({"Ann": (-1.0, 0.0), "Tray": (0.0, 0.0)}, ways)
    made.solid.pop("Tray")
    made.attach("Tray", "Ann", 0.0)
    made.walk_to("Ann", (1.0, 0.0), 1.3, 0.0)
    assert around > 0.3 and np.abs(way(made, "Ann")[:, 1]).max() < 1e-9
