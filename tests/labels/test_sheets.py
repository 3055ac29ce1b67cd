"""Annotation sheets are written and read."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.artifacts import SCHEMAS, describe, write_frame, write_rows
from moot.core.rubric import RUBRICS
from moot.labels.sheet_names import key_file, name_sheet, sheet_titles
from moot.labels.sheets import SheetContents, blinded, filled_files, read_annotations, write_sheets
from moot.labels.statements import read_statements, sheet_id
from moot.studies.appellate.legal.rubric import LABELS

FACTS = {"c1": "Facts one.", "c2": "Facts two."}
TEXTS = [
    "I vote to affirm.",
    "=HYPERLINK(1) I would reverse.",
    "Both sides have merit.",
    "",
    "I vote to affirm again.",
]

RUBRIC = RUBRICS["appellate"]


@pytest.fixture
def statements(tmp_path: Path) -> pd.DataFrame:
    rows = [
        {
            **dict.fromkeys(SCHEMAS["transcripts"].names),
            "experiment": "panel",
            "model": "tiny",
            "debate_id": f"c{1 + number % 2}#0",
            "case_id": f"c{1 + number % 2}",
            "turn": number,
            "round": 1,
            "speaker": "judge_1",
            "kind": "statement",
            "text": text,
            "source": "model",
        }
        for number, text in enumerate(TEXTS)
    ]
    rows.append({**rows[0], "kind": "vote", "turn": 99})
    path = tmp_path / "transcripts" / "panel" / "tiny" / "0.parquet"
    write_rows(path, "transcripts", rows, describe("panel"))
    return read_statements([path], RUBRIC.utterance_kinds)


def sheet_contents(statements: pd.DataFrame) -> dict[str, SheetContents]:
    return {sheet_id("panel", "tiny"): SheetContents(set(statements["item"]), LABELS)}


def fill(path: Path, sheet: Path, label: dict[str, str], annotator: str = "") -> Path:
    """Copy a sheet and write the label of each statement, as an annotator does."""
    frame = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    frame["label"] = [label.get(text.removeprefix("'"), "") for text in frame["statement"]]
    frame["annotator"] = annotator
    path.parent.mkdir(exist_ok=True)
    frame.to_csv(path, index=False)
    return path


def test_a_sheet_is_blind_shuffled_and_without_empty_statements(statements: pd.DataFrame) -> None:
    sheet = blinded(statements, FACTS, 1)
    assert len(sheet) == 4
    assert sorted(sheet["statement"]) == sorted(text for text in TEXTS if text)
    content = sheet.to_csv()
    assert not [
        word for word in ("judge_1", "tiny", "panel", "c1#0", "affirm\tlabel") if word in content
    ]
    orders = {tuple(blinded(statements, FACTS, seed)["item"]) for seed in range(8)}
    assert len(orders) > 1
    assert list(blinded(statements, FACTS, 1)["item"]) == list(sheet["item"])


def test_a_label_counts_only_for_the_labelled_words(
    statements: pd.DataFrame, tmp_path: Path
) -> None:
    """The label of a turn does not count after the debate was held again with other words."""
    shards = tmp_path / "transcripts" / "panel" / "tiny" / "0.parquet"
    sheet = write_sheets(blinded(statements, FACTS, 1), tmp_path, "abc", RUBRIC)[0]
    filled_sheet = fill(
        tmp_path / "annotations" / "ann.csv", sheet, dict.fromkeys(TEXTS, "AFFIRM"), "ann"
    )
    transcripts = pd.read_parquet(shards)
    changed = TEXTS[1]
    transcripts.loc[transcripts["text"] == changed, "text"] = "I would reverse."
    write_frame(shards, "transcripts", transcripts, describe("panel"))
    new_statements = read_statements([shards], RUBRIC.utterance_kinds)
    labels, faults = read_annotations([filled_sheet], sheet_contents(new_statements))
    assert len(labels) == 3 and len(faults) == 1 and "may have other statements" in faults[0]
    [new_item] = new_statements.loc[new_statements["text"] == "I would reverse.", "item"]
    assert new_item not in set(labels["item"])
    assert list(
        pd.read_csv(write_sheets(blinded(new_statements, FACTS, 1), tmp_path, "abc", RUBRIC)[0])[
            "item"
        ]
    ) == [new_item]


def test_a_sheet_on_disk_is_never_overwritten(statements: pd.DataFrame, tmp_path: Path) -> None:
    sheet = blinded(statements, FACTS, 1)
    path, tasks = write_sheets(sheet, tmp_path, "abc", RUBRIC)
    assert "'=HYPERLINK" in path.read_text()
    assert len(json.loads(tasks.read_text())) == 4
    fill(path, path, {"I vote to affirm.": "AFFIRM"})
    content = path.read_bytes()
    assert write_sheets(sheet, tmp_path, "abc", RUBRIC)[0] == path
    assert path.read_bytes() == content
    longer_sheet = pd.concat([sheet, sheet.iloc[:1].assign(item="abc-new")])
    assert write_sheets(longer_sheet, tmp_path, "abc", RUBRIC)[0] == tmp_path / "abc-2.csv"
    assert list(pd.read_csv(tmp_path / "abc-2.csv")["item"]) == ["abc-new"]
    assert path.read_bytes() == content
    assert (
        write_sheets(longer_sheet, tmp_path, "abc", RUBRIC)[0] == tmp_path / "abc-2.csv"
        and not (tmp_path / "abc-3.csv").exists()
    )
    assert write_sheets(sheet.iloc[:0], tmp_path, "none", RUBRIC) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("{0}", "PERHAPS", "ann")], "row 1, column 'label': found 'PERHAPS'"),
        ([("{0}", "AFFIRM", "ann"), ("{0}", "REVERSE", "ann")], "'ann' labelled"),
        (
            [("{0}", "AFFIRM", "ann"), ("ffffffff-000000000000", "AFFIRM", "ann")],
            "row 2, column 'item'",
        ),
        ([("nonsense", "AFFIRM", "ann")], "is not a statement of this run's debates"),
    ],
)
def test_faulty_rows_get_one_clear_message(
    rows: list[tuple[str, str, str]], message: str, statements: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "ann.csv"
    lines = "\n".join(",".join(row) for row in rows).format(statements["item"].iloc[0])
    path.write_text(f"item,label,annotator\n{lines}\n")
    annotations, (fault,) = read_annotations([path], sheet_contents(statements))
    assert message in fault
    assert str(path) in fault
    assert len(annotations) == len(rows) - 1


def test_all_faulty_rows_and_files_are_named_and_the_others_are_read(
    statements: pd.DataFrame, tmp_path: Path
) -> None:
    first, second = statements["item"].iloc[:2]
    (tmp_path / "ann.csv").write_text(
        f"item,label\n{first},PERHAPS\n{second},AFFIRM\nnonsense,AFFIRM\n"
    )
    (tmp_path / "bob.csv").write_text(f"item,label\n{first}\n")
    (tmp_path / "cid.csv").write_text(f'item;label;note\n{first}; affirm ;"well; yes, so"\n')
    annotations, faults = read_annotations(filled_files(tmp_path), sheet_contents(statements))
    assert annotations[["item", "label", "annotator"]].to_numpy().tolist() == [
        [second, "AFFIRM", "ann"],
        [first, "AFFIRM", "cid"],
    ]
    assert len(faults) == 3
    assert "bob.csv" in faults[0]
    assert "row 1, column 'label'" in faults[1]
    assert "row 3, column 'item'" in faults[2]


def test_a_broken_export_gets_one_clear_message(statements: pd.DataFrame, tmp_path: Path) -> None:
    no_item = '[{"data": {}, "annotations": [{"result": [{"type": "choices"}]}]}]'
    for content in ('{"a": 1}', '[{"a": 1}]', "[1]", "[{", no_item):
        broken = tmp_path / "bob.json"
        broken.write_text(content)
        annotations, faults = read_annotations([broken], sheet_contents(statements))
        assert annotations.empty
        assert [str(broken) in fault for fault in faults] == [True], content


def _export(*annotations: Any) -> list[dict[str, Any]]:
    return [{"data": {"item": "ab12-0001"}, "annotations": list(annotations)}]


def _choice(*labels: str, question: str = "label") -> dict[str, Any]:
    return {"type": "choices", "from_name": question, "value": {"choices": list(labels)}}


@pytest.mark.parametrize(
    ("results", "labels", "fault"),
    [
        ([_choice("AFFIRM")], ["AFFIRM"], ""),
        (None, [], ""),
        ([], [], ""),
        ([None], [], ""),
        ([_choice()], [], ""),
        ([{"type": "choices", "from_name": "label", "value": None}], [], ""),
        ([_choice("AFFIRM"), _choice("REVERSE", question="sure")], ["AFFIRM"], ""),
        ([_choice("REVERSE", question="verdict")], ["REVERSE"], ""),
        ([_choice("AFFIRM", "REVERSE")], [], "found the choices 'AFFIRM', 'REVERSE'"),
        ([_choice("AFFIRM"), _choice("REVERSE")], [], "expected one choice"),
    ],
)
def test_an_annotation_counts_only_with_one_choice_for_the_question(
    tmp_path: Path, results: Any, labels: list[str], fault: str
) -> None:
    tasks = _export({"completed_by": 1, "result": results})
    (tmp_path / "bob.json").write_text(json.dumps(tasks))
    contents = {"ab12": SheetContents({"ab12-0001"}, LABELS)}
    rows, faults = read_annotations([tmp_path / "bob.json"], contents)
    assert rows["label"].tolist() == labels
    assert [fault in message for message in faults] == ([True] if fault else [])


@pytest.mark.parametrize("task", [None, 3, {"data": {}}, {"data": None}, {"annotations": []}])
def test_a_task_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path, task: Any) -> None:
    tasks = [task, *_export({"completed_by": 1, "result": [_choice("AFFIRM")]}, None)]
    (tmp_path / "bob.json").write_text(json.dumps(tasks))
    contents = {"ab12": SheetContents({"ab12-0001"}, LABELS)}
    rows, (fault,) = read_annotations([tmp_path / "bob.json"], contents)
    assert rows["label"].tolist() == ["AFFIRM"]
    assert "bob.json: row 1: not a task" in fault


@pytest.mark.parametrize("name", ["a.jsonl", "a.ods", "notes.txt", "a"])
def test_an_unsupported_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    (tmp_path / ".DS_Store").write_text("x")
    rows, (fault,) = read_annotations(filled_files(tmp_path), {})
    assert rows.empty and name in fault and "expected a sheet" in fault


STUDIO_ANSWERS = {
    "ab12-0001": {"ann@x.org": ["AFFIRM"], "ben@x.org": ["REVERSE"]},
    "ab12-0002": {"ann@x.org": ["AFFIRM", "REVERSE"]},
    "ab12-0003": {"ann@x.org": [], "ben@x.org": ["AFFIRM"]},
    "ab12-0004": {},
}
"""By statement and annotator, the choices: one, several, none, and a task without annotation."""


def _studio_tasks() -> list[dict[str, Any]]:
    tasks = []
    for item, choices_of in STUDIO_ANSWERS.items():
        annotations = []
        for annotator, choices in choices_of.items():
            result = [_choice(*choices)] if choices else []
            annotations.append({"completed_by": {"email": annotator}, "result": result})
        skipped = {"completed_by": 9, "was_cancelled": True, "result": [_choice("AFFIRM")]}
        data = {"item": item, "facts": 'Facts, "quoted"', "statement": "One\nline, two"}
        tasks.append(
            {"id": 1, "data": data, "annotations": [*annotations, skipped], "predictions": []}
        )
    return tasks


def _studio_rows(as_text: bool) -> list[dict[str, Any]]:
    """The flat rows of the exports JSON-MIN, CSV and TSV, as label-studio-sdk writes them."""
    rows: list[dict[str, Any]] = []
    for item, choices_of in STUDIO_ANSWERS.items():
        for annotator, choices in choices_of.items():
            row = {"item": item, "statement": "One\nline, two", "annotator": annotator}
            several: Any = {"choices": choices}
            if len(choices) == 1:
                row["label"] = choices[0]
            elif choices:
                row["label"] = json.dumps(several) if as_text else several
            rows.append(row)
    return [*rows, {"item": "ab12-0004", "statement": "", "annotator": None}]


STUDIO_EXPORTS = {
    "JSON": lambda folder: (folder / "a.json").write_text(json.dumps(_studio_tasks())),
    "JSON-MIN": lambda folder: (folder / "a.json").write_text(json.dumps(_studio_rows(False))),
    "CSV": lambda folder: pd.DataFrame(_studio_rows(True)).to_csv(folder / "a.CSV", index=False),
    "TSV": lambda folder: pd.DataFrame(_studio_rows(True)).to_csv(
        folder / "a.TSV", index=False, sep="\t", quoting=1
    ),
    "TSV named CSV": lambda folder: pd.DataFrame(_studio_rows(True)).to_csv(
        folder / "a.csv", index=False, sep="\t", quoting=1
    ),
    "Excel": lambda folder: pd.DataFrame(_studio_rows(True)).to_excel(
        folder / "a.xlsx", index=False
    ),
}


@pytest.mark.parametrize("export", STUDIO_EXPORTS)
def test_every_export_of_label_studio_gives_the_same_labels(tmp_path: Path, export: str) -> None:
    STUDIO_EXPORTS[export](tmp_path)
    contents = {"ab12": SheetContents({*STUDIO_ANSWERS}, LABELS)}
    rows, (fault,) = read_annotations(filled_files(tmp_path), contents)
    assert sorted(map(tuple, rows[["item", "label", "annotator"]].to_numpy())) == [
        ("ab12-0001", "AFFIRM", "ann@x.org"),
        ("ab12-0001", "REVERSE", "ben@x.org"),
        ("ab12-0003", "AFFIRM", "ben@x.org"),
    ]
    assert "AFFIRM" in fault and "REVERSE" in fault and "row " in fault


@pytest.mark.parametrize("cell", [
    "", " ", "[]", '{"choices": []}', '["AFFIRM"]', "AFFIRM", "AFFIRM\u200b", "\u00a0AFFIRM",
])  # fmt: skip
def test_a_cell_with_choices_as_json_is_read(tmp_path: Path, cell: str) -> None:
    frame = pd.DataFrame({"item": ["ab12-0001"], "label": [cell]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    contents = {"ab12": SheetContents({"ab12-0001"}, LABELS)}
    rows, faults = read_annotations(filled_files(tmp_path), contents)
    assert (rows["label"].tolist(), faults) == (["AFFIRM"] if "AFFIRM" in cell else [], [])


def test_sheets_are_called_by_study_and_number_and_a_key_says_the_experiment(
    tmp_path: Path,
) -> None:
    sheets = tmp_path / "annotation_sheets"
    runs = [("trial", "one"), ("trial-arm=noise", "one"), ("panel masked", "m")]
    runs += [(f"trial-arm={number}", "m") for number in range(100)]
    names = [name_sheet(sheets, "courtroom", *run) for run in runs]
    assert len(set(names)) == len(runs), "no name is given twice, also when numbers run out"
    assert names == [name_sheet(sheets, "courtroom", *run) for run in runs], "names stay"
    for name in names:
        assert re.fullmatch(r"courtroom, sheet [0-9a-f]{2,8}", name), "no part tells the arm"
    key = pd.read_csv(key_file(sheets), dtype=str)
    assert list(zip(key["experiment"], key["model"], strict=True)) == runs
    assert key_file(sheets).stat().st_mode & 0o077 == 0 and key_file(sheets).parent == tmp_path
    files = [sheet_id(*run) for run in runs[:3]]
    titles = sheet_titles(sheets, ["0" * 8, *files, f"{files[0]}-2"])
    assert [titles[file] for file in files] == names[:3]
    assert titles[f"{files[0]}-2"] == f"{names[0]}, part 2"
    assert titles["0" * 8] == "file 00000000" and list(titles)[-1] == "0" * 8
