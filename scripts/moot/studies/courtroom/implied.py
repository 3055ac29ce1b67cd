"""What published averages give away about the data behind them.

Weighted precision, weighted F1, accuracy, kappa and Matthews correlation of a two-label model are functions of three
shares: of positive cases, of positive predictions, and of cases that are both. Five equations, three unknowns: a
published row tells its base rate (of the rarer label, since none of the five changes when the labels swap names), and
the misfit tells whether one confusion matrix can be behind it at all (averages over folds of a model that changes its
mind between folds cannot).
"""

from collections.abc import Mapping
from statistics import median

import numpy as np

from moot.stats.bootstrap import Floats

DETERMINING = ("accuracy", "kappa", "mcc", "precision_weighted", "f1_weighted")
LARGEST_MISFIT = 0.005
STARTS = [(positive, predicted) for positive in (0.2, 0.3, 0.5) for predicted in (0.05, 0.3, 0.6, 0.95)]


def metrics_of_shares(shares: Floats) -> Floats:
    """The metrics of `DETERMINING`, from the shares of positive cases, positive predictions and their overlap."""
    positive, predicted, both = shares
    neither = 1 - positive - predicted + both
    accuracy = both + neither
    by_chance = positive * predicted + (1 - positive) * (1 - predicted)
    spread = np.sqrt(positive * (1 - positive) * predicted * (1 - predicted))
    precision = positive * both / predicted + (1 - positive) * neither / (1 - predicted)
    f1 = positive * 2 * both / (positive + predicted) + (1 - positive) * 2 * neither / (2 - positive - predicted)
    kappa = (accuracy - by_chance) / (1 - by_chance)
    return np.array([accuracy, kappa, (both - positive * predicted) / spread, precision, f1], dtype=np.float64)


def base_rate_behind(metrics: Mapping[str, float]) -> float:
    """The rarer label's share behind one row of published metrics; NaN where no confusion matrix fits them."""
    from scipy.optimize import least_squares  # registries are read at every start of Snakemake

    wanted = np.array([metrics[name] for name in DETERMINING])

    def misfit(shares: Floats) -> Floats:
        gap: Floats = metrics_of_shares(shares) - wanted
        return gap

    bounds = ((0.01, 0.001, 0.0), (0.99, 0.999, 0.99))
    starts = ((positive, predicted, positive * predicted) for positive, predicted in STARTS)
    fits = [least_squares(misfit, start, bounds=bounds) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    share = float(best.x[0])
    return min(share, 1 - share) if np.abs(best.fun).max() <= LARGEST_MISFIT else float("nan")


def base_rate_note(rows: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence on the base rate that published rows imply, by model; "" where they do not tell."""
    complete = [row for row in rows.values() if set(DETERMINING) <= set(row)]
    rates = [rate for row in complete if not np.isnan(rate := base_rate_behind(row))]
    if not rates:
        return ""
    middle, best = median(rates), max(row["accuracy"] for row in complete)
    return (
        f"The published averages of {len(rates)} of {len(rows)} models fit a table in which the rarer label has "
        f"{min(rates):.1%} to {max(rates):.1%} of the cases (median {middle:.1%}). At that rate always naming the "
        f"other label is right in {1 - middle:.1%} of cases; the best published accuracy is {best:.1%}."
    )
