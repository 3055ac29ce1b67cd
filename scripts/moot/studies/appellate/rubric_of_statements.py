"""Register the rubric of the appellate study for statements of any experiment that names it."""

from moot.core.rubric import RUBRICS
from moot.studies.appellate.legal.rubric import RUBRIC
from moot.studies.appellate.legal.rules import label_statement

APPELLATE = "appellate"
EXAMPLE_STATEMENTS = {
    "affirm": "I would affirm the judgment.",
    "not affirm": "I would reverse the judgment.",
}

RUBRICS.register(APPELLATE)(
    RUBRIC.with_rules(label_statement, EXAMPLE_STATEMENTS, reads_facts=True)
)
