"""Read the outcome of an appeal from the full text of the opinion.

The last disposition alone counts, and only where the opening of the opinion does not announce
another one. Any further rule would have to know the courts: an opinion in doubt is excluded.
"""

from collections.abc import Iterable
from typing import NamedTuple

from moot.datasets.opinion_text import split_opinion
from moot.studies.appellate.legal.dispositions import Disposition, find_dispositions
from moot.studies.appellate.legal.rubric import decide_outcome
from moot.studies.appellate.legal.sentences import split_sentences

OPENING_CHARS = 3_000
CLOSING_CHARS = 1_500


class OutcomeReading(NamedTuple):
    """The outcome of an opinion ("" if it is in doubt), and why it is in doubt."""

    outcome: str
    problem: str = ""


def read_outcome(text: str) -> OutcomeReading:
    """Return the outcome that an opinion ends with.

    >>> read_outcome("Per Curiam. Lee fell and sued. See Roe v. Doe (reversed). Affirmed.").outcome
    'affirm'
    >>> read_outcome("We reverse. Lee fell and sued. She was hurt. Affirmed.").problem
    'the opening announces another outcome'
    """
    body = split_opinion(text).body
    dispositions = [item for item in find_dispositions(body) if item.is_explicit]
    if not dispositions or dispositions[-1].end < len(body) - CLOSING_CHARS:
        return OutcomeReading("", "no disposition at the end")
    closing_start = _find_closing_start(body, dispositions)
    names = _list_names([item for item in dispositions if item.start >= closing_start])
    is_undone = bool(names & {"reverse", "vacate"})
    if is_undone and "dismiss" in names:
        return OutcomeReading("", "one appeal is dismissed, another is not")
    if is_undone and "affirm" in names and "in part" not in names:
        # "We reverse the district court and affirm the commission" undoes the decision as a whole.
        return OutcomeReading("", "affirmed and undone, but not in part")
    outcome = _decide_outcome(names)
    opening_end = min(closing_start, OPENING_CHARS)
    opening_dispositions = [item for item in dispositions if item.start < opening_end]
    if opening_dispositions and _decide_outcome(_list_names(opening_dispositions)) != outcome:
        return OutcomeReading("", "the opening announces another outcome")
    return OutcomeReading(outcome)


def _find_closing_start(body: str, dispositions: list[Disposition]) -> int:
    """Return the start of the first of the neighbouring sentences that dispose at the end."""
    disposing = {disposition.start for disposition in dispositions}
    closing_start = dispositions[-1].start
    for sentence in reversed(split_sentences(body)):
        if sentence.start < closing_start:
            if sentence.start not in disposing:
                break
            closing_start = sentence.start
    return closing_start


def _list_names(dispositions: Iterable[Disposition]) -> set[str]:
    names = set[str]()
    for disposition in dispositions:
        names.add(disposition.name)
        if disposition.is_in_part:
            names.add("in part")
    return names


def _decide_outcome(names: set[str]) -> str:
    """Return the outcome; a case that goes back after an affirmance alone stays affirmed."""
    if "affirm" in names and not names & {"reverse", "vacate"}:
        names = names - {"remand"}
    return decide_outcome(names)
