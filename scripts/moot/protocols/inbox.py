"""The inbox: files with questions to people, next to which people put their answers.

In `data/inbox/{experiment}/{model}/{case}/`:

    repeat-0-round-2-judge-belief.question.md    the question, for the person
    repeat-0-round-2-judge-belief.question.json  the same, for the desk
    repeat-0-round-2-judge-belief.answer.txt     the person's answer, which moot never changes

Folders are named by the configuration and by a digest of the case, so that neither a model nor a
data set chooses a path.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from moot.core.durable import write_if_changed
from moot.core.errors import DebatePausedError, UserError
from moot.core.log import LOG
from moot.core.text_files import read_text
from moot.core.types import Fields, JsonObject
from moot.protocols.forms import describe_form, read_answer
from moot.protocols.people import Question, format_quoted_form

INBOX = Path("data/inbox")
QUESTION, FORM, ANSWER = ".question.md", ".question.json", ".answer.txt"
NO_ANSWER_YET = "no answer yet: "
UNUSABLE_ANSWER = "an answer cannot be used: "
PANELIST = ("human", "statement")
"""The seat and kind of the human judge of a panel, whose files are named by repeat and round alone.
"""


def case_folder(experiment: str, model: str, case_id: str) -> Path:
    """Return the folder of the questions about a case."""
    readable_id = re.sub(r"[^a-z0-9]+", "-", case_id.lower()).strip("-")[:40]
    digest = hashlib.sha256(case_id.encode()).hexdigest()[:8]
    return INBOX / experiment / model / f"{readable_id}-{digest}"


def question_stem(question: Question) -> Path:
    """Return the path of a question and its answer without their endings."""
    name = f"repeat-{question.repeat}-round-{question.round}"
    if (question.seat, question.kind) != PANELIST:
        name += "".join(
            f"-{re.sub(r'[^a-z0-9]+', '_', part.lower())}"
            for part in (question.seat, question.kind)
        )
    if question.nth > 1:
        name += f"-{question.nth}"
    return case_folder(question.experiment, question.model, question.case_id) / name


def read_answer_file(path: Path, form: Fields) -> JsonObject:
    """Return the content of each field of an answer's file.

    Raises:
        UserError: The file is empty, is not UTF-8, or does not follow the form.
    """
    text = read_text(path, get="write your answer there, or remove the file to be asked again.")
    return read_answer(text, form, path)


def find_answer(question: Question) -> JsonObject | None:
    """Return a person's answer by field; None without an answer.

    Raises:
        UserError: As for `read_answer_file`.
    """
    stem = question_stem(question)
    path = stem.with_name(stem.name + ANSWER)
    return read_answer_file(path, question.form) if path.exists() else None


def ask_by_inbox(question: Question) -> Fields:
    """Return a person's answer; without one, write the question into the inbox.

    Raises:
        DebatePausedError: The answer's file is missing or unusable; other debates continue.
    """
    try:
        answer = find_answer(question)
    except UserError as fault:
        raise DebatePausedError(f"{UNUSABLE_ANSWER}{fault}") from None
    if answer is not None:
        return answer
    stem = question_stem(question)
    path = stem.with_name(stem.name + ANSWER)
    write_if_changed(stem.with_name(stem.name + QUESTION), _page(question, path.name))
    write_if_changed(stem.with_name(stem.name + FORM), _desk_content(question))
    LOG.info(
        "%s, %s: the %s is asked; write %s",
        question.experiment,
        question.model,
        question.seat,
        path,
    )
    raise DebatePausedError(f"{NO_ANSWER_YET}{path}")


def remove_stale_questions(folder: Path, repeat: int, questions: Iterable[Question]) -> None:
    """Remove unanswered questions of a debate that its repeat no longer asks."""
    names = {question_stem(question).name for question in questions}
    for page in folder.glob(f"repeat-{repeat}-*{QUESTION}"):
        stem = page.name.removesuffix(QUESTION)
        if stem not in names and not page.with_name(stem + ANSWER).exists():
            page.with_name(stem + FORM).unlink(missing_ok=True)
            page.unlink()


def headline(question: Question) -> str:
    """Return the seat and the task of a question, such as "Judge: belief, round 2".

    The seat has the name of its role on these data, if the data set states one.
    """
    place = f", round {question.round}" if question.round else ""
    role = " ".join(question.role.split()).removeprefix("the ")
    seat = role or question.seat.replace("_", " ")
    return f"{seat[:1].upper()}{seat[1:]}: {question.kind.replace('_', ' ')}{place}"


def _page(question: Question, answer: str) -> str:
    parts = [f"# {headline(question)}"]
    for tag, sections in groupby(question.sections, key=lambda section: section.tag):
        parts += [f"## {tag.replace('_', ' ').capitalize()}"] if tag else []
        parts += [format_quoted_form(section.text) for section in sections]
    parts += [
        "---",
        "Write your answer to the file named below, in plain text (UTF-8), in this form:",
        describe_form(question.form),
        (
            f"Then run the same command again: the debate goes on from here.\n\nYour file: {answer}"
            " (in this folder)\n"
        ),
    ]
    return "\n\n".join(parts)


def _desk_content(question: Question) -> str:
    content = {
        "headline": headline(question),
        "person": question.person,
        "repeat": question.repeat,
        "round": question.round,
        "sections": [
            [section.tag, format_quoted_form(section.text)] for section in question.sections
        ],
        "form": question.form,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
