"""Labels that a text names, denies or lists as a choice.

A label of one letter is named in capitals only: "a witness" names no label A. The same holds for
"no" before a noun: "Yes, there is no doubt" does not name the label NO.
"""

import re
from functools import lru_cache

from moot.llm.parsing.plain_text import fold_text, normalize_width

Label = str | int | bool
Labels = tuple[Label, ...]

_SYMBOL = re.compile(r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
"""Emojis and their like."""
_CHOICE_HEADING = re.compile(r"^\s*([^:：\n]{3,60})[:：]\s*(?=\S)")
_CHOICE_WORDS = re.compile(
    r"\b(?:or|and|either|one|of|the|following|choose|from|between|exactly|label|labels|text|string|"
    r"value)\b|[或和]"
)
_CHOICE_IN_BRACKETS = re.compile(r"\s{0,3}[(（]([^()（）\n]{3,200})[)）]")
_WORD_CHARACTERS = "a-zA-Z0-9_"
_NO_AS_ANSWER = r"no(?=[\s*_]*(?:[.,;:!?)\]\"'”’。，；：！…]|$|or\b|and\b|but\b))"


def drop_symbols(text: str, labels: Labels) -> str:
    """Return `text` without emojis and arrows, unless a label holds one."""
    if any(_SYMBOL.search(str(label)) for label in labels):
        return text
    return _SYMBOL.sub(lambda match: "->" if match[0] in "→⇒" else " ", text)


def label_regex(labels: Labels) -> str:
    """Return a pattern of any of `labels` as a whole word, the longest label first."""
    words = sorted({str(label) for label in labels}, key=lambda word: (-len(word), word))
    return "|".join(map(_word_regex, words))


def _word_regex(label: str) -> str:
    """Return a pattern of one label as a whole word, in any case where the word allows it.

    Scripts without spaces have no word boundaries.
    """
    word = normalize_width(label).strip()
    body = words_regex(word)
    if not word.isascii():
        return body
    if len(word) == 1:
        body = rf"(?-i:{re.escape(word.upper())})"
    elif word.casefold() == "no":
        body = rf"(?:(?-i:NO)|{_NO_AS_ANSWER})"
    if word[0].isdigit():
        body = rf"(?<!\d[.,])(?<![<>+-]){body}(?![.,]?\d)"
    start = rf"(?<![{_WORD_CHARACTERS}])" if word[0].isalnum() else ""
    return rf"{start}{body}(?![{_WORD_CHARACTERS}])"


def words_regex(label: str) -> str:
    """Return a pattern of the words of a label, also with marks of bold or italic face between."""
    parts = re.split(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", label)
    return r"[\s_*-]+".join(map(re.escape, parts))


@lru_cache(maxsize=512)
def _mention_pattern(labels: Labels) -> re.Pattern[str]:
    return re.compile(label_regex(labels), re.IGNORECASE)


def find_mentions(text: str, labels: Labels) -> set[str]:
    """Return the labels, folded, that `text` names anywhere."""
    plain = normalize_width(text)
    return {fold_text(mention) for mention in _mention_pattern(labels).findall(plain)}


def find_spelled_mentions(text: str, labels: Labels) -> set[str]:
    """Return the labels, folded, that `text` names as prompts spell them or in capitals."""
    plain = normalize_width(text)
    spellings = {str(label) for label in labels} | {str(label).upper() for label in labels}
    mentions = _mention_pattern(labels).findall(plain)
    return {fold_text(mention) for mention in mentions if mention in spellings}


def find_discussed(text: str, labels: Labels) -> set[str]:
    """Return the labels, folded, that `text` names in capitals or calls the winner in any case."""
    winners = {fold_text(match["label"]) for match in _winner_pattern(labels).finditer(text)}
    if any(len(str(label)) > 1 and not str(label).isascii() for label in labels):
        return winners | find_mentions(text, labels)
    return winners | find_spelled_mentions(text, tuple(str(label).upper() for label in labels))


@lru_cache(maxsize=512)
def _winner_pattern(labels: Labels) -> re.Pattern[str]:
    """Return a pattern of a label that wins, is right or better."""
    return re.compile(
        rf"(?P<label>{label_regex(labels)})(?:['’]s\s\w+)?\s+(?:\w+\s+){{0,2}}?"
        r"(?:wins|prevails|win|prevail|(?:is|are|has|seems|would be)\s+(?:\w+\s+){0,2}?"
        r"(?:stronger|better|right|correct|best|more|also|as|equally|the\s+winner))\b",
        re.IGNORECASE,
    )


def drop_denied(text: str, labels: Labels) -> str:
    """Return `text` without labels that it denies.

    Examples are ", not CON", "rather than CON or NEUTRAL" and "no more debate".
    """
    return _denial_pattern(labels).sub("", text)


@lru_cache(maxsize=512)
def _denial_pattern(labels: Labels) -> re.Pattern[str]:
    label = label_regex(labels)
    return re.compile(
        r"(?:,?\s*(?:and|but)?\s*\b(?:not|rather than|instead of|neither)|\bno)"
        rf"\s+(?:{label})(?:(?:,|\s+or|\s+nor)\s+(?:{label}))*",
        re.IGNORECASE,
    )


def drop_denied_in_chinese(text: str, labels: Labels) -> str:
    """Return `text` without labels that it denies in Chinese: "，不属于租赁纠纷"."""
    return _han_denial_pattern(labels).sub("", text)


@lru_cache(maxsize=512)
def _han_denial_pattern(labels: Labels) -> re.Pattern[str]:
    label = label_regex(labels)
    denial = r"(?:不属于|不屬於|不是|并非|並非|而非|不应认定为|不选)"
    return re.compile(rf"[，,；;]?\s*而?{denial}(?:{label})(?:[、或和](?:{label}))*")


def is_choice(text: str, labels: Labels) -> bool:
    """Return whether `text` only repeats the choice: "YES or NO", "<label>", "..."."""
    placeholder = text.strip()
    if re.fullmatch(r"<[^<>]*>|\[[^\[\]]*\]|\.{3}|…", placeholder):
        words = fold_text(placeholder.strip("<>[]"))
        if words not in {fold_text(str(label)) for label in labels}:
            return True
    return lists_choice(text, labels)


def lists_choice(text: str, labels: Labels) -> bool:
    """Return whether `text` lists two labels or more, with only words such as "or" and "one of"."""
    folded = fold_text(text)
    mentions = _any_case_pattern(labels).findall(folded)
    rest = _CHOICE_WORDS.sub(" ", _any_case_pattern(labels).sub(" ", folded))
    return len(set(mentions)) > 1 and not re.search(r"[^\W_]", rest)


@lru_cache(maxsize=512)
def _any_case_pattern(labels: Labels) -> re.Pattern[str]:
    words = sorted({fold_text(str(label)) for label in labels}, key=lambda word: (-len(word), word))
    alternatives = (
        rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z0-9_])" if word.isascii() else re.escape(word)
        for word in words
    )
    return re.compile("|".join(alternatives))


def drop_bracketed_choices(text: str, labels: Labels) -> str:
    """Return `text` without choices in brackets or as a heading.

    Examples are "The answer (yes/no): NO" and "YES/NO: NO".
    """
    heading = _CHOICE_HEADING.match(text)
    if heading and lists_choice(heading[1], labels):
        text = text[heading.end() :]
    return _CHOICE_IN_BRACKETS.sub(
        lambda match: "" if lists_choice(match[1], labels) else match[0], text
    )
