"""What `snakemake papers` would run, with the key `papers` and without it."""

import re
from pathlib import Path

import pytest

from project_copy import Workflow, unedited_copy

ALL_ITEMS = (
    "papers={items: all, models: [smollm2-135m], cases: 1, repeats: 1,"
    " datasets: {nlsy97: synthetic, caselaw: sample, cail18: sample, vast: sample,"
    " claim_stance: sample, claim_polarity: sample}}"
)
DISPLACEABLE = re.compile(
    r"results/(papers/|downloads/|[a-z]+/paper-[^/]+([/.]|$)|baselines/paper-|cases/paper-)"
)
"""What a run of items may write: pages, and files of experiments and data sets named `paper-`."""


@pytest.fixture(scope="module")
def workflow(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    return Workflow(tmp_path_factory.mktemp("papers"), "", project=unedited_copy())


def dry_run(workflow: Workflow, *arguments: str) -> str:
    options = ("--workflow-profile", "none", "--cores", "2", "--dry-run")
    process = workflow.snakemake("papers", *options, *arguments)
    assert process.returncode == 0, process.stdout[-3000:]
    return process.stdout


def test_without_the_key_no_experiment_starts(workflow: Workflow) -> None:
    text = dry_run(workflow)
    rules = re.findall(r"^(?:local)?rule (\w+):", text, flags=re.MULTILINE)
    assert rules == ["papers"]
    assert " output: " not in text


def test_items_add_to_the_results_and_displace_none(workflow: Workflow) -> None:
    text = dry_run(workflow, "--config", ALL_ITEMS)
    outputs: list[str] = []
    for line in re.findall(r"^ +output: (.*)$", text, flags=re.MULTILINE):
        outputs += line.split(", ")
    assert len(outputs) > 100
    assert [path for path in outputs if not DISPLACEABLE.match(path)] == []
    debates = {Path(path).parts[2] for path in outputs if path.startswith("results/transcripts/")}
    assert "paper-courtroom" in debates and "paper-conference-judges" in debates
    assert not any("arm=" in name for name in debates)


def test_a_run_fills_what_it_can_names_the_rest_and_ends_with_an_error(workflow: Workflow) -> None:
    items = "decision_conference/figure1, decision_conference/table3"
    selection = f"papers={{items: [{items}], datasets: {{claim_stance: sample}}}}"
    options = ("--workflow-profile", "none", "--cores", "2", "--config", selection)
    process = workflow.snakemake("papers", *options, OPENAI_API_KEY="")
    assert process.returncode != 0
    page = workflow.work / "results/papers/decision_conference.html"
    assert f"moot: {page} has the items." in process.stdout
    assert 'id="figure1"' in page.read_text(encoding="utf-8")
    _, _, empty_rows = process.stdout.partition("papers: some rows stay empty.\n")
    lines = [line for line in empty_rows.splitlines() if "paper-stance-claims/" in line]
    by_server, by_key = lines
    assert "http://localhost:11434" in by_server and "paper-stance-claims/gemma-2-9b" in by_server
    assert "OPENAI_API_KEY" in by_key and "paper-stance-claims/gpt-4" in by_key
