"""Tables of recorded results.

They show methods and models, and the judges of the NYU debates.
"""

from moot.core.types import JsonObject
from moot.report import table
from moot.report.columns import SIGNED, Columns
from moot.report.content import TableContent
from moot.report.published import published_values
from moot.report.study_results import StudyResults
from moot.stats.jackknife import ClusterJackknife
from moot.stats.paired import share_right
from moot.stats.statistic import share_statistic
from moot.studies.recorded.runs import (
    STUDY,
    UNDECIDED,
    RecordedRun,
    answered_runs,
    judged_runs,
    read_outcomes,
)

INVALID = (
    'An answer is valid if it names one of the labels; other answers ("NO DECISION") are invalid.'
)


_ONE_AUTHOR = ["case_id", "judge", "persona"]
BY_CASE, VALID_BY_CASE = "accuracy by case", "accuracy of valid by case"
"""Means over cases; `accuracy` is over answers, also where a case has more than others."""


@table(STUDY, "methods", "Every recorded method and model")
def methods(results: StudyResults) -> TableContent:
    """How often each recorded method and model was right, and how often its repeats agree."""
    return _METHODS.table(
        map(_method_row, answered_runs(results)),
        [
            (
                f"{INVALID} {BY_CASE} is the mean over cases of the share of a case's right"
                f" answers, with invalid ones as wrong; {VALID_BY_CASE} leaves these out. Both are"
                " empty if no truth is known. F1 is for the positive label, over all valid answers."
                " Methods were recorded over different cases: compare each with the majority class"
                " of its own cases."
            ),
            (
                "Base-rate distance is the share of positive answers minus the share of positive"
                " cases. Repeats agree: the share of pairs of valid answers of one judge (or model)"
                " to a case that are the same."
            ),
            (
                "The authors of the records published these answers, but the paper that moot"
                " reproduces has no figures for these methods and models; so no published values"
                " are shown."
            ),
        ],
    )


_METHODS = (
    Columns()
    .keys("data", "method")
    .plain("model")
    .estimate(BY_CASE)
    .plain("majority class", "valid share", VALID_BY_CASE, "F1, binary")
    .plain("base-rate distance", digits=SIGNED)
    .plain("repeats agree")
    .counts("cases", "answers")
)


def _method_row(run: RecordedRun) -> JsonObject:
    predictions = run.predictions
    targets = predictions.drop_duplicates("case_id")["target"].value_counts(normalize=True)
    valid = run.valid.fillna({"judge": "", "persona": ""})
    answers = valid.groupby(_ONE_AUTHOR).size()
    equal_answers = valid.groupby([*_ONE_AUTHOR, "prediction"]).size()
    pairs, equal_pairs = (float((n * (n - 1)).sum()) for n in (answers, equal_answers))
    return {
        "data": run.results.config.dataset,
        "method": run.method,
        "model": run.model_name,
        BY_CASE: run.accuracy,
        "majority class": float(targets.max()) if run.results.has_truth else None,
        "valid share": float((predictions["status"] == "valid").mean()),
        VALID_BY_CASE: float(share_right(run.valid).mean()),
        "F1, binary": run.measurement("f1", "binary").value,
        "base-rate distance": run.measurement("base_rate_distance", "binary").value,
        "repeats agree": equal_pairs / pairs if pairs else float("nan"),
        "cases": predictions["case_id"].nunique(),
        "answers": len(predictions),
    }


@table(STUDY, "nyu_judges", "Human judges of debates and consultancies")
def nyu_judges(results: StudyResults) -> TableContent:
    """How often human judges ended on the right answer, by arm, with published accuracies."""
    published = published_values(results, "nyu_judges")
    rows = []
    for run in judged_runs(results):
        accuracy = published.get((run.method, "accuracy"), float("nan"))
        rows.append(_judge_row(run, accuracy))
    return _JUDGES.table(
        rows,
        [
            (
                "Accuracy is the share of debates whose judge's last belief favours the right side."
                " An undecided judge (one half each) counts one half, as in the authors' paper;"
                " the tables of all studies count such a judge as wrong. The Brier score uses"
                " the last belief in the right answer."
            ),
            (
                "Rounds, words quoted, and flips (how often the judge came to favour the other"
                " answer) are means over the debates whose turns are known (with turns); so is the"
                " share of debates with a flip."
            ),
        ],
    )


def _judge_row(run: RecordedRun, published: float) -> JsonObject:
    outcomes = read_outcomes(run)
    jackknife = ClusterJackknife(outcomes["cluster"])
    estimate = jackknife.estimate(share_statistic(outcomes["right"]))
    flips = outcomes["flips"]
    return {
        "arm": run.method,
        "published": published,
        "ours": estimate,
        "difference": estimate[0] - published,
        "undecided": int((outcomes["right"] == UNDECIDED).sum()),
        "Brier score": float(outcomes["squared_error"].mean()),
        "rounds": float(outcomes["rounds"].mean()),
        "words quoted": float(outcomes["quoted"].mean()),
        "flips": float(flips.mean()),
        "debates with a flip": float((flips.dropna() > 0).mean()),
        "with turns": int(flips.notna().sum()),
        "debates": len(outcomes),
        "stories": outcomes["story"].nunique(),
        "judges": outcomes["judge"].nunique(),
    }


_JUDGES = (
    Columns()
    .plain("arm")
    .published("published")
    .estimate("ours")
    .difference("difference")
    .counts("undecided")
    .plain("Brier score")
    .plain("rounds", digits=".1f")
    .plain("words quoted", digits=".0f")
    .plain("flips", digits=".2f")
    .plain("debates with a flip")
    .counts("with turns", "debates", "stories", "judges")
)
