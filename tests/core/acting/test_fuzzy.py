"""Soft comparison: the values of the paper's appendix."""

import pytest
from playtexts import play
from troupe.core.acting.language.syntax import EQUALS, GREATER, LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS, OPERATORS
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.mind.fuzzy import agreement, kernel

TABLE = {
    0.1: (0, 1, 0, 1, 1, 0),
    0.2: (0.1464, 0.8536, 0.1464, 0.8536, 1, 0),
    0.3: (0.5, 0.5, 0.5, 0.5, 1, 0),
    0.4: (0.8536, 0.1464, 0.8536, 0.1464, 1, 0),
    0.5: (1, 0, 1, 0, 1, 0),
    0.6: (0.8536, 0.1464, 1, 0, 0.8536, 0.1464),
    0.7: (0.5, 0.5, 1, 0, 0.5, 0.5),
    0.9: (0, 1, 1, 0, 0, 1),
}


def judged(*factors):
    """What these factors of a rule give for everyone whose x is in the table."""
    people = [Member(f"P{k}", properties={"x": x}) for k, x in enumerate(TABLE)]
    text = f"""define ACTOR Ann {{ does "s" }} define SCRIPT "s" {{ {{ choose from {{ others }} based on "r" }} }}
    define DECISION RULE "r" {{ {" ".join(f"factor {{ {f} }}" for f in factors)} }}"""
    (choice,) = (e for e in play(text, *people, seconds=0.1).events if e.name == "choose")
    return [[value for value, _ in row] for row in choice.data["factors"]]


@pytest.mark.req("improv", 81)
@pytest.mark.parametrize("x", TABLE)
def test_the_six_operators_have_the_values_of_the_table(x):
    columns = (EQUALS, NOT_EQUAL, GREATER, NOT_GREATER, LESS, NOT_LESS)
    found = [agreement(x, 0.5, 0.5, operator, 0.4, 0.4) for operator in columns]
    assert found == pytest.approx(TABLE[x], abs=1e-4)


@pytest.mark.req("improv", 81)
def test_a_rule_has_the_values_of_the_table():
    found = judged(*(f"its x {operator} .5 to within .4" for operator in OPERATORS))
    assert set(OPERATORS) == {EQUALS, NOT_EQUAL, GREATER, NOT_GREATER, LESS, NOT_LESS}
    for (x, values), row in zip(TABLE.items(), found, strict=True):
        assert row == pytest.approx(values, abs=1e-4), x


@pytest.mark.req("improv", 82, 83)
def test_a_rule_has_its_own_spread_on_each_side_and_targets_that_are_ranges():
    found = judged("its x equals .5 to within above .2 below .6", "its x equals between .35 and .6 to within .2")
    for x, row in zip(TABLE, found, strict=True):
        wanted = kernel((x - 0.5) / 0.2 if x > 0.5 else (0.5 - x) / 0.6)
        ranged = kernel(max(0.35 - x, x - 0.6, 0.0) / 0.2)
        assert row == pytest.approx([wanted, ranged], abs=1e-9), x


@pytest.mark.req("improv", 81)
def test_the_kernel_is_a_raised_cosine():
    wanted = {0: 1, 0.25: 0.853553, 1 / 3: 0.75, 0.5: 0.5, 2 / 3: 0.25, 0.75: 0.146447, 1: 0, 2: 0}
    assert [kernel(d) for d in wanted] == pytest.approx(list(wanted.values()), abs=1e-6)


@pytest.mark.req("improv", 82)
def test_each_side_has_its_own_spread():
    assert agreement(0.6, 0.5, 0.5, EQUALS, below=0.6, above=0.2) == pytest.approx(kernel(0.5))
    assert agreement(0.2, 0.5, 0.5, EQUALS, below=0.6, above=0.2) == pytest.approx(kernel(0.5))
    assert agreement(0.75, 0.5, 0.5, EQUALS, below=0.6, above=0.2) == 0.0


@pytest.mark.req("improv", 83)
def test_everything_inside_a_target_range_agrees():
    assert [agreement(x, 0.3, 0.6, EQUALS, 0.2, 0.2) for x in (0.3, 0.4, 0.6)] == [1.0, 1.0, 1.0]
    assert agreement(0.2, 0.3, 0.6, EQUALS, 0.2, 0.2) == pytest.approx(0.5)
    assert agreement(0.7, 0.3, 0.6, EQUALS, 0.2, 0.2) == pytest.approx(0.5)


def test_without_a_spread_comparison_is_crisp():
    assert [agreement(x, 0.5, 0.5, EQUALS) for x in (0.5, 0.5 + 1e-7, 0.51)] == [1.0, 1.0, 0.0]
    assert [agreement(x, 0.5, 0.5, GREATER) for x in (0.4, 0.5, 0.6)] == [0.0, 1.0, 1.0]
    assert [agreement(x, 0.5, 0.5, NOT_LESS) for x in (0.4, 0.5, 0.6)] == [0.0, 0.0, 1.0]


def test_agreement_never_leaves_zero_to_one():
    for operator in OPERATORS:
        for x in (-1e9, -1.0, 0.0, 0.3, 1e9):
            assert 0.0 <= agreement(x, 0.2, 0.4, operator, 0.1, 1e-9) <= 1.0
