"""Fractions of stature and body mass."""

import pytest
from troupe.core.errors import InvalidParam
from troupe.core.figure.anthropometry import (
    FEMALE,
    HEIGHTS,
    LENGTHS,
    MALE,
    PAIRED,
    WINTER,
    body_mass,
    heights,
    lengths,
    segments,
)


def whole(table):
    return sum(s.mass * (2 if name in PAIRED else 1) for name, s in table.items())


@pytest.mark.parametrize("table", [MALE, FEMALE, WINTER], ids=["male", "female", "winter"])
def test_printed_masses_make_a_whole_body(table):
    assert whole(table) == pytest.approx(1.0, abs=1.1e-4)


@pytest.mark.parametrize("shape", [0.0, 0.3, 1.0])
def test_segment_masses_sum_to_one(shape):
    assert whole(segments(shape)) == pytest.approx(1.0, abs=1e-12)


def test_shape_goes_from_men_to_women():
    assert segments(0.0)["thigh"].mass == pytest.approx(0.1416)
    assert segments(1.0)["thigh"].mass == pytest.approx(0.1478, rel=2e-4)
    assert segments(0.5)["thigh"].centre == pytest.approx((0.4095 + 0.3612) / 2)
    assert segments(0.5)["shin"].gyration == pytest.approx((0.259, 0.2545, 0.097))


def test_leg_segments_add_up_to_the_height_of_the_hip():
    assert HEIGHTS["ankle"] + LENGTHS["shin"] == pytest.approx(HEIGHTS["knee"])
    assert HEIGHTS["knee"] + LENGTHS["thigh"] == pytest.approx(HEIGHTS["hip"])


def test_chain_from_hip_to_crown_adds_up_to_stature():
    parts = HEIGHTS["hip"] + LENGTHS["trunk"] + LENGTHS["neck"] + LENGTHS["head"]
    assert parts == pytest.approx(1.0)


def test_arm_segments_reach_the_fingertips():
    arm = LENGTHS["upper_arm"] + LENGTHS["forearm"] + LENGTHS["hand"]
    assert HEIGHTS["shoulder"] - arm == pytest.approx(HEIGHTS["fingertip"], abs=0.002)


def test_lengths_and_heights_scale_with_stature():
    assert lengths(1.8)["thigh"] == pytest.approx(0.441)
    assert heights(1.8)["hip"] == pytest.approx(0.954)


@pytest.mark.parametrize(
    ("segment", "mass", "centre", "radius"),
    [
        ("upper_arm", 0.028, 0.436, 0.322),
        ("forearm", 0.016, 0.430, 0.303),
        ("hand", 0.006, 0.506, 0.297),
        ("thigh", 0.100, 0.433, 0.323),
        ("shin", 0.0465, 0.433, 0.302),
        ("foot", 0.0145, 0.50, 0.475),
    ],
)
def test_winter_agrees_with_the_dynamics_specification(segment, mass, centre, radius):
    row = WINTER[segment]
    assert (row.mass, row.centre, row.gyration) == (mass, centre, (radius,) * 3)


def test_an_average_person_has_an_average_mass():
    assert body_mass(1.75) == pytest.approx(67.4, abs=0.1)
    assert body_mass(1.75, -1.0) < body_mass(1.75) < body_mass(1.75, 1.0)


@pytest.mark.parametrize("stature", [0.0, -1.75, 0.2, 4.0, float("nan")])
@pytest.mark.parametrize("function", [lengths, heights, body_mass])
def test_impossible_statures_are_refused(function, stature):
    with pytest.raises(InvalidParam, match="stature"):
        function(stature)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_shape_outside_its_range_is_refused(value):
    with pytest.raises(InvalidParam, match="shape"):
        segments(value)


@pytest.mark.parametrize("value", [-1.1, 2.0, float("nan")])
def test_build_outside_its_range_is_refused(value):
    with pytest.raises(InvalidParam, match="build"):
        body_mass(1.75, value)
