"""SMOTE: artificial training cases, so that each label has as many."""

from importlib.util import find_spec

import pytest
from sklearn.dummy import DummyClassifier

from made_up_cases import make_examples
from moot.training.baselines import Baseline, rebalance
from moot.training.preprocessing import encoded

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
