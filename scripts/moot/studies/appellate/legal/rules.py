"""The labeller by rules: the position of a judge's statement, and the outcome of a whole opinion.

Both rest on `find_dispositions`; they differ in what is asked. A statement has one speaker who may
change his mind from sentence to sentence, so its last vote counts. An opinion decides every issue,
so all its decisions count together.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from moot.studies.appellate.legal import rubric

if TYPE_CHECKING:
    from moot.studies.appellate.legal.dispositions import Finding

_COURTS = (
    (
        r"\bboard|commission|agency|hearing"
        r" officer|arbitrator|department|director|secretary|administrative"
    ),
    (
        r"(?:district|trial|circuit|superior|county|metropolitan|lower|magistrate|family|bankruptcy)"
        r" court|convictions?"
    ),
    (
        r"court of (?:\w+ )?appeals?|appellate (?:court|division|panel)|appeals court|intermediate"
        r" court"
    ),
)
"""Whose decision is under review: an agency's, a trial court's, an intermediate appellate court's.
"""
_CORRECTION = re.compile(
    r"vacat|quash|re-?sentenc|amend|\bcorrect"
    r" (?:the|its|his)|correction|reconsider|recalculat|redetermin|modif|"
    r"strike|dismiss|new trial|set aside|reduc|deduct|\bwith (?:\w+ )?(?:instructions|directions)"
)
_KEPT_CONVICTION = re.compile(
    r"evidence \w+ the [^.]{0,60}convictions?|convictions? (?:is|are) supported", re.IGNORECASE
)
_MIXING = re.compile(r"\b(?:but|except|however|although|only)\b", re.IGNORECASE)
_TURN = re.compile(
    r"\b(?:therefore|thus|accordingly|in conclusion|ultimately|for (?:these|the foregoing)"
    r" reasons|i vote|my vote)\b",
    re.I,
)


class Labelled(NamedTuple):
    """A label, its code, and the words that show it ("" where nothing does)."""

    label: str
    evidence: str = ""

    @property
    def code(self) -> int:
        """1 affirm, 0 not affirm, 3 none or hallucination."""
        return rubric.CODES[self.label]


def _votes(findings: Sequence["Finding"]) -> list[list["Finding"]]:
    """The findings of each sentence together, in order."""
    sentences: dict[int, list[Finding]] = {}
    for finding in findings:
        sentences.setdefault(finding.start, []).append(finding)
    return [sentences[start] for start in sorted(sentences)]


def _side(sentence: Sequence["Finding"]) -> str:
    found = {finding.disposition for finding in sentence} | {
        "in part" for finding in sentence if finding.in_part
    }
    return rubric.decide_label(found)


def label_statement(text: str) -> Labelled:
    """Label one judge's statement by the rubric.

    Explicit votes outweigh implied ones; votes said to be earlier ones ("initially") count only
    where there is no other. Where explicit votes of several sentences oppose each other, the last
    wins if its sentence concludes ("therefore", "I vote"); otherwise the statement contradicts
    itself, which is HALLUCINATION.
    """
    from moot.studies.appellate.legal.dispositions import find_dispositions

    findings = find_dispositions(text)
    current = [finding for finding in findings if not finding.provisional] or findings
    explicit = [finding for finding in current if finding.explicit]
    sentences = _votes(explicit or current)
    if not sentences:
        return Labelled(rubric.NONE)
    last = sentences[-1]
    evidence = text[last[0].start : last[0].end]
    labels = [_side(sentence) for sentence in sentences]
    codes = {rubric.CODES[label] for label in labels}
    if len(codes) == 1:
        together = {finding.disposition for sentence in sentences for finding in sentence}
        if codes == {rubric.NOT_AFFIRMED_CODE}:
            together -= {"affirm", "dismiss"}
        return Labelled(rubric.decide_label(together) if together else labels[-1], evidence)
    if not explicit:
        return Labelled(rubric.NONE, evidence)
    return Labelled(labels[-1] if _TURN.search(evidence) else rubric.HALLUCINATION, evidence)


def _tier(finding: "Finding") -> int | None:
    """Which of `_COURTS` a disposition names, the first one in its words; None for none."""
    named = ((re.search(words, finding.target[:70]), tier) for tier, words in enumerate(_COURTS))
    return min(((match.start(), tier) for match, tier in named if match), default=(0, None))[1]


def _of_reviewed_court(findings: Sequence["Finding"]) -> set[str]:
    """Dispositions on the decision under review alone, where two courts below are named with
    opposite results.

        "We reverse the Court of Appeals and affirm the trial court" reverses.
    """

    def tiers(*dispositions: str) -> list[int]:
        of_courts = (_tier(finding) for finding in findings if finding.disposition in dispositions)
        return [tier for tier in of_courts if tier is not None]

    undone, stands = tiers("reverse", "vacate"), tiers("affirm")
    everything = {finding.disposition for finding in findings}
    if not undone or not stands or any(finding.in_part for finding in findings):
        return everything
    if max(undone) > max(stands):
        return everything - {"affirm"}
    return everything - {"reverse", "vacate", "remand"} if max(stands) > max(undone) else everything


def _consequential(text: str, findings: Sequence["Finding"]) -> set[str]:
    """{"remand"} where the case goes back only to go on from an affirmed decision, with nothing to
    be corrected.
    """
    remands = [finding for finding in findings if finding.disposition == "remand"]
    sentences = " ".join(text[finding.start : finding.end] for finding in remands)
    corrects = _CORRECTION.search(" ".join(finding.target for finding in remands) + sentences)
    return set() if corrects or _MIXING.search(sentences) else {"remand"}


def opinion_outcome(text: str) -> tuple[str, str]:
    """The outcome that an opinion, or the part of it that disposes of the appeal, announces.

    A remand next to an affirmance leaves it whole, unless something is to be corrected below.

    Returns:
        one of `rubric.OUTCOMES`, or "" where the text announces none; and the sentence that shows
        it.
    """
    from moot.studies.appellate.legal.dispositions import find_dispositions

    findings = find_dispositions(text)
    explicit = [finding for finding in findings if finding.explicit]
    decisive = (
        explicit or [finding for finding in findings if finding.disposition != "affirm"] or findings
    )
    if not decisive:
        return "", ""
    dispositions = _of_reviewed_court(decisive)
    if "affirm" in dispositions and not dispositions & {"reverse", "vacate"}:
        dispositions = dispositions - _consequential(text, decisive)
    implied = [f for f in findings if f.disposition == "affirm" and not f.explicit]
    if any(_KEPT_CONVICTION.search(text[f.start : f.end]) for f in implied) or any(
        finding.in_part for finding in decisive
    ):
        dispositions = dispositions | {"in part"}
    last = decisive[-1]
    return rubric.decide_outcome(dispositions), text[last.start : last.end]
