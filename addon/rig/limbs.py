"""Candidates for arms and legs: three joints in a row, and pairs of them that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...core.skeleton import ARM, LEG, Array
from .names import Hint
from .shape import Flags, Ints, Tree, aside, unit

HOPS = 4
"""A limb segment is split into at most this many bones."""
LIMBS = 300
PAIRS = 40
ARM_PARTS = ("upper_arm", "forearm", "hand")
LEG_PARTS = ("thigh", "shin", "foot")
NAMES = 1.5
"""Weight of a plain name beside the terms of shape, which are about 1 each."""
DETACHED = 0.8
"""Cost of an end joint that does not hang from its limb."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What names say about the nodes of a tree.

    Attributes:
        hints: One per node.
        helper: (n,) 0 for plain names .. 1 for helpers.
        sides: (n,) +1 left, -1 right, 0 unknown.
        beliefs: Body part to (n,) belief, 0..1.
    """

    hints: tuple[Hint, ...]
    helper: Array
    sides: Ints
    beliefs: dict[str, Array]

    def part(self, part: str) -> Array:
        """(n,) belief that each node is `part`."""
        return self.beliefs.get(part, np.zeros(len(self.hints)))


@dataclass(frozen=True, eq=False)
class Limbs:
    """Candidates: (k, 3) joints upper, lower, end; (k, 2) segment lengths and hops; (k,) evidence and sides."""

    joints: Ints
    lengths: Array
    hops: Ints
    shape: Array
    named: Array
    sides: Ints
    contrary: Flags

    def take(self, rows: Ints) -> Limbs:
        """Some of the candidates."""
        return Limbs(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of limbs.

    Attributes:
        joints: (k, 2, 3) nodes upper, lower, end of both.
        lengths: (k,) mean length.
        scores: (k,) evidence without the cost of their difference.
        named: (k,) mean belief of the names, 0..1.
        contrary: (k,) whether names call them the other limb.
        unlike: (k,) cost of their difference.
    """

    joints: Ints
    lengths: Array
    scores: Array
    named: Array
    contrary: Flags
    unlike: Array


def pairs(tree: Tree, evidence: Evidence, parts: Sequence[str]) -> Pairs:
    """The likeliest pairs of limbs whose three joints are `parts`, best first."""
    return _pair(tree, evidence, _limbs(tree, evidence, parts))


def _limbs(tree: Tree, evidence: Evidence, parts: Sequence[str]) -> Limbs:
    table = tree.ancestors(2 * HOPS)
    rows, hops = [], []
    for lower in range(1, HOPS + 1):
        for upper in range(1, HOPS + 1):
            nodes = np.flatnonzero(table[:, lower + upper] >= 0)
            rows.append(np.stack([table[nodes, lower + upper], table[nodes, lower], nodes], axis=1))
            hops.append(np.tile([upper, lower], (len(nodes), 1)))
    rows.append(_detached(tree))
    hops.append(np.tile([1, 0], (len(rows[-1]), 1)))
    joints, steps = np.concatenate(rows), np.concatenate(hops)
    at = tree.heads[joints]
    lengths = np.linalg.norm(np.diff(at, axis=1), axis=2)
    size = np.linalg.norm(np.ptp(tree.heads, axis=0))
    sides = evidence.sides[joints]
    keep = (lengths > 1e-3 * size).all(axis=1) & ~((sides == 1).any(axis=1) & (sides == -1).any(axis=1))
    joints, steps, at, lengths, sides = joints[keep], steps[keep], at[keep], lengths[keep], sides[keep]

    ratio = np.log(lengths[:, 0] / lengths[:, 1])
    beyond = at[:, 2] if parts is LEG_PARTS else tree.centres[joints[:, 2]]
    bend = (unit(at[:, 1] - at[:, 0]) * unit(beyond - at[:, 1])).sum(axis=1)
    shape = 2.0 * np.minimum(1.0, lengths.sum(axis=1) / (0.2 * size))
    shape -= np.minimum(3.0, 0.5 * (ratio / 0.6) ** 2) + np.where(bend < -0.2, 1.0, 0.0) + 0.5 * (1.0 - bend)
    shape -= np.minimum(2.0, 5.0 * np.maximum(0.0, _crookedness(tree, table, joints, steps) - 0.06))
    shape -= 0.1 * np.maximum(steps - 1, 0).sum(axis=1) + np.where(steps[:, 1] == 0, DETACHED, 0.0)
    shape -= 0.4 * _off_main(tree, table, joints, steps)
    if parts is LEG_PARTS:
        shape += 0.5 * _is_foot(tree, joints)
    else:
        shape += 0.5 * _is_hand(tree, joints) + 0.3 * _has_clavicle(tree, joints)
    shape -= 0.7 * _starts_late(tree, joints, parts)
    named = -evidence.helper[joints].sum(axis=1)
    for i, part in enumerate(parts):
        own = evidence.part(part)[joints[:, i]]
        other = np.max([evidence.part(p)[joints[:, i]] for p in (*ARM, *LEG) if p != part], axis=0)
        named += own - np.where(other > own + 0.3, other, 0.0)
    others = LEG_PARTS if parts is ARM_PARTS else ARM_PARTS
    contrary = sum((evidence.part(p)[joints] for p in others), np.zeros(joints.shape)).max(axis=1) > named
    found = Limbs(joints, lengths, steps, shape, named, np.sign(sides.sum(axis=1)), contrary)
    return found.take(np.argsort(-(shape + NAMES * named), kind="stable")[:LIMBS])


def _crookedness(tree: Tree, table: Ints, joints: Ints, steps: Ints) -> Array:
    """(k,) how far the joints that split a segment lie beside it; one that forks is rather the end of a segment."""
    worst = np.zeros(len(joints))
    for segment, (start, end) in enumerate(((0, 1), (1, 2))):
        for hop in range(1, HOPS):
            rows = np.flatnonzero(steps[:, segment] > hop)
            between = table[joints[rows, end], hop]
            off = aside(tree.heads[between], tree.heads[joints[rows, start]], tree.heads[joints[rows, end]])
            worst[rows] = np.maximum(worst[rows], off + 0.12 * (tree.forks[between] > 1))
    return worst


def _off_main(tree: Tree, table: Ints, joints: Ints, steps: Ints) -> Array:
    """(k,) number of joints on the way to the end that are not the largest branch where they fork off."""
    largest = np.array([max((int(tree.sizes[c]) for c in kids), default=0) for kids in tree.children])
    minor = np.append(np.where(tree.parents >= 0, tree.sizes < largest[tree.parents], False), False)
    inner = np.arange(table.shape[1]) < steps.sum(axis=1)[:, None]
    return np.asarray((minor[table[joints[:, 2]]] & inner).sum(axis=1), np.float64)


def _is_foot(tree: Tree, joints: Ints) -> Flags:
    """(k,) whether what follows the end joint turns away from the shin."""
    shin = unit(tree.heads[joints[:, 2]] - tree.heads[joints[:, 1]])
    found = np.zeros(len(joints), bool)
    for child in np.flatnonzero(tree.parents >= 0):
        rows = np.flatnonzero(joints[:, 2] == tree.parents[child])
        way = tree.heads[child] - tree.heads[tree.parents[child]]
        found[rows] |= np.abs(shin[rows] @ way) < 0.85 * np.linalg.norm(way)
    return found


def _starts_late(tree: Tree, joints: Ints, parts: Sequence[str]) -> Flags:
    """(k,) whether the limb begins above already: a bone as long as a segment, or for legs one in line, carries it."""
    above = tree.parents[joints[:, 0]]
    way = tree.heads[joints[:, 0]] - tree.heads[above]
    limb = tree.heads[joints[:, 1]] - tree.heads[joints[:, 0]]
    length, segment = np.linalg.norm(way, axis=1), np.linalg.norm(limb, axis=1)
    if parts is LEG_PARTS:
        late = (length > 0.5 * segment) | ((way * limb).sum(axis=1) > 0.9 * length * segment)
    else:
        late = length > 0.8 * segment
    return np.asarray(_has_clavicle(tree, joints) & late)


def _has_clavicle(tree: Tree, joints: Ints) -> Flags:
    """(k,) whether one bone above carries the limb alone."""
    above = tree.parents[joints[:, 0]]
    return np.asarray((above >= 0) & (tree.forks[above] == 1))


def _is_hand(tree: Tree, joints: Ints) -> Flags:
    """(k,) whether the end joint forks."""
    return np.asarray(tree.forks[joints[:, 2]] > 1)


def _detached(tree: Tree) -> Ints:
    """(k, 3) limbs whose end hangs from elsewhere but sits where the leaf of the limb points (feet under a root)."""
    found: list[list[int]] = []
    for lower in (n for n in range(len(tree)) if tree.sizes[n] < 3 and tree.parents[n] >= 0):
        upper = int(tree.parents[lower])
        way = tree.heads[lower] - tree.heads[upper]
        on = tree.heads - tree.heads[lower]
        far = np.linalg.norm(on, axis=1)
        length = float(np.linalg.norm(way))
        fits = (far > 0.5 * length) & (far < 2.0 * length) & (on @ way > 0.85 * far * length)
        fits &= ~tree.above(np.arange(len(tree)), upper) & ~tree.above(upper, np.arange(len(tree)))
        found.extend([upper, lower, int(end)] for end in np.flatnonzero(fits))
    return np.array(found, np.int64).reshape(-1, 3)


def _pair(tree: Tree, evidence: Evidence, limbs: Limbs) -> Pairs:
    i, j = np.triu_indices(len(limbs.joints), 1)
    upper, end = limbs.joints[:, 0], limbs.joints[:, 2]
    keep = limbs.sides[i] * limbs.sides[j] <= 0
    keep &= ~_nested(tree, upper[i], upper[j]) & (end[i] != end[j])
    i, j = i[keep], j[keep]
    unlike = 5.0 * np.maximum(0.0, np.abs(np.log(limbs.lengths[i] / limbs.lengths[j])) - 0.02).sum(axis=1)
    unlike += 0.5 * (limbs.hops[i] != limbs.hops[j]).any(axis=1)
    unlike = np.minimum(5.0, unlike + 0.7 * np.abs(tree.depths[upper[i]] - tree.depths[upper[j]]))
    single = limbs.shape + NAMES * limbs.named
    score = single[i] + single[j]
    stems = _numbered([h.stem for h in evidence.hints])
    same_stem = (stems[limbs.joints[i]] == stems[limbs.joints[j]]).sum(axis=1)
    score += 0.25 * same_stem * (limbs.sides[i] != limbs.sides[j])

    order = np.argsort(unlike - score, kind="stable")
    chosen: list[int] = []
    seen: dict[tuple[int, int], int] = {}
    for k in order:
        key = (int(upper[i[k]]), int(upper[j[k]]))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= 6:
            chosen.append(int(k))
        if len(chosen) == PAIRS:
            break
    i, j = i[chosen], j[chosen]
    return Pairs(
        np.stack([limbs.joints[i], limbs.joints[j]], axis=1),
        (limbs.lengths[i] + limbs.lengths[j]).sum(axis=1) / 2,
        score[chosen],
        (limbs.named[i] + limbs.named[j]) / 6,
        limbs.contrary[i] & limbs.contrary[j],
        unlike[chosen],
    )


def _nested(tree: Tree, a: Ints, b: Ints) -> Flags:
    return np.asarray(tree.above(a, b) | tree.above(b, a))


def _numbered(stems: list[str]) -> Ints:
    number: dict[str, int] = {}
    return np.array([number.setdefault(s, len(number)) for s in stems], np.int64)
