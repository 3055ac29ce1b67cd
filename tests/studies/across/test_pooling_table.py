"""The table of partial pooling: which facets are listed, what is shared, and what is said where
levels are too few.
"""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentView
from moot.studies.across.tables_pooling import MOST_LEVELS, TOO_FEW_LEVELS, partial_pooling
from results_on_disk import case, prediction, write_results

MODELS = ("a", "b", "c", "d")


def study(folder: Path, cases: int, models: tuple[str, ...], repeats: int = 3) -> StudyResults:
    """Answers that are right but for model d's, and for the first answer to each third case."""
    rows: dict[str, list[dict[str, Any]]] = {model: [] for model in models}
    names = [f"c{number:02}" for number in range(cases)]
    truth = {name: ("yes", "no")[number % 2] for number, name in enumerate(names)}
    for model, (number, name), repeat in product(models, enumerate(names), range(repeats)):
        wrong = (model == "d") != (repeat == 0 and number % 3 == 0)
        answer = {"yes": "no", "no": "yes"}[truth[name]] if wrong else truth[name]
        rows[model].append(prediction(name, truth[name], answer, repeat=repeat, score=None))
    view = ExperimentView("courtroom", "toy", models, "test", {}, {}, "", "")
    found = write_results(
        folder,
        [case(name, target) for name, target in truth.items()],
        rows,
        {},
        experiment="trial",
        config=view,
    )
    published: Any = None
    return StudyResults("courtroom", {"trial": found}, no_scores(), {}, published)


def test_cases_have_a_verdicts_share_and_models_that_of_right_answers(tmp_path: Path) -> None:
    frame = partial_pooling(study(tmp_path, 12, MODELS)).frame
    by_case, by_model = (frame[frame["by"] == facet] for facet in ("case", "model"))
    assert len(by_case) == 12 and len(by_model) == 4
    assert (
        by_case["share of"].str.startswith("verdict ").all()
        and (by_model["share of"] == "right answer").all()
    )
    assert list(by_model["level"])[-1] == "d", "sorted from the largest down"
    assert (frame["pooled low"] <= frame["pooled share"]).all() and (
        frame["pooled share"] <= frame["pooled high"]
    ).all()
    assert frame["borrowed from the others"].between(0, 1, inclusive="neither").all()
    raw = by_model.set_index("level")["raw share"]
    assert raw["a"] == pytest.approx(32 / 36) and raw["d"] == pytest.approx(4 / 36)


def test_few_levels_are_not_pooled_and_many_not_listed(tmp_path: Path) -> None:
    frame = partial_pooling(study(tmp_path / "few", 12, MODELS[1:])).frame
    told = frame[frame["by"] == "model"].iloc[0]
    assert (told["level"], told["left out"]) == ("3 models", TOO_FEW_LEVELS)
    many = partial_pooling(study(tmp_path / "many", MOST_LEVELS + 1, MODELS, 1)).frame
    assert set(many["by"]) == {"model"}


def test_cases_have_the_share_of_right_answers_where_a_verdict_has_more_than_two_words(
    tmp_path: Path,
) -> None:
    found = study(tmp_path, 12, MODELS)
    rows = found.experiments["trial"].predictions
    rows.loc[(rows["model"] == "d") & (rows["repeat"] == 1), "prediction"] = "perhaps"
    frame = partial_pooling(found).frame
    by_case = frame[frame["by"] == "case"].set_index("level")
    assert (by_case["share of"] == "right answer").all() and len(by_case) == 12
    assert by_case.loc["c00", "raw share"] == pytest.approx(7 / 12)
