"""Parameters declared once: a frozen dataclass whose fields carry default, range, unit and help.

    @dataclass(frozen=True)
    class WalkParams(Params):
        speed: float = param(1.4, lo=0.1, hi=3.0, unit="m/s", help="Mean forward speed")

Operator properties, panels, presets, job keys, command-line flags, validation and reference pages all follow from it.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .errors import InvalidParam

KINDS = ("float", "int", "bool", "choice", "text", "vector", "table", "ref")
REPERTOIRE = ("stance", "arms", "gesture", "reaction", "head", "eyes")
"""Kinds of shipped actions that a parameter may name."""
REFS = ("object", "armature", "curve", "action", "text", "collection", "thing", "file", "output", "preset", *REPERTOIRE)

P = TypeVar("P", bound="Params")


@dataclass(frozen=True)
class Param:
    """Declaration of one parameter.

    Attributes:
        name: Field name; job key, command-line flag and property name follow from it.
        kind: One of KINDS.
        lo, hi: Inclusive range of numbers; None where open.
        unit: Unit on screen: "m", "m/s", "s", "Hz", "deg"... A value with unit "rad" is shown in degrees.
        help: One line for the tooltip and the reference.
        choices: For kind choice, (name, help) pairs.
        size: For kind vector, its length.
        columns: For kind table, the names of its columns.
        ref: For kind ref, what is named: one of REFS.
        basic: Shown at once; the others wait under Advanced.
        keyable: A float that may also be a (T,) array, sampled from an F-curve.
        only: Name of a choice of the same record, and at which of its values this one counts; empty where it always
            does. A panel leaves out what does not count.
    """

    name: str
    kind: str
    default: Any
    help: str
    lo: float | None = None
    hi: float | None = None
    unit: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    size: int = 0
    columns: tuple[str, ...] = ()
    ref: str = ""
    basic: bool = True
    keyable: bool = False
    only: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name as a title: "step_length" is "Step Length"."""
        return self.name.replace("_", " ").title()

    def counts(self, owner: Any) -> bool:
        """Whether it counts beside the other values of `owner`, which has them as attributes."""
        return not self.only or getattr(owner, self.only[0]) in self.only[1:]

    def check(self, value: Any) -> Any:
        """`value` in its canonical type, or InvalidParam with the valid choices."""
        return _CHECKS[self.kind](self, value)


def param(
    default: Any,
    *,
    help: str,
    lo: float | None = None,
    hi: float | None = None,
    unit: str = "",
    choices: Sequence[tuple[str, str]] = (),
    columns: Sequence[str] = (),
    ref: str = "",
    basic: bool = True,
    keyable: bool = False,
    only: Sequence[str] = (),
) -> Any:
    """A dataclass field for a Params class; the kind follows from the default and from choices, columns or ref."""
    if choices:
        kind = "choice"
    elif ref:
        kind = "ref"
    elif columns:
        kind, default = "table", tuple(tuple(float(x) for x in row) for row in default)
    elif isinstance(default, bool):
        kind = "bool"
    elif isinstance(default, int):
        kind = "int"
    elif isinstance(default, float):
        kind = "float"
    elif isinstance(default, str):
        kind = "text"
    else:
        kind, default = "vector", tuple(float(x) for x in default)
    if ref and ref not in REFS:
        raise ValueError(f"ref {ref!r} is none of {REFS}")
    meta = {
        "kind": kind,
        "help": help,
        "lo": lo,
        "hi": hi,
        "unit": unit,
        "choices": tuple(choices),
        "columns": tuple(columns),
        "ref": ref,
        "basic": basic,
        "keyable": keyable,
        "only": tuple(only),
        "size": len(default) if kind == "vector" else 0,
    }
    return dataclasses.field(default=default, metadata={"param": meta})


def same(cls: type[Params], name: str) -> Any:
    """A field for a parameter that another Params class declares."""
    field = next(f for f in dataclasses.fields(cls) if f.name == name)
    return dataclasses.field(default=field.default, metadata=field.metadata)


def declared(cls: type[Params]) -> tuple[Param, ...]:
    """The parameters of a Params class, in order."""
    return tuple(
        Param(name=f.name, default=f.default, **f.metadata["param"])
        for f in dataclasses.fields(cls)
        if "param" in f.metadata
    )


@dataclass(frozen=True)
class Params:
    """Base of all parameter records; values are checked and made canonical when one is built."""

    def __post_init__(self) -> None:
        for p in declared(type(self)):
            object.__setattr__(self, p.name, p.check(getattr(self, p.name)))

    @classmethod
    def from_dict(cls: type[P], values: Mapping[str, Any]) -> P:
        """Build from plain values (JSON, TOML); unknown names are refused with the nearest known one."""
        known = [p.name for p in declared(cls)]
        for name in values:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"parameters are {', '.join(known)}"
                raise InvalidParam(str(name), values[name], f"no such parameter; {hint}")
        return cls(**dict(values))

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold; `from_dict` gives an equal record back."""
        return {p.name: _plain(getattr(self, p.name)) for p in declared(type(self))}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _span(p: Param) -> str:
    unit = f" {p.unit}" if p.unit else ""
    if p.lo is not None and p.hi is not None:
        return f"must be from {p.lo:g} to {p.hi:g}{unit}"
    if p.lo is not None:
        return f"must be at least {p.lo:g}{unit}"
    return f"must be at most {p.hi:g}{unit}" if p.hi is not None else "must be a finite number"


def _number(p: Param, value: Any) -> float:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise InvalidParam(p.name, value, "must be a number")
    try:
        x = float(value)
    except OverflowError:
        raise InvalidParam(p.name, "a number of more than 308 digits", _span(p)) from None
    if not math.isfinite(x) or (p.lo is not None and x < p.lo) or (p.hi is not None and x > p.hi):
        raise InvalidParam(p.name, value, _span(p))
    return x


def _float(p: Param, value: Any) -> Any:
    if p.keyable and isinstance(value, (np.ndarray, list, tuple)):
        array = np.array([_number(p, x) for x in value])
        if array.size == 0:
            raise InvalidParam(p.name, value, "an animated parameter needs at least one sample")
        array.flags.writeable = False
        return array
    return _number(p, value)


def _int(p: Param, value: Any) -> int:
    x = _number(p, value)
    if x != int(x):
        raise InvalidParam(p.name, value, "must be a whole number")
    return int(x)


def _bool(p: Param, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParam(p.name, value, "must be true or false")
    return bool(value)


def _choice(p: Param, value: Any) -> str:
    names = [name for name, _ in p.choices]
    if value not in names:
        raise InvalidParam(p.name, value, f"must be one of {', '.join(names)}")
    return str(value)


def _text(p: Param, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidParam(p.name, value, "must be text" if p.kind == "text" else f"must be the name of a {p.ref}")
    return value


def _row(p: Param, value: Any, size: int) -> tuple[float, ...]:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)) or len(value) != size:
        raise InvalidParam(p.name, value, f"must be {size} numbers")
    return tuple(_number(p, x) for x in value)


def _vector(p: Param, value: Any) -> tuple[float, ...]:
    return _row(p, value, p.size)


def _table(p: Param, value: Any) -> tuple[tuple[float, ...], ...]:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise InvalidParam(p.name, value, f"must be rows of {', '.join(p.columns)}")
    return tuple(_row(p, row, len(p.columns)) for row in value)


_CHECKS = {
    "float": _float,
    "int": _int,
    "bool": _bool,
    "choice": _choice,
    "text": _text,
    "vector": _vector,
    "table": _table,
    "ref": _text,
}
