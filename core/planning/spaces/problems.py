"""Problems that planners are shown with and measured by: a square, an L, a piano, a robot with a book, a bottle.

The maps of the square and the scenes are ours, with the sizes that Kuffner, "Autonomous Agents for Real-Time Animation"
(1999), chapter 5, tells of his.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...figure.mannequin import mannequin, rest_pose
from ...kinematics import anatomy
from ...maths import quat, trig
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import Body, World
from .collision import Checker
from .set_pieces import bottle, box, lathe, placed
from .solids import solids
from .space import RIGID_AXES, Bools, RigidSpace, Space

SIDE = 0.04
"""Of the square robot; the maps measure 1."""
MAPS: Mapping[str, tuple[tuple[float, float, float, float], ...]] = MappingProxyType(
    {
        "open": (),
        "two blocks": ((0.30, 0, 0.40, 0.60), (0.60, 0.40, 0.70, 1)),
        "clutter": (
            (0.20, 0.20, 0.35, 0.40),
            (0.50, 0.10, 0.60, 0.45),
            (0.30, 0.55, 0.55, 0.70),
            (0.70, 0.50, 0.85, 0.80),
        ),
        "gate": ((0.48, 0, 0.52, 0.475), (0.48, 0.525, 0.52, 1)),
        "two gates": ((0.33, 0, 0.37, 0.70), (0.33, 0.75, 0.37, 1), (0.63, 0, 0.67, 0.25), (0.63, 0.30, 0.67, 1)),
        "twisty": ((0.15, 0, 0.20, 0.85), (0.35, 0.15, 0.40, 1), (0.55, 0, 0.60, 0.85), (0.75, 0.15, 0.80, 1)),
    }
)
"""Boxes x0, y0, x1, y1 in the unit square."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A space and the two configurations (n,) between which a way is sought."""

    space: Space
    start: Array
    goal: Array


def square(name: str) -> Problem:
    """A square that does not turn, on one of MAPS."""
    blocks = np.array(MAPS[name], dtype=np.float64).reshape(-1, 4)

    def free(q: Array) -> Bools:
        low, high = q - SIDE / 2, q + SIDE / 2
        inside = (low >= 0).all(axis=1) & (high <= 1).all(axis=1)
        hit = np.asarray((high[:, None] > blocks[:, :2]).all(axis=2) & (low[:, None] < blocks[:, 2:]).all(axis=2))
        return np.asarray(inside & ~hit.any(axis=1))

    ends = ((0.1, 0.5), (0.9, 0.2)) if name == "gate" else ((0.06, 0.06), (0.94, 0.94))
    space = Space(("x", "y"), np.zeros(2), np.ones(2), free, 0.004)
    return Problem(space, np.array(ends[0]), np.array(ends[1]))


L_BARS = ((-0.02, -0.02, 0.14, 0.02), (-0.02, -0.02, 0.02, 0.14))
"""The two bars of the L, about its corner."""
L_WALLS = ((0.30, 0, 0.33, 0.44), (0.30, 0.56, 0.33, 1), (0.64, 0, 0.67, 0.30), (0.64, 0.42, 0.67, 1))


def l_shape() -> Problem:
    """An L that turns, through two gates narrower than it is long: x, y and an angle that wraps."""
    walls = np.array(L_WALLS)
    centres = np.column_stack([walls[:, :2] + walls[:, 2:], np.zeros(len(walls))]) / 2
    halves = np.column_stack([(walls[:, 2:] - walls[:, :2]) / 2, np.ones(len(walls))])
    bars = np.array(L_BARS)
    thick = 0.02
    # each bar is a thick line in the plane, square at its ends within what is thick: a capsule inside of it and corners
    starts = np.array([[bars[0, 0] + thick, 0.0], [0.0, bars[1, 1] + thick]])
    ends = np.array([[bars[0, 2] - thick, 0.0], [0.0, bars[1, 3] - thick]])
    world = World(tuple(box(f"wall {k}", halves[k], centres[k]) for k in range(len(walls))))
    lengths = np.linalg.norm(ends - starts, axis=1)
    check = Checker(solids(world), lengths, np.full(2, thick * np.sqrt(2.0)))

    def free(q: Array) -> Bools:
        c, s = trig.cos(q[:, 2]), trig.sin(q[:, 2])
        begin, vector = np.zeros((3, 2, len(q))), np.zeros((3, 2, len(q)))
        for k in range(2):
            (ax, ay), (bx, by) = starts[k], ends[k] - starts[k]
            begin[0, k], begin[1, k] = q[:, 0] + c * ax - s * ay, q[:, 1] + s * ax + c * ay
            vector[0, k], vector[1, k] = c * bx - s * by, s * bx + c * by
        points = np.concatenate([begin[:2], begin[:2] + vector[:2]], axis=1)
        inside = ((points > thick) & (points < 1 - thick)).all(axis=(0, 1))
        return np.asarray(inside & check.free(begin, vector))

    low, high = np.array([0.0, 0.0, -np.pi]), np.array([1.0, 1.0, np.pi])
    space = Space(("x", "y", "turn"), low, high, free, 0.006, np.array([1, 1, 0.12]), np.array([False, False, True]))
    return Problem(space, np.array([0.12, 0.15, 0.0]), np.array([0.82, 0.80, np.pi / 2]))


PIANO = (
    (0.0, 0.0, 0.62, 0.70, 0.50, 0.16),
    (-0.55, 0.35, 0.25, 0.06, 0.06, 0.25),
    (0.55, 0.35, 0.25, 0.06, 0.06, 0.25),
)
"""Boxes of the piano: middle and half size of body and legs [m]; it stands on its legs."""


def piano_room() -> World:
    """Two rooms with a door between them and low things about."""
    return World(
        (
            box("floor", (4.0, 3.0, 0.05), (0, 0, -0.05), kind="ground"),
            box("wall left", (0.1, 1.2, 1.3), (0, -1.8, 1.3)),
            box("wall right", (0.1, 1.2, 1.3), (0, 1.8, 1.3)),
            box("lintel", (0.1, 0.6, 0.2), (0, 0, 2.4)),
            box("chest", (0.4, 0.3, 0.25), (-1.4, 0.7, 0.25)),
            box("stool", (0.2, 0.2, 0.2), (1.2, -0.5, 0.2)),
        )
    )


def piano() -> Problem:
    """A grand piano from one room to the other through a door that is too narrow for it as it stands: any place and
    any orientation."""
    parts = np.array(PIANO)
    starts, vectors, radii = [], [], []
    for x, y, z, a, b, c in parts:
        centre, half = np.array([x, y, z - 0.5]), np.array([a, b, c])
        order = np.argsort(-half)
        long, broad, thick = order
        count = max(1, int(np.ceil(half[broad] / (1.2 * half[thick]))))
        width = half[broad] / count
        for k in range(count):
            start, vector = centre.copy(), np.zeros(3)
            start[broad] += -half[broad] + (2 * k + 1) * width
            radius = float(np.hypot(width, half[thick]))
            reach = max(half[long] - 0.3 * radius, 0.0)
            start[long] -= reach
            vector[long] = 2 * reach
            starts.append(start)
            vectors.append(vector)
            radii.append(radius)
    begin, along = np.array(starts), np.array(vectors)
    check = Checker(solids(piano_room()), np.linalg.norm(along, axis=1), np.array(radii))

    def free(q: Array) -> Bools:
        turn = quat.to_matrix(q[:, 3:])
        a = np.einsum("nij,kj->ikn", turn, begin) + q[:, :3].T[:, None]
        return check.free(a, np.ascontiguousarray(np.einsum("nij,kj->ikn", turn, along)))

    low, high = np.array([-3.2, -2.2, 0.55, -1, -1, -1, -1]), np.array([3.2, 2.2, 2.0, 1, 1, 1, 1])
    space = RigidSpace(RIGID_AXES, low, high, free, 0.05, reach=0.9)
    half = quat.about(np.array([0.0, 0.0, 1.0]), np.pi / 2)
    return Problem(space, np.array([-2.2, -0.8, 0.75, 1, 0, 0, 0.0]), np.array([2.2, 0.8, 0.75, *half]))


def seated(height: float = 1.75) -> tuple[Skeleton, Pose]:
    """Somebody on a chair, the hands on the thighs' sides."""
    skeleton = mannequin(height)
    rest = rest_pose(skeleton)
    angles = {}
    for side in SIDES:
        angles[f"thigh_{side}"] = (1.5, 0.08, 0.0)
        angles[f"shin_{side}"] = (1.5, 0.0, 0.0)
        angles[f"foot_{side}"] = (0.0, 0.0, 0.0)
        angles[f"upper_arm_{side}"] = (0.1, 0.28, 0.0)
        angles[f"forearm_{side}"] = (0.6, 0.0, 0.0)
    rotations = anatomy.with_angles(skeleton, rest.rotations, angles)
    leg = float(np.linalg.norm(skeleton.offsets[skeleton.joint("foot_L")]))
    return skeleton, Pose(rotations, np.array([0.0, 0.0, leg + 0.07]))


def bottle_scene(height: float = 1.75) -> tuple[Skeleton, Pose, World, Array]:
    """Somebody at a table laid with bottles and glasses, and where the bottle is to be (4, 4)."""
    skeleton, pose = seated(height)
    scale = height / 1.75
    hips = pose.root[2]
    top = hips + 0.2 * scale
    glass, faces = lathe([(0, 0), (0.03, 0), (0.034, 0.11), (0.031, 0.11), (0.027, 0.01), (0, 0.01)], 96)
    bodies = [
        box("table", np.array([0.55, 0.32, 0.02]) * scale, (0, -0.55 * scale, top - 0.02 * scale)),
        box("seat", np.array([0.22, 0.2, 0.02]) * scale, (0, 0.02, hips - 0.13 * scale)),
        bottle("bottle", np.array([-0.25 * scale, -0.45 * scale, top]), 0.24, 0.033, sides=96),
        Body("glass", 4, glass, faces, placed((-0.13 * scale, -0.56 * scale, top))[None], "prop"),
    ]
    # enough of the dinner to make a scene of over 12,000 triangles
    for k, x in enumerate(np.linspace(-0.45, 0.45, 14)):
        bodies.append(Body(f"glass {k}", 5 + k, glass, faces, placed((x * scale, -0.78 * scale, top))[None], "prop"))
    return skeleton, pose, World(tuple(bodies)), placed((0.02 * scale, -0.45 * scale, top))
