"""Test how the reader underlines the quotations and figures of `record_check`.

Slow: only this test detects passages that a browser does not underline.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser_pages import violations
from debates_to_read import write_calls
from moot.report.reader import render_reader
from results_on_disk import case, prediction, utterance, write_results

pytestmark = pytest.mark.slow

FACTS = "The officer 🏛 wrote that the door had been forced. The court awarded $1,250 to 5 people."
SPEECHES = [
    ("prosecutor", "1. 🏛 “The door had been forced”, in 15 cases, to 5 people <b>"),
    (
        "defense",
        "You say “in 15 cases” and “the door had never been forced”, or $1,350 to 5 people.",
    ),
]
REPLY = '{"statement": "They said “in 15 cases, to 5 people”, so 5 of 15.", "confidence": 5}'


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("record")
    talk = [utterance("c0", turn, *speech) for turn, speech in enumerate(SPEECHES, start=1)]
    talk.append(utterance("c0", 3, "judge", REPLY, parsed=REPLY, parse_status="strict"))
    facts = [replace(case("c0", "no"), text=FACTS)]
    results = write_results(folder, facts, {"tiny": [prediction("c0", "no", "no")]}, {"tiny": talk})
    write_calls(folder, results.experiment, "tiny", talk)
    path = folder / "page.html"
    pieces = render_reader("courtroom", {results.experiment: results}, Path(folder))
    path.write_text("".join(pieces), encoding="utf-8")
    return f"{path.as_uri()}#{results.experiment}/tiny/c0/0"


@pytest.fixture
def debate(open_pages: Any, address: str) -> Any:
    page = open_pages()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", state="attached")
    page.wait_for_selector(".turn")
    return page


def passages(debate: Any, result: str, turn: int) -> list[str]:
    selector = f'[data-turn="{turn}"] :is(.text, li) .passage.{result}'
    return debate.locator(selector).all_inner_texts()


def test_the_three_results_are_underlined_in_the_text(debate: Any) -> None:
    assert passages(debate, "verbatim", 1) == ["“The door had been forced”", "5"]
    assert passages(debate, "not-locatable", 1) == ["15"]
    assert passages(debate, "verbatim", 2) == ["“in 15 cases”", "5"]
    assert passages(debate, "altered", 2) == ["“the door had never been forced”"]
    assert passages(debate, "verbatim", 3) == ["“in 15 cases, to 5 people”", "5", "15"]
    first = debate.locator('[data-turn="1"] .text')
    assert first.inner_text() == SPEECHES[0][1]
    summary = debate.locator('[data-turn="1"] .record').inner_text()
    assert summary == "In the record: 2 verbatim, 1 not locatable."


def test_a_passage_links_to_its_words_in_the_case_and_in_a_turn(debate: Any) -> None:
    selected = "() => getSelection().toString()"
    debate.locator('[data-turn="2"] .passage.altered').first.click()
    assert "the door had been forced" in debate.evaluate(selected)
    assert "the case: “" in debate.locator('[data-turn="2"] .altered').first.get_attribute("title")
    debate.locator('[data-turn="2"] .passage.verbatim').first.click()
    assert debate.evaluate(selected) == "in 15 cases"
    container = "() => getSelection().anchorNode.parentElement.closest('[data-turn]').dataset.turn"
    assert debate.evaluate(container) == "1"


def test_underlined_passages_are_accessible(debate: Any, axe: str) -> None:
    assert violations(debate, axe) == []
