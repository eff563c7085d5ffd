"""What is compiled once for a body: its library, its puppet and its noise; and all channels at any instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...maths.noise import Noise
from ...params import Params, param
from ...skeleton import Array
from ..repertoire.actions import CompiledAction, Memory
from ..repertoire.compositor import Cover, composite
from ..repertoire.library import ActionLibrary, Group
from ..repertoire.reading import Reading, values
from ..repertoire.signals import ACTOR_STEP, Moments, actor_noise
from ..repertoire.weights import Entry, History, Ramp, entry_weights, plain_ramp, takeover
from .avoidance import Surroundings, seeded_side
from .clock import mixed_tempo
from .fitting import Fit
from .propulsion import Floor
from .tracks import Track


@dataclass(frozen=True)
class BodyParams(Params):
    """How a body carries out what is selected."""

    seed: int = param(0, lo=0, help="Another seed gives another take of the same events")
    energy: float = param(1.0, lo=0.0, hi=4.0, help="Speed of all restless movement; the joints keep their ratios")
    turn_rate: float = param(2.1, lo=0.1, hi=12.0, unit="rad/s", help="Most that the body turns to where it is told")
    clear_arms: bool = param(True, help="Keep hanging arms out of the body")
    flat_feet: bool = param(True, help="Lay the foot that stands flat on the ground")
    hold_gaze: bool = param(False, basic=False, help="Keep the gaze longer and drop it more suddenly")
    travel: bool = param(True, basic=False, help="Let the lower foot propel the body; else it stays in place")
    actor: int = param(0, lo=0, basic=False, help="Number of the actor in the cast; no two share their noise")
    endless: bool = param(False, basic=False, help="Noise that never repeats, instead of one of 256 units")
    patience: float = param(2.0, lo=0.1, basic=False, help="Cycles after which a wait for the right phase is given up")


@dataclass(frozen=True, eq=False)
class Stage:
    """A body and its surroundings as compiled.

    Attributes:
        library: Its actions.
        fit: Its puppet.
        params: How it moves.
        around: Walls and obstacles; None for open space.
        floor: Ground; None for a floor at 0.
        table: Compiled actions of each group.
        lengths: How long each action of a group lasts by itself [s]; without end where it goes on, as the first does.
        noise: Its own.
        chance: The side it takes exactly head-on to a wall.
    """

    library: ActionLibrary
    fit: Fit
    params: BodyParams
    around: Surroundings | None = None
    floor: Floor | None = None
    table: tuple[tuple[CompiledAction, ...], ...] = field(init=False, repr=False)
    lengths: tuple[tuple[float, ...], ...] = field(init=False, repr=False)
    noise: Noise = field(init=False, repr=False)
    chance: int = field(init=False, repr=False)
    _blockers: dict[str, list[str]] = field(init=False, repr=False)
    _ramps: dict[tuple[str, int, int, float | None], Ramp] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        seed = self.params.seed + 7919 * self.params.actor
        put(self, "table", tuple(tuple(map(self.library.compiled, g.actions)) for g in self.library.groups))
        lengths = ([c.action.seconds if n else None for n, c in enumerate(row)] for row in self.table)
        put(self, "lengths", tuple(tuple(np.inf if s is None else s for s in row) for row in lengths))
        put(self, "noise", actor_noise(seed, self.params.endless))
        put(self, "chance", seeded_side(seed))
        put(self, "_blockers", {})
        for front, back in self.library.blocks:
            self._blockers.setdefault(back, []).append(front)

    def ramps(self, group: int, history: Sequence[Entry]) -> list[Ramp]:
        """The takeovers of a history."""
        out = []
        for before, entry in pairwise(history):
            key = (self.library.groups[group].name, before.action, entry.action, entry.fade)
            if key not in self._ramps:
                pair = [self.table[group][n].action for n in (before.action, entry.action)]
                self._ramps[key] = takeover(pair[0], pair[1], self.library.layout.index, entry.fade)
            out.append(self._ramps[key])
        return out

    def plain_weights(self, group: int, history: History, times: Array) -> list[Array]:
        """(T,) weight of every entry of a group, channels with their own timing left aside."""
        if len(history) == 1:
            return [np.ones(len(times))]
        ramps = []
        for before, entry in pairwise(history):
            outgoing, incoming = (self.table[group][n].action for n in (before.action, entry.action))
            fade = entry.fade
            if fade is None:
                fade = incoming.fade_in if incoming.channels else outgoing.fade_out
            ramps.append(plain_ramp(fade))
        return [w[:, 0] for w in entry_weights(history, ramps, times)]

    def tempo(self, histories: Sequence[History], styles: Mapping[str, Track], times: Array) -> Array:
        """Cycles a second (T,) of the clock."""
        weights, tempos = [], []
        style = style_at(styles, times)
        for g, history in enumerate(histories):
            rates = [self.table[g][e.action].tempo(style) for e in history]
            if any(r is not None for r in rates):
                each = self.plain_weights(g, history, times)
                weights += [w for w, r in zip(each, rates, strict=True) if r is not None]
                tempos += [r if isinstance(r, np.ndarray) else np.full(len(times), r) for r in rates if r is not None]
        if not weights:
            return np.zeros(len(times))
        return tempos[0].copy() if len(tempos) == 1 and np.all(weights[0] > 0) else mixed_tempo(weights, tempos)

    def steady_tempo(self, histories: Sequence[History], styles: Mapping[str, Track]) -> float | None:
        """Cycles a second of a clock that keeps its tempo for good; None for one that may change."""
        if not all(track.constant for track in styles.values()):
            return None
        style, found = style_at(styles, np.empty(0)), []
        for row, history in zip(self.table, histories, strict=True):
            rates = [r for e in history if (r := row[e.action].tempo(style)) is not None]
            if rates and len(history) > 1:
                return None
            found += rates
        return None if len(found) > 1 else float(found[0]) if found else 0.0

    def channels(
        self,
        histories: Sequence[History],
        styles: Mapping[str, Track],
        times: Array,
        phases: Array,
        memory: Memory,
    ) -> tuple[Array, Array]:
        """All channels (T, channels) and opacities of places (T, slots) at times (T,) with phases (T,)."""
        return composited([self.layers(histories, styles, times, phases, memory)])[0]

    def layers(
        self,
        histories: Sequence[History],
        styles: Mapping[str, Track],
        times: Array,
        phases: Array,
        memory: Memory,
    ) -> Layers:
        """What is to be read and laid over each other for `channels`."""
        style = style_at(styles, times)
        moments = Moments(times, phases, times, self.noise, ACTOR_STEP * self.params.actor, self.params.energy)
        readings: list[Reading] = []
        groups: list[list[tuple[int, Array | None]]] = []
        for g, history in enumerate(histories if len(times) else ()):
            weights = entry_weights(history, self.ramps(g, history), times) if len(history) > 1 else (None,)
            known: dict[int, int] = {}
            shares = []
            for entry, weight in zip(history, weights, strict=True):
                compiled = self.table[g][entry.action]
                if not len(compiled.dofs) or not (weight is None or weight.any()):
                    continue
                if compiled.uses_age or entry.action not in known:
                    known[entry.action] = len(readings)
                    there = moments.aged(times - entry.time) if compiled.uses_age else moments
                    readings.append(Reading(compiled, compiled.settings(style), there, memory))
                shares.append((known[entry.action], weight))
            groups.append(shares)
        return Layers(self, readings, groups, len(times))

    def blocked(self, layers: list[list[Cover]], named: list[tuple[str, Cover]], frames: int) -> list[list[Cover]]:
        """The layers after declared pairs have taken weight from what they block, where both cover."""
        size = self.library.layout.size
        names = {id(cover): name for name, cover in named}
        out = []
        for layer in layers:
            kept = []
            for cover in layer:
                fronts = self._blockers.get(names[id(cover)], ())
                weight = cover.weight
                for name, front in named:
                    if name in fronts:
                        through = np.ones((frames, size))
                        share = front.weight
                        if share is not None and share.shape[1] > 1:
                            share = share[:, front.dofs]
                        through[:, front.dofs] = 0.0 if share is None else 1.0 - share
                        weight = through if weight is None else np.broadcast_to(weight, (frames, size)) * through
                kept.append(cover._replace(weight=weight))
            out.append(kept)
        return out

    def group_number(self, group: Group) -> int:
        """Place of a group in the library, 0 at the back."""
        return self.library.groups.index(group)


class Layers(NamedTuple):
    """Actions of one body at T instants.

    Attributes:
        stage: Whose they are.
        readings: What they ask for.
        groups: Of each group, back to front, the number of a reading and its weight as of `Cover`.
        frames: T.
    """

    stage: Stage
    readings: list[Reading]
    groups: list[list[tuple[int, Array | None]]]
    frames: int


def composited(bodies: Sequence[Layers]) -> list[tuple[Array, Array]]:
    """All channels (T, channels) and opacities of places (T, slots) of each body; like actions are read together."""
    found = iter(values([reading for body in bodies for reading in body.readings]))
    out = []
    for body in bodies:
        own, library = [next(found) for _ in body.readings], body.stage.library
        layers, named = [], []
        for shares in body.groups:
            covers = []
            for n, weight in shares:
                action = body.readings[n].action
                cover = Cover(weight, action.dofs, own[n], action.action.spherical, bool(action.action.anchors))
                covers.append(cover)
                named.append((action.action.name, cover))
            layers.append(covers)
        if library.blocks:
            layers = body.stage.blocked(layers, named, body.frames)
        out.append(composite(layers, library.layout, body.frames))
    return out


def style_at(styles: Mapping[str, Track], times: Array) -> dict[str, float | Array]:
    """Style parameters at times (T,): numbers where they do not change, else (T,)."""
    return {name: float(t.values[0]) if t.constant else t.at(times) for name, t in styles.items()}
