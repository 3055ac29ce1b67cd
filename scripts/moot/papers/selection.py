"""From the key `papers` to the experiments and data sets that its items need."""

from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from moot.core.errors import UserError, unknown_name
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import paper_files
from moot.core.types import Fields, JsonObject
from moot.datasets import LOADERS, DatasetOptions
from moot.papers.items import PaperItem, items_file, read_papers, select_items
from moot.papers.lean import LEAN, check_lean_design, lean_experiments
from moot.protocols import PROTOCOLS

KEY = "papers"
PREFIX = "paper-"
"""The prefix of the names of the papers' experiments, and of their data sets in a run of items."""
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

    `run` then names only these experiments. The paper's data sets get separate names, so that
    results of other data with the same name remain valid.

    Raises:
        UserError: An item or a model does not exist.
    """
    items = selected_items(config, shipped)
    if not items:
        return
    design = _paper_design(shipped)
    options = config[KEY]
    _check_models(config, options)
    _check_datasets(options, design)
    is_lean = has_lean_design(config)
    designs = _designs_of_items(items, design, is_lean=is_lean)
    _check_seats(options, designs)
    if not designs:
        return
    experiments = config.setdefault("experiments", {})
    datasets = config.setdefault("datasets", {})
    trained = _baselines_of_datasets(items, config, design)
    for name, design_of_experiment in designs.items():
        entry = _adapted_experiment(design_of_experiment, options, is_lean=is_lean)
        dataset = entry["dataset"]
        entry["dataset"] = PREFIX + dataset.removeprefix(PREFIX)
        experiments[name] = entry
        chosen_datasets = options.get("datasets") or {}
        datasets[entry["dataset"]] = _adapted_dataset(
            dataset,
            design["datasets"][dataset],
            chosen_datasets.get(dataset, chosen_datasets.get(_loader_of(dataset, design))),
            trained.get(dataset, ()),
        )
    config["run"] = list(designs)


def has_lean_design(config: Fields) -> bool:
    """Return whether a configuration selects items in their lean design."""
    options = config.get(KEY)
    return isinstance(options, Mapping) and options.get("design") == LEAN


def _designs_of_items(
    items: list[PaperItem], design: Fields, *, is_lean: bool
) -> dict[str, JsonObject]:
    """Return the designs of the experiments that some items and their trained data need."""
    experiments = design["experiments"]
    if not is_lean:
        return {name: experiments[name] for name in _needed_experiments(items, design)}
    sharing: dict[str, list[PaperItem]] = {}
    for item in items:
        check_lean_design(item, design)
        for name in _needed_experiments([item], design, is_lean=True):
            sharing.setdefault(name, []).append(item)
    return lean_experiments(experiments, sharing)


def _paper_design(shipped: Path) -> JsonObject:
    return merge_over_defaults({}, paper_files(shipped))


def _check_models(config: Fields, options: Fields) -> None:
    models = options.get("models") or ()
    models = [models] if isinstance(models, str) else list(models)
    seats = options.get("seats") or {}
    for name in (*models, *seats.values()):
        if name not in config.get("models", {}) and name != "person":
            raise unknown_name("model", str(name), config.get("models", {}), "papers")


def own_sources(options: type[DatasetOptions]) -> list[str]:
    """Return the sources of a loader whose cases moot provides."""
    sources = get_args(options.model_fields["source"].annotation)
    return [source for source in OWN_SOURCES if source in sources]


def _loader_of(dataset: str, design: Fields) -> str:
    return str(design["datasets"][dataset].get("loader") or dataset)


def _check_datasets(options: Fields, design: Fields) -> None:
    """Check the names of `papers.datasets`, and the sources that they choose."""
    loaders = {name: _loader_of(name, design) for name in design["datasets"]}
    loaders |= {loader: loader for loader in loaders.values()}
    for name, choice in (options.get("datasets") or {}).items():
        place = "papers.datasets"
        if name not in loaders:
            raise unknown_name("data set of the papers", str(name), loaders, place)
        if isinstance(choice, Mapping):
            continue
        sources = get_args(LOADERS[loaders[name]].options.model_fields["source"].annotation)
        if choice not in sources:
            raise unknown_name("source", str(choice), sources, f"{place}.{name}")


def _check_seats(options: Fields, designs: Mapping[str, Fields]) -> None:
    """Check that each name of `papers.seats` is a seat of some experiment."""
    seats: set[str] = set()
    for design in designs.values():
        seats |= _seats_of(design)
    for name in options.get("seats") or {} if designs else ():
        if name not in seats:
            raise unknown_name("seat", str(name), seats, "papers.seats")


def _seats_of(design: Fields) -> set[str]:
    """Return the seats of an experiment, and `labeler` if its statements are labelled."""
    entry = PROTOCOLS[design["protocol"]]
    seats = set(entry.seats(entry.params.model_validate(design.get("params") or {})) or ())
    if design.get("labelers"):
        seats.add(LABELER)
    return seats


def needed_experiments(
    items: list[PaperItem], shipped: Path, *, is_lean: bool = False
) -> list[str]:
    """Return the experiments whose debates some items need, with the experiments that they depend
    on.
    """
    names = _debated_experiments(items, is_lean=is_lean)
    return list(_closure(names, _paper_design(shipped)))


def _debated_experiments(items: list[PaperItem], *, is_lean: bool) -> list[str]:
    """Return the experiments of the items that depend on debates."""
    names: list[str] = []
    for item in items:
        if item.kind not in KINDS_WITHOUT_DEBATES:
            unneeded = {name for name, entry in item.lean.items() if entry is None and is_lean}
            names += [name for name in item.experiments if name not in unneeded]
    return names


def is_of_design(experiment: str, names: Collection[str]) -> bool:
    """Return whether an experiment, or its grid, is among some names.

    Controls are named like the experiments of a grid and belong to no design.

    >>> [is_of_design(name, ["a"]) for name in ("a", "a-rounds=2", "a-arm=swap", "a-b-rounds=2")]
    [True, True, False, False]
    """
    if experiment in names:
        return True
    for name in names:
        key, equals, _ = experiment.removeprefix(f"{name}-").partition("=")
        if experiment.startswith(f"{name}-") and equals and "-" not in key and key != "arm":
            return True
    return False


def _needed_experiments(
    items: list[PaperItem], design: Fields, *, is_lean: bool = False
) -> Iterator[str]:
    """Yield the experiments that some items need.

    These include the experiments that they depend on, and one for each trained data set.

    Trained models belong to a study through an experiment on their data.
    """
    names = _debated_experiments(items, is_lean=is_lean)
    datasets = chain.from_iterable(item.datasets for item in items)
    for dataset in dict.fromkeys(datasets):
        on_dataset = [
            name for name, entry in design["experiments"].items() if entry["dataset"] == dataset
        ]
        if not set(on_dataset) & set(names):
            names += on_dataset[:1]
    yield from _closure(names, design)


def _closure(names: list[str], design: Fields) -> Iterator[str]:
    """Yield experiments, each after those whose debates its parameters name."""
    experiments = design["experiments"]
    listed_names: set[str] = set()
    remaining = list(dict.fromkeys(names))
    while remaining:
        name = remaining.pop(0)
        if name in listed_names:
            continue
        if name not in experiments:
            raise UserError(f"data/published/items.yaml: experiment '{name}' has no design.")
        listed_names.add(name)
        yield name
        params = experiments[name].get("params") or {}
        remaining += [value for value in params.values() if str(value) in experiments]


def _adapted_experiment(design: Fields, options: Fields, *, is_lean: bool) -> JsonObject:
    """Return a paper's experiment with the models and sizes of `papers`.

    A lean design may need fewer cases than `papers` allows.
    """
    entry: JsonObject = deepcopy(dict(design))
    models = options.get("models") or ()
    seats = dict(options.get("seats") or {})
    if models:
        entry["models"] = [models] if isinstance(models, str) else list(models)
        _clear_seats(entry)
        _replace_source_model(entry)
    _replace_seats(entry, seats)
    entry["allow_fewer_cases"] = True
    if options.get("cases"):
        is_smaller = is_lean and (entry.get("cases") or options["cases"]) < options["cases"]
        entry["cases"] = entry["cases"] if is_smaller else options["cases"]
    if options.get("repeats"):
        entry["repeats"] = options["repeats"]
    return entry


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


def _baselines_of_datasets(
    items: list[PaperItem], config: Fields, design: Fields
) -> dict[str, tuple[str, ...] | None]:
    """Return the trained models that the items need of each data set; None for the paper's.

    If the paper's design names none, the baselines of the default configuration are used.
    """
    baselines: dict[str, tuple[str, ...] | None] = {}
    for item in items:
        for name in item.datasets:
            if item.baselines and baselines.get(name, ()) is not None:
                baselines[name] = (*(baselines.get(name) or ()), *item.baselines)
            else:
                baselines[name] = None
    for name, of_items in baselines.items():
        default = (config.get("datasets") or {}).get(name) or {}
        has_design = "baselines" in design["datasets"][name]
        if of_items is None and not has_design and default.get("baselines"):
            baselines[name] = tuple(default["baselines"])
    return baselines


def _adapted_dataset(
    name: str, design: Fields, choice: Any, baselines: tuple[str, ...] | None
) -> JsonObject:
    """Return a data set of the paper, or its replacement, with the trained models that items need.

    `baselines` is None for the models of the paper's design.
    """
    entry: JsonObject = deepcopy(dict(design))
    of_design = entry.pop("baselines", [])
    entry.setdefault("loader", name)
    if choice in ("local", "download"):
        entry["source"] = choice
    elif isinstance(choice, str):
        entry = {"loader": entry["loader"], "source": choice}
    elif isinstance(choice, Mapping):
        entry |= choice
    names = of_design if baselines is None else baselines
    if names:
        entry["baselines"] = list(names)
    return entry
