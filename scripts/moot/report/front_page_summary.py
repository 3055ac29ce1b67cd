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

from moot.report.published_claims import CANNOT_TELL, NOT_SUPPORTED, SUPPORTED
from moot.report.study_questions import StudyQuestion, Verdict

LEGEND = (
    ("✓", SUPPORTED, "the value is on the claim's side of the threshold, and p is below 0.05"),
    ("✗", NOT_SUPPORTED, "the value is on the other side, and p is below 0.05"),
    ("?", CANNOT_TELL, "p is not below 0.05, or there is no answer; no evidence of equality"),
)
"""The three verdicts: sign, word and meaning."""
PREVIEW_ROWS, PREVIEW_COLUMNS, PREVIEW_TEXTS, PREVIEW_CHARS = 4, 3, 2, 28
NAMES_WITHOUT_PREVIEW = ("", "study", "voices")
"""Columns with the same value in every row of a table."""
ANSWERS_IN_SUMMARY = 2
DIFFERS = "with answers that differ between runs"
_VERDICT_OF_WORD = {"yes": SUPPORTED, "opposite": NOT_SUPPORTED}
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
    filled, drawn = int(match[2]), int(match[3] or 0)
    open_count = int(match[1]) - filled - drawn
    return PaperProgress(address, name, filled, open_count, drawn, match[4] or "")


def summarise_run(
    questions: Sequence[StudyQuestion], debates: tuple[int, int], *, is_own: bool = False
) -> list[str]:
    """Return three sentences that summarise a run.

    The first says how many questions have an answer. The other two give the clearest answers with
    numbers and intervals; answers of planned comparisons come first.

    Args:
        questions: of the front page.
        debates: the numbers of debates and experiments.
        is_own: whether the run has experiments of the user's own. Then only questions that it
            planned or has debates for are counted.
    """
    debate_count, experiment_count = debates
    run_questions = (
        [question for question in questions if question.is_of_run] if is_own else questions
    )
    counts = Counter(map(_question_verdict, run_questions))
    differing = f", {counts[DIFFERS]} {DIFFERS}" if counts[DIFFERS] else ""
    plural = "s" if len(run_questions) != 1 else ""
    further_count = len(questions) - len(run_questions)
    sentences = [
        f"This run of {debate_count:,} debates in {experiment_count} experiments asks"
        f" {len(run_questions)} question{plural}: {counts[SUPPORTED]} {SUPPORTED},"
        f" {counts[NOT_SUPPORTED]} {NOT_SUPPORTED}{differing}, {counts[CANNOT_TELL]} {CANNOT_TELL}."
        + _count_further_questions(further_count)
    ]
    judged: list[tuple[StudyQuestion, Verdict]] = []
    for question in questions:
        judged += [(question, verdict) for verdict in question.verdicts]
    judged.sort(key=lambda pair: (_is_open(pair[1]), not pair[0].planned, -_clarity(pair[1])))
    if is_own:
        judged.sort(key=lambda pair: not pair[0].planned)
    texts: set[str] = set()
    for question, verdict in judged:
        if question.text not in texts and len(texts) < ANSWERS_IN_SUMMARY:
            texts.add(question.text)
            sentences.append(_describe_answer(question, verdict))
    if not judged:
        sentences += [
            "No comparison has enough cases for an interval, so no number here is a finding.",
            "More cases, or planned comparisons (`contrasts`), bring answers.",
        ]
    elif len(texts) == 1:
        sentences.append("No other question has an answer with an interval.")
    return sentences


def _count_further_questions(count: int) -> str:
    """Return how many questions a run does not ask, as a sentence; "" for none."""
    if not count:
        return ""
    is_single = count == 1
    subject = "1 further question" if is_single else f"{count} further questions"
    return f" {subject} about the papers need{'s' if is_single else ''} other debates."


def _word_of(verdict: Verdict) -> str:
    """Return the verdict in the words of the legend."""
    return _VERDICT_OF_WORD.get(verdict.word, verdict.word)


def _question_verdict(question: StudyQuestion) -> str:
    """Return the verdict on a question, or that its runs answer it differently."""
    words = set(map(_word_of, question.verdicts))
    answers = words & {SUPPORTED, NOT_SUPPORTED}
    if not answers:
        return CANNOT_TELL
    return answers.pop() if len(words) == 1 else DIFFERS


def _is_open(verdict: Verdict) -> bool:
    return _word_of(verdict) not in (SUPPORTED, NOT_SUPPORTED)


def _clarity(verdict: Verdict) -> float:
    """Return the distance of an interval from its threshold, in widths of the interval.

    It is negative if the interval includes the threshold.
    """
    low_end, high_end = min(verdict.threshold), max(verdict.threshold)
    distance = max(verdict.low - high_end, low_end - verdict.high)
    if low_end != high_end:
        distance = max(distance, min(verdict.low - low_end, high_end - verdict.high))
    return distance / ((verdict.high - verdict.low) or 1.0)


def _describe_answer(question: StudyQuestion, verdict: Verdict) -> str:
    numbers = f"{verdict.value:.3f} [{verdict.low:.3f}, {verdict.high:.3f}]".replace("-", "−")
    word = _word_of(verdict)
    words = [_word_of(other_verdict) for other_verdict in question.verdicts]
    answer = word.capitalize()
    if words.count(word) < len(words):
        answer += f" in {words.count(word)} of {len(words)} runs, most clearly"
    return f"{question.text} {answer}: {numbers} ({verdict.about})."


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
