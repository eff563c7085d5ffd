"""How an actor found its way, in the viewport: map, ways, track, view and memory, from the trace of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.skeleton import Array
from .. import scene, settings, trace

LIFT = 0.02
"""How far over the floor things are drawn [m]."""
SEEN = 0.14
"""Least side of a cell that is drawn by itself [m]."""
FAR = 6.0
"""How far a view is drawn [m]."""
_CORNERS = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
"""Edges of a box in Blender's order of corners."""


@dataclass(frozen=True, eq=False)
class Picture:
    """What is drawn: colour name to ends of lines (2 n, 3), and to corners of triangles (3 n, 3) [world units]."""

    lines: Mapping[str, Array]
    areas: Mapping[str, Array]


def picture(context: bpy.types.Context, actor: Any) -> Picture | None:
    """What is to be shown of the chosen result of an actor at the current frame; None when there is nothing."""
    shown = {name for name, _ in settings.NAVIGATION_SHOWN if getattr(context.scene.troupe, f"show_{name}")}
    found = trace.last_trace(actor) if shown else None
    if found is None:
        return None
    kept, metre = found[1], scene.metre(context.scene)
    time = (context.scene.frame_current - kept["frame"]) / kept["fps"]
    lines: dict[str, Array] = {}
    areas: dict[str, Array] = {}
    if "map" in shown:
        areas |= map_areas(kept["map"])
    if "searched" in shown and kept.get("searched"):
        areas |= searched_areas(kept, time)
    if "ways" in shown:
        lines |= way_lines(kept["ways"], time, kept["floor"])
    if "track" in shown:
        lines |= track_lines(kept)
    if "view" in shown:
        lines |= view_lines(kept, time)
    parts = {name: points / metre for name, points in lines.items()}
    if "memory" in shown and kept.get("looks"):
        parts |= memory_lines(context, kept, context.scene.frame_current)
    return Picture(parts, {name: points / metre for name, points in areas.items()})


def map_areas(plain: Mapping[str, Any]) -> dict[str, Array]:
    """Triangles over the blocked cells of a map, and over the free ones: (3 n, 3) each [m]."""
    return _map_areas(
        plain["blocked"], plain["rows"], plain["columns"], plain["cell"], *plain["origin"], plain["floor"]
    )


@lru_cache(maxsize=4)
def _map_areas(bits: str, rows: int, columns: int, cell: float, x: float, y: float, floor: float) -> dict[str, Array]:
    blocked = trace.unpacked(bits, rows, columns)
    return {name: _tiles(cells, cell, x, y, floor) for name, cells in (("blocked", blocked), ("free", ~blocked))}


def searched_areas(kept: Mapping[str, Any], time: float) -> dict[str, Array]:
    """Triangles over the cells that were looked at to find the way followed at a time [s]: (3 n, 3) [m]."""
    plain = kept["map"]
    bits = kept["searched"][_followed(kept["ways"], time)]
    cells = trace.unpacked(bits, plain["rows"], plain["columns"])
    # single cells beside corners are drawn large enough to be found
    wider = max(0.0, SEEN - plain["cell"]) / 2.0 if np.count_nonzero(cells) < 500 else 0.0
    x, y = plain["origin"]
    return {"searched": _tiles(cells, plain["cell"], x, y, plain["floor"] + LIFT, wider)}


def _followed(ways: Sequence[Any], time: float) -> int:
    """Number of the way that was followed at a time [s]."""
    return max((k for k, (when, _) in enumerate(ways) if when <= time + 1e-6), default=0)


def _tiles(cells: npt.NDArray[np.bool_], cell: float, x: float, y: float, floor: float, wider: float = 0.0) -> Array:
    """Two triangles for every run of cells in a row (3 n, 3), wider by some on every side [m]."""
    edge = np.diff(np.pad(cells.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, first = np.nonzero(edge == 1)
    _, last = np.nonzero(edge == -1)
    gap = 0.06 * cell - wider
    low = np.stack([x + first * cell + gap, y + row * cell + gap], axis=-1)
    high = np.stack([x + last * cell - gap, y + (row + 1) * cell - gap], axis=-1)
    corners = [
        low,
        np.stack([high[:, 0], low[:, 1]], axis=-1),
        high,
        low,
        high,
        np.stack([low[:, 0], high[:, 1]], axis=-1),
    ]
    flat = np.stack(corners, axis=1).reshape(-1, 2)
    return np.column_stack([flat, np.full(len(flat), floor + LIFT)])


def way_lines(ways: Sequence[Any], time: float, floor: float) -> dict[str, Array]:
    """The way that was followed at a time [s], and the others, as lines."""
    now = _followed(ways, time)
    old = [_segments(points, floor) for k, (_, points) in enumerate(ways) if k != now]
    return {
        "way": _segments(ways[now][1], floor) if ways else np.zeros((0, 3)),
        "old way": np.concatenate(old) if old else np.zeros((0, 3)),
    }


def _segments(points: Any, floor: float) -> Array:
    """A chain of points (N, 2) as pairs of ends (2 N - 2, 3)."""
    line = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    ends = np.repeat(line, 2, axis=0)[1:-1]
    return np.column_stack([ends, np.full(len(ends), floor + 2 * LIFT)])


def track_lines(kept: Mapping[str, Any]) -> dict[str, Array]:
    """Where an actor went, with a stroke across every second."""
    track, floor = np.array(kept["track"]), kept["floor"]
    marks = track[:: max(1, round(kept["fps"]))]
    across = 0.1 * np.stack([np.cos(marks[:, 2]), np.sin(marks[:, 2])], axis=-1)
    strokes = np.stack([marks[:, :2] - across, marks[:, :2] + across], axis=1).reshape(-1, 2)
    strokes = np.column_stack([strokes, np.full(len(strokes), floor + 2 * LIFT)])
    return {"track": np.concatenate([_segments(track[:, :2], floor), strokes])}


def view_lines(kept: Mapping[str, Any], time: float) -> dict[str, Array]:
    """The outline of what an actor overlooks at a time [s]."""
    track = np.array(kept["track"])
    x, y, heading = track[int(np.clip(round(time * kept["fps"]), 0, len(track) - 1))]
    angle, reach = kept.get("view", (np.radians(120.0), FAR))
    turns = heading + np.linspace(-angle / 2, angle / 2, 25)
    rim = np.array([x, y]) + min(reach, FAR) * np.stack([np.sin(turns), -np.cos(turns)], axis=-1)
    return {"view": _segments(np.concatenate([[[x, y]], rim, [[x, y]]]), kept["floor"])}


def look_at(looks: Sequence[Any], frame: int) -> Mapping[str, Any]:
    """What was seen and known at a frame: the last look until then; nothing before the first."""
    before = [look for look in looks if look["frame"] <= frame]
    return before[-1] if before else {"frame": frame, "seen": [], "known": []}


def memory_lines(context: bpy.types.Context, kept: Mapping[str, Any], frame: int) -> dict[str, Array]:
    """Boxes around the things of the scene that are seen, known and unknown at a frame [world units]."""
    now = look_at(kept["looks"], frame)
    boxes: dict[str, list[Any]] = {"seen": [], "known": [], "unknown": []}
    for ob in filter(None, (context.scene.objects.get(name) for name in kept["things"])):
        state = "seen" if ob.name in now["seen"] else "known" if ob.name in now["known"] else "unknown"
        corners = [ob.matrix_world @ point for point in _box(ob)]
        boxes[state] += [corners[k][:] for edge in _CORNERS for k in edge]
    return {state: np.array(points).reshape(-1, 3) for state, points in boxes.items()}


def _box(ob: Any) -> list[Any]:
    from mathutils import Vector

    return [Vector(corner) for corner in ob.bound_box]
