"""Interventions of control arms that change who speaks, and what debaters say.

Rows of kind `arm` in the transcript record the actions of an arm: the text that it added, and the
side or case that it drew.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moot.analyses.arms.arm_kinds import ARM
from moot.core.cases import stable_fraction
from moot.core.utterance_kinds import COMPUTED, PUBLIC
from moot.protocols import Debaters
from moot.protocols.debate import Debate, Intervention, Turn
from moot.protocols.utterances import MOOT, Utterance, empty_utterance

_SENTENCE_END = re.compile(r"""[.!?。！？…]["'”’»」』)\]）]*\s*$""")


class ArmIntervention(Intervention):
    """What every control arm's intervention needs.

    Args:
        debaters: Who argues in the protocol.

    Attributes:
        seats: The seats that argue.
        sides: Seat to the label that it argues for; empty if debaters are told no side.
    """

    def __init__(self, debaters: Debaters) -> None:
        self.debaters = debaters

    def start(self, debate: Debate) -> None:
        """Look up seats and sides."""
        super().start(debate)
        self.seats = tuple(self.debaters.seats(debate.params))
        self.sides = self.debaters.assigned_sides(debate.params, debate.task)

    def note(self, text: str = "", **parsed: object) -> None:
        """Record an action of the arm for readers of the transcript. No seat reads it."""
        self.debate.add(MOOT, ARM, text, source=COMPUTED, private=True, parsed=parsed)

    def draw(self, purpose: str, count: int) -> int:
        """Return a number below `count`.

        The first repeat's number is drawn for the case; the following repeats take the next ones in
        turn.
        """
        fraction = stable_fraction(purpose, self.debate.seed, self.debate.case.case_id)
        return (int(fraction * count) + self.debate.repeat) % count


class Swap(ArmIntervention):
    """Debaters speak in reversed order.

    The experiment's parameter `seats` says which model has which seat.
    """

    is_noted = False

    def speaking_order(self, seats: Sequence[str]) -> list[str]:
        """Reverse the order, and note whose side speaks last."""
        if self.sides and not self.is_noted:
            self.is_noted = True
            self.note(arm="swap", side=self.sides.get(seats[0], ""))
        return list(reversed(seats))


class Consultancy(ArmIntervention):
    """Only debaters of one side are asked.

    The side is drawn for each case; the judge is not told.
    """

    def start(self, debate: Debate) -> None:
        """Draw the side."""
        super().start(debate)
        labels = sorted(set(self.sides.values()))
        self.side = labels[self.draw("consultancy", len(labels))]
        self.note(arm="consultancy", side=self.side)

    def replace_asking(self, turn: Turn) -> Utterance | None:
        """Silence the seats that argue another side."""
        if self.sides.get(turn.seat, self.side) == self.side:
            return None
        return empty_utterance(turn.seat, turn.kind)

    replace_recording = replace_asking


@dataclass(frozen=True, slots=True)
class Plant:
    """Words that a control arm adds to what debaters say.

    Attributes:
        template: The prompt template that holds the words.
        words: The rendered template, the debater's statement, and whether the debater is the one
            who was drawn, to the words that are added.
        every_debater: Whether all debaters have words added, or only the one who was drawn.
        every_statement: Whether words are added to all statements of a debater, or only the first.
    """

    template: str
    words: Callable[[str, str, bool], str] = lambda text, _statement, _is_drawn: text
    every_debater: bool = False
    every_statement: bool = False


def signature(text: str, _statement: str, is_drawn: bool) -> str:
    """Return the template's first line for the debater who was drawn, else its second line.

    The side of each name is drawn, and nothing else about a statement depends on it.
    """
    first, second = _lines(text)
    return first if is_drawn else second


def padding(text: str, statement: str, _is_drawn: bool) -> str:
    """Repeat the template's sentences, which say nothing, until they are as long as the
    statement.
    """
    sentences = _lines(text)
    added: list[str] = []
    while sum(map(len, added)) + len(added) < len(statement):
        added.append(sentences[len(added) % len(sentences)])
    return " ".join(added)


class Planting(ArmIntervention):
    """Words are added to public statements of a debater. The debater is drawn for each case."""

    def __init__(self, debaters: Debaters, plant: Plant) -> None:
        super().__init__(debaters)
        self.plant = plant
        self.finished_seats: set[str] = set()

    def start(self, debate: Debate) -> None:
        """Draw the debater."""
        super().start(debate)
        self.drawn_seat = self.seats[self.draw("plant", len(self.seats))]

    def after_utterance(self, utterance: Utterance) -> None:
        """Add the words, and note them."""
        statement = statement_of(utterance)
        if not self._is_planted(utterance) or not statement.strip():
            return
        self.finished_seats.add(utterance.speaker)
        is_drawn = utterance.speaker == self.drawn_seat
        words = self.plant.words(self._template_text(), statement, is_drawn)
        set_statement(utterance, f"{statement}{separator(statement)}{words}")
        self.note(
            words,
            arm=self.plant.template.rpartition("/")[2],
            turn=utterance.turn,
            speaker=utterance.speaker,
            side=self.sides.get(self.drawn_seat, ""),
        )

    def _is_planted(self, utterance: Utterance) -> bool:
        seat = utterance.speaker
        is_seat_meant = seat in self.seats if self.plant.every_debater else seat == self.drawn_seat
        is_finished = seat in self.finished_seats and not self.plant.every_statement
        is_public = utterance.visibility == PUBLIC
        return is_seat_meant and is_public and utterance.usable and not is_finished

    def _template_text(self) -> str:
        prompts, language = self.debate.setup.prompts, self.debate.task.language
        [message] = prompts.render(self.plant.template, language=language)
        return message.content


def statement_of(utterance: Utterance) -> str:
    """Return the statement in an utterance: a field of its reply, or else its text."""
    if utterance.parsed and "statement" in utterance.parsed:
        return str(utterance.parsed["statement"])
    return utterance.text


def set_statement(utterance: Utterance, statement: str) -> None:
    """Replace the statement in an utterance."""
    if utterance.parsed and "statement" in utterance.parsed:
        utterance.parsed["statement"] = statement
    else:
        utterance.text = statement


def separator(statement: str) -> str:
    """Return what separates a statement from added words.

    It is a new paragraph if the statement's last sentence was cut off, else a space.
    """
    return " " if _SENTENCE_END.search(statement) else "\n\n"


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
