"""Ratings of debaters from debates of two sides.

The model separates a debater's strength from the side, from length and from judges' leanings.

A data set names who argued for a label in the attribute of its cases that has the label's name,
and the number of words of that side in `words_LABEL`. A verdict for neither of two such labels is a
tie. The verdicts of one `topic` are one cluster, if cases have that attribute.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import PUBLIC
from moot.protocols import PROTOCOLS, paired_models, pairing_suffix
from moot.report import EVERY_STUDY, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.needs import has_tournament
from moot.report.notes import data_label
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from moot.stats.arrays import Floats, as_numbers
from moot.stats.ratings import FIRST, MIN_TOPICS, SECOND, TIE, Ratings, fit_ratings
from moot.studies.recorded.runs import STUDY, RecordedRun, recorded_runs

WORDS, TOPIC = "words", "topic"
NAMING_DEBATERS = ("transcripts",)
"""Loaders whose cases may name, in attributes, the debater of each side."""
SIDE, LENGTH, OWN_FAMILY = "side", "a tenth more words", "judge of the debater's family"
MIN_LENGTH_SD = 0.1
"""In tenths: length is a term of the model if the sides' log ratios of words vary by more."""
MODEL_NOTE = (
    "Model: Bradley and Terry's with ties (Davidson 1970). A rating is a log odds, minus the mean"
    " of all debaters that can be compared: if two debaters differ by one and all else is equal,"
    " the better one wins e = 2.7 times as often as the other."
)


@dataclass(frozen=True)
class DebaterVerdicts:
    """The verdicts of debates between named debaters.

    Attributes:
        data, method: the names of the data and the method.
        sides: the labels that the first and the second debater argue for.
        rows: one row a verdict: case_id, prediction, judge, cluster, the debater of each side (in a
            column named as the label), and perhaps the words of each side (`words_LABEL`).
    """

    data: str
    method: str
    sides: tuple[str, str]
    rows: pd.DataFrame

    @property
    def outcomes(self) -> Floats:
        """The winner of each debate: FIRST, SECOND or TIE."""
        verdicts = self.rows["prediction"]
        return np.select(
            [verdicts == self.sides[0], verdicts == self.sides[1]], [FIRST, SECOND], TIE
        )

    @property
    def weights(self) -> Floats:
        """Weights by which each judge has the same total, whatever the number of verdicts."""
        return as_numbers(1 / self.rows["judge"].map(self.rows["judge"].value_counts()))

    def terms(self, *, by_judge: bool = False) -> Mapping[str, Floats]:
        """Return the terms of the model besides the debaters.

        Args:
            by_judge: whether the side has an effect for each judge; otherwise it has a mean effect,
                and judges differ from it.
        """
        judge = self.rows["judge"]
        terms = self._side_terms(by_judge)
        length = self._length_term()
        if np.std(length) > MIN_LENGTH_SD:
            terms[LENGTH] = length
        judge_family = judge.map(_family)
        first, second = (self.rows[label].map(_family) for label in self.sides)
        own_family = as_numbers(first == judge_family) - as_numbers(second == judge_family)
        if own_family.any():
            terms[OWN_FAMILY] = own_family
        return terms

    def _side_terms(self, by_judge: bool) -> dict[str, Floats]:
        judge = self.rows["judge"]
        side = f"{SIDE}: {self.sides[0]}"
        judges = sorted(judge.unique())
        terms = {side: np.ones(len(judge))}
        if len(judges) <= 1:
            return terms
        of_judges = {f"{side}, before {name}": as_numbers(judge == name) for name in judges}
        if by_judge:
            return of_judges
        *other_terms, (_, last_judge) = of_judges.items()
        for name, term in other_terms:
            terms[name] = term - last_judge
        return terms

    def _length_term(self) -> Floats:
        """Return how many tenths more words the first side used; zero where words are not known."""
        first, second = (f"{WORDS}_{label}" for label in self.sides)
        if first not in self.rows or second not in self.rows:
            return np.zeros(1)
        return as_numbers(np.log(self.rows[first] / self.rows[second]) / np.log(1.1))

    def fit(self, terms: Mapping[str, Floats], weights: Floats | None) -> Ratings | None:
        """Return the ratings by a model with these terms; None if they cannot be computed."""
        first, second = (self.rows[label].tolist() for label in self.sides)
        return fit_ratings(
            first, second, self.outcomes, self.rows["cluster"].tolist(), terms, weights
        )


def _family(model: str) -> str:
    """Return the family of a model: the letters that its name begins with."""
    match = re.match(r"[^\W\d_]+", model)
    return match.group().casefold() if match else model


def find_debater_verdicts(results: StudyResults) -> Iterator[DebaterVerdicts]:
    """Yield the verdicts between named debaters, of this run's tournaments and of records."""
    tournaments: dict[str, list[tuple[ExperimentResults, Mapping[str, str]]]] = {}
    for experiment in results.experiments.values():
        seats = paired_models(
            experiment.experiment, experiment.config.protocol, experiment.config.params
        )
        if seats:
            name = experiment.experiment.removesuffix(pairing_suffix([*seats.values()]))
            tournaments.setdefault(name, []).append((experiment, seats))
    for name, pairings in tournaments.items():
        first_experiment, first_seats = pairings[0]
        sides = _sides_of_seats(first_experiment, first_seats)
        verdicts = [_read_verdicts(experiment, seats) for experiment, seats in pairings]
        yield DebaterVerdicts(
            data_label(first_experiment),
            name,
            (sides[0], sides[1]),
            pd.concat(verdicts, ignore_index=True),
        )
    yield from _recorded_verdicts(results)


def _sides_of_seats(results: ExperimentResults, seats: Mapping[str, str]) -> list[str]:
    """Return the labels that the debaters of a tournament argue for, in the order of their
    seats.
    """
    protocol = PROTOCOLS[results.config.protocol]
    params = protocol.params.model_validate(dict(results.config.params))
    sides = protocol.debaters.sides(params, results.task) if protocol.debaters else {}
    return [sides[seat] for seat in seats]


def _read_verdicts(results: ExperimentResults, seats: Mapping[str, str]) -> pd.DataFrame:
    """Return the valid verdicts of one pairing, with the columns of `DebaterVerdicts.rows`.

    The case is the cluster.
    """
    valid = results.predictions.query("status == 'valid'")
    verdicts = valid[["case_id", "prediction", "model", "repeat"]]
    keys = ["model", "case_id", "repeat"]
    utterances = results.gather(_count_words, ["speaker", "visibility", "text", "repeat"])
    words = utterances.pivot_table("words", keys, "speaker", aggfunc="sum")
    labels = _sides_of_seats(results, seats)
    words_by_side = {
        f"{WORDS}_{label}": words[seat]
        for label, seat in zip(labels, seats, strict=True)
        if seat in words
    }
    debaters = dict(zip(labels, seats.values(), strict=True))
    return verdicts.join(pd.DataFrame(words_by_side), on=keys).assign(
        judge=verdicts["model"], cluster=verdicts["case_id"].map(results.clusters), **debaters
    )


def _count_words(part: pd.DataFrame) -> pd.DataFrame:
    """Return the number of words that each seat used in a public turn."""
    public = part[part["visibility"] == PUBLIC]
    return public.assign(words=[len(text.split()) for text in public["text"]])


def _recorded_verdicts(results: StudyResults) -> Iterator[DebaterVerdicts]:
    for run in recorded_runs(results):
        sides = _labels_with_debaters(run)
        if len(sides) != len((FIRST, SECOND)) or run.valid.empty:
            continue
        verdicts = _verdicts_by_attributes(run, (sides[0], sides[1]))
        if len(verdicts.rows):
            yield verdicts


def _labels_with_debaters(run: RecordedRun) -> Sequence[str]:
    """Return the labels that name a debater in the attributes of a case, the positive one first."""

    def names_debater(label: str) -> bool:
        return any(attributes.get(label) for attributes in run.results.attributes)

    return list(filter(names_debater, reversed(run.results.task.labels)))


def _verdicts_by_attributes(run: RecordedRun, sides: tuple[str, str]) -> DebaterVerdicts:
    """Return the valid verdicts of a recorded run, with the debaters from the attributes of the
    cases.
    """
    answers = run.valid
    attributes = pd.DataFrame(
        [run.results.attributes[case_id] for case_id in answers["case_id"]], index=answers.index
    )
    rows = answers[["case_id", "prediction"]].copy()
    rows["cluster"] = answers["case_id"].map(run.results.clusters)
    if TOPIC in attributes and (attributes[TOPIC] != "").all():
        rows["cluster"] = attributes[TOPIC]
    rows["judge"] = run.model_name
    if "judge" in answers:
        rows["judge"] = answers["judge"].fillna(run.model_name)
    for label in sides:
        rows[label] = attributes[label].replace("", np.nan)
        column = f"{WORDS}_{label}"
        if column in attributes:
            words = pd.to_numeric(attributes[column], errors="coerce")
            rows[column] = words.where(words > 0)
    return DebaterVerdicts(run.data, run.method, sides, rows.dropna())


@table(EVERY_STUDY, "ratings", "Ratings of debaters", needs=(has_tournament,))
@table(STUDY, "ratings", "Ratings of debaters", loaders=NAMING_DEBATERS)
def ratings(results: StudyResults) -> TableContent:
    """How strong each debater is, by a model with terms for the side, length, and judges' leanings
    to sides and to their own family, and by wins alone; with 95 % intervals by cluster.
    """
    rows: list[Row] = []
    for verdicts in find_debater_verdicts(results):
        rows += rating_rows(verdicts)
    return _RATINGS.table(
        rows,
        [
            (
                f"{MODEL_NOTE} In `rating` each judge has the same total weight, whatever the"
                " number of verdicts; in `rating by wins alone` each verdict has the same weight,"
                " and the model has no terms but the debaters."
            ),
            (
                "Intervals come from the jackknife that leaves out one cluster (the topic) at a "
                f"time. There is none with fewer than {MIN_TOPICS} clusters. Terms apply only to "
                "the judges in the data, since judges are not left out. Only debaters that "
                "chains of wins (or ties) join in both directions can be compared: a debater who "
                "won every debate, lost every debate, or met none of the others has a rating "
                "without an interval."
            ),
        ],
    )


_RATINGS = (
    Columns()
    .keys("data", "method")
    .plain("debater")
    .counts("rank")
    .estimate("rating", "rating")
    .counts("rank by wins alone")
    .estimate("rating by wins alone", "alone")
    .counts("verdicts", "clusters")
    .short_form(
        "data",
        "debater",
        "rank",
        "rating",
        "rating, 95 % interval",
        "rank by wins alone",
        "rating by wins alone",
        "verdicts",
    )
)


def rating_rows(verdicts: DebaterVerdicts) -> Iterator[Row]:
    """Yield the rows of the table `ratings`, the strongest debater first."""
    full = verdicts.fit(verdicts.terms(), verdicts.weights)
    by_wins = verdicts.fit({}, None)
    if full is None or by_wins is None:
        return
    ranking, ranking_by_wins = _rank_debaters(full), _rank_debaters(by_wins)
    for rank, debater in enumerate(ranking, 1):
        rating, rating_by_wins = full.strengths[debater], by_wins.strengths[debater]
        debates = [(verdicts.rows[label] == debater).sum() for label in verdicts.sides]
        yield {
            "data": verdicts.data,
            "method": verdicts.method,
            "debater": debater,
            "rank": rank,
            "rating": (rating.value, rating.low, rating.high),
            "rank by wins alone": ranking_by_wins.index(debater) + 1,
            "rating by wins alone": (
                rating_by_wins.value,
                rating_by_wins.low,
                rating_by_wins.high,
            ),
            "verdicts": int(sum(debates)),
            "clusters": full.clusters,
        }


def _rank_debaters(model: Ratings) -> list[str]:
    return sorted(model.strengths, key=lambda name: -model.strengths[name].value)


@table(
    EVERY_STUDY,
    "rating_terms",
    "What decides debates besides the debaters",
    needs=(has_tournament,),
)
@table(STUDY, "rating_terms", "What decides debates besides the debaters", loaders=NAMING_DEBATERS)
def rating_terms(results: StudyResults) -> TableContent:
    """How much the side, a tenth more words, and a judge of the debater's own family favour a side,
    in log odds and as the win probability between equals; with 95 % intervals by cluster.
    """
    rows: list[Row] = []
    for verdicts in find_debater_verdicts(results):
        rows += _term_rows(verdicts)
    return _RATING_TERMS.table(
        rows,
        [
            (
                f"{MODEL_NOTE} All terms and all debaters are in one model, and each judge has the"
                " same weight. The first row is the mean effect over judges; the rows below are the"
                " effects for each judge. A family is the letters that a model's name begins with."
                " Length is left out if the sides' words differ by less than a hundredth. A term"
                " has no interval if nothing bounds it, as for a judge who always names one side."
            ),
        ],
    )


_RATING_TERMS = (
    Columns()
    .keys("data", "method")
    .plain("what favours a side")
    .estimate("log odds", "log odds")
    .ours("chance of equals to win")
    .counts("verdicts", "clusters")
)


def _term_rows(verdicts: DebaterVerdicts) -> Iterator[Row]:
    """Yield the rows of the table `rating_terms`: the mean effect of the side, then all other
    terms.
    """
    with_mean = verdicts.fit(verdicts.terms(), verdicts.weights)
    by_judge = verdicts.fit(verdicts.terms(by_judge=True), verdicts.weights)
    if with_mean is None or by_judge is None:
        return
    side = f"{SIDE}: {verdicts.sides[0]}"
    for name, term in {side: with_mean.terms[side], **by_judge.terms}.items():
        yield {
            "data": verdicts.data,
            "method": verdicts.method,
            "what favours a side": name,
            "log odds": (term.value, term.low, term.high),
            "chance of equals to win": float(1 / (1 + np.exp(-term.value))),
            "verdicts": with_mean.pairs,
            "clusters": with_mean.clusters,
        }
