"""What other add-ons give to acting: signals and functions for tables of actions, and statements for scripts.

    from bl_ext.user_default.troupe.addon import extend
    extend.signal("heartbeat", lambda moments: numpy.sin(7.5 * moments.time) ** 8)
    extend.function("twice", 1, lambda x: 2 * x)
    extend.statement("juggle", lambda call: call.do("Juggle", seconds=call.number(0)))

Texts reach nothing but what is given here. `withdraw` takes a word back, as an add-on does when it is disabled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.acting.mind.statements import StatementFunction, Statements
    from ..core.acting.repertoire.signals import Function, Signal, Signals

_signals: dict[str, Signal] = {}
_functions: dict[str, tuple[int, Function]] = {}
_statements: dict[str, StatementFunction] = {}


def signal(name: str, value: Signal) -> None:
    """Let tables name a signal: a function of `Moments` that gives (T,) values, mostly from 0 to 1.

    Raises:
        InvalidParam: The name is no single word, or is in use.
    """
    signals().with_signal(name, value)
    _signals[name] = value


def function(name: str, arguments: int, value: Function) -> None:
    """Let tables call a function of so many numbers or (T,) arrays; InvalidParam as for `signal`."""
    signals().with_function(name, arguments, value)
    _functions[name] = (arguments, value)


def statement(word: str, value: StatementFunction) -> None:
    """Let scripts say a word; the function is called when an actor comes to it. InvalidParam as for `signal`."""
    statements().add(word, value)
    _statements[word] = value


def withdraw(name: str) -> None:
    """Take back whatever was given under a name."""
    for known in (_signals, _functions, _statements):
        known.pop(name, None)


def signals() -> Signals:
    """What tables may name."""
    from ..core.acting.repertoire.signals import Signals

    found = Signals()
    for name, value in _signals.items():
        found = found.with_signal(name, value)
    for name, (arguments, each) in _functions.items():
        found = found.with_function(name, arguments, each)
    return found


def statements() -> Statements:
    """What scripts may say beside what every script may."""
    from ..core.acting.mind.statements import Statements

    found = Statements()
    for word, value in _statements.items():
        found.add(word, value)
    return found
