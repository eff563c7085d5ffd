"""Handles of cups, jugs and pots: what sticks out of a body of revolution to one side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...skeleton import Array
from ..spaces.space import Bools

_LAYERS, _SECTORS = 16, 24
_FLAT = 1e-6
"""Height up to which there is nothing that a handle could stick out of [m]."""
_OUT = 0.12
"""How far more than the body something sticks out to be a handle, of its radius."""
_LEAST, _MOST = 0.012, 0.12
"""How far handles stick out [m]."""
_WIDEST = np.radians(45.0)
"""To either side of its middle, seen from the axis."""
_ROUND = 0.08
"""How much the radius of a body of revolution differs around it, of itself."""


class Handle(NamedTuple):
    """A cup with its handle.

    Attributes:
        foot: (3,) middle of the body [m].
        axis: (3,) of the body.
        radius: Of the body at the height of the handle [m].
        half: Half the height of the body [m].
        outward: (3,) from the axis to the handle.
        grip: (3,) the outermost place of the handle in its middle [m].
        body: (M,) which samples are those of the body.
    """

    foot: Array
    axis: Array
    radius: float
    half: float
    outward: Array
    grip: Array
    body: Bools


def find_handle(points: Array) -> Handle | None:
    """The handle of what has these samples (M, 3) of its surface [m]; None where it is no round body with one."""
    for axis in (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])):
        found = _about(points, axis)
        if found is not None:
            return found
    return None


def _about(points: Array, axis: Array) -> Handle | None:
    side = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.5 else np.array([0.0, 1.0, 0.0])
    x = np.cross(axis, np.cross(side, axis))
    y = np.cross(axis, x)
    high = points @ axis
    low, top = float(high.min()), float(high.max())
    if top - low < _FLAT:
        return None
    flat = np.column_stack([points @ x, points @ y])
    # no handle reaches the rim and the foot: between them the axis is known
    ends = [flat[high <= low + 0.06 * (top - low)], flat[high >= top - 0.06 * (top - low)]]
    centres = [0.5 * (e.min(axis=0) + e.max(axis=0)) for e in ends]
    if np.linalg.norm(centres[0] - centres[1]) > 0.004:
        return None
    away = flat - 0.5 * (centres[0] + centres[1])
    radius, turn = np.hypot(*away.T), np.arctan2(away[:, 1], away[:, 0])
    layer = np.minimum(((high - low) / max(top - low, 1e-9) * _LAYERS).astype(int), _LAYERS - 1)
    sector = ((turn + np.pi) / (2.0 * np.pi) * _SECTORS).astype(int) % _SECTORS
    widest = np.zeros((_LAYERS, _SECTORS))
    np.maximum.at(widest, (layer, sector), radius)
    usual = np.median(widest, axis=1)
    bulk = widest[np.abs(widest - usual[:, None]) < _OUT * usual[:, None]]
    if len(bulk) < 0.7 * widest.size or (usual < 0.003).any():
        return None
    out = radius > (1.0 + _OUT) * usual[layer] + 0.002
    stands = radius - usual[layer]
    if not out.any() or not _LEAST < stands[out].max() < _MOST:
        return None
    middle = np.arctan2(away[out, 1].mean(), away[out, 0].mean())
    apart = np.abs(np.angle(np.exp(1j * (turn[out] - middle))))
    round_enough = np.ptp(
        np.where(np.abs(widest - usual[:, None]) < _OUT * usual[:, None], widest, usual[:, None]), axis=1
    )
    if apart.max() > _WIDEST or (round_enough > 2.0 * _ROUND * usual).any():
        return None
    outward = np.cos(middle) * x + np.sin(middle) * y
    level = 0.5 * float(high[out].min() + high[out].max())
    centre = 0.5 * (centres[0] + centres[1])
    foot = centre[0] * x + centre[1] * y + 0.5 * (low + top) * axis
    near = float(usual[int(np.clip((level - low) / (top - low) * _LAYERS, 0, _LAYERS - 1))])
    grip = foot + (level - 0.5 * (low + top)) * axis + float(radius[out].max()) * outward
    return Handle(foot, axis, near, 0.5 * (top - low), outward, grip, ~out)
