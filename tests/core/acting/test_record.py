"""What a play writes down is read as it was written, and does not burden the garbage collector."""

import gc

import pytest
from playtexts import ROOM
from troupe.core.acting.mind.cast import Member
from troupe.core.acting.mind.record import Log
from troupe.core.acting.play import rehearse
from troupe.core.motion import Event

TEXT = """define SCRIPT "s" { { choose from { "Wave" "Bow" "Clap" } based on "r" for .2 s }
  { wait between .05 and .2 s } { set my "place" to [1 2]  cue { others } to choose from { "Sit" "Sway" } } { repeat } }
define DECISION RULE "r" { factor { my "mood" } factor { my "mood" is greater than .3 to within .4 } }"""


def test_events_are_read_as_they_were_written():
    log = Log()
    said = {"weights": [0.5, 1.0], "factors": [[[1.0, 2.0]], []], "result": None}
    log.write(0.5, "choose", dict(said))
    log.write(1.0, "done", {})
    assert list(log) == [Event(0.5, "choose", said), Event(1.0, "done")]
    assert log[-1] == log[1:][0] == Event(1.0, "done")
    log.keep(lambda event: event.name == "done")
    assert list(log) == [Event(1.0, "done")]


@pytest.mark.req("improv", 108)
def test_a_long_play_leaves_the_collector_no_more_to_walk_through_and_no_garbage():
    ready = rehearse([TEXT], [Member(n, properties={"mood": 0.5}, does=("s",)) for n in ("Ann", "Bob")], ROOM)
    for k in range(60):
        ready.step(k / 30)
    gc.collect()
    before, events, garbage = _walked(), len(ready.events), 0
    for k in range(60, 600):
        ready.step(k / 30)
        garbage += gc.collect(1) if k % 20 == 0 else 0
    # rows are let go once they have been looked at; the choices, which hold other rows, the time after
    garbage += gc.collect() + gc.collect()
    assert len(ready.events) - events > 1500
    assert _walked() - before < 300
    assert garbage == 0


def _walked():
    return len(gc.get_objects())
