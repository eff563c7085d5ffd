"""Reference pages in docs/reference, written from what the program declares: parameters, operators, presets.

Started by build.py in a Blender environment as ``python -m tools.docs ZIP FOLDER``. A page is a function of the
registered extension alone, so that the same page comes out of every Blender.
"""

import importlib
import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from . import private_blender
from .demo import install, say

NOTE = "*Written by `python3 build.py docs` from the program itself; change the words there.*"

# Blender's own limits: a property that has them has no range.
_UNLIMITED = 2.0**31 - 1


def pages(addon: ModuleType) -> dict[str, str]:
    """Return the pages of an enabled extension: file name to text."""
    features = importlib.import_module(f"{addon.__name__}.features")
    modules = {module.Operator.feature(): module for module in features.modules()}
    owned = {name: _own_operators(module) for name, module in modules.items()}
    main = {module.Operator.bl_idname for module in modules.values()}
    taken = main.union(*owned.values())
    others = sorted(set(operators()) - taken)
    made = {f"{name}.md": _feature_page(addon, name, module, owned[name]) for name, module in modules.items()}
    if others:
        made["operators.md"] = _others_page(others)
    made["README.md"] = _index(addon, modules, others)
    return made


def operators() -> list[str]:
    """Return the identifiers of all operators of Troupe."""
    import bpy

    return sorted(f"troupe.{name}" for name in dir(bpy.ops.troupe))


def _own_operators(module: ModuleType) -> list[str]:
    """Return the identifiers of the operators that a feature has beside its main one."""
    return [cls.bl_idname for cls in getattr(module, "CLASSES", ()) if hasattr(cls, "bl_idname")]


def _rna(idname: str) -> Any:
    import bpy

    return getattr(bpy.ops.troupe, idname.removeprefix("troupe.")).get_rna_type()


def _class(idname: str) -> type:
    import bpy

    found: type = getattr(bpy.types, _rna(idname).identifier)
    return found


def _feature_page(addon: ModuleType, name: str, module: ModuleType, owned: Sequence[str]) -> str:
    operator = module.Operator
    rna = _rna(operator.bl_idname)
    family = next(family for family, names in addon.FEATURES.items() if name in names)
    settings = f"{'Scene' if operator.owner == 'scene' else 'Object'}.troupe.{name}"
    params, *more = operator.records()
    lines = [f"# {rna.name}", "", NOTE, "", f"{_sentence(rna.description)} [Guide](../{name}.md)", ""]
    lines += [f"Feature `{name}` of the family *{family}*; the sidebar's settings are in `{settings}`.", ""]
    lines += ["## Parameters", "", *_parameters(_declared(params))]
    for record in more:
        lines += [f"## {record.__name__.removesuffix('Params')}", "", _sentence(record.__doc__ or ""), ""]
        lines += _parameters(_declared(record))
    lines += _presets(addon, name, params)
    lines += _calls(operator, name)
    if owned:
        lines += ["## More operators", ""]
        for idname in owned:
            lines += _operator(idname)
    return _text(lines)


def _others_page(idnames: Iterable[str]) -> str:
    """Return the page of the operators that belong to no feature, by the module they are in."""
    lines = ["# Other operators", "", NOTE, "", "Operators that belong to no single feature.", ""]
    modules: dict[str, list[str]] = {}
    for idname in idnames:
        modules.setdefault(_class(idname).__module__.rpartition(".")[2], []).append(idname)
    for module in sorted(modules):
        lines += [f"## {module.replace('_', ' ').capitalize()}", ""]
        for idname in modules[module]:
            lines += _operator(idname)
    return _text(lines)


def _index(addon: ModuleType, modules: Mapping[str, ModuleType], others: Sequence[str]) -> str:
    lines = ["# Reference", "", NOTE, "", "Every feature with its parameters, ranges and choices, by family.", ""]
    for family, names in addon.FEATURES.items():
        rows = []
        for name in names:
            rna = _rna(modules[name].Operator.bl_idname)
            rows.append((f"[{rna.name}]({name}.md)", f"`{name}`", _sentence(rna.description)))
        lines += [f"## {family}", "", *_table(("Feature", "Name", "What it does"), rows), ""]
    if others:
        found = [(idname, _rna(idname)) for idname in others]
        rows = [(f"[{rna.name}](operators.md)", f"`{idname}`", _sentence(rna.description)) for idname, rna in found]
        lines += ["## Other operators", "", *_table(("Operator", "Name", "What it does"), rows), ""]
    return _text(lines)


def _operator(idname: str) -> list[str]:
    """Return the section of one operator beside the features' own."""
    rna, cls = _rna(idname), _class(idname)
    if hasattr(cls, "records"):
        shown = [pair for record in cls.records() for pair in _declared(record)]
    else:
        shown = [(p.name, _param_of(cls, p)) for p in rna.properties if p.identifier != "rna_type" and not p.is_hidden]
    call = _code("python", _call(idname, [p for _, p in shown]))
    lines = [f"### {rna.name}", "", _sentence(rna.description), "", *call]
    return lines + (_parameters(shown) if shown else [])


# ---- parameters


def _declared(record: Any) -> list[tuple[str, Any]]:
    """Return (label, Param) of every parameter of a record."""
    core = record.__module__.partition(".core.")[0] + ".core"
    return [(p.label, p) for p in importlib.import_module(f"{core}.params").declared(record)]


def _param_of(cls: type, p: Any) -> Any:
    """Return the Param that says the same as a property of an operator."""
    root = cls.__module__.partition(".addon.")[0]
    param = importlib.import_module(f"{root}.core.params").Param
    kind = {"STRING": "text", "BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "ENUM": "choice"}[p.type]
    choices = tuple((item.identifier, item.description) for item in p.enum_items) if p.type == "ENUM" else ()
    default, limits, unit = p.default, {}, ""
    if p.type in ("INT", "FLOAT"):
        limits = {"lo": _limit(p.hard_min), "hi": _limit(p.hard_max)}
        unit = "rad" if p.subtype == "ANGLE" else ""
        # Blender keeps single precision, in which 0.4 would come back as 0.4000000059604645.
        default = float(f"{default:.6g}") if p.type == "FLOAT" else default
    path = "file" if p.subtype == "FILE_PATH" else ""
    kind = "ref" if path else kind
    return param(p.identifier, kind, default, p.description, choices=choices, unit=unit, ref=path, **limits)


def _limit(value: float) -> float | None:
    return None if abs(value) >= _UNLIMITED else float(f"{value:.6g}")


def _parameters(shown: Sequence[tuple[str, Any]]) -> list[str]:
    """Return the table of parameters, and below it the choices of those that have them."""
    columns = ("Parameter", "Name", "Kind", "Default", "Range", "Shown", "What it is")
    rows = [
        (label, f"`{p.name}`", _kind(p), _default(p), _range(p), _shown(p), _sentence(p.help)) for label, p in shown
    ]
    lines = [*_table(columns, rows), ""]
    for label, p in shown:
        if p.choices:
            lines += [f"{label} (`{p.name}`):", ""]
            lines += [f"- `{name}`: {_sentence(text)}" if text else f"- `{name}`" for name, text in p.choices]
            lines.append("")
    return lines


def _shown(p: Any) -> str:
    return "basic" if p.basic else "advanced"


def _kind(p: Any) -> str:
    names = {"bool": "yes or no", "int": "whole number", "float": "number", "vector": f"{p.size} numbers"}
    files = {"file": "file", "output": "file to write"}
    names |= {"table": f"rows of {', '.join(p.columns)}", "ref": files.get(p.ref) or f"name of {_a(p.ref)}"}
    return f"{names.get(p.kind, p.kind)}{', keyable' if p.keyable else ''}"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"


def _default(p: Any) -> str:
    if p.kind in ("text", "ref"):
        return f"`{p.default}`" if p.default else "empty"
    if p.kind in ("float", "int"):
        return _number(p.default, p.unit)
    return f"`{json.dumps(p.default) if p.kind != 'choice' else p.default}`"


def _range(p: Any) -> str:
    if p.choices:
        return ", ".join(f"`{name}`" for name, _ in p.choices)
    if p.lo is not None and p.hi is not None:
        low = _number(p.lo, "")
        if p.unit.startswith("rad"):
            return f"{low} to {_number(p.hi, '')} {p.unit} ({_degrees(p.lo)} to {_degrees(p.hi)} deg on screen)"
        return f"{low} to {_number(p.hi, p.unit)}"
    if p.lo is not None:
        return f"at least {_number(p.lo, p.unit)}"
    return f"at most {_number(p.hi, p.unit)}" if p.hi is not None else ""


def _number(value: float, unit: str) -> str:
    text = f"{value:.6g}{f' {unit}' if unit else ''}"
    return f"{text} ({_degrees(value)} deg on screen)" if unit.startswith("rad") else text


def _degrees(value: float) -> str:
    return f"{math.degrees(value):.4g}"


# ---- presets and calls


def _presets(addon: ModuleType, name: str, params: Any) -> list[str]:
    core = importlib.import_module(f"{addon.__name__.rpartition('.')[0]}.core.presets")
    rows = [
        (preset.name, ", ".join(f"`{key}` {json.dumps(value)}" for key, value in preset.values.items()))
        for preset in core.shipped(name, params)
    ]
    return ["## Shipped presets", "", *_table(("Preset", "Sets"), rows), ""] if rows else []


def _calls(operator: Any, name: str) -> list[str]:
    """Return how to do the same from Python, a job and the command line, each with the basic parameters' defaults."""
    basic = [p for record in operator.records() for _, p in _declared(record) if p.basic]
    actor = operator.owner != "scene"
    step = {**({"actor": "Actor"} if actor else {}), "feature": name, "start": 1, **{p.name: p.default for p in basic}}
    toml = [f"{key} = {json.dumps(value)}" for key, value in step.items()]
    words = [*(["--actor Actor"] if actor else []), "--start 1", *map(_flag, basic), "--output done.blend"]
    return [
        "## From Python",
        "",
        "What is left out has its default. A failure raises `RuntimeError` with the reason. As with every operator, a",
        'call from a script makes an undo step only as `("EXEC_DEFAULT", True, ...)`.',
        "",
        *_code("python", _call(operator.bl_idname, basic)),
        "## From a job or the command line",
        "",
        "Angles are in radians, as in Python. Without `--output` or `--save` the command line writes nothing.",
        "",
        *_code("toml", "\n".join(["[[step]]", *toml])),
        *_code("sh", f"blender --background scene.blend --command troupe {name} {' '.join(words)}"),
    ]


def _call(idname: str, params: Sequence[Any]) -> str:
    words = [f"{p.name}={_python(p)}" for p in params]
    head, line = f"bpy.ops.{idname}(", ", ".join(words)
    if len(head) + len(line) < 100:
        return f"{head}{line})"
    return "\n".join([head, *(f"    {word}," for word in words), ")"])


def _python(p: Any) -> str:
    """Return a default as the operator takes it; a table is text there."""
    value = json.dumps(p.default) if p.kind == "table" else p.default
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _flag(p: Any) -> str:
    flag = f"--{p.name.replace('_', '-')}"
    if p.kind == "bool":
        return flag if p.default else flag.replace("--", "--no-", 1)
    if p.kind == "vector":
        return " ".join([flag, *(f"{x:.6g}" for x in p.default)])
    return f"{flag} {shlex.quote(p.default if isinstance(p.default, str) else json.dumps(p.default))}"


# ---- Markdown


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def _sentence(text: str) -> str:
    """Return the first paragraph on one line, with a full stop."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line if not line or line[-1] in ".!?" else f"{line}."


def _code(language: str, text: str) -> list[str]:
    return [f"```{language}", text, "```", ""]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *cells)]


# ---- writing


def write(folder: Path, made: Mapping[str, str]) -> list[str]:
    """Write the pages, delete those that are not among them, and return the names of what changed."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    changed = sorted(name for name in {*made, *there} if made.get(name) != there.get(name))
    for name in changed:
        if name in made:
            (folder / name).write_text(made[name], encoding="utf-8", newline="\n")
        else:
            (folder / name).unlink()
    return changed


def main(arguments: list[str]) -> int:
    archive, folder = map(Path, arguments)
    made = pages(install(archive))
    changed = write(folder, made)
    say(f"{len(made)} pages in {folder}, changed: {', '.join(changed) or 'none'}")
    return 0


if __name__ == "__main__":
    private_blender.run(main)
