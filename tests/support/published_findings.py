"""The published results and findings that tests recompute."""

from pathlib import Path

from moot.report.published import read_findings
from paper_items import PUBLISHED as RESULTS

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published"


FINDINGS = read_findings(PUBLISHED / "findings.csv")


def published_rows(study: str, table: str) -> dict[str, dict[str, float]]:
    """Return a published table as a dictionary of rows by metric."""
    frame = RESULTS[(RESULTS["study"] == study) & (RESULTS["table"] == table)]
    metrics_by_row = {}
    for row, rows in frame.groupby("row", sort=False):
        metrics_by_row[str(row)] = dict(zip(rows["metric"], rows["value"], strict=True))
    return metrics_by_row


def equal(value: float, rounded: float) -> bool:
    return abs(value - rounded) <= 0.005 + 1e-9
