"""What the selected items need and this machine lacks, found before the first call.

The run fills the rest. It names the rows that stay empty, and ends with an error.
"""

import asyncio
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import MootError, UnavailableError, UnreachableError, UserError
from moot.core.model_config import ModelConfig
from moot.core.model_values import key_problem
from moot.llm.endpoints import list_models
from moot.llm.identity import key_variable
from moot.papers.items import PaperItem
from moot.papers.selection import KINDS_WITHOUT_DEBATES
from moot.plan.plan import Plan
from moot.training.baselines import BASELINES

VARIABLE = "MOOT_MISSING_FOR_ITEMS"
"""Holds what is missing for the processes that run jobs, as JSON."""
SECONDS_TO_ANSWER = 3


def find_missing_models(plan: Plan, runs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the models that some runs need and that cannot be asked here, each with the reason.

    Each server is asked once.

    Args:
        plan: The plan.
        runs: Experiments and models without results.
    """
    names: set[str] = set()
    for experiment, model in runs:
        names.update(_models_of_run(plan, experiment, model))
    listings: dict[str, Collection[str] | str] = {}
    missing: dict[str, str] = {}
    for name in sorted(names & plan.config.models.keys()):
        if reason := _reason_of_model(plan.config.models[name], listings):
            missing[name] = reason
    return missing


def _models_of_run(plan: Plan, experiment: str, model: str) -> set[str]:
    return {
        model,
        *plan.models_in_job(experiment, model),
        *plan.labelling_models(experiment, model),
    }


def _reason_of_model(model: ModelConfig, listings: dict[str, Collection[str] | str]) -> str:
    variable = key_variable(model)
    if variable and (problem := key_problem(variable)):
        return f"the environment variable {variable} {problem}"
    address = str(model.base_url or "")
    if not address:
        return ""
    if address not in listings:
        listings[address] = asyncio.run(_list_names(model, address))
    listing, commands = listings[address], endpoint_traits(model.endpoint).setup_commands
    if isinstance(listing, str):
        return listing
    if commands and not {model.model, f"{model.model}:latest"} & set(listing):
        command = commands[-1].format(model=model.model)
        return f"{model.endpoint.capitalize()} at {address} has no {model.model} ({command})"
    return ""


async def _list_names(model: ModelConfig, address: str) -> Collection[str] | str:
    """Return the names of a server's models, as far as it lists them, or why it cannot be asked."""
    traits = endpoint_traits(model.endpoint)
    try:
        entries = await list_models(model.model_copy(update={"timeout": SECONDS_TO_ANSWER}))
    except UnreachableError as error:
        remedy = "".join(f"; {command}" for command in traits.setup_commands[:1])
        return f"no server answers at {address} ({error}{remedy})"
    except MootError:  # a server may refuse to list what it serves
        return ()
    return [str(entry.get("id") or entry.get("name")) for entry in entries or ()]


def can_run(plan: Plan, experiment: str, model: str, missing: Collection[str]) -> bool:
    """Return whether all models of a run, and of the runs that it reads, can be asked."""
    if not _models_of_run(plan, experiment, model).isdisjoint(missing):
        return False
    params = plan.experiments[experiment].params
    for source in params.named_experiments(dict(params)):
        source_model = getattr(params, "source_model", "") or model
        if source in plan.experiments and not can_run(plan, source, source_model, missing):
            return False
    return True


def find_missing_baselines(items: Iterable[PaperItem]) -> dict[str, str]:
    """Return the trained models among the rows of items that cannot be built here."""
    missing: dict[str, str] = {}
    for item in items:
        for row in item.rows if item.datasets else ():
            if row.key in BASELINES:
                try:
                    BASELINES[row.key].build(0, 1)
                except UnavailableError as error:
                    missing[row.key] = str(error)
    return missing


def keep_missing(models: Mapping[str, str]) -> None:
    """Tell the processes of jobs which models are missing."""
    os.environ[VARIABLE] = json.dumps(dict(models))


def read_missing() -> dict[str, str]:
    """Return the missing models that the main process found."""
    missing: dict[str, str] = json.loads(os.environ.get(VARIABLE, "{}"))
    return missing


def describe_missing(
    plan: Plan,
    items: Sequence[PaperItem],
    runs: Collection[tuple[str, str]],
    models: Mapping[str, str],
    baselines: Mapping[str, str],
) -> Iterator[str]:
    """Yield a line for each cause, with the rows that stay empty for it."""
    causes: dict[str, dict[str, None]] = {}
    for experiment, model in runs:
        for name in sorted(_models_of_run(plan, experiment, model)):
            if name in models:
                causes.setdefault(models[name], {})[f"{experiment}/{model}"] = None
        is_blamed = any(f"{experiment}/{model}" in of_cause for of_cause in causes.values())
        if not is_blamed and not can_run(plan, experiment, model, models):
            reason = "debates that it reads are missing"
            causes.setdefault(reason, {})[f"{experiment}/{model}"] = None
    for name, reason in baselines.items():
        rows = [item.name for item in items if name in map(attrgetter("key"), item.rows)]
        causes.setdefault(reason, {})[f"{name} in {', '.join(rows)}"] = None
    for reason, rows_of_cause in causes.items():
        yield f"{reason}: {', '.join(rows_of_cause)}"


def check_something_can_be_filled(
    items: Iterable[PaperItem],
    lines: Sequence[str],
    runnable: Collection[tuple[str, str]],
    baselines: Collection[str],
) -> None:
    """Check that something can be filled before the first call.

    Raises:
        UserError: Nothing can be filled; the message says what is missing.
    """
    is_filled = bool(runnable)
    for item in items:
        is_filled |= item.kind in KINDS_WITHOUT_DEBATES
        rows = {row.key for row in item.rows} & set(BASELINES)
        is_filled |= bool(item.datasets) and bool(rows - set(baselines))
    if lines and not is_filled:
        text = "\n".join(f"  {line}" for line in lines)
        raise UserError(
            f"papers: nothing of these items can be filled here; no model was asked.\n{text}\n"
            '`papers: {models: [mine], cases: 20}` fills them with an entry "mine" of `models`.'
        )


def loaders_without_files(plan: Plan, datasets: Iterable[str]) -> list[str]:
    """Return the loaders of data sets of the user's files that find no file."""
    loaders: list[str] = []
    for name in datasets:
        options = plan.datasets[name]
        if options.source == "local" and not plan.local_files(name):
            loaders.append(options.loader or name)
    return loaders


def has_predictions(experiment: str, model: str) -> bool:
    """Return whether the answers of a run exist."""
    return Path("results", "predictions", experiment, f"{model}.parquet").exists()
