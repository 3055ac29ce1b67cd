"""Panel worth: planted correlations of errors, and what a run lacks where none can be estimated."""

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.analyses.panel_worth.panels import ONE_MEMBER, Panels, effective_votes
from moot.analyses.panel_worth.tables import (
    EVERYONE,
    NO_COMMON_ERROR,
    panel_worth,
)
from moot.report.notes import NO_TRUTH
from moot.report.study_results import StudyResults
from moot.stats.arrays import Floats
from results_on_disk import case, prediction, study_of, utterance, write_results

CASES = 60
EQUAL_BELIEFS = {"no": 0.5, "yes": 0.5}
OPPOSITE = {"no": "yes", "yes": "no"}


def make_panels(errors: Floats, *, is_named: bool = True) -> Panels:
    """Panels whose true label is `no`, from who is wrong, shape (panels, members)."""
    panels, members = np.indices(errors.shape)
    names = members.ravel() if is_named else np.arange(errors.size)
    answers = {"panel": panels.ravel(), "case_id": panels.ravel(), "member": names}
    labels = np.where(errors.ravel() > 0, "yes", "no")
    return Panels(pd.DataFrame({**answers, "prediction": labels, "target": "no"}))


def correlate_errors(errors: Floats, *, is_named: bool = True) -> float:
    panels = make_panels(errors, is_named=is_named)
    return float(panels.error_correlation()(np.ones((1, len(errors))))[0])


@pytest.mark.parametrize("accuracy", [0.3, 0.9])
def test_the_correlation_of_two_members_is_phi(accuracy: float) -> None:
    random = np.random.default_rng(1)
    first = random.random(500) > accuracy
    second = np.where(random.random(500) < 0.4, first, random.random(500) > accuracy)
    errors = np.stack([first, second], axis=1).astype(float)
    assert correlate_errors(errors) == pytest.approx(np.corrcoef(errors.T)[0, 1])


@pytest.mark.parametrize("is_named", [True, False])
def test_the_lower_bound_is_that_of_members_who_are_never_wrong_together(is_named: bool) -> None:
    errors = np.zeros((100, 4))
    errors[np.arange(12), np.arange(12) % 4] = 1  # each member is wrong in 3 of 100 panels
    statistic = make_panels(errors, is_named=is_named).error_correlation()
    assert statistic(np.ones((1, 100)))[0] == pytest.approx(-3 / 97)
    errors[90:92] = 1
    low, high = make_panels(errors, is_named=is_named).error_correlation().bounds
    assert low == pytest.approx(-5 / 95) and high == 1


def test_a_seat_with_few_panels_does_not_set_the_lower_bound() -> None:
    answers = [("a", number, number % 10 == 0) for number in range(100)]
    answers += [("b", number, number % 12 == 0) for number in range(100)]
    frame = pd.DataFrame([*answers, ("c", 5, True)], columns=["member", "panel", "is_wrong"])
    labels = frame["is_wrong"].map({True: "yes", False: "no"})
    panels = Panels(frame.assign(case_id=frame["panel"], prediction=labels, target="no"))
    low, _ = panels.error_correlation().bounds
    assert -0.2 < low < 0


def test_a_member_who_never_errs_does_not_make_the_correlation_undefined() -> None:
    random = np.random.default_rng(3)
    errors = (random.random((400, 3)) < 0.4).astype(float)
    errors[:, 2] = 0
    first_pair = np.corrcoef(errors[:, :2].T)[0, 1]
    assert correlate_errors(errors) == pytest.approx(first_pair)


@pytest.mark.parametrize(("size", "rho", "votes"), [(9, 0, 9), (9, 1, 1), (3, 0.5, 1.5)])
def test_effective_votes(size: float, rho: float, votes: float) -> None:
    assert effective_votes(size, rho) == pytest.approx(votes)


def test_no_number_of_votes_varies_as_little_as_a_mean_that_never_varies() -> None:
    assert math.isnan(effective_votes(3, -0.5 + 1e-15))


def majority_of_independent(panels: Panels) -> float:
    return float(panels.independent_majority()(np.ones((1, len(panels.cases))))[0])


def test_the_majority_of_independent_members_is_poisson_binomial() -> None:
    order = np.arange(10)
    errors = np.stack([order < 4, order < 3, order < 2], axis=1).astype(float)
    expected = 0.6 * 0.7 * 0.2 + 0.6 * 0.3 * 0.8 + 0.4 * 0.7 * 0.8 + 0.6 * 0.7 * 0.8
    assert majority_of_independent(make_panels(errors)) == pytest.approx(expected)
    two_members = np.repeat(errors[:, :1], 2, axis=1)  # a tie counts a half
    assert majority_of_independent(make_panels(two_members)) == pytest.approx(0.6)


def rows_of_everyone(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about all members, by moment."""
    return frame[frame["member"] == EVERYONE].set_index("when")


def study(folder: Path, **rows: Any) -> StudyResults:
    targets = {f"c{number:02}": ("no", "yes")[number % 2] for number in range(CASES)}
    cases = [case(name, target) for name, target in targets.items()]
    results = write_results(folder, cases, {"tiny": rows["predictions"]}, {"tiny": rows["talk"]})
    return study_of(results)


def talking_panel(truth: bool = True, members: int = 3) -> dict[str, Any]:
    """Members err alone at first; in the end all follow the first member."""
    random = np.random.default_rng(8)
    predictions, talk = [], []
    for number in range(CASES):
        name, target = f"c{number:02}", ("no", "yes")[number % 2]
        answers = [
            target if is_right else OPPOSITE[target] for is_right in random.random(members) < 0.6
        ]
        predictions.append(prediction(name, target if truth else "", answers[0]))
        turns = [*answers, *[answers[0]] * members]
        for turn, answer in enumerate(turns):
            seat = {"kind": "vote", "prediction": answer, "round": turn // members + 1}
            talk.append(utterance(name, turn, f"judge_{turn % members}", "Yes.", **seat))
    return {"predictions": predictions, "talk": talk}


def test_a_panel_that_follows_its_first_member_ends_as_one_vote(tmp_path: Path) -> None:
    frame = rows_of_everyone(panel_worth(study(tmp_path, **talking_panel())).frame)
    first, last = frame.loc["first answers"], frame.loc["last answers"]
    assert first["votes low"] <= 3 <= first["votes high"]
    assert last["error correlation"] == pytest.approx(1)
    assert last["effective votes"] == pytest.approx(1)
    change = frame.loc["change"]
    assert change["error correlation"] > 0.7 and change["correlation low"] > 0.5
    gain = last["agreement of two members"] - first["agreement of two members"]
    assert change["agreement of two members"] == pytest.approx(gain)
    assert 0 < change["agreement low"] < gain < change["agreement high"]
    assert change["wrong majority pulls over a right minority"] > 0


@pytest.mark.parametrize("moment", [1, 2])
@pytest.mark.parametrize("undecided_panels", [1, CASES])
def test_panels_without_a_label_at_one_moment_are_left_out_of_the_change(
    tmp_path: Path, moment: int, undecided_panels: int
) -> None:
    """Equal beliefs name no label, so that a panel can be undecided before or after it talks."""
    rows = talking_panel()
    for seat in rows["talk"]:
        number = int(seat["case_id"].removeprefix("c"))
        if seat["round"] == moment and number < undecided_panels:
            seat |= {"prediction": "", "parsed": json.dumps({"distribution": EQUAL_BELIEFS})}
    frame = rows_of_everyone(panel_worth(study(tmp_path, **rows)).frame)
    decided = CASES - undecided_panels
    assert frame.loc["last answers" if moment == 1 else "first answers", "cases"] == CASES
    assert ("change" in frame.index) == (decided > 0)
    if decided:
        assert frame.loc["change", "cases"] == decided


def test_rounds_between_the_first_and_the_last_have_rows(tmp_path: Path) -> None:
    panel = talking_panel()
    for row in list(panel["talk"]):
        if row["round"] == 2:
            row["round"], row["turn"] = 3, row["turn"] + 3
            opposite = OPPOSITE[row["prediction"]]
            panel["talk"].append(
                {**row, "round": 2, "turn": row["turn"] - 3, "prediction": opposite}
            )
    panel["talk"].sort(key=lambda row: (row["debate_id"], row["turn"]))
    frame = rows_of_everyone(panel_worth(study(tmp_path, **panel)).frame)
    assert list(frame.index) == ["first answers", "second answers", "last answers", "change"]
    between, last = frame.loc["second answers"], frame.loc["last answers"]
    assert between["accuracy of members"] == pytest.approx(1 - last["accuracy of members"])


def test_few_common_errors_have_a_wide_interval_and_none_a_reason(tmp_path: Path) -> None:
    """Two of 24 panels have two wrong members; in the others all are right."""
    for wrong_panels, folder in ((2, tmp_path / "few"), (0, tmp_path / "none")):
        rows = []
        for number, judge in product(range(24), range(3)):
            target = ("no", "yes")[number % 2]
            answer = OPPOSITE[target] if number < wrong_panels and judge < 2 else target
            rows.append(prediction(f"c{number:02}", target, answer, judge=str(judge)))
        row = panel_worth(study(folder, predictions=rows, talk=[])).frame.iloc[0]
        if wrong_panels:
            assert 0.2 < row["correlation low"] < 0.4 and row["correlation high"] > 0.99
            assert row["what is missing"] in ("", None) or row.isna()["what is missing"]
        else:
            assert row["what is missing"] == NO_COMMON_ERROR
            assert row.isna()["error correlation"]


def test_without_truth_only_agreement_is_given(tmp_path: Path) -> None:
    results = study(tmp_path, **talking_panel(truth=False))
    [experiment] = results.experiments.values()
    experiment.targets[:] = ""
    frame = panel_worth(results).frame
    assert frame["accuracy of members"].isna().all()
    assert frame["what is missing"].tolist() == [NO_TRUTH] * 2
    assert frame["agreement of two members"].tolist()[1] == 1


def test_cases_without_a_label_are_left_out_where_others_have_one(tmp_path: Path) -> None:
    results = study(tmp_path, **talking_panel())
    [experiment] = results.experiments.values()
    experiment.targets.iloc[:20] = ""
    frame = rows_of_everyone(panel_worth(results).frame)
    assert frame["cases"].tolist() == [CASES - 20] * 3
    assert frame["accuracy of members"].iloc[0] > 0.45


def test_each_member_has_a_row_with_its_accuracy(tmp_path: Path) -> None:
    frame = panel_worth(study(tmp_path, **talking_panel())).frame
    members = frame[(frame["when"] == "first answers") & (frame["member"] != EVERYONE)]
    assert members["member"].tolist() == ["judge_0", "judge_1", "judge_2"]
    mean = rows_of_everyone(frame).loc["first answers", "accuracy of members"]
    assert members["accuracy of members"].mean() == pytest.approx(mean)
    assert members["accuracy of members"].nunique() > 1
    assert (members["accuracy low"] < members["accuracy high"]).all()


@pytest.mark.parametrize(("panels", "names"), [(7, ["member"]), (8, [0, 1, 2])])
def test_names_that_rarely_recur_are_taken_together(panels: int, names: list[object]) -> None:
    assert list(make_panels(np.zeros((panels, 3))).names) == names


@pytest.mark.parametrize("members", [3, 5])
def test_who_is_pulled_over_is_counted_among_the_first_minority(
    tmp_path: Path, members: int
) -> None:
    panel = talking_panel(members=members)
    truth = [("no", "yes")[number % 2] for number in range(CASES)]
    answers = [row["prediction"] for row in panel["talk"]]
    is_right = np.array(answers).reshape(CASES, 2, members) == np.array(truth)[:, None, None]
    first, last = is_right[:, 0], is_right[:, 1]
    is_majority_right = first.mean(axis=1, keepdims=True) > 0.5
    change = rows_of_everyone(panel_worth(study(tmp_path, **panel)).frame).loc["change"]
    pulled_to_wrong = ~last[first & ~is_majority_right]
    pulled_to_right = last[~first & is_majority_right]
    column = "wrong majority pulls over a right minority"
    assert change[column] == pytest.approx(pulled_to_wrong.mean())
    column = "right majority pulls over a wrong minority"
    assert change[column] == pytest.approx(pulled_to_right.mean())


def test_seats_that_answer_once_have_one_moment(tmp_path: Path) -> None:
    panel = talking_panel()
    panel["talk"] = [row for row in panel["talk"] if row["round"] == 1]
    frame = rows_of_everyone(panel_worth(study(tmp_path, **panel)).frame)
    assert list(frame.index) == ["answers"]
    assert frame["members are"].item() == "members of a debate"


def test_only_the_kind_of_answer_that_most_seats_give_counts(tmp_path: Path) -> None:
    panel = talking_panel()
    expected = panel_worth(study(tmp_path / "votes", **panel)).frame
    beliefs = [
        row | {"kind": "belief", "turn": row["turn"] + 9, "prediction": "no"}
        for row in panel["talk"]
        if row["speaker"] != "judge_2"
    ]
    panel["talk"] = sorted(
        [*panel["talk"], *beliefs], key=lambda row: (row["case_id"], row["turn"])
    )
    assert panel_worth(study(tmp_path / "beliefs", **panel)).frame.equals(expected)


def test_only_judges_count_where_a_debate_has_judges(tmp_path: Path) -> None:
    panel = talking_panel()
    names = {"judge_0": "speaker", "judge_1": "gpt", "judge_2": "claude"}
    panel["talk"] = [row | {"speaker": names[row["speaker"]]} for row in panel["talk"]]
    judged_rows = product(panel["predictions"], ("gpt", "claude"))
    panel["predictions"] = [row | {"judge": judge} for row, judge in judged_rows]
    frame = panel_worth(study(tmp_path, **panel)).frame
    assert set(frame["member"]) == {EVERYONE, "gpt", "claude"}
    assert rows_of_everyone(frame)["members a panel"].tolist() == [2, 2, 2]


def test_one_member_is_no_panel(tmp_path: Path) -> None:
    results = study(tmp_path, **talking_panel(members=1))
    assert panel_worth(results).frame["what is missing"].tolist() == [ONE_MEMBER]


def test_a_judge_who_is_asked_again_is_a_repeat_and_no_member(tmp_path: Path) -> None:
    answers = [prediction(f"c{number:02}", "yes", "yes", judge="A") for number in range(CASES)]
    rows = [row | {"judge_repeat": time} for row, time in product(answers, (0, 1))]
    frame = panel_worth(study(tmp_path / "one", predictions=rows, talk=[])).frame
    assert frame["members are"].tolist() == ["repeats of a debate"]
    rows = [row | {"judge": judge} for row, judge in product(rows, ("A", "B"))]
    frame = panel_worth(study(tmp_path / "two", predictions=rows, talk=[])).frame
    assert set(frame["members are"]) == {"judges of a debate"}
    assert set(frame["member"]) == {EVERYONE, "A", "B"}
    assert rows_of_everyone(frame)["members a panel"].tolist() == [2]


def test_a_judge_of_another_model_adds_more_where_models_err_apart(tmp_path: Path) -> None:
    """Two personas of each of two models err alike; values computed pair by pair."""
    random = np.random.default_rng(11)
    rows = []
    for number in range(CASES):
        target = ("no", "yes")[number % 2]
        shared = random.random(2) < 0.6
        for judge, persona in product(("gpt", "claude"), ("mild", "strict")):
            is_right = (
                shared[int(judge == "claude")] if random.random() < 0.7 else random.random() < 0.6
            )
            answer = target if is_right else OPPOSITE[target]
            rows.append(prediction(f"c{number:02}", target, answer, judge=judge, persona=persona))
    row = panel_worth(study(tmp_path, predictions=rows, talk=[])).frame.iloc[0]
    assert row["effective votes with one more member"] == pytest.approx(2.869410592)
    assert row["with one of another model"] == pytest.approx(3.233809001)


def test_one_more_member_adds_by_its_correlation() -> None:
    """Three equal members of one model and one that errs apart: 4 ** 2 / (4 + 3 * 2)."""
    random = np.random.default_rng(12)
    first, other = (random.random((2, 4000)) < 0.4).astype(float)
    panels = make_panels(np.stack([first, first, first, other], axis=1))
    assert panels.correlation_between(["a", "a", "a", "b"]) == pytest.approx(0, abs=0.03)
    assert panels.correlation_between(["a", "b", "b", "c"]) == pytest.approx(0.4, abs=0.03)
    assert math.isnan(panels.correlation_between(["a"] * 4))
    assert effective_votes(4, 2 / 4) == pytest.approx(16 / 10)


def test_judges_of_different_cases_are_no_panel(tmp_path: Path) -> None:
    rows = []
    for number in range(CASES):
        judge = f"judge {number % 2}"
        rows.append(prediction(f"c{number:02}", ("no", "yes")[number % 2], "no", judge=judge))
    frame = panel_worth(study(tmp_path, predictions=rows, talk=[])).frame
    assert frame["what is missing"].tolist() == [ONE_MEMBER]
    assert frame["error correlation"].isna().all() and frame["cases"].tolist() == [CASES]
