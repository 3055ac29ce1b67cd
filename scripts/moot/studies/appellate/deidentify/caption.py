"""An opinion as its source gives it, and the parties that its caption names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.legal.segments import split_opinion

SIGNATURE_CHARS = 300
_PATTERNS = w.read_patterns("names.yaml")
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
        if separate_names and _PATTERNS["caption_suffix"].fullmatch(part.strip()):
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
        names = re.sub(r"[-–—]\s*(?=,|$)", "", _PATTERNS["caption_words"].sub(",", words))
        for name in _split_names(re.sub(r"\s+", " ", names)):
            bare_name = name.strip(" ,;:.-–—'’")
            if re.search(r"[A-Z]", bare_name) and len(bare_name) > 1:
                parties.append((name.strip(" ,;:-–—"), side))
    return parties


def find_caption_parties(text: str) -> list[tuple[str, str]]:
    """Return the parties in the caption of an opinion, by its style or its matter ("In re Hale").

    A style of several lines ("A, Appellant / V. / B, Appellee") is read as one line.
    """
    caption = text[: split_opinion(text)[0].end]
    side = r"(?=(?i:Plaintiff|Defendant|Appell|Petitioner|Respondent|Claimant))"
    caption = re.sub(rf",\s*\n\s*{side}", ", ", caption)
    caption = re.sub(r"(?i)\s*\n\s*vs?\.?\s*\n\s*", " v. ", caption)
    if style := _PATTERNS["caption_style"].search(caption):
        return find_parties(f"{style[1]} v. {style[2]}")
    matter = _PATTERNS["caption_matter"].search(caption)
    return [(matter[1].strip(" ."), "")] if matter else []


def add_caption_names(opinion: Opinion) -> Opinion:
    """Add the parties of the caption if the record names none."""
    return replace(opinion, parties=opinion.parties or find_caption_parties(opinion.text))


def extract_margins(text: str) -> str:
    """Return the caption and the signatures of an opinion, which name judges and counsel."""
    spans = split_opinion(text)
    caption = text[: spans[0].end].replace("OPINION", "OPINION ")
    return f"{caption}\n{text[spans[-1].start :][:SIGNATURE_CHARS]}"
