"""Each mistake in a motion is found with its number and its time, sound motion gives nothing, and cures cure."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, cmu, standing, steps
from troupe.core import InvalidParam, Motion
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.doctor import DoctorParams, Finding, examine, scale, spoken
from troupe.core.filters.mend import CURES
from troupe.core.kinematics.anatomy import from_angles, with_angles
from troupe.core.maths import quat

FIGURE = mannequin(1.75)


def calm(seconds=3.0, fps=24.0, **angles):
    """A figure that stands and sways, with some roles turned by [deg]."""
    count = round(seconds * fps)
    t = np.arange(count) / fps
    rotations = np.tile(quat.IDENTITY, (count, len(FIGURE), 1))
    bent = {f"{part}_{side}": (a, 0, 0) for part, a in (("shin", 5), ("foot", 5), ("forearm", 20)) for side in "LR"}
    for role, degrees in {**bent, **angles}.items():
        rotations = with_angles(FIGURE, rotations, {role: np.radians(np.broadcast_to(degrees, (count, 3)))})
    spine = np.column_stack([0.1 * np.sin(2 * t), 0.05 * np.sin(3 * t), 0 * t])
    rotations = with_angles(FIGURE, rotations, {"spine": spine})
    return Motion(FIGURE, fps, np.tile(FIGURE.offsets[0], (count, 1)), quat.continuous(rotations))


def kinds(motion, *args, **more):
    return sorted({f.kind for f in examine(motion, *args, **more)})


def only(motion, *args, **more):
    """The one finding there must be."""
    found = examine(motion, *args, **more)
    assert len(found) == 1, found
    return found[0]


def jumped(motion, sample, shift=(0.0, 0.0, 0.0), role=None, angle=0.0):
    """The motion with everything from a sample on somewhere else, or a joint turned by `angle` [rad]."""
    roots, rotations = motion.roots.copy(), motion.rotations.copy()
    roots[sample:] += shift
    if role:
        joint = motion.skeleton.joint(role)
        turn = from_angles((angle, 0.0, 0.0), role)
        rotations[sample:, joint] = quat.multiply(rotations[sample:, joint], turn)
    return replace(motion, roots=roots, rotations=quat.continuous(rotations))


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_sound_motion_has_no_findings(fps):
    assert examine(calm(fps=fps)) == ()
    assert examine(standing(body(), fps=fps)) == ()
    assert examine(steps(body(), fps=fps)[0]) == ()


def test_a_foot_that_slides_is_measured():
    motion, _ = steps(body(), slide=0.08)
    found = [f for f in examine(motion) if f.kind == "slide"]
    assert {f.part for f in found} == {"foot_L", "foot_R"}
    for f in found:
        # 0.08 m/s over a stance of 0.66 s
        assert 0.035 < f.value < 0.06 and f.unit == "m"
        assert f.sentence.startswith(f"The {spoken(f.part)} slides {1e3 * f.value:.0f} mm")
        assert 0.4 < f.end - f.start < 0.75


def test_what_is_below_the_floor_is_measured():
    sunk = replace(calm(), roots=calm().roots - (0, 0, 0.06))
    found = examine(sunk)
    assert [f.part for f in found] == ["foot_L", "foot_R"]
    assert all(f.value == pytest.approx(0.06, abs=0.01) and (f.start, f.end) == (0.0, 71 / 24) for f in found)
    assert "mm below the floor" in found[0].sentence
    assert examine(sunk, ground=-0.06) == ()
    assert examine(sunk, DoctorParams(floor=False)) == ()
    assert kinds(calm(), ground=0.06) == ["floor"]


@pytest.mark.parametrize(("role", "name"), [("shin_R", "right knee"), ("forearm_L", "left elbow")])
def test_a_joint_bent_the_wrong_way_is_hyperextended(role, name):
    f = only(calm(**{role: (-30, 0, 0)}), DoctorParams(floor=False))
    assert (f.kind, f.part) == ("hyperextension", role)
    assert f.sentence == f"The {name} bends 30° the wrong way"
    assert f.value == pytest.approx(np.radians(30))


def test_a_joint_beyond_its_range_is_told_with_its_axis():
    f = only(calm(head=(0, 0, 100)))
    assert f.sentence == "The head goes 40° beyond its range of rotation"
    assert f.value == pytest.approx(np.radians(40)) and f.part == "head"
    assert only(calm(upper_arm_L=(-110, 0, 0))).sentence == "The left upper arm goes 50° beyond its range of flexion"


def test_twist_of_the_forearm_may_be_in_the_wrist():
    assert examine(calm(hand_L=(0, 0, 75))) == ()
    assert kinds(calm(hand_L=(0, 0, 140))) == ["limits"]


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_a_jump_of_place_and_of_a_joint_are_found_where_they_are(fps):
    motion, sample = calm(fps=fps), round(1.5 * fps)
    f = only(jumped(motion, sample, shift=(0.15, 0, 0)), DoctorParams(slide=1.0))
    assert f.sentence == "The whole body jumps 150 mm" and f.value == pytest.approx(0.15)
    assert (f.start, f.end) == pytest.approx(((sample - 1) / fps, sample / fps))
    f = only(jumped(motion, sample, role="upper_arm_R", angle=0.6))
    assert (f.kind, f.part, f.sentence) == ("jump", "upper_arm_R", "The right upper arm jumps 34°")


def test_a_glitch_of_one_sample_is_one_jump():
    motion = calm()
    spiked = jumped(jumped(motion, 30, role="spine", angle=0.7), 31, role="spine", angle=-0.7)
    f = only(spiked)
    assert f.kind == "jump" and f.start <= 30 / 24 <= f.end


def test_fast_motion_is_no_jump():
    t = np.arange(72) / 24
    swing = np.radians(100) / (1 + np.exp(-(t - 1.5) / 0.04))
    motion = calm(upper_arm_L=np.column_stack([np.degrees(swing), 0 * t, 0 * t]))
    assert examine(motion) == ()


def test_many_jumps_are_the_largest_few_in_order():
    motion = calm(seconds=12)
    for i in range(12):
        motion = jumped(motion, 20 * (i + 1), role="head", angle=(-1) ** i * (0.45 + 0.02 * i))
    found = examine(motion)
    assert len(found) == 6 and [f.kind for f in found] == ["jump"] * 6
    assert [f.start for f in found] == sorted(f.start for f in found)
    assert min(f.value for f in found) > 0.55


def test_limits_in_metres_grow_with_figures_that_are_not_of_human_size():
    big = body(scale=100.0)
    assert scale(body()) == 1.0 and scale(big) == pytest.approx(100 * 0.86 / 0.85)
    assert examine(standing(big)) == ()
    assert [f.kind for f in examine(steps(big, slide=8.0)[0])] == ["slide", "slide"]


def test_short_motions_are_examined_too():
    for count in (1, 2, 5):
        motion = calm()
        short = Motion(FIGURE, 24.0, motion.roots[:count], motion.rotations[:count])
        assert examine(short) == ()
        assert kinds(replace(short, roots=short.roots - (0, 0, 0.1))) == ["floor"]


def test_examining_is_deterministic():
    motion = jumped(steps(body(), slide=0.08)[0], 100, shift=(0.2, 0, 0))
    assert examine(motion) == examine(motion)


@pytest.mark.parametrize("name", ["slide", "depth", "hyperextension", "limits", "jump", "jump_angle", "jump_ratio"])
def test_thresholds_outside_their_range_are_refused(name):
    with pytest.raises(InvalidParam, match=name):
        DoctorParams(**{name: -1.0})
    with pytest.raises(InvalidParam, match=name):
        DoctorParams(**{name: float("nan")})


def test_roles_are_spoken():
    assert [spoken(r) for r in ("upper_arm_L", "foot_R", "head")] == ["left upper arm", "right foot", "head"]


MISTAKES = {
    "slide": lambda: steps(body(), slide=0.08)[0],
    "floor": lambda: replace(calm(), roots=calm().roots - (0, 0, 0.06)),
    "hyperextension": lambda: calm(shin_R=(-30, 0, 0), forearm_L=(-25, 0, 0)),
    "limits": lambda: calm(head=(0, 0, 100), upper_arm_L=(-110, 0, 0)),
    "jump": lambda: jumped(jumped(calm(), 20, role="spine", angle=0.5), 50, role="upper_arm_L", angle=0.8),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_each_cure_takes_its_findings_away(kind):
    params = DoctorParams(floor=kind == "floor")
    motion = MISTAKES[kind]()
    assert kinds(motion, params) == [kind]
    mended = CURES[kind](motion, params, 0.0)
    assert kinds(mended, params) == []
    assert 0 < mended.mask.sum() <= len(mended.mask)
    untouched = ~mended.mask
    assert np.array_equal(mended.rotations[:, untouched], motion.rotations[:, untouched])


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_cure_leaves_sound_motion_alone(kind):
    motion = calm()
    mended = CURES[kind](motion, DoctorParams(), 0.0)
    assert quat.distance(mended.rotations, motion.rotations).max() < np.radians(1.0)
    assert np.abs(mended.roots - motion.roots).max() < 1e-3


def test_smoothing_a_glitch_keeps_everything_else():
    motion = calm()
    spiked = jumped(jumped(motion, 30, role="spine", angle=0.7), 31, role="spine", angle=-0.7)
    mended = CURES["jump"](spiked, DoctorParams(), 0.0)
    assert quat.distance(mended.rotations, motion.rotations).max() < np.radians(1.0)


def test_smoothing_ends_a_quarter_second_away():
    motion = jumped(calm(), 36, role="head", angle=0.8)
    mended = CURES["jump"](motion, DoctorParams(), 0.0)
    same = quat.distance(mended.rotations, motion.rotations).max(axis=1) < 1e-9
    assert same[:28].all() and same[44:].all() and not same[30:42].any()


def test_the_stance_before_a_recording_is_found_as_a_jump(data):
    """CMU clips begin with one sample of a T-pose."""
    for name in ("02_01", "07_01"):
        jumps = [f for f in examine(cmu(data, name)) if f.kind == "jump"]
        assert jumps and jumps[0].start == 0.0 and jumps[0].end < 0.05


def test_findings_are_plain_records():
    assert Finding("slide", "x") == Finding("slide", "x")
    assert Finding("slide", "x").start is None
