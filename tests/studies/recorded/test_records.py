"""Test recorded results: published files and shipped records."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.datasets.debate_records import RecordedDebate
from nyu_debates import STORY
from nyu_debates import debate as invented_debate
from recorded_debates import PROJECT, read_records


def test_the_answers_of_agenticsimlaw_have_the_published_counts() -> None:
    targets, debates = read_records("agenticsimlaw", source="shipped")
    assert len(targets) == 200
    counts: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for debate in debates:
        if debate.prediction is not None:
            counts[debate.method, debate.model].append(debate.prediction == targets[debate.case_id])
    correct_counts = {key: (sum(values), len(values)) for key, values in counts.items()}
    assert correct_counts["debate", "gpt-4.1-mini"] == (294, 600)
    assert correct_counts["debate", "gpt-4o-mini"] == (334, 600)
    assert correct_counts["debate", "gemini/gemini-2.5-flash"] == (124, 265)
    problems = [debate.problem for debate in debates if debate.prediction is None]
    assert problems.count("the record says NO DECISION") == 150
    assert problems.count("the record says UNKNOWN") == 75
    assert {debate.repeat for debate in debates} == {0, 1, 2}


def accuracy_by_method(
    targets: dict[str, str], debates: list[RecordedDebate], decimals: int
) -> dict[str, tuple[float, int]]:
    """Return the accuracy and the number of debates of each method.

    A missing prediction counts one half.
    """
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for debate in debates:
        is_correct = debate.prediction == targets[debate.case_id]
        shares[debate.method].append(0.5 if debate.prediction is None else float(is_correct))
    return {
        method: (round(sum(values) / len(values), decimals), len(values))
        for method, values in shares.items()
    }


def test_the_judges_of_the_nyu_debates_have_the_published_accuracy() -> None:
    targets, debates = read_records("nyu_debates", source="shipped")
    assert len(targets) == 413
    accuracy = accuracy_by_method(targets, debates, decimals=3)
    assert accuracy["people debate"] == (0.844, 154)
    assert accuracy["people consult"] == (0.745, 96)
    assert accuracy["AI debate"] == (0.782, 87)
    assert accuracy["AI consult"] == (0.803, 76)


def test_bad_debates_are_named_and_a_quotation_past_the_end_is_counted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "recorded" / "nyu_debates"
    folder.mkdir(parents=True)
    pairs = list(map(invented_debate, range(4)))
    spans = {1: [12, len(STORY) + 3], 2: [len(STORY) + 1, len(STORY) + 2], 3: [-1, 2]}
    for number, (line, record) in enumerate(pairs):
        if number in spans:
            record["rounds"][1]["SimultaneousSpeeches"]["speeches"]["0"]["content"][1]["Quote"][
                "span"
            ] = spans[number]
        (folder / f"{line['name']}.json").write_text(json.dumps(record))
    (folder.parent / "nyu_debates-metadata.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line, _ in pairs)
    )
    with pytest.raises(UserError) as raised:
        read_records("nyu_debates", tmp_path, source="local")
    assert "the-lamp-2.json: a quotation of words 18 to 19; the story has 17." in str(raised.value)
    assert "the-lamp-3.json: a quotation of words -1 to 2" in str(raised.value)
    (folder.parent / "nyu_debates-metadata.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line, _ in pairs[:2])
    )
    targets, debates = read_records("nyu_debates", tmp_path, source="local")
    assert set(targets) == {debate.case_id for debate in debates} == {"the-lamp-0", "the-lamp-1"}
    long_quotations = []
    for utterance in debates[1].utterances:
        facts = utterance.parsed or {}
        if "quoted_past_the_end" in facts:
            assert "“by the wind before ten”" in utterance.text
            long_quotations.append((facts["quoted_words"], facts["quoted_past_the_end"]))
    assert long_quotations == [(5, 3)]
    entry, context = LOADERS["nyu_debates"], LoadContext("records", tmp_path, PROJECT, 1)
    cleaning = entry.load(entry.options.model_validate({"source": "local"}), context).cleaning
    assert cleaning["speeches that quote words past the end of the story"] == 1
