"""The options of a data set that consists of logs of inspect_ai, and the files that they name."""

from pathlib import Path

from pydantic import Field

from moot.datasets.debate_records import FaultyShare
from moot.datasets.file_lists import list_files
from moot.datasets.turn_columns import AnswersOptions

LOG_ENDINGS = (".eval", ".json")
_FILES_ABOUT_LOGS = ("logs.json", "eval-set.json", "listing.json")
"""Files without samples that inspect_ai writes into folders of logs."""


class InspectOptions(AnswersOptions):
    """The options of a data set that consists of logs of inspect_ai."""

    logs: tuple[Path, ...] = Field(
        min_length=1,
        description=(
            "Logs (.eval or .json), folders of logs, or patterns (logs/*.eval), relative to the"
            " working directory."
        ),
    )
    no_answer: tuple[str, ...] = Field(
        ("",), description="Answers of a scorer that mean: no usable answer."
    )
    scorer: str = Field(
        "",
        description="Scorer whose answer counts. Default: the only scorer; required for several.",
    )
    confidence: str = Field(
        "",
        description=(
            "Field of the score's metadata with the stated confidence, 0 to 100. Default: no"
            " confidence."
        ),
    )
    attributes: tuple[str, ...] = Field(
        (), description="Fields of the samples' metadata to group scores by. Default: none."
    )
    with_text: bool = Field(
        True,
        description=(
            "Whether to read the inputs and messages of the samples too. Default: true; false reads"
            " the answers alone."
        ),
    )
    faulty: FaultyShare = 0.01

    @property
    def files(self) -> list[Path]:
        """The logs, each once, in the order of the options and of their names."""
        files: list[Path] = []
        for path in self.logs:
            listed_files = list_files(path, LOG_ENDINGS, includes_subfolders=True)
            files += [file for file in listed_files if file.name not in _FILES_ABOUT_LOGS]
        return list(dict.fromkeys(files))

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """Return the logs."""
        return tuple(self.files)
