"""The stages of a task, and props in hands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...maths import quat
from ...skeleton import Array
from ..spaces.solids import parted

if TYPE_CHECKING:
    from ..spaces.arm_space import Arm
    from .grasp import Grasp

STAGE = "stage"
"""Begins a stage; its data: `stage`, its name, `hand` and `prop`."""
LEANING = 0.8
"""Time the trunk takes to lean [s]."""


@dataclass(frozen=True, eq=False)
class Holding:
    """A prop in a hand.

    Attributes:
        prop, side: Which.
        grasp: How.
        offset: (4, 4) of the prop in the axes of the hand.
        fingers: Rotations (J, 4) whose fingers are closed on it.
        rest: (7,) configuration to which the arm comes back when it has put it down.
        relaxed: Rotations (J, 4) whose fingers are those of the hand then.
        before: Rotations (J, 4) to which arm and trunk come back then; None for what `rest` says.
    """

    prop: str
    side: str
    grasp: Grasp
    offset: Array
    fingers: Array
    rest: Array | None = None
    relaxed: Array | None = None
    before: Array | None = None


def home_of(arm: Arm, holding: Holding, otherwise: Array) -> Array:
    """(7,) configuration to which an arm comes back when it has put down what it holds."""
    if holding.before is not None:
        return np.clip(arm.configuration(np.asarray(holding.before)[arm.joints]), arm.low, arm.high)
    return otherwise if holding.rest is None else np.asarray(holding.rest)


@dataclass(frozen=True, eq=False)
class Stage:
    """A part of a task.

    Attributes:
        name: reach, hold, grasp, lift, transfer, release or return.
        way: (N, 7 A) configurations of the A arms; one where they stay.
        fingers: Rotations (J, 4) whose fingers are those at its end; None for as they were in the beginning.
        look: (3,) what it is about [m]; None for straight ahead.
        carries: Whether the prop is in the hand.
        seconds: How long it takes where the arm stays [s].
        window: Part of it in which the fingers take their shape; None for what is usual.
        steady: Whether the hands are where the way says while the trunk comes to lean, instead of going along with it.
    """

    name: str
    way: Array
    fingers: Array | None
    look: Array | None
    carries: bool = False
    seconds: float = 0.0
    window: tuple[float, float] | None = None
    steady: bool = False


def between(a: Array, b: Array) -> Array:
    """(..., 4, 4) midway between two, with the scale of the first."""
    _, scale = parted(a.reshape(-1, 4, 4)[0])
    turns = [quat.from_matrix(m[..., :3, :3] / np.linalg.norm(m[..., :3, :3], axis=-2, keepdims=True)) for m in (a, b)]
    out = np.array(a)
    out[..., :3, :3] = quat.to_matrix(quat.slerp(turns[0], turns[1], 0.5)) * scale
    out[..., :3, 3] = 0.5 * (a[..., :3, 3] + b[..., :3, 3])
    return out
