"""SMOTE: artificial training cases, so that each label has as many."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from sklearn.dummy import DummyClassifier

from made_up_cases import leaderboard_row, make_examples
from moot.datasets import LOADERS, LoadContext
from moot.training.baselines import Baseline, rebalance, select
from moot.training.evaluation import CROSS_VALIDATION, evaluate
from moot.training.examples import examples
from moot.training.preprocessing import encoded
from published_findings import FINDINGS, published_rows

pytestmark = pytest.mark.skipif(
    find_spec("imblearn") is None, reason="imbalanced-learn comes with the extra 'tabular'"
)


def test_a_rebalanced_baseline_is_fitted_on_equal_numbers_of_each_label() -> None:
    plain = Baseline(
        "prior", "Prior", (), "tabular", lambda seed, threads: encoded(DummyClassifier())
    )
    entry = rebalance(plain)
    assert (entry.name, entry.stored) == ("prior-smote", False)
    data = make_examples()
    inputs = data.inputs(entry)
    model = entry.build(1, 1).fit(inputs, data.truth[:, 1])
    assert model.predict_proba(inputs.head(1)).tolist() == [[0.5, 0.5]]


def test_rebalanced_models_are_nearer_to_the_published_accuracies(shared_data: Path) -> None:
    """The finding of Table 2: three models without chance in their fit tell the ways apart."""
    options = LOADERS["nlsy97"].options.model_validate({"source": "local"})
    loaded = LOADERS["nlsy97"].load(options, LoadContext("nlsy97", shared_data, Path(), 42))
    data = examples(loaded.cases, loaded.task, loaded.features)
    entries = select(["ridge", "lda", "knn"])
    board = evaluate(data, [*entries, *map(rebalance, entries)], seed=42).leaderboard
    published = published_rows("courtroom", "table2_tabular_leaderboard")
    parts: dict[str, list[str]] = {}
    for ending in ("", "-smote"):
        for entry in entries:
            row = leaderboard_row(board, entry.name + ending, CROSS_VALIDATION)
            parts.setdefault(ending, []).append(f"{row.accuracy:.3f}")
            distance = abs(row.accuracy - published[entry.name]["accuracy"])
            assert (distance < 0.05) == bool(ending)
    [finding] = [text for text in FINDINGS["courtroom/table2"] if "SMOTE" in text]
    assert f"reach {', '.join(parts[''])} " in finding
    assert f"with SMOTE {', '.join(parts['-smote'])};" in finding
