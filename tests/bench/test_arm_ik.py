"""Natural arms of whole takes against the clock and against Blender's IK constraint."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from troupe.core.figure.mannequin import mannequin
from troupe.core.kinematics import fk, limb_ik
from troupe.core.kinematics.arm_ik import solve_arms
from troupe.core.maths import quat

FRAMES = 1000
FIGURE = mannequin(1.75)
STILL = np.tile(quat.IDENTITY, (FRAMES, len(FIGURE), 1))
POSITIONS, GLOBALS = fk.forward(FIGURE, STILL, np.tile(FIGURE.offsets[0], (FRAMES, 1)))


def hand_paths() -> tuple[np.ndarray, np.ndarray]:
    """Places (T, 2, 3) and rotations (T, 2, 4) of two hands that move in front of the body, within all limits."""
    t = np.linspace(0, 6, FRAMES)[:, None]
    out = []
    for side in "LR":
        shoulder = POSITIONS[:, FIGURE.joint(f"upper_arm_{side}")]
        out.append(shoulder + (0.0, -0.33, -0.15) + 0.08 * np.sin(t * (0.9, 1.1, 0.7)))
    places = np.stack(out, axis=1)
    # the hands as they are at the ends of relaxed arms
    relaxed = solve_arms(FIGURE, POSITIONS, GLOBALS, places).onto(STILL)
    return places, fk.global_rotations(FIGURE, relaxed)[:, [FIGURE.joint(f"hand_{s}") for s in "LR"]]


def test_an_arm_takes_about_a_microsecond_a_frame() -> None:
    places, turns = hand_paths()
    assert solve_arms(FIGURE, POSITIONS, GLOBALS, places, turns).good.all()
    took = []
    for _ in range(60):
        start = time.process_time()
        solve_arms(FIGURE, POSITIONS, GLOBALS, places, turns)
        took.append(time.process_time() - start)
    each = min(took) / (2 * FRAMES)
    print(f"an arm with its limits: {1e6 * each:.2f} us a frame")
    assert each < 1.0e-6


@pytest.mark.req("badler", 80)
def test_ten_people_with_six_goals_each_are_solved_thirty_times_a_second() -> None:
    goals = hand_paths()[0][:10]
    body = fk.forward(FIGURE, STILL[:10], np.tile(FIGURE.offsets[0], (10, 1)))
    positions, turned = body
    target = np.array([0.3, -2.0, 1.5])

    def frame() -> None:
        """Hips, head, two hands and two feet of each."""
        found = solve_arms(FIGURE, positions, turned, goals)
        globals_ = fk.global_rotations(FIGURE, found.onto(STILL[:10]))
        for limb in (f"foot_{side}" for side in "LR"):
            feet = positions[:, FIGURE.joint(limb)] + (0.0, -0.05, 0.08)
            globals_ = limb_ik.place_limb(FIGURE, globals_, positions, limb_ik.LIMBS[limb], feet)
        ahead = quat.unit(target - positions[:, FIGURE.joint("head")])
        globals_[:, FIGURE.joint("head")] = quat.between(np.array([0.0, -1.0, 0.0]), ahead)

    frame()
    took = []
    for _ in range(20):
        start = time.process_time()
        frame()
        took.append(time.process_time() - start)
    print(f"ten people with hands, feet, head and hips: {1 / min(took):.0f} frames a second")
    assert min(took) < 1 / 30


def test_arms_are_50_times_faster_than_an_ik_constraint(ratio: Callable[..., float]) -> None:
    bpy: Any = pytest.importorskip("bpy")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    armature = bpy.data.armatures.new("arm")
    ob = bpy.data.objects.new("arm", armature)
    target, pole = (bpy.data.objects.new(name, None) for name in ("target", "pole"))
    for thing in (ob, target, pole):
        scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = (armature.edit_bones.new(name) for name in ("upper", "lower"))
    upper.head, upper.tail = (0.0, 0.0, 0.0), (0.3, -0.01, 0.0)
    lower.parent, lower.use_connect, lower.tail = upper, True, (0.57, 0.0, 0.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    pole.location = (0.3, -1.0, 0.0)
    solver = ob.pose.bones["lower"].constraints.new("IK")
    solver.target, solver.pole_target, solver.chain_count = target, pole, 2
    places, turns = hand_paths()
    few = 100
    goals = (places[:few, 0] - POSITIONS[:few, FIGURE.joint("upper_arm_L")]).tolist()

    def peer() -> None:
        for goal in goals:
            target.location = goal
            bpy.context.view_layer.update()
            for bone in ("upper", "lower"):
                ob.pose.bones[bone].matrix.copy()

    # both arms of 1000 frames against one arm of 100
    share = few / (2 * FRAMES)
    ratio(
        "natural arms x 2000, IK constraint x 100",
        lambda: solve_arms(FIGURE, POSITIONS, GLOBALS, places, turns),
        peer,
        at_least=50 * share,
        repeat=15,
    )
