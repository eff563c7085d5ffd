"""The Blender side of Troupe: the registry of features and the parts that are registered with it."""

import importlib
from types import ModuleType

FEATURES: dict[str, tuple[str, ...]] = {
    "Cast": ("mannequin", "cast", "regenerate", "doctor"),
    "Move": ("walk", "run", "travel", "treadmill", "retarget"),
    "Edit": ("cleanup", "bands", "waveshape", "displace", "emotion", "timewarp", "blend", "spectrum"),
    "Go": (
        "goto",
        "follow",
        "pursue",
        "evade",
        "wander",
        "patrol",
        "tag",
        "hide",
        "search",
        "queue",
        "explore",
        "together",
    ),
    "Hands": ("look", "reach", "carry", "tidy", "serve", "grasp", "plan"),
    "Act": ("act", "play"),
}
"""Family to feature names, in panel order. A feature is one file each in features, demos and docs."""

PARTS = ("settings", "stage", "features", "live", "ghost", "dragging", "presets", "job")
"""Modules with `register` and `unregister`, in this order."""


def _parts() -> list[ModuleType]:
    return [importlib.import_module(f".{name}", __package__) for name in PARTS]


def register() -> None:
    """Register every part."""
    for part in _parts():
        part.register()


def unregister() -> None:
    """Undo `register` in reverse."""
    for part in reversed(_parts()):
        part.unregister()
