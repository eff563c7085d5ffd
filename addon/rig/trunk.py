"""From the hips to the head: which bones are hips, spine and neck."""

from __future__ import annotations

import numpy as np

from .body import Body
from .limbs import Evidence
from .shape import Array, Tree, unit


def trunk(tree: Tree, evidence: Evidence, body: Body) -> dict[str, tuple[int, ...]]:
    """Nodes of hips, spine, neck and head.

    `hips` is the bone that carries both thighs and the spine. Where several bones could be it, its name decides; of two
    that are both named so (hip above pelvis) the upper one, which carries the spine too.
    """
    hips = _hips(tree, evidence, body)
    path = tree.path(body.head)
    if hips in path:
        chain = path[path.index(hips) + 1 : -1]
    else:
        fork = tree.common(hips, body.head)
        chain = path[path.index(fork) + 1 : -1] if fork >= 0 else path[:-1]
    spine, neck = _split(tree, evidence, body, [n for n in chain if not _beside(evidence, n)])
    roles = {"hips": (hips,), "spine": tuple(spine), "neck": tuple(neck), "head": (body.head,)}
    return {role: nodes for role, nodes in roles.items() if nodes}


def _beside(evidence: Evidence, node: int) -> bool:
    """Whether a bone in the trunk is only a carrier: a second hips bone, a root, a helper."""
    parts = evidence.hints[node].parts
    trunk = max(parts.get("spine", 0.0), parts.get("neck", 0.0))
    return evidence.helper[node] > 0.6 or max(parts.get("hips", 0.0), parts.get("root", 0.0)) > trunk + 0.2


def _hips(tree: Tree, evidence: Evidence, body: Body) -> int:
    thighs = [int(n) for n in body.legs[:, 0]]
    top, path = tree.common(*thighs), tree.path(body.head)
    middle = tree.heads[thighs].mean(axis=0)
    shoulders = tree.heads[body.arms[:, 0]].mean(axis=0)
    up = unit(shoulders - middle)
    leg = float(np.linalg.norm(np.diff(tree.heads[body.legs], axis=1), axis=2).sum(axis=1).mean())
    carrier = tree.common(*thighs, body.head)
    arms = tree.common(*(int(n) for n in body.arms[:, 0]))
    nodes = dict.fromkeys(tree.path(top) if top >= 0 else [])
    below_chest = (n for n in path[:-1] if n == top or arms < 0 or not tree.above(arms, n))
    nodes.update(dict.fromkeys(below_chest))
    if not nodes:
        nodes = dict.fromkeys(path[:-1] or path)
    named, spine = evidence.part("hips"), evidence.part("spine")

    def score(node: int) -> float:
        off = tree.heads[node] - middle
        value = 1.5 * named[node] - 0.4 * max(0.0, spine[node] - named[node]) - 1.5 * evidence.helper[node]
        value -= 1.0 * max(0.0, float(np.linalg.norm(off)) / leg - 0.15)
        if node == top:
            value += 0.5
        if carrier >= 0 and tree.above(node, carrier):
            value += 0.3
            if named[node] > 0.6:
                value += 0.4 * sum(bool(named[n] > 0.6 and n != node and tree.above(node, n)) for n in nodes)
        return value

    best = max(nodes, key=score)
    lone = int(tree.parents[best])
    alone = lone >= 0 and tree.sizes[lone] - tree.sizes[best] < 4
    if named[best] < 0.3 and alone and named[lone] >= named[best]:
        near = np.linalg.norm(tree.heads[[lone, best]] - middle, axis=1)
        if near[0] < near[1]:
            return lone
    if named[best] < 0.3 and best in path[:-1]:
        # Unnamed: a carrier of legs and trunk from which the trunk first goes down is not itself the pelvis.
        after = path[path.index(best) + 1]
        if after != body.head and (tree.heads[after] - tree.heads[best]) @ up < -0.04 * leg:
            return after
    return best


def _split(tree: Tree, evidence: Evidence, body: Body, chain: list[int]) -> tuple[list[int], list[int]]:
    """A chain from hips to head cut into spine and neck: at the first bone named neck, else where the arms attach."""
    neck, spine = evidence.part("neck"), evidence.part("spine")
    for i, node in enumerate(chain):
        if neck[node] > 0.5 and neck[node] > spine[node]:
            return chain[:i], chain[i:]
    arms = [int(n) for n in body.arms[:, 0]]
    chest = tree.common(*arms)
    last = max((i for i, n in enumerate(chain) if chest >= 0 and tree.above(n, chest)), default=-1)
    if last < 0:
        return _split_by_height(tree, body, chain)
    if last == len(chain) - 1 and last > 0:
        # Clavicles may hang from the neck: then it stands above the line of the shoulders.
        height = _heights(tree, body, [chain[last]])
        if height[0] > 1.05:
            return chain[:last], chain[last:]
    return chain[: last + 1], chain[last + 1 :]


def _split_by_height(tree: Tree, body: Body, chain: list[int]) -> tuple[list[int], list[int]]:
    under = [n for n, h in zip(chain, _heights(tree, body, chain), strict=True) if h < 1.0]
    return under, chain[len(under) :]


def _heights(tree: Tree, body: Body, nodes: list[int]) -> Array:
    """Heights of nodes in the trunk: 0 at the hip joints, 1 at the line of the shoulders."""
    low, high = (tree.heads[limbs[:, 0]].mean(axis=0) for limbs in (body.legs, body.arms))
    way = high - low
    return np.asarray((tree.heads[nodes] - low) @ way / (way @ way)).reshape(-1)
