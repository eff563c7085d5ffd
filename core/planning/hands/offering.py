"""How somebody comes to offer a prop to another: straight from where it is, or after fetching it.

What is out of reach of somebody who stands is taken as by Pick Up, crouching or stepping closer as need be. The giver
gets up with it, and comes back to where it is to be given if it had to go for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ...errors import NoGrasp, NoIK, NoPath, TroupeError
from ...kinematics.fingers import hand_length
from ...kinematics.hand_shapes import hand_shape
from ...maths import quat
from ...maths.ramp import wrap
from ...skeleton import SIDES, Array, Pose, Skeleton
from ...world import Body
from ..spaces.solids import Shapes, parted
from ..ways.map import MapParams
from .afoot import Afoot
from .bounds import bounds
from .grasp import Grasp
from .grasp_forms import grasps_of
from .ledger import Ledger
from .meeting import arm_length, meetings
from .one_hand import OneHand
from .reach import reach
from .stages import Holding
from .stand_in import as_boxes
from .standing import as_moved, chest_of, matrix_of, place_of
from .stepping_up import stepped
from .task import Job, Reached
from .upright import floor_under

TRIES = 6
"""Places where it may be offered that are tried."""
HELD_OUT = 0.2
"""How long it is held out at least [s]."""
FAR = 1.6
"""How far from the chest something is that is fetched in any case, in lengths of the arm."""
SPEED = 1.0
"""How fast somebody comes back with it [m/s]."""
STAYED = 0.1, np.radians(20.0)
"""How far somebody may have gone [m] and turned [rad] who need not come back."""


class Offering:
    """The giver's part, up to where the prop is offered.

    Args:
        giver: The actor that has the prop or takes it first.
        receiver: Who is to take it, in the way of the giver meanwhile.
        target: The prop.
        meeting: (4, 4) where it is offered; None for midway between the two.

    Attributes:
        places: Matrices (4, 4) of the prop where it may be offered, the likeliest first.

    Raises:
        NoIK: They are too far from each other.
        NoPath, NoGrasp: The giver gets at it neither from where it stands nor otherwise.
    """

    def __init__(self, giver: Job, receiver: Job, target: Body, meeting: Array | None) -> None:
        others = as_boxes(receiver.skeleton, receiver.pose, receiver.actor)
        every = _leaving_room(giver, target)
        self._job = replace(
            giver,
            world=replace(giver.world, bodies=(*giver.world.bodies, *others)),
            grasps={**(giver.grasps or {}), target.name: _by_hand(every) or every},
            params=replace(giver.params, task="hand_over", target=target.name, hold=HELD_OUT),
        )
        self._straight: dict[int, Reached] = {}
        self._fetched: tuple[Afoot, Reached] | None = None

        def found(job: Job) -> list[Array]:
            return [np.asarray(meeting)] if meeting is not None else list(meetings(job, receiver, target))[:TRIES]

        self.places = found(self._job)
        if giver.holding is None and not self._at_hand(target):
            self._fetched = _fetched(self._job, target, self.places[0], every)
            self.places = found(self._fetched[0].job)

    def at(self, number: int) -> Reached:
        """What the giver does to offer it at the place with this number.

        Raises:
            NoIK, NoPath, NoGrasp: It does not get it there.
        """
        if self._fetched is None:
            if number not in self._straight:
                params = replace(self._job.params, step=False)
                self._straight[number] = reach(replace(self._job, params=params, destination=self.places[number]))
            return self._straight[number]
        errand, taken = self._fetched
        mark = errand.marked()
        try:
            given = errand.reach(_held(taken), self.places[number], step=False)
            performance = errand.performance()
        finally:
            errand.back_to(mark)
        parts = (taken, given)
        tried = tuple(row for part in parts for row in part.performance.transcript)
        return replace(
            given,
            performance=replace(performance, transcript=tried),
            ledger=taken.ledger.and_then(given.ledger),
            offences=tuple(offence for part in parts for offence in part.offences),
        )

    def _at_hand(self, target: Body) -> bool:
        """Whether it is offered straight from where it is, at the likeliest place."""
        away = float(np.linalg.norm(chest_of(self._job.skeleton, self._job.pose) - place_of(self._job, target)))
        if away > FAR * arm_length(self._job):
            return False
        try:
            self.at(0)
        except (NoIK, NoPath, NoGrasp):
            return False
        return True


def _fetched(job: Job, target: Body, meeting: Array, every: list[Grasp]) -> tuple[Afoot, Reached]:
    """Take the target with one hand, get up with it and come back to where the hand gets at a meeting (4, 4).

    It is taken as it is to be given, or else by any of `every` grasp of it.

    Returns:
        What was done so far, from which it goes on, and how it was taken.
    """
    sides = OneHand(job, target, None, Ledger(), job.shapes or Shapes()).sides()
    own = list((job.grasps or {})[target.name])
    failure: TroupeError | None = None
    for grasps, side in product((own, every) if len(own) < len(every) else (own,), sides):
        errand = Afoot(
            replace(job, grasps={target.name: grasps}), SPEED, MapParams(floor=floor_under(job.skeleton, job.pose))
        )
        try:
            taken = errand.reach(task="pick_up", hand=side)
        except (NoIK, NoPath, NoGrasp) as error:
            failure = failure or error
            continue
        if _went(job.skeleton, job.pose, errand.job.pose):
            # back as straight as it went there
            now, world = errand.job, as_moved(errand.job, [target.name])
            held = _held(taken)
            back = stepped(
                now.skeleton,
                now.pose,
                world,
                meeting[:3, 3],
                now.fps,
                side,
                shapes=now.shapes,
                full=[h.side for h in held],
            )
            errand.gone(back, held)
        return errand, taken
    assert failure is not None
    raise failure


def _held(taken: Reached) -> tuple[Holding, ...]:
    return () if taken.holding is None else (taken.holding,)


def _went(skeleton: Skeleton, before: Pose, after: Pose) -> bool:
    """Whether somebody is elsewhere now, or faces elsewhere."""
    gone = float(np.linalg.norm((chest_of(skeleton, after) - chest_of(skeleton, before))[:2]))
    turned = float(wrap(quat.heading(after.rotations[0]) - quat.heading(before.rotations[0])))
    return gone > STAYED[0] or abs(turned) > STAYED[1]


def _leaving_room(giver: Job, target: Body) -> list[Grasp]:
    """Grasps that leave the other one room: at an end of the prop rather than in its middle."""
    known = (giver.grasps or {}).get(target.name)
    if known is not None:
        return list(known)
    side = giver.params.hand if giver.params.hand in SIDES else SIDES[0]
    _, scale = parted(matrix_of(giver, target))
    shape = bounds(target.vertices * scale)
    long = int(shape.half.argmax())
    out = []
    for grasp in grasps_of(target, hand_length(giver.skeleton, side)):
        off = abs(float((grasp.frame[:3, 3] - shape.centre) @ shape.axes[:, long])) / float(shape.half[long])
        out.append(replace(grasp, quality=float(np.clip(0.6 * grasp.quality + 0.4 * min(off, 1.0), 0.0, 1.0))))
    return out


def _by_hand(grasps: Sequence[Grasp]) -> list[Grasp]:
    """Those with the whole hand, as what is given is held where that can be."""
    return [grasp for grasp in grasps if hand_shape(grasp.shape).grip == "palm"]
