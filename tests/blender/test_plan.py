"""Plan in Blender: things and machines go around what is in the way, and their keys are where they were planned."""

import time
from itertools import pairwise

import bpy
import canon
import depths
import numpy as np
import pytest
import stage
from clicks import Click
from test_reach import matrices, put, spot
from troupe.addon.bake import curves
from troupe.addon.demos import demos
from troupe.addon.demos import plan as demo
from troupe.addon.draw import hands
from troupe.addon.features import plan, sought
from troupe.addon.scene import machines
from troupe.core.planning.plan import PlanParams
from troupe.core.planning.spaces.set_pieces import box
from troupe.core.planning.spaces.surfaces import in_others
from troupe.core.world import World


def wall():
    """A crate, a wall with a gap in it, and a place behind it."""
    bodies = [
        box("Crate", (0.2, 0.35, 0.2), (0.0, -1.0, 0.21)),
        box("Left", (0.9, 0.05, 0.6), (-1.2, 0.0, 0.6)),
        box("Right", (0.9, 0.05, 0.6), (1.2, 0.0, 0.6)),
    ]
    for body in bodies:
        put(body)
    spot("Goal", (0.1, 1.0, 0.21))
    return bodies


@pytest.mark.req("kuffner", 78)
@pytest.mark.parametrize("moves", ["space", "floor"])
def test_a_crate_goes_through_a_gap_that_it_fits_only_one_way(moves):
    bodies = wall()
    crate = bpy.data.objects["Crate"]
    crate.rotation_euler.z = np.radians(80.0)
    bpy.context.view_layer.update()
    start = np.array(crate.matrix_world)
    bpy.ops.troupe.plan(mover="Crate", goal="Goal", moves=moves, room=1.0)
    (strip,) = crate.animation_data.nla_tracks[0].strips
    frames = np.arange(1, round(strip.frame_end) + 1)
    shown = matrices(crate, frames)
    assert np.abs(shown[0] - start).max() < 1e-4
    assert np.abs(shown[-1] - np.array(bpy.data.objects["Goal"].matrix_world)).max() < 1e-4
    moved = box("Crate", (0.2, 0.35, 0.2))
    moved = type(moved)(moved.name, 0, moved.vertices, moved.triangles, shown)
    assert not in_others(moved, World(tuple(bodies[1:])))
    kept = sought.last(crate)
    assert kept["nodes"] > 2 and kept["offences"] == 0 and kept["gap"] is not None
    own = bpy.context.scene.troupe
    own.show_tree = own.show_path = own.show_shapes = True
    crate.select_set(False)
    # it is the one that the panel names
    assert own.plan.mover == "Crate" and plan.shown_mover(bpy.context) == crate
    assert set(hands.search(bpy.context)) == {"old way", "way", "view"}
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.plan(mover="Crate", goal="Goal", moves=moves, room=1.0, speed=2.0)
    assert len([s for t in crate.animation_data.nla_tracks for s in t.strips]) == 1


def test_a_robot_brings_its_hand_to_an_object_within_its_limits_and_takes_a_pose():
    arm = demo._robot(bpy.context)
    put(box("Post", (0.05, 0.05, 0.8), (0.45, 0.05, 0.8)))
    goal = spot("There", (0.35, -0.5, 0.9))
    before = np.array(arm.pose.bones["hand"].tail)
    bpy.ops.troupe.plan(mover="Robot", goal="There", orient=False)
    (strip,) = arm.animation_data.nla_tracks[0].strips
    last = round(strip.frame_end)
    bpy.context.scene.frame_set(1)
    assert np.linalg.norm(np.array(arm.pose.bones["hand"].tail) - before) < 1e-4
    bpy.context.scene.frame_set(last)
    assert np.linalg.norm(np.array(arm.pose.bones["hand"].tail) - np.array(goal.location)) < 1e-3
    for name, _, _, axis, limit in demo.LINKS:
        turned = np.degrees(arm.pose.bones[name].rotation_euler)
        number = "xyz".index(axis)
        assert abs(turned[number]) < limit + 1e-3 and np.abs(np.delete(turned, number)).max() < 1e-3
        assert list(machines.limits(arm.pose.bones[name])) == [number]
    pose = bpy.data.actions.new("Home")
    turned = curves.Channel('pose.bones["column"].rotation_euler', np.array([[-0.5]]), "column", index=1)
    curves.write(curves.bag(arm, pose), [turned], np.array([1.0]))
    bpy.ops.troupe.plan(mover="Robot", action="Home")
    end = round(max(s.frame_end for t in arm.animation_data.nla_tracks for s in t.strips))
    bpy.context.scene.frame_set(end)
    assert arm.pose.bones["column"].rotation_euler.y == pytest.approx(-0.5, abs=1e-4)


@pytest.mark.req("kuffner", 78, 107)
@pytest.mark.parametrize("name", ["plan", "plan.robot"])
def test_a_piano_and_a_robot_go_through_nothing(name):
    demos("plan")[name].build(bpy.context)
    # two boxes of the robot overlap at the hinge between them, however it is turned
    links = [f"Robot {link[0]}" for link in demo.LINKS]
    assert not depths.deepest(0.5, {*pairwise(links)})


def refused(match, **words):
    """Planning is refused in these words, and nothing has changed."""
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.troupe.plan(**words)
    assert canon.snapshot() == before, words


@pytest.mark.req("kuffner", 3, 73, 82)
def test_what_cannot_be_planned_is_said_and_nothing_changes():
    wall()
    put(box("Lump", (0.5, 0.5, 0.5), (0.0, 1.0, 0.5)))
    bare = bpy.data.objects.new("Bare", bpy.data.meshes.new("Bare"))
    bpy.context.scene.collection.objects.link(bare)
    spot("High", (0.1, 1.0, 3.0))
    actor = stage.actor(skin=False)
    actor.location.x = 6.0
    for words, match in (
        ({"mover": "Crate", "goal": "Goal"}, "at its goal it touches Lump"),
        ({"mover": "Gone", "goal": "Goal"}, "mover.*Gone.*no object of that name"),
        ({"mover": "Crate", "goal": "Gone"}, "goal.*Gone.*no object of that name"),
        ({"mover": "Crate", "goal": ""}, "choose"),
        ({"mover": "Goal", "goal": "Crate"}, "mover.*Goal.*no visible faces"),
        ({"mover": "Bare", "goal": "Crate"}, "mover.*Bare.*no visible faces"),
        ({"mover": "Crate", "goal": "Crate"}, "goal.*Crate.*is what goes"),
        ({"mover": "Crate", "goal": "High", "moves": "floor"}, "goal, which is 2.79 m higher"),
        ({"mover": "Crate", "goal": "Goal", "ignore": "Lump, Lumpp"}, "ignore.*Lumpp.*no object of that name"),
        ({"mover": actor.name, "goal": "Goal"}, f"{actor.name}.*is an actor"),
    ):
        refused(match, **words)


@pytest.mark.req("kuffner", 3, 82)
def test_what_has_no_place_or_size_or_is_not_in_this_scene_is_named_and_nothing_changes():
    wall()
    crate, goal, nan = bpy.data.objects["Crate"], bpy.data.objects["Goal"], float("nan")
    lost = "has no place, as its location, rotation or scale is no number or too large: clear those"
    for ob, name, value, match in (
        (crate, "location", (nan, 0.0, 0.0), f"Crate {lost}"),
        (crate, "rotation_euler", (0.0, nan, 0.0), f"Crate {lost}"),
        (crate, "location", (1e8, 0.0, 0.0), r"its goal is \d+ m away, too far for its size"),
        (crate, "scale", (0.0, 0.0, 0.0), "mover.*Crate.*scaled to nothing"),
        (goal, "rotation_euler", (nan, 0.0, 0.0), f"Goal {lost}"),
        (bpy.data.objects["Left"], "rotation_euler", (nan, 0.0, 0.0), f"Left {lost}"),
    ):
        before = getattr(ob, name).copy()
        setattr(ob, name, value)
        bpy.context.view_layer.update()
        refused(match, mover="Crate", goal="Goal")
        setattr(ob, name, before)
    bpy.data.scenes.new("Other").collection.objects.link(goal)
    bpy.context.scene.collection.objects.unlink(goal)
    refused("goal.*Goal.*is not in this scene: link it", mover="Crate", goal="Goal")
    refused("mover.*Goal.*is not in this scene: link it", mover="Goal", goal="Crate")


@pytest.mark.parametrize("scale", [(-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (-1.0, -1.0, -1.0), (2.0, 0.5, 1.0)])
def test_a_thing_with_a_scale_of_its_own_goes_from_where_it_is_to_the_goal(scale):
    put(box("Crate", (0.2, 0.35, 0.2), (0.0, -1.0, 0.41)))
    crate, goal = bpy.data.objects["Crate"], spot("Goal", (1.0, 1.0, 0.41))
    crate.scale, crate.rotation_euler.z, goal.rotation_euler.z = scale, 0.5, -0.3
    bpy.context.view_layer.update()
    start = np.array(crate.matrix_world)
    bpy.ops.troupe.plan(mover="Crate", goal="Goal")
    (strip,) = crate.animation_data.nla_tracks[0].strips
    shown = matrices(crate, [1.0, round(strip.frame_end)])
    assert np.abs(shown[0] - start).max() < 1e-4
    assert np.abs(shown[1] - np.array(goal.matrix_world) @ np.diag([*scale, 1.0])).max() < 1e-4


@pytest.mark.req("kuffner", 73, 82)
@pytest.mark.parametrize("moves", ["floor", "space"])
def test_a_goal_or_start_that_is_walled_in_is_said_with_the_wall(moves):
    wall()
    put(box("Bar", (0.4, 0.05, 0.6), (0.0, 0.0, 0.6)))
    refused(r"no way around (Bar|Left|Right)", mover="Crate", goal="Goal", moves=moves, room=0.2, budget=20)
    # what the search looked at can be seen all the same, and nothing is claimed
    crate, own = bpy.data.objects["Crate"], bpy.context.scene.troupe
    assert sought.told(sought.last(crate))[0] == "no way was found; there may be one"
    own.show_tree = own.show_path = True
    crate.select_set(True)
    assert set(hands.search(bpy.context)) == {"old way"}
    for k, (x, y) in enumerate(((-0.6, -1.0), (0.6, -1.0), (0.0, -1.6), (0.0, -0.4))):
        put(box(f"Cell {k}", (0.05, 0.65, 0.6) if k < 2 else (0.65, 0.05, 0.6), (x, y, 0.6)))
    put(box("Base", (3.0, 3.0, 0.02), (0.0, 0.0, -0.03)))
    put(box("Lid", (0.7, 0.7, 0.02), (0.0, -1.0, 1.22)))
    walls = r"no way around (Cell|Bar|Lid|Left|Right|Base)"
    refused(walls, mover="Crate", goal="Goal", moves=moves, room=1.0, budget=20)


@pytest.mark.req("kuffner", 3, 82)
def test_what_a_robot_cannot_do_is_said_and_nothing_changes():
    arm = demo._robot(bpy.context)
    spot("Far", (5.0, 0.0, 1.0))
    other = bpy.data.actions.new("Other")
    none = bpy.data.objects.new("None", bpy.data.armatures.new("None"))
    bpy.context.scene.collection.objects.link(none)
    bpy.context.view_layer.update()
    for words, match in (
        ({"mover": "Robot"}, "goal.*choose an object for its last bone, or an action"),
        ({"mover": "Robot", "goal": "Gone"}, "goal.*Gone.*no object of that name"),
        ({"mover": "Robot", "action": "Gone"}, "action.*Gone.*no action of that name"),
        ({"mover": "Robot", "action": other.name}, "action.*Other.*has no keys for the bones of Robot"),
        ({"mover": "Robot", "goal": "Far", "tip": "tail"}, "tip.*tail.*Robot has no such bone"),
        ({"mover": "Robot", "goal": "Far", "orient": False}, r"reach Far: .* 3\.8\d+ m are left; move one"),
        ({"mover": "None", "goal": "Far"}, "None has no bones"),
    ):
        refused(match, **words)
    for bone in arm.pose.bones:
        bone.lock_rotation = (True, True, True)
    refused("no bone of Robot may turn", mover="Robot", goal="Far")


@pytest.mark.req("kuffner", 101)
def test_esc_is_heard_and_progress_only_grows_while_something_dense_is_planned():
    wall()
    bpy.ops.mesh.primitive_uv_sphere_add(segments=500, ring_count=300, radius=0.2, location=(0.0, -1.0, 0.3))
    given = PlanParams(mover=bpy.context.object.name, goal="Goal", room=1.0, ignore="Crate")
    click = Click(plan.Operator, None)
    work = plan.Operator.compute_steps(click, bpy.context, None, given)
    shares, waits = [], []
    begun = time.thread_time()
    for share in work:
        shares.append(share)
        waits.append(time.thread_time() - begun)
        begun = time.thread_time()
    assert len(shares) > 5 and shares == sorted(shares) and shares[-1] <= 1.0
    assert max(waits) < 0.6


@pytest.mark.req("kuffner", 101)
@pytest.mark.parametrize("removed", ["", "Crate", "Goal"])
def test_esc_in_the_middle_of_a_search_and_what_goes_meanwhile_change_nothing(removed):
    wall()
    put(box("Bar", (0.4, 0.05, 0.6), (0.0, 0.0, 0.6)))
    if removed:
        bpy.data.objects.remove(bpy.data.objects["Bar"])
    given = PlanParams(mover="Crate", goal="Goal", moves="floor", room=1.0 if removed else 0.2, budget=10_000_000)
    click = Click(plan.Operator, None)
    click.feature = plan.Operator.feature
    route = plan.Operator.compute_steps(click, bpy.context, None, given)

    def steps():
        result = yield from route
        click.report({"INFO"}, plan.Operator.apply(click, bpy.context, None, result))

    click._steps = steps()
    search = click.until_it_searches()
    if removed:
        bpy.data.objects.remove(bpy.data.objects[removed])
    before = canon.snapshot()
    if not removed:
        click.stops(search)
    elif removed == "Goal":  # where it was, the crate goes
        assert click.rest() == {"FINISHED"}
        return
    else:
        assert click.rest() == {"CANCELLED"}
        ((level, said),) = click.said
        assert level == "ERROR" and "removed" in said
    assert canon.snapshot() == before


@pytest.mark.parametrize("frame", [1, 50])
def test_before_its_way_a_thing_without_keys_is_where_it_was(frame):
    put(box("Crate", (0.2, 0.2, 0.2), (-2.0, -1.0, 0.2)))
    spot("Goal", (-2.0, 1.0, 0.2))
    crate = bpy.data.objects["Crate"]
    crate.rotation_euler.z = 0.4
    bpy.context.view_layer.update()
    start = np.array(crate.matrix_world)
    bpy.context.scene.frame_set(frame)
    bpy.ops.troupe.plan(mover="Crate", goal="Goal", moves="floor")
    assert np.abs(matrices(crate, [-20.0, 1.0, float(frame)]) - start).max() < 1e-5
    last = crate.animation_data.nla_tracks[0].strips[0].frame_end
    assert np.abs(matrices(crate, [last, last + 100.0])[:, :3, 3] - (-2.0, 1.0, 0.2)).max() < 1e-5
