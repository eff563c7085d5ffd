"""Walking styles by name: the presets that Troupe brings along."""

from __future__ import annotations

from functools import cache

from ..errors import InvalidParam
from ..presets import shipped
from .walking import WalkStyle


@cache
def _styles() -> dict[str, WalkStyle]:
    return {p.name: WalkStyle.from_dict(p.values) for p in shipped("walk", WalkStyle)}


def names() -> tuple[str, ...]:
    """The names of all styles."""
    return tuple(_styles())


def walk_style(name: str) -> WalkStyle:
    """The style of a name; empty for the neutral one. Upper and lower case are the same."""
    if not name:
        return WalkStyle()
    for known, style in _styles().items():
        if known.casefold() == name.casefold():
            return style
    raise InvalidParam("style", name, f"no such preset of Walk; there are {', '.join(_styles())}")
