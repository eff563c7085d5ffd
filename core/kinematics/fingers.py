"""Fingers that close on something until they touch it, and the shapes a hand is held in before.

Kuffner, "Autonomous Agents for Real-Time Animation" (1999), 5.5: finger joints turn by small steps until the finger
touches the object. All joints of a finger close together first; then, from its root to its tip, each goes on alone.
Every finger and every step of a joint is looked at in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..maths import geometry, quat
from ..maths.geometry import Surface
from ..skeleton import FINGERS, Array, Skeleton, frozen
from ..world import World
from . import anatomy, fk
from .hand_shapes import Angles, hand_shape

STEP = np.radians(2.0)
TOLERANCE = 0.001
"""Gap up to which a finger touches [m]."""
_HALVINGS = 5
_RADII = {"thumb": 0.058, "index": 0.045, "middle": 0.046, "ring": 0.044, "pinky": 0.039}
"""Of the hand's length, in the middle of the finger."""
_PLACES: Array = np.array([0.35, 0.7, 1.0])
"""Where along a phalanx it is looked at."""
_OPENED: Array = np.linspace(0.0, 1.0, 7)
_ASIDE: Array = np.linspace(-1.0, 1.0, 13)
"""Parts of the way to the limits by which a finger is stretched and spread to come out of something."""
_LEVEL = ("index", "middle", "ring")
_TURNS: Array = np.radians(np.linspace(-40.0, 40.0, 641))
"""What the root of a finger may bend more or less than its shape says, to come down as far as the thumb."""
_LEAST = 0.003
"""What a radian of that counts, in metres by which a tip comes down too far."""
_UNDER = 0.006
"""How much farther its skin comes down, so that it goes under what the thumb presses down on, of the hand's length."""


def finger_joints(skeleton: Skeleton, side: str) -> list[int]:
    """All joints of the fingers of a hand."""
    return [j for finger in FINGERS for j in skeleton.roles.get(f"{finger}_{side}", ())]


def shaped(skeleton: Skeleton, rotations: Array, side: str, shape: str, share: float = 0.0) -> Array:
    """Rotations (..., J, 4) with the fingers of one hand in a shape, from open (`share` 0) to closed (1)."""
    out = np.array(rotations)
    for finger in FINGERS:
        role = f"{finger}_{side}"
        if not skeleton.has(role):
            continue
        opened, shut = _angles(skeleton, shape, finger, side)
        for k, joint in enumerate(skeleton.chain(role)):
            out[..., joint, :] = anatomy.from_angles(opened[k] + share * (shut[k] - opened[k]), role)
    return out


def _angles(skeleton: Skeleton, shape: str, finger: str, side: str) -> tuple[Array, Array]:
    """Angles (K, 3) of the joints of a finger, open and closed, within the limits [rad]."""
    held = hand_shape(shape)
    if held.steep is not None and finger in _LEVEL and skeleton.has(f"thumb_{side}"):
        return _levelled(skeleton, side, shape, finger)
    return _told(skeleton, held.opened, finger, side), _told(skeleton, held.closed, finger, side)


def _told(skeleton: Skeleton, table: Mapping[str, Angles], finger: str, side: str) -> Array:
    """Angles (K, 3) of the joints of a finger as a table says, within the limits [rad]."""
    chain = skeleton.chain(f"{finger}_{side}")
    rows = table.get(finger, table["fingers"])
    wanted = np.radians([rows[min(k, len(rows) - 1)] for k in range(len(chain))])
    limits = skeleton.limits[list(chain)]
    return np.clip(wanted, limits[..., 0], limits[..., 1])


@lru_cache(maxsize=256)
def _levelled(skeleton: Skeleton, side: str, shape: str, finger: str) -> tuple[Array, Array]:
    """Angles (K, 3) of the joints of a finger, open and closed, whose root bends so that its tip comes down a little
    farther than that of the thumb: hands of other proportions pick things up alike [rad]."""
    held = hand_shape(shape)
    steep = np.radians(held.steep or 0.0)
    down = np.cos(steep) * palm_axes(side)[:, 0] - np.sin(steep) * np.array([0.0, 0.0, 1.0])
    limits = skeleton.limits[list(skeleton.chain(f"{finger}_{side}"))]
    out = []
    for table in (held.opened, held.closed):
        thumb = _told(skeleton, table, "thumb", side)
        angles = np.repeat(_told(skeleton, table, finger, side)[None], len(_TURNS), axis=0)
        angles[:, 0, 0] += _TURNS
        angles = np.clip(angles, limits[..., 0], limits[..., 1])
        goal = _lowest(skeleton, "thumb", side, thumb, down) + _UNDER * hand_length(skeleton, side)
        # of two ways to come down as far the one that bends less
        off = np.abs(_lowest(skeleton, finger, side, angles, down) - goal) + _LEAST * np.abs(_TURNS)
        out.append(frozen(angles[int(off.argmin())], (None, 3), "angles of a finger"))
    return out[0], out[1]


def _lowest(skeleton: Skeleton, finger: str, side: str, angles: Array, down: Array) -> Array:
    """(...,) how far the skin at the tip of a finger with angles (..., K, 3) is down (3,) from the wrist [m]."""
    role = f"{finger}_{side}"
    place, turn = np.zeros(3), quat.IDENTITY
    for k, joint in enumerate(skeleton.chain(role)):
        place = place + quat.rotate(turn, skeleton.offsets[joint])
        turn = quat.multiply(turn, anatomy.from_angles(angles[..., k, :], role))
    tip = place + quat.rotate(turn, skeleton.tips[skeleton.chain(role)[-1]])
    return np.asarray(tip @ down + phalanx_radii(skeleton, finger, side)[-1])


def phalanx_radii(skeleton: Skeleton, finger: str, side: str) -> tuple[float, ...]:
    """Of the joints of a finger, root to tip: from the bone to the skin it touches with, or what is customary [m]."""
    usual = _RADII[finger] * hand_length(skeleton, side)
    return tuple(_flesh(skeleton, joint) or usual for joint in skeleton.chain(f"{finger}_{side}"))


def palm_depth(skeleton: Skeleton, side: str) -> float:
    """From the bones of a hand to what its palm holds [m]."""
    known = _flesh(skeleton, skeleton.joint(f"hand_{side}"))
    return known + TOLERANCE if known else 0.1 * hand_length(skeleton, side)


def _flesh(skeleton: Skeleton, joint: int) -> float:
    return 0.0 if skeleton.flesh is None else float(skeleton.flesh[joint])


def palm_axes(side: str) -> Array:
    """(3, 3) out of the palm, to the thumb, and the cross product of these, in columns, in the axes of a hand."""
    outward = np.array([1.0 if side == "R" else -1.0, 0.0, 0.0])
    thumb = np.array([0.0, -1.0, 0.0])
    return np.column_stack([outward, thumb, np.cross(outward, thumb)])


@lru_cache(maxsize=64)
def grip_place(skeleton: Skeleton, side: str, shape: str) -> Array:
    """(3,) what of a hand in this shape is brought to an object, from the wrist in the axes of the hand [m]."""
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    grip = hand_shape(shape).grip
    shares = np.linspace(0.0, 1.0, 21) if grip == "tips" else np.zeros(1)
    # where thumb and finger tips come nearest to each other they hold something small
    found = [_gripped(skeleton, shaped(skeleton, still, side, shape, float(s)), side, shape) for s in shares]
    return frozen(min(found, key=lambda held: held[1])[0], (3,), "grip")


def _gripped(skeleton: Skeleton, held: Array, side: str, shape: str) -> tuple[Array, float]:
    """(3,) what a hand held like this grips with [m], and how far thumb and finger tips are from each other [m]."""
    positions, globals = fk.forward(skeleton, held, np.zeros(3))
    hand = skeleton.joint(f"hand_{side}")
    tips = fk.tip_positions(skeleton, positions, globals) - positions[hand]
    outward, thumb, _ = palm_axes(side).T
    long = hand_length(skeleton, side)
    down = np.array([0.0, 0.0, -1.0])
    grip = hand_shape(shape).grip
    ends = {f: tips[skeleton.chain(f"{f}_{side}")[-1]] for f in FINGERS if skeleton.has(f"{f}_{side}")}
    if grip == "tips":
        if {"thumb", "index"} <= set(ends):
            fingers = [ends[f] for f in ("index", "middle") if f in ends and shape != "pinch"] or [ends["index"]]
            other = np.mean(fingers, axis=0)
            return np.asarray(0.5 * (ends["thumb"] + other)), math.hypot(*(ends["thumb"] - other))
        return np.asarray(long * (0.5 * down + 0.4 * outward + 0.15 * thumb)), 0.0
    if grip == "index":
        return (ends["index"] if "index" in ends else np.asarray(long * down)), 0.0
    knuckles = [positions[skeleton.chain(f"{f}_{side}")[0]] - positions[hand] for f in FINGERS[1:] if f in ends]
    middle = np.mean(knuckles, axis=0) if knuckles else 0.47 * long * down
    return np.asarray(0.92 * middle + palm_depth(skeleton, side) * outward), 0.0


@lru_cache(maxsize=32)
def hand_length(skeleton: Skeleton, side: str) -> float:
    """From the wrist to the end of the longest finger in the neutral stance, or what a person's would be [m]."""
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    positions, globals = fk.forward(skeleton, still, np.zeros(3))
    tips = fk.tip_positions(skeleton, positions, globals)
    hand = skeleton.joint(f"hand_{side}")
    ends = [tips[skeleton.chain(f"{f}_{side}")[-1]] for f in FINGERS[1:] if skeleton.has(f"{f}_{side}")]
    if ends:
        return float(np.linalg.norm(np.array(ends) - positions[hand], axis=1).max())
    return 0.72 * math.hypot(*skeleton.offsets[hand])


@lru_cache(maxsize=32)
def pointing_axis(skeleton: Skeleton, side: str) -> Array:
    """(3,) where the index finger of a hand that points with it points to, in the axes of the hand."""
    role = f"index_{side}"
    if not skeleton.has(role):
        return frozen([0.0, 0.0, -1.0], (3,), "axis")
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    positions, globals = fk.forward(skeleton, shaped(skeleton, still, side, "index"), np.zeros(3))
    chain, tips = skeleton.chain(role), fk.tip_positions(skeleton, positions, globals)
    return frozen(quat.unit(tips[chain[-1]] - positions[chain[0]]), (3,), "axis")


@lru_cache(maxsize=64)
def tip_axis(skeleton: Skeleton, side: str) -> Array:
    """(3,) where the last bone of the index finger of a hand that points with it points to, in the axes of the hand."""
    role = f"index_{side}"
    if not skeleton.has(role):
        return pointing_axis(skeleton, side)
    last = skeleton.chain(role)[-1]
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    _, globals = fk.forward(skeleton, shaped(skeleton, still, side, "index"), np.zeros(3))
    return frozen(quat.unit(quat.rotate(globals[last], skeleton.tips[last])), (3,), "axis")


@dataclass(frozen=True, eq=False)
class Grip:
    """Fingers closed on something.

    Attributes:
        rotations: (J, 4) of the whole body, with the fingers closed.
        gaps: By finger, the least gap between it and the object [m]; negative where it is in it.
        touching: Which fingers touch.
    """

    rotations: Array
    gaps: Mapping[str, float]
    touching: tuple[str, ...]

    @property
    def firm(self) -> bool:
        """Whether the thumb and another finger touch."""
        return "thumb" in self.touching and len(self.touching) > 1


def close_fingers(
    skeleton: Skeleton, rotations: Array, root: Array, side: str, shape: str, thing: World | Surface
) -> Grip:
    """Close the fingers of a hand until each touches something or is at the end of its range.

    Args:
        skeleton: J joints.
        rotations: (J, 4) of the body; the fingers may be anyhow.
        root: (3,) place of the hips [m].
        side: "L" or "R".
        shape: Which the hand closes from.
        thing: What it closes on; nothing else counts.
    """
    fingers = [f for f in FINGERS if skeleton.has(f"{f}_{side}")]
    start = shaped(skeleton, rotations, side, shape)
    if not fingers:
        return Grip(start, {}, ())
    hand = _Hand(skeleton, start, root, side, shape, thing, fingers)
    hand.free_fingers()
    share = np.zeros((len(fingers), hand.longest))
    share = hand.swept(share, range(hand.longest), 0)
    for k in range(hand.longest):
        share = hand.swept(share, [k], k)
    gaps = hand.gaps(share[None])[0].min(axis=1)
    out = hand.posed(start, share)
    touching = tuple(f for f, gap in zip(fingers, gaps, strict=True) if gap <= TOLERANCE)
    return Grip(out, {f: float(gap) for f, gap in zip(fingers, gaps, strict=True)}, touching)


def open_fingers(
    skeleton: Skeleton, rotations: Array, root: Array, side: str, shape: str, thing: World | Surface
) -> Array:
    """Rotations (J, 4) with a hand open in a shape, and fingers that would be in something moved out of it.

    Arguments are those of `close_fingers`, which closes from here. A finger stays in the thing where none of its
    postures is clear.
    """
    fingers = [f for f in FINGERS if skeleton.has(f"{f}_{side}")]
    start = shaped(skeleton, rotations, side, shape)
    if not fingers:
        return start
    hand = _Hand(skeleton, start, root, side, shape, thing, fingers)
    hand.free_fingers()
    return hand.posed(start, np.zeros((len(fingers), hand.longest)))


class _Hand:
    """A hand whose fingers close: F fingers with up to K joints."""

    def __init__(
        self,
        skeleton: Skeleton,
        rotations: Array,
        root: Array,
        side: str,
        shape: str,
        thing: World | Surface,
        fingers: list[str],
    ) -> None:
        positions, globals = fk.forward(skeleton, rotations, root)
        hand = skeleton.joint(f"hand_{side}")
        self.place, self.turn = positions[hand], globals[hand]
        self.roles = [f"{finger}_{side}" for finger in fingers]
        self.longest = max(len(skeleton.chain(role)) for role in self.roles)
        count = len(fingers)
        self.opened, self.shut = np.zeros((count, self.longest, 3)), np.zeros((count, self.longest, 3))
        self.offsets, self.tips = np.zeros((count, self.longest, 3)), np.zeros((count, self.longest, 3))
        self.limits, self.radii = np.zeros((count, self.longest, 3, 2)), np.zeros((count, self.longest))
        self.chains = [list(skeleton.chain(role)) for role in self.roles]
        for n, (finger, chain) in enumerate(zip(fingers, self.chains, strict=True)):
            self.opened[n, : len(chain)], self.shut[n, : len(chain)] = _angles(skeleton, shape, finger, side)
            self.offsets[n, : len(chain)], self.tips[n, : len(chain)] = skeleton.offsets[chain], skeleton.tips[chain]
            self.limits[n, : len(chain)] = skeleton.limits[chain]
            self.radii[n, : len(chain)] = phalanx_radii(skeleton, finger, side)
        self.thing = thing if isinstance(thing, Surface) else geometry.index(thing)

    def gaps(self, share: Array) -> Array:
        """Gaps (N, F, K) of phalanges [m] with joints closed by shares (N, F, K)."""
        return self._gaps(self._angles(share))

    def posed(self, rotations: Array, share: Array) -> Array:
        """Rotations (J, 4) with joints closed by shares (F, K)."""
        out, angles = np.array(rotations), self._angles(share)
        for n, (role, chain) in enumerate(zip(self.roles, self.chains, strict=True)):
            out[chain] = anatomy.from_angles(angles[n, : len(chain)], role)
        return out

    def free_fingers(self) -> None:
        """Open fingers that are in the thing by as little more as takes them out of it, or as far out as they go."""
        start = self._gaps(self.opened[None])[0].min(axis=1)
        if (start >= 0.0).all():
            return
        low, high = self.limits[..., 0], self.limits[..., 1]
        flat = np.where(self.shut[..., 0] < self.opened[..., 0], high[..., 0], low[..., 0]) - self.opened[..., 0]
        root, rest, aside = (part.ravel() for part in np.meshgrid(_OPENED, _OPENED, _ASIDE, indexing="ij"))
        tried = np.repeat(self.opened[None], len(root), axis=0)
        tried[:, :, 0, 0] += root[:, None] * flat[:, 0]
        tried[:, :, 1:, 0] += rest[:, None, None] * flat[:, 1:]
        width = np.where(aside[:, None] < 0, self.opened[:, 0, 1] - low[:, 0, 1], high[:, 0, 1] - self.opened[:, 0, 1])
        tried[:, :, 0, 1] += aside[:, None] * width
        gaps = self._gaps(tried).min(axis=2)
        moved = np.abs(tried - self.opened).sum(axis=(2, 3))
        clear = gaps >= TOLERANCE
        best = np.where(clear.any(axis=0), np.where(clear, moved, np.inf).argmin(axis=0), gaps.argmax(axis=0))
        for n in np.flatnonzero(start < 0.0):
            self.opened[n] = tried[best[n], n]

    def _angles(self, share: Array) -> Array:
        """Angles (..., F, K, 3) of joints closed by shares (..., F, K) [rad]."""
        return np.asarray(self.opened + share[..., None] * (self.shut - self.opened))

    def _gaps(self, angles: Array) -> Array:
        """Gaps (N, F, K) of phalanges [m] with joints at angles (N, F, K, 3) [rad]."""
        count = len(angles)
        local = np.stack([anatomy.from_angles(angles[:, n], role) for n, role in enumerate(self.roles)], axis=1)
        place = np.broadcast_to(self.place, (count, len(self.roles), 3))
        turn = np.broadcast_to(self.turn, (count, len(self.roles), 4))
        points = np.empty((count, len(self.roles), self.longest, len(_PLACES), 3))
        for k in range(self.longest):
            place = place + quat.rotate(turn, self.offsets[:, k])
            turn = quat.multiply(turn, local[:, :, k])
            points[:, :, k] = place[:, :, None] + _PLACES[:, None] * quat.rotate(turn, self.tips[:, k])[:, :, None]
        reach = float(self.radii.max()) + 0.02
        _, far, _, _ = geometry.nearest(self.thing, points.reshape(-1, 3), reach=reach)
        far = np.where(np.isfinite(far), far, reach).reshape(points.shape[:-1]).min(axis=-1)
        return np.asarray(far - self.radii)

    def swept(self, share: Array, joints: range | list[int], first: int) -> Array:
        """Shares (F, K) with these joints closed on until a phalanx from `first` on touches, or to the end."""
        joints = list(joints)
        travel = np.abs(self.shut - self.opened).max(axis=-1)[:, joints].max(axis=1)
        steps = max(1, int(np.ceil((travel * (1.0 - share[:, joints].min(axis=1))).max() / STEP)))
        part = np.linspace(0.0, 1.0, steps + 1)

        def at(part: Array) -> Array:
            """Shares (..., F, K) with the joints closed by parts (..., F) of what is left."""
            out = np.array(np.broadcast_to(share, (*part.shape[:-1], *share.shape)))
            out[..., joints] += part[..., None] * (1.0 - out[..., joints])
            return out

        gaps = self.gaps(at(np.repeat(part[:, None], len(share), axis=1)))[:, :, first:].min(axis=2)
        hit = gaps <= 0.0
        # a finger that touches already stays
        touches = gaps[0] <= TOLERANCE
        never = ~hit.any(axis=0)
        k = np.where(never, steps, np.maximum(hit.argmax(axis=0) - 1, 0))
        low = np.where(touches, 0.0, part[k])
        high = np.where(touches | never, low, part[np.minimum(k + 1, steps)])
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            clear = self.gaps(at(middle[None]))[0][:, first:].min(axis=1) > 0.0
            low, high = np.where(clear, middle, low), np.where(clear, high, middle)
        return np.asarray(at(low[None])[0])
