"""Test that all tests of the table of error rates by group form one family."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.analyses.group_rates.tables import group_rates_table
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.stats.paired import holm
from results_on_disk import REARREST, case, experiment_view, prediction, write_results


def test_rates_of_all_runs_are_one_family(tmp_path: Path) -> None:
    people = [
        case(f"p{n}", "yes" if n % 2 else "no", sex="man" if n < 50 else "woman")
        for n in range(100)
    ]
    rows: dict[str, list[dict[str, Any]]] = {"a": [], "b": []}
    for number, person in enumerate(people):
        for model, modulus in (("a", 3), ("b", 5)):
            answer = "yes" if number % modulus else "no"
            rows[model].append(prediction(person.case_id, person.target, answer))
    task = replace(REARREST, groups=("sex",))
    runs = {}
    for name in ("debate", "vote"):
        config = experiment_view(models=("a", "b"))
        runs[name] = write_results(
            tmp_path / name, people, rows, task=task, experiment=name, config=config
        )
    study = StudyResults("courtroom", runs, no_scores(), {}, None)
    frame = group_rates_table(study).frame
    assert set(frame["tests in family"].dropna()) == {4 * 3}, (
        "two runs of two models, three rates, one comparison each"
    )
    assert frame["p (Holm)"].tolist() == pytest.approx(holm(frame["p"].tolist()), nan_ok=True)
