"""Runs of experiments under control arms against a chat server that fails on purpose."""

import json
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from courtroom_runs import PROJECT, configuration, people
from debate_jobs import debate_job
from fault_server import FaultServer
from moot.analyses.arms.controls import ARMS
from moot.jobs.debates import write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

SETTINGS: dict[str, dict[str, Any]] = {
    "courtroom": {},
    "feedback": {"params": {"sides": "opposed", "rounds": 1}},
    "panel": {"params": {"rounds": 2, "votes": "likelihood"}},
    "human_panel": {"params": {"rounds": 2}, "dataset": "opinions"},
    "synthetic_panel": {"params": {"rounds": 1}, "dataset": "opinions"},
    "conference": {"params": {"rounds": 1, "graded_decisions": 0, "coding": False}},
    "agreement": {"dataset": "agreement", "params": {"answer": "likelihood"}},
    "stance": {"params": {"answer": "json"}},
    "polarity": {"params": {"answer": "json"}},
    "grading": {"dataset": "agreement"},
    "self_consistency": {"params": {"k": 2}},
    "rejudge": {"params": {"source_experiment": "courtroom", "source_model": "test"}},
    "judging": {"params": {"source_experiment": "conference", "source_model": "test"}},
    "attribution": {
        "params": {"source_experiment": "courtroom", "source_model": "test", "repeats": 2}
    },
    "recorded": {"source": "recorded", "params": {"method": "debate"}},
}

JUDGE = ("commit_first",)
DEBATE = ("noise", "alone", "consultancy", "swap", *JUDGE)
REASONS = [
    (
        [name for name in PROTOCOLS if PROTOCOLS[name].debaters is None],
        DEBATE,
        "has no debaters",
    ),
    (("attribution", "grading", "judging", "recorded", "case_summary"), ARMS, "asks for no answer"),
    (("panel", "human_panel", "conference"), ("consultancy",), "have no assigned sides"),
    (("panel", "human_panel"), JUDGE, "the debaters also decide"),
    (
        ("human_panel", "synthetic_panel"),
        ("labels_swapped",),
        "know the options of this data by name",
    ),
]
"""Protocols, arms that make no sense with them, and the reason. A later reason replaces an earlier
one.
"""
MEANINGLESS: dict[tuple[str, str], str] = {}
for names, arms, reason in REASONS:
    MEANINGLESS |= dict.fromkeys(product(names, arms), reason)


def entry(protocol: str, arms: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    experiment = {
        "protocol": protocol,
        "dataset": "people",
        "models": ["test"],
        "cases": 4,
        "arms": list(arms),
    }
    return {**experiment, **SETTINGS.get(protocol, {}), **changes}


class Runs:
    """A folder of results, a ledger and a server. Each experiment runs once."""

    def __init__(self, folder: Path, server: FaultServer) -> None:
        self.folder, self.server, self.held = folder, server, dict[str, pd.DataFrame]()
        people(folder / "cases" / "people.parquet", 8)
        self.experiments = {name: entry(name) for name in ("courtroom", "conference")}
        """Other experiments read the debates of these."""

    def plan(self, **experiments: dict[str, Any]) -> Plan:
        raw = configuration(
            self.server.url,
            self.folder,
            {"max_tokens": 40},
            experiments={**self.experiments, **experiments},
        )
        raw["datasets"] |= {
            "conference": {"source": "sample"},
            "opinions": {"source": "sample"},
            "agreement": {"source": "sample"},
        }
        return Plan.from_yaml(raw, PROJECT)

    @cached_property
    def plan_of_all_arms(self) -> Plan:
        """Each protocol with all arms that make sense with it."""
        experiments = {}
        for protocol in PROTOCOLS:
            arms = [arm for arm in ARMS if (protocol, arm) not in MEANINGLESS]
            if arms:
                experiments[protocol] = entry(protocol, tuple(arms))
        return self.plan(**experiments)

    def cases(self, plan: Plan, dataset: str) -> Path:
        path = self.folder / "cases" / f"{dataset}.parquet"
        if not path.exists():
            load_dataset(
                plan.datasets[dataset],
                plan.load_context(dataset),
                path,
                self.folder / f"{dataset}.features",
                self.folder / f"{dataset}.cleaning",
            )
        return path

    def hold(self, plan: Plan, name: str) -> pd.DataFrame:
        """Return the transcripts of an experiment, after running its dependencies."""
        if name not in self.held:
            experiment = plan.experiments[name]
            inputs = {key: self.folder / path for key, path in experiment.needed_by("test").items()}
            for path in experiment.needed_by("test").values():
                self.hold(plan, path.split("/")[1])
            cases = self.cases(plan, experiment.config.dataset)
            output = self.folder / "transcripts" / name / "test" / "0.parquet"
            write_transcripts(
                debate_job(plan, name, "test", cases, shard=0, artifacts=inputs),
                [cases],
                output,
            )
            predictions = self.folder / "predictions" / name / "test.parquet"
            calls = self.folder / "calls" / name / "test.parquet"
            write_predictions(
                plan.config, plan.experiments[name], cases, [output], predictions, calls
            )
            self.held[name] = pq.read_table(output).to_pandas()
        return self.held[name]


def full_and(
    runs: Runs, arm: str, protocol: str = "courtroom"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    plan = runs.plan_of_all_arms
    return runs.hold(plan, protocol), runs.hold(plan, f"{protocol}-arm={arm}")


def note_of(rows: pd.DataFrame) -> dict[str, str]:
    """Return the only note of an arm in these rows."""
    [text] = set(rows.loc[rows["kind"] == "arm", "parsed"])
    note: dict[str, str] = json.loads(text)
    return note


def public(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["visibility"] == "public") & (rows["speaker"] != "moot")]


def prompts_of(runs: Runs, name: str) -> dict[str, str]:
    calls = pq.read_table(
        runs.folder / "calls" / name / "test.parquet", columns=["call_id", "request"]
    ).to_pylist()
    return {row["call_id"]: row["request"] for row in calls}


def messages_of(request: str) -> list[tuple[str, str]]:
    return [(role, content) for role, content in json.loads(request)["messages"]]
