"""Twins of control rigs: copies on scenes of their own, whose controls are tied to empties at the wanted places.

What the controls hang from then follows, helper bones included. The rig itself is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from . import curves, nla, pose
from .pose import Array

STAGE = "troupe_stage"
"""Property that marks the scene of a twin."""


class Stage:
    """A twin of a rig with its controls tied.

    Args:
        ob: The rig.
        placed: Controls that take whole matrices.
        poles: Controls that take places.
        still: Controls that are held at rest.
        switches: Data path of a property to the value that it is held at.
    """

    def __init__(
        self,
        ob: bpy.types.Object,
        placed: Sequence[str],
        poles: Sequence[str],
        still: Sequence[str],
        switches: Mapping[str, float],
    ) -> None:
        self.controls = (placed, poles, still)
        self._end = ExitStack()
        with ExitStack() as unless_done:
            self._twin, self._scene = unless_done.enter_context(twin_of(ob))
            self._ties = [_tie(self._twin, self._scene, control) for control in placed]
            self._ties += [_tie(self._twin, self._scene, pole, "COPY_LOCATION") for pole in poles]
            moved = nla.animated_paths(ob)
            for control in still:
                _still(self._twin, self._scene, control)
            for path, value in switches.items():
                _fix(self._twin, path, value, path in moved)
            self._end = unless_done.pop_all()

    def at(self, frame: float, step: Sequence[Any]) -> Array:
        """Armature-space matrices (n, 4, 4) of all bones at a frame with its ties at `step` (C, 4, 4)."""
        for tie, matrix in zip(self._ties, step, strict=True):
            tie.matrix_basis = Matrix(matrix)
        whole = int(np.floor(frame))
        self._scene.frame_set(whole, subframe=float(frame - whole))
        return pose.matrices(self._twin.evaluated_get(self._scene.view_layers[0].depsgraph).pose.bones)

    def is_there(self) -> bool:
        """Whether it is still in the file."""
        return _exists(self._scene) and _exists(self._twin)

    def close(self) -> None:
        """Take the twin away."""
        self._end.close()


class Twins:
    """Twins of rigs that are kept, for rigs that are posed one frame after the other."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}

    def stage(
        self,
        ob: bpy.types.Object,
        placed: Sequence[str],
        poles: Sequence[str],
        still: Sequence[str],
        switches: Mapping[str, float],
    ) -> Stage:
        """The twin of a rig, made where there is none with the same controls."""
        found = self._stages.get(ob.name)
        if found is None or not found.is_there() or found.controls != (placed, poles, still):
            if found is not None:
                found.close()
            found = self._stages[ob.name] = Stage(ob, placed, poles, still, switches)
        return found

    def close(self) -> None:
        """Take all away, also those that undoing brought back."""
        for stage in self._stages.values():
            stage.close()
        self._stages.clear()
        clear()


def clear() -> None:
    """Take away the scenes of twins that nobody uses any more."""
    for scene in [s for s in bpy.data.scenes if STAGE in s]:
        _strike(scene)


def _exists(block: bpy.types.ID) -> bool:
    """Whether a datablock is still in the file: undoing may have taken it away."""
    try:
        return bool(block.name)
    except ReferenceError:
        return False


def _strike(scene: bpy.types.Scene) -> None:
    if not _exists(scene):
        return
    for other in list(scene.collection.objects):
        bpy.data.objects.remove(other)
    bpy.data.scenes.remove(scene)


@contextmanager
def twin_of(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bpy.types.Scene]]:
    """A copy of the rig on a scene of its own; both go afterwards, with all that was put there.

    Constraints and drivers of the rig that refer to it refer to the twin on the twin.
    """
    scene = bpy.data.scenes.new("Troupe Stage")
    scene[STAGE] = True
    try:
        twin = ob.copy()
        scene.collection.objects.link(twin)
        yield twin, scene
    finally:
        _strike(scene)


def _empty(scene: bpy.types.Scene) -> bpy.types.Object:
    empty = bpy.data.objects.new("Troupe Tie", None)
    scene.collection.objects.link(empty)
    return empty


def _tie(
    twin: bpy.types.Object, scene: bpy.types.Scene, control: str, kind: str = "COPY_TRANSFORMS"
) -> bpy.types.Object:
    """An empty whose world matrix, or place, is that of the control in armature space from then on."""
    empty = _empty(scene)
    tie = twin.pose.bones[control].constraints.new(kind)
    tie.target, tie.owner_space = empty, "POSE"
    return empty


def _still(twin: bpy.types.Object, scene: bpy.types.Scene, control: str) -> None:
    """Hold a control at rest, whatever plays."""
    for kind in ("COPY_ROTATION", "COPY_LOCATION"):
        tie = twin.pose.bones[control].constraints.new(kind)
        tie.target, tie.owner_space = _empty(scene), "LOCAL"


def _fix(twin: bpy.types.Object, path: str, value: float, animated: bool) -> None:
    """Hold a property at a value, whatever plays."""
    curves.set_value(twin, path, value)
    if animated:
        driver = twin.driver_add(path).driver
        driver.type, driver.expression = "SCRIPTED", str(value)
