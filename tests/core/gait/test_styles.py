"""The presets of Walk and Run: each is what its name says, and none slides, sinks, pops or hits its own body."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from quality import beyond_limits, depth, depths, knee_pop, slide
from repeat import repeats
from troupe.core.gait.cycle import ODD, STRIDE_SAMPLES
from troupe.core.gait.physique import measure
from troupe.core.gait.run import Run, RunParams
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.gait.walk import WalkParams, walk
from troupe.core.gait.walking import Walk, WalkStyle
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat
from troupe.core.presets import shipped
from troupe.core.skeleton import SIDES

from .ways import BODY as MANNEQUIN
from .ways import start_stop, straight

STYLES = {p.name: p for p in shipped("walk", WalkParams)}
RUNS = {p.name: p for p in shipped("run", RunParams)}
NAMES = (
    *("Neutral", "Brisk", "Stroll", "March", "Sneak", "Tired", "Proud", "Sad"),
    *("Happy", "Drunk", "Catwalk", "Old", "Limping", "Child", "Power Walk", "Tiptoe"),
)
PARTS = np.linspace(0.0, 1.0, 11)
THIGH = np.interp(PARTS, [0.0, 0.4, 1.0], [0.088, 0.086, 0.058])
"""Radius of the mannequin's thigh from hip to knee [m]."""
TRUNK, FOREARM, PALM, FINGER = 0.115, 0.034, 0.016, 0.010
"""Radii of the mannequin [m]; the trunk's is the half of its depth."""


def style(name):
    return WalkStyle.from_dict(STYLES[name].values)


_made = {}


def motion(name):
    """Six metres in a style, from a stand to a stand."""
    if name not in _made:
        _made[name] = walk(MANNEQUIN, WalkParams.from_dict({**STYLES[name].values, "distance": 6.0}))
    return _made[name]


def middle(moved):
    """The samples of two strides in the middle of a walk."""
    strikes = [e.time for e in moved.events if e.name == "heel_strike_L"]
    k = len(strikes) // 2
    return slice(round(strikes[k - 1] * moved.fps), round(strikes[k + 1] * moved.fps))


def places(moved, role):
    """(T, 3) of a joint in two middle strides [m]."""
    positions, _ = fk.forward(moved.skeleton, moved.rotations, moved.roots)
    return positions[middle(moved), moved.skeleton.joint(role)]


def degrees(moved, role, axis=0):
    """(T,) of an angle in two middle strides."""
    return np.degrees(anatomy.angles(moved, role)[middle(moved), axis])


def face(moved):
    """(T, 3) pitch down, roll and yaw of the head against the world in two middle strides, of a walk ahead [deg]."""
    _, turns = fk.forward(moved.skeleton, moved.rotations, moved.roots)
    head = turns[middle(moved), moved.skeleton.joint("head")]
    return np.degrees(anatomy.joint_angles(head, "head"))


def trunk(moved):
    """Mean lean of the line from hips to neck, forward positive [deg]."""
    line = places(moved, "neck") - places(moved, "hips")
    return float(np.degrees(np.arctan2(-line[:, 1], line[:, 2])).mean())


def bob(moved):
    """How far the root goes up and down [m]."""
    return float(np.ptp(moved.roots[middle(moved), 2]))


def swing(moved):
    """How far an arm swings [deg]."""
    return float(np.ptp(degrees(moved, "upper_arm_L")))


def cadence(moved):
    """Steps a minute in the middle of the walk."""
    strikes = [e.time for e in moved.events if e.name.startswith("heel_strike")]
    return 60.0 / float(np.median(np.diff(strikes)))


def width(moved):
    """Between the lines on which the ankles tread [m]."""
    lines = []
    for side in SIDES:
        x = places(moved, f"foot_{side}")[:, 0]
        lines.append(np.median(x[moved.curves[f"contact/foot_{side}"][middle(moved)] > 0.5]))
    return float(lines[0] - lines[1])


def stances(moved, side):
    """Mean time for which a foot is on the ground in the middle of the walk [s]."""
    strikes = [e.time for e in moved.events if e.name == f"heel_strike_{side}"]
    offs = [e.time for e in moved.events if e.name == f"toe_off_{side}"]
    spans = [next(off for off in offs if off > strike) - strike for strike in strikes[1:-2]]
    return float(np.mean(spans))


def gap(moved):
    """Narrowest room between forearms, palms or fingers and the trunk or the thighs [m]; negative inside them.

    Thumbs are left out: how they lie in the hand is not the gait's.
    """
    skeleton = moved.skeleton
    positions, turns = fk.forward(skeleton, moved.rotations, moved.roots)
    tips = fk.tip_positions(skeleton, positions, turns)

    def line(a, b):
        return a[:, None] + PARTS[:, None] * (b - a)[:, None]

    at = {
        role: positions[:, skeleton.joint(role)] for role in ("hips", "neck", "thigh_L", "thigh_R", "shin_L", "shin_R")
    }
    body = [(line(at[f"thigh_{s}"], at[f"shin_{s}"]), THIGH) for s in SIDES]
    body += [(line(at["thigh_L"], at["thigh_R"]), np.full(len(PARTS), THIGH[0]))]
    body += [(line(at["hips"], at["neck"]), np.full(len(PARTS), TRUNK))]
    limbs = []
    for side in SIDES:
        hand = positions[:, skeleton.joint(f"hand_{side}")]
        limbs.append((line(positions[:, skeleton.joint(f"forearm_{side}")], hand), FOREARM))
        for finger in ("index", "middle", "ring", "pinky"):
            joints = skeleton.chain(f"{finger}_{side}")
            limbs.append((line(hand, positions[:, joints[0]]), PALM))
            ends = [*(positions[:, j] for j in joints), tips[:, joints[-1]]]
            limbs += [(line(a, b), FINGER) for a, b in pairwise(ends)]
    return min(
        float((np.linalg.norm(limb[:, :, None] - part[:, None], axis=-1) - radius - thick).min())
        for limb, radius in limbs
        for part, thick in body
    )


def test_sixteen_styles_are_shipped_without_a_fault():
    assert tuple(STYLES) == NAMES
    assert not [p.fault for p in STYLES.values() if p.fault]


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_names_the_whole_style_so_that_nothing_of_another_one_stays(name):
    assert set(STYLES[name].values) == {f.name for f in fields(WalkStyle)} - {"seed"}


def test_neutral_is_the_default():
    assert style("Neutral") == WalkStyle()


@pytest.mark.parametrize("name", NAMES)
def test_feet_stay_where_they_are_put_and_above_the_floor(name):
    assert slide(motion(name)) < 1e-3
    assert depth(motion(name)) < 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_no_joint_goes_beyond_its_limits(name):
    over, where = beyond_limits(motion(name))
    assert over < 1e-6, where


@pytest.mark.parametrize("name", NAMES)
def test_knees_do_not_pop(name):
    assert knee_pop(motion(name)) < 3.0


@pytest.mark.parametrize("name", NAMES)
def test_arms_and_hands_stay_out_of_the_body(name):
    assert gap(motion(name)) > -0.01


@pytest.mark.parametrize("name", NAMES)
def test_the_walk_arrives_at_a_stand(name):
    moved = motion(name)
    assert np.hypot(*(moved.roots[-1, :2] - (0.0, -6.0))) < 0.08
    assert np.linalg.norm(moved.roots[-1] - moved.roots[-3]) < 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_the_head_is_alive_but_steady(name):
    seen = face(motion(name))
    asked = np.degrees(style(name).look_about) + 6.0 * style(name).head_bob + 10.0 * style(name).wobble
    assert np.ptp(seen[:, 0]) < 16.0
    assert np.abs(seen[:, 1]).max() < 7.0
    assert np.abs(seen[:, 2]).max() < 1.0 + 1.2 * asked
    moves = np.diff(np.radians(seen), 2, axis=0) * motion(name).fps ** 2
    assert np.abs(moves).max() < 12.0


@pytest.mark.parametrize("name", NAMES)
def test_the_body_is_carried_without_jerks(name):
    moved = travel(MANNEQUIN, straight(style(name).speed, 9.0, 96.0), TravelParams(gait="walk", walk=style(name)))
    root = np.diff(moved.roots[middle(moved)], 2, axis=0) * moved.fps**2
    assert np.linalg.norm(root, axis=-1).max() < 25.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", SIDES)
def test_curves_of_the_body_are_mirrored_half_a_stride_later(name, side):
    gait = Walk(measure(MANNEQUIN), style(name))
    for speed in (0.0, 0.4, style(name).speed):
        body = gait.cycle(speed, side).body
        mirrored = np.where(ODD, -1.0, 1.0) * np.roll(body, STRIDE_SAMPLES // 2, axis=0)
        assert np.abs(body - mirrored).max() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_standing_is_the_same_all_the_time_and_has_no_side(name):
    gait = Walk(measure(MANNEQUIN), style(name))
    still, other = gait.cycle(0.0, "L"), gait.cycle(0.0, "R")
    assert np.abs(still.body[:, ODD]).max() < 1e-12
    for curves in (still.body, still.arm, still.stance):
        assert np.ptp(curves, axis=0).max() < 1e-9
    assert np.array_equal(still.body, other.body)
    assert (still.stance_time, still.width, still.toe_out) == (other.stance_time, other.width, other.toe_out)


CHANGED = {
    "step_length": 0.5,
    "cadence": 90.0,
    **dict.fromkeys(
        ("bounce", "arm_swing", "hip_sway", "hip_twist", "torso_twist", "shoulder_roll", "elbow_swing"), 1.7
    ),
}
"""Values that tell whether a parameter does something; 0.2 more than the default for the others."""


@pytest.mark.parametrize("field", [f.name for f in fields(WalkStyle) if f.name not in ("speed", "wobble", "seed")])
def test_every_parameter_does_something(field):
    plain = WalkStyle()
    changed = replace(plain, **{field: CHANGED.get(field, getattr(plain, field) + 0.2)})
    a, b = (Walk(measure(MANNEQUIN), s).cycle(1.2, "L") for s in (plain, changed))
    curves = [np.abs(getattr(a, k) - getattr(b, k)).max() for k in ("stance", "swing", "body", "arm")]
    numbers = [abs(getattr(a, k) - getattr(b, k)) for k in ("step_time", "stance_time", "width", "toe_out", "curl")]
    assert max(*curves, *numbers) > 1e-3


def test_brisk_steps_are_longer_and_more():
    brisk, neutral = motion("Brisk"), motion("Neutral")
    assert cadence(brisk) > 1.1 * cadence(neutral)
    assert style("Brisk").speed / cadence(brisk) > 1.1 * style("Neutral").speed / cadence(neutral)
    assert swing(brisk) > 1.3 * swing(neutral)


def test_a_stroll_is_slow_and_sways():
    stroll, neutral = motion("Stroll"), motion("Neutral")
    assert cadence(stroll) < 0.9 * cadence(neutral)
    assert np.ptp(stroll.roots[middle(stroll), 0]) > 1.2 * np.ptp(neutral.roots[middle(neutral), 0])


def test_a_march_lifts_knees_and_swings_straight_arms_at_120_steps_a_minute():
    march, neutral = motion("March"), motion("Neutral")
    assert places(march, "shin_L")[:, 2].max() > places(neutral, "shin_L")[:, 2].max() + 0.15
    assert degrees(march, "forearm_L").max() < 20.0
    assert swing(march) > 1.8 * swing(neutral)
    # the clock of a shorter body is faster
    assert cadence(march) == pytest.approx(120.0 / np.sqrt(measure(MANNEQUIN).leg / 0.9), rel=0.02)


def test_who_sneaks_is_low_and_slow_and_puts_the_ball_down_first():
    sneak, neutral = motion("Sneak"), motion("Neutral")
    assert places(sneak, "hips")[:, 2].mean() < places(neutral, "hips")[:, 2].mean() - 0.06
    assert cadence(sneak) < 0.6 * cadence(neutral)
    assert places(sneak, "shin_L")[:, 2].max() > places(neutral, "shin_L")[:, 2].max() + 0.03
    heels = -depths(sneak)[:, 0, 0]
    strikes = [round(e.time * sneak.fps) for e in sneak.events if e.name == "heel_strike_L"]
    assert min(heels[k + 1] for k in strikes[1:]) > 0.02
    assert np.abs(face(sneak)[:, 2]).max() > 15.0


def test_the_tired_bend_and_drop_into_every_step():
    tired, neutral = motion("Tired"), motion("Neutral")
    assert trunk(tired) > trunk(neutral) + 12.0
    assert bob(tired) > 1.4 * bob(neutral)
    assert face(tired)[:, 0].mean() > 12.0


def test_the_proud_have_the_chest_out_and_the_chin_up():
    proud, neutral = motion("Proud"), motion("Neutral")
    assert degrees(proud, "spine").mean() < degrees(neutral, "spine").mean() - 8.0
    assert face(proud)[:, 0].mean() < -6.0


def test_the_sad_look_down_and_hardly_swing_their_arms():
    sad, neutral = motion("Sad"), motion("Neutral")
    assert face(sad)[:, 0].mean() > 30.0
    assert swing(sad) < 0.4 * swing(neutral)
    assert bob(sad) < 0.8 * bob(neutral)


def test_the_happy_bounce():
    happy, neutral = motion("Happy"), motion("Neutral")
    assert bob(happy) > 1.8 * bob(neutral)
    assert swing(happy) > 1.4 * swing(neutral)
    assert face(happy)[:, 0].mean() < -3.0


def test_a_drunk_leaves_the_line_and_arrives():
    drunk = motion("Drunk")
    heading = drunk.base[:, 2]
    assert np.abs(heading).max() == 0.0
    astray = np.convolve(drunk.roots[:, 0], np.ones(36) / 36, "valid")
    assert np.ptp(astray) > 0.08
    steps = np.diff([e.time for e in drunk.events if e.name.startswith("heel_strike")][2:-2])
    assert steps.max() > 1.1 * steps.min()


def test_another_seed_staggers_otherwise_and_the_same_one_alike():
    params = WalkParams.from_dict({**STYLES["Drunk"].values, "distance": 5.0})
    once, again, other = (walk(MANNEQUIN, replace(params, seed=seed)) for seed in (3, 3, 4))
    repeats(once, again)
    size = min(len(once), len(other))
    assert np.abs(once.roots[:size, 0] - other.roots[:size, 0]).max() > 0.05


@pytest.mark.parametrize("seed", range(6))
def test_no_seed_breaks_an_ankle(seed):
    params = WalkParams.from_dict({**STYLES["Drunk"].values, "distance": 6.0, "seed": seed})
    over, where = beyond_limits(walk(MANNEQUIN, params))
    assert over < np.radians(0.5), where


def test_the_catwalk_is_one_line_under_swinging_hips():
    catwalk, neutral = motion("Catwalk"), motion("Neutral")
    assert width(neutral) > 0.08
    assert width(catwalk) < 0.01
    assert np.ptp(degrees(catwalk, "hips", 1)) > 2.0 * np.ptp(degrees(neutral, "hips", 1))


def test_the_old_take_short_steps_and_stoop():
    old, neutral = motion("Old"), motion("Neutral")
    assert style("Old").speed / cadence(old) < 0.5 * style("Neutral").speed / cadence(neutral)
    assert trunk(old) > trunk(neutral) + 18.0
    assert width(old) > width(neutral) + 0.05
    assert degrees(old, "shin_L").min() > degrees(neutral, "shin_L").min() + 10.0


def test_a_limp_spares_the_leg_that_hurts():
    limping, neutral = motion("Limping"), motion("Neutral")
    assert stances(limping, "L") < 0.85 * stances(limping, "R")
    assert stances(neutral, "L") == pytest.approx(stances(neutral, "R"), rel=0.02)


def test_a_limp_has_uneven_strikes():
    found = [(e.time, e.name[-1]) for e in motion("Limping").events if e.name.startswith("heel_strike")]
    spans = {s: np.mean([b - a for (a, one), (b, _) in pairwise(found[2:-2]) if one == s]) for s in "LR"}
    assert spans["L"] < 0.85 * spans["R"]


def test_limps_of_the_left_and_of_the_right_leg_are_mirror_images():
    limp = style("Limping")
    way = start_stop(limp.speed, 24.0)
    left, right = (
        travel(MANNEQUIN, way, TravelParams(gait="walk", walk=one, first_foot=foot))
        for one, foot in ((limp, "left"), (replace(limp, limp_left=0.0, limp_right=limp.limp_left), "right"))
    )
    assert np.abs(left.roots - right.roots * (-1.0, 1.0, 1.0)).max() < 1e-9
    assert quat.distance(left.rotations, anatomy.mirror(MANNEQUIN, right.rotations)).max() < 1e-6
    assert stances(left, "L") == pytest.approx(stances(right, "R"))


def test_a_child_trips_along_with_arms_away_from_the_body():
    child, neutral = motion("Child"), motion("Neutral")
    assert cadence(child) > 1.3 * cadence(neutral)
    assert bob(child) > 1.5 * bob(neutral)
    assert degrees(child, "upper_arm_L", 1).mean() > degrees(neutral, "upper_arm_L", 1).mean() + 12.0


def test_a_power_walk_has_bent_elbows_and_turning_hips():
    power, neutral = motion("Power Walk"), motion("Neutral")
    assert degrees(power, "forearm_L").min() > 80.0
    assert np.ptp(degrees(power, "hips", 2)) > 1.5 * np.ptp(degrees(neutral, "hips", 2))
    assert cadence(power) > 1.15 * cadence(neutral)


def test_heels_on_tiptoe_are_never_down():
    assert depths(motion("Tiptoe"))[:, :, 0].max() < -0.03
    assert depths(motion("Neutral"))[:, :, 0].max() > -1e-3


def run_of(name, seconds=3.0, fps=48.0):
    params = RunParams.from_dict(RUNS[name].values)
    return travel(MANNEQUIN, straight(params.speed, seconds, fps), TravelParams(gait="run", run=params))


def test_six_runs_are_shipped_without_a_fault():
    assert tuple(RUNS) == ("Jog", "Run", "Sprint", "Heavy", "Loose", "Stiff")
    assert not [p.fault for p in RUNS.values() if p.fault]
    assert len({frozenset(p.values) for p in RUNS.values()}) == 1


@pytest.mark.parametrize("name", RUNS)
def test_runs_keep_feet_joints_and_hands_in_order(name):
    moved = run_of(name)
    assert slide(moved) < 1e-3
    assert depth(moved) < 1e-3
    over, where = beyond_limits(moved)
    assert over < 1e-6, where
    assert knee_pop(moved) < 3.0
    assert gap(moved) > -0.02


def test_runs_differ_as_their_names_say():
    body = measure(MANNEQUIN)
    run = {name: Run(body, RunParams.from_dict(p.values)) for name, p in RUNS.items()}
    steps = {name: run[name].stride(float(p.values["speed"])).step_length for name, p in RUNS.items()}
    assert steps["Jog"] < steps["Run"] < steps["Sprint"]
    moved = {name: run_of(name) for name in ("Run", "Heavy", "Loose", "Stiff")}
    assert bob(moved["Stiff"]) < bob(moved["Run"]) < bob(moved["Heavy"])
    assert swing(moved["Stiff"]) < 0.7 * swing(moved["Run"])
    assert degrees(moved["Loose"], "forearm_L").mean() < degrees(moved["Run"], "forearm_L").mean() - 15.0
    turned = {name: np.ptp(quat.heading(m.rotations[:, 0])) for name, m in moved.items()}
    assert turned["Stiff"] < turned["Run"] < turned["Loose"]
