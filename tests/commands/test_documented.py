"""The numbers of README and docs: written from a build, and equal to those of a build of the debates that ship."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from moot.commands.documented import Numbers, unmarked
from moot.core.artifacts import describe, read_cases
from moot.core.config import COMPARISON, RECORDED
from moot.core.errors import UserError
from moot.datasets.records import write_records
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.jobs.results import study_results, write_scores
from moot.plan.plan import Plan
from moot.report import TABLES
from moot.report.tables import write_table

PROJECT = Path(__file__).resolve().parents[2]
PUBLISHED = PROJECT / "data" / "published" / "published_results.csv"
CLAIMS = PROJECT / "data" / "published" / "claims.csv"
PAGES = ("README.md", "scripts/moot/studies/recorded/README.md", "docs/planning.md")
RESULTS = Path("results")


class Inputs(list[Path]):
    """The inputs of a job that builds tables, by the names that its rule gives them."""

    scores: Sequence[Path]
    baselines: Sequence[Path]
    published: Path
    claims: Path


def recorded_plan(folder: Path) -> Plan:
    """The default configuration's recorded experiments."""
    raw: dict[str, Any] = {}
    for file in ("config.yaml", "models.yaml", *(f"studies/{path.name}" for path in PROJECT.glob("config/studies/*"))):
        update_config(raw, yaml.safe_load((PROJECT / "config" / file).read_text("utf-8")))
    run = [name for name, entry in raw["experiments"].items() if entry.get("source") == RECORDED]
    return Plan.from_yaml({**raw, "run": run, "ledger": str(folder / "ledger"), "shards": 1}, PROJECT)


def built(plan: Plan) -> Iterator[Path]:
    """Build the experiments down to their scores; the files that tables read."""
    for dataset in {found.config.dataset for found in plan.experiments.values()}:
        cases, features, cleaning = (
            RESULTS / f"{name}/{dataset}.parquet" for name in ("cases", "features", "cleaning")
        )
        options, context = plan.dataset_options(dataset), plan.load_context(dataset)
        load_dataset(options, context, cases, features, cleaning.with_suffix(".csv"))
        write_records(options, context, *read_cases(cases), RESULTS / f"records/{dataset}.parquet", describe())
    for name, found in plan.experiments.items():
        cases = RESULTS / f"cases/{found.config.dataset}.parquet"
        sources = [cases]
        for model in found.config.models:
            shard = RESULTS / f"transcripts/{name}/{model}/0.parquet"
            needed = {key: RESULTS / path for key, path in found.needed_by(model).items()}
            write_transcripts(plan, Job(name, model, *read_cases(cases), artifacts=needed), [cases], shard)
            outputs = [RESULTS / f"{kind}/{name}/{model}.parquet" for kind in ("predictions", "calls")]
            write_predictions(plan, name, cases, [shard], *outputs)
            sources += [shard, *outputs]
        write_scores(RESULTS / f"scores/{name}.parquet", plan, name, sources)
        yield from sources


def test_every_number_of_the_recorded_debates_is_that_of_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it fails: `snakemake recorded comparison`, then `make docs`."""
    monkeypatch.chdir(tmp_path)
    plan = recorded_plan(tmp_path)
    files = list(built(plan))
    for study in ("recorded", COMPARISON):
        inputs = Inputs(files)
        inputs.scores = [RESULTS / f"scores/{name}.parquet" for name in plan.experiments]
        inputs.baselines, inputs.published, inputs.claims = [], PUBLISHED, CLAIMS
        job: Any = SimpleNamespace(params=SimpleNamespace(job={"study": study}), input=inputs)
        results = study_results(plan, job)
        for name in ("methods", "groups", "nyu_judges", "nyu_feedback", "paired_tests", "contrasts", "questions"):
            if (entry := f"{study}/{name}") in TABLES:
                write_table(TABLES[entry], results, {"csv": Path(f"tables/{entry}.csv")})
    numbers = Numbers(Path("tables"), PUBLISHED)
    for page in PAGES:
        text = (PROJECT / page).read_text("utf-8")
        differing = [
            f"{page}: {was} is now {now}"
            for was, now in zip(text.splitlines(), numbers.fill(text, page).splitlines(), strict=True)
            if was != now
        ]
        assert differing == []
    assert not numbers.missing


@pytest.mark.parametrize("page", ["README.md", "scripts/moot/studies/recorded/README.md"])
def test_every_figure_names_its_place_in_a_build(page: str) -> None:
    text = (PROJECT / page).read_text("utf-8").replace("Python 3.11", "Python")
    assert list(unmarked(text)) == []


def test_numbers_are_written_as_they_were_with_their_decimals(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "t.csv").write_text('a,b,"low, x",high\nx: y,-0.12345,0.1,0.25\nz,,0,0\n')
    numbers = Numbers(tmp_path, PUBLISHED)
    b, ends, share = (
        "<!-- s/t; a=x: y; b -->",
        "<!-- s/t; a=x: y;\nlow, x to high -->",
        "<!-- s/t; a=x: y; high in percent -->",
    )
    page = "| {}" + b + " | {}" + b + "; {}" + ends + ", ({}" + share + " %), {}<!-- s/other; a=1; b -->"
    assert numbers.fill(page.format("0.5", "+0.50", "[1.0, 2.0]", "7", "0.99"), "page") == page.format(
        "−0.1", "−0.12", "[0.1, 0.2]", "25", "0.99"
    )
    assert numbers.missing == {"s/other"}
    assert list(unmarked(page.format("0.55", "0.55", "[0.55, 1]", "7", "0.55") + " and 0.44.\n```\n0.55\n```\n")) == [
        "0.44 in '|  | ; , ( %),  and 0.44.'"
    ]
    for place, message in (
        ("s/t; a=q; b", "0 rows"),
        ("s/t; c=q; d", "no column c, d"),
        ("s/t; a=z; b", "1 rows, or no value"),
    ):
        with pytest.raises(UserError, match=message):
            numbers.fill(f"0.1<!-- {place} -->", "page")
