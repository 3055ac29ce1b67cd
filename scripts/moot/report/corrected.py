"""Columns of values that are corrected by people's labels of a random sample."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

from moot.report.columns import Columns
from moot.report.content import TableContent
from moot.report.measurement import Measurement

CAPTION = (
    " {raw} uses the label that counts for each statement. Corrected estimates the labels that"
    " people"
    " would give to all statements; it is shown where people labelled a random sample."
)
"""The end of the caption of a table with raw and corrected values; `raw` names the raw column."""
RAW_ONLY_NOTE = (
    "Raw only: people have not labelled a complete random sample of these statements (`snakemake"
    " annotation_sheets` draws one), so these numbers include the labelers' errors."
)
CORRECTED_NOTE = (
    "`{raw}` is raw: a person's label if there is one, else a label by rules or a model. It does "
    "not estimate the labels that people would give; `corrected` does (prediction-powered "
    "inference). This estimate is the mean label of rules or model over all statements, plus the "
    "mean difference to people's labels on a sample with known probabilities. `labelled` counts "
    "the statements of that sample (for changes, their pairs). Rows without it have no such "
    "sample."
)

CORRECTED_VALUES = {
    "corrected": "value",
    "corrected low": "low",
    "corrected high": "high",
    "labelled": "n",
}
CORRECTED_COLUMNS = (
    Columns()
    .estimate("corrected", "corrected", "corrected interval")
    .counts("labelled")
    .short_form("corrected", "corrected interval")
)


def with_corrected(
    content: TableContent, corrected: Sequence[Measurement], raw: str = "ours"
) -> TableContent:
    """Return a table with a column of corrected values, or with a note that there are none.

    Args:
        content: The table.
        corrected: The corrected value of each row; `NOT_MEASURED` if there is none.
        raw: The column of raw values.
    """
    if all(isnan(measurement.n) for measurement in corrected):
        return replace(content, notes=(RAW_ONLY_NOTE, *content.notes))
    frame = content.frame
    for name, field in CORRECTED_VALUES.items():
        frame = frame.assign(**{name: [getattr(measurement, field) for measurement in corrected]})
    frame = frame.astype({"labelled": "Int64"})
    first_names = [column.names[0] for column in content.columns]
    position = first_names.index("difference" if "difference" in first_names else "cases")
    columns = (
        *content.columns[:position],
        *CORRECTED_COLUMNS.columns,
        *content.columns[position:],
    )
    names: list[str] = []
    for column in columns:
        names += column.names
    return replace(
        content,
        frame=frame[names],
        columns=columns,
        notes=(CORRECTED_NOTE.format(raw=raw), *content.notes),
    )
