"""The plots of a job's report: curves and spectra of joints, before and after each edit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import FormatError
from ...core.filters.spectrum import SpectrumParams, joint_of
from ...core.job import MOST, Job, Step
from .. import plot, rig
from ..features import all_steps
from ..features.edit import EditOperator
from ..features.spectrum import charts, look_steps
from ..steps import finish
from . import cast_list


def wanted(job: Job, step: Step) -> bool:
    """Whether a step gets plots: the job asks for some, and it is an edit."""
    return bool(job.output.plots) and issubclass(all_steps()[step.feature], EditOperator)


def check(job: Job) -> None:
    """Refuse joints that an actor of an edit does not have, before anything runs."""
    for name in dict.fromkeys(name for step in job.steps if wanted(job, step) for name in step.actors):
        skeleton = rig.read(cast_list.find(name), bpy.context).skeleton
        for joint in job.output.plots:
            if joint != MOST and not skeleton.has(joint) and joint not in skeleton.names:
                known = ", ".join(skeleton.roles)
                raise FormatError(
                    job.source, *job.output.plots_at, f"plots: {name} has no joint {joint!r}; its roles are {known}"
                )


def plots(job: Job, step: Step, actors: Sequence[Any]) -> dict[Path, bytes]:
    """The pictures of a step that was done, as PNG files by their names."""
    out = {}
    for name, actor in zip(step.actors, actors, strict=True):
        seen = finish(look_steps(bpy.context, actor))
        for joint in job.output.plots:
            one = seen._replace(joint=joint_of(seen.after, "" if joint == MOST else joint))
            page = plot.picture(charts(one, SpectrumParams()))
            out[job.output.plot(step.number, name, joint)] = plot.to_png(page)
    return out
