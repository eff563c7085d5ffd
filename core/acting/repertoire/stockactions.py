"""The actions that come with Troupe: stances, gaits, dances, gestures and reactions, as sheets of text.

Their groups from back to front: Stances (the whole body), Arms, Gestures, Reactions, Head, Eyes.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...presets import SHIPPED
from .actions import Action
from .library import ActionLibrary
from .signals import Signals
from .tables import Sheet, read_sheet

FOLDER = SHIPPED / "acting"
SUFFIX = ".actions"


def stock_sheets(signals: Signals | None = None) -> list[Sheet]:
    """The shipped sheets in order, rearmost first."""
    paths = sorted(FOLDER.glob(f"*{SUFFIX}"))
    return [read_sheet(path.read_text(encoding="utf-8"), path.name, signals) for path in paths]


def stock_library(
    sheets: Iterable[Sheet] = (), more: Iterable[Action] = (), signals: Signals | None = None
) -> ActionLibrary:
    """The library of the shipped actions, with sheets and actions of one's own in front of them.

    Args:
        sheets: As read by `tables.read_sheet`; a group of a shipped name is added to.
        more: Single actions, for instance clips.
        signals: What interpolants may use.
    """
    return ActionLibrary([*stock_sheets(signals), *sheets], more, signals)
