"""Build the extension with Blender's own builder, add wheels, and check it with Blender's own validator."""

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from . import DIST, ROOT, Stop, clean_environ, say, wheels
from .envs import Environment, ensure

MANIFEST = "blender_manifest.toml"

# Blender's own list for add-ons; its builder checks tags only when it is given one.
_TAGS = (
    "3D View,Add Curve,Add Mesh,Animation,Bake,Camera,Compositing,Development,Game Engine,Geometry Nodes,Grease Pencil,"
    "Import-Export,Lighting,Material,Mesh,Modeling,Node,Object,Paint,Physics,Pipeline,Render,Rigging,Scene,Sculpt,"
    "Sequencer,System,Text Editor,Tracking,UV,User Interface"
)


@dataclass(frozen=True)
class Builder:
    """Blender's extension builder, a script that needs no Blender to run, and a Python for it that has pip."""

    python: Path
    script: Path

    def run(self, verb: str, *arguments: object) -> None:
        command = [str(part) for part in (self.python, self.script, verb, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environ())
        if done.returncode != 0:
            reason = (done.stdout + done.stderr).strip()
            raise Stop(f"Blender's extension builder refuses to {verb} the package: {reason}")


def build_zip(environment: Environment, platform: str | None = None) -> Path:
    """Write a zip to dist with the builder of the Blender in ``environment``, and return its path.

    Args:
        environment: A Blender environment, made if need be.
        platform: One of ``wheels.PLATFORMS``, or None for a small zip without SciPy, which installs everywhere at once
            and serves where SciPy is there already, as in the environments of tests and demos.

    Raises:
        Stop: The wheels can not be had, or the builder or the validator refuses the package.
    """
    python = ensure(environment)
    DIST.mkdir(exist_ok=True)
    target = make_zip(Builder(python, find_builder(environment)), DIST, platform)
    say(f"built {target.relative_to(ROOT)} ({target.stat().st_size / 1024:.0f} kB), valid")
    return target


def make_zip(builder: Builder, folder: Path, platform: str | None = None) -> Path:
    """Write a zip to ``folder``; see `build_zip`. Equal checkouts give equal zips, byte for byte."""
    added = wheels.collect(platform, builder.python) if platform else []
    manifest = tomllib.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))
    # Named as Blender's builder names the zips of platforms.
    suffix = platform.replace("-", "_") if platform else "without_scipy"
    target = folder / f"{manifest['id']}-{manifest['version']}-{suffix}.zip"
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        tags = scratch / "valid-tags.json"
        tags.write_text(json.dumps({"add-on": _TAGS.split(","), "theme": []}))
        plain, packed = scratch / "plain.zip", scratch / "packed.zip"
        builder.run("build", "--source-dir", ROOT, "--output-filepath", plain, "--valid-tags", tags)
        repack(plain, packed, platform, added)
        builder.run("validate", packed, "--valid-tags", tags)
        os.replace(packed, target)
    return target


def repack(plain: Path, packed: Path, platform: str | None, added: Sequence[Path]) -> None:
    """Copy a zip in alphabetical order and without times, adding wheels and naming them in the manifest."""
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(packed, "w", compresslevel=9) as target:
        for name in sorted(source.namelist()):
            data = source.read(name)
            if name == MANIFEST and platform:
                data = manifest_head(platform, [wheel.name for wheel in added]).encode() + data
            target.writestr(wheels.entry(name, zipfile.ZIP_DEFLATED), data)
        for wheel in added:
            info = wheels.entry(f"wheels/{wheel.name}")
            info.file_size = wheel.stat().st_size
            with wheel.open("rb") as read, target.open(info, "w") as write:
                shutil.copyfileobj(read, write)


def manifest_head(platform: str, names: Iterable[str]) -> str:
    """Return what goes in front of the manifest: keys outside any table have to come first."""
    listed = "".join(f'  "./wheels/{name}",\n' for name in names)
    return f'platforms = ["{platform}"]\nwheels = [\n{listed}]\n\n'


def covered(archive: Path) -> set[tuple[str, str]]:
    """Return the platforms and Pythons for which a zip names a SciPy wheel in its manifest and holds it."""
    with zipfile.ZipFile(archive) as file:
        manifest = tomllib.loads(file.read(MANIFEST).decode())
        held = {f"./{name}" for name in file.namelist()} & set(manifest.get("wheels", ()))
    pairs = product(manifest.get("platforms", ()), wheels.PYTHONS)
    return {pair for pair in pairs if f"./wheels/{wheels.scipy_name(*pair)}" in held}


def check_grid(archives: Iterable[Path]) -> None:
    """Raise Stop unless the zips together bring SciPy to every platform and Python."""
    missing = set(product(wheels.PLATFORMS, wheels.PYTHONS)).difference(*map(covered, archives))
    if missing:
        cells = ", ".join(f"{platform} with Python {version}" for platform, version in sorted(missing))
        raise Stop(f"No zip brings SciPy to {cells}.")


def find_builder(environment: Environment) -> Path:
    """Return the path of ``blender_ext.py`` inside the environment's bpy."""
    return next(environment.folder.glob("**/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
