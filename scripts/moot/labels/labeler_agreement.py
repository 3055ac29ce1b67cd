"""Agreement of labelers: Cohen's kappa for each pair, Krippendorff's alpha over all, with
intervals.

Statements of one case form a cluster (`moot.stats.jackknife`), since the debates of a case are
not independent.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import pandas as pd

from moot.core.cases import Cluster
from moot.stats.agreement import cohens_kappa, krippendorffs_alpha
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic, share_statistic


def wide(labels: pd.DataFrame, column: str = "label") -> pd.DataFrame:
    """Return labels with one row per statement and one column per labeler.

    Rows are indexed by debate_id and turn within each model. Labels may be missing.
    """
    keys = ["experiment", "model", "debate_id", "turn"]
    return labels.pivot_table(
        index=keys, columns="labeler", values=column, aggfunc="first"
    ).sort_index()


def annotator_agreement(
    labels: pd.DataFrame,
    column: str = "label",
    clusters: Mapping[str, Cluster] | None = None,
) -> pd.DataFrame:
    """Return every pair's kappa and share of equal labels, and alpha over all labelers.

    Args:
        labels: columns experiment, model, debate_id, turn, case_id, labeler and `column`.
        column: label, or code (as text) for the binary reading.
        clusters: the cluster of each case; None if each case is its own cluster.

    Returns:
        Columns measure, labelers, value, ci_low, ci_high, n.
    """
    table = wide(labels, column)
    statements = labels.drop_duplicates(list(table.index.names)).set_index(list(table.index.names))
    cases = statements["case_id"].map(lambda case: case if clusters is None else clusters[case])
    rows = list[tuple[str | float, ...]]()
    for measure, labelers, values, statistic in _measures(table):
        estimate = ClusterJackknife(cases.loc[values.index]).estimate(statistic)
        rows.append((measure, labelers, *estimate, len(values)))
    return pd.DataFrame(rows, columns=["measure", "labelers", "value", "ci_low", "ci_high", "n"])


def _measures(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame, Statistic]]:
    """Yield name, labelers, labelled statements and statistic of each measure."""
    for first, second in combinations(table.columns, 2):
        common = table[[first, second]].dropna()
        if len(common):
            pair = f"{first} / {second}"
            yield "Cohen's kappa", pair, common, cohens_kappa(common[first], common[second])
            yield (
                "equal labels",
                pair,
                common,
                share_statistic(common[first].to_numpy() == common[second].to_numpy()),
            )
    repeatedly_labelled = table[table.notna().sum(axis=1) > 1]
    if len(repeatedly_labelled):
        ratings = repeatedly_labelled.to_numpy(dtype=object)
        yield (
            "Krippendorff's alpha",
            ", ".join(map(str, table.columns)),
            repeatedly_labelled,
            krippendorffs_alpha(ratings),
        )
