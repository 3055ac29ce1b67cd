"""Trained text classifiers, as in the papers of the data sets before language models.

They read only the case's text, never an attribute. If the first line of the text is a topic, topic
and body have separate vocabularies (as in the bag of words of the VAST paper), so that a topic word
in the body is a different feature. The settings are scikit-learn's, unless a comment gives a
reason.

Sources: Allaway and McKeown (2020) for majority by topic and bag of words; Bar-Haim et al. (2017)
for the unigram support vector machines with and without a sentiment lexicon. The lexicon is VADER's
(Hutto and Gilbert, 2014), which the package vaderSentiment ships.
"""

import os
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from moot.core.errors import UnavailableError
from moot.core.optional import import_optional
from moot.training.baselines import Builder, baseline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from moot.training.text_features import TopicMajority

ITERATIONS = 5000
# C of the unigram SVMs: with scikit-learn's value of 1 the solver takes ten times as long on VAST,
# for a gain of 0.01 in F1
MARGIN = 0.1
SENTENCE_MODEL = "MOOT_SENTENCE_MODEL"


@baseline("topic-majority", "Majority by topic", family="text", kind="text", stored=False)
def topic_majority(seed: int, threads: int) -> "TopicMajority":
    from moot.training.text_features import TopicMajority

    return TopicMajority()


def sentence_model() -> str:
    """Return the sentence encoder's folder or name from the environment.

    No package ships its weights.

    Raises:
        UnavailableError: no encoder is named, or the library is not installed.
    """
    name = os.environ.get(SENTENCE_MODEL)
    if not name:
        raise UnavailableError(
            f"no encoder named: set {SENTENCE_MODEL} to the folder of a sentence-transformers model"
        )
    import_optional("sentence_transformers", "text")  # takes seconds
    return name


def linear(features: Callable[[ModuleType], object], *, margin: float | None = None) -> Builder:
    """Return the builder of a linear classifier.

    With a `margin` it is a support vector machine, else a logistic regression.

    `features` makes the transformer from `moot.training.text_features`.
    """

    def build(seed: int, threads: int) -> "Pipeline":
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        from moot.training import text_features

        settings = {"max_iter": ITERATIONS, "random_state": seed}
        last = LogisticRegression(**settings) if margin is None else LinearSVC(C=margin, **settings)
        return make_pipeline(features(text_features), last)

    return build


BUILDERS = {
    ("bag-of-words", "Bag of words, logistic regression"): linear(
        lambda transformers: transformers.words_of_topic_and_body()
    ),
    ("unigram-svm", "Unigram SVM"): linear(
        lambda transformers: transformers.words_of_topic_and_body(binary=True), margin=MARGIN
    ),
    ("unigram-sentiment-svm", "Unigram and sentiment lexicon SVM"): linear(
        lambda transformers: transformers.words_and_sentiment(), margin=MARGIN
    ),
    ("tfidf-logistic-regression", "TF-IDF, logistic regression"): linear(
        lambda transformers: transformers.tfidf()
    ),
    ("tfidf-svm", "TF-IDF, linear SVM"): linear(
        lambda transformers: transformers.tfidf(), margin=1.0
    ),
    ("sentence-embedding", "Sentence embedding, logistic regression"): linear(
        lambda transformers: transformers.embeddings(sentence_model())
    ),
}
CHARACTER_BUILDERS = {
    ("character-logistic-regression", "Character TF-IDF, logistic regression"): linear(
        lambda transformers: transformers.characters()
    ),
    ("character-svm", "Character TF-IDF, linear SVM"): linear(
        lambda transformers: transformers.characters(), margin=1.0
    ),
}
for names, builder in BUILDERS.items():
    baseline(*names, family="text", kind="text", stored=False)(builder)
for names, builder in CHARACTER_BUILDERS.items():
    baseline(*names, family="characters", kind="text", stored=False)(builder)
