from dataclasses import replace
from itertools import pairwise

import feet
import numpy as np
import pytest
from troupe.core import Event, InvalidMotion, InvalidParam, Motion
from troupe.core.figure import stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.alignment import comparable
from troupe.core.filters.blend import BlendParams, blend, combine, weights_of
from troupe.core.filters.concatenate import concatenate
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.filters.mixing import mixed_values
from troupe.core.filters.resample import resample
from troupe.core.filters.resample import slice as part_of
from troupe.core.kinematics import base
from troupe.core.maths import quat

FIGURE = mannequin(1.75)
JOINTS = len(FIGURE)
LOOSE = BlendParams(plant=False)
REGULAR = ("02_01", "07_01", "07_12", "104_02")
"""Recorded walks whose own steps are even to within 2 percent."""


@pytest.fixture(scope="module")
def slow() -> Motion:
    """100 steps a minute."""
    return stroll.walk(FIGURE, 5, 1.2)


@pytest.fixture(scope="module")
def fast() -> Motion:
    """120 steps a minute."""
    return stroll.walk(FIGURE, 5, 1.0)


def strikes(motion):
    """Times and sides of the heel strikes, without those cut by an end of the clip."""
    found = [e for e in motion.events if e.name.startswith("heel_strike") and e.time < motion.duration - 0.15]
    return np.array([e.time for e in found]), "".join(e.name[-1] for e in found)


def unevenness(motion):
    times, _ = strikes(motion)
    steps = np.diff(times)
    return steps.std() / steps.mean()


def alternate(sides):
    return all(a != b for a, b in pairwise(sides))


def bent(motion, axis, angle, joint="upper_arm_L"):
    rotations = motion.rotations.copy()
    j = FIGURE.joint(joint)
    rotations[:, j] = quat.multiply(rotations[:, j], quat.about(np.array(axis, dtype=float), angle))
    return replace(motion, rotations=rotations)


@pytest.mark.req("bruderlin", 41)
def test_signals_are_mixed_by_the_linear_formula():
    rng = np.random.default_rng(0)
    drum, sway = rng.normal(size=(2, 50, 4))
    assert np.allclose(mixed_values((drum, sway), (0.4, 0.6)), 0.4 * drum + 0.6 * sway, atol=1e-15)
    over_time = rng.normal(size=(2, 50))
    expected = over_time[0][:, None] * drum + over_time[1][:, None] * sway
    assert np.allclose(mixed_values((drum, sway), over_time), expected, atol=1e-14)
    each = rng.normal(size=(2, 1, 4))
    assert np.allclose(mixed_values((drum, sway), each), each[0] * drum + each[1] * sway, atol=1e-14)
    assert np.allclose(mixed_values((drum, sway), (-0.5, 2.5)), 2.5 * sway - 0.5 * drum, atol=1e-14)


@pytest.mark.req("bruderlin", 41)
def test_motions_are_mixed_by_the_linear_formula(slow):
    other = bent(slow, (1, 0, 0), 0.5)
    out = blend((slow, other), (0.4, 0.6), LOOSE)
    first, second, mixture = (x.values[:, 3:] for x in comparable((slow, other, out)))
    # measured from the mean of all three, which is not quite that of the two
    assert np.abs(mixture - (0.4 * first + 0.6 * second)).max() < 1e-5
    arm = FIGURE.joint("upper_arm_L")
    assert quat.distance(out.rotations[:, arm], slow.rotations[:, arm]) == pytest.approx(0.3, abs=1e-3)
    assert np.abs(out.roots - slow.roots).max() < 1e-6


@pytest.mark.req("bruderlin", 41)
def test_weights_may_differ_by_joint_and_over_time(slow):
    other = bent(bent(slow, (1, 0, 0), 0.5), (1, 0, 0), 0.5, "upper_arm_R")
    weights = np.zeros((2, 3, JOINTS + 1))
    weights[0] = 1.0
    arm = FIGURE.joint("upper_arm_L")
    weights[:, :, arm] = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    out = blend((slow, other), weights, LOOSE)
    change = quat.distance(out.rotations, slow.rotations)
    middle = len(slow) // 2
    assert change[[0, middle // 2, middle, -1], arm] == pytest.approx([0.0, 0.25, 0.5, 0.0], abs=0.01)
    assert np.delete(change, arm, axis=1).max() < 1e-6


@pytest.mark.req("bruderlin", 41)
def test_weights_beyond_zero_and_one_exaggerate(slow):
    other = bent(slow, (1, 0, 0), 0.2)
    arm = FIGURE.joint("upper_arm_L")
    for amount in (1.5, -0.5):
        out = blend((slow, other), (1 - amount, amount), LOOSE)
        assert quat.distance(out.rotations[:, arm], slow.rotations[:, arm]) == pytest.approx(
            0.2 * abs(amount), abs=0.01
        )


@pytest.mark.req("bruderlin", 42)
def test_equal_weights_in_all_bands_are_a_plain_mixture(slow, fast):
    rng = np.random.default_rng(1)
    signals = rng.normal(size=(2, 200, 5)).cumsum(axis=1)
    plain = mixed_values(signals, (0.3, 0.7))
    assert np.abs(mixed_values(signals, (0.3, 0.7), [(0.3, 0.7)] * 7) - plain).max() < 1e-9
    by_band = blend((slow, fast), (0.3, 0.7), replace(LOOSE, bands=((0.3, 0.7, 0.0, 0.0),) * 8))
    whole = blend((slow, fast), (0.3, 0.7), LOOSE)
    assert quat.distance(by_band.rotations, whole.rotations).max() < 1e-7
    assert np.abs(by_band.roots - whole.roots).max() < 1e-9


@pytest.mark.req("bruderlin", 42)
def test_bands_may_be_taken_from_different_clips():
    t = np.arange(256)[:, None]
    fine, coarse = 0.1 * np.sin(2 * np.pi * 0.25 * t), np.sin(2 * np.pi * t / 256)
    mixture = mixed_values((fine, coarse), (0.0, 1.0), [(1.0, 0.0)] * 3)
    assert np.abs(mixture - (fine + coarse))[40:-40].max() < 0.02


@pytest.mark.req("bruderlin", 47)
def test_walks_of_different_pace_keep_even_steps_when_aligned(slow, fast):
    for params in (LOOSE, BlendParams()):
        out = contacts(blend((slow, fast), (0.5, 0.5), params))
        times, sides = strikes(out)
        assert alternate(sides)
        assert len(times) >= 9
        assert np.diff(times).mean() == pytest.approx(0.55, abs=0.01)
        assert unevenness(out) < 0.02


@pytest.mark.req("bruderlin", 47)
def test_walks_of_different_pace_lose_their_steps_when_not_aligned(slow, fast):
    out = contacts(blend((slow, fast), (0.5, 0.5), replace(LOOSE, align=False)))
    assert unevenness(out) > 0.1


def walks(data):
    """Pairs of recorded walks, from the same foot on, with as many steps as both have."""
    clips = {name: contacts(feet.cmu(data, name)) for name in REGULAR}
    for i, name in enumerate(REGULAR):
        for other in REGULAR[i + 1 :]:
            a, b = clips[name], clips[other]
            (at, sides), (bt, others) = strikes(a), strikes(b)
            first = others.index(sides[0])
            count = min(len(sides), len(others) - first, 5)
            yield tuple(
                part_of(m, max(t[k] - 0.2, 1 / m.fps), min(t[k + count - 1] + 0.3, m.duration))
                for m, t, k in ((a, at, 0), (b, bt, first))
            )


@pytest.mark.req("bruderlin", 47)
def test_recorded_walks_keep_one_even_heel_strike_a_step(data):
    worst = 0.0
    for a, b in walks(data):
        steps = len(strikes(a)[0])
        out = contacts(blend((a, b), (0.5, 0.5)))
        times, sides = strikes(out)
        assert alternate(sides)
        assert len(times) == steps
        worst = max(worst, unevenness(out))
    assert worst < 0.02


def test_recorded_walks_that_are_not_aligned_lose_their_steps(data):
    lost = []
    for a, b in walks(data):
        out = contacts(blend((a, b), (0.5, 0.5), BlendParams(align=False, plant=False)))
        times, _ = strikes(out)
        lost.append(len(times) != len(strikes(a)[0]) or unevenness(out) > 0.02)
    assert np.count_nonzero(lost) >= 3


def test_feet_are_held_only_while_clips_are_mixed(slow, fast):
    weights = np.interp(np.arange(5), [0, 2, 3, 4], [0.0, 0.0, 0.5, 0.5])
    out, loose = (blend((slow, fast), (1 - weights, weights), p) for p in (BlendParams(), LOOSE))
    apart = quat.distance(out.rotations, loose.rotations).max(axis=1)
    assert apart[: round(0.5 * len(out)) - 20].max() < 1e-9
    late = part_of(out, 0.75 * out.duration, out.duration)
    assert max(s.travel for s in slide(late)) < 1e-3


def test_feet_stay_where_they_are_planted(slow, fast):
    out = blend((slow, fast), (0.5, 0.5))
    assert set(out.curves) >= {"contact/foot_L", "contact/toe_R"}
    assert max(s.travel for s in slide(out)) < 1e-3
    assert unevenness(out) < 0.02


def test_a_mixture_travels_by_the_mean_of_the_steps(slow):
    short = retargeted(slow, 0.6)
    out = blend((slow, short), (0.5, 0.5), LOOSE)
    assert len(out) == len(slow)
    way = out.roots[-1, 1] - out.roots[0, 1]
    assert way == pytest.approx(0.8 * (slow.roots[-1, 1] - slow.roots[0, 1]), rel=1e-3)


def retargeted(motion, factor):
    """The motion with its travel made shorter."""
    moved = base.based(motion)
    places, hips = base.relative(moved)
    track = moved.base * np.array([factor, factor, 1.0])
    roots, _ = base.compose(track, places, hips)
    return replace(moved, roots=roots, base=track)


def test_a_mixture_begins_where_the_first_does_wherever_the_others_are(slow, fast):
    away = base.move(fast, 40.0, -70.0, 2.0)
    out, near = (blend((slow, m), (0.5, 0.5), LOOSE) for m in (away, fast))
    assert np.abs(out.roots - near.roots).max() < 1e-6
    assert quat.distance(out.rotations, near.rotations).max() < 1e-6
    assert np.linalg.norm(out.roots[0] - slow.roots[0]) < 0.05


@pytest.mark.parametrize("params", [LOOSE, BlendParams()], ids=["loose", "planted"])
def test_one_clip_alone_is_itself(slow, fast, params):
    # feet that slide: they are those of the clip and none of the mixture's
    roots = slow.roots + np.linspace(0.0, 0.3, len(slow))[:, None] * (1.0, 0.0, 0.0)
    slow = replace(slow, roots=roots)
    out = blend((slow, fast), (1.0, 0.0), params)
    assert np.abs(out.roots - slow.roots).max() < 1e-9
    assert quat.distance(out.rotations, slow.rotations).max() < 1e-6
    other = blend((slow, fast), (0.0, 1.0), LOOSE)
    assert len(other) == len(fast)
    assert quat.distance(other.rotations[:, 1:], fast.rotations[:, 1:]).max() < 1e-6


def test_recordings_mixed_with_themselves_stay_as_they_are(data):
    for path in sorted((data / "mocap" / "cmu").glob("*.bvh")):
        motion = feet.cmu(data, path.stem)
        out = blend((motion, motion), (0.3, 0.7), LOOSE)
        assert np.abs(out.roots - motion.roots).max() < 1e-6, path.stem
        assert quat.distance(out.rotations, motion.rotations).max() < 1e-6, path.stem


def test_three_clips_are_mixed_at_once(slow):
    arm = FIGURE.joint("upper_arm_L")
    others = [bent(slow, (1, 0, 0), angle) for angle in (0.3, 0.6)]
    out = blend((slow, *others), (0.2, 0.4, 0.4), LOOSE)
    assert quat.distance(out.rotations[:, arm], slow.rotations[:, arm]) == pytest.approx(0.36, abs=0.01)


def test_the_pace_may_be_that_of_the_first(slow, fast):
    assert len(blend((slow, fast), (0.5, 0.5), replace(LOOSE, timing="first"))) == len(slow)
    out = blend((slow, fast), (0.5, 0.5), LOOSE)
    assert out.duration == pytest.approx((slow.duration + fast.duration) / 2, abs=0.5 / slow.fps)


def test_weights_over_time_change_the_pace_as_they_go(slow, fast):
    out = blend((slow, fast), ((1.0, 0.0), (0.0, 1.0)), LOOSE)
    times, _ = strikes(contacts(out))
    steps = np.diff(times)
    assert steps[0] == pytest.approx(0.6, abs=0.03)
    assert steps[-1] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("plant", [False, True])
def test_the_scope_keeps_the_rest_as_it_was(slow, fast, plant):
    loose = replace(LOOSE, plant=plant)
    out = blend((slow, fast), (0.0, 1.0), replace(loose, scope="arms"))
    assert len(out) == len(slow)
    legs = [FIGURE.joint(role) for role in ("thigh_L", "shin_R", "foot_L")]
    assert quat.distance(out.rotations[:, legs], slow.rotations[:, legs]).max() < 1e-6
    assert np.abs(out.roots - slow.roots).max() < 1e-6
    half = blend((slow, bent(slow, (1, 0, 0), 0.4)), (0.0, 1.0), replace(loose, range="part", begin=3.0))
    change = quat.distance(half.rotations, slow.rotations).max(axis=1)
    # feet are held from a moment before the range on
    assert change[: round((3.0 - 0.3 * plant) * 60)].max() < 1e-6
    assert change[-1] == pytest.approx(0.4, abs=0.01)


def test_events_that_are_alike_become_one(slow):
    first = replace(slow, events=(Event(1.0, "cue", {"word": "one"}), Event(3.0, "cue")))
    second = replace(slow, events=(Event(1.1, "cue"), Event(5.0, "other")))
    out = blend((first, second), (0.6, 0.4), LOOSE)
    assert [(e.name, round(e.time, 6)) for e in out.events] == [("cue", 1.04), ("cue", 3.0)]
    assert out.events[0].data == {"word": "one"}


def test_curves_are_mixed_too(slow):
    ones = np.ones(len(slow))
    first = replace(slow, curves={"shape/smile": ones, "contact/foot_L": ones, "prop/a": 4 * ones})
    second = replace(slow, curves={"shape/smile": 3 * ones, "contact/foot_L": 0 * ones})
    out = blend((first, second), (-0.5, 1.5), LOOSE)
    assert out.curves["shape/smile"] == pytest.approx(4.0)
    assert out.curves["contact/foot_L"] == pytest.approx(0.0)
    assert out.curves["prop/a"] == pytest.approx(4.0)


def test_loops_make_a_loop(slow, fast):
    rounds = [Motion(FIGURE, 60.0, m.roots[:n], m.rotations[:n], loop=True) for m, n in ((slow, 72), (fast, 60))]
    out = blend(rounds, (0.5, 0.5), LOOSE)
    assert out.loop
    assert len(out) == 66
    seam = quat.distance(base.round_later(out).rotations[0], out.rotations[-1]).max()
    assert seam < 2 * quat.distance(out.rotations[1:], out.rotations[:-1]).max()


def test_clips_may_have_different_rates_and_lengths(slow, fast):
    out = blend((slow, resample(fast, 24.0)), (0.5, 0.5), LOOSE)
    same = blend((slow, fast), (0.5, 0.5), LOOSE)
    assert out.fps == 60.0
    assert abs(len(out) - len(same)) <= 2
    still = replace(slow, roots=slow.roots[:1], rotations=slow.rotations[:1])
    assert len(blend((slow, still), (0.5, 0.5), LOOSE)) == len(slow) // 2 + 1


def test_what_cannot_be_mixed_is_refused(slow):
    with pytest.raises(InvalidMotion, match="different rigs"):
        blend((slow, feet.standing(feet.body())), (0.5, 0.5))
    for wrong, words in (
        ((0.5,), "2, one a clip"),
        ((0.5, np.nan), "finite"),
        (np.ones((2, 3, 5)), "joints"),
        (np.ones((2, 1, 1, 1)), "one a clip"),
    ):
        with pytest.raises(InvalidParam, match=words):
            blend((slow, slow), wrong, LOOSE)
    with pytest.raises(InvalidParam, match="one or more"):
        blend((), ())
    with pytest.raises(InvalidParam, match="sum up to nothing"):
        blend((slow, slow), (1.0, -1.0), replace(LOOSE, normalise=True))
    with pytest.raises(InvalidParam, match="rows of 2 weights"):
        mixed_values(np.zeros((2, 9, 1)), (1, 1), [(1.0,)])


def test_weights_are_normalised_when_asked(slow):
    other = bent(slow, (1, 0, 0), 0.4)
    arm = FIGURE.joint("upper_arm_L")
    out = blend((slow, other), (1.0, 3.0), replace(LOOSE, normalise=True))
    assert quat.distance(out.rotations[:, arm], slow.rotations[:, arm]) == pytest.approx(0.3, abs=0.01)


def test_parameters_say_it_all(slow, fast):
    plain = combine((slow, fast), replace(LOOSE, amount=0.25))
    assert np.array_equal(plain.roots, blend((slow, fast), (0.75, 0.25), LOOSE).roots)
    table = replace(LOOSE, weights=((0.0, 1.0, 0.0, 0.0, 0.0), (6.0, 0.0, 1.0, 0.0, 0.0)))
    ramp = np.linspace(0.0, 1.0, len(slow))
    same = blend((slow, fast), (1 - ramp, ramp), LOOSE)
    assert np.abs(combine((slow, fast), table).roots - same.roots).max() < 1e-6
    with pytest.raises(InvalidParam, match="3 clips need"):
        combine((slow, fast, fast), LOOSE)
    after = combine((slow, fast), replace(LOOSE, how="follow", zone=0.4))
    assert len(after) == len(slow) + len(fast) - 1 - 24
    planted = combine((slow, fast), BlendParams(how="follow", zone=0.4))
    assert len(planted) == len(after)


@pytest.mark.req("bruderlin", 54)
@pytest.mark.parametrize("apart", [False, True])
def test_outside_the_zone_clips_are_unchanged(slow, fast, apart):
    out = concatenate(slow, base.move(fast, 3.0, 5.0, 1.0), zone=0.5, apart=apart)
    start, length = len(slow) - 31, 30
    assert len(out) == len(slow) + len(fast) - 31
    assert np.array_equal(out.roots[: start + 1], slow.roots[: start + 1])
    assert quat.distance(out.rotations[: start + 1], slow.rotations[: start + 1]).max() < 1e-7
    rest = out.rotations[start + length :]
    assert quat.distance(rest[:, 1:], fast.rotations[length:, 1:]).max() < 1e-7
    # moved and turned as a whole: distances between its places are kept
    there, here = out.roots[start + length :], fast.roots[length:]
    assert np.linalg.norm(there - there[0], axis=1) == pytest.approx(np.linalg.norm(here - here[0], axis=1), abs=1e-9)
    assert there[:, 2] == pytest.approx(here[:, 2], abs=1e-9)


@pytest.mark.req("bruderlin", 54)
@pytest.mark.parametrize("apart", [False, True])
def test_the_zone_is_continuous_in_speed(slow, fast, apart):
    # the same walk, so that what changes in the zone is the transition's doing
    out = concatenate(slow, base.move(bent(slow, (1, 0, 0), 0.3), 9.0, 9.0, 3.0), zone=0.6, apart=apart)
    zone = slice(len(slow) - 40, len(slow) + 4)
    for values, clip in ((out.roots, slow.roots), (out.base, base.based(slow).base)):
        jerk = np.abs(np.diff(values, 2, axis=0))
        assert jerk[zone].max() < 1.5 * np.abs(np.diff(clip, 2, axis=0)).max() + 1e-4
    turning = quat.log(quat.multiply(quat.conjugate(out.rotations[:-1]), out.rotations[1:]))
    before = quat.log(quat.multiply(quat.conjugate(slow.rotations[:-1]), slow.rotations[1:]))
    assert np.abs(np.diff(turning, axis=0))[zone].max() < 1.5 * np.abs(np.diff(before, axis=0)).max() + 5e-3


@pytest.mark.req("bruderlin", 54)
def test_the_second_clip_goes_on_from_place_and_heading_of_the_first(slow, fast):
    turned = base.move(slow, 1.0, 2.0, 0.7)
    out = concatenate(turned, base.move(fast, -8.0, 3.0, -2.0), zone=0.5)
    assert np.linalg.norm(np.diff(out.roots, axis=0), axis=1).max() < 0.06
    heading = out.base[:, 2]
    assert np.abs(heading - 0.7).max() < 0.1
    way = out.roots[-1, :2] - out.roots[0, :2]
    assert np.arctan2(way[0], -way[1]) == pytest.approx(0.7, abs=0.05)


def test_a_zone_of_no_length_is_a_cut(slow, fast):
    out = concatenate(slow, fast, zone=0.0)
    assert len(out) == len(slow) + len(fast) - 1
    assert quat.distance(out.rotations[len(slow) - 1, 1:], fast.rotations[0, 1:]).max() < 1e-7


def test_a_zone_longer_than_a_clip_is_refused(slow):
    with pytest.raises(InvalidParam, match=r"from 0 to 0\.50 s"):
        concatenate(slow, part_of(slow, 0.0, 0.5), zone=0.6)
    with pytest.raises(InvalidMotion, match="different rigs"):
        concatenate(slow, feet.standing(feet.body()))


def test_the_second_clip_may_begin_where_it_fits(slow):
    late = part_of(slow, 0.8, slow.duration)
    blunt, fitted = (concatenate(slow, late, zone=0.3, fit=fit) for fit in (0.0, 1.2))
    # walks of 72 samples a round: the clip begins 24 samples into one, and the other ends with a whole one
    assert len(blunt) - len(fitted) == 24 - 18
    zone = slice(len(slow) - 19, len(slow))
    away = [quat.distance(m.rotations[zone], slow.rotations[zone]).max() for m in (blunt, fitted)]
    assert away[1] < 1e-3
    assert away[0] > 0.1


def test_events_and_curves_go_on(slow, fast):
    a = replace(slow, events=(Event(1.0, "cue"), Event(5.9, "late")), curves={"prop/x": np.ones(len(slow))})
    b = replace(fast, events=(Event(0.1, "early"), Event(2.0, "cue")))
    out = concatenate(a, b, zone=0.5)
    start = slow.duration - 0.5
    assert [(e.name, round(e.time, 6)) for e in out.events] == [("cue", 1.0), ("cue", round(start + 2.0, 6))]
    assert out.curves["prop/x"][0] == 1.0
    assert out.curves["prop/x"][-1] == 0.0
    assert np.all(np.diff(out.curves["prop/x"]) <= 0)


def test_a_clip_counts_only_for_the_joints_it_speaks_for(slow):
    other = bent(bent(slow, (1, 0, 0), 0.4), (1, 0, 0), 0.4, "upper_arm_R")
    mask = np.ones(JOINTS, dtype=bool)
    mask[list(FIGURE.chain("upper_arm_R"))] = False
    out = blend((slow, replace(other, mask=mask)), (0.0, 1.0), LOOSE)
    change = quat.distance(out.rotations, slow.rotations).max(axis=0)
    assert change[FIGURE.joint("upper_arm_L")] == pytest.approx(0.4, abs=0.01)
    assert change[FIGURE.joint("upper_arm_R")] < 1e-6
    assert out.mask is None


def test_an_animated_amount_counts_moment_by_moment():
    a, b = nod(0.2), nod(0.8)
    steady = BlendParams(align=False, plant=False, timing="first")
    amounts = np.linspace(0.0, 1.0, len(a))
    assert np.allclose(weights_of(replace(steady, amount=amounts), (a, b)), [1.0 - amounts, amounts])
    out = combine((a, b), replace(steady, amount=amounts))
    ends = [combine((a, b), replace(steady, amount=x)) for x in (0.0, 1.0)]
    assert quat.distance(out.rotations[0], ends[0].rotations[0]).max() < 1e-9
    assert quat.distance(out.rotations[-1], ends[1].rotations[-1]).max() < 1e-9
    middle = len(a) // 2
    both = quat.slerp(ends[0].rotations[middle], ends[1].rotations[middle], amounts[middle])
    assert quat.distance(out.rotations[middle], both).max() < 1e-9


def test_each_limb_has_a_share_of_its_own():
    a, b = nod(0.2), nod(0.8)
    steady = BlendParams(amount=1.0, align=False, plant=False, timing="first")
    # the left arm takes all of it at once, the right one comes in over the clip, the trunk goes beyond, the rest stays
    rows = ((0.0, 0, 2, 0, 1, 0, 0, 0), (a.duration, 0, 2, 0, 1, 1, 0, 0))
    out, full = combine((a, b), replace(steady, limbs=rows)), combine((a, b), steady)
    skeleton = a.skeleton

    def apart(role, motion, at=slice(None)):
        return quat.distance(out.rotations[at, skeleton.joint(role)], motion.rotations[at, skeleton.joint(role)]).max()

    assert apart("upper_arm_L", full) < 1e-9 and apart("upper_arm_L", a) > 0.1
    assert apart("upper_arm_R", a, slice(0, 1)) < 1e-9 and apart("upper_arm_R", full, slice(-1, None)) < 1e-9
    assert apart("thigh_L", a) < 1e-9 and apart("head", a) < 1e-9
    still = combine((a, b), replace(steady, parts=(0, 2, 0, 1, 0, 0, 0)))
    assert quat.distance(still.rotations[0], out.rotations[0]).max() < 1e-9
    right = skeleton.joint("upper_arm_R")
    assert quat.distance(still.rotations[:, right], a.rotations[:, right]).max() < 1e-9
    spine = skeleton.joint("spine")
    own, other = (np.ptp(quat.log(m.rotations[:, spine])[:, 0]) for m in (a, b))
    assert np.ptp(quat.log(out.rotations[:, spine])[:, 0]) == pytest.approx(2 * other - own, rel=0.02)


def nod(angle, count=61):
    """Standing while spine, head, arms and legs swing by this angle [rad], once."""
    skeleton = FIGURE
    turn = angle * np.sin(np.linspace(0.0, np.pi, count)) + 0.3 * np.linspace(0.0, angle, count)
    rotations = np.tile(quat.IDENTITY, (count, len(skeleton), 1))
    for role in ("spine", "head", "upper_arm_L", "upper_arm_R", "thigh_L"):
        rotations[:, skeleton.joint(role)] = quat.about(np.array([1.0, 0.0, 0.0]), turn)
    still = np.tile(skeleton.offsets[0], (count, 1))
    return Motion(skeleton, 30.0, still, rotations, base=np.zeros((count, 3)))
