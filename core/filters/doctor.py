"""What is wrong with a motion, in numbers: sliding feet, floor, joints bent the wrong way or too far, jumps.

A jump is told from fast motion by how much one step between samples differs from the mean of the steps around it (half
the third difference): a discontinuity stands alone, whatever people do lasts several samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics import fk
from ..kinematics.anatomy import angles, violations
from ..maths import quat
from ..motion import Motion
from ..params import Params, param
from ..skeleton import FINGERS, SIDES, Array, Skeleton
from .contacts import Flags, contacts, runs
from .footlock import slide
from .retarget import lifts

HINGES = {"shin": "knee", "forearm": "elbow"}
"""Role of the lower segment to the name of the joint above it."""
PERSON_LEG = 0.85
"""Leg length [m] that limits in metres are meant for when a rig is not of human size."""
MOST_JUMPS = 6
"""Jumps reported at most, the largest ones."""

_AXES = ("flexion", "abduction", "rotation")
_QUICK = {"foot": 2.0, "toe": 4.0, "hand": 1.5, **dict.fromkeys(FINGERS, 2.0)}
"""Parts that people move within a sample or two, and how much larger a leap of theirs must be."""
_PRONATION = np.radians(80.0)
"""Half of the forearm's range of rotation: rigs without twist bones have it in the wrist."""


@dataclass(frozen=True)
class DoctorParams(Params):
    """From where on something counts as wrong."""

    slide: float = param(0.02, lo=0.001, hi=1.0, unit="m", help="Farthest a planted foot may slide")
    depth: float = param(0.025, lo=0.001, hi=1.0, unit="m", help="Deepest a foot, hand or knee may be below the floor")
    floor: bool = param(
        True, help="Look for what is below the ground the actor stands on; off for stairs and slopes going down"
    )
    hyperextension: float = param(
        0.1745, lo=0.0, hi=1.5, unit="rad", help="Farthest a knee or elbow may bend the wrong way"
    )
    limits: float = param(
        0.4363, lo=0.0, hi=3.0, unit="rad", help="How far a joint may turn beyond the range of a human joint"
    )
    jump: float = param(
        0.06, lo=0.001, hi=10.0, unit="m", basic=False, help="Smallest leap of the hips between two samples"
    )
    jump_angle: float = param(
        0.3491, lo=0.01, hi=3.2, unit="rad", basic=False, help="Smallest leap of a joint between two samples"
    )
    jump_ratio: float = param(
        3.0, lo=1.0, hi=100.0, basic=False, help="How much larger a leap is than whatever else happens around it"
    )


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        kind: What: slide, floor, hyperextension, limits, jump; others where rigs and scenes are examined too.
        sentence: It in words, with its number, without its time.
        part: The role concerned, or the name of the thing.
        value: How bad, in `unit` ("m", "rad" or nothing).
        start, end: When it is worst [s]; None for what is not a matter of time.
    """

    kind: str
    sentence: str
    part: str = ""
    value: float = 0.0
    unit: str = ""
    start: float | None = None
    end: float | None = None


def examine(motion: Motion, params: DoctorParams | None = None, ground: float = 0.0) -> tuple[Finding, ...]:
    """What is wrong with a motion, each thing once, where it is worst, in the order in which it is best mended.

    Args:
        motion: What to look at.
        params: From where on something counts.
        ground: Height of the floor [m].
    """
    params = params or DoctorParams()
    size = scale(motion.skeleton)
    found = [*hyperextensions(motion, params.hyperextension), *beyond_limits(motion, params.limits)]
    found += jumps(motion, params)
    if params.floor:
        found += below_floor(motion, params.depth * size, ground)
    return (*found, *slides(motion, params.slide * size))


def scale(skeleton: Skeleton) -> float:
    """What limits in metres are multiplied by: 1 for a figure whose legs measure 0.2 to 2 m."""
    leg = skeleton.leg_length()
    return 1.0 if 0.2 <= leg <= 2.0 else leg / PERSON_LEG


def part_of(role: str) -> str:
    """A role without its side: "upper_arm_L" is "upper_arm"."""
    return role[:-2] if role[-2:] in ("_L", "_R") else role


def spoken(role: str) -> str:
    """A role in words: "upper_arm_L" is "left upper arm"."""
    side = {"_L": "left ", "_R": "right "}.get(role[-2:], "")
    return side + part_of(role).replace("_", " ")


def slides(motion: Motion, limit: float) -> list[Finding]:
    """The worst contact of each foot that slides more than `limit` [m]."""
    planted = contacts(motion)
    out = []
    for side in SIDES:
        every = [s for s in slide(planted) if s.curve.endswith(side)]
        bad = [s for s in every if s.travel > limit]
        if bad:
            worst = max(bad, key=lambda s: s.travel)
            often = f" ({len(bad)} of its {len(every)} contacts slide)" if len(bad) > 1 else ""
            text = f"The {spoken(f'foot_{side}')} slides {1e3 * worst.travel:.0f} mm{often}"
            out.append(Finding("slide", text, f"foot_{side}", worst.travel, "m", worst.start, worst.end))
    return out


def below_floor(motion: Motion, limit: float, ground: float) -> list[Finding]:
    """Feet, hands and other parts that are deeper than `limit` [m] below the floor."""
    skeleton, depth = motion.skeleton, {}
    under = ground - lifts(motion)
    places, _ = fk.forward(skeleton, motion.rotations, motion.roots)
    for k, side in enumerate(SIDES):
        depth[f"foot_{side}"] = under[:, k].max(axis=1)
        if skeleton.has(f"hand_{side}"):
            depth[f"hand_{side}"] = ground - places[:, skeleton.joint(f"hand_{side}"), 2]
        depth[f"shin_{side}"] = ground - places[:, skeleton.joint(f"shin_{side}"), 2]
    for role in ("hips", "head"):
        if skeleton.has(role):
            depth[role] = ground - places[:, skeleton.joint(role), 2]
    out = []
    for role, values in depth.items():
        if (worst := float(values.max())) > limit:
            span = _span(motion, values > limit, int(values.argmax()))
            name = spoken(role).replace("shin", "knee")
            text = f"The {name} {'are' if role == 'hips' else 'is'} {1e3 * worst:.0f} mm below the floor"
            out.append(Finding("floor", text, role, worst, "m", *span))
    return out


def hyperextensions(motion: Motion, limit: float) -> list[Finding]:
    """Knees and elbows that bend the wrong way by more than `limit` [rad]."""
    out = []
    for part, joint in HINGES.items():
        for role in (f"{part}_{side}" for side in SIDES):
            if motion.skeleton.has(role):
                bent = -angles(motion, role)[:, 0]
                bent -= 2 * np.pi * np.round(bent / (2 * np.pi))
                worst = float(bent.max())
                if worst > limit + 1e-6:
                    span = _span(motion, bent > limit, int(bent.argmax()))
                    name = spoken(role).replace(part, joint)
                    text = f"The {name} bends {np.degrees(worst):.0f}° the wrong way"
                    out.append(Finding("hyperextension", text, role, worst, "rad", *span))
    return out


def beyond_limits(motion: Motion, limit: float) -> list[Finding]:
    """Joints that turn more than `limit` [rad] beyond their range, a chain as one."""
    beyond, roles = violations(motion), motion.skeleton.roles
    over = np.abs(beyond)
    for side in SIDES:
        for part in HINGES:
            for joint in roles.get(f"{part}_{side}", ()):
                over[..., joint, 0] = np.maximum(beyond[..., joint, 0], 0.0)  # below zero it is hyperextension
        for joint in roles.get(f"hand_{side}", ()):
            over[..., joint, 2] = np.maximum(over[..., joint, 2] - _PRONATION, 0.0)
    out = []
    for role, joints in roles.items():
        mine = over[:, joints].max(axis=1)
        worst = float(mine.max())
        if worst > limit + 1e-6:
            sample, axis = (int(i) for i in np.unravel_index(mine.argmax(), mine.shape))
            span = _span(motion, mine.max(axis=1) > limit, sample)
            text = f"The {spoken(role)} goes {np.degrees(worst):.0f}° beyond its range of {_AXES[axis]}"
            out.append(Finding("limits", text, role, worst, "rad", *span))
    return out


def jumps(motion: Motion, params: DoctorParams) -> list[Finding]:
    """Moments at which the hips or joints leap; the MOST_JUMPS largest, in order of time."""
    shifts, turns = _leaps(motion, params)
    roles, found = motion.skeleton.role_of(), []
    for first, last in leaps(motion, params):
        shift = float(shifts[first : last + 1].max())
        joint = int(turns[first : last + 1].max(axis=0).argmax())
        turn = float(turns[first : last + 1, joint].max())
        span = first / motion.fps, (last + 1) / motion.fps
        if shift > turn:
            value = shift * params.jump * scale(motion.skeleton)
            finding = Finding("jump", f"The whole body jumps {1e3 * value:.0f} mm", "hips", value, "m", *span)
        else:
            role = roles[joint]
            value = turn * params.jump_angle * _QUICK.get(part_of(role), 1.0)
            verb = "jump" if role == "hips" else "jumps"
            finding = Finding("jump", f"The {spoken(role)} {verb} {np.degrees(value):.0f}°", role, value, "rad", *span)
        found.append((max(shift, turn), finding))
    largest = sorted(found, key=lambda pair: -pair[0])[:MOST_JUMPS]
    return sorted((finding for _, finding in largest), key=lambda f: f.start or 0.0)


def leaps(motion: Motion, params: DoctorParams) -> list[tuple[int, int]]:
    """First and last step of each jump; step k leads from sample k to the next."""
    if len(motion) < 6:
        return []
    shifts, turns = _leaps(motion, params)
    flags = _stands_out(np.column_stack([shifts, turns]), params.jump_ratio, motion.fps)
    flags[1:-1] |= flags[:-2] & flags[2:]
    return [(a, b - 1) for a, b in runs(flags)]


def _leaps(motion: Motion, params: DoctorParams) -> tuple[Array, Array]:
    """How odd each step is, of the root (T-1,) and of the joints (T-1, J), as multiples of what counts as a jump."""
    steps = quat.log(quat.multiply(quat.conjugate(motion.rotations[:-1]), motion.rotations[1:]))
    least = np.full(len(motion.skeleton), np.inf)
    for joint, role in motion.skeleton.role_of().items():
        least[joint] = params.jump_angle * _QUICK.get(part_of(role), 1.0)
    return _odd(np.diff(motion.roots, axis=0)) / (params.jump * scale(motion.skeleton)), _odd(steps) / least


def _odd(steps: Array) -> Array:
    """Length (T-1, ...) of steps (T-1, ..., 3) less the mean of the steps before and after."""
    padded = np.concatenate([steps[:1], steps, steps[-1:]])
    away = steps - (padded[:-2] + padded[2:]) / 2
    return np.asarray(np.sqrt(quat.dot(away, away)))


def _stands_out(odd: Array, ratio: float, fps: float) -> Flags:
    """(T-1,) steps where some column of (T-1, K) is above 1 and stands out from a sixth of a second around it.

    The steps right beside a leap are odd too, by half of it: they count neither as leaps nor as what is around.
    """
    reach = max(4, round(fps / 6))
    padded = np.pad(odd, ((reach, reach), (0, 0)))
    shifted = {s: padded[reach + s : reach + s + len(odd)] for s in range(-reach, reach + 1)}
    around = np.max([values for s, values in shifted.items() if abs(s) > 2], axis=0)
    peak = np.maximum(shifted[-1], shifted[1])
    flags: Flags = ((odd > 1.0) & (odd > ratio * around) & (odd > 0.6 * peak)).any(axis=1)
    return flags


def _span(motion: Motion, flags: Flags, sample: int) -> tuple[float, float]:
    """Start and end [s] of the run of flags that holds a sample."""
    a, b = next((a, b) for a, b in runs(flags) if a <= sample < b)
    return a / motion.fps, (b - 1) / motion.fps


def feet_depth(motion: Motion, ground: float = 0.0) -> Array:
    """(T,) how deep the deeper foot is below the floor [m]; 0 above it."""
    return np.asarray(np.maximum(ground - lifts(motion).min(axis=(1, 2)), 0.0))
