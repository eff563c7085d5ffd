"""The acting language: what it accepts, how it is printed, and what it says about mistakes."""

import pytest
from playtexts import LISTINGS, ROOM, play
from troupe.core import FormatError
from troupe.core.acting import starter
from troupe.core.acting.act import repertoire
from troupe.core.acting.language.parser import parse, parse_statement
from troupe.core.acting.language.printer import print_program
from troupe.core.acting.language.syntax import (
    AllOf,
    AnyOf,
    Call,
    Choice,
    Compare,
    Duration,
    GroupDef,
    Hold,
    HolderDef,
    Number,
    PropRef,
    Range,
    Ref,
    RuleDef,
    ScriptDef,
    SubsetDef,
    Tag,
    Trigger,
)
from troupe.core.acting.mind.vocabulary import action_sheet
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.tables import read_sheet

RULE = 'define DECISION RULE "rule" { factor { its x } }'
SUBSET = 'define DECISION RULE "r" { subset "s" factor { its x } }'
SHIPPED = {name: starter.text(name) for name in starter.names()}


def only(text, **more):
    (found,) = parse(text, **more).definitions
    return found


def mistake(text, *cast):
    with pytest.raises(FormatError) as caught:
        play(text, *(cast or ("Ann",)))
    return caught.value


@pytest.mark.req("improv", 88)
@pytest.mark.parametrize("text", [*LISTINGS.values(), *SHIPPED.values()], ids=[*LISTINGS, *SHIPPED])
def test_every_listing_is_accepted_and_survives_printing(text):
    program = parse(text)
    printed = print_program(program)
    assert program.definitions
    assert parse(printed) == program
    assert print_program(parse(printed)) == printed


@pytest.mark.req("improv", 88)
def test_statements_of_every_kind_survive_printing():
    text = """define SCRIPT "all" {
      { do "Wave" toward "Ann" for between 2 and 3 seconds over .5 seconds else "Bow" }
      { send "look_here" to camera for 3 s }
      { pick up "Tray" else Huddle  put down Tray  walk to [1 -2]  say "Hello, you!"  turn to face it }
      { show button "Hi" does "Wave" for 2 seconds  hide slider mood  py: juggle(3, "balls", my "skill" + 1) }
      { cue ("Ann" "Bob") to do choose from {everyone except me and player} avoiding repeats .3 cooldown 4 seconds }
      { set "Otto"'s "mood" toward player to (my x - 3) * 2 / its "y"  do my "order"  repeat }
      { wait until { not (current "Joke" is done_deal) or my "place" equals [0 1] to within 2 above 3 below 1 } }
      { wait until { my x equals between 1 and 3 and Otto is angry and it is not shy or my tag is not true } }
      { wait 4 frames } }
    """
    program = parse(text)
    assert parse(print_program(program)) == program


# The productions of the grammar, each with every choice that it leaves.
STATEMENTS = """
wait 3 seconds | wait for 3 s | continue 3 minutes | continue for between 3 and 12 frames | wait .5 minute
wait until { my x is 1 } | continue until { "turn to camera" is done } | wait +3 s | wait 10 frame | repeat
"Bow" | do Bow | "Bow" to me | "Bow" toward it | "Bow" at him | "Bow" with player | "Bow" to camera | "Bow" for 2 s
"Bow" toward [1 2 3] | "Bow" to choose from { others } based on "r" | do choose from (a b) toward Ann for 3 s
choose from { everyone except Ann except Bob } | choose from { entire set of "A", "B" and C except Bow } based on r
choose from ( others ) | choose from { a 1 b .5 c -2 } | cue Bob to Bow | cue player to Bow | cue (Ann Bob) to Bow
cue him to "Bow" toward me for between 1 and 2 seconds | cue { entire set of Choir } to Bow
cue { others except player } to choose from { a b } based on r
set my x to 3 | set its "x y" to my z + 3 * its y / 2 - 1 | set his/her x toward Ann to "word" | set her x to 1
set his x to 1 | set Ann's x to 1 | set "Ann"'s x to .5 | set current "Joke" "completed" to true
show button "Hi" does set my x to 1 | hide button "Hi" | show slider mood | show button "Hi" does cue Bob to Bow
py: f(1, "a", my x)
wait until { a and b or not ( c or d ) } | wait until { it is "a" and b } | wait until { current "G" is "a tag" }
wait until { my x does not equal its y to within .3 above .2 below .1 } | wait until { x is done }
wait until { my x is not less than 3 } | wait until { my x not less than 3 } | wait until { 3 less than my x }
wait until { my x is less than 3 } | wait until { my x is greater than 3 } | wait until { my x greater than 3 }
wait until { my x is not greater than 3 } | wait until { my x not greater than 3 } | wait until { "a" equals my x }
wait until { my x equals between 1 and 2 to within .1 } | wait until { my x is "a word" } | wait until { my x is -3 }
wait until { my x toward Ann is greater than .5 }
"""
DEFINITIONS = """
define ACTION A { Nod 1 2 3 } | GROUP g ACTION a ACTION b | SCRIPT GROUP g a b | GROUP g a b | DAY_PLANS a b
define SCRIPT s { { a } { b } } | SCRIPT s { a } { b } | define SCRIPT s { }
define DECISION RULE r { factor { its x } } | define SUBSET s { its x equals my y }
define DECISION RULE r factor { my x equals its x } influence .5 factor { its y }
DECISION_RULE r { subset s scale .5 factor { its x } subset t factor { its y } }
define ACTOR A { mood .5 shy gender "f" sympathy toward player .5 } | define PROP P { location [1 2] }
a buffers b | "a b" blocks c | morph walk from a to b amount .4 { fade .8 } | { { 1 2 3 } { } { } Nod } 'x define_action
"""


@pytest.mark.req("improv", 88)
def test_every_production_of_the_grammar_is_accepted_and_survives_printing():
    statements = [f"SCRIPT s {{ {{ {s} }} }}" for line in STATEMENTS.strip().splitlines() for s in line.split(" | ")]
    for text in [*statements, *(d for line in DEFINITIONS.strip().splitlines() for d in line.split(" | "))]:
        program = parse(text)
        assert len(program.definitions) == 1 and parse(print_program(program)) == program, text


@pytest.mark.req("improv", 88)
@pytest.mark.parametrize(("sheet", "name"), [("1_stances", "Stand"), ("2_gaits", "running"), ("3_dances", "rhumba")])
def test_the_postfix_tables_of_1995_are_accepted_in_a_script_and_survive_printing(sheet, name):
    text = (starter.FOLDER / f"{sheet}.actions").read_text(encoding="utf-8")
    settings = text.index("settings", text.index("define_action"))
    text = text[text.index("\n{") : text.index("}", settings) + 1]
    program = parse(text)
    assert program.definitions[0].name == name
    assert parse(print_program(program)) == program
    own = action_sheet([("# a remark\n" + print_program(program), "Scene")])
    assert read_sheet(own).actions[name].channels == read_sheet(text).actions[name].channels


@pytest.mark.req("improv", 88)
def test_the_message_of_1995_is_the_statement_that_sends_it():
    old = """define SCRIPT "x" { { { my_location "look_here" } "Camera" send_message
      { my_location "look_here" } "Actor2" send_message } }"""
    new = 'define SCRIPT "x" { { send "look_here" to "Camera"  send "look_here" to {"Actor2"} } }'
    assert only(old) == only(new)
    with pytest.raises(FormatError, match=r"1:23: expected .my_location."):
        parse('SCRIPT x { Wave } { { elsewhere "look_here" } "Camera" send_message }')


@pytest.mark.req("improv", 91)
def test_an_underscore_is_a_space_between_the_words_of_a_keyword():
    spaced = """define DECISION RULE r { factor { my x is not greater than its x to within .3 } }
    define SUBSET s { it is a and my x does not equal 3 }
    define SCRIPT "x" { { choose from { entire set of A } based on r  wait until { x is done } } }
    SCRIPT GROUP G { x y }"""
    joined = """define DECISION_RULE r { factor { my x is_not_greater_than its x to_within .3 } }
    define SUBSET s { it_is a and my x Does_Not_Equal 3 }
    define SCRIPT "x" { { choose_from { entire_set_of A } based_on r  wait_until { x is_done } } }
    SCRIPT_GROUP G { x y }"""
    assert parse(joined) == parse(spaced)
    assert only('define ACTOR "A" { "is_done" 1 }').inits[0].name == "is_done"
    for spaced_out in ("pick up Tray else Bow", "turn to face Ann", "shake hands with Ann for 2 s", "put down Tray"):
        phrase = " ".join(spaced_out.split()[: 3 if "turn" in spaced_out else 2])
        assert parse_statement(spaced_out.replace(phrase, phrase.replace(" ", "_"))) == parse_statement(spaced_out)


def test_what_runs_in_a_group_can_be_compared_by_name():
    text = """SCRIPT GROUP "Plans" { "Idle" "Lunch" } define ACTOR Ann { does "s" does "w" }
    define SCRIPT "s" { { wait 1 s } { "Lunch" } } define SCRIPT "Lunch" { { wait 5 s } }
    define SCRIPT "w" { { wait until { current "Plans" equals "lunch" } } { "Bow" } }"""
    assert [(s.time, s.action) for s in play(text).selections["Ann"]] == [(1.0, "Bow")]


OWN_ACTIONS = """define ACTOR Ann { does "s" }

define ACTION "Huddle" { fade .2
  R_UP_ARM 5:15 0 20 { noise(2 * t) 0 0 } }
{ { -20 0 0 } { } { } Nod } 'Lower define_action
GROUP Bits { "No bits" Huddle Lower Raise }
define ACTION “Raise” { Nod 20 0 0 }
Lower buffers Raise  Huddle blocks "Wave right"
define SCRIPT "s" { { "Huddle" } }
"""


def test_actions_of_a_script_bring_their_buffers_and_blocks():
    library = ActionLibrary([*repertoire(), read_sheet(action_sheet([OWN_ACTIONS], ActionLibrary(repertoire()).names))])
    assert library.action("Raise").buffers == ("Lower",)
    assert ("Huddle", "Wave_right") in library.blocks
    assert library.group_of("Huddle").actions == ("No bits", "Huddle", "Lower", "Raise")


@pytest.mark.req("improv", 16, 90)
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("R_UP_ARM", "R_UP_ARN", r"Scene:4:3: no part 'R_UP_ARN'; did you mean 'R_UP_ARM'"),
        ("{ } { } Nod", "{ } { } Nodd", r"Scene:5:23: no joint 'Nodd'; did you mean 'Nod'"),
        ("noise(2", "nois(2", r"Scene:4:24: no function 'nois'; did you mean 'noise'"),
        ("} 'Lower", "} 'Wave_right", 'Scene:5:1: there is an action "Wave_right" already'),
        ("Lower buffers Raise", "Lower buffers Rais", 'Scene:8:1: no action is called "Rais"; did you mean "Raise"'),
    ],
)
def test_a_mistake_in_a_table_of_a_script_is_shown_where_it_stands(right, wrong, message):
    with pytest.raises(FormatError, match=message):
        read_sheet(action_sheet([(OWN_ACTIONS.replace(right, wrong), "Scene")], ["Wave_right"]), "Scene")


@pytest.mark.req("improv", 89)
def test_and_binds_tighter_than_or():
    condition = only('define SUBSET "s" { it is "a" and "b" or "c" }').condition
    assert condition == AnyOf((AllOf((Tag("a"), Tag("b"))), Tag("c")))
    other = only('define SUBSET "s" { it is "c" or "a" and "b" }').condition
    assert other == AnyOf((Tag("c"), AllOf((Tag("a"), Tag("b")))))
    bracketed = only('define SUBSET "s" { it is "a" and ("b" or "c") }').condition
    assert bracketed == AllOf((Tag("a"), AnyOf((Tag("b"), Tag("c")))))


@pytest.mark.req("improv", 91)
def test_both_spellings_and_brackets_and_missing_braces_mean_the_same():
    rule = 'factor { its "x" } influence .5'
    forms = [
        f'define DECISION RULE "r" {{ {rule} }}',
        f'define DECISION_RULE "r" {{ {rule} }}',
        f'DECISION RULE "r" {rule}',
        f"define decision_rule r {{ {rule.replace('{', '(').replace('}', ')')} }}",
    ]
    assert len({only(f) for f in forms}) == 1
    scripts = [
        'define SCRIPT "s" { { "a" } { choose from { "b" 2 "c" 1 } } }',
        'define SCRIPT "s" { "a" } { choose from ( "b" 2, "c" 1 ) }',
        "SCRIPT s { do a } { do choose from (b 2 c 1) }",
    ]
    assert len({only(s) for s in scripts}) == 1
    subset = 'define DECISION RULE "r" subset "s" scale .5 factor { its x } define SUBSET "s" { it is "a" }'
    assert [type(d) for d in parse(subset).definitions] == [RuleDef, SubsetDef]


def test_groups_may_be_written_in_the_three_styles_of_the_paper():
    assert only("GROUP Stances ACTION Stand ACTION Walk") == only('GROUP "Stances" { Stand Walk }')
    assert only("DAY_PLANS Waking Morning") == GroupDef("script", "DAY_PLANS", ("Waking", "Morning"))
    assert only('SCRIPT GROUP "DAY_PLANS" "Waking" "Morning"') == only("DAY_PLANS ( Waking Morning )")
    # without the word ACTION before its members a group is one of scripts
    assert only('GROUP "DAY_PLANS" "Waking" "Morning"') == only("DAY_PLANS Waking Morning")
    two = parse("GROUP Plans Waking Morning GROUP Stances ACTION Stand")
    assert two == parse("SCRIPT GROUP Plans { Waking Morning } GROUP Stances { Stand }")


def test_keywords_ignore_case_comments_are_skipped_and_curly_quotes_are_quotes():
    assert only("DEFINE Script “x” { { WAIT 1 SECOND } } # note\n// more") == only('define SCRIPT "x" { { wait 1 s } }')


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3 seconds", (3, 3, "s")),
        (".5 s", (0.5, 0.5, "s")),
        ("2 minutes", (2, 2, "min")),
        ("12 frames", (12, 12, "frame")),
    ]
    + [("between 3 and 12 seconds", (3, 12, "s")), ("2s", (2, 2, "s"))],
)
def test_durations(text, seconds):
    for verb in ("wait", "continue", "wait for", "continue for"):
        assert parse_statement(f"{verb} {text}") == Hold(Duration(*seconds))


def test_a_trigger_has_target_time_and_fallback():
    found = parse_statement('"Bow" toward "Camera" for 2 seconds over 1 second else "Wave"')
    assert isinstance(found, Trigger)
    assert (found.what, found.target, found.fallback) == ("Bow", Ref("Camera"), "Wave")
    assert (found.duration, found.transition) == (Duration(2, 2), Duration(1, 1))
    assert parse_statement("choose from { a b } based on r to me").target == Ref("me", True)


def test_comparisons_have_ranges_and_one_sided_spreads():
    condition = only('define SUBSET "s" { my x equals between 1 and 3 to within .2 above .3 below .4 }').condition
    x = PropRef(Ref("me", True), "x")
    assert condition == Compare(x, "equals", Range(1, 3), 0.2, 0.3, 0.4)
    other = only('define SUBSET "s" { my x not greater than 2 }').condition
    assert other == Compare(x, "is not greater than", Number(2))


def test_actors_have_tags_texts_places_and_relations():
    found = only(
        'define ACTOR "Izzy" { mood .5, shy, gender "f", location [1 -2 .5], sympathy toward player -1, does "X" }'
    )
    assert isinstance(found, HolderDef)
    assert [i.name for i in found.inits] == ["mood", "shy", "gender", "location", "sympathy"]
    assert found.does == ("X",)


def test_registered_words_begin_statements():
    assert parse_statement("juggle 3, balls", statements=["juggle"]) == parse_statement('py: juggle(3, "balls")')
    assert isinstance(parse_statement("py: juggle()"), Call)


def test_a_choice_keeps_its_rule():
    found = parse_statement('choose from { entire set of "A" and "B" } based on "r"')
    assert isinstance(found.what, Choice)
    assert found.what.pool.groups == ("A", "B")


@pytest.mark.req("improv", 90)
@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ('define SCRIPT "x" {\n { "Wavee" } }', 2, 4, 'did you mean "Wave"?'),
        ('define SCRIPT "x" {\n { contiune for 3 seconds } }', 2, 4, 'did you mean "continue"?'),
        ('define SCRIPT "x" {\n { "Wave" }\n { wait 3 secnds } }', 3, 11, 'did you mean "seconds"?'),
        ('defne SCRIPT "x" { { "Wave" } }', 1, 1, 'did you mean "define"?'),
        ('define SCRPT "x" { { "Wave" } }', 1, 8, 'did you mean "script"?'),
        ('define SCRIPT "x" { { "Wave" ', 1, 30, 'line 1, column 21 is not closed: add "}"'),
        ('define SCRIPT "x" { { "Wave" { wait 1 s } }', 1, 30, 'line 1, column 21 is not closed: add "}"'),
        ('define SCRIPT "x" { { wait unti { my x } } }', 1, 28, 'did you mean "until"?'),
        (f'define SCRIPT "x" {{ {{ choose from {{ Wave }} based on "rul" }} }}\n{RULE}', 1, 53, 'did you mean "rule"?'),
        ('define SCRIPT "x" { { "Wave" fro 3 seconds } }', 1, 30, 'did you mean "for"?'),
        ('define SCRIPT "x" { { tip } } define SCRIPT "Tip_hat" { }', 1, 23, 'did you mean "Tip hat"?'),
        ('define PLACE "t" { size [1 2] }', 1, 25, "a width, a depth and a height"),
        ('define PLACE "t" { size [1 2 0] }', 1, 25, "above 0"),
        ('SCRIPT GROUP "g" { "None" "Fidgte" }\ndefine SCRIPT "Fidget" { }', 1, 14, 'did you mean "Fidget"?'),
        ('define SCRIPT "x" { { choose from { "Wave" "Bwo" } } }', 1, 44, 'did you mean "Bow"?'),
        ('define SCRIPT "x" { { choose from { entire set of "Hand" } } }', 1, 37, 'did you mean "Hands"?'),
        ('define SCRIPT "x" { { "Wave" toward "An" } }', 1, 37, 'did you mean "Ann"?'),
        ('define SCRIPT "x" { { "walk to centr" } }', 1, 23, 'did you mean "center"?'),
        ('define SCRIPT "x" { { py: jugle() } }', 1, 27, ""),
        (f"{SUBSET}\ndefine SCRIPT x {{ {{ choose from {{ Wave }} based on r }} }}", 1, 28, 'no subset is called "s"'),
    ],
)  # fmt: skip
def test_a_mistake_is_shown_with_its_place_and_what_was_meant(text, line, column, hint):
    error = mistake(text)
    assert (error.line, error.column) == (line, column)
    assert hint in str(error)
    assert error.source == "script 1"


@pytest.mark.parametrize(
    "text",
    [
        'define SCRIPT "a" { { "Wave" } } define SCRIPT "A" { { "Wave" } }',
        'define SCRIPT "Wave" { { "Bow" } }',
        'define SCRIPT "a" { { "Wave } }',
        'define SCRIPT "a" { { wait -3 seconds } }',
        'define SCRIPT "a" { { wait 99999999999999999999 seconds } }',
        'define SCRIPT "a" { { walk to [1 2 3 4] } }',
        'define SCRIPT "a" { { wait until { ' + "(" * 60 + "my x" + ")" * 60 + " } } }",
        'define SCRIPT "a" { { choose from { } } }',
        'define SUBSET "a" { my x is greater than -.5 to within -2 }',
        "define SCRIPT " + "x" * 200 + " { { Wave } }",
        "define ACTOR Bob { } define ACTOR Bob { }",
        "define ENSEMBLE E { members Nobody }",
        "@",
        "1.2.3",
    ],
)
def test_other_mistakes_have_a_place_too(text):
    error = mistake(text)
    assert error.line == 1
    assert error.column >= 1


def test_a_text_names_its_source():
    with pytest.raises(FormatError, match=r"^Scene 3:2:4: no action"):
        play(('define SCRIPT "x" {\n { "Wavee" } }', "Scene 3"), "Ann")


def test_scripts_and_actions_of_the_cast_are_found_without_regard_to_case_and_underscores():
    record = play('define ACTOR Ann { does "My Script" }\ndefine SCRIPT "my_script" { { WAVE } }', library=ROOM)
    assert [s.action for s in record.selections["Ann"]] == ["Wave"]


def test_shipped_scripts_play_for_a_minute_without_a_warning():
    assert len(SHIPPED) >= 12
    for name, text in SHIPPED.items():
        record = play((text, name), seconds=60.0, library=None)
        assert not [e for e in record.events if e.name in ("warning", "error", "conflict", "denied")], name
        assert len(record.transcript) >= 5, name
        assert starter.title(name).endswith(".")
        assert isinstance(parse(text).definitions[-1], (ScriptDef, RuleDef, SubsetDef)), name
