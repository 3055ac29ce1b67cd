"""Text baselines: their inputs, and what they learn."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from moot.core.errors import UnavailableError
from moot.datasets.topics import topic_and_text
from moot.training.baselines import BASELINES
from moot.training.baselines.text import SENTENCE_MODEL, sentence_model
from moot.training.text_features import SentimentSums, TopicMajority

NAMES = [
    "bag-of-words",
    "tfidf-logistic-regression",
    "tfidf-svm",
    "topic-majority",
    "unigram-sentiment-svm",
    "unigram-svm",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_text_baseline_learns_its_training_texts(name: str) -> None:
    pairs = product(("zoos", "trams"), ("splendid", "awful"))
    texts = [topic_and_text(topic, "Post", f"{word} {word} indeed") for topic, word in pairs]
    frame = pd.DataFrame({"text": texts * 5})
    targets = np.array([1, 0, 1, 0] * 5)
    fitted = BASELINES[name].build(1, 1).fit(frame, targets)
    expected = 0.5 if name == "topic-majority" else 1.0
    assert accuracy_score(targets, fitted.predict(frame)) == expected


def test_baselines_read_only_the_text() -> None:
    """An attribute reveals the target, but no baseline reads it."""
    frame = pd.DataFrame({"text": ["same words"] * 8, "stance": ["pro", "con"] * 4})
    for name in NAMES:
        fitted = BASELINES[name].build(1, 1).fit(frame, np.array([1, 0] * 4))
        assert len(set(fitted.predict(frame))) == 1, name


def test_topic_majority_falls_back_to_all_topics() -> None:
    frame = pd.DataFrame(
        {"text": [topic_and_text(t, "Post", "x") for t in ("a", "a", "a", "b", "b")]}
    )
    fitted = TopicMajority().fit(frame, np.array(["pro", "pro", "con", "con", "con"]))
    unseen = pd.DataFrame({"text": [topic_and_text(t, "Post", "x") for t in ("a", "b", "unseen")]})
    assert list(fitted.predict(unseen)) == ["pro", "con", "con"]
    assert np.allclose(fitted.predict_proba(unseen).sum(axis=1), 1)


def test_sentiment_sums_separate_good_from_bad_words() -> None:
    positive, negative, neutral = SentimentSums().transform(
        ["A wonderful, HAPPY result!", "terrible; a disaster", "the table stands"]
    )
    assert positive[0] > 0 == positive[1] and negative[1] < 0 == negative[0] and not neutral.any()


def test_sentence_embedding_names_the_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SENTENCE_MODEL, raising=False)
    with pytest.raises(UnavailableError, match=f"no encoder named: set {SENTENCE_MODEL}"):
        sentence_model()
