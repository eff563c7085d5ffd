"""Whether capsules touch anything, for a hundred postures at once, and how far they are from it.

Balls cost two matrix products for all capsules, postures and balls together. Boxes are asked in their own axes: first
whether the capsule's box meets them, then, for the few that do, the exact distance of segment and box; or, where the
box holds a mesh of its own, the distances that its field has along the segment. All large arrays are kept, for memory
that is taken anew for every question costs more than the arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from .distance_field import interpolated
from .solids import Solids
from .space import Bools, Ints

Floats = npt.NDArray[np.float32]
CHUNK = 128
"""Postures that are looked at in one go."""
APART = 0.75
"""Distance between two places at which a field is read along a capsule, in radii."""


class _Room(NamedTuple):
    """Kept arrays, shaped for one count of postures."""

    first: Floats
    second: Floats
    third: Floats
    ball: tuple[Floats, Floats, Floats, Bools]
    box: tuple[Floats, Floats, Floats, Floats, Bools]
    limits: Floats
    long: Floats
    starts: Floats


class Checker:
    """Looks at S capsules of fixed length and radius among solids.

    Args:
        solids: What is in the way.
        lengths, radii: (S,) of the capsules [m].
        beads: Centres (M, 3) and radii (M,) of spheres that are in the way too [m], and
        spared: (M, S) which capsules each of them is not in the way of.
    """

    def __init__(
        self,
        solids: Solids,
        lengths: Array,
        radii: Array,
        beads: tuple[Array, Array] | None = None,
        spared: Bools | None = None,
    ) -> None:
        self.solids = solids
        centres, sizes = solids.centres, solids.radii
        if beads is not None:
            centres, sizes = np.concatenate([centres, beads[0]]), np.concatenate([sizes, beads[1]])
        count, own, boxes = len(radii), 0 if beads is None else len(beads[1]), len(solids.middles)
        self.capsules, self.balls, self.boxes = count, len(sizes), boxes
        self.spared: Bools | None = None
        if spared is not None and spared.any():
            self.spared = np.concatenate([np.zeros((len(sizes) - own, count), dtype=bool), spared])
        as32 = np.float32
        # |c - a|^2 - (R + r)^2 and (c - a) . direction as products of what is known of ball and capsule
        squares = (centres * centres).sum(axis=1) - sizes * sizes
        self._near = np.column_stack([centres, squares, sizes, np.ones(len(sizes))]).astype(as32)
        self._along = np.column_stack([centres, np.ones(len(sizes))]).astype(as32)
        rows = solids.axes.transpose(0, 2, 1)
        shift = -(rows @ solids.middles[:, :, None]).reshape(-1)
        self._frames = np.column_stack([rows.reshape(-1, 3), shift]).astype(as32)
        self._turns = np.ascontiguousarray(self._frames[:, :3])
        self._limits = (solids.halves.reshape(-1)[:, None] + radii).astype(as32)
        self.radii, self.lengths = np.asarray(radii, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
        self._squares = (self.radii**2)[:, None].astype(as32)
        self._minus = (-2.0 * self.radii)[:, None].astype(as32)
        self._long = self.lengths[:, None].astype(as32)
        self._over = (1.0 / np.maximum(self._long, 1e-9)).astype(as32)
        wide = max(self.balls, 3 * boxes) * count * CHUNK
        self._small = [np.empty(n * count * CHUNK, as32) for n in (6, 4, 4, 3)]
        self._big = [np.empty(wide, as32) for _ in range(4)]
        self._flags = np.empty(wide, dtype=bool)
        self._rooms: dict[int, _Room] = {}
        self._fields = _Fields(solids, self.lengths, self.radii)

    def free(self, starts: Array, vectors: Array) -> Bools:
        """Whether postures touch nothing (N,).

        Args:
            starts: (3, S, N) ends of the capsules' axes [m].
            vectors: (3, S, N) from there to the other ends [m].
        """
        count = starts.shape[2]
        if count <= CHUNK:
            return self._free(starts, vectors)
        parts = [slice(k, k + CHUNK) for k in range(0, count, CHUNK)]
        return np.concatenate([self._free(starts[..., p], vectors[..., p]) for p in parts])

    def _room(self, count: int) -> _Room:
        room = self._rooms.get(count)
        if room is None:
            s, balls, boxes, n = self.capsules, self.balls, self.boxes, self.capsules * count
            first, second, third, starts = (
                a[: k * n].reshape(k, s, count) for a, k in zip(self._small, (6, 4, 4, 3), strict=True)
            )
            one, two, three, four = self._big
            ball = tuple(a[: balls * n].reshape(balls, n) for a in (one, two, three))
            box = tuple(a[: 3 * boxes * n].reshape(3 * boxes, n) for a in (one, two, three, four))
            flags = self._flags
            room = self._rooms[count] = _Room(
                first,
                second,
                third,
                (*ball, flags[: balls * n].reshape(balls, n)),  # type: ignore[arg-type]
                (*box, flags[: 3 * boxes * n].reshape(3 * boxes, n)),  # type: ignore[arg-type]
                np.repeat(self._limits, count, axis=1),
                np.repeat(self._long[:, 0], count),
                starts,
            )
        return room

    def _free(self, starts: Array, vectors: Array) -> Bools:
        s, count = self.capsules, starts.shape[2]
        room = self._room(count)
        a, second = room.starts, room.second
        a[...] = starts
        second[:3] = vectors
        hit = np.zeros(count, dtype=bool)
        if self.balls:
            first = room.first
            near, along, off, touch = room.ball
            second[:3] *= self._over
            np.multiply(a, -2.0, out=first[:3])
            first[3] = 1.0
            first[4] = self._minus
            np.subtract(np.einsum("csn,csn->sn", a, a), self._squares, out=first[5])
            np.negative(np.einsum("csn,csn->sn", a, second[:3]), out=second[3])
            np.matmul(self._near, first.reshape(6, -1), out=near)
            np.matmul(self._along, second.reshape(4, -1), out=along)
            np.maximum(along, 0.0, out=off)
            np.minimum(off, room.long, out=off)
            np.subtract(along, off, out=off)
            np.multiply(off, off, out=off)
            np.multiply(along, along, out=along)
            np.subtract(along, off, out=along)
            np.less(near, along, out=touch)
            if self.spared is not None:
                touch.reshape(self.balls, s, count)[self.spared] = False
            hit = np.logical_or.reduce(np.logical_or.reduce(touch, axis=0).reshape(s, count), axis=0)
            second[:3] *= self._long
        if self.boxes:
            self._among_boxes(room, hit)
        return ~hit

    def _among_boxes(self, room: _Room, hit: Bools) -> None:
        """Mark in `hit` (N,) the postures whose capsules are in boxes or fields."""
        s, count, boxes = self.capsules, len(hit), self.boxes
        middle, half, x, y, inside = room.box
        vector, centre = room.second[:3], room.third
        vector *= 0.5
        np.add(room.starts, vector, out=centre[:3])
        centre[3] = 1.0
        np.matmul(self._frames, centre.reshape(4, -1), out=middle)
        np.matmul(self._turns, vector.reshape(3, -1), out=half)
        np.abs(middle, out=x)
        np.abs(half, out=y)
        np.subtract(x, y, out=x)
        np.less(x, room.limits, out=inside)
        near = np.logical_and.reduce(inside.reshape(boxes, 3, s * count), axis=1)
        near.reshape(boxes, s, count)[:, :, hit] = False
        box, pair = np.divmod(np.flatnonzero(near), s * count)
        if not len(box):
            return
        which, posture = np.divmod(pair, count)
        vectors = half.reshape(boxes, 3, -1)[box, :, pair].astype(np.float64)
        begin = middle.reshape(boxes, 3, -1)[box, :, pair] - vectors
        vectors += vectors
        plain = self._fields.number[box] < 0
        if plain.any():
            far = segment_box(begin[plain], vectors[plain], self.solids.halves[box[plain]])
            hit[posture[plain][far < self.radii[which[plain]] ** 2]] = True
        rest = np.flatnonzero(~plain & ~hit[posture])
        if len(rest):
            touches = self._fields.touched(box[rest], which[rest], begin[rest], vectors[rest])
            hit[posture[rest][touches]] = True


class _Fields:
    """The distance fields among solids in one row of numbers, and how thick capsules are to each."""

    def __init__(self, solids: Solids, lengths: Array, radii: Array) -> None:
        known = [k for k, field in enumerate(solids.fields) if field is not None]
        self.number = np.full(len(solids.fields), -1)
        self.number[known] = np.arange(len(known))
        fields = [field for field in solids.fields if field is not None]
        self.counts = np.maximum(1, np.ceil(lengths / (APART * radii)).astype(np.int64))
        if not fields:
            return
        sizes = [field.values.size for field in fields]
        self.first = np.cumsum([0, *sizes[:-1]])
        self.flat = np.concatenate([field.values.ravel() for field in fields])
        self.shape = np.array([field.values.shape for field in fields])
        self.spacing = np.array([field.spacing for field in fields])
        self.zero = np.array([solids.origins[k] + solids.fields[k].origin for k in known])  # type: ignore[union-attr]
        # spheres at the places read, which cover the capsule
        thick = np.hypot(radii, 0.5 * lengths / self.counts)
        self.thick = np.array([thick + field.slack(radii) for field in fields])

    def touched(self, box: Ints, which: Ints, begin: Array, vector: Array) -> Bools:
        """Whether capsules (K,) are in the meshes of these boxes, both given by number; axes (K, 3) in the boxes'."""
        out = np.zeros(len(box), dtype=bool)
        field = self.number[box]
        for capsule in np.unique(which):
            at = np.flatnonzero(which == capsule)
            count = int(self.counts[capsule])
            share = np.linspace(0.0, 1.0, count + 1)
            points = begin[at, None] + share[:, None] * vector[at, None]
            of = np.repeat(field[at], count + 1)
            place = (points.reshape(-1, 3) - self.zero[of]) / self.spacing[of, None]
            inside = ((place >= 0.0) & (place <= self.shape[of] - 1)).all(axis=1)
            if not inside.any():
                continue
            of = of[inside]
            value = interpolated(self.flat, self.shape[of], self.first[of], place[inside])
            bad = np.zeros(len(inside), dtype=bool)
            bad[inside] = value < self.thick[of, capsule]
            out[at] = bad.reshape(len(at), count + 1).any(axis=1)
        return out


def segment_box(begin: Array, vector: Array, half: Array) -> Array:
    """Squared distances (K,) of segments (K, 3) in the axes of boxes to those, of half size (K, 3).

    The distance is convex along the segment, with breaks where a coordinate enters or leaves its slab: between the two
    breaks where its slope changes sign, it is a parabola.
    """
    count = len(begin)
    inverse = 1.0 / np.where(np.abs(vector) < 1e-12, 1e-12, vector)
    t = np.empty((count, 8))
    np.multiply(-half - begin, inverse, out=t[:, :3])
    np.multiply(half - begin, inverse, out=t[:, 3:6])
    t[:, 6], t[:, 7] = 0.0, 1.0
    np.clip(t, 0.0, 1.0, out=t)
    t.sort(axis=1)
    p = begin[:, None] + t[:, :, None] * vector[:, None]
    box = half[:, None]
    p -= np.minimum(np.maximum(p, -box), box)
    slope = np.matmul(p, vector[:, :, None])[:, :, 0]
    k = np.minimum(np.maximum((slope < 0).sum(axis=1), 1), 7)
    row = np.arange(count)
    t0, t1, g0, g1 = t[row, k - 1], t[row, k], slope[row, k - 1], slope[row, k]
    best = np.clip(t0 - g0 * (t1 - t0) / np.maximum(g1 - g0, 1e-30), t0, t1)
    p = begin + best[:, None] * vector
    p -= np.clip(p, -half, half)
    out: Array = (p * p).sum(axis=1)
    return out


def clearance(solids: Solids, starts: Array, ends: Array, radii: Array) -> tuple[Array, Ints]:
    """Gaps (K,) of capsules to the nearest solid [m], negative where they overlap, and its body (K,), -1 for none.

    Those to fields are known up to the band of the field, and never larger than they are. A capsule whose axis is
    within a box counts as overlapping by its radius.

    Args:
        solids: What there is.
        starts, ends: (K, 3) of the capsules' axes [m].
        radii: (K,) [m].
    """
    best, owner = np.full(len(starts), np.inf), np.full(len(starts), -1)
    vectors = ends - starts

    def keep(gap: Array, bodies: Ints) -> None:
        k = gap.argmin(axis=1)
        least = gap[np.arange(len(gap)), k]
        closer = least < best
        best[closer], owner[closer] = least[closer], bodies[k[closer]]

    if len(solids.radii):
        away = solids.centres - starts[:, None]
        along = np.einsum("kbc,kc->kb", away, vectors) / np.maximum((vectors**2).sum(axis=1), 1e-300)[:, None]
        away = away - np.clip(along, 0.0, 1.0)[..., None] * vectors[:, None]
        keep(np.linalg.norm(away, axis=2) - solids.radii - radii[:, None], solids.ball_of)
    if len(solids.middles):
        turned = np.einsum("bij,kbi->kbj", solids.axes, starts[:, None] - solids.middles)
        going = np.einsum("bij,ki->kbj", solids.axes, vectors)
        half = np.broadcast_to(solids.halves, turned.shape)
        far = segment_box(turned.reshape(-1, 3), going.reshape(-1, 3), half.reshape(-1, 3)).reshape(turned.shape[:2])
        gap = np.sqrt(far) - radii[:, None]
        for b, field in enumerate(solids.fields):
            if field is None:
                continue
            near = np.flatnonzero(gap[:, b] < field.band)
            if not len(near):
                continue
            begin, along, thick = turned[near, b] - solids.origins[b], going[near, b], radii[near]
            counts = np.maximum(2, np.ceil(np.linalg.norm(along, axis=1) / (0.5 * APART * thick)).astype(np.int64) + 1)
            first = np.cumsum(counts) - counts
            row = np.repeat(np.arange(len(near)), counts)
            share = (np.arange(len(row)) - first[row]) / (counts[row] - 1)
            values = field.at(begin[row] + share[:, None] * along[row])
            gap[near, b] = np.minimum.reduceat(values, first) - thick - field.slack(thick)
        keep(gap, solids.box_of)
    return best, owner
