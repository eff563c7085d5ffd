"""The record of a task: what was asked, how often, and what came of each try."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from ...skeleton import Array


@dataclass(frozen=True, eq=False)
class Sought:
    """A search for a way of a hand, for the eye.

    Attributes:
        tree: (2 E, 3) where the wrist was at both ends of each edge of the trees [m].
        way: (N, 3) where it goes [m]; empty where none was found.
        shapes: (S, 7) start, end and radius of what covers the arm, at the start of the way [m].
        nodes: Of the trees.
        gap: Least distance of what covers the arm from anything on the way [m].
    """

    tree: Array
    way: Array
    shapes: Array
    nodes: int
    gap: float = np.inf


@dataclass
class Ledger:
    """What was asked and what came of it.

    Attributes:
        ik, plans: How often postures and ways were sought.
        again: How often a way was sought once more, because the first one went a long way round.
        looks: Postures that were checked for collisions on the way.
        lookouts: From how many places the target was looked for.
        attempts: Hand, grasp, stage and outcome of each try.
        sought: The ways that were found.
        missed: The searches that found none.
    """

    ik: int = 0
    plans: int = 0
    again: int = 0
    looks: int = 0
    lookouts: int = 0
    attempts: list[dict[str, str]] = field(default_factory=list)
    sought: list[Sought] = field(default_factory=list)
    missed: list[Sought] = field(default_factory=list)

    def log(self, side: str, grasp: str, stage: str, outcome: str) -> None:
        """Write down a try."""
        self.attempts.append({"hand": side, "grasp": grasp, "stage": stage, "outcome": outcome})

    def and_then(self, later: Ledger) -> Ledger:
        """The record of this and of what was done after it."""
        return Ledger(**{f.name: getattr(self, f.name) + getattr(later, f.name) for f in fields(self)})
