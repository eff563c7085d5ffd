"""Blender properties generated from Params, and the property groups `Object.troupe` and `Scene.troupe`."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import bpy
import numpy as np

from ..core.errors import InvalidParam, TroupeError
from ..core.params import REPERTOIRE, P, Param, Params, declared
from ..core.skeleton import CHAINS, FINGERS, ROLES, SIDE_NAMES

CHAIN_SLOTS = {"spine": 10, "neck": 6, **{role: 4 for role in CHAINS if role.split("_")[0] in FINGERS}}
"""How many bones a chain may have in the role table."""

BODY_KINDS = (
    ("auto", "Ground where faces look upwards, otherwise an obstacle"),
    ("ground", "Actors stand and walk on it"),
    ("obstacle", "Actors go around it"),
    ("prop", "Actors may take it in their hands"),
    ("door", "Actors may open it and go through"),
    ("ignore", "Actors take no notice of it"),
)
"""What an object may be in the world around the actors: the kinds of `core.world`, to be guessed, or left out."""

DOORS = (
    ("closed", "It is in the way"),
    ("open", "It stands open"),
    ("openable", "Actors may pass it, but rather go elsewhere"),
)
"""States of a door: the tags of `core.planning.ways.bodies`."""

NAVIGATION_SHOWN = (
    ("map", "Show where the selected actor could tread when it found its way, and what was blocked"),
    ("ways", "Show the ways that the selected actor planned, the one it followed at this frame the brightest"),
    ("searched", "Show the cells that were looked at to find the way that the selected actor followed at this frame"),
    ("track", "Show where the selected actor went, with a mark every second"),
    ("view", "Show what the selected actor overlooks at this frame"),
    ("memory", "Show what the selected actor sees, knows and does not know of the scene at this frame"),
)
"""What may be drawn of the last result by which an actor found its way."""

SEARCH_SHOWN = (
    ("tree", "Show where the search for the chosen way has been"),
    ("path", "Show the way that was found, as the hand or the thing goes it"),
    ("shapes", "Show the shapes with which collisions were looked for"),
)
"""What may be drawn of the last result for which a way was sought."""

_OVERRIDE = {"LIBRARY_OVERRIDABLE"}
_classes: list[type] = []


def _names(ref: str) -> Any:
    """Search callback with the names that a reference of this kind may take."""
    from ..core.acting import act

    def search(_self: Any, _context: bpy.types.Context, text: str) -> list[str]:
        pool: list[str]
        if ref == "armature":
            pool = [o.name for o in bpy.data.objects if o.type == "ARMATURE"]
        elif ref == "curve":
            pool = [o.name for o in bpy.data.objects if o.type == "CURVE"]
        elif ref == "thing":
            sorts = {ob.troupe.sort for ob in bpy.data.objects if ob.troupe.sort}
            pool = [*(c.name for c in bpy.data.collections), *(ob.name for ob in bpy.data.objects), *sorts]
        elif ref == "preset":
            from . import presets  # it builds on this module

            pool = [preset.name for preset in presets.shipped("walk")]
            with contextlib.suppress(TroupeError):  # a damaged file of the user's takes only theirs away
                pool += [preset.name for preset in presets.own("walk")]
        elif ref in REPERTOIRE:
            pool = [*act.names_of(act.GROUPS[REPERTOIRE.index(ref)]), *(a.name for a in bpy.data.actions)]
        else:
            pool = [x.name for x in getattr(bpy.data, {"object": "objects"}.get(ref, f"{ref}s"))]
        return sorted(name for name in pool if text.lower() in name.lower())

    return search


def _behaviours(_self: Any, _context: bpy.types.Context, text: str) -> list[str]:
    """Search callback with the features that tell an actor where to go."""
    from .features.going import told_by  # the features build on this module

    return [operator.feature() for operator in told_by() if text.lower() in operator.feature()]


def title(name: str) -> str:
    """A choice as it is shown: "root_bone" is "Root Bone", "ik" is "IK", "L" is "Left"."""
    name = SIDE_NAMES.get(name, name)
    return name.upper() if len(name) <= 2 else name.replace("_", " ").title()


def property_of(p: Param, update: Any = None) -> Any:
    """The bpy property that edits one parameter; `update` is called when it was changed."""
    # angles are shown in degrees, with their sign beside the number
    turning = p.unit.partition("/")[0] == "rad"
    unit = p.unit.removeprefix("rad").replace("/", "per ") if turning else p.unit
    label = f"{p.label} [{unit}]" if unit else p.label
    common: dict[str, Any] = {"name": label, "description": p.help, "override": _OVERRIDE, "update": update}
    span = {k: v for k, v in (("min", p.lo), ("max", p.hi)) if v is not None}
    angle = "ANGLE" if turning else "NONE"
    if p.kind == "float":
        return bpy.props.FloatProperty(default=p.default, subtype=angle, precision=3, **span, **common)
    if p.kind == "int":
        return bpy.props.IntProperty(default=p.default, **{k: int(v) for k, v in span.items()}, **common)
    if p.kind == "bool":
        return bpy.props.BoolProperty(default=p.default, **common)
    if p.kind == "choice":
        items = [(name, title(name), text) for name, text in p.choices]
        return bpy.props.EnumProperty(items=items, default=p.default, **common)
    if p.kind == "vector":
        return bpy.props.FloatVectorProperty(size=p.size, default=p.default, subtype=angle, **span, **common)
    if p.kind == "table":
        return bpy.props.StringProperty(default=json.dumps(p.default), **common)
    if p.kind == "ref" and p.ref in ("file", "output"):
        return bpy.props.StringProperty(default=p.default, subtype="FILE_PATH", **common)
    if p.kind == "ref":
        return bpy.props.StringProperty(default=p.default, search=_names(p.ref), **common)
    return bpy.props.StringProperty(default=p.default, **common)


def properties(*records: type[Params], update: Any = None) -> dict[str, Any]:
    """Property annotations for an operator or property group that edits these parameters."""
    return {p.name: property_of(p, update) for record in records for p in declared(record)}


def params_from(owner: Any, cls: type[P]) -> P:
    """The checked parameters held by an operator or property group."""
    values: dict[str, Any] = {}
    for p in declared(cls):
        value = getattr(owner, p.name)
        if p.kind == "float":
            value = _decimal(value)
        elif p.kind == "vector":
            value = tuple(_decimal(x) for x in value)
        elif p.kind == "table":
            try:
                value = json.loads(value)
            except (json.JSONDecodeError, RecursionError):
                raise InvalidParam(p.name, value, f"must be rows of {', '.join(p.columns)} as [[...], ...]") from None
        elif p.kind == "ref" and p.ref in ("file", "output") and value:
            value = bpy.path.abspath(value)
        values[p.name] = value
    return cls(**values)


def _decimal(value: float) -> float:
    """The number that was typed: Blender keeps single precision, in which 0.4 would come back as 0.4000000059604645."""
    return float(str(np.float32(value)))


def copy_settings(source: Any, target: Any, *records: type[Params]) -> None:
    """Copy the parameter properties from one owner (group, operator) to another."""
    for p in (p for record in records for p in declared(record)):
        value = getattr(source, p.name)
        setattr(target, p.name, tuple(value) if p.kind == "vector" else value)


def store(owner: Any, params: Params) -> None:
    """Put checked parameters into an operator or property group."""
    for p in declared(type(params)):
        value = getattr(params, p.name)
        if isinstance(value, np.ndarray):  # sampled from an F-curve
            value = float(value[0])
        setattr(owner, p.name, json.dumps(value) if p.kind == "table" else value)


def slots(role: str) -> tuple[str, ...]:
    """Property names that hold the bones of a role."""
    return tuple(f"{role}_{i}" for i in range(CHAIN_SLOTS[role])) if role in CHAINS else (role,)


def _group(name: str, fields: dict[str, Any]) -> type:
    cls = type(f"TROUPE_PG_{name}", (bpy.types.PropertyGroup,), {"__annotations__": fields})
    bpy.utils.register_class(cls)
    _classes.append(cls)
    return cls


def _pointer(cls: type) -> Any:
    return bpy.props.PointerProperty(type=cls, override=_OVERRIDE)


def _thing() -> dict[str, Any]:
    """What may be set about an object that actors find in their way."""
    return {
        "walk_cost": bpy.props.FloatProperty(
            name="Walk Cost",
            description="How many times as far a way over this counts; what is no ground is then walked through",
            default=1.0,
            min=1.0,
            max=1000.0,
            override=_OVERRIDE,
        ),
        "door": bpy.props.EnumProperty(
            name="Door",
            description="Whether actors can pass it",
            items=[(name, title(name), text) for name, text in DOORS],
            override=_OVERRIDE,
        ),
        "see_through": bpy.props.BoolProperty(
            name="See Through", description="It hides nothing from actors: glass, a fence", override=_OVERRIDE
        ),
        "solid": bpy.props.BoolProperty(
            name="Solid",
            description="Its inside is no room to stand in, however hollow the mesh is",
            override=_OVERRIDE,
        ),
        "sort": bpy.props.StringProperty(
            name="Sort",
            description="One of many alike: actors remember that there is one, not which one it is",
            override=_OVERRIDE,
        ),
    }


def register() -> None:
    """Make `Object.troupe` (the role table and each feature's settings) and `Scene.troupe`."""
    from . import ghost  # the features build on this module, and so does it
    from .features import operators

    roles = _group(
        "roles",
        {
            slot: bpy.props.StringProperty(name=slot.replace("_", " ").title(), override=_OVERRIDE)
            for role in ROLES
            for slot in slots(role)
        },
    )
    groups = {
        op.feature(): (op.owner, _group(op.feature(), properties(*op.records(), update=ghost.changed)))
        for op in operators()
    }
    actor = {
        "is_cast": bpy.props.BoolProperty(name="Cast", description="This rig has a role map", override=_OVERRIDE),
        "roles": _pointer(roles),
        "score": bpy.props.FloatProperty(name="Score", min=0.0, max=1.0, override=_OVERRIDE),
        "convention": bpy.props.StringProperty(name="Kind of rig", override=_OVERRIDE),
        "warnings": bpy.props.StringProperty(name="Warnings", override=_OVERRIDE),
        "result": bpy.props.StringProperty(
            name="Result", description="Action of the result whose recipe the sidebar shows", override=_OVERRIDE
        ),
        "told": bpy.props.StringProperty(
            name="Told",
            description="Feature by which this actor was last told where to go",
            search=_behaviours,
            override=_OVERRIDE,
        ),
        "neutral": bpy.props.StringProperty(
            name="Neutral", description="Known neutral orientations of bones, as JSON", override=_OVERRIDE
        ),
        "kind": bpy.props.EnumProperty(
            name="Kind",
            description="What this object is to the actors around it",
            items=[(name, title(name), text) for name, text in BODY_KINDS],
            override=_OVERRIDE,
        ),
    }
    actor |= _thing()
    scene = {
        "script": bpy.props.StringProperty(
            name="Script", description="Text with the script that is being written", search=_names("text")
        ),
        "show_roles": bpy.props.BoolProperty(
            name="Show Roles", description="Draw the mapped bones in the colours of their roles", default=True
        ),
        "show_grasps": bpy.props.BoolProperty(
            name="Show Grasps",
            description="Draw how this prop and selected ones are taken: the best grasps and those least like them",
            default=True,
        ),
        **{
            f"show_{name}": bpy.props.BoolProperty(name=title(name), description=text)
            for name, text in (*NAVIGATION_SHOWN, *SEARCH_SHOWN)
        },
    }
    for name, (owner, group) in groups.items():
        (scene if owner == "scene" else actor)[name] = _pointer(group)
    bpy.types.Object.troupe = _pointer(_group("actor", actor))
    bpy.types.Scene.troupe = bpy.props.PointerProperty(type=_group("scene", scene))


def unregister() -> None:
    """Undo `register`; what was stored in the file stays in the file."""
    del bpy.types.Object.troupe
    del bpy.types.Scene.troupe
    for cls in reversed(_classes):
        bpy.utils.unregister_class(cls)
    _classes.clear()
