"""Walks over slopes, stairs, edges and gaps: feet on the ground, soles along it, swings above it."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from quality import PARTS, beyond_limits, depth, depths, hover, knee_pop, sharpest_corner, slide, soles
from repeat import repeats
from troupe.core import NoPath, Pose
from troupe.core.gait.physique import measure
from troupe.core.gait.route import RouteParams, follow
from troupe.core.gait.terrain import HIGHEST, STEEPEST, Level, Terrain
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat
from troupe.core.maths.geometry import height
from troupe.core.world import World

from .ways import BODY, box, field, gaps, ledge, rough, slope, stairs, straight, track

MM = 1e-3
SLACK = np.radians(0.05)
PHYSIQUE = measure(BODY)

WORLDS = {
    **{f"slope of {a} degrees": partial(slope, np.radians(a)) for a in (5, 10, 20, -5, -10, -20)},
    "stairs up": stairs,
    "stairs down": lambda: stairs(down=True),
    "step up": lambda: ledge(0.2),
    "step down": lambda: ledge(-0.2),
    "kerb": lambda: ledge(0.12),
    "gaps": lambda: gaps((1.3, 2.45, 3.7), 0.18),
    "rough ground": rough,
}


@cache
def world_of(name):
    return WORLDS[name]()


@cache
def gone(name, fps=60.0):
    """A walk straight over one ground, on stairs as slow as people are there."""
    way = straight(0.5, 9.0, fps) if name.startswith("stairs") else straight(0.85, 6.0, fps)
    return travel(BODY, way, world=world_of(name))


def strikes(motion):
    return [(e.time, e.name[-1], e.data) for e in motion.events if e.name.startswith("heel_strike")]


@pytest.mark.parametrize("name", WORLDS)
def test_planted_points_stay_within_five_millimetres(name):
    assert slide(gone(name)) < 5 * MM


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_of_a_planted_foot_sinks_by_more_than_five_millimetres(name):
    below = np.where(soles(gone(name)).planted, depths(gone(name), world_of(name)), -1.0)
    t, foot, part = np.unravel_index(below.argmax(), below.shape)
    where = f"{PARTS[part]} {'LR'[foot]} at {t / 60:.2f} s: {1e3 * below.max():.1f} mm"
    assert below.max() < 5 * MM, where


@pytest.mark.parametrize("name", [n for n in WORLDS if n not in ("gaps", "rough ground")])
def test_planted_feet_are_on_the_ground(name):
    assert hover(gone(name), world_of(name)) < 8 * MM


@pytest.mark.parametrize("name", WORLDS)
def test_no_joint_leaves_its_limits(name):
    over, where = beyond_limits(gone(name))
    assert over < SLACK, f"{np.degrees(over):.2f} degrees: {where}"


@pytest.mark.parametrize("name", WORLDS)
def test_no_knee_pops(name):
    assert knee_pop(gone(name)) < 3.0


@pytest.mark.parametrize("name", WORLDS)
def test_knees_bend_forward_and_are_never_straight(name):
    motion = gone(name)
    for side in "LR":
        knee = np.degrees(anatomy.angles(motion, f"shin_{side}")[:, 0])
        assert knee.min() > 2.0
        assert knee.max() < 135.0


@pytest.mark.parametrize("name", ["slope of 10 degrees", "stairs up", "stairs down", "step up"])
def test_speeds_have_no_jumps(name):
    # toes are lifted at once where an edge comes under them on the way down
    seen = {"stairs down": 8.0, "step up": 2.0}.get(name, 1.0)
    growth, where = sharpest_corner(lambda fps: gone(name, fps), seen=seen)
    assert growth < 1.5, f"x{growth:.2f}, {where}"


# --- where the feet are put


def sole_of(fall, side):
    """(6, 2) places under the sole of a footfall."""
    s, c = np.sin(fall["heading"]), np.cos(fall["heading"])
    sole = Terrain(World(), PHYSIQUE).soles["LR".index(side)]
    return np.array([fall["x"], fall["y"]]) + sole @ np.array([[c, s], [-s, c]])


def test_every_point_of_every_sole_is_over_ground_beside_gaps():
    world = world_of("gaps")
    found = strikes(gone("gaps"))
    assert len(found) > 6
    for _, side, fall in found:
        _, _, hit = height(world, sole_of(fall, side))
        assert hit.all(), fall


@pytest.mark.parametrize("name", ["stairs up", "stairs down", "step up", "step down", "kerb"])
def test_no_sole_is_put_on_an_edge(name):
    """Treads of 30 cm are longer than the feet of this body."""
    world = world_of(name)
    for _, side, fall in strikes(gone(name)):
        z, _, hit = height(world, sole_of(fall, side), below=fall["z"] + 0.05)
        top, _, _ = height(world, sole_of(fall, side))
        assert hit.all()
        assert np.ptp(z) < 1e-6, fall
        assert np.ptp(top) < 1e-6, fall
        assert fall["z"] == pytest.approx(z[0], abs=1e-6)


@pytest.mark.parametrize("name", ["stairs up", "stairs down"])
def test_stairs_are_climbed_from_the_first_to_the_last(name):
    levels = np.array([fall["z"] for _, _, fall in strikes(gone(name))])
    steps = np.diff(levels) / 0.17 * (1 if name == "stairs up" else -1)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-4)
    assert steps.sum() == pytest.approx(6)
    assert steps.min() >= -1e-9
    assert steps.max() == pytest.approx(1.0)


@pytest.mark.parametrize(("speed", "most"), [(0.35, 1), (0.8, 1), (1.2, 2)])
@pytest.mark.parametrize("down", [False, True])
def test_stairs_are_taken_singly_unless_the_speed_asks_for_more(speed, most, down):
    motion = travel(BODY, straight(speed, 4.5 / speed, 24.0), world=stairs(down=down))
    steps = np.abs(np.diff([fall["z"] for _, _, fall in strikes(motion)])) / 0.17
    assert steps.max() == pytest.approx(most)


@pytest.mark.parametrize("down", [False, True])
def test_treads_shorter_than_the_foot_are_taken_singly_with_the_ball_on_them(down):
    world = stairs(rise=0.18, tread=0.25, down=down)
    motion = travel(BODY, straight(0.45, 9.0, 24.0), world=world)
    levels = np.array([fall["z"] for _, _, fall in strikes(motion)]) / 0.18
    assert np.abs(np.diff(levels)).max() == pytest.approx(1.0)
    for _, side, fall in strikes(motion):
        z, _, _ = height(world, sole_of(fall, side)[3:5])
        np.testing.assert_allclose(z, fall["z"], atol=1e-6)


def test_feet_come_down_on_the_ball_on_stairs():
    for name in ("stairs up", "stairs down"):
        motion = gone(name)
        planted = soles(motion).planted
        for at, side, fall in strikes(motion):
            if 1.0 < abs(fall["z"]) / 0.17 < 5.5:
                heel, ball, _ = planted[int(np.ceil(at * motion.fps)), "LR".index(side)]
                assert ball
                assert not heel


@pytest.mark.parametrize("angle", [5, 10, -5, -10, -20])
def test_soles_lie_along_a_slope(angle):
    motion = gone(f"slope of {angle} degrees")
    found = soles(motion)
    for k in range(2):
        flat = found.planted[:, k].all(axis=1) & (motion.base[:, 1] < -3.2)
        assert flat.sum() > 10
        line = (found.places[:, k, 1] - found.places[:, k, 0])[flat]
        rise = np.degrees(np.arctan2(line[:, 2] - found.rests[k, 1] / np.cos(np.radians(angle)), -line[:, 1]))
        assert rise == pytest.approx(np.full(len(rise), angle), abs=2.5)


@pytest.mark.parametrize("name", ["slope of 20 degrees", "stairs up", "stairs down", "rough ground"])
def test_the_pelvis_goes_with_the_ground(name):
    motion, world = gone(name), world_of(name)
    z, _, _ = height(world, motion.base[:, :2])
    above = motion.roots[:, 2] - z
    level = travel(BODY, straight(0.85, 3.0)).roots[:, 2].mean()
    assert above.min() > level - 0.4
    assert above.max() < level + 0.22
    bumps = np.diff(motion.roots[:, 2], 2) * motion.fps**2
    assert np.abs(bumps).max() < 45.0


def test_the_swinging_foot_clears_every_step():
    for name in ("stairs up", "stairs down", "step up", "step down", "kerb"):
        assert depth(gone(name), world_of(name)) < MM, name


def test_the_shins_do_not_go_through_the_stairs():
    motion, world = gone("stairs up"), world_of("stairs up")
    places, _ = fk.forward(BODY, motion.rotations, motion.roots)
    for side in "LR":
        knee, ankle = (places[:, BODY.joint(f"{part}_{side}")] for part in ("shin", "foot"))
        for part in (0.0, 0.25, 0.5):
            point = knee + part * (ankle - knee)
            z, _, _ = height(world, point[:, :2])
            assert (point[:, 2] > z).all(), (side, part)


def test_a_level_mesh_is_walked_as_no_mesh_is():
    flat = World((box("floor", (-3, -12, -0.5), (3, 4, 0.0)),))
    a, b = (travel(BODY, straight(1.2, 4.0, 30.0), world=w) for w in (None, flat))
    np.testing.assert_allclose(a.roots, b.roots, atol=1e-6)
    np.testing.assert_allclose(a.rotations, b.rotations, atol=1e-5)


def test_ground_at_any_height_is_walked_alike():
    high = World((box("floor", (-3, -12, 6.5), (3, 4, 7.0)),))
    a, b = (travel(BODY, straight(1.2, 4.0, 30.0), world=w) for w in (None, high))
    np.testing.assert_allclose(a.roots + (0, 0, 7), b.roots, atol=1e-6)


def test_a_start_on_a_floor_of_a_house_stays_there():
    """Under the roof and above the ground floor: the floor under the feet of the pose counts."""
    house = World(
        (
            box("ground", (-3, -12, -0.5), (3, 4, 0.0)),
            box("first floor", (-3, -12, 2.7), (3, 4, 3.0), number=1),
            box("roof", (-3, -12, 5.7), (3, 4, 6.0), number=2),
        )
    )
    pose = travel(BODY, track(np.zeros(3), 0.0, 0.0, 24.0)).pose(0)
    t = np.arange(90) / 30.0
    for level in (0.0, 3.0):
        start = Pose(pose.rotations, pose.root + np.array([0.0, 0.0, level]))
        motion = travel(BODY, track(0.0, -0.3 * t**2, 0.0, 30.0), world=house, start=start)
        assert {round(fall["z"], 6) for _, _, fall in strikes(motion)} == {level}


def test_a_platform_that_moves_is_trodden_where_it_is():
    rows = np.tile(np.eye(4), (145, 1, 1))
    rows[:, 2, 3] = np.linspace(0.0, 0.6, 145)
    lift = replace(box("lift", (-3, -12, -0.5), (3, 4, 0.0)), matrices=rows)
    motion = travel(BODY, straight(0.9, 6.0, 24.0), world=World((lift,), fps=24.0))
    for at, _, fall in strikes(motion):
        assert fall["z"] == pytest.approx(0.1 * at, abs=0.01)


# --- where there is no way


@pytest.mark.parametrize("step", [0.9, -0.9])
def test_a_cliff_higher_than_the_leg_is_no_way_and_its_place_is_told(step):
    way = "up" if step > 0 else "down"
    with pytest.raises(NoPath, match=rf"goes {way} by 0\.90 m at x .*, y -[23]\.\d\d m, more than the 0\.47 m"):
        travel(BODY, straight(1.0, 5.0, 24.0), world=ledge(step, at=2.5))


def test_the_highest_step_is_taken_and_a_higher_one_is_not():
    most = HIGHEST * PHYSIQUE.leg
    way = straight(0.7, 6.0, 24.0)
    travel(BODY, way, world=ledge(most - 0.02))
    with pytest.raises(NoPath):
        travel(BODY, way, world=ledge(most + 0.02))


def test_a_way_off_the_ground_is_no_way_and_its_place_is_told():
    island = World((box("island", (-2, -2, -1), (2, 2, 0.0)),))
    with pytest.raises(NoPath, match=r"no ground at x -?0\.\d\d, y -2\.\d\d m"):
        travel(BODY, straight(1.2, 4.0, 24.0), world=island)


def test_ground_smaller_than_a_foot_is_no_way():
    post = World((box("post", (-0.3, -0.05, -1), (0.3, 0.05, 0.0)),))
    with pytest.raises(NoPath, match="the ground is too small for a foot at x"):
        travel(BODY, straight(0.0, 1.0, 24.0), world=post)


def test_a_world_without_ground_is_no_way():
    wall = World((box("wall", (-1, -3, 0), (1, -2, 2), "obstacle"),))
    with pytest.raises(NoPath, match="no ground"):
        travel(BODY, straight(1.2, 2.0, 24.0), world=wall)
    with pytest.raises(NoPath, match="no ground"):
        travel(BODY, straight(1.2, 2.0, 24.0), world=World())


def test_a_gap_wider_than_a_step_is_no_way():
    with pytest.raises(NoPath, match="no ground"):
        travel(BODY, straight(1.0, 5.0, 24.0), world=gaps((2.0,), 1.6))


@pytest.mark.parametrize("kind", ["obstacle", "door", "prop"])
def test_a_wall_across_the_way_is_no_way_and_its_place_is_told(kind):
    world = World((box("floor", (-3, -12, -0.5), (3, 4, 0.0)), box("wall", (-2, -2.6, 0.0), (2, -2.4, 2.0), kind, 1)))
    with pytest.raises(NoPath, match=r"wall.*y -2\.\d"):
        travel(BODY, straight(1.2, 5.0, 24.0), world=world)


def test_a_wall_of_ground_across_the_way_is_no_way():
    world = World((box("floor", (-3, -12, -0.5), (3, 4, 0.0)), box("wall", (-2, -2.6, 0.0), (2, -2.4, 2.0), number=1)))
    with pytest.raises(NoPath):
        travel(BODY, straight(1.2, 5.0, 24.0), world=world)


def test_a_wall_beside_the_way_is_in_nobodys_way():
    floor = box("floor", (-3, -12, -0.5), (3, 4, 0.0))
    beside = box("wall", (0.9, -12, 0.0), (1.1, 4, 2.0), "obstacle", 1)
    a, b = (travel(BODY, straight(1.2, 4.0, 24.0), world=World(w)) for w in ((floor,), (floor, beside)))
    repeats(a, b)


# --- one sole at a time


def put(world, x=0.0, y=0.0, heading=0.0, near=0.0, fixed=False):
    return Terrain(world, PHYSIQUE).ground(np.array([x, y]), heading, 0, 0.0, 0.0, near, fixed)


def test_a_sole_on_a_plane_lies_on_it():
    tilt = np.radians(12.0)
    world = field(lambda x, y: 0.3 + np.tan(tilt) * x, x=(-1, 1), y=(-1, 1), step=0.5)
    place, turn = put(world, x=0.2, heading=0.7)
    assert place == pytest.approx((0.2, 0.0, 0.3 + 0.2 * np.tan(tilt)), abs=1e-6)
    normal = quat.rotate(turn, np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(normal, [-np.sin(tilt), 0.0, np.cos(tilt)], atol=1e-6)
    assert quat.heading(turn) == pytest.approx(0.7, abs=0.02)


def test_a_sole_moves_off_an_edge_but_not_when_it_is_fixed():
    world = ledge(0.2, at=0.05)
    free, _ = put(world)
    fixed, _ = put(world, fixed=True)
    assert fixed[1] == 0.0
    assert free[1] != 0.0
    assert abs(free[1]) < 0.3


@pytest.mark.parametrize("heading", [0.0, 0.1])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_sole_finds_its_place_on_a_tread_hardly_longer_than_itself(heading, steps):
    """Wherever on a tread of 30 cm a foot of 27 cm is wanted by a body so many steps below, there is a place for it."""
    world = stairs()
    for y in np.linspace(-1.9, -2.7, 41):
        level = 0.17 * (1 + np.floor((-y - 1.5) / 0.3))
        place, _ = put(world, y=float(y), heading=heading, near=level - 0.17 * steps)
        z, _, _ = height(world, sole_of({"x": place[0], "y": place[1], "heading": heading}, "L"))
        assert np.ptp(z) < 1e-6, y


def test_a_sole_is_never_tilted_beyond_what_holds():
    world = field(lambda x, y: -np.tan(np.radians(44.0)) * y, x=(-1, 1), y=(-1, 1), step=0.5)
    _, turn = put(world)
    assert quat.distance(turn, quat.IDENTITY) <= STEEPEST + 1e-6


def test_a_level_floor_has_its_height_everywhere():
    floor = Level(0.3)
    place, turn = floor.ground(np.array([1.0, 2.0]), 0.5, 0, 0.0, 0.0, 0.0, False)
    np.testing.assert_allclose(place, [1.0, 2.0, 0.3])
    assert quat.heading(turn) == pytest.approx(0.5)
    np.testing.assert_array_equal(floor.heights(np.zeros((4, 3)), np.zeros(4)), [0.3] * 4)


def test_a_walk_along_a_curve_over_terrain_keeps_its_feet():
    world = rough(3)
    base = follow([[0, 1], [0.6, -1], [-0.6, -3], [0, -5]], 1.1, 60.0, RouteParams(corners=0.5))
    motion = travel(BODY, base, TravelParams(), world)
    assert slide(motion) < 5 * MM
    assert depth(motion, world) < 5 * MM
