"""Values of actions close, point and open hands, and leave them as they hang otherwise."""

import numpy as np
from troupe.core.acting.act import ActParams, act
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.kinematics import anatomy

from .puppets import MANNEQUIN


def curl(motion, finger):
    """Flexion of a whole finger at the middle of a motion [deg]."""
    return float(np.degrees(anatomy.angles(motion, finger)[len(motion) // 2, 0]))


def shown(line, **more):
    sheet = read_sheet(f"define ACTION test {{ fade .2  Rwrist 0 0 0  {line} }}\nGROUP Gestures ACTION test")
    return act(MANNEQUIN, ActParams(stance="Idle", gesture="test", seconds=2.0, **more), 24.0, sheets=[sheet])


def test_a_fist_is_closed_a_flat_hand_straight_and_other_hands_hang():
    fist, flat, none = shown("R_FIST 1"), shown("R_FIST -1"), shown("")
    for finger in ("index_R", "middle_R", "ring_R", "pinky_R"):
        assert curl(fist, finger) > 200.0 and abs(curl(flat, finger)) < 1.0 and 20.0 < curl(none, finger) < 90.0
    assert curl(fist, "index_L") == curl(none, "index_L")
    assert not [name for name in fist.curves if "FIST" in name]


def test_one_finger_adds_to_the_hand():
    point = shown("R_FIST 1  R_INDEX -2")
    assert abs(curl(point, "index_R")) < 1.0 and curl(point, "middle_R") > 200.0


def test_a_hand_closes_and_opens_without_a_jump():
    motion = shown("R_FIST 1", delay=0.5)
    joint = MANNEQUIN.roles["index_R"][1]
    change = np.degrees(np.abs(np.diff(anatomy.joint_angles(motion.rotations[:, [joint]], "index_R")[:, 0, 0])))
    assert 5.0 < change.max() < 45.0


def test_a_gesture_alone_speaks_for_the_fingers_that_it_bends():
    mask = act(MANNEQUIN, ActParams(gesture="Point", seconds=1.0), 24.0).mask
    assert mask[list(MANNEQUIN.roles["index_R"])].all() and not mask[list(MANNEQUIN.roles["index_L"])].any()
