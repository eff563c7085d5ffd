"""The place on the ground: travel and turns are kept, the sway of the single step is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from troupe.core import Motion, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.formats import bvh
from troupe.core.kinematics import anatomy, base, fk
from troupe.core.maths import quat

FIGURE = mannequin(1.75)
X, Y, Z = np.eye(3)


def gait(
    frames: int = 150,
    fps: float = 30.0,
    speed: float = 1.4,
    stride: float = 1.1,
    turning: float = 0.0,
    phase: float = 0.0,
    sway: float = 0.03,
    yaw: float = np.radians(8.0),
    surge: float = 0.02,
    legs: float = 0.4,
    heading: float = 0.3,
    loop: bool = False,
) -> tuple[Motion, np.ndarray]:
    """A walk whose base is known: hips sway with the stride, surge with the step, and turn against the shoulders."""
    t = np.arange(frames) / fps
    p = 2 * np.pi * t / stride + phase
    h = heading + turning * t
    if turning:
        place = speed / turning * np.column_stack([np.cos(heading) - np.cos(h), np.sin(heading) - np.sin(h)])
    else:
        place = speed * t[:, None] * np.array([np.sin(heading), -np.cos(heading)])
    known = np.column_stack([place, h])
    left, forward = np.column_stack([np.cos(h), np.sin(h)]), np.column_stack([np.sin(h), -np.cos(h)])
    ground = place + sway * np.sin(p)[:, None] * left + surge * np.sin(2 * p + 0.5)[:, None] * forward
    none = np.zeros(frames)
    rotations = anatomy.with_angles(
        FIGURE,
        np.tile(quat.IDENTITY, (frames, len(FIGURE), 1)),
        {
            "spine": np.column_stack([none, none, -1.5 * yaw * np.cos(p)]),
            **{f"thigh_{s}": np.column_stack([k * legs * np.cos(p), none, none]) for s, k in (("L", 1), ("R", -1))},
            **{
                f"shin_{s}": np.column_stack([legs * (1 + k * np.sin(p)), none, none]) for s, k in (("L", 1), ("R", -1))
            },
        },
    )
    rotations[:, 0] = quat.about(Z, h + yaw * np.cos(p))
    roots = np.column_stack([ground, 0.93 + 0.02 * np.cos(2 * p)])
    return Motion(FIGURE, fps, roots, quat.continuous(rotations), loop=loop), known


def posed(hips: np.ndarray, roots: np.ndarray | None = None, fps: float = 30.0, loop: bool = False) -> Motion:
    """A stiff figure whose hips turn as told."""
    rotations = np.tile(quat.IDENTITY, (len(hips), len(FIGURE), 1))
    rotations[:, 0] = hips
    places = np.tile(FIGURE.offsets[0], (len(hips), 1)) if roots is None else roots
    return Motion(FIGURE, fps, places, quat.continuous(rotations), loop=loop)


def misses(motion: Motion, known: np.ndarray) -> tuple[float, float]:
    """Largest distance [m] and largest angle [rad] between the derived base and the known one."""
    error = base.derive(motion) - known
    return float(np.linalg.norm(error[:, :2], axis=1).max()), float(np.abs(error[:, 2]).max())


# --- walks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [0.0, 0.8, 1.6, 3.1, 4.7])
def test_a_straight_walk_has_a_straight_base_to_its_very_ends(phase: float) -> None:
    place, angle = misses(*gait(phase=phase))
    assert place < 0.005 and angle < np.radians(1)


@pytest.mark.parametrize(
    ("fps", "frames", "stride", "speed"),
    [(24.0, 100, 1.1, 1.4), (120.0, 700, 1.3, 1.0), (23.976, 120, 0.7, 3.5), (30.0, 240, 1.8, 0.6)],
)
def test_the_average_follows_the_step_rate(fps: float, frames: int, stride: float, speed: float) -> None:
    place, angle = misses(*gait(frames, fps, speed, stride))
    assert place < 0.005 and angle < np.radians(1)


def test_a_walk_that_gets_faster_keeps_a_straight_base() -> None:
    slow, known = gait(300, sway=0.0, surge=0.0, yaw=0.0, heading=0.0)
    t = slow.times
    p = 2 * np.pi * (t / 1.3 + 0.02 * t**2)
    none = np.zeros(len(t))
    rotations = anatomy.with_angles(
        FIGURE,
        slow.rotations,
        {
            "thigh_L": np.column_stack([0.4 * np.cos(p), none, none]),
            "thigh_R": np.column_stack([-0.4 * np.cos(p), none, none]),
        },
    )
    roots = slow.roots + 0.03 * np.sin(p)[:, None] * X
    derived = base.derive(Motion(FIGURE, 30.0, roots, rotations))
    assert np.abs(derived[:, 0] - known[:, 0]).max() < 0.01


def test_steps_are_found_in_the_hips_when_the_legs_do_not_tell() -> None:
    for still in ({"legs": 0.0}, {"legs": 0.0, "yaw": 0.0}, {"legs": 0.0, "sway": 0.0}):
        place, angle = misses(*gait(**still))
        assert place < 0.005 and angle < np.radians(1), still


def test_a_skeleton_without_feet_has_a_base_too() -> None:
    motion, known = gait()
    bare = Skeleton(("hips",), np.array([-1]), np.array([Z]), np.array([Z]), {}, np.zeros((1, 3, 2)))
    derived = base.derive(Motion(bare, 30.0, motion.roots, motion.rotations[:, :1]))
    assert np.linalg.norm(derived[:, :2] - known[:, :2], axis=1).max() < 0.005


@pytest.mark.parametrize(("turning", "speed", "allowed"), [(0.5, 1.4, 0.005), (-0.5, 1.4, 0.005), (1.5, 1.0, 0.015)])
def test_a_walk_around_a_circle_stays_on_it(turning: float, speed: float, allowed: float) -> None:
    place, angle = misses(*gait(300, turning=turning, speed=speed))
    assert place < allowed and angle < np.radians(1)


def test_marching_in_place_stays_in_place() -> None:
    place, angle = misses(*gait(speed=0.0))
    assert place < 0.005 and angle < np.radians(1)


def test_a_walk_to_a_stand_ends_where_the_hips_stand() -> None:
    walk, known = gait(90)
    stand = 60
    roots = np.concatenate([walk.roots, np.repeat(walk.roots[-1:], stand, axis=0)])
    rotations = np.concatenate([walk.rotations, np.repeat(walk.rotations[-1:], stand, axis=0)])
    derived = base.derive(Motion(FIGURE, 30.0, roots, rotations))
    assert np.allclose(derived[-1, :2], roots[-1, :2], atol=1e-6)
    assert np.linalg.norm(derived[0] - known[0]) < 0.005


@pytest.mark.parametrize("still", [8, 12])
def test_a_clip_that_ends_as_the_walker_halts_does_not_walk_on(still: int) -> None:
    walk, _ = gait(100, sway=0.0, surge=0.0, yaw=0.0)
    roots = walk.roots.copy()
    roots[-still:] = roots[-still]
    derived = base.derive(Motion(FIGURE, 30.0, roots, walk.rotations))
    assert np.linalg.norm(derived[-1, :2] - roots[-1, :2]) < 0.01


def test_a_loop_that_closes_stays_in_place_however_coarse() -> None:
    place, angle = misses(*gait(6, fps=6.0, stride=1.0, speed=0.0, sway=0.1, yaw=0.3, loop=True))
    assert place < 0.02 and angle < np.radians(1)


@pytest.mark.parametrize("strides", [1, 2, 5])
@pytest.mark.parametrize("speed", [0.0, 1.4])
def test_a_looping_walk_has_an_even_base_across_its_seam(strides: int, speed: float) -> None:
    place, angle = misses(*gait(33 * strides, speed=speed, loop=True))
    assert place < 0.005 and angle < np.radians(1)


def test_a_loop_that_turns_once_around_keeps_turning_across_its_seam() -> None:
    turns = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    derived = base.derive(posed(quat.about(Z, turns), loop=True))
    assert np.abs(derived[:, 2] - turns).max() < 1e-6


def test_a_clip_of_one_stride_is_enough_for_a_straight_base() -> None:
    place, angle = misses(*gait(34))
    assert place < 0.005 and angle < np.radians(1)


@pytest.mark.parametrize("frames", [1, 2, 3, 5, 12, 25])
def test_a_short_clip_has_a_base_near_its_hips(frames: int) -> None:
    motion, known = gait(frames)
    derived = base.derive(motion)
    assert derived.shape == (frames, 3) and np.isfinite(derived).all()
    assert np.linalg.norm(derived - known, axis=1).max() < 0.16


def test_the_base_is_smooth() -> None:
    motion, _ = gait(600, fps=120.0, turning=0.3)
    velocity = np.diff(base.derive(motion), axis=0) * 120
    raw = np.diff(motion.roots[:, :2], axis=0) * 120
    assert np.abs(np.diff(velocity[:, :2], axis=0)).max() < 0.2 * np.abs(np.diff(raw, axis=0)).max()


# --- other motions ----------------------------------------------------------------------------------------------------


def test_standing_still_is_standing_still() -> None:
    place, angle = misses(*gait(speed=0.0, sway=0.0, yaw=0.0, surge=0.0, legs=0.0))
    assert place < 1e-9 and angle < 1e-9


def test_spins_are_unwrapped() -> None:
    turns = np.linspace(0.0, -5 * np.pi, 200)
    derived = base.derive(posed(quat.about(Z, turns)))
    assert abs(derived[-1, 2] - derived[0, 2] + 5 * np.pi) < 0.01
    assert (np.diff(derived[:, 2]) < 0).all()


@pytest.mark.parametrize("axis", [X, Y], ids=["somersault", "cartwheel"])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_going_over_the_head_keeps_the_heading(axis: np.ndarray, heading: float) -> None:
    over = quat.about(axis, np.linspace(0.0, 2 * np.pi, 80))
    derived = base.derive(posed(quat.multiply(quat.about(Z, heading), over)))
    assert np.abs(derived[:, 2] - heading).max() < np.radians(2)


def test_an_unsteady_handstand_keeps_the_heading() -> None:
    over = np.concatenate([np.linspace(0, np.pi, 40), np.full(40, np.pi), np.linspace(np.pi, 0, 40)])
    wobble = quat.exp(0.05 * np.random.default_rng(1).normal(size=(120, 3)))
    derived = base.derive(posed(quat.multiply(quat.multiply(quat.about(Z, 1.0), quat.about(X, over)), wobble)))
    assert np.abs(derived[:, 2] - 1.0).max() < np.radians(10)


@pytest.mark.parametrize("axis", [X, -X, Y, -Y], ids=["prone", "supine", "on the left", "on the right"])
def test_lying_down_keeps_the_heading(axis: np.ndarray) -> None:
    down = quat.multiply(quat.about(Z, 1.0), quat.about(axis, np.clip(np.linspace(-1, 3, 90), 0, np.pi / 2)))
    assert np.abs(base.derive(posed(down))[:, 2] - 1.0).max() < np.radians(1)


def test_a_whole_clip_upside_down_has_a_heading() -> None:
    noise = 0.02 * np.random.default_rng(0).normal(size=(60, 3))
    derived = base.derive(posed(quat.multiply(quat.about(X, np.pi), quat.exp(noise))))
    assert np.isfinite(derived).all()


def test_shoulders_count_as_much_as_hips() -> None:
    motion = posed(quat.about(Z, np.full(60, 0.4)))
    rotations = anatomy.with_angles(FIGURE, motion.rotations, {"spine": (0, 0, -0.8)})
    derived = base.derive(Motion(FIGURE, 30.0, motion.roots, rotations))
    assert np.abs(derived[:, 2]).max() < 1e-9


# --- using it ---------------------------------------------------------------------------------------------------------


def test_a_base_that_is_there_is_kept() -> None:
    motion, known = gait(10)
    given = Motion(FIGURE, 30.0, motion.roots, motion.rotations, base=known + 1)
    assert base.based(given) is given
    filled = base.based(motion).base
    assert filled is not None and np.array_equal(filled, base.derive(motion))


def test_compose_undoes_relative() -> None:
    motion = base.based(gait(turning=1.0)[0])
    assert motion.base is not None
    roots, rotations = base.compose(motion.base, *base.relative(motion))
    assert np.abs(roots - motion.roots).max() < 1e-12
    assert quat.distance(rotations, motion.rotations[:, 0]).max() < 1e-7


def test_seen_from_the_base_the_hips_only_sway() -> None:
    roots, rotations = base.relative(gait(300, turning=0.4)[0])
    assert np.abs(roots[:, :2]).max() < 0.04
    assert np.allclose(roots[:, 2], gait(300)[0].roots[:, 2])
    assert quat.angle(rotations).max() < np.radians(9)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (3.0, -2.0, 2.5)])
def test_move_puts_the_first_base_where_told_and_moves_the_rest_rigidly(place: tuple[float, float, float]) -> None:
    motion = base.based(gait(turning=1.0)[0])
    moved = base.move(motion, *place)
    assert moved.base is not None and np.allclose(moved.base[0], place)
    assert np.allclose(base.derive(moved), moved.base, atol=1e-6)
    for old, new in zip(base.relative(motion), base.relative(moved), strict=True):
        assert np.allclose(old, new)
    assert np.array_equal(moved.roots[:, 2], motion.roots[:, 2])
    assert np.array_equal(moved.rotations[:, 1:], motion.rotations[:, 1:])


def test_move_there_and_back_is_nothing() -> None:
    motion = base.based(gait(turning=1.0)[0])
    assert motion.base is not None
    back = base.move(base.move(motion, 5.0, 1.0, -2.0), *motion.base[0])
    assert np.allclose(back.roots, motion.roots) and np.allclose(back.rotations, motion.rotations)
    assert back.base is not None and np.allclose(back.base, motion.base)


def test_the_matrix_of_a_base_faces_its_heading() -> None:
    matrix = base.base_matrix(np.array([[1.0, 2.0, np.pi / 2], [0.0, 0.0, 0.0]]))
    assert np.allclose(matrix[0] @ [0, -1, 0, 1], [2, 2, 0, 1])  # forward is (sin h, -cos h)
    assert np.allclose(matrix[1], np.eye(4))


def test_the_same_motion_gives_the_same_base() -> None:
    assert np.array_equal(base.derive(gait()[0]), base.derive(gait()[0]))


# --- captured motion --------------------------------------------------------------------------------------------------


def captured(data: Path, name: str) -> Motion:
    """A CMU clip on its own skeleton; its zero pose stands upright facing the viewer, which is all a base needs."""
    clip = bvh.read(data / name)
    positions, globals_ = bvh.world(clip)
    roles = {
        role: tuple(clip.names.index(bone) for bone in ([bones] if isinstance(bones, str) else bones))
        for role, bones in json.loads((data / "gold_maps.json").read_text())[name]["map"].items()
    }

    def z_up(v: np.ndarray) -> np.ndarray:
        return np.stack([v[..., 0], -v[..., 2], v[..., 1]], axis=-1)

    unit = 0.0564
    globals_ = np.concatenate([globals_[..., :1], z_up(globals_[..., 1:])], axis=-1)
    offsets = unit * z_up(clip.offsets)
    free = np.tile([-np.pi, np.pi], (len(clip.names), 3, 1))
    skeleton = Skeleton(clip.names, clip.parents, offsets, offsets, roles, free)
    rotations = quat.continuous(fk.local_rotations(skeleton, globals_))
    return Motion(skeleton, 1 / clip.frame_time, unit * z_up(positions[1:, 0]), rotations[1:])  # the first is a T-pose


def waviness(values: np.ndarray) -> float:
    """Largest distance of a curve from the cubic that fits it best."""
    x = np.linspace(-1, 1, len(values))
    return float(np.abs(values - np.polyval(np.polyfit(x, values, 3), x)).max())


@pytest.mark.parametrize("name", ["02_01", "07_01", "35_01", "09_01"])
def test_captured_walks_lose_their_sway_and_nothing_else(data: Path, name: str) -> None:
    motion = captured(data, f"mocap/cmu/{name}.bvh")
    derived = base.derive(motion)
    across = int(np.argmin(np.ptp(motion.roots[:, :2], axis=0)))
    assert waviness(derived[:, across]) < 0.01
    assert waviness(derived[:, across]) < 0.5 * waviness(motion.roots[:, across])
    assert waviness(derived[:, 2]) < np.radians(1)
    assert np.linalg.norm(derived[:, :2] - motion.roots[:, :2], axis=1).max() < 0.05


def test_a_captured_turn_to_the_left_is_a_positive_quarter_turn(data: Path) -> None:
    heading = base.derive(captured(data, "mocap/cmu/16_17.bvh"))[:, 2]
    assert np.radians(80) < heading[-1] - heading[0] < np.radians(110)
