"""Chess played by hand: moves as text, what has to be carried where for each, and a set to do it with.

Moves are written as from and to, `e2e4`, with the piece that a pawn becomes at the end, `e7e8q`. A captured piece is
cleared from the board first; a king that goes two files takes its rook along. Whether a move is legal is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ...errors import FormatError
from ...skeleton import Array, Pose, Skeleton
from ...world import Body, World
from ..spaces.problems import seated
from ..spaces.set_pieces import box, lathe, placed
from ..spaces.solids import Shapes
from .reach import Job, Reached, reach

FILES = "abcdefgh"
_BACK = "rnbqkbnr"
_NAMES = MappingProxyType({"p": "pawn", "r": "rook", "n": "knight", "b": "bishop", "q": "queen", "k": "king"})
_MOVE = re.compile(r"([a-h][1-8])([a-h][1-8])([qrbn])?")
SQUARE = 0.065
"""Side of a square [m]."""
LIFT = 0.11
"""How high pieces are lifted over the others [m]."""
_HEIGHTS = MappingProxyType({"p": 0.062, "r": 0.066, "n": 0.07, "b": 0.076, "q": 0.085, "k": 0.09})


@dataclass(frozen=True)
class Carry:
    """A piece is taken to a square such as "e4", to the side of the board ("off", with its number there) or from a
    store onto the board.

    Attributes:
        piece: Its name, such as "white pawn e" or "black king".
        to: A square, or "off".
        slot: Which place beside the board, for "off".
        why: "move", "capture", "castle" or "promote".
    """

    piece: str
    to: str
    slot: int = -1
    why: str = "move"


class Position:
    """Which piece stands where."""

    def __init__(self) -> None:
        self.pieces: dict[str, str] = {}
        for k, kind in enumerate(_BACK):
            one = f" {FILES[k]}" if kind not in "qk" else ""
            for colour, back, front in (("white", "1", "2"), ("black", "8", "7")):
                self.pieces[FILES[k] + back] = f"{colour} {_NAMES[kind]}{one}"
                self.pieces[FILES[k] + front] = f"{colour} pawn {FILES[k]}"
        self.off = 0

    def play(self, move: str) -> list[Carry]:
        """What has to be carried for a move, in order; the position is then that after it.

        Raises:
            FormatError: It cannot be read, or nothing stands where it begins.
        """
        found = _MOVE.fullmatch(move.strip().lower())
        if found is None:
            raise FormatError("moves", 1, 1, f"{move!r} is no move; write from and to, like e2e4 or e7e8q")
        start, end, becomes = found.groups()
        piece = self.pieces.get(start)
        if piece is None:
            raise FormatError("moves", 1, 1, f"{move!r}: nothing stands on {start}")
        kind = piece.split()[1]
        out = []
        taken = end
        if kind == "pawn" and start[0] != end[0] and end not in self.pieces:
            taken = end[0] + start[1]  # in passing
        if taken in self.pieces and taken != start:
            out.append(self._cleared(self.pieces.pop(taken), "capture"))
        del self.pieces[start]
        if becomes is not None and kind == "pawn":
            out.append(self._cleared(piece, "promote"))
            colour = piece.split()[0]
            piece = f"{colour} {_NAMES[becomes]} {piece.split()[2]} promoted"
            out.append(Carry(piece, end, why="promote"))
        else:
            out.append(Carry(piece, end))
        self.pieces[end] = piece
        if kind == "king" and abs(FILES.index(start[0]) - FILES.index(end[0])) == 2:
            rank = start[1]
            corner, beside = ("h", "f") if end[0] == "g" else ("a", "d")
            rook = self.pieces.pop(corner + rank, None)
            if rook is not None:
                self.pieces[beside + rank] = rook
                out.append(Carry(rook, beside + rank, why="castle"))
        return out

    def _cleared(self, piece: str, why: str) -> Carry:
        self.off += 1
        return Carry(piece, "off", self.off - 1, why)


def read_moves(text: str, source: str = "moves") -> list[str]:
    """The moves of a text, separated by white space; move numbers such as `1.` and what follows a `;` are left out.

    Raises:
        FormatError: Something is no move; with its line and column.
    """
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.finditer(r"\S+", line.split(";")[0]):
            if re.fullmatch(r"\d+\.+", word.group()):
                continue
            if _MOVE.fullmatch(word.group().lower()) is None:
                raise FormatError(source, number, word.start() + 1, f"{word.group()!r} is no move; write e2e4 or e7e8q")
            out.append(word.group().lower())
    return out


def square_place(square: str, board: Array) -> Array:
    """(4, 4) of a piece in the middle of a square of a board at a matrix (4, 4)."""
    x = (FILES.index(square[0]) - 3.5) * SQUARE
    y = (int(square[1]) - 4.5) * SQUARE
    return np.asarray(board @ placed((x, y, 0.0)))


def off_place(slot: int, board: Array) -> Array:
    """(4, 4) of a piece beside the board, in rows of eight."""
    row, column = divmod(slot, 8)
    return np.asarray(board @ placed(((4.9 + 0.9 * row) * SQUARE, (column - 3.5) * SQUARE, -0.008)))


def goal_of(carry: Carry, board: Array) -> Array:
    """(4, 4) where a piece is to be."""
    return off_place(carry.slot, board) if carry.to == "off" else square_place(carry.to, board)


def chess_set(board: Array, sides: int = 16, position: Position | None = None) -> World:
    """A board, at a matrix (4, 4) whose origin is the middle of its top, with its pieces.

    White stands towards -Y of the board. At 16 sides a piece, the set has over 8,000 triangles.
    """
    bodies = [box("board", (4.4 * SQUARE, 4.4 * SQUARE, 0.004), board[:3, 3] - 0.004 * board[:3, 2], board[:3, :3])]
    shapes = {kind: _piece(kind, sides) for kind in _NAMES}
    letters = {name: kind for kind, name in _NAMES.items()}
    for number, (square, name) in enumerate((position or Position()).pieces.items(), 1):
        vertices, faces = shapes[letters[name.split()[1]]]
        bodies.append(Body(name, number, vertices, faces, square_place(square, board)[None], "prop"))
    return World(tuple(bodies))


def _piece(kind: str, sides: int) -> tuple[Array, npt.NDArray[np.int64]]:
    """A piece, turned on a lathe."""
    h, r = _HEIGHTS[kind], 0.28 * SQUARE
    neck = 0.42 * r
    head = {"p": 0.55, "r": 0.62, "n": 0.6, "b": 0.5, "q": 0.6, "k": 0.55}[kind] * r
    outline = [
        (0.0, 0.0),
        (r, 0.0),
        (r, 0.10 * h),
        (0.75 * r, 0.18 * h),
        (neck, 0.30 * h),
        (neck, 0.60 * h),
        (head, 0.68 * h),
        (head, 0.88 * h),
        (0.6 * head, 0.97 * h),
        (0.0, h),
    ]
    return lathe(outline, sides)


def at_the_board(height: float = 1.75, position: Position | None = None) -> tuple[Skeleton, Pose, World, Array]:
    """Somebody seated before a chess set on a table just over the thighs, white on the near side, and the board
    (4, 4)."""
    skeleton, pose = seated(height)
    scale, hips = height / 1.75, float(pose.root[2])
    top = hips + 0.135 * scale
    board = placed((0.0, -0.53 * scale, top + 0.008), np.diag([-1.0, -1.0, 1.0]))
    table = box("table", np.array([0.42, 0.29, 0.015]) * scale, (0.0, -0.55 * scale, top - 0.015 * scale))
    seat = box("seat", np.array([0.22, 0.2, 0.02]) * scale, (0, 0.02, hips - 0.15 * scale))
    return skeleton, pose, World((*chess_set(board, position=position).bodies, table, seat)), board


def played(
    job: Job, board: Array, moves: Iterable[str], position: Position | None = None
) -> list[tuple[Carry, Reached]]:
    """Play moves with one actor's hands, one piece after the other.

    Args:
        job: The actor, the world with the set, and how hands move; its target and destination are not used.
        board: (4, 4) of the board.
        moves: Such as e2e4.
        position: Before the first of them; it is that after the last of them in the end.
    """
    position = position or Position()
    shapes = job.shapes or Shapes()
    moved = dict(job.moved or {})
    out = []
    for move in moves:
        for carry in position.play(move):
            if carry.why == "promote" and carry.to != "off":
                new = promoted(carry, board)
                job = replace(job, world=replace(job.world, bodies=(*job.world.bodies, new)))
            params = replace(job.params, task="move", target=carry.piece, destination="", lift=LIFT)
            done = reach(
                replace(job, params=params, destination=goal_of(carry, board), moved=dict(moved), shapes=shapes)
            )
            moved[carry.piece] = done.performance.props[carry.piece][-1]
            out.append((carry, done))
    return out


def carried(moves: Iterable[str]) -> list[Carry]:
    """All that has to be carried for a game from its beginning."""
    position = Position()
    return [carry for move in moves for carry in position.play(move)]


def promoted(carry: Carry, board: Array, sides: int = 16) -> Body:
    """The piece that a pawn becomes, waiting beside the board."""
    letters: Mapping[str, str] = {name: kind for kind, name in _NAMES.items()}
    vertices, faces = _piece(letters[carry.piece.split()[1]], sides)
    return Body(carry.piece, 99, vertices, faces, off_place(15, board)[None], "prop")
