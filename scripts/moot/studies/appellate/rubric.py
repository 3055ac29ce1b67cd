"""The rubric of the appellate study, as labels of statements in any experiment whose protocol names it."""

from moot.core.rubric import RUBRICS, Rubric
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, CODES, DEFINITIONS, NONE, NOT_AFFIRMED_CODE
from moot.studies.appellate.legal.rules import label_statement

APPELLATE = "appellate"

RUBRICS.register(APPELLATE)(
    Rubric(
        APPELLATE,
        DEFINITIONS,
        CODES,
        NONE,
        {AFFIRMED_CODE: "affirm", NOT_AFFIRMED_CODE: "not affirm"},
        {"affirm": "I would affirm the judgment.", "not affirm": "I would reverse the judgment."},
        "panel/label",
        lambda statement: label_statement(statement).label,
    )
)
