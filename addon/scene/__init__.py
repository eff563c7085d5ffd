"""The scene as core sees it: rates and units, who is selected, the world around, ways to go, keyed values."""

from .channels import is_keyed, keyed
from .placement import demand_place, mirror_of
from .rates import fps, metre
from .routes import natural, read_route
from .selection import armature_of, selected_armatures
from .tracks import read_guests_steps, read_tracks_steps
from .world import read_world, read_world_steps

__all__ = [
    "armature_of",
    "demand_place",
    "fps",
    "is_keyed",
    "keyed",
    "metre",
    "mirror_of",
    "natural",
    "read_guests_steps",
    "read_route",
    "read_tracks_steps",
    "read_world",
    "read_world_steps",
    "selected_armatures",
]
