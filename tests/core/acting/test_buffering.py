"""Buffering: routes through safe poses, interruptions on the way, and hands that stay outside the body."""

from __future__ import annotations

import numpy as np
import pytest
from troupe.core.acting.body.body import BodyParams, start
from troupe.core.acting.body.perform import Selection, perform
from troupe.core.acting.repertoire.buffering import Routes
from troupe.core.acting.repertoire.library import ActionLibrary
from troupe.core.acting.repertoire.stockactions import FOLDER, stock_library
from troupe.core.acting.repertoire.tables import read_sheet
from troupe.core.acting.repertoire.weights import entry_weights
from troupe.core.errors import InvalidParam
from troupe.core.kinematics import fk
from troupe.core.maths import quat

from .puppets import MANNEQUIN, library

NAMES = ("sides", "behind", "clap", "hips", "folded")


@pytest.mark.req("improv", 51)
@pytest.mark.parametrize(
    "route",
    [
        ("behind", "sides", "clap"),
        ("clap", "sides", "behind"),
        ("behind", "sides"),
        ("clap", "hips"),
        ("behind", "sides", "hips", "folded"),
        ("folded", "hips", "sides", "behind"),
        ("clap",),
    ],
)
def test_routes_go_through_the_buffers(route):
    routes = Routes(NAMES, {"behind": ("sides",), "folded": ("hips",)})
    assert routes.route(route[0], route[-1]) == route


@pytest.mark.req("improv", 51)
def test_buffers_may_be_chained():
    routes = Routes(("behind", "sides", "hips", "clap"), {"behind": ("sides",), "sides": ("hips",)})
    assert routes.route("behind", "clap") == ("behind", "sides", "hips", "clap")


@pytest.mark.req("improv", 52)
def test_an_action_that_cannot_be_reached_is_named():
    with pytest.raises(InvalidParam, match="a to c"):
        Routes(("a", "b", "c"), {"a": ("b",), "b": ("a",)})
    with pytest.raises(InvalidParam):
        Routes(("a", "b"), {"a": ("z",)})


SHEET = """
define ACTION sides { fade .5 Lshoulder 0 0 0 }
define ACTION behind { fade .5 Lshoulder 30 0 0 }
define ACTION clap { fade .5 Lshoulder -40 0 0 }
define ACTION hips { fade .5 Lshoulder 0 0 40 }
GROUP arms ACTION sides ACTION behind ACTION clap ACTION hips
sides buffers behind
"""


UNEVEN = """
define ACTION sides { fade .7 Lshoulder 0 0 0 }
define ACTION behind { fade .4 Lshoulder 30 0 0 Lelbow -20 0 0 LOOK 1 timing Lelbow delay .2 scale 1.5 linger .3 }
define ACTION clap { fade .2 Lshoulder -40 0 0 }
define ACTION hips { fade .5 Lshoulder 0 0 40 }
define ACTION folded { fade .3 Lshoulder -50 0 0 }
GROUP arms ACTION sides ACTION behind ACTION clap ACTION hips ACTION folded
sides buffers behind
hips buffers folded
"""
UNRELATED = {"behind": ("clap", "hips", "folded"), "folded": ("sides", "behind", "clap")}


@pytest.mark.req("improv", 53)
@pytest.mark.parametrize("sheet", [SHEET, UNEVEN], ids=["alike", "uneven"])
@pytest.mark.parametrize("seed", range(6))
def test_no_instant_mixes_a_buffered_action_with_an_unrelated_one(sheet, seed):
    rng = np.random.default_rng(seed)
    lib = library(sheet)
    names = lib.group("arms").actions
    state = start(lib, MANNEQUIN)
    last = ""
    for t in np.sort(rng.uniform(0, 4, 9)):
        last = str(rng.choice(names))
        state = state.select("", last, float(t))
    mixed = 0
    # all channels that the buffered action covers, at the rate of the clock's own grid
    for k in range(1, round(8.0 * 40)):
        state = state.advance(k / 40)
        history = state.groups[0].history
        seen: dict[str, float] = {}
        for entry, w in zip(
            history, entry_weights(history, state.stage.ramps(0, history), np.array([state.time])), strict=True
        ):
            seen[names[entry.action]] = seen.get(names[entry.action], 0.0) + float(w.max())
        mixed += sum(w > 0.001 for w in seen.values()) > 1
        for buffered, others in UNRELATED.items():
            if seen.get(buffered, 0.0) > 0.001:
                assert all(seen.get(other, 0.0) <= 0.001 + 1e-9 for other in others), (state.time, seen)
    assert mixed > 40 and state.selected("arms") == last and state.pending("arms") == ""


def test_turning_back_to_the_action_just_left_needs_no_detour():
    state = start(library(SHEET), MANNEQUIN).select("", "behind", 0.0).select("", "sides", 1.0)
    state = state.select("", "behind", 1.2).advance(1.25)
    assert state.selected("arms") == "behind" and state.pending("arms") == ""
    state = state.advance(2.0)
    assert state.weight("behind") == 1.0


def test_the_buffer_is_passed_without_a_halt():
    state = start(library(SHEET), MANNEQUIN).select("", "clap", 0.0).advance(1.0)
    state = state.select("", "behind", 1.0).advance(1.2)
    assert state.selected("arms") == "sides" and state.pending("arms") == "behind"
    state = state.advance(1.55)
    assert state.selected("arms") == "behind"
    assert abs(state.groups[0].history[-1].time - (1.0 + 0.98163 * 0.5)) < 1e-4


TRUNK = ((0, (-0.16, 0.22)), (MANNEQUIN.chain("spine")[-1], (-0.12, 0.22)))
"""Joints of the trunk, and from where to where around them it is as thick as the ellipse of `_clearance` [m]."""
ROOTS = [MANNEQUIN.chain(f"{finger}_{side}")[0] for side in "LR" for finger in ("index", "middle", "pinky")]


def _clearance(motion) -> float:
    """Least distance of wrists and knuckles from an upright ellipse around chest, hips and seat, in its radii."""
    positions, globals_ = fk.forward(MANNEQUIN, motion.rotations, motion.roots)
    hands = positions[:, [*(MANNEQUIN.joint(f"hand_{side}") for side in "LR"), *ROOTS]]
    worst = np.inf
    for joint, (low, high) in TRUNK:
        local = quat.rotate(quat.conjugate(globals_[:, joint])[:, None], hands - positions[:, joint, None])
        radius = np.hypot(local[..., 0] / 0.15, local[..., 1] / 0.105) - 1.0
        level = (local[..., 2] > low) & (local[..., 2] < high)
        worst = min(worst, float(np.where(level, radius, np.inf).min()))
    return worst


@pytest.mark.req("improv", 54)
def test_hands_go_around_the_body_with_buffering_and_through_it_without():
    selections = [Selection(0.0, "", "hands_behind_back", fade=0.0), Selection(1.0, "", "hands_clasped")]
    stock = stock_library()
    params = BodyParams(seed=1)
    with_buffers = perform(stock, MANNEQUIN, selections, 4.0, 60, params)
    text = [p.read_text() for p in sorted(FOLDER.glob("*.actions"))]
    bare = [read_sheet("\n".join(line for line in t.splitlines() if " buffers " not in line)) for t in text]
    without = perform(ActionLibrary(bare), MANNEQUIN, selections, 4.0, 60, params)
    assert _clearance(with_buffers) >= 0.0
    assert _clearance(without) < 0.0
