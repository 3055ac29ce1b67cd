"""Test that the numbers in README and docs equal a build of the shipped debates."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from in_process import RESULTS, build_experiments, default_configuration
from moot.commands.documented import Numbers, figure_keys, find_numbers, read_entries
from moot.core.errors import UserError
from moot.core.experiment_config import COMPARISON, RECORDED
from moot.jobs.job_results import load_study_results
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.report.tables import write_table

PROJECT = Path(__file__).resolve().parents[2]
PUBLISHED = PROJECT / "data" / "published" / "published_results.csv"
MEASURED = PROJECT / "data" / "measured" / "figures.csv"
CLAIMS = PROJECT / "data" / "published" / "claims.csv"
ENTRIES = read_entries(PROJECT)
PAGES = ("README.md", "scripts/moot/studies/recorded/README.md")


class Inputs(list[Path]):
    """The inputs of a job that builds tables, with the names of the rule."""

    scores: Sequence[Path]
    baselines: Sequence[Path]
    published: Path
    claims: Path


@pytest.mark.slow
def test_the_numbers_of_the_recorded_debates_equal_those_of_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow: only this test detects a number of a page that a build no longer gives."""
    """Where it fails: `snakemake recorded comparison`, then `make docs`."""
    monkeypatch.chdir(tmp_path)
    raw = default_configuration({"ledger": "ledger", "shards": 1})
    run = [
        name
        for name, entry in raw["experiments"].items()
        if entry.get("source") == RECORDED and "needs_data" not in entry
    ]
    plan = Plan.from_yaml({**raw, "run": run}, PROJECT)
    files = list(build_experiments(plan))
    for study in ("recorded", COMPARISON):
        inputs = Inputs(files)
        inputs.scores = [RESULTS / f"scores/{name}.parquet" for name in plan.experiments]
        inputs.baselines, inputs.published, inputs.claims = [], PUBLISHED, CLAIMS
        inputs.findings = PUBLISHED.with_name("findings.csv")
        job: Any = SimpleNamespace(input=inputs)
        results = load_study_results(plan, job, study)
        for name in (
            "methods",
            "groups",
            "nyu_judges",
            "nyu_feedback",
            "paired_tests",
            "contrasts",
            "questions",
        ):
            if (entry := f"{study}/{name}") in TABLES:
                write_table(TABLES[entry], results, {"csv": Path(f"tables/{entry}.csv")})
    numbers = Numbers(Path("tables"), PUBLISHED, MEASURED)
    for page in PAGES:
        text = (PROJECT / page).read_text("utf-8")
        differing = [
            f"{page}: {line} is now {new_line}"
            for line, new_line in zip(
                text.splitlines(), numbers.fill(text, page, ENTRIES[page]).splitlines(), strict=True
            )
            if line != new_line
        ]
        assert differing == []
    assert not numbers.missing


def test_measured_figures_on_the_pages_equal_the_file(
    tmp_path: Path,
) -> None:
    """If this test fails, run `make docs`, or `benchmarks/figures.py` for a new figure."""
    numbers, pages_by_key = Numbers(tmp_path, PUBLISHED, MEASURED), {}
    for page, entries in ENTRIES.items():
        text = (PROJECT / page).read_text("utf-8")
        assert numbers.fill(text, page, entries) == text
        for key in figure_keys(entries):
            pages_by_key[key] = f"{pages_by_key[key]} {page}" if key in pages_by_key else page
    figures = pd.read_csv(MEASURED)
    assert dict(zip(figures["key"], figures["page"], strict=True)) == pages_by_key
    assert figures.drop(columns=["low", "high"]).notna().all(axis=None), (
        "each figure has its method and date"
    )


VERSIONS = ["2.13", "3.11"]
CONVENTIONS = {
    "README.md": VERSIONS,
    "docs/baselines.md": VERSIONS,
    "scripts/moot/analyses/arms/README.md": ["0.71"],
    "docs/drift.md": ["0.05"],
    "docs/people.md": [],
    "docs/scale.md": ["0.15", "0.60"],
    **{
        f"scripts/moot/studies/{study}/README.md": []
        for study in ("conference", "courtroom", "stance")
    },
    "scripts/moot/studies/recorded/README.md": [
        "0.45",
        "0.17",
        "0.001",
        "0.38",
    ],  # over all jurors, including those without recorded debates
    "scripts/moot/studies/appellate/README.md": ["123.00"],
    "scripts/moot/studies/feedback/README.md": ["0.6323", "0.6297"],
}
"""Pages of which every figure is marked, and the figures that were not measured: versions, levels,
prices, a sum.
"""


def figures_without_place(page: str, name: str) -> Iterator[str]:
    """Yield figures with two or more decimals, outside of code, that no entry names."""
    text = ""
    position = 0
    for number in find_numbers(page, ENTRIES.get(name, ()), name):
        text += page[position : number.start]
        position = number.end
    text = re.sub(r"^```.*?^```", "", text + page[position:], flags=re.DOTALL | re.MULTILINE)
    for line in text.splitlines():
        for figure in re.finditer(r"[−+-]?\d*\.\d{2,}", line):
            yield f"{figure[0]} in '{line.strip()[:80]}'"


@pytest.mark.parametrize("page", CONVENTIONS)
def test_every_figure_names_its_place(page: str) -> None:
    figures = figures_without_place((PROJECT / page).read_text("utf-8"), page)
    assert [figure for figure in figures if figure.split()[0] not in CONVENTIONS[page]] == []


def entry(preceding_words: str, place: str) -> dict[str, str]:
    return {"after": preceding_words, "place": place}


def test_numbers_keep_their_format_and_decimals(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "t.csv").write_text('a,b,"low, x",high\nx: y,-0.12345,0.1,0.25\nz,,0,0\n')
    numbers = Numbers(tmp_path, PUBLISHED, tmp_path / "measured.csv")
    entries = [
        entry("|", "s/t; a=x: y; b"),
        entry("|", "s/t; a=x: y; b"),
        entry(";", "s/t; a=x: y; low, x to high"),
        entry("is (", "s/t; a=x: y; high in percent"),
        entry(",", "s/other; a=1; b"),
    ]
    page = "| {} | {}; {}, which\nis ({} %), {}."
    old = page.format("0.5", "+0.50", "[1.0, 2.0]", "7", "0.99")
    new = page.format("−0.1", "−0.12", "[0.1, 0.2]", "25", "0.99")
    assert numbers.fill(old, "page", entries) == new
    assert numbers.missing == {"s/other"}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("s/t; a=q; b", "0 rows"),
        ("s/t; c=q; d", "no column c, d"),
        ("s/t; a=z; b", "1 rows, or no value"),
    ],
)
def test_a_place_without_a_value_is_reported(tmp_path: Path, place: str, message: str) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\nx,1\nz,\n")
    numbers = Numbers(tmp_path, PUBLISHED, tmp_path / "measured.csv")
    with pytest.raises(UserError, match=message):
        numbers.fill("It is 0.1.", "page", [entry("It is", place)])


def test_an_entry_whose_text_has_changed_is_reported(tmp_path: Path) -> None:
    numbers = Numbers(tmp_path, PUBLISHED, tmp_path / "measured.csv")
    message = "page: found no number after 'It was'.*Correct `after`"
    with pytest.raises(UserError, match=message):
        numbers.fill("It is 0.1.", "page", [entry("It was", "s/t; a=x; b")])


def test_a_key_without_a_table_names_a_measured_figure_or_its_interval(tmp_path: Path) -> None:
    (tmp_path / "measured.csv").write_text(
        'key,value,low,high\nd/m/test auc,0.71,0.6,0.812\n"d/rows, in all",12345,,\n'
    )
    numbers = Numbers(tmp_path, PUBLISHED, tmp_path / "measured.csv")
    entries = [
        entry("|", "d/m/test auc"),
        entry("", "d/m/test auc"),
        entry(",", "d/m/test auc in percent"),
        entry("% of", "d/rows, in all"),
    ]
    page = "| {} {}, {} % of {} |"
    old = page.format("0.50", "[0.11, 0.22]", "7", "1,000")
    new = page.format("0.71", "[0.60, 0.81]", "71", "12,345")
    assert numbers.fill(old, "page", entries) == new
    assert figure_keys(entries) == {"d/m/test auc", "d/rows, in all"}
    with pytest.raises(UserError, match="0 rows"):
        numbers.fill("| 1", "page", [entry("|", "d/none")])
