"""Waveshape in Blender: what plays goes through the curve, and the curve can be drawn."""

import json
from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, settings
from troupe.addon.bake import nla, results
from troupe.addon.features import waveshape as feature
from troupe.core import presets
from troupe.core.figure import acts
from troupe.core.filters.waveshape import LINE, Shape, WaveshapeParams, curve, waveshape
from troupe.core.kinematics.base import based


@pytest.fixture
def knocker():
    """An actor whose own action is three knocks."""
    stage.once(_knocker)
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    return ob


def _knocker():
    ob = stage.actor(skin=False)
    cast = stage.cast_of(ob)
    keys = bake.prepare(ob, cast, based(acts.knock(cast.skeleton, fps=24.0)), bpy.context, 1)
    bake.write(ob, keys, bpy.context, "knock", landing="replace")
    bpy.context.scene.frame_set(1)


def shown(ob):
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=nla.frame_range(ob))


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": "hard", "extent": 0.5, "scope": "arm_R"},
        {"shape": "undulation", "size": 0.3, "angle": "flexion"},
        {"shape": "soft", "range_of": "limits"},
    ],
)
def test_blender_shows_what_the_filter_computes(knocker, arguments):
    before = shown(knocker)
    bpy.ops.troupe.waveshape(**arguments)
    roots, turns = stage.errors(shown(knocker), waveshape(before, WaveshapeParams(**arguments)))
    assert roots < 1e-4 and turns < 2e-3


def test_identity_shows_the_same_and_the_action_below_stays(knocker):
    own, before = bpy.data.actions["knock"], shown(knocker)
    keys = canon.keys_of(own)
    bpy.ops.troupe.waveshape(shape="identity")
    roots, turns = stage.errors(shown(knocker), before)
    assert roots < 1e-5 and turns < 1e-3 and canon.keys_of(own) == keys


@pytest.mark.req("bruderlin", 50)
def test_a_curve_is_drawn_edited_and_used(knocker):
    group = knocker.troupe.waveshape
    with pytest.raises(RuntimeError, match="Press Edit Curve first"):
        bpy.ops.troupe.use_curve()
    group.shape = "cosine"
    bpy.ops.troupe.edit_curve()
    points = feature.curve_node().mapping.curves[0].points
    assert np.allclose(feature.drawn(), Shape("cosine").editable().points, atol=1e-6)
    points.new(0.1, 0.9)
    points.remove(points[1])
    points[0].location = (-1.0, -0.5)
    bpy.ops.troupe.use_curve()
    params = settings.params_from(group, WaveshapeParams)
    assert params.shape == "points" and len(params.points) == 9
    assert params.points[0] == (-1.0, -0.5) and (0.1, 0.9) in params.points
    assert curve(Shape(points=params.points), 0.1) == pytest.approx(0.9)
    before = shown(knocker)
    bpy.ops.troupe.waveshape(shape="points", points=group.points, scope="arm_R")
    expected = waveshape(before, WaveshapeParams(shape="points", points=params.points, scope="arm_R"))
    assert stage.errors(shown(knocker), expected)[1] < 2e-3
    bpy.ops.troupe.edit_curve()
    assert np.allclose(feature.drawn(), params.points, atol=1e-6), "the same curve comes back to be edited"


@pytest.mark.req("bruderlin", 50)
def test_a_curve_of_your_own_is_saved_and_applied_to_others(knocker, tmp_path, monkeypatch):
    from troupe.addon import presets as own

    monkeypatch.setattr(own, "folder", lambda: tmp_path)
    drawn = [[-1, -0.9], [0.25, 0.5], [1, 0.8]]
    knocker.troupe.waveshape.shape, knocker.troupe.waveshape.points = "points", json.dumps(drawn)
    bpy.ops.troupe.preset_save(feature="waveshape", name="Mine")
    other = stage.actor(skin=False)
    assert settings.params_from(other.troupe.waveshape, WaveshapeParams).points == LINE
    bpy.ops.troupe.preset_apply(feature="waveshape", name="Mine")
    loaded = settings.params_from(other.troupe.waveshape, WaveshapeParams)
    assert loaded.points == tuple(map(tuple, drawn))
    nod = acts.knock(stage.cast_of(other).skeleton, fps=24.0)
    keys = bake.prepare(other, stage.cast_of(other), based(nod), bpy.context, 1)
    bake.write(other, keys, bpy.context, "other knock", landing="replace")
    before = shown(other)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    bone = other.pose.bones["forearm.R"]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    bpy.ops.troupe.waveshape(shape="points", points=other.troupe.waveshape.points, scope="selected")
    expected = waveshape(before, replace(loaded, joints="forearm.R"))
    assert stage.errors(shown(other), expected)[1] < 2e-3 and stage.errors(expected, before)[1] > 0.05


def test_every_shipped_curve_runs(knocker):
    for preset in presets.shipped("waveshape", WaveshapeParams):
        values = {k: json.dumps(v) if k == "points" else v for k, v in preset.values.items()}
        assert bpy.ops.troupe.waveshape(**values) == {"FINISHED"}, preset.name
        bpy.ops.troupe.remove_result(result=results.results_of(knocker)[-1].action.name)


def test_points_that_make_no_curve_are_told_and_nothing_is_written(knocker):
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="increase"):
        bpy.ops.troupe.waveshape(shape="points", points="[[0, 0], [0, 1]]")
    with pytest.raises(RuntimeError, match="points"):
        bpy.ops.troupe.waveshape(shape="points", points="[[0, 0")
    assert canon.snapshot() == before
