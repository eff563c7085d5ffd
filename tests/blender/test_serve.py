"""Waiting at tables in Blender: each cup is attended to, and a can that is seen on the way is put away."""

import bpy
import depths
import pytest
from troupe.addon import trace
from troupe.addon.bake import results
from troupe.addon.demos import demos


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
    with pytest.raises(RuntimeError, match="choose what is attended to"):
        bpy.ops.troupe.serve()
