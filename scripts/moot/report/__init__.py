"""What readers see: tables and figures (registered here), published values next to ours,
transcripts, the reader.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from moot.core.experiment_config import COMPARISON
from moot.core.registry import Registry
from moot.protocols import PROTOCOLS
from moot.report.content import Content, Figure, ReportItem, StudyResults, Table, TableContent
from moot.report.needs import Need, has_debates

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


EVERY_STUDY, EVERY_STUDY_AND_COMPARISON = "every study", "every study and the comparison"
"""In place of a study's name: every study that a protocol names; these and the comparison of them
all.
"""

TABLES: Registry[Table] = Registry("table", "tables")
FIGURES: Registry[Figure] = Registry("figure", "figures")

TableBuilder = Callable[[StudyResults], TableContent]
FigureBuilder = Callable[[StudyResults], "MatplotlibFigure"]


def _studies(which: str, unless: str) -> list[str]:
    known = {PROTOCOLS[name].study for name in PROTOCOLS}
    known = known | {COMPARISON} if which == EVERY_STUDY_AND_COMPARISON else known - {COMPARISON}
    return sorted(study for study in known if f"{study}/{unless}" not in TABLES)


def _registered(
    registry: Registry[ReportItem[Content]], shown: ReportItem[Content], unless: str = ""
) -> None:
    """Register what is shown, under EVERY and EVERYWHERE for each study."""
    if shown.study in (EVERY_STUDY, EVERY_STUDY_AND_COMPARISON):
        registry.register_defaults(
            lambda: {
                f"{one}/{shown.name}": replace(shown, study=one)
                for one in _studies(shown.study, unless)
            }
        )
    else:
        registry.register(f"{shown.study}/{shown.name}")(shown)


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
    superseded_by: str = "",
) -> Callable[[TableBuilder], TableBuilder]:
    """Register a table, written to `results/tables/{study}/{name}.{csv,xlsx,tex,html}`.

    The caption is the first paragraph of the function's docstring, unless one is given. A run for
    which none of its `needs` holds leaves it out; it is then built on request. It shows debates of
    its `protocols` about data sets of its `loaders`, or of any where none are given. Under EVERY and EVERYWHERE each study
    gets it, but those with a table of this name or of the name `superseded_by`.
    """

    def add(build: TableBuilder) -> TableBuilder:
        said = caption or _first_paragraph(build)
        _registered(
            TABLES, Table(study, name, title, said, build, needs, protocols, loaders), superseded_by
        )
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
    """Register a figure, written to `results/figures/{study}/{name}.{png,svg}`; other arguments as
    for a table.

        A module that draws imports matplotlib inside its functions, since registries are read at
        every start of Snakemake.
    """

    def add(build: FigureBuilder) -> FigureBuilder:
        said = caption or _first_paragraph(build)
        _registered(
            FIGURES, Figure(study, name, title, said, build, needs, protocols, loaders, category)
        )
        return build

    return add
