"""Armatures as characters: which bone plays which role, how the rig stands. The only place that knows bone names."""

from .casting import (
    FARTHEST,
    FIGURE,
    bones_of,
    check_usable,
    is_cast,
    neutral_of_pose,
    read,
    role_map,
    roles_of,
    store,
)
from .detection import Bones, detect

__all__ = [
    "FARTHEST",
    "FIGURE",
    "Bones",
    "bones_of",
    "check_usable",
    "detect",
    "is_cast",
    "neutral_of_pose",
    "read",
    "role_map",
    "roles_of",
    "store",
]
