"""Names of points, panels, whiskers and notes of figures."""

import random
from itertools import combinations

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from moot.report.figures import (
    WIDTH,
    figure_style,
    name_points,
    new_figure,
    note_below,
    panels,
    row_figure,
    whiskers,
)
from moot.report.notes import REHEARSAL_NOTE


@pytest.mark.parametrize("width", [WIDTH, WIDTH * 0.75])
@pytest.mark.parametrize("notes", [[REHEARSAL_NOTE], ["Bars: 95 % intervals.", "word " * 60]])
def test_a_long_note_is_wrapped_into_lines_that_fit(notes: list[str], width: float) -> None:
    drawing, _ = new_figure(width=width)
    note_below(drawing, notes)
    drawing.canvas.draw()
    [note] = [text for text in drawing.texts if text.get_text().startswith(notes[0][:10])]
    assert note.get_window_extent().x1 <= drawing.bbox.x1


def test_names_of_60_points_are_inside_and_hardly_overlap() -> None:
    draw = random.Random(6)
    heights = [draw.uniform(0.1, 0.6) for _ in range(60)]
    points = [(draw.uniform(1, 9), y, f"model-{y:.4f}") for y in heights]
    with figure_style():
        drawing, axes = new_figure()
        axes.plot([x for x, _, _ in points], [y for _, y, _ in points], "o")
        name_points(axes, points)
        drawing.draw_without_rendering()
        names = [text for text in axes.texts if text.get_text()]
        boxes = [text.get_window_extent() for text in names]
        frame = axes.get_window_extent().padded(2)
    assert sorted(text.get_text() for text in names) == sorted(name for _, _, name in points)
    overlaps = [pair for pair in combinations(boxes, 2) if Bbox.intersection(*pair)]
    assert len(overlaps) <= 3
    for box in boxes:
        assert frame.contains(*box.min) and frame.contains(*box.max)
    assert len(names) < len(axes.texts), "a name away from its point has a line to it"


def test_whiskers_are_lengths_and_never_negative() -> None:
    estimates = [(0.5, 0.4, 0.7), (0.5, 0.6, 0.4), (0.5, np.nan, np.nan)]
    assert whiskers(estimates).tolist() == [
        pytest.approx([0.1, 0, 0]),
        pytest.approx([0.2, 0, 0]),
    ]


def test_rows_run_from_the_top_down() -> None:
    _, axes = row_figure(["a", "b"], height=2)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_yticks().tolist() == [0, 1] and axes.yaxis_inverted()


@pytest.mark.parametrize(("count", "lowest"), [(1, [0]), (2, [0, 1]), (3, [1, 2]), (4, [2, 3])])
def test_the_lowest_panel_of_each_column_has_labels(count: int, lowest: list[int]) -> None:
    drawing, shown, lowest_panels = panels(count, columns=2, row_height=2)
    assert len(shown) == count == sum(axes.axison for axes in drawing.axes)
    assert [shown.index(axes) for axes in lowest_panels] == lowest
    for place, axes in enumerate(shown):
        assert axes.xaxis.get_tick_params()["labelbottom"] == (place in lowest)
