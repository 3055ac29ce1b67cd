"""Debates that people and GPT-4 held before human judges (Michael et al. 2023, CC-BY 4.0).

Two answers to a reading question are argued for by debaters who have read the story (debate), or
one answer by one debater (consultancy). The judge has not read it and states a probability of each
answer after every round. A case is one debate: its story, its question, its two answers ("a" is the
first, "b" the second).

A quotation is a span of the story's words, so quotations are verified by construction, and the
quoted words are counted. A belief of one half is no decision: the prediction of such a debate is
invalid; the study's accuracy counts it one half, as the authors do.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.text_files import read_text
from moot.core.types import Fields, Json, JsonObject
from moot.core.utterance_kinds import BELIEF, SPEECH
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.debate_records import (
    NO_BELIEF,
    RecordedDebate,
    RecordedUtterance,
    load_shipped_cases,
    load_shipped_debates,
)
from moot.datasets.reading.checks import DataFaults
from moot.datasets.reading.records import read_jsonl

FOLDER = "recorded"
DEBATES, METADATA = "nyu_debates", "nyu_debates-metadata.jsonl"
SHIPPED_AS = "nyu-debates"
LETTERS = "ab"
LABELS = ("b", "a")
JUDGE, DEBATERS = "judge", ("debater a", "debater b")
PAST_END = "quoted_past_the_end"
"""The number of words that a quotation takes beyond the end of its story."""
_DIGITS = 9
"""Decimals of a belief: some files have 0.5000000000000001 for one half."""
JUDGED_BY, JUDGED_OFFLINE_BY = "human judge", "offline human judge"
"""The models of the records: the judge of the debate, and judges who read it later."""
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
    "put the published files there (see data/raw/README.md), or choose `source: download` or"
    " `source: shipped`."
)


class NyuOptions(DatasetOptions):
    """The options of a data set with `loader: nyu_debates`."""

    source: Literal["shipped", "local", "download"] = Field(  # pyrefly: ignore[bad-override]
        "shipped",
        description=(
            "shipped: the numbers of the debates, without the utterances; local: the published"
            " files under data_root/recorded; download: the same files, downloaded first"
        ),
    )


@dataclass(frozen=True)
class _PublishedDebate:
    """One debate: its case, its rounds, and its utterances before the live judge.

    Without a file of the debate, the live judge's last belief is the only utterance.
    """

    case: Case
    rounds: Sequence[Fields]
    live_utterances: list[RecordedUtterance]

    def record(self, utterances: list[RecordedUtterance], model: str) -> RecordedDebate:
        """Return the debate before one judge, whose last belief is its outcome."""
        identity = (self.case.attributes["arm"], model, self.case.case_id, 0)
        beliefs = [utterance for utterance in utterances if utterance.kind == BELIEF]
        if not beliefs:
            return RecordedDebate(*identity, None, problem=NO_BELIEF, utterances=utterances)
        last = beliefs[-1]
        problem = "" if last.prediction else "the judge ended undecided, at one half"
        share = (last.parsed or {})["distribution"]["a"]
        return RecordedDebate(*identity, last.prediction, None, share, problem, utterances)


def read_debates(options: NyuOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """Yield the debates in the order of their names, first as the live judge saw them.

    The records of judges who read a debate later follow it.
    """
    if options.source == "shipped":
        yield from load_shipped_debates(SHIPPED_AS, context)
        return
    for debate in _read_published_debates(context, Counter()):
        yield debate.record(debate.live_utterances, JUDGED_BY)
        yield from _offline_records(debate)


def _offline_records(debate: _PublishedDebate) -> Iterator[RecordedDebate]:
    """Yield the debate before each judge who read it later."""
    speeches = [utterance for utterance in debate.live_utterances if utterance.kind == SPEECH]
    last_round = max((speech.round for speech in speeches), default=0)
    repeats = Counter[str]()
    for judge, judgments in _offline_judgments(debate.rounds):
        beliefs = [
            _read_belief(judgment, min(number, last_round))
            for number, judgment in enumerate(judgments)
        ]
        utterances = sorted([*speeches, *beliefs], key=_by_round_beliefs_last)
        record = debate.record(utterances, JUDGED_OFFLINE_BY)
        yield replace(record, judge=judge, judge_repeat=repeats[judge])
        repeats[judge] += 1


def _by_round_beliefs_last(utterance: RecordedUtterance) -> tuple[int, bool]:
    return utterance.round, utterance.kind == BELIEF


@dataset(
    "nyu_debates",
    NyuOptions,
    FOLDER,
    records=read_debates,
    download_adds_words=True,
    shipped=("data/records",),
)
def load(options: NyuOptions, context: LoadContext) -> Loaded:
    """Load a case for each debate with a verdict; raise `UserError` for a fault in a file."""
    if options.source == "shipped":
        return load_shipped_cases(SHIPPED_AS, context)
    cleaning: Counter[str] = Counter()
    cases = [debate.case for debate in _read_published_debates(context, cleaning)]
    return Loaded(cases, TASK, cleaning=cleaning, sources=(context.data_root / FOLDER / METADATA,))


_METADATA_FIELDS = {
    "name": str,
    "setting": dict,
    "status": dict,
    "includedInPaper": bool,
    "question": str,
    "sourceMaterialId": dict,
    "roleAssignments": dict,
}


def _read_published_debates(context: LoadContext, cleaning: Counter[str]) -> list[_PublishedDebate]:
    """Return every debate that a live judge ended, in the order of names.

    Args:
        context: the folders.
        cleaning: counts debates that are left out and other irregularities, by description.

    Raises:
        UserError: debates are faulty. It names all of them.
    """
    folder = context.data_root / FOLDER
    metadata = read_jsonl(folder / METADATA, _METADATA_FIELDS, unique="name", get=_GET)
    files = {file.stem: file for file in (folder / DEBATES).glob("*.json")}
    debates, faults = list[_PublishedDebate](), DataFaults()
    rows: list[Json] = metadata.reset_index().to_dict("records")
    for row in sorted(rows, key=lambda row: str(row["name"])):
        ending = row["status"].get("Complete", {}).get("result", {}).get("judgingInfo")
        if not row["includedInPaper"]:
            cleaning["left out: not in the authors' paper"] += 1
            continue
        if not ending:
            cleaning["left out: no live judge ended it"] += 1
            continue
        file = files.get(row["name"])
        with faults.noting():
            debate = _read_debate(row, ending, file, context.name)
            debates.append(debate)
            _count_irregularities(debate, bool(file), cleaning)
    faults.check()
    return debates


def _count_irregularities(debate: _PublishedDebate, has_file: bool, cleaning: Counter[str]) -> None:
    source = "with a file" if has_file else "of which only the last belief is known"
    cleaning[f"debates {source}"] += 1
    cleaning["speeches that quote words past the end of the story"] += sum(
        PAST_END in (utterance.parsed or {}) for utterance in debate.live_utterances
    )


def _read_debate(
    metadata: Fields, ending: Fields, file: Path | None, dataset_name: str
) -> _PublishedDebate:
    """Return one debate of the metadata.

    `ending` has the number of the right answer and the live judge's last belief.
    """
    judge = str(metadata["roleAssignments"].get("Judge", ""))
    setting = metadata["setting"]
    answers = "(The answers are in the debate's own file, which is missing.)"
    rounds: list[Fields] = []
    utterances = [_belief_utterance(ending["finalJudgement"], judge, "", 0)]
    if file:
        (first, second), rounds, utterances = _read_file(file)
        answers = f"Answer a: {first}\nAnswer b: {second}"
    debaters = "people" if setting["isHuman"] else "AI"
    form = "debate" if setting["isDebate"] else "consult"
    case = Case(
        case_id=str(metadata["name"]),
        dataset=dataset_name,
        split="test",
        text=f"{metadata['question']}\n\n{answers}",
        target=LETTERS[int(ending["correctAnswerIndex"])],
        labels=LABELS,
        attributes={
            "arm": f"{debaters} {form}",
            "story": str(metadata["sourceMaterialId"]["QuALITYStory"]["id"]),
            "judge": judge,
        },
        source_row=int(metadata["row"]),
    )
    return _PublishedDebate(case, rounds, utterances)


def _read_file(file: Path) -> tuple[list[str], list[Fields], list[RecordedUtterance]]:
    """Return a debate's answers, its rounds, and its utterances before the live judge."""
    try:
        record = json.loads(read_text(file, get=_GET))
        setup = record["setup"]
        story = setup["sourceMaterial"]["QuALITYSourceMaterial"]["contents"]
        is_well_formed = (
            len(setup["answers"]) == len(LABELS)
            and setup["correctAnswerIndex"] in (0, 1)
            and isinstance(story, list)
            and isinstance(record["rounds"], list)
        )
        if not is_well_formed:
            raise UserError(
                "expected two answers, the right one's number, a story's words and rounds."
            )
        utterances = list(_live_utterances(record["rounds"], story))
    except UserError as fault:
        raise fault if str(file) in str(fault) else UserError(f"{file}: {fault}") from None
    except (KeyError, IndexError, TypeError, ValueError) as fault:
        raise UserError(f"{file}: not a debate of the published form ({fault!r}).") from None
    return setup["answers"], record["rounds"], utterances


def _live_utterances(rounds: Sequence[Fields], story: Sequence[str]) -> Iterator[RecordedUtterance]:
    """Yield the speeches of the debaters and the beliefs of the live judge, in order."""
    number = 0
    for turn in rounds:
        ((kind, content),) = turn.items()
        if kind in ("SequentialSpeeches", "SimultaneousSpeeches"):
            number += 1
            for side, speech in sorted(content["speeches"].items()):
                yield _read_speech(DEBATERS[int(side)], speech, number, story)
        elif kind == "JudgeFeedback":
            yield _read_belief(content, number)


def _read_speech(seat: str, speech: Fields, number: int, story: Sequence[str]) -> RecordedUtterance:
    """Return a speech: its text, with the quotations from the story, and its numbers of words."""
    parts: list[str] = []
    word_count = quoted_word_count = words_past_end = 0
    for part in speech["content"]:
        ((kind, value),) = part.items()
        if kind == "Quote":
            words = _quote_words(story, *value["span"])
            start, end = value["span"]
            parts.append(f"“{' '.join(words)}”")
            quoted_word_count += len(words)
            words_past_end += end - start - len(words)
        else:
            parts.append(value["text"])
            word_count += len(value["text"].split())
    source: Literal["human", "model"] = "model" if speech["speaker"].startswith("GPT") else "human"
    facts = {"words": word_count, "quoted_words": quoted_word_count, "who": speech["speaker"]}
    if words_past_end:
        facts[PAST_END] = words_past_end
    return RecordedUtterance(seat, SPEECH, " ".join(parts), number, parsed=facts, source=source)


def _quote_words(story: Sequence[str], start: int, end: int) -> Sequence[str]:
    """Return the words of a quotation, which may end past the story's last word."""
    if not 0 <= start <= min(end, len(story)):
        raise UserError(f"a quotation of words {start} to {end}; the story has {len(story)}.")
    return story[start:end]


def _read_belief(feedback: Fields, number: int) -> RecordedUtterance:
    speech = feedback["feedback"]
    text = " ".join(part["Text"]["text"] for part in speech["content"] if "Text" in part)
    return _belief_utterance(feedback["distribution"], speech["speaker"], text, number)


def _belief_utterance(
    distribution: Sequence[float], judge: str, text: str, number: int
) -> RecordedUtterance:
    """Return a judge's probabilities as a belief; one half each predicts nothing."""
    first, second = (round(float(share), _DIGITS) for share in distribution)
    prediction = None if first == second else ("a" if first > second else "b")
    facts = {"distribution": {"a": first, "b": second}, "who": judge}
    return RecordedUtterance(JUDGE, BELIEF, text, number, prediction, None, facts, "human")


def _offline_judgments(rounds: Sequence[Fields]) -> Iterator[tuple[str, list[JsonObject]]]:
    """Yield the judgments of each judge who read the debate later, with the judge's name."""
    for turn in rounds:
        offline = turn.get("OfflineJudgments", {}).get("judgments", {})
        for judge, content in sorted(offline.items()):
            if content["judgments"]:
                yield judge, content["judgments"]
