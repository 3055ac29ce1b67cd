"""From the key `papers` to the experiments and data sets that its items need."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from moot.core.errors import UserError, unknown_name
from moot.core.read_config import merge_over_defaults
from moot.core.sections import SECTIONS
from moot.core.shipped_files import paper_files
from moot.core.spelling import canonical_word
from moot.core.types import Fields, JsonObject
from moot.datasets import DatasetOptions
from moot.papers.items import PaperItem, items_file, read_papers, select_items
from moot.papers.parts import Design
from moot.papers.wording import PUBLISHED, TEMPLATES, WORDS_TABLE, read_rows
from moot.protocols import PROTOCOLS

KEY = "papers"
PREFIX = "paper-"
"""The prefix of the names of the papers' experiments and of their data sets."""
JUDGE = "judge:"
OWN_SOURCES = ("sample", "synthetic")
"""Sources of cases that moot provides, best first."""
KINDS_WITHOUT_DEBATES = ("diagram", "facts")
"""Kinds of items without values of debates."""


def selected_items(config: Fields, shipped: Path) -> list[PaperItem]:
    """Return the items that a configuration selects; none without the key.

    Raises:
        UserError: An item does not exist; the message names the nearest one.
    """
    entry = config.get(KEY)
    if not isinstance(entry, Mapping):
        return []
    names = entry.get("items", "all")
    names = [names] if isinstance(names, str) else [str(name) for name in names or ()]
    return list(select_items(read_papers(items_file(shipped)), names))


def add_paper_experiments(config: JsonObject, shipped: Path) -> None:
    """Add the experiments and data sets of the selected items to a merged configuration.

    `run` then names only these experiments. Entries of the configuration change single keys of the
    papers' designs, and the keys of `papers` are applied to both.

    Raises:
        UserError: An item or a model does not exist.
    """
    items = selected_items(config, shipped)
    if not items:
        return
    options = _read_options(config[KEY])
    if options is None:  # the plan describes the fault
        return
    design = merge_over_defaults({}, paper_files(shipped))
    merged_design = merge_over_defaults(
        {key: config.get(key) or {} for key in ("experiments", "datasets")}, paper_files(shipped)
    )
    _check_models(config, options)
    _check_datasets(options, design)
    names = list(_needed_experiments(items, merged_design))
    if not names:
        return
    experiments = config.setdefault("experiments", {})
    datasets = config.setdefault("datasets", {})
    for name in names:
        if name not in design["experiments"]:
            continue
        entry = deepcopy(merged_design["experiments"][name])
        if entry["models"] == design["experiments"][name]["models"]:
            entry["models"] = _models_shown(entry["models"], items)
        _apply_options(entry, options, experiments.get(name, {}))
        if options.prompts == "paper":
            _use_printed_prompts(entry, design, shipped)
        experiments[name] = entry
        dataset = entry["dataset"]
        if dataset in design["datasets"]:
            choices = options.datasets
            choice = choices.get(dataset, choices.get(_loader_of(dataset, design)))
            datasets[dataset] = _adapted_dataset(merged_design["datasets"][dataset], choice)
    config["run"] = names


def _read_options(entry: Fields) -> Any:
    try:
        return SECTIONS["config.papers"].model.model_validate(dict(entry))
    except ValidationError:
        return None


def _check_models(config: Fields, options: Any) -> None:
    for name in options.models:
        if name not in config.get("models", {}):
            raise unknown_name("model", str(name), config.get("models", {}), "papers")


def own_sources(options: type[DatasetOptions]) -> list[str]:
    """Return the sources of a loader whose cases moot provides."""
    sources = get_args(options.model_fields["source"].annotation)
    return [source for source in OWN_SOURCES if source in sources]


def _loader_of(dataset: str, design: Fields) -> str:
    return str(design["datasets"][dataset]["loader"])


def _check_datasets(options: Any, design: Fields) -> None:
    """Check the names of `papers.datasets`; the plan checks the sources that they choose."""
    names = {*design["datasets"], *(_loader_of(name, design) for name in design["datasets"])}
    for name in options.datasets:
        if name not in names:
            raise unknown_name("data set of the papers", str(name), names, "papers.datasets")


def needed_experiments(items: Iterable[PaperItem], designs: Iterable[Design]) -> list[str]:
    """Return the experiments whose debates some items need.

    Those that they depend on are among them.

    Args:
        items: The items.
        designs: The papers' designs.
    """
    experiments = {
        design.view.entry: {"protocol": design.view.protocol, "params": design.view.params}
        for design in designs
    }
    return list(_closure(_debated_experiments(items), experiments))


def _debated_experiments(items: Iterable[PaperItem]) -> list[str]:
    """Return the experiments of the items that depend on debates."""
    names: list[str] = []
    for item in items:
        if item.kind not in KINDS_WITHOUT_DEBATES:
            names += item.experiments
    return names


def _needed_experiments(items: Sequence[PaperItem], design: Fields) -> Iterator[str]:
    """Yield the experiments that some items need, and one for each trained data set.

    Trained models belong to a study through an experiment on their data.
    """
    names = _debated_experiments(items)
    datasets = chain.from_iterable(item.datasets for item in items)
    for dataset in dict.fromkeys(datasets):
        on_dataset = [
            name for name, entry in design["experiments"].items() if entry["dataset"] == dataset
        ]
        if not set(on_dataset) & set(names):
            names += on_dataset[:1]
    yield from _closure(names, design["experiments"])


def _closure(names: Iterable[str], experiments: Fields) -> Iterator[str]:
    """Yield experiments, each before those whose results its debates read."""
    remaining = list(dict.fromkeys(names))
    listed_names: set[str] = set()
    while remaining:
        name = remaining.pop(0)
        if name in listed_names:
            continue
        if name not in experiments:
            raise UserError(f"data/published/items.yaml: experiment '{name}' has no design.")
        listed_names.add(name)
        yield name
        params = PROTOCOLS[experiments[name]["protocol"]].params
        remaining += params.named_experiments(experiments[name].get("params") or {})


def _models_shown(models: Sequence[str], items: Iterable[PaperItem]) -> list[str]:
    """Return the models of a design that some items show; all if an item shows all."""
    shown: set[str] = set()
    for item in items:
        shown.update(set(models) & set(item.models) or models)
    return [model for model in models if model in shown]


def _apply_options(entry: JsonObject, options: Any, own_entry: Fields) -> None:
    """Apply the models and sizes of `papers` to an experiment; `own_entry` is the user's."""
    if options.models:
        entry["models"] = list(options.models)
        _replace_other_models(entry, own_entry)
    entry["allow_fewer_cases"] = True
    if options.cases:
        _shrink(entry, options.cases)
    if options.repeats:
        entry["repeats"] = options.repeats


def _shrink(entry: JsonObject, cases: int) -> None:
    """Let an experiment debate at most `cases` cases, and calibrate with fewer in proportion.

    A number that is none stays; the plan describes the fault.
    """
    all_cases = cases if entry.get("cases") is None else entry["cases"]
    sizes = [canonical_word(str(size)) for size in (all_cases, entry.get("calibration_cases") or 0)]
    if not all(map(str.isdecimal, sizes)):
        return
    all_cases, calibration = map(int, sizes)
    entry["cases"] = min(all_cases, cases)
    if all_cases and calibration:
        entry["calibration_cases"] = math.ceil(entry["cases"] / all_cases * calibration)


def _use_printed_prompts(entry: JsonObject, design: Fields, shipped: Path) -> None:
    """Let an experiment use the passages that `snakemake prompts` took from the paper.

    An experiment whose prompts the paper does not print keeps moot's.

    Raises:
        UserError: Passages are missing.
    """
    place = (entry["protocol"], _loader_of(entry["dataset"], design))
    passages = [
        row
        for row in read_rows(shipped / PUBLISHED / WORDS_TABLE)
        if (row["protocol"], row["data"]) == place
    ]
    if not passages:
        return
    folder = TEMPLATES / passages[0]["paper"] / entry["protocol"]
    missing_files = [row["file"] for row in passages if not (folder / row["file"]).exists()]
    if missing_files:
        raise UserError(
            f"papers: `prompts: paper`: {folder.as_posix()} lacks {', '.join(missing_files)}; no"
            " model was asked. Take them from your copy of the paper: snakemake --cores 1 prompts"
            " --config prompts_from=FILE."
        )
    entry["prompts"] = folder.as_posix()


def _replace_other_models(entry: JsonObject, own_entry: Fields) -> None:
    """Let the debate's own model take the paper's seats, and no model label statements.

    What the user's entry names stays.
    """
    params, own_params = entry.get("params") or {}, own_entry.get("params") or {}
    if "seats" in params:
        params["seats"] = dict(own_params.get("seats") or {})
    if "source_model" in params:
        params["source_model"] = entry["models"][0]
    if "labelers" in entry and "labelers" not in own_entry:
        entry["labelers"] = [name for name in entry["labelers"] if not name.startswith(JUDGE)]


def _adapted_dataset(design: Fields, choice: Any) -> JsonObject:
    """Return a data set of the paper with another source or other options."""
    entry: JsonObject = deepcopy(dict(design))
    if isinstance(choice, Mapping):
        return entry | dict(choice)
    if choice in ("local", "download"):
        entry["source"] = choice
    elif choice:
        # The other options belong to the paper's files.
        kept_keys = ("loader", "baselines")
        entry = {key: value for key, value in entry.items() if key in kept_keys}
        entry["source"] = choice
    return entry
