"""Opinions: the sample, outcomes and facts of full texts, and the sheet of a person."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from messages import refusal
from moot.core.errors import UserError
from moot.datasets import LoadContext, Loaded
from moot.datasets.opinion_text import Names, collect_names
from moot.studies.appellate import masking
from moot.studies.appellate.data_opinions import (
    OpinionsOptions,
    load,
    read_opinions,
    write_deidentification,
)
from moot.studies.appellate.legal.outcomes import read_outcome
from opinion_texts import CAPTION, opinion

Context = Callable[..., LoadContext]


@pytest.mark.parametrize(
    ("ending", "opening_text", "expected"),
    [
        ("Affirmed.", "", "affirm"),
        ("Dismissed.", "", "dismiss"),
        ("The appeal is dismissed.", "", "dismiss"),
        ("Affirmed in part and reversed in part. No costs.", "", "mixed"),
        ("We therefore vacate the award and remand.", "We vacate.", "reverse"),
        ("See\n1st Cir. R. 27.0(c). We therefore affirm.\n\nAffirmed.", "", "affirm"),
        ("See Roe v. Doe, 1 U.S. 4, 5 (1992) (Kray,\n\nJ., concurring). Reversed.", "", "reverse"),
        ("We affirm.\n\nKORN, Circuit Judge, dissenting. I would reverse.", "", "affirm"),
        ("Berg argues that the district court erred by a ruling. Affirmed.", "", "affirm"),
    ],
)
def test_the_last_disposition_is_the_outcome(ending: str, opening_text: str, expected: str) -> None:
    assert read_outcome(opinion(ending, opening_text=opening_text)).outcome == expected


@pytest.mark.parametrize(
    ("ending", "opening_text", "problem"),
    [
        ("We affirm.", "We reverse the award.", "the opening announces another outcome"),
        ("We affirm the award.", "We affirm in part.", "the opening announces another outcome"),
        ("We reverse the court and affirm the board.", "", "affirmed and undone, but not in part"),
        ("The judgment is vacated. The cross-appeal is dismissed.", "", "one appeal is dismissed"),
        (f"We affirm. {'So it goes. ' * 150}", "", "no disposition at the end"),
    ],
)
def test_an_outcome_in_doubt_is_excluded(ending: str, opening_text: str, problem: str) -> None:
    reading = read_outcome(opinion(ending, opening_text=opening_text))
    assert not reading.outcome and problem in reading.problem


def test_outcomes_of_real_opinions(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "opinions" / "nm_appeals_125_more.jsonl"
    table = pd.read_json(file, lines=True, nrows=40).rename(columns={"label": "outcome"})
    table["outcome"] = table["outcome"].replace("Complex", "mixed")
    table.to_parquet(tmp_path / "opinions.parquet")
    opinions = read_opinions(tmp_path / "opinions.parquet", 0, {})
    readings = [(entry.outcome, read_outcome(entry.text).outcome) for entry in opinions]
    stands = ("affirm", "dismiss")
    judged = [(truth in stands, outcome in stands) for truth, outcome in readings if outcome]
    # 40 of the 125, to be quick; of about a quarter no outcome is read
    assert len(judged) >= 30 and all(truth == outcome for truth, outcome in judged)


# Names and facts


def test_facts_are_whole_sentences_with_pseudonyms() -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra `ner` is not installed")
    text = opinion("Affirmed.", opening_text="We affirm the award of damages to Anna Berg.")
    text = text.replace(" she fell", " she fell, as one\n\nsaw,")
    facts, problem = masking.mask_facts(text, collect_names(text, ()))
    assert not problem and "Berg" not in facts and "award" not in facts
    assert "fell, as one saw, on a wet stair" in facts
    assert "Plaintiff told the foreman about the water" in facts


def test_a_party_of_the_caption_has_its_role() -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra `ner` is not installed")
    caption = (
        "In re Robert LUND-WEBER, Debtor. United States of America, Appellee, v. Robert Lund-Weber,"
        " Appellant.\n\nJohn Hill, Hans Vogel, and Peter Cole, for appellee.\n\nPer Curiam. "
    )
    facts = (
        "Robert Lund-Weber worked in Berlin in 2003, and then his wife did so. He moved to Boston"
        " in April 2009. Mr. Lund was charged with fraud in July, and he paid. He told the officer"
        " about Lund-Weber's car. Then T.P. told Susan of the fraud."
    )
    text = f"{caption}{facts}\n\nDISCUSSION\n\n{'The rule is old. ' * 60}\n\nAffirmed."
    masked, problem = masking.mask_facts(text, collect_names(text, ()))
    assert not problem and "Lund" not in masked and "T.P." not in masked
    assert masked.count("Appellant") == 3 and "Appellee" not in masked
    assert "his wife did so. He moved" in masked


def test_the_use_of_a_name_tells_its_kind() -> None:
    pytest.importorskip("presidio_analyzer", reason="the extra `ner` is not installed")
    labels = masking.label_names(
        [masking.Mention("T.P.", "Place", ""), masking.Mention("Anna Lind", "Person", "")],
        frozenset(),
        {},
    )
    assert labels["T.P."] == ""
    assert masking._replace_names("The Anna Lind paid.", labels) == ""
    assert masking._replace_names("She sued Anna Lind", labels) == "She sued Person A."


def test_without_presidio_the_extra_and_the_other_way_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    masking._analyzer.cache_clear()
    with pytest.raises(UserError, match=r"pip install 'moot\[ner\]'.*case_summary"):
        masking.mask_facts(opinion("Affirmed."), Names())


# Loading


def write_opinions(folder: Path, count: int = 10) -> None:
    rows = [
        {"id": str(number), "text": opinion("Affirmed." if number % 2 else "Reversed.")}
        for number in range(count)
    ]
    lines = [json.dumps(row) for row in rows]
    (folder / "opinions.jsonl").write_text("\n".join(lines), encoding="utf-8")


def load_summaries(
    folder: Path, context: LoadContext, summaries: dict[str, str], **options: Any
) -> Loaded:
    """Load the opinions of a folder with the facts that a model wrote."""
    file = folder / "summaries.jsonl"
    rows = [{"case_id": name, "case_background": text} for name, text in summaries.items()]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    chosen_texts = OpinionsOptions(
        source="local", path="opinions.jsonl", facts="summaries/tiny", **options
    )
    return load(chosen_texts, replace(context, artifacts={"facts": file}))


def test_summaries_are_the_facts_and_a_leak_excludes(tmp_path: Path, load_context: Context) -> None:
    write_opinions(tmp_path)
    summaries = {str(number): f"The plaintiff fell {number} times." for number in range(9)}
    summaries["3"] = "Ms. Berg fell."
    context = load_context("opinions", data_root=tmp_path)
    loaded = load_summaries(tmp_path, context, summaries)
    assert {case.case_id for case in loaded.cases} == {*"01245678"}
    assert loaded.cases[1].text == "The plaintiff fell 1 times."
    assert [case.target for case in loaded.cases[:2]] == ["not affirm", "affirm"]
    assert loaded.cleaning["excluded: the summary has Berg"] == 1
    assert loaded.cleaning["excluded: no summary without names and outcome"] == 1


def test_edited_rows_become_cases_and_the_others_stay_excluded(
    tmp_path: Path, load_context: Context
) -> None:
    write_opinions(tmp_path)
    context = load_context("opinions", data_root=tmp_path)
    summaries = {str(number): "Ms. Berg fell." for number in range(10)}
    load_error = "no opinion can be used"
    with pytest.raises(UserError, match=load_error):
        load_summaries(tmp_path, context, summaries)
    options = OpinionsOptions(source="local", path="opinions.jsonl", facts="summaries/tiny")
    with_summaries = replace(context, artifacts={"facts": tmp_path / "summaries.jsonl"})
    write_deidentification(options, with_summaries, tmp_path / "sheet.csv")
    sheet = pd.read_csv(tmp_path / "sheet.csv", dtype=str, keep_default_na=False)
    assert set(sheet["problem"]) == {"the summary has Berg"}
    sheet.loc[:6, ["text", "problem"]] = ["She fell.", ""]
    sheet.to_csv(tmp_path / "edited.csv", index=False)
    loaded = load(OpinionsOptions(source="local", path="edited.csv", facts="opinion"), context)
    assert [case.text for case in loaded.cases] == ["She fell."] * 7
    assert loaded.cleaning["excluded: the summary has Berg"] == 3


def test_a_full_opinion_is_a_case_for_summaries(tmp_path: Path, load_context: Context) -> None:
    write_opinions(tmp_path)
    options = OpinionsOptions(source="local", path="opinions.jsonl", facts="opinion")
    loaded = load(options, load_context("opinions", data_root=tmp_path))
    assert len(loaded.cases) == 10 and "ANNA BERG" in loaded.cases[0].text
    assert {case.split for case in loaded.cases} == {"test"}, "all are summarised"


@pytest.mark.parametrize(
    "record",
    [
        {"id": "1", "text": "   "},
        {"id": "1", "text": "x" * 2_000_000},
        {"id": "1", "text": CAPTION, "outcome": "Perhaps"},
        {"id": " ", "text": CAPTION},
        {"id": "1"},
    ],
)
def test_bad_opinions_get_one_clear_message(record: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "opinions.jsonl"
    rows = [{"id": "2", "text": CAPTION, "outcome": "Affirm"}] * ("text" in record)
    path.write_text("\n".join(map(json.dumps, [*rows, record])))
    with refusal():
        read_opinions(path, 0, {})
    if rows:
        assert [entry.outcome for entry in read_opinions(path, 0.5, {})] == ["affirm"]


def test_a_missing_folder_and_source_get_one_clear_message(
    tmp_path: Path, load_context: Context
) -> None:
    context = load_context("opinions", data_root=tmp_path)
    with pytest.raises(UserError, match="no such file"):
        load(OpinionsOptions(source="local", path="nowhere"), context)
    with pytest.raises(UserError, match="expected sample or local"):
        load(OpinionsOptions(source="download"), context)


# The sample


def test_the_sample_has_the_five_cases_as_the_paper_states(load_context: Context) -> None:
    loaded = load(OpinionsOptions(source="sample"), load_context("opinions"))
    outcomes = {int(case.attributes["number"]): case.attributes["outcome"] for case in loaded.cases}
    assert outcomes == {1: "affirm", 2: "affirm", 3: "mixed", 4: "reverse", 5: "affirm"}
    assert [case.target for case in loaded.cases].count("affirm") == 3
    assert not [case.case_id for case in loaded.cases if "affirm" in case.text.lower()]


def test_a_surname_of_two_people_is_in_doubt() -> None:
    mentions = [
        masking.Mention("Anna Berg", "Person", "plaintiff"),
        masking.Mention("Carl Berg", "Person", "defendant"),
        masking.Mention("Berg", "Person", ""),
        masking.Mention("Ellen Lund", "Person", ""),
        masking.Mention("Lund", "Person", ""),
    ]
    labels = masking.label_names(mentions, frozenset(), {})
    assert labels["Anna Berg"] != labels["Carl Berg"] and labels["Berg"] == ""
    assert labels["Lund"] == labels["Ellen Lund"] != ""
