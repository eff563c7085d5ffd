"""Everything around the characters: ground, obstacles, doors and props as moving triangle meshes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from .errors import TroupeError
from .motion import Motion
from .skeleton import Array, frozen

KINDS = ("ground", "obstacle", "prop", "door")
HOLLOW = "hollow"
"""Tag of a closed mesh that is but its walls: a room, or the sky above a scene."""


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid mesh: `vertices` (V, 3) [m] and `triangles` (F, 3) in its own space, placed by `matrices`.

    `matrices` is (T, 4, 4), one a frame of the world, or (1, 4, 4) when it stands still. `kind` is one of KINDS.
    """

    name: str
    id: int
    vertices: Array
    triangles: npt.NDArray[np.int64]
    matrices: Array
    kind: str = "obstacle"
    tags: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "vertices", frozen(self.vertices, (None, 3), f"vertices of {self.name}"))
        put(self, "matrices", frozen(self.matrices, (None, 4, 4), f"matrices of {self.name}"))
        triangles = np.array(self.triangles, dtype=np.int64).reshape(-1, 3)
        triangles.flags.writeable = False
        if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(self.vertices)):
            raise TroupeError(f"{self.name}: a triangle names a vertex that does not exist")
        if self.kind not in KINDS:
            raise TroupeError(f"{self.name}: kind {self.kind!r} is none of {', '.join(KINDS)}")
        put(self, "triangles", triangles)
        put(self, "tags", frozenset(self.tags))


@dataclass(frozen=True, eq=False)
class World:
    """Bodies and other actors, sampled at `fps`; queries on it are functions in `maths.geometry`."""

    bodies: tuple[Body, ...] = ()
    fps: float = 24.0
    actors: Mapping[str, Motion] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", tuple(self.bodies))
        object.__setattr__(self, "actors", MappingProxyType(dict(self.actors)))
        names = [b.name for b in self.bodies]
        if len(set(names)) != len(names):
            raise TroupeError(f"body names repeat: {sorted({n for n in names if names.count(n) > 1})}")
