"""Motion to and from Blender's animation. The only place that touches F-curves, slots and NLA tracks."""

from .curves import Channel, key
from .keys import Keys, base_of, prepare, prepare_steps
from .reading import (
    Start,
    ground_of,
    joint_matrices,
    joint_matrices_steps,
    pose_here,
    read,
    sample_times,
    shared_bones,
    start_here,
)
from .results import results_of
from .writing import Result, rewrite, write

__all__ = [
    "Channel",
    "Keys",
    "Result",
    "Start",
    "base_of",
    "ground_of",
    "joint_matrices",
    "joint_matrices_steps",
    "key",
    "pose_here",
    "prepare",
    "prepare_steps",
    "read",
    "results_of",
    "rewrite",
    "sample_times",
    "shared_bones",
    "start_here",
    "write",
]
