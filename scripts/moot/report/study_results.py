"""The results of a study from which tables and figures are built, and its runs.

A table or figure selects its experiments by protocol and parameters
(`StudyResults.find_experiments`), never by name, so that experiments added by a user appear in it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import pandas as pd

from moot.core.config import PowerConfig
from moot.core.types import Fields, JsonObject
from moot.report.notes import (
    REHEARSAL_NOTE,
    cluster_notes,
    data_label,
    named_experiments,
    people_note,
)
from moot.scores.contrasts import Contrast
from moot.scores.refusals import refusal_notes
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL
from moot.scores.served import version_notes
from moot.stats.intervals import Interval
from moot.stats.jackknife import ClusterJackknife


@dataclass(frozen=True, slots=True)
class PaperMatch:
    """How a run, or a data set with its trained models, relates to config/papers/.

    Attributes:
        repeats: The experiments of the paper that it repeats; `baselines/DATASET` for a data set.
        our_wording: whether its prompts, facts or scripts are in moot's words instead of the
            paper's.
        wording: whose words its prompts have, for readers.
        settings: the settings in which it differs from the paper's most similar experiment.
    """

    repeats: tuple[str, ...] = ()
    our_wording: bool = False
    wording: str = ""
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PaperMatches:
    """How runs, and models trained on a data set, relate to the papers.

    Attributes:
        runs: by experiment and model.
        datasets: by data set.
    """

    runs: Mapping[tuple[str, str], PaperMatch] = field(default_factory=dict)
    datasets: Mapping[str, PaperMatch] = field(default_factory=dict)

    def run(self, experiment: str, model: str) -> PaperMatch:
        """Return the match of an experiment and model; one that is not listed repeats nothing."""
        return self.runs.get((experiment, model), PaperMatch())

    def dataset(self, name: str) -> PaperMatch:
        """Return the match of a data set."""
        return self.datasets.get(name, PaperMatch())


NOT_A_NUMBER = float("nan")


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value measured by this run; all fields are NaN if it was not measured."""

    value: float = NOT_A_NUMBER
    low: float = NOT_A_NUMBER
    high: float = NOT_A_NUMBER
    n: float = NOT_A_NUMBER
    n_invalid: float = NOT_A_NUMBER
    n_cases: float = NOT_A_NUMBER

    @property
    def interval(self) -> Interval:
        """The value with its interval."""
        return Interval(self.value, self.low, self.high)

    @property
    def n_answers(self) -> float:
        """The number of valid and invalid answers."""
        return self.n + self.n_invalid

    @property
    def counts(self) -> dict[str, float]:
        """The numbers of cases, answers and invalid answers, as cells of a table."""
        return {"cases": self.n_cases, "n": self.n, "n invalid": self.n_invalid}


NOT_MEASURED = Measurement()


KEY_SEPARATOR = "\x1f"
"""Between the case, the judge and the persona of a key, and between the repeats of a time."""


@dataclass(frozen=True)
class StudyResults:
    """The results that the tables and figures of one study may show.

    Attributes:
        study: the study's name.
        experiments: its experiments, by name, in the order of the configuration.
        scores: the scores of all these experiments below each other (scores schema).
        baselines: leaderboard frames of `results/baselines/`, by data set.
        published: the study's rows of `data/published/published_results.csv`, columns as
            `published.COLUMNS`.
        paper_matches: the runs that repeat published experiments; without it, no published value is
            shown next to a run.
        trials: the experiments with too few debates for conclusions; only their own table shows
            their results.
        controls: experiments that each change one thing in another experiment; only tables about
            controls show them.
        is_rehearsal: whether the run is a rehearsal, in which no model was called.
        contrasts: the study's planned comparisons.
        plan_history: whether the run is the frozen plan, and that plan's history, in sentences.
        power: the difference that planned comparisons should show.
    """

    study: str
    experiments: Mapping[str, ExperimentResults]
    scores: pd.DataFrame
    baselines: Mapping[str, pd.DataFrame]
    published: pd.DataFrame
    paper_matches: PaperMatches = field(default_factory=PaperMatches)
    trials: Mapping[str, ExperimentResults] = field(default_factory=dict)
    controls: Mapping[str, ExperimentResults] = field(default_factory=dict)
    is_rehearsal: bool = False
    contrasts: Sequence[Contrast] = ()
    plan_history: tuple[str, ...] = ()
    power: PowerConfig = field(default_factory=PowerConfig)

    @cached_property
    def published_rows(self) -> Mapping[str, Sequence[Any]]:
        """The rows of `published` by table, as named tuples; tables match them many times."""
        rows_by_table: dict[str, list[Any]] = {}
        for row in self.published.itertuples(index=False):
            rows_by_table.setdefault(str(row.table), []).append(row)
        return rows_by_table

    @property
    def experiments_and_controls(self) -> Mapping[str, ExperimentResults]:
        """The experiments and their controls, any of which a planned comparison may name."""
        return {**self.experiments, **self.controls}

    def find_experiments(self, *protocols: str, **params: Any) -> list[ExperimentResults]:
        """Return the experiments of these protocols whose parameters have these values.

        Without protocols, experiments of all protocols are searched. A parameter that an experiment
        does not have never matches.
        """
        matches = []
        for results in self.experiments.values():
            parameters = results.config.params
            has_protocol = not protocols or results.config.protocol in protocols
            has_values = all(
                name in parameters and parameters[name] == value for name, value in params.items()
            )
            if has_protocol and has_values:
                matches.append(results)
        return matches

    def runs(
        self, experiments: Iterable[ExperimentResults], run_class: "type[RunT]"
    ) -> "list[RunT]":
        """Return a run for each model of some experiments."""
        return [
            run_class(results, model, self)
            for results, model in _models_of_experiments(experiments)
        ]

    @cached_property
    def score_index(self) -> Mapping[tuple[str, str, str, str, str], Measurement]:
        """The scores by experiment, model, metric, average and group."""
        keys = self.scores[["experiment", "model", "metric", "average", "group"]].itertuples(
            index=False, name=None
        )
        values = self.scores[["value", "ci_low", "ci_high", "n", "n_invalid", "n_cases"]]
        measurements = values.itertuples(index=False, name=None)
        return {key: Measurement(*value) for key, value in zip(keys, measurements, strict=True)}

    @cached_property
    def experiment_by_dataset(self) -> Mapping[str, ExperimentResults]:
        """One experiment on each data set; a trial run where there is no other."""
        return {
            results.config.dataset: results
            for results in (*self.trials.values(), *self.experiments.values())
        }

    def data_label(self, dataset: str) -> str:
        """Return the display name of a data set of the study."""
        return data_label(self.experiment_by_dataset[dataset])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The notes on all data sets."""
        return self.notes_about(frozenset())

    def made_up_about(self, cell_texts: Set[str]) -> tuple[str, ...]:
        """Return sentences on the data and models that are made up.

        Args:
            cell_texts: Texts of a table; see `notes_about`.
        """
        experiments = list(self.experiments_and_controls.values())
        sentences: dict[str, None] = {}
        for results in named_experiments(experiments, cell_texts):
            sentences |= dict.fromkeys(results.config.made_up.notes)
        return tuple(sentences)

    def notes_about(self, cell_texts: Set[str]) -> tuple[str, ...]:
        """Return the notes on simulation, people in seats, data sets, servers and refusals.

        Args:
            cell_texts: Texts of a table. Only data sets that they name, or whose experiments they
                name, get a note; all data sets if they name none.

        Returns:
            Each note once, in the order of the experiments.
        """
        collected = [REHEARSAL_NOTE] if self.is_rehearsal else []
        collected += filter(None, map(people_note, self.experiments.values()))
        datasets = self.experiment_by_dataset
        experiments = list(self.experiments.values())
        experiments += [datasets[name] for name in self.baselines if name in datasets]
        notes_by_dataset: dict[str, dict[str, None]] = {}
        for results in named_experiments(experiments, cell_texts):
            dataset_notes = notes_by_dataset.setdefault(results.config.dataset, {})
            dataset_notes |= dict.fromkeys([*results.task.notes, *cluster_notes(results)])
        collected += [
            f"Data set {name}: {'; '.join(notes)}"
            for name, notes in notes_by_dataset.items()
            if notes
        ]
        return tuple(dict.fromkeys([*collected, *self._notes_of_scores]))

    @cached_property
    def _notes_of_scores(self) -> list[str]:
        """The notes on servers and refusals, which stand under every table."""
        experiments = self.experiments_and_controls.values()
        notes = chain.from_iterable(version_notes(results.predictions) for results in experiments)
        return [*notes, *refusal_notes(self.scores)]


def _models_of_experiments(
    experiments: Iterable[ExperimentResults],
) -> Iterator[tuple[ExperimentResults, str]]:
    """Yield each experiment with each of its models."""
    for results in experiments:
        for model in results.config.models:
            yield results, model


@dataclass(frozen=True)
class Run:
    """One model in one experiment; studies extend it by subclasses."""

    results: ExperimentResults
    model: str
    study: StudyResults = field(repr=False, compare=False)

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return self.results.experiment

    @property
    def params(self) -> Fields:
        """The parameters of its protocol."""
        return self.results.config.params

    @property
    def model_name(self) -> str:
        """The display name of its model."""
        return self.results.config.name_of(self.model)

    @property
    def data(self) -> str:
        """The display name of its data."""
        return data_label(self.results)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Its predictions."""
        rows = self.results.predictions
        return rows[rows["model"] == self.model]

    @cached_property
    def valid(self) -> pd.DataFrame:
        """Its predictions with a usable answer."""
        return self.predictions[self.predictions["status"] == "valid"]

    @cached_property
    def answers(self) -> "pd.Series[str]":
        """Its valid answers, indexed by key and time.

        The key is the case, with judge and persona for recorded judges; the time is the debate's
        and the judge's repeat.
        """
        rows = self.valid
        judges = rows.reindex(columns=["judge", "persona"], fill_value="").fillna("")
        keys = rows["case_id"].str.cat(judges, sep=KEY_SEPARATOR)
        times = rows.reindex(columns=["repeat", "judge_repeat"]).fillna(0).astype(int).astype(str)
        debate_times = times["repeat"].str.cat(times["judge_repeat"], KEY_SEPARATOR)
        return rows["prediction"].set_axis([keys, debate_times])

    @property
    def paper_match(self) -> PaperMatch:
        """How it relates to the experiments of config/papers/."""
        return self.study.paper_matches.run(self.experiment, self.model)

    def measurement(self, metric: str, average: str = "", group: str = OVERALL) -> Measurement:
        """Return one of its scores."""
        return self.study.score_index.get(
            (self.experiment, self.model, metric, average, group), NOT_MEASURED
        )

    def scores(self, metrics: Collection[str]) -> Iterator[tuple[str, str, Measurement]]:
        """Yield metric, group and value of its scores by some metrics."""
        for (experiment, model, metric, _, group), value in self.study.score_index.items():
            if (experiment, model) == (self.experiment, self.model) and metric in metrics:
                yield metric, group, value

    def resample(self, case_ids: Iterable[str]) -> ClusterJackknife:
        """Return the clusters of rows about some cases, one case a row."""
        clusters = [self.results.clusters[case_id] for case_id in case_ids]
        return ClusterJackknife(clusters)

    def utterances(self, kind: str) -> pd.DataFrame:
        """Return its utterances of one kind, rows of the transcripts schema."""
        transcripts = self.results.transcripts
        return transcripts[(transcripts["model"] == self.model) & (transcripts["kind"] == kind)]


RunT = TypeVar("RunT", bound=Run)


def rows_of_runs(
    results: StudyResults, build_rows: Callable[[Run], Iterable[JsonObject]]
) -> list[JsonObject]:
    """Return the rows of all runs, the largest run first.

    Args:
        results: of a study.
        build_rows: the rows of a run, which get the cells `data`, `answers of` and `model`.
    """
    rows: list[JsonObject] = []
    runs = results.runs(results.experiments.values(), Run)
    for run in sorted(runs, key=lambda run: -len(run.predictions)):
        keys = {"data": run.data, "answers of": run.experiment, "model": run.model_name}
        rows += [keys | row for row in build_rows(run)]
    return rows
