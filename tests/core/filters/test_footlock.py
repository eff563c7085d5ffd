"""Planted feet stand still, and nothing else changes more than that needs."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, cmu, solved, standing, steps
from repeat import repeats
from troupe.core import InvalidParam, Motion
from troupe.core.filters.contacts import CURVES, contacts, cycles, heel_and_ball, runs, sole_points
from troupe.core.filters.footlock import FootlockParams, footlock, leg_change, slide
from troupe.core.kinematics import fk
from troupe.core.kinematics.limb_ik import LIMBS
from troupe.core.maths import quat

CLIPS = ["02_01", "07_12", "16_17", "35_01", "104_02", "104_11", "91_13", "09_01", "13_11", "26_09"]
WALKS = ["02_01", "07_01", "16_17", "35_01", "104_02"]


def places(motion):
    return fk.forward(motion.skeleton, motion.rotations, motion.roots)[0]


def travel(motion):
    return max(s.travel for s in slide(motion))


def planted(motion):
    return np.stack([np.stack([motion.curves[c] for c in names], axis=-1) for names in CURVES], axis=1) > 0.5


def knees(motion):
    """(T, 2) knee flexion, positive forward [rad]."""
    positions, globals_ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    out = []
    for side in "LR":
        hip, knee, foot = (motion.skeleton.joint(role) for role in LIMBS[f"foot_{side}"])
        upper, lower = positions[:, knee] - positions[:, hip], positions[:, foot] - positions[:, knee]
        across = quat.rotate(globals_[:, hip], np.array([1.0, 0, 0]))
        out.append(np.arctan2(quat.dot(quat.cross(upper, lower), across), quat.dot(upper, lower)))
    return np.stack(out, axis=1)


def skating(skeleton=None, **more):
    """A walk whose planted feet slide 3 cm/s."""
    motion, truth = steps(skeleton or body(), slide=0.03, **more)
    return replace(motion, curves={c: truth[:, k] for k, names in enumerate(CURVES) for c in names})


def test_sliding_feet_stand_still_in_their_contacts():
    motion = skating()
    assert travel(motion) > 0.015
    assert travel(footlock(motion)) < 1e-6


def test_contacts_are_detected_when_there_are_none():
    motion = replace(skating(), curves={})
    locked = footlock(motion)
    assert planted(locked).any()
    assert travel(locked) < 1e-6


def test_given_contacts_are_used_as_they_are():
    motion = skating()
    nothing = {c: np.zeros(len(motion)) for names in CURVES for c in names}
    free = replace(motion, curves=nothing)
    assert np.allclose(places(footlock(free)), places(free), atol=1e-9)
    left = replace(motion, curves={**nothing, "contact/toe_L": motion.curves["contact/toe_L"]})
    locked = footlock(left)
    assert travel(locked) < 1e-6
    right = [motion.skeleton.joint(f"{p}_R") for p in ("foot", "toe")]
    assert np.abs(places(locked) - places(motion))[:, right].max() < 1e-6


def test_still_feet_are_left_alone():
    straight = contacts(standing(body()))
    assert np.abs(places(footlock(straight)) - places(straight)).max() < 1e-6
    motion, truth = steps(body())
    motion = replace(motion, curves={c: truth[:, k] for k, names in enumerate(CURVES) for c in names})
    assert np.abs(places(footlock(motion)) - places(motion)).max() < 1e-6


def test_locking_twice_changes_nothing():
    once = footlock(skating())
    twice = footlock(once)
    assert np.abs(places(twice) - places(once)).max() < 1e-6
    assert quat.distance(twice.rotations, once.rotations).max() < 1e-4


def test_upper_body_keeps_its_world_rotations_and_its_way():
    motion = skating()
    locked = footlock(motion)
    above = [motion.skeleton.joint(r) for r in ("hips", "spine", "head")]
    old, new = (fk.global_rotations(m.skeleton, m.rotations)[:, above] for m in (motion, locked))
    assert np.allclose(old, new, atol=1e-12)
    assert np.allclose(locked.roots[:, :2], motion.roots[:, :2])
    assert (locked.roots[:, 2] <= motion.roots[:, 2] + 1e-12).all()


def test_the_hold_is_in_the_middle_of_the_slide():
    motion = skating()
    before, after = sole_points(motion), sole_points(footlock(motion))
    for k in range(2):
        for a, b in runs(planted(motion)[:, k, 0])[1:-1]:
            change = (after - before)[a:b, k, 0]
            assert np.abs(change[:, 0].mean()) < 0.002
            assert np.abs(change[:, 2]).max() < 1e-6
            assert np.abs(change[:, 0]).max() < 0.6 * 0.03 * (b - a) / motion.fps


def test_change_fades_without_a_jump():
    motion = skating(fps=120.0)
    change = sole_points(footlock(motion)) - sole_points(motion)
    speed = np.diff(change, axis=0) * 120
    assert np.abs(speed).max() < 0.25
    assert np.abs(np.diff(speed, axis=0)).max() < 0.03, "velocity is continuous"


def test_short_legs_reach_without_popping_knees():
    long, short = skating(fps=120.0), body(shin=0.36)
    # the same root over the same steps: the short legs only just touch, and slide where they do not
    ankles = places(long)[:, [long.skeleton.joint("foot_L"), long.skeleton.joint("foot_R")]]
    motion = replace(solved(short, long.roots, ankles, 120.0), curves=long.curves)
    assert travel(motion) > 0.02
    locked = footlock(motion)
    assert travel(locked) < 1e-6
    assert np.isfinite(locked.rotations).all()
    assert knees(locked).min() > -1e-6
    pops, source = (np.abs(np.diff(knees(m), axis=0))[:400].max() for m in (locked, motion))
    assert pops < np.radians(8) < source, "the source's knees snap straight"


def test_pelvis_sinks_smoothly_and_only_where_a_leg_is_too_short():
    skeleton, count = body(), 240
    ankles = np.tile([[0.1, -0.1, 0.08], [-0.1, 0.1, 0.08]], (count, 1, 1))
    rise = np.zeros((count, 3))
    rise[100:140, 2] = 0.04 * np.sin(np.pi * np.arange(40) / 40) ** 2
    # the whole body rises off the ground while its feet are said to be planted
    still = solved(skeleton, np.tile([0.0, 0.0, 0.92], (count, 1)), ankles, fps=120.0)
    ones = {c: np.ones(count) for names in CURVES for c in names}
    motion = replace(still, roots=still.roots + rise, curves=ones)
    locked = footlock(motion)
    sunk = (motion.roots - locked.roots)[:, 2]
    assert travel(locked) < 1e-6
    assert np.ptp(sole_points(locked)[..., 2], axis=0).max() < 1e-6
    assert 0.005 < sunk.max() < 0.045
    assert sunk[:60].max() < 1e-3
    assert sunk[-60:].max() < 1e-3
    assert np.abs(np.diff(sunk, 2)).max() * 120**2 < 20.0


def test_floor_is_not_broken():
    motion = skating(lift=0.03)
    foot, toe = (motion.skeleton.joint(f"{part}_L") for part in ("foot", "toe"))
    flags = planted(motion)
    pitch = np.where(flags[:, 0, 1], 0.0, np.radians(40) * np.sin(motion.times * 11.0))
    rotations = motion.rotations.copy()
    rotations[:, foot] = quat.multiply(rotations[:, foot], quat.about(np.array([1.0, 0, 0]), pitch))
    dipping = replace(motion, rotations=rotations)
    free, locked = footlock(dipping, FootlockParams(floor=False)), footlock(dipping)
    samples, on = np.arange(len(motion)), flags[:, 0, 0]
    for part in range(2):
        heights, loose = (sole_points(m)[:, 0, part, 2] for m in (locked, free))
        floor = np.interp(samples, samples[on], heights[on])
        assert (heights > floor - 1e-6).all()
        assert (loose < floor - 0.01).any(), "without it, the floor is broken"
    positions, globals_ = fk.forward(locked.skeleton, locked.rotations, locked.roots)
    tips = fk.tip_positions(locked.skeleton, positions, globals_)[:, toe, 2]
    assert (tips > floor - 1e-6).all()


def test_a_loop_holds_over_its_seam():
    whole = skating(seconds=4.4)
    n = 66
    # the walk slides sideways, so one round ends 33 mm beside where it began: let it come back
    roots, rotations = whole.roots[n : 2 * n].copy(), whole.rotations[n : 2 * n]
    roots[:, 0] = 0.01 * np.sin(2 * np.pi * np.arange(n) / n)
    loop = contacts(Motion(whole.skeleton, 60.0, roots, rotations, loop=True))
    locked = footlock(loop)
    assert locked.loop
    assert len(locked) == n
    assert travel(cycles(loop)) > 0.005
    assert travel(cycles(locked)) < 1e-6
    again = footlock(locked)
    assert np.abs(places(again) - places(locked)).max() < 1e-6


def test_a_contact_may_be_cut_by_either_end():
    motion = skating()
    cut = slice(10, 90)
    part = replace(
        motion,
        roots=motion.roots[cut],
        rotations=motion.rotations[cut],
        curves={k: v[cut] for k, v in motion.curves.items()},
    )
    assert planted(part)[0].any()
    assert planted(part)[-1].any()
    assert travel(footlock(part)) < 1e-6


def test_one_sample_and_bodies_without_toes_work():
    single = contacts(standing(body(), seconds=1 / 60))
    assert np.abs(places(footlock(single)) - places(single)).max() < 1e-6
    assert travel(footlock(skating(body(toes=False)))) < 1e-6


def test_legs_join_the_mask():
    motion = skating()
    mask = np.zeros(len(motion.skeleton), dtype=bool)
    mask[1] = True
    locked = footlock(replace(motion, mask=mask))
    spoken = {motion.skeleton.names[j] for j in np.flatnonzero(locked.mask)}
    assert spoken == set(motion.skeleton.names) - {"head"}


def test_slide_names_each_contact_and_its_time():
    motion = skating()
    found = slide(motion)
    assert {s.curve for s in found} == {c for names in CURVES for c in names}
    for s in found:
        assert s.travel == pytest.approx(0.03 * (s.end - s.start), abs=1e-6)
    assert slide(replace(motion, curves={}), motion) == found
    assert slide(replace(motion, curves={})) == []


def test_same_motion_same_answer():
    a, b = footlock(skating()), footlock(skating())
    repeats(a, b)


@pytest.mark.parametrize("values", [{"blend": -1.0}, {"blend": np.inf}, {"reach": 1.1}, {"reach": 0.1}, {"floor": 1}])
def test_wrong_parameters_are_refused(values):
    with pytest.raises(InvalidParam):
        FootlockParams(**values)


@pytest.mark.parametrize("name", CLIPS)
def test_recorded_feet_stand_still(data, name):
    motion = contacts(cmu(data, name))
    locked = footlock(motion)
    assert max(s.travel for s in slide(motion)) > 0.01
    assert travel(locked) < 1e-4
    again = footlock(locked)
    assert np.abs(places(again) - places(locked)).max() < 1e-4
    assert np.abs(locked.roots - motion.roots).max() < 0.1 * motion.skeleton.leg_length()


@pytest.mark.parametrize("name", WALKS)
def test_recorded_walks_change_by_a_few_degrees(data, name):
    motion = contacts(cmu(data, name))
    assert np.degrees(np.median(leg_change(motion, footlock(motion)))) < 3.0


@pytest.mark.parametrize("name", WALKS)
def test_ball_stays_while_the_heel_rises(data, name):
    motion = contacts(cmu(data, name))
    points, flags = sole_points(footlock(motion)), planted(motion)
    rises = []
    for k in range(2):
        for a, b in runs(flags[:, k, 1] & ~flags[:, k, 0]):
            assert np.ptp(points[a:b, k, 1], axis=0).max() < 1e-6
            rises.append(np.ptp(points[a:b, k, 0, 2]))
    assert max(rises) > 0.05


@pytest.mark.parametrize("name", WALKS)
def test_flat_feet_stay_flat(data, name):
    motion = contacts(cmu(data, name))
    locked, flags = footlock(motion), planted(motion)
    turns = fk.global_rotations(locked.skeleton, locked.rotations)
    for k, side in enumerate("LR"):
        foot = locked.skeleton.joint(f"foot_{side}")
        for a, b in runs(flags[:, k].all(axis=1)):
            assert quat.distance(turns[a:b, foot], turns[a, foot]).max() < 1e-6
    heel, ball = heel_and_ball(locked.skeleton, "L")
    assert heel[2] < 0
    assert ball[1] < 0
