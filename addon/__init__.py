"""The Blender side of Troupe: the registry of features, and nothing else."""

FEATURES: dict[str, tuple[str, ...]] = {
    "Cast": ("mannequin", "cast", "regenerate"),
    "Move": ("retarget",),
}
"""Family to feature names, in panel order. A feature is one file each in features, demos and docs."""


def register() -> None:
    """Register settings, then every feature's operators and panels."""
    from . import features, settings

    settings.register()
    features.register()


def unregister() -> None:
    """Undo `register` in reverse."""
    from . import features, settings

    features.unregister()
    settings.unregister()
