"""All results of one experiment, read on first use."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from moot.core.artifacts import read_cases, read_chunks, read_frame, read_frames, read_table
from moot.core.cases import Case, Cluster, Task, cluster_name
from moot.core.errors import UserError
from moot.core.rubric import Rubric
from moot.core.schemas import SCHEMAS
from moot.core.types import Fields
from moot.core.utterance_kinds import COMPUTED, CONCLUSION, PUBLIC
from moot.scores.score import Sample
from moot.scores.transcript_shards import TURN, TranscriptShards

_CALLS_PER_READ = 5000


@dataclass(frozen=True, slots=True)
class MadeUpInputs:
    """The remarks on inputs that are made up: on data sets, and on models."""

    data: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @classmethod
    def of_all(cls, inputs: Iterable["MadeUpInputs"]) -> "MadeUpInputs":
        """Return the remarks of several experiments, each once."""
        data: dict[str, None] = {}
        models: dict[str, None] = {}
        for of_one in inputs:
            data |= dict.fromkeys(of_one.data)
            models |= dict.fromkeys(of_one.models)
        return cls(tuple(data), tuple(models))

    @property
    def notes(self) -> tuple[str, ...]:
        """All remarks."""
        return (*self.data, *self.models)


NOTHING_MADE_UP = MadeUpInputs()


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """The part of an experiment's entry in the configuration that results need.

    `params` includes all defaults. `recorded_names` holds the names of models in recorded debates.
    For a control, `control` is the change and `control_of` the changed experiment. `loader` is the
    data set's loader, and `rubric` the rubric of its statements' labels. `made_up` has the
    remarks on its made-up data and models. `download_adds_words` is whether `source: download` of
    the data set adds the words of its records, which moot does not ship. `entry` is the entry of
    the configuration from which a grid derives several experiments.
    """

    protocol: str
    dataset: str
    models: tuple[str, ...]
    split: str
    params: Fields
    recorded_names: Mapping[str, str] = field(default_factory=dict)
    control: str = ""
    control_of: str = ""
    loader: str = ""
    rubric: Rubric | None = None
    prompts: str = ""
    made_up: MadeUpInputs = NOTHING_MADE_UP
    download_adds_words: bool = False
    entry: str = ""

    def name_of(self, model: str) -> str:
        """Return the display name of a model for tables and figures."""
        return self.recorded_names.get(model, model)


class ExperimentResults:
    """All results of one experiment and its models; each frame is read on first use.

    Args:
        results: the folder with `cases/`, `transcripts/`, `predictions/`, `labels/`, `calls/`.
        experiment: the experiment's name.
        config: the experiment's entry in the configuration.
        seed: the configuration's seed.
        files: the files that may be read, as a rule names them; None for all files of the
            folder.
        notes: remarks for readers, shown before the notes on the data set.
    """

    def __init__(
        self,
        results: Path,
        experiment: str,
        config: ExperimentView,
        seed: int = 0,
        files: Collection[Path] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.results = results
        self.files = None if files is None else frozenset(files)
        self.experiment = experiment
        self.config = config
        self.seed = seed
        self.notes = tuple(notes)

    def __repr__(self) -> str:
        return f"ExperimentResults({self.experiment!r})"

    @cached_property
    def _cases_and_task(self) -> tuple[list[Case], Task]:
        cases, task = read_cases(self._case_file, texts=False)
        return cases, replace(task, notes=(*self.notes, *task.notes))

    @property
    def _case_file(self) -> Path:
        return self._declared_path(self.results / "cases" / f"{self.config.dataset}.parquet")

    @property
    def task(self) -> Task:
        """The data set's description, from the metadata of its cases."""
        return self._cases_and_task[1]

    @cached_property
    def has_truth(self) -> bool:
        """Whether the true labels of its cases are known.

        Accuracy needs them, agreement does not.
        """
        return bool((self.cases["target"] != "").any())

    @cached_property
    def cases(self) -> pd.DataFrame:
        """All cases of the data set, with the columns of the cases schema except `text`.

        `attributes` holds dictionaries.
        """
        cases = self._cases_and_task[0]
        names = [name for name in SCHEMAS["cases"].names if name != "text"]
        columns = {name: list(map(attrgetter(name), cases)) for name in names}
        return pd.DataFrame(columns)

    @cached_property
    def targets(self) -> "pd.Series[str]":
        """The true label of each case, by case id."""
        return self.cases.set_index("case_id")["target"]

    @cached_property
    def target_by_id(self) -> Mapping[str, str]:
        """The true label of each case, by case id, for lookups of many single cases."""
        return {case.case_id: case.target for case in self._cases_and_task[0]}

    @cached_property
    def split_by_id(self) -> Mapping[str, str]:
        """The split of each case, by case id."""
        return {case.case_id: case.split for case in self._cases_and_task[0]}

    @cached_property
    def attributes(self) -> "pd.Series[Any]":
        """The attributes of each case as a dictionary, by case id."""
        return self.cases.set_index("case_id")["attributes"]

    @cached_property
    def case_by_id(self) -> Mapping[str, Case]:
        """All cases of the data set, with their texts."""
        texts = read_table(self._case_file, ["text"])["text"].to_pylist()
        pairs = zip(self._cases_and_task[0], texts, strict=True)
        return {case.case_id: replace(case, text=text) for case, text in pairs}

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """The predictions: one row per evaluated case and repeat whose debate has ended.

        Cases that only served to fit a threshold are not evaluated and not included, nor are
        debates that wait for a person.
        """
        is_finished = self.outcomes["status"] != "waiting"
        return (
            self.outcomes
            if is_finished.all()
            else self.outcomes[is_finished].reset_index(drop=True)
        )

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """The rows of `predictions`, and rows of debates that wait for a person."""
        return self._evaluated(self._of_models("predictions"))

    @cached_property
    def calls(self) -> pd.DataFrame:
        """The calls, one row each, with the columns of the calls schema."""
        return self._of_models("calls")

    def calls_of(self, model: str) -> Iterator[pd.DataFrame]:
        """Yield the calls of one model in parts, in the order of the file."""
        path = self._declared_path(self.results / "calls" / self.experiment / f"{model}.parquet")
        for chunk in read_chunks(path, _CALLS_PER_READ):
            yield chunk.to_pandas()

    @cached_property
    def transcript_shards(self) -> TranscriptShards:
        """The files of its transcripts."""
        folder = self.results / "transcripts" / self.experiment
        return TranscriptShards(folder, self.config.models, self.files)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """The labelled utterances, one row each, with the columns of the labels schema.

        Empty if the experiment has no labels. They are read once.
        """
        folder = self.results / "labels" / self.experiment
        labelled = (
            folder.is_dir()
            if self.files is None
            else any(folder in file.parents for file in self.files)
        )
        return (
            self._of_models("labels") if labelled else SCHEMAS["labels"].empty_table().to_pandas()
        )

    @cached_property
    def annotations(self) -> pd.DataFrame:
        """The annotations, one row per labeler and statement, with the columns of their schema."""
        return self._of_models("annotations")

    @cached_property
    def baseline_predictions(self) -> pd.DataFrame:
        """The predictions of baselines, one row per baseline and test case.

        Empty if the data set has no baselines.
        """
        path = self.results / "baselines" / f"{self.config.dataset}_predictions.parquet"
        return (
            read_frame(path)
            if self._is_there(path)
            else SCHEMAS["baseline_predictions"].empty_table().to_pandas()
        )

    @cached_property
    def transcripts(self) -> pd.DataFrame:
        """The utterances of evaluated cases whose debates have ended, as in the transcripts schema.

        Rows are in the order of turns. Missing text is "".
        """
        return self._evaluated(self.all_transcripts)

    @cached_property
    def all_transcripts(self) -> pd.DataFrame:
        """The rows of `transcripts`, and of validation cases, on which thresholds are fitted."""
        return self.transcript_shards.read()

    def public_statements(
        self, columns: Collection[str], model: str = ""
    ) -> Iterator[pd.DataFrame]:
        """Yield what seats say in public, in the parts of `transcript_parts`.

        Conclusions, computed utterances and empty texts are left out. The columns `text` and `kind`
        are always there.
        """
        filter_columns = ["text", "kind", "visibility", "source"]
        for part in self.transcript_parts([*columns, *filter_columns], model):
            is_public = (part["visibility"] == PUBLIC) & (part["kind"] != CONCLUSION)
            yield part[is_public & (part["source"] != COMPUTED) & (part["text"] != "")]

    def transcript_parts(
        self,
        columns: Collection[str],
        model: str = "",
        *,
        include_validation: bool = False,
        include_waiting: bool = False,
    ) -> Iterator[pd.DataFrame]:
        """Yield the parts of `transcript_shards`, without validation cases.

        Args:
            columns, model, include_waiting: as `TranscriptShards.parts`.
            include_validation: whether to include validation cases, as in `all_transcripts`.
        """
        parts = self.transcript_shards.parts(columns, model, include_waiting=include_waiting)
        for part in parts:
            yield part if include_validation else self._evaluated(part)

    def gather(
        self,
        select: Callable[[pd.DataFrame], pd.DataFrame],
        columns: Collection[str],
        model: str = "",
    ) -> pd.DataFrame:
        """Apply `select` to each part of `transcript_parts` and concatenate the rows it returns.

        The rows are in the order of models, debates and turns.

        `select` takes transcripts of whole debates and returns some of their rows, including the
        columns of `TURN`.
        """
        frames = [select(part) for part in self.transcript_parts(columns, model)]
        gathered: pd.DataFrame = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
        gathered = gathered.sort_values(TURN, kind="stable", ignore_index=True)
        del frames
        # saves a quarter of the time of reading 100,000 debates
        pa.default_memory_pool().release_unused()
        return gathered

    @cached_property
    def clusters(self) -> Mapping[str, Cluster]:
        """The cluster by which each case is resampled, by case id.

        It is a tuple if there are several kinds of clusters.
        """
        cases, task = self._cases_and_task
        return {case.case_id: cluster_name(case, task) for case in cases}

    @cached_property
    def cases_of_debates(self) -> Mapping[str, str]:
        """The case of each debate, by debate id."""
        debates = self.gather(lambda part: part.drop_duplicates("debate_id"), ())
        return dict(zip(debates["debate_id"], debates["case_id"], strict=True))

    def sample(self, case_ids: Iterable[str]) -> Sample:
        """Return some rows of this experiment, with the clusters of their cases.

        Each row belongs to a case id.
        """
        cases = list(case_ids)
        return Sample(cases, [self.clusters[case] for case in cases])

    def _evaluated(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the cases that are evaluated."""
        case_ids = frame["case_id"].unique()
        missing = [case_id for case_id in case_ids if case_id not in self.split_by_id]
        if missing:
            raise UserError(
                f"results of {self.experiment}: case '{missing[0]}' is not among the cases of"
                f" {self.config.dataset}; the two were built from different data. Run the debates"
                " again."
            )
        split = self.config.split
        evaluated_ids = [case_id for case_id in case_ids if self.split_by_id[case_id] == split]
        evaluated = frame["case_id"].isin(evaluated_ids)
        return frame if evaluated.all() else frame[evaluated].reset_index(drop=True)

    def _is_there(self, path: Path) -> bool:
        return path.is_file() if self.files is None else path in self.files

    def _declared_path(self, path: Path) -> Path:
        if self.files is not None and path not in self.files:
            raise ValueError(f"{path} is read, but the rule does not name it")
        return path

    def _of_models(self, kind: str) -> pd.DataFrame:
        folder = self.results / kind / self.experiment
        paths = [self._declared_path(folder / f"{model}.parquet") for model in self.config.models]
        missing = [path for path in paths if not path.is_file()]
        if missing:
            raise UserError(
                f"{missing[0]}: file not found; expected one for each of the experiment's models."
            )
        return read_frames(paths)
