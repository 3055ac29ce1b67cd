"""Test recorded results: published files, shipped records, and tables of answers."""

import json
from collections import defaultdict
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.core.cases import WITHOUT_TEXT
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.datasets.debate_records import (
    RecordedDebate,
    RecordedUtterance,
    check_records,
    record_rows,
)
from moot.studies.recorded.data_nyu_debates import JUDGED_OFFLINE_BY
from nyu_debates import STORY
from nyu_debates import debate as invented_debate

PROJECT = Path(__file__).resolve().parents[2]
SHARED = PROJECT.parent / "shared" / "data"
needs_records = pytest.mark.skipif(
    not (SHARED / "recorded").is_dir(),
    reason="the published records are not here (../shared/data/recorded)",
)
SHIPPED_NAMES = {"agenticsimlaw": "agenticsimlaw-nlsy97", "nyu_debates": "nyu-debates"}


def read_records(
    loader: str, data_root: Path = SHARED, **options: object
) -> tuple[dict[str, str], list[RecordedDebate]]:
    """Return the target of each case, and its debates before judges who took part in them."""
    entry, context = LOADERS[loader], LoadContext("records", data_root, PROJECT, 1)
    validated = entry.options.model_validate(options)
    loaded = entry.load(validated, context)
    assert entry.records is not None
    debates = list(entry.records(validated, context))
    check_records("records", debates, loaded.cases, loaded.task)
    debates = [debate for debate in debates if debate.model != JUDGED_OFFLINE_BY]
    return {case.case_id: case.target for case in loaded.cases}, debates


@pytest.fixture(scope="module", params=["local", "shipped"])
def source(request: pytest.FixtureRequest) -> str:
    if request.param == "local" and not (SHARED / "recorded").is_dir():
        pytest.skip("the published records are not here (../shared/data/recorded)")
    return str(request.param)


def test_the_answers_of_agenticsimlaw_have_the_published_counts(source: str) -> None:
    targets, debates = read_records("agenticsimlaw", source=source)
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


def test_the_judges_of_the_nyu_debates_have_the_published_accuracy(source: str) -> None:
    accuracy = accuracy_by_method(*read_records("nyu_debates", source=source), decimals=3)
    assert accuracy["people debate"] == (0.844, 154)
    assert accuracy["people consult"] == (0.745, 96)
    assert accuracy["AI debate"] == (0.782, 87)
    assert accuracy["AI consult"] == (0.803, 76)


def speeches_of(debate: RecordedDebate) -> list[RecordedUtterance]:
    return [utterance for utterance in debate.utterances if utterance.kind == "speech"]


@needs_records
def test_the_nyu_debates_with_files_have_the_published_beliefs() -> None:
    targets, debates = read_records("nyu_debates", source="local")
    accuracy = accuracy_by_method(targets, list(filter(speeches_of, debates)), decimals=4)
    assert accuracy["people debate"] == (0.8194, 72)
    assert accuracy["people consult"] == (0.7981, 52)
    assert accuracy["AI debate"] == (0.7778, 54)
    assert accuracy["AI consult"] == (0.8333, 30)


@needs_records
def test_a_quotation_has_the_words_of_its_story() -> None:
    name = "the-absurdity-of-family-love-7"
    _, debates = read_records("nyu_debates", source="local")
    record = json.loads(
        (SHARED / "recorded" / "nyu_debates" / f"{name}.json").read_text(encoding="utf-8")
    )
    words = record["setup"]["sourceMaterial"]["QuALITYSourceMaterial"]["contents"]
    spans = quoted_spans(record)
    speeches: list[RecordedUtterance] = []
    for debate in debates:
        if (debate.case_id, debate.method) == (name, "AI consult"):
            speeches += speeches_of(debate)
    full_text = " ".join(speech.text for speech in speeches)
    assert spans
    word_count = 0
    for start, end in spans:
        assert f"“{' '.join(words[start:end])}”" in full_text
        word_count += end - start
    quoted_word_count = 0
    for speech in speeches:
        assert speech.source == "model" and speech.parsed
        quoted_word_count += speech.parsed["quoted_words"]
    assert quoted_word_count == word_count


def quoted_spans(record: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the first and last word of each quotation in a published file of a debate."""
    spans: list[tuple[int, int]] = []
    for turn in record["rounds"]:
        for simultaneous in turn.values():
            for speech in simultaneous.get("speeches", {}).values():
                spans += [part["Quote"]["span"] for part in speech["content"] if "Quote" in part]
    return spans


@needs_records
@pytest.mark.parametrize("loader", ["agenticsimlaw", "nyu_debates"])
def test_the_shipped_numbers_equal_the_published_files(loader: str) -> None:
    published = [
        {**row, "text": ""} for row in record_rows(read_records(loader, source="local")[1])
    ]
    shipped = list(record_rows(read_records(loader, source="shipped")[1]))
    assert shipped == published


@pytest.mark.parametrize("name", SHIPPED_NAMES.values())
def test_the_shipped_records_contain_no_sentences(name: str) -> None:
    folder = PROJECT / "data" / "records"
    assert set(pd.read_parquet(folder / f"{name}_cases.parquet")["text"]) == {WITHOUT_TEXT}
    records = pd.read_parquet(folder / f"{name}_records.parquet")
    assert set(records["text"]) == {""}
    forms = records["kind"] == "feedback"
    longest = records.loc[~forms, "parsed"].dropna().str.len().max()
    assert longest < 150, "parsed facts are numbers and names"
    questions: set[str] = set()
    for parsed in records.loc[forms, "parsed"]:
        grades = json.loads(parsed)["grades"]
        assert set(grades.values()) <= set(range(5))
        questions.update(grades)
    assert len(questions) < 40 and max(map(len, questions), default=0) < 60, (
        "grades have the names of the questions"
    )


@pytest.mark.parametrize(("correct_index", "sides"), [(0, (3, 1)), (1, (1, 3))])
def test_only_the_grades_of_a_feedback_form_are_read(
    tmp_path: Path, correct_index: int, sides: tuple[int, int]
) -> None:
    folder = tmp_path / "recorded" / "nyu_debates"
    folder.mkdir(parents=True)
    line, record = invented_debate(0)
    record["setup"]["correctAnswerIndex"] = correct_index
    (folder / "the-lamp-0.json").write_text(json.dumps(record))
    (folder.parent / "nyu_debates-metadata.jsonl").write_text(json.dumps(line) + "\n")
    [debate] = read_records("nyu_debates", tmp_path, source="local")[1]
    form = debate.utterances[-1]
    expected = {
        "clarity, right side": sides[0],
        "clarity, wrong side": sides[1],
        "judge reasoning": 4,
    }
    assert (form.kind, form.speaker, form.text, form.private) == ("feedback", "judge", "", True)
    assert form.parsed == {"grades": expected, "who": "Jo Invented"}
    record["feedback"]["Jo Invented"]["Judge"]["answers"]["judge reasoning"] = 9
    (folder / "the-lamp-0.json").write_text(json.dumps(record))
    with pytest.raises(
        UserError,
        match=r"the-lamp-0.json: feedback form, 'judge reasoning': found 9; expected 0 to 4",
    ):
        read_records("nyu_debates", tmp_path, source="local")


ROWS = [
    {
        "id": "a",
        "arm": "debate",
        "who": "m1",
        "said": "YES",
        "true": "YES",
        "sure": "80",
        "sex": "f",
    },
    {
        "id": "a",
        "arm": "debate",
        "who": "m1",
        "said": "NO",
        "true": "YES",
        "sure": "60",
        "sex": "f",
    },
    {
        "id": "b",
        "arm": "debate",
        "who": "m1",
        "said": "UNKNOWN",
        "true": "NO",
        "sure": "",
        "sex": "m",
    },
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
    path = folder / f"answers.{ending}"
    frame = pd.DataFrame(rows)
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
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
    ("change", "message"),
    [
        ({"said": "MAYBE"}, "row 2, column 'said': found 'MAYBE', expected one of NO, YES"),
        ({"sure": "8o"}, "row 2, column 'sure': found '8o', expected a number from 0 to 100"),
        (
            {"true": "NO"},
            "row 2, column 'true': found 'NO', expected the same in all rows of a case",
        ),
        ({"id": ""}, "row 2, column 'id': found '', expected a case"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    rows = [ROWS[0], {**ROWS[1], **change}, ROWS[2]]
    with pytest.raises(UserError) as raised:
        read_records("transcripts", **write_answers(tmp_path, rows))
    assert message in str(raised.value)
    assert "answers.csv" in str(raised.value)


def test_few_answers_that_cannot_be_read_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{**ROWS[0], "id": f"c{number}"} for number in range(200)]
    rows[7]["sure"], rows[9]["id"], rows[9]["sex"] = "8o", "c8", "m"
    _, debates = read_records("transcripts", **write_answers(tmp_path, rows))
    assert {f"c{number}" for number in range(200)} - {debate.case_id for debate in debates} == {
        "c7",
        "c9",
    }
    assert "row 10, column 'sex': found 'm', expected the same in all rows of a case" in caplog.text


def test_a_repeat_that_occurs_twice_is_an_error(tmp_path: Path) -> None:
    options = write_answers(tmp_path, [{**row, "nth": "1"} for row in ROWS])
    options["columns"] = {**COLUMNS, "repeat": "nth"}
    with pytest.raises(UserError, match="repeat 1 occurs twice"):
        read_records("transcripts", **options)


VIGNETTES = "y_arrestedafter2002,sex,race,age\nTrue,male,black,20\nFalse,female,white,21\n"
ANSWERS = "model_name,case_id,repeat_id,prediction,confidence\nm,0,1,YES,70\nm,1,1,NO,80\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("m,1,1,NO", "m,1,1,MAYBE", "row 2, column 'prediction': found 'MAYBE'"),
        (
            "NO,80",
            "NO,eighty",
            "row 2, column 'confidence': found 'eighty'; expected a number from 0 to 100",
        ),
        ("m,1,1", "m,one,1", "row 2, column 'case_id': found 'one', expected a whole number"),
        ("m,1,1", "m,9,1", "case vignette-9: the case does not exist; expected one of the 2 cases"),
        (",prediction,", ",answer,", "no column prediction or mv_prediction"),
    ],
)
def test_a_fault_in_a_file_in_the_format_of_agenticsimlaw_is_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "recorded" / "agenticsimlaw"
    folder.mkdir(parents=True)
    (folder / "people.csv").write_text(VIGNETTES)
    options = {"source": "local", "vignettes": "people.csv", "records": {"debate": ["answers.csv"]}}
    (folder / "answers.csv").write_text(ANSWERS)
    _, debates = read_records("agenticsimlaw", tmp_path, **options)
    assert list(map(attrgetter("prediction"), debates)) == ["yes", "no"]
    (folder / "answers.csv").write_text(ANSWERS.replace(old, new, 1))
    with pytest.raises(UserError) as raised:
        read_records("agenticsimlaw", tmp_path, **options)
    assert message in str(raised.value)


def test_prompts_truth_and_no_answer_words_in_the_format_of_agenticsimlaw_are_read(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "recorded" / "agenticsimlaw"
    folder.mkdir(parents=True)
    (folder / "people.csv").write_text(VIGNETTES)
    options = {"source": "local", "vignettes": "people.csv", "records": {"single": ["answers.csv"]}}
    lines = ["model_name,prompt_type,case_id,repeat_id,ground_truth,prediction"]
    for prompt in ("cot", "plain"):
        lines += [f"m,{prompt},0,1,True,YES", f"m,{prompt},1,1,False,PASS"]
    (folder / "answers.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"found 'PASS'.* Add it to `no_answer`"):
        read_records("agenticsimlaw", tmp_path, **options)
    _, debates = read_records("agenticsimlaw", tmp_path, **options, no_answer=["PASS"])
    problems = list(map(attrgetter("method", "case_id", "problem"), debates))
    assert problems[:3] == [
        ("single, cot", "vignette-0", ""),
        ("single, cot", "vignette-1", "the record says PASS"),
        ("single, plain", "vignette-0", ""),
    ]
    (folder / "answers.csv").write_text("\n".join(lines).replace("cot,1,1,False", "cot,1,1,True"))
    with pytest.raises(UserError) as raised:
        read_records("agenticsimlaw", tmp_path, **options, no_answer=["PASS"])
    message = (
        "answers.csv: row 2, column 'ground_truth': found 'True', expected the outcome of the case"
        " in people.csv"
    )
    assert message in str(raised.value)
    assert str(folder / "people.csv") in str(raised.value)


def test_a_bad_debate_is_left_out_and_a_quotation_past_the_end_is_counted(
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
    assert "2 of 4 debates cannot be read; expected at most 1% of them (`faulty`)" in str(
        raised.value
    )
    targets, debates = read_records("nyu_debates", tmp_path, source="local", faulty=0.5)
    assert set(targets) == {debate.case_id for debate in debates} == {"the-lamp-0", "the-lamp-1"}
    long_quotations = []
    for utterance in debates[1].utterances:
        facts = utterance.parsed or {}
        if "quoted_past_the_end" in facts:
            assert "“by the wind before ten”" in utterance.text
            long_quotations.append((facts["quoted_words"], facts["quoted_past_the_end"]))
    assert long_quotations == [(5, 3)]
    entry, context = LOADERS["nyu_debates"], LoadContext("records", tmp_path, PROJECT, 1)
    cleaning = entry.load(
        entry.options.model_validate({"source": "local", "faulty": 0.5}), context
    ).cleaning
    assert cleaning["left out: the file cannot be read"] == 2
    assert cleaning["speeches that quote words past the end of the story"] == 1


def write_samples(folder: Path, lines: list[dict[str, Any]]) -> dict[str, object]:
    path = folder / "samples_task_2026.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    labels = {"0": "no", "1": "yes", "no": "no", "yes": "yes"}
    return {"samples": {"m": str(path)}, "labels": labels, "positive": "yes", "text": "q"}


CHOICE_SAMPLE = {
    "doc_id": 0,
    "doc": {"q": "Is it so?"},
    "target": "1",
    "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]],
}
WORD_SAMPLE = {
    "doc_id": 1,
    "doc": {"q": "And this?"},
    "target": "no",
    "filtered_resps": ["yes"],
    "filter": "none",
}


def test_samples_of_lm_evaluation_harness_are_read(tmp_path: Path) -> None:
    invalid_sample = {**WORD_SAMPLE, "doc_id": 2, "filtered_resps": ["[invalid]"]}
    targets, debates = read_records(
        "lm_eval", **write_samples(tmp_path, [CHOICE_SAMPLE, WORD_SAMPLE, invalid_sample])
    )
    assert targets == {"doc-0": "yes", "doc-1": "no", "doc-2": "no"}
    assert list(map(attrgetter("prediction", "problem"), debates)) == [
        ("yes", ""),
        ("yes", ""),
        (None, "the record says [invalid]"),
    ]
    assert debates[0].confidence == pytest.approx(100 / (1 + 2.718281828**-1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"filtered_resps": ["maybe"]},
            "row 2, column 'filtered_resps': found 'maybe', expected one of 0, 1, no, yes",
        ),
        ({"filtered_resps": [["x", "True"]]}, "row 2, column 'filtered_resps'"),
        ({"filtered_resps": []}, "row 2, column 'filtered_resps': found '[]'"),
        ({"target": "2"}, "row 2, column 'target': found '2'"),
        ({"doc": {}}, "row 2, column 'doc': no text under 'q'"),
        (
            {"doc_id": 0},
            "row 2, column 'doc_id': document 0 occurs twice (first in row 1;",
        ),
    ],
)
def test_a_sample_that_cannot_be_read_is_named(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as raised:
        read_records(
            "lm_eval", **write_samples(tmp_path, [CHOICE_SAMPLE, {**WORD_SAMPLE, **change}])
        )
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "fault",
    [
        {"filtered_resps": ["maybe"]},
        {"filtered_resps": []},
        {"filtered_resps": [["x", "True"]]},
        {"filtered_resps": [None]},
        {"doc": {}},
        {"doc": None},
        {"target": "2"},
    ],
)
def test_few_faulty_samples_are_left_out_and_counted(tmp_path: Path, fault: dict[str, Any]) -> None:
    lines = [{**WORD_SAMPLE, "doc_id": number} for number in range(4)]
    lines[2] |= fault
    options = write_samples(tmp_path, lines)
    targets, debates = read_records("lm_eval", **options, faulty=0.25)
    assert list(targets) == [debate.case_id for debate in debates] == ["doc-0", "doc-1", "doc-3"]
    with pytest.raises(UserError, match=r"row 3, column (.|\n)*1 of 4 answers cannot be read"):
        read_records("lm_eval", **options, faulty=0.2)


def test_samples_of_several_filters_need_a_choice(tmp_path: Path) -> None:
    lines = [WORD_SAMPLE, {**WORD_SAMPLE, "filter": "strict", "filtered_resps": ["no"]}]
    options = write_samples(tmp_path, lines)
    with pytest.raises(UserError, match="Choose it with"):
        read_records("lm_eval", **options)
    [debate] = read_records("lm_eval", **options, filter="strict")[1]
    assert debate.prediction == "no"
