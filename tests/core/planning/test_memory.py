"""Memory follows what is seen, drops what is seen to be gone, and fades by its model and rules."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.planning.senses.awareness import Awareness, Explorer
from troupe.core.planning.senses.belief import recalled_world
from troupe.core.planning.senses.eyes import eye_at
from troupe.core.planning.senses.memory import Memory, MemoryParams, update, vanished
from troupe.core.planning.senses.recollection import (
    CLOSED_DOORS,
    GOAL_SEEN,
    LASTING,
    NO_PATH,
    OBJECT_VANISHED,
    RULES,
    TIMER,
    Action,
    Rule,
    fade,
    heed,
    respond,
    trusts,
)
from troupe.core.planning.senses.scenery import scenery
from troupe.core.planning.senses.vision import VisionParams, see
from troupe.core.world import World

from .sights import at, ball, box, floor

NORTH = np.pi
EYE = eye_at(np.array([0.0, 0.0, 1.6]), NORTH)
SQUARE = VisionParams(fov=np.pi / 2, fov_vertical=np.pi / 2)
METHODS = ["depth", "two_renders"]


def look(memory, world, eye=EYE, time=0.0, vision=SQUARE, **more):
    shapes = scenery(world)
    return update(memory, shapes, see(shapes, eye, vision, time), MemoryParams(**more))


def cube(number, place, size=0.8, **more):
    return box(f"object {number}", number, (*place, 1.6), size, **more)


def whats(changes):
    return {(c.what, c.key) for c in changes}


@pytest.mark.req("kuffner", 50)
def test_what_is_seen_is_written_and_what_is_not_stays():
    slide = np.stack([at(x, 6, 1.6) for x in np.linspace(-1, 1, 25)])
    world = World(
        (cube(1, (0, 4), tags=["rotatable"]), box("cart", 2, (0, 0, 0), 0.8, matrices=slide), cube(3, (0, -4))), 24.0
    )
    memory, changes = look(Memory(), world, time=0.0)
    assert whats(changes) == {("new", 1), ("new", 2)}
    one = memory.observations[1]
    assert (one.id, one.name, one.time, one.valid, one.anonymous) == (1, "object 1", 0.0, True, False)
    assert one.properties == {"rotatable"}
    assert np.allclose(memory.observations[2].velocity, [2, 0, 0, 0, 0, 0])

    memory, changes = look(memory, world, time=1.0)
    assert whats(changes) == {("moved", 2)}
    assert np.allclose(memory.observations[2].matrix, at(1, 6, 1.6))
    assert memory.observations[1].time == 1.0

    behind, changes = look(memory, world, eye_at(np.array([0, 0, 1.6]), 0.0), time=2.0)
    assert whats(changes) == {("new", 3)}
    assert behind.observations[1] is memory.observations[1]


@pytest.mark.req("kuffner", 50)
def test_geometry_is_shared_and_memory_replaced():
    world = World((cube(1, (0, 4)),))
    before = Memory()
    memory, _ = look(before, world)
    assert not before.observations
    assert memory.observations[1].shape is world.bodies[0]
    assert recalled_world(memory, world).bodies == world.bodies


@pytest.mark.req("kuffner", 50)
def test_a_changed_state_is_noticed():
    door = box("door", 1, (0, 3, 1), (1, 0.1, 2), "door", ["closed"])
    memory, _ = look(Memory(), World((door,)))
    memory, changes = look(memory, World((replace(door, tags=frozenset({"open"})),)))
    assert whats(changes) == {("changed", 1)}
    assert memory.observations[1].properties == {"open"}


FIRST = (cube(1, (0, 6)), cube(2, (3, 6)))


@pytest.mark.req("kuffner", 51)
@pytest.mark.parametrize("method", METHODS)
def test_a_body_that_moved_within_view_is_where_it_is_now(method):
    memory, _ = look(Memory(), World(FIRST))
    memory, changes = look(memory, World((FIRST[0], cube(2, (-3, 6)))), vanished=method)
    assert whats(changes) == {("moved", 2)}
    assert np.allclose(memory.observations[2].matrix[:2, 3], [-3, 6])


@pytest.mark.req("kuffner", 51)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gone", [(cube(1, (0, -6)), FIRST[1]), (FIRST[1],)], ids=["behind", "out of the world"])
def test_a_body_that_left_its_place_in_view_is_forgotten(method, gone):
    memory, _ = look(Memory(), World(FIRST))
    memory, changes = look(memory, World(gone), vanished=method)
    assert whats(changes) == {("vanished", 1)}
    assert set(memory.observations) == {2}


@pytest.mark.req("kuffner", 51)
@pytest.mark.parametrize("method", METHODS)
def test_a_hidden_body_is_kept_and_a_missing_one_forgotten_though_the_same_ids_show(method):
    memory, _ = look(Memory(), World(FIRST))
    obscured = World((*FIRST, cube(3, (0, 3), 1.5)))
    missing = World((cube(1, (0, -6)), FIRST[1], cube(3, (-3, 6), 1.5)))
    assert see(obscured, EYE, SQUARE).seen == see(missing, EYE, SQUARE).seen == (2, 3)
    assert set(look(memory, obscured, vanished=method)[0].observations) == {1, 2, 3}
    kept, changes = look(memory, missing, vanished=method)
    assert set(kept.observations) == {2, 3}
    assert whats(changes) == {("new", 3), ("vanished", 1)}


@pytest.mark.req("kuffner", 51)
def test_a_static_memory_never_drops_anything():
    memory, _ = look(Memory(), World(FIRST))
    memory, _ = look(memory, World((FIRST[1],)), dynamic=False)
    assert set(memory.observations) == {1, 2}


def test_a_vanished_body_may_be_remembered_as_gone():
    memory, _ = look(Memory(), World(FIRST))
    memory, _ = look(memory, World((FIRST[1],)), keep_vanished=True)
    assert not memory.observations[1].valid
    assert np.allclose(memory.find("object 1").matrix[:2, 3], [0, 6])
    assert [b.name for b in recalled_world(memory, World(FIRST)).bodies] == ["object 2"]
    memory, changes = look(memory, World(FIRST), keep_vanished=True)
    assert whats(changes) == {("new", 1)}
    assert memory.observations[1].valid


def test_only_drawing_against_depth_finds_what_vanished_behind_what_vanished():
    both = World((cube(1, (0, 3), 1.5), cube(2, (0, 6))))
    memory, _ = look(Memory(), World((cube(2, (0, 6)),)))
    memory, _ = look(memory, both)
    assert set(look(memory, World(), vanished="two_renders")[0].observations) == {2}
    assert not look(memory, World(), vanished="depth")[0].observations


@pytest.mark.req("kuffner", 52)
def test_ten_thousand_changes_never_drop_a_body_that_is_in_place():
    rng = np.random.default_rng(5)
    bodies, frames, changed = 14, 1150, 9
    places = np.empty((frames, bodies, 4, 4))
    places[0] = [at(*rng.uniform(-3, 3, 3), rng.normal(size=3)) for _ in range(bodies)]
    changes = 0
    for k in range(1, frames):
        places[k] = places[k - 1]
        for b in rng.permutation(bodies)[:changed]:
            places[k, b] = at(*rng.uniform(-3, 3, 3), rng.normal(size=3))
            changes += 1
    assert changes >= 10_000
    sizes = rng.uniform(0.3, 2.5, (bodies, 3))
    world = World(tuple(box(f"b{b}", b, (0, 0, 0), sizes[b], matrices=places[:, b]) for b in range(bodies)), 24.0)
    shapes = scenery(world)
    vision = VisionParams(pixels=16, recognition="pixel")
    memory, dropped, more = Memory(), 0, 0
    for k in range(frames):
        eye = eye_at(np.array([rng.uniform(-1, 1), -4.5, 0.0]), NORTH + rng.uniform(-0.3, 0.3))
        sight = see(shapes, eye, vision, k / 24.0)
        memory, _ = update(memory, shapes, sight, MemoryParams(dynamic=False))
        gone = {m: set(vanished(memory.observations, sight.seen, shapes, sight, m)) for m in METHODS}
        assert gone["two_renders"] <= gone["depth"]
        for key in gone["depth"]:
            assert np.abs(memory.observations[key].matrix - places[k, key]).max() > 1e-6
        dropped, more = dropped + len(gone["two_renders"]), more + len(gone["depth"]) - len(gone["two_renders"])
        # stale observations of two kinds in turn: those that either method would leave behind
        left = gone[METHODS[k % 2]]
        memory = replace(memory, observations={i: o for i, o in memory.observations.items() if i not in left})
    assert dropped > 500
    assert more > 10


@pytest.mark.req("kuffner", 58)
def test_what_is_not_recognised_is_an_anonymous_obstacle_until_it_is():
    def world(top):
        return World((ball("ball", 1, (0, 4, 1.6), 0.5, kind="prop"), box("screen", 2, (0, 2, top - 1), (4, 0.1, 2))))

    memory, changes = look(Memory(), world(1.81), vision=VisionParams())
    something = memory.observations[-1]
    assert (something.name, something.anonymous, something.kind) == ("", True, "obstacle")
    assert ("new", -1) in whats(changes)
    assert memory.find("ball") is None
    assert {b.kind for b in recalled_world(memory, world(1.81)).bodies} == {"obstacle"}

    memory, changes = look(memory, world(1.0), vision=VisionParams())
    assert set(memory.observations) == {1, 2}
    assert ("recognised", 1) in whats(changes)
    memory, changes = look(memory, world(1.81), vision=VisionParams())
    assert memory.find("ball").time == 0.0
    assert not memory.observations[1].anonymous


@pytest.mark.req("kuffner", 58)
def test_a_glimpse_elsewhere_does_not_move_what_is_known():
    def world(x, top):
        return World((ball("ball", 1, (x, 4, 1.6), 0.5, kind="prop"), box("screen", 2, (0, 2, top - 1), (9, 0.1, 2))))

    memory, _ = look(Memory(), world(0, 1.0), vision=VisionParams())
    memory, changes = look(memory, world(-2, 1.81), vision=VisionParams())
    assert set(memory.observations) == {2, -1}
    assert {("new", -1), ("vanished", 1)} <= whats(changes)


@pytest.mark.req("kuffner", 58)
def test_one_of_many_alike_is_known_by_its_place_alone():
    def chairs(*places):
        return World(tuple(cube(k, place, tags=["class:chair"]) for k, place in enumerate(places)))

    memory, _ = look(Memory(), chairs((-2, 6), (2, 6)))
    assert {o.name for o in memory.observations.values()} == {"chair"}
    swapped, changes = look(memory, chairs((2, 6), (-2, 6)))
    assert not changes
    assert len(swapped.observations) == 2
    moved, changes = look(memory, chairs((-2, 6), (0, 6)))
    assert {c.what for c in changes} == {"new", "vanished"}
    assert sorted(o.matrix[0, 3] for o in moved.observations.values()) == [-2, 0]


def known(*bodies, time=0.0):
    return look(Memory(), World(bodies), time=time)[0]


WALL = cube(1, (-3, 6))
CAT = cube(2, (0, 6), kind="prop")
DOOR = cube(3, (3, 6), kind="door", tags=["closed"])


@pytest.mark.req("kuffner", 56)
def test_old_observations_are_forgotten_except_walls():
    memory = known(WALL, CAT, DOOR)
    temporal = MemoryParams(model="temporal", lifetime=60.0)
    assert set(fade(memory, 60.0, temporal)[0].observations) == {1, 2, 3}
    later, changes = fade(memory, 60.1, temporal)
    assert set(later.observations) == {1}
    assert whats(changes) == {("forgotten", 2), ("forgotten", 3)}
    assert not fade(memory, 60.1, temporal, rules=())[0].observations


@pytest.mark.req("kuffner", 56)
def test_models_differ_in_what_they_forget():
    memory = known(WALL, CAT, DOOR)
    rules = (Rule(kinds=frozenset({"prop"}), lifetime=5.0), *RULES)
    left = {m: set(fade(memory, 1000.0, MemoryParams(model=m), rules)[0].observations) for m in ("basic", "rules")}
    assert left == {"basic": {1, 2, 3}, "rules": {1, 3}}


@pytest.mark.req("kuffner", 56)
def test_an_explorer_with_temporal_memory_forgets_what_it_turns_its_back_on():
    explorer = Explorer(SQUARE, MemoryParams(model="temporal", lifetime=2.0))
    shapes = scenery(World((WALL, CAT)))
    aware = explorer.sense(Awareness(), shapes, EYE, 0, 0.0)
    away = eye_at(np.array([0, 0, 1.6]), 0.0)
    revision = aware.revision
    for frame in range(1, 100):
        aware = explorer.sense(aware, shapes, away, frame, frame / 24.0)
    assert set(aware.memory.observations) == {1}
    assert aware.revision == revision + 1
    assert aware.at(48).memory.find("object 2") is not None
    assert aware.at(49).memory.find("object 2") is None


def test_trust_fades_and_what_is_not_trusted_is_not_planned_with():
    memory = known(WALL, CAT)
    params = MemoryParams(model="confidence", fading=10.0, least_trust=0.3)
    trust = trusts(memory, 10.0, params)
    assert trust[2] == pytest.approx(np.exp(-1.0))
    assert trust[1] == 1.0
    assert trusts(memory, 10.0, MemoryParams()) is None
    world = World((WALL, CAT))
    assert len(recalled_world(memory, world, 10.0, params, trust).bodies) == 2
    assert len(recalled_world(memory, world, 20.0, params, trusts(memory, 20.0, params)).bodies) == 1
    costly = replace(params, doubt_cost=4.0)
    tags = recalled_world(memory, world, 10.0, costly, trust).bodies[1].tags
    assert tags == {f"cost={1 + 4 * np.exp(-1):.6g}"}


def test_an_explorer_plans_anew_when_it_ceases_to_trust():
    explorer = Explorer(SQUARE, MemoryParams(model="confidence", fading=1.0, least_trust=np.exp(-1.0)))
    shapes = scenery(World((CAT,)))
    aware = explorer.sense(Awareness(), shapes, EYE, 0, 0.0)
    away = eye_at(np.array([0, 0, 1.6]), 0.0)
    revisions = []
    for frame in range(1, 36):
        aware = explorer.sense(aware, shapes, away, frame, frame / 24.0)
        revisions.append(aware.revision)
    assert revisions[22] == 1
    assert revisions[-1] == 2
    assert not explorer.believed_world(aware, shapes.world).bodies


@pytest.mark.req("kuffner", 57)
def test_without_a_way_closed_doors_are_ignored_for_planning_but_not_forgotten():
    memory = known(WALL, DOOR)
    world = World((WALL, DOOR))
    after, changes, effects = respond(memory, NO_PATH, 5.0)
    assert whats(changes) == {("ignored", 3)}
    assert not effects
    assert 3 in after.observations
    assert [b.name for b in recalled_world(after, world, 6.0).bodies] == ["object 1"]
    assert len(recalled_world(after, world, 126.0).bodies) == 2
    _, changes, _ = respond(after, NO_PATH, 6.0)
    assert not changes
    opened = known(WALL, replace(DOOR, tags=frozenset({"open"})))
    assert not respond(opened, NO_PATH, 5.0)[1]


@pytest.mark.req("kuffner", 57)
def test_a_door_found_closed_at_first_hand_is_not_tried_again():
    memory, _, _ = respond(known(WALL, DOOR), NO_PATH, 0.0)
    far, changes = heed(memory, (), np.array([0.0, 0, 1.6]), 0.0)
    assert not changes
    near, changes = heed(memory, (), np.array([3.0, 5.0, 1.6]), 0.0)
    assert whats(changes) == {("heeded", 3)}
    assert not respond(near, NO_PATH, 1.0)[1]
    later, changes = heed(far, (), np.array([0.0, 0, 1.6]), 121.0)
    assert whats(changes) == {("heeded", 3)}
    assert whats(respond(later, NO_PATH, 122.0)[1]) == {("ignored", 3)}


def test_rules_forget_and_hand_on_goals_and_scripts():
    memory = known(WALL, CAT, DOOR)
    rules = (
        Rule(
            names=frozenset({"object 2"}), on={TIMER: Action("forget"), GOAL_SEEN: Action("set_goal", argument="cat")}
        ),
        Rule(tags=frozenset({"closed"}), on={GOAL_SEEN: Action("start_script", argument="knock")}),
        Rule(when=lambda o: o.matrix[0, 3] < 0, on={TIMER: Action("ignore", seconds=1.0)}),
    )
    after, changes, _ = respond(memory, TIMER, 1.0, rules)
    assert whats(changes) == {("forgotten", 2), ("ignored", 1)}
    assert set(after.observations) == {1, 3}
    _, changes, effects = respond(memory, GOAL_SEEN, 1.0, rules)
    assert not changes
    assert [(e.action.argument, e.keys) for e in effects] == [("cat", (2,)), ("knock", (3,))]
    assert set(respond(memory, TIMER, 1.0, rules, keys=[1])[0].observations) == {1, 2, 3}


def test_an_explorer_answers_what_it_sees_by_its_rules():
    rules = (
        Rule(names=frozenset({"object 2"}), on={GOAL_SEEN: Action("set_goal", argument="there")}),
        Rule(on={OBJECT_VANISHED: Action("start_script", argument="search")}),
    )
    explorer = Explorer(SQUARE, MemoryParams(keep_vanished=True), rules, wanted=("object 2",))
    aware = explorer.sense(Awareness(), scenery(World((WALL,))), EYE, 0, 0.0)
    assert not aware.effects
    aware = explorer.sense(aware, scenery(World((WALL, CAT))), EYE, 1, 0.1)
    assert [(e.event, e.action.argument, e.keys) for e in aware.effects] == [(GOAL_SEEN, "there", (2,))]
    aware = explorer.sense(aware, scenery(World((WALL, CAT))), EYE, 2, 0.2)
    assert not aware.effects
    aware = explorer.sense(aware, scenery(World((CAT,))), EYE, 3, 0.3)
    assert [(e.event, e.action.argument, e.keys) for e in aware.effects] == [(OBJECT_VANISHED, "search", (1,))]


def test_ground_is_known_beforehand_or_as_far_as_it_was_seen():
    world = World((floor(0), cube(1, (0, -6))))
    shapes = scenery(world)
    memory, _ = update(Memory(), shapes, see(shapes, EYE, SQUARE))
    assert [b.name for b in recalled_world(Memory(), world).bodies] == ["floor"]
    assert not recalled_world(Memory(), world, params=MemoryParams(ground_known=False)).bodies
    assert [b.name for b in recalled_world(memory, world, params=MemoryParams(ground_known=False)).bodies] == ["floor"]


def test_unknown_events_actions_and_models_are_refused():
    with pytest.raises(InvalidParam, match="no_path"):
        respond(Memory(), "earthquake", 0.0)
    with pytest.raises(InvalidParam, match="forget"):
        Action("panic")
    with pytest.raises(InvalidParam, match="timer"):
        Rule(on={"earthquake": Action("forget")})
    for wrong in ({"model": "perfect"}, {"vanished": "magic"}, {"lifetime": -1.0}, {"least_trust": 2.0}):
        with pytest.raises(InvalidParam):
            MemoryParams(**wrong)
    assert LASTING.matches(known(WALL).observations[1])
    assert not CLOSED_DOORS.matches(known(WALL).observations[1])
