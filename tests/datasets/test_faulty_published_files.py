"""Test that one bad record of a published file does not stop the others."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.reading.checks import read_usable_rows
from moot.studies.courtroom.nlsy97_synthetic import generate_nlsy97

Record = dict[str, Any]
COUNT, FAULTY = 40, 3
TEXT = "In case {}, the rent of house {} was paid to the owner on day {}, and the lease ended."


def claim(number: int) -> Record:
    return {
        "topicId": "1",
        "split": ("train", "test")[number % 2],
        "topicText": "The rent should be paid",
        "claims.claimId": str(number),
        "claims.stance": ("PRO", "CON")[number % 2],
        "claims.claimCorrectedText": TEXT.format(number, number, number),
        "claims.claimSentiment": ("1", "-1", "")[number % 3],
    }


def post(number: int) -> Record:
    return {
        "new_id": str(number),
        "post": TEXT.format(number, number * 7, number * 3),
        "new_topic": "rent",
        "topic_str": "rent",
        "label": str(number % 3),
        "type_idx": "1",
        "seen?": str(number % 2),
    }


def lawsuit(number: int) -> Record:
    return {
        "case_background": f"{TEXT.format(number, number * 7, number * 3)}\tclaim\tdefence",
        "labels": ("Plaintiff wins", "Defendant wins")[number % 2],
    }


def judgment(number: int) -> Record:
    return {
        "fact": f"被告人于{number}日在{number * 7}号房屋盗窃人民币{number * 3}元。",
        "meta": {"relevant_articles": [264 + number % 2], "accusation": ["盗窃"]},
    }


PEOPLE = generate_nlsy97(1, COUNT).to_dict("records")


def person(number: int) -> Record:
    return {str(name): value for name, value in PEOPLE[number].items()}


MAKERS: Mapping[str, tuple[Callable[[int], Record], str]] = {
    "claim_stance": (claim, "claim_stance/claim_stance_dataset_v1.csv"),
    "claim_polarity": (claim, "claim_stance/claim_stance_dataset_v1.csv"),
    "agreement": (claim, "claim_stance/claim_stance_dataset_v1.csv"),
    "vast": (post, "vast/vast_test.csv"),
    "caselaw": (lawsuit, "caselaw/trial_prediction.jsonl"),
    "cail18": (judgment, "cail18/cail2018_sample.jsonl"),
    "nlsy97": (person, "nlsy97/nlsy97_full.csv"),
}
BAD_FIELDS: Mapping[str, list[Record]] = {
    "claim_stance": [
        {"split": "dev"},
        {"claims.stance": "pro?"},
        {"claims.claimSentiment": "0"},
        {"claims.claimCorrectedText": " "},
        {"topicText": ""},
        {"claims.claimId": ""},
    ],
    "vast": [{"label": "3"}, {"seen?": ""}, {"post": " "}, {"new_topic": "x" * 2_000}],
    "caselaw": [{"labels": "Draw"}, {"case_background": " "}, {"case_background": None}],
    "cail18": [
        {"fact": ""},
        {"fact": 3},
        {"meta": None},
        {"meta": {"relevant_articles": []}},
        {"meta": {"relevant_articles": ["264"]}},
        {"meta": {"relevant_articles": [True]}},
    ],
    "nlsy97": [{"id": "x"}, {"id": ""}, {"y_arrestedafter2002": "perhaps"}, {"race": "9"}],
}
BAD_FIELDS = {
    **BAD_FIELDS,
    "claim_polarity": BAD_FIELDS["claim_stance"],
    "agreement": BAD_FIELDS["claim_stance"],
}
OPTIONS: Mapping[str, Record] = {"agreement": {"per_topic": 100}}
"""Further options, so that there are enough cases."""
GRID: list[tuple[str, Record]] = []
for loader, changes in BAD_FIELDS.items():
    GRID += product([loader], changes)
BROKEN_LINES = ["{bad", "[1]", "null", '{"fact": "x", "fact": "y"}', '{"fact": "cut of']


def to_lines(path: Path, records: list[Record]) -> list[str]:
    """Write records as lines of JSON, or of a CSV file with a header."""
    if path.suffix == ".jsonl":
        return [json.dumps(record, ensure_ascii=False) for record in records]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue().splitlines()


def make_lines(name: str, changes: Mapping[int, Record]) -> list[str]:
    """Return the lines of a file of records, with changes of some of them, by number from 0."""
    make, path = MAKERS[name]
    records = [make(number) | changes.get(number, {}) for number in range(COUNT)]
    return to_lines(Path(path), records)


def load(folder: Path, name: str, lines: list[str], **options: Any) -> Loaded:
    path = folder / MAKERS[name][1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for other in ("vast_train.csv", "vast_dev.csv") if name == "vast" else ():
        posts = [post(number) for number in range(100, 110)]
        (path.parent / other).write_text("\n".join(to_lines(path, posts)) + "\n")
    entry = LOADERS[name]
    all_options = {"source": "local", **OPTIONS.get(name, {}), **options}
    validated = entry.options.model_validate(all_options)
    return entry.load(validated, LoadContext(name, folder, Path(), 1))


def check_row_is_left_out(
    folder: Path, name: str, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Require that row 4 is refused by default, and left out, listed and counted if allowed."""
    file_name = Path(MAKERS[name][1]).name
    with pytest.raises(UserError, match=r"(row|record) 4") as error:
        load(folder, name, lines)
    message = str(error.value)
    assert file_name in message and f"1 of {COUNT} rows" in message and "(`faulty`)" in message
    loaded = load(folder, name, lines, faulty=0.1)
    assert loaded.cleaning["rows left out because of faults"] == 1
    for case in loaded.cases if name == "agreement" else ():
        assert str(FAULTY) not in case.attributes["claims"].split(";")
    assert FAULTY + 1 not in {
        case.source_row for case in loaded.cases if name != "vast" or case.split == "test"
    }
    assert len([case for case in loaded.cases if name != "vast" or case.split == "test"]) >= 35
    assert "left out" in caplog.text and file_name in caplog.text


@pytest.mark.parametrize(("name", "change"), GRID)
def test_a_bad_value_is_left_out_listed_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, change: Record
) -> None:
    check_row_is_left_out(tmp_path, name, make_lines(name, {FAULTY: change}), caplog)


@pytest.mark.parametrize(("name", "line"), list(product(["caselaw", "cail18"], BROKEN_LINES)))
def test_a_broken_line_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, line: str
) -> None:
    lines = make_lines(name, {})
    lines[FAULTY] = line
    check_row_is_left_out(tmp_path, name, lines, caplog)


TABLES = ["claim_stance", "agreement", "vast", "nlsy97"]


@pytest.mark.parametrize(("name", "row"), list(product(TABLES, ["3,a,b", "3"])))
def test_a_row_of_the_wrong_length_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, row: str
) -> None:
    lines = make_lines(name, {})
    lines[FAULTY + 1] = row
    check_row_is_left_out(tmp_path, name, lines, caplog)


ID_COLUMNS = {
    "claim_stance": "claims.claimId",
    "agreement": "claims.claimId",
    "vast": "new_id",
}


@pytest.mark.parametrize("spaces", ["", " "])
@pytest.mark.parametrize("name", ID_COLUMNS)
def test_the_first_row_of_a_repeated_id_stays(tmp_path: Path, name: str, spaces: str) -> None:
    lines = make_lines(name, {FAULTY: {ID_COLUMNS[name]: f"8{spaces}"}})
    with pytest.raises(UserError, match="'8' is in rows 4, 9"):
        load(tmp_path, name, lines)
    loaded = load(tmp_path, name, lines, faulty=0.1)
    assert loaded.cleaning["rows left out because of faults"] == 1


@pytest.mark.parametrize("name", list(MAKERS))
def test_more_faults_than_allowed_are_an_error(tmp_path: Path, name: str) -> None:
    lines = make_lines(name, dict.fromkeys(range(0, COUNT, 2), BAD_FIELDS[name][0]))
    with pytest.raises(UserError, match=f"20 of {COUNT} rows cannot be read; expected at most 10%"):
        load(tmp_path, name, lines, faulty=0.1)


def test_a_file_of_faulty_rows_is_refused_after_few_checks() -> None:
    table, sizes = pd.DataFrame({"value": range(5_000)}), list[int]()

    def check(rows: pd.DataFrame) -> None:
        sizes.append(len(rows))
        raise UserError(f"row {rows.index[0]}: faulty")

    message = "at least 101 of 5000 rows cannot be read; expected at most 1% of them"
    with pytest.raises(UserError, match=message):
        read_usable_rows(Path("a.csv"), lambda _: table, check, 0.01, {})
    assert len(sizes) < 250
    message = "at least 1001 of 5000 rows cannot be read; expected at most 20% of them"
    with pytest.raises(UserError, match=message):
        read_usable_rows(Path("a.csv"), lambda _: table, check, 0.2, {})
