"""The two gates that a de-identified case must pass; both look at the finished text alone, not at how it was made."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from moot.deidentify.names import naming_words, small_words
from moot.deidentify.opinion import Opinion
from moot.labels.dispositions import find_dispositions
from moot.labels.sentences import split_sentences

SHARED_WORDS = 0.8  # of a marked sentence's words in a row of the facts, from which on it counts as surviving
MINIMUM_WORDS = 4
_DECIDES = re.compile(
    r"\b(?:we|this court)\b[^.;]{0,40}\b(?:hold|held|conclude|agree|disagree|determine|reject|decline|grant|deny|"
    r"find|believe|answer|are (?:not )?persuaded|"
    r"decide|rule|overrule|adopt|discern|see no|are satisfied)\b", re.IGNORECASE,
)  # fmt: skip
_FOLLOWS = re.compile(
    r"\b(?:for the (?:reasons|foregoing)|finding (?:no|reversible) error|our (?:decision|holding|disposition|"
    r"conclusion))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GateReport:
    """What the gates found in one case.

    Attributes:
        names: words of parties', judges' or counsel's names that survive, each with the words around it.
        outcomes: sentences of the facts that tell the outcome.
        tokens: how many words of names were checked.
    """

    names: Sequence[str] = ()
    outcomes: Sequence[str] = ()
    tokens: int = 0
    problems: Sequence[str] = field(default_factory=tuple)

    @property
    def passed(self) -> bool:
        """Whether the case may be shown to a model."""
        return not (self.names or self.outcomes or self.problems)


def forbidden_words(opinion: Opinion) -> frozenset[str]:
    """Every word of a party's, judge's or counsel's name that identifies, lower case."""
    small = small_words(opinion.text)
    names = [name for name, _ in opinion.parties] + [*opinion.judges, *opinion.counsel]
    return frozenset(word for name in names for word in naming_words(name, small))


def tells_outcome(sentence: str) -> bool:
    """Whether a sentence says how the appeal is decided, or what the court concludes on its way there."""
    own = [found for found in find_dispositions(sentence) if found.explicit]
    return bool(own or _DECIDES.search(sentence) or _FOLLOWS.search(sentence))


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _survives(marked: str, facts: set[tuple[str, ...]], length: int) -> bool:
    words = _words(marked)
    rows = [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]
    return bool(rows) and sum(row in facts for row in rows) / len(rows) >= SHARED_WORDS


def surviving_marked(marked: Sequence[str], facts: str) -> list[str]:
    """The marked outcome sentences that stand in the facts, compared by their rows of words.

    Sentences shorter than the row ("We affirm.") are looked for as a whole.
    """
    words = _words(facts)
    joined = f" {' '.join(words)} "
    rows = {tuple(words[start : start + MINIMUM_WORDS]) for start in range(len(words))}
    short = [
        sentence
        for sentence in marked
        if 0 < len(_words(sentence)) < MINIMUM_WORDS and f" {' '.join(_words(sentence))} " in joined
    ]
    return short + [sentence for sentence in marked if _survives(sentence, rows, MINIMUM_WORDS)]


def check(opinion: Opinion, facts: str, minimum: int) -> GateReport:
    """Run both gates on the facts of an opinion.

    Args:
        opinion: with the names of its caption and its marked sentences.
        facts: the finished text.
        minimum: the fewest characters that facts worth a debate have.
    """
    forbidden = forbidden_words(opinion)
    names = [
        facts[max(0, match.start() - 25) : match.end() + 25]
        for match in re.finditer(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*", facts)
        if match[0].lower() in forbidden
    ]
    names += [word for word in sorted(forbidden) if "." in word and f"{word}." in facts.lower()]
    outcomes = [part.text for part in split_sentences(facts) if tells_outcome(part.text)]
    problems = []
    if not forbidden:
        problems.append("no name of a party, judge or counsel found in caption or signature: nothing could be checked")
    if len(facts) < minimum:
        problems.append(f"only {len(facts)} characters of facts left, fewer than {minimum}")
    return GateReport(names, [*outcomes, *surviving_marked(opinion.marked, facts)], len(forbidden), problems)
