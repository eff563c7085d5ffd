"""Grasp in Blender, asked what it cannot do: it says what and why, and neither prop nor scene changes."""

import bpy
import canon
import numpy as np
import pytest
import stage
from test_reach import put, spot, table
from troupe.addon.draw import hands
from troupe.addon.features import objects
from troupe.core.planning.spaces.set_pieces import box


@pytest.fixture
def laid():
    """An actor before a laid table, with things about of which no grasp can be taken."""
    ob = stage.actor(skin=False)
    table(ob)
    spot("Nothing", (0.0, -0.4, 1.0))
    bare = bpy.data.objects.new("Bare", bpy.data.meshes.new("Bare"))
    bpy.context.scene.collection.objects.link(bare)
    hidden = put(box("Hidden", (0.03, 0.03, 0.03), (0.2, -0.4, 1.2)))
    hidden.hide_set(True)
    put(box("Nil", (0.03, 0.03, 0.03), (0.1, -0.4, 1.4))).scale = (0.0, 0.0, 0.0)
    away = put(box("Away", (0.03, 0.03, 0.03), (0.1, -0.4, 1.3)))
    bpy.data.scenes.new("Other").collection.objects.link(away)
    bpy.context.scene.collection.objects.unlink(away)
    bpy.context.view_layer.update()
    put(box("Far", (0.05, 0.05, 0.05), (0.0, -9.0, 1.0)))
    put(box("Wardrobe", (0.5, 0.4, 1.0), (2.0, 0.0, 1.0)))
    put(box("Torn", (0.03, 0.03, 0.03), (0.1, -0.4, 1.2)))[objects.GRASPS] = "__import__('os')"
    stage.choose(ob)
    return ob


@pytest.mark.req("kuffner", 3, 82)
def test_bad_props_are_named_and_nothing_is_written(laid):
    before = canon.snapshot()
    for words, match in (
        ({"prop": "Gone"}, "prop.*Gone.*no object of that name"),
        ({"prop": ""}, "name the prop, or select it beside the actor"),
        ({"prop": "Nothing"}, "prop.*Nothing.*no visible faces"),
        ({"prop": "Bare"}, "prop.*Bare.*no visible faces"),
        ({"prop": "Hidden"}, "prop.*Hidden.*hidden"),
        ({"prop": "Nil", "source": "form"}, "prop.*Nil.*scaled to nothing: give it a scale other than 0"),
        ({"prop": "Away"}, "prop.*Away.*is not in this scene: link it"),
        ({"prop": laid.name}, f"prop.*{laid.name}.*is an actor"),
        ({"prop": "Far", "source": "hand"}, r"Far.*is [78]\.\d+ m from the hand: bring the hand to it first"),
        ({"prop": "Wardrobe", "source": "form"}, "Wardrobe is too large for a hand"),
        ({"prop": "Torn", "source": "form"}, "grasps of Torn cannot be read.*remove them"),
        ({"prop": "Torn", "source": "form", "purpose": "give"}, "remove them"),
    ):
        with pytest.raises(RuntimeError, match=match):
            bpy.ops.troupe.grasp(**words)
        assert canon.snapshot() == before, words


def test_removing_what_is_not_there_is_refused(laid):
    before = canon.snapshot()
    for words, match in (
        ({"prop": "Gone"}, "no object of that name"),
        ({"prop": ""}, "choose the prop"),
        ({"prop": "Bottle", "index": 0}, "Bottle has 0 grasps"),
        ({"prop": "Torn", "index": 0}, "cannot be read"),
    ):
        with pytest.raises(RuntimeError, match=match):
            bpy.ops.troupe.remove_grasp(**words)
        assert canon.snapshot() == before, words


def test_pressed_again_nothing_is_added_twice(laid):
    prop = bpy.data.objects["Bottle"]
    for source in ("form", "form"):
        bpy.ops.troupe.grasp(prop="Bottle", source=source)
    once = objects.grasps_of(prop)
    assert len(once) == len({str(g.as_dict()) for g in once}) > 100
    bpy.ops.troupe.grasp(prop="Bottle", source="form", purpose="pour")
    assert len(objects.grasps_of(prop)) == 2 * len(once)


def test_of_many_grasps_a_few_that_differ_are_drawn_the_best_among_them(laid):
    bpy.ops.troupe.grasp(prop="Bottle", source="form", hand="any")
    known = objects.grasps_of(bpy.data.objects["Bottle"])
    best = max(known, key=lambda g: g.quality)
    # the actor is selected, not the bottle: it is the prop that the panel lists
    drawn = hands.grasps(bpy.context)
    thumbs = drawn["left"].reshape(-1, 2, 3)
    assert len(thumbs) == hands.SHOWN < len(known)
    place = np.array(bpy.data.objects["Bottle"].matrix_world.translation) + best.frame[:3, 3]
    assert np.linalg.norm(thumbs[:, 0] - place, axis=1).min() < 1e-5
    ends = np.round(thumbs.reshape(len(thumbs), 6), 3)
    assert len(np.unique(ends, axis=0)) == hands.SHOWN
    bpy.data.objects["Bottle"].hide_set(True)
    assert not hands.grasps(bpy.context)


@pytest.mark.parametrize("role", ["hand_R", "forearm_L"])
def test_an_arm_of_less_than_three_bones_is_refused(laid, role):
    setattr(laid.troupe.roles, role, "")
    before = canon.snapshot()
    for source in ("hand", "form"):
        with pytest.raises(RuntimeError, match=f"no bone plays {role}; set these roles in the Cast panel"):
            bpy.ops.troupe.grasp(prop="Bottle", source=source)
        assert canon.snapshot() == before


def test_a_grasp_is_taken_of_a_prop_that_moves_where_it_is_at_the_frame(laid):
    moving = bpy.data.objects["Bottle"]
    cast = stage.cast_of(laid)
    hand = laid.pose.bones[cast.skeleton.names[cast.skeleton.joint("hand_R")]]
    for frame, away in ((1, 5.0), (20, 0.0)):
        moving.location = (laid.matrix_world @ hand.matrix).translation
        moving.location.y -= away + 0.05
        moving.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"Bottle.*from the hand: bring the hand to it first"):
        bpy.ops.troupe.grasp(prop="Bottle", source="hand", hand="R")
    assert canon.snapshot() == before
    bpy.context.scene.frame_set(20)
    bpy.ops.troupe.grasp(prop="Bottle", source="hand", hand="R")
    assert len(objects.grasps_of(moving)) == 1
