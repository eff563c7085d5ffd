"""Chess: moves are read, pieces are cleared, castled and promoted, and hands put them in the middle of squares."""

import numpy as np
import pytest
from troupe.core.errors import FormatError
from troupe.core.planning.hands.chess import (
    SQUARE,
    Carry,
    Position,
    at_the_board,
    carried,
    chess_set,
    played,
    read_moves,
    square_place,
)
from troupe.core.planning.hands.reach import Job, ReachParams

BOARD = np.eye(4)


def test_moves_are_read_with_numbers_and_comments_and_refused_with_their_place():
    assert read_moves("1. e2e4 e7e5\n2. G1F3 ; a comment") == ["e2e4", "e7e5", "g1f3"]
    with pytest.raises(FormatError, match=r"game:2:4: 'e9e5'"):
        read_moves("e2e4\n1. e9e5", "game")
    with pytest.raises(FormatError, match="e4"):
        Position().play("e4e5")


@pytest.mark.req("kuffner", 88)
def test_a_captured_piece_is_cleared_first():
    assert carried(["e2e4", "d7d5", "e4d5"])[2:] == [
        Carry("black pawn d", "off", 0, "capture"),
        Carry("white pawn e", "d5"),
    ]


@pytest.mark.req("kuffner", 88)
def test_castling_takes_the_rook_along_and_pawns_take_in_passing_and_are_promoted():
    position = Position()
    for square in ("f1", "g1", "b8", "c8", "d8"):
        del position.pieces[square]
    assert position.play("e1g1") == [Carry("white king", "g1"), Carry("white rook h", "f1", why="castle")]
    assert position.play("e8c8") == [Carry("black king", "c8"), Carry("black rook a", "d8", why="castle")]
    game = carried(["e2e4", "a7a6", "e4e5", "d7d5", "e5d6"])
    assert game[-2:] == [Carry("black pawn d", "off", 0, "capture"), Carry("white pawn e", "d6")]
    position = Position()
    position.pieces = {"b7": "white pawn b", "a8": "black rook a"}
    assert position.play("b7a8q") == [
        Carry("black rook a", "off", 0, "capture"),
        Carry("white pawn b", "off", 1, "promote"),
        Carry("white queen b promoted", "a8", why="promote"),
    ]
    assert position.pieces == {"a8": "white queen b promoted"}


def test_a_set_has_all_pieces_in_the_middles_of_their_squares():
    world = chess_set(BOARD)
    assert len(world.bodies) == 33 and sum(len(b.triangles) for b in world.bodies) > 8_000
    king = next(b for b in world.bodies if b.name == "white king")
    assert np.allclose(king.matrices[0][:3, 3], (0.5 * SQUARE, -3.5 * SQUARE, 0))
    assert np.allclose(square_place("a8", BOARD)[:3, 3], (-3.5 * SQUARE, 3.5 * SQUARE, 0))


@pytest.mark.req("kuffner", 88)
def test_hands_play_a_capture_and_each_piece_ends_where_it_should():
    position = Position()
    position.pieces = {s: n for s, n in position.pieces.items() if s in ("e2", "d1", "f2", "g1")}
    position.pieces |= {"e3": position.pieces.pop("e2"), "d4": "black pawn d"}
    skeleton, pose, world, board = at_the_board(position=position)
    done = played(Job(skeleton, pose, world, ReachParams(gaze=0.0)), board, ["e3d4"], position)
    assert [(c.piece, c.why) for c, _ in done] == [("black pawn d", "capture"), ("white pawn e", "move")]
    for _, reached in done:
        assert reached.offences == ()
    end = done[-1][1].performance.props["white pawn e"][-1]
    assert np.linalg.norm(end[:3, 3] - square_place("d4", board)[:3, 3]) < 1e-3
    cleared = done[0][1].performance.props["black pawn d"][-1]
    assert abs((np.linalg.inv(board) @ cleared)[0, 3]) > 4.4 * SQUARE
