"""What sits on the head: eyes, eyebrows, ears and hair [cm], in the axes of `head`."""

from __future__ import annotations

import numpy as np

from ..maths import quat
from ..skeleton import Array
from .faces import Index, tube
from .head import EYE, EYEBALL, ORIGIN, forms
from .implicit import Blob, ellipsoid, evaluate, mirrored
from .layout import Layout
from .mannequin import MannequinParams
from .net import net, project, steps
from .shell import Shell, material, shell

_PUPIL, _IRIS = np.radians([13.5, 30.0])


def eye(layout: Layout) -> Shell:
    """The left eyeball; rings of vertices run around pupil and iris."""
    cuts = ((_PUPIL, "Pupil"), (_IRIS, "Iris"), (np.pi, "Eye"))
    angles = np.radians([6.0, 13.5, 18.0, 24.0, 30.0, 38.0, 48.0, 60.0, 75.0, 95.0, 120.0, 150.0])
    around = np.arange(24) * 2 * np.pi / 24
    ring = np.stack([np.cos(around), np.zeros(24), np.sin(around)], axis=1)
    forward = np.array([0.0, -1.0, 0.0])
    rings = np.sin(angles)[:, None, None] * ring + np.cos(angles)[:, None, None] * forward
    v, f = tube(EYEBALL * rings, EYEBALL * forward, -EYEBALL * forward)
    off = np.arccos(np.clip(v @ forward / EYEBALL, -1.0, 1.0))
    outer = np.where(f >= 0, off[f], 0.0).max(axis=1)
    part = np.array([material(next(name for edge, name in cuts if a <= edge + 1e-6)) for a in outer])
    return _on_head(layout, v + EYE, f, part, "eye.L")


def brow(layout: Layout, params: MannequinParams) -> Shell:
    """The left eyebrow, lying on the brow ridge."""
    t = np.linspace(0.0, 1.0, 12)
    line = np.column_stack([1.45 + 3.4 * t, np.full(12, -9.0), 2.1 + 0.55 * np.sin(0.65 * np.pi * t)])
    line = project(mirrored(forms(params)), line, rounds=8)
    along = quat.unit(np.gradient(line, axis=0))
    up = quat.unit(np.cross(quat.unit(line - (0.0, 1.3, 1.0)), along))
    out = np.cross(along, up)
    thick = (0.42 - 0.1 * params.shape) * np.sqrt(np.clip(5.0 * t + 0.25, 0.0, 1.0)) * (1.0 - 0.7 * t**2)
    around = np.arange(8) * 2 * np.pi / 8
    rings = np.cos(around)[None, :, None] * up[:, None] + 0.5 * np.sin(around)[None, :, None] * -out[:, None]
    rings = line[:, None] + thick[:, None, None] * rings
    v, f = tube(rings, line[0] - 0.1 * along[0], line[-1] + 0.1 * along[-1])
    return _on_head(layout, v, f, "Hair", "head")


def ear(layout: Layout) -> Shell:
    """The left ear."""
    turn = quat.multiply(quat.about(np.array([0.0, 0.0, 1.0]), 0.45), quat.about(np.array([1.0, 0.0, 0.0]), -0.27))
    axes, centre = quat.to_matrix(turn), np.array([7.35, 0.9, -0.9])
    rows = (
        ((0.0, 0.2, 0.5), (0.62, 1.75, 2.5), 0.3, False),
        ((0.1, -0.4, -2.0), (0.5, 0.8, 1.0), 0.8, False),
        ((0.75, 0.0, 0.5), (0.6, 1.2, 1.85), 0.35, True),
        ((0.0, 0.1, 0.1), (0.45, 0.8, 1.2), 0.4, False),
        ((0.55, 0.05, -0.55), (0.55, 0.7, 0.75), 0.3, True),
        ((0.35, -1.0, -0.6), (0.4, 0.4, 0.6), 0.4, False),
    )
    blobs = [ellipsoid(centre + axes @ np.array(c), r, blend, axes, carve) for c, r, blend, carve in rows]
    grid = [steps(c - r, 0.34, c + r) for c, r in zip(centre, (2.5, 3.2, 4.2), strict=True)]
    return _on_head(layout, *net(lambda p: evaluate(blobs, p), grid, relax=2), "Skin", "head")


def hair(layout: Layout, params: MannequinParams) -> Shell:
    """A cap of short hair; one with a bun for the long-haired."""
    nape = Blob(lambda p: p[:, 2] + 5.0 - 0.25 * p[:, 1], np.full(3, -50.0), np.full(3, 50.0), 0.5, carve=True)
    blobs = [
        ellipsoid((0.0, 1.6, 3.3), (8.2, 9.8, 8.5), 1.0),
        ellipsoid((1.0, -4.2, 8.6), (4.4, 3.6, 2.6), 3.0),
        ellipsoid((0.0, -10.2, -4.2), (7.2, 9.4, 12.0), 0.3, carve=True),
        ellipsoid((8.2, 0.6, -1.2), (3.0, 2.6, 3.6), 0.3, carve=True),
        nape,
    ]
    if params.hair == "bun":
        blobs.append(ellipsoid((0.0, 11.6, 6.6), (3.4, 3.2, 3.4), 1.0))
    rows = steps(0.3, 0.6, 10.5), steps(-13.0, 0.6, 2.0, 1.2, 18.0), steps(-10.0, 0.6, 9.0, 1.0, 15.0)
    v, f = net(mirrored(blobs), rows, mirror=True)
    return _on_head(layout, v, f, "Hair", "head")


def _on_head(layout: Layout, v: Array, f: Index, materials: Index | str, joint: str) -> Shell:
    weights = layout.zeros(len(v))
    weights[:, layout.skeleton.index(joint)] = 1.0
    return shell(v + ORIGIN + layout.drop, f, materials, weights)
