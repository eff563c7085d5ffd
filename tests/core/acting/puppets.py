"""Bodies and sheets that the tests of acting share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.signals import Signals
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.figure.mannequin import mannequin
from troupe.core.skeleton import Skeleton
from troupe.core.world import Body

MANNEQUIN = mannequin(1.75)


def reference_body() -> Skeleton:
    """Legs of two times 0.42 m, hips 0.18 m apart, ankles 0.07 m above the ground."""
    offsets = np.array(MANNEQUIN.offsets)
    for side, x in (("L", 0.09), ("R", -0.09)):
        offsets[MANNEQUIN.joint(f"thigh_{side}")] = (x, 0.0, 0.0)
        for part in ("shin", "foot"):
            offsets[MANNEQUIN.joint(f"{part}_{side}")] = (0.0, 0.0, -0.42)
    offsets[0] = (0.0, 0.0, 0.91)
    return replace(MANNEQUIN, offsets=offsets)


def library(text: str, signals: Signals | None = None) -> ActionLibrary:
    """The library of one sheet."""
    return ActionLibrary([read_sheet(text, "sheet", signals)], signals=signals)


def without(skeleton: Skeleton, *roles: str) -> Skeleton:
    """The skeleton without the joints of some roles; what hung on them hangs on the joint above."""
    gone = {j for role in roles for j in skeleton.roles[role]}
    parents, places = skeleton.parents, np.zeros((len(skeleton), 3))
    for j, parent in enumerate(parents):
        places[j] = skeleton.offsets[j] + (places[parent] if parent >= 0 else 0.0)
    kept = [j for j in range(len(skeleton)) if j not in gone]
    number = {j: n for n, j in enumerate(kept)}

    def above(j: int) -> int:
        parent = int(parents[j])
        while parent in gone:
            parent = int(parents[parent])
        return parent

    new = np.array([number[above(j)] if above(j) >= 0 else -1 for j in kept])
    offsets = np.array([places[j] - (places[above(j)] if above(j) >= 0 else 0.0) for j in kept])
    return Skeleton(
        names=tuple(skeleton.names[j] for j in kept),
        parents=new,
        offsets=offsets,
        tips=skeleton.tips[kept],
        roles={r: tuple(number[j] for j in js) for r, js in skeleton.roles.items() if r not in roles},
        limits=skeleton.limits[kept],
        arm_clearance=skeleton.arm_clearance,
    )


def table(x, y, width, depth, height, matrices=None):
    """A block that stands there, or where matrices (T, 4, 4) take it."""
    corners = [(a, b, c) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (0.0, 1.0)]
    vertices = np.array(corners) * (width, depth, height) + (x, y, 0.0)
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return Body(f"Table {x} {y}", 1, vertices, triangles, np.eye(4)[None] if matrices is None else matrices, "obstacle")
