"""A runner's lower body as running sees it: both sides alike, measured forward and up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..skeleton import Array
from .physique import Physique


@dataclass(frozen=True)
class Lower:
    """The lower body, its sides averaged [m].

    Attributes:
        thigh, shin: Lengths.
        ankle: Height of the ankle.
        heel: From the back of the sole forward to the ankle.
        ball: From the ankle forward to the toe joint.
        ball_height: Height of the toe joint.
        toe: From the toe joint to the end of the toes.
        half: From the root to a hip joint.
    """

    thigh: float
    shin: float
    ankle: float
    heel: float
    ball: float
    ball_height: float
    toe: float
    half: float

    def leg(self, knee: float) -> float:
        """From hip to ankle with a flexion of the knee [rad]."""
        return math.sqrt(self.thigh**2 + self.shin**2 + 2.0 * self.thigh * self.shin * math.cos(knee))

    def raised(self, pitch: Array | float) -> tuple[Array, Array]:
        """Ankle of a planted foot, forward of its flat heel and up, at a pitch (...) about heel or ball."""
        sine, cosine = np.sin(pitch), np.cos(pitch)
        up = self.ankle - self.ball_height
        on_heel = np.asarray(pitch) >= 0
        joint = self.heel + self.ball
        x = np.where(on_heel, self.heel * cosine - self.ankle * sine, joint - self.ball * cosine - up * sine)
        y = np.where(on_heel, self.heel * sine + self.ankle * cosine, self.ball_height - self.ball * sine + up * cosine)
        return x, y


def lower_body(physique: Physique) -> Lower:
    """The lower body of a physique."""
    ball = physique.ball.mean(axis=0)
    ankle = float(physique.ankle.mean())
    return Lower(
        thigh=float(physique.thigh.mean()),
        shin=float(physique.shin.mean()),
        ankle=ankle,
        heel=float(physique.heel[:, 1].mean()),
        ball=float(-ball[1]),
        ball_height=ankle + float(ball[2]),
        toe=float(-physique.toe[:, 1].mean()),
        half=physique.hip_width / 2.0,
    )


def hip_offset(half: float, tilt: float, list_: Array | float, yaw: Array | float) -> tuple[Array, Array, Array]:
    """From the root to the left hip joint: forward, to the left and up (...) [m], the pelvis turned as in `anatomy`."""
    across, back = half * np.cos(yaw), half * np.sin(yaw)
    up = -across * np.sin(list_)
    return (
        np.asarray(up * np.sin(tilt) - back * np.cos(tilt)),
        np.asarray(across * np.cos(list_)),
        np.asarray(back * np.sin(tilt) + up * np.cos(tilt)),
    )
