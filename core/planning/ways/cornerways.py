"""Ways over corners: searched, or read off a table of all of them.

The search is A* with a weighted heuristic: a way is at most 1 + `slack` times as long as the shortest over corners,
which is no longer than the shortest from cell to cell. Pulled taut it is shorter still.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from ...needs import needs_scipy
from .corners import Corners

SLACK = 0.05
FEW = 1000
"""Up to this many corners all distances between them are kept."""


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a search: nodes from start to goal, number of the goal, nodes looked at, and steps looked at."""

    nodes: list[int]
    goal: int
    closed: set[int]
    relaxations: int


@dataclass(frozen=True, eq=False)
class Table:
    """Shortest ways between all corners.

    Attributes:
        numbers: Of the corners.
        nodes: The corners by number.
        distances: From corner i to corner j at i * count + j [cells]; inf for no way.
        before: The corner before j on the way from i, at i * count + j.
    """

    numbers: dict[int, int]
    nodes: list[int]
    distances: array[float]
    before: array[int]

    def way(self, i: int, j: int) -> list[int]:
        """Corners on the way from corner number i to number j."""
        row, nodes, before = i * len(self.nodes), self.nodes, self.before
        found = [nodes[j]]
        while j != i:
            j = before[row + j]
            found.append(nodes[j])
        found.reverse()
        return found


def search(corners: Corners, start: int, goals: Sequence[int], slack: float = SLACK) -> Found | None:
    """Way from one free cell to the nearest of others over corners; None if there is none.

    Args:
        corners: Of the grid.
        start: Cell.
        goals: Cells; none of them is the start.
        slack: How much longer than the shortest a way may be, as a share; less is slower.
    """
    known, edges = corners.known, corners.edges
    targets = [complex(*corners.centre(goal)) for goal in goals]
    middle = targets[0] if len(targets) == 1 else sum(targets) / len(targets)
    around = max([abs(target - middle) for target in targets])
    leaving = known.get(start) or corners.reached(start)
    best: dict[int, float] = {}
    before: dict[int, int] = {}
    heap: list[tuple[float, int]] = []
    tails: dict[int, list[tuple[float, int]]] = {}
    # goals are the negative nodes -1, -2, ...
    for k, goal in enumerate(goals, 1):
        for node, length, _ in known.get(goal) or corners.reached(goal):
            tails.setdefault(node, []).append((length, -k))
        if corners.sees(*corners.centre(start), *corners.centre(goal)):
            best[-k], before[-k] = math.dist(corners.centre(start), corners.centre(goal)), start
            heappush(heap, (best[-k], -k))
    weight, nowhere, lookup, push = 1.0 + slack, math.inf, best.get, heappush
    closed = {start}
    node, so_far, relaxations = start, 0.0, 0
    while True:
        relaxations += len(leaving)
        for other, length, place in leaving:
            total = so_far + length
            if total < lookup(other, nowhere):
                best[other] = total
                before[other] = node
                push(heap, (total + weight * (abs(place - middle) - around), other))
        if node in tails:
            for length, goal in tails[node]:
                total = so_far + length
                if total < lookup(goal, nowhere):
                    best[goal], before[goal] = total, node
                    push(heap, (total, goal))
        while heap:
            node = heappop(heap)[1]
            if node not in closed:
                break
        else:
            return None
        if node < 0:
            break
        closed.add(node)
        so_far = best[node]
        leaving = known.get(node) or edges(node)
    reached = -1 - node
    nodes = [goals[reached]]
    while node != start:
        node = before[node]
        nodes.append(node)
    nodes.reverse()
    return Found(nodes, reached, closed, relaxations)


def tabled(corners: Corners) -> Table | None:
    """All shortest ways between corners; None where there are none or too many."""
    with needs_scipy():
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import dijkstra
    numbers, nodes, parts = corners.graph
    if not 0 < len(nodes) <= FEW:
        return None
    matrix = csr_matrix(parts, shape=(len(nodes), len(nodes)))
    distance, before = dijkstra(matrix, return_predecessors=True)
    return Table(numbers, nodes, array("d", distance.tobytes()), array("i", before.astype(np.int32).tobytes()))


def read_off(corners: Corners, table: Table, start: int, goal: int) -> Found | None:
    """As `search` for one goal, from the table of all distances: exactly the shortest way over corners."""
    numbers, distances, count = table.numbers, table.distances, len(table.nodes)
    a, b = corners.centre(start), corners.centre(goal)
    if corners.sees(*a, *b):
        return Found([start, goal], 0, set(), 1)
    tails = [(numbers[node], length) for node, length, _ in corners.known.get(goal) or corners.reached(goal)]
    least, first, last = math.inf, -1, -1
    leaving = corners.known.get(start) or corners.reached(start)
    for node, length, _ in leaving:
        i = numbers[node]
        row = i * count
        for j, rest in tails:
            total = length + distances[row + j] + rest
            if total < least:
                least, first, last = total, i, j
    if first < 0:
        return None
    nodes = table.way(first, last)
    if nodes[0] != start:
        nodes.insert(0, start)
    if nodes[-1] != goal:
        nodes.append(goal)
    return Found(nodes, 0, set(), len(leaving) * len(tails))
