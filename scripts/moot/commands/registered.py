"""All names that a configuration may use, with their parameters, also names of extensions."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from moot.core.config import Config
from moot.core.config_errors import entry_model_at
from moot.core.registry import Registry
from moot.core.rubric import RUBRICS
from moot.core.sections import SECTIONS, sections_of
from moot.datasets import LOADERS, DatasetOptions
from moot.llm.endpoints import ENDPOINTS
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.report import FIGURES, TABLES
from moot.report.escaping import markdown_table
from moot.scores import SCORERS
from moot.scores.case_metrics import CASE_METRICS
from moot.training.baselines import BASELINES


def describe_registered() -> str:
    """Return all keys and everything that is registered, as Markdown."""
    parts = ["## Keys", "The keys of a data set are the options of its loader: see Data sets."]
    keys: list[tuple[str, type[BaseModel]]] = [("Top level", Config), *_parts_of(Config)]
    for title, model in keys:
        parts += [f"### {title}", keys_table(model)]
    parts += ["## Protocols", "Every protocol takes:", keys_table(ProtocolParams)]
    for name in PROTOCOLS:
        entry = PROTOCOLS[name]
        parts += [
            f"### {name}",
            f"{_summary(entry.run)} Study: {entry.study}.",
            keys_table(entry.params, ProtocolParams),
        ]
    parts += ["## Data sets", "Every data set takes:", keys_table(DatasetOptions)]
    for section in sections_of("dataset"):
        parts += [f"### {section.key} of a data set", keys_table(section.model)]
    for name in LOADERS:
        loader = LOADERS[name]
        parts += [
            f"### {name}",
            f"{_summary(inspect.getmodule(loader.load))} {_describe_sources(loader.options)}",
            keys_table(loader.options, DatasetOptions),
            *_tables_of_parts(name, loader.options),
        ]
    baselines = [
        (f"`{name}`", BASELINES[name].title, ", ".join(BASELINES[name].families))
        for name in BASELINES
    ]
    parts += ["## Baselines", markdown_table(("name", "title", "families"), baselines)]
    parts += ["## Scores", _list_entries(SCORERS, _documentation)]
    parts += ["## Metrics of contrasts", _list_entries(CASE_METRICS, _summary)]
    parts += ["## Endpoints", _list_entries(ENDPOINTS, _summary)]
    by_rubric = (
        "Every rubric has the labelers `rules` (its own rules), `judge` (the experiment's model),"
        " `judge:MODEL` and `human`."
    )
    parts += ["## Labelers", by_rubric]
    parts += ["## Rubrics", _list_entries(RUBRICS, lambda rubric: ", ".join(rubric.labels))]
    parts += ["## Tables", _list_entries(TABLES, lambda entry: entry.caption)]
    parts += ["## Figures", _list_entries(FIGURES, lambda entry: entry.caption)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _tables_of_parts(loader: str, options: type[BaseModel]) -> Iterator[str]:
    """Yield the keys of the parts of a loader's options."""
    for key in options.model_fields:
        part = entry_model_at(options, key)
        if part is None or key in DatasetOptions.model_fields:
            continue
        yield f"#### {key} of {loader}"
        yield keys_table(part)


def _parts_of(model: type[BaseModel], of: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the parts of a configuration, each followed by its own parts.

    They are named by their place, such as "models" and "price of a model".
    """
    for key in model.model_fields:
        if part := entry_model_at(model, key):
            yield f"{key}{of}", part
            yield from _parts_of(
                part, f" of {'an' if key[0] in 'aeiou' else 'a'} {key.removesuffix('s')}"
            )


def _list_entries(registry: Registry[Any], describe: Callable[[Any], str]) -> str:
    return markdown_table(
        ("name", "description"), [(f"`{name}`", describe(registry[name])) for name in registry]
    )


def _describe_sources(options: type[BaseModel]) -> str:
    field = options.model_fields["source"]
    sources = " or ".join(f"`{source}`" for source in _choices(field.annotation))
    return f"Source: {sources}."


def _summary(thing: object) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def _documentation(thing: object) -> str:
    """Return a docstring on one line."""
    return " ".join((inspect.getdoc(thing) or "").split())


def keys_table(model: type[BaseModel], common: type[BaseModel] | None = None) -> str:
    """Return the keys of a model that are not in `common`, with defaults, as a table; or ""."""
    rows = []
    for name, field in _core_keys_first(model):
        if common and name in common.model_fields:
            continue
        default = _describe_default(field)
        choices = [f"`{choice}`" for choice in _choices(field.annotation) if choice != ""]
        meaning = (field.description or "") + (
            f" ({', '.join(choices)})" if len(choices) > 1 else ""
        )
        rows.append((f"`{name}`", "required" if field.is_required() else default, meaning))
    return markdown_table(("key", "default", "meaning"), rows) if rows else ""


def _describe_default(field: FieldInfo) -> str:
    """Return the default of a key, in words where it is empty or made of other keys."""
    factory, value = field.default_factory, field.default
    if inspect.isclass(factory) and issubclass(factory, BaseModel):
        return "its keys' defaults"
    is_empty = value is None or (isinstance(value, Iterable) and not value)
    if is_empty or factory:
        return "none"
    return f"`{value if isinstance(value, str) else json.dumps(value, default=str)}`"


def _core_keys_first(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """Return the fields of a model by name, with keys of analyses last."""
    registered_keys = {SECTIONS[name].key for name in SECTIONS}
    return sorted(model.model_fields.items(), key=lambda field: field[0] in registered_keys)


def _choices(annotation: object) -> list[object]:
    """Return the values that a type names: of Literal, also within unions and tuples."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return list(arguments)
    return list(chain.from_iterable(map(_choices, arguments)))
