"""Scenes that show features, each built from nothing: a module a feature, `goto`, and further scenes, `goto.office`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Demo:
    """A scene that can be built.

    Attributes:
        build: Builds it in an empty file, from a context.
        camera: Places the camera of the scene, from a context; None for a view of everything.
        frames: First and last; None for all that moves.
        tour: Whether it is part of the tour.
        light: Name of the studio light it is shown in; "" for the usual one.
    """

    build: Callable[[Any], None]
    camera: Callable[[Any], None] | None = None
    frames: tuple[int, int] | None = None
    tour: bool = True
    light: str = ""


def demos(name: str) -> dict[str, Demo]:
    """The scenes of a module of this package: its own, and those of its `VARIANTS` as NAME.VARIANT."""
    module = importlib.import_module(f"{__name__}.{name}")
    if not hasattr(module, "build"):
        return {}
    light = getattr(module, "LIGHT", "")
    own = Demo(
        module.build,
        getattr(module, "camera", None),
        getattr(module, "FRAMES", None),
        getattr(module, "TOUR", True),
        light,
    )
    more = {
        f"{name}.{variant}": Demo(build, camera, None, False, light)
        for variant, (build, camera) in getattr(module, "VARIANTS", {}).items()
    }
    return {name: own} | more
