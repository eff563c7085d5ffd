"""What hangs from the limbs, the head and the hips: clavicles, toes, fingers, eyes, jaw and root."""

from __future__ import annotations

import numpy as np

from ...core.skeleton import FINGERS
from .body import Body, starts_in_palm
from .limbs import Evidence
from .names import read_names
from .shape import Array, Bones, Tree, unit, walk

LONGEST_FINGER = 3
GROUND, CALLED_GROUND = 0.9, 0.6
"""How far down from hip to ankle a bone, and a bone called root, stands on the ground."""


def clavicle(tree: Tree, evidence: Evidence, body: Body, side: int, trunk: set[int]) -> int:
    """The clavicle above an upper arm, -1 for none."""
    other = int(body.arms[1 - side, 0])
    nodes = walk(tree, int(body.arms[side, 0]), lambda n: n in trunk or bool(tree.above(n, other)))
    named = evidence.part("clavicle") - evidence.helper
    nodes = [n for n in nodes if evidence.helper[n] < 0.6]
    return max(nodes, key=lambda n: named[n]) if nodes else -1


def toe(tree: Tree, evidence: Evidence, body: Body, side: int) -> int:
    """The toe joint below a foot, -1 for none; of five toes the big one, which is nearest to the other foot."""
    foot = int(body.legs[side, 2])
    named = evidence.part("toe")
    below = [n for n in tree.below(foot)[1:] if evidence.helper[n] < 0.6]
    depth = {n: len(walk(tree, n, lambda a: a == foot)) for n in below}
    best = [n for n in below if named[n] > 0.6]
    if not best:
        leg = float(np.linalg.norm(tree.heads[foot] - tree.heads[body.legs[side, 1]]))
        ahead = _ahead(tree, body)
        reach = {n: float((tree.heads[n] - tree.heads[foot]) @ ahead) for n in below}
        # A heel goes back, a floor marker down; both also hang from feet.
        best = [n for n in below if not depth[n] and reach[n] > 0.08 * leg and _may_be_toe(evidence, n)]
    if not best:
        return -1
    first = min(depth[n] for n in best)
    middle = tree.heads[body.legs[:, 2]].mean(axis=0)
    across = unit(tree.heads[foot] - middle)
    return min((n for n in best if depth[n] == first), key=lambda n: float((tree.heads[n] - middle) @ across))


def _may_be_toe(evidence: Evidence, node: int) -> bool:
    parts = evidence.hints[node].parts
    return not parts or bool(parts.keys() & {"toe", "finger"})


def _ahead(tree: Tree, body: Body) -> Array:
    """Direction in which the feet point, seen from their joints and all that hangs from them."""
    total = np.zeros(3)
    up = unit(tree.heads[body.arms[:, 0]].mean(axis=0) - tree.heads[body.legs[:, 0]].mean(axis=0))
    for foot in body.legs[:, 2]:
        below = tree.below(int(foot))[1:]
        if below:
            way = tree.heads[below] - tree.heads[int(foot)]
            total += way[np.argmax(np.linalg.norm(way, axis=1))]
    return unit(total - up * (total @ up))


def fingers(tree: Tree, evidence: Evidence, hand: int) -> dict[str, list[int]]:
    """Finger to its joints without metacarpal and tip, up to three.

    A hand of five is read by names, else by order: the thumb starts nearest to the wrist, and the others lie across the
    palm away from it. A hand of fewer is read only if each of its fingers is named and has two joints.
    """
    whole = [(c, t) for c in _chains(tree, evidence, hand) if (t := _trim(tree, evidence, hand, c))]
    chains = [trimmed for _, trimmed in whole]
    called = {i: part for i, c in enumerate(chains) if (part := _called(evidence, c))}
    named = {part: i for i, part in called.items()}
    all_named = "thumb" in named and len(named) == len(chains) > 1 and all(len(c) > 1 for c in chains)
    if all_named or (len(chains) >= len(FINGERS) and set(named) == set(FINGERS)):
        found = named
    elif len(chains) == len(FINGERS) and not named.keys() - {"thumb"}:
        found = _in_order(tree, evidence, hand, chains, named.get("thumb", -1))
    else:
        return {}
    if len(chains[found["thumb"]]) < LONGEST_FINGER:
        # The thumb's metacarpal moves, and counts as its first joint.
        chains[found["thumb"]] = whole[found["thumb"]][0][:LONGEST_FINGER]
    return {finger: chains[found[finger]] for finger in FINGERS if finger in found}


def _called(evidence: Evidence, chain: list[int]) -> str:
    beliefs = {f: sum(evidence.hints[n].parts.get(f, 0.0) for n in chain) for f in FINGERS}
    best = max(beliefs, key=lambda f: beliefs[f])
    return best if beliefs[best] > 0.5 * len(chain) else ""


def _chains(tree: Tree, evidence: Evidence, hand: int) -> list[list[int]]:
    """Unbranched chains below a hand, root to tip, side branches and helpers left out."""
    plain = [n for n in tree.below(hand)[1:] if evidence.helper[n] < 0.6]
    inside = set(plain)
    count = {n: sum(c in inside for c in tree.children[n]) for n in plain}
    tips = [n for n in plain if count[n] == 0]
    found = []
    for tip in tips:
        chain = [tip]
        at = int(tree.parents[tip])
        while at in inside and count[at] == 1:
            chain.append(at)
            at = int(tree.parents[at])
        found.append(chain[::-1])
    return found


def _trim(tree: Tree, evidence: Evidence, hand: int, chain: list[int]) -> list[int]:
    """A chain without its metacarpal and beyond three joints without its tip."""
    metacarpal = evidence.part("metacarpal")
    if len(chain) > 1 and evidence.hints[chain[0]].order == evidence.hints[chain[1]].order:
        chain = chain[1:]
    while chain and metacarpal[chain[0]] > 0.5:
        chain = chain[1:]
    thumb = any(evidence.hints[n].parts.get("thumb", 0.0) > 0.5 for n in chain)
    if len(chain) > LONGEST_FINGER and not thumb and starts_in_palm(tree, hand, chain[0]):
        chain = chain[1:]
    return chain[:LONGEST_FINGER]


def _in_order(tree: Tree, evidence: Evidence, hand: int, chains: list[list[int]], thumb: int) -> dict[str, int]:
    """Finger to chain for five chains without telling names."""
    starts = np.array([tree.heads[c[0]] for c in chains])
    numbers = [evidence.hints[c[0]].order for c in chains]
    numbered = all(evidence.hints[c[0]].parts.get("finger", 0.0) > 0.5 for c in chains)
    if numbered and len(set(numbers)) == len(chains):
        order = sorted(range(len(chains)), key=lambda i: numbers[i])
        return dict(zip(FINGERS, order, strict=True))
    if thumb < 0:
        ways = unit(np.array([tree.heads[c[-1]] - tree.heads[c[0]] for c in chains]))
        near = np.linalg.norm(starts - tree.heads[hand], axis=1)
        thumb = int(np.argmin(near / near.mean() + ways @ unit(ways.sum(axis=0))))
    rest = [i for i in range(len(chains)) if i != thumb]
    spread = starts[rest] - starts[rest].mean(axis=0)
    across = np.linalg.svd(spread)[2][0]
    across = across if (starts[thumb] - starts[rest].mean(axis=0)) @ across < 0 else -across
    ranked = [rest[i] for i in np.argsort(spread @ across, kind="stable")]
    return dict(zip(FINGERS, [thumb, *ranked], strict=True))


def eye(tree: Tree, evidence: Evidence, head: int, side: int) -> int:
    """The eye of a side (+1 left, -1 right) below the head, -1 for none."""
    named = evidence.part("eye")
    nodes = [n for n in tree.below(head)[1:] if named[n] > 0.5 and evidence.sides[n] == side]
    return min(nodes, key=lambda n: (len(tree.children[n]) > 0, evidence.hints[n].order)) if nodes else -1


def jaw(tree: Tree, evidence: Evidence, head: int) -> int:
    """The jaw below the head, -1 for none."""
    named = evidence.part("jaw")
    nodes = [n for n in tree.below(head)[1:] if named[n] > 0.5 and evidence.sides[n] == 0]
    orders = {n: evidence.hints[n].order for n in nodes}
    nodes = [n for n in nodes if not any(tree.above(n, m) and n != m and orders[n] == orders[m] for m in nodes)]
    return max(nodes, key=lambda n: (int(tree.sizes[n]), -n)) if nodes else -1


def root(bones: Bones, tree: Tree, body: Body, hips: int) -> int:
    """The bone above the hips that stands on the ground, -1 for none.

    Of several the one whose name says so most plainly, then the highest.
    """
    named = [h.parts.get("root", 0.0) - h.helper for h in read_names(bones.names)]
    hip, ankle = (tree.heads[body.legs[:, i]].mean(axis=0) for i in (0, 2))
    down = ankle - hip
    found = []
    at = int(bones.parents[hips])
    while at >= 0:
        depth = float((bones.heads[at] - hip) @ down / (down @ down))
        if depth > (CALLED_GROUND if named[at] > 0.6 else GROUND):
            found.append(at)
        at = int(bones.parents[at])
    return max(reversed(found), key=lambda b: named[b]) if found else -1
