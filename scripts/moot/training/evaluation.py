"""Cross-validation on the training split and a score on the test split, equal for all baselines.

The courtroom paper's leaderboard comes from PyCaret's cross-validation. The paper does not state
folds or split; the script of its authors has five folds on 80 % of the cases. Here only the
training split (60 % of the cases) is divided into ten stratified folds. Thresholds are chosen on
the validation split, so no baseline learns from it. Preprocessing is part of the estimator and is
therefore fitted within each fold.
"""

import json
import logging
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
import pandas as pd
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from moot.core.cases import SplitName, Task, stable_fraction
from moot.core.errors import UnavailableError
from moot.core.log import LOG
from moot.core.schemas import SCHEMAS
from moot.core.types import Estimator, Numbers
from moot.stats.classification import (
    METRICS,
    ClassificationOutcome,
    Scored,
    confusion,
    measure,
    statistics_with_interval,
)
from moot.stats.jackknife import ClusterJackknife
from moot.training.baselines import Baseline
from moot.training.examples import Examples
from moot.training.several_labels import OneModelPerLabel

FOLDS = 10
CROSS_VALIDATION: Final = "cross_validation"
TEST: Final = "test"
COUNT_COLUMNS = ("tn", "fp", "fn", "tp")
LEADERBOARD_COLUMNS = tuple(SCHEMAS["baselines"].names)
PREDICTION_COLUMNS = tuple(SCHEMAS["baseline_predictions"].names)


_KINDS = {"string": "str", "int64": "Int64", "double": "float64"}
Row = dict[str, object]
"""A row of the leaderboard."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of `evaluate`.

    Attributes:
        leaderboard: two rows per baseline, columns `LEADERBOARD_COLUMNS`.
        predictions: one row per baseline and test case, columns `PREDICTION_COLUMNS`.
        models: the estimators fitted on the training split, by baseline; targets are positions in
            the task's labels.
    """

    leaderboard: pd.DataFrame
    predictions: pd.DataFrame
    models: dict[str, Estimator]


def evaluate(
    data: Examples,
    baselines: Iterable[Baseline],
    *,
    seed: int,
    threads: int = 1,
    folds: int = FOLDS,
) -> Evaluation:
    """Cross-validate each baseline on the training split, then score it on the test split.

    For the score it is fitted on the whole training split.

    Args:
        seed: decides folds, models and jackknife draws; the same seed gives the same result for any
            `threads`.
        threads: the number of folds fitted at once.
        folds: the number of folds; fewer if a label has fewer training cases (see the column
            `folds`).

    Returns:
        The leaderboard has two rows per baseline, distinguished by `evaluation`: `cross_validation`
        (the mean over the folds of every metric; confusion counts are summed) and `test` (with the
        ends `_low` and `_high` of 95 % intervals by cluster for accuracy, f1_macro and auc). Metric
        columns are named as in the published figures (`recall_weighted`). `status` is "ok", or the
        reason why there are no figures (a failing baseline does not affect the others), or the
        number of test cases whose label does not occur in training, so that no model can be right
        (`unseen`). `left_out` counts training cases that were not used because they resemble a test
        case. `confusion` is JSON, rows actual and columns predicted in the order of the labels;
        with two labels there are also `tn`, `fp`, `fn`, `tp`. Only `fit_seconds`, which is
        measured, differs between runs. If cases may have several labels, each label has a separate
        model, and a case that no model claims gets the likeliest label. In the predictions, `score`
        is the positive label's probability or decision value, as stated by `score_kind`.
    """
    rows: list[Row] = []
    predictions: list[pd.DataFrame] = []
    models: dict[str, Estimator] = {}
    for entry in baselines:
        identity = {
            "dataset": data.dataset,
            "baseline": entry.name,
            "title": entry.title,
            "families": ",".join(entry.families),
            "left_out": data.left_out,
        }
        inputs = data.inputs(entry)
        try:
            with threadpool_limits(1):  # the order of a parallel sum would change last digits
                validation_row = _cross_validate(
                    entry, data, inputs, seed=seed, threads=threads, folds=folds
                )
                test_row, predicted, models[entry.name] = _test(
                    entry, data, inputs, seed=seed, threads=threads
                )
        except Exception as error:  # an error of a library affects only this baseline
            prefix = (
                "" if isinstance(error, UnavailableError) else f"failed: {type(error).__name__}: "
            )
            # XGBoost refuses labels with a gap, which a label of the test split alone leaves
            reason = _unseen(data).get("status") or " ".join(str(error).split())
            status = f"{prefix}{reason}"
            rows += [
                {**identity, "evaluation": part, "status": status}
                for part in (CROSS_VALIDATION, TEST)
            ]
            LOG.log(
                logging.WARNING if prefix else logging.INFO,
                "%s, %s: %s",
                data.dataset,
                entry.title,
                status,
            )
        else:
            rows += [
                {**identity, "status": "ok", **validation_row},
                {**identity, "status": "ok", **test_row},
            ]
            predictions.append(predicted)
            accuracies = (
                validation_row.get("accuracy", np.nan),
                test_row["accuracy"],
                test_row["n"],
            )
            LOG.info(
                "%s, %s: accuracy %.3f in folds, %.3f of %d test cases",
                data.dataset,
                entry.title,
                *accuracies,
            )
    return Evaluation(_leaderboard(rows), _predictions(predictions), models)


@dataclass(frozen=True, slots=True)
class _Observer:
    """Compares a fitted estimator with the truth; called by scikit-learn on each fold."""

    task: Task
    positive: int | None
    randomised: bool

    def __call__(
        self, estimator: Estimator, inputs: pd.DataFrame, targets: Numbers
    ) -> dict[str, float]:
        outcome = self.outcome(estimator, inputs, targets)
        cells = {f"cell_{i}": value for i, value in enumerate(confusion(outcome).ravel())}
        return measure(outcome) | cells

    def outcome(
        self, estimator: Estimator, inputs: pd.DataFrame, targets: Numbers
    ) -> ClassificationOutcome:
        width = len(self.task.labels)
        scores, scored = _scores(estimator, inputs, width)
        if self.randomised and scores is not None:
            assigned = scores
        elif self.task.multilabel:
            assigned = _with_a_label(
                np.asarray(estimator.predict(inputs), dtype=np.float64), scores
            )
        else:
            assigned = np.eye(width)[np.asarray(estimator.predict(inputs)).ravel().astype(int)]
        truth = targets if self.task.multilabel else np.eye(width)[targets]
        return ClassificationOutcome(
            truth, assigned, scores, scored, self.positive, self.task.multilabel
        )


def _with_a_label(
    assigned: NDArray[np.float64], scores: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return predicted sets of labels, none of them empty.

    Every case has a label, so an empty set gets the likeliest one.
    """
    if scores is None:
        return assigned
    empty = assigned.sum(axis=1) == 0
    assigned[empty] = np.eye(assigned.shape[1])[scores[empty].argmax(axis=1)]
    return assigned


def _scores(
    estimator: Estimator, inputs: pd.DataFrame, width: int
) -> tuple[NDArray[np.float64] | None, Scored]:
    """Return probabilities, or else decision values, one column per label.

    A label that does not occur in training comes last.
    """
    probable = hasattr(estimator, "predict_proba")
    if not probable and not hasattr(estimator, "decision_function"):
        return None, "decision"
    values = np.asarray(
        (estimator.predict_proba if probable else estimator.decision_function)(inputs)
    )
    if values.ndim == 1:
        values = np.stack([-values, values], axis=1)
    scores = np.full((len(values), width), 0.0 if probable else -np.inf)
    scores[:, np.asarray(estimator.classes_).astype(int)] = values
    return scores, "probability" if probable else "decision"


def _estimator(entry: Baseline, task: Task, seed: int, threads: int) -> Estimator:
    """Return a fresh estimator.

    For several labels at once its last step is fitted once for each label, unless the estimator
    learns several labels itself.
    """
    estimator = entry.build(seed, threads)
    if not task.multilabel or getattr(estimator, "learns_several_labels", False):
        return estimator
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return estimator.set_params(**{name: OneModelPerLabel(last)})
    return OneModelPerLabel(estimator)


def _part(
    data: Examples, inputs: pd.DataFrame, split_name: SplitName
) -> tuple[pd.DataFrame, Numbers]:
    """Return the inputs and targets of one split.

    Targets are a matrix for several labels per case, else positions in the labels.
    """
    rows = (data.cases["split"] == split_name).to_numpy()
    truth = data.truth[rows]
    return inputs[rows].reset_index(drop=True), (
        truth if data.task.multilabel else truth.argmax(axis=1)
    )


def _cross_validate(
    entry: Baseline, data: Examples, inputs: pd.DataFrame, *, seed: int, threads: int, folds: int
) -> Row:
    estimator = _estimator(entry, data.task, seed, 1)
    inputs, targets = _part(data, inputs, "train")
    smallest = (
        len(targets)
        if data.task.multilabel
        else int(np.unique(targets, return_counts=True)[1].min())
    )
    folds = min(folds, smallest)
    if folds < 2:
        reason = "failed: a label has a single training case, and cross-validation needs two"
        return {"evaluation": CROSS_VALIDATION, "status": reason, "n": len(targets)}
    splitter = (KFold if data.task.multilabel else StratifiedKFold)(
        folds, shuffle=True, random_state=seed
    )
    observer = _Observer(data.task, data.positive, entry.randomised)
    with parallel_config("loky", inner_max_num_threads=1), warnings.catch_warnings(action="ignore"):
        scores = cross_validate(
            estimator,
            inputs,
            targets,
            cv=splitter,
            scoring=observer,
            n_jobs=threads,
            error_score="raise",
        )
    width = len(data.task.labels)
    cells = np.array([scores[f"test_cell_{i}"].sum() for i in range(width**2)]).reshape(
        width, width
    )
    means = {metric: float(np.mean(scores[f"test_{metric}"])) for metric in METRICS}
    size = {"evaluation": CROSS_VALIDATION, "n": len(targets), "folds": folds}
    return size | means | _counts(cells, data) | {"fit_seconds": float(np.mean(scores["fit_time"]))}


def _test(
    entry: Baseline, data: Examples, inputs: pd.DataFrame, *, seed: int, threads: int
) -> tuple[Row, pd.DataFrame, Estimator]:
    estimator = _estimator(entry, data.task, seed, threads)
    with warnings.catch_warnings(record=True, action="always") as caught:
        start = time.perf_counter()
        estimator.fit(*_part(data, inputs, "train"))
        seconds = time.perf_counter() - start
        outcome = _Observer(data.task, data.positive, entry.randomised).outcome(
            estimator, *_part(data, inputs, TEST)
        )
    messages = sorted(
        {f"{w.category.__name__}: {str(w.message).strip().splitlines()[0]}" for w in caught}
    )
    cases = data.cases[data.cases["split"] == TEST]
    row = {
        "evaluation": TEST,
        "n": len(cases),
        "warnings": "; ".join(messages),
        "fit_seconds": seconds,
    }
    row |= _unseen(data) | measure(outcome)
    jackknife = ClusterJackknife(cases["cluster"])
    for metric, statistic in statistics_with_interval(outcome).items():
        row[f"{metric}_low"], row[f"{metric}_high"] = jackknife.interval(statistic)
    return (
        row | _counts(confusion(outcome), data),
        _predicted(entry, data, cases, outcome, seed),
        estimator,
    )


def _unseen(data: Examples) -> Row:
    """Describe how many test cases have a label without training cases; "" if none has."""
    is_seen = data.truth[(data.cases["split"] == "train").to_numpy()].any(axis=0)
    test_truth = data.truth[(data.cases["split"] == TEST).to_numpy()]
    unseen = int((test_truth[:, ~is_seen] > 0).any(axis=1).sum())
    words = f"{unseen} of {len(test_truth)} test cases have a label that no training case has"
    row: Row = {"unseen": unseen}
    return row | {"status": words} if unseen else row


def _counts(cells: NDArray[np.float64], data: Examples) -> Row:
    if data.task.multilabel:
        return {}
    counts: Row = {"confusion": json.dumps(cells.round(3).tolist())}
    if data.positive is not None:
        order = [1 - data.positive, data.positive]
        counts |= dict(
            zip(COUNT_COLUMNS, cells[np.ix_(order, order)].ravel().tolist(), strict=True)
        )
    return counts


def _predicted(
    entry: Baseline, data: Examples, cases: pd.DataFrame, outcome: ClassificationOutcome, seed: int
) -> pd.DataFrame:
    """Return the test split's predictions.

    For a coin they are one draw per case and label, by the seed.
    """
    labels, answers = np.array(data.task.labels, dtype=object), outcome.assigned
    ranking = None if outcome.positive is None else outcome.scores
    if entry.randomised:
        answers = _draw_answers(answers, cases["case_id"], seed, data.task.multilabel)
    return pd.DataFrame(
        {
            "dataset": data.dataset,
            "baseline": entry.name,
            "case_id": cases["case_id"].to_numpy(),
            "target": cases["target"].to_numpy(),
            "prediction": [";".join(sorted(labels[row > 0])) for row in answers],
            "score": np.nan if ranking is None else ranking[:, outcome.positive],
            "score_kind": "" if ranking is None else outcome.scored,
        },
        columns=list(PREDICTION_COLUMNS),
    )


def _draw_answers(
    probabilities: NDArray[np.float64], case_ids: Iterable[str], seed: int, multilabel: bool
) -> Numbers:
    """Return one draw per case, or per case and label.

    It depends only on seed and case.
    """
    width = probabilities.shape[1]
    if multilabel:
        draws = [stable_fraction("coin", seed, *key) for key in product(case_ids, range(width))]
        return probabilities > np.array(draws).reshape(probabilities.shape)
    limits = np.array([[stable_fraction("coin", seed, case)] for case in case_ids])
    answers: Numbers = np.eye(width)[(probabilities.cumsum(axis=1) > limits).argmax(axis=1)]
    return answers


def _leaderboard(rows: list[Row]) -> pd.DataFrame:
    """Return rows with every column and its type, even if no baseline ran."""
    frame = pd.DataFrame(rows, columns=list(LEADERBOARD_COLUMNS))
    kinds = {field.name: _KINDS[str(field.type)] for field in SCHEMAS["baselines"]}
    words = [name for name, kind in kinds.items() if kind == "str"]
    frame[words] = frame[words].astype("object").fillna("")
    return frame.astype(kinds)


def _predictions(frames: list[pd.DataFrame]) -> pd.DataFrame:
    empty = pd.DataFrame(columns=list(PREDICTION_COLUMNS)).astype({"score": "float64"})
    return pd.concat(frames, ignore_index=True) if frames else empty
