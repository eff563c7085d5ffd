"""Skeletons of human proportions under the bone names of many rig families, to detect roles on.

`families.txt` describes a family in a few lines:

    like: Mixamo                              all lines of another family first; later ones replace them
    prefix: mixamorig:                        what {P} stands for
    sides: Left, Right                        what {S} stands for
    body: Hips; Spine, Spine1; Neck; Head     hips, spine, neck, head; `-` for none
    arm: ..., leg: ...                        clavicle to hand, thigh to toe
    fingers: {S}Hand{F}1-3 | Thumb, Index     joints numbered, a word for each finger
    spine: Spine, Spine1                      any role alone, root to tip
    hang: thigh < Spine                       a role hung from an unusual bone
    controls: c_, arm.                        bones whose names start so do not deform
    + LeftLegRoll < LeftLeg @ shin 0.5        another bone, hung from one, half way down the shin
    + c_hand.l < c_arm.l @ = hand.l           another bone, lying where hand.l lies
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from troupe.addon.rig.detection import Bones

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
BODY: dict[str, tuple[float, float, float]] = {
    "ground": (0.0, 0.0, 0.0),
    "hips": (0.0, 0.01, 0.97),
    "spine": (0.0, 0.0, 1.05),
    "chest": (0.0, 0.02, 1.30),
    "neck": (0.0, 0.02, 1.47),
    "head": (0.0, 0.0, 1.57),
    "head_end": (0.0, 0.0, 1.78),
    "eye": (0.03, -0.09, 1.64),
    "jaw": (0.0, -0.02, 1.58),
    "clavicle": (0.03, 0.0, 1.43),
    "upper_arm": (0.18, 0.02, 1.42),
    "forearm": (0.46, 0.03, 1.42),
    "hand": (0.71, 0.02, 1.42),
    "thigh": (0.09, 0.0, 0.93),
    "shin": (0.095, -0.01, 0.50),
    "foot": (0.10, 0.02, 0.09),
    "toe": (0.11, -0.10, 0.02),
    "toe_end": (0.11, -0.17, 0.02),
}
"""Joints of the left side, 1.75 m tall, T pose, facing -Y."""
AFTER = {
    "hips": "spine",
    "spine": "chest",
    "chest": "neck",
    "neck": "head",
    "head": "head_end",
    "clavicle": "upper_arm",
    "upper_arm": "forearm",
    "forearm": "hand",
    "hand": "middle",
    "thigh": "shin",
    "shin": "foot",
    "foot": "toe",
    "toe": "toe_end",
}
CARRIER = {
    "hips": "root",
    "spine": "hips",
    "neck": "spine",
    "head": "neck",
    "jaw": "head",
    "eye": "head",
    "clavicle": "spine",
    "upper_arm": "clavicle",
    "forearm": "upper_arm",
    "hand": "forearm",
    "thigh": "hips",
    "shin": "thigh",
    "foot": "shin",
    "toe": "foot",
    **dict.fromkeys(FINGERS, "hand"),
}
LIMBS = {
    "body": ("hips", "spine", "neck", "head"),
    "arm": ("clavicle", "upper_arm", "forearm", "hand"),
    "leg": ("thigh", "shin", "foot", "toe"),
}
ARM = {"forearm", "hand", *FINGERS, *(f"{f}_palm" for f in FINGERS)}


def places(arms: float = 0.0) -> dict[str, np.ndarray]:
    """Joints of the left side with the arms raised [rad] above the T pose; fingers have 4 joints each and a palm."""
    at = {part: np.array(p) for part, p in BODY.items()}
    for k, finger in enumerate(FINGERS):
        out = np.array([0.3, -0.9, -0.2]) if finger == "thumb" else np.array([1.0, 0.0, -0.05])
        start = at["hand"] + ((0.03, -0.035, -0.01) if finger == "thumb" else (0.09, -0.05 + 0.022 * k, 0.0))
        length = 0.035 if finger == "thumb" else (0.042, 0.048, 0.044, 0.034)[k - 1]
        for joint in range(4):
            at[f"{finger}{joint}"] = start + out * length * (joint - 0.12 * joint**2)
        at[f"{finger}_palm"] = at["hand"] + (0.02, -0.02 + 0.01 * k, 0.0)
    at["middle"] = at["middle0"]
    turn = np.array([[np.cos(arms), 0, -np.sin(arms)], [0, 1, 0], [np.sin(arms), 0, np.cos(arms)]])
    for part in at:
        if part.rstrip("0123456789").removesuffix("_palm") in ARM:
            at[part] = at["upper_arm"] + turn @ (at[part] - at["upper_arm"])
    return at


@dataclass
class Rig:
    """Bones by name: place and parent; roles as they should be found."""

    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    heads: dict[str, np.ndarray] = field(default_factory=dict)
    tails: dict[str, np.ndarray] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    controls: tuple[str, ...] = ()

    def add(self, name: str, parent: str, head: np.ndarray, tail: np.ndarray) -> None:
        self.parents[name], self.heads[name], self.tails[name] = parent, head, tail

    def bones(self) -> Bones:
        """As detection sees it."""
        names = list(self._ordered())
        index = {name: i for i, name in enumerate(names)}
        return Bones(
            tuple(names),
            np.array([index.get(self.parents[n], -1) for n in names]),
            np.array([self.heads[n] for n in names]),
            np.array([self.tails[n] for n in names]),
            np.array([not n.startswith(self.controls) for n in names]),
        )

    def _ordered(self) -> Iterator[str]:
        done: set[str] = {""}
        while len(done) <= len(self.heads):
            ready = [n for n, p in self.parents.items() if n not in done and p in done]
            assert ready, f"no parent for {[n for n in self.parents if n not in done][:5]}"
            done.update(ready)
            yield from ready


def families() -> dict[str, str]:
    """Family to its description, those it is like written out."""
    texts: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "families.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = texts.setdefault(line.strip("[]"), [])
        elif line.startswith("like: "):
            lines.extend(texts[line[6:]])
        elif line and not line.startswith("#"):
            lines.append(line)
    return {name: "\n".join(lines) for name, lines in texts.items()}


def rig(text: str, arms: float = 0.0) -> Rig:
    """A skeleton from the description of a family, arms raised [rad] above the T pose."""
    lines = text.splitlines()
    fields = dict(line.split(": ", 1) for line in lines if not line.startswith(("+", "hang")))
    hang = dict(line[6:].split(" < ") for line in lines if line.startswith("hang"))
    prefix = fields.pop("prefix", "")
    left, right = fields.pop("sides", "L, R").split(", ")
    at = places(arms)
    made = Rig(controls=tuple(fields.pop("controls", "\0").split(", ")))
    chains = {role: [n.replace("{P}", prefix) for n in names] for role, names in _chains(fields).items()}
    for mirror, letter, word in (((1, 1, 1), "L", left), ((-1, 1, 1), "R", right)):
        for role, names in chains.items():
            sided = "{S}" in names[0]
            if not sided and letter == "R":
                continue
            bones = tuple(n.replace("{S}", word) for n in names)
            made.roles[f"{role}_{letter}" if sided else role] = bones
            above = _carrier(role, chains, hang).replace("{P}", prefix).replace("{S}", word)
            for k, name in enumerate(bones):
                ends = (_place(at, role, k + i, len(bones)) * mirror for i in (0, 1))
                made.add(name, above, *ends)
                above = name
    for line in (line[2:].replace("{P}", prefix) for line in lines if line.startswith("+")):
        for mirror, word in (((1, 1, 1), left), ((-1, 1, 1), right)) if "{S}" in line else (((1, 1, 1), ""),):
            name, above, place = line.replace("{S}", word).replace(" @ ", " < ").split(" < ")
            if place.startswith("="):
                ends = (made.heads[place[2:]], made.tails[place[2:]])
            else:
                part, *way = place.split()
                head = _along(at, part, [float(w) for w in way])
                ends = (head * mirror, at.get(AFTER.get(part, ""), head) * mirror)
            made.add(name, "" if above == "-" else above, *ends)
    return made


def _chains(fields: dict[str, str]) -> dict[str, list[str]]:
    """Role to bone names, root to tip."""
    chains: dict[str, str] = {}
    for key, value in fields.items():
        if key in LIMBS:
            chains |= dict(zip(LIMBS[key], value.split("; "), strict=True))
        elif key == "fingers" and value != "-":
            pattern, words = value.split(" | ")
            first, last = int(pattern[-3]), int(pattern[-1])
            for finger, word in zip(FINGERS, words.split(", "), strict=True):
                joints = (f"{pattern[:-3].replace('{F}', word)}{n}" for n in range(first, last + 1))
                chains[finger] = ", ".join(joints)
        elif key == "fingers":
            chains |= dict.fromkeys(FINGERS, "-")
        else:
            chains[key] = value
    return {role: names.split(", ") for role, names in chains.items() if names != "-"}


def _carrier(role: str, chains: dict[str, list[str]], hang: dict[str, str]) -> str:
    if role in hang:
        return hang[role]
    above = CARRIER.get(role, "")
    while above and above not in chains:
        above = CARRIER.get(above, "")
    return chains[above][-1] if above else ""


def _place(at: dict[str, np.ndarray], role: str, k: int, count: int) -> np.ndarray:
    """Where bone k of a chain of `count` starts; for k = count, where the chain ends."""
    if role in FINGERS:
        return at[f"{role}{k}"]
    if role in ("spine", "neck"):
        start, end = (at["spine"], at["neck"]) if role == "spine" else (at["neck"], at["head"])
        return start + (end - start) * k / count
    if role == "root":
        role = "ground"
    return at[role] if k == 0 else at.get(AFTER.get(role, ""), at[role] + (0.0, -0.05, 0.0))


def _along(at: dict[str, np.ndarray], part: str, way: list[float]) -> np.ndarray:
    """A place `part`, `part share` of the way to the next, or `part x y z` beside it."""
    if len(way) == 3:
        return at[part] + way
    return at[part] + (at[AFTER[part]] - at[part]) * way[0] if way else at[part]
