"""Emotion in Blender: shipped feelings, feelings learned from two actions, periods moved by hand."""

import json

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import nla, results
from troupe.core.figure import acts
from troupe.core.filters.emotion import EmotionParams, emote
from troupe.core.filters.feeling import extract, mean_ratios
from troupe.core.filters.periods import periods
from troupe.core.formats import feeling as files
from troupe.core.kinematics.base import based
from troupe.core.maths import quat


def give(ob, name, motion, landing="replace"):
    keys = bake.prepare(ob, stage.cast_of(ob), based(motion), bpy.context, 1)
    bake.write(ob, keys, bpy.context, name, landing=landing)
    return bpy.data.actions[name]


@pytest.fixture
def knocker():
    """An actor whose own action is three knocks."""
    stage.once(_knocker)
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    return ob


def _knocker():
    ob = stage.actor(skin=False)
    give(ob, "knock", acts.knock(stage.cast_of(ob).skeleton, fps=24.0))
    bpy.context.scene.frame_set(1)


def shown(ob, action=None):
    return bake.read(ob, stage.cast_of(ob), bpy.context, action, nla.frame_range(ob, action))


def top(ob):
    return results.results_of(ob)[-1]


@pytest.mark.parametrize(
    "arguments", [{"emotion": "sad"}, {"emotion": "excited", "intensity": 0.5}, {"pace": False, "scope": "arm_R"}]
)
def test_blender_shows_what_the_filter_computes(knocker, arguments):
    before, own = shown(knocker), bpy.data.actions["knock"]
    keys = canon.keys_of(own)
    bpy.ops.troupe.emotion(**arguments)
    params = EmotionParams(**arguments)
    expected = emote(before, files.shipped(params.emotion), params)
    after = shown(knocker, top(knocker).action) if params.pace else shown(knocker)
    assert len(after) == len(expected) and stage.errors(after, expected)[1] < 2e-3
    assert canon.keys_of(own) == keys


def test_intensity_nothing_shows_the_same(knocker):
    before = shown(knocker)
    bpy.ops.troupe.emotion(intensity=0.0)
    roots, turns = stage.errors(shown(knocker), before)
    assert roots < 1e-5 and turns < 1e-3


@pytest.mark.req("bruderlin", 64)
def test_the_report_tells_what_was_done(knocker, capfd):
    bpy.ops.troupe.emotion(emotion="angry")
    said = capfd.readouterr().out
    assert "the mean size of the source's 5 periods on all 8" in said and "elbows and knees x 1.3" in said


def test_a_longer_result_is_made_again_and_edits_compose(knocker):
    bpy.ops.troupe.emotion(emotion="sad")
    once = shown(knocker, top(knocker).action)
    bpy.ops.troupe.regenerate()
    assert stage.errors(shown(knocker, top(knocker).action), once)[1] < 1e-3
    knocker.troupe.emotion.intensity = 0.0
    bpy.ops.troupe.regenerate()
    assert tuple(top(knocker).action.frame_range) == tuple(bpy.data.actions["knock"].frame_range)


def error(a, b):
    """Root mean square distance of the joints of two motions [rad], the shorter one held at its end."""
    at = np.arange(max(len(a), len(b)))
    x, y = (np.minimum(at, len(m) - 1) for m in (a, b))
    return np.sqrt((quat.distance(a.rotations[x], b.rotations[y]) ** 2).mean())


@pytest.mark.req("bruderlin", 66, 67)
def test_a_feeling_is_learned_from_two_actions_saved_and_used_on_another_actor(knocker, tmp_path):
    skeleton = stage.cast_of(knocker).skeleton
    neutral, angry = (acts.drink(skeleton, acts.MANNERS[n], 24.0) for n in ("neutral", "angry"))
    for name, motion in (("plain", neutral), ("furious", angry), ("work", acts.drink(skeleton, fps=24.0))):
        give(knocker, name, motion)
    bpy.ops.troupe.emotion(neutral="plain", emotional="furious")
    assert "furious" in top(knocker).action.name
    done = shown(knocker, top(knocker).action)
    assert error(done, angry) < 0.5 * error(neutral, angry)
    learned = extract(neutral, angry)
    assert top(knocker).action.frame_range[1] == pytest.approx(1 + len(neutral) * learned.tempo, abs=3)
    path = tmp_path / "furious.json"
    bpy.ops.troupe.save_feeling(filepath=str(path), neutral="plain", emotional="furious")
    assert np.allclose(mean_ratios(files.read(path)), mean_ratios(learned), rtol=0.05)
    assert knocker.troupe.emotion.file == str(path)
    other = stage.actor(skin=False)
    give(other, "kick", acts.kick(skeleton, fps=24.0))
    before = shown(other)
    bpy.ops.troupe.emotion(file=str(path))
    expected = emote(before, files.read(path))
    assert stage.errors(shown(other, top(other).action), expected)[1] < 2e-3


@pytest.mark.req("bruderlin", 61)
def test_periods_are_marked_and_moved_by_hand(knocker):
    bpy.ops.troupe.mark_periods()
    markers = bpy.context.scene.timeline_markers
    found = periods(shown(knocker))
    assert sorted(m.frame - 1 for m in markers) == found.tolist()
    bpy.ops.troupe.mark_periods()
    assert len(markers) == len(found), "marked again, not twice"
    for marker in [m for m in markers if m.frame not in (1, 20 + 1)]:
        markers.remove(marker)
    markers.new("period", frame=51)
    markers.new("cut", frame=60)
    bpy.ops.troupe.emotion(emotion="strong", pace=False, plant=False)
    after, before = shown(knocker), shown(knocker, bpy.data.actions["knock"])
    away = quat.distance(after.rotations, before.rotations).max(axis=1)
    marked = sorted({m.frame - 1 for m in markers if m.name == "period"} | {0, len(before) - 1})
    assert away[marked].max() < 1e-3 and away.max() > 0.05
    assert away[found[2]] > 1e-3, "where a period was found before, nothing is held any more"


@pytest.mark.req("bruderlin", 61)
def test_periods_are_set_by_numbers_too(knocker):
    bpy.ops.troupe.mark_periods()
    bpy.ops.troupe.emotion(emotion="strong", pace=False, plant=False, periods="[[0.5], [2.0]]")
    after, before = shown(knocker), shown(knocker, bpy.data.actions["knock"])
    away = quat.distance(after.rotations, before.rotations).max(axis=1)
    assert away[[0, 12, 48, -1]].max() < 1e-3 and away.max() > 0.05
    with pytest.raises(RuntimeError, match="clip is over after"):
        bpy.ops.troupe.emotion(periods="[[99]]")


@pytest.mark.req("bruderlin", 67)
def test_ten_emotions_may_be_chosen():
    items = bpy.ops.troupe.emotion.get_rna_type().properties["emotion"].enum_items.keys()
    ten = ("neutral", "angry", "sad", "happy", "fearful", "tired", "strong", "weak", "excited", "relaxed")
    assert tuple(items[:10]) == ten and "sad_walk" in items


def test_what_is_wrong_is_told_and_nothing_is_written(knocker, tmp_path):
    (tmp_path / "bad.json").write_text("{}")
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match="not a feeling"):
        bpy.ops.troupe.emotion(file=str(tmp_path / "bad.json"))
    with pytest.raises(RuntimeError, match="must be a file"):
        bpy.ops.troupe.emotion(file=str(tmp_path / "none.json"))
    with pytest.raises(RuntimeError, match="no action of that name"):
        bpy.ops.troupe.emotion(neutral="knock", emotional="nothing")
    with pytest.raises(RuntimeError, match="no action of that name"):
        bpy.ops.troupe.emotion(neutral="knock")
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.troupe.save_feeling(filepath=str(tmp_path / "no" / "such.json"))
    with pytest.raises(RuntimeError, match="choose the file"):
        bpy.ops.troupe.save_feeling()
    assert canon.snapshot() == before


def test_the_recipe_holds_the_feeling_and_its_amount(knocker):
    bpy.ops.troupe.emotion(emotion="happy", intensity=0.7)
    recipe = json.loads(top(knocker).action["troupe"])
    assert recipe["feature"] == "emotion" and recipe["params"]["emotion"] == "happy"
    assert recipe["params"]["intensity"] == 0.7
