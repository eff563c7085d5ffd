"""The bodies with which a task is tried: as it is, leaning, crouching and standing closer; and where its target is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from ...errors import InvalidParam, InvalidRig, NoGrasp, NoIK
from ...filters.join import join
from ...kinematics import anatomy, fk
from ...kinematics.fingers import finger_joints
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Motion
from ...performance import Performance
from ...skeleton import ARM, SIDES, Array, Pose, Skeleton
from ...world import Body, World
from ..spaces.arm_space import Arm
from ..spaces.penetration import penetrations
from ..spaces.rooms import with_rooms
from ..spaces.solids import matrix_at, parted
from ..walkers.tasks import chained
from .crouching import BOWING, DEEP, backwards, can_crouch, going_down
from .holding import hand_matrix
from .meanwhile import in_hand_meanwhile
from .nearest import nearest
from .stages import LEANING, Holding
from .stepping_up import stepped
from .task import Job

UP = np.array([0.0, 0.0, 1.0])
STILL, SHIFT = 2.0, 0.01
"""How long what is reached for has to keep still [s], and how still [m]."""
LEANS = tuple(np.radians([10.0, 20.0, 30.0, 40.0]))
"""How far the trunk leans, when that helps [rad]."""
DEPTHS = (0.3, 0.55, 0.8, 1.0, 1.2)
"""How far the knees bend, when that helps; 1 is a usual crouch, more a squat on the toes."""
ARMS_BACK = (0.0, 0.5, 0.85)
"""How far arms are kept at a trunk that bends, where they would hang into something."""
BOWS, BOWED = (0.3, 0.5, 0.7), (0.3, 1.05)
"""How far it bows over something, of what it can; for what has which height, of that of the hips."""
LOW = 0.85
"""What is lower than this, of the height of the hips, may be crouched for."""
BROAD = 0.4
"""Of this size on, a thing is touched where it is near, however far its middle is [m]."""
FARTHEST = 1.3
"""How far from the shoulder a thing may be whose middle is not what is taken, in lengths of the arm."""


def target_of(job: Job) -> Body:
    """What a task is about.

    Raises:
        InvalidParam: The world has no such thing (any more).
    """
    name = job.params.target or (job.holding.prop if job.holding is not None else "")
    for body in job.world.bodies:
        if body.name == name:
            return body
    known = ", ".join(sorted(b.name for b in job.world.bodies)[:12])
    raise InvalidParam("target", name, f"must be one of the bodies of the world: {known}")


def destination_of(job: Job) -> Array:
    """(4, 4) where a prop is to go.

    Raises:
        InvalidParam: Nothing says where.
    """
    goal = job.destination
    if goal is None:
        goal = next((b.matrices[0] for b in job.world.bodies if b.name == job.params.destination), None)
    if goal is None:
        raise InvalidParam("destination", job.params.destination, "must say where it is taken")
    return np.asarray(goal)


def check(job: Job, target: Body) -> None:
    """Refuse what no hand can do, before anything is sought.

    Raises:
        InvalidRig: The actor has no arm.
        NoGrasp: There is nothing to take hold of, or it does not keep still.
    """
    able = [side for side in SIDES if has_arm(job, side)]
    asked = {"auto": SIDES[:0], "both": SIDES}.get(job.params.hand, (job.params.hand,))
    missing = [side for side in asked if side not in able]
    if missing or not able:
        side = missing[0] if missing else SIDES[0]
        lacks = next(part for part in ARM[1:] if not job.skeleton.has(f"{part}_{side}"))
        raise InvalidRig(
            f"{job.actor} has no arm to reach with: {lacks}_{side} is missing; map it in the table of roles"
        )
    if job.params.task == "point" or job.holding is not None:
        return
    if not len(target.triangles) and not (job.grasps or {}).get(target.name):
        raise NoGrasp(f"{target.name} has no mesh to take hold of; choose a mesh, or give it a grasp by hand")
    if len(target.matrices) > 1 and target.name not in (job.moved or {}):
        first = int(np.clip(round(job.time * job.world.fps), 0, len(target.matrices) - 1))
        soon = target.matrices[first : first + 1 + int(np.ceil(STILL * job.world.fps)), :3, 3]
        away = float(np.linalg.norm(soon - soon[0], axis=1).max())
        if away > SHIFT:
            raise NoGrasp(
                f"{target.name} moves by {away:.2f} m in the next {STILL:.0f} s; reach for it when it keeps still"
            )


def has_arm(job: Job, side: str) -> bool:
    """Whether the actor has upper arm, forearm and hand on a side."""
    return all(job.skeleton.has(f"{part}_{side}") for part in ARM[1:])


@dataclass(frozen=True, eq=False)
class Stand:
    """A body with which a task is tried.

    Attributes:
        job: The task there.
        leaned: Rotations (J, 4) of the body while it works, where it leans.
        walked: How it got there.
        carried: (T, 4, 4) of what it holds meanwhile, by name.
        rising: How it gets up when it is done, where it crouches.
    """

    job: Job
    leaned: Array | None = None
    walked: Motion | None = None
    carried: Mapping[str, Array] = field(default_factory=dict)
    rising: Motion | None = None


def bodies_for(job: Job, target: Body) -> list[Callable[[], Stand]]:
    """The body as it is, then leaning, bowing, crouching, and standing closer; each found when it is needed."""
    out = _postures(lambda: Stand(job), job, target)
    if job.params.step:
        for far in (False, True):
            out += _postures(cache(partial(_closer, job, target, far)), job, target)
    return out


def _postures(stand: Callable[[], Stand], job: Job, target: Body) -> list[Callable[[], Stand]]:
    """A body where it stands: upright, leaning, bowing and crouching."""
    out = [stand]

    def leaning(angle: float) -> Stand:
        here = stand()
        return replace(here, leaned=leaned(here.job, target, angle))

    def lower(depth: float, deep: float) -> Stand:
        return crouching(stand(), target, depth, deep)

    if job.params.lean and job.skeleton.has("spine"):
        out += [partial(leaning, angle) for angle in LEANS]
    if job.params.crouch and can_crouch(job.skeleton, job.pose):
        height = lowest_of(job, target) / job.pose.root[2]
        if BOWED[0] < height < BOWED[1]:
            out += [partial(lower, depth, BOWING) for depth in BOWS]
        if height < LOW:
            out += [partial(lower, depth, DEEP) for depth in DEPTHS]
    return out


def _closer(job: Job, target: Body, far: bool) -> Stand:
    """A body that has walked to where the target, or the place for what it holds, is in reach."""
    place = place_of(job, target) if job.holding is None or job.destination is None else job.destination[:3, 3]
    held = [h for h in (job.holding, job.other) if h is not None]
    world = as_moved(job, [h.prop for h in held])
    hand = held[0].side if len(held) == 1 else job.params.hand
    facing = None if not held or job.destination is None else _facing(job, held[0], job.destination)
    full = [h.side for h in held]
    walked = stepped(job.skeleton, job.pose, world, place, job.fps, hand, job.moved, job.shapes, far, facing, full)
    carried: Mapping[str, Array] = {}
    if held:
        walked, carried = in_hand_meanwhile(walked, held, {b.name: b for b in job.world.bodies}, job.pose, world)
        offences = penetrations(walked, world, sides=[h.side for h in held], shapes=job.shapes)
        if offences:
            raise NoIK(f"{offences[0].body} is in the way of {offences[0].part} as it steps closer")
    there = replace(job, pose=walked.pose(len(walked) - 1), time=job.time + walked.duration)
    return Stand(there, None, walked, carried)


def _facing(job: Job, holding: Holding, goal: Array) -> float:
    """Heading with which what is held is turned as it should be at a matrix (4, 4), the arm as it is [rad]."""
    pose = job.pose
    _, globals = fk.forward(job.skeleton, pose.rotations, pose.root)
    now = hand_matrix(job.skeleton, pose.rotations, pose.root, holding.side) @ holding.offset
    turn = parted(goal)[0] @ parted(now)[0].T
    return float(quat.heading(globals[0]) + np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))


def crouching(stand: Stand, target: Body, depth: float, deep: float = DEEP) -> Stand:
    """A body that crouches where it stands, or bows, with what it holds.

    Raises:
        NoIK: That does not bring a hand near enough.
    """
    failure: NoIK | None = None
    for back in ARMS_BACK:
        try:
            return _crouching(stand, target, depth, deep, back)
        except NoIK as error:
            failure = failure or error
            if error.far > 0:
                break
    assert failure is not None
    raise failure


def _crouching(stand: Stand, target: Body, depth: float, deep: float, back: float) -> Stand:
    """The same with arms that are kept back at the trunk so far."""
    job, skeleton = stand.job, stand.job.skeleton
    down = going_down(skeleton, job.pose, depth, job.fps, deep, back)
    end = down.pose(len(down) - 1)
    places, _ = fk.forward(skeleton, end.rotations, end.root)
    shoulders = [places[skeleton.joint(f"upper_arm_{side}")] for side in SIDES if has_arm(job, side)]
    goal = place_of(job, target) if job.destination is None else job.destination[:3, 3]
    far = min(float(np.linalg.norm(goal - shoulder)) for shoulder in shoulders)
    reach = sum(float(np.linalg.norm(skeleton.offsets[skeleton.joint(f"{r}_{SIDES[0]}")])) for r in ("forearm", "hand"))
    if far > FARTHEST * reach:
        raise NoIK(f"crouching, it is {far - reach:.2f} m out of reach", far - reach)
    walked, rising = down, backwards(down)
    carried: Mapping[str, Array] = {}
    if job.holding is not None:
        held = [h for h in (job.holding, job.other) if h is not None]
        world = as_moved(job, [h.prop for h in held])
        walked, carried = in_hand_meanwhile(down, held, {b.name: b for b in job.world.bodies}, job.pose, world)
        end = walked.pose(len(walked) - 1)
        # the arms come back to where they hang from the trunk that is bent, and get up with it
        up = going_down(skeleton, replace(job.pose, rotations=empty_handed(job, held)), depth, job.fps, deep, back)
        rising = backwards(up)
        held = [replace(h, before=up.rotations[-1]) for h in held]
        first, other = (*held, None)[:2]
        job = replace(job, holding=first, other=other)
    bent = walked
    if stand.walked is not None:
        walked = chained([stand.walked, walked])
        carried = {name: np.concatenate([stand.carried[name], way[1:]]) for name, way in carried.items()}
    there = replace(job, pose=end, time=job.time + down.duration)
    held_ones = [h.prop for h in (job.holding, job.other) if h is not None]
    if found := penetrations(bent, as_moved(job, held_ones), shapes=job.shapes):
        raise NoIK(f"{found[0].body} is in the way of {found[0].part} as it crouches")
    return Stand(there, None, walked, carried, rising)


def empty_handed(job: Job, held: Sequence[Holding]) -> Array:
    """Rotations (J, 4) to which a body comes back when it has put down what it holds."""
    if held[0].before is not None:
        return np.asarray(held[0].before)
    out = np.array(job.pose.rotations)
    positions, globals = fk.forward(job.skeleton, out, job.pose.root)
    for holding in held:
        arm, fingers = Arm(job.skeleton, holding.side, positions, globals), finger_joints(job.skeleton, holding.side)
        if holding.rest is not None:
            out[arm.joints] = arm.rotations(np.asarray(holding.rest))
        if holding.relaxed is not None:
            out[fingers] = holding.relaxed[fingers]
    return out


def in_rooms(job: Job) -> Job:
    """The same with nothing but walls of the rooms that it is in, from its hips to its head."""
    skeleton, pose = job.skeleton, job.pose
    places, _ = fk.forward(skeleton, pose.rotations, pose.root)
    trunk = [j for role in ("hips", "spine", "neck", "head") if skeleton.has(role) for j in skeleton.chain(role)]
    return replace(job, world=with_rooms(job.world, places[trunk or [0]], job.time, job.shapes))


def as_moved(job: Job, but: Collection[str] = ()) -> World:
    """The world with what was moved where it is, and without some of it."""
    moved = job.moved or {}
    bodies = (replace(b, matrices=moved[b.name][None]) if b.name in moved else b for b in job.world.bodies)
    return replace(job.world, bodies=tuple(b for b in bodies if b.name not in but))


def straightening(job: Job, bent: Array) -> Motion:
    """How a trunk that leans, with rotations (J, 4), comes back to where it was."""
    count = int(np.ceil(LEANING * job.fps))
    rotations = quat.slerp(bent, job.pose.rotations, smootherstep(np.arange(count + 1) / count)[:, None])
    return Motion(job.skeleton, job.fps, np.tile(job.pose.root, (count + 1, 1)), quat.continuous(rotations))


def risen(performance: Performance, rising: Motion, held: Sequence[Holding], job: Job) -> Performance:
    """What was done crouching, and how the body gets up from it, with what it holds in hand."""
    before = performance.motions[job.actor]
    end = before.pose(len(before) - 1)
    up = join(rising, end, min(0.4, rising.duration))
    props = {name: np.repeat(way[-1:], len(up), axis=0) for name, way in performance.props.items()}
    if held:
        up, ways = in_hand_meanwhile(up, held, {b.name: b for b in job.world.bodies}, end)
        props.update(ways)
    whole = replace(chained([before, up]), events=before.events)
    if before.mask is not None:
        whole = replace(whole, base=before.base)
    props = {name: np.concatenate([way, props[name][1:]]) for name, way in performance.props.items()}
    late = whole.duration - before.duration
    kept = tuple(
        replace(a, end=a.end + late) if any(h.prop == a.prop for h in held) else a for a in performance.attachments
    )
    return replace(performance, motions={job.actor: whole}, props=props, attachments=kept)


def lowest_of(job: Job, target: Body) -> float:
    """Height of the target, or of where it goes if that is lower [m]."""
    place = float(place_of(job, target)[2])
    return place if job.destination is None else min(place, float(job.destination[2, 3]))


def place_of(job: Job, target: Body) -> Array:
    """(3,) the middle of the target, or where a broad one is nearest to the chest when it is to be touched [m]."""
    matrix = matrix_of(job, target)
    if not len(target.vertices):
        return np.asarray(matrix[:3, 3])
    middle = np.asarray((target.vertices @ matrix[:3, :3].T + matrix[:3, 3]).mean(axis=0))
    if job.params.task != "touch" or not is_large(target):
        return middle
    return nearest(target, matrix, chest_of(job.skeleton, job.pose))[0]


def is_large(target: Body) -> bool:
    """Whether it is so large that it is touched where it is near."""
    return len(target.vertices) > 0 and bool(np.ptp(target.vertices, axis=0).max() > BROAD)


def chest_of(skeleton: Skeleton, pose: Pose) -> Array:
    """(3,) midway between the shoulders of a body, or its hips where it has no arms [m]."""
    positions, _ = fk.forward(skeleton, pose.rotations, pose.root)
    shoulders = [skeleton.joint(f"upper_arm_{side}") for side in SIDES if skeleton.has(f"upper_arm_{side}")]
    return np.asarray(positions[shoulders or [0]].mean(axis=0))


def matrix_of(job: Job, target: Body) -> Array:
    if job.moved and target.name in job.moved:
        return job.moved[target.name]
    return matrix_at(job.world, target, job.time)


def leaned(job: Job, target: Body, angle: float) -> Array:
    """Rotations (J, 4) of the body with its trunk leaning to the target by an angle [rad], the head staying level."""
    skeleton, pose = job.skeleton, job.pose
    positions, globals = fk.forward(skeleton, pose.rotations, pose.root)
    spine = skeleton.chain("spine")
    away = quat.rotate(quat.conjugate(globals[spine[0]]), place_of(job, target) - positions[spine[0]])
    flat = np.array([away[0], away[1], 0.0])
    axis = quat.unit(np.cross(UP, quat.unit(flat)))
    out = np.array(pose.rotations)
    total = quat.multiply(quat.about(axis, angle), anatomy.gather(pose.rotations[list(spine)]))
    out[list(spine)] = anatomy.spread(total, len(spine))
    return out
