"""The rubric of the appellate study: the position of a judge's statement on the reviewed decision.

Source: "Tipping the Balance: Human Intervention in Large Language Model Multiagent Debate",
appendix ii (rubric) and "Decision probabilities" (codes). The definitions in `rubric.yaml` are
ours. `decide_label` documents our choices where the paper is silent.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from moot.core.rubric import read_rubric

AFFIRM: Final = "AFFIRM"
REVERSE: Final = "REVERSE"
REMAND: Final = "REMAND"
REVERSE_AND_REMAND: Final = "REVERSE AND REMAND"
REVERSE_OR_REMAND: Final = "REVERSE OR REMAND"
NONE: Final = "NONE"
HALLUCINATION: Final = "HALLUCINATION"

RUBRIC: Final = read_rubric(Path(__file__).parents[1] / "rubric.yaml")
LABELS: tuple[str, ...] = tuple(RUBRIC.labels)
CODES: Mapping[str, int] = RUBRIC.numbers
AFFIRMED_CODE, NOT_AFFIRMED_CODE, NO_STANCE_CODE = CODES[AFFIRM], CODES[REVERSE], CODES[NONE]


def decide_label(dispositions: Collection[str]) -> str:
    """Return the label of a statement with these dispositions.

    To affirm in part is "not affirm", since only a whole affirmance upholds the decision (this is
    how the paper explains its binary code). To dismiss the appeal leaves the decision standing and
    counts as affirming unless the statement also undoes or remands; the paper has no label for it.
    To vacate counts as to reverse.
    """
    names = set(dispositions)
    is_undone, is_remanded = bool(names & {"reverse", "vacate"}), "remand" in names
    if is_undone and is_remanded:
        return REVERSE_AND_REMAND
    if is_undone:
        return REVERSE
    if is_remanded:
        return REMAND
    if "not affirm" in names or ("affirm" in names and "in part" in names):
        return REVERSE_OR_REMAND
    return AFFIRM if names & {"affirm", "dismiss"} else NONE


def decide_outcome(dispositions: Collection[str]) -> str:
    """Return the outcome of an appeal, or "" if the dispositions give none."""
    names = set(dispositions)
    is_undone = bool(names & {"reverse", "vacate", "remand", "not affirm"})
    if "affirm" in names:
        return "mixed" if is_undone or "in part" in names else "affirm"
    if "in part" in names and is_undone:
        return "mixed"
    if is_undone:
        return "reverse"
    return "dismiss" if "dismiss" in names else ""


EXAMPLES_OF_LABELS = {
    "AFFIRM": "The clinic's notice was clear enough, so I would affirm the judgment below.",
    "REVERSE": "The warrant named no place to be searched; I would reverse the judgment.",
    "REMAND": "The record is silent on consent. I would remand the case for further findings.",
    "REVERSE AND REMAND": "I would reverse the dismissal and remand the case for trial.",
    "REVERSE OR REMAND": "The district court should not have dismissed the complaint.",
    "NONE": "The doctor recorded the visits. The patients had signed a form.",
    "HALLUCINATION": "The defendant broke the law on privacy. I would reverse her conviction.",
}
"""Labels of the rubric to statements of ours."""
CRITERIA_OF_LABELS = {
    "AFFIRM": "explicit or implicit",
    "REVERSE OR REMAND": "implicit",
    "NONE": "no stance taken",
    "HALLUCINATION": "error",
}
"""The criteria that the paper prints; of the other labels it is "explicit"."""
