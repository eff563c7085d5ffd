"""What holds for every feature: one name everywhere, a tooltip, a reason when grey, one undo step, a demo, a page."""

import importlib

import bpy
import canon
import depths
import pytest
import stage
import testdata
from clicks import Click
from troupe.addon import FEATURES, demos, features, settings
from troupe.addon.features import base, panels
from troupe.core.params import declared

NAMES = [name for names in FEATURES.values() for name in names]
LOOKED_AT = ("walk", "run", "travel", "doctor", "tidy", "serve", "reach", "plan")
"""Features whose own tests build their demo and say what it must show."""
HANDLE = ("grasp", "carry")
"""Features in whose demos hands deal with things, which nothing may go through."""
SCENES = ("reach.chess", "reach.housing", "reach.pot", "reach.sought", "reach.give")
SCENES += ("reach.fetch", "reach.controls", "plan.maze")
"""Further scenes of which the same holds."""
OPERATORS = sorted(f"troupe.{n}" for n in dir(bpy.ops.troupe))


def operator(idname):
    return getattr(bpy.ops.troupe, idname.split(".")[1])


@pytest.mark.parametrize("name", NAMES)
def test_a_feature_has_an_operator_a_demo_and_a_page(name):
    module = importlib.import_module(f"{features.__name__}.{name}")
    assert module.Operator.bl_idname == f"troupe.{name}"
    assert callable(importlib.import_module(f"{features.__name__.rpartition('.')[0]}.demos.{name}").build)
    page = testdata.ROOT / "docs" / f"{name}.md"
    assert "](images/" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("idname", OPERATORS)
def test_an_operator_has_a_label_and_a_tooltip(idname):
    rna = operator(idname).get_rna_type()
    assert len(rna.description) > 20 and rna.name
    for p in rna.properties:
        if p.identifier not in ("rna_type", "filepath", "filter_glob"):
            assert p.description, p.identifier


@pytest.mark.parametrize("idname", OPERATORS)
def test_an_operator_that_cannot_run_says_why(idname):
    bpy.ops.object.armature_add()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not operator(idname).poll()
    with pytest.raises(RuntimeError, match=r"poll\(\) [A-Z].{10}"):
        operator(idname)()
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("name", NAMES)
def test_at_most_six_parameters_are_basic(name):
    params = importlib.import_module(f"{features.__name__}.{name}").Operator.params
    assert sum(p.basic for p in declared(params)) <= 6


@pytest.mark.parametrize("name", NAMES)
def test_properties_and_parameters_agree(name):
    cls = importlib.import_module(f"{features.__name__}.{name}").Operator
    stage.actor()
    owner = bpy.context.scene if cls.owner == "scene" else bpy.context.object
    assert settings.params_from(getattr(owner.troupe, name), cls.params) == cls.params()
    rna = operator(f"troupe.{name}").get_rna_type().properties
    for p in declared(cls.params):
        assert rna[p.name].description == p.help
        if p.kind in ("float", "int"):
            assert rna[p.name].hard_min == pytest.approx(p.lo) and rna[p.name].hard_max == pytest.approx(p.hi)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LOOKED_AT])
def test_a_demo_builds_its_scene(name):
    demo = importlib.import_module(f"{features.__name__.rpartition('.')[0]}.demos.{name}")
    demo.build(bpy.context)
    assert any(ob.type == "MESH" for ob in bpy.context.scene.objects)
    needs_nobody = importlib.import_module(f"{features.__name__}.{name}").Operator.owner == "scene"
    assert needs_nobody or any(ob.troupe.is_cast for ob in bpy.context.scene.objects)
    if name in HANDLE:
        assert not depths.deepest(3.5)


@pytest.mark.parametrize("name", SCENES)
def test_in_further_scenes_nothing_is_in_anything(name):
    demos.demos(name.partition(".")[0])[name].build(bpy.context)
    assert not depths.deepest(7.5)


def test_a_click_takes_the_settings_of_the_sidebar():
    ob = stage.actor()
    ob.troupe.retarget.file, ob.troupe.retarget.markers, ob.troupe.retarget.travel = "/a/walk.bvh", True, 1.7
    cls = importlib.import_module(f"{features.__name__}.retarget").Operator

    class Click:
        """Stands in for the operator: without a window Blender never invokes one."""

        records, _group, sidebar = cls.records, cls._group, cls.sidebar

        def actors(self, context):
            return [ob]

        def execute(self, context):
            return {"FINISHED"}

    click = Click()
    assert cls.invoke(click, bpy.context, None) == {"FINISHED"}
    assert (click.file, click.markers) == ("/a/walk.bvh", True) and click.travel == pytest.approx(1.7)


class Layout:
    """Stands in for a layout of the sidebar and keeps which parameters it shows."""

    def __init__(self):
        self.shown = {}

    def prop(self, _owner, name, icon):
        self.shown[name] = icon

    def panel(self, *_, **__):
        return self, None

    def label(self, **_):
        pass


def shown(feature, **settings_):
    group = getattr(stage.actor().troupe, feature)
    for name, value in settings_.items():
        setattr(group, name, value)
    layout = Layout()
    operator = next(op for op in features.operators() if op.feature() == feature)
    panels.draw_params(layout, group, *operator.records())
    return layout.shown


def test_the_sidebar_shows_only_what_counts_with_the_chosen_mode():
    assert "targets" not in shown("look", mode="track") and "target" not in shown("look", mode="scan")
    assert "destination" not in shown("reach", task="touch") and "destination" in shown("reach", task="put_back")
    assert "shape" not in shown("grasp", source="form") and "shape" in shown("grasp", source="hand")


def test_what_a_parameter_counts_with_is_a_choice_of_its_record():
    for operator in features.operators():
        for record in operator.records():
            choices = {p.name: {name for name, _ in p.choices} for p in declared(record)}
            for p in (p for p in declared(record) if p.only):
                assert set(p.only[1:]) < choices[p.only[0]], (operator.feature(), p.name)


def test_the_sidebar_tells_names_of_objects_from_those_of_collections():
    tidy, reach = shown("tidy"), shown("reach")
    assert (reach["target"], reach["purpose"], tidy["route"]) == ("OBJECT_DATA", "NONE", "OUTLINER_COLLECTION")


def test_what_is_asked_for_first_is_shown_first():
    assert next(iter(shown("serve"))) == "tables"


def test_angles_and_rates_of_turning_are_shown_in_degrees():
    rates, ob = {}, stage.actor()
    for operator in features.operators():
        group = operator._group(bpy.context, ob)
        for p in (p for record in operator.records() for p in declared(record) if p.kind == "float"):
            known = group.bl_rna.properties[p.name]
            assert (known.subtype == "ANGLE") == p.unit.startswith("rad"), (operator.feature(), p.name)
            assert "rad" not in known.name, (operator.feature(), p.name)
            if p.unit.startswith("rad/"):
                rates[operator.feature(), p.name] = known.name
    assert rates["plan", "turning"] == "Turning [per s]"


def test_work_that_is_done_in_a_moment_shows_no_progress_and_all_other_takes_it_away():
    def work(share):
        while share < 1.0:
            share += 0.25
            yield share

    def failing():
        yield 0.5
        raise ValueError("not an error that anybody expects")

    operator = next(iter(features.operators()))
    quick = Click(operator, work(0.0))
    assert quick._advance(quick._context, base.AT_ONCE) == {"FINISHED"}
    assert not quick._context.workspace.status_text_set.called
    slow, broken = Click(operator, work(0.0)), Click(operator, failing())
    assert slow.rest() == {"FINISHED"} and slow._context.workspace.status_text_set.called
    with pytest.raises(ValueError, match="anybody expects"):
        broken.rest()
    assert slow.ended == [{"FINISHED"}] and broken.ended == [{"CANCELLED"}]


def test_a_scripts_arguments_are_kept_as_settings(tmp_path):
    ob = stage.actor()
    bpy.ops.troupe.retarget(file=str(stage.walk_file(tmp_path, cycles=1)), travel=2.0)
    assert ob.troupe.retarget.travel == 2.0


def test_one_click_is_one_undo_step(tmp_path):
    path = str(stage.walk_file(tmp_path, cycles=1))
    stage.actor()
    bpy.ops.ed.undo_push(message="start")
    before = canon.snapshot()
    bpy.ops.troupe.retarget("EXEC_DEFAULT", True, file=path)
    after = canon.snapshot()
    assert after != before
    for _ in range(20):
        bpy.ops.ed.undo()
        assert canon.snapshot() == before
        bpy.ops.ed.redo()
        assert canon.snapshot() == after


def test_unregistering_leaves_nothing_behind():
    addon = importlib.import_module(features.__name__.rpartition(".")[0])
    addon.unregister()
    try:
        assert not hasattr(bpy.types.Object, "troupe")
        assert not [c for c in dir(bpy.types) if c.startswith("TROUPE_")]
    finally:
        addon.register()
    assert hasattr(bpy.types.Object, "troupe")
