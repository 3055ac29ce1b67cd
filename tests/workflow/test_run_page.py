"""The first pages of a run that ended well and of one with failed jobs have the same remarks."""

import re
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration
from moot.core.experiment_config import COMPARISON
from moot.plan.plan import Plan
from moot.report.notes import REHEARSAL_NOTE
from moot.report.outcome import read_outcome
from moot.workflow import targets
from moot.workflow.failed_jobs import UnfinishedJob, write_page_after_failure
from moot.workflow.run_page import write_run_page
from results_on_disk import case, prediction, write_results

HOSTILE = "<b>the server answered nothing</b>"
CASES = [case(f"c{number}", ("yes", "no")[number % 2]) for number in range(4)]
STATUSES = {"valid": "valid", "failed": "failed", "some failed": "valid failed"}


def make_plan(folder: Path, **keys: Any) -> Plan:
    experiment = {"cases": 4, "protocol": "zero_shot"}
    return Plan.from_yaml(
        configuration("http://localhost:9/v1", folder, experiment=experiment, **keys), PROJECT
    )


def write_predictions(plan: Plan, outcome: str) -> list[Path]:
    """Write the predictions of all runs, whose statuses alternate as an `outcome` states."""
    statuses = STATUSES[outcome].split()
    paths: list[Path] = []
    for name, experiment in plan.experiments.items():
        for model in experiment.config.models:
            rows = []
            for number, item in enumerate(CASES):
                status = statuses[number % len(statuses)]
                answer = item.target if status == "valid" else ""
                reason = "" if status == "valid" else HOSTILE
                row = prediction(item.case_id, item.target, answer, status=status)
                rows.append({**row, "reason": reason})
            write_results(Path("results"), CASES, {model: rows}, experiment=name)
            paths.append(Path(f"results/predictions/{name}/{model}.parquet"))
    return paths


@pytest.mark.parametrize(
    ("page", "outcome", "is_rehearsal", "is_shipped"),
    [
        *product(["index", "courtroom"], STATUSES, [False], [False]),
        ("index", "valid", True, False),
        ("courtroom", "failed", False, True),
    ],
)
def test_both_pages_have_the_same_remarks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    outcome: str,
    is_rehearsal: bool,
    is_shipped: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = make_plan(tmp_path, rehearsal=is_rehearsal)
    if is_shipped:
        monkeypatch.setattr("moot.workflow.run_page.has_own_experiments", lambda _: False)
    predictions = write_predictions(plan, outcome)
    failed_jobs = [f"Debates of trial: {HOSTILE}"]
    study = COMPARISON if page == "index" else page
    after_failure = write_page_after_failure(plan, page, predictions, failed_jobs).read_text()
    other_page = Path("results/other.html")
    built = [*predictions, *filter(Path.exists, map(Path, targets.outcome_files(study)))]
    results = read_outcome(predictions)
    write_run_page(plan, study, built, {"page": other_page}, results, failed_jobs)
    assert other_page.read_text() == after_failure
    assert HOSTILE not in after_failure
    assert (REHEARSAL_NOTE in after_failure) == is_rehearsal
    failures = re.findall("<li>(.*)</li>", after_failure.partition("</ul>")[0])
    assert failures[0].startswith("Debates of trial: ")
    assert any(line.startswith("All 4 debates of") for line in failures) == (outcome == "failed")
    write_run_page(plan, study, built, {"page": other_page}, results)
    assert ('id="failed"' in other_page.read_text()) == (outcome == "failed")


def test_another_model_and_cut_replies_are_named_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    served_by = [("test", "<gpt-4.1> (asked: gpt-4o)")]
    rows = [
        prediction(item.case_id, item.target, "yes", served_by=served_by, calls=2, cut_off=1)
        for item in CASES
    ]
    write_results(Path("results"), CASES, {"test": rows}, experiment="trial")
    predictions = [Path("results/predictions/trial/test.parquet")]
    outcome, page = read_outcome(predictions), Path("results/index.html")
    write_run_page(make_plan(tmp_path), COMPARISON, predictions, {"page": page}, outcome)
    assert "test: &lt;gpt-4.1&gt; (asked: gpt-4o) (4 of 4 debates)" in page.read_text()
    assert "4 of 8 replies were cut off at the limit of tokens" in page.read_text()


def test_tables_of_an_earlier_run_are_named_and_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = make_plan(tmp_path)
    [earlier, *_] = [
        Path(path) for path in targets.page_contents(plan, "courtroom") if path.endswith(".csv")
    ]
    earlier.parent.mkdir(parents=True)
    earlier.write_text("a\n1\n")
    page = write_page_after_failure(plan, "courtroom", [], ["Debates of trial: stopped"])
    text = page.read_text(encoding="utf-8")
    assert "of an earlier run" in text and str(earlier.with_suffix("")) in text
    assert f'href="{earlier.relative_to("results")}"' not in text


def test_a_page_names_the_made_up_data_of_its_own_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = configuration("http://localhost:9/v1", tmp_path)
    raw["datasets"]["claim_stance"] = {"source": "sample"}
    raw["experiments"]["stances"] = {
        "protocol": "stance",
        "dataset": "claim_stance",
        "models": ["test"],
    }
    plan = Plan.from_yaml(raw, PROJECT)
    notes = plan.made_up_notes("")
    page = Path("page.html")
    for study in (COMPARISON, "courtroom", "stance"):
        write_run_page(plan, study, [], {"page": page}, read_outcome([]))
        expected = notes if study == COMPARISON else plan.made_up_notes(study)
        shown = [note for note in notes if note in unescape(page.read_text())]
        assert shown == [note for note in notes if note in expected], study
    assert 0 < len(plan.made_up_notes("stance")) < len(notes)


@pytest.mark.parametrize(
    ("rule", "wildcards", "name"),
    [
        ("run_debates", {"experiment": "mine", "model": "m", "shard": "0"}, "Debates of mine, m"),
        (
            "run_debates",
            {"experiment": "mine", "model": "m", "shard": "2"},
            "Debates of mine, m, part 3",
        ),
        ("load_cases", {"dataset": "toy"}, "Data of toy"),
        ("a_new_rule", {"study": "x"}, "A new rule of x"),
        ("outcome", {}, "Outcome"),
    ],
)
def test_failed_jobs_are_named_in_words(rule: str, wildcards: dict[str, str], name: str) -> None:
    assert UnfinishedJob(rule, wildcards, ()).name == name
