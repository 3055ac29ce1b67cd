"""VAST, Claim Stance and the agreement groups: published counts, balance, and bad files."""

import csv
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from messages import refusal
from moot.core.cases import resembles_test_case
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.near_duplicates import RESEMBLING
from moot.datasets.topics import extract_body, extract_topic
from moot.studies.stance.data_vast import VastOptions, read_posts, select_subset, subset_notes

PROJECT = Path(__file__).parents[3]


def load(name: str, root: Path | None = None, seed: int = 7, **options: object) -> Loaded:
    loader = LOADERS[name]
    source = "local" if root else "sample"
    context = LoadContext(name, root or Path("nowhere"), PROJECT, seed)
    return loader.load(loader.options.model_validate({"source": source, **options}), context)


def counts(loaded: Loaded, split_name: str) -> dict[str, int]:
    return dict(Counter(case.target for case in loaded.cases if case.split == split_name))


def test_vast_reproduces_the_measured_counts(shared_data: Path) -> None:
    loaded = load("vast", shared_data)
    assert counts(loaded, "test") == {"con": 1018, "pro": 944, "neutral": 1044}
    assert sum(counts(loaded, "validation").values()) == 2062
    assert sum(counts(loaded, "train").values()) == 13477
    assert len({extract_body(case.text) for case in loaded.cases if case.split == "test"}) == 786
    assert loaded.cleaning["pairs of near-duplicate posts"] == 4
    synthetic = loaded.cleaning["synthetic neutral rows, shown with the topic of their label"]
    assert synthetic == 2313, "all of the training file; the test file was rebuilt from topic_str"
    assert loaded.cleaning["pairs of near-duplicate posts across splits"] == 1
    copies = [case for case in loaded.cases if resembles_test_case(case)]
    assert len(copies) == loaded.cleaning[RESEMBLING] and {case.split for case in copies} == {
        "validation"
    }
    tested = {
        case.case_id: extract_body(case.text) for case in loaded.cases if case.split == "test"
    }
    assert len({tested[case.attributes["near_duplicate_of"]] for case in copies}) == 1


def test_vast_shows_the_topic_of_the_label_in_files_with_all_official_columns(
    shared_data: Path, tmp_path: Path
) -> None:
    official = shared_data / "vast" / "vast_test-sentswap.csv"
    published = pd.read_csv(official, dtype=str, keep_default_na=False)
    assert published["label"].value_counts().to_dict() == {"0": 476, "1": 456}
    published = published.head(90)
    (tmp_path / "vast").mkdir()
    for name in ("vast_train.csv", "vast_dev.csv", "vast_test.csv"):
        published.to_csv(tmp_path / "vast" / name, index=False)
    cases = [case for case in load("vast", tmp_path).cases if case.split == "test"]
    shown_topics = [extract_topic(case.text) for case in cases]
    assert shown_topics == [" ".join(topic.split()) for topic in published["new_topic"]]
    assert [case.attributes["topic"] for case in cases] == published["topic_str"].to_list()
    assert published["topic"].to_list() != published["new_topic"].to_list()


def test_vast_subsets(shared_data: Path) -> None:
    options = {
        name: VastOptions(source="local", subset=name)
        for name in ("first_of_post", "zero_shot", "few_shot")
    }
    rows = read_posts(shared_data / "vast" / "vast_test.csv", {})
    subsets = {name: select_subset(rows, subset) for name, subset in options.items()}
    nearest = subsets["first_of_post"]
    assert nearest["label"].value_counts().to_dict() == {"con": 348, "pro": 326, "neutral": 2}
    assert "nearest" in subset_notes(nearest, options["first_of_post"])[0]
    assert len(subsets["zero_shot"]) + len(subsets["few_shot"]) == 3006
    sample = load("vast", subset="zero_shot")
    assert {case.attributes["seen"] for case in sample.cases if case.split == "test"} == {"no"}
    assert "zero_shot" in sample.task.notes[-1]


def test_claim_stance_reproduces_the_measured_counts(shared_data: Path) -> None:
    loaded = load("claim_stance", shared_data)
    assert counts(loaded, "test") == {"pro": 700, "con": 655}
    assert sum(counts(loaded, "train").values()) == 1039
    assert "51.7%" in loaded.task.notes[0] and "55.3%" in loaded.task.notes[0]
    polarity = load("claim_polarity", shared_data)
    assert counts(polarity, "test") == {"negative": 723, "positive": 563, "neutral": 69}
    assert counts(polarity, "train")["neutral"] == 65


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vast", {"con": 20, "neutral": 20, "pro": 20}),
        ("claim_stance", {"con": 36, "pro": 36}),
        ("claim_polarity", {"negative": 24, "neutral": 24, "positive": 24}),
    ],
)
def test_samples_are_balanced(name: str, expected: dict[str, int]) -> None:
    loaded = load(name)
    assert counts(loaded, "test") == expected
    neutral = loaded.cleaning.get("claims without an annotatable target (neutral)")
    assert neutral == (None if name == "vast" else 36)


@pytest.mark.parametrize("name", ["vast", "claim_stance", "claim_polarity", "agreement"])
def test_the_seed_determines_the_cases_and_splits_share_no_text(name: str) -> None:
    first, second = load(name), load(name)
    assert list(first.cases) == list(second.cases)
    training_texts = {case.text for case in first.cases if case.split == "train"}
    test_texts = {case.text for case in first.cases if case.split == "test"}
    assert training_texts and not training_texts & test_texts


def test_validation_takes_whole_topics() -> None:
    loaded = load("claim_stance", validation=0.25)
    pairs = {(case.split, case.attributes["topic"]) for case in loaded.cases}
    training_topics = {topic for split_name, topic in pairs if split_name == "train"}
    (validation_topic,) = (topic for split_name, topic in pairs if split_name == "validation")
    assert validation_topic not in training_topics
    assert len(load("claim_stance").cases) == len(loaded.cases)


def edited(tmp_path: Path, file: str, column: str, value: str | None, row: int = 3) -> Path:
    """A copy of the samples where one cell of one file is changed.

    With the value None the whole column is dropped.
    """
    for source in (PROJECT / "data" / "samples" / file).parent.iterdir():
        target = tmp_path / Path(file).parent / source.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(source.read_bytes())
    with (tmp_path / file).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for number, record in enumerate(rows, start=1):
        if value is None:
            del record[column]
        elif number == row:
            record[column] = value
    with (tmp_path / file).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


VAST = "vast/vast_test.csv"
CLAIMS = "claim_stance/claim_stance_dataset_v1.csv"


@pytest.mark.parametrize(
    ("name", "file", "column", "value"),
    [
        ("vast", VAST, "label", None),
        ("vast", VAST, "label", "3"),
        ("vast", VAST, "post", "   "),
        ("vast", VAST, "new_topic", "x" * 5000),
        ("vast", VAST, "new_id", "50"),
        ("vast", VAST, "seen?", "maybe"),
        ("claim_stance", CLAIMS, "claims.stance", None),
        ("claim_stance", CLAIMS, "claims.stance", "MIXED"),
        ("claim_stance", CLAIMS, "topicText", ""),
        ("claim_stance", CLAIMS, "claims.claimCorrectedText", ""),
        ("claim_polarity", CLAIMS, "claims.claimSentiment", "0"),
        ("agreement", CLAIMS, "claims.claimId", "1"),
        ("agreement", CLAIMS, "split", "dev"),
    ],
)
def test_bad_files_get_one_clear_message(
    tmp_path: Path, name: str, file: str, column: str, value: str | None
) -> None:
    with refusal():
        load(name, edited(tmp_path, file, column, value))


def test_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="download"):
        load("vast", tmp_path)
