"""Long work goes step by step and can be stopped at any of them, leaving everything as it was."""

import threading
import time

import bpy
import canon
import pytest
import rig_zoo
import stage
from troupe.addon.features.retarget import Operator
from troupe.addon.steps import aside, at_once, finish
from troupe.core.filters.retarget import RetargetParams
from troupe.core.landing import LandingParams


def counting(n):
    for k in range(n):
        yield k / n
    return n


def test_steps_at_once_give_the_result():
    assert finish(counting(3)) == 3 and at_once(counting)(4) == 4


@pytest.fixture
def sampled(tmp_path):
    """A source that has to be sampled frame by frame, and an actor."""
    source = stage.actor(skin=False)
    bpy.ops.troupe.retarget(clip="walk", landing="replace")
    source.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    target = stage.actor(skin=False)
    target.location.x = 2.0
    stage.choose(target)
    bpy.context.scene.frame_set(7)
    return source, target


@pytest.mark.parametrize("taken", [1, 5, 60])
def test_stopping_leaves_everything_as_it_was(sampled, taken):
    source, target = sampled
    before = canon.snapshot()
    work = Operator.plan_steps(bpy.context, target, RetargetParams(source=source.name), LandingParams(), None)
    shares = [next(work) for _ in range(taken)]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] < 1
    work.close()
    assert canon.snapshot() == before


def test_stopping_a_control_rig_leaves_everything_as_it_was(data):
    ob = rig_zoo.load(data / "rigs/rigify/rigify_basic_human_generated.blend")
    stage.choose(ob)
    bpy.ops.troupe.cast()
    before = canon.snapshot()
    work = Operator.plan_steps(bpy.context, ob, RetargetParams(clip="walk"), LandingParams(), None)
    for _ in range(10):
        next(work)
    work.close()
    assert canon.snapshot() == before
    assert bpy.ops.troupe.retarget(clip="walk") == {"FINISHED"}


def test_a_part_laid_over_a_control_rig_goes_with_the_body(data):
    ob = rig_zoo.load(data / "rigs/rigify/rigify_basic_human_generated.blend")
    stage.choose(ob)
    bpy.ops.troupe.cast()
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    from troupe.addon import bake

    cast = stage.cast_of(ob)
    walked = bake.read(ob, cast, bpy.context, frames=(1, 40))
    bpy.ops.troupe.retarget(clip="walk", body="arms", blend=0.0)
    again = bake.read(ob, cast, bpy.context, frames=(1, 40))
    place, turn = stage.errors(walked, again)
    assert place < 1e-4 and turn < 2e-3, "the same arms on the same walk change nothing"


@pytest.mark.req("kuffner", 101)
def test_work_in_a_thread_gives_control_back_and_stops_when_it_is_closed():
    stopped = threading.Event()

    def search(should_stop):
        while not should_stop():
            time.sleep(0.005)
        stopped.set()

    work = aside(search)
    assert 0.0 < next(work) < next(work) < 1.0
    work.close()
    assert stopped.wait(5.0)
    # one that is just busy with something is not waited for
    busy = threading.Event()
    work = aside(lambda _stop: busy.wait(30.0))
    next(work)
    begun = time.perf_counter()
    work.close()
    assert time.perf_counter() - begun < 0.5
    busy.set()
    assert finish(aside(lambda _stop: 7)) == 7
    with pytest.raises(ValueError, match="no way"):
        finish(aside(_fails))


def _fails(_stop):
    raise ValueError("no way")
