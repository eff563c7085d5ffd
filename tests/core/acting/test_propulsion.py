"""Feet that propel: travel of the papers' gaits at any frame rate, feet that stand still, and the floor."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.fitting import fit
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.body.posing import puppet_angles
from troupe.core.acting.body.propulsion import Way, first_footing, propelled
from troupe.core.acting.body.stage import Stage
from troupe.core.acting.body.tracks import constant
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.puppet import turns
from troupe.core.acting.repertoire.stockactions import FOLDER, stock_library
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.acting.repertoire.weights import Entry
from troupe.core.kinematics import fk
from troupe.core.motion import Motion

from .puppets import MANNEQUIN, reference_body

STOCK = stock_library()
BODY = reference_body()
PLAIN = BodyParams(clear_arms=False, flat_feet=False)
TABLES = [(FOLDER / f"{n}.actions").read_text().split("GROUP")[0] for n in ("1_stances", "2_gaits", "3_dances")]


def only(name: str) -> ActionLibrary:
    """The stock gaits with one of them as what the body does from the beginning."""
    sheets = [read_sheet(t) for t in TABLES]
    names = [n for s in sheets for n in s.actions if n != name]
    sheets.append(read_sheet("GROUP Stances " + " ".join(f"ACTION {n}" for n in (name, *names))))
    return ActionLibrary(sheets)


def feet_of(amount: float, phases: np.ndarray, contact: np.ndarray | None) -> np.ndarray:
    lib = only("walking")
    stage = Stage(lib, fit(BODY), PLAIN)
    styles = {"walking.amount": constant(amount)}
    channels, _ = stage.channels([(Entry(0, 0.0),)], styles, np.zeros(len(phases)), phases, {})
    return stage.fit.feet(turns(puppet_angles(stage, channels)), contact)


def travel(
    amount: float, contact: np.ndarray | None = None, samples: int = 240
) -> tuple[float, list[float], list[float]]:
    """Way forward in a cycle [m], and the phases at which the right foot and the left foot take over [deg]."""
    phases = np.arange(3 * samples + 1) / samples * 2 * np.pi
    feet = feet_of(amount, phases, contact)
    steps = propelled(first_footing(0.0, 0.0, 0.0, feet[0], None), feet[1:], np.zeros(len(feet) - 1), Way())
    gap = feet[..., 2] @ [1, -1]
    exact: tuple[list[float], list[float]] = ([], [])
    change = np.diff(steps.support)
    for k in np.flatnonzero(change):
        a, b = gap[k], gap[k + 1]
        exact[0 if change[k] > 0 else 1].append(
            float(np.degrees(phases[k] + (phases[1] - phases[0]) * a / (a - b))) % 360
        )
    return -float(steps.y[2 * samples] - steps.y[samples]), *exact


@pytest.mark.req("improv", 50, 57)
@pytest.mark.parametrize(("amount", "metres"), [(0.3, 0.4965), (0.4, 0.6545), (0.5, 0.8063), (1.0, 1.420)])
def test_a_cycle_covers_the_way_of_the_reference_body(amount, metres):
    way, right, left = travel(amount)
    assert abs(way - metres) < 0.01 * metres
    assert len(right) >= 2 and len(left) >= 2
    assert all(abs(phase - 151.7) < 1.0 for phase in right)
    assert all(abs(phase - 331.7) < 1.0 for phase in left)


OTHER_POINTS = {
    "sole": ((0.0, 0.0, -0.07), (0.5151, 0.6790, 0.8364, 1.478)),
    "centre": ((0.0, -0.05, -0.05), (0.2788, 0.4559, 0.6193, 1.289)),
    "ball": ((0.0, -0.12, -0.07), (-0.1277, 0.1002, 0.2914, 1.043)),
}
"""Points of a foot from its ankle [m], and the way of a cycle at amounts of 0.3, 0.4, 0.5 and 1 [m]."""


@pytest.mark.req("improv", 57)
@pytest.mark.parametrize("point", OTHER_POINTS)
def test_other_points_of_the_foot_cover_less_way_and_the_ball_walks_backwards(point):
    contact, ways = OTHER_POINTS[point]
    for amount, metres in zip((0.3, 0.4, 0.5, 1.0), ways, strict=True):
        way, right, left = travel(amount, np.array(contact))
        assert abs(way - metres) < max(0.01 * abs(metres), 0.005), amount
        if point == "sole":
            assert all(abs(phase - 155.9) < 1.0 for phase in right) and all(abs(phase - 335.9) < 1.0 for phase in left)


@pytest.mark.req("improv", 56)
def test_running_covers_the_same_way_at_every_frame_rate_and_keeps_its_height():
    lib = only("running")
    for fps in (12, 24, 60, 120):
        motion = perform(lib, BODY, [], 10.0, fps, PLAIN)
        way = motion.roots[-1] - motion.roots[0]
        assert abs(-way[1] - 19.946) < 0.001 * 19.946
        assert abs(way[2]) < 1e-3
        assert abs(way[0]) < 0.01 * abs(way[1])


def _stances(motion: Motion) -> list[float]:
    positions, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    drifts = []
    for side in "LR":
        on = np.flatnonzero(motion.curves[f"contact/foot_{side}"] > 0.5)
        for run in np.split(on, np.flatnonzero(np.diff(on) > 1) + 1):
            ankle = positions[run, motion.skeleton.joint(f"foot_{side}")]
            drifts.append(float(np.ptp(ankle, axis=0).max()))
    return drifts


@pytest.mark.req("improv", 56)
@pytest.mark.parametrize("fps", [24, 60])
def test_the_foot_that_stands_does_not_slide(fps):
    motion = perform(only("running"), BODY, [], 4.0, fps, BodyParams(clear_arms=False))
    assert max(_stances(motion)) < 1e-3


def test_a_pirouette_turns_on_the_foot_that_stands():
    state = start(STOCK, MANNEQUIN).select("", "pirouette", 0.0, fade=0.1).advance(0.3)
    spots = []
    for k in range(60):
        state = state.advance(0.3 + k / 60)
        pose = state.pose()
        spots.append(fk.forward(MANNEQUIN, pose.rotations, pose.root)[0][MANNEQUIN.joint("foot_L")])
    assert np.ptp(spots, axis=0).max() < 1e-3
    assert state.place[2] > 4.0


@pytest.mark.req("improv", 55)
def test_the_rhumba_stays_where_it_is_and_running_goes_straight_ahead():
    lib = only("rhumba")
    motion = perform(lib, BODY, [], 10 / 0.9, 24 * 0.9, PLAIN)
    assert np.linalg.norm((motion.roots[-1] - motion.roots[0])[:2]) < 0.01
    sway = np.ptp(motion.roots[:, 0])
    assert 0.05 < sway < 0.35
    for heading in (0.0, 1.2):
        motion = perform(only("running"), BODY, [], 10 / 1.4, 28, PLAIN, place=(1.0, 2.0, heading))
        way = (motion.roots[-1] - motion.roots[0])[:2]
        forward = np.array([np.sin(heading), -np.cos(heading)])
        assert way @ forward > 10.0
        assert abs(way @ [forward[1], -forward[0]]) < 0.01 * (way @ forward)


@pytest.mark.req("improv", 58)
def test_a_body_follows_a_step_in_the_floor_with_a_half_life_of_a_fifteenth_at_any_rate():
    """What is levelled is the floor under the foot that stands, not the hips: those must rise and fall with the gait,
    or the foot would leave the ground (R56)."""
    steps = {
        fps: perform(only("walking"), BODY, [], 4.0, fps, PLAIN, floor=lambda x, y: 0.2 if y < -0.8 else 0.0)
        for fps in (12, 60, 240)
    }
    flat = perform(only("walking"), BODY, [], 4.0, 240, PLAIN)
    for fps in (12, 60):
        assert np.abs(steps[240].roots[:: 240 // fps] - steps[fps].roots).max() < 1e-9
    assert np.abs(steps[240].roots[:, :2] - flat.roots[:, :2]).max() < 1e-9
    rise = steps[240].roots[:, 2] - flat.roots[:, 2]
    first = int(np.argmax(rise > 1e-9)) - 1
    since = np.maximum(np.arange(len(rise)) - first, 0) / 240
    assert 0 < first < 480
    assert np.abs(rise - 0.2 * (1 - 0.5 ** (15 * since))).max() < 1e-9


def test_a_body_that_stands_does_not_chatter_between_its_feet():
    motion = perform(STOCK, MANNEQUIN, [Selection(0.0, "", "Stand", fade=0.0)], 20.0, 24)
    assert np.linalg.norm(motion.roots[-1, :2] - motion.roots[24, :2]) < 0.05


def test_without_travel_the_hips_stay():
    motion = perform(only("running"), BODY, [], 2.0, 24, BodyParams(travel=False))
    assert np.ptp(motion.roots[:, :2]) == 0.0


def test_a_body_turns_to_what_it_is_told_to_face():
    state = start(STOCK, MANNEQUIN, targets={"door": (3.0, 0.0, 1.0)}).select("", "step_in_place", 0.0)
    state = state.face("door", 0.5).advance(4.0)
    x, y, heading = state.place
    assert abs(heading - np.arctan2(3.0 - x, y)) < 0.05
    state = state.face(0.0, 4.0).advance(8.0)
    assert abs(state.place[2]) < 0.05
    assert state.face(None).advance(9.0).place[2] == pytest.approx(state.place[2], abs=0.02)
