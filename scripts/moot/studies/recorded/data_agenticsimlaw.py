"""What AgenticSimLaw's authors published with their paper: one row an answer, over vignettes of
real people.

The files (MIT licence, pinned in `data/versions.csv`) hold predictions and stated confidences of
debates, of the cooperative ablation, of single prompts and of self-consistency. `case_id` counts
the rows of the vignettes from 0. "NO DECISION" and "UNKNOWN" are not answers: they are kept as
invalid, with these words as the reason.

The same form serves their COMPAS and credit files: another entry of the configuration names the
    files.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import cell, check_values, quoted, read_csv, refuse, whole_numbers
from moot.core.kinds import VOTES
from moot.core.types import JsonObject
from moot.core.user_tables import numbered_rows
from moot.datasets import DatasetOptions, LoadContext, Loaded, dataset
from moot.datasets.records import (
    WITHOUT_TEXT,
    RecordedDebate,
    RecordedUtterance,
    read_confidence,
    shipped_cases,
    shipped_debates,
)

FOLDER = "recorded/agenticsimlaw"
ANSWERS = {"YES": "yes", "NO": "no"}
PREDICTION_COLUMNS = ("prediction", "mv_prediction")
VOTE_COLUMNS = {"yes": "yes_votes", "no": "no_votes"}
CASES, MODEL, REPEAT, CONFIDENCE = "case_id", "model_name", "repeat_id", "confidence"
TRUTH, PROMPT = "ground_truth", "prompt_type"


class AgenticSimLawOptions(DatasetOptions):
    """What an entry of the configuration may say about the published records; the defaults are
    those of NLSY97.
    """

    source: Literal["shipped", "local", "download"] = Field(  # type: ignore[assignment]
        "shipped",
        description=(
            "shipped: the numbers of the records, without the people's narratives; local: the"
            " published files under data_root; download: the same files, fetched first"
        ),
    )
    shipped: str = Field(
        "agenticsimlaw-nlsy97", description="which of the shipped numbers (source: shipped)"
    )
    vignettes: str = Field(
        "nlsy97_vignettes_200.csv", description="the file of people that the records speak of"
    )
    outcome: str = Field(
        "y_arrestedafter2002", description="the vignettes' column that says what happened"
    )
    attributes: tuple[str, ...] = Field(
        ("sex", "race", "age"), description="the vignettes' columns to group scores by"
    )
    question: str = Field(
        "Will the person be arrested again within three years?", description="what was predicted"
    )
    no_answer: tuple[str, ...] = Field(
        ("NO DECISION", "NO_DECISION", "UNKNOWN", "ERROR", ""),
        description="what the files write where there is no usable answer",
    )
    records: Mapping[str, tuple[str, ...]] = Field(
        default_factory=lambda: {
            "debate": ("debate_aggregate_nlsy97_200.csv", "bridge_gpt5mini_nlsy97.csv"),
            "cooperative debate": ("cooperative_aggregate_nlsy97_100.csv",),
            "self-consistency": ("sc_nlsy97_merged_majority_vote_per_case.csv",),
            "single prompt": ("standardllm_results_nlsy97_20260215_094222.csv",),
        },
        description="method to the files of its answers",
    )


def read_debates(options: AgenticSimLawOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The recorded answers, file by file in the order of the options; raises `UserError` for a
    fault in a file.
    """
    if options.source == "shipped":
        yield from shipped_debates(options.shipped, context)
        return
    for method, files in options.records.items():
        for file in files:
            yield from _read_answers(options, context, file, method)


@dataset("agenticsimlaw", AgenticSimLawOptions, FOLDER, records=read_debates)
def load(options: AgenticSimLawOptions, context: LoadContext) -> Loaded:
    """The people that the records speak of, all of them test cases: nothing was trained on them
    here.
    """
    if options.source == "shipped":
        return shipped_cases(options.shipped, context)
    path = context.data_root / FOLDER / options.vignettes
    table = read_csv(path, [options.outcome, *options.attributes], get=_GET)
    outcome = _truths(path, table[options.outcome])
    task = Task(
        noun="the person",
        question=options.question,
        labels=("no", "yes"),
        positive="yes",
        notes=("answers recorded by AgenticSimLaw's authors (MIT licence)",),
    )
    cases = [
        Case(
            case_id=f"vignette-{row - 1}",
            dataset=context.name,
            split="test",
            text=WITHOUT_TEXT,
            target=str(truth),
            labels=task.labels,
            attributes={name: cells[name] for name in options.attributes},
            source_row=row,
        )
        for (row, cells), truth in zip(numbered_rows(table), outcome, strict=True)
    ]
    return Loaded(cases, task, cleaning={"people": len(cases)}, sources=(path,))


_GET = (
    "put the published file there (see data/raw/README.md), or choose source 'download' or"
    " 'shipped'."
)
_TRUTH = {"true": "yes", "false": "no", "1": "yes", "0": "no", "yes": "yes", "no": "no"}


def _truths(path: Path, values: "pd.Series[str]") -> "pd.Series[str]":
    """True and false of any spelling as labels."""
    found = values.str.strip().str.casefold().map(_TRUTH)
    check_values(path, values.where(found.isna(), "True"), ["True"], "Expected true or false.")
    return found


def _read_answers(
    options: AgenticSimLawOptions, context: LoadContext, file: str, method: str
) -> Iterator[RecordedDebate]:
    """The answers of a file; a method has a name for each prompt where the file holds answers to
    several.
    """
    path, vignettes = (context.data_root / FOLDER / name for name in (file, options.vignettes))
    table = read_csv(path, [MODEL, CASES], get=_GET)
    column = next((name for name in PREDICTION_COLUMNS if name in table), None)
    if column is None:
        raise UserError(
            f"{path}: no column {' or '.join(PREDICTION_COLUMNS)}; found"
            f" {quoted(', '.join(map(str, table)))}."
        )
    check_values(
        path, table[column].str.strip(), [*ANSWERS, *options.no_answer], "Add it to `no_answer`."
    )
    cases = whole_numbers(path, table[CASES], lowest=0)
    repeats = (
        whole_numbers(path, table[REPEAT], lowest=0)
        if REPEAT in table
        else pd.Series(0, index=table.index)
    )
    first_repeat = int(repeats.min())
    if TRUTH in table:
        known = _truths(
            vignettes, read_csv(vignettes, [options.outcome], get=_GET)[options.outcome]
        )
        told, expected = _truths(path, table[TRUTH]), cases.map(lambda case: known.get(case + 1))
        do = f"The records speak of other people than `vignettes`: name their file. ({vignettes})"
        refuse(
            path,
            table[TRUTH],
            expected.notna() & (told != expected),
            f"what {vignettes.name} says of the case",
            do,
        )
    prompts = table[PROMPT] if PROMPT in table and table[PROMPT].nunique() > 1 else None
    for (row, cells), case, repeat in zip(numbered_rows(table), cases, repeats, strict=True):
        found = cells[column].strip()
        prediction = ANSWERS.get(found)
        stated = (
            read_confidence(cell(path, row, CONFIDENCE), cells[CONFIDENCE])
            if CONFIDENCE in cells and prediction
            else None
        )
        problem = "" if prediction else f"the record says {found or 'nothing'}"
        number = int(repeat) - first_repeat
        said = _votes(path, row, cells)
        of_prompt = method if prompts is None else f"{method}, {prompts[row]}"
        yield RecordedDebate(
            of_prompt,
            cells[MODEL],
            f"vignette-{case}",
            number,
            prediction,
            stated,
            problem=problem,
            utterances=said,
        )


def _votes(path: Path, row: int, cells: Mapping[str, str]) -> list[RecordedUtterance]:
    """How many answers a vote counts, by label; nothing for what is no vote."""
    counts = {
        label: cells[column].strip() for label, column in VOTE_COLUMNS.items() if column in cells
    }
    for label, count in counts.items():
        if not count.isdecimal():
            place = cell(path, row, VOTE_COLUMNS[label])
            raise UserError(f"{place}: found {quoted(count)}, expected a whole number.")
    parsed: JsonObject = {label: int(count) for label, count in counts.items()}
    return [RecordedUtterance("expert", VOTES, parsed=parsed)] if parsed else []
