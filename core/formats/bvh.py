"""BVH motion files (Biovision hierarchy): read, write, place in space, make from a Motion.

The channels of a joint apply from left to right: Zrotation Xrotation Yrotation is R = Rz Rx Ry. Position channels
replace the joint's offset. Angles are in degrees in `Bvh.values` alone; lengths are in the file's own unit.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ..errors import FormatError, InvalidMotion, InvalidParam, TroupeError
from ..maths import euler, quat
from ..motion import Motion
from ..skeleton import Array, frozen

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS = ("Xrotation", "Yrotation", "Zrotation")

_CHANNELS = {name.lower(): name for name in (*POSITIONS, *ROTATIONS)}
_WORD = re.compile(r"[{}]|[^\s{}]+")
_REST_OF_LINE = re.compile(r"[^\n{}]*")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_FRAMES = re.compile(r"\s*frames\s*:\s*", re.IGNORECASE)
_FRAME_TIME = re.compile(r"\s*frame\s*time\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Bvh:
    """A motion file as it stands: its own axes, units and angles.

    Attributes:
        names: Joint names, parents first, each once.
        parents: (J,) index of the parent joint, -1 for a root.
        offsets: (J, 3) from the parent joint to the joint in the file's zero pose.
        tips: Joint to (3,), from the joint to its End Site, for the joints that have one.
        channels: Names of each joint's channels, in the order in which they apply.
        frame_time: From one frame to the next [s].
        values: (T, C) one column a channel, joint after joint; rotations in degrees.
    """

    names: tuple[str, ...]
    parents: npt.NDArray[np.int64]
    offsets: Array
    tips: Mapping[int, Array]
    channels: tuple[tuple[str, ...], ...]
    frame_time: float
    values: Array

    def __post_init__(self) -> None:
        put = object.__setattr__
        parents = np.array(self.parents, dtype=np.int64)
        parents.flags.writeable = False
        n = len(self.names)
        if parents.shape != (n,) or np.any(parents >= np.arange(n)) or len(self.channels) != n:
            raise InvalidMotion(f"a BVH of {n} joints needs one earlier parent and one list of channels for each")
        put(self, "parents", parents)
        put(self, "offsets", frozen(self.offsets, (n, 3), "offsets"))
        put(self, "tips", MappingProxyType({int(j): frozen(v, (3,), "End Site") for j, v in self.tips.items()}))
        put(self, "values", frozen(self.values, (None, sum(map(len, self.channels))), "values"))

    def __len__(self) -> int:
        return len(self.values)


def read(path: str | os.PathLike[str]) -> Bvh:
    """Read a BVH file; a malformed one raises FormatError with line and column."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise TroupeError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    # joint names in another encoding come out odd but do not lose the motion
    return parse(data.decode("utf-8", errors="replace"), os.fspath(path))


def parse(text: str, source: str = "BVH text") -> Bvh:
    """Read BVH from text; `source` names it in errors."""
    scan = _Scanner(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), source)
    tree = _Tree()
    scan.expect("HIERARCHY")
    while (word := scan.word("ROOT or MOTION").upper()) != "MOTION":
        if word != "ROOT":
            scan.fail(f"expected ROOT or MOTION, found {scan.last[:40]!r}")
        _hierarchy(scan, tree)
    width = sum(map(len, tree.channels))
    if not width:
        scan.fail("no joint has channels")
    count = scan.field(_FRAMES, "Frames:")
    if not re.fullmatch(r"[0-9]{1,15}", count):
        scan.fail(f"the number of frames must be a whole number, not {count[:40]!r}")
    scan.field(_FRAME_TIME, "Frame Time:")
    frame_time = scan.as_number()
    if frame_time <= 0:
        scan.fail("the frame time must be above 0 seconds")
    return Bvh(
        names=tuple(tree.names),
        parents=np.array(tree.parents),
        offsets=np.array(tree.offsets),
        tips={j: np.array(v) for j, v in tree.tips.items()},
        channels=tuple(tree.channels),
        frame_time=frame_time,
        values=_values(scan, int(count), width),
    )


def write(path: str | os.PathLike[str], bvh: Bvh) -> None:
    """Write a BVH file."""
    text = format(bvh)
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise TroupeError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from error


def format(bvh: Bvh) -> str:
    """The text of a BVH file, numbers to nine digits; joints come depth first, as the format demands."""
    children: list[list[int]] = [[] for _ in bvh.names]
    roots: list[int] = []
    for j, parent in enumerate(bvh.parents.tolist()):
        (children[parent] if parent >= 0 else roots).append(j)
    lines: list[str] = ["HIERARCHY"]
    order: list[int] = []
    stack = [(j, 0) for j in reversed(roots)]
    while stack:
        j, depth = stack.pop()
        tab = "\t" * min(depth, 100)
        if j < 0:
            lines.append(f"{tab}}}")
            continue
        order.append(j)
        name = re.sub(r"[{}\x00-\x1f]", "_", bvh.names[j]).strip() or "_"
        lines += [f"{tab}{'JOINT' if depth else 'ROOT'} {name}", f"{tab}{{", f"{tab}\tOFFSET {_row(bvh.offsets[j])}"]
        lines.append(f"{tab}\tCHANNELS {' '.join([str(len(bvh.channels[j])), *bvh.channels[j]])}")
        if j in bvh.tips:
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {_row(bvh.tips[j])}", f"{tab}\t}}"]
        stack.append((-1, depth))
        stack += [(child, depth + 1) for child in reversed(children[j])]
    starts = np.cumsum([0, *map(len, bvh.channels)])
    columns = np.concatenate([np.arange(starts[j], starts[j + 1]) for j in order])
    lines += ["MOTION", f"Frames: {len(bvh)}", f"Frame Time: {bvh.frame_time:.9g}"]
    return "\n".join([*lines, *map(_row, bvh.values[:, columns]), ""])


def local(bvh: Bvh) -> tuple[Array, Array]:
    """Rotations (T, J, 4) and translations (T, J, 3) of all joints relative to their parents."""
    turns = np.tile(quat.IDENTITY, (len(bvh), len(bvh.names), 1))
    places = np.tile(bvh.offsets, (len(bvh), 1, 1))
    starts = np.cumsum([0, *map(len, bvh.channels)])
    for kind in set(bvh.channels):
        joints = np.array([j for j, channels in enumerate(bvh.channels) if channels == kind])
        for k, channel in enumerate(kind):
            column = bvh.values[:, starts[joints] + k]
            if channel in POSITIONS:
                places[:, joints, POSITIONS.index(channel)] = column
            else:
                turn = quat.about(np.eye(3)[ROTATIONS.index(channel)], np.radians(column))
                turns[:, joints] = quat.multiply(turns[:, joints], turn)
    return turns, places


def world(bvh: Bvh) -> tuple[Array, Array]:
    """Places (T, J, 3) and rotations (T, J, 4) of all joints in the file's space."""
    turns, places = local(bvh)
    for j, parent in enumerate(bvh.parents.tolist()):
        if parent >= 0:
            places[:, j] = places[:, parent] + quat.rotate(turns[:, parent], places[:, j])
            turns[:, j] = quat.multiply(turns[:, parent], turns[:, j])
    return places, turns


def from_motion(motion: Motion, scale: float = 100.0, order: str = "ZXY") -> Bvh:
    """A motion on its own skeleton: Y up, facing +Z, the zero pose being the neutral stance.

    Args:
        motion: Its curves, events and base are not in the file.
        scale: File units of one metre; 100 writes centimetres.
        order: Rotation channels from left to right, such as ZXY, the commonest.
    """
    if order not in euler.ORDERS:
        raise InvalidParam("order", order, f"must be one of {', '.join(euler.ORDERS)}")
    skeleton = motion.skeleton
    leaves = set(range(len(skeleton))) - set(skeleton.parents.tolist())
    turns = np.concatenate([motion.rotations[..., :1], _y_up(motion.rotations[..., 1:])], axis=-1)
    # `euler` names the axis that turns first, BVH the one that turns last
    angles = np.degrees(euler.continuous(quat.to_matrix(turns), order[::-1]))[..., ["XYZ".index(a) for a in order]]
    rotations = tuple(f"{axis}rotation" for axis in order)
    return Bvh(
        names=skeleton.names,
        parents=skeleton.parents,
        offsets=_y_up(skeleton.offsets) * scale,
        tips={j: _y_up(skeleton.tips[j]) * scale for j in leaves},
        channels=(POSITIONS + rotations, *[rotations] * (len(skeleton) - 1)),
        frame_time=1.0 / motion.fps,
        values=np.concatenate([_y_up(motion.roots) * scale, angles.reshape(len(motion), -1)], axis=1),
    )


class _Tree:
    """Joints as they are found."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[tuple[float, ...]] = []
        self.tips: dict[int, tuple[float, ...]] = {}
        self.channels: list[tuple[str, ...]] = []
        self._used: dict[str, int] = {}

    def add(self, name: str, parent: int) -> int:
        unique = name
        while unique in self._used:
            self._used[name] += 1
            unique = f"{name}.{self._used[name]:03d}"
        self._used[unique] = 0
        self.names.append(unique)
        self.parents.append(parent)
        self.offsets.append(())
        self.channels.append(())
        return len(self.names) - 1


class _Scanner:
    """A place in a text, and errors that point at it."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.start = self.end = 0

    @property
    def last(self) -> str:
        """What was read last."""
        return self.text[self.start : self.end]

    def fail(self, message: str) -> NoReturn:
        """Raise FormatError at what was read last."""
        line = self.text.count("\n", 0, self.start) + 1
        raise FormatError(self.source, line, self.start - self.text.rfind("\n", 0, self.start), message)

    def word(self, wanted: str) -> str:
        """The next word or brace."""
        found = _WORD.search(self.text, self.end)
        if not found:
            self.start = self.end = len(self.text)
            self.fail(f"the file ends where {wanted} should follow")
        self.start, self.end = found.span()
        return found.group()

    def expect(self, wanted: str) -> None:
        """Skip a keyword or brace."""
        if self.word(wanted).upper() != wanted:
            self.fail(f"expected {wanted}, found {self.last[:40]!r}")

    def rest_of_line(self) -> str:
        """What follows on this line before a brace."""
        found = _REST_OF_LINE.match(self.text, self.end)
        assert found
        self.start, self.end = found.span()
        return found.group().strip()

    def field(self, label: re.Pattern[str], wanted: str) -> str:
        """The word after a label with a colon."""
        found = label.match(self.text, self.end)
        if not found:
            self.word(wanted)
            self.fail(f"expected {wanted!r}, found {self.last[:40]!r}")
        self.end = found.end()
        return self.word(f"the value of {wanted}")

    def as_number(self) -> float:
        """What was read last as a finite number."""
        value = float(self.last) if _NUMBER.fullmatch(self.last) else math.nan
        if not math.isfinite(value):
            self.fail(f"expected a finite number, found {self.last[:40]!r}")
        return value

    def refuse_from(self, place: int) -> NoReturn:
        """Raise FormatError at the first word from `place` on that is not a finite number."""
        self.end = place
        while True:
            self.word("a number")
            self.as_number()

    def numbers(self, count: int) -> tuple[float, ...]:
        """The next `count` numbers."""
        values = []
        for _ in range(count):
            self.word("a number")
            values.append(self.as_number())
        return tuple(values)


def _hierarchy(scan: _Scanner, tree: _Tree) -> None:
    """One ROOT and everything below it, without recursion: files may nest as deep as they like."""
    path = [_joint(scan, tree, -1)]
    while path:
        joint = path[-1]
        word = scan.word("'}'").upper()
        if word == "}":
            if not tree.offsets[joint]:
                scan.fail(f"joint {tree.names[joint]!r} has no OFFSET")
            path.pop()
        elif word == "OFFSET":
            tree.offsets[joint] = scan.numbers(3)
        elif word == "CHANNELS":
            tree.channels[joint] = _channels(scan)
        elif word == "JOINT":
            path.append(_joint(scan, tree, joint))
        elif word == "END":
            scan.rest_of_line()
            for wanted in ("{", "OFFSET"):
                scan.expect(wanted)
            tree.tips.setdefault(joint, scan.numbers(3))
            scan.expect("}")
        else:
            scan.fail(f"expected OFFSET, CHANNELS, JOINT, End Site or '}}', found {scan.last[:40]!r}")


def _joint(scan: _Scanner, tree: _Tree, parent: int) -> int:
    name = scan.rest_of_line() or scan.word("a joint's name")
    if name in "{}":
        scan.fail("a joint needs a name")
    scan.expect("{")
    return tree.add(name, parent)


def _channels(scan: _Scanner) -> tuple[str, ...]:
    count = scan.word("the number of channels")
    if count not in set("0123456"):
        scan.fail(f"a joint has 0 to 6 channels, not {count[:40]!r}")
    channels: list[str] = []
    for _ in range(int(count)):
        name = _CHANNELS.get(scan.word("a channel").lower())
        if name is None or name in channels:
            valid = ", ".join(_CHANNELS.values())
            scan.fail(f"{scan.last[:40]!r} is {'repeated' if name else 'no channel'}; channels are {valid}, each once")
        channels.append(name)
    return tuple(channels)


def _values(scan: _Scanner, frames: int, width: int) -> Array:
    """(frames, width) numbers up to the end; a frame may be wrapped over several lines."""
    rows, starts = [], []
    place = scan.end
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how older numpy reports words that are no numbers
        for line in scan.text[place:].split("\n"):
            if line and not line.isspace():
                try:
                    rows.append(np.fromstring(line, sep=" "))
                except (ValueError, DeprecationWarning):
                    scan.refuse_from(place)
                starts.append(place)
            place += len(line) + 1
    values = np.concatenate([np.empty(0), *rows])
    if not np.isfinite(values).all():
        scan.refuse_from(scan.end)
    counts = [len(row) for row in rows]
    if len(counts) == frames and set(counts) - {width}:
        k = next(k for k, count in enumerate(counts) if count != width)
        scan.start = starts[k]
        scan.fail(f"frame {k + 1} of {frames} has {counts[k]} values, the channels need {width}; {k} frames are whole")
    if len(values) != frames * width:
        whole = len(values) // width
        scan.start = len(scan.text)
        scan.fail(f"{frames} frames of {width} values are declared, {len(values)} values ({whole} frames) are there")
    out: Array = values.reshape(frames, width)
    return out


def _row(values: Array) -> str:
    return " ".join(["%.9g" % x for x in values.tolist()])  # noqa: UP031 - half the time of an f-string here


def _y_up(v: Array) -> Array:
    """Left, back, up to left, up, forward."""
    out: Array = np.stack([v[..., 0], v[..., 2], -v[..., 1]], axis=-1)
    return out
