"""Where and how a hand takes hold of a prop: by hand for a purpose, or made from its shape.

A grasp is a frame fixed to the prop: out of the palm, to the thumb, and their cross product are its axes, and what the
hand's shape grips with (palm or finger tips) goes to its origin. Kuffner, "Autonomous Agents for Real-Time Animation"
(1999), 5.2; the table of sites by purpose is that of Badler and others' object-specific reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoGrasp
from ...kinematics import fk
from ...kinematics.fingers import grip_place, hand_shape, palm_axes
from ...maths import quat
from ...skeleton import SIDES, Array, Pose, Skeleton, frozen
from ...world import Body
from ..spaces.distance_field import surface_samples
from ..spaces.solids import parted
from .handles import Handle, find_handle

ANY = "any"
STANDOFF = 0.08
"""How far from the grasp the straight approach begins [m]."""
_YAWS, _ROLLS = 12, 16
_TILTS = np.radians([25.0, 45.0])
_ASKEW = tuple(np.radians([0.0, 25.0, -25.0]))
"""How far from straight a handle is taken."""
_SMALL = 0.16
"""Thickness up to which thumb and index finger alone take something, of the length of the hand."""
HAND = 0.19
"""Length of the hand that grasps are made for, unless another is told [m]."""
_UPRIGHT = 0.999
"""How much of the axis of something round points up or down where it stands."""
_WIDEST, _PINCHED = 0.50, 0.34
"""Widest thing that a whole hand holds, and finger tips, of the length of the hand."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """A way to take hold of a prop.

    Attributes:
        frame: (4, 4) in the axes of the prop, without its scale: out of the palm, to the thumb, their cross product.
        shape: Of the hand, one of `fingers.HANDSHAPES`.
        purposes: What it is good for; "any" for everything.
        quality: 0 to 1.
        side: "any", "L" or "R".
        approach: (3,) which way the hand travels at last, in the axes of the prop; empty for out of the palm.
        distance: How far the hand goes straight [m].
        name: For reports.
    """

    frame: Array
    shape: str = "cylindrical"
    purposes: tuple[str, ...] = (ANY,)
    quality: float = 1.0
    side: str = ANY
    approach: Array = field(default_factory=lambda: np.zeros(0))
    distance: float = STANDOFF
    name: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "frame", frozen(self.frame, (4, 4), "frame of a grasp"))
        turn = self.frame[:3, :3]
        if np.abs(turn @ turn.T - np.eye(3)).max() > 1e-6 or np.linalg.det(turn) < 0:
            raise InvalidParam("frame", turn.tolist(), "must be a rotation and a place")
        hand_shape(self.shape)
        if self.side not in (ANY, *SIDES):
            raise InvalidParam("side", self.side, f"must be {ANY}, {' or '.join(SIDES)}")
        if not 0.0 <= self.quality <= 1.0:
            raise InvalidParam("quality", self.quality, "must be from 0 to 1")
        if not self.distance >= 0.0:
            raise InvalidParam("distance", self.distance, "must not be negative")
        along = np.asarray(self.approach, dtype=np.float64)
        along = turn[:, 0] if not len(along) else quat.unit(along)
        put(self, "approach", frozen(along, (3,), "approach of a grasp"))
        put(self, "purposes", tuple(self.purposes) or (ANY,))

    def world(self, matrix: Array) -> tuple[Array, Array, Array]:
        """Place (3,) [m], rotation (4,) and approach (3,) in the world of a prop with this matrix (4, 4)."""
        turn, _ = parted(matrix)
        place = matrix[:3, 3] + turn @ self.frame[:3, 3]
        return place, quat.from_matrix(turn @ self.frame[:3, :3]), turn @ self.approach

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `from_dict` gives it back."""
        return {
            "frame": self.frame.tolist(),
            "shape": self.shape,
            "purposes": list(self.purposes),
            "quality": float(self.quality),
            "side": self.side,
            "approach": self.approach.tolist(),
            "distance": float(self.distance),
            "name": self.name,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Grasp:
        """The grasp that `as_dict` wrote."""
        known = {"frame", "shape", "purposes", "quality", "side", "approach", "distance", "name"}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InvalidParam("grasp", unknown[0], f"must have only {', '.join(sorted(known))}")
        try:
            row = dict(values)
            return cls(
                np.array(row.pop("frame"), dtype=np.float64),
                purposes=tuple(row.pop("purposes", (ANY,))),
                approach=np.array(row.pop("approach", ()), dtype=np.float64),
                **row,
            )
        except (KeyError, ValueError) as error:
            raise InvalidParam("grasp", dict(values), f"cannot be read: {error}") from None


def for_purpose(grasps: Sequence[Grasp], purpose: str) -> list[Grasp]:
    """The grasps for a purpose, or those for any when there are none.

    Raises:
        NoGrasp: There are neither.
    """
    for wanted in (purpose, ANY):
        found = [g for g in grasps if wanted in g.purposes or (wanted == ANY and purpose == ANY)]
        if found:
            return found
    known = sorted({p for g in grasps for p in g.purposes})
    raise NoGrasp(f"no grasp for {purpose!r}; there are grasps for {', '.join(known) or 'nothing'}")


def framed(outward: npt.ArrayLike, thumb: npt.ArrayLike, place: npt.ArrayLike) -> Array:
    """(4, 4) of a hand whose palm faces `outward` with its thumb as nearly as possible to `thumb`, at a place (3,)."""
    a = quat.unit(np.asarray(outward, dtype=np.float64))
    b = np.asarray(thumb, dtype=np.float64)
    b = quat.unit(b - (b @ a) * a)
    out = np.eye(4)
    out[:3, :3] = np.column_stack([a, b, np.cross(a, b)])
    out[:3, 3] = place
    return out


@dataclass(frozen=True, eq=False)
class Bounds:
    """What a prop roughly is: "sphere", "cylinder" (its axis is the last column) or "box".

    Attributes:
        kind: Of the three.
        centre: (3,) [m].
        axes: (3, 3) in columns.
        half: (3,) half of its size along them [m].
    """

    kind: str
    centre: Array
    axes: Array
    half: Array


def bounds(vertices: Array) -> Bounds:
    """The oriented box around vertices (V, 3), and which simple shape fills it.

    Axes are the prop's own unless those of its vertices' spread make a box smaller by a tenth.
    """
    tries = [np.eye(3)]
    spread = np.cov((vertices - vertices.mean(axis=0)).T)
    own = np.linalg.eigh(spread)[1]
    tries.append(own * np.sign(np.linalg.det(own)))
    sizes = [np.ptp(vertices @ axes, axis=0) for axes in tries]
    axes = tries[1] if np.prod(sizes[1]) < 0.9 * np.prod(sizes[0]) else tries[0]
    local = vertices @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    half, middle = 0.5 * (high - low), 0.5 * (low + high)
    away = np.linalg.norm(local - middle, axis=1)
    if half.min() > 0.9 * half.max() and away.max() < 1.06 * half.max():
        return Bounds("sphere", axes @ middle, axes, half)
    # the axis of a body of revolution: the two others are alike, and no corner sticks out
    for k in np.argsort(-np.abs(half - np.median(half)), kind="stable"):
        a, b = (k + 1) % 3, (k + 2) % 3
        radial = np.hypot(local[:, a] - middle[a], local[:, b] - middle[b]).max()
        if abs(half[a] - half[b]) < 0.08 * max(half[a], half[b]) and radial < 1.08 * max(half[a], half[b]):
            order = [a, b, k]
            return Bounds("cylinder", axes @ middle, axes[:, order], half[order])
    return Bounds("box", axes @ middle, axes, half)


def grasps_of(body: Body, hand: float = HAND, time: int = 0) -> list[Grasp]:
    """Grasps that follow from the shape of a prop, best first.

    Args:
        body: The prop.
        hand: Length of the hand [m].
        time: Sample of its matrices whose scale counts.
    """
    _, scale = parted(np.asarray(body.matrices[min(time, len(body.matrices) - 1)]))
    vertices = body.vertices * scale
    if not len(body.triangles):
        return []
    found = bounds(vertices)
    out: list[Grasp] = []
    points = surface_samples(vertices[body.triangles], 0.005)[0]
    if found.kind == "cylinder":
        out = _round(found, points, hand) or _rim(found, hand)
    elif found.kind == "sphere":
        out = _ball(found, hand)
    else:
        held = find_handle(points)
        out = [] if held is None else _cup(held, points, hand)
    if not out:
        out = _faces(found, hand)
    return sorted(out, key=lambda grasp: -grasp.quality)


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
    for grasp in _round(shape, points[cup.body], hand):
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
    for k in range(_YAWS):
        turn = 2.0 * np.pi * k / _YAWS
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
        for k in range(_YAWS):
            turn = 2.0 * np.pi * k / _YAWS
            inward = np.cos(turn) * x + np.sin(turn) * y
            place = shape.centre + height * axis - (radius + 0.002) * inward
            for up, worth in ((axis, 1.0), (-axis, 0.35)):
                quality = worth * (1.0 - 0.25 * abs(share))
                out.append(Grasp(framed(inward, up, place), "cylindrical", quality=quality, name="around"))
    for end in (1.0, -1.0):
        top = end * long
        depth = min(0.06 * hand, long)
        near = across[end * along > long - 2.0 * depth]
        if not len(near) or 2.0 * near.max() > _PINCHED * hand:
            continue
        place, inward = shape.centre + (top - end * depth) * axis, -end * axis
        kind = "pinch" if 2.0 * near.max() < _SMALL * hand else "precision"
        for k in range(_ROLLS):
            turn = 2.0 * np.pi * k / _ROLLS
            thumb = np.cos(turn) * x + np.sin(turn) * y
            # what is tall swings when it hangs from finger tips
            worth = (0.7 if end > 0 else 0.2) * min(1.0, 0.6 * hand / (2.0 * long))
            out.append(Grasp(framed(inward, thumb, place), kind, quality=worth, name="end"))
            # with the wrist raised, so that the fingers point more to the thing: other ways round on either hand
            for side, sign in (("R", 1.0), ("L", -1.0)):
                fingers = sign * np.cross(inward, thumb)
                for tilt in _TILTS:
                    palm = np.cos(tilt) * inward - np.sin(tilt) * fingers
                    frame = framed(palm, thumb, place)
                    out.append(Grasp(frame, kind, (ANY,), worth, side, inward, STANDOFF, "end"))
    return out


def _ball(shape: Bounds, hand: float) -> list[Grasp]:
    radius = float(shape.half.max())
    small = 2.0 * radius <= _PINCHED * hand
    if 2.0 * radius > (_WIDEST + 0.05) * hand:
        return []
    corners = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)], dtype=float)
    out = []
    for inward in quat.unit(corners[np.abs(corners).sum(axis=1) > 0]):
        side = np.array([0.0, 0.0, 1.0]) if abs(inward[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
        first = quat.unit(side - (side @ inward) * inward)
        second = np.cross(inward, first)
        for k in range(4):
            thumb = np.cos(np.pi / 2 * k) * first + np.sin(np.pi / 2 * k) * second
            place = shape.centre if small else shape.centre - (radius + 0.002) * inward
            kind = "precision" if small else "spherical"
            out.append(Grasp(framed(inward, thumb, place), kind, quality=1.0 - 0.1 * k, name="ball"))
    return out


def _faces(shape: Bounds, hand: float) -> list[Grasp]:
    """Onto each face of a box, with the fingers across whichever way it is narrow enough."""
    out = []
    for face in range(3):
        for sign in (1.0, -1.0):
            inward = -sign * shape.axes[:, face]
            for across in {0, 1, 2} - {face}:
                width, other = 2.0 * shape.half[across], 3 - face - across
                if width > _WIDEST * hand:
                    continue
                pinched = width <= _PINCHED * hand
                depth = min(0.12 * hand, shape.half[face]) if pinched else -0.002
                place = shape.centre + (sign * (shape.half[face] - depth)) * shape.axes[:, face]
                for end in (1.0, -1.0):
                    thumb = end * shape.axes[:, other]
                    quality = (1.0 if pinched else 0.8) * (1.0 - 0.3 * width / hand)
                    kind = "precision" if pinched else "power"
                    out.append(Grasp(framed(inward, thumb, place), kind, quality=quality, name="face"))
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
    for k in range(1, _YAWS):
        spin = np.eye(4)
        spin[:3, :3] = quat.to_matrix(quat.about(axis, 2.0 * np.pi * k / _YAWS))
        spin[:3, 3] = found.centre - spin[:3, :3] @ found.centre
        approach = spin[:3, :3] @ grasp.approach
        out.append(replace(grasp, frame=spin @ grasp.frame, approach=approach))
    return out


def touches(place: Array, outward: Array, purpose: str = ANY) -> list[Grasp]:
    """Ways to put the tip of the index finger on a place (3,) of a surface with this normal (3,), as grasps of a prop
    in whose axes both are."""
    inward = -quat.unit(outward)
    side = np.array([0.0, 0.0, 1.0]) if abs(inward[2]) < 0.9 else np.array([0.0, -1.0, 0.0])
    first = quat.unit(side - (side @ inward) * inward)
    second = np.cross(inward, first)
    out = []
    for tilt in (0.0, 0.5, -0.5):
        for k in range(_YAWS):
            turn = 2.0 * np.pi * k / _YAWS
            # the palm faces across the way of the finger, or a little towards the surface
            palm = np.cos(turn) * first + np.sin(turn) * second
            ahead = np.cos(tilt) * inward - np.sin(tilt) * palm
            palm = np.cos(tilt) * palm + np.sin(tilt) * inward
            for side_name in SIDES:
                # fingers point along out-of-palm x thumb on the right hand, against it on the left one
                thumb = np.cross(ahead, palm) if side_name == "R" else np.cross(palm, ahead)
                out.append(
                    Grasp(
                        framed(palm, thumb, place),
                        "index",
                        (purpose,),
                        1.0 - 0.2 * abs(tilt),
                        side_name,
                        inward,
                        0.06,
                        "touch",
                    )
                )
    return out


def grasp_of_hand(
    skeleton: Skeleton, pose: Pose, side: str, shape: str, matrix: Array, purpose: str = ANY, distance: float = STANDOFF
) -> Grasp:
    """The grasp of a prop at a matrix (4, 4) by a hand that is where it would take it.

    Args:
        skeleton, pose: Whose hand.
        side: "L" or "R".
        shape: Of the hand.
        matrix: Of the prop.
        purpose: What it is good for.
        distance: How far the hand goes straight [m].
    """
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    hand = skeleton.joint(f"hand_{side}")
    frame = np.eye(4)
    frame[:3, :3] = quat.to_matrix(globals[hand]) @ palm_axes(side)
    frame[:3, 3] = positions[hand] + quat.rotate(globals[hand], grip_place(skeleton, side, shape))
    turn, _ = parted(matrix)
    local = np.eye(4)
    local[:3, :3], local[:3, 3] = turn.T @ frame[:3, :3], turn.T @ (frame[:3, 3] - matrix[:3, 3])
    return Grasp(local, shape, (purpose,), 1.0, side, np.zeros(0), distance, "by hand")
