"""Write the facts of opinions to a sheet, in which a person can edit or exclude them."""

from collections import Counter
from pathlib import Path

import pandas as pd

from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.datasets import DatasetOptions, LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, prepare_opinions


def write_deidentification(options: DatasetOptions, context: LoadContext, /, output: Path) -> None:
    """Write `deidentified/{dataset}.csv`: one row per opinion, with an empty `decision`.

    Raises:
        UserError: if the data set does not read local opinions.
    """
    if not isinstance(options, OpinionsOptions) or options.source != "local":
        raise UserError(
            f"datasets.{context.name}: the data set does not read local opinions, so no text was"
            " de-identified. Expected `source: local`."
        )
    rows = []
    for entry in prepare_opinions(options, context, Counter()):
        row = {"case_id": entry.opinion.opinion_id, "outcome": entry.outcome}
        row |= {"problem": entry.problem, "facts": entry.facts, "decision": entry.decision}
        rows.append(row)
    sheet = pd.DataFrame(rows)
    write_atomically(output, sheet.to_csv(index=False, lineterminator="\n"))
    usable_count = int((sheet["problem"] == "").sum())
    LOG.info("%s: %d of %d opinions can be used", context.name, usable_count, len(sheet))
