"""An opinion as its source gives it, and the people that its caption names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.studies.appellate.legal.segments import split_opinion

_TITLE = (
    r"(?:(?:Chief|Presiding|Senior|Associate|Circuit|District) )*(?:Judges?|Justices?|J\.?J?\.|"
    r"JJ\.?|C\.\s?J\.?|E\.?J\.|P\.\s?J\.?)"
)
_NAME = r"[A-Z][\w.'’-]+(?: (?:[A-Z][\w.'’-]*|de|la|van|von|del))*"
_NAMES = rf"{_NAME}(?:(?:,? and |, ){_NAME})*"
_SUFFIX = re.compile(
    r"(?:Jr|Sr|II|III|IV|Inc|LLC|L\.L\.C|Ltd|Co|Corp|P\.?C|P\.?A)\.?", re.IGNORECASE
)
_JUDGES = (
    re.compile(rf"({_NAMES}),? (?:and )?{_TITLE}(?=[\s,.(:;]|$)"),
    re.compile(rf"(?i:before|present)[:\s]+({_NAMES})(?:,? {_TITLE})?"),
    re.compile(rf"(?:{_TITLE}|JUSTICE|JUDGE) ({_NAME})\s*(?:delivered|wrote|filed|,|:|\n|$)"),
)
"""Signatures, the line of the panel, and the line of the author."""
_NOT_PART_OF_NAME = re.compile(
    r"^(?:WE|I) CONCUR:?\s*|^OPINION\s*(?=[A-Z]{3})|^(?:Before|BEFORE|Present|PRESENT|SO ORDERED|"
    r"See)\b:?|\b(?:Chief|Presiding|Circuit|Senior|District|Honorable|Hon\.?|Judges?|Justices?)\b"
)
_APPEARANCE = re.compile(
    r"(?i)([^.;\n]{3,200}?),? (?:for|on behalf of|on the briefs? for) (?:the )?(?:[\w-]+[ -]){0,3}?"
    r"(?:appellants?|appellees?|plaintiffs?|defendants?|petitioners?|respondents?|the people|"
    r"the state|amic)"
)
_ROLE_WORDS = re.compile(
    r"\b(?:plaintiffs?|defendants?|petitioners?|respondents?|appellants?|appellees?|cross|third[- "
    r"]party|counter|intervenors?|claimants?|et\s+al|in\s+re|ex\s+rel|matter\s+of|in\s+the|"
    r"deceased|individually|indiv|and\s+as|as|aka|a/k/a|d/b/a|on\s+behalf\s+of|by\s+and\s+through|"
    r"next\s+friend|others?|all\s+similarly\s+situated)\b\.?",
    re.IGNORECASE,
)
_STYLE = re.compile(
    r"([^\n]{3,300}?)\s+(?:v|vs)\.?\s+([^\n]{3,300}?)(?:\n|(?<!N[oO])\.\s(?=[A-Z][a-z])|$)"
)
_MATTER = re.compile(
    r"\b(?i:in re|in the matter of|ex parte)\s+(?:(?i:the |a |an |estate |adoption |guardianship |"
    r"termination |petition |application |parental rights |will |marriage |trust )+(?i:of "
    r")?(?i:the )?)*([A-Z][^\n,;:(]{1,80})"
)
_SIDES = "plaintiff defendant petitioner respondent claimant appellant appellee".split()
"""The roles of a caption. That below comes first: the parties of an appeal change their order."""


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
    """Split a list of names; "Inc." and "Jr." stay with the name before them."""
    separate_names: list[str] = []
    for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", names):
        if separate_names and _SUFFIX.fullmatch(part.strip()):
            separate_names[-1] += f", {part.strip()}"
        elif part.strip(" ."):
            separate_names.append(part.strip(" ;:"))
    return separate_names


def find_parties(style: str) -> list[tuple[str, str]]:
    """Return the parties in the style of a case, each with its side if the style tells it.

    >>> find_parties("FIRST BANK, Plaintiff-Appellant, v. ROAD WORKS, INC., Defendants-Appellees")
    [('FIRST BANK', 'plaintiff'), ('ROAD WORKS, INC.', 'defendant')]
    """
    parties: list[tuple[str, str]] = []
    for words in re.split(r"\s(?:v|vs)\.\s", re.sub(r"[()]", ", ", style)):
        side = next((side for side in _SIDES if side in words.lower()), "")
        names = re.sub(r"[-–—]\s*(?=,|$)", "", _ROLE_WORDS.sub(",", words))
        for name in _split_names(re.sub(r"\s+", " ", names)):
            bare_name = name.strip(" ,;:.-–—'’")
            if re.search(r"[A-Z]", bare_name) and len(bare_name) > 1:
                parties.append((name.strip(" ,;:-–—"), side))
    return parties


def find_judges(text: str) -> list[str]:
    """Return the judges that a caption, a "Before" line or a signature line names."""
    judges: dict[str, None] = {}
    for pattern in _JUDGES:
        for names in pattern.findall(text):
            for part in _split_names(names):
                name = _NOT_PART_OF_NAME.sub("", part).strip(" ,.:")
                if re.search(r"[A-Z][\w'’-]{2,}", name):
                    judges[name] = None
    return list(judges)


def find_counsel(text: str) -> list[str]:
    """Return the counsel that an appearance line names ("Jane Doe, of Moline, for appellant")."""
    counsel: dict[str, None] = {}
    for line in _APPEARANCE.findall(text):
        names = re.sub(r"\([^)]*\)|\b(?:both|all) of\b|\bof\b", ",", line)
        counsel |= dict.fromkeys(_split_names(names))
    return list(counsel)


def _join_style_lines(caption: str) -> str:
    """Join a style of several lines ("A, Appellant / V. / B, Appellee") into one line."""
    side = r"(?=(?i:Plaintiff|Defendant|Appell|Petitioner|Respondent|Claimant))"
    return re.sub(r"(?i)\s*\n\s*vs?\.?\s*\n\s*", " v. ", re.sub(rf",\s*\n\s*{side}", ", ", caption))


def iter_caption_parties(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Iterate over the rules that find parties in the caption of an opinion, with the parties."""
    caption = _join_style_lines(text[: split_opinion(text)[0].end])
    if style := _STYLE.search(caption):
        yield "caption", find_parties(f"{style[1]} v. {style[2]}")
    if matter := _MATTER.search(caption):
        yield "matter", [(matter[1].strip(" ."), "")]


def add_caption_names(opinion: Opinion) -> Opinion:
    """Add the names of the caption and the signature lines to those of the record."""
    spans = split_opinion(opinion.text)
    caption = opinion.text[: spans[0].end]
    ending = opinion.text[spans[-1].start : spans[-1].start + 1500]
    parties = list(opinion.parties)
    for _, caption_parties in iter_caption_parties(opinion.text):
        parties = parties or caption_parties
    judges = [
        *opinion.judges,
        *find_judges(caption.replace("OPINION", "OPINION ")),
        *find_judges(re.sub(r"SO ORDERED\.?|CONCUR:", ". ", ending)),
    ]
    counsel = list(opinion.counsel) or find_counsel(caption)
    return replace(opinion, parties=parties, judges=list(dict.fromkeys(judges)), counsel=counsel)
