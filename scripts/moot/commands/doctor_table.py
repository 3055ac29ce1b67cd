"""`snakemake doctor --config doctor={table: FILE}`: describes a table of debates before it is
configured.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd
import yaml
from pydantic import ValidationError

from moot.commands.doctor_cases import describe_cases_table, list_columns
from moot.core.config_errors import validation_message
from moot.core.errors import UserError
from moot.core.text_files import read_text
from moot.core.types import JsonObject
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.reading.tables import ENDINGS, read_table
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns

NAME = "mine"
_NAMES: Mapping[str, str] = {
    "answers": "answer|solution|vote|belief|opinion|track",
    "text": "text|message|utterance|content|body|speech|words|sa(id|ys)|comment|rationale|reason",
    "turn": "turn|seq|order|index|position|step|number|(^|_)(nr|no)$",
    "time": "time|date|stamp|created|sent|_at$",
    "round": "round",
    "belief": "belief|prob|credence|^p_",
    "confidence": "confidence|sure|certain",
    "persona": "persona|profile",
    "judge_repeat": "repeat|replicate|again|sample",
    "judge": "judge|juror|rater|evaluator|annotator",
    "speaker": "speaker|author|user|origin|sender|^from|who|participant|agent|member",
    "debate": (
        "debate|group|thread|conversation|dialog|discussion|session|chat|match|trial|case_?id|run|"
        "^id$"
    ),
    "truth": "truth|gold|target|correct|actual",
    "answer": "answer|vote|verdict|prediction|decision|choice|solution|winner",
    "case": "case|topic|question|item|example|story|motion",
    "side": "side|stance",
    "role": "role|seat",
    "model": "model|llm",
    "kind": "kind|type|act",
    "visibility": "visib|private",
}
"""Usual names of columns of each meaning, in the order in which columns are assigned."""
_BENEFITS = {
    ("text",): "the reader's search, exports, labels, and other judges (`rejudge`)",
    (
        "answer",
        "answers",
        "belief",
    ): "predictions, changes of answers and agreement; or a model judges (`rejudge`)",
    ("truth",): "accuracy, and who changes to right and to wrong",
}
"""The benefits of columns: each for several meanings, of which one suffices."""
_MAX_CATEGORIES, _MAX_NAME_CHARS, _BINARY = 12, 40, 2
_EXACT_MEANINGS = set(TurnColumns.model_fields) - {"repeat", "attributes"}
_OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true", "1": "0", "0": "1"}
"""The second label of beliefs if all answers and truths are the same."""
_NUMERIC_MEANINGS = ("turn", "round", "judge_repeat", "belief", "confidence", "time")


def describe_table(path: Path) -> str:
    """Describe a table: the possible meanings of its columns, the possible results, and the entry.

    It also lists which columns are missing for further results.

    Raises:
        UserError: the file does not exist, or is not a table.
    """
    file, kind = _first_file(path)
    table = read_table(file, [], kind=kind)
    columns = _guess_columns(table)
    if "debate" not in columns:
        return describe_cases_table(file, table, kind)
    options: JsonObject = {
        "loader": "transcripts",
        "path": str(path),
        **({"format": kind} if kind else {}),
    }
    options |= {"columns": {"speaker": "", "text": "", **columns}, **_guess_labels(table, columns)}
    lines = [
        *list_columns(file, table, {column: meaning for meaning, column in columns.items()}),
        "",
        *_describe_guess(options, columns),
        "",
        "Check the guesses in this entry, and paste it:",
        "",
    ]
    entry = {
        "run": ["debates"],
        "models": {"people": {"endpoint": "recorded", "model": "recorded"}},
        "datasets": {NAME: options},
        "experiments": {
            "debates": {
                "source": "recorded",
                "dataset": NAME,
                "models": ["people"],
                "params": {"method": "debate"},
            }
        },
    }
    return (
        "\n".join(lines)
        + "\n"
        + yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, default_flow_style=None)
    )


def _first_file(path: Path) -> tuple[Path, str]:
    """Return the file to read, and its format if its ending does not show it."""
    files = TranscriptsOptions(path=path, format="tsv").files
    file = (
        next((file_path for file_path in files if file_path.stat().st_size), files[0])
        if path.exists() or len(files) > 1
        else path
    )
    if file.suffix.casefold() in ENDINGS or file.is_dir():
        return file, ""
    first = read_text(file).partition("\n")[0]
    return file, "jsonl" if first.startswith("{") else "tsv" if "\t" in first else "csv"


def _guess_columns(table: pd.DataFrame) -> dict[str, str]:
    """Return the column of each meaning, by its name, if its cells may have that meaning.

    A column that is named exactly like an option of `columns` has priority for this meaning.
    """
    columns = _find_exact_columns(table)
    for meaning, names in _NAMES.items():
        if meaning in columns:
            continue
        unused_names = [
            name
            for name in map(str, table)
            if name not in columns.values() and re.search(names, name, re.IGNORECASE)
        ]
        candidates = [name for name in unused_names if _fits(meaning, table, name, columns)]
        if meaning in ("text", "debate"):  # the column with the longest words; the finest division
            candidates.sort(
                key=lambda name: (
                    -(table[name].str.len().mean() if meaning == "text" else table[name].nunique())
                )
            )
        if candidates:
            columns[meaning] = candidates[0]
    if "speaker" not in columns and "judge" not in columns and "model" in columns:
        columns["judge"] = columns["model"]
    for meaning in ("persona", "judge_repeat") if "judge" not in columns else ():
        columns.pop(meaning, None)
    return columns


def _find_exact_columns(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns named exactly like a meaning, in any case, if their cells can be read."""
    columns: dict[str, str] = {}
    for name in map(str, table):
        meaning = name.strip().casefold()
        if meaning in _EXACT_MEANINGS and meaning not in columns:
            cells = table[name].str.strip().loc[lambda cells: cells != ""]
            if len(cells) and _can_be_read(meaning, cells, len(cells) == len(table)):
                columns[meaning] = name
    return columns


def _can_be_read(meaning: str, filled_cells: "pd.Series[str]", is_complete: bool) -> bool:
    """Return whether the loader can read the filled cells of a column with a meaning."""
    is_object = bool(filled_cells.str.startswith("{").all())
    if meaning in ("answers", "text"):
        return is_object == (meaning == "answers")
    if meaning in ("debate", "turn", "time") and not is_complete:
        return False
    return not is_object and (
        meaning not in _NUMERIC_MEANINGS or _fits_numbers(meaning, filled_cells)
    )


def _fits(meaning: str, table: pd.DataFrame, name: str, columns: Mapping[str, str]) -> bool:
    """Return whether the cells of a column look like a meaning, given the columns that are
    assigned.
    """
    cells = table[name].str.strip()
    filled_cells = cells[cells != ""]
    if filled_cells.empty:
        return False
    is_object = bool(filled_cells.str.startswith("{").all())
    if is_object or meaning == "answers":
        return is_object and meaning == "answers"
    if meaning in _NUMERIC_MEANINGS:
        return _fits_numbers(meaning, cells)
    return _fits_words(meaning, table, name, columns)


def _fits_words(meaning: str, table: pd.DataFrame, name: str, columns: Mapping[str, str]) -> bool:
    """Return whether the words of a column look like a text, a truth, a case, a name or a
    category.
    """
    cells = table[name].str.strip()
    filled_cells = cells[cells != ""]
    if meaning == "text":
        return bool(filled_cells.str.contains(" ").mean() > 1 / 2)
    if meaning == "truth" and "debate" in columns:
        has_categories = filled_cells.nunique() <= _MAX_CATEGORIES
        return has_categories and _is_constant_in_debates(table, name, columns)
    is_short = bool(cells.str.len().mean() <= _MAX_NAME_CHARS)
    if meaning == "case":
        return is_short and _is_constant_in_debates(table, name, columns)
    return is_short and _fits_categories(meaning, filled_cells.nunique(), len(table))


def _fits_categories(meaning: str, category_count: int, row_count: int) -> bool:
    """Return whether a column with this number of different values may have a meaning."""
    if meaning in ("debate", "speaker"):
        return category_count < row_count
    if meaning in ("model", "judge"):
        return category_count <= _MAX_CATEGORIES
    return 1 < category_count <= _MAX_CATEGORIES


def _fits_numbers(meaning: str, cells: "pd.Series[str]") -> bool:
    """Return whether cells look like the integers, shares or times of a meaning."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if meaning == "time":
        times = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
        return bool((numbers.notna() | times.notna()).all())
    if meaning in ("belief", "confidence"):
        return bool(numbers[cells != ""].between(0, 1 if meaning == "belief" else 100).all())
    return bool((numbers.notna() & (numbers % 1 == 0)).all())


def _is_constant_in_debates(table: pd.DataFrame, name: str, columns: Mapping[str, str]) -> bool:
    """Return whether a column has one value in each debate.

    False as long as no column gives the debate.
    """
    if "debate" not in columns:
        return False
    return bool((table.groupby(columns["debate"])[name].nunique() == 1).all())


def _guess_labels(table: pd.DataFrame, columns: Mapping[str, str]) -> JsonObject:
    """Return the probable labels of the answers."""
    if "answers" in columns:
        return {
            "labels": {"/the right answers/": "right", "/.*/": "wrong"},
            "positive": "right",
            "truth": "right",
        }
    words = pd.concat(
        [table[columns[name]].str.strip() for name in ("answer", "truth") if name in columns]
        or [pd.Series(dtype="str")]
    )
    labels = sorted({word for word in words if word and word not in ("None", "null", "UNKNOWN")})
    if len(labels) == 1 and "belief" in columns:
        labels.insert(0, _OPPOSITES.get(labels[0].casefold(), f"not {labels[0]}"))
    options: JsonObject = {"labels": {word: word.casefold() for word in labels or ["no", "yes"]}}
    names = list(dict.fromkeys(options["labels"].values()))
    return {**options, "positive": names[1]} if len(names) == _BINARY else options


def _describe_guess(options: JsonObject, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield the loader's result with the guess, and what can be computed from it."""
    loader = LOADERS["transcripts"]
    try:
        loaded: Loaded = loader.load(
            loader.options.model_validate(options), LoadContext(NAME, Path(), Path(), 0)
        )
    except (UserError, ValidationError) as fault:
        location = ("datasets", NAME), (), loader.options
        message = (
            validation_message(fault, *location) if isinstance(fault, ValidationError) else fault
        )
        yield f"With this guess the table cannot be read yet:\n{message}"
        return
    yield (
        "Read as guessed: "
        + ", ".join(f"{count} {finding}" for finding, count in loaded.cleaning.items())
        + "."
    )
    present_keys = {*columns, *options}
    for names, benefit in _BENEFITS.items():
        if present_keys.isdisjoint(names):
            yield f"Missing: {' or '.join(f'`{name}`' for name in names)}, which enables {benefit}."
