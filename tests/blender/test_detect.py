"""Roles are found on rigs of any family, in any language, and by shape alone; what is no human is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import naming  # noqa: E402
import rig_zoo  # noqa: E402
from troupe.addon.rig.casting import bones_of  # noqa: E402
from troupe.addon.rig.detection import Bones, detect  # noqa: E402
from troupe.core.errors import InvalidRig  # noqa: E402
from troupe.core.maths import quat  # noqa: E402
from troupe.core.skeleton import CORE_ROLES  # noqa: E402

FAMILIES = naming.families()
UNREAL = FAMILIES["Unreal 4"]
CORE = {*CORE_ROLES, "spine"}
OPTIONAL = {"root", "jaw", "eye_L", "eye_R"}
T, A, DOWN, UP = 0.0, -0.8, -1.45, 1.3
NOT_BY_SHAPE = {"rigs/kaykit/Knight.glb": {"hand_L", "hand_R"}}
"""Roles two bones fit equally: the knight has a wrist where a hand begins and a hand further out."""


def gold(data: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    maps = json.loads((data / "gold_maps.json").read_text())
    return {
        file: {role: (b,) if isinstance(b, str) else tuple(b) for role, b in entry["map"].items()}
        for file, entry in maps.items()
    }


def renamed(bones: Bones, seed: int, shuffle: bool = False) -> tuple[Bones, dict[str, str]]:
    """The bones under meaningless names, or under each other's, and the way back."""
    rng = random.Random(seed)
    names = list(bones.names)
    if shuffle:
        rng.shuffle(names)
    else:
        names = ["".join(rng.choice("bcdfghjkmnpqstvwxyz") for _ in range(8)) for _ in names]
    return replace(bones, names=tuple(names)), dict(zip(names, bones.names, strict=True))


def permuted(bones: Bones, seed: int) -> Bones:
    """The same bones in another order, parents first."""
    rng = random.Random(seed)
    ready, order = [b for b in range(len(bones)) if bones.parents[b] < 0], []
    while ready:
        order.append(ready.pop(rng.randrange(len(ready))))
        ready.extend(int(c) for c in np.flatnonzero(bones.parents == order[-1]))
    place = {bone: i for i, bone in enumerate(order)} | {-1: -1}
    return Bones(
        tuple(bones.names[b] for b in order),
        np.array([place[int(bones.parents[b])] for b in order]),
        bones.heads[order],
        bones.tails[order],
        bones.deform[order],
    )


def differences(found: dict[str, tuple[str, ...]], wanted: dict[str, tuple[str, ...]]) -> dict[str, object]:
    roles = (found.keys() | wanted.keys()) - (OPTIONAL - wanted.keys())
    return {r: (wanted.get(r), found.get(r)) for r in roles if found.get(r) != wanted.get(r)}


def core_differences(bones: Bones, back: dict[str, str], wanted: dict[str, tuple[str, ...]]) -> dict[str, object]:
    found = {role: tuple(back[b] for b in chain) for role, chain in detect(bones).roles.items()}
    return {r: (wanted[r], found.get(r)) for r in sorted(CORE & wanted.keys()) if found.get(r) != wanted[r]}


def human(arms: float = T, text: str = UNREAL) -> naming.Rig:
    return naming.rig(text, arms)


def test_every_map_of_the_data_is_found(data: Path) -> None:
    found = {file: detect(rig_zoo.bones(data / file)).roles for file in gold(data)}
    wrong = {file: lost for file, roles in gold(data).items() if (lost := differences(found[file], roles))}
    assert wrong == {}


@pytest.mark.parametrize("shuffle", [False, True], ids=["random", "shuffled"])
def test_core_bones_are_found_by_shape_alone(data: Path, shuffle: bool) -> None:
    wrong = {}
    for file, roles in gold(data).items():
        bones, back = renamed(rig_zoo.bones(data / file), seed=len(file), shuffle=shuffle)
        lost = core_differences(bones, back, roles)
        wrong |= {file: lost} if lost.keys() - NOT_BY_SHAPE.get(file, set()) else {}
    assert wrong == {}


@pytest.mark.parametrize("name", ["human", "basic_human"])
def test_metarigs_of_this_blender_are_mapped(name: str) -> None:
    bpy.ops.preferences.addon_enable(module="rigify")
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    roles = detect(bones_of(bpy.context.object)).roles
    spine = [f"spine.{i:03}" for i in range(1, 7)]
    assert (roles["hips"], roles["spine"]) == (("spine",), tuple(spine[:3]))
    assert (roles["neck"], roles["head"]) == (tuple(spine[3:5]), tuple(spine[5:]))
    parts = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
    assert {f"{p}_{s}": (f"{p}.{s}",) for p in parts for s in "LR"}.items() <= roles.items()
    assert roles["clavicle_L"] == ("shoulder.L",)
    assert roles.get("index_R", ()) == (("f_index.01.R", "f_index.02.R", "f_index.03.R") if name == "human" else ())


@pytest.mark.parametrize("arms", [T, A, DOWN, UP], ids=["T", "A", "down", "up"])
@pytest.mark.parametrize("family", FAMILIES)
def test_family_is_mapped_whatever_the_rest_pose(family: str, arms: float) -> None:
    rig = naming.rig(FAMILIES[family], arms)
    assert differences(detect(rig.bones()).roles, rig.roles) == {}


def test_hips_without_weights_stay_the_hips() -> None:
    rig = human()
    rig.controls = ("pelvis", "root", "ik_")
    assert differences(detect(rig.bones()).roles, rig.roles) == {}


def test_deforming_bones_torn_from_their_mechanism_are_mapped(data: Path) -> None:
    file = "rigs/rigify/rigify_human_generated.blend"
    bones = rig_zoo.bones(data / file)
    kept = np.flatnonzero(bones.deform)
    place = {int(b): i for i, b in enumerate(kept)}
    parents = np.array([place.get(int(bones.parents[b]), -1) for b in kept])
    names = tuple(bones.names[b] for b in kept)
    torn = Bones(names, parents, bones.heads[kept], bones.tails[kept], np.ones(len(kept), bool))
    assert (parents < 0).sum() > 50
    assert differences(detect(torn).roles, gold(data)[file]) == {}


@pytest.mark.parametrize("family", ["Unreal 5", "MMD", "Character Creator", "Biped", "Kinect"])
def test_facing_scale_and_order_of_bones_do_not_matter(family: str) -> None:
    rng = np.random.default_rng(len(family))
    bones = naming.rig(FAMILIES[family], A).bones()
    wanted = detect(bones).roles
    for scale in (1e-4, 0.01, 1.0, 1e4):
        turn = quat.to_matrix(quat.unit(rng.normal(size=4)))
        away = rng.normal(size=3) * 3
        heads, tails = ((p @ turn.T + away) * scale for p in (bones.heads, bones.tails))
        assert detect(permuted(replace(bones, heads=heads, tails=tails), seed=3)).roles == wanted


def test_unnamed_bones_give_the_same_result_in_any_order_and_again(data: Path) -> None:
    bones, _ = renamed(rig_zoo.bones(data / "rigs/rigify/rigify_human_metarig.blend"), seed=5)
    found = detect(bones)
    assert detect(bones) == found
    assert all(detect(permuted(bones, seed)) == found for seed in range(3))


@pytest.mark.parametrize("arms", [T, A, DOWN, UP], ids=["T", "A", "down", "up"])
@pytest.mark.parametrize("family", ["Mixamo", "Unreal 4", "Unreal 5", "Biped", "SMPL", "VRoid", "Roblox R15", "Kinect"])
def test_unnamed_family_is_mapped_by_shape(family: str, arms: float) -> None:
    rig = naming.rig(FAMILIES[family], arms)
    bones, back = renamed(rig.bones(), seed=1)
    assert core_differences(bones, back, rig.roles) == {}


Place = tuple[float, float, float]


def with_chain(rig: naming.Rig, name: str, parent: str, start: Place, step: Place, count: int) -> None:
    for i in range(count):
        head = np.array(start) + np.array(step) * i
        rig.add(f"{name}{i}", parent, head, head + step)
        parent = f"{name}{i}"


def hair(rig: naming.Rig) -> None:
    for i in range(60):
        x, y = np.cos(2.4 * i), np.sin(2.4 * i)
        with_chain(rig, f"strand{i}_", "head", (0.1 * x, 0.1 * y, 1.75), (0.01 * x, 0.01 * y, -0.12), 3 + i % 3)


def skirt(rig: naming.Rig) -> None:
    for i in range(16):
        x, y = np.cos(i * np.pi / 8), np.sin(i * np.pi / 8)
        with_chain(rig, f"skirt{i}_", "pelvis", (0.15 * x, 0.12 * y, 0.95), (0.03 * x, 0.03 * y, -0.15), 5)


def tail(rig: naming.Rig) -> None:
    with_chain(rig, "tail", "pelvis", (0, 0.1, 0.95), (0, 0.12, -0.02), 8)


def wings(rig: naming.Rig) -> None:
    for side, x in (("l", 1), ("r", -1)):
        with_chain(rig, f"wing_{side}", "spine_03", (x * 0.06, 0.1, 1.4), (x * 0.25, 0.08, 0.12), 5)


def second_arms(rig: naming.Rig) -> None:
    for side, x in (("l", 1), ("r", -1)):
        with_chain(rig, f"upperarm2_{side}", "spine_02", (x * 0.15, 0.02, 1.19), (x * 0.23, 0, -0.09), 3)


def props(rig: naming.Rig) -> None:
    with_chain(rig, "sword", "hand_r", (-0.75, 0, 1.42), (0, -0.3, 0), 4)
    with_chain(rig, "shield", "lowerarm_l", (0.7, 0, 1.42), (0, -0.1, 0), 2)


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
@pytest.mark.parametrize("extra", [hair, skirt, tail, wings, second_arms, props])
def test_what_hangs_from_a_body_is_not_taken_for_it(extra: object, named: bool) -> None:
    for arms in (T, A):
        rig = human(arms)
        extra(rig)  # type: ignore[operator]
        bones, back = (rig.bones(), {n: n for n in rig.heads}) if named else renamed(rig.bones(), seed=2)
        assert core_differences(bones, back, rig.roles) == {}


PLAIN = "\n".join(line for line in UNREAL.splitlines() if not line.startswith("+"))


def without(*roles: str) -> str:
    return "\n".join([PLAIN, *(f"{role}: -" for role in roles)])


def chain(role: str, count: int) -> str:
    return f"{UNREAL}\n{role}: " + ", ".join(f"{role}_{i}" for i in range(count))


@pytest.mark.parametrize(
    "text",
    [
        without("clavicle"),
        without("neck"),
        without("toe"),
        without("root"),
        without(*naming.FINGERS),
        without("clavicle", "neck", "toe", "root", *naming.FINGERS),
        *(chain("spine", n) for n in (1, 2, 4, 6)),
        *(chain("neck", n) for n in (2, 3)),
        UNREAL + "\nhang: foot < root",
        UNREAL + "\nhang: foot < root\nhang: hand < root",
        UNREAL + "\nhang: upper_arm < spine_03\nhang: head < spine_03",
    ],
)
def test_body_with_fewer_or_more_bones_is_mapped(text: str) -> None:
    rig = human(A, text)
    assert differences(detect(rig.bones()).roles, rig.roles) == {}
    bones, back = renamed(rig.bones(), seed=4)
    assert core_differences(bones, back, rig.roles) == {}


def test_names_win_where_the_rest_pose_makes_no_sense() -> None:
    """As in clips whose offsets all lie along one axis."""
    rig = naming.rig(FAMILIES["LaFAN1"])
    bones = rig.bones()
    heads = np.zeros_like(bones.heads)
    for b, p in enumerate(bones.parents):
        if p >= 0:
            way = bones.heads[b] - bones.heads[p]
            sideways = abs(way[0]) > 0.02 and bones.names[b].endswith(("UpLeg", "Shoulder"))
            heads[b] = heads[p] + (way[[2, 1, 0]] if sideways else (np.linalg.norm(way), 0.0, 0.0))
    assert differences(detect(replace(bones, heads=heads, tails=heads)).roles, rig.roles) == {}


def test_names_tell_left_from_right_against_the_front() -> None:
    rig = human()
    bones = rig.bones()
    mirrored = detect(replace(bones, heads=bones.heads * (-1, 1, 1), tails=bones.tails * (-1, 1, 1)))
    assert mirrored.roles["hand_L"] == ("hand_l",)
    assert any("left" in text for text in mirrored.warnings)
    assert not any("left" in text for text in detect(bones).warnings)


@pytest.mark.parametrize("degrees", [0, 90, 180, 250])
def test_without_names_left_follows_from_where_the_body_faces(degrees: float) -> None:
    rig = human(A)
    turn = quat.to_matrix(quat.about(np.array([0.0, 0, 1]), np.radians(degrees)))
    bones, back = renamed(rig.bones(), seed=7)
    found = detect(replace(bones, heads=bones.heads @ turn.T, tails=bones.tails @ turn.T))
    assert back[found.roles["hand_L"][0]] == "hand_l"
    assert any("no left and right" in text for text in found.warnings)


def test_root_is_a_bone_on_the_ground_above_the_hips() -> None:
    assert detect(human().bones()).roles["root"] == ("root",)
    assert "root" not in detect(human(text=without("root")).bones()).roles
    carrier = human(text=without("root") + "\n+ Root < - @ hips\nhang: hips < Root")
    assert "root" not in detect(carrier.bones()).roles


def test_hand_of_three_fingers_is_mapped_when_they_are_named() -> None:
    rig = human(text=without("ring", "pinky"))
    found = detect(rig.bones()).roles
    assert found["index_L"] == rig.roles["index_L"]
    assert "ring_L" not in found


def test_confidence_is_high_with_names_and_lower_without() -> None:
    bones = human().bones()
    named, unnamed = detect(bones), detect(renamed(bones, seed=1)[0])
    assert 0.9 < named.score <= 1.0
    assert 0.3 < unnamed.score < named.score
    assert named.confidence.keys() == named.roles.keys()
    assert all(0.0 <= c <= 1.0 for c in (*named.confidence.values(), *unnamed.confidence.values()))


@pytest.mark.parametrize("family, label", [("Mixamo", "Mixamo"), ("MMD", "MMD"), ("German", "unknown")])
def test_family_is_told_by_its_names(family: str, label: str) -> None:
    assert detect(naming.rig(FAMILIES[family]).bones()).convention == label


@pytest.mark.parametrize("file, reason", [("Fox", "all fours"), ("RiggedSimple", "2 bones")])
def test_what_is_no_humanoid_is_refused(data: Path, file: str, reason: str) -> None:
    with pytest.raises(InvalidRig, match=reason):
        detect(rig_zoo.bones(data / f"rigs/khronos/{file}.glb"))


def on_all_fours(bones: Bones) -> Bones:
    """The trunk tipped forward over the legs, arms to the ground."""
    heads = (bones.heads - bones.heads[0]) @ quat.to_matrix(quat.about(np.array([1.0, 0, 0]), np.pi / 2)).T
    heads += (0, 0, 0.95)
    for i, name in enumerate(bones.names):
        if name.startswith(("thigh", "calf", "foot", "ball")):
            heads[i] = bones.heads[i]
        if name.startswith(("lowerarm", "hand")):
            shoulder = bones.names.index(f"upperarm_{name[-1]}")
            heads[i] = heads[shoulder] - (0, 0, np.linalg.norm(bones.heads[i] - bones.heads[shoulder]))
    return replace(bones, heads=heads, tails=heads)


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
def test_quadruped_is_refused_whatever_its_bones_are_called(named: bool) -> None:
    bones = on_all_fours(human(text=without("root", *naming.FINGERS)).bones())
    with pytest.raises(InvalidRig, match="not a humanoid"):
        detect(bones if named else renamed(bones, seed=1)[0])


def hand_rig() -> Bones:
    """Five fingers and a palm."""
    parents, heads = [-1], [(0.0, 0.0, 0.0)]
    for finger in range(5):
        for joint in range(4):
            parents.append(0 if joint == 0 else len(heads) - 1)
            heads.append((finger * 0.02, 0.08 + joint * 0.03, 0.0))
    names = tuple(f"b{i}" for i in range(len(heads)))
    return Bones(names, np.array(parents), np.array(heads), np.array(heads), np.ones(len(names), bool))


def chain_rig() -> Bones:
    heads = np.outer(np.arange(30.0), (0.0, 0.1, 0.0))
    return Bones(tuple(f"rope{i}" for i in range(30)), np.arange(30) - 1, heads, heads + (0, 0.1, 0), np.ones(30, bool))


@pytest.mark.parametrize("bones", [hand_rig(), chain_rig()], ids=["hand", "chain"])
def test_props_are_refused(bones: Bones) -> None:
    with pytest.raises(InvalidRig, match="not a humanoid"):
        detect(bones)


def test_missing_part_is_named() -> None:
    rig = human(text=without("hand", "toe", *naming.FINGERS))
    with pytest.raises(InvalidRig, match="no hand"):
        detect(rig.bones())


def test_no_bones_are_refused() -> None:
    nothing = Bones((), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, bool))
    with pytest.raises(InvalidRig, match="no bones"):
        detect(nothing)


def test_bones_at_one_point_are_refused() -> None:
    bones = human().bones()
    with pytest.raises(InvalidRig, match="one point"):
        detect(replace(bones, heads=np.ones_like(bones.heads), tails=np.ones_like(bones.heads)))


def test_rest_position_that_is_no_number_names_its_bone() -> None:
    bones = human().bones()
    heads = bones.heads.copy()
    heads[7] = np.nan
    with pytest.raises(InvalidRig, match=bones.names[7]):
        replace(bones, heads=heads)


def test_children_before_parents_are_refused() -> None:
    with pytest.raises(InvalidRig, match="after their parents"):
        Bones(("a", "b"), np.array([1, -1]), np.zeros((2, 3)), np.zeros((2, 3)), np.ones(2, bool))


def test_random_trees_never_crash() -> None:
    rng = np.random.default_rng(0)
    for n in (14, 20, 40, 80):
        for _ in range(10):
            parents = np.array([-1, *(int(rng.integers(-1, i)) for i in range(1, n))])
            heads = rng.normal(size=(n, 3)).round(int(rng.integers(0, 3)))
            bones = Bones(tuple(f"b{i}" for i in range(n)), parents, heads, heads, rng.random(n) < 0.8)
            try:
                found = detect(bones)
            except InvalidRig:
                continue
            players = [b for chain in found.roles.values() for b in chain]
            assert len(players) == len(set(players))
