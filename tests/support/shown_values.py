"""Which published values a study's tables show beside numbers of ours."""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import pandas as pd

from moot.report import TABLES
from moot.report.columns import OURS, PUBLISHED
from moot.report.content import StudyResults

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

TOLD = {
    "opinion_changes",
    "opinion_change_opportunities",
    "total_tokens_per_case",
    "total_tokens_per_case_low",
    "total_tokens_per_case_high",
    "f1_std_across_models",
}
"""Values that enter a table as part of another, or are told in its notes."""


def differences(results: StudyResults) -> Iterator[tuple[str, "pd.Series[Any]"]]:
    """Every row of a study's tables in which ours and a published value stand beside each other."""
    shown = set(results.published["table"]) | WITH_PUBLISHED
    for name in TABLES:
        if TABLES[name].study == results.study and name.partition("/")[2] in shown:
            content = TABLES[name].build(results)
            ours = [column for column in content.names(OURS) if not column.startswith("95")]
            both = content.frame[content.names(PUBLISHED)].notna().any(axis=1) & content.frame[
                ours
            ].notna().any(axis=1)
            if "difference" in content.frame:
                both |= content.frame["difference"].notna()
            yield from ((name, row) for _, row in content.frame[both].iterrows())


def printed(row: Mapping[str, Any]) -> tuple[float, float]:
    """A published value, and as Table 5 of Debate-Feedback shows its counts: as a share of 3,000
    cases.
    """
    return float(row["value"]), float(row["value"]) / 3000


def missing(expected: pd.DataFrame, results: StudyResults) -> list[dict[str, Any]]:
    """The published values among some that no table shows beside ours."""
    shown = {
        round(float(value), 9)
        for _, row in differences(results)
        for value in row
        if isinstance(value, Real)
    }
    rows = expected[~expected["metric"].isin(TOLD)].to_dict("records")
    return [row for row in rows if not {round(value, 9) for value in printed(row)} & shown]
