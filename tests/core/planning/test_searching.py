"""What is not in sight is looked for on foot, seen with eyes of its own, and only then dealt with."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core.errors import Cancelled, InvalidRig, NoPath, NotVisible
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.maths.ramp import wrap
from troupe.core.planning.hands.ledger import Ledger
from troupe.core.planning.hands.orders import ReachParams
from troupe.core.planning.hands.searching import reach_seen
from troupe.core.planning.hands.task import Job
from troupe.core.planning.hands.workplaces import pot_scene, standing
from troupe.core.planning.senses.eyes import eyes
from troupe.core.planning.senses.scenery import scenery
from troupe.core.planning.senses.vision import VisionParams, see
from troupe.core.planning.spaces.problems import bottle_scene
from troupe.core.planning.spaces.set_pieces import bottle, box, placed
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.world import World

SHAPES = Shapes()
FLOOR = box("floor", (2.5, 2.5, 0.05), (0.0, -0.5, -0.05), kind="ground", number=50)


def recognised(job, motion, sample):
    """What the actor recognises in a sample of what it does, while nothing has been moved yet."""
    eye = eyes(motion.skeleton, motion.rotations[sample][None], motion.roots[sample][None])[0]
    sight = see(scenery(job.world), eye, VisionParams(), 0.0)
    return {name for name, stats in sight.visible.items() if stats.recognised}


def order(done, *wanted):
    """When something was decided first [s], by what it was."""
    rows = [(r["what"], r["time"]) for r in done.performance.transcript]
    return [next(time for what, time in rows if what == name) for name in wanted]


def room(*others, task="pick_up", **params):
    """Somebody in a room with a table and a bottle on it 2 m behind, and what else there is."""
    skeleton, pose = standing()
    table = box("table", (0.5, 0.3, 0.43), (0.2, 1.5, 0.43), number=1)
    world = World((FLOOR, table, bottle("bottle", (0.1, 1.35, 0.86), number=2), *others))
    known = {"target": "bottle", "search": True, "budget": 5.0, **params}
    return Job(skeleton, pose, world, ReachParams(task=task, **known), shapes=SHAPES)


@cache
def behind_the_panel():
    skeleton, pose, world, there = pot_scene(hidden=True)
    world = World((*world.bodies, FLOOR))
    job = Job(skeleton, pose, world, ReachParams(target="pot", search=True), destination=there, shapes=SHAPES)
    return job, reach_seen(job)


@pytest.mark.req("kuffner", 60)
def test_a_hidden_pot_is_looked_for_behind_the_panel_and_moved():
    job, done = behind_the_panel()
    assert done.offences == () and done.holding is None
    motion, pot = done.performance.motions["actor"], done.performance.props["pot"]
    assert np.abs(pot[-1] - job.destination).max() < 2e-3 and len(pot) == len(motion)
    searches, goes, finds, moves = order(done, "searches", "goes to look", "finds", "move")
    assert 0.0 == searches < goes < finds < moves
    times = [row["time"] for row in done.performance.transcript]
    assert times == sorted(times)
    # hands wait for eyes, and eyes for feet
    assert "pot" not in recognised(job, motion, 0) and "pot" in recognised(job, motion, round(finds * motion.fps))
    assert np.hypot(*(motion.base[round(finds * motion.fps), :2] - motion.base[0, :2])) > 0.5
    held = done.performance.attachments[0]
    assert held.start > moves > finds
    # the head does not jump where looking for it ends
    looks = [motion.skeleton.joint(role) for role in ("neck", "head")]
    turned = np.abs((motion.rotations[1:, looks] * motion.rotations[:-1, looks]).sum(axis=-1)).min()
    assert 2.0 * np.degrees(np.arccos(turned)) < 12.0
    assert done.ledger.lookouts >= 1 and motion.mask is None


@pytest.mark.req("kuffner", 60)
def test_it_stands_before_what_it_took_on_the_side_from_which_it_saw_it():
    job, done = behind_the_panel()
    motion = done.performance.motions["actor"]
    panel = next(b for b in job.world.bodies if b.name == "panel")
    pot = job.world.bodies[1].matrices[0][:3, 3]
    stands = motion.base[-1, :2]
    # the way from there to the pot passes the end of the panel
    share = (panel.matrices[0][1, 3] - stands[1]) / (pot[1] - stands[1])
    crosses = stands[0] + share * (pot[0] - stands[0])
    assert not 0.0 < share < 1.0 or abs(crosses - panel.matrices[0][0, 3]) > 0.16


@pytest.mark.req("kuffner", 60)
def test_what_is_behind_is_found_by_turning_round_and_walked_up_to():
    done = reach_seen(room())
    motion = done.performance.motions["actor"]
    assert done.holding is not None and done.ledger.lookouts == 1
    assert "goes to look" not in [row["what"] for row in done.performance.transcript]
    assert motion.base[-1, 1] > 0.4 and abs(wrap(motion.base[-1, 2] - np.pi)) < 1.0
    (held,) = done.performance.attachments
    assert (held.prop, held.end) == ("bottle", pytest.approx(motion.duration))
    assert len(done.idle) == len(motion)


@pytest.mark.req("kuffner", 60)
def test_what_comes_into_sight_on_the_way_is_gone_to_without_a_stop():
    """A wall between the two, beside which one sees the bottle long before the place that one meant to look from."""
    wall = box("wall", (1.2, 0.05, 1.2), (0.6, 0.7, 1.2), number=3)
    done = reach_seen(room(wall))
    assert done.holding is not None and done.offences == ()
    said = [row["what"] for row in done.performance.transcript]
    assert said.count("goes to look") == 1 and done.ledger.lookouts == 1
    motion = done.performance.motions["actor"]
    (goes,) = order(done, "goes to look")
    speed = np.hypot(*np.diff(motion.base[:, :2], axis=0).T) * motion.fps
    walks = np.flatnonzero(speed[round(goes * motion.fps) :] > 0.3)
    # past the end of the wall it walks on
    passes = np.flatnonzero(np.diff(np.sign(motion.base[:, 1] - 0.7)))
    assert len(walks) and len(passes) == 1 and speed[passes[0]] > 0.3


@pytest.mark.req("kuffner", 60)
def test_what_is_enclosed_is_not_found_and_said_so():
    walls = [
        box("lid", (0.2, 0.2, 0.01), (0.1, 1.35, 1.3), number=4),
        *(box(f"side {k}", (0.01, 0.2, 0.22), (0.1 + x, 1.35, 1.08), number=5 + k) for k, x in enumerate((-0.2, 0.2))),
        *(box(f"end {k}", (0.2, 0.01, 0.22), (0.1, 1.35 + y, 1.08), number=7 + k) for k, y in enumerate((-0.2, 0.2))),
    ]
    with pytest.raises(NotVisible, match=r"does not find bottle: it looked from \d+ places"):
        reach_seen(room(*walls))


def divided(gap, thing):
    """Somebody in one of two rooms with a doorway of a width between them, a table with a thing on it in the other."""
    halves = [(-1.3 - 0.4 - gap / 2, 1.3), (1.7 - 0.4 + gap / 2, 1.7)]
    across = [box(f"across {k}", (half, 0.05, 1.3), (x, 1.2, 1.3), number=10 + k) for k, (x, half) in enumerate(halves)]
    outside = [
        box(f"outside {k}", half, place, number=20 + k)
        for k, (half, place) in enumerate(
            [((3.2, 0.05, 1.3), (0.0, y, 1.3)) for y in (-2.4, 4.0)]
            + [((0.05, 3.2, 1.3), (x, 0.8, 1.3)) for x in (-3.2, 3.2)]
        )
    ]
    skeleton, pose = standing()
    floor = box("floor", (4.0, 4.0, 0.05), (0.0, 0.5, -0.05), kind="ground", number=50)
    table = box("table", (0.5, 0.3, 0.43), (1.5, 3.2, 0.43), number=1)
    world = World((floor, table, *across, *outside, thing))
    return Job(skeleton, pose, world, ReachParams(task="touch", target=thing.name, search=True), shapes=SHAPES)


@pytest.mark.req("kuffner", 60)
def test_it_goes_through_a_door_and_what_it_sees_and_cannot_get_at_is_said():
    thing = bottle("bottle", (1.4, 3.1, 0.86), number=2)
    done = reach_seen(divided(0.8, thing))
    motion = done.performance.motions["actor"]
    passes = motion.base[:-1][np.diff(np.sign(motion.base[:, 1] - 1.2)) != 0, 0]
    # once, in the middle of the doorway
    assert len(passes) == 1 and abs(passes[0] + 0.4) < 0.16 and motion.base[-1, 1] > 2.0
    with pytest.raises(NoPath, match="actor sees bottle, but cannot get there: no way leads from"):
        reach_seen(divided(0.3, thing))


@pytest.mark.req("kuffner", 60)
def test_a_die_is_found_on_a_table_and_a_grain_of_sand_is_said_to_be_too_small():
    die, grain = (box("bottle", (half,) * 3, (0.1, 1.35, 0.86 + half), number=2) for half in (0.006, 0.0003))
    found = []
    for thing in (die, grain):
        job = room(task="point")
        found.append(replace(job, world=World((*job.world.bodies[:2], thing))))
    assert reach_seen(found[0]).ledger.lookouts == 1
    with pytest.raises(NotVisible, match=r"so small a thing is told from others within 0\.\d m only; put it"):
        reach_seen(found[1])


@pytest.mark.req("kuffner", 60)
def test_what_is_broad_is_touched_on_the_side_where_it_is_come_to():
    """A chest of 1.6 m whose middle is out of reach from anywhere."""
    skeleton, pose = standing()
    wide = box("floor", (6.0, 6.0, 0.05), (0.0, 0.0, -0.05), kind="ground", number=50)
    world = World((wide, box("chest", (0.8, 0.8, 0.8), (0.1, 2.5, 0.8), number=2)))
    job = Job(skeleton, pose, world, ReachParams(task="touch", target="chest", search=True, come_back=False))
    done = reach_seen(job)
    motion = done.performance.motions["actor"]
    positions, globals_ = fk.forward(skeleton, motion.rotations[-1], motion.roots[-1])
    tip = fk.tip_positions(skeleton, positions, globals_)[skeleton.chain(f"index_{done.side}")[-1]]
    assert not done.offences and abs(tip[1] - 1.7) < 0.02 and abs(tip[0] - 0.1) < 0.8 and 0.5 < tip[2] < 1.62


@pytest.mark.req("kuffner", 60)
def test_who_is_not_to_search_does_not():
    with pytest.raises(NotVisible, match="does not see bottle"):
        reach_seen(room(search=False))
    seen = room()
    with_eyes_on_it = replace(seen, world=World((FLOOR, bottle("bottle", (-0.2, -0.4, 0.9)))))
    done = reach_seen(with_eyes_on_it)
    assert "searches" not in [row["what"] for row in done.performance.transcript] and done.ledger.lookouts == 0


@pytest.mark.req("kuffner", 60)
def test_a_search_stops_when_it_is_told_to():
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 3

    job = replace(room(), should_stop=stop)
    with pytest.raises(Cancelled):
        reach_seen(job)
    assert len(asked) == 4


@pytest.mark.req("kuffner", 60)
def test_something_is_found_taken_across_the_room_and_put_down_there():
    far = box("shelf", (0.3, 0.25, 0.45), (-1.5, -0.9, 0.45), number=3)
    job = replace(room(far, task="move"), destination=placed((-1.45, -0.75, 0.9)))
    done = reach_seen(job)
    motion, way = done.performance.motions["actor"], done.performance.props["bottle"]
    assert done.holding is None and np.abs(way[-1][:3, 3] - job.destination[:3, 3]).max() < 2e-3
    # one hold, as long as the hand has it, and the bottle is still before and after
    (held,) = done.performance.attachments
    first, last = (round(t * motion.fps) for t in (held.start, held.end))
    assert np.abs(way[: first + 1] - way[0]).max() < 1e-6 and np.abs(way[last:] - way[-1]).max() < 1e-6
    assert np.linalg.norm(np.diff(way[first:last, :3, 3], axis=0), axis=1).max() < 0.12
    assert np.hypot(*(motion.base[last, :2] - motion.base[first, :2])) > 1.0


@pytest.mark.req("kuffner", 60)
def test_something_is_found_and_held_out_across_the_room():
    job = replace(room(task="hand_over"), destination=placed((-0.2, -1.4, 1.1)))
    done = reach_seen(job)
    motion, way = done.performance.motions["actor"], done.performance.props["bottle"]
    assert np.abs(way[-1][:3, 3] - job.destination[:3, 3]).max() < 2e-3 and motion.base[-1, 1] < -0.6
    (held,) = done.performance.attachments
    assert done.holding.prop == "bottle" and held.end == pytest.approx(motion.duration)


@pytest.mark.req("kuffner", 60)
def test_what_is_only_to_be_pointed_at_is_pointed_at_from_where_it_is_seen():
    wall = box("wall", (1.2, 0.05, 1.2), (0.6, 0.7, 1.2), number=3)
    done = reach_seen(room(wall, task="point", come_back=False))
    motion = done.performance.motions["actor"]
    assert "bottle" in recognised(room(wall), motion, len(motion) - 1)
    assert np.hypot(*(motion.base[-1, :2] - (0.1, 1.35))) > 0.8
    finger = motion.skeleton.chain(f"index_{done.side}")[-1]
    positions, _ = fk.forward(motion.skeleton, motion.rotations[-1], motion.roots[-1])
    middle = np.array([0.1, 1.35, 0.98])
    shoulder = positions[motion.skeleton.joint(f"upper_arm_{done.side}")]
    assert quat.unit(positions[finger] - shoulder) @ quat.unit(middle - shoulder) > np.cos(0.15)


def test_who_sits_is_not_sent_off_to_look():
    skeleton, pose, world, _ = bottle_scene()
    hidden = box("screen", (0.4, 0.01, 0.4), (0.0, -0.2, 1.1), number=60)
    bodies = [replace(b, id=k) for k, b in enumerate((*world.bodies, hidden, FLOOR))]
    job = Job(skeleton, pose, World(bodies), ReachParams(task="pick_up", target="bottle", search=True), shapes=SHAPES)
    with pytest.raises(NotVisible, match="cannot go and look for it: it does not stand upright"):
        reach_seen(job)


def test_who_has_no_legs_cannot_look_for_anything():
    job = room()
    roles = {name: joints for name, joints in job.skeleton.roles.items() if not name.startswith("foot")}
    with pytest.raises(InvalidRig, match="cannot walk: it has no foot_L"):
        reach_seen(replace(job, skeleton=replace(job.skeleton, roles=roles)))


def test_records_of_what_was_done_one_after_the_other_are_one():
    first, then = Ledger(ik=2, lookouts=1), Ledger(ik=3, plans=1)
    first.log("R", "top", "way", "done")
    both = first.and_then(then)
    assert (both.ik, both.plans, both.lookouts, both.attempts) == (5, 1, 1, first.attempts)
