"""Dense motion re-posed at a few samples: a smooth curve of offsets through the changes is added to it.

Motion displacement mapping of Bruderlin and Williams, "Motion signal processing", 1995. The offsets are rotation
vectors d = log(q^-1 q') of each joint and a shift of the hips; between the samples they follow a cubic of Kochanek and
Bartels, "Interpolating splines with local tension, continuity, and bias control", 1984, corrected for uneven spacing.
The first and the last sample have no offset unless they are re-posed themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidMotion, InvalidParam
from ..maths import quat, spline
from ..motion import Motion
from ..params import param
from ..skeleton import LEG, SIDES, Array, Pose, Skeleton
from .planted import keep_feet
from .scope import ScopeParams, mix


@dataclass(frozen=True)
class DisplaceParams(ScopeParams):
    """The poses, and how the offsets run between them."""

    tension: float = param(0.0, lo=-1.0, hi=1.0, help="Positive bends more sharply at the re-posed frames")
    continuity: float = param(0.0, lo=-1.0, hi=1.0, help="Negative makes a corner at the re-posed frames")
    bias: float = param(0.0, lo=-1.0, hi=1.0, help="Positive overshoots the re-posed frames, negative anticipates them")
    reach: float = param(
        0.0,
        lo=0.0,
        hi=600.0,
        unit="s",
        help="Longest time before and after a pose that changes; 0 for the whole clip",
        basic=False,
    )
    plant: bool = param(True, help="Leave feet that touch the ground where they are")
    edits: str = param("", help="The poses, as what they add to the motion (JSON)", basic=False)


@dataclass(frozen=True, eq=False)
class Offsets:
    """What a re-posed sample adds to a motion: rotation vectors `turns` (J, 3) [rad] and a shift `root` (3,) [m]."""

    turns: Array
    root: Array


def displacement(
    knots: npt.ArrayLike,
    values: npt.ArrayLike,
    times: npt.ArrayLike,
    tension: npt.ArrayLike = 0.0,
    continuity: npt.ArrayLike = 0.0,
    bias: npt.ArrayLike = 0.0,
    level: npt.ArrayLike = False,
) -> Array:
    """The curve of offsets (T, ...) at `times` (T,) through `values` (K, ...) at `knots` (K,), level at both ends.

    Tension, continuity and bias are for all knots or one for each (K,); the curve is level too where `level`
    (K, ...) says so.
    """
    at, through = np.asarray(knots, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(at) == 1:
        return spline.hermite(times, at, through, np.zeros_like(through))
    outgoing, incoming = spline.kochanek_bartels(at, through, tension, continuity, bias)
    outgoing, incoming = (np.where(level, 0.0, x) for x in (outgoing, incoming))
    return spline.hermite(times, at, through, outgoing, incoming)


def offsets(motion: Motion, sample: int, pose: Pose) -> Offsets:
    """What brings a sample of a motion to a pose."""
    _check(motion, sample)
    if pose.rotations.shape != motion.rotations.shape[1:]:
        raise InvalidMotion(f"a pose of {len(pose.rotations)} joints does not fit a motion of {len(motion.skeleton)}")
    away = quat.multiply(quat.conjugate(motion.rotations[sample]), pose.rotations)
    return Offsets(_clean(quat.log(away)), _clean(pose.root - motion.roots[sample]))


def _clean(values: Array) -> Array:
    """Zero where there is only rounding, so that what nobody re-posed stays as it is."""
    return np.where(np.abs(values) > 1e-9, values, 0.0)


def displace(motion: Motion, edits: Mapping[int, Pose | Offsets], params: DisplaceParams | None = None) -> Motion:
    """`motion` through the given poses, offset smoothly between them.

    The result passes through every pose exactly, but for the legs of planted feet when these are kept. It is a motion
    like any other: displacing it again starts from there.

    Args:
        motion: Left as it is.
        edits: Sample to the pose it should have, or to what should be added to it.
        params: How the offsets run.
    """
    params = params or DisplaceParams()
    if not edits:
        return motion
    for sample in edits:
        _check(motion, sample)
    given = {s: offsets(motion, s, e) if isinstance(e, Pose) else e for s, e in sorted(edits.items())}
    wrong = next((s for s, e in given.items() if e.turns.shape != (len(motion.skeleton), 3)), None)
    if wrong is not None:
        raise InvalidMotion(f"the offsets of sample {wrong} are not for a skeleton of {len(motion.skeleton)} joints")
    knots, values = _keys(motion, given, params)
    # a joint that a pose leaves alone rests there: what is done to it later does not swing back over that pose
    alone = ~np.any(values != 0.0, axis=-1, keepdims=True)
    sliders = params.tension, params.continuity, params.bias
    curve = displacement(knots, values, np.arange(len(motion)), *sliders, alone)
    touched = np.any(values != 0.0, axis=0)
    rotations = motion.rotations.copy()
    for j in np.flatnonzero(touched[:-1].any(axis=-1)):
        rotations[:, j] = quat.multiply(rotations[:, j], quat.exp(curve[:, j]))
    after = replace(motion, rotations=rotations, roots=motion.roots + curve[:, -1], base=_base(motion, touched))
    after = mix(motion, after, params)
    return keep_feet(motion, after, _legs_posed(motion, given), exact=True) if params.plant else after


def to_text(skeleton: Skeleton, edits: Mapping[float, Offsets]) -> str:
    """Offsets by time [s] as JSON: a list of {"time", "turns": {joint: rotation vector}, "root"}, zeros left out."""
    rows = []
    for time, edit in sorted(edits.items()):
        turns = {n: np.round(v, 9).tolist() for n, v in zip(skeleton.names, edit.turns, strict=True) if np.any(v)}
        rows.append({"time": round(time, 9), "turns": turns, "root": np.round(edit.root, 9).tolist()})
    return json.dumps(rows)


def from_text(skeleton: Skeleton, text: str) -> dict[float, Offsets]:
    """Offsets by time [s] from what `to_text` gives; none from an empty text."""
    try:
        rows = json.loads(text) if text.strip() else []
    except (json.JSONDecodeError, RecursionError):
        raise InvalidParam("edits", text[:40], "is not JSON") from None
    out = {}
    try:
        for row in rows:
            turns = np.zeros((len(skeleton), 3))
            for name, vector in row["turns"].items():
                turns[skeleton.index(name)] = _vector(vector)
            out[float(row["time"])] = Offsets(turns, _vector(row["root"]))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidParam("edits", text[:40], "must be a list of poses, each with time, turns and root") from None
    return out


def _vector(values: Any) -> Array:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(values)
    return vector


def _check(motion: Motion, sample: int) -> None:
    if not 0 <= sample < len(motion):
        raise InvalidParam("sample", sample, f"must be from 0 to {len(motion) - 1}, the samples of this motion")


def _legs_posed(motion: Motion, given: Mapping[int, Offsets]) -> tuple[list[int], list[int]]:
    """Samples at which the left and the right leg are re-posed themselves, and do not only follow the hips."""
    roles = motion.skeleton.roles
    legs = ([j for part in LEG for j in roles.get(f"{part}_{side}", ())] for side in SIDES)
    left, right = ([s for s, e in given.items() if np.any(np.abs(e.turns[leg]) > 1e-6)] for leg in legs)
    return left, right


def _base(motion: Motion, touched: npt.NDArray[np.bool_]) -> Array | None:
    """The base goes on to hold as long as the hips do."""
    return None if touched[0].any() or touched[-1].any() else motion.base


def _keys(motion: Motion, given: Mapping[int, Offsets], params: DisplaceParams) -> tuple[Array, Array]:
    """Knots (K,) [samples] and values (K, J + 1, 3): poses, ends, and where a pose's reach is over."""
    joints = len(motion.skeleton)
    count, nothing = len(motion), np.zeros((joints + 1, 3))
    keys = {float(s): np.concatenate([e.turns, e.root[None]]) for s, e in given.items()}
    posed = np.array(sorted(keys))
    # the sample after the last of a loop is its first
    last = float(count) if motion.loop else float(count - 1)
    keys.setdefault(0.0, nothing)
    keys.setdefault(last, keys[0.0] if motion.loop else nothing)
    if params.reach > 0:
        reach = params.reach * motion.fps
        for at in np.round(np.concatenate([posed - reach, posed + reach]), 6).tolist():
            if 0 < at < last and np.abs(posed - at).min() > reach - 1e-5 and at not in keys:
                keys[at] = nothing
    knots = np.array(sorted(keys))
    return knots, np.stack([keys[k] for k in knots.tolist()])
