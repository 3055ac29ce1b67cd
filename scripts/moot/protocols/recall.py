"""Has a model seen a case? It continues the text, guesses a masked name, and answers the question
from the whole text.

Text that was learnt is continued word for word (Carlini et al. 2021), and a masked name is known
that the rest of the text does not give away (Chang et al. 2023). Cases decided after the model's
cut-off show what comes of guessing.
"""

import re
from collections import Counter
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from moot.core.errors import UserError
from moot.core.input_files import quoted
from moot.core.types import Fields
from moot.protocols import ProtocolParams, Temperature, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.replies import prediction_schema, read_answer

SEAT, CONTINUATION, NAME = "reader", "continuation", "name"
SEQUENCE = 5
"""Words of a sequence that counts as the same words."""
_TOKEN = re.compile(r"[一-鿿]|[^\W一-鿿]+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")
_FEWEST_TIMES = 2
_CAPITALISED = """
act amendment appellate april august board city code constitution county court december defendant district february
january judge july june justice law march november october people petitioner plaintiff respondent section september
state states supreme united
"""
_NO_NAMES = frozenset(_CAPITALISED.split())
"""Words that legal texts write with a capital, without being anybody's name."""


class RecallParams(ProtocolParams):
    """How a model is tested on the cases of a data set;
    `contamination` of a data set sets these.
    """

    temperature: Temperature = 0.0
    words: int = Field(60, ge=10, description="words that the model continues the text by")
    characters: int = Field(
        6000, ge=200, description="most characters of the text that a prompt shows"
    )
    date: str = Field(
        "",
        description="the attribute with the date of the decision; none: cases are not told apart",
    )
    cutoffs: Mapping[str, str] = Field(
        default_factory=dict, description="model to its stated training cut-off"
    )


class Named(BaseModel):
    """A masked name, as the model has it."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(description="the name alone")


@protocol("recall", RecallParams, study="comparison", seats=lambda _: (SEAT,))
async def recall(debate: Debate, params: RecallParams) -> Answer | None:
    """Continue the first half, name who is masked, then answer the task's question."""
    check_date(debate.case.dataset, debate.case.case_id, debate.case.attributes, params.date)
    text = debate.case.text[: 2 * params.characters]
    first, second = halves(text)
    if second:
        await debate.say(
            SEAT, CONTINUATION, "recall/continuation", private=True, heard=(), shown=first
        )
    if hidden := masked(debate.case.text, params.characters):
        said = await debate.say(
            SEAT, NAME, "recall/name", schema=Named, private=True, heard=(), shown=hidden[0]
        )
        said.parsed = {**(said.parsed or {}), "masked": hidden[1]}
    schema = prediction_schema(debate.task)
    return read_answer(
        debate,
        await debate.say(
            SEAT, "prediction", "recall/answer", schema=schema, heard=(), shown=debate.case.text
        ),
    )


def check_date(dataset: str, case: str, attributes: Mapping[str, str], name: str) -> None:
    """Raise `UserError` where a case's date of decision cannot be read; a blank one is not known."""
    if not name:
        return
    if name not in attributes:
        known = ", ".join(sorted(attributes)) or "none"
        raise UserError(
            f"data set '{dataset}': case '{case}' has no attribute '{name}' for the date of its"
            f" decision. Its attributes: {known}. Name one of them in `contamination.date`."
        )
    if attributes[name] and not _DATE.fullmatch(attributes[name]):
        raise UserError(
            f"data set '{dataset}': case '{case}', attribute '{name}': found"
            f" {quoted(attributes[name])}; expected a date such as 2024-05-31, 2024-05 or 2024."
            " Correct it in your data, or name another attribute in `contamination.date`."
        )


def decided_after(date: str, cutoff: str) -> bool | None:
    """Whether a case was decided after a cut-off;
    None where its date is blank, or too coarse to say.
    """
    if not date or not cutoff:
        return None
    earliest, latest = (f"{date}{end[len(date) - 4 :]}" for end in ("-01-01", "-12-31"))
    return True if earliest > cutoff else False if latest <= cutoff else None


def halves(text: str) -> tuple[str, str]:
    """A text cut in the middle, between two words; the second half is "" where there is no place to
    cut.
    """
    cut = text.find(" ", len(text) // 2)
    return (text, "") if cut < 0 else (text[:cut], text[cut + 1 :])


def masked(text: str, characters: int) -> tuple[str, str] | None:
    """The beginning of a text without the name that it uses most often, and that name; None where
    it uses none twice.

        A name is a capitalised word that also stands within sentences, and nowhere in the text
        without its capital.
    """
    lower = _NO_NAMES.union(re.findall(r"\b[a-z]+\b", text))
    text = text[:characters]
    counted = Counter(found for found in _NAME.findall(text) if found.casefold() not in lower)
    if not counted or counted.most_common(1)[0][1] < _FEWEST_TIMES:
        return None
    name = counted.most_common(1)[0][0]
    return re.sub(rf"\b{name}\b", "[NAME]", text, flags=re.IGNORECASE), name


def is_recovered(parsed: Fields) -> bool:
    """Whether the name that was given is the masked one, or holds it as a word."""
    return parsed["masked"].casefold() in _TOKEN.findall(str(parsed.get("name", "")).casefold())


def overlap(continuation: str, second: str, first: str) -> float:
    """The share of a continuation's sequences of words that stand in the second half, and not in
    the first.
    """
    said, hidden, shown = (_sequences(text) for text in (continuation, second, first))
    return len(said & hidden - shown) / len(said) if said else 0.0


def _sequences(text: str) -> set[tuple[str, ...]]:
    words = _TOKEN.findall(text.casefold())
    return {tuple(words[place : place + SEQUENCE]) for place in range(len(words) - SEQUENCE + 1)}
