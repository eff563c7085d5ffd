"""Whatever button is pressed, keys made or edited by hand are still in the file afterwards."""

import bpy
import canon
import pytest
import stage
from troupe.addon.bake import results

ARGUMENTS = {
    "troupe.retarget": [{"clip": "walk", "landing": way} for way in ("track", "replace", "layer")]
    + [{"clip": "walk", "body": "arms"}],
    "troupe.regenerate": [{"edits": way} for way in ("keep", "take")],
    "troupe.remove_result": [{"every": True}, {}],
    "troupe.fix": [{"kind": kind} for kind in ("slide", "hidden", "jump", "limit", "knee", "floor", "muted")],
    "troupe.cast": [{}, {"neutral": "pose"}],
    "troupe.preset_apply": [{"feature": "retarget", "name": "Exact"}],
    "troupe.preset_save": [],
    "troupe.preset_remove": [],
}
"""What each operator is called with; none where a file of the user's would be written."""

BUTTONS = [
    (idname, arguments)
    for idname in sorted(f"troupe.{name}" for name in dir(bpy.ops.troupe))
    for arguments in ARGUMENTS.get(idname, [{}])
]


def mine():
    """Keys of the user's own action and of a result that was edited by hand."""
    stage.once(animate)
    return bpy.context.object, *KEYS


KEYS = []


def animate():
    ob = stage.actor()
    ob.pose.bones["head"].rotation_quaternion = (0.9, 0.1, 0.2, 0.0)
    for frame in (1, 25):
        ob.pose.bones["head"].keyframe_insert("rotation_quaternion", frame=frame)
    ob.keyframe_insert("location", frame=3)
    KEYS.append(canon.keys_of(ob.animation_data.action))
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(clip="walk")
    action = results.results_of(ob)[0].action
    curve = canon.bags(action)[0].fcurves[5]
    for point in curve.keyframe_points:
        point.co.y += 0.05
    curve.update()
    KEYS.append(canon.keys_of(action))


@pytest.mark.parametrize(("idname", "arguments"), BUTTONS)
def test_hand_made_keys_survive(idname, arguments, tmp_path):
    ob, own, edited = mine()
    if idname == "troupe.fix":
        arguments = {"actor": ob.name, **arguments}
        bpy.ops.troupe.doctor()
    if idname == "troupe.export_map":
        arguments = {"filepath": str(tmp_path / "map.json")}
    try:
        getattr(bpy.ops.troupe, idname.split(".")[1])(**arguments)
    except RuntimeError as refused:
        assert "Traceback" not in str(refused), refused
    kept = [canon.keys_of(action) for action in bpy.data.actions if action.users or action.use_fake_user]
    assert own in kept, "the user's own action is gone or changed"
    assert edited in kept, "a result edited by hand is gone or changed"
