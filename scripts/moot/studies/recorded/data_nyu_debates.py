"""Debates that people and GPT-4 held before human judges (Michael et al. 2023, CC-BY 4.0).

Two answers to a reading question are argued by debaters who have read the story (debate), or one of them by one
debater (consultancy). The judge, who has not, states a probability of either answer after every round. A case is one
debate: its story, its question, its two answers ("a", "b"; "a" is the first).

Where a debate is quoted from the story the quotation is a span of its words, so that it is verified by construction:
words quoted are counted. A belief of one half is no decision: the debate is invalid as a prediction; the study's
accuracy counts it one half, as the authors do.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import quoted, read_jsonl, read_text
from moot.core.kinds import BELIEF, FEEDBACK, SPEECH
from moot.core.types import Fields, Json, JsonObject
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.records import (
    NO_BELIEF,
    FaultyShare,
    RecordedDebate,
    RecordedUtterance,
    leave_out,
    shipped_cases,
    shipped_debates,
)

FOLDER = "recorded"
DEBATES, METADATA = "nyu_debates", "nyu_debates-metadata.jsonl"
SHIPPED_AS = "nyu-debates"
LETTERS = "ab"
LABELS = ("b", "a")
JUDGE, DEBATERS = "judge", ("debater a", "debater b")
OFFLINE_JUDGE, DEBATER = "offline judge", "debater"
"""Who filled in a feedback form, in addition to the judge."""
RIGHT_SIDE, WRONG_SIDE = "right side", "wrong side"
HIGHEST_GRADE = 4
PAST_END = "quoted_past_the_end"
"""Words that a quotation takes beyond the last one of its story."""
_DIGITS = 9
"""Decimals of a belief: the files give one half as 0.5000000000000001, too."""
JUDGED_BY, JUDGED_OFFLINE_BY = "human judge", "offline human judge"
"""Models of the records: the judge who took part in the debate, and the judges who read it afterwards."""
TASK = Task(
    noun="the question",
    question="Which of the two answers is right?",
    labels=LABELS,
    positive="a",
    meaning={"a": "the first answer is right", "b": "the second answer is right"},
    notes=("debates recorded by Michael et al. 2023 (CC-BY 4.0)",),
    cluster=("story", "judge"),
)


class NyuOptions(DatasetOptions):
    """What an entry of the configuration may say about the NYU human debates."""

    source: Literal["shipped", "local", "download"] = Field(  # type: ignore[assignment]
        "shipped",
        description="shipped: the numbers of the debates, without what was said; local: the published files under "
        "data_root/recorded; download: the same files, fetched first",
    )
    included: bool = Field(True, description="only the debates that the authors included in their paper")
    faulty: FaultyShare = 0.01


def read_debates(options: NyuOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The debates before their live judge, then before each who read them afterwards, in the order of their names."""
    if options.source == "shipped":
        yield from shipped_debates(SHIPPED_AS, context)
        return
    for published in _published(context.data_root, options, Counter()):
        method, name = published.arm, published.name
        if published.record is None:
            yield _debate(method, name, [published.final_belief()])
            continue
        live = published.live
        yield _debate(method, name, live)
        speeches = [said for said in live if said.kind == SPEECH]
        last_round = max((said.round for said in speeches), default=0)
        times = Counter[str]()
        for judge, judgments in _offline_judgments(published.record):
            beliefs = [_belief(judgment, min(number, last_round)) for number, judgment in enumerate(judgments)]
            in_order = sorted([*speeches, *beliefs], key=lambda said: (said.round, said.kind == BELIEF))
            yield replace(
                _debate(method, name, in_order), model=JUDGED_OFFLINE_BY, judge=judge, judge_repeat=times[judge]
            )
            times[judge] += 1


@dataset("nyu_debates", NyuOptions, FOLDER, records=read_debates)
def load(options: NyuOptions, context: LoadContext) -> Loaded:
    """A case for every debate that ended before a judge; raises `UserError` for a fault in a file."""
    if options.source == "shipped":
        return shipped_cases(SHIPPED_AS, context)
    cleaning: Counter[str] = Counter()
    cases = [
        Case(
            case_id=published.name,
            dataset=context.name,
            split="test",
            text=published.text,
            target=LETTERS[published.right],
            labels=LABELS,
            attributes={"arm": published.arm, "story": published.story, "judge": published.judge},
            source_row=published.row,
        )
        for published in _published(context.data_root, options, cleaning)
    ]
    return Loaded(cases, TASK, cleaning=cleaning, sources=(context.data_root / FOLDER / METADATA,))


@dataclass(frozen=True)
class _Published:
    """One debate of the metadata, with its record where its file is there."""

    metadata: Json
    record: Fields | None
    live: list[RecordedUtterance]
    row: int

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def arm(self) -> str:
        """What the authors call its arm: who argues, and whether two sides or one."""
        setting = self.metadata["setting"]
        return f"{'people' if setting['isHuman'] else 'AI'} {'debate' if setting['isDebate'] else 'consult'}"

    @property
    def story(self) -> str:
        return str(self.metadata["sourceMaterialId"]["QuALITYStory"]["id"])

    @property
    def judge(self) -> str:
        return str(self.metadata["roleAssignments"].get("Judge", ""))

    @property
    def judged(self) -> Fields | None:
        """The right answer and the live judge's last belief; None where no live judge ended the debate."""
        judged: Fields | None = self.metadata["status"].get("Complete", {}).get("result", {}).get("judgingInfo")
        return judged

    @property
    def right(self) -> int:
        """The number of the right answer."""
        return int((self.judged or {})["correctAnswerIndex"])

    @property
    def text(self) -> str:
        """The question and its answers, where they are known."""
        if self.record is None:
            return f"{self.metadata['question']}\n\n(The answers are in the debate's own file, which is missing.)"
        first, second = self.record["setup"]["answers"]
        return f"{self.metadata['question']}\n\nAnswer a: {first}\nAnswer b: {second}"

    def final_belief(self) -> RecordedUtterance:
        """The live judge's last belief, from the metadata alone."""
        return _stated((self.judged or {})["finalJudgement"], self.judge, "", 0)


def _published(data_root: Path, options: NyuOptions, cleaning: Counter[str]) -> list[_Published]:
    """Every debate that a live judge ended, in the order of names; what is left out is counted.

    Raises:
        UserError: something is wrong with more debates than `faulty` allows; names all of them.
    """
    folder = data_root / FOLDER
    fields = {"name": str, "setting": dict, "status": dict, "includedInPaper": bool, "question": str}
    fields |= {"sourceMaterialId": dict, "roleAssignments": dict}
    listed = read_jsonl(folder / METADATA, fields, unique="name", get=_GET)
    files = {file.stem: file for file in (folder / DEBATES).glob("*.json")}
    found, faults = list[_Published](), list[str]()
    rows = zip(listed.index, listed.to_dict("records"), strict=True)
    for row, metadata in sorted(rows, key=lambda pair: str(pair[1]["name"])):
        if options.included and not metadata["includedInPaper"]:
            cleaning["left out: not in the authors' paper"] += 1
        elif not _Published(metadata, None, [], int(row)).judged:
            cleaning["left out: no live judge ended it"] += 1
        else:
            try:
                found.append(_Published(metadata, *_read(files.get(metadata["name"])), int(row)))
            except UserError as fault:
                faults.append(str(fault))
    leave_out(faults, len(faults), len(found) + len(faults), options.faulty, _GET)
    cleaning["left out: the file cannot be read"] += len(faults)
    cleaning["debates with a file"] += sum(published.record is not None for published in found)
    cleaning["debates known by their last belief alone"] += sum(published.record is None for published in found)
    said = [one for published in found for one in published.live if one.kind == SPEECH]
    cleaning["speeches that quote words past the end of the story"] += sum(
        PAST_END in (one.parsed or {}) for one in said
    )
    return found


def _read(file: Path | None) -> tuple[JsonObject | None, list[RecordedUtterance]]:
    """A debate's record and what was said before its live judge; nothing where there is no file."""
    if file is None:
        return None, []
    record = _checked(file)
    try:
        return record, list(_live_utterances(record))
    except UserError as fault:
        raise UserError(f"{file}: {fault}") from None
    except (KeyError, IndexError, TypeError, ValueError) as fault:
        raise UserError(f"{file}: not a debate of the published form ({fault!r}).") from None


def _checked(file: Path) -> JsonObject:
    """A debate's record; raises `UserError` where it has not the published form."""
    try:
        record = json.loads(read_text(file, get=_GET))
        setup = record["setup"]
        story = setup["sourceMaterial"]["QuALITYSourceMaterial"]
        well_formed = (
            len(setup["answers"]) == len(LABELS)
            and setup["correctAnswerIndex"] in (0, 1)
            and isinstance(story["contents"], list)
            and isinstance(record["rounds"], list)
        )
    except (ValueError, KeyError, TypeError) as fault:
        raise UserError(f"{file}: not a debate of the published form ({fault!r}).") from None
    if not well_formed:
        raise UserError(f"{file}: expected two answers, the right one's number, a story's words and rounds.")
    return dict(record)


def _live_utterances(record: Fields) -> Iterator[RecordedUtterance]:
    story = record["setup"]["sourceMaterial"]["QuALITYSourceMaterial"]["contents"]
    number = 0
    for turn in record["rounds"]:
        ((kind, content),) = turn.items()
        if kind in ("SequentialSpeeches", "SimultaneousSpeeches"):
            number += 1
            for side, speech in sorted(content["speeches"].items()):
                yield _speech(DEBATERS[int(side)], speech, number, story)
        elif kind == "JudgeFeedback":
            yield _belief(content, number)
    yield from _forms(record)


def _forms(record: Fields) -> Iterator[RecordedUtterance]:
    """The feedback forms that people filled in afterwards: their grades alone, 0 to 4, none of their words."""
    seats = {"Judge": JUDGE, "OfflineJudge": OFFLINE_JUDGE, "Debater": DEBATER}
    right = record["setup"]["correctAnswerIndex"]
    filled = [
        (seats[role], person, form["answers"])
        for person, roles in record.get("feedback", {}).items()
        for role, form in roles.items()
        if role in seats
    ]
    for seat, person, answers in sorted(filled, key=lambda form: form[:2]):
        grades = dict(pair for question in sorted(answers) for pair in _grades(question, answers[question], right))
        if grades:
            facts = {"grades": grades, "who": person}
            yield RecordedUtterance(seat, FEEDBACK, parsed=facts, source="human", private=True)


def _grades(question: str, answer: object, right: int) -> Iterator[tuple[str, float]]:
    """A question's grades; one about both sides has one of the side of the right answer, and one of the other."""
    by_side = answer if isinstance(answer, Mapping) else {}
    sides = {"first": RIGHT_SIDE if right == 0 else WRONG_SIDE, "second": WRONG_SIDE if right == 0 else RIGHT_SIDE}
    found = [(f"{question}, {side}", by_side.get(name)) for name, side in sides.items()]
    for asked, grade in [(question, answer), *found]:
        if isinstance(grade, int | float) and not isinstance(grade, bool):
            if not 0 <= grade <= HIGHEST_GRADE:
                raise UserError(f"feedback form, {quoted(question)}: found {grade}; expected 0 to {HIGHEST_GRADE}.")
            yield asked, grade


def _speech(seat: str, speech: Fields, number: int, story: Sequence[str]) -> RecordedUtterance:
    parts, quoted, words, past = [], 0, 0, 0
    for part in speech["content"]:
        ((kind, value),) = part.items()
        if kind == "Quote":
            start, end = value["span"]
            if not 0 <= start <= min(end, len(story)):
                raise UserError(f"a quotation of words {start} to {end}; the story has {len(story)}.")
            words_there = story[start:end]
            parts.append(f"“{' '.join(words_there)}”")
            quoted, past = quoted + len(words_there), past + end - start - len(words_there)
        else:
            parts.append(value["text"])
            words += len(value["text"].split())
    source: Literal["human", "model"] = "model" if speech["speaker"].startswith("GPT") else "human"
    facts = {"words": words, "quoted_words": quoted, "who": speech["speaker"], **({PAST_END: past} if past else {})}
    return RecordedUtterance(seat, "speech", " ".join(parts), number, parsed=facts, source=source)


def _belief(feedback: Fields, number: int) -> RecordedUtterance:
    said = feedback["feedback"]
    text = " ".join(part["Text"]["text"] for part in said["content"] if "Text" in part)
    return _stated(feedback["distribution"], said["speaker"], text, number)


def _stated(distribution: Sequence[float], judge: str, text: str, number: int) -> RecordedUtterance:
    """A judge's stated probabilities as a belief; one half each predicts nothing."""
    first, second = (round(float(share), _DIGITS) for share in distribution)
    prediction = None if first == second else ("a" if first > second else "b")
    facts = {"distribution": {"a": first, "b": second}, "who": judge}
    return RecordedUtterance(JUDGE, BELIEF, text, number, prediction, None, facts, "human")


def _offline_judgments(record: Fields) -> Iterator[tuple[str, list[JsonObject]]]:
    for turn in record["rounds"]:
        for name, judge in sorted(turn.get("OfflineJudgments", {}).get("judgments", {}).items()):
            if judge["judgments"]:
                yield name, judge["judgments"]


def _debate(method: str, name: str, utterances: list[RecordedUtterance]) -> RecordedDebate:
    beliefs = [said for said in utterances if said.kind == BELIEF]
    if not beliefs:
        return RecordedDebate(method, JUDGED_BY, name, 0, None, problem=NO_BELIEF, utterances=utterances)
    last = beliefs[-1]
    share = (last.parsed or {})["distribution"]["a"]
    problem = "" if last.prediction else "the judge ended undecided, at one half"
    return RecordedDebate(method, JUDGED_BY, name, 0, last.prediction, None, share, problem, utterances)


_GET = "put the published files there (see data/raw/README.md), or choose source 'download' or 'shipped'."
