"""What covers a prop in a hand, so that it is kept out of everything with the arm."""

from __future__ import annotations

import numpy as np

from ...skeleton import Array
from ..spaces.arm_space import Held


def held_capsules(vertices: Array, hand: Array, matrix: Array) -> Held:
    """What covers a prop in a hand.

    Args:
        vertices: (V, 3) of the prop.
        hand: (4, 4) world matrix of the hand.
        matrix: (4, 4) that of the prop.
    """
    local = np.linalg.inv(hand) @ matrix
    points = vertices @ local[:3, :3].T + local[:3, 3]
    spread = points - points.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1][:, ::-1]
    inside = points @ axes
    low, high = inside.min(axis=0), inside.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    order = np.argsort(-half, kind="stable")
    long, broad, thick = order
    count = max(1, int(np.ceil(half[broad] / max(1.6 * half[thick], 0.02))))
    width = half[broad] / count
    out = []
    for k in range(count):
        centre = middle.copy()
        centre[broad] = low[broad] + (2 * k + 1) * width
        own = np.abs(inside[:, broad] - centre[broad]) <= width + 1e-9
        rows = inside[own] - centre if own.any() else np.zeros((1, 3))
        across = np.hypot(np.minimum(np.abs(rows[:, broad]), width), rows[:, thick])
        radius = 1.1 * float(max(across.max(), np.hypot(width, half[thick]) if not own.any() else 0.0, 0.004))
        # the round ends reach as far as the corners need
        reach = np.abs(rows[:, long]) - np.sqrt(np.maximum(radius**2 - across**2, 0.0))
        end = max(float(reach.max()), 0.0) if own.any() else half[long]
        offset = np.zeros(3)
        offset[long] = end
        out.append((axes @ (centre - offset), axes @ (centre + offset), radius))
    return Held(np.array([o[0] for o in out]), np.array([o[1] for o in out]), np.array([o[2] for o in out]))


def shell(vertices: Array, thick: float) -> tuple[Array, Array, Array]:
    """Starts and ends (K, 3) and radii (K,) [m] of capsules just under the faces of the box around vertices (V, 3).

    A box in two hands is too stout for few capsules through its middle.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    radius = float(min(thick, half.min()))
    inner = half - radius
    starts, ends = [], []
    for face in range(3):
        a, b = (k for k in range(3) if k != face)
        long, broad = (a, b) if half[a] >= half[b] else (b, a)
        count = max(1, int(np.ceil(2.0 * inner[broad] / (2.0 * radius)))) + 1 if inner[broad] > 0 else 1
        for sign in (1.0, -1.0) if inner[face] > 0 else (1.0,):
            for at in np.linspace(-inner[broad], inner[broad], count):
                start = middle.copy()
                start[face] += sign * inner[face]
                start[broad] += at
                end = start.copy()
                start[long] -= inner[long]
                end[long] += inner[long]
                starts.append(start)
                ends.append(end)
    return np.array(starts), np.array(ends), np.full(len(starts), radius)
