"""Recorded motion as actions, beside the tables and blended with them.

Perlin, Goldberg (1996). A cycle is read at the phase of the master clock, which keeps several walks in step; any other
clip is read by the time since it was selected, and ends by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import InvalidParam
from ...motion import Motion
from ...skeleton import Array
from ..body.fitting import fit
from .actions import ROTATIONS, Action, Channel, Clip, CompiledAction, DofKey, Memories, Settings
from .puppet import JOINTS
from .signals import Moments

_TURN = 2.0 * np.pi


def clip_action(
    name: str,
    values: Mapping[DofKey, Array],
    fps: float,
    loop: bool = True,
    start: int = 0,
    end: int | None = None,
    phase_zero: int | None = None,
    fade: float = 0.8,
    spherical: bool = True,
) -> Action:
    """An action of recorded channels.

    Args:
        name: Of the action.
        values: Samples (N,) of each channel: degrees for angles, unwrapped.
        fps: Samples a second.
        loop: A cycle, read by phase; else it plays once.
        start, end: First sample, and the one after the last; the cycle begins again at `end`.
        phase_zero: Sample at which the master clock is at zero, for instance the right foot rearmost; `start` if None.
        fade: Time to come and to go [s].
        spherical: Blend its joints as rotations.
    """
    tracks = np.stack([np.asarray(v, dtype=np.float64) for v in values.values()], axis=1)
    stop = len(tracks) if end is None else end
    if not 0 <= start < stop <= len(tracks) or stop - start < 2 or not fps > 0:
        raise InvalidParam("start, end", (start, stop), f"must lie within the {len(tracks)} samples of {name}")
    kept = tracks[start:stop]
    if loop and phase_zero is not None:
        kept = np.roll(kept, start - phase_zero, axis=0)
    length = len(kept) if loop else len(kept) - 1
    return Action(
        name,
        {key: Channel(float(kept[0, n]), float(kept[0, n])) for n, key in enumerate(values)},
        fade_in=fade,
        fade_out=fade,
        tempo=fps / length if loop else None,
        seconds=None if loop else length / fps,
        source=Clip(kept, fps, loop),
        spherical=spherical,
    )


def action_of_motion(name: str, motion: Motion, **settings: int | float | bool | None) -> Action:
    """An action of the whole body of a motion; see `clip_action` for the settings. Its travel is left to the feet."""
    angles, _ = fit(motion.skeleton).angles(motion.rotations)
    degrees = np.degrees(angles.reshape(len(motion), -1))
    values = {key: degrees[:, n] for n, key in enumerate(ROTATIONS) if key[0] in JOINTS}
    return clip_action(name, values, motion.fps, **{"loop": motion.loop, **settings})  # type: ignore[arg-type]


def compile_clip(action: Action, index: Mapping[DofKey, int], clip: Clip) -> CompiledAction:
    """A clip as an action that reads its samples, between them along a straight line."""
    dofs = np.array([index[key] for key in action.channels], dtype=np.int64)
    count = len(clip.samples)

    def read(moments: Moments, settings: Settings, memories: Memories) -> Array:
        if clip.loop:
            at = np.mod(moments.phase / _TURN, 1.0) * count
            low = np.floor(at).astype(np.int64) % count
            high = (low + 1) % count
        else:
            at = np.clip(moments.age * clip.fps, 0.0, count - 1.0)
            low = np.floor(at).astype(np.int64)
            high = np.minimum(low + 1, count - 1)
        part = (at - np.floor(at))[:, None]
        out: Array = clip.samples[low] * (1.0 - part) + clip.samples[high] * part
        return out

    return CompiledAction(action, dofs, lambda style: (), read, not clip.loop, True)
