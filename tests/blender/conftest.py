"""Tests inside a real Blender: the built zip is installed through the extension system and imported as ``troupe``."""

import extension
import pytest

extension.install()

import bpy  # noqa: E402  (after the settings folder is set)


@pytest.fixture(autouse=True)
def empty_file() -> None:
    """Start each test with an empty file; the extension stays enabled."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def pytest_unconfigure() -> None:
    extension.remove()
