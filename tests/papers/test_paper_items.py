"""The description of the papers' items, and tables in the papers' form."""

import math
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pandas as pd
import pytest

from compiled_latex import compile_tables, overfull_boxes
from messages import refusal
from moot.papers import FILLERS
from moot.papers.diagrams import diagram_svg
from moot.papers.grid import build_grid, intervals_frame, values_frame
from moot.papers.items import PaperItem, select_items
from moot.papers.page import ItemContent, item_files, latex_source, write_page
from moot.papers.parts import Diagram, Example, ExampleRow, OwnRow, Point, Series, Step
from moot.plan.papers_of_run import paper_plan
from moot.report.published import Published, published_values_of
from moot.report.study_results import Measurement
from paper_items import ITEMS, PAPERS, PUBLISHED

PROJECT = Path(__file__).resolve().parents[2]
VALUES = published_values_of(PUBLISHED)
TABLE_ITEMS = [item for item in ITEMS.values() if item.kind in ("table", "facts")]
HOSTILE = "<script>alert(1)</script> & \\input{x} % $y$ _z"

TABLES_OF_PAPERS = {"appellate": 2, "decision_conference": 5, "courtroom": 8, "feedback": 5}
ITEMS_WITHOUT_DEBATES = {"appellate": 4, "decision_conference": 2, "courtroom": 3, "feedback": 2}
FIGURES_OF_PAPERS = {"appellate": 7, "decision_conference": 3, "courtroom": 5, "feedback": 3}
SHAPES = {
    "appellate/table1": (3, 2),
    "appellate/table2": (4, 6),
    "decision_conference/table1": (6, 4),
    "decision_conference/table2": (6, 3),
    "decision_conference/table3": (6, 4),
    "decision_conference/table4": (6, 4),
    "decision_conference/table5": (6, 6),
    "courtroom/table1": (16, 1),
    "courtroom/table2": (14, 8),
    "courtroom/table3": (5, 1),
    "courtroom/table4": (6, 6),
    "courtroom/table5": (7, 2),
    "courtroom/table6": (12, 2),
    "courtroom/table7": (12, 6),
    "courtroom/table8": (5, 3),
    "feedback/table1": (2, 1),
    "feedback/table2": (7, 4),
    "feedback/table3": (5, 4),
    "feedback/table5": (2, 3),
}
"""Rows and columns of each table, counted in the papers."""
PRINTED_ROWS = {
    ("appellate/table1", 0): ["100 (x20 each per case)", "900 (x9 per debate)"],
    ("decision_conference/table1", 5): ["", "", "", "0.437"],
    ("courtroom/table1", 13): ["14b"],
    ("courtroom/table3", 4): ["[[319, 0], [136, 0]]"],
    ("courtroom/table7", 5): ["0.70", "0.96", "67", "26", "3", "4"],
    ("courtroom/table8", 0): ["0.969", "0.921", "0.923"],
    ("feedback/table3", 0): ["63.8%", "64.1%", "29.7%", "5.03%"],
    ("feedback/table5", 1): ["93", "11", "65.7%"],
}
"""Rows as the papers print them."""


def test_there_are_38_items_in_the_papers_numbers() -> None:
    assert len(ITEMS) == 38
    for name, paper in PAPERS.items():
        words = Counter(item.number.split()[0] for item in paper.items)
        assert words == {"Table": TABLES_OF_PAPERS[name], "Figure": FIGURES_OF_PAPERS[name]}
        for word, count in words.items():
            numbers = [item.number for item in paper.items if item.number.startswith(word)]
            assert sorted(numbers) == [f"{word} {number}" for number in range(1, count + 1)]


def test_tables_have_the_papers_rows_and_columns() -> None:
    assert {item.name: (len(item.rows), len(item.columns)) for item in TABLE_ITEMS} == SHAPES


@pytest.mark.parametrize(("item", "row"), PRINTED_ROWS, ids=str)
def test_published_cells_are_printed_as_in_the_paper(item: str, row: int) -> None:
    cells = build_grid(ITEMS[item], VALUES, []).paper_rows[row].cells
    assert [cell.published for cell in cells] == PRINTED_ROWS[item, row]


@pytest.mark.parametrize("item", TABLE_ITEMS, ids=lambda item: item.name)
def test_every_published_value_of_a_table_is_in_its_place(item: PaperItem) -> None:
    if not item.published:
        return
    study, _, table = item.published.partition("/")
    rows = PUBLISHED[(PUBLISHED["study"] == study) & (PUBLISHED["table"] == table)]
    expected = set(zip(rows["row"], rows["metric"], strict=True))
    table_values = set()
    for row, column in product(item.rows, item.columns):
        table_values |= {(row.key, name) for name in item.cell(row, column).published}
    assert expected <= table_values | {("human_ai", "debates"), ("human_ai", "debates_per_case")}


def test_items_name_experiments_tables_and_fillers_that_exist() -> None:
    experiments = set(paper_plan(PROJECT).config.experiments)
    filled_items = {FILLERS[name].item for name in FILLERS}
    assert filled_items <= {*ITEMS, *(f"{paper}/text" for paper in PAPERS)}
    for item in ITEMS.values():
        assert set(item.experiments) <= experiments
        assert item.name in filled_items or item.name == "courtroom/table8"


def own_row(item: PaperItem, value: float, **changes: object) -> OwnRow:
    cells = {}
    for row in item.rows:
        for column in item.columns:
            spec = item.cell(row, column)
            for score in spec.scores:
                cells[spec.part, score] = Measurement(value, value - 0.1, value + 0.1, 50, 0, 50)
    heads = ("mine", *item.row_heads[1:])
    row = OwnRow(heads, "my-run", "mine (synthetic)", 20.0, cells)
    return OwnRow(**{**{name: getattr(row, name) for name in row.__slots__}, **changes})


def test_a_row_of_one_case_says_so_in_the_singular() -> None:
    item = ITEMS["courtroom/table5"]
    grid = build_grid(item, VALUES, [own_row(item, 0.5, cases=1.0)])
    source = latex_source(PAPERS[item.paper], grid, [])
    assert "mine (mine (synthetic), 1 case)" in source


def test_a_model_without_a_valid_answer_has_a_row_without_values(tmp_path: Path) -> None:
    item = ITEMS["courtroom/table5"]
    row = own_row(item, 0.5, cells={}, has_no_answer=True, row=item.rows[0].key)
    grid = build_grid(item, VALUES, [row])
    assert ["no valid answer" in row.description for row in grid.own_rows] == [True]
    assert not grid.has_own_values
    assert set(values_frame(grid)["source"]) == {"published"}
    paper = PAPERS["courtroom"]
    write_page(paper, [ItemContent(item, (row,))], VALUES, tmp_path)
    page = (tmp_path / "courtroom.html").read_text(encoding="utf-8")
    assert "no valid answer" in page and "has no values for this item" not in page


@pytest.mark.parametrize("shares_row", [False, True])
@pytest.mark.parametrize("name", ["appellate/table2", "courtroom/table7", "feedback/table3"])
def test_own_values_are_shown_with_their_data_set(
    name: str, shares_row: bool, tmp_path: Path
) -> None:
    item = ITEMS[name]
    part = own_row(item, 0.5, row=item.rows[0].key if shares_row else "")
    paper = replace(PAPERS[item.paper], items=(item,))
    write_page(paper, [ItemContent(item, (part,))], VALUES, tmp_path)
    page = (tmp_path / f"{item.paper}.html").read_text(encoding="utf-8")
    table = page.partition("<section")[2].partition("</table>")[0]
    own_heads = [row for row in table.split("<tr>") if 'class="own"' in row]
    assert own_heads
    if item.is_one_system:  # the block's head names the data
        assert "mine (synthetic)" in table
    else:
        assert all("mine (synthetic)" in row for row in own_heads)


SYSTEM_TABLES = [item for item in TABLE_ITEMS if item.kind == "table" and not item.is_one_system]


@pytest.mark.parametrize("item", SYSTEM_TABLES, ids=lambda item: item.name)
def test_a_run_that_repeats_a_row_shares_it(item: PaperItem) -> None:
    grid = build_grid(item, VALUES, [own_row(item, 0.5, row=item.rows[0].key)])
    assert not grid.own_rows
    assert grid.paper_rows[0].source == "my-run"
    frame = values_frame(grid)
    assert frame["source"].tolist()[:2] == ["published", "my-run"]
    assert len(frame) == len(item.rows) + 1
    assert list(frame.columns[1 : 1 + len(item.row_heads)]) == list(item.row_heads)


@pytest.mark.parametrize(
    ("ours", "is_outside"), [(0.74, False), (0.70, False), (0.30, True), (0.99, True)]
)
def test_values_outside_the_replication_interval_are_marked(ours: float, is_outside: bool) -> None:
    item = ITEMS["courtroom/table4"]
    row = item.rows[1]
    value = Measurement(ours, ours - 0.05, min(ours + 0.05, 1), 150, 0, 150)
    published = {(row.key, "zero_shot_accuracy"): Published.of(0.74, 150, 150, share=True)}
    run_row = OwnRow(("x",), "e", "d", 150, {("zero_shot", "accuracy"): value}, published, row.key)
    grid = build_grid(item, VALUES, [run_row])
    assert grid.paper_rows[1].cells[0].own_value.is_outside is is_outside
    intervals = intervals_frame(grid)
    assert intervals["published_is_outside"].tolist() == ["yes" if is_outside else "no"]
    assert intervals["published"].tolist() == [0.74]


def test_the_files_of_a_table_have_one_unit_which_their_headings_name() -> None:
    item = ITEMS["feedback/table3"]
    value = Measurement(0.5, 0.25, 0.75, 8, 2, 10)
    cell = ("caselaw", "accuracy")
    strict = {cell: Measurement(0.4)}
    row = OwnRow(("x",), "e", "d", 10, {cell: value}, strict_cells=strict)
    grid = build_grid(item, VALUES, [row])
    assert values_frame(grid)["CaseLaw Acc (%)"].tolist()[-2:] == ["67.1", "50.0"]
    [line] = intervals_frame(grid).to_dict("records")
    assert (line["column"], line["value"], line["low"]) == ("CaseLaw Acc (%)", 50, 25)
    assert (line["n"], line["invalid_as_wrong"]) == (10, "40.0")
    assert "CaseLaw Acc" in values_frame(build_grid(ITEMS["feedback/table2"], VALUES, []))


def test_without_the_papers_n_no_value_is_marked() -> None:
    item = ITEMS["courtroom/table2"]
    row = item.rows[0]
    published = {(row.key, "accuracy"): Published.of(0.9)}
    value = Measurement(0.1, 0.05, 0.15, 500, 0, 500)
    run_row = OwnRow(("x", "y"), "e", "d", 500, {("", "accuracy"): value}, published, row.key)
    assert not build_grid(item, VALUES, [run_row]).paper_rows[0].cells[0].own_value.is_outside


@pytest.mark.parametrize(
    ("names", "count"),
    [(["all"], 38), (["courtroom"], 13), (["courtroom/table4", "feedback"], 9), ([], 0)],
)
def test_items_are_selected_by_name_paper_or_all(names: list[str], count: int) -> None:
    assert len(list(select_items(PAPERS, names))) == count


@pytest.mark.parametrize(
    "name",
    [
        "courtroom/table44",
        "feedbak",
        "triem/table1",
    ],
)
def test_an_item_that_does_not_exist_names_the_nearest(name: str) -> None:
    with refusal():
        list(select_items(PAPERS, [name]))


def test_a_reason_for_empty_rows_stands_in_place_of_a_remedy(tmp_path: Path) -> None:
    item = ITEMS["courtroom/table3"]
    for untrained in ([], ["Row AUC stays empty: no weights <b>."]):
        write_page(PAPERS["courtroom"], [ItemContent(item, untrained=untrained)], {}, tmp_path)
        page = (tmp_path / "courtroom.html").read_text(encoding="utf-8")
        assert ("the command below fills it" in page) == (not untrained)
        assert ("no weights &lt;b&gt;." in page) == bool(untrained)


def write_paper_page(paper: str, folder: Path, *parts: object, is_rehearsal: bool = False) -> str:
    contents = []
    for item in PAPERS[paper].items:
        of_item = [part for part in parts if isinstance(part, Series) == (item.kind == "figure")]
        if parts and item.kind == "table":
            of_item.append(own_row(item, 0.5, heads=tuple(HOSTILE for _ in item.row_heads)))
        contents.append(ItemContent(item, tuple(of_item), commands=["snakemake papers"]))
    write_page(PAPERS[paper], contents, VALUES, folder, is_rehearsal)
    return (folder / f"{paper}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_texts_of_models_and_data_are_harmless(paper: str, tmp_path: Path) -> None:
    series = Series(
        HOSTILE, HOSTILE, (Point(1.0, Measurement(0.5), Measurement(0.5)),), data=HOSTILE
    )
    diagram = Diagram(HOSTILE, (HOSTILE,), (Step(HOSTILE, HOSTILE, stage=HOSTILE),))
    cells = {HOSTILE: HOSTILE, "debater 1": HOSTILE}
    example = Example(HOSTILE, (ExampleRow("1. Initial step", cells),))
    page = write_paper_page(paper, tmp_path, series, diagram, example)
    assert "<script" not in page
    assert "<script" not in diagram_svg([diagram])
    for file in tmp_path.rglob("*.tex"):
        assert "\\input{x}" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("debaters", [1, 2, 3, 5])
def test_an_example_has_a_column_for_each_debater(debaters: int, tmp_path: Path) -> None:
    item = ITEMS["feedback/table4"]
    seats = [f"debater {number}" for number in range(1, debaters + 1)]
    example = Example(
        "mine, model, case 1",
        (
            ExampleRow("1. Initial step", {"judge": "judge, prediction: yes"}),
            ExampleRow("2. Debate step", {seat: f"words of {seat}" for seat in seats}),
        ),
    )
    content = ItemContent(item, (example,))
    write_page(PAPERS["feedback"], [content], VALUES, tmp_path)
    frame = pd.read_csv(tmp_path / "feedback/table4.csv", keep_default_na=False)
    columns = ["debater 1", "debater 2", "debater 3", *seats[3:]]
    assert list(frame.columns) == ["source", "step", "judge", *columns]
    own_rows = frame[frame["source"] == "mine, model, case 1"]
    assert own_rows["judge"].tolist() == ["judge, prediction: yes", ""]
    row_of_debate = own_rows.iloc[1]
    texts = [f"words of {seat}" if seat in seats else "" for seat in columns]
    assert row_of_debate[columns].tolist() == texts
    published = frame[frame["source"] == "published"]
    assert (published["step"] == "2. Debate step").sum() == 4
    page = (tmp_path / "feedback.html").read_text(encoding="utf-8")
    assert f'<td colspan="{len(columns)}">judge, prediction: yes</td>' in page
    assert page.count('data-label="Debater 3"') == 5 + 1, "five rows of the paper, one of ours"


@pytest.mark.parametrize(
    ("paper", "is_rehearsal"), [*((paper, False) for paper in PAPERS), ("feedback", True)]
)
def test_an_item_without_own_values_says_why(
    paper: str, is_rehearsal: bool, tmp_path: Path
) -> None:
    page = write_paper_page(paper, tmp_path, is_rehearsal=is_rehearsal)
    assert ("SIMULATED" in page) == is_rehearsal
    if is_rehearsal:
        table = pd.read_csv(tmp_path / "feedback/table2.csv")
        assert set(table["voices"]) == {"SIMULATED"}
    assert re.findall(r'<section id="(\w+)"', page) == [item.key for item in PAPERS[paper].items]
    assert f'data-without-debates="{ITEMS_WITHOUT_DEBATES[paper]}"' in page
    assert "Filled marks" not in page and "Filled bars" not in page
    assert ("more than one in ten is invalid" in page) == (paper != "appellate")
    for item in PAPERS[paper].items:
        assert all((tmp_path / paper / file).stat().st_size for file in item_files(item))
        section = page.partition(f'<section id="{item.key}">')[2].partition("</section>")[0]
        trains = is_rehearsal and bool(item.datasets)
        assert ("A rehearsal trains no models" in section) == trains
        assert ("has no values for this item" in section) == (not trains and not item.is_quoted)
    assert [item.name for item in ITEMS.values() if item.is_quoted] == [
        "decision_conference/figure2",
        "courtroom/table8",
    ]


@pytest.mark.parametrize("item", TABLE_ITEMS, ids=lambda item: item.name)
def test_latex_has_as_many_cells_in_every_row(item: PaperItem) -> None:
    grid = build_grid(item, VALUES, [own_row(item, 0.5)])
    source = latex_source(PAPERS[item.paper], grid, ["note"])
    assert f"tab:{item.paper}-{item.key}".replace("_", "-") in source
    count = len(item.row_heads) + len(item.columns)
    body = source.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    lines = [
        line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
    ]
    assert {len(re.findall(r"(?<!\\)&", line)) + 1 for line in lines} == {count}
    assert source.count(r"\textbf{") == sum(len(row.entry.get("bold", ())) for row in item.rows)


@pytest.mark.slow
def test_all_tables_of_the_papers_compile_in_one_document(tmp_path: Path) -> None:
    """Slow: only this test detects a table of a paper that LaTeX refuses or that is too large."""
    sources: dict[str, str] = {}
    departures = [f"{HOSTILE} departs from the paper. " * 10] * 20
    for item in TABLE_ITEMS:
        grid = build_grid(item, VALUES, [own_row(item, 0.5)])
        sources[item.name] = latex_source(PAPERS[item.paper], grid, [HOSTILE], departures)
    for options in ("", "[twocolumn]"):
        assert not overfull_boxes(compile_tables(sources, tmp_path, options))


def corners_of(path: str) -> list[tuple[float, float]]:
    """Return the corners of a path of horizontal and vertical lines."""
    corners: list[tuple[float, float]] = []
    for kind, first, second in re.findall(r"([MHV])([\d.]+)(?: ([\d.]+))?", path):
        x, y = corners[-1] if corners else (0.0, 0.0)
        places = {"M": (first, second or 0), "H": (first, y), "V": (x, first)}
        corners.append((float(places[kind][0]), float(places[kind][1])))
    return corners


def test_no_arrow_runs_through_a_box() -> None:
    steps = [Step("a", "one"), Step("b", "two " * 20, (0,)), Step("a", "three", (1,))]
    steps += [Step("c", "four", (0, 1)), Step("a", "five", (0, 3)), Step("b", "six", (1, 4))]
    steps[1] = replace(steps[1], reads=(0, 4))  # back to an earlier step
    svg = diagram_svg([Diagram("d", ("a", "b", "c"), tuple(steps))])
    number = r'="([\d.]+)"'
    boxes = re.findall(rf"<rect[^>]* x{number} y{number} width{number} height{number}", svg)
    paths = re.findall(r'class="arrow" d="([^"]+)"', svg)
    assert len(paths) == sum(len(step.reads) for step in steps)
    for path in paths:
        for start, end in pairwise(corners_of(path)):
            (left, right), (top, bottom) = (sorted(ends) for ends in zip(start, end, strict=True))
            for x, y, width, height in (map(float, box) for box in boxes):
                is_beside = right <= x or left >= x + width
                assert is_beside or bottom <= y or top >= y + height, path


def test_an_arrow_runs_from_each_step_that_is_read() -> None:
    steps = (Step("a", "one"), Step("b", "two", (0,)), Step("a", "three", (0, 1), True))
    svg = diagram_svg([Diagram("d", ("a", "b"), steps)])
    assert svg.count('class="arrow"') == 3
    assert svg.count('class="box private"') == 1
    assert math.isclose(svg.count("<rect"), 3)
