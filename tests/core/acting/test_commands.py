"""Directing a play from outside: commands, buttons, lines of change, registered statements, new texts."""

import json

import pytest
from playtexts import ROOM, happened, play, shown
from troupe.core import FormatError, InvalidParam
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.mind.commands import command
from troupe.core.acting.mind.reload import reload
from troupe.core.acting.mind.statements import Statements
from troupe.core.acting.play import rehearse

DOOR = 'define PLACE Door { location [3 1] } define SCRIPT "Dance" { { "Clap" } { wait 1 s } { "Bow" } }'


@pytest.mark.req("improv", 100)
def test_a_command_changes_the_actor_and_the_change_is_told():
    lines = []
    ready = rehearse([DOOR], ["Gregor", "Otto"], ROOM, listener=lines.append)
    ready.step(0.0)
    assert command(ready, "Gregor Sit") == ""
    assert command(ready, "Otto Walk_To_Door") == ""
    assert command(ready, "otto dance") == ""
    assert command(ready, "Gregor set my mood to .3") == ""
    assert command(ready, 'Gregor "Wave" toward Otto for 2 seconds') == ""
    for k in range(1, 90):
        ready.step(k / 30)
    gregor = ready.actors[0]
    assert gregor.actions["stance"].selected.name == "Sit"
    assert gregor.values["mood"] == 0.3
    assert [s.action for s in ready.selections["Gregor"]] == ["Sit", "Wave", "No Hand Gesture"]
    assert [s.action for s in ready.selections["Otto"]] == ["Clap", "Bow"]
    assert ready.stage.position("Otto", 9.0) == pytest.approx((3.0, 1.0))
    told = [json.loads(line) for line in lines]
    assert {"select", "walk", "start", "set"} <= {t["event"] for t in told}
    assert next(t for t in told if t["event"] == "select")["action"] == "Sit"


@pytest.mark.req("improv", 100)
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Greg Sit", 'no actor is called "Greg"; did you mean "Gregor"?'),
        ("Gregor Sitt", 'did you mean "Sit"?'),
        ("Gregor", "what shall Gregor do?"),
        ("", "no actor"),
        ("Gregor walk to Nowhere", "Nowhere"),
        ("Gregor wait 3 seconds", "cannot wait"),
        ("Gregor repeat", "cannot wait or repeat"),
        ("Gregor { __import__('os') }", "command:1:1"),
        ("Gregor set my mood", "command"),
        ("press Nothing", "no button"),
        ("Gregor " + "x" * 600, "at most 500"),
    ],
)
def test_a_command_that_means_nothing_is_answered_and_changes_nothing(text, answer):
    ready = rehearse([DOOR], ["Gregor", "Otto"], ROOM)
    ready.step(0.0)
    before = (dict(ready.actors[0].values), {g: s.selected for g, s in ready.actors[0].actions.items()})
    assert answer in command(ready, text)
    ready.step(1.0)
    assert before == (dict(ready.actors[0].values), {g: s.selected for g, s in ready.actors[0].actions.items()})
    assert not ready.selections["Gregor"]
    assert [e.name for e in ready.events] == ["refused"]


@pytest.mark.req("improv", 100)
def test_commands_of_a_take_come_at_their_exact_times():
    record = play(DOOR, "Gregor", dt=0.1, commands=[(1.234, "Gregor Sit"), (2.5, "Gregor Fly"), (0.5, "Gregor Wave")])
    assert shown(record, "Gregor") == [(0.5, "Wave"), (1.234, "Sit")]
    assert "Fly" in happened(record, "refused")[0][1]


def test_scripts_show_buttons_that_can_be_pressed():
    text = """define ACTOR Ann { does "s" } define SCRIPT "s" { { show button "Say hi" does "Wave" for 1 second
      show slider "mood"  show button "Gone" } { wait 1 s } { hide button "Gone" } }"""
    record = play(text, commands=[(0.5, "press say hi"), (2.0, "press Gone")])
    assert shown(record, "Ann") == [(0.5, "Wave"), (1.5, "No Hand Gesture")]
    assert set(record.widgets) == {"say hi", "mood"}
    assert happened(record, "refused")


@pytest.mark.req("improv", 114)
def test_a_registered_statement_is_used_like_any_other():
    statements = Statements()
    calls = []

    def juggle(call):
        calls.append((call.actor.name, call.time, call.number(0), call.text(1)))
        call.do("Clap", seconds=call.number(0))
        call.set("skill", 2.0 * (call.get("skill") or 0.0))
        call.note("juggles")

    statements.add("juggle", juggle)
    text = """define ACTOR Ann { skill .25, does "s" }
    define SCRIPT "s" { { wait .5 s } { juggle 2, "balls"  "Sit" } { wait 1 s }
      { py: juggle(my "skill" * 4, "clubs") } }"""
    record = play(text, statements=statements)
    assert calls == [("Ann", 0.5, 2.0, "balls"), ("Ann", 1.5, 2.0, "clubs")]
    assert shown(record, "Ann")[:3] == [(0.5, "Clap"), (0.5, "Sit"), (1.5, "Clap")]
    assert record.properties["Ann"]["skill"] == 1.0
    with pytest.raises(FormatError, match="did you mean"):
        play(text.replace("py: juggle", "py: jugle"), statements=statements)
    for word in ("wait until", "set", "juggle", "3"):
        with pytest.raises(InvalidParam):
            statements.add(word, juggle)


@pytest.mark.req("improv", 92)
def test_new_texts_leave_unchanged_scripts_running():
    text = """define SCRIPT "a" { { wait 2 s } { "Wave" } { wait 2 s } { "Bow" } }
    define SCRIPT "b" { { "Talk" } { wait 3 s } { "Laugh" } }"""
    cast = [Member("Ann", properties={"mood": 0.5}, does=("a",)), Member("Bob", does=("b",))]
    ready = rehearse([text], cast, ROOM)
    for k in range(31):
        ready.step(k / 10)
    changed = text.replace('"Laugh"', '"Quiet"') + 'define SCRIPT "c" { { "Sit" } }'
    ready.actors[0].values["mood"] = 0.9
    assert reload(ready, [changed], cast, ROOM) == ()
    assert command(ready, "Bob b") == ""
    assert reload(ready, [changed.replace("wait 3 s", "wait 1 s")], cast, ROOM) == ("Bob: b",)
    for k in range(31, 80):
        ready.step(k / 10)
    assert [(s.time, s.action) for s in ready.selections["Ann"]] == [(2.0, "Wave"), (4.0, "Bow")]
    assert ready.selections["Bob"][-1][:3] == (4.0, "Mouth", "Quiet")
    assert ready.actors[0].values["mood"] == 0.9
    assert command(ready, "Ann c") == ""


@pytest.mark.req("improv", 92)
def test_a_mistake_in_new_texts_leaves_the_play_as_it_was():
    text = 'define SCRIPT "a" { { wait 2 s } { "Wave" } }'
    cast = [Member("Ann", does=("a",))]
    ready = rehearse([text], cast, ROOM)
    ready.step(1.0)
    for wrong in ('define SCRIPT "a" { { "Wavee" } }', "define"):
        with pytest.raises(FormatError):
            reload(ready, [wrong], cast, ROOM)
    ready.step(3.0)
    assert [s.action for s in ready.selections["Ann"]] == ["Wave"]


@pytest.mark.req("improv", 92)
def test_a_script_that_is_gone_stops():
    cast = [Member("Ann", does=("a",))]
    ready = rehearse(['define SCRIPT "a" { { wait 2 s } { "Wave" } }'], cast, ROOM)
    ready.step(1.0)
    assert reload(ready, ['define SCRIPT "b" { { "Sit" } }'], [Member("Ann")], ROOM) == ("Ann: a",)
    ready.step(3.0)
    assert not ready.selections["Ann"]
