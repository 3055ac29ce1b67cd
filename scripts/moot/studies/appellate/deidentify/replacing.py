"""Replace the names of a text by pseudonyms, and remove the repetitions that this leaves."""

import re
from collections.abc import Sequence

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.entities import Entity
from moot.studies.appellate.deidentify.lexicon import Lexicon, iter_capitals
from moot.studies.appellate.deidentify.mentions import Mention

_KIND = w.match_any(
    {"person", "name", "state", "organization"}
    | {*w.KIND_BY_TITLE.values(), *w.ROLES, *w.KIND_BY_NOUN.values()}
)
PSEUDONYM = rf"(?:{_KIND}) [A-Z]{{1,2}}(?!\w)"
"""Matches a lettered pseudonym ("Person B")."""
_LETTERED_REFERENCE = re.compile(rf"\b(?i:{w.join_words('lettered')})s? [A-Z]{{1,2}}\b")
_ROLE = rf"(?:{w.match_any(w.ROLES)})\b"
_PSEUDONYM_OR_ROLE = rf"(?:{PSEUDONYM}|{_ROLE})"
_SIDE = "(?:plaintiff|defendant|appellant|appellee|petitioner|respondent|claimant|applicant)"
_REPETITIONS: tuple[tuple[str, str], ...] = (
    # "Defendant-Appellant, Worker", "Person A (Person A)", '("Person A")', "Person A of Person A"
    (rf"(?i:\b(?:the )?{_SIDE}(?:[-/]{_SIDE})*),? (?={_ROLE})", ""),
    (
        rf"({_PSEUDONYM_OR_ROLE})\s*\((?i:the |hereinafter |collectively,? )*[\"“]*"
        rf"(?:\1|{PSEUDONYM})?[\"”]*\)",
        r"\1",
    ),
    (rf"\(\s*[\"“”]*\s*\)|(?<=\s)[\"“]{PSEUDONYM}[\"”] (?={PSEUDONYM})", ""),
    (
        rf"({_PSEUDONYM_OR_ROLE})(?:,? (?:(?:of|and|the|for|&|or|at|in) )*[\"“]?\1[\"”]?)+(?!\w)",
        r"\1",
    ),
    # "Person A-Person B", "Name B-berg", "City of City A", "County A County"
    (rf"{PSEUDONYM}(?:-| )(?={PSEUDONYM})", ""),
    (rf"({PSEUDONYM})-\w+", r"\1"),
    (rf"(?i)\b({_KIND})s? (?:of )?(?=\1 [A-Z]{{1,2}}\b)", ""),
    (r"\b(?:City|Town|Village|County|State|Pueblo) of (?=[A-Z][a-z]+ [A-Z]{1,2}\b)", ""),
    (r"\b(County|City|State) ([A-Z]{1,2}) \1\b", r"\1 \2"),
    # "Mr. and Ms.", "the the", "the Defendant A", "the Person A"
    (r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:(?:and|&) (?:(?:Mr|Mrs|Ms)\.? )?)?(?=[A-Z][a-z]+)", ""),
    (r"(?i)\b(the|a|an|of|to|in|and|that|was|his|her) \1\b", r"\1"),
    (rf"\b(?:the|an?) (?={_ROLE} [A-Z]\b)|\b[Tt]he (?=(?!Name|Statute){PSEUDONYM})", ""),
    (rf"({PSEUDONYM})['’](?=\s)", r"\1's"),
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
        if mention.title in w.TITLES_IN_PSEUDONYM or mention.role.removesuffix("s") == entity.kind:
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


def lower_ordinary_words(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> str:
    """Write the capitalised ordinary words within sentences in lower case.

    "the Lease" becomes "the lease". Words of a mention and customary words stay.
    """
    for match, offset, starts_sentence in iter_capitals(text):
        start = offset + match.start()
        is_in_mention = any(mention.start <= start < mention.end for mention in mentions)
        if not (starts_sentence or is_in_mention or lexicon.is_common(match[0])):
            text = text[:start] + match[0].lower() + text[start + len(match[0]) :]
    return text
