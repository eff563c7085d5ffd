"""Families of control rigs: which controls move which anatomical bones. A family is one more table.

A control rig is seen as its anatomy: bones of a plain skeleton inside it, which its controls move through helper bones.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import bpy


@dataclass(frozen=True)
class Row:
    """A control rigidly attached to an anatomical bone.

    Attributes:
        control, bone: Their names.
        pivot: The bone whose head keeps its place in the control, where it is not `bone`.
        place: How its location is keyed: "always" on every frame; "needed" on every frame when it has to leave its
            rest; "rest" never, it is only held there.
        fine: Its rotation too is keyed on every frame only when needed; the controls above it often suffice.
    """

    control: str
    bone: str
    pivot: str = ""
    place: str = "rest"
    fine: bool = False


@dataclass(frozen=True)
class Switch:
    """A property of a bone that decides how the rig works: keyed with `value`, or as it is when that is None."""

    bone: str
    channel: str
    value: float | None = None


@dataclass(frozen=True)
class Mode:
    """One way to drive a limb: its controls, its switches, the controls to be kept at rest, and the pole if any."""

    rows: tuple[Row, ...]
    switches: tuple[Switch, ...]
    rest: tuple[str, ...] = ()
    pole: str = ""


@dataclass(frozen=True)
class Limb:
    """An arm or leg: its kind, upper bone, lower bone and end, and what drives it in each mode."""

    kind: str
    bones: tuple[str, str, str]
    fk: Mode
    ik: Mode


@dataclass(frozen=True)
class Controls:
    """A control rig.

    Attributes:
        family: Whose build it is.
        anatomy: Shown bone to the bone that carries its whole orientation, where these differ: on the way to the mesh
            twist is spread along limbs and lost on first finger bones.
        bones: Every name by which an anatomical bone may be asked for, to its name in the rows.
        hips: The bone whose presence makes a bake whole.
        rows: Trunk, shoulders, fingers.
        rest: Controls kept at rest, each with the bone for whose sake.
        switches: The same for switches.
        limbs: Arms and legs.
    """

    family: str
    anatomy: Mapping[str, str]
    bones: Mapping[str, str]
    hips: str
    rows: tuple[Row, ...]
    rest: tuple[tuple[str, str], ...]
    switches: tuple[tuple[Switch, str], ...]
    limbs: tuple[Limb, ...]

    def drives(self, bone: str) -> bool:
        """Whether some control moves an anatomical bone, by any of its names."""
        name = self.bones.get(bone)
        rows = (*self.rows, *(row for limb in self.limbs for row in limb.fk.rows))
        return any(row.bone == name for row in rows)

    def movers(self, bone: str, used: Container[str]) -> frozenset[str]:
        """The controls, among those in use, that turn an anatomical bone; a solved limb is turned by pole and end."""
        name = self.bones.get(bone, bone)
        found = {row.control for row in self.rows if row.bone == name}
        for limb in self.limbs:
            solved = limb.bones if name in limb.bones else (name,)
            found |= {row.control for row in limb.fk.rows if row.bone == name}
            found |= {row.control for row in limb.ik.rows if row.bone in solved}
            found |= {limb.ik.pole} if name in limb.bones else set()
        return frozenset(control for control in found if control in used)


def find(ob: bpy.types.Object) -> Controls | None:
    """The controls of a rig; None for a plain one."""
    bones = ob.data.bones
    for marks, table in FAMILIES:
        if all(mark in bones for mark in marks):
            return table(bones)
    return None


def _rigify(bones: Any) -> Controls:
    """Generated Rigify rigs: the human and basic human metarigs and others of the same build."""
    chain = sorted(b.name for b in bones if b.name == "ORG-spine" or b.name.startswith("ORG-spine."))
    fk = {b: b.replace("ORG-spine", "spine_fk") for b in chain}
    neck = [b for b in chain if fk[b] not in bones]
    middle = bones["hips"].head_local
    pivot = min(chain, key=lambda b: (bones[b].head_local - middle).length)
    rows = [Row("root", "root", place="always"), Row("torso", "ORG-spine", pivot, place="always")]
    rows += [Row(fk[b], b, place="needed") for b in chain]
    if neck:
        rows += [Row("neck", neck[0], place="needed"), Row("head", neck[-1], place="needed")]
    rows += [Row(b.replace("ORG-", "tweak_"), b, place="needed", fine=True) for b in chain]
    rest = [(control, "ORG-spine") for control in ("root", "hips", "chest")]
    follow = ('["torso_parent"]', '["neck_follow"]', '["head_follow"]')
    switches = tuple((Switch("torso", channel), "ORG-spine") for channel in follow)
    limbs, anatomy = [], {}
    arm, leg = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
    for s in (".L", ".R"):
        rows.append(Row(f"shoulder{s}", f"ORG-shoulder{s}"))
        # an eye looks at its control: one that goes with the eye is always on its axis
        rows.append(Row(f"eye{s}", f"ORG-eye{s}", place="always"))
        for finger in ("thumb", "f_index", "f_middle", "f_ring", "f_pinky"):
            rows += [Row(f"{finger}.{k}{s}", f"ORG-{finger}.{k}{s}") for k in ("01", "02", "03")]
            rest.append((f"{finger}.01_master{s}", f"ORG-{finger}.01{s}"))
            anatomy[f"DEF-{finger}.01{s}"] = f"{finger}.01{s}"
        anatomy |= {f"DEF-{b}{s}": f"ORG-{b}{s}" for b in (*arm, *leg)}
        hand, foot = (Row(f"{b}_ik{s}", f"ORG-{b}{s}", place="always") for b in ("hand", "foot"))
        limbs.append(_rigify_limb("arms", arm, s, (hand,), ()))
        rolls = (f"foot_spin_ik{s}", f"foot_heel_ik{s}")
        limbs.append(_rigify_limb("legs", leg, s, (foot, Row(f"toe_ik{s}", f"ORG-toe{s}")), rolls))
    original = {b.name: f"ORG-{b.name.removeprefix('ORG-').removeprefix('DEF-')}" for b in bones}
    return Controls(
        family="Rigify",
        anatomy={shown: measured for shown, measured in anatomy.items() if shown in bones and measured in bones},
        bones={n: o if o in bones else n for n, o in original.items()},
        hips="ORG-spine",
        rows=tuple(r for r in rows if r.control in bones),
        rest=tuple(r for r in rest if r[0] in bones),
        switches=switches,
        limbs=tuple(x for x in limbs if all(r.control in bones for r in (*x.fk.rows, *x.ik.rows))),
    )


def _rigify_limb(kind: str, bones: tuple[str, ...], s: str, ik: tuple[Row, ...], rolls: tuple[str, ...]) -> Limb:
    upper, holder = bones[0], f"{bones[0]}_parent{s}"
    return Limb(
        kind,
        (f"ORG-{upper}{s}", f"ORG-{bones[1]}{s}", f"ORG-{bones[2]}{s}"),
        Mode(
            tuple(Row(f"{b}_fk{s}", f"ORG-{b}{s}") for b in bones),
            (Switch(holder, '["IK_FK"]', 1.0), Switch(holder, '["FK_limb_follow"]')),
        ),
        Mode(
            ik,
            (
                Switch(holder, '["IK_FK"]', 0.0),
                Switch(holder, '["IK_Stretch"]', 1.0),
                Switch(holder, '["pole_vector"]', 1.0),
                Switch(holder, '["IK_parent"]'),
                Switch(holder, '["pole_parent"]'),
                # a solver that may stretch shortens the bones of every bent limb: knees end up centimetres away
                Switch(f"MCH-{bones[1]}_ik{s}", 'constraints["IK.001"].use_stretch', 0.0),
            ),
            (f"{upper}_ik{s}", *rolls),
            f"{upper}_ik_target{s}",
        ),
    )


FAMILIES = ((("root", "torso", "hips", "spine_fk", "ORG-spine", "DEF-spine"), _rigify),)
"""Bones by which a family is known, and its table."""
