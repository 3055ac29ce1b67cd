"""The rubric of the appellate study: what position a judge's statement takes on the decision under
review.

Source: "Tipping the Balance: Human Intervention in Large Language Model Multiagent Debate",
appendix ii (rubric) and "Decision probabilities" (codes). The definitions, in `rubric.yaml`, are
ours. Where the paper is silent, `decide_label` says what we do.
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
OUTCOMES: tuple[str, ...] = ("affirm", "reverse", "mixed", "dismiss")
AFFIRMED_CODE, NOT_AFFIRMED_CODE, NO_STANCE_CODE = CODES[AFFIRM], CODES[REVERSE], CODES[NONE]


def decide_label(dispositions: Collection[str]) -> str:
    """The rubric's label for the dispositions that one statement takes as its own.

    A part affirmed and a part undone is "not affirm", since only a whole affirmance upholds the
    decision (the paper explains its binary code so). To dismiss the appeal leaves the decision
    standing, so it counts as affirming, unless something else is done with the decision; the paper
    has no label for it. Vacating undoes, as reversing does.
    """
    found = set(dispositions)
    undone, sent_back = bool(found & {"reverse", "vacate"}), "remand" in found
    if undone and sent_back:
        return REVERSE_AND_REMAND
    if undone:
        return REVERSE
    if sent_back:
        return REMAND
    if "not affirm" in found or ("affirm" in found and "in part" in found):
        return REVERSE_OR_REMAND
    return AFFIRM if found & {"affirm", "dismiss"} else NONE


def decide_outcome(dispositions: Collection[str]) -> str:
    """The outcome of a whole appeal (one of OUTCOMES), or "" where the dispositions say none."""
    found = set(dispositions)
    undone = bool(found & {"reverse", "vacate", "remand", "not affirm"})
    if "affirm" in found:
        return "mixed" if undone or "in part" in found else "affirm"
    if "in part" in found and undone:
        return "mixed"
    if undone:
        return "reverse"
    return "dismiss" if "dismiss" in found else ""
