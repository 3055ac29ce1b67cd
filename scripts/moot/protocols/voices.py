"""The voices of a debate: the model or person in each seat, and how each is asked."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel

from moot.core.errors import CallFailedError
from moot.core.types import CheckedValues, Fields, JsonObject
from moot.core.utterance_kinds import HUMAN, REFUSED
from moot.llm.prompts import Section
from moot.llm.request import Message, Reply, request_to
from moot.protocols.people import FORM_BELOW, Question, is_person, person_form, person_name
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance

if TYPE_CHECKING:
    from moot.core.model_config import ModelConfig

_REPLICATES_PER_DEBATE = 1000

_SCALE_OF_PEOPLE = 100

_REFUSALS = {
    "refusal": "the model refused to answer",
    "content_filter": "a filter for content stopped the reply",
}
"""Problems of refused replies by the reason why generation ended."""


class Voices:
    """The voices of one debate.

    Args:
        setup: What the job's debates share.
        case_id, repeat: The debate.
        roles: The name of each seat on these data, by seat.
        first_replicate: The replicate of a request's first call in this debate, before the offset
            for its repeat. Debates with different values share no samples.

    Attributes:
        questions: What people were asked.
    """

    def __init__(
        self,
        setup: JobSetup,
        case_id: str,
        repeat: int,
        roles: Mapping[str, str],
        first_replicate: int,
    ) -> None:
        self.questions: list[Question] = []
        self._setup, self._case_id, self._repeat = setup, case_id, repeat
        self._roles = roles
        self._params: CheckedValues = setup.params
        self._counts: defaultdict[tuple[object, ...], int] = defaultdict(lambda: first_replicate)
        self._limits_of_cut_calls: dict[str, int] = {}

    def is_human(self, seat: str) -> bool:
        """Return whether a person sits in a seat.

        In a rehearsal a voice that is asked like a model sits in the person's place.
        """
        voice = self._voice(seat)
        return is_person(voice) and voice not in self._setup.chats

    def confidence_scale(self, seat: str) -> int:
        """Return the scale on which the voice in a seat states confidences: 1 or 100.

        A person's form asks for a number from 0 to 100.
        """
        if self.is_human(seat):
            return _SCALE_OF_PEOPLE
        return self._setup.chats[self._voice(seat)].config.confidence_scale

    def ask_person(
        self, utterance: Utterance, sections: tuple[Section, ...], form: type[BaseModel]
    ) -> Fields:
        """Return what the person in the utterance's seat filled in.

        Raises:
            DebatePausedError: The person has not answered yet.
        """
        utterance.source = HUMAN
        seat, kind, round_number = utterance.speaker, utterance.kind, utterance.round
        nth = self._count(seat, kind, round_number) + 1
        question = Question(
            experiment=self._setup.experiment,
            model=self._setup.model,
            case_id=self._case_id,
            repeat=self._repeat,
            round=round_number,
            seat=seat,
            kind=kind,
            nth=nth,
            person=person_name(self._voice(seat)),
            sections=tuple(map(_without_form_notice, sections)),
            form=person_form(form),
            role=self._roles.get(seat, ""),
        )
        self.questions.append(question)
        return self._setup.people(question)

    async def ask_model(
        self,
        utterance: Utterance,
        messages: tuple[Message, ...],
        *,
        schema: Fields | None = None,
        choices: tuple[str, ...] = (),
        labels: tuple[str, ...] = (),
        max_tokens: int | None = None,
        sample: int | None = None,
    ) -> Reply | None:
        """Return the reply of the model in the utterance's seat; None after a failed call.

        The same request sent again in a debate is a further sample. `sample` numbers it where it is
        not the next one.
        """
        voice = self._voice(utterance.speaker)
        if is_person(voice):
            utterance.source = HUMAN
        chat = self._setup.chats[voice]
        model = chat.config
        if sample is None:
            sample = self.next_sample(utterance.speaker, messages, schema, choices)
        replicate = self._repeat * _REPLICATES_PER_DEBATE + sample
        request = request_to(
            model,
            messages,
            max_tokens=max_tokens or self._params.max_tokens or model.max_tokens,
            temperature=self._temperature(model),
            seed=(self._setup.seed if model.seed is None else model.seed) + replicate,
            schema=schema,
            choices=choices,
            labels=labels,
        )
        try:
            utterance.call_id, reply = await chat.ask(request, replicate)
        except CallFailedError as error:
            utterance.parse_status, utterance.parsed = "failed", _failure(error)
            return None
        if reply.finish_reason == "length":
            limit = request.parameters.get("max_tokens", max(1, reply.completion_tokens))
            self._limits_of_cut_calls[utterance.call_id] = limit
        if reply.finish_reason in _REFUSALS:
            utterance.parse_status = REFUSED
            utterance.parse_problem = _REFUSALS[reply.finish_reason]
            utterance.parsed = {"problem": utterance.parse_problem}
        return reply

    def next_sample(
        self,
        seat: str,
        messages: tuple[Message, ...],
        schema: Fields | None,
        choices: tuple[str, ...] = (),
    ) -> int:
        """Return the number of the next sample of a request in this debate."""
        model = self._setup.chats[self._voice(seat)].config
        return self._count(model.endpoint, model.model, messages, json.dumps(schema), choices)

    def attempts(self, seat: str) -> int:
        """Return how often the model in a seat is asked until its reply can be read."""
        return self._setup.chats[self._voice(seat)].config.attempts

    def limit_of_cut_reply(self, utterance: Utterance) -> int | None:
        """Return the limit of tokens at which the reply was cut off; None for a whole one."""
        return self._limits_of_cut_calls.get(utterance.call_id)

    def _voice(self, seat: str) -> str:
        """Return the model or person in a seat."""
        return str(self._params.seats.get(seat, self._setup.model))

    def _temperature(self, model: "ModelConfig") -> float:
        """Return the sampling temperature.

        A temperature of the experiment precedes the temperature of the model's entry.
        """
        is_stated = "temperature" in self._params.model_fields_set
        if is_stated or model.temperature is None:
            return float(self._params.temperature)
        return model.temperature

    def _count(self, *question: object) -> int:
        """Return how often a question was asked before."""
        count = self._counts[question]
        self._counts[question] += 1
        return count


def _failure(error: CallFailedError) -> JsonObject:
    failure: JsonObject = {"error": str(error)}
    if error.cost_usd:
        failure["cost_usd"] = error.cost_usd
    return failure


def _without_form_notice(section: Section) -> Section:
    return section._replace(text=section.text.removesuffix(FORM_BELOW).rstrip())
