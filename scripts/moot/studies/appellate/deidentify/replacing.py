"""Names replaced in the text, and the doubles that this leaves removed."""

import re
from collections.abc import Sequence

from moot.studies.appellate.deidentify.mentions import Mention
from moot.studies.appellate.deidentify.names import Entity
from moot.studies.appellate.deidentify.vocabulary import KINDS, PARTY_ROLES, ROLES, TITLED

_KIND_WORDS = sorted(
    {"person", "name", "counsel", "state", "party", *TITLED.values(), *ROLES, *(kind for kind, _ in KINDS)}
)
_KIND = "|".join(kind.capitalize() for kind in _KIND_WORDS)
PSEUDONYM = rf"(?:{_KIND}) [A-Z]{{1,2}}(?!\w)"
"""Matches a lettered pseudonym ("Person B")."""
_STANDS_FOR = rf"(?:{PSEUDONYM}|(?:{'|'.join(role.capitalize() for role in ROLES)})(?![\w]))"
_SIDES = "plaintiff|defendant|appellant|appellee|petitioner|respondent|claimant|applicant|protestant|intervenor"
_OF_PARTIES = "|".join(sorted(role.capitalize() for role in PARTY_ROLES))
_PLAIN_TITLES = ("mr", "mrs", "ms", "miss", "messrs")
_DOUBLES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?i:\b(?:the )?(?:{_SIDES})(?:[-/](?:{_SIDES}))*),? (?=(?:{_OF_PARTIES})\b)"), ""),
    (
        re.compile(rf"({_STANDS_FOR})\s*\((?i:the |hereinafter |collectively,? )*[\"“]*(?:\1|{PSEUDONYM})?[\"”]*\)"),
        r"\1",
    ),
    (re.compile(rf"\(\s*[\"“”]*\s*\)|(?<=\s)[\"“]{PSEUDONYM}[\"”] (?={PSEUDONYM})"), ""),
    (re.compile(rf"({_STANDS_FOR})(?:,? (?:(?:of|and|the|for|&|or|at|in) )*\1)+(?!\w)"), r"\1"),
    (re.compile(rf"{PSEUDONYM}(?:-| )(?={PSEUDONYM})"), ""),
    (re.compile(rf"({PSEUDONYM})-\w+"), r"\1"),
    (re.compile(rf"\b({_KIND})s? (?:of )?(?=\1 [A-Z]{{1,2}}\b)", re.IGNORECASE), ""),
    (
        re.compile(r"\b(?:City|Town|Village|County|State|Pueblo) of (?=(?:City|County|State|Place|Name) [A-Z]{1,2}\b)"),
        "",
    ),
    (re.compile(r"\b(County|City|State) ([A-Z]{1,2}) \1\b"), r"\1 \2"),
    (re.compile(r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and|&) (?:Mr|Mrs|Ms)\.? "), ""),
    (re.compile(r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and |& )?(?=[A-Z][a-z]+)"), ""),
    (re.compile(r"\b(the|a|an|of|to|in|and|that|was|his|her) \1\b", re.IGNORECASE), r"\1"),
    (re.compile(rf"\b(?:the|an?) (?=(?:{'|'.join(role.capitalize() for role in ROLES)}) [A-Z]\b)"), ""),
    (re.compile(rf"({PSEUDONYM})['’](?=\s)"), r"\1's"),
    (re.compile(rf"\b[Tt]he (?=(?!Name|Agency|Statute){PSEUDONYM})"), ""),
    (re.compile(rf"({_STANDS_FOR}) of America\b"), r"\1"),
    (re.compile(rf"(?:(?<=\b(?:at|of) )|(?<=[,;] ))\d{{2,5}} (?={PSEUDONYM})"), ""),  # a house's number
    (re.compile(r"[ \t]{2,}"), " "),
    (re.compile(r"\s+([.,;:)])"), r"\1"),
)


def replace_names(text: str, named: Sequence[tuple[Mention, Entity]]) -> str:
    """The text with every mention replaced by the pseudonym of its entity; titles and party roles go with the name."""
    pieces, place = [], 0
    for mention, entity in sorted(named, key=lambda pair: pair[0].start):
        kept = text[mention.start : mention.end - len(mention.name)].lower()
        if mention.title in TITLED or mention.title in _PLAIN_TITLES or mention.role == entity.kind:
            kept = ""
        pieces += [text[place : max(place, mention.start)], kept, entity.pseudonym]
        place = mention.end
    return tidied("".join([*pieces, text[place:]]))


def tidied(text: str) -> str:
    """Without the doubles that replacing leaves: "Defendant, Defendant,", "Person A (Person A)", "the the".

    >>> tidied("Person A (“Person A”) and the the County County A")
    'Person A and the County A'
    """
    for pattern, instead in _DOUBLES:
        text = pattern.sub(instead, text)
    return re.sub(r"((?:^|[.!?] )[\"“]?)([a-z])", lambda start: start[1] + start[2].upper(), text.strip())
