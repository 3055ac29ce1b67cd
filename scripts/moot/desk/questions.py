"""The inbox as a list of questions, and the answers to them.

Each question is answered once. Answers that do not count are stored as well.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from moot.core.durable import write_atomically
from moot.core.types import JsonObject
from moot.protocols.inbox import ANSWER, FORM


@dataclass(frozen=True)
class DeskQuestion:
    """A question of the inbox.

    Attributes:
        key: Its name in addresses, which reveals neither model nor case.
        page: Its file.
        case: The number of its case among the cases of the inbox, from 1.
        repeat: The repeat of the debate, from 0.
        round: The round.
        headline: The seat and the task.
        person: The name of the person in the seat; "" without a name.
        sections: The texts that a person reads before answering, each with a tag; the tag of an
            introduction is "".
        form: The JSON schema of the answer.
        digest: A digest of all that is shown, so that an answer to another question does not count
            for this one.
    """

    key: str
    page: Path
    case: int
    repeat: int
    round: int
    headline: str
    person: str
    sections: Sequence[tuple[str, str]]
    form: JsonObject
    digest: str

    @property
    def answer(self) -> Path:
        """The file of the answer."""
        return answer_file(self.page)

    @property
    def is_answered(self) -> bool:
        """Whether the question has an answer."""
        return self.answer.exists()


def answer_file(page: Path) -> Path:
    """Return the file of the answer to the question in a file."""
    return page.with_name(page.name.removesuffix(FORM) + ANSWER)


def read_questions(inbox: Path) -> list[DeskQuestion]:
    """Return the questions of an inbox, case by case in the order of rounds."""
    pages = sorted(inbox.glob(f"*/*/*/*{FORM}"))
    unique_folders = dict.fromkeys(page.parent for page in pages)
    folders = {folder: number for number, folder in enumerate(unique_folders, 1)}
    questions = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        content = json.loads(text)
        key = _digest(str(page.relative_to(inbox)))
        place = (folders[page.parent], content["repeat"], content["round"])
        sections = [(tag, section_text) for tag, section_text in content["sections"]]
        questions.append(
            DeskQuestion(
                key,
                page,
                *place,
                content["headline"],
                content["person"],
                sections,
                content["form"],
                _digest(text),
            )
        )
    return sorted(
        questions,
        key=lambda question: (question.case, question.repeat, question.round, question.page.name),
    )


def save_answer(
    question: DeskQuestion, seen_digest: str, content: str
) -> Literal["kept", "taken", "changed"]:
    """Store an answer durably.

    An answer that does not count is stored in a file of the question's folder that no debate reads.

    Args:
        question: The present question.
        seen_digest: The digest of the text that the person saw.
        content: The checked text of the answer's file.

    Returns:
        "kept" if the answer counts, "taken" if an earlier answer counts (by another person or from
        another tab), and "changed" if the debate has changed since the person saw it.
    """
    if question.is_answered and question.answer.read_text(encoding="utf-8") == content:
        return "kept"  # sent twice
    is_current = seen_digest == question.digest
    if is_current and write_atomically(question.answer, content, replace=False):
        return "kept"
    set_answer_aside(question.page.with_name(question.page.name.removesuffix(FORM)), content)
    return "taken" if is_current else "changed"


def set_answer_aside(stem: Path, content: str) -> Path:
    """Store an answer that does not count in a file that no debate reads; return its path."""
    aside = stem.with_name(f"{stem.name}.aside-{_digest(content)}.txt")
    write_atomically(aside, content, replace=False)
    return aside


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
