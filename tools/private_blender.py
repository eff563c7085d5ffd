"""The life of a script inside Blender: settings of its own that are thrown away, and an honest exit code."""

import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[list[str]], int]) -> NoReturn:
    """Call ``main`` with the script's arguments and leave with what it returns, 1 where it raises."""
    settings = tempfile.mkdtemp(prefix="troupe-blender-")
    os.environ["BLENDER_USER_RESOURCES"] = settings
    status = 1
    try:
        status = main(sys.argv[1:])
    except Exception:
        traceback.print_exc()
    finally:
        shutil.rmtree(settings, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # Some versions of bpy crash or hang in their exit handlers.
    os._exit(status)
