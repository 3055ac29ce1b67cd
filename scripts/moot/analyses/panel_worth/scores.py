"""Metrics of contrasts: the accuracy of a panel's members before and after they talk."""

from moot.core.errors import CannotTellError
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.dynamics import stated_answers
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers


@case_metric("accuracy_before_talk")
def accuracy_before_talk(results: ExperimentResults, model: str) -> Terms:
    """Share of a debate's speakers whose first answer is right, of those who answer twice."""
    return _share_right(results, model, "first")


@case_metric("accuracy_after_talk")
def accuracy_after_talk(results: ExperimentResults, model: str) -> Terms:
    """Share of a debate's speakers whose last answer is right, of those who answer twice."""
    return _share_right(results, model, "last")


def _share_right(results: ExperimentResults, model: str, moment: str) -> Terms:
    answers = stated_answers(results)
    answers = answers[answers["model"] == model]
    answers = answers[answers.duplicated(["debate_id", "speaker"], keep=False)]
    if answers.empty or (results.predictions["target"] == "").any():
        raise CannotTellError(
            f"{results.experiment}: no speaker answers before and after hearing others, or the"
            " truth of a case is unknown."
        )
    by_speaker = answers.groupby(["debate_id", "speaker"])[["case_id", "correct"]].agg(moment)
    by_debate = by_speaker.astype({"correct": float}).groupby("debate_id")
    sums = by_debate["correct"].agg(["sum", "size"])
    case_ids = by_debate["case_id"].first()
    return Terms(list(case_ids), as_numbers(sums[["sum"]]), as_numbers(sums[["size"]]))
