"""Actions: for each angle, place or value a range and what moves it through that range, and how the action comes and
goes.

Perlin (1995) and Perlin, Goldberg (1996): value = a + (b - a) e(time), the extremes a and b being constants and the
interpolant e an expression of signals that may leave 0..1. An action covers the channels it names and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...skeleton import Array
from .expressions import Call, Evaluator, Expression, Name, Number, evaluator, names, shared_parts
from .puppet import AXES, JOINTS, LIMB_TIPS
from .signals import Moments, Signals

DofKey = tuple[str, str]
"""Part and channel: ("Lhip", "x") [deg], ("hand_R", "tx") [m], ("SMILE", "value")."""
LOOK, TURN, PLANT, SEAT = "LOOK", "TURN", "PLANT", "SEAT"
"""Values with a meaning of their own: how much the gaze is on its target, turning to the left [deg/s], both feet on the
ground, hips on a seat if one is there."""
ROTATIONS: tuple[DofKey, ...] = tuple((joint, axis) for joint in JOINTS for axis in AXES)
PLACES: tuple[DofKey, ...] = tuple((tip, f"t{axis}") for tip in LIMB_TIPS.values() for axis in AXES)
RESERVED = ("amplitude", "noise_gain", "tempo")
"""Style parameters that every action has: size of its movement, of its noise, and its cycles a second."""
DEFAULT_FADE = 0.5

Value = float | str | bool
Style = Mapping[str, Any]
"""Style parameters by "name" or "action.name": numbers or (T,) arrays."""


@dataclass(frozen=True)
class Channel:
    """One line of an action.

    Attributes:
        a, b: Extremes.
        expression: Interpolant; None where the channel stays at a.
        scale: Multiplies the time the action takes to come, for this channel.
        delay: Keeps this channel back when the action comes [s].
        linger: Keeps this channel after the action has been replaced [s].
        scale_out: Multiplies the time of going where the next action leaves this channel alone; None for `scale`.
    """

    a: float
    b: float
    expression: Expression | None = None
    scale: float = 1.0
    delay: float = 0.0
    linger: float = 0.0
    scale_out: float | None = None

    @property
    def timed(self) -> bool:
        """Whether this channel keeps another time than the action as a whole."""
        return (self.scale, self.delay, self.linger, self.leaving) != (1.0, 0.0, 0.0, 1.0)

    @property
    def leaving(self) -> float:
        """Multiple of the time of going."""
        return self.scale if self.scale_out is None else self.scale_out


@dataclass(frozen=True)
class Morph:
    """An action between two others: `amount` of the second, the rest of the first."""

    first: str
    second: str


@dataclass(frozen=True, eq=False)
class Clip:
    """Recorded values: (N, len(channels)) samples of one cycle or of the whole clip, `loop` or once."""

    samples: Array
    fps: float
    loop: bool


@dataclass(frozen=True, eq=False)
class Action:
    """What a body can do.

    Attributes:
        name: Of the action.
        channels: What it covers.
        fade_in, fade_out: Time to come, and to go where nothing follows [s].
        tempo: Cycles a second of the master clock; None for an action that does not care.
        entry, exit: Phases at which it may begin, and be left [deg], as pairs; empty for any.
        seconds: Length of an action that ends by itself [s]; None for one that goes on.
        params: Style parameters of its expressions with their defaults.
        anchors: Limb end to what its place is measured from: "" the ground below, a joint, or "target".
        buffers: Actions of its group through which it is entered and left.
        properties: Tags and numbers for rules.
        source: Morph or Clip for an action that is not a table.
        spherical: Whether its joints are blended as rotations instead of angle by angle.
        group: Name of its group, known once it is in a library.
    """

    name: str
    channels: Mapping[DofKey, Channel] = field(default_factory=dict)
    fade_in: float = DEFAULT_FADE
    fade_out: float = DEFAULT_FADE
    tempo: float | None = None
    entry: tuple[tuple[float, float], ...] = ()
    exit: tuple[tuple[float, float], ...] = ()
    seconds: float | None = None
    params: Mapping[str, float] = field(default_factory=dict)
    anchors: Mapping[str, str] = field(default_factory=dict)
    buffers: tuple[str, ...] = ()
    properties: Mapping[str, Value] = field(default_factory=dict)
    source: Morph | Clip | None = None
    spherical: bool = False
    group: str = ""

    def __post_init__(self) -> None:
        for what in ("fade_in", "fade_out"):
            if not getattr(self, what) >= 0:
                raise InvalidParam(f"{what} of {self.name}", getattr(self, what), "must not be negative")
        if self.tempo is not None and not self.tempo >= 0:
            raise InvalidParam(f"tempo of {self.name}", self.tempo, "must not be negative")

    @property
    def coverage(self) -> frozenset[DofKey]:
        """The channels it covers."""
        return frozenset(self.channels)


Memory = dict[tuple[str, int], float]
"""Last good value of each expression that may fail, by action and number."""
Memories = Sequence[tuple[int, Memory]]
"""Of instants one after the other: the row behind those of each body, and its memory."""
Settings = tuple[Any, ...]
"""Style parameters of one action: numbers or (T,) arrays, in an order of its own."""


@dataclass(frozen=True, eq=False)
class CompiledAction:
    """An action as arrays over the channels of a library.

    Attributes:
        action: What was compiled.
        dofs: (n,) channel numbers it covers.
        settings: What it takes from a style.
        read: Gives (T, n) values from moments, settings and memories.
        uses_age: Whether it must know when it was selected.
        common: Whether it may be read for many bodies at once.
    """

    action: Action
    dofs: npt.NDArray[np.int64]
    settings: Callable[[Style], Settings]
    read: Callable[[Moments, Settings, Memories], Array]
    uses_age: bool
    common: bool

    def values(self, moments: Moments, style: Style, memory: Memory) -> Array:
        """(T, n) values at moments of one body."""
        return self.read(moments, self.settings(style), ((len(moments.time), memory),))

    def tempo(self, style: Style) -> float | Array | None:
        """Cycles a second, (T,) where its style changes in time; None for an action without a tempo."""
        if self.action.tempo is None:
            return None
        value = styled(self.action, style, "tempo", self.action.tempo)
        return value if isinstance(value, np.ndarray) else float(value)


def styled(action: Action, style: Style, name: str, default: float) -> Any:
    """Value of a style parameter of an action: its own, then that of all actions, then the default."""
    own = style.get(f"{action.name}.{name}")
    if own is not None:
        return own
    # amplitude and tempo of all actions at once would say nothing; other names are meant for whoever has them
    general = None if name == "tempo" else style.get(name)
    return default if general is None else general


def compile_table(action: Action, index: Mapping[DofKey, int], signals: Signals) -> CompiledAction:
    """A table as arrays: its different interpolants are evaluated once each."""
    keys = list(action.channels)
    dofs = np.array([index[k] for k in keys], dtype=np.int64)
    moving = [
        c.expression
        for c in action.channels.values()
        if c.expression is not None and not isinstance(c.expression, Number) and c.a != c.b
    ]
    # plain noise comes first: all of it is read in one call
    swings = {e: s for e in moving if (s := _swing(e, action, signals)) is not None}
    different = {e: n for n, e in enumerate(dict.fromkeys([*swings, *moving]))}
    first, span, column = np.empty(len(keys)), np.zeros(len(keys)), np.zeros(len(keys), dtype=np.int64)
    for n, channel in enumerate(action.channels.values()):
        first[n] = channel.a
        e = channel.expression
        if isinstance(e, Number):
            first[n] = channel.a + (channel.b - channel.a) * e.value
        elif e in different and channel.a != channel.b:
            span[n] = channel.b - channel.a
            column[n] = different[e]
    others = list(different)[len(swings) :]
    shared = shared_parts(others, action.name)
    rows = [evaluator(e, signals, action.params, shared) for e in others]
    risky = [len(swings) + k for k, e in enumerate(others) if _may_fail(e, action)]
    used = {n.name for e in different for n in names(e)}
    read = _reader(action, first, span, column, np.array(list(swings.values())).reshape(-1, 2).T, rows, risky)
    return CompiledAction(action, dofs, _settings(action), read, "age" in used, signals.common)


def _swing(expression: Expression, action: Action, signals: Signals) -> tuple[float, float] | None:
    """Rate and offset of an interpolant that is nothing but noise."""
    if not isinstance(expression, Name) or expression.name in action.params:
        return None
    return signals.swing(expression.name)


def _settings(action: Action) -> Callable[[Style], Settings]:
    """Size of the movement, of the noise, and the parameters of the expressions of a table."""
    usual = {"amplitude": 1.0, "noise_gain": 1.0, **action.params}
    plain = tuple(usual.values())

    def settings(style: Style) -> Settings:
        return tuple(styled(action, style, name, default) for name, default in usual.items()) if style else plain

    return settings


def _reader(
    action: Action,
    first: Array,
    span: Array,
    column: npt.NDArray[np.int64],
    swings: Array,
    rows: list[Evaluator],
    risky: list[int],
) -> Callable[[Moments, Settings, Memories], Array]:
    """What reads a table whose interpolants are noise of rates and offsets (2, k), and then `rows`."""
    (rates, offsets), plain = swings, swings.shape[1]
    count, params = plain + len(rows), tuple(action.params)

    def read(moments: Moments, settings: Settings, memories: Memories) -> Array:
        if not count:
            still = np.empty((len(moments.time), len(first)))
            still[:] = first
            return still
        amplitude, gain, *given = settings
        if isinstance(gain, np.ndarray) or gain != 1.0:
            moments = replace(moments, noise_gain=gain, cache={})
        levels = np.empty((len(moments.time), count))
        if plain:
            levels[:, :plain] = moments.all_swinging(rates, offsets)
        style = dict(zip(params, given, strict=True))
        with np.errstate(all="ignore") if risky else nullcontext():
            for k, row in enumerate(rows, plain):
                levels[:, k] = row(moments, style)
        if risky:
            _hold(levels, risky, memories, action.name)
        if isinstance(amplitude, np.ndarray) or amplitude != 1.0:
            levels = 0.5 + np.reshape(amplitude, (-1, 1)) * (levels - 0.5)
        out: Array = levels.take(column, axis=1)
        out *= span
        out += first
        return out

    return read


def _may_fail(expression: Expression, action: Action) -> bool:
    """Whether an interpolant can give no number: it divides, or bends by a parameter, or uses a signal of others."""
    if isinstance(expression, Call):
        bends = expression.function in ("bias", "gain") and not isinstance(expression.arguments[1], Number)
        return bends or expression.function == "/" or any(_may_fail(a, action) for a in expression.arguments)
    return (
        isinstance(expression, Name)
        and expression.name not in action.params
        and Signals().find(expression.name) is None
    )


def _hold(levels: Array, risky: list[int], memories: Memories, action: str) -> None:
    """Replace what is no number in risky columns by the last number before it, in place, and remember the last one.

    The memory is told of a failure under the name of the action with an exclamation mark.
    """
    good = np.isfinite(levels[:, risky])
    fine, begin = good.all(), 0
    for end, memory in memories:
        for n, k in enumerate(risky):
            if not (fine or good[begin:end, n].all()):
                part = levels[begin:end, k]
                memory[(f"!{action}", k)] = 1.0
                filled = np.maximum.accumulate(np.where(good[begin:end, n], np.arange(len(part)), -1))
                part[:] = np.where(filled >= 0, part[filled], memory.get((action, k), 0.0))
            memory[(action, k)] = float(levels[end - 1, k])
        begin = end
