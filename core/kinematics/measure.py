"""Measure a rig whose roles are known: its joints in the neutral stance, its ground, its reach.

Joint centres are bone heads; tails count only where they look like ends of segments, because those of glTF bones mean
nothing. What a rig does not show (soles, toe ends, the top of the head) follows from the proportions of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..errors import InvalidRig
from ..maths import quat
from ..skeleton import CHAINS, CORE_ROLES, FINGERS, SIDES, Array, Skeleton
from . import anatomy, stance
from .cast import Cast, Roles, joint_tree, orthonormal, with_neutral
from .flesh import fleshed

TIP, TIP_BENT = (0.4, 1.4), float(np.cos(np.radians(40.0)))
"""How long the last segment of a finger may be, of the one before, and how much of it goes on as that does, where its
tail is taken for the tip."""
ANKLE_HEIGHT_TO_LEG, HEAD_HEIGHT_TO_LEG, TOE_REACH_TO_LEG, TOE_HEIGHT_TO_LEG = 0.079, 0.27, 0.23, 0.02


def cast_rig(
    bones: Sequence[str],
    parents: npt.ArrayLike,
    rest: Array,
    roles: Roles,
    *,
    tails: Array | None = None,
    deform: npt.ArrayLike | None = None,
    world: Array | None = None,
    body: Array | None = None,
    skin: Array | None = None,
    neutral: Mapping[str, Array] | None = None,
) -> Cast:
    """Measure a rig whose roles are known.

    Args:
        bones, parents, rest: All bones, parents first; (N,) and (N, 4, 4) in armature space.
        roles: Role to bone names, root to tip.
        tails: (N, 3) bone tails; used only where they look like ends of segments.
        deform: (N,) bones that move the mesh; those without a role become further joints, unless they lie between two.
        world: (4, 4) armature space to the world [m].
        body: (V, 3) rest vertices of trunk and legs of the skinned meshes in armature space.
        skin: (V, 3) all rest vertices of these meshes; None where the flesh of the hands is the customary one.
        neutral: Bone to its (3, 3) orientation in the neutral stance, where it is known better than measured.
    """
    names = tuple(bones)
    index = {name: i for i, name in enumerate(names)}
    above = np.array(parents, dtype=np.int64)
    world = np.eye(4) if world is None else world
    missing = [role for role in CORE_ROLES if not roles.get(role)]
    if missing:
        raise InvalidRig(f"no bone plays {', '.join(missing)}; set these roles in the Cast panel")
    lost = [f"{role}: {b}" for role, chain in roles.items() for b in chain if b not in index]
    if lost:
        raise InvalidRig(f"bones named by the role map are gone ({', '.join(lost[:5])}); cast the rig again")
    tree, joint_above = joint_tree(roles)
    if len(set(tree.values())) != len(tree):
        double = sorted({b for b in tree.values() if list(tree.values()).count(b) > 1})
        raise InvalidRig(f"bones play two roles at once: {', '.join(double[:5])}")
    at = {joint: index[bone] for joint, bone in tree.items()}
    heads = rest[:, :3, 3]
    unit = float(np.cbrt(abs(np.linalg.det(world[:3, :3]))))
    if unit < 1e-9:
        raise InvalidRig("the armature object has zero scale; set its scale back to 1")
    frame = stance.character_frame({j: heads[i] for j, i in at.items()}, quat.unit(world[2, :3]))
    places = {j: frame.T @ heads[i] * unit for j, i in at.items()}
    leg = _leg(places)
    ends = _ends(at, places, heads @ frame * unit, None if tails is None else tails @ frame * unit, above, leg)
    turns, notes = stance.rest_to_neutral(places, ends, joint_above)

    others = _others(names, above, at, deform)
    order = [*at.values(), *others]
    position = {b: k for k, b in enumerate(order)}
    number = {joint: k for k, joint in enumerate(at)}
    joint_parents = [-1 if p is None else number[p] for p in joint_above.values()]
    turn = [turns[joint] for joint in at]
    for b in others:
        p = above[b]
        while p >= 0 and p not in position:
            p = above[p]
        joint_parents.append(position[p] if p >= 0 else 0)
        turn.append(turn[joint_parents[-1]])
    spots = heads[order] @ frame * unit
    hips = (places["thigh_L"] + places["thigh_R"]) / 2
    bone_spots = spots.copy()
    spots[0] = hips
    offsets = np.zeros((len(order), 3))
    for k in range(1, len(order)):
        offsets[k] = turn[joint_parents[k]] @ (spots[k] - spots[joint_parents[k]])
    sole = _sole(places, ends, leg, None if body is None else body @ frame * unit)
    ankle = np.mean([places[f"foot_{s}"][2] for s in SIDES]) - sole
    drop = np.mean([offsets[[number[f"{r}_{s}"] for r in ("thigh", "shin", "foot")], 2].sum() for s in SIDES])
    offsets[0] = (0.0, 0.0, ankle - drop)

    lying = np.stack(turn) @ frame.T @ orthonormal(rest[order])
    stand = np.eye(4)
    stand[:3, :3] = unit * frame.T
    stand[:3, 3] = -np.array([hips[0], hips[1], sole])
    by_role = {
        role: tuple(number[f"{role}.{i}"] for i in range(len(chain))) if role in CHAINS else (number[role],)
        for role, chain in roles.items()
        if chain and role != "root"
    }
    skeleton = Skeleton(
        names=tuple(names[b] for b in order),
        parents=np.array(joint_parents),
        offsets=offsets,
        tips=_tips(number, joint_parents, offsets, turn, places, ends, leg),
        roles=by_role,
        limits=anatomy.default_limits(by_role, len(order)),
        arm_clearance=_clearance(places, hips, leg, None if body is None else body @ frame * unit),
    )
    if skin is not None and len(skin):
        skeleton = fleshed(skeleton, bone_spots, turn, skin @ frame * unit)
    cast = Cast(
        skeleton=skeleton,
        bones=names,
        parents=above,
        rest=rest,
        joints=np.array(order),
        neutral=lying,
        seat=turn[0] @ (bone_spots[0] - hips),
        frame=frame,
        stand=stand,
        root_bone=index[roles["root"][0]] if roles.get("root") else -1,
        unit=unit,
        notes=notes,
    )
    if not neutral:
        return cast
    return with_neutral(cast, np.stack([neutral.get(names[b], lying[k]) for k, b in enumerate(order)]))


def _leg(places: Mapping[str, Array]) -> float:
    leg = float(
        np.mean(
            [
                np.linalg.norm(places[f"shin_{s}"] - places[f"thigh_{s}"])
                + np.linalg.norm(places[f"foot_{s}"] - places[f"shin_{s}"])
                for s in SIDES
            ]
        )
    )
    if leg < 1e-9:
        raise InvalidRig("the legs of this rig have no length; check the roles of thigh, shin and foot")
    return leg


def _others(
    names: Sequence[str], above: npt.NDArray[np.int64], at: Mapping[str, int], deform: npt.ArrayLike | None
) -> list[int]:
    """Deforming bones without a role, except those that carry a joint: they are part of the segment above it."""
    moves = np.zeros(len(names), bool) if deform is None else np.array(deform, dtype=bool)
    for b in at.values():
        while b >= 0:
            moves[b] = False
            b = int(above[b])
    return np.flatnonzero(moves).tolist()


def _ends(
    at: Mapping[str, int],
    places: Mapping[str, Array],
    heads: Array,
    tails: Array | None,
    above: npt.NDArray[np.int64],
    leg: float,
) -> dict[str, Array]:
    """Knuckles of the hands and toes of the feet, from the heads of children: tails of glTF bones mean nothing. Tips of
    fingers too, where a tail goes on as the finger does."""
    ends: dict[str, Array] = {}
    for side in SIDES:
        hand, foot = f"hand_{side}", f"foot_{side}"
        knuckles = [places[f"{f}_{side}.0"] for f in FINGERS[1:] if f"{f}_{side}.0" in places]
        for joint in (hand, foot):
            mapped = knuckles if joint == hand else [places[f"toe_{side}"]] if f"toe_{side}" in places else []
            near = heads[(above == at[joint]) & (np.linalg.norm(heads - places[joint], axis=1) > 0.05 * leg)]
            if joint == hand and mapped:
                near = np.array(mapped)
            elif joint == foot:
                near = np.concatenate([near, np.reshape(mapped, (-1, 3))])
                if not len(near) and tails is not None and tails[at[joint]][1] < places[joint][1] - 0.05 * leg:
                    near = tails[at[joint]][None]
                reach = places[joint][1] - near[:, 1]
                # all toes count, not only the mapped one; heels and helpers behind do not
                near = near[reach > 0.6 * reach.max(initial=0.0)] if len(near) else near
            if len(near):
                ends[joint] = near.mean(axis=0)
        for finger in FINGERS:
            chain = [joint for joint in at if joint.startswith(f"{finger}_{side}.")]
            if tails is None or len(chain) < 2:
                continue
            last, before = chain[-1], places[chain[-1]] - places[chain[-2]]
            beyond = tails[at[last]] - places[last]
            size = float(np.linalg.norm(beyond) / max(float(np.linalg.norm(before)), 1e-9))
            if TIP[0] < size < TIP[1] and float(quat.unit(beyond) @ quat.unit(before)) > TIP_BENT:
                ends[last] = tails[at[last]]
    return ends


def _sole(places: Mapping[str, Array], ends: Mapping[str, Array], leg: float, body: Array | None) -> float:
    """Height of the ground under the resting feet in character axes [m]."""
    ankle = float(np.mean([places[f"foot_{s}"][2] for s in SIDES]))
    guess = ankle - ANKLE_HEIGHT_TO_LEG * leg
    toes = [
        p[2] - TOE_HEIGHT_TO_LEG * leg for j, p in (*places.items(), *ends.items()) if j.startswith(("toe", "foot"))
    ]
    guess = float(min(guess, *toes))
    if body is not None and len(body):
        low = float(body[:, 2].min())
        # a skirt, cape or prop below the feet is not the sole
        if abs(low - guess) < 0.15 * leg:
            return low
    return guess


def _tips(
    number: Mapping[str, int],
    parents: Sequence[int],
    offsets: Array,
    turn: Sequence[Array],
    places: Mapping[str, Array],
    ends: Mapping[str, Array],
    leg: float,
) -> Array:
    """(J, 3): the next joint of the same limb, else a measured or customary end."""
    tips = np.zeros_like(offsets)
    for joint, k in number.items():
        below = [offsets[c] for other, c in number.items() if parents[c] == k and other.split(".")[0] != "jaw"]
        base = joint.split(".")[0]
        if joint in ends:
            tips[k] = turn[k] @ (ends[joint] - places[joint])
        elif base == "head":
            tips[k] = (0.0, 0.0, HEAD_HEIGHT_TO_LEG * leg)
        elif base.startswith("toe"):
            tips[k] = offsets[k] * (1, 1, 0) * 0.5
        elif base.startswith("foot"):
            tips[k] = (0.0, -TOE_REACH_TO_LEG * leg, -ANKLE_HEIGHT_TO_LEG * leg)
        elif base in ("eye_L", "eye_R", "jaw"):
            tips[k] = (0.0, -0.05 * leg, 0.0)
        elif joint == "hips" and "spine.0" in number:
            tips[k] = offsets[number["spine.0"]]
        elif base == "spine" and len(below) > 1:
            following = number.get("neck.0", number.get("head"))
            tips[k] = below[0] if following is None or parents[following] != k else offsets[following]
        elif below:
            tips[k] = np.mean(below, axis=0)
        else:
            tips[k] = 0.8 * offsets[k]
    for k in range(len(number), len(offsets)):
        below = [offsets[c] for c in range(len(offsets)) if parents[c] == k]
        tips[k] = below[0] if below else 0.8 * offsets[k]
    return tips


def _clearance(places: Mapping[str, Array], hips: Array, leg: float, body: Array | None) -> float:
    shoulder = places["upper_arm_L"] - hips
    arm = float(
        np.linalg.norm(places["forearm_L"] - places["upper_arm_L"])
        + np.linalg.norm(places["hand_L"] - places["forearm_L"])
    )
    wide = abs(places["thigh_L"][0] - hips[0])
    # without a mesh: the outside of thighs about as thick as the hips are wide
    outline = np.array([[1.9 * wide, 0.0, places["thigh_L"][2] - hips[2] - 0.1 * leg]])
    if body is not None and len(body):
        outline = body - hips
    return stance.arm_clearance(shoulder, 1.2 * arm, 0.05 * leg, outline)
