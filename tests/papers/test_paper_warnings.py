"""A paper's page names made-up inputs of its own values: at its top, at an item, in its files."""

from dataclasses import replace
from pathlib import Path

import pytest

from in_process import default_configuration
from moot.papers import fill_item
from moot.papers.items import PaperItem
from moot.papers.page import ItemContent, write_page
from moot.papers.parts import Example, OwnRow, Part, Point, Series
from moot.plan.papers_of_run import view_paper
from moot.plan.plan import Plan
from moot.report.front_page import read_paper_progress
from moot.report.study_results import Measurement, StudyResults
from moot.scores import score_experiment
from moot.scores.results import MadeUpInputs
from paper_items import PAPERS, PUBLISHED
from project_copy import PROJECT
from results_on_disk import case, experiment_view, prediction, utterance, write_results

COURTROOM = {item.key: item for item in PAPERS["courtroom"].items}
SYNTHETIC = "nlsy97: SYNTHETIC DATA: <made-up>."
SIMULATED = "spoken: SIMULATED MODEL: no model."
DATA = MadeUpInputs((SYNTHETIC,))
POINT = Point(1.0, Measurement(0.5), Measurement(0.5))


def inputs_of(*notes: str) -> MadeUpInputs:
    models = tuple(note for note in notes if note == SIMULATED)
    return MadeUpInputs(tuple(note for note in notes if note not in models), models)


def part_of(item: PaperItem, *notes: str) -> Part:
    made_up = inputs_of(*notes)
    if item.kind == "figure":
        return Series("name", "mine", (POINT,), made_up=made_up)
    cells = {("", "accuracy"): Measurement(0.5)}
    heads = ("mine",) * len(item.row_heads)
    return OwnRow(heads, "mine", "nlsy97", 1.0, cells, made_up=made_up)


@pytest.mark.parametrize("key", ["table5", "figure5"])
def test_each_part_of_a_run_names_its_made_up_inputs(key: str, tmp_path: Path) -> None:
    view = replace(experiment_view(), made_up=DATA)
    answers = {"tiny": [prediction("a", "yes", "yes")]}
    talk = {"tiny": [utterance("a#0", 1, "judge")]}
    run = write_results(tmp_path, [case("a", "yes")], answers, talk, config=view)
    study = StudyResults("courtroom", {"x": run}, score_experiment(run), {}, PUBLISHED)
    (part,) = fill_item(COURTROOM[key], {"courtroom": study})
    assert isinstance(part, OwnRow | Series) and part.made_up == DATA


@pytest.mark.parametrize(
    ("protocol", "loader", "is_of_paper"),
    [("panel", "opinions", True), ("conference", "conference", True), ("stance", "vast", False)],
)
def test_a_sample_that_is_the_papers_own_data_needs_no_warning(
    protocol: str, loader: str, is_of_paper: bool
) -> None:
    experiment = {"protocol": protocol, "dataset": "own", "models": ["smollm2-135m"]}
    config = {
        "run": ["mine"],
        "datasets": {"own": {"loader": loader, "source": "sample"}},
        "experiments": {"mine": experiment},
    }
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    study = plan.experiments["mine"].study
    paper = next(paper for paper in PAPERS.values() if study in paper.studies)
    view = view_paper(plan, paper).experiments["mine"].view
    assert bool(view.made_up.data) is not is_of_paper


def test_an_item_has_one_warning_for_each_kind_of_input() -> None:
    example = Example("mine, spoken, case 1", (), inputs_of(SYNTHETIC, SIMULATED))
    for item in (COURTROOM["table5"], COURTROOM["figure5"]):
        parts = [part_of(item, SYNTHETIC), part_of(item, SYNTHETIC, SIMULATED), example]
        data, model = ItemContent(item, parts).warnings
        assert data == "SYNTHETIC DATA: <made-up>. In: nlsy97. The paper uses other data."
        assert model == "SIMULATED MODEL: no model. In: spoken."
        assert ItemContent(item, [part_of(item)]).warnings == []


def test_a_figure_with_published_points_is_partly_made_up() -> None:
    marks = {}
    for key, item in COURTROOM.items():
        if item.kind == "figure":
            marks[key] = ItemContent(item, [part_of(item, SYNTHETIC)]).mark
            assert ItemContent(item, [part_of(item)]).mark == ""
    assert marks["figure2"] == "SYNTHETIC DATA"
    assert marks["figure4"] == "PARTLY SYNTHETIC DATA"


def write_courtroom(folder: Path, *made_up: str) -> str:
    contents = []
    for item in COURTROOM.values():
        parts = [part_of(item, *made_up)] if item.kind in ("table", "figure") else []
        contents.append(ItemContent(item, parts))
    write_page(PAPERS["courtroom"], contents, {}, folder / "papers")
    return (folder / "papers/courtroom.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("made_up", "kind"), [([SYNTHETIC], "SYNTHETIC DATA"), ([], "")])
def test_page_items_files_and_card_carry_the_warning(
    made_up: list[str], kind: str, tmp_path: Path
) -> None:
    page = write_courtroom(tmp_path, *made_up)
    count = sum(item.kind in ("table", "figure") for item in COURTROOM.values())
    warning = "SYNTHETIC DATA: &lt;made-up&gt;. In: nlsy97."
    assert page.count(warning) == (count + 1 if made_up else 0)
    source = (tmp_path / "papers/courtroom/table2.tex").read_text(encoding="utf-8")
    assert ("SYNTHETIC DATA" in source) == bool(made_up)
    progress = read_paper_progress(tmp_path, "papers/courtroom.html", "AgenticSimLaw")
    assert progress.made_up == kind
