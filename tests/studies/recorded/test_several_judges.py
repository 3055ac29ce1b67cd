"""Recorded answers by several judges of the same debates."""

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from moot.commands.power_report import OUTPUT, write_power
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.studies.recorded.tables import BY_CASE, VALID_BY_CASE, methods
from recorded_runs import PROJECT, recorded_study, study_of_verdicts


def test_answers_of_a_judge_are_numbered_where_the_file_has_no_numbers(tmp_path: Path) -> None:
    lines = ["a,0,Ann,,0,Y,Y", "a,0,Ann,,0,N,Y", "a,0,Bo,,0,Y,Y"]
    rows = study_of_verdicts(tmp_path, lines, judge_repeat="").experiments["jury"].predictions
    assert rows[["judge", "judge_repeat", "prediction"]].values.tolist() == [
        ["Ann", 0, "yes"],
        ["Ann", 1, "no"],
        ["Bo", 0, "yes"],
    ]
    (tmp_path / "twice").mkdir()
    with pytest.raises(
        UserError,
        match=r"repeat 0, judge Ann, .*occurs twice; expected each repeat of a case and judge once",
    ):
        study_of_verdicts(tmp_path / "twice", ["a,0,Ann,,0,Y,Y", "a,0,Ann,,0,N,Y"])


def test_accuracy_of_valid_answers_is_never_below_that_with_invalid_ones_as_wrong(
    tmp_path: Path,
) -> None:
    """The mean over cases is 0.35; pooled over answers it would be 1/3.

    That is because the invalid answers are about the case that is more often right.
    """
    lines = [
        "a,0,Ann,,0,Y,Y",
        *(f"a,0,Ann,,{nth},UNKNOWN,Y" for nth in (1, 2, 3, 4)),
        *(f"b,0,Ann,,{nth},{'Y' if nth else 'N'},N" for nth in range(2)),
    ]
    [row] = methods(study_of_verdicts(tmp_path, lines)).frame.to_dict("records")
    assert (row[BY_CASE], row[VALID_BY_CASE]) == (
        pytest.approx((0.2 + 0.5) / 2),
        pytest.approx((1 + 0.5) / 2),
    )


def test_answers_without_truth_have_no_accuracy(tmp_path: Path) -> None:
    lines = ["a,0,Ann,,0,Y,", "b,0,Ann,,0,N,"]
    [row] = methods(study_of_verdicts(tmp_path, lines, truth="")).frame.to_dict("records")
    of_truth = (BY_CASE, VALID_BY_CASE, "majority class", "F1, binary")
    assert pd.isna([row[name] for name in of_truth]).all() and row["valid share"] == 1


def test_recorded_debates_are_a_pilot_for_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = []
    for juror, period, cases, runs in (("Ann", 5, 30, 1), ("Bo", 2, 30, 2), ("Di", 3, 15, 1)):
        for case, run in product(range(cases), range(runs)):
            answer = "Y" if (case + run) % period else "N"
            lines.append(f"c{case},{run},{juror},,0,{answer},Y")
    (tmp_path / "answers.csv").write_text(
        "\n".join(["id,run,who,as,nth,said,truth", *lines]) + "\n"
    )
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "answers.csv"),
        "columns": {
            "debate": "",
            "case": "id",
            "repeat": "run",
            "method": "who",
            "answer": "said",
            "truth": "truth",
        },
        "labels": {"N": "no", "Y": "yes"},
    }
    recorded_study(tmp_path, dataset, {"ann": "Ann", "bo": "Bo", "di": "Di"}, {"jurors": "judges"})
    config = {
        "models": {"jurors": {"endpoint": "recorded", "model": "judges"}},
        "datasets": {"records": dataset},
        "experiments": {
            name: {
                "source": "recorded",
                "dataset": "records",
                "models": ["jurors"],
                "params": {"method": name.title()},
            }
            for name in ("ann", "bo", "cy", "di")
        },
        "seed": 1,
        "run": ["ann", "bo", "di"],
        "contrasts": {
            "better": {"first": "ann", "second": "bo"},
            "another": {"first": "cy", "second": "bo"},
            "unpaired": {"first": "ann", "second": "di", "paired": False},
        },
    }
    plan = Plan.from_yaml(config, PROJECT)
    summary = write_power(plan)
    assert (
        "better (accuracy, by the debates of 30 cases): 30 cases x 1/2 show a difference of 0."
        in summary
    )
    assert "unpaired (accuracy, by the debates of 30/15 cases): 30/15 cases x 1 show" in summary
    assert "another" not in summary
    assert len(pd.read_csv(OUTPUT)) == 2
