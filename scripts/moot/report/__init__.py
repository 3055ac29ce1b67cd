"""What readers see: tables and figures (registered here), published values beside ours, transcripts, the reader."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from moot.core.registry import Registry
from moot.report.content import DEBATES, Figure, StudyResults, Table, TableContent

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


TABLES: Registry[Table] = Registry("table", "tables")


FIGURES: Registry[Figure] = Registry("figure", "figures")


TableBuilder = Callable[[StudyResults], TableContent]


FigureBuilder = Callable[[StudyResults], "MatplotlibFigure"]


def table(
    study: str,
    name: str,
    title: str,
    caption: str,
    rests_on: tuple[str, ...] = (DEBATES,),
    protocols: tuple[str, ...] = (),
) -> Callable[[TableBuilder], TableBuilder]:
    """Register a table, written to `results/tables/{study}/{name}.{csv,xlsx,tex,html}`.

    A run that has nothing of what it `rests_on`, or no debates of its `protocols`, leaves it out; it is then built on
    request.
    """

    def add(build: TableBuilder) -> TableBuilder:
        TABLES.register(f"{study}/{name}")(Table(study, name, title, caption, build, rests_on, protocols))
        return build

    return add


def figure(
    study: str,
    name: str,
    title: str,
    caption: str,
    category: str,
    rests_on: tuple[str, ...] = (DEBATES,),
    protocols: tuple[str, ...] = (),
) -> Callable[[FigureBuilder], FigureBuilder]:
    """Register a figure, written to `results/figures/{study}/{name}.{png,svg}`; the last two arguments as for a table.

    A module that draws imports matplotlib inside its functions, since registries are read at every start of Snakemake.
    """

    def add(build: FigureBuilder) -> FigureBuilder:
        FIGURES.register(f"{study}/{name}")(Figure(study, name, title, caption, category, build, rests_on, protocols))
        return build

    return add
