"""Recorded walks and runs of real people as mean gait cycles: what a procedural gait is fitted to and tested against.

Every full steady stride of a clip is cut from one foot strike to the next strike of the same foot, resampled to 101
points of the cycle and averaged. Strides of the right foot are mirrored and pooled with those of the left: the *own*
side is that of the foot whose strikes bound the cycle. Angles are in degrees, lengths in leg lengths
(`Skeleton.leg_length`). Angles of joints are those of `kinematics.anatomy`, from a neutral stance that differs from
clip to clip, so compare shapes first and means second. The knees of 07_01, 07_12, 104_02 and 09_01 stand at exactly
zero before push-off, as if held by a joint limit: their shape there is not that of a person.

Clips left out: 104_53 runs, but its feet turn over in every swing and it gains speed throughout; MakeHuman's walk1
stays in place.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from feet import CMU_UNIT
from troupe.core import Motion
from troupe.core.filters.contacts import contacts, cycles, runs
from troupe.core.formats import bvh
from troupe.core.kinematics import anatomy, base, fk
from troupe.core.kinematics.cast import read_joints
from troupe.core.kinematics.learn import learn_from
from troupe.core.kinematics.measure import cast_rig
from troupe.core.maths import quat

WALKS = ("02_01", "07_01", "35_01", "104_02", "07_12", "16_34", "olafhaag_walk01")
RUNS = ("02_03", "09_01")
FITTED = ("02_01", "35_01", "07_12")
"""Walks that the numbers of a walk may come from; the others test it."""
STEADY = {"104_02": (1.1, 4.3), "16_34": (0.4, 1.6), "olafhaag_walk01": (1.0, 4.0)}
"""From when to when a clip that starts or stops is taken [s]. 16_34 slows even there, from 1.1 to 0.9 m/s."""

POINTS = 101
GRAVITY = 9.81

_UP = np.array([0.0, 0.0, 1.0])
_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Left, up, forward to left, back, up."""
_JUMP = 0.3
"""Way of the hips from one frame to the next that only a T-pose put before the clip makes [m]."""
_LIFT = 0.005
"""Rise of the end of the toes over its lowest place at which a foot has left the ground [leg lengths]."""


@dataclass(frozen=True, eq=False)
class Recording:
    """The mean stride of a clip.

    Attributes:
        name: The clip.
        kind: "walk" or "run".
        speed: Mean forward speed [m/s].
        leg: Leg length [m].
        strides: Number of strides averaged.
        curves: Name to (101,): `hip_flexion`, `hip_abduction`, `hip_rotation`, `knee_flexion`, `ankle_flexion`,
            `toe_flexion` (where there are toes), `shoulder_flexion`, `shoulder_abduction`, `shoulder_rotation`,
            `elbow_flexion` of the own side and `spine_flexion`, `spine_side`, `spine_yaw` are anatomical;
            `thigh_pitch`, `shank_pitch`, `upper_arm_pitch` are the angles of segments to the vertical in the plane of
            travel, lower end forward positive, `foot_pitch` that of the sole to the ground, toes up positive;
            `pelvis_tilt`, `pelvis_list`, `pelvis_yaw`, `chest_pitch`, `chest_roll`, `chest_yaw`, `head_pitch`,
            `head_roll`, `head_yaw` are orientations seen along the travel: forward, the own side down and turned to
            the own side are positive; `pelvis_height` is that of the hip joints' middle over the ground,
            `pelvis_surge` its way ahead of an even pace, `pelvis_sway` to the own side of the mean path;
            `ankle_forward`, `ankle_up`, `ankle_out` lead from the own hip joint to the own ankle.
        scalars: Name to number: `speed` [m/s], `froude` (see below), `stride_time` [s], `cadence` [steps a minute],
            `step_length`, `stride_length`, `step_width`, `stance` and `double_support` (flight when negative) as parts
            of the stride, `toe_out` and `flat_pitch` of the foot at rest on the ground, `pelvis_bob`, `arm_swing` and
            `knee_peak` from lowest to highest, lowest to highest, highest. NaN where a clip does not show it.
        spread: Name of a curve or scalar to its standard deviation over strides.
    """

    name: str
    kind: str
    speed: float
    leg: float
    strides: int
    curves: dict
    scalars: dict
    spread: dict

    @property
    def froude(self):
        """Speed over the square root of gravity times leg length: comparable between bodies."""
        return self.speed / np.sqrt(GRAVITY * self.leg)


@cache
def load(data: Path):
    """{clip: Recording} of all walks and runs."""
    return {name: recording(data, name) for name in (*WALKS, *RUNS)}


@cache
def recording(data: Path, name: str):
    """The Recording of one clip."""
    return measured(motion_of(data, name), name, "run" if name in RUNS else "walk", STEADY.get(name, (0.0, np.inf)))


def motion_of(data: Path, name: str):
    """A clip as a Motion in metres on level ground, from the neutral stance, without the T-poses before it begins."""
    file, unit = (f"mocap/misc/{name}.bvh", 0.01) if name.startswith("olaf") else (f"mocap/cmu/{name}.bvh", CMU_UNIT)
    if not (data / file).exists():
        pytest.skip(f"test data absent: {data / file}")
    roles = json.loads((data / "gold_maps.json").read_text(encoding="utf-8"))[file]["map"]
    return levelled(read(bvh.read(data / file), {r: [b] if isinstance(b, str) else b for r, b in roles.items()}, unit))


def read(clip, roles, unit):
    """A Y-up BVH whose roles are known as a Motion; `unit` is the length of its unit [m]."""
    heads = np.array(clip.offsets)
    for j, parent in enumerate(clip.parents):
        if parent >= 0:
            heads[j] += heads[parent]
    tails = heads.copy()
    for j in range(len(heads)):
        below = np.flatnonzero(np.asarray(clip.parents) == j)
        tails[j] = heads[j] + clip.tips[j] if j in clip.tips else heads[below[0]]
    rest = np.tile(np.eye(4), (len(heads), 1, 1))
    rest[:, :3, 3] = heads
    world = np.eye(4)
    world[:3, :3] = _Z_UP * unit
    cast = cast_rig(clip.names, clip.parents, rest, roles, tails=tails, world=world)
    places, turns = bvh.world(clip)
    matrices = np.zeros((*places.shape[:2], 4, 4))
    matrices[..., :3, :3] = _Z_UP @ quat.to_matrix(turns)
    matrices[..., :3, 3] = places @ _Z_UP.T * unit
    matrices[..., 3, 3] = 1.0
    jumps = np.flatnonzero(np.linalg.norm(np.diff(places[:, 0], axis=0), axis=1) * unit > _JUMP)
    matrices = matrices[int(jumps[-1]) + 1 if len(jumps) else 0 :, cast.joints]
    cast = learn_from(cast, matrices)
    return Motion(cast.skeleton, 1.0 / clip.frame_time, *read_joints(cast, matrices))


def levelled(motion):
    """A straight walk with the slope taken out on which its feet rest: some recorded floors rise by a degree."""
    touching = contacts(motion)
    places, _ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    ankles = []
    for side in "LR":
        flat = (touching.curves[f"contact/foot_{side}"] > 0) & (touching.curves[f"contact/toe_{side}"] > 0)
        track = places[:, motion.skeleton.joint(f"foot_{side}")]
        ankles += [np.median(track[a:b], axis=0) for a, b in runs(flat)]
    ankles = np.array(ankles)
    way = (motion.roots[-1] - motion.roots[0]) * (1.0, 1.0, 0.0)
    ahead = way / np.linalg.norm(way)
    slope = np.polyfit(ankles @ ahead, ankles[:, 2], 1)[0]
    turn = quat.about(np.array([-ahead[1], ahead[0], 0.0]), np.arctan(slope))
    hips = quat.multiply(turn, motion.rotations[:, :1])
    rotations = np.concatenate([hips, motion.rotations[:, 1:]], axis=1)
    return Motion(motion.skeleton, motion.fps, quat.rotate(turn, motion.roots), rotations)


def measured(motion, name="", kind="walk", during=(0.0, np.inf)):
    """The Recording of a motion that walks or runs straight on level ground, from its strides within `during` [s].

    Of a motion that loops, three rounds are looked at.
    """
    view = _View(cycles(motion) if motion.loop else motion)
    low, high = np.array(during) * motion.fps
    strides = [
        (side, a, b)
        for side in "LR"
        for a, b in zip(view.strikes[side], view.strikes[side][1:], strict=False)
        if low <= a and b <= high
    ]
    if not strides:
        raise ValueError(f"{name or 'the motion'} shows no full stride within {during} s")
    curves = [_curves(view, *stride) for stride in strides]
    scalars = [_scalars(view, *stride, c) for stride, c in zip(strides, curves, strict=True)]
    means, spread = [], {}
    for rows in (curves, scalars):
        table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        known = {key: v if v.ndim > 1 or not np.isfinite(v).any() else v[np.isfinite(v)] for key, v in table.items()}
        means.append({key: v.mean(axis=0) for key, v in known.items()})
        spread.update({key: v.std(axis=0) for key, v in known.items()})
    return Recording(name, kind, float(means[1]["speed"]), view.leg, len(strides), *means, spread)


class _View:
    """A motion with everything that is looked up in it stride by stride."""

    def __init__(self, motion):
        self.motion, self.fps, self.skeleton = motion, motion.fps, motion.skeleton
        self.leg = self.skeleton.leg_length()
        self.places, self.turns = fk.forward(motion.skeleton, motion.rotations, motion.roots)
        self.tips = fk.tip_positions(motion.skeleton, self.places, self.turns)
        self.base = base.derive(motion)
        self.angles = {r: np.degrees(anatomy.angles(motion, r)) for r in motion.skeleton.roles}
        events = contacts(motion).events
        self.strikes = {s: [e.time * self.fps for e in events if e.name == f"heel_strike_{s}"] for s in "LR"}
        self.offs = {s: [self._left(s, e.time * self.fps) for e in events if e.name == f"toe_off_{s}"] for s in "LR"}

    def _left(self, side, sample):
        """When the end of the toes has left the ground: the contact itself ends as soon as the ball speeds up."""
        role = f"toe_{side}" if self.skeleton.has(f"toe_{side}") else f"foot_{side}"
        around = round(0.06 * self.fps)
        a = max(0, round(sample) - around // 2)
        heights = self.tips[a : round(sample) + 2 * around, self.skeleton.joint(role), 2]
        lowest = int(np.argmin(heights[: 1 + 2 * around]))
        risen = np.flatnonzero(heights[lowest:] > heights[lowest] + _LIFT * self.leg)
        return max(sample, float(a + lowest + risen[0])) if len(risen) else float(sample)

    def at(self, values, samples):
        """Values (T,) or (T, C) at fractional samples."""
        values = np.asarray(values)
        columns = values.reshape(len(values), -1).T
        out = np.stack([np.interp(samples, np.arange(len(values)), c) for c in columns], axis=-1)
        return out.reshape(*np.shape(samples), *values.shape[1:])

    def joint(self, role):
        """(T, 3) places of a joint [m]."""
        return self.places[:, self.skeleton.joint(role)]

    def forward(self, a, b):
        """(3,) direction of travel between two samples."""
        step = self.at(self.base[:, :2], b) - self.at(self.base[:, :2], a)
        return np.array([*step, 0.0]) / np.linalg.norm(step)

    def speed(self, a, b):
        """Mean speed between two samples [m/s]."""
        step = self.at(self.base[:, :2], b) - self.at(self.base[:, :2], a)
        return float(np.linalg.norm(step)) * self.fps / (b - a)

    def ground(self, a, b):
        """Height of the ground [m]: where both ankles are lowest, less their height in the neutral stance."""
        skeleton, levels = self.skeleton, []
        for side in "LR":
            leg = [skeleton.joint(f"{part}_{side}") for part in ("thigh", "shin", "foot")]
            ankle = skeleton.offsets[0, 2] + skeleton.offsets[leg, 2].sum()
            near = slice(max(0, int(a)), int(b) + 1)
            levels.append(np.quantile(self.joint(f"foot_{side}")[near, 2], 0.15) - ankle)
        return float(np.mean(levels))


def _curves(view, side, a, b):
    """Name to (101,) of one stride."""
    skeleton, leg, own = view.skeleton, view.leg, 1.0 if side == "L" else -1.0
    samples = np.linspace(a, b, POINTS)
    ahead = view.forward(a, b)
    left = np.array([-ahead[1], ahead[0], 0.0])
    back = quat.about(_UP, -np.arctan2(ahead[0], -ahead[1]))
    out = {}

    def put(names, role):
        values = view.at(view.angles[role], samples)
        for k, name in enumerate(names):
            out[name] = values[:, k] * (own if role == "spine" and k else 1.0)

    put(("hip_flexion", "hip_abduction", "hip_rotation"), f"thigh_{side}")
    put(("knee_flexion",), f"shin_{side}")
    put(("ankle_flexion",), f"foot_{side}")
    if skeleton.has(f"toe_{side}"):
        put(("toe_flexion",), f"toe_{side}")
    put(("spine_flexion", "spine_side", "spine_yaw"), "spine")
    put(("shoulder_flexion", "shoulder_abduction", "shoulder_rotation"), f"upper_arm_{side}")
    put(("elbow_flexion",), f"forearm_{side}")

    hip, knee, ankle = (view.at(view.joint(f"{part}_{side}"), samples) for part in ("thigh", "shin", "foot"))
    shoulder, elbow = (view.at(view.joint(f"{part}_{side}"), samples) for part in ("upper_arm", "forearm"))
    for name, segment in (("thigh", knee - hip), ("shank", ankle - knee), ("upper_arm", elbow - shoulder)):
        out[f"{name}_pitch"] = np.degrees(np.arctan2(segment @ ahead, -segment[:, 2]))
    sole = view.at(quat.rotate(view.turns[:, skeleton.joint(f"foot_{side}")], np.array([0.0, -1.0, 0.0])), samples)
    out["foot_pitch"] = np.degrees(np.unwrap(np.arctan2(sole[:, 2], sole @ ahead)))

    for name, joint in (("pelvis", 0), ("chest", skeleton.chain("spine")[-1]), ("head", skeleton.joint("head"))):
        turns = quat.multiply(back, view.at(quat.continuous(view.turns[:, joint]), samples))
        pitch, roll, yaw = np.degrees(anatomy.joint_angles(quat.unit(turns), "hips")).T
        names = ("tilt", "list", "yaw") if name == "pelvis" else ("pitch", "roll", "yaw")
        for axis, values in zip(names, (pitch, own * roll, own * yaw), strict=True):
            out[f"{name}_{axis}"] = values

    root = view.at(view.motion.roots, samples)
    out["pelvis_height"] = (root[:, 2] - view.ground(a, b)) / leg
    out["pelvis_surge"] = _surge(root @ ahead / leg)
    middle = view.at(view.base[:, :2], samples)
    out["pelvis_sway"] = own * ((root[:, :2] - middle) @ left[:2]) / leg
    reach = (ankle - hip) / leg
    out["ankle_forward"], out["ankle_up"], out["ankle_out"] = reach @ ahead, reach[:, 2], own * (reach @ left)
    return out


def _surge(along):
    """Places (101,) along the path without mean speed and without the gain or loss from the first step to the next."""
    u = np.linspace(0.0, 1.0, POINTS)
    half = POINTS // 2
    change = np.polyfit(u[: half + 1], along[half:] - along[: half + 1], 1)[0]
    along = along - change * u * u
    along = along - along[-1] * u - along[0] * (1 - u)
    return along - along[:-1].mean()


def _scalars(view, side, a, b, curves):
    """Name to number of one stride; NaN where the clip does not show it."""
    other, own = ("R", 1.0) if side == "L" else ("L", -1.0)
    leg, stride = view.leg, b - a
    ahead = view.forward(a, b)
    left = np.array([-ahead[1], ahead[0], 0.0])

    def inside(events, low, high):
        return next((e for e in events if low < e < high), np.nan)

    off, their_strike = inside(view.offs[side], a, b), inside(view.strikes[other], a, b)
    their_off = inside(view.offs[other], a - 0.3 * stride, a + 0.4 * stride)
    flat = a + 0.25 * stride * (1.0 if off - a > 0.5 * stride else 0.5)
    here = view.at(view.joint(f"foot_{side}"), flat)
    toes = view.at(view.tips[:, view.skeleton.joint(f"foot_{side}")], flat) - here
    there, step = np.nan, np.nan
    if np.isfinite(their_strike):
        there = view.at(view.joint(f"foot_{other}"), min(their_strike + flat - a, len(view.motion) - 1))
        reach = view.at(view.joint(f"foot_{side}"), b) - view.at(view.joint(f"foot_{other}"), their_strike)
        step = float(reach @ ahead)
    speed = view.speed(a, b)
    return {
        "speed": speed,
        "froude": speed / np.sqrt(GRAVITY * leg),
        "stride_time": stride / view.fps,
        "cadence": 120.0 * view.fps / stride,
        "step_length": step / leg,
        "stride_length": speed * stride / view.fps / leg,
        "stance": (off - a) / stride,
        "double_support": (their_off - a + off - their_strike) / stride,
        "step_width": float(own * ((here - there) @ left)) / leg,
        "toe_out": float(np.degrees(np.arctan2(own * (toes @ left), toes @ ahead))),
        "flat_pitch": float(np.interp(100.0 * (flat - a) / stride, np.arange(POINTS), curves["foot_pitch"])),
        "pelvis_bob": float(np.ptp(curves["pelvis_height"])),
        "arm_swing": float(np.ptp(curves["shoulder_flexion"])),
        "knee_peak": float(curves["knee_flexion"].max()),
    }
