"""Answers that lm-evaluation-harness wrote with `--log_samples`: one `samples_*.jsonl` for each model.

One line a document: its number, the target, and what the filters made of the replies. Where a task is multiple choice
these are log-probabilities, one for each choice, and the most probable choice is the answer; otherwise the first
filtered reply is.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import Field

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.core.input_files import cell, quoted, read_jsonl
from moot.core.likelihood import label_shares
from moot.core.types import Fields, Json, JsonObject
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.recorded_predictions import METHOD, AnswersOptions, DistinctCases
from moot.datasets.records import WITHOUT_TEXT, RecordedDebate

_FIELDS: Mapping[str, type | tuple[type, ...]] = {"doc_id": int, "target": (str, int), "filtered_resps": list}
_CHOICE = 2  # of a multiple-choice reply: log-probability, and whether it is the likeliest continuation


class LmEvalOptions(AnswersOptions):
    """What an entry of the configuration may say about samples of lm-evaluation-harness."""

    samples: Mapping[str, Path] = Field(description="model to its samples_*.jsonl, from the working directory")
    no_answer: tuple[str, ...] = Field(("", "[invalid]"), description="replies that are no usable answer")
    filter: str = Field("", description="which filter's replies, where a task has several; none: the only one")
    text: str = Field("", description="field of the document that holds the case's text; none: it is not shown")

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """The samples."""
        return tuple(self.samples.values())


def read_answers(options: LmEvalOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The answers of each model in the order of its file; raises `UserError` for a line that cannot be read."""
    del context
    for model, path in options.samples.items():
        for row, cells in _rows(options, path):
            found, share = _answer(path, row, cells["filtered_resps"])
            confidence = None if share is None else 100 * share
            identity = METHOD, model, _case_id(cells)
            yield options.debate(identity, 0, cell(path, row, "filtered_resps"), found, confidence)


@dataset("lm_eval", LmEvalOptions, records=read_answers)
def load(options: LmEvalOptions, context: LoadContext) -> Loaded:
    """The documents that the answers speak of, all of them test cases."""
    task = options.task(", ".join(path.name for path in options.samples.values()))
    distinct, rows_read = DistinctCases(), 0
    for path in options.samples.values():
        for row, cells in _rows(options, path):
            rows_read += 1
            place, target = cell(path, row, "target"), str(cells["target"])
            case = Case(
                case_id=_case_id(cells),
                dataset=context.name,
                split="test",
                text=_text(options, path, row, cells["doc"]),
                target=str(options.label(place, target, answer=False)),
                labels=task.labels,
                source_row=row,
            )
            distinct.add(case, {place: target})
    return Loaded(distinct.cases, task, cleaning={"lines read": rows_read}, sources=tuple(options.samples.values()))


def _case_id(cells: Fields) -> str:
    return f"doc-{cells['doc_id']}"


def _rows(options: LmEvalOptions, path: Path) -> Iterator[tuple[int, JsonObject]]:
    table = read_jsonl(path, _FIELDS, optional={"filter": str, "doc": dict}, get="Name it under `samples`.")
    filters = sorted(set(table["filter"].dropna()))
    if options.filter:
        if options.filter not in filters:
            raise UserError(
                f"{path}: no line has filter {quoted(options.filter)}; found {', '.join(filters) or 'none'}."
            )
        table = table[table["filter"] == options.filter]
    elif len(filters) > 1:
        raise UserError(f"{path}: replies of several filters ({', '.join(filters)}). Choose one with `filter`.")
    yield from zip(map(int, table.index), table.to_dict("records"), strict=True)


def _answer(path: Path, row: int, replies: list[Json]) -> tuple[str, float | None]:
    """The answer as the file writes it, or the number of the likeliest choice with its share of the probability."""
    place = cell(path, row, "filtered_resps")
    if replies and all(isinstance(reply, list) and len(reply) == _CHOICE for reply in replies):
        numbers = pd.to_numeric(pd.Series([reply[0] for reply in replies]), errors="coerce")
        if numbers.isna().any() or not np.isfinite(numbers.max()):
            raise UserError(f"{place}: found {quoted(str(replies))}; expected a log-probability for each choice.")
        shares = label_shares({str(choice): float(value) for choice, value in enumerate(numbers)})
        best = max(shares, key=lambda choice: shares[choice])
        return best, shares[best]
    if not replies or not isinstance(replies[0], str):
        raise UserError(f"{place}: found {quoted(str(replies))}; expected a reply, or a pair for each choice.")
    return replies[0], None


def _text(options: LmEvalOptions, path: Path, row: int, document: JsonObject | None) -> str:
    if not options.text:
        return WITHOUT_TEXT
    text = (document or {}).get(options.text)
    if not isinstance(text, str):
        raise UserError(f"{cell(path, row, 'doc')}: no text under {quoted(options.text)}. Correct `text`.")
    return text
