"""Hands at work: a tool into the housing of a wheel, a pot that must be seen, the controls of a car."""

from dataclasses import replace

import numpy as np
import pytest
from troupe.core.errors import NotVisible
from troupe.core.kinematics import fk
from troupe.core.kinematics.fingers import phalanx_radii
from troupe.core.maths import geometry, quat
from troupe.core.planning.hands.reach import Job, ReachParams, reach
from troupe.core.planning.hands.searching import in_sight
from troupe.core.planning.hands.stages import STAGE
from troupe.core.planning.hands.workplaces import CONTROLS, driving_seat, pot_scene, touched, wheel_housing
from troupe.core.planning.spaces.solids import Shapes
from troupe.core.world import World

SHAPES = Shapes()


@pytest.mark.req("kuffner", 107)
def test_a_tool_goes_from_its_box_into_the_housing_of_a_wheel():
    skeleton, pose, world, there = wheel_housing()
    assert sum(len(body.triangles) for body in world.bodies) > 13_000
    params = ReachParams(target="tool", step=False, gaze=0.0)
    done = reach(Job(skeleton, pose, world, params, destination=there, shapes=SHAPES))
    assert done.offences == ()
    way = done.performance.props["tool"]
    assert np.abs(way[-1] - there).max() < 1e-3
    # it had to be lifted out and led through the opening
    assert way[:, 2, 3].max() > way[0, 2, 3] + 0.06
    assert done.performance.motions["actor"].duration < 14.0


@pytest.mark.req("kuffner", 60)
def test_a_pot_is_taken_by_its_handle_when_it_is_seen_and_not_at_all_behind_a_panel():
    for hidden in (False, True):
        skeleton, pose, world, there = pot_scene(hidden)
        params = ReachParams(target="pot", step=False, gaze=0.0)
        job = in_sight(Job(skeleton, pose, world, params, destination=there, shapes=SHAPES))
        assert "torch" in job.seen and ("pot" in job.seen) is not hidden
        if hidden:
            with pytest.raises(NotVisible, match="pot"):
                reach(job)
            continue
        done = reach(job)
        assert done.grasp.name == "handle" and done.offences == ()
        assert np.abs(done.performance.props["pot"][-1] - there).max() < 1e-3


def test_controls_are_touched_one_after_the_other():
    skeleton, pose, world = driving_seat()
    all_done = touched(Job(skeleton, pose, world, ReachParams(step=False, gaze=0.0), shapes=SHAPES))
    assert len(all_done) == len(CONTROLS)
    start = pose
    for name, done in zip(CONTROLS, all_done, strict=True):
        assert done.offences == ()
        motion = done.performance.motions["actor"]
        assert np.allclose(motion.rotations[0], start.rotations, atol=1e-9)
        at = next(round(e.time * motion.fps) for e in motion.events if e.name == STAGE and e.data["stage"] == "hold")
        positions, globals = fk.forward(skeleton, motion.rotations[at], motion.roots[at])
        last = skeleton.chain(f"index_{done.side}")[-1]
        tip, thick = (
            fk.tip_positions(skeleton, positions, globals)[last],
            phalanx_radii(skeleton, "index", done.side)[-1],
        )
        # the end of the finger is round: its flesh is on the surface, however it comes to it
        middle = tip - thick * quat.unit(quat.rotate(globals[last], skeleton.tips[last]))
        body = replace(next(b for b in world.bodies if b.name == name))
        assert geometry.nearest(World((body,)), middle[None])[1][0] == pytest.approx(thick, abs=0.002)
        start = done.pose
