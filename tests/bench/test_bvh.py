"""Reading motion files against the package `bvh` of PyPI."""

import numpy as np
import pytest
from troupe.core.formats import bvh

peer = pytest.importorskip("bvh", reason="the peer package bvh is not installed")


def text():
    """A clip of 30 joints and 1,000 frames."""
    rng = np.random.default_rng(0)
    turns = ("Zrotation", "Xrotation", "Yrotation")
    channels = (bvh.POSITIONS + turns, *[turns] * 29)
    values = np.round(np.cumsum(rng.normal(size=(1000, 93)), axis=0), 4)
    names = tuple(f"joint{j}" for j in range(30))
    return bvh.format(bvh.Bvh(names, np.arange(30) - 1, rng.normal(size=(30, 3)), {}, channels, 1 / 120, values))


def test_a_clip_is_read_five_times_faster_than_by_the_peer(ratio):
    clip = text()

    def theirs():
        return np.array(peer.Bvh(clip).frames, dtype=np.float64)

    assert np.array_equal(theirs(), bvh.parse(clip).values)
    ratio("BVH text to words (peer) or numbers (ours)", lambda: bvh.parse(clip), lambda: peer.Bvh(clip))
    ratio("BVH text to numbers, 1,000 frames", lambda: bvh.parse(clip), theirs, at_least=5.0)
