"""Decision rules: weights from factors, influences, subsets and scales."""

from itertools import pairwise

import pytest
from playtexts import FIGHT, INTERESTING, INTERESTING2, JOKE, play
from troupe.core.acting.language.lexer import At
from troupe.core.acting.mind.cast import Actor, Member
from troupe.core.acting.mind.choice import drawn
from troupe.core.acting.mind.evaluation import Scope
from troupe.core.acting.mind.rules import rule_named
from troupe.core.acting.play import rehearse

PEOPLE = (
    Member("Steph", properties={"Charisma": 0.9, "Intelligence": 0.5, "Gender": "female"}),
    Member("Bob", properties={"Charisma": 0.4, "Intelligence": 0.8, "Gender": "male"}),
    Member("Sarah", properties={"Charisma": 0.6, "Intelligence": 0.7, "Gender": "female"}),
)
REACTIONS = {"Faces": ["Calm", "Laugh", "Giggle", "Ignore", "Get Upset"]}
MOODS = """PROPERTIES "Laugh" { mood 1 } PROPERTIES Giggle { mood .7 }
PROPERTIES Ignore { mood .4 } PROPERTIES "Get Upset" { mood 0 }"""


def weigh(text, rule, me, names, *cast, library=None, normalise=False, **properties):
    """The weighings of names by a rule, as `me` sees them."""
    play_ = rehearse([text], [Member(me, properties=properties), *cast], library)
    actor = play_.company.world[me.casefold()]
    assert isinstance(actor, Actor)
    pool = [play_.company.choosable(n, At()) for n in names]
    return rule_named(rule, At(), play_.company, normalise)(Scope(play_, actor, None, 0.0), pool)


def weights(*args, **more):
    return [w.weight for w in weigh(*args, **more)]


@pytest.mark.req("improv", 76)
def test_whos_interesting():
    found = weights(INTERESTING, "who's interesting", "Tom", ("Steph", "Bob", "Sarah"), *PEOPLE)
    assert found == pytest.approx([0.82, 0.48, 0.62], abs=1e-9)
    assert [w / sum(found) for w in found] == pytest.approx([0.42708, 0.25, 0.32292], abs=1e-5)


@pytest.mark.req("improv", 77)
def test_influence_and_scale_are_one_where_they_are_left_out():
    text = """define DECISION RULE "r" { subset "s" factor { its "Charisma" } factor { its "Intelligence" } }
    define SUBSET "s" { its "Charisma" is greater than 0 }"""
    (found,) = weigh(text, "r", "Tom", ("Steph",), *PEOPLE)
    assert found.weight == pytest.approx(1.4, abs=1e-12)
    assert found.scale == 1.0
    assert found.factors == ((0.9, 1.0), (0.5, 1.0))


def test_weights_may_be_divided_by_the_sum_of_influences():
    text = 'define DECISION RULE "r" { factor { its "Charisma" } influence 3 factor { its "Intelligence" } }'
    (found,) = weights(text, "r", "Tom", ("Steph",), *PEOPLE, normalise=True)
    assert found == pytest.approx((0.9 * 3 + 0.5) / 4)


@pytest.mark.req("improv", 78, 86)
def test_courage_decides_between_fight_and_flight():
    text = (
        FIGHT
        + """
    define SCRIPT "Fight" { { wait 1 s } } define SCRIPT "Flee" { { wait 1 s } }
    PROPERTIES "Fight" { "Courage Level" .9 } PROPERTIES "Flee" { "Courage Level" .2 }"""
    )

    def at(courage):
        return weights(text, "how courageous", "Hero", ("Fight", "Flee"), Courage=courage)

    table = {0.2: (0, 1), 0.5: (0.0955, 0.3455), 0.6: (0.3455, 0.0955), 0.8: (0.9045, 0)}
    for courage, wanted in table.items():
        assert at(courage) == pytest.approx(wanted, abs=1e-4)
    odds = [at(0.2 + 0.6 * k / 30) for k in range(31)]
    fight = [f / (f + g) for f, g in odds]
    assert fight[0] == 0.0
    assert fight[-1] == 1.0
    assert all(b >= a for a, b in pairwise(fight))


@pytest.mark.req("improv", 79)
def test_whos_interesting_by_attraction():
    properties = {"Confidence": 0.6, "Intelligence": 0.7, "Gender": "male", "Preferred Gender": "female"}
    tom = rehearse([INTERESTING2], [Member("Tom", properties=properties), *PEOPLE])
    rule = rule_named("who's interesting2", At(), tom.company)
    pool = [tom.company.world[n] for n in ("steph", "bob", "sarah")]
    found = [w.weight for w in rule(Scope(tom, tom.actors[0], None, 0.0), pool)]
    assert found == pytest.approx([0.85355, 0.68284, 0.85355], abs=1e-5)
    assert [w / sum(found) for w in found] == pytest.approx([0.35714, 0.28571, 0.35714], abs=1e-5)


@pytest.mark.req("improv", 80)
def test_outside_all_subsets_is_out_and_the_first_of_two_counts():
    text = """define DECISION RULE "r" {
      subset "clever" scale .5 factor { its "Intelligence" }
      subset "charming" scale 2 factor { its "Intelligence" } }
    define SUBSET "clever" { its "Intelligence" is greater than .65 }
    define SUBSET "charming" { its "Charisma" is greater than .55 }"""
    dull = Member("Dull", properties={"Charisma": 0.1, "Intelligence": 0.1})
    found = weigh(text, "r", "Tom", ("Steph", "Bob", "Sarah", "Dull"), *PEOPLE, dull)
    assert [w.subset for w in found] == ["charming", "clever", "clever", None]
    assert [w.weight for w in found] == pytest.approx([1.0, 0.4, 0.35, 0.0])


@pytest.mark.req("improv", 94)
@pytest.mark.parametrize(("sympathy", "wanted"), [(0.0, 0.667), (1.0, 0.299)])
def test_sympathy_makes_fewer_positive_reactions(sympathy, wanted):
    text = JOKE.split('define SCRIPT "React To Joke"')[1].split("define DECISION")[1]
    text = f"define DECISION{text} {MOODS} define ACTOR Otto {{ player }}"
    play_ = rehearse([text], [Member("Elli", relations={("sympathy", "Otto"): sympathy})], REACTIONS)
    me = play_.actors[0]
    pool = [play_.company.actions[n] for n in ("laugh", "giggle", "ignore", "get upset")]
    rule = rule_named("feelings toward player", At(), play_.company)
    found = [w.weight for w in rule(Scope(play_, me, None, 0.0), pool)]
    picks = [drawn(found, me.rng.random()) for _ in range(5000)]
    assert sum(p < 2 for p in picks) / 5000 == pytest.approx(wanted, abs=0.02)


def test_a_raw_factor_outside_zero_to_one_is_flagged_once_and_kept():
    text = """define SCRIPT "s" { { choose from { "Steph" "Bob" } based on "r" } { wait .1 s } { repeat } }
    define DECISION RULE "r" { factor { its "Age" } } define ACTOR Tom { does "s" }"""
    people = [Member("Steph", properties={"Age": 30}), Member("Bob", properties={"Age": 0.5})]
    record = play(text, *people, seconds=1.0)
    flagged = [e for e in record.events if e.name == "warning"]
    assert [e.data["actor"] for e in flagged] == ["Steph"]
    assert "outside 0 to 1" in flagged[0].data["what"]
    assert next(e for e in record.events if e.name == "choose").data["weights"] == [30.0, 0.5]


def test_a_negative_weight_counts_as_none():
    text = 'define DECISION RULE "r" { factor { its "Charisma" - .5 } }'
    assert weights(text, "r", "Tom", ("Steph", "Bob"), *PEOPLE) == pytest.approx([0.4, 0.0])
