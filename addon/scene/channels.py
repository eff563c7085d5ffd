"""Properties that the user has keyed, sampled from the F-curves of the active action; the NLA has no say here."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from ...core.skeleton import Array
from ..bake import curves
from ..bake.evaluation import evaluate


def is_keyed(owner: bpy.types.ID, data_path: str, index: int = 0) -> bool:
    """Whether the owner's active action moves a property (`troupe.travel.speed`, `location` with its index)."""
    return _curve(owner, data_path, index) is not None


def keyed(
    owner: bpy.types.ID, data_path: str, frames: npt.ArrayLike, index: int = 0, below: bool = False
) -> Array | None:
    """Values (T,) of a keyed property at `frames` (T,), as Blender would set them; None when it is not keyed.

    Args:
        owner: Object or other data-block with the action.
        data_path: The property, from its owner.
        frames: Where to sample it; need not be whole.
        index: Component of a vector.
        below: Where the active action does not move it, take the topmost strip that does.

    Raises:
        InvalidMotion: A key of the action is NaN or infinite.
    """
    at = np.asarray(frames, dtype=np.float64)
    curve = _curve(owner, data_path, index)
    if curve is None and below:
        curve, at = _curve_below(owner, data_path, index, at)
    if curve is None:
        return None
    values: Array = evaluate([curve], at)[:, 0]
    lowest, highest = _range(owner, data_path)
    return np.clip(values, lowest, highest)


def _curve(owner: bpy.types.ID, data_path: str, index: int) -> curves.Curve | None:
    data = owner.animation_data
    if data is None or data.action is None:
        return None
    slot = getattr(data, "action_slot", None)
    if slot is None and hasattr(data, "action_slot"):
        return None
    # the names first: a rig's action may hold thousands of curves, and reading all keys takes longer
    if data_path not in curves.paths(owner, data.action, slot):
        return None
    return curves.read(curves.bag(owner, data.action, create=False, slot=slot)).get((data_path, index))


def _curve_below(owner: bpy.types.ID, data_path: str, index: int, frames: Array) -> tuple[curves.Curve | None, Array]:
    """The curve of the topmost strip that moves a property, and where on it frames (T,) are."""
    data = owner.animation_data
    for track in reversed(data.nla_tracks if data is not None and data.use_nla else ()):
        for strip in track.strips:
            if track.mute or strip.mute or strip.action is None:
                continue
            slot = getattr(strip, "action_slot", None)
            if data_path in curves.paths(owner, strip.action, slot):
                bag = curves.bag(owner, strip.action, create=False, slot=slot)
                at = strip.action_frame_start + (frames - strip.frame_start) / strip.scale
                return curves.read(bag).get((data_path, index)), at
    return None, frames


def _range(owner: bpy.types.ID, data_path: str) -> tuple[float, float]:
    """Within which Blender holds a property, whatever its curve says; infinite for custom properties."""
    where, _, name = data_path.rpartition(".")
    try:
        holder = owner.path_resolve(where) if where else owner
    except ValueError:
        return -np.inf, np.inf
    declared = holder.bl_rna.properties.get(name)
    if declared is None or declared.type not in {"FLOAT", "INT"}:
        return -np.inf, np.inf
    return declared.hard_min, declared.hard_max
