"""The ghost shows what the button would bake, follows the settings, and writes nothing."""

import bpy
import canon
import numpy as np
import pytest
import stage
from afoot import enter, line, shown
from troupe import addon
from troupe.addon import bake, features, ghost
from troupe.addon.bake import curves
from troupe.addon.features.motions import has_preview
from troupe.addon.ghost.figure import SKINS, figure_of
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.motion import Motion


@pytest.fixture(autouse=True)
def no_ghost():
    yield
    ghost.clear()


def preview(feature):
    """Press the toggle and let the timer come."""
    assert bpy.ops.troupe.preview(feature=feature) == {"FINISHED"}
    return due()


def due():
    """Let the timer come that a change has asked for."""
    assert bpy.app.timers.is_registered(ghost.tick)
    bpy.app.timers.unregister(ghost.tick)
    assert ghost.tick() is None
    return ghost.current()


def preview_of_mannequin():
    """The motion of a walk."""
    stage.actor()
    return preview("walk").plan.keys.motion


def set_all(group, **values):
    for name, value in values.items():
        setattr(group, name, value)


def settings_of(ob, feature):
    """All settings of a feature as the arguments of its button."""
    group = getattr(ob.troupe, feature)
    names = [p.identifier for p in group.bl_rna.properties if p.identifier not in ("rna_type", "name")]
    return {n: tuple(v) if hasattr(v := getattr(group, n), "__len__") and not isinstance(v, str) else v for n in names}


def press(ob, feature):
    """The button, with the settings of the sidebar; what the rig then shows."""
    assert getattr(bpy.ops.troupe, feature)(**settings_of(ob, feature)) == {"FINISHED"}
    return shown(ob)


@pytest.mark.parametrize(
    ("kind", "feature", "values"),
    [
        ("mannequin", "walk", {"distance": 2.0, "speed": 1.1}),
        ("mannequin", "walk", {"in_place": True}),
        ("mannequin", "travel", {"path": "Way"}),
        ("mannequin", "retarget", {"clip": "walk"}),
        ("rigify", "walk", {"in_place": True}),
        ("rigify", "travel", {"path": "Way"}),
    ],
)
def test_it_is_what_the_button_bakes(data, kind, feature, values):
    ob = enter(kind, data)
    line((0, 0, 0), (0.3, -1.5, 0), (-0.3, -3, 0), kind="BEZIER")
    stage.choose(ob)
    set_all(getattr(ob.troupe, feature), **values)
    before = canon.snapshot()
    now = preview(feature)
    assert not now.problem
    assert canon.snapshot() == before, "nothing is written"
    motion = press(ob, feature)
    assert ghost.current() is None, "the button takes the ghost away"
    meant = now.plan.keys.motion
    assert len(meant) == len(motion) == len(now.figure.segments)
    place, turn = stage.errors(meant, motion)
    assert place < 1e-4 and turn < np.radians(0.1)
    first, last = (int(x) for x in bake.results_of(ob)[-1].action.frame_range)
    assert (now.plan.keys.frames[0], now.plan.keys.frames[-1]) == (first, last)


def test_it_goes_on_from_what_the_actor_did_before():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=2.0)
    bpy.context.scene.frame_set(30)
    ob.troupe.walk.lean = 0.3
    now = preview("walk")
    motion = press(ob, "walk")
    place, turn = stage.errors(now.plan.keys.motion, motion)
    assert place < 1e-3 and turn < 1e-2
    assert now.figure.first == 30


@pytest.mark.parametrize("root", ["in_place", "object", "root_bone"])
def test_it_stays_where_the_keys_stay(root):
    ob = stage.actor()
    ob.troupe.cast.root = root
    ob.location = (1.0, 2.0, 0.0)
    bpy.context.view_layer.update()
    now = preview("walk")
    place, _ = stage.errors(now.plan.keys.motion, press(ob, "walk"))
    assert place < 1e-3
    travelled = np.ptp(now.plan.keys.motion.roots[:, 1])
    assert travelled < 0.2 if root == "in_place" else travelled > 2.0


def test_a_part_of_the_body_is_shown_where_the_body_is():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=3.0)
    set_all(ob.troupe.retarget, clip="walk", body="arms", landing="layer", blend=0.0)
    bpy.context.scene.frame_set(1)
    now = preview("retarget")
    motion, spoken = now.plan.keys.motion, now.plan.keys.motion.mask
    skeleton = motion.skeleton
    assert spoken is not None and not spoken[0]
    baked = press(ob, "retarget")
    there = fk.forward(skeleton, baked.rotations, baked.roots)[0]
    here = fk.forward(skeleton, motion.rotations, motion.roots)[0]
    hand = skeleton.joint("hand_L")
    assert np.abs(there[:, hand] - here[:, hand]).max() < 1e-3
    assert set(np.unique(now.figure.colours)) == {"left", "right"}


def test_an_edit_is_shown_over_what_it_edits():
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=3.0)
    ob.troupe.bands.gains = (2.0,) * len(ob.troupe.bands.gains)
    before = canon.snapshot()
    bpy.context.scene.frame_set(20)
    now = preview("bands")
    assert now.figure.first == 1 and not now.problem
    bpy.context.scene.frame_set(1)
    assert canon.snapshot() == before
    place, turn = stage.errors(now.plan.keys.motion, press(ob, "bands"))
    assert place < 1e-3 and turn < 1e-3


def slide(ob, gains, **others):
    """Move the sliders of the bands and let the timer come."""
    set_all(ob.troupe.bands, gains=gains, **others)
    return due()


def rest():
    """Let the timer come that waits for sliders to rest."""
    assert bpy.app.timers.is_registered(ghost.settle)
    bpy.app.timers.unregister(ghost.settle)
    ghost.settle()


SOFT, STRONG = (1.0, 1.0, 1.3, 1.3, 1.3, 1.0, 1.0, 1.0), (0.5, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("signal", ["rotations", "positions"])
def test_it_follows_a_slider_from_what_it_has_read(signal, monkeypatch):
    ob = stage.walking()
    set_all(ob.troupe.bands, gains=SOFT, plant=False, signal=signal)
    preview("bands")
    with monkeypatch.context() as patch:
        patch.delattr(ghost.plans, "keyless")
        slide(ob, STRONG)
        now = slide(ob, STRONG, normalise=True)
    assert not now.problem
    live, whole = now.plan.keys.motion, now.figure
    rest()
    place, turn = stage.errors(live, now.plan.keys.motion)
    assert place < 1e-5 and turn < 1e-5
    assert np.abs(whole.segments - now.figure.segments).max() < 1e-4
    place, turn = stage.errors(live, press(ob, "bands"))
    assert place < 1e-4 and turn < 1e-4


def test_feet_are_held_when_the_slider_rests():
    ob = stage.walking()
    ob.troupe.bands.gains = SOFT
    now = preview("bands")
    slide(ob, STRONG)
    assert bpy.app.timers.is_registered(ghost.settle)
    drafted = now.plan.keys.motion
    skeleton = drafted.skeleton
    arms = [j for j, role in skeleton.role_of().items() if "arm" in role]
    rest()
    held = now.plan.keys.motion
    assert quat.distance(held.rotations, drafted.rotations)[:, arms].max() < 1e-5
    assert quat.distance(held.rotations, drafted.rotations)[:, skeleton.joint("shin_L")].max() > 0.01
    place, turn = stage.errors(held, press(ob, "bands"))
    assert place < 1e-4 and turn < 1e-4
    assert not bpy.app.timers.is_registered(ghost.settle)


def test_what_was_read_counts_only_as_long_as_it_is_so():
    ob = stage.walking()
    ob.troupe.bands.gains = SOFT
    preview("bands")
    strip = ob.animation_data.nla_tracks[0].strips[0]
    curve = curves.bag(ob, strip.action, create=False).fcurves[0]

    def move_key():
        curve.keyframe_points[3].co.y += 0.1
        curve.update()
        bpy.context.view_layer.update()

    def anew(change):
        """Whether the next move of a slider reads everything again after this change."""
        change()
        slide(ob, STRONG)
        followed = bpy.app.timers.is_registered(ghost.settle)
        slide(ob, SOFT)
        assert bpy.app.timers.is_registered(ghost.settle), "and from then on it follows"
        return not followed

    assert not anew(lambda: None)
    assert anew(lambda: setattr(ob.troupe.bands, "scope", "arms"))
    assert anew(lambda: setattr(ob.troupe.bands, "landing", "layer"))
    assert anew(lambda: setattr(strip, "frame_start", 5))
    assert anew(lambda: setattr(bpy.context.scene.render, "fps", 30))
    assert anew(move_key)


@pytest.mark.parametrize("feature", [op.feature() for op in features.operators() if has_preview(op)])
def test_every_feature_shows_a_ghost_or_says_what_it_needs(feature):
    ob = stage.actor()
    bpy.ops.troupe.walk(distance=3.0)
    before = canon.snapshot()
    operator = next(op for op in features.operators() if op.feature() == feature)
    if (problem := operator.why_not(bpy.context)) is not None:
        with pytest.raises(RuntimeError, match=problem):
            preview(feature)
        assert canon.snapshot() == before
        return
    now = preview(feature)
    assert canon.snapshot() == before
    assert (now.figure is None) == bool(now.problem)
    said = ghost.words(bpy.context, ob, feature)
    assert said and not said.split(":")[0].endswith(("Error", "Exception", "Iteration")), said


def test_features_whose_settings_are_not_all_have_no_toggle():
    able = {op.feature() for op in features.operators() if has_preview(op)}
    assert {"walk", "travel", "retarget", "bands", "waveshape", "emotion"} <= able
    assert not able & {"displace", "cast", "mannequin", "regenerate", "doctor", "reach", "tidy", "serve"}
    stage.actor()
    for feature in ("displace", "cast"):
        with pytest.raises(RuntimeError, match="has no preview"):
            bpy.ops.troupe.preview(feature=feature)
    with pytest.raises(RuntimeError, match="no such feature"):
        bpy.ops.troupe.preview(feature="fly")


def test_a_changed_setting_makes_it_anew_a_moment_later():
    ob = stage.actor()
    now = preview("walk")
    old = now.plan.keys.motion
    ob.troupe.walk.distance = 1.0
    ob.troupe.walk.distance = 2.0
    assert now.plan.keys.motion is old, "not at once"
    due()
    gone = now.plan.keys.motion.roots[-1] - now.plan.keys.motion.roots[0]
    assert np.hypot(*gone[:2]) == pytest.approx(2.0, abs=0.02), "the last change wins"


def test_settings_of_others_leave_it_alone():
    ob, other = stage.actor(), stage.actor()
    stage.choose(ob)
    preview("walk")
    other.troupe.walk.distance = 1.0
    ob.troupe.travel.distance = 1.0
    bpy.context.scene.troupe.mannequin.height = 1.5
    assert not bpy.app.timers.is_registered(ghost.tick)
    ob.troupe.walk.landing = "layer"
    assert bpy.app.timers.is_registered(ghost.tick)


def test_what_is_wrong_is_told_until_it_is_right():
    ob = stage.actor()
    ob.troupe.travel.path = "nowhere"
    now = preview("travel")
    assert now.figure is None and "no curve of that name" in now.problem
    assert ghost.words(bpy.context, ob, "travel") == now.problem
    ob.troupe.travel.path = ""
    due()
    assert now.figure is not None and ghost.words(bpy.context, ob, "travel").startswith("Ghost: frames 1 to ")


def test_even_an_error_of_ours_is_told(monkeypatch):
    ob = stage.actor()
    preview("walk")

    def broken(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(ghost.plans, "keyless", broken)
    ob.troupe.walk.distance = 1.0
    now = due()
    assert now.figure is None and now.problem == "ZeroDivisionError: by zero"


def test_playing_it_does_not_move_it():
    ob = stage.actor()
    now = preview("walk")
    bpy.context.scene.frame_set(40)
    ob.troupe.walk.distance = 2.0
    due()
    assert now.figure.first == 1
    assert "the button starts at frame 40" in ghost.words(bpy.context, ob, "walk")
    bpy.context.scene.frame_set(1)
    ob.location.x = 3.0
    bpy.context.view_layer.update()
    ob.troupe.walk.distance = 1.0
    due()
    assert now.plan.keys.motion.roots[0, 0] == pytest.approx(3.0, abs=0.05), "at its own frame it follows the actor"


def test_it_goes_with_its_toggle_and_comes_with_another():
    ob = stage.actor()
    preview("walk")
    assert ghost.shows(ob, "walk")
    preview("travel")
    assert ghost.shows(ob, "travel") and not ghost.shows(ob, "walk")
    assert bpy.ops.troupe.preview(feature="travel") == {"FINISHED"}
    assert ghost.current() is None and ghost.words(bpy.context, ob, "travel") == ""
    ob.troupe.travel.distance = 1.0
    assert not bpy.app.timers.is_registered(ghost.tick)
    assert ghost.tick() is None


def test_it_goes_with_its_file():
    stage.actor()
    bpy.ops.troupe.preview(feature="walk")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert ghost.current() is None and not bpy.app.timers.is_registered(ghost.tick)


def test_undone_settings_are_shown_and_an_actor_undone_takes_it_along():
    bpy.ops.ed.undo_push(message="empty")
    name = stage.actor().name
    bpy.ops.ed.undo_push(message="actor")
    preview("walk")
    bpy.data.objects[name].troupe.walk.distance = 1.0
    now = due()
    short = len(now.plan.keys.motion)
    bpy.ops.ed.undo_push(message="setting")
    bpy.ops.ed.undo()
    due()
    assert len(now.plan.keys.motion) > short
    bpy.ops.ed.undo()
    assert name not in bpy.data.objects
    assert ghost.current() is None and not bpy.app.timers.is_registered(ghost.tick)


def test_it_goes_with_its_actor():
    ob = stage.actor()
    bpy.ops.troupe.preview(feature="walk")
    bpy.data.objects.remove(ob)
    assert ghost.current() is None
    ghost.refresh()
    assert not bpy.app.timers.is_registered(ghost.tick)


def test_unregistering_takes_it_away_with_its_handlers():
    stage.actor()
    bpy.ops.troupe.preview(feature="walk")
    kinds = ("load_pre", "undo_post", "redo_post", "depsgraph_update_post")
    ours = [f for kind in kinds for f in getattr(bpy.app.handlers, kind) if f.__module__.startswith(ghost.__name__)]
    assert len(ours) == len(kinds)
    addon.unregister()
    try:
        assert ghost.current() is None and not bpy.app.timers.is_registered(ghost.tick)
        assert not any(f in getattr(bpy.app.handlers, kind) for kind in kinds for f in ours)
    finally:
        addon.register()


def test_the_figure_follows_the_frame():
    ob = stage.actor()
    ob.troupe.walk.distance = 4.0
    bpy.context.scene.frame_set(11)
    now = preview("walk")
    figure, motion = now.figure, now.plan.keys.motion
    count = len(motion)
    t, s = figure.segments.shape[:2]
    assert figure.segments.shape == (count, s, 2, 3) and t == count
    assert figure.segments.dtype == np.float32 and figure.colours.shape == figure.fine.shape == (s,)
    assert [figure.sample(f) for f in (-5, 11, 11.4, 20, 10_000)] == [0, 0, 0, 9, count - 1]
    for frame, sample in ((1, 0), (31, 20), (10_000, count - 1)):
        pose = figure.pose(frame)
        assert set(pose) == {"left", "right", "spine", "head"}
        assert sum(len(points) for points in pose.values()) == 2 * s
        places, _ = fk.forward(motion.skeleton, motion.rotations[sample], motion.roots[sample])
        left = places[motion.skeleton.joint("foot_L")]
        assert np.linalg.norm(pose["left"] - left, axis=1).min() < 1e-5
        assert np.linalg.norm(pose["right"] - left, axis=1).min() > 0.05


def test_segments_are_as_long_as_the_bones():
    motion = preview_of_mannequin()
    figure, s = figure_of(motion), motion.skeleton
    lengths = np.linalg.norm(figure.segments[..., 1, :] - figure.segments[..., 0, :], axis=-1)
    assert np.ptp(lengths, axis=0).max() < 1e-4
    assert np.abs(lengths[0][:, None] - np.linalg.norm(s.offsets[s.joint("foot_L")])).min() < 1e-5
    assert lengths.min() > 0.005


def test_units_are_those_of_the_scene():
    motion = preview_of_mannequin()
    assert figure_of(motion, metre=0.01).segments == pytest.approx(100 * figure_of(motion).segments, rel=1e-5)


def test_every_step_leaves_a_pose_and_a_sole():
    motion = preview_of_mannequin()
    strikes = [e for e in motion.events if e.name.startswith("heel_strike")]
    figure = figure_of(motion)
    assert figure.soles.shape == (len(strikes), 18, 3)
    assert figure.sides.tolist() == [{"L": "left", "R": "right"}[e.name[-1]] for e in strikes]
    for e, outline in zip(strikes, figure.soles, strict=True):
        assert np.linalg.norm(outline.mean(axis=0)[:2] - (e.data["x"], e.data["y"])) < 0.15
        toes, heel = outline[[8, 9]].mean(axis=0), outline[[0, 17]].mean(axis=0)
        ahead = (toes - heel)[:2] / np.linalg.norm((toes - heel)[:2])
        assert ahead @ (np.sin(e.data["heading"]), -np.cos(e.data["heading"])) > 0.99
    assert abs(len(figure.skins) - len(strikes)) <= 2
    assert sum(len(points) for points in figure.footfalls().values()) == 2 * 18 * len(strikes)
    main = int((~figure.fine).sum())
    assert 0 < main < len(figure.fine)
    assert sum(len(points) for points in figure.trail().values()) == 2 * main * len(figure.skins)


def test_a_cycle_begins_again_and_leaves_no_soles_elsewhere():
    ob = stage.actor()
    ob.troupe.walk.in_place = True
    figure = preview("walk").figure
    period = len(figure.segments) - 1
    assert figure.repeats and figure.sample(figure.first + period + 3) == 3
    assert figure.sample(figure.first - 5) == 0
    assert len(figure.skins) == 1
    for outline in figure.soles:
        assert np.abs(outline[:, :2]).max() < 0.6


def test_a_long_way_has_a_bounded_number_of_poses():
    skeleton, n = preview_of_mannequin().skeleton, 1000
    glide = np.column_stack([np.zeros(n), -0.1 * np.arange(n), np.ones(n)])
    figure = figure_of(Motion(skeleton, 24.0, glide, np.tile([1.0, 0.0, 0.0, 0.0], (n, len(skeleton), 1))))
    assert SKINS / 2 <= len(figure.skins) <= SKINS
    assert figure.soles.shape[0] == 0 and figure.footfalls() == {}
