"""Hips and legs of a body that acts: on the footfalls of its walk, or on its own feet where it dances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...filters.contacts import heel_and_ball, runs
from ...kinematics import fk
from ...kinematics.limb_ik import LIMBS, place_limb
from ...maths import quat
from ...maths.ramp import smoothstep
from ...motion import Motion
from ...skeleton import SIDES, Array, Skeleton
from ..furniture import Furniture
from .fitting import Fit
from .posing import Frames
from .reach import SOFT, lack, softly_larger
from .striding import landed, strides

LIFT = 0.04
"""Height of the small step with which a foot leaves its footfall for a dance, and comes back [m]."""
FLESH = 0.1
"""How far above a seat the hip joints of somebody are who sits on it, as a part of the legs' length."""
SETTLE = 0.4
"""Time in which the sole of a foot that stands comes down flat, and rises again [s]."""
DOWN = 0.95
"""How far a sole has come down flat of which heel and toes both count as on the ground."""
PAUSE = 0.15
"""Shortest time for which feet that are still stand [s]."""
STEP_OFF = 0.5
"""Shortest time in which both feet leave their footfalls for a dance, or come back to them [s]."""
MOVING = 0.05
"""Speed from which a foot steps [leg lengths a second]."""
_UP = np.array([0.0, 0.0, 1.0])
_PUPPET = frozenset(
    ("hips", "spine", "neck", "head")
    + tuple(f"{r}_{s}" for s in SIDES for r in ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot"))
)
"""Roles that actions speak for."""

Flags = npt.NDArray[np.bool_]


def stepped(walk: Motion) -> Flags:
    """(T,) whether a foot of a walk is on its way."""
    positions, _ = fk.forward(walk.skeleton, walk.rotations, walk.roots)
    feet = positions[:, [walk.skeleton.joint(f"foot_{side}") for side in SIDES]]
    speed = np.linalg.norm(np.gradient(feet, axis=0), axis=-1).max(axis=-1) * walk.fps
    out: Flags = speed > MOVING * walk.skeleton.leg_length()
    # a foot at the top of its step is still for an instant
    for a, b in runs(~out):
        out[a:b] |= a > 0 and b < len(out) and b - a < PAUSE * walk.fps
    return out


def stepping_off(wanted: Array, fps: float) -> Array:
    """(T,) how far the legs step by themselves, for what (T,) the actions ask for: feet take their time to change."""
    most = 1.0 / (STEP_OFF * fps)
    out = np.array(wanted)
    for k in range(1, len(out)):
        out[k] = min(max(out[k], out[k - 1] - most), out[k - 1] + most)
    return out


class Footwork:
    """Hips and legs of a body: where the walk, the stance and the steps of a dance put them."""

    def __init__(
        self,
        skeleton: Skeleton,
        walk: Motion,
        frames: Frames,
        track: Array,
        on_way: Array,
        off: Array,
        fit: Fit,
        entered: bool = False,
    ) -> None:
        """`off` is of `stepping_off`; `entered` tells that the walk begins in a pose whose feet may stand unevenly."""
        self._skeleton, self._walk, self._frames, self._fit, self._off = skeleton, walk, frames, fit, off
        self._steps = steps = smoothstep(off)
        turned = frames.heading - frames.heading[0]
        self._heading = track[:, 2] + turned
        facing = quat.about(_UP, self._heading)
        moved = np.diff(np.column_stack([frames.x, frames.y, np.zeros(len(frames.x))]), axis=0, prepend=0.0)
        moved[0] = 0.0
        drift = np.cumsum(steps[:, None] * quat.rotate(quat.about(_UP, track[:, 2] - frames.heading[0]), moved), axis=0)
        self._strides = strides(skeleton, fit, frames, track[:, :2] + drift[:, :2], self._heading, steps, walk.fps)
        self._drift = drift + self._strides.aside
        self._joints = [skeleton.joint(f"foot_{s}") for s in SIDES]
        positions, globals_ = fk.forward(skeleton, walk.rotations, walk.roots)
        self._ankles = positions[:, self._joints] + self._carried()
        self._soles = globals_[:, self._joints]
        self._stands = ~stepped(walk)
        self._flat = np.stack([self._standing(side, entered) for side in SIDES], axis=1)
        self._lay_flat()
        self._goals = self._reached(self._strides.ankles)
        even = self._strides.hips
        self.base = np.column_stack([even[:, :2], self._heading])
        soft = SOFT * skeleton.leg_length()
        stood = self._ankles.mean(axis=1) - quat.rotate(facing[:, None], frames.feet).mean(axis=1)
        # over the leg that reaches lower, without a corner where that is the other one
        left, right = fit.ankle_height - frames.feet[..., 2].T
        stood[:, 2] = softly_larger(left, right, soft) - 0.5 * soft
        roots = stood + steps[:, None] * (even - stood)
        self._roots = roots + on_way[:, None] * (walk.roots + self._drift - roots)
        self._roots -= self._drop(soft * (1.0 - on_way))[:, None] * _UP

    def _reached(self, danced: Array) -> Array:
        """(T, 2, 3) where the ankles go, on their footfalls or where a dance has them, (T, 2, 3) [m]."""
        share = self._shares()[..., None]
        apart = np.minimum(np.linalg.norm(danced - self._ankles, axis=-1, keepdims=True) / 0.2, 1.0)
        out: Array = self._ankles + share * (danced - self._ankles) + (LIFT * 4.0 * share * (1.0 - share) * apart) * _UP
        return out

    def sit(self, weights: Array, furniture: Furniture) -> None:
        """Let the hips meet the seats that they go down to by weights (T,); the feet stay where they are."""
        flesh = FLESH * self._skeleton.leg_length()
        down = np.flatnonzero(weights > 0.0)
        for span in np.split(down, np.flatnonzero(np.diff(down) > 1) + 1) if len(down) else ():
            k = span[int(np.argmax(weights[span] >= 0.99 * weights[span].max()))]
            hips = self._roots[k]
            seat = furniture.seat(hips, float(self._heading[k]))
            if seat is not None:
                self._roots[span] += weights[span, None] * (seat + flesh * _UP - hips)

    def _standing(self, side: str, entered: bool) -> Array:
        """(T,) how far a foot lies flat, as both its heel and its toes are on the ground."""
        names = [f"contact/{part}_{side}" for part in ("foot", "toe")]
        out = np.zeros(len(self._walk))
        if not all(name in self._walk.curves for name in names):
            return out
        for a, b in runs(self._stands | np.all([self._walk.curves[name] > 0.5 for name in names], axis=0)):
            since = np.arange(b - a) + (0.0 if a > 0 or entered else np.inf)
            left = np.arange(b - a)[::-1] + (0.0 if b < len(out) else np.inf)
            out[a:b] = smoothstep(np.clip(np.minimum(since, left) / (SETTLE * self._walk.fps), 0.0, 1.0))
        return out

    def _lay_flat(self) -> None:
        """Bring the soles of feet that stand onto the ground, about the balls: a walk may leave a heel of theirs up."""
        level = quat.slerp(self._soles, quat.about(_UP, quat.heading(self._soles)), self._flat)
        balls = np.stack([heel_and_ball(self._skeleton, side)[1] for side in SIDES])
        self._ankles = self._ankles + quat.rotate(self._soles, balls) - quat.rotate(level, balls)
        self._ankles[..., 2] += self._flat * (self._fit.ankle_height - self._ankles[..., 2])
        self._soles = level

    def _drop(self, soft: Array) -> Array:
        """How far (T,) the hips must come down for both legs to reach their footfalls, softly by (T,) [m]."""
        body = self._skeleton
        pelvis = self._fit.rotations(self._frames.turned, self._heading)[:, 0]
        drops = []
        for k, side in enumerate(SIDES):
            hip = self._roots + quat.rotate(pelvis, body.offsets[body.joint(f"thigh_{side}")])
            drops.append(softly_larger(lack(body, side, hip, self._goals[:, k]), np.zeros(len(hip)), soft))
        return softly_larger(drops[0], drops[1], 0.3 * soft)

    def frames(self) -> Frames:
        """The body where it is, as far as `posing.posed` must know it."""
        low = self._frames.feet[np.arange(len(self._roots)), self._frames.support, 2]
        floor = self._roots[:, 2] - self._fit.ankle_height + low
        return replace(self._frames, x=self._roots[:, 0], y=self._roots[:, 1], heading=self._heading, floor=floor)

    def _shares(self) -> Array:
        """(T, 2) how far each foot has left its footfall for a dance; the one that does not stand goes first."""
        shares = np.stack([smoothstep(np.clip(2.0 * self._off - k, 0.0, 1.0)) for k in (0, 1)], axis=1)
        for a, b in runs(self._steps > 0.0):
            if self._frames.support[a] == 0:
                shares[a:b] = shares[a:b, ::-1]
        return shares

    def _carried(self) -> Array:
        """(T, 2, 3) how far footfalls have come along with dances: none goes while a foot stands on it [m]."""
        out = np.repeat(self._drift[:, None], 2, axis=1)
        shares = self._shares()
        for a, b in runs(self._steps > 0.0):
            ends = self._drift[[max(a - 1, 0), b - 1]]
            for k in (0, 1):
                gone = np.flatnonzero(shares[a:b, k] >= shares[a:b, k].max())
                passed = np.clip((np.arange(b - a) - gone[0]) / max(gone[-1] - gone[0], 1), 0.0, 1.0)
                out[a:b, k] = ends[0] + passed[:, None] * (ends[1] - ends[0])
        return out

    def _sunk(self, k: int, soles: Array, ankles: Array) -> Array:
        """(T,) how far heel or toes of a foot, soles (T, 4) and ankles (T, 3), would be in the ground [m]."""
        heel, ball = heel_and_ball(self._skeleton, SIDES[k])
        tip = self._fit.toes[k] * (1.0, 1.0, 0.0) + ball * _UP
        ends = [quat.rotate(soles, point)[:, 2] + rest for point, rest in ((heel, 0.0), (tip, heel[2] - ball[2]))]
        return np.maximum(-np.minimum(*ends) - ankles[:, 2], 0.0)

    def legs(self, rotations: Array, roots: Array) -> Array:
        """Rotations (T, J, 4) with the feet on their footfalls."""
        body = self._skeleton
        positions, globals_ = fk.forward(body, rotations, roots)
        shares = self._shares()
        soles = []
        for k, side in enumerate(SIDES):
            goal, share = self._goals[:, k], shares[:, k]
            danced = globals_[:, self._joints[k]]
            if share.any():
                danced = landed(danced, self._strides.stances[k], self._steps <= 0.0, self._walk.fps)
            sole = quat.slerp(self._soles[:, k], danced, share)
            goal = goal + np.where(share > 0.0, self._sunk(k, sole, goal), 0.0)[:, None] * _UP
            soles.append(sole)
            globals_ = place_limb(body, globals_, positions, LIMBS[f"foot_{side}"], goal)
        for joint, sole in zip(self._joints, soles, strict=True):
            globals_[:, joint] = sole
        out = fk.local_rotations(body, globals_)
        spoken = {j for role, joints in body.roles.items() if role in _PUPPET for j in joints}
        rest = [j for j in range(len(body)) if j not in spoken]
        out[:, rest] = self._walk.rotations[:, rest]
        for k, side in enumerate(SIDES):
            for toe in body.roles.get(f"toe_{side}", ()):
                straight = np.broadcast_to(quat.IDENTITY, out[:, toe].shape)
                out[:, toe] = quat.slerp(out[:, toe], straight, self._flat[:, k])
        return out

    def contacts(self) -> dict[str, Array]:
        """Which foot stands, as curves."""
        shares, found = self._shares(), {}
        for k, side in enumerate(SIDES):
            own = self._frames.support == k
            heel = own & ~self._strides.turns[:, k]
            for part in ("foot", "toe"):
                name = f"contact/{part}_{side}"
                if name in self._walk.curves:
                    down = np.maximum(self._walk.curves[name], self._flat[:, k] > DOWN)
                    walked = np.where(shares[:, k] <= 0.0, down, 0.0)
                    found[name] = np.where(self._steps >= 1.0, heel if part == "foot" else own, walked)
        return found
