"""The messages of a run at its start and end.

They state missing keys, failures and their reasons, and people whose answers are missing.

Slow: only this test detects failures that a run ignores silently.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

OUTCOMES = ("results/outcome/courtroom.csv", "results/outcome/appellate.csv")
ASK = {
    "protocol": "human_panel",
    "dataset": "opinions",
    "models": "served",
    "cases": 2,
    "params": {"seats": {"human": "person"}},
    "labelers": ["rules"],
}


@pytest.fixture
def workflow(tmp_path: Path) -> Iterator[Workflow]:
    failing = FaultServer(faults=["context_length"], rate=1.0)
    with FaultServer() as healthy_server, failing as failing_server:
        workflow = Workflow(tmp_path, healthy_server.url, project=unedited_copy())
        workflow.configure(
            {
                "run": ["trial", "dead", "ask"],
                "models/down": {
                    "endpoint": "openai",
                    "model": "test",
                    "base_url": failing_server.url,
                },
                "experiments/dead": {
                    "protocol": "zero_shot",
                    "dataset": "people",
                    "models": "down",
                    "cases": 3,
                },
                "experiments/ask": ASK,
            }
        )
        yield workflow


def test_a_run_ends_with_its_outcome_until_all_faults_are_removed(
    workflow: Workflow,
) -> None:
    process = workflow.run(*OUTCOMES, "results/scores/ask.parquet", "results/scores/trial.parquet")
    assert process.returncode == 1, "all of an experiment and model failed"
    assert "Debates: 8 in 3 experiments: 3 valid, 0 invalid, 3 failed, 2 waiting." in process.stdout
    assert "3 x a call failed: HTTP 400: This model's maximum context length" in process.stdout
    assert process.stdout.count("every debate of dead (down) failed") == 1
    assert "Traceback" not in process.stdout
    questions = sorted(workflow.work.rglob("*.question.md"))
    answers = [question.with_name("repeat-0-round-1.answer.txt") for question in questions]
    ends = process.stdout.partition("Debates: 8")[2]
    assert all(str(answer.relative_to(workflow.work)) in ends for answer in answers)
    assert len(answers) == 2

    counts = pd.read_csv(workflow.work / OUTCOMES[0]).set_index("model")
    assert counts.loc[["served", "down"], ["valid", "failed"]].to_numpy().tolist() == [
        [3, 0],
        [0, 3],
    ]
    scored = pq.read_table(workflow.work / "results/scores/ask.parquet").to_pandas()
    assert scored.empty, "one round is no last round"

    # One answer that cannot be used, and one annotation, stop nothing else.
    answers[0].write_text("I vote to affirm.\n\nConfidence: very\n")
    answers[1].write_text("I vote to affirm.\n\nConfidence: 70\n")
    (workflow.work / "data" / "annotations").mkdir()
    (workflow.work / "data" / "annotations" / "ann.csv").write_text(
        "item;label\nnonsense;AFFIRM\nx;MAYBE\n"
    )
    process = workflow.run(OUTCOMES[1])
    assert process.returncode == 1
    ends = process.stdout.partition("Debates: 2")[2]
    expected_texts = (
        "Confidence: very",
        "row 1, column 'item': 'nonsense' is not a statement",
        "row 2, column 'label': found 'MAYBE'",
    )
    assert [ends.count(message) for message in expected_texts] == [0, 1, 1]
    assert "hooks.smk" not in ends, "no trace of the code that found it"
    assert ends.count(f"{answers[0].relative_to(workflow.work)}: confidence 'very'") == 1
    assert "repeat-0-round-2.answer.txt" in ends, "the other debate went on"

    process = workflow.run(OUTCOMES[1])
    assert process.returncode == 1 and "Nothing to be done" in process.stdout
    end = process.stdout.partition("Debates: ")[2]
    assert all(message in end for message in expected_texts[1:]), "until it is mended"
    assert "repeat-0-round-2.answer.txt" in end
    report = workflow.run(OUTCOMES[1], "--report", "report.html")
    assert report.returncode == 0, report.stdout[-2000:]
    page = (workflow.work / "report.html").read_text()
    assert "repeat-0-round-2.answer.txt" in page.partition("Outcomes of the debates")[2]


def test_a_missing_key_is_reported_before_any_job_starts(workflow: Workflow) -> None:
    workflow.configure({"models/served/api_key_env": "MOOT_NO_SUCH_KEY"})
    process = workflow.run("results/scores/trial.parquet")
    assert process.returncode == 1
    assert (
        process.stdout.count("models.served: the environment variable MOOT_NO_SUCH_KEY is empty")
        == 1
    )
    assert "Traceback" not in process.stdout
    assert not (workflow.work / "results" / "cases").exists()


def test_the_first_page_is_written_when_jobs_fail(workflow: Workflow) -> None:
    (workflow.work / "faulty.csv").write_text("text,target\na,yes\nb,\n")
    own_table = {
        "loader": "table",
        "path": "faulty.csv",
        "text": "text",
        "target": "target",
        "question": "Is it so?",
        "labels": ["yes", "no"],
    }
    entry = {"protocol": "zero_shot", "dataset": "faulty", "models": "served"}
    workflow.configure(
        {"run": ["faulty"], "datasets/faulty": own_table, "experiments/faulty": entry}
    )
    page = workflow.work / "results" / "index.html"
    process = workflow.run("--keep-going")
    assert process.returncode == 1
    assert f"moot: {page} says what failed" in process.stdout, process.stdout
    failed = page.read_text().partition('id="failed"')[2].partition("</section>")[0]
    assert "Data of faulty: " in failed and "faulty.csv" in failed
    assert failed.count("<li>") == 1, "jobs that did not start have not failed"
    (workflow.work / "faulty.csv").write_text("text,target\na,yes\nb,no\n")
    process = workflow.run("--keep-going")
    assert process.returncode == 0, process.stdout[-3000:]
    assert 'id="failed"' not in page.read_text()
    assert workflow.jobs() == set(), "the page of the first run leaves nothing to be done"
