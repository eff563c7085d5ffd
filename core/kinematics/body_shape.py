"""The body of a character as capsules: thick enough for flesh, few enough to be looked at a thousand times.

Radii follow from the lengths of the skeleton's own segments, so a child is thin and a giant stout. The parts of an arm
move with its joints; of the rest, what an arm may touch is turned into beads, spheres along the axis of each capsule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..maths import geometry, quat
from ..skeleton import FINGERS, SIDES, Array, Skeleton
from . import fk
from .fingers import hand_length, phalanx_radii

Ints = npt.NDArray[np.int64]

THICKNESS: Mapping[str, float] = MappingProxyType(
    {
        "head": 0.56,
        "neck": 0.45,
        "chest": 0.62,
        "abdomen": 0.60,
        "pelvis": 0.66,
        "thigh": 0.175,
        "shin": 0.125,
        "foot": 0.30,
        "upper_arm": 0.15,
        "forearm": 0.155,
        "palm": 0.155,
        "fingers": 0.105,
    }
)
"""Radius of each part, as a part of its own length (head: joint to top; neck, chest, abdomen and pelvis: half the
distance between the shoulders; palm, and fingers without joints: the length of the hand)."""

TRUNK = ("pelvis", "abdomen", "chest", "neck")
"""What an upper arm hangs on, which it is not looked at against."""
ARM_PARTS = ("upper_arm", "forearm", "palm", "fingers", "thumb")
_CHEST = 0.45
"""Half the length of the chest's axis, of half the distance between the shoulders."""


@dataclass(frozen=True, eq=False)
class Capsules:
    """Capsules that move with joints.

    Attributes:
        parts: What each is, such as "forearm_L".
        joints: (K,) the joint each moves with.
        starts, ends: (K, 3) of its axis, from the joint in the neutral stance [m].
        radii: (K,) [m].
    """

    parts: tuple[str, ...]
    joints: Ints
    starts: Array
    ends: Array
    radii: Array

    def placed(self, positions: Array, globals: Array) -> tuple[Array, Array]:
        """Starts and ends (..., K, 3) in the world [m] of bodies with places (..., J, 3) and turns (..., J, 4)."""
        at, turn = positions[..., self.joints, :], globals[..., self.joints, :]
        return at + quat.rotate(turn, self.starts), at + quat.rotate(turn, self.ends)

    def chosen(self, parts: Sequence[str]) -> Capsules:
        """Those of these parts, named with or without their side."""
        keep = [k for k, part in enumerate(self.parts) if part in parts or part[:-2] in parts]
        names = tuple(self.parts[k] for k in keep)
        return Capsules(names, self.joints[keep], self.starts[keep], self.ends[keep], self.radii[keep])


def capsules(skeleton: Skeleton, hands: Mapping[str, Sequence[Array]] | None = None) -> Capsules:
    """The whole body of a skeleton.

    Args:
        skeleton: With its roles.
        hands: By side, rotations (J, 4) whose fingers have the shapes the hand is held in; None for relaxed.
    """
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    positions, _ = fk.forward(skeleton, still, np.zeros(3))
    shoulders = positions[[skeleton.joint(f"upper_arm_{side}") for side in SIDES]]
    half = 0.5 * float(np.linalg.norm(shoulders[0] - shoulders[1]))
    rows: list[tuple[str, int, Array, Array, float]] = []

    def add(part: str, joint: int, start: Array, end: Array, radius: float) -> None:
        rows.append((part, joint, start - positions[joint], end - positions[joint], radius))

    across = np.array([_CHEST * half, 0.0, 0.0])
    spine = skeleton.roles.get("spine", (0,))
    top = spine[-1]
    upper = 0.5 * (positions[top] + shoulders.mean(axis=0))
    add("chest", top, upper - across, upper + across, THICKNESS["chest"] * half)
    middle = 0.5 * (positions[0] + positions[top])
    add("abdomen", spine[0], middle - 0.7 * across, middle + 0.7 * across, THICKNESS["abdomen"] * half)
    hips = [positions[skeleton.joint(f"thigh_{side}")] for side in SIDES]
    add("pelvis", 0, hips[0], hips[1], THICKNESS["pelvis"] * half)
    head = skeleton.joint("head")
    crown = skeleton.tips[head]
    thick = THICKNESS["head"] * float(np.linalg.norm(crown))
    add("head", head, positions[head] + 0.3 * crown, positions[head] + 0.5 * crown, thick)
    neck = skeleton.roles.get("neck", (head,))[0]
    add("neck", neck, positions[neck], positions[head], THICKNESS["neck"] * half)
    for side in SIDES:
        for part, below in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
            joint, end = skeleton.joint(f"{part}_{side}"), positions[skeleton.joint(f"{below}_{side}")]
            long = float(np.linalg.norm(end - positions[joint]))
            add(f"{part}_{side}", joint, positions[joint], end, THICKNESS[part] * long)
        foot = skeleton.joint(f"foot_{side}")
        sole = skeleton.tips[foot]
        thick = THICKNESS["foot"] * float(np.linalg.norm(sole))
        add(f"foot_{side}", foot, positions[foot], positions[foot] + sole, thick)
        rows.extend(_hand(skeleton, side, () if hands is None else hands.get(side, ())))
    parts, joints, starts, ends, radii = zip(*rows, strict=True)
    return Capsules(tuple(parts), np.array(joints), np.array(starts), np.array(ends), np.array(radii))


def _hand(skeleton: Skeleton, side: str, shapes: Sequence[Array]) -> list[tuple[str, int, Array, Array, float]]:
    """Palm, index, middle with ring, small finger and thumb of a hand in its axes, thick enough for all its shapes."""
    hand, long = skeleton.joint(f"hand_{side}"), hand_length(skeleton, side)
    fingers = [j for f in FINGERS for j in skeleton.roles.get(f"{f}_{side}", ())]
    still = np.tile(quat.IDENTITY, (max(1, len(shapes)), len(skeleton), 1))
    for k, shape in enumerate(shapes):
        still[k, fingers] = shape[fingers]
    positions, globals = fk.forward(skeleton, still, np.zeros((len(still), 3)))
    tips = fk.tip_positions(skeleton, positions, globals) - positions[:, hand, None]
    positions = positions - positions[:, hand, None]
    roots = [skeleton.chain(f"{f}_{side}")[0] for f in FINGERS[1:] if skeleton.has(f"{f}_{side}")]
    along = skeleton.tips[hand] * (0.5 * long / max(float(np.linalg.norm(skeleton.tips[hand])), 1e-9))
    knuckles = positions[0, roots].mean(axis=0) if roots else along
    rows = [(f"palm_{side}", hand, 0.15 * knuckles, 0.9 * knuckles, THICKNESS["palm"] * long)]
    if not roots:
        rows.append((f"fingers_{side}", hand, along, 1.9 * along, THICKNESS["fingers"] * long))
    groups = ("fingers", FINGERS[1:2]), ("fingers", FINGERS[2:4]), ("fingers", FINGERS[4:]), ("thumb", FINGERS[:1])
    for part, group in groups:
        chains = [skeleton.chain(f"{f}_{side}") for f in group if skeleton.has(f"{f}_{side}")]
        if not chains:
            continue
        # a thumb that is spread and one that is not would need a capsule as thick as the hand: the first shape counts
        upto = 1 if part == "thumb" else len(still)
        points = np.concatenate(
            [*(positions[:upto, list(c)].reshape(-1, 3) for c in chains), *(tips[:upto, c[-1]] for c in chains)]
        )
        start = np.mean([positions[0, c[0]] for c in chains], axis=0)
        end = np.mean([tips[:upto, c[-1]].mean(axis=0) for c in chains], axis=0)
        near, _ = geometry.point_segment(points, start, end)
        thick = max(max(phalanx_radii(skeleton, f, side)) for f in group if skeleton.has(f"{f}_{side}"))
        rows.append((f"{part}_{side}", hand, start, end, thick + float(np.linalg.norm(points - near, axis=1).max())))
    return rows


def with_fingers(skeleton: Skeleton) -> Capsules:
    """The whole body with every phalanx a capsule of its own that moves with its joint, called "fingers" or "thumb"."""
    whole = capsules(skeleton)
    whole = whole.chosen([part for part in whole.parts if part[:-2] not in ("fingers", "thumb")])
    parts, joints, radii = list(whole.parts), list(whole.joints), list(whole.radii)
    for side in SIDES:
        for finger in FINGERS:
            chain = skeleton.roles.get(f"{finger}_{side}", ())
            parts += [f"{'thumb' if finger == 'thumb' else 'fingers'}_{side}"] * len(chain)
            joints += chain
            radii += phalanx_radii(skeleton, finger, side) if chain else ()
    more = joints[len(whole.joints) :]
    starts = np.concatenate([whole.starts, np.zeros((len(more), 3))])
    return Capsules(
        tuple(parts), np.array(joints), starts, np.concatenate([whole.ends, skeleton.tips[more]]), np.array(radii)
    )


def beads(starts: Array, ends: Array, radii: Array) -> tuple[Array, Array, Ints]:
    """Spheres that cover capsules: centres (M, 3), radii (M,) and the capsule of each (M,).

    They stand 0.8 radii apart, which makes them less than a tenth thicker than the capsules.
    """
    centres, sizes, owner = [], [], []
    for k, (start, end, radius) in enumerate(zip(starts, ends, radii, strict=True)):
        long = float(np.linalg.norm(end - start))
        count = int(np.ceil(long / (0.8 * radius)))
        at = np.linspace(0.0, 1.0, count + 1)
        centres.append(start + at[:, None] * (end - start))
        sizes.append(np.full(count + 1, np.hypot(radius, 0.5 * long / max(count, 1))))
        owner.append(np.full(count + 1, k))
    return np.concatenate(centres), np.concatenate(sizes), np.concatenate(owner)


def self_pairs(parts: Sequence[str], side: str) -> list[tuple[int, int]]:
    """Capsules of one arm and what of the body each must not touch, as numbers in `parts`.

    Neighbours are left out: an upper arm is not looked at against the trunk, nor the parts of the arm against each
    other.
    """
    own = [k for k, part in enumerate(parts) if part[:-2] in ARM_PARTS and part.endswith(f"_{side}")]
    out = []
    for k in own:
        for other, part in enumerate(parts):
            if other in own or (parts[k].startswith("upper_arm") and part in TRUNK):
                continue
            out.append((k, other))
    return out


def self_gaps(shape: Capsules, positions: Array, globals: Array, side: str) -> tuple[Array, list[tuple[str, str]]]:
    """Gaps (..., P) [m] between an arm and the rest of its body, negative where they overlap, and the pairs."""
    starts, ends = shape.placed(positions, globals)
    pairs = self_pairs(shape.parts, side)
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    gaps = geometry.capsule_distance(
        starts[..., a, :], ends[..., a, :], shape.radii[a], starts[..., b, :], ends[..., b, :], shape.radii[b]
    )
    return gaps, [(shape.parts[k], shape.parts[m]) for k, m in pairs]
