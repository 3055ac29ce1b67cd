"""Rank features by their importance for the label, on the training split alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.core.errors import UserError
from moot.core.types import Column

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

Ranking = Literal["mutual_information", "permutation", "shap", "leave_one_out"]
Scores = NDArray[np.float64]
_FOLDS, _REPEATS = 5, 5
_AUC_BY_CHANCE = 0.5


def rank_features(features: pd.DataFrame, ranking: Ranking, seed: int) -> "pd.Series[float]":
    """Return the importance of the features of a data set, highest first; ties in order of name.

    Args:
        features: case_id, split, label, then one typed column per feature; only rows with split
            "train" are used.
        ranking: mutual_information (of each feature with the label), permutation (loss of AUC when
            a feature of the test fold is shuffled), shap (mean absolute SHAP value in a tree
            model; needs the package `shap`), or leave_one_out (loss of AUC of a tree model that is
            trained without the feature).
        seed: the configuration's seed.

    Raises:
        UserError: a label has too few training rows, or `shap` is not installed.
    """
    train = features[features["split"] == "train"]
    rarest = int(train["label"].value_counts().min()) if train["label"].nunique() > 1 else 0
    if rarest < _FOLDS:
        raise UserError(
            f"ranking features: found {rarest} training cases of the rarer label, expected at least"
            f" {_FOLDS}. Use more cases, or `features: all`."
        )
    columns = features.columns.drop(["case_id", "split", "label"])
    inputs = pd.DataFrame({name: _codes(train[name]) for name in columns})
    positive = (train["label"] == sorted(train["label"].unique())[-1]).to_numpy()
    importances = _METHODS[ranking](inputs, positive, seed)
    ranked = pd.Series(importances, index=columns, name="importance").sort_index()
    return ranked.sort_values(ascending=False, kind="stable")


def _codes(values: Column) -> Scores:
    """Return a column as numbers: flags 0 or 1, codes of categories, the median if missing.

    A missing category has the code -1.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.codes, dtype=np.float64)
    numbers = values.astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    typical = 0.0 if np.isnan(numbers).all() else np.nanmedian(numbers)
    return np.where(np.isnan(numbers), typical, numbers)


def _mutual_information(inputs: pd.DataFrame, positive: NDArray[np.bool_], seed: int) -> Scores:
    from sklearn.feature_selection import mutual_info_classif

    # Counts and categories have few values; measures have many.
    is_discrete = (inputs.nunique() <= 20).to_numpy()
    scores: Scores = mutual_info_classif(
        inputs, positive, discrete_features=is_discrete, random_state=seed
    )
    return scores


def _model(seed: int) -> "HistGradientBoostingClassifier":
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=8, learning_rate=0.08, random_state=seed
    )


def _folds(seed: int) -> "StratifiedKFold":
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)


def _permutation(inputs: pd.DataFrame, positive: NDArray[np.bool_], seed: int) -> Scores:
    from sklearn.inspection import permutation_importance

    losses = []
    for training_rows, test_rows in _folds(seed).split(inputs, positive):
        model = _model(seed).fit(inputs.iloc[training_rows], positive[training_rows])
        result = permutation_importance(
            model,
            inputs.iloc[test_rows],
            positive[test_rows],
            scoring="roc_auc",
            n_repeats=_REPEATS,
            random_state=seed,
        )
        losses.append(result.importances_mean)
    return np.asarray(np.mean(losses, axis=0), dtype=np.float64)


def _shap(inputs: pd.DataFrame, positive: NDArray[np.bool_], seed: int) -> Scores:
    try:
        import shap
    except ImportError as missing:
        raise UserError(
            "ranking 'shap' needs the package shap, which is not installed. Install the extra with "
            "`make env EXTRAS=tabular`, or choose mutual_information or permutation."
        ) from missing
    model = _model(seed).fit(inputs, positive)
    return np.asarray(
        np.abs(shap.TreeExplainer(model).shap_values(inputs)).mean(axis=0), dtype=np.float64
    )


def _leave_one_out(inputs: pd.DataFrame, positive: NDArray[np.bool_], seed: int) -> Scores:
    from sklearn.model_selection import cross_val_score

    def mean_auc(table: pd.DataFrame) -> float:
        if not len(table.columns):
            return _AUC_BY_CHANCE
        scores = cross_val_score(_model(seed), table, positive, scoring="roc_auc", cv=_folds(seed))
        return float(np.mean(scores))

    auc_of_all = mean_auc(inputs)
    return np.asarray([auc_of_all - mean_auc(inputs.drop(columns=name)) for name in inputs])


_METHODS: dict[str, Callable[[pd.DataFrame, NDArray[np.bool_], int], Scores]] = {
    "mutual_information": _mutual_information,
    "permutation": _permutation,
    "shap": _shap,
    "leave_one_out": _leave_one_out,
}
