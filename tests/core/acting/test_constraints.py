"""Looking at things and keeping clear of walls."""

from __future__ import annotations

import math

import numpy as np
import pytest
from troupe.core.acting.body.avoidance import (
    RADIUS,
    Doorway,
    Obstacle,
    Surroundings,
    Wall,
    room,
    seeded_side,
    slid,
    turning,
)
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.flow import Order
from troupe.core.acting.body.lookat import YAW_LIMIT, factor, looked
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.repertoire.stockactions import stock_library
from troupe.core.errors import InvalidParam
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat

from .puppets import MANNEQUIN, library, reference_body

DT = 1 / 240


def walk(
    around: Surroundings, x: float, y: float, heading: float, speed: float, seconds: float, **options
) -> np.ndarray:
    """Places (T, 2) of a point that walks and is turned away."""
    dt = options.get("dt", DT)
    rng = np.random.default_rng(options.get("wander", 0))
    side, out, drift = 0, [], 0.0
    for k in range(int(seconds / dt)):
        if "wander" in options and k % round(0.5 / dt) == 0:
            drift = rng.normal(0.0, 0.5)
        rate, side = turning(x, y, heading, around, side, options.get("chance", 1), speed)
        heading += (rate + drift) * dt
        x, y = x + speed * dt * math.sin(heading), y - speed * dt * math.cos(heading)
        if options.get("slide"):
            x, y, _ = slid(x, y, around)
        out.append((x, y))
    return np.array(out)


WALL = Surroundings((Wall((-50.0, 0.0), (50.0, 0.0)),))


@pytest.mark.req("improv", 59)
@pytest.mark.parametrize(("off", "nearest"), [(10, 0.99), (30, 1.10), (60, 1.33), (80, 1.65)])
@pytest.mark.parametrize("hand", [1, -1])
def test_an_actor_turns_to_the_side_it_leans_to(off, nearest, hand):
    # the wall lies ahead at y = 0; heading 0 faces it, positive is to the left
    track = walk(WALL, 0.0, 2.6, hand * math.radians(off), 1.2, 6.0)
    assert abs(track[:, 1].min() - nearest) < 0.05
    assert (track[-1, 0] - track[0, 0]) * hand > 0


@pytest.mark.req("improv", 59)
def test_head_on_the_side_is_seeded_and_the_actor_stays_clear():
    for chance in (1, -1):
        track = walk(WALL, 0.0, 5.0, 0.0, 1.2, 10.0, chance=chance)
        assert track[:, 1].min() >= 0.9
        assert track[-1, 0] * chance > 0
    assert {seeded_side(s) for s in range(20)} == {1, -1}


@pytest.mark.req("improv", 59)
@pytest.mark.parametrize(("off", "nearest"), [(10, 0.99), (60, 1.33)])
def test_a_body_turns_away_as_a_point_of_its_speed_does(off, nearest):
    """The hips of a body that walks go to and fro by a tenth of a metre; on the mean its way is that of a point."""
    lib, styles = stock_library(), {"walking.amount": 0.745}
    wish = [Selection(0.0, "", "walking", fade=0.0)]
    place = (0.0, 2.6, math.radians(off))
    motion = perform(lib, reference_body(), wish, 9.0, 24, place=place, around=WALL, styles=styles)
    free = perform(lib, reference_body(), wish, 9.0, 24, styles=styles)
    assert abs((free.roots[0, 1] - free.roots[-1, 1]) / 9.0 - 1.2) < 0.05
    mean = np.convolve(motion.roots[:, 1], np.full(23, 1 / 23), "valid")  # over one cycle
    assert abs(mean.min() - nearest) < 0.08
    assert motion.roots[-1, 0] > 3.0


@pytest.mark.req("improv", 60)
@pytest.mark.parametrize("size", [(6.0, 6.0), (10.0, 4.0)])
def test_wanderers_stay_in_their_room(size):
    around = room(*size)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        begin = (*(rng.uniform(-0.5, 0.5, 2) * (np.array(size) - 2.0)), float(rng.uniform(0, 2 * np.pi)))
        for slide in (False, True):
            track = walk(around, *begin, 1.2, 60.0, wander=seed, slide=slide, dt=1 / 24)
            clear = (np.array(size) / 2 - np.abs(track)).min()
            assert clear > (RADIUS - 1e-9 if slide else 0.0), (seed, slide)


def test_obstacles_are_walked_around_and_walls_need_two_ends():
    around = Surroundings(obstacles=(Obstacle((0.0, 0.0), 0.5),))
    track = walk(around, 0.05, 4.0, 0.0, 1.2, 8.0)
    assert np.hypot(track[:, 0], track[:, 1]).min() > 0.5
    assert turning(0.0, 4.0, math.pi, around, 1) == (0.0, 0)
    with pytest.raises(InvalidParam):
        Wall((1.0, 1.0), (1.0, 1.0))


@pytest.mark.req("improv", 63)
def test_a_doorway_draws_whoever_heads_for_it():
    around = Surroundings((Wall((-6.0, 0.0), (6.0, 0.0)),), doorways=(Doorway((0.0, 0.0), 1.0),))
    rng = np.random.default_rng(0)
    through = 0
    for _ in range(100):
        x, y = rng.uniform(-1.2, 1.2), rng.uniform(1.4, 1.6)
        aim = math.atan2(-x, y)
        track = walk(around, x, y, aim + rng.uniform(-1, 1) * math.radians(44.0), 1.0, 5.0)
        crossed = np.flatnonzero(track[:, 1] < 0.0)
        through += bool(len(crossed) and abs(track[crossed[0], 0]) < 0.5)
    assert through > 90


def test_a_body_in_a_room_turns_before_the_wall():
    lib = stock_library()
    motion = perform(
        lib, MANNEQUIN, [Selection(0.0, "", "stroll")], 20.0, 24, BodyParams(seed=2), around=room(5.0, 5.0)
    )
    assert np.abs(motion.roots[:, :2]).max() < 2.5 - 0.25
    assert np.ptp(motion.roots[:, :2], axis=0).max() > 1.5


@pytest.mark.req("improv", 61)
def test_the_head_turns_by_the_published_part_of_the_way():
    assert np.abs(factor([1.0, 0.5, 0.0, -0.2, -0.6, -1.0]) - [1, 0.6875, 0.375, 0.25, 0, 0]).max() < 1e-4
    yaws = np.radians([30.0, 45.0, 60.0, 90.0, 105.0, 120.0, 64.9])
    assert np.abs(np.degrees(head_yaws(yaws)) - [27.5, 36.8, 41.3, 33.8, 22.4, 7.5, 41.5]).max() < 0.06
    fine = np.radians(np.linspace(0.0, 180.0, 18001))
    assert abs(np.degrees(fine[np.argmax(head_yaws(fine))]) - 64.9) < 0.06
    # the head lets go exactly where the cosine is -0.6, on both sides
    for side in (1.0, -1.0):
        assert side * head_yaws(side * np.radians([126.86]))[0] > 0.0
        assert not head_yaws(side * np.radians([126.88, 150.0, 180.0])).any()


def head_yaws(yaws, hold=False):
    """Turn of the head [rad] to targets at these yaws [rad], level with the eyes."""
    aims = np.column_stack([np.sin(yaws), -np.cos(yaws), np.zeros(len(yaws))])
    zero = np.zeros((len(yaws), 3))
    return looked(zero, zero, aims[:, None], np.ones((len(yaws), 1)), hold)[:, 1]


@pytest.mark.req("improv", 61)
@pytest.mark.parametrize("hold", [False, True])
def test_nothing_jumps_as_a_target_passes_behind(hold):
    # a jump stays as large however finely it is looked at, a slope becomes smaller
    steps = [np.abs(np.diff(head_yaws(np.linspace(-7.0, 7.0, n + 1), hold))).max() for n in (40_000, 160_000)]
    assert steps[1] < 0.6 * steps[0] < 0.003


@pytest.mark.req("improv", 62)
def test_a_turning_body_holds_releases_and_takes_up_a_gaze():
    lib = library("define ACTION spin { TURN 60 }\nGROUP g ACTION spin")
    targets = {"camera": (0.0, -4000.0, 1.6)}
    motion = perform(
        lib, MANNEQUIN, [Order(0.0, "look", "camera", True)], 7.0, 24, BodyParams(travel=False), targets=targets
    )
    yaw = neck_and_head(motion)[24:]
    turned = np.unwrap(quat.heading(motion.rotations[24:, 0]))
    away = np.arctan2(np.sin(turned), np.cos(turned))
    assert np.abs(yaw + away * factor(np.cos(away))).max() < np.radians(0.01)
    # the body turns left, so the head stays to the right, lets go, and comes back over the left shoulder
    turned = np.degrees(turned)
    assert turned[0] < 65.0 and turned[-1] > 415.0
    assert yaw[turned < 65.0].max() < np.radians(-41.0)
    assert not yaw[(turned > 127.0) & (turned < 233.0)].any()
    assert yaw[np.abs(turned - 295.0) < 2.0].min() > np.radians(41.0)
    assert np.abs(yaw[np.abs(turned - 360.0) < 1.0]).max() < np.radians(1.0)


@pytest.mark.req("improv", 62)
@pytest.mark.parametrize("looks", [False, True])
def test_a_head_never_turns_further_than_heads_do(looks):
    lib = library("define ACTION wild { Neck 0 -60:60 0 { 0 n1 0 } Nod 0 -90:90 0 { 0 n2 0 } }\nGROUP g ACTION wild")
    orders = [Order(0.0, "look", "door", True)] if looks else []
    params = BodyParams(seed=3)
    motion = perform(lib, MANNEQUIN, orders, 40.0, 12, params, targets={"door": (3.0, -0.5, 1.6)})
    state = start(lib, MANNEQUIN, params).advance(40.0)
    channels, _ = state.stage.channels([g.history for g in state.groups], {}, motion.times, motion.times, {})
    asked = channels.reshape(len(motion), -1, 3)[:, 2:4, 1].sum(axis=1)
    assert np.abs(asked).max() > np.degrees(YAW_LIMIT) + 20.0
    yaw = neck_and_head(motion)
    assert np.abs(yaw).max() <= YAW_LIMIT + 1e-9
    if not looks:
        assert np.allclose(yaw, np.clip(np.radians(asked), -YAW_LIMIT, YAW_LIMIT))


def neck_and_head(motion) -> np.ndarray:
    """(T,) turn of neck and head together to the left [rad]."""
    return sum(anatomy.joint_angles(motion.rotations[:, MANNEQUIN.joint(r)], r)[:, 2] for r in ("neck", "head"))


def test_only_actions_that_look_do_so_when_told_so():
    lib = library(
        "define ACTION plain { Waist 0 0 0 }\ndefine ACTION gazer { LOOK 1 fade .5 }\nGROUP g ACTION plain ACTION gazer"
    )
    state = start(lib, MANNEQUIN, targets={"her": (2.0, -2.0, 1.6)}).look_at("her", 0.0, always=False).advance(2.0)

    def turn(s) -> float:
        return float(anatomy.joint_angles(s.pose().rotations[MANNEQUIN.joint("neck")], "neck")[2])

    assert abs(turn(state)) < 1e-9
    state = state.select("", "gazer", 2.0).advance(4.0)
    assert turn(state) > 0.4
    state = state.look_at("", 4.0).advance(6.0)
    assert abs(turn(state)) < 1e-6


def test_the_gaze_goes_over_smoothly_and_aims_true_in_front():
    lib = library("define ACTION plain { Waist 0 0 0 }\nGROUP g ACTION plain")
    spot = np.array([0.6, -3.0, 2.0])
    state = start(lib, MANNEQUIN, targets={"a": spot, "b": (-1.0, -3.0, 1.2)}).look_at("a", 0.0)
    last = None
    for k in range(1, 96):
        if k == 48:
            state = state.look_at("b", state.time)
        state = state.advance(k / 24)
        neck = state.pose().rotations[MANNEQUIN.joint("neck")]
        assert last is None or np.abs(neck - last).max() < 0.05
        last = neck
        if k == 46:
            pose = state.pose()
            positions, globals_ = fk.forward(MANNEQUIN, pose.rotations, pose.root)
            head = MANNEQUIN.joint("head")
            gaze = quat.rotate(globals_[head], np.array([0.0, -1.0, 0.0]))
            aim = spot - positions[head]
            assert np.degrees(np.arccos(gaze @ aim / np.linalg.norm(aim))) < 4.0
