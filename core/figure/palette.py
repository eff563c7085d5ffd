"""Colours of the mannequin's themes, in scene-linear RGB."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .shell import MATERIALS

Colour = tuple[float, float, float]

_PERSON: dict[str, Colour] = {
    "Skin": (0.92, 0.67, 0.53),
    "Lips": (0.80, 0.45, 0.38),
    "Mouth": (0.12, 0.03, 0.03),
    "Lashes": (0.045, 0.028, 0.02),
    "Hair": (0.055, 0.034, 0.022),
    "Eye": (0.96, 0.96, 0.95),
    "Iris": (0.10, 0.26, 0.38),
    "Pupil": (0.008, 0.008, 0.008),
    "Hand": (0.92, 0.67, 0.53),
    "Foot": (0.88, 0.88, 0.86),
    "Sole": (0.10, 0.11, 0.12),
    "Torso": (0.56, 0.58, 0.60),
    "Pelvis": (0.07, 0.085, 0.105),
}
_GREY: Colour = (0.55, 0.51, 0.47)
_DARK: Colour = (0.035, 0.035, 0.04)
_THEMES: Mapping[str, Mapping[str, Colour]] = MappingProxyType(
    {
        "studio": {
            **_PERSON,
            "Arm.L": (0.10, 0.38, 0.64),
            "Leg.L": (0.07, 0.27, 0.48),
            "Arm.R": (0.78, 0.25, 0.16),
            "Leg.R": (0.58, 0.16, 0.10),
        },
        "clay": {
            **{name.partition(".")[0]: _GREY for name in MATERIALS},
            **{name: _PERSON[name] for name in ("Mouth", "Eye", "Iris", "Pupil")},
            "Lips": (0.48, 0.42, 0.38),
            "Hair": (0.42, 0.39, 0.36),
            "Lashes": (0.2, 0.18, 0.16),
        },
        "dummy": {
            **{name.partition(".")[0]: (0.85, 0.52, 0.06) for name in MATERIALS},
            **{name: _PERSON[name] for name in ("Eye", "Iris", "Pupil")},
            **dict.fromkeys(("Mouth", "Lashes", "Hair", "Pelvis", "Hand", "Foot", "Sole"), _DARK),
            "Lips": (0.70, 0.40, 0.05),
        },
    }
)


def colours(theme: str) -> tuple[Colour, ...]:
    """The colour of each of MATERIALS in a theme of MannequinParams."""
    table = _THEMES[theme]
    return tuple(table[name] if name in table else table[name.partition(".")[0]] for name in MATERIALS)


def gloss(name: str) -> float:
    """Roughness of a material, 0 to 1."""
    return {"Eye": 0.15, "Iris": 0.15, "Pupil": 0.1, "Hair": 0.45, "Mouth": 0.4, "Sole": 0.7}.get(name, 0.55)
