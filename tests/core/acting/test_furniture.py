"""Bodies meet furniture: hips on seats, feet where they stood, things on tables; and give way to what moves."""

from functools import partial

import numpy as np
import pytest
from troupe.core.acting import starter
from troupe.core.acting.act import repertoire
from troupe.core.acting.bodies import Player, bodies
from troupe.core.acting.body.footwork import FLESH
from troupe.core.acting.direction import named
from troupe.core.acting.floorplan import Floorplan, parted
from troupe.core.acting.furniture import Furniture
from troupe.core.acting.mind.vocabulary import action_sheet
from troupe.core.acting.mind.walking import WalkingStage
from troupe.core.acting.play import perform_play
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.kinematics import fk
from troupe.core.world import World

from .puppets import MANNEQUIN, table

FPS = 24.0
SIT = """define ACTOR A { location [0 0], does "Sit Down" }
define SCRIPT "Sit Down" { { wait 1 s } { "Sit" } { wait 3 s } { "Stand" } }"""


def sitting(furniture):
    record = perform_play([SIT], [], ActionLibrary(repertoire()), 6.0, moving=WalkingStage)
    return bodies(record, {"A": Player(MANNEQUIN)}, repertoire(), FPS, furniture=furniture).motions["A"]


@pytest.mark.parametrize("height", [0.4, 0.45, 0.52])
def test_hips_meet_the_seat_and_feet_stay_where_they_are(height):
    motion = sitting(Furniture(World((table(0.0, 0.56, 0.4, 0.4, height),), FPS)))
    sat = motion.roots[round(2.6 * FPS) : round(3.8 * FPS)]
    assert np.abs(sat[:, 2] - height - FLESH * MANNEQUIN.leg_length()).max() < 0.015
    assert (sat[:, 1] > 0.4).all() and (sat[:, 1] < 0.72).all()
    places, _ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    feet = places[:, [MANNEQUIN.joint(f"foot_{s}") for s in "LR"]]
    assert np.ptp(feet, axis=0).max() < 0.005
    assert motion.roots[-1, 2] > 0.85 and np.abs(np.diff(motion.roots, axis=0)).max() < 0.06


def test_the_host_of_the_greeting_sits_on_its_stool():
    text = starter.text("greeting")
    script = named(text, "greeting")
    (x, y, _), size = script.places["Stool"], script.sizes["Stool"]
    stage = World((table(x, y, *size),), FPS)
    sheets = [*repertoire(), read_sheet(action_sheet([text], ActionLibrary(repertoire()).names))]
    moving = partial(WalkingStage, ways=Floorplan(stage))
    record = perform_play([text], [], ActionLibrary(sheets), 12.0, moving=moving)
    motion = bodies(record, {"Host": Player(MANNEQUIN)}, sheets, FPS, furniture=Furniture(stage)).motions["Host"]
    hips = motion.roots[round(11.5 * FPS)]
    assert abs(hips[2] - size[2] - FLESH * MANNEQUIN.leg_length()) < 0.015
    assert np.abs(hips[:2] - (x, y)).max() < 0.5 * min(size[:2]) - 0.05


def test_without_a_seat_one_sits_as_the_action_says():
    free = sitting(None)
    for world in (World((), FPS), World((table(0.0, 2.0, 0.4, 0.4, 0.45),), FPS)):
        assert np.array_equal(sitting(Furniture(world)).roots, free.roots)


def test_something_is_put_where_all_of_it_lies_on_a_table():
    things = Furniture(World((table(1.0, 0.0, 0.5, 0.5, 0.7),), FPS), floor=0.0)
    half = np.array([0.2, 0.14])
    x, y, z = things.rest(np.array([0.8, 0.1]), half, np.pi / 2)
    assert z == pytest.approx(0.7) and x - 0.14 > 0.74 and abs(y) + 0.2 < 0.26
    assert things.rest(np.array([0.2, 0.0]), half, np.pi / 2) is None
    assert things.rest(np.array([1.0, 0.0]), np.array([0.4, 0.4]), 0.0) is None
    assert Furniture(World((), FPS)).rest(np.zeros(2), half, 0.0) is None


def test_a_script_says_what_stands_on_its_stage():
    found = named(
        'define PLACE "Table" { location [1 2], size [.5 .4 .7] } define PROP "Cup" { upon "Table", size [.1 .1 .1] }',
        "s",
    )
    assert found.sizes == {"Table": (0.5, 0.4, 0.7), "Cup": (0.1, 0.1, 0.1)} and found.under["Cup"].value == "Table"
    assert found.props["Cup"] is None and found.places["Table"] == (1.0, 2.0, 0.0)


def moving_cart(track):
    matrices = np.tile(np.eye(4), (len(track), 1, 1))
    matrices[:, :2, 3] = track
    return table(0.0, 0.0, 0.6, 0.6, 0.9, matrices)


@pytest.mark.parametrize("speed", [0.5, 0.8])
def test_a_walk_heeds_where_a_cart_will_be(speed):
    """A cart crosses the way just when a walker who did not look ahead would be there."""
    text = 'define ACTOR A { location [0 0 1.5708], does "Go" } define SCRIPT "Go" { { walk to [6 0] } }'
    times = np.arange(12 * FPS) / FPS
    track = np.column_stack([np.full(len(times), 3.0), speed * (times - 3.0)])
    still, movers = parted(World((moving_cart(track),), FPS))
    assert not still.bodies and len(movers) == 1

    def nearest(ways):
        stage = lambda places: WalkingStage(places, ways)  # noqa: E731
        record = perform_play([text], [], ActionLibrary(repertoire()), 10.0, moving=stage)
        way = record.base("A", FPS)[:, :2]
        assert np.hypot(*(way[-1] - (6.0, 0.0))) < 0.1
        return np.hypot(*(way[: len(track)] - track[: len(way)]).T).min()

    assert nearest(Floorplan()) < 0.3
    assert nearest(Floorplan(movers=movers)) >= movers[0].radius + 0.25 - 0.05
