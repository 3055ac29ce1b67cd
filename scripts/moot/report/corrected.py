"""Columns of values that people's labels of a drawn sample correct, after the raw ones of the same
table.
"""

from collections.abc import Sequence
from dataclasses import replace

from moot.report.columns import Columns
from moot.report.content import Measurement, TableContent

CAPTION = (
    " {raw} uses the one label that counts for each statement. Corrected, where people labelled a "
    "drawn sample, estimates what people would say of all statements."
)
"""The end of the captions of tables with both; `raw` names the raw column."""
RAW_ONLY_NOTE = (
    "Raw only: there is no drawn sample of these statements that people have labelled whole"
    " (`snakemake annotation_sheets` draws one), so what the labellers get wrong is in these"
    " numbers."
)
CORRECTED_NOTE = (
    "`{raw}` is raw: a person's label where there is one, else that of rules or a model. It is no"
    " estimate of what people would say. `corrected` is one (prediction-powered inference): the"
    " mean of the labels of rules or model over all statements, and what people said differently on"
    " a sample drawn with known probabilities. `labelled` counts the statements of that sample (for"
    " changes, their pairs). Rows without it have no such sample."
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
    """A table with a column of corrected values after the raw ones, or the note that there are
    none.

        Args:
            content: the table.
            corrected: the corrected value of each row; `NOT_MEASURED` where there is none.
            raw: the column of raw values.
    """
    if not any(one.n == one.n for one in corrected):
        return replace(content, notes=(RAW_ONLY_NOTE, *content.notes))
    values = {
        name: [getattr(one, field) for one in corrected] for name, field in CORRECTED_VALUES.items()
    }
    frame = content.frame.assign(**values).astype({"labelled": "Int64"})
    names = [column.names[0] for column in content.columns]
    at = names.index("difference" if "difference" in names else "cases")
    columns = (*content.columns[:at], *CORRECTED_COLUMNS.columns, *content.columns[at:])
    return replace(
        content,
        frame=frame[[name for column in columns for name in column.names]],
        columns=columns,
        notes=(CORRECTED_NOTE.format(raw=raw), *content.notes),
    )
