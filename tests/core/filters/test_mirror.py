"""The mirror image: everything changes sides, and twice is nothing."""

from dataclasses import replace

import numpy as np
import pytest
from feet import body, steps
from troupe.core import InvalidParam, Motion, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.filters.contacts import contacts
from troupe.core.filters.mirror import mirror, partners
from troupe.core.kinematics import base as bases
from troupe.core.kinematics import fk
from troupe.core.kinematics.anatomy import angles
from troupe.core.maths import quat
from troupe.core.motion import Event

from .clips import CLIPS, alike, recorded


def places(motion):
    return fk.forward(motion.skeleton, motion.rotations, motion.roots)[0]


def strolling():
    """A walk that begins somewhere, heading somewhere."""
    return bases.move(walk(mannequin(1.7)), 2.0, -1.0, 0.7)


def test_every_joint_is_at_the_mirror_image_of_its_partner():
    motion = bases.based(strolling())
    for plane, (x, y, heading) in (("start", motion.base[0]), ("world", (0.0, 0.0, 0.0))):
        image = mirror(motion, plane)
        across, origin = np.array([np.cos(heading), np.sin(heading), 0.0]), np.array([x, y, 0.0])
        was = places(motion)[:, partners(motion.skeleton)]
        expected = was - 2 * ((was - origin) @ across)[..., None] * across
        assert np.abs(places(image) - expected).max() < 1e-9
        assert np.abs(image.base[:, 2] - (2 * heading - motion.base[:, 2])).max() < 1e-12


def test_it_begins_where_it_began_facing_the_same_way():
    motion = bases.based(strolling())
    assert np.abs(mirror(motion).base[0] - motion.base[0]).max() < 1e-12


def test_angles_change_sides():
    motion = strolling()
    image = mirror(motion)
    for role in ("thigh", "shin", "upper_arm", "hand"):
        assert np.abs(angles(image, f"{role}_L") - angles(motion, f"{role}_R")).max() < 1e-9
    assert np.abs(angles(image, "spine")[:, 0] - angles(motion, "spine")[:, 0]).max() < 1e-9
    assert np.abs(angles(image, "spine")[:, 1:] + angles(motion, "spine")[:, 1:]).max() < 1e-9


def test_contacts_events_and_their_places_change_sides():
    motion = contacts(steps(body())[0])
    events = (*motion.events, Event(1.0, "cue", {"hand": "hand_L", "x": 1.0, "y": 2.0, "heading": 0.25, "n": 3}))
    curves = {**motion.curves, "shape/smile.L": np.linspace(0, 1, len(motion)), "bone/thigh_L/twist": motion.times}
    image = mirror(replace(motion, events=events, curves=curves), "world")
    for part in ("foot", "toe"):
        assert np.array_equal(image.curves[f"contact/{part}_L"], motion.curves[f"contact/{part}_R"])
    assert {"shape/smile.R", "bone/thigh_R/twist"} < set(image.curves)
    names = [e.name for e in image.events if e.name.startswith("heel_strike")]
    assert [n[-1] for n in names] == ["LR"["RL".index(e.name[-1])] for e in motion.events if e.name[:6] == "heel_s"]
    cue = next(e for e in image.events if e.name == "cue")
    assert cue.data == {"hand": "hand_R", "x": -1.0, "y": 2.0, "heading": -0.25, "n": 3}


def test_the_mask_changes_sides():
    motion = strolling()
    arm = motion.skeleton.joint("upper_arm_L")
    image = mirror(replace(motion, mask=np.arange(len(motion.skeleton)) == arm))
    assert np.flatnonzero(image.mask).tolist() == [motion.skeleton.joint("upper_arm_R")]


def test_joints_without_a_role_find_who_lies_opposite():
    plain = body()
    extra = (("twist_a", 3, (0.01, 0.02, -0.2)), ("tail", 1, (0.0, 0.1, 0.0)), ("twist_b", 7, (-0.01, 0.02, -0.2)))
    skeleton = Skeleton(
        names=(*plain.names, *(name for name, _, _ in extra), "odd"),
        parents=[*plain.parents, *(parent for _, parent, _ in extra), 1],
        offsets=[*plain.offsets, *(offset for _, _, offset in extra), (0.3, 0.1, 0.4)],
        tips=np.zeros((len(plain) + 4, 3)),
        roles=plain.roles,
        limits=np.tile([-np.pi, np.pi], (len(plain) + 4, 3, 1)),
    )
    found = {skeleton.names[j]: skeleton.names[k] for j, k in enumerate(partners(skeleton))}
    assert found["twist_a"] == "twist_b" and found["twist_b"] == "twist_a"
    assert found["tail"] == "tail" and found["odd"] == "odd" and found["thigh_R"] == "thigh_L"


def test_a_loop_stays_one():
    motion = steps(body())[0]
    loop = replace(bases.based(motion), loop=True)
    image = mirror(loop, "world")
    assert image.loop
    assert np.allclose(bases.loop_step(image) * (-1, 1, -1), bases.loop_step(loop), atol=1e-9)


def test_one_sample_and_unknown_planes():
    pose = Motion(body(), 30.0, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 11, 1)))
    assert alike(mirror(mirror(pose)), pose) < 1e-12
    with pytest.raises(InvalidParam, match="plane"):
        mirror(pose, "wall")


@pytest.mark.parametrize("name", CLIPS)
def test_mirrored_twice_a_recording_is_itself(data, name):
    motion = contacts(bases.based(recorded(data, name)))
    twice = mirror(mirror(motion))
    assert alike(twice, motion) < 1e-9
    assert np.abs(twice.base - motion.base).max() < 1e-9
    assert twice.events == motion.events
    assert all(np.array_equal(twice.curves[n], motion.curves[n]) for n in motion.curves)
