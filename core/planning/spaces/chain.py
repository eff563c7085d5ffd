"""Machines of links that turn upon each other, such as the arm of a robot."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...errors import NoIK
from ...maths import quat
from ...skeleton import Array
from .machines import Machine
from .space import Bools, Free, Ints, Space


@dataclass(frozen=True, eq=False)
class Hinge:
    """An angle of a machine: about axis 0, 1 or 2 of a link, between two limits [rad]."""

    link: int
    axis: int
    low: float
    high: float
    name: str


@dataclass(frozen=True, eq=False)
class Chain(Machine):
    """Links that turn upon each other.

    Attributes:
        base: (4, 4) of what they stand on.
        locals: (L, 4, 4) of each link in its parent when nothing is turned.
        parents: (L,) -1 for the base; parents come first.
        turns: (L, 3) angles about X, Y and Z, in this order, of what no hinge says [rad].
        hinges: The n angles.
        end: (4, 4) of the end of the last link in its axes.
    """

    base: Array = field(default_factory=lambda: np.eye(4))
    locals: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))
    parents: tuple[int, ...] = ()
    turns: Array = field(default_factory=lambda: np.zeros((0, 3)))
    hinges: tuple[Hinge, ...] = ()
    end: Array = field(default_factory=lambda: np.eye(4))

    def space(self, free: Free, step: float) -> Space:
        low, high = (np.array([getattr(h, k) for h in self.hinges]) for k in ("low", "high"))
        turns_round = (high - low) > 2.0 * np.pi - 1e-6
        low, high = np.where(turns_round, -np.pi, low), np.where(turns_round, np.pi, high)
        frames = self.frames(np.zeros((1, len(self.hinges))))[0]
        tip = frames[-1] @ self.end
        arm = np.array([np.linalg.norm(tip[:3, 3] - frames[h.link, :3, 3]) for h in self.hinges])
        weight = np.maximum(arm, 0.1 * max(float(arm.max()), 1e-6))
        return Space(tuple(h.name for h in self.hinges), low, high, free, step, weight, turns_round)

    def angles(self, q: Array) -> Array:
        """(N, L, 3) of the links."""
        out = np.tile(self.turns, (len(q), 1, 1))
        for k, hinge in enumerate(self.hinges):
            out[:, hinge.link, hinge.axis] = q[:, k]
        return out

    def frames(self, q: Array) -> Array:
        turn = _turned(self.angles(q))
        out = np.empty((len(q), len(self.parents), 4, 4))
        for k, parent in enumerate(self.parents):
            above = self.base if parent < 0 else out[:, parent]
            out[:, k] = above @ self.locals[k]
            out[:, k, :3, :3] = out[:, k, :3, :3] @ turn[:, k]
        return out

    def tips(self, q: Array) -> Array:
        return np.asarray((self.frames(q)[:, -1] @ self.end)[:, :3, 3])

    def own(self, frames: Array) -> Bools:
        pairs = self._pairs()
        if not len(pairs):
            return np.ones(len(frames), dtype=bool)
        begin, along = self.cover.placed(frames)
        a, b = pairs.T
        gap = _segment_gap(begin[:, a], along[:, a], begin[:, b], along[:, b])
        return np.asarray((gap > (self.cover.radii[a] + self.cover.radii[b])[:, None]).all(axis=0))

    def _pairs(self) -> Ints:
        """(P, 2) capsules that may run into each other: those of links that are not neighbours and are apart now."""
        links = self.cover.links
        i, j = np.triu_indices(len(links), 1)
        parents = np.array(self.parents)
        near = (links[i] == links[j]) | (parents[links[j]] == links[i]) | (parents[links[i]] == links[j])
        i, j = i[~near], j[~near]
        if not len(i):
            return np.zeros((0, 2), dtype=np.int64)
        begin, along = self.cover.placed(self.frames(self.now()[None]))
        gap = _segment_gap(begin[:, i], along[:, i], begin[:, j], along[:, j])[:, 0]
        apart = gap > self.cover.radii[i] + self.cover.radii[j]
        return np.column_stack([i[apart], j[apart]])

    def now(self) -> Array:
        """(n,) the present configuration."""
        return np.array([self.turns[h.link, h.axis] for h in self.hinges])

    def reaching(self, goal: Array, orient: bool, rng: np.random.Generator, tries: int = 96) -> Array:
        """Configurations (K, n) within the limits whose end is at a goal (4, 4), nearest to the present one first.

        Raises:
            NoIK: There is none.
        """
        low, high = (np.array([getattr(h, k) for h in self.hinges]) for k in ("low", "high"))
        low, high = np.maximum(low, -np.pi), np.minimum(high, np.pi)
        q = np.concatenate([self.now()[None], rng.uniform(low, high, (tries - 1, len(low)))])
        long = max(float(np.linalg.norm(self.tips(q) - self.frames(q)[:, 0, :3, 3], axis=1).max()), 1e-6)
        for _ in range(80):
            error, jacobian = self._error(q, goal, orient, long)
            lifted = jacobian @ jacobian.transpose(0, 2, 1) + 1e-4 * np.eye(error.shape[1])
            step = np.einsum("nij,ni->nj", jacobian, np.linalg.solve(lifted, error[..., None])[..., 0])
            q = np.clip(q + np.clip(step, -0.3, 0.3), low, high)
        error, _ = self._error(q, goal, orient, long)
        good = self._refined(q[np.abs(error).max(axis=1) < 1e-4], goal, orient, long)
        if not len(good):
            away = float(np.linalg.norm(error[:, :3], axis=1).min() * long)
            raise NoIK(f"its end does not get there within its limits: {away:.3f} m are left")
        order = np.argsort(np.abs(good - self.now()).sum(axis=1), kind="stable")
        kept: list[Array] = []
        for row in good[order]:
            if all(np.abs(row - k).max() > 0.05 for k in kept):
                kept.append(row)
        return np.array(kept)

    def _refined(self, q: Array, goal: Array, orient: bool, long: float) -> Array:
        """Configurations (N, n) brought from near a goal to it, where a few steps of Newton's do that."""
        low, high = (np.array([getattr(h, k) for h in self.hinges]) for k in ("low", "high"))
        for _ in range(8 if len(q) else 0):
            error, jacobian = self._error(q, goal, orient, long)
            lifted = jacobian @ jacobian.transpose(0, 2, 1) + 1e-10 * np.eye(error.shape[1])
            step = np.einsum("nij,ni->nj", jacobian, np.linalg.solve(lifted, error[..., None])[..., 0])
            nearer = np.clip(q + np.clip(step, -0.01, 0.01), low, high)
            worse = np.abs(self._error(nearer, goal, orient, long)[0]).max(axis=1) >= np.abs(error).max(axis=1)
            q = np.where(worse[:, None], q, nearer)
        return q

    def _error(self, q: Array, goal: Array, orient: bool, long: float) -> tuple[Array, Array]:
        """How far ends are from a goal (N, 3 or 6), in lengths of the chain and radians, and the change by q."""
        frames, angles = self.frames(q), self.angles(q)
        tip = frames[:, -1] @ self.end
        jacobian = np.zeros((len(q), 6, len(self.hinges)))
        for k, hinge in enumerate(self.hinges):
            parent = self.parents[hinge.link]
            above = np.broadcast_to(self.base, (len(q), 4, 4)) if parent < 0 else frames[:, parent]
            rest = (above @ self.locals[hinge.link])[:, :3, :3]
            partial = angles[:, hinge.link].copy()
            partial[:, : hinge.axis + 1] = 0.0
            axis = np.einsum("nij,njk->nik", rest, _turned(partial))[:, :, hinge.axis]
            jacobian[:, :3, k] = np.cross(axis, tip[:, :3, 3] - frames[:, hinge.link, :3, 3]) / long
            jacobian[:, 3:, k] = axis
        place = (goal[:3, 3] - tip[:, :3, 3]) / long
        if not orient:
            return place, jacobian[:, :3]
        turn = quat.log(quat.from_matrix(goal[:3, :3] @ tip[:, :3, :3].transpose(0, 2, 1)))
        return np.concatenate([place, turn], axis=1), jacobian


def _turned(angles: Array) -> Array:
    """(..., 3, 3) rotations by angles (..., 3) about X, then Y, then Z."""
    axes = np.eye(3)
    x, y, z = (quat.to_matrix(quat.about(axes[k], angles[..., k])) for k in range(3))
    out: Array = z @ y @ x
    return out


def _segment_gap(a: Array, u: Array, b: Array, v: Array) -> Array:
    """(P, N) least distances between segments a + s u and b + t v, (3, P, N) each."""
    w = a - b
    uu, vv, uv = (u * u).sum(axis=0), (v * v).sum(axis=0), (u * v).sum(axis=0)
    uw, vw = (u * w).sum(axis=0), (v * w).sum(axis=0)
    uu, vv = np.maximum(uu, 1e-12), np.maximum(vv, 1e-12)
    s = np.clip((uv * vw - vv * uw) / np.maximum(uu * vv - uv * uv, 1e-12), 0.0, 1.0)
    t = np.clip((uv * s + vw) / vv, 0.0, 1.0)
    s = np.clip((uv * t - uw) / uu, 0.0, 1.0)
    apart = w + s * u - t * v
    out: Array = np.sqrt((apart * apart).sum(axis=0))
    return out
