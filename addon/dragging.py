"""Strips of results that are dragged in the NLA editor take the props with them that they move."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent


@persistent
def _updated(_scene: Any, depsgraph: bpy.types.Depsgraph) -> None:
    from .features import handling  # the features build on everything else

    for update in depsgraph.updates:
        ob = update.id.original
        if isinstance(ob, bpy.types.Object) and ob.type == "ARMATURE" and ob.troupe.is_cast:
            handling.realign(ob)


def register() -> None:
    """Watch for strips that are dragged."""
    bpy.app.handlers.depsgraph_update_post.append(_updated)


def unregister() -> None:
    """Undo `register`."""
    bpy.app.handlers.depsgraph_update_post.remove(_updated)
