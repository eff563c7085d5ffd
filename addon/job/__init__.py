"""Job files and the `troupe` command line, on the same operators as the buttons; parsing lives in `core.job`."""

from __future__ import annotations

from typing import Any

import bpy

_handles: list[Any] = []


def main(argv: list[str]) -> int:
    """Run a command line such as ["run", "job.toml"] and return its exit code."""
    from . import command

    return command.main(argv)


def register() -> None:
    """Let `blender --command troupe ...` find us."""
    _handles.append(bpy.utils.register_cli_command("troupe", main))


def unregister() -> None:
    """Undo `register`."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
