"""Everything that a configuration may name, with its parameters: moot's own, and what extensions register."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from moot.core.registry import Registry
from moot.core.rubric import RUBRICS, Rubric
from moot.datasets import LOADERS, DatasetOptions
from moot.labels import LABELERS
from moot.llm.endpoints import ENDPOINTS
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.report import FIGURES, TABLES
from moot.report.exports import EXPORTERS
from moot.report.markdown import markdown_table
from moot.scores import SCORERS
from moot.scores.case_metrics import CASE_METRICS
from moot.training.baselines import BASELINES


def registered() -> str:
    """Every protocol, data set, baseline, score, table, figure, labeler, endpoint and export format, as Markdown."""
    parts = ["## Protocols", "Every protocol takes:", keys_of(ProtocolParams)]
    for name in PROTOCOLS:
        entry = PROTOCOLS[name]
        parts += [
            f"### {name}",
            f"{_summary(entry.run)} Study: {entry.study}.",
            keys_of(entry.params, ProtocolParams),
        ]
    parts += ["## Data sets", "Every data set takes:", keys_of(DatasetOptions)]
    for name in LOADERS:
        loader = LOADERS[name]
        parts += [
            f"### {name}",
            _summary(inspect.getmodule(loader.load)),
            keys_of(loader.options, DatasetOptions),
        ]
    baselines = [(f"`{name}`", BASELINES[name].title, ", ".join(BASELINES[name].families)) for name in BASELINES]
    parts += ["## Baselines", markdown_table(("name", "title", "families"), baselines)]
    listed = (
        ("Scores", SCORERS),
        ("Metrics of contrasts", CASE_METRICS),
        ("Endpoints", ENDPOINTS),
    )
    for title, found in listed:
        parts += [f"## {title}", _listed(found, _summary)]
    by_rubric = "Those of every rubric: `rules` (its own), `judge` (the experiment's model), `judge:MODEL`, `human`."
    parts += ["## Labelers", by_rubric, _listed(LABELERS, _summary)]
    parts += ["## Rubrics", _listed(RUBRICS, lambda rubric: ", ".join(rubric.labels)), keys_of(Rubric)]
    parts += ["## Tables", _listed(TABLES, lambda entry: entry.caption)]
    parts += ["## Figures", _listed(FIGURES, lambda entry: entry.caption)]
    parts += ["## Export formats", _listed(EXPORTERS, lambda entry: _summary(inspect.getmodule(entry.write)))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _listed(found: Registry[Any], describe: Callable[[Any], str]) -> str:
    return markdown_table(("name", "what it is"), [(f"`{name}`", describe(found[name])) for name in found])


def _summary(thing: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def keys_of(model: type[BaseModel], common: type[BaseModel] | None = None) -> str:
    """The keys of a model that `common` does not have already, each with its default, as a table; "" for none."""
    rows = []
    for name, field in model.model_fields.items():
        if common and name in common.model_fields:
            continue
        is_empty = field.default is None or (isinstance(field.default, Iterable) and not field.default)
        default = "none" if is_empty or field.default_factory else f"`{field.default}`"
        rows.append((f"`{name}`", "required" if field.is_required() else default, field.description or ""))
    return markdown_table(("key", "default", "meaning"), rows) if rows else ""
