"""Morphs: actions between two actions.

Perlin (1995): attention and running, both as tables, give standing, walking and running on one slider, in amplitude and
tempo alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from .actions import Action, Channel, CompiledAction, DofKey, Memories, Settings, Style, styled
from .signals import Moments


def morphed(action: Action, first: Action, second: Action) -> Action:
    """The morph with the channels of both its ends; of a channel that both have, the timing of the second counts."""
    channels: dict[DofKey, Channel] = {**first.channels, **second.channels}
    tempo = None if first.tempo is None and second.tempo is None else (second.tempo or first.tempo or 0.0)
    return replace(action, channels=channels, tempo=tempo, anchors={**first.anchors, **second.anchors})


@dataclass(frozen=True, eq=False)
class CompiledMorph(CompiledAction):
    """A morph whose tempo lies between those of its ends."""

    ends: tuple[CompiledAction, CompiledAction]

    def tempo(self, style: Style) -> float | Array | None:
        """Cycles a second, an end without a tempo counting as standing still."""
        if self.action.tempo is None:
            return None
        amount = _amount(self.action, style)
        slow, fast = (0.0 if (r := e.tempo(style)) is None else r for e in self.ends)
        return (1.0 - amount) * slow + amount * fast


def _amount(action: Action, style: Style) -> float | Array:
    found = styled(action, style, "amount", action.params.get("amount", 0.5))
    return found if isinstance(found, np.ndarray) else float(found)


def compile_morph(
    action: Action, index: Mapping[DofKey, int], first: CompiledAction, second: CompiledAction
) -> CompiledMorph:
    """A morph as arrays; a channel that only one end covers goes to or from zero."""
    dofs = np.array([index[key] for key in action.channels], dtype=np.int64)
    where = {int(n): k for k, n in enumerate(dofs)}
    spots: list[slice | npt.NDArray[np.int64]] = [
        # an end with all the channels in their order needs no looking up
        slice(None) if np.array_equal(end.dofs, dofs) else np.array([where[int(n)] for n in end.dofs], dtype=np.int64)
        for end in (first, second)
    ]

    def settings(style: Style) -> Settings:
        return _amount(action, style), first.settings(style), second.settings(style)

    def read(moments: Moments, given: Settings, memories: Memories) -> Array:
        amount, *own = given
        out = np.zeros((len(moments.time), len(dofs)))
        for share, end, spot, its in zip((1.0 - amount, amount), (first, second), spots, own, strict=True):
            if len(end.dofs) and np.any(share):
                out[:, spot] += (share[:, None] if isinstance(share, np.ndarray) else share) * end.read(
                    moments, its, memories
                )
        return out

    age, common = (first.uses_age or second.uses_age), (first.common and second.common)
    return CompiledMorph(action, dofs, settings, read, age, common, (first, second))
