"""The figure `record_check`: the shares of passages that the record holds."""

from moot.analyses.record_check.record import RESULTS
from moot.analyses.record_check.tables import EVERYTHING, record_check
from moot.core.experiment_config import COMPARISON
from moot.report import figure
from moot.report.figures import BLUE, HATCHES, ORANGE, SKY, Drawing, nothing_to_draw, row_figure
from moot.report.study_results import StudyResults


@figure(COMPARISON, "record_check", "What the record holds of quotations and figures")
def record_check_figure(results: StudyResults) -> Drawing:
    """Which shares of quotations and figures are verbatim, altered and not locatable."""
    frame = record_check(results).frame
    frame = frame[frame["by"] == EVERYTHING].head(24)
    if frame.empty:
        return nothing_to_draw("No statement has a quotation or figure.")
    rows = range(len(frame))
    names = frame["answers of"] + ", " + frame["model"] + ": " + frame["passages are"]
    drawing, axes = row_figure(list(names), height=1.4 + 0.3 * len(rows))
    ends = frame[list(RESULTS)].cumsum(axis=1)
    for result, colour, hatch in zip(RESULTS, (BLUE, SKY, ORANGE), HATCHES[:3], strict=True):
        starts = ends[result] - frame[result]
        axes.barh(rows, frame[result], left=starts, color=colour, hatch=hatch, label=result)
    axes.set(xlabel="share of passages", xlim=(0, 1))
    drawing.legend(loc="outside lower center", ncols=3)
    return drawing
