"""Re-posed samples are hit, the ends stay, passes compose, and planted feet stay where they are."""

import time
from dataclasses import replace

import numpy as np
import pytest
from feet import cmu
from troupe.core import InvalidMotion, InvalidParam, InvalidRig, Motion, Pose
from troupe.core.figure import acts, stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.contacts import contacts, sole_points
from troupe.core.filters.displace import DisplaceParams, Offsets, displace, displacement, from_text, offsets, to_text
from troupe.core.filters.footlock import slide
from troupe.core.filters.planted import keep_feet
from troupe.core.kinematics.anatomy import with_angles
from troupe.core.maths import quat

FREE = DisplaceParams(plant=False)


@pytest.fixture(scope="module")
def knock():
    return acts.knock(mannequin(), fps=30.0)


@pytest.fixture(scope="module")
def walk():
    return contacts(stroll.walk(mannequin(), 3))


def posed(motion, sample, shift=(0.0, 0.0, 0.0), **angles):
    """A pose of the motion with some roles set to angles [deg] and the hips shifted."""
    turns = with_angles(motion.skeleton, motion.rotations[sample], {r: np.radians(a) for r, a in angles.items()})
    return Pose(turns, motion.roots[sample] + shift)


def distance(motion, sample, pose):
    return max(
        float(quat.distance(motion.rotations[sample], pose.rotations).max()),
        float(np.abs(motion.roots[sample] - pose.root).max()),
    )


@pytest.mark.req("bruderlin", 51)
def test_the_curve_of_offsets_has_the_known_values():
    assert np.allclose(
        displacement([0, 50, 100], [0, 1, 0], [12.5, 25, 37.5, 50]), [0.15625, 0.5, 0.84375, 1], atol=1e-12
    )
    values = displacement([0, 25, 50, 100], [0, 10, -5, 0], [12.5, 37.5, 75])
    assert np.allclose(values, [5.3125, 2.604166666667, -3.333333333333], atol=1e-9)


@pytest.mark.req("bruderlin", 51)
def test_every_pose_is_hit_and_the_ends_stay(knock):
    edits = {
        20: posed(knock, 20, upper_arm_R=(120, 40, 10), head=(20, 0, 10)),
        33: posed(knock, 33, (0.05, -0.02, -0.1), forearm_R=(20, 0, 80), spine=(20, 5, -10)),
        80: posed(knock, 80, upper_arm_L=(60, 10, 0), hips=(0, 0, 25)),
    }
    out = displace(knock, edits, FREE)
    for sample, pose in edits.items():
        assert distance(out, sample, pose) < 1e-6
    for end in (0, len(knock) - 1):
        assert np.array_equal(out.rotations[end], knock.rotations[end])
        assert np.array_equal(out.roots[end], knock.roots[end])
    legs = [knock.skeleton.joint(r) for r in ("thigh_L", "shin_R", "foot_L")]
    assert np.array_equal(out.rotations[:, legs], knock.rotations[:, legs]), "joints nobody touched stay as they are"


@pytest.mark.req("bruderlin", 51)
def test_an_edited_end_is_hit_too(knock):
    last = len(knock) - 1
    edits = {0: posed(knock, 0, head=(30, 0, 0)), last: posed(knock, last, head=(-20, 10, 0))}
    out = displace(knock, edits, FREE)
    assert distance(out, 0, edits[0]) < 1e-6 and distance(out, last, edits[last]) < 1e-6


def test_the_detail_of_the_motion_stays():
    rng = np.random.default_rng(3)
    knock = acts.knock(mannequin(), fps=60.0)
    shaky = replace(
        knock,
        rotations=quat.multiply(knock.rotations, quat.exp(0.02 * rng.normal(size=knock.rotations.shape[:2] + (3,)))),
    )
    out = displace(shaky, {100: posed(shaky, 100, upper_arm_R=(100, 30, 0))}, FREE)
    arm = knock.skeleton.joint("upper_arm_R")
    added = quat.log(quat.multiply(quat.conjugate(shaky.rotations[:, arm]), out.rotations[:, arm]))
    assert np.abs(added).max() > 0.3
    assert np.abs(np.diff(added, 2, axis=0)).max() < 1e-3, "what is added is smooth, whatever it is added to"


@pytest.mark.req("bruderlin", 52)
def test_the_motion_given_is_untouched_and_passes_compose(knock):
    before = knock.rotations.copy(), knock.roots.copy()
    first = {30: posed(knock, 30, upper_arm_R=(110, 20, 0))}
    once = displace(knock, first, FREE)
    second = {70: posed(once, 70, upper_arm_R=(20, 30, 0)), 30: once.pose(30)}
    twice = displace(once, second, FREE)
    assert distance(twice, 30, first[30]) < 1e-6 and distance(twice, 70, second[70]) < 1e-6
    assert np.array_equal(knock.rotations, before[0]) and np.array_equal(knock.roots, before[1])
    assert displace(knock, {}, FREE) is knock


@pytest.mark.req("bruderlin", 53)
@pytest.mark.parametrize("slider", ["tension", "continuity", "bias"])
def test_sliders_change_the_way_between_poses_but_not_the_poses(knock, slider):
    edits = {20: posed(knock, 20, upper_arm_R=(120, 40, 10)), 60: posed(knock, 60, upper_arm_R=(10, 60, 0))}
    plain = displace(knock, edits, FREE)
    for value in (-0.9, 0.8):
        bent = displace(knock, edits, replace(FREE, **{slider: value}))
        assert quat.distance(bent.rotations, plain.rotations).max() > 0.01
        for sample, pose in edits.items():
            assert distance(bent, sample, pose) < 1e-6
        assert np.array_equal(bent.rotations[[0, -1]], plain.rotations[[0, -1]])


def test_a_joint_that_a_pose_leaves_alone_does_not_swing_over_it(knock):
    edits = {30: posed(knock, 30, upper_arm_R=(120, 40, 10)), 60: posed(knock, 60, (0.0, 0.0, -0.1), head=(40, 0, 0))}
    out = displace(knock, edits, FREE)
    head = knock.skeleton.joint("head")
    assert np.array_equal(out.roots[:31], knock.roots[:31])
    assert np.array_equal(out.rotations[:31, head], knock.rotations[:31, head])
    sunk = out.roots[:, 2] - knock.roots[:, 2]
    assert sunk.max() < 1e-12 and sunk.min() == pytest.approx(-0.1, abs=1e-6)


def test_reach_keeps_the_change_near_its_pose(knock):
    edits = {50: posed(knock, 50, (0.0, 0.0, 0.05), head=(40, 0, 0)), 90: posed(knock, 90, head=(-30, 0, 0))}
    out = displace(knock, edits, replace(FREE, reach=0.5))
    changed = np.flatnonzero(quat.distance(out.rotations, knock.rotations).max(axis=1) > 1e-9)
    assert set(changed) <= set(range(36, 65)) | set(range(76, 102)) and {50, 90} <= set(changed)
    for sample, pose in edits.items():
        assert distance(out, sample, pose) < 1e-6
    head = knock.skeleton.joint("head")
    added = quat.log(quat.multiply(quat.conjugate(knock.rotations[:, head]), out.rotations[:, head]))[:, 0]
    assert added[36:65].min() > -1e-9, "it comes to rest without swinging over"


def test_a_loop_closes_after_displacement(knock):
    loop = replace(knock, loop=True)
    out = displace(loop, {0: posed(loop, 0, head=(30, 0, 0)), 50: posed(loop, 50, head=(0, 20, 0))}, FREE)
    head = knock.skeleton.joint("head")
    added = quat.log(quat.multiply(quat.conjugate(knock.rotations[:, head]), out.rotations[:, head]))
    assert np.abs(added[0] - added[-1]).max() < 0.01 and np.abs(added[0]).max() > 0.3


def test_offsets_are_the_same_as_poses(knock):
    pose = posed(knock, 40, (0.0, 0.1, 0.0), forearm_R=(60, 0, 0))
    both = [displace(knock, {40: e}, FREE) for e in (pose, offsets(knock, 40, pose))]
    assert np.array_equal(both[0].rotations, both[1].rotations) and np.array_equal(both[0].roots, both[1].roots)


def test_planted_feet_stay_while_the_hips_sink(walk):
    middle = len(walk) // 2
    edits = {middle: posed(walk, middle, (0.0, 0.0, -0.08))}
    sunk, kept = (displace(walk, edits, DisplaceParams(plant=f)) for f in (False, True))
    on = [walk.curves["contact/foot_L"] > 0.5, walk.curves["contact/foot_R"] > 0.5]
    moved = [np.abs(sole_points(m) - sole_points(walk)) for m in (sunk, kept)]
    for foot in range(2):
        assert moved[0][on[foot], foot].max() > 0.06
        assert moved[1][on[foot], foot].max() < 1e-6
    assert kept.roots[middle, 2] == pytest.approx(walk.roots[middle, 2] - 0.08)
    step = np.abs(np.diff(quat.distance(kept.rotations, walk.rotations), axis=0)).max()
    assert step < np.radians(4), "the legs come and go without popping"
    assert max(s.travel for s in slide(kept, walk)) <= max(s.travel for s in slide(walk)) + 1e-6


def test_swinging_feet_follow_the_planted_ones_instead_of_sinking(walk):
    middle = len(walk) // 2
    kept = displace(walk, {middle: posed(walk, middle, (0.0, 0.0, -0.08))})
    assert (sole_points(kept) - sole_points(walk))[..., 2].min() > -0.01


def test_a_leg_posed_in_its_swing_takes_the_pose(walk):
    swing = np.flatnonzero((walk.curves["contact/foot_R"] < 0.5) & (walk.curves["contact/toe_R"] < 0.5))
    sample = int(swing[np.argmin(np.abs(swing - len(walk) // 2))])
    edits = {sample: posed(walk, sample, thigh_R=(70, 5, 0), shin_R=(90, 0, 0))}
    out = displace(walk, edits)
    leg = [walk.skeleton.joint(f"{p}_R") for p in ("thigh", "shin", "foot")]
    assert quat.distance(out.rotations[sample], edits[sample].rotations)[leg].max() < 1e-6
    planted = walk.curves["contact/toe_R"] > 0.5
    assert np.abs(sole_points(out) - sole_points(walk))[planted, 1].max() < 1e-6


def test_keeping_feet_that_did_not_move_changes_nothing(walk):
    assert np.array_equal(keep_feet(walk, walk).rotations, walk.rotations)
    arm = displace(walk, {50: posed(walk, 50, upper_arm_R=(90, 10, 0))}, DisplaceParams(plant=True))
    legs = [walk.skeleton.joint(f"{p}_{s}") for p in ("thigh", "shin", "foot", "toe") for s in "LR"]
    assert np.array_equal(arm.rotations[:, legs], walk.rotations[:, legs])


def test_what_does_not_fit_is_refused(knock):
    pose = knock.pose(0)
    for sample in (-1, len(knock)):
        with pytest.raises(InvalidParam, match=f"from 0 to {len(knock) - 1}"):
            displace(knock, {sample: pose})
    with pytest.raises(InvalidMotion, match="joints"):
        displace(knock, {3: Pose(pose.rotations[:5], pose.root)})
    with pytest.raises(InvalidMotion, match="sample 3"):
        displace(knock, {3: Offsets(np.zeros((5, 3)), np.zeros(3))})
    with pytest.raises(InvalidParam, match="tension"):
        DisplaceParams(tension=1.5)


def test_one_sample_is_displaced_by_its_pose(knock):
    one = Motion(knock.skeleton, 30.0, knock.roots[:1], knock.rotations[:1])
    pose = posed(one, 0, head=(30, 0, 0))
    assert distance(displace(one, {0: pose}, FREE), 0, pose) < 1e-9


@pytest.mark.req("bruderlin", 55)
def test_three_of_six_hundred_frames_take_little_time(knock):
    many = replace(knock, rotations=np.tile(knock.rotations, (6, 1, 1))[:600], roots=np.tile(knock.roots, (6, 1))[:600])
    values, times = np.random.default_rng(0).normal(size=(5, 70)), np.arange(600)
    took = []
    for _ in range(5):
        start = time.perf_counter()
        displacement([0, 100, 250, 400, 599], values, times)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.02
    edits = {s: posed(many, s, upper_arm_R=(90, 0, 0), spine=(10, 0, 0)) for s in (100, 250, 400)}
    assert np.isfinite(displace(many, edits, FREE).rotations).all()


def test_a_recording_is_displaced_with_its_feet_on_the_ground(data):
    motion = contacts(cmu(data, "02_01"))
    edits = {150: posed(motion, 150, (0.0, 0.0, -0.05), upper_arm_R=(100, 20, 0))}
    out = displace(motion, edits)
    planted = motion.curves["contact/foot_L"] > 0.5
    assert np.abs(sole_points(out) - sole_points(motion))[planted, 0].max() < 1e-3
    arm = motion.skeleton.joint("upper_arm_R")
    assert quat.distance(out.rotations[150, arm], edits[150].rotations[arm]) < 1e-6


def test_poses_are_kept_as_text(knock):
    made = {
        1.5: offsets(knock, 45, posed(knock, 45, (0.0, 0.1, 0.0), head=(30, 0, 0))),
        0.25: offsets(knock, 7, knock.pose(9)),
    }
    text = to_text(knock.skeleton, made)
    again = from_text(knock.skeleton, text)
    assert list(again) == [0.25, 1.5] and to_text(knock.skeleton, again) == text
    for at, edit in made.items():
        assert np.allclose(again[at].turns, edit.turns, atol=1e-8) and np.allclose(again[at].root, edit.root, atol=1e-8)
    assert '"shin.L"' not in text and from_text(knock.skeleton, " ") == {}


@pytest.mark.parametrize(
    "text, why",
    [
        ("{", "not JSON"),
        ("[1]", "list of poses"),
        ('[{"time": 1}]', "list of poses"),
        ('[{"time": 1, "turns": {"head": [1, 2]}, "root": [0, 0, 0]}]', "list of poses"),
        ('[{"time": 1, "turns": {}, "root": [0, 0, NaN]}]', "list of poses"),
    ],
)
def test_text_that_holds_no_poses_is_refused(knock, text, why):
    with pytest.raises(InvalidParam, match=why):
        from_text(knock.skeleton, text)
    with pytest.raises(InvalidRig, match="no joint 'tail'"):
        from_text(knock.skeleton, '[{"time": 1, "turns": {"tail": [0, 0, 1]}, "root": [0, 0, 0]}]')


def test_a_part_of_the_body_takes_its_part_of_the_pose(knock):
    edits = {50: posed(knock, 50, head=(40, 0, 0), upper_arm_L=(90, 0, 0))}
    out = displace(knock, edits, replace(FREE, scope="arm_L"))
    head, arm = (knock.skeleton.joint(r) for r in ("head", "upper_arm_L"))
    assert np.array_equal(out.rotations[:, head], knock.rotations[:, head])
    assert quat.distance(out.rotations[50, arm], edits[50].rotations[arm]) < 1e-9
