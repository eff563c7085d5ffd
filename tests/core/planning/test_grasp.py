"""Grasps: made from shapes, kept in tables, chosen by purpose, written down and read again."""

import json
from dataclasses import replace

import numpy as np
import pytest
from troupe.core import InvalidParam
from troupe.core.errors import NoGrasp
from troupe.core.figure.mannequin import mannequin, rest_pose
from troupe.core.kinematics.fingers import close_fingers, finger_joints
from troupe.core.maths import quat
from troupe.core.planning.hands.bounds import bounds
from troupe.core.planning.hands.grasp import Grasp, for_purpose, framed, touches
from troupe.core.planning.hands.grasp_forms import grasps_of
from troupe.core.planning.hands.handles import find_handle
from troupe.core.planning.hands.holding import closing_into, hand_matrix, in_hand, opened_around
from troupe.core.planning.spaces.distance_field import surface_samples
from troupe.core.planning.spaces.set_pieces import ball, bottle, box, cup, lathe, placed
from troupe.core.world import Body, World

TURN = quat.to_matrix(quat.exp(np.array([0.3, -0.5, 0.9])))


def table():
    return [
        Grasp(framed((1, 0, 0), (0, 0, 1), (-0.04, 0, 0.05)), "cylindrical", ("drink",)),
        Grasp(framed((0, 1, 0), (0, 0, 1), (0, -0.04, 0.12)), "power", ("pour", "carry"), 0.8),
    ]


@pytest.mark.req("badler", 72)
def test_the_purpose_picks_the_row():
    assert [g.shape for g in for_purpose(table(), "pour")] == ["power"]
    assert [g.shape for g in for_purpose(table(), "drink")] == ["cylindrical"]


@pytest.mark.req("badler", 73)
def test_an_unknown_purpose_falls_back_to_any_or_says_what_there_is():
    anyhow = replace(table()[0], purposes=("any",))
    assert for_purpose([*table(), anyhow], "juggle") == [anyhow]
    with pytest.raises(NoGrasp, match="carry, drink, pour"):
        for_purpose(table(), "juggle")
    assert len(for_purpose(table(), "any")) == 2


@pytest.mark.req("badler", 13)
def test_a_grasp_moves_with_its_prop():
    """Sites of a prop are in metres, as its mesh is when it is read: a scale of its matrix stretches neither."""
    grasp = table()[0]
    for scale in (1.0, 0.4, 2.5):
        matrix = placed((1, 2, 3), TURN)
        matrix[:3, :3] *= scale
        place, turn, approach = grasp.world(matrix)
        assert np.allclose(place, TURN @ grasp.frame[:3, 3] + (1, 2, 3), atol=1e-12)
        assert np.allclose(quat.to_matrix(turn), TURN @ grasp.frame[:3, :3], atol=1e-12)
        assert np.allclose(approach, TURN[:, 0], atol=1e-12)


def test_a_grasp_is_written_as_json_and_read_again():
    for grasp in (*table(), *touches(np.zeros(3), np.array([0.0, 0, 1]))[:2]):
        again = Grasp.from_dict(json.loads(json.dumps(grasp.as_dict())))
        assert np.allclose(again.frame, grasp.frame) and np.allclose(again.approach, grasp.approach)
        assert (again.shape, again.purposes, again.side, again.distance) == (
            grasp.shape,
            grasp.purposes,
            grasp.side,
            grasp.distance,
        )


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ({"shape": "paw"}, "cylindrical"),
        ({"side": "middle"}, "side"),
        ({"quality": 2.0}, "quality"),
        ({"distance": -1.0}, "distance"),
        ({"frame": 2 * np.eye(4)}, "frame"),
    ],
)
def test_a_grasp_that_cannot_be_is_refused(bad, match):
    with pytest.raises(InvalidParam, match=match):
        Grasp(**{"frame": np.eye(4), **bad})


def test_a_dict_with_other_keys_is_refused():
    with pytest.raises(InvalidParam, match="colour"):
        Grasp.from_dict({"frame": np.eye(4).tolist(), "colour": "red"})


def test_simple_shapes_are_told_apart():
    assert bounds(ball("b", 0.1).vertices).kind == "sphere"
    assert bounds(bottle().vertices).kind == "cylinder"
    assert bounds(box("x", (0.1, 0.05, 0.02)).vertices).kind == "box"
    turned = bounds(bottle().vertices @ TURN.T)
    assert turned.kind == "cylinder" and abs(turned.axes[:, 2] @ TURN[:, 2]) > 0.999


def test_a_bottle_is_taken_around_its_body_with_the_thumb_up():
    found = grasps_of(bottle(radius=0.033))
    best = found[0]
    assert best.shape == "cylindrical" and best.frame[2, 1] == pytest.approx(1.0)
    inward = best.frame[:3, 0]
    assert inward[2] == pytest.approx(0.0, abs=1e-9)
    # the palm is at the skin of the bottle and faces its axis
    assert np.linalg.norm(best.frame[:2, 3]) == pytest.approx(0.035, abs=0.002)
    assert inward[:2] @ best.frame[:2, 3] < 0
    assert any(g.shape in ("precision", "pinch") and g.frame[2, 0] == pytest.approx(-1.0) for g in found)


def test_what_is_too_thick_is_taken_where_it_is_thin():
    vertices, faces = lathe([(0, 0), (0.09, 0), (0.09, 0.12), (0.02, 0.16), (0.02, 0.30), (0, 0.30)])
    jug = Body("jug", 0, vertices, faces, np.eye(4)[None], "prop")
    found = [g for g in grasps_of(jug) if g.shape == "cylindrical"]
    assert found and min(g.frame[2, 3] for g in found) > 0.19
    drum, faces = lathe([(0, 0), (0.2, 0), (0.2, 0.3), (0, 0.3)])
    assert grasps_of(Body("drum", 0, drum, faces, np.eye(4)[None], "prop")) == []


def test_a_box_is_taken_across_where_it_is_narrow():
    found = grasps_of(box("book", (0.1, 0.07, 0.015)))
    spread = [g for g in found if g.shape == "spanning"]
    assert spread and len(spread) < len(found)
    for grasp in found:
        # straight, or with the wrist raised; the spread hand goes across the narrower way of what lies
        fingers = np.cross(grasp.approach, grasp.frame[:3, 1])
        if grasp in spread:
            assert abs(fingers[1]) > 0.9 and abs(grasp.approach[2]) == pytest.approx(1.0)
        else:
            assert abs(fingers[2]) == pytest.approx(1.0)


def test_the_spread_hand_takes_no_more_than_it_spans():
    wide = grasps_of(box("book", (0.1, 0.08, 0.015)))
    assert not [g for g in wide if g.shape == "spanning"]
    thin = grasps_of(box("card", (0.1, 0.07, 0.002)))
    assert not [g for g in thin if g.shape == "spanning"]


def test_a_ball_is_taken_from_all_sides():
    small, large = grasps_of(ball("a", 0.02)), grasps_of(ball("b", 0.045))
    assert {g.shape for g in small} == {"precision"} and {g.shape for g in large} == {"spherical"}
    assert len({tuple(np.round(g.approach, 3)) for g in large}) == 26


def test_the_scale_of_a_prop_counts():
    jar = bottle(radius=0.33, height=2.4)
    matrix = np.diag([0.1, 0.1, 0.1, 1.0])
    found = grasps_of(replace(jar, matrices=matrix[None]))
    assert np.allclose(found[0].frame, grasps_of(bottle(radius=0.033))[0].frame)


def test_touches_point_the_finger_at_the_surface():
    for grasp in touches(np.zeros(3), np.array([0.0, 0, 1])):
        fingers = grasp.frame[:3, 2] if grasp.side == "R" else -grasp.frame[:3, 2]
        assert fingers[2] < -0.8 and grasp.shape == "index"
        assert np.allclose(grasp.approach, (0, 0, -1))


def test_a_cup_is_taken_by_its_handle_to_drink_and_around_its_body_to_give_it():
    found = grasps_of(cup())
    handle = for_purpose(found, "drink")
    assert {g.name for g in handle} == {"handle"} and found[0].name == "handle"
    # the palm comes from outside of the handle, the thumb up
    handle = sorted(handle, key=lambda g: -g.quality)
    assert np.allclose(handle[0].approach, (-1, 0, 0), atol=0.05) and handle[0].frame[2, 1] > 0.99
    assert handle[0].frame[0, 3] > 0.07
    around = [g for g in for_purpose(found, "give") if g.name == "around"]
    assert around and all(g.frame[0, 3] < -0.02 for g in around)


def test_a_handle_is_found_however_the_cup_is_made_and_none_where_there_is_none():
    for tall, wide in ((0.07, 0.035), (0.14, 0.045)):
        body = cup(height=tall, radius=wide)
        held = find_handle(surface_samples(body.vertices[body.triangles], 0.005)[0])
        assert held is not None and held.outward[0] > 0.99 and held.radius == pytest.approx(wide, rel=0.05)
    for body in (bottle(), box("b", (0.05, 0.04, 0.03)), ball("s", 0.05)):
        assert find_handle(surface_samples(body.vertices[body.triangles], 0.005)[0]) is None


@pytest.mark.parametrize("flat", [0, 1, 2])
def test_what_has_no_thickness_at_all_has_grasps_or_none_but_is_no_cup(flat):
    """Letters and sheets: whichever way they lie, and wherever their own origin is."""
    outline = np.array([(0.0, 0.0), (0.06, 0.0), (0.06, 0.09), (0.0, 0.09), (0.02, 0.03)])
    vertices = np.insert(outline, flat, 0.3, axis=1)
    sheet = Body("sheet", 0, vertices, np.array([(0, 1, 2), (0, 2, 3), (0, 4, 1)]), placed((0, 0, 0))[None])
    assert find_handle(surface_samples(vertices[sheet.triangles], 0.005)[0]) is None
    found = grasps_of(sheet)
    assert found and all(np.isfinite(grasp.frame).all() for grasp in found)


def test_a_sheet_without_thickness_has_no_handle_and_is_taken_by_its_edges():
    corners = 0.5 * np.array([(-0.2, -0.3, 0.0), (0.2, -0.3, 0.0), (0.2, 0.3, 0.0), (-0.2, 0.3, 0.0)])
    for axes in ((0, 1, 2), (0, 2, 1), (2, 0, 1)):
        sheet = Body("sheet", 0, corners[:, axes], np.array([(0, 1, 2), (0, 2, 3)]), np.eye(4)[None], "prop")
        assert find_handle(surface_samples(sheet.vertices[sheet.triangles], 0.005)[0]) is None
        assert {g.shape for g in grasps_of(sheet)} == {"precision"}


def test_a_plate_is_taken_by_its_rim_from_all_sides():
    vertices, faces = lathe([(0, 0), (0.11, 0), (0.11, 0.012), (0, 0.012)], 48)
    found = grasps_of(Body("plate", 0, vertices, faces, np.eye(4)[None], "prop"))
    assert {g.name for g in found} == {"rim"} and len({round(np.arctan2(*g.frame[1::-1, 3]), 2) for g in found}) == 12
    for grasp in found:
        outward = grasp.frame[:3, 3] - (0, 0, 0.006)
        assert grasp.approach @ outward < -0.05 and abs(grasp.frame[2, 2]) == pytest.approx(1.0)


@pytest.mark.req("badler", 77)
def test_fingers_close_firmly_on_every_simple_shape():
    skeleton = mannequin(1.75)
    plate, faces = lathe([(0, 0), (0.11, 0), (0.11, 0.012), (0, 0.012)], 32)
    for body in (
        bottle(),
        cup(),
        ball("ball", 0.035),
        box("book", (0.1, 0.07, 0.012)),
        Body("plate", 0, plate, faces, np.eye(4)[None], "prop"),
    ):
        held = in_hand(skeleton, "R", body)
        still = np.tile(quat.IDENTITY, (len(skeleton), 1))
        there = hand_matrix(skeleton, still, np.zeros(3), "R") @ held.offset
        thing = World((replace(body, matrices=there[None]),))
        grip = close_fingers(skeleton, still, np.zeros(3), "R", held.grasp.shape, thing)
        assert grip.firm, (body.name, held.grasp.name, grip.gaps)
        assert min(grip.gaps.values()) > -0.002, (body.name, grip.gaps)


def test_small_things_are_picked_up_from_above_with_the_tips_over_what_they_lie_on():
    found = [g for g in grasps_of(box("phone", (0.0375, 0.075, 0.004))) if g.shape == "picking"]
    down = [g for g in found if g.approach[2] < -0.99]
    assert {g.side for g in down} == {"L", "R"}
    assert {round(float(g.frame[2, 3]), 6) for g in down} == {round(0.067 * 0.19 - 0.004, 6)}
    # across its narrow way only, straight or a little aslant
    fingers = [g.frame[:3, :3] @ (0.0, 0.0, 1.0 if g.side == "R" else -1.0) for g in down]
    assert min(abs(f[0]) for f in fingers) > 0.7


def test_a_tool_is_picked_up_by_its_handle_however_wide_its_head_is():
    handle, head = box("a", (0.13, 0.014, 0.012)), box("b", (0.015, 0.055, 0.015), (0.14, 0.0, 0.0))
    vertices = np.concatenate([handle.vertices, head.vertices + (0.14, 0.0, 0.0)])
    faces = np.concatenate([handle.triangles, head.triangles + len(handle.vertices)])
    found = grasps_of(Body("hammer", 0, vertices, faces, np.eye(4)[None], "prop"))
    places = [g.frame[0, 3] for g in found if g.shape == "picking" and g.approach[2] < -0.99]
    assert places and max(places) < 0.1


def test_fingers_that_close_are_found_in_what_is_beside_the_thing():
    skeleton = mannequin(1.75)
    pose = rest_pose(skeleton)
    thing = box("thing", (0.015, 0.015, 0.06))
    held = in_hand(skeleton, "R", thing)
    opened = opened_around(skeleton, pose.rotations, "R", thing, held.grasp, held.offset)
    shut, fingers = np.array(opened), finger_joints(skeleton, "R")
    shut[fingers] = held.fingers[fingers]
    beside = replace(thing, name="block", matrices=(hand_matrix(skeleton, shut, pose.root, "R") @ held.offset)[None])
    assert closing_into(skeleton, pose.root, "R", opened, shut, World(())) is None
    # the fingers are on the thing itself, and in one that is thicker
    assert closing_into(skeleton, pose.root, "R", opened, shut, World((beside,))) is None
    thick = replace(beside, vertices=1.3 * beside.vertices)
    found = closing_into(skeleton, pose.root, "R", opened, shut, World((thick,)))
    assert found is not None and found.body == "block" and 0.003 < found.depth < 0.01
