"""Output for readers: tables, figures, published values, transcripts and the reader.

Tables and figures are registered here.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from moot.core.experiment_config import COMPARISON
from moot.core.registry import Registry
from moot.protocols import PROTOCOLS
from moot.report.content import Content, Figure, Need, ReportItem, Table, TableContent, has_debates
from moot.report.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


EVERY_STUDY, EVERY_STUDY_AND_COMPARISON = "every study", "every study and the comparison"
"""Used instead of a study's name: all studies of a protocol; these and the comparison."""

TABLES: Registry[Table] = Registry("table", "tables")
FIGURES: Registry[Figure] = Registry("figure", "figures")

TableBuilder = Callable[[StudyResults], TableContent]
FigureBuilder = Callable[[StudyResults], "MatplotlibFigure"]


def _studies(scope: str) -> list[str]:
    studies = {PROTOCOLS[name].study for name in PROTOCOLS}
    studies = (
        studies | {COMPARISON} if scope == EVERY_STUDY_AND_COMPARISON else studies - {COMPARISON}
    )
    return sorted(studies)


def _registered(registry: Registry[ReportItem[Content]], item: ReportItem[Content]) -> None:
    """Register an output; EVERY and EVERYWHERE register it for each study."""
    if item.study in (EVERY_STUDY, EVERY_STUDY_AND_COMPARISON):
        registry.register_defaults(
            lambda: {
                f"{study}/{item.name}": replace(item, study=study) for study in _studies(item.study)
            }
        )
    else:
        registry.register(f"{item.study}/{item.name}")(item)


def _first_paragraph(build: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(build) or "").split("\n\n")[0].split())


def table(
    study: str,
    name: str,
    title: str,
    caption: str = "",
    needs: tuple[Need, ...] = (has_debates,),
    protocols: tuple[str, ...] = (),
    loaders: tuple[str, ...] = (),
) -> Callable[[TableBuilder], TableBuilder]:
    """Register a table, written to `results/tables/{study}/{name}.{csv,tex,html}`.

    Args:
        study: The table's study, or `EVERY_STUDY` or `EVERY_STUDY_AND_COMPARISON`.
        name, title: The table's file name and title.
        caption: The caption; by default the first paragraph of the function's docstring.
        needs: Predicates; a run builds the table if one of them holds. Otherwise it is built only
            on request.
        protocols, loaders: The protocols and data loaders whose debates it shows; () for all.
    """

    def add(build: TableBuilder) -> TableBuilder:
        text = caption or _first_paragraph(build)
        _registered(TABLES, Table(study, name, title, text, build, needs, protocols, loaders))
        return build

    return add


def figure(
    study: str,
    name: str,
    title: str,
    caption: str = "",
    category: str = "Other",
    needs: tuple[Need, ...] = (has_debates,),
    protocols: tuple[str, ...] = (),
    loaders: tuple[str, ...] = (),
) -> Callable[[FigureBuilder], FigureBuilder]:
    """Register a figure, written to `results/figures/{study}/{name}.{png,svg}`.

    The category groups figures in reports; the other arguments are as for a table. Modules import
    matplotlib inside their functions, since every start of Snakemake reads the registries.
    """

    def add(build: FigureBuilder) -> FigureBuilder:
        text = caption or _first_paragraph(build)
        _registered(
            FIGURES, Figure(study, name, title, text, build, needs, protocols, loaders, category)
        )
        return build

    return add
