"""The left hand [cm]: from the wrist to the fingertips, to the thumb side, to the back of the hand."""

from __future__ import annotations

import numpy as np

from ..skeleton import FINGERS, Array
from .faces import flipped
from .implicit import Blob, cone, ellipsoid, evaluate, sweep
from .layout import Layout
from .net import net, steps
from .shell import Shell, rise, shell, softened

# Radii at the joints of each finger and at its tip
_RADII = {
    "thumb": (1.45, 1.15, 1.05, 0.85),
    "index": (1.05, 0.92, 0.84, 0.72),
    "middle": (1.08, 0.95, 0.86, 0.73),
    "ring": (1.02, 0.90, 0.82, 0.70),
    "pinky": (0.92, 0.80, 0.73, 0.62),
}
# Along the hand, then half axes to the thumb, away from it, to the back and to the palm
_PALM = (
    (-6.0, 2.7, 2.7, 2.2, 2.2),
    (-2.0, 2.7, 2.7, 2.0, 2.0),
    (1.5, 3.0, 2.9, 1.8, 1.8),
    (4.0, 3.4, 3.4, 1.5, 1.6),
    (7.0, 3.7, 3.6, 1.25, 1.35),
    (9.4, 3.2, 3.2, 0.9, 1.0),
)
_SPACING = 0.45


def hand(layout: Layout) -> Shell:
    """The skin of the left hand; its lower end is hidden in the sleeve."""
    joints, ends = (_in_hand(p - layout.at("hand.L")) for p in (layout.neutral, layout.ends))
    blobs = _forms(layout, joints, ends)
    grid = steps(-8.0, 2 * _SPACING, -2.0, _SPACING, 20.5), steps(-6.0, _SPACING, 9.0), steps(-8.5, _SPACING, 4.0)
    v, f = net(lambda p: evaluate(blobs, p), grid)
    at_rest = layout.placed(_from_hand(v) + layout.at("hand.L"), "hand.L")
    return shell(at_rest, flipped(f), "Hand.L", softened(_weights(layout, joints, ends, v), f, 3))


def _in_hand(p: Array) -> Array:
    """Neutral points from the wrist in the axes of the left hand; these are left-handed."""
    return p[:, [2, 1, 0]] * (-1.0, -1.0, 1.0)


def _from_hand(p: Array) -> Array:
    return p[:, [2, 1, 0]] * (1.0, -1.0, -1.0)


def _forms(layout: Layout, joints: Array, ends: Array) -> list[Blob]:
    chain = layout.skeleton.chain
    box = np.array([10.0, 5.0, 3.0])
    blobs = [sweep(_PALM, lambda p: p[:, [1, 2, 0]], -box, box, 1.0, power=2.3, cap=1.5)]
    for finger in FINGERS[1:]:
        knuckle = joints[chain(f"{finger}_L")[0]]
        blobs.append(cone((2.0, 0.45 * knuckle[1], 0.1), knuckle - (0.0, 0.0, 0.1), 1.3, _RADII[finger][0], 1.0))
    blobs.append(ellipsoid((4.3, -2.5, -0.7), (3.0, 1.2, 1.3), 1.5))
    for finger in FINGERS:
        for k, j in enumerate(chain(f"{finger}_L")):
            start, tip = _RADII[finger][k : k + 2]
            along = ends[j] - joints[j]
            end = ends[j] - (tip / np.linalg.norm(along) * along if k == 2 else 0.0)
            blobs.append(cone(joints[j], end, start, tip, (1.4 if finger == "thumb" else 0.6, 0.3, 0.3)[k]))
    return blobs


def _weights(layout: Layout, joints: Array, ends: Array, v: Array) -> Array:
    skeleton, w = layout.skeleton, layout.zeros(len(v))
    chains = [skeleton.chain(f"{name}_L") for name in FINGERS]
    far = np.array([_distance(v, joints, ends, c, _RADII[name]) for c, name in zip(chains, FINGERS, strict=True)])
    finger = np.argmin(far, axis=0)
    # the web between thumb and palm hardly turns with the thumb, or it would be swept through what the hand holds
    near = 1.0 - rise(far, 1.0, 0.6)
    palm = np.ones(len(v))
    for k, (chain, name) in enumerate(zip(chains, FINGERS, strict=True)):
        below = np.where(finger == k, near[k], 0.0)
        shares = []
        for j, radius in zip(chain, _RADII[name], strict=False):
            axis = (ends[j] - joints[j]) / np.linalg.norm(ends[j] - joints[j])
            below = below * rise((v - joints[j]) @ axis, 0.0, 0.9 * radius)
            shares.append(below)
        palm -= shares[0]
        for j, share, after in zip(chain, shares, [*shares[1:], np.zeros(len(v))], strict=True):
            w[:, j] = share - after
    forearm = rise(-v[:, 0], 0.6, 2.0)
    w[:, skeleton.index("hand.L")] = palm * (1.0 - forearm)
    w[:, skeleton.index("forearm.L")] = palm * forearm
    return w


def _distance(v: Array, joints: Array, ends: Array, chain: tuple[int, ...], radii: tuple[float, ...]) -> Array:
    """(N,) of points (N, 3) to a finger's skin."""
    cones = [cone(joints[j], ends[j], a, b, 0.0) for j, a, b in zip(chain, radii[:-1], radii[1:], strict=True)]
    return np.asarray(np.min([c.field(v) for c in cones], axis=0))
