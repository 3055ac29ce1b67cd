"""Which opinions of a file are excluded, and what is counted of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.core.artifacts import read_frame
from moot.datasets import LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, load
from moot.studies.appellate.deidentification import write_deidentification
from moot.studies.appellate.deidentify import Opinion, deidentify, recogniser
from moot.studies.appellate.opinion_reading import read_opinions
from opinion_texts import PLAIN, opinion

Context = Callable[..., LoadContext]


def _write(folder: Path, records: list[dict[str, object]]) -> None:
    (folder / "opinions.jsonl").write_text(
        "\n".join(json.dumps(record) for record in records), encoding="utf-8"
    )


def _records() -> list[dict[str, object]]:
    facts = f"Plaintiff Ann Lee sued Defendant Rex Moon. {PLAIN * 2}"
    records: list[dict[str, object]] = [
        {"id": str(number), "text": opinion(facts).text, "label": ("Reverse", "Affirm")[number % 2]}
        for number in range(10)
    ]
    records[3]["outcome_sentences"] = ["For these reasons, we affirm the judgment."]
    return records


def test_a_record_without_optional_fields_does_not_hide_those_of_others(
    tmp_path: Path, load_context: Context
) -> None:
    records = _records()
    del records[0]["label"]
    _write(tmp_path, records)
    opinions = list(read_opinions(tmp_path / "opinions.jsonl"))
    assert [opinion_with_names.outcome for opinion_with_names in opinions] == [
        "affirm",
        *["affirm", "reverse"] * 4,
        "affirm",
    ]
    assert opinions[3].marked_sentences
    options = OpinionsOptions(source="local", path="opinions.jsonl")
    account = load(options, load_context("opinions", data_root=tmp_path)).cleaning
    assert (account["outcome from the source"], account["outcome from the rules"]) == (9, 1)


def test_every_exclusion_is_counted_with_its_reason(
    tmp_path: Path, load_context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = opinion(f"The plaintiff was tired. {PLAIN * 2}").text
    _write(tmp_path, [*_records(), {"id": "bare", "text": bare, "label": "Affirm"}])
    options = OpinionsOptions(source="local", path="opinions.jsonl", ner=False)
    account = load(options, load_context("opinions", data_root=tmp_path)).cleaning
    assert (account["excluded: a gate failed"], account["excluded for: no party found"]) == (1, 1)
    assert account["parties found by definition"] == 10
    assert account["opinions read by the trained recogniser"] == 0
    monkeypatch.setattr(recogniser, "is_installed", lambda: True)
    monkeypatch.setattr(recogniser, "recognise_names", lambda facts: [("The", "person")])
    auto = load(
        OpinionsOptions(source="local", path="opinions.jsonl"),
        load_context("opinions", data_root=tmp_path),
    )
    assert auto.cleaning["opinions read by the trained recogniser"] == 11


def test_the_file_next_to_the_cases_gives_the_reason_for_each_exclusion(
    tmp_path: Path, load_context: Context
) -> None:
    bare = opinion(f"The plaintiff was tired. {PLAIN * 2}").text
    _write(tmp_path, [*_records(), {"id": "bare", "text": bare, "label": "Affirm"}])
    options = OpinionsOptions(source="local", path="opinions.jsonl")
    write_deidentification(
        options, load_context("opinions", data_root=tmp_path), tmp_path / "beside.parquet"
    )
    frame = read_frame(tmp_path / "beside.parquet").set_index("case_id")
    assert json.loads(frame.loc["bare", "reasons"]) == ["no party found"]
    assert frame.loc["1", "outcome_from"] == "source"
    assert json.loads(frame.loc["1", "party_rules"]) == ["definition"]
    assert json.loads(frame.loc["1", "names"])["Ann Lee"] == "Plaintiff"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "The appeal is dismissed. The clerk shall send a copy to all parties.",
            "single sentences",
        ),
        ("Affirmed.", "single sentences"),
        (
            "No. 95-1. Lee v. Moon. Petition for writ of certiorari denied.\nNo. 95-2. Hale v."
            " Zemke. Petition for writ of certiorari granted.\nNo. 95-3. State v. Kray. Motion for"
            " rehearing denied.\n",
            "a list of orders",
        ),
        (
            "ORDER LIST\n\n19-1 Lee v. Moon\nThe petition for a writ of certiorari is denied. A"
            " judge took no part in this petition.\n\n19-2 Hale v. Zemke\nThe motion for leave to"
            " proceed is granted.\n\n19-3 In re Oak\nThe petition for a writ is dismissed.",
            "a list of orders",
        ),
    ],
)
def test_a_text_that_is_not_an_opinion_is_excluded_with_that_reason(text: str, reason: str) -> None:
    report = deidentify(Opinion("made-up", text), 2000).report
    assert not report.passed
    assert any("no opinion" in text and reason in text for text in report.reasons)
