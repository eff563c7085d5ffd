"""A waiter attends to every table, breaks off to clean, and goes on where it was."""

import numpy as np
import pytest
from troupe.core.errors import InvalidParam
from troupe.core.kinematics import fk
from troupe.core.maths import quat
from troupe.core.planning.hands.reach import Job, ReachParams
from troupe.core.planning.hands.serve import ServeParams, serve
from troupe.core.planning.hands.workplaces import dining_room
from troupe.core.planning.spaces.penetration import penetrations
from troupe.core.planning.spaces.set_pieces import box
from troupe.core.planning.walkers.tasks import MoveTo, Scope, Stance, TurnTo, chained
from troupe.core.world import World


def room(*more):
    skeleton, pose, world, litter, spots = dining_room()
    return Job(skeleton, pose, World((*world.bodies, *more)), ReachParams(), fps=12.0), litter, spots


@pytest.mark.req("kuffner", 96, 107)
def test_a_waiter_breaks_off_to_clean_passes_over_what_it_cannot_reach_and_goes_on():
    job, litter, spots = room(box("lamp", (0.03, 0.03, 0.05), (-1.0, -1.0, 2.9), number=30))
    done = serve(job, ServeParams(gaze=0.0, attend=0.2), ("cup one", "lamp", "cup two"), litter, spots)
    rows = [(row["what"], row["thing"]) for row in done.transcript]
    assert rows == [
        ("go on", "cup one"),
        ("clean", "can"),
        ("put away", "can"),
        ("resume", "cup one"),
        ("serve", "cup one"),
        ("go on", "lamp"),
        ("give up", "lamp"),
        ("go on", "cup two"),
        ("serve", "cup two"),
    ]
    # at no table does an arm go through it, neither as it comes nor as it turns away
    motion, tables = done.motions["actor"], ("table one", "table two", "sideboard")
    furniture = World(tuple(b for b in job.world.bodies if b.name in tables))
    assert not penetrations(motion, furniture)
    assert quat.distance(motion.rotations[1:], motion.rotations[:-1]).max() < 1.2


def test_without_tables_or_a_place_for_litter_it_says_so():
    job, litter, _ = room()
    with pytest.raises(InvalidParam, match="nothing to attend to"):
        serve(job, ServeParams(), ())
    with pytest.raises(InvalidParam, match="nowhere to put"):
        serve(job, ServeParams(), ("cup one",), litter)


def test_a_walk_ends_with_both_feet_down_so_that_no_toes_go_through_the_floor_in_what_follows():
    job, _, _ = room()
    skeleton, toes = job.skeleton, [job.skeleton.joint(f"toe_{side}") for side in "LR"]
    scope, here = Scope(skeleton, World(job.world.bodies[:1]), fps=job.fps), Stance(np.zeros(3), job.pose)
    for task in (MoveTo((0.5, -1.7)), MoveTo((0.2, -1.0)), MoveTo((-1.2, 0.3)), TurnTo(2.5)):
        walked = task.motion(here, scope)
        motion = chained([walked, TurnTo(walked.base[-1, 2] + 0.5).motion(_after(walked), scope)])
        places, turns = fk.forward(skeleton, motion.rotations, motion.roots)
        ends = (places[:, toes] + quat.rotate(turns[:, toes], skeleton.tips[toes]))[..., 2]
        assert abs(places[len(walked) - 1, toes, 2] - places[0, toes, 2]).max() < 0.001
        assert (ends - ends[0]).min() > -0.002


def _after(motion):
    return Stance(motion.base[-1], motion.pose(len(motion) - 1))
