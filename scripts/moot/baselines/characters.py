"""Trained classifiers over runs of characters, for languages that write no spaces between words (Chinese).

The settings are those of the word baselines beside them (`text.py`), with runs of one to three characters for words.
"""

from typing import TYPE_CHECKING

from moot.baselines import baseline

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

FAMILY = "characters"
RUNS = (1, 3)
FEATURES = 50_000
ITERATIONS = 5000


@baseline(
    "character-logistic-regression", "Character TF-IDF, logistic regression", family=FAMILY, kind="text", stored=False
)
def character_logistic_regression(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression

    from moot.training.text_features import reading, whole_texts

    return reading(whole_texts, _characters(), LogisticRegression(max_iter=ITERATIONS, random_state=seed))


@baseline("character-svm", "Character TF-IDF, linear SVM", family=FAMILY, kind="text", stored=False)
def character_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.svm import LinearSVC

    from moot.training.text_features import reading, whole_texts

    return reading(whole_texts, _characters(), LinearSVC(max_iter=ITERATIONS, random_state=seed))


def _characters() -> object:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char", ngram_range=RUNS, sublinear_tf=True, max_features=FEATURES)
