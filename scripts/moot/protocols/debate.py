"""A debate: one case before its seats, the record of its utterances, and interventions."""

import json
from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.types import CheckedValues, Fields, Json, JsonObject
from moot.core.utterance_kinds import ASKED_AGAIN, PUBLIC
from moot.llm.parsing.replies import parse_label, parse_reply
from moot.llm.parsing.schema import describe_schema, json_schema
from moot.llm.request import Message
from moot.protocols.people import FORM_BELOW, Statement, choice_form
from moot.protocols.setup import JobSetup
from moot.protocols.utterance_reading import read_choice, read_fields, read_form, read_likelihood
from moot.protocols.utterances import MOOT, Utterance, label_word
from moot.protocols.voices import Voices

SAMPLES_PER_ATTEMPT = 10_000_000
"""The samples of further attempts at a reply are apart from those of the first attempts, so that
they do not depend on the order in which replies arrive."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a protocol came to.

    Attributes:
        prediction: One of the task's labels, or several joined by ";".
        confidence: In the prediction, 0 to 100, as stated or derived; None if there is none.
        score: The probability of the task's positive label, where the protocol has one.
        logprobs: Label to log-probability, for an answer by likelihood; calibrated later on
            validation cases.
        probability: Of the prediction, by its log-probability, its share of votes, or its stated
            confidence.
    """

    prediction: str
    confidence: float | None = None
    score: float | None = None
    logprobs: Mapping[str, float] | None = None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A seat's turn to speak.

    Attributes:
        seat, kind, round: Columns of the utterance that the turn becomes.
        private: Whether only this seat may read the utterance later.
        words: Label to its word in the prompt, where the labels' likelihood is the answer.
    """

    seat: str
    kind: str
    private: bool = False
    round: int = 0
    words: Mapping[str, str] | None = None


class Intervention:
    """Changes a debate from outside, while its protocol runs unchanged.

    One object serves one debate. A debate calls its intervention before it asks a seat, in place of
    asking, in place of recording, when a prompt quotes the debate, and when a prompt is sent. This
    base class changes nothing; controls and replays override the methods that they need.

    Attributes:
        debate: The debate, from `start` on.
    """

    debate: "Debate"

    def start(self, debate: "Debate") -> None:
        """Prepare the intervention. It is called once, before any seat speaks."""
        self.debate = debate

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Return the debaters in the order in which they speak."""
        return list(seats)

    async def before_asking(self) -> None:
        """Do something before a model or person is asked."""

    def replace_asking(self, _turn: Turn, /) -> Utterance | None:
        """Return the utterance of a seat that is not to be asked; None to ask it."""
        return None

    def replace_recording(self, _turn: Turn, /) -> Utterance | None:
        """Return the utterance in place of one that the protocol records; None for none."""
        return None

    def hear(self, _seat: str, utterances: Sequence[Utterance], /) -> Sequence[Utterance]:
        """Return the utterances that a prompt for a seat may quote."""
        return utterances

    def frame(self, _utterance: Utterance, messages: tuple[Message, ...], /) -> tuple[Message, ...]:
        """Return the messages that are sent to a model for an utterance."""
        return messages


class Debate:
    """One case and repeat. Protocols let seats speak through it; it records every utterance.

    Args:
        case, task: The case, and its data set's description.
        repeat: Which debate about the case, from 0.
        setup: What the job's debates share.
        intervention: What is changed from outside; by default nothing.
        first_replicate: See `Voices`.
    """

    def __init__(
        self,
        case: Case,
        task: Task,
        repeat: int,
        setup: JobSetup,
        intervention: Intervention | None = None,
        first_replicate: int = 0,
    ) -> None:
        self.case, self.task, self.repeat, self.setup = case, task, repeat, setup
        self.params: CheckedValues = setup.params
        self.seed, self.experiment, self.model = setup.seed, setup.experiment, setup.model
        self.examples, self.artifacts = setup.examples, setup.artifacts
        self.utterances: list[Utterance] = []
        self.voices = Voices(setup, case.case_id, repeat, task.roles, first_replicate)
        self._turn_count = 0
        self.intervention = intervention or Intervention()
        self.intervention.start(self)

    @property
    def debate_id(self) -> str:
        """The debate's name, unique within experiment and model."""
        return f"{self.case.case_id}#{self.repeat}"

    def is_placeholder(self, utterance: Utterance) -> bool:
        """Return whether a preview made up the utterance.

        A protocol whose next calls depend on a reply makes the most calls after a placeholder, so
        that a preview counts an upper bound.
        """
        return utterance.call_id in self.setup.placeholders

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Return the debaters in the order in which they speak."""
        return self.intervention.speaking_order(seats)

    def readable_by(self, seat: str) -> Sequence[Utterance]:
        """Return what a seat may quote: public utterances and its own private ones.

        Utterances of failed calls are left out.
        """
        utterances = []
        for utterance in self.utterances:
            readers = utterance.visibility.split(",")
            if not utterance.has_failed and (utterance.visibility == PUBLIC or seat in readers):
                utterances.append(utterance)
        return self.intervention.hear(seat, utterances)

    async def say(  # noqa: PLR0913 - keywords of what is asked
        self,
        seat: str,
        kind: str,
        prompt: str,
        *,
        schema: type[BaseModel] | None = None,
        labels: Sequence[str] = (),
        form: type[BaseModel] = Statement,
        private: bool = False,
        round: int = 0,  # noqa: A002 - the transcript's column
        utterances: Sequence[Utterance] | None = None,
        **context: Json,
    ) -> Utterance:
        """Let the model or person in a seat answer a prompt, and record the utterance.

        Args:
            seat: Who speaks.
            kind: The kind of utterance (opening, strategy, belief, verdict, ...).
            prompt: Template name below `config/prompts`, without ending.
            schema: What the reply must hold. Its fields `prediction` and `confidence` fill the
                utterance's columns.
            labels: The words of which a reply without schema must be one; the word becomes the
                prediction.
            form: What a person fills in where there is no schema. Its field `statement` or
                `prediction` is the utterance's text.
            private: Whether only this seat may read the utterance later.
            round: From 1; 0 where there are no rounds.
            utterances: What the prompt may quote. Default: everything that the seat may read now.
            context: Further variables of the template; `SOMETIMES` of
                `commands/reference.py` describes each.

        Returns:
            The recorded utterance. A failed call or an unusable reply is recorded as such and
            raises nothing.

        Raises:
            DebatePausedError: The person in the seat has not answered yet.
        """
        turn = Turn(seat, kind, private, round)
        if replacement := await self._replace_asking(turn):
            return replacement
        utterances = self._quotable(seat, utterances)
        utterance = self._open(turn)
        if self.voices.is_human(seat):
            variables = {**self._variables(seat, utterances), "reply_format": FORM_BELOW, **context}
            filled_in = self._ask_person(utterance, prompt, schema or form, variables)
            read_form(utterance, filled_in, schema, self.task)
            if labels and not schema:
                read_fields(utterance, parse_label(utterance.text, labels), self.task)
            return self._keep(utterance)
        reply_format = describe_schema(schema) if schema else ""
        variables = {**self._variables(seat, utterances), "reply_format": reply_format, **context}
        messages = self._messages(utterance, prompt, variables)
        return self._keep(await self._ask_until_readable(turn, utterance, messages, schema, labels))

    async def _ask_until_readable(
        self,
        turn: Turn,
        utterance: Utterance,
        messages: tuple[Message, ...],
        schema: type[BaseModel] | None,
        labels: Sequence[str],
    ) -> Utterance:
        """Ask a model until its reply can be read, as often as the model's `attempts` says.

        Replies that cannot be read are recorded for the costs, and no seat reads them. A model that
        repeats itself word for word, as at temperature 0, is not asked again.
        """
        document = json_schema(schema) if schema else None
        sample = self.voices.next_sample(turn.seat, messages, document)
        max_tokens = self.params.form_tokens if schema else None
        unreadable_texts: set[str] = set()
        for attempt in range(1, self.voices.attempts(turn.seat) + 1):
            reply = await self.voices.ask_model(
                utterance,
                messages,
                schema=document,
                labels=tuple(labels) or self.task.labels,
                max_tokens=max_tokens,
                sample=sample,
            )
            utterance.text = reply.text if reply else ""
            self._read_reply(utterance, schema, labels)
            is_last = attempt == self.voices.attempts(turn.seat) or self.is_placeholder(utterance)
            is_repeated = utterance.text in unreadable_texts
            if utterance.parse_status != "invalid" or is_last or is_repeated:
                break
            unreadable_texts.add(utterance.text)
            utterance.kind, utterance.visibility = ASKED_AGAIN, MOOT
            insort(self.utterances, utterance, key=lambda entry: entry.turn)
            utterance, sample = self._open(turn), sample + SAMPLES_PER_ATTEMPT
        return utterance

    def _read_reply(
        self, utterance: Utterance, schema: type[BaseModel] | None, labels: Sequence[str]
    ) -> None:
        if utterance.has_failed or utterance.is_refused:
            return
        cut_at = self.voices.limit_of_cut_reply(utterance)
        if schema:
            scale = self.voices.confidence_scale(utterance.speaker)
            parsed = parse_reply(utterance.text, schema, cut_at=cut_at, confidence_scale=scale)
            read_fields(utterance, parsed, self.task)
        elif labels:
            read_fields(utterance, parse_label(utterance.text, labels, cut_at=cut_at), self.task)

    async def choose(
        self,
        seat: str,
        kind: str,
        prompt: str,
        *,
        words: Mapping[str, str] | None = None,
        private: bool = False,
        round: int = 0,  # noqa: A002
        utterances: Sequence[Utterance] | None = None,
        **context: Json,
    ) -> Utterance:
        """Score the task's labels by the log-probability of their words after a prompt.

        Args:
            seat, kind, prompt, private, round, utterances, context: As in `say`.
            words: Label to its word in the prompt. Default: the label as prompts spell it.

        Returns:
            The recorded utterance. `parsed["logprobs"]` is label to log-probability, the prediction
            is the most probable label, and the confidence its share of the labels' probability, 0
            to 100. Labels whose words the server did not list are in `parsed["unlisted"]`; where it
            listed none of them, the answer is invalid. A person chooses one of the words and states
            a confidence: `parsed["shares"]` is then label to probability.

        Raises:
            DebatePausedError: The person in the seat has not answered yet.
            LogprobsUnavailableError: The endpoint gives no token probabilities.
        """
        words = words or {label: label_word(label) for label in self.task.labels}
        turn = Turn(seat, kind, private, round, words)
        if replacement := await self._replace_asking(turn):
            return replacement
        utterances = self._quotable(seat, utterances)
        utterance = self._open(turn)
        variables = {
            **self._variables(seat, utterances),
            "reply_format": "",
            "words": words,
            **context,
        }
        choices = tuple(words.values())
        if self.voices.is_human(seat):
            filled_in = self._ask_person(utterance, prompt, choice_form(choices), variables)
            read_choice(utterance, filled_in, words)
            return self._keep(utterance)
        messages = self._messages(utterance, prompt, variables)
        reply = await self.voices.ask_model(utterance, messages, choices=choices)
        if reply is not None and not utterance.is_refused:
            read_likelihood(utterance, reply, words)
        return self._keep(utterance)

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
        """Record an utterance that no voice is asked for.

        Args:
            seat, kind, private, round: As in `say`.
            text: What was said, or what the protocol worked out (`source="computed"`).
            source: Where the text comes from.
            fields: Further columns of the utterance.
        """
        replacement = self.intervention.replace_recording(Turn(seat, kind, private, round))
        return replacement or self.add(
            seat, kind, text, source=source, private=private, round=round, **fields
        )

    def add(
        self,
        seat: str,
        kind: str,
        text: str,
        *,
        source: str,
        private: bool = False,
        round: int = 0,  # noqa: A002
        **fields: Any,
    ) -> Utterance:
        """Record an utterance as `record` does, without asking the intervention."""
        utterance = self._open(Turn(seat, kind, private, round))
        return self._keep(replace(utterance, text=text, source=source, **fields))

    async def _replace_asking(self, turn: Turn) -> Utterance | None:
        await self.intervention.before_asking()
        return self.intervention.replace_asking(turn)

    def _quotable(self, seat: str, utterances: Sequence[Utterance] | None) -> Sequence[Utterance]:
        return (
            self.readable_by(seat)
            if utterances is None
            else self.intervention.hear(seat, utterances)
        )

    def _open(self, turn: Turn) -> Utterance:
        """Return an utterance that has its place in the transcript, and no words yet."""
        self._turn_count += 1
        visibility = turn.seat if turn.private else PUBLIC
        return Utterance(self._turn_count, turn.round, turn.seat, visibility, turn.kind, "")

    def _keep(self, utterance: Utterance) -> Utterance:
        insort(self.utterances, utterance, key=lambda utterance: utterance.turn)
        return utterance

    def _variables(self, seat: str, utterances: Sequence[Utterance]) -> JsonObject:
        """Return the variables that every template of a debate sees."""
        return {
            "language": self.task.language,
            "case": self.case,
            "task": self.task,
            "seat": seat,
            "params": self.params,
            "heard": utterances,
        }

    def _messages(
        self, utterance: Utterance, prompt: str, variables: Fields
    ) -> tuple[Message, ...]:
        messages = self.setup.prompts.render(prompt, **variables)
        return self.intervention.frame(utterance, messages)

    def _ask_person(
        self, utterance: Utterance, prompt: str, form: type[BaseModel], variables: Fields
    ) -> Fields:
        sections = self.setup.prompts.render_for_person(prompt, **variables)
        return self.voices.ask_person(utterance, sections, form)


def transcript_row(debate: Debate, utterance: Utterance) -> JsonObject:
    """Return an utterance as a row of `transcripts/`."""
    row = {name: getattr(utterance, name) for name in Utterance.__dataclass_fields__}
    if utterance.parsed is not None:
        row["parsed"] = json.dumps(utterance.parsed, ensure_ascii=False, sort_keys=True)
    identity = {
        "experiment": debate.experiment,
        "model": debate.model,
        "debate_id": debate.debate_id,
    }
    return {**identity, "case_id": debate.case.case_id, "repeat": debate.repeat, **row}


def check_labels(task: Task, answer: Answer) -> None:
    """Raise `UserError` if an answer holds a label that the task does not have."""
    labels = answer.prediction.split(";") if task.multilabel else [answer.prediction]
    unknown_labels = [label for label in labels if label not in task.labels and label]
    if unknown_labels:
        raise UserError(
            f"the protocol answered {unknown_labels}; the data set's labels are"
            f" {list(task.labels)}."
        )
