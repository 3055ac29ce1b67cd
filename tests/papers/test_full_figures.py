"""Figures of the papers at full design: all points, named models, explained shapes."""

import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from moot.papers.charts import build_chart, draw_chart
from moot.papers.page import ItemContent, write_page
from moot.papers.parts import Diagram, Point, Series, Step
from moot.plan.papers_of_run import paper_plan
from moot.report.figures import figure_style
from moot.report.study_results import NOT_MEASURED, Measurement
from paper_items import ITEMS, PAPERS
from project_copy import PROJECT

PROMPTS = ("zero-shot", "CoT", "n-shot CoT")
MODELS = paper_plan(PROJECT).experiments["paper-zero-shot"].config.models


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


def test_a_figure_of_60_points_names_each_model_and_has_a_shape_for_each_prompt() -> None:
    assert len(MODELS) == 20
    with figure_style():
        drawing = build_chart(ITEMS["courtroom/figure2"], made_up_series(list(MODELS)))
    axes = drawing.axes[0]
    names = [text.get_text() for text in axes.texts if text.get_text()]
    assert sorted(names) == sorted([*MODELS] * 3)
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == list(PROMPTS)
    shapes = {line.get_marker() for line in axes.lines} - {"|", "_", "None", None}
    assert {"s", "o", "^"} <= shapes


@pytest.mark.parametrize("count", [26, 3])
def test_every_pair_of_bars_is_drawn_and_named(count: int) -> None:
    models = [f"model-{number}" for number in range(count)]
    with figure_style():
        drawing = build_chart(ITEMS["courtroom/figure4"], made_up_series(models))
    axes = drawing.axes[0]
    assert len(axes.get_xticklabels()) == 3 * count
    heights = [bar.get_height() for bar in axes.patches if bar.get_height() > 0]
    assert len(heights) == 2 * 3 * count
    f1 = heights[: 3 * count]
    assert f1 == sorted(f1, reverse=True)


def test_a_legend_names_all_series_in_different_styles() -> None:
    point = (Point(1.0, Measurement(0.5, 0.4, 0.6)), Point(2.0, Measurement(0.6, 0.5, 0.7)))
    names = ["_underscored", "$x_", *(f"series {number}" for number in range(16))]
    series = [Series(name, "mine", point, "affirm") for name in names]
    with figure_style():
        drawing = build_chart(ITEMS["appellate/figure5"], series)
    assert [text.get_text() for text in drawing.legends[0].get_texts()] == names
    lines = [line for line in drawing.axes[0].lines if line.get_marker() not in ("|", "_")]
    styles = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(styles) == 18


def test_a_series_without_values_is_left_out(tmp_path: Path) -> None:
    series = [Series("mine", "mine", (Point(1.0, NOT_MEASURED),), "affirm")]
    draw_chart(ITEMS["appellate/figure5"], series, tmp_path / "figure.svg", "SAMPLE")
    assert (tmp_path / "figure.svg").exists()


def test_the_file_of_a_diagram_has_all_designs(tmp_path: Path) -> None:
    item = ITEMS["appellate/figure1"]
    steps = (Step("judge", "votes"),)
    parts = tuple(Diagram(title, ("judge",), steps) for title in ("first", "second", "third"))
    write_page(PAPERS["appellate"], [ItemContent(item, parts)], {}, tmp_path)
    drawing = ElementTree.parse(tmp_path / "appellate" / "figure1.svg").getroot()
    groups = [child for child in drawing if child.tag.endswith("}g")]
    tops = [child.get("transform") for child in groups]
    assert len(tops) == len(set(tops)) == 3, "below each other"
