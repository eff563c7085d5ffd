"""Scripts run in groups, hold exactly as long as they say, repeat without hanging, and do not depend on the step."""

from itertools import groupby

import numpy as np
import pytest
from playtexts import CURTAIN_CALL, GREETING, ROOM, happened, play, shown
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.play import perform_play, rehearse

STEPS = (1 / 10, 1 / 24, 1 / 30, 1 / 60, 1 / 120)
DAY = """
SCRIPT GROUP "Plans" { "Morning" "Noon" }
SCRIPT GROUP "Behaviour" { "Rest" "Eat Lunch" "Nap" }
define SCRIPT "Morning" { { wait 3 seconds } { "Noon" } }
define SCRIPT "Noon" { { "Eat Lunch" } { wait 4 seconds } }
define SCRIPT "Eat Lunch" { { "Eat" } { wait 1 second } { "Nap" } }
define SCRIPT "Nap" { { "Sit" } { wait 1 second } }
"""


def one(script, **more):
    return play(f'define ACTOR Ann {{ does "s" }} define SCRIPT "s" {script}', **more)


@pytest.mark.req("improv", 64)
def test_every_group_has_exactly_one_current_script_at_every_step():
    ready = rehearse([DAY], ["Ann"], ROOM)
    ann = ready.actors[0]
    seen = []
    for k in range(300):
        ready.step(k / 30)
        assert all(group.run is not None for group in ann.scripts.values())
        seen.append(tuple(g.current for g in ann.scripts.values()))
    assert seen[0] == ("Morning", "Rest")
    assert [key for key, _ in groupby(seen)] == [
        ("Morning", "Rest"),
        ("Noon", "Eat Lunch"),
        ("Noon", "Nap"),
        ("Noon", "Rest"),
        ("Morning", "Rest"),
    ]


@pytest.mark.req("improv", 64)
def test_selecting_another_script_of_the_group_stops_the_first_at_once():
    text = """SCRIPT GROUP "G" { "Idle" "A" "B" } define ACTOR Ann { does "s" }
    define SCRIPT "s" { { "A" } { wait 1.5 s } { "B" } }
    define SCRIPT "A" { { wait 1 s } { "Wave" } { wait 1 s } { "Clap" } }
    define SCRIPT "B" { { "Bow" } { wait 9 s } }"""
    assert shown(play(text), "Ann") == [(1.0, "Wave"), (1.5, "Bow")]


@pytest.mark.req("improv", 65)
@pytest.mark.parametrize("dt", STEPS)
def test_the_greeting_keeps_its_times_whatever_the_step(dt):
    record = play(GREETING, Member("Ann", does=("greeting",)), seconds=20.0, dt=dt)
    assert shown(record, "Ann") == [
        (5.0, "Wave"),
        (5.0, "Talk"),
        (7.0, "No Hand Gesture"),
        (8.0, "Sit"),
        (11.0, "Quiet"),
        (13.0, "Bow"),
    ]
    assert happened(record, "walk", "turn") == [(0.0, "center"), (4.0, "Camera"), (15.0, "offstage")]
    assert record.selections["Ann"][-1].target == "Camera"


@pytest.mark.req("improv", 65, 73)
def test_a_solo_with_choices_has_the_same_log_at_every_step():
    text = """define ACTOR Ann { mood .5, does "a", does "b" }
    define SCRIPT "a" { { choose from { "Wave" "Bow" "Clap" } for between .2 and .9 seconds }
      { continue for between .3 and 1.1 seconds } { set my "mood" to 1 - my "mood" } { repeat } }
    define SCRIPT "b" { { wait until { my "mood" is greater than .4 } } { choose from { "Sit" "Sway" "Stand" } }
      { wait .37 s } { repeat } }"""
    logs = {play(text, seconds=30.0, dt=dt).log() for dt in STEPS}
    assert len(logs) == 1
    assert logs.pop().count("\n") > 200


@pytest.mark.req("improv", 66)
def test_the_curtain_call_waits_until_it_is_there():
    member = Member("Ann", place=(-4.0, 0.0, 0.0), does=("Curtain Call",))
    record = play(CURTAIN_CALL, member, seconds=20.0)
    walk, leave = (e for e in record.events if e.name == "walk")
    (turn,) = (e for e in record.events if e.name == "turn")
    bow = record.selections["Ann"][0]
    arrival = (4.0 - 0.1) / 1.3
    assert arrival <= turn.time <= arrival + 1 / 30
    assert walk.data["arrival"] == pytest.approx(4.0 / 1.3)
    assert bow.action == "Bow"
    assert bow.time == pytest.approx(turn.time + np.pi / 2 / np.pi, abs=1 / 30)
    assert leave.time == pytest.approx(bow.time + 3.0, abs=1e-9)
    assert leave.data["target"] == "offstage"


@pytest.mark.req("improv", 67)
def test_for_n_seconds_returns_to_the_default_unless_superseded():
    assert shown(one('{ { "Wave" for 2 seconds } }'), "Ann") == [(0.0, "Wave"), (2.0, "No Hand Gesture")]
    superseded = one('{ { "Wave" for 2 seconds } { wait 1 s } { "Clap" } }')
    assert shown(superseded, "Ann") == [(0.0, "Wave"), (1.0, "Clap")]
    renewed = one('{ { "Wave" for 2 seconds } { wait 1 s } { "Wave" for 2 seconds } }')
    assert shown(renewed, "Ann") == [(0.0, "Wave"), (1.0, "Wave"), (3.0, "No Hand Gesture")]
    script = """SCRIPT GROUP "G" { "Idle" "A" } define ACTOR Ann { does "s" }
    define SCRIPT "Idle" { { "Sit" } } define SCRIPT "A" { { "Wave" } { wait 1 s } { "Clap" } { wait 1 s } { "Bow" } }
    define SCRIPT "s" { { wait 1 s } { "A" for 1.5 seconds } }"""
    assert shown(play(script), "Ann") == [(0.0, "Sit"), (1.0, "Wave"), (2.0, "Clap"), (2.5, "Sit")]


@pytest.mark.req("improv", 68)
def test_a_loop_without_a_hold_goes_round_once_a_step():
    record = one('{ { set my "n" to my "n" + 1 } { repeat } }', seconds=1.0, dt=0.1)
    assert len(happened(record, "set")) == 11
    assert not happened(record, "error")


@pytest.mark.req("improv", 68)
@pytest.mark.parametrize(
    "text",
    [
        'define SCRIPT "Loop" { { "Loop" } }',
        'define SCRIPT "Loop" { { "Other" } } define SCRIPT "Other" { { "Loop" } }',
        'define SCRIPT "Loop" { { wait .000001 seconds } { repeat } }',
    ],
)
def test_endless_loops_are_named_and_stopped(text):
    does = ("Loop", "Other") if '"Other" {' in text else ("Loop",)
    record = play(text, Member("Ann", properties={"x": 0}, does=does), seconds=0.5)
    errors = happened(record, "error")
    assert errors
    assert {name for _, name in errors} <= {"Loop", "Other"}
    assert 'the script "' in next(e for e in record.events if e.name == "error").data["what"]
    assert len(record.events) < 60_000


@pytest.mark.req("improv", 68)
def test_scripts_that_wake_each_other_for_ever_still_let_time_pass():
    text = """define SCRIPT "Loop" { { wait until { my "x" is 1 } } { set my "x" to 0 } { repeat } }
    define SCRIPT "Other" { { wait until { my "x" is 0 } } { set my "x" to 1 } { repeat } }"""
    record = play(text, Member("Ann", properties={"x": 0}, does=("Loop", "Other")), seconds=1.0)
    assert record.seconds == 1.0
    assert 30 <= len(happened(record, "set")) <= 70


@pytest.mark.req("improv", 69)
def test_holds_are_drawn_evenly_between_their_ends():
    record = one("{ { continue for between 3 and 12 seconds } { repeat } }", seconds=15_600.0, dt=1.0)
    lasted = np.array([e.data["seconds"] for e in record.events if e.name == "lasts"][:2000])
    assert len(lasted) == 2000
    assert lasted.min() >= 3.0
    assert lasted.max() <= 12.0
    assert lasted.mean() == pytest.approx(7.5, abs=0.3)


@pytest.mark.req("improv", 70)
def test_statements_of_a_clause_start_at_the_same_time():
    record = one('{ { wait .77 s } { "Wave"  "Sit"  "Talk"  set my "x" to 1  "walk to center" } }', dt=0.1)
    assert {e.time for e in record.events if e.name in ("select", "set", "walk")} == {0.77}


@pytest.mark.req("improv", 71)
def test_a_script_that_ends_is_done_and_its_group_falls_back():
    text = """SCRIPT GROUP "G" { "Idle" "A" } define ACTOR Ann { does "s" }
    define SCRIPT "Idle" { { "Sit" } } define SCRIPT "A" { { "Stand" } { wait 1.2 s } }
    define SCRIPT "s" { { wait 1 s } { "A" } { wait until { "A" is done } } { "Bow" } }"""
    record = play(text, dt=0.1)
    assert shown(record, "Ann") == [(0.0, "Sit"), (1.0, "Stand"), (2.2, "Sit"), (2.2, "Bow")]


def test_a_hold_on_time_and_condition_waits_for_both():
    text = """define ACTOR Ann {{ x 0, does "s", does "other" }}
    define SCRIPT "other" {{ {{ wait {} s }} {{ set my x to 1 }} }}
    define SCRIPT "s" {{ {{ wait 2 s  wait until {{ my x is 1 }} }} {{ "Bow" }} }}"""
    assert shown(play(text.format(1)), "Ann") == [(2.0, "Bow")]
    assert shown(play(text.format(3)), "Ann") == [(3.0, "Bow")]


def test_actions_are_done_when_their_time_is_up_or_another_takes_over():
    waits = one('{ { "Wave" for 1.25 s } { wait until { Wave is done } } { "Sit" } }')
    assert shown(waits, "Ann")[-1] == (1.25, "Sit")
    clip = perform_play(
        ['define ACTOR Ann { does "s" } define SCRIPT "s" { { "Wave" } { wait until { Wave is done } } { "Sit" } }'],
        (),
        _library_with_clip(),
        10.0,
    )
    assert shown(clip, "Ann") == [(0.0, "Wave"), (1.75, "Sit")]


def _library_with_clip():
    from troupe.core.acting.mind.vocabulary import ActionInfo, Vocabulary

    return Vocabulary(
        (
            ("Hands", (ActionInfo("None"), ActionInfo("Wave", {}, 1.75))),
            ("Legs", (ActionInfo("Stand"), ActionInfo("Sit"))),
        )
    )


@pytest.mark.req("improv", 72)
def test_lower_scripts_follow_the_plan_through_properties_without_restarting():
    text = """define ACTOR Ann { pace 1, does "Plan", does "Fidget" }
    define SCRIPT "Plan" { { wait 2.5 s } { set my "pace" to 0 } }
    define SCRIPT "Fidget" { { choose from { "Wave" my "pace" "Clap" (1 - my "pace") } } { wait 1 s } { repeat } }"""
    record = play(text, seconds=5.0)
    assert shown(record, "Ann") == [
        (0.0, "Wave"),
        (1.0, "Wave"),
        (2.0, "Wave"),
        (3.0, "Clap"),
        (4.0, "Clap"),
        (5.0, "Clap"),
    ]
    assert [name for _, name in happened(record, "start")] == ["Plan", "Fidget"]


@pytest.mark.req("improv", 72)
def test_any_script_may_trigger_any_group():
    text = """SCRIPT GROUP "High" { "Calm" "Alarm" } SCRIPT GROUP "Low" { "Fidget" }
    define SCRIPT "Fidget" { { wait 1 s } { "Alarm" } } define SCRIPT "Alarm" { { "Bow" } }"""
    assert shown(play(text, "Ann"), "Ann") == [(1.0, "Bow")]


@pytest.mark.req("improv", 73)
def test_the_same_seed_gives_the_same_log_byte_for_byte_and_another_does_not():
    text = """define SCRIPT "s" { { choose from { "Wave" "Bow" "Clap" } } { wait between .1 and 2 s }
      { cue choose from { others } to "s" } }"""
    cast = [Member(n, does=("s",)) for n in ("Ann", "Bob", "Cy")]
    first, second, third = (play(text, *cast, seconds=20.0, behaviour_seed=s).log() for s in (7, 7, 8))
    assert first == second
    assert first != third


def test_frames_and_minutes_are_durations():
    record = one('{ { wait 12 frames } { "Bow" } { wait .05 minutes } { "Wave" } }')
    assert shown(record, "Ann") == [(0.5, "Bow"), (3.5, "Wave")]


def test_the_waiting_are_not_asked_while_nothing_changes():
    text = """define ACTOR Ann { x 0, does "w", does "late" }
    define SCRIPT "w" { { wait until { my x is 1 } } { "Bow" } }
    define SCRIPT "late" { { wait 9 s } { set my x to 1 } }"""
    ready = rehearse([text], (), ROOM)
    ready.step(0.0)
    run = ready.actors[0].scripts["(w)"].run
    ticket = run.ticket
    for k in range(1, 260):
        ready.step(k / 30)
    assert run.ticket == ticket
    ready.step(9.01)
    assert ready.selections["Ann"][0].time == 9.0


def test_a_hold_on_several_conditions_ends_when_all_hold_whichever_was_missing_last():
    text = """define ACTOR Ann { does "s" does "Moods" does "Fortune" mood 0 luck 0 }
    SCRIPT GROUP "1" { "none" "s" } SCRIPT GROUP "2" { "nothing" "Moods" } SCRIPT GROUP "3" { "nil" "Fortune" }
    define SCRIPT "s" { { wait until { my "mood" is 1 and my "luck" is 1 or my "mood" is 5 } } { "Wave" } }
    define SCRIPT "Moods" { { wait 1 s } { set my "mood" to 1 } { wait 1 s } { set my "mood" to 0 } { wait 2 s }
      { set my "mood" to 1 } }
    define SCRIPT "Fortune" { { wait 3 s } { set my "luck" to 1 } }"""
    assert shown(play(text), "Ann") == [(4.0, "Wave")]


def test_all_who_wait_for_the_same_go_on_together_whichever_was_missing_last():
    text = """define ACTOR Ann { does "Moods" mood 0 luck 0 }
    define ACTOR Bob { does "s" } define ACTOR Cy { does "s" } define ACTOR Di { does "t" }
    define SCRIPT "s" { { wait until { Ann's "mood" is 1 and Ann's "luck" is 1 } } { "Wave" } }
    define SCRIPT "t" { { wait until { Ann's "mood" is 1 and Ann's "luck" is my "luck" } } { "Clap" } }
    define SCRIPT "Moods" { { wait 1 s } { set my "mood" to 1 } { wait 1 s } { set my "luck" to 1 } { wait 1 s } }"""
    record = play(text, Member("Di", properties={"luck": 1.0}), dt=1 / 30)
    waved = [shown(record, name) for name in ("Bob", "Cy")]
    assert waved[0] == waved[1] == [(pytest.approx(2.0, abs=0.04), "Wave")]
    assert shown(record, "Di") == [(pytest.approx(2.0, abs=0.04), "Clap")]
