"""Lengths, heights, masses and inertia of body segments as fractions of stature, body mass and segment length.

Heights and lengths: Drillis and Contini, Body Segment Parameters, New York University report 1166-03 (1966), as drawn
in Winter, Biomechanics and Motor Control of Human Movement, 4th ed. (2009), figure 4.1.
Masses, centres of mass and radii of gyration: de Leva, Adjustments to Zatsiorsky-Seluyanov's segment inertia
parameters, Journal of Biomechanics 29(9), 1996, table 4 (living adults); and Dempster's (cadavers) as in Winter 2009,
table 4.1.
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
"""Segment lengths and breadths as fractions of stature; neck from shoulder to chin, trunk from hip to shoulder."""

PAIRED = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot")
"""Segments there are two of; a Segment is one of them."""


@dataclass(frozen=True)
class Segment:
    """Inertia of one body segment.

    Attributes:
        mass: Fraction of body mass.
        centre: Place of the centre of mass as a fraction of segment length from its proximal end, which is the heel of
            the foot and the crown of the head.
        gyration: Radii of gyration about the centre of mass as fractions of segment length, about the axes that point
            forward, sideways and along the segment.
    """

    mass: float
    centre: float
    gyration: tuple[float, float, float]


def _table(rows: str) -> Mapping[str, Segment]:
    out = {}
    for row in rows.strip().splitlines():
        name, *values = row.split()
        mass, centre, *radii = map(float, values)
        out[name] = Segment(mass, centre, (radii[0], radii[1], radii[2]))
    return MappingProxyType(out)


# Name, mass, centre, radii of gyration. Head from crown to seventh cervical vertebra, trunk from between the shoulders
# to between the hips, hand from wrist to the tip of the middle finger, shin to the ankle joint, foot from heel to toe.
MALE = _table(
    """
    head       0.0694  0.5002  0.303  0.315  0.261
    trunk      0.4346  0.4310  0.384  0.358  0.197
    upper_arm  0.0271  0.5772  0.285  0.269  0.158
    forearm    0.0162  0.4574  0.276  0.265  0.121
    hand       0.0061  0.3624  0.288  0.235  0.184
    thigh      0.1416  0.4095  0.329  0.329  0.149
    shin       0.0433  0.4395  0.251  0.246  0.102
    foot       0.0137  0.4415  0.257  0.245  0.124
    """
)
"""Men after de Leva."""

FEMALE = _table(
    """
    head       0.0668  0.4841  0.271  0.295  0.261
    trunk      0.4257  0.3782  0.379  0.361  0.182
    upper_arm  0.0255  0.5754  0.278  0.260  0.148
    forearm    0.0138  0.4559  0.261  0.257  0.094
    hand       0.0056  0.3427  0.244  0.208  0.154
    thigh      0.1478  0.3612  0.369  0.364  0.162
    shin       0.0481  0.4352  0.267  0.263  0.092
    foot       0.0129  0.4014  0.299  0.279  0.139
    """
)
"""Women after de Leva."""

WINTER = _table(
    """
    head       0.0810  0.5000  0.495  0.495  0.495
    trunk      0.4970  0.5000  0.400  0.400  0.400
    upper_arm  0.0280  0.4360  0.322  0.322  0.322
    forearm    0.0160  0.4300  0.303  0.303  0.303
    hand       0.0060  0.5060  0.297  0.297  0.297
    thigh      0.1000  0.4330  0.323  0.323  0.323
    shin       0.0465  0.4330  0.302  0.302  0.302
    foot       0.0145  0.5000  0.475  0.475  0.475
    """
)
"""Dempster as in Winter, one radius for all axes; head with neck, its centre and the trunk's radius geometric."""

BODY_MASS_INDEX = 22.0
"""Of an average adult [kg/m^2]: the middle of the range the World Health Organization calls normal."""


def lengths(stature: float) -> dict[str, float]:
    """Segment lengths and breadths of a person of `stature` [m]."""
    check_stature(stature)
    return {name: fraction * stature for name, fraction in LENGTHS.items()}


def heights(stature: float) -> dict[str, float]:
    """Heights of the named points of a person of `stature`, standing [m]."""
    check_stature(stature)
    return {name: fraction * stature for name, fraction in HEIGHTS.items()}


def segments(shape: float = 0.5) -> dict[str, Segment]:
    """Inertia of each segment, between men (shape 0) and women (1); masses of the whole body sum to 1."""
    if not 0.0 <= shape <= 1.0:
        raise InvalidParam("shape", shape, "must be from 0 to 1")

    def mix(a: float, b: float) -> float:
        return (1.0 - shape) * a + shape * b

    mixed = {
        name: Segment(
            mix(m.mass, FEMALE[name].mass),
            mix(m.centre, FEMALE[name].centre),
            (
                mix(m.gyration[0], FEMALE[name].gyration[0]),
                mix(m.gyration[1], FEMALE[name].gyration[1]),
                mix(m.gyration[2], FEMALE[name].gyration[2]),
            ),
        )
        for name, m in MALE.items()
    }
    # the printed fractions of women sum to 0.9999
    total = sum(s.mass * (2 if name in PAIRED else 1) for name, s in mixed.items())
    return {name: Segment(s.mass / total, s.centre, s.gyration) for name, s in mixed.items()}


def body_mass(stature: float, build: float = 0.0) -> float:
    """Mass of a person [kg]: of average build at 0, a quarter less at -1 and half more at 1."""
    check_stature(stature)
    if not -1.0 <= build <= 1.0:
        raise InvalidParam("build", build, "must be from -1 to 1")
    return BODY_MASS_INDEX * stature**2 * (1.0 + (0.5 if build > 0 else 0.25) * build)


def check_stature(stature: float) -> None:
    """InvalidParam unless `stature` is one a person can have."""
    if not 0.3 <= stature <= 3.0:
        raise InvalidParam("stature", stature, "must be from 0.3 to 3 m")
