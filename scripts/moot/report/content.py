"""Tables and figures: one module a study, each registering functions from a study's results to what
readers see.

A table or figure finds the experiments that it shows by protocol and parameters
(`StudyResults.where`), never by their names, so that a user's own experiments of the study appear
in it. It is built for any number of experiments, none too: published values are then shown alone,
and a figure says that there is nothing to draw.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import pandas as pd

from moot.core.cases import REFERENCE_MODELS, cluster_attributes
from moot.core.types import Fields
from moot.protocols.people import is_person
from moot.report.claims import Claim
from moot.report.needs import Need, has_debates
from moot.scores.contradictions import contradiction_notes
from moot.scores.contrasts import Contrast
from moot.scores.results import OVERALL, ExperimentResults
from moot.scores.served import version_notes
from moot.stats.replication import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


NOT_A_NUMBER = float("nan")
SIMULATED = "SIMULATED"
SIMULATED_NOTE = (
    f"{SIMULATED}: a rehearsal. No language model was asked; simulated voices answered by a"
    " statistical model, and no number here says anything of the models named."
)


@dataclass(frozen=True, slots=True)
class PaperMatch:
    """How one run, or one data set with its trained models, relates to the experiments of
    config/paper.yaml.

        Attributes:
            repeats: names of the paper's experiments that it repeats; `baselines/DATASET` for a
                data set.
            repeated_but_model: those that it repeats but for the model.
            difference: in what it differs from the nearest one, in words; "" where it repeats one.
            our_wording: whether its prompts are in moot's words, not in the paper's.
            departures: what of that wording is known to matter, in sentences.
    """

    repeats: tuple[str, ...] = ()
    repeated_but_model: tuple[str, ...] = ()
    difference: str = ""
    our_wording: bool = False
    departures: tuple[str, ...] = ()


EXPLORATORY = "exploratory"
EXPLORATORY_NOTE = (
    "Exploratory: no test in this table was planned as a contrast (`contrasts:` in the"
    " configuration). What strikes here is a question for the next run, not an answer of this one."
)


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
        """One experiment and model; one that is not listed repeats nothing."""
        return self.runs.get((experiment, model), PaperMatch())

    def dataset(self, name: str) -> PaperMatch:
        """One data set."""
        return self.datasets.get(name, PaperMatch())


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value that this run measured; all missing where it did not measure it."""

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
    def counts(self) -> tuple[float, float, float]:
        """The numbers of cases, of answers and of invalid ones."""
        return self.n_cases, self.n, self.n_invalid


NOT_MEASURED = Measurement()


@dataclass(frozen=True)
class StudyResults:
    """All that the tables and figures of one study may show.

    Attributes:
        study: the study's name.
        experiments: its experiments, by name, in the order of the configuration.
        scores: the scores of all these experiments below each other (scores schema).
        baselines: leaderboard frames of `results/baselines/`, by data set.
        published: the study's rows of `data/published/published_results.csv`, columns as
            `published.COLUMNS`.
        paper_matches: which runs are as published; without it no published value is shown next to a
            run.
        trials: the experiments of too few debates to conclude from; no table but their own shows
            what came of them.
        controls: experiments that control for another, and runs over counterfactual people; no table but their own shows
            them, since each is another experiment but for one thing.
        claims: the published claims, where the study is `comparison`.
        simulated: whether simulated voices replaced all models.
        contrasts: the study's planned comparisons.
        plan_history: whether the run is the frozen plan, and that plan's history, in sentences.
        findings: table to what its published values give away about themselves, in sentences.
    """

    study: str
    experiments: Mapping[str, ExperimentResults]
    scores: pd.DataFrame
    baselines: Mapping[str, pd.DataFrame]
    published: pd.DataFrame
    paper_matches: PaperMatches = field(default_factory=PaperMatches)
    trials: Mapping[str, ExperimentResults] = field(default_factory=dict)
    controls: Mapping[str, ExperimentResults] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    simulated: bool = False
    contrasts: Sequence[Contrast] = ()
    plan_history: tuple[str, ...] = ()
    findings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def experiments_and_controls(self) -> Mapping[str, ExperimentResults]:
        """What a planned comparison may name: the experiments and their controls, by name."""
        return {**self.experiments, **self.controls}

    def find_experiments(self, *protocols: str, **params: Any) -> list[ExperimentResults]:
        """The experiments of any of these protocols (none given: of all) whose parameters have
        these values.

                A parameter that an experiment does not have never matches.
        """
        return [
            results
            for results in self.experiments.values()
            if (not protocols or results.config.protocol in protocols)
            and all(
                name in results.config.params and results.config.params[name] == value
                for name, value in params.items()
            )
        ]

    def runs(
        self, experiments: Iterable[ExperimentResults], run_class: "type[RunT]"
    ) -> "list[RunT]":
        """Some of the experiments with each of their models."""
        return [run_class(one, model, self) for one in experiments for model in one.config.models]

    @cached_property
    def score_index(self) -> Mapping[tuple[str, str, str, str, str], Measurement]:
        """The scores by experiment, model, metric, average and group."""
        keys = self.scores[["experiment", "model", "metric", "average", "group"]].itertuples(
            index=False, name=None
        )
        values = self.scores[["value", "ci_low", "ci_high", "n", "n_invalid", "n_cases"]]
        found = values.itertuples(index=False, name=None)
        return {key: Measurement(*value) for key, value in zip(keys, found, strict=True)}

    @cached_property
    def experiment_by_dataset(self) -> Mapping[str, ExperimentResults]:
        """One experiment on each data set, a trial run where there is no other: what its cases are
        like.
        """
        return {
            found.config.dataset: found
            for found in (*self.trials.values(), *self.experiments.values())
        }

    def data_label(self, dataset: str) -> str:
        """What tables and figures call a data set of the study."""
        return data_label(self.experiment_by_dataset[dataset])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """`notes_about` all data sets."""
        return self.notes_about(frozenset())

    def notes_about(self, texts: Set[str]) -> tuple[str, ...]:
        """What a reader must know of data ("synthetic"), of people in seats, and of servers that
        changed.

                Each once, in the order of the experiments. Of data sets: those that some texts
                name, or whose experiments they name, or all if they name none.
        """
        found: list[str] = [SIMULATED_NOTE] if self.simulated else []
        trained = (
            self.experiment_by_dataset[name]
            for name in self.baselines
            if name in self.experiment_by_dataset
        )
        found += [note for results in self.experiments.values() if (note := people_note(results))]
        of_data = [*self.experiments.values(), *trained]
        names = texts | {text.partition(", ")[0] for text in texts}  # "experiment, model"
        named = [
            found
            for found in of_data
            if {found.experiment, found.config.dataset, data_label(found)} & names
        ]
        told: dict[str, dict[str, None]] = {}
        for results in named or of_data:
            own = told.setdefault(results.config.dataset, {})
            own |= dict.fromkeys(results.task.notes)
            if clusters := cluster_attributes(results.task.cluster):
                by = (
                    f"{clusters[0]}, drawn as a whole"
                    if len(clusters) == 1
                    else f"{' and '.join(clusters)} at once"
                )
                own[f"intervals and tests by {by}"] = None
        found += [f"Data set {name}: {'; '.join(notes)}" for name, notes in told.items() if notes]
        return tuple(
            dict.fromkeys([*found, *version_notes(self.scores), *contradiction_notes(self.scores)])
        )


def people_note(results: ExperimentResults) -> str:
    """Which seats of an experiment are people's; "" for none."""
    seats = results.config.params.get("seats", {})
    named = [seat.replace("_", " ") for seat, voice in seats.items() if is_person(voice)]
    return (
        f"In {results.experiment} people sit as {', '.join(named)}; all other seats are the model's"
        if named
        else ""
    )


def data_kind(results: ExperimentResults) -> str:
    """Whether an experiment's data are "synthetic" or a "sample"; "" where they are the real ones."""
    notes = " ".join(results.task.notes).casefold()
    return next((word for word in ("synthetic", "sample") if word in notes), "")


def data_label(results: ExperimentResults) -> str:
    """What tables and figures call an experiment's data: its name, and whether it is synthetic or a
    sample.
    """
    kind = data_kind(results)
    return f"{results.config.dataset} ({kind})" if kind else results.config.dataset


@dataclass(frozen=True)
class Run:
    """One model in one experiment; what a study adds to it, it adds in a class of its own."""

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
        """What tables and figures call its model."""
        return self.results.config.name_of(self.model)

    @property
    def data(self) -> str:
        """What tables and figures call its data."""
        return data_label(self.results)

    @property
    def predictions(self) -> pd.DataFrame:
        """Its predictions."""
        rows = self.results.predictions
        return rows[rows["model"] == self.model]

    @property
    def valid(self) -> pd.DataFrame:
        """Its predictions with a usable answer."""
        return self.predictions.query("status == 'valid'")

    @property
    def paper_match(self) -> PaperMatch:
        """How it relates to the experiments of config/paper.yaml."""
        return self.study.paper_matches.run(self.experiment, self.model)

    def measurement(self, metric: str, average: str = "", group: str = OVERALL) -> Measurement:
        """One of its scores."""
        return self.study.score_index.get(
            (self.experiment, self.model, metric, average, group), NOT_MEASURED
        )

    def scores(self, metrics: Collection[str]) -> Iterator[tuple[str, str, Measurement]]:
        """Its scores by some metrics, of all groups: metric, group and value."""
        for (experiment, model, metric, _, group), value in self.study.score_index.items():
            if (experiment, model) == (self.experiment, self.model) and metric in metrics:
                yield metric, group, value

    def utterances(self, kind: str) -> pd.DataFrame:
        """What was said of one kind, rows of its transcripts."""
        said = self.results.transcripts
        return said[(said["model"] == self.model) & (said["kind"] == kind)]


RunT = TypeVar("RunT", bound=Run)


def reference_runs(runs: Iterable[RunT]) -> Iterator[RunT]:
    """The majority class and the coin on the cases of some runs: once for each data set and set of
    evaluated cases.
    """
    first: dict[tuple[str, ...], RunT] = {}
    for run in runs:
        first.setdefault(
            (run.results.config.dataset, *sorted(run.results.predictions["case_id"].unique())), run
        )
    return (replace(run, model=model) for run in first.values() for model in REFERENCE_MODELS)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as readers see it.

    Attributes:
        name: its heading.
        role: `key` (repeated values are shown once), `ours`, `published`, `difference` or "".
        digits: a format specification; "" for the usual one.
        is_integer: whether it holds whole numbers, missing ones allowed.
        ends: the two columns of the frame that it shows as one interval; () for a column of its
            own.
        in_short_form: whether the short form of its table has it.
    """

    name: str
    role: str = ""
    digits: str = ""
    is_integer: bool = False
    ends: tuple[str, ...] = ()
    in_short_form: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """What the frame and the CSV have of it."""
        return self.ends or (self.name,)


@dataclass(frozen=True)
class TableContent:
    """A table before it is written; `moot.report.columns` makes one.

    Attributes:
        frame: the rows. Cells may be text, numbers or missing.
        columns: what readers see of it, from left to right.
        notes: sentences under the table; those of the data sets are added by the writer.
        exploratory: whether it holds tests that no plan names; the writer says so in a note and in
            each row.
    """

    frame: pd.DataFrame
    columns: Sequence[Column]
    notes: Sequence[str] = ()
    exploratory: bool = False

    def names(self, role: str) -> list[str]:
        """The frame's columns of a role."""
        return [name for column in self.columns if column.role == role for name in column.names]


Content = TypeVar("Content")


@dataclass(frozen=True)
class ReportItem(Generic[Content]):
    """A registered table or figure.

    Attributes:
        study, name, title, caption: its file is `{study}/{name}`.
        build: makes it of a study's results.
        needs: predicates of which one must hold for a run to show something in it.
        protocols, loaders: those whose debates it shows, and those of whose data sets; none: of
            any.
        category: of a figure, under which reports list it.
    """

    study: str
    name: str
    title: str
    caption: str
    build: Callable[[StudyResults], Content]
    needs: tuple[Need, ...] = (has_debates,)
    protocols: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    category: str = ""


Table: TypeAlias = ReportItem[TableContent]
Figure: TypeAlias = ReportItem["MatplotlibFigure"]
