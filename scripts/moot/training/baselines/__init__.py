"""Baselines: trained models that tables show next to the debates, one builder function each.

A baseline is a builder `(seed, threads) -> estimator` of an unfitted scikit-learn classifier or
pipeline. Imputation, encoding and vectorising belong inside the pipeline, so that `evaluate` fits
them within each fold. Every library is imported inside the builder, since Snakemake reads the
registry at each start; one that only an extra installs, through `optional`.

The inputs of the estimator (`moot.training.examples.Examples`) depend on `kind`: for
`kind="tabular"` the data set's typed feature columns; for `kind="text"` a frame with the column
`text` and one string column for each attribute of the cases; for `kind="any"` whichever there is.
The targets are positions in the task's labels (0 is the first label).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from moot.core.errors import unknown_name
from moot.core.optional import import_optional
from moot.core.registry import Registry
from moot.core.types import Estimator

Kind = Literal["tabular", "text", "any"]
Builder = Callable[[int, int], Estimator]
REBALANCED = "-smote"
"""The ending of the name of a baseline that is trained on rebalanced cases."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A registered baseline.

    Attributes:
        name: its identifier in configuration, artifacts and the published figures.
        families: the groups by which a configuration may ask for it.
        build: makes an unfitted estimator from a seed and a number of threads; the threads never
            change its results.
        randomised: whether its predictions are drawn from its own probabilities, so that it is
            scored by their expectation.
        stored: whether the fitted model is worth keeping under `results/models`.
    """

    name: str
    title: str
    families: tuple[str, ...]
    kind: Kind
    build: Builder
    randomised: bool = False
    stored: bool = True


BASELINES: Registry[Baseline] = Registry("baseline", "baseline", "moot.training.baselines")


def baseline(
    name: str,
    title: str,
    *,
    family: str | tuple[str, ...],
    kind: Kind = "tabular",
    randomised: bool = False,
    stored: bool = True,
) -> Callable[[Builder], Builder]:
    """Register a builder of a baseline.

    Write `@baseline("rf", "Random forest", family="tabular")` above `def forest(seed, threads)`.
    """
    families = (family,) if isinstance(family, str) else family

    def add(build: Builder) -> Builder:
        BASELINES.register(name)(Baseline(name, title, families, kind, build, randomised, stored))
        return build

    return add


def select(words: Iterable[str], find_place: Callable[[], str] = str) -> list[Baseline]:
    """Return the baselines that a configuration asks for by name or family, each once.

    They are in the order of `words`.

    Raises:
        UserError: for a word that is neither a name nor a family; it names the nearest known
            one.
    """
    baselines = [BASELINES[name] for name in BASELINES]
    names = {entry.name for entry in baselines}
    for entry in baselines:
        names.update(entry.families)
    selection: dict[str, Baseline] = {}
    for word in words:
        if word not in names:
            raise unknown_name("baseline or family of baselines", word, names, find_place())
        members = [entry for entry in baselines if word == entry.name] or [
            e for e in baselines if word in e.families
        ]
        selection.update({entry.name: entry for entry in members})
    return list(selection.values())


def rebalance(entry: Baseline) -> Baseline:
    """Return a tabular baseline that is fitted on as many cases of each label, by SMOTE.

    Artificial cases are added within each fold, after encoding.
    """

    def build(seed: int, threads: int) -> Estimator:
        sampler = import_optional("imblearn.over_sampling", "tabular").SMOTE(random_state=seed)
        *columns, classifier = entry.build(seed, threads).steps
        steps = [*columns, ("smote", sampler), classifier]
        return import_optional("imblearn.pipeline", "tabular").Pipeline(steps)

    name, title = entry.name + REBALANCED, f"{entry.title}, rebalanced by SMOTE"
    return replace(entry, name=name, title=title, build=build, stored=False)
