"""The votes of a panel's judges, and its decision by their statements and votes."""

from collections import Counter
from collections.abc import Sequence

from moot.core.likelihood import label_shares, subtract_prior
from moot.core.utterance_kinds import STATEMENT, VOTE
from moot.protocols.debate import Answer, Debate
from moot.protocols.reply_schemas import prediction_schema
from moot.protocols.utterances import Utterance, join_labels
from moot.studies.appellate.data_opinions import AFFIRM, NOT_AFFIRM
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NOT_AFFIRMED_CODE
from moot.studies.appellate.legal.rubric_rules import label_statement
from moot.studies.appellate.panel_statements import make_votes_schema
from moot.studies.appellate.protocol_panel_params import (
    APPEAL,
    SCRIPT,
    HumanPanelParams,
    PanelParams,
    SyntheticParams,
    list_judges,
)

VOTE_WORDS = {AFFIRM: "Yes", NOT_AFFIRM: "No"}


def is_appeal(debate: Debate) -> bool:
    """Return whether the labels are affirm and not affirm.

    Other data sets have labels of their own.
    """
    return set(debate.task.labels) == APPEAL


def has_person(debate: Debate) -> bool:
    """Return whether a person sits on the panel.

    Prompts then distinguish AI judges from the human.
    """
    return isinstance(debate.params, HumanPanelParams)


def vote_mode(debate: Debate, params: PanelParams) -> str:
    """Return how judges vote: none, generation or likelihood."""
    return params.votes or ("none" if is_appeal(debate) else "generation")


async def cast_vote(
    debate: Debate, seat: str, number: int, utterances: Sequence[Utterance], *, blank: bool = False
) -> Utterance:
    """Ask which word the judge's model finds more probable; `blank` omits case and record."""
    return await debate.choose(
        seat,
        "blank_vote" if blank else "vote",
        "panel/vote",
        private=True,
        round=number,
        utterances=utterances,
        words=VOTE_WORDS if is_appeal(debate) else None,
        people=has_person(debate),
        blank=blank,
    )


async def cast_ballot(
    debate: Debate, seat: str, number: int, utterances: Sequence[Utterance]
) -> Utterance:
    """Ask a judge for a label and a confidence, by a generated reply or a person's form."""
    return await debate.say(
        seat,
        VOTE,
        "panel/ballot",
        schema=prediction_schema(debate.task),
        private=True,
        round=number,
        utterances=utterances,
        people=has_person(debate),
    )


async def cast_script_votes(debate: Debate, params: SyntheticParams, number: int) -> None:
    """Ask the model that plays all judges for the vote of each, and record these votes."""
    judges = list_judges(params)
    reply = await debate.say(
        SCRIPT,
        "script_votes",
        "panel/script_votes",
        schema=make_votes_schema(debate.task.labels, debate.task.multilabel, params.judges),
        private=True,
        round=number,
    )
    votes = (reply.parsed or {}) if reply.usable else {}
    for judge in judges:
        label = join_labels(votes.get(judge, ()), debate.task.labels)
        debate.record(
            judge,
            VOTE,
            label,
            source=reply.source,
            private=True,
            round=number,
            prediction=label or None,
            call_id=reply.call_id,
            parse_status="strict" if label else "failed" if reply.has_failed else "invalid",
        )


def decide_panel(debate: Debate, last_round: int) -> Answer | None:
    """Return the majority of the last round's positions, or None for a tie or no position.

    On appeals the vote of a judge whose statement takes no position counts, where judges vote. On
    other data the votes count.
    """
    calibrate_votes(debate)
    codes: dict[str, int] = {}
    votes: dict[str, str] = {}
    vote_list: list[str] = []
    for utterance in debate.utterances:
        if utterance.round != last_round:
            continue
        if utterance.kind == STATEMENT:
            codes[utterance.speaker] = label_statement(utterance.text, debate.case.text).code
        elif utterance.kind == VOTE and utterance.prediction:
            votes[utterance.speaker] = utterance.prediction
            vote_list.append(utterance.prediction)
    if not is_appeal(debate):
        return decide_by_majority(debate, vote_list)
    sides = [choose_side(code, votes.get(speaker)) for speaker, code in codes.items()]
    return decide_by_majority(debate, [side for side in sides if side])


def decide_by_majority(debate: Debate, sides: Sequence[str]) -> Answer | None:
    """Return the side of most judges with their share, or None for a tie or no side."""
    ranked = Counter(sides).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    share = sides.count(debate.task.positive) / len(sides) if debate.task.positive else None
    majority_share = ranked[0][1] / len(sides)
    return Answer(ranked[0][0], 100 * majority_share, share, probability=majority_share)


def choose_side(code: int, vote: str | None) -> str | None:
    """Return a judge's side by the code of the statement, or else by the vote."""
    return {AFFIRMED_CODE: AFFIRM, NOT_AFFIRMED_CODE: NOT_AFFIRM}.get(code, vote)


def calibrate_votes(debate: Debate) -> None:
    """Remove the content-free prior of the words from every vote (contextual calibration).

    A model may prefer "Yes" to any question. The log-probabilities of the words without case and
    record are that prior (Zhao et al. 2021).
    """
    blank_vote = next(
        (
            utterance.parsed
            for utterance in debate.utterances
            if utterance.kind == "blank_vote" and utterance.usable
        ),
        None,
    )
    for utterance in debate.utterances:
        if utterance.kind == VOTE and "logprobs" not in (utterance.parsed or {}):
            continue  # The vote of a person, or one that was generated.
        if utterance.kind == VOTE and utterance.parsed and utterance.usable and blank_vote:
            utterance.answer_likeliest(
                label_shares(subtract_prior(utterance.parsed["logprobs"], blank_vote["logprobs"]))
            )
        elif utterance.kind in (VOTE, "blank_vote"):
            utterance.prediction = utterance.confidence = utterance.probability = None
