"""The debates of the reader's page: an index, and chunks of utterances, cases and calls."""

import math
import pickle
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain, groupby
from operator import itemgetter

from moot.core.cases import Case
from moot.core.schemas import SCHEMAS
from moot.core.types import Fields, Json, JsonObject
from moot.report.debate_texts import DebateText, Turn, case_facts, read_debates, records
from moot.report.notes import data_label
from moot.report.reader_chunks import Calls, Chunks, StoreChunk, Words, compress
from moot.report.turn_effects import DebateEffects, DebateName
from moot.scores.dynamics import stated_by_part
from moot.scores.groups import probability_of_prediction
from moot.scores.results import ExperimentResults, ExperimentView

JUDGE = "judge"
CHANGED, TO_WRONG, TO_RIGHT, DISAGREE = 1, 2, 4, 8
"""Flags of a debate for the page's filters.

The judge's opinion changed; it was right once and ended wrong; or it was wrong once and ended
right. Several judges, or members of a group, ended on different answers. The verdict rests on one
turn.
"""
COLUMNS = (
    "experiment",
    "model",
    "case",
    "repeat",
    "status",
    "answer",
    "probability",
    "change",
    "swing",
)
"""Columns of the index, one entry per debate.

`probability` is the answer's; `Course` describes `change` and `swing`.
"""
_OPINION = [
    "model",
    "debate_id",
    "speaker",
    "turn",
    "prediction",
    "previous",
    "heard",
    "correct",
    "belief",
    "shift",
]


@dataclass(frozen=True, slots=True)
class Course:
    """How the judges' opinions moved in one debate.

    Attributes:
        change: the sum of CHANGED, TO_WRONG and TO_RIGHT.
        swing: the largest change of a belief between two opinions, 0 to 1.
        beliefs: by turn, the probability of the positive of two labels.
    """

    change: int = 0
    swing: float = 0.0
    beliefs: Mapping[int, float] = field(default_factory=dict)


class Packing:
    """Collects the debates of a study: columns of the index, and chunks.

    Args:
        most: maximum characters of a chunk.
        keep: receives each complete chunk with its name.
        indexed: whether an index tells a search which chunks have a word.
    """

    def __init__(self, max_characters: int, store: StoreChunk, *, indexed: bool = False) -> None:
        self._experiments: list[JsonObject] = []
        self._datasets: dict[str, JsonObject] = {}
        self._cases: dict[tuple[str, str], int] = {}
        self._case_entries: list[JsonObject] = []
        self._debates: list[list[Json]] = []
        self._facts, self._said, self._called = (
            Chunks(kind, max_characters, store) for kind in ("cases", "debates", "calls")
        )
        self._keep, self._words = store, Words() if indexed else None
        self._calls = Calls()

    def add_experiment(self, results: ExperimentResults) -> int:
        """Add an experiment and its data set; return its number."""
        config, task = results.config, results.task
        self._experiments.append(
            {
                "name": results.experiment,
                "protocol": config.protocol,
                "dataset": config.dataset,
                "data": data_label(results),
                "models": {model: config.name_of(model) for model in config.models},
                "control": config.control,
                "of": config.control_of,
                "spoken": 0,
                "download_adds_words": config.download_adds_words,
            }
        )
        described = {
            name: getattr(task, name) for name in ("question", "labels", "positive", "meaning")
        }
        # The page shows the notes of the results above all debates.
        notes = [note for note in task.notes if note not in results.notes]
        self._datasets[config.dataset] = {
            **described,
            "notes": notes,
            "multilabel": task.multilabel,
        }
        return len(self._experiments) - 1

    def add_case(self, case: Case, view: ExperimentView) -> int:
        """Add a case with its facts if it is new; return its number."""
        dataset, text = view.dataset, case_facts(case, view)
        key = (dataset, case.case_id)
        if key not in self._cases:
            self._cases[key] = len(self._cases)
            self._case_entries.append(
                {
                    "dataset": dataset,
                    "id": case.case_id,
                    "target": case.target,
                    "attributes": case.attributes,
                }
            )
            self._facts.add(text, len(text))
        return self._cases[key]

    def add_debate(
        self, row: list[Json], facts: str, debate: Fields, calls: Iterable[Fields]
    ) -> None:
        """Add a debate: its row of the index, its case's facts, its utterances and its calls."""
        self._debates.append(row)
        self._experiments[row[0]]["spoken"] += any(
            turn["text"] or turn["fields"] for turn in debate["turns"]
        )
        if self._words:
            self._words.add(f"{facts}\n{_words(debate)}")
        size = 0
        for turn in debate["turns"]:
            size += len(turn["text"])
            size += sum(len(str(value)) for _, value in turn["fields"])
        size += sum(self._calls.add(call) for call in calls)
        if self._said.add(debate, size):
            self._end_calls()

    def _end_calls(self) -> None:
        if self._words:
            self._words.end(len(self._said.starts) - 1)
        self._called.add(self._calls.packed(), 0)
        self._called.end()
        self._calls = Calls()

    def end(self) -> None:
        """End the last chunks. Chunks of calls have the numbers of their debates' chunks."""
        self._facts.end()
        if self._said.end():
            self._end_calls()
        if self._words:
            self._keep("words", compress(self._words.packed(len(self._said.starts))))

    def index(self) -> JsonObject:
        """Return the index: experiments, data sets, cases, debates, and each chunk's start."""
        columns = zip(*self._debates, strict=True) if self._debates else [()] * len(COLUMNS)
        return {
            "experiments": self._experiments,
            "datasets": self._datasets,
            "cases": self._case_entries,
            "debates": dict(zip(COLUMNS, map(list, columns), strict=True)),
            "chunks": {"cases": self._facts.starts, "debates": self._said.starts},
            "indexed": self._words is not None,
        }


def _words(debate: Fields) -> str:
    """Return the words that a search looks through, as `collectWords` does in `page/data.js`."""
    lines = list[str]()
    for turn in debate["turns"]:
        lines += [turn["speaker"], turn["text"], turn["notice"]]
        for name, value in turn["fields"]:
            lines += [name, *([value] if isinstance(value, str) else value)]
        lines += [turn[name]["label"] for name in ("stated", "label") if turn.get(name)]
    return "\n".join(lines)


def pack_debates(
    packing: Packing,
    results: ExperimentResults,
    effects: Mapping[DebateName, DebateEffects] | None = None,
) -> None:
    """Add the debates of an experiment, including those that wait for a person.

    `effects` tells what moved their judges.
    """
    experiment = packing.add_experiment(results)
    courses, labels = _courses(results), _labels(results)
    outcomes = results.outcomes
    answers = (
        outcomes[outcomes["status"] == "valid"]
        .groupby(["model", "case_id", "repeat"])["prediction"]
        .nunique()
    )
    disagree = set(answers[answers > 1].index)
    # for one judge, not for several
    outcomes = outcomes[~outcomes.duplicated(["model", "case_id", "repeat"], keep=False)]
    keys = zip(outcomes["model"], outcomes["case_id"], outcomes["repeat"], strict=True)
    probabilities = dict(
        zip(keys, probability_of_prediction(outcomes, results.task).tolist(), strict=True)
    )
    for model in results.config.models:
        with _stored_calls(results, model) as calls_of:
            for debate in read_debates(results, model):
                course = courses.get((model, debate.name), Course())
                outcome = debate.outcome
                debate_effects = (effects or {}).get(
                    (results.experiment, model, debate.name), DebateEffects()
                )
                row = [
                    experiment,
                    model,
                    packing.add_case(results.case_by_id[debate.case_id], results.config),
                    debate.repeat,
                    outcome.status,
                    outcome.prediction.label if outcome.prediction else "",
                    probabilities.get((model, debate.case_id, debate.repeat)),
                    course.change | DISAGREE * ((model, debate.case_id, debate.repeat) in disagree),
                    course.swing,
                ]
                content = _turns_and_outcome(
                    debate, course, labels.get((model, debate.name), {}), debate_effects
                )
                calls = list(calls_of(debate))
                _mark_cut_turns(content["turns"], calls)
                packing.add_debate(row, debate.facts, content, calls)


def _turns_and_outcome(
    debate: DebateText,
    course: Course,
    labels: Mapping[int, Mapping[str, str]],
    effects: DebateEffects,
) -> JsonObject:
    turns = [
        _turn(turn, course.beliefs.get(turn.number), labels.get(turn.number))
        for turn in debate.turns
    ]
    for turn in turns:
        if turn["number"] in effects.turns:
            turn["effects"] = effects.turns[turn["number"]]
        if turn["number"] in effects.passages:
            turn["passages"] = effects.passages[turn["number"]]
    return {"turns": turns, "outcome": asdict(debate.outcome)}


def _mark_cut_turns(turns: Iterable[JsonObject], calls: Iterable[Fields]) -> None:
    """Mark the usable turns whose reply ended at the limit of tokens, often within a sentence."""
    cut_calls = {call["call_id"] for call in calls if call["finish_reason"] == "length"}
    for turn in turns:
        if turn["call"] in cut_calls and not turn["notice"]:
            turn["cut"] = True


def _turn(turn: Turn, belief: float | None, label: Mapping[str, str] | None) -> JsonObject:
    values = {
        name: getattr(turn, name) for name in Turn.__dataclass_fields__ if name != "prediction"
    }
    prediction = asdict(turn.prediction) if turn.prediction else None
    return {**values, "stated": prediction, "belief": belief, **({"label": label} if label else {})}


@contextmanager
def _stored_calls(
    results: ExperimentResults, model: str
) -> Iterator[Callable[[DebateText], Iterator[JsonObject]]]:
    """Store the recorded calls of a model on disk, and read the calls of each debate by turn."""
    texts = [column.name for column in SCHEMAS["calls"] if column.type == "string"]
    with closing(sqlite3.connect("")) as database:
        database.execute("CREATE TABLE calls (call_id TEXT, call BLOB)")
        for calls in results.calls_of(model):
            rows = records(calls.fillna(dict.fromkeys(texts, "")))
            packed = ((row["call_id"], zlib.compress(pickle.dumps(row), 1)) for row in rows)
            database.executemany("INSERT INTO calls VALUES (?, ?)", packed)
        database.execute("CREATE INDEX by_id ON calls (call_id)")

        def calls_of(debate: DebateText) -> Iterator[JsonObject]:
            for turn in debate.turns:
                cursor = database.execute(
                    "SELECT call FROM calls WHERE call_id = ? ORDER BY rowid DESC", (turn.call,)
                )
                for (call,) in cursor.fetchmany(1):
                    yield pickle.loads(zlib.decompress(call))  # noqa: S301 - our own file

        yield calls_of


def _courses(results: ExperimentResults) -> dict[tuple[str, str], Course]:
    """Return the changes of opinions, by model and debate."""
    parts = (part[_OPINION] for part in stated_by_part(results))
    rows = chain.from_iterable(map(records, parts))  # reading all opinions at once took most memory
    return {
        debate: _course(list(opinions))
        for debate, opinions in groupby(rows, itemgetter("model", "debate_id"))
    }


def _course(opinions: list[JsonObject]) -> Course:
    """Return one debate's course from its opinions in the order of turns.

    The opinions are the judge's, or all if there is no judge.
    """
    judge_rows = [row for row in opinions if row["speaker"] == JUDGE] or opinions
    last_answers = {row["speaker"]: row["prediction"] for row in judge_rows}
    change, swing = DISAGREE * (len(set(last_answers.values())) > 1), 0.0
    for speaker in dict.fromkeys(row["speaker"] for row in judge_rows):
        seat_rows = [row for row in judge_rows if row["speaker"] == speaker]
        changes = [row for row in seat_rows if isinstance(row["previous"], str) and row["heard"]]
        if any(row["previous"] != row["prediction"] for row in changes):
            change |= CHANGED
            correctness = [bool(row["correct"]) for row in seat_rows]
            change |= TO_WRONG if any(correctness) and not correctness[-1] else 0
            change |= TO_RIGHT if correctness[-1] and not all(correctness) else 0
        swing = max(
            [swing, *(abs(row["shift"]) for row in changes if not math.isnan(row["shift"]))]
        )
    beliefs = {row["turn"]: row["belief"] for row in opinions if not math.isnan(row["belief"])}
    return Course(change, swing, beliefs)


def _labels(results: ExperimentResults) -> dict[tuple[str, str], dict[int, dict[str, str]]]:
    """Return the label that counts of each labelled statement, by model and debate, and by turn."""
    labels: dict[tuple[str, str], dict[int, dict[str, str]]] = {}
    for row in records(results.labels[["model", "debate_id", "turn", "label", "labeler"]]):
        by_turn = labels.setdefault((row["model"], row["debate_id"]), {})
        by_turn[row["turn"]] = {"label": row["label"], "labeler": row["labeler"]}
    return labels
