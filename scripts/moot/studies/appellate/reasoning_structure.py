"""How the statements of panels are built, and whom they name: the study's qualitative findings.

The study reports them in words ("Reasoning" and "Responsiveness to Humans"). The rules here are
ours, one for each finding; they read a statement's words and positions.
"""

import re
from collections.abc import Mapping
from itertools import product

import pandas as pd

from moot.core.cases import Case
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.rubric import (
    AFFIRMED_CODE,
    NO_STANCE_CODE,
    NOT_AFFIRMED_CODE,
)
from moot.studies.appellate.legal.sentences import split_sentences
from moot.studies.appellate.panel_steps import HUMAN, pair_positions, select_regular_steps

_HUMAN = re.compile(
    r"\bhuman(?:-|\s)(?:judge|opinion|colleague|member|perspective|input|view|reasoning|argument)"
    r"|\b(?:the|our|my|a) human(?:['’]s)?\b"
    r"(?!\s+(?:right|being|dignity|body|life|error|subject|resource))",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:persua\w+|convinc\w+|compel\w+|sway\w+|influenc\w+|agree\w*|align\w*|reconsider\w*"
    r"|chang\w+|in light of|given|because|based on|after (?:hearing|considering|reading|reviewing)"
    r"|consider\w*|acknowledg\w+|rais\w+|highlight\w*|point\w*|join\w*|concur\w*)\b",
    re.IGNORECASE,
)
_OPPOSING_VIEW = re.compile(
    r"\bdevil['’]?s advocate\b|\bon the other hand\b|\bcounter-?arguments?\b|\bboth sides\b"
    r"|\b(?:some|one|others) (?:may|might|could|would) (?:also )?(?:argue|say|contend)\b"
    r"|\bit (?:may|might|could|can) (?:also )?be argued\b"
    r"|\b(?:opposing|contrary|alternative|different|competing)"
    r" (?:view|perspective|argument|opinion|position)s?\b"
    r"|\bwhile (?:I|we) (?:understand|acknowledge|recogni[sz]e|respect|appreciate|see)\b"
    r"|\bI (?:acknowledge|recogni[sz]e|understand)"
    r" (?:that|the (?:argument|concern|view|point)s?)\b",
    re.IGNORECASE,
)
_CONFIDENCE_LINE = re.compile(r"(?im)^.*\bconfidence\b[^.\n]*\d.*$")
_DIVIDED, _UNANIMOUS = "divided", "unanimous"
_CODES = {"affirm": AFFIRMED_CODE, "dismiss": AFFIRMED_CODE}


def names_human(text: str) -> bool:
    """Return whether a statement refers to the human judge or the human's opinion.

    >>> names_human("As the Human Judge points out, ..."), names_human("Human rights matter.")
    (True, False)
    """
    return _HUMAN.search(text) is not None


def gives_human_as_reason(text: str) -> bool:
    """Return whether a sentence of a statement names the human together with a word of reason."""
    return any(
        names_human(sentence.text) and _REASON.search(sentence.text)
        for sentence in split_sentences(text)
    )


def takes_up_opposing_view(text: str) -> bool:
    """Return whether a statement brings up considerations of the other side: the devil's
    advocate.
    """
    return _OPPOSING_VIEW.search(text) is not None


def is_reasserted(text: str) -> bool:
    """Return whether a statement asserts a position, reasons, and asserts the same position again.

    The first assertion lies in the first two sentences, the second in the last two (a line with the
    confidence does not count), with a sentence between them.
    """
    body = _CONFIDENCE_LINE.sub("", text).strip()
    sentences = split_sentences(body)
    codes: dict[int, set[int]] = {}
    for disposition in find_dispositions(body):
        for number, sentence in enumerate(sentences):
            if sentence.start <= disposition.start < sentence.end:
                code = _CODES.get(disposition.name, NOT_AFFIRMED_CODE)
                codes.setdefault(number, set()).add(code)
    last = len(sentences) - 1
    for first, second in product((0, 1), (last - 1, last)):
        has_sentence_between = second - first > 1
        if has_sentence_between and codes.get(first, set()) & codes.get(second, set()):
            return True
    return False


def measure_structure(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the structure of each statement of the AI judges.

    Returns:
        The columns of `steps`, and as booleans names_human, opposing_view and reasserted.
    """
    statements = select_regular_steps(steps)
    statements = statements[statements["spoken"] & (statements["speaker"] != HUMAN)]
    return statements.assign(
        names_human=[names_human(text) for text in statements["text"]],
        opposing_view=[takes_up_opposing_view(text) for text in statements["text"]],
        reasserted=[is_reasserted(text) for text in statements["text"]],
    )


def list_reasoned_changes(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the AI judges' changes of position next to a human.

    Returns:
        The columns of `pair_positions`, and reason: whether the statement after the change gives
        the human as a reason.
    """
    pairs = pair_positions(steps)
    changes = pairs[pairs["changed"] & (pairs["speaker"] != HUMAN)]
    texts = select_regular_steps(steps).set_index(["debate_id", "turn"])["text"]
    keys = zip(changes["debate_id"], changes["turn_after"], strict=True)
    reasons = [gives_human_as_reason(str(texts.loc[key])) for key in keys]
    return changes.assign(reason=pd.Series(reasons, changes.index, dtype=bool))


def measure_margins(steps: pd.DataFrame, cases: Mapping[str, Case]) -> pd.DataFrame:
    """Return the mean margin between affirming and other positions of each case.

    The margin of a step is the difference between the shares of debates that affirm and that do
    not. Cases without the attribute `votes` (unanimous or divided) are left out.

    Returns:
        Columns case_id, votes and margin, from 0 to 1.
    """
    positions = select_regular_steps(steps)
    positions = positions[positions["speaker"] != HUMAN]
    signs = positions["code"].map({AFFIRMED_CODE: 1.0, NOT_AFFIRMED_CODE: -1.0, NO_STANCE_CODE: 0})
    by_step = signs.groupby([positions["case_id"], positions["step"]]).mean().abs()
    margins = by_step.groupby("case_id").mean().rename("margin").reset_index()
    votes = [cases[case_id].attributes.get("votes", "") for case_id in margins["case_id"]]
    margins = margins.assign(votes=pd.Series(votes, margins.index, dtype=object))
    return margins[margins["votes"].isin([_DIVIDED, _UNANIMOUS])].reset_index(drop=True)
