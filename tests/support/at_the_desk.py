"""An annotation sheet, and panels that ask a person; run as a program, it holds the panels."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pandas as pd
from aiohttp.test_utils import TestClient, TestServer

from courtroom_runs import configuration, hold
from moot.core.artifacts import describe, write_cases
from moot.core.cases import Case
from moot.core.rubric import RUBRICS
from moot.desk.pages import Desk, make_app
from moot.desk.runner import Runner
from moot.labels.sheets import SHEET_COLUMNS, write_sheets
from moot.labels.statements import sheet_id, statement_id
from moot.studies.appellate.data_opinions import TASK

SHEET = sheet_id("panel", "one")
ROUNDS = 3


def words(number: int) -> str:
    """Return a statement that is hostile to spreadsheets and browsers."""
    return f"=Statement {number} <b onclick=alert(1)>bold</b>"


def item(number: int) -> str:
    """Return the blind id of a statement of the sheet."""
    return statement_id("panel", "one", f"case-{number}#0", 2, words(number))


def write_sheet(folder: Path, statements: int) -> Path:
    """Write an annotation sheet with the given number of statements."""
    rows = [
        (item(number), f"Facts {number}.", words(number), "", "", "")
        for number in range(statements)
    ]
    sheet = pd.DataFrame(rows, columns=list(SHEET_COLUMNS))
    return write_sheets(sheet, folder / "data" / "annotation_sheets", SHEET, RUBRICS["appellate"])[
        0
    ]


def hold_panels(url: str, cases: int = 2) -> pd.DataFrame:
    """Hold panels with a person through real calls and a real ledger, in the working directory."""
    folder = Path.cwd()
    path = folder / "results" / "cases" / "opinions.parquet"
    panels = [
        Case(
            f"case-{number}",
            "opinions",
            "test",
            f"<i>Facts</i> of {number}.",
            "affirm",
            TASK.labels,
        )
        for number in range(cases)
    ]
    write_cases(path, panels, TASK, describe())
    experiment = {
        "protocol": "human_panel",
        "dataset": "opinions",
        "params": {"seats": {"human": "person"}, "rounds": ROUNDS},
    }
    config = configuration(url, folder, experiment=experiment)
    return hold(
        {**config, "datasets": {"opinions": {"source": "sample"}}},
        path,
        folder / "results" / "0.parquet",
    )


def desk_client(folder: Path, runner: Runner | None = None) -> TestClient:
    """Return a client of a desk's pages; the desk is open as long as the client."""
    desk = Desk(folder, runner or Runner([], folder), token="t")
    return TestClient(TestServer(make_app(desk), host="127.0.0.1"))


def visit(folder: Path, visitor: Callable[[TestClient], Awaitable[None]]) -> None:
    """Open a desk, run the visitor, and close the desk.

    Debates run between visits in their own event loops.
    """

    async def use() -> None:
        async with desk_client(folder) as client:
            await visitor(client)

    asyncio.run(use())


if __name__ == "__main__":
    hold_panels(sys.argv[1])
