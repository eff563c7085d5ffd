"""Forward kinematics and limb IK of whole takes against a plain loop over joints and over frames."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from troupe.core import Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import base, fk, limb_ik
from troupe.core.maths import quat
from troupe.core.motion import Motion

FRAMES, JOINTS = 1000, 60


def sixty_joints() -> Skeleton:
    """The mannequin with enough twist bones to make sixty joints."""
    plain = mannequin(1.75)
    more = JOINTS - len(plain)
    limbs = [
        plain.joint(f"{part}_{side}") for part in ("thigh", "shin", "upper_arm", "forearm", "clavicle") for side in "LR"
    ]
    return replace(
        plain,
        names=(*plain.names, *(f"twist.{k}" for k in range(more))),
        parents=np.concatenate([plain.parents, limbs[:more]]),
        offsets=np.concatenate([plain.offsets, np.full((more, 3), 0.05)]),
        tips=np.concatenate([plain.tips, np.full((more, 3), 0.05)]),
        limits=np.concatenate([plain.limits, plain.limits[:more]]),
    )


FIGURE = sixty_joints()
RNG = np.random.default_rng(0)
ROTATIONS = quat.exp(0.3 * RNG.normal(size=(FRAMES, JOINTS, 3)))
ROOTS = RNG.normal(size=(FRAMES, 3))


def best(call: Callable[[], object], repeat: int = 30) -> float:
    """Shortest time of several calls [s]: of this process alone, for the limits below are absolute."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def joint_by_joint(rotations: np.ndarray, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    positions, globals_ = np.empty((*rotations.shape[:-1], 3)), np.empty_like(rotations)
    positions[:, 0], globals_[:, 0] = roots, rotations[:, 0]
    for j, parent in list(enumerate(FIGURE.parents))[1:]:
        globals_[:, j] = quat.multiply(globals_[:, parent], rotations[:, j])
        positions[:, j] = positions[:, parent] + quat.rotate(globals_[:, parent], FIGURE.offsets[j])
    return positions, globals_


def test_forward_kinematics_of_1000_frames_and_60_joints_takes_less_than_15_ms() -> None:
    took = best(lambda: fk.forward(FIGURE, ROTATIONS, ROOTS))
    print(f"FK of {FRAMES} frames x {JOINTS} joints: {1e3 * took:.1f} ms")
    assert took < 15e-3


def test_forward_kinematics_is_ahead_of_a_loop_over_joints(ratio: Callable[..., float]) -> None:
    for ours, theirs in zip(fk.forward(FIGURE, ROTATIONS, ROOTS), joint_by_joint(ROTATIONS, ROOTS), strict=True):
        assert np.allclose(ours, theirs)
    for frames, at_least in ((FRAMES, 1.0), (1, 1.2)):
        turns, roots = ROTATIONS[:frames], ROOTS[:frames]
        ratio(
            f"FK of {frames} frames x {JOINTS} joints, loop over joints",
            lambda turns=turns, roots=roots: fk.forward(FIGURE, turns, roots),
            lambda turns=turns, roots=roots: joint_by_joint(turns, roots),
            at_least=at_least,
            repeat=15,
        )


def elbow(root: list[float], goal: list[float], upper: float, lower: float, pole: list[float]) -> list[float]:
    """One frame in plain Python, middle joint alone: what a script does."""
    line = [g - r for g, r in zip(goal, root, strict=True)]
    far = math.sqrt(sum(x * x for x in line))
    near = min(max(far, abs(upper - lower)), upper + lower)
    along = [x / far for x in line]
    lean = sum(p * a for p, a in zip(pole, along, strict=True))
    out = [p - lean * a for p, a in zip(pole, along, strict=True)]
    length = math.sqrt(sum(x * x for x in out))
    cosine = (upper * upper + near * near - lower * lower) / (2 * upper * near)
    sine = math.sqrt(max(0.0, 1 - cosine * cosine))
    return [r + upper * (cosine * a + sine * o / length) for r, a, o in zip(root, along, out, strict=True)]


def test_two_bone_limbs_are_ahead_of_a_loop_over_frames(ratio: Callable[..., float]) -> None:
    root, pole = RNG.normal(size=(2, FRAMES, 3))
    goal = root + quat.unit(RNG.normal(size=(FRAMES, 3))) * RNG.uniform(0.1, 0.5, (FRAMES, 1))
    roots, goals, poles = root.tolist(), goal.tolist(), pole.tolist()

    def peer() -> list[list[float]]:
        return [elbow(r, g, 0.3, 0.26, p) for r, g, p in zip(roots, goals, poles, strict=True)]

    assert np.allclose(limb_ik.two_bone(root, goal, 0.3, 0.26, pole)[0], peer())
    ratio(
        "limb IK of 1000 frames, plain Python",
        lambda: limb_ik.two_bone(root, goal, 0.3, 0.26, pole),
        peer,
        at_least=5.0,
        repeat=15,
    )


def test_placing_a_limb_takes_about_a_microsecond_a_frame() -> None:
    positions, globals_ = fk.forward(FIGURE, ROTATIONS, ROOTS)
    goals = positions[:, FIGURE.joint("foot_L")] + 0.02
    limb = limb_ik.LIMBS["foot_L"]
    took = best(lambda: limb_ik.place_limb(FIGURE, globals_, positions, limb, goals), repeat=60) / FRAMES
    print(f"placing a limb: {1e6 * took:.2f} us a frame")
    assert took < 1.5e-6  # 0.9 on an idle machine; a busy one shares its caches


def test_deriving_the_base_of_1000_frames_takes_less_than_30_ms() -> None:
    motion = Motion(FIGURE, 30.0, ROOTS, ROTATIONS)
    took = best(lambda: base.derive(motion), repeat=10)
    print(f"base of {FRAMES} frames: {1e3 * took:.1f} ms")
    assert took < 30e-3
