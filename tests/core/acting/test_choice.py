"""Choosing: odds, empty pools, repeats, and a log from which each choice can be worked out again."""

from itertools import pairwise

import numpy as np
import pytest
from playtexts import FIGHT, ROCK, happened, play, shown
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.mind.choice import drawn
from troupe.core.acting.mind.doing import PlayOptions
from troupe.core.acting.mind.events import from_text

LOOP = 'define ACTOR Ann {{ does "s" }} define SCRIPT "s" {{ {{ {} }} {{ wait .05 seconds }} {{ repeat }} }}'


def chosen(record):
    return [what for _, what in happened(record, "choose")]


@pytest.mark.req("improv", 74)
def test_weights_are_odds():
    rng = np.random.default_rng(0)
    for weights in ((5, 3, 1), (1, 1, 1)):
        picks = [drawn(weights, u) for u in rng.random(90_000).tolist()]
        counts = np.bincount(picks, minlength=3) / 90_000
        assert counts == pytest.approx(np.array(weights) / sum(weights), abs=0.01)


@pytest.mark.req("improv", 74)
def test_a_script_chooses_by_the_weights_it_gives():
    record = play(LOOP.format('choose from { "Rock" 5 "Paper" 3 "Scissors" 1 }'), seconds=400.0)
    names = chosen(record)
    assert len(names) >= 8000
    shares = [names.count(n) / len(names) for n in ("Rock", "Paper", "Scissors")]
    assert shares == pytest.approx([5 / 9, 3 / 9, 1 / 9], abs=0.02)
    even = chosen(play(LOOP.format('choose from ("Rock" "Paper" "Scissors")'), seconds=400.0))
    assert [even.count(n) / len(even) for n in ("Rock", "Paper", "Scissors")] == pytest.approx([1 / 3] * 3, abs=0.02)


def test_what_is_chosen_happens_as_if_it_were_named():
    text = ROCK + 'define ACTOR Ann { does "Weighted" }'
    record = play(text)
    ((_, name),) = happened(record, "choose")
    assert shown(record, "Ann") == [(0.0, name)]


@pytest.mark.req("improv", 75)
def test_with_all_weights_zero_nothing_happens_but_a_warning():
    record = play(
        'define ACTOR Ann { does "s" } define SCRIPT "s" { { choose from { "Rock" 0 "Paper" -2 } } { "Bow" } }'
    )
    assert shown(record, "Ann") == [(0.0, "Bow")]
    assert "all weights are 0" in happened(record, "warning")[0][1]
    even = play(
        'define ACTOR Ann { does "s" } define SCRIPT "s" { { choose from { "Rock" 0 "Paper" 0 } } }',
        options=PlayOptions(uniform_when_zero=True),
    )
    assert shown(even, "Ann")[0][1] in ("Rock", "Paper")


def test_nobody_to_choose_from_is_a_warning():
    record = play('define ACTOR Ann { does "s" } define SCRIPT "s" { { choose from { others } } { "Bow" } }')
    assert "nobody" in happened(record, "warning")[0][1]
    assert shown(record, "Ann") == [(0.0, "Bow")]


@pytest.mark.req("improv", 115)
def test_every_choice_can_be_worked_out_from_the_log():
    text = (
        FIGHT
        + """define SCRIPT "Fight" { { "Fist" } } define SCRIPT "Flee" { { "Bow" } }
    PROPERTIES "Fight" { "Courage Level" .9 } PROPERTIES "Flee" { "Courage Level" .2 }
    define SCRIPT "again" { { "Meet" } { wait .1 s } { repeat } }"""
    )
    record = play(text, Member("Ann", properties={"courage": 0.55}, does=("again",)), seconds=20.0)
    events = [e for e in from_text(record.log()) if e.name == "choose"]
    assert len(events) >= 200
    results = set()
    for event in events:
        data = event.data
        assert data["actor"] == "Ann"
        assert data["pool"] == ["Fight", "Flee"]
        again = [s * sum(v * i for v, i in f) for s, f in zip(data["scales"], data["factors"], strict=True)]
        assert again == pytest.approx(data["weights"])
        limit = data["draw"] * sum(again)
        assert data["result"] == ("Fight" if again[0] > limit else "Flee")
        results.add(data["result"])
    assert results == {"Fight", "Flee"}
    assert "by how courageous; drew" in next(t["why"] for t in record.transcript if t["what"].startswith("chooses"))


@pytest.mark.req("improv", 115)
@pytest.mark.parametrize(
    ("choice", "pool"),
    [
        ('choose from { "Rock" 5 "Paper" my "skill" "Scissors" }', ["Rock", "Paper", "Scissors"]),
        ('choose from { "Rock" "Paper" "Scissors" } avoiding repeats .2', ["Rock", "Paper", "Scissors"]),
        ('choose from { "Rock" "Paper" "Scissors" } cooldown .1 seconds', ["Rock", "Paper", "Scissors"]),
        ("choose from { others }", ["Bob", "Cy"]),
        ("choose from { others } based on r", ["Bob", "Cy"]),
        ("choose from { Bob 3 Cy } based on r avoiding repeats .5", ["Bob", "Cy"]),
        ('cue Bob to choose from { "Rock" 1 "Paper" 2 }', ["Rock", "Paper"]),
    ],
)
@pytest.mark.parametrize("normalise", [False, True])
def test_choices_of_every_kind_can_be_worked_out_from_the_log(choice, pool, normalise):
    rule = """define DECISION RULE r { subset tall scale .5 factor { its "wit" } factor { its "wit" } influence 2
      subset short factor { its "wit" } }
    define SUBSET tall { it is "tall" } define SUBSET short { it is not "tall" }"""
    cast = [
        Member("Ann", properties={"skill": 0.8}),
        Member("Bob", properties={"wit": 0.4, "tall": True}),
        Member("Cy", properties={"wit": 0.3}),
    ]
    record = play(LOOP.format(choice) + rule, *cast, seconds=5.0, options=PlayOptions(normalise=normalise))
    events = [e for e in from_text(record.log()) if e.name == "choose"]
    assert len(events) >= 90
    for event in events:
        data = event.data
        assert data["actor"] == ("Bob" if choice.startswith("cue") else "Ann") and data["pool"] == pool
        if "based" in choice:
            raw = [s * sum(v * i for v, i in f) for s, f in zip(data["scales"], data["factors"], strict=True)]
            assert raw == pytest.approx([0.2, 0.3] if normalise else [0.6, 0.3])
            assert data["weights"] == pytest.approx(np.multiply(raw, data["given"]))
        limits = np.cumsum(data["weights"]) / sum(data["weights"])
        assert data["result"] == pool[int(np.searchsorted(limits, data["draw"], side="right"))]
    assert len({e.data["result"] for e in events}) == len(pool)


def test_repeats_can_be_avoided_and_cooled_down():
    names = chosen(play(LOOP.format('choose from { "Rock" "Paper" "Scissors" } avoiding repeats'), seconds=20.0))
    assert all(a != b for a, b in pairwise(names))
    rare = chosen(play(LOOP.format('choose from { "Rock" "Paper" } avoiding repeats .1'), seconds=20.0))
    repeats = sum(a == b for a, b in pairwise(rare)) / (len(rare) - 1)
    assert repeats == pytest.approx(0.1 / 1.1, abs=0.05)
    record = play(LOOP.format('choose from { "Rock" 9 "Paper" "Bow" } cooldown 1 second'), seconds=20.0)
    times = [t for t, what in happened(record, "choose") if what == "Rock"]
    assert min(np.diff(times)) >= 1.0 - 1e-9


def test_weights_may_be_properties_and_arithmetic():
    text = LOOP.format('choose from { "Rock" my "skill" "Paper" (1 - my "skill") }')
    names = chosen(play(text, Member("Ann", properties={"skill": 0.8}), seconds=200.0))
    assert names.count("Rock") / len(names) == pytest.approx(0.8, abs=0.025)


def test_choosing_someone_makes_them_the_target():
    text = """define ACTOR Ann { does "s" } define ACTOR Bob { nice 1 } define ACTOR Cy { nice 0 }
    define SCRIPT "s" { { choose from { others } based on "r" } { "Wave" toward it } }
    define DECISION RULE "r" { factor { its "nice" } }"""
    assert play(text).selections["Ann"][0].target == "Bob"


def test_actors_choose_independently_of_who_else_plays():
    text = 'define SCRIPT "s" { { choose from { "Rock" "Paper" "Scissors" } } { wait 1 s } { repeat } }'
    alone = play(text, Member("Ann", does=("s",)), seconds=30.0)
    both = play(text, Member("Zoe", does=("s",)), Member("Ann", does=("s",)), seconds=30.0)
    assert shown(alone, "Ann") == shown(both, "Ann")
    assert shown(both, "Zoe") != shown(both, "Ann")
