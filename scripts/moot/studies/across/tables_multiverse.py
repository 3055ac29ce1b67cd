"""The table of a multiverse: each conclusion under every combination of choices."""

from collections.abc import Iterator

import numpy as np

from moot.report import EVERY, table
from moot.report.columns import SIGNED, Columns, Row
from moot.report.content import MULTIVERSE, StudyResults, TableContent
from moot.studies.across.multiverse import CHOICES, Question, questions

COLUMNS = (
    Columns()
    .keys("data", "question", "metric")
    .plain(*CHOICES, "as moot does")
    .estimate("value", digits=SIGNED)
    .plain("p")
    .counts("cases")
    .plain("in words")
    .short_form("question", "metric", *CHOICES, "value", "95 % interval", "in words")
)


@table(
    EVERY,
    "multiverse",
    "How far conclusions depend on choices that nobody argues about",
    rests_on=(MULTIVERSE,),
)
def multiverse(results: StudyResults) -> TableContent:
    """Planned contrasts, accuracy and Brier score under every combination of wording, parsing, and
    the rules for invalid answers, ties and stated confidence that the replies at hand can answer.
    """
    return COLUMNS.table(
        [row for question in questions(results) for row in _rows(question)],
        [
            (
                "A multiverse analysis (Steegen, Tuerlinckx, Gelman and Vanpaemel 2016): the same"
                " replies, read and counted under every combination of choices; no call is made."
                " Wording: experiments that differ in `prompts`; a side that was run in one wording"
                " stays in it. Intervals and p are those of `contrasts`, uncorrected: rows are no"
                " independent tests."
            ),
            (
                "Parsing: the reply that an answer rests on is as it was asked for (`strict`), was"
                " repaired, or had its answer extracted; one that is further off makes the answer"
                " invalid, and is no vote. Ties: of sampled votes. Confidence: what a stated share"
                " c means for k labels: 1/k + (1 - 1/k) c, c itself, or the larger of c and 1/k."
                " What debates heard on the way is as it was."
            ),
        ],
        exploratory=True,
    )


def _rows(question: Question) -> Iterator[Row]:
    told = in_words(question)
    for one in question.universes:
        found, rules = one.found, one.rules
        yield {
            "data": (question.data, question.name, question.metric),
            **{choice: getattr(rules, choice) for choice in CHOICES},
            "wording": rules.wording or "moot's",
            "as moot does": "yes" if rules == question.own else "",
            "value": (found.value, found.low, found.high),
            "p": None if np.isnan(question.supposed) else found.p_of(question.supposed),
            "cases": found.cases,
            "in words": told,
        }
        told = ""


def in_words(question: Question) -> str:
    """How far a conclusion depends on the choices, in a sentence or two."""
    values = [one.value for one in question.estimates]
    digits = ".3f" if np.isnan(question.supposed) else SIGNED
    said = f"{len(values)} combinations, from {min(values):{digits}} to {max(values):{digits}}"
    if not np.isnan(question.supposed):
        apart = [one for one in question.estimates if one.p_of(question.supposed) < 0.05]  # noqa: PLR2004
        above, shown = sum(value > 0 for value in values), sum(one.value > 0 for one in apart)
        said += (
            f": {above} above 0 ({shown} with p below 0.05), {len(apart) - shown} below 0 with p"
            " below 0.05"
        )
    moved = question.moved_by()
    most = max(moved, key=lambda choice: moved[choice])
    return (
        f"{said}. The choice that moves it most: {most}, by {moved[most]:.3f}."
        if moved[most]
        else f"{said}."
    )
