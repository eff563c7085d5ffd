"""Places where hands have work: a tool for the housing of a wheel, a pot that may be hidden, the controls of a car.

Sizes are ours after what Kuffner, "Autonomous Agents for Real-Time Animation" (1999), chapters 4 and 5, tells of his.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...figure.mannequin import mannequin, rest_pose
from ...kinematics import anatomy
from ...maths import quat
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import Body, World
from ..spaces.problems import seated
from ..spaces.set_pieces import box, cup, lathe, placed
from .reach import reach
from .task import Job, Reached


def standing(height: float = 1.75) -> tuple[Skeleton, Pose]:
    """Somebody who stands at ease, arms a little away from the body."""
    skeleton = mannequin(height)
    rest = rest_pose(skeleton)
    angles = {f"upper_arm_{side}": (0.0, 0.14, 0.0) for side in SIDES}
    angles |= {f"forearm_{side}": (0.3, 0.0, 0.0) for side in SIDES}
    return skeleton, Pose(anatomy.with_angles(skeleton, rest.rotations, angles), rest.root)


def wheel_housing(height: float = 1.75) -> tuple[Skeleton, Pose, World, Array]:
    """A tool in an open box, and where it goes: onto the ledge within the housing of a tractor's wheel, (4, 4).

    The way leads up out of the box and through an opening a little taller than the tool; over 13,000 triangles.
    """
    skeleton, pose = standing(height)
    scale = height / 1.75

    def plate(name: str, half: tuple[float, ...], place: tuple[float, ...], number: int) -> Body:
        return box(name, np.multiply(half, scale), np.multiply(place, scale), number=number)

    x, y, z = -0.36, -0.36, 0.95
    bodies = [
        plate("bench", (0.17, 0.13, 0.02), (x, y, z - 0.02), 1),
        plate("box left", (0.005, 0.09, 0.035), (x + 0.12, y, z + 0.035), 2),
        plate("box right", (0.005, 0.09, 0.035), (x - 0.12, y, z + 0.035), 3),
        plate("box front", (0.12, 0.005, 0.035), (x, y - 0.09, z + 0.035), 4),
        plate("box back", (0.12, 0.005, 0.035), (x, y + 0.09, z + 0.035), 5),
    ]
    grip = [(0, 0), (0.014, 0), (0.015, 0.11), (0.006, 0.12), (0.005, 0.20), (0, 0.20)]
    vertices, faces = lathe(np.multiply(grip, scale), 24)
    # the handle is up while it waits in the box
    up = np.diag([1.0, -1.0, -1.0])
    bodies.append(Body("tool", 6, vertices, faces, placed(np.multiply((x, y, z + 0.202), scale), up)[None], "prop"))
    low, high = 1.02, 1.44
    bodies += [
        plate("ledge", (0.2, 0.16, 0.01), (0.05, -0.62, low - 0.01), 7),
        plate("housing left", (0.01, 0.18, 0.25), (0.27, -0.62, 1.23), 8),
        plate("housing right", (0.01, 0.18, 0.25), (-0.19, -0.62, 1.23), 9),
        plate("housing top", (0.23, 0.18, 0.01), (0.04, -0.62, high + 0.03), 10),
        plate("lip", (0.23, 0.008, 0.02), (0.04, -0.45, low + 0.01), 11),
        plate("fender", (0.23, 0.008, 0.03), (0.04, -0.45, high), 12),
    ]
    rim = [
        (0, 0),
        (0.05, 0),
        (0.05, 0.03),
        (0.16, 0.03),
        (0.18, 0),
        (0.21, 0),
        (0.22, 0.02),
        (0.22, 0.09),
        (0.21, 0.11),
    ]
    rim += [(0.18, 0.11), (0.16, 0.08), (0.05, 0.08), (0.05, 0.11), (0, 0.11)]
    wheel, faces = lathe(np.multiply(rim, scale), 560)
    facing = quat.to_matrix(quat.about(np.array([1.0, 0.0, 0.0]), np.pi / 2))
    bodies.append(
        Body("wheel", 13, wheel, faces, placed(np.multiply((0.04, -0.70, 1.23), scale), facing)[None], "obstacle")
    )
    return skeleton, pose, World(tuple(bodies)), placed(np.multiply((0.0, -0.55, low + 0.202), scale), up)


def pot_scene(hidden: bool = False, height: float = 1.75) -> tuple[Skeleton, Pose, World, Array]:
    """Somebody before a table with a pot and a torch, and where the pot is to be (4, 4); a panel may hide the pot."""
    skeleton, pose = standing(height)
    scale = height / 1.75
    top = 0.9 * scale
    pot = cup("pot", np.array([-0.2 * scale, -0.38 * scale, top]), 0.16, 0.036, 1)
    turned = placed(pot.matrices[0][:3, 3], quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), 3.3)))
    torch = [(0, 0), (0.022, 0), (0.022, 0.03), (0.014, 0.05), (0.014, 0.17), (0, 0.17)]
    vertices, faces = lathe(torch, 24)
    bodies = [
        box("table", np.array([0.5, 0.22, 0.02]) * scale, (0, -0.5 * scale, top - 0.02 * scale), number=2),
        replace(pot, matrices=turned[None]),
        Body("torch", 3, vertices, faces, placed((0.25 * scale, -0.42 * scale, top))[None], "prop"),
    ]
    if hidden:
        bodies.append(box("panel", (0.16 * scale, 0.005, 0.3), (-0.2 * scale, -0.3 * scale, top + 0.3), number=4))
    there = np.array(turned)
    there[0, 3] += 0.1 * scale
    return skeleton, pose, World(tuple(bodies)), there


CONTROLS = ("wheel", "lever", "switch")


def driving_seat(height: float = 1.75) -> tuple[Skeleton, Pose, World]:
    """Somebody in the seat of a car, before CONTROLS."""
    skeleton, pose = seated(height)
    scale, hips = height / 1.75, float(pose.root[2])
    tilt = quat.to_matrix(quat.about(np.array([1.0, 0.0, 0.0]), -1.0))
    wheel, faces = lathe(
        [(0, -0.012), (0.17 * scale, -0.012), (0.18 * scale, 0.0), (0.17 * scale, 0.012), (0, 0.012)], 40
    )
    bodies = [
        box("seat", np.array([0.24, 0.22, 0.04]) * scale, (0, 0.02, hips - 0.15 * scale), number=1),
        box("back rest", np.array([0.22, 0.03, 0.3]) * scale, (0, 0.2 * scale, hips + 0.3 * scale), number=2),
        Body("wheel", 3, wheel, faces, placed((0.0, -0.50 * scale, hips + 0.30 * scale), tilt)[None], "obstacle"),
        box(
            "lever", np.array([0.01, 0.01, 0.09]) * scale, (-0.34 * scale, -0.32 * scale, hips + 0.05 * scale), number=4
        ),
        box("dashboard", np.array([0.6, 0.05, 0.1]) * scale, (0, -0.74 * scale, hips + 0.36 * scale), number=5),
        box(
            "switch",
            np.array([0.012, 0.008, 0.02]) * scale,
            (-0.26 * scale, -0.68 * scale, hips + 0.36 * scale),
            number=6,
        ),
    ]
    return skeleton, pose, World(tuple(bodies))


def touched(job: Job, names: Sequence[str] = CONTROLS) -> list[Reached]:
    """Touch one thing after the other, each from where the hand was before, and come back at last."""
    out: list[Reached] = []
    start = job.pose
    for name in names:
        params = replace(job.params, task="touch", target=name, come_back=True)
        out.append(reach(replace(job, pose=start, params=params)))
        start = out[-1].pose
    return out


def dining_room(screened: bool = False) -> tuple[Skeleton, Pose, World, tuple[str, ...], tuple[Array, ...]]:
    """A room with two tables, a sideboard, a cup to be served on each table and litter about.

    Args:
        screened: Whether a screen hides the litter.

    Returns:
        Skeleton, pose, world, names of the litter, and where it belongs (4, 4).
    """
    skeleton, pose = standing()
    top = 0.9
    can, faces = lathe([(0, 0), (0.03, 0), (0.03, 0.13), (0, 0.13)], 20)
    bodies = [
        box("floor", (4.0, 4.0, 0.05), (0, 0, -0.05), kind="ground", number=1),
        box("table one", (0.4, 0.25, 0.02), (0.0, -1.6, top - 0.02), number=2),
        box("leg one", (0.05, 0.05, 0.44), (0.0, -1.7, 0.44), number=11),
        box("table two", (0.25, 0.4, 0.02), (-1.9, -0.4, top - 0.02), number=3),
        box("leg two", (0.05, 0.05, 0.44), (-2.0, -0.4, 0.44), number=12),
        box("sideboard", (0.4, 0.2, 0.02), (1.7, -0.7, top - 0.02), number=4),
        box("leg three", (0.05, 0.05, 0.44), (1.7, -0.8, 0.44), number=13),
        cup("cup one", (0.15, -1.44, top), number=5, sides=20),
        cup("cup two", (-1.74, -0.3, top), number=6, sides=20),
        Body("can", 7, can, faces, placed((-0.22, -1.45, top))[None], "prop"),
    ]
    if screened:
        bodies.append(box("screen", (0.12, 0.01, 0.5), (-0.22, -1.25, top + 0.3), number=8))
        bodies.append(box("side screen", (0.01, 0.15, 0.5), (-0.08, -1.4, top + 0.3), number=9))
        bodies.append(box("other screen", (0.01, 0.15, 0.5), (-0.36, -1.4, top + 0.3), number=10))
    return skeleton, pose, World(tuple(bodies)), ("can",), (placed((1.6, -0.6, top)),)
