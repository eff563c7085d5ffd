"""The actions that a script defines itself, beside those that come with Troupe."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..errors import FormatError, InvalidParam
from .language.lexer import key_of
from .language.parser import parse
from .language.syntax import ActionDef, Declaration, Definition, GroupDef
from .mind.vocabulary import action_sheet
from .repertoire.library import ActionLibrary
from .repertoire.signals import Signals
from .repertoire.tables import Sheet, read_sheet


def script_sheets(
    text: str,
    source: str,
    stock: Sequence[Sheet],
    signals: Signals | None = None,
    statements: Collection[str] = (),
) -> list[Sheet]:
    """The stock, and in front of it a sheet of the actions that a script defines, if it does.

    Args:
        text: The script.
        source: Its name in errors.
        stock: Sheets that fit together.
        signals: What interpolants may use.
        statements: Words that begin statements which were added to the language.

    Raises:
        FormatError: With its place, also where actions, groups, buffers and blocks do not fit those of the stock.
    """
    own = action_sheet([(text, source)], ActionLibrary(stock).names, tuple(statements))
    if not own:
        return list(stock)
    sheets = [*stock, read_sheet(own, source, signals)]
    try:
        ActionLibrary(sheets)
    except InvalidParam as error:
        raise _placed(error, parse(text, source, tuple(statements)).definitions) from None
    return sheets


def _placed(error: InvalidParam, definitions: Sequence[Definition]) -> FormatError:
    """What is wrong with a library as a mistake of the last definition that has to do with it."""
    said = key_of(str(error.value))
    found, near = [], []
    for d in definitions:
        if isinstance(d, (ActionDef, GroupDef)) and error.name == "action":
            names = (d.name,) if isinstance(d, ActionDef) else d.members
        elif isinstance(d, Declaration) and error.name == d.verb:
            names = (d.first, d.second)
        else:
            continue
        found.append(d)
        if any(key_of(name) in said for name in names):
            near.append(d)
    return (near or found or definitions)[-1].at.error(f'"{error.value}": {error.expected}')
