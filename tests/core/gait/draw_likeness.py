"""Draw generated walks and runs over recorded ones, for the page on walking, and print its table.

Run it in a core environment from the folder `tests`: python -m core.gait.draw_likeness OUT.png
"""

import sys
from dataclasses import replace

import numpy as np
import testdata
from PIL import Image, ImageDraw
from troupe.core.figure.mannequin import mannequin
from troupe.core.gait.travel import TravelParams, travel
from troupe.core.motion import Path

from . import recordings

CURVES = ("hip_flexion", "knee_flexion", "ankle_flexion")
TILE, EDGE = (190, 120), 26


def main(out):
    """Write the picture and print the table."""
    data = testdata.folder()
    body = mannequin()
    pairs = []
    for name, real in recordings.load(data).items():
        size = real.leg / body.leg_length()
        skeleton = replace(body, offsets=body.offsets * size, tips=body.tips * size)
        times = np.arange(8 * 120 + 1) / 120
        still = np.zeros_like(times)
        base = Path(np.column_stack([still, -real.speed * times, still]), ("x", "y", "heading"), times)
        made = travel(skeleton, base, TravelParams(gait=real.kind))
        pairs.append((real, recordings.measured(made, name, real.kind, (0.5, 7.5))))
    print("| clip | " + " | ".join(f"{c.split('_')[0]}: corr., RMS, mean" for c in CURVES) + " |")
    print("|---|" + "---|" * len(CURVES))
    for real, made in pairs:
        cells = []
        for curve in CURVES:
            a, b = real.curves[curve], made.curves[curve]
            rms = np.sqrt(np.mean((a - a.mean() - b + b.mean()) ** 2))
            cells.append(f"{np.corrcoef(a, b)[0, 1]:.2f}, {rms:.1f}°, {b.mean() - a.mean():+.1f}°")
        fitted = " (fitted)" if real.name in recordings.FITTED else ""
        print(f"| {real.name}{fitted}, {real.kind}, {real.speed:.2f} m/s | {' | '.join(cells)} |")
    image = Image.new("RGB", (len(pairs) * TILE[0] + EDGE, len(CURVES) * TILE[1] + EDGE), "white")
    draw = ImageDraw.Draw(image)
    for row, curve in enumerate(CURVES):
        low = min(min(r.curves[curve].min(), m.curves[curve].min()) for r, m in pairs)
        high = max(max(r.curves[curve].max(), m.curves[curve].max()) for r, m in pairs)
        draw.text((2, EDGE + row * TILE[1]), curve.split("_")[0], fill="black")
        for column, (real, made) in enumerate(pairs):
            left, top = EDGE + column * TILE[0], EDGE + row * TILE[1]
            draw.rectangle((left, top, left + TILE[0] - 10, top + TILE[1] - 10), outline="#cccccc")
            if row == 0:
                draw.text((left + 4, 6), f"{real.name} {real.speed:.1f} m/s", fill="black")
            for values, colour in ((real.curves[curve], "#222222"), (made.curves[curve], "#d04020")):
                x = left + np.linspace(0, TILE[0] - 10, len(values))
                y = top + (TILE[1] - 10) * (high - values) / (high - low)
                draw.line(list(zip(x.tolist(), y.tolist(), strict=True)), fill=colour, width=2)
    image.save(out)


if __name__ == "__main__":
    main(sys.argv[1])
