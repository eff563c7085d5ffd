"""Quaternion interpolation against scipy's rotations and Blender's own quaternions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from troupe.core.maths import quat

RNG = np.random.default_rng(0)
A, B = quat.unit(RNG.normal(size=(2, 10000, 4)))
T = RNG.uniform(size=10000)


def test_slerp_of_10000_pairs_is_ahead_of_scipy(ratio: Callable[..., float]) -> None:
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation

    def peer() -> np.ndarray:
        a, b = rotation.from_quat(A), rotation.from_quat(B)
        return (a * rotation.from_rotvec(T[:, None] * (a.inv() * b).as_rotvec())).as_quat()

    # scipy counts xyzw; the algebra does not mind as long as both ends are read the same way
    assert np.abs(np.abs(quat.dot(peer(), np.roll(quat.slerp(*np.roll((A, B), 1, -1), T), -1, -1))) - 1).max() < 1e-12
    ratio("slerp of 10000 pairs, scipy", lambda: quat.slerp(A, B, T), peer, at_least=10.0, repeat=15)


def test_slerp_of_10000_pairs_is_ahead_of_mathutils(ratio: Callable[..., float]) -> None:
    # mathutils is a part of bpy: it can be imported only after it
    pytest.importorskip("bpy")
    mathutils = pytest.importorskip("mathutils")
    a, b, t = [mathutils.Quaternion(q) for q in A], [mathutils.Quaternion(q) for q in B], T.tolist()

    def peer() -> list[object]:
        return [p.slerp(q, x) for p, q, x in zip(a, b, t, strict=True)]

    assert np.abs(np.abs(quat.dot(np.array(peer()), quat.slerp(A, B, T))) - 1).max() < 1e-6
    ratio("slerp of 10000 pairs, mathutils", lambda: quat.slerp(A, B, T), peer, at_least=4.0, repeat=25)


def test_matrices_of_10000_rotations_are_not_behind_scipy(ratio: Callable[..., float]) -> None:
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    m = quat.to_matrix(quat.about(quat.unit(A[:, 1:]), 2.0 * T))
    ratio("quaternions from matrices, scipy", lambda: quat.from_matrix(m), lambda: rotation.from_matrix(m).as_quat())
