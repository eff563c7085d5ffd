"""Action tables: both notations, the numbers of the papers, style parameters, clips, and what is refused."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.fitting import fit
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.repertoire.actions import Action, Clip
from troupe.core.acting.repertoire.clips import action_of_motion, clip_action
from troupe.core.acting.repertoire.expressions import Infix, show
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.puppet import AXES, PARTS, turns
from troupe.core.acting.repertoire.signals import Moments, Signals, actor_noise
from troupe.core.acting.repertoire.stockactions import stock_library
from troupe.core.acting.repertoire.tables import read_action, read_sheet
from troupe.core.acting.repertoire.tabletokens import Cursor, tokens
from troupe.core.errors import FormatError, InvalidParam
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.maths.noise import TableNoise
from troupe.core.motion import Motion

from . import tables_of_the_papers as papers
from .puppets import MANNEQUIN, library

STOCK = stock_library()
SILENT = TableNoise(np.zeros(256))
"""All noise at its middle."""


def values(lib: ActionLibrary, name: str, phase=0.0, noise=SILENT, style=None, time=0.0, memory=None) -> dict:
    """Channel to (T,) values of an action."""
    phase, time = np.broadcast_arrays(np.atleast_1d(np.asarray(phase, float)), np.asarray(time, float))
    compiled = lib.compiled(name)
    out = compiled.values(Moments(time, phase, time, noise), style or {}, {} if memory is None else memory)
    keys = {n: key for key, n in lib.layout.index.items()}
    return {keys[int(n)]: out[:, k] for k, n in enumerate(compiled.dofs)}


def pitch_roll_yaw(channels: dict, part: str) -> np.ndarray:
    joint, slots = PARTS[part]
    return np.array([sign * channels[(joint, AXES[axis])][0] for axis, sign in slots])


@pytest.mark.req("improv", 11)
def test_an_interval_at_half_noise_gives_its_middle():
    lib = library("define ACTION a { R_UP_ARM 25:55 0 0 { N0 0 0 } }")
    assert abs(pitch_roll_yaw(values(lib, "a"), "R_UP_ARM")[0] - 40.0) < 1e-12


@pytest.mark.req("improv", 12)
def test_talk_gestures_read_the_same_with_and_without_colons():
    with_colons, without = (read_sheet(text).actions for text in (papers.TALK_COLONS, papers.TALK_PLAIN))
    for name, action in with_colons.items():
        assert dataclasses.replace(without[name]).channels == action.channels
    for text in (papers.TALK_COLONS, papers.TALK_PLAIN):
        lib = library(text)
        for name, wanted in papers.TALK.items():
            channels = values(lib, name)
            for part, angles in zip(("R_UP_ARM", "R_LO_ARM", "R_HAND"), wanted, strict=True):
                assert np.allclose(pitch_roll_yaw(channels, part), angles)
    quarter = Signals().with_signal("Q", lambda m: np.full(m.time.shape, 0.25))
    lib = library(papers.TALK_COLONS.replace("N0", "Q"), quarter)
    assert np.allclose(pitch_roll_yaw(values(lib, "Talk_Gesture1"), "R_UP_ARM"), (32.5, 0.0, -10.0))


@pytest.mark.req("improv", 13)
def test_the_rhumba_has_the_angles_of_the_paper():
    for phase, joints in papers.RHUMBA.items():
        got = values(STOCK, "rhumba", np.radians(phase))
        for joint, angles in joints.items():
            assert np.allclose([got[(joint, a)][0] for a in AXES], angles, atol=1e-3), (phase, joint)
        for joint in ("Nod", "Rshoulder", "Rpelvis", "Rankle", "Lshoulder", "Lpelvis", "Lankle"):
            assert np.allclose([got[(joint, a)][0] for a in AXES], 0.0, atol=1e-9)


class _Level:
    """Noise that stays where it is put: 1 or -1 takes every interpolant of noise to an end of its range."""

    def __init__(self, level: float) -> None:
        self.level = level

    def __call__(self, x) -> np.ndarray:
        return np.full(np.shape(x), self.level)


@pytest.mark.req("improv", 13)
def test_noise_goes_through_the_whole_of_its_ranges_in_the_papers_tables():
    for level, end in ((-1.0, 0), (1.0, 1)):
        got = values(STOCK, "Stand", noise=_Level(level))
        for joint, ends in papers.STAND_NOISE.items():
            assert np.allclose([got[(joint, a)][0] for a in AXES], ends[end], atol=1e-3), joint
        head = values(STOCK, "running", noise=_Level(level))
        assert [head[("Nod", a)][0] for a in AXES] == [0.0, (-90.0, 90.0)[end], 0.0]
        nod = values(STOCK, "rhumba", noise=_Level(level))
        assert [nod[("Nod", a)][0] for a in AXES] == [(5.0, -5.0)[end]] * 3
    # each axis of the dancer's head has a noise of its own, and nothing else has any
    time = np.linspace(0.0, 60.0, 300)
    moving = values(STOCK, "rhumba", time=time, noise=actor_noise(0))
    assert {key[0] for key, v in moving.items() if np.ptp(v) > 0.0} == {"Nod"}
    assert np.abs(np.corrcoef([moving[("Nod", a)] for a in AXES])[np.triu_indices(3, 1)]).max() < 0.5


@pytest.mark.req("improv", 13, 14)
def test_stand_has_the_angles_of_the_paper_and_blank_vectors_stay():
    got = values(STOCK, "Stand")
    for joint, angles in papers.STAND_STILL.items():
        assert np.allclose([got[(joint, a)][0] for a in AXES], angles, atol=1e-3), joint
    moving = values(STOCK, "Stand", phase=np.linspace(0, 6, 40), time=np.linspace(0, 9, 40), noise=actor_noise(1))
    for joint in ("Nod", "Lchest", "Lhip", "Rhip", "Rknee"):
        for axis in AXES:
            assert np.ptp(moving[(joint, axis)]) == 0.0
    # one noise moves neck, right elbow and both halves of the pelvis
    neck = moving[("Neck", "y")]
    for key in (("Relbow", "z"), ("Lpelvis", "x"), ("Rpelvis", "z")):
        assert abs(abs(np.corrcoef(neck, moving[key])[0, 1]) - 1.0) < 1e-9
    still = values(STOCK, "Stand", time=np.linspace(0, 9, 40), noise=actor_noise(1), style={"noise_gain": 0.0})
    assert all(np.ptp(v) == 0.0 for v in still.values())


@pytest.mark.req("improv", 13, 15)
def test_running_has_the_angles_of_the_paper_and_extrapolates():
    for phase, row in papers.RUNNING.items():
        got = values(STOCK, "running", np.radians(phase))
        assert np.allclose([got[key][0] for key in papers.RUNNING_COLUMNS], row, atol=1e-3), phase
    assert abs(values(STOCK, "running", np.radians(135))[("Rhip", "x")][0] + 48.770) < 1e-3


@pytest.mark.req("improv", 18)
def test_the_left_side_of_running_is_the_right_side_half_a_cycle_later():
    phase = np.linspace(0, 2 * np.pi, 33)
    now, later = values(STOCK, "running", phase), values(STOCK, "running", phase + np.pi)
    for joint in ("chest", "shoulder", "elbow", "wrist", "pelvis", "hip", "knee", "ankle"):
        for axis in AXES:
            assert np.allclose(now[(f"L{joint}", axis)], later[(f"R{joint}", axis)], atol=1e-9), (joint, axis)


@pytest.mark.req("improv", 17)
@pytest.mark.parametrize(
    ("param", "joints"),
    [("hip_kick", {"Lhip", "Rhip"}), ("knee_bias", {"Lknee", "Rknee"}), ("ankle_bias", {"Lankle", "Rankle"})],
)
def test_a_style_parameter_changes_only_its_joints(param, joints):
    phase = np.linspace(0, 6, 20)
    plain, styled = (values(STOCK, "running", phase, style=s) for s in ({}, {f"running.{param}": 0.45}))
    changed = {key[0] for key in plain if not np.allclose(plain[key], styled[key])}
    assert changed == joints
    same = values(STOCK, "running", phase, style={param: {"hip_kick": 0.3, "knee_bias": 0.2, "ankle_bias": 0.7}[param]})
    assert all(np.array_equal(plain[k], same[k]) for k in plain)


def test_amplitude_scales_about_the_middle():
    plain, double = (values(STOCK, "rhumba", 1.0, style=s)[("Rknee", "x")][0] for s in ({}, {"rhumba.amplitude": 2.0}))
    assert abs((double - 25) - 2 * (plain - 25)) < 1e-9


@pytest.mark.req("improv", 16)
@pytest.mark.parametrize(
    ("text", "line", "names"),
    [
        ("\n{ { 1 2 } { } { } Rhip } 'x define_action", 2, "Rhip"),
        ("{ { 1 2 3 }\n { 1 2 3 } { s1 0 } Rhip } 'x define_action", 2, "Rhip"),
        ("{ { 1 2 3 } { 1 2 3 }\n { s9 0 0 } Rhip } 'x define_action", 2, "Rhip"),
        ("{ { 1 2 3 } { } { } Rhap } 'x define_action", 1, "Rhip"),
        ("{ { 1 + 3 } { } { } Rhip } 'x define_action", 1, "Rhip"),
        ("define ACTION x {\n R_UPARM 1 2 3 }", 2, "R_UP_ARM"),
        ("define ACTION x {\n R_UP_ARM 1 2 3 4 { 0 0 0 } }", 2, "R_UP_ARM"),
        ("define ACTION x { R_UP_ARM 1:9 2 3 { n1 wobble 0 } }", 1, "wobble"),
        ("define ACTION x { R_UP_ARM 1:9 2 3 { bias(n1, 2) 0 0 } }", 1, "bias"),
        ("define ACTION x { R_UP_ARM 1:9 2 3 { n1 0 0 }", 1, "closed"),
        ("define ACTION x { tempo -1 }", 1, "tempo"),
        ("define ACTION x { Nod 1 2 3 Nod 1 2 3 }", 1, "twice"),
        ("settings y { tempo 1 }", 1, "y"),
        ("define ACTION x { Nod 1 2 3 }\ndefine ACTION x { }", 2, "twice"),
        ("define ACTION x { timing LOOK delay 1 Nod 1 2 3 }", 1, "LOOK"),
        ("define ACTION x { Neck AT Nod 1 2 3 }", 1, "wrist"),
        ("$", 1, "$"),
        ("GROUP g", 1, "g"),
        ("pirouettes", 1, "pirouettes"),
    ],
)
def test_errors_name_the_line_and_the_joint(text, line, names):
    with pytest.raises(FormatError) as caught:
        read_sheet(text)
    assert caught.value.line == line
    assert names in str(caught.value)


def test_nothing_of_a_table_is_run():
    with pytest.raises(FormatError):
        read_sheet('define ACTION x { Nod 0:1 0 0 { __import__("os") 0 0 } }')


def test_an_extreme_that_moves_is_frozen_with_a_warning():
    sheet = read_sheet("{ { s1 0 0 } { 1 0 0 } { s1 0 0 } Nod } 'x define_action")
    assert sheet.actions["x"].channels[("Nod", "x")].a == 0.5
    assert len(sheet.warnings) == 1 and "Nod" in sheet.warnings[0]


def test_a_sign_glued_to_a_number_begins_a_new_interpolant():
    def read(text: str) -> list[str]:
        infix, out = Infix(Cursor(tokens(text, "t"), "t"), Signals()), []
        while infix.cursor.next.kind != "end":
            out.append(show(infix.read()))
            if infix.cursor.is_mark(","):
                infix.cursor.take()
        return out

    assert read("N0 -1 n1") == ["N0", "-1", "n1"]
    assert read("N0 - 1 n1") == ["(N0 - 1)", "n1"]
    assert read("2*(n1+1) bias(n1, .3), max(s1, -c1)") == ["(2 * (n1 + 1))", "bias(n1, 0.3)", "max(s1, neg(c1))"]
    for text in ("(2 * (n1 + 1))", "bias(n1, 0.3)", "(A - (0.3 * B))"):
        assert read(text) == [text]


def test_settings_say_how_an_action_comes_and_goes():
    action = read_action(
        "x",
        "fade .8 fade_out .2 tempo 1.4 seconds 2 entry 130:155 310:335 exit 10:20 param k .3 property mood .5 "
        'property kind "soft" property loud false tag reactive Nod 0 0 0 SMILE 0:1 { k } LOOK 1 '
        "timing LOOK delay .6 scale 1.5 linger 1.2 scale_out 2",
    )
    assert (action.fade_in, action.fade_out, action.tempo, action.seconds) == (0.8, 0.2, 1.4, 2.0)
    assert action.entry == ((130, 155), (310, 335)) and action.exit == ((10, 20),)
    assert action.properties == {"mood": 0.5, "kind": "soft", "loud": False, "reactive": True}
    look = action.channels[("LOOK", "value")]
    assert (look.delay, look.scale, look.linger, look.leaving) == (0.6, 1.5, 1.2, 2.0)
    assert ("Nod", "y") in action.coverage and ("SMILE", "value") in action.coverage


@pytest.mark.req("improv", 20)
def test_an_interpolant_that_gives_no_number_holds_its_last_value_and_says_so_once():
    lib = library("define ACTION a { Nod 0:10 0 0 { 1 / max(1 - t, 0) 0 0 } }\nGROUP g ACTION a")
    state = start(lib, MANNEQUIN)
    seen = []
    for k in range(1, 49):
        state = state.advance(k / 24)
        seen.append(state.angles()[3, 0])
    seen = np.array(seen)
    assert np.isfinite(seen).all()
    # at 1 s it is divided by 0: what was there before that is held
    assert seen[:23] == pytest.approx(10.0 / (1.0 - np.arange(1, 24) / 24))
    assert np.ptp(seen[23:]) == 0.0 and seen[23] >= seen[22]
    assert len(state.warnings) == 1 and "a:" in state.warnings[0]


def test_a_division_by_zero_in_the_middle_of_a_take_is_held():
    memory: dict = {}
    lib = library("define ACTION a { Nod 0:1 0 0 { 1 / (t - 1) 0 0 } }")
    got = values(lib, "a", time=np.array([0.0, 0.5, 1.0, 1.5]), memory=memory)[("Nod", "x")]
    assert np.allclose(got, [-1.0, -2.0, -2.0, 2.0])
    assert any(name.startswith("!") for name, _ in memory)


@pytest.mark.req("improv", 19)
def test_a_clip_is_read_at_the_phase_of_the_clock():
    frames = np.arange(30.0)
    clip = clip_action("c", {("Nod", "x"): 3 * frames}, fps=30, start=4, end=24)
    assert isinstance(clip.source, Clip) and clip.tempo == 30 / 20
    lib = ActionLibrary([], [clip])
    for turn in (0.0, 0.25, 0.5, 0.9):
        got = values(lib, "c", 2 * np.pi * turn)[("Nod", "x")][0]
        assert abs(got / 3 - (4 + 20 * turn)) < 0.5
    marked = ActionLibrary([], [clip_action("c", {("Nod", "x"): 3 * frames}, 30, start=4, end=24, phase_zero=9)])
    assert values(marked, "c", 0.0)[("Nod", "x")][0] == 27.0
    once = clip_action("o", {("Nod", "x"): frames}, fps=30, loop=False)
    assert abs(once.seconds - 29 / 30) < 1e-12
    with pytest.raises(InvalidParam):
        clip_action("bad", {("Nod", "x"): frames}, 30, start=20, end=10)


@pytest.mark.req("improv", 19)
def test_a_recorded_motion_plays_back_as_it_was():
    source = perform(STOCK, MANNEQUIN, [Selection(0.0, "", "rhumba", fade=0.0)], 2.0, 30, BodyParams(flat_feet=False))
    once = action_of_motion("taken", source, loop=False, fade=0.0)
    lib = ActionLibrary([read_sheet("GROUP g ACTION No_x ACTION taken")], [once])
    params = BodyParams(clear_arms=False, flat_feet=False)
    back = perform(lib, MANNEQUIN, [Selection(0.0, "", "taken")], 1.9, 30, params)
    spots = [fk.forward(MANNEQUIN, m.rotations[1:56], 0 * m.roots[1:56])[0] for m in (source, back)]
    facing = [s - s[:, :1] for s in spots]
    assert np.abs(facing[0] - facing[1]).max() < 1e-4
    spoken = np.setdiff1d(np.arange(len(MANNEQUIN)), [0])
    assert quat.distance(source.rotations[1:56, spoken], back.rotations[1:56, spoken]).max() < 1e-4


def test_a_motion_keeps_its_angles_through_the_puppet():
    source = perform(STOCK, MANNEQUIN, [Selection(0.0, "", "disco", fade=0.0)], 1.0, 24)
    puppet = fit(MANNEQUIN)
    angles, headings = puppet.angles(source.rotations)
    again = puppet.rotations(turns(angles), headings)
    assert np.abs(np.abs((again * source.rotations).sum(-1)) - 1).max() < 1e-9


def test_the_library_refuses_what_does_not_fit_together():
    with pytest.raises(InvalidParam, match="twice"):
        ActionLibrary([], [Action("a"), Action("A")])
    with pytest.raises(InvalidParam, match="not defined"):
        library("define ACTION a { }\nGROUP g ACTION a ACTION b")
    with pytest.raises(InvalidParam, match="again"):
        library("define ACTION a { }\nGROUP g ACTION a\nGROUP h ACTION a")
    with pytest.raises(InvalidParam, match="same group"):
        library("define ACTION a { }\ndefine ACTION b { }\nGROUP g ACTION a\nGROUP h ACTION b\na buffers b")
    with pytest.raises(InvalidParam, match="circle"):
        library("morph a from b to c\nmorph b from a to c\ndefine ACTION c { }")
    with pytest.raises(InvalidParam, match="did you mean"):
        STOCK.action("runing")
    assert STOCK.group_of("WAVE left").name == "Gestures"
    assert "rhumba" in STOCK and "no such thing" not in STOCK


def test_a_sheet_that_adds_to_a_group_may_name_its_default_again():
    group = "GROUP Reactions ACTION No_reaction ACTION laugh ACTION Shiver"
    lib = stock_library([read_sheet("define ACTION Shiver { Nod 1 0 0 }\n" + group)])
    assert lib.group("Reactions").actions == (*STOCK.group("Reactions").actions, "Shiver")


def test_actions_without_a_group_get_one_in_front():
    lib = library("define ACTION a { Nod 1 0 0 }\ndefine ACTION b { Nod 2 0 0 }\nGROUP g ACTION a")
    assert [g.name for g in lib.groups] == ["g", "Other"]
    assert lib.groups[1].actions[1:] == ("b",)


def test_a_motion_keeps_its_clip_when_it_loops():
    loop = replace(perform(STOCK, MANNEQUIN, [], 1.0, 24), loop=True)
    assert isinstance(loop, Motion)
    assert action_of_motion("m", loop).tempo == pytest.approx(24 / 25)
