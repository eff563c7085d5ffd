"""Rapidly-exploring random trees: how one grows, and what a search with two of them has found.

Growth is Kuffner's ("Autonomous Agents for Real-Time Animation", 1999, procedure 1), with the slips of the listing
mended: a target within a step becomes a node itself, at exactly a step too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...errors import Timeout
from ...motion import Path
from ...skeleton import Array
from .space import Ints, Space, clear


class Grown(Enum):
    """What became of a step towards a target."""

    FAILED = "failed"
    SUCCESS = "success"
    CONNECTION = "connection"


class Tree:
    """Nodes (N, n) with their parents; the root is node 0."""

    def __init__(self, space: Space, root: Array) -> None:
        self.space = space
        self._nodes = np.empty((256, len(root)))
        self._parents = np.empty(256, dtype=np.int64)
        self.count = 0
        self.add(root[None], np.array([-1]))

    def __len__(self) -> int:
        return self.count

    @property
    def nodes(self) -> Array:
        """(N, n) configurations."""
        return self._nodes[: self.count]

    @property
    def parents(self) -> Ints:
        """(N,) number of the parent of each node, -1 for the root."""
        return self._parents[: self.count]

    def add(self, nodes: Array, parents: Ints) -> Ints:
        """Numbers (K,) of new nodes (K, n)."""
        end = self.count + len(nodes)
        if end > len(self._nodes):
            room = max(end, 2 * len(self._nodes))
            self._nodes = np.concatenate([self.nodes, np.empty((room - self.count, nodes.shape[1]))])
            self._parents = np.concatenate([self.parents, np.empty(room - self.count, dtype=np.int64)])
        self._nodes[self.count : end] = nodes
        self._parents[self.count : end] = parents
        self.count = end
        return np.arange(end - len(nodes), end)

    def nearest(self, q: Array) -> Ints:
        """(K,) numbers of the nodes nearest to configurations (K, n)."""
        return self.space.nearest(self.nodes, q)

    def way(self, node: int) -> list[Array]:
        """Configurations from a node back to the root."""
        out = []
        while node >= 0:
            out.append(self._nodes[node].copy())
            node = int(self._parents[node])
        return out

    def grow(self, target: Array, stride: float, nearest: int | None = None) -> tuple[Grown, int]:
        """Take one step of at most `stride` towards a target (n,).

        Args:
            target: Where to.
            stride: Length of a step in the metric of the space.
            nearest: Node known to be nearest; None to look for it.

        Returns:
            What became of it, and the new node, -1 for none.
        """
        near = int(self.nearest(target[None])[0]) if nearest is None else nearest
        here = self._nodes[near]
        tangent = self.space.difference(here, target)
        size = float(self.space.size(tangent))
        there = target if size <= stride else self.space.moved(here, tangent * (stride / size))
        if not clear(self.space, here[None], there[None])[0]:
            return Grown.FAILED, -1
        node = int(self.add(there[None], np.array([near]))[0])
        return (Grown.CONNECTION if size <= stride else Grown.SUCCESS), node


@dataclass(frozen=True, eq=False)
class Search:
    """What a search did, for a report and for the eye.

    Attributes:
        trees: Nodes (N, n) and parents (N,) of the tree from the start and of that from the goal.
        samples: Random configurations drawn.
        looks: Configurations checked for collisions.
        rounds: Rounds of the search.
        trace: States it went through, one letter each tree (I, G), small while it heads for the other tree.
    """

    trees: tuple[tuple[Array, Ints], tuple[Array, Ints]]
    samples: int
    looks: int
    rounds: int
    trace: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """Nodes of both trees."""
        return sum(len(parents) for _, parents in self.trees)


class SearchTimeout(Timeout):
    """Two trees did not meet within the budget; `search` holds them."""

    def __init__(self, search: Search, what: str = "") -> None:
        self.search = search
        which = f"no way around {what}" if what else "no way"
        super().__init__(
            f"{which} was found in {search.rounds} rounds with {search.nodes} nodes; there may be one: raise the budget"
        )

    def around(self, what: str) -> SearchTimeout:
        """The same, with a name for what is in the way."""
        return SearchTimeout(self.search, what)


@dataclass(frozen=True, eq=False)
class Found:
    """A way, as it was found and with what it took."""

    path: Path
    search: Search


def joined(one: list[Array], other: list[Array], backwards: bool) -> Array:
    """(N, n) from the start to the goal: two ways to the roots that meet, without the meeting node twice.

    `backwards` says that `one` leads to the goal.
    """
    front, back = (other, one) if backwards else (one, other)
    rows = front[::-1] + back
    keep = [0] + [k for k in range(1, len(rows)) if not np.array_equal(rows[k], rows[k - 1])]
    return np.array([rows[k] for k in keep])
