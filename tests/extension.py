"""Install the built zip in the running Blender and let tests import it as ``troupe``."""

import importlib
import importlib.abc
import importlib.machinery
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

INSTALLED = "bl_ext.user_default.troupe"

_ROOT = Path(__file__).resolve().parent.parent
_settings = tempfile.TemporaryDirectory(prefix="troupe-blender-", ignore_cleanup_errors=True)


def install() -> None:
    """Install and enable the extension once, in a throw-away folder of user settings.

    The zip is $TROUPE_ZIP, or built from the checkout by this Blender's own builder.
    """
    if any(isinstance(finder, _Alias) for finder in sys.meta_path):
        return
    folder = _settings.name
    os.environ["BLENDER_USER_RESOURCES"] = folder
    import bpy

    package = os.environ.get("TROUPE_ZIP") or _build(Path(bpy.utils.system_resource("SCRIPTS")), Path(folder))
    bpy.ops.extensions.package_install_files(filepath=str(package), repo="user_default", enable_on_install=True)
    import addon_utils  # on the path once bpy is imported

    # A zip that Blender refuses still returns {'FINISHED'}.
    if addon_utils.check(INSTALLED) != (True, True):
        raise RuntimeError(f"Blender {bpy.app.version_string} did not enable {package}; its output says why")
    sys.meta_path.insert(0, _Alias())


def remove() -> None:
    """Delete the folder of settings; called by hand because nothing runs at exit when bpy is loaded."""
    _settings.cleanup()


def _build(scripts: Path, folder: Path) -> Path:
    package = folder / "troupe.zip"
    builder = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    command = [sys.executable, builder, "build", "--source-dir", _ROOT, "--output-filepath", package]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return package


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes ``troupe.x`` the very module ``bl_ext.user_default.troupe.x``, so that there is one copy of everything."""

    def __init__(self) -> None:
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "troupe":
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(INSTALLED + spec.name.removeprefix("troupe"))
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has given the module the alias's spec, with which its relative imports would go astray.
        name = module.__name__.replace(INSTALLED, "troupe", 1)
        module.__spec__ = self._specs.pop(name)
