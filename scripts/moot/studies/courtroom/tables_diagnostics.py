"""Tables that the paper does not have: the judge's changes of belief, and calibration."""

import numpy as np

from moot.report import table
from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.published import COUNT_COLUMNS
from moot.report.study_results import StudyResults
from moot.studies.courtroom.runs import DEBATE, STUDY, list_runs

DYNAMICS_METRICS = {
    "flips_per_debate": "changes of mind a debate",
    "debates_with_flip": "debates with a change of mind",
    "accuracy": "accuracy of the opinion",
    "confidence": "stated confidence",
    "belief_in_positive": "belief in the positive outcome",
    "base_rate_distance": "predicted less true base rate",
    "shift_to_positive": "mean shift to the positive outcome",
    "moves_to_positive": "share moved to the positive outcome",
    "moves_to_negative": "share moved to the other outcome",
}


@table(STUDY, "judge_dynamics", "How the judge's belief moves")
def judge_dynamics(results: StudyResults) -> TableContent:
    """Changes of the judge's private belief, the preceding speakers, and confidence by turn."""
    rows = []
    for run in list_runs(results, DEBATE):
        for metric, group, value in run.scores(DYNAMICS_METRICS):
            if not group.startswith(("speaker=judge", "speaker=silent_judge")):
                continue
            row = {"experiment": run.experiment, "model": run.model}
            row |= {"when": _describe_group(group), "metric": DYNAMICS_METRICS[metric]}
            rows.append({**row, "ours": value.interval, "n": value.n})
    columns = (
        Columns().keys("experiment", "model", "when").plain("metric").estimate("ours").plain("n")
    )
    return columns.table(
        rows,
        [
            (
                "A belief is the probability of the positive outcome. It follows from the judge's"
                " answer and stated confidence: 0 is a guess (1/2), 100 is certain. A shift is the"
                " change since the judge's previous belief, listed with the seats that spoke in"
                " public in between. If both advocates spoke, their effects cannot be separated;"
                " `beliefs: after_turn` separates them. Turns count every utterance, including"
                " private ones. With `silent_judge` this seat states the beliefs, perhaps with"
                " another model, and they do not enter the verdict."
            ),
            "The paper reports no values for this.",
        ],
    )


def _describe_group(group: str) -> str:
    """Describe a group of scores, for example "after defense, prosecutor" or "turn 7"."""
    _, _, part = group.partition(";")
    kind, _, value = part.partition("=")
    words = {
        "after": f"after {value.replace(',', ', ')}",
        "turn": f"turn {value}",
        "opinion": f"{value} opinion",
    }
    return words.get(kind, "whole debate")


def _missing_note(results: StudyResults) -> str:
    scores = results.scores
    affected = scores[
        (scores["metric"] == "confidence_missing")
        & (scores["group"] == "overall")
        & (scores["value"] > 0)
    ]
    if affected.empty:
        return "Every valid answer has a readable confidence or a probability."
    runs = (
        f"{row.experiment}, {row.model}: {row.value:.0f} of {row.n}"
        for row in affected.itertuples()
    )
    return f"Valid answers without a readable confidence are left out: {'; '.join(runs)}."


@table(STUDY, "calibration", "Can stated confidence be trusted?")
def calibration(results: StudyResults) -> TableContent:
    """AUC, Brier score, calibration error and overconfidence of every run."""
    metrics = {
        "auc": "AUC of the predicted probability",
        "brier": "Brier score of the predicted probability",
        "brier_of_prediction": "Brier score of the confidence in the prediction",
        "expected_calibration_error": "expected calibration error",
        "calibration_error_by_chance": "calibration error by chance",
        "confidence": "mean confidence in the prediction",
        "overconfidence": "confidence less accuracy",
        "auc_of_confidence": "AUC of confidence for being right",
    }
    rows = []
    for run in list_runs(results):
        for metric, heading in metrics.items():
            value = run.measurement(metric)
            if not np.isnan(value.value):
                cells = {**run.row_keys, "metric": heading}
                rows.append({**cells, "ours": value.interval, "cases": value.counts})
    columns = (
        Columns()
        .keys("method", "model", "experiment", "data")
        .plain("metric")
        .estimate("ours")
        .counts(*COUNT_COLUMNS)
    )
    return columns.short_form(
        "method", "model", "experiment", "metric", "ours", "95 % interval", "cases"
    ).table(
        rows,
        [
            (
                "n counts valid answers with a stated confidence or a probability. A stated"
                " confidence c with k labels is the probability 1/k + (1 - 1/k) c, so that the"
                " chosen label is never less probable than chance. An AUC of confidence of 0.5"
                " means that confidence carries no information about being right. The calibration"
                " error by chance is the mean error of calibrated answers with the same"
                " confidences; it grows as answers get fewer. An error close to it is not evidence"
                " of bad calibration, and its interval does not cover the true error."
                " Confidence less accuracy has no such bias. The paper publishes no values."
            ),
            _missing_note(results),
        ],
    )
