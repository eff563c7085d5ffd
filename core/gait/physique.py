"""The measures of a body that decide how it walks and runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import InvalidRig
from ..filters.contacts import heel_and_ball
from ..skeleton import SIDES, Array, Skeleton

GRAVITY = 9.81
"""[m/s^2]"""


@dataclass(frozen=True, eq=False)
class Physique:
    """Lengths of a body in its neutral stance [m]; arrays of two are left, right.

    Attributes:
        leg: Thigh plus shin, mean of both sides.
        thigh, shin: (2,).
        ankle: (2,) height of the ankle above the sole.
        hips: (2, 3) from the root to each hip joint.
        heel: (2, 3) from the ankle to the back of the sole.
        ball: (2, 3) from the ankle to the toe joint; of a foot without toes to the front of its sole.
        toe: (2, 3) from the toe joint to the end of the toes.
        height: From the sole to the top of the head.
    """

    leg: float
    thigh: Array
    shin: Array
    ankle: Array
    hips: Array
    heel: Array
    ball: Array
    toe: Array
    height: float

    @property
    def hip_width(self) -> float:
        """Between the hip joints [m]."""
        return float(np.abs(self.hips[0, 0] - self.hips[1, 0]))

    @property
    def standing(self) -> float:
        """Height of the root above the ground with straight legs and flat feet [m]."""
        return float(np.mean(self.thigh + self.shin + self.ankle - self.hips[:, 2]))

    def froude(self, speed: float) -> float:
        """Speed in units in which bodies of every size walk alike: v / sqrt(g leg)."""
        return float(speed / np.sqrt(GRAVITY * self.leg))

    def speed(self, froude: float) -> float:
        """The inverse of `froude` [m/s]."""
        return float(froude * np.sqrt(GRAVITY * self.leg))


def measure(skeleton: Skeleton) -> Physique:
    """The physique of a skeleton; InvalidRig when it lacks a leg or a foot."""
    needed = [f"{part}_{side}" for side in SIDES for part in ("thigh", "shin", "foot")]
    missing = [role for role in needed if not skeleton.has(role)]
    if missing:
        raise InvalidRig(
            f"this character cannot walk: it has no {', '.join(missing)}; name the bones under Cast and cast it again"
        )
    parts = ("thigh", "shin", "foot")
    legs = [[skeleton.offsets[skeleton.joint(f"{part}_{side}")] for part in parts] for side in SIDES]
    soles = [heel_and_ball(skeleton, side) for side in SIDES]
    thigh, shin = (np.array([math.hypot(*leg[k]) for leg in legs]) for k in (1, 2))
    for side, upper, lower in zip(SIDES, thigh, shin, strict=True):
        if min(upper, lower) < 0.05 * (upper + lower):
            raise InvalidRig(f"the leg {side} has no length: its thigh is {upper:.3g} m and its shin {lower:.3g} m")
    ankle = np.array([-heel[2] for heel, _ in soles])
    return Physique(
        leg=skeleton.leg_length(),
        thigh=thigh,
        shin=shin,
        ankle=ankle,
        hips=np.array([leg[0] for leg in legs]),
        heel=np.array([heel for heel, _ in soles]),
        ball=np.array([ball for _, ball in soles]),
        toe=np.array([_toe(skeleton, side) for side in SIDES]),
        height=_height(skeleton),
    )


def _toe(skeleton: Skeleton, side: str) -> Array:
    """(3,) from the toe joint to the end of the toes, level [m]; zero without toes."""
    if not skeleton.has(f"toe_{side}"):
        return np.zeros(3)
    toe = np.array(skeleton.tips[skeleton.joint(f"toe_{side}")])
    toe[2] = 0.0
    return toe


def _height(skeleton: Skeleton) -> float:
    """From the sole to the highest joint or tip in the neutral stance [m]."""
    places = np.zeros((len(skeleton), 3))
    for j, parent in enumerate(skeleton.parents.tolist()):
        places[j] = skeleton.offsets[j] + (places[parent] if parent >= 0 else 0.0)
    mapped = [j for joints in skeleton.roles.values() for j in joints if j >= 0]
    return float(max((places[mapped] + skeleton.tips[mapped])[:, 2].max(), places[mapped, 2].max()))
