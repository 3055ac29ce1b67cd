"""The outcome of a run: its summary, the reasons of failures, and its page."""

from pathlib import Path

import pandas as pd
import pytest

from moot.report.outcome import RunOutcome, frequent_reasons, write_outcome


def debates(*reasons: str) -> pd.DataFrame:
    rows = [
        ("trial", "served", str(number), 0, "failed", reason, (), 1, 0)
        for number, reason in enumerate(reasons)
    ]
    columns = ["experiment", "model", "case_id", "repeat", "status", "reason", "served_by"]
    columns += ["calls", "cut_off"]
    return pd.DataFrame(rows, columns=columns)


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


@pytest.mark.parametrize(
    ("statuses", "is_shown"),
    [(("valid", "failed"), True), (("valid", "invalid"), False), (("failed", "failed"), False)],
)
def test_the_summary_says_how_to_ask_failed_calls_again(
    statuses: tuple[str, ...], is_shown: bool
) -> None:
    table = debates(*("connection refused" for _ in statuses)).assign(status=statuses)
    summary = "\n".join(RunOutcome(table).lines())
    assert ("`snakemake retry`" in summary) is is_shown, "`check` says it where all failed"
