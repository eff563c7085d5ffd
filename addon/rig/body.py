"""The body as one decision: which pair of limbs are the legs, which the arms, and which bone is the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.errors import InvalidRig
from ...core.skeleton import Array
from .limbs import ARM_PARTS, LEG_PARTS, Evidence, Pairs, pairs
from .shape import Ints, Tree, unit

HEADS_TRIED = 24
"""Combinations of legs and arms, best first, for which a head is looked for."""
TRUNK_TO_LEG, ARM_TO_LEG = 0.6, 0.63
"""Hip to shoulder line and arm, in leg lengths; chibis and robots differ by a factor of two."""
LEANING = "the trunk does not stand on the legs"
HEAD_ABOVE = 0.3
"""Height of the head joint over the shoulder line, in trunk lengths."""


@dataclass(frozen=True, eq=False)
class Body:
    """A reading of a tree as a human body.

    Attributes:
        legs: (2, 3) thigh, shin, foot of both sides, left first once `facing.sided`.
        arms: (2, 3) upper arm, forearm, hand.
        head: Node of the head.
        score: Sum of evidence; one plain name counts about 1.
        named: Mean belief of the names in these 13 bones, 0..1.
        faults: What is unlike a human: sentence to cost.
    """

    legs: Ints
    arms: Ints
    head: int
    score: float
    named: float
    faults: dict[str, float]


def find_body(tree: Tree, evidence: Evidence) -> Body:
    """The best reading of the tree; InvalidRig when it has no two pairs of limbs and a head."""
    legs, arms = pairs(tree, evidence, LEG_PARTS), pairs(tree, evidence, ARM_PARTS)
    if not len(legs.scores) or not len(arms.scores):
        raise InvalidRig("two arms and two legs of three joints each were not found")
    scores, faults = _together(tree, legs, arms)
    best: Body | None = None
    for k in np.argsort(-scores, axis=None, kind="stable")[:HEADS_TRIED]:
        i, j = np.unravel_index(k, scores.shape)
        if not np.isfinite(scores[i, j]):
            break
        head, worth = _head(tree, evidence, legs.joints[i], arms.joints[j])
        if head < 0:
            continue
        score = float(scores[i, j]) + worth
        if best is None or score > best.score + 1e-9:
            named = (legs.named[i] + arms.named[j]) * 6 / 13 + evidence.part("head")[head] / 13
            blame = {text: float(cost[i, j]) for text, cost in faults.items()}
            best = Body(legs.joints[i], arms.joints[j], head, score, float(named), blame)
    if best is None:
        raise InvalidRig("two arms and two legs of three joints each, a trunk between them and a head were not found")
    return best


def _together(tree: Tree, legs: Pairs, arms: Pairs) -> tuple[Array, dict[str, Array]]:
    """(legs, arms) scores of all combinations, and the costs in them."""
    hips, ankles = tree.heads[legs.joints[:, :, 0]], tree.heads[legs.joints[:, :, 2]]
    shoulders = tree.heads[arms.joints[:, :, 0]]
    trunk = shoulders.mean(axis=1)[None] - hips.mean(axis=1)[:, None]
    trunk_length = np.linalg.norm(trunk, axis=2)
    stand = (hips - ankles).mean(axis=1)
    standing = np.linalg.norm(stand, axis=1) / legs.lengths
    lateral = unit(hips[:, 0] - hips[:, 1])
    across = unit(shoulders[:, 0] - shoulders[:, 1])
    leaning = np.arccos(np.clip((unit(trunk) * unit(stand)[:, None]).sum(axis=2), -1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        faults = {
            LEANING: 3.0 * np.clip((leaning - 0.6) / 1.0, 0, 1),
            "the legs are too long or too short for the trunk": _unlike(
                trunk_length / legs.lengths[:, None] / TRUNK_TO_LEG
            ),
            "the arms are too long or too short for the legs": _unlike(
                arms.lengths[None] / legs.lengths[:, None] / ARM_TO_LEG
            ),
            "the legs do not run side by side": np.broadcast_to(
                2.0 * np.clip((0.8 - standing) / 0.5, 0, 1)[:, None], leaning.shape
            ),
            "the shoulders do not lie across as the hips do": 1.0 - np.abs(lateral @ across.T),
            "the legs are not alike": np.broadcast_to(legs.unlike[:, None], leaning.shape),
            "the arms are not alike": np.broadcast_to(arms.unlike[None], leaning.shape),
            "its arms are called legs": np.broadcast_to(4.0 * arms.contrary[None], leaning.shape),
        }
    upper = legs.joints[:, None, :, None, 0], arms.joints[None, :, None, :, 0]
    apart = ~(tree.above(*upper) | tree.above(*upper[::-1])).any(axis=(2, 3))
    tops = np.array([tree.common(*p) for p in legs.joints[:, :, 0].tolist()])
    chests = np.array([tree.common(*p) for p in arms.joints[:, :, 0].tolist()])
    order = np.full(leaning.shape, 0.3)
    g, a = np.broadcast_arrays(tops[:, None], chests[None])
    both = (g >= 0) & (a >= 0)
    order[both & tree.above(g, a)] = 1.5
    order[both & tree.above(a, g)] = -1.0
    order[both & (g == a)] = 0.0
    faults["no bone lies between arms and legs"] = 2.5 * (both & (g == a))
    total = legs.scores[:, None] + arms.scores[None] + order - sum(faults.values())
    total[~apart | (trunk_length < 0.15 * legs.lengths[:, None])] = -np.inf
    return total, faults


def _unlike(ratio: Array) -> Array:
    """Cost of a proportion, 0 for that of an adult, at most 1.5."""
    return np.minimum(1.5, 0.5 * (np.log(ratio) / 0.5) ** 2)


def _head(tree: Tree, evidence: Evidence, legs: Ints, arms: Ints) -> tuple[int, float]:
    """The likeliest head for a choice of limbs, and how much it adds to the score."""
    limbs = np.concatenate([legs[:, 0], arms[:, 0]])[:, None]
    every = np.arange(len(tree))[None]
    nodes = np.flatnonzero(~(tree.above(limbs, every) | tree.above(every, limbs)).any(axis=0))
    if not len(nodes):
        return -1, 0.0
    shoulders, hips = tree.heads[arms[:, 0]], tree.heads[legs[:, 0]].mean(axis=0)
    trunk = shoulders.mean(axis=0) - hips
    length = float(np.linalg.norm(trunk))
    up = trunk / length
    lateral = unit(shoulders[0] - shoulders[1])
    rise = tree.heads[nodes] - shoulders.mean(axis=0)
    height = rise @ up / length
    off_middle = np.abs(rise @ lateral) / length
    off_axis = np.linalg.norm(rise - np.outer(rise @ up, up), axis=1) / length
    chest = tree.common(*(int(n) for n in arms[:, 0]))
    hangs = tree.above(chest, nodes) if chest >= 0 else np.ones(len(nodes), bool)
    central = dict(zip(nodes.tolist(), (off_middle < 0.15).tolist(), strict=True))
    tops = _tops(tree, chest, central, _marks_ends(tree, legs, arms))
    score = 2.5 * evidence.part("head")[nodes] - 0.6 * np.maximum(evidence.part("neck"), evidence.part("spine"))[nodes]
    score -= 1.0 * (evidence.sides[nodes] != 0) + np.maximum(evidence.part("jaw"), evidence.part("hips"))[nodes]
    score -= 1.5 * evidence.helper[nodes] + np.minimum(1.5, 0.5 * ((height - HEAD_ABOVE) / 0.3) ** 2)
    score -= np.minimum(2.0, 4.0 * off_middle) + np.minimum(1.0, off_axis) + 0.5 * ~hangs
    score += 0.8 * np.isin(nodes, tops)
    best = int(np.argmax(score))
    return (int(nodes[best]), float(score[best])) if score[best] > -1.5 else (-1, 0.0)


def _tops(tree: Tree, chest: int, central: dict[int, bool], ends: bool) -> list[int]:
    """Where each chain that rises in the middle of the chest ends: at a face, or at its last joint but for a marker."""
    found = []
    starts = tree.children[chest] if chest >= 0 else tuple(int(n) for n in np.flatnonzero(tree.parents < 0))
    for start in starts:
        chain = [start] if central.get(start, False) else []
        while chain:
            children = tree.children[chain[-1]]
            after = max(children, key=lambda n: (int(tree.sizes[n]), -n), default=-1)
            if after < 0 or not central.get(after, False) or tree.sizes[after] < 0.75 * (tree.sizes[chain[-1]] - 1):
                break
            chain.append(after)
        steps = np.linalg.norm(np.diff(tree.heads[chain], axis=0), axis=1) if len(chain) > 1 else np.zeros(0)
        if len(chain) > 2 and not tree.children[chain[-1]] and (ends or steps[-1] > 1.4 * steps[-2]):
            chain, steps = chain[:-1], steps[:-1]
        while len(steps) and steps[-1] < 0.05 * steps.sum():
            chain, steps = chain[:-1], steps[:-1]
        found.extend(chain[-1:])
    return found


def _marks_ends(tree: Tree, legs: Ints, arms: Ints) -> bool:
    """Whether the last bones of chains only mark ends: fingers of four joints, toes of two."""

    def deep(node: int) -> int:
        return int(tree.depths[tree.below(node)].max() - tree.depths[node])

    for hand in arms[:, 2]:
        fingers = [c for c in tree.children[hand] if deep(c) == 3]
        if len(fingers) > 1 and not any(starts_in_palm(tree, int(hand), c) for c in fingers):
            return True
    return max(deep(int(foot)) for foot in legs[:, 2]) == 2


def starts_in_palm(tree: Tree, hand: int, finger: int) -> bool:
    """Whether a finger starts with a metacarpal: a knuckle is further from the wrist than from the next joint."""
    after = tree.children[finger]
    first = float(np.linalg.norm(tree.heads[finger] - tree.heads[hand]))
    return bool(after) and first < float(np.linalg.norm(tree.heads[after[0]] - tree.heads[finger]))
