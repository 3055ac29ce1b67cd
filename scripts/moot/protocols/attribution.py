"""What moved the judge: it answers again about a debate that was held, with one turn taken out or
replaced, or with the debaters in another order; and about the debate as it was, which says what
changes by asking again alone.

It is the control arm `attribution` of any protocol whose debaters do not decide themselves, with
the judge's own prompts. As an experiment of its own it puts any debates, recorded ones too, before
a model, in words of its own. Debaters are not asked: what they would have said instead is another
question, which `rerun_from: turn` asks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from moot.core.artifacts import repeats_by_case
from moot.core.cases import Case, stable_fraction
from moot.core.experiment_config import AttributionConfig
from moot.core.kinds import ASKED_AGAIN, ATTRIBUTED, COMPUTED, VERDICT
from moot.core.likelihood import label_shares
from moot.core.types import Fields, JsonObject
from moot.protocols import PROTOCOLS, Options, ProtocolEntry, ProtocolParams, protocol
from moot.protocols.debate import Answer, Debate
from moot.protocols.people import all_spoken
from moot.protocols.replayed import (
    CONTINUED,
    CONTINUED_UNCHANGED,
    REMOVED,
    REORDERED,
    REPLACED,
    SENTENCE,
    Change,
    RecordedDebate,
    is_verdict_unstable,
    missing_text_error,
    read_debates,
    replacement_texts,
    replay_debate,
    split_sentences,
)
from moot.protocols.replies import prediction_schema, read_answer
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import MOOT, Utterance

ATTRIBUTION = "attribution"
"""The name of the protocol, and of the control arm that runs it."""
STATED = "stated"
"""The way of the turn that the judge itself calls decisive."""
_EXACT_WHOLE = 2
"""How often the whole debate is judged where log-probabilities alone are the answer: the second is
the check.
"""


class AttributionParams(ProtocolParams, AttributionConfig):
    """Which debates are judged again, by whom, and what is changed of them."""

    beside: str = Field(
        description="the experiment whose debates are judged again, recorded or held by models"
    )
    debated_by: str = Field(
        "{model}", description="the model of that experiment whose debates they are; none: the same"
    )
    judged_as: str = Field(
        "",
        description="the protocol in whose prompts the judge is asked; none: in words of its own",
    )
    judged_with: Mapping[str, object] = Field(
        default_factory=dict, description="that protocol's parameters"
    )
    judge: str = Field(
        "judge", description="the seat that is asked, whose own words in the debates are left out"
    )
    answer: Literal["generation", "likelihood"] = Field(
        "generation",
        description=(
            "in words of its own: generated, or read off the label words' log-probabilities"
        ),
    )
    characters: int = Field(
        0, ge=0, description="most characters of the judge's reasons there; 0: any"
    )

    @model_validator(mode="after")
    def _can_go_on(self) -> "AttributionParams":
        if self.rerun_from and not self.judged_as:
            raise ValueError(
                "`rerun_from` asks debaters again in their protocol's prompts. Name the protocol in"
                " `judged_as` and its parameters in `judged_with`, or leave `rerun_from` out"
            )
        return self


@dataclass(frozen=True, slots=True)
class _Judged:
    """One replay: its answer, what the judge said on the way, and whether no word of it was
    sampled.
    """

    change: Change
    answer: Answer | None
    said: Sequence[Utterance]

    @property
    def exact(self) -> bool:
        """Whether asking again would give the same."""
        alone = len(self.said) == 1 and self.change.way not in (CONTINUED, CONTINUED_UNCHANGED)
        return alone and bool(self.answer and self.answer.logprobs)

    def gives(self, verdict: str) -> float | None:
        """The probability of a verdict, by its log-probability, or 1 where it is the answer;
        None without answer.
        """
        if self.answer is None or not self.answer.prediction:
            return None
        if self.answer.logprobs:
            return label_shares(self.answer.logprobs).get(verdict)
        return float(self.answer.prediction == verdict)


def judge_of(params: AttributionParams) -> ProtocolEntry | None:
    """The protocol in whose prompts the judge is asked."""
    return PROTOCOLS[params.judged_as] if params.judged_as else None


def _needs(params: AttributionParams) -> dict[str, str]:
    found = {"debates": f"transcripts/{params.beside}/{params.debated_by}"}
    entry = judge_of(params)
    return found | dict(entry.needs(_own_params(params, entry)) if entry else {})


def _own_params(params: AttributionParams, entry: ProtocolEntry) -> ProtocolParams:
    return entry.params.model_validate({**params.judged_with, "seats": params.seats})


def _debaters(params: AttributionParams) -> tuple[str, ...]:
    """The seats that argue; none where the judge's protocol is not known."""
    entry = judge_of(params)
    return (
        tuple(entry.debaters.seats(_own_params(params, entry))) if entry and entry.debaters else ()
    )


def _asked(params: AttributionParams) -> tuple[str, ...]:
    return (params.judge, *(_debaters(params) if params.rerun_from else ()))


def debates_with_turns(
    params: AttributionParams, artifacts: Mapping[str, Path]
) -> Mapping[tuple[str, int], RecordedDebate]:
    """The held debates by case and repeat, before any are chosen."""
    paths = tuple(path for name, path in artifacts.items() if name.partition("_")[0] == "debates")
    return read_debates(paths, frozenset(_debaters(params)), params.judge)


def _debates(setup: JobSetup) -> Mapping[tuple[str, int], RecordedDebate]:
    """The debates that may be judged again; raises `UserError` where no words are known."""
    params: AttributionParams = setup.params
    found = debates_with_turns(params, setup.artifacts)
    if found and not any(held.turns for held in found.values()):
        raise missing_text_error(setup.experiment, params.beside, "could be taken out")
    return found


def chosen_repeats(setup: JobSetup, case: Case) -> list[int]:
    """The repeats of a case whose debates are judged again."""
    found, params = _debates(setup), setup.params
    keys = [key for key, held in found.items() if held.turns]
    if params.chosen == "changed":
        keys = [key for key in keys if is_verdict_unstable(found, key, params.judge)]
    keys.sort(key=lambda key: (stable_fraction("attribution", setup.seed, *key), key))
    return repeats_by_case(keys[: params.debates]).get(case.case_id, [])


@protocol(
    ATTRIBUTION,
    AttributionParams,
    study="recorded",
    needs=_needs,
    repeats=chosen_repeats,
    options=Options(words="none"),
    seats=_asked,
)
async def attribution(debate: Debate, params: AttributionParams) -> Answer | None:
    """Judge the debate as it was, then with each change; the answer is the judge's about the debate
    as it was.
    """
    asked = _Rejudged(debate, params)
    first = await asked.judge([Change()], 1)
    verdict = await asked.verdict()
    if not verdict:
        asked.keep(first, "")
        return first[0].answer
    times = 1 if first[0].exact else params.repeats
    whole = _EXACT_WHOLE if first[0].exact else 2 * params.repeats
    rest, changed, gone_on = await asyncio.gather(
        asked.judge([Change()], whole - 1, start=1),
        asked.judge(asked.changes(), times),
        asked.judge(asked.to_go_on_from(), params.repeats),
    )
    asked.keep([*first, *rest, *changed, *gone_on], verdict)
    if params.sentences:
        asked.keep(
            await asked.judge(asked.sentences_of([*first, *rest], changed, verdict), times), verdict
        )
    if params.stated:
        await asked.state(verdict)
    return first[0].answer


class _Rejudged:
    """One debate before its judge, again and again."""

    def __init__(self, debate: Debate, params: AttributionParams) -> None:
        self._debate, self._params, self._entry = debate, params, judge_of(params)
        self._all = _debates(debate.setup)
        self._key = (debate.case.case_id, debate.repeat)
        self._held = self._all[self._key]
        own = _own_params(params, self._entry) if self._entry else params
        self._setup = replace(debate.setup, params=own)
        self._kept, self._without_donor = set[str](), list[Change]()
        for row in self._held.turns:
            debate.record(
                row["speaker"],
                row["kind"],
                row["text"],
                source=row["source"],
                round=row["round"],
            )

    async def verdict(self) -> str:
        """The verdict that is measured: that which was given, or an answer that counts for nothing
        else.
        """
        if self._entry:
            return self._held.verdict
        reference = await self._judge(Change(), -1)
        self._keep_said(reference)
        return reference.answer.prediction if reference.answer else ""

    def changes(self) -> list[Change]:
        """What is changed, one after the other."""
        params, turns, found = self._params, self._held.turns, list[Change]()
        if REMOVED in params.ways:
            found += [Change(REMOVED, row["turn"]) for row in turns]
        if REPLACED in params.ways:
            roles = self._debate.task.roles
            texts = {
                row["turn"]: replacement_texts(self._all, self._key, row, roles, params.repeats)
                for row in turns
            }
            replaced = [Change(REPLACED, turn, texts=given) for turn, given in texts.items()]
            found += [change for change in replaced if change.texts]
            self._without_donor = [change for change in replaced if not change.texts]
        if REORDERED in params.ways:
            found += [Change(REORDERED)] if len({row["speaker"] for row in turns}) > 1 else []
        return found

    def to_go_on_from(self) -> list[Change]:
        """The turns from which the debate goes on, each taken out and as it was."""
        ways = (CONTINUED, CONTINUED_UNCHANGED) if self._params.rerun_from else ()
        return [Change(way, row["turn"]) for way in ways for row in self._held.turns]

    def sentences_of(
        self, whole: Sequence[_Judged], changed: Sequence[_Judged], verdict: str
    ) -> list[Change]:
        """The sentences of the turns that moved most when they were taken out, as many as may be
        asked about.
        """
        before, moves = _mean(whole, verdict, 0.0), dict[int, float]()
        for turn in {judged.change.turn for judged in changed if judged.change.way == REMOVED}:
            without = [
                one for one in changed if (one.change.way, one.change.turn) == (REMOVED, turn)
            ]
            moves[turn] = abs(before - _mean(without, verdict, before))
        texts = {row["turn"]: row["text"] for row in self._held.turns}
        found = [
            Change(SENTENCE, turn, number, (rest,), quote)
            for turn in sorted(moves, key=lambda turn: (-moves[turn], turn))
            for number, (quote, rest) in enumerate(split_sentences(texts[turn]), start=1)
        ]
        return found[: self._params.sentences]

    async def judge(self, changes: Sequence[Change], times: int, start: int = 0) -> list[_Judged]:
        """Judge each change so often, all at once."""
        replays = ((change, again) for change in changes for again in range(start, start + times))
        return await all_spoken(*(self._judge(change, again) for change, again in replays))

    async def _judge(self, change: Change, again: int) -> _Judged:
        judge = self._params.judge
        debate, replay = replay_debate(self._debate, self._setup, self._held, change, again, judge)
        if self._entry:
            answer = await self._entry.run(debate, self._setup.params)
        else:
            turns = self._held.turns
            turns = _reordered(turns) if change.way == REORDERED else turns
            for row in turns:
                replay.play(row)
            answer = await _ask_verdict(debate, self._params)
        said = [
            one for one in debate.utterances if one.call_id or (one.failed and one.speaker == judge)
        ]
        return _Judged(change, answer, said)

    def keep(self, judged: Sequence[_Judged], verdict: str) -> None:
        """Record what was said, and what came of each change."""
        by_change: dict[Change, list[_Judged]] = {change: [] for change in self._without_donor}
        self._without_donor = []
        for one in judged:
            self._keep_said(one)
            by_change.setdefault(one.change, []).append(one)
        places = {row["turn"]: (place, row) for place, row in enumerate(self._held.turns, start=1)}
        for change, ones in by_change.items():
            place, row = places.get(change.turn, (0, {"speaker": "", "kind": "", "round": 0}))
            values = [one.gives(verdict) for one in ones]
            about: JsonObject = {
                "way": change.way,
                "number": change.number,
                "place": place,
                "verdict": verdict,
            }
            about |= {
                "turn": change.turn,
                "speaker": row["speaker"],
                "phase": row["kind"],
                "quote": change.quote,
            }
            about |= {
                "values": [value for value in values if value is not None],
                "invalid": values.count(None),
            }
            about["exact"] = all(one.exact for one in ones)
            self._note(about)

    def _note(self, about: Fields) -> None:
        self._debate.record(MOOT, ATTRIBUTED, "", source=COMPUTED, private=True, parsed=dict(about))

    def _keep_said(self, judged: _Judged) -> None:
        for said in judged.said:
            if not said.call_id or said.call_id not in self._kept:
                self._kept.add(said.call_id)
                about = {"way": judged.change.way, "turn": judged.change.turn, "asked": said.kind}
                trouble = said.parsed if said.failed and said.parsed else {}
                self._debate.record(
                    said.speaker,
                    ASKED_AGAIN,
                    said.text,
                    source=said.source,
                    private=True,
                    call_id=said.call_id,
                    parse_status=said.parse_status,
                    parsed={**about, **trouble},
                )

    async def state(self, verdict: str) -> None:
        """Ask which turn was decisive, in a call of its own."""
        turns = [
            Utterance(0, row["round"], row["speaker"], "", row["kind"], row["text"])
            for row in self._held.turns
        ]
        schema = stated_schema(len(turns))
        said = await self._debate.say(
            self._params.judge, STATED, "attribution/stated", schema=schema, private=True, heard=(), turns=turns,
            verdict=verdict,
        )  # fmt: skip
        if said.usable and said.parsed:
            place = int(said.parsed["turn"])
            turn = self._held.turns[place - 1]["turn"]
            self._note({"way": STATED, "turn": turn, "place": place, "verdict": verdict})


def stated_schema(turns: int) -> type[BaseModel]:
    """The reply that names one of so many turns."""
    number = Field(ge=1, le=turns, description="the number of the decisive turn")
    return create_model("Decisive", __config__=ConfigDict(extra="forbid"), turn=(int, number))


def _mean(judged: Sequence[_Judged], verdict: str, unknown: float) -> float:
    values = [value for one in judged if (value := one.gives(verdict)) is not None]
    return sum(values) / len(values) if values else unknown


def _reordered(turns: Sequence[Fields]) -> list[Fields]:
    """Turns with the speakers of each round in reversed order."""
    seats = list(dict.fromkeys(row["speaker"] for row in turns))
    return sorted(turns, key=lambda row: (row["round"], -seats.index(row["speaker"])))


async def _ask_verdict(debate: Debate, params: AttributionParams) -> Answer | None:
    """Ask the judge for its verdict in prompts that name no protocol."""
    if params.answer == "likelihood":
        verdict = await debate.choose(params.judge, VERDICT, "attribution/verdict")
        return read_answer(debate, verdict)
    schema = prediction_schema(
        debate.task, name="Verdict", reasoning=True, characters=params.characters
    )
    verdict = await debate.say(params.judge, VERDICT, "attribution/verdict", schema=schema)
    return read_answer(debate, verdict)
