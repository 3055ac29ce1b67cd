"""Test the file of the reader: complete debates, only known elements, reproducible bytes."""

import base64
import gzip
import hashlib
import json
import math
import re
import tracemalloc
from dataclasses import replace
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from debates_to_read import COURSES, HOSTILE, debates_to_read
from in_process import default_configuration
from moot.core.cases import WITHOUT_TEXT, Task
from moot.plan.plan import Plan
from moot.report.debate_texts import StatedPrediction, _turn, case_facts
from moot.report.reader import render_reader
from moot.report.reader_chunks import compress
from moot.report.reader_debates import CHANGED, DISAGREE, TO_RIGHT, TO_WRONG, _course
from project_copy import PROJECT
from results_on_disk import case

PAGE_ELEMENTS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "h1",
    "a",
    "div",
    "nav",
    "form",
    "p",
    "ol",
    "main",
}
PAGE_ELEMENTS |= {"noscript", "script"}


class Elements(HTMLParser):
    """The elements of a page, and the content of those with an id."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.contents: dict[str, str] = {}
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += attrs
        self._open = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.contents[self._open] = self.contents.get(self._open, "") + data


def read_page(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    return elements


def unpack(elements: Elements, name: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(elements.contents[name])))


def rendered(folder: Path) -> str:
    return "".join(render_reader("courtroom", debates_to_read(folder), folder))


def test_a_large_index_is_packed_without_a_copy() -> None:
    cases, expected_cases = [], []
    for number in range(30_000):
        case_id, share = f"case-{number}", number / 7
        cases.append({"id": case_id, "share": share, "none": float("nan")})
        expected_cases.append({"id": case_id, "share": round(share, 6), "none": None})
    index = {
        "cases": cases,
        "debates": {"swing": (1.5,) * 3000, "of": {}},
        "words": {f"w{n}": [n] for n in range(3000)},
    }
    tracemalloc.start()
    packed = compress(index)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = gzip.decompress(base64.b64decode(packed)).decode()
    assert text == json.dumps({**index, "cases": expected_cases}, separators=(",", ":"))
    assert peak < len(text), "packing never copies the text"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return rendered(tmp_path_factory.mktemp("results"))


def test_a_page_contains_only_its_own_elements_and_loads_nothing_else(page: str) -> None:
    elements = read_page(page)
    assert elements.names == PAGE_ELEMENTS
    assert "onerror" not in page and "window.hacked" not in page
    policy = ""
    for name, value in elements.attributes:
        assert name not in ("src", "href") or value.startswith("#")
        if value and value.startswith("default-src"):
            policy = value
    for name in ("script", "style"):
        digest = hashlib.sha256(elements.contents[name].encode()).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy


def test_the_same_debates_give_the_same_page(page: str, tmp_path: Path) -> None:
    assert rendered(tmp_path) == page


def test_names_of_a_study_are_escaped(tmp_path: Path) -> None:
    page = "".join(render_reader("</title><script>x</script>", {}, tmp_path))
    assert read_page(page).names == PAGE_ELEMENTS and "<script>x" not in page


@pytest.mark.parametrize(("last_answer", "is_marked"), [("yes", False), ("no", True)])
def test_members_who_end_on_different_answers_are_marked(last_answer: str, is_marked: bool) -> None:
    answers = [("judge_1", "yes"), ("judge_2", "no"), ("judge_1", "yes"), ("judge_2", last_answer)]
    same = {"previous": None, "heard": "", "correct": True, "turn": 0, "belief": math.nan}
    opinions = [{"speaker": speaker, "prediction": answer, **same} for speaker, answer in answers]
    assert bool(_course(opinions).change & DISAGREE) == is_marked


def test_the_index_has_the_outcome_of_each_debate_and_the_changes_of_the_judge(page: str) -> None:
    index = unpack(read_page(page), "index")
    debates, trial = [], {}
    for row in zip(*index["debates"].values(), strict=True):
        debate = dict(zip(index["debates"], row, strict=True))
        debates.append(debate)
        if index["experiments"][debate["experiment"]]["name"] == "trial":
            case_id = index["cases"][debate["case"]]["id"]
            trial[debate["model"], case_id] = debate
    assert len(debates) == 3 * len(COURSES)
    assert {name: trial["small", name]["change"] for name in COURSES} == {
        "one": CHANGED | TO_WRONG,
        "two": CHANGED | TO_RIGHT,
        "three": 0,
        "four": CHANGED | TO_WRONG,
    }
    assert trial["large", "two"]["change"] == 0 and trial["large", "two"]["answer"] == "yes"
    assert (
        trial["small", "one"]["swing"] == pytest.approx(0.6)
        and trial["small", "one"]["probability"] == 0.9
    )
    assert index["debates"]["status"].count("invalid") == 1
    assert {case["id"]: case["attributes"] for case in index["cases"]}["two"] == {"sex": "female"}
    assert index["experiments"][0]["models"] == {"small": "small", "large": "large"}


def test_chunks_contain_all_utterances_and_the_calls_as_sent(page: str) -> None:
    elements = read_page(page)
    debates, (calls,) = unpack(elements, "debates-0"), unpack(elements, "calls-0")
    assert unpack(elements, "cases-0") == [f"Facts of {name}." for name in sorted(COURSES)]
    first_turn, first_belief = debates[0]["turns"][:2]
    assert HOSTILE in first_turn["text"] and first_turn["readers"] == ""
    assert first_belief["readers"] == "judge" and first_belief["stated"]["label"] == "no"
    assert first_belief["belief"] == pytest.approx(0.2)
    call = calls["calls"][first_turn["call"]]

    def join_lines(numbers: list[int]) -> str:
        return "\n".join(calls["lines"][number] for number in numbers)

    role, line_numbers = call["prompt"][1]
    text = f"<facts>\nHear {debates[0]['turns'][0]['call'][5:-2]}.\n{HOSTILE}\n</facts>"
    assert role == "user" and join_lines(line_numbers) == text
    assert join_lines(call["reply"]) == f"raw reply 1\n{HOSTILE}"
    assert call["fields"]["cost_usd"] == 0.002 and "provider" not in call["fields"]
    assert len(calls["lines"]) == len(set(calls["lines"]))


def test_a_turn_names_the_assigned_side_and_whether_the_reply_was_cut(page: str) -> None:
    turns = unpack(read_page(page), "debates-0")[0]["turns"]
    sides = {turn["speaker"]: turn["side"] for turn in turns}
    assert sides == {"Prosecutor": "yes", "Judge": "", "Defense": "no"}
    assert [turn["number"] for turn in turns if turn.get("cut")] == [1]


def test_many_debates_are_divided_into_ordered_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.report.reader.MOST_CHARACTERS", 2000)
    elements = read_page(rendered(tmp_path))
    index = unpack(elements, "index")
    starts = index["chunks"]["debates"]
    sizes = [len(unpack(elements, f"debates-{number}")) for number in range(len(starts))]
    assert len(starts) > 2 and starts == [0, *accumulate(sizes[:-1])]
    assert sum(sizes) == 3 * len(COURSES)
    for number in range(len(starts)):
        (call_chunk,) = unpack(elements, f"calls-{number}")
        call_ids: set[str] = set()
        for debate in unpack(elements, f"debates-{number}"):
            call_ids.update(turn["call"] for turn in debate["turns"])
        assert set(call_chunk["calls"]) == call_ids - {""}


def test_chunks_of_too_many_debates_are_files_with_a_word_index(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.report.reader.MOST_TURNS", 1)
    monkeypatch.setattr("moot.report.reader.MOST_CHARACTERS", 2000)
    elements = read_page(rendered(tmp_path))
    index, files = (
        unpack(elements, "index"),
        {path.stem: path.read_text("ascii") for path in tmp_path.glob("*.js")},
    )
    single_page_index = unpack(read_page(page), "index")
    assert index["debates"] == single_page_index["debates"] and index["parts"] == tmp_path.name
    for name in elements.contents:
        assert not re.match("(cases|debates|calls)-", name)

    def read_chunk(name: str) -> Any:
        packed = re.fullmatch(rf'arrived\.set\("{name}", "([A-Za-z0-9+/=]+)"\);\n', files[name])
        assert packed, "a file contains only one packed value"
        return json.loads(gzip.decompress(base64.b64decode(packed[1])))

    chunks = len(index["chunks"]["debates"])
    chunk_texts = []
    for number in range(chunks):
        chunk = read_chunk(f"debates-{number}")
        chunk_texts.append(json.dumps(chunk, ensure_ascii=False).lower())
    words = read_chunk("words")
    assert chunks > 2
    for word in ("opens", "large"):
        assert re.search(r"\d", word) or words.get(word) is not None
    for word in ("large", "single", "opens", "判"):
        matching_chunks = [number for number, text in enumerate(chunk_texts) if word in text]
        assert set(matching_chunks) <= set(words[word] or range(chunks))
    assert words["single"] and len(words["single"]) < chunks, "few files contain a rare word"


def test_a_note_is_on_the_page_once(tmp_path: Path) -> None:
    experiments = debates_to_read(tmp_path)
    for results in experiments.values():
        results.notes = ("SIMULATED MODEL: a note of the run.",)
    page = "".join(render_reader("courtroom", experiments, tmp_path))
    assert page.count("SIMULATED MODEL") == 1
    datasets = unpack(read_page(page), "index")["datasets"]
    for entry in datasets.values():
        assert not any("SIMULATED MODEL" in note for note in entry["notes"])


UTTERANCE = dict.fromkeys(
    ("turn", "kind", "round", "visibility", "source", "text", "parsed", "parse_status"), ""
)
UTTERANCE |= {"call_id": "", "prediction": "", "speaker": "dr_Ann McBride"}


def test_a_speakers_name_keeps_its_capitals() -> None:
    task = Task("the case", "?", ("no", "yes"))
    assert _turn(UTTERANCE, task, "", {}).speaker == "Dr Ann McBride"
    assert _turn(UTTERANCE | {"speaker": "judge_1"}, task, "", {}).speaker == "Judge 1"


@pytest.mark.parametrize(
    ("status", "parsed", "notice", "text", "fields"),
    [
        ("failed", {"error": "a\nb"}, "The call failed; there is no reply: a b", "", ()),
        ("refused", {"problem": "x"}, "Refused: x; the raw reply", "Raw.", ()),
        ("invalid", None, "No usable answer; the raw reply", "Raw.", ()),
        ("", {"why": ["a", {"b": 0.5}]}, "", "Raw.", (("Why", ["a", "b 0.500"]),)),
        ("strict", {"why": {"a": 1}, "confidence": 9}, "", "", (("Why", "a 1"),)),
        ("strict", {"confidence": 9, "why": ""}, "No reasons given", "", ()),
        ("strict", None, "", "Raw.", ()),
    ],
)
def test_a_turn_shows_its_words_its_form_or_its_fault(
    status: str, parsed: object, notice: str, text: str, fields: tuple[object, ...]
) -> None:
    reply = {"parse_status": status, "parsed": json.dumps(parsed), "text": "Raw."}
    turn = _turn(UTTERANCE | reply, Task("the case", "?", ("no", "yes")), "", {})
    assert (turn.notice, turn.text, turn.fields) == (notice, text, fields)
    shares = [StatedPrediction("yes", confidence, "").share for confidence in (None, 62.5)]
    assert shares == ["", " with 62 %"]


def test_no_element_is_created_from_text(page: str) -> None:
    code = read_page(page).contents["script"]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", code
    )


@pytest.mark.parametrize(
    ("experiment", "source", "adds_words"),
    [
        ("nyu-ai-debate", "shipped", True),
        ("nyu-ai-debate", "download", False),
        ("recorded-debate", "shipped", False),
        ("recorded-debate", "download", False),
    ],
)
def test_words_are_promised_only_where_a_download_has_them(
    experiment: str, source: str, adds_words: bool
) -> None:
    dataset = "nyu-debates" if experiment.startswith("nyu") else "agenticsimlaw-nlsy97"
    changes = {"run": [experiment], "datasets": {dataset: {"source": source}}}
    view = Plan.from_yaml(default_configuration(changes), PROJECT).view(experiment)
    assert view.download_adds_words is adds_words
    shipped_case = replace(case("one", "no"), text=WITHOUT_TEXT)
    assert ("'download'" in case_facts(shipped_case, view)) is adds_words
    assert case_facts(case("one", "no"), view) == "Facts of one."
