"""The runner's parameters, attributes and pelvis: the paper's numbers, who moves whom, what happens out of reach."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.gait.physique import GRAVITY
from troupe.core.gait.runner import FLIGHT_MODELS, PARAMETERS, Relations, Stride, flight_height, settle
from troupe.core.gait.runner_body import Lower, hip_offset
from troupe.core.gait.runner_path import PelvisPath
from troupe.core.gait.runner_phase import phases
from troupe.core.gait.runner_pose import TRIES, pose
from troupe.core.gait.runner_style import PUBLISHED, RANGES, RECORDED, Laws, automatic, bounced, offset
from troupe.core.kinematics import anatomy
from troupe.core.maths import quat

HEIGHT = 1.8
FOOT = 0.152 * HEIGHT
REFERENCE = Lower(
    thigh=0.245 * HEIGHT,
    shin=0.246 * HEIGHT,
    ankle=0.039 * HEIGHT,
    heel=0.06,
    ball=0.72 * FOOT - 0.06,
    ball_height=0.0,
    toe=0.28 * FOOT,
    half=0.0,
)
"""The flat body on which the flight heights were worked out: both legs in one plane."""
PERSON = replace(REFERENCE, half=0.09)
NATURAL = Relations()


def kmh(speed):
    return speed / 3.6


def stride(speed, relations=NATURAL):
    return settle(relations, "speed", kmh(speed))


def flat(attributes):
    """Attributes without anything that goes out of the plane."""
    return replace(attributes, pelvis_rotation=0.0, pelvis_list=0.0, sway=0.0, width=0.0, toe_out=0.0, tilt=0.0)


def published(speed, run=None, style=None, jump=0.0):
    """State of the reference body at a speed [km/h]."""
    run = run or stride(speed)
    style = style or flat(automatic(PUBLISHED, NATURAL, run))
    return pose(REFERENCE, NATURAL, PUBLISHED, run, style, jump)


# speed [km/h], step length [m], cadence [1/min], step time, flight time continuous and printed, stance, swing [s], duty
TABLE = [
    (2, 0.2944, 113.22, 0.5299, 0.0518, 0.0518, 0.4781, 0.5817, 0.451),
    (5, 0.5269, 158.16, 0.3794, 0.1112, 0.1112, 0.2682, 0.4905, 0.353),
    (8, 0.7594, 175.58, 0.3417, 0.1401, 0.1401, 0.2017, 0.4818, 0.295),
    (10, 0.9144, 182.27, 0.3292, 0.1513, 0.1831, 0.1779, 0.4805, 0.270),
    (12, 1.0694, 187.02, 0.3208, 0.1556, 0.1882, 0.1652, 0.4764, 0.258),
    (15, 1.3019, 192.03, 0.3125, 0.1565, 0.1900, 0.1560, 0.4689, 0.250),
    (20, 1.6894, 197.31, 0.3041, 0.1542, 0.1887, 0.1498, 0.4583, 0.246),
    (24, 1.9994, 200.06, 0.2999, 0.1521, 0.1870, 0.1478, 0.4520, 0.246),
    (25, 1.9994, 208.40, 0.2879, 0.1427, 0.1790, 0.1452, 0.4306, 0.252),
    (30, 1.9994, 250.08, 0.2399, 0.1197, 0.1598, 0.1203, 0.3596, 0.251),
]


@pytest.mark.req("bruderlin", 1)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}kmh")
def test_the_table_of_natural_strides_holds(row):
    speed, step, cadence, step_time, flight, printed, stance, swing, duty = row
    run = stride(speed)
    assert run.step_length == pytest.approx(step, abs=6e-5)
    assert 60 * run.cadence == pytest.approx(cadence, abs=6e-3)
    times = (run.step_time, run.flight_time, run.stance_time, run.swing_time)
    assert times == pytest.approx((step_time, flight, stance, swing), abs=6e-5)
    assert run.duty == pytest.approx(duty, abs=6e-4)
    assert stride(speed, Relations(flight="printed")).flight_time == pytest.approx(printed, abs=6e-5)


@pytest.mark.req("bruderlin", 6)
def test_skill_and_height_lengthen_the_step():
    steps = [settle(Relations(level=level), "speed", 200 / 60).step_length for level in (-1, 0, 1)]
    assert steps == pytest.approx([0.8694, 1.0694, 1.2694], abs=6e-5)
    steps = [settle(Relations(height=height), "speed", 200 / 60).step_length for height in (1.7, 1.8, 1.9)]
    assert steps == pytest.approx([1.0432, 1.0694, 1.0949], abs=6e-5)
    assert Relations(level=1).top_step == pytest.approx(2.3994, abs=6e-5)


@pytest.mark.req("bruderlin", 6)
@pytest.mark.parametrize("model", FLIGHT_MODELS)
def test_the_more_skilled_fly_longer_at_every_cadence(model):
    for cadence in np.arange(60, 261, 8) / 60:
        times = [Relations(level=level, flight=model).flight_time(cadence, 3.0) for level in (-1, -0.5, 0, 0.5, 1)]
        assert (np.diff(times) >= 0).all()
        assert times[-1] > times[0] or times[-1] == 0.0


@pytest.mark.req("bruderlin", 7)
def test_printed_flight_times_jump_at_180_steps():
    printed = Relations(flight="printed")
    assert printed.flight_time(187.02 / 60, 3.0) == pytest.approx(0.18821, abs=1e-5)
    assert printed.flight_time((180 - 1e-7) / 60, 3.0) == pytest.approx(0.14793, abs=1e-5)
    assert printed.flight_time(180 / 60, 3.0) == pytest.approx(0.17933, abs=1e-5)
    assert Relations(flight="digit").flight_time((180 - 1e-7) / 60, 3.0) == pytest.approx(0.18033, abs=1e-5)


@pytest.mark.req("bruderlin", 8)
@pytest.mark.parametrize("level", [-1.0, 0.0, 1.0])
def test_default_flight_times_have_no_jump(level):
    relations = Relations(level=level)
    for cadence in (180.0, 230.0):
        low, high = (relations.flight_time((cadence + e) / 60, 3.0) for e in (-1e-6, 1e-6))
        assert abs(high - low) < 1e-6
    assert relations.flight_time(300 / 60, 3.0) == relations.flight_time(230 / 60, 3.0)


@pytest.mark.req("bruderlin", 8)
def test_flights_are_longest_at_191_steps():
    cadences = np.linspace(170, 230, 6001)
    times = [NATURAL.flight_time(c / 60, 3.0) for c in cadences]
    assert cadences[int(np.argmax(times))] == pytest.approx(190.9, abs=0.2)


@pytest.mark.req("bruderlin", 9)
@pytest.mark.parametrize("model", FLIGHT_MODELS)
@pytest.mark.parametrize("level", [-1.0, 0.0, 1.0])
def test_every_step_has_a_stance(model, level):
    relations = Relations(level=level, flight=model)
    for cadence in np.linspace(0.5, 400, 800) / 60:
        run = Stride(3.0, 3.0 / cadence, cadence, relations.flight_time(cadence, 3.0))
        assert 0.0 <= run.flight_time <= max(run.step_time - 0.04, 0.0) + 1e-12
        assert run.stance_time + run.flight_time == pytest.approx(run.step_time, abs=1e-12)
    assert relations.flight_time(0.0, 3.0) >= 0.0


def test_below_32_steps_a_minute_there_is_no_flight():
    assert NATURAL.flight_time(31.5 / 60, 0.1) == 0.0
    assert NATURAL.flight_time(31.8 / 60, 0.1) > 0.0


def test_the_literature_has_longer_contacts_for_joggers_and_the_same_for_the_fast():
    literature = Relations(flight="literature")
    assert stride(12, literature).stance_time == pytest.approx(0.245, abs=5e-4)
    assert stride(24, literature).flight_time == pytest.approx(stride(24).flight_time, abs=5e-4)


@pytest.mark.req("bruderlin", 2)
def test_at_a_locked_speed_more_steps_are_shorter():
    run = settle(NATURAL, "cadence", 210 / 60, {"speed": kmh(12)})
    assert run.step_length == pytest.approx(0.952, abs=1e-3)
    assert run.speed == kmh(12)


@pytest.mark.req("bruderlin", 4)
def test_above_the_top_speed_only_the_cadence_grows():
    steps = [stride(speed) for speed in (24, 26, 30, 40)]
    assert [s.step_length for s in steps] == pytest.approx([NATURAL.top_step] * 4)
    assert [s.cadence for s in steps] == pytest.approx([kmh(v) / NATURAL.top_step for v in (24, 26, 30, 40)])


@pytest.mark.req("bruderlin", 5)
@pytest.mark.parametrize("relations", [NATURAL, Relations(1.5, -0.6), Relations(2.1, 1.0, strict=True)])
@pytest.mark.parametrize("speed", [2, 6, 12, 18, 23])
def test_any_parameter_recovers_the_speed_it_came_from(relations, speed):
    speed = min(speed, 3.6 * relations.top_speed)
    run = stride(speed, relations)
    for name in PARAMETERS:
        back = settle(relations, name, getattr(run, name))
        assert back.speed == pytest.approx(kmh(speed), rel=1e-6)
        assert asdict(back) == pytest.approx(asdict(run), rel=1e-6)


def test_a_cadence_above_the_natural_ones_keeps_the_longest_step():
    run = settle(NATURAL, "cadence", 250.08 / 60)
    assert run.speed == pytest.approx(kmh(30), rel=1e-4)
    assert run.step_length == pytest.approx(NATURAL.top_step)


def test_a_step_beyond_the_longest_is_taken_at_the_top_speed_and_said_so():
    run = settle(NATURAL, "step_length", 2.3)
    assert (run.speed, run.natural) == (NATURAL.top_speed, False)
    assert run.cadence == pytest.approx(NATURAL.top_speed / 2.3)
    assert settle(NATURAL, "step_length", 1.9).natural


@pytest.mark.parametrize(
    ("moved", "value", "locked", "expected"),
    [
        ("speed", 4.0, {"step_length": 1.2}, (4.0, 1.2, 4.0 / 1.2)),
        ("speed", 4.0, {"cadence": 3.0}, (4.0, 4.0 / 3.0, 3.0)),
        ("step_length", 1.2, {"speed": 4.0}, (4.0, 1.2, 4.0 / 1.2)),
        ("step_length", 1.2, {"cadence": 3.0}, (3.6, 1.2, 3.0)),
        ("cadence", 3.0, {"speed": 4.0}, (4.0, 4.0 / 3.0, 3.0)),
        ("cadence", 3.0, {"step_length": 1.2}, (3.6, 1.2, 3.0)),
    ],
)
def test_a_lock_makes_the_third_parameter_follow(moved, value, locked, expected):
    run = settle(NATURAL, moved, value, locked)
    assert (run.speed, run.step_length, run.cadence) == pytest.approx(expected, rel=1e-12)


def test_two_locks_leave_nothing_to_move():
    with pytest.raises(InvalidParam, match=r"cadence.*fixed by speed and step_length.*unlock"):
        settle(NATURAL, "cadence", 3.0, {"speed": 4.0, "step_length": 1.2})
    # its own lock does not hold a parameter that is moved
    assert settle(NATURAL, "speed", 4.0, {"speed": 3.0, "cadence": 3.0}).speed == 4.0


@pytest.mark.parametrize(
    ("moved", "value", "locked", "message"),
    [
        ("speed", 0.0, {}, "positive"),
        ("speed", math.nan, {}, "positive"),
        ("cadence", -1.0, {}, "positive"),
        ("step_length", 0.1, {}, "steps this short"),
        ("pace", 1.0, {}, "must be one of"),
        ("speed", 3.0, {"jump": 1.0}, "must be one of"),
    ],
)
def test_a_value_that_no_run_has_is_refused(moved, value, locked, message):
    with pytest.raises(InvalidParam, match=message):
        settle(NATURAL, moved, value, locked)


def test_unknown_models_and_bodies_are_refused():
    with pytest.raises(InvalidParam, match="continuous, digit, printed, literature"):
        Relations(flight="guess")
    with pytest.raises(InvalidParam, match="positive"):
        Relations(height=0.0)


@pytest.mark.parametrize("height", [0.6, 1.2, 3.0])
def test_strict_similarity_scales_lengths_by_height_and_times_by_its_root(height):
    size = height / HEIGHT
    small = settle(Relations(height, strict=True), "speed", 3.0 * math.sqrt(size))
    person = settle(NATURAL, "speed", 3.0)
    assert small.step_length == pytest.approx(size * person.step_length)
    assert small.flight_time == pytest.approx(math.sqrt(size) * person.flight_time)
    assert small.duty == pytest.approx(person.duty)


# --- attributes


def test_default_attributes_are_those_of_the_table():
    a = automatic(PUBLISHED, NATURAL, stride(12))
    degrees = {
        "elbow_min": 70,
        "elbow_max": 100,
        "arms_out": 12,
        "tilt": 5,
        "torso_sway": 3,
        "pelvis_rotation": 4 + 6 * 1.0694,
        "pelvis_list": 5,
        "landing_knee": 14.9,
        "toe_off_knee": 20,
        "swing_knee": 95,
        "thigh_lift": 38,
        "toe_out": 5,
        "metatarsal": 30,
        "plantar": 15,
    }
    for name, value in degrees.items():
        assert math.degrees(getattr(a, name)) == pytest.approx(value, abs=2e-3), name
    assert (a.arm_swing, a.counter_rotation, a.toe_strike) == (1.0, 1.0, False)
    assert (a.bounciness, a.overstride) == pytest.approx((0.5, 0.3855), abs=1e-6)
    assert (a.width, a.sway) == pytest.approx((0.10, 0.02), abs=2e-5)


def test_attributes_of_a_fast_run_follow_their_laws():
    a = automatic(PUBLISHED, NATURAL, stride(20), rise=0.01)
    degrees = [math.degrees(x) for x in (a.tilt, a.elbow_max, a.swing_knee, a.thigh_lift, a.toe_off_knee)]
    assert degrees == pytest.approx([7, 108, 115, 50, 5], abs=1e-3)
    assert a.overstride == pytest.approx(0.3855 - 0.006 * 8)
    assert a.bounciness == pytest.approx(0.5 + 5 * 0.006)


@pytest.mark.req("bruderlin", 24)
@pytest.mark.parametrize("laws", [PUBLISHED, RECORDED], ids=["published", "recorded"])
def test_attributes_go_with_the_parameters_in_the_published_directions(laws):
    def signs(a, b):
        return {name: np.sign(getattr(b, name) - getattr(a, name)) for name in RANGES}

    faster = signs(automatic(laws, NATURAL, stride(10)), automatic(laws, NATURAL, stride(14)))
    for name in ("tilt", "swing_knee", "thigh_lift", "pelvis_rotation"):
        assert faster[name] > 0, name
    for name in ("overstride", "toe_off_knee"):
        assert faster[name] < 0, name
    hurried = signs(
        automatic(laws, NATURAL, stride(12)),
        automatic(laws, NATURAL, settle(NATURAL, "cadence", 3.5, {"step_length": stride(12).step_length})),
    )
    assert hurried["width"] < 0
    assert hurried["sway"] < 0
    assert bounced(laws, 0.02) > bounced(laws, 0.01)
    wide = automatic(replace(laws, width=(0.2, 0.0)), NATURAL, stride(12))
    assert wide.sway > automatic(replace(laws, width=(0.1, 0.0)), NATURAL, stride(12)).sway


@pytest.mark.req("bruderlin", 24)
def test_offsets_survive_a_change_of_the_parameters():
    more = {"tilt": 0.1, "arm_swing": 1.5, "landing_knee": -0.05, "width": 0.04}
    for speed in (6, 12, 18):
        plain = automatic(PUBLISHED, NATURAL, stride(speed))
        changed = offset(plain, more)
        assert changed.tilt - plain.tilt == pytest.approx(0.1)
        assert changed.arm_swing == pytest.approx(1.5 * plain.arm_swing)
        assert changed.landing_knee - plain.landing_knee == pytest.approx(-0.05)
        assert changed.width - plain.width == pytest.approx(0.04)


def test_attributes_stay_within_their_ranges():
    for sign in (-1.0, 1.0):
        extreme = offset(automatic(PUBLISHED, NATURAL, stride(12)), dict.fromkeys(RANGES, sign * 99.0))
        for name, (low, high) in RANGES.items():
            assert low <= getattr(extreme, name) <= high, name
    with pytest.raises(InvalidParam, match="must be one of"):
        offset(automatic(PUBLISHED, NATURAL, stride(12)), {"hat": 1.0})


def test_there_are_nineteen_attributes():
    hidden = {"metatarsal", "plantar", "heel_off", "strike_pitch", "pointing"}
    assert len(set(asdict(automatic(PUBLISHED, NATURAL, stride(12)))) - hidden) == 19
    assert set(RANGES) | hidden | {"toe_strike"} == set(asdict(automatic(PUBLISHED, NATURAL, stride(12))))


# --- the pelvis at strike and toe-off


# speed [km/h], overstride [m], knee at toe-off [deg], heights at strike and toe-off, difference and flight [m]
HEIGHTS = [
    (2, 0.118, 47.8, 0.945, 0.956, 0.010, 0.0002),
    (5, 0.159, 36.3, 0.937, 0.982, 0.045, 0.0010),
    (8, 0.184, 29.3, 0.931, 0.993, 0.062, 0.0030),
    (12, 0.212, 20.0, 0.923, 0.998, 0.075, 0.0040),
    (15, 0.239, 13.0, 0.914, 0.992, 0.078, 0.0038),
    (20, 0.281, 5.0, 0.899, 0.961, 0.062, 0.0063),
    (25, 0.310, 5.0, 0.887, 0.910, 0.023, 0.0147),
]


@pytest.mark.req("bruderlin", 3)
@pytest.mark.parametrize("row", HEIGHTS, ids=lambda row: f"{row[0]}kmh")
def test_the_table_of_flight_heights_holds(row):
    speed, reach, knee, landing, take_off, drop, rise = row
    state = published(speed)
    assert state.reach == pytest.approx(reach, abs=6e-4)
    assert math.degrees(state.attributes.toe_off_knee) == pytest.approx(knee, abs=0.06)
    heights = (state.landing, state.take_off, state.take_off - state.landing)
    assert heights == pytest.approx((landing, take_off, drop), abs=6e-4)
    assert state.rise == pytest.approx(rise, abs=6e-5)


@pytest.mark.req("bruderlin", 2, 3)
def test_raising_the_cadence_at_a_locked_speed_lowers_the_flight_as_published():
    fast = settle(NATURAL, "cadence", 210 / 60, {"speed": kmh(12)})
    held = published(12, fast, flat(automatic(PUBLISHED, NATURAL, stride(12))))
    followed = published(12, fast)
    assert (held.rise, followed.rise) == pytest.approx((0.0010, 0.0012), abs=6e-5)
    assert held.take_off == pytest.approx(1.000, abs=6e-4)
    assert [round(s.rise, 3) for s in (published(12), held, followed)] == [0.004, 0.001, 0.001]
    assert followed.reach == pytest.approx(published(12).reach)


@pytest.mark.req("bruderlin", 10)
@pytest.mark.parametrize("speed", range(2, 26))
def test_the_flight_ends_where_the_next_strike_is(speed):
    state = published(speed)
    t = state.stride.flight_time
    end = state.take_off + math.sqrt(2 * GRAVITY * state.rise) * t - 0.5 * GRAVITY * t * t
    assert end == pytest.approx(state.landing, abs=1e-9)
    assert state.rising == pytest.approx(math.sqrt(2 * GRAVITY * state.rise), abs=1e-9)
    assert state.leaving + state.stride.speed * t == pytest.approx(state.stride.step_length - state.reach)


@pytest.mark.req("bruderlin", 10)
def test_the_flight_height_is_the_ballistic_one():
    for t, drop in ((0.15, 0.05), (0.2, -0.03), (0.1, 0.0)):
        rise, rising = flight_height(t, 1.0, 1.0 - drop)
        assert rise == pytest.approx(rising**2 / (2 * GRAVITY))
        assert 1.0 + rising * t - 0.5 * GRAVITY * t * t == pytest.approx(1.0 - drop)
    assert flight_height(0.1, 1.0, 0.9)[1] < 0


@pytest.mark.req("bruderlin", 11)
@pytest.mark.parametrize("speed", range(2, 26))
def test_the_height_of_a_flight_gives_back_its_time(speed):
    state = published(speed)
    again = published(speed, stride(speed), state.attributes, jump=state.rise)
    assert again.stride.flight_time == pytest.approx(state.stride.flight_time, abs=1e-6)
    assert again.rise == pytest.approx(state.rise, abs=1e-9)


@pytest.mark.req("bruderlin", 11)
@pytest.mark.parametrize(("speed", "roots"), [(12, (0.0601, 0.1556)), (24, (0.1521, 0.2176))])
def test_of_two_flights_of_a_height_the_one_nearest_to_the_natural_time_is_taken(speed, roots):
    state = published(speed)
    for root in roots:
        near = replace(stride(speed), flight_time=root + 0.004)
        again = published(speed, near, state.attributes, jump=state.rise)
        assert again.stride.flight_time == pytest.approx(root, abs=1e-4)
        assert again.rise == pytest.approx(state.rise, abs=1e-9)


@pytest.mark.req("bruderlin", 11)
def test_a_flight_that_cannot_be_so_low_or_so_high_is_the_nearest_one_and_said_so():
    run = stride(18.5)
    natural = published(18.5)
    low = published(18.5, run, natural.attributes, jump=0.3 * natural.rise)
    assert low.rise > 0.3 * natural.rise
    assert any("instead of" in w for w in low.warnings)
    high = published(18.5, run, natural.attributes, jump=0.9)
    assert high.rise < 0.9
    assert any("instead of" in w for w in high.warnings)
    t = low.stride.flight_time
    assert low.take_off + low.rising * t - 0.5 * GRAVITY * t * t == pytest.approx(low.landing, abs=1e-6)


@pytest.mark.req("bruderlin", 11)
def test_a_higher_flight_is_longer():
    times = [published(12, jump=jump).stride.flight_time for jump in (0.005, 0.02, 0.05, 0.08)]
    assert np.all(np.diff(times) > 0)
    assert published(12, jump=0.05).rise == pytest.approx(0.05)


@pytest.mark.req("bruderlin", 12)
def test_a_push_downward_is_avoided_by_a_bent_knee_and_said_so():
    run = stride(12)
    low = replace(flat(automatic(PUBLISHED, NATURAL, run)), landing_knee=math.radians(45))
    state = published(12, run, low)
    assert state.rise >= 1e-4
    assert state.rising > 0
    assert state.attributes.toe_off_knee > low.toe_off_knee
    assert any("at toe-off" in w for w in state.warnings)
    assert (state.take_off - state.landing) <= 0.5 * GRAVITY * run.flight_time**2


@pytest.mark.req("bruderlin", 12)
def test_where_no_knee_helps_the_flight_begins_level():
    run = replace(stride(5), flight_time=0.01)
    deep = replace(flat(automatic(PUBLISHED, NATURAL, run)), landing_knee=math.radians(60), toe_off_knee=0.0)
    state = published(5, run, deep)
    assert (state.rise, state.rising) == (0.0, 0.0)
    assert state.take_off == pytest.approx(state.landing + 0.5 * GRAVITY * 0.01**2)
    assert state.attributes.toe_off_knee == 0.0
    assert any("level" in w for w in state.warnings)


def test_a_flight_too_short_for_its_way_up_ends_lower():
    state = published(12, replace(stride(12), flight_time=0.004))
    assert 0 < state.rising <= 1.5 + 1e-9
    assert state.landing < published(12).landing
    assert state.take_off + 0.004 * state.rising - 0.5 * GRAVITY * 0.004**2 == pytest.approx(state.landing)
    assert any("at the strike" in w for w in state.warnings)


def test_a_step_too_long_for_the_legs_is_shortened_and_said_so():
    long = settle(NATURAL, "step_length", 3.5, {"speed": 7.0})
    state = published(25, long)
    assert state.stride.step_length < 3.5
    assert state.stride.speed == 7.0
    assert state.stride.step_length * state.stride.cadence == pytest.approx(7.0)
    assert any("too short" in w for w in state.warnings)
    assert 0 < state.take_off < 1.1
    assert 0 < state.landing < 1.1


def test_searches_are_bounded():
    assert TRIES <= 60
    state = published(2)
    assert 0 < math.degrees(state.attributes.toe_off_knee - automatic(PUBLISHED, NATURAL, stride(2)).toe_off_knee) <= 30


def test_the_hip_is_where_the_turned_pelvis_has_it():
    for angles in ((0.1, -0.2, 0.3), (-0.2, 0.1, -0.4)):
        forward, left, up = hip_offset(0.09, *angles)
        place = quat.rotate(anatomy.from_angles(angles, "hips"), np.array([0.09, 0.0, 0.0]))
        assert [left, -forward, up] == pytest.approx(place)


def test_a_planted_foot_turns_about_heel_or_ball():
    lower = replace(REFERENCE, ball_height=0.02)
    up = lower.ankle - lower.ball_height
    for pitch in (0.3, 0.01):
        x, y = lower.raised(pitch)
        assert np.hypot(x, y) == pytest.approx(np.hypot(lower.heel, lower.ankle))
    for pitch in (-0.3, -1.0):
        x, y = lower.raised(pitch)
        assert np.hypot(x - lower.heel - lower.ball, y - lower.ball_height) == pytest.approx(np.hypot(lower.ball, up))
        assert y > lower.ankle
    assert lower.raised(0.0) == (pytest.approx(lower.heel), pytest.approx(lower.ankle))


# --- the way of the pelvis


def path_of(speed, laws=PUBLISHED, kind="smooth", lower=PERSON):
    run = stride(speed)
    state = pose(lower, NATURAL, laws, run, automatic(laws, NATURAL, run))
    return PelvisPath(state, laws, 1.0, kind)


def rates(path, time, side):
    """Speed of forward and height just before (-1) or after (1) a time."""
    e = 1e-7
    t = np.array([time, time + side * e])
    x, height, *_ = path.at(t)
    return np.array([np.diff(x)[0], np.diff(height)[0]]) / (side * e)


@pytest.mark.req("bruderlin", 15)
@pytest.mark.parametrize("laws", [PUBLISHED, RECORDED], ids=["published", "recorded"])
@pytest.mark.parametrize("speed", [2, 5, 8, 12, 16, 20, 25])
def test_the_pelvis_does_not_jump_at_strike_or_toe_off(laws, speed):
    path = path_of(speed, laws)
    step = path.step
    for time in (path.stance, step):
        jump = rates(path, time, 1) - rates(path, time, -1)
        assert np.abs(jump).max() < 0.02 * path.speed
    start, end = (np.array([row[k] for row in path.at(np.array([1e-12, step]))]) for k in (0, 1))
    assert end[:2] == pytest.approx(start[:2] + [path.state.stride.step_length, 0.0], abs=1e-6)
    assert end[2:] == pytest.approx(-start[2:], abs=1e-6)


def test_one_cubic_through_four_points_kicks_at_the_strike():
    run = stride(12)
    state = replace(published(12), attributes=replace(published(12).attributes, bounciness=0.5))
    kicked, smooth = (PelvisPath(state, PUBLISHED, 1.0, kind) for kind in ("published", "smooth"))
    assert rates(kicked, 0.0, 1)[1] == pytest.approx(-2.66, abs=0.01)
    assert rates(smooth, 0.0, 1)[1] == pytest.approx(-1.25, abs=0.01)
    falling = state.rising - GRAVITY * run.flight_time
    assert rates(smooth, 0.0, 1)[1] == pytest.approx(falling, abs=1e-4)
    mid = run.stance_time / 2
    for path in (kicked, smooth):
        x, height, *_ = path.at(np.array([mid]))
        assert height[0] == pytest.approx(min(state.landing, state.take_off) - (0.02 + 0.02 + 0.5 * state.rise))
        assert x[0] == pytest.approx(-state.reach + 0.8 * (state.leaving + state.reach) / 2)


@pytest.mark.req("bruderlin", 16)
@pytest.mark.parametrize("laws", [PUBLISHED, RECORDED], ids=["published", "recorded"])
@pytest.mark.parametrize("kind", ["smooth", "published"])
@pytest.mark.parametrize("speed", [2, 6, 12, 20, 25])
def test_sway_list_and_rotation_pass_their_keys(laws, kind, speed):
    path = path_of(speed, laws, kind)
    a = path.state.attributes
    times = np.array([0.0, path.stance / 2, path.stance, path.step])
    _, _, sway, list_, yaw = path.at(times)
    assert sway / a.sway == pytest.approx([0.8, 1.0, 0.8, -0.8], abs=1e-9)
    # the hip over the standing foot is the high one: the pelvis leans to the other side
    assert list_ / a.pelvis_list == pytest.approx([-0.8, -1.0, 0.0, 0.8], abs=1e-9)
    # the landing hip is ahead, the one that pushes off behind: the pelvis is turned to its side
    assert yaw / a.pelvis_rotation == pytest.approx([-0.2, 0.0, 1.0, 0.2], abs=1e-9)
    _, _, sway, list_, yaw = path.at(np.linspace(0, 2 * path.step, 2001))
    assert np.abs(sway).max() == pytest.approx(a.sway, rel=1e-3)
    assert np.abs(list_).max() == pytest.approx(a.pelvis_list, rel=1e-3)
    assert np.abs(yaw).max() == pytest.approx(a.pelvis_rotation, rel=1e-3)


@pytest.mark.req("bruderlin", 25)
def test_the_second_step_is_the_first_one_mirrored():
    path = path_of(12)
    t = np.linspace(1e-6, path.step * 0.999, 50)
    first, second = path.at(t), path.at(t + path.step)
    assert second[0] - first[0] == pytest.approx(np.full(50, path.state.stride.step_length), abs=1e-9)
    assert second[1] == pytest.approx(first[1], abs=1e-9)
    for k in (2, 3, 4):
        assert second[k] == pytest.approx(-first[k], abs=1e-9)


# --- recoveries of the legs


def legs(speed, laws=PUBLISHED, **changes):
    run = stride(speed)
    style = automatic(laws, NATURAL, run)
    state = pose(PERSON, NATURAL, laws, run, style)
    state = replace(state, attributes=replace(state.attributes, **changes))
    return phases(state, laws, PERSON, 1.0)


@pytest.mark.req("bruderlin", 21)
def test_a_pelvis_too_high_for_the_leg_is_lowered_at_mid_support():
    high = replace(PUBLISHED, dip=-0.085)
    done = legs(12, high, bounciness=0.0)
    assert any("lower at mid-support" in w for w in done.warnings)
    untouched = PelvisPath(done.path.state, high, 1.0)
    assert done.path.low < untouched.low
    # now every sample of the stance has a leg that reaches: the knee is not locked
    assert np.degrees(done.stance[:, 1].min()) > 3.9


@pytest.mark.req("bruderlin", 21)
def test_a_pelvis_too_low_for_a_raised_heel_keeps_the_knee_bent():
    deep = legs(20, replace(PUBLISHED, dip=0.08), bounciness=1.0)
    assert any("stays bent" in w for w in deep.warnings)
    assert deep.stance[:, 2].max() <= math.radians(15.0) + 1e-9
    flat_from = int(0.35 * len(deep.stance)) + 2
    assert deep.stance[flat_from:, 2].max() < 2e-3


@pytest.mark.req("bruderlin", 21)
def test_a_foot_that_would_stub_the_ground_is_lifted_by_the_knee():
    low = legs(12, swing_knee=math.radians(40))
    assert any("stub" in w for w in low.warnings)
    assert np.degrees(low.swing[:, 1].max()) > 45
    assert not any("stub" in w for w in legs(12).warnings)


def test_natural_runs_need_no_recovery():
    for speed in range(4, 26):
        assert legs(speed, RECORDED).warnings == (), speed


def test_laws_are_told_apart():
    assert isinstance(PUBLISHED, Laws)
    assert PUBLISHED != RECORDED
