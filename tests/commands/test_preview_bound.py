"""The calls that a preview counts are an upper bound for all replies of models.

Each protocol runs with random replies: readable ones of any content, and
refusals. No run makes more calls than the preview counted.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration, people
from messages import refusal
from moot.analyses.arms.controls import ARMS
from moot.commands.preview import preview
from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case, Task
from moot.jobs import standins
from moot.jobs.load import load_dataset
from moot.llm.stand_in import StandIn
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Debate

SAMPLES = ("conference", "opinions", "agreement", "cail18", "vast")
RECORDED = {"recorded"}
"""Protocols that ask no model."""
NOT_BOUND = {"matched_tokens"}
"""Arms whose number of calls follows from the tokens that models write."""
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "conference": [
        {"dataset": "conference"},
        {"dataset": "conference", "params": {"answer": "likelihood"}},
        {"dataset": "conference", "params": {"agreement": False, "answer": "json"}},
    ],
    "judging": [
        {
            "dataset": "conference",
            "params": {
                "source_experiment": "source-conference",
                "source_model": "test",
                "answer": answer,
            },
        }
        for answer in ("label", "likelihood")
    ],
    "agreement": [{"dataset": "agreement", "params": {"answer": "json"}}],
    "grading": [{"dataset": "agreement"}],
    "panel": [
        {"params": {"votes": "likelihood"}},
        {"dataset": "opinions", "params": {"votes": "generation"}},
    ],
    "human_panel": [
        {"dataset": "opinions", "params": {"votes": "likelihood"}},
    ],
    "synthetic_panel": [
        {"dataset": "opinions", "params": {"reply": "json"}},
        {"params": {}},
    ],
    "courtroom": [
        {"params": {"strategy": "inline", "silent_judge": True, "beliefs": "after_turn"}},
        {"params": {"critique": True}},
        {"params": {"answer": "likelihood"}},
    ],
    "feedback": [
        {"params": {}},
        {"params": {"answer": "generation", "statement_summaries": True, "sides": "opposed"}},
        {"params": {"answer": "generation", "opinions": "form"}},
        {"dataset": "cail18", "params": {"answer": "generation"}},
        {"dataset": "cail18", "params": {"answer": "likelihood", "rounds": 1}},
        {"params": {"answer": "generation", "assistant": "source-training"}},
    ],
    "case_summary": [{"dataset": "lawsuits"}],
    "reflexion": [{"params": {"answer": "generation"}}],
    "four_step_cot": [{"params": {"answer": "likelihood"}}],
    "self_consistency": [
        {"params": {"k": 3}},
        {"params": {"k": "matched", "source_experiment": "source-courtroom"}},
    ],
    "stance": [{"dataset": "vast", "params": {"answer": "json", "prompting": "cot"}}],
    "rejudge": [{"params": {"source_experiment": "source-courtroom", "source_model": "test"}}],
    "attribution": [
        {"params": {"source_experiment": "source-courtroom", "source_model": "test", "repeats": 2}}
    ],
}
SOURCES = {
    "source-courtroom": {"protocol": "courtroom", "dataset": "people"},
    "source-conference": {"protocol": "conference", "dataset": "conference"},
    "source-training": {"protocol": "feedback", "dataset": "people"},
}


def variants_of(protocol: str) -> list[dict[str, Any]]:
    return VARIANTS.get(protocol, [{}])


CASES = []
for each_protocol in sorted(set(PROTOCOLS) - RECORDED):
    for each_number, each_variant in enumerate(variants_of(each_protocol)):
        name = f"{each_protocol}-{each_number}"
        CASES.append(pytest.param(each_protocol, each_variant, id=name))


def random_endpoint(seed: int) -> StandIn:
    """Return an endpoint that replies with anything that a model might."""
    return StandIn(seed, words=12, shares={"refused": 0.1})


def write_lawsuits(path: Path) -> None:
    labels = ("plaintiff", "defendant", "settlement", "dismissed")
    task = Task(noun="the case", question="How did it end?", labels=labels)
    cases = [
        Case(
            f"case-{number}", "lawsuits", "test", f"Facts of case {number}.", labels[number], labels
        )
        for number in range(len(labels))
    ]
    write_cases(path, iter(cases), task, describe())


class Folder:
    """Cases of every data set, and plans of one experiment on them."""

    def __init__(self, folder: Path) -> None:
        self.results = folder / "results"
        people(self.results / "cases" / "people.parquet", 8)
        write_lawsuits(self.results / "cases" / "lawsuits.parquet")
        plan = self.plan({"protocol": "courtroom"})
        for dataset in SAMPLES:
            options, context = plan.datasets[dataset], plan.load_context(dataset)
            outputs = (self.results / kind / f"{dataset}.parquet" for kind in ("cases", "features"))
            load_dataset(options, context, *outputs, self.results / f"{dataset}.csv")

    def plan(self, experiment: dict[str, Any], *, tested_first: bool = False) -> Plan:
        shared = {"models": ["test"], "dataset": "people"}
        model = {"max_tokens": 40, "structured": "prompted"}
        used = str(experiment.get("params"))
        sources = {name: {**shared, **entry} for name, entry in SOURCES.items() if name in used}
        experiments = {**sources, "tested": {**shared, **experiment}}
        if tested_first:
            experiments = {"tested": experiments["tested"], **experiments}
        for entry in experiments.values():
            entry.setdefault("cases", 1 if entry["dataset"] == "conference" else 2)
        url = "http://127.0.0.1:9/v1"
        raw = configuration(url, self.results.parent, model, experiments=experiments)
        raw["datasets"] |= {name: {"source": "sample"} for name in SAMPLES}
        raw["datasets"]["lawsuits"] = {"loader": "caselaw", "source": "sample"}
        return Plan.from_yaml(raw, PROJECT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("bound"))


@pytest.fixture
def random_calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Count the calls of a plan's debates with random replies."""

    def count(plan: Plan, results: Path, seed: int) -> dict[str, int]:
        with monkeypatch.context() as patch:
            patch.setattr(standins, "open_stand_in", lambda *_: random_endpoint(seed))
            patch.setattr(Debate, "is_placeholder", lambda *_: False)
            return calls_by_experiment(plan, results)

    yield count


def calls_by_experiment(plan: Plan, results: Path) -> dict[str, int]:
    frame = preview(plan, results)
    assert frame["calls_to_make"].notna().all(), frame[["experiment", "needs"]]
    return dict(zip(frame["experiment"], frame["calls_to_make"].astype(int), strict=True))


@pytest.mark.parametrize(("protocol", "variant"), CASES)
def test_a_preview_counts_the_most_calls_of_a_protocol(
    protocol: str, variant: dict[str, Any], folder: Folder, random_calls: Any
) -> None:
    plan = folder.plan({"protocol": protocol, **variant})
    bounds = calls_by_experiment(plan, folder.results)
    assert bounds["tested"] > 0
    counts = random_calls(plan, folder.results, seed=0)
    assert counts["total"] <= bounds["total"], (counts, bounds)


@pytest.mark.parametrize("arm", sorted({*ARMS} - NOT_BOUND))
def test_a_preview_counts_the_most_calls_of_an_arm(
    arm: str, folder: Folder, random_calls: Any
) -> None:
    plan = folder.plan({"protocol": "courtroom", "arms": [arm]})
    bounds = calls_by_experiment(plan, folder.results)
    assert bounds[f"tested-arm={arm}"] > 0
    counts = random_calls(plan, folder.results, seed=1)
    assert counts["total"] <= bounds["total"], (counts, bounds)


@pytest.mark.parametrize(
    "entry",
    [
        {"protocol": "panel", "params": {"votes": "none"}},
        {"protocol": "human_panel"},
        {"protocol": "debate", "params": {"answers": ["x", "y"]}},
    ],
)
def test_labels_that_a_protocol_cannot_debate_end_a_preview(
    entry: dict[str, Any], folder: Folder
) -> None:
    with refusal():
        preview(folder.plan(entry), folder.results)


def test_an_experiment_may_come_before_its_source(folder: Folder) -> None:
    variant = VARIANTS["judging"][0]
    plan = folder.plan({"protocol": "judging", **variant}, tested_first=True)
    assert list(plan.experiments) == ["tested", "source-conference"]
    assert calls_by_experiment(plan, folder.results)["tested"] > 0


@pytest.mark.parametrize("protocol", ["panel", "synthetic_panel"])
@pytest.mark.parametrize(
    ("labelers", "judges"), [(["rules"], 0), (["rules", "judge:test"], 1), (["judge"], 1)]
)
def test_labels_by_models_are_counted(
    protocol: str, labelers: list[str], judges: int, folder: Folder
) -> None:
    entry = {"protocol": protocol, "dataset": "opinions"}
    without_labels = calls_by_experiment(folder.plan(entry), folder.results)
    plan = folder.plan({**entry, "labelers": labelers})
    statements = 2 * 3 * 3  # cases, judges and rounds
    calls = calls_by_experiment(plan, folder.results)
    assert calls["tested"] - without_labels["tested"] == judges * statements
