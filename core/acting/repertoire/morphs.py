"""Morphs: actions between two actions.

Perlin (1995): attention and running, both as tables, give standing, walking and running on one slider, in amplitude and
tempo alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...skeleton import Array
from .actions import Action, Channel, CompiledAction, DofKey, Style, styled
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

    def tempo(self, style: Style, shape: tuple[int, ...]) -> Array | None:
        """Cycles a second (T,), an end without a tempo counting as standing still."""
        if self.action.tempo is None:
            return None
        amount = np.asarray(_amount(self.action, style))
        slow, fast = (np.zeros(shape) if (r := e.tempo(style, shape)) is None else r for e in self.ends)
        return np.broadcast_to((1.0 - amount) * slow + amount * fast, shape)


def _amount(action: Action, style: Style) -> Array:
    return np.asarray(styled(action, style, "amount", action.params.get("amount", 0.5)), dtype=np.float64)


def compile_morph(
    action: Action, index: Mapping[DofKey, int], first: CompiledAction, second: CompiledAction
) -> CompiledMorph:
    """A morph as arrays; a channel that only one end covers goes to or from zero."""
    dofs = np.array([index[key] for key in action.channels], dtype=np.int64)
    where = {int(n): k for k, n in enumerate(dofs)}
    spots = [np.array([where[int(n)] for n in end.dofs], dtype=np.int64) for end in (first, second)]

    def values(moments: Moments, style: Style, memory: dict[tuple[str, int], float]) -> Array:
        amount = np.reshape(_amount(action, style), (-1, 1))
        out = np.zeros((len(moments.time), len(dofs)))
        for share, end, spot in ((1.0 - amount, first, spots[0]), (amount, second, spots[1])):
            if len(spot) and (share != 0.0).any():
                out[:, spot] += share * end.values(moments, style, memory)
        return out

    return CompiledMorph(action, dofs, values, first.uses_age or second.uses_age, (first, second))
