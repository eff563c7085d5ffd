"""The poses of every step: contact, down, passing, up."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from feet import body, steps
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import contacts
from troupe.core.filters.footlock import footlock
from troupe.core.filters.keyposes import KeyPose, key_poses
from troupe.core.filters.resample import resample
from troupe.core.kinematics import base, fk
from troupe.core.kinematics.base import closed
from troupe.core.maths import quat
from troupe.core.motion import Event, Motion


@pytest.fixture(scope="module")
def stroll():
    return footlock(contacts(walk(mannequin(), cycles=4, fps=60.0)))


def named(poses):
    return [(p.kind, p.side) for p in poses]


def test_every_step_has_its_four_poses_in_order(stroll):
    poses = [p for p in key_poses(stroll) if p.sample > 20]
    order = ["contact", "down", "passing", "up"]
    first = order.index(poses[0].kind)
    assert [p.kind for p in poses] == [order[(first + i) % 4] for i in range(len(poses))]
    sides = [p.side for p in poses if p.kind == "contact"]
    assert len(sides) >= 6 and all(a != b for a, b in pairwise(sides))


def test_contacts_are_the_heel_strikes(stroll):
    strikes = [(round(e.time * 60), e.name[-1]) for e in stroll.events if e.name.startswith("heel_strike")]
    assert [(p.sample, p.side) for p in key_poses(stroll) if p.kind == "contact"] == strikes


def test_the_pelvis_is_lowest_in_down_and_highest_in_up(stroll):
    strikes = np.array([p.sample for p in key_poses(stroll) if p.kind == "contact"])
    lowest = strikes[1] + 6 + 33 * np.arange(-2, 8)
    roots = stroll.roots.copy()
    roots[:, 2] = 0.9 - 0.02 * np.cos(2 * np.pi * (np.arange(len(roots)) - lowest[0]) / 33)
    poses = [p for p in key_poses(replace(stroll, roots=roots)) if strikes[1] < p.sample < strikes[-2]]
    for pose in poses:
        if pose.kind == "down":
            assert np.abs(lowest - pose.sample).min() <= 1
        elif pose.kind == "up":
            assert np.abs(lowest + 16.5 - pose.sample).min() <= 1
    assert [p.kind for p in poses].count("down") >= 4 and [p.kind for p in poses].count("up") >= 4


def test_feet_are_side_by_side_in_passing(stroll):
    places = fk.forward(stroll.skeleton, stroll.rotations, stroll.roots)[0]
    ahead = places[:, stroll.skeleton.joint("foot_L"), 1] - places[:, stroll.skeleton.joint("foot_R"), 1]
    for pose in key_poses(stroll):
        if pose.kind == "passing":
            assert abs(ahead[pose.sample]) <= np.abs(np.diff(ahead)).max()
            swinging = stroll.skeleton.joint(f"foot_{'R' if pose.side == 'L' else 'L'}")
            standing = stroll.skeleton.joint(f"foot_{pose.side}")
            assert places[pose.sample, swinging, 2] > places[pose.sample, standing, 2] + 0.02


@pytest.mark.parametrize("turn", [0.0, np.pi / 3, np.pi])
def test_where_the_walk_goes_does_not_matter(stroll, turn):
    moved = base.move(stroll, 3.0, -2.0, turn)
    assert key_poses(replace(moved, events=stroll.events)) == key_poses(stroll)


def test_a_walk_on_the_spot_has_the_same_poses(stroll):
    travel = (stroll.roots[-1, 1] - stroll.roots[0, 1]) / (len(stroll) - 1)
    roots = stroll.roots - np.arange(len(stroll))[:, None] * np.array([0.0, travel, 0.0])
    found, wanted = key_poses(replace(stroll, roots=roots)), key_poses(stroll)
    assert named(found) == named(wanted)
    assert max(abs(a.sample - b.sample) for a, b in zip(found, wanted, strict=True)) <= 1


def test_a_walk_backwards_is_one_too(stroll):
    n = len(stroll) - 1
    events = [
        Event(n / 60 - e.time, e.name.replace("toe_off", "heel_strike")) for e in stroll.events if "toe" in e.name
    ]
    back = replace(stroll, roots=stroll.roots[::-1], rotations=stroll.rotations[::-1], events=tuple(events))
    kinds = [p.kind for p in key_poses(back)]
    assert kinds.count("passing") >= 6 and kinds.count("contact") == len(events)


def test_other_rates_have_the_same_poses(stroll):
    slow, fast = (key_poses(resample(stroll, fps)) for fps in (24, 120))
    assert named(slow) == named(fast)
    assert max(abs(a.sample / 24 - b.sample / 120) for a, b in zip(slow, fast, strict=True)) < 1.5 / 24


def test_a_loop_has_the_poses_of_two_steps(stroll):
    n = 66
    loop = Motion(stroll.skeleton, 60.0, stroll.roots[n : 2 * n], stroll.rotations[n : 2 * n], loop=True)
    loop = contacts(loop)
    poses = key_poses(loop)
    assert sorted(p.kind for p in poses) == sorted(["contact", "down", "passing", "up"] * 2)
    assert all(0 <= p.sample < n for p in poses)
    late = replace(closed(loop), events=loop.events)
    assert {p.sample for p in key_poses(late)} <= {p.sample for p in poses} | {n}


def test_steps_are_looked_for_where_there_are_no_events():
    motion, _ = steps(body())
    assert not motion.events
    kinds = [p.kind for p in key_poses(motion)]
    assert kinds.count("contact") >= 4 and kinds.count("passing") >= 4


def test_a_stance_has_none():
    skeleton = body()
    still = np.tile(quat.IDENTITY, (60, len(skeleton), 1))
    assert key_poses(Motion(skeleton, 30.0, np.tile(skeleton.offsets[0], (60, 1)), still)) == []


def test_a_flat_step_takes_its_events_for_down_and_up():
    motion, _ = steps(body())
    flat = replace(motion, roots=motion.roots * (1, 1, 0) + (0, 0, motion.roots[:, 2].mean()))
    marked = contacts(flat)
    poses = key_poses(marked)
    assert [p for p in poses if p.kind == "down"] and [p for p in poses if p.kind == "up"]
    samples = [p.sample for p in poses]
    assert samples == sorted(set(samples))


def test_two_poses_on_one_sample_are_one():
    motion, _ = steps(body())
    strike = Event(1.0, "heel_strike_L")
    assert key_poses(replace(motion, events=(strike, strike))).count(KeyPose(60, "contact", "L")) == 1


def test_a_figure_without_legs_has_none():
    skeleton = mannequin()
    roles = {r: j for r, j in skeleton.roles.items() if not r.startswith(("foot", "toe"))}
    still = np.tile(quat.IDENTITY, (4, len(skeleton), 1))
    assert key_poses(Motion(replace(skeleton, roles=roles), 30.0, np.zeros((4, 3)), still)) == []
