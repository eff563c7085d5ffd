"""Scripts hold whatever a sheet of actions holds, and say where it is wrong."""

import numpy as np
import pytest
from troupe.core import FormatError
from troupe.core.acting import starter
from troupe.core.acting.act import repertoire
from troupe.core.acting.bodies import Player, bodies
from troupe.core.acting.language.parser import parse
from troupe.core.acting.language.printer import print_program
from troupe.core.acting.mind.vocabulary import action_sheet
from troupe.core.acting.mind.walking import WalkingStage
from troupe.core.acting.play import perform_play
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.tables import read_sheet

from .puppets import MANNEQUIN

SHEETS = sorted(starter.FOLDER.glob("*.actions"))
STOCK = ActionLibrary(repertoire()).names
MORPHS = """define ACTOR A { does "Go" }
GROUP Stances { Idle Jog Trot }
morph Jog from Idle to running
  amount .4 { fade .5  tag gait }
morph Trot from Jog to "running"
settings Jog { property energy 7e-1 }
define SCRIPT "Go" { { "Jog" } { wait until { "Jog" is done } } }
"""


@pytest.mark.req("improv", 49, 88)
@pytest.mark.parametrize("path", SHEETS, ids=[path.stem for path in SHEETS])
def test_every_sheet_can_stand_in_a_script(path):
    text = path.read_text(encoding="utf-8")
    program = parse(text)
    assert parse(print_program(program)) == program
    others = [name for name in STOCK if name not in read_sheet(text).actions]
    here, there = read_sheet(action_sheet([text], others)), read_sheet(text)
    assert repr(here.actions) == repr(there.actions)
    assert (here.buffers, here.blocks) == (there.buffers, there.blocks)


@pytest.mark.req("improv", 49)
def test_a_morph_of_a_script_lies_between_its_ends():
    own = read_sheet(action_sheet([MORPHS], STOCK))
    library = ActionLibrary([*repertoire(), own])
    jog = library.action("Jog")
    assert jog.params["amount"] == 0.4 and jog.fade_in == 0.5 and jog.properties == {"gait": True, "energy": 0.7}
    assert (jog.source.first, jog.source.second) == ("Idle", "running")
    assert library.group_of("Trot").name == library.group_of("Idle").name
    record = perform_play([MORPHS], [], library, 4.0, moving=WalkingStage)
    motion = bodies(record, {"A": Player(MANNEQUIN)}, [*repertoire(), own], 24.0).motions["A"]
    assert np.hypot(*(motion.roots[-1] - motion.roots[0])[:2]) > 1.0


@pytest.mark.req("improv", 49, 90)
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("from Idle to running", "from Idel to running", 'Scene:3:16: no action is called "Idel"; did you mean "idle"'),
        ('to "running"', 'to "runing"', 'Scene:5:24: no action is called "runing"; did you mean "running"'),
        ("from Idle to running", "form Idle to running", 'Scene:3:11: expected "from"'),
        ("morph Jog from Idle", "morph Jog from Trot", 'Scene:3:16: "Jog" cannot be a morph of itself'),
        ("morph Jog from Idle", "morph Jog from Jog", 'Scene:3:16: "Jog" cannot be a morph of itself'),
        ("amount .4", "amount lots", "Scene:4:10: expected a part of the second action"),
        ("tag gait", "R_HAND 4 0 0", "Scene:4:24: no setting 'R_HAND'"),
        ("{ fade .5  tag gait }", "{ fade .5", "Scene:8:1: .* line 4, column 13 is not closed"),
        ("morph Jog", "mroph Jog", 'Scene:3:1: expected a definition.*did you mean "morph"'),
        ("settings Jog", "settings Jogg", "Scene:6:10: no action 'Jogg' above; did you mean 'Jog'"),
    ],
)
def test_a_mistake_in_a_morph_is_shown_where_it_stands(right, wrong, message):
    with pytest.raises(FormatError, match=message):
        read_sheet(action_sheet([(MORPHS.replace(right, wrong), "Scene")], STOCK), "Scene")
