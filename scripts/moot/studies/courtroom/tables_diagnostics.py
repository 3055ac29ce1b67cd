"""What the paper leaves out: how the judge's belief moves, whether confidence can be trusted."""

import numpy as np

from moot.report import table
from moot.report.columns import Columns
from moot.report.content import StudyResults, TableContent
from moot.report.published import COUNTS
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
    """Changes of the judge's private belief, who had spoken before they moved, and confidence by
    turn.
    """
    rows = [
        {
            "experiment": (
                run.experiment,
                run.model,
                _describe_group(group),
                DYNAMICS_METRICS[metric],
            ),
            "ours": (*value.interval, value.n),
        }
        for run in list_runs(results, DEBATE)
        for metric, group, value in run.scores(DYNAMICS_METRICS)
        if group.startswith("speaker=judge")
    ]
    columns = (
        Columns().keys("experiment", "model", "when").plain("metric").estimate("ours").plain("n")
    )
    return columns.table(
        rows,
        [
            (
                "A belief is the probability of the positive outcome, by the judge's answer and"
                " stated confidence, of which 0 is a guess (1/2) and 100 certain. A shift is the"
                " change of the belief since the judge's last one, with the seats that spoke in"
                " public between; where both advocates did, it cannot be told apart (beliefs:"
                " after_turn does). Turns count every utterance, private ones too."
            ),
            "The paper reports no figures for this.",
        ],
    )


def _describe_group(group: str) -> str:
    """A group of the scores in words: "after defense, prosecutor", "turn 7", "first opinion"."""
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
        return "Every valid answer states a confidence that can be read, or carries a probability."
    runs = (
        f"{row.experiment}, {row.model}: {row.value:.0f} of {row.n}"
        for row in affected.itertuples()
    )
    return (
        "Valid answers without a confidence that can be read, which are left out:"
        f" {'; '.join(runs)}."
    )


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
    rows = [
        {"method": (*run.names, heading), "ours": value.interval, "cases": value.counts}
        for run in list_runs(results)
        for metric, heading in metrics.items()
        for value in [run.measured(metric)]
        if not np.isnan(value.value)
    ]
    columns = (
        Columns()
        .keys("method", "model", "experiment", "data")
        .plain("metric")
        .estimate("ours")
        .counts(*COUNTS)
    )
    return columns.short_form(
        "method", "model", "experiment", "metric", "ours", "95 % interval", "cases"
    ).table(
        rows,
        [
            (
                "Valid answers that state a confidence or carry a probability (n). A stated"
                " confidence c of k labels is the probability 1/k + (1 - 1/k) c, so that no answer"
                " counts against itself. AUC of confidence: 0.5 means that confidence says nothing"
                " about being right. Calibration error by chance: what calibrated answers with the"
                " same confidences would show on average, more the fewer there are; an error near"
                " it is no sign of bad calibration, and its interval does not reach the true error"
                " then. Confidence less accuracy has no such bias. The paper publishes no values."
            ),
            _missing_note(results),
        ],
    )
