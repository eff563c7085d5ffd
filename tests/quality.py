"""Measures of what everybody sees first in a walk: feet that slide or sink, joints that pop, curves with corners."""

from dataclasses import dataclass

import numpy as np
from troupe.core.filters.contacts import heel_and_ball, runs
from troupe.core.kinematics import anatomy, fk
from troupe.core.maths import quat
from troupe.core.maths.geometry import height
from troupe.core.skeleton import SIDES
from troupe.core.world import World

PARTS = ("heel", "ball", "tip")
"""Points of a foot that are looked at; the tip is the end of the toes, of a foot without toes the ball again."""


@dataclass(frozen=True, eq=False)
class Soles:
    """Points under both feet.

    Attributes:
        places: (T, 2, 3, 3) heel, ball and tip of the left and the right foot [m].
        rests: (2, 3) how high each point is over the ground under a flat foot [m].
        planted: (T, 2, 3) whether the contact curves say that it is on the ground.
    """

    places: np.ndarray
    rests: np.ndarray
    planted: np.ndarray


def soles(motion):
    """The Soles of a motion with contact curves."""
    skeleton = motion.skeleton
    positions, turns = fk.forward(skeleton, motion.rotations, motion.roots)
    places, rests, planted = [], [], []
    for side in SIDES:
        foot, toes = skeleton.joint(f"foot_{side}"), skeleton.has(f"toe_{side}")
        heel, ball = heel_and_ball(skeleton, side)
        points = [positions[:, foot] + quat.rotate(turns[:, foot], point) for point in (heel, ball)]
        above = float(ball[2] - heel[2])
        tip = points[1]
        if toes:
            toe = skeleton.joint(f"toe_{side}")
            # as in `physique`: toes are level, whatever height the end of their bone has
            end = skeleton.tips[toe] * (1.0, 1.0, 0.0)
            tip = positions[:, toe] + quat.rotate(turns[:, toe], end)
        places.append(np.stack([*points, tip], axis=1))
        rests.append([0.0, above, above])
        heels, balls = (motion.curves[f"contact/{part}_{side}"] > 0.5 for part in ("foot", "toe"))
        planted.append(np.stack([heels, balls, balls], axis=1))
    return Soles(np.stack(places, axis=1), np.array(rests), np.stack(planted, axis=1))


def slide(motion):
    """Farthest that a planted point strays from where it was planted, seen from above [m]."""
    found, worst = soles(motion), 0.0
    for foot, part in np.ndindex(found.planted.shape[1:]):
        for a, b in runs(found.planted[:, foot, part]):
            track = found.places[a:b, foot, part, :2]
            worst = max(worst, float(np.linalg.norm(track - np.median(track, axis=0), axis=1).max()))
    return worst


def depths(motion, ground=0.0):
    """(T, 2, 3) by how much heel, ball and tip are below the ground [m], negative above it.

    `ground` is the height of a level floor [m] or a World.
    """
    found = soles(motion)
    return _grounds(found.places, ground, motion.times) + found.rests - found.places[..., 2]


def depth(motion, ground=0.0):
    """Deepest that anything of the feet is below the ground [m]."""
    return float(max(depths(motion, ground).max(), 0.0))


def hover(motion, ground=0.0):
    """Highest that a planted point is over the ground [m]."""
    found = soles(motion)
    return float(np.where(found.planted, -depths(motion, ground), 0.0).max())


def _grounds(places, ground, times):
    if not isinstance(ground, World):
        return ground
    shape = places.shape[:-1]
    when = np.broadcast_to(times[:, None, None], shape).ravel()
    z, _, hit = height(ground, places[..., :2].reshape(-1, 2), when)
    return np.where(hit, z, -np.inf).reshape(shape)


def beyond_limits(motion):
    """Farthest that a joint goes beyond its limits [rad], and a sentence that says which one and when."""
    over = np.abs(anatomy.violations(motion))
    t, j, axis = np.unravel_index(over.argmax(), over.shape)
    return float(over.max()), f"{motion.skeleton.names[j]} axis {axis} at {t / motion.fps:.2f} s"


def knee_peaks(motion):
    """(N,) peak of the angular acceleration of the knee in each step of its own foot, both legs [rad/s^2]."""
    peaks = []
    for side in SIDES:
        knee = anatomy.angles(motion, f"shin_{side}")[:, 0]
        acceleration = np.abs(np.diff(knee, 2)) * motion.fps**2
        strikes = [e.time for e in motion.events if e.name == f"heel_strike_{side}"]
        borders = np.unique(np.clip(np.round(np.array([0.0, *strikes, motion.duration]) * motion.fps), 0, len(knee)))
        for a, b in zip(borders[:-1].astype(int), borders[1:].astype(int), strict=True):
            if b - a > 0.2 * motion.fps:
                peaks.append(float(acceleration[a:b].max(initial=0.0)))
    return np.array(peaks)


def knee_pop(motion):
    """Highest peak of a step's knee acceleration over the median of the peaks of all steps that move at all."""
    peaks = knee_peaks(motion)
    moving = peaks[peaks > 0.1 * peaks.max()]
    return float(peaks.max() / np.median(moving))


def accelerations(motion):
    """Highest acceleration of the root [m/s^2] and of every joint [rad/s^2], by name."""
    turns = quat.continuous(motion.rotations)
    rates = 2 * motion.fps * quat.log(quat.multiply(turns[1:], quat.conjugate(turns[:-1])))
    changes = motion.fps * np.linalg.norm(np.diff(rates, axis=0), axis=-1).max(axis=0)
    root = motion.fps**2 * np.linalg.norm(np.diff(motion.roots, 2, axis=0), axis=-1).max()
    return {"root": float(root), **dict(zip(motion.skeleton.names, changes.tolist(), strict=True))}


SEEN = {"root": 0.15, "joint": 25.0}
"""Smallest change of speed from one sample to the next that shows [m/s; degrees/s]."""


def sharpest_corner(make, rates=(120.0, 240.0), seen=1.0):
    """How much the highest acceleration of a joint grows from one frame rate to the next, and which joint's does.

    A jump of speed doubles with the rate; a smooth curve does not grow. `make` takes a frame rate to a motion. A
    change of speed that nobody can see, of less than SEEN (times `seen`), counts as none.
    """
    coarse, fine = (accelerations(make(fps)) for fps in rates)
    floor = {name: seen * SEEN["root" if name == "root" else "joint"] * rates[1] for name in fine}
    growth = {name: fine[name] / max(coarse[name], floor[name], 1e-9) for name in fine}
    worst = max(growth, key=growth.__getitem__)
    return growth[worst], f"{worst}: {coarse[worst]:.1f} at {rates[0]:g} and {fine[worst]:.1f} at {rates[1]:g} fps"
