"""Tables of recorded results: methods and models, error rates by group, judges of the NYU debates and their forms."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from moot.report import table
from moot.report.content import StudyResults, TableContent
from moot.report.published import published_table
from moot.stats.bootstrap import ClusterBootstrap, share_statistic
from moot.stats.differences import UNPAIRED_NOTE
from moot.studies.recorded.data_nyu_debates import HIGHEST_GRADE
from moot.studies.recorded.feedback_forms import feedback_rows
from moot.studies.recorded.groups import RATES, group_rows
from moot.studies.recorded.runs import STUDY, RecordedRun, answered_runs, judged, judged_runs

INVALID = 'An answer is valid where it names one of the labels; what is no answer ("NO DECISION") is invalid.'


@table(
    STUDY,
    "methods",
    "Every recorded method and model",
    "How often each recorded method and model was right, with 95 % intervals by case, and how far its repeats agree.",
)
def methods(results: StudyResults) -> TableContent:
    """One row a method and model."""
    rows = [row for run in answered_runs(results) for row in _method_rows(run)]
    frame = pd.DataFrame(rows, columns=list(_METHOD_COLUMNS))
    return TableContent(
        frame.astype(dict.fromkeys(("cases", "answers"), "Int64")),
        notes=[
            f"{INVALID} Accuracy counts invalid answers as wrong, and each case by the share of its repeats; F1 is "
            "that of the positive label, invalid answers dropped. Methods were recorded over different cases: compare "
            "each with the majority class of its own, and see the paired tests.",
            "Base-rate distance is the share of positive answers less the share of positive cases. Repeats agree: the "
            "share of pairs of a case's valid answers that are the same.",
            "The records' authors published these answers, but no figure for these methods and models in the paper "
            "that moot reproduces, so that no published value stands beside them.",
        ],
        ours=("accuracy", "95 % low", "95 % high"),
        intervals={"95 % interval": ("95 % low", "95 % high")},
        keys=("data", "method"),
        formats={"base-rate distance": "+.3f"},
    )


_METHOD_COLUMNS = (
    "data",
    "method",
    "model",
    "accuracy",
    "95 % low",
    "95 % high",
    "majority class",
    "valid share",
    "accuracy of valid",
    "F1, binary",
    "base-rate distance",
    "repeats agree",
    "cases",
    "answers",
)


def _method_rows(run: RecordedRun) -> Iterator[dict[str, Any]]:
    rows = run.predictions
    valid = (rows["status"] == "valid").to_numpy()
    right = valid & (rows["prediction"] == rows["target"]).to_numpy()
    positive = run.results.task.positive
    actual, named = (rows["target"] == positive).to_numpy(), valid & (rows["prediction"] == positive).to_numpy()
    accuracy, low, high = _by_case(run, rows, right)
    truths = rows.drop_duplicates("case_id")["target"].value_counts(normalize=True)
    yield {
        "data": run.results.config.dataset,
        "method": run.method,
        "model": run.name,
        "accuracy": accuracy,
        "95 % low": low,
        "95 % high": high,
        "majority class": float(truths.max()),
        "valid share": float(valid.mean()),
        "accuracy of valid": _share(right, valid),
        "F1, binary": _f1(actual & valid, named),
        "base-rate distance": _share(named, valid) - _share(actual & valid, valid),
        "repeats agree": repeats_agree(rows[valid]),
        "cases": rows["case_id"].nunique(),
        "answers": len(rows),
    }


def _by_case(run: RecordedRun, rows: pd.DataFrame, right: "np.ndarray[Any, Any]") -> tuple[float, float, float]:
    """The mean over cases of the share of repeats that are right, with its interval."""
    shares = pd.Series(right, rows.index).groupby(rows["case_id"]).mean()
    return ClusterBootstrap([run.results.clusters[case] for case in shares.index], run.results.seed).estimate(
        share_statistic(shares)
    )


def _share(of: "np.ndarray[Any, Any]", among: "np.ndarray[Any, Any]") -> float:
    return float((of & among).sum() / among.sum()) if among.any() else float("nan")


def _f1(actual: "np.ndarray[Any, Any]", named: "np.ndarray[Any, Any]") -> float:
    either = actual.sum() + named.sum()
    return float(2 * (actual & named).sum() / either) if either else float("nan")


def repeats_agree(valid: pd.DataFrame) -> float:
    """The share of pairs of answers to one case that are the same; NaN where no case has two."""
    same = pairs = 0
    for _, answers in valid.groupby("case_id")["prediction"]:
        counts = answers.value_counts().to_numpy()
        same += int((counts * (counts - 1) // 2).sum())
        pairs += len(answers) * (len(answers) - 1) // 2
    return same / pairs if pairs else float("nan")


@table(
    STUDY,
    "groups",
    "Error rates by sex and race",
    "False positive and false negative rates of each recorded method and model by sex and race, with 95 % intervals by "
    "case, and tests against the largest group.",
)
def groups(results: StudyResults) -> TableContent:
    """One row a method, model, attribute and value."""
    rows = [row for run in answered_runs(results) for row in group_rows(run)]
    columns = ["method", "model", "group"]
    for rate, short in RATES.items():
        columns += [rate, f"{short} low", f"{short} high", f"{short} p, Holm"]
    columns += ["named positive", "FPR p", "FNR p", "cases", "answers"]
    return TableContent(
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(("cases", "answers"), "Int64")),
        notes=[
            "Rates are over valid answers. False positive: the person was not arrested again, and the answer says yes. "
            "A rate that rests on fewer than ten people is not shown.",
            f"p: of the rate's difference from that of the attribute's largest group. {UNPAIRED_NOTE} Holm: over all "
            "groups and both rates of a method and model.",
        ],
        ours=("false positive rate", "FPR low", "FPR high", "false negative rate", "FNR low", "FNR high"),
        intervals={"FPR, 95 % interval": ("FPR low", "FPR high"), "FNR, 95 % interval": ("FNR low", "FNR high")},
        keys=("method", "model"),
        exploratory=True,
    )


@table(
    STUDY,
    "nyu_judges",
    "Human judges of debates and consultancies",
    "How often human judges ended on the right answer, by who argued and whether one side or two, beside what the "
    "authors published; intervals by story and judge.",
)
def nyu_judges(results: StudyResults) -> TableContent:
    """One row an arm."""
    theirs = published_table(results, "nyu_judges")
    rows = []
    for run in judged_runs(results):
        ends = judged(run)
        bootstrap = ClusterBootstrap(ends["cluster"], run.results.seed)
        value, low, high = bootstrap.estimate(share_statistic(ends["right"]))
        published = theirs.get((run.method, "accuracy"), float("nan"))
        rows.append(
            {
                "arm": run.method,
                "published": published,
                "ours": value,
                "difference": value - published,
                "95 % low": low,
                "95 % high": high,
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
    columns = ["arm", "published", "ours", "difference", "95 % low", "95 % high"]
    columns += ["undecided", "Brier score", "rounds", "words quoted", "flips", "debates with a flip", "with turns"]
    columns += ["debates", "stories", "judges"]
    frame = pd.DataFrame(rows, columns=columns)
    return TableContent(
        frame.astype(dict.fromkeys(("undecided", "with turns", "debates", "stories", "judges"), "Int64")),
        notes=[
            "Accuracy is the share of debates whose judge's last belief was on the right side; one half each counts "
            "one half, as the authors count it. Brier score is that of the last belief in the right answer.",
            "Rounds, words quoted, and flips (how often the judge came to favour the other answer) are means over the "
            "debates whose turns are known (with turns); so is the share of debates with a flip.",
        ],
        published=("published",),
        ours=("ours", "95 % low", "95 % high"),
        difference=("difference",),
        intervals={"95 % interval": ("95 % low", "95 % high")},
        formats={"difference": "+.3f", "rounds": ".1f", "words quoted": ".0f", "flips": ".2f"},
    )


@table(
    STUDY,
    "nyu_feedback",
    "What judges and debaters graded on feedback forms",
    "Mean grades from 0 to 4 by arm, who was asked, and question; where both sides were graded, that of the right "
    "answer's side less the other's, with 95 % intervals by story and judge.",
)
def nyu_feedback(results: StudyResults) -> TableContent:
    """One row an arm, a role, and a question of the form."""
    rows = [row for run in judged_runs(results) for row in feedback_rows(run)]
    frame = pd.DataFrame(rows, columns=list(_FEEDBACK_COLUMNS))
    return TableContent(
        frame.astype({"forms": "Int64"}),
        notes=[
            f"Forms have grades from 0 to {HIGHEST_GRADE}; each question is named as the authors' records name it. "
            "Only grades are counted: what people wrote is not read. Forms are those of debates whose files were read.",
            "A question about both sides has the mean of both as its grade. In a consultancy there is one side, which "
            "argued for the right or the wrong answer.",
        ],
        ours=("mean grade", "95 % low", "95 % high", "right less wrong", "difference low", "difference high"),
        intervals={
            "95 % interval": ("95 % low", "95 % high"),
            "95 % interval of the difference": ("difference low", "difference high"),
        },
        keys=("arm", "asked", "question"),
        formats={"mean grade": ".2f", "right side": ".2f", "wrong side": ".2f", "right less wrong": "+.2f"},
    )


_FEEDBACK_COLUMNS = (
    "arm",
    "asked",
    "question",
    "mean grade",
    "95 % low",
    "95 % high",
    "right side",
    "wrong side",
    "right less wrong",
    "difference low",
    "difference high",
    "forms",
)
