"""Data sets: one module per source, each of which registers a loader from options to cases.

A loader is a pure function: the same options, files and seed give the same cases. It raises
`UserError` for any fault in its input, with file, row, column, found value, expected value and
remedy.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.registry import Registry
from moot.core.sections import add_section_fields
from moot.core.strict_model import StrictModel
from moot.core.types import CheckedValues

if TYPE_CHECKING:
    from moot.datasets.debate_records import RecordedDebate


if TYPE_CHECKING:

    class DatasetSections(StrictModel):
        """The keys that analyses register for a data set."""
else:
    DatasetSections = add_section_fields(StrictModel, "dataset")


class DatasetOptions(DatasetSections):
    """The options of every data set; each loader extends them."""

    source: Literal["sample", "synthetic", "local", "download"] = Field(
        description=(
            "Origin of the cases: shipped with moot (sample), generated (synthetic), read from"
            " data_root (local), or downloaded to data_root first (download)."
        )
    )
    loader: str = Field("", description="Name of the loader. Default: the name of the data set.")
    baselines: tuple[str, ...] = Field(
        (), description="Baselines to train on this data set, by name or family. Default: none."
    )
    rebalance: Literal["", "smote"] = Field(
        "",
        description=(
            "`smote` trains each tabular baseline a second time, with artificial cases of rarer"
            " labels, as `NAME-smote` (imbalanced-learn, of the extra `tabular`). Default: as the"
            " cases are."
        ),
    )
    cluster: str | tuple[str, ...] | None = Field(
        None,
        description=(
            "Attribute whose cases are not independent (topic, court, ...); intervals and tests"
            " draw"
            " them together. A list gives several attributes, which are used at once;"
            ' "" stands for none. Default: set by the loader.'
        ),
    )

    @property
    def groups(self) -> tuple[str, ...]:
        """The attributes that name the groups of people whose error rates are compared."""
        return tuple(getattr(self, "attributes", ()))

    @property
    def is_paraphrase(self) -> bool:
        """Whether the cases are a paper's and their texts are moot's own words."""
        return False

    def own_files(self, _data_root: Path, /) -> tuple[Path, ...]:
        """Return the user's files and folders that the options name outside the loader's folder.

        A change of one of them loads the data set again.
        """
        return ()


class UserDataOptions(DatasetOptions):
    """The options of data in the user's own files: the prediction and its words."""

    source: Literal["local"] = Field("local", description="Always local: the files of the user.")
    positive: str = Field("", description="Label that binary scores call positive.")
    question: str = Field(
        "Which label is right?", description="Question that a prediction answers, in one sentence."
    )
    noun: str = Field("the case", description="Name of a case in prompts. Default: the case.")
    background: str = Field(
        "", description="Context for every prompt, in one or two sentences. Default: none."
    )
    meaning: Mapping[str, str] = Field(
        default_factory=dict,
        description="Clause for each label that completes 'that ...' (the defendant is guilty).",
    )
    language: Literal["en", "zh"] = Field(
        "en",
        description=(
            "Language of prompts and texts. For cases in another language moot asks in English,"
            " unless `prompts` replaces the templates. Default: en."
        ),
    )

    def make_task(self, labels: Sequence[str], *notes: str) -> Task:
        """Describe the task of predicting these labels."""
        fields = self.model_dump(
            include={"positive", "question", "noun", "background", "meaning", "language"}
        )
        return Task(labels=tuple(labels), notes=notes, **fields)


@dataclass(frozen=True, slots=True)
class LoadContext:
    """The input of a loader in addition to its options.

    Attributes:
        data_root: the folder of local and downloaded data, in the layout of `data/raw/README.md`.
        shipped: the folder of the project, with `data/samples` and `config`.
        artifacts: the artifacts that `Loader.needs` names.
    """

    name: str
    data_root: Path
    shipped: Path
    seed: int
    artifacts: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a loader.

    Attributes:
        features: a frame with case_id, split, label and one typed column per feature; None for
            texts.
        cleaning: the counts of the cleaning report, by short description; readers see them.
        sources: the files that were read; the artifact records their sha256.
        faults: a line for each row that is left out because of a fault.
    """

    cases: Sequence[Case]
    task: Task
    features: pd.DataFrame | None = None
    cleaning: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[Path] = ()
    faults: Sequence[str] = ()


Load = Callable[[CheckedValues, LoadContext], Loaded]
ReadRecords = Callable[[CheckedValues, LoadContext], "Iterable[RecordedDebate]"]
Needs = Callable[[CheckedValues], Mapping[str, str]]
SOURCE_PATTERN = r"[^/]+/[^/]+"
"""The pattern of an option that names the experiment and the model that make the data:
EXPERIMENT/MODEL.
"""


@dataclass(frozen=True, slots=True)
class Loader:
    """A registered loader.

    Attributes:
        folder: the folder below `data_root` that it reads.
        records: reads the recorded debates over these cases, if the source publishes some.
        needs: lists the artifacts (below `results/`) that must be built first, each under the name
            of the option that names its experiment and model; a folder of transcripts stands for
            all transcripts of these.
        labels: the labels of every case, if no option changes them.
        download_adds_words: whether the published records have words, which moot does not ship.
        shipped: the shipped files and folders that it may read, below the project's folder.
    """

    options: type[DatasetOptions]
    load: Load
    folder: str
    records: ReadRecords | None = None
    needs: Needs = lambda _: {}
    labels: tuple[str, ...] = ()
    download_adds_words: bool = False
    shipped: tuple[str, ...] = ()


LOADERS: Registry[Loader] = Registry("data set", "data", "moot.datasets")


def dataset(
    name: str,
    options: type[DatasetOptions],
    folder: str = "",
    records: ReadRecords | None = None,
    needs: Needs = lambda _: {},
    labels: tuple[str, ...] = (),
    download_adds_words: bool = False,
    shipped: tuple[str, ...] = (),
) -> Callable[[Load], Load]:
    """Register a loader under a name.

    Write `@dataset("vast", VastOptions)` above `def load(options, context)`. The other arguments
    are the attributes of `Loader`; the folder defaults to `name`.
    """

    def add(load: Load) -> Load:
        LOADERS.register(name)(
            Loader(
                options,
                load,
                folder or name,
                records,
                needs,
                labels,
                download_adds_words,
                shipped,
            )
        )
        return load

    return add
