"""Neck, head and eyes as one chain that is aimed link by link; see `gaze` for the order and the timing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..maths import quat, trig
from ..maths.ramp import lerp, smoothstep, wrap
from ..motion import Motion
from ..skeleton import SIDES, Array
from . import anatomy, fk


class Limits(NamedTuple):
    """How far each link turns to the side and up or down [rad]; never farther than the skeleton's own limits."""

    neck: tuple[float, float] = (np.radians(45.0), np.radians(25.0))
    head: tuple[float, float] = (np.radians(35.0), np.radians(30.0))
    eyes: tuple[float, float] = (np.radians(40.0), np.radians(30.0))


FORWARD = np.array([0.0, -1.0, 0.0])
"""Where every link faces in the neutral stance."""
_EYES = np.array([0.0, -0.52, 0.33])
"""Between the eyes from the head joint, on a head without them [lengths of the head's segment]."""
_PARTED = np.radians(4.0)
"""Eyes of which one is held back by its limit by this much look in one direction [rad]."""
_STEEPEST = np.radians(170.0)

Way = tuple[Array | None, Array, Array]
"""A target (T, 3) or nothing, its azimuth from the chest (T,) and how far gaze has gone over to it (T,)."""


@dataclass(frozen=True, eq=False)
class Face:
    """Neck, head and eyes of a motion, T samples.

    Attributes:
        neck_joints, head_joint, eyes: The joints; there may be no neck and no eyes.
        neck: (T, n, 4) rotations of the neck's joints, `head` (T, 4) and `rest` (T, E, 4) those of head and eyes.
        ahead: (T, 3) unit vector in the world along which the body itself looks.
        below: (T, 4) world rotation of what the neck stands on, `root` (T, 3) place of the lowest of these joints [m].
        steps: (n + 1, 3) from each joint to the next up to the head, the last unused [m].
        sockets: (E, 3) eyes from the head joint, `middle` (3,) between them [m].
        reach: Azimuth and elevation that neck, head and eyes may have [rad].
    """

    neck_joints: tuple[int, ...]
    head_joint: int
    eyes: tuple[int, ...]
    neck: Array
    head: Array
    rest: Array
    ahead: Array
    below: Array
    root: Array
    steps: Array
    sockets: Array
    middle: Array
    reach: tuple[Array, Array, Array]

    @classmethod
    def of(cls, motion: Motion, limits: Limits, eyes: bool) -> Face:
        """The face of a motion."""
        skeleton = motion.skeleton
        head = skeleton.joint("head")
        neck = skeleton.roles.get("neck", ())
        found = tuple(skeleton.joint(f"eye_{s}") for s in SIDES if eyes and skeleton.has(f"eye_{s}"))
        positions, globals_ = fk.forward(skeleton, motion.rotations, motion.roots)
        chain = (*neck, head)
        sockets = skeleton.offsets[list(found)]
        length = math.hypot(*skeleton.tips[head])
        middle = sockets.mean(axis=0) if found else length * _EYES
        rest = motion.rotations[:, list(found)]
        facing = quat.rotate(rest, FORWARD).sum(axis=1) if found else np.tile(FORWARD, (len(motion), 1))
        both = limits.neck[0] + limits.head[0], limits.neck[1] + limits.head[1]
        return cls(
            neck,
            head,
            found,
            motion.rotations[:, list(neck)],
            motion.rotations[:, head],
            rest,
            quat.unit(quat.rotate(globals_[:, head], facing)),
            globals_[:, skeleton.parents[chain[0]]],
            positions[:, chain[0]],
            np.concatenate([skeleton.offsets[list(chain[1:])], np.zeros((1, 3))]),
            sockets,
            middle,
            (
                _reach(motion, neck, limits.neck, (2, 0)) * len(neck) if neck else np.zeros(2),
                _reach(motion, (head,), limits.head if neck else both, (2, 0)),
                _reach(motion, found, limits.eyes, (1, 0)),
            ),
        )

    def carried(self, neck: Array, head: Array) -> tuple[Array, Array, Array, Array]:
        """Where the head joint is (T, 3), the world rotation it stands on and its own (T, 4), and between the eyes."""
        turn, place = self.below, self.root
        for k in range(len(self.neck_joints)):
            turn = quat.multiply(turn, neck[:, k])
            place = place + quat.rotate(turn, self.steps[k])
        own = quat.multiply(turn, head)
        return place, turn, own, place + quat.rotate(own, self.middle)

    def bearing(self, points: Array) -> Array:
        """Azimuth (T,) of points (T, 3) from where the neck stands."""
        return _directions(quat.rotate(quat.conjugate(self.below), points - self.root))[:, 0]

    def _facing(self, turn: Array) -> Array:
        """Azimuth (T,) from there of where world rotations (T, 4) face."""
        return _directions(quat.rotate(quat.multiply(quat.conjugate(self.below), turn), FORWARD))[:, 0]

    def attained(self, turn: Array, aim: Array, side: Array) -> Array:
        """Unit vectors (T, 3) in the world to where eyes get that aim (T, 3) from a head turned by (T, 4)."""
        local = _directions(quat.rotate(quat.conjugate(turn), aim))
        return quat.rotate(turn, _vectors(_held(_sided(local, side - self._facing(turn)), self.reach[2])))

    def turned(
        self, neck: Array, head: Array, points: Array, side: Array, share: Array, move: Array
    ) -> tuple[Array, Array]:
        """Neck (T, n, 4) and head (T, 4) turned from where they are towards points (T, 3): the neck first.

        Args:
            neck, head: Where they are.
            points: In the world [m].
            side: (T,) azimuth of the target from the chest, beyond a half turn where it has passed behind.
            share: (T,) part of the way they go together when they are there.
            move: (T,) how far they have come, 0 to 1.
        """
        lower = 0.5 * share if self.neck_joints else np.zeros_like(share)
        if self.neck_joints:
            local = quat.rotate(quat.conjugate(self.below), points - self.root)
            aim = _aimed(local, self.reach[0], lower, side)
            parts = anatomy.spread(aim, len(self.neck_joints))
            neck = quat.slerp(neck, parts, (lower * move)[:, None])
            neck = _within(neck, self.neck, self.reach[0] / len(self.neck_joints))
        place, stand, _, _ = self.carried(neck, head)
        upper = (share - lower) / np.maximum(1.0 - lower, 1e-9)
        local = quat.rotate(quat.conjugate(stand), points - place)
        aim = _aimed(local, self.reach[1], upper, side - self._facing(stand), self.middle)
        return neck, _within(quat.slerp(head, aim, upper * move), self.head, self.reach[1])

    def looking(self, neck: Array, head: Array, ways: Sequence[Way], drift: Array | None) -> Array:
        """Rotations (T, E, 4) of the eyes on a head that is where it is, through all shifts of gaze."""
        place, _, own, _ = self.carried(neck, head)
        back = quat.conjugate(own)[:, None]
        held = quat.rotate(self.rest, FORWARD)
        reach = _widened(self.reach[2], self.rest)
        base = quat.rotate(quat.multiply(quat.conjugate(own), _turn(self))[:, None], held)
        now = _held(_directions(base), reach)
        sockets = place[:, None] + quat.rotate(own[:, None], self.sockets)
        weight = np.zeros((len(place), 1, 1))
        facing = self._facing(own)
        for points, side, done in ways:
            if points is None:
                clamped = _held(_directions(base), reach)
            else:
                directions = _directions(quat.rotate(back, points[:, None] - sockets))
                wanted = _sided(directions, (side - facing)[:, None])
                clamped = _together(wanted, _held(wanted, reach))
            step = done[:, None, None]
            now, weight = lerp(now, clamped, step), lerp(weight, float(points is not None), step)
        if drift is not None:
            now = _held(now + weight * drift[:, None], reach)
        torsion = quat.multiply(quat.conjugate(quat.between(FORWARD, held)), self.rest)
        return quat.multiply(quat.between(FORWARD, _vectors(now)), torsion)


def _turn(face: Face) -> Array:
    """World rotation (T, 4) of the head as the body itself has it."""
    return face.carried(face.neck, face.head)[2]


def _reach(motion: Motion, joints: Sequence[int], limit: tuple[float, float], angles: tuple[int, int]) -> Array:
    """Azimuth and elevation (2,) within a limit and within those of the skeleton, by its `angles` of the joints."""
    if not joints:
        return np.array(limit)
    own: Array = np.abs(motion.skeleton.limits[list(joints)][:, list(angles)]).min(axis=(0, 2))
    return np.minimum(np.array(limit) / (len(joints) if angles[0] == 2 else 1), own)


def _directions(vectors: Array) -> Array:
    """Azimuth and elevation (..., 2) of vectors (..., 3)."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.stack([trig.arctan2(x, -y), trig.arctan2(z, np.hypot(x, y))], axis=-1)


def _vectors(directions: Array) -> Array:
    """Unit vectors (..., 3) of azimuth and elevation (..., 2)."""
    azimuth, elevation = directions[..., 0], directions[..., 1]
    flat = trig.cos(elevation)
    return np.stack([trig.sin(azimuth) * flat, -trig.cos(azimuth) * flat, trig.sin(elevation)], axis=-1)


def _sided(directions: Array, near: Array) -> Array:
    """Directions (T, ..., 2) whose azimuths are within half a turn of `near` (T, ...)."""
    out = directions.copy()
    out[..., 0] = near + wrap(directions[..., 0] - near)
    return out


def _aimed(local: Array, reach: Array, share: Array, near: Array, middle: Array | None = None) -> Array:
    """Shortest rotations (T, 4) that face places (T, 3), no farther than a link that goes a `share` of it may.

    With `middle` (3,), a point fixed to the link, its line of sight goes through the place.
    """
    directions = _sided(_directions(local), near)
    widest = np.minimum(reach / np.maximum(share, 1e-3)[:, None], (_STEEPEST, 0.5 * np.pi))
    held = np.clip(directions, -widest, widest)
    aim = quat.between(FORWARD, _vectors(held))
    if middle is None:
        return aim
    # the point of the line of sight that is as far away as the place
    far2, level = quat.dot(local, local), float(middle @ FORWARD)
    ahead = np.sqrt(np.maximum(far2 - middle @ middle + level * level, 1e-6)) - level
    sight = middle + np.maximum(ahead, 0.02)[:, None] * FORWARD
    beside = np.clip(_directions(sight), -0.5, 0.5)
    return quat.multiply(aim, quat.conjugate(quat.between(FORWARD, _vectors(beside))))


def _within(rotations: Array, before: Array, reach: Array) -> Array:
    """Rotations (T, ..., 4) that face no farther than `reach`, or than the body itself did `before`."""
    directions = _directions(quat.rotate(rotations, FORWARD))
    held = _held(directions, _widened(reach, before))
    if np.array_equal(held, directions):
        return rotations
    return quat.multiply(quat.between(_vectors(directions), _vectors(held)), rotations)


def _widened(reach: Array, rotations: Array) -> Array:
    """`reach` (2,) widened where the body itself, by its rotations (T, ..., 4), goes beyond it: (T, ..., 2)."""
    far = _directions(quat.rotate(rotations, FORWARD)) / reach
    return np.asarray(reach * np.maximum(np.sqrt((far * far).sum(axis=-1, keepdims=True)), 1.0))


def _held(directions: Array, reach: Array) -> Array:
    """Directions (T, ..., 2) brought within an ellipse of half-axes `reach`."""
    box = np.clip(directions, -reach, reach)
    far = np.sqrt(((box / reach) ** 2).sum(axis=-1, keepdims=True))
    return np.asarray(box / np.maximum(far, 1.0))


def _together(wanted: Array, held: Array) -> Array:
    """Directions (T, E, 2) of eyes held by their limits: in one direction, so that they do not look apart."""
    if held.shape[1] < 2:
        return held
    apart = np.abs(wanted - held).max(axis=(1, 2))
    share = smoothstep(apart / _PARTED)[:, None, None]
    return lerp(held, held.mean(axis=1, keepdims=True), share)


def between_eyes(motion: Motion) -> Array:
    """World places (T, 3) between the eyes of a motion [m]: what others look at."""
    face = Face.of(motion, Limits(), True)
    return face.carried(face.neck, face.head)[3]
