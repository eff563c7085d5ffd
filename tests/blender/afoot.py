"""What features that go on foot are measured by: the motion they meant, what the rig shows, and how feet slide."""

from pathlib import Path

import bpy
import numpy as np
import rig_zoo
import stage
from troupe.addon import bake, features
from troupe.addon.bake import results
from troupe.addon.steps import finish
from troupe.core.filters.contacts import sole_points
from troupe.core.filters.footlock import slide
from troupe.core.kinematics import fk

RIGS = {
    "mannequin": "",
    "metarig": "rigs/rigify/rigify_human_metarig.blend",
    "rigify": "rigs/rigify/rigify_human_generated.blend",
    "mixamo": "rigs/makehuman/mpfb_mixamo.glb",
    "bvh": "rigs/geno/Geno_bind.bvh",
}
"""Kinds of rigs and their files; the mannequin needs none."""
WAYS = ("mannequin", "rigify", "bvh")
"""One rig for each way of being keyed: bones with a bone for the root, controls, and bones without one."""


def enter(kind: str, data: Path):
    """A cast actor of this kind, at rest."""
    if not RIGS[kind]:
        return stage.actor(skin=False)
    ob = rig_zoo.load(data / RIGS[kind])
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.0
    stage.choose(ob)
    bpy.ops.troupe.cast()
    bpy.context.scene.frame_set(1)
    return ob


def last_result(ob):
    """The action of the topmost result, its recipe and its operator."""
    action = results.results_of(ob)[-1].action
    recipe = results.recipe_of(action)
    operator = next(op for op in features.operators() if op.feature() == recipe["feature"])
    return action, recipe, operator


def meant(ob):
    """The motion that the topmost result was made from."""
    _, recipe, operator = last_result(ob)
    cast = stage.cast_of(ob)
    start = bake.Start.from_plain(recipe["start"], cast)
    params = operator.params.from_dict(recipe["params"])
    return finish(operator.motion_steps(bpy.context, ob, cast, params, start))[0]


def shown(ob):
    """What the rig shows over the topmost result."""
    first, last = (int(x) for x in last_result(ob)[0].frame_range)
    return bake.read(ob, stage.cast_of(ob), bpy.context, frames=(first, last))


def worst_slide(motion, plan) -> float:
    """How far a planted heel or ball moves over the ground at most [m, for legs up to a metre]."""
    return max(s.travel for s in slide(motion, plan)) / max(1.0, motion.skeleton.leg_length())


def deepest(motion, floor: float) -> float:
    """How far a sole is below the floor at most [m, for legs up to a metre]."""
    return float(floor - sole_points(motion)[..., 2].min()) / max(1.0, motion.skeleton.leg_length())


def arms(motion, sample: int):
    """(2,) angles of the upper arms against the vertical [rad], left first."""
    s = motion.skeleton
    places, _ = fk.forward(s, motion.rotations[sample], motion.roots[sample])
    out = []
    for side in "LR":
        arm = places[s.joint(f"forearm_{side}")] - places[s.joint(f"upper_arm_{side}")]
        out.append(np.arccos(-arm[2] / np.linalg.norm(arm)))
    return np.array(out)


def line(*points, kind="POLY", name="Way", closed=False, location=(0.0, 0.0, 0.0)):
    """A curve object through points (x, y, z)."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    held = spline.bezier_points if kind == "BEZIER" else spline.points
    held.add(len(points) - 1)
    for point, place in zip(held, points, strict=True):
        point.co = place if kind == "BEZIER" else (*place, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"
    spline.use_cyclic_u = closed
    ob = bpy.data.objects.new(name, data)
    ob.location = location
    bpy.context.scene.collection.objects.link(ob)
    return ob


def mesh(name, vertices, faces):
    """A mesh object."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(vertices, [], faces)
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def floor(name="Floor", z=0.0, x=(-5.0, 5.0), y=(-12.0, 3.0), rise=0.0):
    """A rectangle that faces up; `rise` is its slope towards -Y."""
    corners = [(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])]
    return mesh(name, [(a, b, z - rise * b) for a, b in corners], [(0, 1, 2, 3)])


def anew(ob):
    """Take all results and the pose of an actor away, and go back to the first frame."""
    bpy.ops.troupe.remove_result(every=True)
    bpy.context.scene.frame_set(1)
    for bone in ob.pose.bones:
        bone.rotation_quaternion, bone.location = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
