"""Grasps that follow from the shape of a prop: around it, onto its faces, by its rim, its ends or its handle."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ...maths import quat
from ...skeleton import Array
from ...world import Body
from ..spaces.distance_field import surface_samples
from ..spaces.solids import parted
from .bounds import YAWS, Bounds, bounds
from .grasp import ANY, Grasp, framed
from .handles import Handle, find_handle
from .picking import ASLANT, picked

_ROLLS = 16
_TILTS = np.radians([25.0, 45.0])
_ASKEW = tuple(np.radians([0.0, 25.0, -25.0]))
"""How far from straight a handle is taken."""
_SMALL = 0.16
"""Thickness up to which thumb and index finger alone take something, of the length of the hand."""
HAND = 0.19
"""Length of the hand that grasps are made for, unless another is told [m]."""
_THENAR = 0.05
"""How far from what it goes around a palm that is askew keeps for the ball of the thumb, of the length of the hand, for
each radian."""
_UPRIGHT = 0.999
"""How much of the axis of something round points up or down where it stands."""
_WIDEST, _BALL, _PINCHED = 0.50, 0.70, 0.34
"""Widest thing that a whole hand holds, the widest ball, and the widest thing for finger tips, of the length of the
hand."""
_DEPTHS, _SPAN = (0.12, 0.05, 0.0, -0.03), 0.46
"""How far finger tips go over the edge of a thing, and what they span at most, of the length of the hand."""
_BARE = 0.7
"""Cosine of the angle to the handle from which on a cup is a body of revolution."""
_THINNER = 0.7
"""How thin a part of a long thing is that is a part of its own, of the whole."""


def grasps_of(body: Body, hand: float = HAND, time: int = 0) -> list[Grasp]:
    """Grasps that follow from the shape of a prop, best first.

    Args:
        body: The prop.
        hand: Length of the hand [m].
        time: Sample of its matrices whose scale counts.
    """
    _, scale = parted(np.asarray(body.matrices[min(time, len(body.matrices) - 1)]))
    return list(_made(body, hand, tuple(float(x) for x in np.broadcast_to(scale, 3))))


@lru_cache(maxsize=32)
def _made(body: Body, hand: float, scale: tuple[float, float, float]) -> tuple[Grasp, ...]:
    """The grasps of a prop of a scale; asked for every posture of a body that tries."""
    vertices = body.vertices * np.array(scale)
    if not len(body.triangles):
        return ()
    found = bounds(vertices)
    out: list[Grasp] = []
    points, held = surface_samples(vertices[body.triangles], 0.005)[0], None
    if found.kind == "cylinder":
        out = _round(found, points, hand) or _rim(found, hand)
    elif found.kind == "sphere":
        out = _ball(found, hand)
    else:
        held = find_handle(points)
        out = [] if held is None else _cup(held, points, hand)
    if not out:
        out = _faces(found, hand)
        for part in _slices(found, points, hand):
            out += _faces(part, hand, but=2) + picked(part, hand)
    if found.kind != "sphere" and held is None:
        out += picked(found, hand)
    return tuple(sorted(out, key=lambda grasp: -grasp.quality))


def _cup(cup: Handle, points: Array, hand: float) -> list[Grasp]:
    """By the handle, to drink, pour and carry; around the body from the side across from it; by the rim."""
    x = cup.outward
    axes = np.column_stack([x, np.cross(cup.axis, x), cup.axis])
    shape = Bounds("cylinder", cup.foot, axes, np.array([cup.radius, cup.radius, cup.half]))
    grip = cup.grip + 0.002 * x
    by_handle = ("any", "drink", "pour", "carry")
    out = []
    for yaw in _ASKEW:
        palm = quat.rotate(quat.about(cup.axis, yaw), -x)
        for roll in _ASKEW:
            thumb = quat.rotate(quat.about(palm, roll), cup.axis)
            quality = 1.0 - 0.3 * (abs(yaw) + abs(roll))
            out.append(Grasp(framed(palm, thumb, grip), "power", by_handle, quality, name="handle"))
    around = points - cup.foot
    around = around - np.outer(around @ cup.axis, cup.axis)
    # where the handle begins the body seems wider than it is
    bare = cup.body & (around @ x < _BARE * np.linalg.norm(around, axis=1))
    for grasp in _round(shape, points[bare], hand) + picked(shape, hand):
        # fingers that wrap around would meet the handle unless the palm is across from it
        if grasp.name != "around" or (grasp.frame[:3, 3] - cup.foot) @ x < -0.6 * cup.radius:
            out.append(replace(grasp, purposes=(ANY, "give"), quality=0.8 * grasp.quality))
    return out


def _rim(shape: Bounds, hand: float) -> list[Grasp]:
    """By the rim of something flat and round, as a plate is taken, from all sides."""
    x, y, axis = shape.axes.T
    radius, thick = float(shape.half[:2].max()), 2.0 * float(shape.half[2])
    if thick > _PINCHED * hand or radius < 0.3 * hand:
        return []
    out = []
    for k in range(YAWS):
        turn = 2.0 * np.pi * k / YAWS
        outward = np.cos(turn) * x + np.sin(turn) * y
        place = shape.centre + (radius - 0.12 * hand) * outward
        for end in (1.0, -1.0):
            thumb = end * np.cross(axis, outward)
            out.append(Grasp(framed(-outward, thumb, place), "precision", (ANY, "carry"), 0.9, name="rim"))
    return out


def _round(shape: Bounds, points: Array, hand: float) -> list[Grasp]:
    """Around the axis of a body of revolution wherever it is thin enough, and at its ends with the finger tips."""
    x, y, axis = shape.axes.T
    points = points - shape.centre
    along, across = points @ axis, np.hypot(points @ x, points @ y)
    long, broad = float(shape.half[2]), 0.22 * hand
    out = []
    for share in (0.0, 0.3, -0.3, 0.6, -0.6):
        height = share * long
        near = across[np.abs(along - height) < min(broad, max(0.3 * long, 0.01))]
        radius = float(near.max()) if len(near) else float(shape.half[:2].max())
        if 2.0 * radius > _WIDEST * hand or long < 0.5 * broad or (share and long * (1 - abs(share)) < 0.6 * broad):
            continue
        for k in range(YAWS):
            turn = 2.0 * np.pi * k / YAWS
            inward = np.cos(turn) * x + np.sin(turn) * y
            place = shape.centre + height * axis - (radius + 0.002) * inward
            for up, worth in ((axis, 1.0), (-axis, 0.35)):
                for roll in _ASKEW:
                    thumb = quat.rotate(quat.about(inward, roll), up)
                    quality = worth * (1.0 - 0.25 * abs(share) - 0.4 * abs(roll))
                    there = place - _THENAR * hand * abs(roll) * inward
                    out.append(Grasp(framed(inward, thumb, there), "cylindrical", quality=quality, name="around"))
                if 2.0 * radius < _SPAN * hand and abs(share) < 0.5:
                    # with the finger tips, where there is no room for them to go around it
                    tips = shape.centre + height * axis - (radius - min(0.05 * hand, radius)) * inward
                    grasp = Grasp(framed(inward, up, tips), "precision", quality=0.6 * worth, name="across")
                    out += [grasp, *_raised(grasp, inward, up, tips)]
    for end in (1.0, -1.0):
        top = end * long
        depth = min(0.06 * hand, long)
        near = across[end * along > long - 2.0 * depth]
        if not len(near) or 2.0 * near.max() > _SPAN * hand:
            continue
        place, inward = shape.centre + (top - end * depth) * axis, -end * axis
        kind = "pinch" if 2.0 * near.max() < _SMALL * hand else "precision"
        for k in range(_ROLLS):
            turn = 2.0 * np.pi * k / _ROLLS
            thumb = np.cos(turn) * x + np.sin(turn) * y
            # what is tall swings when it hangs from finger tips
            worth = (0.7 if end > 0 else 0.2) * min(1.0, 0.6 * hand / (2.0 * long))
            worth *= 1.0 if 2.0 * near.max() < _PINCHED * hand else 0.6
            out.append(Grasp(framed(inward, thumb, place), kind, quality=worth, name="end"))
            out += _raised(out[-1], inward, thumb, place)
    return out


def _raised(grasp: Grasp, inward: Array, thumb: Array, place: Array) -> list[Grasp]:
    """The same with the wrist raised, so that the fingers point more to the thing: other ways round on either hand."""
    out = []
    for side, sign in (("R", 1.0), ("L", -1.0)):
        fingers = sign * np.cross(inward, thumb)
        for tilt in _TILTS:
            palm = np.cos(tilt) * inward - np.sin(tilt) * fingers
            frame = framed(palm, thumb, place)
            out.append(replace(grasp, frame=frame, quality=ASLANT * grasp.quality, side=side, approach=inward))
    return out


def _ball(shape: Bounds, hand: float) -> list[Grasp]:
    radius = float(shape.half.max())
    small = 2.0 * radius <= _PINCHED * hand
    if 2.0 * radius > _BALL * hand:
        return []
    corners = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], dtype=float)
    out = []
    for inward in quat.unit(corners[np.abs(corners).sum(axis=1) > 0]):
        side = np.array([0.0, 0.0, 1.0]) if abs(inward[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
        first = quat.unit(side - (side @ inward) * inward)
        second = np.cross(inward, first)
        for k in range(4):
            thumb = np.cos(np.pi / 2 * k) * first + np.sin(np.pi / 2 * k) * second
            kind = "precision" if small else "spherical"
            for deep in (0.0, 0.5) if small else ((radius + 0.002) / radius,):
                place = shape.centre - deep * radius * inward
                quality = 1.0 - 0.1 * k - (0.1 * deep if small else 0.0)
                grasp = Grasp(framed(inward, thumb, place), kind, quality=quality, name="ball")
                out += [grasp, *_raised(grasp, inward, thumb, place)]
    return out


def _slices(shape: Bounds, points: Array, hand: float) -> list[Bounds]:
    """The parts of a long thing that are thinner than the whole, such as the handle of a tool; last is the axis along
    it."""
    along = int(np.argmax(shape.half))
    order = [k for k in range(3) if k != along] + [along]
    axes, half = shape.axes[:, order], shape.half[order]
    local = (points - shape.centre) @ axes
    out = []
    for share in (0.0, 0.45, -0.45):
        near = local[np.abs(local[:, 2] - share * half[2]) < 0.25 * hand]
        if half[2] < 0.5 * hand or not len(near):
            continue
        low, high = near.min(axis=0), near.max(axis=0)
        size = 0.5 * (high - low)
        if (size[:2] < _THINNER * half[:2]).any():
            middle = shape.centre + axes @ (0.5 * (low + high))
            out.append(Bounds("box", middle, axes, np.array([size[0], size[1], 0.125 * hand])))
    return out


def _faces(shape: Bounds, hand: float, but: int = -1) -> list[Grasp]:
    """Onto each face of a box but those across one of its axes, with the fingers across whichever way it is narrow
    enough.

    Finger tips go in as far as they can, and less far where there is something under it.
    """
    out = []
    for face in range(3):
        if face == but:
            continue
        normal, half = shape.axes[:, face], float(shape.half[face])
        for sign in (1.0, -1.0):
            inward = -sign * normal
            for across in {0, 1, 2} - {face}:
                width, other = 2.0 * shape.half[across], 3 - face - across
                if width > _WIDEST * hand:
                    continue
                pinched = width <= _PINCHED * hand
                ways = [("precision", min(d * hand, half), 1.0 - 0.1 * k) for k, d in enumerate(_DEPTHS)]
                if not pinched:
                    ways = [
                        ("power", -0.002, 0.8),
                        *[(kind, d, 0.7 * q) for kind, d, q in ways if width < _SPAN * hand],
                    ]
                for kind, depth, worth in ways:
                    place = shape.centre + (sign * (half - depth)) * normal
                    for end in (1.0, -1.0):
                        thumb = end * shape.axes[:, other]
                        quality = worth * (1.0 - 0.3 * width / hand)
                        grasp = Grasp(framed(inward, thumb, place), kind, quality=quality, name="face")
                        out += [grasp, *_raised(grasp, inward, thumb, place)]
    return out


def spun(grasp: Grasp, body: Body, matrix: Array) -> list[Grasp]:
    """The same hold of what is round about the vertical at a matrix (4, 4), turned about that; empty for other things.

    Nobody sees how a bottle is turned that is put down.
    """
    turn, scale = parted(matrix)
    found = bounds(body.vertices * scale)
    axis = turn.T @ np.array([0.0, 0.0, 1.0]) if found.kind == "sphere" else found.axes[:, 2]
    if found.kind not in ("cylinder", "sphere") or abs(float((turn @ axis)[2])) < _UPRIGHT:
        return []
    out = []
    for k in range(1, YAWS):
        spin = np.eye(4)
        spin[:3, :3] = quat.to_matrix(quat.about(axis, 2.0 * np.pi * k / YAWS))
        spin[:3, 3] = found.centre - spin[:3, :3] @ found.centre
        approach = spin[:3, :3] @ grasp.approach
        out.append(replace(grasp, frame=spin @ grasp.frame, approach=approach))
    return out
