"""Running: what a stride is at any speed, that its pieces fit each other, and the motions made of it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from quality import depth, slide
from troupe.core.errors import InvalidParam
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.carriage import along, periodic
from troupe.core.gait.cycle import ARM, BODY, LEG_SAMPLES, ODD, STRIDE_SAMPLES
from troupe.core.gait.physique import GRAVITY, Physique, measure
from troupe.core.gait.run import RunParams
from troupe.core.gait.runner_body import hip_offset
from troupe.core.gait.running import _OFFSETS, Run, RunStyle
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.kinematics import anatomy, fk
from troupe.core.motion import Path
from troupe.core.params import declared

from .recordings import RUNS, load

SPEEDS = [4, 6, 8, 10, 12, 15, 18, 20]
"""[km/h]"""
CALIBRATIONS = ["recorded", "published"]


def kmh(speed):
    return speed / 3.6


def body(height=1.8):
    """A person of average proportions."""
    ankle, foot, heel = 0.039 * height, 0.152 * height, height / 30

    def pair(x, y, z):
        return np.array([[x, y, z], [-x, y, z]])

    return Physique(
        leg=0.491 * height,
        thigh=np.full(2, 0.245 * height),
        shin=np.full(2, 0.246 * height),
        ankle=np.full(2, ankle),
        hips=pair(0.05 * height, 0, 0),
        heel=pair(0, heel, -ankle),
        ball=pair(0, heel - 0.72 * foot, -ankle),
        toe=pair(0, -0.28 * foot, 0),
        height=height,
    )


BODY_1_8 = body()


def run(**params):
    return Run(BODY_1_8, RunStyle(**params))


def column(cycle, name):
    return cycle.body[:, BODY.index(name)] if name in BODY else cycle.arm[:, ARM.index(name)]


class Leg:
    """The left leg of a cycle as whoever plants the foot sees it: by the curves of the cycle alone, from the side."""

    def __init__(self, gait, speed):
        self.cycle, self.speed = gait.cycle(speed, "L"), speed
        self.lower = gait.lower

    def hips(self, t):
        """(2, n) hip joint forward of the body's mean place at the strike, and up."""
        zero = np.zeros(len(t), dtype=np.int64)
        curves = periodic(self.cycle.body[None], zero, t / (2 * self.cycle.step_time))
        surge, _, height, tilt, list_, yaw = curves[:, :6].T
        offsets = [hip_offset(self.lower.half, *turn) for turn in zip(tilt, list_, yaw, strict=True)]
        forward, _, up = np.array(offsets).T
        return np.array([self.speed * t + surge + forward, height + up])

    def planted(self, t):
        """(3, n) ankle forward and up, and pitch of the foot at times t (n,) of the stance."""
        c, zero = self.cycle, np.zeros(len(t), dtype=np.int64)
        pitch = along(c.stance[None], zero, t / c.stance_time)[:, 0]
        x, y = self.lower.raised(pitch)
        ahead = c.lead * c.stance_time * self.speed + np.cos(c.toe_out) * (x - self.lower.heel)
        return np.array([ahead, y, pitch])

    def swung(self, t):
        """(3, n) the same at times t (n,) from the strike on, within the swing."""
        c, zero = self.cycle, np.zeros(len(t), dtype=np.int64)
        thigh, knee, pitch = along(c.swing[None], zero, (t - c.stance_time) / c.swing_time).T
        a, b = self.lower.thigh, self.lower.shin
        x, y = self.hips(t)
        ahead = x + a * np.sin(thigh) + b * np.sin(thigh - knee)
        return np.array([ahead, y - a * np.cos(thigh) - b * np.cos(thigh - knee), pitch])


# --- parameters


def test_six_parameters_are_basic_and_nineteen_are_attributes():
    assert sum(p.basic for p in declared(RunParams)) <= 6
    assert len(_OFFSETS) + 1 == 19
    assert {p.name for p in declared(RunStyle)} >= {*_OFFSETS, "strike"}
    assert all(p.help for p in declared(RunStyle))


@pytest.mark.req("bruderlin", 1, 2)
def test_what_is_not_zero_is_held():
    assert run().settled.step_length == pytest.approx(1.0694, abs=1e-4)
    assert run(cadence=210.0).settled.step_length == pytest.approx(0.952, abs=1e-3)
    assert run(speed=0.0, step_length=1.0694).settled.speed == pytest.approx(kmh(12), rel=1e-4)
    assert run(speed=0.0, cadence=187.02).settled.speed == pytest.approx(kmh(12), rel=1e-3)
    both = run(speed=0.0, step_length=1.2, cadence=180.0).settled
    assert (both.speed, both.step_length, 60 * both.cadence) == pytest.approx((3.6, 1.2, 180.0))
    assert run(speed=3.6, step_length=1.2, cadence=180.0).settled.speed == 3.6


def test_held_parameters_that_contradict_each_other_are_named():
    with pytest.raises(InvalidParam, match=r"speed.*step_length.*cadence"):
        run(speed=5.0, step_length=1.2, cadence=180.0)
    with pytest.raises(InvalidParam, match=r"speed, step_length and cadence are all 0"):
        run(speed=0.0)


def test_a_held_step_is_kept_as_a_part_of_the_natural_one_at_other_speeds():
    gait, natural = run(step_length=1.2), run()
    for speed in (2.0, 4.0, 5.0):
        part = gait.stride(speed).step_length / natural.stride(speed).step_length
        assert part == pytest.approx(1.2 / 1.0694, rel=1e-4)


@pytest.mark.req("bruderlin", 11)
def test_a_held_jump_is_the_height_of_the_flight():
    gait = run(jump=0.05)
    assert gait.state(kmh(12)).rise == pytest.approx(0.05, rel=1e-3)
    assert gait.state(kmh(12)).stride.flight_time > run().state(kmh(12)).stride.flight_time
    heights = column(gait.cycle(kmh(12), "L"), "height")
    state = gait.state(kmh(12))
    assert heights.max() == pytest.approx(state.take_off + 0.05, abs=1e-3)
    assert gait.state(kmh(6)).rise == pytest.approx(0.025, rel=1e-3)


@pytest.mark.req("bruderlin", 23)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("name", [*_OFFSETS, "strike"])
def test_attributes_move_no_parameter(calibration, name):
    plain = run(calibration=calibration)
    value = "toe" if name == "strike" else 1.3 if name in ("arm_swing", "shoulder_twist") else 0.04
    changed = run(calibration=calibration, **{name: value})
    for speed in (kmh(8), kmh(12)):
        a, b = plain.state(speed), changed.state(speed)
        before, after = a.stride, b.stride
        assert (after.speed, after.step_length, after.cadence) == (before.speed, before.step_length, before.cadence)
        assert b.rise == pytest.approx(a.rise, abs=1e-9)
        assert changed.settled == plain.settled
    assert any(
        not np.allclose(getattr(changed.cycle(kmh(12), "L"), part), getattr(plain.cycle(kmh(12), "L"), part), atol=1e-6)
        for part in ("stance", "swing", "body", "arm", "width", "toe_out", "lead")
    )


@pytest.mark.req("bruderlin", 24)
def test_what_the_user_adds_stays_added_at_every_speed():
    more = {"lean": 0.1, "hip_twist": 0.05, "thigh_lift": 0.2, "elbow_back": -0.3}
    plain, changed = run(), run(**more)
    for speed in (kmh(6), kmh(12), kmh(18)):
        a, b = plain.state(speed).attributes, changed.state(speed).attributes
        for name, added in more.items():
            attribute = _OFFSETS[name]
            assert getattr(b, attribute) - getattr(a, attribute) == pytest.approx(added)


# --- the cycle


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("speed", [0, 0.5, 1, *SPEEDS, 25, 40])
def test_a_cycle_is_whole_and_its_times_agree(calibration, speed):
    gait = run(calibration=calibration)
    cycle = gait.cycle(kmh(speed), "L")
    assert cycle.stance.shape == (LEG_SAMPLES, 1)
    assert cycle.swing.shape == (LEG_SAMPLES, 3)
    assert cycle.body.shape == (STRIDE_SAMPLES, len(BODY))
    assert cycle.arm.shape == (STRIDE_SAMPLES, len(ARM))
    for curve in (cycle.stance, cycle.swing, cycle.body, cycle.arm):
        assert np.isfinite(curve).all()
    assert cycle.step_time * gait.cadence(np.array([kmh(speed)]))[0] == pytest.approx(1.0, rel=1e-3)
    assert cycle.step_length == pytest.approx(kmh(speed) * cycle.step_time, rel=2e-3, abs=1e-6)
    assert 0 < cycle.stance_time <= cycle.step_time
    assert 0 <= cycle.lead <= 1


@pytest.mark.req("bruderlin", 25)
def test_the_second_half_of_the_body_curves_mirrors_the_first():
    for speed in (2, 12, 25):
        curves = run().cycle(kmh(speed), "L").body
        half = STRIDE_SAMPLES // 2
        assert np.abs(curves[half:] - np.where(ODD, -1, 1) * curves[:half]).max() < 1e-9
    assert run().cycle(3.0, "L").swing is not None
    assert np.array_equal(run().cycle(3.0, "L").swing, run().cycle(3.0, "R").swing)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("speed", SPEEDS)
def test_the_swing_leaves_and_arrives_as_the_planted_foot_does(calibration, speed):
    """So the one who plants the feet has next to nothing to correct."""
    leg = Leg(run(calibration=calibration), round(kmh(speed), 3))
    cycle, gap = leg.cycle, 5e-4
    off, end = cycle.stance_time, 2 * cycle.step_time
    leaving, left = leg.planted(np.array([off - gap, off])), leg.swung(np.array([off, off + gap]))
    landing = leg.planted(np.array([0.0, gap])) + np.array([[2 * cycle.step_length], [0.0], [0.0]])
    coming = leg.swung(np.array([end - gap, end]))
    for before, after in ((leaving, left), (coming, landing)):
        apart = after[:, 0] - before[:, 1]
        assert np.hypot(*apart[:2]) < 4e-3
        assert abs(math.degrees(apart[2])) < 0.1
        jump = (np.diff(after) - np.diff(before))[:, 0] / gap
        assert np.hypot(*jump[:2]) < 0.1 * leg.speed + (0.3 if speed > 5 else 0.6)
        assert abs(jump[2]) < 0.1 * abs(np.diff(before)[2, 0] / gap) + 1.0


@pytest.mark.parametrize("speed", SPEEDS)
def test_the_knee_at_strike_and_toe_off_is_that_of_the_attributes(speed):
    """Seen from the side a leg that goes a little sideways is shorter, and its knee looks more bent."""
    gait = run()
    a = gait.state(kmh(speed)).attributes
    stance = gait.legs(kmh(speed)).stance
    assert 0.0 < math.degrees(stance[0, 1] - a.landing_knee) < 2.5
    assert 0.0 < math.degrees(stance[-1, 1] - a.toe_off_knee) < 6.0


@pytest.mark.req("bruderlin", 17)
@pytest.mark.parametrize("speed", [5, *SPEEDS[1:]])
def test_the_swinging_leg_passes_its_published_keys(speed):
    gait = run(calibration="published")
    state, swing = gait.state(kmh(speed)), gait.legs(kmh(speed)).swing
    stride = state.stride
    t = np.linspace(0.0, stride.swing_time, LEG_SAMPLES)
    mid = stride.flight_time + stride.stance_time / 2
    thigh, knee, pitch = (along(swing[None, :, k : k + 1], np.zeros(1, int), np.array([mid]) / t[-1]) for k in range(3))
    assert math.degrees(float(thigh[0, 0])) == pytest.approx(0.0, abs=0.5)
    assert float(knee[0, 0]) == pytest.approx(state.attributes.swing_knee, abs=math.radians(1.0))
    assert swing[:, 1].max() <= state.attributes.swing_knee + math.radians(0.5)
    off = stride.flight_time + stride.stance_time
    thigh, knee, pitch = (
        float(along(swing[None, :, k : k + 1], np.zeros(1, int), np.array([off]) / t[-1])[0, 0]) for k in range(3)
    )
    assert thigh == pytest.approx(state.attributes.thigh_lift, abs=math.radians(0.5))
    lower = gait.lower
    reach = lower.ball + lower.toe
    toe = lower.shin * math.sin(thigh - knee) + reach * math.cos(pitch) + lower.ankle * math.sin(pitch)
    assert abs(toe) < 0.01


@pytest.mark.req("bruderlin", 22)
def test_heel_or_ball_touches_first():
    for calibration in CALIBRATIONS:
        heel, toe = (run(calibration=calibration, strike=s).cycle(kmh(12), "L").stance[:, 0] for s in ("heel", "toe"))
        assert heel[0] > math.radians(10)
        assert toe[0] < math.radians(-5)
        middle = LEG_SAMPLES // 2
        assert abs(heel[middle]) < math.radians(2.5)
        assert abs(toe[middle]) < math.radians(2.5)
        assert heel[-1] < math.radians(-20)


@pytest.mark.req("bruderlin", 26)
@pytest.mark.parametrize("twist", [0.0, 1.0, 2.0])
def test_shoulders_turn_against_the_pelvis_and_the_head_stays(twist):
    gait = run(shoulder_twist=twist)
    cycle = gait.cycle(kmh(12), "L")
    for name in ("head_pitch", "head_roll", "head_yaw"):
        assert np.abs(column(cycle, name)).max() == 0.0
    pelvis = column(cycle, "yaw")
    shoulders = pelvis + column(cycle, "spine_yaw")
    counter = gait.state(kmh(12)).attributes.counter_rotation
    assert counter == pytest.approx(1.2 * twist if twist < 1.6 else 2.0)
    assert shoulders == pytest.approx(-counter * pelvis)
    assert column(cycle, "list") + column(cycle, "spine_side") == pytest.approx(0.0)


def test_the_trunk_nods_forward_at_mid_support_and_back_at_toe_off():
    gait = run(torso_sway=0.1)
    cycle = gait.cycle(kmh(12), "L")
    bend = column(cycle, "spine_flexion") + column(cycle, "tilt")
    a = gait.state(kmh(12)).attributes
    t = np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES * 2 * cycle.step_time
    assert np.interp(cycle.stance_time / 2, t, bend) == pytest.approx(a.tilt + a.torso_sway, abs=1e-3)
    assert np.interp(cycle.stance_time, t, bend) == pytest.approx(a.tilt - a.torso_sway, abs=1e-3)
    assert bend.mean() == pytest.approx(a.tilt, abs=0.3 * a.torso_sway)


@pytest.mark.req("bruderlin", 27)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("speed", [8, 12, 18])
def test_an_arm_swings_with_the_other_leg(calibration, speed):
    gait = run(calibration=calibration)
    cycle, legs = gait.cycle(kmh(speed), "L"), gait.legs(kmh(speed))
    share = cycle.stance_time / (2 * cycle.step_time)
    at = np.concatenate([np.linspace(0, share, LEG_SAMPLES)[:-1], np.linspace(share, 1, LEG_SAMPLES)])
    thigh = np.interp(np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES, at, np.vstack([legs.stance[:-1], legs.swing])[:, 0])
    other = np.roll(thigh, -STRIDE_SAMPLES // 2)
    arm, elbow = column(cycle, "flexion"), column(cycle, "elbow")
    assert np.corrcoef(arm, other)[0, 1] > 0.8
    assert np.corrcoef(arm, thigh)[0, 1] < -0.3
    a = gait.state(kmh(speed)).attributes
    own_off, other_off = (round(x * STRIDE_SAMPLES) % STRIDE_SAMPLES for x in (share, share + 0.5))
    assert (elbow.max(), elbow.min()) == pytest.approx((a.elbow_max, a.elbow_min), abs=1e-3)
    assert abs(int(elbow.argmax()) - own_off) <= 1
    assert abs(int(elbow.argmin()) - other_off) <= 1
    assert arm[own_off] > arm[other_off]


@pytest.mark.req("bruderlin", 27)
def test_the_arm_swings_further_by_its_factor():
    plain, wide, still = (column(run(arm_swing=x).cycle(kmh(12), "L"), "flexion") for x in (1.0, 2.0, 0.0))
    assert np.ptp(wide) == pytest.approx(2 * np.ptp(plain))
    assert np.ptp(still) < 1e-9


def test_at_no_speed_the_runner_stands():
    gait = run()
    cycle = gait.cycle(0.0, "L")
    assert cycle.step_length == 0.0
    assert np.abs(cycle.stance).max() == 0.0
    for curve in (cycle.swing, cycle.body, cycle.arm):
        assert np.ptp(curve, axis=0).max() < 1e-12
    height = column(cycle, "height")[0]
    assert 0.97 * BODY_1_8.standing < height < BODY_1_8.standing
    thigh, knee, pitch = cycle.swing[0]
    assert BODY_1_8.thigh[0] * math.sin(thigh) == pytest.approx(BODY_1_8.shin[0] * math.sin(knee - thigh), abs=1e-9)
    assert pitch == 0.0


def test_curves_change_steadily_with_speed():
    gait = run()
    speeds = np.arange(0.05, 7.0, 0.05)
    cycles = [gait.cycle(float(v), "L") for v in speeds]
    knees = np.array([c.swing[:, 1] for c in cycles])
    assert np.degrees(np.abs(np.diff(knees, axis=0)).max()) < 10.0
    assert np.degrees(np.abs(np.diff(knees[speeds > 1.0], axis=0)).max()) < 4.5
    heights = np.array([column(c, "height") for c in cycles])
    assert np.abs(np.diff(heights, axis=0)).max() < 0.012
    rates = gait.cadence(np.linspace(0.0, 9.0, 400))
    assert np.abs(np.diff(rates)).max() < 0.05
    assert (np.diff(rates) >= -1e-9).all()


def test_the_body_flies_as_a_ball_does():
    for speed in (8, 12, 18):
        cycle = run().cycle(kmh(speed), "L")
        t = np.arange(STRIDE_SAMPLES) / STRIDE_SAMPLES * 2 * cycle.step_time
        air = (t > cycle.stance_time + 1e-3) & (t < cycle.step_time - 1e-3)
        fit = np.polyfit(t[air], column(cycle, "height")[air], 2)
        assert -2 * fit[0] == pytest.approx(GRAVITY, rel=1e-3)


def test_a_cycle_is_kept():
    gait = run()
    assert gait.cycle(3.0, "L") is gait.cycle(3.0, "R")
    assert gait.cycle(3.0004, "L") is gait.cycle(3.0, "L")


@pytest.mark.parametrize("height", [0.5, 1.2, 2.0, 6.0])
def test_bodies_of_all_sizes_run_alike_at_their_own_speed(height):
    params = RunStyle(strict_similarity=True)
    size = height / 1.8
    person, other = Run(BODY_1_8, params).cycle(3.0, "L"), Run(body(height), params).cycle(3.0 * math.sqrt(size), "L")
    assert other.step_length == pytest.approx(size * person.step_length, rel=1e-3)
    assert other.step_time == pytest.approx(math.sqrt(size) * person.step_time, rel=1e-3)
    assert np.degrees(np.abs(other.swing - person.swing)).max() < 1.0
    assert column(other, "height") / size == pytest.approx(column(person, "height"), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_no_setting_breaks_the_gait(seed):
    rng = np.random.default_rng(seed)
    values = {}
    for p in declared(RunStyle):
        if p.kind == "float" and p.name not in ("speed", "step_length", "cadence") and rng.random() < 0.6:
            values[p.name] = float(rng.uniform(p.lo, p.hi))
        elif p.kind == "choice":
            values[p.name] = p.choices[rng.integers(len(p.choices))][0]
    gait = Run(body(float(rng.choice([0.6, 1.5, 1.8, 4.0]))), RunStyle(**values))
    for speed in (0.3, 2.0, 5.0):
        cycle = gait.cycle(speed, "L")
        for curve in (cycle.stance, cycle.swing, cycle.body, cycle.arm):
            assert np.isfinite(curve).all()
        assert 0 < cycle.stance_time <= cycle.step_time
        assert all(isinstance(w, str) for w in gait.warnings(speed))


def test_legs_too_short_for_their_steps_take_more_of_them():
    gait = run(step_length=3.5, speed=7.0)
    cycle = gait.cycle(7.0, "L")
    assert cycle.step_length < 3.5
    assert cycle.step_length == pytest.approx(7.0 * cycle.step_time)
    assert gait.cadence(np.array([7.0]))[0] * cycle.step_time == pytest.approx(1.0, rel=0.02)
    assert any("too short" in w for w in gait.warnings(7.0))


# --- likeness


@pytest.mark.parametrize("name", RUNS)
def test_leg_curves_of_the_cycle_are_those_of_recorded_runs(data, name):
    """Of the same speed, on a body of the same leg length."""
    clip = load(data)[name]
    gait = Run(body(clip.leg / 0.491))
    cycle, legs = gait.cycle(clip.speed, "L"), gait.legs(clip.speed)
    share = cycle.stance_time / (2 * cycle.step_time)
    at = np.concatenate([np.linspace(0, share, LEG_SAMPLES)[:-1], np.linspace(share, 1, LEG_SAMPLES)])
    curves = np.degrees(np.vstack([legs.stance[:-1], legs.swing]))
    thigh, knee, pitch = (np.interp(np.linspace(0, 1, 101), at, c) for c in curves.T)
    tilt = math.degrees(gait.state(clip.speed).tilt)
    made = {"hip": thigh + tilt, "knee": knee, "ankle": pitch - thigh + knee}
    for joint, least, farthest, mean in (
        ("hip", 0.95, 7.0, 10.0),
        ("knee", 0.95, 8.0, 10.0),
        ("ankle", 0.9, 6.0, 11.0),
    ):
        apart = made[joint] - clip.curves[f"{joint}_flexion"]
        assert np.corrcoef(made[joint], clip.curves[f"{joint}_flexion"])[0, 1] > least, joint
        assert np.std(apart) < farthest, joint
        assert abs(apart.mean()) < mean, joint


# --- whole motions

FPS = 120.0
SKELETON = mannequin(1.8)


def straight(speeds, fps=FPS):
    """A base track straight ahead at speeds (T,) [m/s]."""
    way = np.concatenate([[0.0], np.cumsum((speeds[1:] + speeds[:-1]) / 2)]) / fps
    t = np.arange(len(speeds)) / fps
    return Path(points=np.column_stack([0 * t, -way, 0 * t]), times=t, axes=("x", "y", "heading"))


def steady(speed, seconds=4.0, fps=FPS, **params):
    speeds = np.full(round(seconds * fps) + 1, speed)
    return travel(SKELETON, straight(speeds, fps), TravelParams(gait="run", run=RunStyle(**params)))


def strikes(motion, side=""):
    return sorted(e.time for e in motion.events if e.name.startswith(f"heel_strike_{side}"))


@pytest.mark.req("bruderlin", 13, 14)
@pytest.mark.parametrize("speed", range(2, 26))
def test_every_natural_run_keeps_its_feet_on_the_ground_and_in_place(speed):
    motion = steady(kmh(speed), 2.5)
    # the very slow dip a toe just after it has left
    assert depth(motion) < (1e-3 if speed >= 4 else 3e-3)
    assert slide(motion) < 1e-3
    assert np.isfinite(motion.rotations).all()


@pytest.mark.req("bruderlin", 15)
@pytest.mark.parametrize("speed", [6, 12, 20])
def test_the_root_of_a_motion_has_no_jump_of_speed(speed):
    fine = steady(kmh(speed), 1.2, 1000.0)
    jumps = np.abs(np.diff(fine.roots, 2, axis=0)) * 1000.0
    # what is left within a millisecond is the smooth push of the leg
    assert jumps[100:-100].max() < 0.02 * kmh(speed) + 0.06


@pytest.mark.req("bruderlin", 25)
def test_steps_of_a_motion_mirror_each_other():
    speed, fps = kmh(12), 1000.0
    motion = steady(speed, 1.5, fps)
    first, second = (s for s in strikes(motion)[1:3])
    k = np.arange(30)
    period = second - first
    at = [first + k / 30 * period, first + period + k / 30 * period]
    other = {"L": "R", "R": "L"}
    for role in ("thigh", "shin", "upper_arm", "forearm"):
        for side in "LR":
            a, b = anatomy.angles(motion, f"{role}_{side}"), anatomy.angles(motion, f"{role}_{other[side]}")
            here, there = (
                np.column_stack([np.interp(t * fps, np.arange(len(c)), c[:, i]) for i in range(3)])
                for t, c in zip(at, (a, b), strict=True)
            )
            assert np.degrees(np.abs(here - there)).max() < 0.35, role


@pytest.mark.req("bruderlin", 19)
def test_a_ramp_of_speed_has_the_natural_steps_of_each_speed():
    t = np.arange(round(6.0 * FPS) + 1) / FPS
    speeds = np.interp(t, [1.0, 4.5], [kmh(6), kmh(18)])
    motion = travel(SKELETON, straight(speeds), TravelParams(gait="run"))
    gait = Run(measure(SKELETON))
    times = np.array(strikes(motion))
    times = times[(times > 0.5) & (times < 5.5)]
    middle = (times[1:] + times[:-1]) / 2
    at = np.interp(middle, t, speeds)
    assert len(times) > 10
    assert 1.0 / np.diff(times) == pytest.approx(gait.cadence(at), rel=0.02)
    way = np.interp(times, t, -motion.base[:, 1])
    assert np.diff(way) == pytest.approx([gait.stride(v).step_length for v in at], rel=0.03)
    knees = np.degrees(anatomy.angles(motion, "shin_L")[:, 0])
    assert np.abs(np.diff(knees)).max() < 20.0


@pytest.mark.req("bruderlin", 18)
def test_what_is_changed_during_a_step_acts_on_the_next():
    t = np.arange(round(4.0 * FPS) + 1) / FPS
    steady_speed = np.full(len(t), kmh(10))
    change = 2.0
    faster = np.where(t > change, kmh(10) + 1.5 * np.minimum(t - change, 1.0), kmh(10))
    a, b = (travel(SKELETON, straight(v), TravelParams(gait="run")) for v in (steady_speed, faster))
    before = [s for s in strikes(a) if s < change - 0.45]
    same = t < before[-1]
    assert np.abs(a.rotations - b.rotations)[same].max() < 1e-4
    assert np.abs(a.roots - b.roots)[same].max() < 1e-4
    assert np.abs(a.roots - b.roots)[t > change + 0.5].max() > 0.05
    after = [s for s in strikes(b) if s > change + 0.8]
    natural = run().stride(float(np.interp(after[0], t, faster))).step_time
    assert after[1] - after[0] == pytest.approx(natural, rel=0.06)


@pytest.mark.req("bruderlin", 20)
def test_a_run_starts_from_standing_and_ends_in_it():
    t = np.arange(round(6.0 * FPS) + 1) / FPS
    speeds = np.interp(t, [0.8, 2.0, 3.6, 5.0], [0.0, kmh(12), kmh(12), 0.0])
    motion = travel(SKELETON, straight(speeds), TravelParams(gait="run"))
    assert slide(motion) < 1.5e-3
    assert depth(motion) < 2e-3
    planted = {s: motion.curves[f"contact/foot_{s}"] + motion.curves[f"contact/toe_{s}"] > 0 for s in "LR"}
    assert planted["L"][0] and planted["R"][0]
    assert planted["L"][-1] and planted["R"][-1]
    # the first swing begins from standing: its knee bends once and stretches again
    first = min(e.time for e in motion.events if e.name.startswith("toe_off"))
    side = next(e.name[-1] for e in motion.events if e.name.startswith("toe_off") and e.time == first)
    landing = next(s for s in strikes(motion, side) if s > first)
    knee = anatomy.angles(motion, f"shin_{side}")[round(first * FPS) : round(landing * FPS) + 1, 0]
    rising = np.diff(knee[: int(np.argmax(knee)) + 1])
    falling = np.diff(knee[int(np.argmax(knee)) : -2])
    assert (rising > -0.02).all()
    assert (falling < 0.02).all()
    # the last foot stays where it came down while the other one closes up
    last = max(strikes(motion))
    resting = {s: max([x for x in strikes(motion, s) if x <= last]) for s in "LR"}
    for s, time in resting.items():
        assert planted[s][round(time * FPS) + 2 :].all()


@pytest.mark.req("bruderlin", 26, 27)
def test_the_head_of_a_running_figure_faces_ahead():
    motion = steady(kmh(12), 2.0)
    turns = fk.global_rotations(SKELETON, motion.rotations)[:, SKELETON.joint("head")]
    angles = np.degrees(anatomy.joint_angles(turns, "head"))
    assert np.abs(angles[:, 1:]).max() < 0.5


def test_a_style_is_seen_in_the_motion():
    plain, heels = steady(kmh(10), 2.0), steady(kmh(10), 2.0, swing_knee=0.5)
    knees = [np.degrees(anatomy.angles(m, "shin_L")[:, 0].max()) for m in (plain, heels)]
    assert knees[1] - knees[0] == pytest.approx(math.degrees(0.5), abs=4.0)
    far = replace(RunStyle(), arm_swing=2.0)
    wide = travel(SKELETON, straight(np.full(241, kmh(10))), TravelParams(gait="run", run=far))
    arms = [np.ptp(anatomy.angles(m, "upper_arm_L")[60:, 0]) for m in (plain, wide)]
    assert arms[1] / arms[0] == pytest.approx(2.0, rel=0.1)
