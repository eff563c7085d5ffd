"""The swinging leg of a runner: from toe-off over the other foot's strike, mid-support and toe-off to its own strike.

Bruderlin, Calvert, "Knowledge-driven, interactive animation of human running" (1996), section 3.3. The angles leave and
arrive with the speeds that the planted foot gives them, so that nothing jumps.
"""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from ..maths import trig
from ..maths.spline import natural_slopes
from ..skeleton import Array
from .cycle import LEG_SAMPLES
from .runner_body import Lower
from .runner_pose import State
from .runner_style import Laws

CLEARANCE = 0.005
"""Least height of a swinging foot over the ground for a body of 1.8 m [m]."""
EDGE = 3
"""Samples at the ends of a swing where its footfalls decide how high the foot is."""
MORE_BEND, MOST_ADDED = math.radians(2.0), math.radians(60.0)
"""By how much the knee of a stubbing foot is bent at a time, and at most [rad]."""
LATE_KNEE, LATE_PUSH, LATE_TOES = math.radians(14.0), math.radians(14.0), math.radians(6.0)
"""How far the knee stretches beyond its angle at the strike, the ankle beyond its angle at toe-off, and how far it is
bent up beyond its angle at the strike [rad]."""
BRIEF_FLIGHT = 0.12
"""Keys are at least this part of the swing away from its ends, however brief the flight."""
_UNIT = np.linspace(0.0, 1.0, LEG_SAMPLES)
_INSIDE = np.clip(np.minimum(_UNIT, 1.0 - _UNIT) / 0.2, 0.0, 1.0)


def swing(
    state: State, laws: Laws, lower: Lower, stance: Array, times: Array, hips: Array, clearance: float
) -> tuple[Array, float]:
    """The swing that belongs to a stance.

    Args:
        state: Frame of the step.
        laws: Hidden attributes.
        lower: The body.
        stance: (n, 3) pitch of the thigh, flexion of the knee and pitch of the foot from strike to toe-off [rad].
        times: (n,) of its samples, evenly from 0 [s].
        hips: (LEG_SAMPLES,) height of the hip joint over the swing [m].
        clearance: Least height of the foot [m].

    Returns:
        (LEG_SAMPLES, 3) the same angles from toe-off to strike, and by how much the knee was bent so that the foot does
        not stub the ground [rad].
    """
    ends = stance[[-3, -2, -1, 0, 1, 2]]
    ends[:, 2] -= ends[:, 0] - ends[:, 1]
    gap = times[1]
    leaving = (0.5 * ends[0] - 2.0 * ends[1] + 1.5 * ends[2]) / gap
    landing = (2.0 * ends[4] - 1.5 * ends[3] - 0.5 * ends[5]) / gap
    corners = [row.tolist() for row in (ends[2], leaving, ends[3], landing)]
    thigh, knee, ankle = _keys(state, laws, lower, *corners)
    t = state.stride.swing_time * _UNIT
    curve = np.stack([thigh.at(t), knee.at(t), ankle.at(t)], axis=-1)
    curve[:, 2] += curve[:, 0] - curve[:, 1]
    added = 0.0
    while added < MOST_ADDED:
        lack = (clearance * _INSIDE - _lowest(lower, hips, curve))[EDGE:-EDGE]
        worst = EDGE + int(lack.argmax())
        if lack[worst - EDGE] <= 0.0:
            break
        added += MORE_BEND
        knee = knee.raised(float(t[worst]), float(curve[worst, 1]) + MORE_BEND)
        bent = knee.at(t)
        curve[:, 2] -= bent - curve[:, 1]
        curve[:, 1] = bent
    for rate in (leaving, landing):
        rate[2] += rate[0] - rate[1]
    straight = with_end_rates(curve, leaving, landing, t[1])
    low, high = _lowest(lower, hips, straight), _lowest(lower, hips, curve)
    for k in (1, -2):
        if low[k] < 0.0 < high[k]:
            straight[k] += low[k] / (low[k] - high[k]) * (curve[k] - straight[k])
    return straight, added


def with_end_rates(curve: Array, first: Array, last: Array, gap: float) -> Array:
    """A curve (n, C) whose first and last steps go by its rates there, for these are what a reader of samples sees."""
    out = curve.copy()
    out[1] = out[0] + gap * first
    out[-2] = out[-1] - gap * last
    return out


def _keys(
    state: State,
    laws: Laws,
    lower: Lower,
    leave: list[float],
    leaving: list[float],
    land: list[float],
    landing: list[float],
) -> tuple[Keys, Keys, Keys]:
    """Thigh, knee and ankle from toe-off, by their angles and rates there and at the strike."""
    a, flight, support = state.attributes, state.stride.flight_time, state.stride.stance_time
    ankles = [math.radians(x) - a.pointing for x in laws.ankles]
    mid_thigh = math.radians(laws.mid_thigh)
    # toes under the knee: the pitch of the shin that brings them there with this ankle
    reach, sine, cosine = lower.ball + lower.toe, math.sin(ankles[2]), math.cos(ankles[2])
    shin = -math.atan2(reach * cosine + lower.ankle * sine, lower.shin - reach * sine + lower.ankle * cosine)
    hind = [leave[0] + laws.hind[0] * (mid_thigh - leave[0]), leave[1] + laws.hind[1] * (a.swing_knee - leave[1])]
    end = 2 * flight + support
    edge = max(flight, BRIEF_FLIGHT * end)
    times = [0.0, edge, end / 2, end - edge, end]
    thighs = [leave[0], hind[0], mid_thigh, a.thigh_lift, land[0]]
    knees = [leave[1], hind[1], a.swing_knee, a.thigh_lift - shin]
    # just after toe-off the ankle stops to push; just before the strike knee and ankle begin to give way
    pushed, push = _turn(leave[2], leaving[2], LATE_PUSH, 0.45 * edge)
    given, low = _turn(land[1], -landing[1], min(land[1] / 2, LATE_KNEE), 0.45 * edge)
    eased, high = _turn(land[2], -landing[2], LATE_TOES, 0.45 * edge)
    return (
        Keys(times, thighs, (leaving[0], landing[0]), (3,)),
        Keys([*times[:4], end - given, end], [*knees, low, land[1]], (leaving[1], landing[1]), (2, 4)),
        Keys(
            [0.0, pushed, *times[1:4], end - eased, end],
            [leave[2], push, *ankles, high, land[2]],
            (leaving[2], landing[2]),
            (1, 5),
        ),
    )


def _lowest(lower: Lower, hips: Array, curve: Array) -> Array:
    """(n,) height of the lowest point under the swinging foot."""
    thigh, knee, pitch = curve.T
    ankle = hips - lower.thigh * trig.cos(thigh) - lower.shin * trig.cos(thigh - knee)
    sine, cosine = trig.sin(pitch), trig.cos(pitch)
    heel = ankle - lower.heel * sine - lower.ankle * cosine
    ball = ankle + lower.ball * sine - (lower.ankle - lower.ball_height) * cosine - lower.ball_height
    return np.asarray(np.minimum(heel, ball))


def _turn(value: float, rate: float, most: float, longest: float) -> tuple[float, float]:
    """How long after a moment with this rate an angle turns round, and where, going on by `most` at most."""
    time = min(max(2.0 * most / max(abs(rate), 1e-6), 0.1 * longest), longest)
    return time, value + 0.5 * rate * time


@dataclass(frozen=True)
class Keys:
    """An angle at some times, with its rates at both ends, that turns round at some of the keys between.

    Between keys it overshoots nowhere, but for the ends.
    """

    times: list[float]
    values: list[float]
    rates: tuple[float, float]
    turning: tuple[int, ...]

    def at(self, t: Array) -> Array:
        """(n,) at times t (n,) from the first key to the last."""
        rows = []
        for k, (slope, next_slope) in enumerate(itertools.pairwise(self._slopes())):
            width = self.times[k + 1] - self.times[k]
            chord = (self.values[k + 1] - self.values[k]) / width
            square, cube = (3 * chord - 2 * slope - next_slope) / width, (slope + next_slope - 2 * chord) / width**2
            rows.append((self.times[k], self.values[k], slope, square, cube))
        table = np.array(rows)
        start, value, slope, square, cube = table[np.searchsorted(table[1:, 0], t, side="right")].T
        u = t - start
        return np.asarray(value + u * (slope + u * (square + u * cube)))

    def raised(self, time: float, value: float) -> Keys:
        """With a value at a time: in place of that of the key that is there, or at a new one."""
        near = min(range(1, len(self.times) - 1), key=lambda k: abs(self.times[k] - time))
        if abs(self.times[near] - time) < 0.06 * self.times[-1]:
            higher = max(value, self.values[near] + MORE_BEND)
            return replace(self, values=[*self.values[:near], higher, *self.values[near + 1 :]])
        at = bisect.bisect(self.times, time)
        times, values = [*self.times[:at], time, *self.times[at:]], [*self.values[:at], value, *self.values[at:]]
        return Keys(times, values, self.rates, tuple(k + (k >= at) for k in self.turning))

    def _slopes(self) -> list[float]:
        """Slopes at the keys: smooth to the second derivative between turns, limited where that would overshoot."""
        times, values, last = self.times, self.values, len(self.times) - 1
        widths = [b - a for a, b in itertools.pairwise(times)]
        chords = [(b - a) / w for (a, b), w in zip(itertools.pairwise(values), widths, strict=True)]
        slopes = [self.rates[0], *[0.0] * (last - 1), self.rates[1]]
        for a, b in itertools.pairwise([0, *self.turning, last]):
            if b - a > 2:
                ends = np.asarray(slopes[a]), np.asarray(slopes[b])
                part = natural_slopes(np.array(times[a : b + 1]), np.array(values[a : b + 1]), *ends)
                slopes[a + 1 : b] = part[1:-1].tolist()
            elif b - a == 2:
                # the same for one key between two, without a system of equations
                h, w = widths[a], widths[a + 1]
                right = 3.0 * (w * chords[a] + h * chords[a + 1]) - w * slopes[a] - h * slopes[b]
                slopes[a + 1] = right / (2.0 * (h + w))
        for k in range(1, last):
            low, high = chords[k - 1], chords[k]
            most = 3.0 * min(abs(low), abs(high)) if low * high > 0.0 else 0.0
            slopes[k] = min(max(slopes[k], -most), most)
        return slopes
