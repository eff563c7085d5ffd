"""The body of an actor: what is selected when, and what it looks like. This is the face of the animation engine.

    library = stockactions.stock_library()                  # `library.ActionLibrary`, or one of your own sheets
    state = start(library, skeleton, BodyParams(seed=3), place=(x, y, heading))      # a frozen `BodyState`
    state = state.select("Gestures", "Wave_left", 2.0)      # every order gives a new state
    state = state.release("Gestures", 4.0)                  # back to the group's first action
    state = state.advance(4.5)                              # time never runs back; pausing changes nothing
    pose = state.pose()                                     # `core.skeleton.Pose`, in world space

Times are exact seconds: an order may lie ahead of `state.time` (it waits its turn) but not behind it (it then takes
effect at once). Results do not depend on how often `advance` is called. `perform.perform` bakes a whole take in one
call and gives what stepping gives; `perform.advance_all` and `perform.poses` step and pose many bodies together.

Queries: `selected(group)`, `weight(action)`, `weights(group)`, `is_done(action)`, `pending(group)`, `place` (x, y,
heading), `phase`, `tempo`, `curves()` (shape keys and properties), `warnings`.
Orders: `select`, `release`, `set_style(name, value, time, over)`, `look_at(target, time)`, `face(target, time)`,
`put(name, point, time)` (moves a named target such as "camera" or another actor).

A library has `groups` (of `Group(name, actions)`, back to front; the first action is the default), `names`,
`action(name)` (an `Action` with `.name .group .properties .coverage .fade_in .fade_out .seconds .tempo`) and
`group_of(name)`. Names are compared without regard to case, `_` being a space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParam
from ...skeleton import Array, Pose, Skeleton
from ..repertoire.library import ActionLibrary, canonical
from ..repertoire.puppet import JOINTS, turns
from ..repertoire.weights import Entry
from .avoidance import Surroundings
from .clock import tick_of
from .fitting import fit
from .flow import Flow, Order
from .posing import Frames, posed, puppet_angles, values_of
from .propulsion import Floor, Footing, first_footing
from .selection import NEGLIGIBLE, GroupState
from .stage import BodyParams, Stage
from .stepping import advanced, ordered
from .tracks import Track, constant

__all__ = ["BodyParams", "BodyState", "start"]


@dataclass(frozen=True, eq=False)
class BodyState(Flow):
    """A body at one instant. See the head of this module for what it can be told and asked."""

    def select(
        self, group: str, action: str, time: float | None = None, *, target: str = "", fade: float | None = None
    ) -> BodyState:
        """Ask for an action.

        Args:
            group: Of the action; "" for the one it is in.
            action: Its name.
            time: When [s]; now if None.
            target: Name of a target for places measured from it.
            fade: Another time to come than the action's own [s].
        """
        found = self.stage.library.action(action)
        if group and canonical(group) != canonical(found.group):
            raise InvalidParam("group", group, f"{found.name} is in group {found.group}")
        return ordered(self, Order(self._when(time), "select", found.name, target, fade))

    def release(self, group: str, time: float | None = None, *, only: str = "", fade: float | None = None) -> BodyState:
        """Let a group fall back to its first action at `time` [s]; with `only`, if that action is still selected."""
        name = self.stage.library.action(only).name if only else ""
        return ordered(self, Order(self._when(time), "release", self.stage.library.group(group).name, name, fade))

    def set_style(self, name: str, value: float, time: float | None = None, over: float = 0.5) -> BodyState:
        """Change a style parameter ("hip_kick", "running.amplitude", "walking.amount") within `over` [s]."""
        if not np.isfinite(value):
            raise InvalidParam(name, value, "must be a finite number")
        return ordered(self, Order(self._when(time), "style", name, float(value), over))

    def look_at(self, target: str, time: float | None = None, always: bool = True) -> BodyState:
        """Look at a named target from `time` [s] on; "" looks ahead.

        Without `always` it is only looked at as far as actions with a LOOK value ask for it.
        """
        return ordered(self, Order(self._when(time), "look", target, always))

    def face(self, target: str | float | None, time: float | None = None) -> BodyState:
        """Turn to a named target or a heading [rad] from `time` [s] on; None lets the heading be."""
        return ordered(self, Order(self._when(time), "face", "", target))

    def put(self, name: str, point: npt.ArrayLike, time: float | None = None, over: float = 0.0) -> BodyState:
        """Move a named target to a point (3,) [m], within `over` [s]."""
        place = np.asarray(point, dtype=np.float64)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise InvalidParam(name, place.tolist(), "must be three finite numbers")
        return ordered(self, Order(self._when(time), "put", name, place, over))

    def advance(self, time: float) -> BodyState:
        """The body at a later time [s]."""
        return advanced(self, time, np.array([time]))[0]

    def selected(self, group: str) -> str:
        """Name of the action that a group is doing or going to."""
        found = self.stage.library.group(group)
        return found.actions[self.groups[self.stage.group_number(found)].history[-1].action]

    def pending(self, group: str) -> str:
        """Name of the action that a group waits for; "" for none."""
        request = self.groups[self.stage.group_number(self.stage.library.group(group))].request
        return request.action if request else ""

    def weights(self, group: str) -> dict[str, float]:
        """Weights of the actions of a group that have any."""
        found = self.stage.library.group(group)
        g = self.stage.group_number(found)
        history = self.groups[g].history
        out: dict[str, float] = {}
        for entry, w in zip(history, self.stage.plain_weights(g, history, np.array([self.time])), strict=True):
            name = found.actions[entry.action]
            out[name] = out.get(name, 0.0) + float(w[0])
        return out

    def weight(self, action: str) -> float:
        """Weight of an action in its group, 0..1."""
        found = self.stage.library.action(action)
        return self.weights(found.group).get(found.name, 0.0)

    def is_done(self, action: str) -> bool:
        """Whether an action has gone, or has come to its end; not while it is still to come."""
        found = self.stage.library.action(action)
        group = self.stage.library.group(found.group)
        if found.name == self.pending(group.name) or any(o.name == found.name for o in self.orders):
            return False
        last = self.groups[self.stage.group_number(group)].history[-1]
        if group.actions[last.action] == found.name:
            return found.seconds is not None and self.time >= last.time + found.seconds
        return self.weight(action) <= NEGLIGIBLE

    @property
    def tempo(self) -> float:
        """Cycles a second of the clock."""
        return float(self.rate(np.array([self.time]))[0])

    @property
    def place(self) -> tuple[float, float, float]:
        """Where the hips are over the ground and where it heads: x, y [m], heading [rad]."""
        now = self.present()
        return float(now.x[0]), float(now.y[0]), float(now.heading[0])

    def angles(self) -> Array:
        """Puppet angles (20, 3) [deg] as composited; rows are `puppet.JOINTS`."""
        out: Array = self.present().channels[0, : 3 * len(JOINTS)].reshape(-1, 3)
        return out

    def pose(self) -> Pose:
        """The pose at `time`, in the world."""
        rotations, roots = posed(self.stage, self.present())
        return Pose(rotations[0], roots[0])

    def curves(self) -> dict[str, float]:
        """Shape keys and properties by the name of their curve."""
        return {name: float(v[0]) for name, v in values_of(self.stage, self.present().channels).items()}

    def present(self) -> Frames:
        """The body at `time` before it is put on the skeleton."""
        if self.now is not None:
            return self.now
        return advanced(self, self.time, np.array([self.time]))[1][-1]

    def _when(self, time: float | None) -> float:
        if time is None:
            return self.time
        if not np.isfinite(time):
            raise InvalidParam("time", time, "must be a finite number")
        return max(float(time), self.time)


def start(
    library: ActionLibrary,
    skeleton: Skeleton,
    params: BodyParams | None = None,
    *,
    place: tuple[float, float, float] = (0.0, 0.0, 0.0),
    time: float = 0.0,
    around: Surroundings | None = None,
    floor: Floor | None = None,
    styles: Mapping[str, float | Track] | None = None,
    targets: Mapping[str, npt.ArrayLike | Track] | None = None,
) -> BodyState:
    """A body that does the first action of every group.

    Args:
        library: Its actions.
        skeleton: Whose joints it turns.
        params: How it moves.
        place: x, y of the hips [m] and heading [rad].
        time: At which it begins [s].
        around: Walls, obstacles and doorways that turn it away.
        floor: Height of the ground by place; None for a floor at 0.
        styles: Style parameters from the beginning, as numbers or tracks.
        targets: World points (3,) by name, or tracks of them.
    """
    stage = Stage(library, fit(skeleton), params or BodyParams(), around, floor)
    groups = tuple(GroupState((Entry(0, time),)) for _ in library.groups)
    tracks = {name: v if isinstance(v, Track) else constant(v) for name, v in (styles or {}).items()}
    points = {name: v if isinstance(v, Track) else constant(v) for name, v in (targets or {}).items()}
    at = np.array([time])
    channels, _ = stage.channels([g.history for g in groups], tracks, at, np.zeros(1), {})
    feet = stage.fit.feet(turns(puppet_angles(stage, channels)))[0]
    footing: Footing = first_footing(*place, feet, floor)
    return BodyState(stage, time, groups, tick_of(time), 0.0, footing, styles=tracks, targets=points)
