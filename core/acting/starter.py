"""Scripts that come with Troupe: each a whole small scene with its cast, to play at once and to change."""

from __future__ import annotations

import difflib

from ..errors import InvalidParam
from ..presets import SHIPPED

FOLDER = SHIPPED / "acting"
SUFFIX = ".script"


def names() -> tuple[str, ...]:
    """Names of the shipped scripts, in order."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}")))


def text(name: str) -> str:
    """The text of a shipped script.

    Raises:
        InvalidParam: There is none of this name; with the nearest.
    """
    if name not in names():
        near = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names())}"
        raise InvalidParam("script", name, hint)
    return (FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def title(name: str) -> str:
    """What a shipped script shows, in a line: its first comment."""
    return text(name).split("\n", 1)[0].lstrip("# ")
