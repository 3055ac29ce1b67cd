"""Test recorded answers in the user's own tables."""

from operator import attrgetter
from pathlib import Path

import pytest

from messages import refusal
from moot.datasets import LOADERS, LoadContext
from recorded_debates import read_records
from saved_tables import save_table

ROWS = [
    {
        "id": case,
        "arm": "debate",
        "who": "m1",
        "said": said,
        "true": truth,
        "sure": sure,
        "sex": sex,
    }
    for case, said, truth, sure, sex in [
        ("a", "YES", "YES", "80", "f"),
        ("a", "NO", "YES", "60", "f"),
        ("b", "UNKNOWN", "NO", "", "m"),
    ]
]


COLUMNS = {
    "debate": "",
    "case": "id",
    "method": "arm",
    "model": "who",
    "answer": "said",
    "truth": "true",
    "confidence": "sure",
    "attributes": ["sex"],
}


def write_answers(
    folder: Path, rows: list[dict[str, str]], ending: str = "csv"
) -> dict[str, object]:
    path = save_table(folder / f"answers.{ending}", rows)
    return {
        "path": str(path),
        "columns": COLUMNS,
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_of_recorded_answers_is_read(tmp_path: Path, ending: str) -> None:
    targets, debates = read_records("transcripts", **write_answers(tmp_path, ROWS, ending))
    assert targets == {"a": "yes", "b": "no"}
    fields = attrgetter("case_id", "repeat", "prediction", "confidence", "problem")
    rows = list(map(fields, debates))
    assert rows == [
        ("a", 0, "yes", 80.0, ""),
        ("a", 1, "no", 60.0, ""),
        ("b", 0, None, None, "the record says UNKNOWN"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"said": "MAYBE"},
        {"sure": "8o"},
        {"true": "NO"},
        {"id": ""},
    ],
)
def test_a_cell_that_cannot_be_read_is_named(tmp_path: Path, change: dict[str, str]) -> None:
    rows = [ROWS[0], {**ROWS[1], **change}, ROWS[2]]
    with refusal():
        read_records("transcripts", **write_answers(tmp_path, rows))


def test_a_repeat_that_occurs_twice_is_an_error(tmp_path: Path) -> None:
    options = write_answers(tmp_path, [{**row, "nth": "1"} for row in ROWS])
    options["columns"] = {**COLUMNS, "repeat": "nth"}
    with refusal():
        read_records("transcripts", **options)


@pytest.mark.parametrize(
    ("scale", "cell", "confidence"),
    [([0, 1], "0.8", 80.0), ([1, 5], "4", 75.0), (None, "80", 80.0)],
)
def test_a_confidence_is_read_on_its_scale(
    tmp_path: Path, scale: list[float] | None, cell: str, confidence: float
) -> None:
    rows = [{**row, "sure": cell} for row in ROWS[:2]]
    options = write_answers(tmp_path, rows)
    _, debates = read_records("transcripts", **options, confidence_scale=scale)
    assert [debate.confidence for debate in debates] == pytest.approx([confidence] * 2)
    if scale:
        with refusal():
            read_records("transcripts", **options)


def test_truth_has_labels_of_its_own_and_a_pattern_means_no_answer(tmp_path: Path) -> None:
    rows = [
        {**ROWS[0], "said": "The answer is yes", "true": "1"},
        {**ROWS[1], "said": "I cannot say: both are right", "true": "1"},
        {**ROWS[1], "said": "", "true": "1"},
    ]
    options = write_answers(tmp_path, rows) | {
        "labels": {"/.*no/": "no", "/.*yes/": "yes"},
        "truth_labels": {"0": "no", "1": "yes"},
        "no_answer": ["/I cannot say.*/"],
    }
    targets, debates = read_records("transcripts", **options)
    assert targets == {"a": "yes"}
    assert [debate.prediction for debate in debates] == ["yes", None, None]


def test_an_answer_that_contradicts_its_belief_is_counted(tmp_path: Path) -> None:
    rows = [
        {"id": str(number), "said": said, "p": belief}
        for number, (said, belief) in enumerate([("YES", "0.9"), ("YES", "0.1"), ("NO", "0.8")])
    ]
    path = save_table(tmp_path / "t.csv", rows)
    loader = LOADERS["transcripts"]
    options = loader.options.model_validate(
        {
            "path": path,
            "columns": {"debate": "", "case": "id", "answer": "said", "belief": "p"},
            "labels": {"NO": "no", "YES": "yes"},
        }
    )
    assert options.own_files(tmp_path) == (Path(options.path),)
    loaded = loader.load(options, LoadContext("x", Path(), Path(), 1))
    assert loaded.cleaning["answers that contradict the belief stated with them"] == 2
