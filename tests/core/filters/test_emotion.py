"""A feeling is the difference between two performances, and can be put onto a third."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from feet import cmu
from repeat import repeats
from troupe.core import Event, FormatError, InvalidMotion, InvalidParam, Motion
from troupe.core.figure import acts, stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.contacts import contacts, sole_points
from troupe.core.filters.emotion import EmotionParams, amplified, correspondence, emote, plan
from troupe.core.filters.feeling import (
    EMOTIONS,
    GAITS,
    Feeling,
    extract,
    filled,
    level_spans,
    mean_ratios,
    path_fraction,
    ratios,
    span,
    table,
)
from troupe.core.filters.levels import CATEGORY, LEVELS
from troupe.core.filters.periods import detect, effector_path, paired, periods, with_periods
from troupe.core.formats import feeling as files
from troupe.core.gait.strides import strides
from troupe.core.kinematics import fk
from troupe.core.maths import quat

BODY = mannequin()
EVEN = np.linspace(0.0, 1.0, 65)


def feeling(neutral_time=1.0, emotional_time=1.0, spans=((1.0, 1.0),) * 4, times=(1.0,), neutral=EVEN, emotional=EVEN):
    """A feeling of one kind of period; `spans` are neutral and emotional departures of each level."""
    each = np.array(spans, dtype=float)
    return Feeling("made", neutral, emotional, neutral_time, emotional_time, times, np.tile(each, (len(times), 1, 1)))


def sized(*values):
    """Spans of levels whose ratios are these."""
    return tuple((1.0, v) for v in values)


def wrist(motion):
    return fk.forward(motion.skeleton, motion.rotations, motion.roots)[0][:, motion.skeleton.joint("hand_R")]


def error(a, b):
    """Root mean square distance of two motions' joints [rad] and wrists [m], the shorter one held at its end."""
    at = np.arange(max(len(a), len(b)))
    x, y = (np.minimum(at, len(m) - 1) for m in (a, b))
    turn = quat.distance(a.rotations[x], b.rotations[y])
    way = wrist(a)[x] - wrist(b)[y]
    return np.sqrt([(turn**2).mean(), (way**2).sum(axis=-1).mean()])


@pytest.fixture(scope="module")
def drink():
    return acts.drink(BODY)


@pytest.fixture(scope="module")
def knock():
    return acts.knock(BODY)


@pytest.fixture(scope="module")
def kick():
    return acts.kick(BODY)


@pytest.fixture(scope="module")
def angry(drink):
    return extract(drink, acts.drink(BODY, acts.MANNERS["angry"]), "angry")


@pytest.mark.req("bruderlin", 61)
def test_three_knocks_are_one_period_each_way():
    fps, half = 60.0, 0.2
    t = np.arange(round(6 * half * fps) + 1) / fps
    path = np.stack([0 * t, -0.12 * (1 - np.cos(np.pi * t / half)), 0 * t], axis=-1)
    marks = detect(path, fps)
    assert len(marks) == 7
    assert np.abs(marks / fps - half * np.arange(7)).max() <= 1.5 / fps


@pytest.mark.req("bruderlin", 61)
@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_knock_has_raise_six_halves_and_lowering_at_any_rate(fps):
    motion = acts.knock(BODY, fps=fps)
    found = periods(motion) / fps
    expected = np.concatenate([[0.0, 0.8], 0.8 + 0.28 * np.arange(1, 7), [3.38]])
    assert len(found) == 9 and np.abs(found - expected).max() < 0.08
    assert effector_path(motion)[0] == "hand_R"


@pytest.mark.req("bruderlin", 61)
def test_periods_can_be_set_by_hand(knock):
    assert periods(with_periods(knock, [0, 40, 100, 203])).tolist() == [0, 40, 100, 203]
    assert periods(with_periods(knock, [])).tolist() == [0, 203]
    marked = replace(knock, events=(Event(1.0, "period"), Event(2.0, "heel_strike_L"), Event(2.5, "period")))
    assert periods(marked).tolist() == [0, 60, 150, 203]
    moved = with_periods(marked, [70])
    assert periods(moved).tolist() == [0, 70, 203]
    assert "heel_strike_L" in [e.name for e in moved.events]


def test_a_long_rest_is_a_period_and_a_short_one_is_not(drink):
    marks = periods(drink) / drink.fps
    assert len(marks) == 6, "to the cup, to the mouth, drinking, cup down, hand back"
    assert np.abs(marks - [0.0, 0.86, 1.8, 2.5, 3.55, 4.4]).max() < 0.12


def test_still_and_short_motions_have_one_period():
    assert detect(np.zeros((50, 3)), 30.0).tolist() == [0, 49]
    assert detect(np.zeros((2, 3)), 30.0).tolist() == [0, 1]
    assert detect(np.zeros((1, 3)), 30.0).tolist() == [0]


def test_boundaries_without_a_counterpart_are_dropped():
    path = np.stack([np.linspace(0, 1, 101), np.zeros(101), np.zeros(101)], axis=-1)
    slow = path[np.arange(201) // 2]
    first, second = paired(np.array([0, 30, 60, 100]), path, np.array([0, 20, 62, 120, 170, 200]), slow)
    assert first.tolist() == [0, 30, 60, 100] and second.tolist() == [0, 62, 120, 200]


@pytest.mark.req("bruderlin", 58)
def test_two_angles_swing_out_by_half_as_much_again():
    t = np.linspace(0.0, 1.0, 11)
    angles = np.stack([30 + 40 * t + 8 * np.sin(np.pi * t), 10 - 5 * t - 6 * np.sin(np.pi * t)], axis=-1)
    assert span(angles) == pytest.approx(10.0, abs=1e-12)
    for ramp in (0.0, 0.1):
        out = amplified(angles, 1.5, ramp)
        assert np.allclose(out[5], [62.0, -1.5], atol=1e-12)
        assert np.array_equal(out[[0, -1]], angles[[0, -1]])
    # the straight way plus the ratio times the departure, as the paper writes it
    straight = angles[:1] * (1 - t[:, None]) + angles[-1:] * t[:, None]
    assert np.allclose(amplified(angles, 1.5), 1.5 * angles + (10 - 15) / 10 * straight, atol=1e-12)


@pytest.mark.req("bruderlin", 60)
def test_a_speed_up_reads_between_the_frames():
    at = correspondence(np.zeros((137, 3)), np.array([0, 136]), feeling(1.36, 1.0), 30.0, EmotionParams())
    assert len(at) == 101 and at[5] == pytest.approx(6.8, abs=1e-9)
    values = np.linspace(0.0, 1.0, 137)
    assert np.interp(at[5], np.arange(137), values) == pytest.approx(0.2 * values[6] + 0.8 * values[7])
    x = np.zeros((137, len(BODY), 4))
    x[...] = quat.exp(np.stack([values, 0 * values, 0 * values], axis=-1))[:, None]
    motion = Motion(BODY, 30.0, np.zeros((137, 3)), x)
    out = emote(with_periods(motion, []), feeling(1.36, 1.0), EmotionParams(amplitude=False))
    turned = quat.log(out.rotations[5, 20])[0]
    assert turned == pytest.approx(0.2 * values[6] + 0.8 * values[7], abs=1e-9)


@pytest.mark.req("bruderlin", 60)
@pytest.mark.parametrize("mode", ["warp", "substitute"])
@pytest.mark.parametrize("intensity", [0.3, 1.0, 2.0])
def test_the_table_of_frames_always_rises_from_end_to_end(knock, mode, intensity):
    for name in EMOTIONS:
        at = plan(knock, files.shipped(name), EmotionParams(mode=mode, intensity=intensity)).at
        assert at[0] == 0.0 and at[-1] == len(knock) - 1 and np.all(np.diff(at) > 0)


@pytest.mark.req("bruderlin", 59)
@pytest.mark.parametrize("mode", ["warp", "substitute"])
def test_a_period_is_shortened_by_the_ratio_of_the_source(mode):
    fps = 100.0
    new = with_periods(acts.knock(BODY, fps=fps), [])
    new = replace(new, roots=new.roots[:81], rotations=new.rotations[:81])
    assert new.duration == pytest.approx(0.8)
    out = emote(new, feeling(1.0, 0.6), EmotionParams(mode=mode))
    assert out.duration == pytest.approx(0.48, abs=1.0 / fps + 1e-12)
    assert quat.distance(out.rotations[[0, -1]], new.rotations[[0, -1]]).max() < 1e-7


@pytest.mark.req("bruderlin", 56)
def test_no_difference_changes_nothing(drink, knock, kick):
    none = extract(drink, drink, "none")
    assert np.allclose(ratios(none), 1.0)
    for motion in (drink, knock, kick, stroll.walk(BODY, 2)):
        out = emote(motion, none)
        assert len(out) == len(motion)
        assert quat.distance(out.rotations, motion.rotations).max() < 1e-6
        assert np.abs(out.roots - motion.roots).max() < 1e-6


@pytest.mark.req("bruderlin", 57)
@pytest.mark.parametrize("ratio", [0.1, 0.7, 1.9, 5.0])
def test_poses_at_the_ends_of_periods_stay(knock, ratio):
    done = emote(knock, feeling(spans=sized(*[ratio] * 4)), EmotionParams(pace=False, plant=False))
    marks = periods(knock)
    assert quat.distance(done.rotations[marks], knock.rotations[marks]).max() < 1e-6
    arms = [knock.skeleton.joint(r) for r in ("upper_arm_R", "forearm_R")]
    assert quat.distance(done.rotations, knock.rotations)[:, arms].max() > 0.02


def test_each_level_departs_by_its_own_ratio(knock):
    wanted = (1.4, 0.6, 1.8, 0.5)
    done = emote(knock, feeling(spans=sized(*wanted)), EmotionParams(pace=False, plant=False))
    marks = periods(knock)
    before, after = (level_spans(m, marks) for m in (knock, done))
    moving = before > 0.05
    got = np.where(moving, after / np.where(moving, before, 1.0), np.array(wanted))
    assert np.abs(got - wanted).max() < 0.03 * max(wanted)
    assert moving.sum() > 15


def test_speed_is_continuous_across_periods():
    jumps = []
    for fps in (240.0, 960.0):
        knock = acts.knock(BODY, fps=fps)
        done = emote(knock, feeling(spans=sized(2.0, 2.0, 2.0, 2.0)), EmotionParams(pace=False, plant=False))
        elbow = done.rotations[:, knock.skeleton.joint("forearm_R")]
        speed = fps * quat.log(quat.multiply(quat.conjugate(elbow[:-1]), elbow[1:]))
        marks = periods(knock)[1:-1]
        jumps.append(np.abs(speed[marks] - speed[marks - 1]).max())
    assert jumps[1] < 0.4 * jumps[0], "the finer it is looked at, the smaller the jump"
    assert jumps[0] < 0.15 * 2.2, "the straight ways themselves turn by 2.2 rad/s"


@pytest.mark.req("bruderlin", 62)
def test_what_an_arm_learned_serves_a_leg(drink, kick, angry):
    for arm, leg in (("upper_arm_R", "thigh_R"), ("forearm_R", "shin_R"), ("hand_R", "foot_R")):
        assert CATEGORY[arm] == CATEGORY[leg]
    assert effector_path(kick)[0] == "foot_R" and "hand_R" in angry.notes[0]
    done, sizes = emote(kick, angry), mean_ratios(angry)
    still = emote(kick, angry, EmotionParams(pace=False, plant=False))
    marks = periods(kick)
    before, after = level_spans(kick, marks), level_spans(still, marks)
    big = before[:, 2].argmax()
    assert after[big, 2] / before[big, 2] == pytest.approx(sizes[2], rel=0.02)
    assert done.duration == pytest.approx(angry.tempo * kick.duration, abs=0.04)
    planted = contacts(kick).curves["contact/foot_L"] > 0.5
    feet = sole_points(emote(kick, angry, EmotionParams(pace=False)))
    assert planted.any() and np.abs(feet - sole_points(kick))[planted, 0].max() < 1e-6


@pytest.mark.req("bruderlin", 63)
def test_a_level_that_does_not_move_in_the_source_stays(knock):
    some = feeling(spans=((0.5, 1.0), (0.0, 0.7), (0.5, 1.0), (1e-9, 0.0)))
    assert ratios(some)[0].tolist() == [2.0, 1.0, 2.0, 1.0]
    done = emote(knock, some, EmotionParams(pace=False, plant=False))
    assert np.isfinite(done.rotations).all()
    kept = [j for j, role in knock.skeleton.role_of().items() if CATEGORY.get(role) in (1, 3)]
    assert np.array_equal(done.rotations[:, kept], knock.rotations[:, kept])
    still = replace(knock, rotations=np.tile(knock.rotations[:1], (len(knock), 1, 1)))
    nothing = extract(still, still)
    assert np.isfinite(emote(knock, nothing).rotations).all() and np.all(ratios(nothing) == 1.0)


def test_ratios_are_kept_within_reason():
    wild = feeling(spans=((1.0, 100.0), (1.0, 0.0), (1.0, 1.0), (1.0, 2.0)))
    assert ratios(wild)[0].tolist() == [5.0, 0.1, 1.0, 2.0]


def test_a_level_the_source_lacks_follows_the_nearest():
    nan = np.nan
    assert filled(np.array([nan, 2.0, nan, 0.5])).tolist() == [2.0, 2.0, 0.5, 0.5]
    assert filled(np.array([nan, nan, nan, 1.5])).tolist() == [1.5] * 4
    assert filled(np.full(4, nan)).tolist() == [1.0] * 4
    arm = [j for j, r in BODY.role_of().items() if r in ("upper_arm_R", "forearm_R", "hand_R")]
    mask = np.isin(np.arange(len(BODY)), arm)
    both = [replace(acts.drink(BODY, m), mask=mask) for m in (acts.Manner(), acts.Manner(swing=2.0))]
    found = mean_ratios(extract(*both))
    assert np.isnan(found[0]) and np.all(found[1:] > 1.2)
    assert filled(found)[0] == found[1]


@pytest.mark.req("bruderlin", 64)
def test_other_numbers_of_periods_take_the_weighted_mean_and_say_so(knock):
    times = np.array([1.0, 2.0, 0.5, 0.5])
    each = np.array([1.2, 2.0, 0.5, 1.0])
    spans = np.ones((4, 4, 2))
    spans[..., 1] = each[:, None]
    four = Feeling("four", EVEN, EVEN, 1.0, 1.0, times, spans)
    mean = float(np.exp((times * np.log(each)).sum() / times.sum()))
    assert mean_ratios(four) == pytest.approx(mean)
    six = with_periods(knock, [30, 60, 90, 120, 150])
    done = plan(six, four)
    assert done.ratios.shape == (6, 4) and np.allclose(done.ratios, mean)
    assert "mean size of the source's 4 periods on all 6" in " ".join(done.notes)
    (told,) = [e for e in emote(six, four).events if e.name == "feeling"]
    assert told.data == {"name": "four", "notes": list(done.notes)}
    same = plan(with_periods(knock, [50, 100, 150]), four)
    assert np.allclose(same.ratios, each[:, None]) and "each sized as its own" in " ".join(same.notes)
    turned = plan(six, four, EmotionParams(match="index"))
    assert np.allclose(turned.ratios[:, 0], each[[0, 1, 2, 3, 0, 1]])


@pytest.mark.req("bruderlin", 65)
def test_intensity_goes_from_nothing_to_all_and_beyond(knock, angry):
    steps = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5]
    done = [emote(knock, angry, EmotionParams(intensity=i)) for i in steps]
    assert len(done[0]) == len(knock) and quat.distance(done[0].rotations, knock.rotations).max() < 1e-9
    lengths = [m.duration for m in done]
    assert np.all(np.diff(lengths) < 0)
    assert lengths[2] == pytest.approx((lengths[0] + lengths[4]) / 2, abs=0.03)
    sizes = np.array([plan(knock, angry, EmotionParams(intensity=i)).ratios[0] for i in steps])
    assert np.all(np.diff(sizes, axis=0) > 0) and np.all(sizes[0] == 1.0)
    assert np.allclose(sizes[2], np.sqrt(sizes[4]))
    away = [
        quat.distance(emote(knock, angry, EmotionParams(intensity=i, pace=False)).rotations, knock.rotations).max()
        for i in steps
    ]
    assert np.all(np.diff(away) > 0)


@pytest.mark.req("bruderlin", 66)
@pytest.mark.parametrize("name", [n for n in EMOTIONS if n != "neutral"])
def test_the_feeling_of_a_drink_makes_a_neutral_drink_emotional(drink, name):
    emotional = acts.drink(BODY, acts.MANNERS[name])
    done = emote(drink, extract(drink, emotional, name))
    assert np.all(error(done, emotional) < 0.5 * error(drink, emotional))


@pytest.mark.req("bruderlin", 66)
@pytest.mark.parametrize("name", ["angry", "sad"])
def test_the_feeling_of_a_drink_makes_a_neutral_knock_emotional(knock, name):
    emotional = acts.knock(BODY, acts.MANNERS[name])
    assert np.all(error(emote(knock, files.shipped(name)), emotional) < 0.5 * error(knock, emotional))


@pytest.mark.req("bruderlin", 67)
def test_feelings_are_saved_and_loaded(tmp_path, angry):
    files.write(tmp_path / "mine.json", angry)
    loaded = files.read(tmp_path / "mine.json")
    assert loaded.name == "angry" and loaded.notes == angry.notes
    assert np.allclose(ratios(loaded), ratios(angry), atol=1e-6)
    assert np.allclose(loaded.emotional_pace, angry.emotional_pace, atol=1e-8) and loaded.tempo == angry.tempo
    assert files.to_text(loaded) == files.to_text(angry)
    lacking = feeling(spans=((np.nan, np.nan), (1, 2), (1, 2), (1, 2)))
    assert "null" in files.to_text(lacking) and np.isnan(files.from_text(files.to_text(lacking)).spans[0, 0]).all()


@pytest.mark.req("bruderlin", 67)
def test_ten_emotions_are_there_and_those_of_our_own_examples(drink):
    assert len(EMOTIONS) == 10 and set(EMOTIONS) == set(acts.MANNERS)
    assert {p.stem for p in files.FOLDER.iterdir()} == {*EMOTIONS, *GAITS}
    for name in EMOTIONS:
        shipped, made = files.shipped(name), extract(drink, acts.drink(BODY, acts.MANNERS[name]), name)
        assert np.allclose(shipped.spans, made.spans, atol=1e-6), "write them again with formats.feeling.write"
        assert np.allclose(shipped.emotional_pace, made.emotional_pace, atol=1e-6)
    fast = {name: files.shipped(name).tempo for name in EMOTIONS}
    assert fast["angry"] < 0.7 < 1.5 < fast["sad"] and fast["neutral"] == 1.0
    with pytest.raises(InvalidParam, match="angry"):
        files.shipped("bored")


@cache
def _strides(gait, preset):
    return strides(BODY, gait, preset)


@pytest.mark.parametrize("name", GAITS)
def test_manners_of_going_are_those_of_our_own_walks_and_runs(name):
    gait, plain, style = GAITS[name]
    neutral, other = _strides(gait, plain), _strides(gait, style)
    shipped, made = files.shipped(name), extract(neutral, other, name, "foot_L")
    assert np.allclose(shipped.spans, made.spans, atol=1e-4), "write them again with formats.feeling.write"
    assert np.allclose(shipped.emotional_pace, made.emotional_pace, atol=1e-4)
    # the neutral one in that manner takes about the time of the one that has it
    done = emote(neutral, shipped)
    assert done.duration == pytest.approx(other.duration, rel=0.15)
    assert np.isfinite(done.rotations).all()


def test_a_sad_walk_is_slow_and_small_and_a_happy_one_is_neither():
    sad, happy = (files.shipped(f"{name}_walk") for name in ("sad", "happy"))
    assert sad.tempo > 1.3 and happy.tempo < 1.0
    assert np.all(mean_ratios(sad)[:2] < 0.7) and np.all(mean_ratios(happy)[:3] > 1.1)


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda d: d.update(troupe_feeling=2), "troupe_feeling"),
        (lambda d: d.pop("pace"), "'pace' is missing"),
        (lambda d: d["pace"]["neutral"].update(time=-1), "positive"),
        (lambda d: d["pace"]["neutral"].update(path=[0, 1, 0.5, 1]), "rise from 0 to 1"),
        (lambda d: d["pace"]["neutral"].update(path="abc"), "list of numbers"),
        (lambda d: d["pace"].update(neutral=3), "not where it belongs"),
        (lambda d: d["periods"][0].update(neutral=[1, 2]), "4 numbers"),
        (lambda d: d["periods"][0].update(emotional=[1, 2, 3, -4]), "negative"),
        (lambda d: d.update(periods=[]), "for each period"),
        (lambda d: d.update(name=7), "must be text"),
    ],
)
def test_files_with_a_mistake_are_refused(angry, change, why):
    data = json.loads(files.to_text(angry))
    change(data)
    with pytest.raises(FormatError, match=why):
        files.from_text(json.dumps(data))


def test_files_that_are_none_are_refused(tmp_path):
    for text, why in (
        ("{", "not JSON"),
        ("[]", "not a feeling"),
        ("[" * 100_000, "deeply|JSON"),
        ("x" * 2_000_000, "most"),
    ):
        with pytest.raises(FormatError, match=why):
            files.from_text(text)
    (tmp_path / "latin").write_bytes(b"\xff\xfe{}")
    with pytest.raises(FormatError, match="UTF-8"):
        files.read(tmp_path / "latin")
    with pytest.raises(FormatError, match="must be a file"):
        files.read(tmp_path / "nothing.json")
    with pytest.raises(FormatError, match="cannot be written"):
        files.write(tmp_path / "no" / "folder.json", feeling())


def test_what_cannot_be_learned_from_is_refused(drink, knock):
    other = Motion(mannequin(), 30.0, np.zeros((9, 3)), np.tile(quat.IDENTITY, (9, len(BODY), 1)))
    renamed = replace(other, skeleton=replace(other.skeleton, names=tuple(f"x{n}" for n in BODY.names)))
    with pytest.raises(InvalidMotion, match="retarget"):
        extract(drink, renamed)
    with pytest.raises(InvalidMotion, match="one sample"):
        extract(drink, Motion(BODY, 30.0, drink.roots[:1], drink.rotations[:1]))
    with pytest.raises(InvalidParam, match="from 1 to 5"):
        extract(drink, drink, period=6)
    with pytest.raises(InvalidParam, match="hand_L"):
        extract(drink, drink, effector="tail")
    with pytest.raises(InvalidParam, match="intensity"):
        EmotionParams(intensity=-1.0)


def test_the_pace_is_taken_from_the_longest_way_or_the_one_asked_for(drink):
    sad = acts.drink(BODY, acts.MANNERS["sad"])
    assert "period 4" in extract(drink, sad).notes[1], "cup down, the longest but for the rest at the mouth"
    assert extract(drink, sad, period=1).neutral_time == pytest.approx(0.86, abs=0.1)


def test_paths_that_go_nowhere_have_an_even_pace():
    assert np.allclose(path_fraction(np.ones((11, 3))), np.linspace(0, 1, 11))
    eased = table(path_fraction(np.stack([np.linspace(0, 1, 31) ** 2, np.zeros(31), np.zeros(31)], axis=-1)))
    assert np.all(np.diff(eased) > 0) and eased[32] == pytest.approx(0.25, abs=0.01)


def test_a_part_of_the_body_and_of_the_time(knock, angry):
    arm = emote(knock, angry, EmotionParams(pace=False, scope="arm_R"))
    others = [j for j, r in knock.skeleton.role_of().items() if not r.endswith("_R")]
    assert np.array_equal(arm.rotations[:, others], knock.rotations[:, others])
    assert np.array_equal(arm.roots, knock.roots)
    assert quat.distance(arm.rotations, knock.rotations).max() > 0.02
    at = plan(knock, angry, EmotionParams(range="part", begin=1.0, end=2.0, soft=0.0)).at
    assert np.allclose(at[:60], np.arange(60), atol=0.6)
    assert len(at) == pytest.approx(len(knock) - 60 * (1 - angry.tempo), abs=2)
    none = emote(knock, angry, EmotionParams(influence=0.0))
    assert len(none) == len(knock) and quat.distance(none.rotations, knock.rotations).max() < 1e-9


def test_a_walk_keeps_its_steps_on_the_ground():
    walk = contacts(stroll.walk(BODY, 3))
    for name in ("sad", "excited"):
        sized_only = emote(walk, files.shipped(name), EmotionParams(pace=False))
        for foot, side in enumerate("LR"):
            planted = walk.curves[f"contact/foot_{side}"] > 0.5
            assert np.abs(sole_points(sized_only) - sole_points(walk))[planted, foot].max() < 1e-6
        done = emote(walk, files.shipped(name))
        assert np.allclose(done.roots[[0, -1], :2], walk.roots[[0, -1], :2], atol=1e-6), "it gets as far"
        assert set(done.curves) == set(walk.curves) and len(done.events) == len(walk.events) + 1
        assert done.events[-1].time == pytest.approx(walk.events[-1].time * done.duration / walk.duration, rel=0.1)


def test_a_loop_stays_one(knock, angry):
    loop = replace(knock, rotations=knock.rotations[:-1], roots=knock.roots[:-1], loop=True)
    done = emote(loop, angry)
    assert done.loop and done.duration == pytest.approx(angry.tempo * loop.duration, abs=0.05)
    gap = quat.distance(done.rotations[-1], done.rotations[0]).max()
    assert gap < 2 * quat.distance(done.rotations[1:], done.rotations[:-1]).max()


def test_tiny_motions_stay(angry, knock):
    for count in (1, 2):
        tiny = Motion(BODY, 30.0, knock.roots[:count], knock.rotations[:count])
        assert emote(tiny, angry) is tiny
    three = emote(Motion(BODY, 30.0, knock.roots[:3], knock.rotations[:3]), angry)
    assert np.isfinite(three.rotations).all() and len(three) >= 2


def test_the_same_every_time_and_the_levels_have_names(knock, angry):
    a, b = emote(knock, angry), emote(knock, angry)
    repeats(a, b)
    text = " ".join(plan(knock, angry).notes)
    assert all(level in text for level in LEVELS)


@pytest.mark.parametrize("name", ["02_01", "111_17", "104_11"])
def test_recordings_become_emotional_and_stay_finite(data, name):
    motion = cmu(data, name)
    done = emote(motion, files.shipped("sad"))
    assert np.isfinite(done.rotations).all()
    assert done.duration == pytest.approx(files.shipped("sad").tempo * motion.duration, rel=0.02)


def test_a_recorded_sad_walk_teaches_a_neutral_one(data):
    neutral, sad = cmu(data, "35_01"), cmu(data, "91_13")
    sad = replace(sad, skeleton=replace(neutral.skeleton, offsets=sad.skeleton.offsets))
    learned = extract(neutral, sad, "sad")
    done = emote(cmu(data, "07_01"), learned)
    assert np.isfinite(done.rotations).all() and 0.1 < learned.tempo < 10
