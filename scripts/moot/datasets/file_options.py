"""The options that tables of cases and tables of turns have in common."""

from pathlib import Path

from pydantic import Field, model_validator

from moot.datasets import UserDataOptions
from moot.datasets.reading.checks import FaultyShare
from moot.datasets.reading.tables import list_files
from moot.datasets.words_in_files import LabelsByWord


class FileOptions(UserDataOptions):
    """The options of data in tables of the user."""

    path: Path = Field(
        description=(
            "File (.csv, .tsv, .json, .jsonl, .parquet or .xlsx, each perhaps with .gz), folder of"
            " such files, or pattern (a/*.csv), relative to the working directory."
        )
    )
    sheet: str = Field("", description="Sheet of an Excel file. Default: its first sheet.")
    labels: LabelsByWord
    faulty: FaultyShare = 0.01

    @model_validator(mode="after")
    def _check_that_labels_agree(self) -> "FileOptions":
        labels = set(self.labels.values())
        for option, names in (
            ("positive", [self.positive] if self.positive else []),
            ("meaning", list(self.meaning)),
        ):
            unknown_labels = [name for name in names if labels and name not in labels]
            if unknown_labels:
                raise ValueError(
                    f"{option} names the label '{unknown_labels[0]}'; expected one of"
                    f" {', '.join(sorted(labels))}"
                )
        return self

    @property
    def files(self) -> list[Path]:
        """The files in the order of their names; the path itself if there are none."""
        return list_files(self.path)

    def own_files(self, _data_root: Path, /) -> tuple[Path, ...]:  # they may be anywhere
        """Return the files that are read."""
        return tuple(self.files)
