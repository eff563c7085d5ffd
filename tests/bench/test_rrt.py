"""Ways of a seven-jointed arm in clutter against OMPL, with the same collisions at the same spacing; and the Panda's
problems of MotionBenchMaker."""

from __future__ import annotations

import gzip
import json
import math
import os
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path as File

import numpy as np
import pytest
from troupe.core import NoPath, Timeout
from troupe.core.maths import quat
from troupe.core.planning.spaces import puma
from troupe.core.planning.spaces.collision import Checker
from troupe.core.planning.spaces.problems import MAPS, square
from troupe.core.planning.spaces.rrt import SearchParams, plan
from troupe.core.planning.spaces.shortcut import lengths, shorten
from troupe.core.planning.spaces.solids import Solids
from troupe.core.planning.spaces.space import Space, hits

PROBLEMS = 200
TRIALS = 15
SEED = int(os.environ.get("TROUPE_BENCH_SEED", 910_000))
"""Number of the first problem; others make fresh ones."""
LINKS, THICK = np.array([0.30, 0.27, 0.18]), np.array([0.05, 0.04, 0.04])
LOW = np.array([-1.5, -1.5, -1.5, 0.0, -1.5, -0.9, -1.2])
HIGH = np.array([2.2, 1.5, 1.5, 2.5, 1.5, 0.9, 1.2])
STEP = 0.05
NAMES = tuple(f"joint {k}" for k in range(7))
LIMIT = 10.0


def segments(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and vectors (3, 3, N) of the links: joints about Z, Y, X, then Y, X, then Y, Z."""
    turns = np.empty((7, len(q)), complex)
    np.cos(q.T, out=turns.real)
    np.sin(q.T, out=turns.imag)
    c, s = turns.real, turns.imag
    pair = np.empty((3, len(q)), complex)
    re, im = pair.real, pair.imag
    starts, vectors = np.zeros((3, 3, len(q))), np.empty((3, 3, len(q)))
    x = vectors[:, 0]
    np.multiply(c[0], c[1], out=x[0])
    np.multiply(s[0], c[1], out=x[1])
    np.negative(s[1], out=x[2])
    np.negative(s[0], out=re[0])
    re[1], re[2], im[2] = c[0], 0.0, c[1]
    np.multiply(c[0], s[1], out=im[0])
    np.multiply(s[0], s[1], out=im[1])
    np.negative(s[2::2], out=s[2::2])
    yz = pair * turns[2]
    re[...], im[...] = x, yz.imag
    xz = pair * turns[3]
    re[...], im[...] = yz.real, xz.imag
    yz = pair * turns[4]
    re[...], im[...] = xz.real, yz.imag
    re[...], im[...] = (pair * turns[5]).real, yz.real
    vectors[:, 1], vectors[:, 2] = xz.real, (pair * turns[6]).real
    vectors *= LINKS[:, None]
    starts[:, 1] = vectors[:, 0]
    np.add(starts[:, 1], vectors[:, 1], out=starts[:, 2])
    return starts, vectors


class Clutter:
    """Twenty balls and fifteen boxes about an arm, its start and its goal, with something in between."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        while True:
            radii, halves = rng.uniform(0.04, 0.09, 20), rng.uniform(0.03, 0.10, (15, 3))
            turns = quat.to_matrix(quat.unit(rng.normal(size=(15, 4))))
            balls, boxes = self._placed(rng, radii), self._placed(rng, np.linalg.norm(halves, axis=1))
            none = np.zeros(20, dtype=np.int64)
            self.solids = Solids(
                ("clutter",), balls, radii, none, boxes, turns, halves, none[:15], (None,) * 15, np.zeros((15, 3))
            )
            self.check = Checker(self.solids, LINKS, THICK)
            self.space = Space(NAMES, LOW, HIGH, lambda q: self.check.free(*segments(q)), STEP)
            q = rng.uniform(LOW, HIGH, (400, 7))
            free = q[self.space.free(q)]
            if len(free) < 20:
                continue
            for _ in range(60):
                a, b = free[rng.choice(len(free), 2, replace=False)]
                count = int(np.ceil(np.linalg.norm(b - a) / STEP)) + 1
                line = a + np.linspace(0, 1, count)[:, None] * (b - a)
                if np.linalg.norm(b - a) > 2.5 and not self.space.free(line).all():
                    self.start, self.goal = a.copy(), b.copy()
                    return

    @staticmethod
    def _placed(rng: np.random.Generator, sizes: np.ndarray) -> np.ndarray:
        out: list[np.ndarray] = []
        while len(out) < len(sizes):
            p = rng.uniform([-0.2, -0.75, -0.75], [0.75, 0.75, 0.75])
            if 0.14 + sizes[len(out)] < np.linalg.norm(p) < 0.75:
                out.append(p)
        return np.array(out)


def plain_checker(scene: Clutter) -> Callable[[list[float]], bool]:
    """One posture at a time in plain Python; where a box may be near, the exact test."""
    found = scene.solids
    balls = [(*map(float, c), float(r)) for c, r in zip(found.centres, found.radii, strict=True)]
    boxes = [(*map(float, c), float(np.linalg.norm(h))) for c, h in zip(found.middles, found.halves, strict=True)]
    long, thick = LINKS.tolist(), THICK.tolist()

    def free(q: list[float]) -> bool:
        c0, c1, c2, c3, c4, c5, c6 = (math.cos(v) for v in q)
        s0, s1, s2, s3, s4, s5, s6 = (math.sin(v) for v in q)
        x, y, z = (c0 * c1, s0 * c1, -s1), (-s0, c0, 0.0), (c0 * s1, s0 * s1, c1)
        y1 = [c2 * a + s2 * b for a, b in zip(y, z, strict=True)]
        z1 = [c2 * b - s2 * a for a, b in zip(y, z, strict=True)]
        x2 = [c3 * a - s3 * b for a, b in zip(x, z1, strict=True)]
        z2 = [s3 * a + c3 * b for a, b in zip(x, z1, strict=True)]
        y3 = [c4 * a + s4 * b for a, b in zip(y1, z2, strict=True)]
        z3 = [c4 * b - s4 * a for a, b in zip(y1, z2, strict=True)]
        x5 = [c6 * (c5 * a - s5 * b) + s6 * c for a, b, c in zip(x2, z3, y3, strict=True)]
        ax = ay = az = 0.0
        near = False
        for (dx, dy, dz), length, r in zip((x, x2, x5), long, thick, strict=True):
            for things in (balls, boxes):
                for cx, cy, cz, size in things:
                    wx, wy, wz = cx - ax, cy - ay, cz - az
                    t = wx * dx + wy * dy + wz * dz
                    t = 0.0 if t < 0 else min(t, length)
                    wx, wy, wz = wx - t * dx, wy - t * dy, wz - t * dz
                    if wx * wx + wy * wy + wz * wz < (size + r) ** 2:
                        if things is balls:
                            return False
                        near = True
                        break
            ax, ay, az = ax + length * dx, ay + length * dy, az + length * dz
        return bool(scene.space.free(np.array([q]))[0]) if near else True

    return free


def compiled_checker(scene: Clutter) -> Callable[[list[float]], bool]:
    """Kinematics and collisions in C++, one call a posture."""
    pin, coal = pytest.importorskip("pinocchio"), pytest.importorskip("coal")
    model, shapes = pin.Model(), pin.GeometryModel()
    kinds = [pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRX()]
    kinds += [pin.JointModelRY(), pin.JointModelRZ()]
    parent, ids = 0, []
    for k, (joint, offset) in enumerate(zip(kinds, (0, 0, 0, LINKS[0], 0, LINKS[1], 0), strict=True)):
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array([offset, 0.0, 0.0])), f"j{k}")
        ids.append(parent)
    along = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])

    def add(name: str, joint: int, shape: object, place: object) -> int:
        return int(shapes.addGeometryObject(pin.GeometryObject(name, joint, place, shape)))

    arm = [
        add(f"c{k}", ids[j], coal.Capsule(float(r), float(v)), pin.SE3(along, np.array([v / 2, 0, 0])))
        for k, (j, v, r) in enumerate(zip((2, 4, 6), LINKS, THICK, strict=True))
    ]
    found = scene.solids
    things = [
        add(f"s{k}", 0, coal.Sphere(float(r)), pin.SE3(np.eye(3), c))
        for k, (c, r) in enumerate(zip(found.centres, found.radii, strict=True))
    ]
    things += [
        add(f"b{k}", 0, coal.Box(*(2 * h)), pin.SE3(r, c))
        for k, (c, r, h) in enumerate(zip(found.middles, found.axes, found.halves, strict=True))
    ]
    for a in arm:
        for b in things:
            shapes.addCollisionPair(pin.CollisionPair(a, b))
    data, placed = model.createData(), shapes.createData()
    return lambda q: not pin.computeCollisions(model, data, shapes, placed, np.array(q), True)


def ompl_way(
    within: Space, start: np.ndarray, goal: np.ndarray, free: Callable[[list[float]], bool]
) -> tuple[float, np.ndarray | None]:
    """Seconds that OMPL's RRTConnect takes with its simplification, and the way."""
    base, geometric = pytest.importorskip("ompl.base"), pytest.importorskip("ompl.geometric")
    import ompl.util as util

    util.setLogLevel(util.LogLevel.LOG_NONE if hasattr(util, "LogLevel") else util.LOG_NONE)
    many = range(len(start))
    space, bounds = base.RealVectorStateSpace(len(start)), base.RealVectorBounds(len(start))
    for k in many:
        bounds.setLow(k, float(within.low[k]))
        bounds.setHigh(k, float(within.high[k]))
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)
    setup.setStateValidityChecker(lambda s: free([s[k] for k in many]))
    info = setup.getSpaceInformation()
    info.setStateValidityCheckingResolution(within.step / space.getMaximumExtent())
    ends = info.allocState(), info.allocState()
    for k in many:
        ends[0][k], ends[1][k] = float(start[k]), float(goal[k])
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(geometric.RRTConnect(info))
    setup.setup()
    begun = time.perf_counter()
    setup.solve(LIMIT)
    solved = setup.haveExactSolutionPath()
    if solved:
        setup.simplifySolution()
    taken = time.perf_counter() - begun
    if not solved:
        return taken, None
    path = setup.getSolutionPath()
    return taken, np.array([[path.getState(k)[j] for j in many] for k in range(path.getStateCount())])


def our_way(scene: Clutter, seed: int) -> tuple[float, np.ndarray | None]:
    begun = time.perf_counter()
    try:
        found = plan(scene.space, scene.start, scene.goal, SearchParams(seed=seed))
    except Timeout:
        return time.perf_counter() - begun, None
    path = shorten(scene.space, found.path, rng=np.random.default_rng(seed))
    return time.perf_counter() - begun, path.points


@pytest.mark.parametrize(("name", "make", "wanted"), [("plain", plain_checker, 6.0), ("C++", compiled_checker, 1.0)])
def test_ways_are_found_as_fast_as_by_ompl_and_as_short(name, make, wanted):
    pytest.importorskip("ompl")
    ratios, sizes, solved = [], [], [0, 0]
    for k in range(PROBLEMS):
        scene = Clutter(SEED + k)
        ours, way = our_way(scene, k)
        peer, other = ompl_way(scene.space, scene.start, scene.goal, make(scene))
        solved[0] += way is not None
        solved[1] += other is not None
        ratios.append(peer / ours)
        if way is not None and other is not None:
            assert not hits(scene.space, way, 1.0)
            sizes.append([lengths(scene.space, way)[-1], lengths(scene.space, other)[-1]])
    ours, theirs = np.median(np.array(sizes), axis=0)
    speed = float(np.median(ratios))
    print(f"\nagainst OMPL with a {name} checker, {PROBLEMS} problems from {SEED}: ", end="")
    print(f"{speed:.2f}x as fast (median), solved {solved[0]} and {solved[1]}, lengths {ours:.2f} and {theirs:.2f}")
    assert solved[0] >= solved[1]
    assert ours <= 1.15 * theirs
    assert speed >= wanted


@pytest.mark.req("kuffner", 77)
@pytest.mark.parametrize("problem", [*MAPS, "book"])
def test_ways_on_the_maps_and_with_the_book_are_as_short_as_those_of_ompl(problem):
    pytest.importorskip("ompl")
    given = puma.book() if problem == "book" else square(problem)
    sizes, solved = [[], []], [0, 0]
    for seed in range(TRIALS):
        try:
            found = plan(given.space, given.start, given.goal, SearchParams(budget=20_000, seed=seed))
            way = shorten(given.space, found.path, rng=np.random.default_rng(seed))
            sizes[0].append(lengths(given.space, way.points)[-1])
        except Timeout:
            pass
        _, other = ompl_way(given.space, given.start, given.goal, lambda q: bool(given.space.allowed(np.array([q]))[0]))
        if other is not None:
            sizes[1].append(lengths(given.space, other)[-1])
        solved = [len(s) for s in sizes]
    ours, theirs = (float(np.median(s)) for s in sizes)
    print(f"\n{problem}: lengths {ours:.3f} and {theirs:.3f} of OMPL, solved {solved[0]} and {solved[1]} of {TRIALS}")
    assert ours <= 1.15 * theirs
    assert solved[0] >= solved[1] - 0.02 * TRIALS


SEEDS = 100
MOST = {"open": (0.35, 0.35), "two gates": (np.inf, 1.3), "twisty": (np.inf, 1.3)}
"""Nodes and checks of RRT-Connect at most, as parts of those of the basic search."""


@pytest.mark.req("kuffner", 74)
@pytest.mark.parametrize("name", list(MOST))
def test_heading_for_the_other_tree_pays_as_published(name):
    """Table 5.1 of the thesis: where it is open it pays, where it is narrow it costs little; counts, not seconds."""
    given = square(name)
    stride = 0.04 / math.sqrt(2.0)
    work = {}
    for method in ("basic", "connect"):
        rows = []
        for seed in range(SEEDS):
            search = SearchParams(method=method, stride=stride, seed=seed, budget=1_000_000)
            begun = time.process_time()
            found = plan(given.space, given.start, given.goal, search).search
            rows.append((time.process_time() - begun, found.nodes, found.looks))
        work[method] = np.array(rows)
    basic, connect = (work[m].mean(axis=0) for m in ("basic", "connect"))
    middle = [np.median(work[m], axis=0) for m in ("basic", "connect")]
    print(f"\n{f'{name}, N = {SEEDS}':<22} {'basic':>10} {'connect':>10} {'ratio':>7}   medians")
    for k, unit in enumerate(("seconds", "nodes", "checks")):
        form = ".3f" if k == 0 else ".0f"
        print(f"{unit:<22} {basic[k]:>10{form}} {connect[k]:>10{form}} {connect[k] / basic[k]:>7.2f}", end="   ")
        print(f"{middle[0][k]:{form}}, {middle[1][k]:{form}}")
    nodes, looks = MOST[name]
    assert connect[1] <= nodes * basic[1]
    assert connect[2] <= looks * basic[2]


class Panda:
    """The robot as spheres, from its description."""

    def __init__(self, folder: File) -> None:
        tree = xml.parse(folder / "panda_spherized.urdf").getroot()
        links = {link.get("name"): link for link in tree.findall("link")}
        self.chain: list[tuple[np.ndarray, np.ndarray | None]] = []
        self.spheres: list[tuple[int, np.ndarray, float]] = []
        frames = {"panda_link0": (-1, np.eye(4))}
        todo = list(tree.findall("joint"))
        while todo:
            joint = next(j for j in todo if j.find("parent").get("link") in frames)
            todo.remove(joint)
            above, fixed = frames[joint.find("parent").get("link")]
            origin = joint.find("origin")
            matrix = np.eye(4)
            if origin is not None:
                matrix[:3, 3] = [float(v) for v in origin.get("xyz", "0 0 0").split()]
                r, p, y = (float(v) for v in origin.get("rpy", "0 0 0").split())
                matrix[:3, :3] = _about(2, y) @ _about(1, p) @ _about(0, r)
            if joint.get("type") == "revolute":
                self.chain.append((fixed @ matrix, None))
                frames[joint.find("child").get("link")] = (len(self.chain) - 1, np.eye(4))
            else:
                frames[joint.find("child").get("link")] = (above, fixed @ matrix)
        for name, (above, fixed) in frames.items():
            for collision in links[name].findall("collision"):
                sphere = collision.find("geometry/sphere")
                if sphere is None:
                    continue
                place = [float(v) for v in collision.find("origin").get("xyz").split()]
                self.spheres.append((above, (fixed @ [*place, 1.0])[:3], float(sphere.get("radius"))))
        self.radii = np.array([s[2] for s in self.spheres])

    def places(self, q: np.ndarray) -> np.ndarray:
        """(N, S, 3) of the spheres, of configurations (N, 7)."""
        frame = np.broadcast_to(np.eye(4), (len(q), 4, 4))
        frames = []
        for k, (fixed, _) in enumerate(self.chain):
            c, s = np.cos(q[:, k]), np.sin(q[:, k])
            turn = np.tile(np.eye(4), (len(q), 1, 1))
            turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
            frame = frame @ fixed @ turn
            frames.append(frame)
        out = np.empty((len(q), len(self.spheres), 3))
        for n, (above, place, _) in enumerate(self.spheres):
            out[:, n] = place if above < 0 else frames[above][:, :3, :3] @ place + frames[above][:, :3, 3]
        return out


def _about(axis: int, angle: float) -> np.ndarray:
    return quat.to_matrix(quat.about(np.eye(3)[axis], angle))


def among(panda: Panda, obstacles: list[dict]) -> Callable[[np.ndarray], np.ndarray]:
    """Whether the robot's spheres are out of boxes, cylinders and balls, exactly; the robot itself does not count."""
    kinds: dict[str, list[tuple[dict, np.ndarray, np.ndarray]]] = {"box": [], "cylinder": [], "sphere": []}
    for thing in obstacles:
        x, y, z, w = thing["quat_xyzw"]
        turn = quat.to_matrix(quat.unit(np.array([w, x, y, z])))
        kinds[thing["type"]].append((thing, np.array(thing["position"]), turn))
    boxes, balls = kinds["box"], kinds["sphere"]
    found = Solids(
        ("things",),
        np.array([b[1] for b in balls]).reshape(-1, 3),
        np.array([b[0]["radius"] for b in balls]),
        np.zeros(len(balls), dtype=np.int64),
        np.array([b[1] for b in boxes]).reshape(-1, 3),
        np.array([b[2] for b in boxes]).reshape(-1, 3, 3),
        np.array([b[0]["half_extents"] for b in boxes]).reshape(-1, 3),
        np.zeros(len(boxes), dtype=np.int64),
        (None,) * len(boxes),
        np.zeros((len(boxes), 3)),
    )
    check = Checker(found, np.zeros(len(panda.radii)), panda.radii)

    def free(q: np.ndarray) -> np.ndarray:
        points = panda.places(q)
        starts = points.transpose(2, 1, 0)
        out = check.free(starts, np.zeros_like(starts))
        for thing, place, turn in kinds["cylinder"]:
            local = (points - place) @ turn
            side = np.maximum(np.hypot(local[..., 0], local[..., 1]) - thing["radius"], 0.0)
            far = np.hypot(side, np.maximum(np.abs(local[..., 2]) - 0.5 * thing["length"], 0.0))
            out &= (far >= panda.radii).all(axis=1)
        return out

    return free


def test_the_problems_of_motion_bench_maker_are_solved(data):
    folder = data / "motion_planning" / "panda"
    with gzip.open(folder / "panda_problems.json.gz") as file:
        known = json.load(file)
    panda = Panda(folder)
    solved, total, sizes, took = {}, 0, [], []
    for name, problems in known["problems"].items():
        solved[name] = 0
        for problem in problems:
            total += 1
            free = among(panda, problem["obstacles"])
            space = Space(NAMES, np.array(known["lower"]), np.array(known["upper"]), free, 0.06)
            begun = time.perf_counter()
            try:
                found = plan(space, np.array(problem["start"]), np.array(problem["goal"]), SearchParams(budget=3000))
            except (Timeout, NoPath) as error:
                print(f"\n{name} {problem['index']}: {error}", end="")
                continue
            path = shorten(space, found.path)
            took.append(time.perf_counter() - begun)
            solved[name] += 1
            sizes.append(lengths(space, path.points)[-1])
    share = sum(solved.values()) / total
    print(f"\nPanda: {100 * share:.0f} % of {total} solved {solved}; ", end="")
    print(f"length median {np.median(sizes):.2f}, mean {np.mean(sizes):.2f} rad; {1e3 * np.median(took):.0f} ms each")
    assert share >= 0.95
