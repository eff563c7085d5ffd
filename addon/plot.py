"""Curves as pictures: charts drawn with numpy into an image of the file."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
import numpy.typing as npt

from ..core.skeleton import Array

Pixels = npt.NDArray[np.float32]
Colour = tuple[float, float, float]

PAPER, INK, GRID = (0.11, 0.11, 0.12), (0.85, 0.85, 0.85), (0.24, 0.24, 0.26)
SIZE = (1024, 640)
"""Width and height of a picture [pixels]."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 34, 34
_SCALE = 2

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.-/:%_()+,"
_ROWS = (
    "7555726227717477171755711747177475771244757577571725755656563444365556746477464434553557557222711152"
    "5565544447577556555525552656442557365655342167222255557555525577555255552227124700002007001124402020"
    "512450000712221422240272000024"
)
"""Five rows of three bits for each letter."""


class Series(NamedTuple):
    """One curve: what it is called, its colour, and its heights (n,)."""

    name: str
    colour: Colour
    values: Array


class Chart(NamedTuple):
    """Curves over one axis: `x` (n,) rising, its unit, the title, and upright lines at some places."""

    title: str
    unit: str
    x: Array
    series: Sequence[Series]
    marks: Sequence[float] = ()


def picture(charts: Sequence[Chart]) -> Pixels:
    """(H, W, 4) the charts one below the other, the first row on top."""
    width, height = SIZE
    page = np.ones((height, width, 4), np.float32)
    page[..., :3] = PAPER
    share = height // len(charts)
    for k, chart in enumerate(charts):
        _draw(page[k * share : (k + 1) * share], chart)
    return page


def to_png(pixels: Pixels) -> bytes:
    """The pixels (H, W, 4) as a PNG file, without an image in the file."""
    height, width = pixels.shape[:2]
    colours = np.rint(255.0 * np.clip(pixels[..., :3], 0.0, 1.0)).astype(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), colours.reshape(height, -1)], axis=1)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    )
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def to_image(name: str, pixels: Pixels) -> Any:
    """The pixels as an image of this name, packed into the file; an older one of that name is replaced."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.get(name)
    if image is None or tuple(image.size) != (width, height):
        if image is not None:
            bpy.data.images.remove(image)
        image = bpy.data.images.new(name, width, height, alpha=False)
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1]).ravel())
    image.update()
    image.pack()
    return image


def text(page: Pixels, words: str, x: int, y: int, colour: Colour = INK) -> int:
    """Write words with their upper left corner at x, y, as far as they fit; returns where they end."""
    for letter in words.upper():
        at = 5 * _LETTERS.find(letter)
        rows = _ROWS[at : at + 5] if at >= 0 else "00000"
        bits = np.array([[int(row) >> (2 - c) & 1 for c in range(3)] for row in rows], bool)
        bits = np.kron(bits, np.ones((_SCALE, _SCALE), bool))
        part = page[max(y, 0) : y + bits.shape[0], max(x, 0) : x + bits.shape[1], :3]
        part[bits[: part.shape[0], : part.shape[1]]] = colour
        x += 4 * _SCALE
    return x


def _draw(page: Pixels, chart: Chart) -> None:
    height, width = page.shape[:2]
    area = page[_TOP : height - _BOTTOM, _LEFT : width - _RIGHT]
    rows, columns = area.shape[:2]
    values = np.concatenate([s.values for s in chart.series]) if chart.series else np.zeros(1)
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        low, high = low - 1.0, high + 1.0
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    left, right = float(chart.x[0]), float(chart.x[-1]) if chart.x[-1] > chart.x[0] else float(chart.x[0]) + 1.0
    for value in _ticks(low, high):
        row = round((high - value) / (high - low) * (rows - 1))
        area[row, :, :3] = GRID
        label = f"{value:g}"
        text(page, label, _LEFT - 8 - 4 * _SCALE * len(label), _TOP + row - 5)
    for value in _ticks(left, right):
        column = round((value - left) / (right - left) * (columns - 1))
        area[:, column, :3] = GRID
        text(page, f"{value:g}", _LEFT + column - 4 * _SCALE * len(f"{value:g}") // 2, height - _BOTTOM + 8)
    text(page, chart.unit, width - _RIGHT - 4 * _SCALE * len(chart.unit), height - 14)
    for mark in chart.marks:
        if left <= mark <= right:
            area[::2, round((mark - left) / (right - left) * (columns - 1)), :3] = INK
    at = np.linspace(left, right, columns)
    end = text(page, chart.title, _LEFT, 12)
    for series in chart.series:
        line = (high - np.interp(at, chart.x, series.values)) / (high - low) * (rows - 1)
        # a column reaches half-way to its neighbours, so that steep parts have no holes
        ends = np.stack([line, (line + np.roll(line, 1)) / 2, (line + np.roll(line, -1)) / 2])
        ends[1, 0], ends[2, -1] = line[0], line[-1]
        for column, (top, bottom) in enumerate(zip(ends.min(axis=0), ends.max(axis=0), strict=True)):
            area[max(int(top) - 1, 0) : int(bottom) + 1, column, :3] = series.colour
        end = text(page, series.name, end + 24, 12, series.colour)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, about five of them."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(power * min((s for s in (1.0, 2.0, 5.0, 10.0) if s * power >= rough), default=10.0))
    first = int(np.ceil(low / step))
    return [round(k * step, 12) for k in range(first, int(np.floor(high / step)) + 1)]
