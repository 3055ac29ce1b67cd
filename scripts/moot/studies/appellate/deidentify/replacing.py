"""Names replaced in the text, and the doubles that this leaves removed."""

import re
from collections.abc import Sequence

from moot.studies.appellate.deidentify.mentions import Mention
from moot.studies.appellate.deidentify.names import Entity
from moot.studies.appellate.deidentify.vocabulary import KINDS, PARTY_ROLES, ROLES, TITLED, any_of

_KIND = any_of(
    {
        "person",
        "name",
        "counsel",
        "state",
        "party",
        *TITLED.values(),
        *ROLES,
        *(kind for kind, _ in KINDS),
    }
)
PSEUDONYM = rf"(?:{_KIND}) [A-Z]{{1,2}}(?!\w)"
"""Matches a lettered pseudonym ("Person B")."""
_STANDS_FOR = rf"(?:{PSEUDONYM}|(?:{any_of(ROLES)})(?![\w]))"
_SIDES = "plaintiff|defendant|appellant|appellee|petitioner|respondent|claimant|applicant|protestant|intervenor"
_PLAIN_TITLES = ("mr", "mrs", "ms", "miss", "messrs")
_DOUBLES: tuple[tuple[str, str], ...] = (
    (rf"(?i:\b(?:the )?(?:{_SIDES})(?:[-/](?:{_SIDES}))*),? (?=(?:{any_of(PARTY_ROLES)})\b)", ""),
    (
        (
            rf"({_STANDS_FOR})\s*\((?i:the |hereinafter |collectively,?"
            rf" )*[\"“]*(?:\1|{PSEUDONYM})?[\"”]*\)"
        ),
        r"\1",
    ),
    (rf"\(\s*[\"“”]*\s*\)|(?<=\s)[\"“]{PSEUDONYM}[\"”] (?={PSEUDONYM})", ""),
    (rf"({_STANDS_FOR})(?:,? (?:(?:of|and|the|for|&|or|at|in) )*\1)+(?!\w)", r"\1"),
    (rf"{PSEUDONYM}(?:-| )(?={PSEUDONYM})", ""),
    (rf"({PSEUDONYM})-\w+", r"\1"),
    (rf"(?i)\b({_KIND})s? (?:of )?(?=\1 [A-Z]{{1,2}}\b)", ""),
    (
        (
            r"\b(?:City|Town|Village|County|State|Pueblo) of (?=(?:City|County|State|Place|Name)"
            r" [A-Z]{1,2}\b)"
        ),
        "",
    ),
    (r"\b(County|City|State) ([A-Z]{1,2}) \1\b", r"\1 \2"),
    (r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and|&) (?:Mr|Mrs|Ms)\.? ", ""),
    (r"\b(?:Mr|Mrs|Ms|Messrs)\.? (?:and |& )?(?=[A-Z][a-z]+)", ""),
    (r"(?i)\b(the|a|an|of|to|in|and|that|was|his|her) \1\b", r"\1"),
    (rf"\b(?:the|an?) (?=(?:{any_of(ROLES)}) [A-Z]\b)", ""),
    (rf"({PSEUDONYM})['’](?=\s)", r"\1's"),
    (rf"\b[Tt]he (?=(?!Name|Agency|Statute){PSEUDONYM})", ""),
    (rf"({_STANDS_FOR}) of America\b", r"\1"),
    (rf"(?:(?<=\b(?:at|of) )|(?<=[,;] ))\d{{2,5}} (?={PSEUDONYM})", ""),  # a house's number
    (r"[ \t]{2,}", " "),
    (r"\s+([.,;:)])", r"\1"),
)


def replace_names(text: str, named: Sequence[tuple[Mention, Entity]]) -> str:
    """The text with every mention replaced by the pseudonym of its entity; titles and party roles
    go with the name.
    """
    pieces, place = [], 0
    for mention, entity in sorted(named, key=lambda pair: pair[0].start):
        kept = text[mention.start : mention.end - len(mention.name)].lower()
        if mention.title in TITLED or mention.title in _PLAIN_TITLES or mention.role == entity.kind:
            kept = ""
        pieces += [text[place : max(place, mention.start)], kept, entity.pseudonym]
        place = mention.end
    return tidied("".join([*pieces, text[place:]]))


def tidied(text: str) -> str:
    """Without the doubles that replacing leaves: "Defendant, Defendant,", "Person A (Person A)",
    "the the".

        >>> tidied("Person A (“Person A”) and the the County County A")
        'Person A and County A'
    """
    for pattern, instead in _DOUBLES:
        text = re.sub(pattern, instead, text)
    return re.sub(
        r"((?:^|[.!?] )[\"“]?)([a-z])", lambda start: start[1] + start[2].upper(), text.strip()
    )
