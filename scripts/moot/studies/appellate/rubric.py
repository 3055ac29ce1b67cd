"""The rubric of the appellate study, as labels of statements in any experiment whose protocol names
it.
"""

from moot.core.rubric import RUBRICS
from moot.studies.appellate.legal.rubric import RUBRIC
from moot.studies.appellate.legal.rules import label_statement

APPELLATE = "appellate"
STATED = {"affirm": "I would affirm the judgment.", "not affirm": "I would reverse the judgment."}

RUBRICS.register(APPELLATE)(RUBRIC.with_rules(label_statement, STATED))
