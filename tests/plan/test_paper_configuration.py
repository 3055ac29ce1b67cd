"""The papers' configuration, run with a local server: its tables show all published values.

The run follows `config/papers/` and `config/beyond.yaml` with the real files, but with fewer
cases: the test changes copies of the designs, so that a run of few cases repeats the paper. The
appellate study keeps its hundred debates a phase, because its tables compare counts.
"""

import csv
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice
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
CASES = 4
TRAINING = 12
LARGE_DATA = ("cail18", "vast")
"""Folders of data sets that are shortened: their near-duplicates take long to find."""
ROWS = 600
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


def limit_cases(config: dict[str, Any]) -> None:
    """Let every experiment debate few cases, except for the five of the appellate study.

    Experiments and models without a published value are left out: control arms and their repeats,
    masked facts, and counterfactual people.
    """
    printed = PUBLISHED.groupby("repeated_by")["model"].agg(set)
    remove_unpublished_experiments(config)
    for name, experiment in config["experiments"].items():
        for key in [key for key in experiment if key.startswith("arm")]:
            del experiment[key]
        models = [model for model in experiment["models"] if model in printed.get(name, ())]
        experiment["models"] = models or experiment["models"][:2]
        if experiment["dataset"] not in ("opinions", "conference"):
            is_training = experiment.get("split") == "train"
            experiment["cases"] = TRAINING if is_training else CASES
            if "calibration_cases" in experiment:
                experiment["calibration_cases"] = TRAINING
        if experiment["dataset"] != "opinions":
            experiment["repeats"] = 1
    add_source_models(config["experiments"])


def remove_unpublished_experiments(config: dict[str, Any]) -> None:
    """Remove repeats of debates, and experiments with masked facts or counterfactual people."""
    for name, experiment in list(config["experiments"].items()):
        dataset = config["datasets"].get(experiment["dataset"], {})
        is_changed = bool(dataset.get("exchange")) or "outcome_phrases" in dataset
        if is_changed or "-repeated" in name:
            del config["experiments"][name]


def add_source_models(experiments: Mapping[str, dict[str, Any]]) -> None:
    """Let each experiment debate with the models whose debates another experiment judges."""
    for experiment in experiments.values():
        params = experiment.get("params", {})
        if "source_model" in params:
            models = experiments[params["source_experiment"]]["models"]
            if params["source_model"] not in models:
                models.append(params["source_model"])


def shipped_with_few_cases(folder: Path) -> Path:
    """Return a copy of the project's files that a plan reads, with the designs of few cases."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(PROJECT / name)
    for file in (PROJECT / "config").glob("*.yaml"):
        shutil.copy(file, folder / "config")
    (folder / "config/papers").mkdir()
    for file in paper_files(PROJECT):
        paper = yaml.safe_load(file.read_text("utf-8"))
        limit_cases(paper)
        (folder / "config/papers" / file.name).write_text(yaml.safe_dump(paper))
    return folder


def data_root(folder: Path, shared: Path) -> Path:
    """Link the real files, with the first rows of the large ones.

    Half of the trial predictions serve as the unpublished test file.
    """
    (folder / "caselaw").mkdir(parents=True)
    for source in shared.iterdir():
        if source.name in LARGE_DATA:
            shorten_files(source, folder / source.name)
        elif source.name != "caselaw":
            (folder / source.name).symlink_to(source)
    lines = (shared / "caselaw/trial_prediction.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "caselaw/trial_prediction.jsonl").write_text("".join(lines[::2]), encoding="utf-8")
    (folder / "caselaw/trial_prediction_test.jsonl").write_text(
        "".join(lines[1::2]), encoding="utf-8"
    )
    return folder


def shorten_files(source: Path, target: Path) -> None:
    """Write the first rows of the data files of a folder."""
    target.mkdir()
    for path in source.iterdir():
        with path.open(encoding="latin-1", newline="") as file:
            if path.suffix == ".csv":
                with (target / path.name).open("w", encoding="latin-1", newline="") as output:
                    csv.writer(output).writerows(islice(csv.reader(file), ROWS))
            elif path.suffix == ".jsonl":
                lines = islice(file, ROWS)
                (target / path.name).write_text("".join(lines), encoding="latin-1", newline="")


def plan_of_few_cases(folder: Path, shared: Path, server: FaultServer) -> Plan:
    shipped = shipped_with_few_cases(folder / "shipped")
    raw: dict[str, Any] = {}
    for file in ("config.yaml", "models.yaml"):
        update_config(raw, yaml.safe_load((shipped / "config" / file).read_text("utf-8")))
    designs = merge_over_defaults({}, beyond_files(PROJECT))
    limit_cases(designs)
    update_config(raw, designs)
    raw |= {
        "data_root": str(data_root(folder / "data", shared)),
        "ledger": str(folder / "ledger"),
        "shards": 1,
        "min_debates": 1,
    }
    for dataset in raw["datasets"].values():
        dataset.update({"source": "local"} if dataset["source"] == "download" else {})
        if dataset.get("ranking") == "leave_one_out":  # trains a model for each feature
            dataset["ranking"] = "mutual_information"
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


def sort_experiments(plan: Plan) -> Iterator[Experiment]:
    """Yield every experiment after its source experiments."""
    pending = dict(plan.experiments)
    while pending:
        for name, experiment in list(pending.items()):
            path_parts = set[str]()
            for model in experiment.config.models:
                path_parts.update("/".join(experiment.needed_by(model).values()).split("/"))
            if not path_parts & (set(pending) - {name}):
                yield pending.pop(name)


def run_experiment(plan: Plan, experiment: Experiment) -> list[Path]:
    """Hold, label and score the debates of one experiment, as the rules do.

    Returns the inputs of the scores.
    """
    config, name = experiment.config, experiment.name
    cases = RESULTS / "cases" / f"{config.dataset}.parquet"
    cases_and_task = read_cases(cases)
    sources = [cases]
    for model in config.models:
        shard = RESULTS / "transcripts" / name / model / "0.parquet"
        artifacts = {key: RESULTS / path for key, path in experiment.needed_by(model).items()}
        write_transcripts(
            plan, Job(name, model, *cases_and_task, artifacts=artifacts), [cases], shard
        )
        predictions, calls = (
            RESULTS / kind / name / f"{model}.parquet" for kind in ("predictions", "calls")
        )
        write_predictions(plan, name, cases, [shard], predictions, calls)
        sources += [shard, predictions]
        if config.labelers:
            labels, annotations = (
                RESULTS / kind / name / f"{model}.parquet" for kind in ("labels", "annotations")
            )
            label_statements(
                plan,
                LabelJob(name, model, cases, {(name, model): [shard]}, []),
                labels,
                annotations,
            )
            sources += [labels, annotations]
        for dependent in plan.experiments.values():
            for path in dependent.needed_by(model).values():
                if path.startswith(f"assistants/{name}/{model}/"):
                    write_assistant(
                        cases, [shard], Path(path).stem, plan.config.seed, RESULTS / path
                    )
    write_scores(RESULTS / "scores" / f"{name}.parquet", plan, name, sources)
    return sources


def write_leaderboards(experiments: Iterable[Experiment]) -> Iterator[Path]:
    """Write uniform leaderboards of the experiments' data sets; other tests cover training."""
    datasets = {experiment.config.dataset for experiment in experiments}
    names = SCHEMAS["baselines"].names
    for dataset, board in leaderboards(datasets).items():
        path = RESULTS / "baselines" / f"{dataset}.parquet"
        frame = board.reindex(columns=[*names, *board.columns.difference(names)])
        write_frame(path, "baselines", frame, describe())
        yield path


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_the_papers_run_shows_every_published_value(
    study: str, tmp_path: Path, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow: only this test detects a published value that no run of the papers shows."""
    monkeypatch.chdir(tmp_path)
    with FaultServer() as server:
        plan = plan_of_few_cases(tmp_path, shared_data, server)
        experiments = [
            experiment for experiment in sort_experiments(plan) if experiment.study == study
        ]
        for dataset in {experiment.config.dataset for experiment in experiments}:
            kinds = {"cases": "parquet", "features": "parquet", "cleaning": "csv"}
            paths = [RESULTS / kind / f"{dataset}.{suffix}" for kind, suffix in kinds.items()]
            load_dataset(plan.dataset_options(dataset), plan.load_context(dataset), *paths)
        files = []
        for experiment in experiments:
            files += run_experiment(plan, experiment)
    scores = [RESULTS / "scores" / f"{experiment.name}.parquet" for experiment in experiments]
    inputs = Inputs([*files, *scores])
    inputs.scores, inputs.baselines = scores, list(write_leaderboards(experiments))
    inputs.published = PROJECT / "data/published/published_results.csv"
    inputs.findings = inputs.published.with_name("findings.csv")
    results = load_study_results(plan, SimpleNamespace(input=inputs), study)
    expected = results.published[results.published["repeated_by"] != ""]
    assert len(expected) >= 18
    missing = missing_values(expected, results)
    assert not [f"{row['table']} {row['row']} {row['metric']}" for row in missing]
