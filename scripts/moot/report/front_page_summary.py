"""The top of the front page: three sentences on the run, and each paper's progress.

It also reads the first rows of tables for previews.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from moot.report.study_questions import SIGNS, StudyQuestion
from moot.scores.contrasts import CANNOT_TELL, NOT_SUPPORTED, SUPPORTED

LEGEND = {
    SUPPORTED: "p is below 0.05 and the value is on the expected side",
    NOT_SUPPORTED: "p is below 0.05 and the value is on the other side",
    CANNOT_TELL: "p is not below 0.05, or there is no p; no evidence of equality",
}
"""The three answers and their meanings."""
PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_TEXTS, PREVIEW_CHARS = 4, 3, 2, 28
NAMES_WITHOUT_PREVIEW = ("", "study", "voices")
"""Columns with the same value in every row of a table."""
ANSWERS_IN_SUMMARY = 2
_PROGRESS = re.compile(
    r'data-items="(\d+)" data-filled="(\d+)"(?: data-drawn="(\d+)")?(?: data-made-up="([A-Z, ]+)")?'
)
_NUMBER = re.compile(r"-?\d+\.\d{4,}")


@dataclass(frozen=True, slots=True)
class PaperProgress:
    """How many items of a paper this run fills with values.

    Attributes:
        address, name: the address and the name of its page.
        filled, open: the numbers of items with and without values of this run; None if unknown.
        drawn: the number of items that show a design alone, such as diagrams.
        made_up: the kinds of made-up inputs of its values, such as "SYNTHETIC DATA".
    """

    address: str
    name: str
    filled: int | None = None
    open: int | None = None
    drawn: int = 0
    made_up: str = ""


def read_paper_progress(root: Path, address: str, name: str) -> PaperProgress:
    """Read from a paper's page how many of its items this run fills."""
    path = root / address
    match = _PROGRESS.search(path.read_text(encoding="utf-8")) if path.exists() else None
    if match is None:
        return PaperProgress(address, name)
    filled_count, drawn_count = int(match[2]), int(match[3] or 0)
    open_count = int(match[1]) - filled_count - drawn_count
    return PaperProgress(address, name, filled_count, open_count, drawn_count, match[4] or "")


def summarise_run(questions: Sequence[StudyQuestion], debates: tuple[int, int]) -> list[str]:
    """Return sentences that summarise a run: its size, the answers below, the clearest ones.

    Args:
        questions: that the page shows.
        debates: the numbers of debates and experiments.
    """
    debate_count, experiment_count = debates
    counts = Counter(question.answer for question in questions)
    answers = ", ".join(f"{counts[word]} {word}" for word in SIGNS)
    plural = "s" if len(questions) != 1 else ""
    sentences = [
        f"This run has {debate_count:,} debates in {experiment_count} experiments. Below are"
        f" {len(questions)} question{plural}: {answers}."
    ]
    answered_questions = [question for question in questions if question.answer != CANNOT_TELL]
    sentences += map(_describe_answer, answered_questions[:ANSWERS_IN_SUMMARY])
    if not any(question.estimate for question in questions):
        sentences += [
            "No comparison has enough cases for an interval, so no number here is a finding.",
            "More cases, or planned comparisons (`contrasts`), bring answers.",
        ]
    return sentences


def _describe_answer(question: StudyQuestion) -> str:
    estimate = question.estimate
    if estimate is None:
        return ""
    numbers = f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]".replace("-", "−")
    return f"{question.text} {question.answer.capitalize()}: {numbers} ({question.about})."


def read_table_preview(root: Path, address: str) -> list[list[str]]:
    """Read the heading and first rows of a table.

    The columns are its first two columns of text and its first number.
    """
    path = (root / address).with_suffix(".csv")
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(islice(csv.DictReader(file), PREVIEW_ROWS))
    texts: list[str] = []
    numbers: list[str] = []
    for name in rows[0] if rows else ():
        cells = [row[name] for row in rows if row[name]]
        if cells and name not in NAMES_WITHOUT_PREVIEW:
            (numbers if all(map(_is_number, cells)) else texts).append(name)
    names = [*texts[:PREVIEW_TEXTS], *numbers[: PREVIEW_COLUMNS - len(texts[:PREVIEW_TEXTS])]]
    if not names:
        return []
    return [names, *(_shorten_cells(row, names) for row in rows)]


def _shorten_cells(row: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [_shorten(row[name] or "") for name in names]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _shorten(cell: str) -> str:
    text = _NUMBER.sub(lambda match: f"{float(match[0]):.3f}", cell)
    return text if len(text) <= PREVIEW_CHARS else f"{text[: PREVIEW_CHARS - 1]}…"
