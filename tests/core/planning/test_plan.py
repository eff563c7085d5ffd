"""Ways of things and machines: what covers them, where links are, and ways that touch no triangle."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.errors import Blocked, Cancelled, InvalidParam, NoIK, NoPath
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics.hand_shapes import HANDSHAPES
from troupe.core.maths import quat
from troupe.core.planning.hands.grasp import Grasp, grasp_of_hand
from troupe.core.planning.hands.orders import SHAPES
from troupe.core.planning.plan import PlanParams
from troupe.core.planning.spaces import ways
from troupe.core.planning.spaces.chain import Chain, Hinge
from troupe.core.planning.spaces.cover import covered
from troupe.core.planning.spaces.set_pieces import box, lathe, placed
from troupe.core.planning.spaces.surfaces import in_others
from troupe.core.planning.spaces.ways import between, thing_of, way
from troupe.core.world import Body, World

WALLS = World((box("left", (0.9, 0.05, 0.6), (-1.2, 0.0, 0.6)), box("right", (0.9, 0.05, 0.6), (1.2, 0.0, 0.6))))


def crate(turn_deg=80.0):
    turn = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), np.radians(turn_deg)))
    return box("crate", (0.2, 0.35, 0.2), (0.0, -1.0, 0.21), turn, "prop")


def chain(count=4):
    """Links of 0.3 m upon each other that turn about X and Y in turn."""
    step = np.eye(4)
    step[1, 3] = 0.3
    hinges = tuple(Hinge(k, k % 2 * 2, -2.0, 2.0, f"hinge {k}") for k in range(count))
    parts = tuple((box(f"link {k}", (0.02, 0.12, 0.02), (0.0, 0.15, 0.0)), k) for k in range(count))
    locals_ = np.array([np.eye(4), *[step] * (count - 1)])
    turns = np.tile([0.1, 0.0, 0.1], (count, 1))
    return Chain(covered(parts), parts, np.eye(4), locals_, tuple(range(-1, count - 1)), turns, hinges, step)


def test_capsules_cover_the_surface_of_a_concave_thing_without_filling_it():
    bars = [box("bar", (0.5, 0.05, 0.05)), box("bar", (0.05, 0.5, 0.05), (0.45, 0.45, 0.0))]
    vertices = np.concatenate([b.vertices + b.matrices[0, :3, 3] for b in bars])
    faces = np.concatenate([bars[0].triangles, bars[1].triangles + 8])
    cover = covered(((Body("ell", 0, vertices, faces, np.eye(4)[None]), 0),))

    def gap(point):
        axis = cover.ends - cover.starts
        along = np.clip(((point - cover.starts) * axis).sum(axis=1) / np.maximum((axis**2).sum(axis=1), 1e-12), 0, 1)
        return float((np.linalg.norm(point - cover.starts - along[:, None] * axis, axis=1) - cover.radii).min())

    assert max(gap(v) for v in vertices) < 0.03
    assert gap(np.array([-0.1, 0.6, 0.0])) > 0.3


def test_a_large_sheet_is_covered_with_few_capsules_and_what_is_too_far_for_its_size_is_said():
    sheet = box("sheet", (40.0, 30.0, 0.0))
    cover = covered(((sheet, 0),))
    assert len(cover.radii) <= 256 and cover.radii.max() < 0.2
    goal, params = placed((1e5, 0.0, 0.21)), PlanParams()
    thing = thing_of(crate(), goal, params)
    with pytest.raises(NoPath, match=r"its goal is 1\d{5} m away, too far for its size: bring it nearer"):
        way(thing, WALLS, *between(thing, goal), params, 24.0)


@pytest.mark.req("kuffner", 71, 78)
def test_a_crate_turns_to_fit_through_a_gap_and_touches_nothing():
    goal = placed((0.1, 1.0, 0.21))
    params = PlanParams(moves="floor", room=1.0)
    thing = thing_of(crate(), goal, params)
    found = way(thing, WALLS, *between(thing, goal), params, 24.0)
    assert not found.offences and found.search.nodes > 2
    assert np.allclose(found.frames[0, 0], crate().matrices[0]) and np.allclose(found.frames[-1, 0], goal)
    again = way(thing, WALLS, *between(thing, goal), params, 24.0)
    assert np.array_equal(found.path.points, again.path.points)
    straight = replace(crate(), matrices=np.stack([placed((0.0, y, 0.21)) for y in (-1.0, -0.2, 0.0, 0.2)]))
    assert not in_others(straight, WALLS)
    stuck = np.tile(crate(90.0).matrices, (2, 1, 1))
    stuck[:, 1, 3] = 0.0
    assert {o.body for o in in_others(replace(crate(), matrices=stuck), WALLS)} == {"left", "right"}


@pytest.mark.req("kuffner", 105)
def test_as_published_a_crate_takes_a_plain_way(monkeypatch):
    goal = placed((0.1, 1.0, 0.21))
    params = PlanParams(moves="floor", room=1.0, faithful=True, budget=20_000)
    thing = thing_of(crate(), goal, params)
    sought, smoothed, eased, search, timed = [], [], [], ways.plan, ways.timed
    monkeypatch.setattr(ways, "plan", lambda *a, **k: sought.append(a[3]) or search(*a, **k))
    monkeypatch.setattr(ways, "rounded", lambda _space, path, corners: smoothed.append(corners) or path)
    monkeypatch.setattr(ways, "timed", lambda *a: eased.append(a[4].profile) or timed(*a))
    found = way(thing, WALLS, *between(thing, goal), params, 24.0)
    assert {s.method for s in sought} == {"connect"} and set(smoothed) == {0.0}
    assert eased == ["cubic"] and not found.offences


@pytest.mark.parametrize("dense", ["mover", "obstacle"])
def test_a_dense_mesh_is_moved_and_gone_around_as_a_coarse_one(dense):
    """Half a million triangles take seconds, for they are looked at in groups."""
    outline = np.linspace(0.0, np.pi, 500)
    profile = np.column_stack([0.2 * np.sin(outline) * (1.0 + 0.2 * np.sin(7.0 * outline)), -0.2 * np.cos(outline)])
    vertices, faces = lathe(profile, 480)
    knob = Body("knob", 9, vertices, faces, placed((0.0, 0.0, 0.4))[None])
    mover, world = crate(), World((*WALLS.bodies, knob))
    if dense == "mover":
        mover, world = replace(knob, matrices=mover.matrices), WALLS
    goal, params = placed((0.1, 1.0, 0.31)), PlanParams(room=1.0)
    thing = thing_of(mover, goal, params)
    found = way(thing, world, *between(thing, goal), params, 24.0)
    assert len(faces) > 470_000 and not found.offences
    hit = replace(mover, matrices=np.tile(placed((0.25, 0.0, 0.31)), (3, 1, 1)))
    names = {"knob", "right"} if dense == "obstacle" else {"right"}
    assert {o.body for o in in_others(hit, world)} == names


@pytest.mark.req("kuffner", 71)
@pytest.mark.parametrize("seed", range(3))
def test_a_thing_that_lies_close_to_the_floor_is_no_thinner_elsewhere(seed):
    """What lets it off the floor of its box does not let it through the posts on the way."""
    bar = box("bar", (0.16, 0.03, 0.006), (-0.5, 0.0, 0.01), kind="prop")
    posts = [box(f"post {k}", (0.01, 0.01, 0.3), (0.0, y, 0.3)) for k, y in enumerate((-0.12, 0.0, 0.12))]
    world = World((box("floor", (0.9, 0.5, 0.01), (0.0, 0.0, -0.01)), *posts))
    goal, params = placed((0.5, 0.05, 0.01)), PlanParams(room=0.3, margin=0.002, seed=seed)
    thing = thing_of(bar, goal, params)
    assert not way(thing, world, *between(thing, goal), params, 24.0).offences


def test_failures_name_what_is_in_the_way_and_a_search_can_be_stopped():
    goal = placed((0.1, 1.0, 0.21))
    params = PlanParams(moves="floor", room=0.2, budget=5)
    thing = thing_of(crate(), goal, params)
    ends = between(thing, goal)
    bar = World((*WALLS.bodies, box("bar", (0.4, 0.05, 0.6), (0.0, 0.0, 0.6))))
    with pytest.raises(NoPath, match=r"no way around (bar|left|right)"):
        way(thing, bar, *ends, params, 24.0)
    with pytest.raises(Blocked, match="at its goal it touches lump") as caught:
        way(thing, World((box("lump", (0.3, 0.3, 0.3), (0.1, 1.0, 0.3)),)), *ends, params, 24.0)
    assert (caught.value.end, caught.value.by) == ("goal", "lump")
    with pytest.raises(Cancelled):
        way(thing, bar, *ends, params, 24.0, lambda: True)
    with pytest.raises(InvalidParam, match="higher or lower"):
        between(thing, placed((0.1, 1.0, 0.9)))


@pytest.mark.req("kuffner", 61, 65)
def test_a_chain_reaches_a_frame_within_its_limits_or_says_how_far_it_is():
    machine = chain()
    q = np.array([0.4, -0.3, 0.8, 0.2])
    goal = machine.frames(q[None])[0, -1] @ machine.end
    found = machine.reaching(goal, False, np.random.default_rng(0))
    assert np.abs(machine.tips(found) - goal[:3, 3]).max() < 1e-6
    assert (np.abs(found) <= 2.0 + 1e-9).all()
    # with its orientation too, which a chain of six hinges can have at will
    machine, q = chain(6), np.array([0.4, -0.3, 0.8, 0.2, -0.5, 0.3])
    goal = machine.frames(q[None])[0, -1] @ machine.end
    ends = machine.frames(machine.reaching(goal, True, np.random.default_rng(0)))[:, -1] @ machine.end
    assert np.abs(ends - goal).max() < 1e-6
    with pytest.raises(NoIK, match="m are left"):
        machine.reaching(placed((3.0, 0.0, 0.0)), False, np.random.default_rng(0))


def test_a_chain_keeps_out_of_itself():
    machine = chain()
    hinges = tuple(replace(h, axis=0, low=-3.0, high=3.0) for h in machine.hinges)
    machine = replace(machine, hinges=hinges)
    rows = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 2.2, 2.2, 2.2]])
    assert machine.own(machine.frames(rows)).tolist() == [True, False]


def test_a_grasp_taken_from_a_hand_brings_the_hand_back_to_it():
    skeleton = mannequin()
    pose = rest_pose(skeleton)
    matrix = placed((-0.3, -0.2, 1.0), quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), 0.7)))
    grasp = grasp_of_hand(skeleton, pose, "R", "cylindrical", matrix, "pour")
    assert Grasp.from_dict(grasp.as_dict()).purposes == ("pour",)
    moved = placed((0.5, 0.1, 1.2)) @ matrix
    before, after = grasp.world(matrix)[0], grasp.world(moved)[0]
    assert np.allclose(after, before + (0.5, 0.1, 1.2))
    assert {name for name, _ in SHAPES} == set(HANDSHAPES)
