"""Who is to work somewhere gets there with no more turning than it takes, and stands where there is room."""

from dataclasses import replace

import numpy as np
import pytest
from quality import slide
from troupe.core.errors import NoPath
from troupe.core.gait.route import RouteParams, follow
from troupe.core.kinematics import fk
from troupe.core.kinematics.body_shape import ARM_PARTS, capsules
from troupe.core.maths import quat
from troupe.core.maths.ramp import wrap
from troupe.core.planning.hands.afoot import Afoot
from troupe.core.planning.hands.arriving import Places
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.sidling import shifted, sidled
from troupe.core.planning.hands.stepping_back import room_to_turn
from troupe.core.planning.hands.stepping_up import clearest, stances, stepped
from troupe.core.planning.hands.upright import GAP, Upright, floor_under, hanging
from troupe.core.planning.hands.workplaces import standing
from troupe.core.planning.spaces.meshes import Mesh
from troupe.core.planning.spaces.penetration import penetrations
from troupe.core.planning.spaces.set_pieces import bottle, box
from troupe.core.planning.walkers.flowing import flowing, set_off
from troupe.core.planning.ways.map import MapParams
from troupe.core.world import Body, World

SKELETON, POSE = standing()
FLOOR = box("floor", (4.0, 4.0, 0.05), (0.0, 0.0, -0.05), kind="ground", number=90)
FPS = 24.0


def backed_off(skeleton, pose, world, fps, full=()):
    """The step to where there is room to turn; None where there is room, or none either way."""
    goal = room_to_turn(Upright(skeleton, pose, world, full))
    return None if goal is None else shifted(skeleton, pose, world, goal, fps)


def stance(*args):
    return Places(stances(*args)).first


def afoot(*bodies, pose=POSE):
    job = Job(SKELETON, pose, World((FLOOR, *bodies)), ReachParams(), fps=FPS)
    return Afoot(job, 1.2, MapParams(floor=floor_under(job.skeleton, job.pose)))


def prism(name, outline, low, high, number=1):
    """A body over a level outline (N, 2) whose corners from the first on see all of it."""
    count = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(count, z)]) for z in (low, high)])
    k = np.arange(count)
    after = (k + 1) % count
    sides = np.concatenate([np.column_stack([k, after, after + count]), np.column_stack([k, after + count, k + count])])
    fan = np.column_stack([np.zeros(count - 2, dtype=int), k[1:-1], k[2:]])
    return Body(name, number, vertices, np.concatenate([sides, fan[:, ::-1], fan + count]), np.eye(4)[None], "obstacle")


def corner_desk(inner=0.45):
    """An L-shaped desk of one mesh around who stands at the origin and faces it, its inner edges so far away."""
    low, far = -inner - 0.7, 1.6
    outline = [(-inner, -inner), (-inner, far), (low, far), (low, low), (far, low), (far, -inner)]
    return prism("desk", np.array(outline), 0.0, 0.74)


def turning(motion):
    return float(np.abs(np.diff(motion.base[:, 2])).sum())


def turned_away(motion):
    """How far a motion turns beyond its first and last heading [rad]."""
    headings = motion.base[:, 2] - motion.base[0, 2]
    end = float(headings[-1])
    return max(float(headings.max()) - max(end, 0.0), min(end, 0.0) - float(headings.min()))


def feet_apart(motion):
    """(T,) how far the left ankle is to the left of the right one, as the body faces [m]."""
    places, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    left, right = (places[:, motion.skeleton.joint(f"foot_{side}"), :2] for side in "LR")
    heading = motion.base[:, 2]
    return ((left - right) * np.column_stack([np.cos(heading), np.sin(heading)])).sum(axis=1)


def at_base(base):
    """Rotations and root of somebody upright with hanging arms at a base (3,)."""
    turn = quat.about(np.array([0.0, 0.0, 1.0]), base[2] - float(quat.heading(POSE.rotations[0])))
    rotations = hanging(SKELETON, POSE.rotations)
    rotations[0] = quat.multiply(turn, rotations[0])
    return rotations, np.array([*base[:2], POSE.root[2]])


def is_clear(mesh, rotations, root, but=()):
    """Whether no capsule of a body, but for some parts, is in a mesh that is where its axes are."""
    shape = capsules(SKELETON)
    shape = shape.chosen([part for part in shape.parts if part[:-2] not in but])
    starts, ends = shape.placed(*fk.forward(SKELETON, rotations, root))
    share = np.linspace(0.0, 1.0, 60)[:, None, None]
    beads = (starts + share * (ends - starts)).reshape(-1, 3)
    return not (mesh.touched(beads, np.tile(shape.radii, 60)) | mesh.inside(beads)).any()


WORKTOP = box("worktop", (1.5, 0.3, 0.45), (0.0, -0.7, 0.45), number=2)


@pytest.mark.parametrize("aside", [-0.75, -0.4, 0.35, 0.7])
def test_to_what_is_beside_it_on_a_worktop_it_steps_aside_without_turning_away(aside):
    feet = afoot(WORKTOP, bottle("bottle", (aside, -0.6, 0.9), number=3))
    feet.step_up(np.array([aside, -0.6, 1.0]), facing=0.0)
    (motion,) = feet.motions
    assert np.abs(motion.base[:, 2]).max() < 0.1 and abs(motion.base[-1, 0] - aside) < 0.1
    assert slide(motion) < 1e-3 and feet_apart(motion).min() > 0.02
    assert motion.duration < 4.5
    names = [name for name in motion.curves if name.startswith("contact/")]
    assert names and all(motion.curves[name][-1] == 1.0 for name in names)


@pytest.mark.parametrize(
    "goal", [(0.4, -0.3, 0.5), (-0.5, 0.3, 0.7), (0.0, 0.6, 0.0), (0.1, -0.6, -0.9), (0.2, 0.1, 2.6)]
)
def test_small_steps_turn_on_the_way_and_feet_stay_where_they_are_planted(goal):
    motion = sidled(SKELETON, POSE, World((FLOOR,)), np.array(goal), FPS)
    assert turned_away(motion) < 1e-6 and turning(motion) == pytest.approx(abs(goal[2]), abs=1e-6)
    assert slide(motion) < 1e-3 and np.allclose(motion.base[-1], goal) and feet_apart(motion).min() > 0.0
    assert np.linalg.norm(motion.roots[-1] - motion.roots[-2]) * FPS < 0.05


def test_who_is_there_stays():
    motion = sidled(SKELETON, POSE, World((FLOOR,)), np.array([0.01, 0.02, 0.03]), FPS)
    assert len(motion) == 2 and np.abs(motion.rotations - POSE.rotations).max() == 0.0


def test_nobody_steps_aside_through_something_nor_far():
    post = box("post", (0.05, 0.05, 0.8), (0.35, 0.0, 0.8), number=4)
    goal = np.array([0.7, 0.0, 0.0])
    assert sidled(SKELETON, POSE, World((FLOOR,)), goal, FPS) is not None
    assert sidled(SKELETON, POSE, World((FLOOR, post)), goal, FPS) is None
    assert sidled(SKELETON, POSE, World((FLOOR,)), np.array([1.2, 0.0, 0.0]), FPS) is None
    assert sidled(SKELETON, POSE, World((FLOOR,)), np.array([0.6, 0.0, 2.0]), FPS) is None


def test_a_reach_steps_closer_without_turning_away():
    thing = bottle("bottle", (0.85, -0.45, 0.9), number=3)
    params = ReachParams(task="touch", target="bottle", step=True, lean=False)
    job = Job(SKELETON, POSE, World((FLOOR, thing)), params, fps=FPS)
    motion = stepped(SKELETON, POSE, job.world, thing.matrices[0][:3, 3], FPS, "L")
    assert 0.1 < np.hypot(*motion.base[-1, :2]) < 0.8 and turned_away(motion) < 1e-6 and slide(motion) < 1e-3
    done = reach(job)
    whole = done.performance.motions["actor"]
    assert not done.offences and whole.mask is None and turned_away(whole) < 0.1


def test_a_reach_steps_closer_round_what_is_in_between():
    """A bench before the table: whoever went straight would walk through it."""
    bench = box("bench", (0.5, 0.15, 0.22), (0.0, -1.0, 0.22), number=4)
    table = box("table", (0.6, 0.3, 0.02), (0.0, -2.8, 0.9), number=6)
    world = World((FLOOR, bench, table))
    motion = stepped(SKELETON, POSE, world, np.array([0.0, -2.65, 1.0]), FPS)
    assert motion.base[-1, 1] < -1.1 and np.abs(motion.base[:, 0]).max() > 0.5 and slide(motion) < 1e-3
    parts = ("thigh", "shin", "foot", "palm", "forearm")
    assert not penetrations(motion, World((bench, table)), parts=parts)
    job = Job(SKELETON, POSE, World((*world.bodies, bottle("bottle", (0.0, -2.65, 0.92), number=5))), ReachParams())
    done = reach(replace(job, params=ReachParams(task="pick_up", target="bottle"), fps=FPS))
    assert not done.offences and np.abs(done.performance.motions["actor"].base[:, 0]).max() > 0.5


def test_a_way_that_grazes_something_is_gone_where_there_is_no_other():
    def tracks():
        yield np.zeros((2, 3))
        raise NoPath("no way leads there")

    still = shifted(SKELETON, POSE, World((FLOOR,)), np.zeros(3), FPS)
    assert clearest(tracks(), lambda track: still, lambda motion: 0.01) is still
    with pytest.raises(NoPath, match="no way leads there"):
        clearest(iter(()), lambda track: still, lambda motion: 0.0)


@pytest.mark.parametrize("place", [(2.5, 0.0), (-2.0, 0.5), (1.5, -1.5), (0.3, 2.5), (-0.2, -2.5)])
def test_a_walk_turns_no_more_than_it_takes(place):
    table = box("table", (0.25, 0.25, 0.02), (*place, 0.88), number=4)
    feet = afoot(table)
    feet.step_up(np.array([*place, 1.0]))
    (motion,) = feet.motions
    least = abs(float(wrap(motion.base[-1, 2])))
    assert turning(motion) < least + 0.15 and slide(motion) < 1e-3
    off = np.array(place) - motion.base[-1, :2]
    assert np.hypot(*off) < 0.75 and abs(wrap(np.arctan2(off[0], -off[1]) - motion.base[-1, 2])) < 0.5


def test_it_walks_round_to_another_side_with_a_curve_and_no_stop():
    table = box("table", (0.25, 0.25, 0.02), (0.0, -2.5, 0.88), number=4)
    feet = afoot(table)
    feet.step_up(np.array([0.0, -2.5, 1.0]), facing=np.pi / 2)
    (motion,) = feet.motions
    assert abs(wrap(motion.base[-1, 2] - np.pi / 2)) < 0.5 and motion.base[-1, 0] < -0.3
    assert turning(motion) < 3.2
    speed = np.hypot(*np.diff(motion.base[:, :2], axis=0).T) * FPS
    going = np.flatnonzero(speed > 0.1)
    assert (speed[going[0] : going[-1]] > 0.1).all() and slide(motion) < 1e-3
    assert motion.duration - going[-1] / FPS < 1.2, "nor does it stand about when it is there"


def test_it_does_not_step_up_through_a_wall():
    wall = box("wall", (1.2, 0.05, 1.2), (0.6, 0.7, 1.2), number=3)
    table = box("table", (0.5, 0.3, 0.43), (0.2, 1.5, 0.43), number=1)
    feet = afoot(wall, table)
    feet.step_up(np.array([0.1, 1.35, 0.96]), via=[np.array([-0.92, 0.55])], facing=np.pi)
    base = np.concatenate([m.base for m in feet.motions])
    x, y = base[:, 0], base[:, 1]
    assert not ((np.abs(x - 0.6) < 1.3) & (np.abs(y - 0.7) < 0.13)).any()
    assert np.hypot(x[-1] - 0.1, y[-1] - 1.35) < 0.8


def test_room_in_the_corner_of_a_desk_of_one_mesh_is_found_and_kept():
    desk = corner_desk()
    assert Mesh(desk.vertices, desk.triangles).rough
    world, mesh = World((FLOOR, desk)), Mesh(desk.vertices, desk.triangles)
    # deep in the corner arms hang over the desk, or into its edges
    for place, but in (((-0.65, -0.6, 0.8), ARM_PARTS), ((-0.75, 0.3, 0.8), ()), ((0.6, -0.8, 0.8), ())):
        goal = stance(SKELETON, POSE, world, np.array(place))
        assert np.hypot(*(goal[:2] - place[:2])) < 0.8 and is_clear(mesh, *at_base(goal), but)
        motion = stepped(SKELETON, POSE, world, np.array(place), FPS)
        assert is_clear(mesh, motion.rotations[-1], motion.roots[-1], ARM_PARTS)
    feet = afoot(desk)
    feet.step_up(np.array([-0.75, 0.3, 0.8]))
    assert np.hypot(*(feet.stance.base[:2] - (-0.75, 0.3))) < 0.8


def test_who_stands_in_a_narrow_corner_of_a_desk_steps_back_to_turn():
    assert backed_off(SKELETON, POSE, World((FLOOR, corner_desk(0.9))), FPS) is None
    near = replace(corner_desk(), vertices=corner_desk().vertices + (0.2, 0.15, 0.0))
    back = backed_off(SKELETON, POSE, World((FLOOR, near)), FPS)
    assert back is None or np.ptp(back.base[:, 2]) < 1e-9
    edge = prism(
        "edge", np.array([(-1, -0.2), (-1, -0.9), (1, -0.9), (1, -0.2), (0.9, -0.25), (-0.9, -0.25)]), 0.7, 0.74
    )
    back = backed_off(SKELETON, POSE, World((FLOOR, edge)), FPS)
    assert back.base[-1, 1] > 0.1 and slide(back) < 1e-3


def test_within_walls_of_one_mesh_there_is_room():
    outline = np.array([(-1.5, -1.5), (1.5, -1.5), (1.5, 1.5), (-1.5, 1.5)])
    count = len(outline)
    vertices = np.concatenate([np.column_stack([outline, np.full(count, z)]) for z in (0.0, 2.5)])
    k = np.arange(count)
    after = (k + 1) % count
    sides = np.concatenate([np.column_stack([k, after, after + count]), np.column_stack([k, after + count, k + count])])
    walls = Body("walls", 5, vertices, sides, np.eye(4)[None], "obstacle")
    goal = stance(SKELETON, POSE, World((FLOOR, walls)), np.array([1.3, 0.0, 1.0]))
    assert 0.3 < goal[0] < 1.3 and backed_off(SKELETON, POSE, World((FLOOR, walls)), FPS) is None
    body = Upright(SKELETON, POSE, World((FLOOR, walls)))
    for x, free in ((0.0, True), (1.0, True), (1.3, False), (1.49, False)):
        assert body.free(np.array([[x, 0.0, 0.0]]), GAP)[0] == free


def test_room_is_the_same_whether_a_box_is_known_for_one_or_asked_for_its_triangles():
    plain = box("block", (0.3, 0.3, 0.5), (0.6, 0.1, 0.5), number=6)
    outline = np.array([(0.3, -0.2), (0.9, -0.2), (0.9, 0.4), (0.85, 0.4), (0.3, 0.4)])
    # a dent that no body gets into makes it no box any more
    outline[3] = (0.85, 0.39)
    rough = prism("block", outline, 0.0, 1.0)
    assert Mesh(rough.vertices, rough.triangles).rough and not Mesh(plain.vertices, plain.triangles).rough
    grid = np.stack(np.meshgrid(np.linspace(-0.4, 1.4, 19), np.linspace(-0.7, 0.3, 11), (0.0, 0.8)), -1).reshape(-1, 3)
    one, other = (Upright(SKELETON, POSE, World((FLOOR, body))).room(grid, GAP) for body in (plain, rough))
    assert (one != other).mean() < 0.01 and one.all(axis=1).any() and not one.all(axis=1).all()


def test_where_there_is_no_room_it_says_so():
    block = box("block", (1.6, 1.6, 0.5), (0.0, -2.5, 0.5), number=7)
    with pytest.raises(NoPath, match="no room to stand within reach"):
        stance(SKELETON, POSE, World((FLOOR, block)), np.array([0.0, -2.5, 1.0]))
    with pytest.raises(NoPath, match="no room to stand within reach"):
        afoot(block).step_up(np.array([0.0, -2.5, 1.0]))
    with pytest.raises(NoPath, match="m away"):
        stance(SKELETON, POSE, World((FLOOR,)), np.array([0.0, -200.0, 1.0]))


def test_who_has_nearly_turned_sets_off():
    whole = follow([(0.0, 0.0), (0.0, 2.0)], 1.2, FPS, RouteParams(pause=0.0), 0.0).points
    track = set_off(whole)
    assert len(track) < len(whole) - 5 and np.allclose(track[[0, -1]], whole[[0, -1]])
    assert np.abs(np.diff(track, axis=0)).max() < 1.05 * np.abs(np.diff(whole, axis=0)).max()
    moves, turns = (np.abs(np.diff(track[:, k])) > 1e-3 for k in (1, 2))
    assert (moves & turns).any()
    ahead = follow([(0.0, 0.0), (0.0, -2.0)], 1.2, FPS, RouteParams(pause=0.0), 0.0).points
    assert set_off(ahead) is ahead
    assert np.allclose(flowing(whole, whole[-1:], 5)[-1], whole[-1])


@pytest.mark.parametrize("place", [(1.0, -2.6), (-0.3, 1.5), (0.6, 0.9), (-1.7, 0.7), (-0.2, -1.0)])
@pytest.mark.parametrize("turn", [0.4, 1.2, 2.6])
def test_arms_that_swing_do_not_go_through_a_table_that_is_walked_up_to(place, turn):
    c, s = np.cos(turn), np.sin(turn)
    flat = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    table = box("table", (0.6, 0.3, 0.02), (*place, 0.88), flat, number=4)
    feet = afoot(table)
    for along in (0.3, -0.3):
        feet.step_up(np.array([*place, 1.0]) + along * np.array([c, s, 0.0]) + 0.15 * np.array([s, -c, 0.0]))
    for motion in feet.motions:
        assert not penetrations(motion, World((table,)))
        assert slide(motion) < 1e-3
