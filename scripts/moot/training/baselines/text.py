"""Trained text classifiers: what the papers' data sets were measured with before there were language models.

They read the case's text alone, never an attribute. Where the text has a topic on its first line, topic and body get
vocabularies of their own (as the bag of words of the VAST paper has them), so that a topic word in the body is another
feature than the topic itself. The settings are scikit-learn's, unless a comment says why not.

Sources: Allaway and McKeown (2020) for majority by topic and bag of words; Bar-Haim et al. (2017) for the unigram
support vector machines with and without a sentiment lexicon. The lexicon is VADER's (Hutto and Gilbert, 2014), which
the package vaderSentiment ships.
"""

import os
from typing import TYPE_CHECKING

from moot.core.errors import UnavailableError
from moot.core.optional import optional
from moot.training.baselines import baseline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from moot.training.text_features import TopicMajority

ITERATIONS = 5000
MARGIN = 0.1  # C of the unigram SVMs: with scikit-learn's 1 the solver takes ten times as long on VAST, for 0.01 of F1
FAMILY = "text"
SENTENCE_MODEL = "MOOT_SENTENCE_MODEL"


@baseline("topic-majority", "Majority by topic", family=FAMILY, kind="text", stored=False)
def topic_majority(seed: int, threads: int) -> "TopicMajority":
    from moot.training.text_features import TopicMajority

    return TopicMajority()


@baseline("bag-of-words", "Bag of words, logistic regression", family=FAMILY, kind="text", stored=False)
def bag_of_words(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from moot.training.text_features import words_of_topic_and_body

    return make_pipeline(words_of_topic_and_body(), LogisticRegression(max_iter=ITERATIONS, random_state=seed))


@baseline("unigram-svm", "Unigram SVM", family=FAMILY, kind="text", stored=False)
def unigram_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from moot.training.text_features import words_of_topic_and_body

    return make_pipeline(
        words_of_topic_and_body(binary=True), LinearSVC(C=MARGIN, max_iter=ITERATIONS, random_state=seed)
    )


@baseline("unigram-sentiment-svm", "Unigram and sentiment lexicon SVM", family=FAMILY, kind="text", stored=False)
def unigram_sentiment_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.pipeline import FeatureUnion, make_pipeline
    from sklearn.preprocessing import MaxAbsScaler
    from sklearn.svm import LinearSVC

    from moot.training.text_features import SentimentSums, bodies, pipeline_on, words_of_topic_and_body

    sentiment = pipeline_on(bodies, SentimentSums(), MaxAbsScaler())
    features = FeatureUnion([("words", words_of_topic_and_body(binary=True)), ("sentiment", sentiment)])
    return make_pipeline(features, LinearSVC(C=MARGIN, max_iter=ITERATIONS, random_state=seed))


@baseline("tfidf-logistic-regression", "TF-IDF, logistic regression", family=FAMILY, kind="text", stored=False)
def tfidf_logistic_regression(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression

    from moot.training.text_features import pipeline_on, tfidf, whole_texts

    return pipeline_on(whole_texts, tfidf(), LogisticRegression(max_iter=ITERATIONS, random_state=seed))


@baseline("tfidf-svm", "TF-IDF, linear SVM", family=FAMILY, kind="text", stored=False)
def tfidf_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.svm import LinearSVC

    from moot.training.text_features import pipeline_on, tfidf, whole_texts

    return pipeline_on(whole_texts, tfidf(), LinearSVC(max_iter=ITERATIONS, random_state=seed))


@baseline("sentence-embedding", "Sentence embedding, logistic regression", family=FAMILY, kind="text", stored=False)
def sentence_embedding(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from moot.training.text_features import SentenceEmbedding, pipeline_on, whole_texts

    embeddings = pipeline_on(whole_texts, SentenceEmbedding(sentence_model()))
    return make_pipeline(embeddings, LogisticRegression(max_iter=ITERATIONS, random_state=seed))


def sentence_model() -> str:
    """The sentence encoder's folder or name, from the environment: no package ships weights.

    Raises:
        UnavailableError: the library is not installed, or no encoder is named.
    """
    optional("sentence_transformers", "text")
    if not os.environ.get(SENTENCE_MODEL):
        raise UnavailableError(f"no encoder named: set {SENTENCE_MODEL} to the folder of a sentence-transformers model")
    return os.environ[SENTENCE_MODEL]


CHARACTERS = "characters"


RUNS = (1, 3)


FEATURES = 50_000


@baseline(
    "character-logistic-regression",
    "Character TF-IDF, logistic regression",
    family=CHARACTERS,
    kind="text",
    stored=False,
)
def character_logistic_regression(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression

    from moot.training.text_features import pipeline_on, whole_texts

    return pipeline_on(whole_texts, _characters(), LogisticRegression(max_iter=ITERATIONS, random_state=seed))


@baseline("character-svm", "Character TF-IDF, linear SVM", family=CHARACTERS, kind="text", stored=False)
def character_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.svm import LinearSVC

    from moot.training.text_features import pipeline_on, whole_texts

    return pipeline_on(whole_texts, _characters(), LinearSVC(max_iter=ITERATIONS, random_state=seed))


def _characters() -> object:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char", ngram_range=RUNS, sublinear_tf=True, max_features=FEATURES)
