"""Transfer curves on joint angles: limits hard and soft, added waves, styles drawn as a curve.

Motion waveshaping of Bruderlin and Williams, "Motion signal processing", 1995: a point process that takes each value,
brought from its range to -1..1, through a curve. A curve drawn with control points is an interpolating cubic of the
family of Kochanek and Bartels; beyond its ends every curve goes on straight. Values are the anatomical angles of each
joint, so equal curves on the left and on the right do mirrored things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..errors import InvalidParam
from ..kinematics import anatomy
from ..maths import quat, spline
from ..motion import Motion
from ..params import param
from ..skeleton import Array
from .scope import ScopeParams, mask, mix

Points = tuple[tuple[float, float], ...]

LINE: Points = ((-1.0, -1.0), (0.0, 0.0), (1.0, 1.0))
"""Control points of the curve that changes nothing."""
ANGLES = ("flexion", "abduction", "rotation")

_BUMP_WIDTH = 0.35
"""Distance from the middle of the range at which a bump has fallen to 1/e."""


@dataclass(frozen=True)
class Shape:
    """A curve from -1..1 to -1..1.

    Attributes:
        kind: One of CURVES, or "points" for the control points.
        points: (input, output) pairs, inputs increasing.
        monotone: The curve through the points rises and falls only where they do; tension and the like do not count.
        tension: -1..1, of the curve through the points: positive bends more sharply at them.
        continuity: -1..1: negative breaks the curve at them.
        bias: -1..1: positive overshoots them, negative anticipates.
        size: Height of bump and waves.
        waves: Number of waves over the range.
        knee: Part of the way from the middle to the limit from which a soft limit sets in.
    """

    kind: str = "points"
    points: Points = LINE
    monotone: bool = False
    tension: float = 0.0
    continuity: float = 0.0
    bias: float = 0.0
    size: float = 0.15
    waves: int = 3
    knee: float = 0.8
    _deviation: tuple[Array, Array, Array, Array] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind != "points" and self.kind not in CURVES:
            raise InvalidParam("shape", self.kind, f"must be one of {', '.join((*CURVES, 'points'))}")
        table = np.array(self.points, dtype=np.float64)
        if table.ndim != 2 or table.shape[1:] != (2,) or len(table) < 2 or not np.isfinite(table).all():
            raise InvalidParam("points", self.points, "must be two or more pairs of input and output")
        if np.any(np.diff(table[:, 0]) <= 0):
            raise InvalidParam("points", self.points, "the inputs must increase from point to point")
        if not 0.0 <= self.knee < 1.0:
            raise InvalidParam("knee", self.knee, "must be from 0 to below 1")
        put = object.__setattr__
        put(self, "points", tuple((float(x), float(y)) for x, y in table))
        x, y = np.ascontiguousarray(table.T)
        # splines keep straight lines, so the difference to one is a spline too: without a difference it is exactly zero
        if self.monotone:
            slopes = spline.monotone_slopes(x, y) - 1.0
            put(self, "_deviation", (x, y - x, slopes, slopes))
            return
        away = y - x
        outgoing, incoming = spline.kochanek_bartels(x, away, self.tension, self.continuity, self.bias)
        for slopes in (outgoing, incoming):
            slopes[0], slopes[-1] = (away[1] - away[0]) / (x[1] - x[0]), (away[-1] - away[-2]) / (x[-1] - x[-2])
        put(self, "_deviation", (x, away, outgoing, incoming))

    def with_point(self, x: float, y: float) -> Shape:
        """The curve through one more point; a point at the same input is replaced."""
        kept = [p for p in self.points if abs(p[0] - x) > 1e-9]
        return replace(self, kind="points", points=tuple(sorted([*kept, (float(x), float(y))])))

    def without_point(self, index: int) -> Shape:
        """The curve without one of its points; two are left at least."""
        self._check(index)
        if len(self.points) == 2:
            raise InvalidParam("points", self.points, "a curve needs two points")
        return replace(self, kind="points", points=(*self.points[:index], *self.points[index + 1 :]))

    def with_moved(self, index: int, x: float, y: float) -> Shape:
        """The curve with one of its points dragged elsewhere, not beyond its neighbours."""
        self._check(index)
        points = list(self.points)
        points[index] = (float(x), float(y))
        return replace(self, kind="points", points=tuple(points))

    def editable(self, count: int = 9) -> Shape:
        """The same curve as control points, `count` of them evenly spaced, to go on from."""
        if self.kind == "points":
            return self
        x = np.linspace(-1.0, 1.0, count)
        return replace(self, kind="points", points=tuple(zip(x.tolist(), curve(self, x).tolist(), strict=True)))

    def _check(self, index: int) -> None:
        if not 0 <= index < len(self.points):
            raise InvalidParam("index", index, f"must be from 0 to {len(self.points) - 1}")


def curve(shape: Shape, x: npt.ArrayLike) -> Array:
    """The curve at x (...)."""
    x = np.asarray(x, dtype=np.float64)
    if shape.kind != "points":
        return CURVES[shape.kind](shape, x)
    knots, values, outgoing, incoming = shape._deviation
    inside = np.clip(x, knots[0], knots[-1])
    end_slope = np.where(x < knots[0], outgoing[0], incoming[-1])
    out: Array = x + spline.hermite(inside, knots, values, outgoing, incoming) + end_slope * (x - inside)
    return out


def _cosine(shape: Shape, x: Array) -> Array:
    out: Array = np.sin(np.pi / 2 * np.clip(x, -1.0, 1.0))
    return out


def _bump(shape: Shape, x: Array) -> Array:
    out: Array = x + shape.size * np.exp(-((x / _BUMP_WIDTH) ** 2))
    return out


def _undulation(shape: Shape, x: Array) -> Array:
    inside = np.clip(x, -1.0, 1.0)
    # the window makes the waves begin and end without a kink
    out: Array = x + shape.size * np.sin(np.pi * shape.waves * inside) * (1.0 - inside * inside)
    return out


def _soft(shape: Shape, x: Array) -> Array:
    far, room = np.abs(x), 1.0 - shape.knee
    eased = 1.0 - room * np.exp(-np.maximum(far - shape.knee, 0.0) / room)
    return np.copysign(np.where(far > shape.knee, eased, far), x)


CURVES: Mapping[str, Callable[[Shape, Array], Array]] = MappingProxyType(
    {
        "identity": lambda shape, x: x.copy(),
        "bump": _bump,
        "cosine": _cosine,
        "step": lambda shape, x: np.where(x < 0.0, -1.0, 1.0),
        "hard": lambda shape, x: np.clip(x, -1.0, 1.0),
        "soft": _soft,
        "undulation": _undulation,
    }
)
"""The built-in curves by name."""


def shape_values(x: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike, shape: Shape) -> Array:
    """Values x taken through a curve whose -1..1 is lo..hi; everything broadcasts. Without a range nothing changes."""
    x, lo, hi = (np.asarray(v, dtype=np.float64) for v in (x, lo, hi))
    half = (hi - lo) / 2
    some = half > 0
    place = np.where(some, (x - lo) / np.where(some, half, 1.0) - 1.0, 0.0)
    out = x + np.where(some, half * (curve(shape, place) - place), 0.0)
    # the last digit of a sum may pass a limit that the curve keeps
    return np.where(some, np.clip(out, lo, hi), x) if shape.kind in ("hard", "soft") else out


def hard_limit(x: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike) -> Array:
    """x stopped at lo and hi."""
    return shape_values(x, lo, hi, Shape("hard"))


def soft_limit(x: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike, knee: float = 0.8) -> Array:
    """x slowed down from `knee` of the way to lo or hi on, which it never passes; continuous in slope."""
    return shape_values(x, lo, hi, Shape("soft", knee=knee))


@dataclass(frozen=True)
class WaveshapeParams(ScopeParams):
    """Which curve, over which range of which angles."""

    shape: str = param(
        "soft",
        choices=(
            ("identity", "Nothing changes"),
            ("soft", "Angles slow down before the end of the range and never pass it"),
            ("hard", "Angles stop at the end of the range"),
            ("cosine", "Livelier about the middle, calmer at the extremes"),
            ("bump", "A little more flexion, abduction or rotation about the middle of the range"),
            ("undulation", "Waves on the way: a smooth move becomes one that sways back and forth"),
            ("step", "Two postures and nothing between"),
            ("points", "The curve through the control points below"),
        ),
        help="Curve that the angles are taken through",
    )
    range_of: str = param(
        "clip",
        choices=(
            ("clip", "From the smallest to the largest angle in the clip, joint by joint"),
            ("limits", "The limits of the joint; the clip's own range where there are none"),
        ),
        help="What the ends of the curve stand for",
    )
    extent: float = param(
        1.0, lo=0.05, hi=4.0, help="Range of the curve as a multiple of that: below 1 limits set in earlier"
    )
    size: float = param(0.15, lo=-1.0, hi=1.0, help="Height of bump and waves, as a part of half the range")
    waves: int = param(3, lo=1, hi=20, help="Number of waves over the range", basic=False)
    knee: float = param(
        0.8, lo=0.0, hi=0.99, help="Part of the way to the limit from which a soft limit slows down", basic=False
    )
    angle: str = param(
        "all",
        choices=(("all", "All three angles"), *((name, f"Only {name}") for name in ANGLES)),
        help="Angles that change",
        basic=False,
    )
    points: tuple[tuple[float, float], ...] = param(
        LINE,
        columns=("input", "output"),
        lo=-10.0,
        hi=10.0,
        help="Control points of the curve, from -1 (lower end of the range) to 1 (upper end)",
        basic=False,
    )
    monotone: bool = param(False, help="Let the curve through the points rise and fall only where they do", basic=False)
    tension: float = param(
        0.0, lo=-1.0, hi=1.0, help="How sharply the curve through the points bends at them", basic=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        shape_of(self)


def shape_of(params: WaveshapeParams) -> Shape:
    """The curve that the parameters describe."""
    return Shape(
        kind=params.shape,
        points=params.points,
        monotone=params.monotone,
        tension=params.tension,
        size=params.size,
        waves=params.waves,
        knee=params.knee,
    )


def waveshape(motion: Motion, params: WaveshapeParams | None = None) -> Motion:
    """`motion` with the angles of its joints taken through a curve.

    The hips stay as they are: their rotation is the way the character faces. Joints near a turn of a quarter sideways,
    where flexion and rotation are the same thing, may turn further than the curve suggests.
    """
    params = params or WaveshapeParams()
    shape, chosen = shape_of(params), mask(motion.skeleton, params)
    shaped = [k for k, name in enumerate(ANGLES) if params.angle in ("all", name)]
    rotations, roles = motion.rotations.copy(), motion.skeleton.role_of()
    for j in np.flatnonzero(chosen[1:-1]) + 1:
        role = roles.get(int(j), "root")
        before = angles_of(motion, int(j))
        if params.range_of == "limits":
            before = _near_limits(motion, int(j), before)
        after = before.copy()
        lo, hi = _range(motion, int(j), before, params)
        after[:, shaped] = shape_values(before, lo, hi, shape)[:, shaped]
        bent = np.any(after != before, axis=-1)
        rotations[bent, j] = anatomy.from_angles(after[bent], role)
    signs = np.copysign(1.0, quat.dot(rotations, motion.rotations))[..., None]
    changed = np.any(rotations != motion.rotations, axis=-1)[..., None]
    return mix(motion, replace(motion, rotations=np.where(changed, signs * rotations, rotations)), params)


def angles_of(motion: Motion, joint: int) -> Array:
    """Flexion, abduction and rotation (T, 3) of one joint, continuous [rad]; a joint without a role has plain axes."""
    role = motion.skeleton.role_of().get(joint, "root")
    # a joint of a chain on its own: alone in the role
    alone = replace(motion.skeleton, roles={role: (joint,)})
    return anatomy.angles(replace(motion, skeleton=alone), role)


def _near_limits(motion: Motion, joint: int, angles: Array) -> Array:
    """The same rotations by angles (T, 3) that lie nearest to the limits of the joint."""
    limits = motion.skeleton.limits[joint]
    same = angles * (1.0, -1.0, 1.0) + np.pi  # the other three angles of the same rotation
    middle, turn = limits.mean(axis=-1), 2 * np.pi
    turned = [a + turn * np.round((middle - np.median(a, axis=0)) / turn) for a in (angles, same)]
    return min(turned, key=lambda a: float(np.abs(a - np.clip(a, *limits.T)).sum()))


def _range(motion: Motion, joint: int, angles: Array, params: WaveshapeParams) -> tuple[Array, Array]:
    """Lowest and highest value (3,) that the ends of the curve stand for [rad]."""
    lo, hi = angles.min(axis=0), angles.max(axis=0)
    if params.range_of == "limits":
        limits = motion.skeleton.limits[joint]
        known = limits[:, 1] - limits[:, 0] < 2 * np.pi - 1e-9
        lo, hi = np.where(known, limits[:, 0], lo), np.where(known, limits[:, 1], hi)
    middle, half = (lo + hi) / 2, params.extent * (hi - lo) / 2
    # what only trembles in its last digits has no range
    half = np.where(half > 1e-7, half, 0.0)
    return middle - half, middle + half
