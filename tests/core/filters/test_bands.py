"""The equaliser changes the bands it is told to, where it is told to, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from feet import cmu
from repeat import repeats
from rigs import A_POSE, Rig
from troupe.core import presets
from troupe.core.errors import InvalidParam
from troupe.core.figure.stroll import walk
from troupe.core.filters.bands import SLIDERS, BandParams, BandsDraft, bands, gains_of
from troupe.core.filters.bank import equalise, response
from troupe.core.filters.contacts import contacts, sole_points
from troupe.core.filters.footlock import slide
from troupe.core.filters.positions import STRETCH, from_positions, to_positions
from troupe.core.filters.resample import resample
from troupe.core.filters.scope import SCOPES, mask
from troupe.core.filters.signals import FIRST, to_signals
from troupe.core.gait.walk import walk as stepped
from troupe.core.kinematics import base as bases
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.motion import Motion

from .clips import WALKS, cleaned, knees

SKELETON = Rig(A_POSE).cast().skeleton
JOINTS = len(SKELETON)
ELBOW = SKELETON.joint("forearm_R")
ONES = (1.0,) * SLIDERS
FEET, SIDES = ("foot", "toe"), tuple(enumerate("LR"))
CLIPS = ("02_01", "02_03", "02_04", "07_01", "07_12", "09_01", "104_02", "104_11", "104_53", "111_17", "13_11")
CLIPS += ("16_17", "16_34", "26_09", "35_01", "91_13")
PRESETS = {p.name: BandParams(**p.values) for p in presets.shipped("bands", BandParams)}


def set_to(changes, **more):
    return BandParams(gains=tuple(changes.get(k, 1.0) for k in range(SLIDERS)), **more)


EXAGGERATE = set_to({2: 2.0, 3: 2.0, 4: 2.0})


@pytest.fixture(scope="module")
def motion():
    return bases.based(walk(SKELETON, cycles=4, fps=30.0))


def swinging(hz=1.0, seconds=8.0, fps=30.0, loop=True):
    """Standing, the right elbow alone swinging by 0.3 rad; whole periods, so that it is a loop."""
    count = round(seconds * fps)
    turn = 0.3 * np.cos(2 * np.pi * hz * np.arange(count) / fps)
    rotations = np.tile(quat.IDENTITY, (count, JOINTS, 1))
    rotations[:, ELBOW] = quat.about(np.array([1.0, 0.0, 0.0]), turn)
    roots = np.tile(SKELETON.offsets[0], (count, 1))
    return Motion(SKELETON, fps, roots, rotations, base=np.zeros((count, 3)), loop=loop)


def swing(motion):
    return np.ptp(quat.log(motion.rotations[:, ELBOW])[:, 0]) / 2


def same(a, b, tolerance=1e-9):
    return np.abs(a.roots - b.roots).max() < tolerance and np.abs(a.rotations - b.rotations).max() < tolerance


@pytest.mark.req("bruderlin", 32, 40)
@pytest.mark.parametrize("signal", ["rotations", "positions"])
@pytest.mark.parametrize("normalise", [False, True])
def test_gains_of_one_change_nothing(motion, signal, normalise):
    assert bands(motion, BandParams(signal=signal, normalise=normalise)) is motion
    # the way through the signals itself is as good, for another joint's gain must not cost this one anything
    some = bands(motion, replace(EXAGGERATE, signal=signal, scope="arm_R", plant=False))
    chosen = mask(SKELETON, BandParams(scope="arm_R"))[:-1]
    assert np.array_equal(some.rotations[:, ~chosen], motion.rotations[:, ~chosen])
    assert np.array_equal(some.roots, motion.roots)


@pytest.mark.req("bruderlin", 40)
@pytest.mark.parametrize("name", CLIPS)
def test_a_gain_near_one_hardly_changes_recorded_motion_and_nothing_flips(data, name):
    clip = resample(cmu(data, name), 30.0)
    nearly = bands(clip, set_to(dict.fromkeys(range(SLIDERS), 1.0 + 1e-09), plant=False))
    assert quat.distance(nearly.rotations, clip.rotations).max() < 1e-6
    assert np.abs(nearly.roots - clip.roots).max() < 1e-6
    strong = bands(clip, EXAGGERATE)
    assert quat.dot(strong.rotations[1:], strong.rotations[:-1]).min() > 0.0


@pytest.mark.req("bruderlin", 34, 36)
@pytest.mark.parametrize(
    ("changes", "normalise", "factor"),
    [
        ({2: 2.0, 3: 2.0, 4: 2.0}, False, 1.8955),
        ({5: 2.0, 6: 2.0}, False, 1.0),
        ({5: 2.0, 6: 2.0}, True, 0.5),
        ({0: 2.0}, False, 1.0217),
        ({2: -1.0, 3: -1.0}, False, None),
        (dict.fromkeys(range(5), 0.0), False, None),
    ],
)
def test_a_swing_of_one_hertz_grows_as_its_bands_say(changes, normalise, factor):
    params = set_to(changes, normalise=normalise, plant=False)
    if factor is None:
        gains = np.append(params.gains, 1.0)
        factor = abs(float(gains @ response(1.0, 30.0, SLIDERS)))
    # 8 s of 30 fps are 240 samples and 7 bands: what is slower than those has nothing of 1 Hz
    assert swing(bands(swinging(), params)) == pytest.approx(0.3 * factor, abs=1e-4)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"signal": "positions"},
        {"boundary": "constant", "scope": "arm_R"},
        {"boundary": "wrap", "scope": "upper_body", "influence": 0.6},
        {"travel": True, "range": "part", "begin": 1.0, "end": 3.0},
    ],
)
def test_a_draft_follows_the_gains_to_what_the_filter_gives(motion, options):
    draft = BandsDraft(motion, BandParams(plant=False, **options))
    for changes in ({2: 2.0, 3: 2.0, 4: 2.0}, {0: 0.0, 5: -1.0}, {1: 3.0, 6: 0.5}):
        params = set_to(changes, plant=False, **options)
        for asked in (params, replace(params, normalise=True)):
            assert same(draft.motion(asked), bands(motion, asked), 1e-5 if asked.signal == "rotations" else 1e-4)


def test_a_draft_of_a_clip_that_repeats_its_first_sample_goes_around():
    loop = swinging()
    clip = replace(
        loop,
        roots=np.concatenate([loop.roots, loop.roots[:1]]),
        rotations=np.concatenate([loop.rotations, loop.rotations[:1]]),
        base=np.zeros((len(loop) + 1, 3)),
        loop=False,
    )
    params = replace(EXAGGERATE, boundary="wrap", plant=False)
    draft = BandsDraft(clip, params)
    for _ in range(2):
        assert same(draft.motion(params), bands(clip, params), 2e-6)
    assert same(BandsDraft(loop, params).motion(params), bands(loop, params), 2e-6)


def test_a_draft_of_one_sample_is_that_sample(motion):
    one = replace(motion, roots=motion.roots[:1], rotations=motion.rotations[:1], base=motion.base[:1])
    assert same(BandsDraft(one, BandParams()).motion(EXAGGERATE), one, 2e-6)


def test_a_loop_stays_a_loop():
    loop, params = swinging(), replace(EXAGGERATE, plant=False)
    result = bands(loop, params)
    assert result.loop
    later = bands(replace(loop, rotations=np.roll(loop.rotations, 37, axis=0)), params)
    assert np.abs(np.roll(result.rotations, 37, axis=0) - later.rotations).max() < 1e-9


def test_a_clip_that_repeats_its_first_sample_is_filtered_around():
    loop = swinging()
    clip = replace(
        loop,
        roots=np.concatenate([loop.roots, loop.roots[:1]]),
        rotations=np.concatenate([loop.rotations, loop.rotations[:1]]),
        base=np.zeros((len(loop) + 1, 3)),
        loop=False,
    )
    params = replace(EXAGGERATE, plant=False)
    around = bands(clip, replace(params, boundary="wrap"))
    assert np.abs(around.rotations[:-1] - bands(loop, params).rotations).max() < 1e-9
    assert np.abs(around.rotations[-1] - around.rotations[0]).max() < 1e-9


@pytest.mark.parametrize("boundary", ["reflect", "constant", "wrap"])
def test_boundaries_are_those_of_the_bank(boundary):
    clip = swinging(hz=0.9, loop=False)
    result = bands(clip, replace(EXAGGERATE, boundary=boundary, plant=False))
    before, after = (to_signals(m) for m in (clip, result))
    expected = equalise(before.values, EXAGGERATE.gains[:7], boundary)
    column = FIRST + 3 * ELBOW
    angles = [quat.log(result.rotations[:, ELBOW])[:, 0], expected[:, column] + quat.log(before.references)[ELBOW, 0]]
    assert np.abs(angles[0] - angles[1]).max() < 1e-9 and np.isfinite(after.values).all()


@pytest.mark.req("bruderlin", 36)
@pytest.mark.parametrize(
    ("name", "raised", "lowered"),
    [
        ("Exaggerate", {2, 3, 4}, set()),
        ("Nervous twitch", {0}, set()),
        ("Tone down", {5, 6}, set()),
        ("Anticipation and follow-through", set(), {5}),
        ("Smooth", set(), {0, 1}),
        ("Cartoon squash and stretch", {2, 3, 4}, set()),
    ],
)
def test_the_presets_set_the_bands_they_are_named_for(name, raised, lowered):
    params = PRESETS[name]
    assert {k for k, g in enumerate(params.gains) if g > 1} == raised
    assert {k for k, g in enumerate(params.gains) if g < 1} == lowered
    assert params.normalise == (name == "Tone down")
    assert params.signal == ("positions" if name.startswith("Cartoon") else "rotations")
    if name.startswith("Anticipation"):
        assert params.gains[5] < 0


@pytest.mark.req("bruderlin", 36)
def test_presets_do_what_they_are_named_for(motion):
    def range_of(m):
        return np.ptp(to_signals(m).values[:, FIRST + 3 :], axis=0)

    moving = range_of(motion) > 0.05
    grown, calm = (range_of(bands(motion, replace(PRESETS[n], plant=False))) for n in ("Exaggerate", "Tone down"))
    assert np.median((grown / np.maximum(range_of(motion), 1e-9))[moving]) > 1.5
    assert np.median((calm / np.maximum(range_of(motion), 1e-9))[moving]) < 0.7
    noise = np.random.default_rng(0).normal(scale=0.02, size=(len(motion), JOINTS, 3))
    rough = replace(motion, rotations=quat.multiply(motion.rotations, quat.exp(noise)))

    def jitter(m):
        return np.abs(np.diff(to_signals(m).values[:, FIRST + 3 :], 2, axis=0)).mean()

    smooth, nervous = (jitter(bands(rough, replace(PRESETS[n], plant=False))) for n in ("Smooth", "Nervous twitch"))
    assert smooth < 0.3 * jitter(rough) and nervous > 3 * jitter(rough)


@pytest.mark.req("bruderlin", 38)
@pytest.mark.parametrize("scope", SCOPES)
def test_gains_act_on_the_part_that_is_chosen(motion, scope):
    params = replace(EXAGGERATE, scope=scope, plant=False)
    result = bands(motion, params)
    chosen = mask(SKELETON, params)
    changed = np.any(result.rotations != motion.rotations, axis=(0, 2))
    assert not changed[~chosen[:-1]].any() and np.any(result.roots != motion.roots) == chosen[-1]
    whole = bands(motion, replace(params, scope="all"))
    assert np.abs(result.rotations - whole.rotations)[:, chosen[:-1]].max() < 1e-9


@pytest.mark.req("bruderlin", 38)
def test_one_joint_alone_can_be_filtered(motion):
    result = bands(motion, replace(EXAGGERATE, joints=SKELETON.names[ELBOW]))
    assert np.flatnonzero(np.any(result.rotations != motion.rotations, axis=(0, 2))).tolist() == [ELBOW]


def test_influence_and_range_come_in_softly(motion):
    params = replace(EXAGGERATE, range="part", begin=1.0, end=3.0, soft=0.5, plant=False)
    result = bands(motion, params)
    outside = (motion.times <= 1.0) | (motion.times >= 3.0)
    assert np.array_equal(result.rotations[outside], motion.rotations[outside])
    full = bands(motion, replace(params, range="whole"))
    inside = (motion.times >= 1.5) & (motion.times <= 2.5)
    assert np.abs(result.rotations - full.rotations)[inside].max() < 1e-12
    assert bands(motion, replace(params, influence=0.0)) is motion
    half = bands(motion, replace(params, range="whole", influence=0.5))
    parts = [quat.distance(half.rotations, m.rotations) for m in (motion, full)]
    assert np.allclose(parts[0], parts[1], atol=1e-7)


def turning(count=240):
    """A walk along a circle that comes round once and a half."""
    t = np.linspace(0.0, 3 * np.pi, count)
    still = np.tile(quat.IDENTITY, (count, JOINTS, 1))
    base = np.column_stack([2 * np.sin(t), -2 * np.cos(t), t + 0.5])
    sway = np.column_stack([0.04 * np.sin(9 * t), np.zeros(count), SKELETON.offsets[0, 2] + 0.02 * np.sin(18 * t)])
    roots, still[:, 0] = bases.compose(base, sway, still[:, 0])
    return Motion(SKELETON, 30.0, roots, still, base=base)


def test_a_walk_that_turns_keeps_its_way():
    clip = turning()
    result = bands(clip, replace(EXAGGERATE, plant=False))
    assert np.array_equal(result.base, clip.base)
    before, after = (bases.relative(m)[0] for m in (clip, result))
    assert np.ptp(after[:, 0]) > 1.5 * np.ptp(before[:, 0])
    assert quat.distance(result.rotations[:, 0], clip.rotations[:, 0]).max() < 1e-7


def test_the_way_over_the_ground_can_be_changed_too():
    clip = turning()
    smooth = bands(clip, set_to({3: 0.0, 4: 0.0, 5: 0.0, 6: 0.0}, travel=True, plant=False))
    assert np.abs(smooth.base - clip.base).max() > 0.1
    straight = walk(SKELETON, cycles=4, fps=30.0)
    line = np.linspace(0.0, 1.0, len(straight))[:, None] * (0.5, -4.0, 0.3)
    straight = replace(straight, base=line)
    same_way = bands(straight, replace(EXAGGERATE, travel=True, plant=False))
    assert np.abs(same_way.base - line).max() < 1e-9


def away_from(result, planted):
    """How far soles are from where they are in `planted`, while they stand there [m]."""
    apart = np.abs(sole_points(result) - sole_points(planted)).max(axis=(-1, -2))
    return max(apart[planted.curves[f"contact/{part}_{side}"] > 0.5, k].max() for part in FEET for k, side in SIDES)


def test_feet_stand_where_they_touched_the_ground(motion):
    planted = contacts(motion)
    free, strong = (bands(motion, replace(EXAGGERATE, plant=p)) for p in (False, True))
    assert away_from(free, planted) > 0.1 and away_from(strong, planted) < 1e-6
    assert max(s.travel for s in slide(strong, planted)) < max(s.travel for s in slide(planted)) + 1e-6
    assert dict(strong.curves) == dict(motion.curves)
    assert away_from(bands(motion, replace(EXAGGERATE, scope="hips")), planted) < 1e-6
    arms = bands(motion, replace(EXAGGERATE, scope="arms"))
    assert np.array_equal(arms.roots, motion.roots)


def test_a_slider_that_hardly_moves_hardly_changes_a_walk_with_planted_feet(motion):
    small = bands(motion, set_to({1: 1.001, 2: 1.001}))
    assert quat.distance(small.rotations, motion.rotations).max() < 2e-3
    assert np.abs(small.roots - motion.roots).max() < 1e-4


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_kicks_the_knees_or_puts_feet_into_the_floor(name):
    walked = stepped(SKELETON, fps=24.0)
    free, planted = (bands(walked, replace(PRESETS[name], plant=p)) for p in (False, True))
    assert jerk(planted) < 1.25 * max(jerk(free), jerk(walked))
    assert sole_points(planted)[..., 2].min() > -1e-4
    assert np.abs(planted.roots - free.roots).max() < 0.02


@pytest.mark.req("bruderlin", 39)
def test_places_of_joints_come_back_as_rotations(motion):
    places = to_positions(motion)
    back = from_positions(motion, places, places)
    assert same(back, motion, 1e-7)
    stretch = {name: curve for name, curve in back.curves.items() if name.startswith(STRETCH)}
    assert len(stretch) >= JOINTS - 1 and all(np.allclose(curve, 1.0) for curve in stretch.values())


@pytest.mark.req("bruderlin", 39)
def test_moved_places_are_pointed_at_and_their_distance_is_told(motion):
    hand, shoulder = SKELETON.joint("hand_L"), SKELETON.joint("upper_arm_L")
    places = to_positions(motion)
    moved = places.reshape(len(motion), 2, JOINTS, 3).copy()
    elbow = SKELETON.joint("forearm_L")
    moved[:, :, [*SKELETON.chain("hand_L")]] += (0.1, -0.2, 0.3)
    result = from_positions(motion, places, moved.reshape(len(motion), -1))
    seen = to_positions(result).reshape(len(motion), 2, JOINTS, 3)[:, 0]
    assert np.abs(seen[:, elbow] - moved[:, 0, elbow]).max() < 1e-9
    wanted = quat.unit(moved[:, 0, hand] - moved[:, 0, elbow])
    assert np.abs(quat.unit(seen[:, hand] - seen[:, elbow]) - wanted).max() < 1e-9
    length = np.linalg.norm(moved[:, 0, hand] - moved[:, 0, elbow], axis=-1) / np.linalg.norm(SKELETON.offsets[hand])
    assert np.allclose(result.curves[STRETCH + SKELETON.names[hand]], length)
    assert np.allclose(result.curves[STRETCH + SKELETON.names[elbow]], 1.0)
    assert quat.distance(result.rotations[:, shoulder], motion.rotations[:, shoulder]).max() < 1e-7


@pytest.mark.req("bruderlin", 39)
def test_filtering_places_stretches_and_still_keeps_the_bones(motion):
    result = bands(motion, replace(PRESETS["Cartoon squash and stretch"], plant=False))
    stretch = np.array([curve for name, curve in result.curves.items() if name.startswith(STRETCH)])
    assert stretch.max() > 1.05 and stretch.min() < 0.99
    before, after = (fk.forward(SKELETON, m.rotations, m.roots)[0] for m in (motion, result))
    shin, foot = SKELETON.joint("shin_L"), SKELETON.joint("foot_L")
    assert np.ptp(np.linalg.norm(after[:, foot] - after[:, shin], axis=-1)) < 1e-9
    away = [bases.relative(replace(m, base=motion.base))[0] for m in (motion, result)]
    assert np.ptp(away[1][:, 2]) > 1.2 * np.ptp(away[0][:, 2])
    reach = [np.ptp((p[:, foot] - p[:, 0])[:, 1]) for p in (before, after)]
    assert reach[1] > reach[0]


def test_bands_that_a_short_clip_does_not_have_are_passed_over(motion):
    assert len(gains_of(BandParams(), 600)) == SLIDERS and len(gains_of(BandParams(), 20)) == 4
    short = replace(motion, roots=motion.roots[:3], rotations=motion.rotations[:3], base=motion.base[:3])
    assert bands(short, set_to({5: 9.0})) is short
    one = replace(motion, roots=motion.roots[:1], rotations=motion.rotations[:1], base=motion.base[:1])
    assert bands(one, set_to({0: 9.0})) is one


def test_normalising_divides_by_the_largest_gain():
    assert gains_of(set_to({1: 4.0}, normalise=True), 600).tolist() == [0.25, 1.0, *[0.25] * 6]
    assert gains_of(BandParams(gains=(-1.0,) * SLIDERS, normalise=True), 600).tolist() == [-1.0] * 8


def test_constant_channels_stay_constant():
    result = bands(swinging(), set_to(dict.fromkeys(range(SLIDERS), 3.0)))
    # held feet at the end of straight legs show the square root of what is lost in rounding
    assert np.abs(np.diff(np.delete(result.rotations, ELBOW, axis=1), axis=0)).max() < 1e-7
    result = bands(swinging(), set_to(dict.fromkeys(range(SLIDERS), 3.0), plant=False))
    assert np.abs(np.diff(np.delete(result.rotations, ELBOW, axis=1), axis=0)).max() < 1e-12


def test_the_same_settings_give_the_same_keys(motion):
    a, b = (bands(motion, replace(EXAGGERATE, plant=False)) for _ in range(2))
    repeats(a, b)


@pytest.mark.parametrize(
    "wrong",
    [{"gains": (1.0,) * 3}, {"gains": (11.0,) * 8}, {"signal": "curves"}, {"boundary": "mirror"}, {"normalise": 1}],
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(InvalidParam, match=next(iter(wrong))):
        BandParams(**wrong)


def test_an_unknown_joint_is_refused_even_when_nothing_would_change(motion):
    with pytest.raises(InvalidParam, match="joints = 'tail'"):
        bands(motion, BandParams(joints="tail"))


def jerk(motion):
    """How much knees jerk at most, as one sees it at 30 frames a second [degrees a frame, by frame]."""
    return np.degrees(np.abs(np.diff(knees(resample(motion, 30.0)), 2, axis=0)).max())


@pytest.mark.parametrize("name", ["ours", *WALKS])
def test_planted_feet_of_an_exaggerated_walk_do_not_kick_the_knees(data, name):
    motion = stepped(SKELETON, fps=24.0) if name == "ours" else cleaned(data, name)
    free, planted = (bands(motion, BandParams(gains=(1, 1, 1.7, 1.7, 1.7, 1, 1, 1), plant=p)) for p in (False, True))
    assert jerk(planted) < max(1.2 * jerk(free), 15.0)
