"""Citations, statutes, dockets, dates and numbers of persons, each replaced by what it is and a letter."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from moot.deidentify.names import letter
from moot.deidentify.vocabulary import MONTHS, STATES

_STATUTE = re.compile(
    rf"(?:(?:{STATES}|NMSA|NMRA|U\.S\.)\s*(?:Code|Stat(?:utes)?\.?|Constitution|"
    rf"Const\.?)?[^.;()]{{0,30}}?(?:§{{1,2}}|[Ss]ections?|art\.)\s*[\dA-Z][\w.:()/-]*"
    r"|\b\d+\s+(?:U\.\s?S\.\s?C\.|C\.\s?F\.\s?R\.|Ill\. Comp\. Stat\.|ILCS|USC)(?:A\.)?\s*(?:§{1,2}|[Ss]ec(?:tion|"
    r"\.)s?)?\s*\d[\w.:()/-]*(?:\s*\(\d{4}\))?"
    r"|\b(?:NMSA|NMRA)\s+\d{4}(?:,\s*)?(?:\s*§?\s*[\d-]+[\w()-]*)?(?:\s*\(\d{4}[^)]{0,40}\))?"
    r"|(?:§{1,2}|\b[Ss]ections?|\b[Rr]ules?|\bUJI|"
    r"\bU\.J\.I\.)\s*\d[\w.:()-]*(?:\s+NMRA(?:\s+\d{4})?)?(?:\s*\(\d{4}[^)]{0,40}\))?)"
)
_DOCKET = re.compile(
    r"(?:\b(?:[Dd]ocket|[Cc]ase|[Cc]ause)\s+)?\b(?:Nos?\.|Numbers?|"
    r"#)\s*[A-Z]{0,4}[-–—]?\d[\dA-Z,:.–—-]*\d(?:-[A-Z]{1,3})?\b|\b[A-Z]{1,4}-\d{2,4}-[A-Z]{2}-\d{2,5}\b"
)
_DATE = re.compile(
    rf"\b(?:(?:on|On) )?(?:{MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s*\d{{4}}|\b(?:{MONTHS})\s+\d{{1,2}}(?:st|nd|rd|"
    rf"th)?\b|\b(?:{MONTHS})(?:\s+of)?,?\s+\d{{4}}|"
    r"\b\d{1,2}/\d{1,2}/\d{2,4}\b"
)
_YEAR = re.compile(r"\b(?:1[789]|20)\d\d\b")
_PERSONAL_NUMBER = re.compile(r"\b\d{3}-\d{2}-\d{4}\b|\b(?:\(\d{3}\)\s*|\d{3}-)\d{3}-\d{4}\b|[\w.]+@[\w.]+\.\w+")
_EMPTY_SIGNAL = re.compile(r"\b(?:See(?: also| generally)?|Cf\.|Accord|But see),?\s*(?:e\.g\.,?\s*)?(?=[.;)]|$)")


def _lettered(noun: str) -> Callable[[re.Match[str]], str]:
    """Replace what a pattern matches by `noun` and a letter, the same one for the same words."""
    seen: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        words = re.sub(r"\s+", " ", match[0].strip())
        name = seen.setdefault(words.lower(), f"{noun} {letter(len(seen) + 1)}")
        return f"on {name}" if words.lower().startswith("on ") else name

    return replace


@cache
def _tokenizer() -> Any:
    from eyecite.tokenizers import AhocorasickTokenizer  # noqa: PLC0415

    return AhocorasickTokenizer()


def citations_in(text: str) -> list[Any]:
    """The citations that eyecite finds in a text, in order."""
    from eyecite import get_citations  # noqa: PLC0415

    if not text.strip():
        return []
    return sorted(get_citations(text, tokenizer=_tokenizer()), key=lambda found: found.span())


def remove_citations(text: str) -> str:
    """The text with citations of cases and journals, and the signals that introduce them, cut out."""
    pieces, place = [], 0
    for citation in citations_in(text):
        start, end = citation.full_span()
        if type(citation).__name__ in ("FullLawCitation", "UnknownCitation") or start < place:
            continue
        pieces.append(text[place:start])
        place = end
    remaining = "".join([*pieces, text[place:]])
    return re.sub(r"\s+([.,;)])", r"\1", _EMPTY_SIGNAL.sub("", remaining))


def replace_references(text: str) -> str:
    """The text with statutes, dockets, dates and personal numbers replaced: "statute A", "date B"."""
    for pattern, noun in (
        (_PERSONAL_NUMBER, "number"),
        (_STATUTE, "statute"),
        (_DOCKET, "docket"),
        (_DATE, "date"),
        (_YEAR, "year"),
    ):
        text = pattern.sub(_lettered(noun), text)
    return text
