"""Answers about vignettes of real people, from a later study of AgenticSimLaw's authors.

They are not the paper's answers: the study has other models and only 22 of its features, although
its files are in the same repository. They do not judge claims of the paper.

A row of the files (MIT licence, pinned in `data/versions.csv`) is one answer: a prediction and a
stated confidence of a debate, of the cooperative ablation, of a single prompt or of
self-consistency. `case_id` counts the rows of the vignettes from 0. "NO DECISION" and "UNKNOWN" are
not answers: they become invalid answers with these words as the reason.

The authors' COMPAS and credit files have the same form: another entry of the configuration names
them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import WITHOUT_TEXT, Case, Task
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import Column, JsonObject
from moot.core.utterance_kinds import VOTES
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.debate_records import (
    RecordedDebate,
    RecordedUtterance,
    load_shipped_cases,
    load_shipped_debates,
    read_confidence,
)
from moot.datasets.reading.checks import (
    check_unique,
    check_values,
    describe_cell,
    parse_whole_numbers,
    refuse_values,
    run_checks,
)
from moot.datasets.reading.delimited import read_csv
from moot.datasets.reading.tables import numbered_rows

FOLDER = "recorded/agenticsimlaw"
ANSWERS = {"YES": "yes", "NO": "no"}
PREDICTION_COLUMNS = ("prediction", "mv_prediction")
VOTE_COLUMNS = {"yes": "yes_votes", "no": "no_votes"}
CASES, MODEL, REPEAT, CONFIDENCE = "case_id", "model_name", "repeat_id", "confidence"
TRUTH, PROMPT = "ground_truth", "prompt_type"
_KEY = "model, case, repeat and prompt"
"""The column that identifies an answer in its file."""


class AgenticSimLawOptions(DatasetOptions):
    """The options of a data set with `loader: agenticsimlaw`. The defaults load NLSY97."""

    source: Literal["shipped", "local", "download"] = Field(  # pyrefly: ignore[bad-override]
        "shipped",
        description=(
            "shipped: the numbers of the records, without the people's narratives; local: the"
            " published files under data_root; download: the same files, downloaded first"
        ),
    )
    shipped: str = Field(
        "agenticsimlaw-nlsy97",
        description="the name of the shipped records (for `source: shipped`)",
    )
    vignettes: str = Field(
        "nlsy97_vignettes_200.csv", description="the file of the people whom the records are about"
    )
    outcome: str = Field(
        "y_arrestedafter2002", description="the vignettes' column with the outcome, true or false"
    )
    attributes: tuple[str, ...] = Field(
        ("sex", "race", "age"), description="the vignettes' columns by which scores are grouped"
    )
    question: str = Field(
        "Will the person be arrested again within three years?",
        description="the question that the answers predict",
    )
    no_answer: tuple[str, ...] = Field(
        ("NO DECISION", "NO_DECISION", "UNKNOWN", "ERROR", ""),
        description="the values in the files that are not usable answers",
    )
    records: Mapping[str, tuple[str, ...]] = Field(
        default_factory=lambda: {
            "debate": ("debate_aggregate_nlsy97_200.csv", "bridge_gpt5mini_nlsy97.csv"),
            "cooperative debate": ("cooperative_aggregate_nlsy97_100.csv",),
            "self-consistency": ("sc_nlsy97_merged_majority_vote_per_case.csv",),
            "single prompt": ("standardllm_results_nlsy97_20260215_094222.csv",),
        },
        description="the files of the answers, by method",
    )


def read_debates(options: AgenticSimLawOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """Yield the recorded answers, file by file in the order of the options.

    Raises:
        UserError: a file has a fault.
    """
    if options.source == "shipped":
        yield from load_shipped_debates(options.shipped, context)
        return
    vignettes = _read_vignettes(options, context)
    for method, files in options.records.items():
        for file in files:
            yield from _read_answers(options, context, vignettes, file, method)


@dataset(
    "agenticsimlaw", AgenticSimLawOptions, FOLDER, records=read_debates, shipped=("data/records",)
)
def load(options: AgenticSimLawOptions, context: LoadContext) -> Loaded:
    """Load the people in the records, all of them test cases, since nothing is trained on them."""
    if options.source == "shipped":
        return load_shipped_cases(options.shipped, context)
    vignettes = _read_vignettes(options, context)
    table, outcomes = vignettes.table, vignettes.outcomes
    task = Task(
        noun="the person",
        question=options.question,
        labels=("no", "yes"),
        positive="yes",
        notes=("answers of a later study of AgenticSimLaw's authors (MIT licence)",),
    )
    cases = []
    for (row, cells), outcome in zip(numbered_rows(table), outcomes, strict=True):
        case = Case(
            case_id=f"vignette-{row - 1}",
            dataset=context.name,
            split="test",
            text=WITHOUT_TEXT,
            target=str(outcome),
            labels=task.labels,
            attributes={name: cells[name] for name in options.attributes},
            source_row=row,
        )
        cases.append(case)
    return Loaded(cases, task, cleaning={"people": len(cases)}, sources=(vignettes.path,))


_GET = (
    "put the published file there (see data/raw/README.md), or choose `source: download` or"
    " `source: shipped`."
)
_TRUTH = {"true": "yes", "false": "no", "1": "yes", "0": "no", "yes": "yes", "no": "no"}


def _read_truths(path: Path, values: "pd.Series[str]") -> "pd.Series[str]":
    """Return labels for true and false in any spelling."""
    labels = values.str.strip().str.casefold().map(_TRUTH)
    check_values(path, values.where(labels.isna(), "true"), ["true", "false"])
    return labels


@dataclass(frozen=True, slots=True)
class _Vignettes:
    """The people whom answers are about.

    Attributes:
        path: their file.
        table: its rows.
        outcomes: the label of each, by row.
    """

    path: Path
    table: pd.DataFrame
    outcomes: "pd.Series[str]"


def _read_vignettes(options: AgenticSimLawOptions, context: LoadContext) -> _Vignettes:
    path = context.data_root / FOLDER / options.vignettes
    table = read_csv(path, [options.outcome, *options.attributes], get=_GET)
    return _Vignettes(path, table, _read_truths(path, table[options.outcome]))


def _read_answers(
    options: AgenticSimLawOptions,
    context: LoadContext,
    vignettes: _Vignettes,
    file: str,
    method: str,
) -> Iterator[RecordedDebate]:
    """Yield the answers of a file.

    If the file has answers to several prompts, the method's name includes the prompt.
    """
    path = context.data_root / FOLDER / file
    table = read_csv(path, [MODEL, CASES], get=_GET)
    column = _prediction_column(path, table)
    names = [name for name in (MODEL, CASES, REPEAT, PROMPT) if name in table]
    keys = table[names].apply(lambda column: column.str.strip()).agg(", ".join, axis=1)
    run_checks(
        partial(check_unique, path, keys.rename(_KEY)),
        partial(_check_answers, path, table, options, vignettes),
    )
    cases = parse_whole_numbers(path, table[CASES], minimum=0)
    repeats = pd.Series(0, index=table.index)
    if REPEAT in table:
        repeats = parse_whole_numbers(path, table[REPEAT], minimum=0)
    first_repeat = int(repeats.min())
    has_several_prompts = PROMPT in table and table[PROMPT].nunique() > 1
    for (row, cells), case, repeat in zip(numbered_rows(table), cases, repeats, strict=True):
        answer = cells[column].strip()
        prediction = ANSWERS.get(answer)
        confidence = None
        if prediction and CONFIDENCE in cells:
            confidence = read_confidence(describe_cell(path, row, CONFIDENCE), cells[CONFIDENCE])
        yield RecordedDebate(
            f"{method}, {cells[PROMPT]}" if has_several_prompts else method,
            cells[MODEL],
            f"vignette-{case}",
            int(repeat) - first_repeat,
            prediction,
            confidence,
            problem="" if prediction else f"the record says {answer or 'nothing'}",
            utterances=_read_votes(path, row, cells),
        )


def _check_answers(
    path: Path, table: pd.DataFrame, options: AgenticSimLawOptions, vignettes: _Vignettes
) -> None:
    """Raise `UserError` for rows with an answer, number, truth or vote that cannot be read."""
    answers = table[_prediction_column(path, table)].str.strip()
    check_values(path, answers, [*ANSWERS, *options.no_answer], "Add it to `no_answer`.")
    cases = parse_whole_numbers(path, table[CASES], minimum=0)
    refuse_values(
        path,
        table[CASES],
        cases >= len(vignettes.table),
        f"a row of {vignettes.path.name}, from 0 to {len(vignettes.table) - 1}",
        f"The records are about other people than `vignettes`: name their file. ({vignettes.path})",
    )
    if REPEAT in table:
        parse_whole_numbers(path, table[REPEAT], minimum=0)
    if TRUTH in table:
        _check_truths(path, table[TRUTH], cases, vignettes)
    for row, cells in numbered_rows(table):
        if CONFIDENCE in cells and answers[row] in ANSWERS:
            read_confidence(describe_cell(path, row, CONFIDENCE), cells[CONFIDENCE])
        _read_votes(path, row, cells)


def _prediction_column(path: Path, table: pd.DataFrame) -> str:
    for name in PREDICTION_COLUMNS:
        if name in table:
            return name
    raise UserError(
        f"{path}: no column {' or '.join(PREDICTION_COLUMNS)}; found"
        f" {quote_value(', '.join(map(str, table)))}."
    )


def _check_truths(
    path: Path, truths: "pd.Series[str]", cases: Column, vignettes: _Vignettes
) -> None:
    """Raise `UserError` for rows whose truth differs from the outcome in the vignettes."""
    expected = cases.map(lambda case: vignettes.outcomes.get(case + 1))
    refuse_values(
        path,
        truths,
        expected.notna() & (_read_truths(path, truths) != expected),
        f"the outcome of the case in {vignettes.path.name}",
        f"The records are about other people than `vignettes`: name their file. ({vignettes.path})",
    )


def _read_votes(path: Path, row: int, cells: Mapping[str, str]) -> list[RecordedUtterance]:
    """Return the number of votes for each label; empty if the file has no votes."""
    votes: JsonObject = {}
    for label, column in VOTE_COLUMNS.items():
        if column not in cells:
            continue
        count = cells[column].strip()
        if not count.isdecimal():
            place = describe_cell(path, row, column)
            raise UserError(f"{place}: found {quote_value(count)}, expected a whole number.")
        votes[label] = int(count)
    return [RecordedUtterance("expert", VOTES, parsed=votes)] if votes else []
