"""Debates of control arms: a protocol runs unchanged, and some of its seats speak or hear differently.

What an arm did is in the transcript: rows of kind `arm` hold the text that it brought in, and which side or case it is.
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
from moot.core.kinds import ARM, PUBLIC, UNUSABLE
from moot.core.types import Fields, Json
from moot.protocols import Debaters
from moot.protocols.debate import Debate, Setting
from moot.protocols.utterances import Utterance

HELD = "held"
"""The artifact with the transcripts of the full experiment; further shards are `held_1`, ..."""
BORROWED = "borrowed"
NOBODY = "moot"
_ENDED = re.compile(r"""[.!?。！？…]["'”’»」』)\]）]*\s*$""")


class ArmDebate(Debate):
    """A debate whose debaters speak, or are heard, as a control arm says."""

    template = ""
    """The template of the words that the arm itself brings in, or a prefix of its templates."""

    def __init__(self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters) -> None:
        super().__init__(case, task, repeat, setting)
        self._debaters = debaters
        self._seats = tuple(debaters.seats(setting.params))

    def _note(self, text: str, **parsed: object) -> None:
        """Record what the arm did, for readers of the transcript; no seat ever hears it."""
        Debate.record(self, NOBODY, ARM, text, source="computed", private=True, parsed=parsed)

    def _draw(self, purpose: str, count: int) -> int:
        """A number below `count`: drawn for the case, and another one for each of its repeats in turn."""
        first = int(stable_fraction(purpose, self.seed, self.case.case_id) * count)
        return (first + self.repeat) % count


def joint(text: str) -> str:
    """What separates a statement from planted words: a new paragraph where its last sentence was cut off."""
    return " " if _ENDED.search(text) else "\n\n"


def _unsaid(seat: str, kind: str, status: str = "failed") -> Utterance:
    """What a seat that is not asked says: nothing, and it is not recorded."""
    return Utterance(0, 0, seat, NOBODY, kind, "", parsed={"strategy": "", "statement": ""}, parse_status=status)


class SwapDebate(ArmDebate):
    """Debaters speak in reversed order; which model has which seat is the experiment's parameter `seats`."""

    def in_order(self, seats: Sequence[str]) -> list[str]:
        """Reversed."""
        return list(reversed(seats))


class ConsultancyDebate(ArmDebate):
    """Debaters of one side alone are asked. The judge is not told; which side it is, is drawn for each case."""

    def __init__(self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters) -> None:
        super().__init__(case, task, repeat, setting, debaters)
        self._sides = debaters.sides(self)
        labels = sorted(set(self._sides.values()))
        self.side = labels[self._draw("consultancy", len(labels))]
        self._note("", arm="consultancy", side=self.side)

    async def say(self, seat: str, kind: str, prompt: str, **how: Json) -> Utterance:
        """As in a debate, unless the seat argues another side."""
        return _unsaid(seat, kind) if self._silent(seat) else await super().say(seat, kind, prompt, **how)

    def record(self, seat: str, kind: str, text: str, **how: Json) -> Utterance:
        """As in a debate, unless the seat argues another side."""
        return _unsaid(seat, kind) if self._silent(seat) else super().record(seat, kind, text, **how)

    def _silent(self, seat: str) -> bool:
        return self._sides.get(seat, self.side) != self.side


class NoiseDebate(ArmDebate):
    """What the judge hears was said in another case's debate of the same experiment and model.

    Debaters are not asked. Where those who argue also decide (a panel), each is asked, and hears noise from the others.
    """

    def __init__(self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters) -> None:
        super().__init__(case, task, repeat, setting, debaters)
        self._borrowed = _statements_for(self, self._seats)
        self._taken: Counter[tuple[str, str]] = Counter()
        self._heard: set[int] = set()

    async def say(
        self, seat: str, kind: str, prompt: str, *, heard: Sequence[Utterance] | None = None, **how: Json
    ) -> Utterance:
        """A debater's statement is borrowed; everybody else is asked, and a peer hears what is borrowed."""
        if seat in self._seats and not self._debaters.peers:
            private = how.get("private", False)
            return _unsaid(seat, kind, "strict") if private else self._borrow(seat, kind, how.get("round", 0))
        return await super().say(seat, kind, prompt, heard=self._with_noise(seat, heard), **how)

    async def choose(
        self, seat: str, kind: str, prompt: str, *, heard: Sequence[Utterance] | None = None, **how: Json
    ) -> Utterance:
        """As `say`."""
        return await super().choose(seat, kind, prompt, heard=self._with_noise(seat, heard), **how)

    def record(self, seat: str, kind: str, text: str, **how: Json) -> Utterance:
        """A debater's statement is borrowed."""
        if seat in self._seats and not self._debaters.peers:
            return self._borrow(seat, kind, how.get("round", 0))
        return super().record(seat, kind, text, **how)

    def _borrow(self, seat: str, kind: str, number: int) -> Utterance:
        found = self._next(seat, kind)
        if found is None:
            return _unsaid(seat, kind)
        fields = {name: found[name] for name in ("prediction", "confidence")}
        parsed = json.loads(found["parsed"]) if found["parsed"] else None
        if not self._heard:
            self._note("", arm="noise", case=found["case_id"])
        said = super().record(seat, kind, found["text"], source=BORROWED, round=number, parsed=parsed, **fields)
        self._heard.add(said.turn)
        return said

    def _with_noise(self, seat: str, heard: Sequence[Utterance] | None) -> list[Utterance] | None:
        if not self._debaters.peers:
            return None if heard is None else list(heard)
        known = self.heard_by(seat) if heard is None else heard
        return [self._instead(said) if said.speaker in self._seats and said.speaker != seat else said for said in known]

    def _instead(self, said: Utterance) -> Utterance:
        alike = [other.turn for other in self.utterances if (other.speaker, other.kind) == (said.speaker, said.kind)]
        found = self._nth(said.speaker, said.kind, alike.index(said.turn))
        text = str(found["text"]) if found else ""
        if said.turn not in self._heard:
            self._heard.add(said.turn)
            self._note(text, arm="noise", turn=said.turn, case=found["case_id"] if found else "")
        return replace(said, text=text)

    def _next(self, seat: str, kind: str) -> Fields | None:
        self._taken[seat, kind] += 1
        return self._nth(seat, kind, self._taken[seat, kind] - 1)

    def _nth(self, seat: str, kind: str, place: int) -> Fields | None:
        """The seat's nth statement of a kind; from the first again where the other debate was shorter."""
        said = self._borrowed.get((seat, kind), ())
        return said[place % len(said)] if said else None


class PlantDebate(ArmDebate):
    """Words are planted in what one debater says; which debater it is, is drawn for each case."""

    once = True

    def __init__(self, case: Case, task: Task, repeat: int, setting: Setting, debaters: Debaters) -> None:
        super().__init__(case, task, repeat, setting, debaters)
        self.planted = self._seats[self._draw("plant", len(self._seats))]
        self._done = False

    def _keep(self, said: Utterance) -> Utterance:
        if super()._keep(said).visibility == PUBLIC:
            self._plant(said)
        return said

    def words_for(self, _text: str) -> str:
        """What is added to a statement."""
        return self._words()

    def _words(self) -> str:
        [message] = self.setting.prompts.render(self.template, language=self.task.language)
        return message.content

    def _plant(self, said: Utterance) -> None:
        if said.speaker != self.planted or not said.usable or (self.once and self._done):
            return
        holder = said.parsed if said.parsed and "statement" in said.parsed else None
        text = str(holder["statement"]) if holder else said.text
        if not text.strip():
            return
        words, self._done = self.words_for(text), True
        whole = f"{text}{joint(text)}{words}"
        if holder:
            holder["statement"] = whole
        else:
            said.text = whole
        side = self._debaters.sides(self).get(said.speaker, "") if self._debaters.given_sides(self.params) else ""
        self._note(words, arm=self.template.rpartition("/")[2], turn=said.turn, speaker=said.speaker, side=side)


class FalseCitation(PlantDebate):
    """A decision that does not exist is cited for the debater's view."""

    template = "arms/plant_citation"


class Authority(PlantDebate):
    """Unnamed experts are said to be of the debater's view."""

    template = "arms/plant_authority"


class Padding(PlantDebate):
    """Every statement of the debater is made twice as long by sentences that say nothing."""

    template = "arms/plant_padding"
    once = False

    def words_for(self, text: str) -> str:
        """Sentences, over and over, until they are as long as the statement."""
        sentences = [line for line in self._words().splitlines() if line.strip()]
        added: list[str] = []
        while sum(map(len, added)) + len(added) < len(text):
            added.append(sentences[len(added) % len(sentences)])
        return " ".join(added)


# Noise: which debate it comes from


def _statements_for(debate: Debate, seats: tuple[str, ...]) -> Mapping[tuple[str, str], Sequence[Fields]]:
    """The debaters' statements of another case, by speaker and kind, in their order; of the same repeat if held."""
    paths = tuple(path for name, path in sorted(debate.artifacts.items()) if name.partition("_")[0] == HELD)
    held = _read(paths, seats)
    cases = sorted({case for case, _ in held}, key=lambda case: (stable_fraction("noise", debate.seed, case), case))
    others = [case for case in cases if case != debate.case.case_id]
    if not others:
        raise UserError(
            f"experiment '{debate.experiment}': noise is what was said about another case, and the debates that it is "
            "taken from are about this one alone. Raise `cases`."
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
    """The public statements of some seats that can be used, by case and repeat, then by speaker and kind."""
    columns = ["case_id", "repeat", "turn", "speaker", "kind", "text", "parsed", "prediction", "confidence"]
    wanted = pc.field("speaker").isin(seats) & (pc.field("visibility") == PUBLIC)
    held: dict[tuple[str, int], dict[tuple[str, str], list[Fields]]] = {}
    for key, rows in rows_by_debate(paths, [*columns, "parse_status"], wanted).items():
        for row in rows:
            if row["text"].strip() and row["parse_status"] not in UNUSABLE:
                held.setdefault(key, {}).setdefault((row["speaker"], row["kind"]), []).append(row)
    return held
