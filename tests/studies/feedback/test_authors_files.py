"""The files of Debate-Feedback's authors: one article a case, and the cap on plaintiffs.

The files here have the shape of `Dataset/Legal Document Prediction` and `Dataset/Original` of the
authors' repository, in words of our own.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from files_of_cases import MakeContext, load, write_lines
from moot.core.errors import UserError
from moot.datasets import Loaded
from moot.studies.feedback.data_caselaw import OVER_THE_CAP

FILES = {name: f"cail18/present_{name}_data.json" for name in ("train", "valid", "test")}
BY_SPLIT = {"train": FILES["train"], "validation": FILES["valid"], "test": FILES["test"]}
ARTICLES = (264, 234, 133)
FACTS = ("秘密窃取电动车一辆", "持木棍打伤邻居的左臂", "驾驶货车未让行人先行")


def flat_records(
    split_name: str, count: int, field: str = "relevant_articles"
) -> list[dict[str, Any]]:
    labels: dict[str, tuple[Any, ...]] = {
        "relevant_articles": ARTICLES,
        "accusation": ("盗窃", "故意伤害", "交通肇事"),
    }
    return [
        {
            "fact": (
                f"{split_name}第{number * 37}号，被告人甲{number * 53}{FACTS[number % 3]}，"
                f"价值{number * 91}元。"
            ),
            field: labels[field][number % 3],
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("field", ["relevant_articles", "accusation"])
@pytest.mark.parametrize("count", [3, 30])
def test_files_of_one_article_a_case_are_read(
    field: str, count: int, tmp_path: Path, load_context: MakeContext
) -> None:
    for split_name, name in FILES.items():
        write_lines(tmp_path / name, flat_records(split_name, count, field))
    predict = "articles" if field == "relevant_articles" else "charges"
    context = load_context("cail18", data_root=tmp_path)
    loaded = load(
        context, source="local", layout="flat", files=BY_SPLIT, predict=predict, similarity=1.0
    )
    assert Counter(case.split for case in loaded.cases) == dict.fromkeys(
        ("train", "validation", "test"), count
    )
    assert not loaded.task.multilabel and len(loaded.task.labels) == 3
    if field == "relevant_articles":
        assert loaded.task.labels == ("133", "234", "264")
        first = next(case for case in loaded.cases if case.split == "test" and case.source_row == 1)
        assert (first.target, "test第0号" in first.text) == ("264", True)


@pytest.mark.parametrize("value", [[264], "264", None, True, 2.5, {}])
def test_a_record_of_another_shape_is_named(
    value: object, tmp_path: Path, load_context: MakeContext
) -> None:
    records = flat_records("test", 3)
    records[1]["relevant_articles"] = value
    write_lines(tmp_path / FILES["test"], records)
    context = load_context("cail18", data_root=tmp_path)
    message = r"present_test_data.json: (record|row) 2.*'relevant_articles'.*found.*expected"
    with pytest.raises(UserError, match=message):
        load(context, source="local", layout="flat", files={"test": FILES["test"]})


def test_both_readings_of_the_published_sample(load_context: MakeContext) -> None:
    multilabel = load(load_context("cail18"), source="sample")
    single = load(load_context("cail18"), source="sample", multi_label=False)
    assert multilabel.task.multilabel and not single.task.multilabel
    targets = [case.target for case in multilabel.cases]
    assert any(";" in target for target in targets)
    expected = sorted(target for target in targets if ";" not in target)
    assert sorted(case.target for case in single.cases) == expected
    left_out = single.cleaning["several labels (left out)"]
    assert left_out == len(multilabel.cases) - len(single.cases) > 0


# The cap on plaintiffs


def outcomes_of(loaded: Loaded) -> list[str]:
    cases = sorted(loaded.cases, key=lambda case: case.source_row)
    return [case.target for case in cases]


def write_cases(path: Path, outcomes: Iterable[str]) -> None:
    write_lines(
        path,
        (
            {
                "case_background": f"Farmer number {n * 7} sold {n * 31} sacks.\tHe asks.\tNo.",
                "labels": f"{outcome.capitalize()} wins",
            }
            for n, outcome in enumerate(outcomes)
        ),
    )


def capped_by_hand(outcomes: list[str], ratio: float) -> list[str]:
    """The authors' loop, written anew."""
    counts = {"plaintiff": 0, "defendant": 0}
    selected: list[str] = []
    for outcome in outcomes:
        is_over = counts["defendant"] > 100 and counts["plaintiff"] > ratio * counts["defendant"]
        if outcome == "plaintiff" and is_over:
            continue
        counts[outcome] += 1
        selected.append(outcome)
    return selected


@pytest.mark.parametrize(("ratio", "per_defendant"), [(0.5, 1), (1.75, 3), (4.0, 3)])
def test_the_cap_equals_the_authors_cap(
    ratio: float, per_defendant: int, tmp_path: Path, load_context: MakeContext
) -> None:
    outcomes = (["plaintiff"] * per_defendant + ["defendant"]) * 130
    path = tmp_path / "caselaw" / "all.jsonl"
    write_cases(path, outcomes)
    context = load_context("caselaw", data_root=tmp_path)
    options: dict[str, Any] = {"source": "local", "files": {"test": "caselaw/all.jsonl"}}
    loaded = load(context, **options, plaintiffs_per_defendant=ratio, similarity=1.0)
    expected = capped_by_hand(outcomes, ratio)
    assert outcomes_of(loaded) == expected
    assert loaded.cleaning[OVER_THE_CAP] == len(outcomes) - len(expected)
    if per_defendant == 1:
        uncapped = load(context, **options, similarity=1.0)
        assert outcomes_of(uncapped) == outcomes and OVER_THE_CAP not in uncapped.cleaning
