"""Transfer curves: limits hold, lines change nothing, points can be moved, and the right angles are shaped."""

from dataclasses import replace

import numpy as np
import pytest
from feet import cmu
from troupe.core import InvalidParam, Motion, presets
from troupe.core.figure import acts, stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.waveshape import (
    CURVES,
    LINE,
    Shape,
    WaveshapeParams,
    curve,
    hard_limit,
    shape_values,
    soft_limit,
    waveshape,
)
from troupe.core.kinematics import anatomy
from troupe.core.maths import quat

X = np.linspace(-3.0, 3.0, 1201)


def slope(shape, x, h=1e-6):
    return float((curve(shape, x + h) - curve(shape, x - h)) / (2 * h))


@pytest.mark.req("bruderlin", 49)
def test_identity_is_exact_to_the_last_digit():
    odd = np.random.default_rng(1).normal(size=500)
    for shape in (
        Shape("identity"),
        Shape(points=LINE),
        Shape(points=((-0.83, -0.83), (0.1, 0.1), (0.33, 0.33), (0.9, 0.9)), tension=0.4, bias=-0.3),
        Shape(points=((-1.0, -1.0), (0.123, 0.123), (1.0, 1.0)), monotone=True),
    ):
        assert np.array_equal(shape_values(odd, -0.7, 1.3, shape), odd)


@pytest.mark.req("bruderlin", 49)
@pytest.mark.parametrize("lo, hi", [(-1.0, 1.0), (0.1, 0.7), (-2.0943951, -0.31)])
def test_limits_are_never_passed(lo, hi):
    x = np.concatenate([X, [-1e9, 1e9, lo, hi]])
    for values in (
        hard_limit(x, lo, hi),
        soft_limit(x, lo, hi),
        soft_limit(x, lo, hi, 0.0),
        soft_limit(x, lo, hi, 0.99),
    ):
        assert values.min() >= lo and values.max() <= hi
    inside = x[(x > lo) & (x < hi)]
    assert np.allclose(hard_limit(inside, lo, hi), inside, atol=1e-15)
    calm = x[np.abs(2 * (x - lo) / (hi - lo) - 1) < 0.8]
    assert np.allclose(soft_limit(calm, lo, hi), calm, atol=1e-15)


@pytest.mark.req("bruderlin", 49)
def test_a_soft_limit_has_no_corner():
    shape = Shape("soft", knee=0.8)
    for knee in (0.8, -0.8):
        assert slope(shape, knee - 1e-4) == pytest.approx(slope(shape, knee + 1e-4), abs=1e-3)
    assert slope(shape, 0.8, 1e-7) == pytest.approx(1.0, abs=1e-5)
    assert curve(shape, 0.9) == pytest.approx(0.8 + 0.2 * (1 - np.exp(-0.5)), abs=1e-15)
    assert np.all(np.diff(curve(shape, X[np.abs(X) < 2.5])) > 0)


@pytest.mark.req("bruderlin", 49)
def test_the_cosine_is_steep_in_the_middle_and_flat_at_the_ends():
    shape = Shape("cosine")
    assert slope(shape, 0.0) == pytest.approx(np.pi / 2, abs=1e-9)
    assert slope(shape, 1.0 - 1e-5) == pytest.approx(0.0, abs=1e-4)
    assert slope(shape, -1.0 + 1e-5) == pytest.approx(0.0, abs=1e-4)
    assert curve(shape, [-1.0, 0.0, 1.0, 5.0]).tolist() == [-1.0, 0.0, 1.0, 1.0]


def test_the_other_curves_do_what_they_are_called():
    bump, waves, step = (curve(Shape(kind), X) - X for kind in ("bump", "undulation", "step"))
    assert bump[600] == pytest.approx(0.15) and (bump >= 0).all() and np.abs(bump[np.abs(X) > 1]).max() < 1e-4
    assert np.abs(waves[np.abs(X) >= 1]).max() == 0.0
    crossings = np.count_nonzero(np.diff(np.sign(waves[(np.abs(X) < 0.99) & (np.abs(X) > 0.005)])))
    assert crossings == 2 * 3 - 1
    assert np.any(np.diff(waves + X) < 0), "a steady move goes back and forth"
    assert set((step + X).round(12)) == {-1.0, 1.0}


def test_a_curve_goes_through_its_points_and_on_straight():
    points = ((-1.0, -0.5), (-0.2, 0.3), (0.5, 0.2), (1.0, 0.9))
    for shape in (Shape(points=points), Shape(points=points, tension=0.7, continuity=-0.3, bias=0.5)):
        assert np.allclose(curve(shape, [p[0] for p in points]), [p[1] for p in points], atol=1e-15)
        assert np.allclose(np.diff(curve(shape, [1.0, 1.5, 2.0, 2.5]), 2), 0.0, atol=1e-12)
        assert np.allclose(np.diff(curve(shape, [-1.0, -1.5, -2.0, -2.5]), 2), 0.0, atol=1e-12)
    assert np.ptp(curve(Shape(points=points, tension=1.0), X) - curve(Shape(points=points), X)) > 0.01


def test_a_monotone_curve_stays_between_its_points():
    points = ((-1.0, -1.0), (-0.1, -0.95), (0.1, 0.95), (1.0, 1.0))
    free, tame = (curve(Shape(points=points, monotone=m), np.linspace(-1, 1, 401)) for m in (False, True))
    assert free.max() > 1.0 + 1e-3
    assert tame.max() <= 1.0 and tame.min() >= -1.0 and np.all(np.diff(tame) >= 0)


@pytest.mark.req("bruderlin", 50)
def test_points_are_added_deleted_and_dragged():
    shape = Shape("cosine").with_point(0.5, 0.9)
    assert shape.kind == "points" and shape.points == ((-1.0, -1.0), (0.0, 0.0), (0.5, 0.9), (1.0, 1.0))
    assert shape.with_point(0.5, 0.1).points[2] == (0.5, 0.1)
    assert shape.with_moved(2, 0.25, 0.7).points[2] == (0.25, 0.7)
    assert shape.without_point(2).points == LINE
    assert curve(shape, 0.5) == pytest.approx(0.9)
    with pytest.raises(InvalidParam, match="increase"):
        shape.with_moved(2, -0.5, 0.0)
    with pytest.raises(InvalidParam, match="from 0 to 3"):
        shape.without_point(4)
    with pytest.raises(InvalidParam, match="two points"):
        Shape(points=((0.0, 0.0), (1.0, 1.0))).without_point(0)


@pytest.mark.req("bruderlin", 50)
@pytest.mark.parametrize("kind", [k for k in CURVES if k not in ("step", "hard")])
def test_a_built_in_curve_becomes_points_that_follow_it(kind):
    x = np.linspace(-1.0, 1.0, 201)
    assert np.abs(curve(Shape(kind).editable(17), x) - curve(Shape(kind), x)).max() < 0.02


@pytest.mark.req("bruderlin", 50)
def test_curves_are_saved_and_loaded_as_presets():
    drawn = WaveshapeParams(shape="points", points=((-1.0, -0.8), (0.2, 0.4), (1.0, 0.9)), tension=0.25)
    text = presets.to_text("waveshape", [presets.preset("Mine", drawn)])
    (loaded,) = presets.from_text(text, "waveshape", WaveshapeParams)
    assert loaded.fault is None and WaveshapeParams.from_dict(loaded.values) == drawn
    shipped = presets.shipped("waveshape", WaveshapeParams)
    assert len(shipped) >= 6 and not [p.fault for p in shipped if p.fault]
    assert any(WaveshapeParams.from_dict(p.values).shape == "points" for p in shipped)


@pytest.mark.parametrize(
    "points, why",
    [
        (((0.0, 0.0),), "two or more"),
        (((0.0, 0.0), (0.0, 1.0)), "increase"),
        (((1.0, 0.0), (0.0, 1.0)), "increase"),
    ],
)
def test_curves_that_are_none_are_refused(points, why):
    with pytest.raises(InvalidParam, match=why):
        Shape(points=points)
    with pytest.raises(InvalidParam, match=why):
        WaveshapeParams(points=points)


def test_unknown_curves_and_knees_are_refused():
    with pytest.raises(InvalidParam, match="identity"):
        Shape("sinus")
    with pytest.raises(InvalidParam, match="below 1"):
        Shape("soft", knee=1.0)
    with pytest.raises(InvalidParam, match="from 0"):
        WaveshapeParams(extent=0.0)


@pytest.fixture(scope="module")
def knock():
    return acts.knock(mannequin(), fps=30.0)


def test_a_motion_through_the_identity_is_the_same_numbers(knock):
    for motion in (knock, stroll.walk(mannequin(), 2), replace(knock, rotations=-knock.rotations)):
        out = waveshape(motion, WaveshapeParams(shape="identity"))
        assert np.array_equal(out.rotations, motion.rotations) and np.array_equal(out.roots, motion.roots)
        out = waveshape(motion, WaveshapeParams(shape="points", range_of="limits"))
        assert np.array_equal(out.rotations, motion.rotations)


def test_a_capped_wave_stops_at_part_of_its_range(knock):
    params = WaveshapeParams(shape="hard", extent=0.6, scope="arm_R", angle="flexion")
    out = waveshape(knock, params)
    before, after = (np.degrees(anatomy.angles(m, "forearm_R")) for m in (knock, out))
    lo, hi = before[:, 0].min(), before[:, 0].max()
    reach = 0.6 * (hi - lo) / 2
    assert after[:, 0].max() == pytest.approx((lo + hi) / 2 + reach, abs=1e-6)
    assert after[:, 0].min() == pytest.approx((lo + hi) / 2 - reach, abs=1e-6)
    assert np.allclose(after[:, 1:], before[:, 1:], atol=1e-9)
    others = [j for j, r in knock.skeleton.role_of().items() if not r.endswith("_R")]
    assert np.array_equal(out.rotations[:, others], knock.rotations[:, others])


def test_undulations_turn_one_reach_into_several():
    reach = acts.drink(mannequin(), fps=60.0)
    reach = replace(reach, rotations=reach.rotations[:49], roots=reach.roots[:49])
    out = waveshape(reach, WaveshapeParams(shape="undulation", scope="arm_R", angle="flexion", size=0.3))
    before, after = (anatomy.angles(m, "upper_arm_R")[:, 0] for m in (reach, out))
    turns = [np.count_nonzero(np.diff(np.sign(np.diff(a)[np.abs(np.diff(a)) > 1e-5]))) for a in (before, after)]
    assert turns[0] <= 1 and turns[1] >= 4
    assert np.allclose(after[[0, -1]], before[[0, -1]], atol=0.02)


def test_joint_limits_are_kept_where_the_range_is_theirs(knock):
    limits = knock.skeleton.limits.copy()
    elbow = knock.skeleton.joint("forearm_R")
    limits[elbow, 0] = np.radians((0.0, 70.0))
    tight = replace(knock, skeleton=replace(knock.skeleton, limits=limits))
    for shape in ("soft", "hard"):
        out = waveshape(tight, WaveshapeParams(shape=shape, range_of="limits", scope="arm_R"))
        assert np.degrees(anatomy.angles(out, "forearm_R")[:, 0]).max() <= 70.0 + 1e-9
        assert np.abs(anatomy.violations(out)[:, elbow]).max() < 1e-9
    assert np.degrees(anatomy.angles(tight, "forearm_R")[:, 0]).max() > 80.0


def test_left_and_right_are_shaped_as_mirror_images():
    walk = stroll.walk(mannequin(), 2)
    mirrored = replace(walk, rotations=anatomy.mirror(walk.skeleton, walk.rotations))
    params = WaveshapeParams(shape="bump", size=0.4)
    both = anatomy.mirror(walk.skeleton, waveshape(walk, params).rotations), waveshape(mirrored, params).rotations
    limbs = [j for j, role in walk.skeleton.role_of().items() if role[-2:] in ("_L", "_R")]
    assert quat.distance(*both)[:, limbs].max() < 1e-7
    assert quat.distance(waveshape(walk, params).rotations, walk.rotations)[:, limbs].max() > 0.05


def test_hips_and_place_stay(knock):
    out = waveshape(knock, WaveshapeParams(shape="step"))
    assert np.array_equal(out.rotations[:, 0], knock.rotations[:, 0]) and np.array_equal(out.roots, knock.roots)
    assert not np.array_equal(out.rotations, knock.rotations)


def test_range_of_time_and_influence_count(knock):
    params = WaveshapeParams(shape="hard", extent=0.4, range="part", begin=1.0, end=2.0, soft=0.2)
    out = waveshape(knock, params)
    changed = quat.distance(out.rotations, knock.rotations).max(axis=1) > 1e-9
    times = knock.times[changed]
    assert times.min() > 1.0 and times.max() < 2.0
    half = waveshape(knock, replace(params, influence=0.5, range="whole"))
    full = waveshape(knock, replace(params, range="whole"))
    a, b = (quat.distance(m.rotations, knock.rotations) for m in (half, full))
    assert np.allclose(a, b / 2, atol=1e-6) and b.max() > 0.1


def test_constant_channels_and_single_samples_stay(knock):
    one = Motion(knock.skeleton, 30.0, knock.roots[40:41], knock.rotations[40:41])
    for shape in ("hard", "undulation", "step", "cosine"):
        assert np.array_equal(waveshape(one, WaveshapeParams(shape=shape)).rotations, one.rotations)
    still = [knock.skeleton.joint("shin_L"), knock.skeleton.joint("thumb_L")]
    out = waveshape(knock, WaveshapeParams(shape="step"))
    assert np.array_equal(out.rotations[:, still], knock.rotations[:, still])


@pytest.mark.parametrize("name", ["02_01", "111_17", "09_01"])
def test_recordings_stay_finite_and_identity_leaves_them(data, name):
    motion = cmu(data, name)
    same = waveshape(motion, WaveshapeParams(shape="points"))
    assert quat.distance(same.rotations, motion.rotations).max() < 1e-6
    out = waveshape(motion, WaveshapeParams(shape="soft", extent=0.8))
    assert np.isfinite(out.rotations).all()
    knees = [anatomy.angles(m, "shin_L")[:, 0] for m in (motion, out)]
    assert np.ptp(knees[1]) < 0.85 * np.ptp(knees[0])
