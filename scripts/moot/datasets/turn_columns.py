"""The options of tables with a row per turn or per answer: the meaning of each column."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from moot.core.cases import cluster_attributes
from moot.core.strict_model import StrictModel
from moot.core.text_files import quote_value
from moot.datasets.file_options import FileOptions
from moot.datasets.words_in_files import LabelsByWord


class TurnColumns(StrictModel):
    """The name of the column for each part of a turn; "" if the table has no such column.

    Without `debate` the table is a table of answers, with a row per answer.
    """

    debate: str = Field(
        "debate",
        description=(
            'Debate of the turn. "" stands for a table of answers, with a row per answer;'
            " `speaker` and `text` then default to none."
        ),
    )
    case: str = Field(
        "", description="Case of the debate, if a case has several. Default: the debate."
    )
    repeat: str = Field(
        "",
        description=(
            "Number of the repeat of the case, in a table of answers. Default: rows are counted in"
            " their order."
        ),
    )
    method: str = Field("", description="Condition (debate, consultancy, ...).")
    turn: str = Field(
        "", description="Number of the turn in its debate. Default: rows are in order."
    )
    round: str = Field("", description="Round, from 1.")
    speaker: str = Field("speaker", description='Speaker of the turn. "" stands for the judge.')
    text: str = Field("text", description="Words of the turn.")
    side: str = Field("", description="Side that the speaker argues for.")
    model: str = Field(
        "",
        description=(
            "Model that speaks; blank for a person. In a table of answers, the model that answers,"
            " under its key in `models`. Default there: `judges`."
        ),
    )
    visibility: str = Field(
        "",
        description=(
            "Visibility of the turn: blank, public or all for everybody; any other value for the"
            " speaker alone."
        ),
    )
    answer: str = Field(
        "",
        description="Answer of the judge after the turn; without a judge, of the speaker.",
    )
    belief: str = Field("", description="Stated probability of the positive label, 0 to 1.")
    confidence: str = Field("", description="Stated confidence in the answer, 0 to 100.")
    judge: str = Field("", description="Judge, where judges give the answers.")
    persona: str = Field("", description="Persona of the judge.")
    judge_repeat: str = Field(
        "", description="Number of the repeat in which the judge answers about the same debate."
    )
    truth: str = Field("", description="True label of the case.")
    facts: str = Field("", description="Text of the case.")
    attributes: tuple[str, ...] = Field(
        (), description="Columns with facts about the case to group scores by. Default: none."
    )

    @model_validator(mode="before")
    @classmethod
    def _default_columns_of_answers(cls, values: object) -> object:
        if isinstance(values, Mapping) and values.get("debate") == "":
            return {"speaker": "", "text": "", **values}
        return values

    @model_validator(mode="after")
    def _check_combination(self) -> "TurnColumns":
        if (self.persona or self.judge_repeat) and not self.judge:
            raise ValueError(
                "persona and judge_repeat describe a judge; name the column of the judge too"
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
    def answer_columns(self) -> list[str]:
        """The columns with answers and their authors."""
        names = (self.answer, self.confidence, self.judge, self.persona)
        return list(dict.fromkeys(filter(None, (*names, self.judge_repeat, self.belief))))

    @property
    def column_names(self) -> list[str]:
        """All columns that the table must have."""
        columns = self.model_dump(exclude={"attributes"}).values()
        return list(dict.fromkeys(filter(None, (*columns, *self.attributes))))


class TranscriptsOptions(FileOptions):
    """The options of a data set of debates or answers in tables of the user."""

    columns: TurnColumns = Field(default_factory=TurnColumns, description="Columns of the tables.")
    turns: str = Field(
        "",
        description=(
            "Key of the list of turns of each record in JSON or Parquet (messages, log.turns). Its"
            " fields are columns such as messages.content; the other fields of a record belong to"
            " all of its turns, and its verdict to the column `judge`. Default: one row a turn."
        ),
    )
    labels: LabelsByWord = Field(
        default_factory=dict,
        description=(
            "Label for each answer as the file writes it, or for each regular expression between"
            " slashes that matches a whole cell (YES: yes, '/no.*/': no); the first match counts."
            " Default: the answers in lower case."
        ),
    )
    no_answer: tuple[str, ...] = Field(
        ("UNKNOWN", "NO DECISION"),
        description=(
            "Answers that mean: no usable answer, as words or regular expressions between slashes"
            " ('/i cannot.*/'). A blank cell is none either."
        ),
    )
    confidence_scale: tuple[float, float] | None = Field(
        None,
        description=(
            "Lowest and highest value of the column `confidence` ([0, 1], [1, 5]). Default: 0 to"
            " 100; required if no value is above 10."
        ),
    )
    truth_labels: LabelsByWord = Field(
        default_factory=dict,
        description=(
            "Label for each true answer as the file writes it, if its words are not those of"
            " `labels`. Default: `labels`."
        ),
    )
    truth: str = Field(
        "", description="True label of every case, if no column states it. Default: unknown."
    )

    @model_validator(mode="after")
    def _check_owner_of_verdict(self) -> "TranscriptsOptions":
        """Require a judge for what a record states outside its turns."""
        names = self.columns
        stated = [name for name in self.record_columns if name != names.judge]
        if stated and not names.judge and names.debate:
            raise ValueError(
                f"column {quote_value(stated[0])} belongs to a record of several turns, so that its"
                " author is unknown; name the column of the author in `judge` (without one: for"
                " record in records: record['judge'] = 'judge')"
            )
        return self

    @property
    def turns_prefix(self) -> str:
        """The start of the names of columns that are fields of a turn."""
        return f"{self.turns}."

    @property
    def record_columns(self) -> list[str]:
        """The columns with answers and their authors that are not fields of a turn."""
        if not self.turns:
            return []
        columns = self.columns.answer_columns
        return [name for name in columns if not name.startswith(self.turns_prefix)]

    @property
    def groups(self) -> tuple[str, ...]:
        """The attributes that name the groups of people whose error rates are compared."""
        return self.columns.attributes

    @property
    def case_columns(self) -> list[str]:
        """The columns that describe a case, with equal values in all of its rows."""
        columns = (
            self.columns.truth,
            self.columns.facts,
            *self.columns.attributes,
            *cluster_attributes(self.cluster),
        )
        return list(dict.fromkeys(filter(None, columns)))
