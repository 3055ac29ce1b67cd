"""The table of trial runs: experiments with too few debates for conclusions, and their cost."""

from moot.core.experiment_config import COMPARISON
from moot.report import table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent, has_trials
from moot.report.study_results import Run, StudyResults


@table(
    COMPARISON,
    "trial_runs",
    "Trial runs: experiments too small for conclusions",
    needs=(has_trials,),
)
def trial_runs(results: StudyResults) -> TableContent:
    """Experiments with fewer debates than `min_debates`: outcomes and costs of their debates."""
    rows: list[Row] = []
    for run in results.runs(results.trials.values(), Run):
        predictions, protocol = run.predictions, run.results.config.protocol.replace("_", " ")
        status_counts = (
            predictions["status"]
            .value_counts()
            .reindex(["valid", "invalid", "failed"], fill_value=0)
        )
        totals = {name: predictions[column].sum(min_count=1) for name, column in SUMS.items()}
        row: Row = {
            "protocol": protocol,
            "data": run.data,
            "experiment": run.experiment,
            "model": run.model,
            "debates": len(predictions),
        }
        row.update(status_counts)
        rows.append(row | totals)
    rows.sort(key=lambda row: (row["protocol"], row["experiment"], row["model"]))
    return _COLUMNS.table(
        rows,
        [
            (
                "These experiments show that the protocols run. They are left out of the tables "
                "and figures of studies. Raise `cases` or `repeats` of an experiment to "
                "`min_debates` (config/config.yaml), or set `min_debates: 1`."
            ),
            "The debates are in results/reader/.",
            (
                "Seconds are the models' original response times. The cost of recorded debates "
                "is unknown."
            ),
        ],
    )


SUMS = {
    "calls": "calls",
    "tokens read": "prompt_tokens",
    "tokens written": "completion_tokens",
    "seconds": "seconds",
}
_COLUMNS = (
    Columns()
    .plain("protocol", "data", "experiment", "model", "debates")
    .ours("valid")
    .plain("invalid", "failed")
    .counts(*list(SUMS)[:-1])
    .plain("seconds", digits=".1f")
)
