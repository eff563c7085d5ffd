"""The walk: three coupled parameters, the determinants of gait, a way from stand to stand or a stride that loops."""

from dataclasses import fields
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from quality import beyond_limits, depth, hover, knee_pop, slide, soles
from troupe.core import InvalidParam
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.physique import measure
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.gait.walking import PACE, Walk, WalkStyle
from troupe.core.kinematics import anatomy, base, fk
from troupe.core.kinematics.base import round_later
from troupe.core.maths import quat

from .ways import BODY, size

MM = 1e-3
SLACK = np.radians(0.05)
PHYSIQUE = measure(BODY)


def strikes(motion):
    return [(e.time, e.name[-1], e.data) for e in motion.events if e.name.startswith("heel_strike")]


@cache
def steady(**style):
    """Some steady strides in the middle of a walk."""
    return walk(BODY, WalkParams(distance=9.0, **style), fps=60.0)


def middle(motion):
    """The samples of the steady part."""
    n = len(motion)
    return slice(int(0.35 * n), int(0.6 * n))


# --- from stand to stand


@pytest.mark.parametrize("distance", [0.1, 0.5, 2.0, 7.3])
def test_a_walk_goes_its_distance_and_stands(distance):
    motion = walk(BODY, WalkParams(distance=distance), fps=60.0)
    np.testing.assert_allclose(motion.base[0], [0.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(motion.base[-1], [0.0, -distance, 0.0], atol=1e-9)
    assert soles(motion).planted[-1].all()
    assert slide(motion) < MM
    assert depth(motion) < MM


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (3.0, -2.0, 1.1), (-1.0, 4.0, -2.6)])
def test_a_walk_begins_where_it_is_told_and_is_the_same_everywhere(place):
    here = walk(BODY, WalkParams(distance=3.0))
    there = walk(BODY, WalkParams(distance=3.0), place=np.array(place))
    moved = base.move(here, place[0], place[1], place[2])
    np.testing.assert_allclose(there.roots, moved.roots, atol=1e-6)
    assert quat.distance(there.rotations, moved.rotations).max() < 1e-5


@pytest.mark.parametrize(("direction", "x", "y"), [(np.pi / 2, 1.0, 0.0), (np.pi, 0.0, 1.0), (-np.pi / 2, -1.0, 0.0)])
def test_a_walk_goes_backward_and_sideways(direction, x, y):
    motion = walk(BODY, WalkParams(distance=2.0, speed=0.7, direction=direction), fps=60.0)
    np.testing.assert_allclose(motion.base[-1], [2 * x, 2 * y, 0.0], atol=1e-6)
    assert slide(motion) < MM
    assert depth(motion) < MM
    assert abs(quat.heading(motion.rotations[:, 0])).max() < np.radians(25.0)


def test_without_a_stop_the_last_stride_is_cut():
    motion = walk(BODY, WalkParams(distance=5.0, stop=False), fps=60.0)
    speed = np.linalg.norm(np.diff(motion.base[-10:, :2], axis=0), axis=1) * 60.0
    assert speed == pytest.approx(np.full(9, 1.4 * np.sqrt(size())), rel=0.05)


def test_it_stands_as_long_as_asked_at_the_end():
    motion = walk(BODY, WalkParams(distance=2.0, pause=2.5), fps=24.0)
    still = np.abs(motion.base - motion.base[-1]).max(axis=1) < 1e-9
    assert still.sum() / 24.0 == pytest.approx(2.5, abs=0.3)


def test_bodies_of_all_sizes_walk_at_speeds_of_their_own():
    for height in (0.9, 1.75, 2.3):
        body = mannequin(height)
        motion = walk(body, WalkParams(distance=10.0 * height / 1.75), fps=60.0)
        fastest = np.linalg.norm(np.diff(motion.base[:, :2], axis=0), axis=1).max() * 60.0
        assert fastest == pytest.approx(1.4 * np.sqrt(body.leg_length() / 0.9), rel=0.02)


# --- speed, step length and cadence


def test_step_length_over_cadence_grows_with_body_height():
    gait = Walk(PHYSIQUE, WalkStyle())
    for speed in (0.9, 1.4, 1.9):
        person = speed * np.sqrt(size())
        cadence = 60.0 * float(gait.cadence(np.array([person]))[0])
        ratio = (person * 60.0 / cadence) / cadence / (PHYSIQUE.leg / 0.491)
        assert ratio == pytest.approx(PACE, rel=0.1)


def measured(motion):
    """Speed [m/s], step length [m] and cadence [1/min] of the steady part."""
    times = np.array([t for t, _, _ in strikes(motion)])
    part = middle(motion)
    inside = (times > part.start / motion.fps) & (times < part.stop / motion.fps)
    lengths = -np.diff([d["y"] for _, _, d in strikes(motion)])
    spans = np.diff(times)
    mean = inside[1:] & inside[:-1]
    return lengths[mean].mean() / spans[mean].mean(), lengths[mean].mean(), 60.0 / spans[mean].mean()


def test_a_held_step_length_is_kept():
    speed, step, _ = measured(steady(step_length=0.6))
    assert step == pytest.approx(0.6 * size(), rel=0.02)
    assert speed == pytest.approx(1.4 * np.sqrt(size()), rel=0.02)


def test_a_held_cadence_is_kept():
    speed, _, cadence = measured(steady(cadence=130.0))
    assert cadence == pytest.approx(130.0 / np.sqrt(size()), rel=0.02)
    assert speed == pytest.approx(1.4 * np.sqrt(size()), rel=0.02)


def test_all_three_may_be_held_when_they_agree():
    speed, step, cadence = measured(steady(speed=1.2, step_length=0.6, cadence=120.0))
    assert speed == pytest.approx(1.2 * np.sqrt(size()), rel=0.02)
    assert step == pytest.approx(0.6 * size(), rel=0.02)
    assert cadence == pytest.approx(120.0 / np.sqrt(size()), rel=0.02)


def test_locks_that_contradict_each_other_are_refused_with_the_way_out():
    with pytest.raises(InvalidParam, match=r"makes 140\.0 steps a minute; set cadence or step_length to 0"):
        walk(BODY, WalkParams(speed=1.4, step_length=0.6, cadence=100.0))


@pytest.mark.parametrize("speed", [0.0, -1.0, np.nan])
@pytest.mark.parametrize("in_place", [True, False])
def test_a_speed_that_leads_nowhere_is_refused(speed, in_place):
    with pytest.raises(InvalidParam, match="speed"):
        walk(BODY, WalkParams(speed=speed, in_place=in_place))


@pytest.mark.parametrize("name", [f.name for f in fields(WalkParams)])
def test_every_parameter_outside_its_range_is_refused(name):
    info = next(f for f in fields(WalkParams) if f.name == name)
    if not isinstance(info.default, float | int) or isinstance(info.default, bool):
        return
    with pytest.raises(InvalidParam, match=name):
        WalkParams(**{name: 1e9})


# --- the determinants of gait


def test_the_pelvis_rises_over_the_standing_leg_and_sinks_between():
    motion = steady()
    for at, _, _ in strikes(motion)[4:10]:
        low, high = (motion.roots[round((at + dt) * 60.0), 2] for dt in (0.05, 0.3))
        assert high > low + 0.015


def test_the_pelvis_turns_with_the_leading_leg_and_the_chest_against_it():
    motion = steady()
    positions, turns = fk.forward(BODY, motion.rotations, motion.roots)
    chest = quat.heading(turns[:, BODY.chain("spine")[-1]])
    pelvis = quat.heading(motion.rotations[:, 0])
    for at, side, _ in strikes(motion)[4:10]:
        k = round(at * 60.0)
        # the left hip is ahead when the pelvis has turned to the right
        leads = -1.0 if side == "L" else 1.0
        assert leads * pelvis[k] > np.radians(2.0)
        assert leads * chest[k] < np.radians(1.0)
    assert positions.shape[1] == len(BODY)


def test_the_hip_of_the_swinging_leg_drops():
    motion = steady()
    positions, _ = fk.forward(BODY, motion.rotations, motion.roots)
    left, right = (positions[:, BODY.joint(f"thigh_{s}"), 2] for s in "LR")
    drops = []
    for at, side, _ in strikes(motion)[4:10]:
        k = round((at + 0.35) * 60.0)
        drops.append(left[k] - right[k] if side == "L" else right[k] - left[k])
    assert min(drops) > 0.005


def test_the_body_shifts_over_the_standing_foot():
    motion = steady()
    for at, side, _ in strikes(motion)[4:10]:
        x = motion.roots[round((at + 0.3) * 60.0), 0]
        assert (x if side == "L" else -x) > 0.01


def test_the_knee_gives_under_the_load_and_bends_most_in_the_swing():
    motion = steady()
    for side in "LR":
        knee = np.degrees(anatomy.angles(motion, f"shin_{side}")[:, 0])
        mine = [t for t, s, _ in strikes(motion) if s == side][1:5]
        for a, b in pairwise(mine):
            part = knee[round(a * 60) : round(b * 60)]
            n = len(part)
            assert part[: n // 4].max() > part[0] + 4.0
            assert 55.0 < part[n // 2 :].max() < 80.0
            assert part[n // 3 : n // 2].min() < 15.0


def test_a_step_rolls_from_the_heel_over_the_flat_foot_to_the_toes():
    motion = steady()
    for side in "LR":
        names = [e.name[:-2] for e in motion.events if e.name.endswith(f"_{side}")]
        first = names.index("heel_strike", len(names) // 2)
        assert names[first : first + 4] == ["heel_strike", "foot_flat", "heel_off", "toe_off"]
        toe = np.degrees(anatomy.angles(motion, f"toe_{side}")[:, 0])
        assert toe[middle(motion)].max() > 20.0


def test_the_head_is_steady_while_pelvis_and_chest_turn():
    motion = steady()
    _, turns = fk.forward(BODY, motion.rotations, motion.roots)
    part = middle(motion)
    head, pelvis = (quat.heading(turns[part, j]) for j in (BODY.joint("head"), 0))
    assert np.ptp(head) < np.radians(1.0)
    assert np.ptp(pelvis) > np.radians(6.0)


def test_arms_swing_against_the_legs():
    motion = steady()
    part = middle(motion)
    for side, other in (("L", "R"), ("R", "L")):
        arm = anatomy.angles(motion, f"upper_arm_{side}")[part, 0]
        leg = anatomy.angles(motion, f"thigh_{other}")[part, 0]
        assert np.corrcoef(arm, leg)[0, 1] > 0.7
        assert np.ptp(np.degrees(arm)) > 15.0


@pytest.mark.req("bruderlin", 31)
@pytest.mark.parametrize("speed", [0.3, 1.0, 1.6, 2.4])
def test_there_is_double_support_and_no_flight_at_every_speed(speed):
    motion = walk(BODY, WalkParams(speed=speed, distance=4.0), fps=120.0)
    down = soles(motion).planted.any(axis=2)
    assert down.any(axis=1).all()
    for at, _, _ in strikes(motion)[:-1]:
        assert down[int(np.ceil(at * 120.0)) : int((at + 0.02) * 120.0) + 1].all()


# --- a stride on the spot that loops


@cache
def cycle(fps=24.0, **style):
    return walk(BODY, WalkParams(in_place=True, **style), fps=fps)


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
@pytest.mark.parametrize("speed", [0.4, 1.4, 2.2])
def test_a_loop_closes(fps, speed):
    motion = cycle(fps, speed=speed)
    assert motion.loop
    after = round_later(motion)
    steps = np.diff(np.concatenate([motion.roots, after.roots]), 2, axis=0)
    turns = quat.continuous(np.concatenate([motion.rotations, after.rotations]))
    # what the third differences of the inside allow, the seam may have too
    n = len(motion)
    seam, inside = np.abs(steps[n - 2 : n]).max(), np.abs(np.delete(steps, [n - 2, n - 1], axis=0)).max()
    assert seam < 1.05 * inside + 1e-4
    bends = np.abs(np.diff(turns, 2, axis=0)).max(axis=(1, 2))
    assert bends[n - 2 : n].max() < 1.05 * np.delete(bends, [n - 2, n - 1]).max() + 1e-4


def test_the_sample_after_a_loop_is_its_first():
    """One sample more of the same walk, taken back by the way of a stride, is where the loop began."""
    motion = cycle(60.0)
    n = len(motion)
    stride = np.append(base.loop_step(motion)[:2], 0.0)
    again = round_later(motion)
    np.testing.assert_allclose(again.roots, motion.roots + stride, atol=1e-4)
    ahead = 3 * motion.roots[-1] - 3 * motion.roots[-2] + motion.roots[-3]
    assert np.abs(ahead - stride - motion.roots[0]).max() < 2e-3
    assert n > 50


def test_a_loop_keeps_its_feet_on_the_ground():
    motion = cycle(60.0)
    turns = [round_later(motion, k) for k in range(3)]
    whole = type(motion)(
        BODY,
        60.0,
        np.concatenate([m.roots for m in turns]),
        np.concatenate([m.rotations for m in turns]),
        curves={name: np.tile(v, 3) for name, v in motion.curves.items()},
    )
    assert slide(whole) < MM
    assert depth(whole) < MM
    assert hover(whole) < 2 * MM


def test_a_loop_has_one_strike_of_each_foot_and_begins_with_the_left():
    motion = cycle(24.0)
    found = {side: at for at, side, _ in strikes(motion)}
    assert len(strikes(motion)) == len(found) == 2
    early = min(found["L"], motion.duration - found["L"])
    assert early <= 0.5 / 24.0 + 1e-6
    assert found["R"] == pytest.approx(motion.duration / 2, abs=1 / 24.0)


def test_the_speed_of_a_loop_is_nearly_the_one_asked_for():
    for speed in (0.4, 1.4, 2.2):
        motion = cycle(24.0, speed=speed)
        stride = np.hypot(*base.loop_step(motion)[:2])
        assert stride / motion.duration == pytest.approx(speed * np.sqrt(size()), rel=0.03)


def test_a_loop_may_go_backward():
    motion = cycle(60.0, speed=0.8, direction=np.pi)
    assert base.loop_step(motion)[1] > 0.5


# --- quality of the whole


@pytest.mark.parametrize(
    "style",
    [
        {"step_length": 0.5},
        {"cadence": 140.0},
        {"bounce": 2.0},
        {"bounce": 0.0},
        {"crouch": 0.6},
        {"tiptoe": 0.6},
        {"stride_width": 0.35},
        {"toe_out": 0.5},
        {"knee_lift": 0.8},
        {"limp_left": 0.8},
        {"heaviness": 1.0},
        {"hip_sway": 3.0, "hip_twist": 2.0},
        {"wobble": 1.0},
    ],
    ids=lambda s: " ".join(s),
)
def test_styles_keep_feet_knees_and_limits(style):
    motion = walk(BODY, WalkParams(distance=4.0, **style), fps=60.0)
    assert slide(motion) < MM
    assert depth(motion) < 1.5 * MM
    assert knee_pop(motion) < 3.0
    over, where = beyond_limits(motion)
    assert over < SLACK + np.radians(0.5), f"{np.degrees(over):.2f} degrees: {where}"


def test_the_same_seed_wobbles_alike_and_another_does_not():
    a, b, c = (walk(BODY, WalkParams(distance=3.0, wobble=1.0, seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_allclose(a.roots, b.roots, rtol=0, atol=1e-12)
    assert np.abs(a.roots - c.roots).max() > 0.01
