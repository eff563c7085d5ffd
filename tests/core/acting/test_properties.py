"""Properties: own changes at once, others' after the commit, relations, defaults, curves of time."""

import pytest
from playtexts import EAT_DINNER, happened, play, shown
from troupe.core import InvalidParam
from troupe.core.acting.mind.cast import Member


@pytest.mark.req("improv", 84)
def test_own_changes_are_seen_at_once_and_by_others_in_the_next_step():
    text = """define ACTOR Ann { appetite 1, does "a" } define ACTOR Bob { does "b" }
    define SCRIPT "a" { { wait .15 s } { set my "Appetite" to 0 } { wait until { my "Appetite" is 0 } } { "Wave" } }
    define SCRIPT "b" { { wait until { Ann's "Appetite" is 0 } } { "Wave" } }"""
    record = play(text, dt=0.1)
    assert shown(record, "Ann") == [(0.15, "Wave")]
    assert shown(record, "Bob") == [(0.2, "Wave")]
    same_step = """define ACTOR Ann { appetite 1, does "a" } define ACTOR Bob { does "b" }
    define SCRIPT "a" { { wait .15 s } { set my "Appetite" to 0 } }
    define SCRIPT "b" { { wait .18 s } { choose from { "Wave" Ann_appetite } } }"""
    same_step = same_step.replace("Ann_appetite", '(Ann\'s "Appetite") "Bow" (1 - Ann\'s "Appetite")')
    assert shown(play(same_step, dt=0.1), "Bob") == [(0.18, "Wave")]
    assert shown(play(same_step, dt=0.01), "Bob") == [(0.18, "Bow")]


def test_dinner_ends_appetite():
    record = play(EAT_DINNER, Member("Ann", properties={"appetite": 0.9}, does=("Eat Dinner",)))
    assert record.properties["Ann"]["appetite"] == 0.0
    assert shown(record, "Ann") == [(0.0, "Eat"), (0.0, "Belch")]


@pytest.mark.req("improv", 85)
def test_a_missing_property_is_zero_with_one_warning():
    text = """define ACTOR Ann { does "s" }
    define SCRIPT "s" { { wait .1 s } { set my "y" to my "x" + 2 } { set my "z" to my "x" } { repeat } }"""
    record = play(text, seconds=2.0)
    assert [what for _, what in happened(record, "warning")] == ['Ann has no property "x"; 0 is used']
    assert record.properties["Ann"]["y"] == 2.0
    empty = (
        'define ACTOR Ann { does "s" } define SCRIPT "s" { { wait until { my x is "" or my x is false } } { "Bow" } }'
    )
    assert shown(play(empty), "Ann") == [(0.0, "Bow")]


@pytest.mark.req("improv", 86)
def test_properties_of_actions_and_scripts_are_read_as_its():
    text = """define ACTOR Ann { does "s" } PROPERTIES "Wave" { formality .1 } PROPERTIES "Nod Off" { formality .9 }
    define SCRIPT "Nod Off" { { "Bow" } } define SCRIPT "s" { { choose from { "Wave" "Nod Off" } based on "r" } }
    define DECISION RULE "r" { factor { its "formality" is greater than .5 } }"""
    record = play(text)
    assert shown(record, "Ann") == [(0.0, "Bow")]
    (choice,) = (e for e in record.events if e.name == "choose")
    assert choice.data["weights"] == [0.0, 1.0]


@pytest.mark.req("improv", 87)
def test_relations_are_kept_per_pair_and_read_by_name():
    text = """define ACTOR Otto { player } define ACTOR Max { }
    define ACTOR Ann { sympathy toward player .9, sympathy toward Max .1, does "s" }
    define ACTOR Bob { sympathy toward Otto .2, does "s" }
    define SCRIPT "s" { { choose from { "Wave" my_otto "Bow" (1 - my "sympathy" toward Otto) } }
      { wait 1 s } { set my "sympathy" toward Max to my "sympathy" toward player } }"""
    text = text.replace("my_otto", 'my "sympathy" toward player')
    record = play(text)
    assert record.properties["Ann"] == {"sympathy toward otto": 0.9, "sympathy toward max": 0.9}
    assert record.properties["Bob"] == {"sympathy toward otto": 0.2, "sympathy toward max": 0.2}
    weights = [e.data["weights"] for e in record.events if e.name == "choose"]
    assert weights == [pytest.approx([0.9, 0.1]), pytest.approx([0.2, 0.8])]


@pytest.mark.req("improv", 95)
def test_another_writes_my_property_and_it_shows_after_the_commit():
    text = """define ACTOR Ann { does "a" } define ACTOR Bob { mood 0, does "b" }
    define SCRIPT "a" { { wait .15 s } { set Bob's "mood" to 1 } { wait until { Bob's "mood" is 1 } } { "Wave" } }
    define SCRIPT "b" { { wait until { my "mood" is 1 } } { "Wave" } }"""
    record = play(text, dt=0.1)
    assert shown(record, "Bob") == [(0.2, "Wave")]
    assert shown(record, "Ann") == [(0.2, "Wave")]


@pytest.mark.req("improv", 95)
def test_of_two_who_write_at_once_the_first_of_the_cast_has_its_way_and_it_is_logged():
    text = """define PROP Lamp { colour "white" }
    define SCRIPT "red" { { wait 1 s } { set Lamp's "colour" to "red" } }
    define SCRIPT "blue" { { wait 1 s } { set Lamp's "colour" to "blue" } }"""
    for first, second, colour in (("red", "blue", "red"), ("blue", "red", "blue")):
        record = play(text, Member("Ann", does=(first,)), Member("Bob", does=(second,)))
        assert record.properties["Lamp"]["colour"] == colour
        (conflict,) = (e for e in record.events if e.name == "conflict")
        assert (conflict.data["kept"], conflict.data["actor"]) == (colour, "Bob")
    later = text.replace(
        '{ wait 1 s } { set Lamp\'s "colour" to "blue"', '{ wait 1.001 s } { set Lamp\'s "colour" to "blue"'
    )
    record = play(later, Member("Ann", does=("red",)), Member("Bob", does=("blue",)))
    assert record.properties["Lamp"]["colour"] == "blue"
    assert not happened(record, "conflict")


def test_properties_may_follow_curves_of_time():
    text = """define ACTOR Ann { does "s" }
    define SCRIPT "s" { { wait until { my "mood" is greater than .5 } } { "Wave" }
      { wait until { my "word" is "go" } } { "Bow" } }"""
    curves = {("Ann", "mood"): ([0.0, 4.0], [0.0, 1.0]), ("Ann", "word"): ([0.0, 3.0], ["stay", "go"])}
    record = play(text, property_curves=curves)
    (wave, bow) = shown(record, "Ann")
    assert wave == (pytest.approx(2.0, abs=1 / 30), "Wave")
    assert bow == (pytest.approx(3.0, abs=1 / 30), "Bow")
    function = play(text, property_curves={("Ann", "mood"): lambda t: t / 4, ("Ann", "word"): lambda t: "go"})
    assert len(shown(function, "Ann")) == 2


def test_what_is_no_property_is_refused():
    for value in (object(), [1.0], float("nan"), ["a", "b"]):
        with pytest.raises(InvalidParam):
            play("", Member("Ann", properties={"x": value}))
    for curve in (([], []), ([1.0, 0.0], [0.0, 1.0]), ([0.0], [1.0, 2.0])):
        with pytest.raises(InvalidParam):
            play("", "Ann", property_curves={("Ann", "x"): curve})
    with pytest.raises(InvalidParam, match="Nobody"):
        play("", "Ann", property_curves={("Nobody", "x"): ([0.0], [1.0])})


def test_places_distances_and_facing_are_properties():
    text = """define ACTOR Ann { location [0 0], does "s" } define ACTOR Bob { location [0 5] }
    define SCRIPT "s" { { set my "far" to my "distance" toward Bob  "turn to face" to Bob }
      { wait until { my "facing" toward Bob } } { walk to Bob }
      { wait until { my "distance" toward Bob is less than 2 } } { "Wave" } }"""
    record = play(text)
    assert record.properties["Ann"]["far"] == 5.0
    assert shown(record, "Ann")[0][0] == pytest.approx(17 / 18 + 3 / 1.3, abs=2 / 30)
    assert record.stage.position("Ann", 10.0) == pytest.approx((0.0, 4.0))


def test_a_division_by_zero_is_a_warning():
    record = play('define ACTOR Ann { n 0, does "s" } define SCRIPT "s" { { set my "x" to 1 / my "n" } }')
    assert record.properties["Ann"]["x"] == 0.0
    assert "division" in happened(record, "warning")[0][1]
