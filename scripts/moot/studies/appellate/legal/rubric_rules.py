"""Label the position of a judge's statement by rules.

The speaker may change position from sentence to sentence, so the last vote counts.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from moot.core.rubric import RUBRICS
from moot.studies.appellate.legal import rubric
from moot.studies.appellate.legal.rubric import RUBRIC
from moot.studies.appellate.legal.sentences import split_sentences

if TYPE_CHECKING:
    from moot.studies.appellate.legal.dispositions import Disposition

_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|accordingly|in conclusion|ultimately|for (?:these|the foregoing)"
    r" reasons|i vote|my vote)\b",
    re.I,
)


class StatementLabel(NamedTuple):
    """A label with its code and its evidence, the sentence that shows it ("" if none does)."""

    label: str
    evidence: str = ""

    @property
    def code(self) -> int:
        """Return 1 for affirm, 0 for not affirm, 3 for none or hallucination."""
        return rubric.CODES[self.label]


def _group_by_sentence(dispositions: Sequence["Disposition"]) -> list[list["Disposition"]]:
    """Group dispositions by their sentence, in order."""
    sentences: dict[int, list[Disposition]] = {}
    for disposition in dispositions:
        sentences.setdefault(disposition.start, []).append(disposition)
    return [sentences[start] for start in sorted(sentences)]


def _label_sentence(sentence: Sequence["Disposition"]) -> str:
    names = {disposition.name for disposition in sentence}
    if any(disposition.is_in_part for disposition in sentence):
        names.add("in part")
    return rubric.decide_label(names)


_CONVICTION_REVIEWED = re.compile(
    r"\bdecision under review is (?:the|a|his|her|this) conviction\b"
    r"|\bappeal\w* (?:from )?(?:the|a|his|her|this) conviction\b",
    re.IGNORECASE,
)
_GUILT = re.compile(
    r"\b(?:actions?|conduct|doctor|defendant|appellant|accused|practitioner|he|she)\b[^.;]{0,40}?\b"
    r"(?:did (?:\w+ )?violate|violated|(?:is|was|were) (?:\w+ )?(?:guilty|in violation)"
    r"|constitut\w+ an? (?:\w+ )?violation|broke the law)\b",
    re.IGNORECASE,
)
_NOT_ASSERTED = re.compile(
    r"\b(?:whether|if|unless|argu\w+|claim\w*|contend\w*|alleg\w+|jury|government|prosecut\w+"
    r"|district court|lower court|may|might|could|not|no|never|cannot|insufficient\w*|fail\w*"
    r"|doubt\w*|unclear|prove\w*|show|shown|judge \w+)\b|n['’]t\b",
    re.IGNORECASE,
)


def contradicts_conviction(text: str, facts: str) -> bool:
    """Return whether a statement finds, in its own voice, a violation behind a conviction.

    This concerns reviews of convictions only.

    A judge who finds a violation and votes against the conviction has mistaken the decision of the
    court below. This is the example of a hallucination in the paper's rubric (appendix ii).
    """
    if not _CONVICTION_REVIEWED.search(facts):
        return False
    return any(
        _GUILT.search(sentence.text) and not _NOT_ASSERTED.search(sentence.text)
        for sentence in split_sentences(text)
    )


def label_statement(text: str, facts: str = "") -> StatementLabel:
    """Label one judge's statement by the rubric; with the facts also by the decision below.

    Explicit votes outweigh implied ones. Earlier votes ("initially") count only if there is no
    other. If explicit votes of several sentences contradict each other, the last one counts if its
    sentence concludes ("therefore", "I vote"); otherwise the label is HALLUCINATION.
    """
    label = _label_by_votes(text)
    is_against = rubric.CODES[label.label] == rubric.NOT_AFFIRMED_CODE
    if is_against and contradicts_conviction(text, facts):
        return StatementLabel(rubric.HALLUCINATION, label.evidence)
    return label


def _label_by_votes(text: str) -> StatementLabel:
    """Label a statement by its dispositions."""
    from moot.studies.appellate.legal.dispositions import find_dispositions

    dispositions = find_dispositions(text)
    current = [disposition for disposition in dispositions if not disposition.is_provisional]
    current = current or dispositions
    explicit = [disposition for disposition in current if disposition.is_explicit]
    sentences = _group_by_sentence(explicit or current)
    if not sentences:
        return StatementLabel(rubric.NONE)
    last_sentence = sentences[-1]
    evidence = text[last_sentence[0].start : last_sentence[0].end]
    labels = [_label_sentence(sentence) for sentence in sentences]
    codes = {rubric.CODES[label] for label in labels}
    if len(codes) == 1:
        names = {disposition.name for disposition in explicit or current}
        if codes == {rubric.NOT_AFFIRMED_CODE}:
            names -= {"affirm", "dismiss"}
        label = rubric.decide_label(names) if names else labels[-1]
        return StatementLabel(label, evidence)
    if not explicit:
        return StatementLabel(rubric.NONE, evidence)
    label = labels[-1] if _CONCLUSION.search(evidence) else rubric.HALLUCINATION
    return StatementLabel(label, evidence)


APPELLATE = "appellate"
EXAMPLE_STATEMENTS = {
    "affirm": "I would affirm the judgment.",
    "not affirm": "I would reverse the judgment.",
}

RUBRICS.register(APPELLATE)(
    RUBRIC.with_rules(label_statement, EXAMPLE_STATEMENTS, reads_facts=True)
)
