"""Answers that lm-evaluation-harness wrote with `--log_samples`: a `samples_*.jsonl` per model.

Each line is a document: its number, the target, and the filtered replies. For a multiple-choice
task these are the log-probabilities of the choices, and the most probable choice is the answer. For
other tasks the first filtered reply is the answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import describe_cell
from moot.core.json_lines import read_jsonl
from moot.core.likelihood import label_shares
from moot.core.text_files import quote_value
from moot.core.types import Json, JsonObject
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.debate_records import FaultyShare, RecordedDebate, leave_out
from moot.datasets.transcripts import cases_of, debates_of
from moot.datasets.turn_columns import AnswersOptions, TranscriptsOptions, TurnColumns
from moot.datasets.turns import Turns, read_turns

_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "doc_id": int,
    "target": (str, int),
    "filtered_resps": (list, str),
}
_LEFT_OUT = "answers left out because of faults"
_CHOICE_LENGTH = 2
"""Items of a multiple-choice reply: log-probability, and whether greedy decoding gives it."""


class LmEvalOptions(AnswersOptions):
    """The options of a data set that consists of samples of lm-evaluation-harness."""

    samples: Mapping[str, Path] = Field(
        min_length=1,
        description="The samples_*.jsonl of each model, relative to the working directory.",
    )
    no_answer: tuple[str, ...] = Field(
        ("", "[invalid]"), description="Replies that mean: no usable answer."
    )
    filter: str = Field(
        "",
        description="Filter whose replies count. Default: the only filter; required for several.",
    )
    text: str = Field(
        "",
        description="Field of the document with the text of the case. Default: no text is shown.",
    )
    faulty: FaultyShare = 0.01

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """Return the samples."""
        return tuple(self.samples.values())


def read_answers(options: LmEvalOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """Return the answers of each model, in the order of its file.

    Raises:
        UserError: more lines have a fault than `faulty` allows.
    """
    del context
    samples = _read_samples(options)
    return debates_of(samples.options, samples.turns)


@dataset("lm_eval", LmEvalOptions, records=read_answers)
def load(options: LmEvalOptions, context: LoadContext) -> Loaded:
    """Load the documents that were answered, all of them test cases."""
    files = options.own_files(context.data_root)
    samples, names = _read_samples(options), ", ".join(path.name for path in files)
    loaded = cases_of(samples.options, samples.turns, context, names, files)
    if not samples.left_out:
        return loaded
    left_out = loaded.cleaning.get(_LEFT_OUT, 0) + samples.left_out
    return replace(loaded, cleaning={**loaded.cleaning, _LEFT_OUT: left_out})


class _Samples(NamedTuple):
    """The samples as a table of answers, its options, and the number of unreadable lines."""

    options: TranscriptsOptions
    turns: Turns
    left_out: int


def _read_samples(options: LmEvalOptions) -> _Samples:
    """Read the samples as a table of answers, with the columns named as in the files."""
    columns = TurnColumns(
        debate="",
        case="doc_id",
        model="model",
        answer="filtered_resps",
        truth="target",
        confidence="share",
        facts="doc" if options.text else "",
    )
    options_of_answers = options.model_dump(include=set(AnswersOptions.model_fields))
    faults, line_count = Faults(), 0
    files: dict[Path, pd.DataFrame] = {}
    for model, path in options.samples.items():
        broken_lines = Faults()
        lines = _read_lines(options, path, broken_lines)
        line_count += len(lines) + len(broken_lines.messages)
        faults.add_all(broken_lines)
        files[path] = _table(options, model, path, lines, faults)
    left_out = line_count - sum(map(len, files.values()))
    remedy = "Correct the files, or allow more."
    leave_out(faults.messages, left_out, line_count, options.faulty, remedy, "answers")
    table = TranscriptsOptions(
        path=next(iter(files)), columns=columns, faulty=options.faulty, **options_of_answers
    )
    return _Samples(table, read_turns(table, files), left_out)


def _read_lines(options: LmEvalOptions, path: Path, faults: Faults) -> pd.DataFrame:
    """Return the lines of one filter, each document once; `faults` gets those that cannot be
    read.
    """
    table = read_jsonl(
        path,
        _FIELDS,
        optional={"filter": str, "doc": dict},
        get="Correct the line, or name another file under `samples`.",
        faults=faults,
    )
    filters = sorted(set(table["filter"].dropna()))
    if options.filter:
        if options.filter not in filters:
            raise UserError(
                f"{path}: no line has filter {quote_value(options.filter)}; found"
                f" {', '.join(filters) or 'none'}."
            )
        table = table[table["filter"] == options.filter]
    elif len(filters) > 1:
        raise UserError(
            f"{path}: found the filters {', '.join(filters)}; expected one. Choose it with"
            " `filter`."
        )
    _refuse_repeated_documents(path, table["doc_id"])
    return table


def _table(
    options: LmEvalOptions, model: str, path: Path, lines: pd.DataFrame, faults: Faults
) -> pd.DataFrame:
    """Return the answers of lines as texts, without the lines that have a fault, which is noted."""
    cells: dict[Json, JsonObject] = {}
    for row, line in zip(lines.index, lines.to_dict("records"), strict=True):
        with faults.noting():
            place = describe_cell(path, row, "filtered_resps")
            answer, share = _answer(place, line["filtered_resps"])
            text = ""
            if options.text:
                text = _text(options, describe_cell(path, row, "doc"), line["doc"])
            cells[row] = {"filtered_resps": answer, "share": share, "doc": text}
    answers = pd.DataFrame.from_dict(
        cells, orient="index", columns=["filtered_resps", "share", "doc"], dtype="str"
    )
    readable = lines.loc[list(cells)]
    return answers.assign(
        target=readable["target"].astype("str"),
        doc_id="doc-" + readable["doc_id"].astype("str"),
        model=model,
    ).rename_axis("row")


def _refuse_repeated_documents(path: Path, doc_ids: pd.Series) -> None:
    """Require each document once: a second line holds the replies of another filter or run."""
    is_repeated = doc_ids.duplicated()
    if is_repeated.any():
        row = doc_ids.index[is_repeated][0]
        first_row = doc_ids.index[doc_ids == doc_ids[row]][0]
        raise UserError(
            f"{describe_cell(path, row, 'doc_id')}: document {doc_ids[row]} occurs twice (first in"
            f" row {first_row}; {is_repeated.sum()} of {len(doc_ids)} lines repeat a document);"
            " expected one line for each document. Keep the lines of one filter and one"
            " run."
        )


def _answer(place: str, replies: Json) -> tuple[str, str]:
    """Return the answer as the file writes it, or the number of the likeliest choice.

    A text stands for a list with this text alone.

    Returns:
        The answer, and the probability of a choice in per cent.
    """
    if isinstance(replies, str):
        return replies, ""
    if replies and all(
        isinstance(reply, list) and len(reply) == _CHOICE_LENGTH for reply in replies
    ):
        numbers = pd.to_numeric(pd.Series([reply[0] for reply in replies]), errors="coerce")
        if numbers.isna().any() or not np.isfinite(numbers.max()):
            raise UserError(
                f"{place}: found {quote_value(str(replies))}; expected a log-probability for each"
                " choice."
            )
        shares = label_shares({str(choice): float(value) for choice, value in enumerate(numbers)})
        likeliest = max(shares, key=lambda choice: shares[choice])
        return likeliest, str(100 * shares[likeliest])
    if not replies or not isinstance(replies[0], str):
        raise UserError(
            f"{place}: found {quote_value(str(replies))}; expected a reply, or a pair for each"
            " choice."
        )
    return replies[0], ""


def _text(options: LmEvalOptions, place: str, document: JsonObject | None) -> str:
    text = (document or {}).get(options.text)
    if not isinstance(text, str):
        raise UserError(f"{place}: no text under {quote_value(options.text)}. Correct `text`.")
    return text
