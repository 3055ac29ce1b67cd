"""Published values stand beside what repeats the paper, and beside nothing else: over all studies
and tables.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.plan.as_published import compare_with_papers, confirm_served, paper_plan
from moot.report.published import COLUMNS
from moot.scores import to_frame
from moot.scores.results import Score
from moot.scores.served import GROUP, METRIC
from moot.studies.appellate import tables
from moot.studies.appellate import tables_beyond as beyond
from shown_values import differences
from uniform_scores import PROJECT, PUBLISHED, STUDIES, make_plan, make_study, unanimous_phases


def differs(
    experiment: Mapping[str, Any], dataset: Mapping[str, Any] | None = None, **models: Any
) -> str:
    """In what a run of gemma-2 that is `experiment` differs from the papers'."""
    base = {"protocol": "zero_shot", "dataset": "people", "models": ["gemma-2"], "cases": 150}
    data = {"loader": "nlsy97", "source": "local", "narrative": "list", **(dataset or {})}
    run = {
        "run": ["mine"],
        "datasets": {"people": data},
        "experiments": {"mine": {**base, **experiment}},
    }
    plan = make_plan(run, {"models": models})
    (found,) = compare_with_papers(plan).runs.values()
    assert bool(found.repeats) != bool(found.difference)
    return found.difference


def test_the_papers_configuration_repeats_itself() -> None:
    found = compare_with_papers(make_plan(paper=True))
    paper = paper_plan(PROJECT)
    for (name, _), run in found.runs.items():
        assert name not in paper.experiments or name in run.repeats, name
    for name in paper.datasets_used:
        assert f"baselines/{name}" in found.datasets[name].repeats


def test_no_run_of_the_default_configuration_is_as_published() -> None:
    found = compare_with_papers(make_plan({"run": ["*"]}))
    assert len(found.runs) > 30 and not any(run.repeats for run in found.runs.values())
    assert {name for name, data in found.datasets.items() if data.repeats} == {
        "opinions",
        "conference",
    }


def test_a_users_own_experiment_may_be_as_published_under_its_own_name() -> None:
    assert differs({}) == "" == differs({"cases": 200}) == differs({"cases": None})


@pytest.mark.parametrize(
    ("experiment", "dataset", "difference"),
    [
        ({}, {"source": "synthetic"}, "synthetic data"),
        ({}, {"withhold": ["sex"]}, "other options of the data: withhold"),
        ({}, {"features": 5}, "other options of the data: features"),
        ({}, {"narrative": "prose"}, "other options of the data: narrative"),
        ({"cases": 149}, {}, "fewer cases"),
        ({"models": ["gpt-4"]}, {}, "another model"),
        ({"params": {"answer": "likelihood"}}, {}, "other settings: answer"),
        ({"params": {"temperature": 0.7}}, {}, "other settings: temperature"),
        ({"params": {"max_tokens": 10}}, {}, "other settings: max_tokens"),
        ({"split": "train"}, {}, "another split"),
        ({"calibration_cases": 5}, {}, "other settings: calibration_cases"),
        (
            {"protocol": "courtroom", "params": {"critique": True, "roles": "cooperative"}},
            {},
            "other settings: roles",
        ),
    ],
)
def test_every_way_of_differing_is_seen_and_said(
    experiment: Any, dataset: Any, difference: str
) -> None:
    assert differs(experiment, dataset) == difference


@pytest.mark.parametrize(
    "setting", [{"temperature": 0.3}, {"structured": "native"}, {"parameters": {"top_p": 0.1}}]
)
def test_what_a_models_entry_sends_counts(setting: dict[str, Any]) -> None:
    assert differs({}, **{"gemma-2": setting}) == f"other settings: {next(iter(setting))}"


OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("name", "entry", "difference"),
    [
        ("gemma-2", {"base_url": "http://elsewhere:11434", "concurrency": 2}, ""),
        (
            "gemma-2",
            {"endpoint": "openai", "base_url": "http://elsewhere/v1"},
            "gemma-2 is served by another provider than ollama",
        ),
        ("gemma-2", {"model": "gemma2:2b"}, "gemma-2 names the model gemma2:2b, not gemma2:9b"),
        ("gemma-2", {"context": 4096}, "gemma-2 has another context than 16384 tokens"),
        ("gpt-4o-mini", {"base_url": f"{OPENAI}/"}, ""),
        ("gpt-4o-mini", {"context": 4096}, ""),
        (
            "gpt-4o-mini",
            {"base_url": "http://localhost:8000/v1", "model": "llama3"},
            f"gpt-4o-mini is served by another provider than {OPENAI}; gpt-4o-mini names the model"
            " llama3, not gpt-4o-mini",
        ),
        (
            "gpt-4o-mini",
            {"served_as": "vllm"},
            f"gpt-4o-mini is served by another provider than {OPENAI}",
        ),
    ],
)
def test_an_entry_of_the_papers_name_that_reaches_another_model_does_not_repeat_it(
    name: str, entry: dict[str, Any], difference: str
) -> None:
    assert differs({"models": [name]}, **{name: entry}) == difference


def test_an_address_of_the_environment_is_no_provider_of_the_paper(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert "another provider" in differs({"models": ["gpt-4o-mini"]})


def test_models_that_sit_or_label_count_too() -> None:
    for name, paper in (("gpt-4", "paper-conference"), ("gpt-4o", "paper-multiagent-panel")):
        plan = make_plan({"models": {name: {"model": "another"}}}, paper=True)
        found = compare_with_papers(plan).run(paper, "gpt-3.5-turbo")
        assert (found.repeats, found.difference) == (
            (),
            f"{name} names the model another, not {name}",
        )


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("gpt-4o-2024-08-06", True),
        ("gpt-4o", True),
        ("gpt-4o digest unknown", True),
        ("gpt-4o 0a1b", True),
        ("gpt-4o-mini", False),
        ("llama3:8b", False),
    ],
)
def test_a_server_that_says_that_it_served_another_model_repeats_nothing(
    said: str, same: bool
) -> None:
    plan = make_plan(paper=True)
    run = ("paper-gpt-caselaw", "gpt-4o")
    versions = Score(METRIC, 9.0, group=f"{GROUP}gpt-4o: {said}, fp_1", n=9)
    found = confirm_served(
        compare_with_papers(plan), to_frame(*run, [versions]), plan.config.models
    )
    assert bool(found.runs[run].repeats) is same
    assert found.runs[run].difference == (
        "" if same else f"the server of gpt-4o said that it served {said}"
    )
    assert found.run("paper-gpt-caselaw", "gpt-3.5-turbo").repeats


@pytest.mark.parametrize(
    ("training", "same"), [({}, True), ({"cases": 30}, False), ({"split": "validation"}, False)]
)
def test_an_experiment_that_another_rests_on_is_compared_by_what_it_is(
    training: dict[str, Any], same: bool
) -> None:
    says = {"plaintiff": "Plaintiff wins", "defendant": "Defendant wins"}
    debate = {"debaters": 3, "rounds": 2, "answer": "auto", "label_names": says}
    debate |= {"temperature": 1.0, "memory": False, "statement_summaries": True}
    base = {"protocol": "feedback", "dataset": "caselaw", "models": ["gpt-4o"], "params": debate}
    learnt = {**base, "split": "train", "calibration_cases": 100, "repeats": 2, **training}
    tested = {**base, "params": {**debate, "assistant": "learnt"}}
    experiments = {"experiments": {"learnt": learnt, "tested": tested}, "run": ["learnt", "tested"]}
    paper = yaml.safe_load((PROJECT / "config/papers/feedback.yaml").read_text())
    data = {"datasets": {"caselaw": paper["datasets"]["caselaw"]}}
    found = compare_with_papers(make_plan(experiments, data)).run("tested", "gpt-4o")
    assert found.repeats == (("paper-feedback-assistant-caselaw",) if same else ()), (
        found.difference
    )


def test_no_control_arm_is_the_published_run() -> None:
    courtroom = {
        "protocol": "courtroom",
        "dataset": "nlsy97",
        "models": ["gemma-2"],
        "cases": 100,
        "params": {"critique": True},
    }
    data = {"datasets": {"nlsy97": {"source": "local", "narrative": "list"}}}
    arms = {"mine": {**courtroom, "arms": ["noise", "labels_swapped", "matched_calls"]}}
    plan = make_plan({"experiments": arms, "run": ["mine"]}, data)
    found = compare_with_papers(plan)
    assert found.run("mine", "gemma-2").repeats == ("paper-courtroom",)
    assert len(plan.experiments) == 4
    for name in set(plan.experiments) - {"mine"}:
        assert (
            found.run(name, "gemma-2").repeats,
            found.run(name, "gemma-2").repeated_but_model,
        ) == ((), ())
    paper = make_plan(paper=True)
    assert {found.study for found in paper.experiments.values() if found.config.control} == {
        "appellate", "conference", "courtroom", "feedback", "stance",
    }  # fmt: skip


def test_each_published_value_names_an_experiment_model_or_data_set_that_there_is() -> None:
    paper = paper_plan(PROJECT)
    for row in PUBLISHED[PUBLISHED["repeated_by"] != ""].to_dict("records"):
        experiment = paper.experiments.get(row["repeated_by"])
        if experiment is None:
            assert row["repeated_by"].removeprefix("baselines/") in paper.datasets_used, row
        else:
            assert not row["model"] or row["model"] in experiment.config.models, row
            assert experiment.study == row["study"]


# All tables, from scores that are 1 throughout, and published values that are each another


@pytest.mark.parametrize("study", STUDIES)
def test_the_default_run_shows_no_difference_to_a_published_value(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (tables, beyond):
        monkeypatch.setattr(module, "list_phases", unanimous_phases)
    plan = make_plan()
    results = make_study(plan, study, tmp_path, compare_with_papers(plan))
    found = list(differences(results))
    assert not found, found[0]


def test_the_columns_that_people_read_are_still_there() -> None:
    assert {"study", "table", "row", "metric", "value", "note"} <= set(COLUMNS)
