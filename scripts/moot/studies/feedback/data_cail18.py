"""CAIL2018: from the facts of a Chinese criminal judgment to the articles of law, or to the charge.

Xiao et al. (2018). Articles are a multi-label task, since a judgment may apply several.
"""

import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Literal

from pydantic import Field

from moot.core.cases import SplitName, Task
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.core.yaml_text import load_yaml
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.reading.checks import DataFaults
from moot.datasets.reading.records import read_jsonl
from moot.studies.feedback.legal_texts import (
    LegalTextOptions,
    Record,
    prepare,
    require_text,
    source_files,
)

_GET = "download it as data/raw/README.md says (cail18)."
_FLAT = "get it from the authors' repository as data/raw/README.md says (cail18, layout: flat)."
_WORDS: dict[str, JsonObject] = {
    "articles": {
        "field": "relevant_articles",
        "kind": int,
        "question": "本案应当适用《刑法》的哪些条文？",
    },
    "charges": {"field": "accusation", "kind": str, "question": "本案被告人构成何种罪名？"},
}


class Cail18Options(LegalTextOptions):
    """Options of the CAIL2018 data set."""

    predict: Literal["articles", "charges"] = Field(
        "articles", description="the labels that are predicted from the facts"
    )
    layout: Literal["meta", "flat"] = Field(
        "meta",
        description=(
            "`meta`: lists of labels below `meta`, as CAIL2018 is published; `flat`: one label a"
            " record in `relevant_articles` or `accusation`, as in the files of Debate-Feedback's"
            " authors"
        ),
    )
    multi_label: bool | None = Field(
        None,
        description=(
            "keep cases with several labels (a multi-label task, as in Debate-Feedback's text), "
            "or leave them out (one label per case, as in its authors' files); default: kept for "
            "articles in layout `meta`, else left out"
        ),
    )
    min_cases: int = Field(
        0,
        ge=0,
        description=(
            "a label that fewer training cases have is left out, with its cases of every split"
        ),
    )
    max_characters: int = Field(
        3000, ge=200, description="longer facts lose what lies between their opening and end"
    )


@dataset("cail18", Cail18Options, shipped=("data/samples/cail18.jsonl", "config/labels"))
def load(options: Cail18Options, context: LoadContext) -> Loaded:
    """Load JSON lines with `fact`, and `meta` or one label.

    `meta` has `relevant_articles` (numbers) and `accusation` (names); layout `flat` has one label
    next to `fact`.

    Raises:
        UserError: a file is missing or malformed, `fact` is empty, a record has no label, or no
            case is left.
    """
    files = source_files(options, context, "cail18/cail2018_sample.jsonl", "cail18.jsonl")
    cleaning = Counter({"records read": 0})
    records = list[Record]()
    for path, split_name in files.items():
        records += _read_file(path, split_name, options, cleaning)
    keeps_several = (
        options.multi_label
        if options.multi_label is not None
        else options.predict == "articles" and options.layout == "meta"
    )
    if not keeps_several:
        single = [record for record in records if ";" not in record.target]
        cleaning["several labels (left out)"] = len(records) - len(single)
        records = single
    if not records:
        raise UserError(
            f"data set {context.name}: no case has a single label; set multi_label: true."
        )
    labels = _labels(records)
    task = Task(
        noun="本案",
        question=_WORDS[options.predict]["question"],
        labels=labels,
        meaning=_meanings(context, labels),
        background="中国刑事案件的案情事实，摘自裁判文书。",
        roles={"prosecutor": "公诉人", "defense": "辩护人", "judge": "审判长"},
        language="zh",
        multilabel=keeps_several,
    )
    return prepare(
        records,
        task,
        options,
        context,
        court="chinese court",
        cleaning=dict(cleaning),
        sources=list(files),
        min_cases=options.min_cases,
    )


def _read_file(
    path: Path, split_name: SplitName | None, options: Cail18Options, cleaning: Counter[str]
) -> list[Record]:
    field, kind = _WORDS[options.predict]["field"], _WORDS[options.predict]["kind"]
    is_flat = options.layout == "flat"
    columns: dict[str, type] = (
        {"fact": str, field: kind} if is_flat else {"fact": str, "meta": dict}
    )
    get = _FLAT if is_flat else _GET
    frame = read_jsonl(path, columns, encoding=options.encoding, get=get)
    records, faults = list[Record](), DataFaults()
    for row, values in frame.iterrows():
        meta = {field: [values[field]]} if is_flat else values["meta"]
        with faults.noting():
            labels = _targets(path, row, meta, options)
            facts = require_text(path, row, "fact", values["fact"])
            number, target = int(str(row)), ";".join(labels)
            records.append(Record(number, facts, target, split_name))
            cleaning[f"records that list several {options.predict}"] += len(meta[field]) > 1
            cleaning["of these, records that repeat a single one"] += (
                len(meta[field]) > len(labels) == 1
            )
    faults.check()
    cleaning["records read"] += len(frame)
    return records


def _targets(path: Path, row: object, meta: JsonObject, options: Cail18Options) -> list[str]:
    """Return the record's labels, sorted as text.

    They are article numbers, or charges without the brackets that group their words.

    Raises:
        UserError: the labels are missing, or of another kind.
    """
    field, kind = _WORDS[options.predict]["field"], _WORDS[options.predict]["kind"]
    values = meta.get(field)
    prefix = "meta." if options.layout == "meta" else ""
    place = f"{path}: row {row}, field '{prefix}{field}'"
    if not isinstance(values, list) or not values:
        raise UserError(
            f"{place}: found {quote_value(values)}, expected a list with at least one label."
            " Correct the"
            " record."
        )
    faulty_values = [
        value for value in values if not isinstance(value, kind) or isinstance(value, bool)
    ]
    if faulty_values:
        expected = "a whole number" if kind is int else "a name"
        raise UserError(
            f"{place}: found {quote_value(faulty_values[0])}, expected {expected}. Correct the"
            " record."
        )
    if kind is int:
        return sorted({str(value) for value in values})
    return sorted({re.sub(r"[\[\];]", "", value).strip() for value in values})


def _labels(records: list[Record]) -> tuple[str, ...]:
    labels = chain.from_iterable(record.target.split(";") for record in records)
    return tuple(
        sorted(
            dict.fromkeys(labels),
            key=lambda label: (int(label) if label.isascii() and label.isdigit() else 0, label),
        )
    )


def _meanings(context: LoadContext, labels: tuple[str, ...]) -> dict[str, str]:
    shipped = load_yaml((context.shipped / "config/labels/cail18.yaml").read_text(encoding="utf-8"))
    meanings = {str(key): text for key, text in shipped.items()}
    return {label: meanings[label] for label in labels if label in meanings}
