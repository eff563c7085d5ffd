"""Generated Rigify rigs keyed on their controls: the anatomy lands where it was wanted and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from troupe.addon.bake import controls, curves, nla, pose  # noqa: E402
from troupe.core.maths import quat  # noqa: E402

SIDES = (".L", ".R")
FINGERS = ("thumb", "f_index", "f_middle", "f_ring", "f_pinky")
FRAMES = np.arange(11.0, 31.0)
LIMB = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


@pytest.fixture(params=["human", "basic_human"])
def rig(request: pytest.FixtureRequest, data: Path) -> Any:
    bpy.ops.wm.open_mainfile(filepath=str(data / "rigs" / "rigify" / f"rigify_{request.param}_generated.blend"))
    ob = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    yield ob
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def anatomy(ob: Any) -> dict[str, str | None]:
    """Anatomical bone to the one above it, root first."""
    tree: dict[str, str | None] = {"spine": None}
    above = "spine"
    for k in range(1, 7):
        tree[f"spine.{k:03d}"] = above
        above = f"spine.{k:03d}"
    for s in SIDES:
        tree |= {f"shoulder{s}": "spine.003", f"upper_arm{s}": f"shoulder{s}", f"forearm{s}": f"upper_arm{s}"}
        tree |= {f"hand{s}": f"forearm{s}", f"thigh{s}": "spine", f"shin{s}": f"thigh{s}", f"foot{s}": f"shin{s}"}
        tree |= {f"toe{s}": f"foot{s}"}
        for finger in FINGERS:
            tree |= {f"{finger}.01{s}": f"hand{s}", f"{finger}.02{s}": f"{finger}.01{s}"}
            tree |= {f"{finger}.03{s}": f"{finger}.02{s}"}
    return {b: p for b, p in tree.items() if f"ORG-{b}" in ob.data.bones}


def dance(ob: Any, knees: tuple[float, float] | None = None, count: int = len(FRAMES)) -> dict[str, Any]:
    """Measured bone to matrices (T, 4, 4): every joint turns about an axis of its own.

    `knees` are the least and the greatest flexion of knees and elbows [rad], which then bend about their hinges only.
    """
    rng = np.random.default_rng(1)
    rest, found = pose.rest(ob.data), controls.find(ob)
    t = np.linspace(0, 7, count)
    moved: dict[str, Any] = {}
    out = {}
    for bone, above in anatomy(ob).items():
        own = rest.matrices[rest.index(f"ORG-{bone}")]
        axis, swing, middle = quat.unit(rng.normal(size=3)), 0.25 if "spine" in bone else 0.6, 0.0
        if knees and bone.startswith(("shin", "forearm")):
            axis, swing, middle = np.array([1.0, 0, 0]), (knees[1] - knees[0]) / 2, (knees[0] + knees[1]) / 2
        basis = np.tile(np.eye(4), (count, 1, 1))
        basis[:, :3, :3] = quat.to_matrix(quat.about(axis, middle + swing * np.sin(t + rng.uniform(0, 6))))
        if above is None:
            basis[:, :3, 3] = np.stack([0.3 * np.sin(t), 0.1 * np.cos(t), 0.05 * t], axis=-1)
        turn = own @ basis @ np.linalg.inv(own)
        moved[bone] = turn if above is None else moved[above] @ turn
        measured = found.anatomy.get(f"DEF-{bone}", f"DEF-{bone}")
        out[measured] = moved[bone] @ rest.matrices[rest.index(measured)]
    return out


def put_on(ob: Any, channels: Any, frames: Any = FRAMES) -> Any:
    action = bpy.data.actions.new("Result")
    curves.write(curves.bag(ob, action), channels, frames)
    return nla.land(ob, action)


def errors(ob: Any, wanted: dict[str, Any], frames: Any = FRAMES) -> dict[str, tuple[float, float]]:
    """Bone to its largest error of rotation [rad] and of place [m]."""
    rest = pose.rest(ob.data)
    index = [rest.index(b) for b in wanted]
    shown = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        shown.append(pose.matrices(ob.pose.bones)[index])
    got, asked = np.stack(shown), np.stack(list(wanted.values()), axis=1)
    turn = pose.decompose(got)[1]
    angle = quat.distance(quat.from_matrix(turn), quat.from_matrix(asked[..., :3, :3]))
    place = np.linalg.norm(got[..., :3, 3] - asked[..., :3, 3], axis=-1)
    return {b: (float(angle[:, k].max()), float(place[:, k].max())) for k, b in enumerate(wanted)}


def worst(found: dict[str, tuple[float, float]], *parts: str) -> tuple[float, float]:
    chosen = [e for b, e in found.items() if any(p in b for p in parts)] if parts else list(found.values())
    return max(e[0] for e in chosen), max(e[1] for e in chosen)


def dump(ob: Any) -> Any:
    """Everything a bake must leave alone."""
    scene, data = bpy.context.scene, ob.animation_data
    return {
        "data": {
            k: sorted(x.name for x in getattr(bpy.data, k)) for k in ("scenes", "objects", "actions", "armatures")
        },
        "frame": (scene.frame_current, scene.frame_subframe),
        "mode": (ob.mode, bpy.context.mode, bpy.context.view_layer.objects.active.name, ob.select_get()),
        "action": (data.action.name if data.action else None, [[s.name for s in t.strips] for t in data.nla_tracks]),
        "drivers": len(data.drivers),
        "pose": [
            (tuple(b.location), tuple(b.rotation_quaternion), tuple(b.rotation_euler), tuple(b.scale), b.rotation_mode)
            for b in ob.pose.bones
        ],
        "props": [
            sorted((k, v) for k, v in b.items() if isinstance(v, (bool, int, float, str))) for b in ob.pose.bones
        ],
        "constraints": [[(c.name, c.type, c.mute) for c in b.constraints] for b in ob.pose.bones],
        "matrices": pose.matrices(ob.pose.bones).tolist(),
    }


def test_a_plain_armature_has_no_controls(data: Path) -> None:
    for name in ("human", "basic_human"):
        bpy.ops.wm.open_mainfile(filepath=str(data / "rigs" / "rigify" / f"rigify_{name}_metarig.blend"))
        assert controls.find(next(o for o in bpy.data.objects if o.type == "ARMATURE")) is None


def test_anatomy_names_bones_of_the_rig(rig: Any) -> None:
    found = controls.find(rig)
    assert found.anatomy["DEF-thigh.L"] == "ORG-thigh.L"
    assert all(a in rig.data.bones and b in rig.data.bones for a, b in found.anatomy.items())
    assert all(r.control in rig.data.bones for r in found.rows)


def test_fk_lands_exactly(rig: Any) -> None:
    wanted = dance(rig)
    channels = controls.bake(rig, controls.find(rig), wanted, FRAMES, legs="fk", arms="fk")
    put_on(rig, channels)
    angle, place = worst(errors(rig, wanted))
    assert angle < 2e-5
    assert place < 1e-5
    moving = {c.group for c in channels if c.path.endswith("location") and len(c.values) > 1}
    assert moving == {"torso", "head", "tweak_spine.005"}


def test_ik_lands_hands_and_feet_exactly_and_knees_nearly(rig: Any) -> None:
    wanted = dance(rig, knees=(0.05, 1.6))
    put_on(rig, controls.bake(rig, controls.find(rig), wanted, FRAMES, legs="ik", arms="ik"))
    found = errors(rig, wanted)
    angle, place = worst(found, "ORG-hand", "ORG-foot", "ORG-toe")
    assert angle < 1e-4
    assert place < 2e-4
    angle, place = worst(found, "thigh", "shin", "upper_arm", "forearm")
    assert angle < 1e-3
    assert place < 2e-4
    assert worst(found, "spine", "shoulder", *FINGERS)[0] < 2e-5


def test_legs_are_ik_and_arms_fk_unless_told(rig: Any) -> None:
    wanted = dance(rig, knees=(0.05, 1.6))
    channels = controls.bake(rig, controls.find(rig), wanted, FRAMES)
    keyed = {c.path: c for c in channels}
    for s in SIDES:
        assert keyed[f'pose.bones["thigh_parent{s}"]["IK_FK"]'].values == 0.0
        assert keyed[f'pose.bones["upper_arm_parent{s}"]["IK_FK"]'].values == 1.0
        assert f'pose.bones["foot_ik{s}"].location' in keyed
        assert f'pose.bones["hand_fk{s}"].rotation_quaternion' in keyed
        assert f'pose.bones["foot_fk{s}"].rotation_quaternion' not in keyed
    put_on(rig, channels)
    assert worst(errors(rig, wanted))[0] < 1e-3


def test_switches_are_keyed_once_and_hold(rig: Any) -> None:
    channels = controls.bake(rig, controls.find(rig), dance(rig), FRAMES, legs="ik", arms="fk")
    keyed = {c.path: c for c in channels}
    for name in ("IK_FK", "IK_Stretch", "pole_vector", "IK_parent", "pole_parent"):
        channel = keyed[f'pose.bones["thigh_parent.L"]["{name}"]']
        assert (channel.interpolation, len(channel.values), channel.frames.tolist()) == ("CONSTANT", 1, [11.0])
    assert len(keyed) == len(channels)


@pytest.mark.parametrize("bend", [(0.0, 0.0), (-0.35, -0.1), (-0.3, 0.3)])
def test_a_straight_or_overstretched_limb_does_not_flip(rig: Any, bend: tuple[float, float]) -> None:
    count = 40
    # the rest pose bends by about 0.2 rad
    wanted = dance(rig, knees=bend, count=count)
    frames = np.arange(1.0, count + 1)
    put_on(rig, controls.bake(rig, controls.find(rig), wanted, frames, legs="ik", arms="ik"), frames)
    found = errors(rig, wanted, frames)
    assert worst(found, "ORG-hand", "ORG-foot")[1] < 1e-3
    assert worst(found, "thigh", "upper_arm", "shin", "forearm")[0] < 0.6


def test_the_result_overrules_the_users_own_pose_and_keys(rig: Any) -> None:
    wanted = dance(rig, knees=(0.05, 1.6))
    plain = controls.bake(rig, controls.find(rig), wanted, FRAMES)
    rng = np.random.default_rng(3)
    users = [
        curves.Channel(curves.bone_path(c, "location"), rng.normal(size=(20, 3)) * 0.2)
        for c in ("root", "torso", "hips", "chest", "spine_fk", "foot_ik.L", "tweak_spine.002", "thigh_ik_target.L")
    ]
    for bone in ("thigh_parent.L", "upper_arm_parent.L"):
        users.append(curves.Channel(curves.bone_path(bone, '["IK_FK"]'), np.linspace(0, 1, 20)[:, None]))
    users.append(curves.Channel(curves.bone_path("foot_heel_ik.L", "rotation_euler"), rng.normal(size=(20, 3))))
    put_on(rig, users)
    rig.pose.bones["upper_arm_fk.L"].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    channels = controls.bake(rig, controls.find(rig), wanted, FRAMES)
    for before, after in zip(plain, channels, strict=True):
        assert before.path == after.path
        np.testing.assert_allclose(after.values, before.values, atol=1e-4)
    put_on(rig, channels)
    assert worst(errors(rig, wanted))[0] < 1e-3


def test_a_part_is_laid_over_what_plays(rig: Any) -> None:
    body = dance(rig, knees=(0.05, 1.6))
    found = controls.find(rig)
    put_on(rig, controls.bake(rig, found, body, FRAMES))
    arm = [found.anatomy.get(f"DEF-{b}.L", f"DEF-{b}.L") for b in ("upper_arm", "forearm", "hand")]
    spin = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    spin[:, :3, :3] = quat.to_matrix(quat.about(np.array([0.0, 1.0, 0.0]), np.linspace(0, 1, len(FRAMES))))
    wanted = {}
    for bone in arm:
        centre = body[arm[0]][:, :3, 3]
        wanted[bone] = spin @ body[bone]
        wanted[bone][:, :3, 3] = centre + np.einsum("tij,tj->ti", spin[:, :3, :3], body[bone][:, :3, 3] - centre)
    channels = controls.bake(rig, found, wanted, FRAMES)
    assert {c.group for c in channels} == {"upper_arm_fk.L", "forearm_fk.L", "hand_fk.L", "upper_arm_parent.L"}
    assert not any(c.path.endswith("location") for c in channels)
    action = bpy.data.actions.new("Wave")
    curves.write(curves.bag(rig, action), channels, FRAMES)
    nla.land(rig, action, "layer")
    assert worst(errors(rig, wanted))[0] < 2e-5
    rest_of_body = {b: m for b, m in body.items() if "ORG" in b and b.endswith(".R")}
    assert worst(errors(rig, rest_of_body))[1] < 1e-3


def test_a_limb_without_its_end_is_keyed_in_fk(rig: Any) -> None:
    wanted = {b: m for b, m in dance(rig).items() if "foot" not in b and "toe" not in b}
    channels = controls.bake(rig, controls.find(rig), wanted, FRAMES, legs="ik")
    put_on(rig, channels)
    assert worst(errors(rig, wanted))[0] < 2e-5
    assert "foot_ik.L" not in {c.group for c in channels}


def test_the_root_control_may_carry_the_base(rig: Any) -> None:
    wanted = dance(rig)
    base = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    base[:, 0, 3] = np.linspace(0, 2, len(FRAMES))
    base[:, :3, :3] = quat.to_matrix(quat.about(np.array([0.0, 0.0, 1.0]), np.linspace(0, 1, len(FRAMES))))
    wanted["root"] = base
    channels = controls.bake(rig, controls.find(rig), wanted, FRAMES, legs="fk")
    put_on(rig, channels)
    angle, place = worst(errors(rig, wanted))
    assert angle < 2e-5
    assert place < 1e-5


def test_masters_and_rolls_are_held_at_rest(rig: Any) -> None:
    channels = controls.bake(rig, controls.find(rig), dance(rig), FRAMES)
    held = {c.group for c in channels if len(c.values) == 1 and c.path.endswith("location")}
    assert {"root", "hips", "chest", "foot_heel_ik.L", "foot_spin_ik.R"} <= held
    if "f_index.01_master.L" in rig.pose.bones:
        assert {f"{f}.01_master{s}" for f in FINGERS for s in SIDES} <= held


@pytest.mark.parametrize("how", ["finished", "failed", "stopped"])
def test_nothing_else_changes(rig: Any, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["torso"].location = (0.1, 0.2, 0.3)
    rig.pose.bones["thigh_parent.L"]["IK_FK"] = 0.5
    users = bpy.data.actions.new("Users")
    curves.write(
        curves.bag(rig, users),
        [curves.Channel(curves.bone_path("hand_fk.L", "rotation_quaternion"), np.eye(4)[:2])],
        np.array([1, 30]),
    )
    curves.assign(rig, users)
    bpy.context.scene.frame_set(7, subframe=0.25)
    rig.pose.bones["hand_fk.L"].rotation_quaternion = (0.8, 0.6, 0, 0)  # posed, not keyed
    bpy.context.view_layer.update()
    before = dump(rig)
    wanted, found = dance(rig), controls.find(rig)
    if how == "finished":
        controls.bake(rig, found, wanted, FRAMES)
    elif how == "stopped":
        steps = controls.bake_steps(rig, found, wanted, FRAMES)
        shares = [next(steps) for _ in range(6)]
        assert shares == sorted(shares) and shares[-1] < 1.0
        steps.close()
    else:
        reads = iter(range(5))
        real = pose.matrices

        def fails(collection: Any, name: str = "matrix") -> Any:
            if name == "matrix":
                next(reads)
            return real(collection, name)

        monkeypatch.setattr(pose, "matrices", fails)
        with pytest.raises(RuntimeError, match="StopIteration"):
            controls.bake(rig, found, wanted, FRAMES)
        monkeypatch.undo()
    assert dump(rig) == before
    bpy.context.view_layer.update()
    assert dump(rig) == before


def test_baking_twice_gives_the_same_keys(rig: Any) -> None:
    wanted = dance(rig)
    first, second = (controls.bake(rig, controls.find(rig), wanted, FRAMES) for _ in range(2))
    assert all(np.array_equal(a.values, b.values) for a, b in zip(first, second, strict=True))


def test_a_rig_away_from_the_origin_lands_exactly(rig: Any) -> None:
    rig.location, rig.rotation_euler, rig.scale = (5, -3, 2), (0.3, 0.2, 1.5), (0.5, 0.5, 0.5)
    wanted = dance(rig, knees=(0.05, 1.6))
    put_on(rig, controls.bake(rig, controls.find(rig), wanted, FRAMES))
    angle, place = worst(errors(rig, wanted))
    assert angle < 1e-3
    assert place < 2e-4


def test_a_freshly_generated_rig_lands_exactly() -> None:
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    assert controls.find(rig).family == "Rigify"
    wanted = dance(rig)
    put_on(rig, controls.bake(rig, controls.find(rig), wanted, FRAMES, legs="fk"))
    assert worst(errors(rig, wanted))[0] < 2e-5
