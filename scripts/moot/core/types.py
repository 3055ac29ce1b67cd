"""The types at the borders of JSON, pandas and NumPy, where a value's type is known only when it is
read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

Json: TypeAlias = Any
"""A value of a JSON document: null, a truth value, a number, a string, an array or an object."""
JsonObject: TypeAlias = dict[str, Json]
Fields: TypeAlias = Mapping[str, Any]
"""Named values of several types, to be read only: a row of a table, a case's attributes, a
template's slots.
"""
CheckedValues: TypeAlias = Any
"""Parameters or options, checked by the model that their protocol or loader registered."""
Column: TypeAlias = "pd.Series[Any]"
"""One column of a table, of whatever type its values have."""
Numbers: TypeAlias = "NDArray[Any]"
"""An array of numbers, whole or not."""
Estimator: TypeAlias = Any
"""A classifier or pipeline of scikit-learn, or one like them; their libraries state no types."""
