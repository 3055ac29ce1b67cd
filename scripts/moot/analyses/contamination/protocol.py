"""The protocol `recall`: a model continues a case's text, guesses a name, and answers.

A model continues a text that it has learnt word for word (Carlini et al. 2021), and it knows a
masked name that the rest of the text does not reveal (Chang et al. 2023). Cases decided after the
model's cut-off show the results of guessing.
"""

import re
from collections import Counter
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import Fields
from moot.protocols import ProtocolParams, Temperature, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema, read_answer

SEAT, CONTINUATION, NAME = "reader", "continuation", "name"
SEQUENCE = 5
"""Words of a sequence that counts as the same words."""
_TOKEN = re.compile(r"[一-鿿]|[^\W一-鿿]+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_MIN_OCCURRENCES = 2
_CAPITALISED = """
act amendment appellate april august board city code constitution county court december defendant
district february january judge july june justice law march november october people petitioner
plaintiff respondent section september state states supreme united
"""
_NO_NAMES = frozenset(_CAPITALISED.split())
"""Words that legal texts capitalise although they are not names."""


MAX_PROMPT_CHARACTERS = 6000
"""Most characters of a case's text that a prompt shows."""


class RecallParams(ProtocolParams):
    """How a model is tested on the cases of a data set; the key `contamination` sets these."""

    temperature: Temperature = 0.0
    words: int = Field(60, ge=10, description="number of words of the continuation")
    date: str = Field(
        "",
        description=(
            "the attribute with the date of the decision; default: cases are not divided by date"
        ),
    )
    cutoffs: Mapping[str, str] = Field(
        default_factory=dict, description="the stated training cut-off, by model"
    )


class Named(BaseModel):  # its schema, with name and docstring, is sent to servers
    """A masked name, as the model has it."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(description="the name alone")


@protocol("recall", RecallParams, study="comparison", seats=lambda _: (SEAT,))
async def recall_case(debate: Debate, params: RecallParams) -> Answer | None:
    """Continue the first half, give the masked name, then answer the task's question."""
    check_date(debate.case.dataset, debate.case.case_id, debate.case.attributes, params.date)
    text = debate.case.text[: 2 * MAX_PROMPT_CHARACTERS]
    first, second = split_halves(text)
    if second:
        await debate.say(
            SEAT, CONTINUATION, "recall/continuation", private=True, utterances=(), shown=first
        )
    if masking := mask_name(debate.case.text, MAX_PROMPT_CHARACTERS):
        masked_text, name = masking
        utterance = await debate.say(
            SEAT, NAME, "recall/name", schema=Named, private=True, utterances=(), shown=masked_text
        )
        utterance.parsed = {**(utterance.parsed or {}), "masked": name}
    schema = prediction_schema(debate.task)
    return read_answer(
        debate,
        await debate.say(
            SEAT,
            "prediction",
            "recall/answer",
            schema=schema,
            utterances=(),
            shown=debate.case.text,
        ),
    )


def check_date(dataset: str, case: str, attributes: Mapping[str, str], name: str) -> None:
    """Raise `UserError` if a case's date of decision cannot be read; a blank date is unknown."""
    if not name:
        return
    if name not in attributes:
        names = ", ".join(sorted(attributes)) or "none"
        raise UserError(
            f"data set '{dataset}': case '{case}' has no attribute '{name}' for the date of its"
            f" decision. Its attributes: {names}. Name one of them in `contamination.date`."
        )
    if attributes[name] and not _DATE.fullmatch(attributes[name]):
        raise UserError(
            f"data set '{dataset}': case '{case}', attribute '{name}': found"
            f" {quote_value(attributes[name])}; expected a date such as 2024-05-31, 2024-05 or"
            " 2024."
            " Correct it in your data, or name another attribute in `contamination.date`."
        )


def decided_after(date: str, cutoff: str) -> bool | None:
    """Return whether a case was decided after a cut-off.

    None if its date is blank, or too imprecise.
    """
    if not date or not cutoff:
        return None
    earliest, latest = (f"{date}{end[len(date) - 4 :]}" for end in ("-01-01", "-12-31"))
    if earliest > cutoff:
        return True
    return False if latest <= cutoff else None


def split_halves(text: str) -> tuple[str, str]:
    """Split a text in the middle, between two words.

    The second half is "" if no split is possible.
    """
    cut = text.find(" ", len(text) // 2)
    return (text, "") if cut < 0 else (text[:cut], text[cut + 1 :])


def mask_name(text: str, characters: int) -> tuple[str, str] | None:
    """Return the beginning of a text with its most frequent name masked, and that name.

    None if no name occurs twice.

    A name is a capitalised word within a sentence that the text never writes in lower case.
    """
    lower_case_words = _NO_NAMES.union(re.findall(r"\b[a-z]+\b", text))
    text = text[:characters]
    names = [name for name in _NAME.findall(text) if name.casefold() not in lower_case_words]
    if not names:
        return None
    name, occurrences = Counter(names).most_common(1)[0]
    if occurrences < _MIN_OCCURRENCES:
        return None
    return re.sub(rf"\b{name}\b", "[NAME]", text, flags=re.IGNORECASE), name


def is_recovered(parsed: Fields) -> bool:
    """Return whether a reply gives the masked name, alone or as one of several words."""
    return parsed["masked"].casefold() in _TOKEN.findall(str(parsed.get("name", "")).casefold())


def measure_overlap(continuation: str, second: str, first: str) -> float:
    """Return the share of a continuation's word sequences that occur in the second half only."""
    sequences = _sequences(continuation)
    recalled = sequences & _sequences(second) - _sequences(first)
    return len(recalled) / len(sequences) if sequences else 0.0


def _sequences(text: str) -> set[tuple[str, ...]]:
    words = _TOKEN.findall(text.casefold())
    starts = range(len(words) - SEQUENCE + 1)
    return {tuple(words[start : start + SEQUENCE]) for start in starts}
