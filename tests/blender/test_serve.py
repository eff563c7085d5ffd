"""Waiting at tables in Blender: each cup is attended to, and a can that is seen on the way is put away."""

import bpy
import depths
import numpy as np
import pytest
from troupe.addon import trace
from troupe.addon.bake import results
from troupe.addon.demos import demos
from troupe.addon.features import handling


def carried(actor, prop, frames):
    """(T, 4, 4) of a prop and of the hand that holds it, at frames that need not be whole."""
    out = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        bone = actor.pose.bones[prop.constraints[0].subtarget]
        out.append([np.array(prop.matrix_world), np.array(actor.matrix_world @ bone.matrix)])
    return np.array(out, dtype=np.float64).swapaxes(0, 1)


@pytest.mark.req("kuffner", 96, 107)
def test_a_waiter_breaks_off_to_clean_and_goes_on():
    demos("serve")["serve"].build(bpy.context)
    actor, can = bpy.data.objects["Mannequin"], bpy.data.objects["can"]
    (found,) = [f for f in results.results_of(actor) if f.strip is not None]
    rows = [(row["what"], row["thing"]) for row in trace.trace_of(found.action)["transcript"]]
    assert [what for what, thing in rows if thing == "can"] == ["clean", "put away"]
    assert [thing for what, thing in rows if what == "serve"] == ["cup one", "cup two"]
    assert [c.type for c in can.constraints] == ["CHILD_OF"]
    assert not bpy.data.objects["cup one"].constraints
    assert not depths.deepest(10.5)
    (record,) = [r for _, r in handling.records(actor)]
    way, hand = carried(actor, can, np.arange(record["taken"] - 1.0, record["released"] + 1.1, 0.5))
    # in the hand it stays where it is, and neither there nor where it is taken and left does it jump
    in_hand = (np.linalg.inv(hand) @ way)[2:-3, :3, 3]
    assert np.linalg.norm(np.diff(in_hand, axis=0), axis=1).max() < 1e-5
    assert np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1).max() < 0.03
    assert np.linalg.norm(np.diff(way[:, :3, 3], 2, axis=0), axis=1).max() < 0.01
    with pytest.raises(RuntimeError, match="choose what is attended to"):
        bpy.ops.troupe.serve()
