"""All 38 items on their pages, with the replies of a model of a server.

Slow: only this test detects an item that stays empty although replies can fill it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from in_process import RESULTS, build_experiments, default_configuration
from moot.core.config_errors import Faults
from moot.core.shipped_files import default_files
from moot.jobs.papers import write_paper
from moot.jobs.statement_labels import LabelJob, label_statements
from moot.papers.items import PaperItem
from moot.papers.selection import add_paper_experiments
from moot.plan.papers_of_run import view_paper
from moot.plan.plan import Plan
from moot.report.published import read_findings
from paper_items import ITEMS, PAPERS
from project_copy import PROJECT

pytestmark = pytest.mark.slow

MODEL = "first"
DATASETS = {
    "nlsy97": {"source": "synthetic", "rows": 60},
    **dict.fromkeys(("caselaw", "cail18", "vast", "claim_stance", "claim_polarity"), "sample"),
}
FINDINGS = read_findings(PROJECT / "data/published/findings.csv")
NO_REPLY_FILLS = {
    "courtroom/table2": "trained models",
    "courtroom/table3": "trained models",
    "courtroom/table8": "quoted from other work",
    "decision_conference/figure2": "the published file",
}
"""An item to what fills it in place of replies."""


def configuration(url: str, folder: Path) -> dict[str, Any]:
    """Return the configuration of all items, with one model in all seats."""
    entry = {"endpoint": "openai", "base_url": url, "max_tokens": 60, "concurrency": 32}
    models = {MODEL: {**entry, "model": MODEL}}
    papers = {
        "items": "all",
        "models": [MODEL],
        "cases": 2,
        "repeats": 1,
        "datasets": DATASETS,
    }
    config = default_configuration(
        {"models": models, "papers": papers, "ledger": str(folder / "ledger"), "shards": 1}
    )
    add_paper_experiments(config, PROJECT)
    judging = config["experiments"].pop("paper-conference-judges")
    config["experiments"]["paper-conference-judges"] = judging  # after the debates it reads
    # An assistant learns from right and wrong opinions, which invented replies need not hold.
    config["run"] = [
        name for name in config["run"] if "-assistant-" not in name and "-training-" not in name
    ]
    for name in ("debaters", "rounds"):  # two points of a sweep are a line as well as five
        config["experiments"][f"paper-feedback-{name}"]["grid"] = {name: [1, 2]}
    example = config["experiments"]["paper-feedback-example"]
    example["params"] |= {"assistant": "", "statement_summaries": False}
    return config


def write_labels(plan: Plan, experiment: str) -> Iterator[Path]:
    """Label the statements of an experiment, and yield the files."""
    if not plan.experiments[experiment].config.labelers:
        return
    cases = RESULTS / f"cases/{plan.experiments[experiment].config.dataset}.parquet"
    shards = {(experiment, MODEL): [RESULTS / f"transcripts/{experiment}/{MODEL}/0.parquet"]}
    output = RESULTS / f"labels/{experiment}/{MODEL}.parquet"
    label_statements(plan, LabelJob(experiment, MODEL, cases, shards), output, output)
    yield output


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the four pages."""
    folder = tmp_path_factory.mktemp("items")
    with pytest.MonkeyPatch.context() as patch, FaultServer() as server:
        patch.chdir(folder)
        # A third of the time of the pages; test_paper_items.py draws each figure.
        patch.setattr("moot.papers.page.draw_chart", lambda *arguments: arguments[2].touch())
        config = configuration(server.url, folder)
        plan = Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())
        files = list(build_experiments(plan))
        for name in plan.experiments:
            files += [*write_labels(plan, name), RESULTS / f"scores/{name}.parquet"]
        for paper in PAPERS.values():
            write_paper(view_paper(plan, paper), files)
        yield folder / "results/papers"


def section_of(pages: Path, item: PaperItem) -> str:
    """Return the part of a page that shows an item."""
    page = (pages / f"{item.paper}.html").read_text(encoding="utf-8")
    start = page.index(f'<section id="{item.key}">')
    return page[start : page.index("</section>", start)]


def test_each_paper_has_a_page(pages: Path) -> None:
    assert {path.stem for path in pages.glob("*.html")} == PAPERS.keys()
    for name in PAPERS:
        text = (pages / f"{name}.html").read_text(encoding="utf-8").partition('<section id="text">')
        findings = FINDINGS.get(f"{name}/text", [])
        assert text[2].count("Found in the paper:") == len(findings), name


@pytest.mark.parametrize("item", ITEMS.values(), ids=lambda item: item.name)
def test_an_item_is_filled_or_says_why_it_is_not(pages: Path, item: PaperItem) -> None:
    section = section_of(pages, item)
    is_unfilled = item.name in NO_REPLY_FILLS
    assert ("has no values for this item" in section) == (is_unfilled and not item.is_quoted)
    assert section.count("Found in the paper:") == len(FINDINGS.get(item.name, []))
    if item.kind in ("table", "figure") and not is_unfilled:
        table = pd.read_csv(pages / item.paper / f"{item.key}.csv")
        own = table[table["source"] != "published"]
        assert MODEL in own.to_csv(), own
        assert "paper-feedback-example" not in own.to_csv(), "one case is no estimate"
    elif item.kind == "diagram":
        assert "<svg" in section or "As configured in" in section
    elif item.kind == "example":
        assert "first, case" in section
        assert "The paper uses other data." in section
