"""The outcome of a run: its summary, the reasons of failures, and its page."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from moot.core.artifacts import describe, write_rows
from moot.core.errors import RunStoppedError, UserError
from moot.core.utterance_kinds import CALL_FAILED, REPLY_PENDING
from moot.labels.sheets import FAULTS
from moot.protocols.inbox import NO_ANSWER_YET, UNUSABLE_ANSWER
from moot.report.notes import REHEARSAL_NOTE
from moot.report.outcome import (
    WHERE_TO_LOOK,
    RunOutcome,
    failure_sentences,
    frequent_reasons,
    read_outcome,
    write_outcome,
)

COLUMNS = ["experiment", "model", "case_id", "repeat", "status", "reason", "served_by", "calls"]
COLUMNS += ["cut_off"]


def debates(*reasons: str) -> pd.DataFrame:
    rows = [
        ("trial", "served", str(number), 0, "failed", reason, (), 1, 0)
        for number, reason in enumerate(reasons)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_reasons_that_differ_by_numbers_are_one() -> None:
    reasons = debates(
        "HTTP 500 id req-1a2b3c4d5e", "too long", "HTTP 500 id req-9f8e7d6c5b", "x", "x", "x", "y"
    )
    assert frequent_reasons(reasons) == [
        ("x", 3),
        ("HTTP 500 id req-1a2b3c4d5e", 2),
        ("too long", 1),
    ]


def test_a_hostile_reason_is_text_everywhere(tmp_path: Path) -> None:
    outcome = RunOutcome(debates("<script>alert(1)</script>\x1b[2J\nsecond line", "=1+1"))
    paths = {ending: tmp_path / f"trial.{ending}" for ending in ("csv", "html")}
    write_outcome("trial", outcome, paths)
    page = paths["html"].read_text()
    assert "<script>" not in page
    assert "<h1>Outcomes of the debates: trial</h1>" in page and 'name="viewport"' in page, (
        "a page of its own"
    )
    assert not [line for line in outcome.lines() if "\x1b" in line or "\n" in line]
    with pytest.raises(Exception, match="every debate of trial"):
        outcome.check()


ROWS = [
    ("a", "m", "c0", 0, "valid", "", [("m", "v1")], 1, 0),
    ("a", "m", "c0", 1, "valid", f"{CALL_FAILED}time-out", [("m", "v2")], 2, 1),
    ("a", "m", "c1", 0, "failed", "HTTP 500", [], 1, 0),
    ("b", "n", "c0", 0, "waiting", f"{NO_ANSWER_YET}inbox/a.txt", [], 0, 0),
    ("b", "n", "c1", 0, "waiting", f"{REPLY_PENDING}batch 7 of n", [], 0, 0),
    ("b", "n", "c2", 0, "waiting", f"{UNUSABLE_ANSWER}inbox/b.txt: empty", [], 0, 0),
    ("b", "n", "c3", 0, "invalid", "no label", [], 1, 0),
    ("c", "n", "c0", 0, "failed", "HTTP 404", [], 1, 0),
]


def test_the_summary_states_counts_reasons_and_what_to_do() -> None:
    outcome = RunOutcome(pd.DataFrame(ROWS[:-1], columns=COLUMNS))
    assert outcome.counts.values.tolist() == [
        ["a", "m", 2, 3, 2, 0, 1, 0, "1 x HTTP 500"],
        ["b", "n", 4, 4, 0, 1, 0, 3, outcome.counts["reasons"].iloc[1]],
    ]
    lines = outcome.lines()
    assert lines[:7] == [
        "Debates: 7 in 2 experiments: 2 valid, 1 invalid, 1 failed, 3 waiting.",
        "  a, m: 2 valid, 1 failed of 3",
        "  b, n: 1 invalid, 3 waiting of 4",
        "Most frequent reasons:",
        "  1 x HTTP 500",
        "  1 x no label",
        f"Where to look: {WHERE_TO_LOOK}",
    ]
    assert lines[7] == "1 valid debates lack statements whose calls failed: time-out"
    assert lines[8].startswith("To ask the calls of the 2 debates with failed calls again")
    assert lines[9].startswith("Warning: a, m: these debates were served by other versions")
    assert lines[10].startswith("1 of 5 replies were cut off at the limit of tokens")
    assert lines[11].startswith("1 debates wait for a person") and lines[12] == "  inbox/a.txt"
    assert lines[13].startswith("Debates wait for batches")
    assert lines[14:] == ["  batch 7 of n: 1 debates"]
    with pytest.raises(RunStoppedError, match=r"^inbox/b\.txt: empty$"):
        outcome.check()


def test_only_valid_debates_without_gaps_are_finished() -> None:
    for number, row in enumerate(ROWS):
        outcome = RunOutcome(pd.DataFrame([row], columns=COLUMNS))
        assert outcome.is_finished == (number in (0, 6))
    finished = pd.DataFrame(ROWS[:1], columns=COLUMNS)
    assert not RunOutcome(finished, annotation_faults=("a fault",)).is_finished
    assert not RunOutcome(finished, unreadable=("a file",)).is_finished
    assert RunOutcome(finished).lines() == [
        "Debates: 1 in 1 experiment: 1 valid, 0 invalid, 0 failed, 0 waiting."
    ]
    RunOutcome(finished).check()


def test_the_first_page_states_what_failed() -> None:
    debates = pd.DataFrame([*ROWS, ROWS[-1]], columns=COLUMNS)
    outcome = RunOutcome(debates, ("ann.csv: no label",), ("x.parquet: damaged",))
    assert outcome.wholly_failed == ["c (n)"]
    assert failure_sentences(outcome) == [
        "All 2 debates of c with n failed: HTTP 404",
        "inbox/b.txt: empty",
        "ann.csv: no label",
        "x.parquet: damaged",
    ]
    assert not any("snakemake retry" in line for line in outcome.lines()), "`check` says it"
    waiting = outcome.debates[outcome.debates["status"] == "waiting"]
    many = RunOutcome(pd.concat([waiting] * 21))
    assert "  and 1 more below data/inbox/" in many.lines()
    assert many.pending_replies == ["batch 7 of n: 21 debates"]


def test_an_outcome_is_read_from_files_and_written_for_two_formats(tmp_path: Path) -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS[:3]]
    damaged, labels = tmp_path / "damaged.parquet", tmp_path / "labels.parquet"
    write_rows(tmp_path / "a.parquet", "predictions", rows, describe())
    write_rows(labels, "labels", [], describe() | {FAULTS: '["a fault", "a fault"]'})
    damaged.write_bytes(b"PAR1")
    outcome = read_outcome([tmp_path / "a.parquet", damaged], [labels])
    assert outcome.debates["status"].tolist() == ["valid", "valid", "failed"]
    assert outcome.annotation_faults == ("a fault",) and len(outcome.unreadable) == 1
    assert read_outcome([]).debates.empty
    paths = {ending: tmp_path / f"o.{ending}" for ending in ("csv", "html")}
    with pytest.raises(UserError, match=r"damaged\.parquet"):
        write_outcome("courtroom", outcome, paths)
    for is_rehearsal in (False, True):
        write_outcome("courtroom", replace(outcome, unreadable=()), paths, is_rehearsal)
        table = pd.read_csv(paths["csv"])
        assert table["reasons"].tolist() == ["1 x HTTP 500"]
        assert (list(table.columns[:1]) == ["voices"]) == is_rehearsal
        assert (REHEARSAL_NOTE in paths["html"].read_text()) == is_rehearsal
