"""F-curves: written in bulk, read back, and evaluated in numpy as Blender evaluates them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from troupe.addon.bake import curves  # noqa: E402
from troupe.addon.bake.evaluation import evaluate  # noqa: E402
from troupe.core.errors import InvalidMotion  # noqa: E402

EASINGS = ("SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC")
FRAMES = np.arange(-20.0, 80.0, 0.37)


@pytest.fixture
def owner() -> Any:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = bpy.data.objects.new("Owner", None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def written(owner: Any, *channels: curves.Channel, frames: Any) -> Any:
    action = bpy.data.actions.new("Keys")
    curves.assign(owner, action)
    bag = curves.bag(owner, action)
    curves.write(bag, channels, np.asarray(frames))
    return bag


def sparse(owner: Any, interpolation: str = "BEZIER", n: int = 12, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    frames = np.cumsum(rng.uniform(0.5, 9, n))
    return written(owner, curves.Channel("location", rng.normal(size=(n, 3)), "", interpolation), frames=frames)


def assert_as_blender(bag: Any, frames: Any = FRAMES, atol: float = 1e-5) -> None:
    found = list(curves.read(bag).values())
    assert found
    blender = np.array([[c.fcurve.evaluate(f) for c in found] for f in frames])
    np.testing.assert_allclose(evaluate(found, frames), blender, atol=atol * max(1.0, np.abs(blender).max()))


def test_written_keys_are_read_back(owner: Any) -> None:
    values = np.random.default_rng(1).normal(size=(50, 3))
    bag = written(owner, curves.Channel("location", values, "Place"), frames=np.arange(50))
    found = curves.read(bag)
    assert list(found) == [("location", k) for k in range(3)]
    for k in range(3):
        np.testing.assert_allclose(found["location", k].keys, np.c_[np.arange(50), values[:, k]], atol=1e-6)
        assert found["location", k].fcurve.group.name == "Place"
    assert {p.interpolation for p in bag.fcurves[0].keyframe_points} == {"LINEAR"}


def test_written_keys_move_the_owner(owner: Any) -> None:
    values = np.arange(30.0).reshape(10, 3)
    written(owner, curves.Channel("location", values), frames=np.arange(1, 11))
    bpy.context.scene.frame_set(4)
    assert tuple(owner.location) == tuple(values[3])


def test_keys_by_path_move_the_owner_as_keys_made_by_hand(owner: Any) -> None:
    frames, places = (1, 9, 14, 30), np.array([(0.0, 1.0, 2.0), (3.0, 1.0, 2.5), (2.0, 0.0, 2.5), (5.0, 4.0, 0.0)])
    curves.key(owner, "location", frames, places)
    curves.key(owner, "empty_display_size", (1, 30), (1.0, 2.0))
    by_hand = bpy.data.objects.new("By hand", None)
    bpy.context.scene.collection.objects.link(by_hand)
    for frame, place in zip(frames, places, strict=True):
        by_hand.location = place
        by_hand.keyframe_insert("location", frame=frame)
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(owner.location, by_hand.location, atol=1e-5)
    assert owner.empty_display_size == 2.0


def test_rewriting_the_active_action_moves_the_owner_anew(owner: Any) -> None:
    bag = written(owner, curves.Channel("location", np.zeros((2, 3))), frames=[1, 10])
    bpy.context.scene.frame_set(5)
    curves.write(bag, [curves.Channel("location", np.full((4, 3), 7.0))], np.array([1, 4, 6, 10]))
    bpy.context.scene.frame_set(6)
    assert tuple(owner.location) == (7.0, 7.0, 7.0)
    assert len(bag.fcurves) == 3


def test_handles_written_without_update_lie_on_the_keys(owner: Any) -> None:
    bag = written(owner, curves.Channel("location", np.random.default_rng(2).normal(size=(9, 3))), frames=np.arange(9))
    for point in bag.fcurves[1].keyframe_points:
        assert tuple(point.handle_left) == tuple(point.co) == tuple(point.handle_right)


def test_a_channel_may_have_its_own_frames_and_first_index(owner: Any) -> None:
    owner["switch"] = 0.0
    bag = written(
        owner,
        curves.Channel("location", np.zeros((5, 2)), index=1),
        curves.Channel('["switch"]', np.ones((1, 1)), interpolation="CONSTANT", frames=np.array([3])),
        frames=np.arange(5),
    )
    assert set(curves.read(bag)) == {("location", 1), ("location", 2), ('["switch"]', 0)}
    bpy.context.scene.frame_set(4)
    assert owner["switch"] == 1.0


def test_a_bag_is_found_without_assigning_the_action(owner: Any) -> None:
    action = bpy.data.actions.new("Loose")
    assert curves.bag(owner, action, create=False) in (None, action)
    bag = curves.bag(owner, action)
    curves.write(bag, [curves.Channel("location", np.ones((2, 3)))], np.array([1, 2]))
    assert owner.animation_data is None
    assert len(curves.read(curves.bag(owner, action, create=False))) == 3
    curves.assign(owner, action)
    bpy.context.scene.frame_set(2)
    assert tuple(owner.location) == (1.0, 1.0, 1.0)


def test_a_second_owner_gets_its_own_curves(owner: Any) -> None:
    other = bpy.data.objects.new("Other", None)
    action = bpy.data.actions.new("Shared")
    if not hasattr(action, "slots"):
        pytest.skip("no slots in this Blender")
    first, second = curves.bag(owner, action), curves.bag(other, action)
    curves.write(first, [curves.Channel("location", np.zeros((2, 3)))], np.array([1, 2]))
    curves.write(second, [curves.Channel("location", np.ones((2, 3)))], np.array([1, 2]))
    assert curves.read(first)["location", 0].keys[0, 1] == 0.0
    assert curves.read(second)["location", 0].keys[0, 1] == 1.0


def test_assign_borrows_the_only_slot_of_an_action_made_for_another(owner: Any) -> None:
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    bag = written(owner, curves.Channel("location", np.ones((2, 3))), frames=[1, 2])
    curves.assign(other, bag.id_data)
    bpy.context.scene.frame_set(2)
    assert tuple(other.location) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER"])
@pytest.mark.parametrize("extrapolation", ["CONSTANT", "LINEAR"])
def test_sparse_keys_evaluate_as_in_blender(owner: Any, interpolation: str, extrapolation: str) -> None:
    bag = sparse(owner, interpolation)
    for fcurve in bag.fcurves:
        fcurve.extrapolation = extrapolation
    assert_as_blender(bag)


@pytest.mark.parametrize("kind", ["FREE", "AUTO", "VECTOR", "ALIGNED", "AUTO_CLAMPED"])
def test_every_handle_type_evaluates_as_in_blender(owner: Any, kind: str) -> None:
    bag = sparse(owner)
    for fcurve in bag.fcurves:
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = kind
        fcurve.extrapolation = "LINEAR"
        fcurve.update()
    assert_as_blender(bag)


def test_handles_longer_than_their_segment_are_shortened_as_in_blender(owner: Any) -> None:
    bag = sparse(owner, seed=3)
    rng = np.random.default_rng(3)
    for fcurve in bag.fcurves:
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left = (point.co[0] - rng.uniform(0, 25), rng.normal())
            point.handle_right = (point.co[0] + rng.uniform(0, 25), rng.normal())
        fcurve.extrapolation = "LINEAR"
    assert_as_blender(bag)


def test_handles_that_point_back_evaluate_as_in_blender(owner: Any) -> None:
    bag = sparse(owner, seed=4)
    for fcurve in bag.fcurves:
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_right = (point.co[0] - 2.0, point.co[1] + 1.0)
            point.handle_left = (point.co[0] + 2.0, point.co[1] - 1.0)
    assert_as_blender(bag)


@pytest.mark.parametrize("easing", EASINGS)
def test_easing_curves_evaluate_as_in_blender(owner: Any, easing: str) -> None:
    bag = sparse(owner)
    for point in list(bag.fcurves[0].keyframe_points)[::2]:
        point.interpolation = easing
    assert_as_blender(bag)


@pytest.mark.parametrize("modifier", ["CYCLES", "NOISE", "GENERATOR", "STEPPED", "LIMITS"])
def test_modifiers_evaluate_as_in_blender(owner: Any, modifier: str) -> None:
    bag = sparse(owner)
    bag.fcurves[1].modifiers.new(modifier)
    assert_as_blender(bag)


def test_mixed_interpolation_evaluates_as_in_blender(owner: Any) -> None:
    bag = sparse(owner)
    kinds = ("CONSTANT", "LINEAR", "BEZIER")
    for c, fcurve in enumerate(bag.fcurves):
        for k, point in enumerate(fcurve.keyframe_points):
            point.interpolation = kinds[(k + c) % 3]
        fcurve.update()
    assert_as_blender(bag)


def test_curves_with_different_key_frames_evaluate_as_in_blender(owner: Any) -> None:
    rng = np.random.default_rng(5)
    own = np.array([2.0, 30.0, 31.5])
    channels = [
        curves.Channel("scale", rng.normal(size=(3, 3)), interpolation="BEZIER", frames=own),
        curves.Channel("location", rng.normal(size=(1, 3)), interpolation="BEZIER", frames=own[:1]),
        curves.Channel("rotation_euler", rng.normal(size=(60, 3))),
    ]
    assert_as_blender(written(owner, *channels, frames=np.arange(60)))


def test_baked_samples_evaluate_as_in_blender(owner: Any) -> None:
    bag = sparse(owner)
    bag.fcurves[0].convert_to_samples(1, 40)
    assert_as_blender(bag)


def test_keys_out_of_order_evaluate_as_in_blender(owner: Any) -> None:
    bag = sparse(owner, "LINEAR")
    bag.fcurves[0].keyframe_points[3].co = (1.0, 5.0)
    assert_as_blender(bag, atol=1e-5)


def test_whole_number_properties_step_as_in_blender(owner: Any) -> None:
    owner["count"] = 1
    owner.keyframe_insert('["count"]', frame=1)
    owner["count"] = 9
    owner.keyframe_insert('["count"]', frame=30)
    assert_as_blender(curves.bag(owner, owner.animation_data.action))


def test_key_frames_are_those_of_all_curves(owner: Any) -> None:
    own = np.array([2.0, 30.0, 31.5])
    channels = [curves.Channel("scale", np.ones((3, 3)), frames=own), curves.Channel("location", np.ones((4, 3)))]
    bag = written(owner, *channels, frames=[1, 2, 3, 30])
    np.testing.assert_array_equal(curves.key_frames(bag), [1, 2, 3, 30, 31.5])


def test_muted_and_empty_curves_are_left_out(owner: Any) -> None:
    rng = np.random.default_rng(6)
    bag = written(
        owner,
        curves.Channel("location", rng.normal(size=(4, 3)), "Kept"),
        curves.Channel("scale", rng.normal(size=(4, 3)), "Muted"),
        frames=np.arange(4),
    )
    bag.fcurves[0].mute = True
    bag.groups["Muted"].mute = True
    bag.fcurves.new("rotation_euler", index=0)
    assert set(curves.read(bag)) == {("location", 1), ("location", 2)}


@pytest.mark.parametrize("where", [0, 1])
def test_a_key_that_is_not_a_number_is_named(owner: Any, where: int) -> None:
    bag = sparse(owner, "LINEAR")
    keys = np.array([p.co for p in bag.fcurves[2].keyframe_points], np.float32)
    keys[4, where] = np.nan
    bag.fcurves[2].keyframe_points.foreach_set("co", keys.ravel())
    with pytest.raises(InvalidMotion, match=r"location\[2\]"):
        curves.read(bag)


@pytest.mark.parametrize(
    ("values", "frames", "message"),
    [
        ([[0.0], [np.nan]], [1, 2], "NaN"),
        ([[0.0], [1.0]], [2, 1], "increase"),
        ([[0.0], [1.0]], [1, 1], "increase"),
        ([[0.0], [1.0]], [1, 2, 3], "shape"),
        (np.empty((0, 1)), [], "increase"),
    ],
)
def test_invalid_keys_are_refused_and_nothing_is_written(owner: Any, values: Any, frames: Any, message: str) -> None:
    bag = sparse(owner)
    before = {key: curve.keys.copy() for key, curve in curves.read(bag).items()}
    good = curves.Channel("location", np.zeros((3, 3)), frames=np.arange(3))
    with pytest.raises(InvalidMotion, match=message):
        curves.write(bag, [good, curves.Channel("scale", np.array(values))], np.array(frames))
    after = curves.read(bag)
    assert set(after) == set(before)
    assert all(np.array_equal(after[k].keys, before[k]) for k in before)


def test_bone_paths_escape_quotes() -> None:
    assert curves.bone_path('a"b', "location") == 'pose.bones["a\\"b"].location'
    assert curves.bone_path("hand.L", '["IK_FK"]') == 'pose.bones["hand.L"]["IK_FK"]'
