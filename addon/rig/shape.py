"""Bones as a tree of joints: what hierarchy and position alone can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...core.errors import InvalidRig
from ...core.skeleton import Array

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ALONG = 0.03
"""How far [of its length] a bone may lie beside another and still be taken for a copy of a part of it."""


@dataclass(frozen=True, eq=False)
class Bones:
    """What detection sees of an armature, at rest, in armature space of any unit and any facing.

    Attributes:
        names: Bone names, parents first.
        parents: (N,) index of the parent, -1 for none.
        heads: (N, 3) joints.
        tails: (N, 3) ends; glTF imports have arbitrary ones, so they only support other evidence.
        deform: (N,) whether the bone deforms meshes.
    """

    names: tuple[str, ...]
    parents: Ints
    heads: Array
    tails: Array
    deform: Flags

    def __post_init__(self) -> None:
        n = len(self.names)
        put = object.__setattr__
        put(self, "names", tuple(self.names))
        put(self, "parents", np.asarray(self.parents, np.int64).reshape(-1))
        put(self, "heads", np.asarray(self.heads, np.float64).reshape(-1, 3))
        put(self, "tails", np.asarray(self.tails, np.float64).reshape(-1, 3))
        put(self, "deform", np.asarray(self.deform, bool).reshape(-1))
        if any(len(a) != n for a in (self.parents, self.heads, self.tails, self.deform)):
            raise InvalidRig(f"{n} bone names, but arrays for {len(self.parents)} and {len(self.heads)} bones")
        if len(set(self.names)) != n:
            raise InvalidRig("bone names repeat: each bone needs its own")
        wrong = (self.parents < -1) | (self.parents >= np.arange(n))
        if wrong.any():
            raise InvalidRig(f"bones must come after their parents; {self.names[int(wrong.argmax())]!r} does not")
        broken = ~np.isfinite(np.concatenate([self.heads, self.tails], axis=1)).all(axis=1)
        if broken.any():
            name = self.names[int(broken.argmax())]
            raise InvalidRig(f"bone {name!r} has no finite rest position: set it in Edit Mode")

    def __len__(self) -> int:
        return len(self.names)

    def sorted(self) -> Bones:
        """The same bones by depth, then name: results do not depend on the order in which a file lists them."""
        depth = np.zeros(len(self), np.int64)
        for b, p in enumerate(self.parents):
            depth[b] = depth[p] + 1 if p >= 0 else 0
        order = sorted(range(len(self)), key=lambda b: (depth[b], self.names[b]))
        place = np.empty(len(self) + 1, np.int64)
        place[order] = np.arange(len(self))
        place[-1] = -1
        return Bones(
            tuple(self.names[b] for b in order),
            place[self.parents[order]],
            self.heads[order],
            self.tails[order],
            self.deform[order],
        )


@dataclass(frozen=True, eq=False)
class Tree:
    """Some of a rig's bones and how they hang together.

    Attributes:
        bones: (n,) bone of each node.
        parents: (n,) node above, -1 for none; in any order.
        heads: (n, 3) joints.
    """

    bones: Ints
    parents: Ints
    heads: Array
    children: tuple[tuple[int, ...], ...] = field(init=False)
    _first: Ints = field(init=False)
    _last: Ints = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.bones)
        below: list[list[int]] = [[] for _ in range(n)]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        first, last = np.zeros(n, np.int64), np.zeros(n, np.int64)
        order: list[int] = []
        stack = [int(r) for r in np.flatnonzero(self.parents < 0)[::-1]]
        while stack:
            node = stack.pop()
            first[node] = len(order)
            order.append(node)
            stack.extend(reversed(below[node]))
        for node in reversed(order):
            last[node] = max((last[c] for c in below[node]), default=first[node])
        put = object.__setattr__
        put(self, "children", tuple(tuple(c) for c in below))
        put(self, "_first", first)
        put(self, "_last", last)

    def __len__(self) -> int:
        return len(self.bones)

    def above(self, a: int | Ints, b: int | Ints) -> Flags:
        """Whether node a is b or an ancestor of b; arrays broadcast."""
        first = self._first
        return np.asarray((first[a] <= first[b]) & (first[b] <= self._last[a]))

    @cached_property
    def sizes(self) -> Ints:
        """(n,) number of nodes in each subtree, itself included."""
        return self._last - self._first + 1

    @cached_property
    def forks(self) -> Ints:
        """(n,) number of children."""
        return np.array([len(c) for c in self.children], np.int64)

    @cached_property
    def centres(self) -> Array:
        """(n, 3) mean head of each subtree."""
        order = np.argsort(self._first, kind="stable")
        sums = np.concatenate([np.zeros((1, 3)), np.cumsum(self.heads[order], axis=0)])
        return np.asarray((sums[self._last + 1] - sums[self._first]) / self.sizes[:, None])

    @cached_property
    def depths(self) -> Ints:
        """(n,) number of ancestors."""
        depth = np.zeros(len(self), np.int64)
        for node in np.argsort(self._first, kind="stable"):
            parent = self.parents[node]
            depth[node] = depth[parent] + 1 if parent >= 0 else 0
        return depth

    def path(self, node: int) -> list[int]:
        """Nodes from the top down to `node`."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parents[node])
        return found[::-1]

    def below(self, node: int) -> list[int]:
        """Nodes of the subtree, `node` first, parents before children."""
        found = [node]
        for at in found:
            found.extend(self.children[at])
        return found

    def common(self, *nodes: int) -> int:
        """The deepest node above all of `nodes`, -1 when they hang from nothing in common."""
        at = nodes[0]
        while at >= 0 and not all(self.above(at, node) for node in nodes):
            at = int(self.parents[at])
        return at

    def ancestors(self, hops: int) -> Ints:
        """(n, hops + 1) the node itself, its parent, its parent's parent ..., -1 past the top."""
        table = np.full((len(self), hops + 1), -1, np.int64)
        table[:, 0] = np.arange(len(self))
        padded = np.append(self.parents, -1)
        for k in range(hops):
            table[:, k + 1] = padded[table[:, k]]
        return table

    def hung(self, links: dict[int, int]) -> Tree:
        """The tree with some nodes hung from others instead, but for links that would close a ring."""
        parents = self.parents.copy()
        for node, parent in links.items():
            at = parent
            while at >= 0 and at != node:
                at = int(parents[at])
            if at < 0:
                parents[node] = parent
        return Tree(self.bones, parents, self.heads)


def whole_tree(bones: Bones) -> Tree:
    """All bones, as parented."""
    return Tree(np.arange(len(bones)), bones.parents, bones.heads)


def deform_tree(bones: Bones) -> Tree:
    """The deforming bones alone, each hung from the deforming bone that its nearest ancestor is or lies along.

    In control rigs the deforming bones hang from mechanism bones, which copy the anatomy in place. A bone that carries
    several deforming ones and is no such copy (hips without weights) is anatomy, too.
    """
    carried = np.bincount(bones.parents[bones.deform & (bones.parents >= 0)], minlength=len(bones))
    deforming = np.flatnonzero(bones.deform)
    bare = [b for b in np.flatnonzero(~bones.deform & (carried > 1)) if not _lying_along(bones, int(b), deforming)]
    kept = np.sort(np.concatenate([deforming, np.array(bare, np.int64)]))
    node_of = {int(b): i for i, b in enumerate(kept)}
    whole = whole_tree(bones)
    copies: dict[int, list[int]] = {}
    parents = np.full(len(kept), -1, np.int64)

    def hangs_from(node: int, other: int) -> bool:
        while other >= 0 and other != node:
            other = int(parents[other])
        return other == node

    for node, bone in enumerate(kept):
        at = int(bones.parents[bone])
        while at >= 0 and parents[node] < 0:
            if at in node_of:
                parents[node] = node_of[at]
                break
            if at not in copies:
                copies[at] = _lying_along(bones, at, kept)
            for copy in copies[at]:
                if not whole.above(int(bone), int(kept[copy])) and not hangs_from(node, copy):
                    parents[node] = copy
                    break
            at = int(bones.parents[at])
    return Tree(kept, parents, bones.heads[kept])


def joined(tree: Tree, tails: Array, start: int) -> Tree:
    """The tree with its loose parts hung, nearest first, from the bones they touch, beginning with the part of `start`.

    Deforming bones exported without the mechanism they hung from lie in many parts.
    """
    tops = np.array([tree.path(n)[0] for n in range(len(tree))])
    hung = tops == tops[start]
    loose = sorted(set(tops[~hung].tolist()))
    links: dict[int, int] = {}
    child = np.flatnonzero(tree.parents >= 0)
    bone = np.concatenate([tree.parents[child], np.arange(len(tree))])
    begin, end = tree.heads[bone], np.concatenate([tree.heads[child], tails])
    while loose:
        usable = np.flatnonzero(hung[bone])
        a, way = begin[usable], end[usable] - begin[usable]
        gaps = np.empty(len(loose))
        near = np.empty(len(loose), np.int64)
        for k, top in enumerate(loose):
            t = np.clip(((tree.heads[top] - a) * way).sum(axis=1) / np.maximum((way * way).sum(axis=1), 1e-300), 0, 1)
            gap = np.linalg.norm(tree.heads[top] - a - t[:, None] * way, axis=1)
            near[k], gaps[k] = usable[gap.argmin()], gap.min()
        for nearest in np.flatnonzero(gaps <= gaps.min() * 1.0001 + 1e-12).tolist():
            links[loose[nearest]] = int(bone[near[nearest]])
            hung |= tops == loose[nearest]
        loose = [top for top in loose if top not in links]
    return tree.hung(links)


def _lying_along(bones: Bones, bone: int, kept: Ints) -> list[int]:
    """Nodes of `kept` that lie on the bone from end to end, the furthest along first."""
    start, way = bones.heads[bone], bones.tails[bone] - bones.heads[bone]
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return []
    inside = np.ones(len(kept), bool)
    reach = np.zeros(len(kept))
    for ends in (bones.tails[kept], bones.heads[kept]):
        reach = (ends - start) @ way / length**2
        aside = np.linalg.norm(ends - start - np.clip(reach, 0, 1)[:, None] * way, axis=1)
        inside &= aside < ALONG * length
    found = np.flatnonzero(inside)
    return [int(i) for i in found[np.argsort(-reach[found], kind="stable")]]


def aside(points: Array, start: Array, end: Array) -> Array:
    """Distance of points from the segments start-end, as a share of the segments' length; all (..., 3)."""
    way = end - start
    square = np.maximum((way * way).sum(axis=-1), 1e-300)
    t = np.clip(((points - start) * way).sum(axis=-1) / square, 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - start - t[..., None] * way, axis=-1) / np.sqrt(square))


def unit(v: Array) -> Array:
    """Unit vectors; zero stays zero."""
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300))


def walk(tree: Tree, node: int, until: Callable[[int], bool]) -> list[int]:
    """Nodes above `node`, nearest first, up to but without the first for which `until` holds."""
    found = []
    at = int(tree.parents[node])
    while at >= 0 and not until(at):
        found.append(at)
        at = int(tree.parents[at])
    return found
