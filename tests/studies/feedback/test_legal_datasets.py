"""CaseLaw and CAIL2018: the counts of the real files, cuts and masks, splits, and bad input.

Slow: only these tests detect published files whose counts differ from the publication.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from files_of_cases import MakeContext, load, write_lines
from messages import refusal
from moot.datasets import LoadContext, Loaded
from moot.datasets.near_duplicates import (
    find_near_duplicates,
)
from moot.studies.feedback.legal_texts import cut, outcome_rules_met

PROJECT = Path(__file__).resolve().parents[3]


def caselaw_records(count: int = 20) -> list[dict[str, str]]:
    """Distinct records, half of each label."""
    return [
        {
            "case_background": (
                f"Farmer number {n} sold {n * 3} sacks of grain.\tHe asks for the price.\tThe buyer"
                " denies it."
            ),
            "labels": "Plaintiff wins" if n % 2 else "Defendant wins",
        }
        for n in range(count)
    ]


# The real files


@pytest.mark.slow
def test_caselaw_counts(shared_data: Path, load_context: MakeContext) -> None:
    loaded = load(load_context("caselaw", data_root=shared_data), source="local")
    assert Counter(case.target for case in loaded.cases) == {"plaintiff": 634, "defendant": 366}
    assert loaded.task.labels == ("defendant", "plaintiff") and loaded.task.positive == "plaintiff"
    assert loaded.cleaning["facts that state an outcome (kept)"] > 200  # the summaries do tell
    assert len({case.case_id for case in loaded.cases}) == 1000


@pytest.fixture(scope="module")
def real_cail18(shared_data: Path) -> Loaded:
    context = LoadContext(name="cail18", data_root=shared_data, shipped=PROJECT, seed=42)
    return load(context, source="local")


@pytest.mark.slow
def test_cail18_counts(real_cail18: Loaded, shared_data: Path, load_context: MakeContext) -> None:
    context, loaded = load_context("cail18", data_root=shared_data), real_cail18
    assert len(loaded.cases) == 3675 and len(loaded.task.labels) == 63 and loaded.task.multilabel
    # 1143 records list several articles, 412 of them one article twice or more
    assert loaded.cleaning["records that list several articles"] == 1143
    assert loaded.cleaning["of these, records that repeat a single one"] == 412
    assert sum(";" in case.target for case in loaded.cases) == 731
    assert set(loaded.task.meaning) == set(loaded.task.labels)
    assert loaded.cleaning["facts cut to 3000 characters"] == 21
    assert max(len(case.text) for case in loaded.cases) == 3000
    single = load(context, source="local", predict="charges", min_cases=10)
    assert not single.task.multilabel and all(";" not in case.target for case in single.cases)
    assert min(Counter(case.target for case in single.cases).values()) > 1


@pytest.mark.slow
def test_near_duplicates_are_never_in_two_splits(real_cail18: Loaded) -> None:
    loaded = real_cail18
    pairs = find_near_duplicates({case.case_id: case.text for case in loaded.cases}, "zh")
    splits = {case.case_id: case.split for case in loaded.cases}
    assert len(pairs) == loaded.cleaning["near-duplicate pairs"] > 5
    assert all(splits[pair.first] == splits[pair.second] for pair in pairs)


# The samples


@pytest.mark.parametrize(("name", "fewest"), [("caselaw", 40), ("cail18", 20)])
def test_sample_has_every_split_and_is_marked_as_invented(
    name: str, fewest: int, load_context: MakeContext
) -> None:
    loaded = load(load_context(name), source="sample")
    assert len(loaded.cases) >= fewest
    assert {case.split for case in loaded.cases} == {"train", "validation", "test"}
    assert any("not real" in note for note in loaded.task.notes)
    assert loaded.cleaning["facts that state an outcome (kept)"] == 0
    assert loaded.cleaning["near-duplicate pairs"] == 0


def test_caselaw_sample_is_balanced(load_context: MakeContext) -> None:
    targets = Counter(case.target for case in load(load_context("caselaw"), source="sample").cases)
    assert targets["plaintiff"] == targets["defendant"] >= 20


def test_order_of_rows_changes_no_case(tmp_path: Path, load_context: MakeContext) -> None:
    path = tmp_path / "caselaw" / "trial_prediction.jsonl"
    write_lines(path, caselaw_records())
    first = {
        case.case_id: (case.text, case.split)
        for case in load(load_context("caselaw"), source="local").cases
    }
    write_lines(path, caselaw_records()[::-1])
    second = {
        case.case_id: (case.text, case.split)
        for case in load(load_context("caselaw"), source="local").cases
    }
    assert first == second


# Splits as published, and what leaks across them


def test_only_a_test_file_is_needed_unless_something_is_fitted(
    tmp_path: Path, load_context: MakeContext
) -> None:
    write_lines(tmp_path / "b.jsonl", caselaw_records())
    loaded = load(load_context("caselaw"), source="local", files={"test": "b.jsonl"})
    assert {case.split for case in loaded.cases} == {"test"}
    with refusal():
        load(
            load_context("caselaw"), source="local", files={"test": "b.jsonl"}, baselines=["tfidf"]
        )


def test_files_without_a_test_split_are_refused(load_context: MakeContext) -> None:
    with refusal():
        load(load_context("caselaw"), source="local", files={"train": "a.jsonl"})


# Give-aways


@pytest.mark.slow
@given(st.text(max_size=500), st.integers(20, 400))
def test_cut_keeps_the_limit_and_both_ends(text: str, limit: int) -> None:
    result = cut(text, limit)
    assert len(result) <= limit
    assert result == text if len(text) <= limit else (result[0], result[-1]) == (text[0], text[-1])


@pytest.mark.parametrize(
    ("text", "court", "rules"),
    [
        ("He sold it. The Illinois Supreme Court affirmed the judgment.", "state court", 1),
        ("The judgment below was later reversed.", "state court", 1),
        ("Ultimately, the court found him liable.", "state court", 1),
        ("The plaintiff asks the court to set the deed aside.", "state court", 0),
        ("其行为已构成盗窃罪", "chinese court", 1),
        ("其行为已构成××罪", "chinese court", 0),
        ("被告人拿走手机一部", "chinese court", 0),
    ],
)
def test_outcome_rules(text: str, court: str, rules: int) -> None:
    assert len(outcome_rules_met(text, court)) == rules


def test_masking_and_dropping_by_option(tmp_path: Path, load_context: MakeContext) -> None:
    records = caselaw_records()
    records[4]["case_background"] += " Ultimately, the court ruled in favor of the buyer."
    write_lines(tmp_path / "caselaw" / "trial_prediction.jsonl", records)
    mask = load(load_context("caselaw"), source="local", outcome_phrases="mask")
    assert mask.cleaning["facts that state an outcome (masked)"] == 1
    assert not any("Ultimately" in case.text for case in mask.cases)
    assert len(load(load_context("caselaw"), source="local", outcome_phrases="drop").cases) == 19


# Bad input


@pytest.mark.parametrize(
    "change",
    [
        {"labels": "Nobody wins"},
        {"case_background": "  "},
        {"case_background": 7},
    ],
)
def test_caselaw_faults_name_their_row(
    change: dict[str, Any], tmp_path: Path, load_context: MakeContext
) -> None:
    records: list[dict[str, Any]] = [*caselaw_records()]
    records[2] = {**records[2], **change}
    write_lines(tmp_path / "caselaw" / "trial_prediction.jsonl", records)
    with refusal():
        load(load_context("caselaw"), source="local")


def test_training_cases_of_a_single_class_are_refused(
    tmp_path: Path, load_context: MakeContext
) -> None:
    records = [record | {"labels": "Plaintiff wins"} for record in caselaw_records()]
    write_lines(tmp_path / "caselaw" / "trial_prediction.jsonl", records)
    with refusal():
        load(load_context("caselaw"), source="local")


@pytest.mark.parametrize(
    "meta",
    [
        {"relevant_articles": []},
        {"relevant_articles": ["264"]},
        {},
    ],
)
def test_cail18_faults(meta: dict[str, Any], tmp_path: Path, load_context: MakeContext) -> None:
    write_lines(
        tmp_path / "cail18" / "cail2018_sample.jsonl", [{"fact": "某人拿走手机。", "meta": meta}]
    )
    with refusal():
        load(load_context("cail18"), source="local")


def test_a_file_of_another_encoding_is_read(tmp_path: Path, load_context: MakeContext) -> None:
    articles = [{"relevant_articles": [264 + number % 2]} for number in range(8)]
    facts = [{"fact": f"第{n}案，某人。", "meta": meta} for n, meta in enumerate(articles)]
    lines = [json.dumps(fact, ensure_ascii=False) for fact in facts]
    path = tmp_path / "cail18" / "cail2018_sample.jsonl"
    path.parent.mkdir()
    path.write_bytes("\n".join(lines).encode("gb18030"))
    assert len(load(load_context("cail18"), source="local", encoding="gb18030").cases) == 8
