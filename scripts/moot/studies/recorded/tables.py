"""Tables of recorded results: methods and models, error rates by group, judges of the NYU debates
and their forms.
"""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from moot.core.kinds import FEEDBACK
from moot.core.types import JsonObject
from moot.report import table
from moot.report.columns import SIGNED, Columns
from moot.report.content import StudyResults, TableContent
from moot.report.published import published_table
from moot.scores.group_rates import FALSE_NEGATIVE, FALSE_POSITIVE, PREDICTED, group_rates
from moot.stats.agreement import count_agreeing_pairs
from moot.stats.bootstrap import ClusterBootstrap, as_numbers, mean_statistic, share_statistic
from moot.stats.differences import UNPAIRED_NOTE
from moot.stats.paired import holm, share_right
from moot.studies.recorded.data_nyu_debates import HIGHEST_GRADE, RIGHT_SIDE, WRONG_SIDE
from moot.studies.recorded.runs import STUDY, RecordedRun, answered_runs, judged_runs, read_outcomes

INVALID = (
    'An answer is valid where it names one of the labels; what is no answer ("NO DECISION") is'
    " invalid."
)


@table(STUDY, "methods", "Every recorded method and model")
def methods(results: StudyResults) -> TableContent:
    """How often each recorded method and model was right, with 95 % intervals by case, and how far
    its repeats agree.
    """
    rows = [row for run in answered_runs(results) for row in _method_rows(run)]
    return _METHODS.table(
        rows,
        [
            (
                f"{INVALID} Accuracy counts invalid answers as wrong, accuracy of valid drops them;"
                " both are means over cases of the share of a case's answers, and empty where no"
                " truth is known. F1 is that of the positive label over all valid answers. Methods"
                " were recorded over different cases: compare each with the majority class of its"
                " own, and see the paired tests."
            ),
            (
                "Base-rate distance is the share of positive answers less the share of positive"
                " cases. Repeats agree: the share of pairs of a case's valid answers that are the"
                " same."
            ),
            (
                "The records' authors published these answers, but no figure for these methods and"
                " models in the paper that moot reproduces, so that no published value is shown"
                " next to them."
            ),
        ],
    )


_METHODS = (
    Columns()
    .keys("data", "method")
    .plain("model")
    .estimate("accuracy")
    .plain("majority class", "valid share", "accuracy of valid", "F1, binary")
    .plain("base-rate distance", digits=SIGNED)
    .plain("repeats agree")
    .counts("cases", "answers")
    .short_form(
        "data",
        "method",
        "model",
        "accuracy",
        "95 % interval",
        "majority class",
        "valid share",
        "cases",
    )
)


def _method_rows(run: RecordedRun) -> Iterator[JsonObject]:
    rows = run.predictions
    truths = rows.drop_duplicates("case_id")["target"].value_counts(normalize=True)
    pairs = count_agreeing_pairs(run.valid, ["case_id"]).sum()
    yield {
        "data": run.results.config.dataset,
        "method": run.method,
        "model": run.model_name,
        "accuracy": run.accuracy,
        "majority class": float(truths.max()) if run.results.has_truth else None,
        "valid share": float((rows["status"] == "valid").mean()),
        "accuracy of valid": float(share_right(run.valid).mean()),
        "F1, binary": run.measured("f1", "binary").value,
        "base-rate distance": run.measured("base_rate_distance", "binary").value,
        "repeats agree": pairs["agree"] / pairs["pairs"] if pairs["pairs"] else float("nan"),
        "cases": rows["case_id"].nunique(),
        "answers": len(rows),
    }


RATES = {FALSE_POSITIVE: "FPR", FALSE_NEGATIVE: "FNR"}


@table(STUDY, "groups", "Error rates by sex and race")
def groups(results: StudyResults) -> TableContent:
    """False positive and false negative rates of each recorded method and model by sex and race,
    with 95 % intervals by case, and tests against the largest group.
    """
    rows = _group_rows(answered_runs(results))
    tests = sum(not np.isnan(row[f"{short} p"]) for row in rows for short in RATES.values())
    columns = Columns().keys("method", "model").plain("group")
    for rate, short in RATES.items():
        columns = columns.estimate(rate, short).plain(f"{short} p, Holm")
    shown = [column.name for column in columns.shown]
    columns = (
        columns.plain("named positive", "FPR p", "FNR p")
        .counts("cases", "answers")
        .short_form(*shown)
    )
    return columns.table(
        rows,
        [
            (
                "Rates are over valid answers. False positive: the person was not arrested again,"
                " and the answer says yes. A rate that rests on fewer than ten people is not shown."
            ),
            (
                "p: of the rate's difference from that of the attribute's largest group."
                f" {UNPAIRED_NOTE} Holm: over the {tests} tests of this table, which are of all"
                " methods and models, groups and both rates."
            ),
        ],
        exploratory=True,
    )


def _group_rows(runs: Sequence[RecordedRun]) -> list[JsonObject]:
    """Both error rates of each run in each group; Holm's correction is over all differences."""
    attributes = ("sex", "race")
    each = [
        (run, one)
        for run in runs
        for one in group_rates(run.results, run.model, (*RATES, PREDICTED), attributes)
    ]
    adjusted = holm([one.p if one.rate in RATES else float("nan") for _, one in each])
    rows: dict[tuple[RecordedRun, str, str], JsonObject] = {}
    for (run, one), p in zip(each, adjusted, strict=True):
        names = {
            "method": run.method,
            "model": run.model_name,
            "group": f"{one.attribute}: {one.group}",
        }
        row = rows.setdefault((run, one.attribute, one.group), names)
        if one.rate == PREDICTED:
            row |= {"cases": one.cases, "answers": one.n, "named positive": one.value}
        else:
            row |= {one.rate: (one.value, one.low, one.high, p), f"{RATES[one.rate]} p": one.p}
    return list(rows.values())


@table(STUDY, "nyu_judges", "Human judges of debates and consultancies")
def nyu_judges(results: StudyResults) -> TableContent:
    """How often human judges ended on the right answer, by who argued and whether one side or two,
    next to what the authors published; intervals by story and judge.
    """
    theirs = published_table(results, "nyu_judges")
    rows = []
    for run in judged_runs(results):
        ends = read_outcomes(run)
        bootstrap = ClusterBootstrap(ends["cluster"], run.results.seed)
        value, *interval = bootstrap.estimate(share_statistic(ends["right"]))
        published = theirs.get((run.method, "accuracy"), float("nan"))
        rows.append(
            {
                "arm": run.method,
                "published": published,
                "ours": value,
                "difference": (value - published, *interval),
                "undecided": int((ends["right"] == 0.5).sum()),  # noqa: PLR2004 - a tie
                "Brier score": float(ends["squared_error"].mean()),
                "rounds": float(ends["rounds"].mean()),
                "words quoted": float(ends["quoted"].mean()),
                "flips": float(ends["flips"].mean()),
                "debates with a flip": float((ends["flips"].dropna() > 0).mean()),
                "with turns": int(ends["flips"].notna().sum()),
                "debates": len(ends),
                "stories": ends["story"].nunique(),
                "judges": ends["judge"].nunique(),
            }
        )
    return _JUDGES.table(
        rows,
        [
            (
                "Accuracy is the share of debates whose judge's last belief was on the right side;"
                " one half each counts one half, as the authors count it; tables of all studies"
                " count it as wrong. Brier score is that of the last belief in the right answer."
            ),
            (
                "Rounds, words quoted, and flips (how often the judge came to favour the other"
                " answer) are means over the debates whose turns are known (with turns); so is the"
                " share of debates with a flip."
            ),
        ],
    )


_JUDGES = (
    Columns()
    .plain("arm")
    .published("published")
    .ours("ours")
    .difference("difference")
    .interval()
    .counts("undecided")
    .plain("Brier score")
    .plain("rounds", digits=".1f")
    .plain("words quoted", digits=".0f")
    .plain("flips", digits=".2f")
    .plain("debates with a flip")
    .counts("with turns", "debates", "stories", "judges")
    .short_form(
        "arm",
        "published",
        "ours",
        "difference",
        "95 % interval",
        "Brier score",
        "words quoted",
        "debates",
    )
)


@table(STUDY, "nyu_feedback", "What judges and debaters graded on feedback forms")
def nyu_feedback(results: StudyResults) -> TableContent:
    """Mean grades from 0 to 4 by arm, who was asked, and question; where both sides were graded,
    that of the right answer's side less the other's, with 95 % intervals by story and judge.
    """
    rows = [row for run in judged_runs(results) for row in feedback_rows(run)]
    return _FEEDBACK.table(
        rows,
        [
            (
                f"Forms have grades from 0 to {HIGHEST_GRADE}; each question is named as the"
                " authors' records name it. Only grades are counted: what people wrote is not"
                " read. Forms are those of debates whose files were read."
            ),
            (
                "A question about both sides has the mean of both as its grade. In a consultancy"
                " there is one side, which argued for the right or the wrong answer."
            ),
        ],
    )


_FEEDBACK = (
    Columns()
    .keys("arm", "asked", "question")
    .estimate("mean grade", digits=".2f")
    .plain("right side", "wrong side", digits=".2f")
    .estimate("right less wrong", "difference", "95 % interval of the difference", digits="+.2f")
    .counts("forms")
    .short_form(
        "arm",
        "asked",
        "question",
        "mean grade",
        "95 % interval",
        "right less wrong",
        "95 % interval of the difference",
        "forms",
    )
)


_GRADES = (0.0, float(HIGHEST_GRADE))
_DIFFERENCES = (-float(HIGHEST_GRADE), float(HIGHEST_GRADE))
_SIDES = {f", {RIGHT_SIDE}": "right side", f", {WRONG_SIDE}": "wrong side"}


def feedback_rows(run: RecordedRun) -> Iterator[JsonObject]:
    """A row for each role that was asked and each question of the form, with the columns of
    `nyu_feedback`.
    """
    grades = read_grades(run)
    for (asked, question), rows in grades.groupby(["asked", "question"], sort=True):
        by_form = rows.groupby(["debate_id", "turn"], sort=True)
        clusters = by_form["cluster"].first()
        row: JsonObject = {
            "arm": run.method,
            "asked": asked,
            "question": question,
            "forms": len(clusters),
        }
        bootstrap = ClusterBootstrap(clusters, run.results.seed)
        row["mean grade"] = bootstrap.estimate(
            mean_statistic(as_numbers(by_form["grade"].mean()), _GRADES)
        )
        sides = rows.pivot_table(index=["debate_id", "turn"], columns="side", values="grade")
        row |= {side: float(sides[side].mean()) for side in _SIDES.values() if side in sides}
        if {"right side", "wrong side"} <= set(sides.columns):
            both = sides.dropna(subset=["right side", "wrong side"])
            of_both = ClusterBootstrap(clusters.loc[both.index], run.results.seed)
            differences = mean_statistic(
                as_numbers(both["right side"] - both["wrong side"]), _DIFFERENCES
            )
            row["right less wrong"] = of_both.estimate(differences)
        yield row


def read_grades(run: RecordedRun) -> pd.DataFrame:
    """All grades, one row each: debate_id, turn (the form), cluster (story and judge), asked,
    question, side, grade; side is "" for neither.
    """
    rows = []
    for form in run.utterances(FEEDBACK).to_dict("records"):
        cluster = run.results.clusters[form["case_id"]]
        for key, grade in json.loads(form["parsed"])["grades"].items():
            ending = next((ending for ending in _SIDES if key.endswith(ending)), "")
            question, side = key.removesuffix(ending), _SIDES.get(ending, "")
            rows.append(
                (
                    form["debate_id"],
                    form["turn"],
                    cluster,
                    form["speaker"],
                    question,
                    side,
                    float(grade),
                )
            )
    columns = ["debate_id", "turn", "cluster", "asked", "question", "side", "grade"]
    return pd.DataFrame(rows, columns=columns).astype({"grade": np.float64})
