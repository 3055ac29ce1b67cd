"""How far labellers agree: Cohen's kappa for each pair, Krippendorff's alpha over all, each with a bootstrap interval.

Statements of one case are drawn together (`moot.scores.uncertainty`), since the debates of a case are not independent.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.scores.uncertainty import percentile_interval

RESAMPLES = 500
Measure = Callable[[NDArray[np.int64]], float]


def wide(labels: pd.DataFrame, column: str = "label") -> pd.DataFrame:
    """Labels as one row a statement (debate_id, turn within model) and one column a labeller; missing where none."""
    keys = ["experiment", "model", "debate_id", "turn"]
    return labels.pivot_table(index=keys, columns="labeler", values=column, aggfunc="first").sort_index()


def cohens_kappa(first: Sequence[object], second: Sequence[object]) -> float:
    """Agreement of two labellers beyond chance; NaN where chance alone would agree always.

    >>> cohens_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """
    left, right = np.asarray(first, dtype=object), np.asarray(second, dtype=object)
    if not len(left):
        return float("nan")
    observed = float(np.mean(left == right))
    expected = sum(
        float(np.mean(left == label) * np.mean(right == label)) for label in sorted({*left, *right}, key=str)
    )
    return float("nan") if expected >= 1 else (observed - expected) / (1 - expected)


def krippendorffs_alpha(table: pd.DataFrame) -> float:
    """Agreement of any number of labellers, nominal scale, with missing labels; NaN where only one label occurs.

    Args:
        table: one row a statement, one column a labeller.
    """
    import krippendorff  # noqa: PLC0415

    values = table.to_numpy(dtype=object)
    known = sorted({value for value in values.ravel() if isinstance(value, str)})
    coded = np.array(
        [[known.index(v) if isinstance(v, str) else np.nan for v in row] for row in values], dtype=np.float64
    )
    pairable = coded[np.sum(~np.isnan(coded), axis=1) > 1]
    if len(known) <= 1 or len(np.unique(pairable[~np.isnan(pairable)])) <= 1:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(krippendorff.alpha(reliability_data=coded.T, level_of_measurement="nominal"))


def _by_clusters(clusters: Sequence[str], seed: int, measure: Measure) -> tuple[float, float, float]:
    """A measure of row numbers, and its interval over resampled clusters."""
    codes, names = pd.factorize(np.asarray(clusters, dtype=object), sort=True)
    members = [np.flatnonzero(codes == code) for code in range(len(names))]
    value = measure(np.arange(len(codes)))
    if len(names) <= 1:
        return value, float("nan"), float("nan")
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, len(names), size=(RESAMPLES, len(names)))
    draws = np.array([measure(np.concatenate([members[code] for code in row])) for row in drawn])
    return (value, *percentile_interval(draws))


def agreement(labels: pd.DataFrame, seed: int, column: str = "label") -> pd.DataFrame:
    """Every pair's kappa and share of equal labels, and alpha over all labellers.

    Args:
        labels: columns experiment, model, debate_id, turn, case_id, labeler and `column`.
        seed: the configuration's seed.
        column: label, or code (as text) for the binary reading.

    Returns:
        Columns measure, labelers, value, ci_low, ci_high, n.
    """
    table = wide(labels, column)
    cases = labels.drop_duplicates(["experiment", "model", "debate_id", "turn"]).set_index(list(table.index.names))[
        "case_id"
    ]
    rows: list[tuple[str, str, float, float, float, int]] = []
    for first, second in combinations(table.columns, 2):
        both = table[[first, second]].dropna()
        if both.empty:
            continue
        left, right, clusters = both[first].to_numpy(), both[second].to_numpy(), cases.loc[both.index].tolist()
        pair = f"{first} / {second}"
        kappa = _by_clusters(clusters, seed, lambda chosen, a=left, b=right: cohens_kappa(a[chosen], b[chosen]))  # type: ignore[misc]
        equal = _by_clusters(clusters, seed, lambda chosen, a=left, b=right: float(np.mean(a[chosen] == b[chosen])))  # type: ignore[misc]
        rows += [("Cohen's kappa", pair, *kappa, len(both)), ("equal labels", pair, *equal, len(both))]
    several = table[table.notna().sum(axis=1) > 1]
    if len(several):
        clusters = cases.loc[several.index].tolist()
        alpha = _by_clusters(clusters, seed, lambda chosen: krippendorffs_alpha(several.iloc[chosen]))
        rows.append(("Krippendorff's alpha", ", ".join(map(str, table.columns)), *alpha, len(several)))
    return pd.DataFrame(rows, columns=["measure", "labelers", "value", "ci_low", "ci_high", "n"])


def confusion(labels: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """How often one labeller's label (rows) met another's (columns)."""
    both = wide(labels)[[first, second]].dropna()
    return pd.crosstab(both[first], both[second])
