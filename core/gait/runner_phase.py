"""The legs of a runner over a stride: the planted foot rolls off under the hip, the swinging leg goes from key to key.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.3. All angles are seen
from the side: pitch of the thigh forward positive, flexion of the knee, pitch of the foot toes up positive [rad].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..skeleton import Array
from .cycle import LEG_SAMPLES
from .runner_body import Lower, hip_offset
from .runner_path import PelvisPath
from .runner_pose import TRIES, State
from .runner_style import Laws
from .runner_swing import CLEARANCE, swing, with_end_rates

FINE = 2 * LEG_SAMPLES - 1
"""Samples of a stance while it is worked out."""
_FINE = np.linspace(0.0, 1.0, FINE)
STRAIGHT = math.radians(4.0)
"""A standing knee is never straighter."""
STEEPEST = math.radians(62.0)
"""Steepest pitch of a foot on its ball."""
SINKING = 0.005
"""By how much the pelvis is lowered at a time when a leg does not reach the ground, for a body of 1.8 m [m]."""
DEEPEST = 0.15
"""And at most [m]."""
LATEST_HEEL_OFF = 0.9
"""Part of the stance at which the heel rises at the latest."""


@dataclass(frozen=True, eq=False)
class Phases:
    """The left leg over its stride.

    Attributes:
        path: Of the pelvis.
        stance: (LEG_SAMPLES, 3) pitch of the thigh, flexion of the knee and pitch of the foot from strike to toe-off.
        swing: (LEG_SAMPLES, 3) the same from toe-off to the next strike.
        warnings: What had to be changed.
    """

    path: PelvisPath
    stance: Array
    swing: Array
    warnings: tuple[str, ...]


def phases(state: State, laws: Laws, lower: Lower, size: float, path: str = "smooth") -> Phases:
    """The leg curves of a state, for a body of `size` times 1.8 m; `path` is one of `runner_path.PATHS`."""
    pelvis = PelvisPath(state, laws, size, path)
    leg = _Leg(state, laws, lower, pelvis)
    warnings = list(state.warnings)
    lowered = 0.0
    for _ in range(TRIES):
        leg.deepened = 0.0
        stance, missing = leg.stance()
        if missing[-1] or stance[-1, 2] < -STEEPEST:
            # the pose of toe-off itself is out of reach: no other point of the path helps
            leg.knee = max(leg.knee - math.radians(1.0), STRAIGHT)
            pelvis.settle(0.4 * SINKING * size)
        elif missing.any() and lowered < DEEPEST * size:
            lowered += SINKING * size
            pelvis.sink(SINKING * size)
        else:
            break
    if missing.any() and not missing[-1] and lowered > 0.0:
        pelvis.sink(-lowered)
        stance, missing = leg.stance()
        warnings.append("the leg does not reach the ground at once: bend the knee more where the foot comes down")
    elif lowered > 0.0:
        warnings.append(f"the pelvis is {100 * lowered:.1f} cm lower at mid-support: the leg did not reach the ground")
    if pelvis.settled > 0.0:
        warnings.append(
            f"the pelvis is {100 * pelvis.settled:.1f} cm lower at toe-off: the leg did not reach the ground"
        )
    if leg.deepened > 0.0:
        warnings.append("the knee stays bent for longer in support: the foot would sink into the ground")
    swung, raised = swing(state, laws, lower, stance, leg.times, leg.swing_hips[1], CLEARANCE * size)
    if raised > 0.0:
        more = math.degrees(raised)
        warnings.append(f"the knee bends {more:.0f} degrees more in the swing: the foot would stub the ground")
    ends = (stance[1] - stance[0]) / leg.times[1], (stance[-1] - stance[-2]) / leg.times[1]
    return Phases(pelvis, with_end_rates(stance[::2], *ends, leg.times[2]), swung, tuple(warnings))


class _Leg:
    def __init__(self, state: State, laws: Laws, lower: Lower, pelvis: PelvisPath) -> None:
        self.state, self.laws, self.lower, self.pelvis = state, laws, lower, pelvis
        self.knee = max(state.attributes.toe_off_knee, STRAIGHT)
        self.longest = lower.leg(min(STRAIGHT, state.attributes.landing_knee)) * (1.0 + 1e-9)
        self.turned = math.cos(state.attributes.toe_out), math.sin(state.attributes.toe_out)
        self.deepened = 0.0
        self.times = pelvis.stance * _FINE
        self.swing_times = state.stride.swing_time * _FINE[::2]
        self.all_times = np.concatenate([self.times, pelvis.stance + self.swing_times])
        rolling = np.maximum(1.0 - self.times / (laws.flat * pelvis.stance), 0.0)
        self.rolling = state.strike_pitch * rolling * rolling
        self.rolled = self.ankles(self.rolling)

    def hips(self) -> tuple[Array, Array]:
        """(3, n) left hip forward of the flat heel, up and to the left of the line of travel, in stance and swing."""
        x, height, sway, list_, yaw = self.pelvis.at(self.all_times)
        forward, left, up = hip_offset(self.lower.half, self.state.tilt, list_, yaw)
        hips = np.array([x + forward, height + up, sway + left])
        return hips[:, :FINE], hips[:, FINE:]

    def ankles(self, pitch: Array) -> Array:
        """(3, n) ankle of the planted foot."""
        x, y = self.lower.raised(pitch)
        along = x - self.lower.heel
        side = self.state.attributes.width / 2
        return np.array([self.lower.heel + self.turned[0] * along, y, side + self.turned[1] * along])

    def knees(self, square: Array) -> Array:
        """(n,) flexion of the knee at a squared distance of ankle and hip."""
        a, b = self.lower.thigh, self.lower.shin
        return np.arccos(np.clip((square - (a * a + b * b)) / (2 * a * b), -1.0, 1.0))

    def stance(self) -> tuple[Array, Array]:
        """(FINE, 3) thigh, knee and foot from strike to toe-off; where the leg does not reach the ground (FINE,)."""
        times, end = self.times, self.pelvis.stance
        hips, self.swing_hips = self.hips()
        line = hips - self.rolled
        squares = (line * line).sum(axis=0)
        flat = self.laws.flat * end
        far = squares - self.longest**2
        missing = (far > 0.0) & (times <= flat)
        over = line[0] - self.state.attributes.heel_off * (self.lower.thigh + self.lower.shin)
        off = max(flat, min(_crossing(times, over), _crossing(times, np.where(times > flat, far, -1.0))))
        flat_knees, pitch = self.knees(squares), self.rolling.copy()
        for _ in range(TRIES):
            off = min(off, LATEST_HEEL_OFF * end)
            first = int(np.searchsorted(times, off, side="right"))
            rolled, short = self._roll_off(times, first, hips, flat_knees, off)
            if rolled.max() <= 1e-3 or off >= LATEST_HEEL_OFF * end:
                break
            # the leg is still too bent to raise the heel
            off += 0.02 * end
            self.deepened += 0.02
        pitch[first:], missing[first:] = np.minimum(rolled, 0.0), short
        line[:, first:] = hips[:, first:] - self.ankles(pitch[first:])
        ahead, down = -line[0], line[1]
        knee = self.knees(ahead * ahead + down * down)
        a, b = self.lower.thigh, self.lower.shin
        thigh = np.arctan2(ahead, down) + np.arctan2(b * np.sin(knee), a + b * np.cos(knee))
        return np.column_stack([thigh, knee, pitch]), missing

    def _roll_off(self, times: Array, first: int, hips: Array, flat_knees: Array, off: float) -> tuple[Array, Array]:
        """Pitch of the foot from sample `first` on, where the circle of the ankle meets the sphere of the leg.

        The heel rises from the time `off` on; `flat_knees` (FINE,) are the knees of a foot that stays flat.
        """
        lower, end = self.lower, self.pelvis.stance
        low = max(first - 2, 0)
        knee, rate = _tangent(times[low : low + 4], flat_knees[low : low + 4], off)
        u = (times[first:] - off) / (end - off)
        v = 1.0 - u
        knees = v * v * ((1.0 + 2.0 * u) * knee + u * rate * (end - off)) + u * u * (3.0 - 2.0 * u) * self.knee
        knees = np.maximum(knees, STRAIGHT)
        cosine, sine = self.turned
        ahead, up, aside = hips[:, first:] - np.array(
            [
                [lower.heel + cosine * lower.ball],
                [lower.ball_height],
                [self.state.attributes.width / 2 + sine * lower.ball],
            ]
        )
        ahead, aside = cosine * ahead + sine * aside, cosine * aside - sine * ahead
        rise = lower.ankle - lower.ball_height
        foot = math.hypot(lower.ball, rise)
        far = np.hypot(ahead, up)
        square = lower.thigh**2 + lower.shin**2 + 2 * lower.thigh * lower.shin * np.cos(knees)
        meet = (far * far + foot * foot - square + aside * aside) / (2 * foot * far)
        pitch = np.arctan2(up, ahead) + np.arccos(np.clip(meet, -1.0, 1.0)) - math.atan2(rise, -lower.ball)
        return pitch, meet > 1.0


def _crossing(times: Array, values: Array) -> float:
    """When values (n,) first become positive; beyond the end if never."""
    above = values > 0.0
    k = int(above.argmax())
    if not above[k]:
        return float(2 * times[-1])
    if k == 0:
        return float(times[0])
    part = values[k - 1] / (values[k - 1] - values[k])
    return float(times[k - 1] + part * (times[k] - times[k - 1]))


def _tangent(times: Array, values: Array, at: float) -> tuple[float, float]:
    """Value and slope at a time of the polynomial through a few values."""
    t = times - at
    coefficients = np.linalg.solve(np.vander(t / t[-1], len(t), increasing=True), values)
    return float(coefficients[0]), float(coefficients[1] / t[-1])
