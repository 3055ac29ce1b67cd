"""The table `cited_evidence`: how often seats cite the evidence, and whether it exists."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.analyses.cited_evidence.citations import cited_numbers
from moot.core.evidence import count_passages
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.needs import StudyPlan
from moot.report.study_results import Run, StudyResults, rows_of_runs
from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.statistic import AMOUNT, SHARE, Statistic, share_statistic

ALL_SPEAKERS = "all speakers"
NO_EVIDENCE = "no evidence: the cases have no passages"
NO_STATEMENT = "no words: the transcripts hold no text of speakers"
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "speaker")
    .estimate("statements that cite")
    .estimate("citations a statement", "a statement")
    .estimate("citations of passages that exist", "that exist")
    .estimate("share of passages cited", "of passages")
    .counts("citations", "statements", "debates", "cases")
    .plain("what is missing", "in words")
    .short_form(
        "answers of",
        "model",
        "speaker",
        "statements that cite",
        "citations of passages that exist",
        "share of passages cited",
        "citations",
        "statements",
    )
)
NOTES = (
    (
        "Passages come with the data and are numbered in the case's text. A citation is a number in"
        " square brackets, also of several numbers or a range. A number that the case does not have"
        " cites no passage."
    ),
    (
        "A cited passage need not support the statement. `share of passages cited` is over all "
        "passages of the debated cases, by debate."
    ),
    "Intervals are by case.",
)


def has_evidence(plan: StudyPlan) -> bool:
    """Return whether an experiment is about data that bring evidence."""
    return any(
        getattr(plan.options_of(experiment), "evidence", "") for experiment in plan.experiments
    )


@table(
    EVERY_STUDY_AND_COMPARISON,
    "cited_evidence",
    "Which evidence is cited?",
    needs=(has_evidence,),
)
def cited_evidence(results: StudyResults) -> TableContent:
    """How many statements cite the evidence of their case, how many citations are of
    passages that exist, and which share of the passages is cited, by speaker.
    """
    return COLUMNS.table(rows_of_runs(results, _rows_with_sentence), NOTES)


def _rows_with_sentence(run: Run) -> list[Row]:
    first, *others = _rows(run)
    return [{**first, "in words": _sentence(run, first)}, *others]


def statements_of(run: Run) -> pd.DataFrame:
    """Return the public statements of a run on cases with evidence.

    Returns:
        A row a statement: debate_id, case_id, speaker, passages (of its case), citations, existing
        (citations of passages that exist), and the set `cited` of existing numbers.
    """
    rows: list[Row] = []
    counts = {name: count_passages(case.text) for name, case in run.results.case_by_id.items()}
    for statements in run.results.public_statements(["speaker"], run.model):
        for statement in statements.itertuples(index=False):
            passages = counts[str(statement.case_id)]
            if not passages:
                continue
            numbers = cited_numbers(str(statement.text))
            existing = [number for number in numbers if 1 <= number <= passages]
            rows.append(
                {
                    "debate_id": statement.debate_id,
                    "case_id": statement.case_id,
                    "speaker": statement.speaker,
                    "passages": passages,
                    "citations": len(numbers),
                    "existing": len(existing),
                    "cited": frozenset(existing),
                }
            )
    return pd.DataFrame(rows)


def _rows(run: Run) -> Iterator[Row]:
    cases = run.results.case_by_id
    debated = run.predictions["case_id"].unique()
    if not any(count_passages(cases[case_id].text) for case_id in debated):
        yield {"cases": len(debated), "what is missing": NO_EVIDENCE}
        return
    statements = statements_of(run)
    if statements.empty:
        yield {"cases": len(debated), "what is missing": NO_STATEMENT}
        return
    yield {"speaker": ALL_SPEAKERS} | _cells(run, statements)
    speakers = statements["speaker"].value_counts().index
    for speaker in speakers if len(speakers) > 1 else ():
        rows = statements[statements["speaker"] == speaker]
        yield {"speaker": speaker} | _cells(run, rows)


def _cells(run: Run, statements: pd.DataFrame) -> Row:
    sample = run.resample(statements["case_id"])
    citations = as_numbers(statements["citations"])
    existing = as_numbers(statements["existing"])
    debates = statements.groupby("debate_id", sort=False).agg(
        case_id=("case_id", "first"), passages=("passages", "first")
    )
    cited_sets = statements.groupby("debate_id", sort=False)["cited"]
    cited = as_numbers([len(frozenset().union(*sets)) for _, sets in cited_sets])
    passages = as_numbers(debates["passages"])
    debate_sample = run.resample(debates["case_id"])
    return {
        "statements that cite": sample.estimate(share_statistic(citations > 0)),
        "citations a statement": sample.estimate(
            _ratio(citations, np.ones_like(citations), is_share=False)
        ),
        "citations of passages that exist": sample.estimate(_ratio(existing, citations)),
        "share of passages cited": debate_sample.estimate(_ratio(cited, passages)),
        "citations": int(citations.sum()),
        "statements": len(statements),
        "debates": len(debates),
        "cases": statements["case_id"].nunique(),
    }


def _ratio(tops: Floats, bottoms: Floats, is_share: bool = True) -> Statistic:
    """Return the ratio of two sums; it is a share if no numerator exceeds its denominator."""
    return Statistic(
        lambda weights: ratio(weights @ tops, weights @ bottoms), SHARE if is_share else AMOUNT
    )


def _sentence(run: Run, row: Row) -> str:
    """Return how many citations are of passages that exist; "" without citations or an interval."""
    if "citations of passages that exist" not in row:
        return ""
    share, low, high = row["citations of passages that exist"]
    if np.isnan(low):
        return ""
    return (
        f"{run.experiment}, {run.model_name}: of {row['citations']:,} citations {share:.0%}"
        f" [{low:.0%}, {high:.0%}] name a passage that the case has."
    )
