"""Everything that one experiment left behind, read when first used."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from moot.core.artifacts import (
    count_rows,
    find_waiting_rows,
    read_cases,
    read_chunks,
    read_frame,
    read_frames,
    read_table,
)
from moot.core.cases import Case, Cluster, Task, cluster_name
from moot.core.errors import UserError
from moot.core.rubric import Rubric
from moot.core.schemas import SCHEMAS
from moot.core.types import Fields
from moot.core.utterance_kinds import CONCLUSION
from moot.stats.bootstrap import ClusterBootstrap, Statistic

OVERALL = "overall"
TURN = ["model", "debate_id", "turn"]
KEYS = (*TURN, "case_id")
_CALLS_PER_READ = 5000
_MAX_UTTERANCES_PER_READ = 100_000


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """What results need to know of an experiment's entry in the configuration; `params` with all
    defaults filled in.

    `recorded_names` holds the names that records of the past give some of its models; `control` and
    `control_of` say what it changes as a control of which experiment; `loader` is that of the
    data set; `rubric` is what its statements are labelled by; `made_up` says which of its data and
    models are made up; `download_adds_words` says whether the source `download` of the data set
    brings the words of its records, which moot does not ship.
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
    made_up: tuple[str, ...] = ()
    download_adds_words: bool = False

    def name_of(self, model: str) -> str:
        """What tables and figures call a model."""
        return self.recorded_names.get(model, model)


class ExperimentResults:
    """Everything that one experiment left behind, all its models below each other; each frame is
    read when first used.

    Args:
        results: the folder with `cases/`, `transcripts/`, `predictions/`, `labels/`, `calls/`.
        experiment: the experiment's name.
        config: the experiment's entry in the configuration.
        seed: the configuration's seed, from which bootstrap draws follow.
        files: the files that may be read, as a rule names them; None for all files of the
            folder.
        notes: what readers must know before all that the data set says of itself.
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
        """Whether the true label of its cases is known; agreement needs none, accuracy has none
        without.
        """
        return bool((self.cases["target"] != "").any())

    @cached_property
    def cases(self) -> pd.DataFrame:
        """All cases of the data set, columns of the cases schema but `text`;
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
    def attributes(self) -> "pd.Series[Any]":
        """The attributes of each case, a dictionary, by case id."""
        return self.cases.set_index("case_id")["attributes"]

    @cached_property
    def case_by_id(self) -> Mapping[str, Case]:
        """All cases of the data set, with their texts."""
        texts = read_table(self._case_file, ["text"])["text"].to_pylist()
        pairs = zip(self._cases_and_task[0], texts, strict=True)
        return {case.case_id: replace(case, text=text) for case, text in pairs}

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row an evaluated case and repeat whose debate has ended, columns of the predictions
        schema.

        Cases of other splits, argued to fit a threshold on, are not evaluated and not here;
        nor are debates that wait for a person.
        """
        is_finished = self.outcomes["status"] != "waiting"
        return (
            self.outcomes
            if is_finished.all()
            else self.outcomes[is_finished].reset_index(drop=True)
        )

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """As `predictions`, with the debates that wait for a person."""
        return self._evaluated(self._of_models("predictions"))

    @cached_property
    def calls(self) -> pd.DataFrame:
        """One row a call, columns of the calls schema."""
        return self._of_models("calls")

    def calls_of(self, model: str) -> Iterator[pd.DataFrame]:
        """Yield the calls of one model, some at a time, in the order of the file."""
        path = self._declared_path(self.results / "calls" / self.experiment / f"{model}.parquet")
        for chunk in read_chunks(path, _CALLS_PER_READ):
            yield chunk.to_pandas()

    @property
    def turns(self) -> int:
        """How many utterances the transcripts hold, of debates that wait and of validation cases
        too.
        """
        return sum(count_rows(shard) for shard in self._all_shards())

    @cached_property
    def labels(self) -> pd.DataFrame:
        """One row a labelled utterance, columns of the labels schema; empty where the experiment
        has no labels.
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
        """One row a labeller and statement, columns of the annotations schema."""
        return self._of_models("annotations")

    @cached_property
    def baseline_predictions(self) -> pd.DataFrame:
        """One row a trained baseline and test case of the data set; empty where it has no
        baselines.
        """
        path = self.results / "baselines" / f"{self.config.dataset}_predictions.parquet"
        return (
            read_frame(path)
            if self._is_there(path)
            else SCHEMAS["baseline_predictions"].empty_table().to_pandas()
        )

    @cached_property
    def transcripts(self) -> pd.DataFrame:
        """One row an utterance of an evaluated case whose debate has ended, columns of the
        transcripts schema.

        Rows are in the order of turns. Text that is missing is "".
        """
        return self._evaluated(self.all_transcripts)

    @cached_property
    def all_transcripts(self) -> pd.DataFrame:
        """As `transcripts`, with the validation cases on which thresholds are fitted."""
        frame = _in_order(read_frames(self._all_shards()))
        self._refuse_twice(frame[frame.duplicated(TURN)])
        waits = find_waiting_rows(frame)
        return frame[~waits].reset_index(drop=True) if waits.any() else frame

    def transcript_parts(
        self,
        columns: Collection[str],
        model: str = "",
        *,
        include_validation: bool = False,
        include_waiting: bool = False,
    ) -> Iterator[pd.DataFrame]:
        """Yield the transcripts shard by shard, large shards some debates at a time: for what would
        not fit into memory.

        Args:
            columns: those of the transcripts schema that are needed in addition to `KEYS`.
            model: whose; "" for all models, one after the other.
            include_validation: with the validation cases, as in `all_transcripts`.
            include_waiting: with the debates that wait for a person or for replies.

        Yields:
            Whole debates of one model in the order of ids and turns; text that is missing
            is "".
        """
        column_names = dict.fromkeys([*KEYS, *columns])
        debates: set[tuple[str, str]] = set()
        for shard, condition in _debate_chunks(self._all_shards(model)):
            part = read_table(shard, list(column_names), condition).to_pandas()
            if not include_waiting:
                outcomes = condition & (pc.field("kind") == CONCLUSION) & (pc.field("parsed") != "")
                conclusions = read_table(shard, ["model", "debate_id", "kind", "parsed"], outcomes)
                waiting_debates = set(conclusions.to_pandas().loc[find_waiting_rows, "debate_id"])
                part = part[~part["debate_id"].isin(waiting_debates)]
            part = _in_order(part)
            part_debates = set(
                part[["model", "debate_id"]].drop_duplicates().itertuples(index=False, name=None)
            )
            self._refuse_twice(
                part[
                    part.duplicated(TURN)
                    | part["debate_id"].isin([name for _, name in part_debates & debates])
                ]
            )
            debates |= part_debates
            yield part if include_validation else self._evaluated(part)

    def gather(
        self, select: Callable[[pd.DataFrame], pd.DataFrame], columns: Collection[str]
    ) -> pd.DataFrame:
        """What `select` finds in the `parts` with some columns, in the order of models, debates and
        turns.

        It makes of transcripts of whole debates some of their rows, with `TURN` among the
        columns.
        """
        frames = [select(part) for part in self.transcript_parts(columns)]
        gathered: pd.DataFrame = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
        gathered = gathered.sort_values(TURN, kind="stable", ignore_index=True)
        del frames
        # what reading took, a quarter of all at 100,000 debates
        pa.default_memory_pool().release_unused()
        return gathered

    def _all_shards(self, model: str = "") -> list[Path]:
        folder = self.results / "transcripts" / self.experiment
        shards: list[Path] = []
        for name in [model] if model else self.config.models:
            shards += self._shards(folder / name)
        if not shards:
            raise UserError(
                f"{folder}: no transcripts found; expected one folder a model. Run the debates"
                " first."
            )
        return shards

    def _refuse_twice(self, rows: pd.DataFrame) -> None:
        if len(rows):
            row = rows.iloc[0]
            raise UserError(
                f"{self.results / 'transcripts' / self.experiment}/{row['model']}: turn"
                f" {row['turn']} of debate {row['debate_id']} is in two shards, as it is when"
                " `shards` was changed. Remove this folder and run again; the replies are in the"
                " ledger."
            )

    @cached_property
    def clusters(self) -> Mapping[str, Cluster]:
        """The cluster with which each case is resampled, by case id; a tuple for several kinds."""
        cases, task = self._cases_and_task
        return {case.case_id: cluster_name(case, task) for case in cases}

    @cached_property
    def cases_of_debates(self) -> Mapping[str, str]:
        """The case of each debate, by debate id."""
        debates = self.gather(lambda part: part.drop_duplicates("debate_id"), ())
        return dict(zip(debates["debate_id"], debates["case_id"], strict=True))

    def sample(self, case_ids: Iterable[str]) -> "Sample":
        """Return rows of this experiment, one a case id, with the bootstrap over the clusters of
        their cases.
        """
        cases = list(case_ids)
        return Sample(cases, [self.clusters[case] for case in cases], self.seed)

    @cached_property
    def _split_of(self) -> Mapping[str, str]:
        return dict(zip(self.cases["case_id"], self.cases["split"], strict=True))

    def _evaluated(self, frame: pd.DataFrame) -> pd.DataFrame:
        ids = frame[
            "case_id"
        ].unique()  # a part's, so that many parts do not each go through all cases
        missing = [case_id for case_id in ids if case_id not in self._split_of]
        if missing:
            raise UserError(
                f"results of {self.experiment}: case '{missing[0]}' is not among the cases of"
                f" {self.config.dataset}; the two were built from different data. Run the debates"
                " again."
            )
        evaluated = frame["case_id"].isin(
            [case_id for case_id in ids if self._split_of[case_id] == self.config.split]
        )
        return frame if evaluated.all() else frame[evaluated].reset_index(drop=True)

    def _shards(self, folder: Path) -> list[Path]:
        if self.files is None:
            return sorted(folder.glob("*.parquet"))
        return sorted(
            (file for file in self.files if file.parent == folder), key=lambda file: int(file.stem)
        )

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


def _debate_chunks(shards: Iterable[Path]) -> Iterator[tuple[Path, pc.Expression]]:
    """Shards, and which of their debates to read at once: all, or of a large one those between two
    ids.
    """
    for shard in shards:
        rows = count_rows(shard)
        if rows <= _MAX_UTTERANCES_PER_READ:
            yield shard, pc.scalar(value=True)
            continue
        debates = sorted(read_table(shard, ["debate_id"])["debate_id"].unique().to_pylist())
        size = max(1, len(debates) * _MAX_UTTERANCES_PER_READ // rows)
        for start in range(0, len(debates), size):
            chunk = debates[start : start + size]
            yield shard, (pc.field("debate_id") >= chunk[0]) & (pc.field("debate_id") <= chunk[-1])


def _in_order(utterances: pd.DataFrame) -> pd.DataFrame:
    """Transcripts in the order of models, debates and turns; text that is missing is ""."""
    utterances = utterances.sort_values(TURN, kind="stable", ignore_index=True)
    texts = [
        field.name
        for field in SCHEMAS["transcripts"]
        if field.type == "string" and field.name in utterances
    ]
    utterances[texts] = utterances[texts].fillna("")
    return utterances


@dataclass(frozen=True, slots=True)
class Score:
    """One figure: a metric's value with its 95 % interval; NaN where there is none.

    Attributes:
        metric: the metric's name; its unit where it has one is part of the name
            (`seconds_per_case`).
        average: binary, macro, micro, weighted, or "" where the metric has none.
        group: see the module's docstring.
        n: rows that the value rests on.
        n_invalid: rows of the group without a usable answer.
        n_cases: cases that the n rows belong to.
    """

    metric: str
    value: float
    ci_low: float = float("nan")
    ci_high: float = float("nan")
    average: str = ""
    group: str = OVERALL
    n: int = 0
    n_invalid: int = 0
    n_cases: int = 0


class Sample:
    """Some rows, each of a case: how many rows and cases they are, and the bootstrap over their
    clusters.

    Args:
        case_ids, clusters: of each row.
        seed: of the draws.
    """

    def __init__(self, case_ids: Sequence[str], clusters: Sequence[Cluster], seed: int) -> None:
        self.n, self.n_cases = len(case_ids), len(set(case_ids))
        self.bootstrap = ClusterBootstrap(clusters, seed)

    def score(
        self,
        metric: str,
        statistic: Statistic,
        group: str = OVERALL,
        average: str = "",
        n_invalid: int = 0,
    ) -> Score:
        """Return a statistic of these rows with its interval."""
        estimate = self.bootstrap.estimate(statistic)
        return Score(metric, *estimate, average, group, self.n, n_invalid, self.n_cases)

    def count(
        self, metric: str, value: float, group: str = OVERALL, average: str = "", n_invalid: int = 0
    ) -> Score:
        """Return a number of these rows that has no interval."""
        return Score(
            metric,
            value,
            average=average,
            group=group,
            n=self.n,
            n_invalid=n_invalid,
            n_cases=self.n_cases,
        )
