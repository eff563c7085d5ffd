"""Troupe's core: motion for virtual humans in plain numpy, without Blender.

Conventions, everywhere in this package:

* Metres, seconds, radians. Z up, right-handed. A character with heading 0 faces -Y; its left is +X.
  Heading h faces (sin h, -cos h, 0); positive turns left; headings are unwrapped in time.
* Quaternions are ``wxyz``, unit length, sign-continuous in time. Batch axes lead, the component axis is last.
* Zero is the anatomical neutral stance: upright, arms hanging, palms to the thighs, feet forward. Joint rotations are
  parent-relative and measured from it in character axes, so a joint's world rotation is the product of the rotations
  from the root down to it, and identity means neutral on every rig.
* Joint 0 is the hips; it sits midway between the two hip joints.
* Records are frozen and their arrays are float64 and read-only; functions return new ones.
"""

from .errors import (
    Cancelled,
    FormatError,
    InvalidMotion,
    InvalidParam,
    InvalidRig,
    MissingDependency,
    NoGrasp,
    NoIK,
    NoPath,
    NotVisible,
    Timeout,
    TroupeError,
)
from .motion import Event, Motion, Path
from .params import Params, param
from .performance import Attachment, Performance
from .skeleton import Pose, Skeleton
from .world import Body, World

VERSION = "0.1.0"

__all__ = [
    "VERSION",
    "Attachment",
    "Body",
    "Cancelled",
    "Event",
    "FormatError",
    "InvalidMotion",
    "InvalidParam",
    "InvalidRig",
    "MissingDependency",
    "Motion",
    "NoGrasp",
    "NoIK",
    "NoPath",
    "NotVisible",
    "Params",
    "Path",
    "Performance",
    "Pose",
    "Skeleton",
    "Timeout",
    "TroupeError",
    "World",
    "param",
]
