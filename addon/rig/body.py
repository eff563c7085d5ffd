"""The body as one decision: which pair of limbs are the legs, which the arms, and which bone is the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.errors import InvalidRig
from ...core.skeleton import Array
from .limbs import ARM_PARTS, LEG_PARTS, Evidence, Pairs, pairs
from .shape import Ints, Tree, aside, unit

HEADS_TRIED = 24
"""Combinations of legs and arms, best first, for which a head is looked for."""
TRUNK_TO_LEG, ARM_TO_LEG = 0.6, 0.63
"""Hip to shoulder line and arm, in leg lengths; chibis and robots differ by a factor of two."""
HEAD_ABOVE = 0.3
"""Height of the head joint over the shoulder line, in trunk lengths."""


@dataclass(frozen=True, eq=False)
class Body:
    """A reading of a tree as a human body.

    Attributes:
        legs: (2, 3) thigh, shin, foot of both sides, left first once `sided`.
        arms: (2, 3) upper arm, forearm, hand.
        head: Node of the head.
        score: Sum of evidence; one plain name counts about 1.
        named: Mean belief of the names in these 13 bones, 0..1.
        faults: What is unlike a human, largest first: sentence to cost.
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
        raise InvalidRig("no pair of limbs: a humanoid has two arms and two legs of three joints each")
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
        raise InvalidRig("no body: two pairs of limbs, a trunk between them and a head above it were not found together")
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
            "the trunk does not stand on the legs": 3.0 * np.clip((leaning - 0.6) / 1.0, 0, 1),
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
    total = legs.scores[:, None] + arms.scores[None] + order - sum(faults.values())
    total[~apart | (trunk_length < 0.15 * legs.lengths[:, None])] = -np.inf
    return total, faults


def _unlike(ratio: Array) -> Array:
    """Cost of a proportion, 0 for that of an adult, at most 1.5."""
    return np.minimum(1.5, 0.5 * (np.log(ratio) / 0.5) ** 2)


def _head(tree: Tree, evidence: Evidence, legs: Ints, arms: Ints) -> tuple[int, float]:
    """The likeliest head for a choice of limbs, and how much it adds to the score."""
    limbs = [int(n) for n in (*legs[:, 0], *arms[:, 0])]
    free = np.ones(len(tree), bool)
    for limb in limbs:
        free &= ~tree.above(limb, np.arange(len(tree))) & ~tree.above(np.arange(len(tree)), limb)
    nodes = np.flatnonzero(free)
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
    tops = _tops(tree, chest, dict(zip(nodes.tolist(), (off_middle < 0.15).tolist(), strict=True)), legs, arms, up)
    score = 2.5 * evidence.part("head")[nodes] - 0.6 * np.maximum(evidence.part("neck"), evidence.part("spine"))[nodes]
    score -= 1.5 * evidence.helper[nodes] + np.minimum(1.5, 0.5 * ((height - HEAD_ABOVE) / 0.3) ** 2)
    score -= np.minimum(2.0, 4.0 * off_middle) + np.minimum(1.0, off_axis) + 0.5 * ~hangs
    score += 0.8 * np.isin(nodes, tops)
    best = int(np.argmax(score))
    return (int(nodes[best]), float(score[best])) if score[best] > -1.5 else (-1, 0.0)


def _tops(tree: Tree, chest: int, central: dict[int, bool], legs: Ints, arms: Ints, up: Array) -> list[int]:
    """Where each chain that rises from the chest in the middle ends: at a face, or at its last joint that is no marker."""
    ends = _marks_ends(tree, legs, arms)
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
        if len(chain) > 1 and not tree.children[chain[-1]] and (ends or (len(steps) > 1 and steps[-1] > 1.4 * steps[-2])):
            chain, steps = chain[:-1], steps[:-1]
        while len(steps) and steps[-1] < 0.05 * steps.sum():
            chain, steps = chain[:-1], steps[:-1]
        found.extend(chain[-1:])
    return found


def _marks_ends(tree: Tree, legs: Ints, arms: Ints) -> bool:
    """Whether the last bones of chains only mark ends: fingers of four joints, toes of two."""

    def longest(node: int, forks: bool) -> int:
        deep = tree.depths[tree.below(node)].max() - tree.depths[node]
        return int(deep) if not forks or len(tree.children[node]) > 1 else 0

    return max(longest(int(n), True) for n in arms[:, 2]) > 3 or max(longest(int(n), False) for n in legs[:, 2]) == 2


def sided(tree: Tree, tails: Array, evidence: Evidence, body: Body) -> tuple[Body, float, str]:
    """The body with its left limbs first, the strength of that evidence and where it comes from.

    Sides in names win. Without them the front tells: feet point to it, knees bend to it, elbows away from it, the
    face lies on it. Without a front the left is on +X, as in files that face -Y or +Z.
    """
    lateral = tree.heads[body.legs[0, 0]] - tree.heads[body.legs[1, 0]]
    across = tree.heads[body.arms[0, 0]] - tree.heads[body.arms[1, 0]]
    arms = body.arms if lateral @ across >= 0 else body.arms[::-1]
    spoken = [int(evidence.sides[row[0]].sum() - evidence.sides[row[1]].sum()) for row in (body.legs, body.arms)]
    swapped = arms is not body.arms
    said = spoken[0] + (-spoken[1] if swapped else spoken[1])
    if spoken[0] and spoken[1]:
        # Each pair by its own names: a rest pose may cross the arms over.
        legs = body.legs if spoken[0] > 0 else body.legs[::-1]
        arms = body.arms if spoken[1] > 0 else body.arms[::-1]
        return _with(body, legs, arms), 1.0, "names"
    if said:
        legs = body.legs if said > 0 else body.legs[::-1]
        return _with(body, legs, arms if said > 0 else arms[::-1]), 0.9, "names"
    front = facing(tree, tails, body, arms)
    strength, origin = min(1.0, abs(front) * 4), "the front"
    if abs(front) < 0.02:
        front, strength, origin = float(np.sign(lateral[np.argmax(np.abs(lateral))])), 0.2, "the X axis"
    legs = body.legs if front > 0 else body.legs[::-1]
    return _with(body, legs, arms if front > 0 else arms[::-1]), strength, origin


def _with(body: Body, legs: Ints, arms: Ints) -> Body:
    return Body(legs, arms, body.head, body.score, body.named, body.faults)


def facing(tree: Tree, tails: Array, body: Body, arms: Ints) -> float:
    """How surely the body faces as it would were its first limbs the left ones: positive for yes, negative for no."""
    at = tree.heads
    hips, shoulders = at[body.legs[:, 0]], at[arms[:, 0]]
    up = unit(shoulders.mean(axis=0) - hips.mean(axis=0))
    left = unit(hips[0] - hips[1]) + unit(shoulders[0] - shoulders[1])
    # Forward is left x up for a body whose left is +X, up +Z and front -Y.
    front = unit(np.cross(left, up))
    leg = float(np.linalg.norm(at[body.legs[:, 1]] - at[body.legs[:, 0]], axis=1).mean()) * 2
    votes = 0.0
    for limb in body.legs:
        foot = int(limb[2])
        below = tree.below(foot)[1:]
        reach = (at[below] - at[foot]) @ front / leg if below else np.zeros(0)
        if len(reach) and np.abs(reach).max() > 0.02:
            votes += 3.0 * float(reach[np.argmax(np.abs(reach))])
        else:
            toe = tails[foot] - at[foot]
            shin = unit(at[foot] - at[int(limb[1])])
            # Tails that go on along the shin are an importer's guess.
            if abs(float(unit(toe) @ shin)) < 0.9:
                votes += 1.0 * float(np.clip(toe @ front / leg, -0.2, 0.2))
    for limbs, sign, weight in ((body.legs, 1.0, 2.0), (arms, -1.0, 1.5)):
        a, b, c = at[limbs[:, 0]], at[limbs[:, 1]], at[limbs[:, 2]]
        bent = aside(b, a, c) > 0.01
        middle = a + (c - a) * (((b - a) * (c - a)).sum(axis=1) / np.maximum(((c - a) ** 2).sum(axis=1), 1e-300))[:, None]
        votes += float((sign * weight * bent * ((b - middle) @ front) / leg).sum())
    face = tree.below(body.head)[1:]
    if face:
        votes += 1.0 * float(np.clip(np.median((at[face] - at[body.head]) @ front) / leg, -0.1, 0.1))
    return votes
