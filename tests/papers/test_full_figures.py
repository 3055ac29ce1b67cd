"""Figures of the papers at full design: all points, named models, explained shapes."""

import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.transforms import Bbox

from moot.jobs.papers import find_designs
from moot.papers.charts import build_chart, draw_chart, points_frame
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.page import ItemContent, write_page
from moot.papers.parts import Diagram, ItemRun, Point, Series, Step
from moot.plan.papers_of_run import paper_plan
from moot.report.figures import figure_style
from moot.report.published import read_published
from moot.report.study_results import NOT_MEASURED, Measurement, StudyResults
from moot.scores import no_scores
from moot.studies.appellate.papers import prompt_clauses
from moot.studies.feedback.papers import debaters
from project_copy import PROJECT

PROMPTS = ("zero-shot", "CoT", "n-shot CoT")
MODELS = paper_plan(PROJECT).experiments["paper-zero-shot"].config.models


def item_of(name: str) -> PaperItem:
    paper = read_papers(items_file(PROJECT))[name.partition("/")[0]]
    return next(item for item in paper.items if item.name == name)


def made_up_series(models: list[str]) -> list[Series]:
    draw = random.Random(6)
    series = []
    for prompt in PROMPTS:
        for model in models:
            f1, seconds = draw.uniform(0.1, 0.6), draw.lognormvariate(1, 0.7)
            value = Measurement(f1, f1 - 0.05, f1 + 0.05, 150, 0, 150)
            point = Point(seconds, value, Measurement(min(f1 + 0.2, 1)))
            series.append(Series(f"{model}, {prompt}", prompt, (point,), group=prompt))
    return series


def test_each_of_60_points_has_the_name_of_its_model_and_each_shape_a_prompt() -> None:
    assert len(MODELS) == 20
    with figure_style():
        drawing = build_chart(item_of("courtroom/figure2"), made_up_series(list(MODELS)))
        drawing.draw_without_rendering()
        axes = drawing.axes[0]
        names = [text for text in axes.texts if text.get_text()]
        assert sorted(text.get_text() for text in names) == sorted([*MODELS] * 3)
        boxes = [text.get_window_extent() for text in names]
    overlaps = 0
    for place, box in enumerate(boxes):
        overlaps += any(Bbox.intersection(box, other) for other in boxes[:place])
    assert overlaps <= 3
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == list(PROMPTS)
    shapes = {line.get_marker() for line in axes.lines} - {"|", "_", "None", None}
    assert {"s", "o", "^"} <= shapes


@pytest.mark.parametrize("count", [26, 3])
def test_every_pair_of_bars_is_drawn_and_named(count: int) -> None:
    models = [f"model-{number}" for number in range(count)]
    with figure_style():
        drawing = build_chart(item_of("courtroom/figure4"), made_up_series(models))
    axes = drawing.axes[0]
    assert len(axes.get_xticklabels()) == 3 * count
    heights = [bar.get_height() for bar in axes.patches if bar.get_height() > 0]
    assert len(heights) == 2 * 3 * count
    f1 = heights[::2]
    assert f1 == sorted(f1, reverse=True)


def test_a_legend_names_all_series_in_different_styles() -> None:
    point = (Point(1.0, Measurement(0.5, 0.4, 0.6)), Point(2.0, Measurement(0.6, 0.5, 0.7)))
    series = [Series(f"series {number}", "mine", point, "affirm") for number in range(18)]
    with figure_style():
        drawing = build_chart(item_of("appellate/figure5"), series)
    assert len(drawing.legends[0].get_texts()) == 18
    lines = [line for line in drawing.axes[0].lines if line.get_marker() not in ("|", "_")]
    styles = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(styles) == 18


def test_a_series_without_values_is_left_out(tmp_path: Path) -> None:
    series = [Series("mine", "mine", (Point(1.0, NOT_MEASURED),), "affirm")]
    draw_chart(item_of("appellate/figure5"), series, tmp_path / "figure.svg", "SAMPLE")
    assert (tmp_path / "figure.svg").exists()


def test_a_prompt_by_clause_has_no_code_of_templates() -> None:
    plan = paper_plan(PROJECT)
    item = item_of("appellate/figure2")
    designs = tuple(find_designs(plan, read_papers(items_file(PROJECT))["appellate"], item))
    results = StudyResults(
        "appellate",
        {},
        no_scores(),
        {},
        read_published(PROJECT / "data/published/published_results.csv"),
    )
    (clauses,) = prompt_clauses(ItemRun(item, results, designs))
    text = " ".join(text for _, text in clauses.clauses)
    assert "AFFIRM, REVERSE or REMAND" in text
    assert not any(mark in text for mark in ("{", "}", "%", "task."))


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> list[Series]:
    """Figure 2 of Debate-Feedback from debates whose accuracy is the number of debaters / 10."""
    from moot.studies.feedback import papers

    def run(experiment: str, count: int) -> Any:
        return _Run(experiment, count)

    swept = [run(f"paper-feedback-debaters-debaters={count}", count) for count in (1, 2, 3)]
    others = [run("paper-feedback-single-caselaw", 3), run("mine", 3)]
    monkeypatch.setattr(
        papers, "sweeps", lambda *_: [[each.results for each in [*swept, others[0]]]]
    )
    monkeypatch.setattr(papers, "Run", lambda results, *_: results.run)
    monkeypatch.setattr(papers, "list_runs", lambda *_: [*swept, *others])
    monkeypatch.setattr(papers, "count_cases", lambda _: 12)
    item = item_of("feedback/figure2")
    return [part for part in debaters(ItemRun(item, None)) if isinstance(part, Series)]


class _Run:
    """A run of Debate-Feedback with a known accuracy."""

    def __init__(self, experiment: str, count: int) -> None:
        self.experiment, self.model, self.model_name, self.method = experiment, "m", "m", "debate"
        self.params, self.data, self.results, self.run = {"debaters": count}, "caselaw", self, self
        self.config = self
        self.models, self.task, self.multilabel = ["m"], self, False

    def measurement(self, _metric: str) -> Measurement:
        return Measurement(self.params["debaters"] / 10)


def test_figure_2_of_debate_feedback_has_each_number_of_debaters_once(sweep: list[Series]) -> None:
    frame = points_frame(sweep)
    of_paper = frame[frame["source"] != "mine"]
    assert of_paper["x"].tolist() == [1, 2, 3]
    assert (frame["source"] == "mine").sum() == 1, "one's own debates stay"


def test_the_file_of_a_diagram_has_all_designs(tmp_path: Path) -> None:
    item = item_of("appellate/figure1")
    steps = (Step("judge", "votes"),)
    parts = tuple(Diagram(title, ("judge",), steps) for title in ("first", "second", "third"))
    write_page(
        read_papers(items_file(PROJECT))["appellate"], [ItemContent(item, parts)], {}, tmp_path
    )
    drawing = ElementTree.parse(tmp_path / "appellate" / "figure1.svg").getroot()
    nested = [child for child in drawing if child.tag.endswith("}svg")]
    assert [child.get("aria-label") for child in nested] == ["first", "second", "third"]
    tops = [float(child.get("y", "")) for child in nested]
    assert tops == sorted(set(tops)), "below each other"
