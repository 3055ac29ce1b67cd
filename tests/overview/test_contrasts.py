"""Contrasts: named in the configuration, checked, tested and corrected together; every other test
is exploratory.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from declared_jobs import declared_jobs
from moot.core.errors import UserError
from moot.overview.tables_contrasts import contrasts
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.report.content import StudyResults
from moot.report.needs import has_contrasts
from moot.report.tables import as_html, write_table
from moot.scores import no_scores
from moot.scores.contrasts import measure
from moot.scores.results import ExperimentResults
from moot.stats.paired import compare_shares, holm, share_right
from results_on_disk import REARREST, case, experiment_view, prediction, write_results

PROJECT = Path(__file__).resolve().parents[2]
CASES = [
    case(f"c{number}", "yes" if number % 3 == 0 else "no", sex=("f", "m")[number % 2])
    for number in range(30)
]
WORDS = {"y": "yes", "n": "no", "-": ""}
RIGHT, NEARLY, CONSTANT = "ynn" * 10, "nnn" + "ynn" * 9, "y" * 30


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
        },
        "contrasts": entries,
    }


def plan_of(**entries: dict[str, Any]) -> Plan:
    return Plan.from_yaml(configuration(**entries), PROJECT)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"first": "debat", "second": "prompt"},
            "contrasts.x.first: unknown experiment 'debat'; did you mean 'debate'?",
        ),
        (
            {"first": "debate/c", "second": "prompt"},
            "x.first: unknown model of experiment 'debate' 'c'",
        ),
        (
            {"first": "debate", "second": "prompt", "metric": "acuracy"},
            "x.metric: unknown metric of contrasts 'acuracy'",
        ),
        ({"first": "debate", "second": "prompt", "direction": "up"}, "x.direction: found 'up'"),
        (
            {"first": "debate", "second": "debate"},
            "contrasts.x: both sides are debate, 2 models; expected two that differ",
        ),
        (
            {"first": "debate", "secnd": "prompt"},
            "contrasts.x.secnd: unknown key 'secnd'; did you mean 'second'?",
        ),
        (
            {"first": "debate/a", "second": "debate/b", "first_cases": {"sex": "f"}},
            "Add `paired: false`",
        ),
    ],
)
def test_a_mistake_in_a_contrast_names_key_and_remedy(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        plan_of(x=entry)
    assert message in str(raised.value)


def test_sides_take_the_models_that_they_share_and_say_why_they_cannot_be_tested() -> None:
    plan = plan_of(
        shared={"first": "debate", "second": "prompt"},
        named={"first": "debate/a", "second": "prompt/c"},
        one={"first": "debate/b", "second": "prompt"},
        none={"first": "debate/a", "second": "prompt"},
        models={"first": "debate/a", "second": "debate/b"},
        tried={"first": "debate", "second": "trial"},
        crossed={"first": "prompt", "second": "elsewhere"},
    )
    found = {contrast.name: contrast for contrast in plan.contrasts}
    sides = {name: (one.first.models, one.second.models) for name, one in found.items()}
    assert sides["shared"] == (("b",), ("b",)) == sides["one"]
    assert sides["named"] == (("a",), ("c",))
    assert sides["none"] == (("a",), ())
    assert (
        found["none"].missing
        == "debate/a and prompt share no model: name one on either side, as EXPERIMENT/MODEL"
    )
    assert found["tried"].missing == "trial is a trial run"
    assert {name for name, one in found.items() if not one.missing} == {
        "shared",
        "named",
        "one",
        "models",
        "crossed",
    }
    assert found["crossed"].family == "comparison"
    assert [one.name for one in plan.contrasts_of("stance")] == []
    assert len(plan.contrasts_of("courtroom")) == 6
    raw = configuration(shared={"first": "debate", "second": "prompt"}) | {"run": ["debate"]}
    part = Plan.from_yaml(raw, PROJECT)
    assert part.contrasts[0].missing == "prompt is not part of this run"


def run(folder: Path, experiment: str, repeats: int = 1, **answers: str) -> ExperimentResults:
    rows = {
        model: [
            prediction(found.case_id, found.target, WORDS[answer], repeat=repeat)
            for repeat in range(repeats)
            for found, answer in zip(CASES, given, strict=True)
        ]
        for model, given in answers.items()
    }
    return write_results(
        folder, CASES, rows, experiment=experiment, config=experiment_view(models=tuple(answers))
    )


def results_of(
    plan: Plan, *experiments: ExperimentResults, study: str = "courtroom"
) -> StudyResults:
    by_name = {found.experiment: found for found in experiments}
    chosen = plan.contrasts_of(study)
    return StudyResults(
        study,
        by_name,
        no_scores(),
        {},
        pd.DataFrame(),
        contrasts=chosen,
        plan_history=("Not frozen.",),
    )


def test_contrasts_are_tested_and_corrected_together(tmp_path: Path) -> None:
    plan = plan_of(
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
    debate = run(tmp_path, "debate", a=RIGHT, b=NEARLY)
    prompt = run(tmp_path, "prompt", repeats=2, b=CONSTANT)
    content = contrasts(results_of(plan, debate, prompt))
    frame = content.frame.set_index("contrast")
    shares = share_right(debate.predictions.query("model == 'a'")), share_right(prompt.predictions)
    known = compare_shares(*shares, debate.clusters, 0)
    better = frame.loc["better", ["difference", "difference low", "p"]].tolist()
    assert better == pytest.approx([known.difference, known.low, known.p])
    assert frame.loc["f1", "second value"] == pytest.approx(2 * 10 / (2 * 10 + 20))
    tested = frame[frame["not tested because"] == ""]
    assert set(tested["tests in family"]) == {5} and "waiting" not in tested.index
    assert tested["p (Holm)"].tolist() == pytest.approx(holm(tested["p"].tolist()))
    assert frame["expectation met"].fillna("").tolist() == [
        "yes",
        "opposite",
        "yes",
        "not shown",
        "not shown",
        "",
    ]
    assert frame.loc["waiting", "not tested because"] == "prompt has no debate that has ended"
    assert frame.loc["groups", ["cases", "clusters"]].tolist() == [30, 30]
    assert frame.loc["groups", "first"] == "prompt, b where sex=f"
    assert "Not frozen." in content.notes


def test_equivalence_is_tested_against_the_margin_that_was_planned(tmp_path: Path) -> None:
    entry = {"first": "debate/a", "second": "debate/b"}
    plan = plan_of(wide={**entry, "margin": 0.3}, narrow={**entry, "margin": 0.001}, none=entry)
    content = contrasts(results_of(plan, run(tmp_path, "debate", a=RIGHT, b=NEARLY)))
    frame = content.frame.set_index("contrast")
    assert frame["equivalent"].fillna("").tolist() == ["yes", "not shown", ""]
    assert frame.loc["wide", "p of equivalence (Holm)"] == pytest.approx(
        2 * frame.loc["wide", "p of equivalence"]
    )
    assert any("Schuirmann" in note for note in content.notes)
    with pytest.raises(
        UserError,
        match=r"contrasts.x.margin: `stop: difference` is the margin. Leave `margin` out.",
    ):
        plan_of(
            x={
                "first": "debate/b",
                "second": "prompt",
                "margin": 0.1,
                "stop": {"cases_per_stage": 9, "difference": 0.1},
            }
        )


def test_a_side_of_several_models_is_the_mean_over_them(tmp_path: Path) -> None:
    plan = plan_of(pooled={"first": "debate", "second": "prompt"})
    debate, prompt = (
        run(tmp_path, "debate", a=CONSTANT, b=RIGHT),
        run(tmp_path, "prompt", b=CONSTANT, c=RIGHT),
    )
    row = contrasts(results_of(plan, debate, prompt)).frame.iloc[0]
    assert (row["first"], row["first value"], row["second value"]) == (
        "debate, b",
        1.0,
        pytest.approx(1 / 3),
    )
    raw = configuration(pooled={"first": "debate", "second": "prompt"})
    raw["experiments"]["prompt"]["models"] = ["a", "b"]
    prompt = run(tmp_path / "other", "prompt", a=CONSTANT, b=CONSTANT)
    row = contrasts(results_of(Plan.from_yaml(raw, PROJECT), debate, prompt)).frame.iloc[0]
    assert (row["first"], row["difference"], row["cases"]) == (
        "debate, 2 models",
        pytest.approx(1 / 3),
        30,
    )


def test_models_that_answer_alike_do_not_differ_because_one_argued_fewer_cases_on_one_side(
    tmp_path: Path,
) -> None:
    raw = configuration(
        pooled={"first": "debate", "second": "prompt", "metric": "accuracy_of_valid"}
    )
    raw["experiments"]["prompt"]["models"] = ["a", "b"]
    wrong = "".join("n" if answer == "y" else "y" for answer in RIGHT)
    debate = run(tmp_path, "debate", a=RIGHT, b=wrong)
    prompt = run(tmp_path, "prompt", a=RIGHT[:10] + "-" * 20, b=wrong)
    row = contrasts(results_of(Plan.from_yaml(raw, PROJECT), debate, prompt)).frame.iloc[0]
    assert (row["difference"], row["p"], row["cases"]) == (0, 1, 30)


def test_a_metric_or_attribute_that_does_not_apply_is_named(tmp_path: Path) -> None:
    debate = run(tmp_path, "debate", a=RIGHT, b=CONSTANT)
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
        plan = plan_of(x={"first": "debate/a", "second": "debate/b", **entry})
        with pytest.raises(UserError, match=message):
            contrasts(results_of(plan, debate))


def test_calls_are_compared_without_bounds(tmp_path: Path) -> None:
    plan = plan_of(x={"first": "debate/a", "second": "debate/b", "metric": "tokens"})
    debate = run(tmp_path, "debate", a=RIGHT, b=CONSTANT)
    row = contrasts(results_of(plan, debate)).frame.iloc[0]
    assert (row["first value"], row["difference"], row["p"]) == (100, 0, 1)


def test_every_other_paired_test_says_that_it_is_exploratory(tmp_path: Path) -> None:
    debate = run(tmp_path, "debate", a=RIGHT, b=NEARLY)
    study = results_of(plan_of(), debate)
    entry = TABLES["courtroom/paired_tests"]
    write_table(entry, study, {"csv": tmp_path / "t.csv", "html": tmp_path / "t.html"})
    assert set(pd.read_csv(tmp_path / "t.csv")["inference"]) == {"exploratory"}
    assert "Exploratory: no test in this table was planned" in (tmp_path / "t.html").read_text()
    planned = contrasts(results_of(plan_of(x={"first": "debate/a", "second": "debate/b"}), debate))
    assert "exploratory" not in planned.frame.columns
    assert "Confirmatory" in as_html(TABLES["courtroom/contrasts"], planned, study)


def test_the_table_is_built_where_something_is_planned_and_rebuilt_when_the_plan_changes() -> None:
    entry = {"first": "debate", "second": "prompt"}
    plan, changed = plan_of(x=entry), plan_of(x={**entry, "metric": "f1"})
    assert TABLES["courtroom/contrasts"].needs == (has_contrasts,)
    assert plan.can_fill(TABLES["courtroom/contrasts"]) and not plan.can_fill(
        TABLES["stance/contrasts"]
    )
    assert not plan_of().can_fill(TABLES["courtroom/contrasts"])
    for rule, differs in (("tables_courtroom", True), ("figures_courtroom", False)):
        digests = [declared_jobs(one).of(rule).options for one in (plan, changed)]
        assert (digests[0] != digests[1]) == differs


def test_both_sides_average_f1_over_the_same_labels(tmp_path: Path) -> None:
    """One answer names a label that is true nowhere: it is one mistake of 30, not a third of the
    mean.
    """
    task = replace(REARREST, labels=("no", "yes", "maybe"))
    wrong = {"debate": "maybe", "prompt": ""}
    found = {
        name: write_results(
            tmp_path,
            CASES,
            {
                "b": [
                    prediction(one.case_id, one.target, odd if one is CASES[0] else one.target)
                    for one in CASES
                ]
            },
            task=task,
            experiment=name,
            config=experiment_view(models=("b",)),
        )
        for name, odd in wrong.items()
    }
    plan = plan_of(first={"first": "debate", "second": "prompt", "metric": "macro_f1"})
    difference = measure(plan.contrasts[0], found)
    assert difference and difference.first == difference.second == pytest.approx((1 + 18 / 19) / 3)
    assert (difference.difference, difference.p) == (0, 1)
