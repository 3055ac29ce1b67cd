"""A human's seat: what a person would see is written to a file, and the debate goes on when the answer lies beside it.

    data/inbox/{experiment}/{model}/{case}/repeat-0-round-2.question.md    written here
    data/inbox/{experiment}/{model}/{case}/repeat-0-round-2.answer.txt     written by the person, never touched here

The folder's names are the configuration's and a digest of the case: no model and no data set chooses a path.
"""

import hashlib
import re
from pathlib import Path

from moot.core.artifacts import atomic_path
from moot.core.errors import DebatePausedError, UserError
from moot.core.input_files import quoted, read_text
from moot.core.log import LOG
from moot.protocols.debate import NO_ANSWER_YET, UNUSABLE_ANSWER, Debate

INBOX = Path("data/inbox")
QUESTION, ANSWER = ".question.md", ".answer.txt"
LONGEST_ANSWER = 20_000
_CONFIDENCE = re.compile(r"^\s*confidence\s*:\s*(?P<value>.*?)\s*$", re.IGNORECASE | re.MULTILINE)
HOW_TO_ANSWER = (
    "Write your statement to the file named below, in plain text (UTF-8). Its last line says how sure you are, from 0 "
    "to 100, for example:\n\n    Confidence: 70\n\nThen run the same command again: the debate goes on from here."
)
_RULE = "\n\n---\n\n"


def question_part(page: str) -> str:
    """What a question's file says before it says how to answer by a file."""
    return page.rpartition(f"{_RULE}{HOW_TO_ANSWER[:20]}")[0] or page


def question_stem(debate: Debate, round_number: int, inbox: Path = INBOX) -> Path:
    """The path of a question and its answer without their endings."""
    case_id = debate.case.case_id
    readable = re.sub(r"[^a-z0-9]+", "-", case_id.lower()).strip("-")[:40]
    folder = f"{readable}-{hashlib.sha256(case_id.encode()).hexdigest()[:8]}"
    return inbox / debate.experiment / debate.model / folder / f"repeat-{debate.repeat}-round-{round_number}"


def read_answer(path: Path) -> tuple[str, float]:
    """A person's statement and stated confidence, 0 to 100.

    Raises:
        UserError: the file is empty, no UTF-8 text, too long, without a statement, or without one confidence line.
    """
    return parse_answer(read_text(path, get="write your statement there, or remove the file to be asked again."), path)


def parse_answer(text: str, path: Path) -> tuple[str, float]:
    """The statement and confidence in an answer's text; `path` for messages. Raises as `read_answer`."""
    if len(text) > LONGEST_ANSWER:
        raise UserError(
            f"{path}: {len(text):,} characters; expected a statement of at most {LONGEST_ANSWER:,}. Shorten it."
        )
    stated = list(_CONFIDENCE.finditer(text))
    if len(stated) != 1:
        raise UserError(f"{path}: {len(stated)} lines 'Confidence: NUMBER'; expected one, as the last line. Add it.")
    try:
        confidence = float(stated[0]["value"].rstrip("%"))
    except ValueError:
        confidence = -1.0
    if not 0 <= confidence <= 100:  # noqa: PLR2004
        raise UserError(
            f"{path}: confidence {quoted(stated[0]['value'])}; expected a number from 0 to 100. Correct the line."
        )
    statement = (text[: stated[0].start()] + text[stated[0].end() :]).strip()
    if not statement:
        raise UserError(f"{path}: a confidence and no statement; expected your opinion above it. Write it.")
    return statement, confidence


def ask_person(debate: Debate, round_number: int, question: str, inbox: Path = INBOX) -> tuple[str, float]:
    """A person's answer in one round, if it has been given; otherwise the question is put into the inbox.

    Raises:
        DebatePausedError: the answer file is not there yet, or it cannot be used; other debates go on.
    """
    stem = question_stem(debate, round_number, inbox)
    answer = stem.with_name(stem.name + ANSWER)
    if answer.exists():
        try:
            return read_answer(answer)
        except UserError as fault:
            raise DebatePausedError(f"{UNUSABLE_ANSWER}{fault}") from None
    page = stem.with_name(stem.name + QUESTION)
    content = f"{question}{_RULE}{HOW_TO_ANSWER}\n\nYour file: {answer.name} (in this folder)\n"
    if not page.exists() or page.read_text(encoding="utf-8") != content:
        with atomic_path(page) as part:
            part.write_text(content, encoding="utf-8")
    LOG.info("%s, %s: a person is asked in %s; write %s", debate.experiment, debate.model, page, answer)
    raise DebatePausedError(f"{NO_ANSWER_YET}{answer}")
