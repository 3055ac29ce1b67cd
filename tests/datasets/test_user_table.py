"""Tables of the user: columns, splits, labels and faulty rows."""

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from messages import refusal
from moot.core.cases import resembles_test_case
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.datasets.near_duplicates import RESEMBLING
from moot.training.examples import examples
from saved_tables import save_table
from user_tables import MINIMAL, ROWS, load

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def test_text_and_target_are_the_only_required_keys(table: Path) -> None:
    loaded = load(table)
    assert loaded.task.labels == ("LOST", "WON")
    assert loaded.task.positive == "WON"
    assert [case.case_id for case in loaded.cases[:2]] == ["row-1", "row-2"]
    assert {case.split for case in loaded.cases} == {"test"}
    assert loaded.cleaning["test cases"] == 40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("facts", "Tenant 1 kept 1 cats in flat 7."),
        (
            ["facts", "claim"],
            "facts: Tenant 1 kept 1 cats in flat 7. claim: Landlord asks for 100 dollars.",
        ),
        ("A tenant aged {age}. {claim}", "A tenant aged 21. Landlord asks for 100 dollars."),
    ],
)
def test_a_text_is_a_column_a_list_or_a_template(
    table: Path, text: str | list[str], expected: str
) -> None:
    assert load(table, text=text).cases[0].text == expected


def test_all_configuration_keys_reach_the_task(table: Path) -> None:
    loaded = load(
        table,
        labels={"LOST": "tenant lost", "WON": "tenant won"},
        positive="tenant lost",
        question="Who won?",
        noun="the dispute",
        background="Housing.",
        meaning={"tenant won": "the tenant wins"},
        roles={"judge": "the arbiter"},
        attributes=["court"],
        cluster="court",
        id="nr",
    )
    task = loaded.task
    assert (task.labels, task.positive, task.cluster) == (
        ("tenant lost", "tenant won"),
        "tenant lost",
        "court",
    )
    assert (task.question, task.noun, task.background) == ("Who won?", "the dispute", "Housing.")
    assert task.roles == {"judge": "the arbiter"}
    assert loaded.cases[0].attributes == {"court": "north"}
    assert loaded.cases[0].case_id == "c1"


def test_splits_come_from_a_column_or_a_hash(table: Path) -> None:
    by_column = load(table, split="part")
    counts = {"rows read": 40, "train cases": 13, "validation cases": 14, "test cases": 13}
    assert counts.items() <= by_column.cleaning.items()
    by_hash = load(table, split="hash")
    assert by_hash.cleaning["train cases"] > by_hash.cleaning["test cases"] > 0


def test_a_published_split_is_kept_and_copies_of_test_cases_are_left_out_of_training(
    tmp_path: Path,
) -> None:
    rows = []
    for n in range(20):
        text = (
            f"Tenant {n} of house {n * 31} owed {n * 77} dollars for {n * 13} months to"
            f" landlord {n * 5}."
        )
        rows.append((text, "test"))
    for n in range(30):
        text = f"Buyer {n} of car {n * 17} found {n * 3} faults in {n * 19} miles"
        rows.append((f"{text} and sued seller {n * 7}.", "train"))
    for n in range(8):
        rows.append((f"{rows[n][0]} So it was.", ("train", "dev")[n % 2]))
    frame = pd.DataFrame(rows, columns=["facts", "part"]).assign(
        age=range(58), outcome=["WON", "LOST"] * 29
    )
    frame.to_csv(tmp_path / "planted.csv", index=False)
    loaded = load(
        tmp_path / "planted.csv", split="part", features=["age"], baselines=["majority-class"]
    )
    assert loaded.cleaning["near-duplicate pairs across splits"] == loaded.cleaning[RESEMBLING] == 8
    copies = [case for case in loaded.cases if resembles_test_case(case)]
    assert len(copies) == 8
    for n, case in enumerate(copies):
        assert case.attributes["near_duplicate_of"] == f"row-{n + 1}"
        assert case.split == ("train", "validation")[n % 2]
    data = examples(loaded.cases, loaded.task, loaded.features)
    assert data.left_out == 4
    assert data.cases["split"].value_counts().to_dict() == {"train": 30, "test": 20}


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"nr": " "}, {"id": "nr"}),
        ({"facts": " "}, {}),
        ({"part": "later"}, {"split": "part"}),
        ({}, {"target": "outcomes"}),
        ({}, {"text": "{fact}"}),
        ({}, {"baselines": ["majority"]}),
    ],
)
def test_a_fault_is_named_with_file_row_and_column(
    tmp_path: Path, change: dict[str, str], options: dict[str, Any]
) -> None:
    path = tmp_path / "cases.csv"
    rows = [*ROWS[:2], {**ROWS[2], **change}, *ROWS[3:]]
    pd.DataFrame(rows).to_csv(path, index=False)
    with refusal():
        load(path, **options)


def test_all_faulty_rows_are_named_at_once_with_the_row_number_of_a_spreadsheet(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cases.csv"
    faulty_rows = [
        {**ROWS[0], "outcome": "MAYBE"},
        {**ROWS[1], "facts": " ", "outcome": "PERHAPS"},
        {**ROWS[2], "nr": "c1"},
    ]
    pd.DataFrame([ROWS[0], *faulty_rows]).to_csv(path, index=False)
    with pytest.raises(UserError) as raised:
        load(path, id="nr", labels=["LOST", "WON"])
    *lines, count_line = str(raised.value).splitlines()
    places = re.findall(rf"^{re.escape(str(path))}: (.*?):", "\n".join(lines), re.MULTILINE)
    assert places == [
        "row 2, column 'outcome'",
        "row 3, column 'outcome'",
        "row 3, column 'facts'",
        "row 2, column 'nr'",
    ]
    assert count_line.startswith(
        "3 of 4 rows cannot be read; expected at most 1% of them (`faulty` of the data set)."
    )
    assert count_line.endswith(
        "Row 1 is the first row below the heading; a spreadsheet calls it row 2."
    )
    pd.DataFrame([{**ROWS[0], "outcome": "MAYBE"}] * 50).to_csv(path, index=False)
    with refusal():
        load(path, labels=["LOST", "WON"])


def test_few_faulty_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "nr": f"c{number}"} for number in range(200)]
    rows[7] |= {"outcome": "MAYBE", "facts": " "}
    rows[9] |= {"nr": "c8"}
    pd.DataFrame(rows).to_csv(path := tmp_path / "cases.csv", index=False)
    with refusal():
        load(path, id="nr", labels=["LOST", "WON"], faulty=0.004)
    loaded = load(path, id="nr", labels=["LOST", "WON"], faulty=0.02)
    assert {f"c{number}" for number in range(200)} - {case.case_id for case in loaded.cases} == {
        "c7",
        "c9",
    }
    assert loaded.cleaning == {
        "rows read": 200,
        "rows left out because of faults": 2,
        "test cases": 198,
    }
    assert any("row 8, column 'outcome': found 'MAYBE'" in fault for fault in loaded.faults)


def test_a_column_of_free_text_is_refused_as_target(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    pd.DataFrame([{"facts": f"fact {n}", "outcome": f"long story {n}"} for n in range(60)]).to_csv(
        path, index=False
    )
    with refusal():
        load(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "{facts"}, "text: found '{facts', which is not a template"),
        ({"text": "{facts:.1f} years"}, "text: found '{facts:.1f} years', which is not a template"),
        ({"text": "{facts} {outcome}"}, "target is 'outcome', the answer"),
        ({"text": "outcome"}, "target is 'outcome', the answer"),
        ({"features": ["age", "outcome"]}, "target is 'outcome', the answer"),
    ],
)
def test_an_invalid_template_or_one_with_the_target_is_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        load(Path("any.csv"), **options)


def test_an_unknown_positive_label_is_refused_by_the_options() -> None:
    with pytest.raises(ValidationError, match="positive names the label 'guilty'"):
        LOADERS["table"].options.model_validate(
            {"path": "x.csv", **MINIMAL, "labels": ["yes", "no"], "positive": "guilty"}
        )


@pytest.mark.parametrize("word", ["LOST", "lost in part"])
def test_a_pattern_of_labels_matches_a_whole_value(tmp_path: Path, word: str) -> None:
    (tmp_path / "t.csv").write_text(f"facts,outcome\nA,WON\nB,{word}\n")
    labels = {"/(?i:lost).*/": "lost", "WON": "won"}
    cases = load(tmp_path / "t.csv", labels=labels).cases
    assert [case.target for case in cases] == ["won", "lost"]


def test_labels_have_their_most_frequent_spelling(tmp_path: Path) -> None:
    words = ["Won", "WON", "Lost", "Won"]
    path = save_table(tmp_path / "cases.csv", [{"facts": "F", "outcome": word} for word in words])
    assert [case.target for case in load(path).cases] == ["Won", "Won", "Lost", "Won"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234", "5", "12,345,678"], [1234.0, 5.0, 12345678.0]),
        (["-1,234.5", "", "7"], [-1234.5, None, 7.0]),
        (["1,2", "3", "4"], ["1,2", "3", "4"]),
        (["1,234", "about 5", "7"], ["1,234", "about 5", "7"]),
    ],
)
def test_features_with_thousands_separators_are_numbers(
    tmp_path: Path, cells: list[str], values: list[Any]
) -> None:
    rows = [{**ROWS[number], "income": cell} for number, cell in enumerate(cells)]
    path = save_table(tmp_path / "t.csv", rows)
    features = load(path, features=["income"]).features
    assert features is not None
    present = features["income"].astype("object")
    assert present.where(present.notna(), None).tolist() == values


def test_the_example_of_a_published_table_of_people(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The counts are ProPublica's; the verdict of its tool is not in the text."""
    example = yaml.safe_load((PROJECT / "docs/examples/compas/my.yaml").read_text())
    options = example["datasets"]["compas"]
    monkeypatch.chdir(tmp_path)
    shutil.copy(shared_data / "compas/compas_filtered.csv", options["path"])
    loader = LOADERS["table"]
    loaded = loader.load(
        loader.options.model_validate(options), LoadContext("compas", tmp_path, PROJECT, 1)
    )
    assert Counter(case.target for case in loaded.cases) == {"no": 3363, "yes": 2809}
    assert loaded.cases[0].text.startswith("The defendant is 69 years old, of sex Male")
    assert loaded.cases[0].attributes["decile_score"] == "1"


def test_several_columns_give_the_id_together(tmp_path: Path) -> None:
    rows = [
        {**ROWS[number], "nr": str(number // 2), "court": "ab"[number % 2]} for number in (0, 1)
    ]
    path = save_table(tmp_path / "t.csv", rows)
    loaded = load(path, id=["court", "nr"])
    assert [case.case_id for case in loaded.cases] == ["a-0", "b-0"]
    save_table(path, [rows[0], rows[0]])
    with refusal():
        load(path, id=["court", "nr"])


def test_a_feature_of_numbers_can_be_a_category(tmp_path: Path) -> None:
    rows = [{**row, "postcode": str(10115 + number % 3)} for number, row in enumerate(ROWS)]
    path = save_table(tmp_path / "t.csv", rows)
    loaded = load(path, features=["age", "postcode"], categories=["postcode"])
    assert loaded.features is not None
    assert pd.api.types.is_numeric_dtype(loaded.features["age"])
    assert not pd.api.types.is_numeric_dtype(loaded.features["postcode"])


def test_several_files_are_the_splits_of_one_table(tmp_path: Path) -> None:
    for name, start in (("train", 0), ("dev", 20), ("test", 30)):
        save_table(tmp_path / f"{name}.csv", ROWS[start : start + 10])
    loaded = load(tmp_path, id="nr", split="(file)")
    assert Counter(case.split for case in loaded.cases) == dict.fromkeys(
        ("train", "validation", "test"), 10
    )
    assert [case.case_id for case in load(tmp_path).cases[:1]] == ["dev-1"]
    assert [file.stem for file in loaded.sources] == ["dev", "test", "train"]
    save_table(tmp_path / "extra.csv", [{**ROWS[0], "outcome": "perhaps"}, *ROWS[39:]])
    with pytest.raises(UserError) as error:
        load(tmp_path, id="nr", split="(file)", labels={"WON": "won", "LOST": "lost"})
    message = str(error.value)
    assert "extra.csv: row 1, column 'outcome': found 'perhaps'" in message
    assert "extra.csv: row 1, column '(file)': found 'extra'" in message
    place = f"{tmp_path}: row 1 of train.csv, column 'nr'"
    assert f"{place}: 'c1' is in rows 1 of extra.csv, 1 of train.csv" in message


def test_a_tolerated_row_does_not_hide_the_fault_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("facts,outcome\nA,WON\nB,LOST\nC\n")
    (tmp_path / "b.csv").write_text("facts,outcome\n")
    with refusal():
        load(tmp_path, faulty=0.5)
    (tmp_path / "b.csv").write_text("facts,outcome\nD,WON\nE\n")
    loaded = load(tmp_path, faulty=0.5)
    assert loaded.cleaning["rows read"] == 5
    assert loaded.cleaning["rows left out because of faults"] == 2


def test_texts_of_a_template_that_one_split_gets_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = "a long story that is the same in all texts of one condition of the experiment but for"
    rows = [{**row, "facts": f"{words} {row['facts']}"} for row in ROWS[:20]]
    save_table(tmp_path / "cases.csv", [*rows, *ROWS[20:]])
    loaded = load(tmp_path / "cases.csv", split="hash")
    description = "cases in the largest group of near-duplicates, which is in one split"
    assert loaded.cleaning[description] == 20
    assert "20 of 40 texts resemble one another" in caplog.text
    assert len({case.split for case in loaded.cases if words in case.text}) == 1
