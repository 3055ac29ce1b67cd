"""It runs: the experiments of so few debates that they show no more than that, each with what it took."""

import pandas as pd

from moot.core.config import COMPARISON
from moot.report import table
from moot.report.content import TRIALS, Run, StudyResults, TableContent


@table(
    COMPARISON,
    "trial_runs",
    "It runs: experiments too small to conclude from",
    "Experiments with fewer debates than `fewest_debates`: how their debates came out and what they took.",
    (TRIALS,),
)
def trial_runs(results: StudyResults) -> TableContent:
    """One row an experiment and model."""
    rows = []
    for found in results.trials.values():
        for model in found.config.models:
            run = Run(found, model)
            asked = run.predictions
            status = asked["status"].value_counts()
            rows.append(
                {
                    "protocol": found.config.protocol.replace("_", " "),
                    "data": run.data,
                    "experiment": run.experiment,
                    "model": model,
                    "debates": len(asked),
                    "valid": int(status.get("valid", 0)),
                    "invalid": int(status.get("invalid", 0)),
                    "failed": int(status.get("failed", 0)),
                    **{
                        name: asked[column].sum(min_count=1) for name, column in (*SUMS.items(), ("seconds", "seconds"))
                    },
                }
            )
    columns = ["protocol", "data", "experiment", "model", "debates", "valid", "invalid", "failed", *SUMS, "seconds"]
    return TableContent(
        pd.DataFrame(rows, columns=columns)
        .sort_values(["protocol", "experiment", "model"], ignore_index=True)
        .astype(dict.fromkeys(SUMS, "Int64")),
        notes=[
            "These experiments show that the protocols run, and enter no table or figure of a study. Raise `cases` or "
            "`repeats` of an experiment to `fewest_debates` (config/config.yaml), or set `fewest_debates: 1`.",
            "What was said is in results/reader/ and results/rendered/.",
            "Seconds are those that the models took to reply, when they were asked. What recorded debates took is "
            "not known.",
        ],
        ours=("valid",),
        formats={"seconds": ".1f"},
    )


SUMS = {"calls": "calls", "tokens read": "prompt_tokens", "tokens written": "completion_tokens"}
