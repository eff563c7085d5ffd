"""What a gait is to those who plan steps: the times, lengths and curves of one stride at a steady speed.

A gait is a file with a class that fits `Gait`. It need not plant feet nor know of paths, slopes or changes of speed:
`gait.travel` lays the strides of any gait along a path and holds the feet where they are put.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..skeleton import Array

STANCE = ("pitch",)
"""Curves of a leg from strike to toe-off: pitch of the foot against the ground, toes up positive [rad]."""
SWING = ("thigh", "knee", "pitch")
"""Curves of a leg from toe-off to the next strike: pitch of the thigh against the vertical, forward positive, knee
flexion and pitch of the foot [rad]."""
BODY = (
    "surge",
    "sway",
    "height",
    "tilt",
    "list",
    "yaw",
    "spine_flexion",
    "spine_side",
    "spine_yaw",
    "head_pitch",
    "head_roll",
    "head_yaw",
)
"""Curves of the body over a stride: the root's way ahead of its mean place, to the left of it and above the ground [m];
the pelvis's flexion (forward), abduction (to the left: the left hip down) and rotation (to the left) against the
heading; the whole spine's against the pelvis; the head's against the world's vertical and the heading [rad]."""
ODD = np.array([name in ("sway", "list", "yaw", "spine_side", "spine_yaw", "head_roll", "head_yaw") for name in BODY])
"""Which of the curves of the body change sign in the mirror."""
ARM = ("flexion", "abduction", "rotation", "elbow", "pronation", "wrist", "shrug", "shoulder")
"""Curves of an arm over the stride of its own side's foot: shoulder joint flexion, abduction and rotation, elbow
flexion, forearm rotation, wrist flexion, shoulder girdle up and forward [rad], measured as `anatomy` measures them."""

LEG_SAMPLES = 33
"""Samples of a leg's stance and of its swing, both ends included."""
STRIDE_SAMPLES = 96
"""Samples of a stride, its end not repeated."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """One stride at a steady speed on level ground, written for the left foot; the right one's is the mirror image.

    Attributes:
        step_time: From one foot's strike to the other's [s].
        stance_time: From a foot's strike to its toe-off [s]: above step_time there is double support, below it flight.
        step_length: [m], negative backward.
        width: Between the lines on which the two feet's ankles tread [m].
        toe_out: Turn of the planted feet outward [rad].
        stance: (LEG_SAMPLES, 1) STANCE, evenly from strike to toe-off. The foot turns about its heel while the pitch is
            positive, about its ball while it is negative, the toes staying flat.
        swing: (LEG_SAMPLES, 3) SWING, evenly from toe-off to strike.
        body: (STRIDE_SAMPLES, len(BODY)) evenly from the left foot's strike.
        arm: (STRIDE_SAMPLES, len(ARM)) evenly from the strike of the foot of the same side.
        lead: Part of the stance after which the body passes over the ankle: a foot is put down where the body's mean
            place will be `lead * stance_time` after the strike, so that far ahead of it is the ankle at the strike.
        curl: Flexion of the fingers' joints [rad].
        toe_lift: Height over the ground of everything under the foot that the gait wants at least in mid-swing [m].
    """

    step_time: float
    stance_time: float
    step_length: float
    width: float
    toe_out: float
    stance: Array
    swing: Array
    body: Array
    arm: Array
    lead: float = 0.5
    curl: float = 0.3
    toe_lift: float = 0.02

    @property
    def swing_time(self) -> float:
        """From a foot's toe-off to its next strike [s]."""
        return 2 * self.step_time - self.stance_time


class Gait(Protocol):
    """A way to go: built for one body and one set of parameters, asked for each step."""

    name: str

    def cadence(self, speeds: Array) -> Array:
        """Steps a second (T,) at speeds (T,) [m/s, not negative]."""
        ...

    def beat(self, speed: float, side: str) -> float:
        """How long the step that begins with a strike of `side` lasts at a speed [m/s], by the mean of both sides."""
        ...

    def cycle(self, speed: float, side: str) -> Cycle:
        """The stride at a forward speed [m/s; zero stands] as the step that begins with a strike of `side` wants it.

        It is written for the left foot whatever the side: `side` matters only to gaits that are not symmetric.
        """
        ...
