"""An opinion as its source gives it, and the people that its caption names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.studies.appellate.deidentify.segments import extract_part, split_opinion
from moot.studies.appellate.deidentify.words import COMMON_WORDS, PARTY_ROLES, ROLES, match_any

_TITLE = (
    r"(?:Chief |Presiding |Senior |Associate |Circuit |District )*(?:Judges?|Justices?|J\.?J\.?|"
    r"JJ\.?|C\.\s?J\.?|E\.?J\.|P\.\s?J\.?|J\.)"
)
_NAME = r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|de|la|van|von|del))*"
_SUFFIX = re.compile(
    r"(?:Jr|Sr|II|III|IV|Inc|LLC|L\.L\.C|Ltd|Co|Corp|P\.?C|P\.?A)\.?", re.IGNORECASE
)
_NAMES = rf"{_NAME}(?:(?:,? and |, ){_NAME})*"
_SIGNATURE = re.compile(rf"(?P<names>{_NAMES}),? (?:and )?(?P<title>{_TITLE})(?=[\s,.(:;]|$)")
_NOT_PART_OF_NAME = re.compile(
    r"^(?:WE|I) CONCUR:?\s*|^OPINION\s*(?=[A-Z]{3})|^(?:Before|BEFORE|Present|PRESENT|SO ORDERED|"
    r"See)\b:?|\b(?:Chief|Presiding|Circuit|Senior|District|Honorable|Hon\.?|Judges?|Justices?)\b"
)
_PANEL_LINE = re.compile(
    rf"(?:Before|BEFORE|Present|PRESENT)[:\s]+(?P<names>{_NAMES})(?:,? {_TITLE})?"
)
_AUTHOR_LINE = re.compile(
    rf"(?:{_TITLE}|JUSTICE|JUDGE|CHIEF JUSTICE)"
    rf" (?P<names>{_NAME})\s*(?:delivered|wrote|filed|,|:|\n|$)"
)
_APPEARANCE = re.compile(
    r"(?P<names>[^.;\n]{3,200}?),? (?:for|on behalf of|on the briefs? for) (?:the )?(?:[\w-]+[ "
    r"-]){0,3}?(?:appellants?|appellees?|plaintiffs?|defendants?|petitioners?|respondents?|the "
    r"people|the state|amic)",
    re.IGNORECASE,
)
_ROLE_WORDS = re.compile(
    r"\b(?:plaintiffs?|defendants?|petitioners?|respondents?|appellants?|appellees?|cross|third[- "
    r"]party|counter|intervenors?|claimants?|et\s+al|in\s+re|ex\s+rel|matter\s+of|in\s+the|"
    r"deceased|individually|indiv|and\s+as|as|aka|a/k/a|d/b/a|on\s+behalf\s+of|by\s+and\s+through|"
    r"next\s+friend|others?|all\s+similarly\s+situated)\b\.?",
    re.IGNORECASE,
)  # fmt: skip
_ROLE = match_any(ROLES)
_STYLE = re.compile(
    r"(?P<first>[^\n]{3,300}?)\s+(?:v|vs)\.?\s+(?P<second>[^\n]{3,300}?)(?:\n|"
    r"(?<!N[oO])\.\s(?=[A-Z][a-z])|$)"
)
_MATTER = re.compile(
    r"\b(?i:in re|in the matter of|ex parte)\s+(?:(?i:the |a |an |estate |adoption |guardianship |"
    r"termination |petition |application |parental rights |will |marriage |trust )+(?i:of "
    r")?(?i:the )?)*(?P<name>[A-Z][^\n,;:(]{1,80})"
)
_ROLE_NOUN = re.compile(
    rf"(?<=[a-z,;] )(?:{match_any(PARTY_ROLES)}|the State|the City|the County|"
    r"the Department|the Commission|the Board|the Division|the Union|the Company)(?:['’]?s)?\b"
)
_PARTY = (
    r"(?P<name>[A-Z][\w'’-]+(?: (?:[A-Z][\w'’-]*\.?|de|la|van|von|del|of|&))*(?:,"
    r" (?:Inc|Jr|Sr|LLC|Ltd)\.?)?)"
)
_DEFINED_TERM = r"(?:\s\([^)]{1,60}\))?"
_PARTY_INTRODUCTIONS = tuple(
    re.compile(act)
    for act in (
        rf"\b(?:{_ROLE})s?,? {_PARTY}",
        rf"{_PARTY} \((?:{_ROLE})s?\)",
        rf"{_PARTY}{_DEFINED_TERM}(?:,[^,.;]{{0,80}},)? (?:appeals?|raises|petitions|challenges)\b",
        rf"{_PARTY}{_DEFINED_TERM} (?:was (?:\w+ )?(?:convicted|charged|indicted)|pled|pleaded)\b",
        (
            rf"{_PARTY}{_DEFINED_TERM} (?:sued|brought|filed (?:\w+"
            r" ){0,3}(?:suit|claim|complaint|petition|action))"
        ),
        rf"\b(?:sued|(?:suit|claims?|complaint|action|judgment) against) {_PARTY}",
    )
)
_SIDES = "plaintiff defendant petitioner respondent claimant appellant appellee".split()
"""The roles of a caption. That below comes first: the parties of an appeal change their order."""
# An opinion with this many capitalised roles ("Defendant", "the State") calls its parties by roles.
MIN_ROLE_NOUNS = 3


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion in full text.

    Attributes:
        opinion_id: the id in the source.
        text: the caption, if any, and the opinion.
        parties: each party as the caption writes it, with its side ("appellant", "appellee",
            "plaintiff", ... or "").
        judges: the names of the judges.
        counsel: the names of counsel.
        outcome: "affirm", "reverse", "mixed", "dismiss", or "" if the source does not say.
        marked_sentences: sentences that reveal the outcome according to the source.
        attributes: court, date and other facts of the source, used for scoring only.
        source_row: the number of the record in its file, from 1.
    """

    opinion_id: str
    text: str
    parties: Sequence[tuple[str, str]] = ()
    judges: Sequence[str] = ()
    counsel: Sequence[str] = ()
    outcome: str = ""
    marked_sentences: Sequence[str] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    source_row: int = 0


def _split_names(names: str) -> list[str]:
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+", names)
    separate_names: list[str] = []
    for part in parts:
        if separate_names and _SUFFIX.fullmatch(part.strip()):
            separate_names[-1] += f", {part.strip()}"
        elif part.strip(" ."):
            separate_names.append(part.strip(" ;:"))
    return separate_names


def find_side(words: str) -> str:
    """Return the side that a caption gives to a party, or ""."""
    return next((side for side in _SIDES if side in words.lower()), "")


def find_parties(style: str) -> list[tuple[str, str]]:
    """Return the parties in the style of a case, each with its side if the style tells it.

    >>> find_parties("FIRST BANK, Plaintiff-Appellant, v. ROAD WORKS, INC., Defendants-Appellees")
    [('FIRST BANK', 'plaintiff'), ('ROAD WORKS, INC.', 'defendant')]
    """
    parties: list[tuple[str, str]] = []
    for words in re.split(r"\s(?:v|vs)\.\s", re.sub(r"[()]", ", ", style)):
        side = find_side(words)
        party_names = re.sub(
            r"\s+", " ", re.sub(r"[-–—]\s*(?=,|$)", "", _ROLE_WORDS.sub(",", words))
        )
        for name in _split_names(party_names):
            bare_name = name.strip(" ,;:.-–—'’")
            if re.search(r"[A-Z]", bare_name) and len(bare_name) > 1:
                parties.append((name.strip(" ,;:-–—"), side))
    return parties


def find_judges(text: str) -> list[str]:
    """Return the judges that a caption, a "Before" line or a signature line names."""
    name_lists = [
        match["names"]
        for pattern in (_SIGNATURE, _PANEL_LINE, _AUTHOR_LINE)
        for match in pattern.finditer(text)
    ]
    names = [name for names in name_lists for name in _split_names(names)]
    names = [_NOT_PART_OF_NAME.sub("", name).strip(" ,.:") for name in names]
    return list(dict.fromkeys(name for name in names if re.search(r"[A-Z][\w'’-]{2,}", name)))


def find_counsel(text: str) -> list[str]:
    """Return the counsel that an appearance line names ("Jane Doe, of Moline, for appellant")."""
    lines = (
        re.sub(r"\([^)]*\)|\b(?:both|all) of\b|\bof\b", ",", match["names"])
        for match in _APPEARANCE.finditer(text)
    )
    return list(dict.fromkeys(name for line in lines for name in _split_names(line)))


def introduces_party(text: str) -> bool:
    """Whether an opinion introduces a party by name.

    Examples are "Plaintiff Ann Lee", "Ann Lee (Mother) appeals", "Ann Lee was convicted" and "Ann
    Lee sued Road Works, Inc."
    """
    lower_case_words = set(re.findall(r"(?<![\w'’])[a-z]{2,}", text)) | COMMON_WORDS
    names = (
        re.sub(r"['’]s$", "", match["name"]).split()
        for pattern in _PARTY_INTRODUCTIONS
        for match in pattern.finditer(text)
    )
    return any(
        len(word) > 2 and word.strip(".,").lower() not in lower_case_words
        for name in names
        for word in name
    )


def find_party_rules(opinion: Opinion) -> list[str]:
    """Return the rules that find the parties of an opinion.

    The rules are record, caption, matter, definition and role nouns. An opinion may call its
    parties by their roles only ("Defendant", "the State"). An opinion in which no rule finds a
    party cannot be checked.
    """
    spans = split_opinion(opinion.text)
    caption = _join_style_lines(opinion.text[: spans[0].end])
    background = extract_part(opinion.text, spans, "background")
    matches = {
        "caption": bool(_STYLE.search(caption)),
        "matter": bool(_MATTER.search(caption)),
        "definition": introduces_party(background),
        "role nouns": len(_ROLE_NOUN.findall(background)) >= MIN_ROLE_NOUNS,
    }
    rules = [rule for rule, is_match in matches.items() if is_match]
    return rules if rules or not opinion.parties else ["record"]


def _join_style_lines(caption: str) -> str:
    """Join a style of several lines ("A, Appellant / V. / B, Appellee") into one line."""
    side = r"(?=(?i:Plaintiff|Defendant|Appell|Petitioner|Respondent|Claimant))"
    return re.sub(r"(?i)\s*\n\s*vs?\.?\s*\n\s*", " v. ", re.sub(rf",\s*\n\s*{side}", ", ", caption))


def add_caption_names(opinion: Opinion) -> Opinion:
    """Add the names of the caption and the signature lines to those of the record."""
    spans = split_opinion(opinion.text)
    caption = _join_style_lines(opinion.text[: spans[0].end])
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
