"""Tables show published values only next to runs that repeat the paper."""

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from changed_plans import PROJECT, make_plan
from moot.papers.as_published import confirm_served
from moot.plan.papers_of_run import compare_with_papers, has_own_experiments, paper_plan
from moot.plan.plan import Plan
from moot.report.study_results import PaperMatch
from moot.scores import to_frame
from moot.scores.score import Score
from moot.scores.served import GROUP, METRIC
from paper_items import PUBLISHED


def match_with_paper(
    experiment: Mapping[str, Any], dataset: Mapping[str, Any] | None = None, **models: Any
) -> PaperMatch:
    """Return how a run of gemma-2 with these keys relates to the papers' runs."""
    base = {"protocol": "zero_shot", "dataset": "people", "models": ["gemma-2"], "cases": 150}
    data = {"loader": "nlsy97", "source": "local", "narrative": "list", **(dataset or {})}
    run = {
        "run": ["mine"],
        "datasets": {"people": data},
        "experiments": {"mine": {**base, **experiment}},
    }
    (run_match,) = compare_with_papers(make_plan(run, {"models": models})).runs.values()
    return run_match


@pytest.fixture(scope="module")
def papers() -> Plan:
    """Return the plan of the papers' designs."""
    return make_plan(paper=True)


def test_the_papers_configuration_repeats_itself(papers: Plan) -> None:
    matches = compare_with_papers(papers)
    paper = paper_plan(PROJECT)
    for (name, _), run in matches.runs.items():
        is_example = name == "paper-feedback-example"  # one case repeats no published value
        assert is_example or name not in paper.experiments or name in run.repeats, name
    for name in paper.datasets_used:
        assert f"baselines/{name}" in matches.datasets[name].repeats


def test_no_run_of_the_default_configuration_is_as_published() -> None:
    matches = compare_with_papers(make_plan({"run": ["*"]}))
    assert len(matches.runs) > 30 and not any(run.repeats for run in matches.runs.values())
    repeating = {name for name, data in matches.datasets.items() if data.repeats}
    assert repeating == {"opinions", "conference"}


SHIPPED_NAME = "courtroom-nlsy97"
OWN_ENTRY = {"protocol": "courtroom", "dataset": "nlsy97", "models": ["gemma-2"], "cases": 20}
CONTROL = {"control": "noise", "control_of": SHIPPED_NAME}


@pytest.mark.parametrize(
    ("change", "is_own"),
    [
        ({"run": ["*"]}, False),
        ({"experiments": {"polarity-claims": {"grid": {"temperature": [0.0, 0.5]}}}}, False),
        ({"experiments": {SHIPPED_NAME: {"arms": ["noise"]}}}, False),
        ({"experiments": {"mine": OWN_ENTRY}}, True),
        ({"experiments": {"mine": {**OWN_ENTRY, **CONTROL, "models": ["smollm2-135m"]}}}, True),
        ({"experiments": {f"{SHIPPED_NAME}-mine": OWN_ENTRY}}, True),
        ({"experiments": {f"{SHIPPED_NAME}-mine": {**OWN_ENTRY, "arms": ["noise"]}}}, True),
        ({"experiments": {f"{SHIPPED_NAME}-mine": OWN_ENTRY}, "run": [SHIPPED_NAME]}, False),
    ],
    ids=[
        "defaults",
        "a grid",
        "a control",
        "own",
        "entry of a control",
        "similar name",
        "own control",
        "not run",
    ],
)
def test_own_experiments_are_not_shipped_ones(change: dict[str, Any], is_own: bool) -> None:
    plan = make_plan(change)
    assert has_own_experiments(plan) == is_own, list(plan.experiments)


def test_the_papers_experiments_are_not_own(papers: Plan) -> None:
    assert len(papers.experiments) > 10 and not has_own_experiments(papers)


@pytest.mark.parametrize("experiment", [{}, {"cases": 200}, {"cases": None}])
def test_an_experiment_of_the_user_may_repeat_the_paper(experiment: dict[str, Any]) -> None:
    match = match_with_paper(experiment)
    assert match.repeats == ("paper-zero-shot",) and match.settings == ()


@pytest.mark.parametrize(
    ("experiment", "dataset", "setting"),
    [
        ({}, {"source": "synthetic"}, ""),
        ({}, {"withhold": ["sex"]}, ""),
        ({}, {"narrative": "prose"}, ""),
        ({"cases": 149}, {}, ""),
        ({"models": ["gpt-4"]}, {}, ""),
        ({"split": "train"}, {}, ""),
        ({"params": {"answer": "likelihood"}}, {}, "answer"),
        ({"params": {"temperature": 0.7}}, {}, "temperature"),
        ({"params": {"max_tokens": 10}}, {}, "max_tokens"),
        ({"calibration_cases": 5}, {}, "calibration_cases"),
        (
            {"protocol": "courtroom", "params": {"critique": True, "roles": "cooperative"}},
            {},
            "roles",
        ),
    ],
)
def test_a_run_with_a_difference_is_not_as_published_and_names_its_settings(
    experiment: Any, dataset: Any, setting: str
) -> None:
    match = match_with_paper(experiment, dataset)
    assert match.repeats == () and match.settings == ((setting,) if setting else ())


@pytest.mark.parametrize(
    "setting", [{"temperature": 0.3}, {"structured": "native"}, {"parameters": {"top_p": 0.1}}]
)
def test_parameters_of_a_model_entry_are_compared(setting: dict[str, Any]) -> None:
    assert match_with_paper({}, **{"gemma-2": setting}).settings == tuple(setting)


OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("name", "entry", "is_same"),
    [
        ("gemma-2", {"base_url": "http://elsewhere:11434", "concurrency": 2}, True),
        ("gemma-2", {"endpoint": "openai", "base_url": "http://elsewhere/v1"}, False),
        ("gemma-2", {"model": "gemma2:2b"}, False),
        # No paper states a context: AgenticSimLaw served its models with Ollama's defaults.
        ("gemma-2", {"context": 2048}, True),
        ("gpt-4o-mini", {"base_url": f"{OPENAI}/"}, True),
        ("gpt-4o-mini", {"base_url": "http://localhost:8000/v1"}, False),
        ("gpt-4o-mini", {"served_as": "vllm"}, False),
    ],
)
def test_an_entry_that_reaches_another_model_is_not_as_published(
    name: str, entry: dict[str, Any], is_same: bool
) -> None:
    assert bool(match_with_paper({"models": [name]}, **{name: entry}).repeats) == is_same


def test_a_base_url_of_the_environment_is_another_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert not match_with_paper({"models": ["gpt-4o-mini"]}).repeats


def test_models_of_seats_and_labelers_are_compared() -> None:
    plan = make_plan({"models": {"gpt-4": {"model": "another"}}}, paper=True)
    match = compare_with_papers(plan).run("paper-conference-judges", "gpt-3.5-turbo")
    assert match.repeats == ()


@pytest.mark.parametrize(
    ("served_model", "is_same"),
    [
        ("gpt-4o-2024-08-06", True),
        ("gpt-4o", True),
        ("gpt-4o digest unknown", True),
        ("gpt-4o 0a1b", True),
        ("gpt-4o-mini", False),
        ("llama3:8b", False),
    ],
)
def test_a_run_that_another_model_served_is_not_as_published(
    served_model: str, is_same: bool, papers: Plan
) -> None:
    run = ("paper-gpt-caselaw", "gpt-4o")
    versions = Score(METRIC, 9.0, group=f"{GROUP}gpt-4o: {served_model}, fp_1", n=9)
    matches = confirm_served(
        compare_with_papers(papers), to_frame(*run, [versions]), papers.config.models
    )
    assert bool(matches.runs[run].repeats) is is_same
    assert matches.run("paper-gpt-caselaw", "gpt-3.5-turbo").repeats


@pytest.mark.parametrize(
    ("training", "is_same"), [({}, True), ({"cases": 30}, False), ({"split": "validation"}, False)]
)
def test_a_source_experiment_is_compared_by_its_settings(
    training: dict[str, Any], is_same: bool
) -> None:
    label_names = {"plaintiff": "Plaintiff wins", "defendant": "Defendant wins"}
    debate = {"debaters": 3, "rounds": 2, "answer": "auto", "label_names": label_names}
    debate |= {"temperature": 1.0, "max_tokens": 512, "memory": False, "statement_summaries": True}
    base = {"protocol": "feedback", "dataset": "mine", "models": ["gpt-4o"], "params": debate}
    learnt = {**base, "split": "train", "cases": 600, "calibration_cases": 100, "repeats": 2}
    learnt |= training
    tested = {**base, "params": {**debate, "assistant": "learnt"}}
    experiments = {"experiments": {"learnt": learnt, "tested": tested}, "run": ["learnt", "tested"]}
    paper = yaml.safe_load((PROJECT / "config/papers/feedback.yaml").read_text())
    data = {"datasets": {"mine": paper["datasets"]["paper-caselaw"]}}
    match = compare_with_papers(make_plan(experiments, data)).run("tested", "gpt-4o")
    assert match.repeats == (("paper-feedback-assistant-caselaw",) if is_same else ())


def test_control_arms_are_not_as_published(papers: Plan) -> None:
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
    matches = compare_with_papers(plan)
    assert matches.run("mine", "gemma-2").repeats == ("paper-courtroom",)
    assert len(plan.experiments) == 4
    for name in set(plan.experiments) - {"mine"}:
        assert matches.run(name, "gemma-2").repeats == ()
    experiments = papers.experiments.values()
    studies = {experiment.study for experiment in experiments if experiment.config.control}
    assert studies == {"appellate", "conference", "courtroom", "feedback", "stance"}


def test_each_published_value_names_an_existing_experiment_or_data_set() -> None:
    paper = paper_plan(PROJECT)
    for row in PUBLISHED[PUBLISHED["repeated_by"] != ""].to_dict("records"):
        experiment = paper.experiments.get(row["repeated_by"])
        if experiment is None:
            assert row["repeated_by"].removeprefix("baselines/") in paper.datasets_used, row
        else:
            assert not row["model"] or row["model"] in experiment.config.models, row
            assert experiment.study == row["study"]
