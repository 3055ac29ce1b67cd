"""A debate: one case before its seats, and the record of everything that was said, by whom and to
whom.
"""

import json
from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from moot.core.cases import Case, Task
from moot.core.errors import CallFailedError, UserError
from moot.core.kinds import HUMAN, PUBLIC
from moot.core.types import Checked, Fields, Json, JsonObject
from moot.llm.parsing.ladder import describe_schema, json_schema, parse_reply
from moot.llm.prompts import Prompts
from moot.llm.request import Message, Reply, request_to
from moot.protocols.inbox import ask_by_inbox
from moot.protocols.people import (
    FORM_BELOW,
    AskPerson,
    Question,
    Statement,
    choice_form,
    form_of,
    is_person,
    name_of,
)
from moot.protocols.reading import read_choice, read_fields, read_filled_in, read_likelihood
from moot.protocols.utterances import Utterance, spoken

if TYPE_CHECKING:
    from moot.llm.chat import Chat

_REPLICATES_A_DEBATE = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a debate came to.

    Attributes:
        prediction: one of the task's labels, or several joined by ";".
        confidence: in the prediction, 0 to 100, as stated or derived; None where there is none.
        score: the probability of the task's positive label, where the protocol has one.
        logprobs: label to log-probability, for an answer by likelihood; calibrated later on
            validation cases.
        probability: of the prediction, by its log-probability, its share of votes, or its stated
            confidence.
        share: a stated confidence as it was written, if it may be a share of 1; and the seat and
            kind that stated it.
    """

    prediction: str
    confidence: float | None = None
    score: float | None = None
    logprobs: Mapping[str, float] | None = None
    probability: float | None = None
    share: Fields | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What all debates of a job share.

    Attributes:
        experiment, model: names in the configuration.
        chats: model name to its voice; `model` speaks for every seat that `seats` does not give to
            another.
        examples: the training split, for n-shot prompts; nothing else may be shown with its label.
        artifacts: files that the protocol asked for, by name.
        people: how a person is asked who sits in a seat.
    """

    experiment: str
    model: str
    chats: "Mapping[str, Chat]"
    params: Checked
    prompts: Prompts
    seed: int
    examples: Sequence[Case] = ()
    artifacts: Mapping[str, Path] = field(default_factory=dict)
    people: AskPerson = ask_by_inbox


class Debate:
    """One case, one repeat. Protocols speak through it; nothing is said that it does not record."""

    def __init__(self, case: Case, task: Task, repeat: int, setting: Setting) -> None:
        self.case = case
        self.task = task
        self.repeat = repeat
        self.utterances: list[Utterance] = []
        self.questions: list[Question] = []
        self.setting = setting
        self.params: Checked = setting.params
        self.seed, self.experiment, self.model = setting.seed, setting.experiment, setting.model
        self.examples, self.artifacts = setting.examples, setting.artifacts
        self._turns = 0
        self._asked: defaultdict[tuple[object, ...], int] = defaultdict(int)

    @property
    def debate_id(self) -> str:
        """Unique within experiment and model."""
        return f"{self.case.case_id}#{self.repeat}"

    def heard_by(self, seat: str) -> list[Utterance]:
        """What a seat may know: everything public, and its own private utterances; failed ones said
        nothing.
        """
        spoken = (said for said in self.utterances if not said.failed)
        return [
            said
            for said in spoken
            if said.visibility == PUBLIC or seat in said.visibility.split(",")
        ]

    def in_order(self, seats: Sequence[str]) -> list[str]:
        """Debaters in the order in which they speak; a control arm may change it."""
        return list(seats)

    async def unasked(
        self, _seat: str, _kind: str, _private: bool, _number: int
    ) -> Utterance | None:
        """What a seat says in a round without being asked; a control arm or a replay may know it."""
        return None

    def _heard(self, seat: str, heard: Sequence[Utterance] | None) -> Sequence[Utterance]:
        """What a prompt for a seat may quote."""
        return self.heard_by(seat) if heard is None else heard

    async def after(self, answer: Answer) -> Answer:
        """What is asked after the protocol came to an answer, and the answer then; a control arm
        may ask further.
        """
        return answer

    async def say(
        self,
        seat: str,
        kind: str,
        prompt: str,
        *,
        schema: type[BaseModel] | None = None,
        form: type[BaseModel] = Statement,
        private: bool = False,
        round: int = 0,  # noqa: A002 - the transcript's column
        heard: Sequence[Utterance] | None = None,
        **context: Json,
    ) -> Utterance:
        """Let a seat's model, or the person who sits there, answer a prompt, and record it.

        Args:
            kind: what it is (opening, strategy, belief, verdict, ...).
            prompt: template name below `config/prompts`, without ending.
            schema: what the reply must hold; `prediction` and `confidence` fields fill the
                utterance's columns.
            form: what a person fills in where there is no schema: `statement` or `prediction` is
                what is said.
            private: whether only this seat may read it later.
            round: from 1; 0 where there are none.
            heard: what the prompt may quote; by default everything that the seat may know now.

        Returns:
            The recorded utterance; a failed call or an unusable reply is recorded as such, never
            raised.

        Raises:
            DebatePausedError: a person sits there who has not answered yet.
        """
        if known := await self.unasked(seat, kind, private, round):
            return known
        heard = self._heard(seat, heard)
        said = self._begin(seat, kind, private, round)
        if self.is_a_persons(seat):
            answer = self._ask_person(
                said, prompt, schema or form, heard, reply_format=FORM_BELOW, **context
            )
            read_filled_in(said, answer, schema, self.task)
            return self._keep(said)
        reply_format = describe_schema(schema) if schema else ""
        messages = self._render(prompt, seat, heard, reply_format=reply_format, **context)
        most_tokens = self.params.form_tokens if schema else None
        reply = await self._ask(
            said, messages, schema=json_schema(schema) if schema else None, most_tokens=most_tokens
        )
        said.text = reply.text if reply else ""
        if schema and not said.failed:
            read_fields(said, parse_reply(said.text, schema), self.task, self.params.contradictory)
        return self._keep(said)

    async def choose(
        self,
        seat: str,
        kind: str,
        prompt: str,
        *,
        words: Mapping[str, str] | None = None,
        private: bool = False,
        round: int = 0,  # noqa: A002
        heard: Sequence[Utterance] | None = None,
        **context: Json,
    ) -> Utterance:
        """Score the task's labels by the log-probability of their words after a prompt, as multiple
        choice is scored.

                Args:
                    seat, kind, prompt, private, round, heard, context: as in `say`.
                    words: label to its word in the prompt; by default the label as prompts spell
                        it.

                Returns:
                    The recorded utterance: `parsed["logprobs"]` label to log-probability,
                    prediction the most probable label, confidence its share of the labels'
                    probability, 0 to 100. Labels whose words the server did not list are in
                    `parsed["unlisted"]`; where it listed none of them, the answer is invalid. A
                    person chooses one of the
                    words, and states a confidence: `parsed["shares"]` is then label to probability.

                Raises:
                    DebatePausedError: a person sits there who has not answered yet.
                    LogprobsUnavailableError: the endpoint gives no token probabilities.
        """
        if known := await self.unasked(seat, kind, private, round):
            return known
        heard = self._heard(seat, heard)
        said = self._begin(seat, kind, private, round)
        words = words or {label: spoken(label) for label in self.task.labels}
        if self.is_a_persons(seat):
            form = choice_form(tuple(words.values()))
            answer = self._ask_person(
                said, prompt, form, heard, reply_format="", words=words, **context
            )
            read_choice(said, answer, words)
            return self._keep(said)
        messages = self._render(prompt, seat, heard, reply_format="", words=words, **context)
        reply = await self._ask(said, messages, choices=tuple(words.values()))
        if reply is not None:
            read_likelihood(said, reply, words)
        return self._keep(said)

    def record(
        self,
        seat: str,
        kind: str,
        text: str,
        *,
        source: str = "human",
        private: bool = False,
        round: int = 0,  # noqa: A002
        **fields: Any,
    ) -> Utterance:
        """Record what a person said, or what the protocol itself worked out (`source="computed"`)."""
        said = self._begin(seat, kind, private, round)
        return self._keep(replace(said, text=text, source=source, **fields))

    def is_a_persons(self, seat: str) -> bool:
        """Whether a person sits in a seat.

        A rehearsal has a simulated voice there, which is asked as a model is.
        """
        voice = self._voice(seat)
        return is_person(voice) and voice not in self.setting.chats

    # How a person is asked

    def _ask_person(
        self,
        said: Utterance,
        prompt: str,
        form: type[BaseModel],
        heard: Sequence[Utterance],
        /,
        **context: Json,
    ) -> Fields:
        said.source = HUMAN
        asked = (said.speaker, said.kind, said.round)
        self._asked[asked] += 1
        sections = self.setting.prompts.render_for_person(
            prompt, **self._template_variables(said.speaker, heard), **context
        )
        sections = tuple(
            part._replace(text=part.text.removesuffix(FORM_BELOW).rstrip()) for part in sections
        )
        debate = (self.experiment, self.model, self.case.case_id, self.repeat)
        person = name_of(self._voice(said.speaker))
        place = (said.round, said.speaker, said.kind, self._asked[asked])
        question = Question(*debate, *place, person, sections, form_of(form))
        self.questions.append(question)
        return self.setting.people(question)

    # How a call is made and kept

    def _begin(self, seat: str, kind: str, private: bool, number: int) -> Utterance:
        """An utterance that has its turn, and no words yet."""
        self._turns += 1
        return Utterance(self._turns, number, seat, seat if private else PUBLIC, kind, "")

    def _keep(self, said: Utterance) -> Utterance:
        insort(self.utterances, said, key=lambda utterance: utterance.turn)
        return said

    def _voice(self, seat: str) -> str:
        """The model or person in a seat."""
        return str(self.params.seats.get(seat, self.setting.model))

    def _render(
        self, prompt: str, seat: str, heard: Sequence[Utterance], **context: Json
    ) -> tuple[Message, ...]:
        return self.setting.prompts.render(
            prompt, **self._template_variables(seat, heard), **context
        )

    def _template_variables(self, seat: str, heard: Sequence[Utterance]) -> JsonObject:
        """What every template sees of a debate."""
        return {
            "language": self.task.language,
            "case": self.case,
            "task": self.task,
            "seat": seat,
            "params": self.params,
            "heard": heard,
        }

    async def _ask(
        self,
        said: Utterance,
        messages: tuple[Message, ...],
        *,
        schema: Fields | None = None,
        choices: tuple[str, ...] = (),
        most_tokens: int | None = None,
    ) -> Reply | None:
        """Ask a model; the same question asked again in a debate is a further sample."""
        chat = self.setting.chats[self._voice(said.speaker)]
        model, params = chat.config, self.params
        if is_person(self._voice(said.speaker)):
            said.source = HUMAN
        question = (model.endpoint, model.model, messages, json.dumps(schema), choices)
        nth = self._asked[question]
        self._asked[question] += 1
        replicate = self.repeat * _REPLICATES_A_DEBATE + nth
        # An experiment's explicit temperature wins over the model's entry.
        explicit = "temperature" in params.model_fields_set
        request = request_to(
            model,
            messages,
            max_tokens=most_tokens or params.max_tokens or model.max_tokens,
            temperature=(
                params.temperature if explicit or model.temperature is None else model.temperature
            ),
            seed=(self.seed if model.seed is None else model.seed) + replicate,
            schema=schema,
            choices=choices,
        )
        try:
            said.call_id, reply = await chat.ask(request, replicate)
        except CallFailedError as error:
            paid = {"cost_usd": error.cost_usd} if error.cost_usd else {}
            said.parse_status, said.parsed = "failed", {"error": str(error), **paid}
            return None
        return reply


def transcript_row(debate: Debate, said: Utterance) -> JsonObject:
    """An utterance as a row of `transcripts/`."""
    row = {name: getattr(said, name) for name in Utterance.__dataclass_fields__}
    row["parsed"] = (
        json.dumps(said.parsed, ensure_ascii=False, sort_keys=True)
        if said.parsed is not None
        else None
    )
    identity = {
        "experiment": debate.experiment,
        "model": debate.model,
        "debate_id": debate.debate_id,
    }
    return {**identity, "case_id": debate.case.case_id, "repeat": debate.repeat, **row}


def check_labels(task: Task, answer: Answer) -> None:
    """Raise `UserError` if a protocol came to a label that the task does not have."""
    given = answer.prediction.split(";") if task.multilabel else [answer.prediction]
    unknown = [label for label in given if label not in task.labels and label]
    if unknown:
        raise UserError(
            f"the protocol answered {unknown}; the data set's labels are {list(task.labels)}."
        )
