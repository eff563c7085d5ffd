"""Which bone plays which role: names, hierarchy and position weighed in one decision."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core.errors import InvalidRig
from ...core.skeleton import ARM, CORE_ROLES, FINGERS, LEG, ROLES, SIDES
from .body import LEANING, Body, find_body
from .conventions import HIDDEN, convention_of
from .extremities import clavicle, eye, fingers, jaw, root, toe
from .facing import sided
from .limbs import Evidence
from .names import Hint, read_names
from .shape import Bones, Tree, deform_tree, joined, unit, walk, whole_tree
from .trunk import trunk

__all__ = ["Bones", "Mapping", "detect"]

FEWEST = len(CORE_ROLES)
TRUSTED = 0.55
"""Mean belief of the names from which on an odd rest pose is no reason to refuse a rig."""
LEAST = 3.3
"""Evidence for a body from which on a rig is taken for one without help of names; people have 7 to 13."""
WORST = 3.5
"""Cost of all that is unlike a human, up to which it may be one without help of names."""
HORIZONTAL = 0.9
"""Angle between trunk and legs [rad] from which on a body is not upright."""
TRUNK = ("hips", "spine", "neck", "head")
CARRIERS = {
    **dict(zip(TRUNK[1:], TRUNK[:-1], strict=True)),
    **{"clavicle": "spine", "upper_arm": "clavicle", "forearm": "upper_arm", "hand": "forearm"},
    **{"thigh": "hips", "shin": "thigh", "foot": "shin", "toe": "foot"},
}
"""The part that a part hangs from."""


@dataclass(frozen=True)
class Mapping:
    """Roles found on a rig.

    Attributes:
        roles: Role to the names of its bones, root to tip.
        score: Mean confidence over the roles every humanoid has, 0..1.
        confidence: Role to confidence, 0..1.
        warnings: Sentences about what is uncertain.
        convention: The family of rigs its names are known from, or "unknown".
    """

    roles: dict[str, tuple[str, ...]]
    score: float
    confidence: dict[str, float]
    warnings: tuple[str, ...]
    convention: str


def detect(bones: Bones) -> Mapping:
    """Map a humanoid armature to roles; InvalidRig tells why it is not one."""
    if not len(bones):
        raise InvalidRig("the armature has no bones")
    if len(bones) < FEWEST:
        raise InvalidRig(f"the armature has {len(bones)} bones; a humanoid needs at least {FEWEST}")
    if float(np.linalg.norm(np.ptp(bones.heads, axis=0))) < 1e-9:
        raise InvalidRig("all bones start at one point: the rest pose has no extent")
    bones = bones.sorted()
    readings = _readings(bones)
    errors = [r for r in readings if isinstance(r, InvalidRig)]
    bodies = [r for r in readings if not isinstance(r, InvalidRig)]
    if not bodies:
        names = _unnamed(read_names(bones.names))
        raise InvalidRig(f"not a humanoid: {errors[0]}, and the bone names do not help{names}")
    tree, evidence, body = bodies[0]
    _check_upright(tree, body, _unnamed(read_names(bones.names)))
    return _mapping(bones, tree, evidence, body)


def _readings(bones: Bones) -> list[tuple[Tree, Evidence, Body] | InvalidRig]:
    """Readings of the deforming bones and of all bones, the better one first."""
    trees = [whole_tree(bones)]
    if FEWEST <= int(bones.deform.sum()) < len(bones):
        trees.insert(0, deform_tree(bones))
    found: list[tuple[Tree, Evidence, Body] | InvalidRig] = []
    trusted = _coherent(trees[-1], read_names(bones.names))
    for tree in trees:
        try:
            reading = _read(bones, tree, trusted)
        except InvalidRig as error:
            found.append(error)
            continue
        found.append(reading)
        body = reading[2]
        if body.named > TRUSTED or sum(body.faults.values()) < 0.5 * WORST:
            break
    bodies = [r for r in found if not isinstance(r, InvalidRig)]
    return [*sorted(bodies, key=lambda r: -r[2].score), *(r for r in found if isinstance(r, InvalidRig))]


def _read(bones: Bones, tree: Tree, trusted: bool) -> tuple[Tree, Evidence, Body]:
    hints = read_names(tuple(bones.names[int(b)] for b in tree.bones))
    if not trusted:
        hints = tuple(replace(h, side="", parts={}, helper=0.0, stem=str(i)) for i, h in enumerate(hints))
    tree = tree.hung(_carried(tree, hints))
    sides = np.array([{"L": 1, "R": -1}.get(h.side, 0) for h in hints])
    parts = {part for h in hints for part in h.parts}
    beliefs = {part: np.array([h.parts.get(part, 0.0) for h in hints]) for part in sorted(parts)}
    evidence = Evidence(hints, np.array([h.helper for h in hints]), sides, beliefs)
    body = find_body(tree, evidence)
    if tree.common(body.head, *(int(n) for n in (*body.legs[:, 0], *body.arms[:, 0]))) < 0:
        tree = joined(tree, bones.tails[tree.bones], body.head)
    return tree, evidence, body


def _unnamed(hints: tuple[Hint, ...]) -> str:
    """What the names of a rig speak of and what they leave out, when they speak of a body at all."""
    wanted = (*LEG[:3], *ARM[1:], "head")
    spoken = [p for p in wanted if sum(h.parts.get(p, 0.0) > 0.5 for h in hints) > (p != "head")]
    silent = [p for p in wanted if p not in spoken]
    return f"; they speak of {', '.join(spoken)}, but of no {', '.join(silent)}" if len(spoken) > 2 and silent else ""


def _coherent(tree: Tree, hints: tuple[Hint, ...]) -> bool:
    """Whether names fit the hierarchy: what is left hangs from what is left, a hand from an arm."""
    rank = {part: (limb, i) for limb, parts in (("arm", ARM), ("leg", LEG)) for i, part in enumerate(parts)}
    places = [next((rank[p] for p, w in h.parts.items() if w > 0.5 and p in rank), None) for h in hints]
    same_side: list[bool] = []
    in_order: list[bool] = []
    for node, hint in enumerate(hints):
        above = [n for n in walk(tree, node, lambda n: False) if hints[n].side] if hint.side else []
        if above:
            same_side.append(hints[above[0]].side == hint.side)
        place, upper = places[node], next((p for n in above if (p := places[n])), None)
        if place and upper:
            in_order.append(upper[0] == place[0] and upper[1] <= place[1])
    return all(len(seen) < 4 or np.mean(seen) >= least for seen, least in ((same_side, 0.8), (in_order, 0.6)))


def _carried(tree: Tree, hints: tuple[Hint, ...]) -> dict[int, int]:
    """Bones that hang elsewhere than names say (feet under the root), to the bone that should carry them."""

    def called(part: str, side: str, least: float) -> list[int]:
        return [n for n, h in enumerate(hints) if h.side == side and h.parts.get(part, 0.0) > least]

    links: dict[int, int] = {}
    for part, carrier in CARRIERS.items():
        for side in ("",) if part in TRUNK else SIDES:
            nodes, carriers = called(part, side, 0.8), called(carrier, "" if carrier in TRUNK else side, 0.5)
            if not nodes or not carriers or any(tree.above(c, n) for c in carriers for n in nodes):
                continue
            for node in (n for n in nodes if not any(tree.above(m, n) for m in nodes if m != n)):
                near = [c for c in carriers if not tree.above(node, c)]
                # What hangs from nothing finds its place in the trunk by position.
                if near and (carrier not in TRUNK or tree.parents[node] >= 0):
                    links[node] = min(near, key=lambda c: float(np.linalg.norm(tree.heads[c] - tree.heads[node])))
    return links


def _check_upright(tree: Tree, body: Body, names: str) -> None:
    """Refuse quadrupeds, whatever their bones are called, and other bodies unlike a human that no names vouch for."""
    hips, ankles = tree.heads[body.legs[:, 0]], tree.heads[body.legs[:, 2]]
    shoulders, hands = tree.heads[body.arms[:, 0]], tree.heads[body.arms[:, 2]]
    trunk = unit(shoulders.mean(axis=0) - hips.mean(axis=0))
    legs, arms = unit((ankles - hips).mean(axis=0)), unit((hands - shoulders).mean(axis=0))
    lean = float(np.arccos(np.clip(-trunk @ legs, -1, 1)))
    if HORIZONTAL < lean < np.pi - HORIZONTAL and arms @ legs > 0.7:
        raise InvalidRig("not a humanoid: the trunk lies across the legs and the arms stand beside them, on all fours")
    cost = sum(body.faults.values())
    doubtful = cost > WORST or body.score - 2.0 * body.faults[LEANING] < LEAST
    if body.named < TRUSTED and (doubtful or lean > 1.2):
        worst = max(body.faults, key=lambda text: body.faults[text])
        reason = worst if body.faults[worst] > 0.5 else "arms, legs and head are not clear"
        raise InvalidRig(f"not a humanoid: {reason}, and the bone names do not help{names}")


def _mapping(bones: Bones, tree: Tree, evidence: Evidence, body: Body) -> Mapping:
    body, side_trust, said = sided(tree, bones.tails[tree.bones], evidence, body)
    nodes = trunk(tree, evidence, body)
    inner = {n for chain in nodes.values() for n in chain}
    single = {"jaw": jaw(tree, evidence, body.head)}
    for i, side in enumerate(SIDES):
        nodes |= {f"{part}_{side}": (int(n),) for part, n in zip(LEG[:3], body.legs[i], strict=True)}
        nodes |= {f"{part}_{side}": (int(n),) for part, n in zip(ARM[1:], body.arms[i], strict=True)}
        nodes |= {f"{finger}_{side}": tuple(c) for finger, c in fingers(tree, evidence, int(body.arms[i, 2])).items()}
        single[f"clavicle_{side}"] = clavicle(tree, evidence, body, i, inner)
        single[f"toe_{side}"] = toe(tree, evidence, body, i)
        single[f"eye_{side}"] = eye(tree, evidence, body.head, 1 - 2 * i)
    nodes |= {role: (node,) for role, node in single.items() if node >= 0}
    confidence = _confidence(evidence, body, nodes, side_trust)
    players = [n for chain in nodes.values() for n in chain]
    if len(set(players)) < len(players):
        raise InvalidRig("not a humanoid: hips, head and limbs are not bones of their own")
    roles = {role: tuple(bones.names[int(tree.bones[n])] for n in chain) for role, chain in nodes.items()}
    above = root(bones, tree, body, int(tree.bones[nodes["hips"][0]]))
    if above >= 0:
        roles["root"], confidence["root"] = (bones.names[above],), confidence["hips"]
    for role, name in HIDDEN.get(convention_of(bones.names), {}).items():
        if role not in roles and name in bones.names:
            roles[role], confidence[role] = (name,), confidence["head"]
    return Mapping(
        {role: roles[role] for role in ROLES if role in roles},
        float(np.mean([confidence[role] for role in CORE_ROLES])),
        {role: confidence[role] for role in ROLES if role in roles},
        _warnings(body, roles, said),
        convention_of(bones.names),
    )


def _confidence(
    evidence: Evidence, body: Body, nodes: dict[str, tuple[int, ...]], side_trust: float
) -> dict[str, float]:
    shape = 0.7 * float(np.exp(-sum(body.faults.values()) / 3))
    found = {}
    for role, chain in nodes.items():
        part, _, side = role.rpartition("_") if role[-2:] in ("_L", "_R") else (role, "", "")
        parts = [part, "finger"] if part in FINGERS else [part]
        named = float(np.mean([max(evidence.hints[n].parts.get(p, 0.0) for p in parts) for n in chain]))
        found[role] = (1.0 - (1.0 - 0.95 * named) * (1.0 - shape)) * (0.5 + 0.5 * side_trust if side else 1.0)
    return found


def _warnings(body: Body, roles: dict[str, tuple[str, ...]], about_sides: str) -> tuple[str, ...]:
    found = [f"Odd for a human: {text}" for text, cost in body.faults.items() if cost > 1.0]
    if about_sides:
        found.append(about_sides)
    if "spine" not in roles:
        found.append("No bone between hips and head")
    for part in ("clavicle", "toe"):
        if not roles.keys() & {f"{part}_{side}" for side in SIDES}:
            found.append(f"No {part}s")
    return tuple(found)
