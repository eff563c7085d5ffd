"""Treadmill: any walk or run clip steered along any path, at any speed from standing still to above its own.

A clip is taken apart into the way of its base and what the body does about it (`gaitcycle`); another base then carries
the body. Slower than the clip the pose is an interpolation from standing, by a factor that a table holds for each speed
and that was chosen so that the standing foot slips least; faster, the cycle runs faster; between clips of different
speed their poses are mixed in phase. J. Kuffner, "Autonomous Agents for Real-Time Animation" (1999), chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import InvalidMotion
from ..filters.contacts import CURVES, Flags, footfall_events
from ..filters.footlock import footlock
from ..kinematics import base as bases
from ..maths import quat, trig
from ..maths.ramp import lerp, smoothstep, unwrap
from ..maths.window import slide
from ..motion import Event, Motion, Path
from ..params import Params, param
from ..skeleton import SIDES, Array, Pose
from .gaitcut import find_cycle
from .gaitcycle import Legs, legs_of
from .posetable import Treadmill, mean_stance, neutral_stance, tabulate
from .track import Track

FROZEN = 0.02
"""Pose factor below which the cycle does not go on and both feet stand."""
TURN_RADIUS = 0.35
"""A turn counts as a walk on a circle of this radius [leg lengths]."""

_PHASES = 64
"""Moments of a stride among which the first is sought."""
_SOFT = 0.01
"""Height over which the lowest point of a sole gives way to another one [leg lengths]."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class TreadmillParams(Params):
    """Whose gait, which way and how fast."""

    source: str = param(
        "", ref="armature", help="Armature whose walk or run is taken; with none at all, a built-in walk"
    )
    action: str = param("", ref="action", help="Action to take instead of what the source plays")
    file: str = param("", ref="file", help="BVH file to take instead of an armature in the scene")
    path: str = param("", ref="curve", help="Curve to go along; straight ahead without one")
    speed: float = param(0.0, lo=0.0, hi=20.0, unit="m/s", help="Speed along the way; 0 for that of the clip")
    distance: float = param(5.0, lo=0.1, hi=1000.0, unit="m", help="How far to go straight ahead without a path")
    faster: str = param("", ref="action", basic=False, help="Action with a faster gait, mixed in at higher speeds")
    clip_speed: float = param(
        0.0, lo=0.0, hi=20.0, unit="m/s", basic=False, help="Speed of a clip on the spot; 0 measures it at its feet"
    )
    stand: str = param(
        "neutral",
        choices=(
            ("neutral", "Upright, the arms hanging clear of the body"),
            ("clip", "Legs straight, trunk, head and arms as they are on average in the clip"),
        ),
        basic=False,
        help="How the actor stands before it starts and after it stops",
    )
    cadence: float = param(
        0.5, lo=0.0, hi=1.0, basic=False, help="How cadence falls with speed: 0 keeps it, 1 keeps the length of steps"
    )
    ease: float = param(
        0.5, lo=0.0, hi=3.0, unit="s", basic=False, help="Time over which the gait follows a change of speed"
    )
    plant: bool = param(True, basic=False, help="Hold the feet still while they touch the ground")


def decompose(motion: Motion, params: TreadmillParams | None = None, standing: Pose | None = None) -> Treadmill:
    """A clip taken apart; see `gaitcut.find_cycle` for what it may be.

    `standing` is a pose at rest as seen from a base at the origin, facing -Y; None for what `params.stand` says.
    """
    params = params or TreadmillParams()
    cycle = find_cycle(motion, params.clip_speed)
    if standing is None:
        standing = mean_stance(cycle) if params.stand == "clip" else neutral_stance(cycle)
    elif len(standing.rotations) != len(motion.skeleton):
        raise InvalidMotion(f"a standing pose of {len(standing.rotations)} joints for {len(motion.skeleton)}")
    return tabulate(cycle, standing, params.cadence)


def treadmill(
    clips: Sequence[Motion], base: Path, params: TreadmillParams | None = None, start: Pose | None = None
) -> Motion:
    """The clips' gait along a way.

    Args:
        clips: One or more gaits of different speed, all on one skeleton.
        base: x, y, heading at even times, whose rate the result takes; the ground is level at height 0.
        params: How clips are read and the feet held.
        start: World pose before the first sample: the first foot to stand is the one it stands on.
    """
    params = params or TreadmillParams()
    return steer([decompose(clip, params) for clip in clips], base, params, start)


def steer(
    treadmills: Sequence[Treadmill], base: Path, params: TreadmillParams | None = None, start: Pose | None = None
) -> Motion:
    """`treadmill` with clips that are taken apart already."""
    params = params or TreadmillParams()
    gaits = _ordered(treadmills)
    skeleton = gaits[0].cycle.skeleton
    track, legs = Track(base), legs_of(skeleton)
    fps, way = track.fps, np.column_stack([track.base[:, :2], unwrap(track.base[:, 2])])
    channels = _eased(_channels(gaits, *_pace(way, fps, skeleton.leg_length())), fps, params.ease)
    factors = np.clip(channels[:, 0], 0.0, 1.0)
    rates = channels[:, 1] * smoothstep(factors / FROZEN)
    shares = np.maximum(channels[:, 2:], 0.0)
    shares = shares / shares.sum(axis=1, keepdims=True)
    first = _first_phase(gaits, legs, factors[0], shares[0], _seen(start, way[0], len(skeleton)))
    strides = first + np.concatenate([[0.0], np.cumsum((rates[1:] + rates[:-1]) / 2)]) / fps

    places, rotations = _mixed(gaits, legs, strides, factors, shares)
    roots, rotations[:, 0] = bases.compose(way, places, rotations[:, 0])
    planted = _planted(gaits, strides, shares) | (factors < FROZEN)[:, None, None]
    curves = {c: planted[:, k, p].astype(np.float64) for k, names in enumerate(CURVES) for p, c in enumerate(names)}
    if params.plant:
        held = footlock(Motion(legs.skeleton, fps, roots, rotations[:, legs.joints], curves=curves))
        roots, rotations[:, legs.joints] = held.roots, held.rotations
    masks = [g.cycle.mask for g in gaits if g.cycle.mask is not None]
    events = [
        Event(k / fps, f"{name}_{side}")
        for foot, side in enumerate(SIDES)
        for k, name in footfall_events(planted[:, foot], False)
    ]
    return Motion(
        skeleton=skeleton,
        fps=fps,
        roots=roots,
        rotations=quat.continuous(rotations),
        base=way,
        mask=np.logical_and.reduce(masks) if masks else None,
        curves={**curves, "info/gait": factors, "info/strides": strides},
        events=tuple(events),
    )


def _ordered(treadmills: Sequence[Treadmill]) -> list[Treadmill]:
    """The gaits, slowest first."""
    if not treadmills:
        raise InvalidMotion("a treadmill needs at least one clip")
    gaits = sorted(treadmills, key=lambda t: t.cycle.speed)
    first = gaits[0].cycle.skeleton
    for other in (g.cycle.skeleton for g in gaits):
        if other.names != first.names or not np.allclose(other.offsets, first.offsets, atol=1e-6):
            raise InvalidMotion("the clips of a treadmill have different skeletons; retarget them to one first")
    for slow, fast in pairwise(gaits):
        if fast.cycle.speed < 1.02 * slow.cycle.speed:
            raise InvalidMotion(
                f"two clips of a treadmill have the same speed, {slow.cycle.speed:.2f} m/s; leave one out"
            )
    return gaits


def _pace(way: Array, fps: float, leg: float) -> tuple[Array, Array]:
    """(T,) speed, turning on the spot counted as walking a small circle [m/s]; and direction, 1 ahead to -1 back."""
    velocity = np.gradient(way, 1.0 / fps, axis=0, edge_order=2 if len(way) > 2 else 1)
    speed = np.sqrt(velocity[:, 0] ** 2 + velocity[:, 1] ** 2 + (TURN_RADIUS * leg * velocity[:, 2]) ** 2)
    ahead = velocity[:, 0] * trig.sin(way[:, 2]) - velocity[:, 1] * trig.cos(way[:, 2])
    share = ahead / np.maximum(speed, 1e-9)
    return speed, np.clip((share + 0.5) / 0.2, -1.0, 1.0)


def _channels(gaits: Sequence[Treadmill], speed: Array, direction: Array) -> Array:
    """(T, 2 + K) pose factor, strides a second and share of each clip."""
    own = np.array([g.cycle.speed for g in gaits])
    lengths = np.array([g.cycle.speed * g.cycle.period / g.cycle.strides for g in gaits])
    rates = np.where(speed < own[0], gaits[0].rate(speed), speed / np.interp(speed, own, lengths))
    shares = [np.interp(speed, own, row) for row in np.eye(len(gaits))]
    return np.stack([gaits[0].weight(speed), rates * direction, *shares], axis=-1)


def _eased(values: Array, fps: float, seconds: float) -> Array:
    """(T, C) smoothed over a window of `seconds`: twice differentiable, constant where the window sees a constant.

    Values go on beyond each end as their reflection through the end point, which so stays where it is.
    """
    half = round(seconds * fps / 6)
    if half < 1 or len(values) < 2:
        return values
    box = np.full(2 * half + 1, 1.0 / (2 * half + 1))
    kernel = slide(np.pad(slide(np.pad(box, 2 * half), box), 2 * half), box)
    padded = np.pad(values, ((3 * half, 3 * half), (0, 0)), mode="reflect", reflect_type="odd")
    return slide(padded, kernel)


def _seen(pose: Pose | None, here: Array, joints: int) -> Pose | None:
    """A world pose of a number of joints as seen from a base."""
    if pose is None:
        return None
    if len(pose.rotations) != joints:
        raise InvalidMotion(f"a pose of {len(pose.rotations)} joints cannot start a motion of {joints}")
    back = quat.about(_UP, -here[2])
    rotations = np.array(pose.rotations)
    rotations[0] = quat.multiply(back, rotations[0])
    return Pose(rotations, quat.rotate(back, pose.root - here * (1.0, 1.0, 0.0)))


def _first_phase(gaits: Sequence[Treadmill], legs: Legs, factor: float, shares: Array, start: Pose | None) -> float:
    """Strides at the first sample: where standing feet are nearest to those of `start`, else the clip's beginning."""
    if start is None:
        if factor > FROZEN:
            return -gaits[int(shares.argmax())].cycle.lead
        start = gaits[0].standing
    # from rest all phases look alike: what counts is the stride that is about to begin
    strides = np.arange(_PHASES) / _PHASES
    factors, many = np.full(_PHASES, max(factor, 0.3)), np.tile(shares, (_PHASES, 1))
    places, rotations = _mixed(gaits, legs, strides, factors, many)
    points = legs.points(places, rotations[:, legs.joints]) - legs.points(start.root, start.rotations[legs.joints])
    feet = points.mean(axis=2)
    weights = np.where(_planted(gaits, strides, many).any(axis=2), 1.0, 0.3)
    return float(strides[(weights * quat.dot(feet, feet)).sum(axis=1).argmin()])


def _mixed(
    gaits: Sequence[Treadmill], legs: Legs, strides: Array, factors: Array, shares: Array
) -> tuple[Array, Array]:
    """Hips (T, 3) and rotations (T, J, 4) as seen from the base, each clip with its share and all with the pose factor.

    Between poses the soles would float or sink; the hips are set so that the lowest point is as high as in the poses.
    """
    at = [g.cycle.at((strides + g.cycle.lead) / g.cycle.strides) for g in gaits]
    soles = np.stack([_lowest(legs, *pose) for pose in at], axis=-1)
    places, rotations = at[0]
    if len(gaits) > 1:
        places = np.einsum("tk,tkc->tc", shares, np.stack([p for p, _ in at], axis=1))
        rotations = quat.mean(np.stack([r for _, r in at], axis=2), shares[:, None])
    standing = gaits[0].standing
    places = lerp(standing.root, places, factors[:, None])
    rotations = quat.slerp(standing.rotations, rotations, factors[:, None])
    wanted = lerp(_lowest(legs, standing.root, standing.rotations), (soles * shares).sum(axis=1), factors)
    places[:, 2] += wanted - _lowest(legs, places, rotations)
    return places, rotations


def _lowest(legs: Legs, roots: Array, rotations: Array) -> Array:
    """(...) how far the lowest point of the soles is above the ground, rounded off where another one takes over [m]."""
    heights = legs.points(roots, rotations[..., legs.joints, :])[..., 2] - legs.level
    soft = _SOFT * legs.skeleton.leg_length()
    least = heights.min(axis=(-2, -1))
    out: Array = least - soft * np.log(np.exp((least[..., None, None] - heights) / soft).sum(axis=(-2, -1)))
    return out


def _planted(gaits: Sequence[Treadmill], strides: Array, shares: Array) -> Flags:
    """(T, 2, 2) heel and ball of each foot on the ground, in most of what is mixed."""
    flags = [g.cycle.planted_at((strides + g.cycle.lead) / g.cycle.strides) for g in gaits]
    out: Flags = np.einsum("tk,tkfp->tfp", shares, np.stack(flags, axis=1)) > 0.5
    return out
