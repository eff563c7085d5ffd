"""Where results land in the NLA, and what plays on an owner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from troupe.addon.bake import curves, nla  # noqa: E402
from troupe.core.errors import InvalidMotion  # noqa: E402


@pytest.fixture
def owner() -> Any:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = bpy.data.objects.new("Owner", None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def action(owner: Any, name: str, first: float = 1, last: float = 11, to: float = 10.0) -> Any:
    """Moves x from 0 to `to`."""
    made = bpy.data.actions.new(name)
    values = np.array([[0.0, 0, 0], [to, 0, 0]])
    curves.write(curves.bag(owner, made), [curves.Channel("location", values)], np.array([first, last]))
    return made


def place(owner: Any, frame: int) -> float:
    bpy.context.scene.frame_set(frame)
    return float(owner.location[0])


def test_a_result_plays_on_its_own_frames_and_holds_after(owner: Any) -> None:
    strip = nla.land(owner, action(owner, "Walk", 21, 31))
    assert (strip.frame_start, strip.frame_end) == (21, 31)
    assert strip.extrapolation == "HOLD_FORWARD"
    assert [t.name for t in owner.animation_data.nla_tracks] == ["Troupe"]
    assert [place(owner, f) for f in (21, 26, 31, 50)] == [0, 5, 10, 10]


def test_results_one_after_the_other_share_a_track(owner: Any) -> None:
    nla.land(owner, action(owner, "Walk", 1, 11))
    nla.land(owner, action(owner, "Sit", 11, 21, 4.0))
    tracks = owner.animation_data.nla_tracks
    assert [[s.name for s in t.strips] for t in tracks] == [["Walk", "Sit"]]
    assert place(owner, 16) == 2.0


def test_a_result_without_room_gets_a_track_above(owner: Any) -> None:
    nla.land(owner, action(owner, "Walk", 1, 11))
    strip = nla.land(owner, action(owner, "Over", 5, 15, 4.0))
    tracks = owner.animation_data.nla_tracks
    assert len(tracks) == 2
    assert tracks[1].strips[0] == strip
    assert place(owner, 10) == 2.0


def test_the_users_action_goes_on_playing_below(owner: Any) -> None:
    users = action(owner, "Users", 1, 11, 6.0)
    curves.assign(owner, users)
    nla.land(owner, action(owner, "Walk", 21, 31))
    data = owner.animation_data
    assert data.action is None
    assert [t.name for t in data.nla_tracks] == ["Users", "Troupe"]
    assert data.nla_tracks[0].strips[0].action == users
    assert [place(owner, f) for f in (6, 11, 26, 40)] == [3, 6, 5, 10]


def test_a_result_lands_above_an_action_pushed_down_after_the_last_one(owner: Any) -> None:
    nla.land(owner, action(owner, "Walk", 1, 11))
    curves.assign(owner, action(owner, "Users", 1, 60, 6.0))
    nla.land(owner, action(owner, "Sit", 21, 31, 4.0))
    assert [t.strips[0].name for t in owner.animation_data.nla_tracks] == ["Walk", "Users", "Sit"]
    assert place(owner, 26) == 2.0


def test_a_layer_speaks_only_while_it_lasts(owner: Any) -> None:
    nla.land(owner, action(owner, "Walk", 1, 101, 100.0))
    nla.land(owner, action(owner, "Glance", 21, 31, -4.0), "layer")
    assert [place(owner, f) for f in (11, 26, 51)] == [10, -2, 50]
    nla.land(owner, action(owner, "Sit", 101, 111, 1.0))
    assert len(owner.animation_data.nla_tracks) == 2


def test_what_the_whole_body_does_later_plays_below_a_layer_that_was_there_first(owner: Any) -> None:
    nla.land(owner, action(owner, "Glance", 21, 31, -4.0), "layer")
    strip = nla.land(owner, action(owner, "Walk", 1, 101, 100.0))
    assert [place(owner, f) for f in (11, 26, 51)] == [10, -2, 50]
    tracks = owner.animation_data.nla_tracks
    assert [[s.name for s in t.strips] for t in tracks] == [["Walk"], ["Glance"]]
    tracks[0].strips.remove(strip)
    nla.drop_empty(owner.animation_data)
    assert [[s.name for s in t.strips] for t in tracks] == [[], ["Glance"]]
    nla.land(owner, action(owner, "Run", 1, 101, 200.0))
    assert [place(owner, f) for f in (11, 26)] == [20, -2]
    for track in tracks:
        track.strips.remove(track.strips[0])
    nla.drop_empty(owner.animation_data)
    assert not len(tracks)


def test_replacing_keeps_the_action_before(owner: Any) -> None:
    before = action(owner, "Before")
    curves.assign(owner, before)
    after = action(owner, "After", to=2.0)
    assert nla.land(owner, after, "replace") is None
    assert owner.animation_data.action == after
    assert before.use_fake_user
    assert place(owner, 11) == 2.0


def test_pushing_down_keeps_fractional_frames_and_blending(owner: Any) -> None:
    curves.assign(owner, action(owner, "Half", 1.5, 11.5))
    owner.animation_data.action_extrapolation = "NOTHING"
    strip = nla.push_down(owner)
    assert (strip.frame_start, strip.frame_end) == (1.5, 11.5)
    assert strip.extrapolation == "NOTHING"
    assert place(owner, 6) == 4.5
    assert nla.push_down(owner) is None


def test_pushing_down_leaves_tweak_mode(owner: Any) -> None:
    strip = nla.land(owner, action(owner, "Walk"))
    data = owner.animation_data
    strip.select = True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True
    nla.land(owner, action(owner, "Sit", 21, 31))
    assert not data.use_tweak_mode
    assert [len(t.strips) for t in data.nla_tracks] == [2]


def test_only_an_action_that_plays_alone_is_a_plain_source(owner: Any) -> None:
    assert nla.plain_source(owner) is None
    walk = action(owner, "Walk")
    curves.assign(owner, walk)
    assert nla.plain_source(owner) == walk
    nla.push_down(owner)
    assert nla.plain_source(owner) is None
    curves.assign(owner, walk)
    assert nla.plain_source(owner) is None
    owner.animation_data.nla_tracks[0].mute = True
    assert nla.plain_source(owner) == walk


def test_the_range_spans_all_that_plays(owner: Any) -> None:
    with pytest.raises(InvalidMotion, match="Owner"):
        nla.frame_range(owner)
    nla.land(owner, action(owner, "Walk", 21, 31))
    curves.assign(owner, action(owner, "Users", 5, 11))
    assert nla.frame_range(owner) == (5, 31)
    assert nla.frame_range(owner, bpy.data.actions["Walk"]) == (21, 31)


def test_animated_paths_come_from_the_action_and_the_strips(owner: Any) -> None:
    assert nla.animated_paths(owner) == set()
    nla.land(owner, action(owner, "Walk"))
    other = bpy.data.actions.new("Other")
    curves.write(curves.bag(owner, other), [curves.Channel("scale", np.ones((1, 3)))], np.array([1]))
    curves.assign(owner, other)
    assert nla.animated_paths(owner) == {"location", "scale"}


@pytest.mark.parametrize("fail", [False, True])
def test_playing_one_action_alone_leaves_no_trace(owner: Any, fail: bool) -> None:
    owner["mood"] = 0.25
    owner.rotation_euler = (0.1, 0.2, 0.3)
    nla.land(owner, action(owner, "Walk", 1, 11))
    users = action(owner, "Users", 1, 11, 7.0)
    curves.assign(owner, users)
    other = bpy.data.actions.new("Other")
    channels = [curves.Channel("rotation_euler", np.ones((2, 3))), curves.Channel('["mood"]', np.ones((2, 1)))]
    curves.write(curves.bag(owner, other), channels, np.array([1, 11]))
    scene = bpy.context.scene
    scene.frame_set(4, subframe=0.5)
    before = tuple(owner.location), tuple(owner.rotation_euler)
    try:
        with nla.playing(owner, scene, other):
            scene.frame_set(9)
            assert tuple(owner.rotation_euler) == (1, 1, 1)
            assert owner["mood"] == 1.0
            if fail:
                raise RuntimeError("stop")
    except RuntimeError:
        assert fail
    data = owner.animation_data
    assert (scene.frame_current, scene.frame_subframe) == (4, 0.5)
    assert data.action == users
    assert data.use_nla
    assert (tuple(owner.location), tuple(owner.rotation_euler)) == before
    assert owner["mood"] == 0.25


def test_playing_on_an_owner_without_animation_leaves_none(owner: Any) -> None:
    other = bpy.data.objects.new("Other", None)
    walk = action(other, "Walk")
    with nla.playing(owner, bpy.context.scene, walk):
        assert place(owner, 6) == 5.0
    assert owner.animation_data is None
    assert tuple(owner.location) == (0, 0, 0)
