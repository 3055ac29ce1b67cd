"""What debate adds: each control arm compared with its experiment, case by case."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import pandas as pd

from moot.analyses.arms.controls import ARMS
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyPlan, TableContent
from moot.report.paired_cells import (
    PAIRED_NOTE,
    SAME_NOTE,
    add_holm_correction,
    paired_cells,
    same_answers,
)
from moot.report.study_results import Run, StudyResults
from moot.scores.results import ExperimentView
from moot.stats.paired import compare_shares, share_right

FAMILY = "what does debate add?"
COSTS = {
    "calls": "calls",
    "prompt tokens": "prompt_tokens",
    "generated tokens": "completion_tokens",
    "US dollars": "cost_usd",
}
HEADINGS = {
    (name, side): f"{name} a case, {side}" for name, side in product(COSTS, ("debate", "arm"))
}
COLUMNS = (
    Columns()
    .keys("data", "debate", "model")
    .plain("arm", "what is changed")
    .ours("debate right", "arm right")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .counts("cases", "clusters")
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("same answer", "same if asked twice")
    .estimate("changed by the arm", "changed", role="", digits=SIGNED)
    .plain(*list(HEADINGS.values())[:-2], digits=",.1f")
    .plain(*list(HEADINGS.values())[-2:], digits=",.4f")
)


def has_arms(plan: StudyPlan) -> bool:
    """Return whether an experiment has a control arm."""
    return any(control.config.control in ARMS for control in plan.controls)


@table(EVERY_STUDY_AND_COMPARISON, "what_debate_adds", "What does debate add?", needs=(has_arms,))
def what_debate_adds(results: StudyResults) -> TableContent:
    """Each control arm against the full debate, paired on cases: difference, interval and costs."""
    rows: list[Row] = []
    for debate in results.runs(results.experiments.values(), Run):
        for arm in results.controls.values():
            if _is_arm_of(debate, arm.config):
                rows += _rows(debate, replace(debate, results=arm))
    return COLUMNS.table(
        add_holm_correction(rows),
        [
            (
                "Difference is the debate's share of right answers minus the arm's, on the cases "
                f"that both argued. {PAIRED_NOTE} Holm's correction is over all arms of this "
                "table, which ask one question (`family`)."
            ),
            (
                f"{SAME_NOTE} `changed by the arm` is the excess of this share over `same "
                "answer`, with its interval by cluster."
            ),
            (
                "Costs are means per case and repeat over all calls behind a debate. A call that "
                "both share is paid for once but counts in both."
            ),
        ],
        exploratory=True,
    )


def _is_arm_of(debate: Run, config: ExperimentView) -> bool:
    """Return whether an experiment is a control arm of a debate, argued by the same model."""
    is_arm = config.control in ARMS and config.control_of == debate.experiment
    return is_arm and debate.model in config.models


def _rows(debate: Run, arm: Run) -> Iterator[Row]:
    debate_hits, arm_hits = share_right(debate.predictions), share_right(arm.predictions)
    comparison = compare_shares(debate_hits, arm_hits, debate.results.clusters)
    if comparison.cases:
        common = debate_hits.index.intersection(arm_hits.index)
        yield {
            "data": debate.data,
            "debate": debate.experiment,
            "model": debate.model,
            "arm": arm.results.config.control.replace("_", " "),
            "what is changed": ARMS[arm.results.config.control].change,
            "debate right": float(debate_hits[common].mean()),
            "arm right": float(arm_hits[common].mean()),
            **paired_cells(comparison),
            "family": FAMILY,
            **same_answers(debate, arm, "changed by the arm"),
            **_costs(debate.predictions, "debate"),
            **_costs(arm.predictions, "arm"),
        }


def _costs(predictions: pd.DataFrame, side: str) -> Mapping[str, float]:
    return {
        HEADINGS[name, side]: float(predictions[column].mean()) for name, column in COSTS.items()
    }
