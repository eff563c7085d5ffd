"""What is seen live is what is baked: the same events, hands and props, and bodies that differ after decisions."""

from functools import partial

import numpy as np
import pytest
from troupe.core.acting import starter
from troupe.core.acting.act import repertoire
from troupe.core.acting.bodies import Player, bodies
from troupe.core.acting.floorplan import Floorplan
from troupe.core.acting.furniture import Furniture
from troupe.core.acting.hands import PADS, PALM, palms
from troupe.core.acting.holding import Thing
from troupe.core.acting.mind.commands import command
from troupe.core.acting.mind.events import to_text
from troupe.core.acting.mind.walking import WalkingStage
from troupe.core.acting.play import DT, perform_play, rehearse
from troupe.core.acting.preview import LiveCast
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.kinematics import fk
from troupe.core.planning.spaces.penetration import penetrations
from troupe.core.planning.spaces.set_pieces import box
from troupe.core.world import World

from .puppets import MANNEQUIN, table

FPS = 24.0
LIBRARY = ActionLibrary(repertoire())
LATER = 0.7
"""Time after a decision in which a body goes over to it [s]."""


def tray(*place):
    matrix = np.eye(4)
    matrix[:3, 3] = place
    return {"Tray": Thing(matrix[None], FPS, np.array([0.2, 0.14, 0.02]))}


def both(text, seconds, props=None, world=None, said=()):
    """A play as it is shown live frame by frame, and as it is baked with what was said; both with their logs."""
    world = world or World((), FPS)
    furniture, moving = Furniture(world), partial(WalkingStage, ways=Floorplan(world))
    play = rehearse([text], [], LIBRARY, moving=moving)
    play.step(0.0)
    names = [a.name for a in play.actors]
    players = dict.fromkeys(names, Player(MANNEQUIN))
    cast = LiveCast(players, repertoire(), FPS, props=props, furniture=furniture)
    shown = []
    for k in range(round(seconds * FPS) + 1):
        while play.steps * DT <= k / FPS + 1e-9:
            play.step(play.steps * DT)
        for when, what in said:
            if when == k:
                play.drain(k / FPS)
                assert not command(play, what, k / FPS)
        shown.append(cast.show(play, k / FPS))
    told = [(k / FPS, what) for k, what in said]
    record = perform_play([text], [], LIBRARY, seconds, commands=told, moving=moving)
    baked = bodies(record, players, repertoire(), FPS, props=props, furniture=furniture)
    assert to_text(play.events) == to_text(record.events[: len(play.events)])
    return shown, baked, record


def apart(shown, motion, name):
    """(T,) how far the joint of a body that is farthest off is from where it is baked [m]."""
    rotations = np.concatenate([s.motions[name].rotations for s in shown])
    roots = np.concatenate([s.motions[name].roots for s in shown])
    live, _ = fk.forward(MANNEQUIN, rotations, roots)
    there, _ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    return np.linalg.norm(live - there, axis=-1).max(axis=1)


def settled(record, name, count):
    """(T,) whether an actor has decided nothing for a while, and will walk nowhere for a while."""
    times = np.arange(count) / FPS
    out = np.ones(count, bool)
    for event in record.events:
        if event.data.get("actor") == name or event.data.get("target") == name:
            out &= (times < event.time - LATER) | (times > event.time + LATER)
    return out


@pytest.mark.req("improv", 107)
def test_hands_meet_live_where_they_are_baked():
    shown, baked, record = both(starter.text("handshake"), 8.0, said=[(12, "Bob Wave left")])
    (touch,) = [e for e in record.events if e.name == "contact"]
    held = slice(round((touch.time + 0.6) * FPS), round((touch.data["end"] - 0.5) * FPS))
    hands = [np.concatenate([palms(s.motions[n])[0] for s in shown]) for n in ("Ann", "Bob")]
    assert np.linalg.norm(hands[0] - hands[1], axis=1)[held].max() < 0.005
    for name, hand in zip(("Ann", "Bob"), hands, strict=True):
        assert np.linalg.norm(hand - palms(baked.motions[name])[0], axis=1)[held].max() < 0.02
        off = apart(shown, baked.motions[name], name)
        assert np.median(off) < 0.01
        assert off[settled(record, name, len(off))].max() < 0.1


@pytest.mark.req("improv", 97)
def test_a_tray_is_carried_live_as_it_is_baked_from_table_to_table():
    stage = World((table(-1.2, 0.9, 0.55, 0.4, 0.88), table(1.2, 0.0, 0.6, 0.7, 0.72)), FPS)
    shown, baked, record = both(starter.text("gregor"), 13.0, tray(-1.2, 0.9, 0.9), stage)
    way = baked.props["Tray"]
    (held,) = record.attachments
    live = np.array([s.props["Tray"] if s.props else way[0] for s in shown])
    assert np.abs(live[:, :3, 3] - way[:, :3, 3]).max() < 0.05
    off = apart(shown, baked.motions["Gregor"], "Gregor")
    assert np.median(off) < 0.01 and off[settled(record, "Gregor", len(off))].max() < 0.15
    # it lies on the first table until it is taken, and in the end on the second
    times = np.arange(len(way)) / FPS
    assert np.allclose(way[times <= held.start, :3, 3], (-1.2, 0.9, 0.9))
    x, y, z = way[-1, :3, 3]
    assert abs(z - 0.74) < 1e-6 and abs(x - 1.2) < 0.3 - 0.13 and abs(y) < 0.35 - 0.19
    # both hands are at its sides, and it stays level
    carried = (times > held.start + 0.5) & (times < held.end + 0.5)
    motion = baked.motions["Gregor"]
    for side in "LR":
        palm, away = palms(motion, side)
        reach = np.linalg.norm(palm + (PADS / PALM - 1.0) * away - way[:, :3, 3], axis=1)[carried]
        assert carried.sum() > 60 and reach.min() > 0.1 and reach.max() < 0.26
    # not through it, nor through the tables as they go to it and away
    there = World((*stage.bodies, box("Tray", (0.2, 0.14, 0.02))), FPS)
    stands = {("Tray", body.name) for body in stage.bodies}
    assert not penetrations(motion, there, {"Tray": way}, parts=("fingers",), touching=stands)
    assert np.allclose(way[:, 2, 2], 1.0)
    assert np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1).max() < 0.12


def test_what_is_passed_on_goes_from_hand_to_hand():
    text = """define PROP Tray { location [0 0] }
    define ACTOR A { location [0 .5], does "Give" } define ACTOR B { location [0 -.5 3.1416], does "Get" }
    define SCRIPT "Give" { { wait .5 s } { pick up Tray } { wait 3 s } { put down Tray } }
    define SCRIPT "Get" { { wait 3.5 s } { pick up Tray } }"""
    shown, baked, record = both(text, 6.0, tray(0.0, 0.0, 1.0))
    first, second = record.attachments
    assert (first.actor, second.actor) == ("A", "B") and first.end == second.start
    way = baked.props["Tray"][:, :3, 3]
    assert np.linalg.norm(np.diff(way, axis=0), axis=1).max() < 0.06
    assert way[-1, 1] < -0.05 < 0.05 < way[round(3.4 * FPS), 1]
    live = np.array([s.props["Tray"][:3, 3] for s in shown[round(0.7 * FPS) :]])
    assert np.abs(live - way[round(0.7 * FPS) :]).max() < 0.02


def test_nobody_has_news_in_the_same_frame():
    text = "".join(f'define ACTOR {n} {{ location [{k} 0], does "Go" }} ' for k, n in enumerate("ABCD"))
    text += 'define SCRIPT "Go" { { wait 1 s } { "Shrug" for 1 second } }'
    play = rehearse([text], [], LIBRARY, moving=WalkingStage)
    play.step(0.0)
    cast = LiveCast(dict.fromkeys("ABCD", Player(MANNEQUIN)), repertoire(), FPS)
    cast.show(play, 0.0)
    while play.steps * DT <= 1.0 + 1e-9:
        play.step(play.steps * DT)
    changed, busy = [], []
    for k in range(25, 25 + 14):
        before = {n: body.motion for n, body in cast.bodies.items()}
        cast.show(play, k / FPS)
        changed += [n for n, body in cast.bodies.items() if body.motion is not before[n]]
        busy.append(sum(body.is_busy for body in cast.bodies.values()))
    # each in pieces, one after the other, within half a second
    assert sorted(changed) == ["A", "B", "C", "D"]
    assert max(busy) == 1 and busy[-3:] == [0, 0, 0] and busy.count(1) == 8
