"""Tables of debates that were judged again: a model's beliefs next to the recorded judge's, and
judges pair by pair.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from moot.core.kinds import UNUSABLE
from moot.core.types import Fields, JsonObject
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import Run, StudyResults, TableContent
from moot.stats.agreement import cohens_kappa
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import mean_statistic, share_statistic
from moot.studies.recorded.runs import STUDY

JUDGE, RECORDED_JUDGE = "judge", "recorded judge"
DEBATE, ROUND = "debate_id", "round"
_UNDECIDED = "undecided"


def rejudged_runs(results: StudyResults) -> list[Run]:
    """Every experiment that judged debates again, with each of its models."""
    return results.runs(results.where("rejudge"), Run)


def stated_beliefs(run: Run, seat: str) -> pd.DataFrame:
    """The last usable belief of a seat in each round, in the order of turns.

    Columns: debate_id, round, case_id, side (a label, or "undecided"), in_right (the probability
    given to the right label of two; missing where none was stated).
    """
    said = run.results.transcripts
    mine = said[
        (said["model"] == run.model)
        & (said["speaker"] == seat)
        & ~said["parse_status"].isin(UNUSABLE)
    ]
    truth = mine["case_id"].map(run.results.targets)
    probability = mine["probability"].astype(float)
    in_right = probability.where(mine["prediction"] == truth, 1 - probability)
    if len(run.results.task.labels) != 2:  # what is not given to one label is given to the other
        in_right = in_right.where(mine["prediction"] == truth)
    sides = mine["prediction"].where(mine["prediction"] != "", _UNDECIDED)
    found = mine.assign(side=sides, in_right=in_right.mask(sides == _UNDECIDED, 0.5))
    last = found.groupby([DEBATE, ROUND], sort=False).tail(1)
    return last[[DEBATE, ROUND, "case_id", "side", "in_right"]]


_KEYS = ("data", "debates of", "debated by")


@table(STUDY, "rejudged", "Beliefs of a model and of the recorded judge", protocols=("rejudge",))
def rejudged(results: StudyResults) -> TableContent:
    """How often a model that is shown recorded debates favours the same side as the judge who sat
    there, after the same round, and how much either believes in the right answer, with 95 %
    intervals.
    """
    rows = [row for run in rejudged_runs(results) if (row := _compared_with_recorded(run))]
    columns = Columns().keys(*_KEYS).plain("judge").estimate("same side", "same side")
    columns = columns.ours("recorded belief", "model belief")
    columns = columns.estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED).counts(
        "beliefs", "debates"
    )
    short = (
        "debated by",
        "judge",
        "same side",
        "same side, 95 % interval",
        "difference",
        "difference, 95 % interval",
    )
    return columns.short_form(*short, "debates").table(
        rows,
        [
            (
                "A belief of the model is compared with the recorded judge's after the same round,"
                " where both were stated. Belief is the mean probability of the right answer, over"
                " beliefs in which both stated one; difference is the model's less the recorded"
                " judge's. An undecided judge favours no side: one half."
            ),
            (
                "The model was shown what the debaters said, without the words of the judge who sat"
                " there."
            ),
        ],
    )


def _debates_of(run: Run) -> JsonObject:
    return dict(zip(_KEYS, (run.data, run.params["beside"], run.params["debated_by"]), strict=True))


def _compared_with_recorded(run: Run) -> Fields | None:
    both = stated_beliefs(run, JUDGE).merge(
        stated_beliefs(run, RECORDED_JUDGE),
        on=[DEBATE, ROUND, "case_id"],
        suffixes=("", " recorded"),
    )
    if both.empty:
        return None
    bootstrap = run.results.sample(both["case_id"]).bootstrap
    same = bootstrap.estimate(share_statistic(both["side"] == both["side recorded"]))
    differences = both["in_right"] - both["in_right recorded"]
    compared = both[differences.notna()]
    difference = (np.nan, np.nan, np.nan)
    if len(compared):
        some = run.results.sample(compared["case_id"]).bootstrap
        difference = some.estimate(mean_statistic(differences.dropna(), BOUNDS))
    return {
        **_debates_of(run),
        "judge": run.model,
        "same side": same,
        "recorded belief": compared["in_right recorded"].mean(),
        "model belief": compared["in_right"].mean(),
        "difference": difference,
        "beliefs": len(both),
        "debates": both[DEBATE].nunique(),
    }


@table(STUDY, "judges", "Judges of the same debates", protocols=("rejudge",))
def judges(results: StudyResults) -> TableContent:
    """How far judges of the same debates end on the same answer, pair by pair, the recorded judge
    among them, and how often each is right, with 95 % intervals.
    """
    grouped: dict[tuple[str, ...], list[Run]] = {}
    for run in rejudged_runs(results):
        grouped.setdefault(tuple(_debates_of(run).values()), []).append(run)
    rows = [row for runs in grouped.values() for row in _pairs(runs)]
    columns = (
        Columns()
        .keys(*_KEYS, "first")
        .plain("second")
        .estimate("same answer", "same")
        .estimate("kappa", "kappa")
    )
    return (
        columns.plain("first right", "second right")
        .counts("debates")
        .short_form(
            "debated by",
            "first",
            "second",
            "same answer",
            "same, 95 % interval",
            "kappa",
            "kappa, 95 % interval",
            "debates",
        )
        .table(
            rows,
            [
                (
                    "By the last usable belief of each, over the debates that both judged; kappa is"
                    " Cohen's. Models are named with their experiment where they judged in several."
                ),
                (
                    "A judge who samples differs from itself as well. A second entry of a model"
                    " (`extends`, another `seed`) that judges the same debates is its floor: their"
                    " row says how often one model judges alike when it is asked twice. Without"
                    " such a row there is no floor: nothing was asked twice."
                ),
            ],
        )
    )


def _pairs(runs: list[Run]) -> Iterator[JsonObject]:
    names = [run.model for run in runs]
    ended = {
        run.model if names.count(run.model) == 1 else f"{run.model} ({run.experiment})": _last(
            run, JUDGE
        )
        for run in runs
    }
    recorded = pd.concat([_last(run, RECORDED_JUDGE) for run in runs])
    ended = {RECORDED_JUDGE: recorded[~recorded.index.duplicated()], **ended}
    some = runs[0].results
    for (first, one), (second, other) in combinations(ended.items(), 2):
        both = one.join(other, how="inner", lsuffix=" one", rsuffix=" other")
        if both.empty:
            continue
        bootstrap = some.sample(both["case_id one"]).bootstrap
        truth = both["case_id one"].map(some.targets)
        yield {
            **_debates_of(runs[0]),
            "first": first,
            "second": second,
            "same answer": bootstrap.estimate(
                share_statistic(both["side one"] == both["side other"])
            ),
            "kappa": bootstrap.estimate(cohens_kappa(both["side one"], both["side other"])),
            "first right": float((both["side one"] == truth).mean()),
            "second right": float((both["side other"] == truth).mean()),
            "debates": len(both),
        }


def _last(run: Run, seat: str) -> pd.DataFrame:
    """The last belief of a seat in each debate."""
    return stated_beliefs(run, seat).groupby(DEBATE)[["case_id", "side"]].last()
