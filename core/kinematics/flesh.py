"""How thick the flesh of hands is and how far fingertips reach, measured on the skin of a rig at rest.

Bones run where whoever made a rig put them, along the back of a finger as well as through its middle. What a hand
touches things with is on the side it closes to, so that is the side on which the distance of the skin is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..maths.geometry import point_segment
from ..skeleton import FINGERS, SIDES, Array, Skeleton
from . import anatomy
from .fingers import hand_length, palm_axes, phalanx_radii

Bools = npt.NDArray[np.bool_]

ALONG = 0.3, 1.05
"""Part of a phalanx whose skin counts: not the web at its root."""
PALM = 0.55, 1.0
"""Part of the way to the knuckles on which the palm takes hold of things."""
STOUT = 2.5
"""Skin so many customary radii away is not that of the finger."""
FEW = 3
"""Points of skin that tell nothing yet."""
SHARE = 90.0
"""Percentage of the points that lie nearer than what counts as the skin."""
REACH = 0.6, 1.6
"""A last phalanx may be so many times as long as was customary."""


def fleshed(skeleton: Skeleton, places: Array, turns: Sequence[Array], skin: Array) -> Skeleton:
    """The skeleton with the flesh of its hands, and with fingertips where the skin ends.

    Args:
        skeleton: With J joints.
        places: (J, 3) of the joints at rest [m].
        turns: J rotations (3, 3) from rest to the neutral stance.
        skin: (V, 3) points of the skin at rest, in the axes of the places [m].
    """
    tips, flesh = np.array(skeleton.tips), np.zeros(len(skeleton))
    for side in SIDES:
        if skeleton.has(f"hand_{side}") and any(skeleton.has(f"{f}_{side}") for f in FINGERS[1:]):
            _measure(skeleton, side, places, turns, skin, tips, flesh)
    return replace(skeleton, tips=tips, flesh=flesh)


def _measure(
    skeleton: Skeleton, side: str, places: Array, turns: Sequence[Array], skin: Array, tips: Array, flesh: Array
) -> None:
    hand, long = skeleton.joint(f"hand_{side}"), hand_length(skeleton, side)
    wrist = places[hand]
    near = skin[np.linalg.norm(skin - wrist, axis=1) < 1.6 * long]
    fingers = [(f, skeleton.chain(f"{f}_{side}")) for f in FINGERS if skeleton.has(f"{f}_{side}")]
    bones = [joint for _, chain in fingers for joint in chain]
    rows = [(joint, places[joint], places[joint] + turns[joint].T @ tips[joint]) for joint in bones]
    knuckles = np.array([places[chain[0]] for finger, chain in fingers if finger != "thumb"])
    rows += [(hand, wrist, knuckle) for knuckle in knuckles]
    rows.append((-1, places[skeleton.parents[hand]], wrist))
    joints, starts, ends = (np.array(column) for column in zip(*rows, strict=True))
    nearest, _ = point_segment(near[:, None], starts, ends)
    owner = joints[np.linalg.norm(near[:, None] - nearest, axis=-1).argmin(axis=1)]
    for finger, chain in fingers:
        # a thumb closes against the sense in which fingers bend
        axis = anatomy.axes(f"{finger}_{side}")[0] * (-1.0 if finger == "thumb" else 1.0)
        for joint, radius in zip(chain, phalanx_radii(skeleton, finger, side), strict=True):
            own = (near[owner == joint] - places[joint]) @ turns[joint].T
            end = float(np.linalg.norm(tips[joint]))
            way = tips[joint] / max(end, 1e-9)
            along = own @ way
            aside = own - along[:, None] * way
            far = np.linalg.norm(aside, axis=1)
            slim = far < STOUT * radius
            pad = aside @ np.cross(axis, way) > 0.35 * far
            last = along[slim & (along > 0.0)]
            if joint == chain[-1] and len(last) >= FEW:
                end = float(np.clip(last.max(), REACH[0] * end, REACH[1] * end))
                tips[joint] = end * way
            at = slim & pad & (along > ALONG[0] * end) & (along < ALONG[1] * end)
            flesh[joint] = _outermost(far[at])
    outward = palm_axes(side)[:, 0]
    middle = turns[hand] @ (knuckles.mean(axis=0) - wrist)
    own = (near[owner == hand] - wrist) @ turns[hand].T
    share = own @ middle / max(float(middle @ middle), 1e-12)
    depth = (own - share[:, None] * middle) @ outward
    flesh[hand] = _outermost(depth[(share > PALM[0]) & (share < PALM[1]) & (depth > 0.0)])


def _outermost(far: Array) -> float:
    """How far the skin is [m]; 0 where too little of it tells."""
    return float(np.percentile(far, SHARE)) if len(far) >= FEW else 0.0
