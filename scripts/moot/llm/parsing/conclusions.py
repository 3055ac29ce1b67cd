"""The label that a whole reply in words states.

It is looked for in this order:

1. The reply is a label and marks around it.
2. A label is announced: in double brackets or a box, on a line of its own, behind words such as
   "the answer is", or in a sentence that calls it better, right or the winner.
3. A label opens the reply, or a sentence that goes on with "because".

The labels of 2 and 3 must agree, and the words behind the first may neither withdraw it nor name
another label behind an answer word. Therefore a reply that is cut off gives the same answer as the
whole one, or none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from moot.llm.parsing.answer_frames import (
    ANSWER_INTRODUCTION,
    ANSWER_NOUN,
    CONNECTIVES,
    EXPLANATION,
    LEAD_IN,
    OPTION_NOUN,
)
from moot.llm.parsing.label_mentions import (
    Label,
    Labels,
    drop_bracketed_choices,
    drop_denied,
    drop_symbols,
    find_mentions,
    find_spelled_mentions,
    label_regex,
)
from moot.llm.parsing.label_phrases import (
    label_spellings,
    match_opening,
    read_label,
    unwrap_label,
)
from moot.llm.parsing.normaliser import simplify_marks
from moot.llm.parsing.option_lists import (
    drop_item_numbers,
    drop_tables,
    lists_options,
    refuse_open_list,
)
from moot.llm.parsing.plain_text import (
    CUT,
    WRAPPING,
    EchoError,
    UnreadableError,
    fold_text,
    shorten,
)
from moot.llm.parsing.withdrawals import has_second_thought, is_hypothetical, is_taken_back

_STATED_ANSWER = re.compile(
    r"(?:^|[.!?][\"”’]?|[;:,。，；！？])[\s*#>_-]*"
    + ANSWER_INTRODUCTION
    + r"(?=(?P<value>[^\n]{1,400}))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[\[\s*([^\[\]]{1,80}?)\s*\]\]|【\s*([^【】]{1,80}?)\s*】")
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.](?=\d)[^.!?。！？\n]*)*[.!?。！？]?")
_ANSWER_WORD = re.compile(
    rf"(?<![\w-]){ANSWER_NOUN}(?![\w-])|{ANSWER_NOUN}(?<=[一-鿿])", re.IGNORECASE
)
_REASON = re.compile(r"[\"'”*_]*,?\s+(?:because|since|as|due to|given)\b", re.IGNORECASE)
_OPTION_LETTER = re.compile(r"^([\s*_]*[A-Z])[)）]\s+(?=\w)")
"""The letter of an option before its text: "C) arson"."""
_FIRST_SENTENCE = re.compile(r"(?<=[.。!！])\s+(?=[^\W\d])")
_GROUNDS = r"based on (?:this|these|the)(?:\s[\w'’-]+){0,3}"
_CONNECTIVE = rf"(?:(?:{'|'.join(CONNECTIVES)}|{_GROUNDS})[,:]?\s+)?"
_ADVERB = (
    r"(?:(?:to\s+be|clearly|slightly|overall|the|a|an|much|far|somewhat|marginally|generally"
    r"|therefore|thus|significantly|probably|likely)\s+){0,3}"
)
_QUALITY = (
    r"(?:stronger|strongest|better|best|superior|preferable|preferred|favou?red|right|correct"
    r"|winner|winning|(?:more|most)\s+(?:persuasive|convincing|compelling|accurate|appropriate"
    r"|helpful|likely|plausible|suitable)|appropriate)"
)
_HEAD_NOUN = (
    r"(?:\s+(?:case|argument|answer|label|one|choice|option|side|position|response|output|party"
    r"|outcome|verdict|classification|stance|candidate|prediction|here|overall|of\s+the\s+two"
    r"|in\s+this\s+case)){0,2}"
)


@dataclass(frozen=True, slots=True)
class _Announcement:
    """A label that a reply gives as its answer, and where the announcement ends."""

    label: Label
    end: int


def find_label(text: str, labels: Labels) -> tuple[Label, bool]:
    """Return the label that a whole reply states, and whether the reply is only that label.

    Raises:
        UnreadableError: it states no label, or more than one, or breaks off in a list of labels.
    """
    text = drop_bracketed_choices(drop_tables(simplify_marks(text)), labels)
    text = drop_item_numbers(drop_symbols(text, labels), labels)
    if not text.endswith(CUT):
        bare = _read_bare(text, labels)
        if bare is not None:
            return bare, True
    refuse_open_list(text, labels)
    announcements = list(_find_announcements(text, labels))
    try:
        announcements.append(_Announcement(_read_opening(text, labels), 0))
    except UnreadableError:
        if not announcements:
            raise
    stated_labels = {announcement.label for announcement in announcements}
    stated_labels.update(_find_opening_labels(text, labels))
    if len(stated_labels) > 1:
        raise UnreadableError(f"states {' and '.join(sorted(map(str, stated_labels)))}")
    label = announcements[0].label
    start = min(announcement.end for announcement in announcements)
    rest = text[max(start - 1, 0) :]
    if has_second_thought(rest) or is_taken_back(rest, labels, label):
        raise UnreadableError(f"the words behind {label} take it back")
    _refuse_later_answer(text, labels, label, start)
    return label, False


def _read_bare(text: str, labels: Labels) -> Label | None:
    """Return the label that `text` is, apart from marks around it; None for any other text."""
    try:
        label, is_bare = read_label(text, labels)
    except UnreadableError:
        return None
    return label if is_bare else None


def _read_opening(text: str, labels: Labels) -> Label:
    """Return the label that the text opens with.

    If the text is cut off, it must continue after the label.
    """
    if not text.endswith(CUT):
        return read_label(text, labels)[0]
    label, _ = read_label(text.removesuffix(CUT) + ".", labels)
    label_match = match_opening(LEAD_IN.sub("", unwrap_label(text)).lstrip(WRAPPING), labels)
    rest = label_match[1].string[label_match[1].end() :] if label_match else "x"
    if not rest.strip(WRAPPING + CUT):
        raise UnreadableError(f"'{shorten(text)}' is cut off")
    return label


def _find_opening_labels(text: str, labels: Labels) -> Iterator[Label]:
    """Yield the label of the first sentence, and labels that open a sentence with a reason.

    The latter are in capitals: "YES, because ...".
    """
    first_label = _first_sentence_label(text, labels)
    if first_label is not None:
        yield first_label
    for match in _SENTENCE.finditer(text):
        label_match = match_opening(match[0].lstrip(WRAPPING), labels)
        if label_match is None or not label_match[1][0].isupper():
            continue
        if _REASON.match(label_match[1].string, label_match[1].end()):
            yield label_match[0]


def _first_sentence_label(text: str, labels: Labels) -> Label | None:
    """Return the label that the first sentence or its first clause states, without the rest.

    None if the text opens with a list of the labels.
    """
    sentence = _SENTENCE.search(text)
    if sentence is None or lists_options(text, labels):
        return None
    try:
        return read_label(sentence[0].removesuffix(CUT), labels)[0]
    except UnreadableError:
        label_match = match_opening(LEAD_IN.sub("", sentence[0]).lstrip(WRAPPING), labels)
    if label_match is None:
        return None
    label, match = label_match
    return label if EXPLANATION.match(match.string[match.end() :]) else None


def find_announced(text: str, labels: Labels) -> Iterator[Label]:
    """Yield every label that `text` announces as its answer.

    Raises:
        UnreadableError: an announcement names labels without choosing one.
    """
    plain = drop_symbols(drop_bracketed_choices(simplify_marks(text), labels), labels)
    for announcement in _find_announcements(plain, labels):
        yield announcement.label


def _find_announcements(text: str, labels: Labels) -> Iterator[_Announcement]:
    yield from _find_bracketed(text, labels)
    position = 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        position = end
        label = _read_bare(line, labels)
        if label is not None:
            yield _Announcement(label, end)
            continue
        for match in _STATED_ANSWER.finditer(line):
            if is_hypothetical(line[: match.start() + 1]):
                continue
            label = _read_announced(match["value"], labels)
            if label is not None:
                yield _Announcement(label, end - len(line) + match.end())
    for match in _SENTENCE.finditer(text):
        label = _read_conclusion(match[0], labels)
        if label is not None:
            yield _Announcement(label, match.end())


def _find_bracketed(text: str, labels: Labels) -> Iterator[_Announcement]:
    for match in _BRACKETED.finditer(text):
        label = label_spellings(labels).get(fold_text(unwrap_label(match[1] or match[2])))
        if label is not None:
            yield _Announcement(label, match.end())


def _read_announced(value: str, labels: Labels) -> Label | None:
    """Return the label after an introduction; None if the words there name no label.

    Raises:
        UnreadableError: they name labels and choose none.
    """
    value = _OPTION_LETTER.sub(r"\1, ", value)
    sentence = _FIRST_SENTENCE.split(value, maxsplit=1)[0]
    bracketed = next(_find_bracketed(sentence, labels), None)
    if bracketed is not None:
        if find_spelled_mentions(sentence, labels) - {fold_text(str(bracketed.label))}:
            raise UnreadableError(f"'{shorten(sentence)}' names several labels")
        return bracketed.label
    try:
        return read_label(sentence, labels)[0]
    except EchoError:
        return None
    except UnreadableError:
        conclusion = _read_conclusion(sentence, labels)
        if conclusion is None and find_mentions(sentence, labels):
            raise
        return conclusion


@lru_cache(maxsize=512)
def _conclusion_pattern(labels: Labels) -> re.Pattern[str]:
    """Return a pattern of a whole sentence that calls one label better, right or the winner."""
    label = label_regex(labels)
    noun = (
        r"(?:['’]s?\s+(?:\w+\s+)?(?:case|arguments?|position|side|claims?|response|answer|output))?"
    )
    verdict = (
        rf"(?:(?:is|are|seems|appears|would\s+be|remains)\s+{_ADVERB}{_QUALITY}{_HEAD_NOUN}"
        rf"|has\s+(?:made\s+)?the\s+(?:better|stronger|best|strongest){_HEAD_NOUN}"
        r"|(?:wins|prevails|should\s+(?:win|prevail)|deserves\s+to\s+win)(?:\s+(?:the|"
        r"this)\s+\w+)?)"
    )
    than = rf"(?:\s+(?:than|over|compared\s+to)\s+(?:the\s+)?(?:{label}|\w+)(?:['’]s)?)?"
    return re.compile(
        rf"[*_>\-\s]*+{_CONNECTIVE}(?:(?:i|we)\s+(?:think|believe|find|conclude|"
        r"say)\s+(?:that\s+)?)?"
        rf"(?:the\s+)?[\"'“*_]*{OPTION_NOUN}(?P<label>{label})[)\]]?[\"'”*_]*{noun}"
        rf"\s+{verdict}{than}\s*[*_]*[.!。！]",
        re.IGNORECASE,
    )


def _read_conclusion(sentence: str, labels: Labels) -> Label | None:
    match = _conclusion_pattern(labels).fullmatch(sentence)
    return label_spellings(labels).get(fold_text(match["label"])) if match else None


def _refuse_later_answer(text: str, labels: Labels, label: Label, start: int) -> None:
    """Raise UnreadableError if a sentence after `start` holds an answer word, then another label.

    Labels that are denied and choices of labels do not count.
    """
    for match in _SENTENCE.finditer(text, start):
        sentence = match[0]
        word = _ANSWER_WORD.search(sentence)
        if word is None or is_hypothetical(sentence[: word.start()]):
            continue
        rest = drop_denied(sentence[word.end() :], labels)
        mentions = find_spelled_mentions(rest, labels)
        if len(mentions) == 1 and mentions != {fold_text(str(label))}:
            raise UnreadableError(f"a later answer word names another label than {label}")
