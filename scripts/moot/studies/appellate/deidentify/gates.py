"""The gates that a de-identified case must pass. All of them read the finished text only.

The first rejects any word of a party's, judge's or counsel's name. The second, independent one does
not use the parties, the map of names or the runs of the extractor: it reports every capital and
every reference that it cannot explain. The third rejects sentences that reveal the outcome.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.caption import Opinion
from moot.studies.appellate.deidentify.entities import collect_record_words, find_party_rules
from moot.studies.appellate.deidentify.hints import tells_outcome
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    Lexicon,
    iter_capitals,
    normalise_word,
)
from moot.studies.appellate.deidentify.mentions import FOLLOWS_PERSON
from moot.studies.appellate.deidentify.references import cites_cases, iter_references
from moot.studies.appellate.deidentify.replacing import PSEUDONYM, lower_pseudonyms
from moot.studies.appellate.legal.sentences import split_sentences

# A marked sentence survives if the facts have this share of its sequences of SEQUENCE_WORDS words.
MIN_SHARED_SEQUENCES = 0.8
SEQUENCE_WORDS = 4
MIN_FACTS_CHARS = 200
# A shorter text, in sentences of at least so many words in lower case, is not an opinion.
MIN_SENTENCES = 4
MIN_SENTENCE_WORDS = 3
MIN_ORDERS = 3
_ORDER_IN_LIST = w.read_patterns("names.yaml")["listed_order"]
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:(?:['’-]|\.(?=[A-Z]\.))[\wÀ-ÿ]+)*")
_SURNAMES = w.match_any(w.ALSO_NAMES & w.COMMON_WORDS)
_PATTERNS = (
    ("customary word as a name", re.compile(
        rf"\b(?:{w.match_any(w.PERSONAL_TITLES)})\.?\s+(?:{_SURNAMES})\b|"
        rf"\b(?:{_SURNAMES})\s+(?:testified|told|said|stated|asked|argues|appeals)\b|"
        r"\b(?:in|near|from|to|outside)\s+Pueblo\b(?!\s+[A-Z(]|\s+of\b)|"
        rf"(?<![Tt]he )\b(?:{w.match_any(w.COMPANY_STARTS)})(?:['’]s\b| (?:had|was|did|paid)\b)"
    )),
    ("initials", re.compile(
        r"\b[A-Z] ?& ?[A-Z]\b|(?<![\w.])(?!U\.S\.|[AP]\.M\.|D\.[AC]\.|I\.D\.)"
        r"(?:[A-Z]\.\s?){2,3}(?=\s|,|$)"
    )),
    ("judicial district", re.compile(r"\b(?:First|[A-Z][a-z]+(?:nd|rd|th)) Judicial District")),
)  # fmt: skip
_CAPITALS = re.compile(rf"{CAPITALISED}(?:\s+(?:(?:of|the|and|for)\s+)*{CAPITALISED})+")
_NAME_REMAINDER = re.compile(
    rf"\b(?:[Ll]os|[Ll]as|[Ee]l|San|Santa|[Dd]el|[Ll]a|[Vv]an|[Vv]on|De)\s+{PSEUDONYM}|"
    rf"{PSEUDONYM}(?:['’]s)?\s?&\s?\w+|(?<![a-z] )\b[A-Z] {PSEUDONYM}|"
    rf"{PSEUDONYM} (?:[B-HJ-Z](?:['’]s)?(?![\w.'’])"
    r"(?! (?:offen[sc]e|felony|misdemeanor|violation|crime|charge|position|level)s?\b)|"
    rf"(?P<word>[A-Z][\w'’]+))"
)
"""A remainder of a name next to a pseudonym: "los University A", "Person A & G", "Name A K"."""

Recogniser = Callable[[str], Sequence[tuple[str, str]]]
"""Returns the names in a text, each with its kind: "person", "place" or "company"."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """An identifying expression in a finished text, with the reason and its context."""

    reason: str
    words: str


@dataclass(frozen=True, slots=True)
class GateReport:
    """The findings of the gates in one case.

    Attributes:
        names: surviving words of parties', judges' or counsel's names, each with its context.
        survivors: the findings of the independent gate.
        outcomes: sentences of the facts that reveal the outcome.
        problems: why the case cannot be checked or used at all.
        tokens: the number of checked words of names.
        party_rules: the rules that found the parties.
    """

    names: Sequence[str] = ()
    survivors: Sequence[Survivor] = ()
    outcomes: Sequence[str] = ()
    problems: Sequence[str] = ()
    tokens: int = 0
    party_rules: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        """Whether the case may be shown to a model."""
        return not (self.names or self.survivors or self.outcomes or self.problems)

    @property
    def reasons(self) -> list[str]:
        """Why the case did not pass, each reason once."""
        reasons = ["name of a party, judge or counsel"] if self.names else []
        reasons += sorted({survivor.reason for survivor in self.survivors})
        reasons += ["outcome told"] if self.outcomes else []
        return reasons + [re.sub(r"\d+", "some", text.split(":")[0]) for text in self.problems]


def find_marked_sentences(marked_sentences: Sequence[str], facts: str) -> list[str]:
    """Return the marked sentences that the facts contain, compared by sequences of words.

    A sentence shorter than a sequence ("We affirm.") is compared as a whole.
    """
    survivors = []
    normal_facts = _normalise(facts)
    for sentence in marked_sentences:
        words = _normalise(sentence).split()
        last_start = max(0, len(words) - SEQUENCE_WORDS)
        sequences = [
            " ".join(words[start : start + SEQUENCE_WORDS]) for start in range(last_start + 1)
        ]
        shared_count = sum(f" {sequence} " in normal_facts for sequence in sequences)
        if words and shared_count / len(sequences) >= MIN_SHARED_SEQUENCES:
            survivors.append(sentence)
    return survivors


def _normalise(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "


def run_gates(opinion: Opinion, facts: str, recogniser: Recogniser | None = None) -> GateReport:
    """Run all gates on the facts of an opinion.

    Args:
        opinion: the opinion with the names of its caption and its marked sentences.
        facts: the finished text.
        recogniser: a trained recogniser of names, if one is used.
    """
    lexicon = Lexicon([opinion.text])
    name_words = collect_record_words(opinion, lexicon)
    rules = find_party_rules(opinion, lexicon)
    problems = [] if rules else ["no party found: there is no name to look for"]
    if reason := find_reason_against_opinion(opinion.text):
        problems.append(reason)
    if len(facts) < MIN_FACTS_CHARS:
        problems.append(f"fewer than {MIN_FACTS_CHARS} characters of facts: found {len(facts)}")
    sentences = [sentence.text for sentence in split_sentences(lower_pseudonyms(facts))]
    outcomes = [sentence for sentence in sentences if tells_outcome(sentence)]
    return GateReport(
        names=_find_name_words(facts, name_words),
        survivors=find_survivors(facts, Lexicon([opinion.text, facts]), recogniser),
        outcomes=outcomes + find_marked_sentences(opinion.marked_sentences, facts),
        problems=problems,
        tokens=len(name_words),
        party_rules=rules,
    )


def find_reason_against_opinion(text: str) -> str:
    """Say why a text is not an opinion, or "": it has few sentences, or it is a list of orders."""
    prose, order_count = _ORDER_IN_LIST.subn(" ", text)
    sentence_count = 0
    for sentence in split_sentences(prose):
        sentence_count += len(re.findall(r"\b[a-z]{2,}\b", sentence.text)) >= MIN_SENTENCE_WORDS
    if order_count >= MIN_ORDERS and sentence_count < 2 * order_count:
        return f"no opinion, but a list of orders: found {order_count} orders"
    if sentence_count < MIN_SENTENCES:
        return f"no opinion, but single sentences: found {sentence_count}"
    return ""


def _find_name_words(facts: str, name_words: Collection[str]) -> list[str]:
    """Return the context of every word of the facts that is a word of a name."""
    matches = [match for match in _WORD.finditer(facts) if normalise_word(match[0]) in name_words]
    return [facts[max(0, match.start() - 25) : match.end() + 25] for match in matches]


def find_survivors(
    text: str, lexicon: Lexicon, recogniser: Recogniser | None = None
) -> list[Survivor]:
    """Return the expressions of a finished text that look like names or references.

    Args:
        text: the finished text.
        lexicon: the words of the opinion and of this text.
        recogniser: a trained recogniser. It finds names where any word would have a capital.
    """
    lowered_text = lower_pseudonyms(text)
    survivors = list(_match_capitals(lowered_text, lexicon))
    survivors += [Survivor(f"reference: {noun}", words) for noun, words in iter_references(text)]
    for sentence in split_sentences(lowered_text):
        if cites_cases(sentence.text):
            survivors.append(Survivor("citation", sentence.text[:80]))
        survivors += _match_patterns(sentence.text)
    for match in _NAME_REMAINDER.finditer(text):
        key = normalise_word(match["word"] or "")
        is_public = match[0].startswith(("State", "County", "City", "Town", "Village", "Place"))
        if not (key and (is_public or key in w.ROLE_WORDS | w.list_opening_words())):
            survivors.append(Survivor("part of a name", match[0]))
    for word in lexicon.find_lowered_names(text):
        survivors.append(Survivor("name in lower case", word))
    for name, kind in recogniser(lowered_text) if recogniser else ():
        if kind == "person" and _has_name_word(name, lexicon):
            survivors.append(Survivor("recogniser", name))
    return survivors


def _match_patterns(sentence: str) -> Iterator[Survivor]:
    for match in _CAPITALS.finditer(sentence):
        keys = [normalise_word(word) for word in match[0].split()]
        has_link = keys[0] in w.LINKING_WORDS | {"in", "at"}
        if w.is_name_of_common_words(keys[1:] if has_link else keys):
            yield Survivor("name of customary words", match[0])
    for reason, pattern in _PATTERNS:
        for match in pattern.finditer(sentence):
            yield Survivor(reason, match[0])


def _match_capitals(text: str, lexicon: Lexicon) -> Iterator[Survivor]:
    for match, _, starts_sentence in iter_capitals(text):
        word = match[0]
        if lexicon.is_common(word):
            continue
        context = match.string[max(0, match.start() - 25) : match.end() + 25]
        is_name = normalise_word(word) in w.ALSO_NAMES or not lexicon.is_ordinary(word)
        if not starts_sentence:
            yield Survivor("capitalised word", context)
        elif not lexicon.is_ordinary(word) and not lexicon.opens_sentences_only(word):
            yield Survivor("unknown word opens a sentence", context)
        elif is_name and FOLLOWS_PERSON.match(match.string, match.end()):
            yield Survivor("a name opens a sentence", context)


def _has_name_word(name: str, lexicon: Lexicon) -> bool:
    """Return whether a word is not customary, and is not ordinary or may also be a name."""
    for word in re.findall(CAPITALISED, name):
        is_name = not lexicon.is_ordinary(word) or normalise_word(word) in w.ALSO_NAMES
        if is_name and not lexicon.is_common(word):
            return True
    return False
