"""The courtroom paper's fourteen tabular classifiers, and the two reference points that cost nothing to beat.

Settings are PyCaret's defaults, since the paper's leaderboard is PyCaret's (Table 2): 100 trees, no scaling of columns,
a linear support vector machine trained by stochastic gradient descent. `docs/baselines.md` says where ours differ.
Source: AgenticSimLaw, section "Traditional Baseline Models", Table 2.
"""

from typing import TYPE_CHECKING

from moot.core.cases import BASE_RATE_COIN, MAJORITY_CLASS
from moot.core.optional import optional
from moot.training.baselines import baseline

if TYPE_CHECKING:
    from sklearn.dummy import DummyClassifier
    from sklearn.pipeline import Pipeline

TREES = 100
PAPER = ("courtroom_paper", "tabular")
REFERENCE = ("reference", "courtroom_paper", "tabular", "text")


@baseline(MAJORITY_CLASS, "Majority class", family=REFERENCE, kind="any", stored=False)
def majority_class(seed: int, threads: int) -> "DummyClassifier":
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


@baseline(BASE_RATE_COIN, "Base-rate coin", family=REFERENCE, kind="any", stored=False, randomised=True)
def base_rate_coin(seed: int, threads: int) -> "DummyClassifier":
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


@baseline("et", "Extra trees", family=PAPER)
def extra_trees(seed: int, threads: int) -> "Pipeline":
    from sklearn.ensemble import ExtraTreesClassifier

    from moot.training.preprocessing import encoded

    return encoded(ExtraTreesClassifier(TREES, random_state=seed, n_jobs=threads))


@baseline("catboost", "CatBoost", family=PAPER)
def catboost(seed: int, threads: int) -> "Pipeline":
    from moot.training.preprocessing import encoded

    library = optional("catboost", "tabular")
    settings = {"random_seed": seed, "thread_count": threads, "silent": True, "allow_writing_files": False}
    return encoded(library.CatBoostClassifier(**settings))


@baseline("rf", "Random forest", family=PAPER)
def random_forest(seed: int, threads: int) -> "Pipeline":
    from sklearn.ensemble import RandomForestClassifier

    from moot.training.preprocessing import encoded

    return encoded(RandomForestClassifier(TREES, random_state=seed, n_jobs=threads))


@baseline("gbc", "Gradient boosting", family=PAPER)
def gradient_boosting(seed: int, threads: int) -> "Pipeline":
    from sklearn.ensemble import GradientBoostingClassifier

    from moot.training.preprocessing import encoded

    return encoded(GradientBoostingClassifier(n_estimators=TREES, random_state=seed))


@baseline("ridge", "Ridge classifier", family=PAPER)
def ridge(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import RidgeClassifier

    from moot.training.preprocessing import encoded

    return encoded(RidgeClassifier(random_state=seed))


@baseline("lda", "Linear discriminant analysis", family=PAPER)
def linear_discriminant(seed: int, threads: int) -> "Pipeline":
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from moot.training.preprocessing import encoded

    return encoded(LinearDiscriminantAnalysis())


@baseline("lr", "Logistic regression", family=PAPER)
def logistic_regression(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import LogisticRegression

    from moot.training.preprocessing import encoded

    return encoded(LogisticRegression(max_iter=1000, random_state=seed))


@baseline("xgboost", "XGBoost", family=PAPER)
def xgboost(seed: int, threads: int) -> "Pipeline":
    from xgboost import XGBClassifier

    from moot.training.preprocessing import encoded

    return encoded(XGBClassifier(n_estimators=TREES, random_state=seed, n_jobs=threads))


@baseline("ada", "AdaBoost", family=PAPER)
def ada_boost(seed: int, threads: int) -> "Pipeline":
    from sklearn.ensemble import AdaBoostClassifier

    from moot.training.preprocessing import encoded

    return encoded(AdaBoostClassifier(random_state=seed))


@baseline("nb", "Naive Bayes", family=PAPER)
def naive_bayes(seed: int, threads: int) -> "Pipeline":
    from sklearn.naive_bayes import GaussianNB

    from moot.training.preprocessing import encoded

    return encoded(GaussianNB())


@baseline("dt", "Decision tree", family=PAPER)
def decision_tree(seed: int, threads: int) -> "Pipeline":
    from sklearn.tree import DecisionTreeClassifier

    from moot.training.preprocessing import encoded

    return encoded(DecisionTreeClassifier(random_state=seed))


@baseline("svm", "Support vector machine (linear)", family=PAPER)
def linear_svm(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import SGDClassifier

    from moot.training.preprocessing import encoded

    return encoded(SGDClassifier(loss="hinge", eta0=0.001, random_state=seed))


@baseline("svm-scaled", "Support vector machine (linear), scaled columns", family="tabular")
def linear_svm_scaled(seed: int, threads: int) -> "Pipeline":
    from sklearn.linear_model import SGDClassifier

    from moot.training.preprocessing import encoded

    return encoded(SGDClassifier(loss="hinge", eta0=0.001, random_state=seed), scaled=True)


@baseline("knn-scaled", "k nearest neighbours, scaled columns", family="tabular")
def nearest_neighbours_scaled(seed: int, threads: int) -> "Pipeline":
    from sklearn.neighbors import KNeighborsClassifier

    from moot.training.preprocessing import encoded

    return encoded(KNeighborsClassifier(algorithm="brute", n_jobs=threads), scaled=True)


@baseline("qda", "Quadratic discriminant analysis", family=PAPER)
def quadratic_discriminant(seed: int, threads: int) -> "Pipeline":
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    from moot.training.preprocessing import encoded

    # One column a category makes covariances singular, which PyCaret's scikit-learn let pass with a warning.
    return encoded(QuadraticDiscriminantAnalysis(reg_param=0.1))


@baseline("knn", "k nearest neighbours", family=PAPER)
def nearest_neighbours(seed: int, threads: int) -> "Pipeline":
    from sklearn.neighbors import KNeighborsClassifier

    from moot.training.preprocessing import encoded

    return encoded(KNeighborsClassifier(algorithm="brute", n_jobs=threads))
