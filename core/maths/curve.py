"""Polylines from edges and curves: edges put end to end, repeated points dropped, how finely a curve is to be cut.

A curve cut into pieces of equal parameter step h leaves its chords by at most h^2 / 8 times the greatest length of its
second derivative; what is needed here are bounds of that length by control points.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from .quat import Array

Ints = npt.NDArray[np.int64]


def chains(edges: npt.ArrayLike) -> list[Ints]:
    """Edges (E, 2) put end to end.

    Returns:
        Vertex numbers of each run, in the order of their lowest ends. A run ends where three or more edges meet; one
        that closes ends with the vertex it began with, the lowest of it.
    """
    around: dict[int, list[int]] = {}
    for a, b in np.asarray(edges, dtype=np.int64).reshape(-1, 2).tolist():
        if a != b:
            around.setdefault(a, []).append(b)
            around.setdefault(b, []).append(a)
    walked: set[tuple[int, int]] = set()

    def walk(start: int, towards: int) -> list[int]:
        run = [start, towards]
        while True:
            before, here = run[-2:]
            walked.update(((before, here), (here, before)))
            onwards = [n for n in around[here] if (here, n) not in walked]
            if here == start or len(around[here]) != 2 or not onwards:
                return run
            run.append(onwards[0])

    ends = sorted(v for v, near in around.items() if len(near) != 2)
    runs = []
    for start in (*ends, *sorted(around)):
        for towards in sorted(around[start]):
            if (start, towards) not in walked:
                runs.append(walk(start, towards))
    return [np.array(run, dtype=np.int64) for run in runs]


def without_repeats(points: Array, tolerance: float = 1e-6) -> Array:
    """The points (N, D) of a polyline that lie further than `tolerance` from the one before; the first always."""
    step = np.diff(points, axis=0)
    kept: Array = points[np.concatenate([[True], (step * step).sum(axis=-1) > tolerance * tolerance])]
    return kept


def bezier_pieces(control: Array, tolerance: float) -> int:
    """Pieces into which cubic Bezier segments (S, 4, D) must be cut to stay within `tolerance` of their chords."""
    return _pieces(6.0 * _longest(control[:, :-2] - 2.0 * control[:, 1:-1] + control[:, 2:]), tolerance)


def nurbs_pieces(control: Array, weights: Array, order: int, closed: bool, tolerance: float) -> int:
    """Pieces of each knot span with which a NURBS curve stays within `tolerance` of its chords.

    Args:
        control: (N, D) control points.
        weights: (N,) of the control points, positive.
        order: Degree and one.
        closed: The last point is followed by the first.
        tolerance: Largest distance, in the unit of the points.

    Returns:
        The least count that is surely enough for uniform, clamped and Bezier knots.
    """
    degree = order - 1
    if closed:
        control = np.concatenate([control, control[:1]])
    uneven = float(weights.max() / weights.min())
    return _pieces(2.0 * degree * (degree - 1) * uneven * uneven * _longest(np.diff(control, axis=0)), tolerance)


def _longest(vectors: Array) -> float:
    return float(np.sqrt((vectors * vectors).sum(axis=-1)).max(initial=0.0))


def _pieces(bend: float, tolerance: float) -> int:
    """Equal steps into which a unit of parameter is cut under a second derivative of at most `bend`."""
    if not tolerance > 0:
        raise InvalidParam("tolerance", tolerance, "must be positive")
    return max(1, int(np.ceil(np.sqrt(bend / (8.0 * tolerance)))))
