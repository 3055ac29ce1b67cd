"""The gates that a de-identified case must pass; all look at the finished text, not at how it was
made.

The first wants no word of a party's, judge's or counsel's name; the second (`survivors`) wants no
name at all and does not know what the extractor found; the third wants no sentence that tells the
outcome.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from moot.studies.appellate.deidentify.hints import tells_outcome
from moot.studies.appellate.deidentify.lexicon import Lexicon, plain
from moot.studies.appellate.deidentify.names import naming_words
from moot.studies.appellate.deidentify.opinion import Opinion, party_rules
from moot.studies.appellate.deidentify.survivors import (
    Recogniser,
    Survivor,
    find_survivors,
    without_pseudonyms,
)
from moot.studies.appellate.legal.sentences import split_sentences

SHARED_WORDS = (
    0.8  # of a marked sentence's words in a row of the facts, from which on it counts as surviving
)
MINIMUM_WORDS = 4
MINIMUM_CHARACTERS = 200  # of facts worth a debate


@dataclass(frozen=True, slots=True)
class GateReport:
    """What the gates found in one case.

    Attributes:
        names: words of parties', judges' or counsel's names that survive, each with the words
            around it.
        survivors: what the independent gate found.
        outcomes: sentences of the facts that tell the outcome.
        problems: why the case cannot be judged or used at all.
        tokens: how many words of names were checked.
        party_rules: by which rules the parties were found.
    """

    names: Sequence[str] = ()
    survivors: Sequence[Survivor] = ()
    outcomes: Sequence[str] = ()
    problems: Sequence[str] = field(default_factory=tuple)
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
        reasons += sorted(Counter(survivor.reason for survivor in self.survivors))
        reasons += ["outcome told"] if self.outcomes else []
        return [
            *reasons,
            *(re.sub(r"\d+", "some", problem.split(":")[0]) for problem in self.problems),
        ]


def forbidden_words(opinion: Opinion, lexicon: Lexicon) -> frozenset[str]:
    """Every word of a party's, judge's or counsel's name that identifies, as `lexicon.plain` writes
    it.
    """
    names = [name for name, _ in opinion.parties] + [*opinion.judges, *opinion.counsel]
    return frozenset(
        word for name in names for word in naming_words(name, lexicon) if not lexicon.small[word]
    )


def surviving_marked(marked: Sequence[str], facts: str) -> list[str]:
    """The marked outcome sentences that are in the facts, compared by their rows of words; a
    sentence shorter than a row ("We affirm.") is looked for as a whole.
    """

    def rows(text: str, length: int) -> list[tuple[str, ...]]:
        words = re.findall(r"[a-z0-9]+", text.lower())
        return [tuple(words[start : start + length]) for start in range(len(words) - length + 1)]

    found = []
    for sentence in marked:
        length = min(MINIMUM_WORDS, len(rows(sentence, 1)))
        known = set(rows(facts, length))
        mine = rows(sentence, length) if length else []
        if mine and sum(row in known for row in mine) / len(mine) >= SHARED_WORDS:
            found.append(sentence)
    return found


def check(opinion: Opinion, facts: str, recognise: Recogniser | None = None) -> GateReport:
    """Run all gates on the facts of an opinion.

    Args:
        opinion: with the names of its caption and its marked sentences.
        facts: the finished text.
        recognise: a trained recogniser of names, if there is one.
    """
    forbidden = forbidden_words(opinion, Lexicon([opinion.text]))
    names = [
        facts[max(0, match.start() - 25) : match.end() + 25]
        for match in re.finditer(r"[A-Za-zÀ-ÿ][\wÀ-ÿ]*(?:(?:['’-]|\.(?=[A-Z]\.))[\wÀ-ÿ]+)*", facts)
        if plain(match[0]) in forbidden
    ]
    outcomes = [
        part.text for part in split_sentences(without_pseudonyms(facts)) if tells_outcome(part.text)
    ]
    outcomes += surviving_marked(opinion.marked, facts)
    rules = party_rules(opinion)
    problems = [] if rules else ["no party found: nobody could be looked for"]
    if len(facts) < MINIMUM_CHARACTERS:
        problems.append(
            f"fewer than {MINIMUM_CHARACTERS} characters of facts: {len(facts)} are left"
        )
    survivors = find_survivors(facts, Lexicon([opinion.text, facts]), recognise)
    return GateReport(names, survivors, outcomes, problems, len(forbidden), rules)
