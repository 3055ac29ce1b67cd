"""Conclusions under every combination of choices that nobody argues about, from the replies that
there are.

A multiverse analysis (Steegen, Tuerlinckx, Gelman and Vanpaemel 2016, Perspectives on Psychological
Science 11).
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import astuple, dataclass, replace
from functools import cache, partial
from itertools import product, starmap

import numpy as np
import pandas as pd

from moot.core.confidence import number_of_choices, probability_of_stated_confidence
from moot.core.kinds import COMPUTED, CONCLUSION, SAMPLE
from moot.core.types import Column
from moot.report.content import StudyResults, data_label
from moot.scores.answers import Estimate, compared, estimate
from moot.scores.contrasts import Contrast
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import as_numbers

CHOICES = ("wording", "parsing", "invalid", "ties", "confidence")
DEBATE = ["model", "case_id", "repeat"]
OF_ANSWERS = {"accuracy", "f1", "macro_f1", "valid"}
OF_CONFIDENCE = ("brier", "overconfidence")
_READ = {"": 0, "strict": 0, "repaired": 1, "extracted": 2}


@dataclass(frozen=True, slots=True)
class Rules:
    """One combination of choices, as `MultiverseConfig` names them; of the wording the folder of
    prompts.
    """

    wording: str = ""
    parsing: str = "extracted"
    invalid: str = "wrong"
    ties: str = "first"
    confidence: str = "above_chance"


OWN = Rules()


@dataclass(frozen=True)
class Universe:
    """A conclusion under one combination of choices."""

    rules: Rules
    found: Estimate


@dataclass(frozen=True)
class Question:
    """A contrast, or a metric of one experiment and model, under every combination.

    Attributes:
        varied: the choices that were varied.
        own: the rules that moot follows, in the experiment's own wording.
        supposed: the value that says nothing: 0 for a difference; NaN for a metric alone.
    """

    data: str
    name: str
    metric: str
    varied: tuple[str, ...]
    own: Rules
    universes: tuple[Universe, ...]
    supposed: float

    @property
    def estimates(self) -> Sequence[Estimate]:
        """What it comes to in each universe."""
        return [one.found for one in self.universes]

    def moved_by(self) -> dict[str, float]:
        """How far the mean over all other choices lies apart between the alternatives of each
        choice.
        """
        values = pd.Series([one.value for one in self.estimates])
        told = pd.DataFrame([astuple(one.rules) for one in self.universes], columns=list(CHOICES))
        return {
            choice: float(np.ptp(values.groupby(told[choice]).mean())) for choice in self.varied
        }


def questions(results: StudyResults) -> Iterator[Question]:
    """The planned contrasts of experiments with `multiverse`, then these experiments' accuracy and
    Brier score.
    """
    worlds = _Worlds(results)
    for contrast in results.contrasts:
        sides = [
            results.tested[side.experiment]
            for side in contrast.sides
            if side.experiment in results.tested
        ]
        if not contrast.missing and len(sides) == len(contrast.sides):
            yield from worlds.question(
                sides, contrast.name, contrast.first.metric, partial(worlds.contrast, contrast)
            )
    for found in (one for one in results.experiments.values() if one.config.multiverse):
        for model, metric in product(found.config.models, ("accuracy", "brier")):
            if found.has_truth and (
                metric == "accuracy" or found.predictions["confidence"].notna().any()
            ):
                of = partial(worlds.metric, found, model, metric)
                yield from worlds.question(
                    [found], f"{found.experiment}, {found.config.name_of(model)}", metric, of
                )


class _Worlds:
    """The experiments of a study, their predictions as any rules have them."""

    def __init__(self, results: StudyResults) -> None:
        self._tested = results.tested
        self.under = cache(self._under)

    def question(
        self,
        sides: Sequence[ExperimentResults],
        name: str,
        metric: str,
        of: Callable[[Rules], Estimate | None],
    ) -> Iterator[Question]:
        """What something comes to under every combination; nothing where no side has `multiverse`."""
        chosen = next((one.config.multiverse for one in sides if one.config.multiverse), None)
        if chosen is None:
            return
        own = Rules(sides[0].config.prompts)
        wordings = [dict(self._worded(one)) for one in sides]
        kept: dict[str, tuple[str, ...]] = {choice: (getattr(own, choice),) for choice in CHOICES}
        if chosen.wordings:
            kept["wording"] = tuple(dict.fromkeys(name for some in wordings for name in some))
        if metric in (*OF_ANSWERS, *OF_CONFIDENCE):
            kept["parsing"] = chosen.parsing
            kept["ties"] = (
                chosen.ties
                if any(self._replies(one.experiment)[1] is not None for one in sides)
                else ("first",)
            )
            if metric in OF_ANSWERS:
                kept["invalid"] = chosen.invalid
            else:
                kept["confidence"] = chosen.confidence
        universes = ((rules, of(rules)) for rules in starmap(Rules, product(*kept.values())))
        there = tuple(Universe(rules, found) for rules, found in universes if found)
        if len(there) > 1:
            varied = tuple(choice for choice, values in kept.items() if len(values) > 1)
            supposed = 0.0 if len(sides) > 1 else float("nan")
            yield Question(data_label(sides[0]), name, metric, varied, own, there, supposed)

    def contrast(self, contrast: Contrast, rules: Rules) -> Estimate | None:
        """A contrast under some rules; a side that has no such wording is taken in its own."""
        first, second = (
            replace(side, experiment=self._in_wording(side.experiment, rules))
            for side in contrast.sides
        )
        found = {name: self.under(name, rules) for name in (first.experiment, second.experiment)}
        return compared(replace(contrast, first=first, second=second), found)

    def metric(
        self, found: ExperimentResults, model: str, metric: str, rules: Rules
    ) -> Estimate | None:
        """A metric of one model under some rules."""
        return estimate(self.under(self._in_wording(found.experiment, rules), rules), model, metric)

    def _in_wording(self, name: str, rules: Rules) -> str:
        return dict(self._worded(self._tested[name])).get(rules.wording, name)

    def _worded(self, found: ExperimentResults) -> Iterator[tuple[str, str]]:
        """The wordings that an experiment was run in, each with the experiment that has it."""
        for name, other in self._tested.items():
            if (
                replace(
                    other.config, prompts=found.config.prompts, multiverse=found.config.multiverse
                )
                == found.config
            ):
                yield other.config.prompts, name

    @cache  # noqa: B019 - it lives as long as a table is built
    def _replies(self, name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """The replies of an experiment that state an answer, in order; and its votes, None where
        there are none.
        """
        said = self._tested[name].transcripts
        said = said[
            (said["kind"] != CONCLUSION) & (said["source"] != COMPUTED) & (said["prediction"] != "")
        ]
        said = said[[*DEBATE, "kind", "prediction"]].assign(
            read=said["parse_status"].map(_READ).fillna(0)
        )
        votes = said[said["kind"] == SAMPLE]
        return said, votes if len(votes) else None

    def _under(self, name: str, rules: Rules) -> ExperimentResults:
        """An experiment's results with its predictions as some rules have them."""
        found = copy(self._tested[name])
        rows, (said, votes) = found.predictions.copy(), self._replies(name)
        stated = probability_of_stated_confidence(
            as_numbers(rows["confidence"]), number_of_choices(found.task)
        )
        from_stated = np.isclose(rows["probability"], stated)
        keys = pd.MultiIndex.from_frame(rows[DEBATE])
        if votes is not None:
            ended = keys.map(
                _voted(votes[votes["read"] <= _READ[rules.parsing]], rules.ties).to_dict()
            ).fillna("")
            rows["prediction"], rows["status"] = ended, np.where(ended == "", "invalid", "valid")
        else:
            on_what = said.merge(rows[[*DEBATE, "prediction"]], on=[*DEBATE, "prediction"])
            read = on_what.groupby(DEBATE)["read"].last().to_dict()
            refused = keys.map(lambda key: read.get(key, 0)) > _READ[rules.parsing]
            rows.loc[refused, ["prediction", "status"]] = "", "invalid"
        if rules.confidence != OWN.confidence:
            share, chance = rows["confidence"] / 100, 1 / number_of_choices(found.task)
            other = share if rules.confidence == "probability" else share.clip(lower=chance)
            rows["probability"] = rows["probability"].mask(from_stated, other)
        if rules.invalid == "dropped":
            rows = rows[rows["status"] == "valid"]
        found.__dict__["predictions"] = rows.reset_index(
            drop=True
        )  # in place of those that were read
        return found


def _voted(votes: pd.DataFrame, ties: str) -> Column:
    """The label that most votes of each debate name; of several the one that came first, or last,
    or none.
    """
    counted = votes.assign(place=range(len(votes))).groupby([*DEBATE, "prediction"], as_index=False)
    counts = counted.agg(votes=("place", "size"), place=("place", "min"))
    most = counts[counts["votes"] == counts.groupby(DEBATE)["votes"].transform("max")].sort_values(
        "place"
    )
    if ties == "invalid":
        most = most[~most.duplicated(DEBATE, keep=False)]
    chosen = most.drop_duplicates(DEBATE, keep="last" if ties == "last" else "first")
    return chosen.set_index(DEBATE)["prediction"]
