"""Every mistake gets its own sentence; its button mends it, keeps what the user made, and is one undo step."""

import re
import sys

import bpy
import canon
import numpy as np
import pytest
import stage
from mistakes import MISTAKES, doubled, giant, jumping, no_feet, one_bone_twice, shifted, turned, walking
from troupe.addon import bake, rig
from troupe.addon.bake import results
from troupe.addon.demos import doctor as demo
from troupe.addon.features.doctor import findings_of
from troupe.core.figure import stroll
from troupe.core.filters.footlock import footlock
from troupe.core.filters.resample import resample


def findings(ob=None):
    """What the operator finds out about the active actor."""
    bpy.ops.troupe.doctor()
    return findings_of(ob or bpy.context.object)


def seed(name):
    """Make the mistake; return the actor, and the finding about it."""
    make, kind, sentence = MISTAKES[name]
    ob = make()
    stage.choose(ob)
    found = findings(ob)
    assert [f.kind for f in found if f.kind == kind], found
    return ob, next(f for f in found if f.kind == kind), sentence


def keys_of_all():
    """Every key in the file, by action."""
    return {a.name: canon.keys_of(a) for a in bpy.data.actions}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_its_own_sentence_and_its_button_mends_it_and_keeps_all_keys(name):
    ob, finding, sentence = seed(name)
    assert re.search(sentence, finding.sentence), finding.sentence
    before = keys_of_all()
    bpy.ops.troupe.fix(kind=finding.kind, part=finding.part)
    assert finding.kind not in [f.kind for f in findings_of(ob)]
    assert finding.kind not in [f.kind for f in findings(ob)]
    after = keys_of_all()
    for action, keys in before.items():
        kept = after["walk broken"] if finding.kind == "nan" else after[action]
        assert repr(kept) == repr(keys)


@pytest.mark.parametrize("name", ["sliding", "muted track", "active action", "uneven scale", "no feet", "nan"])
def test_a_fix_is_one_undo_step(name):
    ob, finding, _ = seed(name)
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.fix("EXEC_DEFAULT", True, actor=ob.name, kind=finding.kind, part=finding.part)
    after = canon.snapshot()
    assert after != before
    for _ in range(2):
        bpy.ops.ed.undo()
        assert canon.snapshot() == before
        assert finding in findings_of(bpy.context.object)
        bpy.ops.ed.redo()
        assert canon.snapshot() == after


def test_a_sound_walk_has_no_findings():
    assert findings(walking()) == []
    assert findings(stage.actor()) == []


def test_a_fix_leaves_what_it_is_not_about():
    ob = walking(turned("shin_L", (-35, 0, 0)))
    findings(ob)
    cast = stage.cast_of(ob)
    before = bake.read(ob, cast, bpy.context)
    bpy.ops.troupe.fix(kind="hyperextension")
    after = bake.read(ob, cast, bpy.context)
    arms = [cast.skeleton.joint(f"{part}_{side}") for part in ("upper_arm", "forearm") for side in "LR"]
    assert np.abs(before.rotations[:, arms] - after.rotations[:, arms]).max() < 1e-4
    assert np.abs(before.roots - after.roots).max() < 1e-4


def test_a_fix_of_roles_keeps_what_the_user_corrected():
    ob = no_feet()
    ob.troupe.roles.jaw = "eye.L"
    ob.troupe.roles.eye_L = ""
    findings(ob)
    bpy.ops.troupe.fix(kind="unmapped")
    assert (ob.troupe.roles.foot_L, ob.troupe.roles.foot_R) == ("foot.L", "foot.R")
    assert (ob.troupe.roles.jaw, ob.troupe.roles.eye_L) == ("eye.L", "")


def test_a_linked_rig_is_told_and_overridden(tmp_path):
    ob = stage.actor()
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {*bpy.context.scene.objects})
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = list(there.objects)
    for linked in here.objects:
        bpy.context.scene.collection.objects.link(linked)
    ob = next(o for o in here.objects if o.type == "ARMATURE")
    stage.choose(ob)
    assert [f.kind for f in findings(ob)] == ["linked"]
    assert "linked from another file" in findings_of(ob)[0].sentence
    bpy.ops.troupe.fix(kind="linked")
    ob = bpy.context.object
    assert ob.override_library is not None and rig.is_cast(ob)
    assert findings_of(ob) == [] == findings(ob)


def test_missing_scipy_is_told(monkeypatch):
    ob = walking()
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    assert [f.kind for f in findings(ob)] == ["scipy"]
    assert "SciPy" in findings_of(ob)[0].sentence
    with pytest.raises(RuntimeError, match="mended by hand"):
        bpy.ops.troupe.fix(kind="scipy")


def test_what_only_the_user_can_mend_has_no_button():
    ob = giant()
    assert [f.kind for f in findings(ob)] == ["scale", "size"]
    with pytest.raises(RuntimeError, match="by hand"):
        bpy.ops.troupe.fix(kind="size")
    ob = one_bone_twice()
    assert "twice" in [f.kind for f in findings(ob)]


@pytest.mark.parametrize(("animated", "sentence"), [("scale", "is animated"), ("bones", "keys would mean")])
def test_the_scale_of_an_animated_rig_is_left_to_the_user(animated, sentence):
    ob = doubled()
    if animated == "scale":
        ob.keyframe_insert("scale", frame=1)
    else:
        ob.pose.bones["hips"].keyframe_insert("location", frame=1)
    findings(ob)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.troupe.fix(kind="scale")
    assert canon.snapshot() == before


def test_applying_scale_changes_nothing_on_screen():
    ob = doubled()
    ob.pose.bones["hips"].location = (0.1, 0.2, 0.0)
    bpy.context.view_layer.update()

    def seen():
        depsgraph = bpy.context.evaluated_depsgraph_get()
        heads = [ob.matrix_world @ b.head for b in ob.evaluated_get(depsgraph).pose.bones]
        body = next(o for o in bpy.data.objects if o.type == "MESH").evaluated_get(depsgraph)
        return np.array(heads), np.array([body.matrix_world @ v.co for v in body.data.vertices])

    heads, skin = seen()
    findings(ob)
    bpy.ops.troupe.fix(kind="scale")
    assert tuple(ob.scale) == (1.0, 1.0, 1.0)
    assert np.abs(seen()[0] - heads).max() < 1e-4 and np.abs(seen()[1] - skin).max() < 1e-4


def test_a_jump_at_a_seam_names_the_strip():
    ob = walking()
    cast = stage.cast_of(ob)
    away = shifted(resample(stroll.walk(cast.skeleton, cycles=1), 24.0), (2.0, 0.0, 0.0))
    keys = bake.prepare(ob, cast, away, bpy.context, 60)
    bake.write(ob, keys, bpy.context, "second")
    jump = next(f for f in findings(ob) if f.kind == "jump")
    assert jump.sentence.endswith("frames 59 to 60, where second begins")


def test_frames_are_those_of_the_timeline():
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = jumping(resample(footlock(stroll.walk(cast.skeleton, cycles=2)), 24.0))
    bake.write(ob, bake.prepare(ob, cast, motion, bpy.context, 101), bpy.context, "walk", landing="replace")
    jump = next(f for f in findings(ob) if f.kind == "jump")
    assert (jump.start, jump.end) == (130.0, 131.0)


def test_the_wrong_object_gets_a_sentence():
    bpy.ops.object.empty_add()
    with pytest.raises(RuntimeError, match="is no armature and none deforms it"):
        bpy.ops.troupe.doctor()
    with pytest.raises(RuntimeError, match="is no armature and none deforms it"):
        bpy.ops.troupe.fix(kind="slide")


def test_nothing_is_fixed_before_it_is_examined():
    stage.actor()
    with pytest.raises(RuntimeError, match="Press Examine first"):
        bpy.ops.troupe.fix(kind="slide")


def test_unknown_findings_and_actors_are_refused():
    ob = walking()
    findings(ob)
    with pytest.raises(RuntimeError, match="has no finding 'slide'"):
        bpy.ops.troupe.fix(kind="slide")
    with pytest.raises(RuntimeError, match="there is no rig 'nobody'"):
        bpy.ops.troupe.fix(kind="slide", actor="nobody")


def test_a_merged_actor_has_no_findings():
    ob = walking()
    bpy.ops.troupe.bake_down()
    assert findings(ob) == []


def test_the_demo_ends_with_nothing_wrong():
    demo.build(bpy.context)
    ob = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    assert findings_of(ob) == []
    assert len(results.results_of(ob)) > 3
