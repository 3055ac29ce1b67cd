"""The configuration behind a paper's page, so that a later run of other items shows what is filled.

`results/papers/PAPER.runs.json` keeps the entries of the paper's experiments that have results,
with their data sets and models as they were configured when they ran. Snakemake does not remove
it before a job, which updates it.
"""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.sections import display_only_keys
from moot.core.types import Fields, JsonObject
from moot.papers.items import Paper
from moot.papers.selection import PREFIX
from moot.plan.plan import Plan

FOLDER = Path("results", "papers")
SECTIONS = ("experiments", "datasets", "models")
KINDS = ("predictions", "calls", "labels", "transcripts")


def record_path(paper: str) -> Path:
    """Return the file with the recorded entries of a paper."""
    return FOLDER / f"{paper}.runs.json"


def read_record(paper: str) -> JsonObject:
    """Return the recorded entries of a paper: `experiments`, `datasets` and `models` by name."""
    empty_record: JsonObject = {section: {} for section in SECTIONS}
    path = record_path(paper)
    if not path.exists():
        return empty_record
    record: JsonObject = json.loads(path.read_text(encoding="utf-8"))
    return empty_record | record


def write_record(plan: Plan, raw: Fields, paper: Paper) -> None:
    """Record the entries of the paper's experiments in a plan that have predictions.

    Args:
        plan: The plan of the page.
        raw: The merged configuration of that plan.
        paper: The paper.
    """
    record: JsonObject = {section: {} for section in SECTIONS}
    for experiment in plan.experiments.values():
        is_of_paper = experiment.study in paper.studies and experiment.entry.startswith(PREFIX)
        if not is_of_paper or not _files_of(experiment.name, "predictions"):
            continue
        entry = raw["experiments"][experiment.entry]
        record["experiments"][experiment.entry] = entry
        record["datasets"][experiment.config.dataset] = raw["datasets"][experiment.config.dataset]
        for model in experiment.config.models:
            for name in {model, *plan.models_in_job(experiment.name, model)}:
                record["models"][name] = raw["models"][name]
    text = json.dumps(record, indent=1, sort_keys=True, default=str)
    write_atomically(record_path(paper.name), text + "\n")


def join_earlier(raw: Fields, paper: str) -> JsonObject:
    """Return a configuration with the recorded experiments of a paper added to its run.

    An experiment of the run with other keys than the recorded one replaces it. If they differ in
    models alone, it gets the models of both. A recorded experiment on a data set that the run
    configures otherwise is left out.
    """
    joined: JsonObject = deepcopy(dict(raw))
    record = read_record(paper)
    selected_names = set(raw.get("run") or ())
    for name, entry in record["experiments"].items():
        own_entry = raw["experiments"].get(name)
        dataset = entry["dataset"]
        own_dataset = raw["datasets"].get(dataset)
        if own_dataset not in (None, record["datasets"][dataset]):
            if name not in selected_names:
                LOG.warning(
                    "results of %s are not shown: data set %s is configured otherwise now.",
                    *(name, dataset),
                )
            continue
        joined["datasets"][dataset] = record["datasets"][dataset]
        if own_entry is None or name not in selected_names:
            joined["experiments"][name] = entry
        elif _without_models(own_entry) == _without_models(entry):
            models = [*own_entry["models"], *entry["models"]]
            joined["experiments"][name]["models"] = list(dict.fromkeys(models))
        if selected_names:
            joined["run"] = list(dict.fromkeys([*joined["run"], name]))
    for name, entry in record["models"].items():
        joined["models"].setdefault(name, entry)
    return joined


def _without_models(entry: Fields) -> JsonObject:
    """Return the keys of an entry that change its debates, without its models."""
    other_keys = {"models", *display_only_keys("experiment")}
    return {key: value for key, value in entry.items() if key not in other_keys}


def plan_of_page(plan: Plan, raw: Fields, paper: str) -> tuple[Plan, Fields]:
    """Return the plan of a run with what earlier runs filled, and its configuration."""
    joined = join_earlier(raw, paper)
    if joined == raw:
        return plan, raw
    try:
        joined_plan = Plan.from_yaml(joined, plan.shipped)
    except UserError as error:
        LOG.warning("results of earlier runs are not shown: %s", error)
        return plan, raw
    joined_plan.designs = plan.designs  # they are the same in every run
    return joined_plan, joined


def earlier_files(paper: str) -> list[str]:
    """Return the existing files of the recorded experiments of a paper."""
    record = read_record(paper)
    paths: list[Path] = []
    for entry in record["experiments"]:
        for kind in KINDS:
            paths += _files_of(entry, kind)
            paths += _files_of(f"{entry}-*=*", kind)
    for dataset in record["datasets"]:
        for kind in ("cases", "baselines"):
            paths += Path("results", kind).glob(f"{dataset}.parquet")
    return sorted(str(path) for path in paths)


def _files_of(experiment: str, kind: str) -> list[Path]:
    return list(_parquet_files(Path("results", kind).glob(experiment)))


def _parquet_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from folder.rglob("*.parquet")
