"""Presets: shipped and the user's own, applied in one step, never executed, never lost."""

import json

import bpy
import canon
import numpy as np
import pytest
import stage
from troupe.addon import features, presets, settings
from troupe.core import presets as core

FEATURES = [op.feature() for op in features.operators()]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The user's presets, in a folder of the test's own."""
    path = tmp_path / "user" / "presets"
    monkeypatch.setattr(presets, "folder", lambda: path)
    return path


def write(folder, text, feature="mannequin"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{feature}.json").write_text(text, encoding="utf-8")


def figure():
    return bpy.context.scene.troupe.mannequin


def test_the_users_presets_lie_in_the_extensions_own_folder(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(presets, "_ROOT", "bl_ext.user_default.troupe")
    assert presets.folder().parts[-4:] == (".user", "user_default", "troupe", "presets")


@pytest.mark.parametrize("feature", FEATURES)
def test_shipped_presets_are_sound_and_differ(feature):
    found = presets.shipped(feature)
    assert not [p.fault for p in found if p.fault]
    assert len({json.dumps(p.values, sort_keys=True) for p in found}) == len(found)


def test_every_shipped_file_is_of_a_feature():
    assert {path.stem for path in core.SHIPPED.glob("*.json")} <= set(FEATURES)


@pytest.mark.parametrize("feature", FEATURES)
def test_every_shipped_preset_can_be_applied(feature):
    ob = stage.actor()
    owner = bpy.context.scene if presets.operator_of(feature).owner == "scene" else ob
    for preset in presets.shipped(feature):
        assert bpy.ops.troupe.preset_apply(feature=feature, name=preset.name) == {"FINISHED"}
        got = settings.params_from(getattr(owner.troupe, feature), presets.operator_of(feature).params).to_dict()
        for name, value in preset.values.items():
            assert np.allclose(got[name], value) if np.ndim(value) else got[name] == near(value)


def near(value):
    """A number to the precision that a property keeps; anything else as it is."""
    return pytest.approx(value) if isinstance(value, float) else value


def test_a_preset_leaves_the_parameters_it_does_not_name():
    ob = stage.actor()
    ob.troupe.retarget.file, ob.troupe.retarget.travel, ob.troupe.retarget.hands = "walk.bvh", 2.0, True
    bpy.ops.troupe.preset_apply(feature="retarget", name="Body only, fingers free")
    assert (ob.troupe.retarget.file, ob.troupe.retarget.travel) == ("walk.bvh", 2.0)
    assert not ob.troupe.retarget.hands


def test_a_preset_goes_to_all_selected_actors():
    first, second, third = stage.actor(), stage.actor(), stage.actor()
    stage.choose(first, second)
    bpy.ops.troupe.preset_apply(feature="retarget", name="Exact, no planting")
    assert [ob.troupe.retarget.plant for ob in (first, second, third)] == [False, False, True]


def test_applying_is_one_undo_step():
    stage.actor()
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.preset_apply("EXEC_DEFAULT", True, feature="mannequin", name="Heavy")
    after = canon.snapshot()
    assert after != before
    for _ in range(3):
        bpy.ops.ed.undo()
        assert canon.snapshot() == before
        bpy.ops.ed.redo()
        assert canon.snapshot() == after


def test_a_saved_preset_comes_back(folder):
    figure().height, figure().theme = 1.5, "clay"
    bpy.ops.troupe.preset_save(feature="mannequin", name="Ma poupée")
    figure().height, figure().theme = 2.0, "dummy"
    bpy.ops.troupe.preset_apply(feature="mannequin", name="Ma poupée")
    assert figure().height == 1.5 and figure().theme == "clay"
    assert [path.name for path in folder.iterdir()] == ["mannequin.json"]


def test_a_saved_preset_holds_typed_numbers_and_no_references(folder):
    ob = stage.actor()
    ob.troupe.retarget.file, ob.troupe.retarget.travel = "/somewhere/secret.bvh", 0.4
    bpy.ops.troupe.preset_save(feature="retarget", name="Mine")
    text = (folder / "retarget.json").read_text(encoding="utf-8")
    assert json.loads(text)["presets"]["Mine"]["travel"] == 0.4
    assert "secret" not in text and "source" not in json.loads(text)["presets"]["Mine"]


def test_saving_under_a_name_of_ones_own_replaces_it_in_place():
    for name, height in (("A", 1.5), ("B", 1.6), ("A", 1.7)):
        figure().height = height
        bpy.ops.troupe.preset_save(feature="mannequin", name=name)
    assert [(p.name, p.values["height"]) for p in presets.own("mannequin")] == [("A", 1.7), ("B", 1.6)]


def test_a_removed_preset_is_gone_and_the_others_stay():
    for name in "AB":
        bpy.ops.troupe.preset_save(feature="mannequin", name=name)
    bpy.ops.troupe.preset_remove(feature="mannequin", name="A")
    assert [p.name for p in presets.own("mannequin")] == ["B"]


def call(operator, **arguments):
    return getattr(bpy.ops.troupe, f"preset_{operator}")(**arguments)


@pytest.mark.parametrize(
    ("operator", "feature", "name", "words"),
    [
        ("apply", "mannequin", "Nobody", "no such preset of mannequin; there are Tall man"),
        ("apply", "fly", "Heavy", "no such feature; there are mannequin"),
        ("apply", "../mannequin", "Heavy", "no such feature"),
        ("apply", "retarget", "Exact, no planting", "Select the rig of a character first"),
        ("save", "mannequin", "Heavy", "shipped preset; choose another"),
        ("save", "mannequin", "", "must be 1 to 60 printable"),
        ("save", "mannequin", "a\nb", "must be 1 to 60 printable"),
        ("save", "retarget", "A", "Select the rig of a character first"),
        ("save", "../../x", "A", "no such feature"),
        ("remove", "mannequin", "Heavy", "shipped with Troupe and cannot be removed"),
        ("remove", "mannequin", "Nobody", "no preset of yours for mannequin; there are none"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(operator, feature, name, words, tmp_path):
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=words):
        call(operator, feature=feature, name=name)
    assert canon.snapshot() == before
    assert not list(tmp_path.rglob("*.*"))


def test_a_damaged_file_is_named_kept_and_leaves_the_shipped_ones_usable(folder):
    write(folder, "{broken")
    for operator, name in (("apply", "Mine"), ("save", "Mine"), ("remove", "Mine")):
        with pytest.raises(RuntimeError, match=r"mannequin\.json:1:2: not JSON"):
            call(operator, feature="mannequin", name=name)
    assert (folder / "mannequin.json").read_text(encoding="utf-8") == "{broken"
    assert bpy.ops.troupe.preset_apply(feature="mannequin", name="Heavy") == {"FINISHED"}


def test_a_faulty_preset_is_refused_with_its_place_and_the_others_work(folder):
    body = '{"Old": {"height": 1.6,\n "wings": 2},\n"Mine": {"height": 1.6}}'
    write(folder, f'{{"troupe_presets": 1, "feature": "mannequin", "presets":\n{body}}}')
    height = figure().height
    with pytest.raises(RuntimeError, match=r"mannequin\.json:3:2: 'Old': 'wings': no such parameter"):
        bpy.ops.troupe.preset_apply(feature="mannequin", name="Old")
    assert figure().height == height
    bpy.ops.troupe.preset_save(feature="mannequin", name="Other")
    assert [p.name for p in presets.own("mannequin")] == ["Old", "Mine", "Other"]
    assert presets.own("mannequin")[0].values == {"height": 1.6, "wings": 2}
    bpy.ops.troupe.preset_apply(feature="mannequin", name="Mine")
    assert figure().height == pytest.approx(1.6)
    bpy.ops.troupe.preset_remove(feature="mannequin", name="Old")
    assert [p.name for p in presets.own("mannequin")] == ["Mine", "Other"]


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.system('touch PWNED')",
        '{"troupe_presets": 1, "feature": "mannequin", "presets": {"P": {"height": "__import__(\'os\')"}}}',
        '{"troupe_presets": 1, "feature": "mannequin", "presets": {"P": {"__class__": 1, "bl_idname": "x"}}}',
        '{"troupe_presets": 1, "feature": "mannequin", "presets": {"P": {"height": 1e999}}}',
        '{"troupe_presets": 1, "feature": "mannequin", "presets": {"P": {"theme": "clay\\u0000"}}}',
        '{"troupe_presets": 1, "feature": "mannequin", "presets": {"P": []}}',
        "[" * 200_000,
    ],
)
def test_a_hostile_file_does_nothing(folder, text):
    write(folder, text)
    before = canon.snapshot()
    with pytest.raises(RuntimeError, match=r"mannequin\.json:1:\d+: "):
        bpy.ops.troupe.preset_apply(feature="mannequin", name="P")
    assert canon.snapshot() == before
    assert [path.name for path in folder.iterdir()] == ["mannequin.json"]


def test_a_folder_that_cannot_be_written_is_named(folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"mannequin\.json:1:1: cannot be written: "):
        bpy.ops.troupe.preset_save(feature="mannequin", name="A")


def test_a_tooltip_tells_what_a_preset_sets():
    class Button:
        feature, name = "mannequin", "Heavy"

    assert presets.Apply.description(bpy.context, Button).startswith("Set height 1.78, build 0.9, ")
    Button.name = "Nobody"
    assert "no such preset" in presets.Apply.description(bpy.context, Button)


class Layout:
    """Stands in for Blender's layout: without a window nothing is drawn."""

    def __init__(self, drawn):
        self.drawn = drawn

    def row(self, **_options):
        return Layout(self.drawn)

    column = row

    def operator(self, idname, **_options):
        button = type("Button", (), {"idname": idname, "name": ""})()
        self.drawn.append(button)
        return button

    def label(self, text, **_options):
        self.drawn.append(text)


def drawn(feature):
    out = []
    panel = type("Panel", (), {"layout": Layout(out)})()
    getattr(bpy.types, f"TROUPE_PT_presets_{feature}").draw(panel, bpy.context)
    return out


def test_the_list_offers_to_remove_only_the_users_own(folder):
    bpy.ops.troupe.preset_save(feature="mannequin", name="Mine")
    buttons = drawn("mannequin")
    names = [b.name for b in buttons if b.idname == "troupe.preset_apply"]
    assert names == [*(p.name for p in presets.shipped("mannequin")), "Mine"]
    assert [b.name for b in buttons if b.idname == "troupe.preset_remove"] == ["Mine"]
    assert buttons[-1].idname == "troupe.preset_save" and {b.feature for b in buttons} == {"mannequin"}


def test_the_list_shows_what_is_wrong_with_the_users_file(folder):
    write(folder, "{broken")
    assert "not JSON" in drawn("mannequin")[-1]


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_has_a_list(feature):
    assert drawn(feature)[-1].idname == "troupe.preset_save"
