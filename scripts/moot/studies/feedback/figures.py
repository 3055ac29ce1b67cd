"""The paper's Figures 2 and 3: accuracy by the number of debaters and of rounds."""

from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.content import StudyResults, data_label
from moot.report.figures import (
    GREEN,
    LINES,
    counted,
    new_figure,
    note_below,
    nothing_to_draw,
    series_style,
    sizes_of,
    whiskers,
)
from moot.report.published import measured
from moot.scores.results import ExperimentResults
from moot.studies.feedback.runs import STUDY, Run, sweeps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = "Bars: 95 % intervals over cases; a single case has none."
SIZE = "Debaters and rounds"


@figure(STUDY, "figure2_debaters", "Figure 2: accuracy by the number of debaters", category=SIZE)
def debaters(results: StudyResults) -> "Figure":
    """Accuracy by the number of debaters (paper, Figure 2), everything else as it was. Bars: 95 % intervals."""
    return _sweep(results, "debaters", "Debaters")


@figure(STUDY, "figure3_rounds", "Figure 3: accuracy by the number of rounds", category=SIZE)
def rounds(results: StudyResults) -> "Figure":
    """Accuracy by the number of rounds (paper, Figure 3), everything else as it was. Bars: 95 % intervals."""
    return _sweep(results, "rounds", "Rounds")


def _sweep(results: StudyResults, name: str, label: str) -> "Figure":
    groups = sweeps(results, name)
    if not groups:
        return nothing_to_draw(f"No experiments of this study differ in {name} alone.")
    drawing, axes = new_figure()
    lines = [(group, model) for group in groups for model in group[0].config.models]
    shift = np.linspace(-0.06, 0.06, len(lines)) if len(lines) > 1 else [0.0]
    for place, (group, model) in enumerate(lines):
        metric = "subset_accuracy" if group[0].task.multilabel else "accuracy"
        found = [measured(results, one.experiment, model, metric) for one in group]
        values = [float(one.config.params[name]) for one in group]
        n = group[0].predictions["case_id"].nunique()
        title = f"{Run(group[0], model).method}, {model}, {data_label(group[0])}, {counted(n, 'case')}"
        x, bars = [value + shift[place] for value in values], whiskers([value.interval for value in found])
        style = {"capsize": 2, "linestyle": LINES[place % len(LINES)], "label": title, **series_style(place)}
        axes.errorbar(x, [value.value for value in found], yerr=bars, **style)
    axes.set(xlabel=label, ylabel="Accuracy", ylim=(-0.03, 1.03))
    axes.set_xticks(sorted({int(one.config.params[name]) for group in groups for one in group}))
    for share in {_majority_share(one) for group in groups for one in group}:
        axes.axhline(share, color=GREEN, linewidth=0.9, linestyle="--", zorder=1)
    axes.plot([], [], color=GREEN, linewidth=0.9, linestyle="--", label="majority class of these cases")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    note_below(drawing, [_BARS, *results.notes], sizes_of(one for group in groups for one in group))
    return drawing


def _majority_share(found: ExperimentResults) -> float:
    """The share of the most frequent target among the cases that an experiment evaluated."""
    targets = found.predictions.drop_duplicates("case_id")["target"]
    return float(targets.value_counts(normalize=True).max())
