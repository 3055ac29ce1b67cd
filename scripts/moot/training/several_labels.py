"""Several labels per case: one model for each label that occurs in training."""

from collections.abc import Callable
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.metaestimators import available_if

from moot.core.types import Estimator

Inputs = pd.DataFrame | NDArray[np.float64]
Scorer = Callable[["OneModelPerLabel", Inputs], NDArray[np.float64]]


def _can(method: str) -> Callable[[Scorer], Scorer]:
    decorate: Callable[[Scorer], Scorer] = available_if(
        lambda estimator: hasattr(estimator.classifier, method)
    )
    return decorate


class OneModelPerLabel(ClassifierMixin, BaseEstimator):
    """One model for each label that some training case has.

    A label without training cases is never predicted.

    Whether the classifier gives probabilities or decision values does not depend on the labels in
    training. `classes_` are the labels that have a model; `predict_proba` and `decision_function`
    give one column for each.
    """

    def __init__(self, classifier: Estimator) -> None:
        self.classifier = classifier

    def fit(self, inputs: Inputs, targets: NDArray[np.float64]) -> Self:
        """Fit on inputs and a matrix of zeros and ones, shape (cases, labels)."""
        self.width_ = targets.shape[1]
        self.classes_ = np.flatnonzero(targets.any(axis=0))
        self.models_ = OneVsRestClassifier(self.classifier).fit(inputs, targets[:, self.classes_])
        return self

    def predict(self, inputs: Inputs) -> NDArray[np.float64]:
        """Return a matrix of zeros and ones, one column per label."""
        assigned = np.zeros((inputs.shape[0], self.width_))
        assigned[:, self.classes_] = np.reshape(
            self.models_.predict(inputs), (-1, len(self.classes_))
        )
        return assigned

    @_can("predict_proba")
    def predict_proba(self, inputs: Inputs) -> NDArray[np.float64]:
        """Return each model's probability that its label holds, a column per label.

        Columns are in the order of `classes_`.
        """
        shares: NDArray[np.float64] = np.stack(
            [model.predict_proba(inputs)[:, -1] for model in self.models_.estimators_], axis=1
        )
        return shares

    @_can("decision_function")
    def decision_function(self, inputs: Inputs) -> NDArray[np.float64]:
        """Return each model's decision value for its label, one column per item of `classes_`."""
        values: NDArray[np.float64] = np.stack(
            [model.decision_function(inputs) for model in self.models_.estimators_], axis=1
        )
        return values
