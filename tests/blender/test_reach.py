"""Reach in Blender: hands take things, carry them and put them down without a jump, on every kind of rig."""

import sys
from itertools import pairwise
from unittest.mock import MagicMock

import afoot
import bpy
import canon
import depths
import numpy as np
import pytest
import stage
from clicks import Click
from troupe.addon import bake, scene
from troupe.addon.bake import grip, results
from troupe.addon.demos import reach as demo
from troupe.addon.features import company, going, goto, handling, objects, reach
from troupe.addon.features.grasp import told
from troupe.addon.scene import skin
from troupe.addon.steps import finish
from troupe.core.kinematics import fk
from troupe.core.landing import LandingParams
from troupe.core.maths import quat
from troupe.core.motion import Motion
from troupe.core.planning.hands.orders import ReachParams
from troupe.core.planning.spaces.penetration import HAND, penetrations
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.walkers.going import GotoParams


def put(body, name=None):
    """A body of core as an object."""
    mesh = bpy.data.meshes.new(body.name)
    mesh.from_pydata(body.vertices.tolist(), [], body.triangles.tolist())
    ob = bpy.data.objects.new(name or body.name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = body.matrices[0, :3, 3]
    ob.troupe.kind = body.kind
    bpy.context.view_layer.update()
    return ob


def spot(name, place):
    ob = bpy.data.objects.new(name, None)
    ob.location = place
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def table(ob):
    """A table in front of an actor with a bottle on it, as large as suits it; where it may go as well."""
    leg = stage.cast_of(ob).skeleton.leg_length()
    size = leg / 0.86
    top = 1.08 * leg
    put(box("Table", np.array([0.5, 0.25, 0.02]) * size, (0.0, -0.5 * size, top - 0.02 * size)))
    prop = put(bottle("Bottle", (-0.2 * size, -0.4 * size, top), 0.24 * size, 0.033 * size))
    put(box("Block", np.array([0.04, 0.04, 0.1]) * size, (-0.08 * size, -0.42 * size, top + 0.1 * size)))
    spot("There", (0.03 * size, -0.36 * size, top))
    return prop, size


def matrices(prop, frames):
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        shown = prop.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(np.array(shown.matrix_world))
    return np.array(out)


def bones(ob, name, frames):
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(np.array(shown.matrix_world @ shown.pose.bones[name].matrix))
    return np.array(out)


def turn(a, b):
    """Angle between two matrices [degrees]."""
    r = a[:3, :3] @ np.linalg.inv(b[:3, :3])
    return float(np.degrees(np.arccos(np.clip((np.trace(r) - 1.0) / 2.0, -1.0, 1.0))))


@pytest.mark.req("kuffner", 80, 87, 100)
@pytest.mark.req("badler", 79)
@pytest.mark.parametrize("kind", ["mannequin", "rigify", "mixamo", "bvh"])
def test_a_hand_moves_a_bottle_without_a_jump(data, kind):
    ob = afoot.enter(kind, data)
    prop, size = table(ob)
    before = np.array(prop.matrix_world)
    stage.still(bpy.data.objects)
    # somebody as large as this clip's takes its time
    bpy.ops.troupe.reach(task="move", target="Bottle", destination="There", speed=4.0 if kind == "bvh" else 1.0)
    found = results.results_of(ob)[-1]
    record = handling.record_of(found.action)
    taken, released = int(record["taken"]), int(record["released"])
    frames = np.array([record["first"] - 3, taken - 1, taken, taken + 0.5, released - 1, released, record["last"] + 3])
    held = matrices(prop, frames)
    # at the very moments of taking and of letting go, and half a frame beside them
    around = matrices(prop, np.array([taken - 0.5, taken, released, released + 0.5, released + 1.0]))
    assert np.abs(around[0] - around[1]).max() <= 1e-5 * max(size, 1.0)
    assert np.abs(around[3:] - around[2]).max() <= 1e-5 * max(size, 1.0)
    hand = stage.cast_of(ob).skeleton.names[stage.cast_of(ob).skeleton.joint(f"hand_{record['side']}")]
    rel = np.linalg.inv(bones(ob, hand, frames[2:5])) @ held[2:5]
    assert np.abs(rel - rel[0])[:, :3, :3].max() < 1e-4 * np.abs(rel).max()
    assert np.abs(held[:3] - before).max() < 1e-5 * max(size, 1.0)
    for a, b in ((1, 2), (2, 3), (4, 5), (5, 6)):
        assert np.linalg.norm(held[b, :3, 3] - held[a, :3, 3]) < 1e-3 * max(size, 1.0)
        assert turn(held[a], held[b]) < 0.5
    there = np.array(bpy.data.objects["There"].matrix_world)
    assert np.linalg.norm(held[-1, :3, 3] - there[:3, 3]) < 1e-4 * max(size, 1.0)
    assert np.abs(held[-1, :3, :3] - there[:3, :3]).max() < 1e-3


@pytest.mark.req("badler", 78, 79)
@pytest.mark.parametrize("kind", ["mannequin", "rigify"])
def test_both_hands_keep_their_places_on_what_they_move(data, kind):
    ob = afoot.enter(kind, data)
    cast = stage.cast_of(ob)
    size = cast.skeleton.leg_length() / 0.86
    put(box("Table", np.array([0.6, 0.3, 0.02]) * size, (0.0, -0.55 * size, 0.88 * size)))
    prop = put(box("Crate", np.array([0.17, 0.12, 0.1]) * size, (0.05 * size, -0.4 * size, 1.001 * size)))
    spot("There", (-0.06 * size, -0.4 * size, 1.001 * size))
    stage.still(bpy.data.objects)
    bpy.ops.troupe.reach(task="move", target="Crate", destination="There", gaze=0.0)
    record = handling.record_of(results.results_of(ob)[-1].action)
    assert {record["side"], *(r["side"] for r in record["also"])} == {"L", "R"}
    frames = np.arange(record["taken"], record["released"] + 0.1, 0.5)
    way = matrices(prop, frames)
    assert np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1).max() < 0.05 * size and np.ptp(way[:, 0, 3]) > 0.05
    for side in "LR":
        hand = bones(ob, cast.skeleton.names[cast.skeleton.joint(f"hand_{side}")], frames)
        seen = (np.linalg.inv(way) @ hand)[:, :3, 3] * np.linalg.norm(way[0, :3, 0])
        assert np.linalg.norm(seen - seen[0], axis=1).max() < 5e-3 * size, side
    around = matrices(prop, [record["taken"] - 0.5, record["taken"], record["released"], record["released"] + 0.5])
    assert np.abs(around[[0, 2]] - around[[1, 3]]).max() < 1e-4 * max(size, 1.0)


def hops(values, size):
    """Largest change from frame to frame, and of that from frame to frame, of places [m of a person]."""
    step = np.diff(values[:, :3, 3], axis=0) / size
    return np.linalg.norm(step, axis=1).max(), np.linalg.norm(np.diff(step, axis=0), axis=1).max()


def setting_out(ob):
    """Somebody about to go."""
    cast = stage.cast_of(ob)
    start = bake.start_here(ob, cast, bpy.context)
    return company.Member(ob, cast, start, goto.Operator, GotoParams(place=(0.0, -3.0, 0.0), seconds=2.0))


@pytest.mark.req("kuffner", 22, 107)
def test_what_is_picked_up_is_carried_on_a_walk_and_put_down_elsewhere():
    ob = stage.actor()
    prop, _ = table(ob)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R")
    taken = handling.record_of(results.results_of(ob)[-1].action)
    hand = stage.cast_of(ob).skeleton.names[stage.cast_of(ob).skeleton.joint("hand_R")]
    bpy.context.scene.frame_set(taken["last"])
    assert set(handling.held(ob, taken["last"])) == {"R"} and not handling.held(ob, taken["taken"] - 1)
    # what a clip takes into the hand is no collision of it
    assert bpy.ops.troupe.verify() == {"FINISHED"}
    assert not bpy.context.scene.timeline_markers
    for name in ("Table", "Block"):
        bpy.data.objects.remove(bpy.data.objects[name])
    # nor is it in one's own way
    planned = finish(going.stage_steps(bpy.context, {ob.name: setting_out(ob)}, ob.name))
    assert "Bottle" not in {body.name for body in planned.world.bodies}
    bpy.context.scene.frame_set(1)
    planned = finish(going.stage_steps(bpy.context, {ob.name: setting_out(ob)}, ob.name))
    assert "Bottle" in {body.name for body in planned.world.bodies}
    bpy.context.scene.frame_set(taken["last"])
    bpy.ops.troupe.walk(distance=2.0)
    walked = round(max(f.strip.frame_end for f in results.results_of(ob)))
    lifted, kept = matrices(prop, np.array([taken["last"], walked]))[:, 2, 3]
    assert abs(kept - lifted) < 0.05, "the arm holds it up on the walk"
    bpy.context.scene.frame_set(taken["last"])
    bpy.ops.troupe.carry(posture="front")
    bpy.context.scene.frame_set(walked + 5)
    shown = np.array(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[hand].matrix)
    spot("Desk", (ob.matrix_world.translation.x - 0.2, -2.0 - 0.45, 0.95))
    bpy.ops.troupe.reach(task="put_back", destination="Desk")
    last = handling.record_of(results.results_of(ob)[-1].action)
    assert last["side"] == "R" and last["prop"] == "Bottle" and last["released"] and shown is not None
    frames = np.arange(taken["first"], last["last"] + 10)
    props, hands = matrices(prop, frames), bones(ob, hand, frames)
    rel = np.linalg.inv(hands) @ props
    inside = slice(int(taken["taken"] - frames[0]), int(last["released"] - frames[0]))
    assert np.abs(rel[inside] - rel[inside][:1]).max() < 1e-4
    assert hops(props, 1.0)[0] < 0.08 and hops(props, 1.0)[1] < 0.04
    assert hops(hands, 1.0)[0] < 0.12 and hops(hands, 1.0)[1] < 0.06  # a way has corners; a jump would be farther
    for seam in (taken["last"], last["first"], last["last"]):
        at = int(seam - frames[0])
        assert hops(hands[at - 2 : at + 3], 1.0)[1] < 0.01
    assert np.linalg.norm(props[-1, :3, 3] - np.array(bpy.data.objects["Desk"].matrix_world)[:3, 3]) < 1e-3
    assert not handling.held(ob, frames[-1])


@pytest.mark.req("kuffner", 22, 80)
@pytest.mark.parametrize("kind", afoot.WAYS)
def test_what_the_whole_body_went_to_take_stays_in_the_hand_on_a_walk(data, kind):
    ob = afoot.enter(kind, data)
    cast = stage.cast_of(ob)
    size = cast.skeleton.leg_length() / 0.86
    prop = put(bottle("Bottle", np.array([-0.2, -0.45, 0.002]) * size, 0.24 * size, 0.033 * size))
    home = np.array(prop.matrix_world)
    stage.still(bpy.data.objects)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", speed=2.0)
    found = results.results_of(ob)[-1]
    record = handling.record_of(found.action)
    last = record["last"]
    assert found.track.name == "Troupe" and set(handling.held(ob, last)) == {record["side"]}
    bpy.context.scene.frame_set(last)
    bpy.ops.troupe.walk(distance=0.7 * size)
    end = round(max(f.strip.frame_end for f in results.results_of(ob)))
    hand = cast.skeleton.names[cast.skeleton.joint(f"hand_{record['side']}")]
    frames = np.concatenate([last + np.arange(-2.0, 5.0), np.linspace(last + 5, end + 9, 12).round()])
    props, hands = matrices(prop, frames), bones(ob, hand, frames)
    rel = np.linalg.inv(hands) @ props
    assert np.abs(rel - rel[0])[:, :3, 3].max() < 1e-4 * size and np.abs(rel - rel[0])[:, :3, :3].max() < 1e-4
    assert hops(props[:7], size)[1] < 2e-3 and max(turn(a, b) for a, b in pairwise(props[:5])) < 0.5
    # the arm does not swing: the bottle stays before the body, and about upright
    assert props[-1, 2, 3] - props[0, 2, 3] > -0.03 * size
    assert max(np.degrees(np.arccos(min(1.0, m[2, 2] / np.linalg.norm(m[:3, 2])))) for m in props) < 12.0
    # below it the arm hangs, which is where it comes back to
    below = handling.pose_below(ob, cast, bpy.context, [record["side"]], end)
    assert below is not None and np.abs(arms_down(cast, below)).max() < 0.5
    # dragged or taken away, all of it goes
    found.strip.frame_start_ui -= 2
    assert handling.realign(ob) == 2 and not list(handling.astray(ob))
    bpy.ops.troupe.remove_result(every=True)
    assert not grip.find(ob) and not prop.constraints
    assert np.abs(matrices(prop, [float(last)])[0] - home).max() < 1e-5 * size


def arms_down(cast, pose):
    """Angles of the upper arms against the vertical [rad]."""
    return afoot.arms(Motion(cast.skeleton, 24.0, pose.root[None], pose.rotations[None]), 0)


def test_grasps_are_saved_with_a_prop_and_used_for_their_purpose():
    ob = stage.actor()
    prop, _ = table(ob)
    bpy.ops.troupe.reach(task="reach", target="Bottle", hand="R", come_back=False, hold=0.0)
    last = round(results.results_of(ob)[-1].action.frame_range[1])
    bpy.context.scene.frame_set(last)
    bpy.ops.troupe.grasp(prop="Bottle", hand="R", shape="cylindrical", purpose="pour")
    (grasp,) = objects.grasps_of(prop)
    assert (grasp.shape, grasp.purposes, grasp.side) == ("cylindrical", ("pour",), "R")
    bpy.ops.troupe.grasp(prop="Bottle", source="form", hand="L", purpose="give")
    assert len(objects.grasps_of(prop)) > 1
    bpy.ops.troupe.remove_result(every=True)
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", purpose="pour")
    record = handling.record_of(results.results_of(ob)[-1].action)
    assert record["side"] == "R" and record["holding"]["grasp"]["purposes"] == ["pour"]
    assert np.allclose(record["holding"]["grasp"]["frame"], grasp.frame)
    with pytest.raises(RuntimeError, match="no grasp for 'drink'"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", purpose="drink", hand="L")
    bpy.ops.troupe.remove_grasp(prop="Bottle", index=0)
    left = objects.grasps_of(prop)
    assert all(g.side == "L" for g in left)
    bpy.ops.troupe.remove_grasp(prop="Bottle", index=0, alike=True)
    after = objects.grasps_of(prop)
    assert len(after) < len(left) - 1 and told(left[0]) not in {told(g) for g in after}
    prop[objects.GRASPS] = "__import__('os')"
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="L")
    bpy.ops.troupe.remove_grasp(prop="Bottle")
    assert not objects.grasps_of(prop)


@pytest.mark.req("kuffner", 5, 73)
def test_a_search_can_be_seen_and_one_that_fails_names_what_is_in_the_way(monkeypatch):
    from troupe.addon import draw
    from troupe.addon.draw import hands
    from troupe.addon.features import sought

    ob = stage.actor()
    table(ob)
    bpy.ops.troupe.reach(task="touch", target="Bottle")
    kept = sought.last(ob)
    assert kept["looks"] > 0 and kept["offences"] == 0 and len(kept["path"]) > 2
    assert 0.2 < kept["length"] < 4.0 and 1.0 < kept["acceleration"] < 200.0
    shown = " / ".join(sought.told(kept | {"seconds": 0.5, "length": 1.25, "nodes": 30, "looks": 400, "gap": 0.004,
                                           "acceleration": 12.0}))  # fmt: skip
    assert shown == (
        "found, 1.25 m long, computed in 0.50 s / 30 nodes, 400 postures checked / clearance 4 mm / no collisions / "
        "peak acceleration 12 m/s\u00b2"
    )
    own = bpy.context.scene.troupe
    own.show_tree = own.show_path = own.show_shapes = True
    lines = hands.search(bpy.context)
    assert set(lines) >= {"way", "view"} and all(len(p) % 2 == 0 for p in lines.values())
    # what the viewport gets, which takes an array as so many bytes: single precision, in one piece
    given = []
    monkeypatch.setitem(sys.modules, "gpu", MagicMock())
    batch = MagicMock(batch_for_shader=lambda shader, kind, data: given.append(data["pos"]) or MagicMock())
    monkeypatch.setitem(sys.modules, "gpu_extras.batch", batch)
    draw.lines(lines, 2.0)
    assert [p.dtype for p in given] == [np.float32] * len(lines) and all(p.flags["C_CONTIGUOUS"] for p in given)
    assert all(np.allclose(p, q, atol=1e-6) for p, q in zip(given, lines.values(), strict=True))
    before = [f.action.name for f in results.results_of(ob)]
    put(box("Lid", (0.2, 0.2, 0.005), (-0.2, -0.4, 1.3)))
    for k, (x, y) in enumerate(((-0.38, -0.4), (-0.02, -0.4), (-0.2, -0.22), (-0.2, -0.58))):
        put(box(f"Wall {k}", (0.005, 0.18, 0.2) if k < 2 else (0.18, 0.005, 0.2), (x, y, 1.1)))
    with pytest.raises(RuntimeError, match=r"Wall|Lid|Table|Bottle|reach"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R", lean=False, step=False, tries=1, budget=100)
    assert [f.action.name for f in results.results_of(ob)] == before


@pytest.mark.req("kuffner", 73)
def test_the_trees_of_a_search_that_found_nothing_are_shown_until_one_finds_something():
    from troupe.addon.draw import hands
    from troupe.addon.features import sought

    ob = stage.actor(skin=False)
    table(ob)
    own = bpy.context.scene.troupe
    own.show_tree = own.show_path = True
    board = put(box("Board", (0.01, 0.25, 0.4), (-0.38, -0.42, 1.1)))
    words = {"target": "Bottle", "hand": "R", "lean": False, "step": False, "crouch": False, "gaze": 0.0}
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"no way around .* was found in 2 rounds with \d+ nodes; there may be one"):
        bpy.ops.troupe.reach(task="reach", budget=2, tries=1, **words)
    assert canon.snapshot() == before
    kept = sought.last(ob)
    assert sought.told(kept) == [
        "no way was found; there may be one",
        f"{kept['nodes']} nodes, {kept['looks']} postures checked",
    ]
    assert len(kept["tree"]) >= 2 and kept["nodes"] > 2 and set(hands.search(bpy.context)) == {"old way"}
    bpy.data.objects.remove(board)
    bpy.ops.troupe.reach(task="reach", **words)
    assert "missed" not in sought.last(ob) and set(hands.search(bpy.context)) >= {"way"}


def test_a_finger_points_at_empties_and_at_other_actors():
    ob = stage.actor(skin=False)
    spot("Star", (-1.0, -3.0, 2.5))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.troupe.mannequin()
    other = bpy.context.object
    other.name, other.location = "Other", (1.5, -2.0, 0.0)
    bpy.context.view_layer.update()
    cast = stage.cast_of(other)
    pose = bake.pose_here(other, cast, bpy.context).pose(0)
    positions, _ = fk.forward(cast.skeleton, pose.rotations, pose.root)
    chest = positions[[cast.skeleton.joint(f"upper_arm_{side}") for side in "LR"]].mean(axis=0)
    skin_of = next(child.name for child in other.children if child.type == "MESH")
    cast = stage.cast_of(ob)
    for target, place in (("Star", (-1.0, -3.0, 2.5)), ("Other", chest), (skin_of, chest)):
        stage.choose(ob)
        bpy.context.scene.frame_set(1)
        bpy.ops.troupe.reach(task="point", target=target, come_back=False, gaze=0.0)
        ((_, record),) = handling.records(ob)
        bpy.context.scene.frame_set(int(record["last"]))
        shown = bake.pose_here(ob, cast, bpy.context).pose(0)
        positions, globals_ = fk.forward(cast.skeleton, shown.rotations, shown.root)
        finger = list(cast.skeleton.chain(f"index_{record['side']}"))
        along = fk.tip_positions(cast.skeleton, positions, globals_)[finger[-1]] - positions[finger[0]]
        away = np.asarray(place) - positions[finger[0]]
        cosine = along @ away / np.linalg.norm(along) / np.linalg.norm(away)
        assert np.degrees(np.arccos(cosine)) < 8.0, target
        bpy.ops.troupe.remove_result(every=True)


@pytest.fixture
def laid():
    """An actor before a laid table, with things about that no hand can deal with."""
    ob = stage.actor(skin=False)
    table(ob)
    spot("Nothing", (0.0, -0.4, 1.0))
    put(box("Far", (0.05, 0.05, 0.05), (0.0, -9.0, 1.0)))
    put(box("Kernel", (0.02, 0.02, 0.02), (0.3, -0.4, 1.2)))
    put(box("Shell", (0.12, 0.12, 0.12), (0.3, -0.4, 1.2)))
    moving = put(box("Moving", (0.03, 0.03, 0.03), (0.0, -0.45, 1.2)))
    for frame, x in ((1, 0.0), (60, -1.2)):
        moving.location.x = x
        moving.keyframe_insert("location", frame=frame)
    for k, name in enumerate(("Hidden", "Ignored", "Hat")):
        put(box(name, (0.03, 0.03, 0.03), (1.0 + k, 1.0, 1.0)))
    bpy.data.objects["Hidden"].hide_set(True)
    bpy.data.objects["Ignored"].troupe.kind = "ignore"
    hat = bpy.data.objects["Hat"]
    hat.troupe.kind, hat.parent, hat.parent_type, hat.parent_bone = "auto", ob, "BONE", "head"
    return ob


@pytest.mark.req("kuffner", 3, 82)
def test_bad_targets_are_named_and_nothing_is_written(laid):
    short = {"lean": False, "step": False, "tries": 1, "budget": 100}
    before = canon.snapshot()
    for words, match in (
        ({"target": "Gone"}, "no object of that name"),
        ({"target": ""}, "choose"),
        ({"target": "Nothing"}, "no visible faces: choose"),
        ({"target": "Hidden"}, "is hidden: show it"),
        ({"target": "Ignored"}, "kind Ignore"),
        ({"target": "Hat"}, f"hangs on {laid.name} and goes where that goes: clear its parent"),
        ({"target": "Hat", "task": "touch"}, f"hangs on {laid.name} .* or set its kind"),
        ({"target": laid.name}, "the actor itself"),
        ({"target": "Moving", "task": "touch"}, "is moving"),
        ({"target": "Far", "task": "touch", **short}, r"Far is 8\.\d+ m out of reach; bring that and the actor nearer"),
        ({"target": "Far", "task": "pick_up", **short}, "Far is .* out of reach"),
        ({"target": "Kernel", "task": "touch", **short}, "Shell"),
        ({"target": "Kernel", "task": "pick_up", **short}, "Shell"),
        ({"task": "put_back"}, "holds nothing"),
        ({"task": "move", "target": "Bottle", "destination": "Nowhere"}, "destination"),
        ({"task": "move", "target": "Bottle", "destination": "Bottle"}, "destination.*is what is taken there"),
        ({"task": "move", "target": "Bottle", "destination": "Far", **short}, "out of reach"),
    ):
        with pytest.raises(RuntimeError, match=match):
            bpy.ops.troupe.reach(**words)
        assert canon.snapshot() == before, words


@pytest.mark.req("kuffner", 3, 82)
@pytest.mark.parametrize("task", ["touch", "point", "pick_up"])
def test_what_has_no_place_or_size_or_is_not_in_this_scene_is_named_with_the_way_out(laid, task):
    bottle_, there, nan = bpy.data.objects["Bottle"], bpy.data.objects["There"], float("nan")
    flat = bpy.data.meshes.new("line")
    flat.from_pydata([(0.0, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.0, 0.05)], [], [(0, 1, 2)])
    bpy.data.scenes.new("Other").collection.objects.link(there)
    bpy.context.scene.collection.objects.unlink(there)
    whole, place = bottle_.data, bottle_.location.copy()
    lost = "has no place, as its location, rotation or scale is no number or too large: clear those"
    words = {"target": "Bottle", "task": task, "lean": False, "step": False}
    for ob, name, value, match in (
        (bottle_, "location", (nan, 0.0, 1.0), f"Bottle {lost}"),
        (bottle_, "rotation_euler", (nan, 0.0, 0.0), f"Bottle {lost}"),
        (bottle_, "location", (float("inf"), 0.0, 1.0), f"Bottle {lost}"),
        (bpy.data.objects["Block"], "rotation_euler", (0.0, 0.0, nan), f"Block {lost}"),
        (bottle_, "scale", (0.0, 0.0, 0.0), "target.*Bottle.*scaled to nothing: give it a scale other than 0"),
        (bottle_, "data", flat, "target.*Bottle.*no visible faces"),
        (bottle_, "hide_viewport", True, "target.*Bottle.*is hidden"),
    ):
        before = getattr(ob, name).copy() if name not in ("data", "hide_viewport") else getattr(ob, name)
        setattr(ob, name, value)
        bpy.context.view_layer.update()
        refused(match, **words)
        setattr(ob, name, before)
    refused("target.*There.*is not in this scene: link it", task=task, target="There")
    assert bottle_.data == whole and bottle_.location == place
    bottle_.troupe.kind = "ignore"
    refused("target.*Bottle.*is of the kind Ignore, .*: give it another kind", **words)
    bottle_.troupe.kind = "prop"
    bottle_.data = bottle_.data.copy()
    bottle_.data.vertices[0].co.x = 1e20
    refused("Bottle has vertices whose places are no numbers or too large: delete them", **words)


@pytest.mark.req("kuffner", 3, 82)
def test_instances_and_parts_of_actors_are_told_from_what_has_no_faces(laid):
    kept = bpy.data.collections.new("Kept")
    kept.objects.link(bpy.data.objects["Bottle"])
    shown = spot("Shown", (0.1, 0.0, 0.0))
    shown.instance_type, shown.instance_collection = "COLLECTION", kept
    cap = put(box("Cap", (0.1, 0.1, 0.05), (0.0, 0.0, 1.8)))
    cap.modifiers.new("skin", "ARMATURE").object = laid
    bpy.context.view_layer.update()
    refused("target.*Shown.*shows instances of a collection: make them real", task="pick_up", target="Shown")
    refused("target.*Cap.*is the actor itself; choose something else", task="touch", target="Cap")
    belt = put(box("Belt", (0.1, 0.1, 0.05), (0.0, 0.0, 1.0)))
    belt.troupe.kind, belt.parent = "auto", laid
    bpy.context.view_layer.update()
    refused("target.*Belt.*hangs on Mannequin .*: choose something else, or set its kind", task="touch", target="Belt")


def test_an_actor_that_is_mirrored_is_told_to_be_turned_over(laid):
    laid.scale.x = -1.0
    bpy.context.view_layer.update()
    refused("Mannequin has a negative scale, .* make its scale positive", task="touch", target="Bottle")
    with pytest.raises(RuntimeError, match=r"Mannequin has a negative scale, .* make its scale positive"):
        bpy.ops.troupe.tidy(litter="Bottle", away="There")


def test_what_keeps_a_result_from_being_seen_is_said_with_it(laid, capfd):
    """Constraints and drivers of bones that it does not key are no matter."""

    def said():
        bpy.ops.troupe.reach(task="touch", target="Bottle", hand="R", gaze=0.0)
        bpy.ops.troupe.remove_result(every=True)
        return "\n".join(line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning"))

    hidden = "moved by constraints or drivers: keys of Troupe would not show"
    assert not said()
    pole = laid.pose.bones[laid.troupe.roles.hand_R].constraints.new("IK")
    pole.target, pole.chain_count = bpy.data.objects["There"], 3
    assert hidden in said()
    pole.mute = True
    laid.pose.bones[laid.troupe.roles.shin_L].constraints.new("COPY_ROTATION").target = laid
    assert hidden not in said()
    laid.data.pose_position = "REST"
    assert "is set to Rest Position" in said()


@pytest.mark.req("kuffner", 3, 82)
def test_what_physics_or_an_actor_moves_is_not_taken(laid):
    """Keys and hands would move nothing of the one, and the other twice."""
    bottle_ = bpy.data.objects["Bottle"]
    bpy.ops.rigidbody.world_add()
    stage.choose(bottle_)
    bpy.ops.rigidbody.object_add()
    stage.choose(laid)
    bpy.context.scene.frame_set(1)
    for match in ("is moved by physics: switch on Animated", "hangs on Mannequin .* clear its parent"):
        for task in ("pick_up", "move", "hand_over"):
            refused(f"target.*Bottle.*{match}", task=task, target="Bottle", destination="There")
        before = canon.snapshot()
        for run, what in (
            (lambda: bpy.ops.troupe.plan(mover="Bottle", goal="There"), "mover"),
            (lambda: bpy.ops.troupe.tidy(litter="Bottle", away="There"), "litter"),
        ):
            with pytest.raises(RuntimeError, match=f"{what}.*Bottle.*{match}"):
                run()
            assert canon.snapshot() == before
        bottle_.rigid_body.kinematic = True
        bottle_.parent = laid
    bottle_.parent = None
    assert bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R", gaze=0.0) == {"FINISHED"}
    record = handling.record_of(results.results_of(laid)[-1].action)
    way = matrices(bottle_, np.arange(record["first"], record["last"] + 1.0))[:, 2, 3]
    assert way[-1] > way[0] + 0.03


def refused(match, **words):
    """Reaching is refused in these words, and nothing has changed."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.troupe.reach(**words)
    assert canon.snapshot() == before, words


@pytest.mark.req("kuffner", 3, 82)
def test_what_is_linked_from_another_file_is_not_keyed(laid, tmp_path):
    """It would be gone when the file is opened again; touched it may be."""
    path = str(tmp_path / "props.blend")
    bpy.data.objects["Bottle"].name = "Flask"
    bpy.data.libraries.write(path, {bpy.data.objects["Flask"]})
    bpy.data.objects.remove(bpy.data.objects["Flask"])
    with bpy.data.libraries.load(path, link=True) as (there, here):
        here.objects = there.objects
    bpy.context.scene.collection.objects.link(here.objects[0])
    bpy.context.view_layer.update()
    mend = "Flask.*is linked from another file: make a library override of it first"
    for task in ("pick_up", "move", "hand_over"):
        refused(f"target.*{mend}", task=task, target="Flask", destination="There")
    before = canon.snapshot()
    for run, what in (
        (lambda: bpy.ops.troupe.grasp(prop="Flask", source="form"), "prop"),
        (lambda: bpy.ops.troupe.plan(mover="Flask", goal="There"), "mover"),
        (lambda: bpy.ops.troupe.tidy(litter="Flask", away="There"), "litter"),
    ):
        with pytest.raises(RuntimeError, match=f"{what}.*{mend}"):
            run()
        assert canon.snapshot() == before
    assert bpy.ops.troupe.reach(task="touch", target="Flask", gaze=0.0) == {"FINISHED"}


@pytest.mark.req("kuffner", 3, 82)
def test_bad_destinations_are_named_and_nothing_is_written(laid):
    there, known = bpy.data.objects["There"], {"task": "move", "target": "Bottle", "destination": "There"}
    there.rotation_euler.x = float("nan")
    bpy.context.view_layer.update()
    refused("There has no place", **known)
    there.rotation_euler.x = 0.0
    there.location.x = 1e8
    bpy.context.view_layer.update()
    far = r"(left|right) hand: where Bottle is to go is \d+\.\d\d m out of reach; bring that and the actor nearer"
    refused(far, **{**known, "tries": 1, "budget": 60})
    bpy.data.scenes.new("Other").collection.objects.link(there)
    bpy.context.scene.collection.objects.unlink(there)
    refused("destination.*There.*is not in this scene", **known)
    refused("destination.*There.*is not in this scene", **{**known, "task": "hand_over"})
    bpy.data.objects.remove(there)
    refused("destination.*There.*no object of that name", **known)
    refused("destination.*Bottle.*is what is taken there: choose another", **{**known, "destination": "Bottle"})
    refused("destination.*Mannequin.*is an actor: choose a thing or an empty", **{**known, "destination": laid.name})
    refused("destination.*choose where it is to go", **{**known, "destination": ""})
    bpy.data.objects["Bottle"].location.x = 1e8
    bpy.context.view_layer.update()
    refused("is 100000000 m away.*walk there first", task="pick_up", target="Bottle")


@pytest.mark.parametrize(
    ("name", "value"),
    [("scale", (0, 0, 0)), ("scale", (1, 1, 0)), ("location", (1e38, 0, 0)), ("rotation_euler", None)],
)
def test_an_actor_without_place_or_size_is_told_how_to_mend_it(laid, name, value):
    laid.rotation_mode = "XYZ"
    setattr(laid, name, value or (float("nan"), 0.0, 0.0))
    bpy.context.view_layer.update()
    before = canon.snapshot()
    for run in (
        lambda: bpy.ops.troupe.reach(task="touch", target="Bottle"),
        lambda: bpy.ops.troupe.look(target="There"),
        lambda: bpy.ops.troupe.grasp(prop="Bottle", source="form"),
        lambda: bpy.ops.troupe.tidy(litter="Bottle", away="There"),
    ):
        with pytest.raises(RuntimeError, match="Mannequin has no place or no size: clear its location, rotation and"):
            run()
        assert canon.snapshot() == before


def test_a_pose_that_is_no_number_is_named(laid):
    hips = laid.troupe.roles.hips
    laid.pose.bones[hips].location.x = float("nan")
    bpy.context.view_layer.update()
    refused(rf"Mannequin: the pose of {hips} is no number: clear it \(Alt G", task="touch", target="Bottle")


def test_nothing_of_what_is_scaled_to_nothing_is_in_the_way(laid):
    bpy.data.objects["Block"].scale = (0.0, 0.0, 0.0)
    bpy.data.objects["Shell"].scale = (1.0, 1.0, 0.0)
    bpy.context.view_layer.update()
    assert bpy.ops.troupe.reach(task="touch", target="Bottle", hand="R") == {"FINISHED"}


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (-1.0, -1.0, -1.0)])
def test_a_mirrored_prop_is_put_down_as_its_place_says(laid, scale):
    """With the scale that is its own, not turned over: what counts is its rotation."""
    prop, there = bpy.data.objects["Bottle"], bpy.data.objects["There"]
    if scale[2] < 0:  # its origin is at the bottom: upside down it would be in the table
        prop.data = prop.data.copy()
        for vertex in prop.data.vertices:
            vertex.co.z *= -1.0
    prop.scale, prop.rotation_euler.z, there.rotation_euler.z = scale, 0.4, 0.1
    bpy.context.view_layer.update()
    bpy.ops.troupe.reach(task="move", target="Bottle", destination="There", gaze=0.0)
    record = handling.record_of(results.results_of(laid)[-1].action)
    shown = matrices(prop, [float(record["last"])])[0]
    wanted = np.array(there.matrix_world) @ np.diag([*scale, 1.0])
    assert np.abs(shown - wanted).max() < 1e-3


def test_an_arm_of_less_than_three_bones_is_refused(laid):
    for role in ("hand_R", "forearm_L"):
        bone = getattr(laid.troupe.roles, role)
        setattr(laid.troupe.roles, role, "")
        before = canon.snapshot()
        for run in (
            lambda: bpy.ops.troupe.reach(task="touch", target="Bottle"),
            lambda: bpy.ops.troupe.tidy(litter="Bottle", away="There"),
            lambda: bpy.ops.troupe.serve(tables="Bottle"),
        ):
            with pytest.raises(RuntimeError, match=f"no bone plays {role}; set these roles in the Cast panel"):
                run()
        assert canon.snapshot() == before
        setattr(laid.troupe.roles, role, bone)


@pytest.mark.req("kuffner", 101)
@pytest.mark.parametrize("removed", ["", "Bottle"])
def test_esc_in_the_middle_of_a_plan_and_a_target_that_goes_meanwhile_change_nothing(laid, removed):
    params = ReachParams(task="pick_up", target="Bottle", hand="R")
    click = Click(reach.Operator, reach.Operator.plan_steps(bpy.context, laid, params, LandingParams(), None))
    search = click.until_it_searches()
    if removed:
        bpy.data.objects.remove(bpy.data.objects[removed])
    before = canon.snapshot()
    if not removed:
        click.stops(search)
    else:
        assert click.rest() == {"CANCELLED"} and click.said[0][0] == "ERROR" and "removed" in click.said[0][1]
    assert canon.snapshot() == before


@pytest.mark.req("kuffner", 60, 101)
def test_esc_while_something_is_looked_for_changes_nothing():
    ob = stage.actor(skin=False)
    screened(ob)
    params = ReachParams(task="pick_up", target="Bottle", search=True)
    for wait in (0, 5, 25):
        click = Click(reach.Operator, reach.Operator.plan_steps(bpy.context, ob, params, LandingParams(), None))
        before = canon.snapshot()
        hunt = click.until_it_searches()
        for _ in range(wait):
            next(click._steps)
        assert click.esc() == {"CANCELLED"} and click.said == [("WARNING", "Reach was stopped; nothing has changed")]
        hunt.join(60.0)
        assert not hunt.is_alive() and canon.snapshot() == before


@pytest.mark.req("kuffner", 81, 107)
def test_the_bottle_at_the_laid_table_is_moved_without_touching_anything_else():
    """What Blender shows, at frames and half frames, against the triangles of the scene."""
    demo.build(bpy.context)
    ob, prop = bpy.data.objects["Mannequin"], bpy.data.objects["bottle"]
    record = handling.record_of(results.results_of(ob)[-1].action)
    first, last = record["first"], record["last"]
    shown = bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))
    bpy.context.scene.frame_set(1)
    world = scene.read_world(bpy.context)
    side = record["side"]
    touching = {(f"{part}_{side}", "bottle") for part in HAND} | {("bottle", "table")}
    moved = {"bottle": matrices(prop, np.arange(first, last + 1))}
    assert not penetrations(shown, world, moved, sides=(side,), touching=touching)
    # and the skin of the arms, as it is drawn: a hand may touch what it holds
    held = {(f"{ob.name} {part}_{side}", "bottle") for part in HAND}
    halves = np.arange(2 * (last - first) + 1) / 2.0 + first
    assert not skin.deepest(bpy.context, [ob], halves, held)
    taken = np.array([record["taken"] - 0.5, record["taken"]])
    name = stage.cast_of(ob).skeleton.names[stage.cast_of(ob).skeleton.joint(f"hand_{side}")]
    bpy.data.objects["table"].location.z = bones(ob, name, taken)[1, 2, 3]
    bpy.context.view_layer.update()
    found = skin.deepest(bpy.context, [ob], taken, held)
    assert (f"{ob.name} palm_{side}", "table") in {(row.part, row.body) for row in found}, "a table as high as the hand"


def test_one_actor_hands_a_bottle_to_another_who_then_holds_it():
    ob = stage.actor()
    prop, _ = table(ob)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", hand="R")
    frame = handling.record_of(results.results_of(ob)[-1].action)["last"]
    for name in ("Table", "Block"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bpy.context.scene.frame_set(frame)
    other = stage.actor()
    other.location, other.rotation_euler.z = (0.0, -0.95, 0.0), np.pi
    bpy.context.view_layer.update()
    stage.still(bpy.data.objects)
    stage.choose(ob)
    bpy.ops.troupe.reach(task="hand_over", destination=other.name)
    gave = handling.record_of(results.results_of(ob)[-1].action)
    took = handling.record_of(results.results_of(other)[-1].action)
    closed = int(gave["released"])
    assert took["taken"] == closed and not handling.held(ob, closed) and set(handling.held(other, closed + 1))
    around = matrices(prop, np.array([closed - 1, closed, closed + 1, gave["last"] + 5]))
    steps = np.linalg.norm(np.diff(around[:3, :3, 3], axis=0), axis=1)
    assert steps.max() < 1e-3 and turn(around[0], around[1]) < 0.5 and turn(around[1], around[2]) < 0.5
    hand = stage.cast_of(other).skeleton
    bone = hand.names[hand.joint(f"hand_{took['side']}")]
    frames = np.array([closed + 1.0, closed + 6.5, took["last"] + 3.0])
    rel = np.linalg.inv(bones(other, bone, frames)) @ matrices(prop, frames)
    assert np.abs(rel - rel[0]).max() < 1e-4


def test_a_bottle_on_the_floor_is_fetched_and_handed_over_with_one_click():
    demo.fetch(bpy.context)
    anna, ben, prop = (bpy.data.objects[name] for name in ("Anna", "Ben", "bottle"))
    gave, took = (handling.record_of(results.results_of(ob)[-1].action) for ob in (anna, ben))
    closed = int(gave["released"])
    assert 1 < gave["taken"] < closed == took["taken"]
    assert not handling.held(anna, closed) and set(handling.held(ben, closed + 1)) == {took["side"]}
    for ob, record, frames in ((anna, gave, (gave["taken"], closed)), (ben, took, (closed, took["last"]))):
        hand = stage.cast_of(ob).skeleton
        at = np.linspace(frames[0] + 1.0, frames[1] - 1.0, 5)
        bone = hand.names[hand.joint(f"hand_{record['side']}")]
        rel = np.linalg.inv(bones(ob, bone, at)) @ matrices(prop, at)
        assert np.abs(rel - rel[0]).max() < 1e-4
    held = {(f"{ob.name} {p}_{r['side']}", "bottle") for ob, r in ((anna, gave), (ben, took)) for p in HAND}
    assert not depths.deepest(7.5, held)


@pytest.mark.parametrize("around", ["room", "sky"])
def test_in_a_room_of_one_mesh_or_under_a_sky_it_works_as_in_the_open(around):
    ob = stage.actor()
    prop, size = table(ob)
    for name in ("Table", "Block", "Bottle", "There"):
        bpy.data.objects[name].location.y -= 0.5 * size
    if around == "room":
        bpy.ops.mesh.primitive_cube_add(size=6.0, location=(0.0, 0.0, 3.0))
    else:
        bpy.ops.mesh.primitive_uv_sphere_add(radius=20.0)
    bpy.context.object.name = "Around"
    bpy.context.view_layer.update()
    stage.choose(ob)
    goal = np.array(bpy.data.objects["There"].location)
    assert bpy.ops.troupe.reach(task="move", target="Bottle", destination="There") == {"FINISHED"}
    bpy.context.scene.frame_end = last = int(handling.record_of(results.results_of(ob)[-1].action)["last"])
    assert np.abs(matrices(prop, [last])[0, :3, 3] - goal).max() < 0.002
    assert not depths.deepest(5.0, {(f"Mannequin {part}_{s}", "Bottle") for part in HAND for s in "LR"})


def test_a_result_is_made_again_alike_and_removing_it_leaves_the_prop_where_it_was():
    ob = stage.actor()
    prop, _ = table(ob)
    stage.still(bpy.data.objects)
    before = np.array(prop.matrix_world)
    bpy.ops.troupe.reach(task="move", target="Bottle", destination="There", gaze=0.0)
    (found,) = results.results_of(ob)
    keys, record = canon.keys_of(found.action), handling.record_of(found.action)
    bpy.context.scene.frame_set(record["last"] + 5)
    there = np.array(prop.matrix_world)
    bpy.ops.troupe.regenerate()
    assert canon.keys_of(results.results_of(ob)[0].action) == keys
    assert handling.record_of(results.results_of(ob)[0].action) == record
    assert np.allclose(matrices(prop, [record["last"] + 5.0])[0], there, atol=1e-5)
    assert len([s for t in prop.animation_data.nla_tracks for s in t.strips]) == 1 and len(prop.constraints) == 1
    bpy.ops.troupe.remove_result(every=True)
    assert not len(prop.constraints) and np.allclose(matrices(prop, [40.0])[0], before, atol=1e-5)


@pytest.mark.req("kuffner", 60)
def test_what_an_actor_does_not_see_it_does_not_take():
    ob = stage.actor()
    table(ob)
    put(box("Screen", (0.3, 0.01, 0.3), (-0.2, -0.3, 1.25)))
    with pytest.raises(RuntimeError, match="does not see Bottle"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", sighted=True)
    assert not results.results_of(ob)


def test_skin_is_told_apart_on_a_rig_whose_joints_deform_nothing(data):
    ob = afoot.enter("rigify", data)
    (bare,) = finish(skin.arms_steps(bpy.context, [ob], np.array([1.0])))
    assert bare[0].shape == (1, 0, 3) and bare[1] == []
    deforming = {"DEF-upper_arm.R.001": "upper_arm_R", "DEF-forearm.R.001": "forearm_R", "DEF-hand.R": "palm_R"}
    deforming |= {"DEF-f_index.02.R": "fingers_R", "DEF-thumb.01.R": "thumb_R", "DEF-spine": None, "DEF-thigh.R": None}
    mesh = afoot.mesh("Skin", [ob.data.bones[name].head_local for name in deforming], [])
    mesh.modifiers.new("Armature", "ARMATURE").object = ob
    for k, name in enumerate(deforming):
        mesh.vertex_groups.new(name=name).add((k,), 1.0, "REPLACE")
    ((points, parts),) = finish(skin.arms_steps(bpy.context, [ob], np.array([1.0])))
    assert parts == [part for part in deforming.values() if part] and points.shape == (1, len(parts), 3)


def test_hips_of_a_control_rig_stay_while_the_trunk_leans(data):
    ob = afoot.enter("rigify", data)
    cast = stage.cast_of(ob)
    here = bake.start_here(ob, cast, bpy.context).here
    spine = list(cast.skeleton.roles["spine"])
    turned = np.repeat(here.rotations, 3, axis=0)
    lean = quat.about(np.array([1.0, 0.0, 0.0]), np.radians(12.0) / len(spine))
    turned[1:, spine] = quat.multiply(turned[1:, spine], lean)
    named = ("spine", "neck", "head", "upper_arm_R", "forearm_R", "hand_R")
    spoken = [j for role in named for j in cast.skeleton.roles.get(role, ())]
    mask = np.isin(np.arange(len(cast.skeleton)), spoken)
    motion = Motion(cast.skeleton, 24.0, np.repeat(here.roots, 3, axis=0), turned, mask=mask)
    bake.write(ob, bake.prepare(ob, cast, motion, bpy.context, 1, root="hips"), bpy.context, "Lean")
    shown = bake.read(ob, cast, bpy.context, frames=(1, 3))
    places = fk.forward(cast.skeleton, shown.rotations, shown.roots)[0]
    meant = fk.forward(cast.skeleton, motion.rotations, motion.roots)[0]
    hand, head = cast.skeleton.joint("hand_R"), cast.skeleton.joint("head")
    assert np.linalg.norm(meant[2, head] - meant[0, head]) > 0.05
    assert np.abs(places[2] - meant[2])[[0, hand, head]].max() < 1e-3


def screened(ob):
    """A bottle on a table behind a screen, and a floor to walk on; the bottle and how large all that is."""
    prop, size = table(ob)
    ground = float(min(np.array(ob.matrix_world @ ob.pose.bones[n].head)[2] for n in stage.cast_of(ob).skeleton.names))
    half = np.array([3.0, 3.0, 0.05]) * size
    put(box("Floor", half, (0.0, 0.0, min(ground, 0.0) - half[2]), kind="ground"))
    put(box("Screen", np.array([0.3, 0.01, 0.3]) * size, np.array([-0.2, -0.3, 1.25]) * size))
    return prop, size


@pytest.mark.req("kuffner", 60)
@pytest.mark.parametrize("kind", afoot.WAYS)
def test_what_an_actor_does_not_see_it_looks_for_when_it_is_told_to(data, kind):
    ob = afoot.enter(kind, data)
    cast = stage.cast_of(ob)
    prop, size = screened(ob)
    assert bpy.ops.troupe.reach(task="pick_up", target="Bottle", search=True) == {"FINISHED"}
    (fader,) = results.results_of(ob)
    record = handling.record_of(fader.action)
    first, taken, last = (round(record[key]) for key in ("first", "taken", "last"))
    assert record["prop"] == "Bottle" and record["released"] is None and taken < last
    frames = np.concatenate([np.linspace(first, taken - 1, 9).round(), np.arange(taken, last + 0.25, 0.5)])
    hand = cast.skeleton.names[cast.skeleton.joint(f"hand_{record['side']}")]
    places, wrist = matrices(prop, frames), bones(ob, hand, frames)
    assert np.abs(places[frames <= taken] - places[0]).max() < 1e-4 * size
    # from where it is taken it goes along
    held = np.linalg.inv(wrist[frames >= taken]) @ places[frames >= taken]
    assert np.abs(held - held[-1]).max() < 1e-3 * np.abs(held).max()
    assert places[-1, 2, 3] > places[0, 2, 3] + 0.03 * size
    hips = bones(ob, cast.skeleton.names[0], [first, taken])[:, :2, 3]
    assert np.hypot(*(hips[1] - hips[0])) > 0.2 * size
    if kind == "mannequin":
        bpy.context.scene.frame_set(1)
        assert bpy.ops.troupe.regenerate() == {"FINISHED"} and len(results.results_of(ob)) == 1
        assert np.abs(matrices(prop, frames) - places).max() < 1e-4
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.remove_result(every=True)
    assert np.abs(matrices(prop, frames[:2]) - places[0]).max() < 1e-6 * size
    assert not grip.find(ob) and not prop.constraints


@pytest.mark.req("kuffner", 60)
def test_what_is_not_to_be_found_leaves_the_scene_as_it_was():
    ob = stage.actor()
    screened(ob)
    for k, (x, y) in enumerate(((-0.4, -0.4), (0.0, -0.4), (-0.2, -0.55), (-0.2, -0.25))):
        half = (0.005, 0.17, 0.3) if k < 2 else (0.2, 0.005, 0.3)
        put(box(f"Side {k}", half, (x, y, 1.2)))
    put(box("Lid", (0.25, 0.2, 0.005), (-0.2, -0.4, 1.51)))
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"does not find Bottle: it looked from \d+ places"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", search=True)
    assert canon.snapshot() == before and not results.results_of(ob)


def test_what_somebody_holds_is_taken_by_nobody_else_and_one_thing_not_by_two_at_once():
    ob = stage.actor(skin=False)
    table(ob)
    bpy.ops.troupe.mannequin()
    other = bpy.context.object
    other.location = (-0.2, -1.0, 0.0)
    other.rotation_euler.z = np.pi
    bpy.context.view_layer.update()
    for name in (ob.name, other.name):
        bpy.data.objects[name].select_set(True)
    refused(f"only one can take Bottle: select one of .*{ob.name}.* alone", task="pick_up", target="Bottle")
    stage.choose(ob)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", gaze=0.0)
    last = int(handling.records(ob)[-1][1]["last"])
    stage.choose(other)
    bpy.context.scene.frame_set(last)
    held = rf"Bottle.*is in a hand of {ob.name} at frame {last}: let {ob.name} hand it over to {other.name}"
    for task in ("pick_up", "move"):
        refused(held, task=task, target="Bottle", destination="There")
    bpy.context.scene.frame_set(1)
    with pytest.raises(RuntimeError, match="Bottle is moving"):
        bpy.ops.troupe.reach(task="pick_up", target="Bottle", gaze=0.0)


@pytest.mark.parametrize("task", ["put_back", "let_go"])
def test_a_hand_that_gives_up_what_it_holds_does_the_same_when_it_is_made_again(task):
    ob = stage.actor(skin=False)
    table(ob)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle")
    bpy.context.scene.frame_set(int(handling.records(ob)[-1][1]["last"]) + 5)
    bpy.ops.troupe.reach(task=task)
    result = ob.troupe.result
    before = canon.keys_of(bpy.data.actions[result])
    bpy.ops.troupe.regenerate()
    after = canon.keys_of(bpy.data.actions[result])
    assert after.keys() == before.keys()
    assert all(np.allclose(after[path], keys, atol=1e-4) for path, keys in before.items())


def test_a_thing_stays_where_it_was_when_only_its_taking_is_removed():
    ob = stage.actor(skin=False)
    prop, _ = table(ob)
    stage.still(bpy.data.objects)
    home = np.array(prop.matrix_world)
    bpy.ops.troupe.reach(task="pick_up", target="Bottle", gaze=0.0)
    taken = ob.troupe.result
    last = float(handling.records(ob)[-1][1]["last"])
    bpy.context.scene.frame_set(int(last) + 5)
    bpy.ops.troupe.reach(task="put_back", gaze=0.0)
    bpy.ops.troupe.remove_result(result=taken)
    assert np.abs(matrices(prop, [-10.0, 1.0, last]) - home).max() < 1e-5
    bpy.ops.troupe.remove_result(every=True)
    assert np.abs(matrices(prop, [1.0, last, last + 100.0]) - home).max() < 1e-5
