"""The paper's Figures 2 and 3 (debaters, rounds), the assistant's reliability, accuracy against
tokens.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from moot.report import figure
from moot.report.figures import (
    GREEN,
    GREY,
    LINES,
    case_counts,
    count_phrase,
    logarithmic,
    name_points,
    new_figure,
    note_below,
    nothing_to_draw,
    series_style,
    whiskers,
)
from moot.report.measurement import Measurement
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers
from moot.stats.calibration import BINS, confidence_bins
from moot.stats.statistic import SHARE, ratio_statistic
from moot.studies.feedback.runs import (
    ASSISTED,
    DEBATE,
    METHODS,
    SINGLE,
    STUDY,
    Run,
    list_runs,
    sweeps,
)
from moot.studies.feedback.scores import judged_opinions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = "Bars: 95 % intervals over cases; a single case has none."
SIZE = "Debaters and rounds"


@figure(STUDY, "figure2_debaters", "Figure 2: accuracy by the number of debaters", category=SIZE)
def debaters(results: StudyResults) -> "Figure":
    """Accuracy by the number of debaters (paper, Figure 2); all other settings are equal.

    Bars: 95 % intervals.
    """
    return _sweep(results, "debaters", "Debaters")


@figure(STUDY, "figure3_rounds", "Figure 3: accuracy by the number of rounds", category=SIZE)
def rounds(results: StudyResults) -> "Figure":
    """Accuracy by the number of rounds (paper, Figure 3); all other settings are equal.

    Bars: 95 % intervals.
    """
    return _sweep(results, "rounds", "Rounds")


def _sweep(results: StudyResults, name: str, label: str) -> "Figure":
    groups = sweeps(results, name)
    if not groups:
        return nothing_to_draw(f"No experiments of this study differ only in {name}.")
    drawing, axes = new_figure()
    lines = list[tuple[list[ExperimentResults], str]]()
    for group in groups:
        lines += [(group, model) for model in group[0].config.models]
    shift = np.linspace(-0.06, 0.06, len(lines)) if len(lines) > 1 else [0.0]
    for place, (group, model) in enumerate(lines):
        runs = [Run(experiment, model, results) for experiment in group]
        accuracies = [_accuracy(run) for run in runs]
        values = [float(experiment.config.params[name]) for experiment in group]
        n = group[0].predictions["case_id"].nunique()
        title = f"{runs[0].method}, {model}, {runs[0].data}, {count_phrase(n, 'case')}"
        x, bars = (
            [value + shift[place] for value in values],
            whiskers([accuracy.interval for accuracy in accuracies]),
        )
        style = {
            "capsize": 2,
            "linestyle": LINES[place % len(LINES)],
            "label": title,
            **series_style(place),
        }
        axes.errorbar(x, [accuracy.value for accuracy in accuracies], yerr=bars, **style)
    axes.set(xlabel=label, ylabel="Accuracy", ylim=(-0.03, 1.03))
    experiments = list(chain.from_iterable(groups))
    axes.set_xticks(sorted({int(experiment.config.params[name]) for experiment in experiments}))
    for share in {_majority_share(experiment) for experiment in experiments}:
        axes.axhline(share, color=GREEN, linewidth=0.9, linestyle="--", zorder=1)
    axes.plot(
        [], [], color=GREEN, linewidth=0.9, linestyle="--", label="majority class of these cases"
    )
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
    note_below(drawing, [_BARS, *results.notes], case_counts(experiments))
    return drawing


def _accuracy(run: Run) -> Measurement:
    return run.measurement("subset_accuracy" if run.results.task.multilabel else "accuracy")


def _majority_share(experiment: ExperimentResults) -> float:
    """Return the share of the most frequent target among the cases that an experiment evaluated."""
    targets = experiment.predictions.drop_duplicates("case_id")["target"]
    return float(targets.value_counts(normalize=True).max())


@figure(
    STUDY,
    "assistant_reliability",
    "Can the assistant's reliability be trusted?",
    category="The assistant",
)
def assistant_reliability(results: StudyResults) -> "Figure":
    """Reliability of the assistant: how often opinions were right by the reliability that it gave
    them, over evaluated cases, on which it was not trained. On the diagonal, reliability matches
    accuracy.
    """
    runs = [run for run in list_runs(results, DEBATE) if run.method == ASSISTED]
    runs = [run for run in runs if len(judged_opinions(run.results, run.model))]
    if not runs:
        return nothing_to_draw("No experiment of this study has an assistant.")
    drawing, axes = new_figure()
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    point_names: list[tuple[float, float, str]] = []
    for place, run in enumerate(runs):
        opinions = judged_opinions(run.results, run.model)
        reliabilities, is_right = as_numbers(opinions["reliability"]), as_numbers(opinions["right"])
        bins = confidence_bins(reliabilities)
        bootstrap = run.results.sample(opinions["case_id"]).bootstrap
        filled_bins = [number for number in range(BINS) if bins[:, number].any()]
        x = [float(reliabilities[bins[:, number] > 0].mean()) for number in filled_bins]
        estimates = [
            bootstrap.estimate(ratio_statistic(is_right * bins[:, number], bins[:, number], SHARE))
            for number in filled_bins
        ]
        opinion_count = count_phrase(len(opinions), "opinion")
        title = f"{run.experiment}, {run.model}, {run.data}, {opinion_count}"
        style = {
            "capsize": 2,
            "linestyle": LINES[place % len(LINES)],
            "label": title,
            **series_style(place),
        }
        axes.errorbar(x, [value for value, _, _ in estimates], yerr=whiskers(estimates), **style)
        counts = [int(bins[:, number].sum()) for number in filled_bins]
        point_names += [(a, e[0], f"n = {c}") for a, e, c in zip(x, estimates, counts, strict=True)]
    axes.set(
        xlabel="Reliability by the assistant",
        ylabel="Share of right opinions",
        xlim=(0, 1),
        ylim=(-0.03, 1.03),
    )
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0))
    note_below(
        drawing,
        [_BARS, "n counts opinions.", *results.notes],
        case_counts(run.results for run in runs),
    )
    name_points(axes, point_names)
    return drawing


@figure(STUDY, "accuracy_tokens", "Accuracy against tokens", category="Cost")
def accuracy_against_tokens(results: StudyResults) -> "Figure":
    """Accuracy against prompt and generated tokens per case, by method.

    Bars: 95 % intervals over cases.
    """
    measured_runs = []
    for run in list_runs(results):
        token_count, accuracy = run.measurement("tokens_per_case"), _accuracy(run)
        if not np.isnan([token_count.value, accuracy.value]).any():
            measured_runs.append((run, token_count.value, accuracy))
    if not measured_runs:
        return nothing_to_draw("No experiment of this study has an accuracy to draw.")
    data = list(dict.fromkeys(run.data for run, _, _ in measured_runs))
    drawing, grid = new_figure(height=3.1 * len(data) + 0.5, nrows=len(data), squeeze=False)
    order, names_of_axes = (
        [*METHODS.values(), SINGLE, ASSISTED],
        list[list[tuple[float, float, str]]](),
    )
    for axes, name in zip(grid.flat, data, strict=True):
        runs_of_data = [
            (run, tokens, accuracy) for run, tokens, accuracy in measured_runs if run.data == name
        ]
        for run, tokens, accuracy in runs_of_data:
            place = order.index(run.method) if run.method in order else len(order)
            style = {"linestyle": "none", "capsize": 2, "alpha": 0.9, **series_style(place)}
            axes.errorbar([tokens], [accuracy.value], yerr=whiskers([accuracy.interval]), **style)
        majority = [_majority_share(run.results) for run, _, _ in runs_of_data]
        at = [tokens for _, tokens, _ in runs_of_data]
        label = "majority class of the cases of the run above or below"
        axes.plot(
            at,
            majority,
            "_",
            color=GREEN,
            markersize=14,
            markeredgewidth=1.6,
            label=label,
            zorder=1,
        )
        logarithmic(axes, min(at) / 1.6, max(at) * 3)  # room for names on the right
        axes.set(
            ylim=(-0.05, 1.05), ylabel="Accuracy", xlabel="Tokens a case (prompt and generated)"
        )
        axes.set_title(name, loc="left")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0))
        names = _short_names([run for run, _, _ in runs_of_data])
        names_of_axes.append(
            [
                (x, y.value, f"{name}, n = {int(y.n)}")
                for name, (_, x, y) in zip(names, runs_of_data, strict=True)
            ]
        )
    sizes = case_counts(run.results for run, _, _ in measured_runs)
    note_below(drawing, [_BARS, "n counts valid predictions.", *results.notes], sizes)
    for axes, axes_names in zip(grid.flat, names_of_axes, strict=True):
        name_points(axes, axes_names)
    return drawing


def _short_names(runs: Sequence[Run]) -> list[str]:
    """Return the method of each run, with the model if there are several.

    Runs with equal names are labelled with their experiments.
    """
    has_several_models = len({run.model for run in runs}) > 1
    names = [_short_name(run, has_several_models) for run in runs]
    return [
        f"{run.experiment}, {run.model}" if names.count(name) > 1 else name
        for run, name in zip(runs, names, strict=True)
    ]


def _short_name(run: Run, with_model: bool) -> str:
    """Return the method, the basis of its matched samples, and the model if there are several."""
    matches = {"matched": " (calls)", "matched_tokens": " (tokens)"}
    model = f", {run.model}" if with_model else ""
    return run.method + matches.get(str(run.params.get("k")), "") + model
