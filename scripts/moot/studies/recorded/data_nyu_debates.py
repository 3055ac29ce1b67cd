"""Debates that people and GPT-4 held before human judges (Michael et al. 2023, CC-BY 4.0).

Two answers to a reading question are argued by debaters who have read the story (debate), or one of
them by one debater (consultancy). The judge, who has not, states a probability of either answer
after every round. A case is one debate: its story, its question, its two answers ("a", "b"; "a" is
the first).

Where a debate is quoted from the story the quotation is a span of its words, so that it is verified
by construction: words quoted are counted. A belief of one half is no decision: the debate is
invalid as a prediction; the study's accuracy counts it one half, as the authors do.
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
SEATS = {"Judge": JUDGE, "OfflineJudge": "offline judge", "Debater": "debater"}
"""Who filled in a feedback form."""
RIGHT_SIDE, WRONG_SIDE = "right side", "wrong side"
HIGHEST_GRADE = 4
PAST_END = "quoted_past_the_end"
"""Words that a quotation takes beyond the last one of its story."""
_DIGITS = 9
"""Decimals of a belief: the files give one half as 0.5000000000000001, too."""
JUDGED_BY, JUDGED_OFFLINE_BY = "human judge", "offline human judge"
"""Models of the records: the judge who took part in the debate, and the judges who read it
afterwards.
"""
TASK = Task(
    noun="the question",
    question="Which of the two answers is right?",
    labels=LABELS,
    positive="a",
    meaning={"a": "the first answer is right", "b": "the second answer is right"},
    notes=("debates recorded by Michael et al. 2023 (CC-BY 4.0)",),
    cluster=("story", "judge"),
)
_GET = (
    "put the published files there (see data/raw/README.md), or choose source 'download' or"
    " 'shipped'."
)


class NyuOptions(DatasetOptions):
    """What an entry of the configuration may say about the NYU human debates."""

    source: Literal["shipped", "local", "download"] = Field(  # type: ignore[assignment]
        "shipped",
        description=(
            "shipped: the numbers of the debates, without what was said; local: the published files"
            " under data_root/recorded; download: the same files, fetched first"
        ),
    )
    included: bool = Field(
        True, description="only the debates that the authors included in their paper"
    )
    faulty: FaultyShare = 0.01


@dataclass(frozen=True)
class _Published:
    """One debate: its case, its rounds, and what was said before its live judge, the last belief
    where no file is.
    """

    case: Case
    rounds: Sequence[Fields]
    live: list[RecordedUtterance]

    def before(self, utterances: list[RecordedUtterance], model: str = JUDGED_BY) -> RecordedDebate:
        """The debate before a judge, whose last belief is its outcome."""
        identity = (self.case.attributes["arm"], model, self.case.case_id, 0)
        last = next((said for said in reversed(utterances) if said.kind == BELIEF), None)
        if last is None:
            return RecordedDebate(*identity, None, problem=NO_BELIEF, utterances=utterances)
        problem = "" if last.prediction else "the judge ended undecided, at one half"
        share = (last.parsed or {})["distribution"]["a"]
        return RecordedDebate(*identity, last.prediction, None, share, problem, utterances)


def read_debates(options: NyuOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The debates before their live judge, then before each who read them afterwards, in the order
    of their names.
    """
    if options.source == "shipped":
        yield from shipped_debates(SHIPPED_AS, context)
        return
    for published in _published(options, context, Counter()):
        yield published.before(published.live)
        speeches = [said for said in published.live if said.kind == SPEECH]
        last_round = max((said.round for said in speeches), default=0)
        times = Counter[str]()
        for judge, judgments in _offline_judgments(published.rounds):
            beliefs = [
                _belief(judgment, min(number, last_round))
                for number, judgment in enumerate(judgments)
            ]
            in_order = sorted(
                [*speeches, *beliefs], key=lambda said: (said.round, said.kind == BELIEF)
            )
            yield replace(
                published.before(in_order, JUDGED_OFFLINE_BY),
                judge=judge,
                judge_repeat=times[judge],
            )
            times[judge] += 1


@dataset("nyu_debates", NyuOptions, FOLDER, records=read_debates)
def load(options: NyuOptions, context: LoadContext) -> Loaded:
    """A case for every debate that ended before a judge; raises `UserError` for a fault in a file."""
    if options.source == "shipped":
        return shipped_cases(SHIPPED_AS, context)
    cleaning: Counter[str] = Counter()
    cases = [published.case for published in _published(options, context, cleaning)]
    return Loaded(cases, TASK, cleaning=cleaning, sources=(context.data_root / FOLDER / METADATA,))


def _published(
    options: NyuOptions, context: LoadContext, cleaning: Counter[str]
) -> list[_Published]:
    """Every debate that a live judge ended, in the order of names; what is left out is counted.

    Raises:
        UserError: something is wrong with more debates than `faulty` allows; names all of them.
    """
    folder = context.data_root / FOLDER
    fields = {
        "name": str,
        "setting": dict,
        "status": dict,
        "includedInPaper": bool,
        "question": str,
    }
    fields |= {"sourceMaterialId": dict, "roleAssignments": dict}
    listed = read_jsonl(folder / METADATA, fields, unique="name", get=_GET)
    files = {file.stem: file for file in (folder / DEBATES).glob("*.json")}
    found, faults = list[_Published](), list[str]()
    rows: list[Json] = listed.reset_index().to_dict("records")
    for metadata in sorted(rows, key=lambda row: str(row["name"])):
        ended = metadata["status"].get("Complete", {}).get("result", {}).get("judgingInfo")
        if options.included and not metadata["includedInPaper"]:
            cleaning["left out: not in the authors' paper"] += 1
        elif not ended:
            cleaning["left out: no live judge ended it"] += 1
        else:
            file = files.get(metadata["name"])
            try:
                found.append(_debate(metadata, ended, file, context.name))
            except UserError as fault:
                faults.append(str(fault))
                continue
            known = "with a file" if file else "known by their last belief alone"
            cleaning[f"debates {known}"] += 1
            past = [said for said in found[-1].live if PAST_END in (said.parsed or {})]
            cleaning["speeches that quote words past the end of the story"] += len(past)
    leave_out(faults, len(faults), len(found) + len(faults), options.faulty, _GET)
    cleaning["left out: the file cannot be read"] += len(faults)
    return found


def _debate(metadata: Fields, ended: Fields, file: Path | None, dataset_name: str) -> _Published:
    """One debate of the metadata; `ended`: the right answer and the live judge's last belief."""
    judge, setting = str(metadata["roleAssignments"].get("Judge", "")), metadata["setting"]
    answers, rounds = (
        "(The answers are in the debate's own file, which is missing.)",
        list[Fields](),
    )
    live = [_stated(ended["finalJudgement"], judge, "", 0)]
    if file:
        (first, second), rounds, live = _read(file)
        answers = f"Answer a: {first}\nAnswer b: {second}"
    case = Case(
        case_id=str(metadata["name"]),
        dataset=dataset_name,
        split="test",
        text=f"{metadata['question']}\n\n{answers}",
        target=LETTERS[int(ended["correctAnswerIndex"])],
        labels=LABELS,
        attributes={
            "arm": (
                f"{'people' if setting['isHuman'] else 'AI'}"
                f" {'debate' if setting['isDebate'] else 'consult'}"
            ),
            "story": str(metadata["sourceMaterialId"]["QuALITYStory"]["id"]),
            "judge": judge,
        },
        source_row=int(metadata["row"]),
    )
    return _Published(case, rounds, live)


def _read(file: Path) -> tuple[list[str], list[Fields], list[RecordedUtterance]]:
    """A debate's answers and rounds, and what was said before its live judge."""
    try:
        record = json.loads(read_text(file, get=_GET))
        setup = record["setup"]
        story = setup["sourceMaterial"]["QuALITYSourceMaterial"]["contents"]
        well_formed = (
            len(setup["answers"]) == len(LABELS)
            and setup["correctAnswerIndex"] in (0, 1)
            and isinstance(story, list)
            and isinstance(record["rounds"], list)
        )
        if not well_formed:
            raise UserError(
                "expected two answers, the right one's number, a story's words and rounds."
            )
        said = [*_live_utterances(record["rounds"], story), *_forms(record)]
    except UserError as fault:
        raise fault if str(file) in str(fault) else UserError(f"{file}: {fault}") from None
    except (KeyError, IndexError, TypeError, ValueError) as fault:
        raise UserError(f"{file}: not a debate of the published form ({fault!r}).") from None
    return setup["answers"], record["rounds"], said


def _live_utterances(rounds: Sequence[Fields], story: Sequence[str]) -> Iterator[RecordedUtterance]:
    number = 0
    for turn in rounds:
        ((kind, content),) = turn.items()
        if kind in ("SequentialSpeeches", "SimultaneousSpeeches"):
            number += 1
            for side, speech in sorted(content["speeches"].items()):
                yield _speech(DEBATERS[int(side)], speech, number, story)
        elif kind == "JudgeFeedback":
            yield _belief(content, number)


def _forms(record: Fields) -> Iterator[RecordedUtterance]:
    """The feedback forms that people filled in afterwards: their grades alone, 0 to 4, none of
    their words.
    """
    right = record["setup"]["correctAnswerIndex"]
    filled = [
        (SEATS[role], person, form["answers"])
        for person, roles in record.get("feedback", {}).items()
        for role, form in roles.items()
        if role in SEATS
    ]
    for seat, person, answers in sorted(filled, key=lambda form: form[:2]):
        grades = dict(
            pair
            for question in sorted(answers)
            for pair in _grades(question, answers[question], right)
        )
        if grades:
            facts = {"grades": grades, "who": person}
            yield RecordedUtterance(seat, FEEDBACK, parsed=facts, source="human", private=True)


def _grades(question: str, answer: object, right: int) -> Iterator[tuple[str, float]]:
    """A question's grades; one about both sides has one of the side of the right answer, and one of
    the other.
    """
    by_side = answer if isinstance(answer, Mapping) else {}
    sides = ((RIGHT_SIDE, WRONG_SIDE), (WRONG_SIDE, RIGHT_SIDE))[right]
    named = [
        (f"{question}, {side}", by_side.get(name))
        for side, name in zip(sides, ("first", "second"), strict=True)
    ]
    for asked, grade in [(question, answer), *named]:
        if isinstance(grade, int | float) and not isinstance(grade, bool):
            if not 0 <= grade <= HIGHEST_GRADE:
                raise UserError(
                    f"feedback form, {quoted(question)}: found {grade}; expected 0 to"
                    f" {HIGHEST_GRADE}."
                )
            yield asked, grade


def _speech(seat: str, speech: Fields, number: int, story: Sequence[str]) -> RecordedUtterance:
    parts, quoted_words, words, past = [], 0, 0, 0
    for part in speech["content"]:
        ((kind, value),) = part.items()
        if kind == "Quote":
            start, end = value["span"]
            if not 0 <= start <= min(end, len(story)):
                raise UserError(
                    f"a quotation of words {start} to {end}; the story has {len(story)}."
                )
            words_there = story[start:end]
            parts.append(f"“{' '.join(words_there)}”")
            quoted_words, past = (
                quoted_words + len(words_there),
                past + end - start - len(words_there),
            )
        else:
            parts.append(value["text"])
            words += len(value["text"].split())
    source: Literal["human", "model"] = "model" if speech["speaker"].startswith("GPT") else "human"
    facts = {"words": words, "quoted_words": quoted_words, "who": speech["speaker"]} | (
        {PAST_END: past} if past else {}
    )
    return RecordedUtterance(seat, SPEECH, " ".join(parts), number, parsed=facts, source=source)


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


def _offline_judgments(rounds: Sequence[Fields]) -> Iterator[tuple[str, list[JsonObject]]]:
    for turn in rounds:
        for name, judge in sorted(turn.get("OfflineJudgments", {}).get("judgments", {}).items()):
            if judge["judgments"]:
                yield name, judge["judgments"]
