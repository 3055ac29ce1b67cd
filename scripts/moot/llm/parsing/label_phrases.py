"""The label that one phrase states, if it states one without ambiguity.

A label counts if the phrase is the label ("**Yes.**") or opens with it and explains it ("Yes,
because ..."). In capitals, as in prompts, it also counts after a copula ("The text is CON."), next
to denied labels ("PRO, not CON") and after words of another script ("反对 (CON)"), since prose does
not contain such words by chance.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from moot.llm.parsing.answer_frames import (
    COPULA,
    EXPLANATION,
    LEAD_IN,
    OTHER_SCRIPT,
    PREDICATE,
    THE_WINNER,
)
from moot.llm.parsing.articles import read_article, read_crime
from moot.llm.parsing.label_mentions import (
    Label,
    Labels,
    drop_bracketed_choices,
    drop_denied,
    drop_denied_in_chinese,
    drop_symbols,
    find_discussed,
    find_mentions,
    is_choice,
    words_regex,
)
from moot.llm.parsing.normaliser import drop_struck
from moot.llm.parsing.plain_text import (
    CUT,
    WRAPPING,
    EchoError,
    UnreadableError,
    fold_text,
    normalize_width,
    shorten,
)
from moot.llm.parsing.withdrawals import has_doubt

_TAGGED = re.compile(
    r"^<(answer|prediction|label|stance|verdict|decision|vote)>([^<>]*)</\1>$", re.IGNORECASE
)
_FIELD_WITH_NO = re.compile(  # "Won: no", "Plaintiff: loses"
    r"^[\s\"'`*_)]*(?:[:=：]|\s[-–—])\s*(?:no|loses)\W*$", re.IGNORECASE
)
_ACTOR = re.compile(r"\b[Tt]he\s+[a-z]{4,}(?:['’]s)?(?=\s+[a-z])")
"""A party in a sentence of reasons, in lower case: "The landlord broke the lease"."""
_MARKS_WITHOUT_SIGNS = re.sub("[<>$]", "", WRAPPING)
_SIGNED = re.compile(
    r"-\.?\d|[<>≤≥](?!\s)[^<>]*$|\$(?!\s)[^$]*$|[€£¥]\d|\d{1,3}(?:,\d{3})+(?!\d)"
    r"|\w[-+](?:\s*$|[,.;:])"
)


def read_label(text: str, labels: Labels) -> tuple[Label, bool]:
    """Return the one label that `text` states, and whether `text` is nothing but that label.

    Case and wrapping are ignored.

    Raises:
        EchoError: the text repeats the choice.
        UnreadableError: the text states no label, or more than one.
    """
    spelling = label_spellings(labels)
    text = drop_symbols(drop_struck(text), labels)
    item = re.match(r"\W*-\s+(\d+)", text)
    if item and f"-{item[1]}" in map(str, labels):
        raise UnreadableError(f"'{shorten(text)}' may be a list's item or a negative number")
    for marks in (_MARKS_WITHOUT_SIGNS, WRAPPING):
        bare = fold_text(unwrap_label(text, marks))
        if bare in spelling:
            return spelling[bare], True
        if _has_sign(text, labels):
            raise UnreadableError(f"'{shorten(text)}' has a sign that no label has")
    if is_choice(text, labels):
        raise EchoError(f"'{shorten(text)}' repeats the choice")
    if text.endswith(CUT):
        raise UnreadableError(f"'{shorten(text)}' is cut off")
    phrase = unwrap_label(drop_bracketed_choices(text, labels))
    label = _read_phrase(phrase, labels)
    if label is None:
        label = _read_number_or_crime(bare, spelling)
    if label is None:
        raise UnreadableError(f"'{shorten(text)}' is not one of {', '.join(map(str, labels))}")
    return label, False


def _has_sign(text: str, labels: Labels) -> bool:
    """Return whether a sign makes another value of a number or letter that is a label.

    Examples are "-1", "<1", "$1", "1,000" and the grade "B-".
    """
    if not any(re.fullmatch(r"\d+|[^\W\d_]", str(label)) for label in labels):
        return False
    phrase = LEAD_IN.sub("", text.strip()).lstrip(" *_\"'`(").rstrip(" *_\"'`)")
    plain = normalize_width(phrase)
    opening = match_opening(plain, labels)
    has_label_with_sign = opening is not None and not str(opening[0]).isalnum()
    return _SIGNED.match(plain) is not None and not has_label_with_sign


def _read_phrase(phrase: str, labels: Labels) -> Label | None:
    without_lead_in = LEAD_IN.sub("", phrase).lstrip(WRAPPING)
    label = _opening_label(THE_WINNER.sub("", without_lead_in), labels)
    if label is not None:
        return label
    for frame in (_strip_frame(phrase, labels), without_lead_in):
        label = _opening_label(frame, labels, capitals=True)
        if label is not None:
            return label
    return None


def _opening_label(phrase: str, labels: Labels, *, capitals: bool = False) -> Label | None:
    """Return the label that `phrase` opens with, if it names no other.

    With `capitals` the label must be in capitals or a number. The phrase may then deny other labels
    in capitals, and discuss them in lower case.
    """
    opening = match_opening(phrase, labels)
    if opening is None:
        return None
    label, match = opening
    is_plain_word = not (match[0].isupper() or match[0].lstrip("+-").isdecimal())
    if capitals and is_plain_word:
        return None
    predicate = PREDICATE.match(match.string, match.end())
    rest = match.string[predicate.end() if predicate else match.end() :]
    rest = drop_denied_in_chinese(rest, labels)
    if capitals:
        rest = drop_denied(rest, labels)
    if not EXPLANATION.match(rest) or has_doubt(rest) or _FIELD_WITH_NO.match(rest):
        return None
    mentions = _find_rivals(rest, labels, capitals=capitals)
    return label if mentions <= {fold_text(str(label))} else None


def _find_rivals(rest: str, labels: Labels, *, capitals: bool) -> set[str]:
    """Return the labels, folded, that the words after an opening label name as possible answers.

    A party in a sentence of reasons is none: "Tenant. The landlord broke the lease."
    """
    if capitals:
        return find_discussed(rest, labels)
    mentions = find_mentions(rest, labels)
    if mentions and re.match(r"[\s\"'`*_)]*[.!:—–]\s", rest):
        return find_mentions(_ACTOR.sub("", rest), labels) | find_discussed(rest, labels)
    return mentions


def _strip_frame(text: str, labels: Labels) -> str:
    """Return `text` without possible words before a label in capitals.

    Examples are "It's", "Neither PRO nor CON, so" and "反对 (".
    """
    words = "|".join(re.escape(str(label)) for label in labels)
    neither = re.match(
        rf"neither\s+({words})\s+nor\s+({words})\b,?\s*(?:so|but|hence|therefore|thus)?:?\s+",
        text,
        re.I,
    )
    if neither:
        phrase = text[neither.end() :]
        excluded = {fold_text(neither[1]), fold_text(neither[2])}
        return "" if find_mentions(phrase, labels) & excluded else phrase
    return OTHER_SCRIPT.sub("", COPULA.sub("", text)).lstrip(WRAPPING)


def _read_number_or_crime(bare: str, spelling: dict[str, Label]) -> Label | None:
    if all(word.isdigit() for word in spelling):
        number = read_article(bare, spelling)
        return None if number is None else spelling[number]
    word = read_crime(bare, spelling)
    return None if word is None else spelling[word]


def match_opening(phrase: str, labels: Labels) -> tuple[Label, re.Match[str]] | None:
    """Return the label that `phrase` opens with, in any case, and its match; the longest first."""
    plain = normalize_width(phrase)
    for position, pattern in _opening_patterns(tuple(map(str, labels))):
        match = pattern.match(plain)
        if match is not None:
            return labels[position], match
    return None


@lru_cache(maxsize=512)
def _opening_patterns(words: tuple[str, ...]) -> tuple[tuple[int, re.Pattern[str]], ...]:
    """Return the positions of the labels' words, the longest first, each with its pattern."""
    patterns = []
    for position in sorted(range(len(words)), key=lambda position: -len(words[position])):
        body = words_regex(normalize_width(words[position]).strip())
        patterns.append((position, re.compile(body, re.IGNORECASE)))
    return tuple(patterns)


def label_spellings(labels: Labels) -> dict[str, Label]:
    """Return the labels by their folded form, with and without marks around them.

    A form that two labels share names neither.
    """
    positions = _spelling_positions(tuple(map(str, labels)))
    return {form: labels[position] for form, position in positions.items()}


@lru_cache(maxsize=512)
def _spelling_positions(words: tuple[str, ...]) -> Mapping[str, int]:
    """Return the positions of labels by their folded form."""
    forms = [fold_text(unwrap_label(word, _MARKS_WITHOUT_SIGNS)) for word in words]
    positions = {form: number for number, form in enumerate(forms) if forms.count(form) == 1}
    return positions | {fold_text(word): number for number, word in enumerate(words)}


def unwrap_label(text: str, marks: str = WRAPPING) -> str:
    """Return `text` without `marks` around it: quotes, brackets, bold, a box, a tag."""
    boxed = re.fullmatch(r"\s*\$*\\boxed\{(?:\\text(?:bf)?\{)?([^{}]*)\}+\$*\s*\.?", text)
    tagged = _TAGGED.match(text.strip())
    return (boxed.group(1) if boxed else tagged.group(2) if tagged else text).strip(marks)
