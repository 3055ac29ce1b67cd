"""The rules of `moot.studies.appellate.legal.rules` as a labeler."""

from collections.abc import Iterator

import pandas as pd

from moot.labels import labeler
from moot.studies.appellate.legal.rules import label_statement


@labeler("rules")
def label_by_rules(statements: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """The rules' label of every statement."""
    for text in statements["text"]:
        labelled = label_statement(text)
        yield labelled.label, labelled.evidence
