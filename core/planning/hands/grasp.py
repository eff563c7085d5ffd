"""Where and how a hand takes hold of a prop; `grasp_forms` makes grasps from its shape.

A grasp is a frame fixed to the prop: out of the palm, to the thumb, and their cross product are its axes, and what the
hand's shape grips with (palm or finger tips) goes to its origin. Kuffner, "Autonomous Agents for Real-Time Animation"
(1999), 5.2; the table of sites by purpose is that of Badler and others' object-specific reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam, NoGrasp
from ...kinematics import fk
from ...kinematics.fingers import grip_place, palm_axes
from ...kinematics.hand_shapes import hand_shape
from ...maths import quat
from ...skeleton import SIDES, Array, Pose, Skeleton, frozen
from ..spaces.solids import parted

ANY = "any"
STANDOFF = 0.08
"""How far from the grasp the straight approach begins [m]."""
_YAWS = 12


@dataclass(frozen=True, eq=False)
class Grasp:
    """A way to take hold of a prop.

    Attributes:
        frame: (4, 4) in the axes of the prop, without its scale: out of the palm, to the thumb, their cross product.
        shape: Of the hand, one of `hand_shapes.HANDSHAPES`.
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
        place, turn, along = worlds([self], matrix)
        return place[0], turn[0], along[0]

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


def worlds(grasps: Sequence[Grasp], matrix: Array) -> tuple[Array, Array, Array]:
    """Places (G, 3) [m], rotations (G, 4) and approaches (G, 3) in the world of a prop with this matrix (4, 4)."""
    turn, _ = parted(matrix)
    frames = np.stack([g.frame for g in grasps])
    along = np.stack([g.approach for g in grasps])
    return matrix[:3, 3] + frames[:, :3, 3] @ turn.T, quat.from_matrix(turn @ frames[:, :3, :3]), along @ turn.T


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
    out[:3, :3] = np.column_stack([a, b, quat.cross(a, b)])
    out[:3, 3] = place
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
