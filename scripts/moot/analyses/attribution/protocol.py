"""What moved the judge: it answers again about a finished debate, unchanged and without each turn.

The answers about the unchanged debate show the variation between repeated questions. Debaters are
not asked again.

As the control `attribution` of a protocol whose debaters do not decide themselves, it asks the
judge in the judge's own prompts. As a separate experiment it shows any debates, including recorded
ones, to a model with its own prompts.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.analyses.attribution.config import AttributionConfig
from moot.analyses.attribution.replays import NO_TURN, replay_debate
from moot.core.artifacts import repeats_by_case
from moot.core.cases import Case, stable_fraction
from moot.core.likelihood import label_shares
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import COMPUTED, VERDICT
from moot.protocols import PROTOCOLS, Options, ProtocolEntry, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import gather_statements
from moot.protocols.replayed import RecordedDebate, missing_text_error, read_debates
from moot.protocols.reply_schemas import prediction_schema, read_answer
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import MOOT, Utterance

ATTRIBUTION = "attribution"
"""The name of the protocol, and of the control that runs it."""
ASKED_AGAIN = "asked again"
"""The kind of a reply to a replay."""
ATTRIBUTED = "attributed"
"""The kind of the row that notes the answers about a change."""
_EXACT_REPEATS = 2
"""The number of judgements of the unchanged debate if answers are log-probabilities.

The second answer is a check.
"""
_NO_TURN: Fields = {"speaker": "", "kind": "", "round": 0}


class AttributionParams(ProtocolParams, AttributionConfig):
    """Which debates are judged again, and by which model."""

    source_experiment: str = Field(
        description="the experiment whose debates are judged again, recorded or held by models"
    )
    source_model: str = Field(
        "{model}", description="the model whose debates of that experiment are judged again"
    )
    judge_protocol: str = Field(
        "",
        description=(
            "the protocol with whose prompts the judge is asked; default: prompts of `attribution`"
        ),
    )
    judge_protocol_params: Mapping[str, object] = Field(
        default_factory=dict, description="that protocol's parameters"
    )
    judge: str = Field(
        "judge", description="the seat that is asked, whose words in the debates are left out"
    )
    answer: Literal["generation", "likelihood"] = Field(
        "generation",
        description=(
            "with prompts of `attribution`: whether the model writes the answer, or the"
            " log-probabilities of the label words decide"
        ),
    )
    max_reason_chars: int = Field(
        0,
        ge=0,
        description=(
            "with prompts of `attribution`: most characters of the judge's reasons; 0: no limit"
        ),
    )


@dataclass(frozen=True, slots=True)
class _Judgement:
    """The answer to one replay.

    Attributes:
        removed_turn: The turn that is left out; `NO_TURN` for none.
        answer: The answer; None without a usable verdict.
        replies: The requested replies of the replay, in order.
    """

    removed_turn: int
    answer: Answer | None
    replies: Sequence[Utterance]

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled, so that a repetition gives the same answer."""
        return len(self.replies) == 1 and bool(self.answer and self.answer.logprobs)

    def probability_of(self, verdict: str) -> float | None:
        """Return the probability of a verdict.

        It comes from log-probabilities, or else is 1 for the answer and 0 for others. None without
        an answer.
        """
        if self.answer is None or not self.answer.prediction:
            return None
        if self.answer.logprobs:
            return label_shares(self.answer.logprobs).get(verdict)
        return float(self.answer.prediction == verdict)


def judge_protocol(params: AttributionParams) -> ProtocolEntry | None:
    """Return the protocol with whose prompts the judge is asked."""
    return PROTOCOLS[params.judge_protocol] if params.judge_protocol else None


def _needs(params: AttributionParams) -> dict[str, str]:
    artifacts = {"debates": f"transcripts/{params.source_experiment}/{params.source_model}"}
    entry = judge_protocol(params)
    if entry:
        artifacts |= entry.needs(_judge_params(params, entry))
    return artifacts


def _judge_params(params: AttributionParams, entry: ProtocolEntry) -> ProtocolParams:
    return entry.params.model_validate({**params.judge_protocol_params, "seats": params.seats})


def _debaters(params: AttributionParams) -> tuple[str, ...]:
    """Return the seats that argue; empty if the judge's protocol is unknown."""
    entry = judge_protocol(params)
    if entry is None or entry.debaters is None:
        return ()
    return tuple(entry.debaters.seats(_judge_params(params, entry)))


def debates_with_turns(
    params: AttributionParams, artifacts: Mapping[str, Path]
) -> Mapping[tuple[str, int], RecordedDebate]:
    """Return the recorded debates by case and repeat, before some are drawn."""
    paths = tuple(path for name, path in artifacts.items() if name.partition("_")[0] == "debates")
    return read_debates(paths, frozenset(_debaters(params)), params.judge)


def _debates(setup: JobSetup) -> Mapping[tuple[str, int], RecordedDebate]:
    """Return the debates that may be judged again.

    Raises:
        UserError: The texts of none are known.
    """
    params: AttributionParams = setup.params
    debates = debates_with_turns(params, setup.artifacts)
    if debates and not any(debate.turns for debate in debates.values()):
        raise missing_text_error(setup.experiment, params.source_experiment, "could be taken out")
    return debates


def chosen_repeats(setup: JobSetup, case: Case) -> list[int]:
    """Return the repeats of a case whose debates are judged again."""
    keys = [key for key, debate in _debates(setup).items() if debate.turns]
    keys.sort(key=lambda key: (stable_fraction("attribution", setup.seed, *key), key))
    return repeats_by_case(keys[: setup.params.debates]).get(case.case_id, [])


@protocol(
    ATTRIBUTION,
    AttributionParams,
    study="recorded",
    needs=_needs,
    repeats=chosen_repeats,
    options=Options(words="none"),
    seats=lambda params: (params.judge,),
)
async def attribution(debate: Debate, params: AttributionParams) -> Answer | None:
    """Judge the debate unchanged, then without each turn.

    The answer is the judge's about the unchanged debate.
    """
    rejudging = _Rejudging(debate, params)
    first = await rejudging.judge([NO_TURN], 1)
    verdict = await rejudging.verdict()
    if not verdict:
        rejudging.record(first, "")
        return first[0].answer
    is_exact = first[0].is_exact
    times = 1 if is_exact else params.repeats
    unchanged_times = _EXACT_REPEATS if is_exact else 2 * params.repeats
    unchanged, without_turns = await asyncio.gather(
        rejudging.judge([NO_TURN], unchanged_times - 1, start=1),
        rejudging.judge(rejudging.turn_numbers, times),
    )
    rejudging.record([*first, *unchanged, *without_turns], verdict)
    return first[0].answer


class _Rejudging:
    """One debate about which the judge answers several times."""

    def __init__(self, debate: Debate, params: AttributionParams) -> None:
        self._debate = debate
        self._params = params
        self._entry = judge_protocol(params)
        self._recorded = _debates(debate.setup)[debate.case.case_id, debate.repeat]
        judge_params = _judge_params(params, self._entry) if self._entry else params
        self._setup = replace(debate.setup, params=judge_params)
        self._recorded_calls = set[str]()
        for row in self._recorded.turns:
            debate.record(
                row["speaker"],
                row["kind"],
                row["text"],
                source=row["source"],
                round=row["round"],
            )

    async def verdict(self) -> str:
        """Return the verdict whose probability is measured.

        That is the debate's verdict, or, in prompts of `attribution`, an answer that is counted
        nowhere else.
        """
        if self._entry:
            return self._recorded.verdict
        reference = await self._judge_replay(NO_TURN, -1)
        self._record_replies(reference)
        return reference.answer.prediction if reference.answer else ""

    @property
    def turn_numbers(self) -> list[int]:
        """The numbers of the debate's turns."""
        return [row["turn"] for row in self._recorded.turns]

    async def judge(
        self, removed_turns: Sequence[int], times: int, start: int = 0
    ) -> list[_Judgement]:
        """Judge the debate without each of some turns several times, all of them at once."""
        numbers = range(start, start + times)
        judgements = [self._judge_replay(*replay) for replay in product(removed_turns, numbers)]
        return await gather_statements(*judgements)

    async def _judge_replay(self, removed_turn: int, replay_number: int) -> _Judgement:
        judge = self._params.judge
        debate, replay = replay_debate(
            self._debate, self._setup, self._recorded, removed_turn, replay_number, judge
        )
        if self._entry:
            answer = await self._entry.run(debate, self._setup.params)
        else:
            for row in self._recorded.turns:
                replay.play(row)
            answer = await _ask_verdict(debate, self._params)
        replies = [reply for reply in debate.utterances if _is_reply(reply, judge)]
        return _Judgement(removed_turn, answer, replies)

    def record(self, judgements: Sequence[_Judgement], verdict: str) -> None:
        """Record the replies, and the answers about each debate without a turn."""
        by_turn: dict[int, list[_Judgement]] = {}
        for judgement in judgements:
            self._record_replies(judgement)
            by_turn.setdefault(judgement.removed_turn, []).append(judgement)
        for turn, group in by_turn.items():
            place, row = self._find_turn(turn)
            probabilities = [judgement.probability_of(verdict) for judgement in group]
            note: JsonObject = {
                "turn": turn,
                "place": place,
                "verdict": verdict,
                "speaker": row["speaker"],
                "phase": row["kind"],
                "values": [value for value in probabilities if value is not None],
                "invalid": probabilities.count(None),
                "exact": all(judgement.is_exact for judgement in group),
            }
            self._debate.record(MOOT, ATTRIBUTED, "", source=COMPUTED, private=True, parsed=note)

    def _find_turn(self, turn: int) -> tuple[int, Fields]:
        """Return the place of a turn, from 1, and its row; 0 if no turn has the number."""
        for place, row in enumerate(self._recorded.turns, start=1):
            if row["turn"] == turn:
                return place, row
        return 0, _NO_TURN

    def _record_replies(self, judgement: _Judgement) -> None:
        """Record the replies of a replay, each call once."""
        for reply in judgement.replies:
            if reply.call_id and reply.call_id in self._recorded_calls:
                continue
            self._recorded_calls.add(reply.call_id)
            parsed: JsonObject = {"turn": judgement.removed_turn, "asked": reply.kind}
            if reply.has_failed and reply.parsed:
                parsed |= reply.parsed
            self._debate.record(
                reply.speaker,
                ASKED_AGAIN,
                reply.text,
                source=reply.source,
                private=True,
                call_id=reply.call_id,
                parse_status=reply.parse_status,
                parsed=parsed,
            )


def _is_reply(utterance: Utterance, judge: str) -> bool:
    """Return whether an utterance was asked for, and not played from the transcript."""
    return bool(utterance.call_id) or (utterance.has_failed and utterance.speaker == judge)


async def _ask_verdict(debate: Debate, params: AttributionParams) -> Answer | None:
    """Ask the judge for its verdict in prompts that name no protocol."""
    if params.answer == "likelihood":
        verdict = await debate.choose(params.judge, VERDICT, "attribution/verdict")
        return read_answer(debate, verdict)
    schema = prediction_schema(
        debate.task, name="Verdict", reasoning=True, max_reason_chars=params.max_reason_chars
    )
    verdict = await debate.say(params.judge, VERDICT, "attribution/verdict", schema=schema)
    return read_answer(debate, verdict)
