"""The papers' configuration, argued with a server on this machine: its tables show every published
value that they should.

All is as `config/papers/` and `config/beyond.yaml` have it, down to the real files, but for the number of cases: the file
that says what the papers ran is copied and asks for few, so that a run of few cases repeats it. The
appellate study keeps its hundred debates a phase: its tables compare counts.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from fault_server import FaultServer
from moot.core.artifacts import describe, read_cases, write_frame
from moot.core.read_config import merge_over_defaults
from moot.core.schemas import SCHEMAS
from moot.core.shipped_files import beyond_files, paper_files
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.job_results import load_study_results, write_scores
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.jobs.statement_labels import LabelJob, label_statements
from moot.plan.plan import Plan
from moot.protocols.experiment import Experiment
from moot.studies.feedback.reliability import write_assistant
from shown_values import missing_values
from uniform_scores import PROJECT, PUBLISHED, STUDIES, leaderboards

RESULTS = Path("results")
FEW = 6
TRAINING = 16
FILES = (
    "data/samples",
    "data/records",
    "data/published",
    "data/versions.csv",
    "config/prompts",
    "config/labels",
)


class Inputs(list[Path]):
    """The inputs of a job that builds tables, by the names that its rule gives them."""

    scores: Sequence[Path]
    baselines: Sequence[Path]
    published: Path
    findings: Path


def few_cases(config: dict[str, Any]) -> None:
    """Let every experiment debate few cases, the appellate study's five apart.

    Control arms, what is repeated for them, masked facts and counterfactual people are left out,
    and models of which the paper prints nothing: no published value stands beside them.
    """
    printed = PUBLISHED.groupby("repeated_by")["model"].agg(set)
    changed = {
        name
        for name, data in config["datasets"].items()
        if data.get("exchange") or "outcome_phrases" in data
    }
    config["experiments"] = {
        name: {key: value for key, value in experiment.items() if not key.startswith("arm")}
        for name, experiment in config["experiments"].items()
        if experiment["dataset"] not in changed and "-repeated" not in name
    }
    for name, experiment in config["experiments"].items():
        named = [model for model in experiment["models"] if model in printed.get(name, ())]
        experiment["models"] = named or experiment["models"][:2]
        if experiment["dataset"] not in ("opinions", "conference"):
            training = experiment.get("split") == "train"
            experiment["cases"] = TRAINING if training else FEW
            experiment.update(
                {"calibration_cases": TRAINING} if "calibration_cases" in experiment else {}
            )
        experiment["repeats"] = (
            experiment.get("repeats", 1) if experiment["dataset"] == "opinions" else 1
        )
    for experiment in config["experiments"].values():
        params = experiment.get("params", {})
        if "source_model" in params:
            models = config["experiments"][params["source_experiment"]]["models"]
            if params["source_model"] not in models:
                models.append(params["source_model"])


def shipped_with_few_cases(folder: Path) -> Path:
    """The project's files that a plan reads, with the papers' designs of few cases."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(PROJECT / name)
    for file in (PROJECT / "config").glob("*.yaml"):
        shutil.copy(file, folder / "config")
    (folder / "config/papers").mkdir()
    for file in paper_files(PROJECT):
        paper = yaml.safe_load(file.read_text("utf-8"))
        few_cases(paper)
        (folder / "config/papers" / file.name).write_text(yaml.safe_dump(paper))
    return folder


def data_root(folder: Path, shared: Path) -> Path:
    """The real files; the one that was never published here is a part of the one that was."""
    (folder / "caselaw").mkdir(parents=True)
    for source in shared.iterdir():
        if source.name != "caselaw":
            (folder / source.name).symlink_to(source)
    lines = (shared / "caselaw/trial_prediction.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "caselaw/trial_prediction.jsonl").write_text("".join(lines[::2]), encoding="utf-8")
    (folder / "caselaw/trial_prediction_test.jsonl").write_text(
        "".join(lines[1::2]), encoding="utf-8"
    )
    return folder


def plan_of_few_cases(folder: Path, shared: Path, server: FaultServer) -> Plan:
    shipped = shipped_with_few_cases(folder / "shipped")
    raw: dict[str, Any] = {}
    for file in ("config.yaml", "models.yaml"):
        update_config(raw, yaml.safe_load((shipped / "config" / file).read_text("utf-8")))
    designs = merge_over_defaults({}, beyond_files(PROJECT))
    few_cases(designs)
    update_config(raw, designs)
    raw |= {
        "data_root": str(data_root(folder / "data", shared)),
        "ledger": str(folder / "ledger"),
        "shards": 1,
        "min_debates": 1,
    }
    for dataset in raw["datasets"].values():
        dataset.update({"source": "local"} if dataset["source"] == "download" else {})
    addresses = {"openai": server.url, "ollama": server.host}
    for model in raw["models"].values():
        if model["endpoint"] in addresses:
            model |= {
                "base_url": addresses[model["endpoint"]],
                "api_key_env": None,
                "concurrency": 32,
            }
    # The server on this machine is the papers' provider here.
    (shipped / "config" / "models.yaml").write_text(
        yaml.safe_dump({"models": deepcopy(raw["models"])})
    )
    return Plan.from_yaml(raw, shipped)


def in_order(plan: Plan) -> Iterator[Experiment]:
    """Every experiment after those that it rests on."""
    waiting, done = dict(plan.experiments), set[str]()
    while waiting:
        for name, experiment in list(waiting.items()):
            needed = {
                part
                for model in experiment.config.models
                for path in experiment.needed_by(model).values()
                for part in path.split("/")
            }
            if not needed & (set(plan.experiments) - done - {name}):
                yield waiting.pop(name)
                done.add(name)


def run_experiment(plan: Plan, experiment: Experiment) -> list[Path]:
    """Hold, label and score the debates of one experiment, by the stages that the rules call; what
    the scores read.
    """
    config, name = experiment.config, experiment.name
    cases = RESULTS / "cases" / f"{config.dataset}.parquet"
    sources = [cases]
    for model in config.models:
        shard = RESULTS / "transcripts" / name / model / "0.parquet"
        needed = {key: RESULTS / path for key, path in experiment.needed_by(model).items()}
        write_transcripts(
            plan, Job(name, model, *read_cases(cases), artifacts=needed), [cases], shard
        )
        predictions, calls = (
            RESULTS / kind / name / f"{model}.parquet" for kind in ("predictions", "calls")
        )
        write_predictions(plan, name, cases, [shard], predictions, calls)
        sources += [shard, predictions]
        if config.labelers:
            labels, everything = (
                RESULTS / kind / name / f"{model}.parquet" for kind in ("labels", "annotations")
            )
            label_statements(
                plan, LabelJob(name, model, cases, {(name, model): [shard]}, []), labels, everything
            )
            sources += [labels, everything]
        for other in plan.experiments.values():
            for path in other.needed_by(model).values():
                if path.startswith(f"assistants/{name}/{model}/"):
                    write_assistant(
                        cases, [shard], Path(path).stem, plan.config.seed, RESULTS / path
                    )
    write_scores(RESULTS / "scores" / f"{name}.parquet", plan, name, sources)
    return sources


def write_leaderboards(experiments: Iterable[Experiment]) -> Iterator[Path]:
    """Leaderboards of the experiments' data sets; training asks no server, and what it gives is
    tested elsewhere.
    """
    for dataset, board in leaderboards(
        {experiment.config.dataset for experiment in experiments}
    ).items():
        path = RESULTS / "baselines" / f"{dataset}.parquet"
        whole = board.reindex(
            columns=[
                *SCHEMAS["baselines"].names,
                *board.columns.difference(SCHEMAS["baselines"].names),
            ]
        )
        write_frame(path, "baselines", whole, describe())
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_the_papers_run_shows_every_published_value_that_it_should(
    study: str, tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow; only it finds a published value that no run of the papers shows."""
    monkeypatch.chdir(tmp_path)
    with FaultServer() as server:
        plan = plan_of_few_cases(tmp_path, shared_data, server)
        experiments = [experiment for experiment in in_order(plan) if experiment.study == study]
        for dataset in {experiment.config.dataset for experiment in experiments}:
            paths = [
                RESULTS / kind / f"{dataset}.{ending}"
                for kind, ending in (
                    ("cases", "parquet"),
                    ("features", "parquet"),
                    ("cleaning", "csv"),
                )
            ]
            load_dataset(plan.dataset_options(dataset), plan.load_context(dataset), *paths)
        files = [path for experiment in experiments for path in run_experiment(plan, experiment)]
    scores = [RESULTS / "scores" / f"{experiment.name}.parquet" for experiment in experiments]
    inputs = Inputs([*files, *scores])
    inputs.scores, inputs.baselines = scores, list(write_leaderboards(experiments))
    inputs.published = PROJECT / "data/published/published_results.csv"
    inputs.findings = inputs.published.with_name("findings.csv")
    results = load_study_results(plan, SimpleNamespace(input=inputs), study)
    expected = results.published[results.published["repeated_by"] != ""]
    assert len(expected) >= 18
    assert [
        row["table"] + " " + row["row"] + " " + row["metric"]
        for row in missing_values(expected, results)
    ] == []
