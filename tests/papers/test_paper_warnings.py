"""A paper's page names made-up inputs of its own values: at its top, at an item, in its files."""

from pathlib import Path
from typing import Any

import pytest

from in_process import default_configuration
from moot.jobs.papers import made_up_inputs
from moot.papers.contents import figure_mark, item_warnings
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.page import ItemContent, write_page
from moot.papers.parts import Example, OwnRow, Part, Point, Series
from moot.plan.plan import Plan
from moot.report.front_page import read_paper_progress
from moot.report.study_results import Measurement
from project_copy import PROJECT

PAPERS = read_papers(items_file(PROJECT))
COURTROOM = {item.key: item for item in PAPERS["courtroom"].items}
SERVER = {"model": "test", "base_url": "http://localhost:9"}
SIMULATED = {"endpoint": "simulated", "model": "voice"}
POINTS = (Point(1.0, Measurement(0.5)),)


def make_plan(source: str = "synthetic", model: dict[str, Any] = SERVER) -> Plan:
    config = {
        "run": ["mine"],
        "models": {"spoken": model},
        "datasets": {"nlsy97": {"source": source}},
        "experiments": {
            "mine": {"protocol": "courtroom", "dataset": "nlsy97", "models": ["spoken"], "cases": 1}
        },
    }
    return Plan.from_yaml(default_configuration(config), PROJECT)


def own_row(source: str, data: str) -> OwnRow:
    return OwnRow(("mine",), source, data, 1.0, {("", "accuracy"): Measurement(0.5)})


@pytest.mark.parametrize(
    "part",
    [
        own_row("mine", "nlsy97 (synthetic)"),
        own_row("mine", "nlsy97"),
        own_row("majority-class", "nlsy97 (synthetic)"),
        Series("name", "mine", POINTS, data="nlsy97 (synthetic)"),
        Example("mine, spoken, case 1", (), "mine"),
    ],
    ids=["experiment", "unlabelled", "trained", "series", "example"],
)
def test_each_part_names_its_made_up_data(part: Part) -> None:
    (note,) = made_up_inputs(make_plan()).notes_on(part)
    assert note.startswith("nlsy97: SYNTHETIC DATA: ")
    assert made_up_inputs(make_plan("download")).notes_on(part) == []


@pytest.mark.parametrize(
    ("dataset", "entry", "is_of_paper"),
    [
        ("mine", {"loader": "opinions", "source": "sample"}, True),
        ("conference", {"source": "sample"}, True),
        ("vast", {"source": "sample"}, False),
    ],
)
def test_a_sample_that_is_the_papers_own_data_needs_no_warning(
    dataset: str, entry: dict[str, Any], is_of_paper: bool
) -> None:
    config = {"run": [], "datasets": {dataset: entry}}
    plan = Plan.from_yaml(default_configuration(config), PROJECT)
    part = own_row("majority-class", f"{dataset} (sample)")
    warnings = list(item_warnings(made_up_inputs(plan), [part]))
    assert (warnings == []) is is_of_paper
    if not is_of_paper:
        assert "too few for a finding" in warnings[0] and "other data" in warnings[0]


def test_an_item_has_one_warning_for_each_kind_of_input() -> None:
    made_up = made_up_inputs(make_plan(model=SIMULATED))
    data, model = item_warnings(made_up, [own_row("mine", "nlsy97 (synthetic)")])
    assert data.startswith("SYNTHETIC DATA: ")
    assert data.endswith(" In: nlsy97. The paper uses other data.")
    assert model.startswith("SIMULATED MODEL: ") and model.endswith(" In: spoken.")
    real = made_up_inputs(make_plan("download"))
    assert not list(item_warnings(real, [own_row("mine", "nlsy97")]))


def test_a_figure_with_published_points_is_partly_made_up() -> None:
    series = Series("name", "mine", POINTS, data="nlsy97 (synthetic)")
    figures = [item for item in COURTROOM.values() if item.kind == "figure"]
    marks = {figure_mark(made_up_inputs(make_plan()), item, [series]) for item in figures}
    assert marks <= {"SYNTHETIC DATA", "PARTLY SYNTHETIC DATA"} and marks
    assert figure_mark(made_up_inputs(make_plan("download")), figures[0], [series]) == ""


def write_courtroom(folder: Path, warnings: list[str]) -> str:
    contents = []
    for item in COURTROOM.values():
        item_warnings = tuple(warnings) if _has_numbers(item) else ()
        mark = "SYNTHETIC DATA" if item.kind == "figure" and warnings else ""
        contents.append(ItemContent(item, warnings=item_warnings, mark=mark))
    write_page(PAPERS["courtroom"], contents, {}, folder / "papers", warnings=warnings)
    return (folder / "papers/courtroom.html").read_text(encoding="utf-8")


def _has_numbers(item: PaperItem) -> bool:
    return item.kind in ("table", "figure")


def test_page_items_files_and_card_carry_the_warning(tmp_path: Path) -> None:
    page = write_courtroom(tmp_path, ["SYNTHETIC DATA: <made-up>. In: nlsy97."])
    count = sum(map(_has_numbers, COURTROOM.values()))
    assert page.count("SYNTHETIC DATA: &lt;made-up&gt;. In: nlsy97.") == count + 1
    source = (tmp_path / "papers/courtroom/table2.tex").read_text(encoding="utf-8")
    assert "SYNTHETIC DATA" in source
    progress = read_paper_progress(tmp_path, "papers/courtroom.html", "AgenticSimLaw")
    assert progress.made_up == "SYNTHETIC DATA"


def test_a_page_of_real_data_has_no_warning(tmp_path: Path) -> None:
    assert 'class="warning"' not in write_courtroom(tmp_path, [])
    progress = read_paper_progress(tmp_path, "papers/courtroom.html", "AgenticSimLaw")
    assert progress.made_up == "" and progress.filled == 0
