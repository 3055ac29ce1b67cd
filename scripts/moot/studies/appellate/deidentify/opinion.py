"""An opinion as it comes in, and what its caption says about who is who."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.studies.appellate.deidentify.segments import extract_part, split_opinion
from moot.studies.appellate.deidentify.vocabulary import COMMON, PARTY_ROLES, ROLES, any_of

_TITLE = (
    r"(?:Chief |Presiding |Senior |Associate |Circuit |District"
    r" )*(?:Judges?|Justices?|J\.?J\.?|JJ\.?|C\.\s?J\.?|"
    r"E\.?J\.|P\.\s?J\.?|J\.)"
)
_NAME = r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|de|la|van|von|del))*"
_SUFFIX = re.compile(
    r"(?:Jr|Sr|II|III|IV|Inc|LLC|L\.L\.C|Ltd|Co|Corp|P\.?C|P\.?A)\.?", re.IGNORECASE
)
_NAMES = rf"{_NAME}(?:(?:,? and |, ){_NAME})*"
_SIGNED = re.compile(rf"(?P<names>{_NAMES}),? (?:and )?(?P<title>{_TITLE})(?=[\s,.(:;]|$)")
_NOT_OF_A_NAME = re.compile(
    r"^(?:WE|I) CONCUR:?\s*|^OPINION\s*(?=[A-Z]{3})|^(?:Before|BEFORE|Present|PRESENT|SO"
    r" ORDERED|See)\b:?|"
    r"\b(?:Chief|Presiding|Circuit|Senior|District|Honorable|Hon\.?|Judges?|Justices?)\b"
)
_BEFORE = re.compile(rf"(?:Before|BEFORE|Present|PRESENT)[:\s]+(?P<names>{_NAMES})(?:,? {_TITLE})?")
_WROTE = re.compile(
    rf"(?:{_TITLE}|JUSTICE|JUDGE|CHIEF JUSTICE)"
    rf" (?P<names>{_NAME})\s*(?:delivered|wrote|filed|,|:|\n|$)"
)
_APPEARED = re.compile(
    r"(?P<names>[^.;\n]{3,200}?),? (?:for|on behalf of|on the briefs? for) (?:the )?(?:[\w-]+["
    r" -]){0,3}?"
    r"(?:appellants?|appellees?|plaintiffs?|defendants?|petitioners?|respondents?|the people|the"
    r" state|amic)",
    re.IGNORECASE,
)
_ROLE_WORDS = re.compile(
    r"\b(?:plaintiffs?|defendants?|petitioners?|respondents?|appellants?|appellees?|cross|third[- ]party|counter|"
    r"intervenors?|claimants?|et\s+al|in\s+re|ex\s+rel|matter\s+of|in\s+the|deceased|individually|indiv|and\s+as|as|"
    r"aka|a/k/a|d/b/a|on\s+behalf\s+of|by\s+and\s+through|next\s+friend|others?|all\s+similarly\s+situated)\b\.?",
    re.IGNORECASE,
)  # fmt: skip
_ROLE = any_of(ROLES)
_STYLE = re.compile(
    r"(?P<first>[^\n]{3,300}?)\s+(?:v|vs)\.?\s+(?P<second>[^\n]{3,300}?)(?:\n|(?<!N[oO])\.\s(?=[A-Z][a-z])|$)"
)
_MATTER = re.compile(
    r"\b(?i:in re|in the matter of|ex parte)\s+(?:(?i:the |a |an |estate |adoption |guardianship"
    r" |termination |"
    r"petition |application |parental rights |will |marriage |trust )+(?i:of )?(?i:the )?)*"
    r"(?P<name>[A-Z][^\n,;:(]{1,80})"
)
_ROLE_NOUN = re.compile(
    rf"(?<=[a-z,;] )(?:{any_of(PARTY_ROLES)}|the State|the City|the County|"
    r"the Department|the Commission|the Board|the Division|the Union|the Company)(?:['’]?s)?\b"
)
_PARTY = (
    r"(?P<name>[A-Z][\w'’-]+(?: (?:[A-Z][\w'’-]*\.?|de|la|van|von|del|of|&))*(?:,"
    r" (?:Inc|Jr|Sr|LLC|Ltd)\.?)?)"
)
_SHORT = r"(?:\s\([^)]{1,60}\))?"
_ACTS = tuple(
    re.compile(act)
    for act in (
        rf"\b(?:{_ROLE})s?,? {_PARTY}",
        rf"{_PARTY} \((?:{_ROLE})s?\)",
        rf"{_PARTY}{_SHORT}(?:,[^,.;]{{0,80}},)? (?:appeals?|raises|petitions|challenges)\b",
        rf"{_PARTY}{_SHORT} (?:was (?:\w+ )?(?:convicted|charged|indicted)|pled|pleaded)\b",
        (
            rf"{_PARTY}{_SHORT} (?:sued|brought|filed (?:\w+"
            r" ){0,3}(?:suit|claim|complaint|petition|action))"
        ),
        rf"\b(?:sued|(?:suit|claims?|complaint|action|judgment) against) {_PARTY}",
    )
)
# from so many capitalised roles on ("Defendant", "the State"), an opinion calls its parties by them
ROLE_NOUNS = 3


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion in full text.

    Attributes:
        opinion_id: its id in the source.
        text: caption, if any, and opinion.
        parties: each party as the caption writes it, with its side ("appellant", "appellee",
            "plaintiff", ... or "").
        judges, counsel: their names.
        outcome: affirm, reverse, mixed, dismiss, or "" where the source does not say.
        marked: sentences that the source marks as giving the outcome away.
        attributes: court, date and what else the source says, for scoring alone.
        source_row: the record in its file.
    """

    opinion_id: str
    text: str
    parties: Sequence[tuple[str, str]] = ()
    judges: Sequence[str] = ()
    counsel: Sequence[str] = ()
    outcome: str = ""
    marked: Sequence[str] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    source_row: int = 0


def _separate(names: str) -> list[str]:
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+", names)
    joined: list[str] = []
    for part in parts:
        if joined and _SUFFIX.fullmatch(part.strip()):
            joined[-1] += f", {part.strip()}"
        elif part.strip(" ."):
            joined.append(part.strip(" ;:"))
    return joined


def find_side(words: str) -> str:
    """Which side a caption's words put a party on."""
    for side in (
        "appellant",
        "appellee",
        "petitioner",
        "respondent",
        "plaintiff",
        "defendant",
        "claimant",
    ):
        if side in words.lower():
            return side
    return ""


def find_parties(style: str) -> list[tuple[str, str]]:
    """The parties that the style of a case names, each with its side.

    >>> find_parties("FIRST BANK, Plaintiff-Appellant, v. ROAD WORKS, INC., et al., Defendants-Appellees")
    [('FIRST BANK', 'appellant'), ('ROAD WORKS, INC.', 'appellee')]
    """
    parties: list[tuple[str, str]] = []
    for number, words in enumerate(re.split(r"\s(?:v|vs)\.\s", re.sub(r"[()]", ", ", style))):
        side = find_side(words) or ("plaintiff", "defendant")[min(number, 1)]
        cleaned = re.sub(r"\s+", " ", re.sub(r"[-–—]\s*(?=,|$)", "", _ROLE_WORDS.sub(",", words)))
        for name in _separate(cleaned):
            bare = name.strip(" ,;:.-–—'’")
            if re.search(r"[A-Z]", bare) and len(bare) > 1:
                parties.append((name.strip(" ,;:-–—"), side))
    return parties


def find_judges(text: str) -> list[str]:
    """The judges that a caption, a "Before" line or a signature line names."""
    found = [
        match["names"] for pattern in (_SIGNED, _BEFORE, _WROTE) for match in pattern.finditer(text)
    ]
    names = [name for names in found for name in _separate(names)]
    names = [_NOT_OF_A_NAME.sub("", name).strip(" ,.:") for name in names]
    return list(dict.fromkeys(name for name in names if re.search(r"[A-Z][\w'’-]{2,}", name)))


def find_counsel(text: str) -> list[str]:
    """The counsel that an appearance line names ("Jane Doe, of Moline, for appellant")."""
    lines = (
        re.sub(r"\([^)]*\)|\b(?:both|all) of\b|\bof\b", ",", match["names"])
        for match in _APPEARED.finditer(text)
    )
    return list(dict.fromkeys(name for line in lines for name in _separate(line)))


def introduces_party(text: str) -> bool:
    """Whether an opinion introduces a party by name: "Plaintiff Ann Lee", "Ann Lee (Mother)
    appeals", "Ann Lee was convicted", "Ann Lee sued Road Works, Inc."
    """
    small = set(re.findall(r"(?<![\w'’])[a-z]{2,}", text)) | COMMON
    names = (
        re.sub(r"['’]s$", "", match["name"]).split()
        for act in _ACTS
        for match in act.finditer(text)
    )
    return any(
        len(word) > 2 and word.strip(".,").lower() not in small for name in names for word in name
    )


def party_rules(opinion: Opinion) -> list[str]:
    """The rules by which the parties of an opinion are found, of: record, caption, matter,
    definition, role nouns.

        An opinion that calls its parties by nothing but their roles ("Defendant", "the State")
        names none, and has them all the same; one where no rule finds a party cannot be judged.
    """
    spans = split_opinion(opinion.text)
    caption = _on_one_line(opinion.text[: spans[0].end])
    background = extract_part(opinion.text, spans, "background")
    found = {
        "caption": bool(_STYLE.search(caption)),
        "matter": bool(_MATTER.search(caption)),
        "definition": introduces_party(background),
        "role nouns": len(_ROLE_NOUN.findall(background)) >= ROLE_NOUNS,
    }
    rules = [rule for rule, holds in found.items() if holds]
    return rules if rules or not opinion.parties else ["record"]


def _on_one_line(caption: str) -> str:
    """A caption whose style takes several lines ("A, Appellant / V. / B, Appellee") with it on one."""
    side = r"(?=(?i:Plaintiff|Defendant|Appell|Petitioner|Respondent|Claimant))"
    return re.sub(r"(?i)\s*\n\s*vs?\.?\s*\n\s*", " v. ", re.sub(rf",\s*\n\s*{side}", ", ", caption))


def with_caption(opinion: Opinion) -> Opinion:
    """The opinion with the names of its own caption and signature lines added to those of its
    record.
    """
    spans = split_opinion(opinion.text)
    caption = _on_one_line(opinion.text[: spans[0].end])
    ending = opinion.text[spans[-1].start : spans[-1].start + 1500]
    style = _STYLE.search(caption) if not opinion.parties else None
    parties = list(opinion.parties) or (
        find_parties(f"{style['first']} v. {style['second']}") if style else []
    )
    if not parties and (matter := _MATTER.search(caption)):
        parties = [(matter["name"].strip(" ."), "")]
    judges = [
        *opinion.judges,
        *find_judges(caption.replace("OPINION", "OPINION ")),
        *find_judges(re.sub(r"SO ORDERED\.?|CONCUR:", ". ", ending)),
    ]
    counsel = list(opinion.counsel) or find_counsel(caption)
    return replace(opinion, parties=parties, judges=list(dict.fromkeys(judges)), counsel=counsel)
