"""Imputation and encoding of typed columns: a pipeline's first step, fitted within each fold.

Columns come from `moot.training.examples.plain_features`: float64 numbers, and text for
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

    Missing numbers become the mean of the training rows, missing categories the most frequent one.
    A category with two values becomes one column, with more values one column per value. A value
    that does not occur in training gets no column.
    """
    one_hot = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (SimpleImputer(strategy="mean"), NUMBERS),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot), CATEGORIES),
    )
    return make_pipeline(columns, *([StandardScaler()] if scaled else []), classifier)


def build_ordinal_pipeline(classifier: Estimator) -> Pipeline:
    """Return a classifier that handles gaps itself, after categories become numbers.

    An unknown category becomes a gap.
    """
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_pipeline(
        make_column_transformer(("passthrough", NUMBERS), (codes, CATEGORIES)), classifier
    )
