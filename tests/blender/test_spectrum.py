"""Plots in Blender: a picture with the curves in it, and a report that says what it should."""

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import bake, plot
from troupe.addon.features import spectrum as feature
from troupe.core.figure import acts
from troupe.core.filters.spectrum import SpectrumParams, report
from troupe.core.kinematics.base import based


@pytest.fixture
def knocker():
    """An actor whose own action is three knocks."""
    stage.once(_knocker)
    ob = bpy.data.objects["Mannequin"]
    stage.choose(ob)
    return ob


def _knocker():
    ob = stage.actor(skin=False)
    cast = stage.cast_of(ob)
    keys = bake.prepare(ob, cast, based(acts.knock(cast.skeleton, fps=24.0)), bpy.context, 1)
    bake.write(ob, keys, bpy.context, "knock", landing="replace")
    bpy.context.scene.frame_set(1)


def pixels(image):
    out = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(out)
    return out.reshape(image.size[1], image.size[0], 4)[::-1]


@pytest.mark.req("bruderlin", 68)
def test_the_picture_and_the_report_are_in_the_file(knocker):
    bpy.ops.troupe.spectrum(joint="forearm_R")
    image = bpy.data.images[f"{knocker.name} plot"]
    assert tuple(image.size) == plot.SIZE and image.packed_file is not None
    red = np.abs(pixels(image)[..., :3] - np.array(feature.COLOURS[0])).max(axis=-1) < 0.02
    upper, lower = red[: len(red) // 2], red[len(red) // 2 :]
    assert upper.any(axis=0)[100:900].all(), "the angle is drawn from the first frame to the last"
    assert lower.sum() > 300
    words = bpy.data.texts[f"{knocker.name} report"].as_string()
    assert "Power above 10 Hz:" in words and "hand_R: " in words and "forearm.R: " in words
    bpy.ops.troupe.spectrum()
    assert len(bpy.data.images) == 1 and len(bpy.data.texts) == 1, "made again, not twice"


def test_what_was_before_an_edit_is_drawn_behind_it(knocker):
    bpy.ops.troupe.waveshape(shape="hard", extent=0.5)
    seen, params = None, SpectrumParams(joint="forearm_R")
    steps = feature.Operator.compute_steps(None, bpy.context, knocker, params)
    while seen is None:
        try:
            next(steps)
        except StopIteration as end:
            seen = end.value[0]
    turns, power = feature.charts(seen, params)
    assert [s.name for s in turns.series[:2]] == ["flexion before", "abduction before"]
    before, after = (next(s.values for s in turns.series if s.name == n) for n in ("flexion before", "flexion"))
    assert np.ptp(after) == pytest.approx(0.5 * np.ptp(before), rel=0.02)
    assert power.x[-1] == 12.0 and power.marks == (10.0,)


def test_a_line_is_where_its_values_are():
    x = np.linspace(0.0, 10.0, 50)
    page = plot.picture([plot.Chart("rise", "s", x, [plot.Series("a", (1.0, 0.0, 0.0), x)])])
    red = (page[..., 0] > 0.99) & (page[..., 1] < 0.01)
    rows = [np.flatnonzero(red[40:, column]).mean() for column in (200, 500, 800)]
    assert rows[0] > rows[1] > rows[2]
    assert rows[0] - rows[1] == pytest.approx(rows[1] - rows[2], abs=1.5)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-37.2, 91.0), (1e-6, 3e-6), (1.0, 120.0)])
def test_ticks_are_round_and_few(low, high):
    found = plot._ticks(low, high)
    assert 2 <= len(found) <= 8 and low <= found[0] and found[-1] <= high + 1e-12


def test_it_is_saved_as_a_file_too(knocker, tmp_path):
    bpy.ops.troupe.spectrum(file=str(tmp_path / "plot.png"))
    assert (tmp_path / "plot.png").read_bytes()[:4] == b"\x89PNG"


def test_nothing_but_the_picture_and_the_report_changes(knocker):
    before = canon.dump()
    bpy.ops.troupe.spectrum(joint="shin_L")
    after = canon.dump()
    assert after["actions"] == before["actions"] and after["objects"].keys() == before["objects"].keys()
    with pytest.raises(RuntimeError, match="no joint 'tail'"):
        bpy.ops.troupe.spectrum(joint="tail")


def test_the_report_is_that_of_core(knocker):
    bpy.ops.troupe.spectrum(above=5.0)
    motion = bake.read(knocker, stage.cast_of(knocker), bpy.context)
    assert bpy.data.texts[f"{knocker.name} report"].as_string().splitlines()[0] == report(motion, 5.0).splitlines()[0]
