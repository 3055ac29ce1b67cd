"""Replace the names of a text by pseudonyms, and remove the repetitions that this leaves."""

import re
from collections.abc import Sequence

from moot.studies.appellate.deidentify.mentions import Mention
from moot.studies.appellate.deidentify.names import Entity
from moot.studies.appellate.deidentify.vocabulary import (
    FORMS_OF_ADDRESS,
    KIND_BY_NOUN,
    KINDS_BY_TITLE,
    PARTY_ROLES,
    ROLES,
    match_any,
)

_KIND = match_any(
    {"person", "name", "state", *KINDS_BY_TITLE.values(), *ROLES, *KIND_BY_NOUN.values()}
)
PSEUDONYM = rf"(?:{_KIND}) [A-Z]{{1,2}}(?!\w)"
"""Matches a lettered pseudonym ("Person B")."""
_LETTERED_REFERENCE = re.compile(
    r"\b(?:[Ee]xhibit|[Cc]ount|[Pp]art|[Ss]chedule|[Tt]ract|[Ll]ot|[Cc]lass|[Pp]hase|[Gg]rade|"
    r"[Tt]ype|[Ss]tatute|[Dd]ate|"
    r"[Dd]ocket|[Nn]umber|[Yy]ear|[Aa]ddress|[Rr]oad|[Dd]istrict|[Bb]rand|[Pp]arcel)s? [A-Z]{1,2}\b"
)

_PSEUDONYM_OR_ROLE = rf"(?:{PSEUDONYM}|(?:{match_any(ROLES)})(?![\w]))"
_SIDES = (
    "plaintiff|defendant|appellant|appellee|petitioner|respondent|claimant|applicant|protestant|"
    "intervenor"
)
TITLES_IN_PSEUDONYM = frozenset(KINDS_BY_TITLE) | FORMS_OF_ADDRESS | {"messrs"}
"""Titles that a pseudonym replaces together with the name."""
_REPETITIONS: tuple[tuple[str, str], ...] = (
    (
        rf"(?i:\b(?:the )?(?:{_SIDES})(?:[-/](?:{_SIDES}))*),? (?=(?:{match_any(PARTY_ROLES)})\b)",
        "",
    ),
    (
        rf"({_PSEUDONYM_OR_ROLE})\s*\((?i:the |hereinafter |collectively,? )*[\"“]*"
        rf"(?:\1|{PSEUDONYM})?[\"”]*\)",
        r"\1",
    ),
    (rf"\(\s*[\"“”]*\s*\)|(?<=\s)[\"“]{PSEUDONYM}[\"”] (?={PSEUDONYM})", ""),
    (rf"({_PSEUDONYM_OR_ROLE})(?: [\"“]?\1[\"”]?)+(?!\w)", r"\1"),
    (rf"({_PSEUDONYM_OR_ROLE})(?:,? (?:(?:of|and|the|for|&|or|at|in) )*\1)+(?!\w)", r"\1"),
    (rf"{PSEUDONYM}(?:-| )(?={PSEUDONYM})", ""),
    (rf"({PSEUDONYM})-\w+", r"\1"),
    (rf"(?i)\b({_KIND})s? (?:of )?(?=\1 [A-Z]{{1,2}}\b)", ""),
    (
        r"\b(?:City|Town|Village|County|State|Pueblo) of"
        r" (?=(?:City|County|State|Place|Town|Village|Name) [A-Z]{1,2}\b)",
        "",
    ),
    (r"\b(County|City|State) ([A-Z]{1,2}) \1\b", r"\1 \2"),
    (r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and|&) (?:Mr|Mrs|Ms)\.? ", ""),
    (r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and |& )?(?=[A-Z][a-z]+)", ""),
    (r"(?i)\b(the|a|an|of|to|in|and|that|was|his|her) \1\b", r"\1"),
    (rf"\b(?:the|an?) (?=(?:{match_any(ROLES)}) [A-Z]\b)", ""),
    (rf"({PSEUDONYM})['’](?=\s)", r"\1's"),
    (rf"\b[Tt]he (?=(?!Name|Statute){PSEUDONYM})", ""),
    (rf"({_PSEUDONYM_OR_ROLE}) of America\b", r"\1"),
    (rf"(?:(?<=\b(?:at|of) )|(?<=[,;] ))\d{{2,5}} (?={PSEUDONYM})", ""),  # a house's number
    (r"[ \t]{2,}", " "),
    (r"\s+([.,;:)])", r"\1"),
)


def replace_names(text: str, mentions: Sequence[tuple[Mention, Entity]]) -> str:
    """Replace every mention by the pseudonym of its entity, with its title and party role."""
    pieces, position = [], 0
    for mention, entity in sorted(mentions, key=lambda pair: pair[0].start):
        head = text[mention.start : mention.end - len(mention.name)].lower()
        has_title = mention.title in TITLES_IN_PSEUDONYM
        if has_title or mention.role == entity.kind:
            head = ""
        pieces += [text[position : max(position, mention.start)], head, entity.pseudonym]
        position = mention.end
    return remove_repetitions("".join([*pieces, text[position:]]))


def remove_repetitions(text: str) -> str:
    """Remove repetitions such as "Defendant, Defendant,", "Person A (Person A)" and "the the".

    >>> remove_repetitions('Person A (“Person A”) and the the County County A')
    'Person A and County A'
    """
    for pattern, replacement in _REPETITIONS:
        text = re.sub(pattern, replacement, text)
    return re.sub(
        r"((?:^|[.!?] )[\"“]?)([a-z])", lambda match: match[1] + match[2].upper(), text.strip()
    )


def lower_pseudonyms(text: str) -> str:
    """Write pseudonyms and references as one lower-case word, so that no letter ends a sentence."""
    text = re.sub(PSEUDONYM, lambda match: match[0].split()[0].lower(), text)
    return _LETTERED_REFERENCE.sub(lambda match: match[0].split()[0].lower(), text)
