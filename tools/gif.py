"""Animated GIFs without an encoder at hand: median-cut palette, changed rectangles only, LZW (GIF89a)."""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

_COLOURS = 256


def write_gif(path: Path, frames: npt.NDArray[np.uint8], delays: Sequence[int]) -> None:
    """Write frames that repeat for ever.

    Args:
        path: The file to write.
        frames: (N, H, W, 3) red, green, blue.
        delays: N times to show each frame [1/100 s].
    """
    if frames.ndim != 4 or frames.shape[-1] != 3 or not len(frames) or len(frames) != len(delays):
        raise ValueError(f"frames must be (N, H, W, 3) with N delays, not {frames.shape} with {len(delays)}")
    height, width = frames.shape[1:3]
    palette, indices = quantise(frames)
    header = b"GIF89a" + struct.pack("<HHBBB", width, height, 0xF7, 0, 0) + palette.tobytes()
    blocks = [header, b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"]
    before = None
    for frame, delay in zip(indices, delays, strict=True):
        top, bottom, left, right = _changed(before, frame)
        part = frame[top:bottom, left:right]
        blocks.append(b"\x21\xf9\x04\x04" + struct.pack("<HBB", delay, 0, 0))
        blocks.append(b"\x2c" + struct.pack("<HHHHB", left, top, right - left, bottom - top, 0))
        blocks.append(b"\x08" + _sub_blocks(lzw(part.tobytes())) + b"\x00")
        before = frame
    path.write_bytes(b"".join(blocks) + b"\x3b")


def quantise(frames: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Choose 256 colours for all frames together.

    Args:
        frames: (..., 3) red, green, blue.

    Returns:
        (256, 3) palette and (...) indices into it.
    """
    pixels = frames.reshape(-1, 3)
    # Six bits a channel: a step of 4 is invisible, and the colours in use become few enough to cluster.
    red, green, blue = (pixels >> 2).astype(np.int64).T
    used, inverse, counts = np.unique(red << 12 | green << 6 | blue, return_inverse=True, return_counts=True)
    colours = np.stack([np.bincount(inverse, weights=channel) / counts for channel in pixels.T], axis=-1)
    boxes = [np.arange(len(used))]
    spreads = [_spread(colours[boxes[0]], counts[boxes[0]])]
    while len(boxes) < _COLOURS and max(spreads) > 0.0:
        k = int(np.argmax(spreads))
        box = boxes.pop(k)
        spreads.pop(k)
        for half in _halves(box, colours, counts):
            boxes.append(half)
            spreads.append(_spread(colours[half], counts[half]))
    palette = np.zeros((_COLOURS, 3), np.uint8)
    place = np.zeros(len(used), np.uint8)
    for k, box in enumerate(boxes):
        palette[k] = np.rint(np.average(colours[box], axis=0, weights=counts[box]))
        place[box] = k
    return palette, place[inverse].reshape(frames.shape[:-1])


def _spread(colours: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> float:
    """How much a box deserves to be cut: its pixels' variance along its longest axis, summed."""
    if len(colours) < 2:
        return 0.0
    mean = np.average(colours, axis=0, weights=counts)
    return float(np.max(((colours - mean) ** 2 * counts[:, None]).sum(axis=0)))


def _halves(
    box: npt.NDArray[np.int64], colours: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Cut a box of at least two colours across its longest axis at the mean."""
    values = colours[box]
    axis = int(np.argmax(((values - values.mean(axis=0)) ** 2 * counts[box, None]).sum(axis=0)))
    order = np.argsort(values[:, axis], kind="stable")
    mean = np.average(values[:, axis], weights=counts[box])
    cut = int(np.clip(np.searchsorted(values[order, axis], mean, side="right"), 1, len(box) - 1))
    return box[order[:cut]], box[order[cut:]]


def _changed(before: npt.NDArray[np.uint8] | None, frame: npt.NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """Return top, bottom, left, right of the rectangle that differs; at least one pixel, as the format demands."""
    if before is None:
        return 0, frame.shape[0], 0, frame.shape[1]
    rows = np.flatnonzero((before != frame).any(axis=1))
    columns = np.flatnonzero((before != frame).any(axis=0))
    if not len(rows):
        return 0, 1, 0, 1
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def lzw(data: bytes) -> bytes:
    """Compress 8-bit indices as GIF demands: codes of 9 to 12 bits, lowest bit first, cleared when full."""
    clear, end = 256, 257
    table: dict[int, int] = {}
    size, free = 9, end + 1
    out = bytearray()
    bits, held = clear, size
    code = data[0]
    for byte in data[1:]:
        key = code << 8 | byte
        longer = table.get(key)
        if longer is not None:
            code = longer
            continue
        bits |= code << held
        held += size
        code = byte
        if free < 4096:
            table[key] = free
            if free == 1 << size:
                size += 1
            free += 1
        else:
            bits |= clear << held
            held += size
            table.clear()
            size, free = 9, end + 1
        if held >= 64:
            whole = held // 8
            out += (bits & ((1 << 8 * whole) - 1)).to_bytes(whole, "little")
            bits >>= 8 * whole
            held -= 8 * whole
    bits |= code << held
    held += size
    # The decoder adds an entry for that last code too, which may widen the code of the end.
    if free < 4096 and free == 1 << size:
        size += 1
    bits |= end << held
    held += size
    return bytes(out + bits.to_bytes((held + 7) // 8, "little"))


def _sub_blocks(data: bytes) -> bytes:
    return b"".join(bytes([len(data[k : k + 255])]) + data[k : k + 255] for k in range(0, len(data), 255))
