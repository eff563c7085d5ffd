"""What an edit may keep of a motion so that it follows a slider."""

from __future__ import annotations

from typing import Any, Protocol

from ..motion import Motion


class Draft(Protocol):
    """A motion made ready for one edit: new values of some parameters cost next to nothing.

    What it gives is for showing while a slider moves. It may leave out what takes long and changes little, such as
    holding the feet.

    Attributes:
        follows: Names of the parameters that may change; all others are those it was made with.
    """

    follows: tuple[str, ...]

    def motion(self, params: Any) -> Motion:
        """The edited motion."""
