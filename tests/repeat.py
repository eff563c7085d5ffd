"""What counts as the same result computed again: the same bits."""

import numpy as np


def repeats(a, b):
    """Two motions are one."""
    np.testing.assert_array_equal(a.rotations, b.rotations)
    np.testing.assert_array_equal(a.roots, b.roots)


def elsewhere(make, times=6):
    """What `make()` gives several times, its arrays lying in memory otherwise each time."""
    rng, kept = np.random.default_rng(0), []
    for _ in range(times):
        for size in rng.integers(1, 3000, 40):
            kept.append(np.empty(size))
            if rng.random() < 0.5:
                kept.pop(int(rng.integers(len(kept))))
        yield make()
