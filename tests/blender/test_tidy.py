"""Tidying up in Blender: things follow the hand without a jump, and stay with it when strips are dragged."""

import json
from unittest.mock import MagicMock

import bpy
import canon
import depths
import numpy as np
import pytest
import stage
from clicks import Click
from test_reach import put
from troupe.addon import trace
from troupe.addon.bake import results
from troupe.addon.demos import demos
from troupe.addon.features import chore, handling, serve, tidy
from troupe.core.landing import LandingParams
from troupe.core.planning.hands.orders import TidyParams
from troupe.core.planning.spaces.set_pieces import box


def shown(ob, frames):
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        out.append(np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world))
    return np.array(out)


def held(ob):
    """Frames of the keys at which a prop is taken and released, and its strip."""
    (strip,) = [s for t in ob.animation_data.nla_tracks for s in t.strips]
    keys = next(keys for (path, _), keys in canon.keys_of(strip.action).items() if path.endswith("influence"))
    return *keys[::2][1:], strip


def reported(feature, actor):
    """What the panel of a feature says of the chosen result."""
    layout = MagicMock()
    feature.draw(layout, bpy.context, actor)
    return [call.kwargs["text"] for call in layout.column.return_value.label.call_args_list]


@pytest.mark.req("kuffner", 96, 107)
def test_litter_is_put_away_without_a_jump_and_goes_along_when_the_strip_is_dragged():
    demos("tidy")["tidy"].build(bpy.context)
    assert not depths.deepest(10.5)
    stage.still(bpy.data.objects)
    actor, board = bpy.data.objects["Mannequin"], bpy.data.objects["sideboard"]
    (found,) = [f for f in results.results_of(actor) if f.strip is not None]
    kept = trace.trace_of(found.action)
    assert [row["thing"] for row in kept["transcript"] if row["what"] == "put away"] == ["ball", "can"]
    assert "2 put away" in trace.told(kept["report"])
    assert "2 put away" in reported(tidy, actor) and not reported(serve, actor)
    assert "ball is where it belongs" in bpy.data.texts["Mannequin transcript"].as_string()
    for name in ("ball", "can"):
        prop = bpy.data.objects[name]
        taken, released, _ = held(prop)
        frames = np.array([1.0, taken - 1, taken, taken + 0.5, released - 0.5, released, released + 1, released + 40])
        places = shown(prop, frames)
        steps = np.linalg.norm(np.diff(places[:, :3, 3], axis=0), axis=1)
        # it waits, follows the hand from one frame to the next, and is left where it belongs
        assert steps[0] < 1e-5 and steps[[1, 2]].max() < 5e-3 and steps[[4, 5]].max() < 2e-3 and steps[6] < 1e-5
        away = places[-1, :3, 3] - np.array(board.matrix_world.translation)
        assert abs(away[0]) < 0.4 and abs(away[1]) < 0.2 and 0.0 < away[2] < 0.1
        bpy.context.scene.frame_set(round(0.5 * (taken + released)))
        (tie,) = prop.constraints
        hand = actor.matrix_world @ actor.pose.bones[tie.subtarget].matrix
        assert (hand.translation - prop.matrix_world.translation).length < 0.3

    # what an animator does: drag the strip; the props come along at once
    taken, released, strip = held(bpy.data.objects["ball"])
    before = shown(bpy.data.objects["ball"], [taken + 10, released + 1])
    found.strip.frame_end += 50
    found.strip.frame_start += 50
    bpy.context.view_layer.update()
    assert strip.frame_start == pytest.approx(found.strip.frame_start, abs=0.01)
    after = shown(bpy.data.objects["ball"], [taken + 60, released + 51])
    assert np.abs(after - before)[:, :3, 3].max() < 1e-4
    record = next(r for _, r in handling.records(actor) if r["prop"] == "ball")
    assert (record["taken"], record["released"]) == (taken + 50, released + 50)
    assert json.loads(found.action[handling.RECORD])["taken"] == taken

    bpy.ops.troupe.remove_result(result=found.action.name)
    assert not bpy.data.objects["ball"].constraints and not bpy.data.objects["can"].constraints
    assert np.abs(shown(bpy.data.objects["ball"], [released])[0, :3, 3] - (-0.75, 0.5, 0.045)).max() < 1e-5


def test_what_is_missing_is_named():
    actor = stage.actor()
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.0, -1.0, 0.05))
    bpy.context.object.name = "crumb"
    bpy.data.collections.new("Nothing")
    bpy.context.scene.collection.children.link(bpy.data.collections["Nothing"])
    stage.choose(actor)
    for settings, said in (
        ({"away": "crumb"}, "choose what is put away"),
        ({"litter": "Dust", "away": "crumb"}, "no collection, object or sort of that name"),
        ({"litter": "Nothing", "away": "crumb"}, "has nothing in it"),
        ({"litter": "crumb"}, "choose where it goes"),
        ({"litter": "crumb", "away": "crumb"}, "nowhere to put things"),
        ({"litter": "crumb", "away": actor.name}, "neither an empty nor anything with visible faces"),
        ({"litter": "crumb", "away": "crumb", "route": "Round"}, "no collection of that name"),
    ):
        with pytest.raises(RuntimeError, match=said):
            bpy.ops.troupe.tidy(**settings)
        assert not results.results_of(actor)


@pytest.mark.req("kuffner", 101)
@pytest.mark.parametrize("removed", ["", "crumb"])
def test_esc_in_the_middle_of_it_and_litter_that_goes_meanwhile_change_nothing(removed):
    actor = stage.actor(skin=False)
    put(box("shelf", (0.3, 0.2, 0.45), (-0.9, -0.8, 0.45)))
    put(box("stool", (0.2, 0.2, 0.35), (0.5, -0.8, 0.35)))
    put(box("crumb", (0.025, 0.025, 0.04), (0.5, -0.75, 0.7405)))
    stage.choose(actor)
    params = TidyParams(litter="crumb", away="shelf", gaze=0.0)
    click = Click(tidy.Operator, tidy.Operator.plan_steps(bpy.context, actor, params, LandingParams(), None))
    search = click.until_it_searches()
    if removed:
        bpy.data.objects.remove(bpy.data.objects[removed])
    before = canon.snapshot()
    if removed:
        assert click.rest() == {"CANCELLED"}
        assert click.said == [("ERROR", "crumb was removed meanwhile: do it again with what there is now")]
    else:
        click.stops(search)
    assert canon.snapshot() == before


def test_litter_may_be_a_sort_of_things():
    for k, sort in enumerate(("rubbish", "rubbish", "")):
        bpy.ops.mesh.primitive_cube_add(size=0.1, location=(k, 0.0, 0.05))
        bpy.context.object.name, bpy.context.object.troupe.sort = f"thing {10 - k}", sort
    found = chore.named("rubbish", "litter", "what is put away", bpy.context)
    assert [ob.name for ob in found] == ["thing 9", "thing 10"]
