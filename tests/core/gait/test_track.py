"""A base track tells place, heading and speeds at any time, also beyond its ends."""

import numpy as np
import pytest
from troupe.core import InvalidMotion
from troupe.core.gait.track import Track
from troupe.core.motion import Path

from .ways import circle, straight, times, track


def test_a_straight_track_has_the_speed_it_is_sampled_with():
    found = Track(track(0.0, -1.4 * times(2.0, 30.0), 0.0, 30.0))
    np.testing.assert_allclose(found.forward, 1.4, atol=1e-12)
    np.testing.assert_allclose(found.sideways, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.turning, 0.0, atol=1e-12)
    assert found.duration == pytest.approx(2.0)
    assert found.fastest() == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("direction", "forward", "sideways"),
    [(0.0, 1.0, 0.0), (np.pi / 2, 0.0, 1.0), (np.pi, -1.0, 0.0), (-1.0, np.cos(1.0), -np.sin(1.0))],
)
@pytest.mark.parametrize("heading", [0.0, 0.8, -2.5])
def test_ahead_and_left_are_seen_from_the_body(direction, forward, sideways, heading):
    t = times(1.0, 24.0)
    way = heading + direction
    found = Track(track(np.sin(way) * t, -np.cos(way) * t, heading, 24.0))
    np.testing.assert_allclose(found.forward, forward, atol=1e-9)
    np.testing.assert_allclose(found.sideways, sideways, atol=1e-9)
    assert found.speeds(0.5, 0.4)[:2] == pytest.approx((forward, sideways), abs=1e-9)


def test_a_turn_to_the_left_is_positive():
    found = Track(track(0.0, 0.0, 0.7 * times(2.0, 24.0), 24.0))
    np.testing.assert_allclose(found.turning, 0.7)
    assert found.speeds(1.0, 0.5) == pytest.approx((0.0, 0.0, 0.7))


def test_a_track_goes_through_its_samples_without_corners():
    way = track([0.0, 1.0, 1.0, 0.5], [0.0, 0.0, -2.0, -2.5], [0.0, 0.5, 0.5, 0.2], 1.0)
    found = Track(way)
    np.testing.assert_allclose(found.at(np.arange(4.0)), way.points, atol=1e-12)
    before, after = (np.diff(found.at(np.array([t, t + 1e-5])), axis=0) for t in (1.0 - 1e-5, 1.0))
    np.testing.assert_allclose(before, after, atol=1e-8)


def test_between_samples_a_straight_track_is_straight():
    still = np.zeros(20)
    found = Track(track(still, -np.arange(20) / 10, still, 10.0))
    np.testing.assert_allclose(found.at(0.537), [0.0, -0.537, 0.0], atol=1e-12)


def test_one_time_is_answered_as_many_are():
    found = Track(circle(1.4, 2.0, seconds=3.0, fps=24.0))
    for t in (-1.3, -1e-9, 0.0, 0.71, 2.99, found.duration, 4.2):
        np.testing.assert_allclose(found.point(t), found.at(np.array([t]))[0], atol=1e-12)


def test_beyond_its_ends_a_track_goes_on_straight():
    found = Track(straight(1.0, 2.0, 24.0))
    speed = found.forward[0]
    np.testing.assert_allclose(found.at([-1.5, 3.5])[:, 1], [1.5 * speed, -3.5 * speed], atol=1e-9)


def test_beyond_its_ends_a_track_goes_on_turning():
    whole = Track(circle(1.4, 2.0, seconds=6.0, fps=60.0))
    way = circle(1.4, 2.0, seconds=6.0, fps=60.0)
    middle = Track(Path(way.points[120:240], way.axes, way.times[120:240]))
    np.testing.assert_allclose(middle.at([-1.0, 3.0]), whole.at([1.0, 5.0]), atol=3e-3)


def test_a_track_that_stands_at_its_end_stays_there():
    way = track([0.0, 1.0, 1.0, 1.0], 0.0, 0.3, 10.0)
    np.testing.assert_allclose(Track(way).at([0.3, 0.5, 100.0]), [[1.0, 0.0, 0.3]] * 3)


def test_times_are_counted_from_the_first_sample():
    way = straight(1.0, 1.0, 24.0)
    late = Path(way.points, way.axes, way.times + 5.0)
    np.testing.assert_allclose(Track(late).at(0.5), Track(way).at(0.5), atol=1e-12)


@pytest.mark.parametrize(
    ("times_", "message"),
    [(None, "times"), ([0.0, 0.1, 0.3], "even times"), ([0.0, 0.0, 0.0], "even times")],
)
def test_uneven_or_missing_times_are_refused(times_, message):
    with pytest.raises(InvalidMotion, match=message):
        Track(Path(np.zeros((3, 3)), ("x", "y", "heading"), times_))


def test_a_single_sample_is_refused():
    with pytest.raises(InvalidMotion, match="two samples"):
        Track(Path(np.zeros((1, 3)), ("x", "y", "heading"), [0.0]))


def test_other_axes_are_refused():
    with pytest.raises(InvalidMotion, match="x, y, heading"):
        Track(Path(np.zeros((3, 2)), ("x", "y"), [0.0, 1.0, 2.0]))
