"""A closed mesh around somebody is a room: its walls are in the way, and what is between them is not."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.errors import NoIK, NoPath
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.plan import PlanParams
from troupe.core.planning.spaces.collision import clearance
from troupe.core.planning.spaces.cover import covered
from troupe.core.planning.spaces.machines import Thing
from troupe.core.planning.spaces.penetration import penetrations
from troupe.core.planning.spaces.rooms import with_rooms
from troupe.core.planning.spaces.set_pieces import ball, bottle, box, lathe, placed
from troupe.core.planning.spaces.solids import Shapes, solids
from troupe.core.planning.spaces.ways import way
from troupe.core.skeleton import Pose
from troupe.core.world import HOLLOW, Body, World

SKELETON = mannequin(1.75)
STANDING = np.array([[0.0, 0.0, z] for z in (0.95, 1.2, 1.6)])
ROOM = box("room", (2.0, 1.5, 1.3), (0.0, 0.0, 1.3), number=1)
SKY = ball("sky", 6.0, (0.0, 0.0, 0.5))


def somebody():
    rest = rest_pose(SKELETON)
    arms = {f"{part}_{s}": a for s in "LR" for part, a in (("upper_arm", (0, 0.14, 0)), ("forearm", (0.3, 0, 0)))}
    return Pose(anatomy.with_angles(SKELETON, rest.rotations, arms), rest.root)


@pytest.mark.parametrize("around", [ROOM, SKY, replace(ROOM, triangles=ROOM.triangles[:, ::-1])])
def test_what_is_all_around_is_hollow_whichever_way_its_faces_look(around):
    table = box("table", (0.3, 0.3, 0.4), (0.6, 0.0, 0.4), number=2)
    found = with_rooms(World((around, table)), STANDING)
    assert [HOLLOW in body.tags for body in found.bodies] == [True, False]
    assert with_rooms(found, STANDING) is found


def test_what_somebody_is_but_partly_in_stays_solid():
    counter = box("counter", (0.5, 0.5, 0.5), (0.0, 0.0, 0.5))
    world = World((counter, replace(ROOM, matrices=placed((5.0, 0.0, 1.3))[None])))
    assert with_rooms(world, STANDING) is world


def test_of_a_room_that_is_a_box_the_walls_are_known_exactly():
    walls = solids(World((replace(ROOM, tags={HOLLOW}),)))
    points = np.random.default_rng(3).uniform((-1.9, -1.4, 0.1), (1.9, 1.4, 2.5), (200, 3))
    gap, _ = clearance(walls, points, points, np.full(200, 0.05))
    exact = np.minimum([2.0, 1.5, 1.3] - np.abs(points - [0.0, 0.0, 1.3]), np.inf).min(axis=1) - 0.05
    near = exact < 0.5
    assert np.allclose(gap[near], exact[near], atol=1e-6)
    assert (gap[~near] > 0.4).all()


def test_what_goes_through_a_wall_is_in_it_and_what_is_in_the_middle_is_not():
    room = replace(ROOM, tags={HOLLOW})
    for place, touches in (((0.0, 0.0, 1.0), False), ((1.97, 0.0, 1.0), True), ((2.2, 0.0, 1.0), False)):
        mesh = Shapes().mesh(room, np.ones(3))
        local = np.array([place]) - room.matrices[0, :3, 3]
        assert (mesh.depths(local, np.array([0.05]))[0] > 0.0) == touches
        gap, _ = clearance(solids(World((room,))), np.array([place]), np.array([place]), np.array([0.05]))
        assert (gap[0] < 0.0) == touches


@pytest.mark.parametrize("around", [ROOM, SKY], ids=["room", "sky"])
def test_somebody_takes_what_is_out_of_reach_in_a_room_as_it_does_outside(around):
    things = (
        box("floor", (4, 4, 0.05), (0, 0, -0.05), kind="ground", number=8),
        box("table", (0.4, 0.2, 0.02), (-0.2, -1.1, 0.8), number=9),
        bottle("bottle", (-0.2, -1.05, 0.82)),
    )
    job = Job(SKELETON, somebody(), World((*things, around)), ReachParams(task="pick_up", target="bottle"))
    done = reach(job)
    motion = done.performance.motions["actor"]
    assert done.holding is not None and not done.offences
    assert not penetrations(motion, World(things[:2]))
    outside = reach(replace(job, world=World(things)))
    assert outside.side == done.side and outside.grasp.name == done.grasp.name


def test_a_wall_between_somebody_and_what_it_reaches_for_is_named():
    wall = box("room", (2.0, 0.2, 1.3), (0.0, 0.0, 1.3), number=1)
    job = Job(
        SKELETON,
        somebody(),
        World((wall, bottle("bottle", (-0.2, -0.4, 1.1)))),
        ReachParams(task="reach", target="bottle"),
    )
    with pytest.raises((NoIK, NoPath), match="room"):
        reach(replace(job, params=replace(job.params, step=False, crouch=False, lean=False)))


def test_a_thing_is_taken_through_a_room_round_what_stands_in_it():
    vertices, faces = lathe([(0, -0.05), (0.05, -0.05), (0.05, 0.05), (0, 0.05)], 12)
    thing = Body("thing", 2, vertices, faces, placed((-1.0, 0.0, 0.5))[None], "prop")
    pillar = box("pillar", (0.2, 1.0, 1.2), (0.0, 0.0, 1.3), number=3)
    machine = Thing(
        covered(((thing, 0),)), ((thing, 0),), "slide", placed((-1.0, 0.0, 0.5)), np.full(3, -2.0), np.full(3, 2.5), 0.1
    )
    ends = np.array([-1.0, 0.0, 0.5]), np.array([1.0, 0.0, 0.5])
    found = way(machine, World((ROOM, pillar)), *ends, PlanParams(), 24.0)
    assert not found.offences and found.gap > 0.0
    assert np.abs(found.path.points[:, 1]).max() > 1.0
    assert (np.abs(found.path.points - [0.0, 0.0, 1.3]) < [2.0, 1.5, 1.3]).all()
