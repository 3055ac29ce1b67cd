"""Ratings of debaters from debates of two sides, with side, length and judges' leanings told from
strength.

A data set names who argued for a label in the attribute of its cases that is called as the label,
and the words of that side in `words_LABEL`; a verdict for neither of two such labels is a tie.
Verdicts of one `topic` are one cluster, where cases have that attribute.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.kinds import PUBLIC
from moot.protocols import PROTOCOLS, against, opponents
from moot.report import EVERY, table
from moot.report.columns import Columns, Row
from moot.report.content import StudyResults, TableContent, data_label
from moot.report.needs import has_tournament
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import Floats, as_numbers
from moot.stats.ratings import FIRST, MIN_TOPICS, SECOND, TIE, Ratings, fit_ratings
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

WORDS, TOPIC = "words", "topic"
NAMING_DEBATERS = ("transcripts",)
"""Loaders whose cases may say, in attributes, which debater takes which side."""
SIDE, LENGTH, OWN = "side", "a tenth more words", "judge of the debater's family"
LEAST_LONGER = 0.1
"""Of a tenth: sides whose words differ less say nothing of length."""
MODEL_NOTE = (
    "Model: Bradley and Terry's with ties (Davidson 1970). A rating is a log odds, less the mean of"
    " all that can be compared: of two debaters one apart, alike in all else, the better one wins e"
    " = 2.7 times as often as the other."
)


@dataclass(frozen=True)
class Pairs:
    """The verdicts of debates between named debaters, one a row."""

    data: str
    method: str
    sides: tuple[str, str]
    rows: pd.DataFrame

    @property
    def outcomes(self) -> Floats:
        """Who won."""
        said = self.rows["prediction"]
        return np.select([said == self.sides[0], said == self.sides[1]], [FIRST, SECOND], TIE)

    @property
    def weights(self) -> Floats:
        """Equal for each judge in all, so that who judged more does not count more."""
        return as_numbers(1 / self.rows["judge"].map(self.rows["judge"].value_counts()))

    def terms(self, *, by_judge: bool = False) -> Mapping[str, Floats]:
        """What may decide a debate besides the debaters; each judge's side effect, or the mean and
        what differs.
        """
        judge, side = self.rows["judge"], self.sides[0]
        judges = sorted(judge.unique())
        found = {f"{SIDE}: {side}": np.ones(len(judge))}
        of_judge = {f"{SIDE}: {side}, before {name}": as_numbers(judge == name) for name in judges}
        if len(judges) > 1:
            last = as_numbers(judge == judges[-1])
            found = (
                of_judge
                if by_judge
                else found | {name: one - last for name, one in list(of_judge.items())[:-1]}
            )
        words = [
            self.rows[f"{WORDS}_{label}"] for label in self.sides if f"{WORDS}_{label}" in self.rows
        ]
        longer = (
            as_numbers(np.log(words[0] / words[1]) / np.log(1.1))
            if len(words) == len(self.sides)
            else np.zeros(1)
        )
        if np.std(longer) > LEAST_LONGER:
            found[LENGTH] = longer
        families = [self.rows[label].map(_family) for label in self.sides]
        own = as_numbers(families[0] == judge.map(_family)) - as_numbers(
            families[1] == judge.map(_family)
        )
        return found | ({OWN: own} if own.any() else {})

    def rated(self, terms: Mapping[str, Floats], weights: Floats | None) -> Ratings | None:
        """The ratings by some terms."""
        first, second = (self.rows[label].tolist() for label in self.sides)
        return fit_ratings(
            first, second, self.outcomes, self.rows["cluster"].tolist(), terms, weights
        )


def _family(model: str) -> str:
    """The family of a model: the letters that its name begins with."""
    found = re.match(r"[^\W\d_]+", model)
    return found.group().casefold() if found else model


def pairs_of(results: StudyResults) -> Iterator[Pairs]:
    """The verdicts between named debaters: of tournaments held here, and recorded ones."""
    tournaments: dict[str, list[tuple[ExperimentResults, Mapping[str, str]]]] = {}
    for found in results.experiments.values():
        if seats := opponents(found.experiment, found.config.protocol, found.config.params):
            name = found.experiment.removesuffix(against([*seats.values()]))
            tournaments.setdefault(name, []).append((found, seats))
    for name, held in tournaments.items():
        sides = _sides(*held[0])
        rows = pd.concat([_verdicts(*one) for one in held], ignore_index=True)
        yield Pairs(data_label(held[0][0]), name, (sides[0], sides[1]), rows)
    yield from _recorded_pairs(results)


def _sides(found: ExperimentResults, seats: Mapping[str, str]) -> list[str]:
    """The labels that the debaters of a tournament argue for, in the order of their seats."""
    protocol = PROTOCOLS[found.config.protocol]
    params = protocol.params.model_validate(dict(found.config.params))
    sides = protocol.debaters.sides(params, found.task) if protocol.debaters else {}
    return [sides[seat] for seat in seats]


def _verdicts(found: ExperimentResults, seats: Mapping[str, str]) -> pd.DataFrame:
    """The valid verdicts of an experiment of a tournament, columns as `Pairs.rows`; the case is the
    cluster.
    """
    rows = found.predictions.query("status == 'valid'")[
        ["case_id", "prediction", "model", "repeat"]
    ]
    said = found.gather(_words, ["speaker", "visibility", "text", "repeat"])
    words = said.pivot_table("words", ["model", "case_id", "repeat"], "speaker", aggfunc="sum")
    labels = _sides(found, seats)
    named = {
        f"{WORDS}_{label}": words[seat]
        for label, seat in zip(labels, seats, strict=True)
        if seat in words
    }
    counted = rows.join(pd.DataFrame(named), on=["model", "case_id", "repeat"])
    told = dict(zip(labels, seats.values(), strict=True))
    return counted.assign(judge=rows["model"], cluster=rows["case_id"].map(found.clusters), **told)


def _words(part: pd.DataFrame) -> pd.DataFrame:
    """How many words each seat said aloud in a turn."""
    public = part[part["visibility"] == PUBLIC]
    return public.assign(words=[len(text.split()) for text in public["text"]])


def _recorded_pairs(results: StudyResults) -> Iterator[Pairs]:
    for run in recorded_runs(results):
        attributes = run.results.attributes
        named = {label for one in attributes for label in run.results.task.labels if one.get(label)}
        sides = [label for label in reversed(run.results.task.labels) if label in named]
        if len(sides) == len((FIRST, SECOND)) and len(run.valid):
            pairs = _with_attributes(run, (sides[0], sides[1]))
            yield from [pairs] * bool(len(pairs.rows))


def _with_attributes(run: RecordedRun, sides: tuple[str, str]) -> Pairs:
    rows = run.valid
    told = pd.DataFrame(
        [run.results.attributes[case] for case in rows["case_id"]], index=rows.index
    )
    found = rows[["case_id", "prediction"]].assign(
        cluster=rows["case_id"].map(run.results.clusters)
    )
    if TOPIC in told and (told[TOPIC] != "").all():
        found["cluster"] = told[TOPIC]
    found["judge"] = rows["judge"].fillna(run.model_name) if "judge" in rows else run.model_name
    for label in sides:
        found[label] = told[label].replace("", np.nan)
        if f"{WORDS}_{label}" in told:
            words = pd.to_numeric(told[f"{WORDS}_{label}"], errors="coerce")
            found[f"{WORDS}_{label}"] = words.where(words > 0)
    return Pairs(run.data, run.method, sides, found.dropna())


@table(EVERY, "ratings", "Ratings of debaters", needs=(has_tournament,))
@table(STUDY, "ratings", "Ratings of debaters", loaders=NAMING_DEBATERS)
def ratings(results: StudyResults) -> TableContent:
    """How strong each debater is, by a model in which side, length, judges' leanings to sides and
    to their own family are terms, and by wins alone; with 95 % intervals by cluster.
    """
    rows = [row for pairs in pairs_of(results) for row in rated(pairs)]
    columns = (
        Columns()
        .keys("data", "method")
        .plain("debater")
        .counts("rank")
        .estimate("rating", "rating")
    )
    columns = columns.counts("rank by wins alone").estimate("rating by wins alone", "alone")
    columns = columns.counts("verdicts", "clusters")
    short = (
        "debater",
        "rank",
        "rating",
        "rating, 95 % interval",
        "rank by wins alone",
        "rating by wins alone",
        "verdicts",
    )
    return columns.short_form("data", *short).table(
        rows,
        [
            (
                f"{MODEL_NOTE} In `rating` each judge counts the same in all, however many verdicts"
                " they gave; in `rating by wins alone` each verdict does, and nothing but the"
                " debaters is in the model."
            ),
            (
                "Intervals are robust to verdicts of one cluster (the topic) that hang together"
                f" (Cameron and Miller 2015). There is none with fewer than {MIN_TOPICS}"
                " clusters. Only debaters whom wins (or ties) join in both directions can be"
                " compared: one who won everything, lost everything, or met no other of them has a"
                " rating without an interval."
            ),
        ],
    )


def rated(pairs: Pairs) -> Iterator[Row]:
    """The rows of the table, the strongest first."""
    full, alone = pairs.rated(pairs.terms(), pairs.weights), pairs.rated({}, None)
    if full is None or alone is None:
        return
    orders = [
        sorted(one.strengths, key=lambda name: -one.strengths[name].value) for one in (full, alone)
    ]
    for name in orders[0]:
        one, other = full.strengths[name], alone.strengths[name]
        judged = int(sum((pairs.rows[label] == name).sum() for label in pairs.sides))
        yield {
            "data": (pairs.data, pairs.method, name),
            "rank": orders[0].index(name) + 1,
            "rating": (one.value, one.low, one.high),
            "rank by wins alone": orders[1].index(name) + 1,
            "rating by wins alone": (other.value, other.low, other.high),
            "verdicts": (judged, full.clusters),
        }


@table(EVERY, "rating_terms", "What decides debates besides the debaters", needs=(has_tournament,))
@table(STUDY, "rating_terms", "What decides debates besides the debaters", loaders=NAMING_DEBATERS)
def rating_terms(results: StudyResults) -> TableContent:
    """How much the side, a tenth more words, and a judge of the debater's own family favour a side,
    in log odds and as the chance of equals to win; with 95 % intervals by cluster.
    """
    rows = [row for pairs in pairs_of(results) for row in _terms(pairs)]
    columns = (
        Columns()
        .keys("data", "method")
        .plain("what favours a side")
        .estimate("log odds", "log odds")
    )
    return (
        columns.ours("chance of equals to win")
        .counts("verdicts", "clusters")
        .table(
            rows,
            [
                (
                    f"{MODEL_NOTE} All terms and all debaters are in one model, each judge with the"
                    " same weight. The first row is the mean over judges; below it is each judge's"
                    " own. A family is the letters that a model's name begins with. Length is no"
                    " term where the sides' words differ by less than a hundredth. Nothing bounds"
                    " a term without an interval, as of a judge who names one side alone."
                ),
            ],
        )
    )


def _terms(pairs: Pairs) -> Iterator[Row]:
    mean, each = (
        pairs.rated(pairs.terms(by_judge=by_judge), pairs.weights) for by_judge in (False, True)
    )
    if mean is None or each is None:
        return
    side = f"{SIDE}: {pairs.sides[0]}"
    for name, one in {side: mean.terms[side], **each.terms}.items():
        yield {
            "data": (pairs.data, pairs.method, name),
            "log odds": (one.value, one.low, one.high),
            "chance of equals to win": float(1 / (1 + np.exp(-one.value))),
            "verdicts": (mean.pairs, mean.clusters),
        }
