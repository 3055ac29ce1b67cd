"""De-identification of appellate opinions: from full text to facts that name nobody and do not tell the outcome.

The chain: split the opinion, take its facts, drop the sentences that tell the outcome, cut citations, replace names by
roles and references by letters, and let two gates judge the result. The map from names to roles is for the file beside
the case alone.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moot.deidentify.gates import GateReport, check, tells_outcome
from moot.deidentify.names import RUN, Cast, cast_of, naming_words, pseudonyms
from moot.deidentify.opinion import Opinion, with_caption
from moot.deidentify.references import remove_citations, replace_references
from moot.deidentify.segments import part_of, split_opinion
from moot.deidentify.vocabulary import ROLES
from moot.labels.sentences import split_sentences

MINIMUM_CHARACTERS = 200
_ROLE_WORDS = "|".join(ROLES)
_PARAGRAPH_NUMBER = re.compile(r"[{\[(]\d{1,3}[}\])]\s*|(?:(?<=[.!?)\"”])|^)\s?\d{1,3}\.\s*(?=[A-Z]|$)")
Recogniser = Callable[[str], Sequence[tuple[str, str]]]
"""Finds names in a text: each with its kind (person, place, company)."""
_CITES_ONLY = re.compile(r"(?:See|Cf|Accord|Id|E\.g|But see|Compare)\b")


def nobody(_text: str) -> Sequence[tuple[str, str]]:
    """The recogniser that finds no names beyond those of the rules."""
    return ()


@dataclass(frozen=True, slots=True)
class Deidentified:
    """What the chain makes of an opinion.

    Attributes:
        facts: what a model may see.
        names: every replaced form to its pseudonym; kept beside the case, never shown to a model.
        report: what the gates found.
    """

    facts: str
    names: Mapping[str, str]
    report: GateReport


def _facts_of(text: str, limit: int) -> str:
    """The sentences of the background that do not tell the outcome, up to `limit` characters."""
    background = part_of(text, split_opinion(text), "background")
    kept: list[str] = []
    length = 0
    for sentence in split_sentences(background):
        words = _PARAGRAPH_NUMBER.sub("", sentence.text).strip()
        if not re.search(r"[a-z]", words) or tells_outcome(words) or _CITES_ONLY.match(words):
            continue
        length += len(words) + 1
        if length > limit and kept:
            break
        kept.append(words)
    return " ".join(kept)


def _replacements(cast: Cast) -> tuple[re.Pattern[str], dict[str, str]] | None:
    """One pattern for all forms of all names, the longest first, and what each becomes."""
    forms: dict[str, str] = {}
    for entity in cast.entities:
        for surface in entity.surfaces:
            forms[_plain(surface)] = entity.pseudonym
        for token in entity.tokens:
            forms.setdefault(token, entity.pseudonym)
    forms = {form: pseudonym for form, pseudonym in forms.items() if form}
    if not forms:
        return None
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    words = "|".join(re.escape(form).replace("\\ ", r"[\s,]+") for form in ordered)
    return re.compile(rf"(?<![A-Za-zÀ-ÿ'’])(?:{words})(?![\w])", re.IGNORECASE), forms


def _plain(words: str) -> str:
    return re.sub(r"[\s,]+", " ", words).strip(" .,").lower()


def _replace_names(text: str, cast: Cast) -> str:
    """The text with every form of every name replaced; a role word before its own pseudonym stands alone."""
    found = _replacements(cast)
    if found is None:
        return text
    pattern, forms = found

    def replace(match: re.Match[str]) -> str:
        if match[0].islower():
            return match[0]
        return forms.get(_plain(match[0]), "")

    return _tidied(pattern.sub(replace, text))


def _tidied(text: str) -> str:
    """Without the doubles that replacing leaves: "Defendant the defendant", "Person A Person A", "Dr. the doctor"."""
    lettered = r"(?:[A-Z][a-z]+ [A-Z]{1,2}|the [a-z]+)"
    text = re.sub(rf"\b({lettered})(?:,?\s+(?:(?:of|and|the|for|&)\s+)?\1\b)+", r"\1", text)
    text = re.sub(
        rf"\b(?:the )?(?:{_ROLE_WORDS})(?:[-/](?:{_ROLE_WORDS}))*,? (?=the (?:{_ROLE_WORDS})\b)",
        "",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\b(?:the )?(\w+?)s?,? the (\1)\b", r"the \2", text, flags=re.IGNORECASE)
    text = re.sub(
        r"\b(?:Mr|Mrs|Ms|Dr|Judge|Justice|Officer|Detective|Agent|Deputy|Sergeant)\.?\s+(?=the |"
        r"[A-Z][a-z]+ [A-Z]{1,2}\b)",
        "",
        text,
    )
    text = re.sub(rf"({lettered})\s*\((?:the )?[\"“]?\1[\"”]?\)", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:City|Town|Village|County|State) of (?=(?:City|County|State) [A-Z]{1,2}\b)", "", text)
    text = re.sub(r"\(\s*[\"“”]*\s*\)", "", text)
    text = re.sub(r"\b(?:[A-Z]\.\s?)+(?=(?:the |[A-Z][a-z]+ [A-Z]{1,2}\b))", "", text)
    text = re.sub(r"\s+([.,;:)])", r"\1", re.sub(r"[ \t]{2,}", " ", text)).strip()
    return re.sub(r"((?:^|[.!?] )[\"“]?)([a-z])", lambda start: start[1] + start[2].upper(), text)


def deidentify(opinion: Opinion, limit: int, recognise: Recogniser = nobody) -> Deidentified:
    """De-identify one opinion.

    Args:
        opinion: as it comes from its source.
        limit: the most characters of facts that are kept, in whole sentences.
        recognise: finds further names with their kinds in the facts, beyond what the rules find.

    Returns:
        facts, map and gate report; a report that did not pass says why the case must not be used.
    """
    complete = with_caption(opinion)
    facts = remove_citations(_facts_of(complete.text, limit))
    cast = cast_of(complete, facts, recognise(facts))
    replaced = _replace_names(replace_references(facts), cast)
    finished = " ".join(part.text for part in split_sentences(replaced) if not tells_outcome(part.text))
    return Deidentified(finished, pseudonyms(cast), check(complete, finished, MINIMUM_CHARACTERS))


def recheck(opinion: Opinion, facts: str) -> GateReport:
    """Both gates again, on facts that something else has rewritten."""
    return check(with_caption(opinion), facts, MINIMUM_CHARACTERS)


__all__ = ["RUN", "Deidentified", "Opinion", "deidentify", "naming_words", "nobody", "recheck"]
