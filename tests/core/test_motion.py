"""A motion is checked when it is built and keeps its time."""

import numpy as np
import pytest
from troupe.core import Body, Event, InvalidMotion, Motion, Path, Skeleton, TroupeError, World

SKELETON = Skeleton(("hips", "spine"), [-1, 0], np.zeros((2, 3)), np.zeros((2, 3)), {"hips": (0,)}, np.zeros((2, 3, 2)))


def build(frames=4, **changes):
    fields = {"fps": 24.0, "roots": np.zeros((frames, 3)), "rotations": np.tile([1.0, 0, 0, 0], (frames, 2, 1))}
    return Motion(SKELETON, **{**fields, **changes})


def test_time_runs_from_the_first_sample():
    assert build(25).duration == 1.0
    assert build(24, loop=True).duration == 1.0
    assert build(3).times.tolist() == [0.0, 1 / 24, 2 / 24]


def test_events_come_in_order_of_time():
    motion = build(events=(Event(0.1, "b"), Event(0.0, "a")))
    assert [e.name for e in motion.events] == ["a", "b"]


def test_arrays_are_copies_that_cannot_be_written():
    roots = np.zeros((4, 3))
    motion = build(roots=roots)
    roots[0] = 5.0
    assert motion.roots[0, 0] == 0.0
    with pytest.raises(ValueError):
        motion.roots[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fps": 0.0}, "fps"),
        ({"fps": float("nan")}, "fps"),
        ({"rotations": np.zeros((0, 2, 4))}, "at least one sample"),
        ({"rotations": np.zeros((4, 2, 4))}, "spine|hips"),
        ({"rotations": np.tile([1.0, 0, 0, 0], (4, 3, 1))}, "rotations has shape"),
        ({"roots": np.full((4, 3), np.inf)}, "roots contains NaN"),
        ({"base": np.zeros((3, 3))}, "base has shape"),
        ({"mask": [True]}, "mask has shape"),
        ({"curves": {"contact/foot_L": np.zeros(3)}}, "curve contact/foot_L"),
    ],
)
def test_broken_motions_are_refused(changes, words):
    with pytest.raises(InvalidMotion, match=words):
        build(**changes)


def test_a_path_names_its_axes_and_its_times_do_not_decrease():
    assert Path([[0, 0], [1, 1]], ("x", "y"), [0, 1]).points.shape == (2, 2)
    with pytest.raises(InvalidMotion, match="points has shape"):
        Path([[0, 0, 0]], ("x", "y"))
    with pytest.raises(InvalidMotion, match="must not decrease"):
        Path([[0.0], [1.0]], ("x",), [1.0, 0.0])


def test_bodies_are_checked():
    box = {"vertices": np.zeros((3, 3)), "matrices": np.eye(4)[None]}
    assert Body("a", 1, triangles=[[0, 1, 2]], **box).kind == "obstacle"
    with pytest.raises(TroupeError, match="does not exist"):
        Body("a", 1, triangles=[[0, 1, 3]], **box)
    with pytest.raises(TroupeError, match="ground, obstacle"):
        Body("a", 1, triangles=[[0, 1, 2]], kind="cloud", **box)
    with pytest.raises(TroupeError, match="repeat"):
        World((Body("a", 1, triangles=[], **box), Body("a", 2, triangles=[], **box)))
