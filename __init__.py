"""Troupe: direct characters instead of keying them."""

try:
    import bpy as _bpy
except ImportError:
    _bpy = None

if _bpy is not None:
    from .addon import register, unregister  # noqa: F401
