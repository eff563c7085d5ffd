"""Motions whose footfalls are known, and recorded ones on their own skeletons."""

import json
from functools import cache

import numpy as np
import pytest
from troupe.core import Motion, Skeleton
from troupe.core.formats import bvh
from troupe.core.kinematics import fk
from troupe.core.kinematics.limb_ik import LIMBS, place_limb
from troupe.core.maths import quat

CMU_UNIT = 0.0564444
"""Metres of one unit of the CMU files."""


def body(scale=1.0, toes=True, shin=0.42):
    """A skeleton of two legs and a spine with a sole at height 0."""
    rows = [("hips", -1, (0, 0, 0.94)), ("spine", 0, (0, 0, 0.15)), ("head", 1, (0, 0, 0.45))]
    roles = {"hips": (0,), "spine": (1,), "head": (2,)}
    for side, x in (("L", 0.1), ("R", -0.1)):
        top = len(rows)
        chain = [("thigh", (x, 0, 0)), ("shin", (0, 0, -0.44)), ("foot", (0, 0, -shin)), ("toe", (0, -0.14, -0.06))]
        for k, (part, offset) in enumerate(chain if toes else chain[:3]):
            roles[f"{part}_{side}"] = (len(rows),)
            rows.append((f"{part}_{side}", 0 if k == 0 else top + k - 1, offset))
    names, parents, offsets = zip(*rows, strict=True)
    offsets = np.array(offsets, dtype=float)
    offsets[0, 2] += shin - 0.42
    tips = np.zeros_like(offsets)
    for j, name in enumerate(names):
        if name.startswith("foot"):
            tips[j] = (0, -0.14, -0.06) if toes else (0, -0.21, -0.07)
        elif name.startswith("toe"):
            tips[j] = (0, -0.07, 0)
    limits = np.tile([-np.pi, np.pi], (len(names), 3, 1))
    return Skeleton(names, parents, scale * offsets, scale * tips, roles, limits)


def solved(skeleton, roots, ankles, fps=60.0, **more):
    """The motion of a body upright at `roots` (T, 3) whose level feet have their ankles at (T, 2, 3)."""
    rotations = np.tile(quat.IDENTITY, (len(roots), len(skeleton), 1))
    for k, side in enumerate("LR"):
        positions, globals_ = fk.forward(skeleton, rotations, roots)
        globals_ = place_limb(skeleton, globals_, positions, LIMBS[f"foot_{side}"], ankles[:, k])
        rotations = fk.local_rotations(skeleton, globals_)
    return Motion(skeleton, fps, roots, rotations, **more)


def steps(skeleton, seconds=4.0, fps=60.0, speed=0.9, period=1.1, stance=0.6, lift=0.12, slide=0.0):
    """A walk of level feet along -Y, planted feet sliding sideways at `slide` [m/s]; and (T, 2) which foot is planted.

    The whole is in leg lengths of a metre-scale body: a body of twice the size walks twice as fast.
    """
    size = skeleton.leg_length() / 0.86
    times = np.arange(round(seconds * fps)) / fps
    ankles, planted = np.empty((len(times), 2, 3)), np.empty((len(times), 2), dtype=bool)
    ankle = float(skeleton.offsets[[0, *(skeleton.joint(f"{r}_L") for r in ("thigh", "shin", "foot"))], 2].sum())
    for k, x in enumerate((0.1, -0.1)):
        phase = times / period + 0.5 * k + 0.3
        u = np.clip((phase % 1.0 - stance) / (1.0 - stance), 0.0, 1.0)
        planted[:, k] = phase % 1.0 < stance
        swing = u**3 * (10 - 15 * u + 6 * u * u)
        ankles[:, k, 0] = x * size
        ankles[:, k, 1] = -speed * period * (np.floor(phase) - 0.5 * k - 0.3 + stance / 2 + swing) * size
        ankles[:, k, 2] = ankle + lift * np.sin(np.pi * u) ** 2 * size
        ankles[:, k, 0] += slide * times
    roots = np.column_stack([slide * times, -speed * times * size, np.full(len(times), skeleton.offsets[0, 2])])
    roots[:, 2] -= 0.08 * size
    return solved(skeleton, roots, ankles, fps), planted


def standing(skeleton, seconds=2.0, fps=60.0):
    """Both feet on the ground, nothing moves."""
    count = round(seconds * fps)
    still = np.tile(quat.IDENTITY, (count, len(skeleton), 1))
    return Motion(skeleton, fps, np.tile(skeleton.offsets[0], (count, 1)), still)


@cache
def cmu(data, name):
    """A clip of the CMU library in metres, its zero pose taken as the neutral stance."""
    path = data / "mocap" / "cmu" / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"test data absent: {path}")
    clip = bvh.read(path)
    roles = json.loads((data / "gold_maps.json").read_text(encoding="utf-8"))[f"mocap/cmu/{name}.bvh"]["map"]
    index = {joint: j for j, joint in enumerate(clip.names)}
    turns, places = bvh.local(clip)
    offsets = z_up(clip.offsets) * CMU_UNIT
    heights = offsets[:, 2].copy()
    for j in range(1, len(index)):
        heights[j] += heights[clip.parents[j]]
    offsets[0] = (0.0, 0.0, 0.02 - min(heights[index[roles[f"toe_{s}"]]] for s in "LR"))
    return Motion(
        skeleton=Skeleton(
            names=clip.names,
            parents=clip.parents,
            offsets=offsets,
            tips=[z_up(clip.tips[j]) * CMU_UNIT if j in clip.tips else np.zeros(3) for j in range(len(index))],
            roles={r: tuple(index[j] for j in (b if isinstance(b, list) else [b])) for r, b in roles.items()},
            limits=np.tile([-np.pi, np.pi], (len(index), 3, 1)),
        ),
        fps=1.0 / clip.frame_time,
        roots=z_up(places[:, 0]) * CMU_UNIT,
        rotations=quat.continuous(np.concatenate([turns[..., :1], z_up(turns[..., 1:])], axis=-1)),
    )


def z_up(v):
    """Left, up, forward to left, back, up."""
    return np.stack([v[..., 0], -v[..., 2], v[..., 1]], axis=-1)
