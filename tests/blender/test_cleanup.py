"""Clean-up in Blender: each task is laid above what was recorded, which stays as it is."""

import json
from types import SimpleNamespace

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, rig
from troupe.addon.bake import nla, results
from troupe.addon.demos.cleanup import spoilt
from troupe.addon.features import cleanup as feature
from troupe.core.figure.stroll import walk
from troupe.core.filters.cleanup import SETTINGS, TASKS, CleanupParams, cleanup
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.filters.gaps import find_gaps
from troupe.core.filters.intervals import intervals_of
from troupe.core.filters.resample import resample
from troupe.core.kinematics.base import based
from troupe.core.maths import quat

NAMES = [name for name, _ in TASKS]


@pytest.fixture
def recorded():
    """An actor whose own action is a walk as a poor recording gave it."""
    stage.once(_recorded)
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    return ob


def _recorded():
    ob = stage.actor(skin=False)
    cast = stage.cast_of(ob)
    motion = spoilt(resample(walk(cast.skeleton, cycles=3), 24.0))
    bake.write(ob, bake.prepare(ob, cast, based(motion), bpy.context, 1), bpy.context, "take", landing="replace")
    bpy.context.scene.frame_set(1)


def shown(ob):
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=nla.frame_range(ob))


def top(ob):
    return results.results_of(ob)[-1]


@pytest.mark.parametrize("task", [t for t in NAMES if t != "loop"])
def test_blender_shows_what_the_filter_computes_and_the_take_stays(recorded, task):
    take, before = bpy.data.actions["take"], shown(recorded)
    keys = canon.keys_of(take)
    values = {"rate": 12.0, "keep": "steps", "way": "in_place"}
    bpy.ops.troupe.cleanup(task=task, **values)
    expected = cleanup(before, CleanupParams(task=task, **values))
    roots, turns = stage.errors(shown(recorded), expected)
    assert roots < 1e-4 and turns < 2e-3
    assert stage.errors(expected, before)[1] > 0.01 or stage.errors(expected, before)[0] > 0.01
    assert canon.keys_of(take) == keys
    assert top(recorded).action.name == f"{recorded.name} {task}"
    bpy.ops.troupe.remove_result()
    assert stage.errors(shown(recorded), before)[0] < 1e-6


def test_a_loop_is_cyclic_and_closes(recorded):
    take = canon.keys_of(bpy.data.actions["take"])
    for task in ("gaps", "despike", "floor"):
        bpy.ops.troupe.cleanup(task=task)
    expected = cleanup(shown(recorded), CleanupParams(task="loop", period=1.1))
    bpy.ops.troupe.cleanup(task="loop", period=1.1)
    action = top(recorded).action
    first, last = action.frame_range
    assert action.use_cyclic and 25 <= last - first <= 28
    assert canon.keys_of(bpy.data.actions["take"]) == take
    cast = stage.cast_of(recorded)
    one = bake.read(recorded, cast, bpy.context, action, (first, last))
    assert quat.distance(one.rotations[-1], one.rotations[0]).max() < 1e-4
    assert np.hypot(*(one.roots[-1] - one.roots[0])[:2]) > 0.5 and abs(one.roots[-1, 2] - one.roots[0, 2]) < 1e-4
    round_ = bake.read(recorded, cast, bpy.context, action, (first, last - 1))
    roots, turns = stage.errors(round_, expected)
    assert roots < 1e-4 and turns < 2e-3
    assert max(s.travel for s in slide(round_, expected)) < 0.001


def test_cleaned_in_order_it_is_clean(recorded):
    for task in ("gaps", "despike", "floor"):
        bpy.ops.troupe.cleanup(task=task)
    loose = contacts(shown(recorded))
    bpy.ops.troupe.cleanup(task="plant")
    motion = shown(recorded)
    assert not find_gaps(motion)[0].any()
    assert max(s.travel for s in slide(loose)) > 0.03
    assert max(s.travel for s in slide(motion, loose)) < 0.001
    assert [len(t.strips) for t in recorded.animation_data.nla_tracks] == [1] * 5


def test_contacts_are_found_edited_and_held(recorded):
    bpy.ops.troupe.cleanup(task="gaps")
    bpy.ops.troupe.find_contacts()
    own = recorded.troupe.cleanup
    assert own.task == "plant"
    rows = json.loads(own.intervals)
    found = intervals_of(contacts(shown(recorded)))
    assert len(rows) == len(found) and np.allclose(rows, found, atol=1e-3)
    kept = [rows[1]]
    before = shown(recorded)
    bpy.ops.troupe.cleanup(task="plant", intervals=json.dumps(kept))
    expected = cleanup(before, CleanupParams(task="plant", intervals=tuple(map(tuple, kept))))
    assert stage.errors(shown(recorded), expected)[1] < 2e-3
    assert np.allclose(intervals_of(expected), kept, atol=0.02)


def test_contacts_are_changed_in_their_list(recorded):
    bpy.ops.troupe.cleanup(task="gaps")
    bpy.ops.troupe.find_contacts()
    own, scene = recorded.troupe.cleanup, bpy.context.scene

    def rows():
        return json.loads(own.intervals)

    found = rows()
    scene.frame_set(1 + round(24 * found[1][2]) - 2)
    bpy.ops.troupe.edit_contact(index=1, change="end")
    assert rows()[1][2] == pytest.approx(found[1][2] - 2 / 24, abs=0.022) and rows()[0] == found[0]
    scene.frame_set(1 + round(24 * found[1][1]) + 1)
    bpy.ops.troupe.edit_contact(index=1, change="begin")
    assert rows()[1][1] == pytest.approx(found[1][1] + 1 / 24, abs=0.022)
    bpy.ops.troupe.edit_contact(index=0, change="remove")
    assert len(rows()) == len(found) - 1
    scene.frame_set(30)
    bpy.ops.troupe.edit_contact(change="add_right")
    (added,) = [row for row in rows() if row[1] == pytest.approx(29 / 24, abs=1e-4)]
    assert added[0] == 1 and added[2] - added[1] == pytest.approx(0.25, abs=1e-3)
    before = own.intervals
    for frame, index, change, told in (
        (1, len(rows()) - 1, "end", "begin before it ends"),
        (30, 99, "remove", "contacts in the list"),
        (500, 0, "begin", "outside the animation"),
    ):
        scene.frame_set(frame)
        with pytest.raises(RuntimeError, match=told):
            bpy.ops.troupe.edit_contact(index=index, change=change)
    assert own.intervals == before
    bpy.ops.troupe.cleanup(task="plant", intervals=before)
    assert len(results.results_of(recorded)) == 3


def test_it_is_done_again_from_what_lies_below(recorded):
    bpy.ops.troupe.cleanup(task="despike")
    once = shown(recorded)
    bpy.ops.troupe.regenerate()
    assert stage.errors(shown(recorded), once)[1] < 1e-3
    recorded.troupe.cleanup.task = "mirror"
    bpy.ops.troupe.regenerate()
    assert len(results.results_of(recorded)) == 2
    assert stage.errors(shown(recorded), once)[1] > 0.1


def test_the_report_says_how_many_frames_were_wrong(recorded, capfd):
    bpy.ops.troupe.cleanup(task="gaps")
    said = capfd.readouterr().out
    assert "9 frames put right" in said, said
    bpy.ops.troupe.cleanup(task="gaps")
    assert "; 0 frames put right" in capfd.readouterr().out
    assert feature.put_right(shown(recorded)) == ""


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"task": "loop", "scope": "arms"}, "loop is of the whole body"),
        ({"task": "plant", "intervals": "[[2, 0, 1]]"}, "foot"),
        ({"task": "plant", "intervals": "[[0, 1"}, "intervals"),
        ({"task": "gaps", "bad": "[[90, 95]]"}, "outside the clip"),
        ({"task": "loop", "period": 500.0}, "no cycle of 500 s"),
        ({"width": 4}, "odd"),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_is_written(recorded, values, told):
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.troupe.cleanup(**values)
    assert canon.snapshot() == before


def test_a_single_frame_is_told_to_be_too_short():
    ob = stage.actor(skin=False)
    ob.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=1)
    with pytest.raises(RuntimeError, match="at least"):
        bpy.ops.troupe.cleanup(task="loop")


def test_the_panel_shows_the_settings_of_the_task(recorded):
    class Layout:
        """Stands in for a panel: without a window nothing is drawn."""

        def __init__(self, names):
            self.names = names

        def column(self, align=False):
            return self

        row = column

        def separator(self):
            pass

        def operator(self, idname, icon, text=""):
            self.names.append(text or idname)
            return SimpleNamespace()

        def prop(self, owner, name):
            assert hasattr(owner, name)
            self.names.append(name)

    assert rig.is_cast(recorded)
    for task in NAMES:
        names = []
        recorded.troupe.cleanup.task = task
        feature.draw(Layout(names), bpy.context, recorded)
        more = ["troupe.find_contacts", "Add Left", "Add Right"] if task == "plant" else []
        assert names == [*SETTINGS[task], *more]
    recorded.troupe.cleanup.task, recorded.troupe.cleanup.intervals = "plant", "[[1, 0.5, 1.0]]"
    names = []
    feature.draw(Layout(names), bpy.context, recorded)
    assert "R  13 to 25" in names and names.count("troupe.edit_contact") == 3
