"""Jobs and the command line: the same keys as the buttons give, all files or none, a clear word when it goes wrong."""

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy
import canon
import extension
import numpy as np
import pytest
import stage
import testdata
from test_reach import table
from troupe.addon import bake, features, job, plot, rig
from troupe.addon.bake import results
from troupe.addon.features.spectrum import COLOURS
from troupe.addon.job import output
from troupe.addon.rig.clip import read_bvh
from troupe.core.errors import TroupeError
from troupe.core.job import RESERVED
from troupe.core.maths import quat
from troupe.core.params import declared

ACTOR = '[[actor]]\nname = "Anna"\nmannequin = {height = 1.7}\n'
WALK = '[[step]]\nactor = "Anna"\nfeature = "retarget"\nfile = "walk.bvh"\n'
BROKEN = '[[step]]\nactor = "Anna"\nfeature = "retarget"\naction = "nothing"\n'
BLEND = '[output]\nblend = "out.blend"\n'


@pytest.fixture
def folder(tmp_path):
    """A job's folder with a walk in it."""
    stage.walk_file(tmp_path, cycles=1).rename(tmp_path / "walk.bvh")
    return tmp_path


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    """The built zip."""
    ready = os.environ.get("TROUPE_ZIP")
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    return Path(ready) if ready else extension._build(scripts, tmp_path_factory.mktemp("zip"))


def write(folder, *parts):
    (folder / "job.toml").write_text("\n".join(parts), encoding="utf-8")
    return str(folder / "job.toml")


def run(folder, *parts, options=()):
    return job.main(["run", write(folder, *parts), *options])


def files(folder):
    return sorted(p.name for p in folder.iterdir())


def keys():
    """Every key in the open file, by action."""
    return {action.name: canon.keys_of(action) for action in bpy.data.actions}


def keys_in(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = keys()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return found


def by_hand(folder):
    """What a person does with the buttons, as the job ACTOR, WALK says it."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.troupe.mannequin(height=1.7)
    bpy.context.object.name = "Anna"
    bpy.context.scene.frame_set(1)
    bpy.ops.troupe.retarget(file=str(folder / "walk.bvh"))
    return keys()


def build_py():
    sys.path.insert(0, str(testdata.ROOT))
    try:
        import build
    finally:
        sys.path.remove(str(testdata.ROOT))
    return build


def child(archive, *arguments, **options):
    """The process that `build.py run` starts."""
    environ = {**os.environ, "PYTHONPATH": str(testdata.ROOT)}
    environ.pop("BLENDER_USER_RESOURCES", None)
    command = [sys.executable, "-m", "tools.run_job", str(archive), *map(str, arguments)]
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def test_buttons_command_line_and_build_give_equal_keys(folder, archive, monkeypatch):
    wanted = by_hand(folder)
    assert sum(map(len, wanted["Anna walk"].values())) > 10_000
    assert run(folder, ACTOR, WALK, BLEND) == 0
    assert keys_in(folder / "out.blend") == wanted
    (folder / "out.blend").unlink()
    assert run(folder, ACTOR, WALK, BLEND) == 0
    assert keys_in(folder / "out.blend") == wanted, "the same job twice"

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert job.main(["mannequin", "--height", "1.7", "--output", str(folder / "anna.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "anna.blend"))
    bpy.data.objects["Mannequin"].name = "Anna"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "anna.blend"))
    flags = ["--actor", "Anna", "--start", "1", "--file", str(folder / "walk.bvh")]
    assert job.main(["retarget", *flags, "--output", str(folder / "flags.blend")]) == 0
    assert keys_in(folder / "flags.blend") == wanted

    (folder / "out.blend").unlink()
    build = build_py()
    # the environment of this very test in place of the newest, whose numpy may round otherwise
    monkeypatch.setattr(build.envs, "newest_blender", lambda: SimpleNamespace(executable=sys.executable))
    monkeypatch.setattr(build.package, "build_zip", lambda _environment: archive)
    with pytest.raises(SystemExit) as left:
        build.run_job(argparse.Namespace(job=[str(folder / "job.toml")]))
    assert left.value.code == 0
    assert keys_in(folder / "out.blend") == wanted


def test_steps_go_on_where_the_one_before_ended(folder):
    assert run(folder, ACTOR, WALK, WALK, BLEND) == 0
    first, second = (bpy.data.actions[n].frame_range for n in ("Anna walk", "Anna walk.001"))
    assert first[0] == 1 and second[0] == first[1]
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, second[1])


def test_what_is_taken_and_walked_with_is_carried_by_steps_one_after_the_other(folder):
    """Carry is laid over the walk before it, from where the bottle was taken, without a start."""
    table(stage.actor())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "kitchen.blend"))
    step = '[[step]]\nactor = "Mannequin"\nfeature = '
    pick_up = f'{step}"reach"\nstart = 1\ntask = "pick_up"\ntarget = "Bottle"\nhand = "R"\ngaze = 0.0\n'
    words = ['scene = "kitchen.blend"', pick_up, f'{step}"walk"\ndistance = 1.0\n', f'{step}"carry"\n', BLEND]
    assert run(folder, *words) == 0
    made = [found.action for found in results.results_of(bpy.data.objects["Mannequin"])]
    spans = {results.recipe_of(action)["feature"]: tuple(action.frame_range) for action in made}
    assert spans["reach"][1] == spans["walk"][0] < spans["walk"][1] - 20 and spans["carry"] == spans["walk"]


def test_a_report_has_plots_of_the_edits(folder):
    edits = '[[step]]\nactor = "Anna"\nfeature = "waveshape"\nstart = 1\nshape = "hard"\nextent = 0.5\n'
    wanted = '[output]\nreport = "report.json"\nplots = ["upper_arm_L", "most"]\n'
    assert run(folder, ACTOR, WALK, edits, wanted) == 0
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    names = ["report_2_Anna_upper_arm_L.png", "report_2_Anna_most.png"]
    assert "plots" not in report["steps"][0], "the walk is no edit"
    assert report["steps"][1]["plots"] == names
    assert files(folder) == sorted(["job.toml", "walk.bvh", "report.json", *names])
    assert not bpy.data.images
    picture = pixels(folder / names[0])
    assert picture.shape == (*plot.SIZE[::-1], 3)
    red, dim = (np.abs(picture - shade * np.array(COLOURS[0])).max(axis=-1) < 0.02 for shade in (1.0, 0.45))
    assert red[:320].sum() > 500 and dim[:320].sum() > 500, "the curve as it is, and as it was before"
    assert red[320:].sum() > 200 and dim[320:].sum() > 50, "and their spectra"
    assert np.ptp(np.flatnonzero(red[34:286].any(axis=1))) < np.ptp(np.flatnonzero(dim[34:286].any(axis=1)))


def pixels(path):
    """(H, W, 3) a picture, the first row on top."""
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    out = np.empty(image.size[0] * image.size[1] * image.channels, np.float32)
    image.pixels.foreach_get(out)
    return out.reshape(image.size[1], image.size[0], -1)[::-1, :, :3]


def test_plots_of_joints_that_are_not_there_are_refused_before_anything_runs(folder, capfd):
    edit = '[[step]]\nactor = "Anna"\nfeature = "bands"\n'
    wanted = '[output]\nreport = "report.json"\nplots = ["tail"]\n'
    assert run(folder, ACTOR, WALK, edit, wanted) == 2
    said = capfd.readouterr().err
    assert "job.toml:16:1: plots: Anna has no joint 'tail'; its roles are hips" in said and "step 1" not in said
    assert files(folder) == ["job.toml", "walk.bvh"]


EDITS = (
    'feature = "cleanup"\ntask = "despike"\nscope = "arms"',
    'feature = "bands"\ngains = [1, 1, 1.5, 1.5, 1, 1, 1, 1]\nscope = "leg_L"\ninfluence = 0.5',
    'feature = "waveshape"\nshape = "soft"\nextent = 0.6\nrange = "part"\nbegin = 0.2\nend = 0.8\nsoft = 0.1',
    'feature = "displace"\nedits = \'[{"time": 0.5, "turns": {"head": [0.5, 0, 0]}, "root": [0, 0, 0]}]\'',
    'feature = "emotion"\nemotion = "sad"\npace = false\njoints = "head, upper_arm_R"\nperiods = [[0.4]]',
    'feature = "timewarp"\ncurve = [[0, 0], [1, 1.2]]',
    'feature = "blend"\naction = "Anna walk"\nlimbs = [[0, 0, 0, 0, 1, 0, 0, 0]]\namount = 0.5',
    'feature = "spectrum"\njoint = "head"\nfile = "head.png"',
)


def test_every_edit_is_made_again_and_removed_by_a_job(folder):
    """With a part of the body, a part of the time and a part of the change."""
    steps = [f'[[step]]\nactor = "Anna"\nstart = 1\n{edit}\n' for edit in EDITS]
    again = '[[step]]\nactor = "Anna"\nfeature = "regenerate"\nresult = "Anna bands"\n'
    gone = '[[step]]\nactor = "Anna"\nfeature = "remove_result"\nresult = "Anna soft curve"\n'
    assert run(folder, ACTOR, WALK, *steps, again, gone, BLEND) == 0
    assert (folder / "head.png").read_bytes()[:4] == b"\x89PNG"
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    anna = bpy.data.objects["Anna"]
    names = [f.action.name for f in bake.results_of(anna)]
    assert len(names) == 7 and "Anna soft curve" not in names
    assert job.main(["remove_result", "--every", "--output", str(folder / "bare.blend")]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "bare.blend"))
    assert not bake.results_of(bpy.data.objects["Anna"])


def test_a_feeling_is_saved_in_one_step_and_used_in_the_next(folder):
    save = '[[step]]\nactor = "Anna"\nfeature = "save_feeling"\nfilepath = "mine.json"\nemotion = "happy"\n'
    use = '[[step]]\nactor = "Anna"\nfeature = "emotion"\nstart = 1\nfile = "mine.json"\n'
    assert run(folder, ACTOR, WALK, use, save) == 2, "not there yet"
    assert run(folder, ACTOR, WALK, save, use) == 0
    assert json.loads((folder / "mine.json").read_text(encoding="utf-8"))["name"] == "happy"
    assert run(folder, ACTOR, WALK, save.replace("mine.json", "walk.bvh")) == 2, "an input is not written over"


def test_limbs_and_moments_are_blended_by_a_job(folder):
    """The left arm is taken over, the right one comes in over the clip, the rest stays."""
    stage.actor().name = "Bob"
    stage.actor().name = "Anna"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    pace = '[[step]]\nactor = "Bob"\nfeature = "retarget"\nstart = 1\nfile = "walk.bvh"\n'
    grow = '[[step]]\nactor = "Bob"\nfeature = "bands"\nstart = 1\ngains = [1, 1, 2, 2, 2, 1, 1, 1]\nplant = false\n'
    mix = (
        '[[step]]\nactor = "Anna"\nfeature = "blend"\nstart = 1\nsource = "Bob"\namount = 1.0\n'
        "align = false\nplant = false\ntiming = 'first'\n"
        "limbs = [[0, 0, 0, 0, 1, 0, 0, 0], [1.5, 0, 0, 0, 1, 1, 0, 0]]\n"
    )
    assert run(folder, 'scene = "scene.blend"', WALK, pace, grow, mix, BLEND) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    anna, bob = bpy.data.objects["Anna"], bpy.data.objects["Bob"]
    span = tuple(map(int, bake.results_of(anna)[0].action.frame_range))
    shown, other = (bake.read(ob, rig.read(ob, bpy.context), bpy.context, frames=span) for ob in (anna, bob))
    own = bake.read(anna, rig.read(anna, bpy.context), bpy.context, bake.results_of(anna)[0].action, span)

    def apart(role, motion, at=slice(None)):
        joint = own.skeleton.joint(role)
        return quat.distance(shown.rotations[at, joint], motion.rotations[at, joint]).max()

    assert apart("upper_arm_L", other) < 0.02 < apart("upper_arm_L", own)
    assert apart("upper_arm_R", own, slice(0, 2)) < 0.03
    assert apart("thigh_R", own) < 0.02


def test_a_report_has_numbers(folder):
    assert run(folder, ACTOR, WALK, '[output]\nreport = "report.json"\n') == 0
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (result,) = report["steps"][0]["results"]
    assert report["ok"] and result["actor"] == "Anna" and result["frames"][0] == 1
    assert result["keys"] == sum(len(values) // 2 for values in keys()["Anna walk"].values())
    assert 0.0 <= result["foot_slide_mm"] < 5.0 and result["contacts"] >= 2
    assert files(folder) == ["job.toml", "report.json", "walk.bvh"]


def test_a_bvh_holds_the_motion_of_the_actor(folder):
    assert run(folder, ACTOR, "place = [1, 2]\nheading_deg = 90\n", WALK, '[output]\nbvh = "anna.bvh"\n') == 0
    ob = bpy.data.objects["Anna"]
    shown = bake.read(ob, rig.read(ob, bpy.context), bpy.context)
    written = read_bvh(folder / "anna.bvh")
    # the unit of a BVH file is unknown: its reader takes the figure for one of middle size
    metre = shown.skeleton.leg_length() / written.skeleton.leg_length()
    assert np.abs(metre * written.roots - shown.roots).max() < 1e-3
    travelled = shown.roots[-1] - shown.roots[0]
    assert np.arctan2(travelled[0], -travelled[1]) == pytest.approx(np.pi / 2, abs=0.1)
    assert np.linalg.norm(shown.roots[0, :2] - (1, 2)) < 0.1


@pytest.mark.parametrize("name", ["shot_##.png", "shot.png", "shot.mp4"])
def test_pictures_are_rendered(folder, name, monkeypatch):
    monkeypatch.setattr(output, "SIZE", (192, 108))
    assert run(folder, "frames = [3, 5]\n" + ACTOR, WALK, f'[output]\nrender = "{name}"\n') == 0
    made = [f"shot_{n:02}.png" for n in (3, 4, 5)] if "#" in name else [name]
    assert files(folder) == sorted(["job.toml", "walk.bvh", *made])
    assert all((folder / n).stat().st_size > 2_000 for n in made)


@pytest.mark.parametrize("kind", [".blend", ".bvh"])
def test_an_actor_comes_from_a_rig_file(folder, kind):
    ob = stage.actor()
    ob.name = "Somebody"
    bpy.data.libraries.write(str(folder / "rig.blend"), set(bpy.context.scene.objects))
    (folder / "rig.bvh").write_bytes((folder / "walk.bvh").read_bytes())
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    actor = f'fps = 23.976\n[[actor]]\nname = "Anna"\nrig = "rig{kind}"\nplace = [2, 0]\n'
    assert run(folder, actor, WALK, BLEND) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    ob, render = bpy.data.objects["Anna"], bpy.context.scene.render
    assert rig.is_cast(ob) and [f.action.name for f in bake.results_of(ob)] == ["Anna walk"]
    assert render.fps / render.fps_base == pytest.approx(23.976, abs=1e-4)
    here = bake.base_of(rig.read(ob, bpy.context), np.array(ob.matrix_world), 1.0)
    assert here[:2] == pytest.approx((2.0, 0.0), abs=1e-4)
    if kind == ".blend":
        assert any(child.type == "MESH" for child in ob.children)


def test_the_scene_of_a_job_is_read_and_not_written(folder):
    stage.actor().name = "Anna"
    (folder / "skin.png").write_bytes(b"")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    bpy.data.images.new("skin", 1, 1).use_fake_user = True
    bpy.data.images["skin"].filepath_raw = "//skin.png"
    bpy.data.images["skin"].source = "FILE"
    bpy.ops.wm.save_mainfile()
    before = (folder / "scene.blend").read_bytes()
    there = files(folder)
    assert run(folder, 'scene = "scene.blend"', WALK, BLEND) == 0
    assert (folder / "scene.blend").read_bytes() == before
    assert files(folder) == sorted([*there, "job.toml", "out.blend"])
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert "Anna walk" in keys()
    assert bpy.data.images["skin"].filepath == "//skin.png", "paths in the file lead where they led"
    assert run(folder, 'scene = "scene.blend"', WALK, options=["--save"]) == 0
    assert (folder / "scene.blend").read_bytes() != before
    assert "Anna walk" in keys_in(folder / "scene.blend")


def test_the_open_file_is_written_over_only_when_asked(folder, capfd):
    stage.actor().name = "Anna"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "out.blend"))
    before = (folder / "out.blend").read_bytes()
    assert run(folder, WALK, BLEND) == 2
    assert "use --save" in capfd.readouterr().err
    assert job.main(["retarget", "--file", str(folder / "walk.bvh"), "--output", str(folder / "out.blend")]) == 2
    assert (folder / "out.blend").read_bytes() == before
    assert job.main(["retarget", "--file", str(folder / "walk.bvh"), "--save"]) == 0
    assert "Anna walk" in keys_in(folder / "out.blend")


def test_scripts_in_a_scene_are_not_run(folder):
    trap = folder / "trapped"
    ob = stage.actor()
    ob.name = "Anna"
    text = bpy.data.texts.new("trap.py")
    text.write(f"open({str(trap)!r}, 'w')")
    text.use_module = True
    driver = ob.driver_add("location", 2).driver
    driver.expression = f"len(str(open({str(trap)!r}, 'w')))"
    trap.unlink(missing_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    trap.unlink(missing_ok=True)
    run(folder, 'scene = "scene.blend"', WALK, BLEND)
    assert not trap.exists()


def test_a_failed_step_leaves_no_file(folder, capfd):
    there = [*files(folder), "job.toml"]
    everything = '[output]\nblend = "out.blend"\nbvh = "anna.bvh"\nreport = "report.json"\n'
    assert run(folder, ACTOR, WALK, BROKEN, everything) == 1
    error = capfd.readouterr().err
    assert f"{folder / 'job.toml'}:13:1: step 2 (retarget): action = 'nothing': no action of that name" in error
    assert files(folder) == sorted(there)
    assert run(folder, ACTOR, BROKEN, WALK, everything, options=["--keep-going"]) == 1
    assert files(folder) == sorted([*there, "out.blend", "anna.bvh", "report.json"])
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert [step["ok"] for step in report["steps"]] == [False, True] and not report["ok"]
    assert report["steps"][0]["error"].startswith(f"{folder / 'job.toml'}:8:1: step 1")


def test_files_that_cannot_all_be_written_are_not_written_at_all(folder, monkeypatch, capfd):
    (folder / "out.blend").write_text("old")

    def full(*_arguments):
        raise TroupeError("no room")

    monkeypatch.setattr(output, "_write_bvh", full)
    assert run(folder, ACTOR, WALK, BLEND + 'bvh = "anna.bvh"\n') == 1
    assert "no room" in capfd.readouterr().err
    assert (folder / "out.blend").read_text() == "old"
    assert files(folder) == ["job.toml", "out.blend", "walk.bvh"]


HOSTILE = {
    "unknown key": (ACTOR, WALK, "speeed = 1\n", BLEND),
    "wrong type": (ACTOR, WALK, 'travel = "far"\n', BLEND),
    "path outside": (ACTOR, WALK, '[output]\nblend = "../out.blend"\n'),
    "control characters": (ACTOR.replace("Anna", "An\\u001bna"), WALK, BLEND),
    "nesting": ("x = " + "[" * 500_000,),
    "ten megabytes": ("x = " + "[" * 10_000_000,),
    "no TOML": ("import os; os.remove('walk.bvh')",),
    "unknown actor": (ACTOR, WALK.replace("Anna", "Ana"), BLEND),
    "no rig": ('[[actor]]\nname = "Anna"\nrig = "rig.bvh"\n', WALK, BLEND),
    "no scene": ('scene = "scene.blend"', WALK, BLEND),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_bad_input_is_told_with_its_place_and_nothing_is_written(folder, kind, capfd):
    for name in ("rig.bvh", "scene.blend"):
        (folder / name).write_text("nonsense")
    there = sorted([*files(folder), "job.toml"])
    outside = files(folder.parent)
    assert run(folder, *HOSTILE[kind]) == 2
    error = capfd.readouterr().err
    assert ":1" in error and str(folder) in error
    assert files(folder) == there and files(folder.parent) == outside


def test_a_misspelt_actor_gets_a_suggestion(folder, capfd):
    assert run(folder, ACTOR, WALK.replace("Anna", "Ana")) == 2
    assert "job.toml:6:1: step 1: no actor 'Ana'; did you mean 'Anna'?" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["retarget", "--travel", "99"], 2),
        (["retarget", "--travel", "x"], 2),
        (["retarget", "--trav", "1"], 2),
        (["retarget", "--file", "none.bvh"], 1),
        (["retarget", "--actor", "Nobody"], 2),
        (["dance"], 2),
        ([], 2),
        (["run", "none.toml"], 2),
        (["demo", "none"], 2),
        (["demo", "--output", "x.blend"], 2),
        (["cast", "--output", "x.txt"], 2),
        (["cast", "--save"], 2),
        (["--help"], 0),
        (["retarget", "--help"], 0),
        (["cast"], 0),
    ],
)
def test_exit_codes(words, code):
    stage.actor()
    assert job.main(words) == code


def test_the_only_armature_need_not_be_named(capfd):
    stage.actor()
    assert job.main(["cast"]) == 0
    stage.actor()
    assert job.main(["cast"]) == 2
    assert "choose with --actor NAME" in capfd.readouterr().err
    assert job.main(["cast", "--actor", "Mannequin", "--actor", "Mannequin.001"]) == 0


def test_a_command_runs_without_a_window(folder):
    stage.actor()
    with bpy.context.temp_override(window=None):
        assert not hasattr(bpy.context, "selected_objects"), "as where Blender calls a command"
        assert job.main(["retarget", "--file", str(folder / "walk.bvh")]) == 0


def test_list_tells_every_feature_and_parameter(capfd):
    assert job.main(["list", "--json"]) == 0
    listed = {f["feature"]: f for f in json.loads(capfd.readouterr().out)["features"]}
    for cls in features.all_steps().values():
        wanted = [p.name for record in cls.records() for p in declared(record)]
        assert [p["name"] for p in listed[cls.feature()]["params"]] == wanted
    assert listed["follow_footprints"]["family"] == listed["travel"]["family"] == "Move", "a further button of Travel"
    assert job.main(["list"]) == 0
    assert "travel = 1.0" in capfd.readouterr().out


def test_json_is_all_that_stdout_has(folder, capfd):
    write(folder, ACTOR, WALK)
    assert job.main(["run", str(folder / "job.toml"), "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert report["code"] == 0 and report["steps"][0]["results"][0]["keys"] > 0
    write(folder, ACTOR, BROKEN)
    assert job.main(["run", str(folder / "job.toml"), "--json"]) == 1
    assert "step 1" in json.loads(capfd.readouterr().out)["error"]


def test_a_demo_can_be_kept(tmp_path):
    assert job.main(["demo", "retarget", "--output", str(tmp_path / "demo.blend")]) == 0
    assert files(tmp_path) == ["demo.blend"]


def test_no_parameter_has_a_reserved_name():
    for cls in features.all_steps().values():
        assert not {p.name for record in cls.records() for p in declared(record)} & set(RESERVED), cls


def slow_job(folder):
    """A job that is still busy with its last file when it has written the others under names of their own."""
    for name in ("out.blend", "report.json", "shot_0001.png"):
        (folder / name).write_text("old")
    outputs = 'blend = "out.blend"\nreport = "report.json"\nrender = "shot_####.png"\n'
    return write(folder, "frames = [1, 5000]\n" + ACTOR, WALK, f"[output]\n{outputs}")


def until(process, word):
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(f"the job ended before {word!r}")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_job_leaves_the_files_as_they_were(folder, archive, number):
    process = child(archive, slow_job(folder))
    try:
        until(process, "rendering")
        until(process, "Saved:")
        process.send_signal(number)
        said, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert all((folder / name).read_text() == "old" for name in ("out.blend", "report.json", "shot_0001.png"))
    shown = [name for name in files(folder) if not name.startswith(".")]
    assert shown == ["job.toml", "out.blend", "report.json", "shot_0001.png", "walk.bvh"]
    if number != signal.SIGKILL:
        assert process.returncode == 130 and "cancelled; nothing was written" in said
        assert files(folder) == shown, "nothing is left behind"
