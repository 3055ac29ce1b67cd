"""Label the position of a judge's statement and the outcome of an opinion by rules.

Both use `find_dispositions`. The speaker of a statement may change position from sentence to
sentence, so the last vote counts. An opinion decides every issue, so all its decisions count.
"""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from moot.studies.appellate.legal import rubric
from moot.studies.appellate.legal.sentences import split_sentences

if TYPE_CHECKING:
    from moot.studies.appellate.legal.dispositions import Disposition

_COURT_LEVELS = (
    (
        r"\bboard|commission|agency|hearing"
        r" officer|arbitrator|department|director|secretary|administrative"
    ),
    (
        r"(?:district|trial|circuit|superior|county|metropolitan|lower|magistrate|family|"
        r"bankruptcy)"
        r" court|convictions?"
    ),
    (
        r"court of (?:\w+ )?appeals?|appellate (?:court|division|panel)|appeals court|intermediate"
        r" court"
    ),
)
"""The levels of a reviewed court: agency, trial court, intermediate appellate court."""
_CORRECTION = re.compile(
    r"vacat|quash|re-?sentenc|amend|\bcorrect"
    r" (?:the|its|his)|correction|reconsider|recalculat|redetermin|modif|"
    r"strike|dismiss|new trial|set aside|reduc|deduct|\bwith (?:\w+ )?(?:instructions|directions)"
)
_CONVICTION_UPHELD = re.compile(
    r"evidence \w+ the [^.]{0,60}convictions?|convictions? (?:is|are) supported", re.IGNORECASE
)
_CONTRAST = re.compile(r"\b(?:but|except|however|although|only)\b", re.IGNORECASE)
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


def _find_court_level(disposition: "Disposition") -> int | None:
    """Return the index in `_COURT_LEVELS` of the first court that a target names, or None."""
    matches = []
    for level, words in enumerate(_COURT_LEVELS):
        if match := re.search(words, disposition.target[:70]):
            matches.append((match.start(), level))
    return min(matches)[1] if matches else None


def _find_court_levels(dispositions: Sequence["Disposition"], names: Collection[str]) -> list[int]:
    """Return the court levels that the dispositions of some names affect."""
    levels = []
    for disposition in dispositions:
        level = _find_court_level(disposition)
        if disposition.name in names and level is not None:
            levels.append(level)
    return levels


def _select_reviewed_court(dispositions: Sequence["Disposition"]) -> set[str]:
    """Return the names of the dispositions of the decision under review.

    Other dispositions are dropped if two courts below are named with opposite results: "We reverse
    the Court of Appeals and affirm the trial court" reverses.
    """
    names = {disposition.name for disposition in dispositions}
    undone_levels = _find_court_levels(dispositions, ("reverse", "vacate"))
    affirmed_levels = _find_court_levels(dispositions, ("affirm",))
    if not undone_levels or not affirmed_levels:
        return names
    if any(disposition.is_in_part for disposition in dispositions):
        return names
    if max(undone_levels) > max(affirmed_levels):
        return names - {"affirm"}
    if max(affirmed_levels) > max(undone_levels):
        return names - {"reverse", "vacate", "remand"}
    return names


def _find_consequential_remand(text: str, dispositions: Sequence["Disposition"]) -> set[str]:
    """Return {"remand"} if the case goes back only to continue after an affirmance, or {}."""
    remands = [disposition for disposition in dispositions if disposition.name == "remand"]
    sentences = " ".join(text[remand.start : remand.end] for remand in remands)
    targets = " ".join(remand.target for remand in remands)
    if _CORRECTION.search(targets + sentences) or _CONTRAST.search(sentences):
        return set()
    return {"remand"}


def find_opinion_outcome(text: str) -> tuple[str, str]:
    """Return the outcome that an opinion, or its disposing part, announces.

    A remand next to an affirmance counts only if something is to be corrected below.

    Returns:
        One of `rubric.OUTCOMES`, or "" if the text announces none, and the sentence that shows it.
    """
    from moot.studies.appellate.legal.dispositions import find_dispositions

    dispositions = find_dispositions(text)
    decisive = (
        [disposition for disposition in dispositions if disposition.is_explicit]
        or [disposition for disposition in dispositions if disposition.name != "affirm"]
        or dispositions
    )
    if not decisive:
        return "", ""
    names = _select_reviewed_court(decisive)
    if "affirm" in names and not names & {"reverse", "vacate"}:
        names = names - _find_consequential_remand(text, decisive)
    is_in_part = any(disposition.is_in_part for disposition in decisive)
    if is_in_part or _upholds_conviction(text, dispositions):
        names = names | {"in part"}
    last_disposition = decisive[-1]
    outcome = rubric.decide_outcome(names)
    return outcome, text[last_disposition.start : last_disposition.end]


def _upholds_conviction(text: str, dispositions: Sequence["Disposition"]) -> bool:
    """Return whether an implied affirmance upholds a conviction."""
    for disposition in dispositions:
        if disposition.name != "affirm" or disposition.is_explicit:
            continue
        if _CONVICTION_UPHELD.search(text[disposition.start : disposition.end]):
            return True
    return False
