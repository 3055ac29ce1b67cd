"""Debates of control arms: a protocol runs unchanged, and some of its seats speak or hear
differently.

What an arm did is in the transcript: rows of kind `arm` hold the text that it brought in, and which
    side or case it is.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow.compute as pc

from moot.core.artifacts import rows_by_debate
from moot.core.cases import Case, Task, stable_fraction
from moot.core.errors import UserError
from moot.core.kinds import ARM, CHALLENGE, COMMITMENT, PUBLIC, UNUSABLE
from moot.core.types import Fields, Json, JsonObject
from moot.llm.parsing.ladder import describe_schema
from moot.llm.request import Message, Reply
from moot.protocols import Debaters
from moot.protocols.debate import Answer, Debate, Setting
from moot.protocols.replies import prediction_schema, read_answer
from moot.protocols.utterances import Utterance, spoken

HELD = "held"
"""The artifact with the transcripts of the full experiment; further shards are `held_1`, ..."""
BORROWED = "borrowed"
NOBODY = "moot"
_ENDED = re.compile(r"""[.!?。！？…]["'”’»」』)\]）]*\s*$""")


class ArmDebate(Debate):
    """A debate whose debaters speak, or are heard, as a control arm says."""

    template = ""
    """The template of the words that the arm itself brings in, or a prefix of its templates."""

    def __init__(
        self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters
    ) -> None:
        super().__init__(case, task, repeat, setting)
        self._debaters = debaters
        self._seats = tuple(debaters.seats(setting.params))
        self._prepare()

    def _prepare(self) -> None:
        """What the arm settles before anyone speaks."""

    def _note(self, text: str, **parsed: object) -> None:
        """Record what the arm did, for readers of the transcript; no seat ever hears it."""
        Debate.record(self, NOBODY, ARM, text, source="computed", private=True, parsed=parsed)

    def _draw(self, purpose: str, count: int) -> int:
        """A number below `count`: drawn for the case, and another one for each of its repeats in
        turn.
        """
        first = int(stable_fraction(purpose, self.seed, self.case.case_id) * count)
        return (first + self.repeat) % count


def joint(text: str) -> str:
    """What separates a statement from planted words: a new paragraph where its last sentence was
    cut off.
    """
    return " " if _ENDED.search(text) else "\n\n"


def unsaid(seat: str, kind: str, status: str = "failed") -> Utterance:
    """What a seat that is not asked says: nothing, and it is not recorded."""
    return Utterance(
        0, 0, seat, NOBODY, kind, "", parsed={"strategy": "", "statement": ""}, parse_status=status
    )


class SwapDebate(ArmDebate):
    """Debaters speak in reversed order; which model has which seat is the experiment's parameter
    `seats`.
    """

    _noted = False

    def in_order(self, seats: Sequence[str]) -> list[str]:
        """Reversed; whose side speaks last is noted."""
        if not self._noted and self._debaters.given_sides(self.params):
            self._noted = True
            self._note(
                "", arm="swap", side=self._debaters.sides(self.params, self.task).get(seats[0], "")
            )
        return list(reversed(seats))


class ConsultancyDebate(ArmDebate):
    """Debaters of one side alone are asked.

    The judge is not told; which side it is, is drawn for each case.
    """

    def _prepare(self) -> None:
        self._sides = self._debaters.sides(self.params, self.task)
        labels = sorted(set(self._sides.values()))
        self.side = labels[self._draw("consultancy", len(labels))]
        self._note("", arm="consultancy", side=self.side)

    async def unasked(self, seat: str, kind: str, _private: bool, _number: int) -> Utterance | None:
        """Nothing, of a seat that argues another side."""
        return unsaid(seat, kind) if self._silent(seat) else None

    def record(self, seat: str, kind: str, text: str, **how: Json) -> Utterance:
        """As in a debate, unless the seat argues another side."""
        return unsaid(seat, kind) if self._silent(seat) else super().record(seat, kind, text, **how)

    def _silent(self, seat: str) -> bool:
        return self._sides.get(seat, self.side) != self.side


class NoiseDebate(ArmDebate):
    """What the judge hears was said in another case's debate of the same experiment and model.

    Debaters are not asked. Where those who argue also decide (a panel), each is asked, and hears
    noise from the others.
    """

    def _prepare(self) -> None:
        self._borrowed = _statements_for(self, self._seats)
        self._taken: Counter[tuple[str, str]] = Counter()
        self._noted: set[int] = set()

    async def unasked(self, seat: str, kind: str, private: bool, number: int) -> Utterance | None:
        """A debater's statement is borrowed; everybody else is asked."""
        if self._debaters.peers or seat not in self._seats:
            return None
        return unsaid(seat, kind, "strict") if private else self._borrow(seat, kind, number)

    def record(self, seat: str, kind: str, text: str, **how: Json) -> Utterance:
        """A debater's statement is borrowed."""
        if seat in self._seats and not self._debaters.peers:
            return self._borrow(seat, kind, how.get("round", 0))
        return super().record(seat, kind, text, **how)

    def _borrow(self, seat: str, kind: str, number: int) -> Utterance:
        found = self._next(seat, kind)
        if found is None:
            return unsaid(seat, kind)
        fields = {name: found[name] for name in ("prediction", "confidence")}
        parsed = json.loads(found["parsed"]) if found["parsed"] else None
        if not self._noted:
            self._note("", arm="noise", case=found["case_id"])
        said = super().record(
            seat, kind, found["text"], source=BORROWED, round=number, parsed=parsed, **fields
        )
        self._noted.add(said.turn)
        return said

    def _heard(self, seat: str, heard: Sequence[Utterance] | None) -> Sequence[Utterance]:
        """What is borrowed, of peers."""
        known = super()._heard(seat, heard)
        if not self._debaters.peers:
            return known
        return [
            self._instead(said) if said.speaker in self._seats and said.speaker != seat else said
            for said in known
        ]

    def _instead(self, said: Utterance) -> Utterance:
        alike = [
            other.turn
            for other in self.utterances
            if (other.speaker, other.kind) == (said.speaker, said.kind)
        ]
        found = self._nth(said.speaker, said.kind, alike.index(said.turn))
        text = str(found["text"]) if found else ""
        if said.turn not in self._noted:
            self._noted.add(said.turn)
            self._note(text, arm="noise", turn=said.turn, case=found["case_id"] if found else "")
        return replace(said, text=text)

    def _next(self, seat: str, kind: str) -> Fields | None:
        self._taken[seat, kind] += 1
        return self._nth(seat, kind, self._taken[seat, kind] - 1)

    def _nth(self, seat: str, kind: str, place: int) -> Fields | None:
        """The seat's nth statement of a kind; from the first again where the other debate was
        shorter.
        """
        said = self._borrowed.get((seat, kind), ())
        return said[place % len(said)] if said else None


class PlantDebate(ArmDebate):
    """Words are planted in what one debater says; which debater it is, is drawn for each case."""

    once = True
    everyone = False
    """Whether the others have words planted, too."""

    def _prepare(self) -> None:
        self.planted = self._seats[self._draw("plant", len(self._seats))]
        self._done: set[str] = set()

    def _keep(self, said: Utterance) -> Utterance:
        if super()._keep(said).visibility == PUBLIC:
            self._plant(said)
        return said

    def words_for(self, _speaker: str, _text: str) -> str:
        """What is added to a speaker's statement."""
        return self._words()

    def _words(self) -> str:
        [message] = self.setting.prompts.render(self.template, language=self.task.language)
        return message.content

    def _plant(self, said: Utterance) -> None:
        meant = said.speaker in self._seats if self.everyone else said.speaker == self.planted
        if not meant or not said.usable or (self.once and said.speaker in self._done):
            return
        holder = said.parsed if said.parsed and "statement" in said.parsed else None
        text = str(holder["statement"]) if holder else said.text
        if not text.strip():
            return
        words = self.words_for(said.speaker, text)
        self._done.add(said.speaker)
        whole = f"{text}{joint(text)}{words}"
        if holder:
            holder["statement"] = whole
        else:
            said.text = whole
        sides = (
            self._debaters.sides(self.params, self.task)
            if self._debaters.given_sides(self.params)
            else {}
        )
        side = sides.get(self.planted, "")
        self._note(
            words,
            arm=self.template.rpartition("/")[2],
            turn=said.turn,
            speaker=said.speaker,
            side=side,
        )


class FalseCitation(PlantDebate):
    """A decision that does not exist is cited for the debater's view."""

    template = "arms/plant_citation"


class Authority(PlantDebate):
    """Unnamed experts are said to be of the debater's view."""

    template = "arms/plant_authority"


class Certainty(PlantDebate):
    """The debater says to be sure beyond any doubt."""

    template = "arms/plant_certainty"


class Names(PlantDebate):
    """Debaters sign their first statements: the one who is drawn with the first name of the prompt,
    the others with the second, so that the side of a name is drawn, and nothing else about a
    statement follows it.
    """

    template = "arms/plant_names"
    everyone = True

    def words_for(self, speaker: str, _text: str) -> str:
        """The first of the prompt's two lines for the debater who is drawn."""
        first, second = (line for line in self._words().splitlines() if line.strip())
        return first if speaker == self.planted else second


class Padding(PlantDebate):
    """Every statement of the debater is made twice as long by sentences that say nothing."""

    template = "arms/plant_padding"
    once = False

    def words_for(self, _speaker: str, text: str) -> str:
        """Sentences, over and over, until they are as long as the statement."""
        sentences = [line for line in self._words().splitlines() if line.strip()]
        added: list[str] = []
        while sum(map(len, added)) + len(added) < len(text):
            added.append(sentences[len(added) % len(sentences)])
        return " ".join(added)


class CommitFirstDebate(ArmDebate):
    """Before anybody speaks the judge commits itself; its prompts then follow that exchange as
    further messages.
    """

    template = "arms/commit_first"

    def __init__(
        self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters
    ) -> None:
        super().__init__(case, task, repeat, setting, debaters)
        self._begun = False
        self._exchange: tuple[Message, ...] = ()

    async def unasked(
        self, _seat: str, _kind: str, _private: bool, _number: int
    ) -> Utterance | None:
        """Nothing: the first who is asked anything is asked after the judge has committed itself."""
        await self._commit()
        return None

    def heard_by(self, seat: str) -> list[Utterance]:
        """As in a debate; a model has its commitment before it as messages, not as notes."""
        heard = super().heard_by(seat)
        return (
            heard
            if self.is_a_persons(seat)
            else [said for said in heard if said.kind != COMMITMENT]
        )

    async def _commit(self) -> None:
        if self._begun:
            return
        self._begun, judge = True, self._debaters.judge
        schema = prediction_schema(self.task, name="Commitment", reasoning=True)
        said = await self.say(judge, COMMITMENT, self.template, schema=schema, private=True)
        if said.usable and said.prediction:
            self._note("", arm="commit_first", turn=said.turn, speaker=judge, side=said.prediction)
            if not self.is_a_persons(judge):
                asked = self._render(
                    self.template, judge, self.heard_by(judge), reply_format=describe_schema(schema)
                )
                self._exchange = (*_of_system(asked, False), Message("assistant", said.text))

    def _render(
        self, prompt: str, seat: str, heard: Sequence[Utterance], **context: Json
    ) -> tuple[Message, ...]:
        messages = super()._render(prompt, seat, heard, **context)
        if seat != self._debaters.judge or not self._exchange:
            return messages
        return (*_of_system(messages, True), *self._exchange, *_of_system(messages, False))


def _of_system(messages: Sequence[Message], system: bool) -> list[Message]:
    return [message for message in messages if (message.role == "system") == system]


class ChallengeDebate(ArmDebate):
    """After its answer the judge is told that it is wrong, more insistently each time, until it
    gives another one.
    """

    template = "arms/challenge"
    steps = 6

    def __init__(
        self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters
    ) -> None:
        super().__init__(case, task, repeat, setting, debaters)
        self._asked_of_judge: dict[int, tuple[Message, ...]] = {}
        self._exchange: tuple[Message, ...] = ()
        self._words: Mapping[str, str] | None = None

    async def after(self, answer: Answer) -> Answer:
        """The answer that the judge ends with; the one that the debate came to where no further one
        can be used.
        """
        judge = self._debaters.judge
        given = [
            said
            for said in self.utterances
            if said.speaker == judge and said.prediction and said.usable
        ]
        given = [
            said for said in given if said.turn in self._asked_of_judge or self.is_a_persons(judge)
        ]
        stated = [said for said in given if said.visibility == PUBLIC] or given
        if not stated:
            return answer
        self._note("", arm="challenge", turn=stated[-1].turn, speaker=judge, side=answer.prediction)
        self._go_on_from(stated[-1])
        for step in range(1, self.steps + 1):
            said = await self._challenge(judge, step)
            if said.usable and said.prediction:
                self._go_on_from(said)
                if said.prediction != answer.prediction:
                    return read_answer(self, said) or answer
        return answer

    async def choose(
        self,
        seat: str,
        kind: str,
        prompt: str,
        *,
        words: Mapping[str, str] | None = None,
        **how: Json,
    ) -> Utterance:
        """As in a debate; the judge is challenged in the words that it chose from."""
        if seat == self._debaters.judge and set(words or self.task.labels) == set(self.task.labels):
            self._words = words or {label: spoken(label) for label in self.task.labels}
        return await super().choose(seat, kind, prompt, words=words, **how)

    async def _challenge(self, judge: str, step: int) -> Utterance:
        asked: JsonObject = {"private": True, "round": step, "step": step}
        if self._words:
            return await self.choose(judge, CHALLENGE, self.template, words=self._words, **asked)
        return await self.say(
            judge, CHALLENGE, self.template, schema=prediction_schema(self.task), **asked
        )

    def _go_on_from(self, said: Utterance) -> None:
        """The next challenge follows what the judge was asked then and what it answered."""
        answered = said.text or (self._words or {}).get(said.prediction or "", "")
        self._exchange = (*self._asked_of_judge.get(said.turn, ()), Message("assistant", answered))

    def _render(
        self, prompt: str, seat: str, heard: Sequence[Utterance], **context: Json
    ) -> tuple[Message, ...]:
        messages = super()._render(prompt, seat, heard, **context)
        return (*self._exchange, *messages) if prompt == self.template else messages

    async def _ask(
        self, said: Utterance, messages: tuple[Message, ...], **how: Json
    ) -> Reply | None:
        if said.speaker == self._debaters.judge:
            self._asked_of_judge[said.turn] = messages
        return await super()._ask(said, messages, **how)


# Noise: which debate it comes from


def _statements_for(
    debate: Debate, seats: tuple[str, ...]
) -> Mapping[tuple[str, str], Sequence[Fields]]:
    """The debaters' statements of another case, by speaker and kind, in their order; of the same
    repeat if held.
    """
    paths = tuple(
        path for name, path in sorted(debate.artifacts.items()) if name.partition("_")[0] == HELD
    )
    held = _read(paths, seats)
    cases = sorted(
        {case for case, _ in held},
        key=lambda case: (stable_fraction("noise", debate.seed, case), case),
    )
    others = [case for case in cases if case != debate.case.case_id]
    if not others:
        raise UserError(
            f"experiment '{debate.experiment}': noise is what was said about another case, and the"
            " debates that it is taken from are about this one alone. Raise `cases`."
        )
    # The next one of the cases in a fixed order: each case lends its debate once.
    place = cases.index(debate.case.case_id) if debate.case.case_id in cases else -1
    donor = cases[(place + 1) % len(cases)] if place >= 0 else others[debate.repeat % len(others)]
    repeats = sorted(repeat for case, repeat in held if case == donor)
    return held[donor, debate.repeat if debate.repeat in repeats else repeats[0]]


@cache
def _read(
    paths: tuple[Path, ...], seats: tuple[str, ...]
) -> Mapping[tuple[str, int], Mapping[tuple[str, str], Sequence[Fields]]]:
    """The public statements of some seats that can be used, by case and repeat, then by speaker and
    kind.
    """
    columns = [
        "case_id",
        "repeat",
        "turn",
        "speaker",
        "kind",
        "text",
        "parsed",
        "prediction",
        "confidence",
    ]
    wanted = pc.field("speaker").isin(seats) & (pc.field("visibility") == PUBLIC)
    held: dict[tuple[str, int], dict[tuple[str, str], list[Fields]]] = {}
    for key, rows in rows_by_debate(paths, [*columns, "parse_status"], wanted).items():
        for row in rows:
            if row["text"].strip() and row["parse_status"] not in UNUSABLE:
                held.setdefault(key, {}).setdefault((row["speaker"], row["kind"]), []).append(row)
    return held
