"""The same input makes the same motion, bit for bit, wherever its arrays come to lie and in whatever process."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from repeat import elsewhere, repeats
from troupe.core.figure import stroll
from troupe.core.figure.mannequin import mannequin
from troupe.core.filters.bands import BandParams, bands
from troupe.core.filters.blend import blend
from troupe.core.gait.run import RunParams, run
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.maths import trig

BODY = mannequin(1.75)
MAKERS = {
    "walk": lambda: walk(BODY, WalkParams(distance=2.0)),
    "run": lambda: run(BODY, RunParams(distance=4.0)),
    "bands": lambda: bands(stroll.walk(BODY, 2), BandParams(gains=(1.0, 1.0, *[1.7] * 3, 1.0, 1.0, 1.0))),
    "blend": lambda: blend((stroll.walk(BODY, 2, 1.2), stroll.walk(BODY, 2, 1.0)), (0.5, 0.5)),
}


def digest(name):
    made = MAKERS[name]()
    return hashlib.sha256(made.roots.tobytes() + made.rotations.tobytes()).hexdigest()


@pytest.mark.parametrize("name", MAKERS)
def test_it_does_not_matter_where_arrays_lie(name):
    first, *others = elsewhere(MAKERS[name])
    for other in others:
        repeats(first, other)


def test_another_process_makes_the_same():
    here = Path(__file__)
    code = f"import test_same_bits as t; print(*map(t.digest, {list(MAKERS)!r}))"
    paths = [str(here.parent), str(here.parents[1]), *sys.path]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    there = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert there.stdout.split() == [digest(name) for name in MAKERS]


def test_angles_of_columns_are_those_of_rows():
    columns = np.random.default_rng(0).normal(size=(200, 4))
    x, y = columns[:, 1], columns[:, 2]
    np.testing.assert_array_equal(trig.sin(x), np.sin(x.copy()))
    np.testing.assert_array_equal(trig.cos(x), np.cos(x.copy()))
    np.testing.assert_array_equal(trig.arctan2(y, x), np.arctan2(y.copy(), x.copy()))
    assert trig.sin(0.5) == np.sin(0.5)
    assert trig.arctan2(1.0, 1.0) == pytest.approx(np.pi / 4)
