"""What of a scene is ground to walkers, where nobody has said so: what they stand on, or can step onto from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...maths import geometry
from ...skeleton import Array
from ...world import Body, World

GUESSED = "guessed"
"""Tag of a body whose kind was guessed from its shape."""
BESIDE = 0.3
"""How far beside a surface other ground is looked for [m]."""
MOST = 600
"""Places along the edges of a surface that are looked at, at most about twice as many."""
_ASIDE: Array = BESIDE * np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def with_footing(world: World, places: npt.ArrayLike, step: float) -> World:
    """The world with walls, tables and roofs told apart from the ground.

    A body whose kind was guessed stays ground if somebody stands on it, or can get onto it from such ground by a step
    of the given height; else it is an obstacle. Kinds that were given stay.

    Args:
        world: Guessed kinds are tagged.
        places: (n, 3) where walkers stand: x, y and the height of their feet [m].
        step: Highest step that is taken [m].
    """
    feet = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    open_ones = {b.name: b for b in world.bodies if GUESSED in b.tags and b.kind == "ground"}
    ground = {b.name: b for b in world.bodies if b.kind == "ground" and GUESSED not in b.tags}
    fresh = dict(ground)
    for name, body in open_ones.items():
        z, _, hit = geometry.height(_around([body], feet), feet[:, :2], below=feet[:, 2] + step)
        if bool((hit & (feet[:, 2] - z < step)).any()):
            fresh[name] = body
    left = {name: _rims(body) for name, body in open_ones.items() if name not in fresh}
    left = {name: rims for name, rims in left.items() if len(rims)}
    while fresh:
        ground |= fresh
        left = {name: rims for name, rims in left.items() if name not in ground}
        if not left:
            break
        surface = _around(list(fresh.values()), np.concatenate(list(left.values())))
        fresh = {name: open_ones[name] for name, rims in left.items() if _steps_onto(rims, surface, step)}
    return replace(world, bodies=tuple(_told(body, body.name in ground) for body in world.bodies))


def _told(body: Body, stood_on: bool) -> Body:
    if GUESSED not in body.tags:
        return body
    kind = "obstacle" if body.kind == "ground" and not stood_on else body.kind
    return replace(body, kind=kind, tags=body.tags - {GUESSED})


def _around(bodies: Sequence[Body], places: Array) -> geometry.Surface:
    """What of bodies, as they stand first, is over, under or beside places (n, 3)."""
    low, high = places[:, :2].min(axis=0) - BESIDE, places[:, :2].max(axis=0) + BESIDE
    near = []
    for body in bodies:
        matrix = body.matrices[0]
        corners = (body.vertices @ matrix[:2, :3].T + matrix[:2, 3])[body.triangles]
        meets = ((corners.min(axis=1) <= high) & (corners.max(axis=1) >= low)).all(axis=1)
        if meets.any():
            near.append(replace(body, triangles=body.triangles[meets], matrices=body.matrices[:1]))
    return geometry.index(World(tuple(near)))


def _steps_onto(rims: Array, ground: geometry.Surface, step: float) -> bool:
    """Whether one can step onto something with these rims (n, 3) from ground beside them, or under them."""
    beside = (rims[:, None, :2] + _ASIDE).reshape(-1, 2)
    tops = np.repeat(rims[:, 2], len(_ASIDE))
    z, _, hit = geometry.height(ground, beside, below=tops + step)
    return bool((hit & (tops - z <= step + 1e-6)).any())


def _rims(body: Body) -> Array:
    """(n, 3) places along the edges of the faces of a body that look upwards, as it stands first [m]."""
    matrix = body.matrices[0]
    placed = body.vertices @ matrix[:3, :3].T + matrix[:3, 3]
    corners = placed[body.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    up = corners[normal[:, 2] > np.maximum(0.5 * size, 1e-12)]
    share = np.array([0.0, 0.25, 0.5, 0.75])[:, None]
    along = up[:, :, None] + share * (np.roll(up, -1, axis=1) - up)[:, :, None]
    places = along.reshape(-1, 3)
    out: Array = places[:: max(1, len(places) // MOST)]
    return out
