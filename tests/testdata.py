"""Where the test data lies: rigs and motion made by others, no part of the project."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def folder() -> Path:
    """$TROUPE_TEST_DATA, or shared/data beside the checkout; it need not exist."""
    return Path(os.environ.get("TROUPE_TEST_DATA") or ROOT.parent / "shared" / "data")
