"""When the feet touch the ground: heel and ball of each foot, found in any motion.

A point is planted while it is both slow and low. Slow is measured against how fast that foot moves around that time,
low against the level where that point comes to rest around that time, so an unknown, sloped or drifting floor and a
source that slides a little do not matter. Two thresholds, a shortest duration and the closing of gaps keep noise out.
All lengths are in leg lengths: the answer does not depend on the size of the character nor on the frame rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..kinematics import fk
from ..kinematics.base import round_later
from ..maths import quat
from ..motion import Event, Motion
from ..needs import needs_scipy
from ..params import Params, param
from ..skeleton import SIDES, Array, Skeleton

Flags = npt.NDArray[np.bool_]

CURVES = tuple((f"contact/foot_{side}", f"contact/toe_{side}") for side in SIDES)
"""Curve of the heel and of the ball, by side."""
EVENTS = ("heel_strike", "foot_flat", "heel_off", "toe_off")

_FILTER = 0.02
"""Standard deviation of the filter before velocities are taken [s]."""


@dataclass(frozen=True)
class ContactParams(Params):
    """What counts as a foot on the ground."""

    speed: float = param(0.8, lo=0.05, hi=3.0, help="Fastest a planted heel or ball moves [leg lengths a second]")
    height: float = param(0.02, lo=0.005, hi=0.5, help="Highest a planted heel is above the ground [leg lengths]")
    shortest: float = param(0.06, lo=0.0, hi=1.0, unit="s", help="Contacts shorter than this are dropped")
    gap: float = param(0.05, lo=0.0, hi=1.0, unit="s", basic=False, help="Gaps shorter than this are closed")
    share: float = param(
        0.1, lo=0.01, hi=0.9, basic=False, help="Fastest a planted point moves, as a part of that foot's peak speed"
    )
    stillness: float = param(
        0.17, lo=0.01, hi=1.0, basic=False, help="Speed that always counts as planted [leg lengths a second]"
    )
    release: float = param(1.2, lo=1.0, hi=4.0, basic=False, help="How much faster a point must be to end a contact")
    window: float = param(
        1.5, lo=0.2, hi=60.0, unit="s", basic=False, help="How far around a moment the ground level is looked for"
    )


def contacts(motion: Motion, params: ContactParams | None = None) -> Motion:
    """`motion` with curves `contact/foot_L`, `contact/toe_L` (and _R), 1 while heel or ball are planted, and events.

    A foot's `heel_strike` is its first touch and its `toe_off` its last, whichever part of it touches; `foot_flat` is
    when heel and ball first are both down, `heel_off` when the heel has left for good. Contact curves and events of
    these names that the motion already has are replaced.
    """
    params = params or ContactParams()
    whole = cycles(motion) if motion.loop else motion
    points, leg = sole_points(whole), motion.skeleton.leg_length()
    planted = detect(points, motion.fps, leg, params)
    # a foot is not held where a glitch takes it, though its contact goes on
    held = planted & (np.abs(points - _despiked(points, motion.fps)).max(axis=-1) < 0.03 * leg)
    if motion.loop:
        planted, held = planted[len(motion) : 2 * len(motion)], held[len(motion) : 2 * len(motion)]
    curves = dict(motion.curves)
    for foot, names in enumerate(CURVES):
        for part, name in enumerate(names):
            curves[name] = held[:, foot, part].astype(np.float64)
    known = {f"{event}_{side}" for event in EVENTS for side in SIDES}
    events = [e for e in motion.events if e.name not in known]
    for foot, side in enumerate(SIDES):
        found = footfall_events(planted[:, foot], motion.loop)
        events += [Event(k / motion.fps, f"{name}_{side}") for k, name in found]
    return replace(motion, curves=curves, events=tuple(events))


def detect(points: Array, fps: float, leg: float, params: ContactParams | None = None) -> Flags:
    """Which points are planted.

    Args:
        points: (T, F, 2, 3) places of heel and ball of F feet, up to constant heights [m].
        fps: Samples a second [Hz].
        leg: Leg length [m].
        params: Limits.

    Returns:
        (T, F, 2).
    """
    with needs_scipy():
        from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    params = params or ContactParams()
    points = _despiked(points / leg, fps)
    if len(points) > 1:
        margin = min(round(4 * _FILTER * fps) + 1, len(points) - 1)
        padded = np.pad(points, ((margin, margin), (0, 0), (0, 0), (0, 0)), mode="reflect", reflect_type="odd")
        points = gaussian_filter1d(padded, _FILTER * fps, axis=0)[margin:-margin]
        velocity = np.gradient(points, 1.0 / fps, axis=0)
    else:
        velocity = np.zeros_like(points)
    speeds = np.sqrt(quat.dot(velocity, velocity))
    peak = maximum_filter1d(speeds.max(axis=-1), 2 * round(0.75 * fps) + 1, axis=0, mode="nearest")[..., None]
    slow = speeds / np.clip(params.share * peak, params.stillness, max(params.speed, params.stillness))
    heights = points[..., 2] - _ground(points, slow < 1.0, fps, params)
    # the toe joint rises while the foot still rolls over the toes, so the ball has more room than the heel
    low = heights < params.height * np.array([1.0, 3.0])
    planted = np.empty(low.shape, dtype=bool)
    for foot, part in np.ndindex(low.shape[1:]):
        speed, down = slow[:, foot, part], low[:, foot, part]
        flags = _fill(_with_core(down & (speed < params.release), down & (speed < 1.0)), params.gap * fps)
        planted[:, foot, part] = ~_fill(~flags, params.shortest * fps)
    return planted


def sole_points(motion: Motion) -> Array:
    """(T, 2, 2, 3) places of heel and ball, left foot first [m]."""
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    feet = [motion.skeleton.joint(f"foot_{side}") for side in SIDES]
    local = np.stack([np.stack(heel_and_ball(motion.skeleton, side)) for side in SIDES])
    return positions[:, feet, None] + quat.rotate(globals[:, feet, None], local)


def heel_and_ball(skeleton: Skeleton, side: str) -> tuple[Array, Array]:
    """(3,) and (3,) from the ankle to the back of the sole and to the toe joint in the neutral stance [m].

    Rigs have no heel: it is put as far behind the ankle as in an average foot. Without toes the ball is the foot's
    tip.
    """
    foot = skeleton.joint(f"foot_{side}")
    toes = skeleton.has(f"toe_{side}")
    ball = skeleton.offsets[skeleton.joint(f"toe_{side}")] if toes else skeleton.tips[foot]
    leg = skeleton.leg_length()
    ankle, joint = 0.0, foot
    while joint >= 0:
        ankle += float(skeleton.offsets[joint, 2])
        joint = int(skeleton.parents[joint])
    if not 0.0 <= ankle <= 0.3 * leg:
        ankle = max(0.08 * leg, -float(ball[2]))
    heel = -(0.5 if toes else 0.33) * ball
    heel[2] = -ankle
    return heel, ball


def cycles(motion: Motion) -> Motion:
    """Three rounds of a looping motion, each starting where the one before ended; the loop itself is the second."""
    rounds = [round_later(motion, k) for k in (-1, 0, 1)]
    return Motion(
        skeleton=motion.skeleton,
        fps=motion.fps,
        roots=np.concatenate([m.roots for m in rounds]),
        rotations=quat.continuous(np.concatenate([m.rotations for m in rounds])),
        curves={name: np.tile(values, 3) for name, values in motion.curves.items()},
    )


def runs(flags: Flags) -> list[tuple[int, int]]:
    """First and past-last sample of each run of true samples."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _despiked(points: Array, fps: float) -> Array:
    """(T, F, 2, 3) without the glitches and inserted T-poses that last a frame or two; steady motion stays as it is."""
    with needs_scipy():
        from scipy.ndimage import median_filter

    size = max(3, 2 * round(0.025 * fps) + 1)
    out: Array = median_filter(points, size=(size, 1, 1, 1), mode="mirror")
    return out


def _ground(points: Array, slow: Flags, fps: float, params: ContactParams) -> Array:
    """(T, F, 2) height of the ground under each point, in leg lengths.

    Around each moment the ground of a point is the plane just under the places where it is slow. Another level is not
    believed when it lies well above that of the foot's other point (a heel that never comes down) or of the other foot
    (a foot held in the air).
    """
    count, reach = len(points), params.window * fps
    knots = np.unique(np.append(np.arange(0, count, max(1, round(reach / 4))), count - 1))
    first, last = np.maximum(knots - reach, 0).astype(np.int64), (knots + reach).astype(np.int64) + 1
    near = first[:, None] + np.arange((last - first).max())
    inside = near < np.minimum(last, count)[:, None]
    near = np.minimum(near, count - 1)
    flat = np.concatenate([np.ones_like(points[..., :1]), points[..., :2]], axis=-1)
    grounds = np.empty((*points.shape[1:3], count, *points.shape[1:3]))
    for foot, part in np.ndindex(points.shape[1:3]):
        still = inside & slow[near, foot, part]
        known = still.sum(axis=1) > params.shortest * fps
        if known.any():
            planes = _planes_under(points[near[known], foot, part], still[known])
        else:
            planes = np.array([[np.percentile(points[:, foot, part, 2], 5.0), 0.0, 0.0]])
            known[:1] = True
        plane = np.stack([np.interp(np.arange(count), knots[known], c) for c in planes.T], axis=-1)
        grounds[foot, part] = np.einsum("tfpc,tc->tfp", flat, plane)
    own = np.einsum("fptfp->tfp", grounds)
    foot_level = np.min(np.einsum("fqtfp->qtfp", grounds), axis=0)
    floor = grounds.min(axis=(0, 1))
    out: Array = np.minimum(own, np.minimum(foot_level + 0.05, floor + 0.1))
    return out


def _planes_under(points: Array, chosen: Flags) -> Array:
    """(K, 3) height at the origin and slopes of the planes that leave a tenth of the pull of points below them.

    Args:
        points: (K, N, 3), those of one plane in a row.
        chosen: (K, N) which of them count, one or more of each plane.
    """
    x, y, z = (np.ascontiguousarray(c) for c in np.moveaxis(points, -1, 0))
    part = chosen / chosen.sum(axis=1, keepdims=True)
    middle = np.stack([np.einsum("kn,kn->k", part, c) for c in (x, y)], axis=1)
    x, y = x - middle[:, :1], y - middle[:, 1:]
    weights = chosen.astype(np.float64)
    for _ in range(6):
        weights /= weights.sum(axis=1, keepdims=True)
        wx, wy = weights * x, weights * y
        mx, my, mz = (np.einsum("kn,kn->k", weights, c) for c in (x, y, z))
        # slopes cost, so that they are only found where the points spread over a third of a leg or more
        xx, yy = (np.einsum("kn,kn->k", w, c) - m * m + 0.01 for w, c, m in ((wx, x, mx), (wy, y, my)))
        xy = np.einsum("kn,kn->k", wx, y) - mx * my
        xz, yz = (np.einsum("kn,kn->k", w, z) - m * mz for w, m in ((wx, mx), (wy, my)))
        slopes = np.stack([xz * yy - yz * xy, yz * xx - xz * xy], axis=1) / (xx * yy - xy * xy)[:, None]
        level = mz - slopes[:, 0] * mx - slopes[:, 1] * my
        below = z < level[:, None] + slopes[:, :1] * x + slopes[:, 1:] * y
        weights = np.where(below, 0.9, 0.1) * chosen
    slopes = np.clip(slopes, -0.25, 0.25)
    return np.column_stack([level - slopes[:, 0] * middle[:, 0] - slopes[:, 1] * middle[:, 1], slopes])


def _with_core(loose: Flags, strict: Flags) -> Flags:
    """Runs of `loose` that contain a sample of `strict`."""
    out = np.zeros_like(loose)
    for a, b in runs(loose):
        out[a:b] = strict[a:b].any()
    return out


def _fill(flags: Flags, longest: float) -> Flags:
    """`flags` with inner gaps shorter than `longest` samples closed."""
    out = flags.copy()
    for a, b in runs(~flags):
        if a > 0 and b < len(flags) and b - a < longest:
            out[a:b] = True
    return out


def footfall_events(planted: Flags, loop: bool) -> list[tuple[int, str]]:
    """(sample, name) of the events of one foot; planted is (T, 2): heel, ball."""
    n = len(planted)
    rounds = np.concatenate([planted] * 3) if loop else planted
    out = []
    for a, b in runs(np.any(rounds, axis=1)):
        found = [(a, "heel_strike"), (b, "toe_off")]
        flat = runs(np.all(rounds[a:b], axis=1))
        if flat:
            found.append((a + flat[0][0], "foot_flat"))
        heel = np.flatnonzero(rounds[a:b, 0])
        if len(heel) and a + heel[-1] + 1 < b:
            found.append((a + int(heel[-1]) + 1, "heel_off"))
        # what begins before the first sample or ends after the last one is no event
        out += [(k - n, name) for k, name in found if n <= k < 2 * n] if loop else [e for e in found if 0 < e[0] < n]
    return sorted(out, key=lambda e: (e[0], EVENTS.index(e[1])))
