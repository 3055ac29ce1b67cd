"""Annotation sheets for people: blinded and shuffled on export, checked row by row on import.

Export writes a CSV file and Label Studio tasks for each experiment and model. Import reads filled
CSV files and Label Studio exports from `data/annotations/`, by any number of annotators. A file
that a person may have filled in is never changed.
"""

import html
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from moot.core.cases import stable_fraction
from moot.core.durable import write_atomically
from moot.core.errors import UserError
from moot.core.rubric import Rubric, normalize_label
from moot.core.text_files import quote_value, read_text
from moot.core.types import Fields
from moot.datasets.reading.delimited import read_csv
from moot.datasets.reading.tables import numbered_rows, read_table
from moot.labels import ADJUDICATED, HUMAN

SHEET_COLUMNS = ("item", "facts", "statement", "label", "annotator", "note")
FILLED_COLUMNS = ("file", "row", "item", "label", "annotator", "kind")
FAULTS = "annotation_faults"
"""The key in the metadata of `labels/`: a JSON list of messages."""
SHEET_ENDINGS = (".csv", ".tsv", ".xlsx")
"""The endings of readable sheets, in any case of letters."""
QUESTION = "label"
"""The name of the question in Label Studio's interface; answers to other questions are ignored."""
FilledRow = tuple[str, int, str, str, str, str]


@dataclass(frozen=True)
class SheetContents:
    """The possible content of a sheet: the blind ids of statements, and their labels."""

    items: set[str]
    labels: Collection[str]

    def label(self, typed: str) -> str:
        """Return the label that was typed, in any case; "" for any other text."""
        return next(
            (label for label in self.labels if normalize_label(label) == normalize_label(typed)), ""
        )


def blinded(statements: pd.DataFrame, facts: Mapping[str, str], seed: int) -> pd.DataFrame:
    """Return the rows of a sheet: statements in random order, without speaker and time.

    Args:
        statements: as returned by `read_statements`; statements without text (missing judges) are
            left out.
        facts: the facts that the panel saw, by case id.
        seed: the configuration's seed.
    """
    statements_with_text = statements[statements["text"].str.strip() != ""]
    order = sorted(
        statements_with_text.index,
        key=lambda row: stable_fraction("sheet", seed, statements_with_text.at[row, "item"]),
    )
    statements_with_text = (
        statements_with_text.loc[order].reset_index(drop=True).rename(columns={"text": "statement"})
    )
    return statements_with_text.assign(facts=statements_with_text["case_id"].map(facts)).reindex(
        columns=list(SHEET_COLUMNS), fill_value=""
    )


def label_studio_config(rubric: Rubric) -> str:
    """Return the labelling interface for Label Studio.

    It shows facts and statement, and offers one choice with the rubric as hints.
    """
    question = html.escape(rubric.question)
    choices = "\n".join(
        f'    <Choice value="{html.escape(label)}" hint="{html.escape(definition)}"/>'
        for label, definition in rubric.labels.items()
    )
    return (
        '<View>\n  <Header value="Facts"/>\n  <Text name="facts" value="$facts"/>\n  <Header'
        ' value="Statement"/>\n  <Text name="statement" value="$statement"/>\n  <Header'
        f' value="{question}"/>\n  <Choices name="label" toName="statement" choice="single"'
        f' required="true">\n{choices}\n  </Choices>\n</View>\n'
    )


def read_labels(folder: Path, sheet: str) -> tuple[str, dict[str, str]]:
    """Read the question of a sheet, and its labels with their meanings.

    Raises:
        UserError: the labelling interface is missing, or is not XML.
    """
    path = folder / f"{sheet}.xml"
    if not path.exists():
        raise UserError(
            f"{folder}: no labels of the sheet {sheet} ({sheet}.xml). Write sheets again."
        )
    try:
        interface = ElementTree.fromstring(read_text(path))  # noqa: S314 - moot wrote it
    except ElementTree.ParseError as fault:
        raise UserError(f"{path}: not XML ({fault}). Remove it and write sheets again.") from None
    questions = [header.get("value", "") for header in interface.iter("Header")][-1:]
    labels = {
        choice.get("value", ""): choice.get("hint", "") for choice in interface.iter("Choice")
    }
    return "".join(questions), labels


def write_sheets(sheet: pd.DataFrame, folder: Path, stem: str, rubric: Rubric) -> list[Path]:
    """Write a sheet as CSV and Label Studio tasks, with its interface.

    No existing file is changed, except interfaces.

    Statements on an earlier sheet of this stem are not written again. Others get a sheet with the
    next number.

    Returns:
        The paths of the sheet and its tasks, or of the last sheet if no statement is new; ()
        without statements.
    """
    path, earlier, item_ids = folder / f"{stem}.csv", list[Path](), set[str]()
    while path.exists():
        earlier.append(path)
        item_ids |= set(read_csv(path, ("item",))["item"])
        path = folder / f"{stem}-{len(earlier) + 1}.csv"
    sheet = sheet[~sheet["item"].isin(item_ids)]
    for file in [*earlier, *([] if sheet.empty else [path])]:
        write_atomically(file.with_suffix(".xml"), label_studio_config(rubric))
    if sheet.empty:
        return [earlier[-1], earlier[-1].with_suffix(".json")] if earlier else []
    tasks = path.with_suffix(".json")
    studio = [{"data": task} for task in sheet[["item", "facts", "statement"]].to_dict("records")]
    contents = {
        path: sheet.map(_no_formula).to_csv(index=False, lineterminator="\n"),
        tasks: json.dumps(studio, ensure_ascii=False, indent=1) + "\n",
    }
    for file, content in contents.items():
        write_atomically(file, content, replace=False)
    return [path, tasks]


def _no_formula(cell: str) -> str:
    """Return a cell that a spreadsheet takes for text, even if a model wrote a formula into it."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


# Reading filled sheets


def filled_files(folder: Path) -> list[Path]:
    """Return the files of a folder of annotations by name, without hidden ones.

    `read_annotations` reports files that are neither a sheet nor an export.
    """
    return sorted(
        file
        for file in folder.glob("*")
        if file.is_file() and not file.name.startswith((".", "~$"))
    )


def read_annotations(
    files: Sequence[Path], contents: Mapping[str, SheetContents]
) -> tuple[pd.DataFrame, list[str]]:
    """Read the labels of all annotators, checked row by row.

    Rows without a label are left out, since they are not filled in yet.

    Args:
        files: CSV sheets and Label Studio exports.
        contents: by the first part of every blind id of this run, the possible content of sheets
            with such ids.

    Returns:
        The usable labels, with the columns of `FILLED_COLUMNS` (kind is human, llm, or adjudicated:
            a decision between annotators), and a message for each fault. With another encoding or a
            missing column the whole file is left out. A row is left out if its label or its
            statement is unknown, or if it repeats an annotator's statement or a decision.
    """
    rows: list[FilledRow] = []
    faults: list[str] = []
    for file in files:
        try:
            rows += list(_read_file(file, faults))
        except UserError as fault:
            faults.append(str(fault))
    labels = chain.from_iterable(sheet.labels for sheet in contents.values())
    all_labels = list(dict.fromkeys(labels))
    usable: list[FilledRow] = []
    places: dict[tuple[str, str], str] = {}
    for file_name, number, item, typed, annotator, kind in rows:
        labeler = f"human:{annotator}" if kind == HUMAN else kind
        place = f"{file_name}: row {number}"
        sheet = contents.get(item.split("-")[0], SheetContents(set(), all_labels))
        label = sheet.label(typed)
        if not label:
            faults.append(
                f"{place}, column 'label': found {quote_value(typed)}, expected one of:"
                f" {', '.join(sheet.labels)}. Correct the row."
            )
        elif item not in sheet.items:
            faults.append(
                f"{place}, column 'item': {quote_value(item)} is not a statement of this run's "
                "debates; expected an id as the sheets have it. Remove the row, or run the "
                "configuration that the sheet was made with: a repeated debate may have other "
                "statements, which need new labels."
            )
        elif (item, labeler) in places:
            author = (
                f"{quote_value(annotator)} labelled"
                if kind == HUMAN
                else "an adjudicator decided on"
            )
            faults.append(
                f"{place}: {author} {item} already in {places[item, labeler]}; expected every"
                " statement once for each annotator, and one decision. The first row counts; remove"
                " one of the two."
            )
        else:
            places[item, labeler] = place
            usable.append((file_name, number, item, label, annotator, kind))
    return pd.DataFrame(usable, columns=list(FILLED_COLUMNS)), faults


def _read_file(file: Path, faults: list[str]) -> Iterator[FilledRow]:
    """Return the rows of a sheet or of an export.

    `faults` gets a message for each annotation that is left out.

    Raises:
        UserError: the file is neither.
    """
    ending = file.suffix.casefold()
    if ending == ".json":
        return _read_export(file, faults)
    if ending in SHEET_ENDINGS:
        return _read_sheet(file)
    raise UserError(
        f"{file}: found a file ending in {quote_value(file.suffix)}; expected a sheet"
        f" ({', '.join(SHEET_ENDINGS)}) or a Label Studio export (.json). Save it as one of them,"
        " or move it out of this folder."
    )


def _read_sheet(file: Path) -> Iterator[FilledRow]:
    frame = read_table(file, ("item", "label"))
    for row, record in numbered_rows(frame):
        label = _only_choice(record["label"])
        if label.strip():
            adjudicator = record.get("adjudicator", "").strip()
            annotator = adjudicator or record.get("annotator", "").strip() or file.stem
            kind = ADJUDICATED if adjudicator else HUMAN
            yield str(file), row, record["item"].strip(), label, annotator, kind


def _only_choice(cell: str) -> str:
    """Return the choice in a cell of Label Studio's CSV export, which may write choices as JSON.

    A cell with several choices is returned unchanged, since no label has such a name.
    """
    if not cell.lstrip().startswith(("{", "[")):
        return cell
    try:
        choices = list(dict.fromkeys(map(str, _chosen_labels(json.loads(cell)))))
    except (ValueError, RecursionError):
        return cell
    return cell if len(choices) > 1 else "".join(choices)


def _read_export(file: Path, faults: list[str]) -> Iterator[FilledRow]:
    """Yield the annotations of a Label Studio export (JSON, or JSON-MIN).

    Each record is one task with any number of annotations.

    An annotation without a choice is not filled in. A task that cannot be read, and an annotation
    with several choices, are left out with a message.
    """
    try:
        tasks = json.loads(read_text(file))
    except (ValueError, RecursionError) as fault:
        raise UserError(
            f"{file}: not JSON ({fault}); expected a Label Studio export. Export it again."
        ) from None
    if not isinstance(tasks, list):
        raise UserError(
            f"{file}: found {quote_value(tasks)}; expected a list of Label Studio tasks, its export"
            " as JSON. Export it again."
        )
    for row, task in enumerate(tasks, start=1):
        try:
            item, annotations = _read_task(task)
        except (KeyError, TypeError, AttributeError, IndexError) as fault:
            faults.append(
                f"{file}: row {row}: not a task of a Label Studio export ({fault!r}); expected data"
                " with an item, and annotations. Remove the task, or export it again."
            )
            continue
        for labels, annotator in annotations:
            if len(labels) == 1:
                yield str(file), row, item, str(labels[0]), annotator or file.stem, HUMAN
            elif labels:
                faults.append(
                    f"{file}: row {row}, annotator {quote_value(annotator or file.stem)}: found"
                    f" the choices {', '.join(map(quote_value, labels))}; expected one choice"
                    " for each statement. Correct the annotation."
                )


def _read_task(task: Fields) -> tuple[str, list[tuple[Sequence[object], str]]]:
    """Return the item of a task, with choices and annotator of each annotation."""
    item = str((task.get("data") or task)["item"])
    if "annotations" not in task:  # JSON-MIN: the choice is next to the data
        annotator = str(task.get("annotator", "") or "")
        return item, [(_chosen_labels(task.get("label")), annotator)]
    annotations: list[tuple[Sequence[object], str]] = []
    for annotation in task["annotations"] or ():
        if annotation and not annotation.get("was_cancelled"):
            results = [result for result in annotation.get("result") or () if result]
            annotations.append((_labels_of_question(results), _annotator(annotation)))
    return item, annotations


def _labels_of_question(results: Sequence[Fields]) -> Sequence[object]:
    """Return the different choices in the answers to the question of the sheet.

    If no question has the name that moot gives it, the choices of all questions count.
    """
    choices = [result for result in results if result.get("type") == "choices"]
    answers = [result for result in choices if result.get("from_name") == QUESTION] or choices
    labels: list[object] = []
    for result in answers:
        labels += _chosen_labels((result.get("value") or {}).get("choices"))
    return list(dict.fromkeys(labels))


def _chosen_labels(choices: object) -> Sequence[object]:
    """Return the choices of JSON (a list, or an object of choices) or JSON-MIN (a text)."""
    if isinstance(choices, Mapping):
        choices = choices.get("choices")
    if isinstance(choices, list):
        return choices
    return [choices] if choices else []


def _annotator(annotation: Fields) -> str:
    completed_by = annotation.get("completed_by", "")
    if isinstance(completed_by, Mapping):
        return str(completed_by.get("email") or completed_by.get("id") or "")
    return str(completed_by)
