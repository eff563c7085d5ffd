"""A robot arm with six hinges that takes a book from one shelf to another: the planner on something that is no person.

Kinematics of the Puma 560 in closed form: Craig, "Introduction to Robotics" (1989), 3.7 and 4.7.
"""

from __future__ import annotations

import numpy as np

from ...errors import NoIK
from ...maths import trig
from ...skeleton import Array
from ...world import World
from .collision import Checker
from .problems import Problem
from .set_pieces import box
from .solids import solids
from .space import Bools, Space

A2, A3, D3, D4 = 0.4318, 0.0203, 0.15005, 0.4318
"""Lengths of the arm [m]."""
_TWISTS = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, np.pi / 2, -np.pi / 2])
_OFFSETS = np.array([0.0, 0.0, A2, A3, 0.0, 0.0])
_SHIFTS = np.array([0.0, 0.0, D3, D4, 0.0, 0.0])
LOW: Array = np.radians([-160.0, -225.0, -45.0, -110.0, -100.0, -266.0])
HIGH: Array = np.radians([160.0, 45.0, 225.0, 170.0, 100.0, 266.0])
AXES = ("waist", "shoulder", "elbow", "wrist roll", "wrist bend", "flange")
BASE: Array = np.array([0.0, 0.0, 0.75])
"""Where the shoulder is [m]."""
REACH = 0.16
"""From the wrist to the middle of the book it holds [m]."""


def forward(q: Array) -> Array:
    """(..., 6, 4, 4) frames of the links, of configurations (..., 6)."""
    frame = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4)).copy()
    frame[..., :3, 3] = BASE
    out = []
    for k in range(6):
        c, s = trig.cos(q[..., k]), trig.sin(q[..., k])
        ca, sa = np.cos(_TWISTS[k]), np.sin(_TWISTS[k])
        step = np.zeros((*q.shape[:-1], 4, 4))
        step[..., 0, 0], step[..., 0, 1], step[..., 0, 3] = c, -s, _OFFSETS[k]
        step[..., 1, 0], step[..., 1, 1], step[..., 1, 2], step[..., 1, 3] = s * ca, c * ca, -sa, -sa * _SHIFTS[k]
        step[..., 2, 0], step[..., 2, 1], step[..., 2, 2], step[..., 2, 3] = s * sa, c * sa, ca, ca * _SHIFTS[k]
        step[..., 3, 3] = 1.0
        frame = frame @ step
        out.append(frame)
    return np.stack(out, axis=-3)


def inverse(frame: Array) -> Array:
    """(K, 6) all configurations within the limits whose last link has this frame (4, 4); up to eight.

    Raises:
        NoIK: There is none.
    """
    r = frame[:3, :3]
    px, py, pz = frame[:3, 3] - BASE
    found = []
    flat = px * px + py * py - D3 * D3
    k = (px * px + py * py + pz * pz - A2 * A2 - A3 * A3 - D3 * D3 - D4 * D4) / (2 * A2)
    bent = A3 * A3 + D4 * D4 - k * k
    for left in (1.0, -1.0) if flat >= 0 and bent >= 0 else ():
        t1 = np.arctan2(py, px) - np.arctan2(D3, left * np.sqrt(flat))
        c1, s1 = np.cos(t1), np.sin(t1)
        for up in (1.0, -1.0):
            t3 = np.arctan2(A3, D4) - np.arctan2(k, up * np.sqrt(bent))
            c3, s3 = np.cos(t3), np.sin(t3)
            out = c1 * px + s1 * py
            t23 = np.arctan2((-A3 - A2 * c3) * pz - out * (D4 - A2 * s3), (A2 * s3 - D4) * pz + (A3 + A2 * c3) * out)
            c23, s23 = np.cos(t23), np.sin(t23)
            for flip in (0.0, np.pi):
                t4 = np.arctan2(-r[0, 2] * s1 + r[1, 2] * c1, -(r[0, 2] * c1 + r[1, 2] * s1) * c23 + r[2, 2] * s23)
                t4 += flip
                c4, s4 = np.cos(t4), np.sin(t4)
                x = np.array([c1 * c23 * c4 + s1 * s4, s1 * c23 * c4 - c1 * s4, -s23 * c4])
                y = np.array([c1 * c23 * s4 - s1 * c4, s1 * c23 * s4 + c1 * c4, -s23 * s4])
                z = np.array([-c1 * s23, -s1 * s23, -c23])
                s5, c5 = -(r[:, 2] @ x), r[:, 2] @ z
                t5 = np.arctan2(s5, c5)
                t6 = np.arctan2(-(r[:, 0] @ y), r[:, 0] @ (c5 * x + s5 * z))
                found.append([t1, t23 - t3, t3, t4, t5, t6])
    rows = np.array(found).reshape(-1, 6)
    middle = 0.5 * (LOW + HIGH)
    rows = rows + 2 * np.pi * np.round((middle - rows) / (2 * np.pi))
    rows = rows[((rows >= LOW) & (rows <= HIGH)).all(axis=1)]
    if not len(rows):
        raise NoIK("the robot does not reach this frame within its limits")
    return rows


def shelves() -> World:
    """A desk with three shelves in front of the robot."""
    bodies = [box("desk", (0.35, 0.7, 0.02), (0.62, 0.0, 0.30))]
    for k, z in enumerate((0.62, 0.94)):
        bodies.append(box(f"shelf {k}", (0.14, 0.5, 0.015), (0.78, 0.0, z)))
    bodies.append(box("back", (0.015, 0.5, 0.5), (0.93, 0.0, 0.78)))
    for k, y in enumerate((-0.5, 0.5)):
        bodies.append(box(f"side {k}", (0.15, 0.015, 0.5), (0.78, y, 0.78)))
    return World(tuple(bodies))


def place(height: float, side: float) -> Array:
    """(4, 4) of the last link with the book on a shelf: the hand points away from the robot, to the shelves."""
    out = np.eye(4)
    out[:3, :3] = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    out[:3, 3] = 0.78 - REACH, side, height
    return out


def book() -> Problem:
    """The book goes from the middle shelf to the desk below it."""
    lengths = np.array([np.hypot(A2, D3), np.hypot(A3, D4), REACH, 0.10])
    radii = np.array([0.07, 0.055, 0.035, 0.03])
    check = Checker(solids(shelves()), lengths, radii)

    def free(q: Array) -> Bools:
        frames = forward(q)
        shoulder, elbow, wrist = frames[:, 1, :3, 3], frames[:, 2, :3, 3], frames[:, 3, :3, 3]
        ahead, across = frames[:, 5, :3, 2], frames[:, 5, :3, 0]
        starts = np.stack([shoulder, elbow, wrist, wrist + REACH * ahead - 0.05 * across])
        ends = np.stack([elbow, wrist, wrist + REACH * ahead, wrist + REACH * ahead + 0.05 * across])
        return check.free(starts.transpose(2, 0, 1), (ends - starts).transpose(2, 0, 1))

    space = Space(AXES, LOW, HIGH, free, 0.04)
    ends: list[Array] = []
    for frame in (place(0.76, -0.15), place(0.45, 0.12)):
        rows = inverse(frame)
        good = rows[free(rows)]
        if not len(good):
            raise NoIK("every posture of the robot for this place touches the shelves")
        near = ends[0] if ends else np.zeros(6)
        ends.append(good[np.abs(good - near).sum(axis=1).argmin()])
    return Problem(space, ends[0], ends[1])
