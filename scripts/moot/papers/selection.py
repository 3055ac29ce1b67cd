"""From the key `papers` to the experiments and data sets that its items need."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.core.read_config import merge_over_defaults
from moot.core.sections import SECTIONS
from moot.core.shipped_files import paper_files
from moot.core.types import Fields, JsonObject
from moot.datasets import LOADERS, DatasetOptions
from moot.papers.items import PaperItem, items_file, read_papers, select_items
from moot.protocols import PROTOCOLS

KEY = "papers"
PREFIX = "paper-"
"""The prefix of the names of the papers' experiments and of their data sets."""
PASSAGES = Path("data/published/prompts.csv")
PROMPTS = Path("config/prompts_published")
"""The folder of the working directory into which `snakemake prompts` writes."""
JUDGE, LABELER = "judge:", "labeler"
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
    design = paper_design(shipped)
    merged_design = merge_over_defaults(
        {key: config.get(key) or {} for key in ("experiments", "datasets")}, paper_files(shipped)
    )
    _check_models(config, options)
    _check_datasets(options, design)
    names = list(_needed_experiments(items, merged_design))
    designs = {name: merged_design["experiments"][name] for name in names}
    _check_seats(options, designs)
    if not designs:
        return
    experiments = config.setdefault("experiments", {})
    datasets = config.setdefault("datasets", {})
    for name in names:
        if name not in design["experiments"]:
            continue
        entry = deepcopy(designs[name])
        if entry["models"] == design["experiments"][name]["models"]:
            entry["models"] = _models_shown(entry["models"], items)
        _apply_options(entry, options)
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


def paper_design(shipped: Path) -> JsonObject:
    """Return the papers' experiments and data sets, merged from config/papers."""
    return merge_over_defaults({}, paper_files(shipped))


def _check_models(config: Fields, options: Any) -> None:
    for name in (*options.models, *options.seats.values()):
        if name not in config.get("models", {}) and name != "person":
            raise unknown_name("model", str(name), config.get("models", {}), "papers")


def own_sources(options: type[DatasetOptions]) -> list[str]:
    """Return the sources of a loader whose cases moot provides."""
    sources = get_args(options.model_fields["source"].annotation)
    return [source for source in OWN_SOURCES if source in sources]


def _loader_of(dataset: str, design: Fields) -> str:
    return str(design["datasets"][dataset]["loader"])


def _check_datasets(options: Any, design: Fields) -> None:
    """Check the names of `papers.datasets`, and the sources that they choose."""
    loaders = {name: _loader_of(name, design) for name in design["datasets"]}
    loaders |= {loader: loader for loader in loaders.values()}
    for name, choice in options.datasets.items():
        place = "papers.datasets"
        if name not in loaders:
            raise unknown_name("data set of the papers", str(name), loaders, place)
        if isinstance(choice, Mapping):
            continue
        sources = get_args(LOADERS[loaders[name]].options.model_fields["source"].annotation)
        if choice not in sources:
            raise unknown_name("source", str(choice), sources, f"{place}.{name}")


def _check_seats(options: Any, designs: Mapping[str, Fields]) -> None:
    """Check that each name of `papers.seats` is a seat of some experiment."""
    if not options.seats or not designs:
        return
    seats: set[str] = set()
    for design in designs.values():
        seats |= _seats_of(design)
    for name in options.seats:
        if name not in seats:
            raise unknown_name("seat", str(name), seats, "papers.seats")


def _seats_of(design: Fields) -> set[str]:
    """Return the seats of an experiment, and `labeler` if its statements are labelled."""
    entry = PROTOCOLS[design["protocol"]]
    seats = set(entry.seats(entry.params.model_validate(design.get("params") or {})) or ())
    if design.get("labelers"):
        seats.add(LABELER)
    return seats


def needed_experiments(items: Iterable[PaperItem], shipped: Path) -> list[str]:
    """Return the experiments whose debates some items need, with the experiments that they depend
    on.
    """
    return list(_closure(_debated_experiments(items), paper_design(shipped)))


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
    yield from _closure(names, design)


def _closure(names: Iterable[str], design: Fields) -> Iterator[str]:
    """Yield experiments, each before those whose results its debates read."""
    experiments = design["experiments"]
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


def _apply_options(entry: JsonObject, options: Any) -> None:
    """Apply the models and sizes of `papers` to an experiment."""
    if options.models:
        entry["models"] = list(options.models)
        _clear_seats(entry)
        _replace_source_model(entry)
    _replace_seats(entry, options.seats)
    entry["allow_fewer_cases"] = True
    if options.cases:
        _shrink(entry, options.cases)
    if options.repeats:
        entry["repeats"] = options.repeats


def _shrink(entry: JsonObject, cases: int) -> None:
    """Let an experiment debate at most `cases` cases, and calibrate with fewer in proportion.

    A number that is none stays; the plan describes the fault.
    """
    all_cases, calibration = (
        str(entry.get(key) or cases) for key in ("cases", "calibration_cases")
    )
    if not (all_cases.isdecimal() and calibration.isdecimal()):
        return
    entry["cases"] = min(int(all_cases), cases)
    if entry.get("calibration_cases"):
        share = entry["cases"] / int(all_cases)
        entry["calibration_cases"] = math.ceil(share * int(calibration))


def describe_sizes(experiments: Mapping[str, ExperimentConfig], shipped: Path) -> Iterator[str]:
    """Yield how many of the papers' cases some experiments have, a line for each size."""
    design = paper_design(shipped)["experiments"]
    names_by_size: dict[str, list[str]] = {}
    for name in experiments.keys() & design.keys():
        sizes = []
        for key, noun in (("cases", "cases"), ("calibration_cases", "cases to calibrate with")):
            count, count_of_paper = getattr(experiments[name], key), design[name].get(key)
            if count and count != count_of_paper:
                sizes.append(f"{count:,} of {count_of_paper or 'all'} {noun}")
        if sizes:
            names_by_size.setdefault(", ".join(sizes), []).append(f"`{name}`")
    for size in sorted(names_by_size):
        yield f"{size}: {', '.join(sorted(names_by_size[size]))}."


def _use_printed_prompts(entry: JsonObject, design: Fields, shipped: Path) -> None:
    """Let an experiment use the passages that `snakemake prompts` took from the paper.

    An experiment whose prompts the paper does not print keeps moot's.

    Raises:
        UserError: Passages are missing.
    """
    with (shipped / PASSAGES).open(encoding="utf-8", newline="") as file:
        passages = [
            row
            for row in csv.DictReader(file)
            if row["protocol"] == entry["protocol"]
            and row["data"] == _loader_of(entry["dataset"], design)
        ]
    if not passages:
        return
    folder = PROMPTS / passages[0]["paper"] / entry["protocol"]
    missing_files = [row["file"] for row in passages if not (folder / row["file"]).exists()]
    if missing_files:
        raise UserError(
            f"papers: `prompts: paper`: {folder.as_posix()} lacks {', '.join(missing_files)}; no"
            " model was asked. Take them from your copy of the paper: snakemake --cores 1 prompts"
            " --config prompts_from=FILE."
        )
    entry["prompts"] = folder.as_posix()


def _clear_seats(entry: JsonObject) -> None:
    """Fill every seat with the debate's own model, and let no model label statements."""
    if "seats" in (entry.get("params") or {}):
        entry["params"]["seats"] = {}
    if "labelers" in entry:
        entry["labelers"] = [name for name in entry["labelers"] if not name.startswith(JUDGE)]


def _replace_seats(entry: JsonObject, seats: Mapping[str, str]) -> None:
    """Fill the seats that an experiment has with the models of `seats`."""
    debate_seats = _seats_of(entry) - {LABELER}
    models = {seat: model for seat, model in seats.items() if seat in debate_seats}
    if models:
        params = entry.setdefault("params", {})
        params["seats"] = {**params.get("seats", {}), **models}
    if LABELER in seats and "labelers" in entry:
        by_rule = [name for name in entry["labelers"] if not name.startswith(JUDGE)]
        entry["labelers"] = [*by_rule, JUDGE + seats[LABELER]]


def _replace_source_model(entry: JsonObject) -> None:
    """Replace a paper's model as the source of debates by the first model."""
    params = entry.get("params") or {}
    if "source_model" in params:
        params["source_model"] = entry["models"][0]


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
