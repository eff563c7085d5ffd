"""The core works where there is no Blender: it imports numpy and scipy, and nothing else from outside."""

import importlib.util
import pkgutil
import subprocess
import sys

import pytest
import troupe.core

ASKED = """
import importlib, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("bpy", "mathutils", "gpu", "bmesh", "bpy_extras", "gpu_extras", "blf"):
            raise ImportError(f"the core asks for {name}")
sys.meta_path.insert(0, Refuse())
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
new = [n for n in set(sys.modules) - before if getattr(sys.modules[n], "__file__", None)]
print(*sorted({n.partition(".")[0] for n in new}))
"""


@pytest.mark.req("kuffner", 7)
def test_every_module_of_the_core_is_imported_without_blender():
    """That the tests beside this one pass there is shown by this very run: its environment has no Blender."""
    assert importlib.util.find_spec("bpy") is None
    names = [m.name for m in pkgutil.walk_packages(troupe.core.__path__, "troupe.core.")]
    assert len(names) > 150 and not any(n.startswith("troupe.addon") for n in names)
    asked = subprocess.run([sys.executable, "-c", ASKED, *names], capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr[-400:]
    outside = {n for n in asked.stdout.split() if n not in sys.stdlib_module_names}
    assert {"troupe", "numpy"} <= outside <= {"troupe", "numpy", "scipy"}
