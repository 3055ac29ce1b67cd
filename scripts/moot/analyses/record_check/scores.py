"""The metric of contrasts `verbatim_quotations`."""

import pandas as pd

from moot.analyses.record_check.effects import NO_SOURCE, check_statements
from moot.analyses.record_check.passages import QUOTATION
from moot.analyses.record_check.record import VERBATIM
from moot.core.errors import CannotTellError
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers


@case_metric("verbatim_quotations")
def verbatim_quotations(results: ExperimentResults, model: str) -> Terms:
    """Share of the quotations in a debate that its record has word for word."""
    passages = pd.DataFrame(
        check_statements(results, model), columns=["debate_id", "case_id", "kind", "result"]
    )
    is_checked = (passages["kind"] == QUOTATION) & (passages["result"] != NO_SOURCE)
    quotations = passages[is_checked]
    if quotations.empty:
        raise CannotTellError(f"{results.experiment}: no statement has a quotation to look up.")
    by_debate = quotations.assign(verbatim=quotations["result"] == VERBATIM).groupby("debate_id")
    sums = by_debate["verbatim"].agg(["sum", "size"])
    case_ids = by_debate["case_id"].first()
    return Terms(list(case_ids), as_numbers(sums[["sum"]]), as_numbers(sums[["size"]]))
