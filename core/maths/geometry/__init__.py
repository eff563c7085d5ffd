"""Questions to a `World` (height of the ground, rays, nearest surface) and closed forms on simple figures."""

from .shapes import (
    capsule_distance,
    inside_polygon,
    plane_fit,
    point_segment,
    point_triangle,
    polygon_area,
    ray_triangle,
    segment_segment,
)
from .surface import Surface, height, index, nearest, ray
from .winding import Seen, inside, seen

__all__ = [
    "Seen",
    "Surface",
    "capsule_distance",
    "height",
    "index",
    "inside",
    "inside_polygon",
    "nearest",
    "plane_fit",
    "point_segment",
    "point_triangle",
    "polygon_area",
    "ray",
    "ray_triangle",
    "seen",
    "segment_segment",
]
