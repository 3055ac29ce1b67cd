"""The courtroom paper's fourteen tabular classifiers, and two trivial references.

Settings are PyCaret's defaults, since the paper's leaderboard is PyCaret's (Table 2): 100 trees, no
scaling of columns, a linear support vector machine trained by stochastic gradient descent.
`docs/baselines.md` lists the differences. Source: AgenticSimLaw, section "Traditional Baseline
Models", Table 2.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from moot.core.cases import BASE_RATE_COIN, MAJORITY_CLASS
from moot.core.optional import import_optional
from moot.training.baselines import Builder, baseline

if TYPE_CHECKING:
    from sklearn.dummy import DummyClassifier
    from sklearn.pipeline import Pipeline

TREES = 100
PAPER = ("courtroom_paper", "tabular")
REFERENCE = ("reference", "courtroom_paper", "tabular", "text")


def base_rate(seed: int, threads: int) -> "DummyClassifier":
    """Predict each label with its share in training."""
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


baseline(MAJORITY_CLASS, "Majority class", family=REFERENCE, kind="any", stored=False)(base_rate)
baseline(
    BASE_RATE_COIN, "Base-rate coin", family=REFERENCE, kind="any", stored=False, randomised=True
)(base_rate)


def classifier(
    path: str,
    *,
    seeded: str = "random_state",
    threaded: str = "",
    extra: str = "",
    scaled: bool = False,
    **settings: object,
) -> Builder:
    """Return the builder of a classifier behind imputation and encoding.

    Args:
        path: its class, with the module.
        seeded, threaded: the parameters for the seed and the number of threads; "" for none.
        extra: the extra that installs it; "" for the default installation.
        scaled: whether columns are scaled.
    """

    def build(seed: int, threads: int) -> "Pipeline":
        from moot.training.preprocessing import encoded

        module, _, name = path.rpartition(".")
        library = import_optional(module, extra) if extra else import_module(module)
        parameters = {name: value for name, value in ((seeded, seed), (threaded, threads)) if name}
        return encoded(getattr(library, name)(**settings, **parameters), scaled=scaled)

    return build


NEIGHBOURS = "sklearn.neighbors.KNeighborsClassifier"
LINEAR = "sklearn.linear_model.SGDClassifier"
BUILDERS = {
    ("et", "Extra trees"): classifier(
        "sklearn.ensemble.ExtraTreesClassifier", threaded="n_jobs", n_estimators=TREES
    ),
    ("catboost", "CatBoost"): classifier(
        "catboost.CatBoostClassifier",
        extra="tabular",
        seeded="random_seed",
        threaded="thread_count",
        silent=True,
        allow_writing_files=False,
    ),
    ("rf", "Random forest"): classifier(
        "sklearn.ensemble.RandomForestClassifier", threaded="n_jobs", n_estimators=TREES
    ),
    ("gbc", "Gradient boosting"): classifier(
        "sklearn.ensemble.GradientBoostingClassifier", n_estimators=TREES
    ),
    ("ridge", "Ridge classifier"): classifier("sklearn.linear_model.RidgeClassifier"),
    ("lda", "Linear discriminant analysis"): classifier(
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis", seeded=""
    ),
    ("lr", "Logistic regression"): classifier(
        "sklearn.linear_model.LogisticRegression", max_iter=1000
    ),
    ("xgboost", "XGBoost"): classifier(
        "xgboost.XGBClassifier", threaded="n_jobs", n_estimators=TREES
    ),
    ("ada", "AdaBoost"): classifier("sklearn.ensemble.AdaBoostClassifier"),
    ("nb", "Naive Bayes"): classifier("sklearn.naive_bayes.GaussianNB", seeded=""),
    ("dt", "Decision tree"): classifier("sklearn.tree.DecisionTreeClassifier"),
    ("svm", "Support vector machine (linear)"): classifier(LINEAR, loss="hinge", eta0=0.001),
    # One column per category makes covariances singular; PyCaret's scikit-learn only warned about
    # this.
    ("qda", "Quadratic discriminant analysis"): classifier(
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis", seeded="", reg_param=0.1
    ),
    ("knn", "k nearest neighbours"): classifier(
        NEIGHBOURS, seeded="", threaded="n_jobs", algorithm="brute"
    ),
}
FURTHER_BUILDERS = {
    ("svm-scaled", "Support vector machine (linear), scaled columns"): classifier(
        LINEAR, scaled=True, loss="hinge", eta0=0.001
    ),
    ("knn-scaled", "k nearest neighbours, scaled columns"): classifier(
        NEIGHBOURS, scaled=True, seeded="", threaded="n_jobs", algorithm="brute"
    ),
}
for names, builder in BUILDERS.items():
    baseline(*names, family=PAPER)(builder)
for names, builder in FURTHER_BUILDERS.items():
    baseline(*names, family="tabular")(builder)
