"""A skeleton is checked when it is built and answers questions about its roles."""

import numpy as np
import pytest
from troupe.core.errors import InvalidRig
from troupe.core.skeleton import ROLE_PARENTS, ROLES, Pose, Skeleton


def build(**changes):
    fields = {
        "names": ("hips", "thigh", "shin"),
        "parents": [-1, 0, 1],
        "offsets": [[0, 0, 1], [0.1, 0, 0], [0, 0, -0.5]],
        "tips": np.zeros((3, 3)),
        "roles": {"hips": (0,), "thigh_L": (1,), "shin_L": (2,)},
        "limits": np.zeros((3, 3, 2)),
    }
    return Skeleton(**{**fields, **changes})


def test_roles_lead_to_joints_and_back():
    skeleton = build()
    assert skeleton.joint("shin_L") == 2 and skeleton.index("thigh") == 1
    assert skeleton.role_of() == {0: "hips", 1: "thigh_L", 2: "shin_L"}
    assert skeleton.has("hips", "thigh_L") and not skeleton.has("hips", "head")


def test_arrays_cannot_be_written():
    with pytest.raises(ValueError):
        build().offsets[0, 0] = 5.0


def test_every_role_hangs_from_the_hips():
    for role in ROLES[2:]:
        seen = set()
        while role != "hips":
            assert role not in seen
            seen.add(role)
            role = ROLE_PARENTS[role]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parents": [-1, 0]}, "one parent per joint"),
        ({"parents": [-1, 2, 0]}, "after their parents"),
        ({"parents": [-1, -1, 0]}, "only root"),
        ({"names": ("a", "a", "b")}, "repeat"),
        ({"offsets": np.full((3, 3), np.nan)}, "NaN"),
        ({"offsets": np.zeros((2, 3))}, "shape"),
        ({"roles": {"wing": (0,)}}, "unknown role"),
        ({"roles": {"hips": (0,), "head": (9,)}}, "names joints"),
        ({"roles": {"hips": (1,)}}, "role hips"),
    ],
)
def test_broken_skeletons_are_refused(changes, words):
    with pytest.raises(InvalidRig, match=words):
        build(**changes)


def test_a_missing_role_is_named():
    with pytest.raises(InvalidRig, match="no head; it has hips"):
        build().joint("head")
    with pytest.raises(InvalidRig, match="no joint 'elbow'"):
        build().index("elbow")


def test_a_pose_checks_its_shapes():
    with pytest.raises(InvalidRig, match="root has shape"):
        Pose(np.tile([1.0, 0, 0, 0], (3, 1)), np.zeros(2))
