"""One arm of a body that stands in a world: what is around it, how its hand is held, and ways between postures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...errors import NoPath
from ...kinematics import fk
from ...kinematics.arm_ik import wrist_frames
from ...kinematics.fingers import finger_joints, grip_place, palm_axes, phalanx_radii, shaped
from ...maths import quat
from ...motion import Path
from ...skeleton import FINGERS, Array, Skeleton
from ...world import World
from ..spaces.arm_space import Arm, Held, arm_space, checker
from ..spaces.collision import clearance
from ..spaces.rrt import SearchParams, plan, stopped
from ..spaces.shortcut import SmoothParams, lengths, rounded, shorten
from ..spaces.solids import Shapes, Solids, solids
from ..spaces.space import Bools, Space, hits
from ..spaces.tree import Found, Search, SearchTimeout
from .grasp import Grasp, worlds
from .ledger import Ledger, Sought

UP = np.array([0.0, 0.0, 1.0])
OWN_BODY = "its own body"
"""What is in the way of an arm where nothing of the scene is."""
ROUND_ABOUT = 1.8
"""A way that is so many times as long as the straight one is compared with others."""
THIN = (1.0, 0.8, 0.6)
"""How thick the arm is taken, when at full thickness it touches something at one of its ends."""

STOUT = 1.18
"""How thick the forearm is taken at first, of what it is on the whole: below the elbow it is as thick as that."""
_NONE = 1e-4
"""Radius of what is covered otherwise [m]."""
STRAIGHT = 0.5
"""Part of a straight way to a thing, or from it, that is straight after smoothing too: the one at the thing."""


class ArmWork:
    """One arm of a body that stands still in a world.

    Args:
        skeleton, rotations, root: The body: (J, 4) and (3,) [m].
        side: "L" or "R".
        world: What is around.
        time: Of the world [s].
        ledger: Where everything is written down.
        moved: (4, 4) of bodies that are elsewhere than the world says.
        shapes: What is known of meshes.
        search, smooth: How ways are sought and smoothed.
        should_stop: Asked by every search.

    Attributes:
        rest: (7,) configuration to which the arm comes back.
        loose: Rotations (J, 4) whose fingers are those of the hand far from what it takes: the body's, unless changed.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        rotations: Array,
        root: Array,
        side: str,
        world: World,
        time: float,
        ledger: Ledger,
        moved: dict[str, Array],
        shapes: Shapes,
        search: SearchParams,
        smooth: SmoothParams,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.skeleton, self.rotations, self.root, self.side = skeleton, rotations, root, side
        self.positions, self.globals = fk.forward(skeleton, rotations, root)
        self.world, self.time, self.ledger, self.moved, self.shapes = world, time, ledger, moved, shapes
        self.search, self.smooth, self.should_stop = search, smooth, should_stop
        self.arm = Arm(skeleton, side, self.positions, self.globals)
        self.loose = rotations
        self._grips: dict[str, tuple[Array, Array]] = {}
        self.rest = np.clip(self.arm.configuration(rotations[self.arm.joints]), self.arm.low, self.arm.high)

    def solids(self, ignore: Sequence[str] = ()) -> Solids:
        """What is in reach of the arm."""
        region = (self.arm.shoulder, 1.15 * self.arm.reach)
        return solids(self.world, self.time, region, ignore, self.shapes, self.moved)

    def shaped(self, shape: str, share: float = 0.0) -> Array:
        """Rotations (J, 4) of the body with the hand in a shape."""
        return shaped(self.skeleton, self.rotations, self.side, shape, share)

    def grip(self, shape: str) -> tuple[Array, Array]:
        """Place (3,) and rotation (4,) in the hand of what it grips with in a shape."""
        if shape not in self._grips:
            self._grips[shape] = grip_place(self.skeleton, self.side, shape), quat.from_matrix(palm_axes(self.side))
        return self._grips[shape]

    def wrists(self, grasps: Sequence[Grasp], matrix: Array, shifts: Array) -> tuple[Array, Array]:
        """Places (G, K, 3) of the wrist and rotations (G, K, 4) of the hand that hold a prop at a matrix (4, 4) by each
        grasp, moved by shifts (G, K, 3) [m]."""
        places, turns, _ = worlds(grasps, matrix)
        grips = [self.grip(g.shape) for g in grasps]
        at, hands = wrist_frames(places, turns, *(np.stack([grip[part] for grip in grips]) for part in range(2)))
        return at[:, None] + shifts, np.broadcast_to(hands[:, None], (*shifts.shape[:2], 4))

    def way(
        self,
        start: Array,
        goal: Array,
        shape: Array,
        ignore: Sequence[str],
        held: Held | None = None,
        before: Array | None = None,
        after: Array | None = None,
        far_from: Sequence[str] = (),
    ) -> Array:
        """Configurations (N, 7) of a collision-free way; one search.

        Args:
            start, goal: (7,).
            shape: Rotations (J, 4) with the fingers as they are held near the prop.
            ignore: Bodies that are not in the way.
            held: What the hand holds.
            before, after: (K, 7) straight ways that lead to the start and on from the goal; they are part of it.
            far_from: The prop and who holds it, far from which the fingers are loose: so they keep out of everything
                else too.

        Returns:
            The way with its corners rounded.
        """
        stopped(self.should_stop)
        found = self.solids(ignore)
        self.ledger.plans += 1
        ends = np.stack([start, goal])
        answer: Found | None = None
        tries = [(STOUT, False), *((thin, False) for thin in THIN), *[(THIN[1], True)] * (held is None)]
        for thin, fine in tries:
            arm = Arm(self.skeleton, self.side, self.positions, self.globals, [shape], held, min(thin, 1.0))
            if fine:
                arm = fine_arm(self, shape)
                arm.radii = thin * arm.radii
            elif thin > 1.0:
                arm.radii[1] *= thin
            space = arm_space(arm, checker(arm, found, self.positions, self.globals, ends))
            if far_from:
                space = self._relaxed(space, found.without(*far_from), ends, min(thin, 1.0))
            if not space.free(ends).all():
                continue
            try:
                answer = plan(space, start, goal, self.search, should_stop=self.should_stop)
            except SearchTimeout as error:
                self.ledger.looks += error.search.looks
                if thin > 1.0:
                    continue
                shown = _shown(arm, found, error.search, ends, ends)
                self.ledger.missed.append(replace(shown, way=np.zeros((0, 3))))
                between = start + np.linspace(0.0, 1.0, 24)[:, None] * (goal - start)
                raise error.around(self.blocker(arm, found, between)) from None
            break
        if answer is None:
            where = "start" if not space.free(ends[:1])[0] else "end"
            raise NoPath(f"at its {where} the arm touches {self.blocker(arm, found, ends)}")
        path = shorten(space, answer.path, self.smooth, np.random.default_rng(self.search.seed))
        answer, path = self._shorter(space, answer, path)
        whole = Path(_joined(before, path.points, after), path.axes)
        straight = (_straight(space, before), _straight(space, after))
        bent = rounded(space, whole, self.smooth.corners, straight)
        if bent is whole and not hits(space, path.points):
            smooth = rounded(space, path, self.smooth.corners)
            bent = Path(_joined(before, smooth.points, after), path.axes)
        self.ledger.sought.append(_shown(arm, found, answer.search, bent.points, path.points))
        return bent.points

    def _shorter(self, space: Space, answer: Found, path: Path) -> tuple[Found, Path]:
        """The shortest of a few ways between the same ends, where the first one goes a long way round."""
        self.ledger.looks += answer.search.looks
        long = float(lengths(space, path.points)[-1])
        direct = float(space.distance(path.points[0], path.points[-1]))
        for seed in range(1, self.smooth.ways):
            if long < ROUND_ABOUT * direct:
                break
            self.ledger.again += 1
            other = replace(self.search, seed=(self.search.seed + 7919 * seed) % 2**31)
            try:
                again = plan(space, path.points[0], path.points[-1], other, should_stop=self.should_stop)
            except SearchTimeout:
                continue
            self.ledger.looks += again.search.looks
            way = shorten(space, again.path, self.smooth, np.random.default_rng(other.seed))
            far = float(lengths(space, way.points)[-1])
            if far < long:
                answer, path, long = again, way, far
        return answer, path

    def _relaxed(self, space: Space, found: Solids, ends: Array, thin: float) -> Space:
        """The space in which the loose hand touches none of these solids either."""
        arm = Arm(self.skeleton, self.side, self.positions, self.globals, [self.loose], thin=thin)
        check, free = checker(arm, found, self.positions, self.globals, ends), space.free

        def both(q: Array) -> Bools:
            out = free(q)
            if out.any():
                out[out] = check.free(*arm.segments(q[out]))
            return out

        return replace(space, free=both)

    def blocker(self, arm: Arm, found: Solids, q: Array) -> str:
        """Name of what an arm with configurations q (N, 7) is deepest in."""
        starts, vectors = arm.segments(q)
        a, v = starts.transpose(2, 1, 0).reshape(-1, 3), vectors.transpose(2, 1, 0).reshape(-1, 3)
        gap, owner = clearance(found, a, a + v, np.tile(arm.radii, len(q)))
        k = int(gap.argmin())
        if owner[k] < 0 or gap[k] > 0.01:
            return OWN_BODY
        part = arm.parts[k % len(arm.radii)]
        return f"{found.names[owner[k]]} with {'what it holds' if part == 'held' else f'the {part}'.replace('_', ' ')}"


def fine_arm(work: ArmWork, shape: Array) -> Arm:
    """The arm with every phalanx of a hand, in the shape of rotations (J, 4), covered alone.

    One capsule around a bent finger is much too stout to take something low from a table.
    """
    skeleton, side, hand = work.skeleton, work.side, int(work.arm.joints[2])
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    fingers = finger_joints(skeleton, side)
    still[fingers] = shape[fingers]
    positions, globals = fk.forward(skeleton, still, np.zeros(3))
    tips = fk.tip_positions(skeleton, positions, globals)
    radii: dict[int, float] = {}
    for finger in (f for f in FINGERS if skeleton.has(f"{f}_{side}")):
        radii.update(zip(skeleton.chain(f"{finger}_{side}"), phalanx_radii(skeleton, finger, side), strict=True))
    if not radii:
        return Arm(skeleton, side, work.positions, work.globals, [shape])
    rows = list(radii)
    back = quat.conjugate(globals[hand])
    starts, ends = (quat.rotate(back, p[rows] - positions[hand]) for p in (positions, tips))
    arm = Arm(skeleton, side, work.positions, work.globals, [shape], Held(starts, ends, np.array(list(radii.values()))))
    stout = [part[:-2] in ("fingers", "thumb") for part in arm.parts]
    arm.radii = np.where(stout, _NONE, arm.radii)
    arm.parts = tuple(f"fingers_{side}" if part == "held" else part for part in arm.parts)
    return arm


def _shown(arm: Arm, found: Solids, search: Search, way: Array, free: Array) -> Sought:
    """What there is to see of a search."""
    edges = []
    for nodes, parents in search.trees:
        wrists, own = arm.frames(nodes)[1].T, np.flatnonzero(parents >= 0)
        edges.append(np.stack([wrists[own], wrists[parents[own]]], axis=1).reshape(-1, 3))
    starts, vectors = arm.segments(way[:1])
    a, v = starts[:, :, 0].T, vectors[:, :, 0].T
    starts, along = arm.segments(free[:: max(1, len(free) // 12)])
    begin, vector = starts.transpose(2, 1, 0).reshape(-1, 3), along.transpose(2, 1, 0).reshape(-1, 3)
    gap, _ = clearance(found, begin, begin + vector, np.tile(arm.radii, starts.shape[2]))
    shapes = np.column_stack([a, a + v, arm.radii])
    return Sought(np.concatenate(edges), arm.frames(way)[1].T, shapes, search.nodes, float(gap.min(initial=np.inf)))


def _straight(space: Space, ways: Array | None) -> float:
    """How much of a straight way to or from a thing stays straight, when the way is smoothed."""
    return 0.0 if ways is None else STRAIGHT * float(lengths(space, ways)[-1])


def _joined(before: Array | None, points: Array, after: Array | None) -> Array:
    parts = [] if before is None else [before[:-1]]
    parts.append(points)
    if after is not None:
        parts.append(after[1:])
    return np.concatenate(parts)
