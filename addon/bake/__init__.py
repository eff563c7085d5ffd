"""Motion to and from Blender's animation. The only place that touches F-curves, slots and NLA tracks."""

from .read import ground_of, joint_matrices, pose_here, read, sample_times, shared_bones
from .write import Keys, Result, base_of, prepare, write

__all__ = [
    "Keys",
    "Result",
    "base_of",
    "ground_of",
    "joint_matrices",
    "pose_here",
    "prepare",
    "read",
    "sample_times",
    "shared_bones",
    "write",
]
