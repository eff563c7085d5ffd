"""One file a feature: its operators and its panel, on the shared base."""

from __future__ import annotations

import importlib
from types import ModuleType

import bpy

from .. import FEATURES
from .base import FeatureOperator
from .panels import family_panels, feature_panel

_registered: list[type] = []


def modules() -> list[ModuleType]:
    """The feature modules in the order of the registry."""
    return [importlib.import_module(f".{name}", __package__) for names in FEATURES.values() for name in names]


def operators() -> list[type[FeatureOperator]]:
    """The main operator of every feature."""
    return [module.Operator for module in modules()]


def steps_of(module: ModuleType) -> list[type[FeatureOperator]]:
    """The operators of a feature that a job and the command line can run: the main one first."""
    return [module.Operator, *(c for c in getattr(module, "CLASSES", ()) if issubclass(c, FeatureOperator))]


def all_steps() -> dict[str, type[FeatureOperator]]:
    """Every such operator by its name, in the order of the registry."""
    return {cls.feature(): cls for module in modules() for cls in steps_of(module)}


def register() -> None:
    """Register operators, family panels and feature panels in panel order."""
    classes: list[type] = list(family_panels())
    for module in modules():
        classes += [module.Operator, *getattr(module, "CLASSES", ()), feature_panel(module)]
    for cls in classes:
        bpy.utils.register_class(cls)
        _registered.append(cls)
    from .. import draw

    draw.register()


def unregister() -> None:
    """Undo `register` in reverse."""
    from .. import draw

    draw.unregister()
    for cls in reversed(_registered):
        bpy.utils.unregister_class(cls)
    _registered.clear()
