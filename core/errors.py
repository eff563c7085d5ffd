"""Every error Troupe raises on purpose: one root, a sentence that names the thing and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class TroupeError(Exception):
    """Root of all deliberate errors; its text is shown to the user as it is."""


class InvalidParam(TroupeError):
    """A parameter has a wrong type, lies outside its range or does not exist."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name, self.value, self.expected = name, value, expected
        said = "is empty" if isinstance(value, str) and not value else f"= {value!r}"
        super().__init__(f"{name} {said}: {expected}")


class InvalidRig(TroupeError):
    """A rig or skeleton cannot be used as it is."""


class InvalidMotion(TroupeError):
    """A motion is malformed: wrong shapes, NaN, no frames."""


class FormatError(TroupeError):
    """A file does not follow its format."""

    def __init__(self, source: str, line: int, column: int, message: str) -> None:
        self.source, self.line, self.column = source, line, column
        super().__init__(f"{source}:{line}:{column}: {message}")


class NoPath(TroupeError):
    """A planner found no way within its budget."""


class Blocked(NoPath):
    """Something is in the way already where a way should begin or end.

    Attributes:
        end: "start" or "goal".
        by: Name of what is in the way.
    """

    def __init__(self, end: str, by: str) -> None:
        self.end, self.by = end, by
        super().__init__(f"at its {end} it touches {by}; move one of them")


class NoIK(TroupeError):
    """No pose of a limb reaches the wanted place within its limits.

    Attributes:
        far: What is missing [m], if that is why.
        begun: Whether something of the task could be done before.
    """

    def __init__(self, message: str, far: float = 0.0, begun: bool = False) -> None:
        super().__init__(message)
        self.far, self.begun = far, begun


class NoGrasp(TroupeError):
    """No way to take hold of a prop was found."""


class NoHold(NoGrasp):
    """Fingers that close on something do not hold it."""


@contextmanager
def naming(actor: str) -> Iterator[None]:
    """What an actor of several cannot do begins with its name."""
    try:
        yield
    except (NoPath, NoIK, NoGrasp) as error:
        if not str(error).startswith(actor):
            error.args = (f"{actor}: {error}", *error.args[1:])
        raise


class NotVisible(TroupeError):
    """An actor was asked for something it has not seen."""


class Timeout(NoPath):
    """A search ended at its budget; this proves nothing about whether there is a way."""


class Cancelled(TroupeError):
    """The user stopped a long computation."""


class MissingDependency(TroupeError):
    """A library that a feature needs cannot be imported."""
