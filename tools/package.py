"""Build the extension with Blender's own builder and check it with Blender's own validator."""

import json
import subprocess
import tomllib
from pathlib import Path

from . import DIST, ROOT, Stop, clean_environ, say
from .envs import Environment, ensure

# Blender's own list for add-ons; its builder checks tags only when it is given one.
_TAGS = (
    "3D View,Add Curve,Add Mesh,Animation,Bake,Camera,Compositing,Development,Game Engine,Geometry Nodes,Grease Pencil,"
    "Import-Export,Lighting,Material,Mesh,Modeling,Node,Object,Paint,Physics,Pipeline,Render,Rigging,Scene,Sculpt,"
    "Sequencer,System,Text Editor,Tracking,UV,User Interface"
)


def manifest() -> dict[str, object]:
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def build_zip(environment: Environment) -> Path:
    """Write dist/troupe-VERSION.zip with the builder of the Blender in ``environment``, and return its path.

    Raises:
        Stop: The builder or the validator refuses the package.
    """
    python = ensure(environment)
    builder = find_builder(environment)
    target = DIST / f"{manifest()['id']}-{manifest()['version']}.zip"
    DIST.mkdir(exist_ok=True)
    tags = DIST / "valid-tags.json"
    tags.write_text(json.dumps({"add-on": _TAGS.split(","), "theme": []}))
    for verb, *arguments in (
        ("build", "--source-dir", ROOT, "--output-filepath", target, "--valid-tags", tags),
        ("validate", target, "--valid-tags", tags),
    ):
        command = [str(part) for part in (python, builder, verb, *arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environ())
        if done.returncode != 0:
            reason = (done.stdout + done.stderr).strip()
            raise Stop(f"Blender's extension builder refuses to {verb} the package: {reason}")
    tags.unlink()
    say(f"built {target.relative_to(ROOT)} ({target.stat().st_size / 1024:.0f} kB), valid")
    return target


def find_builder(environment: Environment) -> Path:
    """Return the path of ``blender_ext.py`` inside the environment's bpy."""
    return next(environment.folder.glob("**/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
