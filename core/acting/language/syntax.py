"""The acting language as a tree: what a parsed script consists of (Perlin and Goldberg, Improv, 1996).

Places in the text do not count when two trees are compared, so that an edited text tells which scripts have changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from .lexer import At

PRONOUNS = ("me", "it", "him", "her", "them", "target", "player", "camera")
PREPOSITIONS = ("to", "toward", "towards", "at", "with")
UNITS = {"second": "s", "seconds": "s", "s": "s", "minute": "min", "minutes": "min", "min": "min"}
UNITS |= {"frame": "frame", "frames": "frame"}
EQUALS, NOT_EQUAL = "equals", "does not equal"
GREATER, NOT_GREATER = "is greater than", "is not greater than"
LESS, NOT_LESS = "is less than", "is not less than"
OPERATORS = (EQUALS, NOT_EQUAL, GREATER, NOT_GREATER, LESS, NOT_LESS)


NOWHERE = At()


@dataclass(frozen=True)
class Ref:
    """Someone or something: a pronoun or a name."""

    name: str
    pronoun: bool = False
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Current:
    """What is running in a group: its script or its action."""

    group: str
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class PropRef:
    """A property of its owner, or of the owner's relation to someone."""

    owner: Ref | Current
    name: str
    toward: Ref | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Text:
    value: str
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Vector:
    values: tuple[float, ...]


@dataclass(frozen=True)
class Range:
    """All numbers from `lo` to `hi`; a target of comparisons."""

    lo: float
    hi: float


@dataclass(frozen=True)
class Arithmetic:
    sign: str
    left: Expr
    right: Expr
    depth: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        depths = [e.depth for e in (self.left, self.right) if isinstance(e, Arithmetic)]
        object.__setattr__(self, "depth", 1 + max(depths, default=0))


Expr: TypeAlias = PropRef | Number | Text | Truth | Vector | Range | Arithmetic | Ref


@dataclass(frozen=True)
class Compare:
    """A comparison, soft where it has a spread: `within` on both sides, `above` and `below` on one."""

    left: Expr
    operator: str
    right: Expr
    within: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True)
class IsDone:
    name: str
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class CurrentIs:
    group: str
    tag: str
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Tag:
    """A tag of the candidate."""

    name: str


@dataclass(frozen=True)
class PropIs:
    prop: PropRef
    value: Expr


@dataclass(frozen=True)
class Truthy:
    value: Expr


@dataclass(frozen=True)
class Not:
    term: Condition


@dataclass(frozen=True)
class AllOf:
    terms: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    terms: tuple[Condition, ...]


Condition: TypeAlias = Compare | IsDone | CurrentIs | Tag | PropIs | Truthy | Not | AllOf | AnyOf


@dataclass(frozen=True)
class Duration:
    """From `lo` to `hi` units (s, min or frame); drawn evenly where they differ."""

    lo: float
    hi: float
    unit: str = "s"


@dataclass(frozen=True)
class Item:
    name: str
    weight: Expr | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Everyone:
    """A set: `others`, `everyone`, or the members of named groups, without the exceptions."""

    kind: str
    groups: tuple[str, ...] = ()
    exceptions: tuple[Ref, ...] = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Choice:
    pool: tuple[Item, ...] | Everyone
    rule: str | None = None
    avoid: float | None = None
    cooldown: float | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)
    rule_at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Trigger:
    """Start an action or script; `what` is its name, a choice, or a property that holds its name."""

    what: str | Choice | PropRef
    preposition: str | None = None
    target: Ref | Choice | Vector | None = None
    duration: Duration | None = None
    transition: Duration | None = None
    fallback: str | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Hold:
    until: Duration | Condition
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Cue:
    whom: tuple[Ref, ...] | Everyone | Choice
    trigger: Trigger
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Assign:
    prop: PropRef
    value: Expr
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Repeat:
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Send:
    message: str
    to: Ref | Everyone
    duration: Duration | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Widget:
    shown: bool
    kind: str
    label: str
    does: Statement | None = None
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A statement that someone registered, with its arguments."""

    name: str
    arguments: tuple[Expr, ...] = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


Statement: TypeAlias = Trigger | Hold | Cue | Assign | Repeat | Send | Widget | Call
Clause: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True)
class ActionDef:
    """A table of an action; its body is kept as it stands, for the reader of tables.

    Attributes:
        form: "improv" for a table of parts, "postfix" for one of joints, "settings" for what is added to one above,
            "morph" for what lies between two others; the body is then all that follows the name.
        span: Where in the text the whole definition stands.
        ends: Of a morph, the two actions and where they are named.
    """

    name: str
    body: str
    form: str = "improv"
    at: At = field(default=NOWHERE, compare=False, repr=False)
    span: tuple[int, int] = field(default=(0, 0), compare=False, repr=False)
    ends: tuple[tuple[str, At], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class GroupDef:
    """A group of actions or scripts (`kind`); the first member is its default."""

    kind: str
    name: str
    members: tuple[str, ...]
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class ScriptDef:
    name: str
    clauses: tuple[Clause, ...]
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Factor:
    value: Expr | Condition
    influence: float = 1.0


@dataclass(frozen=True)
class SubsetUse:
    """The factors of one subset; without a name, of everything."""

    name: str | None
    scale: float
    factors: tuple[Factor, ...]
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class RuleDef:
    name: str
    subsets: tuple[SubsetUse, ...]
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class SubsetDef:
    name: str
    condition: Condition
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Init:
    """A first value of a property or relation."""

    name: str
    value: Number | Text | Truth | Vector
    toward: Ref | None = None


@dataclass(frozen=True)
class HolderDef:
    """An ACTOR, PROP, CAMERA, PLACE or ENSEMBLE, or PROPERTIES of an action or script that exists."""

    kind: str
    name: str
    inits: tuple[Init, ...] = ()
    does: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    at: At = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Declaration:
    """`first` buffers or blocks (`verb`) `second`."""

    verb: str
    first: str
    second: str
    at: At = field(default=NOWHERE, compare=False, repr=False)


Definition: TypeAlias = ActionDef | GroupDef | ScriptDef | RuleDef | SubsetDef | HolderDef | Declaration


@dataclass(frozen=True)
class Program:
    definitions: tuple[Definition, ...] = ()
