"""Curves of a motion that are no bones: custom properties, shape keys, and the contacts of the feet."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np

from ...core.motion import Motion
from ...core.skeleton import Array
from . import curves
from .curves import Channel

CONTACT = "contact/"
ABOUT = "Troupe: 1 while the {part} is planted, 0 while it is free"
"""What our contact properties say of themselves, by which they are known when they are no longer needed."""


def property_channels(motion: Motion) -> list[Channel]:
    """Channels of the properties of the armature object and of its bones."""
    out = []
    for name, values in motion.curves.items():
        kind, _, rest = name.partition("/")
        if kind == "prop":
            out.append(Channel(_path(rest), values[:, None], "Properties"))
        elif kind == "bone":
            joint, _, prop = rest.rpartition("/")
            out.append(Channel(curves.bone_path(joint, _path(prop)), values[:, None], joint))
    return out


def shape_channels(ob: bpy.types.Object, motion: Motion) -> dict[str, tuple[Channel, ...]]:
    """Mesh object name to the channels of its shape keys."""
    shapes = {n.partition("/")[2]: v for n, v in motion.curves.items() if n.startswith("shape/")}
    out: dict[str, tuple[Channel, ...]] = {}
    if shapes:
        for mesh in bpy.data.objects:
            if mesh.type == "MESH" and mesh.data.shape_keys and mesh.find_armature() == ob:
                blocks = mesh.data.shape_keys.key_blocks
                found = [
                    Channel(f'key_blocks["{bpy.utils.escape_identifier(name)}"].value', values[:, None])
                    for name, values in shapes.items()
                    if name in blocks
                ]
                if found:
                    out[mesh.name] = tuple(found)
    return out


def widen(keys: bpy.types.Key, channels: Iterable[Channel]) -> None:
    """Let the sliders of shape keys reach what is keyed, or Blender would cut it off: a frown is a smile below 0."""
    for channel in channels:
        block = keys.path_resolve(channel.path.removesuffix(".value"))
        low, high = float(channel.values.min()), float(channel.values.max())
        if low < block.slider_min:
            block.slider_min = max(min(-1.0, np.floor(low)), -10.0)
        if high > block.slider_max:
            block.slider_max = min(max(1.0, np.ceil(high)), 10.0)


def contact_channels(motion: Motion, frames: Array) -> dict[str, Channel]:
    """Property of the armature object to its channel, which steps where a contact begins or ends."""
    out = {}
    for name, values in motion.curves.items():
        if name.startswith(CONTACT):
            prop = name.replace("/", " ").replace("_", " ")
            steps = np.concatenate([[True], np.diff(values) != 0])
            steps[-1] = True
            at, planted = frames[steps], np.clip(values[steps], 0.0, 1.0)
            out[prop] = Channel(_path(prop), planted[:, None], "Contacts", "CONSTANT", at)
    return out


def ensure(ob: bpy.types.Object, names: Iterable[str]) -> None:
    """Give the object the contact properties that it lacks."""
    for name in names:
        if name not in ob:
            ob[name] = 0.0
            limits = {"min": 0.0, "max": 1.0, "soft_min": 0.0, "soft_max": 1.0}
            about = ABOUT.format(part=name.removeprefix("contact "))
            ob.id_properties_ui(name).update(description=about, default=0.0, **limits)


def drop_unused(ob: bpy.types.Object, actions: Iterable[bpy.types.Action]) -> None:
    """Take away the contact properties made here that none of the actions moves."""
    moved = {path for action in actions for path in curves.paths(ob, action)}
    for name in [n for n in ob.keys() if n.startswith("contact ")]:  # noqa: SIM118
        ours = isinstance(ob[name], float) and ob.id_properties_ui(name).as_dict().get("description") == ABOUT.format(
            part=name.removeprefix("contact ")
        )
        if ours and _path(name) not in moved:
            del ob[name]


def _path(name: str) -> str:
    return f'["{bpy.utils.escape_identifier(name)}"]'
