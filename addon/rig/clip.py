"""BVH files as characters: roles by detection, the world's up from how the figure stands in the clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.errors import InvalidMotion
from ...core.formats import bvh
from ...core.kinematics.cast import Cast, read_joints
from ...core.kinematics.learn import learn_from
from ...core.kinematics.measure import cast_rig
from ...core.maths import quat
from ...core.motion import Motion
from ...core.skeleton import Array
from .detection import Bones, detect

PERSON_LEG = 0.9
"""Legs [m] of the person that a clip in unknown units is taken for."""


def read_bvh(path: str | Path) -> Motion:
    """The motion of a BVH file, in metres, Z up."""
    clip = bvh.read(path)
    places, rotations = bvh.world(clip)
    heads = _rest_places(clip)
    tails = np.array(
        [heads[j] + clip.tips[j] if j in clip.tips else _first_child(clip, heads, j) for j in range(len(heads))]
    )
    parents = np.asarray(clip.parents)
    roles = detect(Bones(clip.names, parents, heads, tails, np.ones(len(heads), bool))).roles
    index = {name: j for j, name in enumerate(clip.names)}
    head = places[:, index[roles["head"][0]]]
    feet = (places[:, index[roles["foot_L"][0]]] + places[:, index[roles["foot_R"][0]]]) / 2
    to_world = quat.to_matrix(_up_to_z(quat.unit(head - feet).mean(axis=0)))
    rest = np.zeros((len(heads), 4, 4))
    rest[:] = np.eye(4)
    rest[:, :3, 3] = heads

    def cast_at(scale: float) -> Cast:
        world = np.eye(4)
        world[:3, :3] = to_world * scale
        return cast_rig(clip.names, parents, rest, roles, tails=tails, deform=np.ones(len(heads), bool), world=world)

    cast = cast_at(1.0)
    leg = cast.skeleton.leg_length()
    if not 0.2 <= leg <= 2.0:
        cast = cast_at(PERSON_LEG / leg)
    if clip.frame_time <= 0 or not len(places):
        raise InvalidMotion(f"{Path(path).name} has no frames")
    matrices = np.zeros((*places.shape[:2], 4, 4))
    matrices[..., :3, :3] = to_world @ quat.to_matrix(rotations)
    matrices[..., :3, 3] = places @ to_world.T * cast.unit
    matrices[..., 3, 3] = 1.0
    matrices = matrices[:, cast.joints]
    cast = learn_from(cast, matrices)
    roots, turns = read_joints(cast, matrices)
    return Motion(cast.skeleton, 1.0 / clip.frame_time, roots, turns)


def _rest_places(clip: bvh.Bvh) -> Array:
    heads = np.array(clip.offsets)
    for j, p in enumerate(clip.parents):
        if p >= 0:
            heads[j] += heads[p]
    return heads


def _first_child(clip: bvh.Bvh, heads: Array, joint: int) -> Array:
    children = np.flatnonzero(np.asarray(clip.parents) == joint)
    return heads[children[0]] if len(children) else heads[joint]


def _up_to_z(up: Array) -> Array:
    """Rotation of the file's up axis to Z; the usual Y up becomes x, -z, y."""
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    return quat.between(axes[np.argmax(axes @ up)], np.array([0.0, 0.0, 1.0]))
