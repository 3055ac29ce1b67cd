"""Find the published values that the tables of a study show next to values of a run."""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import pandas as pd

from moot.report import TABLES
from moot.report.columns import OURS, PUBLISHED
from moot.report.study_results import StudyResults

WITH_PUBLISHED = {
    "table1_steps",
    "table2_counts",
    "decision_probabilities",
    "volatility",
    "with_and_without_judge",
    "cost_ratios",
    "table5_agreement_detection",
    "judge_on_known_agreement",
}

EXEMPT_METRICS = {
    "opinion_changes",
    "opinion_change_opportunities",
    "total_tokens_per_case",
    "total_tokens_per_case_low",
    "total_tokens_per_case_high",
    "f1_std_across_models",
}
"""Metrics that a table shows as part of another value or in its notes."""


def differences(results: StudyResults) -> Iterator[tuple[str, "pd.Series[Any]"]]:
    """Yield the rows of a study's tables that hold a value of the run and a published one."""
    tables = set(results.published["table"]) | WITH_PUBLISHED
    for name in TABLES:
        if TABLES[name].study == results.study and name.partition("/")[2] in tables:
            content = TABLES[name].build(results)
            ours = [column for column in content.names(OURS) if not column.startswith("95")]
            published = content.names(PUBLISHED)
            frame = content.frame
            has_both = frame[published].notna().any(axis=1) & frame[ours].notna().any(axis=1)
            if "difference" in frame:
                has_both |= frame["difference"].notna()
            for _, row in frame[has_both].iterrows():
                yield name, row


def printed_forms(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return a published value as it is, and as a share of the 3,000 cases of Debate-Feedback.

    Table 5 of Debate-Feedback prints its counts as such shares.
    """
    return float(row["value"]), float(row["value"]) / 3000


def missing_values(expected: pd.DataFrame, results: StudyResults) -> list[dict[str, Any]]:
    """Return the expected published values that no table shows next to a value of the run."""
    table_values = set[float]()
    for _, row in differences(results):
        table_values.update(round(float(value), 9) for value in row if isinstance(value, Real))
    missing = []
    for record in expected[~expected["metric"].isin(EXEMPT_METRICS)].to_dict("records"):
        forms = {round(value, 9) for value in printed_forms(record)}
        if not forms & table_values:
            missing.append(record)
    return missing
