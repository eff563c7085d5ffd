"""Shapes in which a hand is held before it takes hold of something, and how far its fingers may close."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InvalidParam

Angles = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class HandShape:
    """How a hand is held before it takes hold and how far its fingers may close.

    Attributes:
        opened, closed: Flexion, abduction, rotation of the joints of a finger, root to tip [degrees]; further joints
            are held like the last one. "fingers" stands for all four that are not named.
        grip: "palm": the middle of the palm's skin is what is brought to the object; "tips": the place between the tips
            of thumb, index and middle finger; "index": the tip of the index finger.
        steep: How much steeper than level the hand is held from above, with the tips of all fingers as high as that of
            the thumb [degrees]; None for shapes that are not meant for that.
    """

    opened: Mapping[str, Angles]
    closed: Mapping[str, Angles]
    grip: str = "palm"
    steep: float | None = None


def _flat(*flexion: float) -> Angles:
    return tuple((f, 0.0, 0.0) for f in flexion)


_THUMB_OUT: Angles = ((70.0, -20.0, 0.0), (5.0, 0.0, 0.0), (5.0, 0.0, 0.0))
_THUMB_IN: Angles = ((-15.0, -35.0, 0.0), (-40.0, 0.0, 0.0), (-55.0, 0.0, 0.0))
_THUMB_ON: Angles = ((12.0, -30.0, 0.0), (-12.0, 0.0, 0.0), (-30.0, 0.0, 0.0))
"""On the middle finger of a fist."""
_FIST = _flat(95.0, 98.0, 80.0)

HANDSHAPES: Mapping[str, HandShape] = MappingProxyType(
    {
        "power": HandShape({"fingers": _flat(5, 10, 5), "thumb": _THUMB_OUT}, {"fingers": _FIST, "thumb": _THUMB_IN}),
        "cylindrical": HandShape(
            {"fingers": _flat(0, 8, 5), "thumb": _THUMB_OUT}, {"fingers": _FIST, "thumb": _THUMB_IN}
        ),
        "spherical": HandShape(
            {
                "fingers": _flat(0, 10, 8),
                "index": ((0, 12, 0), (10, 0, 0), (8, 0, 0)),
                "pinky": ((0, 14, 0), (10, 0, 0), (8, 0, 0)),
                "thumb": _THUMB_OUT,
            },
            {
                "fingers": _FIST,
                "index": ((95, 12, 0), (98, 0, 0), (80, 0, 0)),
                "pinky": ((95, 14, 0), (98, 0, 0), (80, 0, 0)),
                "thumb": _THUMB_IN,
            },
        ),
        "precision": HandShape(
            {"fingers": _flat(35, 28, 12), "thumb": ((62, -15, 0), (8, 0, 0), (0, 0, 0))},
            {"fingers": _flat(85, 45, 25), "thumb": ((10, -20, 0), (0, 0, 0), (-10, 0, 0))},
            "tips",
        ),
        "pinch": HandShape(
            {
                "fingers": _flat(75, 92, 60),
                "index": _flat(42, 28, 12),
                "thumb": ((52, -15, 0), (8, 0, 0), (0, 0, 0)),
            },
            {
                "fingers": _flat(75, 92, 60),
                "index": _flat(95, 60, 30),
                "thumb": ((0, -20, 0), (0, 0, 0), (-10, 0, 0)),
            },
            "tips",
        ),
        "picking": HandShape(
            {
                "fingers": _flat(22, 21, 14),
                "index": _flat(21, 25, 16),
                "middle": _flat(16, 39, 19),
                "thumb": ((47, -34, 0), (-4, 0, 0), (-2, 0, 0)),
            },
            {
                "fingers": _flat(46, 21, 13),
                "index": _flat(50, 22, 10),
                "middle": _flat(41, 40, 5),
                "thumb": ((18, -34, 0), (-5, 0, 0), (-4, 0, 0)),
            },
            "tips",
            30.0,
        ),
        "spanning": HandShape(
            {
                "fingers": _flat(8, 25, 27),
                "middle": _flat(3, 29, 27),
                "ring": _flat(10, 25, 27),
                "pinky": _flat(27, 25, 27),
                "thumb": ((66, -34, 0), (15, 0, 0), (10, 0, 0)),
            },
            {
                "fingers": _flat(20, 42, 29),
                "middle": _flat(14, 50, 29),
                "ring": _flat(15, 42, 29),
                "pinky": _flat(26, 42, 29),
                "thumb": ((57, -34, 0), (15, 0, 0), (10, 0, 0)),
            },
            "tips",
            20.0,
        ),
        "lateral": HandShape(
            {"fingers": _flat(60, 70, 40), "thumb": ((35, 10, 0), (5, 0, 0), (5, 0, 0))},
            {"fingers": _flat(75, 85, 50), "thumb": ((-5, -15, 0), (0, 0, 0), (0, 0, 0))},
        ),
        "hook": HandShape(
            {"fingers": _flat(20, 55, 35), "thumb": ((10, 0, 0), (5, 0, 0), (5, 0, 0))},
            {"fingers": _flat(60, 98, 80), "thumb": ((-5, -15, 0), (0, 0, 0), (0, 0, 0))},
        ),
        "flat": HandShape(
            {"fingers": _flat(0, 3, 3), "thumb": ((10, 10, 0), (0, 0, 0), (0, 0, 0))},
            {"fingers": _flat(0, 3, 3), "thumb": ((10, 10, 0), (0, 0, 0), (0, 0, 0))},
        ),
        "press": HandShape(
            {"fingers": _flat(-38, -10, -8), "thumb": ((-20, 10, -30), (-18, 0, 0), (-18, 0, 0))},
            {"fingers": _flat(15, 15, 10), "thumb": ((20, 10, 0), (10, 0, 0), (10, 0, 0))},
        ),
        "index": HandShape(
            {"fingers": _flat(75, 90, 55), "index": _flat(0, 3, 3), "thumb": _THUMB_ON},
            {"fingers": _flat(75, 90, 55), "index": _flat(0, 3, 3), "thumb": _THUMB_ON},
            "index",
        ),
    }
)


def hand_shape(name: str) -> HandShape:
    """The shape of this name."""
    try:
        return HANDSHAPES[name]
    except KeyError:
        raise InvalidParam("hand shape", name, f"must be one of {', '.join(HANDSHAPES)}") from None
