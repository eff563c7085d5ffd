"""What an algorithm knows of a rig: joints, offsets in the neutral stance, roles and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from .errors import InvalidRig

Array = npt.NDArray[np.float64]

SIDES = ("L", "R")
SIDE_NAMES = {"L": "left", "R": "right"}
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
ARM = ("clavicle", "upper_arm", "forearm", "hand")
LEG = ("thigh", "shin", "foot", "toe")
CHAINS = ("spine", "neck", *(f"{finger}_{side}" for side in SIDES for finger in FINGERS))
"""Roles played by a chain of joints, root to tip; every other role is a single joint."""

ROLE_PARENTS: Mapping[str, str] = MappingProxyType(
    {
        "spine": "hips",
        "neck": "spine",
        "head": "neck",
        "jaw": "head",
        "eye_L": "head",
        "eye_R": "head",
        **{
            f"{child}_{side}": parent if parent == "hips" or parent == "spine" else f"{parent}_{side}"
            for side in SIDES
            for child, parent in (
                ("clavicle", "spine"),
                ("upper_arm", "clavicle"),
                ("forearm", "upper_arm"),
                ("hand", "forearm"),
                *((finger, "hand") for finger in FINGERS),
                ("thigh", "hips"),
                ("shin", "thigh"),
                ("foot", "shin"),
                ("toe", "foot"),
            )
        },
    }
)
"""The role above each role; where it is missing on a rig, the next one above takes its place."""

ROLES = ("root", "hips", *ROLE_PARENTS)
CORE_ROLES = ("hips", "head", *(f"{part}_{side}" for side in SIDES for part in (*ARM[1:], *LEG[:3])))
"""The roles without which a rig is not a humanoid to Troupe; `spine` is wanted too but may be empty."""


def frozen(values: npt.ArrayLike, shape: tuple[int | None, ...], what: str) -> Array:
    """Read-only float64 copy of `values`, checked against `shape` (None: any length) and for NaN."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        raise InvalidRig(f"{what} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise InvalidRig(f"{what} contains NaN or infinity")
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints of a character, measured in its neutral stance.

    Attributes:
        names: Joint names, parents first; joint 0 is the hips.
        parents: (J,) index of the parent joint, -1 for joint 0 alone.
        offsets: (J, 3) from the parent joint to the joint in the neutral stance [m]. Row 0 is the place of the root
            (midway between the hip joints) above the ground point between the feet: (0, 0, hip height) or near it.
        tips: (J, 3) from the joint to the end of its own segment in the neutral stance [m]: the next joint of the
            chain, the toe's end, the top of the head.
        roles: Role to the joints that play it, root to tip. A single-joint role has a tuple of one.
        limits: (J, 3, 2) lowest and highest flexion, abduction and rotation [rad]; see `kinematics.anatomy`.
        arm_clearance: Abduction at which the hanging arms clear the body [rad]; zero itself may touch it.
        flesh: (J,) from the segment of a joint to the skin, on the side to which hands close [m]; 0 where it is not
            known, None where nothing was measured.
    """

    names: tuple[str, ...]
    parents: npt.NDArray[np.int64]
    offsets: Array
    tips: Array
    roles: Mapping[str, tuple[int, ...]]
    limits: Array
    arm_clearance: float = 0.0
    flesh: Array | None = None
    _index: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        n = len(names)
        parents = np.array(self.parents, dtype=np.int64)
        parents.flags.writeable = False
        if n == 0 or parents.shape != (n,):
            raise InvalidRig(f"a skeleton needs one parent per joint: {n} names, parents of shape {parents.shape}")
        if parents[0] != -1 or np.any(parents[1:] < 0) or np.any(parents >= np.arange(n)):
            wrong = [names[j] for j in range(n) if (parents[j] != -1 if j == 0 else not 0 <= parents[j] < j)]
            raise InvalidRig(f"joints must come after their parents, joint 0 being the only root; wrong: {wrong[:5]}")
        if len(set(names)) != n:
            raise InvalidRig(f"joint names repeat: {sorted({x for x in names if names.count(x) > 1})[:5]}")
        for role, joints in self.roles.items():
            if role not in ROLES:
                raise InvalidRig(f"unknown role {role!r}; roles are {', '.join(ROLES)}")
            if not joints or any(not 0 <= j < n for j in joints):
                raise InvalidRig(f"role {role!r} names joints {joints} of a skeleton with {n}")
        if self.roles.get("hips", (0,)) != (0,):
            raise InvalidRig("joint 0 must play the role hips")
        put = object.__setattr__
        put(self, "names", names)
        put(self, "parents", parents)
        put(self, "offsets", frozen(self.offsets, (n, 3), "offsets"))
        put(self, "tips", frozen(self.tips, (n, 3), "tips"))
        put(self, "limits", frozen(self.limits, (n, 3, 2), "limits"))
        if self.flesh is not None:
            put(self, "flesh", frozen(self.flesh, (n,), "flesh"))
        put(self, "roles", MappingProxyType({r: tuple(int(j) for j in js) for r, js in self.roles.items()}))
        put(self, "_index", MappingProxyType({name: j for j, name in enumerate(names)}))

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Joint number of a joint name."""
        try:
            return self._index[name]
        except KeyError:
            raise InvalidRig(f"no joint {name!r} in this skeleton; it has {', '.join(self.names[:12])} ...") from None

    def joint(self, role: str) -> int:
        """The joint that plays `role`: the first of a chain."""
        return self.chain(role)[0]

    def chain(self, role: str) -> tuple[int, ...]:
        """The joints that play `role`, root to tip."""
        try:
            return self.roles[role]
        except KeyError:
            raise InvalidRig(f"this character has no {role}; it has {', '.join(self.roles)}") from None

    def has(self, *roles: str) -> bool:
        """Whether every one of the roles is played by some joint."""
        return all(role in self.roles for role in roles)

    def role_of(self) -> dict[int, str]:
        """Joint number to role, for the joints that play one."""
        return {j: role for role, joints in self.roles.items() for j in joints}

    def leg_length(self) -> float:
        """Thigh plus shin, mean of both sides [m]: the unit of length when motion moves between characters."""
        return float(
            np.mean([sum(math.hypot(*self.offsets[self.joint(f"{r}_{s}")]) for r in ("shin", "foot")) for s in SIDES])
        )


@dataclass(frozen=True, eq=False)
class Pose:
    """One instant of a skeleton: `rotations` (J, 4) parent-relative from neutral, `root` (3,) place of the hips [m]."""

    rotations: Array
    root: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotations", frozen(self.rotations, (None, 4), "rotations"))
        object.__setattr__(self, "root", frozen(self.root, (3,), "root"))
