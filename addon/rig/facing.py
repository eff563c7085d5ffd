"""Which side is left: by names, else by where the body faces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.skeleton import Array
from .body import LEANING, Body
from .limbs import Evidence
from .shape import Ints, Tree, aside, unit

CONTRARY = 0.3
"""Evidence of a front from which on names that say otherwise are worth a warning."""


def sided(tree: Tree, tails: Array, evidence: Evidence, body: Body) -> tuple[Body, float, str]:
    """The body with its left limbs first, the trust in that, and a warning or nothing.

    Sides in names win. Without them the front tells: feet point to it, knees bend to it, elbows away from it, the
    face lies on it. Without a front the left is on +X, as in files that face -Y or +Z.
    """
    lateral = tree.heads[body.legs[0, 0]] - tree.heads[body.legs[1, 0]]
    across = tree.heads[body.arms[0, 0]] - tree.heads[body.arms[1, 0]]
    arms = body.arms if lateral @ across >= 0 else body.arms[::-1]
    front = facing(tree, tails, body, arms)
    legs_say, arms_say = (int(np.diff(evidence.sides[limbs[::-1]].sum(axis=1))[0]) for limbs in (body.legs, arms))
    if legs_say or arms_say:
        # Each pair by its own names: a rest pose may cross the arms over.
        legs = body.legs if (legs_say or arms_say) > 0 else body.legs[::-1]
        arms = arms if (arms_say or legs_say) > 0 else arms[::-1]
        odd = (legs_say or arms_say) * front < 0 and abs(front) > CONTRARY and body.faults[LEANING] < 0.5
        return _with(body, legs, arms), 1.0, "Names call the side left that looks like the right one" if odd else ""
    trust, origin = min(1.0, abs(front) * 4), "where it faces"
    if abs(front) < 0.02:
        front, trust, origin = float(np.sign(lateral[np.argmax(np.abs(lateral))])), 0.2, "the X axis, check it"
    legs = body.legs if front > 0 else body.legs[::-1]
    said = f"Bone names tell no left and right: taken from {origin}"
    return _with(body, legs, arms if front > 0 else arms[::-1]), trust, said


def _with(body: Body, legs: Ints, arms: Ints) -> Body:
    return replace(body, legs=legs, arms=arms)


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
        chord = unit(c - a)
        hinge = b - a - ((b - a) * chord).sum(axis=1, keepdims=True) * chord
        votes += float((sign * weight * bent * (hinge @ front) / leg).sum())
    face = tree.below(body.head)[1:]
    if face:
        votes += 1.0 * float(np.clip(np.median((at[face] - at[body.head]) @ front) / leg, -0.1, 0.1))
    return votes
