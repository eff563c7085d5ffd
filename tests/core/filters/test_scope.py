"""An edit counts where and when its scope says, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import A_POSE, Rig
from troupe.core.errors import InvalidMotion, InvalidParam, InvalidRig
from troupe.core.figure.stroll import walk
from troupe.core.filters.scope import SCOPES, ScopeParams, mask, mix, weight
from troupe.core.kinematics.base import based
from troupe.core.maths import quat
from troupe.core.skeleton import ROLES, Skeleton

SKELETON = Rig(A_POSE).cast().skeleton
TIMES = np.arange(61) / 30.0


@pytest.fixture(scope="module")
def before():
    return based(walk(SKELETON, cycles=2, fps=30.0))


@pytest.fixture(scope="module")
def after(before):
    """Every joint a fifth of a radian off, the hips 3 cm up, the base turned by a tenth."""
    turn = quat.exp(np.random.default_rng(0).normal(size=(len(SKELETON), 3)))
    turn = quat.slerp(np.tile(quat.IDENTITY, (len(SKELETON), 1)), turn, 0.2)
    return replace(
        before,
        rotations=quat.multiply(before.rotations, turn),
        roots=before.roots + (0.0, 0.0, 0.03),
        base=before.base + (0.0, 0.0, 0.1),
    )


def names(chosen):
    return {SKELETON.names[j] for j in np.flatnonzero(chosen[:-1])}


@pytest.mark.req("bruderlin", 38)
@pytest.mark.parametrize("scope", SCOPES)
def test_a_part_of_the_body_is_its_roles(scope):
    chosen = mask(SKELETON, ScopeParams(scope=scope))
    roles = {role for role, joints in SKELETON.roles.items() if chosen[list(joints)].any()}
    assert roles == set(SCOPES[scope]) & set(SKELETON.roles) and roles
    assert chosen[-1] == (scope == "hips")


def test_parts_name_known_roles_and_every_part_can_be_chosen():
    assert {role for roles in SCOPES.values() for role in roles} <= set(ROLES)
    for scope in SCOPES:
        ScopeParams(scope=scope)


def test_all_is_everything():
    assert mask(SKELETON, ScopeParams()).all() and len(mask(SKELETON, ScopeParams())) == len(SKELETON) + 1


@pytest.mark.req("bruderlin", 38)
def test_listed_joints_roles_and_parts_take_the_place_of_the_part():
    shin = SKELETON.names[SKELETON.joint("shin_L")]
    chosen = mask(SKELETON, ScopeParams(scope="arms", joints=f" {shin}, spine,head ,"))
    spine = {SKELETON.names[j] for j in SKELETON.chain("spine")}
    # head is a part as well as a role: the role alone is meant
    assert names(chosen) == {shin, SKELETON.names[SKELETON.joint("head")]} | spine and not chosen[-1]
    assert names(mask(SKELETON, ScopeParams(joints="leg_L"))) == names(mask(SKELETON, ScopeParams(scope="leg_L")))


def test_the_place_of_the_hips_comes_with_them_or_alone():
    assert np.flatnonzero(mask(SKELETON, ScopeParams(joints="hips"))).tolist() == [0, len(SKELETON)]
    assert np.flatnonzero(mask(SKELETON, ScopeParams(joints="root"))).tolist() == [len(SKELETON)]


def test_bones_without_a_role_belong_to_the_limb_they_hang_from():
    n, hand, thigh = len(SKELETON), SKELETON.joint("hand_L"), SKELETON.joint("thigh_R")
    grown = Skeleton(
        (*SKELETON.names, "watch", "strap", "pocket"),
        np.concatenate([SKELETON.parents, [hand, n, thigh]]),
        np.concatenate([SKELETON.offsets, np.zeros((3, 3))]),
        np.concatenate([SKELETON.tips, np.zeros((3, 3))]),
        SKELETON.roles,
        np.concatenate([SKELETON.limits, np.zeros((3, 3, 2))]),
    )
    assert mask(grown, ScopeParams(scope="arm_L"))[n:].tolist() == [True, True, False, False]
    assert mask(grown, ScopeParams(scope="legs"))[n:].tolist() == [False, False, True, False]


def test_unknown_joints_and_missing_parts_are_named():
    with pytest.raises(InvalidParam, match=r"joints = 'knee'.*thigh_L.*arms"):
        mask(SKELETON, ScopeParams(joints="thigh_L, knee"))
    with pytest.raises(InvalidParam, match="select bones in Pose Mode"):
        mask(SKELETON, ScopeParams(scope="selected"))
    bare = Skeleton(SKELETON.names, SKELETON.parents, SKELETON.offsets, SKELETON.tips, {"hips": (0,)}, SKELETON.limits)
    with pytest.raises(InvalidRig, match="no upper body"):
        mask(bare, ScopeParams(scope="upper_body"))


def test_the_whole_clip_counts_in_full_to_its_ends():
    assert np.array_equal(weight(TIMES, ScopeParams(begin=1.0, end=1.2)), np.ones(61))
    assert np.array_equal(weight(TIMES, ScopeParams(influence=0.4)), np.full(61, 0.4))


def test_a_part_has_soft_ends():
    w = weight(TIMES, ScopeParams(range="part", begin=0.5, end=1.5, soft=0.3))
    assert not w[TIMES <= 0.5].any() and not w[TIMES >= 1.5].any()
    assert np.allclose(w[(TIMES >= 0.8 - 1e-9) & (TIMES <= 1.2 + 1e-9)], 1.0)
    assert np.all(np.diff(w[15:25]) > 0) and np.allclose(w, w[::-1])
    assert np.abs(np.diff(w, 2)).max() < 0.12


def test_soft_ends_longer_than_the_part_meet_in_its_middle():
    w = weight(TIMES, ScopeParams(range="part", begin=0.5, end=1.5, soft=9.0))
    assert w.argmax() == 30 and w.max() == pytest.approx(1.0)


def test_an_end_of_the_clip_is_not_softened():
    assert weight(TIMES, ScopeParams(range="part", begin=1.0, soft=0.2))[-1] == 1.0
    assert weight(TIMES, ScopeParams(range="part", end=1.0, soft=0.2))[0] == 1.0
    assert weight(TIMES, ScopeParams(range="part", end=9.0, soft=0.2)).tolist() == [1.0] * 61


def test_hard_ends_count_to_the_sample():
    w = weight(TIMES, ScopeParams(range="part", begin=0.5, end=1.5, soft=0.0))
    assert np.flatnonzero(w).tolist() == list(range(15, 46)) and set(w) == {0.0, 1.0}


def test_impossible_ranges_are_refused():
    with pytest.raises(InvalidParam, match="must lie after begin"):
        ScopeParams(range="part", begin=1.0, end=0.5)
    with pytest.raises(InvalidParam, match="the clip is over after 2 s"):
        weight(TIMES, ScopeParams(range="part", begin=3.0))
    for wrong in ({"influence": 1.2}, {"soft": -0.1}, {"scope": "tail"}, {"begin": float("nan")}, {"range": "some"}):
        with pytest.raises(InvalidParam, match=next(iter(wrong))):
            ScopeParams(**wrong)


def test_no_influence_changes_no_number(before, after):
    same = mix(before, after, ScopeParams(influence=0.0))
    assert np.array_equal(same.rotations, before.rotations) and np.array_equal(same.roots, before.roots)
    assert np.array_equal(same.base, before.base)


def test_full_influence_is_the_other_motion(before, after):
    full = mix(before, after, ScopeParams())
    assert quat.distance(full.rotations, after.rotations).max() < 1e-7 and np.allclose(full.roots, after.roots)
    assert np.allclose(full.base, after.base)


@pytest.mark.req("bruderlin", 38)
def test_outside_joints_and_range_no_number_changes(before, after):
    params = ScopeParams(scope="arm_R", range="part", begin=0.5, end=1.5, soft=0.2)
    mixed = mix(before, after, params)
    changed = np.any(mixed.rotations != before.rotations, axis=-1)
    inside = (before.times > 0.5) & (before.times < 1.5 - 1e-9)
    assert np.array_equal(changed, inside[:, None] & mask(SKELETON, params)[:-1])
    assert np.array_equal(mixed.roots, before.roots) and np.array_equal(mixed.base, before.base)


def test_half_influence_is_half_way(before, after):
    half = mix(before, after, ScopeParams(influence=0.5))
    there, here = (quat.distance(half.rotations, m.rotations) for m in (after, before))
    assert np.allclose(there, here, atol=1e-7) and np.allclose(
        there + here, quat.distance(before.rotations, after.rotations)
    )
    assert np.allclose(half.roots - before.roots, (0.0, 0.0, 0.015))
    assert np.allclose(half.base - before.base, (0.0, 0.0, 0.05))


def test_a_heading_counted_from_another_turn_is_the_same_heading(before, after):
    round_again = replace(after, base=after.base + (0.0, 0.0, 2 * np.pi))
    assert np.allclose(mix(before, round_again, ScopeParams(influence=0.5)).base, before.base + (0.0, 0.0, 0.05))


def test_the_sign_of_a_quaternion_does_not_matter(before, after):
    flipped = replace(after, rotations=-after.rotations)
    params = ScopeParams(range="part", begin=0.4, end=1.4, soft=0.3)
    mixed = mix(before, flipped, params)
    assert quat.distance(mixed.rotations, mix(before, after, params).rotations).max() < 1e-7
    assert quat.dot(mixed.rotations[1:], mixed.rotations[:-1]).min() > 0.0


def test_edits_of_overlapping_ranges_compose(before, after):
    first = mix(before, after, ScopeParams(range="part", begin=0.2, end=1.2))
    second = mix(first, before, ScopeParams(range="part", begin=0.8, end=1.8))
    untouched = before.times <= 0.8
    assert np.array_equal(second.rotations[untouched], first.rotations[untouched])


def test_motions_that_do_not_fit_are_refused(before, after):
    longer = walk(SKELETON, cycles=3, fps=30.0)
    with pytest.raises(InvalidMotion, match="do not mix"):
        mix(before, longer, ScopeParams())
