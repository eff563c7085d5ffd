"""Trunk, arms and legs as one skin in a close-fitting suit, from outlines drawn in the neutral stance [cm]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..skeleton import Array
from .faces import borders, compact, pocket, split
from .head import ORIGIN, neck
from .implicit import Blob, Map, cone, ellipsoid, left_half, mirrored, sweep
from .layout import Layout
from .mannequin import MannequinParams
from .net import net, project, steps
from .shell import Shell, material, rise, shell, softened

# Height, then half width, back and front: masculine, feminine
_TRUNK = np.array(
    (
        (79.0, 8.5, 7.5, 6.0, 8.5, 7.5, 6.0),
        (84.0, 14.0, 9.4, 8.4, 14.8, 9.8, 8.0),
        (92.0, 16.0, 10.6, 9.6, 17.2, 11.2, 9.0),
        (99.0, 15.4, 9.6, 9.9, 15.8, 9.6, 9.2),
        (104.0, 14.1, 8.9, 9.5, 13.6, 8.6, 8.8),
        (108.0, 13.5, 8.6, 9.3, 12.4, 8.3, 8.5),
        (115.0, 14.2, 9.2, 9.6, 12.6, 8.8, 8.7),
        (124.0, 16.0, 10.8, 10.6, 14.2, 10.2, 9.6),
        (132.0, 17.0, 11.8, 10.6, 15.0, 11.0, 9.4),
        (138.0, 15.8, 11.6, 9.2, 14.2, 10.8, 8.2),
        (143.0, 11.6, 10.4, 7.0, 10.6, 9.6, 6.4),
        (147.5, 7.0, 8.6, 4.6, 6.4, 7.8, 4.2),
    )
)
# Height from the shoulder, then half axes outward, inward, back and front
_ARM = np.array(
    (
        (-62.0, 3.0, 3.0, 3.5, 3.6),
        (-54.0, 3.2, 3.2, 3.6, 3.7),
        (-46.0, 3.8, 3.8, 4.0, 4.4),
        (-39.0, 4.3, 4.3, 4.3, 4.8),
        (-33.0, 4.0, 4.1, 4.3, 4.2),
        (-27.0, 4.0, 4.2, 4.7, 4.6),
        (-18.0, 4.5, 4.6, 5.2, 5.3),
        (-12.0, 4.9, 4.8, 5.5, 5.6),
        (-6.0, 4.7, 5.0, 5.6, 5.5),
        (-1.5, 3.7, 5.0, 4.9, 4.7),
        (3.0, 1.8, 3.0, 3.2, 3.0),
    )
)
# Height above the ground, then half axes outward, inward, back and front
_LEG = np.array(
    (
        (5.0, 4.3, 4.3, 5.2, 4.7),
        (12.0, 3.7, 3.7, 4.6, 4.1),
        (18.0, 3.8, 3.8, 5.0, 4.0),
        (27.0, 4.8, 4.6, 6.8, 4.4),
        (36.0, 5.8, 5.4, 7.8, 4.8),
        (43.0, 5.4, 5.2, 6.7, 5.1),
        (49.0, 5.1, 5.2, 5.6, 5.6),
        (55.0, 5.8, 5.7, 6.2, 6.2),
        (66.0, 7.7, 7.1, 7.8, 8.3),
        (78.0, 8.6, 8.2, 8.8, 8.9),
        (86.0, 8.8, 8.0, 9.2, 8.4),
        (94.0, 8.0, 7.0, 8.4, 7.4),
        (100.0, 5.0, 5.0, 6.0, 6.0),
    )
)
_SPACING = 1.6
_COLLAR, _WAIST, _HEM, _ANKLE = 150.2, 104.0, 70.0, 10.0


@dataclass(frozen=True, eq=False)
class _Forms:
    trunk: Blob
    arm: Blob
    leg: Blob
    all: list[Blob]


def suit(layout: Layout, params: MannequinParams) -> Shell:
    """The skin of trunk, arms and legs, open at collar, cuffs and hems with a seam allowance turned inwards."""
    forms = _forms(layout, params)
    field = mirrored(forms.all)
    wide = layout.rest[layout.skeleton.index("hand.L"), 0] + 8.0
    rows = steps(_SPACING / 2, _SPACING, wide), steps(-20.0, _SPACING, 20.0), steps(3.0, _SPACING, 167.0)
    v, f = net(field, rows, mirror=True)
    part = np.full(len(f), material("Torso"))
    for name, value in _seams(layout, forms):
        v, f, inside, origin = split(v, f, value(left_half(v)))
        part = part[origin] if name is None else np.where(inside, material(name), part[origin])
        if name is None:
            f, part = f[~inside], part[~inside]
    limb = (part == material("Arm.L")) | (part == material("Leg.L"))
    part += limb & (v[f[:, :3], 0].mean(axis=1) < 0)  # in MATERIALS the right limb follows the left one
    v, f = compact(v, f)
    v = project(field, v, rounds=1)
    w = softened(_weights(layout, forms, v), f, 4)
    rims = []
    for loop in borders(f):
        edge, inward = v[loop], _inward(layout, v[loop])
        turned = edge + 0.12 * (edge.mean(axis=0) - edge)
        v, f = pocket(v, f, loop, [turned, turned + inward], edge.mean(axis=0) + inward)
        w = np.concatenate([w, w[loop], w[loop], w[loop[:1]]])
        beside = part[np.flatnonzero((f[: len(part)] == loop[0]).any(axis=1))[0]]
        part = np.append(part, np.full(len(f) - len(part), beside))
        rims += list(zip(loop, loop[1:] + loop[:1], strict=True))
    return shell(v, f, part, w, np.array(rims))


def _seams(layout: Layout, forms: _Forms) -> tuple[tuple[str | None, Map], ...]:
    """Curves on the left half to cut along, in order: inside them lies a part of the suit, or nothing at all."""
    wrist = (layout.at("hand.L") - layout.at("upper_arm.L"))[2]

    def below_waist(p: Array) -> Array:
        return np.maximum(layout.trunk(p)[:, 2] - _WAIST, p[:, 0] - 24.0)

    def arm(p: Array) -> Array:
        shoulder = 15.0 + 0.15 * (p[:, 2] - 140.0) - p[:, 0]
        return np.maximum(np.maximum(shoulder, forms.arm.field(p) - forms.trunk.field(p)), 88.0 - p[:, 2])

    def leg(p: Array) -> Array:
        return np.maximum(layout.leg(p)[:, 2] - _HEM, p[:, 0] - 30.0)

    def collar(p: Array) -> Array:
        q = layout.trunk(p)
        return np.maximum(_COLLAR + 0.32 * q[:, 1] - q[:, 2], q[:, 0] - 12.0)

    def cuff(p: Array) -> Array:
        return np.asarray(np.maximum(layout.arm(p)[:, 2] - wrist - 1.0, 30.0 - p[:, 0]))

    def hem(p: Array) -> Array:
        return np.maximum(layout.leg(p)[:, 2] - _ANKLE, p[:, 0] - 30.0)

    return ("Pelvis", below_waist), ("Arm.L", arm), ("Leg.L", leg), (None, collar), (None, cuff), (None, hem)


def _inward(layout: Layout, edge: Array) -> Array:
    """(3,) from an opening of the suit into it."""
    middle = edge.mean(axis=0)
    side = np.array([np.sign(middle[0]), 1.0, 1.0])
    if abs(middle[0]) < 1.0:
        return np.array([0.0, 0.5, -3.0])
    limb = ("forearm.L", "hand.L") if middle[2] > 50.0 else ("shin.L", "foot.L")
    start, end = (layout.rest[layout.skeleton.index(name)] for name in limb)
    return np.asarray(3.0 * (start - end) / np.linalg.norm(start - end) * side)


def _forms(layout: Layout, params: MannequinParams) -> _Forms:
    m, build = params.shape, params.build
    heavy = 1.0 + (0.13 if build > 0 else 0.10) * build
    belly = heavy + (0.18 if build > 0 else 0.03) * build * np.exp(-(((_TRUNK[:, 0] - 107.0) / 13.0) ** 2))
    outline = ((1 - m) * _TRUNK[:, 1:4] + m * _TRUNK[:, 4:]) * belly[:, None]
    trunk_rows = np.column_stack([_TRUNK[:, 0], outline[:, [0, 0, 1, 2]]])
    arm_rows = _ARM * (1, *4 * [(1.03 - 0.12 * m) * heavy])
    leg_rows = _LEG * (1, *4 * [(1.0 - 0.02 * m) * heavy])
    box = np.array([26.0, 20.0, 158.0])
    trunk = sweep(trunk_rows, layout.trunk, -box, box, 1.0, power=2.3, cap=3.0)
    arm = sweep(arm_rows, layout.arm, *layout.box("upper_arm.L", "hand.L", 9.0), 4.0, cap=3.0)
    leg = sweep(leg_rows, layout.leg, *layout.box("thigh.L", "foot.L", 12.0), 3.0, power=2.1, cap=1.2)
    knee, d = layout.rest[layout.skeleton.index("shin.L")], layout.drop
    bust = max(0.0, (m - 0.35) / 0.65)
    chest = (7.8 - 1.4 * bust, 4.6 + 1.2 * bust, 5.4 + 0.4 * bust)
    return _Forms(
        trunk,
        arm,
        leg,
        [
            trunk,
            ellipsoid(d + (7.4, -5.4 - 2.2 * bust, 130.0 - 3.6 * bust), chest, 5.0),
            ellipsoid(d + (7.4, 5.8, 88.5), (7.4, 6.4, 7.6), 4.0),
            neck(params, 0.35, ORIGIN + d, 3.5),
            cone(d + (1.0, 4.2, 149.0), d + (15.0, 1.6, 141.4), 3.4, 3.2, 5.0),
            arm,
            leg,
            ellipsoid(knee + (0.0, -4.6, 0.8), (3.0, 1.6, 3.6), 2.2),
        ],
    )


def _weights(layout: Layout, forms: _Forms, v: Array) -> Array:
    index, w, p = layout.skeleton.index, layout.zeros(len(v)), left_half(v)
    q = layout.trunk(p)
    arm = rise(forms.trunk.field(p) - forms.arm.field(p), 0.0, 4.0) * rise(q[:, 0], 14.0, 3.0)
    straight = layout.leg(p)
    # the crease of the hip slopes from the iliac crest down to the groin, and is lowest under the buttock
    hip = 87.5 + 0.45 * straight[:, 0] - 0.35 * np.maximum(straight[:, 1], 0.0)
    leg = rise(-straight[:, 2], -hip, 7.0) * (1.0 - arm)
    trunk = 1.0 - arm - leg
    left = rise(v[:, 0], 0.0, 2.0)

    spine = [np.ones(len(v)), *(rise(q[:, 2], layout.at(f"spine_0{k}")[2], 6.0) for k in (1, 2, 3)), np.zeros(len(v))]
    girdle = rise(q[:, 0], 8.5, 5.5) * rise(q[:, 2], 136.0, 6.0)
    collar = layout.neck(q)[0] * (1.0 - girdle)
    for k, name in enumerate(("hips", "spine_01", "spine_02", "spine_03")):
        w[:, index(name)] = trunk * (spine[k] - spine[k + 1])
    chest = w[:, index("spine_03")].copy()
    w[:, index("spine_03")] = chest * (1.0 - girdle) * (1.0 - collar)
    w[:, index("neck")] = chest * (1.0 - girdle) * collar
    elbow = rise(-layout.arm(p)[:, 2], -(layout.at("forearm.L") - layout.at("upper_arm.L"))[2], 4.5)
    knee = rise(-straight[:, 2], -layout.at("shin.L")[2], 6.0)
    for side, here in (("L", left), ("R", 1.0 - left)):
        w[:, index(f"clavicle.{side}")] = chest * girdle * here
        w[:, index(f"upper_arm.{side}")] = arm * (1.0 - elbow) * here
        w[:, index(f"forearm.{side}")] = arm * elbow * here
        w[:, index(f"thigh.{side}")] = leg * (1.0 - knee) * here
        w[:, index(f"shin.{side}")] = leg * knee * here
    return w
