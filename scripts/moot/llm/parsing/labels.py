"""The one label that a text states.

A label is read where it is the whole text but for marks, where it is announced, or where a short
first or last sentence states it: "Therefore, YES is right." It is announced by a box or double
brackets, on the first or last line, or by words such as "the answer is" that open a clause. Two
labels where one is read, a negation and a condition leave the text without a label, and so do more
words before the label, which may report or suppose it: a model that is asked again costs less than
a misreading.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from moot.llm.parsing.plain_text import (
    WRAPPING,
    UnreadableError,
    fold_text,
    normalize_width,
    shorten,
)

Label = str | int
Labels = tuple[Label, ...]
WORDS_OF_DOUBT = {
    "en": "no not never none neither cannot against wrong unlikely if unless whether assuming"
    " provided would could might may or but",
    "zh": "不 非 没 未 无 莫 否 如果 假如 若 倘 除非 是否 可能 也许 或 但 虽 既",
}
"""Negations and conditions by the languages of prompts. A sentence with one chooses no label."""
ANNOUNCING = "answer|verdict|decision|prediction|答案|判决|决定|预测|结论"

_DOUBT = re.compile(
    rf"\b(?:{WORDS_OF_DOUBT['en'].replace(' ', '|')})\b|n['’]t\b|\?"
    rf"|{WORDS_OF_DOUBT['zh'].replace(' ', '|')}",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"\[ \]|\( \)|☐|~~")
"""A box that is not ticked, or words that are struck."""
_MARKS = r"[\s*_\"'`“”‘’)\]}>]*"
_CLAUSE_END = re.compile(rf"{_MARKS}(?:$|[.,:;!?|。、—–(]|\s-+\s|\n)")
_CLAUSE_START = re.compile(r"(?:^|[.,:;!?|。、—–(\[\n]|\s-+)[\s*_\"'`“”‘’(\[{#>-]*$")
_HEAD_END = re.compile(rf"{_MARKS}(?:$|[.:|\n])|\)")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])(?=[\s*_\"'”’)\]}])|(?<=[。\n])")
_REPORTED = re.compile(r"\w['’]s\b|\bthat\b", re.IGNORECASE)
"""Words of an answer that another gives: "the tenant's answer is", "he says that the answer is"."""
_REASON = re.compile(r"\b(?:because|since)\b|因为|由于", re.IGNORECASE)
_CHOICE = re.compile(r"\([^()\n]{1,200}\)|\[[^\[\]\n]{1,200}\]")
BOX = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]|\\f?boxed\s*\{(?:\s*\\text\w*\s*\{)?([^{}\n]{1,80})\}")
_IS = r"[\]】)*_\"'”]*[ \t]*(?:is\b\s*:?|[是为选:=→\n]|-+>|(?<=[\]】]))"
_LETTER_OR_DIGIT = r"[^\W⺀-鿿]"
_WORD = re.compile(rf"[一-鿿]|{_LETTER_OR_DIGIT}+(?:['’]\w+)?")
_MAX_WORDS_BEFORE = 2
"""More words before a label, or before "the answer is", may report or suppose it."""
_MAX_WORDS_AFTER = 4
_NEAR = 200
"""The characters before and after an announcing word that may belong to its sentence."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A label in a text, and how clearly it is meant as the label and not as a common word.

    Attributes:
        opens_clause: no word of its clause precedes it.
        ends_clause: no word of its clause follows it.
        is_clear: it is spelt as prompts ask for it, or alone in its clause. A common word or a
            single letter must also end its clause.
        may_compete: it is spelt as asked for, or ends its clause.
    """

    start: int
    end: int
    label: Label
    opens_clause: bool
    ends_clause: bool
    is_clear: bool
    may_compete: bool


def whole_label(text: str, labels: Labels) -> Label | None:
    """Return the label that `text` is, but for marks; None if it is something else."""
    if _REJECTED.search(text):
        return None
    plain = normalize_width(text)
    bare = re.sub(r"^\s*[-+]\s", "", plain).strip(WRAPPING)
    spellings = _spellings(labels)
    return spellings.get(fold_text(plain), spellings.get(fold_text(bare)))


def read_label(text: str, labels: Labels, *names: str) -> Label:
    """Return the one label that `text` states.

    Args:
        text: a reply, or a value of one.
        labels: as prompts spell them.
        names: words besides `ANNOUNCING` that announce the label, such as the name of its field.

    Raises:
        UnreadableError: the text states no label, or several.
    """
    if _REJECTED.search(text):
        raise UnreadableError("holds an empty box or struck words")
    if (label := whole_label(text, labels)) is not None:
        return label
    plain = _drop_choices(normalize_width(text), labels)
    heads = {
        mention.label
        for mention in find_mentions(plain, labels)
        if mention.opens_clause and _HEAD_END.match(plain, mention.end)
    }
    is_list = len(heads) > 1  # the options are presented ("A: theft; B: fraud"), and none is chosen
    announced = set(announced_labels(plain, labels, *names))
    announced |= set() if is_list else set(_labels_of_lines(plain, labels))
    if len(announced) > 1:
        raise UnreadableError(f"states {' and '.join(sorted(map(str, announced)))}")
    sentences = _sentences(plain)
    first, last = sentences[0], sentences[-1]
    stated_labels = announced
    if not announced and not is_list:
        stated_labels = {*_sentence_labels(first, labels), *_sentence_labels(last, labels)}
    ending = _competing(last, labels)
    if len(stated_labels) != 1 or ending - stated_labels:
        raise UnreadableError(f"'{shorten(text)}' states no single label")
    [label] = stated_labels
    return label


def named_labels(text: str, labels: Labels) -> set[Label]:
    """Return the labels that a free text names, in sentences without negation or condition.

    Numbers are left out, since a free text has other numbers too.
    """
    named_labels: set[Label] = set()
    for sentence in _sentences(normalize_width(text)):
        if not _is_doubted(sentence, labels):
            named_labels |= {mention.label for mention in find_mentions(sentence, labels)}
    return {label for label in named_labels if not str(label).isdecimal()}


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text that have words, with their marks; one empty one if none."""
    return [part for part in _SENTENCE_BREAK.split(text) if re.search(r"\w", part)] or [""]


def _labels_of_lines(text: str, labels: Labels) -> Iterator[Label]:
    """Yield the label that the first or the last line is, or that follows its colon."""
    lines = [line for line in text.splitlines() if re.search(r"\w", line)] or [""]
    for line in (lines[0], lines[-1]):
        head, _, tail = line.rstrip("*_ ")[-_NEAR:].rpartition(":")
        label = whole_label(tail, labels)
        if label is None or _is_doubted(head, labels) or _competing(head, labels) - {label}:
            continue
        yield label


def announced_labels(text: str, labels: Labels, *names: str) -> Iterator[Label]:
    """Yield the labels that a text announces in boxes or by words.

    Raises:
        UnreadableError: several labels are announced at one place, or one is denied.
    """
    for match in BOX.finditer(text):
        if (label := whole_label(match[1] or match[2], labels)) is not None:
            yield label
    yield from _labels_after_words(text, labels, names)


def _labels_after_words(text: str, labels: Labels, names: Sequence[str]) -> Iterator[Label]:
    for match in _announcing(names).finditer(text):
        preceding = _SENTENCE_BREAK.split(text[max(0, match.start() - _NEAR) : match.start()])[-1]
        sentence = _SENTENCE_BREAK.split(text[match.end() : match.end() + _NEAR].lstrip("\n"), 1)[0]
        following = _REASON.split(sentence, maxsplit=1)[0]
        mentions = list(find_mentions(following, labels))
        if not mentions:
            continue
        gap, first = following[: mentions[0].start], mentions[0]
        is_near = len(gap.split()) <= 2
        if is_near and not _DOUBT.search(gap):
            if _competing(following, labels) - {first.label}:
                raise UnreadableError(f"'{shorten(following)}' announces several labels")
            clause = re.split(r"[,:]", _blank(following, labels), maxsplit=1)[0]
            is_own = _is_own(re.split(r"[,;\n]", preceding)[-1])
            if first.is_clear and is_own and not _DOUBT.search(preceding + clause):
                yield first.label
        elif len(gap.split()) <= 3 and _DOUBT.search(gap):
            raise UnreadableError(f"'{shorten(following)}' denies a label")


def _is_own(preceding: str) -> bool:
    """Return whether the words before an answer leave it to the speaker."""
    return len(_WORD.findall(preceding)) <= _MAX_WORDS_BEFORE and not _REPORTED.search(preceding)


def _sentence_labels(sentence: str, labels: Labels) -> set[Label]:
    """Return the one label of a short sentence without negation, condition or second label.

    It is the whole clause, the predicate or the subject: "Yes, they may", "The ruling is AFFIRM",
    "Therefore, PLAINTIFF is better".
    """
    statement = _REASON.split(sentence, maxsplit=1)[0]
    competing = _competing(statement, labels)
    first = next(find_mentions(statement, labels), None)
    if not first or not first.is_clear or str(first.label).isdecimal():
        return set()
    before, after = statement[: first.start].rstrip(WRAPPING), statement[first.end :]
    is_subject = after.lstrip(WRAPPING).startswith("is ") and first.opens_clause
    is_predicate = before.endswith(" is") and first.ends_clause
    is_alone = first.opens_clause and first.ends_clause
    is_stated = (
        _is_own(before.removesuffix("is"))
        if is_predicate or is_alone
        else is_subject and len(_WORD.findall(after)) <= _MAX_WORDS_AFTER
    )
    is_single = len(competing) == 1 and not _is_doubted(statement, labels)
    return competing if is_single and is_stated else set()


def find_mentions(text: str, labels: Labels) -> Iterator[Mention]:
    """Yield the labels that occur in `text` in any case; of overlapping labels the longest."""
    for match in _pattern(labels).finditer(text):
        label = _spellings(labels)[fold_text(match[0])]
        is_as_asked = match[0] == str(label)
        ends_clause = _CLAUSE_END.match(text, match.end()) is not None
        preceding = text[max(0, match.start() - 20) : match.start()]
        opens_clause = _CLAUSE_START.search(preceding) is not None
        is_clear = is_as_asked and (ends_clause or not _is_common_word(str(label)))
        yield Mention(
            match.start(),
            match.end(),
            label,
            opens_clause,
            ends_clause,
            is_clear or (opens_clause and ends_clause),
            is_as_asked or ends_clause,
        )


def _competing(text: str, labels: Labels) -> set[Label]:
    return {mention.label for mention in find_mentions(text, labels) if mention.may_compete}


def _is_common_word(label: str) -> bool:
    """Return whether a label may occur in a sentence without being meant as the label."""
    is_in_capitals = len(label) > 1 and label.upper() == label != label.lower()
    return not is_in_capitals or _DOUBT.fullmatch(label) is not None


def _is_doubted(text: str, labels: Labels) -> bool:
    return _DOUBT.search(_blank(text, labels)) is not None


def _blank(text: str, labels: Labels) -> str:
    """Return `text` without the labels that are spelt as asked for or end their clause."""
    parts, position = [], 0
    for mention in find_mentions(text, labels):
        if mention.may_compete:
            parts.append(text[position : mention.start])
            position = mention.end
    return " ".join([*parts, text[position:]])


def _drop_choices(text: str, labels: Labels) -> str:
    """Return `text` without brackets that repeat the choice, such as "(yes or no)"."""

    def keep(match: re.Match[str]) -> str:
        named_labels = {fold_text(label) for label in _pattern(labels).findall(match[0])}
        return match[0] if len(named_labels) < 2 else " "

    return _CHOICE.sub(keep, text)


@lru_cache(maxsize=512)
def _spellings(labels: Labels) -> dict[str, Label]:
    return {fold_text(str(label)): label for label in labels}


@lru_cache(maxsize=512)
def _pattern(labels: Labels) -> re.Pattern[str]:
    """Return a pattern of the labels in any case, the longest first; one letter in its own case."""
    words = []
    for label in sorted(map(str, labels), key=len, reverse=True):
        word = re.sub(r"(?<=\w)(?:\\?[\s_-])+(?=\w)", r"[\\s_-]+", re.escape(label))
        words.append(f"(?-i:{word})" if len(label) == 1 else word)
    start = rf"(?<!{_LETTER_OR_DIGIT})(?<!\w-)(?<![-+.](?=\d))"
    end = rf"(?!{_LETTER_OR_DIGIT})(?!-\w)(?!\.\d|%)"
    return re.compile(f"{start}(?:{'|'.join(words)}){end}", re.IGNORECASE)


@lru_cache(maxsize=256)
def _announcing(names: Sequence[str]) -> re.Pattern[str]:
    words = "|".join([ANNOUNCING, *map(re.escape, names)])
    return re.compile(rf"(?:{words}){_IS}|\b(?:I|we) (?:find|vote)\b", re.IGNORECASE)
