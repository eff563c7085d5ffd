"""Following a way: the numbers of the paper's gains, stops, turns, and that nothing jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.errors import InvalidMotion
from troupe.core.planning.walkers.follow import FAITHFUL, FollowParams, advance, gains, settled, standing, wish
from troupe.core.planning.walkers.polylines import nearest, ways

EAST = np.pi / 2
ZIGZAG = np.array([[0.0, 0.0], [5.0, 0.0], [5.0, 5.0], [10.0, 5.0]])
STRAIGHT = np.array([[0.0, 0.0], [5.0, 0.0]])


def walked(line, speed=1.4, reach=0.4, params=FAITHFUL, fps=30.0, heading=EAST, seconds=40.0):
    """Track (T, 5) of x, y, heading, speed, turning along a way until it is at rest at its end."""
    way, gain = ways([line]), gains([params], [speed], [reach])
    movers = standing([[*line[0], heading]])
    rows = [[*line[0], heading, 0.0, 0.0]]
    for _ in range(round(seconds * fps)):
        movers = advance(movers, way, gain, 1 / fps, params.step)
        rows.append([*movers.place[0], movers.heading[0], movers.speed[0], movers.turning[0]])
        if wish(movers, way, gain).arrived[0] and movers.speed[0] < 1e-3:
            break
    return np.array(rows)


def deviation(track, line):
    """Greatest distance of a track from a way [m]."""
    a, step = line[:-1], np.diff(line, axis=0)
    share = np.clip(((track[:, None, :2] - a) * step).sum(-1) / (step * step).sum(-1), 0, 1)
    return np.hypot(*(track[:, None, :2] - a - share[..., None] * step).transpose(2, 0, 1)).min(axis=1).max()


@pytest.mark.req("kuffner", 31)
@pytest.mark.parametrize(
    ("speed", "reach", "stray", "arrival"),
    [
        (1.4, 0.2, 0.149, 14.13),
        (1.4, 0.4, 0.130, 13.47),
        (1.4, 0.8, 0.127, 12.93),
        (2.8, 0.2, 0.335, 12.23),
        (2.8, 0.4, 0.321, 9.17),
        (2.8, 0.8, 0.262, 8.63),
    ],
)
def test_the_gains_of_the_paper_give_the_known_deviation_and_arrival(speed, reach, stray, arrival):
    track = walked(ZIGZAG, speed, reach)
    assert deviation(track, ZIGZAG) == pytest.approx(stray, rel=0.1)
    assert (len(track) - 1) / 30 == pytest.approx(arrival, rel=0.1)
    assert np.hypot(*(track[-1, :2] - ZIGZAG[-1])) == pytest.approx(0.036, rel=0.1)


@pytest.mark.req("kuffner", 31)
def test_starting_the_wrong_way_round_costs_little():
    track = walked(STRAIGHT, heading=EAST + np.pi)
    assert deviation(track, STRAIGHT) == pytest.approx(0.061, rel=0.1)
    assert (len(track) - 1) / 30 == pytest.approx(6.33, rel=0.1)


@pytest.mark.req("kuffner", 31)
def test_a_step_of_the_heading_overshoots_as_computed():
    """Seed gains, 1/30 s: 7.5 % too far, nine tenths within a third of a second; a gain of 20 does not overshoot."""
    for params, over in ((FAITHFUL, 0.075), (replace(FAITHFUL, turn_gain=20.0), 0.0)):
        still = replace(params, creep=0.001)
        way, gain = ways([np.array([[0.0, 0.0], [0.0, -1e4]])]), gains([still], [0.001], [1e3])
        movers, left = standing([[0.0, 0.0, EAST]]), []
        for _ in range(90):
            movers = advance(movers, way, gain, 1 / 30, 1 / 30)
            left.append(movers.heading[0] / EAST)
        assert -min(left) == pytest.approx(over, abs=0.002)
    a, b = FAITHFUL.heading_gain, FAITHFUL.turn_gain
    assert np.sqrt(a * b) == pytest.approx(7.07, abs=0.01) and 0.5 * np.sqrt(b / a) == pytest.approx(0.707, abs=1e-3)
    for fps, radius in ((24, 0.82), (30, 0.85), (60, 0.92)):
        loop = np.array([[1.0, 1 / fps], [-a * b / fps, 1 - b / fps]])
        assert np.abs(np.linalg.eigvals(loop)).max() == pytest.approx(radius, abs=0.005)


@pytest.mark.req("kuffner", 32)
@pytest.mark.parametrize("params", [FAITHFUL, FollowParams()])
def test_one_alone_moves_straight_ahead_and_never_back(params):
    """Beside others, which the thesis only plans around, a dodge adds steps to the side: see `advance`."""
    fps = 1 / params.step
    rng = np.random.default_rng(4)
    lines = [ZIGZAG[:3] / 3, *(np.cumsum(rng.uniform(-1.2, 1.2, (5, 2)), axis=0) for _ in range(3))]
    for k, line in enumerate(lines):
        track = walked(line, params=params, fps=fps, heading=EAST + 0.7 * k, seconds=2.0)
        moved = np.diff(track[:, :2], axis=0) * fps
        ahead = track[:-1, 3:4] * np.stack([np.sin(track[:-1, 2]), -np.cos(track[:-1, 2])], axis=-1)
        assert np.abs(moved - ahead).max() < 1e-9
        assert track[:, 3].min() >= 0.0


@pytest.mark.req("kuffner", 33)
@pytest.mark.parametrize("params", [FAITHFUL, FollowParams()])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_it_turns_the_short_way_over_half_a_turn(params, side):
    heading = side * np.radians(179.0)
    bearing = -heading
    aim = np.array([[0.0, 0.0], [5 * np.sin(bearing), -5 * np.cos(bearing)]])
    movers = standing([[0.0, 0.0, heading]])
    turned = [heading]
    for _ in range(60):
        movers = advance(movers, ways([aim]), gains([params], [1.4]), 1 / 24)
        turned.append(movers.heading[0])
    assert turned[-1] == pytest.approx(side * np.radians(181.0), abs=0.02)
    assert np.abs(np.array(turned) - heading).max() < np.radians(4.0), "two degrees, not 358"


@pytest.mark.req("kuffner", 34)
def test_far_off_course_it_creeps_and_turns_first():
    off = np.radians([-179.0, -120.0, -61.0, 61.0, 120.0, 179.0])
    for params in (FAITHFUL, FollowParams()):
        assert (params.creep, params.turn_from) == pytest.approx((0.1, np.radians(60.0)))
        many, gain = ways([STRAIGHT] * 6), gains([params] * 6, [1.4] * 6, [0.4] * 6)
        movers = standing([[0.0, 0.0, EAST + a] for a in off])
        assert wish(movers, many, gain).speed == pytest.approx(0.1)
        for _ in range(60):
            movers = advance(movers, many, gain, 1 / 30, 1 / 30)
        assert wish(movers, many, gain).speed == pytest.approx(1.4)
        assert np.abs(movers.heading - EAST).max() < 0.2
        for _ in range(150):
            movers = advance(movers, many, gain, 1 / 30, 1 / 30)
        assert np.hypot(*(movers.place - STRAIGHT[-1]).T).max() <= params.arrive
        nearly = standing([[0.0, 0.0, EAST + a] for a in np.radians([-59.0, 59.0])])
        assert wish(nearly, ways([STRAIGHT] * 2), gains([params] * 2, [1.4] * 2, [0.4] * 2)).speed == pytest.approx(1.4)


@pytest.mark.req("kuffner", 35)
@pytest.mark.parametrize("params", [FAITHFUL, FollowParams(), FollowParams(arrive=0.2)])
def test_it_halts_within_the_distance_of_arrival(params):
    track = walked(ZIGZAG, params=params)
    assert np.hypot(*(track[-1, :2] - ZIGZAG[-1])) <= params.arrive
    assert track[-1, 3] < 1e-3
    way, gain = ways([STRAIGHT]), gains([params], [1.4], [0.4])
    for share, stands in ((0.99, True), (1.01, False)):
        there = [STRAIGHT[-1, 0] - share * params.arrive, 0.0, EAST]
        movers = replace(standing([there]), speed=np.array([0.5]), along=np.array([4.5]))
        want = wish(movers, way, gain)
        assert want.arrived[0] == stands and (want.speed[0] == 0.0) == stands


def test_stopping_has_the_known_distances_left():
    way, gain = ways([np.array([[0.0, 0.0], [1.4, 0.0]])]), gains([FAITHFUL], [1.4], [0.4])
    movers = replace(standing([[0.0, 0.0, EAST]]), speed=np.array([1.4]))
    # without the region in which it has arrived, so that the loop is seen to its end
    gain = replace(gain, arrive=np.zeros(1))
    left = []
    for k in range(30 * 4):
        movers = advance(movers, way, gain, 1 / 30, 1 / 30)
        if (k + 1) % 30 == 0:
            left.append(1.4 - movers.place[0, 0])
    assert left == pytest.approx([0.375, 0.092, 0.022, 0.0054], rel=0.07)


@pytest.mark.req("kuffner", 36)
@pytest.mark.parametrize("reach", [0.2, 0.4, 0.8])
def test_the_faster_strays_further(reach):
    assert deviation(walked(ZIGZAG, 2.8, reach), ZIGZAG) > deviation(walked(ZIGZAG, 1.4, reach), ZIGZAG)


def test_with_foresight_a_walk_stays_within_a_hand_of_its_way():
    assert deviation(walked(ZIGZAG, params=FollowParams(), fps=24), ZIGZAG) < 0.1


@pytest.mark.req("kuffner", 37)
def test_the_frame_rate_hardly_matters_with_small_steps():
    tracks = {fps: walked(ZIGZAG, params=FollowParams(), fps=fps) for fps in (24.0, 25.0, 30.0, 60.0)}
    seconds = min((len(t) - 1) / fps for fps, t in tracks.items())
    at = np.arange(0.0, seconds, 0.1)
    places = [np.stack([np.interp(at, np.arange(len(t)) / f, t[:, k]) for k in (0, 1)]) for f, t in tracks.items()]
    worst = max(np.hypot(*(a - b)).max() for a in places for b in places)
    assert worst <= 0.03


@pytest.mark.req("kuffner", 38)
@pytest.mark.parametrize("settling", [0.4, 1.0])
def test_gains_from_a_settling_time_do_not_overshoot(settling):
    params = settled(FollowParams(settling=settling))
    assert params.turn_gain == pytest.approx(4 * params.heading_gain)
    h, a, b = params.step, params.heading_gain, params.turn_gain
    radius = np.abs(np.linalg.eigvals(np.array([[1.0, h], [-h * a * b, 1 - h * b]]))).max()
    assert radius < 1 and b * h <= 0.7
    # a quarter turn on the spot, without the limits of a body
    params = replace(params, turn_rate=0.0, swing=0.0, creep=0.001)
    way, gain = ways([np.array([[0.0, 0.0], [0.0, -1e4]])]), gains([params], [0.001], [1e3])
    movers = standing([[0.0, 0.0, EAST]])
    headings = []
    for _ in range(round(2.5 * settling / h)):
        movers = advance(movers, way, gain, h, h)
        headings.append(movers.heading[0])
    assert min(headings) > -0.01 * EAST
    assert abs(headings[round(settling / h)]) < 0.06 * EAST


@pytest.mark.req("kuffner", 39)
def test_a_new_way_changes_neither_speed_nor_turning_at_once():
    gain = gains([FollowParams()], [1.4])
    movers = standing([[0.0, 0.0, EAST]])
    for _ in range(48):
        movers = advance(movers, ways([ZIGZAG]), gain, 1 / 24)
    before = movers
    new = ways([np.array([movers.place[0], movers.place[0] + [-4.0, 3.0]])])
    after = advance(replace(movers, along=np.zeros(1)), new, gain, 1 / 240)
    assert abs(after.speed[0] - before.speed[0]) <= 2.0 / 240 + 1e-12
    assert abs(after.turning[0] - before.turning[0]) <= 15.0 / 240 + 1e-12


def test_told_to_stand_it_stops_smoothly_and_goes_on_when_told():
    way, gain = ways([np.array([[0.0, 0.0], [30.0, 0.0]])]), gains([FollowParams()], [1.4])
    movers, speeds = standing([[0.0, 0.0, EAST]]), []
    for k in range(24 * 9):
        movers = advance(movers, way, gain, 1 / 24, go=np.array([0.0 if 72 <= k < 144 else 1.0]))
        speeds.append(movers.speed[0])
    assert np.abs(np.diff(speeds)).max() <= 2.0 / 24 + 1e-9
    assert speeds[140] < 0.01 and speeds[-1] > 1.39


def test_the_final_heading_is_taken():
    gain = gains([FollowParams()], [1.4])
    movers = standing([[0.0, 0.0, EAST]])
    for _ in range(24 * 9):
        movers = advance(movers, ways([STRAIGHT]), gain, 1 / 24, final=np.array([-0.5]))
    assert movers.heading[0] == pytest.approx(-0.5, abs=0.01)


def test_in_a_narrow_u_the_nearest_point_does_not_jump_to_the_other_leg():
    u = ways([np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 0.4], [0.0, 0.4]])])
    along = nearest(u, np.array([[1.0, 0.3]]), np.array([0.8]), 1.5)
    assert along[0] == pytest.approx(1.0)


def test_a_batch_gives_each_what_it_gets_alone():
    lines = [ZIGZAG, STRAIGHT]
    gain = gains([FollowParams(), FAITHFUL], [1.4, 2.0], [0.4, 0.5])
    movers = standing([[0.0, 0.0, EAST], [0.0, 0.0, 0.0]])
    alone = [standing([[0.0, 0.0, EAST]]), standing([[0.0, 0.0, 0.0]])]
    single = [gains([FollowParams()], [1.4], [0.4]), gains([FAITHFUL], [2.0], [0.5])]
    for _ in range(60):
        movers = advance(movers, ways(lines), gain, 1 / 24)
        alone = [advance(m, ways([line]), g, 1 / 24) for m, line, g in zip(alone, lines, single, strict=True)]
    assert np.allclose(movers.place, [m.place[0] for m in alone], atol=1e-12)


def test_an_empty_way_is_refused():
    with pytest.raises(InvalidMotion, match="at least one point"):
        ways([np.zeros((0, 2))])
