"""Who crouches keeps feet where they are and the weight over them, and takes a ball from the floor."""

import numpy as np
import pytest
from troupe.core.errors import NoIK
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.balance import centre_of_mass
from troupe.core.planning.hands.crouching import can_crouch, crouched
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.workplaces import driving_seat, standing
from troupe.core.planning.spaces.set_pieces import box, lathe, placed
from troupe.core.world import Body, World


def test_feet_stay_the_weight_stays_over_them_and_joints_within_their_limits():
    skeleton, pose = standing()
    amounts = np.linspace(0.0, 1.0, 11)
    roots, rotations = crouched(skeleton, pose, amounts)
    places, _ = fk.forward(skeleton, rotations, roots)
    assert np.abs(roots[0] - pose.root).max() < 1e-6 and np.abs(rotations[0] - pose.rotations).max() < 1e-3
    toes = [skeleton.joint(f"toe_{side}") for side in "LR"]
    assert np.abs(places[:, toes] - places[0, toes]).max() < 1e-3
    ankles = [skeleton.joint(f"foot_{side}") for side in "LR"]
    weight = centre_of_mass(skeleton, places)
    assert (weight[:, 1] < places[:, ankles, 1].max(axis=1) + 0.01).all()
    assert (weight[:, 1] > places[:, toes, 1].min(axis=1)).all()
    assert (np.diff(roots[:, 2]) < 0).all() and roots[-1, 2] < 0.55 * roots[0, 2]
    for side in "LR":
        for part in ("thigh", "shin", "foot"):
            role = f"{part}_{side}"
            bend = np.degrees(anatomy.joint_angles(rotations[:, skeleton.joint(role)], role)[:, 0])
            low, high = anatomy.LIMITS[part][0]
            assert bend.min() > low - 1.0 and bend.max() < high + 1.0


def test_who_sits_does_not_crouch():
    skeleton, pose, _ = driving_seat()
    assert not can_crouch(skeleton, pose)


def test_a_ball_on_the_floor_is_taken_and_the_body_gets_up_with_it():
    skeleton, pose = standing()
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
    vertices, faces = lathe(0.045 * np.column_stack([np.cos(turn), np.sin(turn)]), 24)
    ball = Body("ball", 2, vertices, faces, placed((-0.2, -0.45, 0.045))[None], "prop")
    world = World((box("floor", (4, 4, 0.05), (0, 0, -0.05), kind="ground", number=1), ball))
    job = Job(skeleton, pose, world, ReachParams(task="pick_up", target="ball", step=False, gaze=0.0), 24.0)
    done = reach(job)
    motion, way = done.performance.motions["actor"], done.performance.props["ball"]
    assert not done.offences and done.holding is not None and len(way) == len(motion)
    assert motion.roots[:, 2].min() < 0.6 * pose.root[2]
    assert np.abs(motion.roots[-1] - pose.root).max() < 1e-3 and way[-1, 2, 3] > 0.6
    assert np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1).max() * 24.0 < 2.0
    assert done.performance.attachments[0].end == pytest.approx(motion.duration)
    with pytest.raises(NoIK):
        reach(Job(skeleton, pose, world, ReachParams(task="pick_up", target="ball", step=False, crouch=False), 24.0))
