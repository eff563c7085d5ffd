"""Where people hold the elbow: the sensorimotor model of arm postures, made continuous wherever a hand can be.

Soechting and Flanders, "Sensorimotor representations for pointing to targets in three-dimensional space" (1989), found
that the elevations and yaws of upper arm and forearm are nearly linear in the spherical coordinates of the target;
Kondo, "Inverse kinematics of a human arm" (1994), chose postures for animation by it. The model does not meet its
target, so it only says to which side of the line from shoulder to hand the elbow goes. It was measured in front of the
body and tears apart below the shoulder and behind it; away from the front the elbow is carried there from in front by
the shortest turn, which is continuous but for one direction that no arm reaches. That part is ours.

Axes here are those of one arm: outward, forward, up from its shoulder, so both arms have the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ..errors import InvalidParam
from ..maths import trig
from ..maths.ramp import smoothstep
from ..skeleton import Array

REFERENCE = 0.60
"""Length of the arm from shoulder to wrist to which the model's distances belong [m]."""

# constant, per cm of distance, per degree of azimuth, per degree of elevation: upper-arm elevation (0 hangs), forearm
# elevation (0 is straight up), upper-arm yaw, forearm yaw [degrees]
MODELS: Mapping[str, tuple[tuple[float, float, float, float], ...]] = MappingProxyType(
    {
        "dark": (
            (-4.0, 1.10, 0.0, 0.90),
            (39.4, 0.54, 0.0, -1.06),
            (13.2, 0.0, 0.86, 0.11),
            (-10.0, 0.0, 1.08, -0.35),
        ),
        "seen": (
            (-6.7, 1.09, 0.0, 1.10),
            (47.6, 0.33, 0.0, -0.95),
            (67.7, -0.68, 1.00, 0.0),
            (-11.5, 0.0, 1.27, -0.54),
        ),
    }
)
"""Pointing in the dark, which shows the natural posture, and accurate pointing at a target that is seen."""

_FRONT = (0.1, 0.5)
"""Forward part of the unit vector to the hand below which the model has no say, and from which it alone has."""
_MIDDLE = np.array([0.35, 0.9, -0.2]) / np.linalg.norm([0.35, 0.9, -0.2])
"""Direction to the hand from which elbows are carried elsewhere; opposite to it is the one that has none."""
_DOWN = np.array([0.2, 0.0, -1.0]) - (np.array([0.2, 0.0, -1.0]) @ _MIDDLE) * _MIDDLE
_CARRIED = 0.5 * _DOWN / np.linalg.norm(_DOWN)
"""The elbow there, off the line [upper arms]: down and a little outward; as long as the model has it."""


def model_angles(hand: Array, model: str = "dark") -> Array:
    """Elevation of upper arm and forearm, yaw of upper arm and forearm (..., 4) [rad], as the model has them.

    Args:
        hand: (..., 3) of the wrist from the shoulder of an arm of the REFERENCE length [m]: outward, forward, up.
        model: One of MODELS.
    """
    distance, azimuth, elevation = _spherical(*np.moveaxis(hand, -1, 0))
    rows = _rows(model)
    return np.stack([c + d * distance + a * azimuth + e * elevation for c, d, a, e in rows], axis=-1)


def natural_elbow(outward: Array, forward: Array, up: Array, scale: Array | float, model: str = "dark") -> list[Array]:
    """Where the elbow goes from the line from shoulder to hand: outward, forward and up parts, each (...).

    The vector lies across the line and is never zero but opposite to the middle of the workspace; its length, in upper
    arms, says how clear the posture is.

    Args:
        outward, forward, up: (...) unit vector from the shoulder to the wrist times its distance [m].
        scale: (...) REFERENCE over the length of the arm.
        model: One of MODELS.
    """
    distance, azimuth, elevation = _spherical(outward * scale, forward * scale, up * scale)
    theta, yaw = (c + d * distance + a * azimuth + e * elevation for c, d, a, e in _rows(model)[::2])
    sine = np.sin(theta)
    elbow = [sine * np.sin(yaw), sine * np.cos(yaw), -np.cos(theta)]
    far = np.maximum(distance / np.asarray(scale), 1e-12)
    line = [outward / far, forward / far, up / far]
    share = smoothstep((line[1] - _FRONT[0]) * (1.0 / (_FRONT[1] - _FRONT[0])))
    # the shortest turn from the middle to the line takes what lies across the middle to c - (c.n) / (1 + m.n) (m + n)
    middle = line[0] * _MIDDLE[0] + line[1] * _MIDDLE[1] + line[2] * _MIDDLE[2]
    lean = line[0] * _CARRIED[0] + line[1] * _CARRIED[1] + line[2] * _CARRIED[2]
    lean = lean / np.maximum(1.0 + middle, 1e-9)
    along = elbow[0] * line[0] + elbow[1] * line[1] + elbow[2] * line[2]
    rest = 1.0 - share
    return [
        share * (elbow[k] - along * line[k]) + rest * (_CARRIED[k] - lean * (_MIDDLE[k] + line[k])) for k in range(3)
    ]


def _rows(model: str) -> Array:
    """(4, 4) the coefficients in radians and metres."""
    try:
        rows: Array = np.array(MODELS[model])
    except KeyError:
        raise InvalidParam("model", model, f"must be one of {', '.join(MODELS)}") from None
    rows *= np.array([np.pi / 180, np.pi / 1.8, 1.0, 1.0])
    return rows


def _spherical(outward: Array, forward: Array, up: Array) -> tuple[Array, Array, Array]:
    """Distance [m], azimuth from forward to outward and elevation [rad] of each."""
    flat = outward * outward + forward * forward
    return np.sqrt(flat + up * up), trig.arctan2(outward, forward), trig.arctan2(up, np.sqrt(flat))
