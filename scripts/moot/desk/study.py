"""What people at the desk were told, what they agreed to, and when: a diary a person, and what
reviewers ask of it.

`data/study.json` holds what the configuration says under `people`, with the texts themselves; every
run writes it. `data/people/{name}.jsonl` is the diary: a line for each consent, for instructions
when they were first shown or had changed, and for each task when it was shown and when it was
answered (UTC).
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from moot.core.config import PeopleConfig
from moot.core.durable import locked, write_whole
from moot.core.people import texts_for_people
from moot.core.types import Fields
from moot.workflow.own_files import DIARIES

STUDY = Path("data/study.json")
CONSENT, INSTRUCTIONS, SHOWN, ANSWERED = "consent", "instructions", "shown", "answered"
UNNAMED = "unnamed"
_LONGEST_TASK = 3600.0
"""Seconds after which a task was not worked on all the time: a browser was left open."""
_NOT_STATED = "not stated (`people` in the configuration)"


def tell_desk(config: PeopleConfig) -> None:
    """Write what the desk shows, as the configuration says now."""
    said = (
        json.dumps(config.model_dump() | texts_for_people(config), ensure_ascii=False, indent=1)
        + "\n"
    )
    if config != PeopleConfig() or STUDY.exists():
        write_whole(STUDY, said)


@dataclass(frozen=True)
class Study:
    """What is said to people, and kept of them, in a working directory.

    Attributes:
        folder: the working directory.
        said: the keys of `PeopleConfig`, with texts for files.
    """

    folder: Path
    said: Fields

    @classmethod
    def of(cls, folder: Path) -> "Study":
        """That of a folder, as its last run left it."""
        path = folder / STUDY
        said = (
            json.loads(path.read_text(encoding="utf-8"))
            if path.exists()
            else PeopleConfig().model_dump()
        )
        return cls(folder, said)

    def note(self, person: str, event: str, task: str = "") -> None:
        """Write an event down durably; what was noted before as it is now is not noted again."""
        text = str(self.said.get(event, ""))
        now = {
            "event": event,
            "task": task,
            "text": hashlib.sha256(text.encode()).hexdigest() if text else "",
        }
        path = self.folder / DIARIES / f"{person or UNNAMED}.jsonl"
        with locked(path.parent):
            before = _events(path)
            if not any(now.items() <= event.items() for event in before):
                kept = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **now, "words": text}
                lines = [json.dumps(event, ensure_ascii=False) for event in [*before, kept]]
                write_whole(path, "\n".join(lines) + "\n")

    def must_agree(self, person: str) -> bool:
        """Whether a person has yet to agree to the consent text, as it is now."""
        events = _events(self.folder / DIARIES / f"{person or UNNAMED}.jsonl")
        agreed = {event["words"] for event in events if event["event"] == CONSENT}
        return bool(self.said[CONSENT]) and self.said[CONSENT] not in agreed

    def show(self, person: str, task: str) -> str:
        """The instructions, which are noted as shown with a task that begins."""
        if self.said[INSTRUCTIONS]:
            self.note(person, INSTRUCTIONS)
        self.note(person, SHOWN, task)
        return str(self.said[INSTRUCTIONS])

    def checklist(self) -> str:
        """What authors are asked of studies with people (Responsible NLP checklist D, NeurIPS
        checklist 14 and 15).
        """
        return "\n\n".join(self._answers()) + "\n"

    def _answers(self) -> Iterator[str]:
        diaries = [_events(path) for path in sorted((self.folder / DIARIES).glob("*.jsonl"))]
        seconds = [took for diary in diaries for took in _seconds(diary)]
        tasks = sum(event["event"] == ANSWERED for diary in diaries for event in diary)
        hours, pay = sum(seconds) / 3600, self.said["pay"]
        yield "# People in this study"
        for kind, title in ((INSTRUCTIONS, "Instructions that were shown"), (CONSENT, "Consent")):
            readers: dict[str, int] = {}
            for diary in diaries:
                for words in {event["words"] for event in diary if event["event"] == kind}:
                    readers[words] = readers.get(words, 0) + 1
            verb = "were shown this" if kind == INSTRUCTIONS else "agreed to this"
            shown = [
                f"{number} of {len(diaries)} people {verb}:\n\n{words.strip()}"
                for words, number in readers.items()
            ]
            yield f"## {title}\n\n" + ("\n\n".join(shown) or "None.")
        yield f"## Recruitment\n\n{self.said['recruitment'] or _NOT_STATED}"
        paid = (
            f"{pay:g} {self.said['currency']} for each answer or label"
            if pay is not None
            else _NOT_STATED
        )
        rate = (
            f"; {pay * len(seconds) / hours:.2f} an hour at the time that was taken"
            if pay and hours
            else ""
        )
        yield f"## Pay\n\n{paid}{rate}"
        typical = f", {median(seconds):.0f} seconds each (median)" if seconds else ""
        yield (
            f"## Tasks and time\n\n{len(diaries)} people gave {tasks} answers and labels{typical}."
            f" {hours:.2f} hours in all, by the {len(seconds)} that came within"
            f" {_LONGEST_TASK / 60:.0f} minutes of being shown."
        )
        yield f"## Review board\n\n{self.said['approval'] or _NOT_STATED}"
        yield f"## Who they are\n\n{self.said['participants'] or _NOT_STATED}"


def _events(path: Path) -> list[Fields]:
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if path.exists()
        else []
    )


def _seconds(diary: list[Fields]) -> Iterator[float]:
    """How long each answered task was in front of a person, where it was answered at once, by a
    clock that went on.
    """
    shown = {
        event["task"]: datetime.fromisoformat(event["at"])
        for event in diary
        if event["event"] == SHOWN
    }
    for event in diary:
        if event["event"] == ANSWERED and event["task"] in shown:
            took = (datetime.fromisoformat(event["at"]) - shown[event["task"]]).total_seconds()
            if 0 <= took <= _LONGEST_TASK:
                yield took
