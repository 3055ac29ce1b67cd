"""The table of questions: it measures the recorded runs, and the answer follows from the value."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from moot.overview.tables_questions import questions
from moot.overview.tables_trial_runs import trial_runs
from moot.report.published_claims import read_claims
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults
from moot.stats.paired import compare_shares, share_right
from recorded_runs import recorded_study
from results_on_disk import case, experiment_view, prediction, write_results

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "published" / "claims.csv"
CASES = [case(f"c{number}", "yes" if number % 3 == 0 else "no") for number in range(30)]
HEADER = (
    "study,source,question,claim,published,data,statistic,metric,first,second,direction,threshold,"
    "see"
)


def write_recorded_run(
    folder: Path, method: str, answers: str, cases: int = 30
) -> ExperimentResults:
    """Write a recorded run with one letter a case: y, n, or - for an invalid answer."""
    predictions = {"y": "yes", "n": "no", "-": ""}
    rows = [
        prediction(item.case_id, item.target, predictions[letter])
        for item, letter in zip(CASES[:cases], answers, strict=True)
    ]
    view = experiment_view("recorded", models=("tiny",), params={"method": method})
    return write_results(folder, CASES, {"tiny": rows}, experiment=method, config=view)


def answer_claims(
    folder: Path, claims: str, *experiments: ExperimentResults, simulated: bool = False
) -> pd.DataFrame:
    path = folder / "claims.csv"
    path.write_text(f"{HEADER}\n{claims}")
    by_name = {experiment.experiment: experiment for experiment in experiments}
    results = StudyResults(
        "comparison",
        by_name,
        no_scores(),
        {},
        pd.DataFrame(),
        claims=read_claims(path),
        is_rehearsal=simulated,
    )
    return questions(results).frame


CORRECT = "ynn" * 10
INCORRECT = "nyy" * 10
CLAIM = "s,a,q,c,,toy (synthetic),{statistic},recorded(method=one),{second},above,0,t/x\n"
SECOND = "recorded(method=other)"


@pytest.mark.parametrize(
    ("statistic", "value"), [("difference,accuracy", 1.0), ("difference,f1", 1.0)]
)
def test_a_correct_method_is_better_than_an_incorrect_one(
    statistic: str, value: float, tmp_path: Path
) -> None:
    pair = (
        write_recorded_run(tmp_path, "one", CORRECT),
        write_recorded_run(tmp_path, "other", INCORRECT),
    )
    row = answer_claims(tmp_path, CLAIM.format(statistic=statistic, second=SECOND), *pair).iloc[0]
    assert (row["this run"], row["answer"], row["cases"]) == (value, "supported", 30)
    turned = answer_claims(
        tmp_path, CLAIM.format(statistic=statistic, second=SECOND).replace("above", "below"), *pair
    )
    assert turned.iloc[0]["answer"] == "not supported"


def test_simulated_voices_support_no_claim(tmp_path: Path) -> None:
    pair = (
        write_recorded_run(tmp_path, "one", CORRECT),
        write_recorded_run(tmp_path, "other", INCORRECT),
    )
    claim = CLAIM.format(statistic="difference,accuracy", second=SECOND).replace("c,,", "c,0.5,", 1)
    row = answer_claims(tmp_path, claim, *pair, simulated=True).iloc[0]
    assert (row["this run"], row["answer"]) == (1.0, "cannot tell") and pd.isna(
        row["published value"]
    )


def test_the_difference_in_accuracy_equals_the_paired_test_on_common_cases(
    tmp_path: Path,
) -> None:
    first_run = write_recorded_run(tmp_path, "one", ("ynnynn" + "-nnyyy") * 2 + "ynnynn")
    second_run = write_recorded_run(tmp_path, "other", "ynyynn" * 3, cases=18)
    row = answer_claims(
        tmp_path,
        CLAIM.format(statistic="difference,accuracy", second=SECOND),
        first_run,
        second_run,
    ).iloc[0]
    expected = compare_shares(
        share_right(first_run.predictions),
        share_right(second_run.predictions),
        first_run.clusters,
        first_run.seed,
    )
    assert row["cases"] == expected.cases == 18
    assert row["this run"] == pytest.approx(expected.difference)
    assert (row["95 % low"], row["95 % high"]) == pytest.approx((expected.low, expected.high))


def test_the_gain_over_the_majority_class_counts_invalid_answers_as_wrong(tmp_path: Path) -> None:
    claim = CLAIM.format(statistic="gain over the majority class,accuracy", second="")
    row = answer_claims(tmp_path, claim, write_recorded_run(tmp_path, "one", "-" * 30)).iloc[0]
    assert (row["this run"], row["answer"]) == (pytest.approx(-2 / 3), "not supported")


def test_the_answer_is_cannot_tell_without_cases_runs_or_a_statistic(tmp_path: Path) -> None:
    frame = answer_claims(
        tmp_path,
        CLAIM.format(statistic="gain over the majority class,accuracy", second=""),
        write_recorded_run(tmp_path, "one", CORRECT[:9], cases=9),
    )
    assert frame.iloc[0]["answer"] == "cannot tell"
    without_run = answer_claims(tmp_path, CLAIM.format(statistic="difference,f1", second=SECOND))
    assert tuple(without_run.iloc[0][["answer", "measured"]]) == (
        "cannot tell",
        (
            "needed: difference in F1: recorded (method=one) less recorded (method=other), on toy"
            " (synthetic)"
        ),
    )
    unjudged = answer_claims(tmp_path, "s,a,q,c,,,,,,,,,t/x\n")
    assert tuple(unjudged.iloc[0][["answer", "measured"]]) == (
        "cannot tell",
        "no single number judges it",
    )


def test_a_published_threshold_judges_only_runs_as_published(
    tmp_path: Path,
) -> None:
    claim = "s,a,q,c,0.4,toy (synthetic),value,accuracy,recorded(method=one),,above,0.3,t/x\n"
    assert (
        answer_claims(tmp_path, claim, write_recorded_run(tmp_path, "one", CORRECT)).iloc[0][
            "answer"
        ]
        == "cannot tell"
    )


def test_answers_for_several_models_are_corrected_together(tmp_path: Path) -> None:
    """One model of four is better by 6 of 30 cases: p is .031 alone, and .125 among four."""
    models = ("a", "b", "c", "d")
    correct_rows = [prediction(item.case_id, item.target, item.target) for item in CASES]
    mistaken_rows = list(correct_rows[:24])
    for item, answer in zip(CASES[24:], ("no", "yes", "yes", "no", "yes", "yes"), strict=True):
        mistaken_rows.append(prediction(item.case_id, item.target, answer))
    rows = {
        "one": dict.fromkeys(models, correct_rows),
        "other": {**dict.fromkeys(models, correct_rows), "a": mistaken_rows},
    }
    pair = []
    for name, by_model in rows.items():
        view = experiment_view("recorded", models=models, params={"method": name})
        pair.append(write_results(tmp_path, CASES, by_model, experiment=name, config=view))
    frame = answer_claims(
        tmp_path, CLAIM.format(statistic="difference,accuracy", second=SECOND), *pair
    ).set_index("model")
    assert frame.loc["a", "95 % low"] > 0
    assert (frame.loc["a", "answer"], frame.loc["a", "tests in family"]) == ("cannot tell", 4)
    assert frame.loc["a", "p (Holm)"] == pytest.approx(4 * 0.03125)


def test_an_answer_caused_by_invalid_replies_states_both_differences(tmp_path: Path) -> None:
    pair = (
        write_recorded_run(tmp_path, "one", "-" * 20 + CORRECT[20:]),
        write_recorded_run(tmp_path, "other", CORRECT),
    )
    row = answer_claims(
        tmp_path, CLAIM.format(statistic="difference,accuracy", second=SECOND), *pair
    ).iloc[0]
    assert (
        row["answer"]
        == "cannot tell: invalid answers carry the difference (-0.667 with them as wrong, +0.000"
        " without)"
    )
    assert (row["cases"], row["cases with valid"]) == (30, 10)


@pytest.mark.parametrize("data", ["toy", "elsewhere (synthetic)"])
def test_other_data_than_the_claims_judge_nothing(data: str, tmp_path: Path) -> None:
    claim = CLAIM.format(statistic="difference,accuracy", second=SECOND).replace(
        "toy (synthetic)", data
    )
    frame = answer_claims(
        tmp_path,
        claim,
        write_recorded_run(tmp_path, "one", CORRECT),
        write_recorded_run(tmp_path, "other", INCORRECT),
    )
    assert frame["answer"].tolist() == ["cannot tell"] and frame["this run"].isna().all()


def test_the_question_states_the_size_of_the_vote(
    tmp_path: Path,
) -> None:
    """In the shipped records 225 of 490 debates of gemini have no answer.

    Its votes count 2 or 3 samples.
    """
    methods = {"debated": "debate", "voted": "self-consistency"}
    models = {"gemini": "gemini/gemini-2.5-flash", "mini": "gpt-4.1-mini"}
    study = recorded_study(
        tmp_path, {"loader": "agenticsimlaw", "source": "shipped"}, methods, models
    )
    claims = [claim for claim in read_claims(SHIPPED) if "{votes}" in claim.question]
    study = replace(
        study, study="comparison", claims=[replace(claim, data=("records",)) for claim in claims]
    )
    frame = questions(study).frame.set_index("model")
    assert "a vote over 2 to 3 single answers" in frame.loc["gemini/gemini-2.5-flash", "question"]
    assert "a vote over 59 single answers" in frame.loc["gpt-4.1-mini", "question"]
    row = frame.loc["gemini/gemini-2.5-flash"]
    assert (
        row["answer"]
        == "cannot tell: invalid answers carry the difference (-0.223 with them as wrong, +0.080"
        " without)"
    )
    assert row["cases with valid"] == 58 and row["valid low"] < 0 < row["valid high"]


def test_trial_runs_are_counted_but_answer_no_question(tmp_path: Path) -> None:
    trial = write_recorded_run(tmp_path, "one", "y-n", cases=3)
    results = StudyResults("comparison", {}, no_scores(), {}, pd.DataFrame(), trials={"one": trial})
    row = trial_runs(results).frame.iloc[0]
    assert tuple(row[["debates", "valid", "invalid", "failed", "calls"]]) == (3, 2, 1, 0, 3)
    assert results.experiments == {}
