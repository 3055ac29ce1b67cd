"""Imputation and encoding of typed columns, as the first step of a pipeline and so fitted within
each fold.

Columns are as `moot.training.examples.plain_features` makes them: float64 numbers, and text for
everything else.
"""

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from moot.core.types import Estimator

NUMBERS = make_column_selector(dtype_include="float64")
CATEGORIES = make_column_selector(dtype_exclude="float64")


def encoded(classifier: Estimator, *, scaled: bool = False) -> Pipeline:
    """Return a classifier behind imputation and encoding.

    Numbers take the mean of the training rows where missing, categories the most frequent one; a
    category of two values becomes one column, of more values one column each, and a value that
    training never showed becomes none.
    """
    one_hot = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (SimpleImputer(strategy="mean"), NUMBERS),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), CATEGORIES),
    )
    return make_pipeline(columns, *([StandardScaler()] if scaled else []), classifier)


def build_ordinal_pipeline(classifier: Estimator) -> Pipeline:
    """Return a classifier that copes with gaps itself, behind categories turned to numbers; an
    unseen one becomes a gap.
    """
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_pipeline(
        make_column_transformer(("passthrough", NUMBERS), (codes, CATEGORIES)), classifier
    )
