"""The geometry of two arms at once: from hand frames and elbow directions to joint rotations and their limits.

An arm is a ball (shoulder), a hinge (elbow) about the lateral axis, a turn of the forearm about itself (pronation) and
a wrist with flexion and deviation: seven degrees of freedom. Everything follows in closed form from the hand's frame
and the side of the line from shoulder to wrist to which the elbow goes (in the manner of Tolani, Goswami, Badler,
"Real-time inverse kinematics techniques for anthropomorphic limbs", 2000), for bones that lie askew too.

Arrays lead with components, then have the S arms, then N samples, (3, S, N): arithmetic runs over long rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..skeleton import ARM, Array, Skeleton
from . import anatomy

TINY = 1e-12
_TURN = 2.0 * np.pi


class Chain(NamedTuple):
    """What is constant about S arms.

    Attributes:
        joints: (S, 3) upper arm, forearm and hand.
        above: (S,) the joints the upper arms hang on.
        trunk: The joint whose axes are those of the trunk.
        upper, lower: (3, S, 1) from shoulder to elbow and from elbow to wrist in neutral [m].
        outward: (S, 1) sign of the arm's side: 1 for left.
        middle, half: (3, 3, S, 1) of the range of joint and angle, and to either side [rad].
        signs: (3, 3, S, 1) which way each angle turns about the lateral, forward or vertical axis.
    """

    joints: npt.NDArray[np.int64]
    above: npt.NDArray[np.int64]
    trunk: int
    upper: Array
    lower: Array
    outward: Array
    middle: Array
    half: Array
    signs: Array


def arm_chain(skeleton: Skeleton, sides: Sequence[str]) -> Chain:
    """The arms of a skeleton on these sides."""
    roles = [[f"{part}_{side}" for part in ARM[1:]] for side in sides]
    joints = np.array([[skeleton.joint(role) for role in arm] for arm in roles])
    above = skeleton.parents[joints[:, 0]]
    girdle = skeleton.roles.get(f"clavicle_{sides[0]}", (int(joints[0, 0]),))[0]
    limits = skeleton.limits[joints].transpose(1, 2, 0, 3)[..., None, :]
    free = limits[..., 1] - limits[..., 0] >= _TURN - 1e-9
    # of a diagonal or permuted matrix of signs the sum of a row is its sign
    signs = np.array([[anatomy.axes(role).sum(axis=1) for role in arm] for arm in roles])
    return Chain(
        joints,
        above,
        int(skeleton.parents[girdle]),
        skeleton.offsets[joints[:, 1]].T[..., None],
        skeleton.offsets[joints[:, 2]].T[..., None],
        np.array([[1.0 if side == "L" else -1.0] for side in sides]),
        np.where(free, 0.0, limits.mean(axis=-1)),
        np.where(free, np.inf, np.maximum(limits[..., 1] - limits[..., 0], TINY) / 2),
        signs.transpose(1, 2, 0)[..., None],
    )


class Bend(NamedTuple):
    """The elbow of each arm: what the distance from shoulder to wrist alone decides.

    Attributes:
        angle: (S, N) flexion [rad].
        along: (3, S, N) unit vector from shoulder to wrist in the upper arm's axes.
        distance: (S, N) between them [m].
    """

    angle: Array
    along: Array
    distance: Array


def spans(chain: Chain, stretch: float) -> tuple[Array, Array]:
    """Nearest and farthest distance (S, 1) of wrist from shoulder [m], the farthest times `stretch`."""
    fixed, a, b = _law(chain)
    swing = 2.0 * np.hypot(a, b)
    return np.sqrt(np.maximum(fixed - swing, 0.0)), stretch * np.sqrt(fixed + swing)


def bend(chain: Chain, distance: Array) -> Bend:
    """The elbows that bring the wrists to these distances (S, N) [m], which must be within `spans`."""
    fixed, a, b = _law(chain)
    cosine = (distance * distance - fixed) / np.maximum(2.0 * np.hypot(a, b), TINY)
    angle = np.arctan2(b, a) + np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0))
    c, s = np.cos(angle), np.sin(angle)
    (ux, uy, uz), (lx, ly, lz) = chain.upper, chain.lower
    y, z = uy + ly * c + lz * s, uz + lz * c - ly * s
    scale = 1.0 / np.maximum(np.sqrt((ux + lx) ** 2 + y * y + z * z), TINY)
    return Bend(angle, np.stack([(ux + lx) * scale, y * scale, z * scale]), distance)


def _law(chain: Chain) -> tuple[Array, Array, Array]:
    """|upper + R(flexion) lower|^2 = fixed + 2 (a cos flexion + b sin flexion), each (S, 1)."""
    (ux, uy, uz), (lx, ly, lz) = chain.upper, chain.lower
    fixed = (chain.upper**2).sum(axis=0) + (chain.lower**2).sum(axis=0) + 2.0 * ux * lx
    return fixed, uy * ly + uz * lz, uy * lz - uz * ly


def upper_arm(bent: Bend, line: Array, elbow: Array) -> Array:
    """Rotations (4, S, N) of the upper arms whose wrists lie along `line` and whose elbows point to `elbow`.

    Both are unit vectors (3, S, N), one across the other. The elbow points where the hinge bends it to, so that a
    straight arm has a side as well.
    """
    x, y, z = bent.along
    r = np.maximum(np.sqrt(y * y + z * z), TINY)
    (nx, ny, nz), (ex, ey, ez) = line, elbow
    # columns of the frame in the upper arm: along, (0, -z, y) / r and their cross product (r, -xy / r, -xz / r)
    zr, yr = -z / r, y / r
    kx, ky, kz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    b, c = -x * yr, x * zr
    m00, m10, m20 = nx * x + kx * r, ny * x + ky * r, nz * x + kz * r
    m01, m11, m21 = nx * y + ex * zr + kx * b, ny * y + ey * zr + ky * b, nz * y + ez * zr + kz * b
    m02, m12, m22 = nx * z + ex * yr + kx * c, ny * z + ey * yr + ky * c, nz * z + ez * yr + kz * c
    out = np.empty((4, *x.shape))
    out[0] = 1.0 + m00 + m11 + m22
    out[1], out[2], out[3] = m21 - m12, m02 - m20, m10 - m01
    wide = out[0] < 1.0
    if wide.any():  # more than a third of a turn: from the largest of x, y, z
        m = np.stack([[a[wide] for a in row] for row in ((m00, m01, m02), (m10, m11, m12), (m20, m21, m22))])
        out[:, wide] = _wide(m)
    w, qx, qy, qz = out
    out *= 1.0 / np.sqrt(w * w + qx * qx + qy * qy + qz * qz)
    return out


def _wide(m: Array) -> Array:
    """Unnormalised quaternions (4, n) of matrices (3, 3, n) that turn far."""
    out, at = np.empty((4, m.shape[-1])), np.arange(m.shape[-1])
    i = np.einsum("iin->in", m).argmax(axis=0)
    j, k = (i + 1) % 3, (i + 2) % 3
    out[0] = m[k, j, at] - m[j, k, at]
    out[1 + i, at] = 1.0 + m[i, i, at] - m[j, j, at] - m[k, k, at]
    out[1 + j, at] = m[j, i, at] + m[i, j, at]
    out[1 + k, at] = m[k, i, at] + m[i, k, at]
    return out


def forearm_and_hand(chain: Chain, bent: Bend, upper: Array, hand: Array) -> tuple[Array, Array, Array]:
    """Rotations (4, S, N) of forearm and hand for hands (4, S, N) in the same axes as the upper arms, and pronation.

    The forearm turns about itself by so much, (S, N) [rad], that the wrist has no twist left, only flexion and
    deviation.
    """
    half = 0.5 * bent.angle
    c, s = np.cos(half), -np.sin(half)  # flexion turns about -X
    w, x, y, z = upper
    # the conjugate of upper arm times hinge
    hinged = (c * w - s * x, -(c * x + s * w), -(c * y + s * z), -(c * z - s * y))
    w, x, y, z = rest = times(hinged, hand)
    tx, ty, tz = chain.lower / np.sqrt((chain.lower**2).sum(axis=0))
    # the hand's lateral axis must end up across the forearm's forward one: a cos p + b sin p + level = 0
    kx, ky, kz = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)
    level = ty * (tx * kx + ty * ky + tz * kz)
    a, b = ky - level, tx * kz - tz * kx
    reach = np.maximum(np.sqrt(a * a + b * b), TINY)
    turn = np.arctan2(b, a) - np.arccos(np.minimum(np.maximum(-level / reach, -1.0), 1.0))
    turn = np.where(turn < -np.pi, turn + _TURN, turn)
    ct, st = np.cos(0.5 * turn), np.sin(0.5 * turn)
    twist = (ct, st * tx, st * ty, st * tz)
    forearm = np.empty(upper.shape)
    forearm[0], forearm[1] = c * ct - s * twist[1], c * twist[1] + s * ct
    forearm[2], forearm[3] = c * twist[2] - s * twist[3], c * twist[3] + s * twist[2]
    return forearm, times((ct, -twist[1], -twist[2], -twist[3]), rest), turn


def beyond_limits(chain: Chain, upper: Array, bent: Bend, turn: Array, hand: Array) -> Array:
    """Sum of what the angles of arms are beyond their limits, (S, N) [rad].

    Args:
        chain: The arms.
        upper: (4, S, N) rotation of the upper arm from its parent.
        bent: The elbow.
        turn: (S, N) of the forearm about itself [rad].
        hand: (4, S, N) rotation of the hand from the forearm, without twist.
    """
    middle, half = chain.middle, chain.half
    ball, rest = _angles(chain, upper, bent, turn, hand)
    # of an arm abducted by more than a quarter turn, the same rotation in other angles
    other = ball[0] + np.pi, np.pi - ball[1], ball[2] + np.pi
    here, there = (sum(_beyond(a, middle[0, k], half[0, k]) for k, a in enumerate(each)) for each in (ball, other))
    over: Array = np.minimum(here, there)
    for j, k, angle in rest:
        over += _beyond(angle, middle[j, k], half[j, k])
    return over


def strain(chain: Chain, upper: Array, bent: Bend, turn: Array, hand: Array) -> Array:
    """How near to its end the range of some joint is, (S, N): 0 with all in their middles, 1 at a limit or beyond.

    Arguments as for `beyond_limits`.
    """
    middle, half = chain.middle, chain.half
    ball, rest = _angles(chain, upper, bent, turn, hand)
    other = ball[0] + np.pi, np.pi - ball[1], ball[2] + np.pi
    both = [np.max([_away(a, middle[0, k]) / half[0, k] for k, a in enumerate(each)], axis=0) for each in (ball, other)]
    parts = [np.minimum(*both), *(_away(angle, middle[j, k]) / half[j, k] for j, k, angle in rest)]
    return np.asarray(np.minimum(np.max(parts, axis=0), 1.0))


def _angles(
    chain: Chain, upper: Array, bent: Bend, turn: Array, hand: Array
) -> tuple[tuple[Array, Array, Array], tuple[tuple[int, int, Array], ...]]:
    """The angles of the shoulder, and joint, angle and value of the others, each (S, N) [rad]."""
    signs = chain.signs
    w, x, y, z = upper
    # of turns about X, Y, Z in this order, with halves f, a, t: (w + y, x + z) is at f + t, (w - y, x - z) at f - t
    wy, xz, yw, zx = w + y, x + z, w - y, x - z
    total, difference = np.arctan2(xz, wy), np.arctan2(zx, yw)
    across = 2.0 * np.arctan2(np.sqrt(wy * wy + xz * xz), np.sqrt(yw * yw + zx * zx)) - 0.5 * np.pi
    ball = signs[0, 0] * (total + difference), signs[0, 1] * across, signs[0, 2] * (total - difference)
    w, x, y, _ = hand
    return ball, (
        (1, 0, bent.angle),
        (1, 2, -signs[1, 2] * turn),  # a forearm hangs down, against the axis of its rotation
        (2, 0, 2.0 * signs[2, 0] * np.arctan2(y, w)),
        (2, 1, 2.0 * signs[2, 1] * np.arctan2(x, w)),
    )


def _away(angle: Array, middle: Array) -> Array:
    """Distance (S, N) of an angle, known up to whole turns, from the middle of its range [rad]."""
    away = angle - middle
    return np.abs(away - _TURN * np.rint(away * (1.0 / _TURN)))


def _beyond(angle: Array, middle: Array, half: Array) -> Array:
    return np.maximum(_away(angle, middle) - half, 0.0)


def times(a: Array | Sequence[Array], b: Array | Sequence[Array]) -> Array:
    """Hamilton product (4, S, N) of quaternions by components."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    out = np.empty((4, *np.broadcast_shapes(aw.shape, bw.shape)))
    out[0] = aw * bw - ax * bx - ay * by - az * bz
    out[1] = aw * bx + ax * bw + ay * bz - az * by
    out[2] = aw * by - ax * bz + ay * bw + az * bx
    out[3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def inverse(q: Array) -> Array:
    """Conjugates of (4, S, N)."""
    out = -q
    out[0] = q[0]
    return out


def turned(q: Array, v: Array) -> Array:
    """Vectors (3, S, N) turned by (4, S, N)."""
    w, x, y, z = q
    a, b, c = v
    tx, ty, tz = y * c - z * b, z * a - x * c, x * b - y * a
    tx, ty, tz = tx + tx, ty + ty, tz + tz
    out = np.empty((3, *np.broadcast_shapes(w.shape, a.shape)))
    out[0] = a + w * tx + y * tz - z * ty
    out[1] = b + w * ty + z * tx - x * tz
    out[2] = c + w * tz + x * ty - y * tx
    return out
