"""SciPy where it is used: never imported when the extension is enabled, and a sentence where it cannot be loaded."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import MissingDependency


@contextmanager
def needs_scipy() -> Iterator[None]:
    """Wrap the imports of SciPy inside the function that uses them.

        with needs_scipy():
            from scipy.ndimage import gaussian_filter1d

    Raises:
        MissingDependency: SciPy is absent or does not fit this Python or NumPy.
    """
    try:
        yield
    except Exception as error:
        # A SciPy built for another NumPy fails with AttributeError, ValueError and others, not only with ImportError.
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise MissingDependency(
            f"This needs SciPy, which cannot be loaded in Python {platform.python_version()} ({reason}). "
            "Install the Troupe zip of your platform, which brings SciPy; "
            "a Blender from a Linux distribution uses the distribution's own (Debian, Ubuntu: python3-scipy). "
            "Then restart Blender."
        ) from error
