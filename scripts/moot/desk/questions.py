"""The inbox as a list of questions, and answers to them: each question is answered once, and
nothing said is lost.
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
        key: names it in addresses, and tells neither model nor case.
        page: its file.
        case, repeat, round: the number of its case among the inbox's, from 1; the debate's repeat,
            from 0; the round.
        headline: who is asked for what.
        person: who has the seat, by name; "" where no name is given.
        sections: what a person reads before answering: a tag ("" for what is said of the rest) and
            a text each.
        form: the JSON schema of the answer.
        digest: of all that is shown, so that an answer to another question does not count for this
            one.
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
        """The file of its answer."""
        return answer_file(self.page)

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer."""
        return self.answer.exists()


def answer_file(page: Path) -> Path:
    """The file of the answer to a question."""
    return page.with_name(page.name.removesuffix(FORM) + ANSWER)


def read_questions(inbox: Path) -> list[DeskQuestion]:
    """All questions of an inbox, case by case, in the order of rounds."""
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


def questions_for(questions: Sequence[DeskQuestion], person: str) -> list[DeskQuestion]:
    """The questions to a person, and the unnamed ones of debates in which that person has no
    seat.
    """
    seated = {
        (question.page.parent, question.repeat)
        for question in questions
        if question.person == person
    }
    return [
        question
        for question in questions
        if question.person == person
        or (not question.person and (question.page.parent, question.repeat) not in seated)
    ]


def save_answer(
    question: DeskQuestion, seen_digest: str, content: str
) -> Literal["kept", "taken", "changed"]:
    """Keep an answer durably; where it cannot count, in the question's folder, in a file that no
    debate reads.

    Args:
        question: the present one.
        seen_digest: the digest of the text that the person saw.
        content: the answer's file, checked.

    Returns:
        kept: it counts. taken: the seat was answered before, by another person or in another
            tab, and that answer
        counts. changed: the debate has changed since the person saw it.
    """
    if question.is_answered and question.answer.read_text(encoding="utf-8") == content:
        return "kept"  # sent twice
    is_current = seen_digest == question.digest
    if is_current and write_atomically(question.answer, content, replace=False):
        return "kept"
    set_answer_aside(question.page.with_name(question.page.name.removesuffix(FORM)), content)
    return "taken" if is_current else "changed"


def set_answer_aside(stem: Path, content: str) -> Path:
    """Keep an answer that cannot count in a file that no debate reads, and return its path."""
    aside = stem.with_name(f"{stem.name}.aside-{_digest(content)}.txt")
    write_atomically(aside, content, replace=False)
    return aside


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
