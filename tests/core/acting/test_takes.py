"""Takes: one mind in several bodies, and locked takes that do not change when scripts do."""

import numpy as np
import pytest
from playtexts import ROOM, happened, play, shown
from troupe.core import FormatError, InvalidParam
from troupe.core.acting import starter
from troupe.core.acting.body.perform import perform
from troupe.core.acting.body.stage import BodyParams
from troupe.core.acting.bodyorders import body_orders
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.mind.events import from_text, to_text
from troupe.core.acting.mind.vocabulary import action_sheet, playable
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.figure.mannequin import mannequin

TEXT = """define SCRIPT "s" { { choose from { "Wave" "Bow" "Clap" } } { wait between .5 and 2 s } { walk to [2 0] }
  { cue { others } to choose from { "Sit" "Sway" } } { repeat } }"""
CAST = (Member("Ann", properties={"mood": 0.2}, does=("s",)), Member("Bob", does=("s",)))


@pytest.fixture(scope="module")
def take():
    return play(TEXT, *CAST, seconds=20.0, behaviour_seed=3)


@pytest.mark.req("improv", 99)
def test_another_body_seed_changes_nothing_that_the_minds_do():
    logs = {play(starter.text("gregor"), library=None, seconds=30.0, body_seed=s).log() for s in (0, 1, 2)}
    assert len(logs) == 1
    assert play(TEXT, *CAST, body_seed=7).body_seed == 7


def library(*texts):
    """The shipped actions and those that the texts define."""
    sheets = [read_sheet(p.read_text(encoding="utf-8"), p.name) for p in sorted(starter.FOLDER.glob("*.actions"))]
    names = ActionLibrary(sheets).names
    own = action_sheet(texts, names)
    return ActionLibrary([*sheets, read_sheet(own)] if own else sheets)


@pytest.mark.req("improv", 99)
def test_another_body_seed_gives_the_same_selections_and_other_poses():
    text = starter.text("gregor")
    actions = library(text)
    bodies = []
    for seed in (1, 2):
        record = play(text, library=actions, seconds=8.0, body_seed=seed)
        orders = body_orders(record, "Gregor", actions)
        assert not orders.missing
        manner = BodyParams(seed=record.body_seed)
        motion = perform(actions, mannequin(1.75), orders.wishes, 8.0, 12.0, manner, targets=orders.targets)
        bodies.append((record.log(), motion))
    (first_log, first), (second_log, second) = bodies
    assert first_log == second_log
    assert np.abs(first.rotations - second.rotations).max() > 0.01


@pytest.mark.parametrize("name", starter.names())
def test_the_bodies_can_show_every_action_of_a_shipped_script(name):
    text = starter.text(name)
    actions = library(text)
    record = play((text, name), library=actions, seconds=60.0)
    assert sum(map(len, record.selections.values())) > 0
    assert all(not playable(found, actions)[1] for found in record.selections.values())
    assert not [e for e in record.events if e.name in ("warning", "error")]


@pytest.mark.req("improv", 116)
def test_a_locked_take_repeats_whatever_the_scripts_have_become(take):
    edited = TEXT.replace('"Wave" "Bow" "Clap"', '"Clap" 9 "Wave"').replace("[2 0]", "[-5 0]")
    again = play(edited, *CAST, seconds=20.0, behaviour_seed=99, locked=take)
    assert again.selections == take.selections
    assert np.allclose(again.base("Ann", 24), take.base("Ann", 24))
    free = play(edited, *CAST, seconds=20.0, behaviour_seed=99)
    assert free.selections != take.selections


@pytest.mark.req("improv", 116)
def test_a_take_kept_as_text_locks_as_well(take):
    track = from_text(take.log())
    assert to_text(track) == take.log()
    again = play("", "Ann", "Bob", seconds=20.0, locked=track)
    assert again.selections == take.selections


@pytest.mark.req("improv", 116)
def test_one_actor_may_be_locked_and_the_other_free(take):
    again = play(TEXT, *CAST, seconds=20.0, behaviour_seed=4, locked=take, locked_actors=["Ann"])
    assert shown(again, "Ann") == shown(take, "Ann")
    assert shown(again, "Bob") != shown(take, "Bob")
    command = play(TEXT, *CAST, locked=take, locked_actors=["Ann"], commands=[(1.0, "Ann Sit"), (1.0, "Bob Laugh")])
    assert "locked" in happened(command, "refused")[0][1]
    assert (1.0, "Laugh") in shown(command, "Bob")


@pytest.mark.req("improv", 116)
def test_only_choices_may_be_locked(take):
    edited = TEXT.replace("walk to [2 0]", "walk to [-5 0]").replace('"Wave" "Bow" "Clap"', '"Wave" 0 "Bow" 9 "Clap" 1')
    again = play(edited, *CAST, seconds=20.0, behaviour_seed=99, locked=take, locking="choices")
    assert happened(again, "choose", actor="Ann") == happened(take, "choose", actor="Ann")
    assert next(e.data["place"] for e in again.events if e.name == "walk") == [-5.0, 0.0]
    gone = TEXT.replace('"Wave" "Bow" "Clap"', '"Talk" "Laugh"')
    free = play(gone, *CAST, seconds=20.0, locked=take, locking="choices")
    assert {s.action for s in free.selections["Ann"] if s.group == "Mouth"} == {"Talk", "Laugh"}


@pytest.mark.req("improv", 116)
def test_a_locked_take_aims_its_camera_as_before():
    text = """define CAMERA Camera { location [0 -9] } define ACTOR Bob { location [2 0], does "call" }
    define ACTOR Ann { location [-2 0], does "call", does "leave" }
    define SCRIPT "call" { { wait between .5 and 2 s } { send "look_here" to Camera for 3 seconds
      send "look_here" to Bob } }
    define SCRIPT "leave" { { walk to [-2 5] } }"""
    take = play(text, seconds=6.0, behaviour_seed=2)
    assert len(take.aims["Camera"]) > 60 and {aim.who for aim in take.aims["Camera"]} >= {("Bob",), ("Bob", "Ann")}
    edited = text.replace("wait between .5 and 2 s", "wait 5 s").replace("[-2 5]", "[3 3]")
    again = play(edited, seconds=6.0, locked=take)
    assert again.aims == take.aims
    looks = [[e for e in r.events if e.name in ("look", "message", "aim")] for r in (take, again)]
    assert sorted(looks[0], key=repr) == sorted(looks[1], key=repr)
    # of a locked sender and a free receiver the message still comes
    free = play(text, seconds=6.0, behaviour_seed=2, locked=take, locked_actors=["Ann"])
    assert free.aims == take.aims


@pytest.mark.req("improv", 116)
@pytest.mark.parametrize("name", starter.names())
def test_a_locked_take_of_every_shipped_script_is_the_same_take(name):
    take = play(starter.text(name), library=None, seconds=15.0, behaviour_seed=3)
    again = play(starter.text(name), library=None, seconds=15.0, behaviour_seed=9, locked=take)
    assert again.selections == take.selections and again.aims == take.aims
    assert again.attachments == take.attachments and again.properties == take.properties
    # what happens at one moment may be told in another order
    assert sorted(again.log().splitlines()) == sorted(take.log().splitlines())


def test_a_take_keeps_whatever_somebody_says():
    take = play('define ACTOR Ann { does "s" } define SCRIPT "s" { { say "one\u2028two\x85three" } }')
    assert to_text(from_text(take.log())) == take.log()


def test_an_action_that_is_gone_is_missed_with_a_warning(take):
    again = play("", "Ann", "Bob", library={"Stance": ["Stand", "Sit", "Sway"]}, seconds=20.0, locked=take)
    assert {s.action for s in again.selections["Ann"]} <= {"Sit", "Sway"}
    assert happened(again, "warning")


def test_a_damaged_take_is_refused_with_its_line():
    for text, line in (
        ('{"time": 0, "event": "set"}\n{', 2),
        ("[]", 1),
        ('{"event": "x"}', 1),
        ('{"time": "x", "event": 1}', 1),
    ):
        with pytest.raises(FormatError) as caught:
            from_text(text)
        assert caught.value.line == line


def test_bad_arguments_are_refused():
    for more in ({"dt": 0.0}, {"dt": 2.0}, {"seconds": -1.0}, {"locking": "all"}, {"seconds": 1e9}):
        with pytest.raises(InvalidParam):
            play("", "Ann", **more)
    for cast in (["Ann", "Ann"], [""], [Member("E", "ensemble", members=("Nobody",))]):
        with pytest.raises(InvalidParam):
            play("", *cast)
    with pytest.raises(InvalidParam, match="kind"):
        Member("X", "dragon")


def test_a_record_has_sentences_with_reasons(take):
    assert {"time", "actor", "what", "why"} == set(take.transcript[0])
    assert any(t["what"].startswith("chooses ") and "drew" in t["why"] for t in take.transcript)
    assert [t["time"] for t in take.transcript] == sorted(t["time"] for t in take.transcript)


def test_an_actor_stands_where_it_walked(take):
    base = take.base("Ann", 10.0)
    assert base.shape == (201, 3)
    assert base[-1, :2] == pytest.approx([2.0, 0.0])


def test_a_body_is_told_of_selections_and_looks():
    text = """define ACTOR Ann { does "s" } define ACTOR Bob { }
    define SCRIPT "s" { { look at Bob } { wait 1 s } { "Wave right" toward Bob } { wait 1 s } { look away } }"""
    orders = body_orders(play(text, library=library(), seconds=4.0), "Ann", library())
    assert set(orders.targets) >= {"Bob", "Camera"} and "Ann" not in orders.targets
    look, wave, away = orders.wishes
    assert (look[:4], away[:4]) == ((0.0, "look", "Bob", True), (2.0, "look", "", True))
    assert (wave.time, wave.action, wave.target) == (1.0, "Wave_right", "Bob") and not orders.missing


def test_selections_are_fitted_to_the_actions_that_a_body_has(take):
    class Small:
        groups = (type("G", (), {"name": "Arms", "actions": ("rest", "WAVE")})(),)

        def action(self, name):
            return type("A", (), {"name": name, "properties": {}, "seconds": None})()

    kept, missing = playable(take.selections["Ann"], Small())
    assert {(s.group, s.action) for s in kept} == {("Arms", "WAVE")}
    assert "Bow" in missing or "Clap" in missing


def test_starters_are_found_by_name_and_a_wrong_name_gets_a_hint():
    assert starter.text("joke").startswith("# ")
    with pytest.raises(InvalidParam, match="greeting"):
        starter.text("greting")
    assert set(ROOM)
