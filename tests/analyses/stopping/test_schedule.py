"""Test the stages of contrasts that stop early, and the configurations that are refused."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from moot.analyses.stopping.interim import stage_numbers
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.jobs.debates import Job, cases_of_job
from moot.plan.plan import Plan
from moot.studies.recorded.data_nyu_debates import TASK as CROSSED
from moot.workflow import targets
from results_on_disk import REARREST

PROJECT = Path(__file__).resolve().parents[3]
STOP = {"cases_per_stage": 20, "difference": 0.1}
MAIN = {"first": "debate", "second": "prompt", "stop": STOP}


def configuration(contrasts: Mapping[str, Any], **change: Mapping[str, Any]) -> dict[str, Any]:
    entry = {"protocol": "zero_shot", "dataset": "people", "models": ["a"], "cases": 90}
    experiments: dict[str, Any] = {
        "debate": {**entry, "protocol": "courtroom"},
        "prompt": entry,
        "third": {**entry, "protocol": "cot"},
        "fourth": {**entry, "protocol": "few_shot"},
        "alone": {**entry, "cases": 30},
    }
    for name, keys in change.items():
        experiments[name] = {**experiments.get(name, entry), **keys}
    return {
        "seed": 1,
        "shards": 3,
        "models": (
            {name: {"model": name, "base_url": "http://127.0.0.1:9/v1"} for name in ("a", "b")}
            | {"late": {"model": "x", "batch": {"wait": False}}}
        ),
        "datasets": {"people": {"loader": "nlsy97", "source": "synthetic"}},
        "experiments": experiments,
        "contrasts": dict(contrasts),
    }


def make_plan(contrasts: Mapping[str, Any], **change: Mapping[str, Any]) -> Plan:
    return Plan.from_yaml(configuration(contrasts, **change), PROJECT)


def make_cases(sizes: Mapping[str, int]) -> list[Case]:
    labels = ("no", "yes")
    cases = []
    for name, size in sizes.items():
        for number in range(size):
            case_id, target = f"{name}-{number}", labels[number % 2]
            cases.append(Case(case_id, "toy", "test", "Facts.", target, labels, {"topic": name}))
    return cases


TOPICS = replace(REARREST, cluster="topic")


def test_stages_keep_clusters_together_and_contain_each_case_once() -> None:
    cases = make_cases({f"t{number}": 1 + number % 7 for number in range(60)})
    stage_of_case = stage_numbers(cases, TOPICS, 20, seed=4)
    assert stage_of_case.keys() == {case.case_id for case in cases}
    stages_by_topic: defaultdict[str, set[int]] = defaultdict(set)
    for case in cases:
        stages_by_topic[case.attributes["topic"]].add(stage_of_case[case.case_id])
    assert set(map(len, stages_by_topic.values())) == {1}
    sizes = Counter(stage_of_case.values())
    assert max(stage_of_case.values()) < -(-len(cases) // 20), (
        "the number of stages never exceeds the plan"
    )
    for stage in range(max(sizes)):
        assert 20 - 7 < sizes[stage] < 20 + 7
    assert stage_numbers(cases[::-1], TOPICS, 20, seed=4) == stage_of_case
    assert stage_numbers(cases, TOPICS, 20, seed=5) != stage_of_case


def test_a_cluster_larger_than_a_stage_leaves_the_next_stage_empty() -> None:
    stage_counts = Counter(
        stage_numbers(
            make_cases({"large": 50, "small": 1, "other": 1}), TOPICS, 20, seed=4
        ).values()
    )
    assert 50 <= max(stage_counts.values()) <= 52
    assert max(stage_counts) <= 2


def test_the_order_of_stages_does_not_depend_on_labels() -> None:
    cases = make_cases({f"t{number}": 2 for number in range(100)})
    stages = stage_numbers(cases, Task("", "", ("no", "yes")), 100, seed=1)
    first = [case.target for case in cases if stages[case.case_id] == 0]
    assert 35 < first.count("yes") < 65


def test_cases_of_two_kinds_of_clusters_are_refused_before_the_first_debate() -> None:
    cases = [replace(case, dataset="nyu") for case in make_cases({"t": 3})]
    with pytest.raises(
        UserError,
        match=r"data set 'nyu': .*kinds \(story, judge\).* Set the data set's `cluster` to one",
    ):
        stage_numbers(cases, CROSSED, 20, 1)


def test_linked_experiments_have_the_same_stages() -> None:
    plan = make_plan(
        {
            "main": MAIN,
            "more": {"first": "third", "second": "prompt", "stop": STOP},
            "apart": {
                "first": "fourth/a",
                "second": "fourth/b",
                "stop": {**STOP, "cases_per_stage": 50},
            },
        },
        fourth={"models": ["a", "b"]},
    )
    assert {name: schedule.shards for name, schedule in plan.schedules.items()} == {
        "debate": 5,
        "prompt": 5,
        "third": 5,
        "fourth": 2,
    }
    assert plan.schedules["debate"].runs == [("debate", "a"), ("prompt", "a"), ("third", "a")]
    assert plan.shards("debate") == 5 and plan.shards("alone") == 3
    assert len(targets.shards(plan, "third", "a")) == 5


def test_a_stage_reads_all_earlier_stages_but_a_shard_does_not() -> None:
    jobs = declared_jobs(make_plan({"main": MAIN}))
    inputs = jobs.inputs("run_debates", experiment="debate", model="a", shard="2")
    assert inputs["earlier"] == [
        "results/transcripts/debate/a/0.parquet",
        "results/transcripts/debate/a/1.parquet",
        "results/transcripts/prompt/a/0.parquet",
        "results/transcripts/prompt/a/1.parquet",
    ]
    assert jobs.inputs("run_debates", experiment="debate", model="a", shard="0")["earlier"] == []
    inputs = jobs.inputs("run_debates", experiment="alone", model="a", shard="2")
    assert inputs["earlier"] == []

    def digests(change: dict[str, Any], name: str, shard: str) -> object:
        changed = make_plan({"main": {**MAIN, "stop": {**STOP, **change}}})
        return declared_jobs(changed).of("run_debates", experiment=name, model="a", shard=shard)

    assert digests({}, "debate", "1") != digests({"difference": 0.2}, "debate", "1")
    assert digests({}, "alone", "1") == digests({"difference": 0.2}, "alone", "2")
    reworded = declared_jobs(make_plan({"main": MAIN}, prompt={"params": {"temperature": 0.1}}))
    debate = {"experiment": "debate", "model": "a"}
    first, first_reworded = (
        jobs.of("run_debates", **debate, shard="0"),
        reworded.of("run_debates", **debate, shard="0"),
    )
    later, later_reworded = (
        jobs.of("run_debates", **debate, shard="1"),
        reworded.of("run_debates", **debate, shard="1"),
    )
    assert later != later_reworded and first == first_reworded, (
        "the other side affects only later stages"
    )


def test_both_sides_have_the_same_stages_and_a_stopped_stage_is_empty() -> None:
    plan = make_plan({"main": MAIN})
    cases = make_cases({f"t{number}": 1 for number in range(100)})
    stage_sizes = []
    for stage in range(5):
        debate = cases_of_job(plan, Job("debate", "a", cases, REARREST, shard=stage))
        prompt = cases_of_job(plan, Job("prompt", "a", cases, REARREST, shard=stage))
        assert debate == prompt
        stage_sizes.append(len(debate))
    assert stage_sizes == [20, 20, 20, 20, 10]
    assert len(cases_of_job(plan, Job("debate", "a", cases, REARREST))) == 90
    assert cases_of_job(plan, Job("debate", "a", cases, REARREST, shard=1, is_stopped=True)) == []


def test_an_untested_contrast_plans_no_stages() -> None:
    raw = configuration({"main": MAIN}) | {"run": ["debate"]}
    assert Plan.from_yaml(raw, PROJECT).schedules == {}


@pytest.mark.parametrize(
    ("contrasts", "change", "message"),
    [
        ({"main": {**MAIN, "paired": False}}, {}, "contrasts.main.stop: found `paired: false`"),
        (
            {"main": {**MAIN, "metric": "f1"}},
            {},
            "contrasts.main.stop: found the metric 'f1'; expected accuracy or valid",
        ),
        (
            {"main": MAIN},
            {"prompt": {"cases": None}, "debate": {"cases": None}},
            "experiment 'debate' has no `cases`",
        ),
        (
            {"main": MAIN},
            {"prompt": {"cases": 60}},
            "experiment 'prompt' has cases 60, 'debate' 90; expected the same",
        ),
        (
            {"main": MAIN},
            {"prompt": {"calibration_cases": 9}},
            "experiment 'prompt' has `calibration_cases`",
        ),
        (
            {"main": MAIN},
            {"debate": {"params": {"seats": {"judge": "person"}}}},
            "people sit in experiment 'debate'",
        ),
        (
            {"main": MAIN},
            {"debate": {"params": {"seats": {"judge": "late"}}}},
            "debates of experiment 'debate' wait for replies of model 'late' in a later run",
        ),
        (
            {"main": MAIN},
            {
                "again": {
                    "protocol": "rejudge",
                    "params": {"source_experiment": "debate", "source_model": "a"},
                }
            },
            "experiment 'again' reads all debates of experiment 'debate'",
        ),
        (
            {"main": {**MAIN, "stop": {"cases_per_stage": 0, "difference": 0.1}}},
            {},
            "contrasts.main.stop.cases_per_stage: found 0",
        ),
        (
            {"main": {**MAIN, "stop": {"cases_per_stage": 5, "diference": 0.1}}},
            {},
            "contrasts.main.stop.diference: unknown key 'diference'; did you mean 'difference'?",
        ),
        (
            {"main": {**MAIN, "stop": {"cases_per_stage": 5, "difference": 0}}},
            {},
            "contrasts.main.stop.difference: found 0",
        ),
        (
            {"main": {**MAIN, "stop": {"cases_per_stage": 5, "difference": 0.1, "alpha": 1}}},
            {},
            "contrasts.main.stop.alpha: found 1",
        ),
        (
            {"main": {**MAIN, "stop": {"cases_per_stage": 1, "difference": 0.1}}},
            {"debate": {"cases": 120}, "prompt": {"cases": 120}},
            "found 120 stages (120 cases, 1 a stage); expected at most 100. Let a stage have 2"
            " cases or more.",
        ),
        (
            {
                "main": MAIN,
                "more": {
                    "first": "third",
                    "second": "prompt",
                    "stop": {**STOP, "cases_per_stage": 10},
                },
            },
            {},
            "contrasts.more.stop: found 10 cases_per_stage; contrast 'main', whose experiments it"
            " shares, has 20",
        ),
        (
            {"main": MAIN, "more": {"first": "third", "second": "prompt"}},
            {},
            "contrasts.more: the debates of 'prompt' may stop early, by contrast 'main'",
        ),
    ],
)
def test_an_error_names_the_setting_that_prevents_stopping_and_the_remedy(
    contrasts: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as raised:
        make_plan(contrasts, **change)
    assert message in str(raised.value)
