"""What moved the judge: it answers again about a finished debate, unchanged and with one change.

A change removes or replaces one turn, or reorders the debaters. The answers about the unchanged
debate show the variation between repeated questions.

As the control `attribution` of a protocol whose debaters do not decide themselves, it asks the
judge in the judge's own prompts. As a separate experiment it shows any debates, including recorded
ones, to a model with its own prompts. Debaters are not asked again; `rerun_from: turn` also asks
them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from moot.analyses.attribution.config import AttributionConfig
from moot.analyses.attribution.replays import (
    CONTINUED,
    CONTINUED_UNCHANGED,
    REMOVED,
    REORDERED,
    REPLACED,
    SENTENCE,
    Change,
    DebateKey,
    is_verdict_unstable,
    replacement_texts,
    replay_debate,
    split_sentences,
)
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
NAMED_DECISIVE = "stated"
"""The way of the turn that the judge itself calls decisive."""
_EXACT_REPEATS = 2
"""The number of judgements of the unchanged debate if answers are log-probabilities.

The second answer is a check.
"""
_NO_TURN: Fields = {"speaker": "", "kind": "", "round": 0}


class AttributionParams(ProtocolParams, AttributionConfig):
    """Which debates are judged again, by which model, and with which changes."""

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

    @model_validator(mode="after")
    def _check_rerun(self) -> "AttributionParams":
        if self.rerun_from and not self.judge_protocol:
            raise ValueError(
                "`rerun_from` asks debaters again in their protocol's prompts. Name the protocol in"
                " `judge_protocol` and its parameters in `judge_protocol_params`, or leave"
                " `rerun_from` out"
            )
        return self


@dataclass(frozen=True, slots=True)
class _Judgement:
    """The answer to one replay.

    Attributes:
        change: The change in the replay.
        answer: The answer; None without a usable verdict.
        replies: The requested replies of the replay, in order.
    """

    change: Change
    answer: Answer | None
    replies: Sequence[Utterance]

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled, so that a repetition gives the same answer."""
        is_continued = self.change.way in (CONTINUED, CONTINUED_UNCHANGED)
        is_single_reply = len(self.replies) == 1 and not is_continued
        return is_single_reply and bool(self.answer and self.answer.logprobs)

    def probability_of(self, verdict: str) -> float | None:
        """Return the probability of a verdict, from log-probabilities, or else 1 if it is the
        answer.

        None without answer.
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


def _seats(params: AttributionParams) -> tuple[str, ...]:
    return (params.judge, *(_debaters(params) if params.rerun_from else ()))


def debates_with_turns(
    params: AttributionParams, artifacts: Mapping[str, Path]
) -> Mapping[DebateKey, RecordedDebate]:
    """Return the recorded debates by case and repeat, before some are drawn."""
    paths = tuple(path for name, path in artifacts.items() if name.partition("_")[0] == "debates")
    return read_debates(paths, frozenset(_debaters(params)), params.judge)


def _debates(setup: JobSetup) -> Mapping[DebateKey, RecordedDebate]:
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
    debates, params = _debates(setup), setup.params
    keys = [key for key, debate in debates.items() if debate.turns]
    if params.debate_selection == "changed":
        keys = [key for key in keys if is_verdict_unstable(debates, key, params.judge)]
    keys.sort(key=lambda key: (stable_fraction("attribution", setup.seed, *key), key))
    return repeats_by_case(keys[: params.debates]).get(case.case_id, [])


@protocol(
    ATTRIBUTION,
    AttributionParams,
    study="recorded",
    needs=_needs,
    repeats=chosen_repeats,
    options=Options(words="none"),
    seats=_seats,
)
async def attribution(debate: Debate, params: AttributionParams) -> Answer | None:
    """Judge the debate unchanged, then with each change; the answer is the judge's about the
    unchanged debate.
    """
    rejudging = _Rejudging(debate, params)
    first = await rejudging.judge([Change()], 1)
    verdict = await rejudging.verdict()
    if not verdict:
        rejudging.record(first, "")
        return first[0].answer
    is_exact = first[0].is_exact
    times = 1 if is_exact else params.repeats
    unchanged_times = _EXACT_REPEATS if is_exact else 2 * params.repeats
    unchanged, changed, continued = await asyncio.gather(
        rejudging.judge([Change()], unchanged_times - 1, start=1),
        rejudging.judge(rejudging.changes(), times),
        rejudging.judge(rejudging.continuations(), params.repeats),
    )
    unchanged = [*first, *unchanged]
    rejudging.record([*unchanged, *changed, *continued], verdict)
    if params.sentences:
        sentences = rejudging.sentence_changes(unchanged, changed, verdict)
        rejudging.record(await rejudging.judge(sentences, times), verdict)
    if params.ask_decisive_turn:
        await rejudging.ask_decisive_turn(verdict)
    return first[0].answer


class _Rejudging:
    """One debate about which the judge answers several times."""

    def __init__(self, debate: Debate, params: AttributionParams) -> None:
        self._debate = debate
        self._params = params
        self._entry = judge_protocol(params)
        self._debates = _debates(debate.setup)
        self._key = (debate.case.case_id, debate.repeat)
        self._recorded = self._debates[self._key]
        judge_params = _judge_params(params, self._entry) if self._entry else params
        self._setup = replace(debate.setup, params=judge_params)
        self._recorded_calls = set[str]()
        self._without_donor = list[Change]()
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
        reference = await self._judge_replay(Change(), -1)
        self._record_replies(reference)
        return reference.answer.prediction if reference.answer else ""

    def changes(self) -> list[Change]:
        """Return the changes of turns and of their order."""
        turns = self._recorded.turns
        changes = list[Change]()
        if REMOVED in self._params.interventions:
            changes += [Change(REMOVED, row["turn"]) for row in turns]
        if REPLACED in self._params.interventions:
            replacements = [self._replacement(row) for row in turns]
            changes += [change for change in replacements if change.texts]
            self._without_donor = [change for change in replacements if not change.texts]
        has_several_speakers = len({row["speaker"] for row in turns}) > 1
        if REORDERED in self._params.interventions and has_several_speakers:
            changes.append(Change(REORDERED))
        return changes

    def _replacement(self, row: Fields) -> Change:
        roles, limit = self._debate.task.roles, self._params.repeats
        texts = replacement_texts(self._debates, self._key, row, roles, limit)
        return Change(REPLACED, row["turn"], texts=texts)

    def continuations(self) -> Iterator[Change]:
        """Yield the turns from which the debate continues, each removed and unchanged."""
        if self._params.rerun_from:
            for way in (CONTINUED, CONTINUED_UNCHANGED):
                for row in self._recorded.turns:
                    yield Change(way, row["turn"])

    def sentence_changes(
        self, unchanged: Sequence[_Judgement], changed: Sequence[_Judgement], verdict: str
    ) -> list[Change]:
        """Return removals of sentences, as many as `sentences` allows.

        The sentences of the turns whose removal moved the judge most come first.
        """
        unchanged_mean = _mean_probability(unchanged, verdict, 0.0)
        judgements_without: dict[int, list[_Judgement]] = {}
        for judgement in changed:
            if judgement.change.way == REMOVED:
                judgements_without.setdefault(judgement.change.turn, []).append(judgement)
        moves: dict[int, float] = {}
        for turn, judgements in judgements_without.items():
            mean = _mean_probability(judgements, verdict, unchanged_mean)
            moves[turn] = abs(unchanged_mean - mean)
        texts = {row["turn"]: row["text"] for row in self._recorded.turns}
        changes = list[Change]()
        for turn in sorted(moves, key=lambda turn: (-moves[turn], turn)):
            for number, (quote, rest) in enumerate(split_sentences(texts[turn]), start=1):
                changes.append(Change(SENTENCE, turn, number, (rest,), quote))
        return changes[: self._params.sentences]

    async def judge(
        self, changes: Iterator[Change] | Sequence[Change], times: int, start: int = 0
    ) -> list[_Judgement]:
        """Judge each change some times, all of them at once."""
        numbers = range(start, start + times)
        judgements = [self._judge_replay(*replay) for replay in product(changes, numbers)]
        return await gather_statements(*judgements)

    async def _judge_replay(self, change: Change, replay_number: int) -> _Judgement:
        judge = self._params.judge
        debate, replay = replay_debate(
            self._debate, self._setup, self._recorded, change, replay_number, judge
        )
        if self._entry:
            answer = await self._entry.run(debate, self._setup.params)
        else:
            turns = self._recorded.turns
            for row in _reorder(turns) if change.way == REORDERED else turns:
                replay.play(row)
            answer = await _ask_verdict(debate, self._params)
        replies = [reply for reply in debate.utterances if _is_reply(reply, judge)]
        return _Judgement(change, answer, replies)

    def record(self, judgements: Sequence[_Judgement], verdict: str) -> None:
        """Record the replies, and the answers about each change."""
        by_change: dict[Change, list[_Judgement]] = {change: [] for change in self._without_donor}
        self._without_donor = []
        for judgement in judgements:
            self._record_replies(judgement)
            by_change.setdefault(judgement.change, []).append(judgement)
        for change, group in by_change.items():
            place, row = self._find_turn(change.turn)
            probabilities = [judgement.probability_of(verdict) for judgement in group]
            self._record_note(
                {
                    "way": change.way,
                    "number": change.number,
                    "place": place,
                    "verdict": verdict,
                    "turn": change.turn,
                    "speaker": row["speaker"],
                    "phase": row["kind"],
                    "quote": change.quote,
                    "values": [value for value in probabilities if value is not None],
                    "invalid": probabilities.count(None),
                    "exact": all(judgement.is_exact for judgement in group),
                }
            )

    def _find_turn(self, turn: int) -> tuple[int, Fields]:
        """Return the place of a turn, from 1, and its row; 0 if no turn has the number."""
        for place, row in enumerate(self._recorded.turns, start=1):
            if row["turn"] == turn:
                return place, row
        return 0, _NO_TURN

    def _record_note(self, note: JsonObject) -> None:
        self._debate.record(MOOT, ATTRIBUTED, "", source=COMPUTED, private=True, parsed=note)

    def _record_replies(self, judgement: _Judgement) -> None:
        """Record the replies of a replay, each call once."""
        for reply in judgement.replies:
            if reply.call_id and reply.call_id in self._recorded_calls:
                continue
            self._recorded_calls.add(reply.call_id)
            parsed: JsonObject = {
                "way": judgement.change.way,
                "turn": judgement.change.turn,
                "asked": reply.kind,
            }
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

    async def ask_decisive_turn(self, verdict: str) -> None:
        """Ask the judge which turn was decisive, in a separate call."""
        turns = [
            Utterance(0, row["round"], row["speaker"], "", row["kind"], row["text"])
            for row in self._recorded.turns
        ]
        reply = await self._debate.say(
            self._params.judge,
            NAMED_DECISIVE,
            "attribution/stated",
            schema=stated_schema(len(turns)),
            private=True,
            utterances=(),
            turns=turns,
            verdict=verdict,
        )
        if reply.usable and reply.parsed:
            place = int(reply.parsed["turn"])
            turn = self._recorded.turns[place - 1]["turn"]
            self._record_note(
                {"way": NAMED_DECISIVE, "turn": turn, "place": place, "verdict": verdict}
            )


def stated_schema(turns: int) -> type[BaseModel]:
    """Return the form of a reply that names one of so many turns."""
    number = Field(ge=1, le=turns, description="the number of the decisive turn")
    return create_model("Decisive", __config__=ConfigDict(extra="forbid"), turn=(int, number))


def _is_reply(utterance: Utterance, judge: str) -> bool:
    """Return whether an utterance was asked for, and not played from the transcript."""
    return bool(utterance.call_id) or (utterance.has_failed and utterance.speaker == judge)


def _mean_probability(judgements: Sequence[_Judgement], verdict: str, default: float) -> float:
    probabilities = [judgement.probability_of(verdict) for judgement in judgements]
    measured = [value for value in probabilities if value is not None]
    return sum(measured) / len(measured) if measured else default


def _reorder(turns: Sequence[Fields]) -> list[Fields]:
    """Return the turns with the speakers of each round in reversed order."""
    seats = list(dict.fromkeys(row["speaker"] for row in turns))
    return sorted(turns, key=lambda row: (row["round"], -seats.index(row["speaker"])))


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
