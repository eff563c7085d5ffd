"""What one arm does for a task: frames to approach, the postures for them, ways between them; each counted and logged.

Straight approaches are solved as one batch of inverse kinematics over all grasps, so a task that goes well asks twice:
once for taking hold and once for putting down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import NoIK, NoPath, Timeout
from ...kinematics import fk
from ...kinematics.arm_ik import Free, Trial, solve_arms, wrist_frames
from ...kinematics.fingers import grip_place, palm_axes, shaped
from ...maths import quat
from ...motion import Path
from ...skeleton import Array, Skeleton
from ...world import World
from ..spaces.arm_space import Arm, Held, arm_space, checker
from ..spaces.collision import clearance
from ..spaces.rrt import SearchParams, plan
from ..spaces.shortcut import SmoothParams, rounded, shorten
from ..spaces.solids import Shapes, Solids, solids
from ..spaces.space import Bools, Space, hits
from .grasp import Grasp

UP = np.array([0.0, 0.0, 1.0])
APPROACH, LIFT = 6, 4
"""Postures along a straight approach, and along a lift."""
MOST = 80
"""Grasps that are looked at together."""
JUMP = 0.7
"""Largest change of an angle between two of them [rad]."""
THIN = (1.0, 0.8, 0.6)
"""How thick the arm is taken, when at full thickness it touches something at one of its ends."""


@dataclass
class Ledger:
    """What was asked and what came of it.

    Attributes:
        ik, plans: How often postures and ways were sought.
        looks: Postures that were checked for collisions on the way.
        attempts: Hand, grasp, stage and outcome of each try.
    """

    ik: int = 0
    plans: int = 0
    looks: int = 0
    attempts: list[dict[str, str]] = field(default_factory=list)

    def log(self, side: str, grasp: str, stage: str, outcome: str) -> None:
        """Write down a try."""
        self.attempts.append({"hand": side, "grasp": grasp, "stage": stage, "outcome": outcome})


@dataclass(frozen=True, eq=False)
class Option:
    """A grasp that an arm reaches: configurations (K, 7) from the stand-off over the grasp on; lower scores are
    better."""

    grasp: Grasp
    ways: Array
    score: float


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

    def wrists(self, grasp: Grasp, matrix: Array, shifts: Array) -> tuple[Array, Array]:
        """Places (K, 3) of the wrist and rotations (K, 4) of the hand that hold a prop at a matrix (4, 4), each moved
        by shifts (K, 3) [m]."""
        place, turn, _ = grasp.world(matrix)
        at, hand = wrist_frames(place, turn, *self.grip(grasp.shape))
        return at + shifts, np.broadcast_to(hand, (len(shifts), 4))

    def options(
        self, grasps: Sequence[Grasp], matrix: Array, prop: str, shifts: Callable[[Array], Array], near: Array
    ) -> list[Option]:
        """The grasps that the arm reaches along their whole approach, best first; one question of kinematics.

        Args:
            grasps: Of the prop.
            matrix: (4, 4) where the prop is.
            prop: Its name; the hand may touch it.
            shifts: From the approach (3,) to where the hand is relative to the grasp (K, 3) [m].
            near: (7,) configuration before, or (G, 7) one for each grasp.
        """
        every = np.broadcast_to(near, (len(grasps), 7))
        before = np.array([q for g, q in zip(grasps, every, strict=True) if g.side in ("any", self.side)])
        fits = [g for g in grasps if g.side in ("any", self.side)]
        rows = [self.wrists(g, matrix, shifts(g.world(matrix)[2])) for g in fits]
        long = float(self.arm.lengths[:2].sum())
        far = [float(np.linalg.norm(places - self.arm.shoulder, axis=1).max()) for places, _ in rows]
        near_enough = [k for k in range(len(fits)) if far[k] < long]
        if len(near_enough) < len(fits):
            lost = len(fits) - len(near_enough)
            self.ledger.log(self.side, "", "posture", f"{lost} of {len(fits)} grasps are out of reach")
        if not near_enough:
            return []
        near_enough = sorted(near_enough, key=lambda k: far[k] / long - fits[k].quality)[:MOST]
        fits, rows = [fits[k] for k in near_enough], [rows[k] for k in near_enough]
        before = begun = before[near_enough]
        goals, turns = np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])
        judge = self._judge([g.shape for g in fits], goals.shape[1], self.solids((prop,)), begun[:1])
        self.ledger.ik += 1
        found = solve_arms(
            self.skeleton,
            np.broadcast_to(self.positions, (*goals.shape[:2], *self.positions.shape)),
            np.broadcast_to(self.globals, (*goals.shape[:2], *self.globals.shape)),
            goals[:, :, None],
            turns[:, :, None],
            sides=(self.side,),
            free=judge,
        )
        good = found.good[..., 0]
        configurations = np.empty((*goals.shape[:2], 7))
        for k in range(goals.shape[1]):
            for c in range(len(fits)):
                configurations[c, k] = self.arm.configuration(found.rotations[c, k, 0], before[c])
            before = configurations[:, k]
        smooth = np.abs(np.diff(configurations, axis=1)).max(axis=(1, 2)) < JUMP
        whole = good.all(axis=1) & smooth
        hand = self.positions[self.arm.joints[2]]
        forearm = quat.unit(hand - self.positions[self.arm.joints[1]])
        out = []
        for c, grasp in enumerate(fits):
            if not whole[c]:
                why = "out of reach" if (found.gaps[c] > 0).any() else "no posture fits" if smooth[c] else "elbow jumps"
                self.ledger.log(self.side, grasp.name, "posture", why)
                continue
            place, _, along = grasp.world(matrix)
            away = float(np.linalg.norm(place - hand))
            angle = float(np.arccos(np.clip(along @ forearm, -1.0, 1.0)))
            turned = float(np.abs(configurations[c, 0] - begun[c]).max())
            score = away + 0.2 * angle + 0.5 * float(np.abs(found.shifts[c]).max()) + 0.8 * (1.0 - grasp.quality)
            ways = np.clip(configurations[c], self.arm.low, self.arm.high)
            out.append(Option(grasp, ways, score + 0.2 * turned))
        return sorted(out, key=lambda option: option.score)

    def _judge(self, shapes: Sequence[str], count: int, found: Solids, allowed: Array) -> Free:
        """Whether postures touch nothing, with the hand in the shape of the grasp each is for; `count` a grasp."""
        judges = {}
        for shape in sorted(set(shapes)):
            arm = Arm(self.skeleton, self.side, self.positions, self.globals, [self.shaped(shape)])
            judges[shape] = arm.judge(checker(arm, found, self.positions, self.globals, allowed))
        own = np.array(shapes)

        def free(trial: Trial) -> Bools:
            out = np.zeros(len(trial.samples), dtype=bool)
            held = own[trial.samples // count]
            for shape, judge in judges.items():
                at = np.flatnonzero(held == shape)
                if len(at):
                    out[at] = judge(Trial(trial.samples[at], trial.arms[at], trial.places[at], trial.turns[at]))
            return out

        return free

    def way(
        self,
        start: Array,
        goal: Array,
        shape: Array,
        ignore: Sequence[str],
        held: Held | None = None,
        before: Array | None = None,
        after: Array | None = None,
        far_from: str = "",
    ) -> Array:
        """Configurations (N, 7) of a collision-free way; one search.

        Args:
            start, goal: (7,).
            shape: Rotations (J, 4) with the fingers as they are held near the prop.
            ignore: Bodies that are not in the way.
            held: What the hand holds.
            before, after: (K, 7) straight ways that lead to the start and on from the goal; they are part of it.
            far_from: The prop, far from which the fingers are as the body has them: with these they keep out of
                everything else too.

        Returns:
            The way with its corners rounded.
        """
        found = self.solids(ignore)
        self.ledger.plans += 1
        ends = np.stack([start, goal])
        for thin in THIN:
            arm = Arm(self.skeleton, self.side, self.positions, self.globals, [shape], held, thin)
            space = arm_space(arm, checker(arm, found, self.positions, self.globals, ends))
            if far_from:
                space = self._relaxed(space, found.without(far_from), ends, thin)
            if space.free(ends).all():
                break
        else:
            where = "start" if not space.free(ends[:1])[0] else "end"
            raise NoPath(f"at its {where} the arm touches {self.blocker(arm, found, ends)}")
        try:
            answer = plan(space, start, goal, self.search, should_stop=self.should_stop)
        except Timeout:
            between = start + np.linspace(0.0, 1.0, 24)[:, None] * (goal - start)
            raise NoPath(f"no way around {self.blocker(arm, found, between)}") from None
        self.ledger.looks += answer.search.looks
        path = shorten(space, answer.path, self.smooth, np.random.default_rng(self.search.seed))
        whole = Path(_joined(before, path.points, after), path.axes)
        bent = rounded(space, whole, self.smooth.corners)
        if bent is whole and not hits(space, path.points):
            smooth = rounded(space, path, self.smooth.corners)
            bent = Path(_joined(before, smooth.points, after), path.axes)
        return bent.points

    def _relaxed(self, space: Space, found: Solids, ends: Array, thin: float) -> Space:
        """The space in which the hand as the body has it touches none of these solids either."""
        arm = Arm(self.skeleton, self.side, self.positions, self.globals, [self.rotations], thin=thin)
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
            return "its own body"
        return f"{found.names[owner[k]]} with the {arm.parts[k % len(arm.radii)].replace('_', ' ')}"

    def unreached(self, grasps: Sequence[Grasp], matrix: Array, prop: str) -> NoIK:
        """Why none of the grasps of a prop at a matrix (4, 4) can be reached, there and where the approach begins."""
        rows = [self.wrists(g, matrix, -g.distance * np.outer([0.0, 1.0], g.world(matrix)[2])) for g in grasps]
        places = np.concatenate([row[0] for row in rows])
        far = float(np.linalg.norm(places - self.arm.shoulder, axis=1).min())
        long = float(self.arm.lengths[:2].sum())
        if far > long:
            return NoIK(f"hand_{self.side}: it is {far - long:.2f} m out of reach")
        found = self.solids((prop,))
        self.ledger.ik += 1
        turns = np.concatenate([row[1] for row in rows])
        shape = (len(places), *self.positions.shape)
        posed = solve_arms(
            self.skeleton,
            np.broadcast_to(self.positions, shape),
            np.broadcast_to(self.globals, (len(places), *self.globals.shape)),
            places[:, None],
            turns[:, None],
            sides=(self.side,),
        )
        within = np.flatnonzero(posed.good[:, 0])
        if not len(within):
            return NoIK(f"hand_{self.side}: no grasp of it can be reached within the limits of the arm")
        q = np.stack([self.arm.configuration(posed.rotations[k, 0]) for k in within])
        return NoIK(f"hand_{self.side}: in the way of every grasp is {self.blocker(self.arm, found, q)}")


def _joined(before: Array | None, points: Array, after: Array | None) -> Array:
    parts = [] if before is None else [before[:-1]]
    parts.append(points)
    if after is not None:
        parts.append(after[1:])
    return np.concatenate(parts)


def held_capsules(vertices: Array, hand: Array, matrix: Array) -> Held:
    """What covers a prop in a hand.

    Args:
        vertices: (V, 3) of the prop.
        hand: (4, 4) world matrix of the hand.
        matrix: (4, 4) that of the prop.
    """
    local = np.linalg.inv(hand) @ matrix
    points = vertices @ local[:3, :3].T + local[:3, 3]
    spread = points - points.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1][:, ::-1]
    inside = points @ axes
    low, high = inside.min(axis=0), inside.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    order = np.argsort(-half, kind="stable")
    long, broad, thick = order
    count = max(1, int(np.ceil(half[broad] / max(1.6 * half[thick], 0.02))))
    width = half[broad] / count
    out = []
    for k in range(count):
        centre = middle.copy()
        centre[broad] = low[broad] + (2 * k + 1) * width
        own = np.abs(inside[:, broad] - centre[broad]) <= width + 1e-9
        rows = inside[own] - centre if own.any() else np.zeros((1, 3))
        across = np.hypot(np.minimum(np.abs(rows[:, broad]), width), rows[:, thick])
        radius = 1.1 * float(max(across.max(), np.hypot(width, half[thick]) if not own.any() else 0.0, 0.004))
        # the round ends reach as far as the corners need
        reach = np.abs(rows[:, long]) - np.sqrt(np.maximum(radius**2 - across**2, 0.0))
        end = max(float(reach.max()), 0.0) if own.any() else half[long]
        offset = np.zeros(3)
        offset[long] = end
        out.append((axes @ (centre - offset), axes @ (centre + offset), radius))
    return Held(np.array([o[0] for o in out]), np.array([o[1] for o in out]), np.array([o[2] for o in out]))
