"""BVH: what is read is what was written, and every malformation is named with its place."""

import numpy as np
import pytest
from feet import body, steps, z_up
from troupe.core import FormatError, InvalidMotion, InvalidParam, TroupeError
from troupe.core.formats import bvh
from troupe.core.kinematics import fk
from troupe.core.maths import euler, quat

TEXT = """HIERARCHY
ROOT Hips
{
\tOFFSET 1.0 2.0 3.0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Leg
\t{
\t\tOFFSET 0 -4 0
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 0 1.5
\t\t}
\t}
\tJOINT Tail
\t{
\t\tOFFSET 0 0 -1
\t}
}
MOTION
Frames: 2
Frame Time: 0.05
0 10 0 90 0 0 0 0 90
1e1 -1.5E+1 .5 0 0 0 +5 6. 7
"""


def refused(text, match):
    with pytest.raises(FormatError, match=match) as caught:
        bvh.parse(text, "walk.bvh")
    error = caught.value
    assert error.source == "walk.bvh"
    assert str(error).startswith(f"walk.bvh:{error.line}:{error.column}: ")
    assert len(str(error)) < 400
    return error


def test_hierarchy_and_motion_are_read():
    clip = bvh.parse(TEXT)
    assert clip.names == ("Hips", "Leg", "Tail")
    assert clip.parents.tolist() == [-1, 0, 0]
    assert clip.offsets.tolist() == [[1, 2, 3], [0, -4, 0], [0, 0, -1]]
    assert {j: v.tolist() for j, v in clip.tips.items()} == {1: [0, 0, 1.5]}
    assert clip.channels[1] == ("Zrotation", "Yrotation", "Xrotation")
    assert clip.channels[2] == ()
    assert clip.frame_time == 0.05
    assert clip.values.tolist() == [[0, 10, 0, 90, 0, 0, 0, 0, 90], [10, -15, 0.5, 0, 0, 0, 5, 6, 7]]
    assert len(clip) == 2


def test_positions_replace_offsets_and_rotations_turn_what_hangs_below():
    places, turns = bvh.world(bvh.parse(TEXT))
    assert np.allclose(places[0], [[0, 10, 0], [4, 10, 0], [0, 10, -1]])
    # Rz(90) and then, in the turned frame, Rx(90)
    assert np.allclose(quat.rotate(turns[0, 1], np.array([0.0, 1.0, 0.0])), [0, 0, 1])
    assert np.allclose(turns[0, 2], turns[0, 0])


@pytest.mark.parametrize("order", euler.ORDERS)
def test_channels_apply_from_left_to_right(order):
    names = " ".join(f"{axis}rotation" for axis in order)
    clip = bvh.parse(f"HIERARCHY ROOT a {{ OFFSET 0 0 0 CHANNELS 3 {names} }} MOTION Frames: 1 Frame Time: 1\n20 30 40")
    axes = np.eye(3)[["XYZ".index(axis) for axis in order]]
    first, second, third = quat.to_matrix(quat.about(axes, np.radians([20.0, 30.0, 40.0])))
    assert np.allclose(quat.to_matrix(bvh.local(clip)[0][0, 0]), first @ second @ third)


def test_a_single_position_channel_leaves_the_other_coordinates():
    clip = bvh.parse(
        "HIERARCHY ROOT a { OFFSET 1 2 3 CHANNELS 2 Yposition Xrotation } MOTION Frames: 1 Frame Time: 1\n9 0"
    )
    assert bvh.local(clip)[1].tolist() == [[[1, 9, 3]]]


def same(a, b):
    assert a.names == b.names
    assert a.channels == b.channels
    assert np.array_equal(a.parents, b.parents)
    assert np.array_equal(a.offsets, b.offsets)
    assert np.array_equal(a.values, b.values)
    assert a.tips.keys() == b.tips.keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("\n", "\r"),
        lambda t: t.replace("\t", "      "),
        lambda t: "\ufeff" + t,
        lambda t: t + "\n\n  \n\t\n",
        lambda t: t.lower(),
        lambda t: t.upper(),
        lambda t: t.replace("Frames: 2", "Frames:\t2  ").replace("Frame Time: ", "Frame Time:"),
        lambda t: t.replace("MOTION", "\n  MOTION  \n\n"),
        lambda t: t.replace(" 90 0 0 0 0 90\n", "\n90 0 0\n0 0 90\n"),
        lambda t: t.replace("0 0 90\n1e1", "0 0 90 1e1"),
        lambda t: t.replace(" 0 ", "\t0  "),
        lambda t: t.replace("\n{", " {").replace("\n\t{", " {"),
        lambda t: t.replace("End Site", "End Site LeftToe_End"),
    ],
    ids=[
        "CRLF",
        "CR",
        "spaces",
        "byte order mark",
        "trailing blank lines",
        "lower case",
        "upper case",
        "spacing of labels",
        "space around MOTION",
        "wrapped frames",
        "frames on one line",
        "tabs between values",
        "brace on the line of the name",
        "named End Site",
    ],
)
def test_variants_in_the_wild_are_read_alike(change):
    clip, other = bvh.parse(TEXT), bvh.parse(change(TEXT))
    assert [n.lower() for n in other.names] == [n.lower() for n in clip.names]
    assert other.channels == clip.channels
    assert np.array_equal(other.values, clip.values)
    assert {j: v.tolist() for j, v in other.tips.items()} == {1: [0, 0, 1.5]}


def test_names_with_spaces_are_kept_and_repeated_ones_told_apart():
    clip = bvh.parse(TEXT.replace("Leg", "Bip01 L Thigh ").replace("Tail", "Bip01 L Thigh"))
    assert clip.names == ("Hips", "Bip01 L Thigh", "Bip01 L Thigh.001")
    tricky = bvh.parse(TEXT.replace("Hips", "a.001").replace("Leg", "a").replace("Tail", "a"))
    assert tricky.names == ("a.001", "a", "a.002")


def test_several_roots_and_no_frames_are_allowed():
    prop = "ROOT Prop\n{\nOFFSET 5 0 0\nCHANNELS 3 Xposition Yposition Zposition\n}\n"
    clip = bvh.parse(TEXT[: TEXT.index("MOTION")] + prop + "MOTION\nFrames: 0\nFrame Time: 0.1\n")
    assert clip.parents.tolist() == [-1, 0, 0, -1]
    assert clip.values.shape == (0, 12)
    same(clip, bvh.parse(bvh.format(clip)))


def test_written_text_is_read_back_exactly():
    clip = bvh.parse(TEXT)
    same(clip, bvh.parse(bvh.format(clip)))


def test_numbers_are_written_to_nine_digits():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 9)) * 10.0 ** rng.integers(-6, 7, (20, 9))
    clip = bvh.parse(TEXT)
    other = bvh.Bvh(clip.names, clip.parents, clip.offsets, clip.tips, clip.channels, 1 / 119.88, values)
    back = bvh.parse(bvh.format(other))
    assert np.allclose(back.values, values, rtol=1e-8, atol=0)
    assert back.frame_time == pytest.approx(1 / 119.88, rel=1e-8)
    same(back, bvh.parse(bvh.format(back)))


def test_files_are_written_and_read(tmp_path):
    path = tmp_path / "Läufer.bvh"
    bvh.write(path, bvh.parse(TEXT))
    same(bvh.read(path), bvh.parse(TEXT))
    assert b"\r" not in path.read_bytes()


def test_names_in_another_encoding_do_not_lose_the_motion(tmp_path):
    path = tmp_path / "clip.bvh"
    path.write_bytes(TEXT.replace("Leg", "左足").encode("shift_jis"))
    assert bvh.read(path).values.shape == (2, 9)


def test_missing_files_and_folders_are_told(tmp_path):
    with pytest.raises(TroupeError, match=r"none\.bvh: cannot be read"):
        bvh.read(tmp_path / "none.bvh")
    with pytest.raises(TroupeError, match="cannot be written"):
        bvh.write(tmp_path / "none" / "a.bvh", bvh.parse(TEXT))


@pytest.mark.parametrize(
    ("old", "new", "match", "line", "column"),
    [
        ("HIERARCHY", "HIERACHY", "expected HIERARCHY, found 'HIERACHY'", 1, 1),
        ("ROOT Hips", "ROOF Hips", "expected ROOT or MOTION", 2, 1),
        ("ROOT Hips\n{", "ROOT\n{", "needs a name", 3, 1),
        ("Hips\n{", "Hips\n", "expected {", 4, 2),
        ("OFFSET 1.0 2.0 3.0", "OFFSET 1.0 2.0", "expected a finite number, found 'CHANNELS'", 5, 2),
        ("OFFSET 1.0", "OFFSET nan", "finite number", 4, 9),
        ("OFFSET 1.0", "OFFSET inf", "finite number", 4, 9),
        ("OFFSET 1.0", "OFFSET 1e999", "finite number", 4, 9),
        ("OFFSET 1.0", "OFFSET 1_0", "finite number", 4, 9),
        ("OFFSET 1.0", "OFFSET __import__('os')", "finite number", 4, 9),
        ("\t\tOFFSET 0 -4 0\n", "", "'Leg' has no OFFSET", 13, 2),
        ("CHANNELS 6", "CHANNELS 7", "0 to 6 channels, not '7'", 5, 11),
        ("CHANNELS 6", "CHANNELS -1", "0 to 6 channels", 5, 11),
        ("Xposition", "Xscale", "'Xscale' is no channel; channels are Xposition, ", 5, 13),
        ("Yposition", "Xposition", "'Xposition' is repeated", 5, 23),
        ("CHANNELS 3", "CHANNELS 4", "'End' is no channel", 10, 3),
        ("JOINT Leg", "JOIN Leg", "expected OFFSET, CHANNELS, JOINT, End Site or '}'", 6, 2),
        ("\t}\n}\nMOTION", "\t}\nMOTION", "found 'MOTION'", 19, 1),
        ("}\nMOTION", "}\n}\nMOTION", "expected ROOT or MOTION, found '}'", 20, 1),
        ("Frames: 2", "Frames 2", "expected 'Frames:'", 21, 1),
        ("Frames: 2", "Frames: two", "whole number, not 'two'", 21, 9),
        ("Frames: 2", "Frames: -2", "whole number", 21, 9),
        ("Frames: 2", "Frames: 2.5", "whole number", 21, 9),
        ("Frames: 2", "Frames: 1e12", "whole number", 21, 9),
        ("Frames: 2", "Frames: " + "9" * 5000, "whole number", 21, 9),
        ("Frames: 2", "Frames: 1000000000000", r"1000000000000 frames .* 18 values \(2 frames\)", 25, 1),
        ("Frame Time: 0.05", "Frame Time: -0.05", "above 0", 22, 13),
        ("Frame Time: 0.05", "Frame Time: 0", "above 0", 22, 13),
        ("Frame Time: 0.05", "Frame Time: fast", "finite number", 22, 13),
        ("Frame Time: 0.05", "Frame Rate: 20", "expected 'Frame Time:'", 22, 1),
        (" .5 0", " .5 O", "found 'O'", 24, 16),
        (" .5 0", " nan 0", "found 'nan'", 24, 13),
        (" .5 0", " -inf 0", "found '-inf'", 24, 13),
        (" .5 0", " 0,5 0", "found '0,5'", 24, 13),
        (" .5 0", " 1.2.3 0", "found '1.2.3'", 24, 13),
        (" 6. 7\n", "\n", "frame 2 of 2 has 7 values, the channels need 9; 1 frames are whole", 24, 1),
        (" 6. 7\n", " 6. 7 8\n", "frame 2 of 2 has 10 values", 24, 1),
        ("Frames: 2", "Frames: 1", r"1 frames of 9 values are declared, 18 values \(2 frames\)", 25, 1),
        ("Frames: 2", "Frames: 3", r"3 frames of 9 values are declared, 18 values \(2 frames\)", 25, 1),
    ],
)
def test_malformations_are_named_with_their_place(old, new, match, line, column):
    assert old in TEXT
    error = refused(TEXT.replace(old, new, 1), match)
    assert (error.line, error.column) == (line, column)


def test_a_file_cut_anywhere_before_its_last_value_is_refused():
    end = TEXT.rindex("7")
    for cut in range(0, end, 3):
        with pytest.raises(FormatError):
            bvh.parse(TEXT[:cut])


def test_values_that_shift_from_frame_to_frame_are_refused():
    shifted = TEXT.replace(" 90\n1e1", "\n90 1e1")
    refused(shifted, "frame 1 of 2 has 8 values")


def test_a_hierarchy_without_channels_is_refused():
    still = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n}\nMOTION\nFrames: 1000000000000\nFrame Time: 1\n"
    refused(still, "no joint has channels")


@pytest.mark.parametrize("text", ["", " \n", "\0" * 100, "{" * 10_000_000, "x" * 10_000_000])
def test_rubbish_is_refused_at_once(text):
    refused(text, "HIERARCHY")


def test_braces_without_end_are_refused():
    refused("HIERARCHY ROOT a " + "{" * 1_000_000, "found '{'")
    refused("HIERARCHY ROOT a { " + "JOINT a { " * 20_000, "the file ends where '}' should follow")
    refused("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation " + "}" * 1_000_000, "found '}'")


def test_nesting_is_limited_by_nothing():
    depth = 5_000
    top, end = "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 1 Xrotation ", "}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n"
    clip = bvh.parse(top + "JOINT a { OFFSET 0 1 0 " * depth + "}" * depth + end)
    assert len(set(clip.names)) == depth + 1
    assert bvh.world(clip)[0][0, -1, 1] == depth + 1
    same(clip, bvh.parse(bvh.format(clip)))


def test_records_check_their_shapes():
    clip = bvh.parse(TEXT)
    parts = (clip.names, clip.parents, clip.offsets, clip.tips, clip.channels, 0.1)
    with pytest.raises(TroupeError, match="values"):
        bvh.Bvh(*parts, clip.values[:, :4])
    with pytest.raises(InvalidMotion, match="3 joints"):
        bvh.Bvh(clip.names, [0, 1, 2], *parts[2:], clip.values)
    with pytest.raises(ValueError, match="read-only"):
        clip.values[0, 0] = 1.0


@pytest.mark.parametrize("order", euler.ORDERS)
def test_a_motion_written_stands_where_the_motion_stood(order):
    motion, _ = steps(body(), seconds=1.0)
    rng = np.random.default_rng(2)
    turn = quat.exp(rng.normal(size=(1, len(motion.skeleton), 3)) * motion.times[:, None, None])
    rotations = quat.multiply(motion.rotations, turn)
    motion = type(motion)(motion.skeleton, motion.fps, motion.roots, rotations)
    clip = bvh.parse(bvh.format(bvh.from_motion(motion, scale=100.0, order=order)))
    places, turns = bvh.world(clip)
    wanted, globals_ = fk.forward(motion.skeleton, motion.rotations, motion.roots)
    at = [clip.names.index(name) for name in motion.skeleton.names]
    assert np.allclose(z_up(places[:, at]) / 100, wanted, atol=1e-6)
    back = np.concatenate([turns[..., :1], z_up(turns[..., 1:])], axis=-1)[:, at]
    assert quat.distance(back, globals_).max() < 1e-6
    assert 1 / clip.frame_time == pytest.approx(motion.fps)
    assert np.abs(np.diff(clip.values[:, 3:], axis=0)).max() < 60, "angles do not jump"


def test_a_written_character_faces_forward_in_its_neutral_stance():
    skeleton = body()
    clip = bvh.from_motion(steps(skeleton, seconds=0.1)[0])
    assert clip.channels[0] == ("Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation")
    assert set(clip.channels[1:]) == {("Zrotation", "Xrotation", "Yrotation")}
    left, toe = clip.offsets[skeleton.joint("thigh_L")], clip.offsets[skeleton.joint("toe_L")]
    assert left[0] == pytest.approx(10.0)
    assert toe.tolist() == pytest.approx([0, -6, 14])
    assert set(clip.tips) == {skeleton.joint(r) for r in ("head", "toe_L", "toe_R")}


def test_joints_in_any_order_are_written_depth_first():
    clip = bvh.parse(TEXT)
    wide = bvh.Bvh(
        names=("a", "b", "c", "d"),
        parents=[-1, 0, 0, 1],
        offsets=np.arange(12.0).reshape(4, 3),
        tips={},
        channels=(clip.channels[0], (), ("Xrotation",), ("Yrotation", "Zrotation")),
        frame_time=0.1,
        values=np.arange(9.0)[None],
    )
    back = bvh.parse(bvh.format(wide))
    assert back.names == ("a", "b", "d", "c")
    assert back.values.tolist() == [[0, 1, 2, 3, 4, 5, 7, 8, 6]]
    at = [back.names.index(n) for n in wide.names]
    assert np.allclose(bvh.world(back)[0][:, at], bvh.world(wide)[0])


def test_names_that_would_break_a_file_are_made_harmless():
    clip = bvh.parse(TEXT)
    names = ("Hips{", "Leg\nOFFSET 9 9 9", "")
    odd = bvh.Bvh(names, clip.parents, clip.offsets, clip.tips, clip.channels, 0.1, clip.values)
    back = bvh.parse(bvh.format(odd))
    assert back.names == ("Hips_", "Leg_OFFSET 9 9 9", "_")
    assert np.array_equal(back.offsets, clip.offsets)


def test_unknown_orders_are_refused():
    with pytest.raises(InvalidParam, match="XYX"):
        bvh.from_motion(steps(body(), seconds=0.1)[0], order="XYX")


def test_recorded_files_are_read_and_come_back(data):
    paths = sorted([*data.glob("mocap/**/*.bvh"), *data.glob("rigs/**/*.bvh")])
    if not paths:
        pytest.skip(f"test data absent: no BVH files in {data}")
    for path in paths:
        clip = bvh.read(path)
        assert len(clip.names) >= 19
        assert np.isfinite(bvh.world(clip)[0]).all()
        back = bvh.parse(bvh.format(clip), path.name)
        assert back.names == clip.names
        assert np.allclose(back.values, clip.values, rtol=1e-8, atol=1e-12)
        assert np.array_equal(bvh.parse(bvh.format(back)).values, back.values)


@pytest.mark.parametrize(
    ("path", "joints", "frames", "fps"),
    [
        ("mocap/cmu/02_01.bvh", 31, 344, 120.0),
        ("mocap/misc/olafhaag_walk01.bvh", 19, 101, 24.0),
        ("mocap/makehuman/walk1.bvh", 75, 14, 24.0),
        ("rigs/geno/Geno_bind.bvh", 75, 2, 60.0),
    ],
)
def test_recorded_files_have_their_joints_and_frames(data, path, joints, frames, fps):
    if not (data / path).exists():
        pytest.skip(f"test data absent: {data / path}")
    clip = bvh.read(data / path)
    assert (len(clip.names), len(clip)) == (joints, frames)
    assert 1 / clip.frame_time == pytest.approx(fps, rel=1e-4)
