"""What an entry of the configuration says of tables with a row a turn, or a row an answer: which
column holds what.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from moot.core.cases import Task, cluster_attributes
from moot.core.input_files import quoted
from moot.core.model_config import Strict
from moot.core.user_tables import ENDINGS
from moot.datasets import OwnOptions
from moot.datasets.records import FaultyShare


class AnswersOptions(OwnOptions):
    """What an entry of the configuration may say about answers in files of one's own, in any form."""

    labels: Mapping[str, str] = Field(
        description=(
            "each answer as the file writes it, and the label that it means (YES: yes); the"
            " negative one first"
        )
    )
    no_answer: tuple[str, ...] = Field(
        ("", "UNKNOWN", "NO DECISION"), description="what is no usable answer"
    )

    @model_validator(mode="after")
    def _positive_is_a_label(self) -> "AnswersOptions":
        if self.positive and self.labels and self.positive not in self.labels.values():
            raise ValueError(
                f"'positive' is {self.positive!r}; expected one of"
                f" {sorted(set(self.labels.values()))}"
            )
        return self

    def task(self, labels: Sequence[str], files: str) -> Task:
        """What was predicted; `files` names where the answers come from."""
        return self.asked(labels, f"recorded answers of {files}")


class TurnColumns(Strict):
    """Which column holds what; "" where there is none.

    Without `debate` the table is one of answers, a row each.
    """

    debate: str = Field(
        "debate",
        description=(
            'which debate the turn belongs to; "": a table of answers, a row each, without speaker'
            " and text unless named"
        ),
    )
    case: str = Field(
        "", description="what was debated, where several debates are of one case; none: the debate"
    )
    repeat: str = Field(
        "",
        description="of answers: which repeat of the case; none: rows are counted in their order",
    )
    method: str = Field("", description="the condition (debate, consultancy, ...)")
    turn: str = Field("", description="the turn's number in its debate; none: rows are in order")
    time: str = Field(
        "",
        description="when it was said: a number, or a date and time; orders turns without number",
    )
    round: str = Field("", description="the round, from 1")
    speaker: str = Field("speaker", description='who speaks; "": the judge')
    text: str = Field("text", description="what was said")
    kind: str = Field("", description="what it is (opening, message, vote, ...)")
    role: str = Field("", description="the speaker's role")
    side: str = Field("", description="the side that the speaker argues for")
    model: str = Field(
        "",
        description=(
            "the model that speaks; blank for a person. Of answers: whose they are, by what the"
            " entry of `models` says; none: `judges`"
        ),
    )
    visibility: str = Field(
        "", description="blank, public or all: everybody may read it; else only the speaker"
    )
    answer: str = Field(
        "",
        description="the answer after this turn: the judge's, or where none is named the speaker's",
    )
    answers: str = Field(
        "", description="everybody's answer after this turn: a JSON object, name to answer"
    )
    belief: str | Mapping[str, str] = Field(
        "",
        description=(
            "the stated probability of the positive label, 0 to 1; or label to the column of"
            " its own"
        ),
    )
    confidence: str = Field("", description="the stated confidence in the answer, 0 to 100")
    judge: str = Field("", description="who judged, where the answers are those of judges")
    persona: str = Field("", description="the persona that the judge was given")
    judge_repeat: str = Field(
        "", description="which time the judge was asked about the same debate"
    )
    truth: str = Field("", description="the case's true label")
    facts: str = Field("", description="the case's text")
    attributes: tuple[str, ...] = Field((), description="columns about the case to group scores by")

    @model_validator(mode="before")
    @classmethod
    def _answers_need_no_words(cls, given: object) -> object:
        if isinstance(given, Mapping) and given.get("debate") == "":
            return {"speaker": "", "text": "", **given}
        return given

    @model_validator(mode="after")
    def _fit_together(self) -> "TurnColumns":
        if (self.persona or self.judge_repeat) and not self.judge:
            raise ValueError(
                "persona and judge_repeat are a judge's; name the column of the judge too"
            )
        if not self.debate and not self.case:
            raise ValueError(
                "neither the column of the debate nor that of the case is named; name one of them"
            )
        if self.debate and self.repeat:
            raise ValueError('repeat belongs to a table of answers (debate: ""); leave it out')
        if self.debate and not (self.speaker or self.judge):
            raise ValueError(
                "neither the column of the speaker nor that of the judge is named; name one of them"
            )
        return self

    @property
    def beliefs(self) -> Mapping[str, str]:
        """Label to column; "" for the positive label."""
        return (
            self.belief
            if isinstance(self.belief, Mapping)
            else {"": self.belief}
            if self.belief
            else {}
        )

    @property
    def named(self) -> list[str]:
        """All columns that must be there."""
        single = [
            getattr(self, name)
            for name in type(self).model_fields
            if name not in ("belief", "attributes")
        ]
        return list(
            dict.fromkeys(filter(None, (*single, *self.beliefs.values(), *self.attributes)))
        )


class TranscriptsOptions(AnswersOptions):
    """What an entry of the configuration may say about debates or answers in a table of one's own."""

    path: Path = Field(
        description=(
            "a file (.csv, .tsv, .jsonl, .json, .parquet, .xlsx), a folder of them, or a pattern"
            " (a/*.csv), from the working directory"
        )
    )
    format: Literal["", "csv", "tsv", "jsonl", "json", "parquet", "xlsx"] = Field(
        "", description="what the files are, where their endings do not say it"
    )
    columns: TurnColumns = Field(default_factory=TurnColumns, description="which column holds what")
    extract: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "further columns out of a column: its name, and a regular expression whose named groups"
            " they are (folder: 'r(?P<again>[0-9]+)$')"
        ),
    )
    labels: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "each answer as the file writes it, or a regular expression between slashes for a whole"
            " cell, and the label that it means (YES: yes, '/no.*/': no), the first that fits;"
            " none: as found, in lower case. A list in a JSON object is read in alphabetical order,"
            " with commas"
        ),
    )
    truth: str = Field(
        "", description="the label that is right in every case, where no column says it"
    )
    faulty: FaultyShare = 0.01

    @field_validator("extract", "labels")
    @classmethod
    def _patterns_are_right(
        cls, given: Mapping[str, str], info: ValidationInfo
    ) -> Mapping[str, str]:
        extracts = info.field_name == "extract"
        for pattern in (
            given.values() if extracts else [word[1:-1] for word in given if is_pattern(word)]
        ):
            try:
                groups = re.compile(pattern).groupindex
            except re.error as fault:
                raise ValueError(f"{quoted(pattern)} is no regular expression ({fault})") from None
            if extracts and not groups:
                raise ValueError(
                    f"{quoted(pattern)} names no group; expected one such as (?P<case>[0-9]+)"
                )
        return given

    @property
    def files(self) -> list[Path]:
        """The files, in the order of their names; the path itself where there are none."""
        if any(mark in str(self.path) for mark in "*?["):
            root = Path(self.path.anchor or ".")
            found = root.glob(str(self.path.relative_to(root) if self.path.anchor else self.path))
        elif self.path.is_dir():
            found = (
                file
                for file in self.path.iterdir()
                if self.format or file.suffix.casefold() in ENDINGS
            )
        else:
            return [self.path]
        return sorted(
            file for file in found if file.is_file() and not file.name.startswith(".")
        ) or [self.path]

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """The files that are read."""
        return tuple(self.files)

    @property
    def told_of_cases(self) -> list[str]:
        """The columns that say what a case is, the same in all of its rows."""
        named = (
            self.columns.truth,
            self.columns.facts,
            *self.columns.attributes,
            *cluster_attributes(self.cluster),
        )
        return list(dict.fromkeys(filter(None, named)))


def is_pattern(word: str) -> bool:
    """Whether a word of `labels` is a regular expression between slashes."""
    return len(word) > len("//") and word.startswith("/") and word.endswith("/")
