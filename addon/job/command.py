"""The command line: `troupe run`, `demo`, `list`, and every feature by its name, with flags from its parameters."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import bpy

from ...core import job as jobs
from ...core.errors import Cancelled, FormatError, InvalidParam, TroupeError
from ...core.formats.toml import Place
from ...core.job import Job, Output, Step
from ...core.params import Param, Params, declared
from .. import FEATURES
from ..demos import demos
from ..features import all_steps, modules, steps_of
from . import interrupt, output
from .run import in_window, run

DONE, FAILED, BAD_INPUT, CANCELLED = 0, 1, 2, 130
SOURCE = "command line"


def main(argv: Sequence[str]) -> int:
    """Run a command line and return its exit code; what went wrong is said on stderr."""
    try:
        arguments = parser().parse_args(list(argv))
    except SystemExit as leave:
        return int(leave.code or 0) if not isinstance(leave.code, str) else BAD_INPUT
    code, result = DONE, {}
    with _quiet(arguments.json):
        try:
            with interrupt.heeded():
                result = arguments.run(arguments, _speaker(arguments.json))
            code = DONE if result.get("ok", True) else FAILED
        except (KeyboardInterrupt, Cancelled):
            code, result = CANCELLED, {"ok": False, "error": "cancelled; nothing was written"}
        except (FormatError, InvalidParam) as error:
            code, result = BAD_INPUT, {"ok": False, "error": str(error)}
        except TroupeError as error:
            code, result = FAILED, {"ok": False, "error": str(error)}
        except Exception as error:
            traceback.print_exc()
            code, result = FAILED, {"ok": False, "error": f"{type(error).__name__}: {error}"}
    if "error" in result:
        print(f"troupe: {result['error']}", file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps({**result, "code": code}, ensure_ascii=True), flush=True)
    return code


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line; every feature is a command of its own."""
    top = argparse.ArgumentParser("troupe", description="Direct characters from the command line.", allow_abbrev=False)
    commands = top.add_subparsers(required=True, metavar="COMMAND", prog="troupe")

    def add(name: str, action: Any, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("--json", action="store_true", help="one line of JSON on stdout, all else on stderr")
        command.set_defaults(run=action, feature=name)
        return command

    job = add("run", _run, "run a job file; without one, the feature Run")
    job.add_argument("job", nargs="?", metavar="JOB.toml")
    job.add_argument("--keep-going", action="store_true", help="go on after a step that fails, and write what there is")
    job.add_argument("--allow-path", action="append", default=[], metavar="DIR", help="files may also lie here")
    demo = add("demo", _demo, "build the demo of a feature, or of all")
    demo.add_argument("name", nargs="?", metavar="NAME")
    demo.add_argument("--output", metavar="FILE.blend", help="keep the scene")
    add("list", _list, "features and their parameters")
    for cls in all_steps().values():
        # one word for two things: a job file is run, and so does a runner
        feature = job if cls.feature() == "run" else add(cls.feature(), _feature, cls.__doc__ or cls.bl_label)
        if cls.owner == "actor":
            feature.add_argument("--actor", action="append", metavar="NAME", help="default: the only one in the scene")
        feature.add_argument("--start", type=int, metavar="FRAME", help="default: the scene's first frame")
        feature.add_argument("--output", metavar="FILE.blend", help="write the scene here")
        feature.add_argument("--save", action="store_true", help="write over the scene's own file")
        for record in cls.records():
            for p in declared(record):
                _add_flag(feature, p)
    return top


def _add_flag(command: argparse.ArgumentParser, p: Param) -> None:
    text = f"{p.help}{f' [{p.unit}]' if p.unit else ''}".replace("%", "%%")
    common: dict[str, Any] = {"dest": f"param_{p.name}", "default": None, "help": text}
    flag = f"--{p.name.replace('_', '-')}"
    if p.kind == "bool":
        command.add_argument(flag, action=argparse.BooleanOptionalAction, **common)
    elif p.kind == "choice":
        command.add_argument(flag, choices=[name for name, _ in p.choices], **common)
    elif p.kind == "vector":
        command.add_argument(flag, type=float, nargs=p.size, metavar="X", **common)
    elif p.kind == "table":
        command.add_argument(flag, type=json.loads, metavar="JSON", **common)
    else:
        kind = {"float": float, "int": int}.get(p.kind, str)
        command.add_argument(flag, type=kind, metavar=(p.ref or p.kind).upper(), **common)


def _features() -> dict[str, tuple[type[Params], ...]]:
    return {name: cls.records() for name, cls in all_steps().items()}


def _run(arguments: argparse.Namespace, say: Any) -> dict[str, Any]:
    if arguments.job is None:
        return _feature(arguments, say)
    actorless = [name for name, cls in all_steps().items() if cls.owner == "scene"]
    job = jobs.read(arguments.job, _features(), actorless=actorless, allowed=arguments.allow_path)
    report = run(job, keep_going=arguments.keep_going, save=arguments.save, say=say)
    say(f"done: {_summary(report)}")
    return report


def _feature(arguments: argparse.Namespace, say: Any) -> dict[str, Any]:
    """One step in the open file; paths are those of the shell."""
    feature = arguments.feature
    given = {
        k.removeprefix("param_"): v for k, v in vars(arguments).items() if k.startswith("param_") and v is not None
    }
    params: dict[str, Any] = {}
    for record in _features()[feature]:
        checked = record.from_dict({p.name: given[p.name] for p in declared(record) if p.name in given})
        for p in declared(record):
            value = getattr(checked, p.name)
            params[p.name] = str(Path(value).resolve()) if p.ref in ("file", "output") and value else value
    actors = tuple(getattr(arguments, "actor", None) or ())
    if hasattr(arguments, "actor") and not actors:
        there = [ob.name for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]
        if len(there) != 1:
            names = ", ".join(there[:20]) or "no armature"
            raise FormatError(SOURCE, 1, 1, f"the scene has {names}: choose with --actor NAME")
        actors = (there[0],)
    step = Step(1, feature, actors, arguments.start, params, {"": Place(1, 1)})
    job = Job(SOURCE, None, None, None, (), (step,), Output(blend=_blend(arguments.output)))
    report = run(job, save=arguments.save, fresh=False, say=say)
    say(f"done: {_summary(report)}")
    return report


def _demo(arguments: argparse.Namespace, say: Any) -> dict[str, Any]:
    known = [name for names in FEATURES.values() for name in names]
    wanted = known if arguments.name is None else [arguments.name.partition(".")[0]]
    scenes = {key: scene for name in wanted if name in known for key, scene in demos(name).items()}
    if arguments.name is not None and arguments.name not in scenes:
        raise FormatError(SOURCE, 1, 1, f"no demo {arguments.name!r}; there are {', '.join(scenes or known)}")
    if arguments.output and arguments.name is None:
        raise FormatError(SOURCE, 1, 1, "--output keeps one scene: name the demo")
    written: list[str] = []
    for name in [arguments.name] if arguments.name else known:
        say(f"demo {name}")
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with in_window():
            scenes[name].build(bpy.context)
            interrupt.check()
            written += output.write(Output(blend=_blend(arguments.output)), "", {}, {}, say)
    return {"ok": True, "demos": [arguments.name] if arguments.name else known, "written": written}


def _list(arguments: argparse.Namespace, say: Any) -> dict[str, Any]:
    families = [family for family, names in FEATURES.items() for _ in names]
    listed: list[dict[str, Any]] = []
    for family, cls in ((f, cls) for f, module in zip(families, modules(), strict=True) for cls in steps_of(module)):
        name, shown = cls.feature(), [p for record in cls.records() for p in declared(record)]
        listed.append({"feature": name, "family": family, "help": cls.__doc__ or "", "params": shown})
        if not arguments.json:
            say(f"{name}: {cls.__doc__}")
            for p in shown:
                say(f"    {p.name} = {p.default!r}  {p.help}{f' [{p.unit}]' if p.unit else ''}")
    return {"ok": True, "features": [{**row, "params": [_described(p) for p in row["params"]]} for row in listed]}


def _described(p: Param) -> dict[str, Any]:
    out = {"name": p.name, "kind": p.kind, "default": p.default, "help": p.help, "unit": p.unit, "lo": p.lo, "hi": p.hi}
    return out | {"choices": [name for name, _ in p.choices], "ref": p.ref}


def _blend(text: str | None) -> Path | None:
    if text is None:
        return None
    path = Path(text).resolve()
    if path.suffix.lower() != ".blend" or not path.parent.is_dir():
        raise FormatError(SOURCE, 1, 1, f"--output {text}: must be a .blend file in a folder that is there")
    if bpy.data.filepath and os.path.realpath(bpy.data.filepath) == str(path):
        raise FormatError(SOURCE, 1, 1, f"--output {text}: is the open file itself; use --save to write over it")
    return path


def _summary(report: dict[str, Any]) -> str:
    results = [r for s in report["steps"] for r in s["results"]]
    keys, slid = sum(r["keys"] for r in results), [r["foot_slide_mm"] for r in results if "foot_slide_mm" in r]
    feet = f", feet slide at most {max(slid):.1f} mm" if slid else ""
    kept = f"; wrote {len(report['written'])} files" if report["written"] else "; nothing was asked to be written"
    return f"{len(report['steps'])} steps, {keys} keys{feet}{kept}"


def _speaker(quiet: bool) -> Any:
    def say(text: str) -> None:
        print(f"troupe: {text}", file=sys.stderr if quiet else sys.stdout, flush=True)

    return say


@contextmanager
def _quiet(wanted: bool) -> Iterator[None]:
    """Send what Blender itself prints to stderr, so that stdout has nothing but the JSON."""
    if not wanted:
        yield
        return
    _flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        # reports of operators go through Python, all else of Blender through the C library
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Empty Python's buffer and Blender's own, which is that of the C library."""
    sys.stdout.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
