"""Gaze: on its target whatever the body does, eyes before head, within all limits, and back without a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidMotion, InvalidParam, Skeleton
from troupe.core.figure.mannequin import mannequin
from troupe.core.figure.stroll import walk
from troupe.core.kinematics import anatomy, fk, saccade
from troupe.core.kinematics.face import Face, Limits
from troupe.core.kinematics.gaze import CURVE, EVENT, Shift, attending, gaze
from troupe.core.kinematics.look import BLINK, GLANCE, LookParams, look, seconds
from troupe.core.maths import quat
from troupe.core.motion import Motion

FPS = 120.0
FIGURE = mannequin(1.75)
FORWARD = np.array([0.0, -1.0, 0.0])
LINKS = ("neck", "head", "eye_L", "eye_R")


def standing(skeleton: Skeleton = FIGURE, seconds: float = 4.0) -> Motion:
    n = round(seconds * FPS) + 1
    return Motion(skeleton, FPS, np.tile(skeleton.offsets[0], (n, 1)), np.tile(quat.IDENTITY, (n, len(skeleton), 1)))


def without(*roles: str) -> Skeleton:
    return replace(FIGURE, roles={r: j for r, j in FIGURE.roles.items() if r not in roles})


def walking() -> Motion:
    """Someone who walks ahead, turning to the left, with a head that nods."""
    motion = walk(FIGURE)
    rotations = motion.rotations.copy()
    turn = quat.about(np.array([0.0, 0.0, 1.0]), 0.5 * motion.times)
    rotations[:, 0] = quat.multiply(turn, rotations[:, 0])
    nod = 0.15 * np.sin(9 * motion.times)[:, None] * np.array([1.0, 0.3, 0.5])
    rotations[:, FIGURE.joint("head")] = quat.exp(nod)
    return replace(motion, rotations=rotations, base=None)


def errors(motion: Motion, point: np.ndarray) -> np.ndarray:
    """(T, 2) angle between each eye's axis and the way to a point [degrees]."""
    positions, globals_ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    eyes = [motion.skeleton.joint(f"eye_{side}") for side in "LR"]
    axis, way = quat.rotate(globals_[:, eyes], FORWARD), quat.unit(np.asarray(point)[..., None, :] - positions[:, eyes])
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(axis - way, axis=-1) / 2, 0, 1)))


def turns(motion: Motion, role: str) -> np.ndarray:
    """(T,) how far a joint is turned from neutral [degrees]."""
    return np.degrees(quat.angle(motion.rotations[:, motion.skeleton.joint(role)]))


def arrival(values: np.ndarray, last: float) -> int:
    """First sample from which the values stay within a degree of `last`."""
    return int(np.flatnonzero(np.abs(values - last) > 1.0)[-1]) + 1


TARGETS = [(1.5, -1.5, 1.2), (-0.4, -0.5, 1.6), (0.0, -3.0, 2.6), (2.0, 0.2, 1.5), (0.05, -0.9, 0.9)]


@pytest.mark.req("kuffner", 89)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("head", [0.0, 0.6, 1.0])
def test_both_eyes_meet_on_the_target(target: tuple[float, ...], head: float) -> None:
    found = gaze(standing(), [Shift(0.5, np.array(target), head)])
    assert errors(found, target)[-1].max() < 0.1


def test_eyes_are_lowered_to_what_is_on_a_table_and_the_head_does_not_hang() -> None:
    table, beside = np.array([0.0, -0.5, 0.9]), np.array([1.2, -0.75, 1.63])
    bows, turns_ = (gaze(standing(), [Shift(0.5, target)]) for target in (table, beside))
    assert errors(bows, table)[-1].max() < 0.1
    assert 30.0 < turns(bows, "neck")[-1] + turns(bows, "head")[-1] < 42.0
    assert 16.0 < turns(bows, "eye_L")[-1] < 25.0
    assert turns(turns_, "neck")[-1] + turns(turns_, "head")[-1] > 45.0
    assert turns(gaze(standing(), [Shift(0.5, table, 1.0)]), "eye_L")[-1] < 8.0


@pytest.mark.req("kuffner", 90)
def test_neck_head_and_eyes_are_aimed_in_this_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each link is aimed from where those below it have brought it."""
    motion, target = standing(), np.array([0.9, -0.7, 1.3])
    found = gaze(motion, [Shift(0.5, target, 1.0)])
    positions, globals_ = fk.forward(FIGURE, found.rotations, found.roots)
    head, neck = FIGURE.joint("head"), FIGURE.joint("neck")
    # half of the way from the chest, then all of what is left, from between the eyes where the head now is
    start = positions[-1, neck]
    wanted = quat.slerp(quat.IDENTITY, quat.between(FORWARD, target - start), 0.5)
    assert np.degrees(quat.distance(found.rotations[-1, neck], wanted)) < 0.01
    middle = positions[-1, [FIGURE.joint(f"eye_{s}") for s in "LR"]].mean(axis=0)
    assert np.abs(quat.unit(target - middle) - quat.rotate(globals_[-1, head], FORWARD)).max() < 1e-6
    order: list[str] = []
    for name in ("turned", "looking"):
        plain = getattr(Face, name)
        monkeypatch.setattr(Face, name, lambda *a, _f=plain, _n=name: (order.append(_n), _f(*a))[1])
    gaze(motion, [Shift(0.5, target)])
    assert order == ["turned", "looking"]


@pytest.mark.req("kuffner", 91)
@pytest.mark.req("badler", 54)
@pytest.mark.parametrize("roles", [(), ("eye_L", "eye_R"), ("neck",), ("neck", "eye_L", "eye_R"), ("eye_R",)])
def test_no_joint_leaves_its_limits_wherever_the_target_is(roles: tuple[str, ...]) -> None:
    skeleton = without(*roles)
    rng = np.random.default_rng(2)
    face = fk.forward(FIGURE, standing().rotations[0], FIGURE.offsets[0])[0][FIGURE.joint("eye_L")]
    near = [face + 0.06 * d for d in quat.unit(rng.normal(size=(6, 3)))]
    far = [face + 2.0 * d for d in (*np.eye(3), *-np.eye(3), *quat.unit(rng.normal(size=(8, 3))))]
    motion = standing(skeleton, 2.5)
    limits = Limits()
    assert np.degrees(np.concatenate(limits)) == pytest.approx([45, 25, 35, 30, 40, 30])
    for target in (*near, *far, face):
        found = gaze(motion, [Shift(0.2, np.asarray(target), 1.0), Shift(1.4)])
        assert np.isfinite(found.rotations).all()
        for role in LINKS:
            if not skeleton.has(role):
                continue
            x, y, z = quat.rotate(found.rotations[:, skeleton.joint(role)], FORWARD).T
            wide = limits.eyes if role[:3] == "eye" else limits.neck if role == "neck" else limits.head
            if role == "head" and "neck" in roles:
                wide = (1.4, 1.0)
            assert np.abs(np.arctan2(x, -y)).max() < wide[0] + 1e-6
            assert np.abs(np.arctan2(z, np.hypot(x, y))).max() < wide[1] + 1e-6
        assert np.abs(anatomy.violations(found)).max() < 1e-6


def test_eyes_do_not_look_apart_at_their_limits() -> None:
    found = gaze(standing(), [Shift(0.2, np.array([1.0, 1.0, 1.6]), 1.0)])
    axes = [quat.rotate(found.rotations[-1, FIGURE.joint(f"eye_{s}")], FORWARD) for s in "LR"]
    assert np.abs(axes[0] - axes[1]).max() < 1e-6


@pytest.mark.req("badler", 54)
def test_without_eyes_the_head_faces_the_target() -> None:
    for skeleton in (without("eye_L", "eye_R"), without("eye_L", "eye_R", "neck")):
        target = np.array([1.2, -1.5, 1.3])
        found = gaze(standing(skeleton), [Shift(0.2, target, 0.3)])
        positions, globals_ = fk.forward(skeleton, found.rotations, found.roots)
        head = skeleton.joint("head")
        face = positions[-1, head] + quat.rotate(globals_[-1, head], np.array([0.0, -0.086, 0.055]))
        facing = quat.rotate(globals_[-1, head], FORWARD)
        assert np.degrees(np.arccos(facing @ quat.unit(target - face))) < 0.3
        assert not found.mask[[FIGURE.joint("eye_L"), FIGURE.joint("jaw")]].any()
    on_face = gaze(standing(), [Shift(0.2, np.array([1.2, -1.5, 1.3]))], eyes=False)
    assert turns(on_face, "eye_L").max() == 0.0


OBJECT, SHELF = np.array([0.5, -0.6, 1.0]), np.array([-0.9, -0.5, 1.3])


@pytest.mark.req("kuffner", 92, 94)
def test_gaze_goes_ahead_of_the_work() -> None:
    begin = {"reach": 0.6, "transfer": 1.7, "return": 2.9}
    stages = list(zip(begin.values(), (OBJECT, SHELF, None), strict=True))
    motion = standing(seconds=5.0)
    found = gaze(motion, attending(stages))
    onsets = [e.time for e in found.events if e.name == EVENT]
    assert all(0.05 <= arm - eye <= 0.10 for eye, arm in zip(onsets, begin.values(), strict=True))
    for sample, index in ((0.3, -1), (1.0, 0), (1.65, 1), (2.8, 1), (3.2, -1)):
        assert found.curves[CURVE][round(sample * FPS)] == index
    for place, time in ((OBJECT, 1.6), (SHELF, 2.8)):
        assert errors(found, place)[round(time * FPS)].max() < 0.1
    assert np.abs(found.rotations[-1] - motion.rotations[-1]).max() < 1e-12


@pytest.mark.req("kuffner", 92)
@pytest.mark.parametrize("target", TARGETS[:4])
def test_the_eyes_arrive_before_the_head(target: tuple[float, ...]) -> None:
    found = gaze(standing(), [Shift(0.5, np.array(target), 1.0)])
    on_target = arrival(errors(found, target).max(axis=1), 0.0)
    total = turns(found, "neck") + turns(found, "head")
    assert on_target < arrival(total, total[-1])
    eyes_move = np.flatnonzero(turns(found, "eye_L") > 0.01)[0]
    assert eyes_move < np.flatnonzero(total > 0.01)[0]


@pytest.mark.req("kuffner", 93)
def test_gaze_stays_on_target_while_the_head_still_turns() -> None:
    target = np.array([1.5, -1.2, 1.2])
    found = gaze(standing(), [Shift(0.5, target, 1.0)])
    error, total = errors(found, target).max(axis=1), turns(found, "neck") + turns(found, "head")
    there = arrival(error, 0.0)
    assert total[-1] - total[there] > 10.0, "the head has a good way to go"
    assert error[there + 1 :].max() < 0.5


@pytest.mark.req("kuffner", 93)
def test_gaze_stays_on_a_place_while_the_body_walks_and_turns() -> None:
    motion, target = walking(), np.array([1.6, -5.5, 1.4])
    found = gaze(motion, [Shift(0.3, target)])
    error = errors(found, target).max(axis=1)
    assert error[round(0.8 * motion.fps) :].max() < 0.1
    assert errors(motion, target).max() > 30


@pytest.mark.req("kuffner", 95)
@pytest.mark.req("badler", 55)
def test_saccades_last_longer_the_farther_they_go() -> None:
    """The head follows as late as was measured, sooner after large shifts; 0.05 s whatever the size are to be had."""
    sizes = np.radians(np.arange(1, 120))
    times = [saccade.timing(float(size)) for size in sizes]
    eyes = np.array([t.eyes for t in times])
    assert (np.diff(eyes) > 0).all()
    degrees = np.degrees(sizes)
    assert (eyes >= (2.0 * degrees + 20) / 1000).all() and (eyes <= (2.7 * degrees + 30) / 1000).all()
    lag = {d: saccade.timing(np.radians(d)).lag for d in (10, 40)}
    assert lag[10] == pytest.approx(0.139, abs=0.001) and lag[40] == pytest.approx(0.05, abs=0.002)
    assert saccade.timing(0.3, lag=0.05).lag == 0.05
    # and so it is in the motion, the larger shift to the other side of the smaller one
    found = gaze(
        standing(), [Shift(0.5, np.array([0.5, -2.0, 1.6])), Shift(2.0, np.array([-2.0, -1.6, 1.6]))], lag=0.05
    )
    for event in (e for e in found.events if e.name == EVENT):
        begin = round(event.time * FPS)
        head = turns(found, "head")
        moved = np.flatnonzero(np.abs(head[begin:] - head[begin]) > 1e-4)[0] / FPS
        assert moved == pytest.approx(0.05, abs=0.04) and moved >= 0.05


@pytest.mark.req("badler", 56)
def test_there_is_never_more_than_one_target() -> None:
    found = look(standing(seconds=8.0), [np.array(t) for t in TARGETS[:3]], LookParams(mode="scan", hold=1.0))
    shown = found.curves[CURVE]
    assert set(shown) == {-1.0, 0.0, 1.0, 2.0} and (np.diff(shown[shown >= 0]) >= 0).all()


@pytest.mark.req("badler", 56)
def test_of_two_targets_at_nearly_the_same_time_the_later_one_has_the_gaze_alone() -> None:
    """Two tasks that ask for gaze in the same moment: a saccade is never on its way to both, nor the head between."""
    one, other = np.array(TARGETS[0]), np.array(TARGETS[1])
    found = gaze(standing(), [Shift(0.5, one, 1.0), Shift(0.6, other, 1.0)])
    shown = found.curves[CURVE]
    assert (shown[round(0.45 * FPS)], shown[round(0.55 * FPS)], shown[round(0.65 * FPS)]) == (-1.0, 0.0, 1.0)
    late = slice(round(1.5 * FPS), None)  # when the head has come round
    assert errors(found, other)[late].max() < 0.1 and errors(found, one)[late].min() > 20.0


def test_small_shifts_are_made_with_the_eyes() -> None:
    found = gaze(standing(), [Shift(0.5, np.array([0.2, -2.0, 1.6]), 1.0)])
    assert errors(found, (0.2, -2.0, 1.6))[-1].max() < 0.1
    assert turns(found, "head")[-1] + turns(found, "neck")[-1] < 2.5


def test_of_a_large_shift_the_eyes_keep_no_more_than_is_easy() -> None:
    found = gaze(standing(), [Shift(0.5, np.array([2.0, -0.6, 1.6]), 0.0)])
    assert 15 < turns(found, "eye_L")[-1] < 24


def test_a_target_that_passes_behind_is_taken_up_over_the_other_shoulder() -> None:
    motion = standing(seconds=6.0)
    way = np.pi * motion.times / 3.0
    around = np.column_stack([3 * np.sin(way), -3 * np.cos(way), np.full(len(way), 1.6)])
    found = gaze(motion, [Shift(0.1, around, 1.0)])
    assert len([e for e in found.events if e.name == EVENT]) == 2
    assert errors(found, around)[-1].max() < 1.0
    left = quat.rotate(found.rotations[:, FIGURE.joint("neck")], FORWARD)[:, 0]
    assert left.max() > 0.3 and left.min() < -0.3
    speed = np.degrees(quat.distance(found.rotations[1:], found.rotations[:-1])).max(axis=0) * FPS
    assert speed[FIGURE.joint("neck")] < 200 and speed[FIGURE.joint("head")] < 200


def test_long_necks_share_the_turn() -> None:
    skeleton = FIGURE
    neck, head = skeleton.joint("neck"), skeleton.joint("head")
    # the topmost joint of the spine taken for the lower half of the neck
    spine = skeleton.chain("spine")
    roles = {**skeleton.roles, "spine": spine[:-1], "neck": (spine[-1], neck)}
    limits = skeleton.limits.copy()
    limits[[spine[-1], neck]] = np.radians([[-22.5, 22.5], [-22.5, 22.5], [-30, 30]])
    found = gaze(standing(replace(skeleton, roles=roles, limits=limits)), [Shift(0.3, np.array([1.5, -1.0, 1.3]), 1.0)])
    assert errors(found, (1.5, -1.0, 1.3))[-1].max() < 0.1
    assert quat.distance(found.rotations[-1, spine[-1]], found.rotations[-1, neck]) < 1e-6
    assert np.abs(anatomy.violations(found)).max() == 0.0 and turns(found, "head")[-1] > 5 and found.mask[head]


# --- look -------------------------------------------------------------------------------------------------------------

SIDE = np.array([1.5, -1.5, 1.3])


def long_walk() -> Motion:
    motion = walking()
    again = np.concatenate([np.arange(len(motion)), np.arange(len(motion))[::-1]])
    return replace(motion, rotations=motion.rotations[again], roots=motion.roots[again], curves={}, events=())


@pytest.mark.parametrize("mode", ["look", "glance", "track", "scan"])
def test_a_look_over_a_walk_begins_and_ends_as_the_walk(mode: str) -> None:
    motion = long_walk()
    targets = [np.array([1.5, -2.0, 1.4]), np.array([-1.0, -4.0, 1.0])][: 2 if mode == "scan" else 1]
    found = look(motion, targets, LookParams(mode=mode, hold=0.8))
    n = len(found)
    assert np.abs(found.rotations[0] - motion.rotations[0]).max() < 1e-9
    assert quat.distance(found.rotations[-1], motion.rotations[n - 1]).max() < 1e-6
    assert quat.distance(found.rotations[-2], motion.rotations[n - 2]).max() < 1e-3
    spoken = {motion.skeleton.names[j] for j in np.flatnonzero(found.mask)}
    assert spoken == {"neck", "head", "eye.L", "eye.R"}
    others = ~found.mask
    assert np.array_equal(found.rotations[:, others], motion.rotations[:n, others])
    assert np.array_equal(found.roots, motion.roots[:n])
    speed = np.degrees(quat.distance(found.rotations[1:], found.rotations[:-1])) * motion.fps
    assert speed[:, FIGURE.joint("head")].max() < 300 and speed.max() < 700, "the saccades themselves"


def test_a_look_holds_and_a_glance_does_not() -> None:
    params = LookParams(hold=1.5, restless=0.0)
    found = look(standing(), [SIDE], params)
    held = (errors(found, SIDE).max(axis=1) < 0.1).sum() / FPS
    assert 1.3 < held < 1.7
    short = look(standing(), [SIDE], replace(params, mode="glance"))
    assert 0.1 < (errors(short, SIDE).max(axis=1) < 0.1).sum() / FPS < GLANCE + 0.1
    assert turns(short, "head").max() < 0.85 * turns(found, "head").max()
    assert len(short) < len(found)


def test_a_scan_looks_at_one_after_the_other() -> None:
    targets = [np.array(t) for t in TARGETS[:4]]
    found = look(standing(seconds=9.0), targets, LookParams(mode="scan", hold=0.9, restless=0.0))
    order = [int(np.argmin(errors(found, t).max(axis=1))) for t in targets]
    assert order == sorted(order)
    assert all(errors(found, t).max(axis=1).min() < 0.1 for t in targets)


def test_tracking_keeps_the_eyes_on_what_moves_and_the_head_behind() -> None:
    motion = standing(seconds=6.0)
    ball = np.column_stack([2 * np.sin(2 * motion.times), np.full(len(motion), -2.0), 1.5 + 0 * motion.times])
    params = LookParams(mode="track", hold=3.5, restless=0.0)
    found, stiff = (look(motion, [ball], replace(params, mode=m)) for m in ("track", "look"))
    moment = slice(round(0.6 * FPS), round(3.5 * FPS))
    assert errors(found, ball[: len(found)])[moment].max() < 0.5
    yaw = [anatomy.joint_angles(m.rotations[moment, FIGURE.joint("head")], "head")[:, 2] for m in (found, stiff)]
    lags = [np.dot(yaw[0][k:], yaw[1][: len(yaw[1]) - k]) / len(yaw[1][k:]) for k in range(60)]
    assert 0.05 < np.argmax(lags) / FPS < 0.35


def test_large_shifts_come_with_a_blink_and_small_ones_do_not() -> None:
    params = LookParams(blink=1.0, lids="eyeBlinkLeft, eyeBlinkRight")
    found = look(standing(), [SIDE], params)
    closed = found.curves[BLINK]
    assert closed.max() > 0.95 and closed[0] == closed[-1] == 0.0 and closed.min() == 0.0
    assert np.array_equal(found.curves["shape/eyeBlinkLeft"], closed) and "shape/eyeBlinkRight" in found.curves
    assert np.argmax(closed) / FPS == pytest.approx(params.delay + 0.09, abs=0.03)
    assert look(standing(), [SIDE], replace(params, blink=0.0)).curves[BLINK].max() == 0.0
    assert look(standing(), [np.array([0.1, -3.0, 1.6])], params).curves[BLINK].max() == 0.0
    some = [look(standing(), [SIDE], replace(params, blink=0.5, seed=s)).curves[BLINK].max() > 0.5 for s in range(20)]
    assert 5 < sum(some) < 20


def test_resting_eyes_move_a_little_and_always_alike() -> None:
    params = LookParams(hold=2.5, restless=0.01)
    motion = standing(seconds=6.0)
    found, again, other = (look(motion, [SIDE], replace(params, seed=s)) for s in (3, 3, 4))
    assert np.array_equal(found.rotations, again.rotations)
    assert not np.array_equal(found.rotations, other.rotations)
    error = errors(found, SIDE).max(axis=1)[round(0.8 * FPS) : round(2.4 * FPS)]
    assert 0.1 < error.max() < 3.0
    assert np.abs(found.rotations[-1] - motion.rotations[-1]).max() < 1e-9


def test_the_length_is_known_beforehand() -> None:
    for mode, count in (("look", 1), ("glance", 1), ("scan", 3)):
        params = LookParams(mode=mode, hold=0.7)
        motion = standing(seconds=seconds(params, count) + 1 / FPS)
        found = look(motion, [np.array([0.0, 3.0, 1.0]), SIDE, SIDE * (-1, 1, 1)][:count], params)
        assert len(found) <= len(motion) and np.abs(found.rotations[-1] - motion.rotations[0]).max() < 1e-9
        with pytest.raises(InvalidMotion, match=r"looking takes .* s, the motion has 1\.00 s"):
            look(standing(seconds=1.0), [SIDE] * count, params)


def test_eyes_that_the_body_turns_are_left_as_they_were() -> None:
    motion = standing()
    rotations = motion.rotations.copy()
    for side in "LR":
        rotations[:, FIGURE.joint(f"eye_{side}")] = quat.exp(np.array([0.1, 0.05, 0.9]))  # beyond its limits
    motion = replace(motion, rotations=rotations)
    found = look(motion, [SIDE], LookParams())
    assert quat.distance(found.rotations[[0, -1]], rotations[[0, -1]]).max() < 1e-6


def test_wrong_arguments_are_refused() -> None:
    motion = standing()
    with pytest.raises(InvalidParam, match="targets"):
        look(motion, [], LookParams())
    with pytest.raises(InvalidParam, match="targets"):
        look(motion, [SIDE, SIDE], LookParams())
    with pytest.raises(InvalidParam, match="order of time"):
        gaze(motion, [Shift(1.0, SIDE), Shift(0.5)])
    with pytest.raises(InvalidParam, match="head"):
        gaze(motion, [Shift(1.0, SIDE, head=2.0)])
    with pytest.raises(InvalidMotion, match=r"shape \(5, 3\)"):
        gaze(motion, [Shift(1.0, np.zeros((5, 3)))])
    with pytest.raises(InvalidMotion, match="NaN"):
        gaze(motion, [Shift(1.0, np.full(3, np.nan))])
    for wrong in ({"hold": 0.0}, {"head": 1.5}, {"mode": "stare"}, {"blink": -0.1}, {"seed": -1}):
        with pytest.raises(InvalidParam):
            LookParams(**wrong)  # type: ignore[arg-type]
