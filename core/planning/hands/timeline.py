"""Stages of a task one after the other, sampled: arms, fingers and trunk, what carries the prop, and where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...kinematics import fk
from ...kinematics.fingers import finger_joints
from ...maths import quat
from ...maths.ramp import smootherstep
from ...motion import Event, Motion, Path
from ...performance import Attachment
from ...skeleton import Array
from ..spaces.arm_space import AXES, FASTEST
from ..spaces.shortcut import SmoothParams, timed
from ..spaces.space import Space
from .leaning import followed
from .stages import LEANING, STAGE, Stage, between

if TYPE_CHECKING:
    from ...world import Body
    from .arm_work import ArmWork
    from .task import Job

LEAD = 0.12
"""How long the eyes may be on their way before the arm begins [s]."""
TAIL = 0.9
"""Least time for gaze to come back [s]."""
ATTENDED = ("reach", "transfer", "return")
TRUNK_FIRST = 0.65
"""Part of the time of a way in which the trunk leans for a hand that keeps to it."""
_FINGERS = {"reach": (0.0, 0.45), "return": (0.15, 0.55)}
"""Part of a stage in which the fingers take their shape."""
_LIMITS = ("low", "high", "weight")
ARM_SHARE = 0.25
"""What the motion of the rest of an arm counts beside that of its hand, for the timing of a way."""
FLUNG, LATEST = 6.0, 1.5
"""Acceleration of a hand above which its way is given more time [m/s2], and how much more at most."""


class Timeline:
    """Stages one after the other, sampled."""

    def __init__(
        self, job: Job, works: Sequence[ArmWork], stages: Sequence[Stage], leaned: Array | None, ahead: bool
    ) -> None:
        self.fps, self.stages, self.task = job.fps, stages, job.params.task
        self.sides, self.arms = [work.side for work in works], [work.arm for work in works]
        start = np.array(job.pose.rotations)
        fingers = [joint for work in works for joint in finger_joints(job.skeleton, work.side)]
        joints = np.concatenate([arm.joints for arm in self.arms])
        spine = list(job.skeleton.roles.get("spine", ()))
        free, axes, rest = self._space(), AXES * len(works), np.concatenate([work.rest for work in works])
        fastest, smooth = np.tile(FASTEST * job.params.speed, len(works)), works[0].smooth
        home, held = start, [h for h in (job.holding, job.other) if h is not None]
        known = bool(held) and held[0].before is not None
        if known:
            home = np.asarray(held[0].before)
            homes = [np.clip(a.configuration(home[a.joints]), a.low, a.high) for a in self.arms]
            rest = np.concatenate(homes)
        self.straightens = bool(spine) and bool(quat.distance(start[spine], home[spine]).max() > 1e-6)
        lead = int(np.ceil(LEAD * job.fps))
        rows = [np.repeat(start[None], lead + 1, axis=0)]
        self.spans: list[tuple[int, int]] = []
        first = stages[0].way[0]
        # what the joints have beside the seven angles fades out, and in again on the way back
        own = quat.multiply(quat.conjugate(self._rotations(first)), start[joints])
        now, lean, at, odd = start[fingers], 0.0, lead, 1.0
        bowing = np.zeros((0, *start.shape))
        if leaned is not None and ahead:
            count = int(np.ceil(LEANING * job.fps))
            bowing = np.repeat(start[None], count, axis=0)
            part = smootherstep(np.arange(1, count + 1) / count)
            bowing[:, spine] = quat.slerp(start[spine], leaned[spine], part[:, None])
            if stages[0].steady:
                bowing[:, joints] = self._steady(job, start, bowing, leaned, np.repeat(first[None], count, axis=0))
                odd = 0.0
            rows.append(bowing)
            lean, at = 1.0, lead + count
        for number, stage in enumerate(stages):
            if len(stage.way) > 1:
                q = self._timed(free, Path(stage.way, axes), fastest, smooth, job)[1:]
            else:
                q = np.repeat(stage.way, max(1, round(stage.seconds * job.fps)), axis=0)
            share = smootherstep(np.arange(1, len(q) + 1) / len(q))
            body = np.repeat(start[None], len(q), axis=0)
            back = stage.name == "return"
            comes = back and np.allclose(stage.way[-1], rest) and (known or not held)
            if comes:
                own = quat.multiply(quat.conjugate(self._rotations(stage.way[-1])), home[joints])
            left = odd + share * ((1.0 if comes else 0.0) - odd) if number == 0 or comes else 0.0 * share
            odd = 0.0
            body[:, joints] = quat.multiply(self._rotations(q), quat.slerp(quat.IDENTITY, own, left[:, None]))
            if leaned is not None:
                to = 0.0 if back and not ahead else 1.0
                leads = stage.steady and lean < to
                soon = smootherstep(np.minimum(np.arange(1, len(q) + 1) / (TRUNK_FIRST * len(q)), 1.0))
                part = lean + (soon if leads else share) * (to - lean)
                body[:, spine] = quat.slerp(home[spine] if back else start[spine], leaned[spine], part[:, None])
                if leads:
                    body[:, joints] = self._steady(job, start, body, leaned, q)
                lean = to
            elif back and self.straightens:
                body[:, spine] = quat.slerp(start[spine], home[spine], share[:, None])
            shape = home[fingers] if stage.fingers is None else stage.fingers[fingers]
            begin, end = stage.window or _FINGERS.get(stage.name, (0.0, 0.85))
            early = smootherstep(np.clip((np.arange(1, len(q) + 1) / len(q) - begin) / (end - begin), 0.0, 1.0))
            body[:, fingers] = quat.slerp(now, shape, early[:, None])
            now = shape
            if comes:
                moved = [*joints, *fingers, *(spine if not (leaned is not None and ahead) else ())]
                body[-1, moved] = home[moved]
            rows.append(body)
            self.spans.append((at, at + len(q)))
            at += len(q)
        self.done = None if stages[-1].name != "lift" else at
        if self.done is not None:  # what is in the hand is not stared at
            rows.append(np.repeat(rows[-1][-1:], int(np.ceil(TAIL * job.fps)), axis=0))
        if stages[-1].name == "return":
            begin = self.spans[-1][0]
            if len(bowing):
                rising = np.repeat(rows[-1][-1:], len(bowing), axis=0)
                share = smootherstep(np.arange(1, len(bowing) + 1) / len(bowing))
                rising[:, spine] = quat.slerp(rising[0, spine], home[spine], share[:, None])
                rows.append(rising)
                at += len(bowing)
            tail = max(0, int(np.ceil(TAIL * job.fps)) - (at - begin))
            rows.append(np.repeat(rows[-1][-1:], tail, axis=0))
        self.rotations = quat.continuous(np.concatenate(rows))

    def _steady(self, job: Job, start: Array, bodies: Array, leaned: Array, q: Array) -> Array:
        """Rotations (T, 3 A, 4) of arms whose hands go as configurations (T, 7 A) of the body that leans say."""
        whole, ways = np.concatenate([start[None], bodies]), np.concatenate([self.stages[0].way[:1], q])
        return followed(job.skeleton, job.pose.root, self.sides, self.arms, whole, leaned, ways)[1:]

    def _space(self) -> Space:
        """That of all arms, in which ways are timed."""
        low, high, weight = (np.concatenate([getattr(arm, name) for arm in self.arms]) for name in _LIMITS)
        return Space(AXES * len(self.arms), low, high, lambda q: np.ones(len(q), dtype=bool), 1.0, weight)

    def _timed(self, space: Space, path: Path, fastest: Array, smooth: SmoothParams, job: Job) -> Array:
        """(T, 7 A) a way at even times; slower where a hand would be flung around a corner of it."""
        if job.params.faithful:
            return timed(space, path, fastest, job.fps, smooth).points
        way = path.points
        # what is seen to speed up and slow down is the hand; an arm that moves while it stays takes its time too
        travel = np.hypot(
            np.linalg.norm(np.diff(self._wrists(way), axis=0), axis=-1).max(axis=1),
            ARM_SHARE * space.distance(way[:-1], way[1:]),
        )
        points = timed(space, path, fastest, job.fps, smooth, travel).points
        if len(points) > 2:
            bend = np.linalg.norm(np.diff(self._wrists(points), 2, axis=0), axis=-1).max() * job.fps**2
            late = min(np.sqrt(bend / (FLUNG * job.params.speed**2)), LATEST)
            if late > 1.0:
                slow = replace(smooth, shortest=float(late * (len(points) - 1) / job.fps))
                points = timed(space, path, fastest, job.fps, slow, travel).points
        return points

    def _wrists(self, q: Array) -> Array:
        """(N, A, 3) places of the hands of configurations (N, 7 A) [m]."""
        return np.stack([arm.frames(q[:, 7 * k : 7 * k + 7])[1].T for k, arm in enumerate(self.arms)], axis=1)

    def _rotations(self, q: Array) -> Array:
        """(..., 3 A, 4) of upper arms, forearms and hands of configurations (..., 7 A)."""
        return np.concatenate([arm.rotations(q[..., 7 * k : 7 * k + 7]) for k, arm in enumerate(self.arms)], axis=-2)

    def turns(self) -> tuple[int, int, int]:
        """Samples from which the trunk may go along with the hands, from which it comes back, and at which it is back:
        as the hands come back, or as they have taken something."""
        (first, _), (back, last) = self.spans[0], self.spans[-1]
        comes_back = self.stages[-1].name in ("return", "lift")
        return first, back, len(self.rotations) - 1 if self.done is not None else last if comes_back else back

    def looks(self) -> list[tuple[float, Array | None]]:
        """When each stage that gaze goes along with begins [s], and what it is about."""
        out = []
        for stage, (begin, _) in zip(self.stages, self.spans, strict=True):
            if stage.name in ATTENDED or stage is self.stages[0]:
                out.append((begin / self.fps, stage.look))
        if self.done is not None:
            out.append((self.done / self.fps, None))
        return out

    def events(self, target: Body) -> tuple[Event, ...]:
        """The beginnings of stages, and contacts of the hands."""
        out = []
        for stage, (begin, end) in zip(self.stages, self.spans, strict=True):
            data = {"stage": stage.name, "hand": "both" if len(self.sides) > 1 else self.sides[0], "prop": target.name}
            out.append(Event(begin / self.fps, STAGE, data))
            for side in self.sides:
                contact = {"part": f"hand_{side}", "prop": target.name}
                if stage.name == "grasp" or (stage.name == "reach" and self.task == "touch"):
                    out.append(Event(end / self.fps, "contact_on", contact))
                if stage.name == "release":
                    out.append(Event(begin / self.fps, "contact_off", contact))
        return tuple(out)

    def prop(
        self, motion: Motion, name: str, matrix: Array, actor: str, held: Mapping[str, Array]
    ) -> tuple[Mapping[str, Array], list[Attachment]]:
        """Matrices (T, 4, 4) of the prop and who holds it when; with two hands it is midway between what each says.

        `held` is where the prop is in the hands that had it before, by side.
        """
        carried = [span for stage, span in zip(self.stages, self.spans, strict=True) if stage.carries]
        if held and not carried:
            carried = [(0, self.spans[0][0])]
        if not carried:
            return {}, []
        first, last = carried[0][0], carried[-1][1]
        if held:
            first = 0
        positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
        ways = []
        for side, arm in zip(self.sides, self.arms, strict=True):
            joint = int(arm.joints[2])
            hand = np.tile(np.eye(4), (len(motion), 1, 1))
            hand[:, :3, :3], hand[:, :3, 3] = quat.to_matrix(globals[:, joint]), positions[:, joint]
            ways.append(hand @ (held[side] if side in held else np.linalg.inv(hand[first]) @ matrix))
        way = ways[0] if len(ways) == 1 else between(ways[0], ways[1])
        out = np.tile(matrix, (len(motion), 1, 1))
        out[first : last + 1] = way[first : last + 1]
        out[last + 1 :] = out[last]
        released = any(stage.name == "release" for stage in self.stages)
        end = last / self.fps if released else motion.duration
        if not released:
            out[first:] = way[first:]
        names = [motion.skeleton.names[int(arm.joints[2])] for arm in self.arms]
        return {name: out}, [Attachment(name, actor, joint, first / self.fps, end) for joint in names]
