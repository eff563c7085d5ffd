"""What a search for a way leaves behind with its result: tree, path, shapes and report, to be shown afterwards.

A search that found none writes nothing; what it leaves is kept as long as Blender runs, until another one is made for
the same object. With a result it is one JSON string in a plain custom property of the action:

    seconds, nodes, looks   what it took
    length                  of the way, as the hand or the thing goes it [m]
    acceleration            highest of any joint, of a thing that of its middle [m/s^2]
    gap                     least distance from anything on the way [m]
    offences                how many frames and half frames touch something after all
    tree                    ends of the edges of the search, x, y, z in pairs [m]
    path                    places along the way [m]; none where none was found
    shapes                  capsules: start, end and radius of each at the start [m]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ...core.skeleton import Array
from ..settings import SEARCH_SHOWN

if TYPE_CHECKING:
    from ...core.errors import TroupeError
    from ...core.planning.hands.ledger import Sought
    from ...core.planning.hands.task import Reached
    from ...core.planning.spaces.machines import Machine
    from ...core.planning.spaces.tree import Search
    from ...core.planning.spaces.ways import Planned

KEY = "troupe_search"
MOST = 1500
"""Edges of a tree that are kept."""

_missed: dict[tuple[int, str], dict[str, Any]] = {}
"""Searches that found nothing, by the object they were made for."""


def plain(planned: Planned, seconds: float) -> dict[str, Any]:
    """What is kept of the way of a thing or machine."""
    machine = planned.machine
    tips = machine.tips(planned.path.points)
    times = planned.path.times
    rate = (len(tips) - 1) / float(times[-1]) if times is not None and len(tips) > 1 else 1.0
    joints = planned.frames[:, :, :3, 3]
    jolt = float(np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1).max(initial=0.0)) * rate**2
    kept = report(seconds, planned.search.nodes, planned.search.looks, planned.gap, len(planned.offences))
    return kept | {
        "length": _length(tips),
        "acceleration": round(jolt, 3),
        "tree": _edges(machine, planned.search),
        "path": np.round(tips, 4).tolist(),
        "shapes": _shapes(machine, planned.frames[:1]),
    }


def _edges(machine: Machine, search: Search) -> list[list[float]]:
    """Ends of the edges of both trees [m]."""
    edges = []
    for nodes, parents in search.trees:
        tips = machine.tips(nodes)
        own = np.flatnonzero(parents >= 0)[:MOST]
        edges.append(np.stack([tips[own], tips[parents[own]]], axis=1).reshape(-1, 3))
    out: list[list[float]] = np.round(np.concatenate(edges), 4).tolist()
    return out


def _shapes(machine: Machine, frames: Array) -> list[list[float]]:
    """Capsules of a machine at frames (1, L, 4, 4): start, end and radius [m]."""
    begin, along = machine.cover.placed(frames)
    a, v = begin[:, :, 0].T, along[:, :, 0].T
    out: list[list[float]] = np.round(np.column_stack([a, a + v, machine.cover.radii]), 4).tolist()
    return out


def of_hand(done: Reached, seconds: float, size: float) -> dict[str, Any]:
    """What is kept of the ways of a hand, which may be of somebody larger than a person."""
    from ...core.planning.walkers.verify import jolt

    ways = done.ledger.sought
    gap = min((w.gap for w in ways), default=np.inf) * size
    kept = report(seconds, sum(w.nodes for w in ways), done.ledger.looks, gap, len(done.offences))
    scale = np.array([size] * 7)
    jolts = [jolt(motion) for motion in done.performance.motions.values()]
    return kept | {
        "length": sum(_length(w.way * size) for w in ways),
        # whoever is larger takes the root of that longer, so this is the same at every size
        "acceleration": round(max(jolts, default=0.0), 3),
        "tree": _trees(ways, size),
        "path": np.round(np.concatenate([w.way for w in ways]) * size, 4).tolist() if ways else [],
        "shapes": np.round(ways[0].shapes * scale, 4).tolist() if ways else [],
    }


def _trees(ways: Sequence[Sought], size: float) -> list[list[float]]:
    """Ends of the edges of the trees of some searches of somebody so many times as large as a person [m]."""
    if not ways:
        return []
    out: list[list[float]] = np.round(np.concatenate([w.tree[: 2 * MOST] for w in ways]) * size, 4).tolist()
    return out


def missed_hand(actor: Any, error: TroupeError, size: float) -> None:
    """Keep the searches of a task that failed, to be shown; nothing where it failed before any."""
    ledger = getattr(error, "ledger", None)
    if ledger is None or not ledger.missed:
        return
    lost = ledger.missed
    shapes = np.round(lost[0].shapes * size, 4).tolist()
    _miss(actor, sum(w.nodes for w in lost), ledger.looks, _trees(lost, size), shapes)


def missed_way(mover: Any, machine: Machine, start: Array, search: Search) -> None:
    """Keep the search for a way of a thing or machine that found none, to be shown."""
    _miss(mover, search.nodes, search.looks, _edges(machine, search), _shapes(machine, machine.frames(start[None])))


def _miss(ob: Any, nodes: int, looks: int, tree: list[list[float]], shapes: list[list[float]]) -> None:
    _missed[_key(ob)] = report(0.0, nodes, looks, np.inf, 0) | {
        "missed": True,
        "tree": tree,
        "path": [],
        "shapes": shapes,
    }


def found(ob: Any, action: Any, kept: dict[str, Any]) -> None:
    """Keep what a search left with the action of its result."""
    _missed.pop(_key(ob), None)
    action[KEY] = json.dumps(kept)


def _key(ob: Any) -> tuple[int, str]:
    return ob.as_pointer(), ob.name


def _length(places: Array) -> float:
    """Of a way through places (N, 3) [m]."""
    return round(float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()), 4)


def report(seconds: float, nodes: int, looks: int, gap: float, offences: int) -> dict[str, Any]:
    """The numbers of a search."""
    return {
        "seconds": round(seconds, 3),
        "nodes": int(nodes),
        "looks": int(looks),
        "gap": None if not np.isfinite(gap) else round(float(gap), 5),
        "offences": int(offences),
    }


def told(kept: dict[str, Any]) -> list[str]:
    """A report in short lines for a panel."""
    if kept.get("missed"):
        # that the budget is used up says nothing of whether there is a way
        return ["no way was found; there may be one", f"{kept['nodes']} nodes, {kept['looks']} postures checked"]
    gap = kept.get("gap")
    return [
        f"found, {kept['length']:.2f} m long, computed in {kept['seconds']:.2f} s",
        f"{kept['nodes']} nodes, {kept['looks']} postures checked",
        "nothing near" if gap is None else f"clearance {1000 * gap:.0f} mm",
        "no collisions" if not kept["offences"] else f"{kept['offences']} collisions",
        f"peak acceleration {kept['acceleration']:.0f} m/s\u00b2",
    ]


def last(ob: Any) -> dict[str, Any] | None:
    """What is kept of the last search on an object; None when there was none."""
    if ob is not None and _key(ob) in _missed:
        return _missed[_key(ob)]
    data = ob.animation_data if ob is not None else None
    if data is None:
        return None
    actions = [data.action, *(s.action for t in reversed(data.nla_tracks) for s in reversed(t.strips))]
    for action in actions:
        text = action.get(KEY) if action is not None else None
        if isinstance(text, str):
            try:
                found = json.loads(text)
            except ValueError:
                return None
            return found if isinstance(found, dict) else None
    return None


def capsule_lines(shapes: Array) -> Array:
    """Outlines of capsules (K, 7), start, end and radius, as ends of lines (2 n, 3)."""
    turn = np.linspace(0.0, 2.0 * np.pi, 13)
    out = []
    for row in np.asarray(shapes, dtype=np.float64).reshape(-1, 7):
        a, b, r = row[:3], row[3:6], row[6]
        axis = b - a
        far = float(np.linalg.norm(axis))
        axis = axis / far if far > 1e-9 else np.array([0.0, 0.0, 1.0])
        side = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.9 else [0.0, 1.0, 0.0])
        side /= np.linalg.norm(side)
        other = np.cross(axis, side)
        ring = r * (np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * other)
        for end in (a, b):
            out += [np.stack([end + ring[:-1], end + ring[1:]], axis=1).reshape(-1, 3)]
        for u in (side, other):
            half = np.linspace(0.0, np.pi, 7)
            for end, sign in ((a, -1.0), (b, 1.0)):
                arc = end + r * (np.cos(half)[:, None] * u + sign * np.sin(half)[:, None] * axis)
                out.append(np.stack([arc[:-1], arc[1:]], axis=1).reshape(-1, 3))
            out += [np.stack([a + s * r * u, b + s * r * u]) for s in (1.0, -1.0)]
    return np.concatenate(out) if out else np.zeros((0, 3))


def draw(layout: bpy.types.UILayout, context: bpy.types.Context, ob: Any) -> None:
    """The report of the last search, and what to show of it."""
    kept = last(ob)
    if kept is None:
        return
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line in told(kept):
        column.label(text=line)
    row = layout.row(align=True)
    row.use_property_split = False
    for name, _ in SEARCH_SHOWN:
        row.prop(context.scene.troupe, f"show_{name}", toggle=True)
