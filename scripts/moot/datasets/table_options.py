"""The options of a table of the user."""

import string
from collections.abc import Mapping

from pydantic import Field, model_validator

from moot.core.cases import SplitName, cluster_attributes
from moot.datasets.file_options import FileOptions
from moot.datasets.words_in_files import LabelsByWord

ALL, BY_HASH = "all", "hash"
SPLITS: Mapping[str, SplitName] = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}


class TableOptions(FileOptions):
    """The options of a data set that is a table of the user."""

    text: str | tuple[str, ...] = Field(
        description=(
            "Text that models read for a row: a column, a list of columns (one sentence each), or a"
            " template with columns in braces ('{age} years old, {charge}')."
        )
    )
    target: str = Field(description="Column with the true label.")
    labels: LabelsByWord = Field(
        default_factory=dict,
        description=(
            "Label for each value of `target` (GUILTY: guilty), or for each regular expression"
            " between slashes that matches a whole value ('/guilty.*/': guilty), or a list of"
            " labels; of two labels the negative one first. Default: the values of"
            " `target`."
        ),
    )
    id: str | tuple[str, ...] = Field(
        "",
        description=(
            "Column with the id of the case, or several that give it together ([court, nr])."
            " Default: the row's number."
        ),
    )
    positive: str = Field(
        "",
        description="Label that binary scores call positive. Default: the second of two labels.",
    )
    roles: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "Name of each seat (prosecutor, defense, judge, ...) for these data, by seat. Default:"
            " the protocol's names."
        ),
    )
    attributes: tuple[str, ...] = Field(
        (), description="Columns to group scores by. Models never see them. Default: none."
    )
    features: tuple[str, ...] = Field(
        (), description="Columns that tabular baselines are trained on. Default: none."
    )
    categories: tuple[str, ...] = Field(
        (),
        description=(
            "Features whose numbers are names (a postcode, a district). Default: a column of"
            " numbers is a number."
        ),
    )
    split: str = Field(
        ALL,
        description=(
            "Assignment of rows to splits: all (every row is a test case), hash (60/20/20 by hash,"
            " near-duplicates in one split), a column with train, validation or test, or (file) for"
            " files with such names (train.csv, dev.csv, test.csv). A training case that nearly"
            " repeats a test case is left out of training and counted."
        ),
    )

    @model_validator(mode="after")
    def _check_that_text_hides_target(self) -> "TableOptions":
        try:
            columns = self.text_columns
            if isinstance(self.text, str):
                self.text.format(**dict.fromkeys(columns, ""))
        except (ValueError, LookupError, AttributeError) as fault:
            raise ValueError(
                f"text: found {self.text!r}, which is not a template ({fault})"
            ) from None
        if self.target in (*columns, *self.features):
            raise ValueError(
                f"target is '{self.target}', the answer; `text` and `features` must not contain it"
            )
        return self

    @property
    def id_columns(self) -> list[str]:
        """The columns that the id of a case is made of."""
        return [self.id] if isinstance(self.id, str) and self.id else list(self.id)

    @property
    def text_columns(self) -> list[str]:
        """The columns that the text is made of."""
        if not isinstance(self.text, str):
            return list(self.text)
        fields = [field for _, field, _, _ in string.Formatter().parse(self.text) if field]
        return fields or [self.text]

    @property
    def attribute_columns(self) -> list[str]:
        """The columns whose cells cases have as attributes."""
        return list(dict.fromkeys([*self.attributes, *cluster_attributes(self.cluster)]))

    @property
    def has_split_column(self) -> bool:
        """Whether a column, instead of a rule, gives the split of a case."""
        return self.split not in (ALL, BY_HASH)

    @property
    def case_columns(self) -> list[str]:
        """The columns of a case."""
        names = [*self.text_columns, self.target, *self.attribute_columns, *self.features]
        if self.has_split_column:
            names.append(self.split)
        return list(dict.fromkeys(filter(None, names)))
