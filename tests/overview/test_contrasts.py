"""Contrasts of the configuration are corrected together; all other tests are exploratory."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from declared_jobs import declared_jobs
from moot.overview.tables_contrasts import contrasts
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.report.content import has_contrasts
from moot.report.study_results import StudyResults
from moot.scores.contrasts import Contrast
from moot.scores.results import ExperimentResults
from moot.stats.paired import compare_shares, holm, share_right
from results_on_disk import (
    case,
    experiment_view,
    prediction,
    study_of,
    write_results,
)

PROJECT = Path(__file__).resolve().parents[2]
CASES = [
    case(f"c{number}", "yes" if number % 3 == 0 else "no", sex=("f", "m")[number % 2])
    for number in range(30)
]
PREDICTIONS = {"y": "yes", "n": "no", "-": ""}
CORRECT, ALMOST_CORRECT, CONSTANT = "ynn" * 10, "nnn" + "ynn" * 9, "y" * 30


def configuration(**entries: dict[str, Any]) -> dict[str, Any]:
    entry = {"protocol": "zero_shot", "dataset": "people"}
    return {
        "seed": 1,
        "min_debates": 10,
        "models": {name: {"model": name} for name in ("a", "b", "c")},
        "datasets": {"people": {"loader": "nlsy97", "source": "synthetic"}},
        "experiments": {
            "debate": {**entry, "protocol": "courtroom", "models": ["a", "b"], "cases": 30},
            "prompt": {**entry, "models": ["b", "c"], "cases": 30},
            "trial": {**entry, "models": ["b"], "cases": 2},
            "elsewhere": {**entry, "models": ["c"], "study": "stance", "cases": 30},
            "alone": {**entry, "models": ["a"], "cases": 30},
        },
        "contrasts": entries,
    }


def make_plan(**entries: dict[str, Any]) -> Plan:
    return Plan.from_yaml(configuration(**entries), PROJECT)


def test_sides_share_models_or_state_why_no_test_is_possible() -> None:
    plan = make_plan(
        shared={"first": "debate", "second": "prompt"},
        named={"first": "debate/a", "second": "prompt/c"},
        one={"first": "debate/b", "second": "prompt"},
        none={"first": "debate/a", "second": "prompt"},
        models={"first": "debate/a", "second": "debate/b"},
        tried={"first": "debate", "second": "trial"},
        crossed={"first": "prompt", "second": "elsewhere"},
        only={"first": "alone", "second": "elsewhere"},
    )
    contrasts_by_name = {contrast.name: contrast for contrast in plan.contrasts}
    sides = {contrast.name: contrast_models(contrast) for contrast in plan.contrasts}
    assert sides["shared"] == (("b",), ("b",)) == sides["one"]
    assert sides["named"] == (("a",), ("c",))
    assert sides["none"] == (("a",), ())
    assert sides["only"] == (("a",), ("c",)), "each side has one model, so none need be named"
    assert (
        contrasts_by_name["none"].missing
        == "debate/a and prompt have no model in common. Name one on either side, as"
        " EXPERIMENT/MODEL"
    )
    assert str(contrasts_by_name["none"].second) == "prompt, no shared models"
    assert contrasts_by_name["tried"].missing == "trial is a trial run"
    testable = {contrast.name for contrast in plan.contrasts if not contrast.missing}
    assert testable == {"shared", "named", "one", "models", "crossed", "only"}
    assert contrasts_by_name["crossed"].family == "comparison"
    assert not list(plan.contrasts_of("stance"))
    assert len(plan.contrasts_of("courtroom")) == 6
    raw = configuration(shared={"first": "debate", "second": "prompt"}) | {"run": ["debate"]}
    part = Plan.from_yaml(raw, PROJECT)
    assert part.contrasts[0].missing == "prompt is not part of this run"


def contrast_models(contrast: Contrast) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models of both sides of a contrast."""
    return contrast.first.models, contrast.second.models


def write_run(folder: Path, experiment: str, repeats: int = 1, **answers: str) -> ExperimentResults:
    """Write a run with one letter of `answers` for each case, the same in each repeat."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for model, letters in answers.items():
        rows[model] = []
        for repeat, index in product(range(repeats), range(len(CASES))):
            answer = PREDICTIONS[letters[index]]
            rows[model].append(
                prediction(CASES[index].case_id, CASES[index].target, answer, repeat=repeat)
            )
    view = experiment_view(models=tuple(answers))
    return write_results(folder, CASES, rows, experiment=experiment, config=view)


def make_results(
    plan: Plan, *experiments: ExperimentResults, study: str = "courtroom"
) -> StudyResults:
    return study_of(
        *experiments,
        study=study,
        contrasts=plan.contrasts_of(study),
        plan_history=("Not frozen.",),
    )


def test_contrasts_are_tested_and_corrected_together(tmp_path: Path) -> None:
    plan = make_plan(
        better={"first": "debate/a", "second": "prompt/b", "direction": "first_higher"},
        worse={"first": "debate/a", "second": "prompt/b", "direction": "first_lower"},
        f1={"first": "debate/a", "second": "prompt/b", "metric": "f1"},
        same={"first": "debate/a", "second": "debate/b"},
        groups={
            "first": "prompt/b",
            "second": "prompt/b",
            "paired": False,
            "first_cases": {"sex": "f"},
            "second_cases": {"sex": "m"},
        },
        waiting={"first": "debate/a", "second": "prompt/c"},
    )
    debate = write_run(tmp_path, "debate", a=CORRECT, b=ALMOST_CORRECT)
    prompt = write_run(tmp_path, "prompt", repeats=2, b=CONSTANT)
    content = contrasts(make_results(plan, debate, prompt))
    frame = content.frame.set_index("contrast")
    shares = share_right(debate.predictions.query("model == 'a'")), share_right(prompt.predictions)
    comparison = compare_shares(*shares, debate.clusters)
    estimate = frame.loc["better", ["difference", "difference low", "p"]].tolist()
    assert estimate == pytest.approx([comparison.difference, comparison.low, comparison.p])
    assert frame.loc["f1", "second value"] == pytest.approx(2 * 10 / (2 * 10 + 20))
    tested = frame[frame["not tested because"] == ""]
    assert set(tested["tests in family"]) == {5} and "waiting" not in tested.index
    assert tested["p (Holm)"].tolist() == pytest.approx(holm(tested["p"].tolist()))
    assert frame["answer"].fillna("").tolist() == [
        "supported",
        "not supported",
        "supported",
        "cannot tell",
        "cannot tell",
        "",
    ]
    assert frame.loc["waiting", "not tested because"] == "prompt has no debate that has ended"
    assert frame.loc["groups", ["cases", "clusters"]].tolist() == [30, 30]
    assert frame.loc["groups", "first"] == "prompt, b where sex=f"
    assert "Not frozen." in content.notes
    assert frame["valid answers alone"].isna().all()


def test_equivalence_is_tested_against_the_planned_margin(tmp_path: Path) -> None:
    entry = {"first": "debate/a", "second": "debate/b"}
    plan = make_plan(wide={**entry, "margin": 0.3}, narrow={**entry, "margin": 0.001}, none=entry)
    content = contrasts(
        make_results(plan, write_run(tmp_path, "debate", a=CORRECT, b=ALMOST_CORRECT))
    )
    frame = content.frame.set_index("contrast")
    assert frame["equivalent"].fillna("").tolist() == ["supported", "cannot tell", ""]
    assert frame.loc["wide", "p of equivalence (Holm)"] == pytest.approx(
        2 * frame.loc["wide", "p of equivalence"]
    )
    assert any("Schuirmann" in note for note in content.notes)


def test_a_missing_answer_of_one_model_makes_no_difference_between_the_sides(
    tmp_path: Path,
) -> None:
    raw = configuration(
        pooled={"first": "debate", "second": "prompt", "metric": "accuracy_of_valid"},
        carried={"first": "debate/a", "second": "prompt/a"},
    )
    raw["experiments"]["prompt"]["models"] = ["a", "b"]
    mistakes = "".join("n" if answer == "y" else "y" for answer in CORRECT)
    debate = write_run(tmp_path, "debate", a=CORRECT, b=mistakes)
    prompt = write_run(tmp_path, "prompt", a=CORRECT[:10] + "-" * 20, b=mistakes)
    frame = contrasts(make_results(Plan.from_yaml(raw, PROJECT), debate, prompt)).frame
    row, carried = frame.iloc[0], frame.iloc[1]
    assert (row["difference"], row["p"], row["cases"]) == (0, 1, 30)
    assert carried["difference"] == pytest.approx(2 / 3) and carried["p"] < 0.001
    assert carried["answer"].startswith("cannot tell: invalid answers carry the difference")


def test_an_inapplicable_metric_or_attribute_is_the_reason_for_no_answer(tmp_path: Path) -> None:
    debate = write_run(tmp_path, "debate", a=CORRECT, b=CONSTANT)
    for entry, message in (
        (
            {"metric": "volatility"},
            "debate is not an appellate panel, or its statements have no labels",
        ),
        (
            {"first_cases": {"height": "1"}, "paired": False},
            "its cases have no attribute 'height'; they have sex",
        ),
    ):
        plan = make_plan(x={"first": "debate/a", "second": "debate/b", **entry})
        row = contrasts(make_results(plan, debate)).frame.iloc[0]
        assert message in row["not tested because"] and pd.isna(row["difference"])


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        ({"threshold": 0.5, "direction": "first_higher"}, "supported"),
        ({"threshold": 0.5, "direction": "first_lower"}, "not supported"),
        ({"threshold": 0.95, "direction": "first_higher"}, "cannot tell"),
        ({"threshold": 0.5, "metric": "macro_f1", "direction": "first_higher"}, "supported"),
    ],
)
def test_a_metric_is_compared_with_a_number(
    entry: dict[str, Any], answer: str, tmp_path: Path
) -> None:
    plan = make_plan(x={"first": "debate/a", "published": "0.95 (a paper)", **entry})
    debate = write_run(tmp_path, "debate", a=ALMOST_CORRECT)
    row = contrasts(make_results(plan, debate)).frame.iloc[0]
    assert (row["answer"], row["published"]) == (answer, "0.95 (a paper)")
    assert row["second value"] == pytest.approx(row["threshold"])
    assert row["difference"] == pytest.approx(row["first value"] - row["threshold"])
    assert row["difference low"] <= row["difference"] <= row["difference high"]


def test_a_changed_contrast_rebuilds_only_the_tables_of_its_study() -> None:
    entry = {"first": "debate", "second": "prompt"}
    plan, changed = make_plan(x=entry), make_plan(x={**entry, "metric": "f1"})
    assert TABLES["courtroom/contrasts"].needs == (has_contrasts,)
    assert plan.can_fill(TABLES["courtroom/contrasts"])
    assert not plan.can_fill(TABLES["stance/contrasts"])
    assert not make_plan().can_fill(TABLES["courtroom/contrasts"])
    digest = declared_jobs(plan).of("tables_courtroom").options
    assert declared_jobs(changed).of("tables_courtroom").options != digest
