"""Scenes to find one's way in: a maze, an office, a trap, doors and crowds; built from nothing, the same every time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...maths import trig
from ...motion import Path
from ...skeleton import Array
from ...world import Body, World
from ..ways.map import MapParams
from .actors import ActorSetup, NavigateParams, Style
from .behaviours import Follow, Go, Patrol, Pursue
from .mingle import Mingle, Tag

FPS = 24.0
PARAMS = NavigateParams()
_CORNERS = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
_SIDES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6]]
    + [[1, 3, 5], [3, 7, 5]]
)


@dataclass(frozen=True, eq=False)
class Scene:
    """A world with a cast in it; `direct(scene.world, scene.actors, scene.params, places=scene.places)` plays it."""

    world: World
    actors: Mapping[str, ActorSetup]
    params: NavigateParams = PARAMS
    places: Mapping[str, Path] = field(default_factory=dict)


def box(
    name: str,
    id: int,
    low: Sequence[float],
    high: Sequence[float],
    kind: str = "obstacle",
    moves: Array | None = None,
    tags: frozenset[str] = frozenset(),
) -> Body:
    """A box from one corner (x, y, z) to the opposite one [m]; `moves` (T, 3) shifts it in each frame."""
    a, b = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    matrices = np.tile(np.eye(4), (1 if moves is None else len(moves), 1, 1))
    if moves is not None:
        matrices[:, :3, 3] = moves
    return Body(name, id, a + _CORNERS * (b - a), _SIDES, matrices, kind, tags)


def floor(x0: float, y0: float, x1: float, y1: float, id: int = 0) -> Body:
    """Level ground at height 0."""
    corners = np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])
    return Body("Floor", id, corners, np.array([[0, 1, 2], [0, 2, 3]]), np.eye(4)[None], "ground")


def spot(x: float, y: float) -> Path:
    """A place that stays."""
    return Path(np.array([[x, y]]), ("x", "y"), np.zeros(1))


def towards(x: float, y: float, to_x: float, to_y: float) -> Array:
    """(3,) a base at a place that faces another."""
    return np.array([x, y, np.arctan2(to_x - x, -(to_y - y))])


def _walls(boxes: Sequence[tuple[float, float, float, float]], start: int = 1, height: float = 2.5) -> list[Body]:
    return [
        box(f"Wall {k + start}", k + start, (x0, y0, 0.0), (x1, y1, height)) for k, (x0, y0, x1, y1) in enumerate(boxes)
    ]


def maze(size: int = 14, pitch: float = 1.5, seed: int = 1, wall: float = 0.1) -> Scene:
    """A maze with one way between any two of its size x size cells, from one corner to the opposite one."""
    rng = np.random.default_rng(seed)
    seen = np.zeros((size, size), bool)
    up, right = np.ones((size + 1, size), bool), np.ones((size, size + 1), bool)
    stack = [(0, 0)]
    seen[0, 0] = True
    while stack:
        r, c = stack[-1]
        steps = [(1, 0), (-1, 0), (0, 1), (0, -1)]
        around = [
            (r + i, c + j) for i, j in steps if 0 <= r + i < size and 0 <= c + j < size and not seen[r + i, c + j]
        ]
        if not around:
            stack.pop()
            continue
        i, j = around[int(rng.integers(len(around)))]
        if i != r:
            up[max(i, r), c] = False
        else:
            right[r, max(j, c)] = False
        seen[i, j] = True
        stack.append((i, j))
    h, p = wall / 2, pitch
    boxes = [(c * p - h, r * p - h, (c + 1) * p + h, r * p + h) for r, c in zip(*np.nonzero(up), strict=True)]
    boxes += [(c * p - h, r * p - h, c * p + h, (r + 1) * p + h) for r, c in zip(*np.nonzero(right), strict=True)]
    far = (size - 0.5) * p
    world = World((floor(-2.0, -2.0, size * p + 2.0, size * p + 2.0), *_walls(boxes)), FPS)
    actor = ActorSetup(towards(p / 2, p / 2, p / 2, p), Go(target="Goal"))
    return Scene(world, {"Walker": actor}, NavigateParams(seconds=180.0), {"Goal": spot(far, far)})


def office(seconds: float = 40.0) -> Scene:
    """Rooms on both sides of a corridor; a door closes, a crate falls in the way, and then the goal moves."""
    boxes = [(0.0, 0.0, 16.0, 0.15), (0.0, 11.85, 16.0, 12.0), (0.0, 0.0, 0.15, 12.0), (15.85, 0.0, 16.0, 12.0)]
    for y in (5.0, 6.85):
        # a door into each room, 1.3 m wide; the room in the lower right corner has two
        for x0, x1 in ((0.15, 1.2), (2.5, 6.7), (8.0, 11.0), (12.3, 14.3), (15.6, 15.85)):
            boxes.append((x0, y, x1, y + 0.15))
    boxes += [(5.4, 0.15, 5.55, 1.0), (5.4, 2.4, 5.55, 5.0), (10.6, 0.15, 10.75, 5.0)]
    boxes += [(x, 7.0, x + 0.15, 11.85) for x in (5.4, 10.6)]
    walls = _walls(boxes)
    frames = round(seconds * FPS)
    t = np.arange(frames) / FPS
    shut = np.zeros((frames, 3))
    shut[:, 0] = 1.3 * np.clip((t - 5.0) / 0.8, 0.0, 1.0)
    drop = np.zeros((frames, 3))
    drop[:, 2] = 6.0 * (1.0 - np.clip((t - 8.0) / 0.5, 0.0, 1.0) ** 2)
    number = len(walls) + 1
    door = box("Door", number, (9.7, 5.02, 0.0), (11.0, 5.13, 2.2), "door", shut)
    crate = box("Crate", number + 1, (12.6, 5.15, 0.0), (13.8, 5.65, 1.2), "obstacle", drop)
    goal = Path(np.array([[14.9, 1.0], [14.9, 1.0], [12.0, 8.0]]), ("x", "y"), np.array([0.0, 16.0, 16.1]))
    actor = ActorSetup(towards(1.8, 10.0, 1.8, 6.0), Go(target="Goal"))
    world = World((floor(-1.0, -1.0, 17.0, 13.0), *walls, door, crate, *_desks(number + 2)), FPS)
    return Scene(world, {"Walker": actor}, NavigateParams(seconds=seconds), {"Goal": goal})


def _desks(start: int) -> list[Body]:
    """Desks with legs and a fan of paper, to make the geometry as rich as that of a furnished room."""
    out = []
    for k, (x, y) in enumerate([(2.2, 2.6), (8.0, 2.6), (12.6, 2.2), (3.0, 9.0), (8.0, 9.4), (13.0, 9.4)]):
        vertices: list[Array] = []
        triangles: list[npt.NDArray[np.int64]] = []
        parts = [((x - 0.7, y - 0.4, 0.72), (x + 0.7, y + 0.4, 0.75))]
        parts += [((x + i, y + j, 0.0), (x + i + 0.05, y + j + 0.05, 0.72)) for i in (-0.7, 0.65) for j in (-0.4, 0.35)]
        parts += [
            ((x - 0.6 + 0.03 * (n % 40), y - 0.3 + 0.1 * (n // 40), 0.75), (x - 0.58 + 0.03 * (n % 40), y - 0.22, 0.9))
            for n in range(205)
        ]
        for low, high in parts:
            a, b = np.array(low), np.array(high)
            triangles.append(_SIDES + 8 * len(vertices))
            vertices.append(a + _CORNERS * (b - a))
        place, faces = np.concatenate(vertices), np.concatenate(triangles)
        out.append(Body(f"Desk {k + 1}", start + k, place, faces, np.eye(4)[None]))
    return out


def trap(guard: bool = True, seconds: float = 40.0) -> Scene:
    """A wall whose two ends open in turn, so that whoever always takes the open one never gets round it."""
    boxes = [(-6.5, -5.1, 6.5, -5.0), (-6.5, 5.0, 6.5, 5.1), (-6.6, -5.1, -6.5, 5.1), (6.5, -5.1, 6.6, 5.1)]
    walls = _walls([*boxes, (-4.0, -0.1, 4.0, 0.1)])
    frames = round(seconds * FPS)
    turn = (np.arange(frames) / FPS) % 5.0
    # out from 0.3 s to 2.5 s after its turn begins
    out = np.clip(turn / 0.3, 0.0, 1.0) - np.clip((turn - 2.5) / 0.3, 0.0, 1.0)
    left, right = np.zeros((frames, 3)), np.zeros((frames, 3))
    left[:, 0], right[:, 0] = -1.2 * (1.0 - out), 1.2 * out
    sliders = [
        box("Left", 10, (-5.0, -0.15, 0.0), (-3.0, 0.15, 2.5), "obstacle", left),
        box("Right", 11, (3.0, -0.15, 0.0), (5.0, 0.15, 2.5), "obstacle", right),
    ]
    world = World((floor(-7.0, -6.0, 7.0, 6.0), *walls, *sliders), FPS)
    actor = ActorSetup(towards(0.0, -3.0, 0.0, 3.0), Go(target="Goal"))
    return Scene(world, {"Walker": actor}, NavigateParams(seconds=seconds, guard=guard), {"Goal": spot(0.0, 3.0)})


LEADERS_WAY = ((-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0))
"""Where the one whom others follow goes round [m]."""


def _hall(size: float = 9.0) -> tuple[Body, ...]:
    """A hall with some columns."""
    s, w = size, 0.15
    boxes = [(-s, -s, s, -s + w), (-s, s - w, s, s), (-s, -s, -s + w, s), (s - w, -s, s, s)]
    return (floor(-s - 1, -s - 1, s + 1, s + 1), *_walls(boxes), *columns(4.0, 4.0, start=len(boxes) + 1))


def columns(size: float, pitch: float = 5.0, start: int = 1) -> tuple[Body, ...]:
    """Square columns in the middle of every square of a pitch within +-size [m]."""
    at = np.arange(pitch / 2 - pitch * np.floor(size / pitch), size, pitch)
    boxes = [(x - 0.3, y - 0.3, x + 0.3, y + 0.3) for x in at.tolist() for y in at.tolist()]
    return tuple(_walls(boxes, start))


def _leader(pause: float = 1.0) -> ActorSetup:
    way = Patrol(waypoints=LEADERS_WAY, pause=pause)
    return ActorSetup(towards(-6.0, -4.0, 4.0, -4.0), way, style=Style(pace=0.75, priority=3))


def tour(seconds: float = 60.0, followers: int = 2) -> Scene:
    """A guide goes round a hall, and some follow."""
    actors = {"Guide": _leader(3.0)}
    for k in range(followers):
        actors[f"Guest {k + 1}"] = ActorSetup(towards(-7.5, -5.0 + 1.2 * k, 0.0, -5.0), Follow(target="Guide"))
    return Scene(World(_hall(), FPS), actors, NavigateParams(seconds=seconds))


_STARTS = ((6.0, 6.0), (-6.0, 6.0), (6.0, -6.0), (0.0, 6.0), (0.0, -6.5), (6.0, 0.0))


def company(seconds: float = 60.0) -> Scene:
    """Two people follow a third; four robots wander and follow whoever of the three passes near."""
    people = ("Guide", "Guest 1", "Guest 2")
    actors = dict(tour(followers=2).actors)
    for k, (x, y) in enumerate(_STARTS[:4]):
        robot = Mingle(whom=", ".join(people))
        actors[f"Robot {k + 1}"] = ActorSetup(towards(x, y, 0.0, 0.0), robot, style=Style(pace=0.8))
    return Scene(World(_hall(), FPS), actors, NavigateParams(seconds=seconds))


def pursuit(seconds: float = 60.0) -> Scene:
    """Six pursue one."""
    actors = {"Guide": _leader(4.0)}
    for k, (x, y) in enumerate(_STARTS):
        actors[f"Pursuer {k + 1}"] = ActorSetup(towards(x, y, 0.0, 0.0), Pursue(target="Guide", catch=1.1))
    return Scene(World(_hall(), FPS), actors, NavigateParams(seconds=seconds))


def tag_game(players: int = 4, seconds: float = 60.0) -> Scene:
    """A game of tag; whoever is it is a little faster."""
    actors = {}
    for k in range(players):
        angle = 2 * np.pi * k / players
        x, y = 5.0 * np.cos(angle), 5.0 * np.sin(angle)
        actors[f"Player {k + 1}"] = ActorSetup(towards(x, y, 0.0, 0.0), Tag(first="Player 1"))
    return Scene(World(_hall(), FPS), actors, NavigateParams(seconds=seconds, speed=1.8))


def crossing(seed: int = 0, count: int = 20, size: float = 6.0) -> Scene:
    """Everybody crosses an open square at once, to a place somewhere on the other side."""
    rng = np.random.default_rng(seed)

    def ring() -> Array:
        spots: list[Array] = []
        while len(spots) < count:
            angle = rng.uniform(0.0, 2 * np.pi)
            at = size * rng.uniform(0.6, 1.0) * np.array([np.cos(angle), np.sin(angle)])
            if all(np.hypot(*(at - other)) > 0.9 for other in spots):
                spots.append(at)
        return np.array(spots)

    starts, goals = ring(), ring()
    starts = starts[np.argsort(trig.arctan2(starts[:, 1], starts[:, 0]))]
    goals = goals[np.argsort(np.arctan2(-goals[:, 1], -goals[:, 0]))]
    actors = {
        f"Walker {k + 1}": ActorSetup(towards(*starts[k], *goals[k]), Go(place=(*goals[k], 0.0))) for k in range(count)
    }
    return Scene(World((), FPS), actors, NavigateParams(seconds=30.0, seed=seed))


def door(each: int = 3, width: float = 1.1, wall: float = 0.2) -> Scene:
    """Two rooms with a door between them, and some on each side who want to the other."""
    half, h = width / 2, wall / 2
    boxes = [(-5.0, -h, -half, h), (half, -h, 5.0, h), (-5.1, -5.0, -5.0, 5.0), (5.0, -5.0, 5.1, 5.0)]
    boxes += [(-5.1, -5.1, 5.1, -5.0), (-5.1, 5.0, 5.1, 5.1)]
    actors = {}
    for k in range(each):
        x = 1.2 * (k - (each - 1) / 2)
        actors[f"South {k + 1}"] = ActorSetup(towards(x, -3.0, 0.0, 0.0), Go(place=(x, 3.6, 0.0)))
        actors[f"North {k + 1}"] = ActorSetup(towards(x, 3.0, 0.0, 0.0), Go(place=(x, -3.6, 0.0)))
    params = NavigateParams(seconds=30.0, map=MapParams(cell=0.1))
    return Scene(World((floor(-6.0, -6.0, 6.0, 6.0), *_walls(boxes)), FPS), actors, params)


def lanes(each: int = 8, width: float = 3.0, length: float = 16.0) -> Scene:
    """A corridor in which as many go one way as the other."""
    h, s = width / 2, length / 2 + 4.0
    boxes = [(-s, h, s, h + 0.1), (-s, -h - 0.1, s, -h)]
    actors = {}
    columns = 2
    for k in range(each):
        y = (k % columns - 0.5) * min(1.2, width / 2)
        x = length / 2 - 1.2 * (k // columns)
        goal = length / 2 - 1.2 * (each // columns - 1 - k // columns)
        actors[f"East {k + 1}"] = ActorSetup(towards(-x, y, 0.0, y), Go(place=(goal, y, 0.0)))
        actors[f"West {k + 1}"] = ActorSetup(towards(x, -y, 0.0, -y), Go(place=(-goal, -y, 0.0)))
    return Scene(World((floor(-s, -h, s, h), *_walls(boxes)), FPS), actors, NavigateParams(seconds=40.0))
