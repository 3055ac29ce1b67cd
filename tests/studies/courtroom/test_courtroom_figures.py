"""Figures of the courtroom: stable bytes, readable names of points, hostile names harmless."""

import os
import subprocess
import sys
from itertools import chain, combinations, product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from courtroom_results import study_of
from moot.report import FIGURES
from moot.report.figures import draw, figure_style, name_points, new_figure
from of_study import of_study
from results_on_disk import (
    case,
    experiment_view,
    prediction,
    write_results,
)


def test_every_figure_has_the_same_bytes_when_drawn_again(study, tmp_path):
    assert {
        "figure2_f1_seconds",
        "figure3_f1_tokens",
        "figure4_sorted_prompts",
        "figure5_sorted_debates",
    } <= {entry.name for entry in of_study(FIGURES, "courtroom")}
    for entry in of_study(FIGURES, "courtroom"):
        for attempt in ("a", "b"):
            draw(
                entry,
                study,
                {kind: tmp_path / f"{entry.name}-{attempt}.{kind}" for kind in ("png", "svg")},
            )
        for kind in ("png", "svg"):
            first, second = (tmp_path / f"{entry.name}-{attempt}.{kind}" for attempt in ("a", "b"))
            assert first.read_bytes() == second.read_bytes(), first.name


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(1, 2)), min_size=1, max_size=9)
)
@settings(max_examples=15)
def test_names_of_points_cover_neither_each_other_nor_a_point(places):
    """Those that the default run drew over each other lay on one height, close together, at an
    axis' end.
    """
    with figure_style():
        drawing, axes = new_figure()
        axes.set(xlim=(0.9, 2.1), ylim=(-0.03, 1.03))
        points = [(x, y, f"a rather long name {n}") for n, (y, x) in enumerate(places)]
        name_points(axes, points)
        drawing.draw_without_rendering()
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        assert len(boxes) == len(points)
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
        dots = [axes.transData.transform((x, y)) for x, y, _ in points]
        assert not any(box.contains(*dot) for box, dot in product(boxes, dots))
        assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_looking_up_tables_and_figures_loads_no_heavy_library():
    """Every start of Snakemake, and every job of a table, waits for these imports."""
    program = (
        "import sys; from moot.report import FIGURES, TABLES; from moot.scores import"
        " SCORERS;list(FIGURES), list(TABLES), list(SCORERS);print(sorted({'sklearn',"
        " 'scipy.stats', 'matplotlib', 'torch', 'xgboost'} & set(sys.modules)))"
    )
    scripts = str(Path(__file__).resolve().parents[3] / "scripts")
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": scripts},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == "[]"


def test_a_figure_draws_a_model_with_a_hostile_name(tmp_path):
    rows = [
        prediction("a", "yes", "yes", confidence=80.0),
        prediction("b", "no", "no", confidence=60.0),
    ]
    hostile = "$x_1$&<b>"
    results = write_results(
        tmp_path,
        [case("a", "yes"), case("b", "no")],
        {hostile: rows},
        {hostile: []},
        config=experiment_view("zero_shot", "nlsy97", (hostile,)),
        experiment=hostile + "-long" * 12,
    )
    entry = FIGURES["courtroom/figure4_sorted_prompts"]
    draw(entry, study_of([results]), {"svg": tmp_path / "f.svg"})
    assert "<b>" not in (tmp_path / "f.svg").read_text()
    with figure_style():
        drawing = entry.build(study_of([results]))
        drawing.draw_without_rendering()
        all_texts = chain.from_iterable(axes.findobj(Text) for axes in drawing.axes)
        texts = [text for text in all_texts if len(text.get_text()) > 9]
        cut = [text.get_text() for text in texts if text.get_window_extent().x1 > drawing.bbox.x1]
    assert texts and cut == []
