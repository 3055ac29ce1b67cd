"""Fitted baselines on disk, stored with skops instead of pickle.

A skops file lists its types, and only the types listed here are built.

The file keeps the estimator, and the labels in the order of its targets. XGBoost and CatBoost use
their own format within it. Two files of one model may differ in bytes, since skops names parts by
memory address, but not in predictions.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from moot.core.artifacts import atomic_path
from moot.core.errors import UserError
from moot.core.extensions import FOLDERS
from moot.core.types import Estimator, JsonObject

TRUSTED = (
    "catboost.core.CatBoostClassifier",
    "moot.training.several_labels.OneModelPerLabel",
    "numpy.dtype",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A fitted estimator whose targets are positions in `labels`."""

    estimator: Estimator
    labels: tuple[str, ...]

    def predict(self, inputs: pd.DataFrame) -> NDArray[np.object_]:
        """Return the label of each row.

        Tabular inputs come from `moot.training.examples.plain_features`.
        """
        answers: NDArray[np.object_] = np.array(self.labels, dtype=object)[
            self.estimator.predict(inputs)
        ]
        return answers


def store(path: Path, estimator: Estimator, labels: Sequence[str]) -> None:
    """Write a fitted estimator atomically."""
    dump({"estimator": estimator, "labels": list(labels)}, path)


def dump(content: object, path: Path) -> None:
    """Write fitted estimators with skops, atomically."""
    skops_io = _import_skops()
    _make_vocabularies_plain(content, set())
    with atomic_path(path) as part:
        skops_io.dump(content, part)


def _import_skops() -> ModuleType:
    """Import skops, which loads every estimator of scikit-learn, and do not import torch.

    A part of scikit-learn that models do not need would import torch where it is installed, which
    takes three times as long as all else.
    """
    is_torch_hidden = "torch" not in sys.modules
    if is_torch_hidden:
        # pyrefly: ignore[unsupported-operation]
        sys.modules["torch"] = None  # so that its import fails
    try:
        return import_module("skops.io")
    finally:
        if is_torch_hidden:
            del sys.modules["torch"]


def _make_vocabularies_plain(part: object, visited: set[int]) -> None:
    """Replace numpy's integers in vectorizers' vocabularies by Python's, at any depth.

    A vocabulary that was cut to its most frequent terms has numpy's integers. skops writes a file
    for each of them, which takes 20 s for 20,000 terms.
    """
    if id(part) in visited:
        return
    visited.add(id(part))
    inner: list[object] = []
    if isinstance(part, dict):
        inner = list(part.values())
    elif isinstance(part, (list, tuple)):
        inner = list(part)
    elif hasattr(part, "__dict__") and hasattr(part, "get_params"):
        if isinstance(vocabulary := vars(part).get("vocabulary_"), dict):
            vars(part)["vocabulary_"] = {term: int(place) for term, place in vocabulary.items()}
        inner = list(vars(part).values())
    for child in inner:
        _make_vocabularies_plain(child, visited)


def load(path: Path) -> StoredModel:
    """Read a file of `store`; raise `UserError` as `read_trusted` does."""
    prefixes = tuple(f"{package}." for package in FOLDERS)
    content = read_trusted(path, lambda name: name in TRUSTED or name.startswith(prefixes))
    return StoredModel(content["estimator"], tuple(content["labels"]))


def read_trusted(path: Path, is_trusted: Callable[[str], bool]) -> JsonObject:
    """Read a file of `dump` if its types are trusted.

    Raises:
        UserError: the file does not exist, is not a skops file, or contains a type that is not
            trusted.
    """
    skops_io = _import_skops()
    if not path.is_file():
        raise UserError(f"{path}: no such file; the workflow makes it if it is a target.")
    try:
        types = skops_io.get_untrusted_types(file=path)
    except Exception as error:
        raise UserError(
            f"{path}: not a model that moot stored ({error}). Delete it, and run again."
        ) from error
    if untrusted := sorted(name for name in types if not is_trusted(name)):
        raise UserError(
            f"{path}: holds the type {untrusted[0]}, which no model of moot uses; it may run code."
            " Do not load it."
        )
    content: JsonObject = skops_io.load(path, trusted=types)
    return content
