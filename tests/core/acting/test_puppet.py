"""The puppet: its rotations, its mirror, and its fit to skeletons that have or lack bones."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.fitting import fit
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.repertoire.puppet import AXES, INDEX, JOINTS, cleared, limited, turns
from troupe.core.acting.repertoire.stockactions import FOLDER, stock_library
from troupe.core.errors import InvalidRig
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.footlock import footlock
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat

from .puppets import MANNEQUIN, library, reference_body, without

RNG = np.random.default_rng(0)
STOCK = stock_library()
TO_OURS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Puppet axes (left, up, forward) to character axes (left, back, up)."""


def about(axis: int, angle: float) -> np.ndarray:
    return quat.to_matrix(quat.about(np.eye(3)[axis], angle))


@pytest.mark.req("improv", 21)
def test_a_joint_turns_by_y_then_z_then_x():
    angles = np.zeros((1, len(JOINTS), 3))
    x, y, z = RNG.uniform(-1.5, 1.5, 3)
    angles[0, :] = x, y, z
    wanted = about(0, x) @ about(2, z) @ about(1, y)
    mirror = np.diag([-1.0, 1.0, 1.0])
    for k, name in enumerate(JOINTS):
        right = name.startswith("R") and name != "Root"
        puppet = mirror @ wanted @ mirror if right else wanted
        got = quat.to_matrix(turns(angles)[0, k])
        assert np.allclose(got, TO_OURS @ puppet @ TO_OURS.T, atol=1e-12), name


def test_the_rotations_are_those_of_anatomy():
    angles = RNG.uniform(-1.0, 1.0, (5, len(JOINTS), 3))
    x, y, z = (angles[:, INDEX["Lhip"], k] for k in range(3))
    assert np.allclose(turns(angles)[:, INDEX["Lhip"]], anatomy.from_angles(np.stack([-x, z, -y], -1), "thigh_L"))
    x, y, z = (angles[:, INDEX["Rknee"], k] for k in range(3))
    assert np.allclose(turns(angles)[:, INDEX["Rknee"]], anatomy.from_angles(np.stack([x, z, -y], -1), "shin_R"))


@pytest.mark.req("improv", 22)
@pytest.mark.parametrize("body", [MANNEQUIN, mannequin(1.1), without(MANNEQUIN, "neck", "clavicle_L", "clavicle_R")])
def test_all_zero_is_upright_with_the_arms_at_the_sides(body):
    rotations = fit(body).rotations(turns(np.zeros((1, len(JOINTS), 3))), np.zeros(1))
    positions, _ = fk.forward(body, rotations, np.zeros((1, 3)))
    for upper, lower in (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")):
        for side in "LR":
            bone = positions[0, body.joint(f"{lower}_{side}")] - positions[0, body.joint(f"{upper}_{side}")]
            assert np.degrees(np.arccos(-bone[2] / np.linalg.norm(bone))) < 2.0
    rise = positions[0, body.joint("head")] - positions[0, 0]
    assert np.hypot(rise[0], rise[1]) < 0.05 * rise[2]


@pytest.mark.req("improv", 23)
def test_equal_numbers_left_and_right_are_a_mirror_image():
    angles = RNG.uniform(-0.8, 0.8, (1, len(JOINTS), 3))
    for k, name in enumerate(JOINTS):
        if name in ("Root", "Waist", "Neck", "Nod"):
            angles[0, k, 1:] = 0.0
        elif name.startswith("R"):
            angles[0, k] = angles[0, INDEX["L" + name[1:]]]
    rotations = fit(MANNEQUIN).rotations(turns(angles), np.zeros(1))
    assert np.allclose(anatomy.mirror(MANNEQUIN, rotations), rotations, atol=1e-9)


@pytest.mark.req("improv", 24)
def test_running_at_half_a_cycle_stands_as_a_runner_does():
    # phase 180: half a cycle at 1.4 cycles a second from phase 0
    lib = library("GROUP g ACTION running\n" + _sheet("running"))
    state = start(lib, MANNEQUIN, BodyParams(flat_feet=False)).advance(0.5 / 1.4)
    assert abs(np.degrees(state.phase) - 180.0) < 1e-6
    angles = dict(zip(JOINTS, state.angles(), strict=True))
    assert angles["Lelbow"][0] == pytest.approx(-120.0) and angles["Rknee"][0] == pytest.approx(26.0)
    assert angles["Waist"][1] == pytest.approx(15.0) and angles["Rpelvis"][1] == pytest.approx(-10.0)
    pose = state.pose()
    positions, globals_ = fk.forward(MANNEQUIN, pose.rotations, pose.root)
    forward = -positions[:, 1]
    joint = MANNEQUIN.joint
    assert forward[joint("foot_R")] > forward[joint("foot_L")] + 0.3
    assert forward[joint("hand_L")] > forward[joint("hand_R")] + 0.2
    pelvis, shoulders = globals_[0], positions[joint("upper_arm_L")] - positions[joint("upper_arm_R")]
    assert abs(np.degrees(quat.heading(pelvis)) - 25.0) < 1e-6
    # the left chest is at y -10, the right at +10 in its mirrored frame: the line of the shoulders turns to the right
    for side in "LR":
        assert abs(np.degrees(quat.heading(globals_[joint(f"clavicle_{side}")])) + 10.0) < 1e-6
    # by a little less than the clavicles, which do not begin in the middle of the body
    assert -10.0 < np.degrees(np.arctan2(shoulders[1], shoulders[0])) < -8.5


def _sheet(name: str) -> str:
    text = (FOLDER / "2_gaits.actions").read_text()
    return text[text.index("{ c1") : text.index("# Standing")] if name == "running" else text


@pytest.mark.req("improv", 25)
def test_joints_without_a_bone_are_listed():
    assert fit(MANNEQUIN).missing == ()
    poor = fit(without(MANNEQUIN, "neck", "clavicle_L", "clavicle_R"))
    assert set(poor.missing) == {"Neck", "Lchest", "Rchest"}
    assert len(JOINTS) - 1 - len(poor.missing) >= 16
    with pytest.raises(InvalidRig, match="hand_L"):
        fit(without(MANNEQUIN, "hand_L", *(f"{f}_L" for f in ("thumb", "index", "middle", "ring", "pinky"))))


@pytest.mark.req("improv", 26)
@pytest.mark.parametrize("roles", [("clavicle_L", "clavicle_R"), ("neck",), ("spine",)])
def test_missing_bones_are_folded_into_their_neighbours(roles):
    body = without(MANNEQUIN, *roles)
    angles = RNG.uniform(-0.4, 0.4, (8, len(JOINTS), 3))
    whole, folded = fit(MANNEQUIN), fit(body)
    turned = turns(angles)
    assert np.allclose(whole.feet(turned), folded.feet(turned), atol=1e-9)
    place = np.zeros((8, 3))
    globals_ = [
        fk.forward(s, f.rotations(turned, place[:, 0]), place)[1] for s, f in ((MANNEQUIN, whole), (body, folded))
    ]
    for role in ("upper_arm_L", "hand_R", "head", "foot_L", "thigh_R"):
        a, b = globals_[0][:, MANNEQUIN.joint(role)], globals_[1][:, body.joint(role)]
        assert quat.distance(a, b).max() < 1e-6, role


@pytest.mark.req("improv", 26)
def test_feet_of_a_body_without_clavicles_are_where_they_were_after_foot_lock():
    wishes = [Selection(0.0, "", "stroll", fade=0.0), Selection(1.5, "", "rhumba")]
    takes = [
        footlock(perform(STOCK, body, wishes, 4.0, 24, BodyParams(clear_arms=False)))
        for body in (MANNEQUIN, without(MANNEQUIN, "clavicle_L", "clavicle_R"))
    ]
    feet = [
        fk.forward(t.skeleton, t.rotations, t.roots)[0][:, [t.skeleton.joint(f"foot_{s}") for s in "LR"]] for t in takes
    ]
    assert np.ptp(feet[0], axis=0).max() > 1.0
    assert np.abs(feet[0] - feet[1]).max() < 0.02 * MANNEQUIN.leg_length()


@pytest.mark.req("improv", 26)
@pytest.mark.parametrize("name", ["Stand", "running", "walking", "stroll", "rhumba", "sneak", "march"])
def test_a_pelvis_of_one_bone_leaves_the_feet_where_two_halves_put_them(name):
    """No rig has a bone for each half of the pelvis: their mean turns the one bone, the thighs make up the rest."""
    body = reference_body()
    puppet = fit(body)
    state = start(STOCK, body).select("", name, 0.0, fade=0.0).advance(0.1)
    phases = np.linspace(0.0, 2 * np.pi, 61)
    channels, _ = state.stage.channels([g.history for g in state.groups], {}, 0.1 + phases, phases, {})
    turned = turns(np.radians(channels[:, :60]).reshape(-1, len(JOINTS), 3))
    halves = []
    for side in "LR":
        chain, foot = quat.multiply(turned[:, 0], turned[:, INDEX["Waist"]]), np.zeros((61, 3))
        for part, role in (("pelvis", "thigh"), ("hip", "shin"), ("knee", "foot")):
            chain = quat.multiply(chain, turned[:, INDEX[side + part]])
            foot = foot + quat.rotate(chain, body.offsets[body.joint(f"{role}_{side}")])
        halves.append(foot)
    assert np.abs(np.stack(halves, axis=1) - puppet.feet(turned)).max() < 0.02 * body.leg_length()


def test_the_pelvis_is_midway_between_its_halves():
    angles = np.zeros((1, len(JOINTS), 3))
    angles[0, INDEX["Lpelvis"], 1], angles[0, INDEX["Rpelvis"], 1] = 0.4, -0.2
    rotations = fit(MANNEQUIN).rotations(turns(angles), np.zeros(1))
    # in its mirrored frame the right half turns the same way as the left one
    assert abs(float(quat.heading(rotations[0, 0])) - 0.3) < 1e-9


def test_hanging_arms_are_held_out_and_raised_ones_left_alone():
    angles = np.zeros((3, len(JOINTS), 3))
    angles[1, INDEX["Lshoulder"], 2] = 1.0
    angles[2, INDEX["Lshoulder"], 0] = -np.pi / 2
    out = cleared(angles, 0.14)
    assert 0.12 < out[0, INDEX["Lshoulder"], 2] < 0.15
    assert abs(out[1, INDEX["Lshoulder"], 2] - 1.0) < 1e-3
    assert abs(out[2, INDEX["Lshoulder"], 2]) < 1e-9


def test_wrists_are_kept_within_what_wrists_do():
    angles = np.zeros((1, len(JOINTS), 3))
    angles[0, INDEX["Rwrist"]] = np.radians([75.0, 120.0, -80.0])
    out = np.degrees(limited(angles)[0, INDEX["Rwrist"]])
    assert abs(out[1]) < 85.0 and np.hypot(out[0], out[2]) < 85.0
    small = np.radians(RNG.uniform(-20, 20, (4, len(JOINTS), 3)))
    assert limited(small) is small


def test_a_turned_body_is_the_same_body_turned():
    angles = RNG.uniform(-0.5, 0.5, (1, len(JOINTS), 3))
    puppet = fit(MANNEQUIN)
    a, b = (puppet.rotations(turns(angles), np.array([h])) for h in (0.0, 1.1))
    assert np.allclose(quat.multiply(quat.about(np.array([0.0, 0.0, 1.0]), 1.1), a[0, 0]), b[0, 0])
    assert np.array_equal(a[0, 1:], b[0, 1:])


def test_axes_are_named_in_the_order_of_tables():
    assert AXES == ("x", "y", "z") and len(JOINTS) == 20
