"""Contrasts: the comparisons that a configuration plans before the run, measured on its results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pandas as pd

from moot.core.cases import Cluster
from moot.core.errors import CannotTellError
from moot.scores.case_metrics import CASE_METRICS, Terms
from moot.scores.results import ExperimentResults
from moot.stats.arrays import Floats, as_numbers
from moot.stats.differences import (
    Difference,
    Sums,
    compare_paired,
    compare_unpaired,
    compare_with_threshold,
    sums_by,
)
from moot.stats.power import Spread, estimate_spread

SUPPORTED, NOT_SUPPORTED, CANNOT_TELL = "supported", "not supported", "cannot tell"
FIRST_HIGHER, FIRST_LOWER, DIFFER = "first_higher", "first_lower", "differ"


@dataclass(frozen=True)
class Side:
    """One side of a contrast.

    Attributes:
        experiment: whose debates.
        models: the models, taken together.
        metric: the measured metric, a name in `CASE_METRICS`.
        cases: attribute to the value that selects the cases.
        threshold: a constant that replaces the metric of each debate; None for none.
    """

    experiment: str
    models: tuple[str, ...]
    metric: str
    cases: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None

    def __str__(self) -> str:
        if self.threshold is not None:
            return f"{self.threshold:g}"
        condition = (
            f" where {', '.join(f'{name}={value}' for name, value in self.cases.items())}"
            if self.cases
            else ""
        )
        models = f"{len(self.models) or 'no shared'} models"
        if len(self.models) == 1:
            models = self.models[0]
        return f"{self.experiment}, {models}{condition}"


@dataclass(frozen=True)
class Contrast:
    """A planned comparison.

    Attributes:
        name: in the configuration.
        question: the question that it answers.
        first, second: the sides.
        direction: the expectation, one of `FIRST_HIGHER`, `FIRST_LOWER`, `DIFFER`.
        paired: whether it uses only the cases that both sides argued.
        family: the study whose contrasts are corrected together.
        missing: why this run cannot test it; "" if it can.
        margin: the smallest effect of interest; None if equivalence is not tested.
        published: the published answer with its source; "" for none.
    """

    name: str
    question: str
    first: Side
    second: Side
    direction: str
    paired: bool
    family: str
    missing: str = ""
    margin: float | None = None
    published: str = ""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The first and the second side."""
        return self.first, self.second


@dataclass(frozen=True)
class SideDebates:
    """The debates of one side, with their terms and the bounds of the metric.

    There is one row per debate, with its case and its model.
    """

    terms: Terms
    models: tuple[str, ...]

    @property
    def sums(self) -> Sums:
        """The terms of each debate."""
        terms = self.terms
        return Sums(terms.tops, terms.bottoms, terms.needs_hits, terms.odds)

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The case and model of each debate."""
        return list(zip(self.terms.case_ids, self.models, strict=True))

    @property
    def shares(self) -> Floats:
        """The share of each debate in its case, shape (debates, 1).

        Models have equal weights, and so have debates of one model.
        """
        runs = Counter(self.runs)
        models = Counter(case for case, _ in runs)
        return as_numbers([1 / (runs[run] * models[run[0]]) for run in self.runs])[:, None]

    @property
    def shared(self) -> Sums:
        """The terms of each debate, multiplied by its share."""
        sums, shares = self.sums, self.shares
        return replace(sums, tops=sums.tops * shares, bottoms=sums.bottoms * shares)

    @property
    def observed(self) -> pd.DataFrame:
        """The debates, with what each one would add to its case by itself."""
        shares = self.shares[:, 0]
        values = self.shared.influences() * shares.mean() / shares
        return pd.DataFrame({"value": values, "case": self.terms.case_ids, "model": self.models})

    @property
    def by_case(self) -> tuple[list[str], Sums]:
        """The sorted cases, with the mean over models of the means of each model's debates."""
        names, codes = np.unique(
            np.asarray(self.terms.case_ids, dtype=object).astype(str), return_inverse=True
        )
        of_debates = self.shared
        tops, bottoms = (sums_by(values, codes) for values in (of_debates.tops, of_debates.bottoms))
        return [str(name) for name in names], replace(of_debates, tops=tops, bottoms=bottoms)

    def select(self, cases: set[str], runs: set[tuple[str, str]] | None = None) -> "SideDebates":
        """Return the debates on some of the cases, or of some runs."""
        is_selected = np.array(
            [run[0] in cases if runs is None else run in runs for run in self.runs], dtype=bool
        )
        ids, models = (
            tuple(np.asarray(names, dtype=object)[is_selected])
            for names in (self.terms.case_ids, self.models)
        )
        terms = replace(
            self.terms,
            case_ids=list(ids),
            tops=self.terms.tops[is_selected],
            bottoms=self.terms.bottoms[is_selected],
        )
        return SideDebates(terms, models)


def side_debates(side: Side, results: ExperimentResults) -> SideDebates:
    """Return the debates of a side.

    Raises:
        CannotTellError: the metric of the side does not apply to its experiment.
    """
    terms_by_model = [CASE_METRICS[side.metric](results, model) for model in side.models]
    debates = SideDebates(
        replace(
            terms_by_model[0],
            case_ids=list(chain.from_iterable(terms.case_ids for terms in terms_by_model)),
            tops=np.vstack([terms.tops for terms in terms_by_model]),
            bottoms=np.vstack([terms.bottoms for terms in terms_by_model]),
        ),
        tuple(np.repeat(side.models, [len(terms.case_ids) for terms in terms_by_model]).tolist()),
    )
    if side.threshold is not None:  # a second side without variance: the same tests apply
        constant = replace(
            debates.terms, tops=side.threshold * debates.terms.bottoms, needs_hits=False
        )
        debates = replace(debates, terms=constant)
    return debates.select(matching_cases(side, results.cases)) if side.cases else debates


def matching_cases(side: Side, cases: pd.DataFrame) -> set[str]:
    """Return the ids of the cases that have the attributes of a side.

    Raises:
        CannotTellError: the cases have no such attribute.
    """
    for name in side.cases:
        attribute_names = sorted(set(chain.from_iterable(cases["attributes"])))
        if name not in attribute_names:
            raise CannotTellError(
                f"contrast of {side.experiment}: its cases have no attribute '{name}'; they have"
                f" {', '.join(attribute_names)}."
            )
    matches = [side.cases.items() <= attributes.items() for attributes in cases["attributes"]]
    return set(cases["case_id"][matches])


def sides_of(
    contrast: Contrast, experiments: Mapping[str, ExperimentResults]
) -> tuple[SideDebates, SideDebates]:
    """Return the debates of both sides; for a paired contrast, those on common cases.

    If both sides have the same models, a model counts on the cases that it argued on both sides.
    """
    first, second = (side_debates(side, experiments[side.experiment]) for side in contrast.sides)
    if not contrast.paired:
        return first, second
    cases = set(first.terms.case_ids) & set(second.terms.case_ids)
    runs = (
        set(first.runs) & set(second.runs)
        if contrast.first.models == contrast.second.models
        else None
    )
    return _align_label_terms(first.select(cases, runs), second.select(cases, runs))


def _align_label_terms(first: SideDebates, second: SideDebates) -> tuple[SideDebates, SideDebates]:
    """Align the terms of both sides by label.

    A label that one side predicts, but never correctly, has an F1 of 0 on both.
    """
    ever_right = np.vstack([first.terms.tops, second.terms.tops]).any(axis=0)
    occurs = np.vstack([first.terms.bottoms, second.terms.bottoms]).any(axis=0)
    if ever_right.size == 1:
        return first, second
    first_aligned, second_aligned = (
        replace(
            side,
            terms=replace(
                side.terms, bottoms=np.where(occurs & ~ever_right, 1.0, side.terms.bottoms)
            ),
        )
        for side in (first, second)
    )
    return first_aligned, second_aligned


def measure(contrast: Contrast, experiments: Mapping[str, ExperimentResults]) -> Difference | None:
    """Measure a contrast; return None if its sides have no cases.

    If the contrast is paired, they need common cases.
    """
    sides = sides_of(contrast, experiments)
    if not all(debates.terms.case_ids for debates in sides):
        return None
    (first_cases, first), (second_cases, second) = (debates.by_case for debates in sides)
    results = [experiments[side.experiment] for side in contrast.sides]
    clusters = [results[0].clusters[case] for case in first_cases]
    low, high = (debates.terms.bounds for debates in sides)
    if (threshold := contrast.second.threshold) is not None:
        return compare_with_threshold(first, threshold, clusters, low, contrast.margin)
    if contrast.paired:
        bounds = low[0] - high[1], low[1] - high[0]
        return compare_paired(first, second, clusters, bounds, contrast.margin)
    other_clusters = [results[1].clusters[case] for case in second_cases]
    both = (min(low[0], high[0]), max(low[1], high[1]))
    return compare_unpaired(first, second, clusters, other_clusters, both, contrast.margin)


def measure_spread(contrast: Contrast, experiments: Mapping[str, ExperimentResults]) -> Spread:
    """Return how the difference of a contrast varies between cases and between repeats."""
    sides = sides_of(contrast, experiments)
    first, second = (debates.observed for debates in sides)
    clusters: list[Cluster] = []
    for side, debates in list(zip(contrast.sides, sides, strict=True))[
        : 1 if contrast.paired else 2
    ]:
        cluster_by_case = experiments[side.experiment].clusters
        clusters += [cluster_by_case[case] for case in sorted(set(debates.terms.case_ids))]
    return estimate_spread(first, second, clusters, contrast.paired)


def judge(contrast: Contrast, difference: float, p: float, level: float = 0.05) -> str:
    """Return the answer: `SUPPORTED`, `NOT_SUPPORTED`, or `CANNOT_TELL` without significance.

    The difference supports the contrast if it is on the expected side. It is significant if p is
    below the level.
    """
    if not p < level:
        return CANNOT_TELL
    is_expected = contrast.direction == DIFFER or (difference > 0) == (
        contrast.direction == FIRST_HIGHER
    )
    return SUPPORTED if is_expected else NOT_SUPPORTED


def group_by_family(contrasts: Sequence[Contrast]) -> dict[str, list[Contrast]]:
    """Return the contrasts that are corrected together."""
    families: dict[str, list[Contrast]] = {}
    for contrast in contrasts:
        families.setdefault(contrast.family, []).append(contrast)
    return families
