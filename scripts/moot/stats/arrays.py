"""The types of arrays and columns, and arithmetic that many statistics use."""

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[Any]
Truths = NDArray[np.bool_]
Column: TypeAlias = "pd.Series[Any]"
Values: TypeAlias = "ArrayLike | Column"


def as_numbers(values: Values) -> Floats:
    """Return truth values or numbers as an array of floats."""
    return np.asarray(values, dtype=np.float64)


def ratio(numerator: Floats, denominator: Floats, where_zero: float = float("nan")) -> Floats:
    """Return the element-wise ratio, with a default value if the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    out = np.full(denominator.shape, where_zero, dtype=np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def departs_from_mode(values: Numbers) -> Truths:
    """Return which rows of a matrix differ from its most frequent row, shape (rows,).

    A coefficient of agreement or of ranking depends on these rows. If a rater is constant there are
    none, and the coefficient is not informative.
    """
    if not len(values):
        return np.zeros(0, dtype=bool)
    _, codes, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    departs: Truths = codes.reshape(-1) != counts.argmax()
    return departs
