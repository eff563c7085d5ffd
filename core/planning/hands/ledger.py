"""The record of a task: what was asked, how often, and what came of each try."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Ledger:
    """What was asked and what came of it.

    Attributes:
        ik, plans: How often postures and ways were sought.
        looks: Postures that were checked for collisions on the way.
        attempts: Hand, grasp, stage and outcome of each try.
    """

    ik: int = 0
    plans: int = 0
    looks: int = 0
    attempts: list[dict[str, str]] = field(default_factory=list)

    def log(self, side: str, grasp: str, stage: str, outcome: str) -> None:
        """Write down a try."""
        self.attempts.append({"hand": side, "grasp": grasp, "stage": stage, "outcome": outcome})
