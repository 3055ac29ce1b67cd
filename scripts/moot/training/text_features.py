"""The inputs of text baselines: words, sentiment, sentence embeddings, and majorities."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from moot.core.optional import import_optional
from moot.core.types import Estimator, Numbers
from moot.datasets.topics import extract_body, extract_topic

VOCABULARY = 10_000
WORD = r"(?u)\w+|^$"


def topics(frame: pd.DataFrame) -> list[str]:
    return [extract_topic(text) for text in frame["text"]]


def bodies(frame: pd.DataFrame) -> list[str]:
    return [extract_body(text) for text in frame["text"]]


def whole_texts(frame: pd.DataFrame) -> list[str]:
    return list(frame["text"])


def pipeline_on(part: Callable[[pd.DataFrame], list[str]], *steps: Estimator) -> Pipeline:
    """Return steps that read one part of each case."""
    return make_pipeline(FunctionTransformer(part), *steps)


def words(**settings: object) -> CountVectorizer:
    """Return the counts of the most frequent words.

    Single letters are words as well, and so is an empty text.
    """
    return CountVectorizer(max_features=VOCABULARY, token_pattern=WORD, **settings)


def words_of_topic_and_body(**settings: object) -> FeatureUnion:
    """Return the word counts of the topic, followed by the word counts of the body."""
    return FeatureUnion(
        [
            ("topic", pipeline_on(topics, words(**settings))),
            ("body", pipeline_on(bodies, words(**settings))),
        ]
    )


class _Frozen(TransformerMixin, BaseEstimator):
    """A transformer with fixed parameters, which learns nothing."""

    def fit(self, texts: Iterable[str], targets: object = None) -> Self:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class SentimentSums(_Frozen):
    """Converts texts to two columns.

    They are the summed valences of the positive and of the negative words of VADER's lexicon.
    """

    def transform(self, texts: Iterable[str]) -> NDArray[np.float64]:
        lexicon = sentiment_lexicon()
        rows = []
        for text in texts:
            valences = [lexicon.get(word, 0.0) for word in _spaced(text).lower().split()]
            positive_sum = sum(valence for valence in valences if valence > 0)
            negative_sum = sum(valence for valence in valences if valence < 0)
            rows.append([positive_sum, negative_sum])
        return np.array(rows)


def _spaced(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "'-" else " " for letter in text)


@cache
def sentiment_lexicon() -> dict[str, float]:
    """Return VADER's lexicon: the mean valence of each word, from -4 to 4."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # imports requests

    return dict(SentimentIntensityAnalyzer().lexicon)


class TopicMajority(ClassifierMixin, BaseEstimator):
    """The most frequent label of the case's topic in training.

    For an unknown topic it is the most frequent label of all training cases.
    """

    def fit(self, frame: pd.DataFrame, targets: Numbers) -> Self:
        """Count labels by topic; a tie goes to the label that is more frequent overall."""
        self.classes_, positions = np.unique(targets, return_inverse=True)
        self.shares_ = np.bincount(positions) / len(positions)
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for topic, position in zip(topics(frame), positions, strict=True):
            counts[topic][int(position)] += 1
        self.by_topic_ = {}
        for topic, count in counts.items():
            self.by_topic_[topic] = np.array([count[i] for i in range(len(self.classes_))])
        return self

    def predict_proba(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the shares of the labels among the topic's training cases.

        All training cases together weigh as much as one additional case.
        """
        counts = np.array(
            [self.by_topic_.get(topic, np.zeros(len(self.classes_))) for topic in topics(frame)]
        )
        smoothed = counts + self.shares_
        shares: NDArray[np.float64] = smoothed / smoothed.sum(axis=1, keepdims=True)
        return shares

    def predict(self, frame: pd.DataFrame) -> Numbers:
        answers: Numbers = self.classes_[self.predict_proba(frame).argmax(axis=1)]
        return answers


class SentenceEmbedding(_Frozen):
    """Converts each text to a vector, by a frozen sentence encoder."""

    def __init__(self, model: str) -> None:
        self.model = model

    def transform(self, texts: Iterable[str]) -> NDArray[np.float64]:
        encoder = import_optional("sentence_transformers", "text").SentenceTransformer(self.model)
        return np.asarray(encoder.encode(list(texts), normalize_embeddings=True), dtype=np.float64)


def words_and_sentiment() -> FeatureUnion:
    """Return whether each word occurs in topic and body, and the body's sentiment."""
    sentiment = pipeline_on(bodies, SentimentSums(), MaxAbsScaler())
    return FeatureUnion([("words", words_of_topic_and_body(binary=True)), ("sentiment", sentiment)])


def embeddings(model: str) -> Pipeline:
    """Return sentence embeddings of whole texts."""
    return pipeline_on(whole_texts, SentenceEmbedding(model))


def tfidf() -> Pipeline:
    """Return words and pairs of words with damped counts, since long opinions are repetitive."""
    settings = {
        "ngram_range": (1, 2),
        "sublinear_tf": True,
        "max_features": 5 * VOCABULARY,
        "min_df": 2,
    }
    return pipeline_on(whole_texts, TfidfVectorizer(**settings))


def characters() -> Pipeline:
    """Return sequences of one to three characters, for languages without spaces."""
    settings = {
        "analyzer": "char",
        "ngram_range": (1, 3),
        "sublinear_tf": True,
        "max_features": 5 * VOCABULARY,
    }
    return pipeline_on(whole_texts, TfidfVectorizer(**settings))
