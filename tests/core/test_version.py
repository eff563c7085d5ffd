"""The version is the same everywhere it is told."""

import tomllib

import testdata
from troupe.core import VERSION


def test_core_manifest_and_project_tell_one_version():
    for name, keys in (("blender_manifest.toml", ("version",)), ("pyproject.toml", ("project", "version"))):
        data = tomllib.loads((testdata.ROOT / name).read_text(encoding="utf-8"))
        for key in keys:
            data = data[key]
        assert data == VERSION, name
