"""Give-aways: phrases in the facts of a case that state how it ended, and names by which a model
may recall it.

A judgment that the facts already state is read, not predicted. The rules are patterns, one name
each, so that a reader sees in the data set's cleaning report which of them fired how often. They
judge sentences: the whole sentence leaks.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

Mask = Literal["outcome", "title", "date", "charge"]

_VERBS = (
    r"(?:affirm|revers|vacat|remand|uphold|upheld|overturn|overrul|reject|dismiss|rul(?:ed|es|"
    r"ing)|held|holds|"
    r"conclud|decid|determin|found|finds|sided|agreed)\w*"
)
_FOR_A_PARTY = (
    r"(?:in (?:his|her|its|their|the)?\s?(?:\w+(?:'s|’s)?\s){0,4}favou?r|in favou?r of|against"
    r" the|for the)"
)

_IN_THE_END = re.compile(
    r"(?i)\b(?:ultimately|in the end|in its final (?:judgment|decision))\b[^.]{0,60}?\b"
    r"(?:affirm|revers|rul(?:ed|ing)|found|decid|determin|conclud|reject|award|dismiss|prevail|"
    r"side[ds])\w*"
)

# One set of rules per deciding court. A lower court's decision is history, which the facts may
# state.
OUTCOME_RULES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "state court": {
        "decision of the highest court": re.compile(
            rf"\b(?:Supreme Court(?: of Illinois)?|Justices?)\s(?:[a-z]\w*\s){{0,3}}?{_VERBS}\b"
        ),
        "outcome after all": _IN_THE_END,
        "judgment left or set aside": re.compile(
            r"(?i)\b(?:judgment|decree|decision|ruling|order|verdict|"
            r"conviction)s?\b[^.]{0,40}?\b(?:was|were|is|are|be)\b"
            r"\s(?:\w+\s)?(?:affirmed|reversed|vacated|upheld|set aside)\b"
        ),
        "ruling for a party": re.compile(
            r"(?i)\bcourt\b[^.]{0,40}?\b(?:rul(?:ed|es|ing)|found|decid(?:ed|es)|judgment|"
            r"decree)\b[^.]{0,30}?\b" + _FOR_A_PARTY
        ),
    },
    "chinese court": {
        "charge named": re.compile(r"(?:构成|犯有?|涉嫌|以|触犯)[^。；，×]{1,30}罪"),
        "sentence asked or passed": re.compile(r"判处|判决如下|量刑建议"),
        "article cited": re.compile(
            r"《[^》]{2,20}》[^。；]{0,4}第[一二三四五六七八九十百零〇\d]{1,8}条"
        ),
    },
}

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(A-Z])")
_SENTENCE_ZH = re.compile(r"(?<=[。；！？])")
_TITLE = re.compile(
    r"[\"“”]?(?:[A-ZÆŒÉ&][\w.,'’&\-]*\s(?:(?:of|the|and|et|al\.|for|in|ex|rel\.|de)\s)*){1,10}"
    r"v(?:s)?\.\s(?:[A-ZÆŒÉ&][\w'’&\-]*\.?,?\s?(?:(?:of|the|and|"
    r"for)\s(?=[A-Z]))*){1,10}(?:et\sal\.)?,?[\"“”]?"
)
_DATE = re.compile(
    r"\b(?:(?:January|February|March|April|May|June|July|August|September|October|November|"
    r"December)\s"
    r"(?:\d{1,2},\s)?)?(?:1[6-9]|20)\d\d\b"
)
_DATE_ZH = re.compile(r"\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?")
_CHARGE = re.compile(r"(?<=构成|触犯|涉嫌)[^。；，]{1,30}罪|(?<=以)[^。；，]{1,30}罪")
REPLACEMENT = "[…]"


def outcome_rules_met(text: str, court: str) -> list[str]:
    """Return the names of the rules in `OUTCOME_RULES[court]` that a text meets, in their order."""
    return [name for name, pattern in OUTCOME_RULES[court].items() if pattern.search(text)]


def without_outcome(text: str, court: str) -> str:
    """Return the text with each sentence that meets an outcome rule replaced by "[…]"; tabs between
    its parts stay.
    """
    chinese = court == "chinese court"
    parts = []
    for part in text.split("\t"):
        sentences = (_SENTENCE_ZH if chinese else _SENTENCE).split(part)
        visible = (
            REPLACEMENT if outcome_rules_met(sentence, court) else sentence
            for sentence in sentences
        )
        parts.append(("" if chinese else " ").join(visible))
    return "\t".join(parts)


def masked(text: str, kinds: Iterable[Mask], court: str) -> str:
    """Return the text with give-aways of the given kinds replaced by "[…]".

    Args:
        text: the facts.
        court: whose outcome rules apply, a key of `OUTCOME_RULES`.
        kinds: "outcome" (sentences that meet an outcome rule), "title" ("Doe v. Roe"), "date"
            (years and full dates), "charge" (the offence that a Chinese indictment names)."""
    for kind in kinds:
        if kind == "outcome":
            text = without_outcome(text, court)
        elif kind == "title":
            text = _TITLE.sub(f"{REPLACEMENT} ", text)
        elif kind == "date":
            text = (_DATE_ZH if court == "chinese court" else _DATE).sub(REPLACEMENT, text)
        else:
            text = _CHARGE.sub(REPLACEMENT, text)
    return text


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text.

    They are its first three quarters and last quarter, with "[…]" between.

    Facts begin with the events and end with the evidence and the pleas, so the middle is left out.
    """
    if len(text) <= limit:
        return text
    room = limit - len(REPLACEMENT)
    head = room * 3 // 4
    return f"{text[:head]}{REPLACEMENT}{text[len(text) - (room - head) :]}"
