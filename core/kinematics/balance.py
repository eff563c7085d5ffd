"""Where the weight of a body is, and whether its feet can bear it there."""

from __future__ import annotations

import numpy as np

from ..skeleton import SIDES, Array, Skeleton

MASSES = {
    ("hips", "neck"): 0.435,
    ("head", ""): 0.069,
    ("upper_arm", "forearm"): 0.027,
    ("forearm", "hand"): 0.016,
    ("hand", ""): 0.006,
    ("thigh", "shin"): 0.142,
    ("shin", "foot"): 0.043,
    ("foot", ""): 0.014,
}
"""Part of the weight of a body between two joints, or at one: de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment
inertia parameters" (1996), the mean of women and men; limbs once a side."""


def centre_of_mass(skeleton: Skeleton, positions: Array) -> Array:
    """(..., 3) where the weight of a body is [m]; of the parts that it has.

    Args:
        skeleton: J joints.
        positions: (..., J, 3) places of its joints [m].
    """
    total, out = 0.0, np.zeros((*positions.shape[:-2], 3))
    for (begin, end), mass in MASSES.items():
        for tail in ("", *(f"_{side}" for side in SIDES)):
            if not skeleton.has(begin + tail):
                continue
            first = positions[..., skeleton.chain(begin + tail)[0], :]
            has_end = bool(end) and skeleton.has(end + tail)
            last = positions[..., skeleton.chain(end + tail)[0], :] if has_end else first
            out += mass * 0.5 * (first + last)
            total += mass
    return out / max(total, 1e-12)
