"""Feelings as JSON: small files that an emotion can be kept in and shared.

    {"troupe_feeling": 1, "name": "angry",
     "pace": {"neutral": {"time": 1.0, "path": [0.0, ..., 1.0]}, "emotional": {"time": 0.6, "path": [...]}},
     "periods": [{"time": 0.8, "neutral": [0.2, 0.5, 0.7, 0.1], "emotional": [0.3, 0.8, 0.9, 0.1],
                  "later": [0.05, 0.0, null, -0.1]}, ...],
     "notes": ["4 periods of hand_R"]}

Times are seconds; the numbers of a period are how far trunk, shoulders and hips, elbows and knees, wrists and ankles
depart from the straight way [rad], null for a part of the body that the source does not have; "later", which may be
left out, how much later they are fastest, as parts of the period, null where that is not known.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, InvalidParam, TroupeError
from ..filters.feeling import EMOTIONS, GAITS, Feeling
from ..filters.levels import LEVELS
from ..presets import SHIPPED

KEY, VERSION = "troupe_feeling", 1
MAX_BYTES = 1_000_000
FOLDER = SHIPPED / "emotion"


def to_text(feeling: Feeling) -> str:
    """The JSON text of a feeling."""
    sides = ("neutral", "emotional")
    data = {
        KEY: VERSION,
        "name": feeling.name,
        "pace": {
            side: {
                "time": getattr(feeling, f"{side}_time"),
                "path": np.round(getattr(feeling, f"{side}_pace"), 9).tolist(),
            }
            for side in sides
        },
        "periods": [
            {
                "time": float(time),
                **{side: _plain(spans[:, k]) for k, side in enumerate(sides)},
                **({} if np.isnan(later).all() else {"later": _plain(later)}),
            }
            for time, spans, later in zip(feeling.times, feeling.spans, feeling.shifts, strict=True)
        ],
        "notes": list(feeling.notes),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _plain(values: Any) -> list[float | None]:
    return [None if np.isnan(v) else round(float(v), 9) for v in values]


def from_text(text: str, source: str = "feeling") -> Feeling:
    """Parse a feeling.

    Raises:
        FormatError: The text is not one; it names the place and what is wrong.
    """
    if len(text) > MAX_BYTES:
        raise FormatError(source, 1, 1, f"{len(text)} characters; at most {MAX_BYTES} are read")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(source, error.lineno, error.colno, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise FormatError(source, 1, 1, "nested too deeply to be a feeling") from None
    if not isinstance(data, dict) or data.get(KEY) != VERSION:
        raise FormatError(source, 1, 1, f'not a feeling: the key "{KEY}" must be {VERSION}')
    try:
        pace, rows = data["pace"], data["periods"]
        return Feeling(
            name=_text(data.get("name", "")),
            neutral_pace=_numbers(pace["neutral"]["path"]),
            emotional_pace=_numbers(pace["emotional"]["path"]),
            neutral_time=_numbers([pace["neutral"]["time"]])[0],
            emotional_time=_numbers([pace["emotional"]["time"]])[0],
            times=_numbers([row["time"] for row in rows]),
            spans=np.array(
                [np.stack([_levels(row["neutral"]), _levels(row["emotional"])], axis=-1) for row in rows]
            ).reshape(-1, len(LEVELS), 2),
            notes=tuple(_text(note) for note in data.get("notes", [])),
            shifts=np.array([_levels(row.get("later", [None] * len(LEVELS))) for row in rows]).reshape(-1, len(LEVELS)),
        )
    except KeyError as error:
        raise FormatError(source, 1, 1, f"the key {error} is missing") from None
    except (TypeError, AttributeError):
        raise FormatError(source, 1, 1, "a table, list or number is not where it belongs") from None
    except TroupeError as error:
        raise FormatError(source, 1, 1, str(error)) from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidParam("text", value, "must be text")
    return value


def _numbers(values: Any) -> Any:
    if not isinstance(values, list) or any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
        raise InvalidParam("numbers", str(values)[:40], "must be a list of numbers")
    return np.array(values, dtype=np.float64)


def _levels(values: Any) -> Any:
    if not isinstance(values, list) or len(values) != len(LEVELS):
        raise InvalidParam(
            "levels", str(values)[:40], f"must be {len(LEVELS)} numbers, null where there is no such part"
        )
    return _numbers([float("nan") if v is None else v for v in values])


def read(path: Path | str) -> Feeling:
    """The feeling in a file."""
    path = Path(path)
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise FormatError(str(path), 1, 1, f"must be a file of at most {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(str(path), 1, 1, "is not UTF-8 text") from None
    except OSError as error:
        raise FormatError(str(path), 1, 1, f"cannot be read: {error.strerror}") from None
    return from_text(text, str(path))


def write(path: Path | str, feeling: Feeling) -> None:
    """Save a feeling to a file."""
    try:
        Path(path).write_text(to_text(feeling), encoding="utf-8")
    except OSError as error:
        raise FormatError(str(path), 1, 1, f"cannot be written: {error.strerror}") from None


def shipped(name: str) -> Feeling:
    """The feeling of this name that comes with Troupe."""
    if name not in (*EMOTIONS, *GAITS):
        raise InvalidParam("emotion", name, f"must be one of {', '.join((*EMOTIONS, *GAITS))}")
    return read(FOLDER / f"{name}.json")
