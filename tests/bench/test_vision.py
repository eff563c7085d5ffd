"""Pictures from an actor's eyes against a ray cast pixel by pixel through the same world."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.maths import geometry
from troupe.core.planning.senses.awareness import Awareness, Explorer
from troupe.core.planning.senses.eyes import eye_at, eye_of
from troupe.core.planning.senses.memory import Memory, MemoryParams, update
from troupe.core.planning.senses.patches import split
from troupe.core.planning.senses.scenery import scenery
from troupe.core.planning.senses.vision import VisionParams, see
from troupe.core.planning.walkers.scenes import box, floor, maze
from troupe.core.skeleton import Pose
from troupe.core.world import World


def clutter(count: int) -> World:
    """A floor with boxes all over it."""
    rng = np.random.default_rng(0)
    bodies = [floor(-20, -20, 20, 20)]
    for k in range(1, count + 1):
        low = rng.uniform(-15, 15, 2)
        bodies.append(box(f"box {k}", k, (*low, 0), (*(low + rng.uniform(0.1, 1.5, 2)), rng.uniform(0.1, 1.5))))
    return World(tuple(bodies))


SCENES = {
    "10k triangles, boxes": (clutter(833), eye_at(np.array([0, 14.0, 1.6]), 0.0)),
    "maze of 14 x 14": (split(maze(14).world, 1.5), eye_at(np.array([20.25, 0.75, 1.6]), np.pi)),
}


def best(call: Callable[[], object], repeat: int = 15) -> float:
    """Shortest time of several calls [s]: of this process alone, for the limits below are absolute."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", SCENES)
def test_a_picture_of_200_by_200_is_ahead_of_a_ray_a_pixel(ratio: Callable[..., float], name: str) -> None:
    world, eye = SCENES[name]
    params = VisionParams()
    lens, shapes, surface = params.lens(), scenery(world), geometry.index(world)
    across, up = np.meshgrid(lens.columns, lens.rows)
    left, back, above = eye[:3, :3].T
    rays = (-left * across[..., None] - back + above * up[..., None]).reshape(-1, 3)
    origins = eye[:3, 3] + lens.near * rays

    def cast() -> np.ndarray:
        return geometry.ray(surface, origins, rays, reach=lens.range)[2]

    far = geometry.ray(surface, origins, rays, reach=lens.range)[0] / lens.stretch().ravel() + lens.near
    # by depth: walls of the maze overlap at its corners, where two bodies are equally near
    assert np.isclose(see(shapes, eye, params).depth.ravel(), far).mean() > 0.9999
    ratio(f"picture of {name}, ray a pixel", lambda: see(shapes, eye, params), cast, at_least=5.0)


@pytest.mark.parametrize("name", SCENES)
def test_a_picture_takes_less_than_50_ms(name: str) -> None:
    world, eye = SCENES[name]
    shapes = scenery(world)
    memory = Memory()
    for heading in np.arange(8) * np.pi / 4:
        memory, _ = update(memory, shapes, see(shapes, eye_at(eye[:3, 3] + [0, 0, 4.0], heading, -0.3)))
    sight = see(shapes, eye)
    stale = len(memory.observations) - len(set(memory.observations) & set(sight.seen))
    assert stale > 100
    for pixels in (64, 100, 200):
        params = VisionParams(pixels=pixels)
        took = best(lambda params=params: see(shapes, eye, params))
        print(f"{name}, {len(shapes.triangles)} triangles, {pixels} px: {1e3 * took:.1f} ms, {1 / took:.0f} pictures/s")
        assert took < 50e-3
    for method in ("depth", "two_renders"):
        params = MemoryParams(vanished=method)
        took = best(lambda params=params: update(memory, shapes, sight, params))
        print(f"{name}, memory of {len(memory.observations)}, {stale} not in view, {method}: {1e3 * took:.1f} ms")
        assert took < 50e-3


def test_three_actors_with_eyes_of_their_own_see_in_real_time() -> None:
    """Each looks at every frame, from its eye bones, with a memory of what it has seen."""
    world, _ = SCENES["maze of 14 x 14"]
    shapes, figure, explorer = scenery(world), mannequin(1.75), Explorer()
    pose = Pose(np.tile([1.0, 0, 0, 0], (len(figure), 1)), figure.offsets[0] + [9.75, 9.75, 0])
    aware = [Awareness()] * 3

    def frame() -> None:
        for k in range(3):
            aware[k] = explorer.sense(aware[k], shapes, eye_of(figure, pose), 0, 0.0)

    frame()
    took = best(frame, 5)
    print(f"three actors see, remember: {1e3 * took:.1f} ms a frame, {1 / took:.0f} frames/s")
    assert took < 150e-3
