"""Find citations, and replace statutes, dockets, dates, addresses and personal numbers."""

import re
from collections.abc import Callable, Collection

from moot.studies.appellate.deidentify.words import MONTHS, STATES
from moot.studies.appellate.legal.citations import find_citations

_NUMBER = r"\d[\w.:()/-]*(?:\s*\(\d{4}[^)]{0,40}\))?"
_ORDINAL = (
    r"(?:(?:(?:Twen|Thir|Four|Fif|Six|Seven|Eigh|Nin|Ten|Eleven|Twelf)\w*|First|Second|"
    r"Third)(?:-\w+)?|\d+(?:st|nd|rd|th|d))"
)
_STREET = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Drive|Dr|Lane|Ln|Boulevard|Blvd|Court|Ct|Place|Pl|Circle|"
    r"Way|Trail|Parkway)"
)
_SHORT_MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
_PATTERNS = (
    (
        "number",
        r"\b\d{3}-\d{2}-\d{4}\b|\b(?:\(\d{3}\)\s*|\d{3}-)\d{3}-\d{4}\b|[\w.]+@[\w.]+\.\w+|"
        r"(?:https?://|www\.)\S+",
    ),
    (
        "address",
        r"\b\d{1,5}\s+(?:[NSEW]\.?\s+|North |South |East |West )?"
        rf"(?:[A-Z][\w.'’-]*\s+){{1,3}}{_STREET}\b\.?",
    ),
    (
        "road",
        r"\b(?:U\.\s?S\.\s+|State\s+|County\s+|N\.M\.\s+)?(?:[Hh]ighways?|Interstate|[Rr]oute|"
        rf"(?:County )?[Rr]oad|I-)\s?\d+\b|\b{_ORDINAL}(?: (?:and|&) {_ORDINAL})? "
        r"(?:Streets?|St\.|Avenues?|Ave\.)",
    ),
    (
        "parcel",
        r"\b(?:[Tt]ownships?|[Rr]anges?)\s+\d+\s*(?:[NSEW]\b\.?|[Nn]orth|[Ss]outh|[Ee]ast|[Ww]est)?"
        r"|\b[TR]\.?\s?\d+\s?[NSEW]\b\.?",
    ),
    ("district", r"\b(?:School )?District (?:Nos?\. ?)?\d+\b"),
    (
        "brand",
        r"\b\d{1,3}-(?!Day|Year|Month|Week|Hour|Minute|Judge|Mile|Foot|Inch|Acre)[A-Z][a-z]{2,}\b"
        r"|\b\d[A-Z](?= (?:Company|Corp|Inc)\b)",
    ),
    (
        "statute",
        r"\b(?:\d{4}\s+)?(?:N\.\s?M\.|New Mexico)\s+Laws,?\s*(?:[Cc]h(?:apter|\.)\s*\d*)?(?:,?\s*"
        rf"§+\s?\d+)?|(?:{STATES}|NMSA|NMRA|U\.S\.)[^.;()]{{0,40}}?(?:§+|[Ss]ections?|art\.)\s*"
        r"[\dA-Z][\w.:()/-]*|\b\d+\s+(?:U\.\s?S\.\s?C\.|C\.\s?F\.\s?R\.|Ill\. Comp\. Stat\.|ILCS|"
        rf"USC)(?:A\.)?\s*(?:§+|[Ss]ec(?:tion|\.)s?)?\s*{_NUMBER}|\b(?:NMSA|NMRA)\s+\d{{4}}"
        rf"(?:,?\s*§?\s*{_NUMBER})?|(?:§+|\b(?:[Ss]ections?|[Rr]ules?|UJI|SCRA|NMAC|"
        rf"LR))\s*{_NUMBER}"
        r"(?:\s+NMRA(?:\s+\d{4})?)?|"
        r"\b(?:[Oo]rdinance|ORDINANCE|[Rr]esolution|"
        r"[Ee]xecutive [Oo]rder)s?\s+(?:Nos?\.\s*)?\d[\w-]*|"
        r"\b\d{1,2}[A-Z]?-\d{1,2}[A-Z]?-(?:\d*[lIO]\d*|\d{1,3}(?=\())"
        r"(?:\.\d+)?(?:\(\w{1,3}\))*",
    ),
    (
        "date",
        rf"\b(?:[Oo]n )?(?:{MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s*\d{{4}}|"
        rf"\b(?:{MONTHS})\s+\d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:{MONTHS})(?:\s+of)?,?\s+\d{{4}}|"
        r"\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b[01]?\d-[0-3]?\d-(?:19|20)?\d\d\b(?!-)|"
        rf"\b(?:{_SHORT_MONTHS})\.\s+\d{{1,2}}(?:,\s*\d{{4}})?\b",
    ),
    (
        "docket",
        r"(?:\b(?:[Dd]ocket|[Cc]ase|[Cc]ause)\s+)?\b(?:Nos?\.|Numbers?|#)\s*"
        r"[A-Z]{0,4}[-–—]?\d[\dA-Z,:.–—-]*\d(?:-[A-Z]{1,3})?\b|"
        r"\b[A-Z]{1,4}-\d{2,4}-(?:[A-Z]{2}-)?\d+[A-Z]*\b|"
        r"\b(?:CR|CV|CIV|DM|FR|JR|PB|SA|DR|LR)[- ]?\d{2,4}-\d+\b|\b\d{1,4}(?:-\d{1,5}){2,}[A-Z]*\b",
    ),
    ("year", r"\b(?:1[789]|20)\d\d(?:['’]?s)?\b"),
)
"""The noun that replaces each kind of reference, in the order of replacement."""
_DROPPED = re.compile(
    rf"(?i:\b{_ORDINAL} (?=Judicial (?:District|Circuit)))|"
    r"\s*[(\[](?:Orig|Repl|Cum|Supp|Main|as amended|as it existed|prior to|effective|amended)\b"
    r"[^()]{0,90}[)\]]"
)
"""The number of a judicial district and the edition of a statute."""
WORD_JOINER = "\u2060"
"""Joins the noun of a reference and its lower-case letter until names are replaced.

Otherwise "date A." would not end a sentence.
"""
_RANGE_END = re.compile(
    rf"((?:statute|docket){WORD_JOINER}[a-z]{{1,2}})(?:,?\s+(?:to|through|"
    rf"and)\s+-?\d[\w.-]*(?:\(\w{{1,3}}\))*|,?\s*-\d[\w.-]*(?:\(\w{{1,3}}\))*)+"
)
"""The rest of "Sections 5-9-1 to -25" after its first number was replaced."""
_REPORTER = re.compile(
    r"\b\d{1,4}\s+(?!U\.\s?S\.\s?C|C\.\s?F\.\s?R)(?:N\.?\s?M\.?|P\.?|A\.?|So\.?|(?:[A-Z]\w*\.\s?)+)"
    r"(?:Supp\.?|[2-4](?:d|th|nd|rd))?,?\s*(?:at\s+)?\d+|\b\d{4}-NM(?:CA|SC|CERT)\w*-\d+|"
    r"\bN\.?\s?M\.?\s?(?:St\.?\s?)?B\.\s?(?:Bull|A)|\bP\.\s?[23]d\b|¶|\bC\.J\.S\.|\bA\.L\.R\.|"
    r"\(\s*(?:\d{1,2}(?:st|nd|rd|th|d) Cir|(?:N\.M\.\s?)?(?:Ct\.\s?App|S\.\s?Ct|Sup\.\s?Ct))\.?|"
    r"\bS(?:lip|LIP) op\b|\((?:[A-Z]\.\s?){1,3}[\w.]*\s?\d{4}\)|\bRev\.\s|"
    r"\b(?:App|Supp|Repl|Pamp|Cir|Ct)\.?,?\s?\d{4}\)|\bvs?\.\s|\b(?:In re|Ex parte|ex rel\.)\s|"
    r"\bsupra\b|\b[Ii]d\.,?\s+at\b|\bPub\.\s?L\."
)
_NAME_WORD = re.compile(r"(?<!Judge )(?<!Justice )[A-Z][\w-]+")


def format_letter(number: int) -> str:
    """Return the letters of a number: A, B, ..., Z, AA, AB, ...

    >>> [format_letter(1), format_letter(26), format_letter(27)]
    ['A', 'Z', 'AA']
    """
    letters = ""
    while number:
        number, remainder = divmod(number - 1, 26)
        letters = chr(ord("A") + remainder) + letters
    return letters


def _make_replacer(noun: str) -> Callable[[re.Match[str]], str]:
    """Make a function that replaces a match by `noun` and a letter; equal words share a letter."""
    letters: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        words = match[0].strip().rstrip(".:;,")
        key = re.sub(r"\s+", " ", words).lower()
        letter = letters.setdefault(key, format_letter(len(letters) + 1).lower())
        preposition = "on " if key.startswith("on ") else ""
        return f"{preposition}{noun}{WORD_JOINER}{letter}{match[0].strip()[len(words) :]}"

    return replace


def cites_cases(sentence: str) -> bool:
    """Whether a sentence cites a case, a journal or a reporter, or names a case.

    Neither of the two searches finds all citations: eyecite's misses reporters that OCR has broken.
    """
    kinds = {type(citation).__name__ for citation in find_citations(sentence)}
    is_case = not kinds <= {"FullLawCitation", "UnknownCitation"}
    return is_case or _REPORTER.search(sentence) is not None


def find_cited_names(text: str) -> frozenset[str]:
    """Return the single words by which an opinion may call a case that it cites.

    >>> sorted(find_cited_names("State v. Gutierrez, 12 P.2d 1, follows Doe v. Roe."))
    ['Doe', 'Gutierrez', 'Roe', 'State']
    """
    return frozenset(re.findall(r"\b[A-Z][\w-]+(?= v\. [A-Z])|(?<= v\. )[A-Z][\w-]+(?=[,.])", text))


def discusses_cited_case(sentence: str, cited_names: Collection[str]) -> bool:
    """Whether a sentence calls a cited case by its name ("as in Gutierrez")."""
    return any(word in cited_names for word in _NAME_WORD.findall(sentence))


def replace_references(text: str) -> str:
    """Replace statutes, dockets, dates, addresses and personal numbers by a noun and a letter.

    The letter is in lower case and joined to the noun; `show_letters` gives it its final form.
    """
    text = _DROPPED.sub("", text)
    for noun, pattern in _PATTERNS:
        text = re.sub(pattern, _make_replacer(noun), text)
    return _RANGE_END.sub(r"\1", text)


def show_letters(text: str) -> str:
    """Write each reference in its final form: "date A".

    >>> show_letters(replace_references("He left on May 3, 1994."))
    'He left on date A.'
    """
    text = re.sub(rf"({WORD_JOINER}[a-z]{{1,2}}\.?)(?=[A-Z])", r"\1 ", text)
    return re.sub(rf"{WORD_JOINER}([a-z]{{1,2}})", lambda match: f" {match[1].upper()}", text)
