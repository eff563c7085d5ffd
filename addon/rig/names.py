"""What a bone's name says: its side, the body parts it may be, and whether it is a helper beside the anatomy."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from .words import ANATOMY, WORDS

MEANING = {word: meaning for meaning, words in WORDS.items() for word in words.split()}
COMMON = 0.3
"""A word outside the table in this share of the names is a prefix of the rig and means nothing."""
FACTOR = {"end": 0.05, "helper": 0.1, "twist": 0.3}
UNKNOWN = 0.6
"""Each word outside the table: `LeftArmGuard` is probably not the arm."""
ORDINAL = 0.85
"""Each letter behind the words: `LeftLegD` is a copy where there is a `LeftLeg`."""

_TOKEN = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\x00-\x7f]+")
_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "đ": "d", "ı": "i"})
_WORDLIKE = {word for word in MEANING if len(word) > 2 or word in ("up", "lo")}
_OTHER_SCRIPT = sorted((w for w in MEANING if not w.isascii()), key=len, reverse=True)


@dataclass(frozen=True)
class Hint:
    """What one name says.

    Attributes:
        side: "L", "R" or "".
        parts: Body part to belief, 0..1.
        helper: 0 for a plain name .. 1 for a control, target, end marker or twist.
        stem: The name without its side: equal for the two bones of a pair.
        order: The name's numbers and letters in natural order, for sorting `finger2` before `finger10`.
        twist: Whether twisting is all that makes it a helper.
    """

    side: str
    parts: dict[str, float]
    helper: float
    stem: str
    order: tuple[tuple[int, int, str], ...]
    twist: bool = False


@lru_cache(maxsize=4)
def read_names(names: tuple[str, ...]) -> tuple[Hint, ...]:
    """One hint per bone name; names are read together, for a word's meaning depends on the others in the rig."""
    tokens = [tokenise(name) for name in names]
    counts = Counter(token for row in tokens for token in set(row))
    common = {t for t, n in counts.items() if MEANING.get(t, "helper") == "helper" and n >= max(COMMON * len(names), 4)}
    stems = Counter(_stem(row) for row in tokens)
    return in_context([_read(row, common, stems) for row in tokens])


@lru_cache(maxsize=8192)
def tokenise(name: str) -> tuple[str, ...]:
    """Lower-case words of a name, its namespace dropped: `mixamorig:LeftUpLeg` gives left, upleg."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
    plain = unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", plain)).translate(_PLAIN)
    plain = re.split(r"[:|]", plain)[-1] or plain
    words: list[str] = []
    for token in _TOKEN.findall(plain):
        words.extend(_split(token.lower()))
    merged: list[str] = []
    for word in words:
        if merged and merged[-1] + word in MEANING and len(word) > 1 and len(merged[-1]) > 1:
            merged[-1] += word
        else:
            merged.append(word)
    return tuple(merged)


def _split(token: str) -> list[str]:
    """A run of letters cut into known words, or itself when it is not made of them."""
    if token in MEANING or token.isdigit():
        return [token]
    if not token.isascii():
        return _split_script(token)
    best: list[list[str] | None] = [[]] + [None] * len(token)
    for end in range(1, len(token) + 1):
        for start in range(end):
            head = best[start]
            piece = token[start:end]
            # A lone l or r may open or close a glued name (lthigh, handr), never stand inside it.
            sided = piece in ("l", "r") and (start == 0 or end == len(token))
            if head is not None and (piece in _WORDLIKE or sided):
                old = best[end]
                if old is None or len(head) + 1 < len(old):
                    best[end] = [*head, piece]
    return best[-1] or [token]


def _split_script(token: str) -> list[str]:
    """Known words of a run written without spaces, longest first; what is between them is kept as it is."""
    found: list[str] = []
    rest = ""
    at = 0
    while at < len(token):
        word = next((w for w in _OTHER_SCRIPT if token.startswith(w, at)), "")
        if word:
            found.extend([rest, word] if rest else [word])
            rest = ""
        else:
            rest += token[at]
        at += len(word) or 1
    return [*found, rest] if rest else found


def _side(tokens: tuple[str, ...]) -> str:
    sides = {MEANING.get(t) for t in tokens} & {"left", "right"}
    return "" if len(sides) != 1 else "L" if "left" in sides else "R"


def _stem(tokens: tuple[str, ...]) -> str:
    return " ".join(t for t in tokens if MEANING.get(t) not in ("left", "right"))


def _read(tokens: tuple[str, ...], common: set[str], stems: Counter[str]) -> Hint:
    side, stem = _side(tokens), _stem(tokens)
    if side and stems[stem] < 2 and not {"left", "right"} & set(tokens):
        side = ""
    meanings: set[str] = set()
    doubt = 1.0
    for token in tokens:
        meaning = "noise" if token in common else MEANING.get(token, "")
        if meaning:
            meanings.add(meaning)
        elif not token.isdigit() and not _is_marker(token, side, meanings):
            doubt *= UNKNOWN if len(token) > 1 else ORDINAL
    parts: dict[str, float] = next((dict(p) for need, p in ANATOMY if need <= meanings), {})
    factor = 1.0
    for meaning in FACTOR.keys() & meanings:
        factor *= FACTOR[meaning]
    if "other" in meanings:
        parts, factor = {}, FACTOR["helper"]
    if side and "hips" in parts:
        parts = {"hip": 1.0} if "hip" in meanings else {"hips": 0.15}
    order = tuple((0, int(t), "") if t.isdigit() else (1, 0, t) for t in tokens)
    beliefs = {part: weight * factor * doubt for part, weight in parts.items()}
    only_twist = "twist" in meanings and not meanings & {"helper", "end", "other"}
    return Hint(side, beliefs, 1.0 - factor, stem, order, only_twist)


def _is_marker(token: str, side: str, before: set[str]) -> bool:
    """Whether a letter means nothing: a prefix (b_, j_) or a mark of the middle (c, m, x) in a name without side."""
    return len(token) == 1 and (not before - {"noise", "left", "right"} or (not side and token in "cmx"))


def in_context(hints: list[Hint]) -> tuple[Hint, ...]:
    """Settle the words that mean one part in one rig and another elsewhere.

    `LeftShoulder` is the clavicle where there is a `LeftArm`, the upper arm where there is a `LeftCollar`; `LeftLeg` is
    the shin below a `LeftUpLeg`, the thigh above a `LeftKnee`; `foot` is the toe joint after an `ankle`.
    """
    legs = Counter(h.side for h in hints if h.side and h.parts.get("leg", 0) > 0.5)
    has = {p for h in hints if h.side for p, w in h.parts.items() if w >= 0.55}
    forearm, shin = bool(has & {"forearm", "elbow"}), bool(has & {"shin", "knee"})
    upper_arm, jointed = bool(has & {"upper_arm", "arm"}), "elbow" in has and "forearm" not in has
    lone_leg = legs and max(legs.values()) == 1
    thigh = "thigh" in has or ("hip" in has and not shin and bool(lone_leg))

    means: dict[str, dict[str, float]] = {
        "elbow": {"forearm": 0.2 if "forearm" in has else 0.95},
        "knee": {"shin": 0.2 if "shin" in has else 0.95},
        "ankle": {"foot": 0.95},
        "foot": {"foot": 0.6, "toe": 0.7} if "ankle" in has else {"foot": 1.0, "toe": 0.2},
        "wrist": {"hand": 1.0 if jointed or "hand" not in has else 0.6},
        "hand": {"hand": 0.5 if jointed and "wrist" in has else 1.0},
        "palm": {"hand": 0.3 if has & {"hand", "wrist"} else 0.7, "metacarpal": 0.6},
        "hip": {"thigh": 0.15 if "thigh" in has or ("leg" in has and not thigh) else 0.95},
    }
    if "clavicle" in has:
        means["shoulder"] = {"upper_arm": 0.3, "clavicle": 0.3} if "upper_arm" in has else {"upper_arm": 0.9}
    elif upper_arm:
        means["shoulder"] = {"clavicle": 1.0, "upper_arm": 0.1}
    else:
        means["shoulder"] = {"upper_arm": 0.9 if forearm else 0.6, "clavicle": 0.3 if forearm else 0.6}
    if "upper_arm" in has:
        means["arm"] = {"upper_arm": 0.2} if forearm else {"forearm": 0.7}
    elif forearm:
        means["arm"] = {"upper_arm": 1.0}
    elif {"clavicle", "shoulder"} <= has:
        means["arm"] = {"forearm": 0.8, "upper_arm": 0.4}
    else:
        means["arm"] = {"upper_arm": 0.6, "forearm": 0.6, "hand": 0.4, "clavicle": 0.2}
    if thigh:
        means["leg"] = {"shin": 0.3, "thigh": 0.2} if shin else {"shin": 1.0}
    elif shin:
        means["leg"] = {"thigh": 1.0}
    else:
        means["leg"] = {"thigh": 0.6, "shin": 0.6, "foot": 0.5, "toe": 0.3}

    plain = {(h.side, part) for h in hints if not h.helper for part in h.parts}
    settled = []
    for hint in hints:
        # A twist or roll that is the only bone of its part is the part: necks, the wrists of robots.
        main = max(hint.parts, key=lambda part: hint.parts[part], default="")
        lone = hint.twist and (hint.side, main) not in plain
        parts: dict[str, float] = {}
        for part, weight in hint.parts.items():
            for meant, share in means.get(part, {part: 1.0}).items():
                parts[meant] = max(parts.get(meant, 0.0), weight * share / (FACTOR["twist"] if lone else 1.0))
        settled.append(replace(hint, parts=parts, helper=0.0 if lone else hint.helper))
    return tuple(settled)
