"""What a hand is asked to do, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ...motion import Motion
from ...performance import Performance
from ...skeleton import Array, Pose, Skeleton
from ...world import World
from ..spaces.penetration import Penetration
from ..spaces.solids import Shapes
from .grasp import Grasp
from .ledger import Ledger
from .orders import ReachParams
from .stages import Holding


@dataclass(frozen=True, eq=False)
class Job:
    """Everything a task is given.

    Attributes:
        skeleton, pose: The actor as it is.
        world, time: What is around, at which moment [s].
        params: The task.
        fps: Samples a second of the result [Hz].
        actor: Its name.
        destination: (4, 4) where the prop is to be; None for none.
        grasps: By name of the prop, made by hand; others follow from its shape.
        holding: What the hand holds at the beginning.
        other: What the other hand holds of the same prop, where both hold it.
        seen: Names of what the actor sees; None for everything.
        moved: (4, 4) of bodies that are elsewhere than the world says.
        shapes: What is known of meshes; shared by tasks in one scene.
        should_stop: Asked by every search.
    """

    skeleton: Skeleton
    pose: Pose
    world: World
    params: ReachParams
    fps: float = 24.0
    actor: str = "actor"
    time: float = 0.0
    destination: Array | None = None
    grasps: Mapping[str, Sequence[Grasp]] | None = None
    holding: Holding | None = None
    other: Holding | None = None
    seen: Collection[str] | None = None
    moved: Mapping[str, Array] | None = None
    shapes: Shapes | None = None
    should_stop: Callable[[], bool] | None = None


@dataclass(frozen=True, eq=False)
class Reached:
    """What came of a task.

    Attributes:
        performance: Motion, props, attachments, events and the record of all tries.
        ledger: What it took.
        side: The hand that did it, or "both".
        grasp: How it took hold, touched or pointed.
        holding: What it holds at the end.
        offences: Where the motion is in something after all.
        pose: At the end.
        other: What the other hand holds of it, where both do.
        idle: The same motion with arms that hang while they do it, where the whole body moves and they hold something
            in the end; None otherwise.
    """

    performance: Performance
    ledger: Ledger
    side: str
    grasp: Grasp
    holding: Holding | None
    offences: tuple[Penetration, ...]
    pose: Pose
    other: Holding | None = None
    idle: Motion | None = None
