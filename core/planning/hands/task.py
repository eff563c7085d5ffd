"""What a hand is asked to do, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ...params import Params, param
from ...performance import Performance
from ...skeleton import Array, Pose, Skeleton
from ...world import World
from ..spaces.penetration import Penetration
from ..spaces.solids import Shapes
from .grasp import ANY, Grasp
from .ledger import Ledger
from .stages import Holding

TASKS = (
    ("reach", "Bring the hand to it, ready to take hold"),
    ("touch", "Put the tip of a finger on it"),
    ("point", "Point at it"),
    ("pick_up", "Take hold of it and lift it"),
    ("move", "Take it to another place and come back"),
    ("put_back", "Put down what the hand holds and come back"),
    ("hand_over", "Take it to where somebody else can take it"),
    ("let_go", "Let go of what the hand holds, where it is, and come back"),
)
CARRYING = ("pick_up", "move", "hand_over")


@dataclass(frozen=True)
class ReachParams(Params):
    """What a hand does, to what, and how."""

    task: str = param("move", choices=TASKS, help="What the hand does")
    target: str = param("", ref="object", help="What it is done to")
    destination: str = param("", ref="object", help="Where it is taken")
    hand: str = param(
        "auto",
        choices=(
            ("auto", "The nearer one, or both for what is too large for one"),
            ("L", "The left one"),
            ("R", "The right one"),
            ("both", "Both, with the palms on two sides of it"),
        ),
        help="Which hand",
    )
    purpose: str = param(ANY, help="What it is taken for; grasps may be made for one purpose only")
    speed: float = param(1.0, lo=0.1, hi=4.0, help="How fast arms move; 1 is unhurried")
    favoured: str = param("R", choices=(("L", "Left"), ("R", "Right")), basic=False, help="Hand that goes when both do")
    come_back: bool = param(True, basic=False, help="Bring the arm back to where it was")
    lift: float = param(
        0.06, lo=0.0, hi=1.0, unit="m", basic=False, help="How high a prop is lifted before it is moved"
    )
    hold: float = param(0.3, lo=0.0, hi=60.0, unit="s", basic=False, help="Time the hand stays when it has arrived")
    lean: bool = param(True, basic=False, help="Lean the trunk when the arm is too short")
    step: bool = param(True, basic=False, help="Step closer when leaning is not enough")
    gaze: float = param(
        0.8, lo=0.0, hi=1.0, basic=False, help="How far the head turns to what the hand does; 0 for not"
    )
    standoff: bool = param(True, basic=False, help="Stop short of the prop and go the rest straight")
    tries: int = param(6, lo=1, hi=100, basic=False, help="Grasps tried with one hand")
    budget: int = param(1500, lo=1, hi=1_000_000, basic=False, help="Rounds of a search for a way")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")


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
    """

    performance: Performance
    ledger: Ledger
    side: str
    grasp: Grasp
    holding: Holding | None
    offences: tuple[Penetration, ...]
    pose: Pose
    other: Holding | None = None
