"""Lengths, heights, masses and inertia of body segments as fractions of stature and body mass.

Sources:
    Heights and lengths: Drillis & Contini, Body Segment Parameters, NYU report 1166-03, 1966, as printed in Winter,
    Biomechanics and Motor Control of Human Movement, 4th ed. 2009, figure 4.1.
    Masses, centres of mass, radii of gyration: de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia
    parameters, J. Biomechanics 29(9), 1996, table 4 (living adults, both sexes); `WINTER` holds the older cadaver values of
    Dempster as printed in Winter 2009, table 4.1, which much of the literature on walking and dynamics computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InvalidParam

HEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "ankle": 0.039,
        "knee": 0.285,
        "fingertip": 0.377,
        "wrist": 0.485,
        "hip": 0.530,
        "elbow": 0.630,
        "shoulder": 0.818,
        "chin": 0.870,
        "eye": 0.936,
        "vertex": 1.0,
    }
)
"""Height of each point above the ground when standing, as a fraction of stature."""

LENGTHS: Mapping[str, float] = MappingProxyType(
    {
        "head": 0.130,
        "neck": 0.052,
        "trunk": 0.288,
        "upper_arm": 0.186,
        "forearm": 0.146,
        "hand": 0.108,
        "thigh": 0.245,
        "shin": 0.246,
        "foot": 0.152,
        "foot_breadth": 0.055,
        "shoulder_breadth": 0.259,
        "hip_breadth": 0.191,
    }
)
"""Segment lengths and breadths as fractions of stature: neck from shoulder to chin, trunk from hip to shoulder."""


def check_stature(stature: float) -> None:
    """InvalidParam unless `stature` is a length a person can have, 0.3 to 3 m."""
    if not 0.3 <= stature <= 3.0:
        raise InvalidParam("stature", stature, "must be from 0.3 to 3 m")
