"""Every recording among the test data as a motion, as it was recorded and cleaned."""

import json
from functools import cache

import numpy as np
import pytest
from feet import CMU_UNIT
from troupe.core.filters.despike import despike
from troupe.core.filters.gaps import fill_gaps
from troupe.core.formats import bvh
from troupe.core.kinematics import fk

from ..gait.recordings import read

CMU = (
    *("02_01", "02_03", "02_04", "07_01", "07_12", "09_01", "104_02", "104_11", "104_53"),
    *("111_17", "13_11", "16_17", "16_34", "26_09", "35_01", "91_13"),
)
WALKS = ("02_01", "07_01", "07_12", "16_34", "35_01", "104_02", "olafhaag_walk01", "walk1")
RUNS = ("02_03", "09_01", "104_53")
OTHERS = ("02_04", "104_11", "111_17", "13_11", "16_17", "26_09", "91_13")
CLIPS = (*WALKS, *RUNS, *OTHERS)
"""MakeHuman's other clip shows units of the face; nothing in it moves but that."""


@cache
def recorded(data, name):
    """A clip as it was recorded, on its own skeleton, in metres."""
    folder, unit = {"walk1": ("makehuman", 0.1), "olafhaag_walk01": ("misc", 0.01)}.get(name, ("cmu", CMU_UNIT))
    path = f"mocap/{folder}/{name}.bvh"
    if not (data / path).exists():
        pytest.skip(f"test data absent: {data / path}")
    roles = json.loads((data / "gold_maps.json").read_text(encoding="utf-8"))[path]["map"]
    return read(bvh.read(data / path), {r: [b] if isinstance(b, str) else b for r, b in roles.items()}, unit)


@cache
def cleaned(data, name):
    """A clip without the poses of another kind that some begin with, and without spikes."""
    return despike(fill_gaps(recorded(data, name)))


def knees(motion):
    """(T, 2) how far each knee is bent [rad]."""
    places, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    out = []
    for side in "LR":
        hip, knee, foot = (places[:, motion.skeleton.joint(f"{part}_{side}")] for part in ("thigh", "shin", "foot"))
        upper, lower = knee - hip, foot - knee
        out.append(np.arctan2(np.linalg.norm(np.cross(upper, lower), axis=-1), (upper * lower).sum(axis=-1)))
    return np.stack(out, axis=1)


def alike(a, b):
    """Largest difference of places [m] and rotations [rad]."""
    from troupe.core.maths import quat

    return max(np.abs(a.roots - b.roots).max(), quat.distance(a.rotations, b.rotations).max())
