"""Job files: who acts, what they do in which order, and what is written. TOML, checked whole before anything runs.

Every mistake is a FormatError with the line and column of the key at fault; nothing in a job is ever evaluated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .errors import FormatError
from .formats import toml
from .formats.checked import Checked, nearest
from .formats.toml import Key, Place
from .params import Params

MAX_STEPS = MAX_ACTORS = 1_000
MAX_FRAME = 1_048_574
"""Blender's last frame."""
RESERVED = ("actor", "feature", "start", "output", "save", "json", "help")
"""Words of steps and of the command line, which no parameter may have for a name."""
RIGS = (".blend", ".fbx", ".glb", ".bvh")
MAX_PLOTS = 50
MOST = "most"
"""Among the joints to plot, the one that turns most."""
_START = Place(1, 1)

Features = Mapping[str, tuple[type[Params], ...]]


@dataclass(frozen=True)
class ActorSpec:
    """An actor of the job: from a rig file, a mannequin, or one that is in the scene already.

    Attributes:
        name: Name of its armature object.
        rig: File to take it from.
        armature: Which armature of that file, where it has several.
        mannequin: Parameters of the built-in figure.
        map: Role map file; None detects the roles.
        place: x, y on the ground [m]; None leaves it where it is.
        heading: The way it faces [rad]; None leaves it.
        at: Where the job says so.
    """

    name: str
    rig: Path | None
    armature: str
    mannequin: Mapping[str, Any] | None
    map: Path | None
    place: tuple[float, float] | None
    heading: float | None
    at: Place


@dataclass(frozen=True)
class Step:
    """One feature on some actors; `start` None goes on where their step before ended. `places` is by key."""

    number: int
    feature: str
    actors: tuple[str, ...]
    start: int | None
    params: Mapping[str, Any]
    places: Mapping[str, Place]

    def at(self, key: str) -> Place:
        """Where a key of the step is; the step's own place for a key that it leaves out."""
        return self.places.get(key, self.places[""])


@dataclass(frozen=True)
class Output:
    """What is written when all is done.

    Attributes:
        blend, render, report: Files; None for none.
        bvh: Files by actor.
        plots: Joints or roles of which the report has curves and spectra, before and after each edit; `MOST` is the
            one that turns most.
        plots_at: Where the job says so.
    """

    blend: Path | None = None
    bvh: Mapping[str, Path] = field(default_factory=dict)
    render: Path | None = None
    report: Path | None = None
    plots: tuple[str, ...] = ()
    plots_at: Place = _START

    def plot(self, step: int, actor: str, joint: str) -> Path:
        """The picture of a joint in a step, beside the report."""
        assert self.report is not None
        name = re.sub(r"[^\w.-]+", "_", f"{self.report.stem}_{step}_{actor}_{joint}")
        return self.report.with_name(f"{name}.png")

    def files(self) -> list[Path]:
        """Every file named."""
        return [p for p in (self.blend, *self.bvh.values(), self.render, self.report) if p is not None]


@dataclass(frozen=True)
class Job:
    """A checked job: paths are absolute, parameters complete and in range."""

    source: str
    scene: Path | None
    fps: float | None
    frames: tuple[int, int] | None
    actors: tuple[ActorSpec, ...]
    steps: tuple[Step, ...]
    output: Output


def read(
    path: str | Path, features: Features, *, actorless: Collection[str] = (), allowed: Iterable[str | Path] = ()
) -> Job:
    """Read a job file; see `parse`."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(toml.MAX_CHARACTERS + 1)
    except (OSError, ValueError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise FormatError(str(path), 1, 1, why) from None
    if len(data) > toml.MAX_CHARACTERS:
        raise FormatError(str(path), 1, 1, f"a job file has at most {toml.MAX_CHARACTERS} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = data.count(b"\n", 0, error.start) + 1, error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(str(path), line, column, "the text is not UTF-8") from None
    return parse(text, str(path), features, actorless=actorless, allowed=allowed)


def parse(
    text: str,
    source: str,
    features: Features,
    *,
    actorless: Collection[str] = (),
    allowed: Iterable[str | Path] = (),
) -> Job:
    """The job that a text describes.

    Args:
        text: TOML.
        source: The file it is from; paths are relative to its folder and must stay in it.
        features: Feature to the records that declare its parameters.
        actorless: Features that act on no actor.
        allowed: Other folders in which paths may lie.

    Raises:
        FormatError: Anything is wrong, with its line and column.
    """
    data, places = toml.loads(text, source)
    check = Checked(source, places, allowed)
    check.keys((), data, ("scene", "fps", "frames", "actor", "step", "output"))
    scene = check.input((), data, "scene", (".blend",))
    fps = check.number((), data, "fps", 1.0, 1_000.0)
    frames = _frames(check, data)
    actors = tuple(_actor(check, key, row, features) for key, row in check.rows((), data, "actor", MAX_ACTORS))
    for n, actor in enumerate(actors):
        if any(actor.name == other.name for other in actors[:n]):
            check.fail(("actor", n, "name"), f"two actors are called {actor.name!r}")
    steps = tuple(_step(check, key, row, features, actorless) for key, row in check.rows((), data, "step", MAX_STEPS))
    if not actors and not steps:
        check.fail((), "a job needs at least one [[step]] or [[actor]]")
    names = dict.fromkeys([a.name for a in actors] + [name for step in steps for name in step.actors])
    return Job(source, scene, fps, frames, actors, steps, _output(check, data, list(names), steps))


def _frames(check: Checked, data: Mapping[str, Any]) -> tuple[int, int] | None:
    if "frames" not in data:
        return None
    value = data["frames"]
    whole = isinstance(value, list) and len(value) == 2 and all(type(x) is int for x in value)
    if not whole or not 0 <= value[0] <= value[1] <= MAX_FRAME:
        check.fail(("frames",), f"frames must be [first, last], whole numbers from 0 to {MAX_FRAME}")
    return value[0], value[1]


def _actor(check: Checked, key: Key, row: Mapping[str, Any], features: Features) -> ActorSpec:
    check.keys(key, row, ("name", "rig", "armature", "mannequin", "map", "place", "heading_deg"))
    name = check.name(key, row, "name", required=True)
    rig = check.input(key, row, "rig", RIGS)
    figure = None
    if "mannequin" in row:
        figure = check.params((*key, "mannequin"), check.table(key, row, "mannequin"), features["mannequin"])
        for other in ("rig", "map"):
            if other in row:
                check.fail((*key, other), f"a mannequin needs no {other}: leave one of them out")
    if "armature" in row and rig is None:
        check.fail((*key, "armature"), "armature chooses one of a rig file: name the rig too")
    place = row.get("place")
    if place is not None and not (isinstance(place, list) and len(place) == 2):
        check.fail((*key, "place"), "place must be [x, y] in metres")
    x_y = [check.number((*key, "place"), dict(enumerate(place)), i, -1e6, 1e6) for i in (0, 1)] if place else []
    degrees = check.number(key, row, "heading_deg", -36_000.0, 36_000.0)
    return ActorSpec(
        name=name,
        rig=rig,
        armature=check.name(key, row, "armature"),
        mannequin=figure,
        map=check.input(key, row, "map", (".json",)),
        place=(float(x_y[0] or 0.0), float(x_y[1] or 0.0)) if x_y else None,
        heading=None if degrees is None else math.radians(degrees),
        at=check.places.of(key),
    )


def _step(check: Checked, key: Key, row: Mapping[str, Any], features: Features, actorless: Collection[str]) -> Step:
    feature = check.name(key, row, "feature", required=True)
    if feature not in features:
        check.fail((*key, "feature"), f"no feature {feature!r}; {nearest(feature, features)}")
    actors: tuple[str, ...] = ()
    if feature in actorless:
        if "actor" in row:
            check.fail((*key, "actor"), f"{feature} acts on no actor")
    elif isinstance(row.get("actor"), list):
        named = dict(enumerate(row["actor"]))
        actors = tuple(dict.fromkeys(check.name((*key, "actor"), named, i, required=True) for i in named))
        if not 0 < len(actors) <= MAX_ACTORS:
            check.fail((*key, "actor"), f"actor must name one to {MAX_ACTORS} actors")
    else:
        actors = (check.name(key, row, "actor", required=True),)
    start = row.get("start")
    if start is not None and not (type(start) is int and abs(start) <= MAX_FRAME):
        check.fail((*key, "start"), f"start must be a frame: a whole number from {-MAX_FRAME} to {MAX_FRAME}")
    own = ("actor", "feature", "start")
    params = check.params(key, {k: v for k, v in row.items() if k not in own}, features[feature], own)
    places = {"": check.places.of(key), **{k: check.places.of((*key, k)) for k in row}}
    return Step(int(key[-1]) + 1, feature, actors, start, params, places)


def _output(check: Checked, data: Mapping[str, Any], actors: list[str], steps: tuple[Step, ...]) -> Output:
    row, key = check.table((), data, "output"), ("output",)
    check.keys(key, row, ("blend", "bvh", "render", "report", "plots"))
    blend = check.output(key, row, "blend", (".blend",))
    bvh: dict[str, Path] = {}
    if isinstance(row.get("bvh"), dict):
        for name in row["bvh"]:
            if name not in actors:
                check.fail((*key, "bvh", name), f"no actor {name!r} in this job; {nearest(name, actors)}")
            bvh[name] = check.output((*key, "bvh"), row["bvh"], name, (".bvh",)) or Path()
    elif "bvh" in row:
        if len(actors) != 1:
            check.fail((*key, "bvh"), f'the job has {len(actors)} actors: write bvh = {{NAME = "file.bvh", ...}}')
        bvh[actors[0]] = check.output(key, row, "bvh", (".bvh",)) or Path()
    render = check.output(key, row, "render", (".png", ".mp4"))
    out = Output(blend, bvh, render, check.output(key, row, "report", (".json",)))
    return replace(out, plots=_plots(check, row, out, steps), plots_at=check.places.of((*key, "plots")))


def _plots(check: Checked, row: Mapping[str, Any], out: Output, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """The joints of which the report has plots, whose files are no other files of the job."""
    if "plots" not in row:
        return ()
    key, value = ("output", "plots"), row["plots"]
    if not isinstance(value, list) or not 0 < len(value) <= MAX_PLOTS:
        check.fail(key, f'plots must be one to {MAX_PLOTS} joints or roles, such as ["upper_arm_R", "{MOST}"]')
    if out.report is None:
        check.fail(key, "plots belong to a report: name its file too")
    named = dict(enumerate(value))
    joints = tuple(dict.fromkeys(check.name(key, named, i, required=True) for i in named))
    for step in steps:
        for actor in step.actors:
            for joint in joints:
                check.derived(key, out.plot(step.number, actor, joint), "plots")
    return joints
