"""Everyday things where they lie: each is taken with one hand or both, clear of what it lies on."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.spaces.set_pieces import ball, bottle, box, lathe, placed
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.skeleton import Pose
from troupe.core.world import Body, World

SKELETON = mannequin(1.75)
SHAPES = Shapes()
LYING = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), 0.5 * np.pi))


def round_thing(radius, half, turn=None):
    """Something round that stands, or lies where it is turned."""
    low = half if turn is None else radius
    vertices, faces = lathe([(0, -half), (radius, -half), (radius, half), (0, half)], 12)
    return Body("thing", 0, vertices, faces, placed((0.0, 0.0, low), turn)[None], "prop")


PLATE = lathe([(0, 0), (0.065, 0), (0.12, 0.021), (0.12, 0.025), (0.065, 0.006), (0, 0.006)], 32)
THINGS = {
    "pen": round_thing(0.0045, 0.07, LYING),
    "coin": round_thing(0.0125, 0.0015),
    "book": box("thing", (0.015, 0.075, 0.105), (0.0, 0.0, 0.105)),
    "phone": box("thing", (0.0375, 0.075, 0.004), (0.0, 0.0, 0.004)),
    "ball": ball("thing", 0.055, (0.0, 0.0, 0.055)),
    "box": box("thing", (0.05, 0.04, 0.03), (0.0, 0.0, 0.03)),
    "stick": box("thing", (0.3, 0.0125, 0.0125), (0.0, 0.0, 0.0125)),
    "tray": box("thing", (0.22, 0.15, 0.01), (0.0, 0.0, 0.01)),
    "lying book": box("thing", (0.1, 0.07, 0.015), (0.0, 0.0, 0.015)),
    "big ball": ball("thing", 0.1, (0.0, 0.0, 0.1)),
    "plate": Body("thing", 0, *PLATE, placed((0.0, 0.0, 0.0), None)[None], "prop"),
}
BESIDE = 0.06
"""From a thing to what stands beside it [m]."""


def taken(what, height, beside=(), edge=0.25, ahead=0.45, **params):
    """Somebody who stands before it takes a thing from a board of a height, or from the floor.

    `beside` are 1 for a bottle at its left and -1 for one at its right, `edge` and `ahead` how far before the body the
    board begins and the thing is [m].
    """
    rest = rest_pose(SKELETON)
    arms = {f"{part}_{s}": a for s in "LR" for part, a in (("upper_arm", (0, 0.14, 0)), ("forearm", (0.3, 0, 0)))}
    pose = Pose(anatomy.with_angles(SKELETON, rest.rotations, arms), rest.root)
    matrices = np.array(THINGS[what].matrices)
    matrices[:, :3, 3] += (-0.12, -ahead, height + 0.0005)
    thing = replace(THINGS[what], matrices=matrices, kind="prop", id=5)
    under = [box("floor", (4, 4, 0.05), (0, 0, -0.05), kind="ground", number=1)]
    if height:
        under.append(box("board", (0.4, 0.2, 0.015), (0.0, -edge - 0.2, height - 0.015), number=2))
    for side in beside:
        away = side * (float(np.abs(thing.vertices[:, 0]).max()) + BESIDE + 0.033)
        under.append(bottle(f"bottle {side}", (-0.12 + away, -ahead, height), 0.24, 0.033, 20 + side))
    told = ReachParams(**{"task": "pick_up", "target": "thing", "gaze": 0.0, "step": False, **params})
    return reach(Job(SKELETON, pose, World((*under, thing)), told, shapes=SHAPES))


@pytest.mark.req("kuffner", 80, 87)
@pytest.mark.parametrize(
    ("what", "height", "side"),
    [("ball", 0.0, "R"), ("box", 0.74, "R"), ("stick", 0.45, "R"), ("tray", 0.74, "both")]
    + [("pen", 0.74, "R"), ("coin", 0.74, "R"), ("phone", 0.74, "R")],
)
def test_it_is_taken_and_lifted_clear_of_everything(what, height, side):
    done = taken(what, height)
    way = done.performance.props["thing"]
    assert done.side == side and not done.offences
    assert way[-1, 2, 3] - way[0, 2, 3] > 0.05
    motion = done.performance.motions["actor"]
    # the trunk comes up again with it
    spine = list(SKELETON.chain("spine"))
    assert np.abs(motion.rotations[-1, spine] - motion.rotations[0, spine]).max() < 1e-6
    assert (done.idle is None) == (motion.mask is not None)


@pytest.mark.req("kuffner", 80, 87)
@pytest.mark.parametrize(("what", "side"), [("lying book", "R"), ("big ball", "both"), ("plate", "both")])
@pytest.mark.parametrize("beside", [(1,), (1, -1)], ids=["at one side", "at both sides"])
def test_it_is_taken_from_between_things_that_stand_close_to_it(what, side, beside):
    done = taken(what, 0.9, beside)
    way = done.performance.props["thing"]
    assert done.side == side and not done.offences
    assert way[-1, 2, 3] - way[0, 2, 3] > 0.05


def test_a_book_that_lies_on_a_high_shelf_is_taken_from_above_with_the_hand_spread():
    done = taken("lying book", 1.5, edge=0.35, ahead=0.44, step=True)
    way = done.performance.props["thing"]
    assert done.grasp.shape == "spanning" and not done.offences
    assert way[-1, 2, 3] - way[0, 2, 3] > 0.05 and way[-1, 2, 2] > 0.99


def test_an_arm_does_not_jump_as_the_body_gets_up_with_what_it_took_from_the_floor():
    done = taken("book", 0.0)
    motion = done.performance.motions["actor"]
    positions, _ = fk.forward(SKELETON, motion.rotations, motion.roots)
    hand = positions[:, SKELETON.joint(f"hand_{done.side}")]
    assert np.linalg.norm(np.diff(hand, 2, axis=0), axis=1).max() * motion.fps**2 < 10.0
    assert hand[-1, 2] - hand[0, 2] > -0.2 and not done.offences


def test_a_tray_in_both_hands_is_put_down_elsewhere_level():
    done = taken("tray", 0.95)
    pose = done.pose
    board = box("board", (0.4, 0.2, 0.015), (0.0, -0.45, 0.935), number=2)
    tray = replace(THINGS["tray"], matrices=done.performance.props["thing"][-1:], kind="prop", id=5)
    told = ReachParams(task="put_back", target="thing", gaze=0.0)
    goal = placed((0.0, -0.42, 0.9605))
    back = reach(
        Job(SKELETON, pose, World((board, tray)), told, 24.0, "actor", 0.0, goal, None, done.holding, done.other)
    )
    assert np.abs(back.performance.props["thing"][-1] - goal).max() < 1e-6 and back.holding is None
    assert not back.offences


def test_what_is_held_is_put_down_out_of_reach_by_somebody_who_steps_there():
    done = taken("pen", 0.74)
    board = box("board", (1.4, 0.2, 0.015), (0.8, -0.45, 0.725), number=2)
    pen = replace(THINGS["pen"], matrices=done.performance.props["thing"][-1:], kind="prop", id=5)
    floor = box("floor", (4, 4, 0.05), (0, 0, -0.05), kind="ground", number=1)
    told = ReachParams(task="put_back", target="thing", gaze=0.0)
    goal = np.array(done.performance.props["thing"][0])
    goal[:3, 3] += (1.3, 0.0, 0.0)
    job = Job(SKELETON, done.pose, World((floor, board, pen)), told, 24.0, "actor", 0.0, goal, None, done.holding)
    back = reach(job)
    way, motion = back.performance.props["thing"], back.performance.motions["actor"]
    assert np.abs(way[-1] - goal).max() < 1e-6 and back.holding is None and not back.offences
    assert np.linalg.norm(motion.roots[-1] - motion.roots[0]) > 0.5
    # it is in the hand all the way there
    assert np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1).max() * motion.fps < 2.5
