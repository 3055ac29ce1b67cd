"""Data sets: one module a source, each registering a loader from options to cases.

A loader is a pure function: the same options, files and seed give the same cases. It raises
`UserError` for any fault in its input, naming file, row, column, what was found, what was expected
and what to do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.model_config import Strict
from moot.core.registry import Registry
from moot.core.sections import with_sections
from moot.core.types import Checked

if TYPE_CHECKING:
    from moot.datasets.records import RecordedDebate


if TYPE_CHECKING:

    class DatasetSections(Strict):
        """The keys that analyses register for a data set."""
else:
    DatasetSections = with_sections(Strict, "dataset")


class DatasetOptions(DatasetSections):
    """What every data set's entry in the configuration may say; a loader's own options extend it."""

    source: Literal["sample", "synthetic", "local", "download"] = Field(
        description=(
            "where the cases come from: shipped with moot, generated, read from data_root, or"
            " downloaded first"
        )
    )
    loader: str = Field("", description="the loader's name, where it differs from the data set's")
    baselines: tuple[str, ...] = Field(
        (), description="baselines to train on this data set, by name or family"
    )
    cluster: str | tuple[str, ...] | None = Field(
        None,
        description=(
            "the attribute whose cases intervals and tests draw together (topic, court, ...), or a"
            ' list of several (story and judge), which they use at once; "" for none; default: the'
            " loader's own"
        ),
    )

    @property
    def groups(self) -> tuple[str, ...]:
        """The attributes of the cases that say to which groups people belong, by which error rates
        are compared.
        """
        return tuple(getattr(self, "attributes", ()))

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # some are not below it
        """The user's files and folders that it names, outside the loader's folder; a change of one
        loads it again.
        """
        return ()


class OwnOptions(DatasetOptions):
    """What an entry of the configuration may say about data in files of one's own: what is asked,
    in which words.
    """

    source: Literal["local"] = Field("local", description="files of yours")
    positive: str = Field("", description="the label that binary scores call positive")
    question: str = Field(
        "Which label is right?", description="what a prediction answers, one sentence"
    )
    noun: str = Field("the case", description="what a case is called")
    background: str = Field("", description="one or two sentences of context for every prompt")
    meaning: Mapping[str, str] = Field(
        default_factory=dict,
        description="label to a clause that completes 'that ...' (the defendant is guilty)",
    )
    language: Literal["en", "zh"] = Field(
        "en",
        description=(
            "of prompts and texts; about cases in another language moot asks in English, unless"
            " `prompts` replaces the templates"
        ),
    )

    def asked(self, labels: Sequence[str], *notes: str) -> Task:
        """The task of these labels."""
        told = self.model_dump(
            include={"positive", "question", "noun", "background", "meaning", "language"}
        )
        return Task(labels=tuple(labels), notes=notes, **told)


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What a loader may use in addition to its options.

    Attributes:
        data_root: the folder of local and downloaded data, laid out as `data/raw/README.md` says.
        shipped: the project's own folder, where `data/samples` and `config` are.
        artifacts: what its loader says that it needs, by name.
    """

    name: str
    data_root: Path
    shipped: Path
    seed: int
    artifacts: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loader gives back.

    Attributes:
        features: a frame with case_id, split, label and one typed column a feature; None for texts.
        cleaning: what cleaning found and did, by short description to count, shown to the reader.
        sources: the files that were read; their sha256 goes into the artifact.
    """

    cases: Sequence[Case]
    task: Task
    features: pd.DataFrame | None = None
    cleaning: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[Path] = ()


Load = Callable[[Checked, LoadContext], Loaded]
ReadRecords = Callable[[Checked, LoadContext], "Iterable[RecordedDebate]"]
Needs = Callable[[Checked], Mapping[str, str]]
MADE_BY = r"[^/]+/[^/]+"
"""What an option holds that names the experiment and the model by which data are made:
EXPERIMENT/MODEL.
"""


@dataclass(frozen=True, slots=True)
class Loader:
    """A registered loader.

    Attributes:
        folder: the folder below `data_root` that it reads.
        records: options to the recorded debates over these cases, where the source publishes some.
        needs: options to the artifacts (below `results/`) that must be built first, each by the
            name of the option that says which experiment and model make it; the folder of
            transcripts has all of theirs.
        labels: of every case, where no option changes them.
    """

    options: type[DatasetOptions]
    load: Load
    folder: str
    records: ReadRecords | None = None
    needs: Needs = lambda _: {}
    labels: tuple[str, ...] = ()


LOADERS: Registry[Loader] = Registry("data set", "data", "moot.datasets")


def dataset(
    name: str,
    options: type[DatasetOptions],
    folder: str = "",
    records: ReadRecords | None = None,
    needs: Needs = lambda _: {},
    labels: tuple[str, ...] = (),
) -> Callable[[Load], Load]:
    """Register a loader under `name`: `@dataset("vast", VastOptions)` above `def load(options,
    context)`.

        The other arguments are attributes of `Loader`; its folder has the name of the data set if
        none is given.
    """

    def add(load: Load) -> Load:
        LOADERS.register(name)(Loader(options, load, folder or name, records, needs, labels))
        return load

    return add
