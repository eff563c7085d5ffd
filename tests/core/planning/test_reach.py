"""Hands do their work: in stages, without touching what they should not, and say why when they cannot."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.errors import Cancelled, InvalidRig, NoGrasp, NoIK, NoPath, NotVisible
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics import anatomy, fk
from troupe.core.kinematics.fingers import finger_joints, grip_place, palm_axes
from troupe.core.kinematics.gaze import CURVE
from troupe.core.kinematics.gaze import EVENT as GAZE
from troupe.core.maths import geometry, quat
from troupe.core.planning.hands.grasp import Grasp, framed
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.stages import STAGE
from troupe.core.planning.spaces.problems import bottle_scene
from troupe.core.planning.spaces.set_pieces import bottle, box, placed
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.skeleton import Pose
from troupe.core.world import World

SHAPES = Shapes()


@cache
def dinner():
    """A bottle is moved on a laid table."""
    skeleton, pose, world, there = bottle_scene()
    job = Job(skeleton, pose, world, ReachParams(target="bottle"), destination=there, shapes=SHAPES)
    return job, reach(job)


@cache
def standing():
    skeleton = mannequin(1.75)
    rest = rest_pose(skeleton)
    arms = {f"{part}_{s}": a for s in "LR" for part, a in (("upper_arm", (0, 0.14, 0)), ("forearm", (0.3, 0, 0)))}
    return skeleton, Pose(anatomy.with_angles(skeleton, rest.rotations, arms), rest.root)


def job_for(task, place=(-0.2, -0.4, 0.9), others=(), **params):
    skeleton, pose = standing()
    world = World((bottle("bottle", place), *others))
    known = {"target": "bottle", "lean": False, "step": False, "gaze": 0.0, **params}
    return Job(skeleton, pose, world, ReachParams(task=task, **known), shapes=SHAPES)


def stages(done):
    return [e for e in done.performance.events if e.name == STAGE]


def hands(motion, side):
    positions, globals = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    joint = motion.skeleton.joint(f"hand_{side}")
    out = np.tile(np.eye(4), (len(motion), 1, 1))
    out[:, :3, :3], out[:, :3, 3] = quat.to_matrix(globals[:, joint]), positions[:, joint]
    return out


@pytest.mark.req("kuffner", 79)
def test_a_bottle_is_moved_in_five_stages_with_two_questions_and_three_searches():
    job, done = dinner()
    assert sum(len(b.triangles) for b in job.world.bodies) > 12_000
    assert [e.data["stage"] for e in stages(done)] == ["reach", "grasp", "transfer", "release", "return"]
    assert (done.ledger.ik, done.ledger.plans) == (2, 3)
    assert done.ledger.attempts[-1]["outcome"] == "done"


@pytest.mark.req("kuffner", 107, 81)
def test_the_whole_motion_is_in_nothing():
    _, done = dinner()
    assert done.offences == ()


@pytest.mark.req("kuffner", 80)
@pytest.mark.req("badler", 76)
def test_the_hand_is_where_the_grasp_says_and_the_bottle_where_it_should_be():
    job, done = dinner()
    motion, prop = done.performance.motions["actor"], done.performance.props["bottle"]
    held = next(a for a in done.performance.attachments)
    start, end = round(held.start * job.fps), round(held.end * job.fps)
    hand = hands(motion, done.side)
    assert np.abs(prop[0] - job.world.bodies[2].matrices[0]).max() < 1e-9
    assert np.abs(prop[-1][:3, 3] - job.destination[:3, 3]).max() < 1e-4
    assert np.abs(prop[-1][:3, :3] - job.destination[:3, :3]).max() < 1e-3
    grip = np.eye(4)
    grip[:3, :3] = palm_axes(done.side)
    grip[:3, 3] = grip_place(job.skeleton, done.side, done.grasp.shape)
    for k, matrix in ((start, prop[0]), (end, job.destination)):
        wanted, found = matrix @ done.grasp.frame, hand[k] @ grip
        assert np.abs(found[:3, 3] - wanted[:3, 3]).max() < 1e-4 and np.abs(found - wanted).max() < 1e-3
    for k in (start, (start + end) // 2, end):
        assert np.allclose(np.linalg.inv(hand[k]) @ prop[k], np.linalg.inv(hand[start]) @ prop[start], atol=1e-9)


@pytest.mark.req("kuffner", 87)
@pytest.mark.req("badler", 79)
def test_the_bottle_does_not_jump_when_it_is_taken_and_left():
    job, done = dinner()
    prop = done.performance.props["bottle"]
    held = done.performance.attachments[0]
    start, end = round(held.start * job.fps), round(held.end * job.fps)
    assert np.abs(prop[: start + 1] - prop[0]).max() < 1e-9
    assert np.abs(prop[end:] - prop[end]).max() < 1e-9
    # at rest on both sides of the seam: the first and the last step are those of an eased motion
    moved = np.abs(np.diff(prop[start : end + 1], axis=0)).max(axis=(1, 2))
    assert moved[0] < 0.05 * moved.max() and moved[-1] < 0.05 * moved.max()
    assert (held.prop, held.actor, held.joint) == ("bottle", "actor", f"hand.{done.side}")


@pytest.mark.req("kuffner", 84)
def test_fingers_are_open_before_the_arm_returns():
    job, done = dinner()
    motion = done.performance.motions["actor"]
    back = next(e for e in stages(done) if e.data["stage"] == "return")
    release = next(e for e in stages(done) if e.data["stage"] == "release")
    reached = next(e for e in stages(done) if e.data["stage"] == "grasp")
    joints = finger_joints(job.skeleton, done.side)
    opened = motion.rotations[round(reached.time * job.fps)][joints]
    assert quat.distance(motion.rotations[round(back.time * job.fps)][joints], opened).max() < 1e-6
    assert quat.distance(motion.rotations[round(release.time * job.fps)][joints], opened).max() > 0.15
    arm = [job.skeleton.joint(f"{part}_{done.side}") for part in ("upper_arm", "forearm", "hand")]
    still = motion.rotations[round(release.time * job.fps) : round(back.time * job.fps) + 1][:, arm]
    assert quat.distance(still, still[:1]).max() < 1e-6


@pytest.mark.req("kuffner", 85)
def test_the_arm_ends_exactly_as_it_began():
    job, done = dinner()
    motion = done.performance.motions["actor"]
    joints = [*finger_joints(job.skeleton, done.side), job.skeleton.joint(f"hand_{done.side}")]
    joints += [job.skeleton.joint(f"upper_arm_{done.side}"), job.skeleton.joint(f"forearm_{done.side}")]
    assert quat.distance(motion.rotations[[0, -1]][:, joints], job.pose.rotations[joints]).max() < 1e-12
    assert motion.mask is not None and motion.mask[joints].all()
    assert not motion.mask[0] and not motion.mask[job.skeleton.joint("thigh_L")]


def test_every_stage_begins_and_ends_at_rest():
    job, done = dinner()
    motion = done.performance.motions["actor"]
    wrist = hands(motion, done.side)[:, :3, 3]
    speed = np.linalg.norm(np.diff(wrist, axis=0), axis=1)
    for event in stages(done):
        at = round(event.time * job.fps)
        assert speed[at - 1] < 0.08 * speed.max() and speed[at] < 0.08 * speed.max()


def test_hands_are_not_flung_around_corners():
    job, done = dinner()
    motion = done.performance.motions[job.actor]
    places = hands(motion, done.side)[:, :3, 3]
    assert np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max() * motion.fps**2 < 8.0
    # with nothing in between, not much more than the least jerk that takes a hand as far in that time
    free = reach(job_for("reach", come_back=False, hold=0.0))
    places = hands(free.performance.motions["actor"], free.side)[:, :3, 3]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    moving = np.flatnonzero(steps > 1e-6)
    least = 10.0 / np.sqrt(3.0) * steps.sum() / (moving[-1] - moving[0] + 1) ** 2
    assert np.linalg.norm(np.diff(places, 2, axis=0), axis=1).max() < 4.0 * least


@pytest.mark.req("kuffner", 94)
def test_gaze_goes_to_the_object_the_destination_and_back_and_before_the_arm():
    _, done = dinner()
    shifts = [e for e in done.performance.events if e.name == GAZE]
    assert [e.data["target"] for e in shifts] == [0, 1, -1]
    begun = {e.data["stage"]: e.time for e in stages(done)}
    for shift, stage in zip(shifts, ("reach", "transfer", "return"), strict=True):
        assert begun[stage] - 0.15 <= shift.time <= begun[stage]
    mask = done.performance.motions["actor"].mask
    assert mask[done.performance.motions["actor"].skeleton.joint("head")]


@pytest.mark.req("badler", 51)
def test_gaze_is_on_the_prop_before_the_hand_is_and_goes_on_before_the_hand_leaves():
    job, done = dinner()
    motion = done.performance.motions["actor"]
    shown = motion.curves[CURVE]
    touched = next(e.time for e in motion.events if e.name == "contact_on")
    arrives = next(round(e.time * job.fps) for e in stages(done) if e.data["stage"] == "grasp")
    assert arrives < round(touched * job.fps) and (shown[arrives - 10 : arrives + 1] == 0).all()
    leaves = next(e.time for e in stages(done) if e.data["stage"] == "transfer")
    shift = next(e.time for e in motion.events if e.name == GAZE and e.data["target"] == 1)
    assert shift <= leaves and shown[round(leaves * job.fps)] == 1


@pytest.mark.req("kuffner", 60)
def test_what_is_not_seen_is_not_reached_for():
    job = replace(job_for("move"), seen={"table"}, destination=placed((0, -0.4, 0.9)))
    with pytest.raises(NotVisible, match="bottle"):
        reach(job)


@pytest.mark.req("kuffner", 83)
@pytest.mark.parametrize(("x", "side"), [(-0.2, "R"), (0.2, "L")])
def test_the_nearer_hand_goes(x, side):
    assert reach(job_for("reach", (x, -0.4, 0.9), come_back=False)).side == side


@pytest.mark.req("kuffner", 82)
def test_when_the_first_grasp_is_blocked_the_next_is_taken_and_all_is_written_down():
    first = Grasp(framed((1, 0, 0), (0, 0, 1), (-0.036, 0, 0.16)), quality=1.0, name="first")
    second = Grasp(framed((0.87, -0.5, 0), (0, 0, 1), (-0.031, 0.018, 0.18)), quality=0.4, name="second")
    far = replace(first, frame=framed((1, 0, 0), (0, 0, 1), (-3.0, 0, 0)), name="far away")
    job = replace(job_for("reach", hand="R", come_back=False), grasps={"bottle": [far, second, first]})
    done = reach(job)
    outcomes = [row["outcome"] for row in done.ledger.attempts]
    assert "1 of 3 grasps are out of reach" in outcomes and outcomes[-1] == "done" and done.grasp.name == "first"
    # where the hand would be on its way to the first grasp
    plate = box("plate", (0.01, 0.01, 0.02), (-0.315, -0.51, 1.06))
    around = reach(replace(job, world=World((*job.world.bodies, plate))))
    assert around.grasp.name == "second" and around.ledger.attempts[0]["hand"] == "R"
    wall = box("wall", (0.01, 0.3, 0.5), (-0.26, -0.42, 1.0))
    with pytest.raises((NoIK, NoPath), match="wall") as failed:
        reach(replace(job, world=World((*job.world.bodies, wall)), grasps={"bottle": [first]}))
    assert failed.value.ledger.attempts


@pytest.mark.req("kuffner", 82)
def test_when_nothing_helps_the_reason_is_said():
    with pytest.raises(NoIK, match=r"out of reach"):
        reach(job_for("reach", (0.0, -3.0, 0.9)))
    with pytest.raises(InvalidParam, match="bottle"):
        reach(job_for("reach", target="cup"))


@pytest.mark.req("badler", 72)
def test_the_hand_arrives_along_the_approach_of_the_purpose():
    rows = [
        Grasp(framed((1, 0, 0), (0, 0, 1), (-0.036, 0, 0.16)), "cylindrical", ("drink",), name="drink"),
        Grasp(framed((0.87, -0.5, 0), (0, 0, 1), (-0.031, 0.018, 0.17)), "power", ("pour",), name="pour"),
    ]
    job = replace(job_for("reach", purpose="pour", hand="R", come_back=False), grasps={"bottle": rows})
    done = reach(job)
    assert done.ledger.attempts[-1]["grasp"] == "pour"
    hold = next(e for e in stages(done) if e.data["stage"] == "hold")
    at = round(hold.time * job.fps)
    hand = hands(done.performance.motions["actor"], "R")[:, :3, 3]
    way = hand[at] - hand[at - 6]
    assert np.degrees(np.arccos(way @ rows[1].approach / np.linalg.norm(way))) < 10.0


def test_a_finger_touches_and_points():
    job = job_for("touch", come_back=False)
    done = reach(job)
    motion = done.performance.motions["actor"]
    positions, globals = fk.forward(motion.skeleton, motion.rotations[-1:], motion.roots[-1:])
    tips = fk.tip_positions(motion.skeleton, positions, globals)
    tip = tips[0, motion.skeleton.chain(f"index_{done.side}")[-1]]
    _, far, _, _ = geometry.nearest(job.world, tip[None])
    assert far[0] < 0.002
    job = job_for("point", (-0.5, -3.0, 1.6), come_back=False)
    done = reach(job)
    motion = done.performance.motions["actor"]
    positions, globals = fk.forward(motion.skeleton, motion.rotations[-1:], motion.roots[-1:])
    chain = motion.skeleton.chain(f"index_{done.side}")
    tip = fk.tip_positions(motion.skeleton, positions, globals)[0, chain[-1]]
    shoulder = positions[0, motion.skeleton.joint(f"upper_arm_{done.side}")]
    goal = np.array([-0.5, -3.0, 1.72])
    ways = [quat.unit(goal - shoulder), quat.unit(tip - shoulder)]
    assert np.degrees(np.arccos(ways[0] @ ways[1])) < 3.0


def test_what_was_picked_up_is_put_back():
    table = box("table", (0.5, 0.3, 0.02), (0, -0.62, 0.88))
    job = job_for("pick_up", others=(table,))
    up = reach(job)
    assert up.holding is not None and up.holding.prop == "bottle"
    lifted = up.performance.props["bottle"][-1]
    assert lifted[2, 3] == pytest.approx(0.96, abs=1e-6)
    back = replace(
        job,
        pose=up.pose,
        holding=up.holding,
        destination=job.world.bodies[0].matrices[0],
        moved={"bottle": lifted},
        params=replace(job.params, task="put_back"),
    )
    down = reach(back)
    prop = down.performance.props["bottle"]
    assert np.abs(prop[0] - lifted).max() < 1e-6
    assert np.abs(prop[-1] - job.world.bodies[0].matrices[0]).max() < 1e-4
    assert [e.data["stage"] for e in stages(down)] == ["transfer", "release", "return"]
    assert down.holding is None
    joints = [job.skeleton.joint(f"{part}_{up.side}") for part in ("upper_arm", "forearm", "hand")]
    joints += finger_joints(job.skeleton, up.side)
    end = down.pose.rotations[joints]
    assert quat.distance(end, job.pose.rotations[joints]).max() < 1e-6


@pytest.mark.req("kuffner", 82)
@pytest.mark.req("badler", 64)
def test_an_actor_leans_or_steps_closer_when_the_arm_is_too_short():
    job = job_for("reach", (-0.15, -0.66, 0.9), lean=True, come_back=False)
    done = reach(job)
    motion = done.performance.motions["actor"]
    spine = list(job.skeleton.chain("spine"))
    assert (
        motion.mask[spine].all() and quat.distance(motion.rotations[-1, spine], motion.rotations[0, spine]).max() > 0.03
    )
    done = reach(job_for("reach", (-0.4, -2.0, 0.9), step=True, come_back=False))
    motion = done.performance.motions["actor"]
    assert motion.mask is None and np.linalg.norm(motion.roots[-1, :2] - motion.roots[0, :2]) > 1.2
    jumps = quat.distance(motion.rotations[1:], motion.rotations[:-1]).max()
    assert jumps < 0.6


def test_the_same_seed_gives_the_same_motion():
    one, two = (reach(job_for("reach", hand="R")) for _ in range(2))
    a, b = (x.performance.motions["actor"].rotations for x in (one, two))
    assert np.allclose(a, b, rtol=0, atol=1e-9)


def test_what_no_hand_can_do_is_refused_with_the_reason_before_anything_is_sought():
    job = job_for("pick_up")
    prop = job.world.bodies[0]
    bare = replace(prop, vertices=np.zeros((0, 3)), triangles=np.zeros((0, 3), dtype=int))
    with pytest.raises(NoGrasp, match="bottle has no mesh to take hold of"):
        reach(replace(job, world=World((bare,))))
    way = np.tile(prop.matrices, (60, 1, 1))
    way[:, 0, 3] += np.linspace(0, 0.5, 60)
    with pytest.raises(NoGrasp, match=r"bottle moves by 0\.4\d m in the next 2 s"):
        reach(replace(job, world=World((replace(prop, matrices=way),), fps=24.0)))
    with pytest.raises(InvalidParam, match="target = 'bottle'"):
        reach(replace(job, world=World((box("table", (0.5, 0.3, 0.02)),))))
    roles = {r: j for r, j in job.skeleton.roles.items() if r not in ("forearm_L", "forearm_R")}
    with pytest.raises(InvalidRig, match="actor has no arm to reach with: forearm_L is missing"):
        reach(replace(job, skeleton=replace(job.skeleton, roles=roles)))
    one = {r: j for r, j in job.skeleton.roles.items() if r != "hand_R"}
    with pytest.raises(InvalidRig, match="hand_R"):
        reach(replace(job, skeleton=replace(job.skeleton, roles=one), params=replace(job.params, hand="R")))
    with pytest.raises(InvalidParam, match="must begin with bottle in a hand"):
        reach(replace(job, params=replace(job.params, task="put_back")))


def test_what_moves_or_has_no_mesh_can_be_pointed_at():
    job = job_for("point", (-0.5, -3.0, 1.6), come_back=False)
    prop = job.world.bodies[0]
    bare = replace(prop, vertices=np.zeros((0, 3)), triangles=np.zeros((0, 3), dtype=int))
    assert reach(replace(job, world=World((bare,)))).side == "R"


@pytest.mark.req("kuffner", 82)
def test_what_is_shut_in_is_not_reached_and_what_shuts_it_in_is_named():
    walls = [
        box(f"wall {k}", half, np.add((-0.2, -0.4, 1.0), at))
        for k, (half, at) in enumerate(
            [((0.2, 0.01, 0.2), (0, s * 0.2, 0)) for s in (1, -1)]
            + [((0.01, 0.2, 0.2), (s * 0.2, 0, 0)) for s in (1, -1)]
            + [((0.2, 0.2, 0.01), (0, 0, s * 0.2)) for s in (1, -1)]
        )
    ]
    with pytest.raises((NoIK, NoPath), match=r"wall \d"):
        reach(job_for("pick_up", others=walls, budget=150, tries=1))


def test_a_task_stops_when_told_to():
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 1

    with pytest.raises(Cancelled):
        reach(replace(job_for("pick_up"), should_stop=stop))
    with pytest.raises(Cancelled):
        reach(replace(job_for("pick_up"), should_stop=lambda: True))
