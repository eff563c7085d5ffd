"""Role maps as JSON: which bone of a rig plays which role, to carry from one file to another.

    {"troupe_role_map": 1, "roles": {"hips": "pelvis", "spine": ["spine_01", "spine_02"], ...},
     "neutral": {"upper_arm.L": [w, x, y, z], ...}}

`neutral` is optional: orientations of bones in the neutral stance, where they are known better than measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError
from ..skeleton import CHAINS, ROLES, Array

KEY, VERSION = "troupe_role_map", 1
MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class RoleMap:
    """Roles (role to bone names, root to tip) and known neutral orientations (bone to quaternion)."""

    roles: Mapping[str, tuple[str, ...]]
    neutral: Mapping[str, Array] = field(default_factory=dict)


def to_text(role_map: RoleMap) -> str:
    """The JSON text of a role map."""
    roles = {r: list(b) if r in CHAINS else b[0] for r, b in role_map.roles.items() if b}
    neutral = {bone: [round(float(x), 9) for x in q] for bone, q in role_map.neutral.items()}
    data: dict[str, Any] = {KEY: VERSION, "roles": roles}
    if neutral:
        data["neutral"] = neutral
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def from_text(text: str, source: str = "role map") -> RoleMap:
    """Parse and check a role map; every mistake is named with its line and column."""
    if len(text) > MAX_BYTES:
        raise FormatError(source, 1, 1, f"a role map of {len(text)} characters; at most {MAX_BYTES} are read")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(source, error.lineno, error.colno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise FormatError(source, 1, 1, "nested too deeply to be a role map") from None

    def fail(key: str, message: str) -> FormatError:
        at = max(text.find(json.dumps(key, ensure_ascii=False)), 0)
        line = text.count("\n", 0, at) + 1
        return FormatError(source, line, at - text.rfind("\n", 0, at), message)

    if not isinstance(data, dict) or data.get(KEY) != VERSION:
        raise fail(KEY, f'not a role map: the key "{KEY}" must be {VERSION}')
    unknown = sorted(set(data) - {KEY, "roles", "neutral"})
    if unknown:
        raise fail(unknown[0], f"unknown key {unknown[0]!r}; keys are {KEY}, roles, neutral")
    roles: dict[str, tuple[str, ...]] = {}
    for role, bones in _table(data, "roles", fail).items():
        if role not in ROLES:
            raise fail(role, f"unknown role {role!r}; roles are {', '.join(ROLES)}")
        names = [bones] if isinstance(bones, str) else bones
        if not isinstance(names, list) or not names or not all(isinstance(b, str) and b for b in names):
            raise fail(role, f"{role} must be a bone name{' or a list of them' if role in CHAINS else ''}")
        if role not in CHAINS and len(names) != 1:
            raise fail(role, f"{role} is a single bone, not {len(names)}")
        roles[role] = tuple(names)
    neutral: dict[str, Array] = {}
    for bone, q in _table(data, "neutral", fail).items():
        numbers = isinstance(q, Sequence) and not isinstance(q, str) and len(q) == 4
        if not numbers or not all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in q):
            raise fail(bone, f"neutral of {bone!r} must be four numbers w, x, y, z")
        array = np.array(q, dtype=np.float64)
        length = float(np.linalg.norm(array))
        if not 0.5 < length < 2.0:
            raise fail(bone, f"neutral of {bone!r} is no unit quaternion: its length is {length:g}")
        neutral[bone] = array / length
    return RoleMap(roles, neutral)


def read(path: str | Path) -> RoleMap:
    """Read a role map from a file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FormatError(str(path), 1, 1, "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(str(path), 1, 1, f"cannot be read: {error}") from None
    return from_text(text, path.name)


def _table(data: Mapping[str, Any], key: str, fail: Any) -> Mapping[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise fail(key, f"{key!r} must be a table")
    return table
