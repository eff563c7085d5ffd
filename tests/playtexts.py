"""Listings of the Improv paper, and small ways to play a text and look at what happened."""

from troupe.core.acting.play import perform_play

CURTAIN_CALL = """
define SCRIPT "Curtain Call" {
 { "walk to center" } { continue until { my "location" equals "center" } }
 { "turn to camera" } { continue until { "turn to camera" is done } }
 { "bow" } { continue for 3 seconds } { "walk offstage" } }
"""
GREETING = """
define SCRIPT "greeting" {
 { "enter" } { wait 4 seconds } { "turn to camera" } { wait 1 second }
 { "wave" for 2 seconds "talk" for 6 seconds } { wait 3 seconds }
 { "sit" } { wait 5 seconds } { "bow" toward "Camera" } { wait 2 seconds } { "leave" } }
"""
ROCK = """
define SCRIPT "Rock Paper Scissors" { { choose from {"Rock" "Paper" "Scissors"} } }
define SCRIPT "Weighted" { { choose from { "Rock" 5 "Paper" 3 "Scissors" 1 } } }
"""
EAT_DINNER = """
define SCRIPT "Eat Dinner" { { "Eat" } { set my "Appetite" to 0 } { "Belch" } }
"""
INTERESTING = """
define SCRIPT "Mingle" { { choose from {"Steph" "Bob" "Sarah"} based on "who's interesting" } }
define DECISION_RULE "who's interesting" {
  factor { his/her "Charisma" } influence .8
  factor { his/her "Intelligence" } influence .2 }
"""
FIGHT = """
define SCRIPT "Meet" { { choose from { "Fight" "Flee" } based on "how courageous" } }
define DECISION RULE "how courageous" { factor { my "Courage" equals its "Courage Level" to within .5 } }
"""
INTERESTING2 = """
define SCRIPT "Mingle2" { { choose from ("Steph", "Bob", "Sarah") based on "who's interesting2" } }
define DECISION_RULE "who's interesting2"
  subset "Attracted to?" scale 1
    factor { his/her "Intelligence" equals my "Confidence" to within .4 } influence 1
  subset "Not Attracted to?" scale .8
    factor { his/her "Intelligence" equals my "Intelligence" to within .4 } influence 1
define SUBSET "Attracted to?" { his/her "Gender" equals my "Preferred Gender" }
define SUBSET "Not Attracted to?" { his/her "Gender" does not equal my "Preferred Gender" }
"""
JOKE = """
define SCRIPT "Tell Joke" {
 { do "Turn to Face" to choose from { others except player } }
 { cue { others except player } to "Listen To Joke" to me }
 { do "No Soap, Radio"  do "Joke Gestures" }
 { wait until { current "Joke" is "completed" } }
 { do "Laugh" for 3 seconds }
 { cue { others except player } to "React To Joke" }
 { wait 3 seconds }
 { do "React To Player" } }

define SCRIPT "Listen To Joke" {
 { choose from { entire set of "Stances" }  based on "appropriate listening gestures"
   choose from { entire set of "Gestures" } based on "appropriate listening gestures" }
 { continue for between 3 and 12 seconds } { repeat } }

define DECISION RULE "appropriate listening gestures" {
 subset "Listening?" scale 1
   factor { my "confidence" is greater than its "confidence" to within .3 } influence .5
   factor { my "self control" is less than its "self control" to within .3 } influence .5 }
define SUBSET "Listening?" { it is "reactive" and "conversational" or "generic" }

define SCRIPT "React To Joke" { { choose from { "Laugh" "Giggle" "Ignore" "Get Upset" }
  based on "feelings toward player" } }
define DECISION RULE "feelings toward player" {
  factor { my "sympathy" toward player does not equal its "mood" to within .4 } }
"""
GROUPS = """
GROUP Stances ACTION Stand ACTION Walk
GROUP Gestures ACTION No_waving ACTION Wave_left ACTION Wave_right
GROUP Momentary ACTION No_scratching ACTION Scratch_head_left
hands_at_sides buffers hands_behind_back
Scratch_head_left blocks Wave_left
DAY_PLANS Waking Morning Lunch Afternoon Dinner Evening
ACTIVITIES Resting Working Dining Conversing Performing
BEHAVIOR Sleeping Eating Talking Joking Arguing Listening Dancing
"""
TALK_TABLE = """
define ACTION Talk_Gesture1 {
  R_UP_ARM 25:55 0 -35:65 { N0 0 N0 }
  R_LO_ARM 55:95 0 0 { N1 0 0 }
  R_HAND -40:25 75:-25 120 { N1 N2 0 } }
"""
PUPPET = """
{ c1 => A  s1 => B
  { 0 -15 0 } { 5 15 0 } { c2 1 A - 0 } Waist
  { -40 0 0 } { 40 0 0 } { A kick B * - 0 0 } Rhip
  { 0 0 0 } { 130 0 0 } { B 0.2 bias 0 0 } Rknee
  { 20 0 0 } { } { } Nod
} 'jogging define_action
settings jogging { tempo 1.4 param kick .3 }
define SCRIPT "Call" { { { my_location "look_here" } "Camera" send_message } }
"""
LISTINGS = {
    "curtain call": CURTAIN_CALL,
    "greeting": GREETING,
    "rock": ROCK,
    "dinner": EAT_DINNER,
    "interesting": INTERESTING,
    "fight": FIGHT,
    "interesting2": INTERESTING2,
    "joke": JOKE,
    "groups": GROUPS,
    "table": TALK_TABLE,
    "puppet": PUPPET,
}

ROOM = {
    "Stance": ["Stand", "Sit", "Sway"],
    "Hands": ["No Hand Gesture", "Wave", "Bow", "Clap", "Rock", "Paper", "Scissors", "Eat", "Belch", "Fist"],
    "Mouth": ["Quiet", "Talk", "Laugh"],
}


def play(text, *cast, seconds=10.0, library=ROOM, **more):
    """The record of a text played by a cast."""
    return perform_play([text], cast, library, seconds, **more)


def happened(record, *names, actor=None):
    """(time, what) of the events of these names: the script, action, verb, target or result that they tell of."""
    keys = ("script", "action", "verb", "result", "target", "property", "prop", "what", "text")
    return [
        (e.time, next((e.data[k] for k in keys if e.data.get(k)), None))
        for e in record.events
        if e.name in names and (actor is None or e.data.get("actor") == actor)
    ]


def shown(record, actor):
    """(time, action) of an actor's selections."""
    return [(s.time, s.action) for s in record.selections[actor]]
