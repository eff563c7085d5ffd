"""Live play shows bodies on real steps, as a bake will have them, and costs the same however long it goes on."""

import numpy as np
from troupe.core.acting import preview, starter
from troupe.core.acting.act import repertoire
from troupe.core.acting.bodies import Player, bodies
from troupe.core.acting.mind.commands import command
from troupe.core.acting.mind.walking import WalkingStage
from troupe.core.acting.play import perform_play, rehearse
from troupe.core.acting.preview import Preview
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.motion import Motion

from .puppets import MANNEQUIN

FPS = 24.0
LIBRARY = ActionLibrary(repertoire())


def shown(text, seconds, said=()):
    """The body of A as it is shown live, and where each showing began."""
    play = rehearse([text], [], LIBRARY, moving=WalkingStage)
    play.step(0.0)
    body = Preview(Player(MANNEQUIN), repertoire(), FPS)
    name = play.actors[0].name
    rows, begun = [], []
    for k in range(round(seconds * FPS) + 1):
        while play.time < k / FPS - 1e-9:
            for when, what in said:
                if play.time <= when < play.time + 1 / 30:
                    assert not command(play, what, when)
            play.step(min(k / FPS, play.time + 1 / 30))
        pose, base = body.show(play, name, k / FPS)
        rows.append((pose.rotations, pose.root, base))
        begun.append(body.first)
    rotations, roots, bases = (np.array(each) for each in zip(*rows, strict=True))
    return Motion(MANNEQUIN, FPS, roots, rotations, base=bases), begun


def ankles(motion):
    places, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    return places[:, [motion.skeleton.joint(f"foot_{s}") for s in "LR"]]


def test_a_walk_is_shown_on_the_steps_that_it_is_baked_with():
    text = starter.text("curtain_call")
    live, _ = shown(text, 8.0)
    record = perform_play([text], [], LIBRARY, 8.0, moving=WalkingStage)
    baked = bodies(record, {"Star": Player(MANNEQUIN)}, repertoire(), FPS).motions["Star"]
    apart = np.linalg.norm(ankles(live) - ankles(baked), axis=-1)
    assert np.median(apart) < 0.01 and apart.max() < 0.1
    assert np.hypot(*(live.base[-1, :2] - live.base[0, :2])) > 3.0


def test_one_foot_stands_while_the_other_goes_even_when_the_walk_is_turned_elsewhere():
    text = 'define ACTOR A { location [0 0] does "Go" } define SCRIPT "Go" { { walk to [0 -6] } }'
    live, _ = shown(text, 9.0, [(3.0, "A walk to [3 -2]"), (6.0, "A Wave right")])
    moved = np.linalg.norm(np.diff(ankles(live), axis=0), axis=-1).min(axis=1)
    # a foot rolls over its toe a few frames each step; where a walk is turned it may slip a little
    assert np.quantile(moved, 0.95) < 0.02 and moved.max() < 0.06
    assert np.linalg.norm(np.diff(live.roots, axis=0), axis=-1).max() < 0.08
    turned = quat.distance(live.rotations[1:], live.rotations[:-1])
    assert np.degrees(turned).max() < 40.0
    assert np.hypot(*(live.base[-1, :2] - (3.0, -2.0))) < 0.1


def test_what_lies_far_back_is_not_worked_out_again(monkeypatch):
    lengths = []
    real = preview.enact_steps
    monkeypatch.setattr(preview, "enact_steps", lambda *args: lengths.append(len(args[2].track)) or real(*args))
    text = """define ACTOR A { location [0 0] does "Fidget" }
    define SCRIPT "Fidget" { { "Shrug" for 1 second } { wait 2 seconds } { repeat } }"""
    live, begun = shown(text, 11.0)
    assert max(lengths) / FPS < 6.0 and len(lengths) < 14
    assert begun[-1] > 6.0
    assert np.ptp(ankles(live), axis=0).max() < 0.005
    assert np.degrees(quat.distance(live.rotations[1:], live.rotations[:-1])).max() < 25.0
