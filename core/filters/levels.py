"""The levels of a body, from the trunk outwards, by which a feeling learned from an arm serves a leg.

Amaya, Bruderlin and Calvert, "Emotion from motion", 1996, sort the joints of a body into four categories.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..kinematics import base as bases
from ..maths import quat
from ..motion import Motion
from ..skeleton import ARM, LEG, SIDES, Array, Skeleton

_CATEGORIES = (
    ("hips", "spine", "neck", "head"),
    (ARM[0], ARM[1], LEG[0]),
    (ARM[2], LEG[1]),
    (ARM[3], LEG[2]),
)
CATEGORY: Mapping[str, int] = MappingProxyType(
    {
        role: k
        for k, parts in enumerate(_CATEGORIES)
        for part in parts
        for role in ((part,) if k == 0 else tuple(f"{part}_{side}" for side in SIDES))
    }
)
"""Level of a role in the body: 0 trunk, 1 shoulders and hips, 2 elbows and knees, 3 wrists and ankles; others none."""
LEVELS = ("trunk", "shoulders and hips", "elbows and knees", "wrists and ankles")


def level_joints(skeleton: Skeleton, mask: npt.NDArray[np.bool_] | None = None) -> list[list[int]]:
    """The joints of each level of the body, of those that a mask (J,) speaks for."""
    out: list[list[int]] = [[] for _ in LEVELS]
    for joint, role in skeleton.role_of().items():
        if role in CATEGORY and (mask is None or mask[joint]):
            out[CATEGORY[role]].append(joint)
    return out


def seen_from_base(motion: Motion) -> Array:
    """Rotations (T, J, 4) with that of the hips as seen from the way the character goes."""
    rotations = motion.rotations.copy()
    rotations[:, 0] = bases.relative(motion)[1]
    return quat.continuous(rotations)
