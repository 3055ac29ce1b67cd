"""The page of questions and answers: what is measured is what was recorded, and the word follows
from it.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from moot.overview.tables_questions import questions
from moot.overview.tables_trial_runs import trial_runs
from moot.report.claims import read_claims
from moot.report.content import StudyResults
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


def recorded(folder: Path, method: str, answers: str, cases: int = 30) -> ExperimentResults:
    """Answers to cases by one letter each: y, n, or - for none."""
    words = {"y": "yes", "n": "no", "-": ""}
    rows = [
        prediction(found.case_id, found.target, words[answer])
        for found, answer in zip(CASES[:cases], answers, strict=True)
    ]
    view = experiment_view("recorded", models=("tiny",), params={"method": method})
    return write_results(folder, CASES, {"tiny": rows}, experiment=method, config=view)


def answers(
    folder: Path, claims: str, *experiments: ExperimentResults, simulated: bool = False
) -> pd.DataFrame:
    path = folder / "claims.csv"
    path.write_text(f"{HEADER}\n{claims}")
    by_name = {found.experiment: found for found in experiments}
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


RIGHT = "ynn" * 10
WRONG = "nyy" * 10
CLAIM = "s,a,q,c,,toy (synthetic),{statistic},recorded(method=one),{second},above,0,t/x\n"
AGAINST = "recorded(method=other)"


@pytest.mark.parametrize(
    ("statistic", "value"), [("difference,accuracy", 1.0), ("difference,f1", 1.0)]
)
def test_a_method_that_is_always_right_is_better_than_one_that_never_is(
    statistic: str, value: float, tmp_path: Path
) -> None:
    pair = recorded(tmp_path, "one", RIGHT), recorded(tmp_path, "other", WRONG)
    row = answers(tmp_path, CLAIM.format(statistic=statistic, second=AGAINST), *pair).iloc[0]
    assert (row["this run"], row["answer"], row["cases"]) == (value, "supported", 30)
    turned = answers(
        tmp_path, CLAIM.format(statistic=statistic, second=AGAINST).replace("above", "below"), *pair
    )
    assert turned.iloc[0]["answer"] == "not supported"


def test_simulated_voices_support_no_claim(tmp_path: Path) -> None:
    pair = recorded(tmp_path, "one", RIGHT), recorded(tmp_path, "other", WRONG)
    claim = CLAIM.format(statistic="difference,accuracy", second=AGAINST).replace(
        "c,,", "c,0.5,", 1
    )
    row = answers(tmp_path, claim, *pair, simulated=True).iloc[0]
    assert (row["this run"], row["answer"]) == (1.0, "cannot tell") and pd.isna(
        row["published value"]
    )


def test_the_difference_in_accuracy_is_that_of_the_paired_tests_on_common_cases(
    tmp_path: Path,
) -> None:
    one = recorded(tmp_path, "one", ("ynnynn" + "-nnyyy") * 2 + "ynnynn")
    other = recorded(tmp_path, "other", "ynyynn" * 3, cases=18)
    row = answers(
        tmp_path, CLAIM.format(statistic="difference,accuracy", second=AGAINST), one, other
    ).iloc[0]
    expected = compare_shares(
        share_right(one.predictions), share_right(other.predictions), one.clusters, one.seed
    )
    assert row["cases"] == expected.cases == 18
    assert row["this run"] == pytest.approx(expected.difference)
    assert (row["95 % low"], row["95 % high"]) == pytest.approx((expected.low, expected.high))


def test_the_gain_over_the_majority_class_counts_invalid_answers_as_wrong(tmp_path: Path) -> None:
    claim = CLAIM.format(statistic="gain over the majority class,accuracy", second="")
    row = answers(tmp_path, claim, recorded(tmp_path, "one", "-" * 30)).iloc[0]
    assert (row["this run"], row["answer"]) == (pytest.approx(-2 / 3), "not supported")


def test_few_cases_no_run_and_no_statistic_cannot_tell_and_say_why(tmp_path: Path) -> None:
    few = answers(
        tmp_path,
        CLAIM.format(statistic="gain over the majority class,accuracy", second=""),
        recorded(tmp_path, "one", RIGHT[:9], cases=9),
    )
    assert few.iloc[0]["answer"] == "cannot tell"
    none = answers(tmp_path, CLAIM.format(statistic="difference,f1", second=AGAINST))
    assert tuple(none.iloc[0][["answer", "measured"]]) == (
        "cannot tell",
        (
            "needed: difference in F1: recorded (method=one) less recorded (method=other), on toy"
            " (synthetic)"
        ),
    )
    unjudged = answers(tmp_path, "s,a,q,c,,,,,,,,,t/x\n")
    assert tuple(unjudged.iloc[0][["answer", "measured"]]) == (
        "cannot tell",
        "no single number judges it",
    )


def test_a_threshold_of_a_paper_is_held_against_no_run_that_is_not_as_published(
    tmp_path: Path,
) -> None:
    claim = "s,a,q,c,0.4,toy (synthetic),value,accuracy,recorded(method=one),,above,0.3,t/x\n"
    assert (
        answers(tmp_path, claim, recorded(tmp_path, "one", RIGHT)).iloc[0]["answer"]
        == "cannot tell"
    )


def test_verdicts_over_models_are_corrected_together(tmp_path: Path) -> None:
    """One model of four is better by 6 of 30 cases: p is .031 alone, and .125 among four."""
    letters = {"a": "ynn" * 8 + "nyynyy", "b": RIGHT, "c": RIGHT, "d": RIGHT}
    rows = {
        name: {
            model: [
                prediction(found.case_id, found.target, {"y": "yes", "n": "no"}[letter])
                for found, letter in zip(CASES, RIGHT if name == "one" else answers_of, strict=True)
            ]
            for model, answers_of in letters.items()
        }
        for name in ("one", "other")
    }
    pair = [
        write_results(
            tmp_path, CASES, by_model, experiment=name,
            config=experiment_view("recorded", models=tuple(letters), params={"method": name}),
        )
        for name, by_model in rows.items()
    ]  # fmt: skip
    frame = answers(
        tmp_path, CLAIM.format(statistic="difference,accuracy", second=AGAINST), *pair
    ).set_index("model")
    assert frame.loc["a", "95 % low"] > 0
    assert (frame.loc["a", "answer"], frame.loc["a", "tests in family"]) == ("cannot tell", 4)
    assert frame.loc["a", "p (Holm)"] == pytest.approx(4 * 0.03125)


def test_an_answer_that_invalid_replies_carry_says_so_with_both_numbers(tmp_path: Path) -> None:
    pair = recorded(tmp_path, "one", "-" * 20 + RIGHT[20:]), recorded(tmp_path, "other", RIGHT)
    row = answers(
        tmp_path, CLAIM.format(statistic="difference,accuracy", second=AGAINST), *pair
    ).iloc[0]
    assert (
        row["answer"]
        == "cannot tell: invalid answers carry the difference (-0.667 with them as wrong, +0.000"
        " without)"
    )
    assert (row["cases"], row["cases with valid"]) == (30, 10)


@pytest.mark.parametrize("data", ["toy", "elsewhere (synthetic)"])
def test_data_that_the_claim_does_not_name_judge_nothing(data: str, tmp_path: Path) -> None:
    claim = CLAIM.format(statistic="difference,accuracy", second=AGAINST).replace(
        "toy (synthetic)", data
    )
    frame = answers(
        tmp_path, claim, recorded(tmp_path, "one", RIGHT), recorded(tmp_path, "other", WRONG)
    )
    assert frame["answer"].tolist() == ["cannot tell"] and frame["this run"].isna().all()


def test_the_question_has_the_votes_size_and_gemini_is_not_judged_by_its_silence(
    tmp_path: Path,
) -> None:
    """The shipped records: 225 of 490 debates of gemini ended without an answer; its votes are over
    2 or 3 samples.
    """
    methods = {"debated": "debate", "voted": "self-consistency"}
    models = {"gemini": "gemini/gemini-2.5-flash", "mini": "gpt-4.1-mini"}
    study = recorded_study(
        tmp_path, {"loader": "agenticsimlaw", "source": "shipped"}, methods, models
    )
    claims = [one for one in read_claims(SHIPPED) if "{votes}" in one.question]
    study = replace(
        study, study="comparison", claims=[replace(one, data=("records",)) for one in claims]
    )
    frame = questions(study).frame.set_index("model")
    assert "a vote over 2 to 3 single answers" in frame.loc["gemini/gemini-2.5-flash", "question"]
    assert "a vote over 59 single answers" in frame.loc["gpt-4.1-mini", "question"]
    found = frame.loc["gemini/gemini-2.5-flash"]
    assert (
        found["answer"]
        == "cannot tell: invalid answers carry the difference (-0.223 with them as wrong, +0.080"
        " without)"
    )
    assert found["cases with valid"] == 58 and found["valid low"] < 0 < found["valid high"]


def test_trial_runs_are_counted_and_enter_no_question(tmp_path: Path) -> None:
    trial = recorded(tmp_path, "one", "y-n", cases=3)
    results = StudyResults("comparison", {}, no_scores(), {}, pd.DataFrame(), trials={"one": trial})
    row = trial_runs(results).frame.iloc[0]
    assert tuple(row[["debates", "valid", "invalid", "failed", "calls"]]) == (3, 2, 1, 0, 3)
    assert results.experiments == {}
