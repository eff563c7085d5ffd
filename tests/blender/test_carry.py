"""Carry in Blender, asked what it cannot do: it says what and why, and the scene is as it was."""

from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import stage
from clicks import Click
from test_reach import put, table
from troupe.addon.bake import results
from troupe.addon.features import carry, errand, handling
from troupe.core.errors import TroupeError
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.landing import LandingParams
from troupe.core.motion import Motion
from troupe.core.planning.hands.holding import in_hand
from troupe.core.planning.hands.orders import CarryParams, ReachParams
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.walkers.similar import size_of
from troupe.core.skeleton import SIDE_NAMES
from troupe.core.world import World


def _holding():
    ob = stage.actor(skin=False)
    table(ob)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R", gaze=0.0)
    bpy.context.scene.frame_set(int(handling.record_of(results.results_of(ob)[-1].action)["last"]))


@pytest.fixture
def holder():
    """Somebody with a bottle in the right hand."""
    stage.once(_holding)
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    return ob


def refused(match, **words):
    """Carrying is refused in these words, and nothing has changed."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.troupe.carry(**words)
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 3, 82)
def test_empty_hands_carry_nothing(holder):
    name = holder.name
    bpy.context.scene.frame_set(1)
    refused(f"{name} holds nothing at frame 1: let it pick something up first")


@pytest.mark.req("badler", 49)
@pytest.mark.parametrize(("full", "goes"), [("R", "L"), ("L", "R")])
def test_the_hand_that_holds_nothing_goes_however_far_it_is(full, goes):
    held, asked = {full: {"prop": "Bottle", "side": full}}, ReachParams(task="pick_up", target="Cup")
    params, had = errand._chosen(type("Actor", (), {"name": "ann"}), asked, held)
    assert params.hand == goes and not had
    full_hand = f"the {SIDE_NAMES[full]} hand of ann holds Bottle: put it back first, or use the other one"
    with pytest.raises(TroupeError, match=full_hand):
        errand._chosen(type("Actor", (), {"name": "ann"}), ReachParams(target="Cup", hand=full), held)


@pytest.mark.req("badler", 49)
def test_the_other_hand_takes_the_next_thing_and_with_both_full_something_has_to_be_put_back(holder):
    """Nothing is put down unasked, whether a table is near or not: what is where is up to whoever animates."""
    top = max((bpy.data.objects["Table"].matrix_world @ v.co).z for v in bpy.data.objects["Table"].data.vertices)
    put(box("Cube", (0.025, 0.025, 0.025), (0.12, -0.4, top + 0.0255)))
    put(box("Next", (0.025, 0.025, 0.025), (0.25, -0.4, top + 0.0255)))
    stage.choose(holder)
    bpy.ops.troupe.reach(task="pick_up", target="Cube", gaze=0.0)
    record = handling.record_of(results.results_of(holder)[-1].action)
    assert record["side"] == "L"
    bpy.context.scene.frame_set(int(record["last"]))
    assert set(handling.held(holder, record["last"])) == {"L", "R"}
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="both hands of Mannequin are full: put something back first"):
        bpy.ops.troupe.reach(task="pick_up", target="Next")
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 3, 82)
@pytest.mark.parametrize("lost", ["deleted", "untied", "without faces", "hidden"])
def test_a_prop_that_is_gone_from_the_hand_is_named(holder, lost):
    prop = bpy.data.objects["Bottle"]
    match = "holds nothing at frame"
    if lost == "deleted":
        bpy.data.objects.remove(prop)
    elif lost == "untied":
        prop.constraints.clear()
    else:
        match = "Bottle.*no visible faces"
        if lost == "hidden":
            prop.hide_set(True)
        else:
            prop.data.clear_geometry()
    refused(match)


@pytest.mark.parametrize("role", ["hand_R", "forearm_R", "forearm_L"])
def test_an_arm_of_less_than_three_bones_is_refused(holder, role):
    setattr(holder.troupe.roles, role, "")
    refused(f"no bone plays {role}; set these roles in the Cast panel")


def test_a_rig_that_lost_bones_since_it_took_hold_is_named(holder):
    bone = holder.troupe.roles.toe_L
    bpy.ops.object.mode_set(mode="EDIT")
    holder.data.edit_bones.remove(holder.data.edit_bones[bone])
    bpy.ops.object.mode_set(mode="OBJECT")
    holder.troupe.roles.toe_L = ""
    refused(r"the rig has \d+ bones, not the \d+ that it had when it took hold of Bottle: let it take hold again")


@pytest.mark.req("kuffner", 101)
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("after", [3, 20, 40])
def test_esc_and_a_prop_that_goes_meanwhile_change_nothing(holder, gone, after):
    steps = carry.Operator.plan_steps(bpy.context, holder, CarryParams(), LandingParams(), None)
    before = canon.dump()
    click = Click(carry.Operator, steps)
    for _ in range(after):
        next(steps)
    if gone:
        bpy.data.objects.remove(bpy.data.objects["Bottle"])
        assert click.rest() == {"CANCELLED"}
        ((level, said),) = click.said
        assert level == "ERROR" and "holds nothing" not in said and "Bottle" in said
        left = canon.dump()
        # the bottle and nothing else is missing
        del before["objects"]["Bottle"], before["scenes"]["Scene"]["objects"], left["scenes"]["Scene"]["objects"]
        assert repr(left) == repr(before)
    else:
        assert click.esc() == {"CANCELLED"}
        assert click.said == [("WARNING", "Carry was stopped; nothing has changed")]
        assert repr(canon.dump()) == repr(before)


def test_a_giant_brings_what_it_holds_before_it_as_far_and_as_slowly_as_suits_its_size():
    skeleton, still = mannequin(1.75), bottle()
    held = [in_hand(skeleton, "R", still)]
    size = 12.0
    giant = replace(skeleton, offsets=skeleton.offsets * size, tips=skeleton.tips * size)
    settled, away = [], []
    for who, large in ((skeleton, 1.0), (giant, size)):
        pose = rest_pose(who)
        here = Motion(who, 24.0, np.tile(pose.root, (120, 1)), np.tile(pose.rotations, (120, 1, 1)))
        there = World((replace(still, vertices=still.vertices * large),))
        done = carry._carried(here, held, CarryParams(taking=0.5), there, "ann", pose)
        way = done.props["bottle"][:, :3, 3]
        settled.append(int(np.flatnonzero(np.linalg.norm(way - way[-1], axis=1) > 1e-3 * large)[-1]))
        away.append(np.linalg.norm(way[-1] - pose.root))
        assert done.motions["ann"].fps == 24.0 and done.motions["ann"].skeleton is who
    assert away[1] / away[0] == pytest.approx(size, rel=0.02)
    assert settled[1] / settled[0] == pytest.approx(np.sqrt(size_of(giant)), rel=0.15)
