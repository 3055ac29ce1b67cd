"""Types of data from JSON, pandas and NumPy, whose values have known types only at run time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Json: TypeAlias = Any
"""A value of a JSON document: null, a truth value, a number, a string, an array or an object."""
JsonObject: TypeAlias = dict[str, Json]
Fields: TypeAlias = Mapping[str, Any]
"""Named values of several types, read-only: a row of a table, a case's attributes, template
slots.
"""
CheckedValues: TypeAlias = Any
"""Parameters or options after a check by the model of their protocol or loader."""
Column: TypeAlias = "pd.Series[Any]"
"""One column of a table with values of any type."""
Numbers: TypeAlias = "NDArray[Any]"
"""An array of numbers, whole or not."""
Estimator: TypeAlias = Any
"""A classifier or pipeline of scikit-learn, or a similar one; the libraries have no type hints."""
