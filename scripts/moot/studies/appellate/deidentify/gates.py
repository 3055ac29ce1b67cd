"""The gates that a de-identified case must pass. All of them read the finished text only.

The first rejects any word of a party's, judge's or counsel's name. The second (`survivors`) rejects
any name and does not use the results of the extractor. The third rejects sentences that reveal the
outcome.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify.caption import Opinion
from moot.studies.appellate.deidentify.entities import collect_record_words, find_party_rules
from moot.studies.appellate.deidentify.hints import tells_outcome
from moot.studies.appellate.deidentify.lexicon import Lexicon, normalise_word
from moot.studies.appellate.deidentify.replacing import lower_pseudonyms
from moot.studies.appellate.deidentify.survivors import Recogniser, Survivor, find_survivors
from moot.studies.appellate.legal.sentences import split_sentences

# A marked sentence survives if the facts have this share of its sequences of SEQUENCE_WORDS words.
MIN_SHARED_SEQUENCES = 0.8
SEQUENCE_WORDS = 4
MIN_FACTS_CHARS = 200
# A shorter text, in sentences of at least so many words in lower case, is not an opinion.
MIN_SENTENCES = 4
MIN_SENTENCE_WORDS = 3
MIN_ORDERS = 3
_ORDER_IN_LIST = re.compile(
    r"(?:\b(?:No|Nos|Docket|Case)\b\.?\s*[\w,-]*\d|\s(?:v|vs)\.\s|\b(?:In re|Ex parte)\s)"
    r"(?:(?!\s(?:v|vs)\.\s|\b[Ww]e\b)[\s\S]){3,250}?"
    r"\b(?i:denied|granted|dismissed|affirmed|reversed|vacated|quashed)\b[^.\n]{0,80}(?:[.\n]|$)"
)
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:(?:['’-]|\.(?=[A-Z]\.))[\wÀ-ÿ]+)*")


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
    for sentence in marked_sentences:
        length = min(SEQUENCE_WORDS, len(_list_sequences(sentence, 1)))
        sequences = _list_sequences(sentence, length) if length else []
        fact_sequences = set(_list_sequences(facts, length))
        shared_count = sum(sequence in fact_sequences for sequence in sequences)
        if sequences and shared_count / len(sequences) >= MIN_SHARED_SEQUENCES:
            survivors.append(sentence)
    return survivors


def _list_sequences(text: str, length: int) -> list[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]


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
