"""Rigs made from the mannequin: any rest pose, facing, scale and bone axes."""

import numpy as np
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import fk
from troupe.core.kinematics.anatomy import with_angles
from troupe.core.kinematics.measure import cast_rig
from troupe.core.maths import quat

T_POSE = {f"upper_arm_{s}": (0, 90, 0) for s in "LR"}
A_POSE = {
    **{f"upper_arm_{s}": (0, 40, 0) for s in "LR"},
    **{f"forearm_{s}": (12, 0, 0) for s in "LR"},
    **{f"shin_{s}": (4, 0, 0) for s in "LR"},
    **{f"foot_{s}": (4, 0, 0) for s in "LR"},
}


class Rig:
    """Bones in armature space, one a joint of a mannequin, with axes turned by `axes` (J, 4)."""

    def __init__(self, rest=None, facing=None, scale=1.0, seed=0, height=1.75):
        self.skeleton = mannequin(height)
        n = len(self.skeleton)
        facing = quat.IDENTITY if facing is None else facing
        still = np.tile(quat.IDENTITY, (1, n, 1))
        angles = {role: np.radians(a)[None] for role, a in (rest or {}).items()}
        turned = with_angles(self.skeleton, still, angles)[0]
        places, globals_ = fk.forward(self.skeleton, turned, self.skeleton.offsets[0])
        rng = np.random.default_rng(seed)
        self.axes = quat.unit(rng.normal(size=(n, 4)))
        self.facing, self.scale = facing, scale
        self.rest = np.zeros((n, 4, 4))
        self.rest[:, :3, :3] = quat.to_matrix(quat.multiply(quat.multiply(facing, globals_), self.axes))
        self.rest[:, :3, 3] = quat.rotate(facing, places) / scale
        self.rest[:, 3, 3] = 1.0
        self.roles = {r: tuple(self.skeleton.names[j] for j in js) for r, js in self.skeleton.roles.items()}

    def cast(self, **changes):
        world = np.diag([self.scale, self.scale, self.scale, 1.0])
        fields = {"roles": self.roles, "world": world, **changes}
        return cast_rig(self.skeleton.names, self.skeleton.parents, self.rest, **fields)
