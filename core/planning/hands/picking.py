"""Grasps of small and flat things from above, between finger tips that come down to what they lie on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from ...skeleton import Array
from .bounds import YAWS, Bounds
from .grasp import Grasp, framed

ASLANT = 0.95
"""How good a grasp with the wrist raised is beside one without."""
_STEEP = (np.radians(30.0), np.radians(18.0), np.radians(42.0))
"""How steep a hand is whose finger tips pick something up: first as its shape is made for, then otherwise."""
_LOWEST, _SPARE = 0.067, 0.045
"""Height of the middle of the finger tips over what a thing lies on, and what they need more in a hand that is held
otherwise, of the length of the hand."""
_PICKED, _DEEP, _OPEN = 0.65, 0.2, 0.44
"""Thickest thing that is picked up from above, how far finger tips go down its sides, and the widest thing, of the
length of the hand."""
_FLATTEST = 0.16
"""What is thinner is picked up rather than taken otherwise, of the length of the hand."""
_AIMS = tuple((share, yaw) for share in (0.0, 0.45, -0.45) for yaw in np.radians([0.0, 25.0, -25.0]))
"""Where along a thing it is picked up, of half its length, and how far from straight across it."""
_SPREAD, _SPANNING = 0.76, 0.09
"""Widest thing that a spread hand goes across, and the height of the middle of its finger tips then, of the length of
the hand."""
_SPANNED = (np.radians(20.0), np.radians(13.0), np.radians(27.0))
"""How steep it is: first as its shape is made for, then otherwise."""


def picked(shape: Bounds, hand: float) -> list[Grasp]:
    """From above between finger tips that come down to what it lies on, as small and flat things are picked up."""
    out: list[Grasp] = []
    for inward, across, along, half in _ways_down(shape):
        thick, width, long = 2.0 * half
        if thick > _PICKED * hand or width > _SPREAD * hand:
            continue
        if width > _OPEN * hand:
            out += _spanned(shape, hand, inward, across, along, half)
            continue
        flat = thick < _FLATTEST * hand
        low = max(_LOWEST * hand, thick - _DEEP * hand)
        for tilt in _STEEP if thick > (_LOWEST + _SPARE) * hand else _STEEP[:1]:
            up = low if tilt == _STEEP[0] else max(low, (_LOWEST + _SPARE) * hand)
            worth = (1.0 if flat else 0.75) * (1.0 - 0.2 * width / hand) * (1.0 if tilt == _STEEP[0] else ASLANT)
            for share, yaw in _AIMS if long > 0.3 * hand else [aim for aim in _AIMS if not aim[0]]:
                if width > _OPEN * hand * np.cos(yaw):
                    continue
                place = shape.centre + 0.5 * (thick - 2.0 * up) * inward + 0.5 * share * long * along
                ahead = np.cos(yaw) * across + np.sin(yaw) * along
                for side, sign in (("R", 1.0), ("L", -1.0)):
                    for fingers in (ahead, -ahead):
                        palm = np.cos(tilt) * inward - np.sin(tilt) * fingers
                        # thumb x out of the palm is where the fingers point on the right hand, against it on the left
                        frame = framed(palm, sign * np.cross(fingers, inward), place)
                        quality = worth * (1.0 - 0.15 * abs(share) - 0.2 * abs(yaw))
                        out.append(
                            Grasp(frame, "picking", quality=quality, side=side, approach=inward, name="finger tips")
                        )
    return out


def _spanned(shape: Bounds, hand: float, inward: Array, across: Array, along: Array, half: Array) -> Iterator[Grasp]:
    """From above with the hand spread, the thumb at one edge and the fingers at the other."""
    thick, width, long = 2.0 * half
    for tilt in _SPANNED:
        usual = tilt == _SPANNED[0]
        up = max((_SPANNING if usual else _SPANNING + _SPARE) * hand, thick - _DEEP * hand)
        if up > thick:
            continue
        for share, yaw in _AIMS if long > 0.3 * hand else [aim for aim in _AIMS if not aim[0]]:
            if width > _SPREAD * hand * np.cos(yaw):
                continue
            place = shape.centre + 0.5 * (thick - 2.0 * up) * inward + 0.5 * share * long * along
            ahead = np.cos(yaw) * across + np.sin(yaw) * along
            worth = (1.0 if usual else ASLANT) * (1.0 - 0.5 * width / hand)
            quality = worth * (1.0 - 0.15 * abs(share) - 0.2 * abs(yaw))
            for side, fingers in product("RL", (ahead, -ahead)):
                palm = np.cos(tilt) * inward - np.sin(tilt) * fingers
                frame = framed(palm, (1.0 if side == "R" else -1.0) * np.cross(fingers, inward), place)
                yield Grasp(frame, "spanning", quality=quality, side=side, approach=inward, name="spread hand")


def _ways_down(shape: Bounds) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Directions (3,) into a thing, across it and along it, and half (3,) of its size along them [m]."""
    if shape.kind == "cylinder":
        x, y, axis = shape.axes.T
        radius, long = float(shape.half[:2].max()), float(shape.half[2])
        for k in range(YAWS):
            turn = 2.0 * np.pi * k / YAWS
            a, b = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
            yield a, b, axis, np.array([radius, radius, long])
            for end in (1.0, -1.0):
                yield end * axis, a, b, np.array([long, radius, 0.0])
        return
    for face in range(3):
        for sign in (1.0, -1.0):
            for across in {0, 1, 2} - {face}:
                order = [face, across, 3 - face - across]
                yield sign * shape.axes[:, face], shape.axes[:, across], shape.axes[:, order[2]], shape.half[order]
