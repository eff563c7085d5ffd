"""A way on the ground becomes a base track: speed within what a body can take, corners rounded, both ends met."""

import numpy as np
import pytest
from troupe.core import InvalidMotion, InvalidParam
from troupe.core.gait.route import TURN_FIRST, RouteParams, ahead, follow
from troupe.core.gait.track import Track

STRAIGHT = ahead(0.0, 0.0, 0.0, 8.0)
RANDOM = np.random.default_rng(1).normal(size=(9, 2))
CORNERS = [[0.0, 0.0], [0.0, -3.0], [3.0, -3.0], [3.0, -6.0]]


def speeds(path):
    return np.linalg.norm(np.diff(path.points[:, :2], axis=0), axis=1) / np.diff(path.times)


@pytest.mark.parametrize(
    "way", [STRAIGHT, CORNERS, [[0, 0], [0.02, 0.0]], np.random.default_rng(1).normal(size=(9, 2))]
)
@pytest.mark.parametrize("stop", [True, False])
def test_a_way_is_gone_from_its_first_to_its_last_point(way, stop):
    found = follow(way, 1.4, 24.0, RouteParams(stop=stop))
    np.testing.assert_allclose(found.points[0, :2], way[0], atol=1e-9)
    np.testing.assert_allclose(found.points[-1, :2], way[-1], atol=1e-9 if stop else 1.4 / 24)


def test_a_stop_begins_and_ends_at_rest():
    found = follow(STRAIGHT, 1.4, 60.0)
    v = speeds(found)
    assert v[0] < 0.05
    assert v[-1] == 0.0
    assert v.max() == pytest.approx(1.4, rel=0.01)
    pause = np.flatnonzero(v > 1e-9)[-1]
    assert (len(v) - pause) / 60.0 >= 0.99


def test_acceleration_is_as_asked():
    for rate in (0.6, 1.2, 3.0):
        v = speeds(follow(STRAIGHT, 1.4, 120.0, RouteParams(acceleration=rate)))
        gain = np.diff(v) * 120.0
        assert gain.max() == pytest.approx(rate, rel=0.15)
        assert gain.min() == pytest.approx(-rate, rel=0.15)


def test_speed_has_no_jumps():
    jerky = []
    for fps in (60.0, 240.0):
        found = follow(CORNERS, 1.4, fps, heading=2.0)
        jerky.append(np.abs(np.diff(found.points, 2, axis=0)).max(axis=0) * fps**2)
    assert (jerky[1] < 1.5 * jerky[0]).all(), jerky


def test_without_a_stop_it_arrives_at_full_speed():
    found = follow(STRAIGHT, 1.4, 24.0, RouteParams(stop=False))
    assert speeds(found)[-3:] == pytest.approx([1.4] * 3, rel=0.05)


def test_a_body_that_moves_already_keeps_its_speed():
    found = follow(STRAIGHT, 1.4, 60.0, moving=1.4)
    assert speeds(found)[:30] == pytest.approx([1.4] * 30, rel=0.02)


def test_it_faces_along_the_way():
    found = follow(CORNERS, 1.3, 60.0)
    step = np.diff(found.points[:, :2], axis=0)
    far = np.linalg.norm(step, axis=1) > 0.005
    along = np.unwrap(np.arctan2(step[:, 0], -step[:, 1]))[far]
    np.testing.assert_allclose(found.points[1:, 2][far], along, atol=0.08)
    assert found.points[0, 2] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("facing", [np.pi, np.pi / 2, -1.0])
def test_it_may_face_elsewhere(facing):
    found = Track(follow(STRAIGHT, 1.0, 24.0, RouteParams(facing=facing)))
    middle = len(found.base) // 2
    assert found.base[middle, 2] == pytest.approx(facing)
    assert found.forward[middle] == pytest.approx(np.cos(facing), abs=0.01)
    assert found.sideways[middle] == pytest.approx(-np.sin(facing), abs=0.01)


def test_corners_are_rounded_by_so_much():
    distance = {}
    for corners in (0.0, 0.2, 0.5):
        points = follow(CORNERS, 1.0, 60.0, RouteParams(corners=corners)).points[:, :2]
        distance[corners] = np.hypot(*(points - (0.0, -3.0)).T).min()
    assert distance[0.0] < 0.03
    assert distance[0.0] < distance[0.2] < distance[0.5] < 0.5


def test_curves_are_taken_no_faster_than_they_can_be():
    t = np.linspace(0, np.pi, 200)
    bend = np.column_stack([np.cos(t), np.sin(t)])
    for cornering in (0.5, 2.5):
        found = follow(bend, 3.0, 60.0, RouteParams(cornering=cornering, corners=0.0))
        middle = slice(len(found.points) // 4, len(found.points) // 2)
        assert speeds(found)[middle].max() == pytest.approx(np.sqrt(cornering), rel=0.06)


def test_slopes_slow_it_down():
    up = [[0.0, 0.0, 0.0], [0.0, -10.0, 3.0]]
    flat = follow([[0.0, 0.0], [0.0, -10.0]], 1.4, 24.0)
    steep = follow(up, 1.4, 24.0)
    assert speeds(steep).max() == pytest.approx(1.4 / 1.45, rel=0.02)
    assert len(steep.points) > len(flat.points)


# --- where it faces at the beginning


@pytest.mark.parametrize("heading", [np.pi / 2, -np.pi / 2, 3.0, -3.0, 9.0])
def test_far_from_its_way_it_turns_on_the_spot_first(heading):
    found = follow(STRAIGHT, 1.3, 60.0, heading=heading)
    assert found.points[0, 2] == pytest.approx(heading)
    gone = np.linalg.norm(found.points[:, :2], axis=1)
    turned = np.abs(found.points[:, 2] - heading)
    first = int((gone > 0.02).argmax())
    left = np.abs(np.angle(np.exp(1j * found.points[first, 2])))
    assert left < 0.02
    assert turned.max() <= np.pi + 1e-9
    rate = np.abs(np.diff(found.points[:, 2])).max() * 60.0
    assert rate <= RouteParams().turn_rate * 1.02


def test_near_to_its_way_it_turns_as_it_goes():
    heading = 0.8 * TURN_FIRST
    found = follow(STRAIGHT, 1.3, 60.0, heading=heading)
    assert found.points[0, 2] == pytest.approx(heading)
    assert np.linalg.norm(found.points[90, :2]) > 0.5
    assert found.points[-1, 2] == pytest.approx(0.0, abs=1e-6)


def test_it_ends_with_whole_turns_as_they_were():
    found = follow(STRAIGHT, 1.3, 24.0, heading=4 * np.pi + 0.1)
    assert found.points[-1, 2] == pytest.approx(4 * np.pi, abs=1e-6)


# --- speed keyed over time


def test_keyed_speeds_are_followed_where_the_way_allows():
    keyed = np.concatenate([np.linspace(0.0, 1.5, 48), np.full(24, 1.5), np.linspace(1.5, 0.5, 24), np.full(200, 0.5)])
    found = follow(STRAIGHT, keyed, 24.0, RouteParams(pause=0.0))
    v = speeds(found)
    count = min(len(v), 140)
    np.testing.assert_allclose(v[:count], keyed[1 : count + 1], atol=1e-6)


def test_where_the_keyed_speed_is_zero_it_stands():
    keyed = np.concatenate([np.full(48, 1.0), np.zeros(48), np.full(48, 1.0)])
    found = follow(STRAIGHT, keyed, 24.0, RouteParams(stop=False))
    v = speeds(found)
    assert (v[50:94] == 0.0).all()
    assert v[20] == pytest.approx(1.0)
    assert v[120] == pytest.approx(1.0)


def test_keyed_speeds_end_where_the_keys_or_the_way_do():
    short = follow(STRAIGHT, np.append(np.full(24, 1.0), 0.0), 24.0, RouteParams(stop=False))
    assert len(short.points) == 25
    assert short.points[-1, 1] == pytest.approx(-23 / 24)
    long = follow(STRAIGHT, np.full(24, 1.0), 24.0, RouteParams(stop=False))
    np.testing.assert_allclose(long.points[-1, :2], STRAIGHT[-1])


def test_a_keyed_speed_that_fades_to_next_to_nothing_ends_with_its_keys():
    # slower than anybody walks: the body stands
    keyed = np.append(np.full(48, 1.0), 2e-3)
    assert len(follow(STRAIGHT, keyed, 24.0).points) < 1000


def test_keyed_speeds_are_limited_in_curves():
    t = np.linspace(0, np.pi, 200)
    bend = 2.0 * np.column_stack([np.cos(t), np.sin(t)])
    found = follow(bend, np.full(400, 4.0), 60.0, RouteParams(cornering=1.5, corners=0.0))
    assert speeds(found)[20:80].max() == pytest.approx(np.sqrt(3.0), rel=0.05)


# --- what is no way


def test_repeated_points_change_nothing():
    once = follow(CORNERS, 1.3, 24.0)
    twice = follow([p for p in CORNERS for _ in range(3)], 1.3, 24.0)
    np.testing.assert_allclose(twice.points, once.points, atol=1e-9)


@pytest.mark.parametrize("points", [[[0.0, 0.0]], [[1.0, 2.0]] * 5, np.zeros((0, 2))])
def test_a_way_of_one_place_is_refused(points):
    with pytest.raises(InvalidMotion, match="two points in different places"):
        follow(points, 1.0, 24.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_way_through_nowhere_is_refused(bad):
    with pytest.raises(InvalidMotion, match="NaN or infinity"):
        follow([[0.0, 0.0], [bad, 1.0]], 1.0, 24.0)


@pytest.mark.parametrize("points", [[0.0, 1.0], [[0.0], [1.0]], np.zeros((3, 4))])
def test_points_of_other_than_two_or_three_numbers_are_refused(points):
    with pytest.raises(InvalidMotion, match="two or three numbers"):
        follow(points, 1.0, 24.0)


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan, np.zeros(5), np.array([1.0, -0.1]), np.array([1.0, np.inf])])
def test_a_speed_that_leads_nowhere_is_refused(speed):
    with pytest.raises(InvalidParam, match="positive somewhere and negative nowhere"):
        follow(STRAIGHT, speed, 24.0)


def test_a_vertical_step_of_the_way_is_no_way():
    """Two points one above the other are one place on the ground."""
    with pytest.raises(InvalidMotion, match="different places"):
        follow([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], 1.0, 24.0)


def test_ahead_is_where_the_heading_points():
    np.testing.assert_allclose(ahead(1.0, 2.0, 0.0, 3.0), [[1.0, 2.0], [1.0, -1.0]])
    np.testing.assert_allclose(ahead(0.0, 0.0, np.pi / 2, 2.0), [[0.0, 0.0], [2.0, 0.0]], atol=1e-12)
