"""What a navigation leaves behind with its result: map, ways, track, report and every decision, to be shown afterwards.

A trace is one JSON string in a plain custom property of the action, so that it is saved and undone with it. Its parts:

    frame           first frame of the result
    fps             frames a second
    map             origin [m], cell [m], rows, columns, and the blocked cells as packed bits
    ways            [time, [[x, y], ...]] of every way that was planned
    searched        for every way the cells of the map that were looked at to find it, as packed bits
    track           [x, y, heading] of every frame
    radius, view    of the body [m], and angle and range of the eyes [rad, m]
    report          what came of it: see `core.planning.walkers.verify.Report`
    transcript      time, actor, what and why of every decision
    looks, things   of those who remember: frame, names seen, names known; and names of all there is to see
    notes           what a user should know of the map
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
import numpy.typing as npt

from ..core.skeleton import Array
from . import bake

if TYPE_CHECKING:
    from ..core.planning.ways.map import Map

KEY = "troupe_trace"
Bools = npt.NDArray[np.bool_]


def map_plain(of: Map, size: float = 1.0) -> dict[str, Any]:
    """A map as JSON holds it; `size` is how many times larger the scene is than the map shows it."""
    rows, columns = of.shape
    floor = size * float(np.median(of.ground[0]))
    return {
        "origin": (size * of.origin).tolist(),
        "cell": size * of.cell,
        "rows": rows,
        "columns": columns,
        "floor": floor,
        "blocked": packed(of.blocked[0]),
    }


def packed(cells: Bools) -> str:
    """Cells (rows, columns) as JSON holds them."""
    return base64.b64encode(zlib.compress(np.packbits(cells).tobytes())).decode()


def unpacked(bits: str, rows: int, columns: int) -> Bools:
    """(rows, columns) cells of which `packed` made `bits`."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(bits)), np.uint8)
    return np.unpackbits(flat, count=rows * columns).reshape(rows, columns).astype(bool)


def searched(of: Map, places: Array) -> str:
    """Cells of a map at places (n, 2) [m], as JSON holds them."""
    cells = np.zeros(of.shape, bool)
    at = np.floor((places - of.origin) / of.cell).astype(np.int64)
    at = at[((at >= 0) & (at < of.shape[::-1])).all(axis=1)]
    cells[at[:, 1], at[:, 0]] = True
    return packed(cells)


def rounded(points: Array) -> list[list[float]]:
    """Rows of numbers to the millimetre."""
    out: list[list[float]] = np.round(points, 3).tolist()
    return out


def keep(actor: Any, action: Any, trace: Mapping[str, Any]) -> None:
    """Keep a trace with a result, and the decisions in it as a text that can be read in Blender."""
    action[KEY] = json.dumps(trace)
    name = f"{actor.name} transcript"
    text = bpy.data.texts.get(name) or bpy.data.texts.new(name)
    text.from_string("\n".join([f"# {action.name}", *lines(trace)]) + "\n")


def lines(trace: Mapping[str, Any]) -> list[str]:
    """The decisions of a trace, one a line: time, frame, what and why."""
    out = []
    for entry in trace.get("transcript", ()):
        frame = trace["frame"] + round(entry["time"] * trace["fps"])
        out.append(f"{entry['time']:7.2f} s  frame {frame:5d}  {entry['what']}: {entry['why']}")
    return out


def trace_of(action: Any) -> dict[str, Any] | None:
    """The trace of a result; None when it has none."""
    held = action.get(KEY) if action is not None else None
    return json.loads(held) if isinstance(held, str) else None


def last_trace(actor: Any) -> tuple[Any, dict[str, Any]] | None:
    """Action and trace of the chosen result of an actor, or of the topmost that has one."""
    found = [f.action for f in bake.results_of(actor)]
    chosen = [a for a in found if a.name == actor.troupe.result]
    for action in [*chosen, *reversed(found)]:
        trace = trace_of(action)
        if trace is not None:
            return action, trace
    return None


def told(report: Mapping[str, Any]) -> list[str]:
    """A report in short lines for a panel."""
    if "said" in report:
        return list(report["said"])
    offences: Sequence[Any] = report["offences"]
    clear = "no collisions" if not offences else f"{len(offences)} collisions"
    return [
        "Arrived" if report["success"] else "Did not arrive",
        f"Way {report['length']:.2f} m, computed in {report['seconds']:.2f} s",
        f"{report['searches']} ways sought, {report['cells']} places looked at",
        f"{report['checks']} places checked: {clear}",
        f"Peak acceleration {report['acceleration']:.0f} m/s\u00b2",
    ]
