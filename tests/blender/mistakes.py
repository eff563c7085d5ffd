"""Scenes with one mistake each, for the Doctor to find."""

import json
from dataclasses import replace

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake
from troupe.addon.bake import results
from troupe.core.figure import stroll
from troupe.core.filters.footlock import footlock
from troupe.core.filters.resample import resample
from troupe.core.kinematics.anatomy import with_angles

_walks = {}


def sound_walk(skeleton):
    """A walk of a skeleton, computed once."""
    if skeleton.names not in _walks:
        _walks[skeleton.names] = resample(footlock(stroll.walk(skeleton, cycles=2)), 24.0)
    return _walks[skeleton.names]


def walking(spoil=lambda motion: motion, landing="track", name="walk"):
    """A cast mannequin with a walk on it, changed by `spoil`."""
    ob = stage.actor()
    cast = stage.cast_of(ob)
    motion = spoil(sound_walk(cast.skeleton))
    keys = bake.prepare(ob, cast, motion, bpy.context, 1)
    bake.write(ob, keys, bpy.context, name, landing=landing)
    return ob


def shifted(motion, shift):
    return replace(motion, roots=motion.roots + shift, base=None)


def turned(role, degrees):
    def spoil(motion):
        angles = np.tile(np.radians(degrees), (len(motion), 1))
        return replace(motion, rotations=with_angles(motion.skeleton, motion.rotations, {role: angles}))

    return spoil


def jumping(motion):
    return shifted(motion, np.where(np.arange(len(motion))[:, None] < 30, 0.0, (0.3, 0.0, 0.0)))


def user_action(ob, name="mine", frames=(5, 20)):
    """An active action that turns the hips, as a user keys it."""
    ob.animation_data_create().action = bpy.data.actions.new(name)
    for frame in frames:
        ob.pose.bones["hips"].keyframe_insert("rotation_quaternion", frame=frame)
    return ob.animation_data.action


def uncast():
    ob = stage.actor()
    bpy.ops.troupe.uncast()
    return ob


def no_feet():
    ob = stage.actor()
    ob.troupe.roles.foot_L = ob.troupe.roles.foot_R = ""
    return ob


def deleted_bone():
    ob = stage.actor()
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones[ob.troupe.roles.clavicle_L])
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def one_bone_twice():
    ob = stage.actor()
    ob.troupe.roles.clavicle_L = ob.troupe.roles.clavicle_R
    return ob


def muted_track():
    ob = walking()
    ob.animation_data.nla_tracks[0].mute = True
    return ob


def muted_strip():
    ob = walking()
    ob.animation_data.nla_tracks[0].strips[0].mute = True
    return ob


def solo_track():
    ob = walking()
    user_action(ob)
    bpy.context.view_layer.update()
    track = ob.animation_data.nla_tracks.new(prev=ob.animation_data.nla_tracks[-1])
    track.strips.new("mine", 1, ob.animation_data.action)
    ob.animation_data.action = None
    track.is_solo = True
    return ob


def active_action():
    ob = walking()
    user_action(ob)
    return ob


def nla_off():
    ob = walking()
    ob.animation_data.use_nla = False
    return ob


def tweaked():
    ob = walking()
    track = ob.animation_data.nla_tracks[0]
    track.select = track.strips[0].select = True
    ob.animation_data.use_tweak_mode = True
    if not ob.animation_data.use_tweak_mode:
        pytest.skip("this Blender enters Tweak Mode only in a window")
    return ob


def rest_position():
    ob = walking()
    ob.data.pose_position = "REST"
    return ob


def no_slot():
    ob = stage.actor()
    action = user_action(ob)
    if not hasattr(action, "slots"):
        pytest.skip("this Blender has no slots")
    ob.animation_data.action_slot = None
    return ob


def uneven():
    ob = stage.actor()
    ob.scale = (1.0, 1.0, 1.5)
    bpy.context.view_layer.update()
    return ob


def mirrored():
    ob = stage.actor()
    ob.scale = (-1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    return ob


def doubled():
    ob = stage.actor()
    ob.scale = (1.3, 1.3, 1.3)
    bpy.context.view_layer.update()
    return ob


def centimetres():
    bpy.context.scene.unit_settings.scale_length = 0.01
    return stage.actor()


def giant():
    ob = stage.actor()
    ob.scale = (10.0, 10.0, 10.0)
    bpy.context.view_layer.update()
    return ob


def constrained():
    ob = stage.actor()
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    ik = ob.pose.bones[ob.troupe.roles.shin_L].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    bpy.context.view_layer.update()
    return ob


def driven():
    ob = stage.actor()
    ob.pose.bones[ob.troupe.roles.head].driver_add("rotation_quaternion", 0).driver.expression = "1"
    return ob


def not_a_number():
    ob = walking(landing="replace")
    fcurve = canon.bags(ob.animation_data.action)[0].fcurves[0]
    fcurve.keyframe_points[3].co.y = float("nan")
    return ob


def missing_clip():
    ob = stage.actor()
    ob.troupe.retarget.file = "/nowhere/walk.bvh"
    return ob


def missing_action():
    ob = stage.actor()
    ob.troupe.retarget.action = "gone"
    return ob


def stretched():
    bpy.context.scene.render.frame_map_new = 200
    return stage.actor()


def other_rate():
    ob = walking()
    action = results.results_of(ob)[0].action
    action["troupe"] = json.dumps({**results.recipe_of(action), "fps": 30.0})
    return ob


MISTAKES = {
    "sliding": (lambda: walking(lambda m: shifted(m, m.times[:, None] * (0.1, 0, 0))), "slide", r"foot slides \d+ mm"),
    "sunken": (lambda: walking(lambda m: shifted(m, (0, 0, -0.07))), "floor", r"foot is \d+ mm below the floor"),
    "knee": (lambda: walking(turned("shin_L", (-35, 0, 0))), "hyperextension", "left knee bends 35° the wrong way"),
    "elbow": (lambda: walking(turned("forearm_R", (-35, 0, 0))), "hyperextension", "right elbow bends 35° the wrong"),
    "limits": (lambda: walking(turned("head", (0, 0, 110))), "limits", "head goes 50° beyond its range of rotation"),
    "jump": (lambda: walking(jumping), "jump", r"whole body jumps 30\d mm, frames 30 to 31"),
    "uncast": (uncast, "uncast", "is not cast"),
    "no feet": (no_feet, "unmapped", "has no bone for left foot, right foot"),
    "deleted bone": (deleted_bone, "lost", r"has no bone \S+ any more, which played left clavicle"),
    "muted track": (muted_track, "muted", "The track Troupe is muted: the result walk does not show"),
    "muted strip": (muted_strip, "muted", "The strip walk is muted"),
    "solo": (solo_track, "solo", "plays alone: walk does not show"),
    "active action": (active_action, "hidden", "The active action mine hides walk below it"),
    "nla off": (nla_off, "nla", "The NLA of .* is switched off"),
    "tweak mode": (tweaked, "tweak", "is in Tweak Mode"),
    "rest position": (rest_position, "rest", "set to Rest Position"),
    "no slot": (no_slot, "slot", "The action mine has no slot"),
    "uneven scale": (uneven, "scale", r"is scaled unevenly \(1, 1, 1.5\)"),
    "mirrored": (mirrored, "scale", r"negative scale \(-1, 1, 1\)"),
    "unapplied scale": (doubled, "scale", "has an unapplied scale of 1.3"),
    "unit scale": (centimetres, "units", r"legs of .* measure 0.0\d+ m.*unit scale is 0.01"),
    "constraint": (constrained, "driven", "moved by constraints or drivers"),
    "driver": (driven, "driven", "moved by constraints or drivers"),
    "nan": (not_a_number, "nan", "The action walk is broken: .* is not a number"),
    "missing clip": (missing_clip, "input", "Retarget is set to the file /nowhere/walk.bvh, which does not exist"),
    "missing action": (missing_action, "input", "Retarget is set to the action gone, which does not exist"),
    "time stretching": (stretched, "stretch", "Time Stretching plays the scene 2 times as long"),
    "frame rate": (other_rate, "rate", "walk was made for 30 frames a second, but the scene plays 24"),
}
"""Name to what makes the mistake, the kind of its finding and a pattern of its sentence."""
