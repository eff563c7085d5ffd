"""The top of the tab: who is there, and a first step."""

import bpy
import canon
import pytest
import stage
from troupe.addon import bake
from troupe.addon.stage import actors, state_of


def test_one_click_in_an_empty_scene_gives_a_walking_actor():
    assert bpy.ops.troupe.first_steps() == {"FINISHED"}
    ob = bpy.context.object
    motion = bake.read(ob, stage.cast_of(ob), bpy.context)
    assert motion.roots[0, 1] - motion.roots[-1, 1] > 2.0, "it walks where it faces"
    assert bpy.context.scene.frame_end >= len(motion)
    assert state_of(ob) == ("CHECKMARK", "walk")


def test_the_first_step_is_one_undo_step():
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.first_steps("EXEC_DEFAULT", True)
    bpy.ops.ed.undo()
    assert canon.snapshot() == before


def test_the_list_tells_the_state_of_everyone():
    mine = stage.actor()
    bpy.ops.object.armature_add()
    plain = bpy.context.object
    plain.name = "A plain one"
    assert actors(bpy.context) == [mine, plain]
    assert state_of(mine) == ("CHECKMARK", "waiting")
    assert state_of(plain) == ("QUESTION", "not cast yet")


def test_an_actor_is_selected_from_the_list():
    first, second = stage.actor(), stage.actor()
    bpy.ops.troupe.select_actor(actor=first.name)
    assert bpy.context.selected_objects == [first]
    bpy.ops.troupe.select_actor(actor=second.name, extend=True)
    assert set(bpy.context.selected_objects) == {first, second} and bpy.context.object == second
    with pytest.raises(RuntimeError, match="choose one of the list"):
        bpy.ops.troupe.select_actor(actor="nobody")
