"""Compositing of layers of actions, back to front, over a rest layer that is always there.

Perlin, Goldberg, "Improv" (1996). On each channel a group is as opaque as the summed weight of its actions that cover
it; what does not cover lets the groups behind show through:

    V = V (1 - a) + sum w A,   a = sum w over the covering actions.

Places of hands and feet carry an opacity of their own, which the rotations of their limb in groups further forward
diminish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...skeleton import Array
from .actions import PLACES, ROTATIONS, Action, DofKey
from .puppet import AXES, INDEX, JOINTS, LIMB_TIPS
from .spherical import spherical_layer

Index = npt.NDArray[np.int64]
_CHAINS: Mapping[str, list[int]] = {
    role: [3 * (INDEX[tip] - k) + axis for k in (1, 2) for axis in range(3)] for tip, role in LIMB_TIPS.items()
}
"""Channels that aim each limb: both rotations above its end."""


class Cover(NamedTuple):
    """An action in a group: its weight (T, 1) or (T, channels), None for 1, its channels (n,) and its values (T, n).

    The joints of a `spherical` one are blended as rotations, those of others angle by angle; `places` tells whether it
    has any.
    """

    weight: Array | None
    dofs: Index
    values: Array
    spherical: bool = False
    places: bool = False


class Slot(NamedTuple):
    """A limb's end and what its places are measured from, with the first of its three channels."""

    tip: str
    anchor: str
    first: int


@dataclass(frozen=True, eq=False)
class Layout:
    """The channels of a library: rotations first, then places, then values.

    Attributes:
        index: Channel number of each key; places of different anchors have different numbers.
        slots: Limb ends with their anchors.
        values: Names of the values, in order, and the number of the first.
        defaults: (channels,) the rest layer.
    """

    index: Mapping[DofKey, int]
    slots: tuple[Slot, ...]
    values: tuple[str, ...]
    first_value: int
    defaults: Array

    @property
    def size(self) -> int:
        """Number of channels."""
        return len(self.defaults)

    def value(self, composited: Array, name: str) -> Array | None:
        """(T,) a composited value by name; None when no action has it."""
        return composited[:, self.first_value + self.values.index(name)] if name in self.values else None


def layout(actions: Sequence[Action]) -> Layout:
    """The channels that these actions need."""
    slots: dict[tuple[str, str], None] = {}
    values: dict[str, None] = {}
    for action in actions:
        for tip, anchor in action.anchors.items():
            slots[(tip, anchor)] = None
        for part, channel in action.channels:
            if channel == "value":
                values[part] = None
    index: dict[DofKey, int] = {key: n for n, key in enumerate(ROTATIONS)}
    kept = []
    for tip, anchor in slots:
        kept.append(Slot(tip, anchor, len(index)))
        for axis in AXES:
            index[(slot_part(tip, anchor), f"t{axis}")] = len(index)
    first = len(index)
    for name in values:
        index[(name, "value")] = len(index)
    return Layout(index, tuple(kept), tuple(values), first, np.zeros(len(index)))


def slot_part(tip: str, anchor: str) -> str:
    """Name of a limb's end together with its anchor, under which its channels are numbered."""
    return f"{tip}@{anchor}"


def numbered(action: Action) -> Action:
    """The action with its places under the names that a layout numbers."""
    if not action.anchors:
        return action
    channels = {
        ((slot_part(part, action.anchors.get(part, "")), c) if (part, c) in PLACES else (part, c)): channel
        for (part, c), channel in action.channels.items()
    }
    return replace(action, channels=channels)


def composite(groups: Sequence[Sequence[Cover]], plan: Layout, frames: int) -> tuple[Array, Array]:
    """All channels (T, channels), and the opacity (T, slots) of each place.

    Args:
        groups: The covers of each group, back to front.
        plan: The channels.
        frames: T.

    Places come out multiplied by their opacity: divide before use.
    """
    out = np.empty((frames, plan.size))
    out[:] = plan.defaults
    alphas = np.zeros((frames, len(plan.slots)))
    placed = False
    for covers in groups:
        if not covers:
            continue
        placed = placed or any(c.places for c in covers)
        if covers[0].weight is None and not placed:
            out[:, covers[0].dofs] = covers[0].values
            continue
        opacity = np.zeros((frames, plan.size))
        total = np.zeros((frames, plan.size))
        for weight, dofs, values, _, _ in covers:
            share = 1.0 if weight is None else weight if weight.shape[1] == 1 else weight[:, dofs]
            opacity[:, dofs] += share
            total[:, dofs] += share * values
        through = 1.0 - opacity
        if placed:
            _hide_places(through, alphas, opacity, plan)
        behind = out
        out = behind * through + total
        if any(c.spherical for c in covers):
            rows = [np.bincount(c.dofs[c.dofs < len(ROTATIONS)] // 3, minlength=len(JOINTS)) == 3 for c in covers]
            whole = np.flatnonzero(np.any([r for r, c in zip(rows, covers, strict=True) if c.spherical], axis=0))
            spherical_layer(behind, out, [c[:3] for c in covers], opacity, whole)
    return out, alphas


def _hide_places(through: Array, alphas: Array, opacity: Array, plan: Layout) -> None:
    """What a group lets through of the places behind it, in place: neither under its own places nor its rotations."""
    hidden: dict[str, Array] = {}
    for tip, chain in _CHAINS.items():
        hidden[tip] = 1.0 - opacity[:, chain].max(axis=1)
    for slot in plan.slots:
        hidden[slot.tip] = hidden[slot.tip] * (1.0 - opacity[:, slot.first])
    for n, slot in enumerate(plan.slots):
        through[:, slot.first : slot.first + 3] = hidden[slot.tip][:, None]
        alphas[:, n] = alphas[:, n] * hidden[slot.tip] + opacity[:, slot.first]
