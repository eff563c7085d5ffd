"""Another body shows the same motion: directions, left and right, planted feet."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import A_POSE, T_POSE, Rig
from troupe.core.errors import InvalidParam, InvalidRig
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import slide
from troupe.core.filters.retarget import PARTS, RetargetParams, retarget, transfer, tread
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.motion import Motion
from troupe.core.skeleton import Skeleton

PLAIN = RetargetParams(plant=False, ground=False)


def skeleton(spine=3, rest=A_POSE, height=1.75, without=()):
    rig = Rig(rest, height=height)
    bones = rig.roles["spine"]
    rig.roles["spine"] = {1: bones[:1], 2: (bones[0], bones[2]), 3: bones}[spine]
    for role in without:
        rig.roles.pop(role)
    return rig.cast().skeleton


def lively(skeleton, frames=60):
    """A walk with a bending, twisting trunk and waving arms."""
    motion = walk(skeleton, cycles=2, fps=30.0)
    rng = np.random.default_rng(3)
    rate, shift = (rng.uniform(*span, (1, len(skeleton), 3)) for span in ((1, 5), (0, 6)))
    phase = motion.times[:, None, None] * rate + shift
    legs = [j for r, js in skeleton.roles.items() if r.split("_")[0] in ("thigh", "shin", "foot", "toe") for j in js]
    wave = 0.35 * np.sin(phase)
    wave[:, legs] = 0.0
    return replace(motion, rotations=quat.continuous(quat.multiply(motion.rotations, quat.exp(wave))))


def directions(motion):
    """Role to the direction (T, 3) of its segment, carried over from the neutral stance; chains end to end."""
    s = motion.skeleton
    _, turns = fk.forward(s, motion.rotations, motion.roots)
    out = {}
    for role, joints in s.roles.items():
        joints = list(joints)
        ends = quat.rotate(turns[:, joints], s.tips[joints]).sum(axis=1)
        rest = s.tips[joints].sum(axis=0)
        mean = quat.mean(turns[:, joints])
        turn = quat.multiply(quat.between(quat.rotate(mean, rest), ends), mean)
        out[role] = quat.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return out


def degrees_apart(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), quat.dot(a, b)))


def test_onto_itself_nothing_changes():
    s = skeleton()
    motion = lively(s)
    again = retarget(motion, s, PLAIN)
    assert quat.distance(again.rotations, motion.rotations).max() < 1e-6
    assert np.abs(again.roots - motion.roots).max() < 1e-12


@pytest.mark.parametrize(("theirs", "ours"), [(3, 3), (3, 2), (3, 1), (2, 3), (1, 3), (1, 2)])
def test_every_segment_points_the_way_it_did(theirs, ours):
    source = lively(skeleton(theirs, T_POSE))
    result = retarget(source, skeleton(ours, A_POSE, 1.2), PLAIN)
    wanted, got = directions(source), directions(result)
    for role in wanted:
        assert degrees_apart(wanted[role], got[role]).max() < 2.0, role


def test_the_chest_keeps_its_orientation_whatever_the_number_of_spine_bones():
    source = lively(skeleton(3))
    result = retarget(source, skeleton(2), PLAIN)
    tops = [fk.global_rotations(m.skeleton, m.rotations)[:, m.skeleton.chain("spine")[-1]] for m in (source, result)]
    assert np.degrees(quat.distance(*tops)).max() < 1.0


def test_the_root_scales_with_the_legs():
    source, small = lively(skeleton(height=1.8)), skeleton(height=0.9)
    result = retarget(source, small, PLAIN)
    assert np.allclose(np.diff(result.roots, axis=0), 0.5 * np.diff(source.roots, axis=0), atol=1e-9)
    far = retarget(source, small, replace(PLAIN, travel=2.0))
    assert np.allclose(np.diff(far.roots[:, :2], axis=0), np.diff(source.roots[:, :2], axis=0), atol=1e-9)


def test_standing_stays_standing():
    s, small = skeleton(height=1.8), skeleton(height=1.0)
    still = Motion(s, 24.0, s.offsets[:1], np.tile(quat.IDENTITY, (1, len(s), 1)))
    assert np.allclose(retarget(still, small, PLAIN).roots, small.offsets[0])


def test_roles_the_source_lacks_are_left_alone():
    source = lively(skeleton(without=("clavicle_L", "clavicle_R", "index_L", "jaw")))
    target = skeleton()
    result = retarget(source, target, PLAIN)
    for role in ("clavicle_L", "index_L", "jaw"):
        joints = list(target.chain(role))
        assert not result.mask[joints].any()
        assert np.allclose(result.rotations[:, joints], quat.IDENTITY)
    assert result.mask[target.joint("upper_arm_L")]
    hand = directions(result)["hand_L"]
    assert degrees_apart(directions(source)["hand_L"], hand).max() < 2.0


def test_a_missing_neck_lies_between_chest_and_head():
    source = lively(skeleton(without=("neck",)))
    target = skeleton()
    turns = fk.global_rotations(target, transfer(source, target)[0])
    chest, neck, head = (turns[:, target.chain(r)[-1]] for r in ("spine", "neck", "head"))
    assert np.allclose(quat.distance(chest, neck) + quat.distance(neck, head), quat.distance(chest, head), atol=1e-6)


def test_hands_can_be_left_out():
    target = skeleton()
    result = retarget(lively(skeleton()), target, replace(PLAIN, hands=False))
    assert not result.mask[list(target.chain("index_R"))].any()
    assert result.mask[target.joint("hand_R")]


@pytest.mark.parametrize("height", [1.1, 1.75, 2.1])
def test_planted_feet_do_not_slide_and_the_upper_body_is_untouched(height):
    source = walk(skeleton(height=1.75), cycles=3, fps=60.0)
    skate = np.zeros((len(source), 3))
    skate[:, 0] = 0.04 * source.times
    source = contacts(replace(source, roots=source.roots + skate))
    target = skeleton(rest=T_POSE, height=height)
    plain, planted = retarget(source, target, PLAIN), retarget(source, target)
    assert max(s.travel for s in slide(planted)) < 0.005
    assert max(s.travel for s in slide(plain)) > 0.005, "the source slides, so this test would show it"
    before, after = (fk.global_rotations(target, m.rotations) for m in (plain, planted))
    above = [j for r, js in target.roles.items() if r.split("_")[0] not in ("thigh", "shin", "foot", "toe") for j in js]
    assert quat.distance(before[:, above], after[:, above]).max() < 1e-6


def test_feet_come_down_to_the_ground_whatever_the_floor_of_the_source():
    source = walk(skeleton(), cycles=3, fps=60.0)
    target = skeleton(height=1.4)
    level = [
        tread(contacts(retarget(replace(source, roots=source.roots + (0, 0, z)), target))) for z in (0.0, 0.4, -0.2)
    ]
    assert np.abs(level).max() < 0.01
    kept = retarget(replace(source, roots=source.roots + (0, 0, 0.4)), target, RetargetParams(ground=False))
    assert tread(contacts(kept)) == pytest.approx(0.4 * target.leg_length() / source.skeleton.leg_length(), abs=0.02)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_body_speaks_for_itself_alone(part):
    target = skeleton(height=1.5)
    whole, alone = (retarget(lively(skeleton()), target, replace(PLAIN, body=b)) for b in ("whole", part))
    roles = {target.role_of()[j] for j in np.flatnonzero(alone.mask)}
    assert roles == set(PARTS[part]) & set(target.roles)
    assert quat.distance(alone.rotations, whole.rotations)[:, alone.mask].max() < 1e-9


def test_left_stays_left():
    s = skeleton()
    rotations = np.tile(quat.IDENTITY, (2, len(s), 1))
    rotations[:, s.joint("forearm_L")] = quat.about(np.array([-1.0, 0, 0]), 1.0)
    source = Motion(s, 24.0, np.tile(s.offsets[0], (2, 1)), rotations)
    target = skeleton(rest=T_POSE, height=1.5)
    result = retarget(source, target, PLAIN)
    assert quat.angle(result.rotations[0, target.joint("forearm_L")]) == pytest.approx(1.0, abs=1e-6)
    assert quat.angle(result.rotations[0, target.joint("forearm_R")]) == pytest.approx(0.0, abs=1e-6)


def test_legs_are_needed():
    legless = Skeleton(("hips",), [-1], np.zeros((1, 3)), np.zeros((1, 3)), {"hips": (0,)}, np.zeros((1, 3, 2)))
    motion = Motion(legless, 24.0, np.zeros((1, 3)), np.array([[[1.0, 0, 0, 0]]]))
    with pytest.raises(InvalidRig, match="source needs both legs"):
        retarget(motion, skeleton())


@pytest.mark.parametrize("values", [{"travel": 0.0}, {"travel": 11.0}, {"place": "moon"}, {"plant": 1}, {"source": 3}])
def test_wrong_parameters_are_refused(values):
    with pytest.raises(InvalidParam):
        RetargetParams(**values)
