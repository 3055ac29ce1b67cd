"""Replies whose words contradict their field `prediction`.

They are flagged; the parameter `contradictory` decides whether they count. Only sentences are read
in which the speaker asserts an outcome ("The defendant will not be arrested again"), announces a
label ("My prediction is NO") or gives an outcome a probability ("a 30 % chance that ..."). Quoted,
attributed, supposed, conceded and merely possible outcomes are ignored. A reply that asserts both
answers is not flagged.
"""

import re
from collections.abc import Iterator, Mapping

from moot.core.cases import Task
from moot.core.types import Fields, Json
from moot.llm.parsing.conclusions import find_announced
from moot.llm.parsing.plain_text import UnreadableError

CONTRADICTION = "contradiction"
"""The key of `parsed` for the words that contradict the field."""

_MAX_TEXT_CHARS = 20_000
_QUOTATION = re.compile(r"[\"“][^\"“”]{0,300}[\"”]|(?<!\w)['‘][^'’]{0,300}['’](?!\w)")
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\d)[^.!?\n]*)*[.!?]?")
_NO_ASSERTION = re.compile(
    r"\b(?:if|whether|unless|although|though|while|whereas|despite|even|would|could|may|might|can|"
    r"argu\w+|claim\w*|"
    r"contend\w*|assert\w*|alleg\w*|maintain\w*|suggest\w*|say|says|said|state[sd]?|prosecut\w*|"
    r"defen[sc]e|counsel|"
    r"advocate|attorney|state's|government|opponent|debater|according|question|ask\w*|means? that|"
    r"not (?:mean|clear|certain|sure|necessarily|believe|think|true|say|all|every)|"
    r"no (?:evidence|reason|guarantee|proof|certainty)|doubt|cannot|can't|risk that|hard"
    r" to|difficult to|possible|"
    r"possibility|perhaps|hope\w*|previous\w*|initial\w*|at first|lack|unable)\b|\?",
    re.IGNORECASE,
)
_CRIME = (
    r"(?:be (?:re-?arrested|arrested (?:again|for a new)|arrested within)|re-?offend|recidivate|"
    r"commit (?:another|a new|new|further) (?:crime|offen[cs]e)s?)"
)
_LIKELY = r"(?:(?:very|highly|quite|most|more|extremely) )?likely"
_ARREST = re.compile(
    rf"\b(?:(?P<no>will (?:(?:most )?(?:likely|probably) )?(?:not|never) (?:\w+ly )?|won't |is"
    rf" (?:\w+ )?unlikely to |"
    rf"is not (?:likely|expected|going) to )|(?P<yes>will (?:{_LIKELY} |probably |again |almost"
    r" certainly )?|"
    rf"is {_LIKELY} to |is (?:expected|going) to )){_CRIME}",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"(?<![\d.\-–])(?P<share>\d{1,3}(?:\.\d+)?)\s?(?:%|per"
    r" ?cent)(?![-–\d])(?P<noun>[^.;,%]{0,40}?)\b(?:that|of|to)\b",
    re.IGNORECASE,
)
_WINS = (
    r"(?:wins|will (?:likely |probably )?win|should win|prevails|(?:should|will) (?:likely"
    r" |probably )?prevail)"
)
_LOSES = r"(?:loses|will (?:likely |probably )?lose|(?:does|will|should) not (?:win|prevail))"
_EVEN_CHANCE = 50
_MIN_WORDS = 3


def find_contradiction(task: Task, value: Fields, reply: str) -> str:
    """Return the words of a reply that contradict its prediction; "" without any.

    Args:
        task: The task.
        value: The fields that were read.
        reply: The text of the reply, which is searched if only the answer was read.
    """
    answer = value.get("prediction")
    if not isinstance(answer, str) or task.multilabel:
        return ""
    text = (
        "\n".join(_texts({name: part for name, part in value.items() if name != "prediction"}))
        or reply
    )
    confidence = value.get("confidence")
    assertions = list(
        _asserted_labels(
            task, _QUOTATION.sub(" ", text[:_MAX_TEXT_CHARS]), answer.casefold(), confidence
        )
    )
    if not assertions or any(label == answer.casefold() for label, _ in assertions):
        return ""
    return assertions[-1][1].strip()


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _asserted_labels(
    task: Task, text: str, answer: str, confidence: object
) -> Iterator[tuple[str, str]]:
    """Yield the labels that the speaker asserts, each with its sentence."""
    labels = tuple(label.upper() for label in task.labels)
    for match in _SENTENCE.finditer(text):
        sentence = match[0]
        if _NO_ASSERTION.search(sentence) or len(sentence.split()) < _MIN_WORDS:
            continue
        try:
            yield from (
                (str(label).casefold(), sentence) for label in find_announced(sentence, labels)
            )
        except UnreadableError:
            continue
        if set(task.labels) == {"yes", "no"} and "arrest" in task.question:
            yield from _asserted_arrests(sentence, answer, confidence)
        elif len(task.labels) == 2:
            yield from _asserted_winners(task, sentence)


def _asserted_arrests(sentence: str, answer: str, confidence: object) -> Iterator[tuple[str, str]]:
    for match in _ARREST.finditer(sentence):
        label = "yes" if match["yes"] else "no"
        share = _SHARE.search(sentence[: match.start()])
        if share is not None:
            label = _label_of_probability(
                float(share["share"]), share["noun"].strip().casefold(), label, answer, confidence
            )
        if label:
            yield label, sentence


def _label_of_probability(
    share: float, noun: str, label: str, answer: str, confidence: object
) -> str:
    """Return the answer of "N % chance that LABEL": the other label if N is below 50, "" at 50.

    "N % sure that LABEL" asserts the label for any N, as does a chance that equals the stated
    confidence.
    """
    is_certainty = not noun or any(word in noun for word in ("confiden", "sure", "certain"))
    is_confidence = label != answer and confidence is not None and confidence == share
    if is_certainty or is_confidence or share > _EVEN_CHANCE:
        return label
    return "" if share == _EVEN_CHANCE else "no" if label == "yes" else "yes"


def _asserted_winners(task: Task, sentence: str) -> Iterator[tuple[str, str]]:
    if not any(
        meaning.endswith(("wins", "is affirmed")) or "decides for" in meaning
        for meaning in task.meaning.values()
    ):
        return
    for label in task.labels:
        opposite = next(name for name in task.labels if name != label)
        for verb, winner in ((_WINS, label), (_LOSES, opposite)):
            if re.search(rf"\bthe {re.escape(label)} {verb}\b", sentence, re.IGNORECASE):
                yield winner, sentence
