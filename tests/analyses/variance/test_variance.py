"""Test variance components of predictions: facets by columns, and confounded facets in words."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.analyses.variance.tables import TOO_FEW, where_verdicts_come_from
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults, ExperimentView
from recorded_runs import recorded_study
from results_on_disk import case, prediction, write_results

NAMES = [f"c{number:02}" for number in range(12)]
TRUTH = {name: ("yes", "no")[number % 2] for number, name in enumerate(NAMES)}


def experiment(
    folder: Path, name: str, models: tuple[str, ...], repeats: int, arm: str = ""
) -> ExperimentResults:
    """Return answers that follow the case, except for every third repeat and some cases of one
    model.
    """
    rows: dict[str, list[dict[str, Any]]] = {model: [] for model in models}
    for (number, model), (place, key), repeat in product(
        enumerate(models), enumerate(NAMES), range(repeats)
    ):
        turned = (repeat == 2) != (number == 1 and place % 5 == 0)
        answer = {"yes": "no", "no": "yes"}[TRUTH[key]] if turned else TRUTH[key]
        rows[model].append(prediction(key, TRUTH[key], answer, repeat=repeat, score=None))
    view = ExperimentView("courtroom", "toy", models, "test", {}, {}, arm, "trial" if arm else "")
    cases = [case(key, target) for key, target in TRUTH.items()]
    return write_results(folder, cases, rows, {}, experiment=name, config=view)


def by_experiment(results: tuple[ExperimentResults, ...]) -> dict[str, ExperimentResults]:
    return {experiment.experiment: experiment for experiment in results}


def study(
    *experiments: ExperimentResults, controls: tuple[ExperimentResults, ...] = ()
) -> StudyResults:
    published: Any = None
    return StudyResults(
        "courtroom",
        by_experiment(experiments),
        no_scores(),
        {},
        published,
        controls=by_experiment(controls),
    )


def variance_rows(results: StudyResults, name: str, outcome: str = "verdict") -> pd.DataFrame:
    frame = where_verdicts_come_from(results).frame
    return frame[(frame["answers of"] == name) & (frame["outcome"] == outcome)].set_index("part")


def test_repeated_debates_separate_cases_models_and_repeats(
    tmp_path: Path,
) -> None:
    rows = variance_rows(study(experiment(tmp_path, "trial", ("one", "other"), 4)), "trial")
    assert list(rows.index) == [
        "between cases",
        "between models",
        "in case and model together",
        "asking again",
    ]
    assert rows["share of variance"].sum() == pytest.approx(1)
    assert rows["share of variance"].idxmax() == "asking again"
    row = rows.loc["between cases"]
    assert row["share low"] < row["share of variance"] < row["share high"]
    assert (row["levels"], row["answers"], row["speaks of"]) == (12, 96, "cases; these 2 models")
    sentence = rows.iloc[0]["in words"]
    assert (
        sentence.startswith("Of the variance in verdicts of trial (96 answers, 12 cases): ")
        and "in asking again" in sentence
    )
    assert (rows["in words"].iloc[1:] == "").all()


def test_the_table_names_confounded_facets_and_the_remedy(
    tmp_path: Path,
) -> None:
    last = variance_rows(study(experiment(tmp_path, "trial", ("one", "other"), 1)), "trial").loc[
        "asking again"
    ]
    assert last["not told apart from"] == "in case and model together"
    assert last["what would tell them apart"] == "two answers of the same case and model"


def test_a_fully_confounded_design_has_no_sentence(tmp_path: Path) -> None:
    rows = variance_rows(study(experiment(tmp_path, "trial", ("one",), 1)), "trial")
    assert list(rows.index) == ["asking again"]
    assert rows["not told apart from"].item() == "between cases"
    assert rows["in words"].item() == ""


def test_control_arms_are_levels_of_the_method(tmp_path: Path) -> None:
    baseline = experiment(tmp_path, "trial", ("one",), 4)
    arm = experiment(tmp_path, "trial-arm=noise", ("one",), 4, "noise")
    rows = variance_rows(study(baseline, controls=(arm,)), "all 2 methods")
    assert {"between methods", "in case and method together"} <= set(rows.index)
    assert rows.loc["between methods", "share of variance"] < 0.01, "both say the same"
    assert (rows["speaks of"] == "cases; these 2 methods; one model").all()


def test_too_few_answers_are_reported(tmp_path: Path) -> None:
    results = study(experiment(tmp_path, "trial", ("one",), 1))
    few_results = results.experiments["trial"]
    few_results.predictions = few_results.predictions.head(3)
    frame = where_verdicts_come_from(results).frame
    assert set(frame["part"]) == {TOO_FEW} and frame["share of variance"].isna().all()


def test_jurors_personas_and_debates_are_facets_of_recorded_answers(tmp_path: Path) -> None:
    """16 cases differ much, two runs of each differ a little, and personas have no effect."""
    random, lines = np.random.default_rng(3), ["id,run,who,as,nth,said,truth"]
    for number in range(16):
        of_case = (0.15, 0.85)[number // 2 % 2]
        for run in range(2):
            of_run = of_case + random.uniform(-0.1, 0.1)
            for persona, nth in product(range(8), range(2)):
                answer = "Y" if random.random() < of_run else "N"
                lines.append(f"c{number},{run},gpt,p{persona},{nth},{answer},{'YN'[number % 2]}")
    (tmp_path / "verdicts.csv").write_text("\n".join(lines) + "\n")
    columns = {
        "debate": "",
        "case": "id",
        "repeat": "run",
        "judge": "who",
        "persona": "as",
        "judge_repeat": "nth",
        "answer": "said",
        "truth": "truth",
    }
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "verdicts.csv"),
        "columns": columns,
        "labels": {"N": "no", "Y": "yes"},
        "positive": "yes",
    }
    rows = variance_rows(
        recorded_study(tmp_path, dataset, {"jury": "answer"}, {"jurors": "judges"}), "jury"
    )
    parts = rows["share of variance"]
    assert {
        "between cases",
        "between debates",
        "between personas",
        "in debate and persona together",
    } <= set(parts.index)
    assert parts["between cases"] == pytest.approx(0.49, abs=0.15)
    assert parts["asking again"] == pytest.approx(0.48, abs=0.12)
    assert parts["between personas"] == pytest.approx(0, abs=0.02)
