"""The figure `deferral`: error among kept answers against the share that is kept."""

import numpy as np

from moot.analyses.deferral.risk import risk_by_coverage
from moot.analyses.deferral.signals import gather_signals
from moot.core.experiment_config import COMPARISON
from moot.report import figure
from moot.report.figures import Drawing, new_figure, nothing_to_draw, series_style
from moot.report.study_results import Run, StudyResults


@figure(COMPARISON, "deferral", "Error among kept answers against the share kept")
def deferral_figure(results: StudyResults) -> Drawing:
    """How often answers are wrong if only the most reliable ones are kept, by the first signal
    of the runs with most answers.
    """
    drawing, axes = new_figure()
    runs = results.runs(results.experiments.values(), Run)
    for run in sorted(runs, key=lambda run: -len(run.predictions)):
        signal, answers = next(gather_signals(run), ("", None))
        if answers is not None and len(axes.lines) < 8:
            coverage, risk = risk_by_coverage(
                answers["value"].to_numpy(),
                answers["is_wrong"].to_numpy(),
                np.ones((1, len(answers))),
            )
            label = f"{run.experiment}, {run.model_name}: {signal}"
            style = series_style(len(axes.lines))
            axes.plot(coverage[0], risk[0], label=label, markersize=3, **style)
    if not axes.lines:
        return nothing_to_draw("No run has answers with a signal of their reliability.")
    axes.set(
        xlabel="Share of answers kept",
        ylabel="Error among kept answers",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    drawing.legend(loc="outside lower center", ncols=1)
    return drawing
