"""What hands can be told to do; apart from how it is done, so that it is known without loading all that."""

from __future__ import annotations

from dataclasses import dataclass

from ...params import Params, param

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
    target: str = param("", ref="object", help="What it is done to; empty for what the hand holds")
    destination: str = param(
        "",
        ref="object",
        help="Where it is taken: an empty, what it is stood on, or who takes it",
        only=("task", "move", "put_back", "hand_over"),
    )
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
    purpose: str = param("any", help="What it is taken for; grasps may be made for one purpose only")
    speed: float = param(1.0, lo=0.1, hi=4.0, help="How fast arms move; 1 is unhurried")
    favoured: str = param("R", choices=(("L", "Left"), ("R", "Right")), basic=False, help="Hand that goes when both do")
    come_back: bool = param(True, basic=False, help="Bring the arm back to where it was")
    lift: float = param(
        0.06,
        lo=0.0,
        hi=1.0,
        unit="m",
        basic=False,
        help="How high a prop is lifted before it is moved",
        only=("task", "pick_up", "move", "put_back", "hand_over"),
    )
    hold: float = param(0.3, lo=0.0, hi=60.0, unit="s", basic=False, help="Time the hand stays when it has arrived")
    lean: bool = param(True, basic=False, help="Lean the trunk when the arm is too short")
    crouch: bool = param(True, basic=False, help="Bend the knees for what is low when leaning is not enough")
    step: bool = param(True, basic=False, help="Step closer when that is not enough either")
    gaze: float = param(
        0.8, lo=0.0, hi=1.0, basic=False, help="How far the head turns to what the hand does; 0 for not"
    )
    trunk: float = param(
        0.7, lo=0.0, hi=1.0, basic=False, help="How far the trunk goes along with a hand that needs no lean; 0 for not"
    )
    standoff: bool = param(True, basic=False, help="Stop short of the prop and go the rest straight")
    sighted: bool = param(False, basic=False, help="Deal only with what it sees from where it stands")
    search: bool = param(False, basic=False, help="Look for what it does not see, on foot, and then deal with it")
    faithful: bool = param(
        False,
        basic=False,
        help="As published in 1999: natural postures only, one sample at a time, plain short-cuts, no stop before it",
    )
    tries: int = param(6, lo=1, hi=100, basic=False, help="Grasps tried with one hand")
    budget: int = param(1500, lo=1, hi=1_000_000, basic=False, help="Rounds of a search for a way")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")


@dataclass(frozen=True)
class CarryParams(Params):
    """How something is carried."""

    posture: str = param(
        "front",
        choices=(
            ("front", "Before the belly, the elbow bent"),
            ("chest", "At the chest"),
            ("side", "Hanging at the side"),
            ("high", "At the shoulder, as a waiter carries a tray"),
            ("kept", "Where it is held at the beginning"),
        ),
        help="Where it is held",
    )
    level: float = param(1.0, lo=0.0, hi=1.0, help="How upright it is kept; 0 lets it tilt with the trunk")
    steady: float = param(0.8, lo=0.0, hi=1.0, help="How much of the bobbing and swaying of the body is taken from it")
    swing: float = param(0.0, lo=0.0, hi=1.0, help="How much of its own swing the arm keeps")
    raised: float = param(0.0, lo=-0.5, hi=0.5, unit="m", help="Higher or lower than the posture has it")
    ahead: float = param(
        0.0, lo=-0.3, hi=0.5, unit="m", help="Further from the body, or nearer, than the posture has it"
    )
    taking: float = param(0.7, lo=0.0, hi=10.0, unit="s", basic=False, help="Time in which the posture is taken")
    lower: float = param(
        0.0, lo=0.0, hi=10.0, unit="s", basic=False, help="Time at the end in which the arm goes back to its own motion"
    )
    upright: str = param(
        "z",
        choices=(("z", "Its own Z axis"), ("now", "What is up at the beginning")),
        basic=False,
        help="What of it points up",
    )


MODES = (
    ("near", "All that is near, seen or not"),
    ("see", "Only what was seen"),
    ("look", "Look about at every stop, and take what was seen"),
)


@dataclass(frozen=True)
class ChoreParams(Params):
    """What belongs elsewhere, where it goes, and how somebody sees to that."""

    litter: str = param("", ref="thing", help="What is put away: a collection, one object, or a sort of things")
    away: str = param("", ref="thing", help="Where it goes: empties, or things that it is stood on")
    mode: str = param("near", choices=MODES, help="What litter is taken")
    near: float = param(6.0, lo=0.2, hi=100.0, unit="m", help="From how far away it goes to what it takes")
    speed: float = param(1.3, lo=0.2, hi=3.0, unit="m/s", help="How fast it walks")
    hurry: float = param(1.0, lo=0.1, hi=4.0, basic=False, help="How fast arms move; 1 is unhurried")
    gaze: float = param(
        0.8, lo=0.0, hi=1.0, basic=False, help="How far the head turns to what the hand does; 0 for not"
    )
    radius: float = param(0.25, lo=0.05, hi=3.0, unit="m", basic=False, help="Radius of the body, for walls and things")
    climb: float = param(0.35, lo=0.0, hi=10.0, unit="m", basic=False, help="Highest step that is taken")
    scene: str = param(
        "", ref="collection", basic=False, help="What is walked on and around; empty for all that is shown"
    )
    budget: int = param(1500, lo=1, hi=1_000_000, basic=False, help="Rounds of a search for a way of a hand")
    seed: int = param(0, lo=0, hi=2**31 - 1, basic=False, help="Number from which everything random follows")


@dataclass(frozen=True)
class TidyParams(ChoreParams):
    """How somebody tidies up."""

    route: str = param("", ref="collection", help="Empties to pass, in the order of their names; empty for none")


@dataclass(frozen=True)
class TablesParams(Params):
    """What somebody who waits at tables attends to."""

    tables: str = param("", ref="thing", help="What is attended to, one after the other: a collection, or one object")


@dataclass(frozen=True)
class ServeParams(ChoreParams, TablesParams):
    """How somebody waits at tables; these come first."""

    mode: str = param("see", choices=MODES, help="What litter is taken on the way")
    attend: float = param(1.0, lo=0.0, hi=60.0, unit="s", basic=False, help="How long each is attended to")


SHAPES = (
    ("cylindrical", "Around something round, the thumb against the fingers"),
    ("power", "The whole hand around it"),
    ("spherical", "The fingers spread around a ball"),
    ("precision", "With the tips of all fingers"),
    ("pinch", "Between thumb and index finger"),
    ("picking", "From above with the finger tips, as small things are picked up"),
    ("spanning", "From above with the hand spread, across something broad and low"),
    ("lateral", "Between the thumb and the side of the index finger"),
    ("hook", "Hanging in the bent fingers"),
    ("flat", "On the flat hand"),
    ("press", "Pressed between both flat hands"),
    ("index", "At the tip of the index finger"),
)
"""Shapes of a hand: those of `kinematics.fingers`."""


@dataclass(frozen=True)
class GraspParams(Params):
    """How a prop is taken."""

    prop: str = param("", ref="object", help="What is taken; empty for the selected mesh beside the actor")
    source: str = param(
        "hand",
        choices=(
            ("hand", "As the hand of the actor is on it now"),
            ("form", "As its form allows: all good ways to take it"),
        ),
        help="Where the grasp comes from",
    )
    hand: str = param(
        "R",
        choices=(("L", "The left one"), ("R", "The right one"), ("any", "Either; the way is the same for both")),
        help="Which hand takes it so",
    )
    shape: str = param(
        "cylindrical", choices=SHAPES, help="Shape of the hand before it closes", only=("source", "hand")
    )
    purpose: str = param("any", help="What it is taken so for; Reach asks for a purpose by its name")
    distance: float = param(
        0.08, lo=0.0, hi=1.0, unit="m", basic=False, help="How far the hand goes straight to it at last"
    )
    quality: float = param(1.0, lo=0.0, hi=1.0, basic=False, help="Better ones are tried first")


@dataclass(frozen=True)
class RemoveGraspParams(Params):
    """Which grasp of a prop is taken away."""

    prop: str = param("", ref="object", help="Object whose grasp goes")
    index: int = param(-1, lo=-1, help="Which, by its number; -1 for all")
    alike: bool = param(False, help="Also those that differ from it only in their place")
